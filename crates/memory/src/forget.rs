//! Forgetting: which entries are removed, how their files look without them, and the tombstones
//! that record the removal.
//!
//! A tombstone is a line in `<state>/tombstones.jsonl`. It names the entry by its id and by digests
//! of its key and its text, never by the text itself, so that the same text is recognised if it
//! comes back but cannot be read there.
//!
//! ```text
//! {"id":"019a...","key_sha256":"...","text_sha256":"...","path":"MEMORY.md","at":"...","why":"forget"}
//! ```

use std::collections::{HashMap, HashSet};
use std::io::{self, Write as _};
use std::path::PathBuf;

use anemone_format::{StampId, sha256_hex};
use fs_err::os::unix::fs::OpenOptionsExt as _;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::change::{Change, Edit};
use crate::cited::{Citation, citation_of, cited};
use crate::entries::{EntryList, PageEntry, decoded, encoded, without};
use crate::entry::Clock;
use crate::forgetting::{ForgetMarker, ForgetNote};
use crate::memory::{Memory, MemoryError};
use crate::page::{key_prefix, tables_without_rows};
use crate::row_store::{KeptRow, RowStore, key_of_row_document, lines_of_row};
use crate::store::{LockedStore, MarkdownStore, MarkdownStoreError, PageKind};

/// Which entries are to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForgetTarget {
    /// All entries of a key, the replaced ones with it.
    Key(String),
    /// Entries by their ids, or lines as they are cited: `MEMORY.md#L8-L12`. Of a citation exactly
    /// the lines go that it names.
    Ids(Vec<String>),
    /// All that was written in a session.
    Session(String),
    /// All that was written in a time; both ends belong to it.
    Written {
        /// From here.
        since: Option<Timestamp>,
        /// To here.
        until: Option<Timestamp>,
        /// Where the days are counted by which logs are named.
        zone: TimeZone,
    },
}

/// An entry that goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EntryToForget {
    /// Its id.
    pub id: String,
    /// Its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Its file, or the database.
    pub path: String,
    /// Its lines in the file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<(usize, usize)>,
    /// When it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// The text.
    pub text: String,
}

/// How entries are forgotten.
#[derive(Clone, Debug)]
pub struct ForgetPlan {
    /// The entries to forget, in the order of the files.
    pub entries: Vec<EntryToForget>,
    /// The edits of the files.
    pub change: Change,
    /// Files that could not be searched, and why.
    pub skipped: Vec<(String, String)>,
    /// Files in which a table is left with a header and no rows.
    pub tables_without_rows: Vec<String>,
    /// The rows to remove from a database.
    pub rows: Vec<KeptRow>,
}

/// Why nothing can be forgotten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForgetPlanError {
    /// The lines that are cited are a part of something that belongs together.
    #[error("{cited} is only part of {whole}; nothing was forgotten")]
    Part {
        /// The given citation.
        cited: String,
        /// The citation of all lines that belong together.
        whole: String,
    },
    /// Several entries have the same stamp because a line was copied.
    #[error("{} entries are called {id}; nothing was forgotten", places.len())]
    Ambiguous {
        /// The given id.
        id: String,
        /// The citations of the entries.
        places: Vec<String>,
    },
    /// A file cannot be reached.
    #[error(transparent)]
    Store(#[from] MarkdownStoreError),
}

/// Why a planned forget was not carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyForgetError {
    /// The current content differs from the one that the plan was made for.
    #[error("the memory was changed by another program in the meantime")]
    Changed,
    /// The memory.
    #[error(transparent)]
    Memory(MemoryError),
}

impl<E: Into<MemoryError>> From<E> for ApplyForgetError {
    fn from(error: E) -> Self {
        Self::Memory(error.into())
    }
}

