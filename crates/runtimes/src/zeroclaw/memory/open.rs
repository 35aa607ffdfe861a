//! Opens, creates and recognises ZeroClaw's database.
//!
//! New databases get the schema of the newest ZeroClaw. An existing one is used as it is if it has
//! the columns of February 2026 or later; older ones are migrated by ZeroClaw itself and refused
//! here. The database that the first documents describe, with one column `timestamp`, is used as it
//! is, too; its full-text index may lack some triggers or all, and then it is filled here. The file
//! is untrusted: functions with side effects are disabled in its schema, its shadow
//! tables cannot be written, and triggers other than ZeroClaw's own three are refused.
//!
//! Rows of every shape can be listed: all this is required only before something is changed.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use anemone_files::open_private;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::kit::with_suffix;
use crate::zeroclaw::schema::{
    NEEDED, NEEDED_WITH_TIMESTAMP, SCHEMA, TIMESTAMP, WAIT_TO_CHANGE, new_database,
};

/// Bytes of one value, at most.
const MAX_VALUE_BYTES: i32 = 256 << 20;

/// Why a database of memories cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenRowsError {
    /// The file.
    #[error("cannot reach the database {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// SQLite.
    #[error("cannot open the database {path}")]
    Database {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
    /// It is a link, a folder or something similar.
    #[error("{0} is not a plain file")]
    NotPlain(PathBuf),
    /// It holds something else.
    #[error("{0} holds no memories of ZeroClaw")]
    NotMemories(PathBuf),
    /// It was made by a version of ZeroClaw that is too old, or ZeroClaw did not finish it.
    #[error(
        "{path} has no {missing}: start a newer ZeroClaw once, which brings its database up to date"
    )]
    OldShape {
        /// The file.
        path: PathBuf,
        /// What is missing.
        missing: &'static str,
    },
    /// Its full-text index has no triggers, and we do not know how to fill it.
    #[error("{0} has a full-text index of an unknown form, which a change would make wrong")]
    UnknownIndex(PathBuf),
    /// A trigger in it would run on writes.
    #[error("{path} has a trigger that is not ZeroClaw's: {name:?}")]
    ForeignTrigger {
        /// The file.
        path: PathBuf,
        /// The trigger.
        name: String,
    },
}

/// The tables and columns of a database.
#[derive(Clone, Debug, Default)]
pub(super) struct DatabaseShape {
    columns: HashSet<String>,
    tables: HashSet<String>,
    pub(super) search: SearchIndex,
}

/// How the full-text index of a database stays in step with its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SearchIndex {
    /// Triggers do it.
    #[default]
    Triggers,
    /// There is no such index.
    None,
    /// Not all triggers are there: it indexes the table, and is rebuilt after a change.
    Rebuilt,
    /// Not all triggers are there: it has its own copy of the texts, and is filled again after a
    /// change.
    Refilled,
}

impl DatabaseShape {
    pub(super) fn has(&self, column: &str) -> bool {
        self.columns.contains(column)
    }

    pub(super) fn has_table(&self, table: &str) -> bool {
        self.tables.contains(table)
    }

    /// Whether a row has one time, as the first documents say.
    pub(super) fn has_timestamp(&self) -> bool {
        has_timestamp(&self.columns)
    }

    /// Returns the column with the time at which a row was written first; a database that can only
    /// be read may lack it.
    pub(super) fn created(&self) -> &'static str {
        if self.has_timestamp() { TIMESTAMP } else { "created_at" }
    }

    /// Returns the column with the time at which a row was written last.
    pub(super) fn updated(&self) -> &'static str {
        if self.has("updated_at") { "updated_at" } else { self.created() }
    }

    /// Returns a column, or `NULL` where it does not exist.
    pub(super) fn or_null(&self, column: &str) -> String {
        if self.has(column) { format!("m.{column}") } else { "NULL".to_owned() }
    }
}

