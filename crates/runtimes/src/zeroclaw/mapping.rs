//! What becomes of each part of another runtime's snapshot here, in a database or in Markdown.

use anemone_format::{MemoryType, Record};

use super::{RUNTIME, entries::file_of, layout::CURATED, proof::PROOF};
use crate::kit::mapping::{
    BLANK, DELETED, FieldRule, Mapping, Row, aside, is_midnight, native, native_secret, nowhere,
    within, without,
};
use crate::kit::{InstallBackend, InstallLayout};

/// What becomes of a snapshot of another runtime, for each way to keep memories.
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

const BACKENDS: &[InstallBackend] = &[InstallBackend::Sqlite, InstallBackend::Markdown];
const LAYOUTS: &[InstallLayout] = &[InstallLayout::Data, InstallLayout::Workspace];

/// What is the same in ZeroClaw however it keeps memories.
const PERSONA: &[Row] = &[
    native("identity", "soul", "SOUL.md"),
    native("identity", "identity_profile", "IDENTITY.md"),
    native("identity", "operating_instructions", "AGENTS.md"),
    native("identity", "tools_guidance", "TOOLS.md"),
    native("identity", "heartbeat_checklist", "HEARTBEAT.md"),
    native("identity", "bootstrap", "BOOTSTRAP.md"),
    native("identity", "names", "IDENTITY.md or AIEOS"),
    native("identity", "role", "IDENTITY.md or AIEOS"),
    native("identity", "goals", "IDENTITY.md or AIEOS"),
    native("identity", "psychology", "AIEOS"),
    native("identity", "linguistics", "AIEOS"),
    native("identity", "capabilities", "IDENTITY.md or AIEOS"),
    native("identity", "sub_agents", "sections of AGENTS.md"),
    aside("identity", "*", "ZeroClaw has no file for it"),
    native("principals", "*", "USER.md"),
    native_secret("credentials", "a secret of config.toml"),
    nowhere("memory", DELETED, "only a deletion marker remains"),
    aside("memory", BLANK, "there is nothing to read"),
];

const ENTRIES: &[Row] = &[
    native("memory", "curated", "an entry of category core"),
    native("memory", "facts", "an entry of category core"),
    native("memory", "daily", "an entry of category daily"),
    native("memory", "procedural", "an entry of category procedural"),
    native("memory", "project", "an entry of category project"),
    native("memory", "session", "an entry of category conversation"),
    native("memory", "core", "an entry of category core"),
    native("memory", "conversation", "an entry of category conversation"),
    native("memory", "custom:*", "an entry of that category"),
    native("memory", "*", "an entry whose category is the namespace"),
];

const FILES: &[Row] = &[
    native("files", "artifacts", "the file itself"),
    native("files", "raw/zeroclaw/config.toml", "settings that config.toml does not have yet"),
    nowhere("files", "raw/zeroclaw/.alf-database.json", "describes the database for the archive"),
    native("files", "raw/*", "the file itself where ZeroClaw knows it, else the sidecar"),
];

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
            // Its kind says that it is a preference.
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

const MARKDOWN: &[Row] = &[
    aside("memory", "session", "the runtime keeps transcripts in its own store"),
    native("memory", "curated", "an entry of MEMORY.md"),
    native("memory", "core", "an entry of MEMORY.md"),
    native("memory", "daily", "an entry of memory/YYYY-MM-DD.md"),
    native("memory", "conversation", "an entry of memory/YYYY-MM-DD.md"),
    native("memory", "*", "an entry of MEMORY.md, or of the log of its day"),
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

/// Returns whether ZeroClaw's Markdown has a record in the log of its day, and not in `MEMORY.md`.
fn is_in_log(record: &Record) -> bool {
    file_of(record) != CURATED
}
