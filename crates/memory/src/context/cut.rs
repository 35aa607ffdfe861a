//! How runtimes shorten a file that is too long for a prompt.
//!
//! Lengths are counted as the runtimes count them: in UTF-16 units of what remains without
//! whitespace at the end, or in characters. Half a character is never kept, where a runtime may
//! leave half of one.

use super::digest;

/// How a runtime shortens a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cutting {
    /// 70 % of the limit from the beginning, 20 % from the end, the marker between them on top.
    Shares,
    /// 75 % and 25 % of what the marker leaves; `AGENTS.md` keeps its rules as well.
    Fitted,
    /// The beginning.
    Beginning,
}

/// What became of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) text: String,
    /// How long the text was.
    pub(super) total: usize,
    /// How much of its beginning is left, where it was cut.
    pub(super) head: Option<usize>,
    /// How much of its end.
    pub(super) tail: usize,
}

impl Cutting {
    pub(super) fn cut(self, text: &str, name: &str, limit: usize) -> Kept {
        let text = if self == Self::Beginning { text.trim() } else { trimmed(text) };
        let total = self.length(text);
        if total <= limit {
            return Kept { text: text.to_owned(), total, head: None, tail: 0 };
        }
        match self {
            Self::Shares => by_shares(text, name, limit, total),
            Self::Fitted if name.eq_ignore_ascii_case("AGENTS.md") => {
                digest::with_rules(text, limit, total)
            }
            Self::Fitted => fitted(text, name, limit, total),
            Self::Beginning => {
                let end = text.char_indices().nth(limit).map_or(text.len(), |(at, _)| at);
                let note = format!(
                    "\n\n[... truncated at {limit} chars \u{2014} use `read` for full file]"
                );
                let text = format!("{}{note}", &text[..end]);
                Kept { text, total, head: Some(limit), tail: 0 }
            }
        }
    }

    /// Counts a text as a runtime does that shortens files in this way.
    pub(super) fn length(self, text: &str) -> usize {
        if self == Self::Beginning { text.chars().count() } else { length(text) }
    }
}

/// Counts UTF-16 units.
pub(super) fn length(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Returns a text without whitespace at its end, as JavaScript defines whitespace.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_end_matches(|c: char| (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}')
}

/// Returns the first units, without half a character.
pub(super) fn first(text: &str, units: usize) -> &str {
    let mut left = units;
    for (at, c) in text.char_indices() {
        match left.checked_sub(c.len_utf16()) {
            Some(rest) => left = rest,
            None => return &text[..at],
        }
    }
    text
}

/// Returns the last units, without half a character.
pub(super) fn last(text: &str, units: usize) -> &str {
    let mut left = units;
    for (at, c) in text.char_indices().rev() {
        match left.checked_sub(c.len_utf16()) {
            Some(rest) => left = rest,
            None => return &text[at + c.len_utf8()..],
        }
    }
    text
}

/// Shortens a text to a budget, with a mark at its end.
pub(super) fn clamped(text: &str, budget: usize) -> String {
    if length(text) <= budget {
        return text.to_owned();
    }
    if budget <= 3 {
        return first(text, budget).to_owned();
    }
    format!("{}\u{2026}", first(text, budget - 1))
}

/// Returns a share of a number, rounded down as a program that counts in doubles does.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "limits are far below 2^52"
)]
pub(super) fn share(limit: usize, ratio: f64) -> usize {
    (limit as f64 * ratio).floor() as usize
}

/// Writes the marker between beginning and end.
fn marker(name: &str, head: usize, tail: usize, total: usize) -> String {
    format!(
        "\n[...truncated, read {name} for full content...]\n\
         \u{2026}(truncated {name}: kept {head}+{tail} chars of {total})\u{2026}\n"
    )
}

fn by_shares(text: &str, name: &str, limit: usize, total: usize) -> Kept {
    let (head, tail) = (share(limit, 0.7), share(limit, 0.2));
    // In the original rules a tail of length 0 means the whole text.
    let end = if tail == 0 { text } else { last(text, tail) };
    let marker = marker(name, head, tail, total);
    let text = format!("{}\n{marker}\n{end}", first(text, head));
    Kept { text, total, head: Some(head), tail }
}

