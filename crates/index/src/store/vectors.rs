//! Vectors of chunks: opaque bytes, one blob for each chunk, many in a row.
//!
//! There are at most two sets, each of one model: the static model's, which is free to compute, and
//! one other. Chunks get their vectors in the order of their numbers, which only grow, so a set
//! lacks exactly the chunks from a number on.

use std::ops::Range;

use anemone_embed::{Effort, ModelIdentity};
use rusqlite::{Connection, params};

use super::body::Body;
use super::packs::{self, Pack};
use super::rows::{self, unsigned};
use super::seal::Seal;
use super::{ChunkId, LockedIndex, Store, StoreError, View, Writing};

/// Which of the two sets. The numbers are those in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Vectors that are computed as soon as a chunk exists.
    Static = 0,
    /// Vectors of a configured model.
    Model = 1,
}

impl Slot {
    const ALL: [Self; 2] = [Self::Static, Self::Model];

    /// Returns the slot for vectors with this cost.
    pub(crate) const fn of(effort: Effort) -> Self {
        match effort {
            Effort::Trivial => Self::Static,
            Effort::Work | Effort::Remote => Self::Model,
        }
    }

    const fn rows(self) -> &'static str {
        match self {
            Self::Static => "table_pack",
            Self::Model => "model_pack",
        }
    }
}

/// What is known of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredSet {
    pub(crate) slot: Slot,
    /// The model of the vectors.
    pub(crate) identity: ModelIdentity,
    /// Chunks that have vectors.
    pub(crate) chunks: u64,
    /// The first chunk without vectors, whether it exists or not.
    pub(crate) next: ChunkId,
}

/// A chunk that is to be embedded: its text and its blocks.
pub(crate) type EmbeddingWork = (ChunkId, String, Body);

impl Store {
    /// Stores vectors of one model, for chunks that follow those of the set. Vectors of another
    /// model in its place are dropped. Returns `false` when the index was written since `seen`: the
    /// numbers may then refer to other chunks.
    pub(crate) fn put_vectors(
        &mut self,
        slot: Slot,
        identity: &ModelIdentity,
        vectors: &[(ChunkId, Vec<u8>)],
        seen: &Seal,
    ) -> Result<bool, StoreError> {
        let LockedIndex::Whole(_, alone) = self.alone()? else { return Err(StoreError::NotFilled) };
        // The next reader determines the current sources: nothing of theirs is held here.
        if alone.before.as_ref() != Some(seen) {
            return Ok(false);
        }
        let mut writing = self.writing(alone)?;
        writing.begin_set(slot, identity)?;
        writing.put_vectors(slot, vectors)?;
        let alone = writing.finish()?;
        self.keep(alone, false)?;
        Ok(true)
    }
}

