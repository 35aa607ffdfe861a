//! Small files of an install: read without following links, replaced atomically.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anemone_files::{Durability, Existing, commit, read_small, temporary_file};
use anemone_format::Moment;
use fs_err as fs;
use rustix::fs::{Gid, Uid};
use zeroize::Zeroizing;

use crate::kit::{StoreError, with_suffix};
/// The most backups within one second.
const MAX_COPIES: u32 = 1000;

/// Reads a text that is no longer than `max` bytes; `None` when there is no file. A link is not
/// followed: it may lead out of the install.
pub(in crate::zeroclaw) fn read_plain(
    path: &Path,
    max: u64,
) -> io::Result<Option<Zeroizing<String>>> {
    let bytes = match read_small(path, max) {
        Ok(Some(bytes)) => Zeroizing::new(bytes),
        Ok(None) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            return Err(io::Error::other(format!("it is larger than {max} bytes")));
        }
        Err(_) if fs::symlink_metadata(path).is_ok_and(|stat| stat.is_symlink()) => {
            return Err(io::Error::other("it is a link, which is not followed"));
        }
        Err(error) => return Err(error),
    };
    let text = std::str::from_utf8(&bytes).map_err(|_| io::Error::other("it is not UTF-8"))?;
    Ok(Some(Zeroizing::new(text.to_owned())))
}

/// Replaces a file that has not changed, or creates a missing one, readable only by its owner. With
/// `copy_at`, the old content is kept beside it under a name with this moment, and the path of that
/// copy is returned.
pub(in crate::zeroclaw) fn replace(
    path: &Path,
    old: Option<&str>,
    new: &str,
    copy_at: Option<&Moment>,
) -> Result<Option<PathBuf>, StoreError> {
    let failed = |source| StoreError::Io { path: path.to_owned(), source };
    let max = old.map_or(0, |old| old.len() as u64);
    let present = match fs::symlink_metadata(path) {
        Ok(it) if it.is_file() && it.len() == max => read_plain(path, max).map_err(failed)?,
        Ok(_) => return Err(StoreError::Changed { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    if present.as_deref().map(String::as_str) != old {
        return Err(StoreError::Changed { path: path.to_owned() });
    }
    let Some(folder) = path.parent() else {
        return Err(failed(io::ErrorKind::NotFound.into()));
    };
    fs::create_dir_all(folder).map_err(failed)?;
    let owner = owner_of(path, folder).map_err(failed)?;
    let copy = |(old, now)| keep_copy(path, folder, old, owner, now);
    let backup = old.zip(copy_at).map(copy).transpose().map_err(failed)?;
    let file = written(folder, new, owner).map_err(failed)?;
    let existing = if old.is_some() { Existing::Replace } else { Existing::Keep };
    commit(file, path, existing, Durability::Immediate).map_err(failed)?;
    Ok(backup)
}

/// Keeps a backup of a file beside it.
fn keep_copy(
    path: &Path,
    folder: &Path,
    old: &str,
    owner: Owner,
    now: &Moment,
) -> io::Result<PathBuf> {
    let stamp = now.instant().strftime("%Y%m%dT%H%M%S").to_string();
    let mut file = written(folder, old, owner)?;
    file.as_file().sync_all()?;
    for number in 1..=MAX_COPIES {
        let name = match number {
            1 => with_suffix(path, &format!(".backup-{stamp}")),
            _ => with_suffix(path, &format!(".backup-{stamp}-{number}")),
        };
        match file.persist_noclobber(&name) {
            Ok(_) => return Ok(name),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => file = error.file,
            Err(error) => return Err(error.error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The owner of a file: a user and a group.
type Owner = (u32, u32);

/// Returns the owner of a file; of its folder, if the file does not exist.
fn owner_of(path: &Path, folder: &Path) -> io::Result<Owner> {
    use std::os::unix::fs::MetadataExt as _;
    let found = fs::symlink_metadata(path).or_else(|_| fs::metadata(folder))?;
    Ok((found.uid(), found.gid()))
}

/// Writes a file that has no final name yet, readable only by its owner. The superuser gives it to
/// the owner of the old file, so that the runtime can still read it.
fn written(folder: &Path, text: &str, owner: Owner) -> io::Result<tempfile::NamedTempFile> {
    let mut file = temporary_file(folder)?;
    file.write_all(text.as_bytes())?;
    if rustix::process::geteuid().is_root() {
        let (user, group) = (Uid::from_raw(owner.0), Gid::from_raw(owner.1));
        rustix::fs::fchown(file.as_file(), Some(user), Some(group))?;
    }
    Ok(file)
}

/// Creates a file that only its owner may read; fails if it exists.
pub(in crate::zeroclaw) fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::NotFound)?;
    fs::create_dir_all(folder)?;
    let owner = owner_of(path, folder)?;
    commit(written(folder, text, owner)?, path, Existing::Keep, Durability::Immediate)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn what_is_replaced_stays_its_owners() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("config.toml");
        fs::write(&path, "a").unwrap();
        // Only the superuser can give a file away, and only then could the owner be lost.
        let is_root = rustix::process::geteuid().is_root();
        let owner = if is_root { (4321, 4322) } else { owner_of(&path, folder.path()).unwrap() };
        if is_root {
            std::os::unix::fs::chown(&path, Some(owner.0), Some(owner.1)).unwrap();
        }
        let now = "2026-02-01T10:20:30Z".parse().unwrap();
        let backup = replace(&path, Some("a"), "b", Some(&now)).unwrap().unwrap();
        for path in [&path, &backup] {
            let found = fs::metadata(path).unwrap();
            assert_eq!((found.uid(), found.gid(), found.mode() & 0o777), (owner.0, owner.1, 0o600));
        }
        if is_root {
            std::os::unix::fs::chown(folder.path(), Some(7), Some(8)).unwrap();
            write_new(&folder.path().join("new"), "c").unwrap();
            assert_eq!(fs::metadata(folder.path().join("new")).unwrap().uid(), 7);
        }
    }
}
