//! A store of a runtime as a source: rows, facts, conversations.

use std::sync::Arc;

use anemone_embed::ModelIdentity;
use anemone_index::{
    CarriedVector, Document, DocumentSource, FileStamp, Listing, SkipReason, SkippedDocument,
    SourceEntry, SourceError,
};
use anemone_runtimes::{FoundAgent, Machine, Runtime, Store, StoreKind};

use super::documents::{DocumentFilter, Documents};
use super::vectors;

/// One store of an agent; it is read as a whole, and only when it changed.
pub(super) struct StoreSource {
    pub runtime: &'static Runtime,
    pub machine: Machine,
    pub agent: Arc<FoundAgent>,
    pub store: Store,
    pub private: bool,
}

impl StoreSource {
    /// Whether the store is a link where the runtime makes none.
    fn is_link(&self) -> bool {
        let path = self.store.files.first().filter(|_| self.store.kind == StoreKind::Facts);
        path.and_then(|path| fs_err::symlink_metadata(path).ok())
            .is_some_and(|value| value.is_symlink())
    }
}

impl DocumentSource for StoreSource {
    fn identity(&self) -> String {
        let Self { runtime, agent, store, private, .. } = self;
        let runtime = runtime.name;
        let (files, folders) = (&store.files, &store.folders);
        format!("{runtime} {:?} of {:?}: {files:?} {folders:?} {private}", store.kind, agent.alias)
    }

    fn list(&self) -> Result<Listing, SourceError> {
        let mut listing = Listing::default();
        if self.is_link() {
            let path = self.store.name.clone();
            listing.skipped.push(SkippedDocument { path, reason: SkipReason::Symlink });
        } else if let Some(stamp) = FileStamp::of_all(&self.store.files, &self.store.folders) {
            listing.entries.push(SourceEntry { key: self.store.name.clone(), stamp });
        }
        Ok(listing)
    }

    fn load(
        &self,
        _: &SourceEntry,
        each: &mut dyn FnMut(Document),
    ) -> Result<Vec<SkippedDocument>, SourceError> {
        let sessions = self.store.kind == StoreKind::Sessions;
        let wanted = DocumentFilter { sessions, private: self.private };
        let mut documents = Documents::new(wanted, each);
        let name = &self.store.name;
        let read = self.runtime.read_store(
            &self.machine,
            &self.agent,
            self.store.kind,
            self.private,
            &mut |document| documents.take(document),
        );
        let left = read.map_err(|error| SourceError {
            place: self.store.name.clone(),
            source: Box::new(error),
        })?;
        for _ in 0..left.private {
            documents.skip(name, SkipReason::Private);
        }
        for _ in 0..left.unreadable {
            documents.skip(name, SkipReason::Unreadable);
        }
        Ok(documents.finish())
    }

    fn carried(
        &self,
        identity: &ModelIdentity,
        each: &mut dyn FnMut(CarriedVector),
    ) -> Result<(), SourceError> {
        let Self { runtime, machine, agent, private, .. } = self;
        match self.store.kind {
            StoreKind::Rows | StoreKind::Memories => {
                vectors::of_agent(runtime, machine, agent, *private, identity, each)
            }
            StoreKind::Facts | StoreKind::Sessions => Ok(()),
        }
    }
}
