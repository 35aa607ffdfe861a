//! The lines of Claude Code's transcripts.

use serde_json::Value as Json;

use crate::kit::{
    Boundary, Entrance, Event, LineReading, TranscriptFormat, TranscriptLine, boundary, spoken,
};

/// The channel of its conversations.
pub(super) const CHANNEL: &str = "claude-code";

/// How Claude Code writes transcripts.
pub(super) const FORMAT: TranscriptFormat = TranscriptFormat { line, beside: None };

/// Reads a line such as `{"type":"user","message":{"role",..},"sessionId"}`.
fn line(json: &Json) -> LineReading {
    let text = |name: &str| json.get(name).and_then(Json::as_str);
    let Some(kind) = text("type") else { return LineReading::Unknown };
    let event = match kind {
        "user" | "assistant" => match json.get("message") {
            Some(message) => said(json, message),
            None => return LineReading::Undecodable,
        },
        "system" if text("subtype") == Some("compact_boundary") => {
            boundary(json, Boundary::Compaction)
        }
        "system" => Event::System,
        _ => return LineReading::Unknown,
    };
    let is_turn = matches!(kind, "user" | "assistant");
    let mut line = TranscriptLine::new(json, event);
    line.channel = (is_turn && line.session_id.is_some()).then_some(CHANNEL);
    line.entrance = text("entrypoint").map(entrance);
    LineReading::Line(line)
}

/// `claude -p` and the SDK are called by programs.
fn entrance(name: &str) -> Entrance {
    if name.starts_with("sdk") { Entrance::Scripted } else { Entrance::Typed }
}

fn said(line: &Json, message: &Json) -> Event {
    let is_set = |name: &str| line.get(name).and_then(Json::as_bool) == Some(true);
    let of_program = ["isMeta", "isCompactSummary", "isApiErrorMessage"];
    if of_program.into_iter().any(is_set) {
        Event::System
    } else if is_set("isSidechain") {
        // Messages between subagents count as tool events.
        Event::Tool
    } else {
        spoken(line, message)
    }
}
