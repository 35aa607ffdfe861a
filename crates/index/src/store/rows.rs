//! The SQLite half of an index: its tables, and how it is opened.
//!
//! SQLite's own locks and journals are not used. Our lock separates readers and writers, and a
//! database that a writer did not finish has no seal and is discarded.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anemone_files::open_private;
use jiff::civil::Date;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Params, Row};

use super::{ChunkId, StoreError};
use crate::document::{Document, Format};

/// The database's file.
pub(super) const ROWS: &str = "index.sqlite";
/// The file of the vectors: a separate database, because they are read from end to end, and large
/// pages make that fast.
pub(super) const VECTORS: &str = "vectors.sqlite";
/// Bytes of its pages: the largest that SQLite supports.
const VECTOR_PAGE_BYTES: usize = 1 << 16;
/// Bytes of a row of vectors that fits on one page, so that it is read without copying.
pub(super) const VECTOR_ROW_BYTES: usize = VECTOR_PAGE_BYTES - 512;

/// The oldest SQLite without faults that matter here.
const OLDEST_SQLITE: i32 = 3_053_002;
/// Pages kept while reading, in KiB; bodies are read again and again.
const READ_CACHE_KIB: i32 = 16 << 10;
/// Pages of vectors kept, in KiB: they are read once, and few stay near the processor.
const VECTOR_CACHE_KIB: i32 = 512;
/// Bytes of vectors that are memory-mapped instead of copied; SQLite maps no more than about two
/// gigabytes.
const MAPPED_BYTES: u64 = 2 << 30;
/// Pages kept while writing, in KiB.
const WRITE_CACHE_KIB: i32 = 24 << 10;