/// Plans a forget in the files of a memory and in its database.
pub fn plan_forget(memory: &dyn Memory, target: &ForgetTarget) -> Result<ForgetPlan, MemoryError> {
    let files = memory.store().plan_forget(target)?;
    let rows = memory.rows().map(|rows| rows_meant(rows, target)).transpose()?.unwrap_or_default();
    Ok(ForgetPlan { rows, ..files })
}

/// Returns the rows that are meant. A row is also known by the citation that a search prints; it
/// goes as a whole, so all its lines must be cited.
fn rows_meant(rows: &dyn RowStore, target: &ForgetTarget) -> Result<Vec<KeptRow>, MemoryError> {
    let mut found = rows.matching(target)?;
    let ids = if let ForgetTarget::Ids(ids) = target { ids.as_slice() } else { &[] };
    for (id, citation) in ids.iter().filter_map(|id| Some((id, Citation::parse(id)?))) {
        let Some(key) = key_of_row_document(citation.path) else { continue };
        for row in rows.matching(&ForgetTarget::Key(key))? {
            let lines = lines_of_row(&row.entry.text);
            if citation.lines != lines {
                let whole = citation_of(citation.path, lines);
                return Err(ForgetPlanError::Part { cited: id.clone(), whole }.into());
            }
            if !found.contains(&row) {
                found.push(row);
            }
        }
    }
    Ok(found)
}

impl ForgetPlan {
    /// Returns everything to forget: entries of files, then rows.
    #[must_use]
    pub fn all(&self) -> Vec<&EntryToForget> {
        self.entries.iter().chain(self.rows.iter().map(|row| &row.entry)).collect()
    }

    /// Returns the documents of an index that are changed.
    #[must_use]
    pub fn documents(&self) -> Vec<String> {
        let files = self.change.edits.iter().map(|edit| edit.path().to_owned());
        files.chain(self.rows.iter().map(KeptRow::document)).collect()
    }

    /// Applies the plan, if it still matches the memory. The order of the steps makes interruptions
    /// safe: first the durable note of the forget, then the journal and the rows, then the files,
    /// and last the tombstones. The next holder of the lock finishes an interrupted forget.
    pub fn apply(
        &self,
        memory: &dyn Memory,
        target: &ForgetTarget,
        note: ForgetNote,
        clock: &dyn Clock,
    ) -> Result<ForgetMarker, ApplyForgetError> {
        let held = memory.store().lock()?;
        let again = plan_forget(memory, target)?;
        if again.all() != self.all() {
            return Err(ApplyForgetError::Changed);
        }
        let gone: Vec<EntryToForget> = again.all().into_iter().cloned().collect();
        let (files, rows) = (clock.fresh_id(), clock.fresh_id());
        let note = ForgetNote {
            files: (!again.change.edits.is_empty()).then_some(files),
            rows: (!again.rows.is_empty()).then_some(rows),
            ..note
        };
        let begun = held.begin_forgetting(&note, &gone, clock.fresh_id())?;
        if note.rows.is_some()
            && let Some(database) = memory.rows()
        {
            held.remove_rows("forget", database, &again.rows, rows, clock.now())?;
        }
        if note.files.is_some() {
            held.apply(&again.change, files, clock.now())?;
        }
        held.write_tombstones(&gone, "forget", note.at)?;
        Ok(begun)
    }
}

impl ForgetTarget {
    pub(crate) fn takes(&self, it: &PageEntry) -> bool {
        match self {
            Self::Key(key) => it.key() == key,
            // Citations are looked up by their lines.
            Self::Ids(ids) => it.unit.stamp.is_some() && ids.contains(&it.id),
            Self::Session(session) => it.session() == Some(session),
            Self::Written { since, until, zone } => {
                written_in(zone, it).is_some_and(|at| is_in_time(at, *since, *until))
            }
        }
    }
}

/// Whether a time is between two others, inclusive.
#[must_use]
pub fn is_in_time(at: Timestamp, since: Option<Timestamp>, until: Option<Timestamp>) -> bool {
    since.is_none_or(|since| at >= since) && until.is_none_or(|until| at <= until)
}

