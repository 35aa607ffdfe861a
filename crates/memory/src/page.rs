//! Parses a Markdown file of memories into entries, and writes entries.
//!
//! ```text
//! # 2026-11-16                                     a heading: not remembered by itself
//!
//! - [decision|i=0.9] **db**: SQLite it is. #work <!-- anemone: ... -->
//!   and why: one file                              an entry goes on as long as lines are indented
//! 1. first                                         a numbered item is an entry as well
//!
//! | who | what |                                   the head of a table: not remembered by itself
//! |-----|------|
//! | Lin | tea  |                                   each row is an entry
//!
//! Some prose                                       a paragraph
//! ```
//!
//! An entry is a block of the [outline](anemone_markdown::outline) that search cites too, with
//! everything nested in it. A stamp ends its entry: the text after it was not stamped.

use std::ops::Range;

use anemone_format::{ProvenanceStamp, StampTable, escaped, unescaped};
use anemone_index::begins_turn;
use anemone_markdown::{
    Block, BlockKind, Conventions, Marker, atx_heading, closing_line, indentation,
    is_thematic_break, outline, tables,
};

use crate::entry::{ImportanceTag, Label, NewEntry};

/// Bytes of a heading that are kept with each entry below it.
const MAX_HEADING_BYTES: usize = 200;

/// An entry of a file, with its position.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedEntry {
    /// The form of the entry.
    pub kind: EntryForm,
    /// Its bytes in the file, without blank lines around it, with its last line ending.
    pub bytes: Range<usize>,
    /// Its first and last line, from 1.
    pub lines: (usize, usize),
    /// The heading above it.
    pub heading: Option<String>,
    /// Its key.
    pub key: Option<String>,
    /// Its tag, such as `[decision|i=0.9]`.
    pub label: Option<Label>,
    /// Its text, without marker, tag, key and stamp.
    pub content: String,
    /// Who wrote it, when; where that is known.
    pub stamp: Option<ProvenanceStamp>,
}

/// The form of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryForm {
    /// An item of a bulleted or numbered list, with all that is indented below it.
    Item,
    /// A row of a table that is neither its header nor the line below that.
    Row,
    /// Lines of prose.
    Paragraph,
    /// A fence of code, with its content.
    Code,
}

/// Parses a file, with the table of stamps for its entries.
#[must_use]
pub(crate) fn known_units(text: &str, table: &StampTable) -> Vec<ParsedEntry> {
    let mut found = units(text);
    for unit in &mut found {
        unit.stamp = unit.stamp.take().map(|stamp| table.resolved(stamp));
    }
    found
}

/// Takes a file apart.
#[must_use]
pub fn units(text: &str) -> Vec<ParsedEntry> {
    let mut reader = EntryReader { text, found: Vec::new(), heading: None, open: None };
    for block in blocks(text) {
        reader.take(&block);
    }
    reader.end();
    reader.found.into_iter().map(|raw| raw.read(text)).collect()
}

/// Cuts a file into the blocks that entries consist of. A line with a stamp ends its block, even in
/// an unclosed fence.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    outline(text, CONVENTIONS)
}

const CONVENTIONS: Conventions =
    Conventions { begins_turn, ends_block: |line| ProvenanceStamp::at_end_of(line).is_some() };

/// A unit that has not been read yet.
#[derive(Debug)]
struct RawEntry {
    kind: EntryForm,
    bytes: Range<usize>,
    lines: (usize, usize),
    heading: Option<String>,
}

#[derive(Debug)]
struct EntryReader<'a> {
    text: &'a str,
    found: Vec<RawEntry>,
    heading: Option<String>,
    open: Option<OpenEntry>,
}

/// The entry that the next block may belong to.
#[derive(Debug)]
struct OpenEntry {
    raw: RawEntry,
    /// The columns from which blocks, and headings, are nested in it.
    nested: Option<(usize, usize)>,
}

