//! Reads an agent: its workspace, its rows and the facts of its install.

mod install_facts;
pub(super) mod redact;
mod shared_files;

use std::collections::HashSet;
use std::path::Path;

use anemone_format::{AgentInfo, Identity, Opaque, RecordId, Root, Sink, Unknown};
use tempfile::TempDir;

use self::install_facts::{InstallFacts, PersonaDocument};
use super::brain::{Brain, RowCounts};
use super::layout::{self, AIEOS, MEMORY, PathRole};
use super::rows::{ReadingContext, RowReader};
use super::{
    DEFAULT_ALIAS, NAMESPACES, RUNTIME, ZeroClaw, aieos, brain, check, entries, searchable,
    sessions,
};
use crate::kit::{
    Carrier, Check, DatabaseError, FoundAgent, FoundEntry, GeneratedFile, LeftOut, LeftOutReason,
    Machine, OpenAgent, OpenWorkspace, PersonaPlace, Prose, ReadAgents, ReadError, ReadOptions,
    Reading, ReadingParts, SessionCounts, StableCopies, Unchanged, WalkedWorkspace, Warning,
    carrier, comparable, end_reading, ids, keep_newest, lossy, path_bytes, persona, real, spelled,
    times, warn_of_nothing, without_dots,
};

/// Increases when the same files are read into something else.
const REVISION: u64 = 3;
/// The format of an identity in Markdown files, as the configuration calls it.
const OPENCLAW_FORMAT: &str = "openclaw";
/// The name of an unnamed agent.
const UNNAMED: &str = "agent";
/// Bytes of the document of a persona, at most.
const MAX_DOCUMENT_BYTES: u64 = 1 << 20;

impl ReadAgents for ZeroClaw {
    fn check(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
    ) -> (Check, Result<Box<dyn OpenAgent>, ReadError>) {
        let walked = walk(agent, options);
        let check = check::check(machine, agent, walked.as_ref());
        let opened = ReadWorkspace::of(walked, machine, agent, options);
        (check, opened.map(|opened| Box::new(opened) as Box<dyn OpenAgent>))
    }

    fn open(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
    ) -> Result<Box<dyn OpenAgent>, ReadError> {
        Ok(Box::new(ReadWorkspace::of(walk(agent, options), machine, agent, options)?))
    }
}

impl OpenAgent for ReadWorkspace {
    fn is_unchanged(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
    ) -> Result<Option<Unchanged>, ReadError> {
        let opened = &self.opened;
        let Some((earlier, info)) = comparable(options, RUNTIME, REVISION) else {
            return Ok(None);
        };
        if opened.agent_id != earlier.manifest.agent.id {
            return Ok(None);
        }
        let facts = InstallFacts::read(machine, agent, opened, options)?;
        let threshold = options.artifact_threshold;
        let carried = self.carried();
        let placed = carried.iter().map(|found| (root_of(&found.path), found));
        if facts.info != *info
            || !carrier::is_unchanged(&opened.workspace, earlier, threshold, placed, &facts.made)
        {
            return Ok(None);
        }
        let mut left_out = self.left_out(facts.brain.is_some());
        left_out.extend(shared_files::left_out(agent, options));
        left_out.extend(opened.large(threshold, layout::is_managed));
        let warnings = self.warnings.iter().cloned().chain(facts.warnings);
        Ok(Some(opened.unchanged(warnings, left_out, facts.not_requested)))
    }

