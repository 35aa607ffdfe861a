//! Why nothing could be composed, in words.

use anemone::context::ContextError;

use super::{CliError, Kind};

impl From<ContextError> for CliError {
    fn from(error: ContextError) -> Self {
        match error {
            ContextError::Store(error) => error.into(),
            ContextError::Find(error) => error.into(),
            ContextError::Open(error) => error.into(),
            ContextError::Random(error) => error.into(),
            other => Self::from_error(Kind::Failed, "memory", &other),
        }
    }
}
