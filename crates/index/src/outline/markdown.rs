//! The blocks of a Markdown text, each under its headings.

use anemone_markdown::{self as markdown, Conventions, atx_heading, plain_text};
use jiff::civil::Date;

use super::day::day_in;
use super::{Block, BlockKind, Outline, Section, cut};
use crate::voice::begins_turn;

/// Bytes of a heading, at most: every section below repeats it. A longer one is a block as well,
/// so that all of it is found.
const MAX_HEADING: usize = 256;
/// Bytes of an underlined line that surely is a title and not a sentence above a rule.
const MAX_TITLE: usize = 80;

/// The level of a table's header: rows are below it as below a heading, under all other levels.
const TABLE_LEVEL: u8 = 7;

/// Parses Markdown.
pub(super) fn outline(text: &str) -> Outline {
    let mut view = View {
        text,
        outline: Outline { sections: vec![Section::default()], blocks: Vec::new() },
        headings: Vec::new(),
        section: Some(0),
        table_end: 0,
    };
    // A line that names a speaker begins a block.
    let conventions = Conventions { begins_turn, ..Conventions::PLAIN };
    for block in markdown::outline(text, conventions) {
        view.take(&block);
    }
    view.close_headings(0);
    view.outline
}

/// A heading above later blocks.
struct Heading {
    level: u8,
    title: String,
    date: Option<Date>,
    block: Block,
    /// Whether there is a block below it.
    used: bool,
}

struct View<'a> {
    text: &'a str,
    outline: Outline,
    headings: Vec<Heading>,
    /// The section of the next block, when it is already known.
    section: Option<usize>,
    /// The line on which the table would continue.
    table_end: u32,
}

impl View<'_> {
    fn take(&mut self, block: &markdown::Block) {
        use markdown::BlockKind as Kind;

        let is_row = matches!(block.kind, Kind::Row | Kind::Delimiter);
        if !is_row || block.lines.start != self.table_end {
            self.close_headings(TABLE_LEVEL);
        }
        self.table_end = block.lines.end;
        let text = self.text;
        let own = &text[block.bytes.clone()];
        let of_kind = |kind| Block {
            kind,
            bytes: block.bytes.clone(),
            lines: block.lines.clone(),
            section: 0,
        };
        let kind = match block.kind {
            Kind::Heading(level) => {
                let title = atx_heading(own.trim()).map_or(own, |(_, title)| title);
                return self.heading(level, title, of_kind(BlockKind::Heading), false);
            }
            Kind::UnderlinedHeading(level) => {
                let is_prose = own.len() > MAX_TITLE || own.ends_with(['.', '!', '?']);
                return self.heading(level, own, of_kind(BlockKind::Heading), is_prose);
            }
            // A header alone has no content; it is a block only when no rows follow.
            Kind::TableHeader if cut::has_words(own) => {
                let names = own.trim().trim_matches('|').trim();
                return self.heading(TABLE_LEVEL, names, of_kind(BlockKind::Row), false);
            }
            Kind::TableHeader | Kind::Delimiter | Kind::Underline | Kind::ThematicBreak => return,
            Kind::FrontMatter => BlockKind::FrontMatter,
            Kind::Paragraph => BlockKind::Paragraph,
            Kind::Turn => BlockKind::Turn,
            Kind::Item => BlockKind::Item,
            Kind::Row => BlockKind::Row,
            Kind::Fence => BlockKind::Fence,
        };
        self.put(of_kind(kind));
    }

    /// Adds a block under the headings that are open.
    fn put(&mut self, block: Block) {
        if !cut::has_words(&self.text[block.bytes.clone()]) {
            return;
        }
        // When the last heading has a block below it, so have those above.
        let unused = self.headings.iter_mut().rev().take_while(|heading| !heading.used);
        unused.for_each(|heading| heading.used = true);
        let section = match self.section {
            Some(section) => section,
            None => self.add_section(None),
        };
        self.section = Some(section);
        cut::put(self.text, Block { section, ..block }, &mut self.outline.blocks);
    }

    fn add_section(&mut self, date: Option<Date>) -> usize {
        let titles =
            self.headings.iter().map(|heading| &heading.title).filter(|title| !title.is_empty());
        let date = date.or_else(|| self.headings.iter().rev().find_map(|heading| heading.date));
        let section = Section { headings: titles.cloned().collect(), date };
        let sections = &mut self.outline.sections;
        if sections.last() != Some(&section) {
            sections.push(section);
        }
        sections.len() - 1
    }

    fn heading(&mut self, level: u8, raw: &str, block: Block, is_prose: bool) {
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
    fn close_headings(&mut self, level: u8) {
        while let Some(heading) = self.headings.pop_if(|heading| heading.level >= level) {
            if !heading.used {
                self.put_heading(heading.block, heading.date, 0);
            }
            self.section = None;
        }
    }

    /// Adds a heading as a block. It is below the headings above it, not below itself, because its
    /// text would count twice; but the day that it names is its own.
    fn put_heading(&mut self, block: Block, date: Option<Date>, own: usize) {
        let kept = self.headings.split_off(self.headings.len().saturating_sub(own));
        self.section = Some(self.add_section(date));
        self.put(block);
        self.headings.extend(kept.into_iter().map(|heading| Heading { used: true, ..heading }));
        self.section = None;
    }
}

/// A heading's text.
struct Title {
    text: String,
    /// Whether it has all letters of the original text.
    is_whole: bool,
}

/// Removes the markup from a heading.
fn title(raw: &str) -> Title {
    let cut = &raw[..raw.floor_char_boundary(MAX_HEADING)];
    let is_cut = cut.len() < raw.len();
    if !cut.contains(['*', '_', '`', '[', '<', '&', '\\', '\n', '\r']) {
        return Title { text: cut.trim().to_owned(), is_whole: !is_cut };
    }
    let text = plain_text(cut);
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
    let is_whole = !is_cut && letters(&text) >= letters(cut);
    Title { text, is_whole }
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
            .map(|block| {
                (block.kind, block.lines.start, block.lines.end - 1, &text[block.bytes.clone()])
            })
            .collect()
    }

    /// The heading path of each block.
    fn paths(text: &str) -> Vec<String> {
        let outline = outline(text);
        let sections = outline.blocks.iter().map(|block| &outline.sections[block.section]);
        sections.map(|section| section.headings.join(" / ")).collect()
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
        // The link's target is not in the path, so the heading is also a block.
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
        let days = outline.blocks.iter().map(|block| outline.sections[block.section].date);
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
        // A paragraph of the outer item after the inner one is a separate block.
        let text = "- a\n  - b\n\n  c\n- d\n";
        let kinds: Vec<_> = blocks(text).iter().map(|&(kind, line, _, _)| (kind, line)).collect();
        assert_eq!(kinds, [(Item, 1), (Item, 2), (Paragraph, 4), (Item, 5)]);
        // A sentence that is wrapped before a number is not a list.
        assert_eq!(blocks("In\n1986. A great year"), [(Paragraph, 1, 2, "In\n1986. A great year")]);
        // Some editors indent with tabs.
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
        // A header without rows is the only content.
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
        assert_eq!(
            outline.blocks.iter().map(|block| block.kind).collect::<Vec<_>>(),
            [Title, Paragraph]
        );
        let section = &outline.sections[outline.blocks[1].section];
        assert_eq!(section.headings[0].len(), MAX_HEADING);
    }

    #[test]
    fn a_sentence_above_a_rule_is_still_found_as_a_block() {
        let text = "He moved to Paris in May.\n---\nShe stayed.\n";
        assert_eq!(blocks(text).len(), 2);
    }
}
