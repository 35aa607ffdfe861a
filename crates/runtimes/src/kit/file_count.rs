//! Counts the files of a workspace that belong to the agent, exported or not: all regular files
//! except the note of the agent's id and the files of tools and machines.
//!
//! Every walk counts with it, so that an export and a look at the agent come to the same numbers.

use anemone_files::{FileKind, FileStat, FileTime};
use jiff::Timestamp;

use crate::kit::{AGENT_ID_FILE, SearchedFolder, lossy};

/// How deep folders are searched for files that count.
const MAX_DEPTH: usize = 64;
/// Files and folders that are looked at to count, at most.
const MAX_ENTRIES: u64 = 200_000;

/// How many files of a workspace count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCount {
    /// The files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When the newest of them was written.
    pub newest: Option<Timestamp>,
    /// Whether there are more than were looked at.
    pub is_partial: bool,
    /// Whether some are deeper than was searched.
    pub is_too_deep: bool,
}

/// Counts the files that a walk visits.
pub struct FileCounter<'a> {
    kind_of: &'a dyn Fn(&str) -> SearchedFolder,
    /// The last visited folder, and whether files in it count.
    last: (Vec<u8>, bool),
    seen: u64,
    count: FileCount,
}

impl<'a> FileCounter<'a> {
    /// Counts in the workspace of a runtime that says what a folder is.
    #[must_use]
    pub fn new(kind_of: &'a dyn Fn(&str) -> SearchedFolder) -> Self {
        Self { kind_of, last: (Vec::new(), true), seen: 0, count: FileCount::default() }
    }

    /// Takes one path in the workspace. Returns whether it is a file that counts, or a folder in
    /// which files do.
    pub fn see(&mut self, path: &[u8], stat: &FileStat) -> bool {
        if !self.counts_in(parent(path)) {
            return false;
        }
        if self.seen == MAX_ENTRIES {
            self.count.is_partial = true;
            return false;
        }
        self.seen += 1;
        match stat.kind {
            FileKind::Folder if (self.kind_of)(&lossy(path)).is_counted() => {
                let is_too_deep = depth(path) > MAX_DEPTH;
                self.count.is_too_deep |= is_too_deep;
                !is_too_deep
            }
            FileKind::File if is_counted_name(path) => {
                self.count.files += 1;
                self.count.bytes = self.count.bytes.saturating_add(stat.size);
                self.count.newest = self.count.newest.max(timestamp(stat.modified));
                true
            }
            FileKind::Folder | FileKind::File | FileKind::Symlink | FileKind::Special => false,
        }
    }

    /// Whether a regular file counts, by its path in the workspace.
    pub(crate) fn takes(&mut self, path: &[u8]) -> bool {
        self.counts_in(parent(path)) && is_counted_name(path)
    }

    /// Returns what was counted so far.
    #[must_use]
    pub const fn count(&self) -> FileCount {
        self.count
    }

    /// Whether files in a folder count.
    fn counts_in(&mut self, folder: &[u8]) -> bool {
        if self.last.0 != folder {
            let slashes = folder.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            let mut above = slashes.map(|(at, _)| at).chain([folder.len()]);
            let counts = depth(folder) <= MAX_DEPTH
                && above.all(|end| (self.kind_of)(&lossy(&folder[..end])).is_counted());
            self.last = (folder.to_vec(), folder.is_empty() || counts);
        }
        self.last.1
    }
}

/// Returns a time of a file system; `None` for one that no calendar has.
#[must_use]
pub fn timestamp(time: FileTime) -> Option<Timestamp> {
    Timestamp::new(time.seconds, i32::try_from(time.nanoseconds).ok()?).ok()
}

fn is_counted_name(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next();
    name != Some(AGENT_ID_FILE.as_bytes())
}

fn parent(path: &[u8]) -> &[u8] {
    let slash = path.iter().rposition(|byte| *byte == b'/');
    &path[..slash.unwrap_or(0)]
}

/// Counts the names in a path.
fn depth(path: &[u8]) -> usize {
    path.split(|byte| *byte == b'/').count()
}
