//! A linear layer in integers.
//!
//! Weights are `i16` with one scale for each output, and inputs are `i16` with one scale for each
//! token. No sum can overflow an `i32`: a layer knows the largest sum that its weights can make,
//! and inputs are scaled to stay below it.

use super::kernel::{COLUMNS, Machine, ROWS};
use crate::tensors::{GROUP, Matrix, ModelError, Tensors, half};

/// Largest weight. Eight times 127, so that weights which are signed bytes in the file stay exact.
const WEIGHT_LIMIT: f32 = 1016.0;
/// Largest input, if the sums leave room.
const INPUT_LIMIT: i32 = 16_383;

/// `inputs` numbers to `outputs` numbers.
pub(super) struct Linear {
    inputs: usize,
    outputs: usize,
    /// For each panel of outputs, its weights in the order of [`super::kernel`].
    weights: Vec<[i16; 2 * COLUMNS]>,
    scales: Vec<f32>,
    bias: Vec<f32>,
    /// Largest sum of the weights of one output, without their signs.
    largest_sum: i32,
}

impl Linear {
    /// Returns a layer without outputs, which [`Self::append`] adds.
    pub(super) fn new(inputs: usize) -> Self {
        let (weights, scales, bias) = (Vec::new(), Vec::new(), Vec::new());
        Self { inputs, outputs: 0, weights, scales, bias, largest_sum: 1 }
    }

    /// Adds the outputs of `matrix`, one for each of its rows.
    ///
    /// The existing outputs must fill their panels: their number is a multiple of [`COLUMNS`]
    /// wherever layers are joined.
    pub(super) fn append(
        &mut self,
        tensors: &mut Tensors,
        matrix: &Matrix,
        bias: Option<Vec<f32>>,
    ) -> Result<(), ModelError> {
        let pairs = self.inputs.div_ceil(2);
        self.weights.reserve_exact(matrix.rows().div_ceil(COLUMNS) * pairs);
        if matrix.is_nibbles() {
            self.append_nibbles(&tensors.data(matrix)?, &tensors.scales(matrix)?, matrix)?;
        }
        let rest = if matrix.is_nibbles() { 0 } else { matrix.rows() };
        for start in (0..rest).step_by(COLUMNS) {
            let end = matrix.rows().min(start + COLUMNS);
            let rows = tensors.rows(matrix, start..end)?;
            let first = self.weights.len();
            self.weights.resize(first + pairs, [0; 2 * COLUMNS]);
            for (column, row) in rows.chunks_exact(self.inputs).enumerate() {
                self.push_output(row, first, column);
            }
        }
        self.outputs += matrix.rows();
        self.bias.extend(bias.unwrap_or_default());
        self.bias.resize(self.outputs, 0.0);
        Ok(())
    }

    /// Adds rows of four bits, as they are in the file: a group has only sixteen different weights,
    /// so most of the work is looking them up. This allows a first answer within 20 ms.
    fn append_nibbles(
        &mut self,
        data: &[u8],
        scales: &[u8],
        matrix: &Matrix,
    ) -> Result<(), ModelError> {
        let pairs = self.inputs / 2;
        let (groups, _) = data.as_chunks::<{ GROUP / 2 }>();
        let in_a_row = self.inputs / GROUP;
        let mut steps = Vec::with_capacity(in_a_row);
        for (row, bytes) in groups.chunks_exact(in_a_row.max(1)).enumerate() {
            steps.clear();
            let own = scales.as_chunks().0.iter().skip(row * in_a_row).take(in_a_row);
            steps.extend(own.map(|bytes| half(*bytes)));
            if !steps.iter().all(|step| step.is_finite()) {
                return Err(matrix.not_finite());
            }
            if row.is_multiple_of(COLUMNS) {
                self.weights.resize(self.weights.len() + pairs, [0; 2 * COLUMNS]);
            }
            let column = row % COLUMNS;
            let first = self.weights.len() - pairs;
            // No weight of a group is larger than eight of its steps.
            let (scale, inverse) = scales_of(8.0 * largest_of(&steps), WEIGHT_LIMIT);
            let mut sum = 0;
            let places = self.weights[first..].as_chunks_mut::<{ GROUP / 2 }>().0;
            for ((group, step), places) in bytes.iter().zip(&steps).zip(places) {
                let of: [i16; 16] = std::array::from_fn(|nibble| {
                    rounded(((nibble as i32) << 28 >> 28) as f32 * step * inverse) as i16
                });
                for (byte, place) in group.iter().zip(places) {
                    let (low, high) = (of[usize::from(byte & 15)], of[usize::from(byte >> 4)]);
                    place[2 * column] = low;
                    place[2 * column + 1] = high;
                    sum += i32::from(low).abs() + i32::from(high).abs();
                }
            }
            self.scales.push(scale);
            self.largest_sum = self.largest_sum.max(sum);
        }
        Ok(())
    }

