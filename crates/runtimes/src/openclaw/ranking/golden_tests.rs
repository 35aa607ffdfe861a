//! What the real programs answered: `tests/golden` has the corpus, their chunks and their hits.
//!
//! The vectors are hashed bags of words, 64 numbers each, computed by the same rule in both
//! programs.

use anemone_embed::{Effort, EmbedError, Embedder, ModelIdentity, Purpose};
use anemone_index::{Document, RankingProfile, Request, TextVectors, embed_texts};
use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::chunks::OpenClawChunk;
use super::corpus::Corpus;
use super::{MARCH as MARCH_PROFILE, MIN_SCORE, SEPTEMBER as SEPTEMBER_PROFILE};
use super::{SelectedChunk, keywords, march, score_of_rank, script, september};

const SEPTEMBER: &str = include_str!("../../../tests/golden/openclaw-2026.9.json");
const MARCH: &str = include_str!("../../../tests/golden/openclaw-2026.3.json");

/// A hashed bag of words.
pub(super) struct Bag(ModelIdentity);

impl Bag {
    pub(super) fn new() -> Self {
        Self(ModelIdentity { provider: "test".to_owned(), model: "bag".to_owned(), dimensions: 64 })
    }
}

impl Embedder for Bag {
    fn identity(&self) -> &ModelIdentity {
        &self.0
    }

    fn effort(&self) -> Effort {
        Effort::Work
    }

    fn embed(&self, texts: &[&str], _purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| bag(text)).collect())
    }
}

fn bag(text: &str) -> Vec<f32> {
    let pattern = regex::Regex::new("[a-z0-9_]+|[\u{4e00}-\u{9fff}]").unwrap();
    let mut sums = [0.0_f64; 64];
    for word in pattern.find_iter(&text.to_lowercase()) {
        let hash = Sha256::digest(word.as_str().as_bytes());
        sums[usize::from(hash[0] % 64)] += if hash[1] & 1 == 1 { 1.0 } else { -1.0 };
    }
    let norm = sums.iter().map(|x| x * x).sum::<f64>().sqrt();
    let norm = if norm == 0.0 { 1.0 } else { norm };
    #[expect(clippy::cast_possible_truncation, reason = "vectors have 32 bits")]
    sums.iter().map(|x| (x / norm) as f32).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn line(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

fn items<'a>(golden: &'a Value, name: &str) -> &'a [Value] {
    golden[name].as_array().unwrap()
}

/// The documents of a run; their texts are not needed where chunks are given.
fn documents(golden: &Value) -> Vec<Document> {
    let mut paths: Vec<&str> =
        items(golden, "chunks").iter().map(|chunk| text(&chunk[0])).collect();
    paths.dedup();
    paths.iter().map(|path| Document { path: (*path).to_owned(), ..Document::default() }).collect()
}

/// The corpus as the real program had it in its database.
fn corpus<'a>(golden: &Value, documents: &'a [Document]) -> Corpus<'a> {
    let chunks = items(golden, "chunks").iter().map(|chunk| {
        let at = documents.iter().position(|document| document.path == text(&chunk[0])).unwrap();
        let chunk = OpenClawChunk {
            start_line: line(&chunk[1]),
            end_line: line(&chunk[2]),
            text: text(&chunk[3]).to_owned(),
            hash: String::new(),
            importance: chunk[4].as_u64().map(|of_ten| u8::try_from(of_ten).unwrap()),
            project: chunk[5].as_str().map(str::to_owned),
        };
        (at, chunk)
    });
    Corpus::of_chunks(documents, chunks, "bag").unwrap()
}

fn vectors_of(corpus: &Corpus<'_>, query: &str) -> TextVectors {
    let texts = corpus.chunks.iter().map(|chunk| chunk.text.as_str());
    embed_texts(Some(&Bag::new()), query, texts).0.unwrap()
}

/// The settings of the golden runs.
fn usual() -> march::Settings {
    march::Settings::of(&Request::new("", Timestamp::UNIX_EPOCH), score_of_rank)
}