/// Returns when an entry was written; without a stamp, when the day of its file began where its
/// user is: logs are named by the days of that place.
fn written_in(zone: &TimeZone, it: &PageEntry) -> Option<Timestamp> {
    match it.kind {
        PageKind::Daily(day) | PageKind::Session(day)
            if it.unit.stamp.as_ref().is_none_or(|stamp| stamp.at.is_none()) =>
        {
            day.to_zoned(zone.clone()).ok().map(|zoned| zoned.timestamp())
        }
        _ => it.written(),
    }
}

impl ForgetTarget {
    /// Whether a file can have any such entry; `false` is certain.
    fn may_be_in(&self, path: &str, text: &str) -> bool {
        let Self::Key(key) = self else { return true };
        let place = key.strip_prefix(path).is_some_and(|rest| rest.starts_with("#L"));
        // An entry without a key is called by its id, which can be spelled in more than one way.
        place
            || key.parse::<StampId>().is_ok()
            || Uuid::try_parse(key).is_ok()
            || text.contains(&format!("**{key}**:"))
            || text.contains(&key_prefix(key))
    }
}

impl LockedStore<'_> {
    /// Records that entries were forgotten, without their texts.
    pub fn write_tombstones(
        &self,
        gone: &[EntryToForget],
        why: &str,
        now: Timestamp,
    ) -> Result<(), MarkdownStoreError> {
        let path = self.site().tombstones();
        let write = || -> io::Result<()> {
            // A forget that was interrupted after this step is not recorded twice.
            let there = fs_err::read_to_string(&path).unwrap_or_default();
            let mut lines = String::new();
            for it in gone {
                let stone = Tombstone {
                    id: &it.id,
                    key_sha256: it.key.as_ref().map(|key| sha256_hex(key.as_bytes())),
                    text_sha256: sha256_hex(it.text.as_bytes()),
                    path: &it.path,
                    at: now.to_string(),
                    why,
                };
                let line = serde_json::to_string(&stone)? + "\n";
                if !there.contains(&line) {
                    lines.push_str(&line);
                }
            }
            fs_err::create_dir_all(self.site().state())?;
            let mut options = fs_err::OpenOptions::new();
            let mut file = options.create(true).append(true).mode(0o600).open(&path)?;
            file.write_all(lines.as_bytes())?;
            file.sync_all()
        };
        write().map_err(|source| MarkdownStoreError::Io { path, source })
    }
}

impl MarkdownStore {
    /// Plans a forget in all files of the memory, including archived ones. A plan has to be made
    /// again under the lock before it is applied.
    pub fn plan_forget(&self, wanted: &ForgetTarget) -> Result<ForgetPlan, ForgetPlanError> {
        let all = self.entries_where(&|path, text| wanted.may_be_in(path, text))?;
        let mut gone: Vec<PageEntry> =
            all.placed.iter().filter(|placed| wanted.takes(placed)).cloned().collect();
        if let ForgetTarget::Ids(ids) = wanted {
            for id in ids {
                let places = id.parse().map(|parsed| all.places_of(parsed)).unwrap_or_default();
                if places.len() > 1 {
                    return Err(ForgetPlanError::Ambiguous { id: id.clone(), places });
                }
            }
            for citation in ids.iter().filter_map(|id| Citation::parse(id)) {
                gone.extend(all.cited(&citation)?);
            }
            gone.sort_by(|one, other| {
                (&one.path, one.unit.bytes.start).cmp(&(&other.path, other.unit.bytes.start))
            });
            // Citations may name the same lines.
            gone.dedup_by(|later, kept| {
                later.path == kept.path && later.unit.bytes.start < kept.unit.bytes.end
            });
        }
        let mut edits = Vec::new();
        let mut rowless = Vec::new();
        for seen in &all.pages {
            let of_page: Vec<&PageEntry> =
                gone.iter().filter(|file| file.path == seen.path).collect();
            if of_page.is_empty() {
                continue;
            }
            let Some(text) = decoded(&seen.bytes) else { continue };
            let ranges: Vec<_> = of_page.iter().map(|page| page.unit.bytes.clone()).collect();
            let after = without(&text, &ranges);
            if tables_without_rows(&after) > tables_without_rows(&text) {
                rowless.push(seen.path.clone());
            }
            edits.push(Edit::replace(seen, encoded(&seen.bytes, after)));
        }
        let skipped = all.skipped.iter().map(|(path, why)| (path.clone(), reason(why)));
        Ok(ForgetPlan {
            entries: gone.iter().map(EntryToForget::of).collect(),
            change: Change::new("forget", edits),
            skipped: skipped.collect(),
            tables_without_rows: rowless,
            rows: Vec::new(),
        })
    }

