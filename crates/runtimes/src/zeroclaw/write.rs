//! Restores a snapshot as a ZeroClaw agent: files, memories, settings.
//!
//! A ZeroClaw snapshot is restored as it was. From a snapshot of another runtime, the persona and
//! its files go where ZeroClaw reads them, and records become entries; what has no place goes into
//! the sidecar. An agent that returns from another runtime is restored as it was, with the changes
//! since.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anemone_format::{
    AgentId, Credentials, FileRoot, Identity, NOT_EXPORTED, RecordPlace, SnapshotSource, SourceFile,
};

use super::brain::{DESCRIPTION, Description, is_raw};
use super::config::{Backend, Config, ConfigSite, InstallUse, plan_config};
use super::{DEFAULT_ALIAS, RUNTIME, aieos, credentials, entries};
use super::{layout, layout::PathRole, layout::generation, store, store::Records};
use crate::kit::{
    ConfigFile, FoundAgent, InstallBackend, InstallLayout, InstallNote, Link, Machine, NewInstall,
    NotRestoredKind, PlacedFile, Plan, PlanBuilder, PlanError, PlanOptions, PlannedFile,
    RecordChange, RestoreSource, ReturningSnapshot, SidecarContent, Warning, is_in_sidecar, lossy,
    persona, restore, sidecar, spelled,
};

/// The configuration, below `raw/zeroclaw` in an archive; in an install it is beside the
/// workspace.
const CONFIG: &str = "config.toml";
/// A persona as a document.
const AIEOS: &str = "identity.json";
/// Bytes of a configuration, at most.
const MAX_CONFIG_BYTES: u64 = 8 << 20;

/// Plans how a snapshot becomes an agent.
pub(super) fn plan(
    machine: &Machine,
    source: &RestoreSource<'_>,
    target: &FoundAgent,
    options: &PlanOptions<'_>,
) -> Result<Plan, PlanError> {
    let mut draft = PlanBuilder::new(source);
    let (returned, now, source) = (source.returning(), source.current(), source.snapshot());
    if let Some(returned) = returned {
        draft.forgotten = returned.forgotten().map_err(PlanError::Source)?;
    }
    let is_ours = now.manifest().agent.source_runtime == RUNTIME;
    let archived = archived_config(now).map_err(PlanError::Source)?;
    let was = if is_ours {
        PreviousStorage::of(now).map_err(PlanError::Source)?
    } else {
        PreviousStorage::default()
    };
    let mut target = target.clone();
    let agent_id = now.manifest().agent.id;
    let resumes = resume(&mut target, agent_id);
    if is_ours && target.alias == DEFAULT_ALIAS {
        keep_name(&mut target, now).map_err(PlanError::Source)?;
    }
    let site = RestoreTarget::settle(&target, options, archived.as_deref(), was)?;
    let planner = RestorePlanner { machine, source, now, returned, site: &site, options, was };
    planner.settings(archived.as_deref(), resumes, &mut draft);
    if let Some(install) = site.target.install.clone()
        && (resumes || draft.config.as_ref().is_some_and(|config| config.made))
    {
        let note = InstallNote { agent_id, alias: site.target.alias.clone() };
        draft.new_install = Some(NewInstall::new(install, note));
    }
    if is_ours && planner.holds_as_it_was(archived.as_deref()) {
        planner.put_back(&mut draft)?;
    } else {
        planner.move_in(&mut draft)?;
    }
    if draft.forgotten.count > 0 && draft.memories.as_ref().is_some_and(|memory| !memory.made) {
        draft.warnings.push(Warning::new(
            "forgotten_stay",
            "nothing is taken out of the database that is there: what was forgotten \
                      meanwhile is still in it",
        ));
    }
    draft.wanted.push(restore::agent_id_file(now.manifest()));
    restore::note_artifacts(now, &mut draft).map_err(PlanError::Source)?;
    if let Some(identity) = now.identity().map_err(PlanError::Source)?
        && let Some(structured) = &identity.structured
    {
        restore::note_capabilities(machine, structured, &mut draft);
    }
    let found = secrets(source, returned).map_err(PlanError::Source)?;
    if let Some(found) = found {
        credentials::plan(&site.target, options, found, &mut draft);
    }
    let mut plan = crate::kit::plan::plan(&site.target.workspace, draft, source, options)?;
    plan.agent_id = agent_id;
    Ok(plan)
}

