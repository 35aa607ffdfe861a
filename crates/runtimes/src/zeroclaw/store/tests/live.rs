//! Databases that another program has open, or that are left by a crash.

use super::*;

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
    says(planned.step().change.check(&machine).unwrap_err());
    let source = LoadedSnapshot::new(&out);
    says(
        planned.step().change.apply(&machine, &RestoreSource::new(&source), &at(NOW)).unwrap_err(),
    );
    runtime.execute_batch("ROLLBACK").unwrap();
    assert_eq!(query(&to, SHOWN), before);
    // A program that only has it open is not an obstacle.
    planned.step().change.check(&machine).unwrap();
    planned.step().change.apply(&machine, &RestoreSource::new(&source), &at(NOW)).unwrap();
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
fn plan_tree(
    home: &TempDir,
    workspace: &Path,
    db: &Path,
    out: &Snapshot,
) -> crate::kit::plan::Plan {
    let target = agent("default", "workspace");
    let mut draft = planned(home.path(), db, out, &target, OnConflict::Stop).draft;
    draft.wanted.push(crate::kit::plan::PlannedFile::text("new.md", "new".to_owned(), at(NOW)));
    let options = PlanOptions::new(OnConflict::Stop);
    crate::kit::plan::plan(workspace, draft, &LoadedSnapshot::new(out), &options).unwrap()
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
        let (step, source) = (plan.memories.as_ref().unwrap(), LoadedSnapshot::new(&out));
        let machine = machine(home.path());
        step.change.check(&machine).unwrap();
        let applied = crate::apply(&plan, &source, &crate::Unwatched).unwrap();
        assert_eq!((applied.replaced_kept_at, applied.warnings.len()), (None, 0));
        assert_eq!(fs::read_to_string(workspace.join("new.md")).unwrap(), "new");
        put("later");
        assert_eq!(query(&db, ALL_KEYS), ["before", "here", "later"], "{journal}");
        step.change.apply(&machine, &RestoreSource::new(&source), &at(NOW)).unwrap();
        let seen: i64 =
            runtime.query_row("SELECT count(*) FROM memories", [], |row| row.get(0)).unwrap();
        assert_eq!(seen, 4, "{journal}");
        put("last");
        drop(runtime);
        assert_eq!(query(&db, ALL_KEYS), ["before", "here", "last", "later", "text"], "{journal}");
        is_usable(&db);
        let names = crate::kit::tree::tests::names(home.path());
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
        let (step, source) = (plan.memories.as_ref().unwrap(), LoadedSnapshot::new(&out));
        let machine = machine(home.path());
        step.change.check(&machine).unwrap();
        assert!(fs::read(&db).unwrap() == bytes, "asking changed the database");
        assert!(fs::read(&log).unwrap() == logged, "asking changed the log");
        let applied = crate::apply(&plan, &source, &crate::Unwatched).unwrap();
        assert_eq!(applied.replaced_kept_at, None);
        step.change.apply(&machine, &RestoreSource::new(&source), &at(NOW)).unwrap();
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
    planned.step().change.check(&machine(home.path())).unwrap();
    let after = (fs::read(&db).unwrap(), fs::metadata(&db).unwrap().modified().unwrap());
    assert!(after == before);
    assert_eq!(crate::kit::tree::tests::names(db.parent().unwrap()), ["brain.db"]);
}

#[test]
fn a_row_that_changed_since_the_plan_stops_all_of_it() {
    let home = TempDir::new().unwrap();
    let (to, out) = conflicting(&home);
    let planned = planned(home.path(), &to, &out, &agent("default", "data"), OnConflict::Theirs);
    let sql = "UPDATE memories SET content = 'meanwhile' WHERE key = ' odd key '";
    Connection::open(&to).unwrap().execute_batch(sql).unwrap();
    let before = query(&to, SHOWN);
    let source = LoadedSnapshot::new(&out);
    let error = planned
        .step()
        .change
        .apply(&machine(home.path()), &RestoreSource::new(&source), &at(NOW))
        .unwrap_err();
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
    let (machine, source) = (machine(home.path()), LoadedSnapshot::new(&out));
    let runtime = Connection::open(&to).unwrap();
    runtime.execute_batch("BEGIN IMMEDIATE").unwrap();
    planned.step().change.apply(&machine, &RestoreSource::new(&source), &at(NOW)).unwrap_err();
    assert!(theirs.exists());
    assert_eq!(
        crate::kit::tree::tests::names(to.parent().unwrap()).len(),
        4,
        "a copy was left behind"
    );
    runtime.execute_batch("ROLLBACK").unwrap();
    let made = planned
        .step()
        .change
        .apply(&machine, &RestoreSource::new(&source), &at(NOW))
        .unwrap()
        .unwrap();
    assert_eq!(made, to.with_file_name("brain.db.backup-20260830T120000-1"));
    assert_eq!(fs::metadata(&theirs).unwrap().len(), 0);
    // The other process accepts nothing but an empty file.
    let mut merge = Merge {
        runtime: RUNTIME.to_owned(),
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
