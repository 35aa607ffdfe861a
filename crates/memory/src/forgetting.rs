//! The note of a forget in progress, so that an interrupted forget can be finished.
//!
//! The note is written before anything is changed and removed when everything is done. The next
//! holder of the lock finds a note that a kill left behind and finishes the forget: the entries are
//! no longer put back when an editor drops them, and if they are forgotten for good, their text is
//! also removed from the indexes and the journal. The note names entries by their ids and by
//! digests, never by their texts.
//!
//! ```text
//! <state>/forgetting/<id>.json        what is forgotten; locked while a process works on it
//! <state>/forgetting/<id>.erasing     the files are done: only what was kept of them is left
//! <state>/forgetting/<id>.finished    everything is done, and no caller was told yet
//! ```

use std::io;
use std::path::{Path, PathBuf};

use anemone_files::{folder_of, if_found, sync_folder};
use anemone_format::sha256_hex;
use anemone_index::{NoProgress, is_index, remove_index};
use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::entries::decoded;
use crate::erasure::ErasedEntries;
use crate::forget::EntryToForget;
use crate::journal::{ChangeId, StoredChange, keep_private};
use crate::page::units;
use crate::store::{LockedStore, MarkdownStore, MarkdownStoreError};

/// Whether forgotten entries can be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finality {
    /// The journal keeps it, and `undo` brings it back.
    Undoable,
    /// Nothing is kept.
    ForGood,
}

/// A forget that is about to begin.
#[derive(Clone, Debug)]
pub struct ForgetNote {
    /// A digest of the request, by which the same request is recognised.
    pub request: String,
    /// Whether it can be brought back.
    pub finality: Finality,
    /// The id of the change of the files, if they are changed.
    pub files: Option<Uuid>,
    /// The id of the change of the rows, if there are any.
    pub rows: Option<Uuid>,
    /// Folders of indexes that may hold the text.
    pub indexes: Vec<PathBuf>,
    /// When it began.
    pub at: Timestamp,
}

/// A forget that is under way; no other process finishes it while this value lives.
#[derive(Debug)]
pub struct ForgetMarker {
    path: PathBuf,
    /// The changes by which it takes entries out, known only to the process that began it.
    changes: Vec<ChangeId>,
    _lock: fs_err::File,
}

/// A forget that was cut off and has been finished.
#[derive(Debug)]
pub struct FinishedForget {
    /// A digest of the request.
    pub request: String,
    /// Whether it can be brought back.
    pub finality: Finality,
    /// Whether the files were changed; otherwise only rows were.
    pub files_changed: bool,
    /// What went, with its text where that could still be read.
    pub entries: Vec<EntryToForget>,
    note: ForgetMarker,
}

#[derive(Debug, Serialize, Deserialize)]
struct ForgetRecord {
    at: String,
    request_sha256: String,
    finality: Finality,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    files: Option<ChangeId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<ChangeId>,
    entries: Vec<EntryDigest>,
    indexes: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct EntryDigest {
    id: String,
    path: String,
    text_sha256: String,
}

impl MarkdownStore {
    pub(crate) fn forgetting_folder(&self) -> PathBuf {
        self.state().join("forgetting")
    }
}

impl LockedStore<'_> {
    /// Writes the note of a forget durably, before the forget begins.
    pub fn begin_forgetting(
        &self,
        note: &ForgetNote,
        entries: &[EntryToForget],
        id: Uuid,
    ) -> Result<ForgetMarker, MarkdownStoreError> {
        let path = self.site().forgetting_folder().join(format!("{id}.json"));
        let fail = |source| MarkdownStoreError::Io { path: path.clone(), source };
        let noted = ForgetRecord {
            at: note.at.to_string(),
            request_sha256: note.request.clone(),
            finality: note.finality,
            files: note.files.map(ChangeId),
            rows: note.rows.map(ChangeId),
            entries: entries.iter().map(EntryDigest::of).collect(),
            // An index whose folder is not UTF-8 is cleared by this run, or by the next search.
            indexes: note
                .indexes
                .iter()
                .filter_map(|index| index.to_str())
                .map(str::to_owned)
                .collect(),
        };
        let bytes = serde_json::to_vec(&noted).map_err(|error| fail(error.into()))?;
        keep_private(&path, &bytes).map_err(fail)?;
        let begin = || -> io::Result<ForgetMarker> {
            let lock = fs_err::File::open(&path)?;
            flock(lock.file(), FlockOperation::NonBlockingLockExclusive)?;
            lock.sync_all()?;
            sync_folder(folder_of(&path))?;
            let changes = noted.files.into_iter().chain(noted.rows).collect();
            Ok(ForgetMarker { path: path.clone(), changes, _lock: lock })
        };
        begin().map_err(fail)
    }

