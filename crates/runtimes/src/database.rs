//! Databases of other programs, read without trusting or touching them.
//!
//! The files are copied as bytes, and a second process opens the copy: see [`copy`] for how the
//! copy is made, [`serve`] for what the second process does, and [`wire`] for what it may say. No
//! foreign database is ever opened in this process.

mod copy;
mod merge;
mod serve;
mod wire;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use anemone_format::Hex;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::adapter::Machine;

pub(crate) use copy::{COPY_NAME, Copy, CopyError};
pub(crate) use merge::{
    AgentEntry, KNOWN, Layout, Merge, MergeColumn, RowSpool, RowVerb, digest, is_addable, is_known,
};
#[cfg(test)]
pub(crate) use serve::answer;
pub use serve::{SERVE_ARGUMENT, ServeError, serve_database};
use wire::{Ask, FaultKind, ReplyError, ReplyReader, Request};
pub(crate) use wire::{Put, Read, Value};

/// How long the other process may say nothing.
const STALL: Duration = Duration::from_secs(30);
/// How long it may keep us waiting altogether, and how much longer for each MiB of the database.
const LEAST_PATIENCE: Duration = Duration::from_secs(60);
const FIRST_PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE_PER_MIB: Duration = Duration::from_secs(1);

/// The most tables and columns that are listed.
const MAX_LISTED: usize = 1_000_000;

/// A foreign database, as it was at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Database {
    copy: Arc<Copy>,
    server: Server,
}

/// A table of a foreign database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// Its name.
    pub(crate) name: String,
    /// Its columns, in order.
    pub(crate) columns: Vec<String>,
}

/// A column of a foreign database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// Its name.
    pub(crate) name: String,
    /// Its declared type; may be empty.
    pub(crate) kind: String,
    /// Whether it refuses null.
    pub(crate) not_null: bool,
    /// Its default, as SQL.
    pub(crate) default: Option<String>,
    /// Whether it is computed from others, or hidden.
    pub(crate) generated: bool,
}

/// Why a foreign database could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DatabaseError {
    /// It could not be copied.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// The other process could not be started.
    #[error("cannot start {program} to read a database")]
    Start {
        /// The program.
        program: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It does not have the table.
    #[error("it has no table {table}")]
    NoTable {
        /// The table.
        table: String,
    },
    /// The table is not one that we read.
    #[error("{table} cannot be read column by column: {detail}")]
    NotOrdinary {
        /// The table.
        table: String,
        /// Why.
        detail: String,
    },
    /// It is damaged, or is no database.
    #[error("it is damaged: {detail}")]
    Damaged {
        /// What was found.
        detail: String,
    },
    /// Somebody else has it open; only for a change.
    #[error("another program has it open")]
    Busy,
    /// It is not in WAL mode; only for a change.
    #[error("it is not in WAL mode, so nobody can tell whether another program has it open")]
    NotWal,
    /// What was written does not read back; only for a change.
    #[error("what was written could not be read back: {detail}")]
    Unverified {
        /// What was found.
        detail: String,
    },
    /// What was to be replaced is not what it was; only for a change.
    #[error("it has changed since it was read")]
    Changed,
    /// The request goes beyond what is allowed, or SQLite failed.
    #[error("it could not be read: {detail}")]
    Failed {
        /// What was said.
        detail: String,
    },
    /// The other process said nothing for too long, or too little in all the time it had.
    #[error("reading it takes too long")]
    Stalled,
    /// The other process ended early.
    #[error("the process that read it ended early ({status})")]
    Crashed {
        /// How it ended.
        status: String,
    },
    /// The other process said something that is not an answer.
    #[error("the process that read it gave a wrong answer: {detail}")]
    Nonsense {
        /// What was wrong.
        detail: &'static str,
    },
}

impl Database {
    /// Takes a copy of a database; opens nothing yet.
    pub(crate) fn open(machine: &Machine, db: &Path) -> Result<Self, DatabaseError> {
        let copy = Arc::new(Copy::take(db, &machine.scratch)?);
        Ok(Self { copy, server: Server::of(machine) })
    }

