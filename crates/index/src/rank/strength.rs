//! What a score is worth: the scale that hits show, and what is too weak to show.

use crate::vector::Sense;

/// When no block has a word of the query and the best has less, nothing is an answer: of 120
/// questions in other words than their answers none has less than 0.187. Raw, see [`shown`].
const FLOOR: f64 = 0.18;
/// Below this a hit may well be no answer: the best hits of questions in other words have more in
/// 24 of 25 cases. Raw.
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
    /// None.
    Shut,
    /// Those that score at least so much, on the scale that is shown.
    Least(f64),
}

/// What is known of all blocks that were found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outlook {
    /// Whether any has a word of the query.
    pub(super) has_literal: bool,
    /// The best score that words and vectors give.
    pub(super) best: f64,
    /// What the query is made of.
    pub(super) sense: Sense,
}

impl Gate {
    /// Chooses by all that was found; `least` is what the caller asks for.
    pub(super) fn of(outlook: Outlook, least: Option<f64>) -> Self {
        match (least, outlook) {
            (Some(least), _) => Self::Least(least),
            (None, Outlook { sense: Sense::Letters, .. }) => Self::Literal,
            (None, Outlook { sense: Sense::Words, has_literal: false, best }) if best < FLOOR => {
                Self::Shut
            }
            (None, _) => Self::Open,
        }
    }

    /// Whether a block may be shown.
    pub(super) fn passes(self, score: f64, is_literal: bool) -> bool {
        match self {
            Self::Open => true,
            Self::Literal => is_literal,
            Self::Shut => false,
            Self::Least(least) => shown(score) >= least,
        }
    }
}

/// Whether a hit may well be no answer.
pub(super) fn is_weak(raw: f64) -> bool {
    raw < WEAK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_lie_between_0_and_1_and_keep_their_order() {
        let raw = [0.0, 0.05, 0.139, 0.783, 1.091, 1.614, 2.5];
        let scores: Vec<f64> = raw.iter().map(|it| shown(*it)).collect();
        assert!(scores.is_sorted_by(|a, b| a < b), "{scores:?}");
        assert!(scores.iter().all(|it| (0.0..1.0).contains(it)), "{scores:?}");
        assert_eq!(shown(-1.0), 0.0);
    }

    #[test]
    fn a_literal_word_is_always_shown_unless_the_caller_wants_more() {
        let faint = Outlook { has_literal: false, best: 0.01, sense: Sense::Words };
        let gibberish = Outlook { best: 0.5, sense: Sense::Letters, ..faint };
        let literal = Outlook { has_literal: true, ..faint };
        assert_eq!(Gate::of(faint, None), Gate::Shut);
        assert_eq!(Gate::of(Outlook { best: 0.5, ..faint }, None), Gate::Open);
        assert_eq!(Gate::of(literal, None), Gate::Open);
        assert_eq!(Gate::of(Outlook { sense: Sense::Untold, ..faint }, None), Gate::Open);
        assert!(Gate::of(gibberish, None).passes(0.01, true));
        assert!(!Gate::of(gibberish, None).passes(0.5, false));
        assert!(Gate::of(gibberish, Some(0.0)).passes(0.01, false));
        assert!(!Gate::of(literal, Some(0.6)).passes(0.5, true));
    }
}
