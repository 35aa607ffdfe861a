//! Why a file of the `alf` tool cannot be used, in words.

use anemone::alf::{AlfExportError, AlfFileError};

use super::{Explain, UserError};

impl Explain for AlfFileError {
    fn explain(&self) -> UserError {
        match self {
            Self::Content { .. } => self
                .failure("alf_config")
                .hint("fix that line, or move the file away; it was not changed"),
            other => pass_on!(other, "alf_config", [Io]),
        }
    }
}

impl Explain for AlfExportError {
    fn explain(&self) -> UserError {
        const FOLDER_HINT: &str = "give the folder that holds the agent's files and memory/ with \
                                   -w DIR; `alf check` looks for it";
        match self {
            Self::NoWorkspace { .. } => self.failure("workspace_not_found").hint(FOLDER_HINT),
            Self::NotAFolder { .. } => self.failure("not_a_folder").hint(FOLDER_HINT),
            Self::NotAnArchive { .. } => self.failure("exists").hint("give another -o FILE"),
            Self::Workspace(error) => error.explain().hint(FOLDER_HINT),
            Self::Output(error) => error.explain(),
            _ => self.failure("export").hint(FOLDER_HINT),
        }
    }
}
