//! Markdown, taken apart line by line.
//!
//! It keeps to CommonMark and its tables where that decides what is a heading and what is text,
//! and is coarser inside: an item or a quotation has no blocks but items and paragraphs.

use jiff::civil::Date;
use pulldown_cmark::{Event, Parser};

use super::day::day_in;
use super::lines::{Line, Lines, indentation, lines, marker};
use super::{Block, BlockKind, Outline, Section, cut};
use crate::voice::speaker;

/// Bytes of a heading, at most: every section below repeats it. A longer one is a block as well,
/// so that all of it is found.
const MAX_HEADING: usize = 256;
/// Bytes of an underlined line that is surely a title and no sentence above a rule.
const MAX_TITLE: usize = 80;
/// Lists within lists, at most; deeper items are items of the last.
const MAX_NESTED: usize = 64;
/// Quotations within quotations, at most.
const MAX_QUOTED: usize = 64;
/// What opens a stretch that only its own end closes, and that end.
const RAW_HTML: [(&str, &str); 5] = [
    ("<!--", "-->"),
    ("<pre", "</pre>"),
    ("<script", "</script>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
];

/// The level of a table's header: rows stand under it as under a heading, below all others.
const TABLE_LEVEL: usize = 7;

/// Takes Markdown apart.
pub(super) fn outline(text: &str) -> Outline {
    let mut scanner = Scanner {
        text,
        outline: Outline { sections: vec![Section::default()], blocks: Vec::new() },
        headings: Vec::new(),
        section: Some(0),
        open: None,
        list: Vec::new(),
        quote: 0,
        raw: None,
        in_table: false,
    };
    let mut lines = lines(text);
    if let Some((block, rest)) = front_matter(text, lines.clone()) {
        scanner.put(block);
        lines = rest;
    }
    for line in lines {
        scanner.line(&line);
    }
    scanner.flush();
    scanner.close_headings(0);
    scanner.outline
}

/// Reads the lines between `---` at the top, and returns what follows them.
fn front_matter<'a>(text: &str, mut lines: Lines<'a>) -> Option<(Block, Lines<'a>)> {
    let end = anemone_format::front_matter(text)?.end;
    let mut block = Block::of_line(BlockKind::FrontMatter, &lines.next()?);
    while let Some(line) = lines.clone().next().filter(|line| line.start < end) {
        block.extend(&line);
        lines.next();
    }
    Some((block, lines))
}

/// A heading that later blocks stand under.
struct Heading {
    level: usize,
    title: String,
    date: Option<Date>,
    block: Block,
    /// Whether there is a block below it.
    used: bool,
}

/// The block that the next line may belong to.
struct Open {
    block: Block,
    /// Where its last line begins.
    last: usize,
    /// Whether blank lines followed.
    blank: bool,
}

/// Lines that are not looked at but for their end.
enum Raw {
    Fence { mark: u8, length: usize, quote: usize, indent: usize },
    Html { end: &'static str },
}

struct Scanner<'a> {
    text: &'a str,
    outline: Outline,
    headings: Vec<Heading>,
    /// The section of the next block, when it is already known.
    section: Option<usize>,
    open: Option<Open>,
    /// Where the texts of the items begin that the next line may belong to, the outermost first.
    list: Vec<usize>,
    /// How deep we are in quotations.
    quote: usize,
    raw: Option<Raw>,
    in_table: bool,
}

