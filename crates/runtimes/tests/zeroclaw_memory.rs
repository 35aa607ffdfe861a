//! A memory in ZeroClaw's database: what is written into it, what is refused, what is deleted with
//! a row.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use anemone_format::{Moment, Origin, ProvenanceStamp, sha256_hex};
use anemone_memory::{
    Category, Clock, ForgetTarget, Importance, Label, MarkdownLayout, MarkdownStore, MemoryEntry,
    MemoryError, NewEntry, RowDraft, RowStore, RowsRecord, RowsUndo,
};
use anemone_runtimes::by_name;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rusqlite::Connection;
use tempfile::TempDir;
use uuid::Uuid;

/// The layout of ZeroClaw.
fn layout() -> MarkdownLayout {
    by_name("zeroclaw").unwrap().layout
}

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        "2026-11-16T10:00:00.000000007Z".parse().unwrap()
    }

    fn zone(&self) -> TimeZone {
        TimeZone::fixed(jiff::tz::offset(2))
    }

    #[expect(clippy::disallowed_methods, reason = "each row has an id of its own")]
    fn fresh_id(&self) -> Uuid {
        Uuid::now_v7()
    }
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("brain.db");
    (folder, path)
}

fn open_as(path: &Path, alias: &str) -> Box<dyn RowStore> {
    by_name("zeroclaw").unwrap().memory_rows(path, alias, Box::new(Still)).unwrap()
}

fn open(path: &Path) -> Box<dyn RowStore> {
    open_as(path, "default")
}

fn try_store(rows: &dyn RowStore, key: &str, content: &str) -> Result<(), MemoryError> {
    let mut stamp =
        ProvenanceStamp::new(Still.fresh_id(), Origin::Agent, Moment::from(Still.now()));
    stamp.session = Some("s".to_owned());
    let (text, key) = (content.to_owned(), Some(key.to_owned()));
    let given = NewEntry { text, key, label: None, tags: Vec::new(), stamp };
    rows.put(&[draft(given, Category::Core)], &mut |_| Ok(()))
}

fn store(rows: &dyn RowStore, key: &str, content: &str) {
    try_store(rows, key, content).unwrap();
}

fn get(rows: &dyn RowStore, key: &str) -> Option<MemoryEntry> {
    rows.entries().unwrap().into_iter().find(|entry| entry.key == key)
}

fn key(key: &str) -> ForgetTarget {
    ForgetTarget::Key(key.to_owned())
}

fn forget(rows: &dyn RowStore, name: &str) -> usize {
    rows.remove(&rows.matching(&key(name)).unwrap()).unwrap()
}

