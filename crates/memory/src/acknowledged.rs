//! Entries that were acknowledged recently, so that no editor drops them unnoticed.
//!
//! An editor or an agent loads a file, works on it, and saves it: the saved text lacks what was
//! added in between. Editors do not take our lock, so this cannot be prevented, only repaired. The
//! text of each acknowledged entry is kept for a while, and the next holder of the lock checks the
//! file: if the file is not as we left it, was last saved within [`WINDOW_NS`] after the entry was
//! added, and does not contain the entry, the entry is added again, at the end. This is only done
//! when the file rests, see [`crate::rest`]: an editor that emptied it may be about to write the
//! entry itself.
//!
//! An entry that a change of ours removed (`forget`, `undo`) is no longer kept, so it does not come
//! back. The limits of the rule: an editor that loads a file and saves it after the window drops
//! what was added meanwhile, and so does one that saves twice, the second time after the window. An
//! entry that a person deletes by hand right after it was added comes back once.
//!
//! Times come from the file system, because its clock dates the saves.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use anemone_files::{AppendOutcome, FileStamp, faults, if_found};
use anemone_format::{ProvenanceStamp, StampId};
use serde::{Deserialize, Serialize};

use crate::active_context::ACTIVE_CONTEXT;
use crate::journal::{JournalError, UNFINISHED, keep_private};
use crate::page::{line_break_of, units};
use crate::recall_counts::RECALLS;
use crate::rest::{Known, Rest};
use crate::store::{LockedStore, MarkdownStore, MarkdownStoreError};

/// How long after an entry was added an editor may still save a text that was loaded before.
const WINDOW_NS: i64 = 120_000_000_000;
/// Entries that are kept, at most.
const MOST: usize = 5_000;
/// And bytes of their texts.
const MOST_BYTES: usize = 4 << 20;
/// No program saves this often between two of our steps.
const ROUNDS: usize = 8;
/// Files whose sizes are kept, at most.
const MOST_SIZES: usize = 1_000;
/// The text before the id of a stamp.
const STAMP: &str = "<!-- anemone: ";

/// An entry that was dropped by an editor and put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RestoredText {
    /// The file.
    pub path: String,
    /// The entry's text, exactly as in the file.
    pub text: String,
}

/// The acknowledged entries, and the state in which we left the files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Acknowledged {
    kept: Vec<KeptText>,
    left: BTreeMap<String, FileStamp>,
    /// How many bytes files had when they were last seen at rest.
    #[serde(default)]
    sizes: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KeptText {
    path: String,
    /// The id of its stamp; an entry without a stamp is identified by its text.
    id: Option<StampId>,
    text: String,
    added_ns: i64,
}

impl MarkdownStore {
    pub(crate) fn acknowledged_file(&self) -> PathBuf {
        self.state().join("acknowledged.json")
    }
}

fn sweep_unfinished(folder: &Path) -> io::Result<()> {
    faults::step()?;
    let entries = if_found(fs_err::read_dir(folder))?;
    for entry in entries.into_iter().flatten() {
        let path = entry?.path();
        let is_unfinished = path.extension().is_some_and(|extension| extension == UNFINISHED);
        if is_unfinished && path.file_stem().is_some_and(|name| name != RECALLS) {
            faults::step()?;
            fs_err::remove_file(&path)?;
        }
    }
    Ok(())
}

