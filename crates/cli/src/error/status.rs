//! Why nothing was looked at, in words.

use anemone::status::StatusError;

use super::{CliError, Kind};

impl From<StatusError> for CliError {
    fn from(error: StatusError) -> Self {
        match error {
            StatusError::Find(error) => error.into(),
            StatusError::Io(error) => error.into(),
            other => Self::from_error(Kind::Failed, "status", &other),
        }
    }
}
