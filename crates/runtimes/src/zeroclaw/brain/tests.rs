use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::kit::database::tests::machine;

/// The shapes that the table has had, by the versions that made them.
pub(in crate::zeroclaw) const SHAPES: [(&str, &str); 8] = [
    (
        "A",
        "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE,
         content TEXT NOT NULL, category TEXT NOT NULL DEFAULT 'core',
         created_at TEXT NOT NULL, updated_at TEXT NOT NULL);",
    ),
    (
        "B",
        "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE,
         content TEXT NOT NULL, category TEXT NOT NULL DEFAULT 'core', embedding BLOB,
         created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
         CREATE VIRTUAL TABLE memories_fts USING fts5(key, content, content=memories,
         content_rowid=rowid);
         CREATE TABLE embedding_cache (content_hash TEXT PRIMARY KEY, embedding BLOB NOT NULL,
         created_at TEXT NOT NULL, accessed_at TEXT NOT NULL);",
    ),
    (
        "C",
        "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE,
         content TEXT NOT NULL, category TEXT NOT NULL DEFAULT 'core', embedding BLOB,
         created_at TEXT NOT NULL, updated_at TEXT NOT NULL, session_id TEXT);",
    ),
    (
        "D",
        "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE,
         content TEXT NOT NULL, category TEXT NOT NULL DEFAULT 'core', embedding BLOB,
         created_at TEXT NOT NULL, updated_at TEXT NOT NULL, session_id TEXT,
         namespace TEXT DEFAULT 'default', importance REAL DEFAULT 0.5, superseded_by TEXT);",
    ),
    (
        "E",
        "CREATE TABLE agents (id TEXT PRIMARY KEY, alias TEXT NOT NULL UNIQUE,
         created_at TEXT NOT NULL);
         INSERT INTO agents VALUES ('a-1', 'default', '2026-01-01T00:00:00+00:00');
         CREATE TABLE schema_version (component TEXT PRIMARY KEY, version INTEGER NOT NULL,
         applied_at TEXT NOT NULL);
         INSERT INTO schema_version VALUES ('memories', 1, '2026-01-01T00:00:00+00:00');
         CREATE TABLE \"memories\" (id TEXT PRIMARY KEY, key TEXT NOT NULL,
         content TEXT NOT NULL, category TEXT NOT NULL DEFAULT 'core', embedding BLOB,
         created_at TEXT NOT NULL, updated_at TEXT NOT NULL, session_id TEXT,
         namespace TEXT DEFAULT 'default', importance REAL DEFAULT 0.5, superseded_by TEXT,
         agent_id TEXT NOT NULL DEFAULT 'a-1' REFERENCES agents(id), UNIQUE (agent_id, key));",
    ),
    (
        "G",
        "CREATE TABLE agents (id TEXT PRIMARY KEY, alias TEXT NOT NULL UNIQUE,
         created_at TEXT NOT NULL);
         INSERT INTO agents VALUES ('a-1', 'default', '2026-01-01T00:00:00+00:00');
         CREATE TABLE memory_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
         INSERT INTO memory_meta VALUES ('embedding_provider', 'openai'),
         ('embedding_model', 'text-embedding-3-small'), ('embedding_dimensions', '2');
         CREATE TABLE \"memories\" (id TEXT PRIMARY KEY, key TEXT NOT NULL,
         content TEXT NOT NULL, category TEXT NOT NULL DEFAULT 'core', embedding BLOB,
         created_at TEXT NOT NULL, updated_at TEXT NOT NULL, session_id TEXT,
         namespace TEXT DEFAULT 'default', importance REAL DEFAULT 0.5, superseded_by TEXT,
         agent_id TEXT NOT NULL DEFAULT 'a-1' REFERENCES agents(id), kind TEXT,
         pinned INTEGER NOT NULL DEFAULT 0, tenant_id TEXT, principal_id TEXT,
         UNIQUE (agent_id, key));",
    ),
    (
        "H",
        "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE,
         content TEXT NOT NULL, category TEXT NOT NULL DEFAULT 'core', embedding BLOB,
         created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
         CREATE INDEX idx_mem_key ON memories(key);
         CREATE TABLE embedding_cache (content_hash TEXT PRIMARY KEY, embedding BLOB NOT NULL,
         created_at TEXT NOT NULL);",
    ),
    (
        "seed",
        "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL, content TEXT NOT NULL,
         category TEXT NOT NULL, timestamp TEXT NOT NULL, embedding BLOB);",
    ),
];

/// Returns the statements that make a shape.
pub(in crate::zeroclaw) fn shape(name: &str) -> &'static str {
    SHAPES.iter().find(|(known, _)| *known == name).unwrap().1
}

