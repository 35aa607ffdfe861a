//! The earlier archive that an export is compared with.

use std::path::Path;

use anemone_format::{Archive, ArchiveSource, Layer, ReadEntryError, Record};
use anemone_runtimes::PreviousSnapshot;

use super::ExportError;
use crate::archive::open_sound_archive;
use crate::host::{Host, Progress};

/// An earlier archive of an agent.
pub(super) struct Previous {
    pub(super) archive: Archive,
    pub(super) snapshot: PreviousSnapshot,
}

impl Previous {
    /// Opens an earlier archive and reads everything but its records.
    pub(super) fn open(path: &Path, host: &Host, progress: &Progress) -> Result<Self, ExportError> {
        let (archive, _) = open_sound_archive(path, host, progress)?;
        let snapshot = documents(&archive)?;
        Ok(Self { archive, snapshot })
    }

    /// Reads its records too.
    pub(super) fn with_records(mut self) -> Result<Self, ExportError> {
        let Self { archive, snapshot } = &mut self;
        archive.each_record_line(|line| -> Result<(), ExportError> {
            let record: Record = serde_json::from_slice(line).map_err(std::io::Error::from)?;
            snapshot.add_record(&record);
            Ok(())
        })?;
        Ok(self)
    }
}

fn documents(archive: &Archive) -> Result<PreviousSnapshot, ReadEntryError> {
    let files = ArchiveSource::new(archive)?.into_files();
    let mut earlier = PreviousSnapshot::new(archive.manifest().clone(), files);
    earlier.identity = archive.parse_document(Layer::Identity)?;
    earlier.principals = archive.parse_document(Layer::Principals)?;
    earlier.credentials = archive.parse_document(Layer::Credentials)?;
    earlier.attachments = archive.parse_document(Layer::Attachments)?;
    Ok(earlier)
}
