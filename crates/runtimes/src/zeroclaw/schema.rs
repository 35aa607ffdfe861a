//! The schema of ZeroClaw's database of memories, and our own table in it.
//!
//! Two callers write to such a database, and share everything here. Their policies differ where
//! they have to:
//!
//! - The restore ([`database`](crate::kit::database)) writes many rows of an archive in a process of its
//!   own while the agent is stopped. Triggers are switched off, the full-text index is rebuilt once
//!   at the end, and a writer that holds the lock means that the agent still runs: it waits only
//!   [`RowSchema::wait`] and then refuses.
//! - The living memory ([`memory`](super::memory)) changes a few rows beside a running agent.
//!   ZeroClaw's three triggers must run, because they keep the full-text index in step. So a
//!   database with any other trigger is refused, and it waits [`WAIT_TO_CHANGE`] for the agent.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::kit::{OwnerTable, RowSchema};

/// How long a change of a few rows waits for another writer: the agent may be at work.
pub(crate) const WAIT_TO_CHANGE: Duration = Duration::from_secs(10);

/// The prefix of keys of rows that belong to one person.
pub(crate) const PRIVATE_KEY: &str = "p|";

/// The columns that the runtime knows, with their definitions in a new table.
pub(crate) const KNOWN: [(&str, &str); 16] = [
    ("id", "TEXT PRIMARY KEY"),
    ("key", "TEXT NOT NULL"),
    ("content", "TEXT NOT NULL"),
    ("category", "TEXT NOT NULL DEFAULT 'core'"),
    ("embedding", "BLOB"),
    ("created_at", "TEXT NOT NULL"),
    ("updated_at", "TEXT NOT NULL"),
    ("session_id", "TEXT"),
    ("namespace", "TEXT DEFAULT 'default'"),
    ("importance", "REAL DEFAULT 0.5"),
    ("superseded_by", "TEXT"),
    ("agent_id", "TEXT NOT NULL REFERENCES agents(id)"),
    ("kind", "TEXT"),
    ("pinned", "INTEGER NOT NULL DEFAULT 0"),
    ("tenant_id", "TEXT"),
    ("principal_id", "TEXT"),
];

/// Without these columns no row is changed beside a running agent: ZeroClaw has them since
/// 2026-02-17.
pub(crate) const NEEDED: [&str; 8] =
    ["id", "key", "content", "category", "embedding", "created_at", "updated_at", "session_id"];

/// The columns without which a database of the first documents is not changed. It states one time
/// for a row, and has no session.
pub(crate) const NEEDED_WITH_TIMESTAMP: [&str; 5] = ["id", "key", "content", "category", TIMESTAMP];
/// The time of a row in a database of the first documents.
pub(crate) const TIMESTAMP: &str = "timestamp";

/// The agents that share a database.
const AGENTS: &str = "CREATE TABLE IF NOT EXISTS agents (
    id          TEXT PRIMARY KEY,
    alias       TEXT NOT NULL UNIQUE,
    created_at  TEXT NOT NULL
);";
/// The maker of the vectors.
const META: &str = "CREATE TABLE IF NOT EXISTS memory_meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
);";
/// Vectors of texts.
const CACHE: &str = "CREATE TABLE IF NOT EXISTS embedding_cache (
    content_hash TEXT PRIMARY KEY,
    embedding    BLOB NOT NULL,
    created_at   TEXT NOT NULL,
    accessed_at  TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_cache_accessed ON embedding_cache(accessed_at);";
/// The version of the schema.
const VERSION: &str = "CREATE TABLE IF NOT EXISTS schema_version (
    component  TEXT PRIMARY KEY,
    version    INTEGER NOT NULL,
    applied_at TEXT NOT NULL
);";
/// Our own table of where rows come from, for which the runtime has no column; it keeps tables that
/// it does not know.
pub(crate) const STAMPS: &str = "anemone_stamps";
/// Its columns.
pub(crate) const STAMP_COLUMNS: [&str; 5] = ["memory_id", "origin", "at", "session", "source"];
/// Creates it.
pub(crate) const MAKE_STAMPS: &str = "CREATE TABLE IF NOT EXISTS anemone_stamps (
    memory_id TEXT PRIMARY KEY, origin TEXT NOT NULL, at TEXT NOT NULL, session TEXT, source TEXT
);";
/// Stamps a row by its number.
pub(crate) const STAMP_ROW: &str = "INSERT OR REPLACE INTO main.anemone_stamps
    (memory_id, origin, at, session, source)
    SELECT id, ?2, ?3, ?4, ?5 FROM main.memories WHERE rowid = ?1 AND id IS NOT NULL";
