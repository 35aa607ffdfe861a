//! The content before each change, so that the latest changes can be undone.
//!
//! Each change has one file in `<state>/journal/`, named by its place in the order of changes and
//! its id: `<number>-<id>.begun` until the change is made, then `<number>-<id>.done`; `.kept` when
//! it was reverted after another program had saved one of its files, see [`crate::recovery`]. The
//! oldest files are removed when there are too many of them or they take too much space.
//!
//! ```text
//! {"what":"forget","at":"...","edits":[{"path":"MEMORY.md","before":120,"after":"<sha256>"}]}
//! <the 120 bytes that were there, edit by edit>
//! ```

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Read as _};
use std::path::{Path, PathBuf};

use anemone_files::{
    Durability, faults, folder_of, if_found, make_private_folder, replace_through, sync_folder,
};
use anemone_format::sha256_hex;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::change::{Change, Edit};
use crate::patch::Patch;
use crate::store::{FileSnapshot, LockedStore, MarkdownStore};

/// So many changes are kept; what takes one back is one as well.
const MOST_CHANGES: usize = 100;
/// And so many bytes are kept for it.
const MOST_BYTES: u64 = 64 << 20;
/// So many records of changes that were reverted are kept.
const MOST_KEPT: usize = 10;
/// How a file ends that is not yet written as a whole.
pub(crate) const UNFINISHED: &str = "new";

/// The name of a change that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChangeId(pub Uuid);

/// A change that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeRecord {
    /// The requested operation.
    pub what: String,
    /// When.
    pub at: String,
    /// Which change it took back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<ChangeId>,
    /// The edits of the files.
    pub edits: Vec<EditRecord>,
    /// The change of rows of a database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowsRecord>,
}

/// A change of rows of a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowsRecord {
    /// The database.
    pub database: PathBuf,
    /// Whose rows they were.
    pub alias: String,
    /// Every row that was changed or removed, in its former state, its columns by their names.
    pub rows: Vec<serde_json::Map<String, serde_json::Value>>,
    /// Where those came from, as our own table said it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stamps: Vec<serde_json::Map<String, serde_json::Value>>,
    /// The ids of rows that came new.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// The SHA-256 of the text of each row after the change, by its id; rows that are missing here
    /// were removed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left: BTreeMap<String, String>,
}

impl RowsRecord {
    /// Returns the name of the database's file, as people know it.
    #[must_use]
    pub fn name(&self) -> String {
        self.database.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// An edit of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditRecord {
    /// The file.
    pub path: String,
    /// How many bytes were there; `None`: no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<u64>,
    /// The addition, if the edit only appended text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) added: Option<Added>,
    /// The SHA-256 of the content since; `None`: no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<String>,
    /// The difference that the change made to the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) patch: Option<Patch>,
}

/// The text that was appended to a file; nothing of the former content is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Added {
    /// The head of a new file, or a missing line ending.
    pub(crate) glue: String,
    pub(crate) text: String,
    /// How long the file was.
    pub(crate) at: u64,
    /// Whether there was no file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) creates: bool,
}

/// Why the journal cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot access the undo journal in {path}")]
pub struct JournalError {
    /// The folder.
    pub path: PathBuf,
    /// The cause.
    pub source: io::Error,
}

/// A change in the journal, and the content before it.
#[derive(Debug)]
pub(crate) struct StoredChange {
    pub(crate) id: ChangeId,
    pub(crate) path: PathBuf,
    pub(crate) noted: ChangeRecord,
    /// Edit by edit.
    pub(crate) images: Vec<Vec<u8>>,
}

/// A file of the journal.
pub(crate) struct JournalFile {
    number: u64,
    pub(crate) id: ChangeId,
    pub(crate) path: PathBuf,
}

impl MarkdownStore {
    /// Returns the folder with the content before each change.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.state().join("journal")
    }

    /// Returns the changes that were made, the last one first, including undone changes and their
    /// undos. Unreadable records are left out.
    pub fn changes(&self) -> Result<Vec<(ChangeId, ChangeRecord)>, JournalError> {
        self.in_journal(|folder| {
            let mut found = Vec::new();
            for it in journal_files(folder, "done")?.into_iter().rev() {
                // Another change may have replaced it in the meantime.
                let Some(file) = if_found(fs_err::File::open(&it.path))? else { continue };
                let mut file = io::BufReader::new(file);
                if let Ok(noted) = read_head(&mut file) {
                    found.push((it.id, noted));
                }
            }
            Ok(found)
        })
    }

    /// Counts the changes that were begun and not completed: cut off, or in progress at this
    /// moment. The next change completes or reverts them.
    pub fn unfinished(&self) -> Result<usize, JournalError> {
        self.in_journal(|folder| Ok(journal_files(folder, "begun")?.len()))
    }

    /// Reads a change with the content before it.
    pub(crate) fn recorded(&self, id: ChangeId) -> Result<Option<StoredChange>, JournalError> {
        self.in_journal(|folder| {
            let found = journal_files(folder, "done")?.into_iter().find(|value| value.id == id);
            found.map(|found| found.read()).transpose()
        })
    }

    /// Works in the folder of the journal.
    pub(crate) fn in_journal<T>(
        &self,
        work: impl FnOnce(&Path) -> io::Result<T>,
    ) -> Result<T, JournalError> {
        let path = self.journal();
        work(&path).map_err(|source| JournalError { path, source })
    }
}

