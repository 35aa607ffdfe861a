//! Counts the files of a workspace that belong to the agent, exported or not: all regular files
//! except the note of the agent's id and the files of tools and machines.

use anemone_files::FileKind;

use crate::kit::paths::lossy;
use crate::kit::searchable::SearchedFolder;
use crate::kit::walk::AGENT_ID_FILE;

/// How deep folders are searched for files that count.
pub const MAX_COUNTED_DEPTH: usize = 64;
/// Files and folders that are looked at to count, at most.
pub const MAX_COUNTED_ENTRIES: u64 = 200_000;

/// How many files of a workspace count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCount {
    /// The files.
    pub files: u64,
    /// Whether there are more than were looked at.
    pub is_partial: bool,
}

/// Counts the files that a walk comes by.
pub(crate) struct FileCounter<'a> {
    kind_of: &'a dyn Fn(&str) -> SearchedFolder,
    /// The folder whose content came last, and whether files in it count.
    last: (Vec<u8>, bool),
    seen: u64,
    count: FileCount,
}

impl<'a> FileCounter<'a> {
    /// Counts in the workspace of a runtime that says what a folder is.
    pub(crate) fn new(kind_of: &'a dyn Fn(&str) -> SearchedFolder) -> Self {
        Self { kind_of, last: (Vec::new(), true), seen: 0, count: FileCount::default() }
    }

    /// Counts one path in the workspace.
    pub(crate) fn see(&mut self, path: &[u8], kind: FileKind) {
        let slash = path.iter().rposition(|byte| *byte == b'/');
        if !self.counts_in(&path[..slash.unwrap_or(0)]) {
            return;
        }
        if self.seen == MAX_COUNTED_ENTRIES {
            self.count.is_partial = true;
            return;
        }
        self.seen += 1;
        let name = &path[slash.map_or(0, |slash| slash + 1)..];
        self.count.files += u64::from(kind == FileKind::File && name != AGENT_ID_FILE.as_bytes());
    }

    /// Returns what was counted.
    pub(crate) fn finish(self) -> FileCount {
        self.count
    }

    /// Whether files in a folder count.
    fn counts_in(&mut self, folder: &[u8]) -> bool {
        if self.last.0 != folder {
            let slashes = folder.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            let mut above = slashes.map(|(at, _)| at).chain([folder.len()]);
            let depth = above.clone().count();
            let counts = depth <= MAX_COUNTED_DEPTH
                && above.all(|end| (self.kind_of)(&lossy(&folder[..end])).is_counted());
            self.last = (folder.to_vec(), folder.is_empty() || counts);
        }
        self.last.1
    }
}
