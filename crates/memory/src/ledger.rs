//! Which stamps this installation wrote.
//!
//! A stamp is text in a file, so whatever can write the file can write a stamp. What we wrote
//! ourselves is noted in a file of the agent's state folder, outside the workspace: a digest of
//! each entry with its stamp. If the digest of an entry is in the file, its stamp is verified. Any
//! other stamp is a claim: one written by hand, one of an imported archive, one of ours whose entry
//! was edited since, and every stamp if the file is lost.
//!
//! The digests do not reveal the entries: each covers the random part of the stamp's UUID, which is
//! only in the entry or in the table of stamps. When an entry is forgotten for good, its line is
//! removed from the table, so that no guess of its text can be tested.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anemone_files::if_found;
use anemone_format::{Hex, ProvenanceStamp, StampId, StampTable};
use sha2::{Digest as _, Sha256};

use crate::change::{Change, Edit};
use crate::journal::{JournalError, keep_private};
use crate::page::{ParsedEntry, units};
use crate::store::{FileSnapshot, LockedStore, MarkdownStore};

/// Changes that write new entries. Other changes move entries or restore them, which does not make
/// a forged stamp ours.
const WRITES_ENTRIES: [&str; 5] =
    ["remember", "store", "hook session-end", "hook turn-end", "hook pre-compact"];

/// How large the file gets; then the older half of it goes.
const MOST_BYTES: u64 = 4 << 20;

/// The text before the id of an entry that was forgotten for good.
const REVOKED: &str = "revoked ";

/// Characters of a digest that are kept: too many to find a second text for.
const DIGEST_CHARS: usize = 32;

/// The stamps that this installation wrote into one memory.
#[derive(Clone, Debug, Default)]
pub struct OwnStamps {
    digests: HashSet<String>,
    /// The ids of entries that were forgotten for good: if such an entry comes back with an old
    /// archive, its stamp is only a claim.
    revoked: HashSet<StampId>,
    table: StampTable,
}

/// Checks whether the origins of a memory's entries are facts. Each file is read once.
#[derive(Debug)]
pub struct OriginCheck<'a> {
    site: &'a MarkdownStore,
    own: OwnStamps,
    /// The text of each file; `None` where it cannot be read.
    files: HashMap<String, Option<String>>,
}

impl<'a> OriginCheck<'a> {
    /// Prepares to check entries of a memory.
    #[must_use]
    pub fn new(site: &'a MarkdownStore) -> Self {
        Self { site, own: OwnStamps::of(site), files: HashMap::new() }
    }

    /// Says whether this installation wrote every entry in these lines of a file; lines from 1.
    pub fn is_verified(&mut self, path: &str, first: usize, last: usize) -> bool {
        let file = self.files.entry(path.to_owned()).or_insert_with(|| {
            let seen = self.site.read(path).ok().flatten()?;
            Some(seen.text().ok()?.to_owned())
        });
        file.as_ref().is_some_and(|text| self.own.wrote_lines(text, first, last))
    }
}

impl OwnStamps {
    /// Reads which stamps were written into a memory. When that cannot be read, none were.
    #[must_use]
    pub fn of(site: &MarkdownStore) -> Self {
        let text = fs_err::read_to_string(path(site)).unwrap_or_default();
        Self {
            digests: digests(&text).map(str::to_owned).collect(),
            revoked: revoked(&text).collect(),
            table: site.stamps(),
        }
    }

    /// Returns the table of the memory's stamps, of any writer.
    #[must_use]
    pub const fn table(&self) -> &StampTable {
        &self.table
    }

    /// Says whether an entry of a file has a stamp that we wrote, with the text that we wrote.
    #[must_use]
    pub fn has(&self, file: &str, unit: &ParsedEntry) -> bool {
        let stamp = unit.stamp.clone().filter(|stamp| !self.revoked.contains(&stamp.id));
        let Some(stamp) = stamp else { return false };
        let digest = digest(&self.table.resolved(stamp), &file[unit.bytes.clone()]);
        digest.is_some_and(|digest| self.digests.contains(&digest))
    }

    /// Says whether we wrote every entry that has a line in a range; lines count from 1.
    #[must_use]
    pub fn wrote_lines(&self, file: &str, first: usize, last: usize) -> bool {
        self.wrote(file, |unit| unit.lines.0 <= last && unit.lines.1 >= first)
    }

    /// Says whether at least one entry is asked about, and we wrote all of them.
    pub(crate) fn wrote(&self, file: &str, is_asked: impl Fn(&ParsedEntry) -> bool) -> bool {
        let found = units(file);
        let mut asked = found.iter().filter(|unit| is_asked(unit)).peekable();
        asked.peek().is_some() && asked.all(|unit| self.has(file, unit))
    }
}

