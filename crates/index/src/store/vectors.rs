//! Vectors of chunks: the bytes are somebody else's, one blob for each chunk, all of one model.

use anemone_embed::Identity;

use super::body::Body;
use super::rows::{self, unsigned};
use super::{ChunkId, Found, Store, StoreError, View};

impl Store {
    /// Keeps vectors of one model; those of any other are forgotten. Chunks that are gone meanwhile
    /// get none.
    pub(crate) fn put_vectors(
        &mut self,
        identity: &Identity,
        vectors: &[(ChunkId, Vec<u8>)],
    ) -> Result<(), StoreError> {
        let Found::Whole(_, alone) = self.alone()? else { return Err(StoreError::NotFilled) };
        let mut writing = self.writing(alone)?;
        writing.put_vectors(&name(identity), vectors)?;
        writing.finish()?;
        Ok(())
    }
}

impl View {
    /// Returns how many chunks have vectors of a model.
    pub(crate) fn vector_count(&self, identity: &Identity) -> Result<u64, StoreError> {
        if !self.has_vectors(identity)? {
            return Ok(0);
        }
        let mut count = self.db.prepare_cached("SELECT count(*) FROM vector")?;
        Ok(count.query_row([], |row| unsigned(row, 0))?)
    }

    /// Goes through the vectors of a model in the order of the chunks; none, when the vectors are
    /// another's.
    pub(crate) fn vectors(
        &self,
        identity: &Identity,
        each: &mut dyn FnMut(ChunkId, &[u8]),
    ) -> Result<(), StoreError> {
        if !self.has_vectors(identity)? {
            return Ok(());
        }
        let mut find = self.db.prepare_cached("SELECT chunk, bytes FROM vector ORDER BY chunk")?;
        let mut found = find.query([])?;
        while let Some(row) = found.next()? {
            let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            each(ChunkId(unsigned(row, 0)?), bytes);
        }
        Ok(())
    }

    /// Returns chunks from `from` on that have no vectors of a model, with text and blocks; at most
    /// `limit`.
    pub(crate) fn chunks_without_vectors(
        &self,
        identity: &Identity,
        from: ChunkId,
        limit: usize,
    ) -> Result<Vec<(ChunkId, String, Body)>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT chunk.id, passage.text, chunk.body FROM chunk JOIN passage USING (id)
             WHERE chunk.id >= ?1 AND (?2 OR chunk.id NOT IN (SELECT chunk FROM vector))
             ORDER BY chunk.id LIMIT ?3",
        )?;
        let all = !self.has_vectors(identity)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut found = find.query(rusqlite::params![from.0.cast_signed(), all, limit])?;
        let mut chunks = Vec::new();
        while let Some(row) = found.next()? {
            let body = Body::decode(row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?)?;
            chunks.push((ChunkId(unsigned(row, 0)?), row.get(1)?, body));
        }
        Ok(chunks)
    }

    fn has_vectors(&self, identity: &Identity) -> Result<bool, StoreError> {
        Ok(rows::text(&self.db, "vectors")?.as_deref() == Some(name(identity).as_str()))
    }
}

/// Returns a text that is the same for vectors that can be compared, and for no others.
fn name(identity: &Identity) -> String {
    let Identity { provider, model, dimensions } = identity;
    format!("{dimensions}\n{}\n{provider}{model}", provider.len())
}
