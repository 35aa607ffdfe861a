//! Why an archive was not opened, in words.

use anemone::archive::OpenArchiveError;

use crate::error::{CliError, Kind};

impl From<OpenArchiveError> for CliError {
    fn from(error: OpenArchiveError) -> Self {
        match error {
            OpenArchiveError::File(error) => error.into(),
            OpenArchiveError::Open { path, source } => Self::from(source).about(&path),
            OpenArchiveError::Invalid { edited, .. } => {
                let hint = if edited {
                    "`anemone validate` names every entry that differs; if you edited the file \
                     yourself, `anemone import --accept-edited` takes it in"
                } else {
                    "`anemone validate` names everything that is wrong"
                };
                Self::from_error(Kind::Failed, "invalid", &error).hint(hint)
            }
            other => Self::from_error(Kind::Failed, "corrupt_archive", &other),
        }
    }
}
