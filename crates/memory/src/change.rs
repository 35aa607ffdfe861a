//! A change of a memory as a value: planned, shown, then applied.
//!
//! Applying a change first writes the former content into the journal. A file is replaced by a new
//! one that gets its name once it is complete, see [`crate::replacing`]; a log is only ever
//! appended to, with one write, and checked afterwards, see [`crate::acknowledged`]. Either all
//! edits of a change are made or none: a change that was cut off is completed or reverted by the
//! next holder of the lock, see [`crate::recovery`].

use std::collections::HashSet;
use std::path::PathBuf;

use anemone_files::{AppendOutcome, FileStamp, SwapOutcome};
use anemone_format::ProvenanceStamp;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::acknowledged::{Acknowledged, RestoredText};
use crate::entries::decoded;
use crate::journal::{ChangeId, JournalError};
use crate::page::{closing, line_break_of};
use crate::recovery::Cause;
use crate::replacing::{Beside, put, take};
use crate::rest::Rest;
use crate::store::{
    FileSnapshot, LockedStore, MAX_FILE_BYTES, MarkdownStore, MarkdownStoreError, PageKind,
};

/// A set of edits of a memory that are applied as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The requested operation: `remember`, `forget`, `tidy`, `undo`, ...
    pub what: String,
    /// The edits, at most one for each file.
    pub edits: Vec<Edit>,
    /// The stamps of the entries that it brings, where the files do not say everything.
    pub stamps: Vec<ProvenanceStamp>,
}

/// An edit of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Adds to the end of a file.
    Append {
        /// The file.
        path: String,
        /// The beginning of a new file.
        head: String,
        /// The added text; ends with a line ending.
        text: String,
    },
    /// Replaces a file, or makes it.
    Write {
        /// The file.
        path: String,
        /// The SHA-256 of the former content; `None`: the file did not exist.
        before: Option<[u8; 32]>,
        /// The new content.
        after: Vec<u8>,
    },
    /// Takes a file away.
    Remove {
        /// The file.
        path: String,
        /// The SHA-256 of the former content.
        before: [u8; 32],
    },
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// By which it can be undone.
    pub id: ChangeId,
    /// What an editor had dropped and was put back meanwhile.
    pub restored: Vec<RestoredText>,
    /// How many old changes can no longer be undone, since this one takes their room.
    pub dropped: usize,
}

/// Why a change was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// A file is named twice.
    #[error("a change names {0} twice")]
    Twice(String),
    /// Another program saved the file after it was read.
    #[error("{path} was changed by another program in the meantime")]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be reached.
    #[error(transparent)]
    Store(#[from] MarkdownStoreError),
    /// The former content cannot be saved to the journal, so nothing was changed.
    #[error("the current content cannot be saved for undo")]
    Journal(#[from] JournalError),
}

impl Change {
    /// Makes a change that brings no new entries.
    #[must_use]
    pub fn new(what: &str, edits: Vec<Edit>) -> Self {
        Self { what: what.to_owned(), edits, stamps: Vec::new() }
    }
}

impl Edit {
    /// Replaces a file that was read.
    #[must_use]
    pub fn replace(seen: &FileSnapshot, after: Vec<u8>) -> Self {
        Self::Write { path: seen.path.clone(), before: Some(seen.sha256), after }
    }

    /// Returns the file.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Append { path, .. } | Self::Write { path, .. } | Self::Remove { path, .. } => {
                path
            }
        }
    }
}

impl MarkdownStore {
    /// Adds an entry to the end of a file, so that the next reader sees it as one.
    #[must_use]
    pub fn appended(
        &self,
        path: &str,
        there: Option<&FileSnapshot>,
        kind: PageKind,
        entry: &str,
    ) -> Edit {
        let text = self.added_to(there, entry);
        Edit::Append { path: path.to_owned(), head: self.head(kind), text }
    }

    /// Returns an entry with the separator that the existing content needs before it, and with the
    /// line endings of that content.
    pub(crate) fn added_to(&self, there: Option<&FileSnapshot>, entry: &str) -> String {
        let Some(there) = there.filter(|value| !value.bytes.is_empty()) else {
            return entry.to_owned();
        };
        let mut text = decoded(&there.bytes).and_then(|text| closing(&text)).unwrap_or_default();
        if self.layout().spaces_entries {
            text.push('\n');
        }
        text.push_str(entry);
        text.replace('\n', line_break_of(&there.bytes))
    }
}

