//! The blocks of a Markdown text.
//!
//! The scanner reads line by line. It follows CommonMark and its tables where that decides what is
//! a heading and what is text, and is coarser inside: the only blocks in an item or a quotation are
//! items, paragraphs, rows and fences. An HTML comment is text of the block that contains it, and
//! hides markup up to its end.

use std::ops::Range;

use crate::line::{underline, unquoted};
use crate::{
    Fence, Line, Lines, Marker, atx_heading, front_matter, indentation, is_delimiter_row,
    is_thematic_break, lines,
};

/// Bytes of an underlined heading, at most.
const MAX_HEADING: usize = 256;
/// Lists within lists, at most; deeper items are items of the last.
const MAX_NESTED: usize = 64;
/// Quotations within quotations, at most.
const MAX_QUOTED: usize = 64;
/// Tags after which only their own end is searched for, and that end.
const RAW_HTML: [(&str, &str); 5] = [
    ("<!--", "-->"),
    ("<pre", "</pre>"),
    ("<script", "</script>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
];

/// One block of a text. Every line that is not blank is in exactly one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// From the beginning of its first line to the end of its last, without the line break.
    pub bytes: Range<usize>,
    /// Its lines, from 1, the end excluded.
    pub lines: Range<u32>,
    /// How many quotations contain it.
    pub quote: usize,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// YAML at the top of the text, with the lines around it.
    FrontMatter,
    /// A heading such as `## Title`, with its level. Those of items and quotations are paragraphs.
    Heading(u8),
    /// The lines that an [`Underline`](Self::Underline) makes a heading, with its level.
    UnderlinedHeading(u8),
    /// The line of `=` or `-` below a heading.
    Underline,
    /// Lines of text.
    Paragraph,
    /// A line that begins a turn of a conversation, with the lines of text below it.
    Turn,
    /// An item of a list, without the items in it.
    Item,
    /// The header of a table that is in no item and no quotation.
    TableHeader,
    /// The line below a table's header.
    Delimiter,
    /// A row of a table, or a line that looks like one.
    Row,
    /// A fence of code.
    Fence,
    /// A thematic break such as `---`.
    ThematicBreak,
}

/// Knowledge of the caller about lines that Markdown does not define.
#[derive(Clone, Copy, Debug)]
pub struct Conventions {
    /// Returns whether a line of text begins a turn of a conversation.
    pub begins_turn: fn(&str) -> bool,
    /// Returns whether a line is the last of its block, whatever follows it. Such a line also
    /// closes a fence or a comment that was left open, when it is an item at the left margin. Other
    /// lines of a fence at the left margin are code.
    pub ends_block: fn(&str) -> bool,
}

impl Conventions {
    /// Plain Markdown, without any convention.
    pub const PLAIN: Self = Self { begins_turn: |_| false, ends_block: |_| false };
}

/// A table of a text, without a paragraph directly above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The lines of its header and of the delimiter below it, from 1, the end excluded.
    pub head: Range<u32>,
    /// All its lines, from 1, the end excluded.
    pub lines: Range<u32>,
}

/// Returns the tables among the blocks of a text. Rows without a header and a delimiter above them
/// belong to no table.
pub fn tables(blocks: &[Block]) -> impl Iterator<Item = Table> {
    let is_row = |block: &Block| {
        matches!(block.kind, BlockKind::TableHeader | BlockKind::Row | BlockKind::Delimiter)
    };
    let adjacent = move |one: &Block, other: &Block| {
        is_row(one) && is_row(other) && one.lines.end == other.lines.start
    };
    blocks.chunk_by(adjacent).filter_map(|rows| {
        // Only the first delimiter makes a table; a later one is a row that looks like it.
        let delimiter = rows.iter().position(|block| block.kind == BlockKind::Delimiter)?;
        let start = rows[delimiter.checked_sub(1)?].lines.start;
        let lines = start..rows[rows.len() - 1].lines.end;
        Some(Table { head: start..rows[delimiter].lines.end, lines })
    })
}

/// Cuts a text into blocks, in the order of the text.
#[must_use]
pub fn outline(text: &str, conventions: Conventions) -> Vec<Block> {
    scanned(text, conventions).blocks
}

/// Returns the line that ends a fence of code or HTML that is open at the end of a text: the next
/// line would belong to it. HTML that any blank line ends gives a blank line. What is open in an
/// item or a quotation ends with that.
#[must_use]
pub fn closing_line(text: &str, conventions: Conventions) -> Option<String> {
    let scanner = scanned(text, conventions);
    match scanner.raw {
        Some(Raw::Fence { fence, quote: 0, indent: 0, .. }) => Some(fence.closing_line()),
        Some(Raw::Html { end, quote: 0, indent: 0 }) => Some(end.to_owned()),
        Some(_) => None,
        None => scanner.html.filter(|indent| *indent == 0).map(|_| String::new()),
    }
}

