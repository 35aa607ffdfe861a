//! Opens archives and deltas, sealed or not, and refuses those that must not be a basis for others.

use std::path::{Path, PathBuf};

use anemone_format::{
    Archive, ArchiveOrDelta, Bytes, Edits, FindingKind, Limits, OpenError, open_validated,
};

use crate::files::{FileError, InputFile};
use crate::host::{Host, Progress};
use crate::keys::Sealing;
use crate::text::safe;

/// Why an archive was not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenArchiveError {
    /// The file cannot be read, or it is sealed and does not open.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is not the kind of file that was asked for, or damaged.
    #[error("{}: {source}", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: OpenError,
    },
    /// It is an archive, and validation found errors in it.
    #[error("{}: the file is not valid: {entry}: {message}", .path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The entry with the first error.
        entry: String,
        /// The first error.
        message: String,
        /// Whether the entry was edited after the archive was written.
        edited: bool,
    },
}

/// A file in which validation found no errors.
pub struct SoundFile {
    /// The archive or the delta.
    pub opening: ArchiveOrDelta,
    /// How it was sealed, if it was.
    pub sealing: Option<Sealing>,
    /// Notes for the user: a lost seal, accepted edits.
    pub warnings: Vec<String>,
}

impl SoundFile {
    /// Shows its warnings.
    pub(crate) fn show_warnings(&self, host: &Host) {
        self.warnings.iter().for_each(|warning| host.console.notice(&safe(warning)));
    }

    /// Returns the archive; a delta is an error.
    pub fn into_archive(self, path: &Path) -> Result<Archive, OpenArchiveError> {
        let archive = self.opening.into_archive();
        archive.map_err(|source| OpenArchiveError::Open { path: path.to_owned(), source })
    }
}

/// Opens a file that must be an archive.
pub fn open_archive(
    path: &Path,
    host: &Host,
    progress: &Progress,
) -> Result<Archive, OpenArchiveError> {
    let source = InputFile::open(path, host, progress)?;
    Archive::open(source.bytes, source.length, &Limits::default())
        .map_err(|source| OpenArchiveError::Open { path: path.to_owned(), source })
}

/// Opens a file that something will be written from, and refuses it if validation finds an error.
/// Every entry is checked, whatever the file says about itself.
pub fn open_sound(
    path: &Path,
    edits: Edits,
    host: &Host,
    progress: &Progress,
) -> Result<SoundFile, OpenArchiveError> {
    let source = InputFile::open(path, host, progress)?;
    let (opening, warnings) = validated(path, source.bytes, source.length, edits)?;
    Ok(SoundFile { opening, sealing: source.sealing, warnings })
}

/// Opens an archive that something will be written from, and shows the user its warnings.
pub fn open_sound_archive(
    path: &Path,
    host: &Host,
    progress: &Progress,
) -> Result<(Archive, Option<Sealing>), OpenArchiveError> {
    let mut file = open_sound(path, Edits::Refuse, host, progress)?;
    file.show_warnings(host);
    let sealing = file.sealing.take();
    Ok((file.into_archive(path)?, sealing))
}

/// Refuses a file in which validation finds an error.
pub fn check_sound(path: &Path, bytes: Bytes, length: u64) -> Result<(), OpenArchiveError> {
    validated(path, bytes, length, Edits::Refuse).map(|_| ())
}

fn validated(
    path: &Path,
    bytes: Bytes,
    length: u64,
    edits: Edits,
) -> Result<(ArchiveOrDelta, Vec<String>), OpenArchiveError> {
    let opened = open_validated(bytes, length, &Limits::default(), edits);
    let (opening, report) =
        opened.map_err(|source| OpenArchiveError::Open { path: path.to_owned(), source })?;
    // An edit explains the sizes and counts that no longer match.
    let edited = report.errors.iter().find(|finding| finding.kind == FindingKind::Edited);
    if let Some(first) = edited.or(report.errors.first()) {
        return Err(OpenArchiveError::Invalid {
            path: path.to_owned(),
            entry: first.path.clone(),
            message: first.message.clone(),
            edited: edited.is_some(),
        });
    }
    let about_edits = [FindingKind::SealMissing, FindingKind::SealBroken, FindingKind::Edited];
    let warnings = report.warnings.iter().filter(|finding| about_edits.contains(&finding.kind));
    let warnings = warnings.map(|finding| match finding.path.as_str() {
        "" => format!("{}: {}", path.display(), finding.message),
        entry => format!("{entry}: {}", finding.message),
    });
    Ok((opening, warnings.collect()))
}
