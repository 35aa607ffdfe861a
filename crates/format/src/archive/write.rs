//! Writes an archive as a stream.
//!
//! Files go straight to the container. Record lines go to a spool first, because a ZIP holds one
//! entry at a time and records come in any order; only a key of some forty bytes a record stays
//! in memory. The same calls give the same bytes on any machine.

use std::collections::{BTreeSet, HashSet};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;

use super::record_line::{RecordHead, RecordKey};
use super::{
    ARTIFACTS, DELTA_MANIFEST_DIALECT, DELTA_RECORDS, INDEX, Layer, MANIFEST, PARTITIONS, RAW,
};
use crate::attachments::Attachments;
use crate::container::write::ContainerWriter;
use crate::credentials::Credentials;
use crate::delta::SPLICE;
use crate::entry_path::{self, Fingerprint, NameFault, Names};
use crate::id::RecordId;
use crate::identity::Identity;
use crate::json::{self, ReadJsonError};
use crate::limits::Limits;
use crate::manifest::{
    AttachmentsLayer, CountedLayer, Entry, EntryKind, IdentityLayer, Manifest, MemoryLayer,
    Partition,
};
use crate::moment::Moment;
use crate::object::object;
use crate::period::{Granularity, PartitionBy, Period};
use crate::principals::Principals;
use crate::record::Record;
use crate::unknown::{Nullable, Unknown};

/// A place to store lines temporarily: a temporary file, or memory in tests.
pub trait Spool: Read + Write + Seek {}
impl<T: Read + Write + Seek> Spool for T {}

/// Why an archive could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteArchiveError {
    /// Writing failed, or reading what was to be written.
    #[error("cannot write {entry}")]
    Io {
        /// The entry being written.
        entry: String,
        /// The cause.
        source: io::Error,
    },
    /// A path that cannot be in any archive.
    #[error("the path {path:?} {fault}")]
    Path {
        /// The path, with what is not UTF-8 replaced.
        path: String,
        /// What is wrong with it.
        fault: NameFault,
    },
    /// Files must come sorted, so that the same files give the same archive.
    #[error("the file {0:?} is out of order: it follows one that sorts after it")]
    OutOfOrder(String),
    /// Two records with one id.
    #[error("two records have the id {0}")]
    DuplicateRecord(RecordId),
    /// A record line without id, agent or time.
    #[error("cannot place a record")]
    Record(#[source] ReadJsonError),
    /// Larger than a reader accepts; we do not write what we cannot read back.
    #[error("{what} exceeds the limit of an archive: {limit}")]
    TooLarge {
        /// The part that is too large.
        what: String,
        /// The limit.
        limit: u64,
    },
    /// A vector with a number that JSON cannot hold.
    #[error("record {0} has an embedding with a number that is not finite")]
    NotFinite(RecordId),
    /// A record's line that contains a line feed.
    #[error("the line of record {0} has a line feed")]
    LineFeed(RecordId),
    /// A document that does not have its layer's shape.
    #[error("cannot write {entry}: it does not have the shape of that layer")]
    Document {
        /// The entry.
        entry: &'static str,
        /// The cause.
        source: ReadJsonError,
    },
}

/// What kind of file a carried file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root<'a> {
    /// Managed by a runtime: `raw/<runtime>/`.
    Raw(&'a str),
    /// Any other file of the workspace: `artifacts/`.
    Artifacts,
    /// An entry that this version does not know; its path is the whole path in the archive.
    Other,
}

impl Root<'_> {
    /// Returns what the paths in the archive begin with.
    pub(crate) fn prefix(self) -> String {
        match self {
            Self::Raw(runtime) => format!("{RAW}{runtime}/"),
            Self::Artifacts => ARTIFACTS.to_owned(),
            Self::Other => String::new(),
        }
    }
}

/// A carried file, link or folder, without its content.
#[derive(Clone, Debug, PartialEq)]
pub struct FileHead<'a> {
    /// Where it goes.
    pub root: Root<'a>,
    /// Its path below the root, with `/` between parts; any bytes a file system may have.
    pub path: &'a [u8],
    /// Unix permission bits.
    pub mode: Option<u32>,
    /// When it was last modified.
    pub mtime: Option<Moment>,
    /// Whether secrets in it were replaced as it was read.
    pub redacted: bool,
    /// Unknown fields from a newer version.
    pub unknown: Unknown,
}

/// The result of writing.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenArchive {
    /// The manifest as it is in the archive.
    pub manifest: Manifest,
    /// The length of the file.
    pub size_bytes: u64,
}

