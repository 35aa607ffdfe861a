//! Markdown, cut into pieces that, joined, are the file byte for byte.
//!
//! Headings, code and tables are as CommonMark and GFM define them: a `## ` in a fence is code. A
//! file is parsed once, into a [`Page`]; everything else is read from the page. The parser gets the
//! text without its byte order mark and its front matter, and in windows, so that a large file does
//! not become a large tree.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::{
    Conventions, Fence, Marker, atx_heading, byte_order_mark, front_matter, is_thematic_break,
    outline,
};

/// The parser's tree takes some sixty times the bytes of its input.
const WINDOW_BYTES: usize = 512 * 1024;

/// A larger block is not parsed further: there are lists of many megabytes without a blank line
/// between their items.
const LONGEST_BLOCK: usize = 4 << 20;

/// Quotes and lists that begin further right than this are treated as text. The parser visits all
/// open containers on every lazy line, so a line of a million `>` would cost minutes.
const DEEPEST_MARKER: usize = 64;

/// A longer line is data; only its beginning is searched for markup, because every bracket would
/// become a node of the tree.
const LONGEST_LINE: usize = 64 * 1024;

/// Bytes of what a line or a paragraph says, at most.
const LONGEST_STATEMENT: usize = 4096;

/// A Markdown file, parsed.
#[derive(Debug)]
pub struct Page<'a> {
    text: &'a str,
    headings: Vec<Heading>,
    rows: Vec<usize>,
    /// Where the header of each table begins, with the plain texts of its cells.
    heads: Vec<(usize, Vec<String>)>,
    hidden: Vec<HiddenRange>,
}

/// A heading outside quotes and lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Its plain text.
    pub text: String,
    /// Its bytes in the file, from the start of its first line to the end of its last.
    pub range: Range<usize>,
}

impl Heading {
    fn on_one_line(mut self) -> Self {
        self.text = on_one_line(&self.text);
        self
    }
}

/// A piece of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    /// Its text, verbatim.
    pub text: &'a str,
    /// Where the text begins in the file, in bytes.
    pub start: usize,
    /// The plain text of the heading that opens it.
    pub heading: Option<String>,
    /// Its first line, from 1.
    pub line_start: u64,
    /// Its last line; a final newline does not open another.
    pub line_end: u64,
    /// What makes it a section.
    pub kind: SectionKind,
}

/// What makes a piece of a page a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// The text before the first heading.
    Preamble,
    /// A second-level heading opens it.
    Heading,
    /// It holds one row of a table.
    Row,
    /// It is the whole file.
    Whole,
}

/// A range of a page that is not prose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenRange {
    /// Its bytes in the file.
    pub range: Range<usize>,
    /// What it is.
    pub kind: HiddenKind,
}

/// Why a range is not prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenKind {
    /// Front matter, a fence, indented code, a code span, or HTML that holds raw text.
    Code,
    /// An HTML comment.
    Comment,
}

/// A list line of the form `- label: value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledItem<'a> {
    /// The label, without emphasis.
    pub label: &'a str,
    /// The value, without emphasis; never empty and never a placeholder in parentheses.
    pub value: &'a str,
}

impl<'a> Page<'a> {
    /// Parses a file.
    pub fn parse(text: &'a str) -> Self {
        Self::parse_in_windows(text, WINDOW_BYTES, LONGEST_BLOCK)
    }

    fn parse_in_windows(text: &'a str, window: usize, longest: usize) -> Self {
        let mut page = Self {
            text,
            headings: Vec::new(),
            rows: Vec::new(),
            heads: Vec::new(),
            hidden: Vec::new(),
        };
        let mut from = byte_order_mark(text);
        if let Some(matter) = front_matter(text) {
            page.hidden.push(HiddenRange { range: from..matter.end, kind: HiddenKind::Code });
            from = matter.end;
        }
        let parsed = for_the_parser(text);
        let mut size = window;
        while from < text.len() {
            let to = next_line(text, from.saturating_add(size).min(text.len()));
            let last_block = page.take(&parsed[from..to], from);
            if to == text.len() {
                break;
            }
            if last_block <= from && size >= longest {
                from = page.leave(from, to);
                size = window;
                continue;
            }
            // The window may have cut its last block, so the next one begins with that block.
            page.forget_from(last_block);
            if last_block > from {
                from = last_block;
                size = window;
            } else {
                size = size.saturating_mul(2).min(longest.max(window));
            }
        }
        page.keep_headings_between_blocks(&parsed);
        page
    }

    /// Drops headings that begin within a block of the outline, so that every section is made of
    /// whole blocks. The two readers differ in rare texts, such as a fence in an item that stays open.
    fn keep_headings_between_blocks(&mut self, parsed: &str) {
        if self.headings.is_empty() {
            return;
        }
        let blocks = outline(parsed, Conventions::PLAIN);
        self.headings.retain(|heading| {
            let start = heading.range.start;
            let after = blocks.partition_point(|block| block.bytes.end <= start);
            blocks.get(after).is_none_or(|block| block.bytes.start >= start)
        });
    }

