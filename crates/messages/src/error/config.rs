//! Why the config or a chat model cannot be used, in words.

use anemone::chat::ChatError;
use anemone::config::ConfigError;

use super::{Explain, UserError};

impl Explain for ConfigError {
    fn explain(&self) -> UserError {
        match self {
            Self::Io(error) => error.explain(),
            Self::Invalid { problem, .. } => self.failure("config").maybe_hint(problem.hint()),
            other => other.failure("config"),
        }
    }
}

impl Explain for ChatError {
    fn explain(&self) -> UserError {
        let code = match self {
            Self::Key(error) => return error.explain(),
            Self::NoKeyFile => "key",
            _ => "chat",
        };
        self.failure(code).maybe_hint(self.hint())
    }
}
