//! Why a runtime cannot be read or written, in words.

use anemone_runtimes::{ReadConversationError, ReadError};

use super::{CliError, Kind};

impl From<ReadError> for CliError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Sink(error) => Self::from_error(Kind::Failed, "write_failed", &error),
            ReadError::Seal(error) => error.into(),
            ReadError::NoWorkspace { .. } => {
                Self::from_error(Kind::Failed, "workspace_not_found", &error)
                    .hint("give the folder that holds MEMORY.md and memory/ with -w DIR")
            }
            ReadError::AgentIdFile { .. } => Self::from_error(Kind::Failed, "agent_id", &error)
                .hint("it should hold one UUID; without the file the id is derived"),
            ReadError::IgnoreFile { .. } => Self::from_error(Kind::Failed, "alfignore", &error)
                .hint(
                    "make it a regular file that you can read; it lists what must not be exported",
                ),
            error => Self::from_error(Kind::Failed, "workspace", &error),
        }
    }
}

impl From<ReadConversationError> for CliError {
    fn from(error: ReadConversationError) -> Self {
        Self::from_error(Kind::Failed, "conversation", &error)
    }
}
