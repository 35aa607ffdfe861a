//! Facts that people keep in `memory/facts.db`: entity, key and value, one row each.
//!
//! This is a habit of users and not part of the program. So known columns are looked up by name,
//! and everything else in a row is carried along.

use std::collections::HashSet;

use anemone_format::{Entity, EntityKind, MemoryType, Moment, Opaque, Record, Unknown};
use serde::{Serialize, Serializer};

use super::{NAMESPACES, RUNTIME, memory::Shared};
use crate::kit::{Database, DatabaseError, Read, Value, Warning, times};

/// The table, and the namespace of its records.
const FACTS: &str = "facts";

const ENTITY: &[&str] = &["entity", "subject"];
const KEY: &[&str] = &["key", "attribute", "predicate"];
const VALUE: &[&str] = &["value", "object"];
const CATEGORY: &[&str] = &["category"];
const CREATED: &[&str] = &["created_at", "created"];
const ACCESSED: &[&str] = &["last_accessed", "last_accessed_at", "accessed_at"];
const ACCESSES: &[&str] = &["access_count"];

/// One row of the table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fact {
    /// What identifies the row: its id, or else its number.
    pub(super) row_key: String,
    /// Who or what it is about.
    pub(super) entity: String,
    /// Which property.
    pub(super) key: String,
    /// Its value.
    pub(super) value: String,
    /// What kind of fact.
    pub(super) category: Option<String>,
    /// When it was written down.
    pub(super) created_at: Option<Moment>,
    /// When it was last used.
    pub(super) last_accessed_at: Option<Moment>,
    /// How often it was used.
    pub(super) access_count: Option<u64>,
    /// Every column, in order.
    pub(super) columns: Vec<(String, Value)>,
    /// The readable texts in columns that hold bytes.
    readable: Vec<String>,
}

impl Fact {
    /// Returns the text of its record.
    pub(super) fn content(&self) -> String {
        let parts = [&self.entity, &self.key].map(|part| part.trim());
        let [entity, key] = parts.map(|part| Some(part).filter(|part| !part.is_empty()));
        match (entity, key) {
            (Some(entity), Some(key)) => format!("{entity} — {key}: {}", self.value),
            (Some(name), None) | (None, Some(name)) => format!("{name}: {}", self.value),
            (None, None) => self.value.clone(),
        }
    }

    /// Returns the texts in its columns, also those in columns of bytes.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let texts = self.columns.iter().filter_map(|(_, value)| value.as_text());
        texts.chain(self.readable.iter().map(String::as_str))
    }
}

/// Yields the facts of a database, in the order of their ids. An empty database yields none; one that
/// cannot be read, or has its facts elsewhere, is a warning.
pub(super) fn each_fact<E>(
    database: &Database,
    origin_file: &str,
    take: &mut dyn FnMut(Fact) -> Result<(), E>,
) -> Result<Vec<Warning>, E> {
    let warning = |message: String| vec![Warning::about("facts_unreadable", origin_file, message)];
    let unreadable =
        |error: DatabaseError| warning(format!("the facts could not be read: {error}"));
    let tables = match database.tables() {
        Ok(tables) => tables,
        Err(error) => return Ok(unreadable(error)),
    };
    let is_empty = tables.is_empty();
    let Some(table) = tables.into_iter().find(|table| table.name.eq_ignore_ascii_case(FACTS))
    else {
        // A view may compute anything, for any length of time.
        let message = "it has no table named facts, and no view of it is read";
        return Ok(if is_empty { Vec::new() } else { warning(message.to_owned()) });
    };
    let names: Vec<String> = table.columns.into_iter().map(|column| column.name).collect();
    let Some(shape) = FactColumns::of(&names) else {
        return Ok(warning("the table facts has no entity, key and value".to_owned()));
    };
    let mut columns = names.clone();
    columns.push("rowid".to_owned());
    let read = Read {
        table: table.name,
        columns,
        order_by: vec!["id".to_owned(), "rowid".to_owned()],
        filter: None,
    };
    let rows = match database.rows(&read) {
        Ok(rows) => rows,
        Err(error) => return Ok(unreadable(error)),
    };
    let mut keys = HashSet::new();
    for row in rows {
        match row {
            Ok(row) => take(shape.fact(&names, row, &mut keys))?,
            Err(error) => return Ok(unreadable(error)),
        }
    }
    Ok(Vec::new())
}

