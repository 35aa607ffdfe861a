//! What becomes of each part of another runtime's snapshot here, in a database or in Markdown.

use anemone_format::{MemoryType, Record};

use super::{RUNTIME, entries::file_of, layout::CURATED, proof::PROOF};
use crate::kit::mapping::{FieldRule, Mapping, is_midnight, within, without};
use crate::kit::{InstallBackend, InstallLayout};

/// What becomes of a snapshot of another runtime, for each memory backend.
pub(super) const MAPPINGS: &[Mapping] = &[
    Mapping {
        runtime: RUNTIME,
        title: "ZeroClaw",
        tables: &[PERSONA, ENTRIES, FILES],
        fields: FIELDS,
        backend: None,
        backends: BACKENDS,
        layouts: LAYOUTS,
        proof: &PROOF,
    },
    Mapping {
        runtime: RUNTIME,
        title: "ZeroClaw with Markdown",
        tables: &[PERSONA, MARKDOWN, FILES],
        fields: MARKDOWN_FIELDS,
        backend: Some(InstallBackend::Markdown),
        backends: BACKENDS,
        layouts: LAYOUTS,
        proof: &PROOF,
    },
];

const PERSONA: &str = include_str!("mapping/persona.txt");
const ENTRIES: &str = include_str!("mapping/entries.txt");
const MARKDOWN: &str = include_str!("mapping/markdown.txt");
const FILES: &str = include_str!("mapping/files.txt");

const BACKENDS: &[InstallBackend] = &[InstallBackend::Sqlite, InstallBackend::Markdown];
const LAYOUTS: &[InstallLayout] = &[InstallLayout::Data, InstallLayout::Workspace];

const FIELDS: &[FieldRule] = &[
    within("created_at", "created_at", |_| true),
    without("observed_at", "none"),
    without("valid_from", "none"),
    without("valid_until", "none"),
    within("status", "active, or superseded by another entry", |record| {
        matches!(record.status.as_str(), "active" | "superseded")
    }),
    within("memory_type", "kind (since 0.8); a summary has none", |record| {
        match record.memory_type {
            MemoryType::Procedural | MemoryType::Episodic | MemoryType::Preference => true,
            // The row's kind says that it is a preference.
            MemoryType::Semantic => record.category.as_deref() != Some("preference"),
            _ => false,
        }
    }),
    without("category", "none; kind tells preferences, decisions and entities from facts"),
    within("confidence", "importance", |record| {
        record.confidence.is_none_or(|confidence| (0.0..=1.0).contains(&confidence))
    }),
    without("tags", "none"),
    without("entities", "none"),
    without("related_records", "none"),
    without("embeddings", "none: ZeroClaw recomputes them"),
];

const MARKDOWN_FIELDS: &[FieldRule] = &[
    within("created_at", "the day of a log; in MEMORY.md the file's time", |record| {
        let at = &record.temporal;
        is_in_log(record)
            && at.observed_at.as_ref().is_none_or(|day| day.utc_date() == at.created_at.utc_date())
    }),
    within("observed_at", "the day of a log", |record| {
        is_in_log(record) && record.temporal.observed_at.as_ref().is_none_or(is_midnight)
    }),
    without("valid_from", "none"),
    without("valid_until", "none"),
    within("status", "archived: memory/archive", |record| {
        matches!(record.status.as_str(), "active" | "archived")
    }),
    within("memory_type", "semantic in MEMORY.md, episodic in logs", |record| {
        record.memory_type.as_str() == if is_in_log(record) { "episodic" } else { "semantic" }
    }),
    without("category", "none"),
    without("confidence", "none"),
    without("tags", "none"),
    without("entities", "none"),
    without("related_records", "none"),
    without("embeddings", "none"),
];

/// Returns whether ZeroClaw's Markdown has a record in the log of its day rather than in
/// `MEMORY.md`.
fn is_in_log(record: &Record) -> bool {
    file_of(record) != CURATED
}