/// Returns the credentials to restore: the agent's current ones, and earlier ones where it has none
/// of that name, or only the name.
fn secrets(
    source: &dyn SnapshotSource,
    returned: Option<&ReturningSnapshot<'_>>,
) -> io::Result<Option<Credentials>> {
    let now = source.credentials()?;
    let Some(had) = returned.map_or(Ok(None), SnapshotSource::credentials)? else {
        return Ok(now);
    };
    Ok(Some(match now {
        Some(now) => merged(now, had),
        None => had,
    }))
}

/// Adds credentials that an agent had to its current ones.
fn merged(mut now: Credentials, had: Credentials) -> Credentials {
    let mut places = BTreeMap::new();
    for (at, it) in now.credentials.iter().enumerate() {
        places.entry((it.service.clone(), it.label.clone())).or_insert(at);
    }
    for it in had.credentials {
        match places.get(&(it.service.clone(), it.label.clone())) {
            None => now.credentials.push(it),
            Some(at) => {
                let known = &mut now.credentials[*at];
                if known.encrypted_payload == NOT_EXPORTED {
                    *known = it;
                }
            }
        }
    }
    now
}

/// How a snapshot of this runtime kept memories, according to its files and records.
#[derive(Clone, Copy, Default)]
struct PreviousStorage {
    /// The backend, if it kept any.
    kept: Option<InstallBackend>,
    /// Whether records are in no file of the snapshot, and in no database that it describes.
    has_loose: bool,
    has_records: bool,
}

impl PreviousStorage {
    fn of(source: &dyn SnapshotSource) -> io::Result<Self> {
        let files = source.files();
        if files.iter().any(|file| is_raw(file) && file.path == DESCRIPTION.as_bytes()) {
            return Ok(Self {
                kept: Some(InstallBackend::Sqlite),
                has_loose: false,
                has_records: true,
            });
        }
        let own: BTreeSet<&[u8]> =
            files.iter().filter(|file| is_raw(file)).map(|file| file.path.as_slice()).collect();
        let (mut in_files, mut loose) = (false, false);
        source.each_record_place(&mut |place| {
            let is_held = place.origin_file.is_some_and(|file| own.contains(file.as_bytes()));
            in_files |= is_held;
            loose |= !is_held && !place.deleted && place.namespace != restore::SESSION;
        })?;
        // The runtime creates its database only when there is something to keep.
        let kept = (in_files && !loose).then_some(InstallBackend::Markdown);
        Ok(Self { kept, has_loose: loose, has_records: in_files || loose })
    }
}

/// Returns whether a killed run was creating this install for the same agent, which then gets the
/// name that was chosen for it.
fn resume(target: &mut FoundAgent, agent_id: AgentId) -> bool {
    let Some(install) = target.install.clone() else { return false };
    let Some(note) = InstallNote::read(&install).filter(|read| read.agent_id == agent_id) else {
        return false;
    };
    if target.alias == DEFAULT_ALIAS
        && target.generation == Some(generation::DATA)
        && is_plain_name(&note.alias)
    {
        target.workspace = install.join("agents").join(&note.alias).join("workspace");
        target.alias.clone_from(&note.alias);
    }
    target.alias == note.alias
}

/// In a new install the agent keeps its name, unless another one was requested.
fn keep_name(target: &mut FoundAgent, snapshot: &dyn SnapshotSource) -> io::Result<()> {
    let Some(Ok(Description { agent: Some(named), .. })) = Description::of(snapshot)? else {
        return Ok(());
    };
    if !is_plain_name(&named.alias) {
        return Ok(());
    }
    let install = target.install.as_deref().filter(|_| target.generation == Some(generation::DATA));
    if let Some(install) = install.filter(|install| !install.join("agents").exists())
        && target.config.is_none()
        && !target.database.as_ref().is_some_and(|database| database.exists())
    {
        target.workspace = install.join("agents").join(&named.alias).join("workspace");
        target.alias = named.alias;
    }
    Ok(())
}

