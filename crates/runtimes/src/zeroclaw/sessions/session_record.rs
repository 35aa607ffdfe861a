//! Converts a conversation into records.

use anemone_format::{ExtractionMethod, MemoryType, Moment, Opaque, Record, Source};
use serde::Serialize;

use super::super::{NAMESPACES, RUNTIME, rows::Shared};
use crate::kit::SessionText;

/// A conversation that is being read.
pub(super) struct Conversation {
    /// The runtime's name for it; entries of the same conversation have it too.
    pub(super) key: String,
    /// What its user calls it.
    pub(super) name: Option<String>,
    /// The transcript, such as `sessions/<key>.jsonl`, wherever it lies.
    pub(super) origin_file: String,
    /// When it was opened, for messages that have no time.
    pub(super) opened_at: Option<Moment>,
    /// Whether it is one person's own.
    pub(super) private: bool,
    index: u64,
    text: SessionText,
}

impl Conversation {
    pub(super) fn new(
        key: &str,
        origin_file: String,
        name: Option<String>,
        opened_at: Option<Moment>,
    ) -> Self {
        Self {
            key: key.to_owned(),
            name,
            origin_file,
            opened_at,
            private: false,
            index: 0,
            text: SessionText::default(),
        }
    }

    /// Adds a message; returns the previous record if it is full.
    pub(super) fn say(
        &mut self,
        text: &str,
        at: Option<Moment>,
        shared: &Shared<'_>,
    ) -> Option<Record> {
        let done = if self.text.is_full_for(text) { self.flush(shared) } else { None };
        self.text.add(text, at);
        done
    }

    /// Goes on behind records that another place gave.
    pub(super) fn go_on_at(&mut self, index: u64) {
        self.index = index;
    }

    /// Returns how many records it gave.
    pub(super) fn records(&self) -> u64 {
        self.index
    }

    /// Returns the record that is being filled.
    pub(super) fn flush(&mut self, shared: &Shared<'_>) -> Option<Record> {
        #[derive(Serialize)]
        struct RawPiece<'a> {
            session_key: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            name: Option<&'a str>,
            piece: u64,
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            private: bool,
        }
        let SessionText { content, first_at, last_at } = self.text.take()?;
        let id = NAMESPACES.record(&self.origin_file, self.index);
        let opened_at = self.opened_at.as_ref().unwrap_or(&shared.fallback);
        let created_at = first_at.clone().unwrap_or_else(|| opened_at.clone());
        let mut record = Record::new(id, shared.agent_id, RUNTIME, created_at, &content);
        record.memory_type = MemoryType::Episodic;
        record.namespace = "session".to_owned();
        record.category = Some("session".to_owned());
        record.tags = vec!["session".to_owned(), RUNTIME.to_owned()];
        record.temporal.observed_at = first_at;
        record.temporal.updated_at = last_at;
        record.source = Source {
            origin: Some("session".to_owned()),
            origin_file: Some(self.origin_file.clone()),
            extraction_method: Some(ExtractionMethod::AgentWritten),
            session_id: Some(self.key.clone()),
            identity_version: shared.identity_version,
            ..Source::new(RUNTIME)
        };
        let raw = RawPiece {
            session_key: &self.key,
            name: self.name.as_deref(),
            piece: self.index,
            private: self.private,
        };
        record.raw_source_format = Some(Opaque::new(&raw).expect("a struct is a JSON object"));
        self.index += 1;
        Some(record)
    }
}
