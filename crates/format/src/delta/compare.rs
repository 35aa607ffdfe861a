//! Compares two archives: the plan of a delta, and what `diff` shows.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use super::operation::Operation;
use crate::archive::Layer;
use crate::archive::read::{Archive, CarriedFile, ReadEntryError};
use crate::id::{AgentId, ItemId, RecordId};
use crate::json;
use crate::manifest::Entry;
use crate::principals::Principals;

/// Why two archives could not be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// They belong to different agents.
    #[error("the archives are of different agents: {base} and {target}")]
    DifferentAgents {
        /// The first archive's agent.
        base: AgentId,
        /// The second archive's agent.
        target: AgentId,
    },
    /// One of them has two records with one id.
    #[error("an archive has two records with the id {0}")]
    DuplicateRecord(RecordId),
    /// Too many files differ for a comparison.
    #[error("more than {MAX_DIFFERENT_FILES} files differ between the archives")]
    TooManyFiles,
    /// One of them cannot be read.
    #[error(transparent)]
    Read(#[from] ReadEntryError),
}

/// How many carried files of two archives may differ. A comparison and a delta keep all of them in
/// memory, and untrusted archives must not take more than 256 MB.
const MAX_DIFFERENT_FILES: usize = 40_000;

/// What differs between two archives of one agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Records that are new, in the target's order.
    pub created: Vec<RecordId>,
    /// Records that are different, in the target's order.
    pub updated: Vec<RecordId>,
    /// Records that are gone, sorted by id.
    pub deleted: Vec<DeletedRecord>,
    /// How many records are the same.
    pub unchanged: u64,
    /// Layers that are different.
    pub layers: Vec<LayerDifference>,
    /// Files that are new or different, sorted by path.
    pub put_files: Vec<FileDifference>,
    /// Paths of files that are gone, sorted.
    pub removed_files: Vec<String>,
    /// Whether the owner's description of the snapshot differs: time, name, hints, sequence.
    pub manifest: bool,
}

/// A record that is gone.
#[derive(Clone, Debug, PartialEq)]
pub struct DeletedRecord {
    /// Its id.
    pub id: RecordId,
    /// When it was first remembered.
    pub created_at: Timestamp,
}

/// A layer that is different.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerDifference {
    /// The layer.
    pub layer: Layer,
    /// Its bytes now; `None` when it is gone.
    pub now: Option<Vec<u8>>,
    /// Whether it is new.
    pub is_new: bool,
    /// For principals: the ones that are new, different or gone.
    pub changed_ids: Vec<ItemId>,
}

/// A file that is new or different.
#[derive(Clone, Debug, PartialEq)]
pub struct FileDifference {
    /// As it is now.
    pub now: CarriedFile,
    /// As it was; `None` when it is new.
    pub was: Option<Entry>,
}

impl FileDifference {
    /// Returns true when the bytes changed, false when only mode, time or the like did.
    #[must_use]
    pub fn content_changed(&self) -> bool {
        self.was.as_ref().is_none_or(|was| was.sha256 != self.now.entry.sha256)
    }
}