impl LockedStore<'_> {
    pub(crate) fn begin(
        &self,
        change: &Change,
        seen: &[Option<FileSnapshot>],
        undoes: Option<ChangeId>,
        id: Uuid,
        now: Timestamp,
    ) -> Result<StoredChange, JournalError> {
        let pairs = change.edits.iter().zip(seen);
        let noted = ChangeRecord {
            what: change.what.clone(),
            at: now.to_string(),
            undoes,
            edits: pairs.map(|(edit, pair)| edit.noted(pair.as_ref())).collect(),
            rows: None,
        };
        let mut images = Vec::new();
        for (edit, seen) in noted.edits.iter().zip(seen) {
            let kept = seen.as_ref().filter(|_| edit.before.is_some());
            images.push(kept.map(|value| value.bytes.clone()).unwrap_or_default());
        }
        self.site().in_journal(|folder| {
            let path = folder.join(next_name(folder, id, "begun")?);
            let begun = StoredChange { id: ChangeId(id), path, noted, images };
            keep_durable(&begun.path, &begun.to_bytes()?)?;
            // An append needs no former content to be reverted. Its record becomes safe when the
            // change is committed.
            if begun.images.iter().any(|image| !image.is_empty()) {
                sync_folder(folder)?;
            }
            Ok(begun)
        })
    }

    /// Notes that a change is made; returns how many old ones went for it.
    pub(crate) fn commit(&self, begun: &StoredChange) -> Result<(ChangeId, usize), JournalError> {
        self.site().in_journal(|folder| {
            faults::step()?;
            fs_err::rename(&begun.path, begun.path.with_extension("done"))?;
            // Once the change is reported, it can be undone even after a power cut.
            sync_folder(folder)?;
            // The change is made; that an old one could not go is seen the next time.
            Ok((begun.id, prune(folder).unwrap_or_default()))
        })
    }

    /// Drops the record of a change that was reverted.
    pub(crate) fn drop_record(&self, begun: &StoredChange) -> Result<(), JournalError> {
        self.site().in_journal(|folder| {
            faults::step()?;
            fs_err::remove_file(&begun.path)?;
            sync_folder(folder)
        })
    }

    /// Keeps the record of a change that was reverted except for content that another program
    /// saved.
    pub(crate) fn set_aside(&self, begun: &StoredChange) -> Result<(), JournalError> {
        self.site().in_journal(|folder| {
            faults::step()?;
            fs_err::rename(&begun.path, begun.path.with_extension("kept"))?;
            sync_folder(folder)?;
            let all = journal_files(folder, "kept")?;
            all.iter().rev().skip(MOST_KEPT).try_for_each(|old| fs_err::remove_file(&old.path))
        })
    }

    /// Returns changes that were begun and not completed, the oldest first. Records that were not
    /// written completely are deleted: the holder of the lock knows that no other process is still
    /// writing them.
    pub(crate) fn cut_off(&self) -> Result<Vec<StoredChange>, JournalError> {
        self.site().in_journal(|folder| {
            for it in journal_files(folder, UNFINISHED)? {
                fs_err::remove_file(&it.path)?;
            }
            let mut found = Vec::new();
            for it in journal_files(folder, "begun")? {
                match it.read() {
                    Ok(recorded) => found.push(recorded),
                    // Only records that were never complete are deleted: others may become readable
                    // again.
                    Err(error) if is_broken(&error) => fs_err::remove_file(&it.path)?,
                    Err(error) => return Err(error),
                }
            }
            Ok(found)
        })
    }

    /// Records an upcoming change of rows of a database, and which change it reverts. If the change
    /// is not made after all, undoing it does nothing.
    pub(crate) fn note_rows(
        &self,
        what: &str,
        rows: RowsRecord,
        undoes: Option<ChangeId>,
        id: Uuid,
        now: Timestamp,
    ) -> Result<ChangeId, JournalError> {
        let noted = ChangeRecord {
            what: what.to_owned(),
            at: now.to_string(),
            undoes,
            edits: Vec::new(),
            rows: Some(rows),
        };
        self.site().in_journal(|folder| {
            let path = folder.join(next_name(folder, id, "done")?);
            let change = StoredChange { id: ChangeId(id), path, noted, images: Vec::new() };
            keep_durable(&change.path, &change.to_bytes()?)?;
            sync_folder(folder)?;
            prune(folder)?;
            Ok(change.id)
        })
    }

    /// Puts another record in the place of one.
    pub(crate) fn rewrite_record(&self, path: &Path, bytes: &[u8]) -> Result<(), JournalError> {
        keep_durable(path, bytes).map_err(|source| JournalError { path: path.to_owned(), source })
    }

    /// Removes a record.
    pub(crate) fn remove_record(&self, path: &Path) -> Result<(), JournalError> {
        let removed = fs_err::remove_file(path);
        removed.map_err(|source| JournalError { path: path.to_owned(), source })
    }

    /// Drops a change: it cannot be undone any more, and nothing of the former content is kept.
    pub(crate) fn drop_change(&self, id: ChangeId) -> Result<(), JournalError> {
        self.site().in_journal(|folder| {
            let mut files = journal_files(folder, "done")?.into_iter().filter(|file| file.id == id);
            files.try_for_each(|file| fs_err::remove_file(&file.path))
        })
    }

    /// Drops every change: none can be undone any more, and nothing of the former content is kept.
    pub fn clear_changes(&self) -> Result<usize, JournalError> {
        self.site().in_journal(|folder| {
            let all = journal_files(folder, "done")?;
            for it in all.iter().chain(&journal_files(folder, "kept")?) {
                fs_err::remove_file(&it.path)?;
            }
            Ok(all.len())
        })
    }
}

