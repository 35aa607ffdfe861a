//! The destination of a snapshot that is read piece by piece.

use std::error::Error;
use std::io::{self, Read, Write};

use crate::archive::write::{ArchiveWriter, FileHead, WriteArchiveError};
use crate::entry_path::NameFault;
use crate::record::Record;

/// Takes a snapshot piece by piece. Files come sorted by root and path.
pub trait Sink {
    /// Takes a file, and returns its path in the archive.
    fn file(&mut self, head: &FileHead<'_>, content: &mut dyn Read) -> Result<String, SinkError>;
    /// Takes a link.
    fn symlink(&mut self, head: &FileHead<'_>, target: &[u8]) -> Result<(), SinkError>;
    /// Takes a folder.
    fn folder(&mut self, head: &FileHead<'_>) -> Result<(), SinkError>;
    /// Takes a record.
    fn record(&mut self, record: &Record) -> Result<(), SinkError>;
}

/// Why a sink did not accept something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SinkError {
    /// The sink cannot store a file with this name; it still accepts what follows.
    #[error("the path {path:?} {fault}")]
    Name {
        /// The path, with what is not UTF-8 replaced.
        path: String,
        /// What is wrong with it.
        fault: NameFault,
    },
    /// Reading the content failed, or storing it.
    #[error("cannot write {path}")]
    Io {
        /// Where it was to be stored.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// The sink rejects it, and accepts nothing more.
    #[error(transparent)]
    Refused(Box<dyn Error + Send + Sync>),
}

impl From<WriteArchiveError> for SinkError {
    fn from(error: WriteArchiveError) -> Self {
        match error {
            WriteArchiveError::Path { path, fault } => Self::Name { path, fault },
            WriteArchiveError::Io { entry, source } => Self::Io { path: entry, source },
            error => Self::Refused(Box::new(error)),
        }
    }
}

impl<W: Write> Sink for ArchiveWriter<W> {
    fn file(&mut self, head: &FileHead<'_>, content: &mut dyn Read) -> Result<String, SinkError> {
        Ok(Self::file(self, head, content)?)
    }

    fn symlink(&mut self, head: &FileHead<'_>, target: &[u8]) -> Result<(), SinkError> {
        Ok(Self::symlink(self, head, target)?)
    }

    fn folder(&mut self, head: &FileHead<'_>) -> Result<(), SinkError> {
        Ok(Self::folder(self, head)?)
    }

    fn record(&mut self, record: &Record) -> Result<(), SinkError> {
        Ok(Self::record(self, record)?)
    }
}
