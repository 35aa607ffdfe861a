//! The database process: opens a foreign database and answers one request.
//!
//! A malicious file may take over this process, so it gets little: no environment, a folder with a
//! copy, and limits on memory, time, files and processes. This is no sandbox: the process runs as
//! the same user and can read and write the user's files. Therefore SQLite is configured to trust
//! nothing in the file, and only plain columns of ordinary tables are read.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Component, Path};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Row};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use zeroize::Zeroizing;

use super::copy::size_of;
use super::merge;
use super::wire::{
    Ask, FaultKind, MAX_REQUEST_BYTES, Put, Read as TableRead, ReplyWriter, Request,
};
use crate::RUNTIMES;

/// The one argument with which the program is started to serve databases.
pub const SERVE_ARGUMENT: &str = "serve-database";

/// Older versions overflow on a poisoned full-text index.
const OLDEST_SQLITE: i32 = 3_053_002;
const _: () = assert!(rusqlite::ffi::SQLITE_VERSION_NUMBER >= OLDEST_SQLITE, "SQLite is too old");

/// Larger files are read without being checked first, because the check reads every page.
pub(super) const MAX_CHECKED_BYTES: u64 = 256 << 20;

/// How much longer than now files may become.
const SPARE_FILE_BYTES: u64 = 64 << 20;
/// SQLite needs a handful: the database, its log, its shared memory, files to sort with.
const MAX_OPEN_FILES: u64 = 64;

/// What reading a database, or putting a few rows, may take.
const CPU_SECONDS: u64 = 60;

const MAX_TABLES: usize = 4_096;
/// The longest type or default of a column that is sent.
const MAX_DETAIL_BYTES: usize = 1_024;
/// As many as SQLite itself is set to select.
pub(super) const MAX_COLUMNS: usize = 1_000;

/// Why the request could not be answered at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeDatabaseError {
    /// The limits could not be set, so nothing was opened.
    #[error("cannot limit what this process may use")]
    Limits(#[source] io::Error),
    /// The request could not be read.
    #[error("cannot read the request")]
    Request(#[source] io::Error),
    /// The request cannot be parsed.
    #[error("the request is not understood")]
    Malformed(#[source] serde_json::Error),
    /// The answer could not be written.
    #[error("cannot write the answer")]
    Answer(#[source] io::Error),
}

/// Answers one request about a database in the current folder; what the program does when it is
/// started with [`SERVE_ARGUMENT`].
///
/// Limits what the whole process may use first, so nothing else may go on in it.
pub fn serve_database(input: impl Read, output: impl Write) -> Result<(), ServeDatabaseError> {
    limit_process().map_err(ServeDatabaseError::Limits)?;
    let folder = Path::new(".");
    let mut input = BufReader::with_capacity(64 << 10, input);
    let (request, request_bytes) = request_of(&mut input)?;
    let size = size_of(&folder.join(&request.file));
    let (most_bytes, most_seconds) = match &request.ask {
        Ask::Merge(merge) => merge.needs(size),
        _ => (size.saturating_add(request_bytes), CPU_SECONDS),
    };
    // Playing back a log or a journal writes into the copy.
    limit(Resource::Fsize, most_bytes.saturating_add(SPARE_FILE_BYTES))
        .and_then(|()| limit(Resource::Cpu, most_seconds))
        .map_err(ServeDatabaseError::Limits)?;
    reply(folder, &request, input, output)
}

/// Limits everything that does not depend on the request.
fn limit_process() -> io::Result<()> {
    limit(Resource::As, 1 << 30)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Nofile, MAX_OPEN_FILES)?;
    // The number is that of all processes of the user: with 0, this one can start no other.
    limit(Resource::Nproc, 0)
}

fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let most = getrlimit(resource).maximum.map_or(most, |known| known.min(most));
    match setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }) {
        Ok(()) => Ok(()),
        // Not every system supports these limits.
        Err(rustix::io::Errno::INVAL) if matches!(resource, Resource::As | Resource::Nproc) => {
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// Answers one request about a database in a folder, without limits.
#[cfg(test)]
pub(crate) fn answer(
    folder: &Path,
    input: impl Read,
    output: impl Write,
) -> Result<(), ServeDatabaseError> {
    let mut input = BufReader::new(input);
    let (request, _) = request_of(&mut input)?;
    reply(folder, &request, input, output)
}

/// Reads the request, which is one line, and says how long it is.
fn request_of(input: &mut impl BufRead) -> Result<(Request, u64), ServeDatabaseError> {
    let mut bytes = Zeroizing::new(Vec::new());
    let mut limited = input.take(MAX_REQUEST_BYTES);
    limited.read_until(b'\n', &mut bytes).map_err(ServeDatabaseError::Request)?;
    let request = serde_json::from_slice(&bytes).map_err(ServeDatabaseError::Malformed)?;
    Ok((request, bytes.len() as u64))
}

fn reply(
    folder: &Path,
    request: &Request,
    rest: impl Read,
    output: impl Write,
) -> Result<(), ServeDatabaseError> {
    let mut reply = ReplyWriter::new(BufWriter::with_capacity(64 << 10, output));
    match run(folder, request, rest, &mut reply) {
        Ok(()) => reply.end(),
        Err(Stop::Output(error)) => Err(error),
        Err(Stop::Fault(kind, text)) => reply.error(kind, &text),
    }
    .map_err(ServeDatabaseError::Answer)
}

/// Why an answer stopped.
pub(super) enum Stop {
    Fault(FaultKind, String),
    Output(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => FaultKind::Damaged,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => FaultKind::Busy,
            _ => FaultKind::Failed,
        };
        Self::Fault(kind, error.to_string())
    }
}

pub(super) fn fault(kind: FaultKind, text: impl Into<String>) -> Stop {
    Stop::Fault(kind, text.into())
}

fn run<W: Write>(
    folder: &Path,
    request: &Request,
    rest: impl Read,
    reply: &mut ReplyWriter<W>,
) -> Result<(), Stop> {
    if rusqlite::version_number() < OLDEST_SQLITE {
        return Err(fault(FaultKind::Refused, "the SQLite library is too old"));
    }
    check_name(&request.file, "the database is not in this folder")?;
    let path = folder.join(&request.file);
    match &request.ask {
        Ask::Tables => tables(&open_for_reading(&path)?, reply),
        Ask::Rows(read) => rows(&open_for_reading(&path)?, &path, read, reply),
        Ask::Put(changes) => put(&path, changes, reply),
        Ask::Merge(merge) => {
            merge::merge(folder, &path, merge, rest)?;
            Ok(reply.header(0)?)
        }
    }
}

/// Opens a copy. It can be written so that a log or a journal beside it can be played back; SQL
/// cannot write it.
fn open_for_reading(path: &Path) -> Result<Connection, Stop> {
    let connection = open(path)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Refuses a name that leads out of the folder.
pub(super) fn check_name(name: &str, refusal: &str) -> Result<(), Stop> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(_)), None) => Ok(()),
        _ => Err(fault(FaultKind::Refused, refusal)),
    }
}

