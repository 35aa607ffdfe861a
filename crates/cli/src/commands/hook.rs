//! `anemone hook`

mod input;
mod pre_compact;
mod prompt;
mod session_end;
mod session_start;
mod shelf;
mod talk;
mod turn_end;

use clap::{Args, Subcommand};

use super::Context;
use crate::error::CliError;
use crate::output::notice;
use input::HookInput;
use pre_compact::PreCompactArgs;
use prompt::PromptArgs;
use session_end::SessionEndArgs;
use session_start::SessionStartArgs;
use turn_end::TurnEndArgs;

/// Answer the hooks of an agent
///
/// Each hook is called by the program in which an agent runs, at one moment of a session, and is
/// told about the session by arguments or by JSON on stdin (Claude Code's hooks, or the same
/// names). A hook never breaks the session that calls it: whatever goes wrong is said as JSON with
/// `"ok": false`, and the exit code is 0. Claude Code, which puts what a hook prints before the
/// agent, is told on stderr. Only wrong arguments exit with 2.
#[derive(Args, Debug)]
pub(crate) struct HookArgs {
    #[command(subcommand)]
    moment: Moment,
}

#[derive(Debug, Subcommand)]
enum Moment {
    SessionStart(Box<SessionStartArgs>),
    SessionEnd(Box<SessionEndArgs>),
    PreCompact(Box<PreCompactArgs>),
    Prompt(Box<PromptArgs>),
    TurnEnd(Box<TurnEndArgs>),
}

pub(crate) fn run(args: &HookArgs, context: &Context<'_>) -> Result<(), CliError> {
    let input = match args.moment.is_said() {
        true => Ok(HookInput::default()),
        false => HookInput::read(context),
    };
    let is_of_claude_code = input.as_ref().is_ok_and(HookInput::is_of_claude_code);
    let done = input.and_then(|input| args.moment.answer(input, context));
    // The session goes on: programs take an exit code for an order to stop.
    match done {
        Err(error) if is_of_claude_code => notice(&format!("anemone: {}", error.message)),
        Err(error) => {
            context.printer.print_error(&error);
        }
        Ok(()) => {}
    }
    Ok(())
}

impl Moment {
    /// Whether the arguments say everything, so that nobody need say it on stdin.
    fn is_said(&self) -> bool {
        match self {
            Self::SessionStart(_) => false,
            Self::SessionEnd(args) => args.is_said(),
            Self::PreCompact(args) => args.is_said(),
            Self::Prompt(args) => args.is_said(),
            Self::TurnEnd(args) => args.is_said(),
        }
    }

    fn answer(&self, input: HookInput, context: &Context<'_>) -> Result<(), CliError> {
        let printer = context.printer;
        match self {
            Self::SessionStart(args) => printer.print(&session_start::run(args, &input, context)?),
            Self::SessionEnd(args) => printer.print(&session_end::run(args, &input, context)?),
            Self::PreCompact(args) => printer.print(&pre_compact::run(args, input, context)?),
            Self::Prompt(args) => printer.print(&prompt::run(args, &input, context)?),
            Self::TurnEnd(args) => printer.print(&turn_end::run(args, input, context)?),
        }
    }
}
