//! One line of a transcript, whoever wrote it.

use anemone_format::Moment;
use serde_json::Value as Json;

use super::Role;
use crate::kit::times;

/// What a line says.
#[derive(Debug, PartialEq)]
pub(super) enum Event {
    /// Which session it is.
    Header { session_id: String },
    /// Somebody spoke.
    Message(Message),
    /// A tool answered.
    Tool,
    /// A program spoke.
    System,
    /// What was said before was put together, or is over.
    Boundary { kind: Boundary, id: String },
    /// Nothing that is said.
    Other,
}

/// Why what was said before does not count any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Boundary {
    /// It was put together into a summary.
    Compaction,
    /// Somebody began anew.
    Reset,
}

/// What somebody said.
#[derive(Debug, PartialEq)]
pub(super) struct Message {
    pub(super) role: Role,
    pub(super) text: String,
    pub(super) at: Option<Moment>,
    pub(super) by_owner: Option<bool>,
    /// The tokens that the request had, its answer included.
    pub(super) tokens: Option<u64>,
    pub(super) tools: u64,
    pub(super) other: u64,
}

/// How somebody spoke to Claude Code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entrance {
    /// A person typed in a terminal or an editor.
    Typed,
    /// A program called it: `claude -p`, or the SDK.
    Scripted,
}

/// A line with what every line may say.
#[derive(Debug, PartialEq)]
pub(super) struct Read {
    pub(super) event: Event,
    /// The session, where each line names it.
    pub(super) session_id: Option<String>,
    /// Whether the line alone does not say which session it is.
    pub(super) nameless: bool,
    /// Whether it has the shape that Claude Code writes.
    pub(super) of_claude_code: bool,
    /// By which door somebody spoke to Claude Code, where the line says so.
    pub(super) entrance: Option<Entrance>,
    /// The characters of its texts.
    pub(super) characters: u64,
}

/// Reads a line; `None` when it is none of a transcript.
pub(super) fn read(bytes: &[u8]) -> Option<Read> {
    let json: Json = serde_json::from_slice(bytes).ok()?;
    let line = json.as_object()?;
    let text = |name: &str| line.get(name).and_then(Json::as_str);
    let session_id = text("sessionId").map(str::to_owned);
    let characters = line.get("message").or(line.get("content")).map_or(0, text_characters);
    let nameless = line.get("type").is_none();
    let of_claude_code = session_id.is_some() && matches!(text("type"), Some("user" | "assistant"));
    let event = match text("type") {
        None => plain(&json)?,
        Some("session") => Event::Header { session_id: text("id")?.to_owned() },
        Some("message") => match line.get("message") {
            Some(message) => spoken(&json, message),
            None => return None,
        },
        Some("compaction") => boundary(&json, Boundary::Compaction),
        Some("reset") => boundary(&json, Boundary::Reset),
        Some("system") if text("subtype") == Some("compact_boundary") => {
            boundary(&json, Boundary::Compaction)
        }
        Some("user" | "assistant") => {
            let is_set = |name: &str| line.get(name).and_then(Json::as_bool) == Some(true);
            let of_program = ["isMeta", "isCompactSummary", "isApiErrorMessage"];
            match line.get("message") {
                None => return None,
                _ if of_program.into_iter().any(is_set) => Event::System,
                // What helpers say to each other is a tool's business.
                _ if is_set("isSidechain") => Event::Tool,
                Some(message) => spoken(&json, message),
            }
        }
        Some("system" | "custom_message") => Event::System,
        Some(_) => Event::Other,
    };
    let entrance = text("entrypoint").map(|it| match it.starts_with("sdk") {
        true => Entrance::Scripted,
        false => Entrance::Typed,
    });
    Some(Read { event, session_id, nameless, of_claude_code, entrance, characters })
}

fn boundary(event: &Json, kind: Boundary) -> Event {
    let named = ["id", "uuid", "timestamp"].into_iter().find_map(|it| event.get(it)?.as_str());
    let id = named.unwrap_or_default().chars().take(100).collect();
    Event::Boundary { kind, id }
}

/// Reads `{"role","content"}` as it stands alone.
fn plain(line: &Json) -> Option<Event> {
    line.get("role")?.as_str()?;
    line.get("content")?;
    let mut event = spoken(line, line);
    if let Event::Message(message) = &mut event {
        take_calls(message);
    }
    Some(event)
}

/// Takes the calls out of an answer that is kept as JSON, with what was said in it.
fn take_calls(message: &mut Message) {
    let is_json = message.role == Role::Assistant && message.text.starts_with('{');
    let json = is_json.then(|| serde_json::from_str::<Json>(&message.text).ok()).flatten();
    let Some(json) = json else { return };
    let Some(calls) = json.get("tool_calls").and_then(Json::as_array) else { return };
    message.tools += calls.len() as u64;
    message.text = json.get("content").and_then(Json::as_str).unwrap_or_default().to_owned();
}

fn spoken(event: &Json, message: &Json) -> Event {
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
    parts.retain(|it| !it.is_empty());
    let written = event.get("timestamp").and_then(Json::as_str).and_then(|it| it.parse().ok());
    let millis = || {
        let millis = message.get("timestamp")?.as_i64().filter(|it| *it > 0)?;
        times::from_millis(millis)
    };
    let owner = |json: &Json| json.get("__openclaw")?.get("senderIsOwner")?.as_bool();
    Event::Message(Message {
        role,
        text: parts.join("\n"),
        at: written.or_else(millis),
        by_owner: owner(event).or_else(|| owner(message)),
        tokens: message.get("usage").and_then(tokens_of),
        tools,
        other,
    })
}

/// Adds up what a request took: all that was sent, and what came back.
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
    let numbers = NAMES.into_iter().filter_map(|it| usage.get(it)?.as_u64());
    let total = numbers.fold(0, u64::saturating_add);
    (total > 0).then_some(total)
}

/// Counts the characters of the texts in a value. Its depth is bounded by the parser.
fn text_characters(value: &Json) -> u64 {
    match value {
        Json::String(text) => text.chars().count() as u64,
        Json::Array(values) => values.iter().map(text_characters).sum(),
        Json::Object(fields) => {
            // A picture costs what its size says, not what its letters are.
            let is_told = |name: &&String| {
                matches!(name.as_str(), "content" | "text" | "thinking" | "arguments" | "input")
            };
            fields.iter().filter(|(name, _)| is_told(name)).map(|(_, it)| text_characters(it)).sum()
        }
        _ => 0,
    }
}