    /// Drops the changes that a forget itself made from the journal. They are identified by their
    /// ids, because their content may differ from the entry, for example in line endings.
    pub fn drop_own_changes(&self, forgetting: &ForgetMarker) -> Result<(), MarkdownStoreError> {
        Ok(forgetting.changes.iter().try_for_each(|id| self.drop_change(*id))?)
    }

    /// Finishes interrupted forgets.
    pub(crate) fn finish_forgets(&self) -> Result<Vec<FinishedForget>, MarkdownStoreError> {
        let folder = self.site().forgetting_folder();
        let fail = |source| MarkdownStoreError::Io { path: folder.clone(), source };
        let listed = if_found(fs_err::read_dir(&folder)).map_err(fail)?;
        let mut paths = Vec::new();
        for one in listed.into_iter().flatten() {
            paths.push(one.map_err(fail)?.path());
        }
        paths.sort_unstable();
        let mut finished = Vec::new();
        for path in paths
            .iter()
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        {
            let Some(note) = ForgetMarker::take(path).map_err(fail)? else { continue };
            let bytes = fs_err::read(path).map_err(fail)?;
            match serde_json::from_slice::<ForgetRecord>(&bytes) {
                Ok(noted) => finished.extend(self.finish(noted, note)?),
                // It was never whole, so nothing was begun.
                Err(_) => note.end(),
            }
        }
        Ok(finished)
    }

    fn finish(
        &self,
        noted: ForgetRecord,
        note: ForgetMarker,
    ) -> Result<Option<FinishedForget>, MarkdownStoreError> {
        let is_erasing = note.is_at("erasing");
        let files = noted.files.map(|id| self.site().recorded(id)).transpose()?.flatten();
        let rows = noted.rows.map(|id| self.site().recorded(id)).transpose()?.flatten();
        let files_changed = noted.files.is_some() && (is_erasing || files.is_some());
        if !is_erasing && files.is_none() && rows.is_none() {
            // Recovery took the change back, or nothing was done yet: the entries are still there.
            note.end();
            return Ok(None);
        }
        let entries = noted.entries_in(files.iter().chain(&rows));
        if !note.is_at("finished") {
            self.forget_acknowledged(&noted)?;
            if !is_erasing && let Ok(at) = noted.at.parse() {
                self.write_tombstones(&entries, "forget", at)?;
            }
            if noted.finality == Finality::ForGood {
                note.mark("erasing")?;
                // If the indexes cannot be cleared now, the note stays for the next holder of the
                // lock.
                if !clear_indexes(&noted.indexes) {
                    return Ok(None);
                }
                self.drop_kept(&noted, &entries)?;
            }
            note.mark("finished")?;
        }
        let ForgetRecord { request_sha256: request, finality, .. } = noted;
        Ok(Some(FinishedForget { request, finality, files_changed, entries, note }))
    }

    /// Removes entries from those that are put back when an editor drops them.
    fn forget_acknowledged(&self, noted: &ForgetRecord) -> Result<(), MarkdownStoreError> {
        let mut acknowledged = self.acknowledged()?;
        let is_gone = |text: &str| {
            let found = units(text);
            found.iter().any(|unit| {
                let id = unit.stamp.as_ref().map(|stamp| stamp.id.to_string());
                noted.entries.iter().any(|entry| {
                    Some(&entry.id) == id.as_ref()
                        || entry.text_sha256 == sha256_hex(unit.content.as_bytes())
                })
            })
        };
        if acknowledged.forget_where(is_gone) {
            self.keep_acknowledged(&mut acknowledged)?;
        }
        Ok(())
    }

    /// Removes entries that are forgotten for good from the journal.
    fn drop_kept(
        &self,
        noted: &ForgetRecord,
        entries: &[EntryToForget],
    ) -> Result<(), MarkdownStoreError> {
        let digests = noted.entries.iter().map(|entry| entry.text_sha256.as_str());
        self.erase_from_journal(&ErasedEntries::new(entries).with_digests(digests))?;
        for id in noted.files.iter().chain(&noted.rows) {
            self.drop_change(*id)?;
        }
        Ok(())
    }
}

