use std::collections::BTreeMap;

use fs_err as fs;
use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::kit::KnownConfigs;

/// A machine whose databases are read on a thread.
pub(crate) fn machine(scratch: &Path) -> Machine {
    Machine {
        home: scratch.to_owned(),
        variables: BTreeMap::new(),
        database_reader: PathBuf::new(),
        scratch: scratch.to_owned(),
        configs: KnownConfigs::default(),
    }
}

fn read(table: &str, columns: &[&str], order_by: &[&str]) -> Read {
    Read::of(table, columns).ordered_by(order_by)
}

fn open(home: &TempDir, name: &str) -> Database {
    Database::open(&machine(home.path()), &home.path().join(name)).unwrap()
}

fn integers(rows: Rows) -> Vec<i64> {
    rows.map(|row| row.unwrap()[0].as_integer().unwrap()).collect()
}

fn make(home: &TempDir, name: &str, sql: &str) -> Connection {
    let connection = Connection::open(home.path().join(name)).unwrap();
    connection.execute_batch(sql).unwrap();
    connection
}

#[test]
fn tables_and_rows_come_as_they_are() {
    let home = TempDir::new().unwrap();
    make(
        &home,
        "x",
        "CREATE TABLE b(id INTEGER PRIMARY KEY, t TEXT, r REAL, d BLOB, n) ;
             CREATE TABLE \"a \"\"odd\"\" name\"(k TEXT PRIMARY KEY) WITHOUT ROWID;
             INSERT INTO b VALUES (2, 'é', 0.5, x'00ff', NULL), (1, 'a', -1e300, x'', 7);",
    );
    let database = open(&home, "x");
    let tables = database.tables().unwrap();
    assert_eq!(tables[0].name, "a \"odd\" name");
    let columns: Vec<_> = tables[1].columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(columns, ["id", "t", "r", "d", "n"]);
    assert!(database.rows(&read("a \"odd\" name", &["k"], &[])).unwrap().next().is_none());
    let rows: Vec<_> = database
        .rows(&read("b", &["id", "t", "r", "d", "n"], &["id"]))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(
        rows,
        [
            vec![
                Value::Integer(1),
                Value::Text("a".into()),
                Value::Real(-1e300),
                Value::Blob(vec![]),
                Value::Integer(7)
            ],
            vec![
                Value::Integer(2),
                Value::Text("é".into()),
                Value::Real(0.5),
                Value::Blob(vec![0, 255]),
                Value::Null
            ],
        ]
    );
}

#[test]
fn what_is_only_in_the_log_is_read_and_nothing_of_the_owner_changes() {
    let home = TempDir::new().unwrap();
    let owner = make(
        &home,
        "x",
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
             CREATE TABLE t(n); INSERT INTO t VALUES (1), (2), (3);",
    );
    let files = || ["x", "x-wal", "x-shm"].map(|name| fs::read(home.path().join(name)).unwrap());
    let before = files();
    assert!(!before[1].is_empty());
    let database = open(&home, "x");
    for _ in 0..2 {
        assert_eq!(integers(database.rows(&read("t", &["n"], &["n"])).unwrap()), [1, 2, 3]);
    }
    assert!(files() == before, "the owner's files changed");
    owner.execute("INSERT INTO t VALUES (4)", []).unwrap();
    assert_eq!(integers(database.rows(&read("t", &["n"], &["n"])).unwrap()), [1, 2, 3]);
}

#[test]
fn an_unfinished_change_is_rolled_back_in_the_copy_only() {
    let home = TempDir::new().unwrap();
    let owner = make(
        &home,
        "x",
        "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 2;
             CREATE TABLE t(n, filler); INSERT INTO t VALUES (1, 'before');",
    );
    owner.execute_batch("BEGIN; UPDATE t SET n = 2;").unwrap();
    for _ in 0..200 {
        owner.execute("INSERT INTO t VALUES (3, zeroblob(3000))", []).unwrap();
    }
    let journal = fs::read(home.path().join("x-journal")).unwrap();
    assert!(!journal.is_empty());
    assert!(fs::metadata(home.path().join("x")).unwrap().len() > 100_000, "nothing spilled");
    let database = open(&home, "x");
    assert_eq!(integers(database.rows(&read("t", &["n"], &[])).unwrap()), [1]);
    assert_eq!(fs::read(home.path().join("x-journal")).unwrap(), journal);
    owner.execute_batch("COMMIT").unwrap();
}

