//! Reads databases that other programs wrote, for a program that embeds Anemone and cannot do so
//! itself: name it as [`Host::database_reader`](anemone::host::Host::database_reader).
//!
//! A program that calls `serve_database` when it is started with `SERVE_ARGUMENT`, as the command
//! line does, needs no other. The tests of the library need one, because a test cannot be started
//! like that.

use std::process::ExitCode;

use anemone_runtimes::{SERVE_ARGUMENT, serve_database};

fn main() -> ExitCode {
    let is_request = std::env::args_os().nth(1).is_some_and(|first| first == SERVE_ARGUMENT);
    if is_request && serve_database(std::io::stdin(), std::io::stdout()).is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
