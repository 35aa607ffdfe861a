//! Moves an agent to another runtime, and proves what came along.

mod announced;
mod endpoints;
mod layers;
mod reader;

use std::io;
use std::path::{Path, PathBuf};

use anemone_files::make_private_folder;
use anemone_format::{
    ArchiveSource, KEY_BYTES, OpenError, ReadEntryError, SnapshotSource, VaultKey,
    WriteArchiveError,
};
use anemone_runtimes::mapping::{Mapping, mapping, mapping_with};
use anemone_runtimes::{
    FoundAgent, InstallBackend, LeftOut, OnConflict, Plan, PlanError, ReadError, RestoreSource,
    recover_leftovers,
};
use serde::Serialize;
use zeroize::Zeroizing;

use self::announced::announced;
use self::endpoints::{check_apart, choose_source, choose_target, snapshots_folder};
use self::layers::plan_layers;
pub use self::layers::{Destination, KindPlan, LayerPlan, RecordPlan};
use self::reader::SnapshotReader;
use crate::agent::FindAgentError;
use crate::files::FileError;
use crate::host::Host;
use crate::identity::{identify, remember_id};
use crate::known_folders::note_copy;
use crate::proof::{Current, Proof, compare};
use crate::restore::{
    ApplyPlanError, ConflictItem, DifferentAgentsError, MissingLine, RestoreChoice, Stores,
    UnknownChoiceError, arrived, check_agent, restore, warning,
};
use crate::text::{bytes, count};

/// Bytes of JSON of the records of a snapshot that are kept in memory, at most: a plan, its
/// application and the proof each walk over them several times. Larger snapshots are parsed at
/// every walk.
const MAX_KEPT_BYTES: usize = 64 << 20;

/// Which agent moves, and to where.
#[derive(Clone, Debug, Default)]
pub struct MigrateRequest {
    /// The runtime that has the agent.
    pub from: Endpoint,
    /// The runtime that gets it.
    pub to: Endpoint,
    /// The name of the agent that moves, where the runtime has several.
    pub agent: Option<String>,
    /// The name that it gets.
    pub to_agent: Option<String>,
    /// Only say what would be done, and write nothing.
    pub dry_run: bool,
    /// Report every record that does not come along whole.
    pub verbose: bool,
    /// What to do about files that differ, and how a new install is made.
    pub restore: RestoreChoice,
    /// Move entries that the runtime keeps for one person only.
    pub private: bool,
    /// Move the secrets of credentials.
    pub credentials: bool,
    /// The folder for snapshots of both sides; without it, one in the user's data folder.
    pub snapshots: Option<PathBuf>,
}

impl MigrateRequest {
    /// Moves the one agent of a runtime to another runtime, and replaces nothing there.
    #[must_use]
    pub fn new(from: Endpoint, to: Endpoint) -> Self {
        Self { from, to, ..Self::default() }
    }
}

/// A runtime, and a folder if it is not the usual one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// The runtime.
    pub runtime: String,
    /// The agent's folder.
    pub folder: Option<PathBuf>,
}

/// The result of a move, or of its dry run.
#[derive(Clone, Debug, Serialize)]
pub struct MigrateReport {
    /// Whether nothing was to be written.
    pub dry_run: bool,
    /// What the agent is called.
    pub agent_name: String,
    /// Its id.
    pub agent_id: String,
    /// Where it was, and still is.
    pub from: AgentPlace,
    /// Where it went.
    pub to: AgentPlace,
    /// Snapshots of both sides.
    pub snapshots: Vec<SnapshotLine>,
    /// What becomes of everything.
    pub plan: PlanSummary,
    /// The proof; `None` in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// What happens outside of the workspace.
    #[serde(flatten)]
    pub stores: Stores,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// What does not come along.
    pub not_carried: Vec<MissingLine>,
}

/// One end of the way.
#[derive(Clone, Debug, Serialize)]
pub struct AgentPlace {
    /// The runtime.
    pub runtime: &'static str,
    /// What the runtime calls the agent.
    pub agent: String,
    /// Its workspace.
    pub workspace: String,
}

impl AgentPlace {
    fn new(agent: &FoundAgent) -> Self {
        let workspace = agent.workspace.display().to_string();
        Self { runtime: agent.runtime, agent: agent.alias.clone(), workspace }
    }
}

/// A snapshot that stays.
#[derive(Clone, Debug, Serialize)]
pub struct SnapshotLine {
    /// `source` or `target`.
    pub of: &'static str,
    /// The archive.
    pub path: String,
    /// Its bytes.
    pub file_size: u64,
}