    /// Lists the ordinary tables; views and virtual tables are not among them.
    pub(crate) fn tables(&self) -> Result<Vec<Table>, DatabaseError> {
        let mut tables: Vec<Table> = Vec::new();
        for (count, row) in self.ask(Ask::Tables, "", 2)?.enumerate() {
            if count == MAX_LISTED {
                return Err(DatabaseError::Failed { detail: "too many columns".to_owned() });
            }
            let Ok([Value::Text(name), Value::Text(column)]) = <[Value; 2]>::try_from(row?) else {
                return Err(DatabaseError::Nonsense { detail: "a column without a name" });
            };
            match tables.last_mut() {
                Some(table) if table.name == name => table.columns.push(column),
                _ => tables.push(Table { name, columns: vec![column] }),
            }
        }
        Ok(tables)
    }

    /// Describes the columns of a table.
    pub(crate) fn columns(&self, table: &str) -> Result<Vec<Column>, DatabaseError> {
        let mut columns = Vec::new();
        for row in self.ask(Ask::Columns(table.to_owned()), table, 5)?.take(MAX_LISTED) {
            let Ok([Value::Text(name), Value::Text(kind), not_null, default, hidden]) =
                <[Value; 5]>::try_from(row?)
            else {
                return Err(DatabaseError::Nonsense { detail: "a column without a name" });
            };
            columns.push(Column {
                name,
                kind,
                not_null: not_null.as_integer() == Some(1),
                default: default.as_text().map(str::to_owned),
                generated: hidden.as_integer() != Some(0),
            });
        }
        Ok(columns)
    }

    /// Digests the bytes of the copy with its log and its journal. Once the copy has been read, a
    /// journal has been played back; before that, the digest is another.
    pub(crate) fn digest(&self) -> io::Result<String> {
        let mut hasher = Sha256::new();
        let parts = [Some(self.copy.file().to_owned()), self.copy.wal(), self.copy.journal()];
        for path in parts {
            let mut hashed = 0_u64;
            if let Some(path) = path {
                let mut file = fs_err::File::open(path)?;
                let mut buffer = vec![0; 256 << 10];
                loop {
                    let length = io::Read::read(&mut file, &mut buffer)?;
                    if length == 0 {
                        break;
                    }
                    hasher.update(&buffer[..length]);
                    hashed += length as u64;
                }
            }
            hasher.update(hashed.to_le_bytes());
        }
        Ok(Hex(&hasher.finalize()).to_string())
    }

    /// Says whether the copy comes with a journal that reading plays back.
    pub(crate) fn has_journal(&self) -> bool {
        self.copy.journal().is_some()
    }

    /// Reads columns of one table, row by row.
    pub(crate) fn rows(&self, read: &Read) -> Result<Rows, DatabaseError> {
        self.ask(Ask::Rows(read.clone()), &read.table, read.columns.len())
    }

    fn ask(&self, ask: Ask, table: &str, columns: usize) -> Result<Rows, DatabaseError> {
        let request = Request { file: COPY_NAME.to_owned(), ask };
        let place = Place {
            folder: self.copy.folder(),
            scratch: self.copy.folder(),
            patience: patience(copy::size_of(self.copy.file())),
            stall: STALL,
        };
        let mut rows = self.server.ask(&place, &request, None, table, columns)?;
        rows.copy = Some(Arc::clone(&self.copy));
        Ok(rows)
    }
}

impl DatabaseError {
    /// Says whether a change that ended so may have been made all the same.
    pub(crate) fn may_have_changed(&self) -> bool {
        match self {
            Self::Unverified { .. }
            | Self::Stalled
            | Self::Crashed { .. }
            | Self::Nonsense { .. } => true,
            Self::Copy(_)
            | Self::Start { .. }
            | Self::NoTable { .. }
            | Self::NotOrdinary { .. }
            | Self::Damaged { .. }
            | Self::Busy
            | Self::NotWal
            | Self::Changed
            | Self::Failed { .. } => false,
        }
    }
}

/// Where the other process works, and for how long.
struct Place<'a> {
    folder: &'a Path,
    scratch: &'a Path,
    patience: Duration,
    stall: Duration,
}