    fn read(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Reading, ReadError> {
        let opened = &self.opened;
        let facts = InstallFacts::read(machine, agent, opened, options)?;
        let carried = self.carried();
        let artifacts: Vec<String> = carried
            .iter()
            .filter(|carried| carried.is_file() && !layout::is_managed(&carried.path))
            .map(|carried| spelled(&carried.path))
            .collect();
        let copies =
            StableCopies::take(&opened.workspace, &opened.path, &carried, &machine.scratch);
        let mut carrier = Carrier::new(&opened.workspace, options, sink, &artifacts, copies);
        opened.tell(layout::is_managed, &mut carrier);
        carrier.outcome.warnings.extend(self.warnings.iter().chain(&facts.warnings).cloned());
        carrier.outcome.left_out.extend(self.left_out(facts.brain.is_some()));
        carrier.runtime_version.clone_from(&facts.version);
        carrier.outcome.left_out.extend(shared_files::left_out(agent, options));

        let prose = Prose::read(RUNTIME, &carried, &mut carrier, &persona_place);
        let identity = identity(self, &facts, &prose, &mut carrier, options);
        let principals = prose.principals(opened.agent_id, options.earlier);
        let shared = ReadingContext {
            agent_id: opened.agent_id,
            alias: &agent.alias,
            identity_version: identity.as_ref().map(|identity| identity.version),
            embedding: facts.embedding.clone(),
            fallback: facts.written_at.clone().unwrap_or_else(times::epoch),
            embeddings: options.embeddings,
            stamps: opened.workspace.stamps(options.secrets),
        };
        let mut reader = RecordReader {
            shared: &shared,
            keeps_memories: facts.keeps_memories(),
            from_files: HashSet::new(),
            carrier,
        };
        reader.files(&carried, &facts.made)?;
        if let Some(brain) = &facts.brain {
            let path = agent.database.clone().unwrap_or_default();
            let counts = reader.rows(brain, options).map_err(|error| match error {
                RowsError::Database(error) => ReadError::memories(&path, error),
                RowsError::Read(error) => error,
            })?;
            reader.tell(agent, &counts);
        }
        let sessions = if options.sessions {
            Some(reader.sessions(machine, agent, options.private)?)
        } else {
            None
        };
        let mut carrier = reader.carrier;
        if facts.keeps_memories() {
            warn_of_nothing(&mut carrier);
        }
        let name = name(agent, identity.as_ref(), &prose);
        let mut info = AgentInfo::new(opened.agent_id, &name, RUNTIME);
        info.source_runtime_version.clone_from(&facts.version);
        let parts = ReadingParts {
            agent: info,
            hints: facts.hints,
            info: facts.info,
            identity,
            principals,
            not_requested: facts.not_requested,
            credentials: facts.credentials,
            sessions,
            count: opened.walked.count,
        };
        Ok(end_reading(parts, carrier, options))
    }
}

fn root_of(path: &[u8]) -> Root<'static> {
    if layout::is_managed(path) { Root::Raw(RUNTIME) } else { Root::Artifacts }
}

/// An agent's workspace, and the parts of it that must not be carried.
struct ReadWorkspace {
    opened: OpenWorkspace,
    /// Replaces a workspace that does not exist.
    _empty: Option<TempDir>,
    /// The configuration, when it is in the workspace: it travels redacted.
    config: Option<Vec<u8>>,
    /// The database that is in use, when it is in the workspace.
    database: Option<Vec<u8>>,
    warnings: Vec<Warning>,
}

pub(super) fn walk(
    agent: &FoundAgent,
    options: &ReadOptions<'_>,
) -> Result<WalkedWorkspace, ReadError> {
    WalkedWorkspace::open(agent, options, MEMORY, searchable::folder)
}

impl ReadWorkspace {
    fn of(
        walked: Result<WalkedWorkspace, ReadError>,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
    ) -> Result<Self, ReadError> {
        let (opened, empty) = match walked {
            // An agent may have rows in the database of its install, and no files.
            Err(ReadError::NoWorkspace(path))
                if agent.install.is_some()
                    && agent.database.as_deref().is_some_and(super::discover::is_live) =>
            {
                let failed = |source| ReadError::Workspace { path: path.clone(), source };
                let empty = TempDir::new_in(&machine.scratch).map_err(failed)?;
                let agent_id = options.agent_id.unwrap_or_else(|| NAMESPACES.derive(agent));
                let options = ReadOptions { agent_id: Some(agent_id), ..*options };
                let stand_in = FoundAgent { workspace: empty.path().to_owned(), ..agent.clone() };
                let walked = walk(&stand_in, &options)?;
                (OpenWorkspace::of(walked, &stand_in, &options, &NAMESPACES)?, Some(empty))
            }
            // An empty folder may become an install, and until then is a workspace with nothing in it.
            Err(ReadError::NoWorkspace(_)) if agent.install.as_deref().is_some_and(is_empty) => {
                let install = agent.install.clone().unwrap_or_default();
                let stand_in = FoundAgent { workspace: install, ..agent.clone() };
                let walked = walk(&stand_in, options)?;
                (OpenWorkspace::of(walked, &stand_in, options, &NAMESPACES)?, None)
            }
            walked => (OpenWorkspace::of(walked?, agent, options, &NAMESPACES)?, None),
        };
        let missing = empty.is_some().then(|| {
            let message = "there is no such folder; only what the database holds travels";
            Warning::about("workspace_missing", agent.workspace.display(), message)
        });
        let inside = |path: Option<&Path>| {
            let path = real(path?);
            Some(path_bytes(path.strip_prefix(&opened.path).ok()?.as_os_str()))
        };
        Ok(Self {
            config: inside(agent.config.as_deref()),
            database: inside(agent.database.as_deref()),
            _empty: empty,
            opened,
            warnings: missing.into_iter().collect(),
        })
    }