/// The mapping of everything in a plan.
#[derive(Clone, Debug, Serialize)]
pub struct PlanSummary {
    /// Layer by layer.
    pub layers: Vec<LayerPlan>,
    /// What the agent forgot while it was away.
    pub forgotten: ForgottenLine,
}

/// What an agent forgot while it was away, and does not get back.
#[derive(Clone, Debug, Serialize)]
pub struct ForgottenLine {
    /// How many memories.
    pub count: u64,
    /// The first of them.
    pub names: Vec<String>,
}

/// What a part of a move returns.
type Result<T, E = MigrateError> = std::result::Result<T, E>;

/// Why an agent was not moved.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum MigrateError {
    /// No agent was chosen, or the target cannot be used.
    Agent(#[from] FindAgentError),
    /// The runtime does not have exactly one agent, and none was named.
    #[error("{source}")]
    Source {
        /// The runtime.
        runtime: String,
        /// What was found.
        source: FindAgentError,
    },
    /// The target has several agents, and none was named.
    #[error("{runtime} has {} agents here", .agents.len())]
    SeveralTargets {
        /// The runtime.
        runtime: String,
        /// The name and the workspace of each.
        agents: Vec<String>,
    },
    /// Source and target are one folder.
    #[error("the agent is already there")]
    AlreadyThere(PathBuf),
    /// Source and target are nested.
    /// The path is that of the target.
    #[error("one of the two folders contains the other")]
    Nested(PathBuf),
    /// The folder for snapshots is in a workspace.
    #[error("the snapshots would be written into the workspace")]
    SnapshotsInWorkspace(PathBuf),
    /// The runtime has no such backend or layout.
    Choice(#[from] UnknownChoiceError),
    /// An agent cannot be read.
    Read(#[from] ReadError),
    /// A snapshot cannot be written.
    Write(#[from] WriteArchiveError),
    /// A snapshot that was just written cannot be opened.
    Open(#[from] OpenError),
    /// A part of a snapshot cannot be read.
    Entry(#[from] ReadEntryError),
    /// The target's workspace belongs to another agent.
    DifferentAgents(#[from] DifferentAgentsError),
    /// There is no plan.
    Plan(#[from] PlanError),
    /// There is no mapping of memories to that runtime.
    #[error("moving an agent to that runtime is not supported")]
    NoMapping,
    /// Files differ, and the request does not say what to do about that. Nothing was changed.
    #[error("the workspace and the archive differ; nothing was changed")]
    Conflicts {
        /// The target's workspace.
        workspace: PathBuf,
        /// Where they differ.
        conflicts: Vec<ConflictItem>,
        /// What would be done.
        report: Box<MigrateReport>,
    },
    /// The plan was not applied, or not all of it.
    #[error("{source}")]
    Apply {
        /// What was planned, and what was done.
        report: Box<MigrateReport>,
        /// The step that failed.
        source: ApplyPlanError,
    },
    /// Something cannot be found again that the plan did not name.
    #[error("the plan did not announce that this is lost: {}", count(*.lost, "thing"))]
    Lost {
        /// How many things.
        lost: u64,
        /// What was done; the proof names what is lost.
        report: Box<MigrateReport>,
    },
    /// A file cannot be read or written.
    File(#[from] FileError),
    /// A snapshot or a temporary file cannot be read or written.
    Io(#[from] io::Error),
}

/// Moves an agent.
pub fn migrate(request: &MigrateRequest, host: &Host) -> Result<MigrateReport> {
    let machine = host.machine()?;
    let source = choose_source(request, &machine)?;
    let target = choose_target(request, &machine)?;
    check_apart(&source, &target)?;
    let runtime = target.runtime.name;
    let key = request.credentials.then(random_key).transpose()?;
    let options = request.restore.plan_options(runtime, key.as_ref())?;
    let folder = snapshots_folder(request, host, [&source.agent, &target.agent])?;
    let reader =
        SnapshotReader { request, host, machine: &machine, key: key.as_ref(), folder: &folder };

    let read = reader.read(&source)?;
    let archive = read.open()?;
    let snapshot = ArchiveSource::new(&archive)?.keeping_records(MAX_KEPT_BYTES);
    let agent_id = snapshot.manifest().agent.id;
    check_agent(&target.agent.workspace, request.restore.on_conflict, agent_id)?;
    let moving = RestoreSource::open(&machine, &snapshot, runtime)?;
    let mut recovered = Vec::new();
    if !request.dry_run {
        recovered = recover_leftovers(&target.agent.workspace);
    }
    let plan = target.runtime.plan(&machine, &moving, &target.agent, &options)?;
    let known = mapping_of(runtime, &plan).ok_or(MigrateError::NoMapping)?;
    let mut report = MigrateReport {
        dry_run: request.dry_run,
        agent_name: snapshot.manifest().agent.name.clone(),
        agent_id: agent_id.to_string(),
        from: AgentPlace::new(&source.agent),
        to: AgentPlace::new(&target.agent),
        snapshots: Vec::new(),
        plan: PlanSummary {
            layers: plan_layers(&moving, &plan, known, request.verbose)?,
            forgotten: ForgottenLine {
                count: plan.forgotten.count,
                names: plan.forgotten.names.clone(),
            },
        },
        proof: None,
        stores: Stores::planned(&plan),
        warnings: read.warnings.clone(),
        not_carried: plan.not_restored.iter().map(MissingLine::new).collect(),
    };
    report.not_carried.extend(read.left_out.iter().map(missing));
    report.warnings.extend(recovered.iter().chain(&plan.warnings).map(warning));
    if !plan.conflicts.is_empty() && request.restore.on_conflict == OnConflict::Stop {
        let (conflicts, report) = (ConflictItem::list(&plan), Box::new(report));
        return Err(MigrateError::Conflicts {
            workspace: target.agent.workspace,
            conflicts,
            report,
        });
    }
    if request.dry_run {
        return Ok(report);
    }
    make_private_folder(&folder)?;
    report.snapshots.push(reader.keep(&read, "source", &source.agent)?);
    if let Some(before) = reader.read_before(&target)? {
        report.snapshots.push(reader.keep(&before, "target", &target.agent)?);
    }
    // The target gets the agent's id. Unless the owner of the id is recorded, the first command on
    // the target would claim the id, and the source would become another agent.
    identify(source.runtime, &source.agent, host).claim(&real(&source.agent.workspace), host);
    match restore(&plan, &moving, &machine, &mut report.stores, host) {
        Ok(warnings) => report.warnings.extend(warnings.iter().map(warning)),
        Err(source) => return Err(MigrateError::Apply { report: Box::new(report), source }),
    }

    let target = arrived(&machine, &target, &plan);
    note_copy(host, &machine, target.runtime, &target.agent);
    remember_id(target.runtime, &target.agent, snapshot.manifest().agent.id, host);
    report.to = AgentPlace::new(&target.agent);
    // What came back may be private, though nothing private was read.
    let archive = reader.read_all(&target, true)?.open()?;
    let there = ArchiveSource::new(&archive)?.keeping_records(MAX_KEPT_BYTES);
    let origins = moving.origins();
    let origin_of = |record| origins.get(&record).copied();
    let mut expected = announced(&plan, known, key.as_ref());
    if moving.is_returning() {
        expected.current = Some(Current { source: &snapshot, origin_of: &origin_of });
    }
    report.proof = Some(compare(&moving, &there, &expected)?);
    judge(report)
}

/// Returns how the target represents each kind of item.
fn mapping_of(runtime: &str, plan: &Plan) -> Option<&'static Mapping> {
    match &plan.memories {
        // If there is a choice, memories that are not stored in a database are stored in files.
        None => mapping_with(runtime, InstallBackend::Markdown),
        Some(_) => mapping(runtime),
    }
}

/// Returns the result, or an error when something is nowhere.
fn judge(report: MigrateReport) -> Result<MigrateReport> {
    match report.proof.as_ref().map_or(0, |proof| proof.lost.len() as u64) {
        0 => Ok(report),
        lost => Err(MigrateError::Lost { lost, report: Box::new(report) }),
    }
}

fn missing(left_out: &LeftOut) -> MissingLine {
    let LeftOut { path, reason, files, bytes: size } = left_out;
    let reason = format!("{}: {}, {}", reason.as_str(), count(*files, "file"), bytes(*size));
    MissingLine { what: "file", path: Some(path.clone()), reason }
}

/// Creates the key that seals credentials during the move; it is never stored.
fn random_key() -> io::Result<VaultKey> {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    crate::system::fill_random(&mut *key).map_err(io::Error::other)?;
    Ok(VaultKey::Raw(key))
}

/// Returns a path with its links followed, as far as the path exists.
fn real(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let Ok(found) = fs_err::canonicalize(above) {
            let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
            return found.join(rest);
        }
    }
    path.to_owned()
}

#[cfg(test)]
mod tests;