impl EntryReader<'_> {
    fn take(&mut self, block: &Block) {
        let text = &self.text[block.bytes.clone()];
        let (indent, body) = indentation(text);
        if self.is_nested(block.kind, indent) {
            self.extend(block);
        } else {
            match block.kind {
                // A line that could also be a thematic break is not removed together with the text
                // above it.
                BlockKind::Underline if !is_thematic_break(body.trim_end()) => self.extend(block),
                BlockKind::Underline => {}
                _ => self.begin(block, indent, body),
            }
        }
        if ProvenanceStamp::at_end_of(text).is_some() {
            self.end();
        }
    }

    fn is_nested(&self, kind: BlockKind, indent: usize) -> bool {
        let Some((column, heading_column)) = self.open.as_ref().and_then(|open| open.nested) else {
            return false;
        };
        let is_heading = matches!(kind, BlockKind::Heading(_) | BlockKind::UnderlinedHeading(_));
        indent >= if is_heading { heading_column } else { column }
    }

    fn begin(&mut self, block: &Block, indent: usize, body: &str) {
        self.end();
        let marker = Marker::read(indent, body.lines().next().unwrap_or_default().trim_end())
            .filter(|marker| block.quote == 0 && !marker.content.is_empty());
        let kind = match block.kind {
            BlockKind::Heading(_) => {
                let title = atx_heading(body.trim_end()).map_or(body, |(_, title)| title);
                let end = title.floor_char_boundary(MAX_HEADING_BYTES);
                self.heading = Some(title[..end].to_owned());
                return;
            }
            BlockKind::FrontMatter
            | BlockKind::TableHeader
            | BlockKind::Delimiter
            | BlockKind::Underline
            | BlockKind::ThematicBreak => return,
            BlockKind::Item if marker.is_some() => EntryForm::Item,
            BlockKind::Row if block.quote == 0 => EntryForm::Row,
            BlockKind::Fence if block.quote == 0 => EntryForm::Code,
            _ => EntryForm::Paragraph,
        };
        let nested = marker
            .filter(|_| kind == EntryForm::Item)
            .map(|marker| (indent + marker.width + 1, marker.column));
        let bytes = block.bytes.start..after_line(self.text, block.bytes.end);
        let lines = (block.lines.start as usize, block.lines.end as usize - 1);
        let raw = RawEntry { kind, bytes, lines, heading: self.heading.clone() };
        self.open = Some(OpenEntry { raw, nested });
    }

    fn extend(&mut self, block: &Block) {
        let end = after_line(self.text, block.bytes.end);
        if let Some(open) = &mut self.open {
            open.raw.bytes.end = end;
            open.raw.lines.1 = block.lines.end as usize - 1;
        }
    }

    fn end(&mut self) {
        self.found.extend(self.open.take().map(|open| open.raw));
    }
}

/// Returns where the line after a byte begins.
pub(crate) fn after_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

impl RawEntry {
    fn read(self, text: &str) -> ParsedEntry {
        let Self { kind, bytes, lines, heading } = self;
        let whole = &text[bytes.clone()];
        let (body, stamp) = match ProvenanceStamp::at_end_of(whole) {
            Some((range, stamp)) => (&whole[..range.start], Some(stamp)),
            None => (whole, None),
        };
        let mut unit = ParsedEntry {
            kind,
            bytes,
            lines,
            heading,
            key: None,
            label: None,
            content: body.trim_end().to_owned(),
            stamp,
        };
        if kind == EntryForm::Item {
            unit.read_item(body);
        }
        unit
    }
}

impl ParsedEntry {
    /// Takes lines of a file that are no unit by themselves: a heading, the head of a table, an
    /// item within an item.
    pub(crate) fn of_lines(text: &str, bytes: Range<usize>, lines: (usize, usize)) -> Self {
        let body = text[bytes.clone()].trim();
        let is_item = item_prefix(body).is_some();
        let mut unit = Self {
            kind: if is_item { EntryForm::Item } else { EntryForm::Paragraph },
            bytes,
            lines,
            heading: None,
            key: None,
            label: None,
            content: atx_heading(body).map_or(body, |(_, title)| title).to_owned(),
            stamp: None,
        };
        if is_item {
            unit.read_item(body);
        }
        unit
    }

