//! A parsed document: headings, blocks, and the passages that blocks form.
//!
//! A block is what a person would point at: a list item, a paragraph, a row of a table, a fence.
//! Headings are not blocks; blocks are grouped under them. Every block has its exact bytes and
//! lines in the text.

pub(crate) mod chunks;
mod cut;
mod day;
mod markdown;
mod size;

use std::ops::Range;

use anemone_markdown::{Line, Marker, indentation, lines};
use jiff::civil::Date;

use crate::document::Format;
pub(crate) use day::day_in;

/// Changes when the same text would be parsed differently.
pub(crate) const OUTLINE_VERSION: u32 = 3;

/// A parsed document.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outline {
    /// The heading paths that occur; a block names one by its position. The first is the empty one.
    pub(crate) sections: Vec<Section>,
    /// In the order of the text; they do not overlap.
    pub(crate) blocks: Vec<Block>,
}

/// Headings and a date that apply to blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Section {
    /// The headings, the outermost first, without markup.
    pub(crate) headings: Vec<String>,
    /// The day that the innermost dated heading names.
    pub(crate) date: Option<Date>,
}

/// One block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Block {
    pub(crate) kind: BlockKind,
    /// Where it is in the text: from the beginning of its first line to the end of its last,
    /// without the line break. A long paragraph is cut at sentences, and its pieces need not begin
    /// with a line.
    pub(crate) bytes: Range<usize>,
    /// Its lines, from 1, the end excluded.
    pub(crate) lines: Range<u32>,
    /// The section that contains it.
    pub(crate) section: usize,
}

/// What a block is. The numbers are those of stored chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BlockKind {
    Paragraph = 0,
    Item = 1,
    Row = 2,
    Fence = 3,
    /// A heading with nothing below it: there is nothing else to find.
    Heading = 4,
    /// The lines between `---` at the top.
    FrontMatter = 5,
    /// What one speaker says in a conversation.
    Turn = 6,
}

impl BlockKind {
    const ALL: [Self; 7] = [
        Self::Paragraph,
        Self::Item,
        Self::Row,
        Self::Fence,
        Self::Heading,
        Self::FrontMatter,
        Self::Turn,
    ];

    /// Returns the kind with a stored number.
    pub(crate) fn of_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// Parses a text. Every line that has a letter or a digit is in a block or a heading.
pub(crate) fn outline(text: &str, format: Format) -> Outline {
    match format {
        Format::Markdown => markdown::outline(text),
        Format::Plain => plain(text),
        Format::Transcript => transcript(text),
    }
}

impl Block {
    /// A block of one line.
    fn of_line(kind: BlockKind, line: &Line<'_>) -> Self {
        let lines = line.number..line.number.saturating_add(1);
        Self { kind, bytes: line.start..line.end(), lines, section: 0 }
    }

    /// Extends the block to the end of a line.
    fn extend(&mut self, line: &Line<'_>) {
        self.bytes.end = line.end();
        self.lines.end = line.number.saturating_add(1);
    }
}

/// Parses paragraphs and list items; nothing else is markup.
fn plain(text: &str) -> Outline {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in lines(text) {
        let (indent, body) = indentation(line.text);
        let is_blank = body.trim_end().is_empty();
        let is_item = Marker::read(indent, body).is_some_and(|marker| !marker.content.is_empty());
        match &mut open {
            Some(block) if !is_blank && !is_item => block.extend(&line),
            _ => {
                let kind = if is_item { BlockKind::Item } else { BlockKind::Paragraph };
                let next = (!is_blank).then(|| Block::of_line(kind, &line));
                if let Some(block) = std::mem::replace(&mut open, next) {
                    cut::put(text, block, &mut blocks);
                }
            }
        }
    }
    if let Some(block) = open {
        cut::put(text, block, &mut blocks);
    }
    Outline { sections: vec![Section::default()], blocks }
}

/// Parses turns: each line is one.
fn transcript(text: &str) -> Outline {
    let mut blocks = Vec::new();
    for line in lines(text) {
        cut::put(text, Block::of_line(BlockKind::Turn, &line), &mut blocks);
    }
    Outline { sections: vec![Section::default()], blocks }
}
