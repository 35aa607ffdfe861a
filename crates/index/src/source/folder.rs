//! A folder of Markdown.
//!
//! The folder is opened once and everything below it is reached through handles, so that swapping a
//! folder or link cannot lead elsewhere. Links are not followed.

mod below;
mod file;
mod markdown;
#[cfg(test)]
mod path_escape_tests;
mod walk;

use std::path::PathBuf;

use anemone_files::FileStat;

use super::{DocumentSource, Listing, SkipReason, SkippedDocument, SourceEntry, SourceError};
use crate::document::Document;
pub use below::{MAX_FILE_BYTES, text_of_bytes};
use below::{Root, is_plain_path};
pub use file::FileSource;
pub use markdown::{MarkdownFolder, PatternError, is_markdown, markdown_document};

/// Which files of a folder are documents, and what is known about each from its path.
pub trait FolderRules: Send + Sync {
    /// A text that changes when the rules do.
    fn identity(&self) -> String;

    /// Whether a folder (path relative to the root, forward slashes) is entered; `Err` says why
    /// not.
    fn enters(&self, folder: &str) -> Result<(), SkipReason>;

    /// Returns what is known about a file from its path; `None`: it is not a document.
    fn document(&self, path: &str) -> Option<Document>;
}

/// Markdown files below one folder.
///
/// The folder is opened at the first use and held from then on: another folder that gets its name
/// later is not read.
pub struct FolderSource {
    root: Root,
    prefix: String,
    rules: Box<dyn FolderRules>,
    limit: Option<FolderLimit>,
}

/// How much a folder may hold to be searched; of one that holds more, nothing is.
#[derive(Clone, Copy, Debug)]
pub struct FolderLimit {
    /// Names of any kind.
    pub names: u64,
    /// Documents.
    pub files: usize,
    /// Bytes of the documents.
    pub bytes: u64,
}

impl FolderSource {
    /// Takes the files below `root` that `rules` allow; their documents' paths begin with `prefix`.
    ///
    /// A link in `root` itself is followed: the caller means its target.
    #[must_use]
    pub fn new(root: PathBuf, prefix: String, rules: Box<dyn FolderRules>) -> Self {
        Self { root: Root::new(root), prefix, rules, limit: None }
    }

    /// Searches the folder only if it holds no more than this.
    #[must_use]
    pub fn limited(self, limit: FolderLimit) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// Returns what the rules know about a file, if a walk could have found its path.
    fn document(&self, key: &str) -> Option<Document> {
        if !is_plain_path(key) {
            return None;
        }
        let mut folders = key.match_indices('/').map(|(at, _)| &key[..at]);
        if folders.any(|folder| self.rules.enters(folder).is_err()) {
            return None;
        }
        let mut document = self.rules.document(key)?;
        document.path = format!("{}{key}", self.prefix);
        Some(document)
    }
}

impl DocumentSource for FolderSource {
    fn identity(&self) -> String {
        format!("folder {:?} as {:?}, {}", self.root.path(), self.prefix, self.rules.identity())
    }

    fn list(&self) -> Result<Listing, SourceError> {
        let root = self.root.open()?;
        walk::list(root, &self.prefix, &*self.rules, self.limit)
            .map_err(|error| self.root.error(error))
    }

    fn listing_of(&self, walked: &[(String, FileStat)]) -> Option<Listing> {
        let is_listed = |(path, stat): &&(String, FileStat)| {
            stat.size <= MAX_FILE_BYTES && self.document(path).is_some()
        };
        let entry = |(path, stat): &(String, FileStat)| SourceEntry {
            key: path.clone(),
            stamp: stat.stamp(),
        };
        let mut entries: Vec<_> = walked.iter().filter(is_listed).map(entry).collect();
        entries.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        entries.dedup_by(|a, b| a.key == b.key);
        Some(Listing { entries, ..Listing::default() })
    }

    fn load(
        &self,
        entry: &SourceEntry,
        each: &mut dyn FnMut(Document),
    ) -> Result<Vec<SkippedDocument>, SourceError> {
        let root = self.root.open()?;
        let Some(document) = self.document(&entry.key) else { return Ok(Vec::new()) };
        Ok(below::load(root, &entry.key, document, each))
    }

    fn read(&self, path: &str) -> Result<Option<Document>, SourceError> {
        let root = self.root.open()?;
        let Some(key) = path.strip_prefix(self.prefix.as_str()) else { return Ok(None) };
        let Some(document) = self.document(key) else { return Ok(None) };
        below::read_exactly(root, key, document)
    }
}