impl Scanner<'_> {
    fn line(&mut self, line: &Line<'_>) {
        if self.raw_line(line) {
            return;
        }
        let in_table = std::mem::take(&mut self.in_table);
        let (quote, inner) = unquoted(line.text, MAX_QUOTED);
        let (indent, body) = indentation(inner);
        let body = body.trim_end();
        if !in_table || body.is_empty() || starts_block(indent, body) {
            self.end_table();
        }
        if body.is_empty() {
            return self.blank_line(quote);
        }
        if quote != self.quote {
            if quote < self.quote && self.has_open_text() && !starts_block(indent, body) {
                return self.extend(line);
            }
            self.flush();
            self.list.clear();
            self.quote = quote;
        }
        let depth = self.list.iter().take_while(|it| **it <= indent).count();
        let base = if depth > 0 { self.list[depth - 1] } else { 0 };
        let in_item = depth > 0
            && depth == self.list.len()
            && self.open.as_ref().is_some_and(|it| it.block.kind == BlockKind::Item);
        let place = Place { indent, depth, base, in_item };
        let taken = (indent - base < 4 && self.near_line(line, body, &place))
            || self.item(line, body, &place)
            || self.row(line, body, &place, in_table);
        if !taken {
            self.text_line(line, &place);
        }
    }

    /// Takes a line that is not indented, if it is more than text.
    fn near_line(&mut self, line: &Line<'_>, body: &str, place: &Place) -> bool {
        if let Some((level, title)) = atx_heading(body) {
            if place.in_item {
                return false;
            }
            self.flush();
            self.list.truncate(place.depth);
            let block = Block::of_line(BlockKind::Heading, line);
            if place.depth == 0 && self.quote == 0 {
                self.heading(level, title, block, false);
            } else {
                // A quotation's or an item's headings are not ours.
                self.put(Block { kind: BlockKind::Paragraph, ..block });
            }
            return true;
        }
        if let Some((mark, length)) = fence(body) {
            if place.in_item {
                self.extend(line);
            } else {
                self.flush();
                self.list.truncate(place.depth);
                self.start(BlockKind::Fence, line);
            }
            let (quote, indent) = (self.quote, place.base);
            self.raw = Some(Raw::Fence { mark, length, quote, indent });
            return true;
        }
        if let Some(level) = underline(body)
            && let Some(block) = self.take_title()
        {
            let title = &self.text[block.bytes.clone()];
            let is_prose = title.len() > MAX_TITLE || title.ends_with(['.', '!', '?']);
            self.heading(level, title, block, is_prose);
            return true;
        }
        if is_rule(body) {
            self.flush();
            self.list.truncate(place.depth);
            return true;
        }
        if let Some(end) = raw_html(body) {
            self.text_line(line, place);
            self.raw = Some(Raw::Html { end });
            return true;
        }
        false
    }

    /// Takes a line that begins an item.
    fn item(&mut self, line: &Line<'_>, body: &str, place: &Place) -> bool {
        let Some(marker) = marker(place.indent, body) else { return false };
        if self.list.is_empty() && self.has_open_text() {
            // A paragraph goes on with a line such as `1986. A great year`.
            let is_text = marker.content.is_empty() || marker.number.is_some_and(|it| it != 1);
            if is_text || place.indent >= 4 {
                return false;
            }
        }
        self.flush();
        self.list.truncate(place.depth.min(MAX_NESTED - 1));
        self.list.push(marker.column);
        self.start(BlockKind::Item, line);
        if let Some((mark, length)) = fence(marker.content) {
            let (quote, indent) = (self.quote, marker.column);
            self.raw = Some(Raw::Fence { mark, length, quote, indent });
        } else if let Some(end) = raw_html(marker.content) {
            self.raw = Some(Raw::Html { end });
        }
        true
    }

    /// Takes a line that is a row of a table.
    fn row(&mut self, line: &Line<'_>, body: &str, place: &Place, in_table: bool) -> bool {
        let is_delimiter = is_delimiter_row(body);
        let has_bars = body.starts_with('|') && body.len() > 1 && body[1..].contains('|');
        if !place.in_item && (has_bars || in_table) {
            self.flush();
            self.list.truncate(place.depth);
            if is_delimiter && !in_table && self.has_own_headings(place) {
                let is_above =
                    |it: &mut Block| it.kind == BlockKind::Row && it.lines.end == line.number;
                if let Some(header) = self.outline.blocks.pop_if(is_above) {
                    self.table_header(header);
                }
            }
            self.put(Block::of_line(BlockKind::Row, line));
            self.in_table = in_table || is_delimiter;
            return true;
        }
        // The header was taken for the last line of a paragraph.
        let text = self.text;
        let Some(open) = self.open.take_if(|it| {
            is_delimiter
                && it.block.kind == BlockKind::Paragraph
                && text[it.last..it.block.bytes.end].contains('|')
        }) else {
            return false;
        };
        let header = open.last_line(BlockKind::Row);
        if let Some(above) = open.above(text) {
            self.put(above);
        }
        if self.has_own_headings(place) {
            self.table_header(header);
        } else {
            self.put(header);
        }
        self.in_table = true;
        true
    }

    /// Whether headings at a place are those of the document: a quotation's or an item's are not.
    fn has_own_headings(&self, place: &Place) -> bool {
        place.depth == 0 && self.quote == 0
    }

    /// Takes the header of a table as what its rows stand under. By itself it says nothing; it is a
    /// block only when no rows follow.
    fn table_header(&mut self, header: Block) {
        let text = self.text;
        let names = text[header.bytes.clone()].trim().trim_matches('|').trim();
        self.heading(TABLE_LEVEL, names, header, false);
    }

    /// Ends the table, if there is one.
    fn end_table(&mut self) {
        if self.headings.last().is_some_and(|it| it.level == TABLE_LEVEL) {
            self.close_headings(TABLE_LEVEL);
        }
    }

    fn text_line(&mut self, line: &Line<'_>, place: &Place) {
        // Turns of a conversation follow each other without blank lines; each is a block.
        if place.depth == 0 && self.quote == 0 && speaker(line.text).is_some() {
            self.flush();
            self.list.clear();
            return self.start(BlockKind::Turn, line);
        }
        if self.has_open_text() || place.in_item {
            return self.extend(line);
        }
        self.flush();
        self.list.truncate(place.depth);
        self.start(BlockKind::Paragraph, line);
    }

    fn blank_line(&mut self, quote: usize) {
        match &mut self.open {
            Some(open) if open.block.kind == BlockKind::Item && quote == self.quote => {
                open.blank = true;
            }
            _ => self.flush(),
        }
    }

    /// Takes a line of a fence or of raw HTML.
    fn raw_line(&mut self, line: &Line<'_>) -> bool {
        match self.raw {
            None => false,
            Some(Raw::Html { end }) => {
                self.extend(line);
                if find_ignoring_case(line.text, end) {
                    self.raw = None;
                }
                true
            }
            Some(Raw::Fence { mark, length, quote, indent }) => {
                let (found, inner) = unquoted(line.text, quote);
                let (columns, body) = indentation(inner);
                let body = body.trim_end();
                let goes_on = found == quote && (body.is_empty() || columns >= indent);
                if goes_on && !body.is_empty() {
                    self.extend(line);
                }
                let closes = body.len() >= length
                    && body.bytes().all(|byte| byte == mark)
                    && columns.saturating_sub(indent) < 4;
                if !goes_on || closes {
                    self.raw = None;
                    if self.open.as_ref().is_some_and(|it| it.block.kind == BlockKind::Fence) {
                        self.flush();
                    }
                }
                goes_on
            }
        }
    }

    /// Takes the open paragraph, if the line below it may make it a heading.
    fn take_title(&mut self) -> Option<Block> {
        if self.quote > 0 || !self.list.is_empty() {
            return None;
        }
        let text = self.text;
        let open = self.open.take_if(|it| it.is_title(text))?;
        if !open.is_comment(text) {
            return Some(Block { kind: BlockKind::Heading, ..open.block });
        }
        // A comment is no part of the title below it.
        let title = open.last_line(BlockKind::Heading);
        if let Some(above) = open.above(text) {
            self.put(above);
        }
        Some(title)
    }

    /// Whether the next line of text belongs to the open block.
    fn has_open_text(&self) -> bool {
        self.open.as_ref().is_some_and(|it| !it.blank)
    }

    fn start(&mut self, kind: BlockKind, line: &Line<'_>) {
        let block = Block::of_line(kind, line);
        self.open = Some(Open { block, last: line.start, blank: false });
    }

    fn extend(&mut self, line: &Line<'_>) {
        if let Some(open) = &mut self.open {
            open.block.extend(line);
            open.last = line.start;
            open.blank = false;
        }
    }

    fn flush(&mut self) {
        if let Some(open) = self.open.take() {
            self.put(open.block);
        }
    }

    /// Adds a block under the headings that are open.
    fn put(&mut self, block: Block) {
        if !cut::has_words(&self.text[block.bytes.clone()]) {
            return;
        }
        // When the last one has a block below it, so have those above.
        let unused = self.headings.iter_mut().rev().take_while(|it| !it.used);
        unused.for_each(|it| it.used = true);
        let section = match self.section {
            Some(section) => section,
            None => self.add_section(None),
        };
        self.section = Some(section);
        cut::put(self.text, Block { section, ..block }, &mut self.outline.blocks);
    }

    fn add_section(&mut self, date: Option<Date>) -> usize {
        let titles = self.headings.iter().map(|it| &it.title).filter(|it| !it.is_empty());
        let date = date.or_else(|| self.headings.iter().rev().find_map(|it| it.date));
        let section = Section { headings: titles.cloned().collect(), date };
        let sections = &mut self.outline.sections;
        if sections.last() != Some(&section) {
            sections.push(section);
        }
        sections.len() - 1
    }

    fn heading(&mut self, level: usize, raw: &str, block: Block, is_prose: bool) {
        self.close_headings(level);
        let Title { text: title, is_whole } = title(raw);
        let date = day_in(&title);
        let used = !cut::has_words(raw);
        let own = block.clone();
        self.headings.push(Heading { level, title, date, block, used });
        self.section = None;
        if !is_whole || is_prose {
            self.put_heading(own, date, 1);
        }
    }

    /// Ends the sections of a level and of those below it.
    fn close_headings(&mut self, level: usize) {
        while let Some(heading) = self.headings.pop_if(|it| it.level >= level) {
            if !heading.used {
                self.put_heading(heading.block, heading.date, 0);
            }
            self.section = None;
        }
    }

    /// Adds a heading as a block. It stands under those above it, not under itself, or what it says
    /// would count twice; but the day it names is its own.
    fn put_heading(&mut self, block: Block, date: Option<Date>, own: usize) {
        let kept = self.headings.split_off(self.headings.len().saturating_sub(own));
        self.section = Some(self.add_section(date));
        self.put(block);
        self.headings.extend(kept.into_iter().map(|it| Heading { used: true, ..it }));
        self.section = None;
    }
}

