//! Scores by vectors: how far a block stands out from the average.
//!
//! A cosine is not meaningful alone. One model's cosines are around 0.1, another's around 0.8, and
//! a question in a script that a model cannot read is about equally near to everything. So each
//! cosine is compared with those of all blocks for the same question, in standard deviations. Then
//! one weight fits every model, and blocks of two models can be ranked together.

use crate::vector::Baseline;

/// The weight of one deviation relative to words: the best block stands out by three to five, the
/// words of an answer give 0.25 to 1, and those of a paraphrase 0.1. Flat from 0.05 to 0.12.
const WEIGHT: f64 = 0.08;
/// The spread of cosines in most models, for indexes that are too small to measure it.
const USUAL_DEVIATION: f64 = 0.12;
/// How many blocks this guess is worth.
const DOUBT: f64 = 10.0;
/// Assumed additional blocks that are unrelated to the query, so that the only block of an index is
/// not the average.
const UNRELATED: f64 = 1.0;
/// The score in deviations of a cosine that is not above average: just enough to be found and
/// sorted when the filters leave nothing nearer.
const FAINT: f64 = 0.01;

/// A block's nearness to the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Meaning {
    pub(super) cosine: f64,
    /// By how many deviations it is nearer than the average; 0: it is not near at all.
    pub(super) distinction: f64,
    trust: f64,
}

impl Meaning {
    /// Measures a cosine.
    pub(super) fn of(cosine: f32, baseline: Baseline) -> Self {
        let cosine = f64::from(cosine);
        let blocks = baseline.blocks as f64;
        let mean = baseline.mean * blocks / (blocks + UNRELATED);
        let variance = (baseline.deviation.powi(2) * blocks + USUAL_DEVIATION.powi(2) * DOUBT)
            / (blocks + DOUBT);
        let distinction = ((cosine - mean) / variance.sqrt()).max(FAINT * cosine).max(0.0);
        Self { cosine, distinction, trust: baseline.trust }
    }

    /// Returns what it adds to the score by words.
    pub(super) fn score(self) -> f64 {
        WEIGHT * self.trust * self.distinction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measures the first of some cosines against all of them.
    fn first(cosines: &[f32]) -> f64 {
        let blocks = cosines.len() as f64;
        let mean = cosines.iter().map(|cosine| f64::from(*cosine)).sum::<f64>() / blocks;
        let square = |cosine: &f32| (f64::from(*cosine) - mean).powi(2);
        let deviation = (cosines.iter().map(square).sum::<f64>() / blocks).sqrt();
        let baseline = Baseline { blocks: cosines.len() as u64, mean, deviation, trust: 1.0 };
        Meaning::of(cosines[0], baseline).distinction
    }

    /// One cosine, and many others around another.
    fn among(cosine: f32, others: f32, spread: f32) -> Vec<f32> {
        let other = |at: u16| others + spread * (f32::from(at % 21) / 10.0 - 1.0);
        std::iter::once(cosine).chain((0..2_000).map(other)).collect()
    }

    #[test]
    fn models_with_other_cosines_say_the_same() {
        let low = first(&among(0.5, 0.1, 0.2));
        let high = first(&among(0.9, 0.8, 0.05));
        assert!((low - high).abs() < 0.3, "{low} {high}");
        assert!((3.0..4.0).contains(&low), "{low}");
    }

    #[test]
    fn what_is_as_near_as_all_others_adds_next_to_nothing() {
        assert!(first(&among(0.8, 0.8, 0.05)) < 0.1);
        let (less, least) = (first(&among(0.3, 0.5, 0.1)), first(&among(0.2, 0.5, 0.1)));
        assert!(0.0 < least && least < less && less < 0.01, "{least} {less}");
        assert_eq!(first(&among(-1.0, -1.0, 0.0)), 0.0);
    }

    #[test]
    fn in_a_small_index_a_near_block_still_stands_out() {
        assert!(first(&[0.6]) > 2.0);
        assert!(first(&[0.6, 0.1, 0.05, 0.0, 0.1]) > 2.0);
        assert!(first(&[0.1, 0.6, 0.05, 0.0, 0.1]) < 1.0);
    }

    #[test]
    fn what_an_embedder_cannot_read_says_nothing() {
        let baseline = Baseline { blocks: 100, mean: 0.1, deviation: 0.1, trust: 1.0 };
        let whole = Meaning::of(0.5, baseline).score();
        let half = Meaning::of(0.5, Baseline { trust: 0.5, ..baseline }).score();
        assert!((half - whole / 2.0).abs() < 1e-12);
        assert_eq!(Meaning::of(0.5, Baseline { trust: 0.0, ..baseline }).score(), 0.0);
    }

    #[test]
    fn without_any_background_a_cosine_is_a_number() {
        let nothing = Baseline::default();
        assert_eq!(Meaning::of(0.0, nothing).score(), 0.0);
        assert!(Meaning::of(1.0, nothing).score().is_finite());
    }
}