fn one<T: rusqlite::types::FromSql>(path: &Path, sql: &str) -> T {
    Connection::open(path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_new_database_is_one_that_zeroclaw_would_make() {
    let (_folder, path) = place();
    let memory = open(&path);
    store(&*memory, "tea", "green tea in the morning");
    store(&*memory, "tea", "black tea in the evening");
    let created: String = one(&path, "SELECT created_at FROM memories");
    assert_eq!(created, "2026-11-16T12:00:00.000000007+02:00");
    let agent: String = one(&path, "SELECT alias FROM agents");
    assert_eq!(agent, "default");
    assert_eq!(one::<i64>(&path, "SELECT version FROM schema_version"), 1);
    let columns: String =
        one(&path, "SELECT group_concat(name) FROM pragma_table_info('memories')");
    assert_eq!(
        columns,
        "id,key,content,category,embedding,created_at,updated_at,session_id,namespace,importance,\
         superseded_by,agent_id,kind,pinned,tenant_id,principal_id"
    );
    // The full-text index is updated too.
    let find = |word: &str| -> i64 {
        one(&path, &format!("SELECT count(*) FROM memories_fts WHERE memories_fts MATCH '{word}'"))
    };
    assert_eq!((find("green"), find("black"), find("tea")), (0, 1, 1));
    let check = "INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1)";
    Connection::open(&path).unwrap().execute_batch(check).unwrap();
    let origin: String = one(&path, "SELECT origin FROM anemone_stamps");
    assert_eq!(origin, "agent");
    assert_eq!(get(&*memory, "tea").unwrap().origin.as_deref(), Some("agent"));
}

const FTS: &str = "
CREATE VIRTUAL TABLE memories_fts USING fts5(key, content, content=memories, content_rowid=rowid);
CREATE TRIGGER IF NOT EXISTS memories_ai AFTER INSERT ON memories BEGIN
  INSERT INTO memories_fts(rowid, key, content) VALUES (new.rowid, new.key, new.content); END;
CREATE TRIGGER memories_ad AFTER DELETE ON memories BEGIN
  INSERT INTO memories_fts(memories_fts, rowid, key, content)
  VALUES ('delete', old.rowid, old.key, old.content); END;
CREATE TRIGGER memories_au AFTER UPDATE ON memories BEGIN
  INSERT INTO memories_fts(memories_fts, rowid, key, content)
  VALUES ('delete', old.rowid, old.key, old.content);
  INSERT INTO memories_fts(rowid, key, content) VALUES (new.rowid, new.key, new.content); END;";
const FIRST: &str = "id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, content TEXT NOT NULL,
  category TEXT NOT NULL DEFAULT 'core', created_at TEXT NOT NULL, updated_at TEXT NOT NULL";

fn made(sql: &str) -> (TempDir, PathBuf) {
    let (folder, path) = place();
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    (folder, path)
}

#[test]
fn older_databases_are_written_as_they_are() {
    let (_folder, path) = made(&format!(
        "CREATE TABLE memories ({FIRST}, embedding BLOB, session_id TEXT); {FTS}
         INSERT INTO memories VALUES ('1', 'old', 'an old heron', 'core', '2026-02-20T10:00:00Z',
         '2026-02-20T10:00:00Z', NULL, NULL);"
    ));
    let memory = open(&path);
    store(&*memory, "old", "a new heron");
    store(&*memory, "new", "another heron");
    assert_eq!(memory.entries().unwrap().len(), 2);
    let old = get(&*memory, "old").unwrap();
    assert_eq!((old.id.as_str(), old.timestamp.as_str()), ("1", "2026-02-20T10:00:00Z"));
    assert_eq!(forget(&*memory, "old"), 1);
    assert_eq!(one::<i64>(&path, "SELECT count(*) FROM memories"), 1);
}

#[test]
fn what_is_too_old_or_foreign_is_refused() {
    let refusal = |path: &Path| {
        let planned = open(path).matching(&key("k"));
        match (planned, try_store(&*open(path), "k", "text")) {
            (Err(MemoryError::Open(plan)), Err(MemoryError::Open(error))) => {
                assert_eq!(plan.to_string(), error.to_string());
                error.to_string()
            }
            other => panic!("{other:?}"),
        }
    };
    let refused = |sql: &str| {
        let (_folder, path) = made(sql);
        refusal(&path)
    };
    // Rows are listed all the same, where there are any.
    let is_listed = |sql: &str| {
        let row = "INSERT INTO memories (id, key, content, created_at, updated_at)
            VALUES ('1', 'tea', 'Lin drinks tea.', '2026-02-13T10:00:00Z', '2026-02-13')";
        let (_folder, path) = made(&format!("{sql}; {row}"));
        open(&path).entries().unwrap().len() == 1
    };
    let first = format!("CREATE TABLE memories ({FIRST});");
    assert!(refused(&first).contains("has no embedding") && is_listed(&first));
    let second = format!("CREATE TABLE memories ({FIRST}, embedding BLOB, session_id TEXT);");
    assert!(refused(&second).contains("has no memories_fts"));
    let unfinished = format!("{second} CREATE VIRTUAL TABLE memories_fts USING fts5(key);");
    assert!(refused(&unfinished).contains("has no triggers") && is_listed(&unfinished));
    let trap = format!(
        "{second} {FTS} CREATE TRIGGER trap AFTER INSERT ON memories BEGIN
         DELETE FROM memories; END;"
    );
    assert!(refused(&trap).ends_with("has a trigger that is not ZeroClaw's: \"trap\""));
    let other = "CREATE TABLE notes (id TEXT); CREATE VIEW memories AS SELECT id FROM notes;";
    assert!(refused(other).ends_with("holds no memories of ZeroClaw"));
    let (_folder, path) = place();
    fs_err::write(&path, "no database at all, and long enough to be taken for one").unwrap();
    assert!(refusal(&path).starts_with("cannot open the database"));
    let (_folder, path) = place();
    fs_err::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    assert!(refusal(&path).ends_with("is not a plain file"));
    assert!(matches!(try_store(&*open(&path), "k", "text"), Err(MemoryError::Open(_))));
}

#[test]
fn what_belongs_to_somebody_else_is_neither_seen_nor_touched() {
    let (_folder, path) = place();
    let (mine, theirs) = (open_as(&path, "me"), open_as(&path, "you"));
    store(&*mine, "k", "my own heron");
    store(&*theirs, "k", "your own heron");
    let db = Connection::open(&path).unwrap();
    let private = "INSERT INTO memories (id, key, content, created_at, updated_at, agent_id,
        principal_id) SELECT hex(randomblob(8)), 'p|2:ab7:default-|x', 'a private heron',
        created_at, updated_at, agent_id, 'ab' FROM memories WHERE content = 'my own heron'";
    db.execute_batch(private).unwrap();
    assert_eq!(mine.entries().unwrap().len(), 1);
    assert_eq!(get(&*mine, "p|2:ab7:default-|x"), None);
    assert_eq!(forget(&*mine, "p|2:ab7:default-|x"), 0);
    assert!(matches!(try_store(&*mine, "p|x", "no"), Err(MemoryError::PrivateKey { .. })));
    let found = mine.entries().unwrap();
    assert_eq!(
        found.iter().map(|found| found.content.as_str()).collect::<Vec<_>>(),
        ["my own heron"]
    );
    assert_eq!(forget(&*mine, "k"), 1);
    assert_eq!(get(&*theirs, "k").unwrap().content, "your own heron");
    assert_eq!(one::<i64>(&path, "SELECT count(*) FROM memories"), 2);
}

#[test]
fn what_was_superseded_is_hidden_until_it_is_stored_again() {
    let (_folder, path) = place();
    let memory = open(&path);
    store(&*memory, "old", "the old heron");
    store(&*memory, "new", "the new heron");
    let db = Connection::open(&path).unwrap();
    db.execute_batch("UPDATE memories SET superseded_by = 'new' WHERE key = 'old'").unwrap();
    assert_eq!(memory.entries().unwrap().len(), 1);
    assert_eq!(memory.matching(&key("old")).unwrap().len(), 1);
    store(&*memory, "old", "the old heron came back");
    assert_eq!(memory.entries().unwrap().len(), 2);
}

#[test]
fn what_is_forgotten_goes_from_the_cache_of_vectors() {
    let (_folder, path) = place();
    let memory = open(&path);
    store(&*memory, "tea", "green tea");
    let hash = &sha256_hex(b"green tea")[..16];
    let db = Connection::open(&path).unwrap();
    let fill = "INSERT INTO embedding_cache VALUES (?1, x'00', '2026', '2026')";
    for hash in [hash, "another"] {
        db.execute(fill, [hash]).unwrap();
    }
    assert_eq!(forget(&*memory, "tea"), 1);
    assert_eq!(one::<String>(&path, "SELECT content_hash FROM embedding_cache"), "another");
}

#[test]
fn a_removed_row_leaves_nothing_behind_and_can_be_put_back() {
    let (folder, path) = place();
    let memory = open(&path);
    for number in 0..50 {
        store(&*memory, &format!("k{number}"), &format!("ordinary text number {number}"));
    }
    store(&*memory, "secret", "the quetzalcoatlus password");
    let rows = memory.matching(&key("secret")).unwrap();
    assert_eq!(rows.len(), 1);
    let holds = || {
        let files = fs_err::read_dir(folder.path()).unwrap().map(|dir| dir.unwrap().path());
        let mut files = files.filter(|file| file.is_file());
        files.any(|file| {
            let bytes = fs_err::read(file).unwrap();
            bytes.windows(14).any(|window| window == b"quetzalcoatlus")
        })
    };
    let site = MarkdownStore::open(
        folder.path(),
        &folder.path().join("state"),
        by_name("zeroclaw").unwrap().layout,
    )
    .unwrap();
    let held = site.lock().unwrap();
    let (noted, now) = (memory.noted(&rows), Still.now());
    held.remove_rows("forget", &*memory, &rows, Still.fresh_id(), now).unwrap();
    assert!(!holds());
    let (change, _) = site.last_change().unwrap().unwrap();
    let back = held.undo_rows(change, &noted, &*memory, Still.fresh_id(), now).unwrap();
    assert_eq!(back, RowsUndo { put_back: 1, ..RowsUndo::default() });
    assert_eq!(memory.plan_back(&noted).unwrap(), RowsUndo::default());
    assert_eq!(site.last_change().unwrap(), None);
    assert_eq!(memory.matching(&key("secret")).unwrap(), rows);
    assert!(holds());
}

#[test]
fn rows_are_told_by_id_by_session_and_by_time() {
    let (_folder, path) = place();
    let memory = open(&path);
    store(&*memory, "k", "text");
    let id = get(&*memory, "k").unwrap().id;
    let number = |wanted: ForgetTarget| memory.matching(&wanted).unwrap().len();
    assert_eq!(number(ForgetTarget::Ids(vec![id])), 1);
    assert_eq!(number(ForgetTarget::Session("s".to_owned())), 1);
    assert_eq!(number(ForgetTarget::Session("t".to_owned())), 0);
    let at: Timestamp = "2026-11-16T10:00:00.000000007Z".parse().unwrap();
    assert_eq!(
        number(ForgetTarget::Written { since: Some(at), until: Some(at), zone: TimeZone::UTC }),
        1
    );
    let later = "2026-11-16T10:00:01Z".parse().ok();
    assert_eq!(number(ForgetTarget::Written { since: later, until: None, zone: TimeZone::UTC }), 0);
}

#[test]
fn what_another_program_left_in_unused_pages_goes_when_it_is_compacted() {
    let (_folder, path) = place();
    let memory = open(&path);
    store(&*memory, "tea", "green tea in the morning");
    let db = Connection::open(&path).unwrap();
    db.execute_batch(
        "PRAGMA secure_delete = OFF; CREATE TABLE old (t TEXT);
         INSERT INTO old VALUES ('the quetzalcoatlus password'); DROP TABLE old;
         PRAGMA wal_checkpoint(TRUNCATE);",
    )
    .unwrap();
    let holds =
        || fs_err::read(&path).unwrap().windows(14).any(|window| window == b"quetzalcoatlus");
    assert!(holds());
    memory.compact().unwrap();
    assert!(!holds());
    store(&*memory, "tea", "black tea in the evening");
    let found: i64 =
        one(&path, "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH 'black'");
    assert_eq!(found, 1);
    db.execute_batch("INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1)")
        .unwrap();
}

fn draft(given: NewEntry, category: Category) -> RowDraft {
    RowDraft { given, category, vector: None }
}

fn given(key: Option<&str>, text: &str, supersedes: Option<&str>) -> NewEntry {
    let mut stamp = ProvenanceStamp::new(Still.fresh_id(), Origin::Web, Moment::from(Still.now()));
    stamp.supersedes = supersedes.map(str::to_owned);
    stamp.source = Some("https://example.org".to_owned());
    let importance = Importance::new(0.9).unwrap();
    let label = Some(Label { name: "decision".to_owned(), importance });
    NewEntry { text: text.to_owned(), key: key.map(str::to_owned), label, tags: Vec::new(), stamp }
}

/// Every row of both tables, as SQLite shows them.
fn everything(path: &Path) -> String {
    let rows: Option<String> = one(
        path,
        "SELECT group_concat(id || key || content || category || updated_at
         || coalesce(session_id, '') || coalesce(importance, '') || coalesce(superseded_by, ''), ';')
         FROM (SELECT * FROM memories ORDER BY id)",
    );
    let stamps: Option<String> = one(
        path,
        "SELECT group_concat(memory_id || origin || at || coalesce(session, '')
         || coalesce(source, ''), ';') FROM (SELECT * FROM anemone_stamps ORDER BY memory_id)",
    );
    format!("{rows:?} {stamps:?}")
}

