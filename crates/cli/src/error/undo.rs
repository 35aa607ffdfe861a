//! Why nothing was undone, in words.

use anemone::undo::UndoError;
use anemone_memory::UndoError as MemoryUndoError;

use super::{CliError, Kind};

const HINT: &str = "pass the change over with `anemone undo --skip`";

impl From<UndoError> for CliError {
    fn from(error: UndoError) -> Self {
        match error {
            UndoError::Memory(error) => match &error {
                MemoryUndoError::RowChanged { database, .. } => {
                    Self::from_error(Kind::Conflict, "changed", &error).about(database).hint(HINT)
                }
                MemoryUndoError::RowsGone { database, .. } => {
                    Self::from_error(Kind::Failed, "rows_gone", &error).about(database).hint(HINT)
                }
                MemoryUndoError::DatabaseGone { database } => {
                    Self::from_error(Kind::Failed, "database_gone", &error)
                        .about(database)
                        .hint(HINT)
                }
                _ => error.into(),
            },
            UndoError::Store(error) => error.into(),
            UndoError::Open(error) => error.into(),
            UndoError::Io(error) => error.into(),
            other => Self::from_error(Kind::Failed, "memory", &other),
        }
    }
}