/// The positions of the columns that we know.
struct FactColumns {
    id: Option<usize>,
    entity: usize,
    key: usize,
    value: usize,
    category: Option<usize>,
    created: Option<usize>,
    accessed: Option<usize>,
    accesses: Option<usize>,
}

impl FactColumns {
    fn of(names: &[String]) -> Option<Self> {
        let find = |known: &[&str]| {
            known
                .iter()
                .find_map(|known| names.iter().position(|name| name.eq_ignore_ascii_case(known)))
        };
        Some(Self {
            id: find(&["id"]),
            entity: find(ENTITY)?,
            key: find(KEY)?,
            value: find(VALUE)?,
            category: find(CATEGORY),
            created: find(CREATED),
            accessed: find(ACCESSED),
            accesses: find(ACCESSES),
        })
    }

    fn fact(&self, names: &[String], mut row: Vec<Value>, keys: &mut HashSet<String>) -> Fact {
        let number = row.pop().unwrap_or(Value::Null);
        let at = |at: Option<usize>| at.and_then(|at| row.get(at)).unwrap_or(&Value::Null);
        let count = at(self.accesses).as_integer();
        let category = text_of(at(self.category));
        let is_bytes = |value: &&Value| matches!(value, Value::OddText(_) | Value::Blob(_));
        let bytes = row.iter().filter(is_bytes);
        let readable = bytes.map(text_of).collect();
        Fact {
            row_key: unique_key(at(self.id), &number, keys),
            entity: text_of(at(Some(self.entity))),
            key: text_of(at(Some(self.key))),
            value: text_of(at(Some(self.value))),
            category: Some(category).filter(|category| !category.is_empty()),
            created_at: times::in_cell(at(self.created)),
            last_accessed_at: times::in_cell(at(self.accessed)),
            access_count: count.and_then(|count| u64::try_from(count).ok()),
            readable,
            columns: names.iter().cloned().zip(row).collect(),
        }
    }
}

/// Takes a row's id as its key. A table that users made need not have unique ids, or any, so the
/// row's number is used instead; without a number, the position.
fn unique_key(id: &Value, number: &Value, keys: &mut HashSet<String>) -> String {
    let number = match number {
        Value::Integer(number) => number.to_string(),
        _ => format!("row {}", keys.len()),
    };
    let mut key = match id {
        Value::Null => number.clone(),
        id => text_of(id),
    };
    while !keys.insert(key.clone()) {
        key.push('#');
        key.push_str(&number);
    }
    key
}

/// Makes a record of a fact.
pub(super) fn fact_record(
    fact: &Fact,
    origin_file: &str,
    shared: &Shared,
    fallback: &Moment,
) -> Record {
    let id = NAMESPACES.record(origin_file, &fact.row_key);
    let created_at = fact.created_at.as_ref().unwrap_or(fallback).clone();
    let mut record = Record::new(id, shared.agent_id, RUNTIME, created_at, &fact.content());
    record.memory_type = MemoryType::Preference;
    record.namespace = FACTS.to_owned();
    record.category.clone_from(&fact.category);
    record.tags = std::iter::once(FACTS.to_owned()).chain(fact.category.clone()).collect();
    record.tags.dedup();
    if !fact.entity.trim().is_empty() {
        record.entities.push(Entity {
            name: fact.entity.clone(),
            kind: kind_of(fact.category.as_deref()),
            role: None,
            unknown: Unknown::default(),
        });
    }
    // Without a time of its own, that of the file, which changes with every fact.
    record.temporal.updated_at = Some(record.temporal.created_at.clone());
    record.temporal.last_accessed_at.clone_from(&fact.last_accessed_at);
    record.temporal.access_count = fact.access_count;
    record.source = shared.source(origin_file, "sqlite", None);
    record.raw_source_format =
        Opaque::new(&RawFact { table: FACTS, row: RawRow(&fact.columns) }).ok();
    record
}

/// Removes everything from a record that may hold a secret of its row; `text` replaces the content,
/// where that had one.
pub(super) fn strip(record: &mut Record, text: Option<String>) {
    if let Some(text) = text {
        record.content = text;
    }
    record.entities.clear();
    record.category = None;
    record.tags.truncate(1);
    record.raw_source_format = None;
}