/// Where a line stands among lists.
struct Place {
    indent: usize,
    /// How many of the open items it may lie in.
    depth: usize,
    /// Where the text of the innermost of those begins.
    base: usize,
    /// Whether the open block is that item.
    in_item: bool,
}

impl Open {
    /// Whether a line below it may make it a heading.
    fn is_title(&self, text: &str) -> bool {
        let (indent, body) = indentation(&text[self.block.bytes.clone()]);
        // What is indented is code, and what begins with a tag is HTML.
        let is_text = indent < 4 && (!body.starts_with('<') || self.is_comment(text));
        is_text && self.block.kind == BlockKind::Paragraph && self.block.bytes.len() <= MAX_HEADING
    }

    /// Whether all but its last line is comments.
    fn is_comment(&self, text: &str) -> bool {
        let above = text[self.block.bytes.start..self.last].trim();
        above.starts_with("<!--") && above.ends_with("-->")
    }

    /// Its last line as a block.
    fn last_line(&self, kind: BlockKind) -> Block {
        let (bytes, lines) = (&self.block.bytes, &self.block.lines);
        Block { kind, bytes: self.last..bytes.end, lines: lines.end - 1..lines.end, section: 0 }
    }

    /// The block without its last line, if it has others.
    fn above(self, text: &str) -> Option<Block> {
        let mut block = self.block;
        block.lines.end -= 1;
        let above = text[block.bytes.start..self.last].trim_end_matches(['\r', '\n']);
        block.bytes.end = block.bytes.start + above.len();
        (block.lines.start < block.lines.end).then_some(block)
    }
}

