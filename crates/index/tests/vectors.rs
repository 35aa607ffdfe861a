//! Laws for the vectors of an index: they are computed once, they add to words and never take away
//! from them, and an embedder that fails or returns wrong vectors only costs its own ranker.

#![expect(clippy::unwrap_used, reason = "what does not hold in a test may panic")]

#[expect(dead_code, reason = "only the shelf is needed")]
mod common;

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use anemone_embed::{Effort, EmbedError, Embedder, ModelIdentity, Purpose};
use anemone_index::{
    CarriedVector, Document, DocumentSource, EmbeddingError, Hit, Index, Listing, NoProgress,
    Replace, Request, SkippedDocument, SourceEntry, SourceError, VectorOutcome,
};
use anemone_testkit::SlowGroup;
use common::{NOW, Shelf, refreshed};
use sha2::{Digest as _, Sha256};

const DIMENSIONS: usize = 64;

/// Pairs of words that are the same to the embedder, so that vectors find what words do not.
const SAME: &[(&str, &str)] = &[("automobile", "car"), ("physician", "doctor")];

/// What is wrong with an embedder.
#[derive(Clone, Copy)]
enum Fault {
    None,
    Fails,
    TooShort,
    NoNumber,
    TooFew,
}

/// A hashed bag of words.
struct Bag {
    identity: ModelIdentity,
    effort: Effort,
    texts: AtomicUsize,
    fault: AtomicU8,
    /// The number of calls before it fails.
    calls_left: AtomicUsize,
}

impl Bag {
    fn new() -> Self {
        let (provider, model) = ("test".to_owned(), "bag".to_owned());
        let identity = ModelIdentity { provider, model, dimensions: DIMENSIONS };
        Self {
            identity,
            effort: Effort::Work,
            texts: AtomicUsize::new(0),
            fault: AtomicU8::new(Fault::None as u8),
            calls_left: AtomicUsize::new(usize::MAX),
        }
    }

    /// An embedder whose vectors cost nothing.
    fn static_model() -> Self {
        let mut bag = Self::named("table");
        bag.effort = Effort::Trivial;
        bag
    }

    fn named(model: &str) -> Self {
        let mut bag = Self::new();
        bag.identity.model = model.to_owned();
        bag
    }

    fn failing_after(calls: usize) -> Self {
        let bag = Self::new();
        bag.calls_left.store(calls, Ordering::Relaxed);
        bag
    }

    fn with(fault: Fault) -> Self {
        let bag = Self::new();
        bag.fault.store(fault as u8, Ordering::Relaxed);
        bag
    }

    /// The number of texts that it was sent so far.
    fn texts(&self) -> usize {
        self.texts.load(Ordering::Relaxed)
    }
}

fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0_f32; DIMENSIONS];
    let text = text.to_lowercase();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let same = SAME.iter().find(|&&(one, _)| one == word);
        let hash = Sha256::digest(same.map_or(word, |&(_, other)| other).as_bytes());
        let sign = if hash[1] & 1 == 1 { 1.0 } else { -1.0 };
        vector[usize::from(hash[0]) % DIMENSIONS] += sign;
    }
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|number| *number /= length);
    }
    vector
}

impl Embedder for Bag {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn effort(&self) -> Effort {
        self.effort
    }

    fn texts_at_once(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str], _purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.texts.fetch_add(texts.len(), Ordering::Relaxed);
        let mut vectors: Vec<Vec<f32>> = texts.iter().map(|text| vector(text)).collect();
        if self.calls_left.fetch_sub(1, Ordering::Relaxed) == 0 {
            self.fault.store(Fault::Fails as u8, Ordering::Relaxed);
        }
        match self.fault.load(Ordering::Relaxed) {
            fault if fault == Fault::Fails as u8 => {
                let source = std::io::Error::other("the line is dead").into();
                return Err(EmbedError::Failed { provider: "test".to_owned(), source });
            }
            fault if fault == Fault::TooShort as u8 => {
                vectors.iter_mut().for_each(|vector| vector.truncate(3));
            }
            fault if fault == Fault::NoNumber as u8 => {
                vectors.iter_mut().for_each(|vector| vector[0] = f32::NAN);
            }
            fault if fault == Fault::TooFew as u8 => drop(vectors.pop()),
            _ => {}
        }
        Ok(vectors)
    }
}

