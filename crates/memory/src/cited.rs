//! Lines of a file that somebody names to be forgotten, as a search cites them.
//!
//! Exactly the lines that are cited go: whole entries, and what is no entry by itself, such as a
//! heading, the head of a table or an item within an item. Where the lines would cut an entry
//! apart, nothing goes and the lines that belong together are named.

use anemone_format::ProvenanceStamp;
use anemone_markdown::{byte_order_mark, front_matter, indentation};

use crate::entries::Entry;
use crate::page::{ItemMarker, ParsedEntry};
use crate::store::PageKind;

/// Lines of a file: `MEMORY.md#L8` or `MEMORY.md#L8-L12`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Citation<'a> {
    pub(crate) path: &'a str,
    pub(crate) lines: (usize, usize),
}

impl<'a> Citation<'a> {
    /// Reads a citation; `None` when it is none.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (path, lines) = text.rsplit_once("#L")?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let last = last.strip_prefix('L').unwrap_or(last);
        let lines = (first.parse().ok()?, last.parse().ok()?);
        (1 <= lines.0 && lines.0 <= lines.1).then_some(Self { path, lines })
    }
}

/// Cites lines of a file.
#[must_use]
pub fn citation_of(path: &str, (first, last): (usize, usize)) -> String {
    if first == last { format!("{path}#L{first}") } else { format!("{path}#L{first}-L{last}") }
}

/// Returns what stands in the cited lines of a file; the error is the lines that belong together,
/// when those that are cited are only a part of them.
pub(crate) fn cited(
    text: &str,
    kind: PageKind,
    entries: &[&Entry],
    citation: &Citation<'_>,
) -> Result<Vec<Entry>, (usize, usize)> {
    let lines = Lines::of(text);
    let (first, last) = (citation.lines.0, citation.lines.1.min(lines.count()));
    let together = |(start, end): (usize, usize)| (start.min(first), end.max(last));
    if let Some(matter) = front_matter(text) {
        let end = lines.number_at(matter.end - 1);
        if first <= end && (first > 1 || last < end) {
            return Err(together((1, end)));
        }
    }
    let mut found = Vec::new();
    // Lines that go as they are, because they belong to no entry that goes as a whole.
    let mut is_loose = vec![true; (last + 1).saturating_sub(first)];
    for entry in entries.iter().filter(|entry| entry.touches(first, last)) {
        let (start, end) = entry.unit.lines;
        if entry.is_within(first, last) {
            found.push((*entry).clone());
            is_loose[start - first..=end - first].fill(false);
        } else if let Err(whole) = lines.nested(&entry.unit, start.max(first), end.min(last)) {
            return Err(together(whole));
        }
    }
    let mut at = first;
    while at <= last {
        if !is_loose[at - first] || lines.is_blank(at) {
            at += 1;
            continue;
        }
        let start = at;
        while at < last && is_loose[at + 1 - first] && !lines.is_blank(at + 1) {
            at += 1;
        }
        let bytes = lines.starts[start - 1]..lines.starts[at];
        let unit = ParsedEntry::of_lines(text, bytes, (start, at));
        found.push(Entry::new(citation.path, kind, unit));
        at += 1;
    }
    found.sort_by_key(|entry| entry.unit.bytes.start);
    Ok(found)
}

/// The lines of a text, by their numbers from 1.
struct Lines<'a> {
    text: &'a str,
    /// Where each line begins, and where the last one ends.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let mut at = byte_order_mark(text);
        let mut starts = vec![at];
        for line in text[at..].split_inclusive('\n') {
            at += line.len();
            starts.push(at);
        }
        Self { text, starts }
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn line(&self, number: usize) -> &'a str {
        &self.text[self.starts[number - 1]..self.starts[number]]
    }

    fn is_blank(&self, number: usize) -> bool {
        self.line(number).trim().is_empty()
    }

    fn number_at(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte)
    }

    /// Checks that lines of an entry are items that are nested in it, each with all that is
    /// nested in them; the error is the lines that belong together.
    fn nested(&self, unit: &ParsedEntry, first: usize, last: usize) -> Result<(), (usize, usize)> {
        let has_stamp =
            (first..=last).any(|number| ProvenanceStamp::at_end_of(self.line(number)).is_some());
        let marker = ItemMarker::of(self.line(first));
        let Some(marker) = marker.filter(|_| first > unit.lines.0 && !has_stamp) else {
            return Err(unit.lines);
        };
        let is_further_in = |number: usize| {
            !self.is_blank(number) && indentation(self.line(number)).0 > marker.indent
        };
        let is_nested = |number: usize| {
            let line = self.line(number);
            let is_beside = indentation(line).0 == marker.indent && ItemMarker::of(line).is_some();
            self.is_blank(number) || is_beside || is_further_in(number)
        };
        if !(first..=last).all(is_nested) {
            return Err(unit.lines);
        }
        let rest = last + 1..=unit.lines.1;
        let end = rest.take_while(|number| self.is_blank(*number) || is_further_in(*number));
        match end.filter(|number| !self.is_blank(*number)).last() {
            Some(end) => Err((first, end)),
            None => Ok(()),
        }
    }
}
