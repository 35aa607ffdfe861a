//! Vectors in ZeroClaw's own columns: one for each row, and a cache of the last ten thousand.
//!
//! ZeroClaw knows the maker of all vectors of a database by `memory_meta`, and throws them away
//! when it is another. So vectors are written only where they are of the same maker, or where
//! there are none yet.

use anemone_embed::{Embedder, ModelIdentity, Purpose};
use anemone_format::Hex;
use rusqlite::{Connection, OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

use super::schema::Shape;

/// Vectors that the cache holds, at most.
pub(super) const MOST_CACHED: usize = 10_000;

/// Returns what a text is known by in the cache.
pub(super) fn content_hash(text: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    Hex(&digest[..8]).to_string()
}

/// Returns the bytes of a vector: single precision, the lowest byte first.
fn packed(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|it| it.to_le_bytes()).collect()
}

fn meta_of(identity: &ModelIdentity) -> [(&'static str, String); 3] {
    [
        ("embedding_provider", identity.provider.clone()),
        ("embedding_model", identity.model.clone()),
        ("embedding_dimensions", identity.dimensions.to_string()),
    ]
}

/// Whether vectors of a maker may be written: the database names it, or has no vectors.
pub(super) fn fits(
    db: &Connection,
    shape: &Shape,
    identity: &ModelIdentity,
) -> rusqlite::Result<bool> {
    if !shape.has_table("memory_meta") || !shape.has_table("embedding_cache") {
        return Ok(false);
    }
    let mut named = 0;
    for (key, value) in meta_of(identity) {
        let find = "SELECT value FROM memory_meta WHERE key = ?1";
        let there: Option<String> = db.query_row(find, [key], |row| row.get(0)).optional()?;
        match there {
            Some(there) if there != value => return Ok(false),
            Some(_) => named += 1,
            None => {}
        }
    }
    if named == meta_of(identity).len() {
        return Ok(true);
    }
    let any = "SELECT 1 FROM memories WHERE embedding IS NOT NULL
               UNION ALL SELECT 1 FROM embedding_cache LIMIT 1";
    Ok(!db.prepare(any)?.exists([])?)
}

/// Names the maker of the vectors.
pub(super) fn name_maker(db: &Connection, identity: &ModelIdentity) -> rusqlite::Result<()> {
    for (key, value) in meta_of(identity) {
        db.execute("INSERT OR REPLACE INTO memory_meta VALUES (?1, ?2)", params![key, value])?;
    }
    Ok(())
}

/// Returns the vector of a text from the cache, or makes it; `None` when it cannot be made: a text
/// without a vector is better than none.
pub(super) fn of_text(
    db: &Connection,
    embedder: &dyn Embedder,
    text: &str,
) -> rusqlite::Result<Option<Vec<u8>>> {
    let find = "SELECT embedding FROM embedding_cache WHERE content_hash = ?1";
    let known: Option<Vec<u8>> =
        db.query_row(find, [content_hash(text)], |row| row.get(0)).optional()?;
    let dimensions = embedder.identity().dimensions;
    if let Some(known) = known.filter(|it| it.len() == dimensions * 4) {
        return Ok(Some(known));
    }
    let made = embedder.embed(&[text], Purpose::Document).ok();
    let vector = made.and_then(|it| it.into_iter().next());
    let is_whole = |it: &Vec<f32>| it.len() == dimensions && it.iter().all(|it| it.is_finite());
    Ok(vector.filter(is_whole).map(|it| packed(&it)))
}

/// Keeps a vector in the cache; what was used longest ago goes.
pub(super) fn cache(
    db: &Connection,
    text: &str,
    vector: &[u8],
    now: &str,
    most: usize,
) -> rusqlite::Result<()> {
    db.execute(
        "INSERT INTO embedding_cache VALUES (?1, ?2, ?3, ?3)
         ON CONFLICT (content_hash) DO UPDATE SET accessed_at = excluded.accessed_at,
         embedding = excluded.embedding",
        params![content_hash(text), vector, now],
    )?;
    db.execute(
        "DELETE FROM embedding_cache WHERE content_hash IN (
           SELECT content_hash FROM embedding_cache ORDER BY accessed_at DESC LIMIT -1 OFFSET ?1)",
        [i64::try_from(most).unwrap_or(i64::MAX)],
    )?;
    Ok(())
}
