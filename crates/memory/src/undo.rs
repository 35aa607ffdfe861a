//! Reverts the last change, and then the one before it.
//!
//! An undo is a change itself and is in the journal, so no earlier content is lost by it. A further
//! undo skips changes that were reverted, and the undos that reverted them.

use std::collections::HashSet;
use std::path::PathBuf;

use jiff::Timestamp;
use uuid::Uuid;

use crate::change::{Applied, ApplyError, Change, Edit};
use crate::journal::{ChangeId, ChangeRecord, EditRecord, JournalError, RowsRecord};
use crate::memory::{Memory, MemoryError};
use crate::recovery::Cut;
use crate::row_store::{RowStore, RowsUndo};
use crate::store::{FileSnapshot, LockedStore, MarkdownStore, MarkdownStoreError};

/// How the last change is taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undo {
    /// The change that is taken back.
    pub id: ChangeId,
    /// The reverted change.
    pub noted: ChangeRecord,
    /// What takes it back in files.
    pub change: Change,
    /// What taking it back does to rows, where it was a change of rows.
    pub rows: Option<RowsUndo>,
}

/// Why a change was not undone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RevertError {
    /// There is no change to undo.
    #[error("there is no change to undo")]
    Nothing,
    /// Its result has been changed since.
    #[error("{path} is no longer as the change `{what}` left it")]
    Conflict {
        /// The file.
        path: PathBuf,
        /// The requested operation of that change.
        what: String,
        /// Its journal file: a line of JSON, then the former content.
        kept: PathBuf,
    },
    /// A row has been changed since.
    #[error("the row {key:?} was changed by somebody else since; nothing was taken back")]
    RowChanged {
        /// Its key.
        key: String,
        /// The database.
        database: PathBuf,
    },
    /// The change had added rows, and none of them exists any more.
    #[error("nothing was taken back: {}", gone(*count))]
    RowsGone {
        /// How many rows it had added.
        count: usize,
        /// The database.
        database: PathBuf,
    },
    /// It was a change of rows of a database that the memory does not have.
    #[error("the database that was changed is no longer there")]
    DatabaseGone(PathBuf),
    /// The memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file cannot be reached.
    #[error(transparent)]
    Store(#[from] MarkdownStoreError),
    /// The files.
    #[error(transparent)]
    Apply(#[from] ApplyError),
}

impl MarkdownStore {
    /// Returns the change that is undone next.
    pub fn last_change(&self) -> Result<Option<(ChangeId, ChangeRecord)>, JournalError> {
        let all = self.changes()?;
        let undone: HashSet<ChangeId> = all.iter().filter_map(|(_, value)| value.undoes).collect();
        let is_open =
            |(id, value): &(ChangeId, ChangeRecord)| value.undoes.is_none() && !undone.contains(id);
        Ok(all.into_iter().find(is_open))
    }

    /// Plans how the last change of files is taken back.
    pub(crate) fn plan_undo(&self) -> Result<Undo, RevertError> {
        let (id, noted) = self.last_change()?.ok_or(RevertError::Nothing)?;
        let recorded = self.recorded(id)?.ok_or(RevertError::Nothing)?;
        let mut edits = Vec::new();
        for (edit, image) in recorded.noted.edits.iter().zip(recorded.images) {
            let there = self.read(&edit.path)?;
            let undone = edit.undone(image, there).ok_or_else(|| RevertError::Conflict {
                path: self.root().join(&edit.path),
                what: noted.what.clone(),
                kept: recorded.path.clone(),
            })?;
            edits.push(undone);
        }
        Ok(Undo { id, noted, change: Change::new("undo", edits), rows: None })
    }
}

/// Plans how the last change of a memory is taken back.
pub fn plan_undo(memory: &dyn Memory) -> Result<Undo, RevertError> {
    let (id, noted) = memory.store().last_change()?.ok_or(RevertError::Nothing)?;
    let Some(of_rows) = &noted.rows else { return memory.store().plan_undo() };
    let back = checked(of_rows, rows_of(memory, of_rows)?.plan_back(of_rows)?)?;
    Ok(Undo { id, change: Change::new("undo", Vec::new()), rows: Some(back), noted })
}

/// Reverts the last change of a memory, unless later edits by others prevent it.
pub fn undo(
    memory: &dyn Memory,
    held: &LockedStore<'_>,
    id: Uuid,
    now: Timestamp,
) -> Result<(Undo, Applied), RevertError> {
    let (change, noted) = memory.store().last_change()?.ok_or(RevertError::Nothing)?;
    let Some(of_rows) = &noted.rows else {
        let undo = memory.store().plan_undo()?;
        let applied = held.undo(&undo, id, now)?;
        return Ok((undo, applied));
    };
    let back = held.undo_rows(change, of_rows, rows_of(memory, of_rows)?, id, now)?;
    let rows = Some(checked(of_rows, back)?);
    let undo = Undo { id: change, change: Change::new("undo", Vec::new()), rows, noted };
    Ok((undo, Applied { id: ChangeId(id), restored: Vec::new(), dropped: 0 }))
}

/// Returns the rows that a change was about.
fn rows_of<'a>(
    memory: &'a dyn Memory,
    noted: &RowsRecord,
) -> Result<&'a dyn RowStore, RevertError> {
    let rows = memory.rows().filter(|rows| rows.database().is_file());
    rows.ok_or_else(|| RevertError::DatabaseGone(noted.database.clone()))
}