/// Whether an untrusted alias is a plain name of a folder.
fn is_plain_name(alias: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    !alias.is_empty() && alias.len() <= 64 && alias.chars().all(plain)
}

/// Where the agent goes.
struct RestoreTarget {
    target: FoundAgent,
    backend: InstallBackend,
    /// Whether nothing of the install exists yet.
    is_new: bool,
}

impl RestoreTarget {
    /// Uses the layout of an existing install; a new one is as requested, or like the snapshot's.
    fn settle(
        target: &FoundAgent,
        options: &PlanOptions<'_>,
        archived: Option<&str>,
        was: PreviousStorage,
    ) -> Result<Self, PlanError> {
        let mut target = target.clone();
        let there = |path: &Path| fs_err::symlink_metadata(path).is_ok();
        let has_database = target.database.as_deref().is_some_and(there);
        let usual = || {
            let path = Some(target.install.as_ref()?.join(CONFIG)).filter(|path| there(path));
            path.map(ConfigFile::new)
        };
        let config = target.config.clone().or_else(usual);
        let is_new = config.is_none() && !has_database && !target.workspace.is_dir();
        if let Some(layout) = options.layout {
            lay_out(&mut target, layout, is_new)?;
        }
        // Only the settings say where the runtime looks for memories.
        let live = config.as_ref().map(read_config).transpose()?;
        let configured = live.as_ref().map(|live| live.backend(&target.alias));
        let asked = options.backend;
        let backend = match (configured, asked) {
            (Some(live), Some(asked)) if writable(&live) != Some(asked) => {
                return Err(PlanError::Choice {
                    what: "backend",
                    given: asked.as_str().to_owned(),
                    reason: "the existing install uses a different memory backend".to_owned(),
                });
            }
            (Some(live), _) => writable(&live).ok_or_else(|| cannot_write(&live))?,
            (None, Some(asked)) => asked,
            (None, None) if has_database => InstallBackend::Sqlite,
            (None, None) => {
                let own = backend_of(archived, &target.alias).or(was.kept);
                own.unwrap_or(InstallBackend::Sqlite)
            }
        };
        Ok(Self { target, backend, is_new })
    }

    /// Returns the database, whether it exists or not.
    fn database(&self) -> PathBuf {
        let usual = || self.target.workspace.join(layout::MEMORY).join("brain.db");
        self.target.database.clone().unwrap_or_else(usual)
    }
}

fn read_config(file: &ConfigFile) -> Result<Arc<Config>, PlanError> {
    Config::of(file).map_err(|warning| PlanError::Settings {
        path: file.to_path_buf(),
        detail: warning.message,
    })
}

/// Lays a new install out in one way or the other.
fn lay_out(target: &mut FoundAgent, layout: InstallLayout, is_new: bool) -> Result<(), PlanError> {
    let wanted = match layout {
        InstallLayout::Workspace => generation::WORKSPACE,
        InstallLayout::Data => generation::DATA,
    };
    if target.generation == Some(wanted) {
        return Ok(());
    }
    let Some(install) = target.install.clone().filter(|_| is_new) else {
        return Err(PlanError::Choice {
            what: "layout",
            given: layout.as_str().to_owned(),
            reason: "what is there is laid out in another way".to_owned(),
        });
    };
    target.generation = Some(wanted);
    if wanted == generation::WORKSPACE {
        target.workspace = install.join("workspace");
        target.database = Some(target.workspace.join(layout::MEMORY).join("brain.db"));
    } else {
        target.workspace = install.join("agents").join(&target.alias).join("workspace");
        target.database = Some(install.join("data").join(layout::MEMORY).join("brain.db"));
    }
    Ok(())
}

/// Returns how the configuration of a snapshot says that memories are kept.
fn backend_of(archived: Option<&str>, alias: &str) -> Option<InstallBackend> {
    let config = Config::parse(archived?.to_owned().into())?;
    writable(&config.backend(alias))
}

fn writable(backend: &Backend) -> Option<InstallBackend> {
    match backend {
        Backend::Sqlite | Backend::Lucid => Some(InstallBackend::Sqlite),
        Backend::Markdown => Some(InstallBackend::Markdown),
        Backend::None | Backend::Elsewhere(_) => None,
    }
}