impl LockedStore<'_> {
    /// Reads the acknowledged entries. A damaged file protects nothing and is replaced; a file that
    /// cannot be read now may be readable later, and is an error.
    pub(crate) fn acknowledged(&self) -> Result<Acknowledged, JournalError> {
        let path = self.site().acknowledged_file();
        match if_found(faults::step().and_then(|()| fs_err::read(&path))) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes.unwrap_or_default()).unwrap_or_default()),
            Err(source) => Err(JournalError { path, source }),
        }
    }

    /// Removes files of the memory's state that a killed process did not finish. Under the lock no
    /// other process writes them; the counts of recalls alone are written without it.
    pub(crate) fn sweep_state(&self) -> Result<(), JournalError> {
        let site = self.site();
        for folder in [site.state().to_owned(), site.forgetting_folder(), site.session_folder()] {
            sweep_unfinished(&folder).map_err(|source| JournalError { path: folder, source })?;
        }
        Ok(())
    }

    pub(crate) fn keep_acknowledged(&self, what: &mut Acknowledged) -> Result<(), JournalError> {
        what.shorten();
        let path = self.site().acknowledged_file();
        let fail = |source| JournalError { path: path.clone(), source };
        let bytes = serde_json::to_vec(what).map_err(|error| fail(error.into()))?;
        keep_private(&path, &bytes).map_err(fail)
    }

    /// Puts back what editors dropped since we last looked.
    pub(crate) fn restore(&self) -> Result<Vec<RestoredText>, MarkdownStoreError> {
        let mut acknowledged = self.acknowledged()?;
        let mut restored = Vec::new();
        let paths: HashSet<String> =
            acknowledged.kept.iter().map(|file| file.path.clone()).collect();
        let mut changed = false;
        for path in &paths {
            // Something else is in the place of the file now; the next write to it reports that.
            let Ok(Some((folder, name))) = self.site().find(path) else { continue };
            let look = folder.stamp(name).ok().flatten();
            if look.is_none() || look.as_ref() == acknowledged.left.get(path) {
                continue;
            }
            changed = true;
            match self.settle(&mut acknowledged, path) {
                Ok(some) => restored.extend(some),
                Err(MarkdownStoreError::NotPlain(_) | MarkdownStoreError::TooLarge(_)) => {}
                Err(error) => return Err(error),
            }
        }
        if changed {
            self.keep_acknowledged(&mut acknowledged)?;
        }
        Ok(restored)
    }

    /// Checks that a file contains every acknowledged entry, adds the missing ones, and records the
    /// resulting state of the file. A file that another program keeps saving is left to the next
    /// command.
    pub(crate) fn settle(
        &self,
        acknowledged: &mut Acknowledged,
        path: &str,
    ) -> Result<Vec<RestoredText>, MarkdownStoreError> {
        let mut restored = Vec::new();
        for _ in 0..ROUNDS {
            let known = acknowledged.known(path);
            acknowledged.left.remove(path);
            let Rest::Resting(Some((seen, look))) = self.read_at_rest(path, Some(known))? else {
                break;
            };
            let text = String::from_utf8_lossy(&seen.bytes);
            let missing = acknowledged.missing(path, &text, look);
            if missing.is_empty() {
                acknowledged.leave(path, look);
                break;
            }
            let added = put_back(&seen.bytes, &missing);
            match self.append(path, &added, Some(look))? {
                AppendOutcome::Done(look) => acknowledged.leave(path, look),
                // The next round sees whether it is there.
                AppendOutcome::Contested(_)
                | AppendOutcome::Refused
                | AppendOutcome::Displaced(_) => continue,
            }
            let again = missing.into_iter();
            restored.extend(again.map(|text| RestoredText { path: path.to_owned(), text }));
        }
        restored.sort_unstable_by(|one, other| one.text.cmp(&other.text));
        restored.dedup();
        Ok(restored)
    }
}

/// Returns the text to append to a file so that it contains the entries again. If a kill left the
/// beginning of an entry at the end of the file, that entry is completed.
fn put_back(bytes: &[u8], missing: &[String]) -> String {
    let is_start = |at: usize| at == 0 || bytes.get(at - 1) == Some(&b'\n');
    let begun = |text: &String| {
        let longest = text.len().saturating_sub(1).min(bytes.len());
        let fits = |length: &usize| {
            let at = bytes.len() - length;
            is_start(at) && text.as_bytes().get(..*length) == bytes.get(at..)
        };
        (2..=longest).rev().find(fits).filter(|length| text.is_char_boundary(*length))
    };
    let first = missing.iter().enumerate().find_map(|(at, text)| Some((at, begun(text)?)));
    let mut added = String::new();
    if let Some((at, length)) = first {
        added.push_str(&missing[at][length..]);
    } else if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        added.push_str(line_break_of(bytes));
    }
    let rest =
        missing.iter().enumerate().filter(|(at, _)| first.is_none_or(|first| first.0 != *at));
    rest.for_each(|(_, text)| added.push_str(text));
    added
}

impl Acknowledged {
    /// Records an addition to a file: each entry that has a stamp, or the text as a whole.
    pub(crate) fn add(&mut self, path: &str, text: &str, added_ns: i64) {
        let found = units(text);
        let mut stamped =
            found.iter().filter_map(|found| Some((found, found.stamp.as_ref()?.id))).peekable();
        let mut keep = |id, text: &str| self.keep(path, id, text, added_ns);
        if stamped.peek().is_none() {
            return keep(None, text);
        }
        stamped.for_each(|(unit, id)| keep(Some(id), &text[unit.bytes.clone()]));
    }

