//! Decides whether memories must be saved before a conversation is compacted.

use anemone_format::{Moment, Origin, sha256_hex};
use anemone_memory::{
    Category, ChatSettings, DIRECT_SYSTEM_PROMPT, FlushQuestion, NewEntry, SessionKind,
    flushed_entries, suspicious, told,
};
use anemone_runtimes::{Conversation, Machine, OddityKind, Reach};
use jiff::Zoned;
use serde::Serialize;

use super::conversation::{local_time, lock, said};
use super::entry_target::{EntryTarget, LoggedWrite, log_write, stamp};
use super::session_end::{self, SessionEndReport, SessionEndRequest};
use super::{ConversationChoice, HookError, HookInput, Result};
use crate::agent_memory::{Access, AgentMemory, MemoryChoice};
use crate::chat::{Chat, ChatChoice};
use crate::config::Config;
use crate::host::Host;

/// The messages that a model is shown when it is asked directly, and their characters.
const DIRECT_MESSAGES: usize = 40;
const DIRECT_CHARS: usize = 24_000;
/// The messages of a note that is written without a model.
const NOTED_MESSAGES: u32 = 40;
/// As far back as a compaction is looked for.
const MEASURED_BYTES: u64 = 4 << 20;
/// Characters of a token, as runtimes estimate it.
const TOKEN_CHARS: u64 = 4;

/// A conversation that is about to be compacted.
#[derive(Clone, Debug)]
pub struct PreCompactRequest {
    /// Whose memory.
    pub memory: MemoryChoice,
    /// The hook's JSON.
    pub input: HookInput,
    /// The conversation.
    pub conversation: ConversationChoice,
    /// The context window of the model in tokens; without it, the configured one.
    pub context_window: Option<u64>,
    /// The tokens that the next request is about to have; without it, what the transcript says.
    pub tokens: Option<u64>,
    /// How often the conversation was compacted; without it, what the runtime noted.
    pub compaction_count: Option<u64>,
    /// The conversation is being compacted now, so that no threshold counts; the program may say
    /// so too.
    pub compacting: bool,
    /// It is a heartbeat, which contains no conversation: never flush.
    pub heartbeat: bool,
    /// The model is a program that is called by its command: never flush.
    pub cli_provider: bool,
    /// The workspace must not be written to: never flush.
    pub read_only: bool,
    /// Who decides what must be saved.
    pub flush_by: FlushBy,
    /// The chat model.
    pub chat: ChatChoice,
    /// The user's time zone; without it, that of the host.
    pub time_zone: Option<String>,
    /// Decide, but track, ask and write nothing.
    pub dry_run: bool,
}

/// Who decides what must be saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlushBy {
    /// The agent itself: the report has what to ask it.
    #[default]
    Agent,
    /// A chat model, which is asked here, and whose answer is saved. Without one, the last messages
    /// are saved in a note of the session.
    ChatModel,
}

/// Whether memories must be saved now.
#[derive(Clone, Debug, Serialize)]
pub struct PreCompactReport {
    /// Whether nothing is tracked, asked or written.
    pub dry_run: bool,
    /// Whether they must.
    pub flush: bool,
    /// `tokens`, `transcript_bytes`, `compacting`, `below_threshold`, `already_flushed`,
    /// `heartbeat`, `subagent`, `cron`, `boot`, `webhook`, `cli_provider`, `read_only` or
    /// `switched_off`.
    pub reason: &'static str,
    /// The tokens that the next request is about to have.
    pub tokens: u64,
    /// Where the tokens come from.
    pub tokens_from: TokenSource,
    /// From so many tokens on a flush is due.
    pub threshold: u64,
    /// The context window in tokens.
    pub context_window: u64,
    /// The size of the transcript.
    pub transcript_bytes: u64,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The compaction cycle, as it is tracked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<String>,
    /// Where memories are saved.
    pub path: String,
    /// What to ask the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// What to tell the agent besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// The list of a chat model, and its saved part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct: Option<DirectFlush>,
    /// The note of the session, where no chat model says what must be saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<SessionEndReport>,
}

/// Where a number of tokens comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenSource {
    /// The request says it.
    Given,
    /// The transcript says it.
    Usage,
    /// It is one for every four characters.
    Estimate,
    /// Unknown.
    Unknown,
}

/// What a chat model listed, and what was saved of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DirectFlush {
    /// What was saved.
    pub entries: Vec<String>,
    /// Entries that were there before.
    pub duplicates: u64,
    /// Entries that look like an attack.
    pub suspicious: u64,
    /// Secrets that were replaced.
    pub redacted: u64,
    /// By which it can be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// What went wrong on the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Decides whether memories must be saved before a conversation is compacted, and saves them where
