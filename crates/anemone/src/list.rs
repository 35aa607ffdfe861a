//! Lists the entries of a memory.

use std::collections::BTreeSet;

use anemone_format::Origin;
use anemone_memory::{
    Caution, EntryListing, ListFilter, ListedEntry, MarkdownStoreError, MemoryError, OriginCheck,
    Page, citation_of, list_entries, shown,
};
use anemone_runtimes::OddityKind;
use jiff::civil::Date;
use serde::Serialize;

use crate::agent_memory::{Access, AgentMemoryError, MemoryChoice};
use crate::days::{EmptyPeriodError, check_period};
use crate::host::Host;
use crate::store_entries::StoreEntries;

/// Which entries of which memory are listed. A filter that is `None` matches every entry.
#[derive(Clone, Debug, Default)]
pub struct ListRequest {
    /// Whose memory.
    pub memory: MemoryChoice,
    /// Entries of this day or later.
    pub since: Option<Date>,
    /// Entries of this day or earlier.
    pub until: Option<Date>,
    /// Entries whose key contains this.
    pub key: Option<String>,
    /// Entries of this type, such as `decision` or `daily`.
    pub kind: Option<String>,
    /// Entries of this origin.
    pub origin: Option<Origin>,
    /// How many entries at most.
    pub limit: u32,
    /// How many entries that match are left out at the start: the pages before.
    pub offset: u32,
}

impl ListRequest {
    /// The default number of entries.
    pub const USUAL_LIMIT: u32 = 50;

    /// Lists the newest entries, whatever they are.
    #[must_use]
    pub fn new(memory: MemoryChoice) -> Self {
        Self { memory, limit: Self::USUAL_LIMIT, ..Self::default() }
    }
}

/// The entries that match.
#[derive(Clone, Debug, Serialize)]
pub struct ListReport {
    /// The folder of the memory.
    pub place: String,
    /// The entries, the newest first.
    pub entries: Vec<EntryLine>,
    /// Entries that match.
    pub total: usize,
    /// Entries that match and are not listed because of the limit and the offset.
    pub not_shown: usize,
    /// The offset of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// Entries that do not match.
    pub filtered: usize,
    /// Entries that others replaced, or that were archived.
    pub superseded: usize,
    /// Files that could not be read.
    pub unreadable: Vec<String>,
    /// What the user should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Caution>,
}

/// One entry.
#[derive(Clone, Debug, Serialize)]
pub struct EntryLine {
    /// Its id, by which it can be forgotten.
    pub id: String,
    /// Path and lines, as they are cited.
    pub citation: String,
    /// The document that it is in.
    pub path: String,
    /// Its first line there.
    pub start_line: usize,
    /// Its last line there.
    pub end_line: usize,
    /// The key it was remembered under.
    pub key: Option<String>,
    /// Its day.
    pub date: Option<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Where it comes from.
    pub origin: Option<String>,
    /// Whether this installation wrote the stamp that names the origin; otherwise it is a claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin_verified: Option<bool>,
    /// How much it matters, from 0 to 1.
    pub importance: Option<f64>,
    /// When it was written.
    pub written_at: Option<String>,
    /// What it says.
    pub text: String,
}

/// Why nothing is listed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum ListError {
    /// No day is in the period that was asked for.
    EmptyPeriod(#[from] EmptyPeriodError),
    /// No entry is of a type, and no file gives its entries that type.
    #[error("no entry is of type {kind:?}")]
    UnknownType {
        /// The type.
        kind: String,
        /// The types that there are.
        known: Vec<String>,
    },
    /// The files of the memory.
    Store(#[from] MarkdownStoreError),
    /// The rows of the memory.
    Memory(#[from] MemoryError),
    /// The memory was not found, or cannot be opened.
    Open(#[from] AgentMemoryError),
}

/// Lists the entries of a memory that match.
pub fn list(request: &ListRequest, host: &Host) -> Result<ListReport, ListError> {
    check_period(request.since, request.until)?;
    let (machine, memory) = request.memory.open(Access::Read, host)?;
    let (backend, zone) = (memory.memory(), host.zone());
    let stores = StoreEntries::of(&memory, &machine, &zone);
    let matching = |filter: &ListFilter| -> Result<EntryListing, ListError> {
        Ok(list_entries(&*backend, filter, &zone)?.with(stores.entries.clone(), filter))
    };
    let mut listing = matching(&request.filter())?;
    listing.unreadable.extend(stores.unreadable.iter().cloned());
    if listing.entries.is_empty()
        && let Some(kind) = &request.kind
    {
        check_kind(kind, &matching(&ListFilter::default())?)?;
    }
    let total = listing.entries.len();
    let page = Page { offset: request.offset as usize, limit: request.limit as usize };
    let rest = listing.keep_page(page);
    let EntryListing { entries, filtered, superseded, unreadable } = listing;
    let mut entries: Vec<EntryLine> = entries.into_iter().map(EntryLine::of).collect();
    // Rows of a database or a store have no file to check, so their origins stay claims.
    let mut origins = OriginCheck::new(&memory.site);
    for entry in entries.iter_mut().filter(|entry| entry.origin.is_some()) {
        let verified = origins.is_verified(&entry.path, entry.start_line, entry.end_line);
        entry.origin_verified = Some(verified);
    }
    Ok(ListReport {
        place: memory.site.root().display().to_string(),
        not_shown: total - entries.len(),
        next_offset: (rest > 0).then(|| total - rest),
        entries,
        total,
        filtered,
        superseded,
        unreadable,
        warnings: memory.unreadable_config().map(config_unreadable).into_iter().collect(),
    })
}

/// Warns that other entries may be the agent's.
fn config_unreadable(why: &str) -> Caution {
    let message = format!("{why}; these are the entries that were found without it");
    Caution { code: OddityKind::ConfigUnreadable.as_str(), message }
}

/// Refuses a type that no entry has and that no file gives its entries.
fn check_kind(kind: &str, all: &EntryListing) -> Result<(), ListError> {
    let of_files = ["core", "daily", "session", "note"];
    let here = all.entries.iter().map(|entry| entry.kind.as_str());
    let known: BTreeSet<&str> = of_files.into_iter().chain(here).collect();
    if known.iter().any(|known| known.eq_ignore_ascii_case(kind)) {
        return Ok(());
    }
    let known = known.into_iter().map(str::to_owned).collect();
    Err(ListError::UnknownType { kind: kind.to_owned(), known })
}

impl ListRequest {
    fn filter(&self) -> ListFilter {
        ListFilter {
            since: self.since,
            until: self.until,
            key: self.key.clone(),
            kind: self.kind.clone(),
            origin: self.origin,
        }
    }
}

impl EntryLine {
    fn of(entry: ListedEntry) -> Self {
        let (first, last) = entry.lines;
        Self {
            citation: citation_of(&entry.path, entry.lines),
            start_line: first,
            end_line: last,
            id: entry.id,
            path: entry.path,
            key: entry.key,
            date: entry.day.map(|day| day.to_string()),
            kind: entry.kind,
            origin: entry.origin,
            origin_verified: None,
            importance: entry.importance,
            written_at: entry.written.map(|time| time.to_string()),
            text: shown(&entry.text),
        }
    }
}
