//! Messages for people: what the library's errors, notes and problems mean, and which command
//! helps.
//!
//! The library returns enums. The command line and the MCP server show the same sentences, codes
//! and commands for them, so they are here, and not in either of the two. Whatever only one of
//! them can say, such as the name of an argument of a tool, is there.

#![warn(missing_docs)]

mod audit;
mod error;
mod forget;
mod search;
mod status;
mod target;

use anemone::agent_memory::MemoryChoice;
use anemone::search::target::TargetChoice;

pub use self::audit::fix;
pub use self::error::{Kind, UserError, given_day, given_time, plain};
pub use self::forget::{holder_message, local_time, lost_change, note};
pub use self::search::{index_command, vectors, warning, weak_matches};
pub use self::status::{next, problem};
pub use self::target::target_words;

/// Returns the arguments that name a memory, each behind a space.
#[must_use]
pub fn memory_words(memory: &MemoryChoice) -> String {
    let MemoryChoice { agent, index_dir } = memory.clone();
    target_words(&TargetChoice { agent, index_dir, ..TargetChoice::default() })
}
