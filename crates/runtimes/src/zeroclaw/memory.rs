//! The rows of one agent in ZeroClaw's database, which ZeroClaw may have open at the same time.
//!
//! Recall uses our own index and not the database's full-text index, which supports neither
//! stemming nor Chinese. The full-text index is kept in step all the same, because ZeroClaw queries
//! it.
//!
//! The origin of an entry is stored in a table of our own beside ZeroClaw's, `anemone_stamps`:
//! ZeroClaw has no column for it, and does not touch tables that it does not know. A row gets
//! the vector that the caller brings, and no other: a replaced row loses that of its old text.

mod noted;
mod open;
mod outdated_rows;
mod rows;

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anemone_format::{Moment, Origin};
use anemone_memory::{
    BackendError, Category, Clock, ForgetTarget, KeepRows, KeptRow, MemoryEntry, MemoryError,
    RowDraft, RowStore, RowsRecord, RowsUndo, row_key, row_text,
};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use sha2::{Digest as _, Sha256};

use self::open::OpenRowsError;
use self::rows::{AgentRows, NewRow};
use super::schema::{PRIVATE_KEY, row_time};
use crate::kit::with_suffix;

/// The rows of one agent in ZeroClaw's database.
pub(super) struct ZeroClawRows {
    path: PathBuf,
    alias: String,
    clock: Box<dyn Clock>,
    /// A read-only connection, open from the first query until something is written.
    reader: Mutex<Option<AgentRows>>,
}

impl ZeroClawRows {
    /// Takes a database and the alias of an agent in it; nothing is opened yet.
    pub(super) fn new(path: &Path, alias: &str, clock: Box<dyn Clock>) -> Self {
        let (path, alias) = (path.to_owned(), alias.to_owned());
        Self { path, alias, clock, reader: Mutex::new(None) }
    }

    fn rows(&self, (db, shape): (rusqlite::Connection, open::DatabaseShape)) -> AgentRows {
        AgentRows { path: self.path.clone(), db, shape, alias: self.alias.clone() }
    }

    /// Queries the database without changing its file; `None` when there is none.
    fn read<T>(
        &self,
        ask: impl FnOnce(&AgentRows) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, MemoryError> {
        self.with_reader(|rows| ask(rows).map_err(|error| failed(&self.path, error)))
    }

    fn with_reader<T>(
        &self,
        ask: impl FnOnce(&AgentRows) -> Result<T, MemoryError>,
    ) -> Result<Option<T>, MemoryError> {
        // A panic in another thread leaves nothing in an inconsistent state.
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        if reader.is_none() {
            *reader = open::open_to_read(&self.path).map_err(unopened)?.map(|db| self.rows(db));
        }
        reader.as_ref().map(ask).transpose()
    }

    /// Opens the database to write, and creates it if it does not exist.
    fn open(&self) -> Result<AgentRows, MemoryError> {
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let now = row_time(self.clock.now(), TimeZone::UTC);
        Ok(self.rows(open::open(&self.path, &now).map_err(unopened)?))
    }
}

impl RowStore for ZeroClawRows {
    fn database(&self) -> &Path {
        &self.path
    }

    fn check_key(&self, key: &str) -> Result<(), MemoryError> {
        if key.starts_with(PRIVATE_KEY) {
            Err(MemoryError::PrivateKey { prefix: PRIVATE_KEY })
        } else {
            Ok(())
        }
    }

    fn entries(&self) -> Result<Vec<MemoryEntry>, MemoryError> {
        Ok(self.read(AgentRows::list)?.unwrap_or_default())
    }

    fn superseded(&self) -> Result<usize, MemoryError> {
        Ok(self.read(AgentRows::count_superseded)?.unwrap_or_default())
    }

    fn matching(&self, target: &ForgetTarget) -> Result<Vec<KeptRow>, MemoryError> {
        // Whole rows are read by those who are about to change them, and what cannot be done must
        // not be planned.
        self.with_reader(|rows| {
            open::check_for_changes(&rows.db, &rows.path, &rows.shape).map(drop).map_err(unopened)
        })?;
        Ok(self.read(|rows| rows.matching(target))?.unwrap_or_default())
    }

    fn others_with(&self, is_meant: &dyn Fn(&str) -> bool) -> Result<Vec<String>, MemoryError> {
        Ok(self.read(|rows| rows.others_with(is_meant))?.unwrap_or_default())
    }

    fn can_supersede(&self) -> Result<bool, MemoryError> {
        let can = self.read(|rows| Ok(rows.shape.has("superseded_by")))?;
        // A new database has the column.
        Ok(can.unwrap_or(true))
    }