/// Takes the marks of so many quotations off a line.
fn unquoted(line: &str, most: usize) -> (usize, &str) {
    let (mut rest, mut count) = (line, 0);
    while count < most {
        let body = rest.trim_start_matches(' ');
        if rest.len() - body.len() > 3 {
            break;
        }
        let Some(inner) = body.strip_prefix('>') else { break };
        rest = inner.strip_prefix(' ').unwrap_or(inner);
        count += 1;
    }
    (count, rest)
}

/// Whether a line is more than a line of text.
fn starts_block(indent: usize, body: &str) -> bool {
    let is_item = marker(indent, body).is_some();
    let near = indent < 4;
    is_item || (near && (atx_heading(body).is_some() || fence(body).is_some() || is_rule(body)))
}

/// Reads a heading such as `## Title ##`: its level and its title.
fn atx_heading(body: &str) -> Option<(usize, &str)> {
    let rest = body.trim_start_matches('#');
    let level = body.len() - rest.len();
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let title = rest.trim();
    let open = title.trim_end_matches('#');
    let closed = open.len() < title.len() && (open.is_empty() || open.ends_with([' ', '\t']));
    Some((level, if closed { open.trim_end() } else { title }))
}

/// Reads the line that makes the lines above it a heading.
fn underline(body: &str) -> Option<usize> {
    let all = |mark| body.bytes().all(|byte| byte == mark);
    if all(b'=') {
        Some(1)
    } else if all(b'-') {
        Some(2)
    } else {
        None
    }
}