/// Compares hits one by one; where a golden score is absent it was not reported.
fn assert_hits(corpus: &Corpus<'_>, found: &[SelectedChunk], golden: &Value, precision: f64) {
    let show = |found: &[SelectedChunk]| {
        let lines = found.iter().map(|entry| {
            let (document, chunk) = (corpus.document_of(entry.chunk), &corpus.chunks[entry.chunk]);
            format!("{}:{}-{} {entry:?}", document.path, chunk.start_line, chunk.end_line)
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    let query = text(&golden["query"]);
    let hits = golden["hits"].as_array().unwrap();
    assert_eq!(found.len(), hits.len(), "{query}\n{}", show(found));
    for (entry, hit) in found.iter().zip(hits) {
        let chunk = &corpus.chunks[entry.chunk];
        let place =
            (corpus.document_of(entry.chunk).path.as_str(), chunk.start_line, chunk.end_line);
        assert_eq!(
            place,
            (text(&hit[0]), line(&hit[1]), line(&hit[2])),
            "{query}\n{}",
            show(found)
        );
        for (ours, theirs) in [
            (entry.score, hit[3].as_f64()),
            (entry.text, hit[4].as_f64()),
            (entry.vector.unwrap_or(0.0), hit[5].as_f64()),
        ] {
            let Some(theirs) = theirs else { continue };
            let near = (ours - theirs).abs() <= precision * theirs.abs().max(1e-3);
            assert!(near, "{query}: {ours} is not {theirs}\n{}", show(found));
        }
    }
}

#[test]
fn september_finds_by_words_what_the_real_one_finds() {
    let golden: Value = serde_json::from_str(SEPTEMBER).unwrap();
    let documents = documents(&golden);
    let corpus = corpus(&golden, &documents);
    let now: Timestamp = text(&golden["now"]).parse().unwrap();
    for expected in items(&golden, "keyword") {
        let query = script::trimmed(text(&expected["query"]));
        let found = september::search(&corpus, query, 6, MIN_SCORE, now, None);
        assert_hits(&corpus, &found, expected, 1e-9);
    }
}

#[test]
fn september_finds_by_words_and_vectors_what_the_real_one_finds() {
    let golden: Value = serde_json::from_str(SEPTEMBER).unwrap();
    let documents = documents(&golden);
    let corpus = corpus(&golden, &documents);
    let now: Timestamp = text(&golden["now"]).parse().unwrap();
    for expected in items(&golden, "hybrid") {
        let query = script::trimmed(text(&expected["query"]));
        let vectors = vectors_of(&corpus, query);
        let found = september::search(&corpus, query, 6, MIN_SCORE, now, Some(&vectors));
        assert_hits(&corpus, &found, expected, 1e-9);
    }
}

#[test]
fn march_finds_by_words_what_the_real_one_finds() {
    let golden: Value = serde_json::from_str(MARCH).unwrap();
    let documents = documents(&golden);
    let corpus = corpus(&golden, &documents);
    for expected in items(&golden, "keyword") {
        let query = script::trimmed(text(&expected["query"]));
        let found = march::search(&corpus, query, &usual(), None);
        assert_hits(&corpus, &found, expected, 1e-9);
    }
}

#[test]
fn march_finds_by_words_and_vectors_what_the_real_one_finds() {
    let golden: Value = serde_json::from_str(MARCH).unwrap();
    let documents = documents(&golden);
    let corpus = corpus(&golden, &documents);
    for (list, min_score) in [("hybrid", MIN_SCORE), ("hybrid_min_score_0", 0.0)] {
        for expected in items(&golden, list) {
            let query = script::trimmed(text(&expected["query"]));
            let vectors = vectors_of(&corpus, query);
            let settings = march::Settings { min_score, ..usual() };
            let found = march::search(&corpus, query, &settings, Some(&vectors));
            assert_hits(&corpus, &found, expected, 1e-9);
        }
    }
}

#[test]
fn keywords_are_those_of_the_real_one() {
    let golden: Value = serde_json::from_str(SEPTEMBER).unwrap();
    for expected in items(&golden, "keywords") {
        let wanted: Vec<&str> = expected["keywords"].as_array().unwrap().iter().map(text).collect();
        assert_eq!(keywords::keywords(text(&expected["query"])), wanted, "{}", expected["query"]);
    }
}

/// The files of the golden runs.
fn files(golden: &Value) -> Vec<Document> {
    let files = golden["corpus"].as_object().unwrap().iter();
    files
        .map(|(path, file)| Document {
            path: path.clone(),
            text: text(file).to_owned(),
            ..Document::default()
        })
        .collect()
}

#[test]
fn from_files_to_hits_it_is_the_same() {
    let september: Value = serde_json::from_str(SEPTEMBER).unwrap();
    let march: Value = serde_json::from_str(MARCH).unwrap();
    let files = files(&september);
    let bag = Bag::new();
    for (profile, golden) in [(SEPTEMBER_PROFILE, &september), (MARCH_PROFILE, &march)] {
        let runs: [(&str, Option<&dyn Embedder>); 2] = [("keyword", None), ("hybrid", Some(&bag))];
        for (list, embedder) in runs {
            for expected in items(golden, list) {
                let now = text(&golden["now"]).parse().unwrap();
                let request = Request::new(text(&expected["query"]), now);
                let found = profile.answer(&files, &request, embedder).unwrap().hits;
                let found: Vec<(&str, u32, u32)> = (found.iter())
                    .map(|hit| (hit.path.as_str(), hit.start_line, hit.end_line))
                    .collect();
                let wanted: Vec<(&str, u32, u32)> = (expected["hits"].as_array().unwrap().iter())
                    .map(|hit| (text(&hit[0]), line(&hit[1]), line(&hit[2])))
                    .collect();
                assert_eq!(found, wanted, "{} {list} {}", profile.name(), expected["query"]);
            }
        }
    }
}

#[test]
fn a_hit_shows_the_beginning_of_its_chunk_and_how_it_scored() {
    let golden: Value = serde_json::from_str(SEPTEMBER).unwrap();
    let mut request = Request::new("step", text(&golden["now"]).parse().unwrap());
    request.explain = true;
    let files = files(&golden);
    let answer = SEPTEMBER_PROFILE.answer(&files, &request, None).unwrap();
    let hit = &answer.hits[0];
    assert_eq!(hit.citation(), "memory/release-diary.md#L18-L35");
    assert_eq!(script::units(&hit.text), 700);
    let file = files.iter().find(|file| file.path == hit.path).unwrap();
    assert!(file.text[hit.bytes.clone()].starts_with(&hit.text));
    let explanation = hit.explanation.as_ref().unwrap();
    assert_eq!(explanation.parts, [("textScore", 0.7271348005752981)]);
}