pub(super) fn open(path: &Path) -> Result<Connection, Stop> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_PRIVATE_CACHE;
    let connection = Connection::open_with_flags(path, flags)?;
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
        // A column that does not exist must not turn into a text.
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
    ] {
        connection.set_db_config(setting, on)?;
    }
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, 128 << 20),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
        (Limit::SQLITE_LIMIT_COLUMN, 1_000),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 10),
        (Limit::SQLITE_LIMIT_VDBE_OP, 250_000),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 100),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 8),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, most)?;
    }
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    // Answers the size that was set, as a row.
    connection.pragma_update_and_check(None, "mmap_size", 0, |_| Ok(())).optional()?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "cache_size", -8_192)?;
    // CHECK constraints are expressions from the file; neither reading nor checking the tables
    // needs them.
    connection.pragma_update(None, "ignore_check_constraints", true)?;
    Ok(connection)
}

fn tables<W: Write>(connection: &Connection, reply: &mut ReplyWriter<W>) -> Result<(), Stop> {
    let mut names = Vec::new();
    let mut statement =
        connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        if names.len() == MAX_TABLES {
            return Err(fault(FaultKind::Refused, "too many tables"));
        }
        // We could not request a name that is not UTF-8.
        if let Ok(name) = row.get::<_, String>(0) {
            names.push(name);
        }
    }
    drop(found);
    let mut statement = connection.prepare(
        "SELECT name, type, \"notnull\", dflt_value, hidden FROM pragma_table_xinfo(?1, 'main')",
    )?;
    let cut = |text: &str| text[..text.floor_char_boundary(MAX_DETAIL_BYTES)].to_owned();
    reply.header(6)?;
    for name in names {
        if !is_ordinary(connection, &name)? {
            continue;
        }
        let mut found = statement.query([&name])?;
        while let Some(row) = found.next()? {
            let Ok(column) = row.get::<_, String>(0) else { continue };
            reply.row()?;
            reply.text(name.as_bytes())?;
            reply.text(column.as_bytes())?;
            reply.text(cut(row.get_ref(1)?.as_str().unwrap_or_default()).as_bytes())?;
            reply.integer(row.get(2)?)?;
            match row.get_ref(3)?.as_str() {
                Ok(default) => reply.text(cut(default).as_bytes())?,
                Err(_) => reply.null()?,
            }
            reply.integer(row.get(4)?)?;
        }
    }
    Ok(())
}