/// Opens a database to read and write, and creates it if it does not exist. `now` is the time in
/// UTC, as ZeroClaw writes it.
pub(super) fn open(path: &Path, now: &str) -> Result<(Connection, DatabaseShape), OpenRowsError> {
    let io = |source| OpenRowsError::Io { path: path.to_owned(), source };
    check_plain(path)?;
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder).map_err(io)?;
    }
    // SQLite would create the file with the default mode, but memories must not be readable by
    // others.
    let file = open_private(path).map_err(io)?;
    // An existing database keeps its journal mode.
    let is_new = file.metadata().map_err(io)?.len() == 0;
    drop(file);
    let failed = |source| OpenRowsError::Database { path: path.to_owned(), source };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut db = Connection::open_with_flags(path, flags).map_err(failed)?;
    guard(&db).map_err(failed)?;
    let prepare = || -> rusqlite::Result<()> {
        db.busy_timeout(WAIT_TO_CHANGE)?;
        db.pragma_update(None, "foreign_keys", true)?;
        if is_new {
            db.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
        }
        db.execute_batch(
            "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2000; PRAGMA temp_store = MEMORY;
             PRAGMA secure_delete = ON;",
        )?;
        db.pragma_update_and_check(None, "mmap_size", 8_388_608, |_| Ok(()))
    };
    prepare().map_err(failed)?;
    let all = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    if names(&all, "table").map_err(failed)?.is_empty() {
        make(&all, now).map_err(failed)?;
    }
    let mut shape = look(&all, path)?;
    shape.search = check_for_changes(&all, path, &shape)?;
    all.commit().map_err(failed)?;
    Ok((db, shape))
}

/// Opens a database only to read; `None` when there is none.
pub(super) fn open_to_read(
    path: &Path,
) -> Result<Option<(Connection, DatabaseShape)>, OpenRowsError> {
    match fs_err::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        _ => check_plain(path)?,
    }
    let failed = |source| OpenRowsError::Database { path: path.to_owned(), source };
    let has_log = fs_err::symlink_metadata(with_suffix(path, "-wal")).is_ok();
    // A read-only connection would leave a new log behind; an existing log stays.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(failed)?;
    let prepare = || -> rusqlite::Result<()> {
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_log)?;
        guard(&db)?;
        db.busy_timeout(WAIT_TO_CHANGE)?;
        db.pragma_update(None, "query_only", true)
    };
    prepare().map_err(failed)?;
    // Another process created the file and has not written its tables yet.
    if names(&db, "table").map_err(failed)?.is_empty() {
        return Ok(None);
    }
    let shape = look(&db, path)?;
    Ok(Some((db, shape)))
}