fn kind_of(category: Option<&str>) -> EntityKind {
    match category.map(str::to_ascii_lowercase).as_deref() {
        Some("person") => EntityKind::Person,
        Some("project") => EntityKind::Project,
        Some("location") => EntityKind::Location,
        _ => EntityKind::Other,
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        Value::OddText(bytes) | Value::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::TooLong(length) => format!("[{length} bytes]"),
    }
}

/// The row as it was, to restore it.
#[derive(Serialize)]
struct RawFact<'a> {
    table: &'static str,
    row: RawRow<'a>,
}

struct RawRow<'a>(&'a [(String, Value)]);

impl Serialize for RawRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, RawValue(value))))
    }
}

struct RawValue<'a>(&'a Value);

impl Serialize for RawValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null | Value::TooLong(_) => serializer.serialize_unit(),
            Value::Integer(number) => serializer.serialize_i64(*number),
            Value::Real(number) => serializer.serialize_f64(*number),
            Value::Text(text) => serializer.serialize_str(text),
            // In the format of the program's own text dumps.
            Value::OddText(bytes) | Value::Blob(bytes) => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                serializer.collect_map([("$hex", hex)])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::*;
    use crate::kit::database::tests::machine;

    fn facts(sql: &str) -> (Vec<Fact>, Vec<Warning>) {
        let home = TempDir::new().unwrap();
        let path = home.path().join("facts.db");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let database = Database::open(&machine(home.path()), &path).unwrap();
        let mut facts = Vec::new();
        let warnings = each_fact(&database, "memory/facts.db", &mut |fact| {
            facts.push(fact);
            Ok::<_, Infallible>(())
        });
        (facts, warnings.unwrap())
    }

    fn record(fact: &Fact) -> Record {
        let shared = Shared {
            agent_id: "9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap(),
            identity_version: Some(1),
            stamps: anemone_format::StampTable::default(),
        };
        fact_record(fact, "memory/facts.db", &shared, &"2026-02-01T00:00:00Z".parse().unwrap())
    }

    const TABLE: &str = "CREATE TABLE facts(id INTEGER PRIMARY KEY, entity TEXT NOT NULL,
        key TEXT NOT NULL, value TEXT NOT NULL, category TEXT NOT NULL, source TEXT,
        created_at TEXT, last_accessed TEXT, access_count INTEGER DEFAULT 0,
        permanent BOOLEAN DEFAULT 0);
        CREATE VIRTUAL TABLE facts_fts USING fts5(entity,key,value,content=facts,content_rowid=id);";

    #[test]
    fn a_fact_becomes_a_preference() {
        let (facts, warnings) = facts(&format!(
            "{TABLE} INSERT INTO facts VALUES (12, 'Maria', 'key_3', 'text', 'person', 'chat',
             '2026-01-15 10:30:00', '2026-01-16T08:00:00+01:00', 4, 1);"
        ));
        assert_eq!(warnings, []);
        let record = record(&facts[0]);
        assert_eq!(record.content, "Maria — key_3: text");
        assert_eq!(record.memory_type, MemoryType::Preference);
        assert_eq!(record.namespace, "facts");
        assert_eq!(record.category.as_deref(), Some("person"));
        assert_eq!(record.tags, ["facts", "person"]);
        assert_eq!(record.entities[0].kind, EntityKind::Person);
        assert_eq!(record.temporal.created_at.as_str(), "2026-01-15T10:30:00Z");
        assert_eq!(record.temporal.updated_at, Some(record.temporal.created_at.clone()));
        let accessed = record.temporal.last_accessed_at.unwrap();
        assert_eq!(accessed.as_str(), "2026-01-16T08:00:00+01:00");
        assert_eq!(record.temporal.access_count, Some(4));
        // uuid5(6f70656e-636c-6177-2d61-6c662d6e7331, "memory/facts.db:12")
        assert_eq!(record.id.to_string(), "94db9a63-57cf-569f-be6c-3fab9a6d6736");
        assert_eq!(
            record.raw_source_format.unwrap().as_str(),
            r#"{"table":"facts","row":{"id":12,"entity":"Maria","key":"key_3","value":"text","category":"person","source":"chat","created_at":"2026-01-15 10:30:00","last_accessed":"2026-01-16T08:00:00+01:00","access_count":4,"permanent":1}}"#
        );
    }

    #[test]
    fn other_names_and_missing_columns_are_understood() {
        let (facts, _) = facts(
            "CREATE TABLE Facts(Subject, Predicate, Object);
             INSERT INTO Facts VALUES ('Berlin', 'is', 1.5), ('x', NULL, x'00ff');",
        );
        assert_eq!(facts[0].row_key, "1");
        assert_eq!(record(&facts[0]).content, "Berlin — is: 1.5");
        assert_eq!(record(&facts[0]).temporal.created_at.as_str(), "2026-02-01T00:00:00Z");
        let updated_at = record(&facts[0]).temporal.updated_at.unwrap();
        assert_eq!(updated_at.as_str(), "2026-02-01T00:00:00Z", "it is the time of the file");
        assert_eq!(record(&facts[0]).tags, ["facts"]);
        assert!(record(&facts[1]).content.starts_with("x: "), "{}", record(&facts[1]).content);
        let raw = record(&facts[1]).raw_source_format.unwrap();
        assert!(raw.as_str().contains(r#""Object":{"$hex":"00ff"}"#), "{}", raw.as_str());
    }

    #[test]
    fn bytes_are_searched_like_texts() {
        let (facts, _) = facts(
            "CREATE TABLE facts(entity, key, value, note);
             INSERT INTO facts VALUES ('a', 'b', 'c', x'ff' || CAST('sk-secret' AS BLOB));
             INSERT INTO facts VALUES ('a', 'b', 'c', CAST('sk-secret' AS BLOB));",
        );
        for fact in &facts {
            assert!(fact.texts().any(|text| text.contains("sk-secret")), "{fact:?}");
        }
        assert_eq!(facts[0].texts().filter(|text| *text == "c").count(), 1);
    }

    #[test]
    fn no_two_rows_have_one_key() {
        let (facts, _) = facts(
            "CREATE TABLE facts(id TEXT, entity, key, value);
             INSERT INTO facts VALUES ('a', 1, 1, 1), ('a', 2, 2, 2), (NULL, 3, 3, 3), ('3', 4, 4, 4);",
        );
        let mut keys: Vec<_> = facts.iter().map(|fact| fact.row_key.as_str()).collect();
        assert_eq!(keys.len(), 4);
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 4);
    }

    #[test]
    fn no_facts_are_no_warning_and_an_odd_table_is_one() {
        assert_eq!(facts(""), (vec![], vec![]));
        for script in [
            "CREATE TABLE facts(a, b);",
            "CREATE TABLE f(entity, key, value); CREATE VIEW facts AS SELECT * FROM f;",
        ] {
            let (facts, warnings) = facts(script);
            assert!(facts.is_empty());
            assert_eq!(warnings[0].code, "facts_unreadable", "{script}");
        }
    }

    #[test]
    fn times_are_read_in_the_ways_people_write_them() {
        let check = |value: Value, expected: Option<&str>| {
            assert_eq!(times::in_cell(&value).as_ref().map(Moment::as_str), expected, "{value:?}");
        };
        let text = |text: &str| Value::Text(text.to_owned());
        check(text("2026-01-15T10:30:00+01:00"), Some("2026-01-15T10:30:00+01:00"));
        check(text("2026-01-15 10:30:00"), Some("2026-01-15T10:30:00Z"));
        check(text("2026-01-15T10:30:00.5"), Some("2026-01-15T10:30:00.5Z"));
        check(text("2026-01-15"), Some("2026-01-15T00:00:00Z"));
        check(text("1768473000"), Some("2026-01-15T10:30:00Z"));
        check(Value::Integer(1_768_473_000), Some("2026-01-15T10:30:00Z"));
        check(Value::Integer(1_768_473_000_000), Some("2026-01-15T10:30:00Z"));
        check(Value::Real(1_768_473_000.25), Some("2026-01-15T10:30:00Z"));
        for value in [
            Value::Null,
            Value::Integer(0),
            Value::Integer(-1),
            Value::Integer(i64::MAX),
            Value::Real(f64::NAN),
            text(""),
            text("yesterday"),
            text("2026-02-30 10:00:00"),
        ] {
            check(value, None);
        }
    }
}
