//! What is forgotten of a database.

use std::path::{Path, PathBuf};

use anemone_index::Hit;
use anemone_memory::{Finder, ForgetTarget, KeptRow, NotedRows, RowsWanted, SqliteMemory};

use crate::error::CliError;
use crate::living::AgentMemory;

/// The database of an agent.
pub(crate) struct Database {
    path: PathBuf,
    memory: SqliteMemory,
}

impl Database {
    /// Opens the database; `None` when there is none yet.
    pub(super) fn open(
        path: &Path,
        living: &AgentMemory,
        finder: Finder,
    ) -> Result<Option<Self>, CliError> {
        if fs_err::symlink_metadata(path).is_err() {
            return Ok(None);
        }
        Ok(Some(Self { path: path.to_owned(), memory: living.rows(path, finder)? }))
    }

    /// Opens the database only to read; `None` when there is none yet.
    pub(crate) fn open_to_read(
        path: &Path,
        living: &AgentMemory,
        finder: Finder,
    ) -> Result<Option<Self>, CliError> {
        let memory = living.rows_to_read(path, finder)?;
        Ok(memory.map(|memory| Self { path: path.to_owned(), memory }))
    }

    pub(super) fn ids_of(&self, hits: &[Hit]) -> Result<Vec<String>, CliError> {
        Ok(self.memory.ids_of_hits(hits)?)
    }

    pub(crate) fn matching(&self, wanted: &ForgetTarget) -> Result<Vec<KeptRow>, CliError> {
        let wanted = match wanted.clone() {
            ForgetTarget::Key(key) => RowsWanted::Key(key),
            ForgetTarget::Ids(ids) => RowsWanted::Ids(ids),
            ForgetTarget::Session(session) => RowsWanted::Session(session),
            ForgetTarget::Written { since, until, .. } => RowsWanted::Written { since, until },
        };
        Ok(self.memory.rows_matching(&wanted)?)
    }

    /// Returns what the journal keeps of rows.
    pub(super) fn noted(&self, rows: &[KeptRow]) -> NotedRows {
        self.memory.noted(rows)
    }

    /// Takes what was deleted earlier out of the file; says whether that could be done.
    pub(super) fn compact(&self) -> bool {
        self.memory.compact().is_ok()
    }

    /// Returns where the database is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn remove(&self, rows: &[KeptRow]) -> Result<(), CliError> {
        Ok(self.memory.remove_rows(rows).map(drop)?)
    }
}
