//! Removes entries that are forgotten for good from the undo journal, and finds entries that only
//! the journal still contains.
//!
//! A record of the journal keeps the whole former files of a change, so nearly every record of a
//! file contains every entry of the file. Only a change that was about a forgotten entry is
//! dropped. Every other record is rewritten as if the entry had never existed, and can still be
//! undone.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use anemone_files::if_found;
use anemone_format::{StampId, sha256_hex};
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::entries::{PageEntry, decoded, encoded, without};
use crate::forget::{EntryToForget, ForgetTarget, buried, is_in_time};
use crate::journal::{
    ChangeId, ChangeRecord, EditRecord, JournalError, JournalFile, StoredChange, journal_files,
};
use crate::page::{ParsedEntry, units};
use crate::patch::Patch;
use crate::scan::ErasureProbes;
use crate::store::{LockedStore, MarkdownStore, MarkdownStoreError, PageKind};

/// Entries to erase completely, identified by their ids and texts.
#[derive(Debug)]
pub struct ErasedEntries {
    ids: HashSet<String>,
    digests: HashSet<String>,
    probes: ErasureProbes,
}

/// The edits of the undo journal for an erasure.
#[derive(Clone, Debug, Default)]
pub struct JournalErasure {
    /// Changes that can no longer be undone, the last one first.
    pub dropped: Vec<(ChangeId, ChangeRecord)>,
    removed: Vec<PathBuf>,
    rewritten: Vec<(PathBuf, Vec<u8>)>,
}

/// An entry that only the undo journal still has.
#[derive(Clone, Debug)]
pub struct KeptEntry {
    /// The entry, without lines: the file that held it has changed since.
    pub entry: EntryToForget,
    session: Option<String>,
    /// When it was written.
    written: Option<Timestamp>,
    placed: Option<Box<PageEntry>>,
}

enum RecordOutcome {
    Untouched,
    Rewritten(Box<StoredChange>),
    Dropped,
}

