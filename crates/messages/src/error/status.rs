//! Why nothing was looked at, in words.

use anemone::status::StatusError;

use super::UserError;

impl From<StatusError> for UserError {
    fn from(error: StatusError) -> Self {
        pass_on!(error, "status", StatusError, [Find, Io])
    }
}
