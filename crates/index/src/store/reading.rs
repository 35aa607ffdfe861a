//! Queries of a store.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use rusqlite::{Connection, OptionalExtension as _, Row, params_from_iter};

use super::body::Body;
use super::kept::Kept;
use super::lexical::{Lexical, ScoredChunk, Weighed, worth};
use super::lock::Held;
use super::rows::{self, unsigned};
use super::seal::Seal;
use super::{
    Allowed, Candidate, ChunkId, DocumentId, Narrow, SoughtTerm, Statistics, Store, StoreError,
    StoredChunk,
};
use crate::document::Document;
use crate::request::Request;
use crate::source::FileStamp;
use crate::text::{Language, Term};

/// Documents whose order is looked up one by one; for more, the whole order is read.
const FEW_DOCUMENTS: usize = 256;

/// Decoded chunks and documents that a view keeps: some megabytes.
const KEPT_CHUNKS: usize = 8192;
const KEPT_DOCUMENTS: usize = 4096;

/// A document without its text, and which chunks it has.
pub(crate) struct ReadDocument {
    pub(crate) document: Document,
    pub(crate) chunks: Range<ChunkId>,
}

/// A view of the store under the readers' lock: it does not change while it is held.
pub(crate) struct Reading<'a> {
    store: &'a Store,
    view: Option<View>,
    /// Its own lock, unless the store holds one.
    _lock: Option<Held>,
}

/// A store, open for reading. It is only valid while a lock is held.
pub(crate) struct View {
    pub(super) db: Connection,
    pub(super) seal: Seal,
    lexical: Lexical,
    statistics: Statistics,
    order: OnceCell<HashMap<DocumentId, usize>>,
    kept_chunks: Kept<ChunkId, StoredChunk>,
    kept_documents: Kept<DocumentId, ReadDocument>,
}

/// The row of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryRow<'a> {
    pub(crate) key: &'a str,
    pub(crate) stamp: FileStamp,
    /// When it was read.
    pub(crate) seen_ns: i64,
    /// The hash of its content; empty: it could not be read.
    pub(crate) content: &'a [u8],
    /// What is not searched of it, as JSON.
    pub(crate) skipped: Option<&'a str>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(store: &'a Store, view: View, lock: Option<Held>) -> Self {
        Self { store, view: Some(view), _lock: lock }
    }
}

impl Deref for Reading<'_> {
    type Target = View;

    fn deref(&self) -> &View {
        self.view.as_ref().expect("a view is taken away only when its reader is dropped")
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        if let Some(view) = self.view.take() {
            self.store.give_back(view);
        }
    }
}

impl View {
    /// Whether the terms of removed chunks are still on disk.
    pub(super) fn has_removed_terms(&self) -> bool {
        self.lexical.has_removed()
    }

