//! What a score means: the scale that hits show, and which hits are too weak to show.

use crate::vector::Sense;

/// Below this a hit may not be an answer: the best hits of paraphrased questions score higher in 24
/// of 25 cases. Raw, see [`shown`].
///
/// It only marks hits. A threshold of 0.18 that hid them was tried: it hid every second answer to a
/// question in another language than its answer.
const WEAK: f64 = 0.24;

/// Maps a raw score, which has no upper end, to the scale from 0 to 1 that hits show. The order
/// stays, and small scores keep their values.
pub(super) fn shown(raw: f64) -> f64 {
    raw.max(0.0).tanh()
}

/// Which blocks are worth showing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Gate {
    /// All that were found.
    Open,
    /// Those that have a word of the query.
    Literal,
    /// Those that score at least this much, on the scale that is shown.
    Least(f64),
}

impl Gate {
    /// Chooses by what the query consists of; `least` is the caller's minimum.
    pub(super) fn of(sense: Sense, least: Option<f64>) -> Self {
        match (least, sense) {
            (Some(least), _) => Self::Least(least),
            (None, Sense::Letters) => Self::Literal,
            (None, Sense::Words | Sense::Untold) => Self::Open,
        }
    }

    /// Whether a block with a score, as it is shown, may be shown.
    pub(super) fn passes(self, score: f64, is_literal: bool) -> bool {
        match self {
            Self::Open => true,
            Self::Literal => is_literal,
            Self::Least(least) => score >= least,
        }
    }
}

/// Whether a hit may not be an answer.
pub(super) fn is_weak(raw: f64) -> bool {
    raw < WEAK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_lie_between_0_and_1_and_keep_their_order() {
        let raw = [0.0, 0.05, 0.139, 0.783, 1.091, 1.614, 2.5];
        let scores: Vec<f64> = raw.iter().map(|score| shown(*score)).collect();
        assert!(scores.is_sorted_by(|a, b| a < b), "{scores:?}");
        assert!(scores.iter().all(|score| (0.0..1.0).contains(score)), "{scores:?}");
        assert_eq!(shown(-1.0), 0.0);
    }

    #[test]
    fn a_literal_word_is_always_shown_unless_the_caller_wants_more() {
        assert_eq!(Gate::of(Sense::Words, None), Gate::Open);
        assert_eq!(Gate::of(Sense::Untold, None), Gate::Open);
        assert!(Gate::of(Sense::Letters, None).passes(0.01, true));
        assert!(!Gate::of(Sense::Letters, None).passes(0.5, false));
        assert!(Gate::of(Sense::Letters, Some(0.0)).passes(0.01, false));
        assert!(!Gate::of(Sense::Words, Some(0.6)).passes(0.5, true));
    }
}
