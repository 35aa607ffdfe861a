//! Databases of other programs: made, changed, read and held open by their SQL.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

pub use rusqlite::types::Value as Cell;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value, json};

const DATABASE: &str = "ANEMONE_TEST_DATABASE";
const SCRIPT: &str = "ANEMONE_TEST_SCRIPT";
const READY: &str = "the database is held";
/// The test that holds a database for others; each binary of tests that use a [`Holder`] has it.
const HOLDER: &str = "holds_a_database_for_another_test";

/// Makes a database, or changes one.
pub fn write_database(path: &Path, script: &str) -> rusqlite::Result<()> {
    Connection::open(path)?.execute_batch(script)
}

/// Changes a database, as another program would.
#[track_caller]
pub fn sql(database: &Path, script: &str) {
    write_database(database, script).expect("the script runs");
}

/// Returns the rows of a query, their cells separated by `|`.
#[track_caller]
pub fn query(database: &Path, query: &str) -> Vec<String> {
    let text = |cell: Cell| match cell {
        Cell::Text(text) => text,
        Cell::Integer(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    let rows = cells(&Connection::open(database).expect("it opens"), query).into_iter();
    rows.map(|row| row.into_iter().map(text).collect::<Vec<_>>().join("|")).collect()
}

/// Reads a database that no connection may change, not even by opening it.
#[track_caller]
pub fn immutable_rows(database: &Path, query: &str) -> Vec<Vec<Cell>> {
    let address = format!("file:{}?immutable=1", database.display());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    cells(&Connection::open_with_flags(address, flags).expect("it opens"), query)
}

#[track_caller]
fn cells(database: &Connection, query: &str) -> Vec<Vec<Cell>> {
    let mut statement = database.prepare(query).expect("the query is SQL");
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| (0..columns).map(|column| row.get(column)).collect());
    rows.and_then(Iterator::collect).expect("the query runs")
}

/// Returns the tables of a ZeroClaw database, every cell as its type and its SQL literal.
#[track_caller]
pub fn dump(database: &Path) -> Value {
    let database = Connection::open(database).expect("it opens");
    let list = |query: &str| -> Vec<String> {
        let mut statement = database.prepare(query).expect("the query is SQL");
        let rows = statement.query_map([], |row| row.get(0));
        rows.and_then(Iterator::collect).expect("the query runs")
    };
    let columns = |table: &str| list(&format!("SELECT name FROM pragma_table_info('{table}')"));
    let table = |table: &str| -> Vec<Value> {
        let columns = columns(table);
        if columns.is_empty() {
            return Vec::new();
        }
        let quoted: String =
            columns.iter().map(|name| format!(", typeof(\"{name}\"), quote(\"{name}\")")).collect();
        let rows = cells(&database, &format!("SELECT rowid{quoted} FROM {table} ORDER BY rowid"));
        let object = |row: Vec<Cell>| {
            let [Cell::Integer(rowid), rest @ ..] = &row[..] else { panic!("{row:?}") };
            let text = |cell: &Cell| match cell {
                Cell::Text(text) => text.clone(),
                other => panic!("{other:?}"),
            };
            let pairs = rest.chunks(2).map(|pair| json!([text(&pair[0]), text(&pair[1])]));
            let mut object: Map<String, Value> = columns.iter().cloned().zip(pairs).collect();
            object.insert("rowid".to_owned(), json!(rowid));
            Value::Object(object)
        };
        rows.into_iter().map(object).collect()
    };
    let named = |kind: &str| {
        list(&format!("SELECT name FROM sqlite_master WHERE type = '{kind}' ORDER BY name"))
    };
    json!({
        "columns": columns("memories"), "memories": table("memories"), "agents": table("agents"),
        "meta": table("memory_meta"), "tables": named("table"), "triggers": named("trigger"),
        "check": list("PRAGMA integrity_check")[0],
    })
}

/// A process that has a database open.
///
/// It must be another process than that of the test: a process that closes any file of a database
/// loses all its locks on it.
pub struct Holder(Child);

impl Holder {
    /// Opens a database, runs a script and waits.
    pub fn start(database: &Path, script: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("the test has a path"))
            .args(["--ignored", "--exact", "--nocapture", HOLDER])
            .env(DATABASE, database)
            .env(SCRIPT, script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the test starts again");
        let output = BufReader::new(child.stdout.as_mut().expect("it is a pipe"));
        let mut lines = output.lines().map(|line| line.expect("it is UTF-8"));
        assert!(lines.any(|line| line.ends_with(READY)), "the script runs");
        Self(child)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // Its input ends here, and so does it.
        drop(self.0.stdin.take());
        let ended = self.0.wait();
        assert!(std::thread::panicking() || ended.is_ok_and(|status| status.success()));
    }
}

/// Holds a database until stdin ends, in a process that [`Holder::start`] started.
#[expect(clippy::disallowed_methods, reason = "another test says what to do by the environment")]
#[expect(clippy::print_stdout, reason = "the other test waits for a word")]
pub fn hold_database() {
    let Some(database) = std::env::var_os(DATABASE) else { return };
    let script = std::env::var(SCRIPT).expect("it comes with the database");
    let database = Connection::open(database).expect("it opens");
    database.execute_batch(&script).expect("the script runs");
    println!("{READY}");
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).expect("it is a pipe");
}
