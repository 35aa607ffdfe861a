//! Rows of a database that are written and taken back as changes of the journal.

use jiff::Timestamp;
use uuid::Uuid;

use crate::journal::{ChangeId, RowsRecord};
use crate::memory::MemoryError;
use crate::row_store::{KeptRow, RowDraft, RowStore, RowsUndo};
use crate::store::LockedStore;

impl LockedStore<'_> {
    /// Writes rows in one step and records the former rows, so that the change can be undone.
    pub fn write_rows(
        &self,
        what: &str,
        rows: &dyn RowStore,
        new: &[RowDraft],
        id: Uuid,
        now: Timestamp,
    ) -> Result<ChangeId, MemoryError> {
        let written =
            rows.put(new, &mut |noted| self.note_rows(what, noted, None, id, now).map(drop));
        match written {
            Ok(()) => Ok(ChangeId(id)),
            Err(error) => {
                // Nothing was changed, so there is nothing to undo.
                self.drop_change(ChangeId(id))?;
                Err(error)
            }
        }
    }

    /// Removes rows and records them, so that the change can be undone.
    pub fn remove_rows(
        &self,
        what: &str,
        rows: &dyn RowStore,
        gone: &[KeptRow],
        id: Uuid,
        now: Timestamp,
    ) -> Result<(), MemoryError> {
        self.note_rows(what, rows.noted(gone), None, id, now)?;
        rows.remove(gone)?;
        Ok(())
    }

    /// Reverts a change of rows, and records that. If another program changed a row since, or
    /// removed all of them, nothing is done. If the process is killed between the two steps, the
    /// revert is done again the next time, which changes nothing.
    pub fn undo_rows(
        &self,
        change: ChangeId,
        noted: &RowsRecord,
        rows: &dyn RowStore,
        id: Uuid,
        now: Timestamp,
    ) -> Result<RowsUndo, MemoryError> {
        let (back, kept) = rows.take_back(noted)?;
        if back.changed.is_empty() && !back.finds_nothing() {
            self.note_rows("undo", kept, Some(change), id, now)?;
        }
        Ok(back)
    }
}
