//! Lines, and what a single line can be.

/// A line of a text, without its line break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Where it begins.
    pub start: usize,
    /// Its text.
    pub text: &'a str,
    /// Counted from 1.
    pub number: u32,
}

impl Line<'_> {
    /// Returns where it ends.
    #[must_use]
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// Returns the lines of a text; `\n` ends a line. A byte order mark is in none.
#[must_use]
pub fn lines(text: &str) -> Lines<'_> {
    Lines { text, next: crate::byte_order_mark(text), number: 0 }
}

/// The remaining lines of a text.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
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
        let text = match memchr::memchr(b'\n', rest.as_bytes()) {
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
#[must_use]
pub fn indentation(line: &str) -> (usize, &str) {
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

/// Returns the column that a tab leads to.
fn next_stop(column: usize) -> usize {
    (column / 4 + 1) * 4
}

/// The marker of a list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker<'a> {
    /// The number of a numbered item.
    pub number: Option<u32>,
    /// How many bytes the marker has.
    pub width: usize,
    /// The column where the item's text begins.
    pub column: usize,
    /// The item's text.
    pub content: &'a str,
}

impl<'a> Marker<'a> {
    /// Reads the marker at the beginning of a line that is indented by this many columns.
    #[must_use]
    pub fn read(indent: usize, body: &'a str) -> Option<Self> {
        let bytes = body.as_bytes();
        let (number, width) = match bytes.first()? {
            b'-' | b'*' | b'+' => (None, 1),
            b'0'..=b'9' => {
                let digits = bytes.iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
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
        // Text further to the right is itself indented.
        if content.is_empty() || column - after > 4 {
            column = after + 1;
        }
        Some(Marker { number, width, column, content })
    }
}

/// The line that opens a fence of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// A backtick or a tilde.
    pub mark: u8,
    /// The number of marks; the closing line has at least as many.
    pub length: usize,
}

impl Fence {
    /// Reads the opening line of a fence, without its indentation.
    #[must_use]
    pub fn open(body: &str) -> Option<Self> {
        let mark = *body.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = body.bytes().take_while(|byte| *byte == mark).count();
        let is_code_span = mark == b'`' && body[length..].contains('`');
        (length >= 3 && !is_code_span).then_some(Self { mark, length })
    }

    /// Returns whether a line, without its indentation and line break, closes the fence.
    #[must_use]
    pub fn is_closed_by(&self, body: &str) -> bool {
        body.len() >= self.length && body.bytes().all(|byte| byte == self.mark)
    }

    /// Returns the line that closes it.
    #[must_use]
    pub fn closing_line(&self) -> String {
        char::from(self.mark).to_string().repeat(self.length)
    }
}

/// Reads a heading such as `## Title ##`, without its indentation: its level and its title.
#[must_use]
pub fn atx_heading(body: &str) -> Option<(u8, &str)> {
    let rest = body.trim_start_matches('#');
    let level = u8::try_from(body.len() - rest.len()).ok()?;
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let title = rest.trim();
    let open = title.trim_end_matches('#');
    let closed = open.len() < title.len() && (open.is_empty() || open.ends_with([' ', '\t']));
    Some((level, if closed { open.trim_end() } else { title }))
}

/// Returns the level of the heading that a line of `=` or `-` makes of the lines above it.
pub(crate) fn underline(body: &str) -> Option<u8> {
    let all = |mark| body.bytes().all(|byte| byte == mark);
    if all(b'=') {
        Some(1)
    } else if all(b'-') {
        Some(2)
    } else {
        None
    }
}

/// Returns whether a line, without its indentation, is a thematic break such as `---` or `* * *`.
#[must_use]
pub fn is_thematic_break(body: &str) -> bool {
    let Some(mark @ (b'-' | b'*' | b'_')) = body.bytes().next() else { return false };
    let is_mark = |byte: &u8| *byte == mark;
    body.bytes().all(|byte| is_mark(&byte) || byte == b' ' || byte == b'\t')
        && body.bytes().filter(is_mark).take(3).count() == 3
}

/// Returns whether a line is the delimiter below a table's header: `|---|:-:|`.
#[must_use]
pub fn is_delimiter_row(body: &str) -> bool {
    let (mut bars, mut dashes) = (false, false);
    for byte in body.bytes() {
        match byte {
            b'|' => bars = true,
            b'-' => dashes = true,
            b':' | b' ' | b'\t' => {}
            _ => return false,
        }
    }
    bars && dashes
}

/// Removes the markers of at most this many quotations from a line.
pub(crate) fn unquoted(line: &str, most: usize) -> (usize, &str) {
    let (mut rest, mut count) = (line, 0);
    while count < most {
        let body = rest.trim_start_matches(' ');
        if rest.len() - body.len() > 3 {
            break;
        }
        let Some(inner) = body.strip_prefix('>') else { break };
        rest = inner.strip_prefix(' ').unwrap_or(inner);
        count += 1;
    }
    (count, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_a_line_feed_ends() {
        let read = |text: &'static str| -> Vec<_> {
            lines(text).map(|line| (line.start, line.text, line.number)).collect()
        };
        assert_eq!(read(""), []);
        assert_eq!(read("\n"), [(0, "", 1)]);
        assert_eq!(read("a\r\n\nb\rc"), [(0, "a", 1), (3, "", 2), (4, "b\rc", 3)]);
        assert_eq!(read("\u{feff}a\n"), [(3, "a", 1)]);
        assert_eq!(read("a\r\r\n"), [(0, "a\r", 1)]);
    }

    #[test]
    fn markers_are_read() {
        let read = |body| {
            Marker::read(0, body).map(|marker| (marker.number, marker.column, marker.content))
        };
        assert_eq!(read("- a"), Some((None, 2, "a")));
        assert_eq!(read("*   a"), Some((None, 4, "a")));
        assert_eq!(read("-      a"), Some((None, 2, "a")));
        assert_eq!(read("-\ta"), Some((None, 4, "a")));
        assert_eq!(read("12) a"), Some((Some(12), 4, "a")));
        assert_eq!(read("-"), Some((None, 2, "")));
        assert_eq!(Marker::read(4, "- a").map(|marker| marker.column), Some(6));
        for body in ["", "-a", "1.a", "1", "1234567890. a", "a. b", "**bold**", "—", "#"] {
            assert_eq!(read(body), None, "{body}");
        }
    }
}
