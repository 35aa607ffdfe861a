//! `anemone hook session-end`

use std::io::{self, Write};

use anemone::hooks::HookInput;
use anemone::hooks::session_end::{NoteStatus, SessionEndReport, SessionEndRequest};
use anemone_memory::NoteForm;
use clap::Args;

use super::conversation::{ConversationArgs, ZoneArgs};
use crate::args::{ChatArgs, MemoryArgs, one_of};
use crate::output::{BOLD, GOOD, Report, count, safe, write_notes};

/// Note the end of a session in a separate file
///
/// Takes the last messages of the conversation and writes memory/YYYY-MM-DD-NAME.md in the form
/// of the notes that runtimes write themselves. The name comes from a chat model, if one is named or
/// configured, and otherwise from the most telling words that were said. Commands, tools, text
/// that programs put in, sections between <private> and </private>, and questions that nobody
/// answered are left out; secrets are replaced.
///
/// Without a name of the conversation, on the command line or on stdin, it is the one that the
/// agent had last. No note is written of a session that a program held (`claude -p`), in which the
/// user said only one thing or only asked, or whose statements are all in the memory already;
/// --always writes it anyway. Sessions of sub-agents, jobs, webhooks and heartbeats never get one.
/// A session has one note: when it goes on, its note gets what was said since, in the form that it
/// has. An agent that remembers in a database gets the note as a row of the category conversation,
/// with the key session_ID.
#[derive(Args, Debug)]
pub(crate) struct SessionEndArgs {
    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    conversation: ConversationArgs,

    /// How many messages the first note of a session has: 1 to 500
    #[arg(long, value_name = "N", default_value_t = 15)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=500))]
    messages: u32,

    /// Whose form: gen-9 quotes texts and shows the user's time, gen-3 writes them plain and in UTC;
    /// without it, that of the agent's runtime
    #[arg(long, value_name = "FORM", value_parser = one_of(FORMS))]
    form: Option<NoteForm>,

    /// Why the session ended by itself, such as daily or idle; noted instead of the channel
    #[arg(long, value_name = "WORD")]
    reason: Option<String>,

    #[command(flatten)]
    zone: ZoneArgs,

    #[command(flatten)]
    chat: ChatArgs,

    /// Write a note of every session, also of a short, scripted or already known one
    #[arg(long)]
    always: bool,

    /// Show what would be written, and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

const FORMS: [(&str, &str, NoteForm); 2] =
    [("gen-9", "", NoteForm::Gen9), ("gen-3", "", NoteForm::Gen3)];

impl SessionEndArgs {
    /// Whether stdin is not needed.
    pub(super) fn is_said(&self) -> bool {
        self.conversation.choice().is_named()
    }

    pub(super) fn request(&self, input: HookInput) -> SessionEndRequest {
        SessionEndRequest {
            memory: self.memory.choice(),
            input,
            conversation: self.conversation.choice(),
            messages: self.messages,
            form: self.form,
            reason: self.reason.clone(),
            time_zone: self.zone.timezone.clone(),
            chat: self.chat.choice(),
            always: self.always,
            dry_run: self.dry_run,
        }
    }
}

impl Report for SessionEndReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        write_notes(&self.notes, out)?;
        let path = safe(self.path.as_deref().unwrap_or_default());
        let messages = count(self.messages as u64, "message");
        match self.status {
            NoteStatus::Written => {
                writeln!(out, "{GOOD}noted{GOOD:#} {messages} in {BOLD}{path}{BOLD:#}")
            }
            NoteStatus::Updated => {
                writeln!(out, "{GOOD}added{GOOD:#} {messages} to {BOLD}{path}{BOLD:#}")
            }
            NoteStatus::Planned => {
                writeln!(out, "would note {messages} in {BOLD}{path}{BOLD:#}:\n")?;
                for line in self.text.iter().flat_map(|text| text.lines()) {
                    writeln!(out, "  {}", safe(line))?;
                }
                Ok(())
            }
            NoteStatus::Unchanged => {
                writeln!(out, "unchanged: {BOLD}{path}{BOLD:#} has it already")
            }
            NoteStatus::Subagent => writeln!(out, "no note: it is the session of a sub-agent"),
            NoteStatus::Cron => writeln!(out, "no note: it is the session of a job"),
            NoteStatus::Heartbeat => writeln!(out, "no note: it is a heartbeat"),
            NoteStatus::Boot => writeln!(out, "no note: it is the start of the gateway"),
            NoteStatus::Webhook => writeln!(out, "no note: a webhook started this session"),
            NoteStatus::Scripted => writeln!(out, "no note: a program held this session"),
            NoteStatus::TooShort => writeln!(out, "no note: the session is too short"),
            NoteStatus::OnlyQuestions => writeln!(out, "no note: the user only asked questions"),
            NoteStatus::Known => writeln!(out, "no note: the memory has all of it already"),
            NoteStatus::NothingSaid => writeln!(out, "no note: nothing was said"),
        }
    }
}
