//! Why the config or a chat model cannot be used, in words.

use anemone::chat::ChatError;
use anemone::config::ConfigError;

use super::UserError;

impl From<ConfigError> for UserError {
    fn from(error: ConfigError) -> Self {
        let mut said = Self::failure_from("config", &error);
        match error {
            ConfigError::Io(error) => return error.into(),
            ConfigError::Invalid { problem, .. } => said.hint = problem.hint(),
            _ => {}
        }
        said
    }
}

impl From<ChatError> for UserError {
    fn from(error: ChatError) -> Self {
        let code = match error {
            ChatError::Key(error) => return error.into(),
            ChatError::NoKeyFile => "key",
            _ => "chat",
        };
        let mut said = Self::failure_from(code, &error);
        said.hint = error.hint().map(str::to_owned);
        said
    }
}
