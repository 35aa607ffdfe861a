//! Untrusted JSON: bounded before it is parsed.

use std::io::{self, BufRead, BufReader, Read};

use anemone_format::Record;
use serde::de::DeserializeOwned;

use crate::kit::PlanError;

/// Bytes of a document, and of a line, at most: as in archives.
pub(super) const MAX_BYTES: u64 = 64 << 20;
/// Values in a document or a line, at most: one takes many times the two bytes of its text.
const MAX_VALUES: usize = 4_000_000;

/// Why the folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SidecarFault {
    /// What was read is not what it should be.
    #[error("{0}")]
    Broken(String),
    /// There can be no plan at all.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// Reads a whole document.
pub(super) fn document<T: DeserializeOwned>(
    name: &str,
    reader: &mut dyn Read,
) -> Result<T, SidecarFault> {
    let mut bytes = Vec::new();
    reader.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(PlanError::Source)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(SidecarFault::Broken(format!("{name} is larger than {MAX_BYTES} bytes")));
    }
    parse(name, &bytes, &from_json)
}

/// Reads the next line, with its end; returns false where there is none. Of a line that is too long,
/// so much is read that it shows.
pub(super) fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    Ok(reader.take(MAX_BYTES + 1).read_until(b'\n', line)? > 0)
}

/// Yields the values of a JSONL file. Blank lines are skipped.
pub(super) fn each_line<T: DeserializeOwned>(
    name: &str,
    reader: &mut dyn Read,
    take: &mut dyn FnMut(T) -> Result<(), SidecarFault>,
) -> Result<(), SidecarFault> {
    each_parsed_line(name, reader, &from_json, &mut |value, _| take(value))
}

/// Yields the records of a JSONL file, with the length of each line.
pub(super) fn each_record(
    name: &str,
    reader: &mut dyn Read,
    take: &mut dyn FnMut(Record, usize) -> Result<(), SidecarFault>,
) -> Result<(), SidecarFault> {
    each_parsed_line(name, reader, &Record::parse, take)
}

fn each_parsed_line<T>(
    name: &str,
    reader: &mut dyn Read,
    parser: &dyn Fn(&[u8]) -> serde_json::Result<T>,
    take: &mut dyn FnMut(T, usize) -> Result<(), SidecarFault>,
) -> Result<(), SidecarFault> {
    let mut reader = BufReader::with_capacity(256 << 10, reader);
    let mut line = Vec::new();
    let mut number = 0_u64;
    loop {
        if !next_line(&mut reader, &mut line).map_err(PlanError::Source)? {
            return Ok(());
        }
        number += 1;
        let broken = |what: &str| SidecarFault::Broken(format!("line {number} of {name} {what}"));
        if line.len() as u64 > MAX_BYTES {
            return Err(broken("is too long"));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        take(
            parse(name, &line, parser).map_err(|_| broken("is not what it should be"))?,
            line.len(),
        )?;
    }
}

fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(bytes)
}

fn parse<T>(
    name: &str,
    bytes: &[u8],
    parser: &dyn Fn(&[u8]) -> serde_json::Result<T>,
) -> Result<T, SidecarFault> {
    let broken = |what: &str| SidecarFault::Broken(format!("{name} {what}"));
    if values(bytes) > MAX_VALUES {
        return Err(broken("has too many values"));
    }
    parser(bytes).map_err(|_| broken("is not what it should be"))
}

/// Counts the values in a JSON text, about.
fn values(bytes: &[u8]) -> usize {
    let (mut count, mut at) = (0, 0);
    while let Some(found) = memchr::memchr3(b',', b'[', b'"', &bytes[at..]) {
        at += found + 1;
        if bytes[at - 1] != b'"' {
            count += 1;
            continue;
        }
        while let Some(end) = memchr::memchr2(b'"', b'\\', &bytes[at..]) {
            at += end + 1;
            if bytes[at - 1] == b'"' {
                break;
            }
            at = (at + 1).min(bytes.len());
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_texts_do_not_count() {
        assert_eq!(values(br#"{"a":"1,2,[","b":[1,2,"\",,"]}"#), 4);
        assert_eq!(values(br#""open\"#), 0);
    }

    #[test]
    fn a_line_that_is_none_is_named_by_its_number() {
        let mut seen = Vec::new();
        let result = each_line("x.jsonl", &mut &b"1\n\n2\nthree\n"[..], &mut |value: u64| {
            seen.push(value);
            Ok(())
        });
        let Err(SidecarFault::Broken(message)) = result else { panic!("{result:?}") };
        assert_eq!(message, "line 4 of x.jsonl is not what it should be");
        assert_eq!(seen, [1, 2]);
    }
}
