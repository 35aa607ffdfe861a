use anemone_format::{
    AgentInfo, Embedding, EmbeddingSource, File, Manifest, MemoryType, Opaque, Record, Relation,
    Snapshot, StampTable, Status, Unknown,
};
use anemone_testkit::SlowGroup;
use rusqlite::Connection;
use tempfile::TempDir;

use super::super::brain::Brain;
use super::super::rows::{RowReader, Shared as ReadShared};
use super::*;
use crate::database::tests::machine;
use crate::source::InMemory;

const NOW: &str = "2026-08-30T12:00:00Z";

fn at(text: &str) -> Moment {
    text.parse().unwrap()
}

fn snapshot() -> Snapshot {
    let id = "9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap();
    Snapshot::new(Manifest::new(AgentInfo::new(id, "Clawdia", RUNTIME), at(NOW)))
}

fn agent(alias: &str, generation: &'static str) -> FoundAgent {
    let found = FoundAgent::without_install(RUNTIME, alias.to_owned(), PathBuf::from("/nowhere"));
    FoundAgent { generation: Some(generation), ..found }
}

fn records<'a>(source: &'a dyn SnapshotSource) -> Records<'a> {
    Records { source, returned: None, in_files: true }
}

/// Reads a database as an export does.
fn export(home: &Path, db: &Path, alias: &str) -> Snapshot {
    let brain = Brain::open(&machine(home), db).unwrap().unwrap();
    let mut snapshot = snapshot();
    let shared = ReadShared {
        agent_id: snapshot.manifest.agent.id,
        alias,
        identity_version: None,
        embedding: None,
        fallback: at("2026-01-01T00:00:00Z"),
        embeddings: true,
        stamps: StampTable::default(),
    };
    let mut reader = RowReader::new(&brain, &shared, HashSet::new()).unwrap();
    let columns = brain.columns.clone();
    brain
        .each_row::<DatabaseError>(alias, true, &mut |row| {
            snapshot.records.push(reader.record(&columns, &row));
            Ok(())
        })
        .unwrap();
    let root = FileRoot::Raw(RUNTIME.to_owned());
    snapshot.files.push(File::new(root, DESCRIPTION, brain.description(alias)));
    snapshot
}

struct Planned {
    draft: PlanBuilder,
    links: Vec<Link>,
}

impl Planned {
    fn step(&self) -> &MemoriesStep {
        self.draft.memories.as_ref().unwrap()
    }

    /// Added, replaced, kept, same.
    fn counts(&self) -> [u64; 4] {
        let step = self.step();
        [step.added, step.replaced, step.kept, step.same]
    }
}

fn planned(
    home: &Path,
    db: &Path,
    snapshot: &Snapshot,
    target: &FoundAgent,
    on_conflict: OnConflict,
) -> Planned {
    let mut draft = PlanBuilder::default();
    let options = PlanOptions::new(on_conflict);
    let source = InMemory::new(snapshot);
    let links = plan(&machine(home), &records(&source), target, db, &options, &mut draft).unwrap();
    Planned { draft, links }
}

fn import(
    home: &Path,
    db: &Path,
    snapshot: &Snapshot,
    target: &FoundAgent,
    on_conflict: OnConflict,
) -> (Planned, Result<Option<PathBuf>, RestoreError>) {
    let planned = planned(home, db, snapshot, target, on_conflict);
    let source = InMemory::new(snapshot);
    let machine = machine(home);
    let result = planned
        .step()
        .check(&machine)
        .and_then(|()| planned.step().apply(&machine, &source, &at(NOW)));
    (planned, result)
}

/// The tables as 0.8.7 makes them.
const TABLES: &str = "
    PRAGMA journal_mode = WAL;
    CREATE TABLE agents (id TEXT PRIMARY KEY, alias TEXT NOT NULL UNIQUE, created_at TEXT NOT NULL);
    CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL, content TEXT NOT NULL,
      category TEXT NOT NULL DEFAULT 'core', embedding BLOB, created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL, session_id TEXT, namespace TEXT DEFAULT 'default',
      importance REAL DEFAULT 0.5, superseded_by TEXT,
      agent_id TEXT NOT NULL REFERENCES agents(id), kind TEXT, pinned INTEGER NOT NULL DEFAULT 0,
      tenant_id TEXT, principal_id TEXT, UNIQUE (agent_id, key));
    CREATE TABLE memory_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE VIRTUAL TABLE memories_fts USING fts5(key, content, content=memories, content_rowid=rowid);
    CREATE TRIGGER memories_ai AFTER INSERT ON memories BEGIN
      INSERT INTO memories_fts(rowid, key, content) VALUES (new.rowid, new.key, new.content); END;
    CREATE TRIGGER memories_ad AFTER DELETE ON memories BEGIN
      INSERT INTO memories_fts(memories_fts, rowid, key, content)
        VALUES ('delete', old.rowid, old.key, old.content); END;
    CREATE TRIGGER memories_au AFTER UPDATE ON memories BEGIN
      INSERT INTO memories_fts(memories_fts, rowid, key, content)
        VALUES ('delete', old.rowid, old.key, old.content);
      INSERT INTO memories_fts(rowid, key, content) VALUES (new.rowid, new.key, new.content); END;
";
const ROWS: &str = "
    INSERT INTO agents VALUES ('a-1', 'default', '2026-06-01T00:00:00+00:00'),
                              ('a-2', 'beta', '2026-06-02T00:00:00+00:00');
    INSERT INTO memory_meta VALUES ('embedding_provider', 'openai'), ('embedding_model', 'm'),
                                   ('embedding_dimensions', '2');
    INSERT INTO memories (rowid, id, key, content, category, embedding, created_at, updated_at,
        session_id, namespace, importance, superseded_by, agent_id, kind, pinned) VALUES
      (3, '11111111-1111-4111-8111-111111111111', 'lang', 'Prefers Rust', 'core',
       x'0000803f00000040', '2026-07-01T08:00:00.123456789+02:00', '2026-07-02T08:00:00+02:00',
       NULL, 'default', 0.7, NULL, 'a-1', '{\"semantic\":\"preference\"}', 1),
      (5, 'not-a-uuid', ' odd key ', '', 'My Notes', NULL, '2026-07-01T09:00:00+02:00',
       '2026-07-01T09:00:00+02:00', 'slack_1', 'ops', NULL, 'lang', 'a-1', NULL, 0),
      (9, '22222222-2222-4222-8222-222222222222', 'lang', 'beta likes Go', 'core', NULL,
       '2026-07-03T08:00:00+00:00', '2026-07-03T08:00:00+00:00', NULL, 'default', 0.5, NULL,
       'a-2', NULL, 0);
";

fn make(db: &Path, sql: &str) -> Connection {
    fs::create_dir_all(db.parent().unwrap()).unwrap();
    let connection = Connection::open(db).unwrap();
    connection.execute_batch(sql).unwrap();
    connection
}

