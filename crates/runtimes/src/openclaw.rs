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
mod install;
pub(crate) mod labels;
mod layout;
mod mapping;
mod memory;
mod proof;
mod ranking;
mod read;
pub(crate) mod sample;
mod searchable;
mod sessions;
mod tools;
pub(crate) mod transcript;
mod vectors;
mod write;

use std::path::Path;

use anemone_format::{AgentId, Sink};
use anemone_memory::MarkdownLayout;
use uuid::Uuid;

use crate::kit::agent::{FoundAgent, Machine, ReadError, ReadOptions, Reading, Unchanged};
use crate::kit::check::Check;
use crate::kit::conversation::{Conversation, Reach, ReadConversationError};
use crate::kit::ids::Namespaces;
use crate::kit::persona::WORKSPACE_FILES;
use crate::kit::plan::{Plan, PlanError, PlanOptions};
use crate::kit::restore_source::RestoreSource;
use crate::kit::runtime::{
    EvergreenRecords, FindAgents, MoveAgentsIn, OwnIndex, ReadAgents, ReadConversations,
    RecordRules, RestoreAgents, Runtime, SearchAgents, UsualPlaces,
};
use crate::kit::searchable::{
    Remembered, Searchable, SearchedFile, SearchedFolder, StoreKind, Unsearched,
};
use crate::kit::vectors::{VectorOf, WantedModel};

pub(crate) use self::context::SEPTEMBER;

/// The runtime's name, in records, manifests and paths.
pub(crate) const RUNTIME: &str = "openclaw";

/// The namespaces of its ids.
pub(crate) const NAMESPACES: Namespaces = Namespaces {
    records: Uuid::from_bytes(*b"openclaw-alf-ns1"),
    agents: Uuid::from_bytes(*b"alf-agent-id-ns1"),
};

/// What there is to know of OpenClaw.
pub(crate) static OPENCLAW: Runtime = Runtime {
    name: RUNTIME,
    title: "OpenClaw",
    variables: &["OPENCLAW_"],
    places: Some(UsualPlaces {
        config: "openclaw.json",
        folders: &[".openclaw", ".openclaw-*", ".clawdbot", "clawd", "openclaw"],
        variables: &["OPENCLAW_STATE_DIR", "OPENCLAW_WORKSPACE_DIR"],
        holds_several: false,
        first: |machine| machine.home.join(".openclaw/workspace"),
    }),
    files: WORKSPACE_FILES,
    layout: MarkdownLayout::PLAIN,
    contexts: context::ALL,
    context_of: context::of,
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
    restore: Some(&OpenClaw),
    move_in: Some(&OpenClaw),
    conversations: Some(&OpenClaw),
    connect: Some(&connect::CONNECT),
    native_search: Some(&ranking::NATIVE_SEARCH),
    native_tools: Some(&tools::NATIVE_TOOLS),
    transcripts: Some(transcript::FORMAT),
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

impl ReadAgents for OpenClaw {
    fn check(&self, machine: &Machine, agent: &FoundAgent) -> Check {
        check::check(machine, agent)
    }

    fn is_unchanged(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
    ) -> Result<Option<Unchanged>, ReadError> {
        read::is_unchanged(machine, agent, options)
    }

    fn read(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Reading, ReadError> {
        read::read(machine, agent, options, sink)
    }
}

impl SearchAgents for OpenClaw {
    fn searchable(&self, machine: &Machine, agent: &FoundAgent) -> Searchable {
        searchable::searchable(machine, agent)
    }

    fn file(&self, path: &str) -> SearchedFile {
        searchable::file(path)
    }

    fn folder(&self, path: &str) -> SearchedFolder {
        searchable::folder(path)
    }

    fn database(&self, path: &Path, _: &str) -> Option<(FoundAgent, StoreKind)> {
        searchable::database(path)
    }

    fn read_store(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        kind: StoreKind,
        private: bool,
        take: &mut dyn FnMut(Remembered),
    ) -> Result<Unsearched, ReadError> {
        searchable::read(machine, agent, kind, private, take)
    }

    fn read_vectors(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        wanted: &WantedModel<'_>,
        _: bool,
        take: &mut dyn FnMut(VectorOf<'_>, Vec<f32>),
    ) -> Result<(), ReadError> {
        vectors::read(machine, agent, wanted, take)
    }
}

impl RestoreAgents for OpenClaw {
    fn plan_restore(
        &self,
        machine: &Machine,
        source: &RestoreSource<'_>,
        target: &FoundAgent,
        options: &PlanOptions<'_>,
    ) -> Result<Plan, PlanError> {
        write::plan_restore(machine, source, target, options)
    }
}

impl MoveAgentsIn for OpenClaw {
    fn plan_move_in(
        &self,
        machine: &Machine,
        source: &RestoreSource<'_>,
        target: &FoundAgent,
        options: &PlanOptions<'_>,
    ) -> Result<Plan, PlanError> {
        write::plan_move_in(machine, source, target, options)
    }
}

impl ReadConversations for OpenClaw {
    fn read_conversation(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        session: &str,
        reach: Reach,
    ) -> Result<Conversation, ReadConversationError> {
        conversation::read(machine, agent, session, reach)
    }
}