impl ForgetRecord {
    /// Returns the entries with the texts that the journal still has.
    fn entries_in<'a>(
        &self,
        recorded: impl Iterator<Item = &'a StoredChange>,
    ) -> Vec<EntryToForget> {
        let mut entries: Vec<EntryToForget> = self.entries.iter().map(EntryDigest::bare).collect();
        let mut take = |text: &str, key: Option<&str>| {
            let sha256 = sha256_hex(text.as_bytes());
            for (entry, noted) in entries.iter_mut().zip(&self.entries) {
                if noted.text_sha256 == sha256 {
                    text.clone_into(&mut entry.text);
                    entry.key = key.map(str::to_owned);
                }
            }
        };
        for record in recorded {
            for image in &record.images {
                for unit in units(&decoded(image).unwrap_or_default()) {
                    take(&unit.content, unit.key.as_deref());
                }
            }
            for row in record.noted.rows.iter().flat_map(|rows| &rows.rows) {
                let field = |name: &str| row.get(name).and_then(|value| value.as_str());
                take(field("content").unwrap_or_default(), field("key"));
            }
        }
        entries
    }
}

impl EntryDigest {
    fn of(entry: &EntryToForget) -> Self {
        Self {
            id: entry.id.clone(),
            path: entry.path.clone(),
            text_sha256: sha256_hex(entry.text.as_bytes()),
        }
    }

    fn bare(&self) -> EntryToForget {
        let (id, path) = (self.id.clone(), self.path.clone());
        EntryToForget { id, path, ..EntryToForget::default() }
    }
}

