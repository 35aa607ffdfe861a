//! Which of the lines that a search found no longer hold, since another entry took their place.

use anemone_format::{Origin, StampTable};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::cited::citation_of;
use crate::entries::{PageEntry, decoded};
use crate::page::{ParsedEntry, key_prefix, known_units};
use crate::store::{MarkdownStore, MarkdownStoreError, PageKind};
use crate::summary::day_of;

/// So many logs are read at most: a search should not take longer with each day of a memory.
const MOST_LOGS: usize = 500;

/// Lines of a file: its path, the first line and the last.
pub type FoundLines<'a> = (&'a str, usize, usize);

/// An entry that took the place of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Successor {
    /// The file.
    pub path: String,
    /// Its first and last line, from 1.
    pub lines: (usize, usize),
    /// What it says.
    pub(crate) text: String,
    /// Where it comes from, if that is known.
    pub(crate) origin: Option<Origin>,
}

impl Successor {
    /// Returns how it is cited.
    #[must_use]
    pub fn citation(&self) -> String {
        citation_of(&self.path, self.lines)
    }
}

/// Returns for each of these lines the entry that took the place of everything in them; `None`
/// where something in them still holds. Logs are looked through only as far as they can hold such
/// an entry, and of very many the newest.
pub fn successors(
    site: &MarkdownStore,
    found: &[FoundLines<'_>],
) -> Result<Vec<Option<Successor>>, MarkdownStoreError> {
    let table = site.stamps();
    let shown: Vec<Vec<PageEntry>> =
        found.iter().map(|lines| entries_in(site, &table, lines)).collect();
    successors_of(site, &table, &shown)
}

/// As [`successors`], of groups of entries that were read.
pub(crate) fn successors_of(
    site: &MarkdownStore,
    table: &StampTable,
    shown: &[Vec<PageEntry>],
) -> Result<Vec<Option<Successor>>, MarkdownStoreError> {
    // Entries with a key or id can be replaced, and those whose text is named by an entry.
    let names: Vec<String> = shown
        .iter()
        .flatten()
        .filter_map(|shown| shown.unit.key.as_deref().map(key_prefix))
        .collect();
    let has_names = shown.iter().flatten().any(|shown| shown.unit.stamp.is_some());
    // Whatever names a text has a stamp.
    let has_names = has_names || (!table.is_empty() && shown.iter().any(|shown| !shown.is_empty()));
    if names.is_empty() && !has_names {
        return Ok(vec![None; shown.len()]);
    }
    let may_replace = |_: &str, text: &str| {
        text.contains(" supersedes=\"") || names.iter().any(|name| text.contains(name.trim_end()))
    };
    let since = shown.iter().flatten().map(PageEntry::written).min().flatten();
    let all = site.entries_of(newer_pages(site, since)?, &may_replace);
    let successor = |entries: &Vec<PageEntry>| {
        let mut newest = None;
        for entry in entries {
            newest = Some(all.successor_of(entry)?);
        }
        newest.map(|newest| Successor {
            path: newest.path.clone(),
            lines: newest.unit.lines,
            text: newest.unit.content.clone(),
            origin: newest.unit.stamp.as_ref().and_then(|stamp| stamp.origin),
        })
    };
    Ok(shown.iter().map(successor).collect())
}

/// Returns the files that can hold an entry which is newer than this, the newest if there are many.
fn newer_pages(
    site: &MarkdownStore,
    since: Option<Timestamp>,
) -> Result<Vec<(String, PageKind)>, MarkdownStoreError> {
    // An entry is written to the log of its day, wherever on earth that is.
    let first = since.and_then(|at| at.to_zoned(TimeZone::UTC).date().yesterday().ok());
    let (mut logs, mut others): (Vec<_>, Vec<_>) =
        site.pages()?.into_iter().partition(|(_, kind)| day_of(*kind).is_some());
    logs.retain(|(_, kind)| first.is_none_or(|first| day_of(*kind) >= Some(first)));
    // They are sorted by their names, which begin with their days.
    others.extend(logs.split_off(logs.len().saturating_sub(MOST_LOGS)));
    Ok(others)
}

/// Returns the entries in these lines of a file.
fn entries_in(
    site: &MarkdownStore,
    table: &StampTable,
    (path, first, last): &FoundLines<'_>,
) -> Vec<PageEntry> {
    // A path that is not a file of the memory, such as a row of a database, has no lines.
    let Ok(Some(bytes)) = site.read_bytes(path) else { return Vec::new() };
    let Some(text) = decoded(&bytes) else { return Vec::new() };
    let touches = |unit: &ParsedEntry| unit.lines.0 <= *last && unit.lines.1 >= *first;
    let found = known_units(&text, table).into_iter().filter(touches);
    found.map(|unit| PageEntry::new(path, PageKind::of(path), unit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::MarkdownLayout;

    #[test]
    fn lines_are_superseded_only_when_nothing_in_them_holds() {
        let kept = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(kept.path().join("w/memory")).unwrap();
        let stamp = |number: u8, rest: &str| {
            format!(
                "<!-- anemone: 019a89c2-7c11-7d3e-9f00-1c2d3e4f5a{number:02} agent \
                 2026-11-16T10:00:{number:02}Z{rest} -->"
            )
        };
        let log = format!(
            "- **db**: Postgres {}\n- a note\n- **db**: SQLite {}\n- by id {}\n- new {}\n\
             - **label**: one\n- **label**: two\n",
            stamp(1, ""),
            stamp(2, ""),
            stamp(3, ""),
            stamp(4, " supersedes=\"019a89c2-7c11-7d3e-9f00-1c2d3e4f5a03\""),
        );
        let path = "memory/2026-11-16.md";
        fs_err::write(kept.path().join("w").join(path), log).unwrap();
        let state = kept.path().join("s");
        let site =
            MarkdownStore::open(&kept.path().join("w"), &state, MarkdownLayout::PLAIN).unwrap();
        let found = [
            (path, 1, 1),
            (path, 1, 2),
            (path, 3, 3),
            (path, 4, 4),
            (path, 6, 6),
            ("none.md", 1, 1),
        ];
        let lines: Vec<Option<(usize, usize)>> = successors(&site, &found)
            .unwrap()
            .into_iter()
            .map(|successor| Some(successor?.lines))
            .collect();
        // Lines that a person wrote under the same label are a list, not a history.
        assert_eq!(lines, [Some((3, 3)), None, None, Some((5, 5)), None, None]);
    }
}