fn is_rule(body: &str) -> bool {
    let Some(mark @ (b'-' | b'*' | b'_')) = body.bytes().next() else { return false };
    let is_mark = |byte: &u8| *byte == mark;
    body.bytes().all(|byte| is_mark(&byte) || byte == b' ' || byte == b'\t')
        && body.bytes().filter(is_mark).take(3).count() == 3
}

/// Reads the beginning of a fence: its mark, and how many.
fn fence(body: &str) -> Option<(u8, usize)> {
    let mark = *body.as_bytes().first().filter(|it| matches!(it, b'`' | b'~'))?;
    let length = body.bytes().take_while(|byte| *byte == mark).count();
    let is_code = mark == b'`' && body[length..].contains('`');
    (length >= 3 && !is_code).then_some((mark, length))
}

/// Returns what ends the HTML that begins here and does not end in this line.
fn raw_html(body: &str) -> Option<&'static str> {
    if !body.starts_with('<') {
        return None;
    }
    let opens =
        |start: &str| body.get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start));
    let (start, end) = RAW_HTML.iter().find(|(start, _)| opens(start))?;
    let rest = &body[start.len()..];
    let is_name = *start != "<!--" && !rest.is_empty() && !rest.starts_with([' ', '\t', '>']);
    (!is_name && !find_ignoring_case(rest, end)).then_some(end)
}

fn find_ignoring_case(text: &str, what: &str) -> bool {
    text.as_bytes().windows(what.len()).any(|it| it.eq_ignore_ascii_case(what.as_bytes()))
}

/// Whether a line is the one below a table's header: `|---|:-:|`.
fn is_delimiter_row(body: &str) -> bool {
    let (mut bars, mut dashes) = (false, false);
    for byte in body.bytes() {
        match byte {
            b'|' => bars = true,
            b'-' => dashes = true,
            b':' | b' ' | b'\t' => {}
            _ => return false,
        }
    }
    bars && dashes
}

/// A heading's text.
struct Title {
    text: String,
    /// Whether it has all letters of what stands in the file.
    is_whole: bool,
}

/// Takes the markup off a heading.
fn title(raw: &str) -> Title {
    let cut = &raw[..raw.floor_char_boundary(MAX_HEADING)];
    let is_cut = cut.len() < raw.len();
    if !cut.contains(['*', '_', '`', '[', '<', '&', '\\', '\n', '\r']) {
        return Title { text: cut.trim().to_owned(), is_whole: !is_cut };
    }
    let line = format!("# {}", cut.replace(['\r', '\n'], " "));
    let mut text = String::with_capacity(cut.len());
    for event in Parser::new(&line) {
        match event {
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            _ => {}
        }
    }
    let letters = |text: &str| text.chars().filter(|it| it.is_alphanumeric()).count();
    let is_whole = !is_cut && letters(&text) >= letters(cut);
    Title { text: text.split_whitespace().collect::<Vec<_>>().join(" "), is_whole }
}

#[cfg(test)]
mod tests {
    use BlockKind::{Fence, FrontMatter, Heading as Title, Item, Paragraph, Row};

    use super::*;

    /// Kind, lines with the last included, text.
    fn blocks(text: &str) -> Vec<(BlockKind, u32, u32, &str)> {
        let outline = outline(text);
        let blocks = outline.blocks.iter();
        blocks
            .map(|it| (it.kind, it.lines.start, it.lines.end - 1, &text[it.bytes.clone()]))
            .collect()
    }

    /// The heading path of each block.
    fn paths(text: &str) -> Vec<String> {
        let outline = outline(text);
        let sections = outline.blocks.iter().map(|it| &outline.sections[it.section]);
        sections.map(|it| it.headings.join(" / ")).collect()
    }

