//! The order in which blocks answer.

use std::cmp::Ordering;
use std::collections::HashSet;

use jiff::tz::TimeZone;

use super::Question;
use super::found::{FoundBlock, FoundBlocks};
use super::strength::{Gate, Strength, shown};
use super::voices::{collapse, jaccard};
use crate::text::Term;

/// How far importance moves a score, up or down.
const IMPORTANCE: f64 = 0.1;
/// Among how many of the best hits similar ones are spread.
const SPREAD: usize = 64;

/// With this many words, a neighbouring block may be the answer; a search for one or two words is
/// for blocks that have them.
const LONG_QUESTION: usize = 3;

/// Above this, a heading, path or day has more than parts of a requested word.
const NAMED: f64 = 0.1;

/// A block's place in the order.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankedBlock {
    /// Its position in [`FoundBlocks::blocks`].
    pub(super) at: usize,
    /// How well it answers, whatever its age. It has no upper end.
    pub(super) raw: f64,
    /// The score that is shown: from 0 to 1, and reduced by age.
    pub(super) score: f64,
    pub(super) recency: Option<f64>,
    pub(super) importance: Option<f64>,
    /// How many others say the same and were left out.
    pub(super) similar: usize,
}

/// Sorted blocks.
pub(super) struct Ordered {
    /// The best first.
    pub(super) places: Vec<RankedBlock>,
    /// How many blocks are left out because their scores are too low.
    pub(super) too_weak: usize,
}

/// Orders the blocks that may be the middle of a hit, the best first.
pub(super) fn order(found: &FoundBlocks, question: &Question<'_>) -> Ordered {
    let request = question.request;
    let is_long = question.weights.content() >= LONG_QUESTION;
    let today = TimeZone::UTC.to_datetime(request.now).date();
    let place = |(at, block): (usize, &FoundBlock)| {
        let document = &found.documents.get(&block.document)?.read.document;
        let recency =
            request.recency_half_life.filter(|half_life| *half_life > 0.0).map(|half_life| {
                let age = block
                    .date
                    .filter(|_| !document.evergreen)
                    .map(|date| (today - date).get_days());
                let age = f64::from(age.unwrap_or(0).max(0));
                (-age / half_life).exp2()
            });
        let importance = document.importance.filter(|_| request.importance);
        let importance = importance
            .map(|importance| 1.0 + IMPORTANCE * (2.0 * importance.clamp(0.0, 1.0) - 1.0));
        let raw = block.score * importance.unwrap_or(1.0);
        let score = shown(raw) * recency.unwrap_or(1.0);
        let is_answer = block.is_answer && (is_long || says_something(block)) && raw > 0.0;
        is_answer.then_some(RankedBlock { at, raw, score, recency, importance, similar: 0 })
    };
    let mut places: Vec<RankedBlock> = found.blocks.iter().enumerate().filter_map(place).collect();
    let all = places.len();
    let gate = Gate::of(found.sense, request.min_score);
    gate.retain(&mut places, |place| {
        let block = &found.blocks[place.at];
        Strength {
            literal: block.literal,
            lexical: block.scores.score(),
            before: shown(place.raw),
            score: place.score,
        }
    });
    let too_weak = all - places.len();
    places.sort_by(|a, b| compare(a, b, found));
    let places = collapse(places, found);
    let places = match request.diversity {
        Some(relevance) => spread(places, found, relevance.clamp(0.0, 1.0)),
        None => places,
    };
    Ordered { places, too_weak }
}

/// Whether a block answers by itself, or with what is above it.
fn says_something(block: &FoundBlock) -> bool {
    block.scores.block > 0.0
        || block.scores.context > NAMED
        || block.meaning.is_some_and(|meaning| meaning.score() > 0.0)
}

/// The better first; among equals the newer, then the order of paths and text.
fn compare(a: &RankedBlock, b: &RankedBlock, found: &FoundBlocks) -> Ordering {
    let (one, other) = (&found.blocks[a.at], &found.blocks[b.at]);
    let rank =
        |block: &FoundBlock| found.documents.get(&block.document).map(|document| document.rank);
    b.score
        .total_cmp(&a.score)
        .then_with(|| other.date.cmp(&one.date))
        .then_with(|| rank(one).cmp(&rank(other)))
        .then_with(|| a.at.cmp(&b.at))
}

/// Repeatedly takes the block that is best and least similar to those taken before.
fn spread(mut places: Vec<RankedBlock>, found: &FoundBlocks, relevance: f64) -> Vec<RankedBlock> {
    let rest = places.split_off(places.len().min(SPREAD));
    let terms: Vec<HashSet<Term>> = places
        .iter()
        .map(|place| found.blocks[place.at].block.terms.iter().copied().collect())
        .collect();
    let best = places.first().map_or(1.0, |place| place.score.max(f64::MIN_POSITIVE));
    let mut left: Vec<usize> = (0..places.len()).collect();
    let mut likeness = vec![0.0_f64; places.len()];
    let mut taken = Vec::with_capacity(places.len() + rest.len());
    while !left.is_empty() {
        let value =
            |at: usize| relevance * places[at].score / best - (1.0 - relevance) * likeness[at];
        let mut chosen = 0;
        for (position, &at) in left.iter().enumerate() {
            if value(at) > value(left[chosen]) {
                chosen = position;
            }
        }
        let at = left.remove(chosen);
        for &other in &left {
            likeness[other] = likeness[other].max(jaccard(&terms[at], &terms[other]));
        }
        taken.push(places[at]);
    }
    taken.extend(rest);
    taken
}
