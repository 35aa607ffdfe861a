//! The interface between an index and what it indexes.

pub(crate) mod folder;

use anemone_embed::ModelIdentity;
pub use anemone_files::FileStamp;
use anemone_files::FileStat;
use anemone_format::{StampTable, word_enum};
use sha2::{Digest as _, Sha256};

use crate::document::Document;

/// Something that yields documents.
pub trait DocumentSource: Send + Sync {
    /// Returns a text that identifies this source and stays the same as long as it refers to the
    /// same data: the location and every setting that changes which documents exist.
    fn identity(&self) -> String;

    /// Lists the current entries, without reading any content. Entries are sorted by key, and no
    /// key occurs twice.
    fn list(&self) -> Result<Listing, SourceError>;

    /// Returns what [`list`](Self::list) would, from the regular files that another walk of the
    /// folder found, each with its path; `None` when the source cannot tell. Nothing is skipped,
    /// because the walk could read everything.
    fn listing_of(&self, _walked: &[(String, FileStat)]) -> Option<Listing> {
        None
    }

    /// Reads the documents of one entry, in a fixed order. Unreadable parts that do not affect the
    /// rest of the entry are returned as skipped. An entry that was deleted meanwhile has no
    /// documents.
    fn load(
        &self,
        entry: &SourceEntry,
        each: &mut dyn FnMut(Document),
    ) -> Result<Vec<SkippedDocument>, SourceError>;

    /// Reads the current document with a path; `None` when the source has none with that path, or
    /// when the path leads out of the source.
    fn read(&self, path: &str) -> Result<Option<Document>, SourceError> {
        let mut found = None;
        for entry in self.list()?.entries {
            let mut take = |document: Document| {
                if document.path == path {
                    found = Some(document);
                }
            };
            self.load(&entry, &mut take)?;
            if found.is_some() {
                break;
            }
        }
        Ok(found)
    }

    /// Returns the table for the short stamps in the texts; most sources have none.
    fn stamps(&self) -> StampTable {
        StampTable::default()
    }

    /// Yields vectors that come with the texts, of this embedder and no other; most sources have
    /// none.
    fn carried(
        &self,
        _identity: &ModelIdentity,
        _each: &mut dyn FnMut(CarriedVector),
    ) -> Result<(), SourceError> {
        Ok(())
    }
}

/// A vector of a text that was computed by another program.
#[derive(Clone, Debug, PartialEq)]
pub struct CarriedVector {
    /// The SHA-256 of the whole text.
    pub sha256: [u8; 32],
    /// The SHA-256 without surrounding whitespace, if the text has any.
    pub trimmed: Option<[u8; 32]>,
    /// The vector.
    pub vector: Vec<f32>,
}

impl CarriedVector {
    /// Takes the vector of a text.
    #[must_use]
    pub fn of(text: &str, vector: Vec<f32>) -> Self {
        let digest = |text: &str| Sha256::digest(text.as_bytes()).into();
        let trimmed = Some(text.trim()).filter(|trimmed| *trimmed != text).map(digest);
        Self { sha256: digest(text), trimmed, vector }
    }

    /// Takes the vector of a text of which only the SHA-256 is known.
    #[must_use]
    pub const fn of_digest(sha256: [u8; 32], vector: Vec<f32>) -> Self {
        Self { sha256, trimmed: None, vector }
    }
}

/// The entries of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// What can be loaded.
    pub entries: Vec<SourceEntry>,
    /// Existing items that are not searched.
    pub skipped: Vec<SkippedDocument>,
}

/// A unit that changes as a whole: a file, a database, an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceEntry {
    /// Its name within the source.
    pub key: String,
    /// Its stamp, which shows changes without reading it.
    pub stamp: FileStamp,
}

/// Something that is not searched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkippedDocument {
    /// Its path, with what is not UTF-8 replaced.
    pub path: String,
    /// Why.
    pub reason: SkipReason,
}

impl SkippedDocument {
    pub(crate) fn new(path: &str, reason: SkipReason) -> Self {
        Self { path: path.to_owned(), reason }
    }
}

word_enum! {
    /// Why something is not searched.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum SkipReason {
        /// A link: it may lead anywhere.
        Symlink = "symlink",
        /// A folder that is never searched: `.git`, `node_modules` and the like.
        Ignored = "ignored",
        /// The state of a machine, not a memory: dreaming.
        MachineState = "machine_state",
        /// It could not be read.
        Unreadable = "unreadable",
        /// It is larger than any memory.
        TooLarge = "too_large",
        /// It holds more than is searched of one place.
        TooMany = "too_many",
        /// It is nested in more folders than a person would create.
        TooDeep = "too_deep",
        /// Its name is not UTF-8.
        Name = "name",
        /// The same file was taken under another spelling.
        Duplicate = "duplicate",
        /// A record that was withdrawn or replaced.
        Superseded = "superseded",
        /// A record for one person only.
        Private = "private",
        /// It contains no text.
        NoText = "no_text",
    }
}

/// Why a source cannot be searched at all.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {place}")]
pub struct SourceError {
    /// What could not be read.
    pub place: String,
    /// Why.
    pub source: Box<dyn std::error::Error + Send + Sync>,
}
