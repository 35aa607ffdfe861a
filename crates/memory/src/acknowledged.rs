//! What was acknowledged a moment ago, so that no editor drops it unseen.
//!
//! An editor or an agent loads a file, thinks, and saves it: what was added in between is not in
//! what it saves. It knows no lock, so this cannot be prevented, only mended. For each entry that
//! was acknowledged the text is kept for a while, and whoever takes the lock next looks: when the
//! file is not as we left it, was last saved within [`WINDOW_NS`] after the entry was added, and
//! does not have the entry, the entry is added again, at the end.
//!
//! What a change of ours took out (`forget`, `undo`) is not kept any longer, so it does not come
//! back. The limits of the rule: whoever loads a file and saves it later than that drops what was
//! added meanwhile, as does whoever saves twice, the second time later than that; and an entry that
//! a person deletes by hand right after it was added comes back once.
//!
//! Times are those of the file system: that is the clock by which files were saved.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::folder::Look;
use crate::journal::{JournalError, keep_private};
use crate::page::units;
use crate::site::{Held, Site, SiteError};

/// How long after an entry was added a save can be one that does not know it.
const WINDOW_NS: i64 = 120_000_000_000;
/// Entries that are kept, at most.
const MOST: usize = 5_000;
/// And bytes of their texts.
const MOST_BYTES: usize = 4 << 20;
/// Nobody saves this often between two of our steps.
const ROUNDS: usize = 8;
/// What stands before the id of a stamp.
const STAMP: &str = "<!-- anemone: ";

/// An entry that was dropped by an editor and put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Restored {
    /// The file.
    pub path: String,
    /// The entry's text, as it stands in the file.
    pub text: String,
}

/// What was acknowledged, and how we left the files.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Acknowledged {
    kept: Vec<Kept>,
    left: BTreeMap<String, Look>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    path: String,
    /// The id of its stamp; without one, its text is what it is known by.
    id: Option<Uuid>,
    text: String,
    added_ns: i64,
}

impl Site {
    pub(crate) fn acknowledged_file(&self) -> PathBuf {
        self.state().join("acknowledged.json")
    }
}

