//! The interface of an agent's memory: the operations that differ between Markdown files and rows
//! of a database.
//!
//! [`MarkdownMemory`](crate::MarkdownMemory) and [`RowMemory`](crate::RowMemory) implement it. The
//! operations on a memory are written once, over this trait: remember, forget, undo, list, tidy and
//! the search for duplicates. Planning returns values and changes nothing. Every operation that
//! writes takes the lock, which is a [`LockedStore`], saves the former content in the journal, and
//! refuses or redacts secrets: an [`Addition`] cannot be made from a text that was not searched for
//! secrets.

use std::path::PathBuf;

use anemone_index::Hit;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use uuid::Uuid;

use crate::addition::Addition;
use crate::change::{Applied, ApplyError};
use crate::duplicates::{Candidate, ComparedEntries, Duplicate, DuplicateSearch};
use crate::entry::{Category, NewEntry};
use crate::finder::FindError;
use crate::forget::ForgetPlanError;
use crate::journal::JournalError;
use crate::list::EntryListing;
use crate::remember::{Caution, Place};
use crate::row_store::RowStore;
use crate::store::{LockedStore, MarkdownStore, MarkdownStoreError};

/// The error of a backend that this crate does not know.
pub type BackendError = Box<dyn std::error::Error + Send + Sync>;

/// A memory that is read and written, in any storage.
///
/// These laws hold for every implementation. One suite checks them for the implementations that
/// ship:
/// - what was remembered is listed by its key, with its text; in Markdown without whitespace at the
///   ends of lines, other line endings and control characters, see [`tidied`](crate::tidied);
/// - remembering a key again replaces what it held: it is listed once, by its new text;
/// - a plan changes nothing;
/// - what was forgotten is not listed, and one undo brings it back;
/// - undoing a remember leaves the memory as it was;
/// - keys and texts are any text, whatever it looks like; but a database may reserve keys with a
///   prefix for rows that belong to one person, and refuses them;
/// - a text with a secret is refused, and nothing is written;
/// - a text that gives another value to the same thing supersedes the old one, and undoing it brings
///   the old one back; a database that cannot mark a row keeps both, and the plan says so;
/// - a text that the memory already contains is refused, also when another program wrote it after
///   it was planned;
/// - when several processes write at once, nothing is lost.
pub trait Memory: Send + Sync {
    /// Returns the files of the workspace, which also have the lock and the journal of rows.
    fn store(&self) -> &MarkdownStore;

    /// Returns the rows of a database in which entries are kept besides.
    fn rows(&self) -> Option<&dyn RowStore> {
        None
    }

    /// Returns what people call the target of a write: the file, or the database.
    fn place_name(&self, place: Place) -> String;

    /// Lists the current entries, the newest first. The day of a row is the one that its time
    /// states; the day of a stamp is that of `zone`.
    fn listing(&self, zone: &TimeZone) -> Result<EntryListing, MemoryError>;

    /// Returns the texts with which a new one is compared without an index: those of some files, or
    /// of all rows. Files that are not text are skipped.
    fn texts(&self, paths: &[&str]) -> Result<Vec<String>, MemoryError>;

    /// Returns the entries that say the same as a text, those that it makes out of date, and those
    /// that are near to it.
    fn similar(&self, search: DuplicateSearch<'_>) -> Result<ComparedEntries, MemoryError>;

    /// Returns a digest of what an entry is added to: the file, or the database; `None` when it
    /// does not exist yet.
    fn state(&self, place: Place) -> Result<Option<[u8; 32]>, MemoryError>;

    /// Returns an entry that says exactly the same, unless the destination is still in the known
    /// state.
    fn equal_since(
        &self,
        known: Option<[u8; 32]>,
        place: Place,
        candidate: Candidate<'_>,
    ) -> Result<Option<Duplicate>, MemoryError>;

    /// Plans how something is written.
    fn plan_entry(&self, given: &NewEntry, place: Place) -> Result<PlannedEntry, MemoryError>;

    /// Returns warnings about an entry before it is written.
    fn cautions(&self, given: &NewEntry) -> Result<Vec<Caution>, MemoryError>;

    /// Writes entries as one change.
    fn add(
        &self,
        held: &LockedStore<'_>,
        addition: &Addition,
        id: Uuid,
        now: Timestamp,
    ) -> Result<Applied, MemoryError>;

    /// Returns the ids of the entries that each hit is about. An entry is meant if `is_meant` says
    /// so of its text.
    fn ids_of_hits(
        &self,
        hits: &[Hit],
        is_meant: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Vec<String>>, MemoryError>;
}

/// An entry as it would be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedEntry {
    /// The id that it has then.
    pub id: String,
    /// The file, or the name of the database.
    pub path: String,
    /// The entry as it would be written.
    pub text: String,
    /// The row that it becomes, in a database.
    pub row: Option<PlannedRow>,
}

/// A row as it would be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRow {
    /// Its key.
    pub key: String,
    /// The kind of row.
    pub category: Category,
    /// Whether a row has this key, whose text is replaced.
    pub replaces: bool,
}

/// Why an operation on a memory failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// Its files cannot be reached.
    #[error(transparent)]
    Store(#[from] MarkdownStoreError),
    /// The target cannot be forgotten.
    #[error(transparent)]
    Forget(#[from] ForgetPlanError),
    /// A change could not be made.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// It cannot be searched.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Its database cannot be opened.
    #[error(transparent)]
    Open(BackendError),
    /// Another program holds the lock of its database.
    #[error("another program is writing to {}", database.display())]
    Busy {
        /// The database.
        database: PathBuf,
        /// The cause.
        source: BackendError,
    },
    /// Its database.
    #[error("the memory's database failed")]
    Database(#[source] BackendError),
    /// The former content cannot be saved for an undo, so nothing was changed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The database reserves the key for rows that belong to one person.
    #[error("keys that begin with `{prefix}` belong to one person")]
    PrivateKey {
        /// How such keys begin.
        prefix: &'static str,
    },
}
