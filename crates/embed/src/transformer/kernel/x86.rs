//! The inner loops on x86-64: with AVX2, which nearly all processors have, and without.

use std::arch::x86_64::{
    __m128i, __m256, __m256i, _mm_add_epi32, _mm_madd_epi16, _mm_set1_epi32, _mm_setzero_si128,
    _mm256_add_epi32, _mm256_fmadd_ps, _mm256_madd_epi16, _mm256_set1_epi32, _mm256_set1_ps,
    _mm256_setzero_ps, _mm256_setzero_si256,
};

use fearless_simd::prelude::*;
use fearless_simd::{Avx2, Sse2, f32x8, i16x8, i16x16, i32x4, i32x8, kernel};

use super::{COLUMNS, Machine, Portable, ROWS};

impl Machine for Avx2 {
    #[inline(always)]
    fn whole(self, block: &[[i32; ROWS]], panel: &[[i16; 2 * COLUMNS]]) -> [[i32; COLUMNS]; ROWS] {
        whole_avx2(self, block, panel)
    }

    #[inline(always)]
    fn float(self, block: &[[f32; ROWS]], panel: &[[f32; COLUMNS]]) -> [[f32; COLUMNS]; ROWS] {
        float_avx2(self, block, panel)
    }
}

kernel!(
    #[inline]
    fn whole_avx2(
        avx2: Avx2,
        block: &[[i32; ROWS]],
        panel: &[[i16; 2 * COLUMNS]],
    ) -> [[i32; COLUMNS]; ROWS] {
        let mut sums = [[_mm256_setzero_si256(); 2]; ROWS];
        for (pairs, weights) in block.iter().zip(panel) {
            let left: __m256i = i16x16::from_slice(avx2, &weights[..16]).into();
            let right: __m256i = i16x16::from_slice(avx2, &weights[16..]).into();
            for (sums, pair) in sums.iter_mut().zip(pairs) {
                let pair = _mm256_set1_epi32(*pair);
                sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(pair, left));
                sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(pair, right));
            }
        }
        let mut tile = [[0; COLUMNS]; ROWS];
        for (row, [left, right]) in tile.iter_mut().zip(sums) {
            let (left, right): (i32x8<_>, i32x8<_>) = (left.simd_into(avx2), right.simd_into(avx2));
            left.store_slice(&mut row[..8]);
            right.store_slice(&mut row[8..]);
        }
        tile
    }
);

kernel!(
    #[inline]
    fn float_avx2(
        avx2: Avx2,
        block: &[[f32; ROWS]],
        panel: &[[f32; COLUMNS]],
    ) -> [[f32; COLUMNS]; ROWS] {
        let mut sums = [[_mm256_setzero_ps(); 2]; ROWS];
        for (numbers, weights) in block.iter().zip(panel) {
            let left: __m256 = f32x8::from_slice(avx2, &weights[..8]).into();
            let right: __m256 = f32x8::from_slice(avx2, &weights[8..]).into();
            for (sums, number) in sums.iter_mut().zip(numbers) {
                let number = _mm256_set1_ps(*number);
                sums[0] = _mm256_fmadd_ps(number, left, sums[0]);
                sums[1] = _mm256_fmadd_ps(number, right, sums[1]);
            }
        }
        let mut tile = [[0.0; COLUMNS]; ROWS];
        for (row, [left, right]) in tile.iter_mut().zip(sums) {
            let (left, right): (f32x8<_>, f32x8<_>) = (left.simd_into(avx2), right.simd_into(avx2));
            left.store_slice(&mut row[..8]);
            right.store_slice(&mut row[8..]);
        }
        tile
    }
);

impl Machine for Sse2 {
    #[inline(always)]
    fn whole(self, block: &[[i32; ROWS]], panel: &[[i16; 2 * COLUMNS]]) -> [[i32; COLUMNS]; ROWS] {
        whole_sse2(self, block, panel)
    }

    #[inline(always)]
    fn float(self, block: &[[f32; ROWS]], panel: &[[f32; COLUMNS]]) -> [[f32; COLUMNS]; ROWS] {
        Portable.float(block, panel)
    }
}

kernel!(
    #[inline]
    fn whole_sse2(
        sse2: Sse2,
        block: &[[i32; ROWS]],
        panel: &[[i16; 2 * COLUMNS]],
    ) -> [[i32; COLUMNS]; ROWS] {
        /// Tokens whose sums fit the registers.
        const AT_A_TIME: usize = 3;
        let mut tile = [[0; COLUMNS]; ROWS];
        for (first, rows) in tile.chunks_mut(AT_A_TIME).enumerate() {
            let mut sums = [[_mm_setzero_si128(); 4]; AT_A_TIME];
            for (pairs, weights) in block.iter().zip(panel) {
                let pairs = &pairs.as_chunks::<AT_A_TIME>().0[first];
                for (sums, pair) in sums.iter_mut().zip(pairs) {
                    let pair = _mm_set1_epi32(*pair);
                    for (sum, weights) in sums.iter_mut().zip(weights.as_chunks::<8>().0) {
                        let weights: __m128i = i16x8::from_slice(sse2, weights).into();
                        *sum = _mm_add_epi32(*sum, _mm_madd_epi16(pair, weights));
                    }
                }
            }
            for (row, sums) in rows.iter_mut().zip(sums) {
                for (place, sum) in row.chunks_exact_mut(4).zip(sums) {
                    let sum: i32x4<_> = sum.simd_into(sse2);
                    sum.store_slice(place);
                }
            }
        }
        tile
    }
);
