//! Why nothing was tidied, in words.

use anemone::tidy::TidyError;

use super::{CliError, Kind};

impl From<TidyError> for CliError {
    fn from(error: TidyError) -> Self {
        let said = |kind, code| Self::from_error(kind, code, &error);
        match &error {
            TidyError::UnknownProposal { .. } => said(Kind::Usage, "unknown_promotion")
                .hint("run `anemone tidy` to see what is proposed"),
            TidyError::Unreadable => said(Kind::Failed, "unreadable"),
            TidyError::Recalls(_) => said(Kind::Failed, "recalls"),
            TidyError::Rows(_) => said(Kind::Failed, "database"),
            _ => match error {
                TidyError::Store(error) => error.into(),
                TidyError::Apply(error) => error.into(),
                TidyError::Open(error) => error.into(),
                other => Self::from_error(Kind::Failed, "memory", &other),
            },
        }
    }
}
