//! How many texts go into a request, and how much of a text.

use std::collections::VecDeque;
use std::ops::Range;

/// Estimates the tokens of a text without a tokenizer: a quarter of its letters, and one for each
/// character of a script that is written without spaces.
///
/// Good enough for batches and for an idea of the cost; code and numbers may be twice as many.
#[must_use]
pub fn estimate_tokens(text: &str) -> usize {
    quarters(text).div_ceil(4)
}

/// Four for each whole token.
fn quarters(text: &str) -> usize {
    text.chars().map(weight).sum()
}

fn weight(character: char) -> usize {
    match character {
        // Kana, Han with its extensions, Hangul, full-width forms, emoji.
        '\u{2e80}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ffef}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3ffff}' => 4,
        _ => 1,
    }
}

/// Returns the beginning of a text that is estimated at that many tokens.
pub(super) fn cut(text: &str, tokens: usize) -> &str {
    // No character is more than a token, or less than a byte.
    if text.len() <= tokens {
        return text;
    }
    let mut left = tokens.saturating_mul(4);
    for (at, character) in text.char_indices() {
        let Some(rest) = left.checked_sub(weight(character)) else {
            return &text[..at];
        };
        left = rest;
    }
    text
}

/// Groups consecutive texts, as many as fit.
pub(super) fn plan(
    texts: &[&str],
    most_texts: usize,
    most_tokens: usize,
) -> VecDeque<Range<usize>> {
    let mut batches = VecDeque::new();
    let (mut start, mut tokens) = (0, 0);
    for (at, text) in texts.iter().enumerate() {
        let more = estimate_tokens(text);
        let full = at - start == most_texts || tokens + more > most_tokens;
        if full && at > start {
            batches.push_back(start..at);
            (start, tokens) = (at, 0);
        }
        tokens += more;
    }
    if start < texts.len() {
        batches.push_back(start..texts.len());
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_estimated_by_script() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("abc"), 1);
        assert_eq!(estimate_tokens(&"abcd".repeat(100)), 100);
        assert_eq!(estimate_tokens("\u{8a18}\u{61b6}"), 2);
        assert_eq!(estimate_tokens("\u{d55c}\u{ad6d}\u{c5b4}"), 3);
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("abcdefgh", 1), "abcd");
        assert_eq!(cut("abc", 1), "abc");
        assert_eq!(cut("\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}", 1), "\u{e9}\u{e9}\u{e9}\u{e9}");
        assert_eq!(cut("\u{8a18}\u{61b6}\u{8a18}", 2), "\u{8a18}\u{61b6}");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn batches_are_full_and_cover_every_text_once() {
        let texts = ["aaaa", "bbbb", "cccc", "dddddddddddd", "eeee"];
        assert_eq!(plan(&texts, 2, 100), [0..2, 2..4, 4..5]);
        assert_eq!(plan(&texts, 100, 2), [0..2, 2..3, 3..4, 4..5]);
        assert_eq!(plan(&texts, 100, 6), [0..4, 4..5]);
        assert_eq!(plan(&texts, 100, 100).len(), 1);
        assert_eq!(plan(&texts, 1, 0), [0..1, 1..2, 2..3, 3..4, 4..5]);
        assert!(plan(&[], 2, 2).is_empty());
    }
}
