//! The living memory that a command is about: its files, its database, its index.

use std::path::{Path, PathBuf};

use anemone_embed::Builtin;
use anemone_memory::{
    ApplyError, FindError, Finder, JournalError, MarkdownMemory, MarkdownStore, MarkdownStoreError,
    Memory, MemoryError, PageScope, RowMemory, RowsRecord,
};
use anemone_runtimes::{FoundAgent, Machine, MemoryBackend, OddityKind, Runtime};

use crate::agent::{AgentChoice, ChosenAgent, FindAgentError};
use crate::config::ConfigError;
use crate::host::{Host, OwnMachine, SharedClock};
use crate::identity::identify_keeper;
use crate::search::index::note_elsewhere;
use crate::search::target::{
    SearchTarget, TargetChoice, TargetError, UseSettings, is_folder_of_notes,
};
use crate::survey::real;

/// Whose memory is meant, as the user named it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryChoice {
    /// The agent.
    pub agent: AgentChoice,
    /// The folder of the search index, instead of one in the user's cache.
    pub index_dir: Option<PathBuf>,
}

/// Why a memory is not found or cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum AgentMemoryError {
    /// The folder holds agents and is none's workspace.
    /// The message comes from the runtime.
    #[error("{0}")]
    StateFolder(String),
    /// A file has the name of a folder that Anemone keeps its state in.
    #[error("{}: this is a file, and Anemone keeps its state in a folder of this name", .0.display())]
    StateIsFile(PathBuf),
    /// No agent was chosen.
    Agent(#[from] FindAgentError),
    /// The files of the memory.
    Store(#[from] MarkdownStoreError),
    /// A change could not be made.
    Apply(#[from] ApplyError),
    /// The index of the memory.
    Find(#[from] FindError),
    /// The rows of the memory, or its files, reached through the rows.
    Memory(#[from] MemoryError),
    /// The journal of the memory.
    Journal(#[from] JournalError),
    /// The system gives no random numbers.
    Random(#[from] RandomError),
    /// What of it is searched.
    Target(#[from] TargetError),
    /// The settings of memories.
    Config(#[from] ConfigError),
    /// The system refused.
    Io(#[from] std::io::Error),
}

/// The system gives no random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system's random number generator failed")]
pub struct RandomError;

/// A memory that can be written to.
pub struct AgentMemory {
    /// What reads and writes the agent.
    pub runtime: &'static Runtime,
    /// The agent.
    pub agent: FoundAgent,
    /// Where the agent stores memories.
    pub keeps: MemoryBackend,
    /// Its files.
    pub site: MarkdownStore,
    source: TargetChoice,
    /// The agent as `anemone search` finds it.
    searched_agent: FoundAgent,
    clock: SharedClock,
}

impl MemoryChoice {
    /// Finds the chosen memory on the machine, and opens it.
    pub fn open(
        &self,
        access: Access,
        host: &Host,
    ) -> Result<(OwnMachine, AgentMemory), AgentMemoryError> {
        let machine = host.machine()?;
        let memory = self.find_for(access, &machine, host)?;
        Ok((machine, memory))
    }

    /// Finds the memory that is meant. For a command that may write, the agent is known from now
    /// on.
    pub fn find_for(
        &self,
        access: Access,
        machine: &Machine,
        host: &Host,
    ) -> Result<AgentMemory, AgentMemoryError> {
        self.open_chosen(self.agent.choose_by_files(machine)?, access, machine, host)
    }

    /// As [`find_for`](Self::find_for), of an agent that was chosen by its files already.
    pub fn open_chosen(
        &self,
        chosen: ChosenAgent,
        access: Access,
        machine: &Machine,
        host: &Host,
    ) -> Result<AgentMemory, AgentMemoryError> {
        let ChosenAgent { runtime, mut agent } = chosen;
        if let Some(oddity) = agent.oddity(OddityKind::StateFolder) {
            return Err(AgentMemoryError::StateFolder(oddity.message.clone()));
        }
        let keeps = runtime.searchable(machine, &agent).keeps;
        let searched_agent = agent.clone();
        // Rows are of an agent by its name, and a name that was only assumed could make a new one.
        if matches!(keeps, MemoryBackend::Sqlite(_)) && agent.has_oddity(OddityKind::AliasAssumed) {
            agent = self.agent.choose(machine)?.agent;
        }
        let scope = if is_folder_of_notes(&self.agent, &agent) {
            PageScope::Everything
        } else {
            PageScope::Memories
        };
        let site = store_of(runtime, &agent, &keeps, access, host)?.with_scope(scope);
        let (agent_choice, index_dir) = (self.agent.clone(), self.index_dir.clone());
        let settings = UseSettings::No;
        let source =
            TargetChoice { agent: agent_choice, index_dir, settings, ..TargetChoice::default() };
        if access == Access::Change {
            site.recover()?;
        }
        let clock = host.clock.clone();
        Ok(AgentMemory { runtime, agent, keeps, site, source, searched_agent, clock })
    }
}

/// Returns the files of a memory, with the folder that keeps its journal. A memory that may be
/// written to gets this folder for itself: two agents with one id must not write into the same.
pub fn store_of(
    runtime: &Runtime,
    agent: &FoundAgent,
    keeps: &MemoryBackend,
    access: Access,
    host: &Host,
) -> Result<MarkdownStore, AgentMemoryError> {
    let root = fs_err::canonicalize(folder_of(agent, keeps))?;
    let mut keeper = identify_keeper(runtime, agent, &root, host);
    if access != Access::Read {
        keeper.claim(&root, host);
    }
    let state = keeper.memory_state(&root, host);
    if access != Access::Read {
        check_folders(&state, &host.folders.state)?;
    }
    Ok(MarkdownStore::open(&root, &state, runtime.layout)?)
}

/// How a command uses a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It only reads.
    Read,
    /// It may write into the memory, or keep something about it.
    Write,
    /// It is going to write into the memory: a change that was cut off is completed or reverted
    /// before anything is planned.
    Change,
}

impl Access {
    /// Returns this access for a command, and reading for its dry run.
    #[must_use]
    pub const fn unless(self, dry_run: bool) -> Self {
        if dry_run { Self::Read } else { self }
    }
}

/// Refuses a file that has the name of a folder on the way to a state folder.
fn check_folders(state: &Path, all: &Path) -> Result<(), AgentMemoryError> {
    let folders = state.ancestors().take_while(|folder| folder.starts_with(all));
    match folders.into_iter().find(|folder| folder.is_file()) {
        Some(file) => Err(AgentMemoryError::StateIsFile(file.to_owned())),
        None => Ok(()),
    }
}

/// Returns the folder of a memory: the workspace, or that of the database where there is no
/// workspace, which newer versions of ZeroClaw make only when they need it.
fn folder_of<'a>(agent: &'a FoundAgent, keeps: &'a MemoryBackend) -> &'a Path {
    match keeps {
        MemoryBackend::Sqlite(database) if !agent.workspace.is_dir() && database.is_file() => {
            database.parent().unwrap_or(&agent.workspace)
        }
        _ => &agent.workspace,
    }
}

impl AgentMemory {
    /// Returns what names this memory.
    pub const fn source(&self) -> &TargetChoice {
        &self.source
    }

    /// Returns the memory for reading: the rows of a database where the agent keeps it in one,
    /// otherwise the files of its workspace. Nothing is opened before it is needed.
    #[must_use]
    pub fn memory(&self) -> Box<dyn Memory> {
        match &self.keeps {
            MemoryBackend::Sqlite(database) => self.rows_in(database, &self.agent.alias),
            MemoryBackend::Markdown | MemoryBackend::None | MemoryBackend::External(_) => {
                Box::new(MarkdownMemory::new(self.site.clone()))
            }
        }
    }

    /// Returns the memory for writing.
    pub fn writable(&self) -> Result<Box<dyn Memory>, NotWritable> {
        self.check_writable()?;
        Ok(self.memory())
    }

    /// Refuses an agent whose memory we cannot write: the agent would not read entries in another
    /// place, and only its configuration says which place it reads.
    pub fn check_writable(&self) -> Result<(), NotWritable> {
        if let Some(why) = self.unreadable_config() {
            return Err(NotWritable::ConfigUnreadable(why.to_owned()));
        }
        match &self.keeps {
            MemoryBackend::Markdown | MemoryBackend::Sqlite(_) => Ok(()),
            MemoryBackend::None => Err(NotWritable::KeepsNothing),
            MemoryBackend::External(place) => Err(NotWritable::KeptElsewhere(place.clone())),
        }
    }

    /// Says why the configuration of the agent cannot be read. What is read of its memory is then
    /// what is found; it may keep its memory elsewhere.
    #[must_use]
    pub fn unreadable_config(&self) -> Option<&str> {
        Some(&*self.agent.oddity(OddityKind::ConfigUnreadable)?.message)
    }

    /// Returns the memory with the rows that a change was about: the agent may keep its memory
    /// elsewhere by now. A database outside of the agent's install is not used: the install was
    /// moved, and the database at the old path may belong to another agent.
    #[must_use]
    pub fn memory_of(&self, change: Option<&RowsRecord>) -> Box<dyn Memory> {
        let Some(noted) = change else { return self.memory() };
        let install = self.agent.install.as_deref().unwrap_or(&self.agent.workspace);
        let database = match &self.keeps {
            MemoryBackend::Sqlite(current) if !real(&noted.database).starts_with(real(install)) => {
                current
            }
            _ => &noted.database,
        };
        self.rows_in(database, &noted.alias)
    }

    fn rows_in(&self, database: &Path, alias: &str) -> Box<dyn Memory> {
        let clock = Box::new(self.clock.clone());
        match self.runtime.memory_rows(database, alias, clock) {
            Some(rows) => Box::new(RowMemory::new(self.site.clone(), rows)),
            None => Box::new(MarkdownMemory::new(self.site.clone())),
        }
    }

    /// Returns what of this memory is searched, as `anemone search` does it.
    pub fn searched(&self, machine: &Machine, host: &Host) -> Result<SearchTarget, TargetError> {
        let (runtime, agent) = (self.runtime, self.searched_agent.clone());
        self.source.find_in(ChosenAgent { runtime, agent }, machine, host)
    }

    /// Returns what finds entries of this memory, in the index that `anemone search` uses.
    pub fn finder(&self, machine: &Machine, host: &Host) -> Result<Finder, AgentMemoryError> {
        let searched = self.searched(machine, host)?;
        note_elsewhere(&searched, host);
        let builtin = std::sync::Arc::new(Builtin::new());
        Ok(Finder::new(searched.index_folder, searched.sources, vec![builtin]))
    }
}

/// Why an agent's memory cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotWritable {
    /// The agent is configured to keep none.
    #[error("this agent keeps no memory")]
    KeepsNothing,
    /// It keeps its memory where we cannot write.
    #[error("this agent keeps its memory in {0}")]
    KeptElsewhere(String),
    /// The configuration that says where it keeps its memory cannot be read.
    /// The message comes from the runtime.
    #[error("{0}")]
    ConfigUnreadable(String),
}

/// Makes a word that no text can know, to keep recalled text apart.
pub fn delimiter() -> Result<String, RandomError> {
    let mut bytes = [0; 8];
    crate::system::fill_random(&mut bytes).map_err(|_| RandomError)?;
    Ok(anemone_format::Hex(&bytes).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_the_place_of_the_state_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let host = crate::testing::host(folder.path());
        let workspace = folder.path().join("workspace");
        fs_err::create_dir(&workspace).unwrap();
        fs_err::write(workspace.join("MEMORY.md"), "# Memory\n").unwrap();
        let own = host.folders.own_state();
        fs_err::create_dir_all(own.parent().unwrap()).unwrap();
        fs_err::write(&own, "a file").unwrap();
        let agent = AgentChoice { workspace: Some(workspace), ..AgentChoice::default() };
        let choice = MemoryChoice { agent, index_dir: None };
        assert!(choice.open(Access::Read, &host).is_ok(), "what only reads needs no state");
        for access in [Access::Write, Access::Change] {
            let error = choice.open(access, &host).err();
            let Some(AgentMemoryError::StateIsFile(path)) = error else { panic!("{error:?}") };
            assert_eq!(path, own);
        }
    }
}
