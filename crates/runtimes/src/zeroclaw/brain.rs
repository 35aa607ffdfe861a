//! The database of memories, in every shape it has had.
//!
//! The table has grown from six columns to sixteen, its columns stand in any order, and people add
//! their own: so nothing is expected but its name, and every column is read by name. An install
//! since 0.8 keeps the memories of all its agents in one table.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::OnceLock;

use serde::Serialize;

use super::DEFAULT_ALIAS;
use super::schema::{MEMORIES, PRIVATE_KEY, STAMP_COLUMNS, STAMPS};
use crate::kit::agent::Machine;
use crate::kit::database::{Column, Database, DatabaseError, Read, Table, Value};
use crate::kit::stamps::RowStamp;

/// The table of memories.
pub(super) const TABLE: &str = MEMORIES;
/// Where an archive describes the database, below `raw/zeroclaw`: the agent's row, what made the
/// vectors, the columns with their types. Never written into a workspace.
pub(super) const DESCRIPTION: &str = ".alf-database.json";

/// The most of the table of stamps that is kept in memory.
const MAX_STAMPS_BYTES: usize = 64 << 20;

/// The most agents, settings and versions that are read.
const MAX_LISTED: usize = 10_000;
/// The longest name or setting that is taken.
const MAX_TEXT_BYTES: usize = 4_096;

/// An open database of memories.
pub(super) struct Brain {
    database: Database,
    /// The table's name as it is spelled there.
    table: String,
    /// The names of all tables.
    pub(super) tables: Vec<String>,
    /// The columns of [`TABLE`], in order, without `rowid` and without those that are computed.
    pub(super) columns: Vec<String>,
    /// The agents that it knows; empty in a database for one agent.
    pub(super) agents: Vec<AgentRow>,
    /// `memory_meta`, if it is there.
    pub(super) meta: Vec<(String, String)>,
    layout: Vec<Column>,
    versions: Vec<Version>,
    fingerprint: OnceLock<Option<String>>,
}

/// An agent in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AgentRow {
    pub(super) id: String,
    pub(super) alias: String,
    pub(super) created_at: String,
}

/// A row of [`TABLE`] with every column it has.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) rowid: i64,
    /// Which row of the table it is, from 0, whoever it belongs to.
    pub(super) position: u64,
    /// In the order of [`Brain::columns`].
    pub(super) cells: Vec<Value>,
}

/// The little of a row that says what it is called and what replaces it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RowHead {
    pub(super) rowid: i64,
    pub(super) position: u64,
    pub(super) id: Value,
    pub(super) key: Value,
    pub(super) superseded_by: Value,
    /// Whether it is somebody's own.
    pub(super) is_private: bool,
}

/// What became of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RowCounts {
    /// Rows of this agent that were handed out.
    pub(super) rows: u64,
    /// Rows of this agent that are somebody's own, and were not asked for.
    pub(super) private: u64,
    /// Rows of other agents.
    pub(super) others: u64,
}

/// A row of `schema_version`.
#[derive(Clone, Debug, Serialize)]
struct Version {
    applied_at: String,
    component: String,
    version: i64,
}

/// The description; its fields stand in the order of their names.
#[derive(Serialize)]
struct Description<'a> {
    agent: Option<AgentDescription<'a>>,
    layout_columns: Vec<ColumnDescription<'a>>,
    meta: BTreeMap<&'a str, &'a str>,
    schema_version: &'a [Version],
}

#[derive(Serialize)]
struct AgentDescription<'a> {
    alias: &'a str,
    created_at: &'a str,
    id: &'a str,
}

#[derive(Serialize)]
struct ColumnDescription<'a> {
    default: Option<&'a str>,
    name: &'a str,
    not_null: bool,
    #[serde(rename = "type")]
    kind: &'a str,
}

impl Brain {
    /// Opens a copy of a database; `None` when it holds no memories, as a decoy does.
    pub(super) fn open(machine: &Machine, path: &Path) -> Result<Option<Self>, DatabaseError> {
        let database = Database::open(machine, path)?;
        let fingerprint = OnceLock::new();
        if database.has_journal() {
            // Reading plays it back, and then the bytes are others.
            fingerprint.get_or_init(|| database.digest().ok());
        }
        let tables = database.tables()?;
        let Some(table) = find(&tables, TABLE) else { return Ok(None) };
        let table = table.name.clone();
        let layout = database.columns(&table)?;
        let columns = layout
            .iter()
            .filter(|layout| !layout.generated)
            .map(|layout| layout.name.clone())
            .collect();
        let agents = agents(&database, &tables)?;
        let meta = listed(&database, &tables, "memory_meta", &["key", "value"])?;
        let meta = meta.iter().filter_map(|row| Some((text(&row[0])?, text(&row[1])?))).collect();
        let columns_of_versions = ["component", "version", "applied_at"];
        let versions = listed(&database, &tables, "schema_version", &columns_of_versions)?;
        let version = |row: &Vec<Value>| {
            Some(Version {
                component: text(&row[0])?,
                version: row[1].as_integer()?,
                applied_at: text(&row[2]).unwrap_or_default(),
            })
        };
        let versions = versions.iter().filter_map(version).collect();
        let tables = tables.into_iter().map(|table| table.name).collect();
        Ok(Some(Self {
            database,
            table,
            tables,
            columns,
            agents,
            meta,
            layout,
            versions,
            fingerprint,
        }))
    }