/// A database and the folder of its copy.
pub(in crate::zeroclaw) struct TestBrain {
    brain: Brain,
    _home: TempDir,
}

impl std::ops::Deref for TestBrain {
    type Target = Brain;

    fn deref(&self) -> &Brain {
        &self.brain
    }
}

/// Makes a database and opens it.
pub(in crate::zeroclaw) fn brain(sql: &str) -> Option<TestBrain> {
    let home = TempDir::new().unwrap();
    let path = home.path().join("brain.db");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let brain = Brain::open(&machine(home.path()), &path).unwrap()?;
    Some(TestBrain { brain, _home: home })
}

/// Returns the rows of an agent.
pub(in crate::zeroclaw) fn rows(
    brain: &Brain,
    alias: &str,
    private: bool,
) -> (Vec<MemoryRow>, RowCounts) {
    let mut rows = Vec::new();
    let counts = brain.each_row::<DatabaseError>(alias, private, &mut |row| {
        rows.push(row);
        Ok(())
    });
    (rows, counts.unwrap())
}

fn keys(brain: &Brain, alias: &str, private: bool) -> (Vec<String>, RowCounts) {
    let key = position_of(&brain.columns, "key").unwrap();
    let (rows, counts) = rows(brain, alias, private);
    (rows.iter().map(|row| row.cells[key].as_text().unwrap().to_owned()).collect(), counts)
}

#[test]
fn every_shape_is_read_in_the_order_of_its_rows() {
    for (name, sql) in SHAPES {
        let times = if name == "seed" { "timestamp" } else { "created_at, updated_at" };
        let values = if name == "seed" { "'t'" } else { "'t', 't'" };
        let row = |n: u8, key: &str| {
            format!(
                "INSERT INTO memories (rowid, id, key, content, category, {times})
                 VALUES ({n}, 'id{n}', '{key}', 'text', 'core', {values});"
            )
        };
        let sql = format!("{sql} {}{}", row(9, "first"), row(3, "second"));
        let brain = brain(&sql).unwrap();
        let (keys, counts) = keys(&brain, DEFAULT_ALIAS, false);
        assert_eq!(keys, ["second", "first"], "{name}");
        assert_eq!(counts, RowCounts { rows: 2, private: 0, others: 0 }, "{name}");
        assert_eq!(brain.agents.is_empty(), !matches!(name, "E" | "G"), "{name}");
    }
}

#[test]
fn what_is_not_a_plain_table_holds_no_memories() {
    for sql in [
        "",
        "CREATE TABLE other(key);",
        "CREATE TABLE other(key); CREATE VIEW memories AS SELECT key FROM other;",
        "CREATE VIRTUAL TABLE memories USING fts5(key, content);",
    ] {
        assert!(brain(sql).is_none(), "{sql}");
    }
}

#[test]
fn rows_of_nobody_are_of_the_default_agent() {
    let sql = "CREATE TABLE agents (id TEXT, alias TEXT, created_at TEXT);
        INSERT INTO agents VALUES ('1', 'default', 't'), ('2', 'alpha', 't');
        CREATE TABLE memories (key TEXT, agent_id);
        INSERT INTO memories VALUES ('a', '1'), ('b', '2'), ('c', NULL), ('d', '3'), ('e', 2);";
    let brain = brain(sql).unwrap();
    let of = |alias| keys(&brain, alias, false);
    let (default, counts) = of("default");
    assert_eq!(default, ["a", "c", "d", "e"]);
    assert_eq!(counts, RowCounts { rows: 4, private: 0, others: 1 });
    assert_eq!(of("alpha").0, ["b"]);
    assert_eq!(of("beta"), (vec![], RowCounts { rows: 0, private: 0, others: 5 }));
}

#[test]
fn a_database_for_one_agent_is_any_agents() {
    let sql = "CREATE TABLE agents (id TEXT, alias TEXT, created_at TEXT);
        INSERT INTO agents VALUES ('1', 'default', 't');
        CREATE TABLE memories (key TEXT); INSERT INTO memories VALUES ('a');";
    assert_eq!(keys(&brain(sql).unwrap(), "alpha", false).0, ["a"]);
}

#[test]
fn what_is_somebodys_own_is_only_counted() {
    let sql = "CREATE TABLE memories (key TEXT, principal_id TEXT);
        INSERT INTO memories VALUES ('a', NULL), ('b', 'p-42'),
        ('p|12:principal-427:default-|secret_pref', 'principal-42'), ('p|x', NULL), ('c', '');";
    let brain = brain(sql).unwrap();
    let (open, counts) = keys(&brain, DEFAULT_ALIAS, false);
    assert_eq!(open, ["a"]);
    assert_eq!(counts, RowCounts { rows: 1, private: 4, others: 0 });
    assert_eq!(keys(&brain, DEFAULT_ALIAS, true).1.rows, 5);
}

