//! Takes a reading for its numbers: what would travel, and how much of it.

use std::io::{self, Read};

use anemone_format::{FileHead, Record, Sink, SinkError};
use serde::Serialize;

use crate::host::Progress;

/// What went by.
#[derive(Default)]
pub struct Tally<'a> {
    /// Bytes of files.
    pub bytes: u64,
    /// Vectors of records.
    pub embeddings: u64,
    /// Every file, link and folder.
    pub listed: Vec<ListedFile>,
    /// Receives the progress.
    pub progress: Option<&'a Progress>,
}

/// A file that travels.
#[derive(Clone, Debug, Serialize)]
pub struct ListedFile {
    /// Its path in the workspace.
    pub path: String,
    /// `file`, `symlink` or `folder`.
    pub kind: &'static str,
    /// Its bytes.
    pub size: u64,
}

impl Tally<'_> {
    fn list(&mut self, head: &FileHead<'_>, kind: &'static str, size: u64) -> String {
        let path = String::from_utf8_lossy(head.path).into_owned();
        self.listed.push(ListedFile { path: path.clone(), kind, size });
        path
    }
}

impl Sink for Tally<'_> {
    fn file(&mut self, head: &FileHead<'_>, content: &mut dyn Read) -> Result<String, SinkError> {
        let path = || String::from_utf8_lossy(head.path).into_owned();
        let size = io::copy(content, &mut io::sink())
            .map_err(|source| SinkError::Io { path: path(), source })?;
        self.bytes += size;
        if let Some(progress) = self.progress {
            progress.advance(size);
        }
        Ok(self.list(head, "file", size))
    }

    fn symlink(&mut self, head: &FileHead<'_>, _: &[u8]) -> Result<(), SinkError> {
        self.list(head, "symlink", 0);
        Ok(())
    }

    fn folder(&mut self, head: &FileHead<'_>) -> Result<(), SinkError> {
        self.list(head, "folder", 0);
        Ok(())
    }

    fn record(&mut self, record: &Record) -> Result<(), SinkError> {
        self.embeddings += record.embeddings.len() as u64;
        Ok(())
    }
}
