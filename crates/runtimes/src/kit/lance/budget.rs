//! What reading a table may cost.
//!
//! A few bytes can stand for a lot: a constant for every row, a run, a page that is named again and
//! again. Every part that is read, unpacked or handed out is therefore counted, and what all of
//! them may come to depends on the size of the files.

use std::cell::Cell;

use super::LanceError;
use super::bytes::size;

/// Bytes of rows and bytes of work for each byte of the files, at most. Texts of real memories are
/// packed to about a tenth, and their ids to about a half.
const FACTOR: u64 = 64;
/// Bytes of rows that even a small table may have.
const FREE_ROWS: u64 = 64 << 20;
/// Bytes of work that even a small table may need.
const FREE_WORK: u64 = 512 << 20;
/// Files count up to this size: one may have holes, and then it takes no room on a disk.
const MAX_FILES: u64 = 1 << 40;
/// What a row counts for besides its values: a record says more than its row.
pub(super) const ROW: u64 = 256;
/// What a text that is handed out without its row counts for besides its bytes.
pub(super) const TEXT: u64 = 16;
/// What opening a file or a page counts for.
pub(super) const STEP: u64 = 1 << 10;
/// How deep encodings may be nested; what is written has five levels.
const MAX_DEPTH: usize = 16;

/// What is left of the cost that reading a table may have.
#[derive(Debug)]
pub(super) struct Budget {
    files: u64,
    rows: Cell<u64>,
    work: Cell<u64>,
}

impl Budget {
    /// Returns what reading files of so many bytes may cost.
    pub(super) fn of_files(bytes: u64) -> Self {
        let files = bytes.min(MAX_FILES);
        let rows = Cell::new(FREE_ROWS + FACTOR * files);
        Self { files, rows, work: Cell::new(FREE_WORK + FACTOR * files) }
    }

    /// Counts bytes that are read, unpacked or copied.
    pub(super) fn work(&self, bytes: u64) -> Result<(), LanceError> {
        self.take(&self.work, bytes)
    }

    /// Counts bytes of rows that are handed out.
    pub(super) fn hand_out(&self, bytes: u64) -> Result<(), LanceError> {
        self.take(&self.rows, bytes)
    }

    fn take(&self, left: &Cell<u64>, bytes: u64) -> Result<(), LanceError> {
        let rest = left.get().checked_sub(bytes);
        left.set(rest.unwrap_or(0));
        rest.map(drop).ok_or(LanceError::OutOfProportion { files: self.files })
    }
}

/// Where the decoding of a page is: what it may still cost, and how deep the encoding is nested.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoding<'a> {
    budget: &'a Budget,
    depth: usize,
    /// Bytes of the description of the page, which every block of it reads again.
    pub(super) description: u64,
}

impl<'a> Decoding<'a> {
    pub(super) const fn new(budget: &'a Budget, description: u64) -> Self {
        Self { budget, depth: 0, description }
    }

    /// Returns this for an encoding inside of another.
    pub(super) fn inner(self) -> Result<Self, LanceError> {
        let depth = self.depth + 1;
        if depth > MAX_DEPTH {
            Err(LanceError::Damaged("encoding"))
        } else {
            Ok(Self { depth, ..self })
        }
    }

    pub(super) fn work(self, bytes: u64) -> Result<(), LanceError> {
        self.budget.work(bytes)
    }

    /// Counts so many values, and returns how many bytes they have; an error above the limit of a
    /// page.
    pub(super) fn size(self, count: usize, width: usize) -> Result<usize, LanceError> {
        let size = size(count, width)?;
        self.work(size as u64)?;
        Ok(size)
    }

    /// Counts more bytes of a page; `total` is how many it has so far.
    pub(super) fn add(self, total: &mut usize, bytes: usize) -> Result<(), LanceError> {
        *total = size(total.saturating_add(bytes), 1)?;
        self.work(bytes as u64)
    }
}