fn scanned(text: &str, conventions: Conventions) -> Scanner<'_> {
    let mut scanner = Scanner {
        text,
        conventions,
        blocks: Vec::new(),
        open: None,
        list: Vec::new(),
        quote: 0,
        raw: None,
        html: None,
        in_table: false,
    };
    let mut lines = lines(text);
    if let Some((block, rest)) = take_front_matter(text, lines.clone()) {
        scanner.blocks.push(block);
        lines = rest;
    }
    for line in lines {
        scanner.line(&line);
    }
    scanner.flush();
    scanner
}

fn take_front_matter<'a>(text: &str, mut lines: Lines<'a>) -> Option<(Block, Lines<'a>)> {
    // A text whose lines all end with `\r` is a single line here.
    let end = front_matter(text).filter(|_| text.contains('\n'))?.end;
    let mut block = Block::of_line(BlockKind::FrontMatter, 0, &lines.next()?);
    while let Some(line) = lines.clone().next().filter(|line| line.start < end) {
        block.extend(&line);
        lines.next();
    }
    Some((block, lines))
}

impl Block {
    fn of_line(kind: BlockKind, quote: usize, line: &Line<'_>) -> Self {
        let lines = line.number..line.number.saturating_add(1);
        Self { kind, bytes: line.start..line.end(), lines, quote }
    }

    /// Extends the block to the end of a line.
    fn extend(&mut self, line: &Line<'_>) {
        self.bytes.end = line.end();
        self.lines.end = line.number.saturating_add(1);
    }
}

/// The block that the next line may belong to.
struct Open {
    block: Block,
    /// Where its last line begins.
    last: usize,
    /// Whether blank lines followed.
    blank: bool,
    /// Whether it is indented so far that it is code, which a line at the margin does not continue.
    code: bool,
}

/// Lines in which only their end is searched for.
#[derive(Clone, Copy)]
enum Raw {
    Fence { fence: Fence, quote: usize, indent: usize, is_at_margin: bool },
    Html { end: &'static str, quote: usize, indent: usize },
}

struct Scanner<'a> {
    text: &'a str,
    conventions: Conventions,
    blocks: Vec<Block>,
    open: Option<Open>,
    /// Where the texts of the items that the next line may belong to begin, the outermost first.
    list: Vec<usize>,
    /// The depth of nested quotations.
    quote: usize,
    raw: Option<Raw>,
    /// Where the text of the item begins that holds HTML which ends at the next blank line. Inside
    /// that HTML, nothing opens a fence or a comment.
    html: Option<usize>,
    in_table: bool,
}