    /// Collects the content of a window; returns the line on which its last block begins.
    fn take(&mut self, window: &str, at: usize) -> usize {
        let mut depth = 0_usize;
        let mut last_block = at;
        let mut heading: Option<Heading> = None;
        let mut head: Option<(usize, Vec<String>)> = None;
        for (event, range) in Parser::new_ext(window, Options::ENABLE_TABLES).into_offset_iter() {
            let range = range.start + at..range.end + at;
            match event {
                Event::Start(tag) => {
                    if depth == 0 {
                        last_block = line_start(self.text, range.start);
                    }
                    match tag {
                        Tag::Heading { level, .. } if depth == 0 => {
                            let range = last_block..range.end;
                            heading =
                                Some(Heading { level: level as u8, text: String::new(), range });
                        }
                        Tag::TableHead => {
                            head = Some((line_start(self.text, range.start), Vec::new()));
                        }
                        Tag::TableCell => {
                            head.iter_mut().for_each(|(_, cells)| cells.push(String::new()));
                        }
                        Tag::TableRow => self.rows.push(line_start(self.text, range.start)),
                        Tag::CodeBlock(_) => self.hide(range, HiddenKind::Code),
                        Tag::HtmlBlock => self.hide_html(range),
                        _ => {}
                    }
                    depth += 1;
                }
                Event::End(tag) => {
                    depth = depth.saturating_sub(1);
                    if matches!(tag, TagEnd::Heading(_)) && depth == 0 {
                        self.headings.extend(heading.take().map(Heading::on_one_line));
                    }
                    if matches!(tag, TagEnd::TableHead) {
                        self.heads.extend(head.take());
                    }
                }
                Event::Code(code) => {
                    self.hide(range, HiddenKind::Code);
                    if let Some(heading) = &mut heading {
                        heading.text.push_str(&code);
                    }
                    if let Some(cell) = head.as_mut().and_then(|(_, cells)| cells.last_mut()) {
                        cell.push_str(&code);
                    }
                }
                Event::Text(text) => {
                    if let Some(heading) = &mut heading {
                        heading.text.push_str(&text);
                    }
                    if let Some(cell) = head.as_mut().and_then(|(_, cells)| cells.last_mut()) {
                        cell.push_str(&text);
                    }
                }
                Event::SoftBreak | Event::HardBreak => {
                    if let Some(heading) = &mut heading {
                        heading.text.push(' ');
                    }
                }
                Event::InlineHtml(html) if html.starts_with("<!--") => {
                    self.hide(range, HiddenKind::Comment);
                }
                Event::Rule if depth == 0 => last_block = line_start(self.text, range.start),
                _ => {}
            }
        }
        last_block
    }

    /// Skips a block that begins at `from` and continues at `to`, as far as the parser has seen it.
    /// Returns where the next one begins; if that is unknown, the end of the text.
    fn leave(&mut self, from: usize, to: usize) -> usize {
        // Code and HTML may contain anything, so their content does not show where they end.
        if let Some(fence) = fence_at_margin(&self.text[from..next_line(self.text, from + 1)]) {
            let end = end_of_fence(fence, self.text, to);
            self.forget_from(from);
            self.hide(from..end, HiddenKind::Code);
            return end;
        }
        if self.text[from..to].trim_start().starts_with('<') {
            let end = self.text.len();
            self.forget_from(from);
            self.hide_html(from..end);
            return end;
        }
        let (mut at, mut after_blank) = (to, false);
        while at < self.text.len() {
            let end = next_line(self.text, at + 1);
            let line = &self.text[at..end];
            let blank = is_blank(line);
            if !blank && (after_blank && opens_a_block(line) || interrupts(line)) {
                break;
            }
            (at, after_blank) = (end, blank);
        }
        at
    }

    fn forget_from(&mut self, at: usize) {
        self.headings.truncate(self.headings.partition_point(|one| one.range.start < at));
        self.rows.truncate(self.rows.partition_point(|start| *start < at));
        self.heads.truncate(self.heads.partition_point(|(start, _)| *start < at));
        self.hidden.truncate(self.hidden.partition_point(|one| one.range.start < at));
    }

    fn hide(&mut self, range: Range<usize>, kind: HiddenKind) {
        self.hidden.push(HiddenRange { range, kind });
    }

    /// Hides the comments of an HTML block, or all of one that holds raw text.
    fn hide_html(&mut self, block: Range<usize>) {
        let html = &self.text[block.clone()];
        let tag = html.trim_start().as_bytes();
        let raw = ["<pre", "<script", "<style", "<textarea"].iter().any(|name| {
            tag.len() > name.len()
                && tag[..name.len()].eq_ignore_ascii_case(name.as_bytes())
                && !tag[name.len()].is_ascii_alphanumeric()
                && tag[name.len()] != b'-'
        });
        if raw {
            return self.hide(block, HiddenKind::Code);
        }
        let mut from = 0;
        while let Some(open) = memchr::memmem::find(&html.as_bytes()[from..], b"<!--") {
            let open = from + open;
            let close = memchr::memmem::find(&html.as_bytes()[open + 4..], b"-->")
                .map_or(html.len(), |close| open + 4 + close + 3);
            self.hide(block.start + open..block.start + close, HiddenKind::Comment);
            from = close;
        }
    }

    /// Returns the plain text of the first first-level heading.
    pub fn title(&self) -> Option<&str> {
        let heading = self.headings.iter().find(|heading| heading.level == 1)?;
        Some(heading.text.as_str()).filter(|title| !title.is_empty())
    }

