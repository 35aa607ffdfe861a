//! ZeroClaw, from its first day to schema 3: one workspace with a database in it (`workspace`, until
//! 0.7), or one database for all agents beside their workspaces (`data`, since 0.8).

mod aieos;
mod brain;
mod cells;
mod check;
mod config;
mod conversation;
mod credentials;
mod discover;
mod entries;
pub(crate) mod fuzzing;
mod layout;
mod read;
mod rows;
mod searchable;
mod sessions;
mod store;
mod vectors;
mod write;

use std::path::Path;

use uuid::Uuid;

use crate::kit::adapter::{
    Adapter, FoundAgent, Machine, ReadError, ReadOptions, Reading, Unchanged,
};
use crate::kit::check::Check;
use crate::kit::conversation::{Conversation, Reach, ReadConversationError};
use crate::kit::ids::Namespaces;
use crate::kit::plan::{Plan, PlanError, PlanOptions};
use crate::kit::searchable::{
    Remembered, Searchable, SearchedFile, SearchedFolder, StoreKind, Unsearched,
};
use crate::kit::vectors::{VectorOf, WantedModel};
use anemone_format::{Sink, SnapshotSource};

/// The runtime's name, in records, manifests and paths.
pub(crate) const RUNTIME: &str = "zeroclaw";

/// The namespaces of its ids.
pub(crate) const NAMESPACES: Namespaces = Namespaces {
    records: Uuid::from_bytes(*b"zeroclaw-alf-ns1"),
    agents: Uuid::from_bytes(*b"alf-zclw-agent-1"),
};

/// The agent of an install that names none, and the owner of entries that belong to nobody.
pub(crate) const DEFAULT_ALIAS: &str = "default";

/// The adapter.
pub(crate) struct ZeroClaw;

impl Adapter for ZeroClaw {
    fn runtime(&self) -> &'static str {
        RUNTIME
    }

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

    fn plan(
        &self,
        machine: &Machine,
        source: &dyn SnapshotSource,
        target: &FoundAgent,
        options: &PlanOptions<'_>,
    ) -> Result<Plan, PlanError> {
        write::plan(machine, source, target, options)
    }

    fn searchable(&self, machine: &Machine, agent: &FoundAgent) -> Searchable {
        searchable::searchable(machine, agent)
    }

    fn searched_file(&self, path: &str) -> SearchedFile {
        searchable::file(path)
    }

    fn searched_folder(&self, path: &str) -> SearchedFolder {
        searchable::folder(path)
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

    fn read_conversation(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        session: &str,
        reach: Reach,
    ) -> Result<Conversation, ReadConversationError> {
        conversation::read(machine, agent, session, reach)
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
