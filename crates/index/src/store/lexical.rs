//! The tantivy half of an index: which chunks have a term, and how often.
//!
//! One tantivy document is one chunk. Its terms are scored here and not by tantivy's queries: those
//! skip blocks by bounds that were computed from the lengths in one segment, so the results near
//! the cut-off depend on how the documents were added. Here every sum is computed in the same
//! order, and only what cannot reach the cut-off is skipped.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anemone_files::{Durability, Existing, commit, create_private, make_private_folder};
use tantivy::columnar::Column;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite, WatchCallback,
    WatchHandle, WritePtr,
};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::{InvertedIndexReader, SegmentReader};
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, NoMergePolicy};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::termdict::TermDictionary;
use tantivy::{Directory, Index, IndexSettings, IndexWriter, TantivyDocument, TantivyError, Term};

use super::{ChunkId, DocumentId, Narrow, StoreError};

/// The folder of tantivy's files.
pub(super) const LEXICAL: &str = "lexical";

/// Bytes that tantivy collects before it writes a segment, when an index is created.
const BUILD_BYTES: usize = 40 << 20;
/// The same, when an index is changed; tantivy accepts no less.
const CHANGE_BYTES: usize = 15_000_000;
/// A change of one file creates a segment below this size; eight of them are merged.
const SMALL_SEGMENT: u32 = 1_000;
/// Segments whose sizes differ by less than two to this power are in one merge class.
const SEGMENT_STEP: f64 = 2.0;
/// A segment with more than this part of its chunks removed is rewritten.
const MAX_REMOVED: f32 = 0.5;

/// How fast further occurrences of a term stop counting.
const K1: f64 = 1.2;
/// How much the length of a chunk counts.
const B: f64 = 0.75;
/// Tolerance for comparing sums of rounded numbers.
const SLACK: f32 = 1.0 + 1e-4;

/// What happens to the terms of removed chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removed {
    /// They are no longer found, and are deleted from the disk when their segment is next merged.
    Hide,
    /// They are deleted from the disk now.
    Erase,
}

/// A term and the weight of an occurrence.
#[derive(Clone, Debug)]
pub(super) struct Weighed<'a> {
    pub(super) text: &'a str,
    /// Its share of a score is always below this.
    pub(super) most: f32,
}

/// A chunk that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ScoredChunk {
    pub(super) score: f32,
    pub(super) document: DocumentId,
    pub(super) chunk: ChunkId,
}

/// The results.
#[derive(Debug, Default)]
pub(super) struct Best {
    /// The best, in no particular order; all of them belong to the answer.
    pub(super) clear: Vec<ScoredChunk>,
    /// Those that tie for the last places, and how many places are left for them.
    pub(super) tied: (Vec<ScoredChunk>, usize),
}

/// A lexical index to read.
pub(super) struct Lexical {
    segments: Vec<Segment>,
    text: Field,
}

struct Segment {
    reader: SegmentReader,
    postings: Arc<InvertedIndexReader>,
    lengths: FieldNormReader,
    chunk: Column<u64>,
    document: Column<u64>,
}

/// A lexical index to write.
pub(super) struct LexicalWriter {
    writer: IndexWriter,
    fields: Fields,
}

#[derive(Clone, Copy)]
struct Fields {
    text: Field,
    chunk: Field,
    document: Field,
}

fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let terms = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_index_option(IndexRecordOption::WithFreqs);
    let text = builder.add_text_field("text", TextOptions::default().set_indexing_options(terms));
    let chunk = builder.add_u64_field("chunk", FAST);
    let document = builder.add_u64_field("document", FAST | INDEXED);
    (builder.build(), Fields { text, chunk, document })
}

/// Returns the weight of a term that is in `having` of `chunks` chunks.
pub(super) fn worth(having: u64, chunks: u64, weight: f32) -> f32 {
    let having = having.min(chunks);
    #[expect(clippy::cast_precision_loss, reason = "counts of chunks are far below 2^52")]
    let rarity = ((chunks - having) as f64 + 0.5) / (having as f64 + 0.5);
    #[expect(clippy::cast_possible_truncation, reason = "scores are single precision")]
    let worth = (rarity.ln_1p() * (K1 + 1.0) * f64::from(weight)) as f32;
    worth.clamp(1e-20, 1e20)
}