#[test]
fn only_plain_columns_of_plain_tables_are_read() {
    let home = TempDir::new().unwrap();
    make(
        &home,
        "x",
        "CREATE TABLE t(n, g AS (n + 1) STORED, v AS (n + 2)); INSERT INTO t VALUES (1);
             CREATE VIEW w AS SELECT n FROM t;
             CREATE VIRTUAL TABLE f USING fts5(n);",
    );
    let database = open(&home, "x");
    let names: Vec<_> = database.tables().unwrap().into_iter().map(|t| t.name).collect();
    assert!(names.contains(&"t".to_owned()));
    assert!(!names.contains(&"w".to_owned()) && !names.contains(&"f".to_owned()), "{names:?}");
    for (table, column) in [("w", "n"), ("f", "n"), ("t", "g"), ("t", "v")] {
        let error = database.rows(&read(table, &[column], &[])).unwrap_err();
        assert!(matches!(error, DatabaseError::NotOrdinary { .. }), "{table}: {error}");
    }
    assert_eq!(integers(database.rows(&read("T", &["N"], &["g"])).unwrap()), [1]);
    for table in ["", "nothing", "t; DROP TABLE t", "t\" --", "sqlite_schema"] {
        let error = database.rows(&read(table, &["n"], &[])).unwrap_err();
        assert!(matches!(error, DatabaseError::NoTable { .. }), "{table}: {error}");
    }
}

#[test]
fn a_schema_that_hides_a_virtual_table_behind_a_plain_name_is_refused() {
    let home = TempDir::new().unwrap();
    let connection = make(
        &home,
        "x",
        "CREATE TABLE plain(n); CREATE VIRTUAL TABLE f USING fts5(n);
             PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET name = 'f', tbl_name = 'f' WHERE name = 'plain';
             UPDATE sqlite_schema SET name = 'hidden', tbl_name = 'hidden'
               WHERE sql LIKE 'CREATE VIRTUAL%';",
    );
    drop(connection);
    let database = open(&home, "x");
    let error = match database.rows(&read("f", &["n"], &[])) {
        Err(error) => error,
        Ok(mut rows) => rows.next().unwrap().unwrap_err(),
    };
    assert!(
        matches!(error, DatabaseError::NotOrdinary { .. } | DatabaseError::Damaged { .. }),
        "{error}"
    );
}

#[test]
fn columns_that_are_not_there_come_back_as_nothing() {
    let home = TempDir::new().unwrap();
    make(&home, "x", "CREATE TABLE t(n INTEGER); INSERT INTO t VALUES (5), (6);");
    let database = open(&home, "x");
    let columns = ["absent", "n", "rowid", "x\", n --"];
    let mut rows = database.rows(&read("t", &columns, &["absent", "rowid"])).unwrap();
    assert_eq!(
        rows.next().unwrap().unwrap(),
        [Value::Null, Value::Integer(5), Value::Integer(1), Value::Null]
    );
    assert!(database.rows(&read("t", &["absent"], &[])).unwrap().next().is_none());
}

#[test]
fn a_filter_finds_its_rows() {
    let home = TempDir::new().unwrap();
    make(&home, "x", "CREATE TABLE t(n, k); INSERT INTO t VALUES (1,'a'), (2,'b'), (3,'a');");
    let database = open(&home, "x");
    let asked = |column: &str| read("t", &["n"], &["n"]).only(column, "a");
    assert_eq!(integers(database.rows(&asked("k")).unwrap()), [1, 3]);
    assert!(database.rows(&asked("n")).unwrap().next().is_none());
    assert!(database.rows(&asked("absent")).unwrap().next().is_none());
}