fn cannot_write(backend: &Backend) -> PlanError {
    let (given, reason) = match backend {
        Backend::Elsewhere(name) => {
            (name.clone(), "memories would have to go into a service, which we do not write")
        }
        _ => ("none".to_owned(), "the existing install keeps no memories"),
    };
    PlanError::Choice { what: "backend", given, reason: reason.to_owned() }
}

/// Returns the configuration that a snapshot carries, without its secrets.
fn archived_config(source: &dyn SnapshotSource) -> std::io::Result<Option<String>> {
    let is_config = |file: &SourceFile| is_raw(file) && file.path == CONFIG.as_bytes();
    let Some(at) = source.files().iter().position(is_config) else { return Ok(None) };
    let mut text = String::new();
    source.content(at)?.take(MAX_CONFIG_BYTES).read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Notes the files that the move itself generates.
fn note_made(keep: &mut SidecarContent, draft: &PlanBuilder) {
    let known: HashSet<String> = keep.placed.iter().map(|placed| placed.path.clone()).collect();
    let made = draft.wanted.iter().map(|file| spelled(&file.path));
    let made = made.filter(|path| !known.contains(path));
    keep.placed.extend(made.map(|path| PlacedFile::made(&path)));
    // The settings are the install's, and stay with it.
    keep.placed.extend([DESCRIPTION, CONFIG].map(PlacedFile::made));
}

/// Whether a raw file of an archive describes the install, and belongs in no workspace.
fn is_of_install(path: &[u8]) -> bool {
    path == CONFIG.as_bytes() || path == DESCRIPTION.as_bytes()
}

struct RestorePlanner<'a> {
    machine: &'a Machine,
    /// What the plan is applied with.
    source: &'a dyn SnapshotSource,
    /// The current snapshot: the source, or what comes back with it.
    now: &'a dyn SnapshotSource,
    returned: Option<&'a ReturningSnapshot<'a>>,
    site: &'a RestoreTarget,
    options: &'a PlanOptions<'a>,
    was: PreviousStorage,
}

