//! Claude Code: an interactive terminal program whose hooks call Anemone.

mod connect;
pub(crate) mod hooks;
mod injected;
mod transcript;

use anemone_memory::MarkdownLayout;

use crate::kit::persona::WORKSPACE_FILES;
use crate::kit::runtime::{EvergreenRecords, RecordRules, Runtime};

/// What there is to know of Claude Code. It has no agents of its own: it works in the workspace of
/// an agent, and is shown the memory by the rules of the newest OpenClaw.
pub(crate) static CLAUDE_CODE: Runtime = Runtime {
    name: "claude-code",
    title: "Claude Code",
    variables: &["CLAUDE_CONFIG_DIR"],
    places: None,
    files: WORKSPACE_FILES,
    run_by: &[".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/"],
    state_table: None,
    layout: MarkdownLayout::PLAIN,
    contexts: &[],
    context_of: None,
    records: RecordRules {
        evergreen: EvergreenRecords::NotEpisodic,
        rows: None,
        vectors_are_of_text: true,
    },
    own_index: None,
    mappings: &[],
    find: None,
    read: None,
    search: None,
    rows: None,
    restore: None,
    move_in: None,
    conversations: None,
    connect: Some(&connect::CONNECT),
    native_search: None,
    native_tools: None,
    transcripts: Some(transcript::FORMAT),
    injected: injected::INJECTED,
};
