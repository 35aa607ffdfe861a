//! Additions to a memory: entries that were searched for secrets.

use crate::entry::{Category, NewEntry};
use crate::remember::{Place, Secrets, look_for_secrets};

/// Entries that are written as one change. It can only be made of texts that were searched for
/// secrets, so that nothing is written past that search.
#[derive(Clone, Debug)]
pub struct Addition {
    what: String,
    entries: Vec<NewEntry>,
    place: Place,
    category: Category,
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
        Self { what: what.to_owned(), entries, place, category }
    }

    /// Takes an entry in which no secret is left.
    pub(crate) fn clear(what: &str, given: NewEntry, place: Place) -> Self {
        let category = place.category();
        Self { what: what.to_owned(), entries: vec![given], place, category }
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

    /// Returns the kind of rows that they become.
    #[must_use]
    pub const fn category(&self) -> &Category {
        &self.category
    }
}