    /// Keeps an entry, once. A composed file is replaced with each session, so a line that is missing
    /// from it was not dropped: somebody rewrote the file.
    fn keep(&mut self, path: &str, id: Option<StampId>, text: &str, added_ns: i64) {
        if path == ACTIVE_CONTEXT {
            return;
        }
        let is_same = |value: &KeptText| {
            value.path == path && value.id == id && (id.is_some() || value.text == text)
        };
        self.kept.retain(|value| !is_same(value));
        self.kept.push(KeptText { path: path.to_owned(), id, text: text.to_owned(), added_ns });
    }

    /// Returns how we last knew a file.
    pub(crate) fn known(&self, path: &str) -> Known {
        Known {
            look: self.left.get(path).copied(),
            size: self.sizes.get(path).copied().unwrap_or_default(),
        }
    }

    /// Notes how a file looks that has all it should have.
    pub(crate) fn leave(&mut self, path: &str, look: FileStamp) {
        self.left.insert(path.to_owned(), look);
        self.sizes.insert(path.to_owned(), look.size);
    }

    /// Records a change of ours to a file: added entries are kept, removed ones are not.
    pub(crate) fn rewrite(&mut self, path: &str, before: &[u8], after: &[u8], added_ns: i64) {
        let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
        let (was, is) = (ids(&before), ids(&after));
        // An entry that was missing before the change was dropped by an editor a moment ago: it
        // still has to be put back.
        let is_taken_out =
            |value: &KeptText| value.is_in(&before, &was) && !value.is_in(&after, &is);
        self.kept.retain(|value| value.path != path || !is_taken_out(value));
        if is.is_subset(&was) {
            return;
        }
        for unit in units(&after) {
            let id = unit.stamp.map(|stamp| stamp.id);
            if id.is_some_and(|id| is.contains(&id) && !was.contains(&id)) {
                self.keep(path, id, &after[unit.bytes], added_ns);
            }
        }
    }

    /// Drops the entries of a text that a file was expected to contain.
    pub(crate) fn forget(&mut self, path: &str, text: &str) {
        let gone = ids(text);
        let is_gone = |value: &KeptText| match value.id {
            Some(id) => gone.contains(&id),
            None => text.contains(&value.text),
        };
        let number = self.kept.len();
        self.kept.retain(|value| value.path != path || !is_gone(value));
        if self.kept.len() < number {
            self.left.remove(path);
        }
    }

    /// Forgets entries by their texts; says whether there were any.
    pub(crate) fn forget_where(&mut self, is_gone: impl Fn(&str) -> bool) -> bool {
        let before = self.kept.len();
        self.kept.retain(|kept| !is_gone(&kept.text));
        self.kept.len() < before
    }

    /// Returns the texts that a file lacks, and forgets those that are past help.
    fn missing(&mut self, path: &str, text: &str, look: FileStamp) -> Vec<String> {
        let there = ids(text);
        let is_lost = |value: &KeptText| value.path == path && !value.is_in(text, &there);
        // A file is saved when its text is written, which may be a moment before it gets its name.
        // One that is much older than the entry was restored from somewhere.
        let in_time = |value: &KeptText| {
            let (from, to) = (value.added_ns - WINDOW_NS, value.added_ns.saturating_add(WINDOW_NS));
            (from..=to).contains(&look.modified_ns)
        };
        self.kept.retain(|value| !is_lost(value) || in_time(value));
        self.kept.iter().filter(|value| is_lost(value)).map(|value| value.text.clone()).collect()
    }

    /// Drops entries that no save can drop any more, and those above the limit.
    fn shorten(&mut self) {
        let newest = self.kept.iter().map(|value| value.added_ns).max().unwrap_or_default();
        let left = &self.left;
        // A file that we could not read may have been saved long ago.
        let is_safe = |file: &KeptText| {
            file.added_ns.saturating_add(WINDOW_NS) < newest && left.contains_key(&file.path)
        };
        self.kept.retain(|value| !is_safe(value));
        let mut over = self.kept.len().saturating_sub(MOST);
        let mut bytes: usize = self.kept.iter().skip(over).map(|value| value.text.len()).sum();
        for it in self.kept.iter().skip(over) {
            if bytes <= MOST_BYTES {
                break;
            }
            bytes -= it.text.len();
            over += 1;
        }
        self.kept.drain(..over);
        let kept: HashSet<&str> = self.kept.iter().map(|file| file.path.as_str()).collect();
        self.left.retain(|path, _| kept.contains(path.as_str()));
        while self.sizes.len() > MOST_SIZES {
            // Names of logs begin with their days: the oldest goes.
            self.sizes.pop_first();
        }
    }
}