fn rows<W: Write>(
    connection: &Connection,
    path: &Path,
    read: &TableRead,
    reply: &mut ReplyWriter<W>,
) -> Result<(), Stop> {
    let plan = SelectPlan::of(connection, read)?;
    check(connection, path, &read.table)?;
    reply.header(plan.present.len())?;
    if plan.impossible {
        return Ok(());
    }
    check_is_plain(connection, &plan, read)?;
    let mut statement = connection.prepare(&plan.sql)?;
    bind_filter(&mut statement, read)?;
    let mut found = statement.raw_query();
    while let Some(row) = found.next()? {
        send_row(row, &plan.present, reply)?;
    }
    Ok(())
}

fn bind_filter(
    statement: &mut rusqlite::Statement<'_>,
    read: &TableRead,
) -> Result<(), rusqlite::Error> {
    read.filter.as_ref().map_or(Ok(()), |(_, text)| statement.raw_bind_parameter(1, text))
}

fn send_row<W: Write>(
    row: &Row<'_>,
    present: &[bool],
    reply: &mut ReplyWriter<W>,
) -> Result<(), Stop> {
    reply.row()?;
    let mut at = 0;
    for is_present in present {
        if !is_present {
            reply.null()?;
            continue;
        }
        reply.cell(row.get_ref(at)?)?;
        at += 1;
    }
    Ok(())
}

/// A read, compared with the columns of the table.
struct SelectPlan {
    sql: String,
    /// For every requested column, whether the table has it.
    present: Vec<bool>,
    /// No row can be found: no requested column exists, or the one to filter by does not.
    impossible: bool,
}

impl SelectPlan {
    fn of(connection: &Connection, read: &TableRead) -> Result<Self, Stop> {
        if read.columns.len() > MAX_COLUMNS || read.order_by.len() > MAX_COLUMNS {
            return Err(fault(FaultKind::Refused, "too many columns"));
        }
        check_is_ordinary(connection, &read.table)?;
        let columns = columns_of(connection, &read.table)?;
        let table = quoted(&read.table);
        let find =
            |name: &str| columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
        let mut selected = Vec::new();
        let mut present = Vec::new();
        for name in &read.columns {
            let is_present = match find(name) {
                Some(column) if column.generated => {
                    return Err(fault(FaultKind::NotOrdinary, "a generated column"));
                }
                Some(_) => true,
                None => is_rowid(connection, &table, name),
            };
            if is_present {
                selected.push(format!("{table}.{}", quoted(name)));
            }
            present.push(is_present);
        }
        let mut impossible = selected.is_empty();
        let mut sql = format!("SELECT {} FROM main.{table}", selected.join(", "));
        if let Some((name, _)) = &read.filter {
            impossible |= find(name).is_none_or(|column| column.generated);
            sql.push_str(&format!(" WHERE {table}.{} = ?1", quoted(name)));
        }
        let order: Vec<String> = read
            .order_by
            .iter()
            .filter(|name| match find(name) {
                Some(column) => !column.generated,
                None => is_rowid(connection, &table, name),
            })
            .map(|name| format!("{table}.{} COLLATE BINARY", quoted(name)))
            .collect();
        if !order.is_empty() {
            sql.push_str(" ORDER BY ");
            sql.push_str(&order.join(", "));
        }
        Ok(Self { sql, present, impossible })
    }
}

/// Returns whether a name is a plain table; a missing name is a separate error.
///
/// Reads the schema itself, because the pragmas that tell this start the modules of virtual tables.
fn is_ordinary(connection: &Connection, table: &str) -> Result<bool, Stop> {
    let mut statement = connection.prepare_cached(
        "SELECT type, rootpage, sql FROM sqlite_schema \
         WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view')",
    )?;
    let mut found = statement.query([table])?;
    let Some(row) = found.next()? else {
        return Err(fault(FaultKind::NoTable, table));
    };
    let kind = row.get_ref(0)?.as_str().unwrap_or_default().to_owned();
    let page = row.get_ref(1)?.as_i64().unwrap_or_default();
    let sql = row.get_ref(2)?.as_str().unwrap_or_default();
    let begins = sql.get(..12).is_some_and(|begin| begin.eq_ignore_ascii_case("CREATE TABLE"));
    let plain = kind == "table" && page > 1 && begins;
    // SQLite itself never creates two tables with one name.
    Ok(plain && found.next()?.is_none())
}

