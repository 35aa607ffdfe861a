//! Puts an archive into a runtime as an agent.

use std::path::{Path, PathBuf};

use anemone_format::{ArchiveSource, Edits, ReadEntryError, SnapshotSource as _};
use anemone_runtimes::{
    Action, FoundAgent, Machine, OnConflict, Plan, PlanError, RestoreSource, Runtime, Step,
    StepKind, by_name, recover_leftovers,
};
use serde::Serialize;

use crate::agent::{
    ChosenAgent, DiscoveryDepth, FindAgentError, NamedAgent, check_alias, check_name,
    check_runtime, discover, runtime_named,
};
use crate::archive::{OpenArchiveError, open_sound};
use crate::files::{FileError, is_standard};
use crate::host::Host;
use crate::identity::remember_id;
use crate::keys::{KeysError, read_vault_key};
use crate::known_folders::{FolderKind, note_copy, note_folder};
use crate::restore::{
    ApplyPlanError, ConflictItem, DifferentAgentsError, MissingLine, RestoreChoice, Stores,
    UnknownChoiceError, arrived, check_agent, restore, text, warning,
};
use crate::text_times::{self, RestoredTimes};

/// Which archive is imported, and into what.
#[derive(Clone, Debug, Default)]
pub struct ImportRequest {
    /// The archive; `-` for standard input.
    pub file: PathBuf,
    /// The runtime that gets the agent; without it, that of the archive.
    pub runtime: Option<String>,
    /// The workspace or the install to fill; without it, where the runtime looks for its agent.
    pub workspace: Option<PathBuf>,
    /// The name of the agent in the runtime, where an install has several.
    pub agent: Option<String>,
    /// Whether an archive is taken that was edited after it was written.
    pub edits: Edits,
    /// Only say what would be done, and write nothing.
    pub dry_run: bool,
    /// What to do about files that differ, and how a new install is made.
    pub restore: RestoreChoice,
    /// The file of the key that opens sealed secrets of credentials.
    pub vault_key: Option<PathBuf>,
}

impl ImportRequest {
    /// Imports an archive to where its runtime looks for an agent, and replaces nothing there.
    #[must_use]
    pub fn new(file: PathBuf) -> Self {
        Self { file, ..Self::default() }
    }
}

/// What an import did, or would do.
#[derive(Clone, Debug, Serialize)]
pub struct ImportReport {
    /// The runtime that got the agent.
    pub runtime: &'static str,
    /// The workspace, given or found.
    pub workspace: String,
    /// What the agent is called.
    pub agent_name: String,
    /// Records of the archive.
    pub memory_records: u64,
    /// Whether the archive has a persona.
    pub identity_imported: bool,
    /// People whom the agent works for.
    pub principals_count: u64,
    /// Credentials of the archive.
    pub credentials_count: u64,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// Whether nothing was to be written.
    pub dry_run: bool,
    /// Files that come new.
    pub files_created: u64,
    /// Files that are replaced.
    pub files_replaced: u64,
    /// Files that stay although the archive has others.
    pub files_kept: u64,
    /// Files that are the same already.
    pub files_same: u64,
    /// What happens to each file; told by a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Vec<PlannedStep>>,
    /// Where the workspace differs from the archive.
    pub conflicts: Vec<ConflictItem>,
    /// What does not come back.
    pub not_restored: Vec<MissingLine>,
    /// What happens outside of the workspace.
    #[serde(flatten)]
    pub stores: Stores,
    /// Settings that come new; programs find them in `stores`.
    #[serde(skip)]
    pub settings: Vec<String>,
}

/// What happens to one file, link or folder.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedStep {
    /// Its path in the workspace.
    pub path: String,
    /// `file`, `symlink` or `folder`.
    pub kind: StepKind,
    /// `create`, `replace`, `keep`, `same`, `both` or `conflict`.
    pub action: &'static str,
    /// Its bytes.
    pub size: u64,
    /// The name that the archive's file gets where both stay.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

