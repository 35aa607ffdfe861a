//! Why the config or a chat model cannot be used, in words.

use crate::chat::ChatError;
use crate::config::ConfigError;
use crate::error::{Error, Kind};

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        let mut said = Self::from_error(Kind::Failed, "config", &error);
        match error {
            ConfigError::Io(error) => return error.into(),
            ConfigError::Invalid { problem, .. } => said.hint = problem.hint(),
        }
        said
    }
}

impl From<ChatError> for Error {
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
