//! Errors and notes of use cases in the words of the command line: code, hint and exit code of each
//! variant, and the commands that a message suggests.

mod agent;
mod config;
mod embedder;
pub mod search;
mod target;

pub use self::search::{Warning, warning};
pub use self::target::target_words;
pub use anemone_runtimes::connect::quoted;
