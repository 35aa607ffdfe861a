//! Why nothing is listed, in words.

use anemone::list::ListError;

use super::{Explain, UserError};

impl Explain for ListError {
    fn explain(&self) -> UserError {
        match self {
            Self::EmptyPeriod { .. } => {
                self.misuse("usage").hint("--since is the earlier day, --until the later one")
            }
            Self::UnknownType { known, .. } => {
                self.misuse("unknown_type").hint(format!("types here: {}", known.join(", ")))
            }
            other => pass_on!(other, "memory", [Store, Memory, Open]),
        }
    }
}
