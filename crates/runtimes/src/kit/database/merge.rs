//! Writes rows into a runtime's database of memories, in the other process.
//!
//! The runtime may have the database open, so everything happens in one exclusive transaction. The
//! database is no more trusted than one that is read: all triggers stay off, and what the runtime's
//! own triggers would do to the full-text index is done once, at the end, by rebuilding the index.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::schema::{RowSchema, is_same_sql};
use super::serve::{
    self, MAX_CHECKED_BYTES, MAX_COLUMNS, Stop, check_is_ordinary, check_name, columns_of, fault,
    quoted,
};
use super::wire::{FaultKind, ReplyError, ReplyReader, ReplyWriter, Value};
use crate::kit::{RowStamp, with_suffix};

/// What is to be merged; the rows follow it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Merge {
    /// The runtime that the rows belong to; it defines the schema.
    pub(crate) runtime: String,
    /// The columns that the table has, or gets.
    pub(crate) layout: Layout,
    /// The columns of the rows that follow; never the owner column.
    pub(crate) columns: Vec<MergeColumn>,
    /// The agent that owns the rows, where the table has owners.
    pub(crate) agent: Option<AgentEntry>,
    /// Whether rows without a known owner belong to this agent too.
    #[serde(default)]
    pub(crate) takes_unowned: bool,
    /// Other agents that the database should know.
    pub(crate) others: Vec<AgentEntry>,
    /// Settings to add where they are missing.
    pub(crate) meta: Vec<(String, String)>,
    /// The current time, for what is created.
    pub(crate) now: String,
    /// The name of an empty file beside the database, into which it is copied first.
    pub(crate) backup: Option<String>,
    /// Whether to only check that the merge is possible.
    pub(crate) probe: bool,
    /// The length of the rows in bytes.
    pub(crate) bytes: u64,
}

/// The columns that a table has, or gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Layout {
    /// There is no table; it is created with these columns.
    Made(Vec<MergeColumn>),
    /// It has these columns, in order.
    Found(Vec<String>),
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MergeColumn {
    /// Its name.
    pub(crate) name: String,
    /// Its type, if the runtime does not know it.
    pub(crate) declared: String,
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentEntry {
    /// Its name.
    #[serde(default)]
    pub(crate) alias: String,
    /// When it was created; empty means now.
    #[serde(default)]
    pub(crate) created_at: String,
    /// Its id, unless the database knows the agent already.
    pub(crate) id: String,
}

/// What is done with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowVerb {
    /// No row has its key; it is inserted.
    Insert,
    /// A row has its key and this digest; that row gets the cells of this one.
    Replace([u8; 32]),
}

/// Returns a digest of a row.
pub(crate) fn digest(cells: &[Value]) -> [u8; 32] {
    let mut writer = ReplyWriter::new(Vec::new());
    // Writing to a vector cannot fail.
    drop(writer.row());
    for cell in cells {
        drop(writer.put(cell));
    }
    Sha256::digest(writer.into_output()).into()
}

/// How many values precede the cells of a row: the digest, the row number, which cells it sets, and
/// where it comes from.
const LEADING: usize = 4;

/// Collects the rows of a merge until all of them are known.
pub(crate) struct RowSpool {
    writer: ReplyWriter<BufWriter<File>>,
    columns: usize,
}

impl RowSpool {
    /// Starts with an unnamed temporary file, for rows with this many columns.
    pub(crate) fn new(scratch: &Path, columns: usize) -> io::Result<Self> {
        let file = tempfile::tempfile_in(scratch)?;
        let mut writer = ReplyWriter::new(BufWriter::with_capacity(64 << 10, file));
        writer.header(columns + LEADING)?;
        Ok(Self { writer, columns })
    }