impl Scanner<'_> {
    fn line(&mut self, line: &Line<'_>) {
        let ends_block = (self.conventions.ends_block)(line.text);
        if ends_block && self.raw.is_some() && is_bullet_at_margin(line.text) {
            self.close();
        }
        self.take(line);
        if ends_block && !matches!(self.raw, Some(Raw::Fence { is_at_margin: true, .. })) {
            self.close();
        }
    }

    /// Ends everything that the next line could belong to, except a table.
    fn close(&mut self) {
        self.flush();
        self.list.clear();
        self.raw = None;
        self.html = None;
    }

    fn take(&mut self, line: &Line<'_>) {
        if self.raw_line(line) {
            return;
        }
        let in_table = std::mem::take(&mut self.in_table);
        let (quote, inner) = unquoted(line.text, MAX_QUOTED);
        let (indent, body) = indentation(inner);
        let body = body.trim_end();
        if body.is_empty() {
            return self.blank_line(quote);
        }
        if quote != self.quote {
            if quote < self.quote && self.has_open_text() && !starts_block(indent, body) {
                return self.extend(line);
            }
            self.flush();
            self.list.clear();
            self.html = None;
            self.quote = quote;
        }
        let depth = self.list.iter().take_while(|column| **column <= indent).count();
        let base = if depth > 0 { self.list[depth - 1] } else { 0 };
        let in_item = depth > 0
            && depth == self.list.len()
            && self.open.as_ref().is_some_and(|open| open.block.kind == BlockKind::Item);
        let place = Place { indent, depth, base, in_item };
        self.html = self.html.filter(|indent| base >= *indent);
        let taken = (indent - base < 4 && self.near_line(line, body, &place))
            || self.item(line, body, &place)
            || self.row(line, body, &place, in_table);
        if !taken {
            self.text_line(line, &place);
        }
    }

    /// Takes a line that is not indented, if it is more than text.
    fn near_line(&mut self, line: &Line<'_>, body: &str, place: &Place) -> bool {
        if let Some((level, _)) = atx_heading(body) {
            if place.in_item {
                return false;
            }
            // The headings of an item or a quotation are not those of the text.
            let is_own = self.is_outermost(place);
            let kind = if is_own { BlockKind::Heading(level) } else { BlockKind::Paragraph };
            self.put_line(kind, line, place);
            return true;
        }
        if let Some(fence) = Fence::open(body).filter(|_| self.html.is_none()) {
            if place.in_item {
                self.extend(line);
            } else {
                self.flush();
                self.list.truncate(place.depth);
                self.start(BlockKind::Fence, line);
            }
            let (quote, indent) = (self.quote, place.base);
            let is_at_margin = quote == 0 && place.indent < 2;
            self.raw = Some(Raw::Fence { fence, quote, indent, is_at_margin });
            return true;
        }
        if let Some(level) = underline(body)
            && self.take_title(level)
        {
            self.blocks.push(Block::of_line(BlockKind::Underline, 0, line));
            return true;
        }
        if is_thematic_break(body) {
            self.put_line(BlockKind::ThematicBreak, line, place);
            return true;
        }
        if self.html.is_some() {
            return false;
        }
        if let Some(end) = raw_html(body) {
            self.text_line(line, place);
            self.raw = Some(Raw::Html { end, quote: self.quote, indent: place.base });
            return true;
        }
        if opens_html(body, !self.has_open_text()) {
            self.html = Some(place.base);
        }
        false
    }

    /// Takes a line that begins an item.
    fn item(&mut self, line: &Line<'_>, body: &str, place: &Place) -> bool {
        let Some(marker) = Marker::read(place.indent, body) else { return false };
        if self.list.is_empty() && self.has_open_text() {
            // A paragraph continues with a line such as `1986. A great year`.
            let is_text =
                marker.content.is_empty() || marker.number.is_some_and(|number| number != 1);
            if is_text || place.indent >= 4 {
                return false;
            }
        }
        self.flush();
        self.list.truncate(place.depth.min(MAX_NESTED - 1));
        self.list.push(marker.column);
        self.start(BlockKind::Item, line);
        if place.depth == 0
            && place.indent >= 4
            && let Some(open) = &mut self.open
        {
            open.code = true;
        }
        if self.html.is_some() {
            return true;
        }
        if let Some(fence) = Fence::open(marker.content) {
            let (quote, indent) = (self.quote, marker.column);
            self.raw = Some(Raw::Fence { fence, quote, indent, is_at_margin: false });
        } else if let Some(end) = raw_html(marker.content) {
            self.raw = Some(Raw::Html { end, quote: self.quote, indent: marker.column });
        } else if opens_html(marker.content, true) {
            self.html = Some(marker.column);
        }
        true
    }

    /// Takes a line that is a row of a table.
    fn row(&mut self, line: &Line<'_>, body: &str, place: &Place, in_table: bool) -> bool {
        let is_delimiter = is_delimiter_row(body);
        let kind = if is_delimiter { BlockKind::Delimiter } else { BlockKind::Row };
        let has_bars = body.starts_with('|') && body.len() > 1 && body[1..].contains('|');
        if !place.in_item && (has_bars || in_table) {
            if is_delimiter && !in_table && self.is_outermost(place) {
                let row = self.blocks.last_mut().filter(|block| block.kind == BlockKind::Row);
                if let Some(header) = row.filter(|block| block.lines.end == line.number) {
                    header.kind = BlockKind::TableHeader;
                }
            }
            self.put_line(kind, line, place);
            self.in_table = in_table || is_delimiter;
            return true;
        }
        // The header was read as the last line of a paragraph.
        let text = self.text;
        let Some(open) = self.open.take_if(|open| {
            is_delimiter
                && open.block.kind == BlockKind::Paragraph
                && text[open.last..open.block.bytes.end].contains('|')
        }) else {
            return false;
        };
        let is_own = self.is_outermost(place);
        let header = open.last_line(if is_own { BlockKind::TableHeader } else { BlockKind::Row });
        self.blocks.extend(open.above(text));
        self.blocks.push(header);
        self.blocks.push(Block::of_line(kind, self.quote, line));
        self.in_table = true;
        true
    }

    /// Returns whether a line is in no item and no quotation.
    fn is_outermost(&self, place: &Place) -> bool {
        place.depth == 0 && self.quote == 0
    }

    fn text_line(&mut self, line: &Line<'_>, place: &Place) {
        // Turns of a conversation follow each other without blank lines; each is a separate block.
        if self.is_outermost(place) && (self.conventions.begins_turn)(line.text) {
            self.flush();
            self.list.clear();
            return self.start(BlockKind::Turn, line);
        }
        let is_code = place.indent - place.base >= 4;
        let follows_code = !is_code && self.open.as_ref().is_some_and(|open| open.code);
        if follows_code {
            self.flush();
            self.list.truncate(place.depth);
        } else if self.has_open_text() || place.in_item {
            return self.extend(line);
        }
        self.flush();
        self.list.truncate(place.depth);
        self.start(BlockKind::Paragraph, line);
        if let Some(open) = &mut self.open {
            open.code = is_code;
        }
    }

    fn blank_line(&mut self, quote: usize) {
        self.html = None;
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
            Some(Raw::Html { end, quote, indent }) => {
                let (found, inner) = unquoted(line.text, quote);
                let (columns, body) = indentation(inner);
                // Outside quotations and items only its own end closes it.
                let is_blank = body.trim_end().is_empty();
                let goes_on = found == quote && (columns >= indent || is_blank);
                // Blank lines at the end of a text are in no block.
                if goes_on && !is_blank {
                    self.extend(line);
                }
                if !goes_on || find_ignoring_case(line.text, end) {
                    self.raw = None;
                }
                goes_on
            }
            Some(Raw::Fence { fence, quote, indent, .. }) => {
                let (found, inner) = unquoted(line.text, quote);
                let (columns, body) = indentation(inner);
                let body = body.trim_end();
                let goes_on = found == quote && (body.is_empty() || columns >= indent);
                if goes_on && !body.is_empty() {
                    self.extend(line);
                }
                let closes = fence.is_closed_by(body) && columns.saturating_sub(indent) < 4;
                if !goes_on || closes {
                    self.raw = None;
                    if self.open.as_ref().is_some_and(|open| open.block.kind == BlockKind::Fence) {
                        self.flush();
                    }
                }
                goes_on
            }
        }
    }

    /// Makes the open paragraph a heading, if the line below it allows that.
    fn take_title(&mut self, level: u8) -> bool {
        if self.quote > 0 || !self.list.is_empty() {
            return false;
        }
        let text = self.text;
        let Some(open) = self.open.take_if(|open| open.is_title(text)) else { return false };
        let kind = BlockKind::UnderlinedHeading(level);
        if open.is_comment(text) {
            // A comment is not part of the title below it.
            let title = open.last_line(kind);
            self.blocks.extend(open.above(text));
            self.blocks.push(title);
        } else if let Some((definitions, title)) = open.without_definitions(text) {
            self.blocks.push(definitions);
            self.blocks.push(Block { kind, ..title });
        } else {
            self.blocks.push(Block { kind, ..open.block });
        }
        true
    }

    /// Returns whether the next line of text belongs to the open block.
    fn has_open_text(&self) -> bool {
        self.open.as_ref().is_some_and(|open| !open.blank)
    }

    fn start(&mut self, kind: BlockKind, line: &Line<'_>) {
        let block = Block::of_line(kind, self.quote, line);
        self.open = Some(Open { block, last: line.start, blank: false, code: false });
    }

    fn extend(&mut self, line: &Line<'_>) {
        if let Some(open) = &mut self.open {
            open.block.extend(line);
            open.last = line.start;
            open.blank = false;
        }
    }

    /// Adds a line that is a separate block.
    fn put_line(&mut self, kind: BlockKind, line: &Line<'_>, place: &Place) {
        self.flush();
        self.list.truncate(place.depth);
        self.blocks.push(Block::of_line(kind, self.quote, line));
    }

    fn flush(&mut self) {
        self.blocks.extend(self.open.take().map(|open| open.block));
    }
}