/// Why an archive was not imported.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum ImportError {
    /// The runtime or the agent that was named cannot be the target.
    Agent(#[from] FindAgentError),
    /// The archive cannot be used.
    Open(#[from] OpenArchiveError),
    /// A part of the archive cannot be read.
    Entry(#[from] ReadEntryError),
    /// The archive is of a runtime that is not known.
    #[error("the archive is of the runtime {0:?}, which is not known here")]
    UnknownRuntime(String),
    /// The runtime has several agents, and none was named.
    #[error("{runtime} has {} agents here", .agents.len())]
    SeveralAgents {
        /// The runtime.
        runtime: &'static str,
        /// The name and the workspace of each.
        agents: Vec<String>,
    },
    /// The workspace belongs to another agent.
    DifferentAgents(#[from] DifferentAgentsError),
    /// The runtime has no such backend or layout.
    Choice(#[from] UnknownChoiceError),
    /// There is no plan.
    Plan(#[from] PlanError),
    /// Files differ, and the request does not say what to do about that. Nothing was changed.
    #[error("the workspace and the archive differ; nothing was changed")]
    Conflicts {
        /// The workspace.
        workspace: PathBuf,
        /// What would be done, with the conflicts.
        report: Box<ImportReport>,
    },
    /// The plan was not applied, or not all of it.
    #[error("{source}")]
    Apply {
        /// What was planned, and what was done.
        report: Box<ImportReport>,
        /// The step that failed.
        source: ApplyPlanError,
    },
    /// A file cannot be read or written.
    File(#[from] FileError),
    /// A key cannot be read.
    Keys(#[from] KeysError),
}

/// Imports an archive.
pub fn import(request: &ImportRequest, host: &Host) -> Result<ImportReport, ImportError> {
    let given = request.runtime.as_deref().map(runtime_named).transpose()?;
    let vault_key = request.vault_key.as_deref().map(read_vault_key).transpose()?;
    let progress = host.progress("importing");
    let mut sound = open_sound(&request.file, request.edits, host, &progress)?;
    let archive_warnings = std::mem::take(&mut sound.warnings);
    let archive = sound.into_archive(&request.file)?;
    let source = ArchiveSource::new(&archive)?;
    let machine = host.machine().map_err(FileError::from)?;
    let alias = request.agent.as_deref();
    alias.map(check_name).transpose()?;
    let agent_id = source.manifest().agent.id;
    let runtime = match given {
        Some(runtime) => runtime,
        None => {
            let name = &source.manifest().agent.source_runtime;
            by_name(name).ok_or_else(|| ImportError::UnknownRuntime(name.clone()))?
        }
    };
    let (workspace, target) = match &request.workspace {
        Some(workspace) => (workspace.clone(), runtime.locate(&machine, workspace, alias)),
        None => usual_target(runtime, &machine, alias)?,
    };
    let chosen = ChosenAgent { runtime, agent: target };
    check_runtime(&chosen, &machine, &workspace)?;
    let target = chosen.agent;
    check_alias(&target, alias)?;
    check_agent(&target.workspace, request.restore.on_conflict, agent_id)?;
    let options = request.restore.plan_options(runtime.name, vault_key.as_ref())?;
    let mut recovered = Vec::new();
    if !request.dry_run {
        recovered = recover_leftovers(&target.workspace);
    }
    let restore_source = RestoreSource::open(&machine, &source, runtime.name)?;
    let plan = runtime.plan(&machine, &restore_source, &target, &options)?;
    let mut report = ImportReport::planned(runtime.name, &plan, &source, request.dry_run);
    report.workspace = shown(&workspace, &plan).display().to_string();
    report.warnings = archive_warnings;
    let powers = plan.power_warnings();
    let warnings = recovered.iter().chain(&plan.warnings).chain(&powers);
    report.warnings.extend(warnings.map(warning));
    if options.on_conflict == OnConflict::Stop && !plan.conflicts.is_empty() {
        return Err(ImportError::Conflicts { workspace, report: Box::new(report) });
    }
    if request.dry_run {
        return Ok(report);
    }
    match restore(&plan, &restore_source, &machine, &mut report.stores, host) {
        Ok(warnings) => report.warnings.extend(warnings.iter().map(warning)),
        Err(source) => return Err(ImportError::Apply { report: Box::new(report), source }),
    }
    let agent = arrived(&machine, &ChosenAgent { runtime, agent: target }, &plan).agent;
    note_copy(host, &machine, runtime, &agent);
    remember_id(runtime, &agent, source.manifest().agent.id, host);
    let earlier = text_times::read(runtime, &agent, host);
    let restored = RestoredTimes::of(&restore_source, runtime).map_err(FileError::from)?;
    let noted = restored.note(earlier, runtime, &agent, host);
    report.warnings.extend(noted.iter().map(warning));
    if !is_standard(&request.file) {
        note_folder(host, FolderKind::Archive, &request.file, None);
    }
    Ok(report)
}

/// Returns the folder in which a runtime looks for an agent, and the agent there: the one agent
/// that it has here, or the usual folder where it has none yet.
fn usual_target(
    runtime: &'static Runtime,
    machine: &Machine,
    alias: Option<&str>,
) -> Result<(PathBuf, FoundAgent), ImportError> {
    let found = discover(&[runtime], machine, DiscoveryDepth::Everything);
    let named = found.iter().find(|agent| Some(agent.alias.as_str()) == alias);
    let place = match (named, &found[..]) {
        (Some(NamedAgent { agent, .. }), _) | (None, [NamedAgent { agent, .. }]) => {
            let place = runtime.named_place(agent);
            if place == agent.workspace {
                return Ok((place.to_owned(), agent.clone()));
            }
            place.to_owned()
        }
        (None, []) => runtime.first_place(machine),
        (None, several) => {
            return Err(ImportError::SeveralAgents {
                runtime: runtime.name,
                agents: several.iter().map(NamedAgent::line).collect(),
            });
        }
    };
    let agent = runtime.locate(machine, &place, alias);
    Ok((place, agent))
}

/// Returns the workspace as the user named it, or where it is when an install was named.
fn shown<'a>(given: &'a Path, plan: &'a Plan) -> &'a Path {
    let real = |path: &Path| fs_err::canonicalize(path).or_else(|_| std::path::absolute(path)).ok();
    if real(given) == real(&plan.workspace) { given } else { &plan.workspace }
}

impl ImportReport {
    fn planned(
        runtime: &'static str,
        plan: &Plan,
        source: &ArchiveSource<'_>,
        dry_run: bool,
    ) -> Self {
        let manifest = source.manifest();
        let layers = &manifest.layers;
        Self {
            runtime,
            workspace: plan.workspace.display().to_string(),
            agent_name: manifest.agent.name.clone(),
            memory_records: plan.records,
            identity_imported: layers.identity.is_some(),
            principals_count: layers.principals.as_ref().map_or(0, |layer| layer.count),
            credentials_count: layers.credentials.as_ref().map_or(0, |layer| layer.count),
            warnings: Vec::new(),
            dry_run,
            files_created: plan
                .count(|action| matches!(action, Action::Create | Action::Both { .. })),
            files_replaced: plan.count(|action| *action == Action::Replace),
            files_kept: plan.count(|action| *action == Action::Keep),
            files_same: plan.count(|action| *action == Action::Same),
            plan: dry_run.then(|| plan.steps.iter().map(PlannedStep::new).collect()),
            conflicts: ConflictItem::list(plan),
            not_restored: plan.not_restored.iter().map(MissingLine::new).collect(),
            stores: Stores::planned(plan),
            settings: plan.config.as_ref().map(|step| step.added.clone()).unwrap_or_default(),
        }
    }
}

impl PlannedStep {
    fn new(step: &Step) -> Self {
        Self {
            path: text(&step.path),
            kind: step.kind(),
            action: word(&step.action),
            size: step.size(),
            beside: match &step.action {
                Action::Both(beside) => Some(text(beside)),
                _ => None,
            },
            reason: step.reason,
        }
    }
}

fn word(action: &Action) -> &'static str {
    match action {
        Action::Create => "create",
        Action::Replace => "replace",
        Action::Keep => "keep",
        Action::Same => "same",
        Action::Both { .. } => "both",
        Action::Conflict => "conflict",
    }
}
