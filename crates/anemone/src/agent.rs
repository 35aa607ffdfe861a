//! Which agent is meant: by runtime, workspace and name.

use std::path::{Path, PathBuf};

use anemone_files::if_found;
use anemone_runtimes::{
    FoundAgent, Machine, OddityKind, Runtime, by_name, of_plain_folders, with_agents,
};

use crate::nearest::Nearest;

/// What `-r` says for a folder of Markdown that belongs to no agent.
pub const FOLDER: &str = "folder";

/// Which agent is meant, as the user named it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentChoice {
    /// The runtime, or [`FOLDER`].
    pub runtime: Option<String>,
    /// The agent's workspace, or the install that it is in.
    pub workspace: Option<PathBuf>,
    /// Its name.
    pub agent: Option<String>,
}

/// What looking for an agent returns.
type Result<T, E = FindAgentError> = std::result::Result<T, E>;

/// Why no agent was chosen.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum FindAgentError {
    /// A folder of notes was asked for, and none was named.
    #[error("a folder of notes needs a folder")]
    NoFolder,
    /// There is no such folder.
    #[error("there is no folder {}", .0.display())]
    NotFound(PathBuf),
    /// It is something else than a folder.
    #[error("{} is {}, not a folder", .folder.display(), .kind)]
    NotAFolder {
        /// The path that was given as a folder.
        folder: PathBuf,
        /// What it is, such as "a file".
        kind: &'static str,
    },
    /// The folder cannot be examined.
    Unreadable(std::io::Error),
    /// The machine cannot be prepared for reading agents.
    Io(#[from] std::io::Error),
    /// No runtime has this name.
    #[error("unknown runtime {name:?}")]
    UnknownRuntime {
        /// The name.
        name: String,
        /// A known name that is nearly the same.
        nearest: Option<String>,
    },
    /// Nothing on this machine is an agent.
    #[error("no agent was found on this machine")]
    Nothing,
    /// Several agents were found, and none was named.
    /// The name and the workspace of each are given.
    #[error("{} agents were found; say which one you mean", .0.len())]
    Several(Vec<String>),
    /// No agent has this name.
    #[error("there is no agent {alias:?}{}", of_runtime(*.runtime))]
    UnknownAlias {
        /// The name.
        alias: String,
        /// The runtime that was looked at, if it was one.
        runtime: Option<&'static str>,
        /// The names of the agents that were found.
        known: Vec<String>,
    },
    /// Agents of several runtimes have this name.
    #[error("{} have an agent {alias:?}", .runtimes.join(" and "))]
    AmbiguousAlias {
        /// The name.
        alias: String,
        /// The runtimes.
        runtimes: Vec<&'static str>,
    },
    /// The folder is that of an agent of another name.
    #[error("the agent in this folder is {there:?}, not {alias:?}")]
    OtherAlias {
        /// The folder.
        workspace: PathBuf,
        /// The name of the agent in it.
        there: String,
        /// The name that was given.
        alias: String,
    },
    /// The install has no agent of that name.
    /// The message comes from the runtime.
    #[error("{0}")]
    NotInInstall(String),
    /// The folder is the install of another runtime.
    #[error("this is the install of {runtime}")]
    OtherRuntime {
        /// The folder.
        folder: PathBuf,
        /// The runtime.
        runtime: &'static str,
    },
    /// No file or folder should have this name.
    #[error("{0:?} is not a valid name for an agent")]
    InvalidName(String),
}

impl FindAgentError {
    /// Whether there is no such agent, as far as was looked.
    #[must_use]
    pub const fn is_not_found(&self) -> bool {
        matches!(
            self,
            Self::Nothing
                | Self::UnknownAlias { .. }
                | Self::OtherAlias { .. }
                | Self::NotInInstall(_)
        )
    }
}

fn of_runtime(runtime: Option<&str>) -> String {
    runtime.map(|runtime| format!(" of {runtime}")).unwrap_or_default()
}

/// An agent and the runtime that knows it.
#[derive(Clone)]
pub struct ChosenAgent {
    /// What reads and writes it.
    pub runtime: &'static Runtime,
    /// The agent.
    pub agent: FoundAgent,
}

impl AgentChoice {
    /// Returns the agent that the user means.
    pub fn choose(&self, machine: &Machine) -> Result<ChosenAgent> {
        self.choose_by(machine, DiscoveryDepth::Everything)
    }

    /// Returns the agent that the user means. This is quick: a database is only opened if no file
    /// identifies the agent.
    pub fn choose_by_files(&self, machine: &Machine) -> Result<ChosenAgent> {
        if self.runtime.as_deref() == Some(FOLDER) {
            return self.choose_folder();
        }
        match self.choose_by(machine, DiscoveryDepth::Files) {
            // An agent may be known to a database alone.
            Err(error) if error.is_not_found() => self.choose(machine),
            chosen => chosen,
        }
    }

