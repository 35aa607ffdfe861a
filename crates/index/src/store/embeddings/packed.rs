//! How the cache stores a vector: in half the bytes.
//!
//! First a step, a power of two that fits 16,384 to 32,767 times into the largest number; then each
//! number as a multiple of the step, in 16 bits. The loss is less than a thirty-thousandth of the
//! largest number, and packing again loses nothing more.

/// How much smaller than the largest number the step is, as a power of two.
const BITS: u32 = 14;
/// Where the exponent of an `f32` begins.
const EXPONENT: u32 = 23;
/// The most steps there are in either direction.
const MOST: f32 = 32_767.0;

/// Encodes a vector; NaN becomes 0.
pub(super) fn pack(vector: &[f32]) -> Vec<u8> {
    let step = step(vector);
    let mut bytes = Vec::with_capacity(length(vector.len()));
    bytes.extend_from_slice(&step.to_le_bytes());
    for number in vector {
        let steps = if step > 0.0 { (number / step).round().clamp(-MOST, MOST) } else { 0.0 };
        bytes.extend_from_slice(&(steps as i16).to_le_bytes());
    }
    bytes
}

/// Reads a vector; `None` when the bytes are not one of as many dimensions.
pub(super) fn unpack(bytes: &[u8], dimensions: usize) -> Option<Vec<f32>> {
    let (step, numbers) = bytes.split_first_chunk()?;
    let step = f32::from_le_bytes(*step);
    let (numbers, rest) = numbers.as_chunks();
    if numbers.len() != dimensions || !rest.is_empty() || !step.is_finite() {
        return None;
    }
    Some(numbers.iter().map(|number| f32::from(i16::from_le_bytes(*number)) * step).collect())
}

/// Returns a vector as the cache will return it, so that results do not depend on whether it came
/// from there.
pub(crate) fn as_kept(vector: &[f32]) -> Vec<f32> {
    unpack(&pack(vector), vector.len()).unwrap_or_else(|| vec![0.0; vector.len()])
}

/// How many bytes a vector takes.
const fn length(dimensions: usize) -> usize {
    4 + 2 * dimensions
}

/// Returns the power of two; 0 for a vector of zeros, or of nearly zero.
fn step(vector: &[f32]) -> f32 {
    let largest = vector.iter().fold(0.0_f32, |most, number| most.max(number.abs())).min(f32::MAX);
    let exponent = (largest.to_bits() >> EXPONENT).saturating_sub(BITS);
    f32::from_bits(exponent << EXPONENT)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn little_is_lost_and_nothing_the_second_time(
            vector in proptest::collection::vec(-1.0_f32..1.0, 0..40),
            scale in -30_i32..30,
        ) {
            let vector: Vec<f32> = vector.iter().map(|number| number * 2.0_f32.powi(scale)).collect();
            let kept = as_kept(&vector);
            let largest = vector.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
            for (exact, kept) in vector.iter().zip(&kept) {
                prop_assert!((exact - kept).abs() <= largest / 16_384.0, "{exact} {kept}");
            }
            prop_assert_eq!(as_kept(&kept), kept);
        }

        #[test]
        fn no_bits_break_it(bits in proptest::collection::vec(any::<u32>(), 0..9)) {
            let vector: Vec<f32> = bits.iter().map(|bit| f32::from_bits(*bit)).collect();
            let kept = as_kept(&vector);
            prop_assert_eq!(kept.len(), vector.len());
            prop_assert!(kept.iter().all(|number| number.is_finite()));
        }
    }

    #[test]
    fn bytes_that_are_no_vector_are_none() {
        let bytes = pack(&[0.25, -1.0]);
        assert_eq!((bytes.len(), unpack(&bytes, 2)), (length(2), Some(vec![0.25, -1.0])));
        assert_eq!(unpack(&bytes, 3), None);
        assert_eq!(unpack(&bytes[..7], 2), None);
        assert_eq!(unpack(&bytes[..2], 0), None);
        let mut infinite = bytes;
        infinite[..4].copy_from_slice(&f32::INFINITY.to_le_bytes());
        assert_eq!(unpack(&infinite, 2), None);
    }
}
