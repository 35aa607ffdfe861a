//! Why an agent was not checked, in words.

use anemone::alf::{AlfExportError, AlfFileError};
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

impl From<AlfExportError> for UserError {
    fn from(error: AlfExportError) -> Self {
        let code = match &error {
            AlfExportError::NoWorkspace { .. } => "workspace_not_found",
            AlfExportError::NotAFolder { .. } => "not_a_folder",
            AlfExportError::NotAnArchive { .. } => "exists",
            _ => "export",
        };
        let hint = match &error {
            AlfExportError::NotAnArchive { .. } => Some("give another -o FILE"),
            AlfExportError::Output(_) => None,
            _ => Some(
                "give the folder that holds the agent's files and memory/ with -w DIR; \
                 `alf check` looks for it",
            ),
        };
        let said = match error {
            AlfExportError::Workspace(error) | AlfExportError::Output(error) => error.into(),
            error => Self::failure(code, error.to_string()),
        };
        match hint {
            Some(hint) => said.hint(hint),
            None => said,
        }
    }
}
