//! Text as JavaScript sees it: lengths in UTF-16, its own white space, its own order of names.

use std::cmp::Ordering;
use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization as _;

/// Words of a query or a text.
static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[\p{L}\p{N}_]+").expect("a fixed pattern"));
/// Words of a path: separate combining accents belong to them.
static MARKED_WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[\p{L}\p{M}\p{N}_]+").expect("a fixed pattern"));

/// Printable ASCII below letters, in the order of the root collation.
const SIGNS: &str = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789";

/// Whether JavaScript treats it as whitespace.
pub(super) fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// The text without white space at its ends.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// How long a text is in UTF-16.
pub(super) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The beginning of a text, at most so many units of UTF-16; a character is not cut.
pub(super) fn prefix(text: &str, limit: usize) -> &str {
    let mut length = 0;
    for (at, c) in text.char_indices() {
        length += c.len_utf16();
        if length > limit {
            return &text[..at];
        }
    }
    text
}

/// The words of a text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    WORD.find_iter(text).map(|found| found.as_str())
}

/// The words of a path.
pub(super) fn marked_words(text: &str) -> impl Iterator<Item = &str> {
    MARKED_WORD.find_iter(text).map(|found| found.as_str())
}

/// Folds letters that differ only in case; every character stays one character.
pub(super) fn folded(text: &str) -> String {
    text.nfc().map(fold).collect()
}

fn fold(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    // The Turkish dotless i and dotted I are not another letter's other case.
    if matches!(c, 'ı' | 'İ') {
        return c;
    }
    let upper = only(c.to_uppercase()).unwrap_or(c);
    only(upper.to_lowercase()).unwrap_or(upper)
}

fn only(mut characters: impl Iterator<Item = char>) -> Option<char> {
    let first = characters.next()?;
    characters.next().is_none().then_some(first)
}

/// The order of names: signs, digits, letters; accents and then case decide among equals, small
/// letters first.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    let base = |text: &str| text.nfd().filter(|c| !is_mark(*c)).map(weight).collect::<Vec<_>>();
    let marks = |text: &str| text.nfd().filter(|c| is_mark(*c)).collect::<Vec<_>>();
    let cases = |text: &str| text.nfd().map(char::is_uppercase).collect::<Vec<_>>();
    base(a)
        .cmp(&base(b))
        .then_with(|| marks(a).cmp(&marks(b)))
        .then_with(|| cases(a).cmp(&cases(b)))
        .then_with(|| a.cmp(b))
}

fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

fn weight(c: char) -> (u8, u32) {
    if is_space(c) {
        return (0, u32::from(c));
    }
    if let Some(place) = SIGNS.find(c) {
        return (1, u32::try_from(place).unwrap_or(u32::MAX));
    }
    (2, u32::from(fold(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_as_people_order_them() {
        // The order that `localeCompare` gives in Node 24.
        let mut names =
            ["b.md", "a/b.md", "A.md", "a.md", "é.md", "e.md", "f.md", "a-b.md", "2.md"];
        names.sort_by(|a, b| compare(a, b));
        assert_eq!(
            names,
            ["2.md", "a-b.md", "a.md", "A.md", "a/b.md", "b.md", "e.md", "é.md", "f.md"]
        );
    }

    #[test]
    fn a_prefix_is_counted_in_utf_16_and_cuts_no_character() {
        assert_eq!(prefix("a🦀b", 2), "a");
        assert_eq!(prefix("a🦀b", 3), "a🦀");
        assert_eq!(prefix("a🦀b", 9), "a🦀b");
        assert_eq!(units("a🦀b"), 4);
    }

    #[test]
    fn letters_fold_as_in_a_pattern_that_ignores_case() {
        assert_eq!(folded("ΣΊΣΥΦΟΣ"), folded("σίσυφος"));
        assert_eq!(folded("CAFE\u{301}"), folded("café"));
        assert_ne!(folded("ı"), folded("I"));
    }
}
