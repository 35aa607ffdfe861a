//! Connects a program with a memory: the entries that its configuration needs, how they are added
//! to a file without touching anything else, and how they are removed again.
//!
//! Nothing here knows a program: what one needs is a [`Connect`] in the folder of its runtime.

pub(crate) mod desired;
pub(crate) mod document;
mod edit;
pub(crate) mod json_file;
mod own;
mod scan;
mod shell;
#[cfg(test)]
mod tests;
mod toml_cut;
pub(crate) mod toml_file;

use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

use crate::kit::Machine;
pub use desired::{
    DesiredConfig, DesiredFile, Finder, OwnFile, ProgramNote, ServerEntry, no_orphans,
};
pub use document::{
    ConfigChanges, ConfigEdit, ConfigFormat, MAX_BYTES, RefuseError, at, is_void, put_in,
    take_out_known,
};
pub use shell::{line, quoted, words};

/// How one program is connected: the data and the functions that only its runtime knows.
pub struct Connect {
    /// The name by which a user chooses the program.
    pub name: &'static str,
    /// The program's name, as people write it.
    pub title: &'static str,
    /// Where its configuration is, in words for a help text.
    pub config: &'static str,
    /// The options that it understands.
    pub options: &'static [ConnectOption],
    /// The kind of memory that it is given.
    pub memory: ConnectedMemory,
    /// Returns the files in which entries of ours may be, without any entry.
    pub locate: fn(&ConnectPlace<'_>) -> DesiredConfig,
    /// Returns the files with the entries that connect the program.
    pub desire: fn(&ConnectPlace<'_>, &Connection<'_>) -> Result<DesiredConfig, RefuseError>,
    /// Whether an entry lets the program write to the memory without being asked.
    pub writes: fn(&ConfigEdit) -> bool,
    /// Whether an agent in the configuration would see the tools.
    pub shows_tools_to: fn(&Value, &str) -> bool,
    /// Returns the command that adds a server over HTTP by its URL, with the token in a file whose
    /// path is quoted for a shell; `None` where the program has no such command.
    pub add_http_server: Option<fn(&str, &str) -> String>,
}

impl fmt::Debug for Connect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Connect").field(&self.name).finish()
    }
}

impl Connect {
    /// Whether the program understands an option.
    #[must_use]
    pub fn takes(&self, option: ConnectOption) -> bool {
        self.options.contains(&option)
    }
}

/// An option that not every program understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectOption {
    /// Hooks for the moments of a session.
    Hooks,
    /// A single project instead of all sessions.
    Project,
    /// Archives, databases and folders to search.
    Source,
    /// The agent of the program that gets the tools.
    To,
}

/// The kind of memory that a program is given.
#[derive(Clone, Copy, Debug)]
pub enum ConnectedMemory {
    /// That of one agent, through our tools.
    Agent,
    /// Sources that its own search reads besides its own memory, which it writes itself.
    Sources {
        /// How many at most.
        most: usize,
        /// Returns the sources that an entry names.
        of: fn(&ConfigEdit) -> Option<Vec<String>>,
    },
}

/// Which hooks a program gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hooks {
    /// No hooks, only the tools.
    None,
    /// Hooks that show the memory to a session, and write nothing.
    #[default]
    Read,
    /// Also hooks that write: a note when a session ends, and what was said before a conversation
    /// is compacted.
    Write,
}

/// Where a program is connected.
#[derive(Clone, Debug)]
pub struct ConnectPlace<'a> {
    /// The machine, with the variables that say where programs keep their configuration.
    pub machine: &'a Machine,
    /// Our folder for data that must not be lost, in which we keep files that programs load.
    pub data: PathBuf,
    /// The project, where only its sessions are connected.
    pub project: Option<&'a str>,
}

impl ConnectPlace<'_> {
    /// Returns the absolute path in a variable; `~/` is the home folder.
    #[must_use]
    pub fn absolute(&self, variable: &str) -> Option<PathBuf> {
        let value = self.machine.variable(variable)?;
        let path = match value.to_str().and_then(|text| text.strip_prefix("~/")) {
            Some(rest) => self.machine.home.join(rest),
            None => PathBuf::from(value),
        };
        Some(path).filter(|path| path.is_absolute())
    }

    /// Returns the path in a variable; a relative one begins at the current folder.
    #[must_use]
    pub fn resolved(&self, variable: &str) -> Option<PathBuf> {
        std::path::absolute(self.machine.variable(variable)?).ok()
    }
}

/// What a program is given.
#[derive(Clone, Copy, Debug)]
pub struct Connection<'a> {
    /// The program that entries start, and the memory.
    pub entry: &'a ServerEntry,
    /// Which hooks it gets.
    pub hooks: Hooks,
    /// The agent that the user named.
    pub agent: Option<&'a str>,
    /// The agent whose memory it is, if it is one of this program's.
    pub owner: Option<&'a str>,
    /// What the first file holds without our entries.
    pub document: &'a Value,
}
