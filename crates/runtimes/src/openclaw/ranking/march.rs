//! OpenClaw of March 2026: all words and cosine, added; or, without vectors, each keyword by itself.

use std::collections::BTreeMap;

use anemone_index::TextVectors;

use super::corpus::Corpus;
use super::{SelectedChunk, TEXT_WEIGHT, VECTOR_WEIGHT, all_of, keywords, score_of_rank, script};

/// Candidates of a ranker, at most.
const MAX_CANDIDATES: usize = 200;

pub(super) fn search(
    corpus: &Corpus<'_>,
    query: &str,
    limit: usize,
    min_score: f64,
    vectors: Option<&TextVectors>,
) -> Vec<SelectedChunk> {
    let candidates = limit.saturating_mul(4).clamp(1, MAX_CANDIDATES);
    match vectors {
        None => each_keyword(corpus, query, candidates, min_score, limit),
        Some(vectors) => hybrid(corpus, query, candidates, min_score, limit, vectors),
    }
}

/// Looks for each keyword separately; a chunk has the score of its best keyword.
fn each_keyword(
    corpus: &Corpus<'_>,
    query: &str,
    candidates: usize,
    min_score: f64,
    limit: usize,
) -> Vec<SelectedChunk> {
    let mut terms = keywords::keywords(query);
    if terms.is_empty() {
        terms.push(query.to_owned());
    }
    // Equal scores keep the order in which they were found.
    let mut found: Vec<SelectedChunk> = Vec::new();
    let mut place = BTreeMap::new();
    for term in terms.iter().take(super::MAX_WORDS) {
        for (chunk, score) in all_words(corpus, term, candidates) {
            let at = *place.entry(chunk).or_insert(found.len());
            match found.get_mut(at) {
                Some(known) if score > known.score => (known.score, known.text) = (score, score),
                Some(_) => {}
                None => found.push(SelectedChunk { chunk, score, text: score, vector: None }),
            }
        }
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.retain(|entry| entry.score >= min_score);
    found.truncate(limit);
    found
}

fn hybrid(
    corpus: &Corpus<'_>,
    query: &str,
    candidates: usize,
    min_score: f64,
    limit: usize,
    vectors: &TextVectors,
) -> Vec<SelectedChunk> {
    let words = all_words(corpus, query, candidates);
    let mut found: Vec<SelectedChunk> = nearest(vectors, candidates)
        .into_iter()
        .map(|(chunk, cosine)| SelectedChunk { chunk, score: 0.0, text: 0.0, vector: Some(cosine) })
        .collect();
    let place: BTreeMap<usize, usize> =
        found.iter().enumerate().map(|(at, entry)| (entry.chunk, at)).collect();
    for &(chunk, text) in &words {
        match place.get(&chunk) {
            Some(&at) => found[at].text = text,
            None => found.push(SelectedChunk { chunk, score: 0.0, text, vector: Some(0.0) }),
        }
    }
    for entry in &mut found {
        entry.score = VECTOR_WEIGHT * entry.vector.unwrap_or(0.0) + TEXT_WEIGHT * entry.text;
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut strict = found.clone();
    strict.retain(|entry| entry.score >= min_score);
    if strict.is_empty() && !words.is_empty() {
        let with_words: std::collections::BTreeSet<_> =
            words.iter().map(|&(chunk, _)| corpus.range_of(chunk)).collect();
        strict = found;
        strict.retain(|entry| {
            with_words.contains(&corpus.range_of(entry.chunk))
                && entry.score >= min_score.min(TEXT_WEIGHT)
        });
    }
    strict.truncate(limit);
    strict
}

/// Returns the chunks that have every word, with their scores.
fn all_words(corpus: &Corpus<'_>, query: &str, limit: usize) -> Vec<(usize, f64)> {
    all_of(script::words(query)).map_or_else(Vec::new, |matching| {
        let rows = corpus.texts(&matching, limit);
        rows.into_iter().map(|(chunk, rank)| (chunk, score_of_rank(rank))).collect()
    })
}

/// Returns the chunks nearest to the question; a question without a vector has none.
pub(super) fn nearest(vectors: &TextVectors, limit: usize) -> Vec<(usize, f64)> {
    if vectors.query.iter().all(|&x| x == 0.0) {
        return Vec::new();
    }
    let mut near: Vec<(usize, f64)> = (vectors.texts.iter().enumerate())
        .filter_map(|(chunk, vector)| Some((chunk, cosine_32(vector, &vectors.query)?)))
        .collect();
    near.sort_by(|a, b| b.1.total_cmp(&a.1));
    near.truncate(limit);
    near
}

/// Returns the cosine as sqlite-vec computes it: sums in 32 bits, the rest in 64, and one minus a
/// distance that is cut to 32 bits.
fn cosine_32(a: &[f32], b: &[f32]) -> Option<f64> {
    let (mut dot, mut norm_a, mut norm_b) = (0.0_f32, 0.0_f32, 0.0_f32);
    for (&x, &y) in a.iter().zip(b) {
        dot += x * y;
        norm_a += x * x;
        norm_b += y * y;
    }
    let norms = f64::from(norm_a).sqrt() * f64::from(norm_b).sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "sqlite-vec keeps 32 bits")]
    let distance = (1.0 - f64::from(dot) / norms) as f32;
    distance.is_finite().then(|| 1.0 - f64::from(distance))
}