impl ErasedEntries {
    /// Takes the entries.
    #[must_use]
    pub fn new<'a>(entries: impl IntoIterator<Item = &'a EntryToForget>) -> Self {
        let (mut ids, mut digests) = (HashSet::new(), HashSet::new());
        let mut texts: Vec<String> = Vec::new();
        for it in entries {
            if it.id.parse::<StampId>().is_ok() {
                ids.insert(it.id.clone());
            }
            if !it.text.is_empty() {
                digests.insert(digest_of(&it.text));
                texts.push(it.text.clone());
            }
        }
        // A record may hold an entry in other words: its id is the same.
        let probes = ErasureProbes::new(texts.iter().chain(&ids).map(String::as_str));
        Self { ids, digests, probes }
    }

    /// Adds entries whose texts are known by their digests only.
    #[must_use]
    pub(crate) fn with_digests<'a>(mut self, digests: impl Iterator<Item = &'a str>) -> Self {
        self.digests.extend(digests.map(str::to_owned));
        self
    }

    /// Plans the erasure for the journal in a folder.
    fn plan(&self, folder: &Path) -> io::Result<JournalErasure> {
        let mut erasure = JournalErasure::default();
        // Another change may have replaced the file in the meantime.
        let outcome_of = |file: &JournalFile| -> io::Result<RecordOutcome> {
            Ok(if_found(self.outcome_of(file))?.unwrap_or(RecordOutcome::Untouched))
        };
        for it in journal_files(folder, "kept")? {
            if !matches!(outcome_of(&it)?, RecordOutcome::Untouched) {
                erasure.removed.push(it.path);
            }
        }
        let mut outcomes = Vec::new();
        for it in journal_files(folder, "done")? {
            let outcome = outcome_of(&it)?;
            outcomes.push((it, outcome));
        }
        let stays: HashSet<ChangeId> = outcomes
            .iter()
            .filter(|(_, outcome)| !matches!(outcome, RecordOutcome::Dropped))
            .map(|(outcome, _)| outcome.id)
            .collect();
        for (it, outcome) in outcomes.into_iter().rev() {
            let rewritten = match outcome {
                RecordOutcome::Untouched => continue,
                RecordOutcome::Rewritten(record) => Some(*record),
                // Without the record of an undo the change that it took back would be undone again.
                RecordOutcome::Dropped => it
                    .read()
                    .ok()
                    .filter(|record| record.noted.undoes.is_some_and(|id| stays.contains(&id)))
                    .map(StoredChange::emptied),
            };
            if let Some(record) = rewritten {
                erasure.rewritten.push((it.path, record.to_bytes()?));
                continue;
            }
            erasure.dropped.extend(it.read().ok().map(|record| (it.id, record.noted)));
            erasure.removed.push(it.path);
        }
        Ok(erasure)
    }

    fn takes(&self, unit: &ParsedEntry) -> bool {
        let id = unit.stamp.as_ref().map(|stamp| stamp.id.to_string());
        id.is_some_and(|id| self.ids.contains(&id)) || self.has_text(&unit.content)
    }

    fn takes_row(&self, row: &Map<String, Value>) -> bool {
        let field = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
        self.ids.contains(field("id")) || self.has_text(field("content"))
    }

    fn has_text(&self, text: &str) -> bool {
        self.digests.contains(&digest_of(text))
            || self.digests.contains(&sha256_hex(text.as_bytes()))
    }

    /// Returns bytes of a file without the entries; `None` when they have none of them.
    fn without(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let text = decoded(bytes)?;
        let gone: Vec<_> = units(&text).into_iter().filter(|unit| self.takes(unit)).collect();
        let ranges: Vec<_> = gone.into_iter().map(|unit| unit.bytes).collect();
        (!ranges.is_empty()).then(|| encoded(bytes, without(&text, &ranges)))
    }

    fn outcome_of(&self, listed: &JournalFile) -> io::Result<RecordOutcome> {
        let Ok(mut record) = listed.read() else {
            // An unreadable record can still be dropped. A record that does not exist was dropped
            // in the meantime to make room for a newer one.
            let holds = if_found(self.probes.are_in(&listed.path))?.unwrap_or(false);
            return Ok(if holds { RecordOutcome::Dropped } else { RecordOutcome::Untouched });
        };
        let is_touched = self.rewrite(&mut record);
        if record.to_bytes().is_ok_and(|bytes| self.probes.are_in_bytes(&bytes)) {
            return Ok(RecordOutcome::Dropped);
        }
        if !is_touched {
            return Ok(RecordOutcome::Untouched);
        }
        let rewritten = Some(record).filter(StoredChange::does_something).map(Box::new);
        Ok(rewritten.map_or(RecordOutcome::Dropped, RecordOutcome::Rewritten))
    }

    /// Takes the entries out of a record; says whether there were any.
    fn rewrite(&self, record: &mut StoredChange) -> bool {
        let mut is_touched = false;
        let edits = std::mem::take(&mut record.noted.edits);
        let images = std::mem::take(&mut record.images);
        for (mut edit, mut image) in edits.into_iter().zip(images) {
            let touched = self.rewrite_edit(&mut edit, &mut image);
            is_touched |= touched;
            if !touched || edit.does_something(&image) {
                record.noted.edits.push(edit);
                record.images.push(image);
            }
        }
        if let Some(rows) = &mut record.noted.rows {
            let before = rows.rows.len() + rows.added.len();
            let is_id = |row: &Map<String, Value>, name: &str| {
                row.get(name).and_then(Value::as_str).is_some_and(|id| self.ids.contains(id))
            };
            let gone: HashSet<String> = rows
                .rows
                .iter()
                .filter(|row| self.takes_row(row))
                .filter_map(|row| Some(row.get("id")?.as_str()?.to_owned()))
                .collect();
            rows.rows.retain(|row| !self.takes_row(row));
            rows.stamps.retain(|stamp| !is_id(stamp, "memory_id"));
            rows.added.retain(|id| !self.ids.contains(id));
            rows.left.retain(|id, text| {
                !gone.contains(id) && !self.ids.contains(id) && !self.digests.contains(text)
            });
            is_touched |= rows.rows.len() + rows.added.len() < before;
        }
        is_touched
    }

    fn rewrite_edit(&self, edit: &mut EditRecord, image: &mut Vec<u8>) -> bool {
        if let Some(added) = &mut edit.added {
            let Some(left) = self.without(added.text.as_bytes()) else { return false };
            added.text = String::from_utf8_lossy(&left).into_owned();
            return true;
        }
        let after = edit.patch.as_ref().and_then(|patch| patch.applied(image));
        let (left_before, left_after) =
            (self.without(image), after.as_deref().and_then(|after| self.without(after)));
        if left_before.is_none() && left_after.is_none() {
            return false;
        }
        *image = left_before.unwrap_or_else(|| std::mem::take(image));
        edit.before = edit.before.map(|_| image.len() as u64);
        if let Some(after) = left_after.or(after) {
            edit.after = Some(sha256_hex(&after));
            edit.patch = Patch::between(image, &after);
        } else if edit.after.is_some() {
            // The content that the change wrote is unknown, and so is its digest without the erased
            // text: from here on the file counts as changed by another program.
            edit.after = Some(String::new());
        }
        true
    }
}