    fn read_item(&mut self, body: &str) {
        let mut lines = body.split('\n');
        let first = lines.next().unwrap_or_default();
        let width = item_prefix(first).unwrap_or(2);
        let mut rest = first.get(width..).unwrap_or_default();
        if let Some((label, after)) = Label::split(rest) {
            self.label = Some(label);
            rest = after;
        }
        let named = self.stamp.as_ref().and_then(|stamp| stamp.key.as_deref());
        if let Some(key) = named
            && let Some(after) = rest.strip_prefix(&key_prefix(key))
        {
            self.key = Some(key.to_owned());
            rest = after;
        } else if let Some((key, after)) = split_key(rest) {
            self.key = Some(key.to_owned());
            rest = after;
        } else if is_marked(rest) {
            rest = &rest[1..];
        }
        let mut content = unescaped(rest.trim_end());
        for line in lines {
            content.push('\n');
            let line = line.strip_prefix("  ").or_else(|| line.strip_prefix('\t')).unwrap_or(line);
            content.push_str(&unescaped(line.trim_end()));
        }
        content.truncate(content.trim_end().len());
        self.content = content;
    }
}

impl Label {
    /// Splits a tag off the beginning of a text.
    fn split(text: &str) -> Option<(Self, &str)> {
        let tag = ImportanceTag::read(text.strip_prefix('[')?)?;
        let after = tag.after.strip_prefix(' ')?;
        Some((Self { name: tag.name.to_owned(), importance: tag.importance }, after))
    }
}

/// Writes an entry in its form for a file, with its last line ending. Its stamp is a short one: the
/// omitted parts go into the table with the [`stamps`](crate::Change::stamps) of the change.
#[must_use]
pub fn render(given: &NewEntry) -> String {
    let mut stamp = given.stamp.clone().shortened();
    let mut line = String::from("- ");
    if let Some(label) = &given.label {
        line.push_str(&format!("[{}|i={}] ", label.name, label.importance.get()));
    }
    if let Some(key) = &given.key {
        let prefix = key_prefix(key);
        if split_key(&prefix).is_none_or(|(read, _)| read != key) {
            stamp.key = Some(key.clone());
        }
        line.push_str(&prefix);
    }
    let mut text = tidied(&given.text);
    // What only looks like a key is none.
    if given.key.is_none() && (split_key(&text).is_some() || is_marked(&text)) {
        text.insert(0, '\\');
    }
    // Spaces after the mark would move the column from which lines are nested in the item.
    let text = if line == "- " { text.trim_start() } else { &text };
    let mut lines = text.split('\n');
    line.push_str(&escaped(lines.next().unwrap_or_default()));
    let mut is_long = false;
    for next in lines {
        is_long = true;
        line.push('\n');
        if !next.is_empty() {
            line.push_str("  ");
            line.push_str(&escaped(next));
        }
    }
    for tag in &given.tags {
        line.push_str(&format!(" #{tag}"));
    }
    line.push_str(if is_long { "\n  " } else { " " });
    line.push_str(&stamp.to_string());
    line.push('\n');
    line
}

/// Returns a text without the parts that a Markdown file cannot keep: whitespace at the ends of
/// lines, other line endings, control characters.
#[must_use]
pub fn tidied(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let kept = |c: &char| *c == '\n' || *c == '\t' || !c.is_control();
    let text: String = text.chars().filter(kept).collect();
    let lines: Vec<_> = text.trim_matches('\n').split('\n').map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}

/// Returns the line that closes a code fence or HTML, such as a comment, that is open at the end of
/// a text. Without it, an addition would become part of the code or stay hidden.
pub(crate) fn closing(text: &str) -> Option<String> {
    closing_line(text, CONVENTIONS).map(|line| line + "\n")
}

/// Returns the line ending of a file: that of its first line.
pub(crate) fn line_break_of(bytes: &[u8]) -> &'static str {
    let end = memchr::memchr(b'\n', bytes).unwrap_or_default();
    if bytes[..end].ends_with(b"\r") { "\r\n" } else { "\n" }
}

/// Writes a key as an entry has it before its text.
pub(crate) fn key_prefix(key: &str) -> String {
    let plain: String = key.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("**{}**: ", escaped(&plain))
}

