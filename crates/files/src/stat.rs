//! File metadata, and stamps that show cheaply whether a file changed.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};

/// Files of one folder that count for a stamp, at most.
const MAX_FILES: usize = 1_000_000;

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Symlink,
    /// A socket, a pipe or a device.
    Special,
}

/// A time of a file system, since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileTime {
    /// Whole seconds; negative before 1970.
    pub seconds: i64,
    /// The rest, which always counts forward.
    pub nanoseconds: i64,
}

/// The metadata of a file, folder or link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStat {
    /// What it is.
    pub kind: FileKind,
    /// Bytes.
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
    /// When the content changed.
    pub modified: FileTime,
    /// When anything about it changed.
    pub changed: FileTime,
    /// The number of the file on its device.
    pub inode: u64,
    /// The device it is on.
    pub device: u64,
    /// User and group.
    pub owner: (u32, u32),
}

/// Shows cheaply whether a file changed. Content can only change without changing any of the four
/// within the clock's granularity of the last check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    /// Which file it is.
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// When the content changed, in nanoseconds since 1970 by the clock of the file system.
    pub modified_ns: i64,
    /// When anything about it changed, in nanoseconds since 1970.
    pub changed_ns: i64,
}

impl From<FileType> for FileKind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Symlink,
            _ => Self::Special,
        }
    }
}

impl FileTime {
    /// Returns nanoseconds since 1970; a time out of range becomes the nearest one in range.
    #[must_use]
    pub const fn as_nanoseconds(self) -> i64 {
        self.seconds.saturating_mul(1_000_000_000).saturating_add(self.nanoseconds)
    }
}

impl From<&Stat> for FileStat {
    fn from(stat: &Stat) -> Self {
        let time = |seconds, nanoseconds: u64| FileTime {
            seconds,
            nanoseconds: nanoseconds.try_into().unwrap_or_default(),
        };
        Self {
            kind: FileType::from_raw_mode(stat.st_mode).into(),
            size: stat.st_size.try_into().unwrap_or_default(),
            mode: stat.st_mode & 0o7777,
            modified: time(stat.st_mtime, stat.st_mtime_nsec),
            changed: time(stat.st_ctime, stat.st_ctime_nsec),
            inode: stat.st_ino,
            device: stat.st_dev,
            owner: (stat.st_uid, stat.st_gid),
        }
    }
}

impl FileStat {
    /// Stats an open file.
    pub fn of(file: impl AsFd) -> io::Result<Self> {
        Ok(Self::from(&rustix::fs::fstat(file)?))
    }

    /// Stats a path, without following a link at its end.
    pub fn of_path(path: &Path) -> io::Result<Self> {
        Ok(Self::from(&rustix::fs::lstat(path)?))
    }

    /// Whether it is a regular file.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.kind == FileKind::File
    }

    /// Whether both are of the same file, under any names.
    #[must_use]
    pub fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    /// Returns the stamp that shows later whether it changed.
    #[must_use]
    pub const fn stamp(&self) -> FileStamp {
        FileStamp {
            inode: self.inode,
            size: self.size,
            modified_ns: self.modified.as_nanoseconds(),
            changed_ns: self.changed.as_nanoseconds(),
        }
    }
}

impl FileStamp {
    /// Stats what a path leads to; `None` if nothing exists there.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        rustix::fs::stat(path).ok().map(|stat| FileStat::from(&stat).stamp())
    }

    /// Stats several files and the files of folders, as if they were one; `None` if none exists.
    #[must_use]
    pub fn of_all(files: &[PathBuf], folders: &[PathBuf]) -> Option<Self> {
        let mut found: Vec<(PathBuf, Self)> = Vec::new();
        for path in files {
            found.extend(Self::of_path(path).map(|stamp| (path.clone(), stamp)));
        }
        for folder in folders {
            let Ok(entries) = fs_err::read_dir(folder) else { continue };
            for path in entries.flatten().take(MAX_FILES).map(|entry| entry.path()) {
                let stat = FileStat::of_path(&path).ok().filter(FileStat::is_file);
                found.extend(stat.map(|stat| (path, stat.stamp())));
            }
        }
        // The order in which a folder lists its files means nothing.
        found.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let mut all = Self::default();
        let mut digest = DefaultHasher::new();
        for (path, stamp) in &found {
            all.size = all.size.saturating_add(stamp.size);
            all.modified_ns = all.modified_ns.max(stamp.modified_ns);
            all.changed_ns = all.changed_ns.max(stamp.changed_ns);
            (path, stamp.size, stamp.modified_ns, stamp.changed_ns, stamp.inode).hash(&mut digest);
        }
        all.inode = digest.finish();
        (!found.is_empty()).then_some(all)
    }

    /// Whether both are of the same file, and not of two that had the name one after the other.
    #[must_use]
    pub const fn is_same_file(self, other: Self) -> bool {
        self.inode == other.inode
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_beyond_the_clock_do_not_overflow() {
        let nanoseconds = |seconds, nanoseconds| FileTime { seconds, nanoseconds }.as_nanoseconds();
        assert_eq!(nanoseconds(1, 5), 1_000_000_005);
        assert_eq!(nanoseconds(-1, 5), -999_999_995);
        assert_eq!(nanoseconds(i64::MAX, 999_999_999), i64::MAX);
        assert_eq!(nanoseconds(i64::MIN, 0), i64::MIN);
    }

    #[test]
    fn several_files_change_when_any_of_them_does() {
        let folder = tempfile::tempdir().unwrap();
        let (one, log) = (folder.path().join("a.db"), folder.path().join("a.db-wal"));
        let below = folder.path().join("sessions");
        let look = || FileStamp::of_all(&[one.clone(), log.clone()], std::slice::from_ref(&below));
        assert_eq!(look(), None);
        fs_err::write(&one, "12345").unwrap();
        let first = look().unwrap();
        assert_eq!(first.size, 5);
        assert_eq!(look(), Some(first));
        fs_err::write(&log, "123").unwrap();
        let second = look().unwrap();
        assert_eq!(second.size, 8);
        fs_err::create_dir(&below).unwrap();
        assert_eq!(look(), Some(second));
        fs_err::write(below.join("x.jsonl"), "").unwrap();
        let third = look().unwrap();
        assert_ne!(third, second);
        fs_err::rename(below.join("x.jsonl"), below.join("y.jsonl")).unwrap();
        assert_ne!(look(), Some(third));
    }
}
