//! Lines, and how they begin.

/// A line of a text, without what ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Where it begins.
    pub(super) start: usize,
    pub(super) text: &'a str,
    /// Counted from 1.
    pub(super) number: u32,
}

impl Line<'_> {
    /// Where it ends.
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// Returns the lines of a text; a line is what `\n` ends. A byte order mark is in none.
pub(super) fn lines(text: &str) -> Lines<'_> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    Lines { text, next: start, number: 0 }
}

/// The lines of a text that are left.
#[derive(Clone)]
pub(super) struct Lines<'a> {
    text: &'a str,
    next: usize,
    number: u32,
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let start = self.next;
        let rest = &self.text[start..];
        if rest.is_empty() {
            return None;
        }
        let text = match rest.find('\n') {
            Some(at) => {
                self.next = start + at + 1;
                &rest[..at]
            }
            None => {
                self.next = self.text.len();
                rest
            }
        };
        self.number = self.number.saturating_add(1);
        let text = text.strip_suffix('\r').unwrap_or(text);
        Some(Line { start, text, number: self.number })
    }
}

/// Returns by how many columns a line is indented, and the rest of it.
pub(super) fn indentation(line: &str) -> (usize, &str) {
    let mut columns = 0;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns = next_stop(columns),
            _ => return (columns, &line[at..]),
        }
    }
    (columns, "")
}

/// Where a tab leads.
fn next_stop(column: usize) -> usize {
    (column / 4 + 1) * 4
}

/// What makes a line a list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marker<'a> {
    /// The number of a numbered item.
    pub(super) number: Option<u32>,
    /// The column where the item's text begins.
    pub(super) column: usize,
    /// The item's text.
    pub(super) content: &'a str,
}

/// Reads the marker at the beginning of a line that is indented by so many columns.
pub(super) fn marker(indent: usize, body: &str) -> Option<Marker<'_>> {
    let bytes = body.as_bytes();
    let (number, width) = match bytes.first()? {
        b'-' | b'*' | b'+' => (None, 1),
        b'0'..=b'9' => {
            let digits = bytes.iter().take(10).take_while(|it| it.is_ascii_digit()).count();
            if digits > 9 || !matches!(bytes.get(digits), Some(b'.' | b')')) {
                return None;
            }
            (Some(body[..digits].parse().ok()?), digits + 1)
        }
        _ => return None,
    };
    let rest = &body[width..];
    if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
        return None;
    }
    let after = indent + width;
    let mut column = after;
    let content = rest.trim_start_matches([' ', '\t']);
    for byte in rest[..rest.len() - content.len()].bytes() {
        column = if byte == b'\t' { next_stop(column) } else { column + 1 };
    }
    // What stands further in is text that is itself indented.
    if content.is_empty() || column - after > 4 {
        column = after + 1;
    }
    Some(Marker { number, column, content })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_a_line_feed_ends() {
        let read = |text: &'static str| -> Vec<_> {
            lines(text).map(|it| (it.start, it.text, it.number)).collect()
        };
        assert_eq!(read(""), []);
        assert_eq!(read("\n"), [(0, "", 1)]);
        assert_eq!(read("a\r\n\nb\rc"), [(0, "a", 1), (3, "", 2), (4, "b\rc", 3)]);
        assert_eq!(read("\u{feff}a\n"), [(3, "a", 1)]);
        assert_eq!(read("a\r\r\n"), [(0, "a\r", 1)]);
    }

    #[test]
    fn markers_are_read() {
        let read = |body| marker(0, body).map(|it| (it.number, it.column, it.content));
        assert_eq!(read("- a"), Some((None, 2, "a")));
        assert_eq!(read("*   a"), Some((None, 4, "a")));
        assert_eq!(read("-      a"), Some((None, 2, "a")));
        assert_eq!(read("-\ta"), Some((None, 4, "a")));
        assert_eq!(read("12) a"), Some((Some(12), 4, "a")));
        assert_eq!(read("-"), Some((None, 2, "")));
        assert_eq!(marker(4, "- a").map(|it| it.column), Some(6));
        for body in ["", "-a", "1.a", "1", "1234567890. a", "a. b", "**bold**", "—", "#"] {
            assert_eq!(read(body), None, "{body}");
        }
    }
}
