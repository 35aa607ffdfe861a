//! `anemone hook prompt`

use std::io::{self, Write};

use anemone::hooks::HookInput;
use anemone::hooks::prompt::{PromptReport, PromptRequest};
use anemone_memory::SessionKind;
use clap::Args;

use crate::args::{MemoryArgs, one_of};
use crate::commands::context::SESSIONS;
use crate::output::Report;

/// Recall what a message is about
///
/// Returns at most three memories that are relevant to a message, or none, framed as data: with
/// their origin and date, between marks with a word that is new each time, so that no stored text
/// can pose as an instruction. The message comes from --message, or from a
/// UserPromptSubmit hook on stdin, which is answered in the form that it reads. What others took the
/// place of and what looks like an attack is not recalled; in a group nothing of MEMORY.md is, and
/// for sub-agents and jobs nothing at all. Nothing is recalled until this is switched on in the
/// config, or with --enable.
#[derive(Args, Debug)]
pub(crate) struct PromptArgs {
    #[command(flatten)]
    memory: MemoryArgs,

    /// The message
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    message: Option<String>,

    /// The kind of session; without it, what its key on stdin says, and main where it says nothing
    #[arg(long, value_parser = one_of(SESSIONS), value_name = "KIND")]
    session_kind: Option<SessionKind>,

    /// Recall, although it is not switched on
    #[arg(long)]
    enable: bool,
}

impl PromptArgs {
    /// Whether stdin is not needed.
    pub(super) fn is_said(&self) -> bool {
        self.message.is_some()
    }

    pub(super) fn request(&self, input: HookInput) -> PromptRequest {
        PromptRequest {
            memory: self.memory.choice(),
            input,
            message: self.message.clone(),
            session: self.session_kind,
            enable: self.enable,
        }
    }
}

impl Report for PromptReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}", self.context)
    }
}
