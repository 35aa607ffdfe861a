//! Completes or reverts a change that was cut off: by a kill, by an error in the middle, or by
//! either of them while this was done before.
//!
//! If every edit was made, the change counts as made, although its caller was not notified.
//! Otherwise every edit whose result is still unchanged is reverted; content that another program
//! saved in between is kept.
//!
//! # The protocol
//!
//! A change has a record in the journal, `<number>-<id>.begun`, from before its first edit until
//! the change is made or reverted. It holds the whole former content of every file that is replaced
//! or removed, and is safe on the disk before such a file is touched. While the record exists:
//!
//! 1. The names that can exist beside a file are those of [`crate::replacing`], and each name tells
//!    who can have written the content. Recovery clears them first, edit by edit:
//!    - `.part` is ours and may be torn: it is deleted, never read.
//!    - `.swap` whose content matches the digest in its name is our complete copy: it is deleted.
//!      If it contains the former content of the file, or the content that the change wrote, it is
//!      deleted too: the record has the former, and the latter is ours. Any other content was
//!      displaced by our exchange, so another program saved it: it is moved back, or gives way to a
//!      newer save.
//!    - `.out` was moved away by us. If it contains the former content, or content of ours, it is
//!      deleted; any other file gets its name back.
//! 2. Then the file itself shows how far the edit got: not at all (its former content), completely
//!    (the digest in the record; the added text), partly (a log that ends with a part of the
//!    addition, or that was created and is still empty), or another program wrote the content.
//! 3. A file is reverted by the same steps by which it is changed. Afterwards 1 and 2 are repeated,
//!    so the result is read back and compared before anything relies on it.
//! 4. The record is renamed (`.done`) or deleted only when every file has its intended content and
//!    is safe on the disk. If a change was cut off and another program saved one of its files
//!    since, the former content is in no file any more: the record is kept as `.kept`, which `undo`
//!    skips; the last ten of them are kept.
//!
//! Every step either leaves the file unchanged or replaces it atomically, and every state between
//! two steps is one of those above. So recovery can be cut off anywhere, any number of times, and
//! run again. An operation that fails leaves the record in place for the next command.

use std::io;

use anemone_files::{Folder, SwapOutcome};
use anemone_format::Hex;

use crate::change::digest;
use crate::journal::{EditRecord, StoredChange};
use crate::replacing::{
    Beside, Content, Leftover, digest_of, give_back, is_newer, move_back, put, take,
};
use crate::rest::{Known, Rest};
use crate::store::{LockedStore, MAX_FILE_BYTES, MarkdownStoreError};

/// Attempts, as another program may save between two of our steps; none does it this often.
const TIMES: usize = 8;

/// How far an edit got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EditProgress {
    /// The file has its former content.
    Nothing,
    /// A part of the addition is in the file.
    Part,
    /// It is made.
    Made,
    /// Another program saved the file.
    Theirs,
}

/// Why a change is reverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Another program saved a file, so its version was kept.
    Refused,
    /// An error or a kill, after which it is unknown how far an edit got.
    CutOff,
}

/// The rest of a file after cutting out the addition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// A file.
    Left(Vec<u8>),
    /// Nothing but the head that came with it.
    Empty,
}

