//! Vectors from OpenClaw's own search index, in the order of the files they belong to.
//!
//! | | gen-3 | gen-9 |
//! |---|---|---|
//! | database | `memory/<agent>.sqlite` | `agents/<agent>/agent/openclaw-agent.sqlite` |
//! | table | `chunks` | `memory_index_chunks` |
//! | vector | text, a JSON array | blob of little-endian `f64` |
//!
//! Between the two there was a version with the new table and the old vectors, so a vector is
//! decoded by its type, not by its table. Nothing is computed here: a chunk without a vector, or
//! with an invalid one, is counted and left out.

use std::cmp::Ordering;
use std::collections::HashMap;

use anemone_format::{Hex, Moment, sha256_hex};
use sha2::{Digest, Sha256};

use super::install::InstallDatabase;
use crate::kit::{DatabaseError, Read, Rows, Value, Warning, short_digest, times};

const META_KEY: &str = "memory_index_meta_v1";
/// What the program calls the model of chunks without a vector.
const NO_MODEL: &str = "fts-only";
const MAX_DIMENSIONS: usize = 65_536;
/// With more rows the classes are left out, because they have to be kept in memory.
const MAX_PROVENANCE: usize = 1_000_000;
const MAX_CLASSES: usize = 32;

/// A piece of a file with its vector.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chunk {
    /// The file, relative to the workspace.
    pub(super) path: String,
    /// Its first line, from 1.
    pub(super) start_line: u64,
    /// Its last line.
    pub(super) end_line: u64,
    /// `provider/model`.
    pub(super) model: String,
    /// The vector of its text; empty where the index is for keywords only.
    pub(super) vector: Vec<f32>,
    /// When the vector was computed.
    pub(super) computed_at: Moment,
    /// Who the text comes from, where the program noted it: `owner`, `agent`, `untrusted`, `system`.
    pub(super) origin_class: Option<String>,
    /// SHA-256 of its text, in hexadecimal.
    pub(super) hash: String,
}

/// Counts of the rows of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct IndexCounts {
    /// Chunks of memory files.
    pub(super) chunks: u64,
    /// Those without a vector.
    pub(super) keyword_only: u64,
    /// Those with an invalid vector, or without a location.
    pub(super) malformed: u64,
    /// Those of files that were not requested.
    pub(super) unmatched: u64,
    /// Files that changed since they were indexed.
    pub(super) stale: u64,
}

/// Returns the version of the program that last wrote a database, where it says so.
pub(super) fn app_version(database: &InstallDatabase) -> Option<String> {
    let read = Read::of("schema_meta", &["app_version"]).only("meta_key", "primary");
    let row = database.rows(&read).ok()??.next()?.ok()?;
    row.first()?.as_text().map(str::to_owned)
}

/// Returns the digests of the files when they were indexed.
fn indexed_files(
    database: &InstallDatabase,
    table: &str,
) -> Result<HashMap<String, String>, DatabaseError> {
    let rows = database.rows(&Read::of(table, &["path", "hash"]).only("source", "memory"))?;
    let mut files = HashMap::new();
    for row in rows.into_iter().flatten().take(MAX_PROVENANCE) {
        if let [Value::Text(path), Value::Text(hash)] = &row?[..] {
            files.insert(path.clone(), hash.clone());
        }
    }
    Ok(files)
}

/// Asks for the chunks of memory files, in the order in which files are read.
fn chunks_in(table: &str, columns: &[&str]) -> Read {
    Read::of(table, columns)
        .ordered_by(&["path", "start_line", "end_line", "id"])
        .only("source", "memory")
}

/// The chunks of an index, file after file.
#[derive(Debug, Default)]
pub(super) struct ChunkStream {
    rows: Option<Rows>,
    next: Option<Chunk>,
    meta: Meta,
    provenance: Provenance,
    /// The length of the vectors of each model.
    dimensions: HashMap<String, usize>,
    last_path: String,
    counts: IndexCounts,
    warnings: Vec<Warning>,
    origin: String,
    fingerprint: Option<String>,
    /// SHA-256 of each file when it was indexed, in hexadecimal.
    indexed: HashMap<String, String>,
}