#[test]
fn the_description_is_for_people_and_for_the_way_back() {
    let sql = "CREATE TABLE agents (id TEXT, alias TEXT, created_at TEXT);
        INSERT INTO agents VALUES ('1', 'alpha', '2026-01-01T00:00:00Z');
        CREATE TABLE memory_meta (key TEXT, value TEXT);
        INSERT INTO memory_meta VALUES ('embedding_provider', 'openai'), ('a', 'b');
        CREATE TABLE schema_version (component TEXT, version INTEGER, applied_at TEXT);
        INSERT INTO schema_version VALUES ('memories', 1, 't');
        CREATE TABLE memories (key TEXT NOT NULL DEFAULT 'it''s', x, y AS (key || x));";
    let brain = brain(sql).unwrap();
    let expected = r#"{
  "agent": {
    "alias": "alpha",
    "created_at": "2026-01-01T00:00:00Z",
    "id": "1"
  },
  "layout_columns": [
    {
      "default": "'it''s'",
      "name": "key",
      "not_null": true,
      "type": "TEXT"
    },
    {
      "default": null,
      "name": "x",
      "not_null": false,
      "type": ""
    }
  ],
  "meta": {
    "a": "b",
    "embedding_provider": "openai"
  },
  "schema_version": [
    {
      "applied_at": "t",
      "component": "memories",
      "version": 1
    }
  ]
}
"#;
    assert_eq!(brain.description("alpha"), expected);
    assert!(brain.description("default").starts_with("{\n  \"agent\": null,\n"));
    assert_eq!(brain.columns, ["key", "x"]);
}

#[test]
fn a_fingerprint_changes_with_the_rows_and_only_then() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("brain.db");
    let owner = Connection::open(&path).unwrap();
    let sql = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
        CREATE TABLE memories (key TEXT); INSERT INTO memories VALUES ('a');";
    owner.execute_batch(sql).unwrap();
    let machine = machine(home.path());
    let fingerprint = || {
        let brain = Brain::open(&machine, &path).unwrap().unwrap();
        let before = brain.fingerprint().unwrap();
        rows(&brain, DEFAULT_ALIAS, false);
        assert_eq!(brain.fingerprint().unwrap(), before);
        before
    };
    let first = fingerprint();
    assert_eq!(fingerprint(), first);
    owner.execute("UPDATE memories SET key = 'b'", []).unwrap();
    assert_ne!(fingerprint(), first);
}

#[test]
fn a_fingerprint_is_the_same_before_and_after_a_journal_is_played_back() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("brain.db");
    let owner = Connection::open(&path).unwrap();
    let sql = "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 2;
        CREATE TABLE memories (key TEXT, filler); INSERT INTO memories VALUES ('a', NULL);
        BEGIN; UPDATE memories SET key = 'b';
        WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 200)
        INSERT INTO memories SELECT 'c', zeroblob(3000) FROM c;";
    owner.execute_batch(sql).unwrap();
    let machine = machine(home.path());
    let fingerprint = || {
        let brain = Brain::open(&machine, &path).unwrap().unwrap();
        assert_eq!(keys(&brain, DEFAULT_ALIAS, false).0, ["a"]);
        brain.fingerprint().unwrap()
    };
    assert_eq!(fingerprint(), fingerprint());
}

#[test]
fn a_table_may_lack_row_numbers_or_have_a_column_of_that_name() {
    let sql = "CREATE TABLE memories (key TEXT PRIMARY KEY) WITHOUT ROWID;
        INSERT INTO memories VALUES ('b'), ('a');";
    let (kept, _) = rows(&brain(sql).unwrap(), DEFAULT_ALIAS, false);
    assert_eq!(kept.iter().map(|row| row.rowid).collect::<Vec<_>>(), [0, 1]);
    let sql = "CREATE TABLE Memories (rowid TEXT, key TEXT);
        INSERT INTO memories VALUES ('x', 'b'), ('x', 'a');";
    let (kept, _) = rows(&brain(sql).unwrap(), DEFAULT_ALIAS, false);
    assert_eq!(kept.iter().map(|row| row.position).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(kept[0].cells[0], Value::Text("x".to_owned()));
}

#[test]
fn a_name_that_is_longer_than_names_are_is_none() {
    let sql = "CREATE TABLE agents (id TEXT, alias TEXT, created_at TEXT);
        INSERT INTO agents VALUES (printf('%.*c', 5000, 'x'), 'a', 't'), ('2', 'b', x'00');
        CREATE TABLE memories (key TEXT);";
    let brain = brain(sql).unwrap();
    assert_eq!(brain.agents.len(), 1);
    assert_eq!(brain.agents[0].created_at, "");
}
