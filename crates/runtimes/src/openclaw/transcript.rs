//! The lines of OpenClaw's transcripts, and the list of sessions beside them.

use std::collections::BTreeMap;
use std::path::Path;

use anemone_files::{Folder, read_limited};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::kit::{Boundary, Event, LineReading, SessionFacts, TranscriptFormat, boundary, spoken};

/// The list of sessions, with what the runtime stores about each.
const MAX_INDEX_BYTES: u64 = 16 << 20;

/// What OpenClaw notes as the model of its own answers to commands.
const OWN_ANSWERS: &str = "gateway-injected";

/// How OpenClaw writes transcripts.
pub(crate) const FORMAT: TranscriptFormat = TranscriptFormat { line, beside: Some(beside) };

/// Reads a line such as `{"type":"message","message":{"role",..}}`.
fn line(json: &Json) -> LineReading {
    let event = match json.get("type").and_then(Json::as_str) {
        Some("session") => {
            let id = json.get("id").and_then(Json::as_str);
            id.map(|id| Event::Header { session_id: id.to_owned() })
        }
        Some("message") => json.get("message").map(|message| said(json, message)),
        Some("compaction") => Some(boundary(json, Boundary::Compaction)),
        Some("reset") => Some(boundary(json, Boundary::Reset)),
        Some("custom_message") => Some(Event::System),
        _ => return LineReading::Unknown,
    };
    LineReading::of(json, event)
}

/// Reads a message, and whether the owner sent it.
fn said(line: &Json, message: &Json) -> Event {
    if message.get("model").and_then(Json::as_str) == Some(OWN_ANSWERS) {
        return Event::System;
    }
    let mut event = spoken(line, message);
    if let Event::Message(said) = &mut event {
        said.by_owner = by_owner(line).or_else(|| by_owner(message));
    }
    event
}

/// Returns whether an event or a message says that the agent's owner sent it.
pub(super) fn by_owner(json: &Json) -> Option<bool> {
    json.get("__openclaw")?.get("senderIsOwner")?.as_bool()
}

/// What the list of sessions says about one of them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedSession {
    pub(super) session_id: Option<String>,
    /// The path of the transcript, on the machine that wrote the list.
    session_file: Option<String>,
    channel: Option<String>,
    last_channel: Option<String>,
    compaction_count: Option<u64>,
}

/// Reads the list of sessions; one that cannot be read lists nothing.
fn listed(folder: &Folder) -> BTreeMap<String, ListedSession> {
    let read = folder.file("sessions.json").and_then(|file| read_limited(&file, MAX_INDEX_BYTES));
    read.map_or_else(
        |_| BTreeMap::new(),
        |bytes| serde_json::from_slice(&bytes).unwrap_or_default(),
    )
}

impl ListedSession {
    /// Returns the name of the transcript; its folder may have moved.
    pub(super) fn file_name(&self) -> Option<&str> {
        self.session_file.as_deref()?.rsplit(['/', '\\']).next()
    }
}

/// Returns what the list of sessions says about the current session of a key.
pub(super) fn listed_of_key(folder: &Folder, key: &str) -> Option<ListedSession> {
    listed(folder).remove(key)
}

/// Finds a session in the list of sessions.
fn beside(folder: &Folder, name: &Path, session_id: Option<&str>) -> Option<SessionFacts> {
    let stem = name.file_name()?.to_str()?;
    let stem = stem.split(".jsonl").next().unwrap_or(stem);
    let wanted = session_id.unwrap_or(stem);
    let is_wanted =
        |(_, entry): &(String, ListedSession)| entry.session_id.as_deref() == Some(wanted);
    let (key, entry) = listed(folder).into_iter().find(is_wanted)?;
    Some(SessionFacts {
        session_id: None,
        source: entry.channel.or(entry.last_channel).or_else(|| channel_in(&key)),
        session_key: Some(key),
        compaction_count: entry.compaction_count,
    })
}

/// Returns the channel that a key names, as in `agent:main:telegram:group:1`.
pub(super) fn channel_in(key: &str) -> Option<String> {
    let parts: Vec<_> = key.split(':').collect();
    (parts.len() > 3 && parts[0] == "agent").then(|| parts[2].to_owned())
}
