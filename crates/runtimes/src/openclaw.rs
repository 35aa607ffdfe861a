//! OpenClaw, in the shapes of both generations: JSON files and one index database per agent
//! (`gen-3`, until mid-2026), and one database for everything around the workspace (`gen-9`).

mod check;
mod config;
mod connect;
mod context;
mod conversation;
mod credentials;
mod discover;
mod facts;
mod index;
mod injected;
mod install;
mod labels;
mod lancedb;
#[cfg(any(test, feature = "fuzzing"))]
pub mod law_tests;
mod layout;
mod mapping;
mod memory;
mod proof;
mod qmd;
mod ranking;
mod read;
pub(crate) mod sample;
mod searchable;
mod sessions;
mod settings;
mod tools;
pub(crate) mod transcript;
mod vectors;
mod write;

use std::path::Path;

use anemone_format::AgentId;
use anemone_memory::MarkdownLayout;
use uuid::Uuid;

use crate::kit::{
    AGENT_ID_FILE, EvergreenRecords, FindAgents, FoundAgent, Machine, Namespaces, OwnIndex,
    RecordRules, Runtime, UsualPlaces, WORKSPACE_FILES, WorkspaceFiles,
};

pub(crate) use self::context::SEPTEMBER;

/// The runtime's name, in records, manifests and paths.
pub(crate) const RUNTIME: &str = "openclaw";

/// The namespaces of its ids.
pub(crate) const NAMESPACES: Namespaces = Namespaces {
    records: Uuid::from_bytes(*b"openclaw-alf-ns1"),
    agents: Uuid::from_bytes(*b"alf-agent-id-ns1"),
};

/// Describes OpenClaw.
pub(crate) static OPENCLAW: Runtime = Runtime {
    name: RUNTIME,
    title: "OpenClaw",
    variables: &["OPENCLAW_"],
    places: Some(UsualPlaces {
        config: "openclaw.json",
        folders: &[".openclaw", ".openclaw-*", ".clawdbot", "clawd", "openclaw"],
        variables: &["OPENCLAW_STATE_DIR", "OPENCLAW_WORKSPACE_DIR"],
        other_variables: &["OPENCLAW_CONFIG_PATH", "OPENCLAW_PROFILE"],
        holds_several: false,
        first: |machine| machine.home.join(".openclaw/workspace"),
    }),
    files: WorkspaceFiles { unmistakable: &[AGENT_ID_FILE, layout::FACTS], ..WORKSPACE_FILES },
    run_by: &[],
    state_table: Some(credentials::STATE_TABLE),
    layout: MarkdownLayout::PLAIN,
    contexts: context::ALL,
    context_of: Some(context::of),
    records: RecordRules {
        evergreen: EvergreenRecords::NotEpisodic,
        rows: None,
        vectors_are_of_text: false,
    },
    own_index: Some(OwnIndex { rebuild: "openclaw memory index" }),
    mappings: mapping::MAPPINGS,
    find: Some(&OpenClaw),
    read: Some(&OpenClaw),
    search: Some(&OpenClaw),
    rows: None,
    restore: Some(write::plan_restore),
    move_in: Some(write::plan_move_in),
    conversations: Some(conversation::read),
    connect: Some(&connect::CONNECT),
    native_search: Some(&ranking::NATIVE_SEARCH),
    settings: Some(settings::of),
    native_tools: Some(&tools::NATIVE_TOOLS),
    transcripts: Some(transcript::FORMAT),
    injected: injected::INJECTED,
};

/// What can be done with its agents.
struct OpenClaw;

impl FindAgents for OpenClaw {
    fn discover(&self, machine: &Machine) -> Vec<FoundAgent> {
        discover::discover(machine)
    }

    fn locate(&self, machine: &Machine, folder: &Path, _: Option<&str>) -> FoundAgent {
        discover::locate(machine, folder)
    }

    fn derive_id(&self, agent: &FoundAgent) -> AgentId {
        NAMESPACES.derive(agent)
    }
}
