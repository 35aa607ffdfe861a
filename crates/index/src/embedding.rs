//! Filling in vectors: one for each block, taken from the cache where its text is known.

use std::collections::{HashMap, HashSet};

use anemone_embed::{EmbedError, Embedder, Identity, Purpose};
use sha2::{Digest as _, Sha256};

use crate::index::Index;
use crate::progress::Progress;
use crate::store::body::Body;
use crate::store::{ChunkId, ContentHash, Reading, Store, StoreError};
use crate::vector::{normalised, quantised};

/// Chunks that are embedded before what was done is kept.
const CHUNKS_AT_ONCE: usize = 256;
/// Texts that an embedder is handed at once.
const TEXTS_AT_ONCE: usize = 128;

/// What became of an index's vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Embedded {
    /// Chunks that got vectors.
    pub chunks: u64,
    /// Texts that were handed to the embedder.
    pub texts: u64,
    /// Texts whose vectors were known.
    pub known: u64,
}

/// Why vectors could not be filled in; what was done before is kept.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddingError {
    /// The index.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The embedder.
    #[error(transparent)]
    Embedder(#[from] EmbedError),
}

impl Index {
    /// Gives every chunk vectors of an embedder; those that have them already cost nothing.
    pub fn embed(
        &mut self,
        embedder: &dyn Embedder,
        progress: &dyn Progress,
    ) -> Result<Embedded, EmbeddingError> {
        let identity = embedder.identity();
        let mut done = Embedded::default();
        let mut from = ChunkId(0);
        loop {
            let (chunks, total) = {
                let reading = self.store.reading()?;
                let total = reading.statistics().chunks;
                (reading.chunks_without_vectors(identity, from, CHUNKS_AT_ONCE)?, total)
            };
            let Some(last) = chunks.last().map(|it| it.0) else { return Ok(done) };
            let vectors = vectors(&mut self.store, &chunks, embedder, &mut done)?;
            self.store.put_vectors(identity, &vectors)?;
            done.chunks += chunks.len() as u64;
            progress.indexed(done.chunks, total);
            from = ChunkId(last.0 + 1);
        }
    }
}

/// Embeds the blocks of chunks.
fn vectors(
    store: &mut Store,
    chunks: &[(ChunkId, String, Body)],
    embedder: &dyn Embedder,
    done: &mut Embedded,
) -> Result<Vec<(ChunkId, Vec<u8>)>, EmbeddingError> {
    let identity = embedder.identity();
    let texts: Vec<Vec<&str>> = chunks.iter().map(|it| block_texts(&it.1, &it.2)).collect();
    let all: Vec<&str> = texts.iter().flatten().copied().collect();
    let hashes: Vec<ContentHash> = all.iter().map(|it| hash(it)).collect();
    let mut known: HashMap<ContentHash, Vec<f32>> = HashMap::new();
    for (hash, vector) in hashes.iter().zip(store.cached_vectors(identity, &hashes)?) {
        known.extend(vector.map(|it| (*hash, it)));
    }
    done.known += hashes.iter().filter(|it| known.contains_key(*it)).count() as u64;
    let mut missing: Vec<(ContentHash, &str)> = Vec::new();
    let mut met = HashSet::new();
    for (hash, text) in hashes.iter().zip(&all) {
        if !known.contains_key(hash) && met.insert(*hash) {
            missing.push((*hash, text));
        }
    }
    for batch in missing.chunks(TEXTS_AT_ONCE) {
        let texts: Vec<&str> = batch.iter().map(|it| it.1).collect();
        let made = checked(embedder.embed(&texts, Purpose::Document)?, texts.len(), identity)?;
        let made: Vec<(ContentHash, Vec<f32>)> =
            batch.iter().map(|it| it.0).zip(made.iter().map(|it| normalised(it))).collect();
        store.cache_vectors(identity, &made)?;
        done.texts += made.len() as u64;
        known.extend(made);
    }
    let mut hashes = hashes.into_iter();
    let mut blobs = Vec::with_capacity(chunks.len());
    for ((chunk, ..), texts) in chunks.iter().zip(&texts) {
        let hashes = hashes.by_ref().take(texts.len());
        let vectors: Vec<Vec<f32>> =
            hashes.map(|it| known.get(&it).cloned().unwrap_or_default()).collect();
        blobs.push((*chunk, quantised(&vectors)));
    }
    Ok(blobs)
}

/// A chunk and the vectors of its blocks.
type BlockVectors = (ChunkId, Vec<Vec<f32>>);

/// Returns the exact vectors of chunks' blocks, for those of which all are known.
pub(crate) fn exact(
    store: &Store,
    reading: &Reading<'_>,
    identity: &Identity,
    chunks: &[ChunkId],
) -> Result<Vec<BlockVectors>, StoreError> {
    let mut hashes = Vec::new();
    let mut counts = Vec::new();
    for chunk in reading.chunks(chunks)? {
        let text = reading.text(chunk.id)?;
        let texts = block_texts(&text, &chunk.body);
        hashes.extend(texts.iter().map(|it| hash(it)));
        counts.push((chunk.id, texts.len()));
    }
    let mut vectors = store.cached_vectors(identity, &hashes)?.into_iter();
    let mut exact = Vec::with_capacity(counts.len());
    for (chunk, count) in counts {
        let own: Option<Vec<Vec<f32>>> = vectors.by_ref().take(count).collect();
        exact.extend(own.map(|it| (chunk, it)));
    }
    Ok(exact)
}

/// What is embedded of a chunk: each of its blocks.
fn block_texts<'a>(text: &'a str, body: &Body) -> Vec<&'a str> {
    let range = |bytes: &std::ops::Range<u32>| bytes.start as usize..bytes.end as usize;
    body.blocks.iter().map(|it| text.get(range(&it.bytes)).unwrap_or_default()).collect()
}

fn hash(text: &str) -> ContentHash {
    Sha256::digest(text.as_bytes()).into()
}

/// Refuses vectors that are not what the embedder promises.
fn checked(
    vectors: Vec<Vec<f32>>,
    texts: usize,
    identity: &Identity,
) -> Result<Vec<Vec<f32>>, EmbedError> {
    let unusable = |found| Err(EmbedError::Unusable { provider: identity.provider.clone(), found });
    if vectors.len() != texts {
        return unusable("not one vector for each text");
    }
    if vectors.iter().any(|it| it.len() != identity.dimensions) {
        return unusable("the wrong number of dimensions");
    }
    if vectors.iter().flatten().any(|it| !it.is_finite()) {
        return unusable("what is no number");
    }
    Ok(vectors)
}