    /// Returns the code and comments that begin in a range of the file, in order.
    pub fn hidden_in(&self, range: Range<usize>) -> &[HiddenRange] {
        let from = self.hidden.partition_point(|one| one.range.end <= range.start);
        let to = self.hidden.partition_point(|one| one.range.start < range.end);
        &self.hidden[from.min(to)..to]
    }

    /// Cuts the page before each second-level heading.
    pub fn sections(&self) -> Vec<Section<'a>> {
        let cuts: Vec<_> = self.headings.iter().filter(|heading| heading.level == 2).collect();
        let Some(first) = cuts.first() else {
            return self.whole();
        };
        let mut lines = Lines::new(self.text);
        let mut sections = Vec::with_capacity(cuts.len() + 1);
        let preamble = 0..before_blank_lines(self.text, first.range.start);
        let mut start = 0;
        if !is_blank(&self.text[preamble.clone()]) {
            start = preamble.end;
            sections.push(lines.section(preamble, None, SectionKind::Preamble));
        }
        for (at, heading) in cuts.iter().enumerate() {
            let next = cuts.get(at + 1).map(|next| before_blank_lines(self.text, next.range.start));
            let end = next.unwrap_or(self.text.len());
            let title = Some(heading.text.clone());
            sections.push(lines.section(start..end, title, SectionKind::Heading));
            start = end;
        }
        sections
    }

    /// Cuts the page after each body row of its tables; `None` when there is none.
    ///
    /// What precedes a row, such as the header of its table, belongs to it; what follows the last
    /// row belongs to that one.
    pub fn rows(&self) -> Option<Vec<Section<'a>>> {
        if self.rows.is_empty() {
            return None;
        }
        // The parser treats a line of unusual whitespace as a row; it does not get a section.
        let lines = self.rows.iter().map(|row| *row..next_line(self.text, *row + 1));
        let full = lines.filter(|line| !is_blank(&self.text[line.clone()]));
        let mut cuts: Vec<usize> = full.map(|line| line.end).collect();
        cuts.pop();
        cuts.push(self.text.len());
        let mut lines = Lines::new(self.text);
        let mut start = 0;
        let sections = cuts.into_iter().map(|end| {
            let section = lines.section(start..end, None, SectionKind::Row);
            start = end;
            section
        });
        Some(sections.collect())
    }

    /// Returns the names of the columns of the first table row that begins in a range of the file.
    pub fn columns(&self, range: Range<usize>) -> &[String] {
        let row = self.rows.get(self.rows.partition_point(|row| *row < range.start));
        let Some(row) = row.filter(|row| range.contains(row)) else { return &[] };
        let above = self.heads.partition_point(|(head, _)| head < row);
        above.checked_sub(1).map_or(&[], |head| &self.heads[head].1)
    }

    /// Returns the page as one section, or none when it is blank.
    pub fn whole(&self) -> Vec<Section<'a>> {
        if is_blank(self.text) {
            return Vec::new();
        }
        vec![Lines::new(self.text).section(0..self.text.len(), None, SectionKind::Whole)]
    }

    /// Returns what precedes the first second-level heading, front matter included.
    pub fn preamble(&self) -> Range<usize> {
        let first = self.headings.iter().find(|heading| heading.level == 2);
        0..first.map_or(self.text.len(), |heading| heading.range.start)
    }

    /// Returns the second-level headings with what is below each.
    pub fn chapters(&self) -> impl Iterator<Item = (&Heading, Range<usize>)> {
        let second = self.headings.iter().filter(|heading| heading.level == 2);
        let ends = second.clone().skip(1).map(|next| next.range.start).chain([self.text.len()]);
        second.zip(ends).map(|(heading, end)| (heading, heading.range.end.min(end)..end))
    }

    /// Returns the headings of a level in a range, each with what is below it: up to the next
    /// heading of its level or above, or the end of the range.
    pub fn headings_in(
        &self,
        range: Range<usize>,
        level: u8,
    ) -> impl Iterator<Item = (&Heading, Range<usize>)> {
        let at = |heading: &Heading| heading.range.start;
        let from = self.headings.partition_point(|heading| at(heading) < range.start);
        let to = self.headings.partition_point(|heading| at(heading) < range.end);
        let within = &self.headings[from.min(to)..to];
        let found = within.iter().enumerate().filter(move |(_, one)| one.level == level);
        found.map(move |(index, heading)| {
            let next = within[index + 1..].iter().find(|other| other.level <= level);
            let end = next.map_or(range.end, |next| next.range.start);
            (heading, heading.range.end.min(end)..end)
        })
    }

    /// Returns the text of a range of the file.
    pub fn slice(&self, range: Range<usize>) -> &'a str {
        &self.text[range]
    }

    /// Returns the lines of a range that are not code or comment, without their indent and end.
    fn prose_lines(&self, range: Range<usize>) -> impl Iterator<Item = (&'a str, usize)> {
        let hidden = self.hidden_in(range.clone());
        let mut next = 0;
        let mut start = range.start;
        std::iter::from_fn(move || {
            while start < range.end {
                let line = start..next_line(self.text, start + 1).min(range.end);
                start = line.end;
                while hidden.get(next).is_some_and(|one| one.range.end <= line.start) {
                    next += 1;
                }
                // A code span inside a line does not make the line code.
                let covered = hidden.get(next).is_some_and(|one| {
                    one.range.start <= line.start
                        || is_blank(&self.text[line.start..one.range.start.min(line.end)])
                });
                if !covered {
                    let text = &self.text[line];
                    let bare = text.trim_start();
                    return Some((bare.trim_end(), text.len() - bare.len()));
                }
            }
            None
        })
    }

    /// Returns the items of the lists in a range, one line each, without their marker.
    pub fn items(&self, range: Range<usize>) -> impl Iterator<Item = &'a str> {
        self.prose_lines(range).filter_map(|(line, _)| list_item(line))
    }

    /// Returns what a range says in prose, without markup: each item of its lists, and each
    /// paragraph with its lines joined. Headings, tables, rules and placeholders say nothing, and
    /// what has more than 4096 bytes is left out.
    pub fn statements(&self, range: Range<usize>) -> Vec<String> {
        let mut statements: Vec<String> = Vec::new();
        let mut is_open = false;
        for (line, _) in self.prose_lines(range) {
            let is_markup = atx_heading(line).is_some()
                || is_thematic_break(line)
                || line.starts_with('|')
                || line.trim_matches(['=', '-']).is_empty();
            if line.is_empty() || is_markup {
                is_open = false;
                continue;
            }
            let item = list_item(line).or_else(|| numbered_item(line)).map(|item| {
                let ticked = ["[ ] ", "[x] ", "[X] "].iter();
                ticked.fold(item, |item, mark| item.strip_prefix(mark).unwrap_or(item))
            });
            match (item, statements.last_mut()) {
                (None, Some(open)) if is_open => {
                    open.push(' ');
                    open.push_str(line);
                }
                _ => statements.push(item.unwrap_or(line).to_owned()),
            }
            is_open = true;
        }
        // Longer ones are data, and hard to parse.
        let short = statements.iter().filter(|statement| statement.len() <= LONGEST_STATEMENT);
        let plain = short.map(|statement| plain_text(statement));
        plain.filter(|text| !text.is_empty() && !is_placeholder(text)).collect()
    }

    /// Returns the filled-in `- label: value` lines in a range.
    ///
    /// The runtime's templates put a hint below an empty label; a value may be there too.
    pub fn fields(&self, range: Range<usize>) -> Vec<LabelledItem<'a>> {
        let mut fields = Vec::new();
        let mut open = None;
        for (line, indent) in self.prose_lines(range) {
            if let Some(item) = list_item(line) {
                open = None;
                let Some((label, value)) = item.split_once(':') else { continue };
                let label = without_emphasis(label);
                match without_emphasis(value) {
                    "" => open = Some(label),
                    value => fields.extend(filled(label, value)),
                }
            } else if let Some(label) = open.take()
                && indent > 0
            {
                fields.extend(filled(label, without_emphasis(line)));
            }
        }
        fields
    }
}

