//! `anemone hook session-start`

use std::io::{self, Write};

use anemone::hooks::HookInput;
use anemone::hooks::session_start::{SessionStartReport, SessionStartRequest};
use clap::Args;

use crate::args::MemoryArgs;
use crate::output::Report;

/// Give a session what it should know when it begins
///
/// Answers with what `anemone context` composes. A SessionStart hook on stdin is answered in the
/// form that its program reads, limited to what it shows inline; it would move longer output to a file.
/// It has its own instructions, so it gets only the memory (MEMORY.md, today's and yesterday's
/// notes), framed as data. Longer output is cut at the end of a line, and the last lines say how
/// much more there is.
#[derive(Args, Debug)]
pub(crate) struct SessionStartArgs {
    #[command(flatten)]
    memory: MemoryArgs,

    /// Keep to so many characters: 500 to 1,000,000
    #[arg(long, value_name = "N", default_value_t = 9_500)]
    #[arg(value_parser = clap::value_parser!(u32).range(500..=1_000_000))]
    chars: u32,
}

impl SessionStartArgs {
    pub(super) fn request(&self, input: HookInput) -> SessionStartRequest {
        let (memory, chars) = (self.memory.choice(), self.chars as usize);
        SessionStartRequest { memory, input, chars }
    }
}

impl Report for SessionStartReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}", self.context)
    }
}