/// Returns how a length reduces the weight of a term, for each of tantivy's 256 lengths.
fn dampers(mean_length: f64) -> [f32; 256] {
    std::array::from_fn(|id| {
        let length = f64::from(FieldNormReader::id_to_fieldnorm(u8::try_from(id).unwrap_or(255)));
        #[expect(clippy::cast_possible_truncation, reason = "scores are single precision")]
        let damper = (K1 * (1.0 - B + B * length / mean_length)) as f32;
        damper
    })
}

impl Lexical {
    /// Opens a sealed index.
    pub(super) fn open(folder: &Path) -> Result<Self, StoreError> {
        let index = Index::open(Files::open(&folder.join(LEXICAL))?)?;
        let (schema, Fields { text, .. }) = schema();
        if index.schema() != schema {
            return Err(TantivyError::SchemaError("another schema".to_owned()).into());
        }
        let mut segments = Vec::new();
        for segment in index.searchable_segments()? {
            let reader = SegmentReader::open(&segment)?;
            let postings = reader.inverted_index(text)?;
            let lengths = reader.get_fieldnorms_reader(text)?;
            let chunk = reader.fast_fields().u64("chunk")?;
            let document = reader.fast_fields().u64("document")?;
            segments.push(Segment { reader, postings, lengths, chunk, document });
        }
        Ok(Self { segments, text })
    }

    /// Returns the field of the terms.
    pub(super) fn text_field(&self) -> Field {
        self.text
    }

    /// Whether the terms of removed chunks are still on disk.
    pub(super) fn has_removed(&self) -> bool {
        self.segments.iter().any(|segment| segment.reader.num_deleted_docs() > 0)
    }

    /// Returns the terms of every segment.
    pub(super) fn dictionaries(&self) -> impl Iterator<Item = &TermDictionary> {
        self.segments.iter().map(|segment| segment.postings.terms())
    }

    /// Adds up the terms of every chunk and returns the best. The same terms in the same order give
    /// exactly the same sums, however the chunks are spread over segments.
    pub(super) fn best(
        &self,
        terms: &[Weighed<'_>],
        mean_length: f64,
        limit: usize,
        narrow: &Narrow,
    ) -> Result<Best, StoreError> {
        if limit == 0 || terms.is_empty() {
            return Ok(Best::default());
        }
        let dampers = dampers(mean_length);
        let mut sums: Vec<Sums> = Vec::with_capacity(self.segments.len());
        for segment in &self.segments {
            sums.push(Sums::of(segment, narrow, self.text)?);
        }
        // What the terms after each one can still add, at most.
        let mut rest = vec![0.0_f32; terms.len()];
        for at in (1..terms.len()).rev() {
            rest[at - 1] = rest[at] + terms[at].most;
        }
        let mut so_far = 0.0_f32;
        // Once no new chunk can reach the cut-off, only chunks that have a sum are looked up.
        let mut closed = false;
        for (term, rest) in terms.iter().zip(rest) {
            let key = Term::from_field_text(self.text, term.text);
            for (segment, sums) in self.segments.iter().zip(&mut sums) {
                if closed {
                    sums.look_up(segment, &key, term.most, &dampers)?;
                } else {
                    sums.add(segment, &key, term.most, &dampers)?;
                }
            }
            so_far += term.most;
            if rest > 0.0 && rest < so_far {
                let floor = floor(&sums, limit);
                if floor.is_some_and(|floor| rest * SLACK < floor) {
                    let least = floor.unwrap_or(0.0) - rest * SLACK;
                    sums.iter_mut().for_each(|sums| sums.keep(least, closed));
                    closed = true;
                }
            }
        }
        let floor = floor(&sums, limit).unwrap_or(0.0);
        let mut best = Best::default();
        for (segment, sums) in self.segments.iter().zip(&sums) {
            for &doc in &sums.touched {
                let score = sums.sums[doc as usize];
                if score >= floor {
                    let found = ScoredChunk {
                        score,
                        chunk: ChunkId(segment.chunk.first(doc).unwrap_or(0)),
                        document: DocumentId(segment.document.first(doc).unwrap_or(0)),
                    };
                    if score > floor { &mut best.clear } else { &mut best.tied.0 }.push(found);
                }
            }
        }
        best.tied.1 = limit.saturating_sub(best.clear.len()).min(best.tied.0.len());
        Ok(best)
    }
}

/// The sums of one segment's chunks.
struct Sums {
    sums: Vec<f32>,
    /// Chunks with a sum.
    touched: Vec<u32>,
    /// Chunks that may be found, if not all.
    counted: Option<Vec<bool>>,
}

impl Sums {
    fn of(segment: &Segment, narrow: &Narrow, text: Field) -> io::Result<Self> {
        let allowed = narrow.allowed.as_ref();
        let docs = segment.reader.max_doc();
        let alive = segment.reader.alive_bitset();
        let counted = (alive.is_some() || allowed.is_some()).then(|| {
            // Consecutive chunks are usually of one document.
            let mut last = (None, true);
            (0..docs)
                .map(|doc| {
                    if alive.is_some_and(|alive| alive.is_deleted(doc)) {
                        return false;
                    }
                    let Some(allowed) = allowed else { return true };
                    let document = segment.document.first(doc);
                    if document != last.0 {
                        let has = |id| allowed.documents.binary_search(&DocumentId(id)).is_ok();
                        last = (document, document.is_some_and(has));
                    }
                    last.1
                })
                .collect()
        });
        let counted = required(segment, narrow, text, counted)?;
        Ok(Self { sums: vec![0.0; docs as usize], touched: Vec::new(), counted })
    }