fn shelf() -> Shelf {
    let shelf = Shelf::default();
    for (path, text) in [
        ("memory/2026-01-01.md", "- The red car stands in the yard.\n- Bread is on the table.\n"),
        ("memory/2026-01-02.md", "- The doctor comes on Monday.\n- Nobody was at home.\n"),
        ("memory/2026-01-03.md", "- We planted beans and peas.\n"),
        ("memory/2026-01-04.md", "- The router hangs in the hall.\n"),
    ] {
        shelf.put(path, text);
    }
    shelf
}

fn asked(index: &Index, query: &str, embedder: &dyn Embedder) -> (Vec<Hit>, VectorOutcome) {
    let mut answer = index.search(&Request::new(query, NOW), &[embedder]).unwrap();
    assert!(answer.rankers.lexical);
    let ranker = answer.rankers.vectors.pop().unwrap();
    assert!(answer.rankers.vectors.is_empty() && ranker.identity == *embedder.identity());
    (answer.hits, ranker.outcome)
}

fn used(chunks: u64, missing: u64) -> VectorOutcome {
    VectorOutcome::Used { chunks, missing }
}

#[test]
fn vectors_find_what_words_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = refreshed(folder.path(), &shelf());
    let bag = Bag::new();
    assert_eq!(asked(&index, "doctor", &bag).1, VectorOutcome::NoVectors);
    let done = index.embed(&bag, Replace::No, &NoProgress).unwrap();
    assert_eq!((done.chunks, done.texts, done.known), (4, 6, 0));
    assert_eq!(bag.texts(), 6);
    for (query, path) in
        [("automobile", "memory/2026-01-01.md"), ("physician", "memory/2026-01-02.md")]
    {
        let words = index.search(&Request::new(query, NOW), &[]).unwrap();
        assert_eq!((words.hits.len(), words.rankers.vectors.len()), (0, 0), "{query}");
        let (hits, ranker) = asked(&index, query, &bag);
        assert_eq!(ranker, used(4, 0));
        assert_eq!(hits.first().map(|hit| hit.path.as_str()), Some(path), "{query}");
    }
    // Nothing is left to do.
    let before = bag.texts();
    let done = index.embed(&bag, Replace::No, &NoProgress).unwrap();
    assert_eq!((done.chunks, done.texts, bag.texts()), (0, 0, before));
}

#[test]
fn what_was_embedded_once_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = shelf();
    let bag = Bag::new();
    let mut index = refreshed(folder.path(), &shelf);
    index.embed(&bag, Replace::No, &NoProgress).unwrap();
    let wanted = asked(&index, "automobile", &bag);
    index.clear();
    index.refresh(&[&shelf], NOW, &NoProgress).unwrap();
    assert_eq!(asked(&index, "automobile", &bag).1, VectorOutcome::NoVectors);
    let before = bag.texts();
    let done = index.embed(&bag, Replace::No, &NoProgress).unwrap();
    assert_eq!((done.chunks, done.texts, done.known), (4, 0, 6));
    assert_eq!(bag.texts(), before);
    assert_eq!(asked(&index, "automobile", &bag), wanted);
}

