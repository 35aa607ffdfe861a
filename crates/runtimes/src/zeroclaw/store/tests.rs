mod conflicts;
mod live;
mod other_runtimes;

use anemone_format::{
    AgentInfo, Embedding, EmbeddingSource, File, FileRoot, LoadedSnapshot, Manifest, MemoryType,
    Opaque, Record, Relation, Snapshot, StampTable, Status, Unknown,
};
use anemone_testkit::SlowGroup;
use rusqlite::Connection;
use tempfile::TempDir;

use super::super::brain::Brain;
use super::super::rows::{ReadingContext, RowReader};
use super::*;
use crate::kit::agent::ConfigFile;
use crate::kit::database::tests::machine;

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
    export_with(home, db, alias, None)
}

/// The same, with the model that the configuration names.
fn export_with(
    home: &Path,
    db: &Path,
    alias: &str,
    embedding: Option<EmbeddingSettings>,
) -> Snapshot {
    let brain = Brain::open(&machine(home), db).unwrap().unwrap();
    let mut snapshot = snapshot();
    let shared = ReadingContext {
        agent_id: snapshot.manifest.agent.id,
        alias,
        identity_version: None,
        embedding,
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
    let source = LoadedSnapshot::new(snapshot);
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
    let source = LoadedSnapshot::new(snapshot);
    let machine = machine(home);
    let result = planned.step().change.check(&machine).and_then(|()| {
        planned.step().change.apply(&machine, &RestoreSource::new(&source), &at(NOW))
    });
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

/// What the runtime does when it stores, changes and forgets; this needs an index that is in step.
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
    // A row goes into the old database, which gets an index that it never had.
    let more = with(vec![foreign(7, "curated", "## New\ntext")]);
    let (planned, result) =
        import(home.path(), &from, &more, &agent("default", "workspace"), OnConflict::Stop);
    assert!(result.unwrap().is_some());
    assert_eq!(planned.counts(), [1, 0, 0, 0]);
    is_usable(&from);
    assert_eq!(query(&from, "SELECT key FROM memories ORDER BY key"), ["k", "new"]);
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
    // Another agent's rows are not touched.
    let beta = with(vec![foreign(1, "curated", "text")]);
    import(home.path(), &to, &beta, &agent("beta", "data"), OnConflict::Stop).1.unwrap();
    // A row that names the agent takes precedence.
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
        runtime: RUNTIME.to_owned(),
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
        crate::kit::database::answer(home.path(), request.as_slice(), &mut reply).unwrap();
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
        let source = LoadedSnapshot::new(&out);
        let links = plan(&machine, &records(&source), &target, &to, &options, &mut draft);
        if let (Ok(_), Some(step)) = (links, &draft.memories) {
            assert!(step.change.check(&machine).is_err(), "{sql}");
            assert!(
                step.change.apply(&machine, &RestoreSource::new(&source), &at(NOW)).is_err(),
                "{sql}"
            );
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
    let notes: Vec<_> = planned
        .draft
        .not_restored
        .iter()
        .map(|restored| (restored.what.as_str(), restored.path.as_deref()))
        .collect();
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
    let source = LoadedSnapshot::new(&out);
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
    planned.step().change.check(&machine).unwrap_err();
    planned
        .step()
        .change
        .apply(&machine, &RestoreSource::new(&LoadedSnapshot::new(&out)), &at(NOW))
        .unwrap_err();
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
        planned
            .step()
            .change
            .apply(&machine, &RestoreSource::new(&LoadedSnapshot::new(&other)), &at(NOW))
            .unwrap_err();
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
    for (missing, _) in KNOWN {
        let home = TempDir::new().unwrap();
        let to = home.path().join("brain.db");
        drop(make(&to, &format!("{TABLES}{ROWS}")));
        let left: Vec<&str> =
            KNOWN.into_iter().map(|(name, _)| name).filter(|column| *column != missing).collect();
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
        // Without a key or a text, or an index over them, it is not a table of memories.
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
        let source = LoadedSnapshot::new(&out);
        let mut draft = PlanBuilder::default();
        let options = PlanOptions::new(OnConflict::Theirs);
        let target = agent("default", "data");
        let planned = plan(&machine, &records(&source), &target, &to, &options, &mut draft);
        let Some(step) = planned.ok().and(draft.memories) else { continue };
        if step.change.apply(&machine, &RestoreSource::new(&source), &at(NOW)).is_ok() {
            let found = query(&to, "SELECT content FROM memories WHERE key = 'fresh_words'");
            assert_eq!(found, ["fresh words"]);
            assert_eq!(query(&to, "PRAGMA integrity_check(memories)"), ["ok"]);
        }
    }
}

#[test]
fn rows_of_the_first_documents_keep_their_times_and_a_key_that_occurs_twice_gets_a_number() {
    let home = TempDir::new().unwrap();
    let (from, db) = (home.path().join("memory.db"), home.path().join("brain.db"));
    Connection::open(&from)
        .unwrap()
        .execute_batch(
            "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL, content TEXT NOT NULL,
               category TEXT NOT NULL, timestamp TEXT NOT NULL, embedding BLOB);
             INSERT INTO memories VALUES
               ('00000000-0000-4000-8000-00000000000A', 'tz', 'Pacific', 'core',
                '2026-03-31T23:30:00-08:00', NULL),
               ('00000000-0000-4000-8000-000000000002', 'tz', 'Berlin', 'core',
                '2026-04-02T10:00:00.123456789+02:00', NULL);",
        )
        .unwrap();
    let before = export(home.path(), &from, "default");
    let target = agent("default", "data");
    let (planned, result) = import(home.path(), &db, &before, &target, OnConflict::Stop);
    result.unwrap();
    let warnings: Vec<&str> = planned.draft.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(warnings, ["memory_key_taken"]);
    let names: Vec<_> =
        planned.links.iter().map(|link| link.places.parts[0].name.as_deref().unwrap()).collect();
    assert_eq!(names, ["tz", "tz_2"]);
    let after = export(home.path(), &db, "default");
    for (was, is) in before.records.iter().zip(&after.records) {
        assert_eq!((is.id, &is.temporal), (was.id, &was.temporal));
    }
    // The id is in the database as it was written.
    let id: String = Connection::open(&db)
        .unwrap()
        .query_row("SELECT id FROM memories WHERE key = 'tz'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(id, "00000000-0000-4000-8000-00000000000A");
}
