//! Recalls memories that are relevant to a message.

use anemone_format::Origin;
use anemone_index::{Hit, Request};
use anemone_memory::{
    RecalledMemory, SessionKind, is_relevant, note_recalls, question_of, recalled,
};
use jiff::civil::Date;
use serde::{Serialize, Serializer};

use super::{HookError, HookInput, Result};
use crate::agent_memory::{Access, MemoryChoice, delimiter};
use crate::host::Host;

/// How many hits are examined for relevant ones.
const LOOKED_AT: usize = 12;
/// Only the beginning of a message is used as the query.
const MAX_QUESTION_CHARS: usize = 1_000;

/// A message that the user wrote to an agent.
#[derive(Clone, Debug)]
pub struct PromptRequest {
    /// Whose memory.
    pub memory: MemoryChoice,
    /// The hook's JSON.
    pub input: HookInput,
    /// The message; without it, that of the hook's JSON.
    pub message: Option<String>,
    /// The kind of session; without it, what its key in the hook's JSON says.
    pub session: Option<SessionKind>,
    /// Recall, although it is not switched on in the config.
    pub enable: bool,
}

/// What is recalled.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PromptReport {
    /// Whether recall is switched on.
    pub enabled: bool,
    /// The memories, the best first.
    pub memories: Vec<RecalledEntry>,
    /// The same, framed as data for a model.
    pub context: String,
    /// Memories that are relevant, but look like an attack.
    pub suspicious: u64,
    /// Memories that are relevant, but do not hold any more.
    pub superseded: u64,
}

/// A memory that is relevant.
#[derive(Clone, Debug, Serialize)]
pub struct RecalledEntry {
    /// The document that it is in.
    pub path: String,
    /// What it says.
    pub text: String,
    /// Where it comes from.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_word")]
    pub origin: Option<Origin>,
    /// Whether this installation wrote the stamp that names the origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin_verified: Option<bool>,
    /// Its day.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_day")]
    pub date: Option<Date>,
    /// How well it fits.
    pub score: f64,
}

fn as_word<S: Serializer>(origin: &Option<Origin>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(origin.map_or("unknown", Origin::as_str))
}

fn as_day<S: Serializer>(date: &Option<Date>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&date.map(|day| day.to_string()).unwrap_or_default())
}

/// Recalls up to a few memories that are relevant to a message.
pub fn prompt(request: &PromptRequest, host: &Host) -> Result<PromptReport> {
    let config = request.input.config(&request.memory, host)?;
    let mut settings = config.recall;
    settings.enabled = (settings.enabled && config.search.enabled) || request.enable;
    let mut report = PromptReport { enabled: settings.enabled, ..PromptReport::default() };
    if !settings.enabled {
        return Ok(report);
    }
    let input = &request.input;
    let message = request.message.as_ref().or(input.prompt.as_ref());
    let message = message.ok_or(HookError::NoMessage)?;
    if message.trim_start().starts_with('/') || message.trim().is_empty() {
        return Ok(report);
    }
    let told = || input.session_kind();
    let session = request.session.or_else(told).unwrap_or(SessionKind::Main);
    if !session.may_recall() {
        return Ok(report);
    }
    let (machine, memory) = input.open(&request.memory, Access::Write, host)?;
    let mut question = Request::new(question_of(message, MAX_QUESTION_CHARS), host.now());
    question.limit = LOOKED_AT;
    question.paths = session.folders();
    question.snippet_chars = settings.most_chars;
    question.explain = true;
    let answer = memory.finder(&machine, host)?.search(&question)?;
    let is_wanted = |hit: &&Hit| session.may_see(&hit.path) && is_relevant(hit, message, &settings);
    let hits: Vec<&Hit> = answer.hits.iter().filter(is_wanted).collect();
    let found = recalled(&memory.site, &hits, settings.most)?;
    // A recall that is not counted is a recall all the same.
    note_recalls(&memory.site, &found.keys, question.now).ok();
    report.context = found.framed(&delimiter()?);
    report.suspicious = found.suspicious;
    report.superseded = found.superseded;
    report.memories = found.memories.into_iter().map(RecalledEntry::of).collect();
    Ok(report)
}

impl RecalledEntry {
    fn of(memory: RecalledMemory) -> Self {
        let RecalledMemory { path, text, origin, origin_verified, date, score } = memory;
        let origin_verified = origin.map(|_| origin_verified);
        Self { path, text, origin, origin_verified, date, score }
    }
}