fn check_plain(path: &Path) -> Result<(), OpenRowsError> {
    match fs_err::symlink_metadata(path) {
        Ok(there) if !there.is_file() => Err(OpenRowsError::NotPlain(path.to_owned())),
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(OpenRowsError::Io { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// Disables what a schema that we did not write could do.
fn guard(db: &Connection) -> rusqlite::Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    db.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
    db.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    Ok(())
}

fn make(all: &Transaction<'_>, now: &str) -> rusqlite::Result<()> {
    all.execute_batch(&new_database())?;
    all.execute(SCHEMA.set_version, [now])?;
    Ok(())
}

fn names(db: &Connection, kind: &str) -> rusqlite::Result<HashSet<String>> {
    let mut find = db.prepare("SELECT name FROM sqlite_schema WHERE type = ?1")?;
    let found = find.query_map([kind], |row| row.get(0))?;
    found.collect()
}

/// Reads the shape of a database; it has what is needed to list its rows.
fn look(db: &Connection, path: &Path) -> Result<DatabaseShape, OpenRowsError> {
    let failed = |source| OpenRowsError::Database { path: path.to_owned(), source };
    let tables = names(db, "table").map_err(failed)?;
    let not_memories = || OpenRowsError::NotMemories(path.to_owned());
    let sql: Option<String> = tables
        .contains("memories")
        .then(|| {
            let sql = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'memories'";
            db.query_row(sql, [], |row| row.get(0))
        })
        .transpose()
        .map_err(failed)?;
    if sql.is_none_or(|sql| sql.to_ascii_uppercase().starts_with("CREATE VIRTUAL")) {
        return Err(not_memories());
    }
    let mut columns = HashSet::new();
    db.pragma(None, "table_xinfo", "memories", |row| {
        // A computed column cannot be written.
        if row.get::<_, i64>("hidden")? == 0 {
            columns.insert(row.get::<_, String>("name")?);
        }
        Ok(())
    })
    .map_err(failed)?;
    if ["id", "key", "content"].iter().any(|column| !columns.contains(*column)) {
        return Err(not_memories());
    }
    if columns.contains("agent_id") && !tables.contains("agents") {
        return Err(OpenRowsError::OldShape { path: path.to_owned(), missing: "agents" });
    }
    Ok(DatabaseShape { columns, tables, search: SearchIndex::default() })
}

/// Checks whether rows of a database can be changed beside ZeroClaw, and returns how its full-text
/// index stays in step then.
pub(super) fn check_for_changes(
    db: &Connection,
    path: &Path,
    shape: &DatabaseShape,
) -> Result<SearchIndex, OpenRowsError> {
    let old = |missing| OpenRowsError::OldShape { path: path.to_owned(), missing };
    let is_first = shape.has_timestamp();
    let needed = if is_first { &NEEDED_WITH_TIMESTAMP[..] } else { &NEEDED[..] };
    if let Some(missing) = needed.iter().copied().find(|column| !shape.has(column)) {
        return Err(old(missing));
    }
    let triggers = count_triggers(db, path)?;
    let has_all = triggers == SCHEMA.triggers.len();
    match (shape.has_table("memories_fts"), has_all) {
        (true, true) => Ok(SearchIndex::Triggers),
        // What a trigger did already is done again with everything else, which changes nothing.
        (true, false) if is_first => by_hand(db, path),
        (false, _) if is_first && triggers == 0 => Ok(SearchIndex::None),
        (false, _) => Err(old("memories_fts")),
        (true, false) if triggers == 0 => Err(old("triggers")),
        (true, false) => Err(old("complete set of triggers")),
    }
}

fn has_timestamp(columns: &HashSet<String>) -> bool {
    columns.contains(TIMESTAMP) && !columns.contains("created_at")
}

/// Returns how a full-text index that lacks triggers is filled.
fn by_hand(db: &Connection, path: &Path) -> Result<SearchIndex, OpenRowsError> {
    let failed = |source| OpenRowsError::Database { path: path.to_owned(), source };
    let sql: String = db
        .query_row(
            "SELECT coalesce(sql, '') FROM sqlite_schema WHERE name = 'memories_fts'",
            [],
            |row| row.get(0),
        )
        .map_err(failed)?;
    let sql: String = sql.to_ascii_lowercase().split_whitespace().collect();
    if sql.contains("content=memories,") || sql.contains("content='memories'") {
        return Ok(SearchIndex::Rebuilt);
    }
    let fills = db.prepare("SELECT rowid, key, content FROM memories_fts LIMIT 0").is_ok();
    if sql.starts_with("createvirtualtable") && fills && !sql.contains("content=") {
        return Ok(SearchIndex::Refilled);
    }
    Err(OpenRowsError::UnknownIndex(path.to_owned()))
}

/// Refuses a trigger that is not ZeroClaw's; returns how many of those there are.
fn count_triggers(db: &Connection, path: &Path) -> Result<usize, OpenRowsError> {
    let failed = |source| OpenRowsError::Database { path: path.to_owned(), source };
    let read = || -> rusqlite::Result<Vec<(String, String)>> {
        let mut find =
            db.prepare("SELECT name, coalesce(sql, '') FROM sqlite_schema WHERE type = 'trigger'")?;
        let found = find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        found.collect()
    };
    let found = read().map_err(failed)?;
    for (name, sql) in &found {
        if SCHEMA.own_trigger(sql).is_none() {
            return Err(OpenRowsError::ForeignTrigger {
                path: path.to_owned(),
                name: name.chars().take(64).collect(),
            });
        }
    }
    Ok(found.len())
}
