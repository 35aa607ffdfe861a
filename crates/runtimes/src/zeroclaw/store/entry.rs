//! Converts a record into a row of the database.

use std::collections::HashMap;

use anemone_format::{Embedding, MemoryType, Moment, Record, RecordId, Status};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::super::{keys, rows::RawRow, rows::raw_of, schema::row_time};
use super::target::plain_id;
use crate::kit::{RawPlace, RowStamp, Value};

/// A planned row, with a cell for every column of the table; `None` where it does not set one.
#[derive(Default)]
pub(super) struct DraftRow {
    /// The key that it has, or would have without other records.
    pub(super) key: String,
    /// Whether the record was such a row before.
    pub(super) is_own: bool,
    pub(super) rowid: Option<i64>,
    pub(super) cells: Vec<Option<Value>>,
    /// Whether it had a vector that cannot be kept.
    pub(super) lost_vector: bool,
    /// Whether a part of it did not travel.
    pub(super) is_cut: bool,
    /// Columns that it had and the table does not have.
    pub(super) homeless: Vec<String>,
    /// The header of the Markdown table that it was a row of, written above its text.
    pub(super) header: Option<String>,
    /// Its origin, if the record was such a row and the origin is known.
    pub(super) stamp: Option<RowStamp>,
}

/// What all rows of one merge have in common.
pub(super) struct MergeContext {
    /// The columns of the rows.
    pub(super) columns: Vec<String>,
    /// Whether vectors that the runtime itself made can be kept.
    pub(super) keeps_vectors: bool,
    /// The model of the database's vectors: its name as in records, and their length.
    pub(super) model: Option<(String, u64)>,
    /// The replacement of each superseded record.
    pub(super) superseded: HashMap<RecordId, RecordId>,
    /// Whether records that this runtime read from files stay there.
    pub(super) in_files: bool,
}

/// Why a record becomes no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NoRow {
    /// Only its tombstone is left.
    Deleted,
    /// Its text is blank.
    Blank,
    /// It is a part of a file, which is restored as a file.
    InFile,
}

