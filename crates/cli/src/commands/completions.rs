//! `anemone completions`

use clap::Args;
use clap::builder::PossibleValue;
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
    let mut program = super::command();
    clap_complete::generate(shell, &mut program, "anemone", &mut script);
    if shell == Shell::Fish {
        script.extend(fish_positionals(&program).into_bytes());
    }
    script
}

/// Returns lines for arguments without a flag, which the generator for fish leaves out: they would
/// be completed with the names of files.
fn fish_positionals(program: &clap::Command) -> String {
    let mut lines = String::new();
    for command in program.get_subcommands() {
        for argument in command.get_positionals() {
            let values = argument.get_possible_values();
            let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
            if !names.is_empty() {
                let (name, names) = (command.get_name(), names.join(" "));
                let test = format!("__fish_anemone_using_subcommand {name}");
                lines.push_str(&format!("complete -c anemone -n \"{test}\" -f -a \"{names}\"\n"));
            }
        }
    }
    lines
}
