//! Why a runtime cannot be read or written, in words.

use anemone_runtimes::{ApplyTreeError, PlanError, ReadConversationError, ReadError};

use super::{Kind, UserError};

impl From<ReadError> for UserError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Sink(error) => Self::failure_from("write_failed", &error),
            ReadError::Seal(error) => error.into(),
            ReadError::NoWorkspace { .. } => Self::failure_from("workspace_not_found", &error)
                .hint("give the folder that holds MEMORY.md and memory/ with -w DIR"),
            ReadError::AgentIdFile { .. } => Self::failure_from("agent_id", &error)
                .hint("it should hold one UUID; without the file the id is derived"),
            ReadError::IgnoreFile { .. } => Self::failure_from("alfignore", &error).hint(
                "make it a regular file that you can read; it lists what must not be exported",
            ),
            error => Self::failure_from("workspace", &error),
        }
    }
}

impl From<ReadConversationError> for UserError {
    fn from(error: ReadConversationError) -> Self {
        Self::failure_from("conversation", &error)
    }
}

impl From<PlanError> for UserError {
    fn from(error: PlanError) -> Self {
        let (code, hint) = match &error {
            PlanError::NotAFolder { .. } => ("not_a_folder", Some("choose another workspace")),
            PlanError::MountPoint { .. } => {
                ("mount_point", Some("import into a new folder, and move the files from there"))
            }
            PlanError::Choice { .. } => {
                let error = Self::from_error(Kind::Usage, "usage", &error);
                return error.hint("leave it out; an existing install keeps its own setting");
            }
            PlanError::Source(_) => {
                ("corrupt_archive", Some("`anemone validate` names everything that is wrong"))
            }
            PlanError::MemoriesUnread { .. } => (
                "memories_unread",
                Some(
                    "let the runtime keep memories as it did when the agent came to it; if that \
                     move was ended half-way, do it again first",
                ),
            ),
            PlanError::Settings { .. } => {
                ("config_unreadable", Some("make it a plain file that you may read, and TOML"))
            }
            PlanError::UnsafePath { .. } => {
                ("unsafe_archive", Some("do not unpack this file with another tool either"))
            }
            _ => ("cannot_read", None),
        };
        let mut error = Self::failure_from(code, &error);
        error.hint = hint.map(str::to_owned);
        error
    }
}

impl From<ApplyTreeError> for UserError {
    fn from(error: ApplyTreeError) -> Self {
        let (kind, code, hint) = match &error {
            ApplyTreeError::Conflicts => (Kind::Conflict, "conflict", None),
            ApplyTreeError::Changed { .. } => (
                Kind::Conflict,
                "workspace_changed",
                Some("nothing was changed; stop the agent, and import again"),
            ),
            ApplyTreeError::Staging { .. } => (
                Kind::Failed,
                "permission_denied",
                Some("the new tree is built beside the workspace, so that folder must be writable"),
            ),
            ApplyTreeError::Source { .. } | ApplyTreeError::WrongSize { .. } => (
                Kind::Failed,
                "corrupt_archive",
                Some("`anemone validate` names everything that is wrong"),
            ),
            ApplyTreeError::Swap { .. } => (
                Kind::Failed,
                "cannot_replace",
                Some(
                    "is it a mount point? import into a new folder, and move the files from there",
                ),
            ),
            _ => (Kind::Failed, "write_failed", Some("nothing was changed")),
        };
        let mut error = Self::from_error(kind, code, &error);
        error.hint = hint.map(str::to_owned);
        error
    }
}
