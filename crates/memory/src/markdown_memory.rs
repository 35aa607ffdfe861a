//! A memory in the Markdown files of a workspace.

use anemone_index::Hit;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use uuid::Uuid;

use crate::addition::Addition;
use crate::change::{Applied, ApplyError, Change, Edit};
use crate::duplicates::{Candidate, ComparedEntries, Duplicate, DuplicateSearch, same_in, similar};
use crate::entries::decoded;
use crate::entry::NewEntry;
use crate::list::{EntryListing, entry_listing};
use crate::memory::{Memory, MemoryError, PlannedEntry};
use crate::page::{ParsedEntry, render, units};
use crate::remember::{Caution, Place};
use crate::store::{LockedStore, MarkdownStore, MarkdownStoreError, PageKind};
use crate::superseded::{is_text_name, text_name};
use crate::suspicion::suspicious;

/// Another program may save between reading and writing; none does it this often.
const TIMES: usize = 16;

/// A memory in the Markdown files of a workspace.
#[derive(Clone, Debug)]
pub struct MarkdownMemory {
    store: MarkdownStore,
}

impl MarkdownMemory {
    /// Takes the files.
    #[must_use]
    pub const fn new(store: MarkdownStore) -> Self {
        Self { store }
    }

    /// Whether an entry has a key or id.
    fn is_known(&self, name: &str) -> Result<bool, MarkdownStoreError> {
        let is_text = is_text_name(name);
        for (path, _) in self.store.pages()? {
            let bytes = self.store.read_bytes(&path)?.unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            let is_it = |entry: &ParsedEntry| {
                let id = entry.stamp.as_ref().map(|stamp| stamp.id.to_string());
                entry.key.as_deref() == Some(name)
                    || id.as_deref() == Some(name)
                    || (is_text && text_name(&entry.content) == name)
            };
            // Taking a file apart costs more than looking for the name in it.
            if (is_text || text.contains(name)) && units(&text).iter().any(is_it) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the change that adds entries, as the files are now.
    fn change(&self, addition: &Addition) -> Result<Change, MarkdownStoreError> {
        let path = self.store.page_of(addition.place());
        let seen = self.store.read(&path)?;
        // A line of UTF-8 at the end of UTF-16 would be noise to every program.
        if let Some(file) = &seen
            && decoded(&file.bytes).is_none()
        {
            return Err(MarkdownStoreError::NotText(self.store.root().join(path)));
        }
        let text: String = addition.entries().iter().map(render).collect();
        let edit = match addition.place() {
            Place::Daily(day) => {
                self.store.appended(&path, seen.as_ref(), PageKind::Daily(day), &text)
            }
            Place::Curated => {
                let head = self.store.head(PageKind::Curated);
                let before = seen.as_ref().map(|file| file.bytes.as_slice()).unwrap_or_default();
                let glue = Edit::glue(seen.as_ref(), &head);
                let added = self.store.added_to(seen.as_ref(), &text);
                let after = [before, glue.as_bytes(), added.as_bytes()].concat();
                Edit::Write { path, before: seen.map(|file| file.sha256), after }
            }
        };
        let stamps = addition.entries().iter().map(|given| given.stamp.clone()).collect();
        Ok(Change { stamps, ..Change::new(addition.what(), vec![edit]) })
    }
}

impl Memory for MarkdownMemory {
    fn store(&self) -> &MarkdownStore {
        &self.store
    }

    fn place_name(&self, place: Place) -> String {
        self.store.page_of(place)
    }

    fn listing(&self, zone: &TimeZone) -> Result<EntryListing, MemoryError> {
        Ok(entry_listing(&self.store, zone)?)
    }

    fn texts(&self, paths: &[&str]) -> Result<Vec<String>, MemoryError> {
        let mut found = Vec::new();
        for path in paths {
            let Some(file) = self.store.read(path)? else { continue };
            if let Ok(text) = file.text() {
                found.extend(units(text).into_iter().map(|entry| entry.content));
            }
        }
        Ok(found)
    }

    fn similar(&self, search: DuplicateSearch<'_>) -> Result<ComparedEntries, MemoryError> {
        Ok(similar(&self.store, search)?)
    }

    fn state(&self, place: Place) -> Result<Option<[u8; 32]>, MemoryError> {
        Ok(self.store.read(&self.store.page_of(place))?.map(|file| file.sha256))
    }

    fn equal_since(
        &self,
        known: Option<[u8; 32]>,
        place: Place,
        candidate: Candidate<'_>,
    ) -> Result<Option<Duplicate>, MemoryError> {
        let path = self.store.page_of(place);
        let changed = self.store.read(&path)?.filter(|file| Some(file.sha256) != known);
        Ok(changed.and_then(|file| {
            let text = String::from_utf8_lossy(&file.bytes);
            same_in(&path, &text, candidate)
        }))
    }

    fn plan_entry(&self, given: &NewEntry, place: Place) -> Result<PlannedEntry, MemoryError> {
        Ok(PlannedEntry {
            id: given.stamp.id.shortened().to_string(),
            path: self.place_name(place),
            text: render(given),
            row: None,
        })
    }

    fn cautions(&self, given: &NewEntry) -> Result<Vec<Caution>, MemoryError> {
        let mut cautions = Vec::new();
        if let Some(name) = &given.stamp.supersedes
            && !self.is_known(name)?
        {
            let message = "no entry has the key or id that this one is to supersede".to_owned();
            cautions.push(Caution { code: "supersedes_nothing", message });
        }
        cautions.extend(suspicious(&given.text).iter().map(|found| Caution {
            code: "suspicious",
            message: format!(
                "a model may be misled by it ({}): {}",
                found.kind.as_str(),
                found.excerpt
            ),
        }));
        Ok(cautions)
    }

    /// If another program saves the file in the meantime, its content is kept, and the entries are
    /// added to it.
    fn add(
        &self,
        held: &LockedStore<'_>,
        addition: &Addition,
        id: Uuid,
        now: Timestamp,
    ) -> Result<Applied, MemoryError> {
        let make = || held.apply(&self.change(addition)?, id, now);
        let mut last = make();
        for _ in 1..TIMES {
            if !matches!(last, Err(ApplyError::Changed { .. })) {
                break;
            }
            last = make();
        }
        Ok(last?)
    }

    fn ids_of_hits(
        &self,
        hits: &[Hit],
        is_meant: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Vec<String>>, MemoryError> {
        let entries = self.store.entries()?;
        let ids_of =
            |hit: &Hit| {
                let found = entries.of_hit(hit);
                let mut meant =
                    found.iter().filter(|entry| is_meant(&entry.unit.content)).peekable();
                let mut ids = Vec::new();
                // A heading is not an entry, and an entry may be longer than the hit: then the
                // citation of the hit is the target.
                if meant.peek().is_none() && entries.page(&hit.path).is_some() {
                    ids.push(hit.citation());
                }
                ids.extend(meant.map(|entry| {
                    if entry.is_shown(hit) { entry.id.clone() } else { hit.citation() }
                }));
                ids
            };
        Ok(hits.iter().map(ids_of).collect())
    }
}