    /// Returns a digest of everything in it, to tell whether it changed. It is one over the bytes:
    /// a database that was only tidied up has another.
    pub(super) fn fingerprint(&self) -> Option<String> {
        self.fingerprint.get_or_init(|| self.database.digest().ok()).clone()
    }

    /// Reads where rows come from, by their ids, and how many rows of that are too much to keep. A
    /// table that is not like ours says nothing.
    pub(super) fn stamps(&self) -> (HashMap<String, RowStamp>, u64) {
        let mut found = HashMap::new();
        let (mut left, mut unread) = (MAX_STAMPS_BYTES, 0);
        let Some(table) = self.tables.iter().find(|table| table.eq_ignore_ascii_case(STAMPS))
        else {
            return (found, unread);
        };
        let read = Read::of(table, &STAMP_COLUMNS).ordered_by(&["rowid"]);
        let Ok(rows) = self.database.rows(&read) else { return (found, unread) };
        for row in rows.map_while(Result::ok) {
            let mut cells = row.into_iter().map(shortened).map(|value| text(&value));
            let mut next = || cells.next().flatten();
            let (id, origin, at) = (next(), next(), next());
            let (session, source) = (next(), next());
            let (Some(id), Some(origin), Some(at)) = (id, origin, at) else { continue };
            let length = |option: &Option<String>| option.as_ref().map_or(0, String::len);
            let bytes = id.len() + origin.len() + at.len() + length(&session) + length(&source);
            match left.checked_sub(bytes) {
                Some(rest) => {
                    left = rest;
                    found.insert(id, RowStamp { origin, at, session, source });
                }
                None => unread += 1,
            }
        }
        (found, unread)
    }

    /// Returns an agent of the database.
    pub(super) fn agent(&self, alias: &str) -> Option<&AgentRow> {
        self.agents.iter().find(|agent| agent.alias == alias)
    }

    /// Returns a setting of `memory_meta`.
    pub(super) fn setting(&self, key: &str) -> Option<&str> {
        self.meta.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Describes the database for one agent, as JSON; see [`DESCRIPTION`].
    pub(super) fn description(&self, alias: &str) -> String {
        let description = Description {
            agent: self.agent(alias).map(|agent| AgentDescription {
                alias: &agent.alias,
                created_at: &agent.created_at,
                id: &agent.id,
            }),
            layout_columns: self
                .layout
                .iter()
                .filter(|column| !column.generated)
                .map(|column| ColumnDescription {
                    default: column.default.as_deref(),
                    name: &column.name,
                    not_null: column.not_null,
                    kind: &column.kind,
                })
                .collect(),
            meta: self.meta.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect(),
            schema_version: &self.versions,
        };
        let mut text = serde_json::to_string_pretty(&description)
            .expect("texts, numbers and maps with text keys are JSON");
        text.push('\n');
        text
    }

    /// Hands out the rows of one agent in the order of their `rowid`, one by one.
    pub(super) fn each_row<E: From<DatabaseError>>(
        &self,
        alias: &str,
        private: bool,
        take: &mut dyn FnMut(Row) -> Result<(), E>,
    ) -> Result<RowCounts, E> {
        let place = |name: &str| position_of(&self.columns, name);
        let (key, agent, principal) = (place("key"), place("agent_id"), place("principal_id"));
        let owners = self.owners();
        let mut counts = RowCounts::default();
        let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        self.scan(&columns, &mut |rowid, position, cells| {
            let at = |at: Option<usize>| at.and_then(|at| cells.get(at)).unwrap_or(&Value::Null);
            if agent.is_some() && !owners.has(alias, at(agent)) {
                counts.others += 1;
            } else if !private && is_private(at(key), at(principal)) {
                counts.private += 1;
            } else {
                counts.rows += 1;
                take(Row { rowid, position, cells })?;
            }
            Ok::<_, E>(())
        })?;
        Ok(counts)
    }

    /// Hands out the little that [`RowHead`] has of every row of one agent, in the same order.
    pub(super) fn each_head<E: From<DatabaseError>>(
        &self,
        alias: &str,
        take: &mut dyn FnMut(RowHead) -> Result<(), E>,
    ) -> Result<(), E> {
        let has_agents = position_of(&self.columns, "agent_id").is_some();
        let owners = self.owners();
        let columns = ["id", "key", "superseded_by", "agent_id", "principal_id"];
        self.scan(&columns, &mut |rowid, position, cells| {
            let Ok([id, key, superseded_by, agent, principal]) = <[Value; 5]>::try_from(cells)
            else {
                return Ok(());
            };
            if has_agents && !owners.has(alias, &agent) {
                return Ok(());
            }
            let is_private = is_private(&key, &principal);
            take(RowHead { rowid, position, id, key, superseded_by, is_private })
        })
    }

    /// Hands out some columns of every row, whoever it belongs to, in the order of their `rowid`:
    /// the `rowid`, which row of the table it is, and the cells.
    pub(super) fn scan<E: From<DatabaseError>>(
        &self,
        columns: &[&str],
        take: &mut dyn FnMut(i64, u64, Vec<Value>) -> Result<(), E>,
    ) -> Result<(), E> {
        let columns = [columns, &["rowid"]].concat();
        let read = Read::of(&self.table, &columns).ordered_by(&["rowid"]);
        for (row, position) in self.database.rows(&read)?.zip(0_u64..) {
            let mut cells = row?;
            // A table that was made without has none, and then its rows have an order all the same.
            let rowid = cells.pop().and_then(|rowid| rowid.as_integer());
            let rowid = rowid.unwrap_or_else(|| i64::try_from(position).unwrap_or(i64::MAX));
            take(rowid, position, cells)?;
        }
        Ok(())
    }

    /// Returns whose rows are whose.
    pub(super) fn owners(&self) -> Owners<'_> {
        Owners(self.agents.iter().map(|agent| (&*agent.id, &*agent.alias)).collect())
    }
}

