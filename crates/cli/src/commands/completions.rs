//! `anemone completions`

use clap::Args;
use clap_complete::Shell;

use crate::error::CliError;

/// Print a completion script for a shell
///
/// `anemone install` puts those for bash, zsh and fish where the shells look for them.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> Result<(), CliError> {
    super::print_bytes(&script(args.shell))
}

/// Returns the completion script for a shell.
pub(super) fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut super::command(), "anemone", &mut script);
    script
}
