//! Positions of the values in JSON and JSON5: a tree without the values themselves.
//!
//! The scanner is tolerant about values, which the JSON5 parser checks, and strict about everything
//! that decides where one value ends and the next begins.

use std::ops::Range;

/// Deeper than any configuration, and shallow enough for the stack.
const MAX_DEPTH: usize = 96;

/// A value and its position.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: NodeKind,
}

#[derive(Clone, Debug)]
pub(super) enum NodeKind {
    Object(Vec<Item>),
    Array(Vec<Item>),
    Scalar,
}

/// A member of an object, or an element of an array.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The name of a member, decoded.
    pub(super) key: Option<String>,
    /// Where the member begins: its name, or the value of an element.
    pub(super) start: usize,
    pub(super) value: Node,
    /// The position of the comma behind it.
    pub(super) comma: Option<usize>,
}

/// Where a text stops being JSON5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScanError {
    pub(super) at: usize,
    pub(super) expected: &'static str,
}

impl Node {
    pub(super) fn items(&self) -> Option<&[Item]> {
        match &self.kind {
            NodeKind::Object(items) | NodeKind::Array(items) => Some(items),
            NodeKind::Scalar => None,
        }
    }

    /// Returns the member of an object; the last one of that name, as parsers do.
    pub(super) fn member(&self, key: &str) -> Option<&Item> {
        match &self.kind {
            NodeKind::Object(items) => {
                items.iter().rev().find(|item| item.key.as_deref() == Some(key))
            }
            NodeKind::Array(_) | NodeKind::Scalar => None,
        }
    }
}

/// Finds the positions of all values.
pub(super) fn scan(text: &str) -> Result<Node, ScanError> {
    let mut scanner = Scanner { text, at: 0 };
    scanner.skip()?;
    let root = scanner.value(0)?;
    scanner.skip()?;
    if scanner.at < text.len() {
        return Err(scanner.stop("the end of the file"));
    }
    Ok(root)
}

