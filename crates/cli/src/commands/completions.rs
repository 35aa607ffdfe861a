//! `anemone completions`

use crate::output::Result;
use clap::Args;
use clap::builder::PossibleValue;
use clap_complete::Shell;

/// Print a completion script for a shell
///
/// `anemone install` puts those for bash, zsh and fish where the shells look for them.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> Result<()> {
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
    with_agents(shell, &String::from_utf8_lossy(&script)).into_bytes()
}

/// Returns a script that asks the program for the agents on the machine when --agent is completed,
/// which the generator offers files for.
fn with_agents(shell: Shell, script: &str) -> String {
    const AGENTS: &str = "anemone agents --aliases 2>/dev/null";
    match shell {
        Shell::Bash => {
            let mut lines: Vec<String> = Vec::new();
            let mut is_agent = false;
            for line in script.lines() {
                let files = "COMPREPLY=($(compgen -f \"${cur}\"))";
                let agents = format!("COMPREPLY=($(compgen -W \"$({AGENTS})\" -- \"${{cur}}\"))");
                lines.push(if is_agent { line.replace(files, &agents) } else { line.to_owned() });
                is_agent = line.trim() == "--agent)";
            }
            lines.join("\n") + "\n"
        }
        Shell::Zsh => {
            let agents = format!(":ALIAS:{{compadd -- ${{(f)\"$({AGENTS})\"}}}}");
            script.replace(":ALIAS:_default", &agents)
        }
        Shell::Fish => {
            let is_agent = |line: &&str| line.contains(" -l agent ");
            let lines = script.lines().map(|line| match is_agent(&line) {
                true => format!("{line} -f -a \"({AGENTS})\"\n"),
                false => format!("{line}\n"),
            });
            lines.collect()
        }
        _ => script.to_owned(),
    }
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
