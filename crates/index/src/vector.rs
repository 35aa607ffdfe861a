//! Vectors as bytes: int8 to scan, f32 to be exact.
//!
//! A chunk's blob holds one vector for each of its blocks: a scale, then one signed byte for each
//! number. A scan compares bytes; the few best are compared again exactly.

use std::collections::HashMap;

use crate::store::ChunkId;

/// How many of the best chunks of a scan are compared exactly.
pub(crate) const RESCORED: usize = 200;

/// The chunks whose vectors are nearest to a query's, with a cosine for each of their blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nearest {
    cosines: HashMap<ChunkId, Vec<f32>>,
}

impl Nearest {
    /// Takes exact cosines.
    pub(crate) fn new(cosines: HashMap<ChunkId, Vec<f32>>) -> Self {
        Self { cosines }
    }

    /// Returns the chunks, in no order.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = ChunkId> {
        self.cosines.keys().copied()
    }

    /// Returns the cosines of a chunk's blocks.
    pub(crate) fn of(&self, chunk: ChunkId) -> Option<&[f32]> {
        self.cosines.get(&chunk).map(Vec::as_slice)
    }
}

/// Brings a vector to length 1; one of zeros, or with what is no number, stays as zeros.
pub(crate) fn normalised(vector: &[f32]) -> Vec<f32> {
    let norm = vector.iter().map(|it| f64::from(*it) * f64::from(*it)).sum::<f64>().sqrt();
    if norm > 0.0 && norm.is_finite() {
        vector.iter().map(|it| (f64::from(*it) / norm) as f32).collect()
    } else {
        vec![0.0; vector.len()]
    }
}

/// Writes the vectors of a chunk's blocks as bytes.
pub(crate) fn quantised(vectors: &[Vec<f32>]) -> Vec<u8> {
    let mut blob = Vec::new();
    for vector in vectors {
        let largest = vector.iter().fold(0.0_f32, |most, it| most.max(it.abs()));
        let scale = largest / 127.0;
        blob.extend_from_slice(&scale.to_le_bytes());
        let step = if scale > 0.0 { 1.0 / scale } else { 0.0 };
        blob.extend(vector.iter().map(|it| ((it * step).round() as i8) as u8));
    }
    blob
}

/// A query's vector, ready to scan with.
pub(crate) struct Scan {
    query: Vec<i8>,
    scale: f32,
    limit: usize,
    room: usize,
    /// A heap by hand would save little: the list is short and seldom changes.
    best: Vec<(f32, ChunkId)>,
}

impl Scan {
    /// Prepares a normalised vector.
    pub(crate) fn new(query: &[f32], limit: usize) -> Self {
        let largest = query.iter().fold(0.0_f32, |most, it| most.max(it.abs()));
        let scale = largest / 127.0;
        let step = if scale > 0.0 { 1.0 / scale } else { 0.0 };
        let query = query.iter().map(|it| (it * step).round() as i8).collect();
        let limit = limit.max(1);
        Self { query, scale, limit, room: 2 * limit, best: Vec::new() }
    }

    /// Compares the vectors of a chunk; a blob that is not ours is passed over.
    pub(crate) fn compare(&mut self, chunk: ChunkId, blob: &[u8]) {
        let stride = 4 + self.query.len();
        if self.query.is_empty() || !blob.len().is_multiple_of(stride) {
            return;
        }
        let cosine = |vector: &[u8]| {
            let (scale, numbers) = vector.split_at(4);
            let scale = f32::from_le_bytes([scale[0], scale[1], scale[2], scale[3]]);
            dot(&self.query, numbers) as f32 * scale * self.scale
        };
        let best = blob.chunks_exact(stride).map(cosine).fold(f32::MIN, f32::max);
        if best <= 0.0 {
            return;
        }
        if self.best.len() >= self.room {
            self.prune();
            self.room = 2 * self.best.len().max(self.limit);
        }
        self.best.push((best, chunk));
    }

    fn prune(&mut self) {
        self.best.sort_by(|a, b| b.0.total_cmp(&a.0));
        // Those that tie with the last stay: which of them comes first is not for numbers to say.
        if let Some(last) = self.best.get(self.limit - 1).map(|it| it.0) {
            self.best.retain(|it| it.0 >= last);
        }
    }

    /// Returns the nearest chunks, the nearest first.
    pub(crate) fn finish(mut self) -> Vec<ChunkId> {
        self.prune();
        self.best.into_iter().map(|it| it.1).collect()
    }
}

/// The sum of products: sixteen lanes, so that a compiler makes vector code of it.
fn dot(query: &[i8], numbers: &[u8]) -> i32 {
    let mut lanes = [0_i32; 16];
    let (query_blocks, query_rest) = query.as_chunks::<16>();
    let (number_blocks, number_rest) = numbers.as_chunks::<16>();
    for (query, numbers) in query_blocks.iter().zip(number_blocks) {
        for lane in 0..16 {
            lanes[lane] += i32::from(query[lane]) * i32::from(numbers[lane] as i8);
        }
    }
    let rest = query_rest.iter().zip(number_rest);
    let rest: i32 = rest.map(|(a, b)| i32::from(*a) * i32::from(*b as i8)).sum();
    lanes.iter().sum::<i32>() + rest
}

/// Returns the cosine of two normalised vectors.
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
            (2..300).map(|it| (cosine(&query, &vector(it)), u64::from(it))).collect();
        exact.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut scan = Scan::new(&query, 20);
        for seed in 2..300 {
            scan.compare(ChunkId(u64::from(seed)), &quantised(&[vector(seed)]));
        }
        let scanned = scan.finish();
        assert_eq!(scanned.len(), 20);
        for (_, id) in &exact[..10] {
            assert!(scanned.contains(&ChunkId(*id)), "{id}");
        }
    }

    #[test]
    fn a_chunk_counts_by_its_best_block() {
        let query = vector(1);
        let mut scan = Scan::new(&query, 2);
        scan.compare(ChunkId(1), &quantised(&[vector(9), query]));
        scan.compare(ChunkId(2), &quantised(&[vector(9)]));
        assert_eq!(scan.finish()[0], ChunkId(1));
    }

    #[test]
    fn what_is_no_vector_is_passed_over() {
        let mut scan = Scan::new(&vector(1), 2);
        scan.compare(ChunkId(1), &[1, 2, 3]);
        scan.compare(ChunkId(2), &[]);
        assert!(scan.finish().is_empty());
        assert_eq!(normalised(&[f32::NAN, 1.0]), [0.0, 0.0]);
        assert_eq!(normalised(&[0.0, 0.0]), [0.0, 0.0]);
    }
}
