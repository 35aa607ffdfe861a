//! Why a memory could not be examined, in words.

use anemone::audit::AuditError;

use super::{CliError, Kind};

impl From<AuditError> for CliError {
    fn from(error: AuditError) -> Self {
        match error {
            AuditError::Config(error) => error.into(),
            AuditError::Open(error) => error.into(),
            AuditError::Io(error) => error.into(),
            other => Self::from_error(Kind::Failed, "memory", &other),
        }
    }
}
