//! Errors and notes of use cases in the words of the command line: code, hint and exit code of each
//! variant, and the commands that a message suggests.

mod audit;
mod context;
pub(crate) mod forget;
mod hooks;
mod list;
mod remember;
mod tidy;
mod undo;

use anemone::living::MemoryChoice;
use anemone::search::target::TargetChoice;
use anemone::words::target_words;

pub(crate) use self::audit::fix;

/// Returns the arguments that name a memory, each behind a space.
pub(crate) fn memory_words(memory: &MemoryChoice) -> String {
    let MemoryChoice { agent, index_dir } = memory.clone();
    target_words(&TargetChoice { agent, index_dir, ..TargetChoice::default() })
}
