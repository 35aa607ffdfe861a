//! Claude Code: an interactive terminal program whose hooks call Anemone.

mod connect;
pub(crate) mod hooks;
mod injected;
mod transcript;

use crate::kit::Runtime;

/// Describes Claude Code. It has no agents of its own: it works in an agent's workspace, and is
/// shown the memory by the rules of the newest OpenClaw.
pub(crate) static CLAUDE_CODE: Runtime = Runtime {
    name: "claude-code",
    title: "Claude Code",
    variables: &["CLAUDE_CONFIG_DIR"],
    run_by: &[".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/"],
    connect: Some(&connect::CONNECT),
    transcripts: Some(transcript::FORMAT),
    injected: injected::INJECTED,
    ..Runtime::WITHOUT_AGENTS
};
