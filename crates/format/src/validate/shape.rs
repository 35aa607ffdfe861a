//! Checks the shape of a document: by its type if it parses, otherwise by its schema, which names
//! every fault and not only the first.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{FindingKind, Findings};
use crate::json::{self, ReadJsonError, with_causes};
use crate::record::Record;
use crate::schema::SchemaDocument;
use crate::survey::Survey;

/// Parses a document as its type; reports every fault of its shape if that fails.
///
/// Ranges are not in the types, so a parsed value is checked against the schema too. A partition
/// has many lines, with separate checks: see [`parse_record`].
pub(super) fn parse<T: DeserializeOwned + Survey>(
    document: SchemaDocument,
    path: &str,
    bytes: &[u8],
    findings: &mut Findings,
) -> Option<T> {
    let before = findings.report.errors.len();
    let parsed = json::parse::<T>(bytes);
    report_schema(document, path, bytes, findings);
    match parsed {
        Ok(value) => {
            findings.survey(document.name(), &value);
            Some(value)
        }
        Err(error) => {
            if findings.report.errors.len() == before {
                findings.error(FindingKind::Shape, path, describe(document, &error));
            }
            None
        }
    }
}

/// Parses a record's line; the schema is only used when the type does not fit.
pub(super) fn parse_record(path: &str, line: &[u8], findings: &mut Findings) -> Option<Record> {
    match json::parse::<Record>(line) {
        Ok(record) => Some(record),
        Err(error) => {
            let before = findings.report.errors.len();
            report_schema(SchemaDocument::Record, path, line, findings);
            if findings.report.errors.len() == before {
                findings.error(FindingKind::Shape, path, describe(SchemaDocument::Record, &error));
            }
            None
        }
    }
}

/// Larger documents are only checked by their type: a value takes many times its text.
const MAX_SCHEMA_BYTES: usize = 8 << 20;
const MAX_SCHEMA_VALUES: usize = 200_000;

fn report_schema(document: SchemaDocument, path: &str, bytes: &[u8], findings: &mut Findings) {
    let is_small = json::check_depth(bytes).is_ok_and(|values| values <= MAX_SCHEMA_VALUES);
    if !is_small || bytes.len() > MAX_SCHEMA_BYTES {
        return;
    }
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    for fault in document.validator().iter_errors(&value) {
        // Masked: the value may be a secret.
        let place = fault.instance_path().to_string();
        findings.error(FindingKind::Schema, format!("{path}#{place}"), fault.masked().to_string());
    }
}

fn describe(document: SchemaDocument, error: &ReadJsonError) -> String {
    match error {
        // The parser quotes the value that it failed on; in credentials that may be a secret.
        ReadJsonError::Json(cause) if document == SchemaDocument::Credentials => {
            let (line, column) = (cause.line(), cause.column());
            format!("{error} (line {line}, column {column})")
        }
        ReadJsonError::Json(cause) => format!("{error}: {cause}"),
        _ => with_causes(error),
    }
}
