//! The table of stamps, a file of the workspace: see [`StampTable`].

use std::io;
use std::path::Path;

use anemone_files::{AppendOutcome, Folder};
use anemone_format::{ProvenanceStamp, StampId, StampTable};

use crate::change::ApplyError;
use crate::store::{LockedStore, MAX_FILE_BYTES, MarkdownStore, MarkdownStoreError};

/// No other program writes to the table, but a user may copy another one over it.
const TIMES: usize = 8;
/// The table while it is rewritten.
const UNFINISHED: &str = ".anemone-stamps.part";

impl MarkdownStore {
    /// Reads the stamps of the memory. An unreadable table counts as empty: the entries exist all
    /// the same, and it is unknown who wrote them.
    #[must_use]
    pub fn stamps(&self) -> StampTable {
        stamps_in(self.root())
    }
}

/// Reads the table of stamps in a folder. A link is not followed.
#[must_use]
pub fn stamps_in(root: &Path) -> StampTable {
    let (above, name) = StampTable::PATH.rsplit_once('/').unwrap_or_default();
    let read = || -> io::Result<Option<Vec<u8>>> {
        let folder = Folder::open(root)?.folder(above)?;
        Ok(folder.read(name, MAX_FILE_BYTES)?.map(|file| file.bytes))
    };
    read().ok().flatten().map(StampTable::new).unwrap_or_default()
}

