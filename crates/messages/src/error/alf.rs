//! Why a file of the `alf` tool cannot be used, in words.

use anemone::alf::AlfFileError;

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