/// Says how long a database of this size may keep us waiting.
fn patience(size_bytes: u64) -> Duration {
    let mib = u32::try_from(size_bytes >> 20).unwrap_or(u32::MAX);
    FIRST_PATIENCE.saturating_add(PATIENCE_PER_MIB.saturating_mul(mib)).max(LEAST_PATIENCE)
}

/// Puts rows into a live database, all or none of them, if nobody else has it open.
pub(crate) fn put_rows(
    machine: &Machine,
    db: &Path,
    changes: Vec<Put>,
) -> Result<(), DatabaseError> {
    let refused = |detail: &str| DatabaseError::Failed { detail: detail.to_owned() };
    let file = db.file_name().and_then(|name| name.to_str());
    let (Some(folder), Some(file)) = (db.parent(), file) else {
        return Err(refused("it has no name"));
    };
    if !fs_err::symlink_metadata(db).is_ok_and(|metadata| metadata.is_file()) {
        return Err(CopyError::NotAFile { path: db.to_owned() }.into());
    }
    let table = changes.first().map_or_else(String::new, |change| change.table.clone());
    let request = Request { file: file.to_owned(), ask: Ask::Put(changes) };
    let patience = patience(copy::size_of(db));
    let place = Place { folder, scratch: &machine.scratch, patience, stall: STALL };
    changed(Server::of(machine).ask(&place, &request, None, &table, 0)?)
}

/// Merges rows into a database of memories, all or none of them, unless somebody else is writing.
/// Without rows it only says whether that could be done.
pub(crate) fn merge_rows(
    machine: &Machine,
    db: &Path,
    mut merge: Merge,
    rows: Option<RowSpool>,
) -> Result<(), DatabaseError> {
    let refused = |detail: &str| DatabaseError::Failed { detail: detail.to_owned() };
    let file = db.file_name().and_then(|name| name.to_str());
    let (Some(folder), Some(file)) = (db.parent(), file) else {
        return Err(refused("it has no name"));
    };
    if !fs_err::symlink_metadata(db).is_ok_and(|metadata| metadata.is_file()) {
        return Err(CopyError::NotAFile { path: db.to_owned() }.into());
    }
    let spool = rows.map(RowSpool::finish).transpose();
    let spool = spool.map_err(|error| refused(&format!("its rows could not be kept: {error}")))?;
    merge.probe = spool.is_none();
    merge.bytes = spool.as_ref().map_or(0, |(_, bytes)| *bytes);
    // It says nothing before it is done.
    let patience = patience(copy::size_of(db).saturating_add(merge.bytes).saturating_mul(4));
    let place = Place { folder, scratch: &machine.scratch, patience, stall: patience };
    let request = Request { file: file.to_owned(), ask: Ask::Merge(Box::new(merge)) };
    let spool = spool.map(|(file, _)| file);
    changed(Server::of(machine).ask(&place, &request, spool, "memories", 0)?)
}

/// Waits for the end of a change.
fn changed(mut rows: Rows) -> Result<(), DatabaseError> {
    match rows.next() {
        None => Ok(()),
        Some(Ok(_)) => Err(DatabaseError::Nonsense { detail: "rows after a change" }),
        Some(Err(error)) => Err(error),
    }
}

/// The rows of an answer. The other process ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Rows {
    reply: ReplyReader<Pipe>,
    process: Process,
    table: String,
    done: bool,
    /// The other process reads from it.
    copy: Option<Arc<Copy>>,
}

impl Rows {
    fn error(&mut self, error: ReplyError) -> DatabaseError {
        self.done = true;
        match error {
            ReplyError::Nonsense(detail) => DatabaseError::Nonsense { detail },
            ReplyError::Io(error) if error.kind() == io::ErrorKind::TimedOut => {
                DatabaseError::Stalled
            }
            ReplyError::Io(_) => DatabaseError::Crashed { status: self.process.end() },
            ReplyError::Fault(kind, detail) => match kind {
                FaultKind::NoTable => DatabaseError::NoTable { table: self.table.clone() },
                FaultKind::NotOrdinary => {
                    DatabaseError::NotOrdinary { table: self.table.clone(), detail }
                }
                FaultKind::Damaged => DatabaseError::Damaged { detail },
                FaultKind::Busy => DatabaseError::Busy,
                FaultKind::NotWal => DatabaseError::NotWal,
                FaultKind::Unverified => DatabaseError::Unverified { detail },
                FaultKind::Changed => DatabaseError::Changed,
                FaultKind::Refused | FaultKind::Failed => DatabaseError::Failed { detail },
            },
        }
    }
}

