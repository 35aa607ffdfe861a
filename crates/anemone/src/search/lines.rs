//! Which lines of a document are meant: `:8`, `:8:5`, `#L8`, `#L8-L12`.

/// Lines of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineRange {
    /// The first, from 1.
    pub from: Option<usize>,
    /// How many.
    pub lines: Option<usize>,
}

/// Splits the line range off the end of a path; `None` without a line range.
#[must_use]
pub fn split(text: &str) -> Option<(&str, LineRange)> {
    split_citation(text).or_else(|| split_numbers(text)).filter(|(path, _)| !path.is_empty())
}

/// Returns the candidates for the path if its ending is not a valid line range, the longest first.
pub(super) fn without_end(text: &str) -> impl Iterator<Item = &str> {
    let before = |end: &str| text.rsplit_once(end).map(|once| once.0);
    let shorter = before(":").and_then(|value| value.rsplit_once(':')).map(|value| value.0);
    [before("#L"), before(":"), shorter].into_iter().flatten().filter(|value| !value.is_empty())
}

fn split_citation(text: &str) -> Option<(&str, LineRange)> {
    let (path, lines) = text.rsplit_once("#L")?;
    let (first, last) = match lines.split_once('-') {
        // Some tools leave out the second letter.
        Some((first, last)) => (first, last.strip_prefix('L').unwrap_or(last)),
        None => (lines, lines),
    };
    let (first, last) = (number(first)?, number(last)?);
    let lines = last.checked_sub(first)?.checked_add(1)?;
    Some((path, LineRange { from: Some(first), lines: Some(lines) }))
}

fn split_numbers(text: &str) -> Option<(&str, LineRange)> {
    let (before, last) = text.rsplit_once(':')?;
    let last = number(last)?;
    if let Some((path, first)) = before.rsplit_once(':')
        && let Some(first) = number(first)
    {
        return Some((path, LineRange { from: Some(first), lines: Some(last) }));
    }
    Some((before, LineRange { from: Some(last), lines: None }))
}

/// A line, or a count of them: from 1, and no larger than a text can be.
fn number(text: &str) -> Option<usize> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|parsed: &u32| is_plain && *parsed > 0)?;
    usize::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(from: usize, lines: Option<usize>) -> LineRange {
        LineRange { from: Some(from), lines }
    }

    #[test]
    fn lines_are_taken_off_the_end_of_a_path() {
        let cases = [
            ("a.md:8", "a.md", lines(8, None)),
            ("a.md:8:5", "a.md", lines(8, Some(5))),
            ("a.md#L8", "a.md", lines(8, Some(1))),
            ("a.md#L8-L12", "a.md", lines(8, Some(5))),
            ("a.md#L8-12", "a.md", lines(8, Some(5))),
            ("memories/a:b:3", "memories/a:b", lines(3, None)),
            ("memories/a:1:2:3", "memories/a:1", lines(2, Some(3))),
            ("a#L1.md#L2", "a#L1.md", lines(2, Some(1))),
        ];
        for (text, path, place) in cases {
            assert_eq!(split(text), Some((path, place)), "{text}");
        }
    }

    #[test]
    fn what_names_no_lines_is_all_path() {
        let odd = [
            "",
            "a.md",
            "a.md:",
            "a.md:0",
            "a.md:x",
            "a.md:-1",
            "a.md:+1",
            "a.md#L",
            "a.md#L0",
            "a.md#L9-L8",
            "a.md#8",
            ":8",
            "#L8",
            "a.md:99999999999999999999",
        ];
        for text in odd {
            assert_eq!(split(text), None, "{text}");
        }
    }
}
