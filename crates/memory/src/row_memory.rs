//! A memory in rows of a database, beside which there may be Markdown files.

use std::collections::HashMap;

use anemone_index::Hit;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use uuid::Uuid;

use crate::addition::Addition;
use crate::change::Applied;
use crate::duplicates::{
    Candidate, ComparedEntries, Duplicate, DuplicateSearch, same_row, similar_rows,
};
use crate::entry::{MemoryEntry, NewEntry};
use crate::forget::ForgetTarget;
use crate::list::{EntryListing, row_listing};
use crate::markdown_memory::MarkdownMemory;
use crate::memory::{Memory, MemoryError, PlannedEntry, PlannedRow};
use crate::remember::{Caution, Place};
use crate::row_store::{RowStore, row_document};
use crate::store::{LockedStore, MarkdownStore};

/// A memory in rows of a database.
pub struct RowMemory {
    files: MarkdownMemory,
    rows: Box<dyn RowStore>,
}

impl RowMemory {
    /// Takes the rows, and the workspace that they belong to.
    #[must_use]
    pub fn new(store: MarkdownStore, rows: Box<dyn RowStore>) -> Self {
        Self { files: MarkdownMemory::new(store), rows }
    }

    fn has(&self, target: &ForgetTarget) -> Result<bool, MemoryError> {
        Ok(!self.rows.matching(target)?.is_empty())
    }
}

/// Returns the key of a row: a row without a key is called by its id.
#[must_use]
pub fn row_key(given: &NewEntry) -> String {
    given.key.clone().unwrap_or_else(|| given.stamp.id.to_string())
}

/// Returns the text of a row, with the tags at its end.
#[must_use]
pub fn row_text(given: &NewEntry) -> String {
    let mut text = given.text.clone();
    for tag in &given.tags {
        text.push_str(&format!(" #{tag}"));
    }
    text
}

impl Memory for RowMemory {
    fn store(&self) -> &MarkdownStore {
        self.files.store()
    }

    fn rows(&self) -> Option<&dyn RowStore> {
        Some(&*self.rows)
    }

    fn place_name(&self, _: Place) -> String {
        let name = self.rows.database().file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    fn listing(&self, _: &TimeZone) -> Result<EntryListing, MemoryError> {
        let listing = row_listing(self.rows.entries()?);
        Ok(EntryListing { superseded: self.rows.superseded()?, ..listing })
    }

    fn texts(&self, _: &[&str]) -> Result<Vec<String>, MemoryError> {
        Ok(self.rows.entries()?.into_iter().map(|row| row.content).collect())
    }

    fn similar(&self, search: DuplicateSearch<'_>) -> Result<ComparedEntries, MemoryError> {
        let mut found = similar_rows(&self.rows.entries()?, search);
        // In a database that cannot mark a row, the old one stays as it is.
        if !found.outdated.is_empty() && !self.rows.can_supersede()? {
            found.unmarked = found.outdated.drain(..).map(|outdated| outdated.entry).collect();
        }
        Ok(found)
    }

    fn state(&self, _: Place) -> Result<Option<[u8; 32]>, MemoryError> {
        Ok(self.rows.state())
    }

    fn equal_since(
        &self,
        known: Option<[u8; 32]>,
        _: Place,
        candidate: Candidate<'_>,
    ) -> Result<Option<Duplicate>, MemoryError> {
        if self.rows.state() == known {
            return Ok(None);
        }
        Ok(same_row(&self.rows.entries()?, candidate))
    }

    fn plan_entry(&self, given: &NewEntry, place: Place) -> Result<PlannedEntry, MemoryError> {
        let key = row_key(given);
        self.rows.check_key(&key)?;
        let replaced = self.rows.matching(&ForgetTarget::Key(key.clone()))?.into_iter().next();
        let replaces = replaced.is_some();
        let id = replaced.map_or_else(|| given.stamp.id.to_string(), |row| row.entry.id);
        // A row keeps its category unless another one was asked for.
        let category = match self.rows.category_of(&key)?.filter(|_| replaces) {
            Some(category) if matches!(place, Place::Daily(_)) => category,
            _ => place.category(),
        };
        let row = Some(PlannedRow { key, category, replaces });
        Ok(PlannedEntry { id, path: self.place_name(place), text: row_text(given), row })
    }

    fn cautions(&self, given: &NewEntry) -> Result<Vec<Caution>, MemoryError> {
        let Some(name) = &given.stamp.supersedes else { return Ok(Vec::new()) };
        if !self.has(&ForgetTarget::Key(name.clone()))?
            && !self.has(&ForgetTarget::Ids(vec![name.clone()]))?
        {
            let message = "no row has the key or id that this one is to supersede".to_owned();
            return Ok(vec![Caution { code: "supersedes_nothing", message }]);
        }
        if self.rows.can_supersede()? {
            return Ok(Vec::new());
        }
        Ok(vec![Caution::cannot_supersede()])
    }

    fn add(
        &self,
        held: &LockedStore<'_>,
        addition: &Addition,
        id: Uuid,
        now: Timestamp,
    ) -> Result<Applied, MemoryError> {
        let rows = addition.rows();
        let change = held.write_rows(addition.what(), &*self.rows, &rows, id, now)?;
        Ok(Applied { id: change, restored: Vec::new(), dropped: 0 })
    }

    fn ids_of_hits(
        &self,
        hits: &[Hit],
        is_meant: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Vec<String>>, MemoryError> {
        let mut ids = self.files.ids_of_hits(hits, is_meant)?;
        let entries = self.rows.entries()?;
        let known = KnownRows::of(&entries);
        for (hit, ids) in hits.iter().zip(&mut ids) {
            ids.extend(known.of_hit(hit).map(|row| row.id.clone()));
        }
        Ok(ids)
    }
}

/// Rows by the names that a hit may use for them.
struct KnownRows<'a> {
    by_id: HashMap<&'a str, &'a MemoryEntry>,
    by_path: HashMap<String, &'a MemoryEntry>,
}

impl<'a> KnownRows<'a> {
    fn of(entries: &'a [MemoryEntry]) -> Self {
        Self {
            by_id: entries.iter().map(|row| (row.id.as_str(), row)).collect(),
            by_path: entries.iter().map(|row| (row_document(&row.key), row)).collect(),
        }
    }

    fn of_hit(&self, hit: &Hit) -> Option<&'a MemoryEntry> {
        let by_id = hit.provenance.record.as_deref().and_then(|id| self.by_id.get(id));
        by_id.or_else(|| self.by_path.get(&hit.path)).copied()
    }
}
