//! A snapshot that is stored as an archive and the deltas that lead on from it.
//!
//! The deltas are not applied one after the other: for every file, layer and record it is determined
//! once which of them has its latest form. So reading a snapshot takes about as long as reading the
//! archive and the deltas, however many deltas there are.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufWriter, Cursor, Read, Seek as _, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::Layer;
use super::read::{Archive, CarriedFile, ReadEntryError};
use super::record_line::RecordKey;
use super::source::{WalkError, describe, place_of_line};
use super::write::{ArchiveWriter, Spool, WriteArchiveError, WrittenArchive};
use crate::attachments::Attachments;
use crate::credentials::Credentials;
use crate::delta::operation::Operation;
use crate::delta::read::Delta;
use crate::delta::{ContentFrom, FilePut, SPLICE};
use crate::digest::Hex;
use crate::id::{AgentId, RecordId};
use crate::identity::Identity;
use crate::json;
use crate::manifest::{Entry, EntryKind, Manifest};
use crate::principals::Principals;
use crate::record::Record;
use crate::source::{RecordPlace, SnapshotSource, SourceFile};

/// Why an archive and deltas are not one snapshot.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChainError {
    /// A delta is of another agent.
    #[error("the delta is of agent {delta}, but the archive is of agent {base}")]
    WrongAgent {
        /// The archive's agent.
        base: AgentId,
        /// The delta's agent.
        delta: AgentId,
    },
    /// A delta does not say from which snapshot to which it leads.
    #[error("delta {0} does not name the snapshots that it lies between")]
    Unnamed(usize),
    /// A delta leads on from another snapshot.
    #[error("delta {position} leads on from {expected}, but what comes before it is {actual}")]
    WrongBase {
        /// The position of the delta, from 0.
        position: usize,
        /// The checksum that the delta leads on from.
        expected: String,
        /// The checksum of what comes before it.
        actual: String,
    },
    /// A delta builds a file from one that does not exist.
    #[error("a delta builds {0} from a file that does not exist")]
    File(String),
    /// Something in the archive or in a delta cannot be read.
    #[error(transparent)]
    Read(#[from] ReadEntryError),
    /// Records cannot be put aside.
    #[error("cannot put records aside")]
    Spool(#[source] io::Error),
}

/// Where the content of a file is.
#[derive(Clone, Debug)]
enum ContentPlace {
    /// A link or a folder has none.
    Nowhere,
    /// Whole, in the archive.
    Archive,
    /// Whole, in a delta.
    Delta(usize),
    /// Partly in deltas, each of which replaces the middle of what was there before.
    Splices(Box<SplicedFile>),
}

#[derive(Clone, Debug)]
struct SplicedFile {
    /// What the first splice is applied to: whole, in the archive or in a delta.
    first: ContentPlace,
    /// Oldest first.
    splices: Vec<Splice>,
}

#[derive(Clone, Copy, Debug)]
struct Splice {
    delta: usize,
    prefix: u64,
    suffix: u64,
}

/// A file, with where its content is.
#[derive(Clone, Debug)]
struct PlacedFile {
    carried: CarriedFile,
    content: ContentPlace,
}

/// Lines of records from deltas, put aside in their latest form.
struct LatestLines {
    spool: Mutex<Box<dyn Spool>>,
    /// Where the line of a record is; `None` for one that is gone.
    keys: HashMap<RecordId, Option<RecordKey>>,
}

/// A snapshot made of an archive and the deltas that lead on from it.
pub struct ArchiveChain {
    base: Archive,
    deltas: Vec<Delta>,
    /// What the owner says of the snapshot.
    manifest: Manifest,
    checksum: String,
    files: Vec<SourceFile>,
    placed: Vec<PlacedFile>,
    lines: LatestLines,
}

impl ArchiveChain {
    /// Takes an archive and deltas, oldest first; lines of records are put aside in `spool`.
    ///
    /// That the deltas fit each other is checked by what they state. The content of a file is
    /// checked when it is read.
    pub fn new(
        base: Archive,
        deltas: Vec<Delta>,
        spool: Box<dyn Spool>,
    ) -> Result<Self, ChainError> {
        let checksum = linked_checksum(&base, &deltas)?;
        let placed = placed_files(&base, &deltas)?;
        let lines = LatestLines::of(&deltas, spool)?;
        let files = placed.iter().map(|file| describe(&file.carried)).collect();
        let latest = deltas.last().and_then(|delta| delta.manifest().target.clone());
        let manifest = latest.unwrap_or_else(|| base.manifest().clone());
        Ok(Self { base, deltas, manifest, checksum, files, placed, lines })
    }

    /// Returns the checksum that the last delta, or else the archive, states for its entries.
    #[must_use]
    pub fn checksum(&self) -> &str {
        &self.checksum
    }

    /// Returns how many bytes the archive and the deltas have.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.deltas.iter().map(Delta::size_bytes).sum::<u64>() + self.base.size_bytes()
    }

    /// Writes the snapshot as one archive. The result is the archive that the last delta was made
    /// from, byte for byte.
    pub fn write<W: Write>(
        &self,
        out: W,
        spool: Box<dyn Spool>,
        threads: usize,
    ) -> Result<(W, WrittenArchive), WriteChainError> {
        let mut writer = ArchiveWriter::new(out, &self.manifest, spool, threads);
        for (position, file) in self.placed.iter().enumerate() {
            let carried = &file.carried;
            carried.with_head(|head| -> Result<(), WriteChainError> {
                match carried.entry.kind() {
                    EntryKind::Symlink => {
                        writer.symlink(head, &carried.target().unwrap_or_default())?;
                    }
                    EntryKind::Directory => writer.folder(head)?,
                    EntryKind::File | EntryKind::Unknown(_) => {
                        let mut content = self.content(position).map_err(WriteChainError::Read)?;
                        writer.file(head, &mut content)?;
                    }
                }
                Ok(())
            })?;
        }
        for layer in Layer::ALL {
            if let Some(bytes) = self.document(layer).map_err(WriteChainError::Entry)? {
                writer.document(layer, bytes)?;
            }
        }
        self.each_record_line(|line| -> Result<(), WriteChainError> {
            Ok(writer.record_line(line)?)
        })?;
        let (out, written) = writer.finish()?;
        match &written.manifest.checksum {
            Some(actual) if *actual != self.checksum => Err(WriteChainError::WrongResult {
                expected: self.checksum.clone(),
                actual: actual.clone(),
            }),
            _ => Ok((out, written)),
        }
    }

    /// Calls `each` with the line of every record. Lines of the archive and of deltas are merged by
    /// the time and id of their records.
    pub fn each_record_line<E: From<ReadEntryError>>(
        &self,
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut aside: Vec<RecordKey> = self.lines.keys.values().flatten().copied().collect();
        aside.sort_unstable();
        let mut aside = aside.into_iter().peekable();
        let in_lines = |error| ReadEntryError::io("memory/delta.jsonl", error);
        for path in self.base.partitions() {
            self.base.each_record_head(path, |head, line| {
                if self.lines.keys.contains_key(&head.id) {
                    return Ok(());
                }
                let here = (head.created_at().instant(), head.id);
                while let Some(key) = aside.next_if(|key| (key.created_at, key.id) < here) {
                    each(&self.lines.read(&key).map_err(in_lines)?)?;
                }
                each(line)
            })?;
        }
        aside.try_for_each(|key| each(&self.lines.read(&key).map_err(in_lines)?))
    }

    /// Reads a layer as bytes.
    pub fn document(&self, layer: Layer) -> Result<Option<Vec<u8>>, ReadEntryError> {
        for delta in self.deltas.iter().rev() {
            match delta.manifest().changes.file_of(layer) {
                None => {}
                Some(None) => return Ok(None),
                Some(Some(file)) => return delta.entries().read_layer(layer, file).map(Some),
            }
        }
        self.base.document(layer)
    }

    fn parse_document<T: DeserializeOwned>(&self, layer: Layer) -> io::Result<Option<T>> {
        let bytes = self.document(layer).map_err(io::Error::other)?;
        let parsed = bytes.map(|bytes| json::parse(&bytes)).transpose();
        parsed.map_err(|error| io::Error::other(ReadEntryError::new(layer.entry(), None, error)))
    }

    /// Returns what the manifest says of every file, link and folder, with what
    /// [`SnapshotSource::files`] says of it at the same position.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.placed.iter().map(|file| &file.carried.entry)
    }

    fn read_place(&self, entry: &Entry, place: &ContentPlace) -> io::Result<Box<dyn Read + '_>> {
        let path = entry.path.as_str();
        match place {
            ContentPlace::Nowhere => Err(io::ErrorKind::NotFound.into()),
            ContentPlace::Archive => {
                Ok(Box::new(self.base.read_file(path).map_err(io::Error::other)?))
            }
            ContentPlace::Delta(delta) => {
                let reader = self.deltas[*delta].entries().reader(path);
                Ok(Box::new(reader.map_err(io::Error::other)?))
            }
            ContentPlace::Splices(spliced) => {
                Ok(Box::new(Cursor::new(self.read_spliced(entry, spliced)?)))
            }
        }
    }

    /// Builds a file from its pieces, and compares the result with the digest of the file.
    fn read_spliced(&self, entry: &Entry, spliced: &SplicedFile) -> io::Result<Vec<u8>> {
        let path = entry.path.as_str();
        let invalid =
            |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("{path}: {what}"));
        let mut bytes = Vec::new();
        self.read_place(entry, &spliced.first)?.read_to_end(&mut bytes)?;
        for splice in &spliced.splices {
            let kept = |length| usize::try_from(length).ok().filter(|kept| *kept <= bytes.len());
            let (Some(prefix), Some(suffix)) = (kept(splice.prefix), kept(splice.suffix)) else {
                return Err(invalid("a delta keeps more of the file than there is"));
            };
            let Some(end) = bytes.len().checked_sub(suffix).filter(|end| prefix <= *end) else {
                return Err(invalid("a delta keeps more of the file than there is"));
            };
            let entries = self.deltas[splice.delta].entries();
            let middle = entries.read_bytes(&format!("{SPLICE}{path}"));
            bytes.splice(prefix..end, middle.map_err(io::Error::other)?);
        }
        let digest = Hex(&Sha256::digest(&bytes)).to_string();
        if entry.sha256.as_ref() != Some(&digest) {
            return Err(invalid("the pieces of the file do not have its digest"));
        }
        Ok(bytes)
    }
}