impl ChunkStream {
    /// Opens the index in a database. Without an index, there are no chunks.
    pub(super) fn open(database: Option<&InstallDatabase>) -> Self {
        let mut stream = Self::default();
        let Some(database) = database else { return stream };
        stream.origin = database.path().to_string_lossy().into_owned();
        if let Err(error) = stream.start(database) {
            stream.warn(&error);
        }
        stream
    }

    fn start(&mut self, database: &InstallDatabase) -> Result<(), DatabaseError> {
        let (chunks, meta, files) = if database.has("memory_index_chunks") {
            ("memory_index_chunks", "memory_index_meta", "memory_index_sources")
        } else {
            ("chunks", "meta", "files")
        };
        if !database.has(chunks) {
            return Ok(());
        }
        self.meta = Meta::read(database, meta)?;
        self.provenance = Provenance::read(database)?;
        if self.provenance.overflowed {
            self.warnings.push(Warning::about(
                "index_malformed",
                self.origin.clone(),
                format!(
                    "says of more than {MAX_PROVENANCE} pieces who is behind them; it is left out"
                ),
            ));
        }
        self.indexed = indexed_files(database, files)?;
        self.fingerprint = Some(self.digest(database, chunks)?);
        let columns =
            ["id", "path", "start_line", "end_line", "hash", "model", "embedding", "updated_at"];
        self.rows = database.rows(&chunks_in(chunks, &columns))?;
        Ok(())
    }

    /// Digests the content of the index, except vectors: the same text has the same vector, unless
    /// it was computed again. Only the class of a chunk without a vector counts; the program may
    /// rebuild such an index at any time.
    fn digest(&self, database: &InstallDatabase, table: &str) -> Result<String, DatabaseError> {
        let columns = ["id", "path", "start_line", "end_line", "model", "hash", "updated_at"];
        let mut hasher = Sha256::new();
        hasher.update(format!("{:?}\n", self.meta.provider));
        for row in database.rows(&chunks_in(table, &columns))?.into_iter().flatten() {
            let row = row?;
            let text = |at: usize| row.get(at).and_then(Value::as_text);
            let class = text(0).and_then(|id| self.provenance.class_of(id));
            let has_vector = text(4) != Some(NO_MODEL);
            let known = if has_vector { &row[..] } else { row.get(1..4).unwrap_or_default() };
            if has_vector || class.is_some() {
                hasher.update(format!("{known:?} {class:?}\n"));
            }
        }
        Ok(Hex(&hasher.finalize()).to_string())
    }

    /// Returns a digest of what the index says about the agent's files.
    pub(super) fn fingerprint(&self) -> Option<&str> {
        self.fingerprint.as_deref()
    }

    /// Returns whether a file has changed since it was indexed, and counts it. Without a digest in
    /// the index, it has not.
    pub(super) fn is_stale(&mut self, path: &str, content: &[u8]) -> bool {
        let indexed = self.indexed.get(path).filter(|hash| !hash.is_empty());
        let is_stale = indexed.is_some_and(|hash| *hash != sha256_hex(content));
        self.counts.stale += u64::from(is_stale);
        is_stale
    }

