//! Files of other programs on disk, which are read, and replaced completely or not at all.

use std::path::{Path, PathBuf};

use anemone_files::{if_found, make_private_folder};
use anemone_runtimes::connect::MAX_BYTES;

use super::error::ConnectError;
use crate::files::{Existing, FileError, OutputFile};

/// A file with the content that it had when the plan was made.
pub(super) struct ProgramFile {
    /// What was asked for.
    pub(super) path: PathBuf,
    /// Where it is: a link leads there.
    real: PathBuf,
    /// What is in it; `None` where there is no file.
    pub(super) text: Option<String>,
    /// Whether its owner has made it read-only.
    is_read_only: bool,
}

impl ProgramFile {
    pub(super) fn look(path: &Path) -> Result<Self, ConnectError> {
        let real = match fs_err::symlink_metadata(path) {
            Ok(there) if there.is_symlink() => {
                fs_err::canonicalize(path).map_err(|_| ConnectError::BrokenLink(path.to_owned()))?
            }
            _ => path.to_owned(),
        };
        let text = read(&real)?;
        let is_read_only = text.is_some() && is_read_only(&real);
        Ok(Self { path: path.to_owned(), real, text, is_read_only })
    }

    /// Refuses a file that is protected: replacing it would not ask its mode.
    pub(super) fn check_writable(&self) -> Result<(), ConnectError> {
        if !self.is_read_only {
            return Ok(());
        }
        Err(ConnectError::ReadOnly(self.path.clone()))
    }

    /// Returns the folders that are not there yet, the outermost first.
    pub(super) fn missing_folders(&self) -> Vec<PathBuf> {
        let mut missing: Vec<PathBuf> = self
            .real
            .ancestors()
            .skip(1)
            .take_while(|folder| fs_err::symlink_metadata(folder).is_err())
            .map(Path::to_owned)
            .collect();
        missing.reverse();
        missing
    }

    /// Returns its folder.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.real.parent()
    }

    /// Writes the file, unless another program has changed it since it was read.
    pub(super) fn write(&self, text: &str) -> Result<(), ConnectError> {
        self.stage(text)?.commit()
    }

    /// Restores the content that the file had when it was read.
    pub(super) fn put_back(&self) -> Result<(), ConnectError> {
        let now = Self::look(&self.path)?;
        match &self.text {
            Some(text) => now.write(text),
            None => now.remove(),
        }
    }

    /// Writes the new content to a file beside it, so that only a rename is left.
    pub(super) fn stage(&self, text: &str) -> Result<Staged<'_>, ConnectError> {
        self.check_writable()?;
        self.check_unchanged()?;
        for folder in self.missing_folders() {
            make_private_folder(&folder)?;
        }
        let existing = if self.text.is_some() { Existing::Replace } else { Existing::Keep };
        let mut target = OutputFile::create(&self.real, existing)?;
        target.write(None, |out| out.write_all(text.as_bytes()).map_err(FileError::Io))?;
        if self.text.is_some() {
            keep_rights(&self.real, target.file())?;
        }
        target.file().as_file().sync_all()?;
        Ok(Staged { place: self, target })
    }

    /// Deletes the file, unless another program has changed it.
    pub(super) fn remove(&self) -> Result<(), ConnectError> {
        self.check_writable()?;
        self.check_unchanged()?;
        if self.text.is_some() {
            fs_err::remove_file(&self.real)?;
        }
        Ok(())
    }

    fn check_unchanged(&self) -> Result<(), ConnectError> {
        if read(&self.real)? == self.text {
            return Ok(());
        }
        Err(ConnectError::ChangedMeanwhile(self.path.clone()))
    }
}

/// A file that is written and has no name yet.
pub(super) struct Staged<'a> {
    place: &'a ProgramFile,
    target: OutputFile,
}

impl Staged<'_> {
    /// Gives the new file its name, unless another program has changed the existing one.
    pub(super) fn commit(self) -> Result<(), ConnectError> {
        self.place.check_unchanged()?;
        Ok(self.target.commit()?)
    }
}

/// Deletes empty folders of a list that begins with the outermost.
pub(super) fn remove_empty(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        // A folder that is not empty by now stays.
        fs_err::remove_dir(folder).ok();
    }
}

fn is_read_only(path: &Path) -> bool {
    let there = fs_err::metadata(path).map(|metadata| metadata.permissions());
    #[cfg(unix)]
    let is_set = |permissions: &std::fs::Permissions| {
        std::os::unix::fs::PermissionsExt::mode(permissions) & 0o200 == 0
    };
    #[cfg(not(unix))]
    let is_set = |permissions: &std::fs::Permissions| permissions.readonly();
    there.is_ok_and(|permissions| is_set(&permissions))
}

fn read(path: &Path) -> Result<Option<String>, ConnectError> {
    // Checked before it is opened: opening a pipe blocks until something writes to it.
    let Some(there) = if_found(fs_err::metadata(path))? else { return Ok(None) };
    if !there.is_file() {
        return Err(ConnectError::NotAFile(path.to_owned()));
    }
    if there.len() > MAX_BYTES {
        return Err(ConnectError::TooLarge(path.to_owned()));
    }
    match String::from_utf8(fs_err::read(path)?) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let bytes = error.as_bytes();
            let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
            Err(ConnectError::NotText { path: path.to_owned(), line })
        }
    }
}

/// Gives a new file the permissions and the owner of the file that it replaces.
#[cfg(unix)]
fn keep_rights(old: &Path, new: &tempfile::NamedTempFile) -> Result<(), ConnectError> {
    use std::os::unix::fs::MetadataExt as _;
    let old = fs_err::metadata(old)?;
    let there = new.as_file().metadata()?;
    if (old.uid(), old.gid()) != (there.uid(), there.gid()) {
        std::os::unix::fs::fchown(new.as_file(), Some(old.uid()), Some(old.gid()))?;
    }
    Ok(new.as_file().set_permissions(old.permissions())?)
}

#[cfg(not(unix))]
fn keep_rights(_: &Path, _: &tempfile::NamedTempFile) -> Result<(), ConnectError> {
    Ok(())
}
