//! A folder of a workspace, reached step by step, so that no link leads out of it.
//!
//! Everything is done by the folder's handle: whoever puts a link in the place of a folder while we
//! write does not make us write elsewhere.

use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, Stat, fchmod, fstat, fsync, ftruncate,
    mkdirat, openat, renameat, renameat_with, unlinkat,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::faults;

/// Bytes of a file, at most.
pub(crate) const MAX_FILE_BYTES: u64 = 64 << 20;

/// A folder that is open.
#[derive(Debug)]
pub(crate) struct Folder {
    handle: OwnedFd,
}

/// A file as it was read.
#[derive(Debug)]
pub(crate) struct FileRead {
    pub(crate) bytes: Vec<u8>,
    pub(crate) look: Look,
    /// Who may read and write it.
    pub(crate) mode: Mode,
}

/// What tells a file that somebody saved from the file as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Look {
    inode: u64,
    pub(crate) size: u64,
    /// By the clock of the file system, in nanoseconds.
    pub(crate) modified_ns: i64,
    changed_ns: i64,
}

impl Look {
    /// Whether both are of one file, and not of two that had the name one after the other.
    pub(crate) fn is_same_file(self, other: Self) -> bool {
        self.inode == other.inode
    }
}

/// Whether what stood under a name was what was expected there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Swapped {
    /// It was, and the new file stands there now.
    Done,
    /// It was not, and still stands there.
    Refused,
}

/// Whether something was added to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Appended {
    /// It was; this is how the file looked then.
    Done(Look),
    /// It was, and somebody saved the file at the same moment: it looks as they left it, and what
    /// was added may be in it or not.
    Contested(Look),
    /// The file was no longer the one that was read, and nothing was added.
    Refused,
    /// Somebody emptied the file after it was looked at, and what was added begins here. Their text
    /// may cover it, or a part of it.
    Displaced(u64),
}

impl Look {
    fn of(stat: &Stat) -> Self {
        let ns = |seconds: i64, rest: Option<i64>| {
            seconds.saturating_mul(1_000_000_000).saturating_add(rest.unwrap_or_default())
        };
        Self {
            inode: stat.st_ino,
            size: stat.st_size.unsigned_abs(),
            modified_ns: ns(stat.st_mtime, stat.st_mtime_nsec.try_into().ok()),
            changed_ns: ns(stat.st_ctime, stat.st_ctime_nsec.try_into().ok()),
        }
    }
}