/// Cuts so that the result with its marker is within the limit.
fn fitted(text: &str, name: &str, limit: usize, total: usize) -> Kept {
    // Less than this beside the marker is not worth it: a short marker is used.
    const LEAST: usize = 16;
    let is_roomy = length(&marker(name, 0, 0, total)) + 2 + LEAST <= limit;
    let short = |head, tail| format!("[\u{2026}truncated {head}+{tail}/{total}]");
    let marked =
        |head, tail| if is_roomy { marker(name, head, tail, total) } else { short(head, tail) };
    let breaks = |head: usize, tail: usize| {
        if is_roomy { usize::from(head > 0) + usize::from(tail > 0) } else { 0 }
    };
    let whole = |head, tail| head + tail + length(&marked(head, tail)) + breaks(head, tail);
    let (mut head, mut tail) = (0, 0);
    // The marker's length depends on the numbers in it.
    for _ in 0..3 {
        let room = limit.saturating_sub(length(&marked(head, tail)) + breaks(head, tail));
        let next = (share(room, 0.75), share(room, 0.25));
        let same_length = length(&marked(next.0, next.1)) == length(&marked(head, tail));
        if next == (head, tail) && same_length {
            break;
        }
        (head, tail) = next;
    }
    while whole(head, tail) > limit && (head > 0 || tail > 0) {
        let over = whole(head, tail) - limit;
        if tail > 0 {
            tail = tail.saturating_sub(over);
        } else {
            head = head.saturating_sub(over);
        }
    }
    if head == 0 && tail == 0 && whole(1, 0) <= limit {
        head = 1;
    }
    let parts = [first(text, head).to_owned(), marked(head, tail), last(text, tail).to_owned()];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let text = parts.join(if is_roomy { "\n" } else { "" });
    Kept { text: first(&text, limit).to_owned(), total, head: Some(head), tail }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_file_in_march_keeps_70_and_20_percent_around_the_marker() {
        let text = format!("{}{}", "a".repeat(90), "z".repeat(20));
        let kept = Cutting::Shares.cut(&text, "MEMORY.md", 100);
        let expected = format!(
            "{}\n\n[...truncated, read MEMORY.md for full content...]\n\
             \u{2026}(truncated MEMORY.md: kept 70+20 chars of 110)\u{2026}\n\n{}",
            "a".repeat(70),
            "z".repeat(20)
        );
        assert_eq!(kept.text, expected);
    }

    #[test]
    fn a_file_in_september_is_within_its_limit_with_its_marker() {
        let text = "x".repeat(30_000);
        let kept = Cutting::Fitted.cut(&text, "MEMORY.md", 20_000);
        assert_eq!(length(&kept.text), 20_000 - 1);
        let marker = "\n\n[...truncated, read MEMORY.md for full content...]\n\
                      \u{2026}(truncated MEMORY.md: kept 14917+4972 chars of 30000)\u{2026}\n\n";
        assert!(kept.text.contains(marker), "{}", &kept.text[14_900..15_050]);
        assert_eq!(kept.text, format!("{}{marker}{}", "x".repeat(14_917), "x".repeat(4_972)));
    }

    #[test]
    fn blanks_at_the_end_do_not_count_and_surrogates_count_twice() {
        let kept = Cutting::Fitted.cut("abc \n\u{feff}\n", "USER.md", 3);
        assert_eq!((kept.text.as_str(), kept.head), ("abc", None));
        assert_eq!(length("a\u{1f9e0}"), 3);
        assert_eq!(first("a\u{1f9e0}b", 2), "a");
        assert_eq!(last("a\u{1f9e0}b", 2), "b");
    }

    #[test]
    fn zeroclaw_keeps_the_beginning() {
        let kept = Cutting::Beginning.cut(" \u{e9}\u{e9}\u{e9}\u{e9}", "SOUL.md", 3);
        let note = "\n\n[... truncated at 3 chars \u{2014} use `read` for full file]";
        assert_eq!(kept.text, format!("\u{e9}\u{e9}\u{e9}{note}"));
    }

    proptest! {
        #[test]
        fn september_is_never_over_its_limit(text in "\\PC{0,400}", limit in 1_usize..300) {
            for name in ["AGENTS.md", "MEMORY.md"] {
                let kept = Cutting::Fitted.cut(&text, name, limit);
                prop_assert!(length(&kept.text) <= limit);
            }
        }
    }
}
