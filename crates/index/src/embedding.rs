//! Filling in vectors: one for each block.
//!
//! Free vectors are computed for all chunks at once. For paid ones, the cache is queried first, by
//! text, and new vectors are cached as soon as they are computed, so that a kill loses only one
//! request. The cache is bounded, but every few hundred chunks the vectors are also written into
//! the index. So a fill that is larger than the cache still completes, and what did not fit is only
//! missed when the index is rebuilt.

mod blocks;
mod cached;
mod carried;
mod fill;

use anemone_embed::{EmbedError, Embedder, ModelIdentity, estimate_tokens};

use crate::index::Index;
use crate::progress::{IndexProgress, NoProgress};
use crate::store::{ChunkId, Slot, StoreError};
pub(crate) use blocks::{block_texts, checked, hash};
pub(crate) use cached::Cached;
pub use carried::CarriedReport;
pub(crate) use fill::write_static_vectors;

/// Chunks that are processed together.
const CHUNKS_AT_ONCE: usize = 256;

/// Counts of filling in an index's vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingReport {
    /// Chunks that got vectors.
    pub chunks: u64,
    /// Texts that were sent to the embedder.
    pub texts: u64,
    /// Texts whose vectors were known.
    pub known: u64,
    /// Texts that were too long for the embedder, and have vectors of their beginnings.
    pub cut: u64,
    /// Texts that the embedder rejects. Their vectors are zeros, which are near to nothing.
    pub refused: u64,
}

/// What an embedder would have to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingWork {
    /// Chunks that have no vectors of this embedder.
    pub chunks: u64,
    /// Distinct texts in them that the embedder would be sent.
    pub texts: u64,
    /// Characters of those texts.
    pub characters: u64,
    /// Tokens of those texts, estimated.
    pub tokens: u64,
    /// Distinct texts in them whose vectors are already known.
    pub known: u64,
}

/// Vectors of one model that an index has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorSet {
    /// The model that made the vectors.
    pub identity: ModelIdentity,
    /// Chunks that have vectors.
    pub chunks: u64,
    /// Chunks that have none yet.
    pub missing: u64,
    /// Whether these are the vectors of the static model, which are always complete.
    pub is_static: bool,
}

/// What happens to the vectors of another model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// They are removed when the first new ones are written, and not before.
    Yes,
    /// They stay, and the call fails.
    No,
}

/// Why vectors could not be filled in; completed work is kept.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddingError {
    /// The index.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The embedder.
    #[error("embedding stopped after {} texts", done.texts)]
    Embedder {
        /// The work that was completed.
        done: EmbeddingReport,
        /// Why.
        source: EmbedError,
    },
    /// The index has vectors of another model, and replacing them was not allowed.
    #[error("the index has vectors of {} by {}", .0.model, .0.provider)]
    OtherModel(ModelIdentity),
}

impl Index {
    /// Returns the sets of vectors in the index: the static model's and at most one other model's.
    pub fn vector_sets(&self) -> Result<Vec<VectorSet>, StoreError> {
        let reading = self.store.reading()?;
        let all = reading.statistics().chunks;
        let sets = reading.sets()?.into_iter().map(|set| VectorSet {
            identity: set.identity,
            chunks: set.chunks,
            missing: all.saturating_sub(set.chunks),
            is_static: set.slot == Slot::Static,
        });
        Ok(sets.collect())
    }

    /// Returns what [`embed`](Self::embed) would have to do.
    pub fn unembedded(&self, identity: &ModelIdentity) -> Result<EmbeddingWork, StoreError> {
        self.count(identity, u64::MAX)
    }

    /// As [`unembedded`](Self::unembedded), but stops as soon as an embedder would be sent more
    /// than `texts`: then it returns `None`.
    pub fn unembedded_up_to(
        &self,
        identity: &ModelIdentity,
        texts: u64,
    ) -> Result<Option<EmbeddingWork>, StoreError> {
        Ok(Some(self.count(identity, texts)?).filter(|cost| cost.texts <= texts))
    }

    /// Counts the work of an embedder, until there are more than `most` texts.
    fn count(&self, identity: &ModelIdentity, most: u64) -> Result<EmbeddingWork, StoreError> {
        let reading = self.store.reading()?;
        let mut from = reading.set_of(identity)?.map_or(ChunkId(0), |set| set.next);
        let mut left = EmbeddingWork { chunks: reading.left(from)?.0, ..EmbeddingWork::default() };
        let mut met = std::collections::HashSet::new();
        while left.texts <= most {
            let chunks = reading.unembedded(from, CHUNKS_AT_ONCE)?;
            let Some((last, ..)) = chunks.last() else { break };
            from = ChunkId(last.0 + 1);
            let mut new = Vec::new();
            for text in chunks.iter().flat_map(|(_, text, body)| block_texts(text, body)) {
                let hash = hash(text);
                if met.insert(hash) {
                    new.push((hash, text));
                }
            }
            let hashes: Vec<_> = new.iter().map(|&(hash, _)| hash).collect();
            let known = self.store.are_cached(identity, &hashes)?;
            for ((_, text), known) in new.iter().zip(known) {
                if known {
                    left.known += 1;
                } else {
                    left.texts += 1;
                    left.characters += text.chars().count() as u64;
                    left.tokens += estimate_tokens(text) as u64;
                }
            }
        }
        Ok(left)
    }

    /// Gives every chunk vectors of an embedder; chunks that already have them cost nothing. Work
    /// is saved as it goes: an interrupted run continues with the next call.
    ///
    /// An index has vectors of one model besides the static model's. When it has another model's,
    /// nothing is done unless they may be replaced. The static model's are always replaced.
    pub fn embed(
        &mut self,
        embedder: &dyn Embedder,
        replace: Replace,
        progress: &dyn IndexProgress,
    ) -> Result<EmbeddingReport, EmbeddingError> {
        self.fill(embedder, replace, u64::MAX, progress)
    }

    /// As [`embed`](Self::embed), but sends at most `limit` texts to the embedder; for the static
    /// model there is no limit. Vectors of another model are not replaced.
    pub fn embed_missing(
        &mut self,
        embedder: &dyn Embedder,
        limit: u64,
    ) -> Result<EmbeddingReport, EmbeddingError> {
        self.fill(embedder, Replace::No, limit, &NoProgress)
    }
}

#[cfg(test)]
mod tests;
