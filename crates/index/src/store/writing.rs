//! How documents are added to a store and removed from it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use jiff::civil::Date;
use rusqlite::{Connection, Row, params};

use super::lexical::{LexicalWriter, Removed};
use super::rows::{self, unsigned};
use super::{ChunkId, DocumentId, Exclusive, Store, StoreError, folder, seal};
use crate::digest::Digest;
use crate::document::Document;
use crate::source::FileStamp;

/// Terms whose counts are kept in memory, at most; then they are written.
const MAX_COUNTED_TERMS: usize = 1 << 20;

/// The number of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EntryId(i64);

/// The outcome of putting a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// There was no document with this path.
    Added(DocumentId),
    /// There was another document with this path.
    Changed(DocumentId),
    /// The same document exists already.
    Same(DocumentId),
    /// An earlier entry has this path.
    Duplicate,
}

/// A store that is being written. Until [`finish`](Self::finish) there is no index: a writer that
/// stops before that leaves nothing usable, and the next one starts over.
pub(crate) struct Writing<'a> {
    store: &'a mut Store,
    pub(super) db: Connection,
    lexical: Option<LexicalWriter>,
    removed: Removed,
    terms: HashMap<u32, i64, BuildHasherDefault<Spread>>,
    languages: BTreeMap<&'static str, i64>,
    documents: u64,
    chunks: u64,
    tokens: u64,
    blocks: u64,
    words: u64,
    next_chunk: u64,
    next_document: u64,
    next_entry: i64,
    alone: Exclusive,
}

impl<'a> Writing<'a> {
    pub(super) fn begin(store: &'a mut Store, alone: Exclusive) -> Result<Self, StoreError> {
        let folder = &store.folder;
        let (db, lexical) = if alone.before.is_some() {
            seal::remove(folder).map_err(StoreError::Unwritable)?;
            (rows::open_to_write(folder)?, None)
        } else {
            folder::remove_derived(folder).map_err(StoreError::Unwritable)?;
            (rows::open_to_write(folder)?, Some(LexicalWriter::open(folder)?))
        };
        let next_entry = rows::number(&db, "next_entry")?.cast_signed();
        Ok(Self {
            documents: rows::number(&db, "documents")?,
            chunks: rows::number(&db, "chunks")?,
            tokens: rows::number(&db, "tokens")?,
            blocks: rows::number(&db, "blocks")?,
            words: rows::number(&db, "words")?,
            next_chunk: rows::number(&db, "next_chunk")?,
            next_document: rows::number(&db, "next_document")?,
            next_entry,
            db,
            lexical,
            removed: Removed::Hide,
            terms: HashMap::default(),
            languages: BTreeMap::new(),
            alone,
            store,
        })
    }

    /// Sets the sources, in their order, and returns their numbers. The entries of other sources
    /// must have been removed.
    pub(crate) fn set_sources(&mut self, identities: &[String]) -> Result<Vec<i64>, StoreError> {
        let pair = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let known = rows::all(&self.db, "SELECT identity, id FROM source", [], pair)?;
        let known: HashMap<String, i64> = known.into_iter().collect();
        self.db.execute("DELETE FROM source", [])?;
        let mut next = known.values().max().map_or(0, |last| last + 1);
        let mut numbers = Vec::with_capacity(identities.len());
        for (position, identity) in identities.iter().enumerate() {
            let number = known.get(identity).copied().unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            let position = i64::try_from(position).unwrap_or(i64::MAX);
            let sql = "INSERT INTO source VALUES (?1, ?2, ?3)";
            rows::run(&self.db, sql, params![number, position, identity])?;
            numbers.push(number);
        }
        Ok(numbers)
    }

    /// Returns the number of an entry, which is created if the entry is new.
    pub(crate) fn entry(&mut self, source: i64, key: &str) -> Result<EntryId, StoreError> {
        let sql = "SELECT id FROM entry WHERE source = ?1 AND key = ?2";
        if let Some(id) = rows::first(&self.db, sql, params![source, key], |row| row.get(0))? {
            return Ok(EntryId(id));
        }
        self.next_entry += 1;
        // Its row must exist before its documents: another entry may query their owner.
        let sql = "INSERT INTO entry VALUES (?1, ?2, ?3, 0, 0, 0, 0, 0, x'', NULL)";
        rows::run(&self.db, sql, params![source, key, self.next_entry])?;
        Ok(EntryId(self.next_entry))
    }