impl MergeContext {
    /// Finds a column.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.eq_ignore_ascii_case(name))
    }

    /// Makes a row from a record; `changed` says that its text is known to have changed.
    pub(super) fn entry(&self, record: &Record, changed: bool) -> Result<DraftRow, NoRow> {
        if *record.status.effective() == Status::Deleted {
            return Err(NoRow::Deleted);
        }
        if let Some(raw) = raw_of(record) {
            return Ok(self.own(record, raw, changed));
        }
        let from_file =
            record.source.runtime == super::super::RUNTIME && record.source.origin_file.is_some();
        if from_file && self.in_files {
            return Err(NoRow::InFile);
        }
        let content = without_blank_lines(&record.content);
        if content.is_empty() {
            return Err(NoRow::Blank);
        }
        Ok(self.foreign(record, content))
    }

    /// Restores a row unchanged.
    fn own(&self, record: &Record, raw: RawRow, changed: bool) -> DraftRow {
        let key = match raw.cell("key") {
            Value::Text(key) => key.clone(),
            _ => raw.key.clone(),
        };
        let updated_at = record.temporal.updated_at.as_ref();
        let was = raw.cell("updated_at").as_text().and_then(|text| text.parse::<Moment>().ok());
        let is_later = match (updated_at, &was) {
            (Some(now), Some(was)) => now.instant() > was.instant(),
            _ => false,
        };
        let mut entry = DraftRow {
            key,
            is_own: true,
            is_cut: !raw.cut.is_empty(),
            rowid: raw.rowid,
            cells: vec![None; self.columns.len()],
            stamp: RowStamp::of(record),
            ..DraftRow::default()
        };
        for (name, value) in raw.cells {
            match self.position(&name) {
                Some(at) => entry.cells[at] = Some(value),
                // The database decides which agent owns the row.
                None if name.eq_ignore_ascii_case("agent_id") => {}
                None => entry.homeless.push(name),
            }
        }
        if let Some(at) = self.position("embedding") {
            let has_vector =
                matches!(&entry.cells[at], Some(Value::Blob(bytes)) if !bytes.is_empty());
            let is_kept = self.keeps_vectors || self.vector_of(record).is_some();
            if changed || is_later || !is_kept {
                entry.lost_vector = has_vector;
                entry.cells[at] = Some(Value::Null);
            }
        }
        if changed || is_later {
            let at = updated_at.unwrap_or(&record.temporal.created_at);
            entry.set(self, "updated_at", Value::Text(stamp(at.instant())));
        }
        if changed {
            let was = entry.cell(self, "superseded_by").is_some_and(|cell| *cell != Value::Null);
            match record.status.effective() {
                // It may name a key, or a row that does not exist here.
                Status::Superseded if was && !self.superseded.contains_key(&record.id) => {}
                Status::Superseded | Status::Active => {
                    entry.set(self, "superseded_by", self.superseded_by(record));
                }
                // The row has no word for this status.
                _ => {}
            }
        }
        if let Some(id) = entry.cell(self, "id").map(plain_id) {
            entry.set(self, "id", id);
        }
        // The table refuses values that the source's table may have accepted.
        let created_at = &record.temporal.created_at;
        for (name, text) in [
            ("id", record.id.to_string()),
            ("content", String::new()),
            ("category", "core".to_owned()),
            // As it was written: its offset is a part of the record.
            ("created_at", created_at.as_str().to_owned()),
            ("updated_at", stamp(updated_at.unwrap_or(created_at).instant())),
        ] {
            if matches!(entry.cell(self, name), None | Some(Value::Null)) {
                entry.set(self, name, Value::Text(text));
            }
        }
        if entry.cell(self, "pinned") == Some(&Value::Null) {
            entry.set(self, "pinned", Value::Integer(0));
        }
        entry
    }

    /// Makes a row from another runtime's memory.
    fn foreign(&self, record: &Record, content: &str) -> DraftRow {
        let mut entry = DraftRow {
            key: keys::natural(record, content),
            cells: vec![None; self.columns.len()],
            ..DraftRow::default()
        };
        let created_at = record.temporal.created_at.instant();
        let updated_at = record
            .temporal
            .updated_at
            .as_ref()
            .map_or(created_at, |at| at.instant().max(created_at));
        let text = |text: &str| Value::Text(text.to_owned());
        entry.set(self, "id", Value::Text(record.id.to_string()));
        // A row has no place beside its text for the names of the columns.
        entry.header = RawPlace::missing_header(record);
        let shown = entry.header.as_ref().map(|header| [header, content].concat());
        entry.set(self, "content", text(shown.as_deref().unwrap_or(content)));
        let category = category(&record.namespace);
        // Only the first documents mark a category of the user's own in the database, too.
        let is_marked = self.position("created_at").is_none();
        let own = category.strip_prefix("custom:").filter(|own| !is_marked && !own.is_empty());
        entry.set(self, "category", text(own.unwrap_or(category)));
        entry.set(self, "created_at", Value::Text(stamp(created_at)));
        entry.set(self, "updated_at", Value::Text(stamp(updated_at)));
        if self.position("created_at").is_none() {
            entry.set(self, "timestamp", Value::Text(stamp(created_at)));
        }
        let session = record.source.session_id.as_deref();
        entry.set(self, "session_id", session.map_or(Value::Null, text));
        if let Some(confidence) = record.confidence.filter(|confidence| confidence.is_finite()) {
            entry.set(self, "importance", Value::Real(confidence));
        }
        entry.set(self, "superseded_by", self.superseded_by(record));
        if let Some(kind) = kind(record) {
            entry.set(self, "kind", text(kind));
        }
        let vector = self.vector_of(record);
        entry.lost_vector = vector.is_none() && !record.embeddings.is_empty();
        let bytes =
            |numbers: &[f32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let vector = vector.map_or(Value::Null, |vector| Value::Blob(bytes(&vector.vector)));
        entry.set(self, "embedding", vector);
        entry
    }

    /// Returns the vector that the model of the database made of a record.
    fn vector_of<'r>(&self, record: &'r Record) -> Option<&'r Embedding> {
        let (model, length) = self.model.as_ref()?;
        record.embeddings.iter().find(|embedding| {
            embedding.model == *model
                && embedding.dimensions == *length
                && embedding.vector.len() as u64 == *length
        })
    }

    /// Returns the cell that names the record which replaces this one. Any value but null hides a
    /// row, even if the replacement is unknown.
    fn superseded_by(&self, record: &Record) -> Value {
        if *record.status.effective() != Status::Superseded {
            return Value::Null;
        }
        match self.superseded.get(&record.id) {
            Some(newer) => Value::Text(newer.to_string()),
            None => Value::Text(String::new()),
        }
    }
}

