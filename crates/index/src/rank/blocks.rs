//! Scores how well each block answers: by its own text, the text before, around and above it, and
//! the rest of its file.
//!
//! Every score is BM25 relative to the best that the query could have got, so it is between 0 and
//! 1. The constants were chosen by leave-one-out over conversations; all optima are flat.

use jiff::civil::Date;

use super::weights::Weights;
use crate::voice::Voice;

/// How quickly repetitions of a word stop to matter.
const SATURATION: f64 = 1.2;
/// How much the length of a text counts against it.
const LENGTH: f64 = 0.6;
/// The weight of the block before a block.
const BEFORE: f64 = 0.5;
/// About how many words the passage around a block has.
const WINDOW: f64 = 200.0;

const BLOCK_WEIGHT: f64 = 0.5;
const PAIR_WEIGHT: f64 = 0.5;
const WINDOW_WEIGHT: f64 = 1.0;
const FILE_WEIGHT: f64 = 0.5;
const CONTEXT_WEIGHT: f64 = 1.0;
const DATE_WEIGHT: f64 = 1.0;
const SCALE: f64 = BLOCK_WEIGHT + PAIR_WEIGHT + WINDOW_WEIGHT + FILE_WEIGHT;

/// A bonus for a block whose label (`- **Maria**: ...`) is in the query.
const LABEL: f64 = 0.5;
/// A question is seldom an answer.
const QUESTION: f64 = 0.15;
/// The number of days by which a missed date costs a factor of e.
const DATE_DAYS: f64 = 7.0;

/// What the scores need to know about a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockFacts {
    pub(super) length: f64,
    /// The weight of the query terms in the headings, path or date above it.
    pub(super) context: f64,
    /// Whether its label has a query term that is in few texts.
    pub(super) is_labelled: bool,
    pub(super) is_question: bool,
    pub(super) voice: Voice,
    pub(super) date: Option<Date>,
}

/// What is known about a whole file, as far as it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct FileFacts {
    pub(super) found: Vec<f32>,
    pub(super) length: f64,
}

/// The average lengths in the index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usual {
    pub(super) block: f64,
    pub(super) file: f64,
}

/// The scores of one block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct BlockScores {
    pub(super) block: f64,
    pub(super) pair: f64,
    pub(super) window: f64,
    pub(super) file: f64,
    pub(super) context: f64,
    pub(super) date: f64,
    pub(super) factor: f64,
}

impl BlockScores {
    /// Returns the score by words.
    pub(super) fn score(&self) -> f64 {
        let sum = BLOCK_WEIGHT * self.block
            + PAIR_WEIGHT * self.pair
            + WINDOW_WEIGHT * self.window
            + FILE_WEIGHT * self.file
            + CONTEXT_WEIGHT * self.context
            + DATE_WEIGHT * self.date;
        self.factor * sum / SCALE
    }
}

/// Scores consecutive blocks of one file. `found` has, for each block in turn, how often each term
/// of the query occurs in it; a number below 1 means a similar word.
pub(super) fn block_scores(
    blocks: &[BlockFacts],
    found: &[f32],
    file: &FileFacts,
    dates: &[Date],
    weights: &Weights,
    usual: Usual,
) -> Vec<BlockScores> {
    let terms = weights.terms.len();
    let around = Around::of(blocks, found, terms);
    let file_evidence =
        evidence(weights, usual.file, file.length, |term| f64::from(file.found[term]));
    let one = |(at, block): (usize, &BlockFacts)| {
        let own = |term: usize| f64::from(found[at * terms + term]);
        let before_length = at.checked_sub(1).map_or(0.0, |at| blocks[at].length);
        // A question is read together with its reply; a block without content is read alone.
        let is_read_with = |before: &BlockFacts| match before.voice {
            Voice::Statement | Voice::Said => true,
            Voice::Asked => block.voice == Voice::Said,
            Voice::Empty => false,
        };
        let before = at.checked_sub(1).filter(|at| is_read_with(&blocks[*at]));
        let pair = |term: usize| {
            let before = before.map_or(0.0, |at| f64::from(found[at * terms + term]));
            own(term) + BEFORE * before
        };
        let window = around.window(at);
        let labelled = if block.is_labelled { LABEL } else { 0.0 };
        let question = if block.is_question { QUESTION } else { 0.0 };
        BlockScores {
            block: evidence(weights, usual.block, block.length, own),
            pair: evidence(
                weights,
                (1.0 + BEFORE) * usual.block,
                block.length + BEFORE * before_length,
                pair,
            ),
            window: evidence(weights, WINDOW, around.length(&window), |term| {
                around.found(&window, term)
            }),
            file: file_evidence,
            context: block.context / weights.total,
            date: block.date.map_or(0.0, |date| nearness(date, dates)),
            factor: 1.0 + labelled - question,
        }
    };
    blocks.iter().enumerate().map(one).collect()
}

/// BM25 of a text, relative to the best that any text could get.
fn evidence(weights: &Weights, usual: f64, length: f64, found: impl Fn(usize) -> f64) -> f64 {
    let norm = SATURATION * (1.0 - LENGTH + LENGTH * length / usual.max(1.0));
    let score = |(position, weight): (usize, &super::weights::Weight)| {
        let found = found(position);
        if found > 0.0 { weight.value * found / (found + norm) } else { 0.0 }
    };
    weights.terms.iter().enumerate().map(score).sum::<f64>() / weights.total
}

/// Returns how near a day is to the requested ones: 1 is the day itself.
fn nearness(date: Date, dates: &[Date]) -> f64 {
    let days = |asked: &Date| (date - *asked).get_days().unsigned_abs();
    dates.iter().map(days).min().map_or(0.0, |days| (-f64::from(days) / DATE_DAYS).exp())
}

/// Returns how often a term occurs exactly.
pub(super) fn exact(found: f32) -> f32 {
    if found < 1.0 { 0.0 } else { found }
}

/// Prefix sums over the blocks, so that a passage costs two lookups.
struct Around {
    terms: usize,
    found: Vec<f32>,
    lengths: Vec<f64>,
}

impl Around {
    /// Only exact occurrences count in a passage, and turns without an answer do not.
    fn of(blocks: &[BlockFacts], found: &[f32], terms: usize) -> Self {
        let mut sums = vec![0.0; terms];
        let mut lengths = vec![0.0];
        sums.reserve(found.len());
        for (at, count) in found.iter().enumerate() {
            let counts = !blocks[at / terms].voice.is_open();
            sums.push(sums[at] + if counts { exact(*count) } else { 0.0 });
        }
        blocks.iter().enumerate().for_each(|(at, block)| lengths.push(lengths[at] + block.length));
        Self { terms, found: sums, lengths }
    }

    /// Returns the passage around a block: one more block before, one more after, in turn.
    fn window(&self, at: usize) -> std::ops::Range<usize> {
        let blocks = self.lengths.len() - 1;
        let mut window = at..at + 1;
        let mut is_before = true;
        while self.length(&window) < WINDOW && (window.start > 0 || window.end < blocks) {
            if (is_before && window.start > 0) || window.end == blocks {
                window.start -= 1;
            } else {
                window.end += 1;
            }
            is_before = !is_before;
        }
        window
    }

    fn length(&self, window: &std::ops::Range<usize>) -> f64 {
        self.lengths[window.end] - self.lengths[window.start]
    }

    fn found(&self, window: &std::ops::Range<usize>, term: usize) -> f64 {
        f64::from(
            self.found[window.end * self.terms + term]
                - self.found[window.start * self.terms + term],
        )
    }
}
