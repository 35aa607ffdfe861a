//! Vectors by the content they stand for: what was paid for once is not paid for again when an
//! index is made anew.

use std::path::Path;

use anemone_embed::Identity;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, params};
use xxhash_rust::xxh3::xxh3_64;

use super::{Store, StoreError, folder};
use crate::progress::Silent;

/// The cache's file.
pub(super) const EMBEDDINGS: &str = "embeddings.sqlite";
/// Vectors that are kept, at most; those that were not used for the longest time go first.
const MAX_VECTORS: i64 = 250_000;

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS cache (
  provider TEXT NOT NULL, model TEXT NOT NULL, dimensions INTEGER NOT NULL, hash BLOB NOT NULL,
  vector BLOB NOT NULL, sum INTEGER NOT NULL, used INTEGER NOT NULL,
  PRIMARY KEY (provider, model, dimensions, hash)
) STRICT;
CREATE INDEX IF NOT EXISTS cache_used ON cache (used);
";

/// The SHA-256 of a text that was embedded.
pub(crate) type ContentHash = [u8; 32];

impl Store {
    /// Returns the vectors that are known for contents, in the order asked.
    pub(crate) fn cached_vectors(
        &self,
        identity: &Identity,
        hashes: &[ContentHash],
    ) -> Result<Vec<Option<Vec<f32>>>, StoreError> {
        let _held = match self.held {
            Some(_) => None,
            None => Some(self.lock_shared(&Silent)?),
        };
        let path = self.folder.join(EMBEDDINGS);
        if !path.symlink_metadata().is_ok_and(|there| there.is_file()) {
            return Ok(vec![None; hashes.len()]);
        }
        match read(&path, identity, hashes) {
            Err(error) if is_damage(&error) => Ok(vec![None; hashes.len()]),
            read => Ok(read?),
        }
    }

    /// Keeps vectors for contents. What cannot be read of the cache is forgotten.
    pub(crate) fn cache_vectors(
        &mut self,
        identity: &Identity,
        vectors: &[(ContentHash, Vec<f32>)],
    ) -> Result<(), StoreError> {
        let _held = self.lock_alone(&Silent)?;
        let path = self.folder.join(EMBEDDINGS);
        if !path.symlink_metadata().is_ok_and(|there| there.is_file()) {
            forget(&path)?;
        }
        match write(&path, identity, vectors) {
            Err(error) if is_damage(&error) => {
                forget(&path)?;
                Ok(write(&path, identity, vectors)?)
            }
            written => Ok(written?),
        }
    }
}

fn read(
    path: &Path,
    identity: &Identity,
    hashes: &[ContentHash],
) -> rusqlite::Result<Vec<Option<Vec<f32>>>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    let dimensions = i64::try_from(identity.dimensions).unwrap_or(i64::MAX);
    let mut find = db.prepare(
        "SELECT vector, sum FROM cache
         WHERE provider = ?1 AND model = ?2 AND dimensions = ?3 AND hash = ?4",
    )?;
    let mut vectors = Vec::with_capacity(hashes.len());
    for hash in hashes {
        let key = params![identity.provider, identity.model, dimensions, hash];
        let found = find.query_row(key, |row| {
            let bytes = row.get_ref(0)?.as_blob()?;
            // A damaged vector is no vector.
            let whole = row.get::<_, i64>(1)? == sum(hash, bytes);
            let (numbers, rest) = bytes.as_chunks();
            let fits = numbers.len() == identity.dimensions && rest.is_empty();
            let vector = || numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
            Ok((whole && fits).then(vector))
        });
        vectors.push(found.optional()?.flatten());
    }
    Ok(vectors)
}

fn write(
    path: &Path,
    identity: &Identity,
    vectors: &[(ContentHash, Vec<f32>)],
) -> rusqlite::Result<()> {
    let mut options = fs_err::OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let unopened = |error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
    drop(options.open(path).map_err(unopened)?);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut db = Connection::open_with_flags(path, flags)?;
    let dimensions = i64::try_from(identity.dimensions).unwrap_or(i64::MAX);
    let all = db.transaction()?;
    all.execute_batch(TABLE)?;
    {
        let newest = "SELECT coalesce(max(used), 0) FROM cache";
        let now = all.query_row(newest, [], |row| row.get::<_, i64>(0))?.saturating_add(1);
        let mut add =
            all.prepare("INSERT OR REPLACE INTO cache VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
        for (hash, vector) in vectors {
            if vector.len() != identity.dimensions {
                continue;
            }
            let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
            add.execute(params![
                identity.provider,
                identity.model,
                dimensions,
                hash,
                bytes,
                sum(hash, &bytes),
                now
            ])?;
        }
        let kept: i64 = all.query_row("SELECT count(*) FROM cache", [], |row| row.get(0))?;
        if kept > MAX_VECTORS {
            all.execute(
                "DELETE FROM cache WHERE rowid IN (SELECT rowid FROM cache ORDER BY used LIMIT ?1)",
                [kept - MAX_VECTORS],
            )?;
        }
    }
    all.commit()
}

fn forget(path: &Path) -> Result<(), StoreError> {
    for suffix in ["", "-journal", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        folder::remove(Path::new(&name)).map_err(StoreError::Unwritable)?;
    }
    Ok(())
}

/// Whether the file is not one that we wrote, or no more.
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