fn checked(noted: &RowsRecord, back: RowsUndo) -> Result<RowsUndo, RevertError> {
    match back.changed.first() {
        None if back.finds_nothing() => {
            let (count, database) = (back.gone, noted.database.clone());
            Err(RevertError::RowsGone { count, database })
        }
        None => Ok(back),
        Some(key) => {
            let (key, database) = (key.clone(), noted.database.clone());
            Err(RevertError::RowChanged { key, database })
        }
    }
}

fn gone(count: usize) -> String {
    match count {
        1 => "the row that the change added is no longer in the database".to_owned(),
        count => format!("the {count} rows that the change added are no longer in the database"),
    }
}

impl LockedStore<'_> {
    /// Reverts a change of files according to its plan.
    pub(crate) fn undo(
        &self,
        undo: &Undo,
        id: Uuid,
        now: Timestamp,
    ) -> Result<Applied, RevertError> {
        Ok(self.apply_as(&undo.change, Some(undo.id), id, now)?)
    }

    /// Keeps the effect of a change, and skips it from here on.
    pub fn skip(&self, change: ChangeId, id: Uuid, now: Timestamp) -> Result<Applied, RevertError> {
        let nothing = Change::new("skip", Vec::new());
        Ok(self.apply_as(&nothing, Some(change), id, now)?)
    }
}

impl EditRecord {
    /// Returns what takes the edit back; `None` when its file is no longer as it left it.
    fn undone(&self, image: Vec<u8>, there: Option<FileSnapshot>) -> Option<Edit> {
        if self.added.is_some() {
            let seen = there?;
            return Some(match self.cut_from(&seen.bytes)? {
                Cut::Left(left) => Edit::replace(&seen, left),
                Cut::Empty => Edit::Remove { path: seen.path, before: seen.sha256 },
            });
        }
        let now = there.as_ref().map(|value| anemone_format::Hex(&value.sha256).to_string());
        if now != self.after {
            // Other programs have written since: only the effect of the change is reverted.
            let (patch, seen) = (self.patch.as_ref()?, there?);
            return Some(Edit::replace(&seen, patch.taken_back(&image, &seen.bytes)?));
        }
        Some(match (self.before, there) {
            (None, Some(seen)) => Edit::Remove { path: seen.path, before: seen.sha256 },
            (_, there) => Edit::Write {
                path: self.path.clone(),
                before: there.map(|value| value.sha256),
                after: image,
            },
        })
    }
}