    pub(super) fn open(folder: &Path, seal: Seal) -> Result<Self, StoreError> {
        let db = rows::open(folder)?;
        let mut statistics = Statistics {
            documents: rows::number(&db, "documents")?,
            chunks: rows::number(&db, "chunks")?,
            tokens: rows::number(&db, "tokens")?,
            blocks: rows::number(&db, "blocks")?,
            words: rows::number(&db, "words")?,
            languages: Vec::new(),
        };
        let sql = "SELECT code, chunks FROM language WHERE chunks > 0 ORDER BY chunks DESC, code";
        let found = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, unsigned(row, 1)?));
        for (code, chunks) in rows::all(&db, sql, [], found)? {
            statistics.languages.extend(Language::of_code(&code).map(|known| (known, chunks)));
        }
        let lexical = Lexical::open(folder)?;
        Ok(Self {
            db,
            seal,
            lexical,
            statistics,
            order: OnceCell::new(),
            kept_chunks: Kept::new(KEPT_CHUNKS),
            kept_documents: Kept::new(KEPT_DOCUMENTS),
        })
    }

    /// Returns the seal of the last writer: it changes with every write.
    pub(crate) const fn seal(&self) -> &Seal {
        &self.seal
    }

    /// Returns the lexical index.
    pub(super) fn lexical(&self) -> &Lexical {
        &self.lexical
    }

    /// Returns statistics of all chunks together; they depend on the documents alone, not on the
    /// order in which they were added.
    pub(crate) fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Returns how many chunks have a term (in text or context), not counting removed ones.
    pub(crate) fn frequency(&self, term: Term) -> Result<u64, StoreError> {
        let sql = "SELECT chunks FROM term WHERE term = ?1";
        Ok(rows::first(&self.db, sql, [term.0], |row| unsigned(row, 0))?.unwrap_or(0))
    }

    /// Returns the best chunks for any of these terms, the best first; at most `limit`. A larger
    /// limit only appends to the list. The same documents give the same list, in whatever order
    /// they were added to the index; among equals the newest date, then the path and the position
    /// in the document decide.
    pub(crate) fn candidates(
        &self,
        wanted: &[SoughtTerm<'_>],
        limit: usize,
        narrow: &Narrow,
    ) -> Result<Vec<Candidate>, StoreError> {
        // A term that is requested twice counts twice.
        let mut asked: BTreeMap<&str, (Term, f32)> = BTreeMap::new();
        for wanted in wanted {
            if wanted.weight > 0.0 && wanted.weight.is_finite() {
                asked.entry(&wanted.text).or_insert((wanted.term, 0.0)).1 += wanted.weight;
            }
        }
        let mut terms = Vec::with_capacity(asked.len());
        for (text, (term, weight)) in asked {
            let having = self.frequency(term)?;
            if having > 0 {
                terms.push(Weighed { text, most: worth(having, self.statistics.chunks, weight) });
            }
        }
        // The rarest first: what they leave open soon becomes nothing. The sort keeps the texts'
        // order.
        terms.sort_by(|a, b| b.most.total_cmp(&a.most));
        #[expect(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^52")]
        let mean = self.statistics.tokens.max(1) as f64 / self.statistics.chunks.max(1) as f64;
        let best = self.lexical.best(&terms, mean, limit, narrow)?;
        let mut found = best.clear;
        let (mut tied, places) = best.tied;
        if places < tied.len() {
            self.sort(&mut tied)?;
            tied.truncate(places);
        }
        found.append(&mut tied);
        self.sort(&mut found)?;
        Ok(found.iter().map(|found| Candidate { chunk: found.chunk, score: found.score }).collect())
    }

    /// Sorts by score; among equals, by what the documents are.
    fn sort(&self, found: &mut [ScoredChunk]) -> Result<(), StoreError> {
        found.sort_unstable_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then(a.document.cmp(&b.document))
                .then(a.chunk.cmp(&b.chunk))
        });
        let mut documents: Vec<DocumentId> = found
            .chunk_by(|a, b| a.score.to_bits() == b.score.to_bits())
            .filter(|equal| equal.first().map(|f| f.document) != equal.last().map(|f| f.document))
            .flatten()
            .map(|found| found.document)
            .collect();
        documents.sort_unstable();
        documents.dedup();
        if documents.is_empty() {
            return Ok(());
        }
        let few;
        let order = if documents.len() <= FEW_DOCUMENTS {
            few = self.order_of(&documents)?;
            &few
        } else if let Some(order) = self.order.get() {
            order
        } else {
            let order = self.order_of_all()?;
            self.order.get_or_init(|| order)
        };
        let place = |found: &ScoredChunk| order.get(&found.document).copied().unwrap_or(usize::MAX);
        for equal in found.chunk_by_mut(|a, b| a.score.to_bits() == b.score.to_bits()) {
            equal.sort_unstable_by(|a, b| {
                place(a)
                    .cmp(&place(b))
                    .then(a.document.cmp(&b.document))
                    .then(a.chunk.cmp(&b.chunk))
            });
        }
        Ok(())
    }

    fn order_of(&self, documents: &[DocumentId]) -> Result<HashMap<DocumentId, usize>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT date, path FROM document WHERE id = ?1")?;
        let mut keys = Vec::with_capacity(documents.len());
        for document in documents {
            let key = find.query_row([document.0.cast_signed()], |row| {
                Ok((row.get::<_, Option<String>>(0)?, row.get::<_, String>(1)?))
            });
            let (date, path) = key.optional()?.unwrap_or_default();
            keys.push((std::cmp::Reverse(date), path, *document));
        }
        keys.sort_unstable();
        Ok(keys.into_iter().enumerate().map(|(place, key)| (key.2, place)).collect())
    }

    fn order_of_all(&self) -> Result<HashMap<DocumentId, usize>, StoreError> {
        // Chunks without a date come last, here and above.
        let mut find =
            self.db.prepare("SELECT id FROM document ORDER BY date DESC NULLS LAST, path")?;
        let mut found = find.query([])?;
        let mut order = HashMap::new();
        while let Some(row) = found.next()? {
            order.insert(DocumentId(unsigned(row, 0)?), order.len());
        }
        Ok(order)
    }

    /// Reads chunks with their bodies, in the requested order; missing ones are left out.
    pub(crate) fn chunks(&self, ids: &[ChunkId]) -> Result<Vec<Arc<StoredChunk>>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT document, start_byte, language, body FROM chunk WHERE id = ?1",
        )?;
        let mut chunks = Vec::with_capacity(ids.len());
        for &id in ids {
            if let Some(chunk) = self.kept_chunks.get(id) {
                chunks.push(chunk);
                continue;
            }
            let mut found = find.query([id.0.cast_signed()])?;
            let Some(row) = found.next()? else { continue };
            let language = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
            let chunk = StoredChunk {
                id,
                document: DocumentId(unsigned(row, 0)?),
                start_byte: unsigned(row, 1)?,
                language: Language::of_code(language).unwrap_or_default(),
                body: Body::decode(row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?)?,
            };
            chunks.push(self.kept_chunks.keep(id, chunk));
        }
        Ok(chunks)
    }

    /// Reads the text of a chunk.
    pub(crate) fn text(&self, id: ChunkId) -> Result<String, StoreError> {
        let mut find = self.db.prepare_cached("SELECT text FROM passage WHERE id = ?1")?;
        Ok(find.query_row([id.0.cast_signed()], |row| row.get(0))?)
    }

    /// Reads a document without its text.
    pub(crate) fn document(&self, id: DocumentId) -> Result<Arc<ReadDocument>, StoreError> {
        if let Some(document) = self.kept_documents.get(id) {
            return Ok(document);
        }
        let sql = format!("SELECT {} FROM document WHERE id = ?1", rows::DOCUMENT);
        let mut find = self.db.prepare_cached(&sql)?;
        let (document, chunks) = find.query_row([id.0.cast_signed()], rows::document)?;
        Ok(self.kept_documents.keep(id, ReadDocument { document, chunks }))
    }

    /// Returns the documents that pass a request's filters by path, type and namespace, and that
    /// have a day in the request's range, of their own or of a section; `None` without filters.
    /// Between a document's first and last day there may be none in the range: the reader of its
    /// blocks checks that.
    pub(crate) fn allowed(&self, request: &Request) -> Result<Option<Allowed>, StoreError> {
        let Request { since, until, types, namespaces, paths, .. } = request;
        let dated = since.is_some() || until.is_some();
        if !dated && types.is_empty() && namespaces.is_empty() && paths.is_empty() {
            return Ok(None);
        }
        let mut sql = String::from("SELECT id, path FROM document WHERE 1");
        let mut values: Vec<String> = Vec::new();
        let mut condition = |text: &str, value: String| {
            sql.push_str(text);
            values.push(value);
        };
        // Days are stored as YYYY-MM-DD and compare as texts.
        if let Some(since) = since {
            condition(" AND last_date >= ?", since.to_string());
        }
        if let Some(until) = until {
            condition(" AND first_date <= ?", until.to_string());
        }
        for (column, wanted) in [("type", types), ("namespace", namespaces)] {
            if !wanted.is_empty() {
                let list = serde_json::to_string(wanted).map_err(std::io::Error::from)?;
                condition(&format!(" AND {column} IN (SELECT value FROM json_each(?))"), list);
            }
        }
        let globs = Paths::of(paths);
        let mut find = self.db.prepare_cached(&sql)?;
        let mut found = find.query(params_from_iter(&values))?;
        let mut documents = Vec::new();
        while let Some(row) = found.next()? {
            let path = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
            if paths.is_empty() || globs.has(path) {
                documents.push(DocumentId(unsigned(row, 0)?));
            }
        }
        documents.sort_unstable();
        Ok(Some(Allowed { documents }))
    }

    /// Returns the chunks of the documents that pass a request's filters.
    pub(crate) fn allowed_chunks(&self, allowed: &Allowed) -> Result<Vec<Range<u64>>, StoreError> {
        let mut find =
            self.db.prepare_cached("SELECT first_chunk, chunks FROM document WHERE id = ?1")?;
        let mut ranges = Vec::with_capacity(allowed.documents.len());
        for document in &allowed.documents {
            let range = find.query_row([document.0.cast_signed()], |row| {
                let first = unsigned(row, 0)?;
                Ok(first..first + unsigned(row, 1)?)
            });
            ranges.push(range?);
        }
        ranges.sort_unstable_by_key(|range| range.start);
        Ok(ranges)
    }

    /// Reads every allowed document with its text, in the order of their paths.
    pub(crate) fn documents(
        &self,
        allowed: Option<&Allowed>,
        each: &mut dyn FnMut(Document),
    ) -> Result<(), StoreError> {
        let sql = format!("SELECT {} FROM document ORDER BY path", rows::DOCUMENT);
        let mut find = self.db.prepare_cached(&sql)?;
        let mut texts =
            self.db.prepare_cached("SELECT text FROM passage WHERE id >= ?1 AND id < ?2")?;
        let mut found = find.query([])?;
        while let Some(row) = found.next()? {
            let id = DocumentId(unsigned(row, rows::DOCUMENT_ID)?);
            if allowed.is_some_and(|allowed| allowed.documents.binary_search(&id).is_err()) {
                continue;
            }
            let (mut document, chunks) = rows::document(row)?;
            let mut passages =
                texts.query([chunks.start.0.cast_signed(), chunks.end.0.cast_signed()])?;
            while let Some(passage) = passages.next()? {
                let text = passage.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
                document.text.push_str(text);
            }
            each(document);
        }
        Ok(())
    }

    /// Returns the sources by number and identity, in their order.
    pub(crate) fn sources(&self) -> Result<Vec<(i64, String)>, StoreError> {
        let sql = "SELECT id, identity FROM source ORDER BY position";
        rows::all(&self.db, sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Visits the entries of a source in the order of their keys.
    pub(crate) fn entries(
        &self,
        source: i64,
        each: &mut dyn FnMut(EntryRow<'_>),
    ) -> Result<(), StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT key, size, modified_ns, changed_ns, inode, seen_ns, content, skipped
             FROM entry WHERE source = ?1 ORDER BY key",
        )?;
        let mut found = find.query([source])?;
        while let Some(row) = found.next()? {
            each(EntryRow {
                key: row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?,
                stamp: FileStamp {
                    size: unsigned(row, 1)?,
                    modified_ns: row.get(2)?,
                    changed_ns: row.get(3)?,
                    inode: unsigned(row, 4)?,
                },
                seen_ns: row.get(5)?,
                content: row.get_ref(6)?.as_blob().map_err(rusqlite::Error::from)?,
                skipped: row.get_ref(7)?.as_str_or_null().map_err(rusqlite::Error::from)?,
            });
        }
        Ok(())
    }
}

/// Paths as people write them: globs, and folders or files by their names.
struct Paths {
    globs: GlobSet,
    names: Vec<String>,
}

impl Paths {
    fn of(paths: &[String]) -> Self {
        let mut globs = GlobSetBuilder::new();
        let mut names = Vec::new();
        for path in paths {
            let path = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
            // A text that is not a glob may still be a name.
            if let Ok(glob) = GlobBuilder::new(path).literal_separator(true).build() {
                globs.add(glob);
            }
            names.push(path.to_owned());
        }
        Self { globs: globs.build().unwrap_or_default(), names }
    }

    fn has(&self, path: &str) -> bool {
        let below = |name: &String| {
            name.is_empty()
                || name == "."
                || path
                    .strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.names.iter().any(below) || self.globs.is_match(path)
    }
}