/// Refuses anything but a plain table.
pub(super) fn check_is_ordinary(connection: &Connection, table: &str) -> Result<(), Stop> {
    if is_ordinary(connection, table)? {
        Ok(())
    } else {
        Err(fault(FaultKind::NotOrdinary, "a view or a virtual table"))
    }
}

pub(super) struct Column {
    pub(super) name: String,
    pub(super) generated: bool,
}

pub(super) fn columns_of(connection: &Connection, table: &str) -> Result<Vec<Column>, Stop> {
    let mut columns = Vec::new();
    let mut statement =
        connection.prepare_cached("SELECT name, hidden FROM pragma_table_xinfo(?1, 'main')")?;
    let mut found = statement.query([table])?;
    while let Some(row) = found.next()? {
        let Ok(name) = row.get::<_, String>(0) else { continue };
        columns.push(Column { name, generated: row.get::<_, i64>(1)? != 0 });
    }
    Ok(columns)
}

/// Returns whether a name that is not a column means the row number.
fn is_rowid(connection: &Connection, table: &str, name: &str) -> bool {
    name.eq_ignore_ascii_case("rowid")
        && connection.prepare(&format!("SELECT {table}.rowid FROM main.{table}")).is_ok()
}

pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Checks the pages of the table before they are read.
fn check(connection: &Connection, path: &Path, table: &str) -> Result<(), Stop> {
    let size = fs_err::symlink_metadata(path).map_or(0, |metadata| metadata.len());
    if size > MAX_CHECKED_BYTES {
        return Ok(());
    }
    check_verdict(connection, "quick_check", table)
}

/// Has SQLite check a table, and fails with the first problem that it finds.
pub(super) fn check_verdict(
    connection: &Connection,
    pragma: &str,
    table: &str,
) -> Result<(), Stop> {
    let mut statement = connection.prepare(&format!("PRAGMA main.{pragma}({})", quoted(table)))?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        match row.get_ref(0)?.as_str() {
            Ok("ok") => {}
            Ok(problem) => return Err(fault(FaultKind::Damaged, problem)),
            Err(_) => return Err(fault(FaultKind::Damaged, "it does not pass a check")),
        }
    }
    Ok(())
}

/// Inspects the bytecode that SQLite compiled for the read: it may open tables and read columns,
/// but must not call functions, run triggers or enter virtual tables, whatever the schema says.
fn check_is_plain(
    connection: &Connection,
    plan: &SelectPlan,
    read: &TableRead,
) -> Result<(), Stop> {
    let mut statement = connection.prepare(&format!("EXPLAIN {}", plan.sql))?;
    bind_filter(&mut statement, read)?;
    let mut found = statement.raw_query();
    while let Some(row) = found.next()? {
        let opcode = row.get_ref(1)?.as_str().unwrap_or_default();
        let virtual_table = opcode
            .strip_prefix('V')
            .is_some_and(|rest| rest.chars().next().is_some_and(|char| char.is_ascii_uppercase()));
        if virtual_table || matches!(opcode, "Function" | "PureFunc" | "Program") {
            return Err(fault(FaultKind::NotOrdinary, "not a plain read"));
        }
    }
    Ok(())
}

/// Puts rows into a live database that no other process has open, in one transaction.
fn put<W: Write>(path: &Path, changes: &[Put], reply: &mut ReplyWriter<W>) -> Result<(), Stop> {
    let is_known = |value: &Put| {
        RUNTIMES.iter().filter_map(|runtime| runtime.state_table).any(|table| table.holds(value))
    };
    if !changes.iter().all(is_known) {
        return Err(fault(FaultKind::Refused, "this table is not written"));
    }
    let connection = open(path)?;
    connection.busy_timeout(std::time::Duration::ZERO)?;
    // Every user of a database in WAL mode holds a lock on it as long as it is open; with this
    // mode, ours must be the only one. In other modes an idle user holds no lock.
    connection.pragma_update_and_check(None, "locking_mode", "exclusive", |_| Ok(()))?;
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if !mode.eq_ignore_ascii_case("wal") {
        return Err(fault(FaultKind::NotWal, mode));
    }
    connection.execute_batch("BEGIN EXCLUSIVE")?;
    for change in changes {
        put_within(&connection, change)?;
    }
    verify(&connection, changes)?;
    // From here on the change may have been written even if something fails.
    let unsure = |stop| match stop {
        Stop::Fault(_, text) => Stop::Fault(FaultKind::Unverified, text),
        output @ Stop::Output(_) => output,
    };
    connection.execute_batch("COMMIT").map_err(|error| unsure(error.into()))?;
    verify(&connection, changes).map_err(unsure)?;
    reply.header(0)?;
    Ok(())
}

