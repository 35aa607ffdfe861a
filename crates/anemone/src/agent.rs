//! Which agent a command is about: `-r`, `-w` and `--agent`.

use std::path::{Path, PathBuf};

use anemone_runtimes::{ADAPTERS, Adapter, FoundAgent, Machine, UNKNOWN_AGENT, by_name};

use crate::error::{Error, Kind};
use crate::nearest::Nearest;

/// What `-r` says for a folder of Markdown that belongs to no agent.
pub const FOLDER: &str = "folder";

/// Which agent is meant, as somebody said it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentChoice {
    /// The runtime, or [`FOLDER`].
    pub runtime: Option<String>,
    /// The agent's workspace, or the install that it is in.
    pub workspace: Option<PathBuf>,
    /// Its name.
    pub agent: Option<String>,
}

/// An agent and the adapter that knows it.
pub struct ChosenAgent {
    pub adapter: &'static dyn Adapter,
    pub agent: FoundAgent,
}

impl AgentChoice {
    /// Returns the agent that the user means.
    pub fn choose(&self, machine: &Machine) -> Result<ChosenAgent, Error> {
        self.choose_by(machine, DiscoveryDepth::Everything)
    }

    /// Returns the agent that the user means, and looks into a database only where no file tells:
    /// this is quick.
    pub fn choose_by_files(&self, machine: &Machine) -> Result<ChosenAgent, Error> {
        if self.runtime.as_deref() == Some(FOLDER) {
            return self.choose_folder();
        }
        match self.choose_by(machine, DiscoveryDepth::Files) {
            // An agent may be known to a database alone.
            Err(error) if error.code == "agent_not_found" => self.choose(machine),
            chosen => chosen,
        }
    }

    /// Takes a folder of Markdown that belongs to no agent: its memories have OpenClaw's layout.
    fn choose_folder(&self) -> Result<ChosenAgent, Error> {
        let Some(folder) = &self.workspace else {
            let error = Error::new(Kind::Usage, "usage", "-r folder needs a folder");
            return Err(error.hint("give it with -w DIR"));
        };
        check_folder(folder)?;
        let adapter = adapter("openclaw")?;
        let agent = FoundAgent::without_install("openclaw", String::new(), folder.clone());
        Ok(ChosenAgent { adapter, agent })
    }

    fn choose_by(&self, machine: &Machine, by: DiscoveryDepth) -> Result<ChosenAgent, Error> {
        let adapters = adapters(self.runtime.as_deref())?;
        if let Some(workspace) = &self.workspace {
            check_folder(workspace)?;
            let chosen = locate(&adapters, machine, workspace, self.agent.as_deref(), by);
            check_runtime(&chosen, machine, workspace)?;
            check_alias(&chosen.agent, self.agent.as_deref())?;
            check_known(&chosen.agent)?;
            return Ok(chosen);
        }
        if let Some(alias) = &self.agent {
            return find_by(&adapters, machine, alias, by);
        }
        only_by(&adapters, machine, by)
    }
}

/// By what an agent is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DiscoveryDepth {
    Everything,
    Files,
}

impl DiscoveryDepth {
    fn discover(self, adapter: &dyn Adapter, machine: &Machine) -> Vec<FoundAgent> {
        match self {
            Self::Everything => adapter.discover(machine),
            Self::Files => adapter.discover_by_files(machine),
        }
    }
}

