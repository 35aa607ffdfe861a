//! Why nothing is listed, in words.

use anemone::list::ListError;

use super::{CliError, Kind};

impl From<ListError> for CliError {
    fn from(error: ListError) -> Self {
        let said = |code| Self::from_error(Kind::Usage, code, &error);
        match &error {
            ListError::EmptyPeriod { .. } => {
                said("usage").hint("--since is the earlier day, --until the later one")
            }
            ListError::UnknownType { known, .. } => {
                said("unknown_type").hint(format!("types here: {}", known.join(", ")))
            }
            _ => match error {
                ListError::Store(error) => error.into(),
                ListError::Memory(error) => error.into(),
                ListError::Open(error) => error.into(),
                other => Self::from_error(Kind::Failed, "memory", &other),
            },
        }
    }
}