impl Iterator for Rows {
    type Item = Result<Vec<Value>, DatabaseError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        match self.reply.row() {
            Ok(Some(row)) => Some(Ok(row)),
            Ok(None) => {
                self.done = true;
                None
            }
            Err(error) => Some(Err(self.error(error))),
        }
    }
}

/// What answers requests.
#[derive(Clone, Debug)]
enum Server {
    /// A program of ours, started anew for every request.
    Program(PathBuf),
    /// A thread, for tests that have no program.
    #[cfg(test)]
    Thread,
}

impl Server {
    fn of(machine: &Machine) -> Self {
        #[cfg(test)]
        if machine.database_reader.as_os_str().is_empty() {
            return Self::Thread;
        }
        Self::Program(machine.database_reader.clone())
    }

    fn ask(
        &self,
        place: &Place<'_>,
        request: &Request,
        spool: Option<std::fs::File>,
        table: &str,
        columns: usize,
    ) -> Result<Rows, DatabaseError> {
        let bytes = serde_json::to_vec(request).map(Zeroizing::new);
        let mut bytes = bytes.map_err(|_| DatabaseError::Nonsense { detail: "not a request" })?;
        if spool.is_some() {
            bytes.push(b'\n');
        }
        let (pipe, process) = self.start(place, bytes, spool)?;
        let mut rows = Rows {
            reply: ReplyReader::new(pipe),
            process,
            table: table.to_owned(),
            done: false,
            copy: None,
        };
        match rows.reply.header(columns) {
            Ok(()) => Ok(rows),
            Err(error) => Err(rows.error(error)),
        }
    }

    fn start(
        &self,
        place: &Place<'_>,
        request: Zeroizing<Vec<u8>>,
        spool: Option<std::fs::File>,
    ) -> Result<(Pipe, Process), DatabaseError> {
        match self {
            Self::Program(program) => {
                let mut command = Command::new(program);
                command
                    .arg(SERVE_ARGUMENT)
                    .current_dir(place.folder)
                    .env_clear()
                    .env("SQLITE_TMPDIR", place.scratch)
                    .env("TMPDIR", place.scratch)
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null());
                let failed = |source| DatabaseError::Start { program: program.clone(), source };
                let mut child = command.spawn().map_err(failed)?;
                let (input, output) = (child.stdin.take(), child.stdout.take());
                let (Some(mut input), Some(output)) = (input, output) else {
                    return Err(failed(io::ErrorKind::BrokenPipe.into()));
                };
                let process = Process(Some(child));
                let pipe = Pipe::start(output, place.patience, move || {
                    // A process that ends without listening is noticed by its silence.
                    if input.write_all(&request).is_ok()
                        && let Some(mut spool) = spool
                    {
                        drop(io::copy(&mut spool, &mut input));
                    }
                });
                Ok((pipe.map_err(failed)?.stalled_after(place.stall), process))
            }
            #[cfg(test)]
            Self::Thread => {
                let (reader, writer) = std::io::pipe().unwrap();
                let folder = place.folder.to_owned();
                std::thread::spawn(move || {
                    let rest: Box<dyn io::Read> = match spool {
                        Some(spool) => Box::new(spool),
                        None => Box::new(io::empty()),
                    };
                    serve::answer(&folder, io::Read::chain(request.as_slice(), rest), writer)
                });
                let pipe = Pipe::start(reader, place.patience, || ()).unwrap();
                Ok((pipe.stalled_after(place.stall), Process(None)))
            }
        }
    }
}

/// The other process; ends with this.
#[derive(Debug)]
struct Process(Option<Child>);