#[test]
fn long_values_come_across_and_longer_ones_are_named() {
    let home = TempDir::new().unwrap();
    make(
        &home,
        "x",
        "CREATE TABLE t(b);
             INSERT INTO t VALUES (zeroblob(60 << 20)), (zeroblob(70 << 20)), (1);",
    );
    let rows: Vec<_> = open(&home, "x")
        .rows(&read("t", &["b"], &["rowid"]))
        .unwrap()
        .map(|row| row.unwrap().remove(0))
        .collect();
    assert!(matches!(&rows[0], Value::Blob(bytes) if bytes.len() == 60 << 20));
    assert_eq!(rows[1..], [Value::TooLong(70 << 20), Value::Integer(1)]);
}

#[test]
fn rows_can_be_left_before_their_end() {
    let home = TempDir::new().unwrap();
    make(
        &home,
        "x",
        "CREATE TABLE t(b); WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c
             LIMIT 5000) INSERT INTO t SELECT zeroblob(2000) FROM c;",
    );
    let database = open(&home, "x");
    let mut rows = database.rows(&read("t", &["b"], &[])).unwrap();
    drop(database);
    assert!(rows.next().unwrap().is_ok());
}

#[test]
fn what_is_no_database_is_damaged_and_an_empty_file_has_no_tables() {
    let home = TempDir::new().unwrap();
    fs::write(home.path().join("text"), "not a database at all, but long enough ".repeat(40))
        .unwrap();
    let error = open(&home, "text").tables().unwrap_err();
    assert!(matches!(error, DatabaseError::Damaged { .. }), "{error}");
    fs::write(home.path().join("empty"), "").unwrap();
    assert_eq!(open(&home, "empty").tables().unwrap(), []);
}

/// A small generator, so that failures can be reproduced.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn damaged_files_do_no_damage() {
    let home = TempDir::new().unwrap();
    drop(make(
        &home,
        "x",
        "PRAGMA page_size = 512;
             CREATE TABLE t(id TEXT PRIMARY KEY, n INTEGER, b BLOB);
             CREATE INDEX i ON t(n, b);
             CREATE VIRTUAL TABLE f USING fts5(n);
             WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 60)
             INSERT INTO t SELECT 'key' || n, n, zeroblob(n * 20) FROM c;",
    ));
    let good = fs::read(home.path().join("x")).unwrap();
    let folder = home.path().join("damaged");
    fs::create_dir(&folder).unwrap();
    let ask = |ask: Ask| serde_json::to_vec(&Request { file: COPY_NAME.to_owned(), ask }).unwrap();
    let rows = Ask::Rows(read("t", &["id", "n", "b"], &["n", "id"]));
    let requests = [(ask(Ask::Tables), 6), (ask(rows), 3)];
    let mut state = 0x1234_5678_9abc_def1_u64;
    let (mut whole, mut refused) = (0, 0);
    for round in 0..2_000 {
        let mut bytes = good.clone();
        let len = bytes.len() as u64;
        let at = |state: &mut u64| usize::try_from(random(state) % len).unwrap();
        match round % 4 {
            0 => bytes.truncate(at(&mut state)),
            1 => {
                let (from, to) = (at(&mut state) / 512 * 512, at(&mut state) / 512 * 512);
                bytes.copy_within(from..from + 512, to);
            }
            _ => {
                for _ in 0..=random(&mut state) % 8 {
                    let at = at(&mut state);
                    bytes[at] = random(&mut state).to_le_bytes()[0];
                }
            }
        }
        fs::write(folder.join(COPY_NAME), &bytes).unwrap();
        for suffix in ["-wal", "-journal", "-shm"] {
            drop(fs::remove_file(folder.join(format!("{COPY_NAME}{suffix}"))));
        }
        for (request, columns) in &requests {
            let mut output = Vec::new();
            serve::answer(&folder, request.as_slice(), &mut output).unwrap();
            let mut reader = ReplyReader::new(output.as_slice());
            let mut count = 0;
            let end = match reader.header(*columns) {
                Err(error) => Err(error),
                Ok(()) => loop {
                    match reader.row() {
                        Ok(Some(_)) => count += 1,
                        Ok(None) => break Ok(()),
                        Err(error) => break Err(error),
                    }
                    assert!(count < 100_000, "round {round}");
                },
            };
            match end {
                Ok(()) => whole += 1,
                Err(ReplyError::Fault(..)) => refused += 1,
                Err(other) => panic!("round {round}: {other:?}"),
            }
        }
    }
    assert!(whole > 100 && refused > 100, "{whole} whole, {refused} refused");
}

