//! The files of a workspace that contain a memory, with one writer at a time.
//!
//! The lock is held on the workspace's folder itself, so that every program that writes through
//! this crate waits for the others, under any user, and the workspace needs no lock file. Editors
//! do not take the lock: their saves in the meantime are detected, see [`crate::change`].

use std::cell::Cell;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anemone_files::{FileStamp, Folder, if_found, is_not_plain};
use anemone_index::{DocumentSource as _, FolderSource, MarkdownFolder};
use jiff::civil::Date;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::acknowledged::RestoredText;
use crate::change::digest;
use crate::forgetting::FinishedForget;
use crate::journal::JournalError;
use crate::layout::MarkdownLayout;
use crate::reading::{self, UnreadPage, UnreadReason};
use crate::rest::RestTimes;

/// Bytes of a file, at most.
pub(crate) const MAX_FILE_BYTES: u64 = 64 << 20;

/// Pause between two attempts to take the lock.
const PAUSE: Duration = Duration::from_millis(10);

/// The kind of a memory file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// The curated file: `MEMORY.md`.
    Curated,
    /// The log of a day: `memory/2026-11-16.md`.
    Daily(Date),
    /// A note of a day with a name: `memory/2026-11-16-api-design.md`.
    Session(Date),
    /// Any other file below `memory/`, or in another folder.
    Note,
    /// An archived file, below `memory/archive/`.
    Archived,
}

/// Which Markdown files of a folder are a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageScope {
    /// `MEMORY.md` and the files below `memory/`.
    Memories,
    /// All of them, as in a folder of notes that is no agent's workspace.
    Everything,
}

/// The files of one memory.
#[derive(Clone, Debug)]
pub struct MarkdownStore {
    root: PathBuf,
    state: PathBuf,
    layout: MarkdownLayout,
    scope: PageScope,
    pub(crate) rest_times: RestTimes,
}

/// Why the files of a memory cannot be reached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MarkdownStoreError {
    /// The file system.
    #[error("cannot access {path}")]
    Io {
        /// The path that was to be read or written.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It is a link, a folder or the like where a file should be.
    #[error("{0} is not a plain file in the workspace")]
    NotPlain(PathBuf),
    /// The path is not in the workspace.
    #[error("{0:?} is not a path in a workspace")]
    Outside(String),
    /// The file is larger than any memory.
    #[error("{0} is too large")]
    TooLarge(PathBuf),
    /// Another program keeps writing.
    #[error("another program is writing to {0}")]
    Busy(PathBuf),
    /// A change that was cut off cannot be ended.
    #[error("the last change was interrupted and cannot be completed")]
    Journal(#[from] JournalError),
    /// An editor is in the middle of saving it, and does not end.
    #[error("another program is saving {0}")]
    Saving(PathBuf),
    /// Its text is no text.
    #[error("{0} is not UTF-8")]
    NotText(PathBuf),
}

/// A file with the content that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSnapshot {
    /// The path in the workspace.
    pub path: String,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Their SHA-256.
    pub sha256: [u8; 32],
}

impl MarkdownStore {
    /// Takes a workspace, and a folder outside it for its state.
    pub fn open(
        root: &Path,
        state: &Path,
        layout: MarkdownLayout,
    ) -> Result<Self, MarkdownStoreError> {
        let real = fs_err::canonicalize(root);
        let root =
            real.map_err(|source| MarkdownStoreError::Io { path: root.to_owned(), source })?;
        let rest_times = RestTimes::default();
        let scope = PageScope::Memories;
        Ok(Self { root, state: state.to_owned(), layout, scope, rest_times })
    }

    /// Takes these files for the memory.
    #[must_use]
    pub fn with_scope(self, scope: PageScope) -> Self {
        Self { scope, ..self }
    }

    /// Returns the workspace.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of its state.
    #[must_use]
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// Returns how entries are laid out.
    #[must_use]
    pub const fn layout(&self) -> MarkdownLayout {
        self.layout
    }

