//! Why a hook did not do what it is for, in words.

use anemone::hooks::HookError;
use anemone::living::NotWritable;

use super::{CliError, Kind};

impl From<HookError> for CliError {
    fn from(error: HookError) -> Self {
        let said = |code| Self::from_error(Kind::Failed, code, &error);
        match &error {
            HookError::NoConversation => said("no_conversation")
                .hint("give --transcript FILE or --session ID, or the hook's JSON on stdin"),
            HookError::NoTurn => said("no_conversation")
                .hint("give --message TEXT or --transcript FILE, or the hook's JSON on stdin"),
            HookError::NoMessage => {
                said("no_message").hint("give --message TEXT, or the hook's JSON on stdin")
            }
            HookError::NoChatModel => {
                let message = "--direct needs a chat model, and none is named or configured";
                Self::new(Kind::Failed, "no_chat", message).hint("give --chat-url URL")
            }
            HookError::UnknownTimeZone { .. } => Self { kind: Kind::Usage, ..said("timezone") },
            HookError::NotWritable(why) => {
                let place = match why {
                    NotWritable::KeepsNothing => "nowhere".to_owned(),
                    NotWritable::KeptElsewhere { place } => format!("in {place}"),
                };
                let message = format!(
                    "the agent keeps its memory {place}, and would not read what is written"
                );
                Self::new(Kind::Failed, "out_of_reach", message)
            }
            _ => match error {
                HookError::Conversation(error) => error.into(),
                HookError::Chat(error) => error.into(),
                HookError::Config(error) => error.into(),
                HookError::Store(error) => error.into(),
                HookError::Apply(error) => error.into(),
                HookError::Memory(error) => error.into(),
                HookError::Find(error) => error.into(),
                HookError::Context(error) => error.into(),
                HookError::Open(error) => error.into(),
                HookError::Random(error) => error.into(),
                HookError::Io(error) => error.into(),
                other => Self::from_error(Kind::Failed, "hook", &other),
            },
        }
    }
}