/// Why a chain could not be written as one archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteChainError {
    /// A file cannot be read.
    #[error("cannot read a file of the snapshot")]
    Read(#[source] io::Error),
    /// A layer or a record cannot be read.
    #[error(transparent)]
    Entry(#[from] ReadEntryError),
    /// The archive cannot be written.
    #[error(transparent)]
    Write(#[from] WriteArchiveError),
    /// The result is not what the last delta leads to.
    #[error("the result has checksum {actual}, but the deltas lead to {expected}")]
    WrongResult {
        /// The checksum that the last delta states.
        expected: String,
        /// The result's checksum.
        actual: String,
    },
}

/// Checks that every delta leads on from what comes before it, and returns where the last one leads.
fn linked_checksum(base: &Archive, deltas: &[Delta]) -> Result<String, ChainError> {
    let agent = base.manifest().agent.id;
    let mut reached = base.manifest().checksum.clone().unwrap_or_default();
    for (position, delta) in deltas.iter().enumerate() {
        let manifest = delta.manifest();
        if manifest.agent.id != agent {
            return Err(ChainError::WrongAgent { base: agent, delta: manifest.agent.id });
        }
        let (Some(from), Some(to), Some(_)) =
            (&manifest.base_checksum, &manifest.target_checksum, &manifest.target)
        else {
            return Err(ChainError::Unnamed(position));
        };
        if *from != reached {
            return Err(ChainError::WrongBase {
                position,
                expected: from.clone(),
                actual: reached,
            });
        }
        reached.clone_from(to);
    }
    Ok(reached)
}

/// Determines which archive or delta has each file, in the order in which files are written.
fn placed_files(base: &Archive, deltas: &[Delta]) -> Result<Vec<PlacedFile>, ChainError> {
    let mut files: BTreeMap<String, PlacedFile> = BTreeMap::new();
    for carried in base.files()? {
        let is_file = carried.entry.is_file();
        let content = if is_file { ContentPlace::Archive } else { ContentPlace::Nowhere };
        files.insert(carried.entry.path.clone(), PlacedFile { carried, content });
    }
    for (delta, manifest) in deltas.iter().map(Delta::manifest).enumerate() {
        let Some(changes) = &manifest.changes.files else { continue };
        for path in &changes.remove {
            files.remove(path);
        }
        for put in &changes.put {
            let before = files.remove(&put.entry.path).map(|file| file.content);
            let content = content_of(put, delta, before)
                .ok_or_else(|| ChainError::File(put.entry.path.clone()))?;
            let carried = CarriedFile { entry: put.entry.clone() };
            files.insert(put.entry.path.clone(), PlacedFile { carried, content });
        }
    }
    let mut files: Vec<PlacedFile> = files.into_values().collect();
    files.sort_by_cached_key(|file| file.carried.order());
    Ok(files)
}

/// Returns where the content of a changed file is; `None` if it is built from a file that does not
/// exist.
fn content_of(put: &FilePut, delta: usize, before: Option<ContentPlace>) -> Option<ContentPlace> {
    if !put.entry.is_file() {
        return Some(ContentPlace::Nowhere);
    }
    let before = before.filter(|before| !matches!(before, ContentPlace::Nowhere));
    match put.content.effective() {
        ContentFrom::Delta | ContentFrom::Unknown(_) => Some(ContentPlace::Delta(delta)),
        ContentFrom::Base => before,
        ContentFrom::None => None,
        ContentFrom::Splice => {
            let mut spliced = match before? {
                ContentPlace::Splices(spliced) => spliced,
                first => Box::new(SplicedFile { first, splices: Vec::new() }),
            };
            let (prefix, suffix) = (put.prefix.unwrap_or(0), put.suffix.unwrap_or(0));
            spliced.splices.push(Splice { delta, prefix, suffix });
            Some(ContentPlace::Splices(spliced))
        }
    }
}

impl LatestLines {
    fn of(deltas: &[Delta], spool: Box<dyn Spool>) -> Result<Self, ChainError> {
        let mut spool = BufWriter::new(spool);
        let mut keys: HashMap<RecordId, Option<RecordKey>> = HashMap::new();
        let mut offset = 0;
        for delta in deltas {
            delta.each_operation(|line| -> Result<(), ChainError> {
                let id = line.head.id;
                if line.operation == Some(Operation::Delete) {
                    keys.insert(id, None);
                    return Ok(());
                }
                let length = u32::try_from(line.record.len())
                    .map_err(|_| ChainError::Spool(io::ErrorKind::FileTooLarge.into()))?;
                spool.write_all(&line.record).map_err(ChainError::Spool)?;
                let created_at = line.head.created_at().instant();
                let observed_day = line.head.observed_day();
                let key = RecordKey { created_at, id, offset, length, observed_day };
                keys.insert(id, Some(key));
                offset += u64::from(length);
                Ok(())
            })?;
        }
        let spool = spool.into_inner().map_err(|error| ChainError::Spool(error.into_error()))?;
        Ok(Self { spool: Mutex::new(spool), keys })
    }

    fn read(&self, key: &RecordKey) -> io::Result<Vec<u8>> {
        let mut spool = self.spool.lock().unwrap_or_else(PoisonError::into_inner);
        spool.seek(SeekFrom::Start(key.offset))?;
        let mut line = vec![0; key.length as usize];
        spool.read_exact(&mut line)?;
        Ok(line)
    }
}

impl SnapshotSource for ArchiveChain {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn identity(&self) -> io::Result<Option<Identity>> {
        self.parse_document(Layer::Identity)
    }

    fn principals(&self) -> io::Result<Option<Principals>> {
        self.parse_document(Layer::Principals)
    }

    fn credentials(&self) -> io::Result<Option<Credentials>> {
        self.parse_document(Layer::Credentials)
    }

    fn attachments(&self) -> io::Result<Option<Attachments>> {
        self.parse_document(Layer::Attachments)
    }

    fn files(&self) -> &[SourceFile] {
        &self.files
    }

    fn content(&self, file: usize) -> io::Result<Box<dyn Read + '_>> {
        let file = self.placed.get(file).ok_or(io::ErrorKind::NotFound)?;
        self.read_place(&file.carried.entry, &file.content)
    }

    fn each_record(&self, take: &mut dyn FnMut(&Record) -> io::Result<()>) -> io::Result<()> {
        let walked = self.each_record_line(|line| {
            let record = Record::parse(line).map_err(|error| WalkError(error.into()))?;
            take(&record).map_err(WalkError)
        });
        walked.map_err(|WalkError(error)| error)
    }

    fn each_record_place(&self, take: &mut dyn FnMut(&RecordPlace<'_>)) -> io::Result<()> {
        let walked = self.each_record_line(|line| place_of_line(line, take));
        walked.map_err(|WalkError(error)| error)
    }
}
