//! The functions between the linear layers, written so that the compiler vectorizes them: no
//! branches, no calls, and sums in lanes.

/// Numbers that are summed side by side.
const LANES: usize = 16;

/// The target of a layer norm: each number times its gain, plus its bias.
pub(super) struct Norm {
    pub(super) gain: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

impl Norm {
    /// Normalizes each row of `rows` to mean 0 and variance 1, then applies gain and bias.
    #[inline(always)]
    pub(super) fn apply(&self, rows: &mut [f32]) {
        /// Keeps a row of equal numbers from a division by zero.
        const LEAST_VARIANCE: f32 = 1e-12;
        let width = self.gain.len() as f32;
        for row in rows.chunks_exact_mut(self.gain.len()) {
            let mean = sum_of(row, |number| number) / width;
            let variance = sum_of(row, |number| (number - mean) * (number - mean)) / width;
            let factor = 1.0 / (variance + LEAST_VARIANCE).sqrt();
            for ((number, gain), bias) in row.iter_mut().zip(&self.gain).zip(&self.bias) {
                *number = (*number - mean) * factor * gain + bias;
            }
        }
    }
}

/// Adds `more` to `numbers`.
#[inline(always)]
pub(super) fn add(numbers: &mut [f32], more: &[f32]) {
    for (number, more) in numbers.iter_mut().zip(more) {
        *number += more;
    }
}

/// Replaces each number x by x * P(X <= x) for a normal X (exact GELU).
#[inline(always)]
pub(super) fn gelu(numbers: &mut [f32]) {
    for number in numbers {
        let x = *number;
        let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
        // Abramowitz and Stegun 7.1.26: the error function to 1.5e-7, here 1 less it.
        let t = 1.0 / (1.0 + 0.327_591_1 * z);
        let polynomial = ((((1.061_405_4 * t - 1.453_152_1) * t + 1.421_413_8) * t - 0.284_496_72)
            * t
            + 0.254_829_6)
            * t;
        let tail = 0.5 * polynomial * exp(-z * z);
        *number = x * if x < 0.0 { tail } else { 1.0 - tail };
    }
}

/// Replaces `scores` by e to the power of each minus the largest, and returns their sum.
#[inline(always)]
pub(super) fn exp_all(scores: &mut [f32]) -> f32 {
    let mut lanes = [f32::MIN; LANES];
    let (chunks, rest) = scores.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, score) in lanes.iter_mut().zip(chunk) {
            *lane = if *score > *lane { *score } else { *lane };
        }
    }
    let largest = lanes.iter().chain(rest).fold(f32::MIN, |largest, score| largest.max(*score));
    for score in scores.iter_mut() {
        *score = exp(*score - largest);
    }
    sum_of(scores, |power| power)
}

/// Returns the sum of `of` over `numbers`.
#[inline(always)]
pub(super) fn sum_of(numbers: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, number) in lanes.iter_mut().zip(chunk) {
            *lane += of(*number);
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|number| of(*number)).sum::<f32>()
}

/// Returns e to the power of a `number` of at most 0, to 1e-5 of it.
#[inline(always)]
fn exp(number: f32) -> f32 {
    /// Adding it leaves a whole number in the lowest bits: 1.5 * 2^23.
    const SHIFT: f32 = 12_582_912.0;
    // Below this the result is less than 1e-37, and its exponent would not fit.
    let number = if number > -86.0 { number } else { -86.0 };
    let power = number * std::f32::consts::LOG2_E;
    let shifted = power + SHIFT;
    let fraction = (power - (shifted - SHIFT)) * std::f32::consts::LN_2;
    let polynomial = 1.0
        + fraction
            * (1.0
                + fraction
                    * (0.5
                        + fraction
                            * (1.0 / 6.0 + fraction * (1.0 / 24.0 + fraction * (1.0 / 120.0)))));
    let exponent = (shifted.to_bits() << 23).wrapping_add(127 << 23);
    polynomial * f32::from_bits(exponent)
}

#[cfg(test)]
mod tests {
    use super::{Norm, exp_all, gelu};

    #[test]
    fn gelu_is_near_the_exact_one() {
        // From the error function of a mathematics library, to 7 digits.
        let known = [
            (-4.0, -0.000_126_684_81),
            (-1.0, -0.158_655_25),
            (-0.1, -0.046_017_22),
            (0.0, 0.0),
            (0.5, 0.345_731_23),
            (1.0, 0.841_344_8),
            (3.0, 2.995_950_3),
            (60.0, 60.0),
        ];
        for (x, expected) in known {
            let mut numbers = [x];
            gelu(&mut numbers);
            assert!((numbers[0] - expected).abs() < 1e-6, "{x}: {} is not {expected}", numbers[0]);
        }
    }

    #[test]
    fn powers_are_near_the_exact_ones_and_sum_up() {
        let mut scores: Vec<f32> = (0..1000).map(|n| 5.0 - n as f32 * 0.11).collect();
        let expected: Vec<f32> = scores.iter().map(|score| (score - 5.0).exp()).collect();
        let sum = exp_all(&mut scores);
        for (power, expected) in scores.iter().zip(&expected) {
            let off = (power - expected).abs();
            assert!(off < 1e-5 * expected + 1e-36, "{power} is not {expected}");
        }
        assert!((sum - expected.iter().sum::<f32>()).abs() < 1e-4);
    }

    #[test]
    fn a_norm_moves_a_row_to_its_gain_and_bias() {
        let norm = Norm { gain: vec![2.0; 18], bias: vec![1.0; 18] };
        let mut row: Vec<f32> = (0..18).map(|n| if n % 2 == 0 { 3.0 } else { 7.0 }).collect();
        norm.apply(&mut row);
        for (n, number) in row.iter().enumerate() {
            let expected = if n % 2 == 0 { -1.0 } else { 3.0 };
            assert!((number - expected).abs() < 1e-5, "{number}");
        }
        let mut equal = [4.0; 18];
        norm.apply(&mut equal);
        assert_eq!(equal, [1.0; 18]);
    }
}