/// Returns the fence that a line opens at the left margin.
fn fence_at_margin(line: &str) -> Option<Fence> {
    let body = line.trim_start_matches(' ');
    if line.len() - body.len() < 4 { Fence::open(body) } else { None }
}

/// Returns where the lines from `at` on are no longer code.
fn end_of_fence(fence: Fence, text: &str, mut at: usize) -> usize {
    while at < text.len() {
        let line = &text[at..next_line(text, at + 1)];
        at += line.len();
        let body = line.trim_start_matches(' ');
        if line.len() - body.len() < 4 && fence.is_closed_by(body.trim_end()) {
            break;
        }
    }
    at
}

/// Whether a line after a blank one belongs to no list or quote above.
fn opens_a_block(line: &str) -> bool {
    !line.starts_with([' ', '\t']) && marker_bytes(line.trim_end()).is_none()
}

/// Whether a line ends every list, quote, paragraph and table above it.
fn interrupts(line: &str) -> bool {
    const HTML: &[&str] = &["<!", "<?", "<pre", "<script", "<style", "<textarea"];
    atx_heading(line.trim_end()).is_some()
        || !line.starts_with(' ') && fence_at_margin(line).is_some()
        || HTML.iter().any(|html| line.starts_with(html))
}

/// Moves from the beginning of a line to the beginning of the blank lines before it.
fn before_blank_lines(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    loop {
        let above = &bytes[..at];
        let end = match above {
            [rest @ .., b'\r', b'\n'] => rest.len(),
            [rest @ .., b'\n' | b'\r'] => rest.len(),
            _ => return at,
        };
        let start =
            memchr::memrchr2(b'\n', b'\r', &bytes[..end]).map_or(0, |break_at| break_at + 1);
        if !bytes[start..end].iter().all(|byte| matches!(byte, b' ' | b'\t')) {
            return at;
        }
        at = start;
    }
}

fn filled<'a>(label: &'a str, value: &'a str) -> Option<LabelledItem<'a>> {
    (!label.is_empty() && !value.is_empty() && !is_placeholder(value))
        .then_some(LabelledItem { label, value })
}

/// Templates put hints between parentheses.
fn is_placeholder(text: &str) -> bool {
    let bare = text.trim_matches(['_', '*', ' ']);
    bare.starts_with('(') && bare.ends_with(')')
}

fn list_item(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(['-', '*', '+'])?;
    rest.starts_with([' ', '\t']).then(|| rest.trim_start())
}

