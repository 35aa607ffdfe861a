//! Converts the events of a transcript into the text of records.

use std::collections::{HashMap, HashSet};

use anemone_format::Moment;
use serde_json::Value as Json;

use super::{Redact, SessionRecord};
use crate::kit::{SessionCounts, SessionText, short_digest, spoken_at};
use crate::openclaw::transcript::by_owner;

/// A tool's name is cut to this.
const MAX_NAME_CHARS: usize = 100;

/// What was already taken from one conversation.
#[derive(Default)]
pub(super) struct SeenEvents {
    /// Events, by a part of the digest of their id.
    pub(super) events: HashSet<u64>,
    /// How many pieces each transcript gave; two transcripts may have the same name.
    pub(super) pieces: HashMap<String, u64>,
}

/// A transcript that is being read.
pub(super) struct Transcript {
    pub(super) session_id: String,
    pub(super) session_key: Option<String>,
    pub(super) origin_file: String,
    pub(super) seen: SeenEvents,
    /// The record that is being filled.
    pub(super) text: SessionText,
    pub(super) trust: Option<&'static str>,
    pub(super) index: u64,
}

impl Transcript {
    /// Takes an event; returns the record that is full because of it.
    pub(super) fn event(
        &mut self,
        bytes: &[u8],
        stored_at: Option<Moment>,
        redact: &Redact<'_>,
        counts: &mut SessionCounts,
    ) -> Option<SessionRecord> {
        counts.events += 1;
        let Ok(event) = serde_json::from_slice::<Json>(bytes) else {
            counts.undecodable += 1;
            return None;
        };
        if event.get("type").and_then(Json::as_str) == Some("session") {
            return None;
        }
        let id = event.get("id").and_then(Json::as_str);
        if !self.seen.events.insert(short_digest(id.map_or(bytes, str::as_bytes))) {
            counts.duplicates += 1;
            return None;
        }
        let text = text_of(&event, &mut counts.dropped)?;
        let (text, redacted) = redact(&text);
        counts.redacted += redacted;
        counts.messages += 1;
        let done = if self.text.is_full_for(&text) { self.flush() } else { None };
        self.text.add(&text, spoken_at(&event, event.get("message")).or(stored_at));
        if self.trust != Some("untrusted") {
            self.trust = trust_of(&event).or(self.trust);
        }
        done
    }

    pub(super) fn flush(&mut self) -> Option<SessionRecord> {
        let SessionText { content, first_at, last_at } = self.text.take()?;
        let index = self.index;
        self.index += 1;
        Some(SessionRecord {
            session_id: self.session_id.clone(),
            session_key: self.session_key.clone(),
            index,
            content,
            first_at,
            last_at,
            origin_file: self.origin_file.clone(),
            trust: self.trust.take(),
        })
    }
}

/// Makes text of an event, as `user: ...`; `None` for events in which nothing was said.
fn text_of(event: &Json, dropped: &mut u64) -> Option<String> {
    match event.get("type").and_then(Json::as_str)? {
        "message" => message_text(event.get("message")?, dropped),
        "compaction" | "branch_summary" => {
            let summary = event.get("summary").and_then(Json::as_str)?.trim();
            (!summary.is_empty()).then(|| format!("summary: {summary}"))
        }
        "custom_message" => {
            *dropped += 1;
            None
        }
        _ => None,
    }
}

fn message_text(message: &Json, dropped: &mut u64) -> Option<String> {
    let role = message.get("role").and_then(Json::as_str)?;
    if role == "toolResult" {
        let failed = message.get("isError").and_then(Json::as_bool) == Some(true);
        let what = if failed { "tool error" } else { "tool result" };
        return Some(format!("[{what}: {}]", name_of(message.get("toolName"))));
    }
    if !matches!(role, "user" | "assistant") {
        *dropped += 1;
        return None;
    }
    let mut parts = Vec::new();
    match message.get("content")? {
        Json::String(text) => parts.push(text.trim().to_owned()),
        Json::Array(content) => {
            for part in content {
                match part.get("type").and_then(Json::as_str) {
                    Some("text") => {
                        let text = part.get("text").and_then(Json::as_str).unwrap_or_default();
                        parts.push(text.trim().to_owned());
                    }
                    Some("toolCall") => {
                        parts.push(format!("[tool: {}]", name_of(part.get("name"))));
                    }
                    _ => *dropped += 1,
                }
            }
        }
        _ => *dropped += 1,
    }
    parts.retain(|part| !part.is_empty());
    (!parts.is_empty()).then(|| format!("{role}: {}", parts.join("\n")))
}

fn name_of(name: Option<&Json>) -> String {
    let name = name.and_then(Json::as_str).unwrap_or("unknown");
    name.chars().filter(|char| !char.is_control()).take(MAX_NAME_CHARS).collect()
}

/// Returns whether the owner spoke, where the program noted it.
fn trust_of(event: &Json) -> Option<&'static str> {
    let by_owner = by_owner(event).or_else(|| event.get("message").and_then(by_owner))?;
    Some(if by_owner { "owner" } else { "untrusted" })
}