impl Process {
    /// Ends it, and says how it had ended.
    fn end(&mut self) -> String {
        let Some(mut child) = self.0.take() else { return "no process".to_owned() };
        // When it has closed its output it is on its way out; its own status says more than ours.
        let patience = Duration::from_millis(10);
        for _ in 0..20 {
            match child.try_wait() {
                Ok(Some(status)) => return status.to_string(),
                Ok(None) => std::thread::sleep(patience),
                Err(_) => break,
            }
        }
        stop(&mut child)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            stop(&mut child);
        }
    }
}

fn stop(child: &mut Child) -> String {
    // It may have ended by itself.
    drop(child.kill());
    child.wait().map_or_else(|error| error.to_string(), |status| status.to_string())
}

/// The bytes that the other process writes, read on a thread so that its silence can be noticed.
#[derive(Debug)]
struct Pipe {
    chunks: Receiver<io::Result<Zeroizing<Vec<u8>>>>,
    chunk: Zeroizing<Vec<u8>>,
    at: usize,
    stall: Duration,
    /// How much longer we wait altogether. What we do with the bytes meanwhile is our own time.
    patience: Duration,
}

impl Pipe {
    fn start(
        mut output: impl io::Read + Send + 'static,
        patience: Duration,
        first: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, chunks) = sync_channel(4);
        let read = move || {
            first();
            send_chunks(&mut output, &sender);
        };
        std::thread::Builder::new().name("database".to_owned()).spawn(read)?;
        Ok(Self { chunks, chunk: Zeroizing::new(Vec::new()), at: 0, stall: STALL, patience })
    }

    fn stalled_after(self, stall: Duration) -> Self {
        Self { stall, ..self }
    }

    /// Waits for the next bytes; none are the end.
    fn wait(&mut self) -> io::Result<Zeroizing<Vec<u8>>> {
        let since = Instant::now();
        let chunk = self.chunks.recv_timeout(self.stall.min(self.patience));
        self.patience = self.patience.saturating_sub(since.elapsed());
        match chunk {
            Ok(chunk) => chunk,
            Err(RecvTimeoutError::Timeout) => Err(io::ErrorKind::TimedOut.into()),
            Err(RecvTimeoutError::Disconnected) => Ok(Zeroizing::default()),
        }
    }
}

fn send_chunks(output: &mut impl io::Read, sender: &SyncSender<io::Result<Zeroizing<Vec<u8>>>>) {
    loop {
        let mut chunk = Zeroizing::new(vec![0; 64 << 10]);
        let sent = match output.read(&mut chunk) {
            Ok(0) => return,
            Ok(length) => {
                chunk.truncate(length);
                sender.send(Ok(chunk))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => sender.send(Err(error)),
        };
        if sent.is_err() {
            return;
        }
    }
}

impl io::Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.chunk.len() {
            self.chunk = self.wait()?;
            self.at = 0;
        }
        let read = io::Read::read(&mut &self.chunk[self.at..], buffer)?;
        self.at += read;
        Ok(read)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use fs_err as fs;
    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::*;

    /// A machine whose databases are read on a thread.
    pub(crate) fn machine(scratch: &Path) -> Machine {
        Machine {
            home: scratch.to_owned(),
            variables: BTreeMap::new(),
            database_reader: PathBuf::new(),
            scratch: scratch.to_owned(),
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
        assert_eq!(tables[1].columns, ["id", "t", "r", "d", "n"]);
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
        let files =
            || ["x", "x-wal", "x-shm"].map(|name| fs::read(home.path().join(name)).unwrap());
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

    /// A small generator, so that a failure can be made again.
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
        let ask =
            |ask: Ask| serde_json::to_vec(&Request { file: COPY_NAME.to_owned(), ask }).unwrap();
        let rows = Ask::Rows(read("t", &["id", "n", "b"], &["n", "id"]));
        let requests = [(ask(Ask::Tables), 2), (ask(rows), 3)];
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
            DatabaseError::Crashed { status } => assert!(status.contains('9'), "{status}"),
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
        // Has it open and rests: in this mode without any lock.
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
}
