//! OpenClaw of September 2026: words, paths and cosine, then age, importance and difference.

mod words;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use anemone_index::TextVectors;
use jiff::Timestamp;

use super::age::{Aging, HALF_LIFE, aged};
use super::chunks::{Generation, INVALID_PROJECT};
use super::spread::{LAMBDA, spread};
use super::{SNIPPET_UNITS, SelectedChunk, TEXT_WEIGHT, VECTOR_WEIGHT, script};
use super::{corpus::Corpus, march::nearest};
use words::WordHit;

/// Candidates of a ranker.
const CANDIDATES: usize = 200;

pub(super) fn search(
    corpus: &Corpus<'_>,
    query: &str,
    limit: usize,
    min_score: f64,
    now: Timestamp,
    vectors: Option<&TextVectors>,
) -> Vec<SelectedChunk> {
    if query.is_empty() {
        return Vec::new();
    }
    let found = words::search(corpus, query, CANDIDATES);
    let mut selected = match vectors {
        None => words_only(corpus, found, min_score, now),
        Some(vectors) => {
            let merged = merged(corpus, query, &found, vectors, now);
            selected(corpus, &merged, &found, min_score, limit.max(CANDIDATES))
        }
    };
    selected.truncate(limit);
    selected
}

/// Finishes a search without vectors.
fn words_only(
    corpus: &Corpus<'_>,
    mut found: Vec<WordHit>,
    min_score: f64,
    now: Timestamp,
) -> Vec<SelectedChunk> {
    found.retain(|entry| is_shown(corpus, entry.chunk));
    for entry in &mut found {
        if entry.exact > 0 {
            entry.score = tie(if entry.body { entry.score } else { 0.0 });
        }
        entry.score = weighed(corpus, entry.chunk, entry.score, now);
    }
    found.sort_by(|a, b| words::compare(corpus, a, b, false));
    let mut selected: Vec<SelectedChunk> = (found.iter())
        .map(|entry| SelectedChunk {
            chunk: entry.chunk,
            score: if entry.exact > 0 { 1.0 } else { entry.score },
            text: entry.text,
            vector: None,
        })
        .collect();
    if selected.iter().any(|entry| entry.score >= min_score) {
        selected.retain(|entry| entry.score >= min_score);
    } else {
        selected.retain(|entry| entry.score >= 0.0);
    }
    selected
}

/// A chunk of either ranker.
struct MergedChunk {
    chunk: usize,
    text: f64,
    vector: f64,
    exact: u8,
    /// The score that is shown.
    score: f64,
    /// The score that decides the order.
    rank: f64,
    lexical: f64,
}

/// Adds the two rankers up and puts the chunks in their order.
fn merged(
    corpus: &Corpus<'_>,
    query: &str,
    found: &[WordHit],
    vectors: &TextVectors,
    now: Timestamp,
) -> Vec<MergedChunk> {
    let exact = words::exactness(corpus, query);
    let near = nearest(vectors, CANDIDATES);
    let cosines: BTreeMap<usize, f64> = near.iter().copied().collect();
    let known: BTreeMap<usize, &WordHit> = found.iter().map(|entry| (entry.chunk, entry)).collect();
    let added = found.iter().map(|entry| entry.chunk).filter(|chunk| !cosines.contains_key(chunk));
    let all = near.iter().map(|&(chunk, _)| chunk).chain(added);
    let ranked: Vec<MergedChunk> = all
        .filter(|&chunk| is_shown(corpus, chunk))
        .map(|chunk| {
            let vector = cosines.get(&chunk).copied().unwrap_or(0.0);
            let words = known.get(&chunk);
            let text = words.map_or(0.0, |entry| entry.text);
            let exact = exact[corpus.chunks[chunk].document];
            let keyword = match words {
                Some(entry) if entry.text > 0.0 => entry.score,
                Some(entry) if exact == 0 => entry.path,
                _ => 0.0,
            };
            let content = VECTOR_WEIGHT * vector + TEXT_WEIGHT * keyword;
            let lexical =
                words.filter(|entry| entry.body && text == 0.0).map_or(0.0, |entry| entry.score);
            let rank = if exact > 0 {
                tie(content)
            } else if content == 0.0 {
                lexical
            } else {
                content
            };
            let rank = weighed(corpus, chunk, rank, now);
            let score = if exact > 0 {
                1.0
            } else if content == 0.0 {
                0.0
            } else {
                rank
            };
            MergedChunk { chunk, text, vector, exact, score, rank, lexical }
        })
        .collect();
    let mut tiers: [Vec<MergedChunk>; 4] = Default::default();
    for entry in ranked {
        let tier = 3 - usize::from(entry.exact.min(3));
        tiers[tier].push(entry);
    }
    tiers.into_iter().flat_map(|tier| in_order(corpus, tier)).collect()
}