fn query(db: &Path, sql: &str) -> Vec<String> {
    let connection = Connection::open(db).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let count = statement.column_count();
    let rows = statement.query_map([], |row| {
        let cell = |at| match row.get_ref(at).unwrap() {
            rusqlite::types::ValueRef::Null => "NULL".to_owned(),
            rusqlite::types::ValueRef::Integer(number) => number.to_string(),
            rusqlite::types::ValueRef::Real(number) => format!("{number:?}"),
            rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
            rusqlite::types::ValueRef::Blob(bytes) => format!("{bytes:?}"),
        };
        Ok((0..count).map(cell).collect::<Vec<_>>().join("|"))
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// What the runtime does when it stores, changes and forgets; needs an index that is in step.
fn is_usable(db: &Path) {
    let connection = Connection::open(db).unwrap();
    connection
        .execute_batch(
            "UPDATE memories SET content = content || ' edited';
             UPDATE memories SET content = substr(content, 1, length(content) - 7);
             INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1);",
        )
        .unwrap();
    let verdict: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
}

fn foreign(number: u128, namespace: &str, content: &str) -> Record {
    let id = RecordId::new(Uuid::from_u128(number));
    let agent = snapshot().manifest.agent.id;
    let mut record = Record::new(id, agent, "openclaw", at("2026-01-15T10:30:00Z"), content);
    record.namespace = namespace.to_owned();
    record
}

fn with(records: Vec<Record>) -> Snapshot {
    Snapshot { records, ..snapshot() }
}

#[test]
fn rows_become_the_same_rows_in_a_new_database() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/memory/brain.db"));
    drop(make(&from, &format!("{TABLES}{ROWS}")));
    let out = export(home.path(), &from, "default");
    let (planned, result) =
        import(home.path(), &to, &out, &agent("default", "data"), OnConflict::Stop);
    assert_eq!(result.unwrap(), None);
    assert_eq!((planned.counts(), planned.step().made), ([2, 0, 0, 0], true));
    assert_eq!(planned.draft.records, 2);
    assert!(planned.draft.not_restored.is_empty() && planned.draft.warnings.is_empty());
    let all = "SELECT rowid, * FROM memories ORDER BY rowid";
    let mut expected = query(&from, all);
    expected.pop();
    assert_eq!(query(&to, all), expected);
    let agents = "SELECT * FROM agents WHERE alias = 'default'";
    assert_eq!(query(&to, agents), query(&from, agents));
    let meta = "SELECT * FROM memory_meta ORDER BY key";
    assert_eq!(query(&to, meta), query(&from, meta));
    assert_eq!(query(&to, "PRAGMA journal_mode"), ["wal"]);
    assert_eq!(query(&to, "SELECT component, version FROM schema_version"), ["memories|1"]);
    let back = export(home.path(), &to, "default");
    assert_eq!(back.records, out.records);
    is_usable(&to);
    let names: Vec<_> = fs::read_dir(to.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names, ["brain.db"]);
}

#[test]
fn the_other_agents_come_into_the_same_database_and_keep_their_ids() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/brain.db"));
    drop(make(&from, &format!("{TABLES}{ROWS}")));
    for alias in ["beta", "default"] {
        let out = export(home.path(), &from, alias);
        let (_, result) = import(home.path(), &to, &out, &agent(alias, "data"), OnConflict::Stop);
        result.unwrap();
    }
    for all in ["SELECT rowid, * FROM memories ORDER BY rowid", "SELECT * FROM agents ORDER BY id"]
    {
        assert_eq!(query(&to, all), query(&from, all));
    }
    is_usable(&to);
}

#[test]
fn columns_that_nobody_knows_come_along_and_hostile_ones_are_only_names() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/brain.db"));
    drop(make(
        &from,
        "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, content TEXT NOT NULL,
           category TEXT NOT NULL DEFAULT 'core', embedding BLOB, created_at TEXT NOT NULL,
           updated_at TEXT NOT NULL, mood VARCHAR(20), \"a\"\"); DROP TABLE memories; --\" \"x y);z\");
         INSERT INTO memories VALUES ('x', 'k', 'c', 'core', NULL, '2026-01-01T00:00:00Z',
           '2026-01-01T00:00:00Z', 'good', x'01');",
    ));
    let out = export(home.path(), &from, "default");
    for (generation, place) in [("workspace", "b"), ("data", "c")] {
        let to = to.with_file_name(format!("{place}.db"));
        let target = agent("default", generation);
        let (planned, result) = import(home.path(), &to, &out, &target, OnConflict::Stop);
        result.unwrap();
        assert!(planned.draft.not_restored.is_empty(), "{:?}", planned.draft.not_restored);
        assert_eq!(export(home.path(), &to, "default").records, out.records);
        is_usable(&to);
    }
}

#[test]
fn a_table_of_the_first_version_is_made_fit() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/brain.db"));
    drop(make(
        &from,
        "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, content TEXT NOT NULL,
           category TEXT NOT NULL DEFAULT 'core', created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
         INSERT INTO memories VALUES ('x', 'k', 'c', 'core', '2026-02-13T00:00:00+00:00',
           '2026-02-13T00:00:00+00:00');",
    ));
    let out = export(home.path(), &from, "default");
    import(home.path(), &to, &out, &agent("default", "data"), OnConflict::Stop).1.unwrap();
    assert!(
        query(&to, "SELECT name FROM pragma_table_info('memories')").contains(&"embedding".into())
    );
    is_usable(&to);
    // A row goes into the old one, which gets an index that it never had.
    let more = with(vec![foreign(7, "curated", "## New\ntext")]);
    let (planned, result) =
        import(home.path(), &from, &more, &agent("default", "workspace"), OnConflict::Stop);
    assert!(result.unwrap().is_some());
    assert_eq!(planned.counts(), [1, 0, 0, 0]);
    is_usable(&from);
    assert_eq!(query(&from, "SELECT key FROM memories ORDER BY key"), ["k", "new"]);
}

#[test]
fn a_merge_adds_what_is_new_and_copies_the_database_first() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/brain.db"));
    drop(make(&from, &format!("{TABLES}{ROWS}")));
    let runtime = make(
        &to,
        &format!(
            "{TABLES} INSERT INTO agents VALUES ('z-9', 'default', 'then');
             INSERT INTO memories (rowid, id, key, content, created_at, updated_at, agent_id)
               VALUES (3, 'own', 'here', 'stays', 't', 't', 'z-9');"
        ),
    );
    let out = export(home.path(), &from, "default");
    let (planned, result) =
        import(home.path(), &to, &out, &agent("default", "data"), OnConflict::Stop);
    let backup = result.unwrap().unwrap();
    assert_eq!(backup, to.with_file_name("brain.db.backup-20260830T120000"));
    assert_eq!(planned.counts(), [2, 0, 0, 0]);
    assert_eq!(query(&backup, "SELECT key FROM memories"), ["here"]);
    // One number is taken, so that no row keeps its own.
    assert_eq!(
        query(&to, "SELECT rowid, key, agent_id, pinned FROM memories ORDER BY rowid"),
        ["3|here|z-9|0", "4|lang|z-9|1", "5| odd key |z-9|0"]
    );
    drop(runtime);
    is_usable(&to);
    let (again, result) =
        import(home.path(), &to, &out, &agent("default", "data"), OnConflict::Stop);
    assert_eq!((again.counts(), result.unwrap()), ([0, 0, 0, 2], None));
}

fn conflicting(home: &TempDir) -> (PathBuf, Snapshot) {
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/brain.db"));
    drop(make(&from, &format!("{TABLES}{ROWS}")));
    drop(make(&to, &format!("{TABLES}{ROWS}")));
    let sql = "UPDATE memories SET content = 'Prefers Zig', category = 'daily', embedding = x'00',
        id = '33333333-3333-4333-8333-333333333333' WHERE key = 'lang' AND agent_id = 'a-1';
        UPDATE memories SET importance = 0.1 WHERE key = ' odd key '";
    Connection::open(&to).unwrap().execute_batch(sql).unwrap();
    (to, export(home.path(), &from, "default"))
}

