//! What a program tells a hook.

use std::path::{Path, PathBuf};

use anemone_runtimes::{Machine, with_agents};
use serde::Deserialize;

use crate::living::MemoryChoice;

/// The JSON of a hook. A program that holds conversations of its own names the moment as well.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct HookInput {
    /// The session, by its id.
    #[serde(default, alias = "sessionId")]
    pub session_id: Option<String>,
    /// The session, by its key.
    #[serde(default, alias = "sessionKey")]
    pub session_key: Option<String>,
    /// The transcript of the session.
    #[serde(default, alias = "transcriptPath", alias = "sessionFile")]
    pub transcript_path: Option<PathBuf>,
    /// The folder in which the session runs.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// The moment, which only a program names that holds conversations of its own.
    #[serde(default)]
    pub hook_event_name: Option<String>,
    /// What the user wrote.
    #[serde(default)]
    pub prompt: Option<String>,
}

impl HookInput {
    /// Whether the program names the moment, see [`anemone_runtimes::asking_hooks`].
    #[must_use]
    pub fn names_moment(&self) -> bool {
        self.hook_event_name.is_some()
    }

    /// Says whose memory is meant: as the request says, or else the folder in which the session
    /// runs, if there is a memory in it.
    ///
    /// A program that holds conversations of its own runs in any folder, also in one that a stranger
    /// has filled: there it must be the workspace of an agent of this machine.
    pub(super) fn memory(&self, choice: &MemoryChoice, machine: &Machine) -> MemoryChoice {
        let mut choice = choice.clone();
        let is_named = choice.agent.workspace.is_some() || choice.agent.agent.is_some();
        let is_meant = |folder: &Path| {
            has_memory(folder) && (!self.names_moment() || is_known(folder, machine))
        };
        if let Some(cwd) = self.cwd.as_ref().filter(|cwd| !is_named && is_meant(cwd)) {
            choice.agent.workspace = Some(cwd.clone());
        }
        choice
    }
}

/// Whether an agent of this machine works in a folder.
fn is_known(folder: &Path, machine: &Machine) -> bool {
    let Ok(folder) = fs_err::canonicalize(folder) else { return false };
    let agents = with_agents().flat_map(|runtime| runtime.discover_by_files(machine));
    let mut workspaces = agents.filter_map(|agent| fs_err::canonicalize(agent.workspace).ok());
    workspaces.any(|workspace| workspace == folder)
}

fn has_memory(folder: &Path) -> bool {
    folder.is_absolute() && (folder.join("MEMORY.md").is_file() || folder.join("memory").is_dir())
}
