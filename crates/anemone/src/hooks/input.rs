//! The input of a hook.

use std::path::{Path, PathBuf};

use anemone_memory::SessionKind;
use anemone_runtimes::{HOOK_CALLER, HookCaller, Machine, with_agents};
use serde::Deserialize;

use super::Result;
use crate::agent::ChosenAgent;
use crate::agent_memory::{Access, AgentMemory, MemoryChoice};
use crate::config::Config;
use crate::host::{Host, OwnMachine};

/// The JSON of a hook.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct HookInput {
    /// The session, by its id.
    #[serde(alias = "sessionId")]
    pub session_id: Option<String>,
    /// The session, by its key.
    #[serde(alias = "sessionKey")]
    pub session_key: Option<String>,
    /// The transcript of the session.
    #[serde(alias = "transcriptPath", alias = "sessionFile")]
    pub transcript_path: Option<PathBuf>,
    /// The folder in which the session runs.
    pub cwd: Option<PathBuf>,
    /// The moment, which only callers with their own input format name.
    pub hook_event_name: Option<String>,
    /// The user's message.
    pub prompt: Option<String>,
    /// The subagent that calls, where the program distinguishes them.
    pub agent_id: Option<String>,
    /// The tools that the session has, by which the memory section of a prompt is chosen.
    #[serde(default, alias = "availableTools", alias = "available_tools")]
    pub tools: Vec<String>,
}

impl HookInput {
    /// Returns the calling program, if it needs its own format for the answer.
    #[must_use]
    pub fn caller(&self) -> Option<&'static HookCaller> {
        self.hook_event_name.is_some().then_some(HOOK_CALLER)
    }

    /// Returns the kind of session, where the program says anything about it.
    #[must_use]
    pub fn session_kind(&self) -> Option<SessionKind> {
        let moment = self.hook_event_name.as_deref().unwrap_or_default();
        let of_caller = |caller: &HookCaller| {
            self.agent_id.is_some() || (caller.is_subagent)(moment, self.transcript_path.as_deref())
        };
        if self.caller().is_some_and(of_caller) {
            return Some(SessionKind::Subagent);
        }
        self.session_key.as_deref().map(SessionKind::of_key)
    }

    /// Says whether the program calls because it is compacting the conversation now.
    #[must_use]
    pub fn is_compacting(&self) -> bool {
        let caller = self.caller().map(|caller| caller.pre_compact);
        caller.is_some() && caller == self.hook_event_name.as_deref()
    }

    /// Opens the memory that is meant.
    pub(super) fn open(
        &self,
        choice: &MemoryChoice,
        access: Access,
        host: &Host,
    ) -> Result<(OwnMachine, AgentMemory)> {
        let machine = host.machine()?;
        let memory = self.memory(choice, &machine).find_for(access, &machine, host)?;
        Ok((machine, memory))
    }

    /// Returns the settings of the memory that is meant; without an agent, those of the user.
    pub(super) fn config(&self, choice: &MemoryChoice, host: &Host) -> Result<Config> {
        let machine = host.machine()?;
        let chosen = self.memory(choice, &machine).agent.choose_by_files(&machine);
        Ok(match chosen {
            Ok(ChosenAgent { runtime, agent }) => {
                Config::of_agent(runtime, &agent, &machine, host)?
            }
            // The hook itself says what is wrong, if it is switched on.
            Err(_) => Config::read(host)?,
        })
    }

    /// Decides which memory is meant: the one in the request, or else the one in the session's
    /// folder, if the folder contains a memory.
    ///
    /// A caller with its own input format runs in any folder, even one with untrusted content: for
    /// such a caller the folder must be the workspace of an agent of this machine.
    pub(super) fn memory(&self, choice: &MemoryChoice, machine: &Machine) -> MemoryChoice {
        let mut choice = choice.clone();
        let is_named = choice.agent.workspace.is_some() || choice.agent.agent.is_some();
        let is_meant = |folder: &Path| {
            has_memory(folder) && (self.caller().is_none() || is_known(folder, machine))
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
