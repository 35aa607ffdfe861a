//! Which agent a command is about: `-r`, `-w` and `--agent`.

use std::path::{Path, PathBuf};

use anemone_adapters::{ADAPTERS, Adapter, FoundAgent, Machine, by_name};
use clap::Args;

use crate::error::{CliError, Kind};

/// Arguments that pick an agent.
#[derive(Args, Clone, Debug)]
pub(crate) struct AgentArgs {
    /// The runtime: openclaw
    #[arg(long, short, value_name = "RUNTIME")]
    pub(crate) runtime: Option<String>,

    /// The agent's workspace; without it, the one agent that is found on this machine
    #[arg(long, short, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,

    /// The agent with this name, as `anemone agents` lists it
    #[arg(long, value_name = "ALIAS", conflicts_with = "workspace")]
    pub(crate) agent: Option<String>,
}

/// An agent and the adapter that knows it.
pub(crate) struct Chosen {
    pub(crate) adapter: &'static dyn Adapter,
    pub(crate) agent: FoundAgent,
}

impl AgentArgs {
    /// Returns the agent that the user means.
    pub(crate) fn choose(&self, machine: &Machine) -> Result<Chosen, CliError> {
        let adapters = adapters(self.runtime.as_deref())?;
        if let Some(workspace) = &self.workspace {
            let there = fs_err::metadata(workspace).map_err(|error| {
                CliError::from(error).hint("give the folder that holds MEMORY.md and memory/")
            })?;
            if !there.is_dir() {
                return Err(CliError::new(Kind::Failed, "not_a_folder", "this is not a folder")
                    .about(workspace)
                    .hint("give the folder that holds MEMORY.md and memory/"));
            }
            let located =
                adapters.iter().map(|adapter| (adapter, adapter.locate(machine, workspace)));
            let (adapter, agent) = located
                .max_by_key(|(_, agent)| agent.install.is_some())
                .expect("there is at least one adapter");
            return Ok(Chosen { adapter: *adapter, agent });
        }
        if let Some(alias) = &self.agent {
            let mut failed = None;
            for adapter in adapters {
                match find(adapter, machine, alias) {
                    Ok(agent) => return Ok(Chosen { adapter, agent }),
                    Err(error) => failed = Some(error),
                }
            }
            return Err(failed.expect("there is at least one adapter"));
        }
        let mut found = Vec::new();
        for adapter in adapters {
            let agents = adapter.discover(machine);
            let aliases = aliases(&agents);
            let there = agents.into_iter().zip(aliases).filter(|(it, _)| it.workspace.is_dir());
            found.extend(there.map(|(agent, alias)| (Chosen { adapter, agent }, alias)));
        }
        match found.len() {
            1 => Ok(found.remove(0).0),
            0 => Err(CliError::new(
                Kind::Failed,
                "agent_not_found",
                "no agent was found on this machine",
            )
            .hint("give the workspace with -w DIR; `anemone agents` says where we looked")),
            count => {
                let mut error = CliError::new(
                    Kind::Usage,
                    "agent_selection_ambiguous",
                    format!("{count} agents were found; say which one you mean"),
                );
                error.causes = found
                    .iter()
                    .map(|(it, alias)| format!("{alias}: {}", it.agent.workspace.display()))
                    .collect();
                Err(error.hint("give --agent ALIAS or -w DIR"))
            }
        }
    }
}

/// Returns the adapters that the user may mean.
pub(crate) fn adapters(runtime: Option<&str>) -> Result<Vec<&'static dyn Adapter>, CliError> {
    match runtime {
        Some(runtime) => Ok(vec![adapter(runtime)?]),
        None => Ok(ADAPTERS.to_vec()),
    }
}

/// Returns the adapter of a runtime that the user named.
pub(crate) fn adapter(runtime: &str) -> Result<&'static dyn Adapter, CliError> {
    by_name(runtime).ok_or_else(|| {
        let known: Vec<&str> = ADAPTERS.iter().map(|it| it.runtime()).collect();
        CliError::new(Kind::Usage, "unknown_runtime", format!("Unknown runtime {runtime:?}"))
            .hint(format!("known are: {}", known.join(", ")))
    })
}

/// Returns the agent of an alias that the user gave.
pub(crate) fn find(
    adapter: &dyn Adapter,
    machine: &Machine,
    alias: &str,
) -> Result<FoundAgent, CliError> {
    let found = adapter.discover(machine);
    let aliases = aliases(&found);
    let position = aliases.iter().position(|it| it == alias);
    position.and_then(|at| found.into_iter().nth(at)).ok_or_else(|| {
        let error = format!("there is no agent {alias:?} of {}", adapter.runtime());
        let error = CliError::new(Kind::Failed, "agent_not_found", error);
        match aliases.is_empty() {
            true => error.hint("no agent was found; give the workspace with -w DIR"),
            false => error.hint(format!("found are: {}", aliases.join(", "))),
        }
    })
}

/// Returns what each agent is called here: its name, and the install's where names meet.
pub(crate) fn aliases(agents: &[FoundAgent]) -> Vec<String> {
    let mut given: Vec<String> = Vec::new();
    for agent in agents {
        let mut alias = agent.alias.clone();
        if given.contains(&alias) {
            let install = agent.install.as_deref().unwrap_or(&agent.workspace);
            alias = format!("{}/{}", install_name(agent.runtime, install), agent.alias);
        }
        let first = alias.clone();
        let mut number = 2;
        while given.contains(&alias) {
            alias = format!("{first}-{number}");
            number += 1;
        }
        given.push(alias);
    }
    given
}

/// Returns the profile of an install, or else the name of its folder.
fn install_name(runtime: &str, install: &Path) -> String {
    let name = install.file_name().unwrap_or(install.as_os_str()).to_string_lossy();
    let name = name.trim_start_matches('.');
    let profile = name.strip_prefix(runtime).and_then(|it| it.strip_prefix('-'));
    profile.unwrap_or(name).to_owned()
}