impl Edit {
    fn noted(&self, seen: Option<&FileSnapshot>) -> EditRecord {
        let path = self.path().to_owned();
        let before = seen.map(|value| value.bytes.len() as u64);
        match self {
            Self::Append { head, text, .. } => {
                let glue = Self::glue(seen, head).to_owned();
                let at = before.unwrap_or_default();
                let added = Added { glue, text: text.clone(), at, creates: before.is_none() };
                EditRecord { path, added: Some(added), ..EditRecord::default() }
            }
            Self::Write { after, .. } => {
                let patch = seen.and_then(|value| Patch::between(&value.bytes, after));
                let after = Some(sha256_hex(after));
                EditRecord { path, before, after, patch, ..EditRecord::default() }
            }
            Self::Remove { .. } => EditRecord { path, before, ..EditRecord::default() },
        }
    }
}

impl StoredChange {
    /// Returns it as the journal keeps it.
    pub(crate) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec(&self.noted)?;
        bytes.push(b'\n');
        self.images.iter().for_each(|image| bytes.extend(image));
        Ok(bytes)
    }
}

impl JournalFile {
    pub(crate) fn read(&self) -> io::Result<StoredChange> {
        faults::step()?;
        let mut file = io::BufReader::new(fs_err::File::open(&self.path)?);
        let noted = read_head(&mut file)?;
        let mut images = Vec::new();
        for edit in &noted.edits {
            let length = edit.before.unwrap_or_default();
            let mut bytes = Vec::new();
            file.by_ref().take(length).read_to_end(&mut bytes)?;
            if bytes.len() as u64 != length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            images.push(bytes);
        }
        Ok(StoredChange { id: self.id, path: self.path.clone(), noted, images })
    }
}

fn read_head(file: &mut io::BufReader<fs_err::File>) -> io::Result<ChangeRecord> {
    let mut line = Vec::new();
    file.by_ref().take(MOST_BYTES).read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line)?)
}

/// Lists the files of the journal that are this far, the oldest first.
pub(crate) fn journal_files(folder: &Path, extension: &str) -> io::Result<Vec<JournalFile>> {
    faults::step()?;
    let found = if_found(fs_err::read_dir(folder))?;
    let mut all = Vec::new();
    for one in found.into_iter().flatten() {
        let path = one?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let Some((number, id)) = stem.and_then(|stem| stem.split_once('-')) else { continue };
        let (Ok(number), Ok(id)) = (number.parse(), id.parse()) else { continue };
        if path.extension().is_some_and(|other| other == extension) {
            all.push(JournalFile { number, id: ChangeId(id), path });
        }
    }
    all.sort_unstable_by_key(|value| value.number);
    Ok(all)
}

/// Whether a file was read and has invalid content.
fn is_broken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData)
}

/// Names the next change.
fn next_name(folder: &Path, id: Uuid, extension: &str) -> io::Result<String> {
    let number = journal_files(folder, "done")?.last().map_or(1, |listed| listed.number + 1);
    Ok(format!("{number:012}-{id}.{extension}"))
}

/// Takes the oldest away; returns how many.
fn prune(folder: &Path) -> io::Result<usize> {
    let all = journal_files(folder, "done")?;
    let size =
        |file: &JournalFile| fs_err::metadata(&file.path).map_or(0, |metadata| metadata.len());
    let mut total: u64 = all.iter().map(size).sum();
    let mut left = all.len();
    for it in &all {
        if left <= 1 || (left <= MOST_CHANGES && total <= MOST_BYTES) {
            break;
        }
        total -= size(it);
        left -= 1;
        fs_err::remove_file(&it.path)?;
    }
    Ok(all.len() - left)
}

/// Writes a file that only its owner may read, whole or not at all.
pub(crate) fn keep_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    keep(path, bytes, Durability::Eventual)
}

/// As [`keep_private`], and the file is safe on the disk when it has its name.
fn keep_durable(path: &Path, bytes: &[u8]) -> io::Result<()> {
    keep(path, bytes, Durability::Immediate)
}

fn keep(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    make_private_folder(folder_of(path))?;
    // The lock keeps others away.
    replace_through(&path.with_extension(UNFINISHED), path, bytes, durability)
}