const SHOWN: &str = "SELECT rowid, id, key, content, importance FROM memories ORDER BY rowid";

#[test]
fn a_conflict_stops_everything_unless_somebody_said_who_counts() {
    let home = TempDir::new().unwrap();
    let (to, out) = conflicting(&home);
    let before = query(&to, SHOWN);
    let target = agent("default", "data");
    let stopped = planned(home.path(), &to, &out, &target, OnConflict::Stop);
    assert_eq!(stopped.counts(), [0, 0, 1, 1]);
    assert_eq!(stopped.draft.conflicts.len(), 1);
    assert_eq!(stopped.draft.conflicts[0].path, b"lang");
    let (ours, result) = import(home.path(), &to, &out, &target, OnConflict::Ours);
    assert_eq!((ours.counts(), result.unwrap()), ([0, 0, 1, 1], None));
    assert_eq!(ours.links.iter().filter(|link| link.parts.is_empty()).count(), 1);
    assert_eq!(query(&to, SHOWN), before);
}

#[test]
fn theirs_replaces_every_column_and_leaves_other_agents_alone() {
    let home = TempDir::new().unwrap();
    let (to, out) = conflicting(&home);
    let (theirs, result) =
        import(home.path(), &to, &out, &agent("default", "data"), OnConflict::Theirs);
    assert!(result.unwrap().is_some());
    assert_eq!(theirs.counts(), [0, 2, 0, 0]);
    assert_eq!(
        query(&to, "SELECT rowid, * FROM memories ORDER BY rowid"),
        query(&home.path().join("a/brain.db"), "SELECT rowid, * FROM memories ORDER BY rowid")
    );
    is_usable(&to);
}

#[test]
fn both_puts_the_snapshots_row_beside_and_does_so_once() {
    let home = TempDir::new().unwrap();
    let (to, out) = conflicting(&home);
    let target = agent("default", "data");
    let (both, result) = import(home.path(), &to, &out, &target, OnConflict::Both);
    assert!(result.unwrap().is_some());
    assert_eq!(both.counts(), [1, 0, 0, 1]);
    let part = both.links[0].parts.first().or(both.links[1].parts.first()).unwrap();
    assert!(part.name.is_some());
    assert_eq!(
        query(&to, "SELECT key, content FROM memories WHERE agent_id = 'a-1' ORDER BY key"),
        [" odd key |", "lang|Prefers Zig", "lang__imported|Prefers Rust"]
    );
    let (again, result) = import(home.path(), &to, &out, &target, OnConflict::Both);
    assert_eq!((again.counts(), result.unwrap()), ([0, 0, 0, 2], None));
    is_usable(&to);
}

#[test]
fn what_names_a_row_by_its_key_follows_it_when_it_is_put_beside() {
    let home = TempDir::new().unwrap();
    let (to, out) = conflicting(&home);
    let sql = "DELETE FROM memories WHERE key = ' odd key '";
    Connection::open(&to).unwrap().execute_batch(sql).unwrap();
    import(home.path(), &to, &out, &agent("default", "data"), OnConflict::Both).1.unwrap();
    let newer = query(&to, "SELECT superseded_by FROM memories WHERE key = ' odd key '");
    assert_eq!(newer, ["lang__imported"]);
}

#[test]
fn an_id_that_another_row_has_is_replaced_and_links_follow_it() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/brain.db"));
    drop(make(&from, &format!("{TABLES}{ROWS}")));
    let sql = "UPDATE memories SET superseded_by = '11111111-1111-4111-8111-111111111111'
               WHERE key = ' odd key '";
    Connection::open(&from).unwrap().execute_batch(sql).unwrap();
    drop(make(
        &to,
        &format!(
            "{TABLES} INSERT INTO agents VALUES ('z', 'other', 'then');
             INSERT INTO memories (id, key, content, created_at, updated_at, agent_id) VALUES
               ('11111111-1111-4111-8111-111111111111', 'k', 'c', 't', 't', 'z');"
        ),
    ));
    let out = export(home.path(), &from, "default");
    let (planned, result) =
        import(home.path(), &to, &out, &agent("default", "data"), OnConflict::Stop);
    result.unwrap();
    assert_eq!(planned.draft.warnings[0].code, "memory_id_taken");
    let ids = query(&to, "SELECT id FROM memories WHERE key = 'lang'");
    assert_ne!(ids, ["11111111-1111-4111-8111-111111111111"]);
    assert_eq!(query(&to, "SELECT superseded_by FROM memories WHERE key = ' odd key '"), ids);
}

#[test]
fn an_id_that_is_no_text_is_not_taken_twice_either() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/memory.db"), home.path().join("b/brain.db"));
    drop(make(
        &from,
        "CREATE TABLE memories (id, key TEXT, content TEXT, category TEXT, timestamp TEXT);
         INSERT INTO memories VALUES (1, 'one', 'a', 'core', '2026-01-01T00:00:00Z'),
           (1.5, 'two', 'b', 'core', '2026-01-01T00:00:00Z'),
           (x'0102', 'three', 'c', 'core', '2026-01-01T00:00:00Z'),
           (x'0102', 'four', 'd', 'core', '2026-01-01T00:00:00Z');",
    ));
    drop(make(
        &to,
        &format!(
            "{TABLES} INSERT INTO agents VALUES ('z', 'default', 'then');
             INSERT INTO memories (id, key, content, created_at, updated_at, agent_id) VALUES
               ('1', 'k', 'c', 't', 't', 'z'), ('1.5', 'l', 'c', 't', 't', 'z');"
        ),
    ));
    let out = export(home.path(), &from, "default");
    let target = agent("default", "data");
    let (planned, result) = import(home.path(), &to, &out, &target, OnConflict::Stop);
    result.unwrap();
    assert_eq!(planned.counts(), [4, 0, 0, 0]);
    assert!(planned.draft.warnings[0].message.starts_with("3 memories"));
    let keys = "SELECT key FROM memories WHERE id IN ('1', '1.5', x'0102') ORDER BY key";
    assert_eq!(query(&to, keys), ["k", "l", "three"]);
    is_usable(&to);
    let new = home.path().join("c/brain.db");
    import(home.path(), &new, &out, &target, OnConflict::Stop).1.unwrap();
    let ids = "SELECT id FROM memories WHERE typeof(id) = 'text' ORDER BY id LIMIT 2";
    assert_eq!(query(&new, ids), ["1", "1.5"]);
    let again = planned_counts(home.path(), &new, &out, OnConflict::Theirs);
    assert_eq!(again[..2], [0, 0]);
}

fn planned_counts(home: &Path, db: &Path, out: &Snapshot, on_conflict: OnConflict) -> [u64; 4] {
    planned(home, db, out, &agent("default", "data"), on_conflict).counts()
}

