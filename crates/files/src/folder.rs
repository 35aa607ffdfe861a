//! An open folder: everything in it is done through its handle.
//!
//! If the folder is replaced by a link meanwhile, we still do not read or write elsewhere.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir as CapDir, OpenOptions, OpenOptionsExt as _};
use rustix::fs::{
    AtFlags, CWD, Dir, DirEntry, FileType, Mode, OFlags, RenameFlags, fchmod, fsync, ftruncate,
    mkdirat, openat, renameat, renameat_with, unlinkat,
};
use rustix::io::Errno;
use rustix::path::Arg;

use crate::read::{READ, if_found, read_limited, stat_regular};
use crate::{FileKind, FileStamp, FileStat, faults};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    handle: OwnedFd,
}

/// A name in a folder.
pub struct FolderEntry(DirEntry);

/// A file as it was read.
#[derive(Debug)]
pub struct FileRead {
    /// All of its bytes.
    pub bytes: Vec<u8>,
    /// The stamp that shows whether the file was saved since.
    pub stamp: FileStamp,
    /// Who may read and write it.
    pub mode: u32,
}

/// Whether a name still led to the expected file when it was swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwapOutcome {
    /// It did, and now leads to the new file.
    Done,
    /// It did not, and nothing was changed.
    Refused,
}

/// Whether something was added to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    /// It was; this is the file's new stamp.
    Done(FileStamp),
    /// It was, but another process saved the file at the same moment: the stamp is of that save,
    /// and the addition may or may not be in the file.
    Contested(FileStamp),
    /// The file was no longer the one that was read, and nothing was added.
    Refused,
    /// Another process truncated the file after it was inspected, and the addition begins here. Its
    /// text may cover it, or a part of it.
    Displaced(u64),
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

impl FolderEntry {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &OsStr {
        OsStr::from_bytes(self.0.file_name().to_bytes())
    }

    /// Returns what it is, where the file system says so in its listing.
    #[must_use]
    pub fn kind(&self) -> Option<FileKind> {
        let kind = self.0.file_type();
        (kind != FileType::Unknown).then(|| kind.into())
    }
}

