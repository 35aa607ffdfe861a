//! Why the config or a chat model cannot be used, in words.

use anemone::chat::ChatError;
use anemone::config::ConfigError;
use anemone::settings::ExplainError;

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

impl Explain for ExplainError {
    fn explain(&self) -> UserError {
        match self {
            Self::UnknownSetting { nearest, .. } => {
                self.misuse("unknown_setting").hint(match nearest {
                    Some(name) => format!("did you mean {name}?"),
                    None => "`anemone config explain` lists all settings".to_owned(),
                })
            }
            Self::Agent(error) => error.explain(),
            Self::Config(error) => error.explain(),
            other => other.failure("failed"),
        }
    }
}
