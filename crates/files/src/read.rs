//! Reads regular files written by other programs: never through a link, never waiting for a pipe,
//! never more than the caller allows.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use zeroize::Zeroize as _;

use crate::{FileStat, Folder};

/// How much is read at once.
const BLOCK_BYTES: usize = 1 << 20;

// The name may be a pipe; opening that would wait for a writer.
pub(crate) const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// The path is a folder, a pipe, a socket or a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotRegularFile;

impl std::fmt::Display for NotRegularFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not a regular file")
    }
}

impl std::error::Error for NotRegularFile {}

/// Returns whether an error means that a path leads through a link, or not to a regular file.
#[must_use]
pub fn is_not_plain(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(code, Some(Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::NXIO))
        || error.get_ref().is_some_and(|cause| cause.is::<NotRegularFile>())
}

/// Stats an open file; an error unless it is a regular file.
pub(crate) fn stat_regular(file: impl AsFd) -> io::Result<FileStat> {
    Some(FileStat::of(file)?).filter(FileStat::is_file).ok_or(io::Error::other(NotRegularFile))
}

/// Opens a regular file to read. Links on the way are followed, a link at the end is not.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = rustix::fs::openat(CWD, path, READ, Mode::empty())?;
    stat_regular(&file)?;
    Ok(file.into())
}

/// Reads the rest of a file that has at most `max_bytes`; a larger one is an error of the kind
/// [`io::ErrorKind::FileTooLarge`].
///
/// The buffer is allocated at full size: it does not move, and leaves no copy of a secret behind.
pub fn read_limited(file: &File, max_bytes: u64) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::from(io::ErrorKind::FileTooLarge);
    let size = file.metadata()?.len();
    if size > max_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        bytes.zeroize();
        return Err(too_large());
    }
    Ok(bytes)
}

/// Returns `None` instead of an error if something does not exist.
pub fn if_found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Reads a regular file that has at most `max_bytes`; `None` if it does not exist. A link at the
/// end of the path is not followed.
pub fn read_small(path: &Path, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    if_found(open_regular(path))?.map(|file| read_limited(&file, max_bytes)).transpose()
}

/// Yields a file block by block, until its end or until the callback stops.
pub fn each_block(
    mut file: File,
    take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
) -> io::Result<()> {
    let size = usize::try_from(file.metadata()?.len()).unwrap_or(BLOCK_BYTES);
    // One byte more than a small file has, so that the first read reaches its end.
    let mut block = vec![0; size.saturating_add(1).clamp(64, BLOCK_BYTES)];
    loop {
        let read = match file.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if take(&block[..read]).is_break() {
            return Ok(());
        }
    }
}

impl Folder {
    /// Opens a regular file of this folder to read. A link is an error.
    pub fn file(&self, name: impl rustix::path::Arg) -> io::Result<File> {
        let file = self.open_name(name, READ, 0)?;
        stat_regular(&file)?;
        Ok(file.into())
    }

    /// Opens a regular file below this folder to read. No part of the path may be a link.
    pub fn file_at(&self, path: &[u8]) -> io::Result<File> {
        let (above, name) = self.above(path)?;
        above.as_ref().unwrap_or(self).file(name)
    }
}