    /// Writes the row of an entry.
    pub(crate) fn set_entry(
        &mut self,
        entry: EntryId,
        stamp: FileStamp,
        seen_ns: i64,
        content: &[u8],
        skipped: Option<&str>,
    ) -> Result<(), StoreError> {
        self.db
            .prepare_cached(
                "UPDATE entry SET size = ?2, modified_ns = ?3, changed_ns = ?4, inode = ?5,
                 seen_ns = ?6, content = ?7, skipped = ?8 WHERE id = ?1",
            )?
            .execute(params![
                entry.0,
                stamp.size.cast_signed(),
                stamp.modified_ns,
                stamp.changed_ns,
                stamp.inode.cast_signed(),
                seen_ns,
                content,
                skipped
            ])?;
        Ok(())
    }

    /// Records that an entry was read again and had not changed.
    pub(crate) fn set_seen(
        &mut self,
        source: i64,
        key: &str,
        seen_ns: i64,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE entry SET seen_ns = ?3 WHERE source = ?1 AND key = ?2";
        rows::run(&self.db, sql, params![source, key, seen_ns])
    }

    /// Returns what an entry leaves out, as JSON.
    pub(crate) fn skipped(&self, entry: EntryId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT skipped FROM entry WHERE id = ?1";
        Ok(rows::first(&self.db, sql, [entry.0], |row| row.get(0))?.flatten())
    }

    /// Sets what an entry leaves out.
    pub(crate) fn set_skipped(&mut self, entry: EntryId, json: &str) -> Result<(), StoreError> {
        let sql = "UPDATE entry SET skipped = ?2 WHERE id = ?1";
        rows::run(&self.db, sql, params![entry.0, json])
    }

    /// Returns the entries that leave something out: source, key and what is left out.
    pub(crate) fn entries_with_skipped(&self) -> Result<Vec<(i64, String, String)>, StoreError> {
        let sql = "SELECT source, key, skipped FROM entry WHERE skipped IS NOT NULL
                   ORDER BY source, key";
        rows::all(&self.db, sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    }

    /// Removes an entry, whose documents must have been removed.
    pub(crate) fn remove_entry(&mut self, entry: EntryId) -> Result<(), StoreError> {
        rows::run(&self.db, "DELETE FROM entry WHERE id = ?1", [entry.0])
    }

    /// Returns the documents of an entry with their paths.
    pub(crate) fn documents_of(
        &self,
        entry: EntryId,
    ) -> Result<Vec<(DocumentId, String)>, StoreError> {
        let sql = "SELECT id, path FROM document WHERE entry = ?1 ORDER BY id";
        let found = |row: &Row<'_>| Ok((DocumentId(unsigned(row, 0)?), row.get(1)?));
        rows::all(&self.db, sql, [entry.0], found)
    }

    /// Whether a document with a path exists.
    pub(crate) fn has_path(&self, path: &str) -> Result<bool, StoreError> {
        let mut find = self.db.prepare_cached("SELECT 1 FROM document WHERE path = ?1")?;
        Ok(find.exists([path])?)
    }

    /// How many chunks a document has.
    pub(crate) fn chunks_of(&self, document: DocumentId) -> Result<u64, StoreError> {
        let mut find = self.db.prepare_cached("SELECT chunks FROM document WHERE id = ?1")?;
        Ok(find.query_row([document.0.cast_signed()], |row| unsigned(row, 0))?)
    }

    /// Puts a document of an entry. Two entries may have documents with one path: the entry that
    /// comes first, by its source's position and its key, wins; `displaced` is set when the other
    /// one was already in the index. `taken` are the documents that this entry has put since it was
    /// opened: of two with one path, the first wins as well.
    pub(crate) fn put(
        &mut self,
        entry: EntryId,
        document: &Document,
        hash: &[u8],
        digest: &dyn for<'d> Fn(&'d Document) -> Digest<'d>,
        taken: &HashSet<DocumentId>,
        displaced: &mut dyn FnMut(EntryId),
    ) -> Result<Put, StoreError> {
        let sql = "SELECT id, entry, hash FROM document WHERE path = ?1";
        let there = rows::first(&self.db, sql, [&document.path], |row| {
            let same = row.get_ref(2)?.as_blob()? == hash;
            Ok((DocumentId(unsigned(row, 0)?), EntryId(row.get(1)?), same))
        })?;
        let mut put: fn(DocumentId) -> Put = Put::Added;
        if let Some((id, owner, same)) = there {
            if owner == entry {
                if taken.contains(&id) {
                    return Ok(Put::Duplicate);
                }
                if same {
                    return Ok(Put::Same(id));
                }
                put = Put::Changed;
            } else if self.place(owner)? < self.place(entry)? {
                return Ok(Put::Duplicate);
            } else {
                displaced(owner);
                put = Put::Changed;
            }
            self.remove(id)?;
        }
        let id = self.add(entry, document, hash, digest(document))?;
        Ok(put(id))
    }

