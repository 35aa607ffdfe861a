//! Arguments that name a conversation, and when it is.

use std::path::PathBuf;

use anemone::hooks::ConversationChoice;
use clap::Args;

/// Arguments that name a conversation.
#[derive(Args, Clone, Debug)]
pub(super) struct ConversationArgs {
    /// The transcript of the session: the JSONL of a known program
    #[arg(long, value_name = "FILE", conflicts_with = "session")]
    transcript: Option<PathBuf>,

    /// The session, by its id or key, from the agent's own database or files
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl ConversationArgs {
    pub(super) fn choice(&self) -> ConversationChoice {
        let Self { transcript, session } = self.clone();
        ConversationChoice { transcript, session }
    }
}

/// Arguments that say when it is.
#[derive(Args, Clone, Debug)]
pub(super) struct ZoneArgs {
    /// The time zone of the user, such as Europe/Berlin; without it, that of this machine
    #[arg(long, value_name = "ZONE")]
    pub(super) timezone: Option<String>,
}
