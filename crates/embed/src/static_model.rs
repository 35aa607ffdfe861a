//! The static model is a table of token vectors: a text's vector is the sum of its tokens' rows.
//!
//! The rows stay in the binary: opening the model only reads the header, and a look-up reads the
//! rows it needs.
//!
//! | tensor | type | shape | |
//! |---|---|---|---|
//! | `table.q8` | I8 | rows, dimensions | a row for each token id |
//! | `table.s` | F32 | rows | what a row's numbers are multiplied with |
//! | `turn` | F16 | dimensions, width | turns the small transformer's vectors into the model's |
//!
//! A token's weight is a part of its scale. The metadata hold the model's `name`.

use std::borrow::Cow;

use crate::tensors::{ModelError, Tensors};
use crate::tokens::UNKNOWN;

/// An opened static model.
#[derive(Debug)]
pub(crate) struct StaticModel {
    name: String,
    dimensions: usize,
    rows: Cow<'static, [u8]>,
    scales: Cow<'static, [u8]>,
}

impl StaticModel {
    /// Opens a static model. The rows are checked for completeness but not read.
    pub(crate) fn open(tensors: &mut Tensors) -> Result<Self, ModelError> {
        let matrix = tensors.matrix("table")?;
        let (rows, dimensions) = (matrix.rows(), matrix.columns());
        let (bytes, scales) = (tensors.data(&matrix)?, tensors.scales(&matrix)?);
        if dimensions == 0 || bytes.len() != rows * dimensions || scales.len() != rows * 4 {
            let found = vec![rows as u64, dimensions as u64];
            return Err(ModelError::Shape { tensor: "table".to_owned(), found });
        }
        let name = tensors.metadata("name").ok_or(ModelError::Metadata("name"))?.to_owned();
        Ok(Self { name, dimensions, rows: bytes, scales })
    }

    /// The name of the model; every other model must have another name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Numbers in a vector.
    pub(crate) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns the vector of a text of these tokens: of length 1, or zeros if no token is known.
    pub(crate) fn vector(&self, ids: &[u32]) -> Vec<f32> {
        let mut sum = vec![0.0; self.dimensions];
        // `[UNK]` has a row in the file, but it means nothing.
        for id in ids.iter().filter(|id| **id != UNKNOWN) {
            self.add(*id as usize, &mut sum);
        }
        to_unit_length(&mut sum);
        sum
    }

    fn add(&self, row: usize, sum: &mut [f32]) {
        let scale =
            self.scales.as_chunks().0.get(row).map_or(0.0, |scale| f32::from_le_bytes(*scale));
        let numbers = self.rows.chunks_exact(sum.len()).nth(row).unwrap_or_default();
        for (sum, number) in sum.iter_mut().zip(numbers) {
            *sum += scale * f32::from(number.cast_signed());
        }
    }
}

/// Divides by the length. A sum without a length, because it is zero or damaged, becomes zeros.
pub(crate) fn to_unit_length(sum: &mut [f32]) {
    let length = sum.iter().map(|number| number * number).sum::<f32>().sqrt();
    if length.is_normal() {
        sum.iter_mut().for_each(|number| *number /= length);
    } else {
        sum.fill(0.0);
    }
}

#[cfg(test)]
mod tests;
