//! Writes a file without the text that a plan found, and proves that the text is gone.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Seek as _, SeekFrom, Write};

use super::plan::{ArchiveOrDelta, PurgePlan, read_text};
use super::probe::{Trace, search_entry};
use super::{PurgeAudit, PurgeReason, PurgeScope};
use crate::archive::read::ReadEntryError;
use crate::archive::write::{MemoryIndex, Spool, to_document};
use crate::archive::{ARTIFACTS, DELTA_MANIFEST_DIALECT, Layer, MANIFEST};
use crate::attachments::{Attachment, Attachments};
use crate::container::read::ContainerEntry;
use crate::container::write::{ContainerWriter, Written};
use crate::delta::SPLICE;
use crate::id::{ItemId, RecordId};
use crate::json;
use crate::manifest::{AttachmentsLayer, Entry, Manifest};
use crate::moment::Moment;
use crate::unknown::Unknown;

/// The reason and times of a purge, and who requested it.
#[derive(Clone, Debug, PartialEq)]
pub struct PurgeDetails {
    /// A fresh id.
    pub purge_id: ItemId,
    /// Why.
    pub reason: PurgeReason,
    /// When it was requested.
    pub requested_at: Moment,
    /// When it is done.
    pub completed_at: Moment,
    /// Who requested it.
    pub requested_by: Option<String>,
}

/// Why a plan could not be applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyPurgeError {
    /// The text is in a place from which it cannot be cut.
    #[error("the text of record {id} also occurs in {path}")]
    Obstacle {
        /// The record.
        id: RecordId,
        /// The place.
        path: String,
    },
    /// Something could not be read.
    #[error(transparent)]
    Read(#[from] ReadEntryError),
    /// Writing failed.
    #[error("cannot write {entry}")]
    Io {
        /// The entry being written.
        entry: String,
        /// The cause.
        source: io::Error,
    },
}

/// The result of applying a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PurgeOutcome {
    /// The audit of the purge, without any purged text.
    pub audit: PurgeAudit,
    /// The length of the new file.
    pub size_bytes: u64,
    /// Entries copied in their packed form.
    pub entries_copied: u64,
    /// Entries rewritten.
    pub entries_rewritten: Vec<String>,
}

/// The result of searching the new file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PurgeProof {
    /// Entries that were searched.
    pub entries: u64,
    /// Their bytes, inflated.
    pub bytes: u64,
    /// Places that still hold a whole text or one of the records; empty when the purge is proved.
    pub remains: Vec<String>,
    /// Places that hold a single longer line of a purged text, which others may share.
    pub lines: Vec<String>,
    /// Records whose text is too short to be searched for.
    pub too_short: Vec<RecordId>,
}

/// Writes a file without what the plan found.
pub fn apply_purge<W: Write>(
    file: &ArchiveOrDelta,
    plan: &PurgePlan,
    request: PurgeDetails,
    out: W,
    spool: Box<dyn Spool>,
    threads: usize,
) -> Result<(W, PurgeOutcome), ApplyPurgeError> {
    if let Some(obstacle) = plan.obstacles.first() {
        let (id, path) = (obstacle.id, obstacle.path.clone());
        return Err(ApplyPurgeError::Obstacle { id, path });
    }
    let partitions: HashSet<&str> = plan.records.values().map(String::as_str).collect();
    let mut partitions_affected: Vec<String> =
        partitions.iter().map(|&partition| partition.to_owned()).collect();
    partitions_affected.sort();
    let audit = PurgeAudit {
        purge_id: request.purge_id,
        agent_id: file.agent(),
        scope: PurgeScope::RecordPurge,
        record_ids: plan.records.keys().copied().collect(),
        partitions_affected,
        reason: request.reason,
        requested_at: request.requested_at,
        completed_at: request.completed_at,
        requested_by: request.requested_by,
        unknown: Unknown::default(),
    };
    let mut writer = Rewriter {
        file,
        plan,
        container: ContainerWriter::new(out, threads),
        spool,
        written: HashMap::new(),
        counts: HashMap::new(),
        gone: plan.dropped_files.iter().cloned().collect(),
        copied: 0,
    };
    writer.write_entries(&partitions)?;
    let artifacts = writer.write_attachments()?;
    match file {
        ArchiveOrDelta::Archive(archive) => {
            let mut manifest = archive.manifest().clone();
            if let Some(list) = &artifacts {
                manifest.layers.attachments = manifest
                    .layers
                    .attachments
                    .map(|layer| AttachmentsLayer::of(list, layer.file, layer.unknown));
            }
            // Without a file that collided with its name, another file would have another name.
            manifest.canonical = manifest.canonical.filter(|_| plan.dropped_files.is_empty());
            writer.write_index(&mut manifest)?;
            writer.update_manifest(&mut manifest);
            manifest.purges.push(audit.clone());
            writer.add(MANIFEST, &mut &to_document(&manifest)[..])?;
        }
        ArchiveOrDelta::Delta(delta) => {
            let mut manifest = delta.manifest().clone();
            writer.update_entries(&mut manifest.entries);
            if let Some(memory) = &mut manifest.changes.memory
                && let Some(count) = writer.counts.get(memory.file.as_str())
            {
                memory.record_count = *count;
            }
            if let Some(files) = &mut manifest.changes.files {
                // A file that is left out stays as it is in the base.
                files.put.retain(|put| {
                    let spliced = format!("{SPLICE}{}", put.entry.path);
                    !writer.gone.contains(&put.entry.path) && !writer.gone.contains(&spliced)
                });
                for put in &mut files.put {
                    if let Some(written) = writer.written.get(&put.entry.path) {
                        put.entry.size = Some(written.size);
                        put.entry.sha256 = Some(written.sha256.clone());
                    }
                }
            }
            // The target of the delta contained the purged records.
            manifest.target_checksum = None;
            manifest.purges.push(audit.clone());
            let name = if file.entries().container.get(DELTA_MANIFEST_DIALECT).is_some() {
                DELTA_MANIFEST_DIALECT
            } else {
                MANIFEST
            };
            writer.add(name, &mut &to_document(&manifest)[..])?;
        }
    }
    let mut entries_rewritten: Vec<String> = writer.written.keys().cloned().collect();
    entries_rewritten.sort();
    let entries_copied = writer.copied;
    let in_end = |source| ApplyPurgeError::Io { entry: "the directory".to_owned(), source };
    let (out, size_bytes) = writer.container.finish().map_err(in_end)?;
    Ok((out, PurgeOutcome { audit, size_bytes, entries_copied, entries_rewritten }))
}

