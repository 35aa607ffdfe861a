//! Erases documents: what was removed is not only unfindable, it is deleted from the disk.

use std::collections::HashSet;

use crate::digest::digest;
use crate::embedding::{block_texts, hash};
use crate::index::{Index, RefreshError};
use crate::refresh::load_unseen;
use crate::source::DocumentSource;
use crate::store::{ContentHash, StoreError};

/// The hashes of the texts of some documents, which are their keys in the cache of vectors.
#[derive(Clone, Debug, Default)]
pub struct TextHashes {
    paths: Vec<String>,
    hashes: HashSet<ContentHash>,
}

impl Index {
    /// Returns the hashes of the texts of documents, by their paths: for [`erase`](Self::erase),
    /// once the documents are gone.
    pub fn texts_of(&self, paths: &[String]) -> Result<TextHashes, StoreError> {
        let reading = self.store.reading()?;
        let mut hashes = HashSet::new();
        for path in paths {
            reading.chunks_of_path(path, &mut |text, body| {
                hashes.extend(block_texts(text, body).into_iter().map(hash));
            })?;
        }
        Ok(TextHashes { paths: paths.to_vec(), hashes })
    }

    /// As [`texts_of`](Self::texts_of), but also includes current texts of the documents that the
    /// index has not read yet: a cache may know them from earlier. The index is not updated for
    /// this.
    pub fn texts_of_now(
        &self,
        sources: &[&dyn DocumentSource],
        paths: &[String],
    ) -> Result<TextHashes, RefreshError> {
        let mut texts = match self.texts_of(paths) {
            Err(error) if error.is_damage() => {
                TextHashes { paths: paths.to_vec(), hashes: HashSet::new() }
            }
            texts => texts?,
        };
        load_unseen(&self.store, sources, &mut |document| {
            if paths.contains(&document.path) {
                for chunk in digest(document).chunks {
                    let blocks = block_texts(&chunk.text, &chunk.body);
                    texts.hashes.extend(blocks.into_iter().map(hash));
                }
            }
        })?;
        Ok(texts)
    }

    /// After a refresh: removes from the disk what is left of removed documents and texts.
    ///
    /// The terms of removed chunks are removed from the files. The vectors of those `before` texts
    /// that the documents no longer have are removed from the cache.
    pub fn erase(&mut self, before: &TextHashes) -> Result<(), StoreError> {
        let after = self.texts_of(&before.paths)?;
        let gone: HashSet<_> = before.hashes.difference(&after.hashes).copied().collect();
        self.store.forget_vectors(&gone)?;
        self.store.erase_removed()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use anemone_embed::{Builtin, Effort, EmbedError, Embedder, ModelIdentity, Purpose};
    use jiff::Timestamp;

    use super::*;
    use crate::{FolderSource, MarkdownFolder, NoProgress, RefreshExtras, Replace};

    /// An embedder whose vectors are kept in the cache.
    struct Costly(ModelIdentity);

    impl Costly {
        fn new() -> Self {
            let (provider, model) = ("test".to_owned(), "m".to_owned());
            Self(ModelIdentity { provider, model, dimensions: 1 })
        }
    }

    impl Embedder for Costly {
        fn identity(&self) -> &ModelIdentity {
            &self.0
        }

        fn effort(&self) -> Effort {
            Effort::Work
        }

        fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
            Ok(texts.iter().map(|_| vec![1.0]).collect())
        }
    }

    fn source(folder: &Path) -> FolderSource {
        let rules = Box::new(MarkdownFolder::default());
        FolderSource::new(folder.to_owned(), String::new(), rules)
    }

    fn refresh(index: &mut Index, folder: &Path) {
        let source = source(folder);
        index.refresh(&[&source], Timestamp::UNIX_EPOCH, &NoProgress).unwrap();
        index.embed(&Builtin::new(), Replace::Yes, &NoProgress).unwrap();
        index.embed(&Costly::new(), Replace::Yes, &NoProgress).unwrap();
        index.refresh(&[&source], Timestamp::UNIX_EPOCH, &NoProgress).unwrap();
    }