impl Folder {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { handle: openat(CWD, path, flags, Mode::empty())? })
    }

    /// Opens a folder in this one; `None` when there is none. A link is an error.
    pub(crate) fn below(&self, name: &str) -> io::Result<Option<Self>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&self.handle, name, flags, Mode::empty()) {
            Ok(handle) => Ok(Some(Self { handle })),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a folder in this one, and makes it where there is none.
    pub(crate) fn made_below(&self, name: &str) -> io::Result<Self> {
        faults::step()?;
        match mkdirat(&self.handle, name, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
            Ok(()) => self.sync()?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        self.below(name)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Says how a file looks; `None` when there is none.
    pub(crate) fn look(&self, name: &str) -> io::Result<Option<Look>> {
        faults::step()?;
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Look::of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads a file; `None` when there is none. What is no plain file is an error.
    ///
    /// The look is taken after reading: bytes that were read while somebody saved have the look of
    /// a file that was just saved, and not that of the file before.
    pub(crate) fn read(&self, name: &str) -> io::Result<Option<FileRead>> {
        faults::step()?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let handle = match openat(&self.handle, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            handle => handle?,
        };
        let stat = plain(&handle)?;
        if stat.st_size.unsigned_abs() > MAX_FILE_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut bytes = Vec::new();
        let mut file = std::fs::File::from(handle);
        io::Read::by_ref(&mut file).take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let look = Look::of(&fstat(&file)?);
        Ok(Some(FileRead { bytes, look, mode: Mode::from_raw_mode(stat.st_mode) }))
    }

    /// Adds to the end of a file with one write, if the file still looks as `expected`; makes it
    /// where none is expected. When not all of it can be written, nothing of it stays.
    pub(crate) fn append(
        &self,
        name: &str,
        bytes: &[u8],
        expected: Option<Look>,
    ) -> io::Result<Appended> {
        faults::step()?;
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let flags = flags | OFlags::CLOEXEC;
        let flags = match expected {
            Some(_) => flags,
            None => flags | OFlags::CREATE | OFlags::EXCL,
        };
        let handle = match openat(&self.handle, name, flags, Mode::from_raw_mode(0o666)) {
            Err(Errno::EXIST | Errno::NOENT) => return Ok(Appended::Refused),
            handle => handle?,
        };
        let stat = plain(&handle)?;
        if expected.is_some_and(|expected| expected != Look::of(&stat)) {
            return Ok(Appended::Refused);
        }
        let before = stat.st_size.unsigned_abs();
        let mut file = std::fs::File::from(handle);
        if let Err(error) = faults::write_all(&mut file, bytes) {
            faults::step()?;
            let now = fstat(&file)?.st_size.unsigned_abs();
            if now > before && now < before + bytes.len() as u64 {
                ftruncate(&file, before)?;
            }
            return Err(error);
        }
        let end = io::Seek::stream_position(&mut file)?;
        let look = Look::of(&fstat(&file)?);
        if end != before + bytes.len() as u64 {
            return Ok(Appended::Displaced(end.saturating_sub(bytes.len() as u64)));
        }
        faults::sync(|| file.sync_all())?;
        if expected.is_none() {
            self.sync()?;
        }
        // How somebody else left the file must not be taken for how we left it.
        let is_ours = look.size == end;
        Ok(if is_ours { Appended::Done(look) } else { Appended::Contested(look) })
    }

    /// Says whether a file ends with a line ending; one that is empty or missing does, too.
    pub(crate) fn ends_line(&self, name: &str) -> io::Result<bool> {
        faults::step()?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let handle = match openat(&self.handle, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(true),
            handle => handle?,
        };
        let Some(last) = plain(&handle)?.st_size.unsigned_abs().checked_sub(1) else {
            return Ok(true);
        };
        let mut byte = [0];
        let read = rustix::io::pread(&handle, &mut byte, last)?;
        Ok(read == 0 || byte == *b"\n")
    }

    /// Cuts the end off a file that still looks as `expected`.
    pub(crate) fn cut(&self, name: &str, length: u64, expected: Look) -> io::Result<Swapped> {
        faults::step()?;
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let handle = match openat(&self.handle, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(Swapped::Refused),
            handle => handle?,
        };
        if Look::of(&plain(&handle)?) != expected || length > expected.size {
            return Ok(Swapped::Refused);
        }
        ftruncate(&handle, length)?;
        faults::sync(|| Ok(fsync(&handle)?))?;
        Ok(Swapped::Done)
    }

    /// Writes a new file, whole and safe on the disk.
    pub(crate) fn create(&self, name: &str, bytes: &[u8], mode: Option<Mode>) -> io::Result<()> {
        faults::step()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let handle = openat(&self.handle, name, flags, Mode::from_raw_mode(0o666))?;
        let mut file = std::fs::File::from(handle);
        if let Some(mode) = mode {
            fchmod(&file, mode)?;
        }
        faults::write_all(&mut file, bytes)?;
        faults::sync(|| file.sync_all())
    }

    /// Returns the names of files that begin with a text.
    pub(crate) fn names_with(&self, start: &str) -> io::Result<Vec<String>> {
        faults::step()?;
        let mut found = Vec::new();
        for one in Dir::read_from(&self.handle)? {
            let one = one?;
            let name = one.file_name().to_str().ok().filter(|name| name.starts_with(start));
            found.extend(name.map(str::to_owned));
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Takes a file away; says whether there was one.
    pub(crate) fn remove(&self, name: &str) -> io::Result<bool> {
        faults::step()?;
        match unlinkat(&self.handle, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives a file a name that no other file has.
    pub(crate) fn name(&self, from: &str, to: &str) -> io::Result<Swapped> {
        faults::step()?;
        match renameat_with(&self.handle, from, &self.handle, to, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Ok(Swapped::Refused),
            Err(error) if is_unable(error) => {
                if self.look(to)?.is_some() {
                    return Ok(Swapped::Refused);
                }
                renameat(&self.handle, from, &self.handle, to)?;
            }
            Err(error) => return Err(error.into()),
        }
        self.sync()?;
        Ok(Swapped::Done)
    }

    /// Exchanges two files; `false` where the file system cannot.
    pub(crate) fn exchange(&self, one: &str, other: &str) -> io::Result<bool> {
        faults::step()?;
        match renameat_with(&self.handle, one, &self.handle, other, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(error) if is_unable(error) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Puts a file in the place of another.
    pub(crate) fn replace(&self, from: &str, to: &str) -> io::Result<()> {
        faults::step()?;
        renameat(&self.handle, from, &self.handle, to)?;
        self.sync()
    }

    /// Gives a file of ours another name of ours.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        faults::step()?;
        Ok(renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Makes names safe on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        faults::sync(|| Ok(fsync(&self.handle)?))
    }

    /// Makes a file and its name safe on the disk; one that is not there, or no plain file, is
    /// passed over.
    pub(crate) fn sync_file(&self, name: &str) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match openat(&self.handle, name, flags, Mode::empty()) {
            Ok(handle) => faults::sync(|| Ok(fsync(&handle)?))?,
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => {}
            Err(error) => return Err(error.into()),
        }
        self.sync()
    }
}

/// Whether an error says that a path leads through a link, or to what is no file.
pub(crate) fn is_not_plain(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(code, Some(Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::NXIO))
}

fn is_unable(error: Errno) -> bool {
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

fn plain(handle: &OwnedFd) -> io::Result<Stat> {
    let stat = fstat(handle)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(stat),
        _ => Err(Errno::LOOP.into()),
    }
}
