//! The two inner loops that take nearly all of the time, for any processor; x86-64 has its own.
//!
//! A loop makes one tile of a product of matrices: [`ROWS`] tokens by [`COLUMNS`] outputs. What it
//! reads is stored in the order of reading:
//!
//! ```text
//! block[k][r]   what token r of the tile has at k
//! panel[k][c]   the weight from k to output c of the tile
//! ```
//!
//! Whole numbers go in pairs, two `k` to a step, because x86-64 multiplies and adds pairs in one
//! instruction: `block[k][r]` holds two `i16` in one `i32`, and `panel[k]` two weights in a row
//! for each output.

#[cfg(target_arch = "x86_64")]
mod x86;

/// Tokens in a tile.
pub(super) const ROWS: usize = 6;
/// Outputs in a tile.
pub(super) const COLUMNS: usize = 16;

/// The operations that depend on the processor.
///
/// All methods are inlined into [`super::forward::run`], which is compiled once for each machine.
pub(super) trait Machine: Copy {
    /// Multiplies pairs of integers. A sum must fit an `i32`.
    fn whole(self, block: &[[i32; ROWS]], panel: &[[i16; 2 * COLUMNS]]) -> [[i32; COLUMNS]; ROWS];

    /// Multiplies floats.
    fn float(self, block: &[[f32; ROWS]], panel: &[[f32; COLUMNS]]) -> [[f32; COLUMNS]; ROWS];
}

/// Any processor: plain loops, which the compiler optimizes.
#[derive(Clone, Copy)]
pub(super) struct Portable;

impl Machine for Portable {
    #[inline(always)]
    fn whole(self, block: &[[i32; ROWS]], panel: &[[i16; 2 * COLUMNS]]) -> [[i32; COLUMNS]; ROWS] {
        // One token at a time: its sums stay in registers, even on processors with few of them.
        std::array::from_fn(|row| {
            let mut sums = [0_i32; COLUMNS];
            for (pairs, weights) in block.iter().zip(panel) {
                let (low, high) = (i32::from(pairs[row] as i16), pairs[row] >> 16);
                for (sum, pair) in sums.iter_mut().zip(weights.as_chunks::<2>().0) {
                    let both = low * i32::from(pair[0]) + high * i32::from(pair[1]);
                    *sum = sum.wrapping_add(both);
                }
            }
            sums
        })
    }

    #[inline(always)]
    fn float(self, block: &[[f32; ROWS]], panel: &[[f32; COLUMNS]]) -> [[f32; COLUMNS]; ROWS] {
        let mut tile = [[0.0; COLUMNS]; ROWS];
        for (numbers, weights) in block.iter().zip(panel) {
            for (sums, number) in tile.iter_mut().zip(numbers) {
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum += number * weight;
                }
            }
        }
        tile
    }
}