impl EditRecord {
    /// Whether it still makes a difference.
    fn does_something(&self, image: &[u8]) -> bool {
        match (&self.added, &self.after) {
            (Some(added), _) => !added.text.trim().is_empty(),
            (None, Some(after)) => self.before.is_none() || *after != sha256_hex(image),
            (None, None) => true,
        }
    }
}

impl StoredChange {
    fn does_something(&self) -> bool {
        let rows = self.noted.rows.as_ref();
        !self.noted.edits.is_empty()
            || rows.is_some_and(|rows| !rows.rows.is_empty() || !rows.added.is_empty())
    }

    /// Leaves of a record only that it took another change back.
    fn emptied(mut self) -> Self {
        self.noted.edits.clear();
        self.noted.rows = None;
        self.images.clear();
        self
    }
}

impl MarkdownStore {
    /// Plans the erasure of entries from the journal.
    pub fn plan_erasure(&self, gone: &ErasedEntries) -> Result<JournalErasure, JournalError> {
        self.in_journal(|folder| gone.plan(folder))
    }

    /// Returns entries that only the undo journal still has, the newest version of each.
    pub fn kept_entries(&self) -> Result<Vec<KeptEntry>, MarkdownStoreError> {
        let now = self.entries()?;
        let is_there: HashSet<String> =
            now.placed.iter().map(|placed| digest_of(&placed.unit.content)).collect();
        let mut met: HashSet<String> = HashSet::new();
        let mut found = Vec::new();
        let changes = self.in_journal(|folder| journal_files(folder, "done"))?;
        for it in changes.into_iter().rev() {
            // An unreadable record cannot be undone either.
            let Ok(record) = it.read() else { continue };
            for kept in record.entries() {
                let digest = digest_of(&kept.entry.text);
                if !is_there.contains(&digest) && met.insert(digest) {
                    found.push(kept);
                }
            }
        }
        Ok(found)
    }

    /// Returns what of [`kept_entries`](Self::kept_entries) is wanted. Lines are those in which an
    /// entry stood when it was forgotten, as its tombstone says.
    pub fn kept_entries_of(
        &self,
        wanted: &ForgetTarget,
    ) -> Result<Vec<KeptEntry>, MarkdownStoreError> {
        let mut kept = self.kept_entries()?;
        let stones: HashMap<String, HashSet<String>> = match wanted {
            ForgetTarget::Ids(_) => buried(self),
            _ => HashMap::new(),
        };
        kept.retain(|value| value.is_wanted(wanted, &stones));
        Ok(kept)
    }
}

impl LockedStore<'_> {
    /// Takes entries out of the journal and out of the table of stamps, so that they cannot be
    /// brought back.
    pub fn erase_from_journal(
        &self,
        gone: &ErasedEntries,
    ) -> Result<JournalErasure, MarkdownStoreError> {
        let ids: Vec<StampId> = gone.ids.iter().filter_map(|id| id.parse().ok()).collect();
        self.drop_stamps(&ids)?;
        let erasure = self.site().plan_erasure(gone)?;
        for (path, bytes) in &erasure.rewritten {
            self.rewrite_record(path, bytes)?;
        }
        for path in &erasure.removed {
            self.remove_record(path)?;
        }
        Ok(erasure)
    }
}

