//! Codex: an interactive terminal program.

mod connect;

use anemone_memory::MarkdownLayout;

use crate::kit::conversation::injected::InjectedText;
use crate::kit::persona::WORKSPACE_FILES;
use crate::kit::runtime::{EvergreenRecords, RecordRules, Runtime};

/// What there is to know of Codex, which has no agents of its own.
pub(crate) static CODEX: Runtime = Runtime {
    name: "codex",
    title: "Codex",
    variables: &["CODEX_HOME"],
    places: None,
    files: WORKSPACE_FILES,
    run_by: &[".codex/config.toml"],
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
    transcripts: None,
    injected: InjectedText::NONE,
};
