//! Why a hook did not do what it is for, in words.

use anemone::agent_memory::NotWritable;
use anemone::hooks::HookError;

use super::memory::config_unreadable;
use super::{Explain, UserError};

impl Explain for HookError {
    fn explain(&self) -> UserError {
        match self {
            Self::NoConversation => self
                .failure("no_conversation")
                .hint("give --transcript FILE or --session ID, or the hook's JSON on stdin"),
            Self::NoTurn => self
                .failure("no_conversation")
                .hint("give --message TEXT or --transcript FILE, or the hook's JSON on stdin"),
            Self::NoMessage => {
                self.failure("no_message").hint("give --message TEXT, or the hook's JSON on stdin")
            }
            Self::UnknownTimeZone(_) => self.misuse("timezone"),
            Self::NotWritable(why) => {
                let place = match why {
                    NotWritable::KeepsNothing => "nowhere".to_owned(),
                    NotWritable::KeptElsewhere(place) => format!("in {place}"),
                    NotWritable::ConfigUnreadable(_) => return config_unreadable(why),
                };
                let message = format!(
                    "the agent keeps its memory {place}, and would not read what is written"
                );
                UserError::failure("out_of_reach", message)
            }
            other => pass_on!(other, "hook", [Conversation, Chat, Memory]),
        }
    }
}
