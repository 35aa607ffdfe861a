//! Databases of other programs, read without trusting or touching them.
//!
//! The files are copied as bytes, and a second process opens the copy: see [`copy`] for how the
//! copy is made, [`serve`] for what the second process does, and [`wire`] for what it may say. No
//! foreign database is ever opened in this process.

mod copy;
mod merge;
mod schema;
mod serve;
mod wire;

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use anemone_files::each_block;
use anemone_format::Hex;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::kit::Machine;

pub(crate) use copy::{COPY_NAME, Copy, CopyError};
pub(crate) use merge::{AgentEntry, Layout, Merge, MergeColumn, RowSpool, RowVerb, digest};
pub(crate) use schema::{OwnerTable, RowSchema};
#[cfg(test)]
pub(crate) use serve::answer;
pub use serve::{SERVE_ARGUMENT, ServeDatabaseError, serve_database};
use wire::{Ask, FaultKind, ReplyError, ReplyReader, Request};
pub(crate) use wire::{Put, Read, StateTable, Value};

/// How every database of SQLite starts.
pub(crate) const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

/// How long the other process may stay silent.
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
    pub(crate) columns: Vec<Column>,
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
    #[error("it has no table {0}")]
    NoTable(String),
    /// The table is of a kind that we do not read.
    #[error("{table} cannot be read column by column: {detail}")]
    NotOrdinary {
        /// The table.
        table: String,
        /// Why.
        detail: String,
    },
    /// It is damaged, or is no database.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// Another process has it open; only for changes.
    #[error("another program has it open")]
    Busy,
    /// It is not in WAL mode; only for a change.
    #[error("it is not in WAL mode, so other programs that have it open cannot be detected")]
    NotWal,
    /// What was written cannot be read back; only for a change.
    #[error("what was written could not be read back: {0}")]
    Unverified(String),
    /// The row to replace has changed since it was read; only for a change.
    #[error("it has changed since it was read")]
    Changed,
    /// The request goes beyond what is allowed, or SQLite failed.
    #[error("it could not be read: {0}")]
    Failed(String),
    /// The other process was silent for too long, or too slow for the time it had.
    #[error("reading it takes too long")]
    Stalled,
    /// The other process ended early.
    #[error("the process that read it ended early ({0})")]
    Crashed(String),
    /// The other process sent something that is not an answer.
    #[error("the process that read it sent an invalid answer: {0}")]
    Nonsense(&'static str),
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
        for (count, row) in self.ask(Ask::Tables, "", 6)?.enumerate() {
            if count == MAX_LISTED {
                return Err(DatabaseError::Failed("too many columns".to_owned()));
            }
            let Ok(
                [
                    Value::Text(table),
                    Value::Text(name),
                    Value::Text(kind),
                    not_null,
                    default,
                    hidden,
                ],
            ) = <[Value; 6]>::try_from(row?)
            else {
                return Err(DatabaseError::Nonsense("a column without a name"));
            };
            let column = Column {
                name,
                kind,
                not_null: not_null.as_integer() == Some(1),
                default: default.as_text().map(str::to_owned),
                generated: hidden.as_integer() != Some(0),
            };
            match tables.last_mut() {
                Some(last) if last.name == table => last.columns.push(column),
                _ => tables.push(Table { name: table, columns: vec![column] }),
            }
        }
        Ok(tables)
    }

    /// Digests the bytes of the copy with its log and its journal. Reading the copy plays the
    /// journal back, so the digest is different afterwards.
    pub(crate) fn digest(&self) -> io::Result<String> {
        let mut hasher = Sha256::new();
        let parts = [Some(self.copy.file().to_owned()), self.copy.wal(), self.copy.journal()];
        for path in parts {
            let mut hashed = 0_u64;
            if let Some(path) = path {
                each_block(fs_err::File::open(path)?.into_file(), &mut |block| {
                    hasher.update(block);
                    hashed += block.len() as u64;
                    ControlFlow::Continue(())
                })?;
            }
            hasher.update(hashed.to_le_bytes());
        }
        Ok(Hex(&hasher.finalize()).to_string())
    }

    /// Returns whether the copy comes with a journal that reading plays back.
    pub(crate) fn has_journal(&self) -> bool {
        self.copy.journal().is_some()
    }

    /// Reads columns of one table, row by row.
    pub(crate) fn rows(&self, read: &Read) -> Result<Rows, DatabaseError> {
        self.ask(Ask::Rows(read.clone()), &read.table, read.columns.len())
    }

    fn ask(&self, ask: Ask, table: &str, columns: usize) -> Result<Rows, DatabaseError> {
        let request = Request { file: COPY_NAME.to_owned(), ask };
        let site = WorkSite {
            folder: self.copy.folder(),
            scratch: self.copy.folder(),
            patience: patience(copy::size_of(self.copy.file())),
            stall: STALL,
        };
        let mut rows = self.server.ask(&site, &request, None, table, columns)?;
        rows.copy = Some(Arc::clone(&self.copy));
        Ok(rows)
    }
}

