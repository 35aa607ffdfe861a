//! Why an agent was not checked, in words.

use anemone::alf::AlfFileError;
use anemone::check::CheckError;

use super::{CliError, Kind};

impl From<CheckError> for CliError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Find(error) => error.into(),
            CheckError::Io(error) => error.into(),
            other => Self::from_error(Kind::Failed, "check", &other),
        }
    }
}

impl From<AlfFileError> for CliError {
    fn from(error: AlfFileError) -> Self {
        let said = Self::from_error(Kind::Failed, "alf_config", &error);
        match error {
            AlfFileError::Io(error) => error.into(),
            AlfFileError::Content { .. } => {
                said.hint("fix that line, or move the file away; it was not changed")
            }
            _ => said,
        }
    }
}