object! {
    /// `memory/index.json`: what the partitions hold.
    pub struct MemoryIndex {
        /// The version of this document's shape; 1.
        required version: u64,
        /// How long a partition is.
        required granularity: Granularity,
        /// The partitions, oldest first.
        #[schemars(extend("x-required" = true))]
        required partitions: Vec<IndexedPartition>,
    }
}

object! {
    /// One partition in the index.
    pub struct IndexedPartition {
        /// Such as `2026-Q1`.
        required period: String,
        /// The entry.
        required file: String,
        /// Records in it.
        required record_count: u64,
        /// Its bytes.
        required size: u64,
        /// Their SHA-256 in lower-case hexadecimal.
        required sha256: String,
    }
}

/// Writes one archive; files in order, records and documents in any.
pub struct ArchiveWriter<W: Write> {
    container: ContainerWriter<W>,
    manifest: Manifest,
    entries: Vec<Entry>,
    names: Names,
    /// True paths of files and links: nothing is below them.
    leaves: HashSet<Fingerprint>,
    last_path: Vec<u8>,
    runtimes: BTreeSet<String>,
    documents: [Option<Vec<u8>>; 4],
    spool: BufWriter<Box<dyn Spool>>,
    spooled: u64,
    keys: Vec<RecordKey>,
    has_embeddings: bool,
    limits: Limits,
}

impl<W: Write> ArchiveWriter<W> {
    /// Starts an archive. Fields of the manifest that the writer fills in are ignored.
    pub fn new(out: W, manifest: &Manifest, spool: Box<dyn Spool>, threads: usize) -> Self {
        let mut manifest = manifest.clone();
        manifest.blank();
        let mut names = Names::default();
        let documents = Layer::ALL.map(Layer::entry);
        let reserved = [MANIFEST, INDEX, PARTITIONS, DELTA_RECORDS, DELTA_MANIFEST_DIALECT];
        for name in documents.into_iter().chain(reserved) {
            names.insert_file(name);
        }
        Self {
            container: ContainerWriter::new(out, threads),
            manifest,
            entries: Vec::new(),
            names,
            leaves: HashSet::new(),
            last_path: Vec::new(),
            runtimes: BTreeSet::new(),
            documents: [const { None }; 4],
            spool: BufWriter::with_capacity(256 << 10, spool),
            spooled: 0,
            keys: Vec::new(),
            has_embeddings: false,
            limits: Limits::default(),
        }
    }

    /// Replaces the caller's description of the archive; to be called before any layer is added.
    pub fn describe(&mut self, manifest: &Manifest) {
        self.manifest = manifest.clone();
        self.manifest.blank();
    }

    /// Adds a file and returns its path in the archive. Files, links and folders come sorted by
    /// root and path.
    pub fn file(
        &mut self,
        head: &FileHead<'_>,
        content: &mut dyn Read,
    ) -> Result<String, WriteArchiveError> {
        let entry = self.entry_for(head, EntryKind::File)?;
        Ok(self.add(entry, content)?.path)
    }

    /// Adds a symbolic link; it is only recorded, and reading the archive never creates it.
    pub fn symlink(&mut self, head: &FileHead<'_>, target: &[u8]) -> Result<(), WriteArchiveError> {
        let mut entry = self.entry_for(head, EntryKind::Symlink)?;
        match std::str::from_utf8(target) {
            Ok(target) => entry.target = Some(target.to_owned()),
            Err(_) => entry.target_base64 = Some(BASE64.encode(target)),
        }
        self.entries.push(entry);
        Ok(())
    }

    /// Adds a folder, so that an empty folder or its mode is not lost.
    pub fn folder(&mut self, head: &FileHead<'_>) -> Result<(), WriteArchiveError> {
        let entry = self.entry_for(head, EntryKind::Directory)?;
        self.entries.push(entry);
        Ok(())
    }

    /// Adds a record.
    pub fn record(&mut self, record: &Record) -> Result<(), WriteArchiveError> {
        let finite = record.embeddings.iter().flat_map(|embedding| &embedding.vector);
        if !finite.copied().all(f32::is_finite) {
            return Err(WriteArchiveError::NotFinite(record.id));
        }
        let line = record
            .to_line()
            .map_err(|error| WriteArchiveError::Record(ReadJsonError::Json(error)))?;
        json::check_depth(&line).map_err(WriteArchiveError::Record)?;
        let position = Position {
            id: record.id,
            created_at: record.temporal.created_at.instant(),
            observed_day: record.observed_day(),
        };
        self.spool_line(&line, position, !record.embeddings.is_empty())
    }