    #[test]
    fn every_kind_of_block_is_seen() {
        let text = "---\ntitle: x\n---\n# Top\n\nOne\nparagraph.\n\n- a\n- b\n  more\n  - c\n\n\
            | h | i |\n|---|---|\n| 1 | 2 |\n\n```rust\nlet a;\n\nlet b;\n```\n> quoted\n> on\n>\n> apart\n\n\
            <div>\nhtml\n</div>\n";
        assert_eq!(
            blocks(text),
            [
                (FrontMatter, 1, 3, "---\ntitle: x\n---"),
                (Paragraph, 6, 7, "One\nparagraph."),
                (Item, 9, 9, "- a"),
                (Item, 10, 11, "- b\n  more"),
                (Item, 12, 12, "  - c"),
                (Row, 16, 16, "| 1 | 2 |"),
                (Fence, 18, 22, "```rust\nlet a;\n\nlet b;\n```"),
                (Paragraph, 23, 24, "> quoted\n> on"),
                (Paragraph, 26, 26, "> apart"),
                (Paragraph, 28, 30, "<div>\nhtml\n</div>"),
            ]
        );
    }

    #[test]
    fn headings_make_the_path() {
        let text = "zero\n# A\none\n## B ##\ntwo\n### *C* [d](e) `f`\nthree\n## G\nfour\n\n\
            H\n=\nfive\n\nI\nj\n---\nsix\n#hashtag\n";
        let c = "A / B / C d f";
        // The link's target is nowhere in the path, so the heading is a block too.
        let expected = ["", "A", "A / B", "A / B", c, "A / G", "H", "H / I j"];
        assert_eq!(paths(text), expected);
        assert_eq!(blocks(text)[3], (Title, 6, 6, "### *C* [d](e) `f`"));
    }

    #[test]
    fn a_heading_with_nothing_below_is_a_block() {
        let text = "# A\n## B\n## 2026-04-01 C\ntext\n## D\n# E\n\n***\n\n#\n";
        assert_eq!(
            blocks(text),
            [
                (Title, 2, 2, "## B"),
                (Paragraph, 4, 4, "text"),
                (Title, 5, 5, "## D"),
                (Title, 6, 6, "# E"),
            ]
        );
        assert_eq!(paths(text), ["A", "A / 2026-04-01 C", "A", ""]);
    }

    #[test]
    fn the_innermost_dated_heading_gives_the_day() {
        let text = "# 2026-04-01\n## Call\na\n## 2 April 2026\nb\n## 3. April 2026\n# x\nc\n";
        let outline = outline(text);
        let days = outline.blocks.iter().map(|it| outline.sections[it.section].date);
        let day = |day| Some(Date::constant(2026, 4, day));
        assert_eq!(days.collect::<Vec<_>>(), [day(1), day(2), day(3), None]);
    }

    #[test]
    fn what_looks_like_markup_in_a_fence_is_text() {
        let text = "~~~\n# no\n- no\n```\n~~~\n# yes\na\n````\n```\n# no\n`````\nb\n```\n# no";
        assert_eq!(paths(text), ["", "yes", "yes", "yes", "yes"]);
        assert_eq!(blocks("`````")[..], []);
        // In a comment, in an item and in a quotation too.
        assert_eq!(paths("<!--\n# a\n\n# b -->\n# c\nd"), ["", "c"]);
        assert_eq!(
            blocks("- a\n  ```\n  # b\n\n  - c\n  ```\n  d\n# e"),
            [(Item, 1, 7, "- a\n  ```\n  # b\n\n  - c\n  ```\n  d"), (Title, 8, 8, "# e")]
        );
        assert_eq!(paths("> ```\n> # a\n# b\nc"), ["", "b"]);
    }

    #[test]
    fn an_item_has_its_continuation_and_not_more() {
        let text = "- a\nlazy\n\n  second\n\n    code\n- b\n\nafter\n1. one\n10) ten\n\n    more\n";
        assert_eq!(
            blocks(text),
            [
                (Item, 1, 6, "- a\nlazy\n\n  second\n\n    code"),
                (Item, 7, 7, "- b"),
                (Paragraph, 9, 9, "after"),
                (Item, 10, 10, "1. one"),
                (Item, 11, 13, "10) ten\n\n    more"),
            ]
        );
        // A paragraph of the outer item after the inner one stands alone.
        let text = "- a\n  - b\n\n  c\n- d\n";
        let kinds: Vec<_> = blocks(text).iter().map(|it| (it.0, it.1)).collect();
        assert_eq!(kinds, [(Item, 1), (Item, 2), (Paragraph, 4), (Item, 5)]);
        // A sentence that is wrapped before a number is no list.
        assert_eq!(blocks("In\n1986. A great year"), [(Paragraph, 1, 2, "In\n1986. A great year")]);
        // The tabs that some editors write.
        assert_eq!(blocks("- a\n\t- b\n\t\t- c\n\t- d").len(), 4);
    }