impl DatabaseError {
    /// Returns whether the change may have been made in spite of this error.
    pub(crate) fn may_have_changed(&self) -> bool {
        matches!(
            self,
            Self::Unverified { .. } | Self::Stalled | Self::Crashed { .. } | Self::Nonsense { .. }
        )
    }
}

/// Where the other process works, and for how long.
struct WorkSite<'a> {
    folder: &'a Path,
    scratch: &'a Path,
    patience: Duration,
    stall: Duration,
}

/// Returns how long a database of this size may keep us waiting.
fn patience(size_bytes: u64) -> Duration {
    let mib = u32::try_from(size_bytes >> 20).unwrap_or(u32::MAX);
    FIRST_PATIENCE.saturating_add(PATIENCE_PER_MIB.saturating_mul(mib)).max(LEAST_PATIENCE)
}

/// Puts rows into a live database, all or none, unless another process has it open.
pub(crate) fn put_rows(
    machine: &Machine,
    db: &Path,
    changes: Vec<Put>,
) -> Result<(), DatabaseError> {
    let table = changes.first().map_or_else(String::new, |change| change.table.clone());
    let patience = patience(copy::size_of(db));
    change(machine, db, Ask::Put(changes), None, &table, (patience, STALL))
}

/// Merges rows into a database of memories, all or none, unless another process is writing. Without
/// rows it only checks whether that is possible.
pub(crate) fn merge_rows(
    machine: &Machine,
    db: &Path,
    mut merge: Merge,
    rows: Option<RowSpool>,
) -> Result<(), DatabaseError> {
    let spool = rows
        .map(RowSpool::finish)
        .transpose()
        .map_err(|error| DatabaseError::Failed(format!("its rows could not be kept: {error}")))?;
    merge.probe = spool.is_none();
    merge.bytes = spool.as_ref().map_or(0, |(_, bytes)| *bytes);
    // The process sends nothing before it is done.
    let patience = patience(copy::size_of(db).saturating_add(merge.bytes).saturating_mul(4));
    let table = RowSchema::of(&merge.runtime).map_or("", |schema| schema.table);
    let spool = spool.map(|(file, _)| file);
    change(machine, db, Ask::Merge(Box::new(merge)), spool, table, (patience, patience))
}

/// Has the other process change a live database.
fn change(
    machine: &Machine,
    db: &Path,
    ask: Ask,
    spool: Option<std::fs::File>,
    table: &str,
    (patience, stall): (Duration, Duration),
) -> Result<(), DatabaseError> {
    let file = db.file_name().and_then(|name| name.to_str());
    let (Some(folder), Some(file)) = (db.parent(), file) else {
        return Err(DatabaseError::Failed("it has no name".to_owned()));
    };
    if !fs_err::symlink_metadata(db).is_ok_and(|metadata| metadata.is_file()) {
        return Err(CopyError::NotAFile(db.to_owned()).into());
    }
    let request = Request { file: file.to_owned(), ask };
    let site = WorkSite { folder, scratch: &machine.scratch, patience, stall };
    changed(Server::of(machine).ask(&site, &request, spool, table, 0)?)
}