impl Comparison {
    /// Returns true when the two archives hold the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.created.is_empty()
            && self.updated.is_empty()
            && self.deleted.is_empty()
            && self.layers.is_empty()
            && self.put_files.is_empty()
            && self.removed_files.is_empty()
            && !self.manifest
    }

    /// Compares two archives.
    pub fn of(base: &Archive, target: &Archive) -> Result<Self, CompareError> {
        Self::with_lines(base, target, |_, _| Ok(()))
    }

    /// Compares two archives and yields the line of every record that is new or different.
    pub(crate) fn with_lines<E: From<CompareError>>(
        base: &Archive,
        target: &Archive,
        on_line: impl FnMut(Operation, &[u8]) -> Result<(), E>,
    ) -> Result<Self, E> {
        let (base_agent, target_agent) = (base.manifest().agent.id, target.manifest().agent.id);
        if base_agent != target_agent {
            return Err(CompareError::DifferentAgents { base: base_agent, target: target_agent })?;
        }
        let mut comparison = Self::default();
        comparison.compare_records(base, target, on_line)?;
        comparison.compare_layers(base, target).map_err(CompareError::Read)?;
        comparison.compare_files(base, target)?;
        let blank = |archive: &Archive| {
            let mut manifest = archive.manifest().clone();
            manifest.blank();
            manifest
        };
        comparison.manifest = blank(base) != blank(target);
        Ok(comparison)
    }

    fn compare_records<E: From<CompareError>>(
        &mut self,
        base: &Archive,
        target: &Archive,
        mut on_line: impl FnMut(Operation, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        // A partition with the same digest holds the same lines and need not be read. Commands that
        // write from the archives have compared all digests before.
        let digests = |archive: &Archive| -> HashSet<(String, String)> {
            let digest = |path: &str| archive.entries().digest(path);
            archive.partitions().filter_map(|path| Some((path.to_owned(), digest(path)?))).collect()
        };
        let (in_base, in_target) = (digests(base), digests(target));
        let same: HashSet<&str> =
            in_base.intersection(&in_target).map(|(path, _)| path.as_str()).collect();

        let mut before = HashMap::new();
        for path in base.partitions().filter(|path| !same.contains(path)) {
            base.each_record_head(path, |head, line| {
                let fingerprint: [u8; 32] = Sha256::digest(line).into();
                let twin = before.insert(head.id, (fingerprint, head.created_at().instant()));
                match twin {
                    None => Ok(()),
                    Some(_) => Err(CompareError::DuplicateRecord(head.id)),
                }
            })?;
        }
        let memory = target.manifest().layers.memory.as_ref();
        let partitions = memory.map_or(&[][..], |memory| &memory.partitions);
        let skipped = partitions.iter().filter(|partition| same.contains(&*partition.file));
        self.unchanged =
            skipped.fold(0, |sum, partition| sum.saturating_add(partition.record_count));

        let mut seen = HashSet::new();
        let mut failed = None;
        for path in target.partitions().filter(|path| !same.contains(path)) {
            let walk = target.each_record_head(path, |head, line| {
                if !seen.insert(head.id) {
                    return Err(CompareError::DuplicateRecord(head.id));
                }
                let operation = match before.remove(&head.id) {
                    None => Operation::Create,
                    Some((old, _)) if old != <[u8; 32]>::from(Sha256::digest(line)) => {
                        Operation::Update
                    }
                    Some(_) => {
                        self.unchanged += 1;
                        return Ok(());
                    }
                };
                match operation {
                    Operation::Create => self.created.push(head.id),
                    Operation::Update | Operation::Delete => self.updated.push(head.id),
                }
                if failed.is_none() {
                    failed = on_line(operation, line).err();
                }
                Ok(())
            });
            if let Some(error) = failed {
                return Err(error);
            }
            walk?;
        }
        self.deleted = before
            .into_iter()
            .map(|(id, (_, created_at))| DeletedRecord { id, created_at })
            .collect();
        self.deleted.sort_unstable_by_key(|record| record.id);
        Ok(())
    }

    fn compare_layers(&mut self, base: &Archive, target: &Archive) -> Result<(), ReadEntryError> {
        for layer in Layer::ALL {
            let (was, now) = (base.document(layer)?, target.document(layer)?);
            if was == now {
                continue;
            }
            let changed_ids = match layer {
                Layer::Principals => changed_principals(was.as_deref(), now.as_deref()),
                Layer::Identity | Layer::Credentials | Layer::Attachments => Vec::new(),
            };
            self.layers.push(LayerDifference { layer, now, is_new: was.is_none(), changed_ids });
        }
        Ok(())
    }

    fn compare_files(&mut self, base: &Archive, target: &Archive) -> Result<(), CompareError> {
        let mut before: HashMap<String, Entry> =
            base.files()?.into_iter().map(|file| (file.entry.path.clone(), file.entry)).collect();
        for now in target.files()? {
            let was = before.remove(&now.entry.path);
            if was.as_ref() != Some(&now.entry) {
                self.put_files.push(FileDifference { now, was });
            }
            if self.put_files.len() > MAX_DIFFERENT_FILES {
                return Err(CompareError::TooManyFiles);
            }
        }
        self.removed_files = before.into_keys().collect();
        self.removed_files.sort_unstable();
        Ok(())
    }
}

fn changed_principals(was: Option<&[u8]>, now: Option<&[u8]>) -> Vec<ItemId> {
    // An unreadable list names no principal; the layer travels whole in any case.
    let list = |bytes: Option<&[u8]>| {
        let parsed = bytes.and_then(|bytes| json::parse::<Principals>(bytes).ok());
        parsed.map(|list| list.principals).unwrap_or_default()
    };
    let (was, now) = (list(was), list(now));
    let mut changed: Vec<ItemId> = was
        .iter()
        .filter(|old| !now.contains(old))
        .chain(now.iter().filter(|new| !was.contains(new)))
        .map(|principal| principal.id)
        .collect();
    changed.sort_unstable();
    changed.dedup();
    changed
}