    /// Returns the path of the curated file, under the name that the existing file has.
    #[must_use]
    pub fn curated(&self) -> &'static str {
        let small = !self.root.join("MEMORY.md").exists() && self.root.join("memory.md").exists();
        if small { "memory.md" } else { "MEMORY.md" }
    }

    /// Returns the path of a day's log.
    #[must_use]
    pub fn daily(&self, day: Date) -> String {
        format!("memory/{day}.md")
    }

    /// Returns the beginning of a new file.
    #[must_use]
    pub fn head(&self, kind: PageKind) -> String {
        match kind {
            PageKind::Curated => self.layout.curated_head.to_owned(),
            PageKind::Daily(day) => format!("{}{day}\n\n", self.layout.daily_title),
            PageKind::Session(_) | PageKind::Note | PageKind::Archived => String::new(),
        }
    }

    /// Waits until no other process writes, and keeps others from writing.
    ///
    /// A change that was cut off is ended or taken back first, and entries that an editor dropped
    /// without knowing of them are put back; see [`LockedStore::restored`].
    pub fn lock(&self) -> Result<LockedStore<'_>, MarkdownStoreError> {
        let fail = |source| MarkdownStoreError::Io { path: self.root.clone(), source };
        let folder = fs_err::File::open(&self.root).map_err(fail)?;
        flock(folder.file(), FlockOperation::LockExclusive).map_err(|error| fail(error.into()))?;
        self.held(folder)
    }

    /// As [`lock`](Self::lock), but waits only about so long; [`MarkdownStoreError::Busy`] after
    /// that.
    pub fn lock_within(&self, patience: Duration) -> Result<LockedStore<'_>, MarkdownStoreError> {
        let fail = |source| MarkdownStoreError::Io { path: self.root.clone(), source };
        let folder = fs_err::File::open(&self.root).map_err(fail)?;
        let mut waited = Duration::ZERO;
        loop {
            match flock(folder.file(), FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return self.held(folder),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) if waited < patience => {
                    std::thread::sleep(PAUSE);
                    waited += PAUSE;
                }
                Err(Errno::WOULDBLOCK) => {
                    return Err(MarkdownStoreError::Busy(self.root.clone()));
                }
                Err(error) => return Err(fail(error.into())),
            }
        }
    }

    /// Completes or reverts a change that was cut off; does nothing if there is no such change.
    ///
    /// Every command that writes begins with this call: its plan, and whether there is anything to
    /// do at all, depends on files that such a change may have left half changed.
    pub fn recover(&self) -> Result<(), MarkdownStoreError> {
        if self.unfinished()? > 0 {
            drop(self.lock()?);
        }
        Ok(())
    }

    fn held(&self, folder: fs_err::File) -> Result<LockedStore<'_>, MarkdownStoreError> {
        let mut held = LockedStore {
            site: self,
            restored: Vec::new(),
            finished: Vec::new(),
            waited: Cell::default(),
            _folder: folder,
        };
        held.sweep_state()?;
        held.recover()?;
        // Before anything is put back, so that forgotten entries are not.
        held.finished = held.finish_forgets()?;
        held.restored = held.restore()?;
        Ok(held)
    }

    /// Reads a file; `None` if it does not exist. A link is not followed.
    pub fn read(&self, path: &str) -> Result<Option<FileSnapshot>, MarkdownStoreError> {
        Ok(self.read_looked(path)?.map(|looked| looked.0))
    }

    /// Reads a file, and says how it looked before it was read.
    pub(crate) fn read_looked(
        &self,
        path: &str,
    ) -> Result<Option<(FileSnapshot, FileStamp)>, MarkdownStoreError> {
        let Some((folder, name)) = self.find(path)? else { return Ok(None) };
        let read = folder.read(name, MAX_FILE_BYTES).map_err(|error| self.fail(path, error))?;
        Ok(read.map(|read| {
            let sha256 = digest(&read.bytes);
            (FileSnapshot { path: path.to_owned(), bytes: read.bytes, sha256 }, read.stamp)
        }))
    }

    /// Reads the bytes of a file without computing its digest.
    pub(crate) fn read_bytes(&self, path: &str) -> Result<Option<Vec<u8>>, MarkdownStoreError> {
        let Some((folder, name)) = self.find(path)? else { return Ok(None) };
        let read = folder.read(name, MAX_FILE_BYTES).map_err(|error| self.fail(path, error))?;
        Ok(read.map(|read| read.bytes))
    }

    /// Opens the folder of a file, and returns the file's name in it; `None` when there is no such
    /// folder.
    pub(crate) fn find<'p>(
        &self,
        path: &'p str,
    ) -> Result<Option<(Folder, &'p str)>, MarkdownStoreError> {
        let (folders, name) = parts(path)?;
        let fail = |error| self.fail(path, error);
        let mut folder = Folder::open(&self.root).map_err(fail)?;
        for one in folders {
            let below = if_found(folder.folder(one)).map_err(fail)?;
            let Some(below) = below else { return Ok(None) };
            folder = below;
        }
        Ok(Some((folder, name)))
    }

    /// As [`find`](Self::find), and makes folders that are not there.
    pub(crate) fn find_or_make<'p>(
        &self,
        path: &'p str,
    ) -> Result<(Folder, &'p str), MarkdownStoreError> {
        let (folders, name) = parts(path)?;
        let fail = |error| self.fail(path, error);
        let mut folder = Folder::open(&self.root).map_err(fail)?;
        for one in folders {
            folder = folder.make_folder(one).map_err(fail)?;
        }
        Ok((folder, name))
    }

    /// Says what went wrong with a file.
    pub(crate) fn fail(&self, path: &str, source: io::Error) -> MarkdownStoreError {
        let path = self.root.join(path);
        match source.kind() {
            io::ErrorKind::FileTooLarge => MarkdownStoreError::TooLarge(path),
            _ if is_not_plain(&source) => MarkdownStoreError::NotPlain(path),
            _ => MarkdownStoreError::Io { path, source },
        }
    }

    /// Lists the files of the memory, sorted, each with its kind. A folder that cannot be listed is
    /// an error; links and files that are not Markdown are skipped.
    pub fn pages(&self) -> Result<Vec<(String, PageKind)>, MarkdownStoreError> {
        let (mut found, unread) = reading::list(self);
        for UnreadPage { path, why } in unread {
            match why {
                // A file in the place of the folder holds no pages.
                UnreadReason::Refused(io::ErrorKind::NotADirectory) => {}
                UnreadReason::Refused(kind) => return Err(self.fail(&path, kind.into())),
                _ => {}
            }
        }
        let is_plain = |path: &str| {
            fs_err::symlink_metadata(self.root.join(path)).is_ok_and(|stat| stat.is_file())
        };
        found.retain(|(path, _)| path != self.curated() || is_plain(path));
        Ok(found)
    }

    /// Adds the files of a folder of notes that a search finds there as well. Folders that cannot
    /// be listed are skipped, as in a search.
    pub(crate) fn add_other_pages(&self, found: &mut Vec<(String, PageKind)>) {
        if self.scope == PageScope::Memories {
            return;
        }
        let rules = Box::new(MarkdownFolder::default());
        let source = FolderSource::new(self.root.clone(), String::new(), rules);
        let listed = source.list().map(|listing| listing.entries).unwrap_or_default();
        let known: HashSet<String> = found.iter().map(|found| found.0.clone()).collect();
        let others = listed.into_iter().map(|entry| entry.key);
        let others = others.filter(|path| !known.contains(path) && !path.starts_with("memory/"));
        found.extend(others.map(|path| (path, PageKind::Note)));
    }
}