#[test]
fn records_of_another_runtime_become_rows() {
    let home = TempDir::new().unwrap();
    let to = home.path().join("brain.db");
    let mut daily = foreign(1, "daily", "\n\n## Standup\n\n  text  \n\n");
    daily.memory_type = MemoryType::Episodic;
    daily.source.origin_file = Some("memory/2026-01-14.md".to_owned());
    daily.source.session_id = Some("s-1".to_owned());
    daily.confidence = Some(0.25);
    let raw = serde_json::json!({ "heading": "Standup" });
    daily.raw_source_format = Some(Opaque::new(&raw).unwrap());
    let mut older = foreign(2, "curated", "## Tea\nlikes tea");
    older.status = Status::Superseded;
    let mut newer = foreign(3, "curated", "## Tea\nlikes coffee");
    newer.supersedes = Some(older.id);
    newer.memory_type = MemoryType::Preference;
    let mut rule = foreign(4, "procedural", "- Never push on Friday");
    rule.memory_type = MemoryType::Procedural;
    let mut gone = foreign(5, "curated", "gone");
    gone.status = Status::Deleted;
    let blank = foreign(6, "curated", "\n \n");
    let mut hidden = foreign(7, "session", "hello");
    hidden.status = Status::Superseded;
    let out = with(vec![daily, older, newer, rule, gone, blank, hidden]);
    let (planned, result) =
        import(home.path(), &to, &out, &agent("beta", "data"), OnConflict::Stop);
    result.unwrap();
    assert_eq!(planned.counts(), [5, 0, 0, 0]);
    assert_eq!(
        query(
            &to,
            "SELECT m.id, key, content, category, session_id, importance, superseded_by, kind,
               pinned, alias FROM memories m JOIN agents a ON a.id = agent_id ORDER BY m.id"
        ),
        [
            "00000000-0000-0000-0000-000000000001|2026_01_14_standup|## Standup\n\n  text  |daily|s-1|0.25|NULL|\"episodic\"|0|beta",
            "00000000-0000-0000-0000-000000000002|tea|## Tea\nlikes tea|core|NULL|0.5|00000000-0000-0000-0000-000000000003|{\"semantic\":\"fact\"}|0|beta",
            "00000000-0000-0000-0000-000000000003|tea_2|## Tea\nlikes coffee|core|NULL|0.5|NULL|{\"semantic\":\"preference\"}|0|beta",
            "00000000-0000-0000-0000-000000000004|rule_never_push_on_friday|- Never push on Friday|procedural|NULL|0.5|NULL|\"procedural\"|0|beta",
            "00000000-0000-0000-0000-000000000007|hello|hello|conversation|NULL|0.5||{\"semantic\":\"fact\"}|0|beta",
        ]
    );
    assert_eq!(
        query(&to, "SELECT DISTINCT created_at, updated_at FROM memories"),
        ["2026-01-15T10:30:00.000000000+00:00|2026-01-15T10:30:00.000000000+00:00"]
    );
    assert_eq!(query(&to, "SELECT alias FROM agents ORDER BY alias"), ["beta", "default"]);
    let reasons: Vec<_> = planned.draft.not_restored.iter().map(|it| &*it.reason).collect();
    assert_eq!(reasons, ["1 are gone; only tombstones are left", "1 have no text"]);
    let parts: Vec<usize> = planned.links.iter().map(|link| link.parts.len()).collect();
    assert_eq!(parts, [1, 1, 1, 1, 0, 0, 1]);
    let part = &planned.links[2].parts[0];
    assert_eq!((part.name.as_deref(), part.file.as_deref()), (Some("tea_2"), None));
    assert_eq!(part.sha256, sha256_hex("## Tea\nlikes coffee".as_bytes()));
    // Once more, in another order: nothing is new, because ids say who is who.
    let mut again = out;
    again.records.reverse();
    let (planned, result) =
        import(home.path(), &to, &again, &agent("beta", "data"), OnConflict::Stop);
    assert_eq!((planned.counts(), result.unwrap()), ([0, 0, 0, 5], None));
    is_usable(&to);
}

#[test]
fn what_comes_in_front_does_not_move_texts_to_other_keys() {
    let numbered = |texts: &[&str]| {
        let records = texts.iter().zip(1..).map(|(text, number)| foreign(number, "curated", text));
        with(records.collect())
    };
    let shown = "SELECT key, content FROM memories ORDER BY key";
    for on_conflict in [OnConflict::Theirs, OnConflict::Stop, OnConflict::Both] {
        let home = TempDir::new().unwrap();
        let to = home.path().join("brain.db");
        let target = agent("default", "data");
        let first = numbered(&["## Tea\ngreen", "## Note\na", "## Note\nb"]);
        import(home.path(), &to, &first, &target, OnConflict::Stop).1.unwrap();
        let second =
            numbered(&["## Car\nred", "## Tea\ngreen", "## Note\nc", "## Note\na", "## Note\nb"]);
        let (planned, result) = import(home.path(), &to, &second, &target, on_conflict);
        result.unwrap();
        assert!(planned.draft.conflicts.is_empty(), "{:?}", planned.draft.conflicts);
        let expected = [
            "car|## Car\nred",
            "note|## Note\na",
            "note_2|## Note\nb",
            "note_3|## Note\nc",
            "tea|## Tea\ngreen",
        ];
        assert_eq!(query(&to, shown), expected);
        is_usable(&to);
    }
}

#[test]
fn a_text_that_changed_in_its_place_changes_its_row() {
    let home = TempDir::new().unwrap();
    let to = home.path().join("brain.db");
    let target = agent("default", "data");
    let first = with(vec![foreign(1, "curated", "## Tea\na"), foreign(2, "curated", "## Tea\nb")]);
    import(home.path(), &to, &first, &target, OnConflict::Stop).1.unwrap();
    let second = with(vec![foreign(1, "curated", "## Tea\na"), foreign(2, "curated", "## Tea\nc")]);
    let (planned, result) = import(home.path(), &to, &second, &target, OnConflict::Theirs);
    result.unwrap();
    assert_eq!(planned.counts(), [0, 1, 0, 1]);
    let shown = query(&to, "SELECT key, content FROM memories ORDER BY key");
    assert_eq!(shown, ["tea|## Tea\na", "tea_2|## Tea\nc"]);
}

#[test]
fn keys_are_alike_when_one_is_made_of_the_other() {
    for like in ["tea", "tea_2", "tea_17", "tea__imported", "tea__imported_3"] {
        assert!(is_like(like, "tea"), "{like}");
    }
    for other in ["te", "tea_", "tea2", "tea_x", "tea_2x", "teatime", "tea__imported_", "my_tea"] {
        assert!(!is_like(other, "tea"), "{other}");
    }
}

#[test]
fn records_of_another_runtime_do_not_take_the_keys_of_rows() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/brain.db"));
    drop(make(&from, &format!("{TABLES}{ROWS}")));
    let mut out = export(home.path(), &from, "default");
    out.records.insert(0, foreign(1, "curated", "lang"));
    import(home.path(), &to, &out, &agent("default", "data"), OnConflict::Stop).1.unwrap();
    let keys = query(&to, "SELECT key FROM memories ORDER BY key");
    assert_eq!(keys, [" odd key ", "lang", "lang_2"]);
}

#[test]
fn a_vector_stays_only_where_the_same_model_made_it() {
    let home = TempDir::new().unwrap();
    let to = home.path().join("brain.db");
    drop(make(&to, &format!("{TABLES}{ROWS}")));
    let vector = |model: &str| Embedding {
        model: model.to_owned(),
        dimensions: 2,
        vector: vec![1.0, 2.0],
        computed_at: at(NOW),
        source: EmbeddingSource::Runtime,
        unknown: Unknown::default(),
    };
    let mut fits = foreign(1, "curated", "fits");
    fits.embeddings = vec![vector("x/y"), vector("openai/m")];
    let mut other = foreign(2, "curated", "other");
    other.embeddings = vec![vector("x/y")];
    let out = with(vec![fits, other]);
    let (planned, result) =
        import(home.path(), &to, &out, &agent("default", "data"), OnConflict::Stop);
    result.unwrap();
    assert_eq!(
        query(&to, "SELECT key, hex(embedding) FROM memories WHERE rowid > 9 ORDER BY key"),
        ["fits|0000803F00000040", "other|"]
    );
    assert_eq!(planned.draft.not_restored[0].what, "embedding");
}

