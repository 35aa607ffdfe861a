//! OpenClaw, in the shapes of both generations: JSON files and one index database per agent
//! (`gen-3`, until mid-2026), and one database for everything around the workspace (`gen-9`).

mod check;
mod config;
mod conversation;
mod credentials;
mod discover;
mod facts;
mod index;
mod install;
mod layout;
mod memory;
mod read;
mod searchable;
mod sessions;
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

pub(crate) use self::write::home;

/// The runtime's name, in records, manifests and paths.
pub(crate) const RUNTIME: &str = "openclaw";

/// The namespaces of its ids.
pub(crate) const NAMESPACES: Namespaces = Namespaces {
    records: Uuid::from_bytes(*b"openclaw-alf-ns1"),
    agents: Uuid::from_bytes(*b"alf-agent-id-ns1"),
};

/// The adapter.
pub(crate) struct OpenClaw;

impl Adapter for OpenClaw {
    fn runtime(&self) -> &'static str {
        RUNTIME
    }

    fn discover(&self, machine: &Machine) -> Vec<FoundAgent> {
        discover::discover(machine)
    }

    fn locate(&self, machine: &Machine, folder: &Path, _: Option<&str>) -> FoundAgent {
        discover::locate(machine, folder)
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
        _: bool,
        take: &mut dyn FnMut(VectorOf<'_>, Vec<f32>),
    ) -> Result<(), ReadError> {
        vectors::read(machine, agent, wanted, take)
    }
}