#[cfg(unix)]
fn program(home: &TempDir, script: &str) -> Machine {
    use std::os::unix::fs::PermissionsExt;
    let path = home.path().join("program");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
    Machine { database_reader: path, ..machine(home.path()) }
}

#[cfg(unix)]
#[test]
fn a_process_that_dies_or_lies_is_an_error_value() {
    let home = TempDir::new().unwrap();
    make(&home, "x", "CREATE TABLE t(n);");
    let ask = |script: &str| {
        let machine = program(&home, script);
        let database = Database::open(&machine, &home.path().join("x")).unwrap();
        database.rows(&read("t", &["n"], &[])).unwrap_err()
    };
    match ask("kill -9 $$") {
        DatabaseError::Crashed(status) => assert!(status.contains('9'), "{status}"),
        other => panic!("{other}"),
    }
    assert!(matches!(ask("exit 3"), DatabaseError::Crashed { .. }));
    assert!(matches!(ask("echo hello"), DatabaseError::Nonsense { .. }));
    assert!(matches!(ask("exec 1>&-; read x"), DatabaseError::Crashed { .. }));
    let lost = Machine { database_reader: "/nowhere/at/all".into(), ..machine(home.path()) };
    let database = Database::open(&lost, &home.path().join("x")).unwrap();
    assert!(matches!(database.tables().unwrap_err(), DatabaseError::Start { .. }));
}

#[cfg(unix)]
#[test]
fn the_process_gets_one_argument_the_request_and_no_environment() {
    let home = TempDir::new().unwrap();
    make(&home, "x", "CREATE TABLE t(n);");
    let seen = home.path().join("seen");
    let script = format!("echo \"$# $1 $HOME\" > {0}; /bin/cat >> {0}", seen.display());
    let machine = program(&home, &script);
    let database = Database::open(&machine, &home.path().join("x")).unwrap();
    drop(database.tables());
    let seen = fs::read_to_string(seen).unwrap();
    assert_eq!(seen, "1 serve-database \n{\"file\":\"copy.sqlite\",\"ask\":\"tables\"}");
}

#[test]
fn silence_is_noticed() {
    let (reader, _writer) = std::io::pipe().unwrap();
    let mut pipe = Pipe::start(reader, LEAST_PATIENCE, || ()).unwrap();
    pipe.stall = Duration::from_millis(20);
    let error = io::Read::read(&mut pipe, &mut [0; 8]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}

#[test]
fn bytes_that_drip_are_not_waited_for_for_ever() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let drip = move || {
        while writer.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    std::thread::spawn(drip);
    let mut pipe = Pipe::start(reader, Duration::from_millis(100), || ()).unwrap();
    let mut bytes = Vec::new();
    let error = io::Read::read_to_end(&mut pipe, &mut bytes).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert!(!bytes.is_empty());
}

#[test]
fn a_larger_database_is_given_more_time() {
    assert_eq!(patience(0), Duration::from_secs(60));
    assert_eq!(patience(50 << 20), Duration::from_secs(60));
    assert_eq!(patience(1 << 30), Duration::from_secs(1_034));
    assert!(patience(u64::MAX) > patience(1 << 40));
}

fn put(value: &str, expected: Option<&str>) -> Put {
    Put {
        table: "config_machine_state".into(),
        key: ("state_key".into(), "authProfiles.store".into()),
        value: ("value_json".into(), value.into()),
        stamp: ("updated_at_ms".into(), 7),
        expected: expected.map(str::to_owned),
    }
}

const STATE: &str = "PRAGMA journal_mode = WAL; CREATE TABLE config_machine_state (
        state_key TEXT NOT NULL PRIMARY KEY, value_json TEXT NOT NULL,
        updated_at_ms INTEGER NOT NULL) STRICT;";