#[test]
fn vectors_of_models_that_nobody_knows_are_not_mixed() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/brain.db"));
    drop(make(&from, &format!("{TABLES}{ROWS} DELETE FROM memory_meta;")));
    let out = export(home.path(), &from, "default");
    let target = agent("default", "data");
    let vector = "SELECT hex(embedding) FROM memories WHERE key = 'lang'";
    import(home.path(), &to, &out, &target, OnConflict::Stop).1.unwrap();
    assert_eq!(query(&to, vector), ["0000803F00000040"]);
    let sql = "DELETE FROM memories WHERE key = 'lang'";
    Connection::open(&to).unwrap().execute_batch(sql).unwrap();
    let (planned, result) = import(home.path(), &to, &out, &target, OnConflict::Stop);
    result.unwrap();
    assert_eq!(query(&to, vector), [""]);
    assert_eq!(planned.draft.not_restored[0].what, "embedding");
}

#[test]
fn what_changed_while_it_was_away_keeps_its_columns_and_loses_its_vector() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/brain.db"));
    drop(make(&from, &format!("{TABLES}{ROWS}")));
    let mut out = export(home.path(), &from, "default");
    let record = out.records.iter_mut().find(|it| it.content == "Prefers Rust").unwrap();
    record.content = "Prefers Zig".to_owned();
    record.temporal.updated_at = Some(at("2026-08-01T00:00:00Z"));
    import(home.path(), &to, &out, &agent("default", "data"), OnConflict::Stop).1.unwrap();
    assert_eq!(
        query(
            &to,
            "SELECT rowid, content, embedding, created_at, updated_at, importance, kind, pinned
             FROM memories WHERE key = 'lang'"
        ),
        ["3|Prefers Zig|NULL|2026-07-01T08:00:00.123456789+02:00|\
          2026-08-01T00:00:00.000000000+00:00|0.7|{\"semantic\":\"preference\"}|1"]
    );
}

#[test]
fn what_replaces_a_row_that_changed_follows_its_status() {
    let home = TempDir::new().unwrap();
    let from = home.path().join("a/brain.db");
    drop(make(&from, &format!("{TABLES}{ROWS}")));
    let out = export(home.path(), &from, "default");
    let find = |content: &str| out.records.iter().find(|it| it.content == content).unwrap().clone();
    let (lang, odd) = (find("Prefers Rust"), find(" odd key "));
    let columns = COLUMNS.iter().map(|it| (*it).to_owned()).collect();
    let superseded = HashMap::from([(lang.id, odd.id)]);
    let mut shared =
        Shared { columns, keeps_vectors: true, model: None, superseded, in_files: true };
    let of = |shared: &Shared, record: &Record, status: Status, changed: bool| {
        let record = Record { status, ..record.clone() };
        let entry = shared.entry(&record, changed).ok().unwrap();
        entry.cell(shared, "superseded_by").cloned().unwrap()
    };
    let text = |text: &str| Value::Text(text.to_owned());
    assert_eq!(of(&shared, &lang, Status::Superseded, true), text(&odd.id.to_string()));
    assert_eq!(of(&shared, &lang, Status::Superseded, false), Value::Null);
    assert_eq!(of(&shared, &odd, Status::Superseded, true), text("lang"));
    assert_eq!(of(&shared, &odd, Status::Active, true), Value::Null);
    assert_eq!(of(&shared, &odd, Status::Active, false), text("lang"));
    assert_eq!(of(&shared, &odd, Status::Archived, true), text("lang"));
    shared.superseded.clear();
    assert_eq!(of(&shared, &lang, Status::Superseded, true), text(""));
}

#[test]
fn a_record_that_replaces_another_is_named_by_the_id_of_its_row() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/brain.db"));
    drop(make(&from, &format!("{TABLES}{ROWS}")));
    let mut out = export(home.path(), &from, "default");
    let odd = out.records.iter().find(|it| it.content == " odd key ").unwrap().id;
    let mut older = foreign(1, "curated", "## Tea\nlikes tea");
    older.status = Status::Superseded;
    older.related_records = vec![Relation {
        id: odd,
        relation: "superseded_by".to_owned(),
        unknown: Unknown::default(),
    }];
    out.records.push(older);
    import(home.path(), &to, &out, &agent("default", "data"), OnConflict::Stop).1.unwrap();
    let newer = query(&to, "SELECT superseded_by FROM memories WHERE key = 'tea'");
    assert_eq!(newer, ["not-a-uuid"]);
}

#[test]
fn nothing_is_written_while_another_program_writes() {
    let home = TempDir::new().unwrap();
    let (to, out) = conflicting(&home);
    let target = agent("default", "data");
    let planned = planned(home.path(), &to, &out, &target, OnConflict::Theirs);
    let before = query(&to, SHOWN);
    let runtime = Connection::open(&to).unwrap();
    runtime.execute_batch("BEGIN IMMEDIATE").unwrap();
    let machine = machine(home.path());
    let says = |error: RestoreError| assert!(error.to_string().contains("is writing"), "{error}");
    says(planned.step().check(&machine).unwrap_err());
    let source = InMemory::new(&out);
    says(planned.step().apply(&machine, &source, &at(NOW)).unwrap_err());
    runtime.execute_batch("ROLLBACK").unwrap();
    assert_eq!(query(&to, SHOWN), before);
    // One who only has it open is no obstacle.
    planned.step().check(&machine).unwrap();
    planned.step().apply(&machine, &source, &at(NOW)).unwrap();
}

/// A workspace as it was until 0.7, with a database in it.
fn older(home: &TempDir, journal: &str) -> (PathBuf, PathBuf, Connection) {
    let workspace = home.path().join("w");
    let db = workspace.join("memory/brain.db");
    let connection = make(
        &db,
        &format!(
            "PRAGMA journal_mode = {journal}; PRAGMA wal_autocheckpoint = 0;
             CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE,
               content TEXT NOT NULL, category TEXT NOT NULL DEFAULT 'core', embedding BLOB,
               created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
             INSERT INTO memories VALUES ('1', 'here', 'stays', 'core', NULL, 't', 't');"
        ),
    );
    fs::write(workspace.join("SOUL.md"), "soul").unwrap();
    (workspace, db, connection)
}

/// Plans to put one record and one file into a workspace.
fn plan_tree(home: &TempDir, workspace: &Path, db: &Path, out: &Snapshot) -> crate::plan::Plan {
    let target = agent("default", "workspace");
    let mut draft = planned(home.path(), db, out, &target, OnConflict::Stop).draft;
    draft.wanted.push(crate::plan::Wanted::text("new.md", "new".to_owned(), at(NOW)));
    let options = PlanOptions::new(OnConflict::Stop);
    crate::plan::plan(workspace, draft, &InMemory::new(out), &options).unwrap()
}

const ALL_KEYS: &str = "SELECT key FROM memories ORDER BY key";

