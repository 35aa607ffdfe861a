//! Vectors as bytes, and the chunks whose vectors are nearest to a query's.
//!
//! A chunk's blob holds one vector for each of its blocks: a scale, then one signed byte for each
//! number. The rounding error of a block is less than 0.001 of a cosine.

mod kernel;
mod scan;

use std::collections::HashMap;
use std::ops::Range;

use crate::store::ChunkId;
pub(crate) use scan::Scan;

/// How many of the nearest chunks of a set are found even without a matching word.
pub(crate) const NEAREST: usize = 200;

/// The chunks whose vectors are nearest to a query's, with a cosine for each of their blocks.
#[derive(Debug, Default)]
pub(crate) struct Nearest {
    /// The compared sets; the first that has a chunk counts.
    sets: Vec<Asked>,
    near: Vec<ChunkId>,
    /// What the query consists of, as far as the compared embedders can tell.
    pub(crate) sense: Sense,
    /// The set of each chunk whose cosines are wanted, and their position in it.
    wanted: HashMap<ChunkId, (usize, Range<usize>)>,
}

/// What a query consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sense {
    /// Letters that are not words of a language.
    #[default]
    Letters,
    /// Letters that no vocabulary has as words; a model without one was compared, and may read them.
    Doubtful,
    /// Words that an embedder knows.
    Words,
    /// Words that no embedder can tell from letters, or no words that were compared.
    Untold,
}

/// A set of vectors that was compared with the query.
#[derive(Debug)]
struct Asked {
    scan: Scan,
    baseline: Baseline,
}

/// Statistics of the cosines of all blocks of a set with a query: their average and spread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Baseline {
    /// Blocks that were compared; a block whose vector is zeros does not count.
    pub(crate) blocks: u64,
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
    /// The share of the query that the embedder can judge.
    pub(crate) trust: f64,
}

impl Nearest {
    /// Adds the result of scanning a set, and the share of the query that it can judge.
    pub(crate) fn add(&mut self, mut scan: Scan, trust: f64) {
        let baseline = Baseline { trust, ..scan.baseline() };
        let chunks = scan.take_nearest();
        self.sets.push(Asked { scan, baseline });
        self.want(&chunks);
        self.near.extend(chunks);
    }

    /// Whether no set was compared.
    pub(crate) const fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Whether a compared set has vectors of a chunk.
    pub(crate) fn has(&self, chunk: ChunkId) -> bool {
        self.sets.iter().any(|set| set.scan.place_of(chunk).is_some())
    }

    /// Requests the cosines of more chunks, such as those that were found by their words.
    pub(crate) fn want(&mut self, chunks: &[ChunkId]) {
        for chunk in chunks {
            let place = |(set, asked): (usize, &Asked)| Some((set, asked.scan.place_of(*chunk)?));
            if let Some(place) = self.sets.iter().enumerate().find_map(place) {
                self.wanted.entry(*chunk).or_insert(place);
            }
        }
    }

    /// Returns the nearest chunks, in no particular order.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = ChunkId> {
        self.near.iter().copied()
    }

    /// Returns the cosines of the blocks of a requested chunk, and the baseline of its set.
    pub(crate) fn of(&self, chunk: ChunkId) -> Option<(&[f32], Baseline)> {
        let (set, place) = self.wanted.get(&chunk)?;
        let asked = self.sets.get(*set)?;
        Some((asked.scan.at(place.clone())?, asked.baseline))
    }
}

/// Scales a vector to length 1; a vector of zeros, or with NaN, becomes zeros.
pub(crate) fn normalised(vector: &[f32]) -> Vec<f32> {
    let norm =
        vector.iter().map(|number| f64::from(*number) * f64::from(*number)).sum::<f64>().sqrt();
    if norm > 0.0 && norm.is_finite() {
        vector.iter().map(|number| (f64::from(*number) / norm) as f32).collect()
    } else {
        vec![0.0; vector.len()]
    }
}

/// Writes the vectors of a chunk's blocks as bytes.
pub(crate) fn quantised(vectors: &[impl AsRef<[f32]>]) -> Vec<u8> {
    let mut blob = Vec::new();
    for vector in vectors {
        let vector = vector.as_ref();
        let largest = vector.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
        let scale = largest / 127.0;
        blob.extend_from_slice(&scale.to_le_bytes());
        let step = if scale > 0.0 { 1.0 / scale } else { 0.0 };
        blob.extend(vector.iter().map(|number| ((number * step).round() as i8) as u8));
    }
    blob
}

/// Returns the cosine of two normalised vectors.
#[cfg(test)]
pub(crate) fn cosine(one: &[f32], other: &[f32]) -> f32 {
    if one.len() != other.len() {
        return 0.0;
    }
    let sum: f64 = one.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
    sum.clamp(-1.0, 1.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_length_becomes_zeros() {
        assert_eq!(normalised(&[f32::NAN, 1.0]), [0.0, 0.0]);
        assert_eq!(normalised(&[0.0, 0.0]), [0.0, 0.0]);
    }
}