/// a chat model says what they are.
pub fn pre_compact(request: &PreCompactRequest, host: &Host) -> Result<PreCompactReport> {
    let input = &request.input;
    let access = Access::Write.unless(request.dry_run);
    let (machine, memory) = input.open(&request.memory, access, host)?;
    let reach = Reach::Compaction(DIRECT_MESSAGES);
    let named = request.conversation.session_kind(input);
    let conversation = match named {
        // Nothing of a session that has no memory of its own is read.
        Some(kind) if !kind.is_conversation() => None,
        _ => request.conversation.read(input, &memory, &machine, reach)?,
    };
    let conversation = conversation.as_ref();
    let by_key = || Some(SessionKind::of_key(conversation?.session_key.as_deref()?));
    let now = local_time(request.time_zone.as_deref(), host)?;
    let Config { flush: settings, chat, .. } =
        Config::of_agent(memory.runtime, &memory.agent, &machine, host)?;
    let (tokens, tokens_from) = tokens_of(request, conversation);
    let session = conversation.and_then(|talk| talk.session_id.clone());
    let session = session.or_else(|| input.session_id.clone());
    let cycle = cycle_of(request, conversation);
    let state = session.as_deref().map(|id| memory.site.session_state(id)).unwrap_or_default();
    let said_last = conversation.filter(|talk| !talk.messages.is_empty()).map(digest_of);
    let question = FlushQuestion {
        context_window: request.context_window.unwrap_or(settings.context_window),
        tokens,
        bytes: conversation.map_or(0, |talk| talk.bytes),
        is_done: if request.saves_at_once() {
            said_last.is_some() && state.flushed_after == said_last
        } else {
            is_done(state.flushed.as_deref(), cycle.as_deref())
                && !request.may_be_another(conversation)
        },
        is_compacting: request.is_compacting(),
        session: named.filter(|kind| !kind.is_conversation()).or_else(by_key).or(named),
        is_heartbeat: request.heartbeat,
        is_cli_provider: request.cli_provider,
        is_read_only: request.read_only || is_read_only(&memory),
    };
    let decision = settings.decide(&question);
    let mut report = PreCompactReport {
        dry_run: request.dry_run,
        flush: decision.flush,
        reason: decision.reason.as_str(),
        tokens,
        tokens_from,
        threshold: decision.threshold,
        context_window: question.context_window,
        transcript_bytes: question.bytes,
        session_id: session.clone(),
        cycle: cycle.clone(),
        path: EntryTarget::of(&memory, now.date(), host).name(),
        prompt: None,
        system_prompt: None,
        direct: None,
        note: None,
    };
    if !decision.flush {
        return Ok(report);
    }
    match request.flush_by {
        FlushBy::Agent => {
            report.prompt = Some(settings.prompt(&now));
            report.system_prompt = Some(settings.system_prompt(&now));
        }
        FlushBy::ChatModel => {
            memory.check_writable()?;
            let session = session.as_deref();
            let flush = Flush { memory: &memory, machine: &machine, session, now: &now, host };
            flush.save(request, &request.chat.over(chat), conversation, &mut report)?;
        }
    }
    if let Some(session) = session.filter(|_| !request.dry_run) {
        let held = lock(&memory)?;
        let mut state = memory.site.session_state(&session);
        state.flushed = Some(cycle.unwrap_or_else(|| FIRST_CYCLE.to_owned()));
        state.flushed_after = said_last;
        held.keep_session_state(&session, &state)?;
    }
    Ok(report)
}

impl PreCompactRequest {
    fn is_compacting(&self) -> bool {
        self.compacting || self.input.is_compacting()
    }

    /// Says whether the memories are saved by this call, and not by the agent later. Then a second
    /// call saves what was said since the first one, whatever became of the compaction: the user may
    /// have stopped it and talked on.
    fn saves_at_once(&self) -> bool {
        self.is_compacting() && self.flush_by == FlushBy::ChatModel
    }

    /// Says whether the last compaction may be too far back to be seen, so that this is another
    /// one. Only a program that calls once for each compaction is believed then.
    fn may_be_another(&self, conversation: Option<&Conversation>) -> bool {
        let is_far = |talk: &Conversation| talk.compaction.is_none() && talk.bytes > MEASURED_BYTES;
        self.is_compacting() && conversation.is_some_and(is_far)
    }

    /// Returns the request for a note of the session.
    fn noting(&self) -> SessionEndRequest {
        SessionEndRequest {
            memory: self.memory.clone(),
            input: self.input.clone(),
            conversation: self.conversation.clone(),
            messages: NOTED_MESSAGES,
            form: None,
            reason: None,
            time_zone: self.time_zone.clone(),
            chat: ChatChoice::default(),
            always: false,
            dry_run: self.dry_run,
        }
    }
}

/// The cycle before any compaction.
const FIRST_CYCLE: &str = "first";