    /// Adds a row; a cell that is `None` is not set by the row.
    pub(crate) fn push(
        &mut self,
        verb: RowVerb,
        rowid: Option<i64>,
        cells: &[Option<Value>],
        stamp: Option<&RowStamp>,
    ) -> io::Result<()> {
        if cells.len() != self.columns {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.writer.row()?;
        match verb {
            RowVerb::Insert => self.writer.null()?,
            RowVerb::Replace(digest) => self.writer.blob(&digest)?,
        }
        match rowid {
            Some(rowid) => self.writer.integer(rowid)?,
            None => self.writer.null()?,
        }
        let spoken: Vec<u8> = cells.iter().map(|cell| u8::from(cell.is_some())).collect();
        self.writer.blob(&spoken)?;
        match stamp {
            Some(stamp) => self.writer.text(&serde_json::to_vec(stamp)?)?,
            None => self.writer.null()?,
        }
        cells.iter().try_for_each(|cell| self.writer.put(cell.as_ref().unwrap_or(&Value::Null)))
    }

    /// Returns the file from its beginning, and its length.
    pub(super) fn finish(mut self) -> io::Result<(File, u64)> {
        self.writer.end()?;
        self.into_file()
    }

    /// Returns the bytes that `finish` would return.
    #[cfg(test)]
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let (mut file, _) = self.finish().unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn into_file(self) -> io::Result<(File, u64)> {
        let mut file = self.writer.into_output().into_inner().map_err(io::Error::from)?;
        let bytes = file.stream_position()?;
        file.rewind()?;
        Ok((file, bytes))
    }
}

impl Merge {
    /// Returns how long files may become and how long the work may take, for a database of this
    /// size.
    pub(super) fn needs(&self, size: u64) -> (u64, u64) {
        // Rows, indexes and the full-text index, and all of it once more in a log, where a page can
        // occur several times.
        let bytes = size.saturating_add(self.bytes).saturating_mul(16);
        (bytes, 120 + (size.saturating_add(self.bytes) >> 18))
    }
}

/// Merges rows into a database, as a whole or not at all.
pub(super) fn merge(
    folder: &Path,
    path: &Path,
    merge: &Merge,
    rows: impl Read,
) -> Result<(), Stop> {
    if merge.columns.len() > MAX_COLUMNS {
        return Err(fault(FaultKind::Refused, "too many columns"));
    }
    let Some(schema) = RowSchema::of(&merge.runtime) else {
        return Err(fault(FaultKind::Refused, "no runtime that keeps rows"));
    };
    // A log left by another process stays as it is until rows are written: neither a probe nor a
    // failed merge writes it into the database.
    let has_log = fs_err::symlink_metadata(with_suffix(path, "-wal")).is_ok();
    let connection = open(path, schema)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_log)?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    // Dropping the connection rolls everything back.
    let merger = Merger { connection: &connection, merge, schema };
    let found = merger.look()?;
    if merge.probe {
        return Ok(());
    }
    if let Some(name) = &merge.backup {
        back_up(folder, path, name)?;
    }
    merger.prepare(&found)?;
    let owner = merger.put_agents()?;
    let written = merger.put_rows(owner.as_deref(), rows)?;
    if written > 0 || !found.has_search || found.triggers.len() < schema.triggers.len() {
        merger.index(&found)?;
    }
    merger.put_settings()?;
    merger.check(path)?;
    match connection.execute_batch("COMMIT") {
        Ok(()) => {}
        // A reader holds a lock; nothing was written.
        Err(error) if is_busy(&error) => return Err(error.into()),
        Err(error) => return Err(fault(FaultKind::Unverified, error.to_string())),
    }
    // An existing database keeps its journal mode.
    if merge.backup.is_none() && matches!(merge.layout, Layout::Made(_)) {
        connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    // The last connection to close a log writes it into the database.
    connection.close().map_err(|(_, error)| fault(FaultKind::Unverified, error.to_string()))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn open(path: &Path, schema: &RowSchema) -> Result<Connection, Stop> {
    let connection = serve::open(path)?;
    connection.set_limit(Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 1_008)?;
    connection.busy_timeout(schema.wait)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "ignore_check_constraints", false)?;
    debug_assert!(
        connection.db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER).is_ok_and(|on| !on),
        "triggers are off"
    );
    Ok(connection)
}

/// Returns whether there is a table of a name; refuses a view or a virtual table.
fn has_table(connection: &Connection, name: &str) -> Result<bool, Stop> {
    match check_is_ordinary(connection, name) {
        Err(Stop::Fault(FaultKind::NoTable, _)) => Ok(false),
        other => other.map(|()| true),
    }
}