#[test]
fn a_changed_document_lacks_vectors_until_they_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = shelf();
    let bag = Bag::new();
    drop({
        let mut index = refreshed(folder.path(), &shelf);
        index.embed(&bag, Replace::No, &NoProgress).unwrap();
        index
    });
    shelf.put("memory/2026-01-03.md", "- We planted beans and sold the second car.\n");
    let mut index = refreshed(folder.path(), &shelf);
    let (hits, ranker) = asked(&index, "automobile", &bag);
    assert_eq!(ranker, used(3, 1));
    assert_eq!(hits.first().map(|hit| hit.path.as_str()), Some("memory/2026-01-01.md"));
    let done = index.embed(&bag, Replace::No, &NoProgress).unwrap();
    assert_eq!((done.chunks, done.texts), (1, 1));
    let (hits, ranker) = asked(&index, "automobile", &bag);
    assert_eq!(ranker, used(4, 0));
    assert!(hits.iter().any(|hit| hit.path == "memory/2026-01-03.md"));
    // And one that is gone is not counted.
    shelf.remove("memory/2026-01-03.md");
    index.refresh(&[&shelf], NOW, &NoProgress).unwrap();
    assert_eq!(asked(&index, "automobile", &bag).1, used(3, 0));
}

#[test]
fn an_embedder_that_fails_takes_its_leg_and_not_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = refreshed(folder.path(), &shelf());
    index.embed(&Bag::new(), Replace::No, &NoProgress).unwrap();
    let words = index.search(&Request::new("router", NOW), &[]).unwrap().hits;
    assert_eq!(words.first().map(|hit| hit.path.as_str()), Some("memory/2026-01-04.md"));
    let (hits, ranker) = asked(&index, "router", &Bag::with(Fault::Fails));
    assert_eq!(hits, words);
    let VectorOutcome::Failed(message) = ranker else { panic!("{ranker:?}") };
    assert!(message.ends_with("the line is dead"), "{message}");
    for fault in [Fault::TooShort, Fault::NoNumber, Fault::TooFew] {
        let (hits, ranker) = asked(&index, "router", &Bag::with(fault));
        assert!(matches!(ranker, VectorOutcome::Failed(_)), "{ranker:?}");
        assert_eq!(hits, words);
    }
}

#[test]
fn vectors_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = refreshed(folder.path(), &shelf());
    for fault in [Fault::TooShort, Fault::NoNumber, Fault::TooFew] {
        let error = index.embed(&Bag::with(fault), Replace::No, &NoProgress).unwrap_err();
        let unusable = EmbedError::Unusable { provider: String::new(), found: "" };
        let EmbeddingError::Embedder { source: found, .. } = error else { panic!("{error}") };
        assert_eq!(std::mem::discriminant(&found), std::mem::discriminant(&unusable));
    }
    let error = index.embed(&Bag::with(Fault::Fails), Replace::No, &NoProgress).unwrap_err();
    assert!(matches!(error, EmbeddingError::Embedder { source: EmbedError::Failed { .. }, .. }));
    // None of it was kept.
    let bag = Bag::new();
    assert_eq!(asked(&index, "router", &bag).1, VectorOutcome::NoVectors);
    assert_eq!(index.embed(&bag, Replace::No, &NoProgress).unwrap().texts, 6);
}

