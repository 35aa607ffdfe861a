//! How chunks get their vectors.

use std::collections::{HashMap, HashSet};

use anemone_embed::{EmbedError, Embedder, Purpose};

use super::blocks::{block_texts, checked, checked_some, hash};
use super::{CHUNKS_AT_ONCE, EmbeddingError, EmbeddingReport, Replace};
use crate::index::Index;
use crate::progress::IndexProgress;
use crate::store::{
    ChunkId, ContentHash, EmbeddingWork, LockedIndex, Seal, Slot, Store, StoreError, Writing,
    as_kept,
};
use crate::vector::{normalised, quantised};

impl Index {
    pub(super) fn fill(
        &mut self,
        embedder: &dyn Embedder,
        replace: Replace,
        limit: u64,
        progress: &dyn IndexProgress,
    ) -> Result<EmbeddingReport, EmbeddingError> {
        let slot = Slot::of(embedder.effort());
        if slot == Slot::Static {
            return fill_static(&mut self.store, embedder, progress);
        }
        // The folder may hold another memory before this is done. Texts of that memory must not be
        // sent to this embedder.
        self.store.expect_the_same()?;
        let mut work = Work::new(embedder, progress, limit);
        let mut replace = replace;
        let mut begun = false;
        loop {
            let (chunks, seal) = work.next(&self.store, slot, replace)?;
            let Some((first, ..)) = chunks.first() else { return Ok(work.done) };
            // An embedder may be slow: until it returns, others may write.
            self.store.release();
            if !begun {
                self.begin(&work, *first)?;
                begun = true;
            }
            let round = work.round(&mut self.store, &chunks)?;
            let whole = !round.vectors.is_empty();
            if whole && !self.store.put_vectors(slot, embedder.identity(), &round.vectors, &seal)? {
                // Another process wrote. The index may now hold other sources; that is noticed by
                // reading without holding it.
                self.store.release();
                work.lose(&round);
            } else {
                work.count(&round);
                // From here on the set is ours, unless another process replaces it meanwhile.
                replace = if whole { Replace::No } else { replace };
            }
            match round.stopped {
                None => {}
                Some(Stopped::Full) => return Ok(work.done),
                Some(Stopped::Failed(source)) => {
                    return Err(EmbeddingError::Embedder { done: work.done, source });
                }
            }
        }
    }

    /// Prepares the cache for a fill: if it has no room for all new vectors, the existing ones
    /// stay.
    fn begin(&mut self, work: &Work<'_>, first: ChunkId) -> Result<(), StoreError> {
        let identity = work.embedder.identity();
        if self.store.begin_turn(identity, work.total.min(work.left))? {
            return Ok(());
        }
        let mut hashes = Vec::new();
        {
            let reading = self.store.reading()?;
            let mut from = first;
            loop {
                let chunks = reading.unembedded(from, CHUNKS_AT_ONCE)?;
                let Some((last, ..)) = chunks.last() else { break };
                from = ChunkId(last.0 + 1);
                hashes.extend(
                    chunks.iter().flat_map(|(_, text, body)| block_texts(text, body)).map(hash),
                );
            }
        }
        self.store.use_vectors(identity, &hashes)
    }
}

/// Why a batch ended early.
enum Stopped {
    /// The limit of texts was reached.
    Full,
    Failed(EmbedError),
}

/// The results for some chunks.
struct Round {
    /// The first chunks that have all their vectors, as they are stored.
    vectors: Vec<(ChunkId, Vec<u8>)>,
    /// Texts in all of them.
    texts: u64,
    /// Texts whose vectors were known.
    known: u64,
    /// Texts that were sent to the embedder.
    made: Vec<ContentHash>,
    stopped: Option<Stopped>,
}

/// An embedder at work.
struct Work<'a> {
    embedder: &'a dyn Embedder,
    progress: &'a dyn IndexProgress,
    /// Texts that it may still be sent.
    left: u64,
    /// Texts that were processed so far, of all texts.
    seen: u64,
    total: u64,
    done: EmbeddingReport,
    /// Texts of chunks that changed meanwhile: they were paid for in this fill, and are known.
    lost: HashSet<ContentHash>,
}

