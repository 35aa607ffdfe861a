//! Temporary files and folders, and those that a killed process left behind.
//!
//! The creator of a temporary file locks it with `flock` as long as it is used. The system releases
//! the lock when a process ends, however it ends. So a file with one of our temporary names that
//! can be locked is unused, and the next call that creates one in the same folder removes it.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::{open_regular, remove_tree};

/// How the names of temporary files start; six letters and digits follow.
pub const TEMPORARY_FILE: &str = ".anemone-";
/// How many letters and digits end a temporary name.
const RANDOM_BYTES: usize = 6;
/// Names of a folder that are checked, at most, because a folder may hold any number of them.
const MAX_NAMES: usize = 100_000;
/// How often creation is retried because another process is about to remove the new file.
const ATTEMPTS: usize = 16;

/// Creates a locked temporary file in a folder, and removes those that killed processes left there.
pub fn temporary_file(folder: &Path) -> io::Result<NamedTempFile> {
    sweep(folder, TEMPORARY_FILE, LeftoverKind::File);
    for _ in 0..ATTEMPTS {
        let file = tempfile::Builder::new().prefix(TEMPORARY_FILE).tempfile_in(folder)?;
        match file.as_file().try_lock() {
            // A cleanup locked it before we did.
            Ok(()) if file.as_file().metadata()?.nlink() == 0 => {}
            Err(std::fs::TryLockError::WouldBlock) => {}
            // Where a file system has no locks, nothing is ever removed.
            Ok(()) | Err(std::fs::TryLockError::Error(_)) => return Ok(file),
        }
    }
    Err(io::Error::other("temporary files are removed as soon as they are made"))
}

/// Locks a folder until the returned file is dropped; `None` if another process holds the lock, or
/// the file system has no locks.
#[must_use]
pub fn lock_folder(folder: &Path) -> Option<File> {
    let file = fs_err::File::open(folder).ok()?.into_file();
    file.try_lock().ok().map(|()| file)
}

/// Creates a temporary folder that only its owner can access; it must be locked by
/// [`locked_folder`].
pub fn private_temporary_folder(folder: &Path, prefix: &str) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir_in(folder)
}

/// Creates a locked folder by `make`. The lock must be held as long as the folder is used.
pub fn locked_folder(
    make: &mut dyn FnMut() -> io::Result<PathBuf>,
) -> io::Result<(PathBuf, Option<File>)> {
    for _ in 0..ATTEMPTS {
        let path = make()?;
        let Ok(file) = fs_err::File::open(&path).map(fs_err::File::into_file) else { continue };
        let is_there = || {
            let ours = file.metadata().map(|metadata| metadata.ino());
            fs_err::symlink_metadata(&path).map(|metadata| metadata.ino()).ok() == ours.ok()
        };
        match file.try_lock() {
            Ok(()) if is_there() => return Ok((path, Some(file))),
            Err(std::fs::TryLockError::Error(_)) => return Ok((path, None)),
            Ok(()) | Err(std::fs::TryLockError::WouldBlock) => {}
        }
    }
    Err(io::Error::other("temporary folders are removed as soon as they are made"))
}

/// What is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftoverKind {
    /// A regular file.
    File,
    /// A folder with all that is in it.
    Folder,
}

/// Removes what killed processes of the same user left in a folder: names that start with
/// `prefix`, end in six letters and digits, and are not locked.
pub fn sweep(folder: &Path, prefix: &str, kind: LeftoverKind) {
    for path in temporary_names(folder, prefix.as_bytes()) {
        let Some(found) = fs_err::symlink_metadata(&path).ok() else { continue };
        let is_ours = found.uid() == rustix::process::geteuid().as_raw();
        match kind {
            LeftoverKind::File if found.is_file() && is_ours => {
                // The lock is held during removal, so that no other process uses the file
                // meanwhile.
                if let Some(_lock) = lock_file(&path) {
                    fs_err::remove_file(&path).ok();
                }
            }
            // All of ours are private; another one only has a similar name.
            LeftoverKind::Folder if found.is_dir() && is_ours && found.mode() & 0o777 == 0o700 => {
                if let Some(_lock) = lock_folder(&path) {
                    remove_tree(&path).ok();
                }
            }
            LeftoverKind::File | LeftoverKind::Folder => {}
        }
    }
}

/// Returns the paths in a folder whose names are temporary, sorted.
fn temporary_names(folder: &Path, prefix: &[u8]) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .take(MAX_NAMES)
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let rest = name.as_bytes().strip_prefix(prefix);
            rest.is_some_and(|rest| {
                rest.len() == RANDOM_BYTES && rest.iter().all(u8::is_ascii_alphanumeric)
            })
        })
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

fn lock_file(path: &Path) -> Option<File> {
    // Something else may have taken its name.
    let file = open_regular(path).ok()?;
    file.try_lock().ok().map(|()| file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs_err::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_nobody_holds_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in [".anemone-AbC123", ".anemone-notes", ".anemone-1-2.tmp", "a.md"] {
            fs_err::write(root.join(name), "x").unwrap();
        }
        fs_err::create_dir(root.join(".anemone-Folder")).unwrap();
        let held = temporary_file(root).unwrap();
        let second = temporary_file(root).unwrap();
        assert!(held.path().exists() && second.path().exists());
        assert_ne!(held.path(), second.path());
        let left = names(root);
        assert!(!left.contains(&".anemone-AbC123".to_owned()), "{left:?}");
        for name in [".anemone-Folder", ".anemone-notes", ".anemone-1-2.tmp", "a.md"] {
            assert!(left.contains(&name.to_owned()), "{name}: {left:?}");
        }
    }

    #[test]
    fn a_locked_folder_stays_and_one_that_nobody_holds_goes() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let mut make = || {
            let made = private_temporary_folder(root, ".import-")?.keep();
            fs_err::write(made.join("brain.db"), "x")?;
            Ok(made)
        };
        let (held, lock) = locked_folder(&mut make).unwrap();
        let (left, dropped) = locked_folder(&mut make).unwrap();
        drop(dropped);
        sweep(root, ".import-", LeftoverKind::Folder);
        assert_eq!((held.exists(), left.exists()), (true, false));
        drop(lock);
        sweep(root, ".import-", LeftoverKind::Folder);
        assert!(!held.exists());
    }
}