/// The position of a line in nested lists.
struct Place {
    indent: usize,
    /// How many of the open items it may be in.
    depth: usize,
    /// Where the text of the innermost of those begins.
    base: usize,
    /// Whether the open block is that item.
    in_item: bool,
}

impl Open {
    /// Returns whether a line below it may make it a heading.
    fn is_title(&self, text: &str) -> bool {
        let (indent, body) = indentation(&text[self.block.bytes.clone()]);
        // Indented text is code, and text that begins with a tag is HTML.
        let is_text = indent < 4 && (!body.starts_with('<') || self.is_comment(text));
        is_text && self.block.kind == BlockKind::Paragraph && self.block.bytes.len() <= MAX_HEADING
    }

    /// Returns whether all lines except the last are comments.
    fn is_comment(&self, text: &str) -> bool {
        let above = text[self.block.bytes.start..self.last].trim();
        above.starts_with("<!--") && above.ends_with("-->")
    }

    /// Returns the link definitions that it begins with, and the rest.
    fn without_definitions(&self, text: &str) -> Option<(Block, Block)> {
        let content = &text[self.block.bytes.clone()];
        let is_definition = |line: &Line<'_>| {
            let (_, body) = indentation(line.text);
            let rest = body.strip_prefix('[').and_then(|rest| rest.split_once("]:"));
            rest.is_some_and(|(label, target)| {
                !label.contains(['[', ']']) && target.split_whitespace().count() == 1
            })
        };
        let found: Vec<_> = lines(content).take_while(is_definition).collect();
        let count = u32::try_from(found.len()).ok()?;
        let rest = lines(content).nth(found.len())?;
        let last = found.last()?;
        let Block { kind, bytes, lines, quote } = self.block.clone();
        let (start, middle) = (bytes.start, lines.start + count);
        let definitions =
            Block { kind, bytes: start..start + last.end(), lines: lines.start..middle, quote };
        Some((
            definitions,
            Block { kind, bytes: start + rest.start..bytes.end, lines: middle..lines.end, quote },
        ))
    }

    /// Returns its last line as a block.
    fn last_line(&self, kind: BlockKind) -> Block {
        let (bytes, lines) = (&self.block.bytes, &self.block.lines);
        let lines = lines.end - 1..lines.end;
        Block { kind, bytes: self.last..bytes.end, lines, quote: self.block.quote }
    }

    /// Returns the block without its last line, if it has others.
    fn above(self, text: &str) -> Option<Block> {
        let mut block = self.block;
        block.lines.end -= 1;
        let above = text[block.bytes.start..self.last].trim_end_matches(['\r', '\n']);
        block.bytes.end = block.bytes.start + above.len();
        (block.lines.start < block.lines.end).then_some(block)
    }
}