/// Copies the database as it is now; the transaction keeps others from changing it meanwhile.
fn back_up(folder: &Path, path: &Path, name: &str) -> Result<(), Stop> {
    check_name(name, "the copy is not in this folder")?;
    let copy: PathBuf = folder.join(name);
    let failed = |error: io::Error| fault(FaultKind::Failed, format!("no copy: {error}"));
    // The caller has created the file, so it knows that the file is its own.
    let made = fs_err::symlink_metadata(&copy).map_err(failed)?;
    if !made.is_file() || made.len() > 0 {
        return Err(fault(FaultKind::Refused, "there is something in the place of the copy"));
    }
    let from = serve::open(path)?;
    let mut to = Connection::open(&copy)?;
    Backup::new(&from, &mut to)?.run_to_completion(1_024, Duration::ZERO, None)?;
    to.close().map_err(|(_, error)| Stop::from(error))?;
    fs_err::File::open(&copy).and_then(|file| file.sync_all()).map_err(failed)
}

/// Returns a declared type from an untrusted database, reduced to a word with a size.
fn declared(text: &str) -> String {
    let is_plain = |value: &char| value.is_ascii_alphanumeric() || matches!(value, ' ' | '_');
    let words: String = text.chars().filter(is_plain).take(60).collect();
    // A word that begins a constraint would become part of the definition.
    const KINDS: [&str; 10] = [
        "TEXT", "INTEGER", "INT", "BIGINT", "REAL", "DOUBLE", "FLOAT", "NUMERIC", "BLOB", "BOOLEAN",
    ];
    let first = words.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
    match KINDS.iter().find(|kind| **kind == first) {
        Some(kind) => (*kind).to_owned(),
        None if words.to_ascii_uppercase().contains("CHAR") => "TEXT".to_owned(),
        None => String::new(),
    }
}

/// What a database has.
struct DatabaseState {
    columns: Vec<String>,
    has_search: bool,
    triggers: Vec<&'static str>,
}

/// The row that has a key now.
enum PresentRow {
    None,
    /// It has the digest that was expected, and this number.
    Expected(i64),
    Other,
}

/// A merge in progress.
struct Merger<'a> {
    connection: &'a Connection,
    merge: &'a Merge,
    schema: &'static RowSchema,
}