    /// Whether a word occurs in any file of a folder, and in any dictionary of terms.
    fn stands(folder: &Path, index: &Index, word: &str) -> (bool, bool) {
        let mut folders = vec![folder.to_owned()];
        let mut found = false;
        while let Some(folder) = folders.pop() {
            for entry in fs_err::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = fs_err::read(path).unwrap();
                    found |= bytes.windows(word.len()).any(|window| window == word.as_bytes());
                }
            }
        }
        (found, index.store.reading().unwrap().has_term(word))
    }

    #[test]
    fn what_was_erased_is_in_no_file() {
        let (folder, kept) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = folder.path().join("a.md");
        fs_err::write(folder.path().join("b.md"), "- another file\n").unwrap();
        fs_err::write(&path, "- the heron stays\n- the zebrafish goes\n").unwrap();
        let mut index = Index::open(kept.path()).unwrap();
        refresh(&mut index, folder.path());
        assert_eq!(stands(kept.path(), &index, "zebrafish"), (true, true));
        let identity = Costly::new().0;
        let known = index.texts_of(&["a.md".to_owned()]).unwrap();
        let hashes: Vec<_> = known.hashes.iter().copied().collect();
        assert_eq!(index.store.are_cached(&identity, &hashes).unwrap(), [true, true]);

        fs_err::write(&path, "- the heron stays\n").unwrap();
        refresh(&mut index, folder.path());
        index.erase(&known).unwrap();
        assert_eq!(stands(kept.path(), &index, "zebrafish"), (false, false));
        assert_eq!(stands(kept.path(), &index, "heron"), (true, true));
        let left = index.texts_of(&["a.md".to_owned()]).unwrap();
        for hash in &known.hashes {
            let is_cached = index.store.are_cached(&identity, &[*hash]).unwrap()[0];
            assert_eq!(is_cached, left.hashes.contains(hash));
        }
        // The index is complete, and there is nothing more to erase.
        refresh(&mut index, folder.path());
        index.erase(&left).unwrap();
        assert_eq!(index.store.reading().unwrap().statistics().documents, 2);
    }

    #[test]
    fn one_writing_takes_in_what_changed_with_vectors_and_erases_what_is_gone() {
        let (folder, kept) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = folder.path().join("a.md");
        fs_err::write(folder.path().join("b.md"), "- another file\n").unwrap();
        fs_err::write(&path, "- the heron stays\n- the zebrafish goes\n").unwrap();
        let mut index = Index::open(kept.path()).unwrap();
        refresh(&mut index, folder.path());
        let known = index.texts_of(&["a.md".to_owned()]).unwrap();

        fs_err::write(&path, "- the heron stays\n").unwrap();
        let source = source(folder.path());
        let static_model = Builtin::new();
        let along = RefreshExtras { static_model: Some(&static_model), erases: true };
        index.refresh_along(&[&source], along, Timestamp::UNIX_EPOCH, &NoProgress).unwrap();
        let mark = index.store.mark();
        assert_eq!(stands(kept.path(), &index, "zebrafish"), (false, false));
        let sets = index.vector_sets().unwrap();
        let of_static = sets.iter().find(|set| set.is_static).unwrap();
        assert_eq!((of_static.chunks, of_static.missing), (2, 0));
        index.erase(&known).unwrap();
        assert_eq!(index.store.mark(), mark, "nothing was left to write");
    }

    #[test]
    fn what_the_index_has_not_seen_is_known_by_its_texts_as_well() {
        let (folder, kept) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (path, source) = (folder.path().join("a.md"), source(folder.path()));
        fs_err::write(&path, "- the heron stays\n").unwrap();
        let mut index = Index::open(kept.path()).unwrap();
        let now =
            |index: &Index| index.texts_of_now(&[&source], &["a.md".to_owned()]).unwrap().hashes;
        let first = now(&index);
        assert_eq!(first.len(), 1, "of an index that is empty");
        refresh(&mut index, folder.path());
        fs_err::write(&path, "- the zebrafish came\n").unwrap();
        let both = now(&index);
        assert!(both.len() == 2 && both.is_superset(&first));
        refresh(&mut index, folder.path());
        assert_eq!(
            both.difference(&now(&index)).collect::<Vec<_>>(),
            first.iter().collect::<Vec<_>>()
        );
        let other = index.texts_of_now(&[&source], &["b.md".to_owned()]).unwrap();
        assert!(other.hashes.is_empty());
    }
}