fn tokens_of(
    request: &PreCompactRequest,
    conversation: Option<&Conversation>,
) -> (u64, TokenSource) {
    match (request.tokens, conversation) {
        (Some(tokens), _) => (tokens, TokenSource::Given),
        (None, None) => (0, TokenSource::Unknown),
        (None, Some(talk)) => match talk.tokens_used {
            Some(tokens) => (tokens, TokenSource::Usage),
            None => (talk.characters / TOKEN_CHARS, TokenSource::Estimate),
        },
    }
}

/// Names the cycle; `None` if cycles are not counted and no compaction was seen.
fn cycle_of(request: &PreCompactRequest, conversation: Option<&Conversation>) -> Option<String> {
    let counted = request.compaction_count.or_else(|| conversation?.compaction_count);
    counted.map(|number| format!("count:{number}")).or_else(|| {
        let id = conversation?.compaction.as_ref()?;
        Some(format!("after:{id}"))
    })
}

/// Returns a digest of the end of a conversation.
fn digest_of(conversation: &Conversation) -> String {
    let mut said = String::new();
    for message in &conversation.messages {
        let at = message.at.as_ref().map_or("", Moment::as_str);
        said.push_str(&format!("{at} {}: {}\n", message.role.as_str(), message.text));
    }
    sha256_hex(said.as_bytes())
}

/// Says whether a cycle has had its flush. An unnamed cycle is the last one that was seen: its
/// compaction is too far back to be found.
fn is_done(flushed: Option<&str>, cycle: Option<&str>) -> bool {
    match (flushed, cycle) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(flushed), Some(cycle)) => flushed == cycle,
    }
}

fn is_read_only(memory: &AgentMemory) -> bool {
    memory.agent.has_oddity(OddityKind::WorkspaceReadOnly)
        || fs_err::metadata(memory.site.root()).is_ok_and(|found| found.permissions().readonly())
}

/// Saving what a chat model lists.
struct Flush<'a> {
    memory: &'a AgentMemory,
    machine: &'a Machine,
    session: Option<&'a str>,
    now: &'a Zoned,
    host: &'a Host,
}

impl Flush<'_> {
    /// Saves what a chat model lists, or else the last messages.
    fn save(
        &self,
        request: &PreCompactRequest,
        settings: &ChatSettings,
        conversation: Option<&Conversation>,
        report: &mut PreCompactReport,
    ) -> Result<()> {
        let mut failure = None;
        if let Some(chat) = Chat::of(settings)? {
            if request.dry_run {
                return Ok(());
            }
            match self.run(&chat, conversation) {
                Ok(direct) => {
                    report.direct = Some(direct);
                    return Ok(());
                }
                // The conversation is cut off in a moment, with or without a model.
                Err(HookError::Chat(error)) if request.is_compacting() => {
                    failure = Some(error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        // What was said before the last compaction may not be noted yet.
        let reach = session_end::NOTE_REACH;
        let talk = request.conversation.read(&request.input, self.memory, self.machine, reach)?;
        let talk = talk.ok_or(HookError::NoConversation)?;
        let mut note = session_end::note(&request.noting(), self.memory, &talk, self.host)?;
        note.notes.extend(failure);
        if let Some(path) = &note.path {
            report.path.clone_from(path);
        }
        report.note = Some(note);
        Ok(())
    }

    /// Asks a chat model for what must be kept, and adds it to the log of the day or to the rows.
    fn run(&self, chat: &Chat, conversation: Option<&Conversation>) -> Result<DirectFlush> {
        let said = conversation.map(said).unwrap_or_default();
        let mut flushed = DirectFlush::default();
        if said.is_empty() {
            return Ok(flushed);
        }
        let answer = chat.ask(DIRECT_SYSTEM_PROMPT, &told(&said, DIRECT_CHARS), 1_000)?;
        // The output of a model is treated like any other untrusted text.
        let (answer, redacted) = anemone_secrets::redact_text(&answer);
        flushed.redacted = redacted;
        let held = lock(self.memory)?;
        let target = EntryTarget::of(self.memory, self.now.date(), self.host);
        let known = target.texts()?;
        let mut new = Vec::new();
        for entry in flushed_entries(&answer) {
            if known.contains(&entry) || flushed.entries.contains(&entry) {
                flushed.duplicates += 1;
            } else if !suspicious(&entry).is_empty() {
                flushed.suspicious += 1;
            } else {
                let stamp = stamp(Origin::Agent, self.session, self.host);
                let text = entry.clone();
                new.push(NewEntry { text, key: None, label: None, tags: Vec::new(), stamp });
                flushed.entries.push(entry);
            }
        }
        if !new.is_empty() {
            let (entries, path) = (new.len(), target.name());
            let change = target.add(&held, "hook pre-compact", new, Category::Daily)?;
            let write = LoggedWrite { hook: "pre-compact", path: &path, entries, change: &change };
            log_write(&held, write, self.host, &mut flushed.notes);
            flushed.change = Some(change);
        }
        Ok(flushed)
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