    /// Takes a folder of Markdown that belongs to no agent.
    fn choose_folder(&self) -> Result<ChosenAgent> {
        let Some(folder) = &self.workspace else {
            return Err(FindAgentError::NoFolder);
        };
        check_folder(folder)?;
        let runtime = of_plain_folders();
        let agent = FoundAgent::without_install(runtime.name, String::new(), folder.clone());
        Ok(ChosenAgent { runtime, agent })
    }

    fn choose_by(&self, machine: &Machine, by: DiscoveryDepth) -> Result<ChosenAgent> {
        let runtimes = runtimes_named(self.runtime.as_deref())?;
        if let Some(workspace) = &self.workspace {
            check_folder(workspace)?;
            let chosen = locate(&runtimes, machine, workspace, self.agent.as_deref(), by);
            check_runtime(&chosen, machine, workspace)?;
            check_alias(&chosen.agent, self.agent.as_deref())?;
            check_known(&chosen.agent)?;
            return Ok(chosen);
        }
        if let Some(alias) = &self.agent {
            return find(&runtimes, machine, alias, by);
        }
        only(&runtimes, machine, by)
    }
}

/// How agents are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscoveryDepth {
    /// By files and databases.
    Everything,
    /// By files alone, which is quick.
    Files,
}

impl DiscoveryDepth {
    fn discover(self, runtime: &Runtime, machine: &Machine) -> Vec<FoundAgent> {
        match self {
            Self::Everything => runtime.discover(machine),
            Self::Files => runtime.discover_by_files(machine),
        }
    }
}

