//! The schema of ZeroClaw's database of memories, and our own table in it.
//!
//! Two callers write to such a database, and share everything here. Their policies differ where
//! they have to:
//!
//! - The restore ([`database`](crate::kit::database)) writes many rows of an archive in a process of its
//!   own while the agent is stopped. Triggers are switched off, the full-text index is rebuilt once
//!   at the end, and a writer that holds the lock means that the agent still runs: it waits only
//!   [`WAIT_TO_RESTORE`] and then refuses.
//! - The living memory ([`memory`](super::memory)) changes a few rows beside a running agent.
//!   ZeroClaw's three triggers have to run, since they keep the full-text index in step, so a
//!   database with any other trigger is refused, and it waits [`WAIT_TO_CHANGE`] for the agent.

use std::time::Duration;

/// How long a restore waits for another writer: the agent should be stopped.
pub(crate) const WAIT_TO_RESTORE: Duration = Duration::from_millis(500);
/// How long a change of a few rows waits for another writer: the agent may be at work.
pub(crate) const WAIT_TO_CHANGE: Duration = Duration::from_secs(10);

/// The table of memories.
pub(crate) const MEMORIES: &str = "memories";
/// The column by which memories are known.
pub(crate) const KEY: &str = "key";
/// The column that names the owner of a row, where several agents share a database.
pub(crate) const AGENT_ID: &str = "agent_id";
/// How the keys of what belongs to one person begin.
pub(crate) const PRIVATE_KEY: &str = "p|";

/// The columns that the runtime knows, with what it calls them when it makes a table.
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

/// Those that it adds to an older table.
pub(crate) const ADDABLE: [&str; 9] = [
    "embedding",
    "session_id",
    "namespace",
    "importance",
    "superseded_by",
    "kind",
    "pinned",
    "tenant_id",
    "principal_id",
];

/// Columns without which no row is changed beside a running agent: ZeroClaw has them since
/// 2026-02-17.
pub(crate) const NEEDED: [&str; 8] =
    ["id", "key", "content", "category", "embedding", "created_at", "updated_at", "session_id"];

/// The constraint that keeps the key of an agent's memory unique.
pub(crate) const UNIQUE_KEY: &str = "UNIQUE (agent_id, key)";

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

/// The full-text index.
pub(crate) const FTS: &str = "CREATE VIRTUAL TABLE memories_fts USING fts5(
    key, content, content=memories, content_rowid=rowid
)";

/// What keeps the full-text index in step.
pub(crate) const TRIGGERS: [(&str, &str); 3] = [
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

/// The agents that share a database.
pub(crate) const AGENTS: &str = "CREATE TABLE IF NOT EXISTS agents (
    id          TEXT PRIMARY KEY,
    alias       TEXT NOT NULL UNIQUE,
    created_at  TEXT NOT NULL
);";
/// The maker of the vectors.
pub(crate) const META: &str = "CREATE TABLE IF NOT EXISTS memory_meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
);";
/// Vectors of texts.
pub(crate) const CACHE: &str = "CREATE TABLE IF NOT EXISTS embedding_cache (
    content_hash TEXT PRIMARY KEY,
    embedding    BLOB NOT NULL,
    created_at   TEXT NOT NULL,
    accessed_at  TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_cache_accessed ON embedding_cache(accessed_at);";
/// The version of the schema.
pub(crate) const VERSION: &str = "CREATE TABLE IF NOT EXISTS schema_version (
    component  TEXT PRIMARY KEY,
    version    INTEGER NOT NULL,
    applied_at TEXT NOT NULL
);";
/// Notes the version that a new database has; its parameter is the time.
pub(crate) const SET_VERSION: &str =
    "INSERT OR REPLACE INTO schema_version VALUES ('memories', 1, ?1)";

/// Our own table of where rows come from, which the runtime has no column for; it keeps tables that
/// it does not know.
pub(crate) const STAMPS: &str = "anemone_stamps";
/// Its columns.
pub(crate) const STAMP_COLUMNS: [&str; 5] = ["memory_id", "origin", "at", "session", "source"];
/// Makes it.
pub(crate) const MAKE_STAMPS: &str = "CREATE TABLE IF NOT EXISTS anemone_stamps (
    memory_id TEXT PRIMARY KEY, origin TEXT NOT NULL, at TEXT NOT NULL, session TEXT, source TEXT
);";

/// Returns the statements that make the indexes of a table with certain columns.
pub(crate) fn indexes(has: impl Fn(&str) -> bool) -> impl Iterator<Item = String> {
    INDEXES.into_iter().filter(move |(_, on)| on.iter().all(|column| has(column))).map(
        |(name, on)| format!("CREATE INDEX IF NOT EXISTS {name} ON {MEMORIES}({});", on.join(", ")),
    )
}

/// Returns the statements that make everything which the newest ZeroClaw makes when it starts, but
/// for the version.
pub(crate) fn new_database() -> String {
    let columns: Vec<String> =
        KNOWN.iter().map(|(name, definition)| format!("{name} {definition}")).collect();
    let columns = columns.join(",\n    ");
    let memories = format!("CREATE TABLE {MEMORIES} (\n    {columns},\n    {UNIQUE_KEY}\n);");
    let indexes: String = indexes(|_| true).collect();
    let triggers: String = TRIGGERS.iter().map(|(_, sql)| format!("{sql};")).collect();
    format!("{AGENTS}{memories}{CACHE}{META}{VERSION}{indexes}{FTS};{triggers}")
}

/// Returns the name of the runtime's trigger that a statement defines; `None` for any other one.
pub(crate) fn own_trigger(sql: &str) -> Option<&'static str> {
    TRIGGERS.iter().find(|(_, known)| is_same_sql(sql, known)).map(|(name, _)| *name)
}

/// Compares two definitions, whatever their whitespace, their case and how names are quoted.
pub(crate) fn is_same_sql(one: &str, other: &str) -> bool {
    let plain = |sql: &str| {
        let sql: String = sql.chars().filter(|c| !c.is_whitespace() && *c != '"').collect();
        sql.to_ascii_lowercase().replacen("ifnotexists", "", 1)
    };
    plain(one) == plain(other)
}