    /// Returns the file of tombstones.
    #[must_use]
    pub fn tombstones(&self) -> PathBuf {
        self.state().join("tombstones.jsonl")
    }
}

impl EntryList {
    /// Returns the content of the cited lines and nothing else.
    fn cited(&self, citation: &Citation<'_>) -> Result<Vec<PageEntry>, ForgetPlanError> {
        let Some(seen) = self.page(citation.path) else { return Ok(Vec::new()) };
        let entries: Vec<&PageEntry> =
            self.placed.iter().filter(|placed| placed.path == citation.path).collect();
        // A file that is no text was skipped, and is reported as such.
        let Some(text) = decoded(&seen.bytes) else { return Ok(Vec::new()) };
        let found = cited(&text, PageKind::of(citation.path), &entries, citation);
        found.map_err(|whole| ForgetPlanError::Part {
            cited: citation_of(citation.path, citation.lines),
            whole: citation_of(citation.path, whole),
        })
    }
}

fn reason(error: &MarkdownStoreError) -> String {
    match error {
        MarkdownStoreError::Io { source, .. } => source.to_string(),
        MarkdownStoreError::NotPlain(_) => "not a plain file".to_owned(),
        MarkdownStoreError::NotText(_) => {
            "neither UTF-8 nor an encoding with one byte a character".to_owned()
        }
        MarkdownStoreError::Outside(_) => "outside the workspace".to_owned(),
        MarkdownStoreError::TooLarge(_) => "too large".to_owned(),
        MarkdownStoreError::Busy(_) => "somebody else is writing".to_owned(),
        MarkdownStoreError::Saving(_) => "somebody else is saving it".to_owned(),
        MarkdownStoreError::Journal(error) => error.to_string(),
    }
}

impl EntryToForget {
    pub(crate) fn of(it: &PageEntry) -> Self {
        Self {
            id: it.id.clone(),
            key: it.unit.key.clone(),
            path: it.path.clone(),
            lines: Some(it.unit.lines),
            written: Some(it.entry().timestamp).filter(|timestamp| !timestamp.is_empty()),
            text: it.unit.content.clone(),
        }
    }
}

#[derive(Serialize)]
struct Tombstone<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_sha256: Option<String>,
    text_sha256: String,
    path: &'a str,
    at: String,
    why: &'a str,
}

#[derive(Deserialize)]
struct TombstoneDigests {
    id: String,
    text_sha256: String,
}

/// Returns the digests of texts that were forgotten, by their ids.
pub(crate) fn buried(site: &MarkdownStore) -> HashMap<String, HashSet<String>> {
    let mut found: HashMap<String, HashSet<String>> = HashMap::new();
    let stones = fs_err::read_to_string(site.tombstones()).unwrap_or_default();
    for line in stones.lines() {
        // A line that a kill cut off names nothing.
        let Ok(stone) = serde_json::from_str::<TombstoneDigests>(line) else { continue };
        found.entry(stone.id).or_default().insert(stone.text_sha256);
    }
    found
}