impl Folder {
    /// Opens a folder. A link is followed: the caller means its target.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { handle: openat(CWD, path, FOLDER, Mode::empty())? })
    }

    /// Opens a folder that is not a link.
    pub fn open_unlinked(path: &Path) -> io::Result<Self> {
        Ok(Self { handle: openat(CWD, path, FOLDER | OFlags::NOFOLLOW, Mode::empty())? })
    }

    /// Opens a folder in this one. A link is an error.
    pub fn folder(&self, name: impl Arg) -> io::Result<Self> {
        Ok(Self { handle: self.open_name(name, FOLDER | OFlags::NOFOLLOW, 0)? })
    }

    pub(crate) fn open_name(
        &self,
        name: impl Arg,
        flags: OFlags,
        mode: u32,
    ) -> rustix::io::Result<OwnedFd> {
        self.with_name(name, |name| openat(self, name, flags, Mode::from_raw_mode(mode)))
    }

    /// Does something with a name in this folder. A name that leads elsewhere is an error.
    fn with_name<T>(
        &self,
        name: impl Arg,
        work: impl FnOnce(&CStr) -> rustix::io::Result<T>,
    ) -> rustix::io::Result<T> {
        name.into_with_c_str(|name| match name.to_bytes() {
            b"." | b".." => Err(Errno::INVAL),
            bytes if bytes.contains(&b'/') => Err(Errno::INVAL),
            _ => work(name),
        })
    }

    /// Opens the folder that a path below this one is in, part by part and never through a link,
    /// and returns it with the last part; `None` is this folder itself.
    pub fn above<'a>(&self, path: &'a [u8]) -> io::Result<(Option<Self>, &'a [u8])> {
        let mut parts = path.split(|byte| *byte == b'/');
        let name = parts.next_back().unwrap_or_default();
        let mut folder: Option<Self> = None;
        for part in parts {
            folder = Some(folder.as_ref().unwrap_or(self).folder(part)?);
        }
        Ok((folder, name))
    }

    /// Opens a folder below this one. Links are followed as long as they stay below it.
    pub fn folder_beneath(&self, path: &Path) -> io::Result<Self> {
        let found = self.cap()?.open_dir(path)?;
        // That handle may be a path-only one, which cannot list the folder.
        Ok(Self { handle: openat(found, ".", FOLDER, Mode::empty())? })
    }

    /// Opens a regular file below this folder for reading. Links to folders are followed as long as
    /// they stay below it; the file itself must not be a link.
    pub fn file_beneath(&self, path: &Path) -> io::Result<std::fs::File> {
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        let file = self.cap()?.open_with(path, &options)?.into_std();
        stat_regular(&file)?;
        Ok(file)
    }

    fn cap(&self) -> io::Result<CapDir> {
        Ok(CapDir::from_std_file(self.handle.try_clone()?.into()))
    }

    /// Stats a name, without following a link.
    pub fn stat(&self, name: impl Arg) -> io::Result<FileStat> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let stat = self.with_name(name, |name| rustix::fs::statat(self, name, flags))?;
        Ok(FileStat::from(&stat))
    }

    /// Lists the names in this folder, in no order.
    pub fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<FolderEntry>> + use<>> {
        let entries = Dir::read_from(self)?.map(|entry| Ok(FolderEntry(entry?)));
        let is_own = |entry: &FolderEntry| matches!(entry.name().as_bytes(), b"." | b"..");
        Ok(entries.filter(move |entry| !entry.as_ref().is_ok_and(is_own)))
    }

    /// Returns the kind of an entry of this folder; the file is only queried if the listing does
    /// not have it.
    pub fn kind_of(&self, entry: &FolderEntry) -> io::Result<FileKind> {
        entry.kind().map_or_else(|| Ok(self.stat(entry.name())?.kind), Ok)
    }

    /// Reads where a link points.
    pub fn read_link(&self, name: impl Arg) -> io::Result<Vec<u8>> {
        let read = |name: &CStr| rustix::fs::readlinkat(self, name, Vec::new());
        Ok(self.with_name(name, read)?.into_bytes())
    }

    /// Creates a new file for writing. The mode is what the umask leaves of `mode`.
    pub fn create_file(&self, name: impl Arg, mode: u32) -> io::Result<std::fs::File> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW;
        Ok(self.open_name(name, flags | OFlags::CLOEXEC, mode)?.into())
    }

    /// Opens a folder in this one, and creates it if it does not exist.
    pub fn make_folder(&self, name: &str) -> io::Result<Self> {
        faults::step()?;
        let mode = Mode::RWXU | Mode::RWXG | Mode::RWXO;
        match self.with_name(name, |name| mkdirat(self, name, mode)) {
            Ok(()) => self.sync()?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        self.folder(name)
    }

    /// Returns the stamp that shows whether a file changed; `None` if it does not exist.
    pub fn stamp(&self, name: &str) -> io::Result<Option<FileStamp>> {
        faults::step()?;
        Ok(if_found(self.stat(name))?.map(|stat| stat.stamp()))
    }

    /// Reads a file of at most `max_bytes`; `None` if it does not exist. Anything but a regular
    /// file is an error.
    ///
    /// The stamp is taken after reading: bytes that were read during a save get the stamp of a file
    /// that was just saved, and not that of the file before.
    pub fn read(&self, name: &str, max_bytes: u64) -> io::Result<Option<FileRead>> {
        faults::step()?;
        let Some(file) = if_found(self.file(name))? else { return Ok(None) };
        let bytes = read_limited(&file, max_bytes)?;
        let stat = FileStat::of(&file)?;
        Ok(Some(FileRead { bytes, stamp: stat.stamp(), mode: stat.mode }))
    }

    /// Appends to a file with one write, if the file still has the stamp `expected`; creates it if
    /// none is expected. If not all of it can be written, none of it stays.
    pub fn append(
        &self,
        name: &str,
        bytes: &[u8],
        expected: Option<FileStamp>,
    ) -> io::Result<AppendOutcome> {
        faults::step()?;
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let flags = flags | OFlags::CLOEXEC;
        let flags = match expected {
            Some(_) => flags,
            None => flags | OFlags::CREATE | OFlags::EXCL,
        };
        let handle = match self.open_name(name, flags, 0o666) {
            Err(Errno::EXIST | Errno::NOENT) => return Ok(AppendOutcome::Refused),
            handle => handle?,
        };
        let stat = stat_regular(&handle)?;
        if expected.is_some_and(|expected| expected != stat.stamp()) {
            return Ok(AppendOutcome::Refused);
        }
        let before = stat.size;
        let mut file = std::fs::File::from(handle);
        if let Err(error) = faults::write_all(&mut file, bytes) {
            faults::step()?;
            let now = FileStat::of(&file)?.size;
            if now > before && now < before + bytes.len() as u64 {
                ftruncate(&file, before)?;
            }
            return Err(error);
        }
        let end = io::Seek::stream_position(&mut file)?;
        let stamp = FileStat::of(&file)?.stamp();
        if end != before + bytes.len() as u64 {
            return Ok(AppendOutcome::Displaced(end.saturating_sub(bytes.len() as u64)));
        }
        faults::sync(|| file.sync_all())?;
        if expected.is_none() {
            self.sync()?;
        }
        // Another process's state of the file must not be mistaken for ours.
        let is_ours = stamp.size == end;
        Ok(if is_ours { AppendOutcome::Done(stamp) } else { AppendOutcome::Contested(stamp) })
    }

    /// Returns whether a file ends with a line ending; true for an empty or missing file.
    pub fn ends_line(&self, name: &str) -> io::Result<bool> {
        faults::step()?;
        let Some(file) = if_found(self.file(name))? else { return Ok(true) };
        let Some(last) = file.metadata()?.len().checked_sub(1) else { return Ok(true) };
        let mut byte = [0];
        let read = rustix::io::pread(&file, &mut byte, last)?;
        Ok(read == 0 || byte == *b"\n")
    }

    /// Cuts the end off a file that still has the stamp `expected`.
    pub fn cut(&self, name: &str, length: u64, expected: FileStamp) -> io::Result<SwapOutcome> {
        faults::step()?;
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let handle = match self.open_name(name, flags, 0) {
            Err(Errno::NOENT) => return Ok(SwapOutcome::Refused),
            handle => handle?,
        };
        if stat_regular(&handle)?.stamp() != expected || length > expected.size {
            return Ok(SwapOutcome::Refused);
        }
        ftruncate(&handle, length)?;
        faults::sync(|| Ok(fsync(&handle)?))?;
        Ok(SwapOutcome::Done)
    }

    /// Writes a new file, completely and durably; it gets exactly `mode`, if one is given.
    pub fn create(&self, name: &str, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
        faults::step()?;
        let mut file = self.create_file(name, 0o666)?;
        if let Some(mode) = mode {
            fchmod(&file, Mode::from_raw_mode(mode))?;
        }
        faults::write_all(&mut file, bytes)?;
        faults::sync(|| file.sync_all())
    }

    /// Returns the names of files that begin with a text, sorted.
    pub fn names_with(&self, start: &str) -> io::Result<Vec<String>> {
        faults::step()?;
        let mut found = Vec::new();
        for entry in self.entries()? {
            let entry = entry?;
            let name = entry.name().to_str().filter(|name| name.starts_with(start));
            found.extend(name.map(str::to_owned));
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Removes a file; returns whether it existed.
    pub fn remove(&self, name: &str) -> io::Result<bool> {
        faults::step()?;
        match self.with_name(name, |name| unlinkat(self, name, AtFlags::empty())) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives a file an unused name.
    pub fn name(&self, from: &str, to: &str) -> io::Result<SwapOutcome> {
        faults::step()?;
        match renameat_with(self, from, self, to, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Ok(SwapOutcome::Refused),
            Err(error) if is_unable(error) => {
                if self.stamp(to)?.is_some() {
                    return Ok(SwapOutcome::Refused);
                }
                renameat(self, from, self, to)?;
            }
            Err(error) => return Err(error.into()),
        }
        self.sync()?;
        Ok(SwapOutcome::Done)
    }

    /// Exchanges two files; `false` where the file system cannot.
    pub fn exchange(&self, one: &str, other: &str) -> io::Result<bool> {
        faults::step()?;
        match renameat_with(self, one, self, other, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(error) if is_unable(error) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Replaces a file with another one.
    pub fn replace(&self, from: &str, to: &str) -> io::Result<()> {
        faults::step()?;
        renameat(self, from, self, to)?;
        self.sync()
    }

    /// Gives a file of ours another name of ours.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        faults::step()?;
        Ok(renameat(self, from, self, to)?)
    }

    /// Makes the names in this folder durable.
    pub fn sync(&self) -> io::Result<()> {
        faults::sync(|| Ok(fsync(self)?))
    }

    /// Makes a file and its name durable; a missing file, or one that is not regular, is skipped.
    pub fn sync_file(&self, name: &str) -> io::Result<()> {
        match self.open_name(name, READ, 0) {
            Ok(handle) => faults::sync(|| Ok(fsync(&handle)?))?,
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => {}
            Err(error) => return Err(error.into()),
        }
        self.sync()
    }
}

/// Returns whether an error means that a file system does not support such a rename.
pub(crate) const fn is_unable(error: Errno) -> bool {
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::is_not_plain;

    /// `root` with a file, a folder, links that stay inside and links that lead out.
    fn place() -> (tempfile::TempDir, Folder) {
        let kept = tempfile::tempdir().unwrap();
        let root = kept.path().join("root");
        for name in ["a/b/c.md", "../outside/secret.md"] {
            let path = root.join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, name).unwrap();
        }
        for (target, link) in
            [("a", "inside"), ("../outside", "out"), ("c.md", "a/b/link.md"), ("/", "top")]
        {
            symlink(target, root.join(link)).unwrap();
        }
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(CWD, root.join("pipe"), mode).unwrap();
        let folder = Folder::open(&root).unwrap();
        (kept, folder)
    }

    #[test]
    fn nothing_is_reached_through_a_link() {
        let (_kept, folder) = place();
        assert!(folder.file_at(b"a/b/c.md").is_ok());
        for path in
            ["inside/b/c.md", "out/secret.md", "a/b/link.md", "top/etc/passwd", "pipe", "a", "a/b"]
        {
            assert!(is_not_plain(&folder.file_at(path.as_bytes()).unwrap_err()), "{path}");
        }
        assert!(folder.folder("inside").is_err() && folder.folder("a").is_ok());
        for path in
            ["../outside/secret.md", "a/../../outside/secret.md", "a/./b/c.md", "/etc/hosts"]
        {
            assert!(folder.file_at(path.as_bytes()).is_err(), "{path}");
            assert!(folder.stat(path).is_err() && folder.file(path).is_err(), "{path}");
            assert!(folder.remove(path).is_err() && folder.create(path, b"", None).is_err());
        }
        assert!(folder.folder("..").is_err() && folder.make_folder("../new").is_err());
        assert_eq!(folder.read("missing", 10).unwrap().map(|file| file.bytes), None);
        let inner = folder.folder("a").unwrap().folder("b").unwrap();
        let error = inner.read("c.md", 3).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn links_are_followed_beneath_a_folder_and_not_out_of_it() {
        let (_kept, folder) = place();
        let beneath = folder.folder_beneath(Path::new("inside/b")).unwrap();
        assert_eq!(beneath.names_with("").unwrap(), ["c.md", "link.md"]);
        assert!(folder.file_beneath(Path::new("inside/b/c.md")).is_ok());
        for path in ["out/secret.md", "../outside/secret.md", "a/b/link.md", "top/etc", "pipe"] {
            assert!(folder.file_beneath(Path::new(path)).is_err(), "{path}");
        }
        for path in ["out", "..", "top", "/"] {
            assert!(folder.folder_beneath(Path::new(path)).is_err(), "{path}");
        }
    }
}
