//! The lines of ZeroClaw's transcripts.

use serde_json::Value as Json;

use crate::kit::{Event, LineReading, Message, Role, TranscriptFormat, spoken};

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
    if let Event::Message(message) = &mut event {
        take_calls(message);
    }
    event
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
