//! A single file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anemone_files::{FileKind, if_found};

use super::super::{
    DocumentSource, Listing, SkipReason, SkippedDocument, SourceEntry, SourceError,
};
use super::below::{self, MAX_FILE_BYTES, Root};
use crate::document::Document;

/// A file that was named directly; the folder around it is held open, the file is not.
pub struct FileSource {
    folder: Root,
    name: OsString,
    document: Document,
}

impl FileSource {
    /// Takes one file as a document; `document` has everything except the text.
    #[must_use]
    pub fn new(file: &Path, document: Document) -> Self {
        let folder = match file.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let name = file.file_name().unwrap_or_default().to_owned();
        Self { folder: Root::new(folder), name, document }
    }

    /// Returns the file's name, as a path of one part.
    fn key(&self) -> Option<&str> {
        self.name.to_str().filter(|name| below::is_plain_path(name))
    }

    fn skipped(&self, reason: SkipReason) -> SkippedDocument {
        SkippedDocument { path: self.document.path.clone(), reason }
    }
}

impl DocumentSource for FileSource {
    fn identity(&self) -> String {
        let place = self.folder.path().join(&self.name);
        format!("file {place:?}, {:?}", self.document)
    }

    fn list(&self) -> Result<Listing, SourceError> {
        let folder = self.folder.open()?;
        let mut listing = Listing::default();
        let Some(key) = self.key() else {
            listing.skipped.push(self.skipped(SkipReason::Name));
            return Ok(listing);
        };
        let stat = if_found(folder.stat(key)).map_err(|error| self.folder.error(error))?;
        let Some(stat) = stat else { return Ok(listing) };
        match stat.kind {
            FileKind::File if stat.size > MAX_FILE_BYTES => {
                listing.skipped.push(self.skipped(SkipReason::TooLarge));
            }
            FileKind::File => {
                listing.entries.push(SourceEntry { key: key.to_owned(), stamp: stat.stamp() });
            }
            FileKind::Symlink => listing.skipped.push(self.skipped(SkipReason::Symlink)),
            FileKind::Folder | FileKind::Special => {
                listing.skipped.push(self.skipped(SkipReason::Unreadable));
            }
        }
        Ok(listing)
    }

    fn load(
        &self,
        entry: &SourceEntry,
        each: &mut dyn FnMut(Document),
    ) -> Result<Vec<SkippedDocument>, SourceError> {
        let folder = self.folder.open()?;
        let Some(key) = self.key().filter(|key| *key == entry.key) else { return Ok(Vec::new()) };
        Ok(below::load(folder, key, self.document.clone(), each))
    }

    fn read(&self, path: &str) -> Result<Option<Document>, SourceError> {
        let folder = self.folder.open()?;
        let Some(key) = self.key().filter(|_| path == self.document.path) else { return Ok(None) };
        below::read_exactly(folder, key, self.document.clone())
    }
}
