//! Lines of a file that are named to be forgotten, as a search cites them.
//!
//! The cited lines are removed exactly: whole entries, and blocks that are no entry by themselves,
//! such as a heading or an item within an item. Lines that would take a block, an entry or a table
//! apart are refused, and the smallest range that can be removed instead is named.

use std::ops::Range;

use anemone_format::ProvenanceStamp;
use anemone_markdown::{Block, BlockKind, indentation, tables};

use crate::entries::PageEntry;
use crate::page::{ParsedEntry, after_line, blocks};
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

/// Returns the content of the cited lines of a file; the error is the smallest range of lines that
/// contains them and can be removed.
pub(crate) fn cited(
    text: &str,
    kind: PageKind,
    entries: &[&PageEntry],
    citation: &Citation<'_>,
) -> Result<Vec<PageEntry>, (usize, usize)> {
    let outline = blocks(text);
    let end = outline.last().map_or(0, |block| lines_of(&block.lines).1);
    let (first, last) = (citation.lines.0, citation.lines.1.min(end));
    let parts: Vec<BlockPart> = outline.iter().map(|block| BlockPart::read(text, block)).collect();
    let whole = whole_lines(&outline, &parts, entries, (first, last));
    if whole != (first, last) {
        return Err(whole);
    }
    let entries = entries.iter().filter(|entry| entry.is_within(first, last));
    let mut found: Vec<PageEntry> = entries.map(|entry| (*entry).clone()).collect();
    // Blocks that go as they are, because they belong to no entry that goes as a whole.
    let is_loose = |part: &&BlockPart| {
        part.touches((first, last))
            && !found.iter().any(|entry| entry.touches(part.lines.0, part.lines.1))
    };
    let loose: Vec<&BlockPart> = parts.iter().filter(is_loose).collect();
    for run in loose.chunk_by(|part, next| part.lines.1 + 1 == next.lines.0) {
        let (start, end) = (run[0], run[run.len() - 1]);
        let (bytes, lines) = (start.bytes.start..end.bytes.end, (start.lines.0, end.lines.1));
        found.push(PageEntry::new(citation.path, kind, ParsedEntry::of_lines(text, bytes, lines)));
    }
    found.sort_by_key(|entry| entry.unit.bytes.start);
    Ok(found)
}

/// Widens lines until they take no block, no entry and no table apart. Rows may go without their
/// table, but its header and its delimiter may not go without the rows.
fn whole_lines(
    outline: &[Block],
    parts: &[BlockPart],
    entries: &[&PageEntry],
    cited: (usize, usize),
) -> (usize, usize) {
    let mut whole = cited;
    loop {
        let (first, last) = whole;
        let tables = tables(outline)
            .filter(|table| overlap(lines_of(&table.head), whole))
            .map(|table| lines_of(&table.lines));
        let parts_touched = parts.iter().filter(|part| part.touches(whole)).map(|part| part.lines);
        let entries_cut = entries
            .iter()
            .filter(|entry| entry.touches(first, last) && !entry.is_within(first, last))
            .map(|entry| nested_lines(parts, &entry.unit, whole));
        let together = tables.chain(parts_touched).chain(entries_cut);
        let next =
            together.fold(whole, |(first, last), (start, end)| (start.min(first), end.max(last)));
        if next == whole {
            return whole;
        }
        whole = next;
    }
}

/// Returns the lines to remove when some lines of an entry are cited: the items of the entry that
/// the lines touch, each with everything nested in it, or else the whole entry.
fn nested_lines(parts: &[BlockPart], unit: &ParsedEntry, cited: (usize, usize)) -> (usize, usize) {
    let has_stamp = unit.stamp.is_some() && cited.1 >= unit.lines.1;
    let mut inner = parts
        .iter()
        .filter(|part| overlap(part.lines, unit.lines))
        .skip_while(|part| part.lines.1 < cited.0)
        .peekable();
    let head = inner.next_if(|part| {
        part.is_item && !has_stamp && part.lines.0 > unit.lines.0 && part.touches(cited)
    });
    let Some(head) = head else { return unit.lines };
    let mut end = head.lines.1;
    for part in inner {
        let is_below = part.indent > head.indent;
        if part.lines.0 > cited.1 && !is_below {
            break;
        }
        let is_beside = part.is_item && part.indent == head.indent;
        if !(is_below || is_beside) {
            return unit.lines;
        }
        end = part.lines.1;
    }
    (head.lines.0, end)
}

/// A block of a file, without a stamp on a line of its own: such a stamp belongs to the entry, and
/// the block may be only an item within the entry.
struct BlockPart {
    bytes: Range<usize>,
    lines: (usize, usize),
    indent: usize,
    is_item: bool,
}

impl BlockPart {
    fn read(text: &str, block: &Block) -> Self {
        let mut bytes = block.bytes.start..after_line(text, block.bytes.end);
        let mut lines = lines_of(&block.lines);
        let own = &text[bytes.clone()];
        let above = own.trim_end().rfind('\n').map_or(0, |at| at + 1);
        let last_line = &own[above..];
        let has_stamp_line = ProvenanceStamp::at_end_of(last_line)
            .is_some_and(|(stamp, _)| last_line[..stamp.start].trim().is_empty());
        if above > 0 && has_stamp_line {
            bytes.end = bytes.start + above;
            lines.1 -= 1;
        }
        let is_item = block.kind == BlockKind::Item && block.quote == 0;
        Self { bytes, lines, indent: indentation(own).0, is_item }
    }

    fn touches(&self, lines: (usize, usize)) -> bool {
        overlap(self.lines, lines)
    }
}

fn overlap(one: (usize, usize), other: (usize, usize)) -> bool {
    one.0 <= other.1 && one.1 >= other.0
}

/// Returns the first and the last line of a range that excludes its end.
fn lines_of(range: &Range<u32>) -> (usize, usize) {
    (range.start as usize, range.end as usize - 1)
}
