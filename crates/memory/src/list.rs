//! Lists the entries of a memory, for people who want to browse it.

use std::cmp::Reverse;
use std::str::FromStr as _;

use anemone_format::Origin;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::entries::PageEntry;
use crate::entry::{Category, MemoryEntry};
use crate::memory::{Memory, MemoryError};
use crate::row_store::{lines_of_row, row_document};
use crate::store::{MarkdownStore, MarkdownStoreError, PageKind};
use crate::summary::day_of;

/// Which entries are listed; a filter that is `None` matches every entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListFilter {
    /// Entries of this day or later.
    pub since: Option<Date>,
    /// Entries of this day or earlier.
    pub until: Option<Date>,
    /// Entries whose key contains this, in any case.
    pub key: Option<String>,
    /// Entries of this type, see [`ListedEntry::kind`].
    pub kind: Option<String>,
    /// Entries of this origin.
    pub origin: Option<Origin>,
}

/// A listed entry.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedEntry {
    /// Its id, by which `forget` finds it.
    pub id: String,
    /// The document it is in, as search names it.
    pub path: String,
    /// Its first and last line there.
    pub lines: (usize, usize),
    /// Its key, where it has one.
    pub key: Option<String>,
    /// The day it was written or is about: that of its file, or the one that the time of its row
    /// states, as `search` has it; the day of a stamp is that of the caller's time zone.
    pub day: Option<Date>,
    /// Its type: the word in its label, such as `decision`; without one, the category of its row,
    /// or the kind of its file: `core`, `daily`, `session` or `note`.
    pub kind: String,
    /// Where it comes from, where that is known.
    pub origin: Option<String>,
    /// Its importance, if one was given.
    pub importance: Option<f64>,
    /// Its text.
    pub text: String,
    /// When it was written, where that is known.
    pub written: Option<Timestamp>,
}

/// The listed entries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntryListing {
    /// The entries that match, the newest first.
    pub entries: Vec<ListedEntry>,
    /// How many entries do not match.
    pub filtered: usize,
    /// How many entries are not listed because others took their place, or because they were
    /// archived.
    pub superseded: usize,
    /// Files that could not be read.
    pub unreadable: Vec<String>,
}

impl ListFilter {
    fn matches(&self, entry: &ListedEntry) -> bool {
        let has_key = |wanted: &String| {
            let key = entry.key.as_ref().map(|key| key.to_lowercase());
            key.is_some_and(|key| key.contains(&wanted.to_lowercase()))
        };
        self.since.is_none_or(|since| entry.day.is_some_and(|day| day >= since))
            && self.until.is_none_or(|until| entry.day.is_some_and(|day| day <= until))
            && self.key.as_ref().is_none_or(has_key)
            && self.kind.as_ref().is_none_or(|kind| is_kind(kind, &entry.kind))
            && self.origin.is_none_or(|origin| entry.origin.as_deref() == Some(origin.as_str()))
    }
}

/// Compares two types, with or without the mark before a category of the user's own.
fn is_kind(one: &str, other: &str) -> bool {
    let name = |kind: &str| Category::from(kind).own_name().unwrap_or(kind).to_lowercase();
    name(one) == name(other)
}

impl EntryListing {
    /// Adds the entries of another place that match, each before the first older one.
    #[must_use]
    pub fn with(self, more: Vec<ListedEntry>, filter: &ListFilter) -> Self {
        let more = Self { entries: more, ..Self::default() }.filtered(filter);
        let mut added = more.entries;
        added.sort_by_key(|entry| Reverse((entry.day, entry.written)));
        let mut added = added.into_iter().peekable();
        let mut entries = Vec::new();
        for entry in self.entries {
            // Entries without a day stay where they are.
            let is_newer = |other: &ListedEntry| entry.day.is_some() && other.day > entry.day;
            while let Some(newer) = added.next_if(is_newer) {
                entries.push(newer);
            }
            entries.push(entry);
        }
        entries.extend(added);
        Self { entries, filtered: self.filtered + more.filtered, ..self }
    }

    fn filtered(self, filter: &ListFilter) -> Self {
        let all = self.entries.len();
        let entries: Vec<ListedEntry> =
            self.entries.into_iter().filter(|entry| filter.matches(entry)).collect();
        Self { filtered: all - entries.len(), entries, ..self }
    }
}

/// A page of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// How many entries are left out at the start.
    pub offset: usize,
    /// How many entries it has at most.
    pub limit: usize,
}

