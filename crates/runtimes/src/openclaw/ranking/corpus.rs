//! What OpenClaw has in its database: chunks, and the two word indexes over texts and paths.

use std::ops::Deref;

use anemone_index::Document;
use rusqlite::{Connection, Error, params};

use super::chunks::{ChunkSize, Generation, OpenClawChunk, openclaw_chunks};

/// OpenClaw's name for the source of everything except conversations.
const MEMORY: &str = "memory";

/// Everything that is searched.
pub(super) struct Corpus<'a> {
    documents: &'a [Document],
    /// In the order in which OpenClaw indexes them.
    pub(super) chunks: Vec<StoredChunk>,
    /// The first chunk of each document.
    pub(super) first: Vec<Option<usize>>,
    tables: Connection,
}

/// A chunk, and its document.
pub(super) struct StoredChunk {
    pub(super) document: usize,
    pub(super) id: String,
    chunk: OpenClawChunk,
}

impl Deref for StoredChunk {
    type Target = OpenClawChunk;

    fn deref(&self) -> &OpenClawChunk {
        &self.chunk
    }
}

/// Whether a document is searched: March does not read `USER.md`, September not `memory.md`.
pub(super) fn is_read(document: &Document, generation: Generation) -> bool {
    let unread = match generation {
        Generation::Three => "USER.md",
        Generation::Nine => "memory.md",
    };
    document.path != unread
}

impl<'a> Corpus<'a> {
    /// Cuts documents and indexes them.
    pub(super) fn of_documents(
        documents: &'a [Document],
        generation: Generation,
        size: ChunkSize,
        model: &str,
    ) -> Result<Self, Error> {
        let mut order: Vec<usize> =
            (0..documents.len()).filter(|&at| is_read(&documents[at], generation)).collect();
        order.sort_by_key(|&at| {
            let path = documents[at].path.as_str();
            (path != "MEMORY.md", path != "USER.md", path)
        });
        let chunks = order.into_iter().flat_map(|at| {
            let document = &documents[at];
            openclaw_chunks(&document.path, &document.text, generation, size)
                .into_iter()
                .map(move |chunk| (at, chunk))
        });
        Self::of_chunks(documents, chunks, model)
    }

    /// Indexes chunks; each comes with the number of its document.
    pub(super) fn of_chunks(
        documents: &'a [Document],
        chunks: impl Iterator<Item = (usize, OpenClawChunk)>,
        model: &str,
    ) -> Result<Self, Error> {
        let mut tables = Connection::open_in_memory()?;
        // The texts are kept with the chunks: the word indexes only hold postings.
        tables.execute_batch(
            "CREATE VIRTUAL TABLE texts USING fts5(text, content='');
             CREATE VIRTUAL TABLE paths USING fts5(path, content='');",
        )?;
        let mut corpus = Self {
            documents,
            chunks: Vec::new(),
            first: vec![None; documents.len()],
            tables: Connection::open_in_memory()?,
        };
        let writing = tables.transaction()?;
        let mut insert = writing.prepare("INSERT INTO texts(rowid, text) VALUES (?1, ?2)")?;
        for (at, chunk) in chunks {
            let document = &documents[at];
            let row = corpus.chunks.len();
            insert.execute(params![rowid(row), chunk.text])?;
            let id = chunk.id(source_of(document), &document.path, model);
            let chunk = StoredChunk { document: at, id, chunk };
            let earlier = corpus.first[at].map(|first| &corpus.chunks[first]);
            if earlier.is_none_or(|earlier| place(&chunk) < place(earlier)) {
                corpus.first[at] = Some(row);
            }
            corpus.chunks.push(chunk);
        }
        drop(insert);
        let mut insert = writing.prepare("INSERT INTO paths(rowid, path) VALUES (?1, ?2)")?;
        for (at, document) in documents.iter().enumerate() {
            if corpus.first[at].is_some() {
                insert.execute(params![rowid(at), document.path])?;
            }
        }
        drop(insert);
        writing.commit()?;
        corpus.tables = tables;
        Ok(corpus)
    }

    /// Returns the lines of a chunk, and their file.
    pub(super) fn range_of(&self, chunk: usize) -> (&'a str, &'a str, u32, u32) {
        let (document, chunk) = (self.document_of(chunk), &self.chunks[chunk]);
        (source_of(document), &document.path, chunk.start_line, chunk.end_line)
    }

    pub(super) fn document_of(&self, chunk: usize) -> &'a Document {
        &self.documents[self.chunks[chunk].document]
    }

    pub(super) const fn documents(&self) -> &'a [Document] {
        self.documents
    }

    /// Returns the chunks that match, with their ranks, the best first. A query that FTS5 does not
    /// understand matches nothing.
    pub(super) fn texts(&self, matching: &str, limit: usize) -> Vec<(usize, f64)> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.matches(
            "SELECT rowid, bm25(texts) AS score FROM texts WHERE texts MATCH ?1
             ORDER BY score LIMIT ?2",
            params![matching, limit],
        )
        .unwrap_or_default()
    }

    /// Returns the documents whose paths match, with their ranks, in no particular order.
    pub(super) fn paths(&self, matching: &str) -> Vec<(usize, f64)> {
        self.matches(
            "SELECT rowid, bm25(paths) AS score FROM paths WHERE paths MATCH ?1",
            params![matching],
        )
        .unwrap_or_default()
    }

    fn matches(
        &self,
        query: &str,
        values: &[&dyn rusqlite::ToSql],
    ) -> Result<Vec<(usize, f64)>, Error> {
        let mut statement = self.tables.prepare(query)?;
        let rows = statement.query_map(values, |row| {
            let number: i64 = row.get(0)?;
            Ok((usize::try_from(number - 1).unwrap_or(usize::MAX), row.get(1)?))
        })?;
        rows.collect()
    }
}

/// Returns what OpenClaw calls the source of a document.
pub(super) fn source_of(document: &Document) -> &str {
    match document.provenance.source.as_str() {
        "sessions" => "sessions",
        _ => MEMORY,
    }
}

/// The key by which the chunks of a file are sorted.
fn place(chunk: &StoredChunk) -> (u32, u32, &str) {
    (chunk.start_line, chunk.end_line, &chunk.id)
}

fn rowid(position: usize) -> i64 {
    i64::try_from(position).map_or(i64::MAX, |position| position.saturating_add(1))
}