    fn place(&self, entry: EntryId) -> Result<(i64, String), StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT position, key FROM entry JOIN source ON source.id = entry.source
             WHERE entry.id = ?1",
        )?;
        Ok(find.query_row([entry.0], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    fn add(
        &mut self,
        entry: EntryId,
        document: &Document,
        hash: &[u8],
        digest: Digest<'_>,
    ) -> Result<DocumentId, StoreError> {
        let id = DocumentId(self.next_document);
        self.next_document += 1;
        let first = self.next_chunk;
        let mut dates: Vec<Date> = document.date.into_iter().collect();
        {
            let mut chunk_row = self
                .db
                .prepare_cached("INSERT INTO chunk VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?;
            let mut passage_row =
                self.db.prepare_cached("INSERT INTO passage VALUES (?1, ?2, ?3)")?;
            let mut terms = Vec::new();
            for chunk in digest.chunks {
                if self.lexical.is_none() {
                    self.lexical = Some(LexicalWriter::open(&self.store.folder)?);
                }
                let number = self.next_chunk;
                self.next_chunk += 1;
                let blocks = chunk.body.blocks.len() as u64;
                let words =
                    chunk.body.blocks.iter().map(|block| u64::from(block.length)).sum::<u64>();
                chunk_row.execute(params![
                    number.cast_signed(),
                    id.0.cast_signed(),
                    chunk.start_byte.cast_signed(),
                    chunk.first_line,
                    chunk.language.code(),
                    chunk.length,
                    blocks.cast_signed(),
                    words.cast_signed(),
                    chunk.body.encode()
                ])?;
                terms.clear();
                for term in &chunk.terms {
                    terms.extend_from_slice(&term.0.to_le_bytes());
                    *self.terms.entry(term.0).or_default() += 1;
                }
                passage_row.execute(params![number.cast_signed(), chunk.text, terms])?;
                if let Some(lexical) = &self.lexical {
                    lexical.add(ChunkId(number), id, &chunk.lexical)?;
                }
                *self.languages.entry(chunk.language.code()).or_default() += 1;
                self.tokens += u64::from(chunk.length);
                self.blocks += blocks;
                self.words += words;
                dates.extend(chunk.body.contexts.iter().filter_map(|context| context.date));
            }
        }
        let chunks = self.next_chunk - first;
        self.chunks += chunks;
        self.documents += 1;
        self.db
            .prepare_cached(
                "INSERT INTO document VALUES
                 (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            )?
            .execute(params![
                id.0.cast_signed(),
                entry.0,
                document.path,
                hash,
                document.format as u8,
                document.date.map(|date| date.to_string()),
                dates.iter().min().map(ToString::to_string),
                dates.iter().max().map(ToString::to_string),
                document.evergreen,
                document.memory_type,
                document.namespace,
                document.importance,
                serde_json::to_string(&document.provenance).map_err(std::io::Error::from)?,
                first.cast_signed(),
                chunks.cast_signed()
            ])?;
        if self.terms.len() > MAX_COUNTED_TERMS {
            self.write_terms()?;
        }
        Ok(id)
    }

    /// Removes a document with everything that was derived from it.
    pub(crate) fn remove(&mut self, document: DocumentId) -> Result<(), StoreError> {
        let id = document.0.cast_signed();
        let (first, chunks): (i64, i64) = self
            .db
            .prepare_cached("SELECT first_chunk, chunks FROM document WHERE id = ?1")?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let end = first.saturating_add(chunks);
        {
            let mut find = self.db.prepare_cached(
                "SELECT language, length, terms, blocks, words FROM chunk JOIN passage USING (id)
                 WHERE chunk.id >= ?1 AND chunk.id < ?2",
            )?;
            let mut found = find.query([first, end])?;
            while let Some(row) = found.next()? {
                let code = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
                let code = crate::text::Language::of_code(code).unwrap_or_default().code();
                *self.languages.entry(code).or_default() -= 1;
                self.tokens = self.tokens.saturating_sub(unsigned(row, 1)?);
                self.blocks = self.blocks.saturating_sub(unsigned(row, 3)?);
                self.words = self.words.saturating_sub(unsigned(row, 4)?);
                let terms = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
                for term in terms.as_chunks().0 {
                    *self.terms.entry(u32::from_le_bytes(*term)).or_default() -= 1;
                }
            }
        }
        for sql in [
            "DELETE FROM chunk WHERE id >= ?1 AND id < ?2",
            "DELETE FROM passage WHERE id >= ?1 AND id < ?2",
        ] {
            rows::run(&self.db, sql, [first, end])?;
        }
        self.remove_vectors(first..end)?;
        rows::run(&self.db, "DELETE FROM document WHERE id = ?1", [id])?;
        self.documents = self.documents.saturating_sub(1);
        self.chunks = self.chunks.saturating_sub(chunks.cast_unsigned());
        if chunks > 0 {
            self.open_lexical()?;
            if let Some(lexical) = &self.lexical {
                lexical.remove(document);
            }
        }
        if self.terms.len() > MAX_COUNTED_TERMS {
            self.write_terms()?;
        }
        Ok(())
    }

    /// Makes [`finish`](Self::finish) delete the terms of removed chunks from the disk, if it
    /// writes terms at all.
    pub(crate) const fn erase_removed(&mut self) {
        self.removed = Removed::Erase;
    }

    /// Makes [`finish`](Self::finish) write terms even if none changed.
    pub(super) fn open_lexical(&mut self) -> Result<(), StoreError> {
        if self.lexical.is_none() {
            self.lexical = Some(LexicalWriter::open(&self.store.folder)?);
        }
        Ok(())
    }

    fn write_terms(&mut self) -> Result<(), StoreError> {
        let mut terms: Vec<(u32, i64)> = self.terms.drain().filter(|term| term.1 != 0).collect();
        terms.sort_unstable();
        let mut count = self.db.prepare_cached(
            "INSERT INTO term VALUES (?1, ?2) ON CONFLICT DO UPDATE SET chunks = chunks + ?2",
        )?;
        let mut forget =
            self.db.prepare_cached("DELETE FROM term WHERE term = ?1 AND chunks <= 0")?;
        for (term, change) in terms {
            count.execute(params![term, change])?;
            if change < 0 {
                forget.execute([term])?;
            }
        }
        Ok(())
    }

    /// Writes everything and seals it: from here on it is the index. Returns the lock.
    pub(crate) fn finish(mut self) -> Result<Exclusive, StoreError> {
        self.write_terms()?;
        for (code, change) in &self.languages {
            let sql = "INSERT INTO language VALUES (?1, ?2)
                       ON CONFLICT DO UPDATE SET chunks = chunks + ?2";
            rows::run(&self.db, sql, params![code, change])?;
        }
        let generation = rows::number(&self.db, "generation")?.saturating_add(1);
        for (name, value) in [
            ("documents", self.documents.cast_signed()),
            ("chunks", self.chunks.cast_signed()),
            ("tokens", self.tokens.cast_signed()),
            ("blocks", self.blocks.cast_signed()),
            ("words", self.words.cast_signed()),
            ("next_chunk", self.next_chunk.cast_signed()),
            ("next_document", self.next_document.cast_signed()),
            ("next_entry", self.next_entry),
            ("generation", generation.cast_signed()),
        ] {
            rows::set(&self.db, name, value)?;
        }
        self.db.execute_batch("COMMIT")?;
        self.db.close().map_err(|(_, error)| error)?;
        if let Some(lexical) = self.lexical {
            lexical.finish(self.removed)?;
        }
        self.alone.seal(&self.store.folder, generation)?;
        self.store.anew = None;
        Ok(self.alone)
    }

    /// Returns how many documents and chunks there are now.
    pub(crate) const fn size(&self) -> (u64, u64) {
        (self.documents, self.chunks)
    }
}

/// Spreads terms, which are already hashes, over a table.
#[derive(Clone, Copy, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxhash_rust::xxh3::xxh3_64(bytes);
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