    /// Adds a record as its line in another archive; the line keeps its bytes.
    pub fn record_line(&mut self, line: &[u8]) -> Result<(), WriteArchiveError> {
        let head = RecordHead::parse(line).map_err(WriteArchiveError::Record)?;
        let position = Position {
            id: head.id,
            created_at: head.created_at().instant(),
            observed_day: head.observed_day(),
        };
        self.spool_line(line, position, head.has_embeddings())
    }

    fn spool_line(
        &mut self,
        line: &[u8],
        position: Position,
        has_embeddings: bool,
    ) -> Result<(), WriteArchiveError> {
        let Position { id, created_at, observed_day } = position;
        let limit = self.limits.max_line_bytes;
        if line.len() > limit {
            let what = format!("record {id}");
            return Err(WriteArchiveError::TooLarge { what, limit: limit as u64 });
        }
        if memchr::memchr(b'\n', line).is_some() {
            return Err(WriteArchiveError::LineFeed(id));
        }
        let length = u32::try_from(line.len()).expect("the limit of a line is below 4 GiB");
        self.has_embeddings |= has_embeddings;
        self.keys.push(RecordKey { created_at, id, offset: self.spooled, length, observed_day });
        self.spool
            .write_all(line)
            .and_then(|()| self.spool.write_all(b"\n"))
            .map_err(spool_error)?;
        self.spooled += u64::from(length) + 1;
        Ok(())
    }

    /// Adds a layer as it is in memory.
    pub fn layer(
        &mut self,
        layer: Layer,
        content: &impl Serialize,
    ) -> Result<(), WriteArchiveError> {
        self.document(layer, to_document(content))
    }

    /// Adds a layer as its bytes in another archive; they are kept.
    pub fn document(&mut self, layer: Layer, bytes: Vec<u8>) -> Result<(), WriteArchiveError> {
        self.check_size(layer.entry(), bytes.len() as u64, self.limits.max_document_bytes)?;
        let fit = self.describe_layer(layer, &bytes);
        fit.map_err(|source| WriteArchiveError::Document { entry: layer.entry(), source })?;
        self.documents[layer as usize] = Some(bytes);
        Ok(())
    }

    /// Writes documents, partitions, index and manifest, and closes the archive.
    pub fn finish(mut self) -> Result<(W, WrittenArchive), WriteArchiveError> {
        for layer in Layer::ALL {
            if let Some(bytes) = self.documents[layer as usize].take() {
                self.add(Entry::new(layer.entry()), &mut &bytes[..])?;
            }
        }
        self.write_records()?;
        self.entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        self.manifest.raw_sources = std::mem::take(&mut self.runtimes).into_iter().collect();
        self.manifest.checksum = Some(Manifest::checksum_of(&self.entries));
        self.manifest.canonical = Some(true);
        self.manifest.entries = std::mem::take(&mut self.entries);
        let manifest = to_document(&self.manifest);
        let (bytes, entries) = (manifest.len() as u64, self.manifest.entries.len() as u64);
        self.check_size(MANIFEST, bytes, self.limits.max_document_bytes)?;
        self.check_size("the number of entries", entries + 1, self.limits.max_entries)?;
        let listed = &self.manifest.entries;
        let names =
            listed.iter().filter(|entry| entry.is_file()).map(|entry| entry.path.len() as u64);
        let names = names.sum::<u64>() + MANIFEST.len() as u64;
        self.check_size("the names of the entries", names, self.limits.max_name_bytes)?;
        let in_manifest = |source| WriteArchiveError::Io { entry: MANIFEST.to_owned(), source };
        self.container.add(MANIFEST, &mut &manifest[..]).map_err(in_manifest)?;
        let (out, size_bytes) = self.container.finish().map_err(in_manifest)?;
        Ok((out, WrittenArchive { manifest: self.manifest, size_bytes }))
    }

    fn check_size(&self, what: &str, size: u64, limit: u64) -> Result<(), WriteArchiveError> {
        if size <= limit {
            return Ok(());
        }
        Err(WriteArchiveError::TooLarge { what: what.to_owned(), limit })
    }

    fn add(
        &mut self,
        mut entry: Entry,
        content: &mut dyn Read,
    ) -> Result<Entry, WriteArchiveError> {
        let written = self
            .container
            .add(&entry.path, content)
            .map_err(|source| WriteArchiveError::Io { entry: entry.path.clone(), source })?;
        entry.size = Some(written.size);
        entry.sha256 = Some(written.sha256);
        self.entries.push(entry.clone());
        Ok(entry)
    }

