//! The arithmetic: how well hits cover the lines that answer a question.

use anemone_index::Hit;
use serde::{Deserialize, Serialize};

/// How many characters of text an agent reads, for `recall_4k`.
const BUDGET: usize = 4000;

/// A line of a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub struct RelevantLine {
    /// The document.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
}

/// What counts of a hit.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReturnedHit<'a> {
    path: &'a str,
    start_line: u32,
    end_line: u32,
    text: &'a str,
}

impl<'a> ReturnedHit<'a> {
    pub(super) fn of(hit: &'a Hit) -> Self {
        let Hit { path, start_line, end_line, text, .. } = hit;
        Self { path, start_line: *start_line, end_line: *end_line, text }
    }

    fn covers(&self, line: &RelevantLine) -> bool {
        self.path == line.path && (self.start_line..=self.end_line).contains(&line.line)
    }

    /// Whether a line is completely within the first `chars` characters of the text. A text that
    /// was cut has fewer lines than its range says.
    fn covers_within(&self, line: &RelevantLine, chars: usize) -> bool {
        if !self.covers(line) {
            return false;
        }
        let before = (line.line - self.start_line) as usize;
        let mut used = 0;
        for (position, text) in self.text.split('\n').enumerate() {
            used += text.chars().count();
            if used > chars {
                return false;
            }
            if position == before {
                return true;
            }
            used += 1;
        }
        false
    }
}

/// How one question went; shares are from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct QueryOutcome {
    recall_at_5: f64,
    recall_at_10: f64,
    hit_at_5: f64,
    reciprocal_rank: f64,
    recall_4k: f64,
    empty: f64,
    took_ms: f64,
}

impl QueryOutcome {
    /// Compares the hits of a question with the lines that answer it, of which there is at least
    /// one; also returns the lines that the first 4,000 characters do not have.
    pub(super) fn of(
        relevant: &[RelevantLine],
        hits: &[ReturnedHit<'_>],
        took_ms: f64,
    ) -> (Self, Vec<RelevantLine>) {
        let covered_by = |hits: &[ReturnedHit<'_>]| {
            relevant.iter().filter(|line| hits.iter().any(|hit| hit.covers(line))).count()
        };
        let first = |count: usize| &hits[..count.min(hits.len())];
        let share = |count: usize| ratio(count, relevant.len());
        let rank = hits.iter().position(|hit| relevant.iter().any(|line| hit.covers(line)));
        let missing = missing(relevant, hits);
        let outcome = Self {
            recall_at_5: share(covered_by(first(5))),
            recall_at_10: share(covered_by(first(10))),
            hit_at_5: f64::from(u8::from(covered_by(first(5)) > 0)),
            reciprocal_rank: rank.map_or(0.0, |rank| ratio(1, rank + 1)),
            recall_4k: share(relevant.len() - missing.len()),
            empty: f64::from(u8::from(hits.is_empty())),
            took_ms,
        };
        (outcome, missing)
    }
}

/// Returns the lines that are not in the first 4,000 characters of the hits' texts. A hit that
/// still fits counts completely; the first one that does not fit is cut, and the following hits are
/// not read.
fn missing(relevant: &[RelevantLine], hits: &[ReturnedHit<'_>]) -> Vec<RelevantLine> {
    let mut missing: Vec<&RelevantLine> = relevant.iter().collect();
    let mut left = BUDGET;
    for hit in hits {
        let chars = hit.text.chars().count();
        missing.retain(|line| !hit.covers_within(line, left.min(chars)));
        if chars > left {
            break;
        }
        left -= chars;
    }
    missing.into_iter().cloned().collect()
}

/// How some questions went together; shares in percent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// How many questions.
    pub queries: u64,
    /// The share of the relevant lines that the first five hits have.
    pub recall_at_5: f64,
    /// The share of the relevant lines that the first ten hits have.
    pub recall_at_10: f64,
    /// The share of questions with a relevant line in the first five hits.
    pub hit_at_5: f64,
    /// The mean of 1 by the rank of the first hit with a relevant line.
    pub mrr: f64,
    /// The share of the relevant lines in the first 4,000 characters.
    pub recall_4k: f64,
    /// The share of questions without hits.
    pub empty_rate: f64,
    /// The time of an answer that half of them do not exceed, in milliseconds.
    pub p50_ms: f64,
    /// The time of an answer that 99 of 100 do not exceed.
    pub p99_ms: f64,
}

impl Figures {
    /// Averages over questions; of none, everything is 0.
    pub(super) fn of(outcomes: &[&QueryOutcome]) -> Self {
        let percent = |share: fn(&QueryOutcome) -> f64| {
            // An empty sum would be a negative zero.
            let sum = outcomes.iter().map(|outcome| share(outcome)).fold(0.0, std::ops::Add::add);
            rounded(100.0 * sum / whole(outcomes.len().max(1)))
        };
        let mut times: Vec<f64> = outcomes.iter().map(|outcome| outcome.took_ms).collect();
        times.sort_by(f64::total_cmp);
        Self {
            queries: outcomes.len() as u64,
            recall_at_5: percent(|query| query.recall_at_5),
            recall_at_10: percent(|query| query.recall_at_10),
            hit_at_5: percent(|query| query.hit_at_5),
            mrr: percent(|query| query.reciprocal_rank),
            recall_4k: percent(|query| query.recall_4k),
            empty_rate: percent(|query| query.empty),
            p50_ms: percentile(&times, 50),
            p99_ms: percentile(&times, 99),
        }
    }
}

/// Returns the smallest time that so many percent do not exceed.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().map_or(0.0, rounded)
}

fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

fn ratio(part: usize, all: usize) -> f64 {
    whole(part) / whole(all)
}

/// A count as a number that can be divided; no file has so many lines that it would not fit.
fn whole(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(path: &str, line: u32) -> RelevantLine {
        RelevantLine { path: path.to_owned(), line }
    }

    fn hit<'a>(path: &'a str, start_line: u32, text: &'a str) -> ReturnedHit<'a> {
        let end_line = start_line + u32::try_from(text.matches('\n').count()).unwrap();
        ReturnedHit { path, start_line, end_line, text }
    }

    /// Compares the parts of an outcome that have no time in them.
    fn outcome(relevant: &[RelevantLine], hits: &[ReturnedHit<'_>]) -> [f64; 6] {
        let (it, _) = QueryOutcome::of(relevant, hits, 0.0);
        [it.recall_at_5, it.recall_at_10, it.hit_at_5, it.reciprocal_rank, it.recall_4k, it.empty]
    }

    #[test]
    fn a_question_without_hits_is_empty() {
        assert_eq!(outcome(&[line("a", 1)], &[]), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn lines_are_covered_by_path_and_range() {
        let hits = [hit("a", 3, "x\ny\nz"), hit("b", 1, "x")];
        for (path, number, covered) in
            [("a", 2, 0.0), ("a", 3, 1.0), ("a", 5, 1.0), ("a", 6, 0.0), ("b", 3, 0.0)]
        {
            let found = outcome(&[line(path, number)], &hits)[0];
            assert_eq!(found.to_bits(), f64::to_bits(covered), "{path}:{number}");
        }
    }

    #[test]
    fn recall_is_a_share_and_rank_is_that_of_the_first_that_covers_any() {
        let empty = hit("z", 1, "");
        let mut hits = vec![empty; 12];
        hits[1] = hit("a", 1, "x");
        hits[6] = hit("a", 2, "x");
        hits[11] = hit("a", 3, "x");
        let relevant = [line("a", 1), line("a", 2), line("a", 3), line("a", 4)];
        assert_eq!(outcome(&relevant, &hits), [0.25, 0.5, 1.0, 0.5, 0.75, 0.0]);
        hits[1] = empty;
        let late = outcome(&relevant, &hits);
        assert_eq!(late[..4], [0.0, 0.25, 0.0, 1.0 / 7.0]);
    }

    #[test]
    fn two_hits_on_one_line_count_once() {
        let hits = [hit("a", 1, "x"), hit("a", 1, "x")];
        assert_eq!(outcome(&[line("a", 1), line("a", 9)], &hits)[0].to_bits(), 0.5f64.to_bits());
    }

    #[test]
    fn the_hit_that_crosses_4000_characters_is_cut_there() {
        let long = "e".repeat(3990);
        // Ten characters are left: line 1 has four, its break one, line 2 five, line 3 none.
        let hits = [hit("a", 1, &long), hit("b", 1, "abcd\nabcde\nx"), hit("c", 1, "y")];
        let relevant = [line("a", 1), line("b", 1), line("b", 2), line("b", 3), line("c", 1)];
        let (outcome, missing) = QueryOutcome::of(&relevant, &hits, 0.0);
        assert_eq!(missing, [line("b", 3), line("c", 1)]);
        assert_eq!(outcome.recall_4k.to_bits(), 0.6f64.to_bits());
        assert_eq!(outcome.recall_at_5.to_bits(), 1f64.to_bits());
        // One character less, and the second line is not whole.
        let hits = [hit("a", 1, &long), hit("b", 1, "abcde\nabcde")];
        let (_, missing) = QueryOutcome::of(&relevant[..3], &hits, 0.0);
        assert_eq!(missing, [line("b", 2)]);
    }

    #[test]
    fn a_hit_that_fits_to_the_last_character_counts_whole() {
        let (first, rest) = ("e".repeat(3000), "é".repeat(1000));
        let hits = [hit("a", 1, &first), hit("b", 1, &rest), hit("c", 1, "z")];
        let (_, missing) = QueryOutcome::of(&[line("b", 1), line("c", 1)], &hits, 0.0);
        assert_eq!(missing, [line("c", 1)], "a character is no byte");
        let endless = "e".repeat(4001);
        let (_, missing) = QueryOutcome::of(&[line("a", 1)], &[hit("a", 1, &endless)], 0.0);
        assert_eq!(missing, [line("a", 1)]);
    }

    #[test]
    fn lines_that_a_cut_text_does_not_have_are_not_read() {
        let cut = ReturnedHit { path: "a", start_line: 1, end_line: 30, text: "one\ntwo" };
        let (outcome, missing) = QueryOutcome::of(&[line("a", 2), line("a", 30)], &[cut], 0.0);
        assert_eq!(missing, [line("a", 30)]);
        assert_eq!(outcome.recall_at_5.to_bits(), 1f64.to_bits(), "its range has both");
    }

    #[test]
    fn figures_are_averages_in_percent() {
        let good = QueryOutcome {
            recall_at_5: 1.0,
            recall_at_10: 1.0,
            hit_at_5: 1.0,
            reciprocal_rank: 1.0,
            recall_4k: 1.0,
            empty: 0.0,
            took_ms: 1.0,
        };
        let bad = QueryOutcome { empty: 1.0, took_ms: 3.0, ..QueryOutcome::default() };
        let figures = Figures::of(&[&good, &bad, &bad]);
        assert_eq!(figures.queries, 3);
        assert_eq!(figures.recall_4k.to_bits(), 33.33f64.to_bits());
        assert_eq!(figures.empty_rate.to_bits(), 66.67f64.to_bits());
        assert_eq!((figures.p50_ms.to_bits(), figures.p99_ms.to_bits()), {
            (3f64.to_bits(), 3f64.to_bits())
        });
        let none = Figures::of(&[]);
        assert_eq!((none.queries, none.mrr.to_bits(), none.p99_ms.to_bits()), (0, 0, 0));
    }

    #[test]
    fn percentiles_are_those_of_the_nearest_rank() {
        let times: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!(percentile(&times, 50).to_bits(), 100f64.to_bits());
        assert_eq!(percentile(&times, 99).to_bits(), 198f64.to_bits());
        assert_eq!(percentile(&[7.126], 99).to_bits(), 7.13f64.to_bits());
    }
}