    fn push_output(&mut self, row: &[f32], first: usize, column: usize) {
        let largest = row.iter().fold(0.0_f32, |largest, weight| largest.max(weight.abs()));
        let (scale, inverse) = scales_of(largest, WEIGHT_LIMIT);
        let mut sum = 0;
        for (pair, weights) in row.chunks(2).zip(&mut self.weights[first..]) {
            for (weight, place) in pair.iter().zip(&mut weights[2 * column..]) {
                let whole = rounded(weight * inverse) as i16;
                *place = whole;
                sum += i32::from(whole).abs();
            }
        }
        self.scales.push(scale);
        self.largest_sum = self.largest_sum.max(sum);
    }

    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Converts `input`, a row of [`Self::inputs`] numbers for each token, to integers.
    #[inline(always)]
    fn take(&self, input: &[f32], taken: &mut Taken) {
        let limit = INPUT_LIMIT.min(i32::MAX / self.largest_sum) as f32;
        let pairs = self.inputs.div_ceil(2);
        let tokens = input.len() / self.inputs;
        taken.scales.clear();
        taken.blocks.clear();
        taken.blocks.resize(tokens.div_ceil(ROWS) * pairs, [0; ROWS]);
        for (token, row) in input.chunks_exact(self.inputs).enumerate() {
            let (scale, inverse) = scales_of(largest_of(row), limit);
            taken.scales.push(scale);
            let block = &mut taken.blocks[token / ROWS * pairs..][..pairs];
            let place = token % ROWS;
            let (whole, rest) = row.as_chunks::<2>();
            for (pair, numbers) in block.iter_mut().zip(whole) {
                let low = rounded(numbers[0] * inverse) & 0xffff;
                pair[place] = low | rounded(numbers[1] * inverse) << 16;
            }
            if let (Some(last), Some(pair)) = (rest.first(), block.last_mut()) {
                pair[place] = rounded(last * inverse) & 0xffff;
            }
        }
    }

    /// Sets `output` to the layer's result for `input`: a row for each token.
    #[inline(always)]
    pub(super) fn apply<M: Machine>(
        &self,
        machine: M,
        input: &[f32],
        taken: &mut Taken,
        output: &mut Vec<f32>,
    ) {
        self.take(input, taken);
        output.clear();
        output.resize(taken.scales.len() * self.outputs, 0.0);
        let pairs = self.inputs.div_ceil(2);
        for (panel, weights) in self.weights.chunks_exact(pairs).enumerate() {
            let columns = panel * COLUMNS..self.outputs.min((panel + 1) * COLUMNS);
            let (scales, bias) = (&self.scales[columns.clone()], &self.bias[columns.clone()]);
            let blocks = taken.blocks.chunks_exact(pairs);
            let rows = output.chunks_mut(ROWS * self.outputs);
            for ((block, rows), inputs) in blocks.zip(rows).zip(taken.scales.chunks(ROWS)) {
                let tile = machine.whole(block, weights);
                for ((sums, row), input) in
                    tile.iter().zip(rows.chunks_exact_mut(self.outputs)).zip(inputs)
                {
                    for (((out, sum), scale), bias) in
                        row[columns.clone()].iter_mut().zip(sums).zip(scales).zip(bias)
                    {
                        *out = *sum as f32 * (scale * input) + bias;
                    }
                }
            }
        }
    }
}

/// The inputs of a layer, as integers in the order of [`super::kernel`].
#[derive(Default)]
pub(super) struct Taken {
    blocks: Vec<[i32; ROWS]>,
    scales: Vec<f32>,
}

/// Returns the value of one unit when the integer `limit` represents `largest`, and its inverse.
fn scales_of(largest: f32, limit: f32) -> (f32, f32) {
    let (scale, inverse) = (largest / limit, limit / largest);
    if inverse.is_finite() { (scale, inverse) } else { (0.0, 0.0) }
}

/// Returns the largest number in `row`, without its sign.
#[inline(always)]
fn largest_of(row: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 16];
    let (chunks, rest) = row.as_chunks::<16>();
    for chunk in chunks {
        for (lane, number) in lanes.iter_mut().zip(chunk) {
            *lane = if number.abs() > *lane { number.abs() } else { *lane };
        }
    }
    lanes.iter().chain(rest).fold(0.0, |largest, number| largest.max(number.abs()))
}

/// Returns the nearest integer to a `number` of less than 2^21.
///
/// Adding 1.5 * 2^23 leaves it in the lowest bits of the sum, which is faster than a conversion
/// that handles out-of-range numbers. NaN gives an arbitrary integer.
#[inline(always)]
fn rounded(number: f32) -> i32 {
    const SHIFT: f32 = 12_582_912.0;
    ((number + SHIFT).to_bits() as i32).wrapping_sub(SHIFT.to_bits() as i32)
}
