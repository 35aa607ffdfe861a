//! Vectors by the content they were made from, so that they are not paid for again when an index is
//! rebuilt. An index in use has its own copy of its vectors. Only a fill, before it calls an
//! embedder, and another program's ranking read this cache.
//!
//! The size is limited. A piece of work that adds to the cache is a turn, and vectors last used in
//! an earlier turn are evicted first. A turn that does not fit keeps what it used and created
//! first, so a second pass over the same texts finds as many as fit. If the oldest were evicted
//! instead, each would be evicted shortly before it is requested.

mod packed;

use std::collections::HashSet;
use std::path::Path;

use anemone_embed::ModelIdentity;
use anemone_files::open_private;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension as _, Params, Transaction,
    TransactionBehavior, params,
};
use xxhash_rust::xxh3::xxh3_64;

use super::{Store, StoreError, folder};
use crate::progress::NoProgress;
pub(crate) use packed::as_kept;
use packed::{pack, unpack};

/// The cache's file.
pub(super) const EMBEDDINGS: &str = "embeddings.sqlite";

/// The limits of the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) vectors: i64,
    /// Only of the vectors: their rows add about a tenth.
    pub(crate) bytes: i64,
    /// After how many new vectors the size is computed, which reads the whole index of uses.
    pub(crate) between: i64,
}

impl Bounds {
    fn hold(self, (vectors, bytes): (i64, i64)) -> bool {
        vectors <= self.vectors && bytes <= self.bytes
    }
}

/// How a store maintains its cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keeping {
    pub(crate) bounds: Bounds,
    /// The turn that was begun here; without one, uses count for the latest existing turn.
    turn: Option<i64>,
}

impl Default for Keeping {
    /// The full number of vectors fits even with the longest in use, of 3,072 dimensions.
    fn default() -> Self {
        let bounds = Bounds { vectors: 250_000, bytes: 3 << 29, between: 4_096 };
        Self { bounds, turn: None }
    }
}

/// `user_version` counts the vectors added since the size was last computed.
const TABLE: &str = "
CREATE TABLE IF NOT EXISTS cache (
  provider TEXT NOT NULL, model TEXT NOT NULL, dimensions INTEGER NOT NULL, hash BLOB NOT NULL,
  used INTEGER NOT NULL, sum INTEGER NOT NULL, vector BLOB NOT NULL,
  PRIMARY KEY (provider, model, dimensions, hash)
) STRICT;
CREATE INDEX IF NOT EXISTS cache_uses ON cache (used, dimensions);
";

/// The SHA-256 of a text that was embedded.
pub(crate) type ContentHash = [u8; 32];

impl Store {
    /// Returns the known vectors of contents, in the requested order.
    pub(crate) fn cached_vectors(
        &self,
        identity: &ModelIdentity,
        hashes: &[ContentHash],
    ) -> Result<Vec<Option<Vec<f32>>>, StoreError> {
        let known = self.look(|path| read(path, identity, hashes))?;
        Ok(known.unwrap_or_else(|| vec![None; hashes.len()]))
    }

    /// Returns for which contents vectors are known, in the requested order.
    pub(crate) fn are_cached(
        &self,
        identity: &ModelIdentity,
        hashes: &[ContentHash],
    ) -> Result<Vec<bool>, StoreError> {
        let known = self.look(|path| are_there(path, identity, hashes))?;
        Ok(known.unwrap_or_else(|| vec![false; hashes.len()]))
    }

    /// Queries the cache; `None` when there is no readable one, which only costs its help.
    fn look<T>(
        &self,
        look: impl FnOnce(&Path) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let _held = match self.held {
            Some(_) => None,
            None => Some(self.lock_shared(&NoProgress)?),
        };
        let path = self.folder.join(EMBEDDINGS);
        Ok(is_file(&path).then(|| look(&path).ok()).flatten())
    }

    /// Begins a turn, before anything is paid for: a cache that cannot be written is an error now.
    /// Returns whether there is room for this many more texts; otherwise those that will be
    /// requested should be [used](Self::use_vectors) first.
    pub(crate) fn begin_turn(
        &mut self,
        identity: &ModelIdentity,
        texts: u64,
    ) -> Result<bool, StoreError> {
        let texts = i64::try_from(texts).unwrap_or(i64::MAX);
        let (turn, (vectors, bytes)) = self.mend(|path, _| {
            let mut db = open_or_make(path)?;
            let all = begin(&mut db)?;
            let found = (newest(&all)?, size(&all)?);
            all.commit()?;
            Ok(found)
        })?;
        self.cache.turn = Some(turn.saturating_add(1));
        let more = texts.saturating_mul(bytes_of(number_of_dimensions(identity)));
        let then = (vectors.saturating_add(texts), bytes.saturating_add(more));
        Ok(self.cache.bounds.hold(then))
    }

    /// Stores vectors for contents. Unreadable parts of the cache are dropped.
    pub(crate) fn cache_vectors(
        &mut self,
        identity: &ModelIdentity,
        vectors: &[(ContentHash, Vec<f32>)],
    ) -> Result<(), StoreError> {
        self.mend(|path, keeping| write(path, identity, vectors, keeping))
    }

