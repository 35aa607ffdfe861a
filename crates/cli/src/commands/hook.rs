//! `anemone hook`

mod conversation;
mod input;
mod pre_compact;
mod prompt;
mod session_end;
mod session_start;
mod turn_end;

use std::io::{self, Write};

use anemone::hooks::HookInput;
use anemone::hooks::pre_compact::pre_compact;
use anemone::hooks::prompt::prompt;
use anemone::hooks::session_end::session_end;
use anemone::hooks::session_start::session_start;
use anemone::hooks::turn_end::turn_end;
use anemone_runtimes::HookCaller;
use clap::{Args, Subcommand};
use pre_compact::PreCompactArgs;
use prompt::PromptArgs;
use serde::{Serialize, Serializer};
use session_end::SessionEndArgs;
use session_start::SessionStartArgs;
use turn_end::TurnEndArgs;

use super::Context;
use crate::output::{Report, Result, notice};

/// Answer the hooks of an agent
///
/// Each hook is called by the program in which an agent runs, at one moment of a session, and is
/// told about the session by arguments or by JSON on stdin (fields such as transcript_path
/// and session_id). A hook never breaks the session that calls it: errors are reported as JSON with
/// `"ok": false`, and the exit code is 0. Where the program shows the agent what a hook prints,
/// errors go to stderr. Only wrong arguments exit with 2.
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

pub(crate) fn run(args: &HookArgs, context: &Context<'_>) -> Result<()> {
    let input = if args.moment.is_said() { Ok(HookInput::default()) } else { input::read(context) };
    let has_own_form = input.as_ref().is_ok_and(|input| input.caller().is_some());
    let done = input.and_then(|input| args.moment.answer(input, context));
    // The session goes on: programs take an exit code for an order to stop.
    match done {
        Err(error) if has_own_form => notice(&format!("anemone: {}", error.with_causes())),
        Err(error) => {
            context.printer.print_error(&error);
        }
        Ok(()) => {}
    }
    Ok(())
}

impl Moment {
    /// Whether the arguments are complete, so that stdin need not be read.
    fn is_said(&self) -> bool {
        match self {
            Self::SessionStart(_) => false,
            Self::SessionEnd(args) => args.is_said(),
            Self::PreCompact(args) => args.is_said(),
            Self::Prompt(args) => args.is_said(),
            Self::TurnEnd(args) => args.is_said(),
        }
    }

    fn answer(&self, input: HookInput, context: &Context<'_>) -> Result<()> {
        let (printer, host) = (context.printer, &context.host);
        let caller = input.caller();
        match self {
            Self::SessionStart(args) => {
                let report = session_start(&args.request(input), host)?;
                if let Some(caller) = caller {
                    let moment = caller.session_start;
                    return printer.print(&CallerContext { caller, moment, text: report.context });
                }
                printer.print(&report)
            }
            Self::SessionEnd(args) => printer.print(&session_end(&args.request(input), host)?),
            Self::PreCompact(args) => printer.print(&pre_compact(&args.request(input), host)?),
            Self::Prompt(args) => {
                let report = prompt(&args.request(input), host)?;
                if let Some(caller) = caller {
                    let moment = caller.prompt;
                    return printer.print(&CallerContext { caller, moment, text: report.context });
                }
                printer.print(&report)
            }
            Self::TurnEnd(args) => printer.print(&turn_end(&args.request(input), host)?),
        }
    }
}

/// The context for a model, in the form that the caller of the hook reads.
struct CallerContext {
    caller: &'static HookCaller,
    moment: &'static str,
    text: String,
}

impl Serialize for CallerContext {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.caller.context)(self.moment, &self.text).serialize(serializer)
    }
}

impl Report for CallerContext {
    const ADDS_OK: bool = false;

    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}", self.text)
    }
}
