//! A range of lines from a text, within limits that an agent can handle.

/// How much is read at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExcerptLimits {
    /// Lines, by default.
    pub lines: usize,
    /// Characters, line breaks included.
    pub chars: usize,
}

impl Default for ExcerptLimits {
    fn default() -> Self {
        Self { lines: 120, chars: 12_000 }
    }
}

/// A range of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The lines, joined as in the text, without the line break after the last one.
    pub text: String,
    /// The first line, from 1.
    pub from: usize,
    /// How many lines.
    pub lines: usize,
    /// Whether the text goes on after this.
    pub truncated: bool,
    /// The next line to continue with, if there is one.
    pub next_from: Option<usize>,
    /// Whether the single line in `text` is longer than the limit of characters, so that only its
    /// beginning is here. A higher limit returns the rest; `next_from` is the line after it.
    pub cut: bool,
    /// The length of that line in characters, when it was cut.
    pub line_chars: Option<usize>,
    /// Lines of the whole text.
    pub total_lines: usize,
}

impl Excerpt {
    /// Takes lines from a text: starting at line `from` (1 is the first, and so is 0), `lines` of
    /// them (at least one), as far as whole lines fit the limit of characters.
    ///
    /// Beyond the end of the text, the excerpt is empty and nothing follows.
    #[must_use]
    pub fn of(
        text: &str,
        from: Option<usize>,
        lines: Option<usize>,
        limits: &ExcerptLimits,
    ) -> Self {
        let from = from.unwrap_or(1).max(1);
        let most = lines.unwrap_or(limits.lines).max(1);
        let start = line_start(text, from);
        let mut excerpt = Self {
            text: String::new(),
            from,
            lines: 0,
            truncated: false,
            next_from: None,
            cut: false,
            line_chars: None,
            total_lines: text.split_inclusive('\n').count(),
        };
        let rest = &text[start..];
        // The end of what is taken, without and with its line break.
        let (mut end, mut after) = (0, 0);
        let mut left = limits.chars.max(1);
        for line in rest.split_inclusive('\n').take(most) {
            let bare = without_break(line);
            // The line break before it counts too.
            let needed = rest[end..after].chars().count() + bare.chars().count();
            if needed > left {
                break;
            }
            left -= needed;
            end = after + bare.len();
            after += line.len();
            excerpt.lines += 1;
        }
        if let Some(first) = rest.split_inclusive('\n').next()
            && excerpt.lines == 0
        {
            let first_line = without_break(first);
            excerpt.line_chars = Some(first_line.chars().count());
            end = first_line.char_indices().nth(left).map_or(0, |(at, _)| at);
            after = first.len();
            excerpt.lines = 1;
            excerpt.cut = true;
        }
        excerpt.text = rest[..end].to_owned();
        if after < rest.len() {
            excerpt.next_from = Some(from.saturating_add(excerpt.lines));
        }
        excerpt.truncated = excerpt.cut || excerpt.next_from.is_some();
        excerpt
    }
}

/// Returns where a line begins; the end of the text when it has no such line.
fn line_start(text: &str, line: usize) -> usize {
    match line.checked_sub(2) {
        None => 0,
        Some(breaks) => text.match_indices('\n').nth(breaks).map_or(text.len(), |(at, _)| at + 1),
    }
}