/// Searches a new file for the purged text.
pub fn prove_purge(file: &ArchiveOrDelta, plan: &PurgePlan) -> Result<PurgeProof, ReadEntryError> {
    let mut proof = PurgeProof { too_short: plan.too_short.clone(), ..PurgeProof::default() };
    for entry in file.entries().container.entries() {
        proof.entries += 1;
        proof.bytes += entry.size;
        search_entry(file.entries(), &entry.path, &plan.probes, |probe, trace| {
            let place = format!("{} (text of {})", entry.path, probe.id);
            match trace {
                Trace::Whole => proof.remains.push(place),
                Trace::Line => proof.lines.push(place),
            }
        })?;
    }
    for entry in file.record_entries() {
        if file.entries().container.get(&entry).is_none() {
            continue;
        }
        file.each_record(&entry, |number, record, line| {
            // A line that would stay the same when purged again contains nothing.
            let stone = file.line_after_purge(&record).ok().flatten();
            let id = record.head.id;
            if plan.records.contains_key(&id) && stone.as_deref() != Some(line) {
                proof.remains.push(format!("{entry}:{number} (record {id})"));
            }
            Ok(())
        })?;
    }
    Ok(proof)
}

struct Rewriter<'a, W: Write> {
    file: &'a ArchiveOrDelta,
    plan: &'a PurgePlan,
    container: ContainerWriter<W>,
    spool: Box<dyn Spool>,
    /// Entries rewritten.
    written: HashMap<String, Written>,
    /// Lines left in entries of records.
    counts: HashMap<String, u64>,
    /// Entries left out.
    gone: HashSet<String>,
    copied: u64,
}

