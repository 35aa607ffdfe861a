//! Finds the entries that no longer hold because another entry says that it replaces them.
//!
//! All callers share one rule: an entry that is named by its id is superseded, and an entry that is
//! named by its key is superseded if it is older than the entry that names it. Entries without a
//! stamp are as old as the day of their file; of entries of one age, the one further down is newer.
//! An entry without a stamp can be named by its text: a person wrote it, and it has no other name
//! that stays when the lines above it change.

use std::collections::HashMap;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use crate::change::digest;
use crate::duplicates::without_tags;
use crate::page::ParsedEntry;
use crate::sameness::comparable;
use crate::store::PageKind;

/// How names made of a text begin. No id does, and a key that does so is only a key.
const TEXT_NAME: &str = "text:";
/// Bytes of the digest in such a name.
const TEXT_NAME_BYTES: usize = 8;
/// Somewhere a day begins so much earlier than in UTC.
const FIRST_ZONE: SignedDuration = SignedDuration::from_hours(14);

/// Returns the name of an entry by its text, as texts are compared.
pub(crate) fn text_name(content: &str) -> String {
    let text = comparable(&without_tags(content));
    let digest = digest(text.as_bytes());
    format!("{TEXT_NAME}{}", anemone_format::Hex(&digest[..TEXT_NAME_BYTES]))
}

/// Whether a name is one that [`text_name`] makes.
pub(crate) fn is_text_name(name: &str) -> bool {
    name.starts_with(TEXT_NAME)
}

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

impl Age<'_> {
    /// Returns the age that an entry without a stamp has at least: its day may have begun before
    /// that of UTC.
    pub(crate) fn earliest(&self) -> Self {
        let written = self.written.map(|at| at.checked_sub(FIRST_ZONE).unwrap_or(at));
        Self { written, ..*self }
    }
}

/// Keys, ids and names of texts whose place was taken, each with the newest entry that takes it.
#[derive(Debug, Default)]
pub(crate) struct Taken<'a>(HashMap<&'a str, Age<'a>>);

impl<'a> Taken<'a> {
    /// Notes that an entry takes the place of a name.
    pub(crate) fn note(&mut self, name: &'a str, by: Age<'a>) {
        let newest = self.0.entry(name).or_insert(by);
        *newest = by.max(*newest);
    }

    /// Whether nothing took any place.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Says whether an entry is superseded; `name` returns the name of its text.
    pub(crate) fn has(
        &self,
        key: Option<&str>,
        age: &Age<'_>,
        name: impl FnOnce() -> String,
    ) -> bool {
        let by_id = age.id.is_some_and(|id| self.0.contains_key(id));
        by_id
            || key.and_then(|key| self.0.get(key)).is_some_and(|value| value > age)
            || age.id.is_none() && self.has_text(age, name)
    }

    fn has_text(&self, age: &Age<'_>, name: impl FnOnce() -> String) -> bool {
        // Nearly no memory has such a name, and a digest of every entry takes time.
        let has_any = self.0.keys().any(|name| is_text_name(name));
        has_any && self.0.get(name().as_str()).is_some_and(|value| *value > age.earliest())
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

    #[test]
    fn an_entry_without_a_stamp_is_named_by_its_text_as_long_as_that_stays() {
        let name = super::text_name("The tea ships on Tuesdays. #tea");
        assert_eq!(name, super::text_name("the tea ships on tuesdays"));
        let stamp = |number: u8, rest: &str| {
            format!(
                "<!-- anemone: 019a89c2-7c11-7d3e-9f00-1c2d3e4f5a{number:02} agent \
                 2026-11-16T10:00:{number:02}Z{rest} -->"
            )
        };
        let text = format!(
            "- The tea ships on Tuesdays. #tea\n- The tea ships on Tuesdays, by boat.\n\
             - The tea ships on Fridays. {}\n- The tea ships on Tuesdays. {}\n",
            stamp(1, &format!(" supersedes=\"{name}\"")),
            stamp(2, ""),
        );
        let placed: Vec<PageEntry> = units(&text)
            .into_iter()
            .map(|unit| PageEntry::new("MEMORY.md", PageKind::Curated, unit))
            .collect();
        let taken = taken(&placed);
        let gone: Vec<usize> =
            (0..placed.len()).filter(|at| placed[*at].is_superseded(&taken)).collect();
        assert_eq!(gone, [0], "the last one was written since");
    }
}