impl LockedStore<'_> {
    /// Completes or reverts changes that were cut off.
    pub(crate) fn recover(&self) -> Result<(), MarkdownStoreError> {
        for begun in self.cut_off()? {
            let mut is_made = true;
            for at in 0..begun.noted.edits.len() {
                is_made &= self.look_at(&begun, at)? == EditProgress::Made;
            }
            if !is_made || !self.complete(&begun)? {
                self.take_back(&begun, Cause::CutOff)?;
            }
        }
        Ok(())
    }

    /// Records that a change is complete, after all its edits were found made; `false` if another
    /// program saved one of its files since.
    fn complete(&self, begun: &StoredChange) -> Result<bool, MarkdownStoreError> {
        let mut acknowledged = self.acknowledged()?;
        for (edit, image) in begun.noted.edits.iter().zip(&begun.images) {
            self.make_durable(edit)?;
            if edit.added.is_none() {
                // Entries that the change removed must not be put back as if an editor had dropped
                // them.
                let there = self.site().read_looked(&edit.path)?;
                if !edit.is_after(there.as_ref().map(|(seen, _)| seen.sha256)) {
                    return Ok(false);
                }
                let after =
                    there.as_ref().map(|value| value.0.bytes.as_slice()).unwrap_or_default();
                let saved = there.as_ref().map_or(0, |value| value.1.modified_ns);
                acknowledged.rewrite(&edit.path, image, after, saved);
            }
        }
        self.keep_acknowledged(&mut acknowledged)?;
        self.commit(begun)?;
        Ok(true)
    }

    /// Reverts the edits of a change that were made, and drops its record.
    pub(crate) fn take_back(
        &self,
        begun: &StoredChange,
        cause: Cause,
    ) -> Result<(), MarkdownStoreError> {
        // Reverted entries must not be put back as if an editor had dropped them. This is recorded
        // first, because afterwards the added entries are no longer known.
        let mut acknowledged = self.acknowledged()?;
        let was = acknowledged.clone();
        for (at, (edit, image)) in begun.noted.edits.iter().zip(&begun.images).enumerate() {
            if let Some(added) = &edit.added {
                acknowledged.forget(&edit.path, &added.text);
            } else if self.look_at(begun, at)? == EditProgress::Made
                && let Some(there) = self.site().read(&edit.path)?
                && edit.is_after(Some(there.sha256))
            {
                acknowledged.rewrite(&edit.path, &there.bytes, image, 0);
            }
        }
        // On a full disk nothing needs to be written where nothing was made.
        if acknowledged != was {
            self.keep_acknowledged(&mut acknowledged)?;
        }
        let mut is_theirs = false;
        for at in 0..begun.noted.edits.len() {
            is_theirs |= self.revert(begun, at)? == EditProgress::Theirs;
        }
        for edit in &begun.noted.edits {
            self.make_durable(edit)?;
        }
        if is_theirs && cause == Cause::CutOff {
            return Ok(self.set_aside(begun)?);
        }
        Ok(self.drop_record(begun)?)
    }

    /// Reverts one edit; returns what its file is then.
    fn revert(&self, begun: &StoredChange, at: usize) -> Result<EditProgress, MarkdownStoreError> {
        let Some(edit) = begun.noted.edits.get(at) else { return Ok(EditProgress::Nothing) };
        let image = begun.images.get(at).map(Vec::as_slice).unwrap_or_default();
        for _ in 0..TIMES {
            let got = self.look_at(begun, at)?;
            if matches!(got, EditProgress::Nothing | EditProgress::Theirs) {
                return Ok(got);
            }
            // Exchanging a file that an editor has open would lose the text that it is about to
            // write.
            if let Some(added) = &edit.added {
                // A file that is shorter than it must be was emptied, and is being written.
                let length =
                    if got == EditProgress::Made { added.glue.len() + added.text.len() } else { 0 };
                let known = Known { look: None, size: added.at.saturating_add(length as u64) };
                if self.read_at_rest(&edit.path, Some(known))? == Rest::Saving {
                    break;
                }
            }
            let Some((folder, name)) = self.site().find(&edit.path)? else { break };
            let beside = Beside::new(begun.id.0, at);
            let undone = edit.take_back(&folder, name, &beside, image);
            undone.map_err(|error| self.site().fail(&edit.path, error))?;
        }
        Err(MarkdownStoreError::Saving(self.site().root().join(&edit.path)))
    }

    /// Says how far an edit got, and clears away leftovers beside its file.
    fn look_at(&self, begun: &StoredChange, at: usize) -> Result<EditProgress, MarkdownStoreError> {
        let Some(edit) = begun.noted.edits.get(at) else { return Ok(EditProgress::Nothing) };
        let image = begun.images.get(at).map(Vec::as_slice).unwrap_or_default();
        let look = || {
            let Some((folder, name)) = self.site().find(&edit.path)? else {
                return Ok(EditProgress::Nothing);
            };
            let cleared = edit.clear(&folder, name, &Beside::new(begun.id.0, at), image);
            let got = cleared.and_then(|()| edit.look_at(&folder, name, image));
            got.map_err(|error| self.site().fail(&edit.path, error))
        };
        match look() {
            // Another program put something else in its place since.
            Err(MarkdownStoreError::NotPlain(_) | MarkdownStoreError::TooLarge(_)) => {
                Ok(EditProgress::Theirs)
            }
            got => got,
        }
    }

    /// Makes the current content of a file safe on the disk.
    fn make_durable(&self, edit: &EditRecord) -> Result<(), MarkdownStoreError> {
        let Some((folder, name)) = self.site().find(&edit.path)? else { return Ok(()) };
        folder.sync_file(name).map_err(|error| self.site().fail(&edit.path, error))
    }
}