impl ForgetMarker {
    /// Takes over an unfinished forget; `None` when another process works on it or has just ended
    /// it.
    fn take(path: &Path) -> io::Result<Option<Self>> {
        let Some(lock) = if_found(fs_err::File::open(path))? else { return Ok(None) };
        match flock(lock.file(), FlockOperation::NonBlockingLockExclusive) {
            Ok(()) if path.exists() => {
                Ok(Some(Self { path: path.to_owned(), changes: Vec::new(), _lock: lock }))
            }
            Ok(()) | Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Records that the files are done, and that the kept copies are erased next.
    pub fn erase(&self) -> Result<(), MarkdownStoreError> {
        self.mark("erasing")
    }

    fn is_at(&self, stage: &str) -> bool {
        self.path.with_extension(stage).exists()
    }

    fn mark(&self, stage: &str) -> Result<(), MarkdownStoreError> {
        let path = self.path.with_extension(stage);
        let made = fs_err::File::create(&path).and_then(|_| sync_folder(folder_of(&path)));
        made.map_err(|source| MarkdownStoreError::Io { path, source })
    }

    /// Removes the note: everything is done, and the caller has been notified. The next holder of
    /// the lock removes remains that an error leaves.
    pub fn end(self) {
        // The note goes first: its marks alone mean nothing.
        for extension in ["json", "erasing", "finished"] {
            fs_err::remove_file(self.path.with_extension(extension)).ok();
        }
    }
}

impl FinishedForget {
    /// Removes the note of it, once the caller has been told.
    pub fn end(self) {
        self.note.end();
    }
}

/// Clears indexes that may hold a text; they are rebuilt when they are next needed. Says whether
/// all of them could be cleared.
fn clear_indexes(folders: &[String]) -> bool {
    let mut folders = folders.iter().map(Path::new).filter(|folder| is_index(folder));
    folders.all(|folder| remove_index(folder, &NoProgress).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::ErasureProbes;
    use crate::{ForgetTarget, MarkdownLayout};

    const TEXT: &str = "the gateway password is seven-grey-geese";

    struct Place {
        folder: tempfile::TempDir,
        site: MarkdownStore,
    }

    impl Place {
        /// A memory with an entry that was acknowledged a moment ago.
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs_err::create_dir_all(folder.path().join("w/memory")).unwrap();
            let state = folder.path().join("s");
            let site = MarkdownStore::open(&folder.path().join("w"), &state, MarkdownLayout::PLAIN)
                .unwrap();
            let place = Self { folder, site };
            let stamp = "agent 2026-11-16T10:00:00Z -->";
            let text = format!(
                "- **tea**: green\n- {TEXT} <!-- anemone: {} {stamp}\n",
                Uuid::from_u128(9)
            );
            let append = crate::Edit::Append {
                path: "memory/2026-11-16.md".to_owned(),
                head: String::new(),
                text,
            };
            let change = crate::Change::new("remember", vec![append]);
            let held = place.site.lock().unwrap();
            held.apply(&change, Uuid::from_u128(1), Timestamp::UNIX_EPOCH).unwrap();
            drop(held);
            place
        }

        fn holds(&self) -> Vec<PathBuf> {
            ErasureProbes::new([TEXT]).scan(&[self.folder.path().to_owned()]).found
        }

        /// Runs the steps of a forget up to a step at which it is killed.
        fn forget(&self, finality: Finality, steps: usize) {
            let wanted = ForgetTarget::Ids(vec![Uuid::from_u128(9).to_string()]);
            let held = self.site.lock().unwrap();
            let plan = held.site().plan_forget(&wanted).unwrap();
            let files = Some(Uuid::from_u128(2));
            let (request, at) = ("digest".to_owned(), Timestamp::UNIX_EPOCH);
            let note = ForgetNote { request, finality, files, rows: None, indexes: Vec::new(), at };
            let begun = held.begin_forgetting(&note, &plan.entries, Uuid::from_u128(3)).unwrap();
            if steps == 0 {
                return;
            }
            // Like `apply`, but keeps the former acknowledged entries.
            let before = self.site.acknowledged_bytes();
            held.apply(&plan.change, Uuid::from_u128(2), Timestamp::UNIX_EPOCH).unwrap();
            if steps == 1 {
                return fs_err::write(self.site.acknowledged_file(), before).unwrap();
            }
            begun.erase().unwrap();
            if steps == 2 {
                return;
            }
            held.erase_from_journal(&ErasedEntries::new(&plan.entries)).unwrap();
        }
    }

    impl MarkdownStore {
        fn acknowledged_bytes(&self) -> Vec<u8> {
            fs_err::read(self.acknowledged_file()).unwrap()
        }
    }

    #[test]
    fn a_forget_that_was_cut_off_is_finished_by_whoever_takes_the_lock_next() {
        for steps in 1..=3 {
            let place = Place::new();
            place.forget(Finality::ForGood, steps);
            let mut held = place.site.lock().unwrap();
            assert_eq!(held.restored(), [], "after {steps} steps it comes back");
            assert_eq!(place.holds(), [] as [PathBuf; 0], "after {steps} steps");
            let finished = held.take_finished_forgets();
            assert_eq!(finished.len(), 1, "after {steps} steps");
            let entry = &finished[0].entries[0];
            assert!(finished[0].files_changed);
            assert_eq!(entry.id, Uuid::from_u128(9).to_string());
            let text = if steps < 3 { TEXT } else { "" };
            assert_eq!(entry.text, text, "after {steps} steps");
            drop(held);
            // Killed again before anybody was told.
            drop(finished);
            let finished = place.site.lock().unwrap().take_finished_forgets();
            assert_eq!(finished.len(), 1);
            finished.into_iter().for_each(FinishedForget::end);
            assert_eq!(place.site.lock().unwrap().take_finished_forgets().len(), 0);
            let stones = fs_err::read_to_string(place.site.tombstones()).unwrap_or_default();
            assert!(steps > 1 || stones.lines().count() == 1, "{stones}");
        }
    }

    #[test]
    fn one_that_changed_nothing_is_not_taken_for_one_that_did() {
        let place = Place::new();
        place.forget(Finality::ForGood, 0);
        assert_eq!(place.site.lock().unwrap().take_finished_forgets().len(), 0);
        assert_eq!(fs_err::read_dir(place.site.forgetting_folder()).unwrap().count(), 0);
        assert!(!place.holds().is_empty());
    }

    #[test]
    fn one_that_can_be_undone_is_finished_and_stays_undoable() {
        let place = Place::new();
        place.forget(Finality::Undoable, 1);
        drop(place.site.lock().unwrap());
        assert_eq!(fs_err::read_dir(place.site.forgetting_folder()).unwrap().count(), 0);
        let undo = place.site.plan_undo().unwrap();
        let held = place.site.lock().unwrap();
        held.undo(&undo, Uuid::from_u128(4), Timestamp::UNIX_EPOCH).unwrap();
        assert!(place.holds().contains(&place.site.root().join("memory/2026-11-16.md")));
    }

    #[test]
    fn one_that_is_under_way_is_left_alone() {
        let place = Place::new();
        let held = place.site.lock().unwrap();
        let plan = held.site().plan_forget(&ForgetTarget::Key("tea".to_owned())).unwrap();
        let (request, at) = ("digest".to_owned(), Timestamp::UNIX_EPOCH);
        let finality = Finality::ForGood;
        let note =
            ForgetNote { request, finality, files: None, rows: None, indexes: Vec::new(), at };
        let begun = held.begin_forgetting(&note, &plan.entries, Uuid::from_u128(3)).unwrap();
        begun.erase().unwrap();
        drop(held);
        assert_eq!(place.site.lock().unwrap().take_finished_forgets().len(), 0);
        begun.end();
        assert_eq!(fs_err::read_dir(place.site.forgetting_folder()).unwrap().count(), 0);
    }
}
