//! Finds the entries that no longer hold because another entry says that it replaces them.
//!
//! All callers share one rule: an entry that is named by its id is superseded, and an entry that is
//! named by its key is superseded if it is older than the entry that names it. Entries without a
//! stamp are as old as the day of their file; of entries of one age, the one further down is newer.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use uuid::Uuid;

use crate::page::ParsedEntry;
use crate::store::PageKind;

/// What tells the newer of two entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Age<'a> {
    /// When it was written, where that is known.
    pub(crate) written: Option<Timestamp>,
    /// The UUID of its stamp: those are made in order.
    pub(crate) uuid: Option<Uuid>,
    /// The file.
    pub(crate) path: &'a str,
    /// Its first line.
    pub(crate) line: usize,
    /// What its stamp calls it.
    pub(crate) id: Option<&'a str>,
}

/// Keys and ids whose place was taken, each with the newest entry that takes it.
#[derive(Debug, Default)]
pub(crate) struct Taken<'a>(HashMap<&'a str, Age<'a>>);

impl<'a> Taken<'a> {
    /// Notes that an entry takes the place of a key or id.
    pub(crate) fn note(&mut self, name: &'a str, by: Age<'a>) {
        let newest = self.0.entry(name).or_insert(by);
        *newest = by.max(*newest);
    }

    /// Whether nothing took any place.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Says whether an entry is superseded.
    pub(crate) fn has(&self, key: Option<&str>, age: &Age<'_>) -> bool {
        let by_id = age.id.is_some_and(|id| self.0.contains_key(id));
        by_id || key.and_then(|key| self.0.get(key)).is_some_and(|value| value > age)
    }
}

/// Returns when an entry was written; without a stamp, when the day of its file began.
pub(crate) fn written(kind: PageKind, unit: &ParsedEntry) -> Option<Timestamp> {
    if let Some(at) = unit.stamp.as_ref().and_then(|stamp| stamp.at.as_ref()) {
        return Some(at.instant());
    }
    match kind {
        PageKind::Daily(day) | PageKind::Session(day) => {
            day.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
        }
        PageKind::Curated | PageKind::Note | PageKind::Archived => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::entries::{PageEntry, taken};
    use crate::page::units;
    use crate::store::PageKind;

    const ID: &str = "019a89c2-7c11-7d3e-9f00-1c2d3e4f5a6b";

    #[test]
    fn an_entry_takes_the_place_of_older_ones_and_of_no_newer() {
        let stamp = |number: u8, rest: &str| {
            format!(
                "<!-- anemone: 019a89c2-7c11-7d3e-9f00-1c2d3e4f5a{number:02} agent \
                 2026-11-16T10:00:{number:02}Z{rest} -->"
            )
        };
        let text = format!(
            "- **db**: by hand\n- **db**: one {}\n- **db**: two {}\n- **db**: three {}\n\
             - other <!-- anemone: {ID} agent 2026-11-16T11:00:00Z -->\n- new {}\n",
            stamp(1, ""),
            stamp(2, " supersedes=\"db\""),
            stamp(3, ""),
            // By a clock that is slow, which does not matter where an id is named.
            stamp(4, &format!(" supersedes=\"{ID}\"")),
        );
        let placed: Vec<PageEntry> = units(&text)
            .into_iter()
            .map(|unit| PageEntry::new("MEMORY.md", PageKind::Curated, unit))
            .collect();
        let taken = taken(&placed);
        let gone: Vec<usize> =
            (0..placed.len()).filter(|at| placed[*at].is_superseded(&taken)).collect();
        assert_eq!(gone, [0, 1, 4]);
    }
}
