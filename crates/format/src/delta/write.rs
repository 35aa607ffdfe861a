//! Writes the delta between two archives.

use std::io::{self, Seek as _, SeekFrom, Write};

use super::compare::{CompareError, Comparison, FileDifference};
use super::operation::{self, Operation};
use super::{
    Changes, ContentFrom, DeltaAgent, DeltaCursor, DeltaManifest, FilePut, FilesChange,
    IdentityChange, LayerChange, MemoryChange, PrincipalsChange, SPLICE,
};
use crate::archive::read::{Archive, ReadEntryError};
use crate::archive::write::{Spool, to_document};
use crate::archive::{DELTA_RECORDS, Layer, MANIFEST};
use crate::container::write::ContainerWriter;
use crate::identity::Identity;
use crate::json;
use crate::manifest::{ALF_VERSION, Entry};
use crate::moment::Moment;
use crate::unknown::Unknown;

/// Files up to this size are compared byte by byte, to send only their middle.
const MAX_SPLICE_BYTES: u64 = 4 << 20;

/// Why a delta could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteDeltaError {
    /// The archives could not be compared.
    #[error("cannot compare the archives")]
    Compare(#[from] CompareError),
    /// Something in an archive could not be read.
    #[error(transparent)]
    Read(#[from] ReadEntryError),
    /// Writing failed.
    #[error("cannot write {entry} of the delta")]
    Io {
        /// The entry being written.
        entry: String,
        /// The cause.
        source: io::Error,
    },
}

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenDelta {
    /// The manifest as it is in the delta.
    pub manifest: DeltaManifest,
    /// What differs.
    pub comparison: Comparison,
    /// The length of the file.
    pub size_bytes: u64,
}

/// Writes the delta that turns `base` into `target`.
pub fn write_delta<W: Write>(
    base: &Archive,
    target: &Archive,
    out: W,
    mut spool: Box<dyn Spool>,
    threads: usize,
) -> Result<(W, WrittenDelta), WriteDeltaError> {
    let in_records = |source| WriteDeltaError::Io { entry: DELTA_RECORDS.to_owned(), source };
    let mut line = Vec::new();
    let mut spooled = io::BufWriter::new(&mut spool);
    let comparison =
        Comparison::with_lines(base, target, |operation, record| -> Result<(), WriteDeltaError> {
            operation::encode(operation, record, &mut line);
            line.push(b'\n');
            spooled.write_all(&line).map_err(in_records)
        })?;
    let agent_id = base.manifest().agent.id;
    for gone in &comparison.deleted {
        let stone = operation::tombstone(gone.id, agent_id, &Moment::from(gone.created_at));
        let record = serde_json::to_vec(&stone).expect("a tombstone has only text keys");
        operation::encode(Operation::Delete, &record, &mut line);
        line.push(b'\n');
        spooled.write_all(&line).map_err(in_records)?;
    }
    spooled.flush().map_err(in_records)?;
    drop(spooled);
    spool.seek(SeekFrom::Start(0)).map_err(in_records)?;

    let mut writer = DeltaWriter { container: ContainerWriter::new(out, threads), entries: vec![] };
    let files = writer.write_files(base, target, &comparison)?;
    let mut changes = writer.write_layers(&comparison)?;
    changes.files = files;
    let operations = comparison.created.len() + comparison.updated.len() + comparison.deleted.len();
    if operations > 0 {
        writer.add(DELTA_RECORDS, &mut spool)?;
        changes.memory = Some(MemoryChange {
            file: DELTA_RECORDS.to_owned(),
            record_count: operations as u64,
            unknown: Unknown::default(),
        });
    }
    writer.finish(base, target, changes, comparison)
}

struct DeltaWriter<W: Write> {
    container: ContainerWriter<W>,
    entries: Vec<Entry>,
}

impl<W: Write> DeltaWriter<W> {
    fn add(&mut self, path: &str, content: &mut dyn io::Read) -> Result<(), WriteDeltaError> {
        let written = self
            .container
            .add(path, content)
            .map_err(|source| WriteDeltaError::Io { entry: path.to_owned(), source })?;
        let mut entry = Entry::new(path);
        entry.size = Some(written.size);
        entry.sha256 = Some(written.sha256);
        self.entries.push(entry);
        Ok(())
    }

    fn write_files(
        &mut self,
        base: &Archive,
        target: &Archive,
        comparison: &Comparison,
    ) -> Result<Option<FilesChange>, WriteDeltaError> {
        let mut put = Vec::new();
        for difference in &comparison.put_files {
            put.push(self.write_file(base, target, difference)?);
        }
        let remove = comparison.removed_files.clone();
        let changed = !put.is_empty() || !remove.is_empty();
        Ok(changed.then(|| FilesChange { put, remove, unknown: Unknown::default() }))
    }

    fn write_file(
        &mut self,
        base: &Archive,
        target: &Archive,
        difference: &FileDifference,
    ) -> Result<FilePut, WriteDeltaError> {
        let entry = difference.now.entry.clone();
        let mut put = FilePut {
            entry,
            content: ContentFrom::Delta,
            prefix: None,
            suffix: None,
            unknown: Unknown::default(),
        };
        let path = put.entry.path.clone();
        let was_file = difference.was.as_ref().is_some_and(Entry::is_file);
        if !put.entry.is_file() {
            put.content = ContentFrom::None;
        } else if was_file && !difference.content_changed() {
            put.content = ContentFrom::Base;
        } else if let Some(was) = difference.was.as_ref().filter(|_| was_file)
            && was.size.max(put.entry.size) <= Some(MAX_SPLICE_BYTES)
            && let Some(splice) = Splice::between(
                &base.entries().read_bytes(&path)?,
                &target.entries().read_bytes(&path)?,
            )
        {
            self.add(&format!("{SPLICE}{path}"), &mut &splice.middle[..])?;
            put.content = ContentFrom::Splice;
            (put.prefix, put.suffix) = (Some(splice.prefix), Some(splice.suffix));
        } else {
            self.add(&path, &mut target.read_file(&path)?)?;
        }
        Ok(put)
    }

    fn write_layers(&mut self, comparison: &Comparison) -> Result<Changes, WriteDeltaError> {
        let mut changes = Changes::default();
        for difference in &comparison.layers {
            let layer = difference.layer;
            let file = difference.now.is_some().then(|| layer.entry().to_owned());
            if let Some(bytes) = &difference.now {
                self.add(layer.entry(), &mut &bytes[..])?;
            }
            let change = LayerChange { file: file.clone(), unknown: Unknown::default() };
            match layer {
                Layer::Identity => {
                    let version = difference.now.as_ref().map(|bytes| {
                        json::parse::<Identity>(bytes).map(|identity| identity.version)
                    });
                    let new_version = version
                        .transpose()
                        .map_err(|source| ReadEntryError::new(layer.entry(), None, source))?;
                    let unknown = Unknown::default();
                    changes.identity = Some(IdentityChange { file, new_version, unknown });
                }
                Layer::Principals => {
                    let changed_ids = difference.changed_ids.clone();
                    let unknown = Unknown::default();
                    changes.principals = Some(PrincipalsChange { file, changed_ids, unknown });
                }
                Layer::Credentials => changes.credentials = Some(change),
                Layer::Attachments => changes.attachments = Some(change),
            }
        }
        Ok(changes)
    }

    fn finish(
        mut self,
        base: &Archive,
        target: &Archive,
        changes: Changes,
        comparison: Comparison,
    ) -> Result<(W, WrittenDelta), WriteDeltaError> {
        let mut blank = target.manifest().clone();
        let checksum = |archive: &Archive| archive.manifest().checksum.clone();
        blank.blank();
        self.entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let manifest = DeltaManifest {
            alf_version: ALF_VERSION.to_owned(),
            created_at: target.manifest().created_at.clone(),
            agent: DeltaAgent {
                id: base.manifest().agent.id,
                source_runtime: Some(target.manifest().agent.source_runtime.clone()),
                unknown: Unknown::default(),
            },
            sync: DeltaCursor {
                base_sequence: base.manifest().sequence().0,
                new_sequence: target.manifest().sequence().0,
                base_timestamp: Some(base.manifest().created_at.clone()),
                new_timestamp: Some(target.manifest().created_at.clone()),
                unknown: Unknown::default(),
            },
            changes,
            base_checksum: checksum(base).filter(|_| base.is_sealed()),
            // For any other archive the result is what our writer makes, with another checksum.
            target_checksum: checksum(target).filter(|_| target.claims_canonical()),
            target: Some(blank),
            entries: self.entries,
            purges: Vec::new(),
            unknown: Unknown::default(),
        };
        let in_manifest = |source| WriteDeltaError::Io { entry: MANIFEST.to_owned(), source };
        self.container.add(MANIFEST, &mut &to_document(&manifest)[..]).map_err(in_manifest)?;
        let (out, size_bytes) = self.container.finish().map_err(in_manifest)?;
        Ok((out, WrittenDelta { manifest, comparison, size_bytes }))
    }
}

/// The middle of a file whose beginning and end stayed.
struct Splice {
    prefix: u64,
    suffix: u64,
    middle: Vec<u8>,
}

impl Splice {
    /// Returns a splice if it saves at least half of the file: logs are appended to, and notes are
    /// edited in one place.
    fn between(was: &[u8], now: &[u8]) -> Option<Self> {
        let common = was.iter().zip(now).take_while(|(a, b)| a == b).count();
        let (was_rest, now_rest) = (&was[common..], &now[common..]);
        let pairs = was_rest.iter().rev().zip(now_rest.iter().rev());
        let suffix = pairs.take_while(|(a, b)| a == b).count();
        let middle = &now_rest[..now_rest.len() - suffix];
        (middle.len() * 2 <= now.len() && now.len() > 512).then(|| Self {
            prefix: common as u64,
            suffix: suffix as u64,
            middle: middle.to_vec(),
        })
    }
}