/// Whether a text begins with a key that was marked as none.
fn is_marked(text: &str) -> bool {
    text.starts_with('\\') && text.trim_start_matches('\\').starts_with("**")
}

fn split_key(text: &str) -> Option<(&str, &str)> {
    let (key, after) = text.strip_prefix("**")?.split_once("**:")?;
    let after = after.strip_prefix(' ').or_else(|| after.is_empty().then_some(after))?;
    (!key.trim().is_empty() && !key.contains("**")).then_some((key, after))
}

/// Returns how many bytes precede the text of a list item: the indentation, the mark and a space;
/// `None` for a line that is not an item with a text.
fn item_prefix(line: &str) -> Option<usize> {
    let line = line.trim_end();
    let (indent, body) = indentation(line);
    let marker = Marker::read(indent, body).filter(|marker| !marker.content.is_empty())?;
    // Spaces after the mark beyond the first are part of the text.
    Some(line.len() - body.len() + marker.width + 1)
}

/// Counts the tables of a text that have a header and no row.
pub(crate) fn tables_without_rows(text: &str) -> usize {
    tables(&blocks(text)).filter(|table| table.lines == table.head).count()
}

#[cfg(test)]
mod tests {
    use anemone_format::Origin;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::entry::Importance;

    fn given(text: &str, key: Option<&str>) -> NewEntry {
        let at = "2026-11-16T10:00:00Z".parse().unwrap();
        NewEntry {
            text: text.to_owned(),
            key: key.map(str::to_owned),
            label: None,
            tags: Vec::new(),
            stamp: ProvenanceStamp::new(Uuid::nil(), Origin::Agent, at),
        }
    }

    fn contents(text: &str) -> Vec<String> {
        units(text).into_iter().map(|unit| unit.content).collect()
    }

    #[test]
    fn a_file_is_taken_apart_as_a_person_sees_it() {
        let text = "---\na: b\n---\n# Day\n\n- one\n  more\n\n  still\n- two\nlazy\n\nprose\nmore\n\
                    ```\n- no item\n\n```\n* three\n---\n";
        assert_eq!(
            contents(text),
            ["one\nmore\n\nstill", "two\nlazy", "prose\nmore", "```\n- no item\n\n```", "three"]
        );
        let found = units(text);
        assert_eq!(found[0].lines, (6, 9));
        assert_eq!(found[0].heading.as_deref(), Some("Day"));
        assert_eq!(&text[found[1].bytes.clone()], "- two\nlazy\n");
    }

    #[test]
    fn a_row_of_a_table_is_a_unit_and_its_head_is_none() {
        let text = "| who | what |\n|-----|------|\n| Lin | tea |\n| Ana | coffee |\n\n\
                    above\na | b\n--|--\nc | d\ne\n\n| no | head |\n- item\n| lazy | row |\n";
        let found: Vec<_> =
            units(text).into_iter().map(|unit| (unit.lines, unit.content)).collect();
        let expected = [
            ((3, 3), "| Lin | tea |"),
            ((4, 4), "| Ana | coffee |"),
            ((6, 6), "above"),
            ((9, 9), "c | d"),
            ((10, 10), "e"),
            ((12, 12), "| no | head |"),
            ((13, 13), "item"),
            ((14, 14), "| lazy | row |"),
        ];
        assert_eq!(found, expected.map(|(lines, text)| (lines, text.to_owned())));
        assert_eq!(tables_without_rows(text), 0);
        assert_eq!(tables_without_rows("a | b\n--|--\n\n| a |\n|---|"), 2);
    }

    #[test]
    fn numbered_items_are_units_with_what_is_nested_in_them() {
        let text =
            "1. one\n   - nested\n2) **key**: two\n   more\n\nIn\n1986. A year\n\n - a\n - b\n";
        let found: Vec<_> =
            units(text).into_iter().map(|unit| (unit.lines, unit.content)).collect();
        let expected = [
            ((1, 2), "one\n - nested"),
            ((3, 4), "two\n more"),
            ((6, 7), "In\n1986. A year"),
            ((9, 9), "a"),
            ((10, 10), "b"),
        ];
        assert_eq!(found, expected.map(|(lines, text)| (lines, text.to_owned())));
    }

