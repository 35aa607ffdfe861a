//! Notes of use cases in the words of the command line, and the commands that a message suggests.

mod audit;
pub(crate) mod forget;
mod search;
mod status;
mod target;

use anemone::living::MemoryChoice;
use anemone::search::target::TargetChoice;

pub(crate) use self::audit::fix;
pub(crate) use self::search::{index_command, vectors, warning};
pub(crate) use self::status::{next, problem};
pub(crate) use self::target::target_words;

/// Returns the arguments that name a memory, each behind a space.
pub(crate) fn memory_words(memory: &MemoryChoice) -> String {
    let MemoryChoice { agent, index_dir } = memory.clone();
    target_words(&TargetChoice { agent, index_dir, ..TargetChoice::default() })
}