impl LockedStore<'_> {
    /// Adds stamps to the table. Called before the entries are written: a line without an entry
    /// does no harm.
    pub(crate) fn note_stamps(&self, stamps: &[ProvenanceStamp]) -> Result<(), ApplyError> {
        let lines = stamps.iter().filter_map(|stamp| StampTable::line(&stamp.clone().shortened()));
        let lines: String = lines.collect();
        if lines.is_empty() {
            return Ok(());
        }
        let path = StampTable::PATH;
        let site = self.site();
        for _ in 0..TIMES {
            let (folder, name) = site.find_or_make(path)?;
            let fail = |error| site.fail(path, error);
            let look = folder.stamp(name).map_err(fail)?;
            // An incomplete line after a kill does not damage the next one.
            let is_whole = look.is_none() || folder.ends_line(name).map_err(fail)?;
            let added = if is_whole { lines.clone() } else { format!("\n{lines}") };
            if let AppendOutcome::Done(_) | AppendOutcome::Contested(_) =
                self.append(path, &added, look)?
            {
                return Ok(());
            }
        }
        Err(ApplyError::Changed { path: site.root().join(path) })
    }

    /// Takes the lines of entries that are forgotten for good out of the table.
    pub(crate) fn drop_stamps(&self, ids: &[StampId]) -> Result<(), MarkdownStoreError> {
        let path = StampTable::PATH;
        let site = self.site();
        self.revoke_stamps(ids)?;
        let seen = match site.read(path) {
            Ok(Some(seen)) => seen,
            // A file that we cannot read as a table is not ours, and must not block every forget.
            Ok(None) | Err(MarkdownStoreError::NotPlain(_) | MarkdownStoreError::TooLarge(_)) => {
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let Some(left) = StampTable::new(seen.bytes).without(ids) else { return Ok(()) };
        let (folder, name) = site.find_or_make(path)?;
        let replace = || {
            folder.remove(UNFINISHED)?;
            folder.create(UNFINISHED, left.as_bytes(), None)?;
            folder.replace(UNFINISHED, name)?;
            folder.sync()
        };
        replace().map_err(|error| site.fail(path, error))
    }
}

#[cfg(test)]
mod tests {
    use anemone_format::{Moment, Origin};
    use jiff::Timestamp;
    use tempfile::TempDir;
    use uuid::Uuid;

    use super::*;
    use crate::change::Change;
    use crate::entry::NewEntry;
    use crate::erasure::ErasedEntries;
    use crate::forget::ForgetTarget;
    use crate::forgetting::{Finality, ForgetNote};
    use crate::layout::MarkdownLayout;
    use crate::ledger::OwnStamps;
    use crate::page::render;
    use crate::store::PageKind;

    const LOG: &str = "memory/2026-11-16.md";

    fn site() -> (TempDir, MarkdownStore) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("ws");
        fs_err::create_dir_all(root.join("memory")).unwrap();
        let site = MarkdownStore::open(&root, &folder.path().join("state"), MarkdownLayout::PLAIN)
            .unwrap();
        (folder, site)
    }

    fn remember(site: &MarkdownStore, number: u128, origin: Origin) -> StampId {
        let stamp = ProvenanceStamp::new(
            Uuid::from_u128(number),
            origin,
            Moment::from(Timestamp::UNIX_EPOCH),
        );
        let text = format!("entry {number}");
        let given = NewEntry { text, key: None, label: None, tags: Vec::new(), stamp };
        let there = site.read(LOG).unwrap();
        let kind = PageKind::of(LOG);
        let edit = site.appended(LOG, there.as_ref(), kind, &render(&given));
        let id = given.stamp.id.shortened();
        let change = Change { stamps: vec![given.stamp], ..Change::new("remember", vec![edit]) };
        let held = site.lock().unwrap();
        held.apply(&change, Uuid::from_u128(number + 1_000), Timestamp::UNIX_EPOCH).unwrap();
        id
    }

    fn table(site: &MarkdownStore) -> std::path::PathBuf {
        site.root().join(StampTable::PATH)
    }

    fn log(site: &MarkdownStore) -> String {
        fs_err::read_to_string(site.root().join(LOG)).unwrap()
    }

    #[test]
    fn an_entry_is_short_in_its_file_and_the_rest_stands_beside_it() {
        let (_kept, site) = site();
        let id = remember(&site, 1, Origin::Web);
        assert!(log(&site).ends_with("- entry 1 <!-- anemone: 00000001 -->\n"), "{}", log(&site));
        assert_eq!(site.stamps().get(id).unwrap().origin, Some(Origin::Web));
        let entry = site.entries().unwrap().placed.remove(0).entry();
        assert_eq!((entry.id.as_str(), entry.origin.as_deref()), ("00000001", Some("web")));
        assert_eq!(entry.timestamp, "1970-01-01T00:00:00Z");
    }

    #[test]
    fn a_line_that_somebody_changed_makes_the_origin_a_claim() {
        let (_kept, site) = site();
        remember(&site, 1, Origin::Web);
        assert!(OwnStamps::of(&site).wrote_lines(&log(&site), 3, 3));
        let line = fs_err::read_to_string(table(&site)).unwrap();
        for forged in [line.replace("web", "owner"), line.replace("}", ",\"session\":\"s\"}")] {
            fs_err::write(table(&site), forged).unwrap();
            assert!(!OwnStamps::of(&site).wrote_lines(&log(&site), 3, 3));
        }
        fs_err::remove_file(table(&site)).unwrap();
        assert!(!OwnStamps::of(&site).wrote_lines(&log(&site), 3, 3));
        let entry = site.entries().unwrap().placed.remove(0).entry();
        assert_eq!((entry.content.as_str(), entry.origin), ("entry 1", None));
    }

    #[test]
    fn a_torn_line_costs_no_other_and_a_link_is_not_followed() {
        let (folder, site) = site();
        remember(&site, 1, Origin::Owner);
        let mut torn = fs_err::read(table(&site)).unwrap();
        torn.truncate(torn.len() - 5);
        fs_err::write(table(&site), &torn).unwrap();
        let two = remember(&site, 2, Origin::Agent);
        assert_eq!(site.stamps().get(two).unwrap().origin, Some(Origin::Agent));

        let elsewhere = folder.path().join("elsewhere");
        fs_err::rename(table(&site), &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, table(&site)).unwrap();
        assert!(site.stamps().is_empty());
        let before = fs_err::read(&elsewhere).unwrap();
        let stamp =
            ProvenanceStamp::new(Uuid::from_u128(3), Origin::Agent, Timestamp::UNIX_EPOCH.into());
        assert!(site.lock().unwrap().note_stamps(&[stamp]).is_err());
        // A forget is not held up by it.
        site.lock().unwrap().drop_stamps(&[two]).unwrap();
        assert_eq!(fs_err::read(&elsewhere).unwrap(), before);
    }

    #[test]
    fn what_is_forgotten_for_good_leaves_the_table_also_after_a_kill() {
        for is_killed in [false, true] {
            let (_kept, site) = site();
            let (one, two) = (remember(&site, 1, Origin::Owner), remember(&site, 2, Origin::Owner));
            let (old_log, old_table) = (log(&site), fs_err::read(table(&site)).unwrap());
            let held = site.lock().unwrap();
            let plan = held.site().plan_forget(&ForgetTarget::Ids(vec![one.to_string()])).unwrap();
            let note = ForgetNote {
                request: "digest".to_owned(),
                finality: Finality::ForGood,
                files: Some(Uuid::from_u128(5)),
                rows: None,
                indexes: Vec::new(),
                at: Timestamp::UNIX_EPOCH,
            };
            let begun = held.begin_forgetting(&note, &plan.entries, Uuid::from_u128(6)).unwrap();
            held.apply(&plan.change, Uuid::from_u128(5), Timestamp::UNIX_EPOCH).unwrap();
            begun.erase().unwrap();
            if is_killed {
                drop((begun, held));
                // The next holder of the lock finishes it.
                site.lock().unwrap();
            } else {
                held.erase_from_journal(&ErasedEntries::new(&plan.entries)).unwrap();
            }
            assert_eq!(site.stamps().get(one), None);
            assert!(site.stamps().get(two).is_some());
            // An entry that comes back with an old copy of everything is only a claim.
            fs_err::write(site.root().join(LOG), &old_log).unwrap();
            fs_err::write(table(&site), &old_table).unwrap();
            let own = OwnStamps::of(&site);
            assert!(!own.wrote_lines(&old_log, 3, 3) && own.wrote_lines(&old_log, 4, 4));
            let names = fs_err::read_dir(site.root().join(".anemone")).unwrap().count();
            assert_eq!(names, 1);
        }
    }
}
