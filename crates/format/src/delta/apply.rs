//! Applies a delta to an archive.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Write};

use super::operation::Operation;
use super::read::Delta;
use super::{ContentFrom, FilePut, SPLICE};
use crate::archive::Layer;
use crate::archive::read::{Archive, CarriedFile, ReadEntryError};
use crate::archive::write::{ArchiveWriter, Spool, WriteArchiveError, WrittenArchive};
use crate::id::{AgentId, RecordId};
use crate::manifest::{EntryKind, Manifest, Sequence, SyncCursor};
use crate::unknown::Unknown;

/// Why a delta could not be applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyDeltaError {
    /// The delta is of another agent.
    #[error("the delta is of agent {delta}, but the archive is of agent {base}")]
    WrongAgent {
        /// The archive's agent.
        base: AgentId,
        /// The delta's agent.
        delta: AgentId,
    },
    /// The delta starts at another sequence.
    #[error("the delta starts at sequence {expected}, but the archive is at sequence {actual}")]
    WrongBase {
        /// Where the delta starts.
        expected: Sequence,
        /// Where the archive is.
        actual: Sequence,
    },
    /// The delta starts at the same sequence, but from other content.
    #[error(
        "the delta starts at sequence {sequence} with checksum {expected}, \
         but the archive at sequence {sequence} has checksum {actual}"
    )]
    WrongContent {
        /// The sequence of both.
        sequence: Sequence,
        /// The checksum that the delta starts from.
        expected: String,
        /// The archive's checksum.
        actual: String,
    },
    /// A record that should exist does not, or the other way round.
    #[error("the delta wants to {} record {id}, which the archive {}", operation.as_str(),
        if *operation == Operation::Create { "already has" } else { "does not have" })]
    Record {
        /// The record.
        id: RecordId,
        /// The delta's operation on it.
        operation: Operation,
    },
    /// A file whose content the base should have, but does not.
    #[error("the delta builds {0} from a file that the archive does not have")]
    File(String),
    /// The result is not the target.
    #[error("the result has checksum {actual}, but the delta leads to {expected}")]
    WrongResult {
        /// The target's checksum.
        expected: String,
        /// The result's checksum.
        actual: String,
    },
    /// Archive or delta could not be read.
    #[error(transparent)]
    Read(#[from] ReadEntryError),
    /// The result could not be written.
    #[error("cannot write the result")]
    Write(#[from] WriteArchiveError),
}

impl ApplyDeltaError {
    /// Returns true when the archive and the delta are both valid but do not fit each other.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        !matches!(self, Self::WrongResult { .. } | Self::Read(_) | Self::Write(_))
    }
}

/// The result of applying a delta.
#[derive(Clone, Debug, PartialEq)]
pub struct DeltaOutcome {
    /// The archive that was written.
    pub archive: WrittenArchive,
    /// Records that are new.
    pub created: u64,
    /// Records that are different.
    pub updated: u64,
    /// Records that are gone.
    pub deleted: u64,
    /// Operations that had no effect; only a delta of another tool can have them.
    pub skipped: Vec<SkippedOperation>,
}

/// An operation that had no effect.
#[derive(Clone, Debug, PartialEq)]
pub struct SkippedOperation {
    /// The record.
    pub id: RecordId,
    /// Why nothing was done.
    pub reason: OperationSkipReason,
}

/// Why an operation had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationSkipReason {
    /// A record to create existed already.
    AlreadyThere,
    /// A record to update or delete did not exist.
    NotThere,
    /// The operation is one that this version does not know.
    UnknownOperation,
}

/// Applies a delta to an archive and writes the result as a new one.
pub fn apply_delta<W: Write>(
    base: &Archive,
    delta: &Delta,
    out: W,
    spool: Box<dyn Spool>,
    threads: usize,
) -> Result<(W, DeltaOutcome), ApplyDeltaError> {
    check_base(base, delta)?;
    let mut writer = ArchiveWriter::new(out, &target_manifest(base, delta), spool, threads);
    apply_files(base, delta, &mut writer)?;
    apply_layers(base, delta, &mut writer)?;
    let mut tally = apply_records(base, delta, &mut writer)?;
    let (out, archive) = writer.finish()?;
    if let Some(expected) = &delta.manifest().target_checksum
        && archive.manifest.checksum.as_ref() != Some(expected)
    {
        return Err(ApplyDeltaError::WrongResult {
            expected: expected.clone(),
            actual: archive.manifest.checksum.unwrap_or_default(),
        });
    }
    tally.skipped.sort_by_key(|skipped| skipped.id);
    let Tally { created, updated, deleted, skipped } = tally;
    Ok((out, DeltaOutcome { archive, created, updated, deleted, skipped }))
}