#[test]
fn what_was_written_over_superseded_and_added_is_taken_back_step_by_step() {
    let (folder, path) = place();
    let memory = open(&path);
    store(&*memory, "tea", "green tea in the morning");
    store(&*memory, "port", "the gateway listens on 8080");
    let site = MarkdownStore::open(
        folder.path(),
        &folder.path().join("state"),
        by_name("zeroclaw").unwrap().layout,
    )
    .unwrap();
    let held = site.lock().unwrap();
    let mut states = vec![everything(&path)];
    for new in [
        given(Some("tea"), "black tea in the evening", None),
        given(None, "the gateway listens on 9090", Some("port")),
        given(Some("tea"), "no tea at all", Some("port")),
    ] {
        let rows = [draft(new, Category::Daily)];
        held.write_rows("remember", &*memory, &rows, Still.fresh_id(), Still.now()).unwrap();
        states.push(everything(&path));
    }
    assert_eq!(memory.entries().unwrap().len(), 2);
    let newest = states.pop().unwrap();
    assert!(newest.contains("no tea at all") && newest.contains("0.9"), "{newest}");
    while let Some(before) = states.pop() {
        let (change, noted) = site.last_change().unwrap().unwrap();
        let rows = noted.rows.unwrap();
        let (id, now) = (Still.fresh_id(), Still.now());
        let planned = memory.plan_back(&rows).unwrap();
        assert_eq!(held.undo_rows(change, &rows, &*memory, id, now).unwrap(), planned);
        assert_eq!(everything(&path), before);
    }
    assert_eq!(site.last_change().unwrap(), None);
    Connection::open(&path)
        .unwrap()
        .execute_batch("INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1)")
        .unwrap();
}

