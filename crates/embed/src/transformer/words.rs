//! The first vector of each word piece, stored compactly and converted to floats when it is used.

use std::borrow::Cow;

use crate::tensors::{GROUP, Matrix, ModelError, Tensors, decode_nibbles};

/// Rows that are read at a time.
const STEP: usize = 64;

/// A vector for each word piece.
pub(super) enum Words {
    /// Signed bytes, with a scale for each row.
    Bytes { width: usize, rows: Vec<i8>, scales: Vec<f32> },
    /// Four bits, as they are in the file.
    Nibbles { width: usize, rows: Cow<'static, [u8]>, scales: Cow<'static, [u8]> },
}

impl Words {
    /// Reads the rows of `matrix`.
    pub(super) fn read(tensors: &mut Tensors, matrix: &Matrix) -> Result<Self, ModelError> {
        let width = matrix.columns();
        if matrix.is_nibbles() {
            let rows = tensors.data(matrix)?;
            return Ok(Self::Nibbles { width, rows, scales: tensors.scales(matrix)? });
        }
        let mut rows = Vec::with_capacity(matrix.rows() * width);
        let mut scales = Vec::with_capacity(matrix.rows());
        for start in (0..matrix.rows()).step_by(STEP) {
            let numbers = tensors.rows(matrix, start..matrix.rows().min(start + STEP))?;
            for row in numbers.chunks_exact(width) {
                let largest = row.iter().fold(0.0_f32, |largest, n| largest.max(n.abs()));
                let scale = largest / 127.0;
                let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
                rows.extend(row.iter().map(|number| (number * inverse).round() as i8));
                scales.push(scale);
            }
        }
        Ok(Self::Bytes { width, rows, scales })
    }

    /// Sets `vector` to the vector of `word`; zeros for a missing word.
    pub(super) fn vector(&self, word: u32, vector: &mut Vec<f32>) {
        let word = word as usize;
        vector.clear();
        match self {
            Self::Bytes { width, rows, scales } => {
                if let (Some(row), Some(scale)) =
                    (rows.chunks_exact(*width).nth(word), scales.get(word))
                {
                    vector.extend(row.iter().map(|byte| f32::from(*byte) * scale));
                }
                vector.resize(*width, 0.0);
            }
            Self::Nibbles { width, rows, scales } => {
                let row = rows.chunks_exact(width / 2).nth(word);
                let scales = scales.chunks_exact(2 * (width / GROUP)).nth(word);
                if let (Some(row), Some(scales)) = (row, scales) {
                    decode_nibbles(row, scales, vector);
                }
                vector.resize(*width, 0.0);
            }
        }
    }
}