#[test]
fn a_row_is_put_only_while_nobody_else_has_the_database_open() {
    let home = TempDir::new().unwrap();
    let owner = make(&home, "x", STATE);
    let (machine, db) = (machine(home.path()), home.path().join("x"));
    owner.query_row("SELECT count(*) FROM config_machine_state", [], |_| Ok(())).unwrap();
    let error = put_rows(&machine, &db, vec![put("{}", None)]).unwrap_err();
    assert!(matches!(error, DatabaseError::Busy), "{error}");
    drop(owner);
    put_rows(&machine, &db, vec![put("{}", None)]).unwrap();
    let error = put_rows(&machine, &db, vec![put("[]", None)]).unwrap_err();
    assert!(matches!(error, DatabaseError::Changed), "{error}");
    put_rows(&machine, &db, vec![put("[1]", Some("{}"))]).unwrap();
    let owner = Connection::open(&db).unwrap();
    let row = owner.query_row("SELECT * FROM config_machine_state", [], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?))
    });
    assert_eq!(row.unwrap(), ("authProfiles.store".into(), "[1]".into(), 7));
    let mode = owner.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0));
    assert_eq!(mode.unwrap(), "wal");
}

#[test]
fn rows_are_put_together_or_not_at_all() {
    let home = TempDir::new().unwrap();
    drop(make(&home, "x", STATE));
    let (machine, db) = (machine(home.path()), home.path().join("x"));
    let other = |expected| {
        let mut change = put("here", expected);
        change.key.1 = "auth.sharedStore".into();
        change
    };
    let error = put_rows(&machine, &db, vec![put("{}", None), other(Some("x"))]).unwrap_err();
    assert!(matches!(error, DatabaseError::Changed), "{error}");
    let count = || {
        let count = "SELECT count(*) FROM config_machine_state";
        Connection::open(&db).unwrap().query_row(count, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(count(), 0);
    put_rows(&machine, &db, vec![put("{}", None), other(None)]).unwrap();
    assert_eq!(count(), 2);
}

#[test]
fn nothing_is_put_where_nobody_can_see_who_has_it_open() {
    let home = TempDir::new().unwrap();
    let sql = STATE.replace("WAL", "DELETE");
    // It has the database open and is idle: in this mode it holds no lock.
    let owner = make(&home, "x", &sql);
    let (machine, db) = (machine(home.path()), home.path().join("x"));
    let error = put_rows(&machine, &db, vec![put("{}", None)]).unwrap_err();
    assert!(matches!(error, DatabaseError::NotWal), "{error}");
    let count = "SELECT count(*) FROM config_machine_state";
    assert_eq!(owner.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

#[test]
fn a_value_that_does_not_read_back_is_not_put() {
    let home = TempDir::new().unwrap();
    let sql = STATE.replace("value_json TEXT", "value_json REAL").replace("STRICT", "");
    drop(make(&home, "x", &sql));
    let (machine, db) = (machine(home.path()), home.path().join("x"));
    let error = put_rows(&machine, &db, vec![put("1", None)]).unwrap_err();
    assert!(matches!(error, DatabaseError::Failed { .. }), "{error}");
    let count = "SELECT count(*) FROM config_machine_state";
    let owner = Connection::open(&db).unwrap();
    assert_eq!(owner.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

#[test]
fn only_known_tables_without_triggers_are_written() {
    let home = TempDir::new().unwrap();
    drop(make(&home, "x", STATE));
    let (machine, db) = (machine(home.path()), home.path().join("x"));
    let mut table = put("{}", None);
    table.table = "other".into();
    let mut column = put("{}", None);
    column.value.0 = "state_key".into();
    for change in [table, column] {
        let error = put_rows(&machine, &db, vec![change]).unwrap_err();
        assert!(matches!(error, DatabaseError::Failed { .. }), "{error}");
    }
    drop(make(
        &home,
        "x",
        "CREATE TRIGGER z AFTER INSERT ON config_machine_state BEGIN SELECT 1; END;",
    ));
    let error = put_rows(&machine, &db, vec![put("{}", None)]).unwrap_err();
    assert!(matches!(error, DatabaseError::Failed { .. }), "{error}");
}