#[test]
fn a_row_that_somebody_changed_since_is_not_taken_back() {
    let (folder, path) = place();
    let memory = open(&path);
    store(&*memory, "tea", "green tea in the morning");
    let site = MarkdownStore::open(
        folder.path(),
        &folder.path().join("state"),
        by_name("zeroclaw").unwrap().layout,
    )
    .unwrap();
    let held = site.lock().unwrap();
    let rows = [
        draft(given(Some("tea"), "black tea", None), Category::Core),
        draft(given(Some("port"), "9090", None), Category::Core),
    ];
    held.write_rows("remember", &*memory, &rows, Still.fresh_id(), Still.now()).unwrap();
    store(&*memory, "tea", "ZeroClaw says: white tea");
    let before = everything(&path);
    let (change, noted) = site.last_change().unwrap().unwrap();
    let (id, now) = (Still.fresh_id(), Still.now());
    let back = held.undo_rows(change, &noted.rows.unwrap(), &*memory, id, now).unwrap();
    assert_eq!(back, RowsUndo { changed: vec!["tea".to_owned()], ..RowsUndo::default() });
    assert_eq!(everything(&path), before);
    assert_eq!(site.last_change().unwrap().unwrap().0, change);
}

#[test]
fn nothing_is_written_when_it_cannot_be_and_nothing_is_left_to_undo() {
    let (folder, path) = place();
    let memory = open(&path);
    let site = MarkdownStore::open(folder.path(), &folder.path().join("state"), layout()).unwrap();
    let held = site.lock().unwrap();
    let rows = [
        draft(given(None, "black tea", None), Category::Core),
        draft(given(Some("p|nova"), "a private thing", None), Category::Core),
    ];
    let done = held.write_rows("remember", &*memory, &rows, Still.fresh_id(), Still.now());
    assert!(matches!(done, Err(MemoryError::PrivateKey { .. })));
    assert_eq!(memory.entries().unwrap().len(), 0);
    assert_eq!(site.last_change().unwrap(), None);
}

#[test]
fn a_journal_of_rows_from_before_stamps_were_kept_is_read() {
    let old = r#"{"database":"/x/brain.db","alias":"default","rows":[{"id":"1"}]}"#;
    let noted: RowsRecord = serde_json::from_str(old).unwrap();
    assert_eq!((noted.name().as_str(), noted.rows.len()), ("brain.db", 1));
    assert!(noted.stamps.is_empty() && noted.added.is_empty() && noted.left.is_empty());
}