    /// Returns everything that is carried as it is, sorted by path.
    fn carried(&self) -> Vec<FoundEntry> {
        let found = self.opened.walked.found.iter();
        found.filter(|found| self.reason(&found.path).is_none()).cloned().collect()
    }

    /// Returns why something is not carried, though the walk found it.
    fn reason(&self, path: &[u8]) -> Option<LeftOutReason> {
        if self.config.as_deref() == Some(path) || path == brain::DESCRIPTION.as_bytes() {
            return Some(LeftOutReason::Own);
        }
        if self.is_database(path) {
            return Some(LeftOutReason::Unused);
        }
        match layout::place_of(path) {
            PathRole::Database | PathRole::Backup => Some(LeftOutReason::Unused),
            PathRole::Cache => Some(LeftOutReason::Skipped),
            PathRole::Never => Some(LeftOutReason::KeyStore),
            PathRole::Persona
            | PathRole::User
            | PathRole::Memory
            | PathRole::Raw
            | PathRole::Artifact => None,
        }
    }

    /// Whether a path is the database in use, or a log of it.
    fn is_database(&self, path: &[u8]) -> bool {
        let rest = self.database.as_deref().and_then(|database| path.strip_prefix(database));
        rest.is_some_and(|rest| matches!(rest, b"" | b"-wal" | b"-shm" | b"-journal"))
    }

    /// Lists what is not carried; the database whose rows travel is not missing.
    fn left_out(&self, rows_travel: bool) -> Vec<LeftOut> {
        let found = self.opened.walked.found.iter();
        let missing = found.filter_map(|found| {
            let reason = self.reason(&found.path)?;
            let travels = rows_travel && self.is_database(&found.path)
                || self.config.as_deref() == Some(&found.path);
            (!travels && found.is_file())
                .then(|| LeftOut::file(lossy(&found.path), reason, found.size()))
        });
        missing.collect()
    }
}