    /// Returns the chunks of one file. Files must be asked for in the order of their bytes.
    pub(super) fn for_file(&mut self, path: &str) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        while let Some(chunk) = self.next.take().or_else(|| self.advance()) {
            match chunk.path.as_str().cmp(path) {
                Ordering::Less => self.counts.unmatched += 1,
                Ordering::Equal => chunks.push(chunk),
                Ordering::Greater => {
                    self.next = Some(chunk);
                    break;
                }
            }
        }
        chunks
    }

    /// Reads the remaining rows, and returns what was found.
    pub(super) fn finish(mut self) -> (IndexCounts, Vec<Warning>) {
        while self.next.take().or_else(|| self.advance()).is_some() {
            self.counts.unmatched += 1;
        }
        (self.counts, self.warnings)
    }

    fn advance(&mut self) -> Option<Chunk> {
        loop {
            let row = match self.rows.as_mut()?.next() {
                Some(Ok(row)) => row,
                Some(Err(error)) => {
                    self.rows = None;
                    self.warn(&error);
                    return None;
                }
                None => {
                    self.rows = None;
                    return None;
                }
            };
            self.counts.chunks += 1;
            match self.chunk(row) {
                Ok(chunk) => return Some(chunk),
                Err(SkipReason::KeywordOnly) => self.counts.keyword_only += 1,
                Err(SkipReason::Malformed) => self.counts.malformed += 1,
            }
        }
    }

    /// All vectors of a model have one length: that in the index, or else that of the first vector.
    fn has_right_length(&mut self, model: &str, vector: &[f32]) -> bool {
        if vector.is_empty() {
            return true;
        }
        let known = self.meta.dimensions(model).unwrap_or(vector.len());
        *self.dimensions.entry(model.to_owned()).or_insert(known) == vector.len()
    }

    fn chunk(&mut self, row: Vec<Value>) -> Result<Chunk, SkipReason> {
        let Ok([id, path, start_line, end_line, hash, model, embedding, updated_at]) =
            <[Value; 8]>::try_from(row)
        else {
            return Err(SkipReason::Malformed);
        };
        let (Value::Text(id), Value::Text(path), Value::Text(model)) = (id, path, model) else {
            return Err(SkipReason::Malformed);
        };
        // The database process only claims this order, and the caller relies on it.
        if path < self.last_path {
            return Err(SkipReason::Malformed);
        }
        self.last_path.clone_from(&path);
        let origin_class = self.provenance.class_of(&id);
        let vector = if model == NO_MODEL { Vec::new() } else { decode(&embedding)? };
        if vector.is_empty() && origin_class.is_none() {
            return Err(SkipReason::KeywordOnly);
        }
        let line = |value: &Value| value.as_integer().and_then(|line| u64::try_from(line).ok());
        let (Some(start_line), Some(end_line)) = (line(&start_line), line(&end_line)) else {
            return Err(SkipReason::Malformed);
        };
        let Some(computed_at) = updated_at.as_integer().and_then(times::from_millis) else {
            return Err(SkipReason::Malformed);
        };
        if start_line > end_line || !self.has_right_length(&model, &vector) {
            return Err(SkipReason::Malformed);
        }
        Ok(Chunk {
            path,
            start_line,
            end_line,
            model: self.meta.tag(&model),
            vector,
            computed_at,
            origin_class,
            hash: hash.as_text().unwrap_or_default().to_owned(),
        })
    }

    fn warn(&mut self, error: &DatabaseError) {
        let message = format!("the search index gives no vectors: {error}");
        self.warnings.push(Warning::about("index_unreadable", self.origin.clone(), message));
    }
}

/// Why a row gives no chunk.
enum SkipReason {
    KeywordOnly,
    Malformed,
}

/// What the index says about itself.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Meta {
    provider: Option<String>,
    model: Option<String>,
    vector_dims: Option<usize>,
}

impl Meta {
    /// Takes what a row says about its provider.
    pub(super) fn of(provider: &str) -> Self {
        Self { provider: Some(provider.to_owned()), ..Self::default() }
    }

    pub(super) fn read(database: &InstallDatabase, table: &str) -> Result<Self, DatabaseError> {
        let rows = database.rows(&Read::of(table, &["value"]).only("key", META_KEY))?;
        let row = rows.into_iter().flatten().next().transpose()?.unwrap_or_default();
        let text = row.first().and_then(Value::as_text).unwrap_or("{}");
        Ok(serde_json::from_str(text).unwrap_or_default())
    }

    fn dimensions(&self, model: &str) -> Option<usize> {
        self.vector_dims.filter(|_| self.model.as_deref() == Some(model))
    }

    /// Returns `provider/model`. A model's own name may have a slash, so only a prefix that is the
    /// provider of the index counts as already present.
    pub(super) fn tag(&self, model: &str) -> String {
        match self.provider.as_deref().filter(|provider| !matches!(*provider, "" | "none")) {
            Some(provider) if model.split('/').next() == Some(provider) => model.to_owned(),
            Some(provider) => format!("{provider}/{model}"),
            None if model.contains('/') => model.to_owned(),
            None => format!("unknown/{model}"),
        }
    }
}

