//! Examines this machine: agents, archives, search, connections, and suggested next steps.
//!
//! Files are only examined from outside, and nothing is written.

mod agent_status;
mod next;
mod problems;

use std::path::{Path, PathBuf};

use anemone_format::Moment;
use anemone_memory::HookWrite;
use anemone_runtimes::{Machine, with_agents};
use jiff::Timestamp;
use serde::Serialize;

pub use self::next::{AgentName, ExportReason, NextStep, StepWords};
pub use self::problems::{Level, Problem, ProblemTopic, ProblemWords};
use crate::agent::{
    AgentChoice, ChosenAgent, DiscoveryDepth, FindAgentError, NamedAgent, discover, runtimes_named,
};
use crate::config::Config;
use crate::connect::{ConnectedProgram, Connections, is_connectable};
use crate::host::Host;
use crate::statement::Statement;

/// What is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusRequest {
    /// The agent in this workspace, instead of those that are found.
    pub workspace: Option<PathBuf>,
}

/// What was seen.
#[derive(Debug, Serialize)]
pub struct StatusReport {
    /// The agents.
    pub agents: Vec<AgentStatus>,
    /// Programs that have this memory.
    pub connections: Vec<&'static str>,
    /// The connections one by one.
    pub connection_details: Vec<ConnectedProgram>,
    /// Problems that are not specific to one agent.
    pub problems: Vec<Statement<Problem, ProblemWords>>,
    /// What makes sense next, the most important first.
    pub next: Vec<Statement<NextStep, StepWords>>,
    /// Where agents were looked for.
    pub looked_in: Vec<String>,
    /// When all this was seen.
    #[serde(skip)]
    pub now: Timestamp,
}

/// One agent.
#[derive(Debug, Serialize)]
pub struct AgentStatus {
    /// Its runtime.
    pub runtime: &'static str,
    /// The shape of the install.
    pub generation: Option<&'static str>,
    /// The runtime's version, as the install says.
    pub version: Option<String>,
    /// The name by which it is chosen.
    pub alias: String,
    /// Its workspace.
    pub workspace: String,
    /// Whether there is such a folder.
    pub workspace_exists: bool,
    /// Its files; see [`survey`](crate::survey) for what counts.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When one of them was changed last.
    pub last_change: Option<Moment>,
    /// Its last export.
    pub last_export: Option<LastExport>,
    /// Whether search is ready.
    pub search: SearchStatus,
    /// What hooks wrote into the memory today, the oldest first.
    pub hook_writes: Vec<HookWrite>,
    /// What is wrong, the worst first.
    pub problems: Vec<Statement<Problem, ProblemWords>>,
    /// How the user names it among all agents.
    #[serde(skip)]
    pub name: AgentName,
    /// Whether its runtime can be given the tools for it.
    #[serde(skip)]
    pub is_connectable: bool,
}

/// The last export of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LastExport {
    /// The archive.
    pub archive: String,
    /// When it was made.
    pub at: Moment,
    /// Whether the archive is still there.
    pub exists: bool,
    /// Bytes of the archive.
    pub file_size: u64,
    /// Files that it does not have as they are now.
    pub changed_since: u64,
    /// Whether it cannot be read without a key.
    pub sealed: bool,
}

/// Whether search is ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SearchStatus {
    /// The state of the index.
    pub state: Readiness,
    /// Documents in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<u64>,
    /// Pieces of documents in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunks: Option<u64>,
    /// Files that the index does not have as they are now; the next search takes them in.
    pub changed: u64,
}

/// The state of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Readiness {
    /// The index has everything.
    Ready,
    /// Something changed since.
    Behind,
    /// There is no index.
    Missing,
    /// Another program is writing it.
    Busy,
    /// A build was interrupted; the next search builds it.
    Unfinished,
    /// Another version of the program made it; the next search rebuilds it.
    Outdated,
    /// It cannot be read; the next search rebuilds it.
    Damaged,
    /// There is nothing to search.
    Nothing,
    /// What is searched cannot be looked at.
    Unknown,
}

/// Looks at this machine.
pub fn status(request: &StatusRequest, host: &Host) -> Result<StatusReport, FindAgentError> {
    let machine = host.machine()?;
    let named = request.workspace.as_deref();
    let found = match named {
        Some(workspace) => vec![agent_in(workspace, &machine)?],
        None => discover(&runtimes_named(None)?, &machine, DiscoveryDepth::Everything),
    };
    let mut agents = Vec::new();
    for one in &found {
        let mut agent = agent_status::look(one, AgentName::of(one, &found, named), &machine, host);
        agent.is_connectable = is_connectable(agent.runtime, &one.agent.alias, host, &machine);
        agents.push(agent);
    }
    let Connections { connected, broken } = Connections::look(host);
    let mut connections: Vec<&'static str> =
        connected.iter().map(|connection| connection.program).collect();
    connections.dedup();
    let looked_in = looked_in(&machine);
    let mut problems = problems_of_all(&agents, broken, host);
    problems.extend(unreadable(&looked_in));
    let next = next::choose(&agents, &connections, &problems, host, &is_free);
    Ok(StatusReport {
        agents,
        connections,
        connection_details: connected,
        problems: Statement::list(problems),
        next: Statement::list(next),
        looked_in,
        now: host.now(),
    })
}

/// Returns unreadable places that may contain agents: agents there are not in the result.
fn unreadable(places: &[String]) -> impl Iterator<Item = Problem> {
    places.iter().filter_map(|place| {
        let error = fs_err::read_dir(place).err()?;
        let is_there = error.kind() != std::io::ErrorKind::NotFound;
        is_there.then(|| Problem::InstallUnreadable(place.clone()))
    })
}

fn agent_in(workspace: &Path, machine: &Machine) -> Result<NamedAgent, FindAgentError> {
    let choice = AgentChoice { workspace: Some(workspace.to_owned()), ..AgentChoice::default() };
    let ChosenAgent { runtime, agent } = choice.choose_by_files(machine)?;
    let alias = agent.alias.clone();
    Ok(NamedAgent { runtime, agent, alias })
}

/// Returns what is wrong with all of it.
fn problems_of_all(agents: &[AgentStatus], broken: Vec<String>, host: &Host) -> Vec<Problem> {
    let mut problems = Vec::new();
    if agents.is_empty() {
        problems.push(Problem::NoAgents);
    }
    if let Err(error) = Config::read(host) {
        problems.push(Problem::ConfigBroken(error));
    }
    problems.extend(broken.into_iter().map(Problem::ConnectionBroken));
    problems
}

/// Returns where agents were looked for, as far as that is known.
fn looked_in(machine: &Machine) -> Vec<String> {
    let home = |name: &str| machine.home.join(name).display().to_string();
    let usual = || with_agents().filter_map(|runtime| runtime.places);
    let folders = usual().flat_map(|places| places.folders).map(|name| home(name));
    let named = usual().flat_map(|places| places.variables);
    let named = named.filter_map(|name| machine.variable(name));
    folders.chain(named.map(|folder| folder.to_string_lossy().into_owned())).collect()
}

/// Whether a file of this name can be made.
fn is_free(path: &Path) -> bool {
    fs_err::symlink_metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}