fn is_empty(folder: &Path) -> bool {
    fs_err::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// Which files say who the agent is and whom it works for.
fn persona_place(path: &[u8]) -> Option<PersonaPlace> {
    match layout::place_of(path) {
        PathRole::Persona | PathRole::User => persona::place_of(path),
        _ => None,
    }
}

/// Returns what the agent is called.
fn name(agent: &FoundAgent, identity: Option<&Identity>, prose: &Prose) -> String {
    if agent.alias != DEFAULT_ALIAS {
        return agent.alias.clone();
    }
    let structured = identity.and_then(|identity| identity.structured.as_ref());
    let given = structured
        .and_then(|structured| structured.names.as_ref())
        .map(|value| value.primary.clone());
    given.or_else(|| prose.name()).unwrap_or_else(|| UNNAMED.to_owned())
}

/// Returns the identity from the files of the persona and the document, if there is one.
fn identity(
    home: &ReadWorkspace,
    facts: &InstallFacts,
    prose: &Prose,
    carrier: &mut Carrier<'_>,
    options: &ReadOptions<'_>,
) -> Option<Identity> {
    let agent = home.opened.agent_id;
    // Markdown files are OpenClaw's format, also where the configuration does not say so.
    let of_prose = || {
        let mut identity = prose.identity(agent, None)?;
        identity.source_format = Some(OPENCLAW_FORMAT.to_owned());
        Some(persona::versioned(identity, options.earlier))
    };
    let Some(document) = document(home, facts, carrier) else { return of_prose() };
    // Editors of some systems begin a file with a byte order mark, which is no JSON.
    let text = document.text.trim_start_matches('\u{feff}').trim();
    let structured = aieos::structured(text);
    let raw = serde_json::from_str::<Opaque>(text);
    let (Some(mut structured), Ok(raw)) = (structured, raw) else {
        if facts.identity.is_some() {
            let message = "is no AIEOS document; the persona is that of the Markdown files";
            carrier.outcome.warn("aieos_invalid", document.name.as_bytes(), message);
        }
        return of_prose();
    };
    let mut identity = prose.identity(agent, None).unwrap_or_else(|| Identity {
        id: ids::item(agent, "identity"),
        agent_id: agent,
        version: 1,
        updated_at: times::epoch(),
        structured: None,
        prose: None,
        source_format: None,
        raw_source: None,
        unknown: Unknown::default(),
    });
    // What only the Markdown files say must not be lost.
    if let Some(told) = identity.structured.take() {
        structured.names = structured.names.or(told.names);
        if structured.capabilities.is_empty() {
            structured.capabilities = told.capabilities;
        }
        if structured.sub_agents.is_empty() {
            structured.sub_agents = told.sub_agents;
        }
    }
    identity.structured = Some(structured);
    identity.source_format = Some("aieos".to_owned());
    identity.raw_source = Some(raw);
    let mut newest = Some(identity.updated_at.clone());
    keep_newest(&mut newest, document.at.as_ref());
    identity.updated_at = newest.unwrap_or_else(times::epoch);
    Some(persona::versioned(identity, options.earlier))
}

/// Finds the document: the one that the configuration names, or otherwise the default one.
fn document(
    home: &ReadWorkspace,
    facts: &InstallFacts,
    carrier: &mut Carrier<'_>,
) -> Option<PersonaDocument> {
    let Some(settings) = &facts.identity else {
        if facts.has_config {
            return None;
        }
        return AIEOS.iter().find_map(|name| in_workspace(home, name.as_bytes(), carrier));
    };
    if let Some(path) = &settings.aieos_path {
        let path = without_dots(&home.opened.path.join(path));
        if let Ok(inside) = path.strip_prefix(&home.opened.path) {
            if fs_err::symlink_metadata(&path).is_err() {
                let message = "describes the persona, and there is no such file";
                carrier.outcome.warn("aieos_missing", &path_bytes(inside.as_os_str()), message);
            }
            return in_workspace(home, &path_bytes(inside.as_os_str()), carrier);
        }
        let mut outside = facts.document.clone()?;
        if let Some(redacted) = carrier.search_text(&outside.name, 1, &outside.text) {
            outside.text = redacted;
        }
        return Some(outside);
    }
    let text = settings.aieos_inline.as_ref()?;
    let redacted = carrier.search_text(layout::CONFIG, 1, text);
    Some(PersonaDocument {
        name: layout::CONFIG.to_owned(),
        text: redacted.unwrap_or_else(|| text.clone()),
        at: facts.configured_at.clone(),
    })
}

fn in_workspace(
    home: &ReadWorkspace,
    path: &[u8],
    carrier: &mut Carrier<'_>,
) -> Option<PersonaDocument> {
    let found = home.opened.walked.found.iter();
    let found = found.filter(|found| found.is_file() && home.reason(&found.path).is_none());
    let found = found.into_iter().find(|found| found.path == path)?;
    if found.size() > MAX_DOCUMENT_BYTES {
        let message = "is too large to be taken apart; it travels as it is";
        carrier.outcome.warn("too_large", &found.path, message);
        return None;
    }
    let loaded = carrier.keep(found)?;
    let at = loaded.mtime.clone();
    let text = String::from_utf8(loaded.bytes.clone()).ok()?;
    Some(PersonaDocument { name: lossy(path), text, at })
}

/// Why rows could not be read.
#[derive(Debug, thiserror::Error)]
enum RowsError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Takes the files, the rows and the conversations one by one.
struct RecordReader<'a> {
    shared: &'a ReadingContext<'a>,
    /// Whether there are memories at all.
    keeps_memories: bool,
    /// Records that came from files: a row that once was one of them gets another id.
    from_files: HashSet<RecordId>,
    carrier: Carrier<'a>,
}

