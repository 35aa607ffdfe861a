//! `anemone hook turn-end`

use std::io::{self, Write};

use anemone::hooks::HookInput;
use anemone::hooks::turn_end::{TurnEndReport, TurnEndRequest};
use clap::Args;

use super::conversation::{ConversationArgs, ZoneArgs};
use crate::args::MemoryArgs;
use crate::output::{BOLD, GOOD, Report, safe};

/// Remember what was said in a turn
///
/// Looks through what the owner said last for sentences that state a preference, a decision, who
/// somebody is, or that something is to be remembered (English, German, Spanish, French, Chinese,
/// Japanese), and adds at most three a conversation to today's log, or as rows of the category core
/// to a database. Text that programs put in, documents, sections between <private> and
/// </private>, and what looks like an attack or holds a secret is passed over. Where the transcript does not say who speaks, it is the owner in
/// a program with hooks of its own and in a main session, and nobody elsewhere. Nothing is captured until this is
/// switched on in the config, or with --enable.
#[derive(Args, Debug)]
pub(crate) struct TurnEndArgs {
    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    conversation: ConversationArgs,

    /// What was said, instead of a transcript; may be given more than once
    #[arg(long = "message", value_name = "TEXT", allow_hyphen_values = true)]
    #[arg(conflicts_with = "transcript")]
    messages: Vec<String>,

    /// Capture, although it is not switched on
    #[arg(long)]
    enable: bool,

    #[command(flatten)]
    zone: ZoneArgs,

    /// Say what would be remembered, and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

impl TurnEndArgs {
    /// Whether stdin is not needed.
    pub(super) fn is_said(&self) -> bool {
        self.conversation.choice().is_named() || !self.messages.is_empty()
    }

    pub(super) fn request(&self, input: HookInput) -> TurnEndRequest {
        TurnEndRequest {
            memory: self.memory.choice(),
            input,
            conversation: self.conversation.choice(),
            messages: self.messages.clone(),
            enable: self.enable,
            time_zone: self.zone.timezone.clone(),
            dry_run: self.dry_run,
        }
    }
}

impl Report for TurnEndReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.enabled {
            return writeln!(out, "capture is switched off; --enable switches it on for one call");
        }
        for sentence in &self.captured {
            writeln!(
                out,
                "{GOOD}+{GOOD:#} {BOLD}{}{BOLD:#} {}",
                sentence.category,
                safe(&sentence.text)
            )?;
        }
        if self.captured.is_empty() {
            writeln!(out, "nothing is captured")?;
        }
        Ok(())
    }
}