fn is_bullet_at_margin(line: &str) -> bool {
    ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}

/// Returns whether a line begins a new block rather than continuing text.
fn starts_block(indent: usize, body: &str) -> bool {
    let is_near = indent < 4;
    Marker::read(indent, body).is_some()
        || (is_near
            && (atx_heading(body).is_some()
                || Fence::open(body).is_some()
                || is_thematic_break(body)
                || begins_raw_html(body).is_some()
                || opens_html(body, false)))
}

/// Names of the tags that begin HTML up to the next blank line, in any position.
const HTML_BLOCKS: &str = "address article aside base basefont blockquote body caption center col \
                           colgroup dd details dialog dir div dl dt fieldset figcaption figure \
                           footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe \
                           legend li link main menu menuitem nav noframes ol optgroup option p \
                           param search section summary table tbody td tfoot th thead title tr \
                           track ul";

/// Whether a line begins HTML that ends at the next blank line. A tag with any other name only does
/// so if it is the whole line and no text precedes it.
fn opens_html(body: &str, is_first: bool) -> bool {
    let Some(tag) = body.strip_prefix('<') else { return false };
    let tag = tag.strip_prefix('/').unwrap_or(tag);
    let end = tag.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(tag.len());
    let (name, rest) = tag.split_at(end);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return false;
    }
    let is_block = HTML_BLOCKS.split(' ').any(|block| block.eq_ignore_ascii_case(name));
    if is_block && (rest.is_empty() || rest.starts_with([' ', '\t', '>']) || rest.starts_with("/>"))
    {
        return true;
    }
    let attributes = rest.trim_end().strip_suffix('>');
    is_first && attributes.is_some_and(|text| !text.contains(['<', '>']))
}

/// Returns the end of the HTML that begins here, if this line does not contain it.
fn raw_html(body: &str) -> Option<&'static str> {
    let (rest, end) = begins_raw_html(body)?;
    (!find_ignoring_case(rest, end)).then_some(end)
}

/// Returns what follows the tag of HTML that has its own end, and that end.
fn begins_raw_html(body: &str) -> Option<(&str, &'static str)> {
    if !body.starts_with('<') {
        return None;
    }
    let opens =
        |start: &str| body.get(..start.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(start));
    let (start, end) = RAW_HTML.iter().find(|(start, _)| opens(start))?;
    let rest = &body[start.len()..];
    let is_name = *start != "<!--" && !rest.is_empty() && !rest.starts_with([' ', '\t', '>']);
    (!is_name).then_some((rest, *end))
}

fn find_ignoring_case(text: &str, what: &str) -> bool {
    text.as_bytes().windows(what.len()).any(|part| part.eq_ignore_ascii_case(what.as_bytes()))
}