/// Skips whitespace and comments from a position on, but no line break.
pub(super) fn end_of_line(text: &str, at: usize) -> usize {
    let mut scanner = Scanner { text, at };
    loop {
        let rest = scanner.rest();
        if rest.starts_with(['\n', '\r']) {
            return scanner.at;
        }
        if rest.starts_with("/*") {
            let before = scanner.at;
            let whole = scanner.comment();
            // A comment of several lines belongs to what comes after it.
            if whole.is_err() || text[before..scanner.at].contains('\n') {
                return before;
            }
        } else if rest.starts_with("//") {
            scanner.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
            return scanner.at;
        } else {
            match rest.chars().next().filter(|c| is_space(*c)) {
                Some(c) => scanner.at += c.len_utf8(),
                None => return at,
            }
        }
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn stop(&self, expected: &'static str) -> ScanError {
        ScanError { at: self.at, expected }
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Skips whitespace and comments.
    fn skip(&mut self) -> Result<(), ScanError> {
        while let Some(c) = self.peek() {
            if is_space(c) {
                self.at += c.len_utf8();
            } else if c == '/' {
                self.comment()?;
            } else {
                break;
            }
        }
        Ok(())
    }

    fn comment(&mut self) -> Result<(), ScanError> {
        let rest = self.rest();
        let length = if rest.starts_with("//") {
            let is_break = |c| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}');
            Some(rest.find(is_break).unwrap_or(rest.len()))
        } else if let Some(inner) = rest.strip_prefix("/*") {
            inner.find("*/").map(|at| at + 4)
        } else {
            return Err(self.stop("a value or a comment"));
        };
        self.at += length.ok_or_else(|| self.stop("*/ at the end of this comment"))?;
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Node, ScanError> {
        if depth > MAX_DEPTH {
            return Err(self.stop("fewer levels of brackets"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some('{') => NodeKind::Object(self.items('}', depth)?),
            Some('[') => NodeKind::Array(self.items(']', depth)?),
            Some('"' | '\'') => {
                self.string()?;
                NodeKind::Scalar
            }
            _ => {
                self.word("a value")?;
                NodeKind::Scalar
            }
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn items(&mut self, close: char, depth: usize) -> Result<Vec<Item>, ScanError> {
        self.at += 1;
        let mut items: Vec<Item> = Vec::new();
        loop {
            self.skip()?;
            if self.peek() == Some(close) {
                self.at += 1;
                return Ok(items);
            }
            if items.last().is_some_and(|last| last.comma.is_none()) {
                return Err(self.stop(if close == '}' { "a comma or }" } else { "a comma or ]" }));
            }
            let start = self.at;
            let key = if close == '}' { Some(self.key()?) } else { None };
            let value = self.value(depth + 1)?;
            self.skip()?;
            let comma = (self.peek() == Some(',')).then_some(self.at);
            self.at += usize::from(comma.is_some());
            items.push(Item { key, start, value, comma });
        }
    }

    /// Reads the name of a member, and the colon behind it.
    fn key(&mut self) -> Result<String, ScanError> {
        let start = self.at;
        let key = if matches!(self.peek(), Some('"' | '\'')) {
            self.string()?;
            json5::from_str(&self.text[start..self.at])
                .map_err(|_| ScanError { at: start, expected: "a name in quotes" })?
        } else {
            self.word("a name or }")?;
            self.text[start..self.at].to_owned()
        };
        self.skip()?;
        if self.peek() != Some(':') {
            return Err(self.stop("a colon"));
        }
        self.at += 1;
        self.skip()?;
        Ok(key)
    }

    fn string(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        let mut chars = self.rest().char_indices();
        let Some((_, quote)) = chars.next() else { return Err(self.stop("a text")) };
        while let Some((offset, c)) = chars.next() {
            match c {
                '\\' => {
                    chars.next();
                }
                '\n' | '\r' => {
                    self.at = start + offset;
                    return Err(self.stop("a quote at the end of this text"));
                }
                c if c == quote => {
                    self.at = start + offset + c.len_utf8();
                    return Ok(());
                }
                _ => {}
            }
        }
        Err(self.stop("a quote at the end of this text"))
    }

    /// Skips a number, a name, `true` and the like.
    fn word(&mut self, expected: &'static str) -> Result<(), ScanError> {
        let is_end = |c: char| {
            is_space(c) || matches!(c, ',' | ':' | '{' | '}' | '[' | ']' | '/' | '"' | '\'')
        };
        let rest = self.rest();
        let length = rest.find(is_end).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.stop(expected));
        }
        self.at += length;
        Ok(())
    }
}

/// What JSON5 takes for whitespace.
fn is_space(c: char) -> bool {
    c == '\u{feff}' || c.is_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_json5_has_is_found_where_it_stands() {
        let text = "// c\n{ a: 1, 'b\\u0062': [ 1, 'x,]', /* , */ +Infinity, ], \"c\": {}, }\n";
        let root = scan(text).unwrap();
        let items = root.items().unwrap();
        let keys: Vec<_> = items.iter().map(|item| item.key.as_deref().unwrap()).collect();
        assert_eq!(keys, ["a", "bb", "c"]);
        assert_eq!(items[1].value.items().unwrap().len(), 3);
        assert!(items[2].comma.is_some());
        assert_eq!(&text[items[2].value.span.clone()], "{}");
        assert_eq!(&text[root.member("bb").unwrap().start..][..4], "'b\\u");
    }

    #[test]
    fn the_place_where_it_stops_is_named() {
        for (text, at, expected) in [
            ("", 0, "a value"),
            ("{", 1, "a name or }"),
            ("{\"a\" 1}", 5, "a colon"),
            ("{\"a\": 1 \"b\": 2}", 8, "a comma or }"),
            ("[1 2]", 3, "a comma or ]"),
            ("{\"a\": \"x\n\"}", 8, "a quote at the end of this text"),
            ("{} x", 3, "the end of the file"),
            ("{ /* }", 2, "*/ at the end of this comment"),
            ("{,}", 1, "a name or }"),
        ] {
            assert_eq!(scan(text).unwrap_err(), ScanError { at, expected }, "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        assert_eq!(scan(&"[".repeat(1 << 20)).unwrap_err().expected, "fewer levels of brackets");
        let deep = format!("{}{}", "[".repeat(90), "]".repeat(90));
        assert!(scan(&deep).is_ok());
    }

    #[test]
    fn a_line_ends_behind_its_comments() {
        let text = "1, /* a */ // b\n2";
        assert_eq!(&text[end_of_line(text, 2)..], "\n2");
        let text = "1, /* a\n b */ 2";
        assert_eq!(end_of_line(text, 2), 3);
        let text = "1, 2";
        assert_eq!(end_of_line(text, 2), 2);
    }
}