/// Waits for the end of a change.
fn changed(mut rows: Rows) -> Result<(), DatabaseError> {
    match rows.next() {
        None => Ok(()),
        Some(Ok(_)) => Err(DatabaseError::Nonsense("rows after a change")),
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
            ReplyError::Nonsense(detail) => DatabaseError::Nonsense(detail),
            ReplyError::Io(error) if error.kind() == io::ErrorKind::TimedOut => {
                DatabaseError::Stalled
            }
            ReplyError::Io(_) => DatabaseError::Crashed(self.process.end()),
            ReplyError::Fault(kind, detail) => match kind {
                FaultKind::NoTable => DatabaseError::NoTable(self.table.clone()),
                FaultKind::NotOrdinary => {
                    DatabaseError::NotOrdinary { table: self.table.clone(), detail }
                }
                FaultKind::Damaged => DatabaseError::Damaged(detail),
                FaultKind::Busy => DatabaseError::Busy,
                FaultKind::NotWal => DatabaseError::NotWal,
                FaultKind::Unverified => DatabaseError::Unverified(detail),
                FaultKind::Changed => DatabaseError::Changed,
                FaultKind::Refused | FaultKind::Failed => DatabaseError::Failed(detail),
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
    /// The program that is started again for every request.
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
        site: &WorkSite<'_>,
        request: &Request,
        spool: Option<std::fs::File>,
        table: &str,
        columns: usize,
    ) -> Result<Rows, DatabaseError> {
        let bytes = serde_json::to_vec(request).map(Zeroizing::new);
        let mut bytes = bytes.map_err(|_| DatabaseError::Nonsense("not a request"))?;
        if spool.is_some() {
            bytes.push(b'\n');
        }
        let (pipe, process) = self.start(site, bytes, spool)?;
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
        site: &WorkSite<'_>,
        request: Zeroizing<Vec<u8>>,
        spool: Option<std::fs::File>,
    ) -> Result<(Pipe, Process), DatabaseError> {
        match self {
            Self::Program(program) => {
                let mut command = Command::new(program);
                command
                    .arg(SERVE_ARGUMENT)
                    .current_dir(site.folder)
                    .env_clear()
                    .env("SQLITE_TMPDIR", site.scratch)
                    .env("TMPDIR", site.scratch)
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
                let pipe = Pipe::start(output, site.patience, move || {
                    // A process that ends without listening is noticed by its silence.
                    if input.write_all(&request).is_ok()
                        && let Some(mut spool) = spool
                    {
                        drop(io::copy(&mut spool, &mut input));
                    }
                });
                Ok((pipe.map_err(failed)?.stalled_after(site.stall), process))
            }
            #[cfg(test)]
            Self::Thread => {
                let (reader, writer) = std::io::pipe().unwrap();
                let folder = site.folder.to_owned();
                std::thread::spawn(move || {
                    let rest: Box<dyn io::Read> = match spool {
                        Some(spool) => Box::new(spool),
                        None => Box::new(io::empty()),
                    };
                    serve::answer(&folder, io::Read::chain(request.as_slice(), rest), writer)
                });
                let pipe = Pipe::start(reader, site.patience, || ()).unwrap();
                Ok((pipe.stalled_after(site.stall), Process(None)))
            }
        }
    }
}

/// The other process; ends with this.
#[derive(Debug)]
struct Process(Option<Child>);

impl Process {
    /// Ends the process, and returns how it had ended.
    fn end(&mut self) -> String {
        let Some(mut child) = self.0.take() else { return "no process".to_owned() };
        // A process that has closed its output is about to exit; its own exit status is more useful
        // than that of a kill.
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
    // It may have exited already.
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
    /// How much longer we wait in total. The time that we spend on the bytes meanwhile does not
    /// count.
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

    /// Waits for the next bytes; an empty result means the end.
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
pub(crate) mod tests;
