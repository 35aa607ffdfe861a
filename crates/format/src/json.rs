//! Untrusted JSON: bounded in size and depth before it is parsed.

use std::io::{self, BufRead, Read};

use serde::de::DeserializeOwned;

/// The deepest nesting that is read. It is serde_json's own limit, which serde_json does not apply
/// when it skips unknown values.
const MAX_DEPTH: usize = 128;

/// The most values in one text; a value takes many times the two bytes that its text may have. The
/// manifest of an archive with the maximum number of entries has half of this.
const MAX_VALUES: usize = 2_000_000;

/// Why a document or a line could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadJsonError {
    /// Reading failed, or the content differs from its description in the archive.
    #[error("cannot read the content")]
    Io(#[source] io::Error),
    /// Longer than the limits allow.
    #[error("longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: u64,
    },
    /// Nested too deeply.
    #[error("nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    /// Too many values.
    #[error("more than {MAX_VALUES} values")]
    TooMany,
    /// Not JSON, or not of the right shape.
    #[error("not the JSON that is expected here")]
    Json(#[source] serde_json::Error),
}

/// Returns an error with its causes on one line.
#[must_use]
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// Parses a whole text.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ReadJsonError> {
    check_depth(bytes)?;
    serde_json::from_slice(bytes).map_err(ReadJsonError::Json)
}

/// Reads a whole document of bounded size.
pub fn read_all(reader: &mut dyn Read, limit: u64) -> Result<Vec<u8>, ReadJsonError> {
    let mut bytes = Vec::new();
    reader.take(limit + 1).read_to_end(&mut bytes).map_err(ReadJsonError::Io)?;
    if bytes.len() as u64 > limit {
        return Err(ReadJsonError::TooLong { limit });
    }
    Ok(bytes)
}

/// Rejects text that is nested too deeply or has too many values, without parsing it; returns about
/// how many values it has.
pub fn check_depth(bytes: &[u8]) -> Result<usize, ReadJsonError> {
    let mut depth = 0_usize;
    let mut values = 0_usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b',' => values += 1,
            b'{' | b'[' => {
                values += 1;
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(ReadJsonError::TooDeep);
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => at = end_of_string(bytes, at),
            _ => {}
        }
    }
    if values > MAX_VALUES { Err(ReadJsonError::TooMany) } else { Ok(values) }
}

fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at..]) {
        at += found + 1;
        if bytes[at - 1] == b'"' {
            return at;
        }
        at = (at + 1).min(bytes.len());
    }
    bytes.len()
}

/// Lines of a JSONL stream, one buffer for all of them.
///
/// Lines end at LF and nowhere else: U+2028 and its like are content. A CR before the LF and blank
/// lines are dropped.
pub struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    number: u64,
    limit: usize,
}

impl<R: BufRead> Lines<R> {
    /// Reads lines of at most so many bytes.
    pub fn new(reader: R, limit: usize) -> Self {
        Self { reader, line: Vec::new(), number: 0, limit }
    }

    /// Returns the next line that is not blank, with its number from 1.
    ///
    /// After [`ReadJsonError::TooLong`] the next call continues after that line.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend its buffer")]
    pub fn next(&mut self) -> Result<Option<(u64, &[u8])>, ReadJsonError> {
        loop {
            self.line.clear();
            let limit = self.limit as u64 + 1;
            let read = (&mut self.reader)
                .take(limit)
                .read_until(b'\n', &mut self.line)
                .map_err(ReadJsonError::Io)?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.line.len() > self.limit && self.line.last() != Some(&b'\n') {
                self.line.clear();
                self.line.shrink_to(1 << 20);
                self.skip_line()?;
                return Err(ReadJsonError::TooLong { limit: self.limit as u64 });
            }
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        Ok(Some((self.number, self.line.trim_ascii())))
    }

    /// Returns the number of the line that was read last.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    fn skip_line(&mut self) -> Result<(), ReadJsonError> {
        loop {
            let buffer = self.reader.fill_buf().map_err(ReadJsonError::Io)?;
            if buffer.is_empty() {
                return Ok(());
            }
            let end = memchr::memchr(b'\n', buffer);
            let used = end.map_or(buffer.len(), |at| at + 1);
            self.reader.consume(used);
            if end.is_some() {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> Vec<u8> {
        [b"[".repeat(depth), b"]".repeat(depth)].concat()
    }

    #[test]
    fn depth_is_bounded_and_brackets_in_strings_do_not_count() {
        assert!(check_depth(&nested(128)).is_ok());
        assert!(matches!(check_depth(&nested(129)), Err(ReadJsonError::TooDeep)));
        assert!(matches!(check_depth(&nested(100_000)), Err(ReadJsonError::TooDeep)));
        let text = format!(r#"{{"a":"{}\"{}\\"}}"#, "[".repeat(200), "{".repeat(200));
        assert!(check_depth(text.as_bytes()).is_ok());
        assert!(check_depth(br#"{"open":"\"#).is_ok());
    }

    #[test]
    fn lines_end_at_line_feeds_only() {
        let text = "a\u{2028}b\r\n\n  \nlast".as_bytes();
        let mut lines = Lines::new(text, 100);
        assert_eq!(lines.next().unwrap(), Some((1, "a\u{2028}b".as_bytes())));
        assert_eq!(lines.next().unwrap(), Some((4, &b"last"[..])));
        assert_eq!(lines.next().unwrap(), None);
    }

    #[test]
    fn a_line_that_is_too_long_does_not_hide_the_next() {
        let text = [&b"x".repeat(50)[..], b"\nok\n"].concat();
        let mut lines = Lines::new(&text[..], 10);
        assert!(matches!(lines.next(), Err(ReadJsonError::TooLong { limit: 10 })));
        assert_eq!(lines.next().unwrap(), Some((2, &b"ok"[..])));
    }
}