impl Held<'_> {
    /// Reads what was acknowledged; what cannot be read protects nothing and is begun anew.
    pub(crate) fn acknowledged(&self) -> Acknowledged {
        let bytes = fs_err::read(self.site().acknowledged_file()).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub(crate) fn keep_acknowledged(&self, what: &mut Acknowledged) -> Result<(), JournalError> {
        what.shorten();
        let path = self.site().acknowledged_file();
        let fail = |source| JournalError { path: path.clone(), source };
        let bytes = serde_json::to_vec(what).map_err(|error| fail(error.into()))?;
        keep_private(&path, &bytes).map_err(fail)
    }

    /// Puts back what editors dropped since we last looked.
    pub(crate) fn restore(&self) -> Result<Vec<Restored>, SiteError> {
        let mut acknowledged = self.acknowledged();
        let mut restored = Vec::new();
        let paths: HashSet<String> = acknowledged.kept.iter().map(|it| it.path.clone()).collect();
        let mut changed = false;
        for path in &paths {
            // Where a file should be is something else now: whoever writes to it is told.
            let Ok(Some((folder, name))) = self.site().find(path) else { continue };
            let look = folder.look(name).ok().flatten();
            if look.is_none() || look.as_ref() == acknowledged.left.get(path) {
                continue;
            }
            changed = true;
            match self.settle(&mut acknowledged, path) {
                Ok(some) => restored.extend(some),
                Err(SiteError::NotPlain { .. } | SiteError::TooLarge { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if changed {
            self.keep_acknowledged(&mut acknowledged)?;
        }
        Ok(restored)
    }

    /// Looks whether a file has all that was acknowledged, adds what it lacks, and notes how the
    /// file looks then.
    pub(crate) fn settle(
        &self,
        acknowledged: &mut Acknowledged,
        path: &str,
    ) -> Result<Vec<Restored>, SiteError> {
        let mut restored = Vec::new();
        for _ in 0..ROUNDS {
            acknowledged.left.remove(path);
            let Some((seen, look)) = self.site().read_looked(path)? else { break };
            let text = String::from_utf8_lossy(&seen.bytes);
            let missing = acknowledged.missing(path, &text, look);
            if missing.is_empty() {
                acknowledged.left.insert(path.to_owned(), look);
                break;
            }
            let mut added = String::new();
            if !seen.bytes.is_empty() && !seen.bytes.ends_with(b"\n") {
                added.push('\n');
            }
            missing.iter().for_each(|it| added.push_str(it));
            let (folder, name) = self.site().find_or_make(path)?;
            let done = folder.append(name, added.as_bytes());
            done.map_err(|error| self.site().fail(path, error))?;
            let again = missing.into_iter();
            restored.extend(again.map(|text| Restored { path: path.to_owned(), text }));
        }
        restored.dedup();
        Ok(restored)
    }
}

impl Acknowledged {
    /// Notes what was added to a file: each entry that has a stamp, or the text as a whole.
    pub(crate) fn add(&mut self, path: &str, text: &str, added_ns: i64) {
        let found = units(text);
        let mut stamped =
            found.iter().filter_map(|it| Some((it, it.stamp.as_ref()?.id))).peekable();
        let mut keep = |id, text: &str| {
            let path = path.to_owned();
            self.kept.push(Kept { path, id, text: text.to_owned(), added_ns });
        };
        if stamped.peek().is_none() {
            return keep(None, text);
        }
        stamped.for_each(|(unit, id)| keep(Some(id), &text[unit.bytes.clone()]));
    }

    /// Notes what a change of ours made of a file: what it put in is kept, what it took out is not.
    pub(crate) fn rewrite(&mut self, path: &str, before: &[u8], after: &[u8], added_ns: i64) {
        let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
        let (was, is) = (ids(&before), ids(&after));
        // What was not there before, an editor dropped a moment ago: it is still to be put back.
        let is_taken_out = |it: &Kept| it.is_in(&before, &was) && !it.is_in(&after, &is);
        self.kept.retain(|it| it.path != path || !is_taken_out(it));
        if is.is_subset(&was) {
            return;
        }
        for unit in units(&after) {
            let id = unit.stamp.map(|it| it.id);
            if id.is_some_and(|id| is.contains(&id) && !was.contains(&id)) {
                let (path, text) = (path.to_owned(), after[unit.bytes].to_owned());
                self.kept.push(Kept { path, id, text, added_ns });
            }
        }
    }

    /// Forgets what a file was to have.
    pub(crate) fn forget(&mut self, path: &str, text: &str) {
        let gone = ids(text);
        let is_gone = |it: &Kept| match it.id {
            Some(id) => gone.contains(&id),
            None => text.contains(&it.text),
        };
        self.kept.retain(|it| it.path != path || !is_gone(it));
        self.left.remove(path);
    }

    /// Forgets entries by their texts; says whether there were any.
    pub(crate) fn forget_where(&mut self, is_gone: impl Fn(&str) -> bool) -> bool {
        let before = self.kept.len();
        self.kept.retain(|kept| !is_gone(&kept.text));
        self.kept.len() < before
    }

    /// Returns the texts that a file lacks, and forgets those that are past help.
    fn missing(&mut self, path: &str, text: &str, look: Look) -> Vec<String> {
        let there = ids(text);
        let is_lost = |it: &Kept| it.path == path && !it.is_in(text, &there);
        // A file is saved when its text is written, which may be a moment before it gets its name.
        // One that is much older than the entry was restored from somewhere.
        let in_time = |it: &Kept| {
            let (from, to) = (it.added_ns - WINDOW_NS, it.added_ns.saturating_add(WINDOW_NS));
            (from..=to).contains(&look.modified_ns)
        };
        self.kept.retain(|it| !is_lost(it) || in_time(it));
        self.kept.iter().filter(|it| is_lost(it)).map(|it| it.text.clone()).collect()
    }

    /// Forgets what no save can drop any more, and what is too much.
    fn shorten(&mut self) {
        let newest = self.kept.iter().map(|it| it.added_ns).max().unwrap_or_default();
        let left = &self.left;
        // A file that we could not look at may have been saved long ago.
        let is_safe = |it: &Kept| {
            it.added_ns.saturating_add(WINDOW_NS) < newest && left.contains_key(&it.path)
        };
        self.kept.retain(|it| !is_safe(it));
        let mut over = self.kept.len().saturating_sub(MOST);
        let mut bytes: usize = self.kept.iter().skip(over).map(|it| it.text.len()).sum();
        for it in self.kept.iter().skip(over) {
            if bytes <= MOST_BYTES {
                break;
            }
            bytes -= it.text.len();
            over += 1;
        }
        self.kept.drain(..over);
        let kept: HashSet<&str> = self.kept.iter().map(|it| it.path.as_str()).collect();
        self.left.retain(|path, _| kept.contains(path.as_str()));
    }
}

impl Kept {
    fn is_in(&self, text: &str, ids: &HashSet<Uuid>) -> bool {
        match self.id {
            Some(id) => ids.contains(&id),
            None => text.contains(&self.text),
        }
    }
}

/// Returns the ids of all stamps in a text.
fn ids(text: &str) -> HashSet<Uuid> {
    let id = |at: usize| Uuid::try_parse(text.get(at + STAMP.len()..at + STAMP.len() + 36)?).ok();
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
        let kept: Vec<&str> = acknowledged.kept.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(kept, [entry(1), entry(3), entry(4)]);
    }
}
