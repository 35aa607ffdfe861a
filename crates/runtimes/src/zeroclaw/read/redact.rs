//! Finds secrets in every column of a row, and replaces them in its record.

use std::borrow::Cow;

use anemone_format::{Opaque, Record};
use serde_json::Value as Json;

use super::super::{brain::MemoryRow, layout::DATABASE};
use crate::kit::{Carrier, Value, lossy};
use anemone_secrets as secrets;

/// The column of vectors, which holds no text.
const VECTOR: &str = "embedding";

/// A text of a row.
pub(in super::super) struct CellText<'a> {
    column: &'a str,
    pub(in super::super) text: Cow<'a, str>,
    /// Whether it is also text to the database.
    is_plain: bool,
}

/// Returns every text of a row; a value of another type may hold one too.
pub(in super::super) fn texts<'a>(
    columns: &'a [String],
    row: &'a MemoryRow,
) -> impl Iterator<Item = CellText<'a>> {
    columns.iter().zip(&row.cells).filter_map(|(column, cell)| {
        let (text, is_plain) = match cell {
            Value::Text(text) => (Cow::Borrowed(text.as_str()), true),
            Value::OddText(bytes) => (String::from_utf8_lossy(bytes), false),
            Value::Blob(bytes) if !column.eq_ignore_ascii_case(VECTOR) => {
                (String::from_utf8_lossy(bytes), false)
            }
            _ => return None,
        };
        Some(CellText { column, text, is_plain })
    })
}

/// Scans a row for secrets, and removes them from its record if they must not travel.
pub(super) fn search(
    record: &mut Record,
    columns: &[String],
    row: &MemoryRow,
    carrier: &mut Carrier<'_>,
) {
    let line = row.rowid.unsigned_abs();
    let mut hidden = Vec::new();
    let mut found = false;
    for CellText { column, text, is_plain } in texts(columns, row) {
        if carrier.search_text(DATABASE, line, &text).is_some() {
            found = true;
            if !is_plain {
                hidden.push(column);
            }
        }
    }
    if found {
        scrub(record);
        hide(record, &hidden);
    }
}

/// Replaces every secret in a record. A vector reveals something about the text it was made from,
/// so it is removed too.
fn scrub(record: &mut Record) {
    let mut clean = |text: &mut String| {
        let hits = secrets::scan(text.as_bytes());
        if !hits.is_empty() {
            *text = lossy(&secrets::redact(text.as_bytes(), &hits));
        }
    };
    clean(&mut record.content);
    clean(&mut record.namespace);
    let labels = [&mut record.category, &mut record.source.session_id];
    labels.into_iter().flatten().for_each(&mut clean);
    record.tags.iter_mut().for_each(&mut clean);
    if let Some(raw) = &record.raw_source_format
        && let Ok(mut json) = raw.parse::<Json>()
    {
        each_text(&mut json, &mut clean);
        record.raw_source_format = Opaque::new(&json).ok();
    }
    // Values without a field in the format, such as the key of the row.
    for (name, value) in std::mem::take(&mut record.unknown).iter() {
        let Ok(mut json) = serde_json::from_str::<Json>(value.get()) else { continue };
        each_text(&mut json, &mut clean);
        record.unknown.insert(name, &json.to_string()).expect("it is one JSON value");
    }
    record.embeddings.clear();
}

/// Takes every text of JSON. A cell that is not plain text is a number, or bytes in base64.
fn each_text(json: &mut Json, take: &mut dyn FnMut(&mut String)) {
    match json {
        Json::String(text) => take(text),
        Json::Array(values) => values.iter_mut().for_each(|value| each_text(value, take)),
        Json::Object(fields) => {
            for (name, value) in fields {
                match value.as_object_mut().filter(|_| name == "row") {
                    Some(cells) => {
                        let texts = cells.values_mut().filter(|value| value.is_string());
                        texts.for_each(|text| each_text(text, take));
                    }
                    None => each_text(value, take),
                }
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// Removes columns from what a record keeps of its row: in bytes, nothing can be replaced.
fn hide(record: &mut Record, columns: &[&str]) {
    let Some(raw) = record.raw_source_format.as_ref().filter(|_| !columns.is_empty()) else {
        return;
    };
    let Ok(mut json) = raw.parse::<Json>() else { return };
    if let Some(row) = json.get_mut("row").and_then(Json::as_object_mut) {
        row.retain(|name, _| !columns.contains(&name.as_str()));
    }
    record.raw_source_format = Opaque::new(&json).ok();
}
