//! One line of a delta: a record with the operation on it.
//!
//! The operation comes first, so that the record's own bytes follow unchanged.

use serde_json::value::RawValue;

use crate::archive::record_line::RecordHead;
use crate::id::{AgentId, RecordId};
use crate::json::{self, ReadJsonError};
use crate::moment::Moment;
use crate::pairs::Pairs;
use crate::record::{Record, Status};
use crate::word_enum;

word_enum! {
    /// What a delta does with a record.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Operation {
        /// It is new.
        Create = "create",
        /// It is different.
        Update = "update",
        /// It is gone.
        Delete = "delete",
    }
}

/// A line of a delta, read.
pub(crate) struct OperationLine {
    /// What to do; `None` when a newer version knows a word that we do not.
    pub(crate) operation: Option<Operation>,
    pub(crate) head: RecordHead,
    /// The record as its own line.
    pub(crate) record: Vec<u8>,
}

/// Puts the operation in front of a record's line.
pub(crate) fn encode(operation: Operation, record: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(br#"{"operation":""#);
    out.extend_from_slice(operation.as_str().as_bytes());
    out.extend_from_slice(br#"","#);
    out.extend_from_slice(&record[1..]);
}

/// The placeholder for a deleted text.
pub(crate) const TOMBSTONE_CONTENT: &str = "[deleted]";

/// Returns the placeholder for a deleted record: it contains the id and the time, and nothing of
/// the content.
pub(crate) fn tombstone(id: RecordId, agent_id: AgentId, created_at: &Moment) -> Record {
    let mut record = Record::new(id, agent_id, "anemone", created_at.clone(), TOMBSTONE_CONTENT);
    record.status = Status::Deleted;
    record
}

/// Splits a line of a delta.
pub(crate) fn decode(line: &[u8]) -> Result<OperationLine, ReadJsonError> {
    json::check_depth(line)?;
    let (operation, record) = match strip_operation(line) {
        Some((operation, record)) => (Some(operation), record),
        None => take_operation(line)?,
    };
    let head = RecordHead::parse(&record)?;
    Ok(OperationLine { operation, head, record })
}

/// Our form: the bytes after the operation are the record's own.
fn strip_operation(line: &[u8]) -> Option<(Operation, Vec<u8>)> {
    let rest = line.strip_prefix(br#"{"operation":""#)?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    let operation = Operation::of_word(std::str::from_utf8(&rest[..end]).ok()?)?;
    let rest = rest[end..].strip_prefix(br#"","#)?;
    Some((operation, [b"{", rest].concat()))
}

/// The form of other tools: the operation anywhere among the fields.
fn take_operation(line: &[u8]) -> Result<(Option<Operation>, Vec<u8>), ReadJsonError> {
    let fields: Pairs<Box<RawValue>> = serde_json::from_slice(line).map_err(ReadJsonError::Json)?;
    let word = fields.get("operation").map(|raw| serde_json::from_str::<String>(raw.get()));
    let word = word
        .transpose()
        .map_err(ReadJsonError::Json)?
        .ok_or_else(|| ReadJsonError::Json(serde::de::Error::missing_field("operation")))?;
    let mut rest = Pairs::default();
    for (key, value) in fields.iter().filter(|(key, _)| *key != "operation") {
        rest.insert(key, value);
    }
    let record = serde_json::to_vec(&rest).map_err(ReadJsonError::Json)?;
    Ok((Operation::of_word(&word), record))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = r#"{ "id":"1d93a526-85b1-5b5b-9ac8-2fcc8749633d","agent_id":"9e373c1e-cab7-5eea-90c3-8f3d09ac5755","temporal":{"created_at":"2026-01-15T00:00:00Z"},"operation":"mine","n":1.50}"#;

    #[test]
    fn a_record_keeps_its_bytes_even_when_it_has_an_operation_of_its_own() {
        let mut line = Vec::new();
        encode(Operation::Update, RECORD.as_bytes(), &mut line);
        let decoded = decode(&line).unwrap();
        assert_eq!(decoded.operation, Some(Operation::Update));
        assert_eq!(decoded.record, RECORD.as_bytes());
    }

    #[test]
    fn an_operation_anywhere_is_understood_and_an_unknown_one_is_not_invented() {
        let line = RECORD.replace("mine", "delete");
        let decoded = decode(line.as_bytes()).unwrap();
        assert_eq!(decoded.operation, Some(Operation::Delete));
        assert!(!String::from_utf8(decoded.record).unwrap().contains("operation"));
        assert_eq!(decode(RECORD.as_bytes()).unwrap().operation, None);
        assert!(decode(RECORD.replace("operation", "other").as_bytes()).is_err());
    }

    #[test]
    fn a_tombstone_holds_no_content() {
        let head = RecordHead::parse(RECORD.as_bytes()).unwrap();
        let agent = "9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap();
        let stone = tombstone(head.id, agent, head.created_at());
        assert_eq!((stone.content.as_str(), stone.status), ("[deleted]", Status::Deleted));
    }
}