impl<W: Write> Rewriter<'_, W> {
    fn write_entries(&mut self, partitions: &HashSet<&str>) -> Result<(), ApplyPurgeError> {
        let index = match self.file {
            ArchiveOrDelta::Archive(archive) => {
                archive.manifest().layers.memory.as_ref().map(|memory| memory.index_file.as_str())
            }
            ArchiveOrDelta::Delta(_) => None,
        };
        let container = &self.file.entries().container;
        for entry in container.entries() {
            let path = entry.path.as_str();
            let is_manifest = path == MANIFEST || path == DELTA_MANIFEST_DIALECT;
            let is_list = self.touches_artifacts() && self.file.attachments_entry() == Some(path);
            if is_manifest || is_list || index == Some(path) || self.gone.contains(path) {
                continue;
            }
            if partitions.contains(path) {
                self.rewrite_records(path)?;
            } else if let Some(cut) = self.plan.cuts.iter().find(|cut| cut.entry == path) {
                let text = read_text(self.file.entries(), path)?.unwrap_or_default();
                self.add(path, &mut &cut.apply(&text)[..])?;
            } else {
                self.copy(entry)?;
            }
        }
        Ok(())
    }

    /// Writes an entry of records without the purged ones; the other lines keep their bytes.
    fn rewrite_records(&mut self, path: &str) -> Result<(), ApplyPurgeError> {
        let failed = |source| ApplyPurgeError::Io { entry: path.to_owned(), source };
        self.spool.seek(SeekFrom::Start(0)).map_err(failed)?;
        let (mut count, mut length) = (0, 0);
        let mut error = None;
        {
            let mut spool = io::BufWriter::new(&mut self.spool);
            self.file.each_record(path, |_, record, line| {
                let stone;
                let line = if self.plan.records.contains_key(&record.head.id) {
                    stone = self.file.line_after_purge(&record)?;
                    stone.as_deref()
                } else {
                    Some(line)
                };
                if let Some(line) = line.filter(|_| error.is_none()) {
                    count += 1;
                    length += line.len() as u64 + 1;
                    error = spool.write_all(line).and_then(|()| spool.write_all(b"\n")).err();
                }
                Ok(())
            })?;
            error = error.or(spool.flush().err());
        }
        if let Some(error) = error {
            return Err(failed(error));
        }
        self.counts.insert(path.to_owned(), count);
        let is_partition = matches!(self.file, ArchiveOrDelta::Archive(_));
        if count == 0 && is_partition {
            self.gone.insert(path.to_owned());
            return Ok(());
        }
        self.spool.seek(SeekFrom::Start(0)).map_err(failed)?;
        let mut content = (&mut self.spool).take(length);
        let written = self.container.add(path, &mut content).map_err(failed)?;
        self.written.insert(path.to_owned(), written);
        Ok(())
    }

    fn add(&mut self, path: &str, content: &mut dyn Read) -> Result<(), ApplyPurgeError> {
        let written = self
            .container
            .add(path, content)
            .map_err(|source| ApplyPurgeError::Io { entry: path.to_owned(), source })?;
        self.written.insert(path.to_owned(), written);
        Ok(())
    }

    /// Copies an entry as it is packed.
    fn copy(&mut self, entry: &ContainerEntry) -> Result<(), ApplyPurgeError> {
        self.copied += 1;
        self.container
            .copy(&self.file.entries().container.packed(entry))
            .map_err(|source| ApplyPurgeError::Io { entry: entry.path.clone(), source })
    }

    /// Returns true when an artifact is cut or left out, so that the list of artifacts must change.
    fn touches_artifacts(&self) -> bool {
        let cut = self.plan.cuts.iter().map(|cut| &cut.entry);
        cut.chain(&self.plan.dropped_files).any(|path| path.starts_with(ARTIFACTS))
    }

    /// Rewrites the list of artifacts, if it has to change.
    fn write_attachments(&mut self) -> Result<Option<Attachments>, ApplyPurgeError> {
        let Some(path) = self.file.attachments_entry().filter(|_| self.touches_artifacts()) else {
            return Ok(None);
        };
        let bytes = self.file.entries().read_layer(Layer::Attachments, path)?;
        let mut list: Attachments =
            json::parse(&bytes).map_err(|source| ReadEntryError::new(path, None, source))?;
        let gone = |attachment: &Attachment| {
            attachment.archive_path.0.as_ref().is_some_and(|path| self.gone.contains(path))
        };
        list.attachments.retain(|attachment| !gone(attachment));
        for attachment in &mut list.attachments {
            let entry = attachment.archive_path.0.as_ref();
            if let Some(written) = entry.and_then(|path| self.written.get(path)) {
                attachment.size_bytes = written.size;
                attachment.hash.algorithm = "sha256".to_owned();
                attachment.hash.value.clone_from(&written.sha256);
            }
        }
        self.add(path, &mut &to_document(&list)[..])?;
        Ok(Some(list))
    }

    /// Rewrites the index; an index in an unknown format is copied.
    fn write_index(&mut self, manifest: &mut Manifest) -> Result<(), ApplyPurgeError> {
        let Some(memory) = &manifest.layers.memory else {
            return Ok(());
        };
        let path = memory.index_file.clone();
        let container = &self.file.entries().container;
        let Some(entry) = container.get(&path) else {
            return Ok(());
        };
        let bytes = self.file.entries().read_document(&path)?;
        let Ok(mut index) = json::parse::<MemoryIndex>(&bytes) else {
            return self.copy(entry);
        };
        index.partitions.retain(|partition| !self.gone.contains(&partition.file));
        for partition in &mut index.partitions {
            if let (Some(written), Some(count)) =
                (self.written.get(&partition.file), self.counts.get(&partition.file))
            {
                partition.record_count = *count;
                partition.size = written.size;
                partition.sha256.clone_from(&written.sha256);
            }
        }
        self.add(&path, &mut &to_document(&index)[..])
    }

    fn update_manifest(&self, manifest: &mut Manifest) {
        if let Some(memory) = &mut manifest.layers.memory {
            memory.partitions.retain(|partition| !self.gone.contains(&partition.file));
            for partition in &mut memory.partitions {
                if let Some(count) = self.counts.get(&partition.file) {
                    partition.record_count = *count;
                }
            }
            let removed = self.plan.records.len() as u64;
            memory.record_count = memory.record_count.saturating_sub(removed);
        }
        if !manifest.entries.is_empty() {
            self.update_entries(&mut manifest.entries);
            manifest.checksum = Some(Manifest::checksum_of(&manifest.entries));
        }
    }

    fn update_entries(&self, entries: &mut Vec<Entry>) {
        entries.retain(|entry| !self.gone.contains(&entry.path));
        for entry in entries {
            if let Some(written) = self.written.get(&entry.path) {
                entry.size = Some(written.size);
                entry.sha256 = Some(written.sha256.clone());
            }
        }
    }
}
