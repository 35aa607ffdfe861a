//! The lines of ZeroClaw's transcripts.

use serde_json::Value as Json;

use crate::kit::{Event, LineReading, Role, TranscriptFormat, spoken};

/// How ZeroClaw writes transcripts.
pub(crate) const FORMAT: TranscriptFormat = TranscriptFormat { line, beside: None };

/// Reads a line such as `{"role","content"}`.
fn line(json: &Json) -> LineReading {
    if json.get("type").is_some_and(Json::is_string) {
        return LineReading::Unknown;
    }
    let is_said = json.get("role").is_some_and(Json::is_string) && json.get("content").is_some();
    LineReading::of(json, is_said.then(|| said(json)))
}

fn said(line: &Json) -> Event {
    let mut event = spoken(line, line);
    if let Event::Message(message) = &mut event
        && message.role == Role::Assistant
        && message.text.starts_with('{')
        && let Some((calls, said)) = calls_in(&message.text)
    {
        message.tools += calls;
        message.text = said;
    }
    event
}

/// Reads an answer that is stored as JSON because it calls tools: how many calls, and the text.
pub(super) fn calls_in(answer: &str) -> Option<(u64, String)> {
    let json: Json = serde_json::from_str(answer).ok()?;
    let calls = json.get("tool_calls")?.as_array()?.len() as u64;
    Some((calls, json.get("content").and_then(Json::as_str).unwrap_or_default().to_owned()))
}