impl Merger<'_> {
    fn has_owners(&self) -> bool {
        let is_owner = |name: &str| name.eq_ignore_ascii_case(self.schema.owner);
        match &self.merge.layout {
            Layout::Made(columns) => columns.iter().any(|column| is_owner(&column.name)),
            Layout::Found(columns) => columns.iter().any(|column| is_owner(column)),
        }
    }

    /// Compares the database with what was planned for, and refuses tables that are not the
    /// runtime's.
    fn look(&self) -> Result<DatabaseState, Stop> {
        let RowSchema { table, search, .. } = self.schema;
        let is_there = has_table(self.connection, table)?;
        let columns = if is_there { columns_of(self.connection, table)? } else { Vec::new() };
        if columns.iter().any(|column| column.generated) {
            return Err(fault(FaultKind::NotOrdinary, "a generated column"));
        }
        let columns: Vec<String> = columns.into_iter().map(|column| column.name).collect();
        match &self.merge.layout {
            Layout::Made(_) if is_there => {
                return Err(fault(FaultKind::Changed, "there is a table"));
            }
            Layout::Found(known) if *known != columns => {
                return Err(fault(FaultKind::Changed, "other columns"));
            }
            _ => {}
        }
        let mut found = DatabaseState { columns, has_search: false, triggers: Vec::new() };
        let mut statement = self.connection.prepare(
            "SELECT type, name, sql FROM sqlite_schema WHERE type = 'trigger' \
             AND tbl_name COLLATE NOCASE IN (?1, ?2, ?3, ?4) OR name = ?2 COLLATE NOCASE",
        )?;
        let watched = [*table, search.0, self.schema.owners.name, self.schema.settings.0];
        let mut entries = statement.query(watched)?;
        while let Some(entry) = entries.next()? {
            let text = |at| -> Result<String, Stop> {
                Ok(entry.get_ref(at)?.as_str().unwrap_or_default().to_owned())
            };
            let (kind, name, sql) = (text(0)?, text(1)?, text(2)?);
            if kind == "table" && is_same_sql(&sql, search.1) {
                found.has_search = true;
                continue;
            }
            match self.schema.own_trigger(&sql).filter(|_| kind == "trigger") {
                Some(known) => found.triggers.push(known),
                None => {
                    let what = format!("{kind} {name} is not the runtime's");
                    return Err(fault(FaultKind::Refused, what));
                }
            }
        }
        Ok(found)
    }

    /// Creates the tables, or the missing columns.
    fn prepare(&self, found: &DatabaseState) -> Result<(), Stop> {
        if let Layout::Made(columns) = &self.merge.layout {
            return self.make(columns);
        }
        let has = |name: &str| found.columns.iter().any(|column| column.eq_ignore_ascii_case(name));
        for column in self.merge.columns.iter().filter(|column| !has(&column.name)) {
            let known = self.schema.column(&column.name);
            let Some((name, definition)) = known.filter(|(name, _)| self.schema.is_addable(name))
            else {
                return Err(fault(FaultKind::Refused, "a column that the runtime does not add"));
            };
            let table = self.schema.table;
            self.connection
                .execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {name} {definition}"))?;
        }
        Ok(())
    }

    /// Creates everything that the runtime creates when it starts.
    fn make(&self, columns: &[MergeColumn]) -> Result<(), Stop> {
        let Self { connection, schema, .. } = self;
        let has_owners = self.has_owners();
        let mut parts = Vec::new();
        for column in columns {
            parts.push(match schema.column(&column.name) {
                Some((name, definition)) if name == schema.key && !has_owners => {
                    format!("{name} {definition} UNIQUE")
                }
                Some((name, definition)) => format!("{name} {definition}"),
                None => format!("{} {}", quoted(&column.name), declared(&column.declared)),
            });
        }
        if has_owners {
            parts.push(schema.unique_key.to_owned());
            for sql in [schema.owners.make, schema.make_versions, schema.settings.1] {
                connection.execute_batch(sql)?;
            }
            connection.execute(schema.set_version, [&self.merge.now])?;
        }
        let (table, parts) = (schema.table, parts.join(",\n    "));
        connection.execute_batch(&format!("CREATE TABLE {table} (\n    {parts}\n)"))?;
        connection.execute_batch(schema.make_others)?;
        let has =
            |wanted: &str| columns.iter().any(|column| column.name.eq_ignore_ascii_case(wanted));
        for index in schema.indexes(has) {
            connection.execute_batch(&index)?;
        }
        Ok(())
    }

    /// Adds the agents that are missing, and returns the id of the one that owns the rows.
    fn put_agents(&self) -> Result<Option<String>, Stop> {
        if !self.has_owners() {
            return Ok(None);
        }
        let Some(owner) = &self.merge.agent else {
            return Err(fault(FaultKind::Refused, "the rows have no owner"));
        };
        let owners = &self.schema.owners;
        let find = |alias: &str| -> rusqlite::Result<Option<String>> {
            self.connection.query_row(owners.find, [alias], |row| row.get(0)).optional()
        };
        check_is_ordinary(self.connection, owners.name)?;
        let created_at = |agent: &AgentEntry| match &*agent.created_at {
            "" => self.merge.now.clone(),
            known => known.to_owned(),
        };
        for agent in self.merge.others.iter().chain([owner]) {
            if find(&agent.alias)?.is_none() {
                let row = [&agent.id, &agent.alias, &created_at(agent)];
                self.connection.execute(owners.add, row)?;
            }
        }
        match find(&owner.alias)? {
            Some(id) if id == owner.id => Ok(Some(id)),
            Some(id) => self.rename_agent(&id, owner, &created_at(owner)),
            None => Err(fault(FaultKind::Failed, "the agent is not there")),
        }
    }

    /// Restores the id that an agent had, unless rows belong to its current id.
    fn rename_agent(
        &self,
        id: &str,
        agent: &AgentEntry,
        created_at: &str,
    ) -> Result<Option<String>, Stop> {
        let RowSchema { table, owner, .. } = self.schema;
        let sql = format!("SELECT 1 FROM {table} WHERE {owner} = ?1");
        if self.connection.prepare(&sql)?.exists([id])? {
            return Err(fault(FaultKind::Changed, "the agent has another id"));
        }
        self.connection.execute(self.schema.owners.change, [&*agent.id, created_at, id])?;
        Ok(Some(agent.id.clone()))
    }

    /// Writes the rows, and returns how many there were.
    fn put_rows(&self, owner: Option<&str>, rows: impl Read) -> Result<u64, Stop> {
        let nonsense = |error: ReplyError| match error {
            ReplyError::Io(error) => fault(FaultKind::Failed, format!("the rows ended: {error}")),
            ReplyError::Fault(_, text) => fault(FaultKind::Failed, text),
            ReplyError::Nonsense(text) => fault(FaultKind::Refused, text),
        };
        let columns = &self.merge.columns;
        let is_key = |column: &MergeColumn| column.name.eq_ignore_ascii_case(self.schema.key);
        let Some(key_at) = columns.iter().position(is_key) else {
            return Err(fault(FaultKind::Refused, "rows without a key"));
        };
        let mut reader = ReplyReader::new(BufReader::with_capacity(64 << 10, rows));
        reader.header(columns.len() + LEADING).map_err(nonsense)?;
        let mut written = 0;
        while let Some(mut row) = reader.row().map_err(nonsense)? {
            let cells = row.split_off(LEADING);
            let (Some(Value::Text(key)), [expected, rowid, Value::Blob(spoken), stamp]) =
                (cells.get(key_at), row.as_slice())
            else {
                return Err(fault(FaultKind::Refused, "not a row"));
            };
            let spoken: Vec<usize> = (0..cells.len())
                .filter(|at| spoken.get(*at).is_some_and(|spoken| *spoken != 0))
                .collect();
            let digest = match expected {
                Value::Blob(digest) => Some(&digest[..]),
                _ => None,
            };
            let written_at = match (expected, self.present(owner, key, digest)?) {
                (Value::Null, PresentRow::None) => {
                    let rowid = rowid.as_integer().filter(|integer| *integer > 0);
                    self.insert(owner, rowid, &spoken, &cells)?;
                    self.connection.last_insert_rowid()
                }
                (Value::Blob(_), PresentRow::Expected(rowid)) => {
                    self.update(rowid, &spoken, &cells)?;
                    rowid
                }
                _ => return Err(fault(FaultKind::Changed, "a row changed meanwhile")),
            };
            if let Some(stamp) = stamp.as_text() {
                self.put_stamp(written_at, stamp)?;
            }
            written += 1;
        }
        Ok(written)
    }

    /// Notes where a row comes from.
    fn put_stamp(&self, rowid: i64, stamp: &str) -> Result<(), Stop> {
        let (table, make, put) = self.schema.stamps;
        let stamp: RowStamp = serde_json::from_str(stamp)
            .map_err(|_| fault(FaultKind::Refused, "a row comes from nowhere"))?;
        if !has_table(self.connection, table)? {
            self.connection.execute_batch(make)?;
        }
        let mut statement = self.connection.prepare_cached(put)?;
        statement.execute((rowid, stamp.origin, stamp.at, stamp.session, stamp.source))?;
        Ok(())
    }

    /// Returns the row that has a key now, compared with the digest that it should have.
    fn present(
        &self,
        owner: Option<&str>,
        key: &str,
        expected: Option<&[u8]>,
    ) -> Result<PresentRow, Stop> {
        let RowSchema { table, key: key_column, owner: owner_column, owners, .. } = self.schema;
        let columns: &[String] = match &self.merge.layout {
            Layout::Found(columns) => columns,
            Layout::Made(_) => &[],
        };
        let shown: String =
            columns.iter().map(|column| format!(", {table}.{}", quoted(column))).collect();
        let mut sql = format!("SELECT rowid{shown} FROM main.{table} WHERE {key_column} = ?1");
        if owner.is_some() {
            // Rows without an owner, or with an unknown one, are read as the agent's.
            let unowned = if self.merge.takes_unowned {
                let owners = owners.name;
                format!(
                    " OR {owner_column} IS NULL OR NOT EXISTS \
                     (SELECT 1 FROM main.{owners} WHERE {owners}.id = {table}.{owner_column})"
                )
            } else {
                String::new()
            };
            sql.push_str(&format!(" AND ({owner_column} = ?2{unowned})"));
        }
        let mut statement = self.connection.prepare_cached(&sql)?;
        statement.raw_bind_parameter(1, key)?;
        if let Some(owner) = owner {
            statement.raw_bind_parameter(2, owner)?;
        }
        let mut found = statement.raw_query();
        let mut present = PresentRow::None;
        while let Some(row) = found.next()? {
            present = PresentRow::Other;
            let Some(expected) = expected else { break };
            let mut writer = ReplyWriter::new(Vec::new());
            writer.row()?;
            for at in 1..=columns.len() {
                writer.cell(row.get_ref(at)?)?;
            }
            if Sha256::digest(writer.into_output())[..] == *expected {
                return Ok(PresentRow::Expected(row.get(0)?));
            }
        }
        Ok(present)
    }

    fn insert(
        &self,
        owner: Option<&str>,
        rowid: Option<i64>,
        spoken: &[usize],
        cells: &[Value],
    ) -> Result<(), Stop> {
        let table = self.schema.table;
        let is_free = match rowid {
            Some(rowid) => {
                let sql = format!("SELECT 1 FROM main.{table} WHERE rowid = ?1");
                !self.connection.prepare_cached(&sql)?.exists([rowid])?
            }
            None => false,
        };
        let mut names = vec!["rowid".to_owned()];
        names.extend(owner.map(|_| self.schema.owner.to_owned()));
        names.extend(spoken.iter().map(|at| quoted(&self.merge.columns[*at].name)));
        let places: Vec<String> = (1..=names.len()).map(|at| format!("?{at}")).collect();
        let (names, places) = (names.join(", "), places.join(", "));
        let sql = format!("INSERT INTO main.{table} ({names}) VALUES ({places})");
        let mut statement = self.connection.prepare_cached(&sql)?;
        // Without a number, SQLite chooses one.
        statement.raw_bind_parameter(1, rowid.filter(|_| is_free))?;
        let mut at = 2;
        if let Some(owner) = owner {
            statement.raw_bind_parameter(at, owner)?;
            at += 1;
        }
        write(&mut statement, at, spoken, cells)
    }

    fn update(&self, rowid: i64, spoken: &[usize], cells: &[Value]) -> Result<(), Stop> {
        let name = |at: &usize| quoted(&self.merge.columns[*at].name);
        let set: Vec<String> =
            (2..).zip(spoken).map(|(n, at)| format!("{} = ?{n}", name(at))).collect();
        let (table, set) = (self.schema.table, set.join(", "));
        let sql = format!("UPDATE main.{table} SET {set} WHERE rowid = ?1");
        let mut statement = self.connection.prepare_cached(&sql)?;
        statement.raw_bind_parameter(1, rowid)?;
        write(&mut statement, 2, spoken, cells)
    }

    /// Rebuilds the full-text index, and creates the missing triggers that keep it in step.
    fn index(&self, found: &DatabaseState) -> Result<(), Stop> {
        let (search, make) = self.schema.search;
        if !found.has_search {
            self.connection.execute_batch(make)?;
        }
        for (name, sql) in self.schema.triggers {
            if !found.triggers.contains(name) {
                self.connection.execute_batch(sql)?;
            }
        }
        // With a rank, the index is compared with the rows and not only with itself.
        self.connection.execute_batch(&format!(
            "INSERT INTO {search}({search}) VALUES ('rebuild');
             INSERT INTO {search}({search}, rank) VALUES ('integrity-check', 1)"
        ))?;
        Ok(())
    }

    fn put_settings(&self) -> Result<(), Stop> {
        let (_, make, add) = self.schema.settings;
        if !self.merge.meta.is_empty() {
            self.connection.execute_batch(make)?;
        }
        for (key, value) in &self.merge.meta {
            self.connection.execute(add, [key, value])?;
        }
        Ok(())
    }

    /// Verifies what was written before the transaction commits.
    fn check(&self, path: &Path) -> Result<(), Stop> {
        let size = fs_err::symlink_metadata(path).map_or(0, |metadata| metadata.len());
        let pragma = if size > MAX_CHECKED_BYTES { "quick_check" } else { "integrity_check" };
        serve::check_verdict(self.connection, pragma, self.schema.table)
    }
}

