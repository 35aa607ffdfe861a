//! Why a runtime cannot be read or written, in words.

use anemone_runtimes::{ApplyTreeError, PlanError, ReadConversationError, ReadError};

use super::archive::{UNSAFE_HINT, VALIDATE_HINT};
use super::{Explain, UserError};

impl Explain for ReadError {
    fn explain(&self) -> UserError {
        match self {
            Self::Sink(error) => UserError::failure_from("write_failed", error),
            Self::Seal(error) => error.explain(),
            Self::NoWorkspace { .. } => self
                .failure("workspace_not_found")
                .hint("give the folder that holds MEMORY.md and memory/ with -w DIR"),
            Self::AgentIdFile { .. } => self
                .failure("agent_id")
                .hint("it should hold one UUID; without the file the id is derived"),
            Self::IgnoreFile { .. } => self.failure("alfignore").hint(
                "make it a regular file that you can read; it lists what must not be exported",
            ),
            _ => self.failure("workspace"),
        }
    }
}

failures! {
    ReadConversationError => "conversation";
}

impl Explain for PlanError {
    fn explain(&self) -> UserError {
        match self {
            Self::NotAFolder { .. } => {
                self.failure("not_a_folder").hint("choose another workspace")
            }
            Self::MountPoint { .. } => self
                .failure("mount_point")
                .hint("import into a new folder, and move the files from there"),
            Self::Choice { .. } => {
                self.misuse("usage").hint("leave it out; an existing install keeps its own setting")
            }
            Self::Source(_) => self.failure("corrupt_archive").hint(VALIDATE_HINT),
            Self::MemoriesUnread { .. } => self.failure("memories_unread").hint(
                "let the runtime keep memories as it did when the agent came to it; if that \
                 move was ended half-way, do it again first",
            ),
            Self::Settings { .. } => self
                .failure("config_unreadable")
                .hint("make it a plain file that you may read, and TOML"),
            Self::UnsafePath { .. } => self.failure("unsafe_archive").hint(UNSAFE_HINT),
            _ => self.failure("cannot_read"),
        }
    }
}

impl Explain for ApplyTreeError {
    fn explain(&self) -> UserError {
        match self {
            Self::Conflicts => self.conflict("conflict"),
            Self::Changed { .. } => self
                .conflict("workspace_changed")
                .hint("nothing was changed; stop the agent, and import again"),
            Self::Staging { .. } => self.failure("permission_denied").hint(
                "the new tree is built beside the workspace, so that folder must be writable",
            ),
            Self::Source { .. } | Self::WrongSize { .. } => {
                self.failure("corrupt_archive").hint(VALIDATE_HINT)
            }
            Self::Swap { .. } => self.failure("cannot_replace").hint(
                "is it a mount point? import into a new folder, and move the files from there",
            ),
            _ => self.failure("write_failed").hint("nothing was changed"),
        }
    }
}
