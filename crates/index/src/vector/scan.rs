//! Compares a query with every vector of a set.
//!
//! The query has sixteen bits for each number where the vectors have eight, so its rounding error
//! is negligible beside theirs. The products are integers, so the results are the same on every
//! processor.

use std::ops::Range;

use super::Baseline;
use super::kernel::Kernel;
use crate::store::ChunkId;

/// Cosines are added up as integers, so that their order does not matter.
const PARTS_OF_ONE: f32 = 65_536.0;
/// Numbers for which space is reserved at once, at most; beyond that it grows.
const MAX_EXPECTED: u64 = 1 << 22;
/// The largest number of a vector's bytes.
const LARGEST_BYTE: f32 = 127.0;

/// A query's vector, and the cosines with everything it was compared with.
#[derive(Debug)]
pub(crate) struct Scan {
    kernel: Kernel,
    query: Vec<i16>,
    scale: f32,
    limit: usize,
    room: usize,
    blocks: u64,
    sum: i64,
    squares: i64,
    /// The minimum score to be among the nearest.
    least: f32,
    /// A hand-written heap would save little: the list is short and seldom changes.
    best: Vec<(f32, ChunkId)>,
    /// Each chunk, in their order, and where its cosines end.
    chunks: Vec<(ChunkId, usize)>,
    cosines: Vec<f32>,
    products: Vec<i32>,
}

impl Scan {
    /// Prepares a normalised vector, to find `limit` chunks among about this many chunks and
    /// blocks.
    pub(crate) fn new(query: &[f32], limit: usize, (chunks, blocks): (u64, u64)) -> Self {
        let (query, scale) = whole_numbers(query);
        let limit = limit.max(1);
        Self {
            kernel: Kernel::new(),
            query,
            scale,
            limit,
            room: 2 * limit,
            blocks: 0,
            sum: 0,
            squares: 0,
            least: 0.0,
            best: Vec::new(),
            chunks: Vec::with_capacity(expected(chunks)),
            cosines: Vec::with_capacity(expected(blocks)),
            products: Vec::new(),
        }
    }

    /// Compares the vectors of a chunk, which can be among the nearest only when `counts`; an
    /// invalid blob is skipped. Chunks come in their order.
    pub(crate) fn compare(&mut self, chunk: ChunkId, blob: &[u8], counts: bool) {
        let mut best = 0.0_f32;
        let stride = 4 + self.query.len();
        if self.query.is_empty() || !blob.len().is_multiple_of(stride) {
            return;
        }
        self.products.clear();
        self.kernel.products(&self.query, blob, &mut self.products);
        for (vector, product) in blob.chunks_exact(stride).zip(&self.products) {
            let scale = vector.first_chunk().map_or(0.0, |scale| f32::from_le_bytes(*scale));
            // Neither zero nor NaN.
            if !(scale > 0.0 && scale < f32::INFINITY) {
                self.cosines.push(0.0);
                continue;
            }
            let cosine = (*product as f32 * (scale * self.scale)).clamp(-1.0, 1.0);
            self.cosines.push(cosine);
            best = best.max(cosine);
            // Rounds; truncating a positive number is faster than rounding.
            let parts = (cosine * PARTS_OF_ONE + (PARTS_OF_ONE + 0.5)) as i32 - PARTS_OF_ONE as i32;
            let parts = i64::from(parts);
            self.blocks += 1;
            self.sum += parts;
            self.squares += parts * parts;
        }
        self.chunks.push((chunk, self.cosines.len()));
        if !counts || best <= 0.0 || best < self.least {
            return;
        }
        if self.best.len() >= self.room {
            self.prune();
            self.room = 2 * self.best.len().max(self.limit);
        }
        self.best.push((best, chunk));
    }

    /// Returns where the cosines of a chunk are, when it was compared.
    pub(super) fn place_of(&self, chunk: ChunkId) -> Option<Range<usize>> {
        let at = self.chunks.binary_search_by_key(&chunk, |&(id, _)| id).ok()?;
        let start =
            at.checked_sub(1).and_then(|before| self.chunks.get(before)).map_or(0, |&(_, end)| end);
        Some(start..self.chunks.get(at)?.1)
    }

    /// Returns the cosines at a place.
    pub(super) fn at(&self, place: Range<usize>) -> Option<&[f32]> {
        self.cosines.get(place)
    }

    /// Returns the baseline of all compared vectors.
    pub(super) fn baseline(&self) -> Baseline {
        let blocks = self.blocks.max(1) as f64;
        let one = f64::from(PARTS_OF_ONE);
        let mean = self.sum as f64 / blocks / one;
        let squares = self.squares as f64 / blocks / (one * one);
        let deviation = (squares - mean * mean).max(0.0).sqrt();
        Baseline { blocks: self.blocks, mean, deviation, trust: 1.0 }
    }

    fn prune(&mut self) {
        self.best.sort_by(|a, b| b.0.total_cmp(&a.0));
        // Chunks that tie with the last one stay: their numbers must not decide which comes first.
        if let Some(last) = self.best.get(self.limit - 1).map(|&(score, _)| score) {
            self.best.retain(|&(score, _)| score >= last);
            self.least = last;
        }
    }

    /// Returns the nearest chunks, the nearest first.
    pub(super) fn take_nearest(&mut self) -> Vec<ChunkId> {
        self.prune();
        std::mem::take(&mut self.best).into_iter().map(|(_, place)| place).collect()
    }
}

/// Returns how much space to reserve at once, because counts come from files.
fn expected(count: u64) -> usize {
    usize::try_from(count.min(MAX_EXPECTED)).unwrap_or_default()
}

