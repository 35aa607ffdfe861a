//! Why nothing was tidied, in words.

use anemone::tidy::TidyError;

use super::{Explain, UserError};

impl Explain for TidyError {
    fn explain(&self) -> UserError {
        match self {
            Self::UnknownProposal(_) => {
                self.misuse("unknown_promotion").hint("run `anemone tidy` to see what is proposed")
            }
            Self::Unreadable => self.failure("unreadable"),
            Self::Recalls(_) => self.failure("recalls"),
            Self::Rows(_) => self.failure("database"),
            other => pass_on!(other, "memory", [Store, Apply, Open]),
        }
    }
}