/// Removes the stamp of a row by its id.
pub(crate) const DROP_STAMP: &str = "DELETE FROM anemone_stamps WHERE memory_id = ?1";
/// Whether the table exists.
pub(crate) const HAS_STAMPS: &str = "SELECT 1 FROM sqlite_schema WHERE name = 'anemone_stamps'";

/// The triggers that keep the full-text index in step.
const TRIGGERS: [(&str, &str); 3] = [
    (
        "memories_ai",
        "CREATE TRIGGER memories_ai AFTER INSERT ON memories BEGIN
            INSERT INTO memories_fts(rowid, key, content)
            VALUES (new.rowid, new.key, new.content);
        END",
    ),
    (
        "memories_ad",
        "CREATE TRIGGER memories_ad AFTER DELETE ON memories BEGIN
            INSERT INTO memories_fts(memories_fts, rowid, key, content)
            VALUES ('delete', old.rowid, old.key, old.content);
        END",
    ),
    (
        "memories_au",
        "CREATE TRIGGER memories_au AFTER UPDATE ON memories BEGIN
            INSERT INTO memories_fts(memories_fts, rowid, key, content)
            VALUES ('delete', old.rowid, old.key, old.content);
            INSERT INTO memories_fts(rowid, key, content)
            VALUES (new.rowid, new.key, new.content);
        END",
    ),
];

/// Indexes, with the columns that they need.
const INDEXES: [(&str, &[&str]); 7] = [
    ("idx_memories_category", &["category"]),
    ("idx_memories_key", &["key"]),
    ("idx_memories_session", &["session_id"]),
    ("idx_memories_namespace", &["namespace"]),
    ("idx_memories_agent_id", &["agent_id"]),
    ("idx_memories_namespace_category", &["namespace", "category"]),
    ("idx_memories_principal", &["principal_id"]),
];

/// How ZeroClaw keeps memories in rows.
pub(crate) static SCHEMA: RowSchema = RowSchema {
    table: "memories",
    key: "key",
    owner: "agent_id",
    columns: &KNOWN,
    addable: &[
        "embedding",
        "session_id",
        "namespace",
        "importance",
        "superseded_by",
        "kind",
        "pinned",
        "tenant_id",
        "principal_id",
    ],
    unique_key: "UNIQUE (agent_id, key)",
    indexes: &INDEXES,
    search: (
        "memories_fts",
        "CREATE VIRTUAL TABLE memories_fts USING fts5(
    key, content, content=memories, content_rowid=rowid
)",
    ),
    triggers: &TRIGGERS,
    owners: OwnerTable {
        name: "agents",
        make: AGENTS,
        find: "SELECT id FROM agents WHERE alias = ?1",
        add: "INSERT INTO agents (id, alias, created_at) VALUES (?1, ?2, ?3)",
        change: "UPDATE agents SET id = ?1, created_at = ?2 WHERE id = ?3",
    },
    settings: ("memory_meta", META, "INSERT OR IGNORE INTO memory_meta VALUES (?1, ?2)"),
    make_versions: VERSION,
    set_version: "INSERT OR REPLACE INTO schema_version VALUES ('memories', 1, ?1)",
    make_others: CACHE,
    stamps: (STAMPS, MAKE_STAMPS, STAMP_ROW),
    wait: Duration::from_millis(500),
};

/// Returns the statements that create everything that the newest ZeroClaw creates when it starts,
/// except for the version.
pub(crate) fn new_database() -> String {
    let RowSchema { table, unique_key, search: (_, search), .. } = &SCHEMA;
    let columns: Vec<String> =
        KNOWN.iter().map(|(name, definition)| format!("{name} {definition}")).collect();
    let columns = columns.join(",\n    ");
    let memories = format!("CREATE TABLE {table} (\n    {columns},\n    {unique_key}\n);");
    let indexes: String = SCHEMA.indexes(|_| true).collect();
    let triggers: String = TRIGGERS.iter().map(|(_, sql)| format!("{sql};")).collect();
    format!("{AGENTS}{memories}{CACHE}{META}{VERSION}{indexes}{search};{triggers}")
}

/// Writes a time as ZeroClaw does: with nanoseconds and the offset.
pub(crate) fn row_time(now: Timestamp, zone: TimeZone) -> String {
    now.to_zoned(zone).strftime("%Y-%m-%dT%H:%M:%S.%9f%:z").to_string()
}