impl Writing<'_> {
    /// Makes a set belong to a model: vectors of another one are dropped.
    pub(crate) fn begin_set(
        &mut self,
        slot: Slot,
        identity: &ModelIdentity,
    ) -> Result<ChunkId, StoreError> {
        if let Some(there) = set(&self.db, slot)?
            && there.identity == *identity
        {
            return Ok(there.next);
        }
        self.db.execute(&format!("DELETE FROM {}", slot.rows()), [])?;
        let ModelIdentity { provider, model, dimensions } = identity;
        let dimensions = i64::try_from(*dimensions).unwrap_or(i64::MAX);
        self.db.execute(
            "INSERT OR REPLACE INTO vector_set VALUES (?1, ?2, ?3, ?4, 0, 0)",
            params![slot as u8, provider, model, dimensions],
        )?;
        Ok(ChunkId(0))
    }

    /// Stores vectors of chunks, in their order; removed chunks are skipped.
    pub(crate) fn put_vectors(
        &mut self,
        slot: Slot,
        vectors: &[(ChunkId, Vec<u8>)],
    ) -> Result<(), StoreError> {
        let Some((last, _)) = vectors.last() else { return Ok(()) };
        let Some(set) = set(&self.db, slot)? else { return Ok(()) };
        let mut pack = self.last_pack(slot)?;
        let (mut next, mut added) = (set.next, 0_i64);
        {
            let mut find = self.db.prepare_cached("SELECT 1 FROM chunk WHERE id = ?1")?;
            for (chunk, bytes) in vectors {
                if *chunk < next || !find.exists([chunk.0.cast_signed()])? {
                    continue;
                }
                if !pack.has_room(bytes) {
                    self.put_pack(slot, &pack)?;
                    pack = Pack::default();
                }
                pack.push(*chunk, bytes);
                next = ChunkId(chunk.0.saturating_add(1));
                added += 1;
            }
        }
        self.put_pack(slot, &pack)?;
        let sql = "UPDATE vector_set SET chunks = chunks + ?2, next_chunk = max(next_chunk, ?3)
                   WHERE slot = ?1";
        let next = last.0.saturating_add(1).cast_signed();
        rows::run(&self.db, sql, params![slot as u8, added, next])
    }

    /// Removes the vectors of chunks.
    pub(super) fn remove_vectors(&mut self, chunks: Range<i64>) -> Result<(), StoreError> {
        for slot in Slot::ALL {
            let mut removed = 0_i64;
            let mut from = self.pack_before(slot, chunks.start)?;
            while let Some((first, bytes)) = self.pack_within(slot, from..chunks.end)? {
                let mut left = Pack::at(first);
                for entry in packs::entries(&bytes) {
                    let (chunk, bytes) = entry?;
                    if chunks.contains(&chunk.0.cast_signed()) {
                        removed += 1;
                    } else {
                        left.push(chunk, bytes);
                    }
                }
                if left.len() < bytes.len() {
                    let sql = format!("DELETE FROM {} WHERE first = ?1", slot.rows());
                    rows::run(&self.db, &sql, [first])?;
                    self.put_pack(slot, &left)?;
                }
                from = first.saturating_add(1);
            }
            if removed > 0 {
                let sql = "UPDATE vector_set SET chunks = chunks - ?2 WHERE slot = ?1";
                rows::run(&self.db, sql, params![slot as u8, removed])?;
            }
        }
        Ok(())
    }

    /// Writes a pack in place of the one that begins with the same chunk.
    fn put_pack(&self, slot: Slot, pack: &Pack) -> Result<(), StoreError> {
        let Some((first, bytes)) = pack.row() else { return Ok(()) };
        let sql = format!("INSERT OR REPLACE INTO {} VALUES (?1, ?2)", slot.rows());
        rows::run(&self.db, &sql, params![first, bytes])
    }

    /// Returns the last pack, to be added to.
    fn last_pack(&self, slot: Slot) -> Result<Pack, StoreError> {
        let sql = format!("SELECT first, pack FROM {} ORDER BY first DESC LIMIT 1", slot.rows());
        let found = rows::first(&self.db, &sql, [], |row| Ok(Pack::of(row.get(0)?, row.get(1)?)));
        Ok(found?.unwrap_or_default())
    }

    /// Returns the row of the pack that would contain a chunk.
    fn pack_before(&self, slot: Slot, chunk: i64) -> Result<i64, StoreError> {
        let sql = format!("SELECT max(first) FROM {} WHERE first <= ?1", slot.rows());
        let found: Option<i64> =
            self.db.prepare_cached(&sql)?.query_row([chunk], |row| row.get(0))?;
        Ok(found.unwrap_or(chunk))
    }

    /// Returns the first pack that begins within a range.
    fn pack_within(
        &self,
        slot: Slot,
        range: Range<i64>,
    ) -> Result<Option<(i64, Vec<u8>)>, StoreError> {
        let sql = format!(
            "SELECT first, pack FROM {} WHERE first >= ?1 AND first < ?2 ORDER BY first LIMIT 1",
            slot.rows()
        );
        let values = [range.start, range.end];
        rows::first(&self.db, &sql, values, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Returns chunks from a number on, with text and blocks; at most `limit`.
    pub(crate) fn unembedded(
        &self,
        from: ChunkId,
        limit: usize,
    ) -> Result<Vec<EmbeddingWork>, StoreError> {
        unembedded(&self.db, from, limit)
    }
}

impl View {
    /// Returns the existing sets, the static model's first.
    pub(crate) fn sets(&self) -> Result<Vec<StoredSet>, StoreError> {
        let mut sets = Vec::with_capacity(2);
        for slot in Slot::ALL {
            sets.extend(set(&self.db, slot)?);
        }
        Ok(sets)
    }

    /// Returns the set of a model.
    pub(crate) fn set_of(&self, identity: &ModelIdentity) -> Result<Option<StoredSet>, StoreError> {
        Ok(self.sets()?.into_iter().find(|set| set.identity == *identity))
    }

    /// Visits the vectors of a set in the order of the chunks.
    pub(crate) fn vectors(
        &self,
        slot: Slot,
        each: &mut dyn FnMut(ChunkId, &[u8]),
    ) -> Result<(), StoreError> {
        let sql = format!("SELECT pack FROM {} ORDER BY first", slot.rows());
        let mut find = self.db.prepare_cached(&sql)?;
        let mut found = find.query([])?;
        while let Some(row) = found.next()? {
            let pack = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
            for entry in packs::entries(pack) {
                let (chunk, bytes) = entry?;
                each(chunk, bytes);
            }
        }
        Ok(())
    }

    /// Returns chunks from a number on, with text and blocks; at most `limit`.
    pub(crate) fn unembedded(
        &self,
        from: ChunkId,
        limit: usize,
    ) -> Result<Vec<EmbeddingWork>, StoreError> {
        unembedded(&self.db, from, limit)
    }

    /// Returns how many chunks there are from a number on, and how many blocks they have.
    pub(crate) fn left(&self, from: ChunkId) -> Result<(u64, u64), StoreError> {
        let mut count = self.db.prepare_cached(
            "SELECT count(*), coalesce(sum(blocks), 0) FROM chunk WHERE id >= ?1",
        )?;
        Ok(count
            .query_row([from.0.cast_signed()], |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?)))?)
    }
}