impl StoredChange {
    /// Returns every entry in it.
    fn entries(&self) -> Vec<KeptEntry> {
        let mut found = Vec::new();
        for (edit, image) in self.noted.edits.iter().zip(&self.images) {
            let added = edit.added.as_ref().map(|added| added.text.clone().into_bytes());
            let after = edit.patch.as_ref().and_then(|patch| patch.applied(image));
            let kind = PageKind::of(&edit.path);
            for bytes in [added.as_deref(), after.as_deref(), Some(image)].into_iter().flatten() {
                let Some(text) = decoded(bytes) else { continue };
                let placed =
                    units(&text).into_iter().map(|unit| PageEntry::new(&edit.path, kind, unit));
                found.extend(placed.map(KeptEntry::of));
            }
        }
        if let Some(rows) = &self.noted.rows {
            found.extend(rows.rows.iter().filter_map(|row| KeptEntry::of_row(&rows.name(), row)));
        }
        found
    }
}

impl KeptEntry {
    fn of(placed: PageEntry) -> Self {
        let entry = EntryToForget { lines: None, ..EntryToForget::of(&placed) };
        Self { entry, session: None, written: None, placed: Some(Box::new(placed)) }
    }

    fn of_row(database: &str, row: &Map<String, Value>) -> Option<Self> {
        let field = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
        let written = field("created_at");
        let entry = EntryToForget {
            id: field("id")?,
            key: field("key"),
            path: database.to_owned(),
            lines: None,
            written: written.clone(),
            text: field("content")?,
        };
        let written = written.and_then(|written| written.parse().ok());
        Some(Self { entry, session: field("session_id"), written, placed: None })
    }

    fn is_wanted(&self, wanted: &ForgetTarget, buried: &HashMap<String, HashSet<String>>) -> bool {
        if let ForgetTarget::Ids(ids) = wanted {
            // An entry without a stamp has no other id than the lines that it stood in.
            let is_buried = |id: &String| {
                let digest = sha256_hex(self.entry.text.as_bytes());
                buried.get(id).is_some_and(|texts| texts.contains(&digest))
            };
            let is_id = self.entry.id.parse::<StampId>().is_ok() && ids.contains(&self.entry.id);
            return is_id || ids.iter().any(is_buried);
        }
        if let Some(placed) = &self.placed {
            return wanted.takes(placed);
        }
        match wanted {
            ForgetTarget::Key(key) => self.entry.key.as_ref() == Some(key),
            ForgetTarget::Session(session) => self.session.as_ref() == Some(session),
            ForgetTarget::Written { since, until, .. } => {
                self.written.is_some_and(|at| is_in_time(at, *since, *until))
            }
            ForgetTarget::Ids(_) => false,
        }
    }
}

