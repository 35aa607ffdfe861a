//! Removes folders with their content, without following links.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, chmodat, fchmod, unlinkat};
use rustix::io::Errno;

use crate::{FileKind, FileStat, Folder, if_found};

/// Removes a folder with its content; a missing folder counts as removed.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match if_found(prune(path, &mut |_, _| true))? {
        None | Some(true) => Ok(()),
        Some(false) => Err(io::ErrorKind::DirectoryNotEmpty.into()),
    }
}

/// A folder that is being emptied.
struct Level {
    folder: Folder,
    name: OsString,
    /// How many bytes of the path are this folder's, with the slash.
    path: usize,
    names: Vec<OsString>,
    /// The mode it had, when it had to be changed.
    mode: Option<u32>,
}

impl Level {
    fn open(at: Option<&Folder>, name: &OsStr, path: usize) -> io::Result<Self> {
        let open =
            || at.map_or_else(|| Folder::open_unlinked(Path::new(name)), |at| at.folder(name));
        let folder = match open() {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                chmodat(handle_of(at), name, Mode::RWXU, AtFlags::empty())?;
                open()?
            }
            folder => folder?,
        };
        let mode = FileStat::of(&folder)?.mode;
        let is_tight = mode & 0o700 != 0o700;
        if is_tight {
            fchmod(&folder, Mode::from_raw_mode(mode | 0o700))?;
        }
        let names = folder.entries()?.map(|entry| Ok(entry?.name().to_owned()));
        let names = names.collect::<io::Result<_>>()?;
        Ok(Self { folder, name: name.to_owned(), path, names, mode: is_tight.then_some(mode) })
    }
}

fn handle_of(folder: Option<&Folder>) -> BorrowedFd<'_> {
    folder.map_or(CWD, AsFd::as_fd)
}

/// Removes the files and links that `remove` chooses by their path below `root`, and folders that
/// are then empty; returns whether nothing is left.
///
/// Another process may be removing the same tree, so missing files are not an error.
pub fn prune(root: &Path, remove: &mut dyn FnMut(&[u8], &FileStat) -> bool) -> io::Result<bool> {
    let mut path = Vec::new();
    let mut levels = vec![Level::open(None, root.as_os_str(), 0)?];
    let mut is_gone = false;
    while let Some(level) = levels.last_mut() {
        if let Some(name) = level.names.pop() {
            path.truncate(level.path);
            path.extend_from_slice(name.as_bytes());
            let Some(stat) = if_found(level.folder.stat(&*name))? else { continue };
            if stat.kind == FileKind::Folder {
                path.push(b'/');
                let inner = Level::open(Some(&level.folder), &name, path.len());
                levels.extend(if_found(inner)?);
            } else if remove(&path, &stat) {
                match unlinkat(&level.folder, &*name, AtFlags::empty()) {
                    Ok(()) | Err(Errno::NOENT) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            continue;
        }
        let Some(done) = levels.pop() else { break };
        let above = handle_of(levels.last().map(|level| &level.folder));
        match unlinkat(above, &*done.name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => is_gone = true,
            Err(Errno::NOTEMPTY | Errno::EXIST) => {
                is_gone = false;
                if let Some(mode) = done.mode {
                    fchmod(&done.folder, Mode::from_raw_mode(mode))?;
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(is_gone)
}