#[test]
fn filters_hold_for_vectors() {
    let shelf = shelf();
    for at in 0..300 {
        shelf.put(&format!("cars/{at:03}.md"), &format!("The car of neighbour {at}.\n"));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut index = refreshed(folder.path(), &shelf);
    let bag = Bag::new();
    index.embed(&bag, Replace::No, &NoProgress).unwrap();
    let mut request = Request::new("automobile", NOW);
    request.paths = vec!["memory".to_owned()];
    let hits = index.search(&request, &[&bag]).unwrap().hits;
    assert_eq!(hits.first().map(|hit| hit.path.as_str()), Some("memory/2026-01-01.md"));
    assert!(hits.iter().all(|hit| hit.path.starts_with("memory/")));
    request.paths.clear();
    request.since = Some(jiff::civil::date(2026, 1, 1));
    let hits = index.search(&request, &[&bag]).unwrap().hits;
    assert_eq!(hits.first().map(|hit| hit.path.as_str()), Some("memory/2026-01-01.md"));
    assert!(hits.iter().all(|hit| hit.date.is_some()));
    request.since = Some(jiff::civil::date(2030, 1, 1));
    assert_eq!(index.search(&request, &[&bag]).unwrap().hits, []);
}

fn outcomes(index: &Index, query: &str, embedders: &[&dyn Embedder]) -> Vec<VectorOutcome> {
    let answer = index.search(&Request::new(query, NOW), embedders).unwrap();
    answer.rankers.vectors.into_iter().map(|vector| vector.outcome).collect()
}

#[test]
fn a_table_is_filled_without_a_cache_and_only_where_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = shelf();
    let static_model = Bag::static_model();
    let mut index = refreshed(folder.path(), &shelf);
    let done = index.embed(&static_model, Replace::No, &NoProgress).unwrap();
    assert_eq!((done.chunks, done.texts, done.known), (4, 6, 0));
    assert!(!folder.path().join("embeddings.sqlite").exists());
    let (hits, ranker) = asked(&index, "automobile", &static_model);
    assert_eq!((hits[0].path.as_str(), ranker), ("memory/2026-01-01.md", used(4, 0)));
    shelf.put("memory/2026-01-03.md", "- We sold the second car.\n");
    index.refresh(&[&shelf], NOW, &NoProgress).unwrap();
    assert_eq!(asked(&index, "automobile", &static_model).1, used(3, 1));
    assert_eq!(index.embed(&static_model, Replace::No, &NoProgress).unwrap().texts, 1);
    assert_eq!(asked(&index, "automobile", &static_model).1, used(4, 0));
    // A new static model replaces the old one silently.
    let mut newer = Bag::named("table 2");
    newer.effort = Effort::Trivial;
    assert_eq!(index.embed(&newer, Replace::No, &NoProgress).unwrap().texts, 6);
    assert_eq!(asked(&index, "automobile", &static_model).1, VectorOutcome::NoVectors);
}

#[test]
fn the_next_embedder_covers_what_the_first_has_not() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = shelf();
    let (bag, static_model) = (Bag::new(), Bag::static_model());
    let mut index = refreshed(folder.path(), &shelf);
    index.embed(&static_model, Replace::No, &NoProgress).unwrap();
    index.embed(&bag, Replace::No, &NoProgress).unwrap();
    let both: [&dyn Embedder; 2] = [&bag, &static_model];
    let before = static_model.texts();
    assert_eq!(outcomes(&index, "automobile", &both), [used(4, 0), VectorOutcome::Spare]);
    assert_eq!(static_model.texts(), before);
    shelf.put("memory/2026-01-05.md", "- The neighbours have a new car.\n");
    index.refresh(&[&shelf], NOW, &NoProgress).unwrap();
    index.embed(&static_model, Replace::No, &NoProgress).unwrap();
    assert_eq!(outcomes(&index, "automobile", &both), [used(4, 1), used(5, 0)]);
    let hits = index.search(&Request::new("automobile", NOW), &both).unwrap().hits;
    let paths: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
    assert!(paths.contains(&"memory/2026-01-01.md") && paths.contains(&"memory/2026-01-05.md"));
    let sets = index.vector_sets().unwrap();
    let sets: Vec<_> =
        sets.iter().map(|set| (set.identity.model.as_str(), set.chunks, set.missing)).collect();
    assert_eq!(sets, [("table", 5, 0), ("bag", 4, 1)]);
}

#[test]
fn the_next_embedder_takes_over_when_the_first_fails() {
    let folder = tempfile::tempdir().unwrap();
    let static_model = Bag::static_model();
    let mut index = refreshed(folder.path(), &shelf());
    index.embed(&static_model, Replace::No, &NoProgress).unwrap();
    index.embed(&Bag::new(), Replace::No, &NoProgress).unwrap();
    let wanted = asked(&index, "automobile", &static_model).0;
    let broken = Bag::with(Fault::Fails);
    let both: [&dyn Embedder; 2] = [&broken, &static_model];
    let answer = index.search(&Request::new("automobile", NOW), &both).unwrap();
    assert_eq!(answer.hits, wanted);
    assert!(matches!(answer.rankers.vectors[0].outcome, VectorOutcome::Failed(_)));
    assert_eq!(answer.rankers.vectors[1].outcome, used(4, 0));
}

