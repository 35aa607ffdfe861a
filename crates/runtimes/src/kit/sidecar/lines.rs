//! The documents and lines of the folder, with the bounds of archives.

use std::io::{BufReader, Read};

use anemone_format::{JsonLines, ReadJsonError, Record, check_json, read_json};
use serde::de::DeserializeOwned;

use crate::kit::PlanError;

/// Bytes of a document, and of a line, at most: as in archives.
pub(super) const MAX_BYTES: usize = 64 << 20;

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
    let value = read_json(reader, MAX_BYTES as u64).and_then(|bytes| parse(&bytes, &from_json));
    let what = match value {
        Ok(value) => return Ok(value),
        Err(ReadJsonError::Io(error)) => return Err(PlanError::Source(error).into()),
        Err(ReadJsonError::TooLong { limit }) => format!("is larger than {limit} bytes"),
        Err(ReadJsonError::TooMany) => "has too many values".to_owned(),
        Err(_) => "is not what it should be".to_owned(),
    };
    Err(SidecarFault::Broken(format!("{name} {what}")))
}

/// Returns the lines of a file that are not blank.
pub(super) fn lines_of<R: Read>(content: R) -> JsonLines<BufReader<R>> {
    JsonLines::new(BufReader::with_capacity(256 << 10, content), MAX_BYTES)
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
    let mut lines = lines_of(reader);
    loop {
        let next = lines.next().and_then(|line| {
            line.map(|(_, line)| Ok((parse(line, parser)?, line.len()))).transpose()
        });
        match next {
            Ok(Some((value, length))) => take(value, length)?,
            Ok(None) => return Ok(()),
            Err(ReadJsonError::Io(error)) => return Err(PlanError::Source(error).into()),
            Err(error) => {
                let is_too_long = matches!(error, ReadJsonError::TooLong { .. });
                let what = if is_too_long { "is too long" } else { "is not what it should be" };
                let number = lines.number();
                return Err(SidecarFault::Broken(format!("line {number} of {name} {what}")));
            }
        }
    }
}

fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(bytes)
}

fn parse<T>(
    bytes: &[u8],
    parser: &dyn Fn(&[u8]) -> serde_json::Result<T>,
) -> Result<T, ReadJsonError> {
    check_json(bytes)?;
    parser(bytes).map_err(ReadJsonError::Json)
}

#[cfg(test)]
mod tests {
    use super::*;

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
