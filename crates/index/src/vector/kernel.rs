//! The dot products of a query with each vector of a blob, on any processor.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m128i, __m256i, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_madd_epi16,
    _mm256_setzero_si256,
};

#[cfg(target_arch = "x86_64")]
use fearless_simd::{Avx2, i16x16, i32x8, kernel, prelude::*, u8x16};

/// Bytes of a vector's scale, which comes before its numbers.
const SCALE_BYTES: usize = 4;
/// Numbers that are multiplied at a time.
const LANES: usize = 16;

/// The instruction set that is used.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kernel {
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    Portable,
}

impl Kernel {
    /// Detects the processor's features.
    pub(super) fn new() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = fearless_simd::Level::new().as_avx2() {
            return Self::Avx2(avx2);
        }
        Self::Portable
    }

    /// Appends the dot product with each vector of a blob to `sums`; each fits an `i32`.
    pub(super) fn products(self, query: &[i16], blob: &[u8], sums: &mut Vec<i32>) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(avx2) => products_avx2(avx2, query, blob, sums),
            Self::Portable => {
                let numbers =
                    |vector: &[u8]| sum(query, vector.get(SCALE_BYTES..).unwrap_or_default());
                sums.extend(blob.chunks_exact(SCALE_BYTES + query.len()).map(numbers));
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
kernel!(
    fn products_avx2(avx2: Avx2, query: &[i16], blob: &[u8], sums: &mut Vec<i32>) {
        let (query_blocks, query_rest) = query.as_chunks::<LANES>();
        for vector in blob.chunks_exact(SCALE_BYTES + query.len()) {
            let (blocks, rest) = vector[SCALE_BYTES..].as_chunks::<LANES>();
            let mut lanes = _mm256_setzero_si256();
            for (query, numbers) in query_blocks.iter().zip(blocks) {
                let query: __m256i = i16x16::from_slice(avx2, query).into();
                let numbers: __m128i = u8x16::from_slice(avx2, numbers).into();
                let products = _mm256_madd_epi16(query, _mm256_cvtepi8_epi16(numbers));
                lanes = _mm256_add_epi32(lanes, products);
            }
            let lanes: i32x8<_> = lanes.simd_into(avx2);
            let lanes: [i32; 8] = lanes.into();
            let rest = query_rest.iter().zip(rest).map(product);
            sums.push(lanes.iter().sum::<i32>() + rest.sum::<i32>());
        }
    }
);

/// The dot product, in separate lanes so that the compiler vectorizes it.
fn sum(query: &[i16], numbers: &[u8]) -> i32 {
    let mut lanes = [0_i32; LANES];
    let (query_blocks, query_rest) = query.as_chunks::<LANES>();
    let (number_blocks, number_rest) = numbers.as_chunks::<LANES>();
    for (query, numbers) in query_blocks.iter().zip(number_blocks) {
        for (lane, pair) in lanes.iter_mut().zip(query.iter().zip(numbers)) {
            *lane += product(pair);
        }
    }
    let rest = query_rest.iter().zip(number_rest).map(product);
    lanes.iter().sum::<i32>() + rest.sum::<i32>()
}

#[inline(always)]
fn product((query, byte): (&i16, &u8)) -> i32 {
    i32::from(*query) * i32::from(*byte as i8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_processor_finds_the_same() {
        let mut state = 1_u32;
        let mut byte = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        for dimensions in [1, 3, 15, 16, 17, 64, 100, 128, 384] {
            let query: Vec<i16> =
                (0..dimensions).map(|_| i16::from_le_bytes([byte(), byte()])).collect();
            let blob: Vec<u8> = (0..7 * (SCALE_BYTES + dimensions)).map(|_| byte()).collect();
            let mut sums = [Vec::new(), Vec::new()];
            Kernel::new().products(&query, &blob, &mut sums[0]);
            Kernel::Portable.products(&query, &blob, &mut sums[1]);
            let by_hand = |vector: &[u8]| -> i64 {
                let numbers = vector[SCALE_BYTES..].iter().map(|byte| i64::from(*byte as i8));
                numbers.zip(&query).map(|(a, b)| a * i64::from(*b)).sum()
            };
            let wanted: Vec<i64> = blob.chunks(SCALE_BYTES + dimensions).map(by_hand).collect();
            for sums in sums {
                let sums: Vec<i64> = sums.into_iter().map(i64::from).collect();
                assert_eq!(sums, wanted, "{dimensions}");
            }
        }
    }
}