impl EntryListing {
    /// Keeps one page of the entries that match; returns how many entries follow it.
    pub fn keep_page(&mut self, page: Page) -> usize {
        let first = page.offset.min(self.entries.len());
        self.entries.drain(..first);
        let rest = self.entries.len().saturating_sub(page.limit);
        self.entries.truncate(page.limit);
        rest
    }
}

/// Lists the entries of a memory that match. Days of stamps are those of `zone`.
pub fn list_entries(
    memory: &dyn Memory,
    filter: &ListFilter,
    zone: &TimeZone,
) -> Result<EntryListing, MemoryError> {
    Ok(memory.listing(zone)?.filtered(filter))
}

/// Lists the entries of Markdown files.
pub(crate) fn entry_listing(
    store: &MarkdownStore,
    zone: &TimeZone,
) -> Result<EntryListing, MarkdownStoreError> {
    let all = store.entries()?;
    let live = all.live();
    let superseded = all.placed.len() - live.len();
    let unreadable = all.skipped.iter().map(|skipped| skipped.0.clone()).collect();
    let entries = live.into_iter().map(|entry| of_placed(entry, zone)).collect();
    Ok(EntryListing { entries, filtered: 0, superseded, unreadable })
}

/// Lists rows of a database, the newest first.
pub(crate) fn row_listing(rows: Vec<MemoryEntry>) -> EntryListing {
    let entries = rows.into_iter().map(of_row).collect();
    EntryListing { entries, ..EntryListing::default() }
}

fn of_placed(placed: &PageEntry, zone: &TimeZone) -> ListedEntry {
    let unit = &placed.unit;
    let stamp = unit.stamp.as_ref();
    let kind = match (&unit.label, stamp.and_then(|stamp| stamp.category.as_deref()), placed.kind) {
        (Some(label), _, _) => label.name.clone(),
        (None, Some(category), _) => category.to_owned(),
        (None, None, PageKind::Curated) => "core".to_owned(),
        (None, None, PageKind::Daily(_)) => "daily".to_owned(),
        (None, None, PageKind::Session(_)) => "session".to_owned(),
        (None, None, PageKind::Note | PageKind::Archived) => "note".to_owned(),
    };
    let at = stamp.and_then(|stamp| stamp.at.as_ref());
    let stamped = at.map(|value| value.instant().to_zoned(zone.clone()).date());
    ListedEntry {
        id: placed.id.clone(),
        path: placed.path.clone(),
        lines: unit.lines,
        key: unit.key.clone(),
        day: day_of(placed.kind).or(stamped),
        kind,
        origin: stamp.and_then(|stamp| stamp.origin).map(|value| value.to_string()),
        importance: unit.label.as_ref().map(|label| label.importance.get()),
        text: unit.content.clone(),
        written: placed.written(),
    }
}

