//! `anemone hook`

mod input;
mod pre_compact;
mod prompt;
mod session_end;
mod shelf;
mod talk;
mod turn_end;

use clap::{Args, Subcommand};

use super::Context;
use crate::error::CliError;
use pre_compact::PreCompactArgs;
use prompt::PromptArgs;
use session_end::SessionEndArgs;
use turn_end::TurnEndArgs;

/// Answer the hooks of an agent
///
/// Each hook is called by the program in which an agent runs, at one moment of a session, and is
/// told about the session by arguments or by JSON on stdin (Claude Code's hooks, or the same
/// names). A hook never breaks the session that calls it: whatever goes wrong is said as JSON with
/// `"ok": false`, and the exit code is 0. Only wrong arguments exit with 2.
#[derive(Args, Debug)]
pub(crate) struct HookArgs {
    #[command(subcommand)]
    moment: Moment,
}

#[derive(Debug, Subcommand)]
enum Moment {
    SessionEnd(Box<SessionEndArgs>),
    PreCompact(Box<PreCompactArgs>),
    Prompt(Box<PromptArgs>),
    TurnEnd(Box<TurnEndArgs>),
}

pub(crate) fn run(args: &HookArgs, context: &Context<'_>) -> Result<(), CliError> {
    let done = match &args.moment {
        Moment::SessionEnd(args) => {
            session_end::run(args, context).and_then(|it| context.printer.print(&it))
        }
        Moment::PreCompact(args) => {
            pre_compact::run(args, context).and_then(|it| context.printer.print(&it))
        }
        Moment::Prompt(args) => {
            prompt::run(args, context).and_then(|it| context.printer.print(&it))
        }
        Moment::TurnEnd(args) => {
            turn_end::run(args, context).and_then(|it| context.printer.print(&it))
        }
    };
    if let Err(error) = done {
        // The session goes on: programs take an exit code for an order to stop.
        context.printer.print_error(&error);
    }
    Ok(())
}
