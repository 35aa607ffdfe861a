//! Why a hook did not do what it is for, in words.

use anemone::agent_memory::NotWritable;
use anemone::hooks::HookError;

use super::{Kind, UserError};

impl From<HookError> for UserError {
    fn from(error: HookError) -> Self {
        let said = |code| Self::failure_from(code, &error);
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
                Self::failure("no_chat", message).hint("give --chat-url URL")
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
                Self::failure("out_of_reach", message)
            }
            _ => pass_on!(
                error,
                "hook",
                HookError,
                [Conversation, Chat, Config, Store, Apply, Memory, Find, Context, Open, Random, Io]
            ),
        }
    }
}