    /// Writes into the cache; a damaged one is started over.
    fn mend<T>(
        &mut self,
        write: impl Fn(&Path, Keeping) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let _held = self.lock_alone(&NoProgress)?;
        let path = self.folder.join(EMBEDDINGS);
        if !is_file(&path) {
            forget(&path)?;
        }
        match write(&path, self.cache) {
            Err(error) if is_damage(&error) => {
                forget(&path)?;
                Ok(write(&path, self.cache)?)
            }
            written => Ok(written?),
        }
    }

    /// As [`cache_vectors`](Self::cache_vectors), among other readers: SQLite's own lock separates
    /// the writers. A cache that cannot be written stays unchanged.
    pub(crate) fn cache_vectors_among_readers(
        &self,
        identity: &ModelIdentity,
        vectors: &[(ContentHash, Vec<f32>)],
    ) -> Result<(), StoreError> {
        let path = self.folder.join(EMBEDDINGS);
        match path.symlink_metadata() {
            Ok(there) if !there.is_file() => return Ok(()),
            _ => {}
        }
        Ok(write(&path, identity, vectors, self.cache)?)
    }

    /// Erases the vectors of contents, of every model, from the disk.
    pub(crate) fn forget_vectors(
        &mut self,
        hashes: &HashSet<ContentHash>,
    ) -> Result<(), StoreError> {
        let _held = self.lock_alone(&NoProgress)?;
        let path = self.folder.join(EMBEDDINGS);
        if hashes.is_empty() || !is_file(&path) {
            return Ok(());
        }
        match erase(&path, hashes) {
            // An unreadable cache may hold anything, so it is erased.
            Err(error) if is_damage(&error) => forget(&path),
            erased => Ok(erased?),
        }
    }

    /// Records that vectors were used: they are kept longer.
    pub(crate) fn use_vectors(
        &mut self,
        identity: &ModelIdentity,
        hashes: &[ContentHash],
    ) -> Result<(), StoreError> {
        let _held = self.lock_alone(&NoProgress)?;
        self.use_vectors_among_readers(identity, hashes)
    }

    /// As [`use_vectors`](Self::use_vectors), among other readers.
    pub(crate) fn use_vectors_among_readers(
        &self,
        identity: &ModelIdentity,
        hashes: &[ContentHash],
    ) -> Result<(), StoreError> {
        let path = self.folder.join(EMBEDDINGS);
        if hashes.is_empty() || !is_file(&path) {
            return Ok(());
        }
        match mark(&path, identity, hashes, self.cache) {
            Err(error) if is_damage(&error) => Ok(()),
            marked => Ok(marked?),
        }
    }
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|there| there.is_file())
}

/// The key of a vector: the first four parameters of a statement.
const KEY: &str = "provider = ?1 AND model = ?2 AND dimensions = ?3 AND hash = ?4";

fn key<'a>(identity: &'a ModelIdentity, hash: &'a ContentHash) -> impl Params + 'a {
    (&identity.provider, &identity.model, number_of_dimensions(identity), hash)
}

fn number_of_dimensions(identity: &ModelIdentity) -> i64 {
    i64::try_from(identity.dimensions).unwrap_or(i64::MAX)
}

fn read(
    path: &Path,
    identity: &ModelIdentity,
    hashes: &[ContentHash],
) -> rusqlite::Result<Vec<Option<Vec<f32>>>> {
    let db = open(path)?;
    let mut find = db.prepare(&format!("SELECT vector, sum FROM cache WHERE {KEY}"))?;
    let mut vectors = Vec::with_capacity(hashes.len());
    for hash in hashes {
        let found = find.query_row(key(identity, hash), |row| {
            let bytes = row.get_ref(0)?.as_blob()?;
            // A damaged vector is ignored.
            let whole = row.get::<_, i64>(1)? == sum(hash, bytes);
            Ok(whole.then(|| unpack(bytes, identity.dimensions)).flatten())
        });
        vectors.push(found.optional()?.flatten());
    }
    Ok(vectors)
}

fn are_there(
    path: &Path,
    identity: &ModelIdentity,
    hashes: &[ContentHash],
) -> rusqlite::Result<Vec<bool>> {
    let db = open(path)?;
    let mut find = db.prepare(&format!("SELECT 1 FROM cache WHERE {KEY}"))?;
    hashes.iter().map(|hash| find.exists(key(identity, hash))).collect()
}

/// Opens the cache for writing, even if it is only read: after a writer was killed, SQLite rolls
/// back its transaction, and can only do so through a writing connection. A file that cannot be
/// written is opened for reading.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags)
}

fn open_or_make(path: &Path) -> rusqlite::Result<Connection> {
    let unopened = |error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
    drop(open_private(path).map_err(unopened)?);
    open(path)
}

fn begin(db: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    let all = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    all.execute_batch(TABLE)?;
    Ok(all)
}