impl LockedStore<'_> {
    /// Applies a change, completely or not at all.
    pub fn apply(&self, change: &Change, id: Uuid, now: Timestamp) -> Result<Applied, ApplyError> {
        self.apply_as(change, None, id, now)
    }

    /// Like [`apply`](Self::apply), but records which change this one reverts.
    pub(crate) fn apply_as(
        &self,
        change: &Change,
        undoes: Option<ChangeId>,
        id: Uuid,
        now: Timestamp,
    ) -> Result<Applied, ApplyError> {
        let mut paths = HashSet::new();
        let mut acknowledged = self.acknowledged()?;
        let (mut seen, mut looks) = (Vec::new(), Vec::new());
        for edit in &change.edits {
            if !paths.insert(edit.path()) {
                return Err(ApplyError::Twice(edit.path().to_owned()));
            }
            let known = acknowledged.known(edit.path());
            let Rest::Resting(there) = self.read_at_rest(edit.path(), Some(known))? else {
                return Err(edit.changed(self.site()));
            };
            let (there, look) = there.unzip();
            edit.check(there.as_ref(), self.site())?;
            seen.push(there);
            looks.push(look);
        }
        self.note_stamps(&change.stamps)?;
        self.note_own_stamps(change, &seen)?;
        let begun = self.begin(change, &seen, undoes, id, now)?;
        match self.make_all(change, &seen, &looks, &mut acknowledged, id) {
            Ok(restored) => {
                let (id, dropped) = self.commit(&begun)?;
                Ok(Applied { id, restored, dropped })
            }
            Err(error) => {
                let cause = match error {
                    ApplyError::Changed { .. } => Cause::Refused,
                    _ => Cause::CutOff,
                };
                self.take_back(&begun, cause)?;
                Err(error)
            }
        }
    }

    /// Makes every edit, verifies that it stays, and returns the entries that were put back in the
    /// process.
    fn make_all(
        &self,
        change: &Change,
        seen: &[Option<FileSnapshot>],
        looks: &[Option<FileStamp>],
        acknowledged: &mut Acknowledged,
        id: Uuid,
    ) -> Result<Vec<RestoredText>, ApplyError> {
        let mut restored = self.restored().to_vec();
        for (at, (edit, (there, look))) in
            change.edits.iter().zip(seen.iter().zip(looks)).enumerate()
        {
            let beside = Beside::new(id, at);
            edit.make(there.as_ref(), *look, self, &beside, acknowledged)?;
        }
        for edit in &change.edits {
            let again = self.settle(acknowledged, edit.path())?;
            // Entries that were not in the file yet do not count as put back.
            restored.extend(again.into_iter().filter(|again| !edit.brings(&again.text)));
        }
        self.keep_acknowledged(acknowledged)?;
        Ok(restored)
    }
}

impl Edit {
    fn check(&self, there: Option<&FileSnapshot>, site: &MarkdownStore) -> Result<(), ApplyError> {
        let expected = match self {
            Self::Append { .. } => return Ok(()),
            Self::Write { before, .. } => *before,
            Self::Remove { before, .. } => Some(*before),
        };
        if there.map(|value| value.sha256) == expected {
            return Ok(());
        }
        Err(self.changed(site))
    }

    fn changed(&self, site: &MarkdownStore) -> ApplyError {
        ApplyError::Changed { path: site.root().join(self.path()) }
    }

    fn brings(&self, entry: &str) -> bool {
        match self {
            Self::Append { text, .. } => text.contains(entry),
            Self::Write { after, .. } => String::from_utf8_lossy(after).contains(entry),
            Self::Remove { .. } => false,
        }
    }

    /// Returns the text between the existing content and the added text: the head of a new file, or
    /// the missing line ending.
    pub(crate) fn glue<'a>(there: Option<&FileSnapshot>, head: &'a str) -> &'a str {
        match there.map(|value| value.bytes.as_slice()).unwrap_or_default() {
            [] => head,
            bytes if !bytes.ends_with(b"\n") => line_break_of(bytes),
            _ => "",
        }
    }

    fn make(
        &self,
        there: Option<&FileSnapshot>,
        look: Option<FileStamp>,
        held: &LockedStore<'_>,
        beside: &Beside,
        acknowledged: &mut Acknowledged,
    ) -> Result<(), ApplyError> {
        let site = held.site();
        let path = self.path();
        let (folder, name) = site.find_or_make(path)?;
        let fail = |error| site.fail(path, error);
        let before = there.map(|value| value.bytes.as_slice()).unwrap_or_default();
        let swapped = match self {
            Self::Append { head, text, .. } => {
                let added = [Self::glue(there, head), text].concat();
                match held.append(path, &added, look)? {
                    AppendOutcome::Done(look) => {
                        acknowledged.add(path, text, look.modified_ns);
                        acknowledged.leave(path, look);
                        SwapOutcome::Done
                    }
                    AppendOutcome::Contested(look) => {
                        acknowledged.add(path, text, look.modified_ns);
                        SwapOutcome::Done
                    }
                    AppendOutcome::Refused | AppendOutcome::Displaced(_) => SwapOutcome::Refused,
                }
            }
            Self::Write { before: known, after, .. } => {
                let swapped = put(&folder, name, beside, *known, after).map_err(fail)?;
                if swapped == SwapOutcome::Done {
                    let now = folder.read(name, MAX_FILE_BYTES).map_err(fail)?;
                    let saved = now.as_ref().map_or(0, |file| file.stamp.modified_ns);
                    acknowledged.rewrite(path, before, after, saved);
                    // Anything else is a save that came since, which may not be complete.
                    if let Some(ours) = now.filter(|file| file.bytes == *after) {
                        acknowledged.leave(path, ours.stamp);
                    }
                }
                swapped
            }
            Self::Remove { before: known, .. } => {
                let swapped = take(&folder, name, beside, *known).map_err(fail)?;
                if swapped == SwapOutcome::Done {
                    acknowledged.rewrite(path, before, b"", 0);
                }
                swapped
            }
        };
        match swapped {
            SwapOutcome::Done => Ok(()),
            SwapOutcome::Refused => Err(self.changed(site)),
        }
    }
}

/// Returns the digest by which files are compared.
pub(crate) fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests;
