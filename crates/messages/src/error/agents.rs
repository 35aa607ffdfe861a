//! Why no agents are listed, in words.

use anemone::agents::AgentsError;

use super::UserError;

impl From<AgentsError> for UserError {
    fn from(error: AgentsError) -> Self {
        pass_on!(error, "agents", AgentsError, [Find, Io])
    }
}
