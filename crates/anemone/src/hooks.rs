//! Hooks: what a program in which an agent runs asks at one moment of a session.
//!
//! A program says what the session is by [`HookInput`], the JSON of its hook, or the request names
//! it.

mod conversation;
mod entry_target;
mod input;
pub mod pre_compact;
pub mod prompt;
pub mod session_end;
pub mod session_start;
pub mod turn_end;

use anemone_memory::{ApplyError, FindError, MarkdownStoreError, MemoryError};
use anemone_runtimes::ReadConversationError;

pub use self::conversation::ConversationChoice;
pub use self::input::HookInput;
use crate::agent_memory::{NotWritable, OpenMemoryError, RandomError};
use crate::chat::ChatError;
use crate::config::ConfigError;
use crate::context::ContextError;

/// Why a hook did not do what it is for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// Neither the request nor the hook's JSON names the conversation that ended.
    #[error("no conversation is named")]
    NoConversation,
    /// Neither the request nor the hook's JSON says what was said in a turn.
    #[error("no conversation is named")]
    NoTurn,
    /// Neither the request nor the hook's JSON has the message.
    #[error("there is no message")]
    NoMessage,
    /// A chat model was to be asked.
    #[error("no chat model is named or configured")]
    NoChatModel,
    /// There is no such time zone.
    #[error("{name:?} is no time zone")]
    UnknownTimeZone {
        /// As it was named.
        name: String,
    },
    /// The agent would not read what is written.
    #[error(transparent)]
    NotWritable(#[from] NotWritable),
    /// The conversation cannot be read.
    #[error(transparent)]
    Conversation(#[from] ReadConversationError),
    /// The chat model.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// The config.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The files of the memory.
    #[error(transparent)]
    Store(#[from] MarkdownStoreError),
    /// The change could not be made.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// The rows of the memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The index of the memory.
    #[error(transparent)]
    Find(#[from] FindError),
    /// What a session sees when it begins.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// The memory was not found, or cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenMemoryError),
    /// The system gives no random numbers.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The system refused.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
