//! `anemone status`, and `anemone` alone

mod look;
mod next;
mod problems;
mod shown;

use std::path::{Path, PathBuf};

use anemone_format::Moment;
use anemone_memory::HookWrite;
use anemone_runtimes::{Machine, with_agents};
use clap::Args;
use jiff::Timestamp;
use serde::Serialize;

use self::next::Next;
use self::problems::Problem;
use super::Context;
use crate::agent::{ChosenAgent, NamedAgent as Found, adapters, discover};
use crate::args::AgentArgs;
use crate::config::Config;
use crate::error::CliError;
use anemone::connect::{Connection, Connections, is_connectable};
use anemone::host::Host;

/// Look at this machine: agents, archives, search, and what to do next
///
/// Lists every agent that is found, when it was last exported and what changed since, whether
/// search is ready, what hooks wrote into its memory today, which programs are connected, what is
/// wrong, and the three commands that make sense next. `anemone` alone does the same. Files are
/// looked at from outside and nothing is written, so it is quick and can be asked at any time.
#[derive(Args, Debug, Default)]
pub(crate) struct StatusArgs {
    /// Show the agent in this workspace instead of those that are found
    #[arg(long, short, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

#[derive(Serialize)]
pub(crate) struct StatusReport {
    ok: bool,
    agents: Vec<AgentStatus>,
    /// Programs that have this memory, as `anemone connect` names them.
    connections: Vec<&'static str>,
    /// The connections one by one.
    connection_details: Vec<ConnectionLine>,
    /// What is wrong with none of the agents but with all.
    problems: Vec<Problem>,
    next: Vec<Next>,
    /// Where agents were looked for.
    looked_in: Vec<String>,
    #[serde(skip)]
    now: Timestamp,
}

/// A connection, and what it may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct ConnectionLine {
    program: &'static str,
    /// The project, where only that is connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    /// Whether its hooks write into the memory.
    hooks_write: bool,
}

#[derive(Debug, Serialize)]
struct AgentStatus {
    runtime: &'static str,
    generation: Option<&'static str>,
    version: Option<String>,
    alias: String,
    workspace: String,
    workspace_exists: bool,
    files: u64,
    bytes: u64,
    last_change: Option<Moment>,
    last_export: Option<LastExport>,
    search: Search,
    /// What hooks wrote into the memory today, the oldest first.
    hook_writes: Vec<HookWrite>,
    problems: Vec<Problem>,
    /// The arguments that name it, each behind a space.
    #[serde(skip)]
    words: String,
    /// Whether the user named its workspace.
    #[serde(skip)]
    is_named: bool,
    /// Whether `anemone connect` can give its runtime the tools for it.
    #[serde(skip)]
    is_connectable: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct LastExport {
    archive: String,
    at: Moment,
    /// Whether the archive is still there.
    exists: bool,
    file_size: u64,
    /// Files that it does not have as they are now.
    changed_since: u64,
    /// Whether it cannot be read without a key.
    sealed: bool,
}

/// Whether search is ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Search {
    state: Readiness,
    #[serde(skip_serializing_if = "Option::is_none")]
    documents: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunks: Option<u64>,
    /// Files that the index does not have as they are now; the next search takes them in.
    changed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Readiness {
    /// The index has everything.
    Ready,
    /// Something changed since.
    Behind,
    /// There is no index.
    Missing,
    /// Somebody writes into it at this moment.
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

pub(crate) fn run(args: &StatusArgs, context: &Context<'_>) -> Result<StatusReport, CliError> {
    let machine = context.host.machine()?;
    let now = context.host.now();
    let found = match &args.workspace {
        Some(workspace) => vec![named(workspace, &machine)?],
        None => discover(&adapters(None)?, &machine),
    };
    let mut agents = Vec::new();
    for one in &found {
        let words = words_of(one, &found, args.workspace.as_deref());
        let mut agent = look::at(one, words, &machine, &context.host, now);
        agent.is_named = args.workspace.is_some();
        agent.is_connectable =
            is_connectable(agent.runtime, &one.agent.alias, &context.host, &machine);
        agents.push(agent);
    }
    let Connections { connected, broken } = Connections::look(&context.host);
    let mut connections: Vec<&'static str> = connected.iter().map(|it| it.program).collect();
    connections.dedup();
    let looked_in = looked_in(&machine);
    let mut problems = of_all(&agents, &broken, &context.host);
    problems.extend(unreadable(&looked_in));
    let next = next::choose(&agents, &connections, &problems, now, &is_free);
    let line = |it: Connection| ConnectionLine {
        program: it.program,
        project: it.project,
        hooks_write: it.writes,
    };
    Ok(StatusReport {
        ok: true,
        agents,
        connections,
        connection_details: connected.into_iter().map(line).collect(),
        problems,
        next,
        looked_in,
        now,
    })
}

/// Returns the places in which agents may live and that cannot be looked into: an agent there is
/// not among those that were found.
fn unreadable(places: &[String]) -> Vec<Problem> {
    let mut found = Vec::new();
    for place in places {
        let Err(error) = fs_err::read_dir(place) else { continue };
        if error.kind() != std::io::ErrorKind::NotFound {
            let message = format!("{place} cannot be read, so agents in it are not listed");
            found.push(Problem::wrong("install_unreadable", message));
        }
    }
    found
}

fn named(workspace: &Path, machine: &Machine) -> Result<Found, CliError> {
    let args = AgentArgs { workspace: Some(workspace.to_owned()), runtime: None, agent: None };
    let ChosenAgent { adapter, agent } = args.choice().choose_by_files(machine)?;
    let alias = agent.alias.clone();
    Ok(Found { adapter, agent, alias })
}

/// Returns the arguments that name an agent among others, each behind a space.
fn words_of(one: &Found, all: &[Found], workspace: Option<&Path>) -> String {
    let quoted = anemone::connect::quoted;
    if let Some(workspace) = workspace {
        let path = workspace.display().to_string();
        // What begins with a hyphen is no path to a parser of arguments.
        let path = if path.starts_with('-') { format!("./{path}") } else { path };
        return format!(" -w {}", quoted(&path));
    }
    // Commands take the only agent that has a workspace without a word.
    let others = all.iter().filter(|it| !std::ptr::eq(*it, one));
    if !others.clone().any(|it| it.agent.workspace.is_dir()) && one.agent.workspace.is_dir() {
        return String::new();
    }
    let mut words = String::new();
    if others.clone().any(|it| it.alias == one.alias) {
        words = format!(" -r {}", one.adapter.name);
    }
    let sign = if one.alias.starts_with('-') { "=" } else { " " };
    words + " --agent" + sign + &quoted(&one.alias)
}

/// Returns what is wrong with all of it.
fn of_all(agents: &[AgentStatus], broken: &[String], host: &Host) -> Vec<Problem> {
    let mut problems = Vec::new();
    if agents.is_empty() {
        problems.push(Problem::wrong("no_agents", "no agents found on this machine"));
    }
    if let Err(error) = Config::read(host).map_err(CliError::from) {
        let parts = std::iter::once(error.message).chain(error.causes);
        let message = parts.collect::<Vec<_>>().join(": ");
        problems.push(Problem::wrong("config_broken", message));
    }
    for name in broken {
        let message = format!(
            "the record of the connection to {name} cannot be read; `anemone disconnect {name} \
             --all` removes every entry that starts anemone"
        );
        problems.push(Problem::wrong("connection_broken", message));
    }
    problems
}

/// Returns where agents were looked for, as far as it can be said in few words.
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
    fs_err::symlink_metadata(path).is_err_and(|it| it.kind() == std::io::ErrorKind::NotFound)
}
