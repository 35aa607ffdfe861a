//! Looks at the place where a workspace is to be, without following links.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anemone_format::Moment;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use super::BUFFER_BYTES;
use crate::adapter::Warning;
use crate::plan::{MAX_DEPTH, PlanError};

/// What lies where the workspace is to be.
#[derive(Debug)]
pub(crate) enum Site {
    Absent,
    Empty(Seen),
    Full(Survey),
}

/// A tree as it was when we looked.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(super) root: Seen,
    /// Everything below the root, by the keys of [`key_of`].
    pub(crate) nodes: BTreeMap<Vec<u8>, Seen>,
}

/// What lay at a path when we looked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) kind: SeenKind,
    pub(crate) size: u64,
    pub(crate) mode: u32,
    pub(crate) mtime: Time,
    pub(super) inode: u64,
    device: u64,
    pub(super) owner: (u32, u32),
}

/// What sort of thing lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeenKind {
    File,
    Symlink,
    Folder,
    /// A socket, a pipe or a device.
    Special,
}

/// Seconds and nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time(pub(super) i64, pub(super) i64);

/// Returns a path as a key that sorts as a walk goes: a folder, all that is in it, the next one.
pub(crate) fn key_of(path: &[u8]) -> Vec<u8> {
    // NUL is in no path and sorts before everything that is.
    path.iter().map(|byte| if *byte == b'/' { 0 } else { *byte }).collect()
}

pub(crate) fn path_of(key: &[u8]) -> Vec<u8> {
    key.iter().map(|byte| if *byte == 0 { b'/' } else { *byte }).collect()
}

/// Returns a path below a folder.
pub(crate) fn join(folder: &Path, path: &[u8]) -> PathBuf {
    folder.join(OsStr::from_bytes(path))
}

/// Returns the seconds and nanoseconds of a moment; before 1970 the nanoseconds still count up.
pub(crate) fn time_of(moment: &Moment) -> Time {
    let nanoseconds = moment.instant().as_nanosecond();
    let seconds = nanoseconds.div_euclid(1_000_000_000);
    let rest = nanoseconds.rem_euclid(1_000_000_000);
    // The years of a moment have four digits.
    Time(i64::try_from(seconds).unwrap_or(0), i64::try_from(rest).unwrap_or(0))
}

impl Seen {
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            kind: match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => SeenKind::File,
                FileType::Symlink => SeenKind::Symlink,
                FileType::Directory => SeenKind::Folder,
                _ => SeenKind::Special,
            },
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mode: stat.st_mode & 0o7777,
            mtime: Time(stat.st_mtime, stat.st_mtime_nsec as i64),
            inode: stat.st_ino,
            device: stat.st_dev,
            owner: (stat.st_uid, stat.st_gid),
        }
    }

    /// Says whether two paths lead to the same file.
    pub(super) fn is_same_node(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    /// Says whether this is still the same thing. A folder is the same whatever is in it: what is
    /// in it is compared by itself.
    pub(super) fn is_still(&self, now: &Self) -> bool {
        let same = self.kind == now.kind && self.inode == now.inode;
        same && (self.kind == SeenKind::Folder || (self.size, self.mtime) == (now.size, now.mtime))
    }
}

/// Finds the workspace, without links on the way, and what is there.
pub(crate) fn look(workspace: &Path) -> Result<(PathBuf, Site), PlanError> {
    let path = resolve(workspace)?;
    let failed = |source: io::Error| PlanError::Workspace { path: path.clone(), source };
    let Some(parent) = path.parent() else {
        return Err(PlanError::MountPoint { path });
    };
    let root = match rustix::fs::lstat(&path) {
        Ok(stat) => Seen::of(&stat),
        Err(Errno::NOENT) => return Ok((path, Site::Absent)),
        Err(error) => return Err(failed(error.into())),
    };
    if root.kind != SeenKind::Folder {
        return Err(PlanError::NotAFolder { path });
    }
    let above = rustix::fs::lstat(parent).map_err(|error| failed(error.into()))?;
    if Seen::of(&above).device != root.device {
        return Err(PlanError::MountPoint { path });
    }
    let survey = survey(&path)?;
    let site = if survey.nodes.is_empty() { Site::Empty(root) } else { Site::Full(survey) };
    Ok((path, site))
}