fn check_base(base: &Archive, delta: &Delta) -> Result<(), ApplyDeltaError> {
    let (manifest, change) = (base.manifest(), delta.manifest());
    let target = change.target.as_ref().map(|target| target.agent.id);
    for delta in std::iter::once(change.agent.id).chain(target) {
        if delta != manifest.agent.id {
            let base = manifest.agent.id;
            return Err(ApplyDeltaError::WrongAgent { base, delta });
        }
    }
    let (expected, actual) = (Sequence(change.sync.base_sequence), manifest.sequence());
    if expected != actual {
        return Err(ApplyDeltaError::WrongBase { expected, actual });
    }
    if let Some(expected) = &change.base_checksum
        && manifest.checksum.as_ref() != Some(expected)
    {
        return Err(ApplyDeltaError::WrongContent {
            sequence: actual,
            expected: expected.clone(),
            actual: manifest.checksum.clone().unwrap_or_else(|| "none".to_owned()),
        });
    }
    Ok(())
}

/// Returns the owner's description of the result.
fn target_manifest(base: &Archive, delta: &Delta) -> Manifest {
    let change = delta.manifest();
    if let Some(target) = &change.target {
        return target.clone();
    }
    // Another tool's delta only has a time and a sequence.
    let mut manifest = base.manifest().clone();
    manifest.created_at = change.created_at.clone();
    if change.sync.new_sequence > 0 {
        let known = manifest.sync.take();
        manifest.sync = Some(SyncCursor {
            last_sequence: change.sync.new_sequence,
            last_sync_at: known.as_ref().and_then(|known| known.last_sync_at.clone()),
            unknown: known.map_or_else(Unknown::default, |known| known.unknown),
        });
    }
    manifest
}

fn apply_files<W: Write>(
    base: &Archive,
    delta: &Delta,
    writer: &mut ArchiveWriter<W>,
) -> Result<(), ApplyDeltaError> {
    let nothing = (Vec::new(), Vec::new());
    let changes = delta.manifest().changes.files.clone();
    let (put, remove) = changes.map_or(nothing, |changes| (changes.put, changes.remove));
    let remove: HashSet<String> = remove.into_iter().collect();
    let base_files = base.files()?;
    let in_base: HashSet<String> = base_files.iter().map(|file| file.entry.path.clone()).collect();
    let mut result: HashMap<String, (CarriedFile, Option<FilePut>)> = base_files
        .into_iter()
        .filter(|file| !remove.contains(&file.entry.path))
        .map(|file| (file.entry.path.clone(), (file, None)))
        .collect();
    for change in put {
        let file = CarriedFile { entry: change.entry.clone() };
        result.insert(change.entry.path.clone(), (file, Some(change)));
    }
    let listed = delta.manifest().target.is_some();
    if !listed {
        // Another tool's delta lists no files; the ones it contains are the changed ones.
        for file in foreign_files(delta) {
            let path = file.entry.path.clone();
            let put = FilePut {
                entry: file.entry.clone(),
                content: ContentFrom::Delta,
                prefix: None,
                suffix: None,
                unknown: Unknown::default(),
            };
            result.insert(path, (file, Some(put)));
        }
    }
    let mut result: Vec<_> = result.into_values().collect();
    result.sort_by_cached_key(|(file, _)| file.order());
    for (file, put) in result {
        let path = file.entry.path.as_str();
        let needs_base = matches!(&put, Some(put) if *put.content.effective() != ContentFrom::Delta
            && put.content != ContentFrom::None);
        if needs_base && !in_base.contains(path) {
            return Err(ApplyDeltaError::File(path.to_owned()));
        }
        file.with_head(|head| -> Result<(), ApplyDeltaError> {
            match file.entry.kind() {
                EntryKind::Symlink => {
                    return Ok(writer.symlink(head, &file.target().unwrap_or_default())?);
                }
                EntryKind::Directory => return Ok(writer.folder(head)?),
                EntryKind::File | EntryKind::Unknown(_) => {}
            }
            let mut content: Box<dyn Read> = match put.as_ref().map(|put| put.content.effective()) {
                Some(ContentFrom::Delta) => Box::new(delta.entries().reader(path)?),
                Some(ContentFrom::Splice) => {
                    let put = put.as_ref().expect("a splice is a put");
                    Box::new(io::Cursor::new(spliced(base, delta, put)?))
                }
                _ => Box::new(base.read_file(path)?),
            };
            writer.file(head, &mut content)?;
            Ok(())
        })?;
    }
    Ok(())
}