/// A chunk's text is kept apart from its body: questions are scored by bodies alone, and bodies
/// without texts take fewer pages.
const TABLES: &str = "
CREATE TABLE state (name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
CREATE TABLE source (
  id INTEGER PRIMARY KEY, position INTEGER NOT NULL, identity TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE entry (
  source INTEGER NOT NULL, key TEXT NOT NULL, id INTEGER NOT NULL,
  size INTEGER NOT NULL, modified_ns INTEGER NOT NULL, changed_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL, seen_ns INTEGER NOT NULL, content BLOB NOT NULL, skipped TEXT,
  PRIMARY KEY (source, key)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX entry_id ON entry (id);
CREATE TABLE document (
  id INTEGER PRIMARY KEY, entry INTEGER NOT NULL, path TEXT NOT NULL UNIQUE, hash BLOB NOT NULL,
  format INTEGER NOT NULL, date TEXT, first_date TEXT, last_date TEXT, evergreen INTEGER NOT NULL,
  type TEXT, namespace TEXT, importance REAL, provenance TEXT NOT NULL,
  first_chunk INTEGER NOT NULL, chunks INTEGER NOT NULL
) STRICT;
CREATE INDEX document_entry ON document (entry);
CREATE TABLE chunk (
  id INTEGER PRIMARY KEY, document INTEGER NOT NULL, start_byte INTEGER NOT NULL,
  first_line INTEGER NOT NULL, language TEXT NOT NULL, length INTEGER NOT NULL,
  blocks INTEGER NOT NULL, words INTEGER NOT NULL, body BLOB NOT NULL
) STRICT;
CREATE TABLE passage (id INTEGER PRIMARY KEY, text TEXT NOT NULL, terms BLOB NOT NULL) STRICT;
CREATE TABLE term (term INTEGER PRIMARY KEY, chunks INTEGER NOT NULL) STRICT;
CREATE TABLE language (code TEXT PRIMARY KEY, chunks INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE vector_set (
  slot INTEGER PRIMARY KEY, provider TEXT NOT NULL, model TEXT NOT NULL,
  dimensions INTEGER NOT NULL, chunks INTEGER NOT NULL, next_chunk INTEGER NOT NULL
) STRICT;
CREATE TABLE vectors.table_pack (first INTEGER PRIMARY KEY, pack BLOB NOT NULL) STRICT;
CREATE TABLE vectors.model_pack (first INTEGER PRIMARY KEY, pack BLOB NOT NULL) STRICT;
";

/// The columns that [`document`] reads.
pub(super) const DOCUMENT: &str = "path, format, date, evergreen, type, namespace, importance, \
                                   provenance, first_chunk, chunks, id";

/// The position of its number among them.
pub(super) const DOCUMENT_ID: usize = 10;

/// Checks that SQLite is new enough.
pub(super) fn check_version() -> Result<(), StoreError> {
    if rusqlite::version_number() < OLDEST_SQLITE {
        return Err(StoreError::Sqlite { found: rusqlite::version() });
    }
    Ok(())
}

/// Opens a sealed database for reading. Only the file itself is used: no journal, no lock.
pub(super) fn open(folder: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let db = Connection::open_with_flags(immutable(&folder.join(ROWS)), flags)?;
    db.set_prepared_statement_cache_capacity(64);
    db.execute("ATTACH ?1 AS vectors", [immutable(&folder.join(VECTORS))])?;
    db.execute_batch(&format!(
        "PRAGMA main.cache_size = -{READ_CACHE_KIB};
         PRAGMA vectors.cache_size = -{VECTOR_CACHE_KIB};
         PRAGMA vectors.mmap_size = {MAPPED_BYTES};"
    ))?;
    Ok(db)
}

/// Opens the database for writing, or creates it. Until it is sealed again it is not valid, so it
/// keeps no journal and does not sync; the seal does.
pub(super) fn open_to_write(folder: &Path) -> Result<Connection, StoreError> {
    // SQLite would create them with the default mode, but memories must not be readable by others.
    let make = |name: &str| -> Result<bool, StoreError> {
        let file = open_private(&folder.join(name)).map_err(StoreError::Unwritable)?;
        Ok(file.metadata()?.len() == 0)
    };
    let new = make(ROWS)?;
    make(VECTORS)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let db = Connection::open_with_flags(uri(&folder.join(ROWS)), flags)?;
    db.set_prepared_statement_cache_capacity(64);
    db.execute("ATTACH ?1 AS vectors", [uri(&folder.join(VECTORS))])?;
    db.execute_batch(&format!(
        "PRAGMA main.page_size = 8192; PRAGMA vectors.page_size = {VECTOR_PAGE_BYTES};
         PRAGMA locking_mode = EXCLUSIVE;
         PRAGMA main.synchronous = OFF; PRAGMA vectors.synchronous = OFF;
         PRAGMA main.secure_delete = ON; PRAGMA vectors.secure_delete = ON;
         PRAGMA main.cache_size = -{WRITE_CACHE_KIB};
         PRAGMA vectors.cache_size = -{VECTOR_CACHE_KIB}; PRAGMA temp_store = MEMORY;"
    ))?;
    for schema in ["main", "vectors"] {
        db.pragma_update_and_check(Some(schema), "journal_mode", "OFF", |_| Ok(()))?;
    }
    db.execute_batch("BEGIN EXCLUSIVE")?;
    if new {
        db.execute_batch(TABLES)?;
    }
    Ok(db)
}

/// Returns a URI that makes SQLite treat the file as immutable.
fn immutable(path: &Path) -> String {
    format!("{}?immutable=1", uri(path))
}

/// Returns a URI for any path.
fn uri(path: &Path) -> String {
    let mut name = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            name.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(name, "%{byte:02X}");
        }
    }
    name
}

/// Reads a number of the state; 0 when it was never written.
pub(super) fn number(db: &Connection, name: &str) -> Result<u64, StoreError> {
    let sql = "SELECT value FROM state WHERE name = ?1";
    Ok(first(db, sql, [name], |row| unsigned(row, 0))?.unwrap_or(0))
}

/// Writes a number of the state.
pub(super) fn set(
    db: &Connection,
    name: &str,
    value: impl rusqlite::ToSql,
) -> Result<(), StoreError> {
    run(db, "INSERT OR REPLACE INTO state VALUES (?1, ?2)", rusqlite::params![name, value])
}

/// Runs a statement.
pub(super) fn run(db: &Connection, sql: &str, values: impl Params) -> Result<(), StoreError> {
    db.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// Returns the first row that a query finds.
pub(super) fn first<T>(
    db: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, StoreError> {
    Ok(db.prepare_cached(sql)?.query_row(values, read).optional()?)
}

/// Returns every row that a query finds.
pub(super) fn all<T>(
    db: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    let mut find = db.prepare_cached(sql)?;
    let found = find.query_map(values, read)?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Reads a number that is stored as signed, because SQLite has no unsigned numbers.
pub(super) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned())
}

/// Reads a document without its text, from the columns of [`DOCUMENT`].
pub(super) fn document(row: &Row<'_>) -> rusqlite::Result<(Document, std::ops::Range<ChunkId>)> {
    let date: Option<String> = row.get(2)?;
    let provenance: String = row.get(7)?;
    let first = unsigned(row, 8)?;
    let chunks = unsigned(row, 9)?;
    let formats = [Format::Markdown, Format::Plain, Format::Transcript];
    let document = Document {
        path: row.get(0)?,
        text: String::new(),
        format: formats.get(usize::from(row.get::<_, u8>(1)?)).copied().unwrap_or_default(),
        date: date.and_then(|date| date.parse::<Date>().ok()),
        evergreen: row.get(3)?,
        memory_type: row.get(4)?,
        namespace: row.get(5)?,
        importance: row.get(6)?,
        provenance: serde_json::from_str(&provenance).unwrap_or_default(),
    };
    Ok((document, ChunkId(first)..ChunkId(first.saturating_add(chunks))))
}
