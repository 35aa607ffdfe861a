//! Why no agents are listed, in words.

use anemone::agents::AgentsError;

use super::{CliError, Kind};

impl From<AgentsError> for CliError {
    fn from(error: AgentsError) -> Self {
        match error {
            AgentsError::Find(error) => error.into(),
            AgentsError::Io(error) => error.into(),
            other => Self::from_error(Kind::Failed, "agents", &other),
        }
    }
}
