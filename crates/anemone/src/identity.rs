//! Which agent this is: an id that stays the same when the workspace moves, and the folders in
//! which everything that belongs to the agent is kept.
//!
//! ```text
//! <state>/anemone/agents/<id>/
//!   agent.json     the id, and where the agent was seen last
//!   memory/        journal, own stamps, notes of what was forgotten, state of sessions
//!   export.json    the last export
//!   times.json     the times of texts that have none of their own
//! <cache>/anemone/agents/<id>/index/    search indexes
//! <data>/anemone/agents/<id>/           what must not be lost
//! ```
//!
//! An agent is found by the path of its workspace. If the workspace was moved, the agent is found
//! by the folder itself (device, inode and time of creation), or by the id file in it. A copy whose
//! original still exists is another agent, and so is a workspace that a command made from an
//! archive. The first id of an agent that is not known yet is the one in `.alf-agent-id`, or else
//! derived from the path of the workspace; from the first command that writes state on, the id is
//! read from `agent.json`.
//!
//! Identifying an agent only reads. [`AgentIdentity::claim`] writes, and takes over what earlier
//! versions kept under other names.

mod agent_records;
mod observed_agent;

use std::io;
use std::path::{Path, PathBuf};

use anemone_files::{Existing, faults, folder_of, make_private_folder, sync_folder_if_possible};
use anemone_format::{AgentId, sha256_hex};
use anemone_runtimes::{FoundAgent, Runtime};

use self::agent_records::{AgentRecord, Assignment, KnownAgents};
use self::observed_agent::ObservedAgent;
use crate::host::{Folders, Host};
use crate::known_folders::{FolderKind, known_folders};
use crate::survey::real;

/// The folders of one agent. None of them needs to exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentDirs {
    /// What should not be lost, but is of use on this machine only: journal, own stamps, notes.
    pub state: PathBuf,
    /// What can be rebuilt: search indexes.
    pub cache: PathBuf,
    /// What must not be lost.
    pub data: PathBuf,
}

/// The folder of all agents, in state, cache and data.
const AGENTS: &str = "agents";
/// The folder of an agent's search indexes, in its cache.
pub(crate) const INDEXES: &str = "index";

impl AgentDirs {
    fn named(name: &str, folders: &Folders) -> Self {
        Self {
            state: folders.own_state().join(AGENTS).join(name),
            cache: Self::all_caches(folders).join(name),
            data: folders.own_data().join(AGENTS).join(name),
        }
    }

    /// Returns the folder with the caches of all agents.
    pub(crate) fn all_caches(folders: &Folders) -> PathBuf {
        folders.own_cache().join(AGENTS)
    }

    /// Returns the folder of what is kept about the agent's memory.
    #[must_use]
    pub fn memory(&self) -> PathBuf {
        self.state.join("memory")
    }

    /// Returns the note of the last export.
    #[must_use]
    pub fn export_note(&self) -> PathBuf {
        self.state.join("export.json")
    }

    /// Returns the note of the times of the agent's texts.
    #[must_use]
    pub fn times_note(&self) -> PathBuf {
        self.state.join("times.json")
    }

    /// Returns the folder of the agent's search indexes.
    #[must_use]
    pub fn indexes(&self) -> PathBuf {
        self.cache.join(INDEXES)
    }
}

/// An agent's id and folders.
#[derive(Clone, Debug)]
pub struct AgentIdentity {
    /// The id that archives of the agent have.
    pub id: AgentId,
    /// The folders of the agent.
    pub dirs: AgentDirs,
    seen: ObservedAgent,
    /// The note of it, if there is one.
    noted: Option<AgentRecord>,
}

/// Says which agent this is. Nothing is written.
#[must_use]
pub fn identify(runtime: &Runtime, agent: &FoundAgent, host: &Host) -> AgentIdentity {
    AgentIdentity::of(ObservedAgent::new(runtime, agent), host)
}

/// Says whose notes about the files in `root` are: where several agents share a workspace, what is
/// kept about its files is kept once, with the agent that has the workspace first.
#[must_use]
pub fn identify_keeper(
    runtime: &Runtime,
    agent: &FoundAgent,
    root: &Path,
    host: &Host,
) -> AgentIdentity {
    if !agent.shares_workspace || real(&agent.workspace) != root {
        return identify(runtime, agent, host);
    }
    let first = FoundAgent { alias: String::new(), shares_workspace: false, ..agent.clone() };
    identify(runtime, &first, host)
}

/// Remembers the id of an agent that was restored into a workspace. That of the agent that has the
/// workspace first is in the workspace, so only the others are noted.
pub(crate) fn remember_id(runtime: &Runtime, agent: &FoundAgent, id: AgentId, host: &Host) {
    if !agent.shares_workspace {
        return;
    }
    let mut identity = identify(runtime, agent, host);
    identity.id = id;
    let record = identity.seen.record(id, &identity.dirs.state, identity.noted.as_ref());
    // Without the note the agent is only another one to the next export.
    record.write(&identity.dirs.state, Existing::Replace).ok();
}

impl AgentIdentity {
    fn of(seen: ObservedAgent, host: &Host) -> Self {
        let known = KnownAgents::read(&host.folders);
        let is_copy_of_ours = || {
            let copies = known_folders(host, FolderKind::Copy).into_iter();
            copies.map(|copy| real(&copy.folder)).any(|folder| folder == seen.workspace)
        };
        let Assignment { id, key, noted } = known.assign(&seen, &is_copy_of_ours);
        Self { id, dirs: AgentDirs::named(&key, &host.folders), noted, seen }
    }

