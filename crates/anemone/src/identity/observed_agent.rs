//! What is seen of an agent without any note: where it is, how it is called, and the folder itself.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anemone_format::AgentId;
use anemone_runtimes::{FoundAgent, Runtime, noted_agent_id};
use serde::{Deserialize, Serialize};

use super::agent_records::{AgentRecord, NotedPath};
use crate::survey::real;

/// An agent as it is found on disk.
#[derive(Clone, Debug)]
pub(super) struct ObservedAgent {
    pub(super) runtime: &'static str,
    /// Its name; empty if it has none, as with a folder of notes.
    pub(super) alias: String,
    /// Whether another agent has the workspace first.
    pub(super) shares_workspace: bool,
    pub(super) workspace: PathBuf,
    /// The folder by which it is recognised after a move: the workspace, or the install if there is
    /// no workspace.
    pub(super) folder: PathBuf,
    /// What tells that folder from all others.
    pub(super) stamp: Option<FolderStamp>,
    /// The id in the workspace. It is that of the agent that has the workspace first.
    pub(super) id_in_workspace: Option<AgentId>,
    /// The id that the path says.
    pub(super) derived: AgentId,
}

impl ObservedAgent {
    pub(super) fn new(runtime: &Runtime, agent: &FoundAgent) -> Self {
        let workspace = real(&agent.workspace);
        let install = || agent.install.as_deref().map(real);
        let folder = if workspace.is_dir() {
            workspace.clone()
        } else {
            install().unwrap_or_else(|| workspace.clone())
        };
        let noted = noted_agent_id(&workspace);
        Self {
            runtime: agent.runtime,
            alias: agent.alias.clone(),
            shares_workspace: agent.shares_workspace,
            stamp: FolderStamp::of(&folder),
            folder,
            id_in_workspace: noted.filter(|_| !agent.shares_workspace),
            derived: runtime.derive_id(agent),
            workspace,
        }
    }

    /// Whether an agent of this name, in a folder that is the same, is this one.
    pub(super) fn has_name_of(&self, record: &AgentRecord) -> bool {
        let is_same = !self.alias.is_empty() && record.alias == self.alias;
        // An install can have several agents, and one of them comes first for a workspace.
        let is_first = !self.shares_workspace && !record.shares_workspace;
        is_same || (is_first && self.folder == self.workspace)
    }

    /// Returns what is to be noted of it in its state folder; `before` is the note that there is.
    pub(super) fn record(
        &self,
        id: AgentId,
        state: &Path,
        before: Option<&AgentRecord>,
    ) -> AgentRecord {
        let alias = match before {
            Some(before) if self.alias.is_empty() => &before.alias,
            _ => &self.alias,
        };
        AgentRecord {
            id,
            runtime: self.runtime.to_owned(),
            alias: alias.clone(),
            shares_workspace: self.shares_workspace,
            workspace: NotedPath::new(&self.workspace),
            folder: NotedPath::new(&self.folder),
            stamp: self.stamp,
            key: state.file_name().and_then(OsStr::to_str).map(str::to_owned),
        }
    }
}

/// What tells a folder from all others on a machine, whatever its name. Numbers of inodes are used
/// again, so they count only together with the time at which the folder was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct FolderStamp {
    device: u64,
    inode: u64,
    /// Nanoseconds since 1970.
    created: u64,
}

impl FolderStamp {
    /// Looks at a folder; `None` if it does not exist, or if its creation time is unknown.
    pub(super) fn of(folder: &Path) -> Option<Self> {
        let metadata = fs_err::metadata(folder).ok().filter(std::fs::Metadata::is_dir)?;
        let created = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let created = u64::try_from(created.as_nanos()).ok()?;
        Some(Self { device: metadata.dev(), inode: metadata.ino(), created })
    }
}
