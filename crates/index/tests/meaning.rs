//! Laws for the order that results from vectors and words together.

#![expect(clippy::unwrap_used, reason = "what does not hold in a test may panic")]

#[expect(dead_code, reason = "only the shelf is needed")]
mod common;

use anemone_embed::{Builtin, Effort, EmbedError, Embedder, ModelIdentity, Purpose};
use anemone_index::{AnswerNote, Hit, Index, NoProgress, Replace, Request};
use common::{NOW, Shelf, refreshed};

const DIMENSIONS: usize = 32;
/// Words with the same meaning.
const SAME: &[&str] = &["car", "automobile"];

/// A bag of words by their letters, with a share that all texts have in common.
struct Bag {
    identity: ModelIdentity,
    common: f32,
}

impl Bag {
    fn new(common: f32) -> Self {
        let (provider, model) = ("test".to_owned(), format!("bag {common}"));
        Self { identity: ModelIdentity { provider, model, dimensions: DIMENSIONS }, common }
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0_f32; DIMENSIONS];
        let text = text.to_lowercase();
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let word = if SAME.contains(&word) { SAME[0] } else { word };
            let mixed =
                word.bytes().fold(7_usize, |sum, byte| sum * 31 % 1_009 + usize::from(byte));
            vector[1 + mixed % (DIMENSIONS - 1)] += 1.0;
        }
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        vector
            .iter_mut()
            .for_each(|number| *number *= (1.0 - self.common).sqrt() / length.max(1e-9));
        vector[0] = self.common.sqrt();
        vector
    }
}

impl Embedder for Bag {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn effort(&self) -> Effort {
        Effort::Work
    }

    fn embed(&self, texts: &[&str], _purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

/// Sixty notes, one of which is about a car.
fn shelf() -> Shelf {
    let shelf = Shelf::default();
    let things = ["bread", "router", "garden", "window", "doctor", "letter", "bicycle", "harbour"];
    let does = ["waits", "was broken", "came back", "needs care", "is forgotten"];
    for at in 0..60 {
        let (thing, what) = (things[at % things.len()], does[at % does.len()]);
        let line = format!("- The {thing} {what} until week {at}.\n");
        shelf.put(&format!("memory/note-{at:02}.md"), &line);
    }
    shelf.put("memory/yard.md", "- A red car stands outside.\n");
    shelf
}

fn asked(index: &Index, query: &str, embedders: &[&dyn Embedder]) -> Vec<Hit> {
    let mut request = Request::new(query, NOW);
    (request.limit, request.explain) = (20, true);
    index.search(&request, embedders).unwrap().hits
}

fn part(hit: &Hit, name: &str) -> Option<f64> {
    let parts = &hit.explanation.as_ref().unwrap().parts;
    parts.iter().find(|&&(part, _)| part == name).map(|&(_, value)| value)
}

#[test]
fn what_all_texts_have_in_common_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = refreshed(folder.path(), &shelf());
    for common in [0.0, 0.5, 0.8] {
        let bag = Bag::new(common);
        index.embed(&bag, Replace::Yes, &NoProgress).unwrap();
        let hits = asked(&index, "which automobile is red", &[&bag]);
        assert_eq!(hits[0].path, "memory/yard.md", "{common}");
        // The words of another note outweigh a vector that is near to nothing.
        let hits = asked(&index, "harbour forgotten until week 39", &[&bag]);
        assert_eq!(hits[0].path, "memory/note-39.md", "{common}");
        assert!(part(&hits[0], "cosine").unwrap() >= f64::from(common) - 0.01, "{common}");
    }
}

#[test]
fn a_model_that_tells_nothing_apart_changes_no_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = refreshed(folder.path(), &shelf());
    let blind = Bag::new(1.0);
    index.embed(&blind, Replace::No, &NoProgress).unwrap();
    for query in ["the garden needs care", "letter came back until week", "router broken"] {
        let words = asked(&index, query, &[]);
        let both = asked(&index, query, &[&blind]);
        let paths = |hits: &[Hit]| hits.iter().map(Hit::citation).collect::<Vec<_>>();
        assert!(!words.is_empty(), "{query}");
        assert_eq!(paths(&both)[..words.len()], paths(&words), "{query}");
    }
}

#[test]
fn an_explanation_says_what_the_vector_added() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = refreshed(folder.path(), &shelf());
    let bag = Bag::new(0.3);
    index.embed(&bag, Replace::No, &NoProgress).unwrap();
    let hits = asked(&index, "which automobile is red", &[&bag]);
    let best = &hits[0];
    let vector = part(best, "vector").unwrap();
    assert!(vector > 0.0 && part(best, "distinction").unwrap() > 2.0);
    assert!(((part(best, "lexical").unwrap() + vector).tanh() - best.score).abs() < 1e-9);
    let words = asked(&index, "which red", &[]);
    assert_eq!(
        (part(&words[0], "vector"), part(&words[0], "lexical").map(f64::tanh)),
        (None, Some(words[0].score))
    );
}

#[test]
fn letters_that_no_vocabulary_has_find_only_what_stands_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = refreshed(folder.path(), &shelf());
    // This model says nothing about what it can read; the static one has a vocabulary.
    let (bag, table) = (Bag::new(0.3), Builtin::new());
    index.embed(&bag, Replace::Yes, &NoProgress).unwrap();
    let mut withheld = 0;
    for query in ["zzzqqq", "asdkjh qwpoei zmxncb", "hjkl yuiop", "flurbish nagdole wembrit"] {
        let doubtful = asked(&index, query, &[&bag, &table]);
        assert!(doubtful.iter().all(|hit| hit.score >= 0.2355), "{query}: {doubtful:?}");
        let unknown = asked(&index, query, &[&bag]);
        assert!(unknown.first().is_none_or(|hit| hit.score >= 0.18), "{query}");
        let mut all = Request::new(query, NOW);
        (all.limit, all.min_score) = (100, Some(0.0));
        let all = index.search(&all, &[&bag, &table]).unwrap();
        assert!(all.hits.len() > doubtful.len(), "{query}");
        if doubtful.is_empty() {
            let answer = index.search(&Request::new(query, NOW), &[&bag, &table]).unwrap();
            let count = answer.notes.iter().find_map(|note| match note {
                AnswerNote::TooWeak { count } => Some(*count),
                _ => None,
            });
            assert!(count.unwrap() >= 60, "{query}: {count:?}");
            withheld += 1;
        }
    }
    assert!(withheld > 0);
    let known = asked(&index, "which automobile is red", &[&bag, &table]);
    assert_eq!(known[0].path, "memory/yard.md");
}
