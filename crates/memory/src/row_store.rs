//! Rows of a database as a store of memories: the interface that [`RowMemory`](crate::RowMemory)
//! uses.
//!
//! A runtime implements this for its database of memories. A store covers the rows of one agent; a
//! row is identified by its key. Nothing is opened before it is needed, and reading does not change
//! the file.

use std::path::Path;

use jiff::civil::Date;
use serde_json::{Map, Value};

use crate::entry::{Category, MemoryEntry, NewEntry};
use crate::forget::{EntryToForget, ForgetTarget};
use crate::journal::{JournalError, RowsRecord};
use crate::memory::{BackendError, MemoryError};

/// A row that is to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct RowDraft {
    /// What it says, and all that is known of it.
    pub given: NewEntry,
    /// The kind of row.
    pub category: Category,
    /// The vector of its whole text, if the model of the database made one. Without it the column
    /// stays empty, and the runtime fills it.
    pub vector: Option<RowVector>,
}

/// The vector of a row, and who made it.
#[derive(Clone, Debug, PartialEq)]
pub struct RowVector {
    /// The provider, as the settings of the runtime name it.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The vector.
    pub numbers: Vec<f32>,
}

/// Receives the current rows before a write; if it fails, nothing is written.
pub type KeepRows<'a> = dyn FnMut(RowsRecord) -> Result<(), JournalError> + 'a;

/// The rows of one agent in a database.
pub trait RowStore: Send + Sync {
    /// Returns the database, which need not exist yet.
    fn database(&self) -> &Path;

    /// Refuses a key that no row of an agent may have.
    fn check_key(&self, key: &str) -> Result<(), MemoryError>;

    /// Returns every row that is current, the newest first.
    fn entries(&self) -> Result<Vec<MemoryEntry>, MemoryError>;

    /// Counts the rows that are not current since others took their place.
    fn superseded(&self) -> Result<usize, MemoryError>;

    /// Returns the rows that are meant, with all that they hold, for somebody who is going to change
    /// them: a database that cannot be changed is an error.
    fn matching(&self, target: &ForgetTarget) -> Result<Vec<KeptRow>, MemoryError>;

    /// Returns the names of other agents that have a row in this database whose text is meant.
    fn others_with(&self, is_meant: &dyn Fn(&str) -> bool) -> Result<Vec<String>, MemoryError>;

    /// Whether a row can say that another one took its place.
    fn can_supersede(&self) -> Result<bool, MemoryError>;

    /// Returns a digest of the state of the database's files; `None` if there are no files.
    fn state(&self) -> Option<[u8; 32]>;

    /// Writes rows in one step, each replacing the row with its key, into a database that is
    /// created if it does not exist. `keep` first receives the former rows.
    fn put(&self, new: &[RowDraft], keep: &mut KeepRows<'_>) -> Result<(), MemoryError>;

    /// Returns the category of the row with a key, as the database spells it.
    fn category_of(&self, key: &str) -> Result<Option<Category>, MemoryError>;

    /// Returns a category as the database would spell it in a row.
    fn spelt(&self, category: &Category) -> Result<Category, MemoryError>;

    /// Returns the journal's record of rows that are about to be removed.
    fn noted(&self, rows: &[KeptRow]) -> RowsRecord;

    /// Deletes rows with everything that was derived from them, so that nothing stays in the file.
    fn remove(&self, rows: &[KeptRow]) -> Result<usize, MemoryError>;

    /// Rewrites the database, so that it contains no remains of deleted rows.
    fn compact(&self) -> Result<(), MemoryError>;

    /// Says what taking back a change would do, and does nothing.
    fn plan_back(&self, noted: &RowsRecord) -> Result<RowsUndo, MemoryError>;

    /// Reverts a change of rows in one step, or does nothing if another program changed them since;
    /// also returns the record for the journal.
    fn take_back(&self, noted: &RowsRecord) -> Result<(RowsUndo, RowsRecord), MemoryError>;

    /// Counts the rows of a category that were last written before a day; `None` when there is no
    /// such database.
    fn count_past(&self, category: &str, before: Date) -> Result<Option<u64>, BackendError>;
}

/// A row that is removed, and all that it held.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptRow {
    /// What is shown of it.
    pub entry: EntryToForget,
    /// Every column by its name; bytes are written as `{"hex": "..."}`.
    pub cells: Map<String, Value>,
    /// Where it comes from, as our own table says it.
    pub stamp: Option<Map<String, Value>>,
}

impl KeptRow {
    /// Returns where an index has it.
    #[must_use]
    pub fn document(&self) -> String {
        row_document(self.entry.key.as_deref().unwrap_or_default())
    }
}

/// What taking back a change does to rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RowsUndo {
    /// Rows that are as they were.
    pub put_back: usize,
    /// Rows that were new and are gone.
    pub removed: usize,
    /// Keys of rows that stay away, since another row has the key now.
    pub taken: Vec<String>,
    /// Keys of rows whose text another program changed since: nothing is done then.
    pub changed: Vec<String>,
    /// How many rows the change had added that are not in the database any more.
    #[serde(skip_serializing_if = "is_zero")]
    pub gone: usize,
}

impl RowsUndo {
    /// Says whether all that the change had written is gone, so that nothing can be taken back.
    #[must_use]
    pub fn finds_nothing(&self) -> bool {
        self.gone > 0 && self.put_back + self.removed == 0 && self.taken.is_empty()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The prefix of the paths of rows.
pub const ROWS: &str = "memories/";

/// Returns the path of a key's row in an index: characters that a path cannot have are escaped, as
/// in `%2F`.
#[must_use]
pub fn row_document(key: &str) -> String {
    let whole = matches!(key, "" | "." | "..");
    let mut path = String::from(ROWS);
    for c in key.chars() {
        if whole || c.is_control() || matches!(c, '/' | '\\' | '%') {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                path.push_str(&format!("%{byte:02X}"));
            }
        } else {
            path.push(c);
        }
    }
    if key.is_empty() {
        path.push_str("%00");
    }
    path
}

/// Returns the lines that the text of a row has where it is cited.
#[must_use]
pub fn lines_of_row(text: &str) -> (usize, usize) {
    (1, text.lines().count().max(1))
}

/// Returns the key of the row that an index has at a path; `None` where there are no rows.
#[must_use]
pub fn key_of_row_document(path: &str) -> Option<String> {
    let mut rest = path.strip_prefix(ROWS)?.as_bytes();
    let mut bytes = Vec::with_capacity(rest.len());
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let is_code = first == b'%' && after.first() != Some(&b'+');
        match hex.filter(|_| is_code).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_from_paths() {
        for key in ["tea", "a/b\\c", "100%", "%2F", "\u{8336}", "..", "a\nb"] {
            assert_eq!(key_of_row_document(&row_document(key)).as_deref(), Some(key));
        }
        assert_eq!(key_of_row_document("memories/%FF"), None);
        assert_eq!(key_of_row_document("memories/%4"), Some("%4".to_owned()));
        assert_eq!(key_of_row_document("MEMORY.md"), None);
    }
}