/// The origin of each chunk. Only parts of the digests of ids are kept, because there may be many.
#[derive(Debug, Default)]
struct Provenance {
    names: Vec<String>,
    classes: HashMap<u64, u8>,
    /// There were more than the limit, so none are kept.
    overflowed: bool,
}

impl Provenance {
    fn read(database: &InstallDatabase) -> Result<Self, DatabaseError> {
        let mut provenance = Self::default();
        let read = Read::of("memory_index_chunk_provenance", &["chunk_id", "origin_class"]);
        for row in database.rows(&read)?.into_iter().flatten() {
            let row = row?;
            let [Value::Text(id), Value::Text(class)] = row.as_slice() else { continue };
            if provenance.classes.len() == MAX_PROVENANCE {
                return Ok(Self { overflowed: true, ..Self::default() });
            }
            if let Some(class) = provenance.number_of(class) {
                provenance.classes.insert(short_digest(id.as_bytes()), class);
            }
        }
        Ok(provenance)
    }

    fn number_of(&mut self, class: &str) -> Option<u8> {
        let at = match self.names.iter().position(|name| name == class) {
            Some(at) => at,
            None if self.names.len() < MAX_CLASSES => {
                self.names.push(class.to_owned());
                self.names.len() - 1
            }
            None => return None,
        };
        u8::try_from(at).ok()
    }

    fn class_of(&self, id: &str) -> Option<String> {
        let class = self.classes.get(&short_digest(id.as_bytes()))?;
        self.names.get(usize::from(*class)).cloned()
    }
}

/// Decodes a vector by its type; `None` when the value is not a vector.
pub(super) fn vector_in(value: &Value) -> Option<Vec<f32>> {
    decode(value).ok().filter(|vector| !vector.is_empty())
}

