//! Attention between the tokens of a text.

use super::functions::exp_all;
use super::kernel::{COLUMNS, Machine, ROWS};

/// Sizes of the attention, the same in all layers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heads {
    /// The number of heads.
    pub(super) count: usize,
    /// Numbers of a token that one head uses.
    pub(super) width: usize,
}

/// Buffers that are reused from one text to the next.
#[derive(Default)]
pub(super) struct Scratch {
    /// Panels of keys: for each token of a panel, a number at a time.
    keys: Vec<[f32; COLUMNS]>,
    /// Panels of values: for each number of a panel, a token at a time.
    values: Vec<[f32; COLUMNS]>,
    queries: Vec<[f32; ROWS]>,
    /// A row of scores for each token of a block.
    scores: Vec<f32>,
    shares: Vec<[f32; ROWS]>,
}

/// Sets `output` to the attention of the tokens of one text.
///
/// `input` has for each token its queries, keys and values, each for all heads.
#[inline(always)]
pub(super) fn attend<M: Machine>(
    machine: M,
    heads: Heads,
    input: &[f32],
    scratch: &mut Scratch,
    output: &mut [f32],
) {
    let width = heads.count * heads.width;
    let tokens = output.len() / width;
    let columns = tokens.next_multiple_of(COLUMNS);
    // Queries carry the factor that keeps scores from growing with the width.
    let factor = 1.0 / (heads.width as f32).sqrt();
    for head in 0..heads.count {
        let at = head * heads.width;
        lay_out(heads, input, at, scratch);
        for first in (0..tokens).step_by(ROWS) {
            let rows = ROWS.min(tokens - first);
            scratch.queries.clear();
            scratch.queries.resize(heads.width, [0.0; ROWS]);
            for row in 0..rows {
                let query = &input[(first + row) * 3 * width + at..][..heads.width];
                for (place, number) in scratch.queries.iter_mut().zip(query) {
                    place[row] = number * factor;
                }
            }
            scratch.scores.clear();
            scratch.scores.resize(ROWS * columns, 0.0);
            for (panel, keys) in scratch.keys.chunks_exact(heads.width).enumerate() {
                let tile = machine.float(&scratch.queries, keys);
                for (scores, tile) in scratch.scores.chunks_exact_mut(columns).zip(tile) {
                    scores[panel * COLUMNS..][..COLUMNS].copy_from_slice(&tile);
                }
            }
            let mut sums = [1.0; ROWS];
            scratch.shares.clear();
            scratch.shares.resize(tokens, [0.0; ROWS]);
            for (row, scores) in scratch.scores.chunks_exact_mut(columns).take(rows).enumerate() {
                let scores = &mut scores[..tokens];
                sums[row] = exp_all(scores);
                for (share, score) in scratch.shares.iter_mut().zip(scores) {
                    share[row] = *score;
                }
            }
            for (panel, values) in scratch.values.chunks_exact(tokens).enumerate() {
                let tile = machine.float(&scratch.shares, values);
                let from = panel * COLUMNS;
                let numbers = COLUMNS.min(heads.width - from);
                for (row, sums) in tile.iter().zip(sums).take(rows).enumerate() {
                    let (tile, sum) = sums;
                    let place = &mut output[(first + row) * width + at + from..][..numbers];
                    for (number, taken) in place.iter_mut().zip(tile) {
                        *number = taken / sum;
                    }
                }
            }
        }
    }
}

/// Lays out the keys and values of one head as panels.
#[inline(always)]
fn lay_out(heads: Heads, input: &[f32], at: usize, scratch: &mut Scratch) {
    let width = heads.count * heads.width;
    let tokens = input.len() / (3 * width);
    scratch.keys.clear();
    scratch.keys.resize(tokens.div_ceil(COLUMNS) * heads.width, [0.0; COLUMNS]);
    scratch.values.clear();
    scratch.values.resize(heads.width.div_ceil(COLUMNS) * tokens, [0.0; COLUMNS]);
    for (token, row) in input.chunks_exact(3 * width).enumerate() {
        let keys = &mut scratch.keys[token / COLUMNS * heads.width..][..heads.width];
        for (place, number) in keys.iter_mut().zip(&row[width + at..]) {
            place[token % COLUMNS] = *number;
        }
        let values = row[2 * width + at..][..heads.width].chunks(COLUMNS);
        for (panel, numbers) in values.enumerate() {
            scratch.values[panel * tokens + token][..numbers.len()].copy_from_slice(numbers);
        }
    }
}
