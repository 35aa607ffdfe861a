//! Passages of about 200 tokens, made of whole blocks.
//!
//! A chunk that is large enough ends before a heading, so that an edit moves the boundaries of its
//! own section and those of the next few, and rarely those of a whole file.

use std::ops::Range;

use super::Outline;
use super::size::quarters;

/// About how many tokens a chunk has.
pub(crate) const CHUNK_TOKENS: usize = 200;

/// The target size of a chunk, in quarters of a token.
const FULL: usize = CHUNK_TOKENS * 4;
/// From this size on, a chunk ends before a heading.
const ENOUGH: usize = FULL * 6 / 10;
/// Up to this size, a chunk takes in the rest of its section.
const STRETCHED: usize = FULL * 13 / 10;
/// Up to this size, a chunk takes in a block rather than being less than half full.
const MOST: usize = FULL * 15 / 10;

/// A passage. The chunks of a document are a partition of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Where it is in the text; the first begins at 0, each begins where the last ended, the
    /// last ends with the text.
    pub(crate) bytes: Range<usize>,
    /// Its first line.
    pub(crate) first_line: u32,
    /// Its blocks, by position.
    pub(crate) blocks: Range<usize>,
}

/// Estimates how many tokens a language model makes of a text: four letters of a script with spaces
/// are one token, and so is each character of a script without spaces.
#[cfg(test)]
pub(crate) fn estimated_tokens(text: &str) -> usize {
    quarters(text).div_ceil(4)
}

/// Cuts a document into chunks; a chunk ends at a heading rather than in the middle of a section.
///
/// The text between blocks (headings, blank lines) belongs to the block that follows.
pub(crate) fn chunks(text: &str, outline: &Outline) -> Vec<Chunk> {
    let blocks = &outline.blocks;
    if blocks.is_empty() {
        let whole = Chunk { bytes: 0..text.len(), first_line: 1, blocks: 0..0 };
        return if text.is_empty() { Vec::new() } else { vec![whole] };
    }
    let borders = borders(text, outline);
    let sizes: Vec<usize> = measured(text, &borders);
    let mut chunks = Vec::new();
    let (mut first, mut size) = (0, 0);
    // The rest of the section from a block on, computed once for each section.
    let (mut section_end, mut section_left) = (0, 0);
    for at in 0..blocks.len() {
        if at == section_end {
            let section = blocks[at].section;
            let same = blocks[at..].iter().take_while(|block| block.section == section).count();
            section_end = at + same;
            section_left = sizes[at..section_end].iter().sum::<usize>();
        }
        let next = sizes[at];
        let is_new_section = at > 0 && blocks[at].section != blocks[at - 1].section;
        let ends = if is_new_section && size >= ENOUGH {
            true
        } else if size + next <= FULL || size + section_left <= STRETCHED {
            false
        } else {
            size >= FULL / 2 || size + next > MOST
        };
        if ends && at > first {
            chunks.push(chunk(&borders, first..at));
            (first, size) = (at, 0);
        }
        size += next;
        section_left = section_left.saturating_sub(next);
    }
    chunks.push(chunk(&borders, first..blocks.len()));
    chunks
}

/// Where a block begins, including what precedes it.
struct Border {
    byte: usize,
    line: u32,
}

/// Returns where each block begins, including what precedes it, and where the text ends.
fn borders(text: &str, outline: &Outline) -> Vec<Border> {
    let mut borders = Vec::with_capacity(outline.blocks.len() + 1);
    borders.push(Border { byte: 0, line: 1 });
    for pair in outline.blocks.windows(2) {
        let (end, start) = (pair[0].bytes.end, pair[1].bytes.start);
        // The pieces of a cut line share it.
        let border = match text[end..start].find('\n') {
            Some(at) => Border { byte: end + at + 1, line: pair[0].lines.end },
            None => Border { byte: start, line: pair[1].lines.start },
        };
        borders.push(border);
    }
    borders.push(Border { byte: text.len(), line: 0 });
    borders
}

fn measured(text: &str, borders: &[Border]) -> Vec<usize> {
    borders.windows(2).map(|pair| quarters(&text[pair[0].byte..pair[1].byte])).collect()
}

