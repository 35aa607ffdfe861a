//! The agents that this machine knows: one note each, in the agent's state folder.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anemone_files::{
    Durability, Existing, commit, faults, folder_of, make_private_folder, temporary_file,
};
use anemone_format::AgentId;
use anemone_runtimes::noted_agent_id;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::observed_agent::{FolderStamp, ObservedAgent};
use crate::host::Folders;
use crate::note_file;

/// The note in an agent's state folder.
const NOTE: &str = "agent.json";
/// Two paths have some thousand bytes each, and no byte takes more than ten in JSON.
const MAX_NOTE: u64 = 128 << 10;

/// What is noted of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct AgentRecord {
    pub(super) id: AgentId,
    pub(super) runtime: String,
    pub(super) alias: String,
    /// Whether another agent has the workspace first.
    pub(super) shares_workspace: bool,
    pub(super) workspace: NotedPath,
    /// The folder by which it is recognised after a move.
    pub(super) folder: NotedPath,
    pub(super) stamp: Option<FolderStamp>,
    /// The name of the folder that the note is in. A note that was copied from another agent's
    /// folder is ignored: the files beside it still belong to the agent of this folder.
    pub(super) key: Option<String>,
}

/// A path in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub(super) enum NotedPath {
    Text(String),
    /// One that is not UTF-8.
    Bytes(Vec<u8>),
}

impl NotedPath {
    pub(super) fn new(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Text(text) => Path::new(text),
            Self::Bytes(bytes) => Path::new(OsStr::from_bytes(bytes)),
        }
    }
}

impl AgentRecord {
    /// Whether the agent is no longer where it was seen last. A restore puts a new folder in the
    /// place of the old one, with the id in it.
    fn is_gone(&self) -> bool {
        let folder = self.folder.path();
        match (self.stamp, FolderStamp::of(folder)) {
            (Some(then), Some(now)) => {
                then != now && noted_agent_id(self.workspace.path()) != Some(self.id)
            }
            _ => !folder.is_dir(),
        }
    }

    /// Writes the note as a whole. With [`Existing::Keep`] the name of the folder may be taken.
    pub(super) fn write(&self, state: &Path, existing: Existing) -> io::Result<()> {
        make_private_folder(folder_of(state))?;
        make_private_folder(state)?;
        faults::step()?;
        let mut file = temporary_file(state)?;
        file.write_all(&note_file::to_bytes(self)?)?;
        commit(file, &state.join(NOTE), existing, Durability::Immediate)
    }
}

/// Every agent that is noted.
pub(super) struct KnownAgents {
    /// By the names of their folders.
    agents: Vec<(String, AgentRecord)>,
}

/// Which agent one is.
pub(super) struct Assignment {
    pub(super) id: AgentId,
    /// The name of its folders.
    pub(super) key: String,
    pub(super) noted: Option<AgentRecord>,
}

impl KnownAgents {
    /// Reads all notes; other files are ignored.
    pub(super) fn read(folders: &Folders) -> Self {
        let listed = fs_err::read_dir(folders.own_state().join(super::AGENTS));
        let read = |folder: PathBuf| {
            let key = folder.file_name()?.to_str()?.to_owned();
            let record: AgentRecord = note_file::read(&folder.join(NOTE), MAX_NOTE)?;
            let is_foreign = record.key.as_ref().is_some_and(|of| *of != key);
            (!is_foreign).then_some((key, record))
        };
        let entries = listed.into_iter().flatten().flatten();
        let mut agents: Vec<_> = entries.filter_map(|entry| read(entry.path())).collect();
        agents.sort_by(|(one, _), (other, _)| one.cmp(other));
        Self { agents }
    }

    /// Says which agent one is that was seen; `is_copy_of_ours` says whether a command put an agent
    /// there that keeps its id.
    pub(super) fn assign(
        &self,
        seen: &ObservedAgent,
        is_copy_of_ours: &dyn Fn() -> bool,
    ) -> Assignment {
        let found = self.find(seen, is_copy_of_ours);
        let own_key = found.map(|(key, _)| key.as_str());
        let others = || self.agents.iter().filter(|(key, _)| Some(key.as_str()) != own_key);
        // An id in the workspace counts, unless the workspace is a copy.
        let is_free = |id: AgentId| !others().any(|(_, other)| other.id == id && !other.is_gone());
        let in_workspace = seen.id_in_workspace.filter(|id| is_free(*id) || is_copy_of_ours());
        let id = in_workspace.or_else(|| Some(found?.1.id)).unwrap_or_else(|| {
            let is_taken = |id: &AgentId| others().any(|(_, other)| other.id == *id);
            numbered(seen.derived).find(|id| !is_taken(id)).unwrap_or(seen.derived)
        });
        let key = own_key.map(str::to_owned).unwrap_or_else(|| self.free_key(id));
        Assignment { id, key, noted: found.map(|(_, record)| record.clone()) }
    }

    /// Finds the note of an agent that was seen.
    fn find(
        &self,
        seen: &ObservedAgent,
        is_copy_of_ours: &dyn Fn() -> bool,
    ) -> Option<&(String, AgentRecord)> {
        let agents = || self.agents.iter();
        let has_id = |record: &AgentRecord| seen.id_in_workspace == Some(record.id);
        // Another folder is at the path, with the id of an agent that is not where it was: the two
        // were exchanged, or one was put in the place of the other.
        let is_replaced = |record: &AgentRecord| {
            matches!((record.stamp, seen.stamp), (Some(then), Some(now)) if then != now)
                && !has_id(record)
                && agents().any(|(_, other)| has_id(other) && other.is_gone())
        };
        let is_here = |record: &AgentRecord| {
            record.workspace.path() == seen.workspace && !is_replaced(record)
        };
        // A restore put a new folder in its place.
        let by_id = |(_, record): &&(String, AgentRecord)| has_id(record) && is_here(record);
        let by_alias = |(_, record): &&(String, AgentRecord)| {
            is_here(record) && !seen.alias.is_empty() && record.alias == seen.alias
        };
        let by_place =
            |(_, record): &&(String, AgentRecord)| is_here(record) && seen.has_name_of(record);
        let by_folder = |(_, record): &&(String, AgentRecord)| {
            seen.stamp.is_some()
                && record.stamp == seen.stamp
                && seen.id_in_workspace.is_none_or(|id| id == record.id)
                && seen.has_name_of(record)
                && record.is_gone()
        };
        // It came from another file system. What a command made from an archive did not come from
        // anywhere, so the other agent is another one, even if it is gone.
        let by_move = |(_, record): &&(String, AgentRecord)| {
            has_id(record) && record.is_gone() && !is_copy_of_ours()
        };
        agents()
            .find(by_id)
            .or_else(|| agents().find(by_alias))
            .or_else(|| agents().find(by_place))
            .or_else(|| agents().find(by_folder))
            .or_else(|| agents().find(by_move))
    }

    /// Returns a name for folders that no other agent has.
    fn free_key(&self, id: AgentId) -> String {
        let names =
            std::iter::once(id.to_string()).chain((2..).map(|number| format!("{id}-{number}")));
        let is_free = |name: &String| self.agents.iter().all(|(key, _)| key != name);
        let mut free = names.take(self.agents.len() + 1).filter(is_free);
        free.next().unwrap_or_else(|| id.to_string())
    }
}

/// Returns an id, and those that are derived from it for others.
fn numbered(id: AgentId) -> impl Iterator<Item = AgentId> {
    let derive =
        move |number: u32| AgentId::new(Uuid::new_v5(&id.uuid(), number.to_string().as_bytes()));
    std::iter::once(id).chain((2..).map(derive))
}