fn numbered_item(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = line.len() - rest.len();
    let rest = rest.strip_prefix(['.', ')']).filter(|_| (1..=9).contains(&digits))?;
    rest.starts_with([' ', '\t']).then(|| rest.trim_start())
}

fn without_emphasis(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`'))
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}

/// Returns the start of the line that holds a byte.
fn line_start(text: &str, at: usize) -> usize {
    memchr::memrchr2(b'\n', b'\r', &text.as_bytes()[..at]).map_or(0, |end| end + 1)
}

/// Returns where the line that holds the byte before `at` ends, its line ending included.
fn next_line(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let from = at.saturating_sub(1).min(bytes.len());
    let Some(end) = memchr::memchr2(b'\n', b'\r', &bytes[from..]).map(|end| from + end) else {
        return bytes.len();
    };
    if bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n') { end + 2 } else { end + 1 }
}

/// Returns a text of the same length that the parser reads correctly and fast: the parser does not
/// handle every bare carriage return, and deep nesting makes it slow.
fn for_the_parser(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut changed: Option<Vec<u8>> = None;
    let mut change = |at: usize, byte: u8| {
        changed.get_or_insert_with(|| bytes.to_vec())[at] = byte;
    };
    for at in memchr::memchr_iter(b'\r', bytes) {
        if bytes.get(at + 1) != Some(&b'\n') {
            change(at, b'\n');
        }
    }
    let mut start = 0;
    while start < bytes.len() {
        let end = next_line(text, start + 1);
        if end - start > DEEPEST_MARKER
            && let Some(marker) = deep_marker(&text[start..end])
        {
            change(start + marker, b'x');
        }
        if end - start > LONGEST_LINE {
            for at in start + DEEPEST_MARKER..end {
                // The end of a comment or a script stays: without it everything after it would be
                // HTML.
                let closes = bytes.get(at + 1) == Some(&b'/');
                if b"[]!*_~&$\\`".contains(&bytes[at]) || (bytes[at] == b'<' && !closes) {
                    change(at, b'x');
                }
            }
        }
        start = end;
    }
    // One ASCII character replaced another, so this is still UTF-8.
    changed.and_then(|bytes| String::from_utf8(bytes).ok()).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Returns the first marker of a quote or a list item that begins too far right in a line.
fn deep_marker(line: &str) -> Option<usize> {
    let line = line.trim_end();
    let mut at = 0;
    loop {
        at += line[at..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let marker = marker_bytes(&line[at..])?;
        if at >= DEEPEST_MARKER {
            return (!is_thematic_break(line.trim_start())).then_some(at);
        }
        at += marker;
    }
}

/// Returns how many bytes the mark of a quote or a list item has.
fn marker_bytes(rest: &str) -> Option<usize> {
    if rest.starts_with('>') { Some(1) } else { Marker::read(0, rest).map(|marker| marker.width) }
}

/// Counts lines while sections are cut off a text from its beginning.
struct Lines<'a> {
    text: &'a str,
    only_newlines: bool,
    line: u64,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let only_newlines = memchr::memchr(b'\r', text.as_bytes()).is_none();
        Self { text, only_newlines, line: 1 }
    }

    fn section(
        &mut self,
        range: Range<usize>,
        heading: Option<String>,
        kind: SectionKind,
    ) -> Section<'a> {
        let start = range.start;
        let text = &self.text[range];
        let line_start = self.line;
        let ends = if self.only_newlines {
            memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64
        } else {
            line_ends(text)
        };
        self.line += ends;
        let closed = text.ends_with(['\n', '\r']);
        let line_end = if closed { self.line - 1 } else { self.line };
        Section { text, start, heading, line_start, line_end: line_end.max(line_start), kind }
    }
}