    fn state(&self) -> Option<[u8; 32]> {
        let database = fs_err::metadata(&self.path).ok()?;
        // Every program that opens the database creates an empty log, so such a log means nothing.
        let log =
            fs_err::metadata(with_suffix(&self.path, "-wal")).ok().filter(|log| log.len() > 0);
        let mut state = Sha256::new();
        for file in std::iter::once(database).chain(log) {
            for number in [file.ino(), file.len(), file.mtime().unsigned_abs()] {
                state.update(number.to_le_bytes());
            }
            state.update(file.mtime_nsec().to_le_bytes());
        }
        Some(state.finalize().into())
    }

    fn put(&self, new: &[RowDraft], keep: &mut KeepRows<'_>) -> Result<(), MemoryError> {
        let texts: Vec<(String, String)> =
            new.iter().map(|row| (row_key(&row.given), row_text(&row.given))).collect();
        texts.iter().try_for_each(|(key, _)| self.check_key(key))?;
        let rows =
            new.iter().zip(&texts).map(|(RowDraft { given, category, vector }, text)| NewRow {
                id: given.stamp.uuid.unwrap_or_else(|| self.clock.fresh_id()),
                key: &text.0,
                content: &text.1,
                category,
                vector: vector.as_ref(),
                session: given.stamp.session.as_deref(),
                importance: given.label.as_ref().map(|label| label.importance.get()),
                // Unknown origins are trusted least.
                origin: given.stamp.origin.unwrap_or(Origin::Web).as_str(),
                source: given.stamp.source.as_deref(),
                supersedes: given.stamp.supersedes.as_deref(),
                agent: self.clock.fresh_id(),
                now: given.stamp.at.as_ref().map_or_else(|| self.clock.now(), Moment::instant),
                zone: self.clock.zone(),
            });
        let rows: Vec<NewRow<'_>> = rows.collect();
        self.open()?.put(&rows, keep)
    }

    fn category_of(&self, key: &str) -> Result<Option<Category>, MemoryError> {
        Ok(self.read(|rows| rows.category_of(key))?.flatten())
    }

    fn spelt(&self, category: &Category) -> Result<Category, MemoryError> {
        let spelt = self.read(|rows| Ok(rows.spelt(category)))?;
        Ok(spelt.unwrap_or_else(|| category.clone()))
    }

    fn noted(&self, rows: &[KeptRow]) -> RowsRecord {
        noted::noted(&self.path, &self.alias, rows)
    }

    fn remove(&self, rows: &[KeptRow]) -> Result<usize, MemoryError> {
        self.open()?.remove(rows).map_err(|error| failed(&self.path, error))
    }

    fn compact(&self) -> Result<(), MemoryError> {
        self.open()?.compact().map_err(|error| failed(&self.path, error))
    }

    fn plan_back(&self, noted: &RowsRecord) -> Result<RowsUndo, MemoryError> {
        self.open()?.plan_back(noted).map_err(|error| failed(&self.path, error))
    }

    fn take_back(&self, noted: &RowsRecord) -> Result<(RowsUndo, RowsRecord), MemoryError> {
        self.open()?.take_back(noted).map_err(|error| failed(&self.path, error))
    }

    fn count_past(&self, category: &str, before: Date) -> Result<Option<u64>, BackendError> {
        Ok(outdated_rows::count_past_rows(&self.path, category, before)?)
    }
}

fn unopened(error: OpenRowsError) -> MemoryError {
    match error {
        OpenRowsError::Database { path, source } if is_busy(&source) => failed(&path, source),
        error => MemoryError::Open(Box::new(error)),
    }
}

fn failed(database: &Path, error: rusqlite::Error) -> MemoryError {
    if is_busy(&error) {
        MemoryError::Busy { database: database.to_owned(), source: Box::new(error) }
    } else {
        MemoryError::Database(Box::new(error))
    }
}

/// Whether another program holds the lock of the database, and did not let go of it in time.
fn is_busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked))
}

#[cfg(test)]
mod tests {
    use rusqlite::{Error, ffi};

    use super::*;

    #[test]
    fn a_lock_that_another_program_holds_is_told_from_other_failures() {
        let path = PathBuf::from("brain.db");
        let error = |code| Error::SqliteFailure(ffi::Error::new(code), None);
        let opened =
            |code| unopened(OpenRowsError::Database { path: path.clone(), source: error(code) });
        for code in [ffi::SQLITE_BUSY, ffi::SQLITE_LOCKED] {
            assert!(matches!(opened(code), MemoryError::Busy { .. }));
            assert!(matches!(failed(&path, error(code)), MemoryError::Busy { .. }));
        }
        assert!(matches!(opened(ffi::SQLITE_CORRUPT), MemoryError::Open(_)));
        assert!(matches!(failed(&path, error(ffi::SQLITE_FULL)), MemoryError::Database(_)));
    }
}
