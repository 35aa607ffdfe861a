//! Why nothing was undone, in words.

use anemone::undo::UndoError;
use anemone_memory::RevertError;

use super::{Kind, UserError};

const HINT: &str = "pass the change over with `anemone undo --skip`";

impl From<UndoError> for UserError {
    fn from(error: UndoError) -> Self {
        match error {
            UndoError::Memory(error) => match &error {
                RevertError::RowChanged { database, .. } => {
                    Self::from_error(Kind::Conflict, "changed", &error).about(database).hint(HINT)
                }
                RevertError::RowsGone { database, .. } => {
                    Self::from_error(Kind::Failed, "rows_gone", &error).about(database).hint(HINT)
                }
                RevertError::DatabaseGone(database) => {
                    Self::failure_from("database_gone", &error).about(database).hint(HINT)
                }
                _ => error.into(),
            },
            other => pass_on!(other, "memory", UndoError, [Store, Open]),
        }
    }
}
