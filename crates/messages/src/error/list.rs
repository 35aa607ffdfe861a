//! Why nothing is listed, in words.

use anemone::list::ListError;

use super::{Kind, UserError};

impl From<ListError> for UserError {
    fn from(error: ListError) -> Self {
        let said = |code| Self::from_error(Kind::Usage, code, &error);
        match &error {
            ListError::EmptyPeriod { .. } => {
                said("usage").hint("--since is the earlier day, --until the later one")
            }
            ListError::UnknownType { known, .. } => {
                said("unknown_type").hint(format!("types here: {}", known.join(", ")))
            }
            _ => pass_on!(error, "memory", ListError, [Store, Memory, Open]),
        }
    }
}
