//! Why nothing was undone, in words.

use anemone::undo::UndoError;

use super::{Explain, UserError};

impl Explain for UndoError {
    fn explain(&self) -> UserError {
        pass_on!(self, "memory", [Memory, Open])
    }
}