#[test]
fn a_program_that_has_the_database_open_is_not_cut_off_when_trees_change_places() {
    for (journal, opens_late) in [("WAL", false), ("WAL", true), ("DELETE", false)] {
        let home = TempDir::new().unwrap();
        let (workspace, db, mut runtime) = older(&home, journal);
        let out = with(vec![foreign(1, "curated", "text")]);
        if opens_late {
            drop(runtime);
            runtime = Connection::open_in_memory().unwrap();
        }
        let plan = plan_tree(&home, &workspace, &db, &out);
        if opens_late {
            runtime = Connection::open(&db).unwrap();
        }
        let put = |key: &str| {
            let sql =
                format!("INSERT INTO memories VALUES ('{key}', '{key}', '', '', NULL, '', '')");
            runtime.execute_batch(&sql).unwrap();
        };
        put("before");
        let (step, source) = (plan.memories.as_ref().unwrap(), InMemory::new(&out));
        let machine = machine(home.path());
        step.check(&machine).unwrap();
        let applied = crate::apply(&plan, &source, &crate::Unwatched).unwrap();
        assert_eq!((applied.replaced_kept_at, applied.warnings.len()), (None, 0));
        assert_eq!(fs::read_to_string(workspace.join("new.md")).unwrap(), "new");
        put("later");
        assert_eq!(query(&db, ALL_KEYS), ["before", "here", "later"], "{journal}");
        step.apply(&machine, &source, &at(NOW)).unwrap();
        let seen: i64 =
            runtime.query_row("SELECT count(*) FROM memories", [], |row| row.get(0)).unwrap();
        assert_eq!(seen, 4, "{journal}");
        put("last");
        drop(runtime);
        assert_eq!(query(&db, ALL_KEYS), ["before", "here", "last", "later", "text"], "{journal}");
        is_usable(&db);
        let names = crate::tree::tests::names(home.path());
        assert!(!names.iter().any(|name| name.contains("replaced")), "{names:?}");
    }
}

#[test]
fn a_log_that_a_crash_left_is_kept_and_stands_in_nobodys_way() {
    let home = TempDir::new().unwrap();
    let (workspace, db, runtime) = older(&home, "WAL");
    let log = db.with_file_name("brain.db-wal");
    let (bytes, logged) = (fs::read(&db).unwrap(), fs::read(&log).unwrap());
    drop(runtime);
    for shm in [false, true] {
        let names = ["brain.db-shm", "brain.db-wal"].map(|name| db.with_file_name(name));
        names.iter().for_each(|name| drop(fs::remove_file(name)));
        fs::write(&db, &bytes).unwrap();
        fs::write(&log, &logged).unwrap();
        if shm {
            fs::write(&names[0], "").unwrap();
        }
        drop(fs::remove_file(workspace.join("new.md")));
        let out = with(vec![foreign(1, "curated", "text")]);
        let plan = plan_tree(&home, &workspace, &db, &out);
        let (step, source) = (plan.memories.as_ref().unwrap(), InMemory::new(&out));
        let machine = machine(home.path());
        step.check(&machine).unwrap();
        assert!(fs::read(&db).unwrap() == bytes, "asking changed the database");
        assert!(fs::read(&log).unwrap() == logged, "asking changed the log");
        let applied = crate::apply(&plan, &source, &crate::Unwatched).unwrap();
        assert_eq!(applied.replaced_kept_at, None);
        step.apply(&machine, &source, &at(NOW)).unwrap();
        assert_eq!(query(&db, ALL_KEYS), ["here", "text"]);
        is_usable(&db);
    }
}

#[test]
fn asking_leaves_nothing_beside_a_database_that_nobody_has_open() {
    let home = TempDir::new().unwrap();
    let (_, db, runtime) = older(&home, "WAL");
    drop(runtime);
    let out = with(vec![foreign(1, "curated", "text")]);
    let target = agent("default", "workspace");
    let planned = planned(home.path(), &db, &out, &target, OnConflict::Stop);
    let before = (fs::read(&db).unwrap(), fs::metadata(&db).unwrap().modified().unwrap());
    planned.step().check(&machine(home.path())).unwrap();
    let after = (fs::read(&db).unwrap(), fs::metadata(&db).unwrap().modified().unwrap());
    assert!(after == before);
    assert_eq!(crate::tree::tests::names(db.parent().unwrap()), ["brain.db"]);
}

#[test]
fn a_row_that_changed_since_the_plan_stops_all_of_it() {
    let home = TempDir::new().unwrap();
    let (to, out) = conflicting(&home);
    let planned = planned(home.path(), &to, &out, &agent("default", "data"), OnConflict::Theirs);
    let sql = "UPDATE memories SET content = 'meanwhile' WHERE key = ' odd key '";
    Connection::open(&to).unwrap().execute_batch(sql).unwrap();
    let before = query(&to, SHOWN);
    let source = InMemory::new(&out);
    let error = planned.step().apply(&machine(home.path()), &source, &at(NOW)).unwrap_err();
    assert!(error.to_string().contains("has changed"), "{error}");
    assert_eq!(query(&to, SHOWN), before);
    let names = fs::read_dir(to.parent().unwrap()).unwrap().count();
    assert_eq!(names, 1, "a copy was left behind");
}

#[test]
fn a_copy_that_the_runtime_made_is_neither_used_nor_removed() {
    let home = TempDir::new().unwrap();
    let (to, out) = conflicting(&home);
    let planned = planned(home.path(), &to, &out, &agent("default", "data"), OnConflict::Theirs);
    let theirs = to.with_file_name("brain.db.backup-20260830T120000");
    fs::write(&theirs, "").unwrap();
    let (machine, source) = (machine(home.path()), InMemory::new(&out));
    let runtime = Connection::open(&to).unwrap();
    runtime.execute_batch("BEGIN IMMEDIATE").unwrap();
    planned.step().apply(&machine, &source, &at(NOW)).unwrap_err();
    assert!(theirs.exists());
    assert_eq!(crate::tree::tests::names(to.parent().unwrap()).len(), 4, "a copy was left behind");
    runtime.execute_batch("ROLLBACK").unwrap();
    let made = planned.step().apply(&machine, &source, &at(NOW)).unwrap().unwrap();
    assert_eq!(made, to.with_file_name("brain.db.backup-20260830T120000-1"));
    assert_eq!(fs::metadata(&theirs).unwrap().len(), 0);
    // The other process takes nothing but an empty file.
    let mut merge = Merge {
        layout: Layout::Found(query(&to, "SELECT name FROM pragma_table_info('memories')")),
        columns: vec![MergeColumn { name: "key".into(), declared: String::new() }],
        agent: Some(entry_of("a-1", "default", "")),
        takes_unowned: true,
        others: Vec::new(),
        meta: Vec::new(),
        now: "now".into(),
        backup: Some("full".into()),
        probe: false,
        bytes: 0,
    };
    fs::write(to.with_file_name("full"), "full").unwrap();
    for name in ["full", "nothing"] {
        merge.backup = Some(name.into());
        let rows = RowSpool::new(home.path(), 1).unwrap();
        merge_rows(&machine, &to, merge.clone(), Some(rows)).unwrap_err();
    }
    assert_eq!(fs::read(to.with_file_name("full")).unwrap(), b"full");
}