fn foreign_files(delta: &Delta) -> Vec<CarriedFile> {
    let names = delta.entries().container.entries().iter().map(|entry| entry.path.as_str());
    let carried = names.filter(|path| path.starts_with("raw/") || path.starts_with("artifacts/"));
    carried.map(|path| CarriedFile { entry: crate::manifest::Entry::new(path) }).collect()
}

fn spliced(base: &Archive, delta: &Delta, put: &FilePut) -> Result<Vec<u8>, ApplyDeltaError> {
    let path = put.entry.path.as_str();
    let missing = || ApplyDeltaError::File(path.to_owned());
    let was = base.entries().read_bytes(path)?;
    let length = |field: Option<u64>| usize::try_from(field.unwrap_or(0)).map_err(|_| missing());
    let (prefix, suffix) = (length(put.prefix)?, length(put.suffix)?);
    if prefix.checked_add(suffix).is_none_or(|kept| kept > was.len()) {
        return Err(missing());
    }
    let mut now = was[..prefix].to_vec();
    now.extend(delta.entries().read_bytes(&format!("{SPLICE}{path}"))?);
    now.extend_from_slice(&was[was.len() - suffix..]);
    Ok(now)
}

fn apply_layers<W: Write>(
    base: &Archive,
    delta: &Delta,
    writer: &mut ArchiveWriter<W>,
) -> Result<(), ApplyDeltaError> {
    let changes = &delta.manifest().changes;
    for layer in Layer::ALL {
        let bytes = match changes.file_of(layer) {
            None => base.document(layer)?,
            Some(None) => None,
            Some(Some(file)) => Some(delta.entries().read_layer(layer, file)?),
        };
        if let Some(bytes) = bytes {
            writer.document(layer, bytes)?;
        }
    }
    Ok(())
}

#[derive(Default)]
struct Tally {
    created: u64,
    updated: u64,
    deleted: u64,
    skipped: Vec<SkippedOperation>,
}

fn apply_records<W: Write>(
    base: &Archive,
    delta: &Delta,
    writer: &mut ArchiveWriter<W>,
) -> Result<Tally, ApplyDeltaError> {
    // Our deltas name their base, so any mismatch is an error. Another tool's deltas are applied as
    // that tool does, and operations without effect are counted.
    let strict = delta.manifest().target.is_some();
    let mut tally = Tally::default();
    let mut wanted: HashMap<RecordId, Operation> = HashMap::new();
    delta.each_operation(|line| -> Result<(), ApplyDeltaError> {
        match line.operation {
            Some(operation) => {
                wanted.insert(line.head.id, operation);
            }
            None => tally.skip(line.head.id, OperationSkipReason::UnknownOperation),
        }
        Ok(())
    })?;
    let mut met: HashSet<RecordId> = HashSet::new();
    for path in base.partitions() {
        base.each_record_head(path, |head, line| -> Result<(), ApplyDeltaError> {
            let operation = wanted.get(&head.id);
            if operation.is_some() {
                met.insert(head.id);
            }
            match operation {
                None | Some(Operation::Create) => Ok(writer.record_line(line)?),
                Some(Operation::Update | Operation::Delete) => Ok(()),
            }
        })?;
    }
    delta.each_operation(|line| -> Result<(), ApplyDeltaError> {
        let (id, there) = (line.head.id, met.contains(&line.head.id));
        let Some(operation) = line.operation else {
            return Ok(());
        };
        if there == (operation == Operation::Create) {
            if strict {
                return Err(ApplyDeltaError::Record { id, operation });
            }
            let reason = if there {
                OperationSkipReason::AlreadyThere
            } else {
                OperationSkipReason::NotThere
            };
            tally.skip(id, reason);
            return Ok(());
        }
        match operation {
            Operation::Create => tally.created += 1,
            Operation::Update => tally.updated += 1,
            Operation::Delete => {
                tally.deleted += 1;
                return Ok(());
            }
        }
        Ok(writer.record_line(&line.record)?)
    })?;
    Ok(tally)
}

impl Tally {
    fn skip(&mut self, id: RecordId, reason: OperationSkipReason) {
        self.skipped.push(SkippedOperation { id, reason });
    }
}
