//! Opens a delta.

use super::DeltaManifest;
use super::operation::{self, Operation, OperationLine};
use crate::archive::DELTA_RECORDS;
use crate::archive::read::{
    ArchiveKind, Edits, Entries, OpenContainer, OpenError, ReadEntryError, check_listed,
};
use crate::container::read::Bytes;
use crate::container::seal::Seal;
use crate::limits::Limits;

/// An open delta.
pub struct Delta {
    manifest: DeltaManifest,
    entries: Entries,
}

impl Delta {
    /// Opens a delta of a known length; structure, seal and manifest are checked.
    pub fn open(source: Bytes, length: u64, limits: &Limits) -> Result<Self, OpenError> {
        Self::from_opened(OpenContainer::open(source, length, limits, Edits::Refuse)?)
    }

    pub(crate) fn from_opened(opened: OpenContainer) -> Result<Self, OpenError> {
        opened.require(ArchiveKind::Delta)?;
        let manifest: DeltaManifest = opened.parse_manifest()?;
        check_listed(&opened.container, &manifest.entries)?;
        if let Some(files) = &manifest.changes.files {
            check_listed(&opened.container, files.put.iter().map(|put| &put.entry))?;
        }
        let entries = Entries::new(opened.container, &manifest.entries, opened.limits);
        Ok(Self { manifest, entries })
    }

    /// Returns the manifest as it is in the delta.
    #[must_use]
    pub fn manifest(&self) -> &DeltaManifest {
        &self.manifest
    }

    /// Returns the length of the file.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.entries.container.length()
    }

    /// Returns whether the file carries a digest of itself that matches.
    #[must_use]
    pub fn is_sealed(&self) -> bool {
        self.entries.container.seal() == Seal::Intact
    }

    pub(crate) fn entries(&self) -> &Entries {
        &self.entries
    }

    /// Returns the entry that holds the operations on records, if there are any.
    #[must_use]
    pub fn records_entry(&self) -> Option<&str> {
        let memory = self.manifest.changes.memory.as_ref()?;
        Some(if memory.file.is_empty() { DELTA_RECORDS } else { &memory.file })
    }

    /// Calls `each` with every operation, `None` for one that is not known, and the record's line.
    pub fn each_record_line<E: From<ReadEntryError>>(
        &self,
        mut each: impl FnMut(Option<Operation>, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_operation(|line| each(line.operation, &line.record))
    }

    pub(crate) fn each_operation<E: From<ReadEntryError>>(
        &self,
        mut each: impl FnMut(OperationLine) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(path) = self.records_entry() else {
            return Ok(());
        };
        self.entries.each_line(path, |number, line| {
            let decoded = operation::decode(line)
                .map_err(|source| ReadEntryError::new(path, Some(number), source))?;
            each(decoded)
        })
    }
}
