//! Reads a table of a LanceDB store: the newest version of it, row by row.
//!
//! A table is a folder. `_versions/` has a manifest for every version; the newest lists fragments,
//! which are sets of rows. A fragment has data files, each with some of its columns, and perhaps a
//! file that says which of its rows were deleted. A data file has pages of each column, in the
//! encodings of the file format 2.0 ([`flat`]) or 2.1 and 2.2 ([`blocks`]).
//!
//! Only what a table of texts, numbers and vectors needs is understood; anything else is an error
//! that names it. Every name, size and count is taken for hostile, and what all of it may cost is in
//! proportion to the files ([`budget`]). No file is kept whole in memory: a page of each column is.

mod blocks;
mod budget;
mod bytes;
mod deletions;
mod flat;
mod known;
mod manifest;
mod packed;
mod page;
mod protobuf;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::io::{self, Read as _};

use self::budget::{Budget, ROW, TEXT};
use self::bytes::Bytes;
pub(crate) use self::known::has_only_columns;
use self::manifest::{Fragment, Manifest, ManifestField};
use self::page::{ColumnPages, DataFile};
use crate::kit::{Workspace, stays_below};

/// Rows of a table, at most.
const MAX_ROWS: u64 = 10_000_000;
/// Bytes of a page, before and after it was unpacked, at most.
const MAX_BYTES: u64 = 256 << 20;
/// Bytes of a manifest, of the description of a column, and of a list of deleted rows, at most.
const MAX_DESCRIPTION: u64 = 16 << 20;

/// Why a table cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LanceError {
    /// A file cannot be read.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// A part of a file makes no sense.
    #[error("its {0} makes no sense")]
    Damaged(&'static str),
    /// It uses something that is not understood.
    #[error("it uses {0}, which this version cannot read")]
    Unsupported(String),
    /// Its files stand for far more than they hold.
    #[error("its rows are out of all proportion to its {files} bytes")]
    OutOfProportion {
        /// Bytes of the files.
        files: u64,
    },
}

impl LanceError {
    fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported(what.into())
    }
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// Nothing, also where the table has no such column.
    Null,
    /// A text; what is not UTF-8 in it was replaced.
    Text(String),
    /// A number.
    Number(f64),
    /// A vector.
    Vector(Vec<f32>),
}

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellKind {
    Text,
    Float,
    Double,
    Integer { bytes: usize },
    Vector { dimension: usize, double: bool },
}

/// A row as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredRow {
    /// Its values, in the order of the wanted columns.
    pub(crate) cells: Vec<Cell>,
    /// Whether it was deleted. Its text is still in the files.
    pub(crate) deleted: bool,
}

/// The newest version of a table.
pub(crate) struct LanceTable<'a> {
    folder: &'a Workspace,
    path: String,
    manifest: Manifest,
}

impl<'a> LanceTable<'a> {
    /// Opens a table, by the path of its folder in the store; `None` where there is none.
    pub(crate) fn open(folder: &'a Workspace, path: &str) -> Result<Option<Self>, LanceError> {
        let Some(manifest) = Manifest::newest(folder, path)? else { return Ok(None) };
        Ok(Some(Self { folder, path: path.to_owned(), manifest }))
    }