impl<'a> Work<'a> {
    fn new(embedder: &'a dyn Embedder, progress: &'a dyn IndexProgress, left: u64) -> Self {
        let (done, lost) = (EmbeddingReport::default(), HashSet::new());
        Self { embedder, progress, left, seen: 0, total: 0, done, lost }
    }

    /// Counts chunks whose vectors are stored.
    fn count(&mut self, round: &Round) {
        self.seen += round.texts;
        self.done.chunks += round.vectors.len() as u64;
        self.done.known += round.known;
    }

    /// Notes that chunks will be processed again, perhaps with other texts.
    fn lose(&mut self, round: &Round) {
        self.lost.extend(&round.made);
    }

    /// Returns the next chunks, and the state of the index.
    fn next(
        &mut self,
        store: &Store,
        slot: Slot,
        replace: Replace,
    ) -> Result<(Vec<EmbeddingWork>, Seal), EmbeddingError> {
        let reading = store.reading()?;
        let there = reading.sets()?.into_iter().find(|set| set.slot == slot);
        let from = match there {
            Some(set) if set.identity == *self.embedder.identity() => set.next,
            Some(set) if set.chunks > 0 && replace == Replace::No => {
                return Err(EmbeddingError::OtherModel(set.identity));
            }
            _ => ChunkId(0),
        };
        self.total = self.seen + reading.left(from)?.1;
        Ok((reading.unembedded(from, CHUNKS_AT_ONCE)?, reading.seal().clone()))
    }

    /// Embeds the blocks of chunks.
    fn round(&mut self, store: &mut Store, chunks: &[EmbeddingWork]) -> Result<Round, StoreError> {
        let identity = self.embedder.identity();
        let texts: Vec<Vec<&str>> =
            chunks.iter().map(|(_, text, body)| block_texts(text, body)).collect();
        let all: Vec<&str> = texts.iter().flatten().copied().collect();
        let hashes: Vec<ContentHash> = all.iter().map(|text| hash(text)).collect();
        let mut known: HashMap<ContentHash, Vec<f32>> = HashMap::new();
        for (hash, vector) in hashes.iter().zip(store.cached_vectors(identity, &hashes)?) {
            known.extend(vector.map(|vector| (*hash, vector)));
        }
        let is_known =
            |hash: &&ContentHash| known.contains_key(*hash) && !self.lost.contains(*hash);
        let mut round = Round {
            vectors: Vec::with_capacity(chunks.len()),
            texts: all.len() as u64,
            known: hashes.iter().filter(is_known).count() as u64,
            made: Vec::new(),
            stopped: None,
        };
        if !known.is_empty() {
            let used: Vec<ContentHash> = known.keys().copied().collect();
            store.use_vectors(identity, &used)?;
        }
        let mut met = HashSet::new();
        let new =
            |&(hash, _): &(&ContentHash, &&str)| !known.contains_key(hash) && met.insert(*hash);
        let missing: Vec<(ContentHash, &str)> =
            hashes.iter().zip(&all).filter(new).map(|(hash, text)| (*hash, *text)).collect();
        let before = self.seen + (all.len() - missing.len()) as u64;
        for batch in missing.chunks(self.embedder.texts_at_once().max(1)) {
            let batch = &batch[..batch.len().min(usize::try_from(self.left).unwrap_or(usize::MAX))];
            if batch.is_empty() {
                round.stopped = Some(Stopped::Full);
                break;
            }
            let texts: Vec<&str> = batch.iter().map(|&(_, text)| text).collect();
            let some = self.embedder.embed_some(&texts, Purpose::Document);
            let some = match checked_some(some, texts.len(), identity) {
                Ok(some) => some,
                Err(error) => {
                    round.stopped = Some(Stopped::Failed(error));
                    break;
                }
            };
            let places = batch.iter().map(|&(hash, _)| hash).zip(&some.vectors);
            let vectors: Vec<(ContentHash, Vec<f32>)> = places
                .filter_map(|(hash, vector)| Some((hash, as_kept(&normalised(vector.as_ref()?)))))
                .collect();
            if !vectors.is_empty() {
                store.cache_vectors(identity, &vectors)?;
            }
            self.left -= vectors.len() as u64;
            self.done.texts += vectors.len() as u64;
            self.done.cut += some.cut;
            self.done.refused += some.refused;
            round.made.extend(vectors.iter().map(|&(hash, _)| hash));
            known.extend(vectors);
            self.progress.embedded(before + round.made.len() as u64, self.total);
            if let Some(error) = some.error {
                round.stopped = Some(Stopped::Failed(error));
                break;
            }
        }
        if missing.is_empty() {
            self.progress.embedded(self.seen + round.texts, self.total);
        }
        let mut hashes = hashes.iter();
        for ((chunk, ..), texts) in chunks.iter().zip(&texts) {
            let own = hashes.by_ref().take(texts.len());
            let Some(vectors) = own.map(|hash| known.get(hash).map(Vec::as_slice)).collect() else {
                break;
            };
            let vectors: Vec<&[f32]> = vectors;
            round.vectors.push((*chunk, quantised(&vectors)));
        }
        Ok(round)
    }
}

