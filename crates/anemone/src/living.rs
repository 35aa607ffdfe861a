//! The living memory that a command is about: its files, its database, its index.

use std::path::{Path, PathBuf};

use anemone_embed::Builtin;
use anemone_format::sha256_hex;
use anemone_memory::{Finder, MarkdownStore, MemoryError, OpenRowsError, PageScope, SqliteMemory};
use anemone_runtimes::{FoundAgent, Machine, MemoryBackend, Runtime};

use crate::agent::{AgentChoice, ChosenAgent};
use crate::error::{Error, Kind};
use crate::host::{Host, SharedClock};
use crate::search::index::note_elsewhere;
use crate::search::target::{SearchTarget, TargetChoice, TargetError, is_folder_of_notes};

/// Whose memory is meant, as somebody said it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryChoice {
    /// The agent.
    pub agent: AgentChoice,
    /// The folder of the search index, instead of one in the user's cache.
    pub index_dir: Option<PathBuf>,
}

/// A memory that can be written to.
pub struct AgentMemory {
    pub adapter: &'static Runtime,
    pub agent: FoundAgent,
    /// Where the agent puts what it remembers.
    pub keeps: MemoryBackend,
    pub site: MarkdownStore,
    source: TargetChoice,
    clock: SharedClock,
}

impl MemoryChoice {
    /// Finds the memory that is meant.
    pub fn find(&self, machine: &Machine, host: &Host) -> Result<AgentMemory, Error> {
        let ChosenAgent { adapter, mut agent } = self.agent.choose_by_files(machine)?;
        if let Some(oddity) = agent.oddities.iter().find(|it| it.code == "state_folder") {
            let error = Error::new(Kind::Usage, "state_folder", oddity.message.clone());
            return Err(error.hint("give the workspace with -w DIR"));
        }
        let keeps = adapter.searchable(machine, &agent).keeps;
        // Rows are of an agent by its name, and a name that was only assumed could make a new one.
        if matches!(keeps, MemoryBackend::Sqlite(_))
            && agent.oddities.iter().any(|it| it.code == "alias_assumed")
        {
            agent = self.agent.choose(machine)?.agent;
        }
        let scope = match is_folder_of_notes(&self.agent, &agent) {
            true => PageScope::Everything,
            false => PageScope::Memories,
        };
        let site = site_of(adapter, &agent, &keeps, host)?.with_scope(scope);
        let (agent_choice, index_dir) = (self.agent.clone(), self.index_dir.clone());
        let source = TargetChoice { agent: agent_choice, index_dir, ..TargetChoice::default() };
        Ok(AgentMemory { adapter, agent, keeps, site, source, clock: host.clock.clone() })
    }

    /// As [`find`](Self::find), for a command that is going to write: a change that was cut off is
    /// completed or reverted before anything is planned.
    pub fn find_to_write(&self, machine: &Machine, host: &Host) -> Result<AgentMemory, Error> {
        let living = self.find(machine, host)?;
        living.site.recover()?;
        Ok(living)
    }
}

/// Returns where the memory of an agent is written, and where we keep notes of that.
pub fn site_of(
    adapter: &Runtime,
    agent: &FoundAgent,
    keeps: &MemoryBackend,
    host: &Host,
) -> Result<MarkdownStore, Error> {
    let root = fs_err::canonicalize(folder_of(agent, keeps))?;
    let name = sha256_hex(root.as_os_str().as_encoded_bytes());
    let state = host.folders.state.join("anemone/memory").join(&name[..32]);
    Ok(MarkdownStore::open(&root, &state, adapter.layout)?)
}

/// Returns the folder of a memory: the workspace, or that of the database where there is no
/// workspace, which some runtimes make only when they need it.
fn folder_of<'a>(agent: &'a FoundAgent, keeps: &'a MemoryBackend) -> &'a Path {
    match keeps {
        MemoryBackend::Sqlite(database) if !agent.workspace.is_dir() && database.is_file() => {
            database.parent().unwrap_or(&agent.workspace)
        }
        _ => &agent.workspace,
    }
}

impl AgentMemory {
    /// Returns the arguments that name this memory, each behind a space.
    pub fn words(&self) -> String {
        crate::words::target_words(&self.source)
    }

    /// Opens the database in which the agent remembers, or makes it.
    pub fn rows(&self, path: &Path, finder: Finder) -> Result<SqliteMemory, Error> {
        open_rows(path, self.alias(), finder, &self.clock)
    }

    /// Opens the database in which the agent remembers, only to read; `None` when there is none.
    pub fn rows_to_read(&self, path: &Path, finder: Finder) -> Result<Option<SqliteMemory>, Error> {
        let clock = Box::new(self.clock.clone());
        Ok(SqliteMemory::open_to_read(path, self.alias(), finder, clock)?)
    }

    /// Returns whose rows are meant.
    fn alias(&self) -> &str {
        match self.agent.alias.as_str() {
            "" => "default",
            alias => alias,
        }
    }

    /// Returns what of this memory is searched, as `anemone search` does it.
    pub fn searched(&self, machine: &Machine, host: &Host) -> Result<SearchTarget, TargetError> {
        self.source.find(machine, host)
    }

    /// Returns what finds entries of this memory, in the index that `anemone search` uses.
    pub fn finder(&self, machine: &Machine, host: &Host) -> Result<Finder, Error> {
        let searched = self.searched(machine, host)?;
        note_elsewhere(&searched, host);
        let builtin = std::sync::Arc::new(Builtin::new());
        Ok(Finder::new(searched.index_folder, searched.sources, vec![builtin]))
    }
}

/// Opens the rows of an agent.
pub fn open_rows(
    path: &Path,
    alias: &str,
    finder: Finder,
    clock: &SharedClock,
) -> Result<SqliteMemory, Error> {
    Ok(SqliteMemory::open(path, alias, finder, None, Box::new(clock.clone()))?)
}

/// Finds nothing: for what is not searched.
pub fn no_finder() -> Finder {
    Finder::new(PathBuf::new(), Vec::new(), Vec::new())
}

impl From<OpenRowsError> for Error {
    fn from(error: OpenRowsError) -> Self {
        Self::from_error(Kind::Failed, "database", &error)
    }
}

impl From<MemoryError> for Error {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::Store(error) => error.into(),
            MemoryError::Forget(error) => error.into(),
            MemoryError::Find(error) => error.into(),
            MemoryError::Journal(error) => error.into(),
            MemoryError::Apply(error) => error.into(),
            MemoryError::PrivateKey => {
                Self::from_error(Kind::Usage, "private_key", &error).hint("choose another key")
            }
            error => Self::from_error(Kind::Failed, "memory", &error),
        }
    }
}

/// Makes a word that no text can know, to keep recalled text apart.
pub fn delimiter() -> Result<String, Error> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|_| {
        Error::new(Kind::Failed, "random", "the system's random number generator failed")
    })?;
    Ok(anemone_format::Hex(&bytes).to_string())
}