/// Returns the true path of a folder that may not exist yet.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, PlanError> {
    let failed = |source| PlanError::Workspace { path: path.to_owned(), source };
    let mut there = path;
    let mut missing = Vec::new();
    loop {
        let here = if there.as_os_str().is_empty() { Path::new(".") } else { there };
        match fs_err::canonicalize(here) {
            Ok(found) => return Ok(missing.iter().rev().fold(found, |path, name| path.join(name))),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            // A link that leads nowhere is not an absent folder.
            Err(error) if here.is_symlink() => return Err(failed(error)),
            Err(error) => match (there.file_name(), there.parent()) {
                (Some(name), Some(parent)) => {
                    missing.push(name);
                    there = parent;
                }
                _ => return Err(failed(error)),
            },
        }
    }
}

/// Warns of folders that a run which was killed left beside the workspace, and that were not
/// recovered.
///
/// Such a folder may hold the only copy of what was replaced. Where it may even be the workspace
/// itself, the import is refused: a new tree in its place would make it look dispensable.
pub(crate) fn leftovers(workspace: &Path, site: &Site) -> Result<Vec<Warning>, PlanError> {
    let (Some(parent), Some(prefix)) = (workspace.parent(), staging_prefix(workspace)) else {
        return Ok(Vec::new());
    };
    let Ok(entries) = fs_err::read_dir(parent) else {
        return Ok(Vec::new());
    };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().as_bytes().starts_with(prefix.as_bytes()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    let is_old = |path: &PathBuf| path.as_os_str().as_bytes().ends_with(OLD_ENDING.as_bytes());
    let mut whole = found.iter().find(|path| is_old(path));
    let first = [prefix.as_bytes(), FIRST.as_bytes()].concat();
    let is_first =
        |path: &Path| path.file_name().is_some_and(|name| name.as_bytes().starts_with(&first));
    if matches!(site, Site::Absent) {
        whole = whole.or(found.iter().find(|path| !is_first(path)));
    }
    if let Some(path) = whole {
        let (path, workspace) = (path.clone(), workspace.to_owned());
        return Err(PlanError::Leftover { path, workspace });
    }
    let message = "an import that was ended half-way left this folder, and it may hold the only \
                   copy of files that were replaced; compare it with the workspace, and move what \
                   is missing out of it";
    let half_made = "an import that was ended half-way left this folder; nothing was there before \
                     it, and the next import removes it";
    let warnings = found.into_iter().map(|path| Warning {
        code: "leftover",
        message: if is_first(&path) { half_made } else { message }.to_owned(),
        path: Some(path.display().to_string()),
    });
    Ok(warnings.collect())
}

/// What stands in the name of a staging folder when there is no workspace yet: it never holds an
/// old tree.
pub(super) const FIRST: &str = "first-";

/// How the name ends of an old tree that has made room for the new one.
pub(super) const OLD_ENDING: &str = ".old";

pub(super) fn staging_prefix(workspace: &Path) -> Option<std::ffi::OsString> {
    let name = workspace.file_name()?.as_bytes();
    // Leaves room for the rest of the longest name.
    let name = &name[..name.len().min(200)];
    Some(OsStr::from_bytes(&[b".", name, b".anemone-"].concat()).to_owned())
}

pub(super) fn open_folder(at: BorrowedFd<'_>, name: &[u8]) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    rustix::fs::openat(at, name, flags, Mode::empty())
}

pub(super) fn open_root(path: &Path) -> rustix::io::Result<OwnedFd> {
    open_folder(CWD, path.as_os_str().as_bytes())
}

/// Opens the folder that a path lies in, part by part, and returns it with the last part.
pub(super) fn open_above<'a>(root: &Path, path: &'a [u8]) -> io::Result<(OwnedFd, &'a [u8])> {
    let mut folder = open_root(root)?;
    let mut parts = path.split(|byte| *byte == b'/').peekable();
    loop {
        let part = parts.next().unwrap_or_default();
        if parts.peek().is_none() {
            return Ok((folder, part));
        }
        folder = open_folder(folder.as_fd(), part)?;
    }
}

