//! Existing rows: merged, replaced, put beside.

use super::*;

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
    assert_eq!(ours.links.iter().filter(|link| link.places.parts.is_empty()).count(), 1);
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
    let part = both.links[0].places.parts.first().or(both.links[1].places.parts.first()).unwrap();
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
