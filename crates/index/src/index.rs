//! An index in a folder: open it, refresh it, query it.

use std::collections::BTreeMap;
use std::path::Path;

use anemone_embed::Embedder;
use jiff::Timestamp;

use crate::digest::digest;
use crate::embedding::{EmbeddingError, Replace};
use crate::profile::ProfileError;
use crate::progress::{IndexProgress, NoProgress};
use crate::refresh::refresh;
use crate::source::{DocumentSource, SkipReason, SkippedDocument, SourceError};
use crate::store::{Store, StoreError};

/// An index.
pub struct Index {
    pub(crate) store: Store,
}

/// Extra work that is done within a refresh that writes, because each separate write costs a seal.
///
/// If nothing changed, nothing is written, and none of this is done.
#[derive(Clone, Copy, Default)]
pub struct RefreshExtras<'a> {
    /// Embedder for new chunks. It must be free and local, such as the built-in static model.
    pub static_model: Option<&'a dyn Embedder>,
    /// Whether the terms of removed chunks are deleted from the disk at once.
    pub erases: bool,
}

/// What a refresh found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Freshness {
    /// Documents in the index now.
    pub documents: u64,
    /// Chunks in the index now.
    pub chunks: u64,
    /// Entries that were compared.
    pub entries: u64,
    /// Documents that are new.
    pub added: u64,
    /// Documents whose text or details changed.
    pub changed: u64,
    /// Documents that are gone.
    pub removed: u64,
    /// Existing items that are not searched, by name.
    pub skipped: Vec<SkippedDocument>,
    /// How many more items are not searched: if an entry leaves out very many items for one reason,
    /// most are only counted.
    pub skipped_unnamed: BTreeMap<SkipReason, u64>,
    /// Why the index was rebuilt, if it was: `new`, `damaged`, `version`, `sources` (their order
    /// changed), `asked`.
    pub rebuilt: Option<&'static str>,
}

impl Freshness {
    /// Returns the sum of this refresh and the one after it.
    #[must_use]
    pub fn then(self, after: Self) -> Self {
        Self {
            added: self.added + after.added,
            changed: self.changed + after.changed,
            removed: self.removed + after.removed,
            rebuilt: self.rebuilt.or(after.rebuilt),
            ..after
        }
    }
}

/// Why an index cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenIndexError {
    /// The store.
    #[error("cannot open the index")]
    Store(#[from] StoreError),
}

/// Why an index could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// A source cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The store.
    #[error("cannot bring the index up to date")]
    Store(#[from] StoreError),
}

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The store.
    #[error("cannot query the index")]
    Store(#[from] StoreError),
    /// Another program's ranking.
    #[error(transparent)]
    RankingChoice(#[from] ProfileError),
}

impl Index {
    /// Opens the index in a folder, or creates a new one there.
    pub fn open(folder: &Path) -> Result<Self, OpenIndexError> {
        Ok(Self { store: Store::open(folder)? })
    }

    /// Compares the sources with the index and reads what changed. The documents of all sources
    /// together are the index; documents that no source has any more are removed.
    ///
    /// From here on no process can write into the index, so that queries use the state of this
    /// refresh, until the next refresh, [`release`](Self::release) or the end of this value. A
    /// long-lived caller releases it after each answer.
    pub fn refresh(
        &mut self,
        sources: &[&dyn DocumentSource],
        now: Timestamp,
        progress: &dyn IndexProgress,
    ) -> Result<Freshness, RefreshError> {
        self.refresh_along(sources, RefreshExtras::default(), now, progress)
    }

    /// As [`refresh`](Self::refresh), with extra work in the same write.
    pub fn refresh_along(
        &mut self,
        sources: &[&dyn DocumentSource],
        along: RefreshExtras<'_>,
        now: Timestamp,
        progress: &dyn IndexProgress,
    ) -> Result<Freshness, RefreshError> {
        refresh(&mut self.store, sources, along, now, progress, &digest)
    }

    /// As [`refresh_along`](Self::refresh_along), but also ensures that every chunk has vectors of
    /// the static model.
    ///
    /// New chunks get theirs in the same write. Only where another process added chunks without
    /// vectors are these filled in separately, and then the sources are compared once more.
    pub fn refresh_filled(
        &mut self,
        sources: &[&dyn DocumentSource],
        along: RefreshExtras<'_>,
        now: Timestamp,
        progress: &dyn IndexProgress,
    ) -> Result<Freshness, RefreshError> {
        /// Other processes write too, but not over and over at the same moment.
        const TIMES: usize = 8;
        let mut seen = self.refresh_along(sources, along, now, progress)?;
        let Some(static_model) = along.static_model else { return Ok(seen) };
        for _ in 0..TIMES {
            match self.embed(static_model, Replace::Yes, &NoProgress) {
                Ok(done) if done.chunks == 0 => break,
                Err(EmbeddingError::Store(error)) if !error.is_damage() => return Err(error.into()),
                _ => seen = seen.then(self.refresh_along(sources, along, now, progress)?),
            }
        }
        Ok(seen)
    }

    /// Lets others write. A search after this waits for writers, and fails if the index was built
    /// from other sources meanwhile; a new refresh fixes that.
    pub fn release(&mut self) {
        self.store.release();
    }

    /// Makes the next refresh rebuild the index on request, but keep the embeddings.
    pub const fn clear(&mut self) {
        self.store.begin_anew("asked");
    }

    /// Makes the next refresh rebuild the index, because it cannot be read.
    pub const fn distrust(&mut self) {
        self.store.begin_anew("damaged");
    }
}