impl EditRecord {
    /// Clears away leftovers beside the file; see the protocol.
    fn clear(&self, folder: &Folder, name: &str, beside: &Beside, image: &[u8]) -> io::Result<()> {
        for leftover in beside.leftovers(folder)? {
            match leftover {
                Leftover::Part(part) => drop(folder.remove(&part)?),
                Leftover::Swap(swap, ours) => {
                    let displaced = Content::of(folder, &swap)?;
                    let there = Content::of(folder, name)?;
                    if displaced.is(&ours) || self.is_known(displaced, image) {
                        folder.remove(&swap)?;
                    } else if there.is(&ours) {
                        give_back(folder, name, &swap, &ours)?;
                    } else if there == Content::Missing {
                        move_back(folder, name, &swap)?;
                    } else if is_newer(folder, &swap, name)? {
                        folder.replace(&swap, name)?;
                    } else {
                        folder.remove(&swap)?;
                    }
                }
                Leftover::Out(out) => {
                    let moved = Content::of(folder, &out)?;
                    if self.is_known(moved, image) || self.is_own_log(folder, &out)? {
                        folder.remove(&out)?;
                    } else {
                        move_back(folder, name, &out)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether content is that before the change, which the record has, or that after it.
    fn is_known(&self, content: Content, image: &[u8]) -> bool {
        let Content::File(now) = content else { return false };
        (self.before.is_some() && now == digest(image)) || self.is_after(Some(now))
    }

    /// Whether a file contains only our addition to a log that we created, or a part of it.
    fn is_own_log(&self, folder: &Folder, name: &str) -> io::Result<bool> {
        let Some(added) = &self.added else { return Ok(false) };
        let there = folder.read(name, MAX_FILE_BYTES)?.map(|file| file.bytes).unwrap_or_default();
        Ok([added.glue.as_bytes(), added.text.as_bytes()].concat().starts_with(&there))
    }

    fn look_at(&self, folder: &Folder, name: &str, image: &[u8]) -> io::Result<EditProgress> {
        let there = folder.read(name, MAX_FILE_BYTES)?;
        if let Some(added) = &self.added {
            let Some(there) = there else { return Ok(EditProgress::Nothing) };
            if find(&there.bytes, added.text.as_bytes()).is_some() {
                return Ok(EditProgress::Made);
            }
            let is_part = self.part_in(&there.bytes).is_some();
            return Ok(if is_part { EditProgress::Part } else { EditProgress::Nothing });
        }
        let now = digest_of(there.as_ref());
        Ok(match now {
            _ if self.is_after(now) => EditProgress::Made,
            _ if now == self.before.map(|_| digest(image)) => EditProgress::Nothing,
            _ => EditProgress::Theirs,
        })
    }

    fn is_after(&self, now: Option<[u8; 32]>) -> bool {
        self.added.is_none() && now.map(|digest| Hex(&digest).to_string()) == self.after
    }

    fn take_back(
        &self,
        folder: &Folder,
        name: &str,
        beside: &Beside,
        image: &[u8],
    ) -> io::Result<SwapOutcome> {
        let there = folder.read(name, MAX_FILE_BYTES)?;
        let now = digest_of(there.as_ref());
        let Some(bytes) = there.map(|file| file.bytes).filter(|_| self.added.is_some()) else {
            // Content that another program saved after the check must be kept.
            if self.added.is_none() && !self.is_after(now) {
                return Ok(SwapOutcome::Refused);
            }
            return match (self.before, now) {
                (Some(_), _) => put(folder, name, beside, now, image),
                (None, Some(now)) => take(folder, name, beside, now),
                (None, None) => Ok(SwapOutcome::Done),
            };
        };
        let cut = self.cut_from(&bytes).or_else(|| {
            let start = self.part_in(&bytes)?;
            let creates = self.added.as_ref().is_some_and(|added| added.creates);
            Some(if creates { Cut::Empty } else { Cut::Left(bytes.get(..start)?.to_vec()) })
        });
        match cut {
            Some(Cut::Left(left)) => put(folder, name, beside, now, &left),
            Some(Cut::Empty) => take(folder, name, beside, now.unwrap_or_default()),
            None => Ok(SwapOutcome::Done),
        }
    }

    /// Cuts the added text out of a file, at any position; `None` if the file does not contain it.
    pub(crate) fn cut_from(&self, bytes: &[u8]) -> Option<Cut> {
        let added = self.added.as_ref()?;
        let text = added.text.as_bytes();
        let start = find(bytes, text)?;
        let rest = bytes.get(start + text.len()..)?;
        let ahead = bytes.get(..start)?;
        // At the end, and as we left it: then all that we added goes.
        let ahead = match ahead.strip_suffix(added.glue.as_bytes()) {
            Some([]) if rest.is_empty() && !added.glue.is_empty() => return Some(Cut::Empty),
            Some(was) if rest.is_empty() => was,
            _ => ahead,
        };
        Some(Cut::Left([ahead, rest].concat()))
    }

    /// Returns where a part of the addition begins: the file ends with it, or was created for it
    /// and is empty.
    fn part_in(&self, bytes: &[u8]) -> Option<usize> {
        let added = self.added.as_ref()?;
        if bytes.is_empty() {
            return added.creates.then_some(0);
        }
        let start = usize::try_from(added.at).ok()?;
        let tail = bytes.get(start..).filter(|tail| !tail.is_empty())?;
        let whole = [added.glue.as_bytes(), added.text.as_bytes()].concat();
        (tail.len() < whole.len() && whole.starts_with(tail)).then_some(start)
    }
}

/// Finds the last place of a text.
fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    if text.is_empty() {
        return None;
    }
    memchr::memmem::rfind(bytes, text)
}

#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use uuid::Uuid;

    use crate::change::digest;
    use crate::replacing::Beside;
    use crate::{Change, Edit, MarkdownLayout, MarkdownStore};

    const OLD: &str = "- old\n";
    const NEW: &str = "- new one\n";

    /// The name of the copy that replaces the first file.
    fn swap(id: Uuid) -> String {
        Beside::new(id, 0).swap(digest(NEW.as_bytes()))
    }

    struct Place {
        kept: tempfile::TempDir,
        site: MarkdownStore,
    }

    impl Place {
        fn new() -> Self {
            let kept = tempfile::tempdir().unwrap();
            fs_err::create_dir_all(kept.path().join("w/memory")).unwrap();
            let state = kept.path().join("s");
            let site =
                MarkdownStore::open(&kept.path().join("w"), &state, MarkdownLayout::PLAIN).unwrap();
            for name in ["a.md", "b.md", "c.md"] {
                fs_err::write(site.root().join(name), OLD).unwrap();
            }
            Self { kept, site }
        }

        fn write(&self, name: &str, text: &str) {
            fs_err::write(self.site.root().join(name), text).unwrap();
        }

        fn text(&self, name: &str) -> Option<String> {
            fs_err::read_to_string(self.site.root().join(name)).ok()
        }

        /// Begins the change of all four kinds, as a process does that is killed then.
        fn begin(&self) -> Uuid {
            let seen = |name: &str| self.site.read(name).unwrap().unwrap();
            let (a, b) = (seen("a.md"), seen("b.md"));
            let change = Change::new(
                "tidy",
                vec![
                    Edit::replace(&a, NEW.into()),
                    Edit::Remove { path: "b.md".to_owned(), before: b.sha256 },
                    Edit::Append {
                        path: "c.md".to_owned(),
                        head: String::new(),
                        text: NEW.to_owned(),
                    },
                    Edit::Write { path: "d.md".to_owned(), before: None, after: NEW.into() },
                ],
            );
            let seen = [Some(a), Some(b), self.site.read("c.md").unwrap(), None];
            let id = Uuid::from_u128(7);
            let held = self.site.lock().unwrap();
            held.begin(&change, &seen, None, id, Timestamp::UNIX_EPOCH).unwrap();
            id
        }

        fn recover(&self) -> usize {
            drop(self.site.lock().unwrap());
            let workspace = fs_err::read_dir(self.kept.path().join("w")).unwrap();
            let names = workspace.map(|workspace| workspace.unwrap().file_name());
            assert!(!names.into_iter().any(|name| name.to_string_lossy().starts_with('.')));
            self.site.changes().unwrap().len()
        }

        #[track_caller]
        fn assert_untouched(&self) {
            for name in ["a.md", "b.md", "c.md"] {
                assert_eq!(self.text(name).as_deref(), Some(OLD), "{name}");
            }
            assert_eq!(self.text("d.md"), None);
        }
    }

    #[test]
    fn a_kill_before_the_first_edit_leaves_nothing() {
        let place = Place::new();
        let id = place.begin();
        place.write(&Beside::new(id, 0).part(), NEW);
        assert_eq!(place.recover(), 0);
        place.assert_untouched();
    }

    #[test]
    fn a_new_file_that_was_cut_off_never_appears() {
        for part in ["", "- ne"] {
            let place = Place::new();
            let id = place.begin();
            place.write(&Beside::new(id, 3).part(), part);
            assert_eq!(place.recover(), 0);
            place.assert_untouched();
        }
    }

    #[test]
    fn a_kill_in_the_middle_is_taken_back() {
        let place = Place::new();
        let id = place.begin();
        // Exchanged, with the old file still beside it; moved away; a part of a line.
        place.write("a.md", NEW);
        place.write(&swap(id), OLD);
        let (from, to) = (place.site.root().join("b.md"), Beside::new(id, 1).out());
        fs_err::rename(from, place.site.root().join(to)).unwrap();
        place.write("c.md", &format!("{OLD}- ne"));
        assert_eq!(place.recover(), 0);
        place.assert_untouched();
    }

    #[test]
    fn a_kill_after_the_last_edit_is_a_change() {
        let place = Place::new();
        place.begin();
        place.write("a.md", NEW);
        fs_err::remove_file(place.site.root().join("b.md")).unwrap();
        place.write("c.md", &format!("{OLD}{NEW}"));
        place.write("d.md", NEW);
        assert_eq!(place.recover(), 1);
        assert_eq!(place.text("a.md").as_deref(), Some(NEW));
        let undo = place.site.plan_undo().unwrap();
        let held = place.site.lock().unwrap();
        held.undo(&undo, Uuid::from_u128(8), Timestamp::UNIX_EPOCH).unwrap();
        place.assert_untouched();
    }

    #[test]
    fn what_an_editor_saved_in_the_middle_stays() {
        let place = Place::new();
        let id = place.begin();
        // Our content is in place, and the displaced file is one that an editor had just saved.
        place.write("a.md", NEW);
        place.write(&swap(id), "- theirs\n");
        place.write("b.md", "- theirs too\n");
        assert_eq!(place.recover(), 0);
        assert_eq!(place.text("a.md").as_deref(), Some("- theirs\n"));
        assert_eq!(place.text("b.md").as_deref(), Some("- theirs too\n"));
        assert_eq!(place.text("c.md").as_deref(), Some(OLD));
        // The former content is in no file any more, so the record is kept.
        let journal = fs_err::read_dir(place.kept.path().join("s/journal")).unwrap();
        let names: Vec<_> = journal.map(|one| one.unwrap().path()).collect();
        assert!(names.len() == 1 && names[0].extension().unwrap() == "kept", "{names:?}");
    }

    #[test]
    fn a_torn_copy_is_never_taken_for_a_save() {
        for torn in ["", "- n", &OLD[..2]] {
            let place = Place::new();
            let id = place.begin();
            place.write("a.md", NEW);
            place.write(&Beside::new(id, 0).part(), torn);
            assert_eq!(place.recover(), 0);
            place.assert_untouched();
        }
    }

    #[test]
    fn a_record_that_is_no_record_is_nothing() {
        let place = Place::new();
        place.begin();
        let journal = place.kept.path().join("s/journal");
        for one in fs_err::read_dir(&journal).unwrap() {
            fs_err::write(one.unwrap().path(), "{").unwrap();
        }
        assert_eq!(place.recover(), 0);
        assert_eq!(fs_err::read_dir(&journal).unwrap().count(), 0);
        place.assert_untouched();
    }
}
