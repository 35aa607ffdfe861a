//! A safetensors file: consecutive named tensors, and a JSON header with their positions.
//!
//! ```text
//! 8 bytes   length of the header, little endian
//! header    {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
//! data      the tensors; offsets count from here
//! ```
//!
//! The file may be untrusted: the whole header is checked before it is used, and rows are read a
//! few at a time.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

mod matrix;

pub(crate) use matrix::{GROUP, Matrix, decode_nibbles, half};

/// Largest file that is opened.
const FILE_LIMIT_BYTES: u64 = 512 << 20;
/// Largest header that is read. The header of a transformer of six layers has some 10,000 bytes.
const HEADER_LIMIT_BYTES: u64 = 1 << 20;

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file cannot be read, or it is shorter than it says.
    #[error("cannot read the model")]
    Read(#[source] io::Error),
    /// The file is too large to be a model that is known here.
    #[error("the model has {size_bytes} bytes; at most {FILE_LIMIT_BYTES} are read")]
    TooLarge {
        /// The file's size.
        size_bytes: u64,
    },
    /// The file's first bytes are not a valid header length.
    #[error("the model is not a safetensors file: its header cannot have {header_bytes} bytes")]
    HeaderSize {
        /// The length that they give.
        header_bytes: u64,
    },
    /// The header is not the JSON that it should be.
    #[error("the header of the model is not what safetensors writes")]
    Header(#[source] serde_json::Error),
    /// A tensor's entry in the header is invalid.
    #[error("the header's entry for {tensor} is not what safetensors writes")]
    Entry {
        /// The tensor.
        tensor: String,
        /// Why.
        source: serde_json::Error,
    },
    /// A tensor's position does not fit its shape, or is outside the file.
    #[error("the place of {0} in the file does not fit its shape or the file")]
    Place(String),
    /// Two tensors overlap.
    #[error("{0} overlaps another tensor")]
    Overlap(String),
    /// A tensor that the model needs is missing.
    #[error("the model has no tensor {0}")]
    Missing(String),
    /// A tensor has a number type that is not supported.
    #[error("{tensor} holds numbers of the type {dtype}, which is not read here")]
    Type {
        /// The tensor.
        tensor: String,
        /// The type.
        dtype: String,
    },
    /// A tensor has another shape than the model needs.
    #[error("{tensor} has the shape {found:?}")]
    Shape {
        /// The tensor.
        tensor: String,
        /// Its shape.
        found: Vec<u64>,
    },
    /// A tensor holds a number that is infinite or NaN.
    #[error("{0} holds a number that is not finite")]
    NotFinite(String),
    /// The file's metadata are missing or invalid.
    #[error("the model says nothing usable under {0:?}")]
    Metadata(&'static str),
    /// The tensors are valid, but belong to another model than the requested one.
    #[error("the model has {found} {what}; {expected} are needed")]
    OtherModel {
        /// What differs.
        what: &'static str,
        /// What the file has.
        found: usize,
        /// What it should have.
        expected: usize,
    },
}

/// The source of tensors.
#[derive(Debug)]
pub(crate) enum Source {
    /// A file on a disk.
    File(fs_err::File),
    /// A part of the binary.
    Binary(&'static [u8]),
}

impl Source {
    /// Returns the bytes in `range`, without a copy if they are already in memory.
    fn bytes(&mut self, range: Range<u64>) -> Result<Cow<'static, [u8]>, ModelError> {
        let length = usize::try_from(range.end.saturating_sub(range.start)).map_err(too_short)?;
        match self {
            Self::File(file) => {
                let mut bytes = vec![0; length];
                file.seek(SeekFrom::Start(range.start)).map_err(ModelError::Read)?;
                file.read_exact(&mut bytes).map_err(ModelError::Read)?;
                Ok(Cow::Owned(bytes))
            }
            Self::Binary(bytes) => {
                let start = usize::try_from(range.start).map_err(too_short)?;
                let bytes = bytes.get(start..).and_then(|bytes| bytes.get(..length));
                bytes.map(Cow::Borrowed).ok_or(()).map_err(too_short)
            }
        }
    }
}

fn too_short<E>(_: E) -> ModelError {
    ModelError::Read(io::ErrorKind::UnexpectedEof.into())
}

/// The kinds of numbers that a file may contain. Only some of them are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Dtype {
    Bool,
    U8,
    I8,
    I16,
    U16,
    F16,
    Bf16,
    I32,
    U32,
    F32,
    F64,
    I64,
    U64,
}

impl Dtype {
    fn size_bytes(self) -> u64 {
        match self {
            Self::Bool | Self::U8 | Self::I8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    dtype: Dtype,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

impl Entry {
    fn size_bytes(&self) -> Option<u64> {
        self.shape.iter().try_fold(self.dtype.size_bytes(), |size, n| size.checked_mul(*n))
    }
}

/// The tensors of one file.
#[derive(Debug)]
pub(crate) struct Tensors {
    source: Source,
    data_start: u64,
    entries: BTreeMap<String, Entry>,
    metadata: BTreeMap<String, String>,
}

impl Tensors {
    /// Opens the file at `path`.
    pub(crate) fn open(path: &Path) -> Result<Self, ModelError> {
        let file = fs_err::File::open(path).map_err(ModelError::Read)?;
        let size_bytes = file.metadata().map_err(ModelError::Read)?.len();
        Self::parse(Source::File(file), size_bytes)
    }

    /// Takes bytes of the binary.
    pub(crate) fn of_binary(bytes: &'static [u8]) -> Result<Self, ModelError> {
        Self::parse(Source::Binary(bytes), bytes.len() as u64)
    }

    fn parse(mut source: Source, size_bytes: u64) -> Result<Self, ModelError> {
        if size_bytes > FILE_LIMIT_BYTES {
            return Err(ModelError::TooLarge { size_bytes });
        }
        let length = source.bytes(0..8)?;
        let length = length.as_ref().try_into().map_err(too_short)?;
        let header_bytes = u64::from_le_bytes(length);
        if header_bytes > HEADER_LIMIT_BYTES || header_bytes > size_bytes.saturating_sub(8) {
            return Err(ModelError::HeaderSize { header_bytes });
        }
        let data_start = 8 + header_bytes;
        let header = source.bytes(8..data_start)?;
        let mut parts: BTreeMap<String, &RawValue> =
            serde_json::from_slice(&header).map_err(ModelError::Header)?;

        let metadata = parts.remove("__metadata__").map(|raw| serde_json::from_str(raw.get()));
        let metadata = metadata.transpose().map_err(ModelError::Header)?.unwrap_or_default();
        let mut entries = BTreeMap::new();
        for (tensor, raw) in parts {
            match serde_json::from_str(raw.get()) {
                Ok(entry) => entries.insert(tensor, entry),
                Err(source) => return Err(ModelError::Entry { tensor, source }),
            };
        }
        check_places(&entries, size_bytes.saturating_sub(data_start))?;
        Ok(Self { source, data_start, entries, metadata })
    }

    /// Returns the file's metadata under `key`.
    pub(crate) fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }

    /// Returns the prefix of `name` in the file: nothing, or a text that ends with a dot.
    ///
    /// A model that was saved as a part of another has names such as `bert.pooler.dense.weight`.
    pub(crate) fn prefix_of(&self, name: &str) -> Option<&str> {
        let prefixes = self.entries.keys().filter_map(|key| {
            let forms = [".q4", ".q8"].into_iter();
            let key = forms.filter_map(|form| key.strip_suffix(form)).next().unwrap_or(key);
            key.strip_suffix(name)
        });
        prefixes.into_iter().find(|prefix| prefix.is_empty() || prefix.ends_with('.'))
    }

    /// Returns whether there is a matrix `name`, in any form.
    pub(crate) fn has(&self, name: &str) -> bool {
        ["", ".q4", ".q8"].iter().any(|form| self.entries.contains_key(&format!("{name}{form}")))
    }

    /// Returns the row of numbers `name`, `length` of them.
    pub(crate) fn vector(&mut self, name: &str, length: usize) -> Result<Vec<f32>, ModelError> {
        let entry = self.entry(name)?;
        if entry.shape != [length as u64] {
            return Err(shape(name, entry));
        }
        let matrix = Matrix::floats(name, 1, length, entry, self.data_start)?;
        matrix.read(&mut self.source, 0..1)
    }

    /// Returns the position and form of the matrix `name`, not yet its numbers.
    pub(crate) fn matrix(&self, name: &str) -> Result<Matrix, ModelError> {
        for (form, columns_in_a_byte) in [(".q8", 1), (".q4", 2)] {
            let quantised = format!("{name}{form}");
            if let Some(entry) = self.entries.get(&quantised) {
                let (rows, bytes) = sides(&quantised, entry)?;
                let scales = self.entry(&format!("{name}.s"))?;
                let columns = bytes * columns_in_a_byte;
                return Matrix::quantised(name, rows, columns, entry, scales, self.data_start);
            }
        }
        let entry = self.entry(name)?;
        let (rows, columns) = sides(name, entry)?;
        Matrix::floats(name, rows, columns, entry, self.data_start)
    }

    /// Returns the numbers in some rows of `matrix`, row after row.
    pub(crate) fn rows(
        &mut self,
        matrix: &Matrix,
        rows: Range<usize>,
    ) -> Result<Vec<f32>, ModelError> {
        matrix.read(&mut self.source, rows)
    }

    /// Returns all bytes of `matrix`, as they are in the file.
    pub(crate) fn data(&mut self, matrix: &Matrix) -> Result<Cow<'static, [u8]>, ModelError> {
        self.source.bytes(matrix.data())
    }

    /// Returns all bytes of the scales of `matrix`, as they are in the file.
    pub(crate) fn scales(&mut self, matrix: &Matrix) -> Result<Cow<'static, [u8]>, ModelError> {
        self.source.bytes(matrix.scales())
    }

    fn entry(&self, name: &str) -> Result<&Entry, ModelError> {
        self.entries.get(name).ok_or_else(|| ModelError::Missing(name.to_owned()))
    }
}

fn check_places(entries: &BTreeMap<String, Entry>, data_bytes: u64) -> Result<(), ModelError> {
    for (tensor, entry) in entries {
        let [start, end] = entry.data_offsets;
        let size = end.checked_sub(start);
        if size.is_none() || size != entry.size_bytes() || end > data_bytes {
            return Err(ModelError::Place(tensor.clone()));
        }
    }
    let mut places: Vec<_> = entries.iter().map(|(name, e)| (e.data_offsets, name)).collect();
    places.sort_unstable();
    for pair in places.windows(2) {
        if let [([_, end], _), ([start, _], tensor)] = pair
            && start < end
        {
            return Err(ModelError::Overlap((*tensor).clone()));
        }
    }
    Ok(())
}

/// Returns the rows and columns of a tensor that is a matrix.
fn sides(name: &str, entry: &Entry) -> Result<(usize, usize), ModelError> {
    /// Larger than any side of a model that is read here.
    const SIDE_LIMIT: u64 = 1 << 20;
    match entry.shape[..] {
        [rows @ 1..=SIDE_LIMIT, columns @ 1..=SIDE_LIMIT] => Ok((rows as usize, columns as usize)),
        _ => Err(shape(name, entry)),
    }
}

fn shape(name: &str, entry: &Entry) -> ModelError {
    ModelError::Shape { tensor: name.to_owned(), found: entry.shape.clone() }
}

#[cfg(test)]
mod tests;
