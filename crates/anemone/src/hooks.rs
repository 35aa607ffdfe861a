//! Hooks: requests that an agent's program makes at certain moments of a session.
//!
//! [`HookInput`], the JSON of the program's hook, or the request identifies the session.

mod conversation;
mod entry_target;
mod input;
pub mod pre_compact;
pub mod prompt;
pub mod session_end;
pub mod session_start;
pub mod turn_end;

use anemone_runtimes::ReadConversationError;

pub use self::conversation::ConversationChoice;
pub use self::input::HookInput;
use crate::agent_memory::{AgentMemoryError, NotWritable};
use crate::chat::ChatError;

/// What a part of a hook returns.
type Result<T, E = HookError> = std::result::Result<T, E>;

/// Why a hook failed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum HookError {
    /// Neither the request nor the hook's JSON names the conversation that ended.
    #[error("no conversation is named")]
    NoConversation,
    /// Neither the request nor the hook's JSON contains the messages of a turn.
    #[error("no conversation is named")]
    NoTurn,
    /// Neither the request nor the hook's JSON has the message.
    #[error("there is no message")]
    NoMessage,
    /// There is no such time zone.
    #[error("{0:?} is no time zone")]
    UnknownTimeZone(String),
    /// The agent would not read the written memory.
    NotWritable(#[from] NotWritable),
    /// The conversation cannot be read.
    Conversation(#[from] ReadConversationError),
    /// The chat model.
    Chat(#[from] ChatError),
    /// The memory cannot be opened, read or changed.
    Memory(AgentMemoryError),
}

impl<E: Into<AgentMemoryError>> From<E> for HookError {
    fn from(error: E) -> Self {
        Self::Memory(error.into())
    }
}