    #[test]
    fn a_rule_at_the_top_hides_no_entry() {
        assert_eq!(contents("---\n- a fact\n---\nmore\n"), ["a fact", "more"]);
        assert_eq!(contents("---\ntitle: x\n...\n- a fact\n"), ["a fact"]);
    }

    #[test]
    fn tags_keys_and_stamps_are_read() {
        let mut given = given("It is.\nBecause.", Some("db"));
        given.label =
            Some(Label { name: "decision".to_owned(), importance: Importance::new(0.9).unwrap() });
        given.tags = vec!["work".to_owned()];
        let text = render(&given);
        assert!(text.starts_with("- [decision|i=0.9] **db**: It is.\n  Because. #work\n  <!-- "));
        let unit = &units(&text)[0];
        assert_eq!(unit.key.as_deref(), Some("db"));
        assert_eq!(unit.label, given.label);
        assert_eq!(unit.content, "It is.\nBecause. #work");
        let stamp = given.stamp.shortened();
        let table = StampTable::new(StampTable::line(&stamp).unwrap().into_bytes());
        assert_eq!(known_units(&text, &table)[0].stamp, Some(stamp));
    }

    #[test]
    fn a_text_cannot_pose_as_a_key() {
        for text in ["**db**: evil", "\\**db**: odd", "**db**:", "**plain** words"] {
            let unit = &units(&render(&given(text, None)))[0];
            assert_eq!((unit.key.as_deref(), unit.content.as_str()), (None, text));
        }
    }

    #[test]
    fn what_was_added_behind_an_open_fence_is_an_entry() {
        let entry = render(&given("found", Some("k")));
        let found = units(&format!("```sh\nmake\n{entry}{entry}"));
        let kinds: Vec<_> = found.iter().map(|found| found.kind).collect();
        assert_eq!(kinds, [EntryForm::Code, EntryForm::Item, EntryForm::Item]);
        assert_eq!(closing("a\n```sh\nmake\n").as_deref(), Some("```\n"));
        assert_eq!(closing("```sh\nmake\n```\n"), None);
    }

    #[test]
    fn what_is_added_is_hidden_by_nothing_that_was_left_open() {
        for (text, line) in [
            ("# Log\n\n  ~~~~\ncode\n", Some("~~~~")),
            ("# Log\r\n\r\n<!-- later:\r\n- tea\r\n", Some("-->")),
            ("<script>\nx", Some("</script>")),
            ("<div>\nx\n", Some("")),
            ("<div>\nx\n\n", None),
            ("<!-- one --> two\n", None),
            // What is open in an item or a quotation ends with it.
            ("- item\n  ```\n  code\n", None),
            ("> <!-- quoted\n", None),
        ] {
            assert_eq!(closing(text), line.map(|line| format!("{line}\n")), "{text:?}");
            let glue = if text.ends_with('\n') { "" } else { "\n" };
            let added = format!("{text}{glue}{}- mine\n", closing(text).unwrap_or_default());
            assert_eq!(contents(&added).pop().as_deref(), Some("mine"), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(text in "(?s).{0,60}", key in "(?s).{1,20}", tail in "(?s).{0,20}") {
            let key = Some(&*key).filter(|key| !key.trim().is_empty());
            let rendered = render(&given(&text, key));
            let found = units(&format!("{rendered}\n{tail}"));
            let unit = &found[0];
            if let Some(key) = key {
                prop_assert_eq!(unit.key.as_deref(), Some(key));
                let wanted = tidied(&text);
                prop_assert_eq!(&unit.content, &wanted);
            }
            prop_assert!(unit.stamp.is_some());
        }

        #[test]
        fn units_lie_one_after_the_other(text in "(?s)([-*#`> a\n\t]|```\n|- ){0,80}") {
            let mut end = 0;
            for unit in units(&text) {
                prop_assert!(end <= unit.bytes.start && unit.bytes.start < unit.bytes.end);
                end = unit.bytes.end;
                prop_assert!(text.is_char_boundary(end));
            }
            prop_assert!(end <= text.len());
        }
    }
}
