//! An embedder that queries the cache first.

use anemone_embed::{Effort, EmbedError, Embedder, ModelIdentity, Purpose};

use super::blocks::{checked_some, hash};
use crate::store::{ContentHash, Store, as_kept};
use crate::vector::normalised;

/// An embedder that caches its vectors of documents, for rankings that compare texts which are not
/// blocks of the index. A cache that cannot be used costs only its help.
pub(crate) struct Cached<'a> {
    embedder: &'a dyn Embedder,
    store: &'a Store,
}

impl<'a> Cached<'a> {
    pub(crate) fn new(embedder: &'a dyn Embedder, store: &'a Store) -> Self {
        Self { embedder, store }
    }
}

impl Embedder for Cached<'_> {
    fn identity(&self) -> &ModelIdentity {
        self.embedder.identity()
    }

    fn effort(&self) -> Effort {
        self.embedder.effort()
    }

    fn texts_at_once(&self) -> usize {
        self.embedder.texts_at_once()
    }

    fn knows(&self, words: &str) -> Option<f32> {
        self.embedder.knows(words)
    }

    fn reads(&self, text: &str) -> f32 {
        self.embedder.reads(text)
    }

    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        if purpose == Purpose::Query || self.effort() == Effort::Trivial {
            return self.embedder.embed(texts, purpose);
        }
        let identity = self.identity();
        let hashes: Vec<ContentHash> = texts.iter().map(|text| hash(text)).collect();
        let known = self.store.cached_vectors(identity, &hashes);
        let mut vectors = known.unwrap_or_else(|_| vec![None; texts.len()]);
        let missing: Vec<usize> =
            (0..texts.len()).filter(|place| vectors[*place].is_none()).collect();
        let there = hashes.iter().zip(&vectors).filter(|(_, vector)| vector.is_some());
        let used: Vec<ContentHash> = there.map(|(hash, _)| *hash).collect();
        // If the use of vectors cannot be recorded, they are evicted sooner.
        drop(self.store.use_vectors_among_readers(identity, &used));
        for batch in missing.chunks(self.texts_at_once().max(1)) {
            let own: Vec<&str> = batch.iter().map(|place| texts[*place]).collect();
            let some = self.embedder.embed_some(&own, purpose);
            let some = checked_some(some, own.len(), identity)?;
            let places = batch.iter().map(|place| hashes[*place]).zip(&some.vectors);
            let made: Vec<(ContentHash, Vec<f32>)> = places
                .filter_map(|(hash, vector)| Some((hash, as_kept(&normalised(vector.as_ref()?)))))
                .collect();
            // Vectors that cannot be cached are computed again the next time.
            drop(self.store.cache_vectors_among_readers(identity, &made));
            if let Some(error) = some.error {
                return Err(error);
            }
            for (at, (_, vector)) in batch.iter().zip(made) {
                vectors[*at] = Some(vector);
            }
        }
        Ok(vectors.into_iter().map(Option::unwrap_or_default).collect())
    }
}
