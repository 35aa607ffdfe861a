//! What holds for the vectors of an index: they are made once, they add to words and never take
//! from them, and an embedder that fails or lies costs its own leg alone.

#![expect(clippy::unwrap_used, reason = "what does not hold in a test may panic")]

#[expect(dead_code, reason = "only the shelf is needed")]
mod common;

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use anemone_embed::{EmbedError, Embedder, Identity, Purpose};
use anemone_index::{EmbeddingError, Hit, Index, Request, Silent, VectorLeg};
use common::{NOW, Shelf, refreshed};
use sha2::{Digest as _, Sha256};

const DIMENSIONS: usize = 64;

/// Words of which each pair is one to the embedder, so that vectors find what words do not.
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
    identity: Identity,
    texts: AtomicUsize,
    fault: AtomicU8,
}

impl Bag {
    fn new() -> Self {
        let (provider, model) = ("test".to_owned(), "bag".to_owned());
        let identity = Identity { provider, model, dimensions: DIMENSIONS };
        Self { identity, texts: AtomicUsize::new(0), fault: AtomicU8::new(Fault::None as u8) }
    }

    fn with(fault: Fault) -> Self {
        let bag = Self::new();
        bag.fault.store(fault as u8, Ordering::Relaxed);
        bag
    }

    /// Texts that it was handed so far.
    fn texts(&self) -> usize {
        self.texts.load(Ordering::Relaxed)
    }
}

fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0_f32; DIMENSIONS];
    let text = text.to_lowercase();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty()) {
        let same = SAME.iter().find(|it| it.0 == word);
        let hash = Sha256::digest(same.map_or(word, |it| it.1).as_bytes());
        let sign = if hash[1] & 1 == 1 { 1.0 } else { -1.0 };
        vector[usize::from(hash[0]) % DIMENSIONS] += sign;
    }
    let length = vector.iter().map(|it| it * it).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|it| *it /= length);
    }
    vector
}

impl Embedder for Bag {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn embed(&self, texts: &[&str], _purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.texts.fetch_add(texts.len(), Ordering::Relaxed);
        let mut vectors: Vec<Vec<f32>> = texts.iter().map(|it| vector(it)).collect();
        match self.fault.load(Ordering::Relaxed) {
            it if it == Fault::Fails as u8 => {
                let source = std::io::Error::other("the line is dead").into();
                return Err(EmbedError::Failed { provider: "test".to_owned(), source });
            }
            it if it == Fault::TooShort as u8 => vectors.iter_mut().for_each(|it| it.truncate(3)),
            it if it == Fault::NoNumber as u8 => vectors.iter_mut().for_each(|it| it[0] = f32::NAN),
            it if it == Fault::TooFew as u8 => drop(vectors.pop()),
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

fn asked(index: &Index, query: &str, embedder: &dyn Embedder) -> (Vec<Hit>, VectorLeg) {
    let answer = index.search(&Request::new(query, NOW), Some(embedder)).unwrap();
    assert!(answer.legs.lexical);
    (answer.hits, answer.legs.vector)
}

fn used(chunks: u64, missing: u64) -> VectorLeg {
    VectorLeg::Used { model: "bag".to_owned(), chunks, missing }
}

#[test]
fn vectors_find_what_words_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = refreshed(folder.path(), &shelf());
    let bag = Bag::new();
    assert_eq!(asked(&index, "doctor", &bag).1, VectorLeg::NoVectors);
    let done = index.embed(&bag, &Silent).unwrap();
    assert_eq!((done.chunks, done.texts, done.known), (4, 6, 0));
    assert_eq!(bag.texts(), 6);
    for (query, path) in
        [("automobile", "memory/2026-01-01.md"), ("physician", "memory/2026-01-02.md")]
    {
        let words = index.search(&Request::new(query, NOW), None).unwrap();
        assert_eq!((words.hits.len(), words.legs.vector), (0, VectorLeg::NoEmbedder), "{query}");
        let (hits, leg) = asked(&index, query, &bag);
        assert_eq!(leg, used(4, 0));
        assert_eq!(hits.first().map(|it| it.path.as_str()), Some(path), "{query}");
    }
    // Nothing is left to do.
    let before = bag.texts();
    let done = index.embed(&bag, &Silent).unwrap();
    assert_eq!((done.chunks, done.texts, bag.texts()), (0, 0, before));
}

#[test]
fn what_was_embedded_once_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = shelf();
    let bag = Bag::new();
    let mut index = refreshed(folder.path(), &shelf);
    index.embed(&bag, &Silent).unwrap();
    let wanted = asked(&index, "automobile", &bag);
    index.clear();
    index.refresh(&[&shelf], NOW, &Silent).unwrap();
    assert_eq!(asked(&index, "automobile", &bag).1, VectorLeg::NoVectors);
    let before = bag.texts();
    let done = index.embed(&bag, &Silent).unwrap();
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
        index.embed(&bag, &Silent).unwrap();
        index
    });
    shelf.put("memory/2026-01-03.md", "- We planted beans and sold the second car.\n");
    let mut index = refreshed(folder.path(), &shelf);
    let (hits, leg) = asked(&index, "automobile", &bag);
    assert_eq!(leg, used(3, 1));
    assert_eq!(hits.first().map(|it| it.path.as_str()), Some("memory/2026-01-01.md"));
    let done = index.embed(&bag, &Silent).unwrap();
    assert_eq!((done.chunks, done.texts), (1, 1));
    let (hits, leg) = asked(&index, "automobile", &bag);
    assert_eq!(leg, used(4, 0));
    assert!(hits.iter().any(|it| it.path == "memory/2026-01-03.md"));
    // And one that is gone is not counted.
    shelf.remove("memory/2026-01-03.md");
    index.refresh(&[&shelf], NOW, &Silent).unwrap();
    assert_eq!(asked(&index, "automobile", &bag).1, used(3, 0));
}

