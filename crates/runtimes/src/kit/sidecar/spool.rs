//! The scratch file of a plan.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;

use serde::Serialize;

use crate::kit::{Machine, Piece, PlanBuilder, PlanError};

/// Appends to a draft's spool.
pub(crate) struct Spooler {
    out: BufWriter<File>,
    offset: u64,
}

impl Spooler {
    /// Takes the spool of a draft, or creates one.
    pub(crate) fn of(machine: &Machine, draft: &mut PlanBuilder) -> Result<Self, PlanError> {
        match draft.spool.take() {
            Some(spool) => Self::behind(spool).map_err(PlanError::Scratch),
            None => Self::new(machine),
        }
    }

    /// Creates a spool that belongs to no draft.
    pub(crate) fn new(machine: &Machine) -> Result<Self, PlanError> {
        let made = tempfile::tempfile_in(&machine.scratch);
        made.and_then(Self::behind).map_err(PlanError::Scratch)
    }

    fn behind(mut spool: File) -> io::Result<Self> {
        let offset = spool.seek(SeekFrom::End(0))?;
        Ok(Self { out: BufWriter::with_capacity(256 << 10, spool), offset })
    }

    /// Returns where the next bytes go.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns what was written since an offset.
    pub(crate) fn since(&self, start: u64) -> Piece {
        Piece::Spool { offset: start, length: self.offset - start }
    }

    /// Writes bytes; returns where they begin.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<u64> {
        self.out.write_all(bytes)?;
        let start = self.offset;
        self.offset += bytes.len() as u64;
        Ok(start)
    }

    /// Writes a value as one line.
    pub(crate) fn json_line<T: Serialize>(&mut self, value: &T) -> io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.write(&line).map(drop)
    }

    /// Reads back what was written.
    pub(crate) fn read(&mut self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        self.out.flush()?;
        read_at(self.out.get_ref(), offset, length)
    }

    /// Reads back a text that was written.
    pub(crate) fn read_text(&mut self, offset: u64, length: u64) -> io::Result<String> {
        String::from_utf8(self.read(offset, length)?).map_err(io::Error::other)
    }

    /// Returns the file with everything in it.
    pub(crate) fn into_file(self) -> io::Result<File> {
        self.out.into_inner().map_err(io::IntoInnerError::into_error)
    }

    /// Gives the spool to a draft.
    pub(crate) fn finish(self, draft: &mut PlanBuilder) -> Result<(), PlanError> {
        draft.spool = Some(self.into_file().map_err(PlanError::Scratch)?);
        Ok(())
    }
}

/// Reads a part of a file.
pub(crate) fn read_at(file: &File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(length).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}