#[test]
fn vectors_of_another_model_go_only_when_somebody_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new, static_model) = (Bag::new(), Bag::named("other"), Bag::static_model());
    let mut index = refreshed(folder.path(), &shelf());
    index.embed(&static_model, Replace::No, &NoProgress).unwrap();
    index.embed(&old, Replace::No, &NoProgress).unwrap();
    for error in [
        index.embed(&new, Replace::No, &NoProgress).unwrap_err(),
        index.embed_missing(&new, 9).unwrap_err(),
    ] {
        let EmbeddingError::OtherModel(there) = error else { panic!("{error}") };
        assert_eq!(there, old.identity);
    }
    assert_eq!(new.texts(), 0);
    let other = VectorOutcome::OtherModel(old.identity.clone());
    assert_eq!(outcomes(&index, "automobile", &[&new, &static_model]), [other, used(4, 0)]);
    // An embedder that fails before it has returned any leaves the old ones.
    new.fault.store(Fault::Fails as u8, Ordering::Relaxed);
    index.embed(&new, Replace::Yes, &NoProgress).unwrap_err();
    assert_eq!(asked(&index, "automobile", &old).1, used(4, 0));
    new.fault.store(Fault::None as u8, Ordering::Relaxed);
    index.embed(&new, Replace::Yes, &NoProgress).unwrap();
    assert_eq!(asked(&index, "automobile", &new).1, used(4, 0));
    let other = VectorOutcome::OtherModel(new.identity.clone());
    assert_eq!(outcomes(&index, "automobile", &[&old, &static_model]), [other, used(4, 0)]);
}

#[test]
fn what_was_made_before_an_error_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = refreshed(folder.path(), &shelf());
    let bag = Bag::failing_after(2);
    let error = index.embed(&bag, Replace::No, &NoProgress).unwrap_err();
    let EmbeddingError::Embedder { done, .. } = error else { panic!("{error}") };
    // Two requests of two texts: the two chunks with two blocks each.
    assert_eq!((done.chunks, done.texts), (2, 4));
    let bag = Bag::new();
    let left = index.unembedded(&bag.identity).unwrap();
    let characters = "We planted beans and peas.".len() + "The router hangs in the hall.".len();
    assert_eq!((left.chunks, left.texts, left.known), (2, 2, 0));
    assert!(left.characters >= characters as u64, "{left:?}");
    let done = index.embed(&bag, Replace::No, &NoProgress).unwrap();
    assert_eq!((done.chunks, done.texts, bag.texts()), (2, 2, 2));
    assert_eq!(index.unembedded(&bag.identity).unwrap().chunks, 0);
}

#[test]
fn a_small_gap_is_filled_up_to_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = refreshed(folder.path(), &shelf());
    let bag = Bag::new();
    // Three texts are one and a half chunks.
    let done = index.embed_missing(&bag, 3).unwrap();
    assert_eq!((done.chunks, done.texts), (1, 3));
    assert_eq!(asked(&index, "automobile", &bag).1, used(1, 3));
    let left = index.unembedded(&bag.identity).unwrap();
    assert_eq!((left.chunks, left.texts, left.known), (3, 3, 1));
    let done = index.embed_missing(&bag, 64).unwrap();
    assert_eq!((done.chunks, done.texts, done.known), (3, 3, 1));
}

/// A source that only has vectors.
struct Carrier(Vec<CarriedVector>);

impl DocumentSource for Carrier {
    fn identity(&self) -> String {
        "carrier".to_owned()
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
        Ok(())
    }
}