/// Fills the static model's set. The cache is not used, because computing these vectors is faster
/// than a lookup.
fn fill_static(
    store: &mut Store,
    embedder: &dyn Embedder,
    progress: &dyn IndexProgress,
) -> Result<EmbeddingReport, EmbeddingError> {
    let seen = {
        let reading = store.reading()?;
        let set = reading.set_of(embedder.identity())?;
        if set.is_some_and(|set| set.chunks == reading.statistics().chunks) {
            return Ok(EmbeddingReport::default());
        }
        reading.seal().clone()
    };
    let LockedIndex::Whole(view, alone) = store.wait_alone(progress)? else {
        return Err(StoreError::NotFilled.into());
    };
    // Another process wrote while we waited, perhaps for other sources: the next refresh handles
    // it.
    if *view.seal() != seen {
        return Err(StoreError::NotFilled.into());
    }
    drop(view);
    let mut writing = store.writing(alone)?;
    let mut done = EmbeddingReport::default();
    let filled = write_static_vectors(&mut writing, embedder, &mut done)?;
    // Whether or not the embedder failed, what was written is consistent.
    let alone = writing.finish()?;
    store.keep(alone, false)?;
    filled.map_err(|source| EmbeddingError::Embedder { done, source })?;
    Ok(done)
}

/// Writes the static model's vectors for all chunks without one, in the open transaction.
pub(crate) fn write_static_vectors(
    writing: &mut Writing<'_>,
    embedder: &dyn Embedder,
    done: &mut EmbeddingReport,
) -> Result<Result<(), EmbedError>, StoreError> {
    let mut from = writing.begin_set(Slot::Static, embedder.identity())?;
    loop {
        let chunks = writing.unembedded(from, CHUNKS_AT_ONCE)?;
        let Some((last, ..)) = chunks.last() else { return Ok(Ok(())) };
        from = ChunkId(last.0 + 1);
        let texts: Vec<Vec<&str>> =
            chunks.iter().map(|(_, text, body)| block_texts(text, body)).collect();
        let all: Vec<&str> = texts.iter().flatten().copied().collect();
        let vectors = embedder.embed(&all, Purpose::Document);
        let vectors =
            match vectors.and_then(|vectors| checked(vectors, all.len(), embedder.identity())) {
                Ok(vectors) => vectors,
                Err(error) => return Ok(Err(error)),
            };
        let mut vectors = vectors.iter().map(|vector| normalised(vector));
        let mut blobs = Vec::with_capacity(chunks.len());
        for ((chunk, ..), texts) in chunks.iter().zip(&texts) {
            let own: Vec<Vec<f32>> = vectors.by_ref().take(texts.len()).collect();
            blobs.push((*chunk, quantised(&own)));
        }
        writing.put_vectors(Slot::Static, &blobs)?;
        done.chunks += blobs.len() as u64;
        done.texts += all.len() as u64;
    }
}
