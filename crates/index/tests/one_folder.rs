//! Laws for two memories in one folder: the texts of one are never sent where only those of the
//! other were meant to go.

#![expect(clippy::unwrap_used, reason = "what does not hold in a test may panic")]

#[expect(dead_code, reason = "only the shelf is needed")]
mod common;

use std::path::Path;
use std::sync::Mutex;

use anemone_embed::{Effort, EmbedError, Embedder, ModelIdentity, Purpose};
use anemone_index::{
    Document, DocumentSource, EmbeddingError, Index, Listing, NoProgress, Replace, SkippedDocument,
    SourceEntry, SourceError, StoreError,
};
use common::{NOW, Shelf, refreshed};

/// Another agent's memory.
struct Other(Shelf);

impl DocumentSource for Other {
    fn identity(&self) -> String {
        "other".to_owned()
    }

    fn list(&self) -> Result<Listing, SourceError> {
        self.0.list()
    }

    fn load(
        &self,
        entry: &SourceEntry,
        each: &mut dyn FnMut(Document),
    ) -> Result<Vec<SkippedDocument>, SourceError> {
        self.0.load(entry, each)
    }
}

/// An embedder during whose first request the other memory takes over the folder.
struct Slow<'a> {
    identity: ModelIdentity,
    folder: &'a Path,
    texts: Mutex<Vec<String>>,
}

impl Embedder for Slow<'_> {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn effort(&self) -> Effort {
        Effort::Remote
    }

    fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut seen = self.texts.lock().unwrap();
        if seen.is_empty() {
            let other = Other(Shelf::default());
            other.0.put("diary.md", "This is for nobody.\n");
            Index::open(self.folder).unwrap().refresh(&[&other], NOW, &NoProgress).unwrap();
        }
        seen.extend(texts.iter().map(|text| (*text).to_owned()));
        Ok(texts.iter().map(|_| vec![1.0, 0.0]).collect())
    }
}

#[test]
fn another_memory_in_the_folder_is_neither_sent_nor_given_vectors() {
    for is_refreshed in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::default();
        shelf.put("notes.md", "The car stands in the yard.\n");
        let mut index = refreshed(folder.path(), &shelf);
        if !is_refreshed {
            // Its sources are not given; those at the beginning count.
            index = Index::open(folder.path()).unwrap();
        }
        index.release();
        let (provider, model) = ("test".to_owned(), "slow".to_owned());
        let identity = ModelIdentity { provider, model, dimensions: 2 };
        let slow = Slow { identity, folder: folder.path(), texts: Mutex::default() };
        let error = index.embed(&slow, Replace::No, &NoProgress).unwrap_err();
        assert!(matches!(error, EmbeddingError::Store(StoreError::NotFilled)), "{error}");
        assert_eq!(*slow.texts.lock().unwrap(), ["The car stands in the yard."]);
        let there = Index::open(folder.path()).unwrap();
        assert_eq!(there.vector_sets().unwrap(), []);
    }
}
