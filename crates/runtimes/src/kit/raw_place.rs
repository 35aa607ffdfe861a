//! The original location of a record, as its runtime noted it. Other runtimes use what they can.

use anemone_format::Record;
use serde::Deserialize;
use serde_json::Value;

/// The notes on the original name and location of a record; unusable ones are null.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawPlace {
    /// Its key.
    pub(crate) key: Value,
    /// The heading that it was under.
    pub(crate) heading: Value,
    /// Its number in a table.
    pub(crate) rowid: Value,
    /// Its first line in a file.
    pub(crate) line_start: Value,
}

impl RawPlace {
    /// Reads the notes of a record; nothing is noted where they cannot be read.
    pub(crate) fn of(record: &Record) -> Self {
        let raw = record.raw_source_format.as_ref();
        raw.and_then(|raw| raw.parse().ok()).unwrap_or_default()
    }
}

/// Returns what the runtime that holds a record calls it: its key or its heading.
#[must_use]
pub fn name_of(record: &Record) -> Option<String> {
    let RawPlace { key, heading, .. } = RawPlace::of(record);
    let name = if key.is_null() { heading } else { key };
    name.as_str().map(str::to_owned)
}
