//! Vectors that come with the texts and are already paid for.

use std::collections::HashSet;

use anemone_embed::ModelIdentity;

use super::CHUNKS_AT_ONCE;
use super::blocks::{block_texts, hash};
use crate::index::Index;
use crate::profile::RankingChoice;
use crate::request::Request;
use crate::source::{CarriedVector, DocumentSource, SourceError};
use crate::store::{ChunkId, ContentHash, StoreError};
use crate::vector::normalised;

/// Vectors that are kept together.
const KEPT_AT_ONCE: usize = 256;
/// Vectors that are taken at once, at most: the cache holds few more.
const MOST_TAKEN: u64 = 200_000;

/// Counts of the vectors that came with the sources.
#[derive(Debug, Default)]
pub struct CarriedReport {
    /// Texts that have a vector now.
    pub taken: u64,
    /// Wanted vectors that were over the limit.
    pub left: u64,
    /// Why a source yielded no more.
    pub failed: Vec<SourceError>,
}

impl Index {
    /// Takes the vectors that come with the sources for exactly those texts that an embedder would
    /// be sent, so that [`embed`](Self::embed) knows them. Other vectors are skipped, and so are
    /// those that are not of this embedder.
    pub fn take_carried(
        &mut self,
        identity: &ModelIdentity,
        sources: &[&dyn DocumentSource],
    ) -> Result<CarriedReport, StoreError> {
        let wanted = self.wanted(identity)?;
        self.take(identity, sources, wanted, MOST_TAKEN)
    }

    /// As [`take_carried`](Self::take_carried), for the texts that a search with another program's
    /// ranking would send to an embedder: they are not blocks of the index.
    pub fn take_carried_for(
        &mut self,
        request: &Request,
        identity: &ModelIdentity,
        sources: &[&dyn DocumentSource],
    ) -> Result<CarriedReport, StoreError> {
        let mut hashes = Vec::new();
        {
            let reading = self.store.reading()?;
            let allowed = reading.allowed(request)?;
            reading.documents(allowed.as_ref(), &mut |document| {
                if let RankingChoice::Other(profile) = request.profile {
                    profile.each_text(&document, &request.tuning, &mut |text| {
                        hashes.push(hash(text));
                    });
                }
            })?;
        }
        let known = self.store.are_cached(identity, &hashes)?;
        let wanted = hashes
            .into_iter()
            .zip(known)
            .filter(|(_, is_known)| !is_known)
            .map(|(hash, _)| hash)
            .collect();
        self.take(identity, sources, wanted, MOST_TAKEN)
    }

    fn take(
        &mut self,
        identity: &ModelIdentity,
        sources: &[&dyn DocumentSource],
        mut wanted: HashSet<ContentHash>,
        most: u64,
    ) -> Result<CarriedReport, StoreError> {
        let mut result = CarriedReport::default();
        for source in sources {
            if wanted.is_empty() {
                break;
            }
            let mut kept: Vec<(ContentHash, Vec<f32>)> = Vec::new();
            let mut stopped = None;
            let read = source.carried(identity, &mut |carried| {
                let CarriedVector { sha256, trimmed, vector } = carried;
                let is_number = vector.iter().all(|number| number.is_finite());
                if stopped.is_some() || vector.len() != identity.dimensions || !is_number {
                    return;
                }
                let vector = normalised(&vector);
                // A zero vector holds no information.
                if vector.iter().all(|number| *number == 0.0) {
                    return;
                }
                for hash in [Some(sha256), trimmed].into_iter().flatten() {
                    if !wanted.remove(&hash) {
                        continue;
                    }
                    if result.taken == most {
                        result.left += 1;
                        continue;
                    }
                    result.taken += 1;
                    kept.push((hash, vector.clone()));
                }
                if kept.len() >= KEPT_AT_ONCE {
                    stopped = self.store.cache_vectors(identity, &kept).err();
                    kept.clear();
                }
            });
            // The vectors that it yielded before it failed are as good as the rest.
            result.failed.extend(read.err());
            if let Some(error) = stopped {
                return Err(error);
            }
            if !kept.is_empty() {
                self.store.cache_vectors(identity, &kept)?;
            }
        }
        Ok(result)
    }

    /// Returns the texts that an embedder would be sent.
    fn wanted(&self, identity: &ModelIdentity) -> Result<HashSet<ContentHash>, StoreError> {
        let reading = self.store.reading()?;
        let mut from = reading.set_of(identity)?.map_or(ChunkId(0), |set| set.next);
        let mut wanted = HashSet::new();
        loop {
            let chunks = reading.unembedded(from, CHUNKS_AT_ONCE)?;
            let Some((last, ..)) = chunks.last() else { return Ok(wanted) };
            from = ChunkId(last.0 + 1);
            let texts = chunks.iter().flat_map(|(_, text, body)| block_texts(text, body));
            let hashes: Vec<ContentHash> = texts.map(hash).collect();
            let known = self.store.are_cached(identity, &hashes)?;
            wanted.extend(
                hashes.iter().zip(known).filter(|(_, is_known)| !is_known).map(|(hash, _)| *hash),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::source::{Listing, SkippedDocument, SourceEntry};

    /// A source that has vectors, and then breaks.
    struct Broken(Vec<CarriedVector>);

    impl DocumentSource for Broken {
        fn identity(&self) -> String {
            "broken".to_owned()
        }

        fn list(&self) -> Result<Listing, SourceError> {
            Ok(Listing::default())
        }

        fn load(
            &self,
            _: &SourceEntry,
            _: &mut dyn FnMut(Document),
        ) -> Result<Vec<SkippedDocument>, SourceError> {
            Ok(Vec::new())
        }

        fn carried(
            &self,
            _: &ModelIdentity,
            each: &mut dyn FnMut(CarriedVector),
        ) -> Result<(), SourceError> {
            self.0.iter().cloned().for_each(each);
            let source = Box::new(std::io::Error::other("torn"));
            Err(SourceError { place: "broken".to_owned(), source })
        }
    }

    #[test]
    fn what_is_too_much_is_counted_and_what_came_before_a_failure_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut index = Index::open(folder.path()).unwrap();
        let identity =
            ModelIdentity { provider: "p".to_owned(), model: "m".to_owned(), dimensions: 2 };
        let texts = ["a", "b", "c", "d"];
        let all = texts.map(|text| CarriedVector::of(text, vec![0.0, 4.0])).to_vec();
        let wanted: HashSet<ContentHash> = texts[..3].iter().map(|text| hash(text)).collect();
        let result = index.take(&identity, &[&Broken(all)], wanted, 2).unwrap();
        assert_eq!((result.taken, result.left, result.failed.len()), (2, 1, 1));
        let hashes = texts.map(hash);
        let known = index.store.cached_vectors(&identity, &hashes).unwrap();
        assert_eq!(known, [Some(vec![0.0, 1.0]), Some(vec![0.0, 1.0]), None, None]);
    }
}