/// Returns the one agent there is.
pub fn only(
    runtimes: &[&'static Runtime],
    machine: &Machine,
    by: DiscoveryDepth,
) -> Result<ChosenAgent> {
    let mut found = discover(runtimes, machine, by);
    found.retain(|found| found.agent.workspace.is_dir());
    match found.len() {
        1 => {
            let NamedAgent { runtime, agent, .. } = found.remove(0);
            Ok(ChosenAgent { runtime, agent })
        }
        0 => Err(FindAgentError::Nothing),
        _ => {
            // The same agents that `anemone agents` and `anemone status` list.
            let all = discover(runtimes, machine, DiscoveryDepth::Everything);
            Err(FindAgentError::Several(all.iter().map(NamedAgent::line).collect()))
        }
    }
}

/// An agent that was found on this machine, by the name that `--agent` takes.
pub struct NamedAgent {
    /// What reads and writes it.
    pub runtime: &'static Runtime,
    /// The agent.
    pub agent: FoundAgent,
    /// The name.
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
pub fn discover(
    runtimes: &[&'static Runtime],
    machine: &Machine,
    by: DiscoveryDepth,
) -> Vec<NamedAgent> {
    let mut found = Vec::new();
    for runtime in runtimes.iter().copied() {
        let agents = by.discover(runtime, machine);
        let aliases = aliases(&agents);
        let named = agents.into_iter().zip(aliases);
        found.extend(named.map(|(agent, alias)| NamedAgent { runtime, agent, alias }));
    }
    found
}

/// Refuses a path that is not an existing folder.
pub fn check_folder(folder: &Path) -> Result<()> {
    let named = folder.to_owned();
    match if_found(fs_err::metadata(folder)).map_err(FindAgentError::Unreadable)? {
        None => Err(FindAgentError::NotFound(named)),
        Some(found) if found.is_dir() => Ok(()),
        Some(found) => {
            let kind = if found.is_file() { "a file" } else { "a device, pipe or socket" };
            Err(FindAgentError::NotAFolder { folder: named, kind })
        }
    }
}

/// Refuses a name that the agent in a folder does not have.
pub fn check_alias(agent: &FoundAgent, alias: Option<&str>) -> Result<()> {
    let Some(alias) = alias.filter(|alias| *alias != agent.alias) else { return Ok(()) };
    Err(FindAgentError::OtherAlias {
        workspace: agent.workspace.clone(),
        there: agent.alias.clone(),
        alias: alias.to_owned(),
    })
}

/// Refuses to use the install of one runtime as the workspace of another, because it contains keys.
pub fn check_runtime(chosen: &ChosenAgent, machine: &Machine, folder: &Path) -> Result<()> {
    if recognition(&chosen.agent, folder) > 0 {
        return Ok(());
    }
    let others = with_agents().filter(|other| other.name != chosen.runtime.name);
    for other in others {
        let found = other.locate(machine, folder, None);
        if found.config.as_deref().is_some_and(Path::is_file) {
            let runtime = other.name;
            return Err(FindAgentError::OtherRuntime { folder: folder.to_owned(), runtime });
        }
    }
    Ok(())
}

/// Refuses a name that no file or folder should have.
pub fn check_name(alias: &str) -> Result<()> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let fits = !alias.is_empty() && alias.len() <= 64 && !alias.starts_with('.');
    if fits && alias.chars().all(is_plain) {
        return Ok(());
    }
    Err(FindAgentError::InvalidName(alias.to_owned()))
}

/// Refuses to read an agent that its install does not have.
pub fn check_known(agent: &FoundAgent) -> Result<()> {
    let Some(oddity) = agent.oddity(OddityKind::UnknownAgent) else {
        return Ok(());
    };
    Err(FindAgentError::NotInInstall(oddity.message.clone()))
}

/// Returns the agent in a folder, with the runtime that knows the folder best; the first runtime
/// takes folders that no runtime recognises.
fn locate(
    runtimes: &[&'static Runtime],
    machine: &Machine,
    folder: &Path,
    alias: Option<&str>,
    by: DiscoveryDepth,
) -> ChosenAgent {
    let mut best: Option<(u8, ChosenAgent)> = None;
    for runtime in runtimes.iter().copied() {
        let agent = match by {
            DiscoveryDepth::Everything => runtime.locate(machine, folder, alias),
            DiscoveryDepth::Files => runtime.locate_by_files(machine, folder, alias),
        };
        let known = recognition(&agent, folder);
        if best.as_ref().is_none_or(|(most, _)| known > *most) {
            best = Some((known, ChosenAgent { runtime, agent }));
        }
    }
    best.expect("there is at least one runtime").1
}

/// Says how surely a folder is that of an agent: a runtime's files count, a name does not.
fn recognition(agent: &FoundAgent, folder: &Path) -> u8 {
    let is_file = |path: Option<&Path>| path.is_some_and(Path::is_file);
    // A runtime names places from the root, whatever was typed.
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let in_install =
        agent.install.as_deref().is_some_and(|install| install != folder && install.is_dir());
    4 * u8::from(is_file(agent.config.as_deref()))
        + 2 * u8::from(is_file(agent.database.as_deref()))
        + u8::from(in_install)
}

/// Returns the runtimes that the user may mean.
pub fn runtimes_named(runtime: Option<&str>) -> Result<Vec<&'static Runtime>> {
    match runtime {
        Some(runtime) => Ok(vec![runtime_named(runtime)?]),
        None => Ok(with_agents().collect()),
    }
}

/// Returns the runtime that the user named.
pub fn runtime_named(runtime: &str) -> Result<&'static Runtime> {
    by_name(runtime).ok_or_else(|| {
        let nearest = Nearest::among(runtime, with_agents().map(|runtime| runtime.name));
        let nearest = nearest.into_iter().next();
        FindAgentError::UnknownRuntime { name: runtime.to_owned(), nearest }
    })
}

/// Returns the agent of an alias that the user gave.
pub fn find(
    runtimes: &[&'static Runtime],
    machine: &Machine,
    alias: &str,
    by: DiscoveryDepth,
) -> Result<ChosenAgent> {
    let mut known = Vec::new();
    let mut found = Vec::new();
    for NamedAgent { runtime, agent, alias: name } in discover(runtimes, machine, by) {
        if name == alias {
            found.push(ChosenAgent { runtime, agent });
        }
        known.push(name);
    }
    if found.len() > 1 {
        let runtimes = found.iter().map(|chosen| chosen.runtime.name).collect();
        return Err(FindAgentError::AmbiguousAlias { alias: alias.to_owned(), runtimes });
    }
    found.pop().ok_or_else(|| {
        let runtime = match runtimes {
            [runtime] => Some(runtime.name),
            _ => None,
        };
        FindAgentError::UnknownAlias { alias: alias.to_owned(), runtime, known }
    })
}

/// Returns what each agent is called here: its name, with that of a profile, and of an install
/// where names meet. One agent's name does not change because another comes or goes.
pub fn aliases(agents: &[FoundAgent]) -> Vec<String> {
    let mut given: Vec<String> = Vec::new();
    for agent in agents {
        let mut alias = agent.alias.clone();
        let install = agent.install.as_deref().unwrap_or(&agent.workspace);
        let profile = profile(agent.runtime, install);
        if profile.is_some() || given.contains(&alias) {
            let name = profile.unwrap_or_else(|| folder_name(install));
            alias = format!("{name}/{}", agent.alias);
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

/// Returns the profile whose install this is: `work` of `~/.openclaw-work`.
fn profile(runtime: &str, install: &Path) -> Option<String> {
    let name = folder_name(install);
    name.strip_prefix(runtime).and_then(|rest| rest.strip_prefix('-')).map(str::to_owned)
}

fn folder_name(install: &Path) -> String {
    let name = install.file_name().unwrap_or(install.as_os_str()).to_string_lossy();
    name.trim_start_matches('.').to_owned()
}
