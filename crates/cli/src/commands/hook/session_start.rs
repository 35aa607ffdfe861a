//! `anemone hook session-start`

use std::io::{self, Write};

use anemone::hooks::HookInput;
use anemone::hooks::session_start::{SessionStartReport, SessionStartRequest};
use anemone_memory::SessionKind;
use clap::Args;

use crate::args::{MemoryArgs, one_of};
use crate::commands::context::{RecallArgs, SESSIONS};
use crate::output::Report;

/// Give a session what it should know when it begins
///
/// Answers with what `anemone context` composes. A SessionStart hook on stdin is answered in the
/// form that its program reads, limited to the 9,500 characters that it shows inline; it would move
/// longer output to a file. It has its own instructions, so it gets only the memory (MEMORY.md, the
/// active context, today's and yesterday's notes), framed as data. Any other caller gets everything
/// within the limits of the agent's runtime, today's and yesterday's log included. Within a limit
/// the longest files are cut, so that each keeps its beginning; the text says what was cut and how
/// to read on, and `cut` lists it.
#[derive(Args, Debug)]
pub(crate) struct SessionStartArgs {
    #[command(flatten)]
    memory: MemoryArgs,

    /// Keep to so many characters, 500 to 1,000,000; without it, to what the calling program shows
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(500..=1_000_000))]
    chars: Option<u32>,

    /// The kind of session; without it, what its key on stdin says, and main where it says nothing
    #[arg(long, value_parser = one_of(SESSIONS), value_name = "KIND")]
    session_kind: Option<SessionKind>,

    #[command(flatten)]
    recall: RecallArgs,
}

impl SessionStartArgs {
    pub(super) fn request(&self, input: HookInput) -> SessionStartRequest {
        SessionStartRequest {
            memory: self.memory.choice(),
            input,
            session: self.session_kind,
            chars: self.chars.map(|chars| chars as usize),
            recall: self.recall.section(),
        }
    }
}

impl Report for SessionStartReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}", self.context)
    }
}