#[test]
fn carried_vectors_are_taken_for_the_very_same_text() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = Shelf::default();
    shelf.put("a.md", "The red car stands in the yard.");
    shelf.put("b.md", "Bread is on the table.");
    shelf.put("c.md", "Nobody was at home.");
    let mut index = refreshed(folder.path(), &shelf);
    let bag = Bag::new();
    let carried = CarriedVector::of;
    let all = vec![
        carried("The red car stands in the yard.", vector("The red car stands in the yard.")),
        CarriedVector::of_digest([7; 32], vector("Bread is on the table.")),
        carried("Bread is on the table", vector("Bread is on the table.")),
        carried("Bread is on the table.", vec![1.0; 3]),
        carried("Bread is on the table.", vec![f32::NAN; DIMENSIONS]),
        carried("Nobody was at home.", vec![0.0; DIMENSIONS]),
    ];
    assert_eq!(index.take_carried(&bag.identity, &[&Carrier(all)]).unwrap().taken, 1);
    let done = index.embed(&bag, Replace::No, &NoProgress).unwrap();
    assert_eq!((done.chunks, done.texts, done.known), (3, 2, 1));
    assert_eq!(asked(&index, "automobile", &bag).0[0].path, "a.md");
}

#[test]
fn blanks_around_a_text_are_none_of_it_and_a_digest_stands_for_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = Shelf::default();
    shelf.put("a.md", "The red car stands in the yard.");
    shelf.put("b.md", "Bread is on the table.");
    let mut index = refreshed(folder.path(), &shelf);
    let bag = Bag::new();
    let digest = Sha256::digest("Bread is on the table.").into();
    let all = vec![
        CarriedVector::of("\nThe red car stands in the yard.\n\n", vector("car")),
        CarriedVector::of_digest(digest, vector("bread")),
    ];
    assert_eq!(index.take_carried(&bag.identity, &[&Carrier(all)]).unwrap().taken, 2);
    let done = index.embed(&bag, Replace::No, &NoProgress).unwrap();
    assert_eq!((done.texts, done.known), (0, 2));
}

#[test]
fn the_order_depends_on_the_documents_alone() {
    let all: Vec<anemone_testkit::notes::GeneratedNote> =
        anemone_testkit::notes::notes(5).take(SlowGroup::Laws.pick(16, 40)).collect();
    let (bag, static_model) = (Bag::new(), Bag::static_model());
    let both: [&dyn Embedder; 2] = [&bag, &static_model];
    let answers = |index: &Index| -> Vec<Vec<(String, u64)>> {
        let questions = all.iter().map(|note| note.question.clone());
        let found = |question: String| {
            let hits = index.search(&Request::new(question, NOW), &both).unwrap().hits;
            hits.iter().map(|hit| (hit.citation(), hit.score.to_bits())).collect()
        };
        questions
            .chain(["automobile".to_owned(), "physician at home".to_owned()])
            .map(found)
            .collect()
    };
    let filled = |index: &mut Index| {
        index.embed(&static_model, Replace::No, &NoProgress).unwrap();
        index.embed(&bag, Replace::No, &NoProgress).unwrap();
    };
    let folder = tempfile::tempdir().unwrap();
    let shelf = Shelf::default();
    all.iter().for_each(|note| shelf.put(&note.path, &note.markdown));
    let mut whole = refreshed(&folder.path().join("whole"), &shelf);
    filled(&mut whole);
    let wanted = answers(&whole);
    // Built from the end, with an intermediate version now and then.
    let shelf = Shelf::default();
    let place = folder.path().join("grown");
    let mut grown = refreshed(&place, &shelf);
    for (at, note) in all.iter().rev().enumerate() {
        let text =
            if at % 8 == 3 { "- The physician sold the automobile.\n" } else { &note.markdown };
        shelf.put(&note.path, text);
        if at % 8 == 3 {
            grown.refresh(&[&shelf], NOW, &NoProgress).unwrap();
            filled(&mut grown);
            shelf.put(&note.path, &note.markdown);
        }
    }
    grown.refresh(&[&shelf], NOW, &NoProgress).unwrap();
    filled(&mut grown);
    assert_eq!(answers(&grown), wanted);
    grown.clear();
    grown.refresh(&[&shelf], NOW, &NoProgress).unwrap();
    filled(&mut grown);
    assert_eq!(answers(&grown), wanted);
}
