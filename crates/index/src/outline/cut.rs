//! Cuts a long block into pieces: at the ends of sentences, else of lines, else between words.

use super::chunks::CHUNK_TOKENS;
use super::size::{quarters, quarters_of};
use super::{Block, BlockKind};

/// How large a piece is at most, in quarters of a token.
const LIMIT: usize = CHUNK_TOKENS * 4;
/// How many lines a piece of a fence has, at most.
const LINES: u32 = 40;
/// Texts with fewer bytes never exceed [`LIMIT`]: a character of three bytes counts four quarters.
const SURELY_SMALL: usize = LIMIT * 3 / 4;
/// Closing quotation marks and brackets that belong to the end of a sentence, at most.
const CLOSERS: usize = 3;

/// Adds a block, in pieces when it is long; adds nothing when it has nothing to search for.
pub(super) fn put(text: &str, block: Block, blocks: &mut Vec<Block>) {
    let body = &text[block.bytes.clone()];
    let by_line = matches!(block.kind, BlockKind::Fence | BlockKind::FrontMatter);
    let is_short = |lines: u32| !by_line || lines <= LINES;
    if is_short(block.lines.end - block.lines.start)
        && (body.len() <= SURELY_SMALL || quarters(body) <= LIMIT)
    {
        if has_words(body) {
            blocks.push(block);
        }
        return;
    }
    let mut left = quarters(body);
    let (mut at, mut line) = (0, block.lines.start);
    while at < body.len() {
        let rest = &body[at..];
        let end = if left <= LIMIT && is_short(block.lines.end.saturating_sub(line)) {
            rest.len()
        } else {
            // The last two pieces have the same size; the size of earlier ones does not depend on
            // what follows.
            let goal = if left < 2 * LIMIT { left / 2 } else { LIMIT / 4 * 3 };
            next_cut(rest, goal, by_line)
        };
        let piece = rest[..end].trim_end();
        let lines = line..line.saturating_add(line_feeds(piece)).saturating_add(1);
        if has_words(piece) {
            let bytes = block.bytes.start + at..block.bytes.start + at + piece.len();
            blocks.push(Block { bytes, lines: lines.clone(), ..block.clone() });
        }
        let gap = &rest[piece.len()..];
        let space = &gap[..gap.len() - gap.trim_start().len()];
        // A piece at the beginning of a line keeps its indentation.
        let skipped = space.rfind('\n').map_or(space.len(), |end| end + 1);
        line = (lines.end - 1).saturating_add(line_feeds(&space[..skipped]));
        let taken = piece.len() + skipped;
        left = left.saturating_sub(quarters(&rest[..taken]));
        at += taken;
    }
}

/// Finds where to end the first piece of a text that is too long; never at its beginning.
fn next_cut(text: &str, goal: usize, by_line: bool) -> usize {
    let (mut size, mut lines) = (0, 0);
    let (mut sentence, mut word) = (0, 0);
    for (at, character) in text.char_indices() {
        size += quarters_of(character);
        if size > LIMIT {
            return [sentence, word, at].into_iter().find(|end| *end > 0).unwrap_or(text.len());
        }
        let after = at + character.len_utf8();
        let rest = &text[after..];
        let end = match character {
            '\n' => {
                lines += 1;
                let blank_follows = rest.starts_with('\n') || rest.starts_with("\r\n");
                if (blank_follows && size >= goal / 2) || (by_line && lines >= LINES) {
                    return after;
                }
                Some(after)
            }
            '.' | '!' | '?' | '…' if !by_line => {
                let end = after + closers(rest);
                let next = text[end..].chars().next();
                next.is_none_or(char::is_whitespace).then_some(end)
            }
            '。' | '！' | '？' if !by_line => Some(after + closers(rest)),
            _ => {
                if character.is_whitespace() {
                    word = after;
                }
                None
            }
        };
        if let Some(end) = end {
            if size >= goal {
                return end;
            }
            // The cut-off piece is not too small.
            if size >= LIMIT / 4 {
                sentence = end;
            }
        }
    }
    text.len()
}