/// Sorts the chunks of a tier, with near-duplicates of better ones further down.
fn in_order(corpus: &Corpus<'_>, mut tier: Vec<MergedChunk>) -> Vec<MergedChunk> {
    let place = |entry: &MergedChunk| {
        let chunk = &corpus.chunks[entry.chunk];
        (chunk.start_line, chunk.end_line)
    };
    tier.sort_by(|a, b| {
        let shown = if a.exact > 0 { Ordering::Equal } else { b.score.total_cmp(&a.score) };
        shown
            .then_with(|| b.rank.total_cmp(&a.rank))
            .then_with(|| b.lexical.total_cmp(&a.lexical))
            .then_with(|| {
                let path = |entry: &MergedChunk| corpus.document_of(entry.chunk).path.as_str();
                script::compare(path(a), path(b))
            })
            .then_with(|| place(a).cmp(&place(b)))
    });
    let items: Vec<(f64, &str)> = (tier.iter())
        .map(|entry| {
            let text = script::prefix(&corpus.chunks[entry.chunk].text, SNIPPET_UNITS);
            (if entry.exact > 0 { entry.rank } else { entry.score }, text)
        })
        .collect();
    let order = spread(&items, LAMBDA);
    let mut tier: Vec<Option<MergedChunk>> = tier.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| tier[at].take()).collect()
}

/// Selects the chunks that score enough; if they are few, also those that have the words.
fn selected(
    corpus: &Corpus<'_>,
    merged: &[MergedChunk],
    found: &[WordHit],
    min_score: f64,
    limit: usize,
) -> Vec<SelectedChunk> {
    let range = |chunk| corpus.range_of(chunk);
    let take = |entry: &MergedChunk| SelectedChunk {
        chunk: entry.chunk,
        score: entry.score,
        text: entry.text,
        vector: Some(entry.vector),
    };
    let with_words: BTreeSet<_> = found.iter().map(|entry| range(entry.chunk)).collect();
    let good = |entry: &&MergedChunk| entry.score >= min_score;
    let mut selected: Vec<SelectedChunk> =
        merged.iter().filter(good).take(limit).map(take).collect();
    if selected.is_empty() {
        let any = merged.iter().filter(|entry| entry.score >= 0.0);
        return any
            .filter(|entry| with_words.contains(&range(entry.chunk)))
            .take(limit)
            .map(take)
            .collect();
    }
    let mut seen: BTreeSet<_> = selected.iter().map(|entry| range(entry.chunk)).collect();
    for entry in merged {
        let range = range(entry.chunk);
        if selected.len() < limit
            && entry.score < min_score
            && entry.vector == 0.0
            && with_words.contains(&range)
            && seen.insert(range)
        {
            selected.push(take(entry));
        }
    }
    selected
}

/// The score of a file named by the query, among others of that name.
fn tie(content: f64) -> f64 {
    f64::midpoint(1.0, content.clamp(0.0, 1.0))
}

/// Returns a score weighted by age and importance.
fn weighed(corpus: &Corpus<'_>, chunk: usize, score: f64, now: Timestamp) -> f64 {
    let aging = Aging { generation: Generation::Nine, now, half_life: HALF_LIFE };
    let aged = aged(score, corpus.document_of(chunk), aging);
    let importance = corpus.chunks[chunk].importance;
    aged * importance.map_or(1.0, |of_ten| 0.75 + f64::from(of_ten.clamp(1, 10)) * 0.05)
}

fn is_shown(corpus: &Corpus<'_>, chunk: usize) -> bool {
    let project = corpus.chunks[chunk].project.as_deref();
    project.is_none_or(|keys| keys.split(';').all(|key| script::trimmed(key) != INVALID_PROJECT))
}