    /// Returns the folder of a search index, after moving the index there from where it was before:
    /// `earlier`, where an earlier version kept it, or a name that says where the workspace is. An
    /// agent that is not noted gets such a name, because others may have come with the same id.
    #[must_use]
    pub fn index(&self, name: &str, earlier: PathBuf) -> PathBuf {
        let new = self.dirs.indexes().join(name);
        let mut place = digest_of(&self.seen.workspace);
        place.truncate(16);
        let by_place = self.dirs.indexes().join(format!("{name}-{place}"));
        match (&self.noted, self.seen.id_in_workspace) {
            (_, None) => take_over_index(earlier, new),
            (None, Some(_)) => take_over_index(earlier, by_place),
            (Some(_), Some(_)) => take_over_index(earlier, take_over_index(by_place, new)),
        }
    }

    /// Returns the folder of what is kept about the memory in `root`: where an earlier version kept
    /// it, until it is taken over.
    #[must_use]
    pub fn memory_state(&self, root: &Path, host: &Host) -> PathBuf {
        existing_or_new(earlier_memory(root, host), self.dirs.memory())
    }

    /// Returns the note of the last export, wherever it is.
    #[must_use]
    pub fn export_note(&self, host: &Host) -> PathBuf {
        match self.earlier_export_note(host) {
            Some(earlier) => existing_or_new(earlier, self.dirs.export_note()),
            None => self.dirs.export_note(),
        }
    }

    /// Earlier versions had one note for each workspace: it belongs to the agent that has the
    /// workspace first.
    fn earlier_export_note(&self, host: &Host) -> Option<PathBuf> {
        let is_first = !self.seen.shares_workspace;
        is_first.then(|| earlier_export_note(&self.seen.workspace, host))
    }

    /// Remembers the id, and takes over what earlier versions kept about the agent and about the
    /// memory in `root`.
    ///
    /// Every step is one rename or one atomic write, and the next command tries again what was not
    /// done, because this one was killed or a step failed. Until then everything is used where it
    /// is, so a failure is no error: without a state folder, the id is derived each time.
    pub fn claim(&mut self, root: &Path, host: &Host) {
        if self.note(host).is_err() {
            return;
        }
        take_over(&earlier_memory(root, host), &self.dirs.memory()).ok();
        if let Some(earlier) = self.earlier_export_note(host) {
            take_over(&earlier, &self.dirs.export_note()).ok();
        }
    }

    /// Writes down which agent this is. If another process took the name of the folders in the
    /// meantime, the agent is looked up again.
    fn note(&mut self, host: &Host) -> io::Result<()> {
        // Each attempt fails only because another process took a name, so there are as many as
        // agents that could begin at once.
        const ATTEMPTS: usize = 64;
        let mut is_damaged = false;
        for _ in 0..ATTEMPTS {
            let record = self.seen.record(self.id, &self.dirs.state, self.noted.as_ref());
            if self.noted.as_ref() == Some(&record) {
                return Ok(());
            }
            let replaces = self.noted.is_some() || is_damaged;
            let existing = if replaces { Existing::Replace } else { Existing::Keep };
            match record.write(&self.dirs.state, existing) {
                Ok(()) => {
                    self.noted = Some(record);
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let taken = self.dirs.state.clone();
                    *self = Self::of(self.seen.clone(), host);
                    // If no note has this name and yet it is taken, its note is unreadable.
                    is_damaged = self.noted.is_none() && self.dirs.state == taken;
                }
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

/// Returns where earlier versions kept what belongs to the memory in a folder.
fn earlier_memory(root: &Path, host: &Host) -> PathBuf {
    host.folders.own_state().join("memory").join(digest_of(root))
}

/// Returns where earlier versions noted the last export of a workspace.
fn earlier_export_note(workspace: &Path, host: &Host) -> PathBuf {
    host.folders.own_state().join("exports").join(digest_of(workspace)).with_extension("json")
}

fn digest_of(path: &Path) -> String {
    let mut digest = sha256_hex(path.as_os_str().as_encoded_bytes());
    digest.truncate(32);
    digest
}

/// Returns the earlier path if only that one exists.
fn existing_or_new(earlier: PathBuf, new: PathBuf) -> PathBuf {
    if exists(&earlier) && !exists(&new) { earlier } else { new }
}

/// Renames what an earlier version kept. It stays where it is if there is a new one already.
fn take_over(earlier: &Path, new: &Path) -> io::Result<()> {
    if !exists(earlier) || exists(new) {
        return Ok(());
    }
    faults::step()?;
    fs_err::rename(earlier, new)?;
    sync_folder_if_possible(folder_of(new))
}

fn exists(path: &Path) -> bool {
    fs_err::symlink_metadata(path).is_ok()
}

/// Takes over an index with the note beside it. Returns where the index is now: its old place if it
/// cannot be moved.
fn take_over_index(earlier: PathBuf, new: PathBuf) -> PathBuf {
    if !exists(&earlier) || exists(&new) {
        return new;
    }
    let note = |index: &Path| index.with_extension("json");
    let take = || -> io::Result<()> {
        make_private_folder(folder_of(&new))?;
        // The note goes first: an index that lost its note would never be found to be out of use.
        take_over(&note(&earlier), &note(&new))?;
        take_over(&earlier, &new)
    };
    match take() {
        Ok(()) => new,
        Err(_) => existing_or_new(earlier, new),
    }
}

#[cfg(test)]
mod tests;
