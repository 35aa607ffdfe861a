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
pub(crate) mod fuzzing;
mod layout;
mod mapping;
mod memory;
mod proof;
mod ranking;
mod read;
mod rows;
pub(crate) mod schema;
mod searchable;
mod sessions;
mod store;
mod tools;
pub(crate) mod transcript;
mod vectors;
mod write;

use std::path::{Path, PathBuf};

use anemone_format::{AgentId, Sink};
use anemone_memory::{Clock, MarkdownLayout, RowStore};
use uuid::Uuid;

use crate::kit::agent::{FoundAgent, Machine, ReadError, ReadOptions, Reading, Unchanged};
use crate::kit::check::Check;
use crate::kit::conversation::{Conversation, Reach, ReadConversationError};
use crate::kit::ids::Namespaces;
use crate::kit::persona::WORKSPACE_FILES;
use crate::kit::plan::{Plan, PlanError, PlanOptions};
use crate::kit::restore_source::RestoreSource;
use crate::kit::runtime::{
    EvergreenRecords, FindAgents, KeepMemoryRows, MoveAgentsIn, ReadAgents, ReadConversations,
    RecordRules, RestoreAgents, RowRules, Runtime, SearchAgents, UsualPlaces,
};
use crate::kit::searchable::{
    Remembered, Searchable, SearchedFile, SearchedFolder, StoreKind, Unsearched,
};
use crate::kit::vectors::{VectorOf, WantedModel};

/// The runtime's name, in records, manifests and paths.
pub(crate) const RUNTIME: &str = "zeroclaw";

/// The namespaces of its ids.
pub(crate) const NAMESPACES: Namespaces = Namespaces {
    records: Uuid::from_bytes(*b"zeroclaw-alf-ns1"),
    agents: Uuid::from_bytes(*b"alf-zclw-agent-1"),
};

/// The agent of an install that names none, and the owner of entries that belong to nobody.
pub(crate) const DEFAULT_ALIAS: &str = "default";

/// What there is to know of ZeroClaw.
pub(crate) static ZEROCLAW: Runtime = Runtime {
    name: RUNTIME,
    title: "ZeroClaw",
    variables: &["ZEROCLAW_"],
    places: Some(UsualPlaces {
        config: "config.toml",
        folders: &[".zeroclaw"],
        variables: &["ZEROCLAW_CONFIG_DIR"],
        holds_several: true,
        first: |machine| {
            let named = machine.variable("ZEROCLAW_CONFIG_DIR").map(PathBuf::from);
            named.unwrap_or_else(|| machine.home.join(".zeroclaw"))
        },
    }),
    files: WORKSPACE_FILES,
    layout: MarkdownLayout {
        curated_head: "# Long-Term Memory\n\n",
        daily_title: "# Daily Log \u{2014} ",
        spaces_entries: true,
        keys_replace: true,
        archives: true,
    },
    contexts: context::ALL,
    context_of: context::of,
    records: RecordRules {
        // ZeroClaw forgets everything but its core.
        evergreen: EvergreenRecords::Namespace("core"),
        rows: Some(RowRules { private_key: "p|", owner_column: "principal_id" }),
        vectors_are_of_text: true,
    },
    own_index: None,
    mappings: mapping::MAPPINGS,
    find: Some(&ZeroClaw),
    read: Some(&ZeroClaw),
    search: Some(&ZeroClaw),
    rows: Some(&ZeroClaw),
    restore: Some(&ZeroClaw),
    move_in: Some(&ZeroClaw),
    conversations: Some(&ZeroClaw),
    connect: Some(&connect::CONNECT),
    native_search: Some(&ranking::NATIVE_SEARCH),
    native_tools: Some(&tools::NATIVE_TOOLS),
    transcripts: Some(transcript::FORMAT),
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

impl ReadAgents for ZeroClaw {
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

impl SearchAgents for ZeroClaw {
    fn searchable(&self, machine: &Machine, agent: &FoundAgent) -> Searchable {
        searchable::searchable(machine, agent)
    }

    fn files_beside(&self, agent: &FoundAgent) -> Vec<PathBuf> {
        let database = agent.database.as_ref().filter(|database| discover::is_live(database));
        if !agent.workspace.is_dir() && database.is_none() {
            return Vec::new();
        }
        let config = agent.config.as_deref();
        config.into_iter().chain(database.map(|path| &**path)).map(Path::to_owned).collect()
    }

    fn file(&self, path: &str) -> SearchedFile {
        searchable::file(path)
    }

    fn folder(&self, path: &str) -> SearchedFolder {
        searchable::folder(path)
    }

    fn database(&self, path: &Path, alias: &str) -> Option<(FoundAgent, StoreKind)> {
        Some(searchable::database(path, alias))
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
        private: bool,
        take: &mut dyn FnMut(VectorOf<'_>, Vec<f32>),
    ) -> Result<(), ReadError> {
        vectors::read(machine, agent, wanted, private, take)
    }
}

impl KeepMemoryRows for ZeroClaw {
    fn memory_rows(
        &self,
        database: &Path,
        alias: &str,
        clock: Box<dyn Clock>,
    ) -> Box<dyn RowStore> {
        let alias = if alias.is_empty() { DEFAULT_ALIAS } else { alias };
        Box::new(memory::ZeroClawRows::new(database, alias, clock))
    }
}

impl RestoreAgents for ZeroClaw {
    fn plan_restore(
        &self,
        machine: &Machine,
        source: &RestoreSource<'_>,
        target: &FoundAgent,
        options: &PlanOptions<'_>,
    ) -> Result<Plan, PlanError> {
        write::plan(machine, source, target, options)
    }
}

impl MoveAgentsIn for ZeroClaw {
    fn plan_move_in(
        &self,
        machine: &Machine,
        source: &RestoreSource<'_>,
        target: &FoundAgent,
        options: &PlanOptions<'_>,
    ) -> Result<Plan, PlanError> {
        write::plan(machine, source, target, options)
    }
}

impl ReadConversations for ZeroClaw {
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
