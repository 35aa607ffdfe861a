//! The original location of a record, as its runtime noted it. Other runtimes use what they can.

use anemone_format::Record;
use serde::Deserialize;
use serde_json::Value;

use crate::kit::one_line;

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
    /// The names of the columns of the Markdown table that it was a row of.
    pub(crate) columns: Value,
}

impl RawPlace {
    /// Reads the notes of a record; nothing is noted where they cannot be read.
    pub(crate) fn of(record: &Record) -> Self {
        let raw = record.raw_source_format.as_ref();
        raw.and_then(|raw| raw.parse().ok()).unwrap_or_default()
    }

    /// Returns the header of the Markdown table that a record was a row of, if its text does not
    /// begin with one; a row says little without it.
    pub(crate) fn missing_header(record: &Record) -> Option<String> {
        /// A header from a stranger's archive, at most.
        const MAX_BYTES: usize = 4096;
        let row = record.content.trim();
        if row.contains(['\n', '\r']) || !row.contains('|') {
            return None;
        }
        let columns: Vec<String> = serde_json::from_value(Self::of(record).columns).ok()?;
        let cell = |name: &String| match name.trim() {
            "" => " ".to_owned(),
            name => one_line(name).replace('|', "\\|"),
        };
        let cells: Vec<String> = columns.iter().map(cell).collect();
        let header = format!("| {} |\n|{}\n", cells.join(" | "), "---|".repeat(cells.len()));
        (!cells.is_empty() && header.len() <= MAX_BYTES).then_some(header)
    }
}

/// Returns what the runtime that holds a record calls it: its key or its heading.
#[must_use]
pub fn name_of(record: &Record) -> Option<String> {
    let RawPlace { key, heading, .. } = RawPlace::of(record);
    let name = if key.is_null() { heading } else { key };
    name.as_str().map(str::to_owned)
}
