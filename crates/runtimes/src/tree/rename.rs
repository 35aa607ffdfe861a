//! Gives folders their names, and takes away what is no longer needed.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, RenameFlags, Stat};
use rustix::io::Errno;

use super::Able;
use super::site::{OLD_ENDING, below, names_in, open_folder};

/// Gives a folder a name that nobody has.
pub(super) fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Without the flag, a folder still replaces nothing but an empty folder.
        Err(error) if not_supported(error) => Ok(rustix::fs::rename(from, to)?),
        other => Ok(other?),
    }
}

fn not_supported(error: Errno) -> bool {
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Lets two folders change names.
///
/// Where the file system cannot do that in one step, it takes two, and whoever looks between them
/// (or after a crash there) finds no workspace: the old tree then lies beside it, whole, under the
/// staging folder's name with `.old` behind it.
pub(super) fn exchange_folders(staging: &Path, workspace: &Path, able: Able) -> io::Result<()> {
    let result = match able.exchange {
        true => rustix::fs::renameat_with(CWD, staging, CWD, workspace, RenameFlags::EXCHANGE),
        false => Err(Errno::NOSYS),
    };
    match result {
        Err(error) if not_supported(error) => {}
        other => return Ok(other?),
    }
    let mut aside = staging.as_os_str().to_owned();
    aside.push(OLD_ENDING);
    let aside = PathBuf::from(aside);
    rename_to_free(workspace, &aside)?;
    if let Err(error) = rename_to_free(staging, workspace) {
        rename_to_free(&aside, workspace)?;
        return Err(error);
    }
    // The new tree is in place, whatever the old one is called.
    rename_to_free(&aside, staging).ok();
    Ok(())
}

/// Gives what was replaced a name that people see.
pub(super) fn keep_aside(old: &Path, workspace: &Path) -> io::Result<PathBuf> {
    let name = workspace.file_name().unwrap_or_default().as_bytes();
    let name = &name[..name.len().min(230)];
    let mut number = 1_u64;
    loop {
        let kept = [name, format!(".replaced-{number}").as_bytes()].concat();
        let kept = workspace.with_file_name(OsStr::from_bytes(&kept));
        match rename_to_free(old, &kept) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::AlreadyExists
                        | io::ErrorKind::DirectoryNotEmpty
                        | io::ErrorKind::NotADirectory
                ) =>
            {
                number += 1;
            }
            Err(error) => return Err(error),
            Ok(()) => return Ok(kept),
        }
    }
}

/// Removes a folder that was being filled, with all that is in it.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match prune(path, &mut |_, _| true) {
        Ok(true) => Ok(()),
        Ok(false) => Err(io::ErrorKind::DirectoryNotEmpty.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// A folder that is being emptied.
struct Pruning {
    folder: OwnedFd,
    key: Vec<u8>,
    name: Vec<u8>,
    names: Vec<Vec<u8>>,
    /// The mode it had, when it had to be changed.
    mode: Option<u32>,
}

impl Pruning {
    fn open(at: BorrowedFd<'_>, key: Vec<u8>, name: Vec<u8>) -> rustix::io::Result<Self> {
        let folder = match open_folder(at, &name) {
            Err(Errno::ACCESS) => {
                rustix::fs::chmodat(at, &*name, Mode::from_raw_mode(0o700), AtFlags::empty())?;
                open_folder(at, &name)?
            }
            other => other?,
        };
        let mode = rustix::fs::fstat(&folder)?.st_mode & 0o7777;
        let tight = mode & 0o700 != 0o700;
        if tight {
            rustix::fs::fchmod(&folder, Mode::from_raw_mode(mode | 0o700))?;
        }
        let names = names_in(folder.as_fd())?;
        Ok(Self { folder, key, name, names, mode: tight.then_some(mode) })
    }
}

/// Removes what `remove` chooses, and folders that are then empty; says whether nothing is left.
///
/// Somebody else may be removing the same tree: what is gone already is fine.
pub(super) fn prune(root: &Path, remove: &mut dyn FnMut(&[u8], &Stat) -> bool) -> io::Result<bool> {
    let name = root.as_os_str().as_bytes().to_vec();
    let mut levels = vec![Pruning::open(CWD, Vec::new(), name)?];
    let mut gone = false;
    while let Some(level) = levels.last_mut() {
        if let Some(name) = level.names.pop() {
            let key = below(&level.key, &name);
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            let stat = match rustix::fs::statat(&level.folder, &*name, flags) {
                Ok(stat) => stat,
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(error.into()),
            };
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                match Pruning::open(level.folder.as_fd(), key, name) {
                    Ok(inner) => levels.push(inner),
                    Err(Errno::NOENT) => {}
                    Err(error) => return Err(error.into()),
                }
            } else if remove(&key, &stat) {
                match rustix::fs::unlinkat(&level.folder, &*name, AtFlags::empty()) {
                    Ok(()) | Err(Errno::NOENT) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            continue;
        }
        let Some(done) = levels.pop() else { break };
        let above = levels.last().map_or(CWD, |above| above.folder.as_fd());
        match rustix::fs::unlinkat(above, &*done.name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => gone = true,
            Err(Errno::NOTEMPTY | Errno::EXIST) => {
                gone = false;
                if let Some(mode) = done.mode {
                    rustix::fs::fchmod(&done.folder, Mode::from_raw_mode(mode))?;
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(gone)
}