/// Reads back what was written, and checks the tables.
fn verify(connection: &Connection, changes: &[Put]) -> Result<(), Stop> {
    for change in changes {
        let present = present_value(connection, change)?;
        if present.as_deref().map(String::as_str) != Some(&*change.value.1) {
            return Err(fault(FaultKind::Failed, "a row does not read back as it was put"));
        }
        check_verdict(connection, "quick_check", &change.table)?;
    }
    Ok(())
}

/// Reads the value that a row has now.
fn present_value(connection: &Connection, change: &Put) -> Result<Option<Zeroizing<String>>, Stop> {
    let (table, key, value) =
        (quoted(&change.table), quoted(&change.key.0), quoted(&change.value.0));
    let select = format!("SELECT {value} FROM main.{table} WHERE {key} = ?1");
    let value = connection
        .query_row(&select, [&change.key.1], |row| row.get::<_, String>(0).map(Zeroizing::new));
    Ok(value.optional()?)
}

fn put_within(connection: &Connection, change: &Put) -> Result<(), Stop> {
    let table = quoted(&change.table);
    let (key, value, stamp) =
        (quoted(&change.key.0), quoted(&change.value.0), quoted(&change.stamp.0));
    check_is_ordinary(connection, &change.table)?;
    let triggers: i64 = connection.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE",
        [&change.table],
        |row| row.get(0),
    )?;
    if triggers != 0 {
        return Err(fault(FaultKind::Refused, "the table has triggers"));
    }
    let present = present_value(connection, change)?;
    if present.as_deref().map(String::as_str) != change.expected.as_deref() {
        return Err(fault(FaultKind::Changed, "the row is no longer what it was"));
    }
    let sql = if present.is_some() {
        format!("UPDATE main.{table} SET {value} = ?2, {stamp} = ?3 WHERE {key} = ?1")
    } else {
        format!("INSERT INTO main.{table} ({key}, {value}, {stamp}) VALUES (?1, ?2, ?3)")
    };
    let changed = connection.execute(&sql, (&change.key.1, &change.value.1, change.stamp.1))?;
    if changed != 1 {
        return Err(fault(FaultKind::Failed, "no row was written"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    #[ignore = "limits the process that it runs in; another test starts it in one of its own"]
    fn in_a_process_of_its_own() {
        limit_process().unwrap();
        limit(Resource::Fsize, 1_000).unwrap();
        limit(Resource::Cpu, 60).unwrap();
        let limits = [
            (Resource::Nofile, 64),
            (Resource::Nproc, 0),
            (Resource::Fsize, 1_000),
            (Resource::Cpu, 60),
            (Resource::Core, 0),
        ];
        for (resource, most) in limits {
            let limit = getrlimit(resource);
            assert_eq!((limit.current, limit.maximum), (Some(most), Some(most)), "{resource:?}");
        }
        let opened: Vec<_> = (0..100).map_while(|_| fs_err::File::open("/dev/null").ok()).collect();
        assert!(opened.len() < 64, "{}", opened.len());
    }

    #[test]
    #[ignore = "limits the process that it runs in; another test starts it in one of its own"]
    fn in_a_process_of_its_own_beside_a_database() {
        let request = r#"{"file":"x","ask":{"rows":{"table":"t","columns":["n"],"order_by":["n"],"filter":null}}}"#;
        let mut output = Vec::new();
        serve_database(request.as_bytes(), &mut output).unwrap();
        assert_eq!(output, b"H\x01\0\0\0Ri\x01\0\0\0\0\0\0\0Ri\x02\0\0\0\0\0\0\0E");
    }

    fn run_alone(test: &str, folder: &Path) {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--test-threads=1"])
            .arg(format!("kit::database::serve::tests::{test}"))
            .current_dir(folder)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }

    #[test]
    fn the_process_may_use_little() {
        run_alone("in_a_process_of_its_own", Path::new("/"));
    }

    #[test]
    fn that_little_is_enough_for_a_database_with_a_log() {
        let folder = tempfile::TempDir::new().unwrap();
        let owner = Connection::open(folder.path().join("x")).unwrap();
        let sql = "PRAGMA journal_mode = WAL; CREATE TABLE t(n); INSERT INTO t VALUES (2), (1);";
        owner.execute_batch(sql).unwrap();
        run_alone("in_a_process_of_its_own_beside_a_database", folder.path());
    }
}
