//! OpenClaw of March 2026: all words and cosine, added; or, without vectors, each keyword by itself.

use std::collections::BTreeMap;

use anemone_index::{Request, TextVectors};

use super::age::{Aging, aged};
use super::chunks::Generation;
use super::corpus::Corpus;
use super::spread::spread;
use super::{
    MIN_SCORE, SNIPPET_UNITS, SelectedChunk, TEXT_WEIGHT, VECTOR_WEIGHT, all_of, keywords, script,
};

/// Candidates of a ranker, at most.
const MAX_CANDIDATES: usize = 200;
/// Candidates of a ranker for each requested hit.
const CANDIDATES: u32 = 4;
/// The most candidates for each requested hit that a configuration can set.
const MOST_FOR_A_HIT: u32 = 20;

/// What the configuration of that program can change.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    pub(super) limit: usize,
    pub(super) min_score: f64,
    /// Candidates of a ranker.
    pub(super) candidates: usize,
    /// The weights of vectors and of words.
    pub(super) weights: (f64, f64),
    /// How texts age; by default they do not.
    pub(super) aging: Option<Aging>,
    /// The weight of relevance, if hits that say the same are moved down; by default they are not.
    pub(super) lambda: Option<f64>,
    /// Turns a rank of FTS5 into a score.
    pub(super) score_of_rank: fn(f64) -> f64,
}

impl Settings {
    pub(super) fn of(request: &Request, score_of_rank: fn(f64) -> f64) -> Self {
        let each = request.tuning.candidate_multiplier.unwrap_or(CANDIDATES);
        let each = each.clamp(1, MOST_FOR_A_HIT) as usize;
        let aging =
            |half_life| Aging { generation: Generation::Three, now: request.now, half_life };
        Self {
            limit: request.limit,
            min_score: request.min_score.unwrap_or(MIN_SCORE),
            candidates: request.limit.saturating_mul(each).clamp(1, MAX_CANDIDATES),
            weights: request.tuning.weights((VECTOR_WEIGHT, TEXT_WEIGHT)),
            aging: request.recency_half_life.filter(|days| *days > 0.0).map(aging),
            lambda: request.diversity.map(|lambda| lambda.clamp(0.0, 1.0)),
            score_of_rank,
        }
    }
}

pub(super) fn search(
    corpus: &Corpus<'_>,
    query: &str,
    settings: &Settings,
    vectors: Option<&TextVectors>,
) -> Vec<SelectedChunk> {
    match vectors {
        None => each_keyword(corpus, query, settings),
        Some(vectors) => hybrid(corpus, query, settings, vectors),
    }
}

/// Looks for each keyword separately; a chunk has the score of its best keyword.
fn each_keyword(corpus: &Corpus<'_>, query: &str, settings: &Settings) -> Vec<SelectedChunk> {
    let mut terms = keywords::keywords(query);
    if terms.is_empty() {
        terms.push(query.to_owned());
    }
    // Equal scores keep the order in which they were found.
    let mut found: Vec<SelectedChunk> = Vec::new();
    let mut place = BTreeMap::new();
    for term in terms.iter().take(super::MAX_WORDS) {
        for (chunk, score) in all_words(corpus, term, settings) {
            let at = *place.entry(chunk).or_insert(found.len());
            match found.get_mut(at) {
                Some(known) if score > known.score => (known.score, known.text) = (score, score),
                Some(_) => {}
                None => found.push(SelectedChunk { chunk, score, text: score, vector: None }),
            }
        }
    }
    let mut found = in_order(corpus, found, settings);
    found.retain(|entry| entry.score >= settings.min_score);
    found.truncate(settings.limit);
    found
}

fn hybrid(
    corpus: &Corpus<'_>,
    query: &str,
    settings: &Settings,
    vectors: &TextVectors,
) -> Vec<SelectedChunk> {
    let (vector_weight, text_weight) = settings.weights;
    let words = all_words(corpus, query, settings);
    let mut found: Vec<SelectedChunk> = nearest(vectors, settings.candidates)
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
        entry.score = vector_weight * entry.vector.unwrap_or(0.0) + text_weight * entry.text;
    }
    let found = in_order(corpus, found, settings);
    let mut strict = found.clone();
    strict.retain(|entry| entry.score >= settings.min_score);
    if strict.is_empty() && !words.is_empty() {
        let with_words: std::collections::BTreeSet<_> =
            words.iter().map(|&(chunk, _)| corpus.range_of(chunk)).collect();
        strict = found;
        strict.retain(|entry| {
            with_words.contains(&corpus.range_of(entry.chunk))
                && entry.score >= settings.min_score.min(text_weight)
        });
    }
    strict.truncate(settings.limit);
    strict
}

/// Sorts chunks by their scores, after the two optional steps: age reduces the scores, and chunks
/// that say the same as a better one move down.
fn in_order(
    corpus: &Corpus<'_>,
    mut found: Vec<SelectedChunk>,
    settings: &Settings,
) -> Vec<SelectedChunk> {
    if let Some(aging) = settings.aging {
        for entry in &mut found {
            entry.score = aged(entry.score, corpus.document_of(entry.chunk), aging);
        }
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let Some(lambda) = settings.lambda else { return found };
    let text =
        |entry: &SelectedChunk| script::prefix(&corpus.chunks[entry.chunk].text, SNIPPET_UNITS);
    let items: Vec<(f64, &str)> = found.iter().map(|entry| (entry.score, text(entry))).collect();
    spread(&items, lambda).into_iter().map(|at| found[at]).collect()
}

/// Returns the chunks that have every word, with their scores.
fn all_words(corpus: &Corpus<'_>, query: &str, settings: &Settings) -> Vec<(usize, f64)> {
    all_of(script::words(query)).map_or_else(Vec::new, |matching| {
        let rows = corpus.texts(&matching, settings.candidates);
        rows.into_iter().map(|(chunk, rank)| (chunk, (settings.score_of_rank)(rank))).collect()
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