#[test]
fn rows_of_nobody_are_merged_as_they_are_read() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/brain.db"));
    let lost = "PRAGMA foreign_keys = OFF;
        UPDATE memories SET agent_id = 'gone' WHERE key = 'lang' AND agent_id = 'a-1';";
    drop(make(&from, &format!("{TABLES}{ROWS}{lost}")));
    drop(make(&to, &format!("{TABLES}{ROWS}{lost}")));
    let out = export(home.path(), &from, "default");
    let target = agent("default", "data");
    let (same, result) = import(home.path(), &to, &out, &target, OnConflict::Stop);
    assert_eq!((same.counts(), result.unwrap()), ([0, 0, 0, 2], None));
    let sql = "UPDATE memories SET content = 'other' WHERE agent_id = 'gone'";
    Connection::open(&to).unwrap().execute_batch(sql).unwrap();
    let (theirs, result) = import(home.path(), &to, &out, &target, OnConflict::Theirs);
    result.unwrap();
    assert_eq!(theirs.counts(), [0, 1, 0, 1]);
    let shown = "SELECT content, agent_id FROM memories WHERE key = 'lang' ORDER BY rowid";
    assert_eq!(query(&to, shown), ["Prefers Rust|gone", "beta likes Go|a-2"]);
    // Another agent's are not touched.
    let beta = with(vec![foreign(1, "curated", "text")]);
    import(home.path(), &to, &beta, &agent("beta", "data"), OnConflict::Stop).1.unwrap();
    // One that names the agent counts before.
    let sql = "INSERT INTO memories (id, key, content, created_at, updated_at, agent_id)
        VALUES ('n', 'lang', 'Prefers Zig', 't', 't', 'a-1')";
    Connection::open(&to).unwrap().execute_batch(sql).unwrap();
    import(home.path(), &to, &out, &target, OnConflict::Theirs).1.unwrap();
    assert_eq!(query(&to, shown).last().unwrap(), "Prefers Rust|a-1");
}

#[test]
fn rows_that_stop_half_way_leave_no_trace() {
    let home = TempDir::new().unwrap();
    let to = home.path().join("brain.db");
    drop(make(&to, &format!("{TABLES}{ROWS}")));
    let before = query(&to, SHOWN);
    let columns = ["id", "key", "content", "created_at", "updated_at"];
    let columns = columns.map(|name| MergeColumn { name: name.into(), declared: String::new() });
    let merge = Merge {
        layout: Layout::Found(query(&to, "SELECT name FROM pragma_table_info('memories')")),
        columns: columns.to_vec(),
        agent: Some(entry_of("a-1", "default", "")),
        takes_unowned: true,
        others: Vec::new(),
        meta: Vec::new(),
        now: "now".into(),
        backup: None,
        probe: false,
        bytes: 0,
    };
    let mut spool = RowSpool::new(home.path(), 5).unwrap();
    for number in 0..100 {
        let text = |text: &str| Some(Value::Text(format!("{text}{number}")));
        let cells = [text("i"), text("k"), text("c"), text("t"), text("t")];
        spool.push(RowVerb::Insert, None, &cells, None).unwrap();
    }
    let whole = spool.into_bytes();
    for length in [0, 1, 5, 300, whole.len() / 2, whole.len() - 1] {
        let mut request = serde_json::to_vec(&serde_json::json!({
            "file": "brain.db", "ask": { "merge": merge },
        }))
        .unwrap();
        request.push(b'\n');
        request.extend_from_slice(&whole[..length]);
        let mut reply = Vec::new();
        crate::database::answer(home.path(), request.as_slice(), &mut reply).unwrap();
        assert_eq!(reply[..2], *b"Xf", "{length}");
        assert_eq!(query(&to, SHOWN), before, "{length}");
    }
    let mut spool = RowSpool::new(home.path(), 5).unwrap();
    for number in 0..100 {
        let text = |text: &str| Some(Value::Text(format!("{text}{number}")));
        let cells = [text("i"), text("k"), text("c"), text("t"), text("t")];
        spool.push(RowVerb::Insert, None, &cells, None).unwrap();
    }
    merge_rows(&machine(home.path()), &to, merge, Some(spool)).unwrap();
    assert_eq!(query(&to, "SELECT count(*) FROM memories"), ["103"]);
    is_usable(&to);
}

#[test]
fn triggers_that_are_not_the_runtimes_never_run() {
    let hostile = [
        "CREATE TRIGGER evil AFTER INSERT ON memories BEGIN DELETE FROM memories; END",
        "DROP TRIGGER memories_ai; CREATE TRIGGER memories_ai AFTER INSERT ON memories BEGIN
           DELETE FROM memories WHERE id <> new.id; END",
        "CREATE TRIGGER audit AFTER INSERT ON MEMORIES BEGIN DELETE FROM memories; END",
        "CREATE TRIGGER evil BEFORE INSERT ON agents BEGIN DELETE FROM memories; END",
        "DROP TABLE memories_fts; CREATE TABLE memories_fts(key, content)",
        "DROP TABLE memories_fts; CREATE VIRTUAL TABLE memories_fts USING fts5(key, content)",
        "ALTER TABLE memories RENAME TO m; CREATE VIEW memories AS SELECT * FROM m;
         CREATE TRIGGER evil INSTEAD OF INSERT ON memories BEGIN DELETE FROM m; END",
        "ALTER TABLE memories ADD COLUMN g AS (key || 'x')",
    ];
    for sql in hostile {
        let home = TempDir::new().unwrap();
        let to = home.path().join("brain.db");
        drop(make(&to, &format!("{TABLES}{ROWS}")));
        Connection::open(&to).unwrap().execute_batch(sql).unwrap();
        let shown = "SELECT key, content FROM memories ORDER BY 1, 2";
        let before = query(&to, shown);
        let out = with(vec![foreign(1, "curated", "new")]);
        let mut draft = PlanBuilder::default();
        let options = PlanOptions::new(OnConflict::Stop);
        let target = agent("new agent", "data");
        let machine = machine(home.path());
        let source = InMemory::new(&out);
        let links = plan(&machine, &records(&source), &target, &to, &options, &mut draft);
        if let (Ok(_), Some(step)) = (links, &draft.memories) {
            assert!(step.check(&machine).is_err(), "{sql}");
            assert!(step.apply(&machine, &source, &at(NOW)).is_err(), "{sql}");
        }
        assert_eq!(query(&to, shown), before, "{sql}");
    }
}

#[test]
fn an_index_that_is_out_of_step_or_missing_is_made_anew() {
    for sql in [
        "DROP TRIGGER memories_au",
        "DROP TRIGGER memories_ai; DROP TRIGGER memories_ad; DROP TRIGGER memories_au;
         DROP TABLE memories_fts",
        "DROP TRIGGER memories_ai; DROP TRIGGER memories_ad; DROP TRIGGER memories_au;
         INSERT INTO memories_fts(memories_fts) VALUES ('delete-all');
         INSERT INTO memories_fts(rowid, key, content) VALUES (77, 'x', 'y')",
    ] {
        let home = TempDir::new().unwrap();
        let to = home.path().join("brain.db");
        drop(make(&to, &format!("{TABLES}{ROWS}")));
        Connection::open(&to).unwrap().execute_batch(sql).unwrap();
        let out = with(vec![foreign(1, "curated", "fresh words")]);
        import(home.path(), &to, &out, &agent("beta", "data"), OnConflict::Stop).1.unwrap();
        let found = "SELECT rowid FROM memories_fts WHERE memories_fts MATCH 'fresh OR rust'";
        assert_eq!(query(&to, found).len(), 2, "{sql}");
        is_usable(&to);
    }
}

