//! Additions to a memory: entries that were searched for secrets.

use crate::entry::{Category, NewEntry};
use crate::remember::{Place, Secrets, look_for_secrets};
use crate::row_store::{RowDraft, RowVector};

/// Entries that are written as one change. It can only be made of texts that were searched for
/// secrets, so that nothing is written past that search.
#[derive(Clone, Debug)]
pub struct Addition {
    what: String,
    entries: Vec<NewEntry>,
    place: Place,
    category: Category,
    vector: Option<RowVector>,
}

impl Addition {
    /// Takes entries for a place, as rows of a category. Marks take the place of secrets.
    #[must_use]
    pub fn redacted(
        what: &str,
        mut entries: Vec<NewEntry>,
        place: Place,
        category: Category,
    ) -> Self {
        for given in &mut entries {
            look_for_secrets(given, Secrets::Redact);
        }
        Self { what: what.to_owned(), entries, place, category, vector: None }
    }

    /// Takes an entry in which no secret is left.
    pub(crate) fn clear(
        what: &str,
        given: NewEntry,
        place: Place,
        category: Category,
        vector: Option<RowVector>,
    ) -> Self {
        Self { what: what.to_owned(), entries: vec![given], place, category, vector }
    }

    /// Returns the requested operation, such as `remember`.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Returns the entries.
    #[must_use]
    pub fn entries(&self) -> &[NewEntry] {
        &self.entries
    }

    /// Returns where in files they are written.
    #[must_use]
    pub const fn place(&self) -> Place {
        self.place
    }

    /// Returns the rows that they become.
    #[must_use]
    pub fn rows(&self) -> Vec<RowDraft> {
        let row = |given: &NewEntry| RowDraft {
            given: given.clone(),
            category: self.category.clone(),
            // Only a single entry has one.
            vector: self.vector.clone().filter(|_| self.entries.len() == 1),
        };
        self.entries.iter().map(row).collect()
    }
}
