//! `anemone hook pre-compact`

use std::io::{self, Write};

use anemone_format::{Origin, ProvenanceStamp};
use anemone_memory::{
    Category, ChatSettings, DIRECT_SYSTEM_PROMPT, FlushQuestion, Given, flush_prompt,
    flush_system_prompt, flushed_entries, suspicious, told,
};
use anemone_runtimes::{Conversation, MemoryBackend, Reach};
use clap::Args;
use jiff::Zoned;
use serde::Serialize;

use super::input::HookInput;
use super::shelf::{Shelf, check_within_reach, database_name, log_write};
use super::talk::{TalkArgs, ZoneArgs, lock, said};
use crate::args::ChatArgs;
use crate::args::MemoryArgs;
use crate::chat::Chat;
use crate::commands::Context;
use crate::config::Config;
use crate::error::{CliError, Kind};
use crate::living::AgentMemory;
use crate::output::{BOLD, GOOD, ODD, Report, count, safe};
use anemone::system::SystemClock;
use anemone_memory::Clock as _;

/// The messages that a model is shown in the direct mode, and their characters.
const DIRECT_MESSAGES: usize = 40;
const DIRECT_CHARS: usize = 24_000;
/// Characters of a token, as runtimes estimate it.
const TOKEN_CHARS: u64 = 4;

/// Decide whether memories must be saved before a conversation is compacted
///
/// Answers with JSON: `flush` says whether the agent should now save what it must still know, and
/// `prompt` and `system_prompt` are what to ask it. A flush is due when the next request comes
/// near the end of the context window (the window less a reserve of 20,000 tokens and 4,000 more,
/// less of a small window), or when the transcript has 2 MiB; once in each compaction cycle of a
/// session, which is tracked. With --direct a chat model is asked instead of the agent, and what
/// it lists is added to today's log, or as rows of the category daily to ZeroClaw's database.
#[derive(Args, Debug)]
pub(crate) struct PreCompactArgs {
    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    talk: TalkArgs,

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

    /// It is a heartbeat, in which nothing is said: never flush
    #[arg(long)]
    heartbeat: bool,

    /// The workspace must not be written to: never flush
    #[arg(long)]
    read_only: bool,

    /// Ask the chat model that is named or configured, and add what it lists to today's log
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

#[derive(Serialize)]
pub(crate) struct Decided {
    ok: bool,
    dry_run: bool,
    flush: bool,
    /// `tokens`, `transcript_bytes`, `below_threshold`, `already_flushed`, `heartbeat`,
    /// `read_only` or `switched_off`.
    reason: &'static str,
    tokens: u64,
    /// Where the tokens come from: `given`, `usage`, `estimate` or `unknown`.
    tokens_from: &'static str,
    threshold: u64,
    context_window: u64,
    transcript_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    /// The compaction cycle, as it is tracked.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycle: Option<String>,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    direct: Option<Stored>,
}

/// What the direct mode did.
#[derive(Default, Serialize)]
struct Stored {
    entries: Vec<String>,
    /// Entries that were there before.
    duplicates: u64,
    /// Entries that look like an attack.
    suspicious: u64,
    /// Secrets that were replaced.
    redacted: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<String>,
    /// What went wrong on the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl PreCompactArgs {
    /// Whether nobody need say anything on stdin.
    pub(super) fn is_said(&self) -> bool {
        self.talk.is_said() || (self.tokens.is_some() && !self.direct)
    }
}

pub(super) fn run(
    args: &PreCompactArgs,
    input: HookInput,
    context: &Context<'_>,
) -> Result<Decided, CliError> {
    let machine = context.host.machine()?;
    let living = input.memory(&args.memory, &machine).choice().find(&machine, &context.host)?;
    let reach = Reach::Compaction(DIRECT_MESSAGES);
    let talk = args.talk.read(&input, &living, &machine, reach)?;
    let now = args.zone.now()?;
    let Config { flush: settings, chat: settled, .. } = Config::read(&context.host)?;
    let (tokens, tokens_from) = tokens_of(args, talk.as_ref());
    let session = talk.as_ref().and_then(|it| it.session_id.clone()).or(input.session_id);
    let cycle = cycle_of(args, talk.as_ref());
    let flushed = session.as_deref().and_then(|it| living.site.session_state(it).flushed);
    let question = FlushQuestion {
        context_window: args.context_window.unwrap_or(settings.context_window),
        tokens,
        bytes: talk.as_ref().map_or(0, |it| it.bytes),
        is_done: is_done(flushed.as_deref(), cycle.as_deref()),
        is_heartbeat: args.heartbeat,
        is_read_only: args.read_only || is_read_only(&living),
    };
    let decision = settings.decide(&question);
    let mut report = Decided {
        ok: true,
        dry_run: args.dry_run,
        flush: decision.flush,
        reason: decision.reason.as_str(),
        tokens,
        tokens_from,
        threshold: decision.threshold,
        context_window: question.context_window,
        transcript_bytes: question.bytes,
        session_id: session.clone(),
        cycle: cycle.clone(),
        path: match &living.keeps {
            MemoryBackend::Sqlite(path) => database_name(path),
            _ => living.site.daily(now.date()),
        },
        prompt: None,
        system_prompt: None,
        direct: None,
    };
    if !decision.flush {
        return Ok(report);
    }
    if args.direct && !args.dry_run {
        check_within_reach(&living)?;
        report.direct =
            Some(flush(args, settled, &living, talk.as_ref(), session.as_deref(), &now)?);
    } else if !args.direct {
        report.prompt = Some(flush_prompt(&now));
        report.system_prompt = Some(flush_system_prompt(&now));
    }
    if let Some(session) = session.filter(|_| !args.dry_run) {
        let held = lock(&living)?;
        let mut state = living.site.session_state(&session);
        state.flushed = Some(cycle.unwrap_or_else(|| FIRST_CYCLE.to_owned()));
        held.keep_session_state(&session, &state)?;
    }
    Ok(report)
}

/// The cycle before any compaction.
const FIRST_CYCLE: &str = "first";

fn tokens_of(args: &PreCompactArgs, talk: Option<&Conversation>) -> (u64, &'static str) {
    match (args.tokens, talk) {
        (Some(tokens), _) => (tokens, "given"),
        (None, None) => (0, "unknown"),
        (None, Some(talk)) => match talk.tokens_used {
            Some(tokens) => (tokens, "usage"),
            None => (talk.characters / TOKEN_CHARS, "estimate"),
        },
    }
}

/// Names the cycle; `None` where nobody counts and no compaction was seen.
fn cycle_of(args: &PreCompactArgs, talk: Option<&Conversation>) -> Option<String> {
    let counted = args.compaction_count.or_else(|| talk?.compaction_count);
    counted.map(|it| format!("count:{it}")).or_else(|| {
        let id = talk?.compaction.as_ref()?;
        Some(format!("after:{id}"))
    })
}

/// Says whether a cycle has had its flush. One that has no name is the one that was seen last: its
/// compaction lies too far back to be seen.
fn is_done(flushed: Option<&str>, cycle: Option<&str>) -> bool {
    match (flushed, cycle) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(flushed), Some(cycle)) => flushed == cycle,
    }
}