fn set(db: &Connection, slot: Slot) -> Result<Option<StoredSet>, StoreError> {
    let sql =
        "SELECT provider, model, dimensions, chunks, next_chunk FROM vector_set WHERE slot = ?1";
    rows::first(db, sql, [slot as u8], |row| {
        let dimensions = usize::try_from(unsigned(row, 2)?).unwrap_or(usize::MAX);
        Ok(StoredSet {
            slot,
            identity: ModelIdentity { provider: row.get(0)?, model: row.get(1)?, dimensions },
            chunks: unsigned(row, 3)?,
            next: ChunkId(unsigned(row, 4)?),
        })
    })
}

fn unembedded(
    db: &Connection,
    from: ChunkId,
    limit: usize,
) -> Result<Vec<EmbeddingWork>, StoreError> {
    let mut find = db.prepare_cached(
        "SELECT chunk.id, passage.text, chunk.body FROM chunk JOIN passage USING (id)
         WHERE chunk.id >= ?1 ORDER BY chunk.id LIMIT ?2",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut found = find.query([from.0.cast_signed(), limit])?;
    let mut chunks = Vec::new();
    while let Some(row) = found.next()? {
        let body = Body::decode(row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?)?;
        chunks.push((ChunkId(unsigned(row, 0)?), row.get(1)?, body));
    }
    Ok(chunks)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fill, filled};
    use super::*;
    use crate::document::Document;

    fn document(number: u64, text: &str) -> Document {
        let path = format!("{number:03}.md");
        Document { path, text: text.to_owned(), ..Document::default() }
    }

    fn identity() -> ModelIdentity {
        ModelIdentity { provider: "test".to_owned(), model: "m".to_owned(), dimensions: 1 }
    }

    /// Some thousands of bytes that only this chunk has.
    fn blob(chunk: u64) -> Vec<u8> {
        let length = if chunk % 9 == 4 { 150_000 } else { 5_000 + chunk as usize * 7 };
        [chunk as u8, 1].repeat(length / 2)
    }

    fn put(store: &mut Store, chunks: Range<u64>) {
        let seal = store.reading().unwrap().seal().clone();
        let vectors: Vec<_> = chunks.map(|number| (ChunkId(number), blob(number))).collect();
        assert!(store.put_vectors(Slot::Static, &identity(), &vectors, &seal).unwrap());
    }

    fn check(store: &Store, wanted: &[u64]) {
        let reading = store.reading().unwrap();
        let mut found = Vec::new();
        let mut each = |chunk: ChunkId, bytes: &[u8]| {
            assert!(bytes == blob(chunk.0), "{chunk:?}");
            found.push(chunk.0);
        };
        reading.vectors(Slot::Static, &mut each).unwrap();
        assert_eq!(found, wanted);
        let set = reading.set_of(&identity()).unwrap().unwrap();
        assert_eq!(set.chunks, wanted.len() as u64);
    }

    #[test]
    fn packs_keep_their_order_whatever_comes_and_goes() {
        let documents: Vec<Document> = (0..60).map(|number| document(number, "one\n")).collect();
        let (_folder, mut store) = filled(&documents);
        put(&mut store, 0..31);
        put(&mut store, 31..60);
        // Existing ones stay as they are.
        put(&mut store, 50..60);
        check(&store, &(0..60).collect::<Vec<_>>());
        // One in the middle, one at the front, one at the end, and a whole pack.
        let gone = [0, 7, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 59];
        let changes: Vec<Document> = gone.iter().map(|number| document(*number, "")).collect();
        fill(&mut store, &changes);
        let mut left: Vec<u64> = (0..60).filter(|number| !gone.contains(number)).collect();
        check(&store, &left);
        fill(&mut store, &[document(7, "new\n"), document(99, "new\n")]);
        put(&mut store, 60..62);
        left.extend([60, 61]);
        check(&store, &left);
        let all: Vec<Document> = (0..100).map(|number| document(number, "")).collect();
        fill(&mut store, &all);
        check(&store, &[]);
    }

    #[test]
    fn a_pack_that_is_none_is_damage() {
        let (_folder, mut store) = filled(&[document(0, "one\n")]);
        put(&mut store, 0..1);
        let LockedIndex::Whole(_, alone) = store.alone().unwrap() else { panic!("it is whole") };
        let writing = store.writing(alone).unwrap();
        writing.db.execute("UPDATE table_pack SET pack = x'0102'", []).unwrap();
        writing.finish().unwrap();
        let error = store.reading().unwrap().vectors(Slot::Static, &mut |_, _| {}).unwrap_err();
        assert!(matches!(error, StoreError::Damaged(_)) && error.is_damage(), "{error}");
    }
}
