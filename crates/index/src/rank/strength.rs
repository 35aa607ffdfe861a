//! What a score means: the scale that hits show, and which hits are too weak to show.

use crate::vector::Sense;

/// Below this a hit may not be an answer: the best hits of paraphrased questions score higher in 24
/// of 25 cases. Raw, see [`shown`].
///
/// It only marks hits, unless no vocabulary has the words of the query.
const WEAK: f64 = 0.24;

/// If no hit has a word of the query, the least score of the best hit, on the scale that is shown.
/// It hides no answer to any judged question (`docs/decisions/063-a-floor.md`).
const FLOOR: f64 = 0.18;
/// The least score by words of a hit that only has a word with a similar spelling. A mistyped word
/// among five others scores less.
const ALIKE_FLOOR: f64 = 0.02;

/// Maps a raw score, which has no upper end, to the scale from 0 to 1 that hits show. The order
/// stays, and small scores keep their values.
pub(super) fn shown(raw: f64) -> f64 {
    raw.max(0.0).tanh()
}

/// How a block matches the words of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Literal {
    /// Not at all: it is only near in meaning.
    No,
    /// It has a word with a similar spelling.
    Alike,
    /// It has a word of the query, in itself or above it.
    Word,
}

/// What is compared with a floor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strength {
    pub(super) literal: Literal,
    /// The score by words alone.
    pub(super) lexical: f64,
    /// The score before its age is taken into account, on the scale that is shown.
    pub(super) before: f64,
    /// The score that is shown.
    pub(super) score: f64,
}

/// Which blocks are worth showing. A block that has a word of the query always is, unless the caller
/// sets a minimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Gate {
    /// All that were found.
    Open,
    /// All that were found, if one of them has a word of the query or is near enough.
    Answer,
    /// Those that have a word of the query or a similar one, and others from this score on.
    Literal {
        /// The least score of a block that is only near in meaning.
        near: f64,
    },
    /// Those that score at least this much, on the scale that is shown.
    Least(f64),
}

impl Gate {
    /// Chooses by what the query consists of; `least` is the caller's minimum.
    pub(super) fn of(sense: Sense, least: Option<f64>) -> Self {
        match (least, sense) {
            (Some(least), _) => Self::Least(least),
            (None, Sense::Letters) => Self::Literal { near: f64::INFINITY },
            (None, Sense::Doubtful) => Self::Literal { near: shown(WEAK) },
            (None, Sense::Words) => Self::Answer,
            (None, Sense::Untold) => Self::Open,
        }
    }

    /// Removes what is too weak to be shown.
    pub(super) fn retain<T>(self, places: &mut Vec<T>, strength: impl Fn(&T) -> Strength) {
        match self {
            Self::Open => {}
            Self::Answer => {
                let is_enough = |place: &T| {
                    let Strength { literal, lexical, before, .. } = strength(place);
                    match literal {
                        Literal::Word => true,
                        Literal::Alike => lexical >= ALIKE_FLOOR || before >= FLOOR,
                        Literal::No => before >= FLOOR,
                    }
                };
                if !places.iter().any(is_enough) {
                    places.clear();
                }
            }
            Self::Literal { near } => places.retain(|place| {
                let Strength { literal, lexical, before, .. } = strength(place);
                match literal {
                    Literal::Word => true,
                    Literal::Alike => lexical >= ALIKE_FLOOR || before >= near,
                    Literal::No => before >= near,
                }
            }),
            Self::Least(least) => places.retain(|place| strength(place).score >= least),
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

    const SENSES: [Sense; 4] = [Sense::Letters, Sense::Doubtful, Sense::Words, Sense::Untold];

    /// Returns the scores that are shown of blocks that match in the same way.
    fn shown_of(sense: Sense, least: Option<f64>, literal: Literal, scores: &[f64]) -> Vec<f64> {
        let mut places = scores.to_vec();
        // Age has taken half of each.
        let strength = |score: &f64| Strength {
            literal,
            lexical: score / 10.0,
            before: *score,
            score: score / 2.0,
        };
        Gate::of(sense, least).retain(&mut places, strength);
        places
    }

    #[test]
    fn a_word_of_the_query_is_always_shown_unless_the_caller_wants_more() {
        for sense in SENSES {
            assert_eq!(shown_of(sense, None, Literal::Word, &[0.001]), [0.001], "{sense:?}");
            let more = shown_of(sense, Some(0.3), Literal::Word, &[0.7, 0.5]);
            assert_eq!(more, [0.7], "{sense:?}");
            let all = shown_of(sense, Some(0.0), Literal::No, &[0.01, 0.001]);
            assert_eq!(all, [0.01, 0.001], "{sense:?}");
        }
    }

    #[test]
    fn what_is_only_near_is_shown_by_what_the_query_consists_of() {
        let near = |sense, scores: &[f64]| shown_of(sense, None, Literal::No, scores);
        assert_eq!(near(Sense::Letters, &[0.99]), [0.0; 0]);
        assert_eq!(near(Sense::Doubtful, &[0.24, 0.23]), [0.24]);
        // The whole answer is weak, or it is not.
        assert_eq!(near(Sense::Words, &[0.17, 0.1]), [0.0; 0]);
        assert_eq!(near(Sense::Words, &[0.18, 0.01]), [0.18, 0.01]);
        assert_eq!(near(Sense::Untold, &[0.01]), [0.01]);
    }

    #[test]
    fn a_similar_word_must_be_much_of_a_query() {
        let alike = |sense, score| shown_of(sense, None, Literal::Alike, &[score]).len();
        assert_eq!((alike(Sense::Letters, 0.19), alike(Sense::Letters, 0.21)), (0, 1));
        assert_eq!((alike(Sense::Doubtful, 0.19), alike(Sense::Doubtful, 0.21)), (0, 1));
        assert_eq!((alike(Sense::Words, 0.17), alike(Sense::Untold, 0.01)), (0, 1));
    }
}