    fn add(
        &mut self,
        segment: &Segment,
        key: &Term,
        most: f32,
        dampers: &[f32; 256],
    ) -> io::Result<()> {
        let Some(info) = segment.postings.get_term_info(key)? else { return Ok(()) };
        let option = IndexRecordOption::WithFreqs;
        let mut postings = segment.postings.read_block_postings_from_terminfo(&info, option)?;
        while !postings.docs().is_empty() {
            for (&doc, &times) in postings.docs().iter().zip(postings.freqs()) {
                let at = doc as usize;
                if self.counted.as_ref().is_some_and(|counted| !counted[at]) {
                    continue;
                }
                let damper = dampers[usize::from(segment.lengths.fieldnorm_id(doc))];
                if self.sums[at] == 0.0 {
                    self.touched.push(doc);
                }
                self.sums[at] += share(most, times, damper);
            }
            postings.advance();
        }
        Ok(())
    }

    fn look_up(
        &mut self,
        segment: &Segment,
        key: &Term,
        most: f32,
        dampers: &[f32; 256],
    ) -> io::Result<()> {
        let Some(info) = segment.postings.get_term_info(key)? else { return Ok(()) };
        let option = IndexRecordOption::WithFreqs;
        let mut postings = segment.postings.read_block_postings_from_terminfo(&info, option)?;
        for &doc in &self.touched {
            let at = postings.seek(doc);
            if postings.doc(at) == doc {
                let damper = dampers[usize::from(segment.lengths.fieldnorm_id(doc))];
                self.sums[doc as usize] += share(most, postings.freq(at), damper);
            }
        }
        Ok(())
    }

    fn keep(&mut self, least: f32, sorted: bool) {
        let sums = &self.sums;
        self.touched.retain(|doc| sums[*doc as usize] >= least);
        if !sorted {
            self.touched.sort_unstable();
        }
    }
}

/// Only counts chunks that have one of each group of terms.
fn required(
    segment: &Segment,
    narrow: &Narrow,
    text: Field,
    mut counted: Option<Vec<bool>>,
) -> io::Result<Option<Vec<bool>>> {
    for group in &narrow.required {
        let mut has = vec![false; segment.reader.max_doc() as usize];
        for term in group {
            let key = Term::from_field_text(text, term);
            let Some(info) = segment.postings.get_term_info(&key)? else { continue };
            let option = IndexRecordOption::Basic;
            let mut postings = segment.postings.read_block_postings_from_terminfo(&info, option)?;
            while !postings.docs().is_empty() {
                postings.docs().iter().for_each(|doc| has[*doc as usize] = true);
                postings.advance();
            }
        }
        counted = Some(match counted {
            Some(counted) => counted.iter().zip(&has).map(|(a, b)| *a && *b).collect(),
            None => has,
        });
    }
    Ok(counted)
}

#[expect(clippy::cast_precision_loss, reason = "a chunk has far fewer than 2^24 tokens")]
fn share(most: f32, times: u32, damper: f32) -> f32 {
    let times = times as f32;
    most * (times / (times + damper))
}

/// Returns the score of the last place; `None` while there are free places.
fn floor(sums: &[Sums], limit: usize) -> Option<f32> {
    let touched: usize = sums.iter().map(|sums| sums.touched.len()).sum();
    if touched < limit {
        return None;
    }
    let mut scores = Vec::with_capacity(touched);
    for sums in sums {
        scores.extend(sums.touched.iter().map(|doc| sums.sums[*doc as usize]));
    }
    let (_, floor, _) = scores.select_nth_unstable_by(limit - 1, |a, b| b.total_cmp(a));
    Some(*floor)
}

/// Removes the temporary files that a killed process left: tantivy replaces its list of segments
/// through one. Only the holder of the index's lock opens it for writing, so they are unused.
fn sweep_unfinished(path: &Path) {
    let Ok(entries) = fs_err::read_dir(path) else { return };
    for entry in entries.flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(b".tmp") {
            // A remaining file only takes space.
            fs_err::remove_file(entry.path()).ok();
        }
    }
}