fn is_read_only(living: &AgentMemory) -> bool {
    fs_err::metadata(living.site.root()).is_ok_and(|it| it.permissions().readonly())
}

/// Asks a chat model for what must be kept, and adds it to the log of the day or to the rows.
fn flush(
    args: &PreCompactArgs,
    settled: ChatSettings,
    living: &AgentMemory,
    talk: Option<&Conversation>,
    session: Option<&str>,
    now: &Zoned,
) -> Result<Stored, CliError> {
    let chat = Chat::of(&args.chat.choice().over(settled))?.ok_or_else(|| {
        let message = "--direct needs a chat model, and none is named or configured";
        CliError::new(Kind::Failed, "no_chat", message).hint("give --chat-url URL")
    })?;
    let said = talk.map(said).unwrap_or_default();
    let mut stored = Stored::default();
    if said.is_empty() {
        return Ok(stored);
    }
    let answer = chat.ask(DIRECT_SYSTEM_PROMPT, &told(&said, DIRECT_CHARS), 1_000)?;
    // What a model says goes the way of all that is told to it.
    let (answer, redacted) = anemone_secrets::redact_text(&answer);
    stored.redacted = redacted;
    let entries = flushed_entries(&answer);
    let held = lock(living)?;
    let shelf = Shelf::of(living, now.date())?;
    let known = shelf.texts(&[])?;
    let mut new = Vec::new();
    for entry in entries {
        if known.contains(&entry) || stored.entries.contains(&entry) {
            stored.duplicates += 1;
        } else if !suspicious(&entry).is_empty() {
            stored.suspicious += 1;
        } else {
            let mut stamp = ProvenanceStamp::new(
                SystemClock.fresh_id(),
                Origin::Agent,
                anemone_format::Moment::from(SystemClock.now()),
            );
            stamp.session = session.map(str::to_owned);
            new.push(Given {
                text: entry.clone(),
                key: None,
                label: None,
                tags: Vec::new(),
                stamp,
            });
            stored.entries.push(entry);
        }
    }
    if !new.is_empty() {
        let entries = new.len();
        let change = shelf.add(&held, "hook pre-compact", new, &Category::Daily)?;
        let notes = &mut stored.notes;
        log_write(&held, "pre-compact", &shelf.name(), entries, Some(&change), notes);
        stored.change = Some(change);
    }
    Ok(stored)
}

impl Report for Decided {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let (tokens, threshold) = (self.tokens, self.threshold);
        let verdict = if self.flush { "flush" } else { "no flush" };
        writeln!(
            out,
            "{BOLD}{verdict}{BOLD:#} ({}): {tokens} of {threshold} tokens, {} of transcript",
            self.reason,
            crate::output::bytes(self.transcript_bytes)
        )?;
        if let Some(direct) = &self.direct {
            let number = count(direct.entries.len() as u64, "entry");
            writeln!(out, "{GOOD}added{GOOD:#} {number} to {}", safe(&self.path))?;
            if direct.suspicious > 0 {
                let number = count(direct.suspicious, "entry");
                writeln!(out, "{ODD}left out:{ODD:#} {number} that looked like an attack")?;
            }
        }
        match &self.prompt {
            Some(prompt) => writeln!(out, "\n{prompt}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_flushed_once() {
        for (flushed, cycle, wanted) in [
            (None, None, false),
            (None, Some("count:1"), false),
            (Some("first"), None, true),
            (Some("first"), Some("after:k1"), false),
            (Some("after:k1"), Some("after:k1"), true),
            (Some("after:k1"), None, true),
            (Some("count:1"), Some("count:2"), false),
        ] {
            assert_eq!(is_done(flushed, cycle), wanted, "{flushed:?} {cycle:?}");
        }
    }
}