impl KeptText {
    fn is_in(&self, text: &str, ids: &HashSet<StampId>) -> bool {
        match self.id {
            Some(id) => ids.contains(&id) || self.is_in_unstamped(text),
            None => text.contains(&self.text),
        }
    }

    /// Whether only the stamp was taken off the entry.
    fn is_in_unstamped(&self, text: &str) -> bool {
        let Some((stamp, _)) = ProvenanceStamp::at_end_of(&self.text) else { return false };
        let bare = self.text[..stamp.start].trim_end();
        let is_whole = |at: usize| {
            let rest = text[at + bare.len()..].lines().next().unwrap_or_default();
            (at == 0 || text[..at].ends_with('\n')) && rest.trim().is_empty()
        };
        !bare.is_empty() && text.match_indices(bare).any(|(at, _)| is_whole(at))
    }
}

/// Returns the ids of all stamps in a text.
fn ids(text: &str) -> HashSet<StampId> {
    let id = |at: usize| text.get(at + STAMP.len()..)?.split_once(' ')?.0.parse().ok();
    text.match_indices(STAMP).filter_map(|(at, _)| id(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u8) -> String {
        format!(
            "- {number} <!-- anemone: 019a89c2-7c11-7d3e-9f00-1c2d3e4f5a{number:02} agent \
             2026-11-16T10:00:00Z -->\n"
        )
    }

    #[test]
    fn only_what_a_change_of_ours_took_out_is_no_longer_kept() {
        let mut acknowledged = Acknowledged::default();
        for number in 1..=3 {
            acknowledged.add("a.md", &entry(number), 0);
        }
        // An editor dropped the first a moment ago; we take the second out and put a fourth in.
        let before = entry(2) + &entry(3);
        let after = entry(3) + &entry(4);
        acknowledged.rewrite("a.md", before.as_bytes(), after.as_bytes(), 0);
        let kept: Vec<&str> = acknowledged.kept.iter().map(|value| value.text.as_str()).collect();
        assert_eq!(kept, [entry(1), entry(3), entry(4)]);
    }

    #[test]
    fn an_entry_that_a_kill_left_half_put_back_is_completed() {
        let (one, two) = (entry(1), entry(2));
        for length in [5, 10, one.len() - 1] {
            let there = format!("# Log\n{}", &one[..length]);
            let added = put_back(there.as_bytes(), &[two.clone(), one.clone()]);
            assert_eq!(there + &added, format!("# Log\n{one}{two}"));
        }
        assert_eq!(put_back(b"mine", std::slice::from_ref(&one)), format!("\n{one}"));
        assert_eq!(put_back(b"", std::slice::from_ref(&one)), one);
    }

    #[test]
    fn an_entry_whose_stamp_somebody_removed_is_there_until_it_is_taken_out() {
        let mut acknowledged = Acknowledged::default();
        acknowledged.add("a.md", &entry(1), 0);
        for there in ["- 1\n", "# Log\r\n- 1\r\n- 2\r\n"] {
            let missing = acknowledged.missing("a.md", there, FileStamp::default());
            assert_eq!(missing, [] as [&str; 0], "{there:?}");
        }
        let missing = acknowledged.missing("a.md", "- 12\n  - 1\n", FileStamp::default());
        assert_eq!(missing, [entry(1)]);
        acknowledged.rewrite("a.md", b"- 1\n- 2\n", b"- 2\n", 1);
        assert_eq!(acknowledged.kept, []);
    }

    #[test]
    fn an_entry_is_kept_once() {
        let mut acknowledged = Acknowledged::default();
        acknowledged.add("a.md", &entry(1), 0);
        acknowledged.rewrite("a.md", b"", entry(1).as_bytes(), 1);
        assert_eq!(acknowledged.kept.len(), 1);
    }
}
