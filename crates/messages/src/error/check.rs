//! Why an agent was not checked, in words.

use anemone::alf::AlfFileError;
use anemone::check::CheckError;

use super::UserError;

impl From<CheckError> for UserError {
    fn from(error: CheckError) -> Self {
        pass_on!(error, "check", CheckError, [Find, Io])
    }
}

impl From<AlfFileError> for UserError {
    fn from(error: AlfFileError) -> Self {
        match &error {
            AlfFileError::Content { .. } => Self::failure_from("alf_config", &error)
                .hint("fix that line, or move the file away; it was not changed"),
            _ => pass_on!(error, "alf_config", AlfFileError, [Io]),
        }
    }
}