impl DraftRow {
    /// Returns a cell.
    pub(super) fn cell(&self, shared: &MergeContext, name: &str) -> Option<&Value> {
        self.cells.get(shared.position(name)?)?.as_ref()
    }

    /// Sets a cell, if the table has the column.
    pub(super) fn set(&mut self, shared: &MergeContext, name: &str, value: Value) {
        if let Some(at) = shared.position(name) {
            self.cells[at] = Some(value);
        }
    }

    /// Leaves a column unset.
    pub(super) fn leave(&mut self, shared: &MergeContext, name: &str) {
        if let Some(at) = shared.position(name) {
            self.cells[at] = None;
        }
    }
}

/// Records which record replaces which.
pub(super) fn note_superseded(record: &Record, superseded: &mut HashMap<RecordId, RecordId>) {
    if let Some(older) = record.supersedes {
        superseded.entry(older).or_insert(record.id);
    }
    for relation in &record.related_records {
        match &*relation.relation {
            "superseded_by" | "replaced_by" => {
                superseded.insert(record.id, relation.id);
            }
            "supersedes" | "replaces" => {
                superseded.entry(relation.id).or_insert(record.id);
            }
            _ => {}
        }
    }
}

/// Writes a time as the runtime does.
pub(super) fn stamp(at: Timestamp) -> String {
    row_time(at, TimeZone::UTC)
}

/// Returns the category of a shelf.
fn category(namespace: &str) -> &str {
    match namespace {
        "" | "curated" | "facts" | "core" | "default" => "core",
        "session" | "conversation" => "conversation",
        other => other,
    }
}

/// Returns the kind of a memory, as the runtime writes it.
fn kind(record: &Record) -> Option<&'static str> {
    let semantic = match record.category.as_deref() {
        Some("preference") => r#"{"semantic":"preference"}"#,
        Some("decision") => r#"{"semantic":"decision"}"#,
        Some("entity") => r#"{"semantic":"entity"}"#,
        _ => r#"{"semantic":"fact"}"#,
    };
    match record.memory_type.effective() {
        MemoryType::Procedural => Some(r#""procedural""#),
        MemoryType::Episodic => Some(r#""episodic""#),
        MemoryType::Preference => Some(r#"{"semantic":"preference"}"#),
        MemoryType::Semantic => Some(semantic),
        _ => None,
    }
}

/// Removes blank lines at both ends.
fn without_blank_lines(text: &str) -> &str {
    if text.trim().is_empty() {
        return "";
    }
    let blank = text.len() - text.trim_start().len();
    let text = &text[text[..blank].rfind('\n').map_or(0, |at| at + 1)..];
    let Some(end) = text[text.trim_end().len()..].find('\n') else { return text };
    let text = &text[..text.trim_end().len() + end];
    text.strip_suffix('\r').unwrap_or(text)
}
