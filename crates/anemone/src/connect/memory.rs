//! Which memory a program is given, as arguments that still name it from any folder.

use std::path::Path;

use anemone_runtimes::{Machine, MemoryBackend};

use super::error::ConnectError;
use crate::agent::{AgentChoice, ChosenAgent};

/// A memory and the arguments that name it.
pub(super) struct MemoryArguments {
    pub(super) words: Vec<String>,
    pub(super) chosen: ChosenAgent,
}

impl MemoryArguments {
    pub(super) fn of(args: &AgentChoice, machine: &Machine) -> Result<Self, ConnectError> {
        let chosen = args.choose_by_files(machine)?;
        for candidate in candidates(args, &chosen) {
            // Only arguments that lead back to the same agent will do.
            let found = candidate.choose_by_files(machine);
            if found.is_ok_and(|found| is_same(&found, &chosen)) {
                return Ok(Self { words: words(&candidate)?, chosen });
            }
        }
        Err(ConnectError::NoArguments(chosen.agent.workspace))
    }
}

/// Returns ways to name an agent, the best one first.
fn candidates(args: &AgentChoice, chosen: &ChosenAgent) -> Vec<AgentChoice> {
    let given = args.workspace.as_deref().or(Some(&chosen.agent.workspace));
    let workspace = given.and_then(|given| fs_err::canonicalize(given).ok());
    let runtime = Some(chosen.runtime.name.to_owned());
    let alias = Some(chosen.agent.alias.clone()).filter(|alias| !alias.is_empty());
    let plain = AgentChoice { runtime: None, workspace, agent: None };
    let with_runtime = AgentChoice { runtime: runtime.clone(), ..plain.clone() };
    let with_alias = AgentChoice { agent: alias.clone(), ..with_runtime.clone() };
    let by_alias = AgentChoice { runtime, workspace: None, agent: alias };
    let all = [plain, with_runtime, with_alias];
    let by_folder = all.into_iter().filter(|choice| choice.workspace.is_some());
    by_folder.chain([by_alias]).collect()
}

fn is_same(one: &ChosenAgent, other: &ChosenAgent) -> bool {
    let place = |agent: &ChosenAgent| fs_err::canonicalize(&agent.agent.workspace).ok();
    one.runtime.name == other.runtime.name
        && one.agent.alias == other.agent.alias
        && place(one) == place(other)
}

fn words(args: &AgentChoice) -> Result<Vec<String>, ConnectError> {
    let mut words = Vec::new();
    let mut add = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
    if let Some(runtime) = &args.runtime {
        add("-r", runtime.clone());
    }
    if let Some(workspace) = &args.workspace {
        add("-w", utf8(workspace)?);
    }
    if let Some(agent) = &args.agent {
        add("--agent", agent.clone());
    }
    Ok(words)
}

/// Returns the memory of an agent as something to search: its database or its folder.
pub(super) fn source_of(args: &AgentChoice, machine: &Machine) -> Result<String, ConnectError> {
    let ChosenAgent { runtime, agent } = args.choose_by_files(machine)?;
    let place = match runtime.searchable(machine, &agent).keeps {
        MemoryBackend::Sqlite(database) => database,
        _ => agent.workspace,
    };
    utf8(&fs_err::canonicalize(place)?)
}

/// Returns the program that entries start: this one, by the path at which the user finds it.
pub(super) fn program_of(given: Option<&str>, machine: &Machine) -> Result<String, ConnectError> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    let own = &machine.database_reader;
    let real = fs_err::canonicalize(own).ok();
    let path = machine.variable("PATH").unwrap_or_default();
    // A link on the PATH outlives the version that it leads to.
    let on_path = std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(format!("anemone{}", std::env::consts::EXE_SUFFIX)))
        .find(|program| real.is_some() && fs_err::canonicalize(program).ok() == real);
    utf8(on_path.as_ref().unwrap_or(own))
}

/// Configuration files are text.
pub(super) fn utf8(path: &Path) -> Result<String, ConnectError> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| ConnectError::PathEncoding(path.to_owned()))
}
