//! Remembers what the owner said in a turn.

use anemone_format::{Origin, sha256_hex};
use anemone_memory::{
    Candidate, CaptureSkips, CapturedText, Category, ComparedEntries, Duplicate, DuplicateSearch,
    Finder, Importance, Label, Memory, NewEntry, captures, supersede,
};
use anemone_runtimes::{Machine, Reach, without_private};
use serde::Serialize;

use super::conversation::{local_time, lock, said_by_owner};
use super::entry_target::{EntryTarget, LoggedWrite, log_write, stamp};
use super::{ConversationChoice, HookError, HookInput, Result};
use crate::agent_memory::{Access, AgentMemory, MemoryChoice};
use crate::host::Host;

/// The messages of a turn, and some before it.
const MESSAGES: usize = 8;
/// A captured sentence matters less than an entry that the user chose to keep.
const IMPORTANCE: f64 = 0.7;

/// A turn that ended.
#[derive(Clone, Debug)]
pub struct TurnEndRequest {
    /// Whose memory.
    pub memory: MemoryChoice,
    /// The hook's JSON.
    pub input: HookInput,
    /// The conversation.
    pub conversation: ConversationChoice,
    /// The user's messages, instead of a conversation.
    pub messages: Vec<String>,
    /// Capture, although it is not switched on in the config.
    pub enable: bool,
    /// The user's time zone; without it, that of the host.
    pub time_zone: Option<String>,
    /// Say what would be remembered, and write nothing.
    pub dry_run: bool,
}

/// What is remembered of a turn.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TurnEndReport {
    /// Whether capture is switched on.
    pub enabled: bool,
    /// Whether nothing is written.
    pub dry_run: bool,
    /// The sentences that are remembered.
    pub captured: Vec<CapturedSentence>,
    /// Sentences that are remembered already.
    pub duplicates: u64,
    /// Sentences for which the conversation had too many before.
    pub over_limit: u64,
    /// What was passed over.
    pub left_out: CaptureSkips,
    /// The file or the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// By which it can be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// What went wrong on the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A sentence that is remembered.
#[derive(Clone, Debug, Serialize)]
pub struct CapturedSentence {
    /// What it is, such as `preference`.
    pub category: &'static str,
    /// The sentence.
    pub text: String,
    /// Entries that it takes the place of, as it gives another value to the same thing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<Duplicate>,
}

/// What is known already.
struct KnownMemory {
    memory: Box<dyn Memory>,
    finder: Finder,
    /// From which cosine on two texts say the same.
    least: f64,
}

impl KnownMemory {
    /// Compares a sentence with the whole memory, as `remember` does.
    fn compared(&self, text: &str, host: &Host) -> Result<ComparedEntries> {
        let candidate = Candidate { text, key: None, supersedes: None };
        let (finder, least, now) = (&self.finder, self.least, host.now());
        Ok(self.memory.similar(DuplicateSearch { finder, candidate, least, now })?)
    }
}

/// Remembers what the owner said in a turn, where that is worth it.
pub fn turn_end(request: &TurnEndRequest, host: &Host) -> Result<TurnEndReport> {
    let config = request.input.config(&request.memory, host)?;
    let (mut settings, least) = (config.capture, config.remember.near_duplicate);
    settings.enabled |= request.enable;
    let mut report = TurnEndReport {
        enabled: settings.enabled,
        dry_run: request.dry_run,
        ..TurnEndReport::default()
    };
    if !settings.enabled {
        return Ok(report);
    }
    let access = Access::Write.unless(request.dry_run);
    let (machine, memory) = request.input.open(&request.memory, access, host)?;
    memory.check_writable()?;
    let (texts, session) = request.said(&memory, &machine, &mut report)?;
    let mut found: Vec<CapturedText> = Vec::new();
    for text in &texts {
        let (captured, left_out) = captures(text, &settings);
        found.extend(captured);
        report.left_out += left_out;
    }
    let day = local_time(request.time_zone.as_deref(), host)?.date();
    let target = EntryTarget::of(&memory, day, host);
    let known =
        KnownMemory { memory: memory.memory(), finder: memory.finder(&machine, host)?, least };
    let held = if request.dry_run { None } else { Some(lock(&memory)?) };
    let session = session.as_deref();
    let mut state = session.map(|id| memory.site.session_state(id)).unwrap_or_default();
    let mut new = Vec::new();
    for captured in found {
        let digest = sha256_hex(plain(&captured.text).as_bytes())[..16].to_owned();
        if state.captured.contains(&digest) {
            report.duplicates += 1;
            continue;
        }
        let compared = known.compared(&captured.text, host)?;
        if !compared.same.is_empty() {
            report.duplicates += 1;
        } else if state.captured.len() >= settings.most {
            report.over_limit += 1;
        } else {
            state.captured.push(digest);
            let mut entry = given(&captured, session, host);
            let superseded = supersede(&mut entry, compared.outdated, &mut Vec::new());
            let superseded = superseded.into_iter().map(|outdated| outdated.entry).collect();
            new.push(entry);
            let (category, text) = (captured.kind.as_str(), captured.text);
            report.captured.push(CapturedSentence { category, text, superseded });
        }
    }
    if new.is_empty() {
        return Ok(report);
    }
    let path = target.name();
    report.path = Some(path.clone());
    let Some(held) = held else { return Ok(report) };
    // Preferences and decisions of the user are lasting: ZeroClaw stores them as core, too.
    let entries = new.len();
    let change = target.add(&held, "hook turn-end", new, Category::Core)?;
    let write = LoggedWrite { hook: "turn-end", path: &path, entries, change: &change };
    log_write(&held, write, host, &mut report.notes);
    report.change = Some(change);
    if let Some(session) = session {
        held.keep_session_state(session, &state)?;
    }
    Ok(report)
}

impl TurnEndRequest {
    /// Returns what the owner said, and in which session.
    fn said(
        &self,
        memory: &AgentMemory,
        machine: &Machine,
        report: &mut TurnEndReport,
    ) -> Result<(Vec<String>, Option<String>)> {
        if !self.messages.is_empty() {
            let open = self.messages.iter().map(|message| without_private(message).0);
            return Ok((open.collect(), self.conversation.session.clone()));
        }
        let reach = Reach::Messages(MESSAGES);
        let conversation = self.conversation.read(&self.input, memory, machine, reach)?;
        let conversation = conversation.ok_or(HookError::NoTurn)?;
        let (own, others) = said_by_owner(&conversation);
        report.left_out.not_owner = others;
        Ok((own, conversation.session_id.or_else(|| self.input.session_id.clone())))
    }
}

fn given(captured: &CapturedText, session: Option<&str>, host: &Host) -> NewEntry {
    let name = captured.kind.as_str().to_owned();
    let label = Importance::new(IMPORTANCE).map(|importance| Label { name, importance });
    let stamp = stamp(Origin::Owner, session, host);
    NewEntry { text: captured.text.clone(), key: None, label, tags: Vec::new(), stamp }
}

/// Returns the form of a sentence for comparisons.
fn plain(text: &str) -> String {
    let kept = |c: char| if c.is_alphanumeric() { c } else { ' ' };
    let text: String = text.to_lowercase().chars().map(kept).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