fn closers(text: &str) -> usize {
    let is_closer = |c: &char| "\"')]*_`”’»」』）】".contains(*c);
    text.chars().take(CLOSERS).take_while(is_closer).map(char::len_utf8).sum()
}

/// Whether a text has a letter, a digit, or anything else that can be searched for.
pub(super) fn has_words(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
}

fn line_feeds(text: &str) -> u32 {
    let count = text.bytes().filter(|byte| *byte == b'\n').count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(kind: BlockKind, text: &str) -> Vec<(&str, std::ops::Range<u32>)> {
        let lines = 1..line_feeds(text) + 2;
        let mut blocks = Vec::new();
        put(text, Block { kind, bytes: 0..text.len(), lines, section: 0 }, &mut blocks);
        blocks.into_iter().map(|block| (&text[block.bytes], block.lines)).collect()
    }

    fn texts(kind: BlockKind, text: &str) -> Vec<&str> {
        pieces(kind, text).into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn a_long_paragraph_is_cut_at_the_ends_of_sentences() {
        // 50 bytes a sentence with the space after it: 16 are 200 tokens.
        let sentence = "Version 3.14 of it came out, she said (in May.) ";
        let text = sentence.repeat(20);
        let pieces = texts(BlockKind::Paragraph, text.trim_end());
        assert_eq!(pieces.len(), 2);
        assert!(
            pieces.iter().all(|piece| piece.starts_with("Version") && piece.ends_with("May.)"))
        );
        let text = "会议决定推迟到下个月。".repeat(40);
        let pieces = texts(BlockKind::Paragraph, &text);
        assert!(pieces.len() > 1 && pieces.iter().all(|piece| piece.ends_with('。')));
        assert_eq!(pieces.concat(), text);
    }

    #[test]
    fn a_monster_is_cut_between_words_or_anywhere() {
        let text = "word ".repeat(1000);
        let pieces = texts(BlockKind::Paragraph, &text);
        assert!(pieces.iter().all(|piece| piece.starts_with("word") && piece.ends_with("word")));
        assert_eq!(pieces.join(" "), text.trim_end());
        let text = "🦀é".repeat(1000);
        let pieces = texts(BlockKind::Turn, &text);
        assert_eq!(pieces.concat(), text);
        assert!(pieces.iter().all(|piece| quarters(piece) <= LIMIT));
    }

    #[test]
    fn a_fence_is_cut_at_blank_lines_or_after_forty() {
        let function = format!("fn a() {{\n{}}}\n", "    step(1).with(2);\n".repeat(20));
        let text = [function.as_str(); 4].join("\n");
        let found = pieces(BlockKind::Fence, text.trim_end());
        assert!(found.iter().all(|(text, _)| text.starts_with("fn a()") && text.ends_with('}')));
        assert_eq!(found[0].1, 1..23);
        let text = "x\n".repeat(100);
        let found = pieces(BlockKind::Fence, text.trim_end());
        assert!(found.iter().all(|(_, lines)| lines.len() <= 40), "{found:?}");
        assert_eq!(found.iter().map(|(_, lines)| lines.len()).sum::<usize>(), 100);
    }

    #[test]
    fn pieces_know_their_lines() {
        let line = "It was a long day, and nothing came of it in the end.";
        let text = [line; 40].join("\r\n");
        let found = pieces(BlockKind::Paragraph, &text);
        let mut next = 1;
        for (piece, lines) in found {
            assert_eq!(lines.start, next);
            assert_eq!(piece.lines().count(), lines.len());
            next = lines.end;
        }
        assert_eq!(next, 41);
    }

    #[test]
    fn where_there_is_nothing_to_find_there_is_no_block() {
        assert!(pieces(BlockKind::Paragraph, "-- ** --").is_empty());
        assert!(pieces(BlockKind::Fence, &"=\n".repeat(5000)).is_empty());
        let text = format!("a{}b", " ".repeat(100_000));
        assert_eq!(texts(BlockKind::Paragraph, &text), ["a", "b"]);
    }
}