#[test]
fn columns_are_added_as_the_runtime_adds_them_and_others_are_told() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/brain.db"));
    drop(make(&from, &format!("{TABLES}{ROWS} ALTER TABLE memories ADD COLUMN mood TEXT;")));
    drop(make(
        &to,
        "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, content TEXT NOT NULL,
           category TEXT NOT NULL DEFAULT 'core', embedding BLOB, created_at TEXT NOT NULL,
           updated_at TEXT NOT NULL);
         INSERT INTO memories VALUES ('own', 'here', 'stays', 'core', NULL, 't', 't');",
    ));
    let out = export(home.path(), &from, "default");
    let (planned, result) =
        import(home.path(), &to, &out, &agent("default", "workspace"), OnConflict::Stop);
    result.unwrap();
    let notes: Vec<_> =
        planned.draft.not_restored.iter().map(|it| (it.what, it.path.as_deref())).collect();
    assert_eq!(notes, [("column", Some("mood")), ("embedding", None)]);
    assert_eq!(
        query(&to, "SELECT key, namespace, importance, pinned FROM memories ORDER BY key"),
        [" odd key |ops|NULL|0", "here|default|0.5|0", "lang|default|0.7|1"]
    );
    is_usable(&to);
}

#[test]
fn a_database_without_memories_gets_them_and_a_lost_log_is_not_played_back() {
    let home = TempDir::new().unwrap();
    let to = home.path().join("brain.db");
    drop(make(&to, "CREATE TABLE other(n)"));
    let out = with(vec![foreign(1, "curated", "text")]);
    let (planned, result) =
        import(home.path(), &to, &out, &agent("default", "data"), OnConflict::Stop);
    assert!(result.unwrap().is_some());
    assert!(!planned.step().made);
    is_usable(&to);
    let gone = home.path().join("gone.db");
    fs::write(home.path().join("gone.db-wal"), "x").unwrap();
    let mut draft = PlanBuilder::default();
    let options = PlanOptions::new(OnConflict::Stop);
    let target = agent("default", "data");
    let source = InMemory::new(&out);
    let machine = machine(home.path());
    let error =
        plan(&machine, &records(&source), &target, &gone, &options, &mut draft).unwrap_err();
    assert!(matches!(error, PlanError::Database { .. }), "{error}");
}

#[test]
fn a_new_database_takes_no_ones_place() {
    let home = TempDir::new().unwrap();
    let to = home.path().join("brain.db");
    let out = with(vec![foreign(1, "curated", "text")]);
    let planned = planned(home.path(), &to, &out, &agent("default", "data"), OnConflict::Stop);
    fs::write(&to, "somebody's").unwrap();
    let machine = machine(home.path());
    planned.step().check(&machine).unwrap_err();
    planned.step().apply(&machine, &InMemory::new(&out), &at(NOW)).unwrap_err();
    assert_eq!(fs::read(&to).unwrap(), b"somebody's");
}

#[test]
fn another_snapshot_than_the_planned_one_is_refused() {
    let home = TempDir::new().unwrap();
    let to = home.path().join("brain.db");
    let out = with(vec![foreign(1, "curated", "text"), foreign(2, "curated", "more")]);
    let planned = planned(home.path(), &to, &out, &agent("default", "data"), OnConflict::Stop);
    let machine = machine(home.path());
    for records in [vec![foreign(1, "curated", "text")], vec![foreign(2, "curated", "more")]] {
        let other = with(records);
        planned.step().apply(&machine, &InMemory::new(&other), &at(NOW)).unwrap_err();
    }
    assert!(!to.exists());
}

#[test]
fn links_between_records_are_understood_either_way() {
    let mut superseded = HashMap::new();
    let mut older = foreign(1, "curated", "a");
    let relation = |number: u128, relation: &str| Relation {
        id: RecordId::new(Uuid::from_u128(number)),
        relation: relation.to_owned(),
        unknown: Unknown::default(),
    };
    older.related_records = vec![relation(2, "superseded_by"), relation(9, "mentions")];
    let mut newer = foreign(4, "curated", "b");
    newer.related_records = vec![relation(3, "supersedes")];
    note_superseded(&older, &mut superseded);
    note_superseded(&newer, &mut superseded);
    let id = |number| RecordId::new(Uuid::from_u128(number));
    assert_eq!(superseded, HashMap::from([(id(1), id(2)), (id(3), id(4))]));
}

#[test]
fn no_shape_of_the_table_loses_what_is_there() {
    for missing in COLUMNS {
        let home = TempDir::new().unwrap();
        let to = home.path().join("brain.db");
        drop(make(&to, &format!("{TABLES}{ROWS}")));
        let left: Vec<&str> = COLUMNS.into_iter().filter(|it| *it != missing).collect();
        let left = left.join(", ");
        let sql = format!(
            "DROP TRIGGER memories_ai; DROP TRIGGER memories_ad; DROP TRIGGER memories_au;
             DROP TABLE memories_fts; ALTER TABLE memories RENAME TO old;
             CREATE TABLE memories AS SELECT {left} FROM old; DROP TABLE old"
        );
        Connection::open(&to).unwrap().execute_batch(&sql).unwrap();
        let shown = format!("SELECT {left} FROM memories ORDER BY rowid");
        let before = query(&to, &shown);
        let mut text = foreign(1, "curated", "fresh words");
        text.supersedes = Some(RecordId::new(Uuid::from_u128(9)));
        let (planned, result) = import(
            home.path(),
            &to,
            &with(vec![text]),
            &agent("default", "data"),
            OnConflict::Stop,
        );
        assert_eq!(planned.counts()[0], 1);
        let after = query(&to, &shown);
        assert_eq!(after[..before.len()], before[..], "{missing}");
        // Without a key or a text, or an index over them, it is no table of memories.
        assert_eq!(result.is_ok(), !["key", "content"].contains(&missing), "{missing}: {result:?}");
    }
}

#[test]
fn a_damaged_database_is_refused_or_whole_afterwards() {
    let home = TempDir::new().unwrap();
    let to = home.path().join("brain.db");
    drop(make(&to, &format!("{TABLES}{ROWS}")));
    let whole = fs::read(&to).unwrap();
    let out = with(vec![foreign(1, "curated", "fresh words")]);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for _ in 0..SlowGroup::Damage.pick(20, 60) {
        let mut bytes = whole.clone();
        for _ in 0..=next(6) {
            let at = next(bytes.len());
            bytes[at] = u8::try_from(next(256)).unwrap();
        }
        for suffix in ["", "-wal", "-shm"] {
            drop(fs::remove_file(home.path().join(format!("brain.db{suffix}"))));
        }
        fs::write(&to, &bytes).unwrap();
        let machine = machine(home.path());
        let source = InMemory::new(&out);
        let mut draft = PlanBuilder::default();
        let options = PlanOptions::new(OnConflict::Theirs);
        let target = agent("default", "data");
        let planned = plan(&machine, &records(&source), &target, &to, &options, &mut draft);
        let Some(step) = planned.ok().and(draft.memories) else { continue };
        if step.apply(&machine, &source, &at(NOW)).is_ok() {
            let found = query(&to, "SELECT content FROM memories WHERE key = 'fresh_words'");
            assert_eq!(found, ["fresh words"]);
            assert_eq!(query(&to, "PRAGMA integrity_check(memories)"), ["ok"]);
        }
    }
}