/// Returns a vector as integers whose products with bytes add up to less than the maximum of `i32`,
/// and the value of one unit.
fn whole_numbers(vector: &[f32]) -> (Vec<i16>, f32) {
    let largest = vector.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
    let sum: f32 = vector.iter().map(|number| number.abs()).sum();
    // A little less than possible: each number may be rounded up by a half.
    let room = (i32::MAX / 2) as f32 / (LARGEST_BYTE + 1.0);
    let scale = (largest / f32::from(i16::MAX)).max(sum / room);
    let step = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    (vector.iter().map(|number| (number * step).round() as i16).collect(), scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{cosine, normalised, quantised};

    fn vector(seed: u32) -> Vec<f32> {
        let number = |at: u32| {
            let mixed = (seed * 7_919 + at).wrapping_mul(2_654_435_761) >> 8;
            (mixed % 2_001) as f32 / 1_000.0 - 1.0
        };
        normalised(&(0..100).map(number).collect::<Vec<_>>())
    }

    #[test]
    fn bytes_are_nearly_as_good_as_numbers() {
        let query = vector(1);
        let mut exact: Vec<(f32, u64)> =
            (2..300).map(|number| (cosine(&query, &vector(number)), u64::from(number))).collect();
        exact.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut scan = Scan::new(&query, 20, (0, 0));
        for seed in 2..300 {
            scan.compare(ChunkId(u64::from(seed)), &quantised(&[vector(seed)]), true);
        }
        let scanned = scan.take_nearest();
        assert_eq!(scanned.len(), 20);
        for (_, id) in &exact[..10] {
            assert!(scanned.contains(&ChunkId(*id)), "{id}");
        }
    }

    #[test]
    fn a_chunk_counts_by_its_best_block() {
        let query = vector(1);
        let mut scan = Scan::new(&query, 2, (0, 0));
        scan.compare(ChunkId(1), &quantised(&[vector(9), query]), true);
        scan.compare(ChunkId(2), &quantised(&[vector(9)]), true);
        assert_eq!(scan.take_nearest()[0], ChunkId(1));
    }

    #[test]
    fn what_is_usual_does_not_depend_on_the_order() {
        let query = vector(1);
        let baseline = |seeds: &mut dyn Iterator<Item = u32>| {
            let mut scan = Scan::new(&query, 2, (0, 0));
            let nothing = vec![0.0; query.len()];
            for seed in seeds {
                let blob = quantised(&[vector(seed), nothing.clone()]);
                // Whether it can be found or not.
                scan.compare(ChunkId(0), &blob, seed % 2 == 0);
            }
            scan.baseline()
        };
        let usual = baseline(&mut (2..300));
        assert_eq!(usual, baseline(&mut (2..300).rev()));
        assert_eq!(usual.blocks, 298);
        let exact: Vec<f64> =
            (2..300).map(|number| f64::from(cosine(&query, &vector(number)))).collect();
        let mean = exact.iter().sum::<f64>() / 298.0;
        let squares = exact.iter().map(|cosine| (cosine - mean).powi(2)).sum::<f64>() / 298.0;
        assert!((usual.mean - mean).abs() < 1e-3, "{usual:?} {mean}");
        assert!((usual.deviation - squares.sqrt()).abs() < 1e-3, "{usual:?}");
    }

    #[test]
    fn cosines_of_bytes_lose_little() {
        let query = vector(1);
        let mut scan = Scan::new(&query, 2, (0, 0));
        for seed in 2..300 {
            let chunk = ChunkId(u64::from(seed));
            scan.compare(chunk, &quantised(&[vector(seed), vector(1)]), false);
            let found = scan.at(scan.place_of(chunk).unwrap()).unwrap();
            assert!((found[0] - cosine(&query, &vector(seed))).abs() < 0.003, "{seed}");
            assert!((found[1] - 1.0).abs() < 0.003, "{seed}");
        }
        assert_eq!(scan.place_of(ChunkId(1)), None);
    }

    #[test]
    fn what_is_no_vector_is_passed_over() {
        let mut scan = Scan::new(&vector(1), 2, (0, 0));
        scan.compare(ChunkId(1), &[1, 2, 3], true);
        scan.compare(ChunkId(2), &[], true);
        assert!(scan.take_nearest().is_empty());
        assert_eq!(scan.place_of(ChunkId(1)), None);
    }

    #[test]
    fn those_that_tie_with_the_last_stay() {
        let query = vector(1);
        let mut scan = Scan::new(&query, 2, (0, 0));
        let positive = (2..50).find(|number| cosine(&query, &vector(*number)) > 0.01).unwrap();
        let (same, near) = (quantised(&[vector(positive)]), quantised(&[query]));
        for id in 0..20 {
            scan.compare(ChunkId(id), &same, true);
        }
        scan.compare(ChunkId(20), &near, true);
        let found = scan.take_nearest();
        assert_eq!((found.len(), found[0]), (21, ChunkId(20)));
    }

    #[test]
    fn products_of_any_size_fit() {
        for dimensions in [1, 2, 128, 3_072, 65_536] {
            let query = normalised(&vec![1.0; dimensions]);
            let mut scan = Scan::new(&query, 1, (0, 0));
            scan.compare(ChunkId(0), &quantised(&[&query]), true);
            scan.compare(
                ChunkId(1),
                &quantised(&[query.iter().map(|number| -number).collect::<Vec<_>>()]),
                true,
            );
            let found = scan.at(0..2).unwrap();
            assert!((found[0] - 1.0).abs() < 1e-3 && (found[1] + 1.0).abs() < 1e-3, "{dimensions}");
        }
    }
}