fn chunk(borders: &[Border], blocks: Range<usize>) -> Chunk {
    let (first, end) = (&borders[blocks.start], &borders[blocks.end]);
    Chunk { bytes: first.byte..end.byte, first_line: first.line, blocks }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::outline;
    use super::*;
    use crate::document::Format;

    fn cut(text: &str, format: Format) -> (Outline, Vec<Chunk>) {
        let outline = outline(text, format);
        let chunks = chunks(text, &outline);
        (outline, chunks)
    }

    fn section(number: usize, items: usize) -> String {
        let item =
            |place| format!("- item {place} of {number} says {}\n", "something ".repeat(place % 7));
        format!("## Section {number}\n\n{}\n", (0..items).map(item).collect::<String>())
    }

    #[test]
    fn a_chunk_has_about_200_tokens_and_ends_before_a_heading() {
        let text: String = (0..30).map(|number| section(number, 14)).collect();
        let (_, chunks) = cut(&text, Format::Markdown);
        for chunk in &chunks {
            let tokens = estimated_tokens(&text[chunk.bytes.clone()]);
            assert!((100..=300).contains(&tokens), "{tokens}");
        }
        // A section of 14 such items has 187 tokens.
        let starts =
            chunks.iter().filter(|chunk| text[chunk.bytes.clone()].trim().starts_with("## "));
        assert_eq!(starts.count(), chunks.len());
    }

    #[test]
    fn small_sections_share_a_chunk_and_heading_lines_go_with_what_follows() {
        let text: String = (0..40).map(|number| section(number, 3)).collect();
        let (_, chunks) = cut(&text, Format::Markdown);
        for chunk in &chunks {
            let body = &text[chunk.bytes.clone()];
            assert!(body.trim_start().starts_with("## "), "{body}");
            assert!(body.matches("## ").count() > 1);
        }
    }

    #[test]
    fn an_edit_at_the_top_leaves_the_borders_far_below() {
        for items in [3, 14, 40] {
            let text: String = (0..60).map(|number| section(number, items)).collect();
            let edited = format!("# New\n\n- one more thing\n\n{text}");
            let shift = edited.len() - text.len();
            let starts = |text: &str, shift| -> BTreeSet<usize> {
                let (_, chunks) = cut(text, Format::Markdown);
                chunks.iter().map(|chunk| chunk.bytes.start + shift).collect()
            };
            let (before, after) = (starts(&text, shift), starts(&edited, 0));
            let moved = before.difference(&after).count();
            assert!(moved * 10 <= before.len(), "{items} items: {moved} of {}", before.len());
        }
    }

    #[test]
    fn a_text_without_blocks_is_one_chunk() {
        assert_eq!(cut("", Format::Markdown).1, []);
        let (_, chunks) = cut("\n\n", Format::Plain);
        assert_eq!(chunks, [Chunk { bytes: 0..2, first_line: 1, blocks: 0..0 }]);
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let text = "x".repeat(1_000_000);
        let (outline, chunks) = cut(&text, Format::Markdown);
        assert!(
            outline.blocks.iter().all(|block| block.lines == (1..2) && block.bytes.len() <= 800)
        );
        assert!(chunks.iter().all(|chunk| chunk.first_line == 1 && chunk.bytes.len() <= 1200));
    }

    #[test]
    fn turns_and_plain_lists_are_taken_apart() {
        let text = "User: a\n\nAssistant: b\nUser: # c\n";
        let (outline, _) = cut(text, Format::Transcript);
        let texts: Vec<_> = outline.blocks.iter().map(|block| &text[block.bytes.clone()]).collect();
        assert_eq!(texts, ["User: a", "Assistant: b", "User: # c"]);
        let text = "# no heading\nsame\n\n- a\n  b\n* c\n1. d\n";
        let (outline, _) = cut(text, Format::Plain);
        let texts: Vec<_> = outline.blocks.iter().map(|block| &text[block.bytes.clone()]).collect();
        assert_eq!(texts, ["# no heading\nsame", "- a\n  b", "* c", "1. d"]);
    }

    /// Texts with much markup and much text.
    fn texts() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            "( |\t){0,5}([-*+>#|`~=<]{1,4}|[0-9]{1,3}[.)]|<!--|-->|```[a-z]?)? ?(\\PC{0,8}|[a-z .]{0,60})",
            "[a-z]{0,8}",
            Just("---".to_owned()),
            Just(String::new()),
            "([a-zé数。]{1,9}[ .]){0,200}",
            Just("x".repeat(3000)),
        ];
        let end = prop_oneof![4 => Just("\n"), 1 => Just("\r\n")];
        let lines = proptest::collection::vec((line, end), 0..40);
        let bom = prop_oneof![9 => Just(""), 1 => Just("\u{feff}")];
        (bom, lines, any::<bool>()).prop_map(|(bom, lines, ended)| {
            let lines: String =
                lines.into_iter().flat_map(|(line, end)| [line, end.into()]).collect();
            let lines = if ended { &lines } else { lines.trim_end_matches(['\r', '\n']) };
            format!("{bom}{lines}")
        })
    }

    fn line_of(text: &str, byte: usize) -> u32 {
        text[..byte].matches('\n').count() as u32 + 1
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn chunks_are_a_partition_of_whole_blocks(text in texts()) {
            for format in [Format::Markdown, Format::Plain, Format::Transcript] {
                let (outline, chunks) = cut(&text, format);
                let (mut byte, mut block) = (0, 0);
                for chunk in &chunks {
                    prop_assert_eq!((chunk.bytes.start, chunk.blocks.start), (byte, block));
                    prop_assert_eq!(chunk.first_line, line_of(&text, byte));
                    prop_assert!(byte < chunk.bytes.end);
                    for block in &outline.blocks[chunk.blocks.clone()] {
                        prop_assert!(chunk.bytes.start <= block.bytes.start);
                        prop_assert!(block.bytes.end <= chunk.bytes.end);
                    }
                    let tokens = estimated_tokens(&text[chunk.bytes.clone()]);
                    prop_assert!(tokens <= 300 || chunk.blocks.len() <= 1, "{}", tokens);
                    (byte, block) = (chunk.bytes.end, chunk.blocks.end);
                }
                prop_assert_eq!((byte, block), (text.len(), outline.blocks.len()));
            }
        }

        #[test]
        fn blocks_lie_in_order_and_know_their_lines(text in texts()) {
            for format in [Format::Markdown, Format::Plain, Format::Transcript] {
                let outline = outline(&text, format);
                prop_assert_eq!(outline.sections[0].clone(), super::super::Section::default());
                let mut end = 0;
                for block in &outline.blocks {
                    prop_assert!(end <= block.bytes.start && block.bytes.start < block.bytes.end);
                    prop_assert_eq!(block.lines.start, line_of(&text, block.bytes.start));
                    prop_assert_eq!(block.lines.end - 1, line_of(&text, block.bytes.end));
                    prop_assert!(block.section < outline.sections.len());
                    prop_assert!(estimated_tokens(&text[block.bytes.clone()]) <= CHUNK_TOKENS);
                    end = block.bytes.end;
                }
            }
        }

        #[test]
        fn every_line_with_a_letter_is_in_a_block_or_a_heading(text in texts()) {
            for format in [Format::Markdown, Format::Plain, Format::Transcript] {
                let outline = outline(&text, format);
                let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect();
                let titles = outline.sections.iter().flat_map(|section| &section.headings);
                let titles: BTreeSet<String> = titles.map(|title| letters(title)).collect();
                let mut in_block = vec![false; text.len()];
                for block in &outline.blocks {
                    in_block[block.bytes.clone()].fill(true);
                }
                let mut start = 0;
                for line in text.split_inclusive('\n') {
                    let mut all = line.char_indices().filter(|(_, c)| c.is_alphanumeric());
                    let found = all.all(|(at, _)| in_block[start + at]);
                    let line_letters: String = letters(line);
                    let is_title = || titles.iter().any(|title| title.contains(&line_letters));
                    prop_assert!(found || is_title(), "{:?}", line);
                    start += line.len();
                }
            }
        }
    }
}