/// Returns the one agent there is.
pub fn only(adapters: &[&'static dyn Adapter], machine: &Machine) -> Result<ChosenAgent, Error> {
    only_by(adapters, machine, DiscoveryDepth::Everything)
}

fn only_by(
    adapters: &[&'static dyn Adapter],
    machine: &Machine,
    by: DiscoveryDepth,
) -> Result<ChosenAgent, Error> {
    let mut found = discover_by(adapters, machine, by);
    found.retain(|it| it.agent.workspace.is_dir());
    match found.len() {
        1 => {
            let NamedAgent { adapter, agent, .. } = found.remove(0);
            Ok(ChosenAgent { adapter, agent })
        }
        0 => {
            let message = "no agent was found on this machine";
            Err(Error::new(Kind::Failed, "agent_not_found", message)
                .hint("give the workspace with -w DIR; `anemone agents` says where we looked"))
        }
        _ => {
            // The same agents that `anemone agents` and `anemone status` list.
            let all = discover(adapters, machine);
            let message = format!("{} agents were found; say which one you mean", all.len());
            let mut error = Error::new(Kind::Usage, "agent_selection_ambiguous", message);
            error.causes = all.iter().map(NamedAgent::line).collect();
            Err(error.hint("give --agent ALIAS or -w DIR"))
        }
    }
}

/// An agent that was found on this machine, by the name that `--agent` takes.
pub struct NamedAgent {
    pub adapter: &'static dyn Adapter,
    pub agent: FoundAgent,
    pub alias: String,
}

impl NamedAgent {
    /// Returns its name and its workspace on one line.
    pub fn line(&self) -> String {
        let missing = if self.agent.workspace.is_dir() { "" } else { " (no such folder)" };
        format!("{}: {}{missing}", self.alias, self.agent.workspace.display())
    }
}

/// Finds every agent that a folder, the configuration or the database of a runtime names. All
/// commands list the agents that this returns.
pub fn discover(adapters: &[&'static dyn Adapter], machine: &Machine) -> Vec<NamedAgent> {
    discover_by(adapters, machine, DiscoveryDepth::Everything)
}

fn discover_by(
    adapters: &[&'static dyn Adapter],
    machine: &Machine,
    by: DiscoveryDepth,
) -> Vec<NamedAgent> {
    let mut found = Vec::new();
    for adapter in adapters.iter().copied() {
        let agents = by.discover(adapter, machine);
        let aliases = aliases(&agents);
        let named = agents.into_iter().zip(aliases);
        found.extend(named.map(|(agent, alias)| NamedAgent { adapter, agent, alias }));
    }
    found
}

/// Refuses a path that is not an existing folder.
pub fn check_folder(folder: &Path) -> Result<(), Error> {
    const HINT: &str = "give the folder that holds MEMORY.md and memory/";
    let shown = folder.display();
    let error = match fs_err::metadata(folder) {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(found) => {
            let kind = if found.is_file() { "a file" } else { "a device, pipe or socket" };
            let message = format!("{shown} is {kind}, not a folder");
            Error::new(Kind::Failed, "not_a_folder", message)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Error::new(Kind::Failed, "not_found", format!("there is no folder {shown}"))
        }
        Err(error) => error.into(),
    };
    Err(error.hint(HINT))
}

/// Refuses a name that the agent in a folder does not have.
pub fn check_alias(agent: &FoundAgent, alias: Option<&str>) -> Result<(), Error> {
    let Some(alias) = alias.filter(|alias| *alias != agent.alias) else { return Ok(()) };
    let message = format!("the agent in this folder is {:?}, not {alias:?}", agent.alias);
    let error = Error::new(Kind::Usage, "agent_not_found", message);
    Err(error.about(&agent.workspace).hint("give --agent or -w DIR, not both"))
}

/// Refuses to take the install of one runtime for the workspace of another: keys lie in it.
pub fn check_runtime(chosen: &ChosenAgent, machine: &Machine, folder: &Path) -> Result<(), Error> {
    if recognition(&chosen.agent, folder) > 0 {
        return Ok(());
    }
    let others = ADAPTERS.iter().filter(|it| it.runtime() != chosen.adapter.runtime());
    for other in others {
        let found = other.locate(machine, folder, None);
        if found.config.as_deref().is_some_and(Path::is_file) {
            let message = format!("this is the install of {}", other.runtime());
            return Err(Error::new(Kind::Usage, "wrong_runtime", message)
                .about(folder)
                .hint(format!("say {} instead, or give the agent's workspace", other.runtime())));
        }
    }
    Ok(())
}

/// Refuses a name that no file or folder should have.
pub fn check_name(alias: &str) -> Result<(), Error> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let fits = !alias.is_empty() && alias.len() <= 64 && !alias.starts_with('.');
    if fits && alias.chars().all(is_plain) {
        return Ok(());
    }
    let message = format!("{alias:?} is not a valid name for an agent");
    let error = Error::new(Kind::Usage, "agent_name", message);
    Err(error.hint("use up to 64 letters, digits, hyphens and underscores"))
}

/// Refuses to read an agent that its install does not have.
pub fn check_known(agent: &FoundAgent) -> Result<(), Error> {
    let Some(oddity) = agent.oddities.iter().find(|it| it.code == UNKNOWN_AGENT) else {
        return Ok(());
    };
    Err(Error::new(Kind::Failed, "agent_not_found", oddity.message.clone()))
}

/// Returns the agent in a folder, with the adapter that knows the folder best; the first adapter
/// takes any folder that nobody knows.
fn locate(
    adapters: &[&'static dyn Adapter],
    machine: &Machine,
    folder: &Path,
    alias: Option<&str>,
    by: DiscoveryDepth,
) -> ChosenAgent {
    let mut best: Option<(u8, ChosenAgent)> = None;
    for adapter in adapters.iter().copied() {
        let agent = match by {
            DiscoveryDepth::Everything => adapter.locate(machine, folder, alias),
            DiscoveryDepth::Files => adapter.locate_by_files(machine, folder, alias),
        };
        let known = recognition(&agent, folder);
        if best.as_ref().is_none_or(|(most, _)| known > *most) {
            best = Some((known, ChosenAgent { adapter, agent }));
        }
    }
    best.expect("there is at least one adapter").1
}

/// Says how surely a folder is that of an agent: a runtime's files count, a name does not.
fn recognition(agent: &FoundAgent, folder: &Path) -> u8 {
    let is_file = |path: &Option<PathBuf>| path.as_ref().is_some_and(|it| it.is_file());
    // An adapter names places from the root, whatever was typed.
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let in_install = agent.install.as_deref().is_some_and(|it| it != folder && it.is_dir());
    4 * u8::from(is_file(&agent.config))
        + 2 * u8::from(is_file(&agent.database))
        + u8::from(in_install)
}

/// Returns the adapters that the user may mean.
pub fn adapters(runtime: Option<&str>) -> Result<Vec<&'static dyn Adapter>, Error> {
    match runtime {
        Some(runtime) => Ok(vec![adapter(runtime)?]),
        None => Ok(ADAPTERS.to_vec()),
    }
}

/// Returns the adapter of a runtime that the user named.
pub fn adapter(runtime: &str) -> Result<&'static dyn Adapter, Error> {
    by_name(runtime).ok_or_else(|| {
        let known: Vec<&str> = ADAPTERS.iter().map(|it| it.runtime()).collect();
        let mut nearest = Nearest::to(runtime);
        known.iter().for_each(|it| nearest.offer((*it).to_owned()));
        let known = format!("{}; search and memory commands also take {FOLDER}", known.join(", "));
        let hint = match nearest.into_names().first() {
            Some(name) => format!("did you mean {name}? Known runtimes: {known}"),
            None => format!("known runtimes: {known}"),
        };
        let message = format!("unknown runtime {runtime:?}");
        Error::new(Kind::Usage, "unknown_runtime", message).hint(hint)
    })
}

/// Returns where a runtime keeps its first agent, when there is none yet.
pub fn usual_place(runtime: &str, machine: &Machine) -> PathBuf {
    let home = machine.home.join(format!(".{runtime}"));
    match runtime {
        // One install has several agents, so the install is named.
        "zeroclaw" => machine.variable("ZEROCLAW_CONFIG_DIR").map_or(home, PathBuf::from),
        _ => home.join("workspace"),
    }
}

/// Returns the agent of an alias that the user gave.
pub fn find(
    adapters: &[&'static dyn Adapter],
    machine: &Machine,
    alias: &str,
) -> Result<ChosenAgent, Error> {
    find_by(adapters, machine, alias, DiscoveryDepth::Everything)
}

fn find_by(
    adapters: &[&'static dyn Adapter],
    machine: &Machine,
    alias: &str,
    by: DiscoveryDepth,
) -> Result<ChosenAgent, Error> {
    let mut known = Vec::new();
    let mut found = Vec::new();
    for NamedAgent { adapter, agent, alias: name } in discover_by(adapters, machine, by) {
        if name == alias {
            found.push(ChosenAgent { adapter, agent });
        }
        known.push(name);
    }
    if found.len() > 1 {
        let runtimes: Vec<&str> = found.iter().map(|it| it.adapter.runtime()).collect();
        let message = format!("{} have an agent {alias:?}", runtimes.join(" and "));
        return Err(Error::new(Kind::Usage, "agent_selection_ambiguous", message)
            .hint("say which runtime you mean with -r RUNTIME"));
    }
    found.pop().ok_or_else(|| {
        let of = match adapters {
            [adapter] => format!(" of {}", adapter.runtime()),
            _ => String::new(),
        };
        let error = format!("there is no agent {alias:?}{of}");
        let error = Error::new(Kind::Failed, "agent_not_found", error);
        match known.is_empty() {
            true => error.hint("no agent was found; give the workspace with -w DIR"),
            false => error.hint(format!("agents that were found: {}", known.join(", "))),
        }
    })
}

/// Returns what each agent is called here: its name, with that of a profile, and of an install
/// where names meet. One agent's name does not change because another comes or goes.
pub fn aliases(agents: &[FoundAgent]) -> Vec<String> {
    let mut given: Vec<String> = Vec::new();
    for agent in agents {
        let mut alias = agent.alias.clone();
        let install = agent.install.as_deref().unwrap_or(&agent.workspace);
        if profile(agent.runtime, install).is_some() || given.contains(&alias) {
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
    profile(runtime, install).unwrap_or_else(|| folder_name(install))
}

/// Returns the profile whose install this is: `work` of `~/.openclaw-work`.
fn profile(runtime: &str, install: &Path) -> Option<String> {
    let name = folder_name(install);
    name.strip_prefix(runtime).and_then(|it| it.strip_prefix('-')).map(str::to_owned)
}

fn folder_name(install: &Path) -> String {
    let name = install.file_name().unwrap_or(install.as_os_str()).to_string_lossy();
    name.trim_start_matches('.').to_owned()
}