impl FileSnapshot {
    /// Returns the text.
    pub fn text(&self) -> Result<&str, MarkdownStoreError> {
        let text = std::str::from_utf8(&self.bytes);
        text.map_err(|_| MarkdownStoreError::NotText(PathBuf::from(&self.path)))
    }
}

impl PageKind {
    /// Returns the kind of a file by its path.
    #[must_use]
    pub fn of(path: &str) -> Self {
        let Some(below) = path.strip_prefix("memory/") else {
            return if path.contains('/') { Self::Note } else { Self::Curated };
        };
        if below.starts_with("archive/") {
            return Self::Archived;
        }
        let stem = below.strip_suffix(".md").unwrap_or(below);
        let day = stem.get(..10).and_then(|stem| stem.parse::<Date>().ok());
        match (day, stem.get(10..).unwrap_or_default()) {
            (Some(day), "") => Self::Daily(day),
            (Some(day), rest) if rest.starts_with(['-', '_']) => Self::Session(day),
            _ => Self::Note,
        }
    }
}

/// A memory that is locked for writing.
#[derive(Debug)]
pub struct LockedStore<'a> {
    site: &'a MarkdownStore,
    restored: Vec<RestoredText>,
    finished: Vec<FinishedForget>,
    /// How long it was waited until editors had saved.
    pub(crate) waited: Cell<Duration>,
    _folder: fs_err::File,
}