/// The digest of a text, whatever its line endings.
fn digest_of(text: &str) -> String {
    sha256_hex(text.replace("\r\n", "\n").trim().as_bytes())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::change::{Change, Edit};
    use crate::layout::MarkdownLayout;

    struct Place {
        _folder: tempfile::TempDir,
        site: MarkdownStore,
        ids: std::cell::Cell<u128>,
    }

    impl Place {
        fn new(text: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs_err::create_dir(folder.path().join("w")).unwrap();
            fs_err::write(folder.path().join("w/MEMORY.md"), text).unwrap();
            let state = folder.path().join("s");
            let site = MarkdownStore::open(&folder.path().join("w"), &state, MarkdownLayout::PLAIN)
                .unwrap();
            Self { _folder: folder, site, ids: std::cell::Cell::new(1) }
        }

        fn id(&self) -> Uuid {
            self.ids.set(self.ids.get() + 1);
            Uuid::from_u128(self.ids.get())
        }

        fn change(&self, what: &str, after: &str) {
            let seen = self.site.read("MEMORY.md").unwrap().unwrap();
            let edits = vec![Edit::replace(&seen, after.as_bytes().to_vec())];
            let held = self.site.lock().unwrap();
            let change = Change::new(what, edits);
            held.apply(&change, self.id(), Timestamp::UNIX_EPOCH).unwrap();
        }

        fn undo(&self) -> Result<(), crate::undo::RevertError> {
            let undo = self.site.plan_undo()?;
            self.site.lock().unwrap().undo(&undo, self.id(), Timestamp::UNIX_EPOCH)?;
            Ok(())
        }

        /// Erases the entries with this text; the file loses the line as well.
        fn erase(&self, text: &str, line: &str) -> Vec<String> {
            let after = self.text().replace(line, "");
            fs_err::write(self.site.root().join("MEMORY.md"), after).unwrap();
            let entry = EntryToForget {
                id: "MEMORY.md#L1".to_owned(),
                key: None,
                path: "MEMORY.md".to_owned(),
                lines: None,
                written: None,
                text: text.to_owned(),
            };
            let held = self.site.lock().unwrap();
            let erasure = held.erase_from_journal(&ErasedEntries::new([&entry])).unwrap();
            let scan = ErasureProbes::new([text]).scan(&[self.site.journal()]);
            assert_eq!(scan.found, [] as [PathBuf; 0]);
            erasure.dropped.into_iter().map(|(_, noted)| noted.what).collect()
        }

        fn text(&self) -> String {
            fs_err::read_to_string(self.site.root().join("MEMORY.md")).unwrap()
        }
    }

    #[test]
    fn a_change_of_several_entries_loses_one_and_can_be_undone() {
        let place = Place::new("- one\n- the secret of the weir\n- three\n- four\n");
        place.change("tidy", "- four\n");
        assert_eq!(place.erase("the secret of the weir", "nothing"), [] as [&str; 0]);
        place.undo().unwrap();
        assert_eq!(place.text(), "- one\n- three\n- four\n");
    }

    #[test]
    fn only_changes_about_the_entry_are_dropped_whatever_its_line_endings() {
        let place = Place::new("# M\r\n\r\n- a\r\n");
        place.change("first", "# M\r\n\r\n- a\r\n- b\r\n");
        place.change("secret", "# M\r\n\r\n- a\r\n- b\r\n- x\r\n  y\r\n");
        place.change("last", "# M\r\n\r\n- a\r\n- b\r\n- x\r\n  y\r\n- c\r\n");
        let kept = place.site.kept_entries().unwrap();
        assert_eq!(kept.len(), 0, "everything is in the file: {kept:?}");
        assert_eq!(place.erase("x\ny", "- x\r\n  y\r\n"), ["secret"]);
        assert_eq!(place.text(), "# M\r\n\r\n- a\r\n- b\r\n- c\r\n");
        place.undo().unwrap();
        assert_eq!(place.text(), "# M\r\n\r\n- a\r\n- b\r\n");
        place.undo().unwrap();
        assert_eq!(place.text(), "# M\r\n\r\n- a\r\n");
        assert!(place.undo().is_err());
    }

    #[test]
    fn what_an_undo_took_back_is_not_taken_back_again() {
        let place = Place::new("- a\n");
        place.change("first", "- a\n- b\n");
        // Another program adds text that is not an entry by itself, so records that contain it must
        // be removed.
        fs_err::write(place.site.root().join("MEMORY.md"), "- a\n  - nested secret\n- b\n")
            .unwrap();
        place.undo().unwrap();
        assert_eq!(place.text(), "- a\n  - nested secret\n");
        assert_eq!(place.erase("nested secret", "  - nested secret\n"), [] as [&str; 0]);
        assert!(place.undo().is_err(), "there is nothing left to undo");
        assert_eq!(place.text(), "- a\n");
    }

    #[test]
    fn what_was_forgotten_is_found_in_the_journal_and_nothing_else_is() {
        let place = Place::new("- **k**: gone by now\n- stays\n");
        place.change("forget", "- stays\n");
        let found = |wanted: &ForgetTarget| -> Vec<String> {
            let kept = place.site.kept_entries_of(wanted).unwrap();
            kept.into_iter().map(|value| value.entry.text).collect()
        };
        assert_eq!(found(&ForgetTarget::Key("k".to_owned())), ["gone by now"]);
        assert_eq!(found(&ForgetTarget::Key("other".to_owned())), [""; 0]);
        assert_eq!(found(&ForgetTarget::Ids(vec!["MEMORY.md#L1".to_owned()])), [""; 0]);
        place.undo().unwrap();
        assert_eq!(found(&ForgetTarget::Key("k".to_owned())), [""; 0], "it is in the file again");
    }
}
