//! ZeroClaw, from its first day to schema 3: one workspace with a database in it (`workspace`, until
//! 0.7), or one database for all agents beside their workspaces (`data`, since 0.8).

mod aieos;
mod brain;
mod cells;
mod check;
mod config;
mod connect;
mod context;
mod conversation;
mod credentials;
mod discover;
mod entries;
mod injected;
mod keys;
#[cfg(any(test, feature = "fuzzing"))]
pub mod law_tests;
mod layout;
mod mapping;
mod memory;
mod proof;
mod ranking;
mod read;
mod rows;
mod schema;
mod searchable;
mod sessions;
mod store;
mod tools;
pub(crate) mod transcript;
mod vectors;
mod write;

use std::path::{Path, PathBuf};

use anemone_format::AgentId;
use anemone_memory::{Clock, MarkdownLayout, RowStore};
use uuid::Uuid;

use crate::kit::{
    EvergreenRecords, FindAgents, FoundAgent, Machine, Namespaces, RecordRules, RowRules, Runtime,
    UsualPlaces, WORKSPACE_FILES,
};

/// The runtime's name, in records, manifests and paths.
pub(crate) const RUNTIME: &str = "zeroclaw";

/// The namespaces of its ids.
pub(crate) const NAMESPACES: Namespaces = Namespaces {
    records: Uuid::from_bytes(*b"zeroclaw-alf-ns1"),
    agents: Uuid::from_bytes(*b"alf-zclw-agent-1"),
};

/// The agent of an install that names none, and the owner of entries without one.
pub(crate) const DEFAULT_ALIAS: &str = "default";

/// Describes ZeroClaw.
pub(crate) static ZEROCLAW: Runtime = Runtime {
    name: RUNTIME,
    title: "ZeroClaw",
    variables: &["ZEROCLAW_"],
    places: Some(UsualPlaces {
        config: "config.toml",
        folders: &[".zeroclaw"],
        variables: &["ZEROCLAW_CONFIG_DIR"],
        other_variables: &["ZEROCLAW_DATA_DIR", "ZEROCLAW_WORKSPACE"],
        holds_several: true,
        first: |machine| {
            let named = machine.variable("ZEROCLAW_CONFIG_DIR").map(PathBuf::from);
            named.unwrap_or_else(|| machine.home.join(".zeroclaw"))
        },
    }),
    files: WORKSPACE_FILES,
    run_by: &[],
    state_table: None,
    layout: MarkdownLayout {
        curated_head: "# Long-Term Memory\n\n",
        daily_title: "# Daily Log \u{2014} ",
        spaces_entries: true,
        keys_replace: true,
        archives: true,
        active_context: false,
    },
    contexts: context::ALL,
    context_of: Some(context::of),
    records: RecordRules {
        // ZeroClaw forgets everything but its core.
        evergreen: EvergreenRecords::Namespace("core"),
        rows: Some(RowRules {
            private_key: schema::PRIVATE_KEY,
            owner_column: "principal_id",
            schema: &schema::SCHEMA,
        }),
        vectors_are_of_text: true,
    },
    own_index: None,
    mappings: mapping::MAPPINGS,
    find: Some(&ZeroClaw),
    read: Some(&ZeroClaw),
    search: Some(&ZeroClaw),
    rows: Some(memory_rows),
    restore: Some(write::plan),
    move_in: Some(write::plan),
    conversations: Some(conversation::read),
    connect: Some(&connect::CONNECT),
    native_search: Some(&ranking::NATIVE_SEARCH),
    native_tools: Some(&tools::NATIVE_TOOLS),
    transcripts: Some(transcript::FORMAT),
    injected: injected::INJECTED,
};

/// What can be done with its agents.
struct ZeroClaw;

impl FindAgents for ZeroClaw {
    fn discover(&self, machine: &Machine) -> Vec<FoundAgent> {
        discover::discover(machine)
    }

    fn locate(&self, machine: &Machine, folder: &Path, alias: Option<&str>) -> FoundAgent {
        discover::locate(machine, folder, alias)
    }

    fn discover_by_files(&self, machine: &Machine) -> Vec<FoundAgent> {
        discover::discover_by_files(machine)
    }

    fn locate_by_files(&self, machine: &Machine, folder: &Path, alias: Option<&str>) -> FoundAgent {
        discover::locate_by_files(machine, folder, alias)
    }

    fn derive_id(&self, agent: &FoundAgent) -> AgentId {
        NAMESPACES.derive(agent)
    }
}

fn memory_rows(database: &Path, alias: &str, clock: Box<dyn Clock>) -> Box<dyn RowStore> {
    let alias = if alias.is_empty() { DEFAULT_ALIAS } else { alias };
    Box::new(memory::ZeroClawRows::new(database, alias, clock))
}