impl RecordReader<'_> {
    /// Carries the files in the order of an archive: artifacts, then raw files, with the generated
    /// files at their places.
    fn files(&mut self, found: &[FoundEntry], made: &[GeneratedFile]) -> Result<(), ReadError> {
        for found in found.iter().filter(|found| !layout::is_managed(&found.path)) {
            self.file(Root::Artifacts, found)?;
        }
        let mut made: Vec<&GeneratedFile> = made.iter().collect();
        made.sort_unstable_by_key(|file| file.path);
        let mut made = made.into_iter().peekable();
        for found in found.iter().filter(|found| layout::is_managed(&found.path)) {
            while let Some(next) = made.next_if(|file| file.path.as_bytes() < found.path.as_slice())
            {
                self.carrier.made(next)?;
            }
            self.file(Root::Raw(RUNTIME), found)?;
        }
        made.try_for_each(|value| self.carrier.made(value))
    }

    fn file(&mut self, root: Root<'_>, found: &FoundEntry) -> Result<(), ReadError> {
        if !self.carrier.is_there(found) || !self.carrier.may_be_named(found) {
            return Ok(());
        }
        if !found.is_file() {
            return self.carrier.other(root, found);
        }
        match layout::place_of(&found.path) {
            PathRole::Artifact => self.carrier.artifact(found),
            PathRole::Memory if self.keeps_memories => self.memory(root, found),
            _ => self.carrier.whole_file(root, found).map(drop),
        }
    }

    fn memory(&mut self, root: Root<'_>, found: &FoundEntry) -> Result<(), ReadError> {
        let Some(loaded) = self.carrier.memory_file(root, found)? else { return Ok(()) };
        let Some(text) = self.carrier.text_of(found, &loaded) else { return Ok(()) };
        let file = entries::EntryFile {
            path: &lossy(&found.path),
            text,
            mtime: &loaded.mtime.clone().unwrap_or_else(times::epoch),
        };
        let carrier = &mut self.carrier;
        let from_files = &mut self.from_files;
        entries::records(&file, self.shared, &mut |record| {
            from_files.insert(record.id);
            carrier.record(record)
        })
    }

    /// Makes records from the rows, one by one.
    fn rows(&mut self, brain: &Brain, options: &ReadOptions<'_>) -> Result<RowCounts, RowsError> {
        let mut reader = RowReader::new(brain, self.shared, std::mem::take(&mut self.from_files))?;
        let carrier = &mut self.carrier;
        let alias = self.shared.alias;
        let mut newest = None;
        let counts = brain.each_row(alias, options.private, &mut |row| {
            let mut record = reader.record(&brain.columns, &row);
            let temporal = &record.temporal;
            // A row without a time has that of the file, which changes when nothing else does.
            let created =
                Some(&temporal.created_at).filter(|created| **created != self.shared.fallback);
            keep_newest(&mut newest, created);
            keep_newest(&mut newest, temporal.updated_at.as_ref());
            redact::search(&mut record, &brain.columns, &row, carrier);
            carrier.record(record).map_err(RowsError::from)
        })?;
        let newest = newest.as_ref().unwrap_or(&self.shared.fallback);
        // The time of a row has its writer's offset.
        keep_newest(&mut carrier.outcome.newest, times::moment(newest.instant()).as_ref());
        carrier.outcome.warnings.extend(reader.warnings());
        Ok(counts)
    }

    /// Notes rows that do not travel.
    fn tell(&mut self, agent: &FoundAgent, counts: &RowCounts) {
        let path = agent.database.as_ref().map(|database| database.display().to_string());
        self.carrier.outcome.private_entries = counts.private;
        if counts.others > 0 && agent.generation != Some(layout::generation::DATA) {
            let message = format!("{} rows are of other agents and do not travel", counts.others);
            self.carrier.outcome.warnings.push(Warning { code: "rows_of_others", path, message });
        }
    }

    fn sessions(
        &mut self,
        machine: &Machine,
        agent: &FoundAgent,
        private: bool,
    ) -> Result<SessionCounts, ReadError> {
        let (carrier, shared) = (&mut self.carrier, self.shared);
        let mut take = |record| carrier.record(record);
        let read = sessions::records(machine, agent, shared, private, &mut take)?;
        self.carrier.outcome.warnings.extend(read.warnings);
        Ok(read.counts)
    }
}

#[cfg(test)]
mod tests;