fn of_row(row: MemoryEntry) -> ListedEntry {
    ListedEntry {
        path: row_document(&row.key),
        lines: lines_of_row(&row.content),
        id: row.id,
        // The day is the one in the time zone of the writer, not of the reader; some programs write
        // only the day.
        day: row.timestamp.get(..10).and_then(|day| day.parse().ok()),
        kind: row.category.as_str().to_owned(),
        origin: row.origin,
        importance: row.importance,
        text: row.content,
        written: Timestamp::from_str(&row.timestamp).ok(),
        key: Some(row.key).filter(|key| !key.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::layout::MarkdownLayout;
    use crate::markdown_memory::MarkdownMemory;

    fn site(files: &[(&str, &str)]) -> (tempfile::TempDir, MarkdownStore) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("ws");
        fs_err::create_dir_all(root.join("memory")).unwrap();
        for (name, text) in files {
            fs_err::write(root.join(name), text).unwrap();
        }
        let site = MarkdownStore::open(&root, &folder.path().join("state"), MarkdownLayout::PLAIN)
            .unwrap();
        (folder, site)
    }

    fn listed(site: &MarkdownStore, filter: &ListFilter) -> EntryListing {
        let memory = MarkdownMemory::new(site.clone());
        list_entries(&memory, filter, &TimeZone::UTC).unwrap()
    }

    fn texts(listed: &EntryListing) -> Vec<&str> {
        listed.entries.iter().map(|entry| entry.text.as_str()).collect()
    }

    #[test]
    fn the_head_of_a_session_note_is_no_memory() {
        let note = "# Session: 2026-11-16 10:00:00 UTC\n\n- **Session Key**: unknown\n\
                    - **Session ID**: s1\n- **Source**: claude-code\n\n## Conversation Summary\n\n\
                    user: The tea is green.\n";
        let (_kept, site) = site(&[("memory/2026-11-16-tea.md", note)]);
        let listed = listed(&site, &ListFilter::default());
        assert_eq!(texts(&listed), ["user: The tea is green."]);
        assert_eq!(listed.superseded, 0);
    }

    #[test]
    fn bold_words_that_a_person_wrote_hide_nothing() {
        let notes = "- **Note**: the lamp is green\n- **Note**: the boat is teal\n\
                     - **db**: Postgres\n- **db**: SQLite <!-- anemone: \
                     019a89c2-7c11-7d3e-9f00-1c2d3e4f5a01 owner 2026-11-16T10:00:00Z -->\n";
        let (_kept, site) = site(&[("memory/2026-11-15.md", notes)]);
        let listed = listed(&site, &ListFilter::default());
        assert_eq!(texts(&listed), ["SQLite", "the boat is teal", "the lamp is green"]);
        assert_eq!(listed.superseded, 1);
    }

    #[test]
    fn entries_are_listed_newest_first_and_filtered_by_day_key_type_and_origin() {
        let stamp = "<!-- anemone: 019a89c2-7c11-7d3e-9f00-1c2d3e4f5a01 owner \
                     2026-11-16T10:00:00Z -->";
        let today = format!("# 2026-11-16\n\n- [decision|i=0.9] **db**: SQLite it is. {stamp}\n");
        let (_kept, site) = site(&[
            ("MEMORY.md", "# Memory\n\n- Allergic to hazelnuts.\n"),
            ("memory/2026-11-15.md", "# 2026-11-15\n\n- Lunch was noodles.\n"),
            ("memory/2026-11-16.md", &today),
        ]);
        let list = |filter: ListFilter| listed(&site, &filter);
        let all = list(ListFilter::default());
        assert_eq!(all.entries.len(), 3, "{all:?}");
        let first = &all.entries[0];
        assert_eq!(
            (first.kind.as_str(), first.key.as_deref(), first.origin.as_deref(), first.day),
            ("decision", Some("db"), Some("owner"), Some(date(2026, 11, 16)))
        );
        assert_eq!(all.entries[1].day, Some(date(2026, 11, 15)));
        let old = list(ListFilter { until: Some(date(2026, 11, 15)), ..ListFilter::default() });
        assert_eq!((texts(&old).len(), old.filtered), (1, 2), "{old:?}");
        for filter in [
            ListFilter { key: Some("DB".to_owned()), ..ListFilter::default() },
            ListFilter { kind: Some("decision".to_owned()), ..ListFilter::default() },
            ListFilter { origin: Some(Origin::Owner), ..ListFilter::default() },
            ListFilter { since: Some(date(2026, 11, 16)), ..ListFilter::default() },
        ] {
            let listed = list(filter.clone());
            assert_eq!((listed.entries.len(), listed.filtered), (1, 2), "{filter:?}");
            assert_eq!(listed.entries[0].key.as_deref(), Some("db"));
        }
        let core = list(ListFilter { kind: Some("core".to_owned()), ..ListFilter::default() });
        assert_eq!(core.entries[0].path, "MEMORY.md");
    }

    #[test]
    fn what_another_entry_replaced_is_counted_and_not_listed() {
        let (_kept, site) = site(&[(
            "memory/2026-11-16.md",
            "# 2026-11-16\n\n- **db**: Postgres\n- **db**: SQLite <!-- anemone: k7f3xq2b -->\n",
        )]);
        let listed = listed(&site, &ListFilter::default());
        assert_eq!((listed.entries.len(), listed.superseded), (1, 1), "{listed:?}");
    }

    #[test]
    fn the_day_of_a_row_is_the_one_that_its_time_states() {
        let row = MemoryEntry {
            id: "1".to_owned(),
            key: "lunch".to_owned(),
            content: "noodles".to_owned(),
            category: Category::Daily,
            timestamp: "2026-11-15T23:30:00.000000000-08:00".to_owned(),
            session_id: None,
            score: None,
            importance: None,
            origin: None,
        };
        let listed = row_listing(vec![row]);
        assert_eq!(listed.entries[0].day, Some(date(2026, 11, 15)));
        assert_eq!((listed.entries[0].kind.as_str(), listed.entries[0].lines), ("daily", (1, 1)));
    }
}