impl LexicalWriter {
    /// Opens the index for writing, or creates it.
    pub(super) fn open(folder: &Path) -> Result<Self, StoreError> {
        let (schema, fields) = schema();
        let path = folder.join(LEXICAL);
        sweep_unfinished(&path);
        let (index, bytes) = if path.join("meta.json").symlink_metadata().is_ok() {
            (Index::open(Files::open(&path)?)?, CHANGE_BYTES)
        } else {
            make_private_folder(&path).map_err(StoreError::Unwritable)?;
            (Index::create(Files::open(&path)?, schema, IndexSettings::default())?, BUILD_BYTES)
        };
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(bytes)
            .build();
        let writer = index.writer_with_options(options)?;
        let mut policy = LogMergePolicy::default();
        policy.set_min_layer_size(SMALL_SEGMENT);
        policy.set_level_log_size(SEGMENT_STEP);
        policy.set_del_docs_ratio_before_merge(MAX_REMOVED);
        writer.set_merge_policy(Box::new(policy));
        Ok(Self { writer, fields })
    }

    /// Adds a chunk.
    pub(super) fn add(
        &self,
        chunk: ChunkId,
        document: DocumentId,
        lexical: &str,
    ) -> Result<(), StoreError> {
        let mut row = TantivyDocument::default();
        row.add_text(self.fields.text, lexical);
        row.add_u64(self.fields.chunk, chunk.0);
        row.add_u64(self.fields.document, document.0);
        self.writer.add_document(row)?;
        Ok(())
    }

    /// Removes the chunks of a document.
    pub(super) fn remove(&self, document: DocumentId) {
        self.writer.delete_term(Term::from_field_u64(self.fields.document, document.0));
    }

    /// Writes everything; no thread touches the files when this returns.
    pub(super) fn finish(mut self, removed: Removed) -> Result<(), StoreError> {
        if removed == Removed::Erase {
            // Automatic merges could not be combined with the merges here.
            self.writer.set_merge_policy(Box::new(NoMergePolicy));
        }
        self.writer.commit()?;
        if removed == Removed::Erase {
            let segments = self.writer.index().searchable_segment_metas()?;
            let stale = segments.iter().filter(|segment| segment.num_deleted_docs() > 0);
            let stale: Vec<_> = stale.map(|segment| segment.id()).collect();
            if !stale.is_empty() {
                self.writer.merge(&stale).wait()?;
            }
        }
        self.writer.wait_merging_threads()?;
        Ok(())
    }
}

/// Tantivy's files, readable only by their owner. They are not synced here, the seal syncs all
/// files at once. Nothing is locked, because callers hold our lock.
#[derive(Clone, Debug)]
struct Files {
    maps: MmapDirectory,
    path: PathBuf,
}

impl Files {
    fn open(path: &Path) -> Result<Self, StoreError> {
        let maps = MmapDirectory::open(path).map_err(TantivyError::from)?;
        Ok(Self { maps, path: path.to_owned() })
    }
}

impl Directory for Files {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.maps.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.maps.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.maps.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = create_private(&self.path.join(path)).map_err(|error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                OpenWriteError::FileAlreadyExists(path.to_owned())
            } else {
                OpenWriteError::wrap_io_error(error, path.to_owned())
            }
        })?;
        Ok(BufWriter::with_capacity(64 << 10, Box::new(Unsynced(file))))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.maps.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        let mut temporary = tempfile::Builder::new().tempfile_in(&self.path)?;
        temporary.write_all(data)?;
        commit(temporary, &self.path.join(path), Existing::Replace, Durability::Eventual)
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// A file that is not synced when it is closed.
struct Unsynced(File);

impl Write for Unsynced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for Unsynced {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        Ok(())
    }
}
