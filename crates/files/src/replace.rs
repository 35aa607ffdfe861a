//! Files that appear completely or not at all: written beside their path, made durable, renamed.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use rustix::fs::{CWD, Mode, RenameFlags, renameat_with};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use crate::folder::is_unable;
use crate::{Folder, faults, temporary_file};

/// What happens to an existing file with the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and naming the new one is an error.
    Keep,
    /// It is replaced; so is a link.
    Replace,
}

/// Whether a file must survive a power failure as soon as it has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It need not, because nothing is lost without it.
    Eventual,
    /// It must.
    Immediate,
}

/// Returns the folder of a path; for a bare name, the current one.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a file that only its owner can read, replacing any existing one. A crash leaves either
/// the old file or the new one.
pub fn replace_file(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let mut file = temporary_file(folder_of(path))?;
    file.write_all(bytes)?;
    commit(file, path, Existing::Replace, durability)
}

/// Gives a temporary file its name: data first, then the name, then the folder.
pub fn commit(
    file: NamedTempFile,
    path: &Path,
    existing: Existing,
    durability: Durability,
) -> io::Result<()> {
    if durability == Durability::Immediate {
        file.as_file().sync_all()?;
    }
    let named = match existing {
        Existing::Replace => file.persist(path),
        // Another process may have created a file with that name meanwhile.
        Existing::Keep => file.persist_noclobber(path),
    };
    named.map_err(|error| error.error)?;
    match durability {
        Durability::Immediate => sync_folder(folder_of(path)),
        Durability::Eventual => Ok(()),
    }
}

/// As [`replace_file`], for callers that hold an exclusive lock: the file is written to
/// `beside`, and what a killed process left there is overwritten. The caller syncs the folder.
pub fn replace_through(
    beside: &Path,
    path: &Path,
    bytes: &[u8],
    durability: Durability,
) -> io::Result<()> {
    let mut options = fs_err::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    fs_err::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let write = || {
        faults::step()?;
        let mut file = options.open(beside)?;
        faults::write_all(&mut file, bytes)?;
        if durability == Durability::Immediate {
            faults::sync(|| file.sync_all())?;
        }
        faults::step()?;
        fs_err::rename(beside, path)
    };
    write().inspect_err(|_| {
        // The error is reported; the next call overwrites the remaining file.
        if faults::step().is_ok() {
            fs_err::remove_file(beside).ok();
        }
    })
}

/// Makes the names in a folder durable.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    Folder::open(folder)?.sync()
}

/// Makes the names in a folder durable if possible: a process may be allowed to create folders in a
/// folder without being allowed to read it, and some file systems do not support it.
pub fn sync_folder_if_possible(folder: &Path) -> io::Result<()> {
    let Err(error) = sync_folder(folder) else { return Ok(()) };
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::ACCESS | Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
        _ => Err(error),
    }
}

/// Creates a folder that only its owner can access, and the folders above it with the default mode;
/// an existing folder stays as it is.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    faults::step()?;
    fs_err::create_dir_all(folder_of(path))?;
    match rustix::fs::mkdir(path, Mode::RWXU) {
        Err(Errno::EXIST) if path.is_dir() => Ok(()),
        made => Ok(made?),
    }
}

/// Creates a file that only its owner can read.
pub fn create_private(path: &Path) -> io::Result<File> {
    use fs_err::os::unix::fs::OpenOptionsExt as _;
    let mut options = fs_err::OpenOptions::new();
    Ok(options.write(true).create_new(true).mode(0o600).open(path)?.into_file())
}

/// Opens a file for writing, or creates one that only its owner can read.
pub fn open_private(path: &Path) -> io::Result<File> {
    use fs_err::os::unix::fs::OpenOptionsExt as _;
    let mut options = fs_err::OpenOptions::new();
    Ok(options.write(true).create(true).truncate(false).mode(0o600).open(path)?.into_file())
}

/// Renames a file or folder to an unused name.
pub fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Without the flag, a folder still only replaces an empty folder.
        Err(error) if is_unable(error) && from.is_dir() => Ok(rustix::fs::rename(from, to)?),
        // A hard link never replaces an existing file.
        Err(error) if is_unable(error) => {
            fs_err::hard_link(from, to)?;
            fs_err::remove_file(from)
        }
        renamed => Ok(renamed?),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode_of(path: &Path) -> u32 {
        fs_err::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_is_replaced_for_its_owner_alone_and_through_no_link() {
        let kept = tempfile::tempdir().unwrap();
        let folder = kept.path().join("above/private");
        make_private_folder(&folder).unwrap();
        assert_eq!(mode_of(&folder), 0o700);
        make_private_folder(&folder).unwrap();
        let (victim, path) = (kept.path().join("victim"), folder.join("a"));
        fs_err::write(&victim, "mine").unwrap();
        symlink(&victim, &path).unwrap();
        for durability in [Durability::Eventual, Durability::Immediate] {
            replace_file(&path, b"new", durability).unwrap();
            assert_eq!(fs_err::read(&path).unwrap(), b"new");
            assert_eq!(mode_of(&path), 0o600);
        }
        assert_eq!(fs_err::read(&victim).unwrap(), b"mine");
        let taken =
            commit(temporary_file(&folder).unwrap(), &path, Existing::Keep, Durability::Immediate);
        assert_eq!(taken.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs_err::read_dir(&folder).unwrap().count(), 1, "nothing is left");
    }

    #[test]
    fn a_name_that_somebody_has_is_not_taken() {
        let kept = tempfile::tempdir().unwrap();
        let (one, other) = (kept.path().join("one"), kept.path().join("other"));
        fs_err::write(&one, "1").unwrap();
        fs_err::write(&other, "2").unwrap();
        assert!(rename_to_free(&one, &other).is_err());
        fs_err::remove_file(&other).unwrap();
        rename_to_free(&one, &other).unwrap();
        assert_eq!(fs_err::read(&other).unwrap(), b"1");
        assert!(create_private(&other).is_err() && !one.exists());
    }
}