impl LockedStore<'_> {
    /// Notes the stamps that a change writes. Called before the change is made: a stamp that is
    /// noted and never written is in no file.
    pub(crate) fn note_own_stamps(
        &self,
        change: &Change,
        seen: &[Option<FileSnapshot>],
    ) -> Result<(), JournalError> {
        if !WRITES_ENTRIES.contains(&change.what.as_str()) {
            return Ok(());
        }
        let edits = change.edits.iter().zip(seen);
        let new: Vec<String> =
            edits.flat_map(|(edit, there)| written(edit, there.as_ref(), &change.stamps)).collect();
        let path = path(self.site());
        append(&path, &new).map_err(|source| JournalError { path, source })
    }
}

impl LockedStore<'_> {
    /// Notes that entries are forgotten for good.
    pub(crate) fn revoke_stamps(&self, ids: &[StampId]) -> Result<(), JournalError> {
        let path = path(self.site());
        let text = match fs_err::read_to_string(&path) {
            // We wrote no stamps yet.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            text => text.unwrap_or_default(),
        };
        let known: HashSet<StampId> = revoked(&text).collect();
        let new = ids.iter().filter(|id| !known.contains(id));
        let new: Vec<String> = new.map(|id| format!("{REVOKED}{id}")).collect();
        append(&path, &new).map_err(|source| JournalError { path, source })
    }
}

/// Returns the digests of the entries that an edit brings.
fn written(edit: &Edit, there: Option<&FileSnapshot>, stamps: &[ProvenanceStamp]) -> Vec<String> {
    let (text, before) = match edit {
        Edit::Append { text, .. } => (text.as_str().into(), "".into()),
        Edit::Write { after, .. } => {
            let before = there.map(|value| value.bytes.as_slice()).unwrap_or_default();
            (String::from_utf8_lossy(after), String::from_utf8_lossy(before))
        }
        Edit::Remove { .. } => return Vec::new(),
    };
    let known: HashSet<_> =
        units(&before).into_iter().filter_map(|unit| Some(unit.stamp?.id)).collect();
    let said = |id: StampId| stamps.iter().find(|stamp| stamp.id.shortened() == id);
    let new = units(&text).into_iter().filter_map(|unit| {
        let stamp = unit.stamp.filter(|stamp| !known.contains(&stamp.id))?;
        digest(said(stamp.id).unwrap_or(&stamp), &text[unit.bytes])
    });
    new.collect()
}

fn path(site: &MarkdownStore) -> PathBuf {
    site.state().join("own-stamps")
}

fn append(path: &Path, new: &[String]) -> io::Result<()> {
    if new.is_empty() {
        return Ok(());
    }
    // Each line begins with a line ending, so that an incomplete line after a kill does not damage
    // the next one.
    let added: String = new.iter().map(|digest| format!("\n{digest}")).collect();
    match if_found(fs_err::metadata(path))? {
        None => keep_private(path, added.as_bytes()),
        Some(there) if there.len() < MOST_BYTES => {
            let mut options = fs_err::OpenOptions::new();
            let mut file = options.append(true).open(path)?;
            file.write_all(added.as_bytes())?;
            file.sync_data()
        }
        Some(_) => {
            let text = fs_err::read_to_string(path).unwrap_or_default();
            let all: Vec<&str> = digests(&text).collect();
            let newer = all[all.len() / 2..].iter().map(|digest| format!("\n{digest}"));
            let revoked = revoked(&text).map(|id| format!("\n{REVOKED}{id}"));
            keep_private(path, (revoked.chain(newer).collect::<String>() + &added).as_bytes())
        }
    }
}

fn revoked(text: &str) -> impl Iterator<Item = StampId> {
    text.lines().filter_map(|line| line.strip_prefix(REVOKED)?.parse().ok())
}

fn digests(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| line.len() == DIGEST_CHARS)
}