/// Binds cells from a position on, and writes the row.
fn write(
    statement: &mut rusqlite::Statement<'_>,
    first: usize,
    spoken: &[usize],
    cells: &[Value],
) -> Result<(), Stop> {
    for (place, at) in (first..).zip(spoken) {
        let cell = cells[*at].as_cell();
        let cell = cell.map_err(|_| fault(FaultKind::Refused, "a value without a value"))?;
        statement.raw_bind_parameter(place, ToSqlOutput::Borrowed(cell))?;
    }
    match statement.raw_execute()? {
        1 => Ok(()),
        _ => Err(fault(FaultKind::Failed, "no row was written")),
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;
    use crate::kit::database::wire::{Ask, Request};

    #[test]
    #[ignore = "limits the process that it runs in; another test starts it in one of its own"]
    fn in_a_process_of_its_own() {
        crate::serve_database(io::stdin(), io::sink()).unwrap();
    }

    #[test]
    fn a_process_that_is_killed_half_way_leaves_nothing() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("x");
        let owner = Connection::open(&path).unwrap();
        owner
            .execute_batch(
                "PRAGMA journal_mode = WAL; CREATE TABLE memories (key TEXT UNIQUE, content TEXT);
                 INSERT INTO memories VALUES ('a', 'here')",
            )
            .unwrap();
        let column = |name: &str| MergeColumn { name: name.into(), declared: String::new() };
        let merge = Merge {
            runtime: "zeroclaw".to_owned(),
            layout: Layout::Found(vec!["key".into(), "content".into()]),
            columns: vec![column("key"), column("content")],
            agent: None,
            takes_unowned: false,
            others: Vec::new(),
            meta: Vec::new(),
            now: String::new(),
            backup: Some("copy".into()),
            probe: false,
            bytes: 64 << 20,
        };
        let mut spool = RowSpool::new(folder.path(), 2).unwrap();
        for number in 0..300 {
            // More rows than SQLite caches, so that many of them reach the log.
            let cells =
                [format!("k{number}"), "c".repeat(100_000)].map(|value| Some(Value::Text(value)));
            spool.push(RowVerb::Insert, None, &cells, None).unwrap();
        }
        let rows = spool.into_bytes();
        fs_err::write(folder.path().join("copy"), "").unwrap();
        let request = Request { file: "x".into(), ask: Ask::Merge(Box::new(merge)) };
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture"])
            .arg("kit::database::merge::tests::in_a_process_of_its_own")
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(&serde_json::to_vec(&request).unwrap()).unwrap();
        input.write_all(b"\n").unwrap();
        input.write_all(&rows[..rows.len() - 1]).unwrap();
        // The last bytes are still missing; what was sent before is in the database or on its way.
        let log =
            || fs_err::metadata(folder.path().join("x-wal")).map_or(0, |metadata| metadata.len());
        let since = std::time::Instant::now();
        while log() < 10 << 20 && since.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(log() >= 10 << 20, "nothing was written yet");
        let busy = owner.execute_batch("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE").unwrap_err();
        assert!(is_busy(&busy), "{busy}");
        child.kill().unwrap();
        child.wait().unwrap();
        let count = |connection: &Connection| -> i64 {
            connection.query_row("SELECT count(*) FROM memories", [], |row| row.get(0)).unwrap()
        };
        assert_eq!(count(&owner), 1);
        owner.execute_batch("INSERT INTO memories VALUES ('b', 'goes on')").unwrap();
        assert_eq!(count(&Connection::open(folder.path().join("copy")).unwrap()), 1);
    }
}
