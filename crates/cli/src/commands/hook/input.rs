//! What a program says to a hook on stdin.

use std::io::{BufRead as _, Read as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use anemone_runtimes::{ADAPTERS, Machine};
use serde::Deserialize;

use crate::args::MemoryArgs;
use crate::commands::Context;
use crate::error::{CliError, Kind};

/// More than a hook is ever told.
const MAX_BYTES: u64 = 4 << 20;
/// Whoever starts a hook and says nothing for so long says nothing at all.
const PATIENCE: Duration = Duration::from_secs(1);
/// Whoever begins to speak ends within so long.
const MOST_TIME: Duration = Duration::from_secs(5);

/// The JSON on stdin: the fields of Claude Code's hooks.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct HookInput {
    #[serde(default, alias = "sessionId")]
    pub(super) session_id: Option<String>,
    #[serde(default, alias = "sessionKey")]
    pub(super) session_key: Option<String>,
    #[serde(default, alias = "transcriptPath", alias = "sessionFile")]
    pub(super) transcript_path: Option<PathBuf>,
    #[serde(default)]
    pub(super) cwd: Option<PathBuf>,
    #[serde(default)]
    pub(super) hook_event_name: Option<String>,
    #[serde(default)]
    pub(super) prompt: Option<String>,
}

impl HookInput {
    /// Reads stdin, unless a person sits there; nothing at all is nothing said.
    pub(super) fn read(context: &Context<'_>) -> Result<Self, CliError> {
        if context.environment.stdin_is_terminal {
            return Ok(Self::default());
        }
        let (begun, has_begun) = channel();
        let (sender, receiver) = channel();
        // A program that keeps stdin open must not keep the session waiting.
        std::thread::spawn(move || {
            let mut stdin = std::io::stdin().lock().take(MAX_BYTES);
            stdin.fill_buf().ok();
            // Nobody listens any more when it took too long.
            begun.send(()).ok();
            // Reads to the end of the document, which may come before that of stdin.
            let mut documents = serde_json::Deserializer::from_reader(stdin).into_iter();
            sender.send(documents.next().transpose()).ok();
        });
        let wrong = || CliError::new(Kind::Failed, "hook_input", "stdin is not the JSON of a hook");
        if has_begun.recv_timeout(PATIENCE).is_err() {
            return Ok(Self::default());
        }
        match receiver.recv_timeout(MOST_TIME) {
            Ok(Ok(said)) => Ok(said.unwrap_or_default()),
            Ok(Err(_)) | Err(_) => Err(wrong()),
        }
    }

    /// Whether Claude Code speaks.
    pub(super) fn is_of_claude_code(&self) -> bool {
        self.hook_event_name.is_some()
    }

    /// Says whose memory is meant: as the arguments say, or else the folder in which the session
    /// runs, if there is a memory in it.
    ///
    /// Claude Code runs in any folder, also in one that a stranger has filled: there it must be
    /// the workspace of an agent of this machine.
    pub(super) fn memory(&self, args: &MemoryArgs, machine: &Machine) -> MemoryArgs {
        let mut args = args.clone();
        let is_said = args.agent.workspace.is_some() || args.agent.agent.is_some();
        let is_meant =
            |it: &Path| has_memory(it) && (!self.is_of_claude_code() || is_known(it, machine));
        if let Some(cwd) = self.cwd.as_ref().filter(|it| !is_said && is_meant(it)) {
            args.agent.workspace = Some(cwd.clone());
        }
        args
    }
}

/// Whether an agent of this machine works in a folder.
fn is_known(folder: &Path, machine: &Machine) -> bool {
    let Ok(folder) = fs_err::canonicalize(folder) else { return false };
    let found = ADAPTERS.iter().flat_map(|it| it.discover_by_files(machine));
    let mut workspaces = found.filter_map(|it| fs_err::canonicalize(it.workspace).ok());
    workspaces.any(|it| it == folder)
}

fn has_memory(folder: &Path) -> bool {
    folder.is_absolute() && (folder.join("MEMORY.md").is_file() || folder.join("memory").is_dir())
}