    fn entry_for(
        &mut self,
        head: &FileHead<'_>,
        kind: EntryKind,
    ) -> Result<Entry, WriteArchiveError> {
        let path_error = |fault| WriteArchiveError::Path {
            path: String::from_utf8_lossy(head.path).into_owned(),
            fault,
        };
        if let Root::Raw(runtime) = head.root {
            entry_path::check(runtime).map_err(path_error)?;
            if runtime.contains('/') {
                return Err(path_error(NameFault::Parent));
            }
            self.runtimes.insert(runtime.to_owned());
        }
        let prefix = head.root.prefix();
        let order = [prefix.as_bytes(), head.path].concat();
        if order <= self.last_path {
            return Err(WriteArchiveError::OutOfOrder(
                String::from_utf8_lossy(&order).into_owned(),
            ));
        }
        let (above, own) = entry_path::fingerprints(&order);
        if above.iter().any(|folder| self.leaves.contains(folder)) {
            return Err(path_error(NameFault::BelowFile));
        }
        self.last_path = order;
        let mut spelled = entry_path::spell(head.path).map_err(path_error)?;
        if head.root == Root::Other {
            spelled = beside_roots(spelled);
        }
        let wanted = format!("{prefix}{spelled}");
        let name = if kind == EntryKind::Directory {
            self.names.make_folder(&wanted, prefix.len())
        } else {
            self.leaves.insert(own);
            self.names.make_file(&wanted, prefix.len())
        };
        entry_path::check(&name).map_err(path_error)?;
        let mut entry = Entry::new(&name);
        entry.kind = Some(kind).filter(|kind| *kind != EntryKind::File);
        if name.as_bytes() != self.last_path {
            match std::str::from_utf8(head.path) {
                Ok(path) => entry.source_path = Some(path.to_owned()),
                Err(_) => entry.source_path_base64 = Some(BASE64.encode(head.path)),
            }
        }
        entry.mode = head.mode.map(|mode| format!("{:04o}", mode & 0o7777));
        entry.mtime.clone_from(&head.mtime);
        entry.redacted = head.redacted.then_some(true);
        entry.unknown = head.unknown.clone();
        Ok(entry)
    }

    fn describe_layer(&mut self, layer: Layer, bytes: &[u8]) -> Result<(), ReadJsonError> {
        let layers = &mut self.manifest.layers;
        let file = layer.entry().to_owned();
        match layer {
            Layer::Identity => {
                let version = json::parse::<Identity>(bytes)?.version;
                let unknown =
                    layers.identity.take().map_or_else(Unknown::default, |layer| layer.unknown);
                layers.identity = Some(IdentityLayer { version, file, unknown });
            }
            Layer::Principals => {
                let count = json::parse::<Principals>(bytes)?.principals.len() as u64;
                layers.principals = Some(CountedLayer::of(count, file, layers.principals.take()));
            }
            Layer::Credentials => {
                let count = json::parse::<Credentials>(bytes)?.credentials.len() as u64;
                layers.credentials = Some(CountedLayer::of(count, file, layers.credentials.take()));
            }
            Layer::Attachments => {
                let list = json::parse::<Attachments>(bytes)?;
                let before = layers.attachments.take();
                let unknown = before.map_or_else(Unknown::default, |layer| layer.unknown);
                layers.attachments = Some(AttachmentsLayer::of(&list, file, unknown));
            }
        }
        Ok(())
    }

