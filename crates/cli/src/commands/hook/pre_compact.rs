//! `anemone hook pre-compact`

use std::io::{self, Write};

use anemone::hooks::HookInput;
use anemone::hooks::pre_compact::{FlushBy, PreCompactReport, PreCompactRequest};
use clap::Args;

use super::conversation::{ConversationArgs, ZoneArgs};
use crate::args::{ChatArgs, MemoryArgs};
use crate::output::{BOLD, GOOD, ODD, Report, bytes, count, safe};

/// Decide whether memories must be saved before a conversation is compacted
///
/// Answers with JSON: `flush` says whether the agent should now save what it must still know, and
/// `prompt` and `system_prompt` are what to ask it. A flush is due when the next request comes near
/// the end of the context window (the window less a reserve of 20,000 tokens and 4,000 more, less
/// of a window that is smaller than both), or when the transcript has 2 MiB; once in each
/// compaction cycle of a session, which is tracked. A PreCompact hook on stdin, or --compacting,
/// needs no threshold: the conversation is being compacted; with --direct each such call saves what
/// was said since the last one. With --direct a chat model is asked instead of the agent, and what
/// it lists is added to today's log, or as rows of the category daily to a database; without a chat
/// model, the last 40 messages are saved in the note of the session, as `hook session-end` does.
/// Sub-agents, jobs, webhooks and heartbeats save nothing.
#[derive(Args, Debug)]
pub(crate) struct PreCompactArgs {
    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    conversation: ConversationArgs,

    /// The context window of the model, in tokens; without it, 200,000
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    context_window: Option<u64>,

    /// The tokens that the next request is about to have; without it, what the transcript says,
    /// else one for every four characters
    #[arg(long, value_name = "TOKENS")]
    tokens: Option<u64>,

    /// How often the conversation was compacted; without it, what the runtime noted
    #[arg(long, value_name = "N")]
    compaction_count: Option<u64>,

    /// The conversation is being compacted now: flush whatever its length
    #[arg(long)]
    compacting: bool,

    /// It is a heartbeat, in which nothing is said: never flush
    #[arg(long)]
    heartbeat: bool,

    /// The model is a program that is called by its command, with a memory of its own: never flush
    #[arg(long)]
    cli_provider: bool,

    /// The workspace must not be written to: never flush
    #[arg(long)]
    read_only: bool,

    /// Ask the chat model that is named or configured, and add what it lists to today's log;
    /// without a chat model, save the last messages in the note of the session
    #[arg(long)]
    direct: bool,

    #[command(flatten)]
    zone: ZoneArgs,

    #[command(flatten)]
    chat: ChatArgs,

    /// Decide, but track, ask and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

impl PreCompactArgs {
    /// Whether stdin is not needed.
    pub(super) fn is_said(&self) -> bool {
        self.conversation.choice().is_named() || (self.tokens.is_some() && !self.direct)
    }

    pub(super) fn request(&self, input: HookInput) -> PreCompactRequest {
        PreCompactRequest {
            memory: self.memory.choice(),
            input,
            conversation: self.conversation.choice(),
            context_window: self.context_window,
            tokens: self.tokens,
            compaction_count: self.compaction_count,
            compacting: self.compacting,
            heartbeat: self.heartbeat,
            cli_provider: self.cli_provider,
            read_only: self.read_only,
            flush_by: if self.direct { FlushBy::ChatModel } else { FlushBy::Agent },
            chat: self.chat.choice(),
            time_zone: self.zone.timezone.clone(),
            dry_run: self.dry_run,
        }
    }
}

impl Report for PreCompactReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let (tokens, threshold) = (self.tokens, self.threshold);
        let verdict = if self.flush { "flush" } else { "no flush" };
        let size = bytes(self.transcript_bytes);
        write!(out, "{BOLD}{verdict}{BOLD:#} ({}): ", self.reason)?;
        writeln!(out, "{tokens} of {threshold} tokens, {size} of transcript")?;
        if let Some(direct) = &self.direct {
            let number = count(direct.entries.len() as u64, "entry");
            writeln!(out, "{GOOD}added{GOOD:#} {number} to {}", safe(&self.path))?;
            if direct.suspicious > 0 {
                let number = count(direct.suspicious, "entry");
                writeln!(out, "{ODD}left out:{ODD:#} {number} that looked like an attack")?;
            }
        }
        if let Some(note) = &self.note {
            note.write_human(out)?;
        }
        match &self.prompt {
            Some(prompt) => writeln!(out, "\n{prompt}"),
            None => Ok(()),
        }
    }
}