fn write(
    path: &Path,
    identity: &ModelIdentity,
    vectors: &[(ContentHash, Vec<f32>)],
    keeping: Keeping,
) -> rusqlite::Result<()> {
    let mut db = open_or_make(path)?;
    let all = begin(&mut db)?;
    let turn = turn(&all, keeping)?;
    {
        let mut add =
            all.prepare("INSERT OR REPLACE INTO cache VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
        let dimensions = number_of_dimensions(identity);
        for (hash, vector) in vectors {
            if vector.len() != identity.dimensions {
                continue;
            }
            let bytes = pack(vector);
            let sum = sum(hash, &bytes);
            let ModelIdentity { provider, model, .. } = identity;
            add.execute(params![provider, model, dimensions, hash, turn, sum, bytes])?;
        }
    }
    let before: i64 = all.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let new = i64::try_from(vectors.len()).unwrap_or(i64::MAX);
    let mut added = before.max(0).saturating_add(new);
    if added >= keeping.bounds.between {
        prune(&all, keeping.bounds, turn)?;
        added = 0;
    }
    all.pragma_update(None, "user_version", added)?;
    all.commit()
}

/// Evicts vectors until the limits hold: first those last used before this turn, the oldest first;
/// then those added in this turn, the latest first.
fn prune(db: &Connection, bounds: Bounds, turn: i64) -> rusqlite::Result<()> {
    let mut there = size(db)?;
    let before = "SELECT rowid, dimensions FROM cache WHERE used < ?1 ORDER BY used, rowid";
    let added = "SELECT rowid, dimensions FROM cache WHERE used >= ?1 ORDER BY rowid DESC";
    for which in [before, added] {
        let mut gone: Vec<i64> = Vec::new();
        let mut find = db.prepare(which)?;
        let mut found = find.query([turn])?;
        while !bounds.hold(there)
            && let Some(row) = found.next()?
        {
            gone.push(row.get(0)?);
            there = (there.0 - 1, there.1.saturating_sub(bytes_of(row.get(1)?)));
        }
        let mut forget = db.prepare("DELETE FROM cache WHERE rowid = ?1")?;
        for row in gone {
            forget.execute([row])?;
        }
    }
    Ok(())
}

/// Returns how many vectors there are, and their bytes.
fn size(db: &Connection) -> rusqlite::Result<(i64, i64)> {
    let sql = "SELECT count(*), coalesce(sum(dimensions), 0) FROM cache";
    let (vectors, numbers): (i64, i64) =
        db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok((vectors, vectors.saturating_mul(4).saturating_add(numbers.saturating_mul(2))))
}

const fn bytes_of(dimensions: i64) -> i64 {
    dimensions.saturating_mul(2).saturating_add(4)
}

/// Marks vectors as used in this turn.
fn mark(
    path: &Path,
    identity: &ModelIdentity,
    hashes: &[ContentHash],
    keeping: Keeping,
) -> rusqlite::Result<()> {
    let mut db = open(path)?;
    let all = begin(&mut db)?;
    let turn = turn(&all, keeping)?;
    {
        let ModelIdentity { provider, model, .. } = identity;
        let dimensions = number_of_dimensions(identity);
        let mut mark =
            all.prepare(&format!("UPDATE cache SET used = ?5 WHERE {KEY} AND used < ?5"))?;
        for hash in hashes {
            mark.execute(params![provider, model, dimensions, hash, turn])?;
        }
    }
    all.commit()
}

fn erase(path: &Path, hashes: &HashSet<ContentHash>) -> rusqlite::Result<()> {
    let mut db = open(path)?;
    db.pragma_update(None, "secure_delete", true)?;
    let all = begin(&mut db)?;
    {
        let mut gone: Vec<i64> = Vec::new();
        let mut find = all.prepare("SELECT rowid, hash FROM cache")?;
        let mut found = find.query([])?;
        while let Some(row) = found.next()? {
            if ContentHash::try_from(row.get_ref(1)?.as_blob()?)
                .is_ok_and(|hash| hashes.contains(&hash))
            {
                gone.push(row.get(0)?);
            }
        }
        let mut remove = all.prepare("DELETE FROM cache WHERE rowid = ?1")?;
        for row in gone {
            remove.execute([row])?;
        }
    }
    all.commit()
}

fn turn(db: &Connection, keeping: Keeping) -> rusqlite::Result<i64> {
    keeping.turn.map_or_else(|| newest(db), Ok)
}

/// Returns the latest turn in which anything was used.
fn newest(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row("SELECT coalesce(max(used), 0) FROM cache", [], |row| row.get(0))
}

fn forget(path: &Path) -> Result<(), StoreError> {
    for suffix in ["", "-journal", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        folder::remove(Path::new(&name)).map_err(StoreError::Unwritable)?;
    }
    Ok(())
}

/// Whether the file was not written by us, or is damaged.
fn is_damage(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => matches!(
            failure.code,
            ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::Unknown
                | ErrorCode::SchemaChanged
                | ErrorCode::TypeMismatch
                | ErrorCode::ConstraintViolation
        ),
        rusqlite::Error::SqlInputError { .. }
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::FromSqlConversionFailure(..) => true,
        _ => false,
    }
}

fn sum(hash: &ContentHash, bytes: &[u8]) -> i64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(bytes, xxh3_64(hash)).cast_signed()
}

#[cfg(test)]
mod tests;