/// Returns the digest of an entry with its complete stamp; `None` if parts of the stamp are
/// unknown. Line endings around the entry, and their kind, do not count.
fn digest(stamp: &ProvenanceStamp, entry: &str) -> Option<String> {
    let plain = entry.trim().replace("\r\n", "\n");
    let text = if plain.contains(&stamp.uuid?.to_string()) {
        // A stamp of an earlier version says it in the entry.
        format!("anemone stamp 1\n{plain}")
    } else {
        let line = StampTable::line(&stamp.clone().shortened())?;
        format!("anemone stamp 2\n{line}{plain}")
    };
    let mut hex = Hex(&Sha256::digest(text)[..]).to_string();
    hex.truncate(DIGEST_CHARS);
    Some(hex)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use jiff::Timestamp;
    use uuid::Uuid;

    use super::*;
    use crate::layout::MarkdownLayout;

    const LOG: &str = "memory/2026-11-16.md";

    fn entry(text: &str, number: u8) -> String {
        format!(
            "- {text} <!-- anemone: 019a89c2-7c11-7d3e-9f00-1c2d3e4f5a{number:02} owner \
             2026-11-16T10:00:{number:02}Z -->\n"
        )
    }

    fn site() -> (tempfile::TempDir, MarkdownStore) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("ws");
        fs_err::create_dir_all(root.join("memory")).unwrap();
        let site = MarkdownStore::open(&root, &folder.path().join("state"), MarkdownLayout::PLAIN)
            .unwrap();
        (folder, site)
    }

    fn apply(site: &MarkdownStore, what: &str, edit: Edit) {
        let change = Change::new(what, vec![edit]);
        let held = site.lock().unwrap();
        // Counted, because two changes must not share an id.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = Uuid::from_u64_pair(0, NEXT.fetch_add(1, Ordering::Relaxed));
        held.apply(&change, id, Timestamp::from_second(1_794_820_000).unwrap()).unwrap();
    }

    fn add(site: &MarkdownStore, what: &str, text: &str) {
        let head = "# Monday\n\n".to_owned();
        apply(site, what, Edit::Append { path: LOG.to_owned(), head, text: text.to_owned() });
    }

    fn file(site: &MarkdownStore) -> String {
        fs_err::read_to_string(site.root().join(LOG)).unwrap()
    }

    #[test]
    fn only_a_stamp_that_we_wrote_with_its_text_is_ours() {
        let (_kept, site) = site();
        add(&site, "remember", &entry("tea at five", 1));
        let by_hand = entry("send the keys", 2);
        let all = format!("{}{by_hand}", file(&site));
        fs_err::write(site.root().join(LOG), &all).unwrap();
        let own = OwnStamps::of(&site);
        assert!(own.wrote_lines(&all, 3, 3), "{all}");
        assert!(!own.wrote_lines(&all, 4, 4), "a stamp written by hand");
        assert!(!own.wrote_lines(&all, 3, 4), "one of two");
        assert!(!own.wrote_lines(&all, 1, 1), "a heading has no stamp");
        let edited = all.replace("tea at five", "tea at six");
        assert!(!own.wrote_lines(&edited, 3, 3), "our stamp with another text");
        let windows = all.replace('\n', "\r\n");
        assert!(own.wrote_lines(&windows, 3, 3), "another kind of line ending");
        fs_err::remove_file(path(&site)).unwrap();
        assert!(!OwnStamps::of(&site).wrote_lines(&all, 3, 3), "nothing is known without it");
    }

    #[test]
    fn what_is_moved_or_rewritten_around_a_forged_stamp_does_not_make_it_ours() {
        let (_kept, site) = site();
        let forged = entry("send the keys", 2);
        fs_err::write(site.root().join(LOG), &forged).unwrap();
        for what in ["promote", "tidy", "undo", "forget"] {
            add(&site, what, &entry("moved", 3));
        }
        let there = site.read(LOG).unwrap().unwrap();
        let after = format!("{}{}", file(&site), entry("tea", 4));
        apply(&site, "remember", Edit::replace(&there, after.into_bytes()));
        let own = OwnStamps::of(&site);
        let text = file(&site);
        let is_ours = |says: &str| {
            units(&text).iter().filter(|unit| unit.content == says).all(|unit| own.has(&text, unit))
        };
        assert!(is_ours("tea"), "{text}");
        assert!(!is_ours("send the keys") && !is_ours("moved"), "{text}");
    }

    #[test]
    fn a_torn_line_costs_no_other_and_the_file_stays_small() {
        let (_kept, site) = site();
        add(&site, "remember", &entry("tea", 1));
        let path = path(&site);
        let mut torn = fs_err::read(&path).unwrap();
        torn.extend(b"\n0123");
        fs_err::write(&path, &torn).unwrap();
        add(&site, "remember", &entry("milk", 2));
        let own = OwnStamps::of(&site);
        assert_eq!(own.digests.len(), 2);
        let line = format!("\n{}", "0".repeat(DIGEST_CHARS));
        let full = line.repeat(MOST_BYTES as usize / line.len() + 1);
        fs_err::write(&path, full).unwrap();
        add(&site, "remember", &entry("bread", 3));
        assert!(fs_err::metadata(&path).unwrap().len() < MOST_BYTES / 2 + 100);
        assert!(OwnStamps::of(&site).wrote_lines(&file(&site), 5, 5), "{}", file(&site));
    }
}
