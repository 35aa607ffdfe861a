//! Converts a conversation into records.

use anemone_format::{ExtractionMethod, MemoryType, Moment, Opaque, Record, Source};
use serde::Serialize;

use super::super::{NAMESPACES, RUNTIME, rows::ReadingContext};
use crate::kit::SessionText;

/// A conversation that is being read.
pub(super) struct Conversation {
    /// The runtime's name for it; entries of the same conversation have it too.
    pub(super) key: String,
    /// The name that its user gave it.
    pub(super) name: Option<String>,
    /// The transcript, such as `sessions/<key>.jsonl`, wherever the file is.
    pub(super) origin_file: String,
    /// When it was opened, for messages without a time.
    pub(super) opened_at: Option<Moment>,
    /// Whether it is one person's own.
    pub(super) private: bool,
    /// How many records it gave, including those of other places that were read before.
    pub(super) records: u64,
    pub(super) text: SessionText,
}

impl Conversation {
    /// Adds a message; returns the previous record if it is full.
    pub(super) fn say(
        &mut self,
        text: &str,
        at: Option<Moment>,
        shared: &ReadingContext<'_>,
    ) -> Option<Record> {
        let done = if self.text.is_full_for(text) { self.flush(shared) } else { None };
        self.text.add(text, at);
        done
    }

    /// Returns the record that is being filled.
    pub(super) fn flush(&mut self, shared: &ReadingContext<'_>) -> Option<Record> {
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
        let id = NAMESPACES.record(&self.origin_file, self.records);
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
            piece: self.records,
            private: self.private,
        };
        record.raw_source_format = Some(Opaque::new(&raw).expect("a struct is a JSON object"));
        self.records += 1;
        Some(record)
    }
}
