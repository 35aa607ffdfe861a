//! A matrix in a file: its numbers as floats, as bytes with a scale for each row, or as four bits
//! with a scale for each group in a row.

use std::ops::Range;

use super::{Dtype, Entry, ModelError, Source, shape};

/// Numbers that share one scale where a number has four bits.
pub(crate) const GROUP: usize = 32;

/// The position of a matrix in the file, and its form.
#[derive(Debug)]
pub(crate) struct Matrix {
    name: String,
    rows: usize,
    columns: usize,
    form: Form,
    data_start: u64,
    row_bytes: u64,
    scales_start: u64,
    row_scale_bytes: u64,
}

/// How the numbers of a matrix are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Floats(Dtype),
    /// Signed bytes, with a scale of the given type for each row.
    Bytes(Dtype),
    /// Four bits, two's complement, the lower half of a byte first, with an F16 for each group.
    Nibbles,
}

impl Matrix {
    pub(super) fn floats(
        name: &str,
        rows: usize,
        columns: usize,
        entry: &Entry,
        data_start: u64,
    ) -> Result<Self, ModelError> {
        check_type(name, entry, &[Dtype::F32, Dtype::F16, Dtype::Bf16])?;
        Ok(Self {
            name: name.to_owned(),
            rows,
            columns,
            form: Form::Floats(entry.dtype),
            data_start: data_start + entry.data_offsets[0],
            row_bytes: columns as u64 * entry.dtype.size_bytes(),
            scales_start: 0,
            row_scale_bytes: 0,
        })
    }

    pub(super) fn quantised(
        name: &str,
        rows: usize,
        columns: usize,
        entry: &Entry,
        scales: &Entry,
        data_start: u64,
    ) -> Result<Self, ModelError> {
        let in_bytes = entry.shape.get(1) == Some(&(columns as u64));
        let scales_name = format!("{name}.s");
        let (form, row_bytes, scale_shape) = if in_bytes {
            check_type(name, entry, &[Dtype::I8])?;
            check_type(&scales_name, scales, &[Dtype::F32, Dtype::F16])?;
            (Form::Bytes(scales.dtype), columns, vec![rows as u64])
        } else {
            check_type(name, entry, &[Dtype::U8])?;
            check_type(&scales_name, scales, &[Dtype::F16])?;
            if !columns.is_multiple_of(GROUP) {
                return Err(shape(name, entry));
            }
            (Form::Nibbles, columns / 2, vec![rows as u64, (columns / GROUP) as u64])
        };
        if scales.shape != scale_shape {
            return Err(shape(&scales_name, scales));
        }
        let scales_in_a_row = if in_bytes { 1 } else { columns / GROUP };
        Ok(Self {
            name: name.to_owned(),
            rows,
            columns,
            form,
            data_start: data_start + entry.data_offsets[0],
            row_bytes: row_bytes as u64,
            scales_start: data_start + scales.data_offsets[0],
            row_scale_bytes: scales_in_a_row as u64 * scales.dtype.size_bytes(),
        })
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Returns whether a number has four bits.
    pub(crate) fn is_nibbles(&self) -> bool {
        self.form == Form::Nibbles
    }

    pub(super) fn data(&self) -> Range<u64> {
        within(self.data_start, self.row_bytes, 0..self.rows)
    }

    pub(super) fn scales(&self) -> Range<u64> {
        within(self.scales_start, self.row_scale_bytes, 0..self.rows)
    }

    /// Returns the numbers in `rows`, all of them finite.
    pub(super) fn read(
        &self,
        source: &mut Source,
        rows: Range<usize>,
    ) -> Result<Vec<f32>, ModelError> {
        let data = source.bytes(within(self.data_start, self.row_bytes, rows.clone()))?;
        let mut numbers = Vec::with_capacity(rows.len() * self.columns);
        match self.form {
            Form::Floats(dtype) => decode_floats(dtype, &data, &mut numbers),
            Form::Bytes(dtype) => {
                let scales = source.bytes(within(self.scales_start, self.row_scale_bytes, rows))?;
                let mut row_scales = Vec::new();
                decode_floats(dtype, &scales, &mut row_scales);
                for (row, scale) in data.chunks_exact(self.columns).zip(row_scales) {
                    numbers.extend(row.iter().map(|byte| f32::from(*byte as i8) * scale));
                }
            }
            Form::Nibbles => {
                let scales = source.bytes(within(self.scales_start, self.row_scale_bytes, rows))?;
                decode_nibbles(&data, &scales, &mut numbers);
            }
        }
        // The loop does not end early, so that it can process many numbers at a time.
        if !numbers.iter().fold(true, |finite, number| finite & number.is_finite()) {
            return Err(self.not_finite());
        }
        Ok(numbers)
    }

    /// Reports that a number of the matrix cannot be used.
    pub(crate) fn not_finite(&self) -> ModelError {
        ModelError::NotFinite(self.name.clone())
    }
}

fn within(start: u64, row_bytes: u64, rows: Range<usize>) -> Range<u64> {
    start + rows.start as u64 * row_bytes..start + rows.end as u64 * row_bytes
}

fn check_type(name: &str, entry: &Entry, known: &[Dtype]) -> Result<(), ModelError> {
    if known.contains(&entry.dtype) {
        return Ok(());
    }
    Err(ModelError::Type { tensor: name.to_owned(), dtype: format!("{:?}", entry.dtype) })
}

fn decode_floats(dtype: Dtype, bytes: &[u8], numbers: &mut Vec<f32>) {
    match dtype {
        Dtype::F32 => {
            let (words, _) = bytes.as_chunks::<4>();
            numbers.extend(words.iter().map(|word| f32::from_le_bytes(*word)));
        }
        Dtype::Bf16 => {
            let (words, _) = bytes.as_chunks::<2>();
            let wide = |word: &[u8; 2]| u32::from(u16::from_le_bytes(*word)) << 16;
            numbers.extend(words.iter().map(|word| f32::from_bits(wide(word))));
        }
        _ => {
            let (words, _) = bytes.as_chunks::<2>();
            numbers.extend(words.iter().map(|word| half(*word)));
        }
    }
}

/// Appends the numbers of whole groups of four bits to `numbers`.
pub(crate) fn decode_nibbles(data: &[u8], scales: &[u8], numbers: &mut Vec<f32>) {
    let (groups, _) = data.as_chunks::<{ GROUP / 2 }>();
    let (scales, _) = scales.as_chunks::<2>();
    for (group, scale) in groups.iter().zip(scales) {
        let scale = half(*scale);
        for byte in group {
            let (low, high) = ((byte << 4) as i8 >> 4, *byte as i8 >> 4);
            numbers.extend([f32::from(low) * scale, f32::from(high) * scale]);
        }
    }
}

/// Returns the number that two bytes of F16 represent.
pub(crate) fn half(bytes: [u8; 2]) -> f32 {
    let bits = u32::from(u16::from_le_bytes(bytes));
    let sign = (bits & 0x8000) << 16;
    let (exponent, fraction) = (bits >> 10 & 0x1f, bits & 0x3ff);
    let magnitude = match exponent {
        // 2^-24, the step between the numbers next to zero.
        0 => fraction as f32 * f32::from_bits(0x3380_0000),
        0x1f => f32::from_bits(0x7f80_0000 | fraction << 13),
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    f32::from_bits(magnitude.to_bits() | sign)
}