#[test]
fn an_embedder_that_fails_takes_its_leg_and_not_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = refreshed(folder.path(), &shelf());
    index.embed(&Bag::new(), &Silent).unwrap();
    let words = index.search(&Request::new("router", NOW), None).unwrap().hits;
    assert_eq!(words.first().map(|it| it.path.as_str()), Some("memory/2026-01-04.md"));
    let (hits, leg) = asked(&index, "router", &Bag::with(Fault::Fails));
    assert_eq!(hits, words);
    let VectorLeg::Failed { message } = leg else { panic!("{leg:?}") };
    assert!(message.ends_with("the line is dead"), "{message}");
    for fault in [Fault::TooShort, Fault::NoNumber, Fault::TooFew] {
        let (hits, leg) = asked(&index, "router", &Bag::with(fault));
        assert!(matches!(leg, VectorLeg::Failed { .. }), "{leg:?}");
        assert_eq!(hits, words);
    }
}

#[test]
fn vectors_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = refreshed(folder.path(), &shelf());
    for fault in [Fault::TooShort, Fault::NoNumber, Fault::TooFew] {
        let error = index.embed(&Bag::with(fault), &Silent).unwrap_err();
        let unusable = EmbedError::Unusable { provider: String::new(), found: "" };
        let EmbeddingError::Embedder(found) = error else { panic!("{error}") };
        assert_eq!(std::mem::discriminant(&found), std::mem::discriminant(&unusable));
    }
    let error = index.embed(&Bag::with(Fault::Fails), &Silent).unwrap_err();
    assert!(matches!(error, EmbeddingError::Embedder(EmbedError::Failed { .. })));
    // Nothing of it was kept.
    let bag = Bag::new();
    assert_eq!(asked(&index, "router", &bag).1, VectorLeg::NoVectors);
    assert_eq!(index.embed(&bag, &Silent).unwrap().texts, 6);
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
    index.embed(&bag, &Silent).unwrap();
    let mut request = Request::new("automobile", NOW);
    request.paths = vec!["memory".to_owned()];
    let hits = index.search(&request, Some(&bag)).unwrap().hits;
    assert_eq!(hits.first().map(|it| it.path.as_str()), Some("memory/2026-01-01.md"));
    assert!(hits.iter().all(|it| it.path.starts_with("memory/")));
    request.paths.clear();
    request.since = Some(jiff::civil::date(2026, 1, 1));
    let hits = index.search(&request, Some(&bag)).unwrap().hits;
    assert_eq!(hits.first().map(|it| it.path.as_str()), Some("memory/2026-01-01.md"));
    assert!(hits.iter().all(|it| it.date.is_some()));
    request.since = Some(jiff::civil::date(2030, 1, 1));
    assert_eq!(index.search(&request, Some(&bag)).unwrap().hits, []);
}