/// Whose rows are whose: aliases by the ids of agents.
pub(super) struct Owners<'a>(HashMap<&'a str, &'a str>);

impl Owners<'_> {
    /// Says whether a row is of the agent. One that names no agent, or one that nobody knows, is of
    /// the default agent, as the program itself sees it.
    pub(super) fn has(&self, alias: &str, agent_id: &Value) -> bool {
        self.named(agent_id).unwrap_or(DEFAULT_ALIAS) == alias
    }

    /// Returns the agent that a row names, if it is known.
    pub(super) fn named(&self, agent_id: &Value) -> Option<&str> {
        agent_id.as_text().and_then(|id| self.0.get(id).copied())
    }
}

/// Says whether a row is somebody's own.
fn is_private(key: &Value, principal: &Value) -> bool {
    let marked = match key {
        Value::Text(key) => key.starts_with(PRIVATE_KEY),
        Value::OddText(key) | Value::Blob(key) => key.starts_with(PRIVATE_KEY.as_bytes()),
        Value::Null | Value::Integer(_) | Value::Real(_) | Value::TooLong(_) => false,
    };
    marked || *principal != Value::Null
}

/// Finds a column, as SQLite compares names.
pub(super) fn position_of(columns: &[String], name: &str) -> Option<usize> {
    columns.iter().position(|column| column.eq_ignore_ascii_case(name))
}

fn find<'a>(tables: &'a [Table], name: &str) -> Option<&'a Table> {
    tables.iter().find(|table| table.name.eq_ignore_ascii_case(name))
}

fn text(value: &Value) -> Option<String> {
    value.as_text().map(str::to_owned)
}

fn agents(database: &Database, tables: &[Table]) -> Result<Vec<AgentRow>, DatabaseError> {
    let rows = listed(database, tables, "agents", &["id", "alias", "created_at"])?;
    let agent = |row: Vec<Value>| {
        let created_at = text(&row[2]).unwrap_or_default();
        Some(AgentRow { id: text(&row[0])?, alias: text(&row[1])?, created_at })
    };
    Ok(rows.into_iter().filter_map(agent).collect())
}

/// Reads a small table; one that is not there has no rows.
fn listed(
    database: &Database,
    tables: &[Table],
    name: &str,
    columns: &[&str],
) -> Result<Vec<Vec<Value>>, DatabaseError> {
    let Some(table) = find(tables, name) else { return Ok(Vec::new()) };
    let mut rows = Vec::new();
    for row in database.rows(&Read::of(&table.name, columns).ordered_by(&["rowid"]))? {
        if rows.len() == MAX_LISTED {
            let detail = format!("the table {name} has more than {MAX_LISTED} rows");
            return Err(DatabaseError::Failed { detail });
        }
        rows.push(row?.into_iter().map(shortened).collect());
    }
    Ok(rows)
}

/// Takes nothing that is longer than a name or a setting is.
fn shortened(value: Value) -> Value {
    match value {
        Value::Text(text) if text.len() > MAX_TEXT_BYTES => Value::Null,
        Value::OddText(_) | Value::Blob(_) | Value::TooLong(_) => Value::Null,
        other => other,
    }
}

#[cfg(test)]
pub(super) mod tests {
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

    /// A database and the folder in which its copy lies.
    pub(in crate::zeroclaw) struct Opened {
        brain: Brain,
        _home: TempDir,
    }

    impl std::ops::Deref for Opened {
        type Target = Brain;

        fn deref(&self) -> &Brain {
            &self.brain
        }
    }

    /// Makes a database and opens it.
    pub(in crate::zeroclaw) fn brain(sql: &str) -> Option<Opened> {
        let home = TempDir::new().unwrap();
        let path = home.path().join("brain.db");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let brain = Brain::open(&machine(home.path()), &path).unwrap()?;
        Some(Opened { brain, _home: home })
    }

    /// Returns the rows of an agent.
    pub(in crate::zeroclaw) fn rows(
        brain: &Brain,
        alias: &str,
        private: bool,
    ) -> (Vec<Row>, RowCounts) {
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
}
