//! Finds text in an index that is similar to a given text, in the current state of the index:
//! nothing is refreshed.
//!
//! This is for callers that are about to write and cannot read everything. Entries that the index
//! has not read yet are named, so that the caller can read them directly.

use anemone_embed::ModelIdentity;

use crate::index::{Index, RefreshError};
use crate::refresh::unseen;
use crate::source::DocumentSource;
use crate::store::{ChunkId, Narrow, SoughtTerm, StoreError};
use crate::text::parse;
use crate::vector::{Nearest, Scan, normalised};

/// A location that is similar to a text.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarPlace {
    /// The document.
    pub path: String,
    /// Its first and last line, from 1.
    pub lines: (u32, u32),
    /// The cosine of its vector, if it was found that way.
    pub cosine: Option<f32>,
}

impl Index {
    /// Names the entries that the index does not have in their current state. Their content is not
    /// read; some of them may not have changed.
    pub fn unseen(&self, sources: &[&dyn DocumentSource]) -> Result<Vec<String>, RefreshError> {
        unseen(&self.store, sources)
    }

    /// Finds blocks by their vectors: of at most `limit` chunks, those with a cosine of at least
    /// `least`, the nearest first. Without vectors of that model there are none.
    pub fn nearest(
        &self,
        identity: &ModelIdentity,
        vector: &[f32],
        least: f32,
        limit: usize,
    ) -> Result<Vec<SimilarPlace>, StoreError> {
        let reading = self.store.reading()?;
        let Some(set) = reading.set_of(identity)? else { return Ok(Vec::new()) };
        if vector.len() != identity.dimensions {
            return Ok(Vec::new());
        }
        let blocks = reading.statistics().blocks;
        let mut scan = Scan::new(&normalised(vector), limit, (set.chunks, blocks));
        reading.vectors(set.slot, &mut |chunk, blob| scan.compare(chunk, blob, true))?;
        let mut nearest = Nearest::default();
        nearest.add(scan, 1.0);
        let is_near = |id: &ChunkId| {
            nearest
                .of(*id)
                .is_some_and(|(cosines, _)| cosines.iter().any(|cosine| *cosine >= least))
        };
        let ids: Vec<ChunkId> = nearest.chunks().filter(is_near).take(limit).collect();
        let mut found = Vec::new();
        for chunk in reading.chunks(&ids)? {
            let read = reading.document(chunk.document)?;
            let cosines = nearest.of(chunk.id).map(|(cosines, _)| cosines).unwrap_or_default();
            for (block, cosine) in chunk.body.blocks.iter().zip(cosines) {
                if *cosine >= least {
                    let lines = (block.lines.start, block.lines.end.saturating_sub(1));
                    let path = read.document.path.clone();
                    found.push(SimilarPlace { path, lines, cosine: Some(*cosine) });
                }
            }
        }
        found.sort_by(|a, b| b.cosine.unwrap_or(0.0).total_cmp(&a.cosine.unwrap_or(0.0)));
        Ok(found)
    }

    /// Finds the chunks that have the most and rarest words of a text, the best first.
    pub fn with_words_of(&self, text: &str, limit: usize) -> Result<Vec<SimilarPlace>, StoreError> {
        let reading = self.store.reading()?;
        // The text is not a query: nothing in it is quoted or excluded.
        let plain: String =
            text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
        let words = parse(&plain, &reading.statistics().main_languages());
        let forms = words.terms.iter().flat_map(|term| &term.forms);
        let wanted: Vec<SoughtTerm<'_>> = forms
            .map(|form| SoughtTerm { text: (&form.text).into(), term: form.term, weight: 1.0 })
            .collect();
        let candidates = reading.candidates(&wanted, limit, &Narrow::default())?;
        let ids: Vec<ChunkId> = candidates.iter().map(|candidate| candidate.chunk).collect();
        let mut found = Vec::new();
        for chunk in reading.chunks(&ids)? {
            let blocks = &chunk.body.blocks;
            let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { continue };
            let read = reading.document(chunk.document)?;
            let lines = (first.lines.start, last.lines.end.saturating_sub(1));
            found.push(SimilarPlace { path: read.document.path.clone(), lines, cosine: None });
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use anemone_embed::{Builtin, Embedder as _, Purpose};
    use jiff::Timestamp;

    use super::*;
    use crate::{FolderSource, MarkdownFolder, NoProgress, Replace};

    struct Place {
        folder: tempfile::TempDir,
        source: FolderSource,
    }

    impl Place {
        fn new(files: &[(&str, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            for (name, text) in files {
                fs_err::write(folder.path().join(name), text).unwrap();
            }
            let rules = Box::new(MarkdownFolder::default());
            let source = FolderSource::new(folder.path().to_owned(), String::new(), rules);
            Self { folder, source }
        }

        fn index(&self) -> Index {
            Index::open(&self.folder.path().join("index")).unwrap()
        }

        fn filled(&self) -> Index {
            let mut index = self.index();
            index.refresh(&[&self.source], Timestamp::MAX, &NoProgress).unwrap();
            index.embed(&Builtin::new(), Replace::Yes, &NoProgress).unwrap();
            index.refresh(&[&self.source], Timestamp::MAX, &NoProgress).unwrap();
            index
        }
    }

    #[test]
    fn a_line_is_found_by_its_vector_and_by_its_words() {
        let log = "# Day\n\n- The gateway stays on loopback.\n- Lunch was noodles.\n";
        let place = Place::new(&[("a.md", log), ("b.md", "- \u{6211}\u{559c}\u{6b22}\u{8336}\n")]);
        let index = place.filled();
        let builtin = Builtin::new();
        let texts = ["The gateway stays on loopback."];
        let vector = builtin.embed(&texts, Purpose::Document).unwrap().remove(0);
        let near = index.nearest(builtin.identity(), &vector, 0.8, 4).unwrap();
        assert_eq!((near[0].path.as_str(), near[0].lines), ("a.md", (3, 3)), "{near:?}");
        assert!(near[0].cosine.unwrap() > 0.9);
        let held = index.with_words_of("\u{6211}\u{559c}\u{6b22}\u{8336}\u{3002}", 2).unwrap();
        assert_eq!(held[0].path, "b.md");
        let held = index.with_words_of("\"noodles\" -lunch", 2).unwrap();
        assert_eq!((held[0].path.as_str(), held[0].lines.1), ("a.md", 4));
    }

    #[test]
    fn what_was_not_seen_is_named() {
        let place = Place::new(&[("a.md", "- one\n"), ("b.md", "- two\n")]);
        assert_eq!(place.index().unseen(&[&place.source]).unwrap(), ["a.md", "b.md"]);
        let mut index = place.filled();
        assert_eq!(index.unseen(&[&place.source]).unwrap(), [] as [&str; 0]);
        fs_err::write(place.folder.path().join("b.md"), "- two and more\n").unwrap();
        assert_eq!(index.unseen(&[&place.source]).unwrap(), ["b.md"]);
        index.release();
        assert_eq!(index.unseen(&[&place.source]).unwrap(), ["b.md"]);
    }

    #[test]
    fn without_vectors_nothing_is_near() {
        let place = Place::new(&[("a.md", "- one\n")]);
        let mut index = place.index();
        index.refresh(&[&place.source], Timestamp::MAX, &NoProgress).unwrap();
        let identity = Builtin::new().identity().clone();
        assert_eq!(index.nearest(&identity, &[1.0], 0.0, 4).unwrap(), []);
    }
}