    fn write_records(&mut self) -> Result<(), WriteArchiveError> {
        let mut keys = std::mem::take(&mut self.keys);
        keys.sort_unstable_by_key(|key| key.id);
        if let Some(twin) = keys.windows(2).find(|pair| pair[0].id == pair[1].id) {
            return Err(WriteArchiveError::DuplicateRecord(twin[0].id));
        }
        let template = self.manifest.layers.memory.take().unwrap_or_default();
        let granularity = template.granularity.clone().unwrap_or(Granularity::Quarter);
        let created_period = |key: &RecordKey| {
            Period::containing(Moment::from(key.created_at).utc_date(), &granularity)
        };
        let observed_period = |key: &RecordKey| Period::containing(key.observed_day, &granularity);
        // An archive for which both rules are the same names none.
        let by_observation = template.partition_by == Some(PartitionBy::ObservedAt)
            && keys.iter().any(|key| created_period(key) != observed_period(key));
        let period_of = |key: &RecordKey| {
            if by_observation { observed_period(key) } else { created_period(key) }
        };
        keys.sort_unstable();
        if by_observation {
            keys.sort_by_key(observed_period);
        }
        let closing = self.manifest.created_at.utc_date();
        self.spool.flush().map_err(spool_error)?;
        let empty: Box<dyn Spool> = Box::new(io::Cursor::new(Vec::new()));
        let mut spool = std::mem::replace(&mut self.spool, BufWriter::new(empty))
            .into_inner()
            .map_err(|error| spool_error(error.into_error()))?;

        let mut partitions = Vec::new();
        let mut index = Vec::new();
        for group in keys.chunk_by(|a, b| period_of(a) == period_of(b)) {
            let period = period_of(&group[0]);
            let file = format!("{PARTITIONS}/{period}.jsonl");
            let mut lines = SpooledLines::new(&mut *spool, group);
            let entry = self.add(Entry::new(&file), &mut lines)?;
            let record_count = group.len() as u64;
            let sealed = period.last_day() < closing;
            let known = template.partitions.iter().find(|partition| partition.file == file);
            partitions.push(Partition {
                file: file.clone(),
                from: period.first_day().to_string(),
                to: Some(Nullable(sealed.then(|| period.last_day().to_string()))),
                record_count,
                sealed,
                unknown: known.map(|known| known.unknown.clone()).unwrap_or_default(),
            });
            index.push(IndexedPartition {
                period: period.to_string(),
                file,
                record_count,
                size: entry.size.unwrap_or_default(),
                sha256: entry.sha256.unwrap_or_default(),
                unknown: Unknown::default(),
            });
        }
        let monthly = granularity == Granularity::Month;
        let index = MemoryIndex {
            version: 1,
            granularity: granularity.clone(),
            partitions: index,
            unknown: Unknown::default(),
        };
        self.add(Entry::new(INDEX), &mut &to_document(&index)[..])?;
        self.manifest.layers.memory = Some(MemoryLayer {
            record_count: keys.len() as u64,
            index_file: INDEX.to_owned(),
            granularity: monthly.then_some(Granularity::Month),
            partition_by: by_observation.then_some(PartitionBy::ObservedAt),
            has_embeddings: Some(self.has_embeddings),
            has_raw_source: Some(!self.runtimes.is_empty()),
            partitions,
            unknown: template.unknown,
        });
        Ok(())
    }
}

/// What decides the position of a record among the others.
#[derive(Clone, Copy)]
struct Position {
    id: RecordId,
    created_at: Timestamp,
    observed_day: Date,
}

/// Keeps unknown entries out of the folders that this version knows.
fn beside_roots(path: String) -> String {
    let (first, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
    let known = [RAW, ARTIFACTS, SPLICE].map(|root| root.trim_end_matches('/'));
    if known.contains(&&*entry_path::fold(first)) {
        format!("{}{rest}", entry_path::numbered(first, 2))
    } else {
        path
    }
}

fn spool_error(source: io::Error) -> WriteArchiveError {
    WriteArchiveError::Io { entry: "the spool of records".to_owned(), source }
}

/// Writes a document in our standard form: indented, with a final line feed.
pub(crate) fn to_document<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("a document has only text keys");
    bytes.push(b'\n');
    bytes
}

/// Reads spooled lines in the order of their keys.
struct SpooledLines<'a> {
    spool: &'a mut dyn Spool,
    keys: std::slice::Iter<'a, RecordKey>,
    buffer: Vec<u8>,
    used: usize,
}

/// Adjacent lines are read at once, up to this many bytes.
const READ_AHEAD_BYTES: u64 = 256 << 10;

impl<'a> SpooledLines<'a> {
    fn new(spool: &'a mut dyn Spool, keys: &'a [RecordKey]) -> Self {
        Self { spool, keys: keys.iter(), buffer: Vec::new(), used: 0 }
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.clear();
        self.used = 0;
        let Some(first) = self.keys.next() else {
            return Ok(());
        };
        let mut end = first.offset + u64::from(first.length) + 1;
        while let Some(next) = self.keys.as_slice().first()
            && next.offset == end
            && end - first.offset < READ_AHEAD_BYTES
        {
            end += u64::from(next.length) + 1;
            self.keys.next();
        }
        self.spool.seek(SeekFrom::Start(first.offset))?;
        let wanted = end - first.offset;
        let read = (&mut *self.spool).take(wanted).read_to_end(&mut self.buffer)?;
        if read as u64 != wanted {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }
}

impl Read for SpooledLines<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.used == self.buffer.len() {
            self.fill()?;
        }
        let rest = &self.buffer[self.used..];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.used += count;
        Ok(count)
    }
}