/// Reads where a link of the workspace points.
pub(crate) fn read_link(root: &Path, path: &[u8]) -> io::Result<Vec<u8>> {
    let (folder, name) = open_above(root, path)?;
    Ok(rustix::fs::readlinkat(folder, name, Vec::new())?.into_bytes())
}

/// Opens a regular file of the workspace.
pub(crate) fn open_file(root: &Path, path: &[u8]) -> io::Result<std::fs::File> {
    let (folder, name) = open_above(root, path)?;
    Ok(open_to_read(folder.as_fd(), name)?)
}

pub(super) fn open_to_read(
    folder: BorrowedFd<'_>,
    name: &[u8],
) -> rustix::io::Result<std::fs::File> {
    // Without waiting: a pipe may have taken the file's place.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty()).map(Into::into)
}

/// Returns the SHA-256 of what a reader yields, in lower-case hexadecimal.
pub(crate) fn sha256_of(reader: &mut impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => hasher.update(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Says whether two readers yield the same bytes.
pub(crate) fn equal(one: &mut impl Read, other: &mut impl Read) -> io::Result<bool> {
    let mut one = io::BufReader::with_capacity(BUFFER_BYTES, one);
    let mut other = io::BufReader::with_capacity(BUFFER_BYTES, other);
    loop {
        let (left, right) = (io::BufRead::fill_buf(&mut one)?, io::BufRead::fill_buf(&mut other)?);
        let length = left.len().min(right.len());
        if left[..length] != right[..length] {
            return Ok(false);
        }
        if length == 0 {
            return Ok(left.len() == right.len());
        }
        io::BufRead::consume(&mut one, length);
        io::BufRead::consume(&mut other, length);
    }
}

pub(super) fn names_in(folder: BorrowedFd<'_>) -> rustix::io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push(name.to_vec());
        }
    }
    Ok(names)
}

pub(super) fn below(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() { name.to_vec() } else { [folder, &[0], name].concat() }
}

/// Looks at everything below a folder, without following links.
pub(super) fn survey(root: &Path) -> Result<Survey, PlanError> {
    let failed = |key: &[u8], error: Errno| PlanError::Workspace {
        path: join(root, &path_of(key)),
        source: error.into(),
    };
    let folder = open_root(root).map_err(|error| failed(b"", error))?;
    let top = Seen::of(&rustix::fs::fstat(&folder).map_err(|error| failed(b"", error))?);
    let mut nodes = BTreeMap::new();
    // Folders whose names are still to be read, each with its key.
    let mut levels: Vec<(OwnedFd, Vec<u8>, Vec<Vec<u8>>)> = Vec::new();
    let names = names_in(folder.as_fd()).map_err(|error| failed(b"", error))?;
    levels.push((folder, Vec::new(), names));
    while let Some((folder, above, names)) = levels.last_mut() {
        let Some(name) = names.pop() else {
            levels.pop();
            continue;
        };
        let key = below(above, &name);
        let stat = match rustix::fs::statat(&*folder, &*name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            // Gone since its name was read.
            Err(Errno::NOENT) => continue,
            Err(error) => return Err(failed(&key, error)),
        };
        let seen = Seen::of(&stat);
        if seen.device != top.device {
            return Err(PlanError::MountPoint { path: join(root, &path_of(&key)) });
        }
        if seen.kind == SeenKind::Folder {
            let inner = open_folder(folder.as_fd(), &name).map_err(|error| failed(&key, error))?;
            let names = names_in(inner.as_fd()).map_err(|error| failed(&key, error))?;
            if levels.len() >= MAX_DEPTH {
                return Err(failed(&key, Errno::NAMETOOLONG));
            }
            levels.push((inner, key.clone(), names));
        }
        nodes.insert(key, seen);
    }
    Ok(Survey { root: top, nodes })
}