impl<'a> LockedStore<'a> {
    /// Returns whose it is.
    #[must_use]
    pub const fn site(&self) -> &'a MarkdownStore {
        self.site
    }
    /// Returns what an editor had dropped and was put back when the lock was taken.
    #[must_use]
    pub fn restored(&self) -> &[RestoredText] {
        &self.restored
    }

    /// Takes the interrupted forgets that were finished when the lock was taken. The caller reports
    /// them, and ends each.
    #[must_use]
    pub fn take_finished_forgets(&mut self) -> Vec<FinishedForget> {
        std::mem::take(&mut self.finished)
    }
}

impl Drop for LockedStore<'_> {
    fn drop(&mut self) {
        // The caller did not ask for them, so there is no report to wait for.
        self.finished.drain(..).for_each(FinishedForget::end);
    }
}

/// Splits a path, which may only consist of plain names below the workspace.
fn parts(path: &str) -> Result<(Vec<&str>, &str), MarkdownStoreError> {
    let mut names: Vec<&str> = path.split('/').collect();
    let is_plain = |name: &&str| {
        !["", ".", ".."].contains(name) && !name.contains(['\\', '\0']) && name.len() <= 255
    };
    match names.pop().filter(|name| is_plain(name) && names.iter().all(is_plain)) {
        Some(name) => Ok((names, name)),
        None => Err(MarkdownStoreError::Outside(path.chars().take(256).collect())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> (tempfile::TempDir, MarkdownStore) {
        let kept = tempfile::tempdir().unwrap();
        fs_err::create_dir(kept.path().join("w")).unwrap();
        let site = MarkdownStore::open(
            &kept.path().join("w"),
            &kept.path().join("s"),
            MarkdownLayout::PLAIN,
        );
        (kept, site.unwrap())
    }

    #[test]
    fn only_plain_paths_lie_in_a_workspace() {
        for path in ["", "/etc/passwd", "../x", "a/../b", "./a", "a//b", "a/", "a\0b", "a\\b"] {
            assert!(parts(path).is_err(), "{path:?}");
        }
        assert_eq!(parts("memory/a.md").unwrap(), (vec!["memory"], "a.md"));
    }

    #[test]
    fn who_cannot_wait_is_told_that_somebody_writes() {
        let (_kept, site) = site();
        let held = site.lock().unwrap();
        let busy = site.lock_within(2 * PAUSE);
        assert!(matches!(busy, Err(MarkdownStoreError::Busy(_))), "{busy:?}");
        drop(held);
        site.lock_within(Duration::ZERO).unwrap();
    }

    #[test]
    fn links_are_not_followed() {
        let (kept, site) = site();
        let outside = kept.path().join("outside");
        fs_err::create_dir(&outside).unwrap();
        fs_err::write(outside.join("a.md"), "- x\n").unwrap();
        std::os::unix::fs::symlink(&outside, site.root().join("memory")).unwrap();
        std::os::unix::fs::symlink(outside.join("a.md"), site.root().join("MEMORY.md")).unwrap();
        assert_eq!(site.pages().unwrap(), []);
        for path in ["memory/a.md", "MEMORY.md"] {
            assert!(matches!(site.read(path), Err(MarkdownStoreError::NotPlain(_))), "{path}");
        }
        assert!(matches!(site.find_or_make("memory/b.md"), Err(MarkdownStoreError::NotPlain(_))));
    }

    #[test]
    fn what_is_no_file_is_no_page() {
        let (_kept, site) = site();
        fs_err::create_dir_all(site.root().join("memory/a.md")).unwrap();
        assert!(matches!(site.read("memory/a.md"), Err(MarkdownStoreError::NotPlain(_))));
        assert!(site.read("memory/b.md").unwrap().is_none());
        assert!(site.read("other/b.md").unwrap().is_none());
    }
}
