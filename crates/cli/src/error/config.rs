//! Why the config or a chat model cannot be used, in words.

use anemone::chat::ChatError;
use anemone::config::ConfigError;

use super::{CliError, Kind};

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        let mut said = Self::from_error(Kind::Failed, "config", &error);
        match error {
            ConfigError::Io(error) => return error.into(),
            ConfigError::Invalid { problem, .. } => said.hint = problem.hint(),
            _ => {}
        }
        said
    }
}

impl From<ChatError> for CliError {
    fn from(error: ChatError) -> Self {
        let code = match error {
            ChatError::Key(error) => return error.into(),
            ChatError::NoKeyFile => "key",
            _ => "chat",
        };
        let mut said = Self::from_error(Kind::Failed, code, &error);
        said.hint = error.hint().map(str::to_owned);
        said
    }
}