    #[test]
    fn comments_stay_in_their_block() {
        let text =
            "- a <!-- importance: 7 -->\n<!-- trigger: x -->\n- b\n\n<!-- project: y -->\nc\n";
        assert_eq!(
            blocks(text),
            [
                (Item, 1, 2, "- a <!-- importance: 7 -->\n<!-- trigger: x -->"),
                (Item, 3, 3, "- b"),
                (Paragraph, 5, 6, "<!-- project: y -->\nc"),
            ]
        );
    }

    #[test]
    fn a_table_needs_no_bars_at_its_sides() {
        assert_eq!(
            blocks("text\na | b\n--|--\nc | d\ne\n\nf | g\n"),
            [
                (Paragraph, 1, 1, "text"),
                (Row, 4, 4, "c | d"),
                (Row, 5, 5, "e"),
                (Paragraph, 7, 7, "f | g"),
            ]
        );
    }

    #[test]
    fn rows_stand_under_the_header_of_their_table() {
        let text =
            "# T\n\n| who | what |\n|-----|------|\n| Lin | tea |\n| Ana | milk |\n\nafter\n";
        assert_eq!(
            blocks(text),
            [
                (Row, 5, 5, "| Lin | tea |"),
                (Row, 6, 6, "| Ana | milk |"),
                (Paragraph, 8, 8, "after"),
            ]
        );
        assert_eq!(paths(text), ["T / who | what", "T / who | what", "T"]);
        assert_eq!(paths("| a |\n|---|\n| b |\n- c\n"), ["a", ""]);
        assert_eq!(paths("| a |\n|---|\n| b |\n# c\nd\n"), ["a", "c"]);
        // A header without rows is all there is.
        assert_eq!(blocks("| a |\n|---|\n\nb\n"), [(Row, 1, 1, "| a |"), (Paragraph, 4, 4, "b")]);
        assert_eq!(paths("| a |\n|---|\n\nb\n"), ["", ""]);
        assert_eq!(blocks("> | a |\n> |---|\n> | b |\n").len(), 2);
    }

    #[test]
    fn line_ends_and_marks_of_every_kind_are_read() {
        let text = "\u{feff}# A\r\n\r\n- b\r\n- c\r\n  d\r\n\r\nE\r\n---\r\nf";
        assert_eq!(
            blocks(text),
            [(Item, 3, 3, "- b"), (Item, 4, 5, "- c\r\n  d"), (Paragraph, 9, 9, "f")]
        );
        assert_eq!(paths(text), ["A", "A", "A / E"]);
        assert_eq!(blocks(""), []);
        assert_eq!(blocks("\n \n\t\n***\n"), []);
        assert_eq!(blocks("🦀"), [(Paragraph, 1, 1, "🦀")]);
    }

    #[test]
    fn code_and_html_above_a_rule_are_no_titles() {
        assert_eq!(paths("    code\n---\na"), ["", ""]);
        assert_eq!(paths("<b>a</b>\n---\nb"), ["", ""]);
        assert_eq!(paths("<!-- a -->\n---\nb"), ["", ""]);
        assert_eq!(paths("<!-- a -->\nTitle\n---\nb"), ["", "Title"]);
    }

    #[test]
    fn a_rule_at_the_top_is_not_front_matter() {
        assert_eq!(blocks("---\n\na\n\n---\nb"), [(Paragraph, 3, 3, "a"), (Paragraph, 6, 6, "b")]);
        assert_eq!(blocks("---\na: b\n"), [(Paragraph, 2, 2, "a: b")]);
        assert_eq!(blocks("---\n- a\n---\n"), [(Item, 2, 2, "- a")]);
    }

    #[test]
    fn a_long_heading_is_cut_in_the_path_and_whole_in_a_block() {
        let long = "word ".repeat(100);
        let text = format!("# {long}\ntext");
        let outline = outline(&text);
        assert_eq!(outline.blocks.iter().map(|it| it.kind).collect::<Vec<_>>(), [Title, Paragraph]);
        let section = &outline.sections[outline.blocks[1].section];
        assert_eq!(section.headings[0].len(), MAX_HEADING);
    }

    #[test]
    fn a_sentence_above_a_rule_is_still_found_as_a_block() {
        let text = "He moved to Paris in May.\n---\nShe stayed.\n";
        assert_eq!(blocks(text).len(), 2);
    }
}
