//! Why nothing could be composed, in words.

use anemone::context::ContextError;

use super::UserError;

impl From<ContextError> for UserError {
    fn from(error: ContextError) -> Self {
        pass_on!(error, "memory", ContextError, [Store, Find, Open, Random])
    }
}