    /// Yields every row of these columns, in the order of the table, also the deleted ones.
    pub(crate) fn each_row<E: From<LanceError>>(
        &self,
        columns: &[&str],
        take: &mut dyn FnMut(StoredRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let budget = Budget::of_files(self.bytes()?);
        let field = |name: &&str| self.manifest.fields.iter().find(|field| field.name == *name);
        let fields: Vec<Option<&ManifestField>> = columns.iter().map(field).collect();
        let mut left = MAX_ROWS;
        for fragment in &self.manifest.fragments {
            left = left
                .checked_sub(fragment.rows)
                .ok_or_else(|| LanceError::unsupported(format!("more than {MAX_ROWS} rows")))?;
            self.each_row_of(fragment, &fields, &budget, take)?;
        }
        Ok(())
    }

    fn each_row_of<E: From<LanceError>>(
        &self,
        fragment: &Fragment,
        fields: &[Option<&ManifestField>],
        budget: &Budget,
        take: &mut dyn FnMut(StoredRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let deleted = match &fragment.deletions {
            Some(file) => file.read(self.folder, &self.path, fragment.id, budget)?,
            None => std::collections::BTreeSet::new(),
        };
        let mut readers = Vec::new();
        for field in fields {
            let reader = field.map(|field| self.column(fragment, field, budget)).transpose()?;
            readers.push(reader.flatten());
        }
        for row in 0..fragment.rows {
            budget.hand_out(ROW)?;
            let mut cells = Vec::with_capacity(readers.len());
            for reader in &mut readers {
                let cell = match reader {
                    Some((kind, pages)) => pages.next_cell(*kind)?,
                    None => Cell::Null,
                };
                budget.hand_out(cell.size())?;
                cells.push(cell);
            }
            let deleted = u32::try_from(row).is_ok_and(|row| deleted.contains(&row));
            take(StoredRow { cells, deleted })?;
        }
        Ok(())
    }

    /// Returns the pages of a column of a fragment; `None` where it has none of it.
    fn column<'b>(
        &self,
        fragment: &Fragment,
        field: &ManifestField,
        budget: &'b Budget,
    ) -> Result<Option<(CellKind, ColumnPages<'b>)>, LanceError> {
        let kind = CellKind::of(&field.logical_type)?;
        for file in &fragment.files {
            let Some(at) = file.fields.iter().position(|id| *id == field.id) else { continue };
            let column = file.columns.get(at).copied().unwrap_or(-1);
            let column = usize::try_from(column)
                .map_err(|_| LanceError::unsupported("a data file of format 0.1"))?;
            let path = self.data_file(&file.path)?;
            let opened = DataFile::open(self.folder.file(path.as_bytes())?, budget)?;
            let pages = opened.column(column)?;
            if pages.left != fragment.rows {
                return Err(LanceError::Damaged("number of rows"));
            }
            return Ok(Some((kind, pages)));
        }
        Ok(None)
    }

    /// Returns the path of a data file in the store.
    fn data_file(&self, name: &str) -> Result<String, LanceError> {
        if !stays_below(name.as_bytes()) {
            return Err(LanceError::Damaged("path of a data file"));
        }
        Ok(format!("{}/data/{name}", self.path))
    }

    /// Returns the size of the data files, each of which counts once, however often it is named.
    fn bytes(&self) -> Result<u64, LanceError> {
        let files = self.manifest.fragments.iter().flat_map(|fragment| &fragment.files);
        let names: HashSet<&str> = files.map(|file| file.path.as_str()).collect();
        let mut bytes: u64 = 0;
        for name in names {
            let file = self.folder.file(self.data_file(name)?.as_bytes())?;
            bytes = bytes.saturating_add(file.metadata()?.len());
        }
        Ok(bytes)
    }
}

/// Reads a whole file that describes a table.
fn read_description(store: &Workspace, path: &[u8]) -> Result<Vec<u8>, LanceError> {
    let mut bytes = Vec::new();
    store.file(path)?.take(MAX_DESCRIPTION + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_DESCRIPTION {
        return Err(LanceError::unsupported("a description of more than 16 MiB"));
    }
    Ok(bytes)
}

/// A text that a data file holds, of a row of any version of the table, which may be deleted.
#[derive(Debug)]
pub(crate) struct StoredText<'a> {
    /// The path of the file in the store.
    pub(crate) file: &'a [u8],
    /// The name of its column.
    pub(crate) column: &'a str,
    /// The text; an empty one where it is null.
    pub(crate) text: String,
}

/// Yields every text that data files hold, whatever version of the table they belong to. `files` are
/// their paths in the store.
pub(crate) fn each_stored_text<E: From<LanceError>>(
    store: &Workspace,
    files: &[&[u8]],
    take: &mut dyn FnMut(StoredText<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let open = |path: &[u8]| store.file(path).map_err(LanceError::from);
    let mut bytes: u64 = 0;
    for path in files {
        bytes = bytes.saturating_add(open(path)?.metadata().map_err(LanceError::from)?.len());
    }
    let budget = Budget::of_files(bytes);
    for &file in files {
        let fields = DataFile::open(open(file)?, &budget)?.fields()?;
        for (column, field) in fields.iter().enumerate() {
            let kind = CellKind::of(&field.logical_type)?;
            if kind != CellKind::Text {
                continue;
            }
            let mut pages = DataFile::open(open(file)?, &budget)?.column(column)?;
            while pages.left > 0 {
                let cell = pages.next_cell(kind)?;
                budget.hand_out(TEXT + cell.size())?;
                let text = if let Cell::Text(text) = cell { text } else { String::new() };
                take(StoredText { file, column: &field.name, text })?;
            }
        }
    }
    Ok(())
}

impl Cell {
    /// Returns how many bytes it counts for. A vector of zeros is what a program writes that has
    /// none, and counts for nothing.
    fn size(&self) -> u64 {
        match self {
            Self::Null => 0,
            Self::Text(text) => text.len() as u64,
            Self::Number(_) => size_of::<f64>() as u64,
            Self::Vector(vector) if vector.iter().all(|number| *number == 0.0) => 0,
            Self::Vector(vector) => size_of_val(vector.as_slice()) as u64,
        }
    }
}

impl CellKind {
    /// Reads what a schema says of a column.
    fn of(logical_type: &str) -> Result<Self, LanceError> {
        let unknown = || LanceError::unsupported(format!("a column of type {logical_type:?}"));
        Ok(match logical_type {
            "string" | "large_string" => Self::Text,
            "float" => Self::Float,
            "double" => Self::Double,
            "int32" => Self::Integer { bytes: 4 },
            "int64" => Self::Integer { bytes: 8 },
            _ if logical_type.starts_with("timestamp:") => Self::Integer { bytes: 8 },
            _ => {
                let list = logical_type.strip_prefix("fixed_size_list:").ok_or_else(unknown)?;
                let (item, dimension) = list.rsplit_once(':').ok_or_else(unknown)?;
                let dimension = dimension.parse().map_err(|_| unknown())?;
                match item {
                    "float" => Self::Vector { dimension, double: false },
                    "double" => Self::Vector { dimension, double: true },
                    _ => return Err(unknown()),
                }
            }
        })
    }

    /// Makes a value of its bytes.
    fn cell(self, value: &[u8]) -> Result<Cell, LanceError> {
        let mut value = Bytes(value);
        let damaged = || LanceError::Damaged("value");
        let cell = match self {
            Self::Text => return Ok(Cell::Text(String::from_utf8_lossy(value.0).into_owned())),
            Self::Float => Cell::Number(f64::from(f32::from_bits(value.u32()?))),
            Self::Double => Cell::Number(f64::from_bits(value.u64()?)),
            Self::Integer { bytes: 4 } => Cell::Number(f64::from(value.u32()?.cast_signed())),
            // Milliseconds and counts are far below the numbers that a float cannot hold.
            Self::Integer { .. } => Cell::Number(value.u64()?.cast_signed() as f64),
            Self::Vector { dimension, double } => {
                let width = if double { 8 } else { 4 };
                if Some(value.0.len()) != dimension.checked_mul(width) {
                    return Err(damaged());
                }
                let mut vector = Vec::with_capacity(dimension);
                while !value.0.is_empty() {
                    vector.push(if double {
                        f64::from_bits(value.u64()?) as f32
                    } else {
                        f32::from_bits(value.u32()?)
                    });
                }
                Cell::Vector(vector)
            }
        };
        if value.0.is_empty() { Ok(cell) } else { Err(damaged()) }
    }
}