/// Decodes a vector by its type; an empty one counts as none.
fn decode(value: &Value) -> Result<Vec<f32>, SkipReason> {
    let numbers: Vec<f64> = match value {
        Value::Null => Vec::new(),
        Value::Blob(bytes) => {
            let (numbers, rest) = bytes.as_chunks::<8>();
            if !rest.is_empty() || numbers.len() > MAX_DIMENSIONS {
                return Err(SkipReason::Malformed);
            }
            numbers.iter().map(|number| f64::from_le_bytes(*number)).collect()
        }
        Value::Text(text) if text.is_empty() => Vec::new(),
        Value::Text(text) => serde_json::from_str(text).map_err(|_| SkipReason::Malformed)?,
        Value::Integer(_) | Value::Real(_) | Value::OddText(_) | Value::TooLong(_) => {
            return Err(SkipReason::Malformed);
        }
    };
    if numbers.len() > MAX_DIMENSIONS {
        return Err(SkipReason::Malformed);
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "models compute in f32; the rest is padding"
    )]
    let vector: Vec<f32> = numbers.iter().map(|number| *number as f32).collect();
    if vector.iter().all(|number| number.is_finite()) {
        Ok(vector)
    } else {
        Err(SkipReason::Malformed)
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::*;
    use crate::kit::database::tests::machine;

    fn fixture(path: &str) -> PathBuf {
        anemone_testkit::fixture(&format!("openclaw/{path}"))
    }

    fn all(database: &Path, files: &[&str]) -> (Vec<Chunk>, IndexCounts, Vec<Warning>) {
        let scratch = TempDir::new().unwrap();
        let database = InstallDatabase::open(&machine(scratch.path()), database).unwrap();
        let mut stream = ChunkStream::open(database.as_ref());
        let chunks = files.iter().flat_map(|file| stream.for_file(file)).collect();
        let (counts, warnings) = stream.finish();
        (chunks, counts, warnings)
    }

    const FILES: [&str; 4] =
        ["MEMORY.md", "memory/2026-01-15.md", "memory/2026-11-14.md", "memory/project-alpha.md"];

    #[test]
    fn the_old_generation_gives_its_four_vectors() {
        let path = fixture("gen3/.openclaw/memory/main.sqlite");
        let (chunks, counts, warnings) = all(&path, &FILES);
        assert_eq!(warnings, []);
        assert_eq!(counts, IndexCounts { chunks: 4, ..IndexCounts::default() });
        let places: Vec<_> =
            chunks.iter().map(|c| (c.path.as_str(), c.start_line, c.vector.len())).collect();
        assert_eq!(places, FILES.map(|file| (file, 1, 64)));
        assert!(chunks.iter().all(|chunk| chunk.model.starts_with("openai/")), "{chunks:?}");
    }

    #[test]
    fn the_new_generation_gives_its_vectors_and_their_origin() {
        let path = fixture("gen9/.openclaw/agents/main/agent/openclaw-agent.sqlite");
        let files = ["MEMORY.md", "USER.md", FILES[1], FILES[2], FILES[3]];
        let (chunks, counts, warnings) = all(&path, &files);
        assert_eq!(warnings, []);
        assert_eq!((counts.keyword_only, counts.malformed, counts.unmatched), (0, 0, 0));
        assert_eq!(counts.chunks, chunks.len() as u64);
        assert!(chunks.iter().all(|chunk| chunk.vector.len() == 64));
        assert!(chunks.iter().all(|chunk| chunk.origin_class.is_some()));
        let (first, last) = (&chunks[0], &chunks[chunks.len() - 1]);
        assert_eq!((first.path.as_str(), last.path.as_str()), (FILES[0], FILES[3]));
    }

    fn home(sql: &str) -> (TempDir, PathBuf) {
        let home = TempDir::new().unwrap();
        let path = home.path().join("index");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        (home, path)
    }

    const CHUNKS: &str = "CREATE TABLE chunks (id TEXT PRIMARY KEY, path TEXT NOT NULL,
        source TEXT NOT NULL DEFAULT 'memory', start_line INTEGER NOT NULL,
        end_line INTEGER NOT NULL, hash TEXT NOT NULL, model TEXT NOT NULL, text TEXT NOT NULL,
        embedding NOT NULL, updated_at INTEGER NOT NULL);";

    #[test]
    fn an_index_for_keywords_says_who_is_behind_a_text_and_may_be_made_anew() {
        let index = |updated_at: u64, class: &str| {
            let (_home, path) = home(&format!(
                "{CHUNKS} ALTER TABLE chunks RENAME TO memory_index_chunks;
                 CREATE TABLE memory_index_chunk_provenance (chunk_id TEXT PRIMARY KEY,
                     origin_class TEXT NOT NULL);
                 INSERT INTO memory_index_chunks VALUES
                     ('1', 'a.md', 'memory', 1, 2, 'h', 'fts-only', '', x'', {updated_at});
                 INSERT INTO memory_index_chunk_provenance VALUES ('1', '{class}');"
            ));
            let scratch = TempDir::new().unwrap();
            let database = InstallDatabase::open(&machine(scratch.path()), &path).unwrap();
            let mut stream = ChunkStream::open(database.as_ref());
            let fingerprint = stream.fingerprint().unwrap().to_owned();
            (stream.for_file("a.md"), fingerprint)
        };
        let (chunks, first) = index(1_794_726_589_220, "untrusted");
        assert_eq!(chunks.len(), 1);
        assert!(chunks[0].vector.is_empty());
        assert_eq!(chunks[0].origin_class.as_deref(), Some("untrusted"));
        assert_eq!(index(1_794_726_599_000, "untrusted").1, first, "only made anew");
        assert_ne!(index(1_794_726_589_220, "owner").1, first);
    }

    #[test]
    fn a_vector_is_decoded_by_what_it_is() {
        let sql = format!(
            "{CHUNKS} INSERT INTO chunks VALUES
             ('1', 'a.md', 'memory', 1, 2, 'h', 'm', '', '[1, -0.5]', 1794726589220),
             ('2', 'a.md', 'memory', 3, 4, 'h', 'm', '', x'000000000000f03f000000000000e0bf', 0),
             ('3', 'a.md', 'sessions', 3, 4, 'h', 'm', '', '[9, 9]', 0);"
        );
        let (_home, path) = home(&sql);
        let (chunks, counts, _) = all(&path, &["a.md"]);
        assert_eq!(counts.chunks, 2);
        assert_eq!(chunks[0].vector, [1.0, -0.5]);
        assert_eq!(chunks[1].vector, [1.0, -0.5]);
        assert_eq!(chunks[0].model, "unknown/m");
        assert_eq!(chunks[0].computed_at.as_str(), "2026-11-15T07:09:49.22Z");
    }

    #[test]
    fn what_makes_no_sense_is_counted_and_left_out() {
        let sql = format!(
            "{CHUNKS} CREATE TABLE meta(key TEXT, value TEXT); INSERT INTO meta VALUES
             ('memory_index_meta_v1', '{{\"provider\":\"p\",\"model\":\"m\",\"vectorDims\":2}}');
             INSERT INTO chunks VALUES
             ('1', 'a', 'memory', 1, 1, '', 'm', '', '[1, 2, 3]', 0),
             ('2', 'a', 'memory', 1, 1, '', 'm', '', '[1, 2', 0),
             ('3', 'a', 'memory', 1, 1, '', 'm', '', x'0001', 0),
             ('4', 'a', 'memory', 1, 1, '', 'm', '', '[1e300, 0]', 0),
             ('5', 'a', 'memory', 1, 1, '', 'm', '', x'000000000000f07f000000000000f07f', 0),
             ('6', 'a', 'memory', 1, 1, '', 'm', '', '', 0),
             ('7', 'a', 'memory', 1, 1, '', 'fts-only', '', x'', 0),
             ('8', 'a', 'memory', 1, 1, '', 'm', '', '[]', 0),
             ('9', 'a', 'memory', -1, 1, '', 'm', '', '[1, 2]', 0),
             ('10', x'ff', 'memory', 1, 1, '', 'm', '', '[1, 2]', 0),
             ('11', 'a', 'memory', 1, 1, '', 'm', '', '[1, 2]', 9223372036854775807),
             ('12', 'a', 'memory', 1, 1, '', 'm', '', '[1, 2]', 0),
             ('13', 'b', 'memory', 1, 1, '', 'p/m', '', '[1, 2]', 0),
             ('14', 'b', 'memory', 1, 1, '', 'BAAI/x', '', '[1]', 0);"
        );
        let (_home, path) = home(&sql);
        let (chunks, counts, warnings) = all(&path, &["a", "b"]);
        let tags: Vec<_> = chunks.iter().map(|chunk| chunk.model.as_str()).collect();
        assert_eq!(tags, ["p/m", "p/m", "p/BAAI/x"]);
        assert_eq!(
            counts,
            IndexCounts { chunks: 14, keyword_only: 3, malformed: 8, unmatched: 0, stale: 0 }
        );
        assert_eq!(warnings, []);
    }

    #[test]
    fn files_and_chunks_meet_in_byte_order() {
        let paths = ["B.md", "a.md", "a/é.md", "a/z.md", "b.md"];
        let rows: String = paths
            .iter()
            .enumerate()
            .map(|(id, path)| {
                format!(
                    "INSERT INTO chunks VALUES ('{id}','{path}','memory',1,1,'','m','','[1]',0);"
                )
            })
            .collect();
        let (_home, path) = home(&format!("{CHUNKS}{rows}"));
        let (chunks, counts, _) = all(&path, &["B.md", "a.md", "a/a.md", "a/é.md", "c.md"]);
        let found: Vec<_> = chunks.iter().map(|chunk| chunk.path.as_str()).collect();
        assert_eq!(found, ["B.md", "a.md", "a/é.md"]);
        assert_eq!(counts.unmatched, 2);
    }

    #[test]
    fn a_database_without_an_index_has_no_chunks() {
        let (_home, path) = home("CREATE TABLE unrelated(x);");
        assert_eq!(all(&path, &["a"]), (Vec::new(), IndexCounts::default(), Vec::new()));
        let stream = ChunkStream::open(None);
        assert_eq!(stream.fingerprint(), None);
        assert_eq!(stream.finish(), (IndexCounts::default(), Vec::new()));
    }
}