/// Returns the text of a heading without its markup, on one line.
#[must_use]
pub fn plain_text(title: &str) -> String {
    let line = format!("# {}", title.replace(['\r', '\n'], " "));
    let mut text = String::with_capacity(title.len());
    for event in Parser::new(&line) {
        if let Event::Text(part) | Event::Code(part) = event {
            text.push_str(&part);
        }
    }
    on_one_line(&text)
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Counts the line endings of a text: `\n`, `\r\n` and a bare `\r`.
pub fn line_ends(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let newlines = memchr::memchr_iter(b'\n', bytes).count();
    let bare = memchr::memchr_iter(b'\r', bytes).filter(|at| bytes.get(at + 1) != Some(&b'\n'));
    (newlines + bare.count()) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FENCES: &str = "## Real one\n\n```md\n## fake in backticks\n```\n\n~~~\n## fake in tildes\n~~~\n\n    ## indented code\n\n## Real two\n\n<!--\n## in comment\n-->\n\n   ## three-space heading is H2\n\n##\tTab heading\n\nSetext heading\n--------------\n";

    fn headings(text: &str) -> Vec<String> {
        let sections = Page::parse(text).sections();
        assert_eq!(joined(&sections), text);
        sections.into_iter().map(|section| section.heading.unwrap_or_else(|| "-".into())).collect()
    }

    fn joined(sections: &[Section<'_>]) -> String {
        sections.iter().map(|section| section.text).collect()
    }

    fn lines(sections: &[Section<'_>]) -> Vec<(u64, u64)> {
        sections.iter().map(|section| (section.line_start, section.line_end)).collect()
    }

    #[test]
    fn only_real_headings_split() {
        assert_eq!(
            headings(FENCES),
            ["Real one", "Real two", "three-space heading is H2", "Tab heading", "Setext heading"]
        );
        let sections = Page::parse(FENCES).sections();
        assert_eq!(lines(&sections), [(1, 11), (12, 17), (18, 19), (20, 21), (22, 24)]);
        assert!(sections[2].text.starts_with("\n   ## three"), "the indent belongs to the heading");
    }

    #[test]
    fn every_kind_of_heading_is_known() {
        for (text, expected) in [
            ("## A", vec!["A"]),
            ("##\n", vec![""]),
            ("## A ##\n", vec!["A"]),
            ("## *A* `b` [c](d)\n", vec!["A b c"]),
            ("## A <!-- trigger: x -->\n", vec!["A"]),
            ("A\nB\n---\n", vec!["A B"]),
            ("#### A\n## B\n", vec!["-", "B"]),
            ("##A\n## B\n", vec!["-", "B"]),
            ("    ## A\n## B\n", vec!["-", "B"]),
            ("> ## A\n\n## B\n", vec!["-", "B"]),
            ("- ## A\n\n## B\n", vec!["-", "B"]),
            ("- a\n\n  ## A\n\n## B\n", vec!["-", "B"]),
            ("| a |\n|---|\n| b |\n---\n## B\n", vec!["-", "B"]),
            ("<!-- a\n\n## A\n", vec!["-"]),
            ("<pre>\n## A\n</pre>\n## B\n", vec!["-", "B"]),
            ("```\n## A\n", vec!["-"]),
        ] {
            assert_eq!(headings(text), expected, "{text:?}");
        }
    }

    #[test]
    fn front_matter_is_preamble() {
        let text = "---\ntitle: x\n## no\n---\n\n## First\n";
        assert_eq!(headings(text), ["-", "First"]);
        assert_eq!(headings(&format!("\u{feff}{text}")), ["-", "First"]);
        assert_eq!(headings(&text.replace('\n', "\r\n")), ["-", "First"]);
        // Thematic breaks are not front matter, in any position.
        assert_eq!(headings("---\n## A\n---\n## B\n"), ["-", "A", "B"]);
        assert_eq!(headings("---\n\ntitle: x\n\n## A\n\n---\n"), ["-", "A"]);
        assert_eq!(headings("x\n\n---\na: b\n\n## A\n\n---\n"), ["-", "A"]);
        assert_eq!(headings("---\na: b\n## A\n"), ["-", "A"]);
    }

    #[test]
    fn line_endings_of_every_kind_are_kept() {
        for (text, expected, ranges) in [
            ("## A\r\nline1\nline2\r\n\r\n## B\nlast", vec!["A", "B"], vec![(1, 3), (4, 6)]),
            ("## A\rline\r## B\rline", vec!["A", "B"], vec![(1, 2), (3, 4)]),
            ("\u{feff}## With BOM\n\ntext\n", vec!["With BOM"], vec![(1, 3)]),
            ("\r\n \t\r\n## A", vec!["A"], vec![(1, 3)]),
        ] {
            assert_eq!(headings(text), expected, "{text:?}");
            assert_eq!(lines(&Page::parse(text).sections()), ranges, "{text:?}");
        }
    }

    #[test]
    fn a_blank_file_has_no_section_and_an_unheaded_one_has_one() {
        for text in ["", "\n  \n\n", "\u{feff}", "\u{feff}\r\n"] {
            assert!(Page::parse(text).sections().is_empty(), "{text:?}");
            assert!(Page::parse(text).whole().is_empty(), "{text:?}");
        }
        let sections = Page::parse("# Just a title\n\ntext").sections();
        assert_eq!(sections.len(), 1);
        assert_eq!(sections[0].kind, SectionKind::Whole);
        assert_eq!(lines(&sections), [(1, 3)]);
    }

    #[test]
    fn each_table_row_is_a_section() {
        let text = "# Gating policies\n\n| # | Trigger |\n|---|---|\n| 1 | a |\n| 2 | b \\| c |\n\nafter\n\n| x |\n|---|\n| 3 |\n";
        let page = Page::parse(text);
        let rows = page.rows().unwrap();
        assert_eq!(joined(&rows), text);
        // The header of the second table belongs to its row, and so does the text above it.
        assert_eq!(lines(&rows), [(1, 5), (6, 6), (7, 12)]);
        let columns =
            |row: usize| page.columns(rows[row].start..rows[row].start + rows[row].text.len());
        assert_eq!(columns(0), ["#", "Trigger"]);
        assert_eq!(columns(1), ["#", "Trigger"]);
        assert_eq!(columns(2), ["x"]);
        assert_eq!(page.columns(0..20), [""; 0], "no row begins there");
        assert!(rows[1].text.starts_with("| 2 |"));
        assert!(rows.iter().all(|row| row.kind == SectionKind::Row));
        assert_eq!(Page::parse("| a |\n|---|\n").rows(), None, "a header is not a row");
        assert_eq!(Page::parse("```\n| a |\n|---|\n| b |\n```\n").rows(), None);
    }

    #[test]
    fn code_and_comments_are_found() {
        let text = "a `b` c <!-- d -->\n\n    e\n\n```\nf\n```\n<!-- g --> h\n\n<pre>\ni\n</pre>\n";
        let page = Page::parse(text);
        let found: Vec<_> = page
            .hidden_in(0..text.len())
            .iter()
            .map(|one| (&text[one.range.clone()], one.kind))
            .collect();
        let code = HiddenKind::Code;
        let comment = HiddenKind::Comment;
        assert_eq!(found[0], ("`b`", code));
        assert_eq!(found[1], ("<!-- d -->", comment));
        assert_eq!((found[2].0.trim(), found[2].1), ("e", code));
        assert_eq!((found[3].0.trim(), found[3].1), ("```\nf\n```", code));
        assert_eq!(found[4], ("<!-- g -->", comment));
        assert_eq!((found[5].0.trim(), found[5].1), ("<pre>\ni\n</pre>", code));
        assert_eq!(found.len(), 6);
    }

    #[test]
    fn fields_are_lines_that_somebody_filled_in() {
        let text = "- **Name:** Clawdia\n- **Creature:**\n  _(AI? robot?)_\n* Emoji: 🦞\n- **Vibe:**\n  warm\n- **Pronouns:** _(optional)_\n- **Empty:**\nnot indented\n```\n- Theme: no\n```\n";
        let page = Page::parse(text);
        let fields: Vec<_> =
            page.fields(0..text.len()).iter().map(|one| (one.label, one.value)).collect();
        assert_eq!(fields, [("Name", "Clawdia"), ("Emoji", "🦞"), ("Vibe", "warm")]);
    }

    #[test]
    fn deep_nesting_is_not_slow() {
        // Without the bound on markers the parser needs minutes for these.
        let n = 100_000;
        let stairs: String = (0..1000).map(|i| format!("{}- a\n", "  ".repeat(i))).collect();
        for text in [
            format!("{}a\n{}## B\n", ">".repeat(n), "a\n".repeat(n)),
            format!("{}a\n{}\n## B\n", "* - ".repeat(n), "a\n".repeat(n)),
            format!("{}a|b\n-|-\n{}\n## B\n", "> ".repeat(n), "a|b\n".repeat(n)),
            format!("{stairs}{}\n## B\n", "a\n".repeat(n)),
            format!("{}\n\n## B\n", "[`".repeat(n)),
        ] {
            let start = std::time::Instant::now();
            assert_eq!(headings(&text), ["-", "B"]);
            assert!(start.elapsed().as_secs() < 5, "{:?}", &text[..20]);
        }
    }

    #[test]
    fn a_block_of_many_megabytes_is_left_where_it_ends() {
        let places = |text: &str| -> Vec<_> {
            let page = Page::parse_in_windows(text, 16, 64);
            assert_eq!(joined(&page.sections()), text);
            page.headings.into_iter().map(|one| one.text).collect()
        };
        let list = "- a\n".repeat(100);
        let after = "\n## B\n";
        for text in [
            format!("## A\n\n{list}{after}"),
            format!("## A\n\n{list}## B\n"),
            format!("## A\n\n{list}```\n## C\n```\n{after}"),
            format!("## A\n\n{list}\ntext\n\n~~~\n## C\n~~~\n{after}"),
            format!("## A\n\n{list}<!--\n\n## C\n-->\n{after}"),
            format!("## A\n\n{}{after}", "1. a\n\n   ## C\n\n".repeat(50)),
            format!("## A\n\n{}{after}", "> a\n".repeat(100)),
            format!("## A\n\n{}{after}", "a word\n".repeat(100)),
            format!("## A\n\n{}{after}", "    ## C\n".repeat(100)),
            format!("## A\n\n````\n{}````\n{after}", "## C\n```\n".repeat(100)),
            format!("## A\n\n| a |\n|---|\n{}{after}", "| b |\n".repeat(100)),
            format!("## A\n\n{}{after}", "[a]: b\n".repeat(100)),
            format!("## A\n\n{}{after}", "\n".repeat(500)),
        ] {
            assert_eq!(places(&text), ["A", "B"], "{text:?}");
        }
        // Anything that is never closed extends to the end.
        for text in [
            format!("## A\n\n```\n{}", "## C\n".repeat(100)),
            format!("## A\n\n<!--\n{}", "## C\n".repeat(100)),
        ] {
            assert_eq!(places(&text), ["A"], "{text:?}");
            let page = Page::parse_in_windows(&text, 16, 64);
            assert_eq!(page.hidden.last().unwrap().range, 6..text.len());
        }
    }

    #[test]
    fn a_long_line_is_data() {
        let data = "[`x".repeat(LONGEST_LINE);
        assert_eq!(headings(&format!("## A\n\n{data}\n\n## B\n")), ["A", "B"]);
        assert_eq!(headings(&format!("<!-- {data} -->\n\n## B\n")), ["-", "B"]);
        assert_eq!(headings(&format!("<script>{data}</script>\n\n## B\n")), ["-", "B"]);
    }

    #[test]
    fn long_rules_and_underlines_stay_what_they_are() {
        let dashes = "-".repeat(400);
        assert_eq!(headings(&format!("A\n{dashes}\n## B\n")), ["A", "B"]);
        let spaced = "- ".repeat(400);
        assert_eq!(for_the_parser(&spaced), spaced);
        let quoted = format!("{}## A\n", "> ".repeat(100));
        assert_eq!(headings(&quoted), ["-"]);
    }

    fn fragment() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => prop::sample::select(vec![
                "## A", "##", "##\tT", "   ## I", "    ## code", "# H", "### T", "## x ##", "####### y",
                "---", "===", "--", "...", "title: x", "```", "~~~", "```md", "    indented", "<!--",
                "-->", "<!-- c -->", "<div>", "</div>", "<pre>", "</pre>", "| a | b |", "|---|---|",
                "a|b", "-|-", "> ## q", "> x", ">", "- x", "- ## l", "  - y", "1. z", "", " ", "\t",
                "text `code` end", "open ` tick", "日本語 #タグ 🦞", "\u{feff}", "[a]: b", "[tag|i=0.9] x",
                "a <b", "* * *", "\\", "  ## two", "- ", "  ```", "word",
            ]).prop_map(str::to_owned),
            1 => "[ -~é漢🙈]{0,12}",
        ]
    }

    fn markdown() -> impl Strategy<Value = String> {
        let end = prop::sample::select(vec!["\n", "\n", "\n", "\r\n", "\r", "\n\n"]);
        let lines = prop::collection::vec((fragment(), end), 0..24);
        (prop::bool::weighted(0.1), prop::bool::weighted(0.1), lines, any::<bool>()).prop_map(
            |(mark, matter, lines, closed)| {
                let mut text = String::new();
                if mark {
                    text.push('\u{feff}');
                }
                if matter {
                    text.push_str("---\ntitle: x\n## y\n---\n");
                }
                for (line, end) in &lines {
                    text.push_str(line);
                    text.push_str(end);
                }
                if !closed {
                    text.truncate(text.trim_end_matches(['\r', '\n']).len());
                }
                text
            },
        )
    }

    fn check(text: &str, sections: &[Section<'_>]) -> Result<(), TestCaseError> {
        if is_blank(text) {
            prop_assert!(sections.is_empty());
            return Ok(());
        }
        prop_assert_eq!(joined(sections), text);
        let mut line = 1;
        let mut start = 0;
        for section in sections {
            prop_assert!(!is_blank(section.text));
            prop_assert_eq!(section.line_start, line);
            prop_assert!(section.line_end >= section.line_start);
            prop_assert_eq!(section.start, start);
            line = section.line_end + 1;
            start += section.text.len();
        }
        let ends = line_ends(text) + u64::from(!text.ends_with(['\n', '\r']));
        prop_assert_eq!(line, ends + 1, "the last line is the file's last line");
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn sections_joined_give_the_file_back(text in markdown()) {
            let page = Page::parse(&text);
            check(&text, &page.sections())?;
            check(&text, &page.whole())?;
            if let Some(rows) = page.rows() {
                check(&text, &rows)?;
            }
        }

        #[test]
        fn small_windows_find_the_same(text in markdown(), window in 1_usize..60) {
            // After a link definition the parser reads some HTML as text that it would otherwise
            // read as a block.
            let text = text.replace("[a]:", "[a]");
            let whole = Page::parse(&text);
            let windows = Page::parse_in_windows(&text, window, LONGEST_BLOCK);
            // A link may be defined in another window, so texts may differ in their brackets.
            let places = |page: &Page<'_>| -> Vec<_> {
                page.headings.iter().map(|one| (one.level, one.range.clone())).collect()
            };
            prop_assert_eq!(places(&whole), places(&windows));
            prop_assert_eq!(&whole.rows, &windows.rows);
            let heads = |page: &Page<'_>| -> Vec<usize> {
                page.heads.iter().map(|(at, _)| *at).collect()
            };
            prop_assert_eq!(heads(&whole), heads(&windows));
            prop_assert_eq!(&whole.hidden, &windows.hidden);
        }

        #[test]
        fn a_cap_on_blocks_loses_no_text(text in markdown(), longest in 1_usize..60) {
            let page = Page::parse_in_windows(&text, 8, longest);
            check(&text, &page.sections())?;
            if let Some(rows) = page.rows() {
                check(&text, &rows)?;
            }
            let in_order = page.hidden.windows(2).all(|two| two[0].range.start <= two[1].range.start);
            prop_assert!(in_order);
            page.fields(0..text.len());
            page.items(0..text.len()).count();
        }

        #[test]
        fn line_endings_do_not_change_the_headings(text in markdown()) {
            let unix = text.replace("\r\n", "\n").replace('\r', "\n");
            let dos = unix.replace('\n', "\r\n");
            let mac = unix.replace('\n', "\r");
            let places = |text: &str| -> Vec<_> {
                let sections = Page::parse(text).sections();
                sections.into_iter().map(|one| (one.kind, one.line_start, one.line_end)).collect()
            };
            prop_assert_eq!(places(&unix), places(&dos));
            prop_assert_eq!(places(&unix), places(&mac));
        }

        #[test]
        fn any_text_is_read(text in "\\PC{0,80}|[>\\-*# `|<!\\[\\]\r\n\t0-9.a]{0,120}") {
            let page = Page::parse(&text);
            check(&text, &page.sections())?;
            page.fields(0..text.len());
            page.items(0..text.len()).count();
            page.chapters().count();
        }
    }
}
