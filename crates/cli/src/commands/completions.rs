//! `anemone completions`

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::Cli;
use crate::error::CliError;

/// Print a completion script for a shell
///
/// For bash: anemone completions bash > ~/.local/share/bash-completion/completions/anemone
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "anemone", &mut script);
    super::print_bytes(&script)
}