impl RestorePlanner<'_> {
    /// Returns whether the target keeps memories in the same way as the snapshot.
    fn holds_as_it_was(&self, archived: Option<&str>) -> bool {
        let described = || backend_of(archived, &self.site.target.alias);
        let was = match self.was.kept {
            Some(InstallBackend::Sqlite) => Some(InstallBackend::Sqlite),
            other => described().or(other),
        };
        // Records that are in no file get entries of their own.
        let fits = self.site.backend == InstallBackend::Sqlite || !self.was.has_loose;
        was == Some(self.site.backend) && fits || !self.was.has_records
    }

    /// Plans a file of the snapshot, with the position that it has in the source that the plan is
    /// applied with.
    fn carried(&self, index: usize) -> PlannedFile {
        let file = &self.now.files()[index];
        PlannedFile::carried(self.returned.map_or(index, |returned| returned.position(index)), file)
    }

    /// Restores a snapshot of this runtime: its files, and the records that no file holds.
    fn put_back(&self, draft: &mut PlanBuilder) -> Result<(), PlanError> {
        let stale = self.stale_sheets().map_err(PlanError::Source)?;
        for (index, file) in self.now.files().iter().enumerate() {
            // Files that never travel are not taken from an untrusted archive either.
            let place = layout::place_of(&file.path);
            let may_come = !matches!(
                place,
                PathRole::Database | PathRole::Backup | PathRole::Cache | PathRole::Never
            );
            let belongs = match &file.root {
                FileRoot::Raw(runtime) => runtime == RUNTIME && may_come,
                FileRoot::Artifacts => may_come,
                FileRoot::Other => false,
            };
            if !belongs {
                draft.omit(
                    NotRestoredKind::File,
                    lossy(&file.path),
                    format!("it means nothing to {RUNTIME}"),
                );
            } else if is_raw(file)
                && (is_of_install(&file.path) || stale.contains(&lossy(&file.path)))
            {
                continue;
            } else {
                draft.wanted.push(self.carried(index));
            }
        }
        let strangers = self.returned.map(ReturningSnapshot::strangers).unwrap_or_default();
        let (homely, homeless): (Vec<usize>, Vec<usize>) = strangers
            .into_iter()
            .partition(|stranger| self.has_a_place(&self.source.files()[*stranger]));
        for index in homely {
            draft.wanted.push(PlannedFile::carried(index, &self.source.files()[index]));
        }
        let has_rows = self.site.backend == InstallBackend::Sqlite;
        let links = if has_rows {
            let links = self.rows(true, draft)?;
            let is_row = |place: &RecordPlace<'_>| place.origin_file.is_none();
            restore::note_records(self.now, &is_row, draft).map_err(PlanError::Source)?;
            links
        } else if self.returned.is_some() {
            // Entries are generated from changed and new records; untouched files stay.
            entries::write(self.machine, self.now, draft)?
        } else {
            restore::note_records(self.now, &|_| false, draft).map_err(PlanError::Source)?;
            Vec::new()
        };
        match self.returned {
            // Without strangers and news the agent is unchanged, and nothing has to be kept aside.
            Some(returned) if !homeless.is_empty() || returned.has_news() => {
                self.keep_the_other(returned, links, draft)
            }
            _ => Ok(()),
        }
    }

    /// Returns the files of memories whose entries changed while the agent was away.
    fn stale_sheets(&self) -> io::Result<HashSet<String>> {
        let mut stale = HashSet::new();
        let Some(returned) =
            self.returned.filter(|_| self.site.backend == InstallBackend::Markdown)
        else {
            return Ok(stale);
        };
        returned.each_original(&mut |record| {
            if returned.fate(record.id) != Some(RecordChange::Same) {
                stale.extend(record.source.origin_file.clone());
            }
            Ok(())
        })?;
        returned.each_record(&mut |record| {
            if returned.fate(record.id).is_none() {
                stale.insert(entries::file_of(record));
            }
            Ok(())
        })?;
        Ok(stale)
    }

    /// Keeps what the other runtime has and this one cannot hold: its whole snapshot, for another
    /// move there.
    fn keep_the_other(
        &self,
        returned: &ReturningSnapshot<'_>,
        links: Vec<Link>,
        draft: &mut PlanBuilder,
    ) -> Result<(), PlanError> {
        let mut keep = SidecarContent::default();
        let placed: HashSet<&[u8]> = draft.wanted.iter().map(|file| &file.path[..]).collect();
        for (index, file) in self.source.files().iter().enumerate() {
            let is_other = matches!(&file.root, FileRoot::Raw(runtime) if runtime != RUNTIME);
            if is_in_sidecar(&file.path) {
                continue;
            }
            // The same path may hold another file of this runtime.
            let is_here = placed.contains(&file.path[..])
                && (!is_other || layout::place_of(&file.path) != PathRole::Memory);
            if is_here { keep.placed.push(PlacedFile::of(file)) } else { keep.aside.push(index) }
        }
        note_made(&mut keep, draft);
        for link in links {
            let mut natives = match returned.fate(link.id) {
                Some(_) => returned.natives(link.id).iter().copied(),
                None => {
                    let id = returned.native_of(link.id);
                    keep.links.push(Link { id, ..link });
                    continue;
                }
            };
            // The first of several represents all of them.
            keep.links.extend(natives.next().map(|id| Link { id, ..link }));
            keep.links.extend(natives.map(|id| Link::new(id, Vec::new())));
        }
        // A sidecar among the restored files belongs to an earlier move.
        draft.wanted.retain(|file| !is_in_sidecar(&file.path));
        sidecar::keep(self.machine, self.source, keep, draft)
    }

    /// Lets an agent of another runtime move in.
    fn move_in(&self, draft: &mut PlanBuilder) -> Result<(), PlanError> {
        let mut keep = SidecarContent::default();
        for (index, file) in self.now.files().iter().enumerate() {
            if self.has_a_place(file) {
                draft.wanted.push(self.carried(index));
                keep.placed.push(PlacedFile::of(file));
            } else if is_raw(file) && is_of_install(&file.path) {
                continue;
            } else if self.returned.is_some() {
                draft.omit(
                    NotRestoredKind::File,
                    lossy(&file.path),
                    "what it holds is kept in another way now",
                );
            } else {
                keep.aside.push(index);
            }
        }
        self.documents(&mut keep, draft)?;
        keep.links = match self.site.backend {
            InstallBackend::Sqlite => self.rows(false, draft)?,
            InstallBackend::Markdown => entries::write(self.machine, self.now, draft)?,
        };
        if let Some(returned) = self.returned {
            return self.keep_the_other(returned, keep.links, draft);
        }
        note_made(&mut keep, draft);
        sidecar::keep(self.machine, self.source, keep, draft)
    }

    /// Generates the files of the persona and of the user that the snapshot only describes.
    fn documents(
        &self,
        keep: &mut SidecarContent,
        draft: &mut PlanBuilder,
    ) -> Result<(), PlanError> {
        let identity = self.now.identity().map_err(PlanError::Source)?;
        let files = persona::documents(self.now, identity.as_ref(), draft);
        let mut files = files.map_err(PlanError::Source)?;
        let is_aieos = |identity: &&Identity| identity.source_format.as_deref() == Some("aieos");
        if let Some(identity) = identity.as_ref().filter(is_aieos)
            && let Some(text) = aieos::document(identity)
        {
            draft.warnings.push(Warning::about(
                "aieos_document",
                AIEOS,
                "is read once the configuration says format = \"aieos\" and \
                          aieos_path = \"identity.json\" for the agent's identity",
            ));
            files.push((AIEOS.to_owned(), text, identity.updated_at.clone()));
        }
        for (path, text, at) in files {
            let place = layout::place_of(path.as_bytes());
            let is_there = draft.wanted.iter().any(|value| value.path == path.as_bytes());
            let is_known = matches!(place, PathRole::Persona | PathRole::User) || path == AIEOS;
            if is_known && !is_there {
                keep.placed.push(PlacedFile::made_with(&path, &text));
                draft.wanted.push(PlannedFile::text(&path, text, at));
            }
        }
        Ok(())
    }

    fn rows(&self, in_files: bool, draft: &mut PlanBuilder) -> Result<Vec<Link>, PlanError> {
        let records = Records { source: self.source, returned: self.returned, in_files };
        let (target, path) = (&self.site.target, self.site.database());
        store::plan(self.machine, &records, target, &path, self.options, draft)
    }

    /// Returns whether a file has the same meaning here as in its own runtime.
    fn has_a_place(&self, file: &SourceFile) -> bool {
        let place = layout::place_of(&file.path);
        let is_own = is_raw(file) && !is_of_install(&file.path) && !is_in_sidecar(&file.path);
        match &file.root {
            // Beside files of memories that stay, entries are only generated from the other
            // records.
            FileRoot::Raw(_) if is_own && place == PathRole::Memory => self.keeps_sheets(),
            FileRoot::Raw(_) if is_own && place == PathRole::Raw => true,
            FileRoot::Raw(_) => matches!(place, PathRole::Persona | PathRole::User),
            FileRoot::Artifacts => place == PathRole::Artifact,
            FileRoot::Other => false,
        }
    }

    /// Returns whether files of memories are read here as in their own runtime.
    fn keeps_sheets(&self) -> bool {
        self.site.backend == InstallBackend::Markdown
            && self.was.kept != Some(InstallBackend::Sqlite)
    }

    fn settings(&self, archived: Option<&str>, resumes: bool, draft: &mut PlanBuilder) {
        let Some(install) = &self.site.target.install else { return };
        let live = self.site.target.config.as_deref();
        let backend = (self.site.is_new || live.is_none()).then(|| self.site.backend.as_str());
        let use_of = if resumes { InstallUse::Ours } else { InstallUse::Unknown };
        let site = ConfigSite {
            layout: self.site.target.generation.unwrap_or(generation::DATA),
            alias: &self.site.target.alias,
            use_of,
        };
        let warnings = &mut draft.warnings;
        match plan_config(site, install, live, archived, backend, warnings) {
            Ok(step) => draft.config = step,
            Err(warning) => draft.warnings.push(warning),
        }
    }
}
