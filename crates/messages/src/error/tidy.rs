//! Why nothing was tidied, in words.

use anemone::tidy::TidyError;

use super::{Kind, UserError};

impl From<TidyError> for UserError {
    fn from(error: TidyError) -> Self {
        let said = |kind, code| Self::from_error(kind, code, &error);
        match &error {
            TidyError::UnknownProposal { .. } => said(Kind::Usage, "unknown_promotion")
                .hint("run `anemone tidy` to see what is proposed"),
            TidyError::Unreadable => said(Kind::Failed, "unreadable"),
            TidyError::Recalls(_) => said(Kind::Failed, "recalls"),
            TidyError::Rows(_) => said(Kind::Failed, "database"),
            _ => pass_on!(error, "memory", TidyError, [Store, Apply, Open]),
        }
    }
}