fn without_break(line: &str) -> &str {
    match line.strip_suffix('\n') {
        Some(bare) => bare.strip_suffix('\r').unwrap_or(bare),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limits(lines: usize, chars: usize) -> ExcerptLimits {
        ExcerptLimits { lines, chars }
    }

    /// Text, lines, truncated, where to go on.
    fn taken(
        text: &str,
        from: usize,
        lines: usize,
        chars: usize,
    ) -> (String, usize, bool, Option<usize>) {
        let excerpt = Excerpt::of(text, Some(from), Some(lines), &limits(120, chars));
        (excerpt.text, excerpt.lines, excerpt.truncated, excerpt.next_from)
    }

    #[test]
    fn lines_are_taken_as_they_stand() {
        let text = "one\ntwo\r\nthree\n";
        for (from, lines, expected) in [
            (1, 1, ("one", 1, true, Some(2))),
            (0, 1, ("one", 1, true, Some(2))),
            (1, 0, ("one", 1, true, Some(2))),
            (1, 2, ("one\ntwo", 2, true, Some(3))),
            (2, 2, ("two\r\nthree", 2, false, None)),
            (2, 99, ("two\r\nthree", 2, false, None)),
            (3, 1, ("three", 1, false, None)),
            (4, 1, ("", 0, false, None)),
            (usize::MAX, usize::MAX, ("", 0, false, None)),
        ] {
            let expected = (expected.0.to_owned(), expected.1, expected.2, expected.3);
            assert_eq!(taken(text, from, lines, 12_000), expected, "{from}:{lines}");
        }
        assert_eq!(taken("", 1, 1, 10), (String::new(), 0, false, None));
        assert_eq!(taken("\n\n", 1, 1, 10), (String::new(), 1, true, Some(2)));
        assert_eq!(taken("a\rb", 1, 1, 10), ("a\rb".to_owned(), 1, false, None));
    }

    #[test]
    fn without_a_number_120_lines_and_12000_characters_are_taken() {
        let many: String = (1..=150).map(|line| format!("line {line}\n")).collect();
        let excerpt = Excerpt::of(&many, None, None, &ExcerptLimits::default());
        assert_eq!((excerpt.from, excerpt.lines, excerpt.next_from), (1, 120, Some(121)));
        assert!(excerpt.text.ends_with("line 120"));
        let asked = Excerpt::of(&many, None, Some(150), &ExcerptLimits::default());
        assert_eq!((asked.lines, asked.truncated), (150, false));
        // 99 characters and a line break: 120 whole lines are 11,999.
        let wide = format!("{}\n", "é".repeat(99)).repeat(200);
        let excerpt = Excerpt::of(&wide, None, Some(200), &ExcerptLimits::default());
        assert_eq!((excerpt.lines, excerpt.text.chars().count()), (120, 11_999));
        assert_eq!(excerpt.next_from, Some(121));
    }

    #[test]
    fn whole_lines_are_kept_together() {
        assert_eq!(taken("abc\ndef\n", 1, 9, 7), ("abc\ndef".to_owned(), 2, false, None));
        assert_eq!(taken("abc\ndef\n", 1, 9, 6), ("abc".to_owned(), 1, true, Some(2)));
        // The line break of two characters counts as two.
        assert_eq!(taken("abc\r\ndef", 1, 9, 8), ("abc\r\ndef".to_owned(), 2, false, None));
        assert_eq!(taken("abc\r\ndef", 1, 9, 7), ("abc".to_owned(), 1, true, Some(2)));
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_between_characters() {
        let excerpt = Excerpt::of("会議の記録\nmore", None, None, &limits(120, 3));
        assert_eq!(excerpt.text, "会議の");
        assert!(excerpt.cut && excerpt.truncated);
        assert_eq!((excerpt.lines, excerpt.next_from), (1, Some(2)));
        assert_eq!((excerpt.line_chars, excerpt.total_lines), (Some(5), 2));
        let whole = Excerpt::of("会議の記録\nmore", None, Some(1), &limits(120, 5));
        assert_eq!((whole.text.as_str(), whole.line_chars), ("会議の記録", None));
        let last = Excerpt::of("x\nabcdef", Some(2), None, &limits(120, 3));
        assert_eq!((last.text.as_str(), last.truncated, last.next_from), ("abc", true, None));
        assert!(last.cut);
    }

    proptest! {
        #[test]
        fn going_on_reads_every_line_once(
            text in "([a-zé会\r]{0,9}\r?\n){0,12}[a-z]{0,5}",
            lines in 0_usize..5,
            chars in 9_usize..40,
        ) {
            let mut read: Vec<String> = Vec::new();
            let mut from = Some(1);
            while let Some(line) = from {
                let excerpt = Excerpt::of(&text, Some(line), Some(lines), &limits(120, chars));
                prop_assert!(!excerpt.cut, "no line has more than nine characters");
                prop_assert!(excerpt.text.chars().count() <= chars);
                prop_assert_eq!(excerpt.truncated, excerpt.cut || excerpt.next_from.is_some());
                if excerpt.lines > 0 {
                    read.push(excerpt.text);
                }
                prop_assert!(excerpt.next_from.is_none_or(|next| next > line));
                from = excerpt.next_from;
            }
            let again = read.iter().flat_map(|text| text.split('\n')).count();
            prop_assert_eq!(again, text.lines().count());
        }
    }
}
