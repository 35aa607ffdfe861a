//! One line of a transcript of any program, and what a format needs to read it.

use std::path::Path;

use anemone_files::Folder;
use anemone_format::Moment;
use serde_json::Value as Json;

use super::{Role, SessionFacts};
use crate::kit::times;

/// What a line says.
#[derive(Debug, PartialEq)]
pub(crate) enum Event {
    /// Which session it is.
    Header { session_id: String },
    /// A message.
    Message(Message),
    /// A tool answered.
    Tool,
    /// A program spoke.
    System,
    /// The conversation so far was summarized, or is over.
    Boundary { kind: Boundary, id: String },
    /// An event that is not part of the conversation.
    Other,
}

/// Why the conversation so far no longer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// It was condensed into a summary.
    Compaction,
    /// The session was reset.
    Reset,
}

/// One message.
#[derive(Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) role: Role,
    pub(crate) text: String,
    pub(crate) at: Option<Moment>,
    pub(crate) by_owner: Option<bool>,
    /// The tokens that the request had, its answer included.
    pub(crate) tokens: Option<u64>,
    pub(crate) tools: u64,
    pub(crate) other: u64,
}

/// How a user addressed a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entrance {
    /// A person typed in a terminal or an editor.
    Typed,
    /// Another program called it.
    Scripted,
}

/// A line of a transcript.
#[derive(Debug, PartialEq)]
pub(crate) struct TranscriptLine {
    /// What it says.
    pub(crate) event: Event,
    /// The session, where each line names it.
    pub(crate) session_id: Option<String>,
    /// Whether the line alone does not say which session it is.
    pub(crate) nameless: bool,
    /// The channel, where the form of the line tells it.
    pub(crate) channel: Option<&'static str>,
    /// How the user addressed the program, where the line says so.
    pub(crate) entrance: Option<Entrance>,
    /// The characters of its texts.
    pub(crate) characters: u64,
}

/// The result of reading a line in a format.
#[derive(Debug, PartialEq)]
pub(crate) enum LineReading {
    /// The line has another format.
    Unknown,
    /// The line has this format, but something is missing.
    Undecodable,
    /// A line.
    Line(TranscriptLine),
}

/// Looks a transcript up, by its folder, the name of its file and the session that its lines name.
type SessionLookup = fn(&Folder, &Path, Option<&str>) -> Option<SessionFacts>;

/// How a runtime writes transcripts.
#[derive(Clone, Copy)]
pub(crate) struct TranscriptFormat {
    /// Reads a line.
    pub(crate) line: fn(&Json) -> LineReading,
    /// Looks up a transcript in what the runtime keeps beside it.
    pub(crate) beside: Option<SessionLookup>,
}

impl TranscriptLine {
    /// Takes what a line says.
    pub(crate) fn new(json: &Json, event: Event) -> Self {
        let characters = json.get("message").or(json.get("content")).map_or(0, text_characters);
        Self {
            event,
            session_id: json.get("sessionId").and_then(Json::as_str).map(str::to_owned),
            nameless: json.get("type").is_none(),
            channel: None,
            entrance: None,
            characters,
        }
    }
}

impl LineReading {
    /// Takes what a line says; `None` when something is missing.
    pub(crate) fn of(json: &Json, event: Option<Event>) -> Self {
        event.map_or(Self::Undecodable, |event| Self::Line(TranscriptLine::new(json, event)))
    }
}

/// Reads a line in one of these formats; `None` when it is not a line of a transcript.
pub(super) fn read(formats: &[TranscriptFormat], bytes: &[u8]) -> Option<TranscriptLine> {
    let json: Json = serde_json::from_slice(bytes).ok()?;
    json.as_object()?;
    let mut readings = formats.iter().map(|format| (format.line)(&json));
    match readings.find(|reading| *reading != LineReading::Unknown) {
        Some(LineReading::Line(line)) => Some(line),
        Some(LineReading::Undecodable) => None,
        // Runtimes write many events that are not messages.
        Some(LineReading::Unknown) | None => {
            json.get("type")?.as_str()?;
            Some(TranscriptLine::new(&json, Event::Other))
        }
    }
}

/// Reads an event that ends the conversation so far.
pub(crate) fn boundary(event: &Json, kind: Boundary) -> Event {
    let named = ["id", "uuid", "timestamp"].into_iter().find_map(|name| event.get(name)?.as_str());
    let id = named.unwrap_or_default().chars().take(100).collect();
    Event::Boundary { kind, id }
}

/// Reads a message; `event` is the line around it.
pub(crate) fn spoken(event: &Json, message: &Json) -> Event {
    let role = match message.get("role").and_then(Json::as_str) {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("toolResult" | "tool" | "function") => return Event::Tool,
        _ => return Event::System,
    };
    let mut parts: Vec<&str> = Vec::new();
    let (mut tools, mut other) = (0, 0);
    match message.get("content") {
        Some(Json::String(text)) => parts.push(text.trim()),
        Some(Json::Array(content)) => {
            for part in content {
                match part.get("type").and_then(Json::as_str) {
                    Some("text") => {
                        parts.push(part.get("text").and_then(Json::as_str).unwrap_or("").trim());
                    }
                    Some("toolCall" | "tool_use" | "tool_result" | "toolResult") => tools += 1,
                    _ => other += 1,
                }
            }
        }
        _ => other += 1,
    }
    parts.retain(|part| !part.is_empty());
    Event::Message(Message {
        role,
        text: parts.join("\n"),
        at: spoken_at(event, Some(message)),
        by_owner: None,
        tokens: message.get("usage").and_then(tokens_of),
        tools,
        other,
    })
}

/// Returns when something was said: as its event says, else as the message in it does.
pub(crate) fn spoken_at(event: &Json, message: Option<&Json>) -> Option<Moment> {
    let written = event.get("timestamp").and_then(Json::as_str).and_then(|text| text.parse().ok());
    let millis = || message?.get("timestamp")?.as_i64().and_then(times::from_set_millis);
    written.or_else(millis)
}

/// Adds up the tokens of a request: everything that was sent, and the answer.
fn tokens_of(usage: &Json) -> Option<u64> {
    const NAMES: [&str; 8] = [
        "input",
        "output",
        "cacheRead",
        "cacheWrite",
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    ];
    let numbers = NAMES.into_iter().filter_map(|name| usage.get(name)?.as_u64());
    let total = numbers.fold(0, u64::saturating_add);
    (total > 0).then_some(total)
}

/// Counts the characters of the texts in a value. Its depth is bounded by the parser.
fn text_characters(value: &Json) -> u64 {
    match value {
        Json::String(text) => text.chars().count() as u64,
        Json::Array(values) => values.iter().map(text_characters).sum(),
        Json::Object(fields) => {
            // A picture costs tokens by its size, not by the characters that encode it.
            let is_told = |name: &&String| {
                matches!(name.as_str(), "content" | "text" | "thinking" | "arguments" | "input")
            };
            fields
                .iter()
                .filter(|(name, _)| is_told(name))
                .map(|(_, text)| text_characters(text))
                .sum()
        }
        _ => 0,
    }
}
