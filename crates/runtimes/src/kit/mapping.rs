//! How each part of a snapshot is converted for each runtime, as data: `anemone migrate` shows it
//! before it changes anything, and `docs/mapping.md` is generated from it. Each table is in the
//! folder of its runtime.

use anemone_format::{FileRoot, Record, Status};
use zeroize::Zeroizing;

use crate::kit::{InstallBackend, InstallLayout, SecretText, sidecar};
use crate::{RUNTIMES, by_name};

/// The folder of a workspace that holds what its runtime has no place for.
pub const ORIGIN_FOLDER: &str = sidecar::SIDECAR;

/// What a runtime makes of another runtime's snapshot.
#[derive(Debug)]
pub struct Mapping {
    /// The runtime.
    pub runtime: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What becomes of each part: tables with one row a line, which has a layer, a kind, the word
    /// of a [`Becomes`] and a text. The first row that fits counts.
    pub(crate) tables: &'static [&'static str],
    /// Which fields of a record it holds, and how far.
    pub fields: &'static [FieldRule],
    /// The memory backend of this mapping, where the runtime has several and this is not the
    /// default.
    pub backend: Option<InstallBackend>,
    /// The memory backends that a new install can have; the first is the default.
    pub backends: &'static [InstallBackend],
    /// The layouts that a new install can have; the first is the default.
    pub layouts: &'static [InstallLayout],
    /// What the proof of a move has to know about it.
    pub proof: &'static ProofRules,
}

/// What the proof of a move has to know about a runtime.
#[derive(Debug)]
pub struct ProofRules {
    /// Files of an archive that describe the install and belong to no workspace.
    pub beside_workspace: &'static [&'static str],
    /// Columns that older versions of its table of memories do not have, each with the field of a
    /// record that it holds.
    pub optional_columns: &'static [(&'static str, &'static str)],
    /// The file that says whom the agent works for.
    pub user_file: &'static str,
    /// Returns the bare secret in the sealed payload of a credential; `None` when the payload is
    /// not in the runtime's own form.
    pub bare_secret: fn(&[u8]) -> Option<Zeroizing<String>>,
}

/// Returns the secret itself, whichever runtime's form it is wrapped in. Two runtimes have the same
/// credential when their bare secrets are equal.
#[must_use]
pub fn bare_secret(payload: &[u8]) -> Zeroizing<String> {
    let mut mappings = RUNTIMES.iter().flat_map(|runtime| runtime.mappings);
    let found = mappings.find_map(|mapping| (mapping.proof.bare_secret)(payload));
    found.unwrap_or_else(|| Zeroizing::new(String::from_utf8_lossy(payload).into_owned()))
}

/// Returns the two halves of a sign-in as one text; `None` when there is neither.
pub(crate) fn joined(
    access: Option<SecretText>,
    refresh: Option<SecretText>,
) -> Option<Zeroizing<String>> {
    if access.is_none() && refresh.is_none() {
        return None;
    }
    let [access, refresh] =
        [access, refresh].map(|half| half.map(|text| text.0).unwrap_or_default());
    Some(Zeroizing::new([access.as_str(), "\n", refresh.as_str()].concat()))
}

/// What becomes of one kind of thing.
#[derive(Clone, Copy, Debug)]
pub struct MappingRow {
    /// The layer: `identity`, `principals`, `credentials`, `memory` or `files`.
    pub layer: &'static str,
    /// The namespace of records, the part of a document, or the files; `*` is any other.
    pub kind: &'static str,
    /// What it becomes.
    pub becomes: Becomes,
}

impl MappingRow {
    fn parse(line: &'static str) -> Option<Self> {
        let mut words = line.splitn(4, ' ');
        let (layer, kind, word, text) =
            (words.next()?, words.next()?, words.next()?, words.next()?);
        let becomes = match word {
            "native" => Becomes::Native(text),
            "secret" => Becomes::NativeSecret(text),
            "aside" => Becomes::Aside(text),
            "nowhere" => Becomes::Nowhere(text),
            _ => return None,
        };
        Some(Self { layer, kind, becomes })
    }
}

/// Where something goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Becomes {
    /// The runtime has a place for it.
    Native(&'static str),
    /// The runtime has a place for it; it goes there when secrets are moved too.
    NativeSecret(&'static str),
    /// The runtime has no place for it, for this reason; the sidecar keeps it.
    Aside(&'static str),
    /// It goes nowhere, for this reason.
    Nowhere(&'static str),
}

impl Becomes {
    /// Returns the words for people.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Native(text)
            | Self::NativeSecret(text)
            | Self::Aside(text)
            | Self::Nowhere(text) => text,
        }
    }
}

/// How far a runtime holds a field of a record.
#[derive(Debug)]
pub struct FieldRule {
    /// The field, as [`FIELDS`] has it.
    pub field: &'static str,
    /// For people.
    pub note: &'static str,
    /// Returns whether a record that has the field keeps it.
    held: fn(&Record) -> bool,
    /// Whether the rule also counts for records that the runtime itself wrote.
    own: bool,
}

/// A field of meaning.
pub struct Field {
    /// Its name in the format.
    pub name: &'static str,
    /// Returns its value as JSON; `None` when the record does not have it.
    pub value: fn(&Record) -> Option<String>,
}

/// The fields of a record that are part of its meaning. What says where a record
/// came from is not among them: the sidecar always has it.
pub const FIELDS: &[Field] = &[
    Field {
        name: "created_at",
        value: |record| Some(record.temporal.created_at.instant().to_string()),
    },
    Field { name: "observed_at", value: |record| moment(record.temporal.observed_at.as_ref()) },
    Field { name: "valid_from", value: |record| moment(record.temporal.valid_from.as_ref()) },
    Field { name: "valid_until", value: |record| moment(record.temporal.valid_until.as_ref()) },
    Field { name: "status", value: |record| Some(record.status.as_str().to_owned()) },
    Field { name: "memory_type", value: |record| Some(record.memory_type.as_str().to_owned()) },
    Field { name: "category", value: category },
    Field {
        name: "confidence",
        value: |record| record.confidence.map(|confidence| confidence.to_string()),
    },
    Field { name: "tags", value: tags },
    Field { name: "entities", value: |record| list(&record.entities) },
    Field { name: "related_records", value: |record| list(&record.related_records) },
    Field { name: "embeddings", value: vectors },
];

/// Moments are the same whatever their offsets.
fn moment(it: Option<&anemone_format::Moment>) -> Option<String> {
    it.map(|record| record.instant().to_string())
}

fn list<T: serde::Serialize>(list: &[T]) -> Option<String> {
    // What was read from JSON can be written as JSON.
    (!list.is_empty()).then(|| serde_json::to_string(list).unwrap_or_default())
}

/// What made a vector is the install's knowledge; the numbers are the record's.
fn vectors(record: &Record) -> Option<String> {
    let vectors: Vec<&[f32]> =
        record.embeddings.iter().map(|embedding| &embedding.vector[..]).collect();
    list(&vectors)
}

/// A category that repeats the namespace adds nothing.
fn category(record: &Record) -> Option<String> {
    let shelf = record.namespace.as_str();
    let shelf = shelf.strip_prefix("custom:").unwrap_or(shelf);
    record.category.clone().filter(|category| category != shelf)
}

/// Returns the labels of a record, without those that repeat the category, the shelf or the
/// runtime: they say nothing.
#[must_use]
pub fn telling_tags(record: &Record) -> Vec<&str> {
    let repeats = |tag: &str| {
        tag == record.namespace
            || tag == record.source.runtime
            || record.category.as_deref() == Some(tag)
    };
    record.tags.iter().map(String::as_str).filter(|tag| !repeats(tag)).collect()
}

/// Labels have no order.
fn tags(record: &Record) -> Option<String> {
    let mut tags = telling_tags(record);
    tags.sort_unstable();
    tags.dedup();
    list(&tags)
}

pub(crate) const fn without(field: &'static str, note: &'static str) -> FieldRule {
    FieldRule { field, note, held: |_| false, own: false }
}

/// A rule that also counts for records that the runtime itself wrote.
pub(crate) const fn never(field: &'static str, note: &'static str) -> FieldRule {
    FieldRule { field, note, held: |_| false, own: true }
}

pub(crate) const fn within(
    field: &'static str,
    note: &'static str,
    held: fn(&Record) -> bool,
) -> FieldRule {
    FieldRule { field, note, held, own: false }
}

/// Deleted records, of which only a mark is left.
pub(crate) const DELETED: &str = "(deleted)";
/// Records that their runtime keeps for one person.
pub(crate) const PRIVATE: &str = "(private)";
/// Records without text.
pub(crate) const BLANK: &str = "(blank)";
/// Kinds that are not namespaces.
const MARKS: [&str; 3] = [DELETED, PRIVATE, BLANK];

/// Whether a moment is the beginning of a day.
pub(crate) fn is_midnight(at: &anemone_format::Moment) -> bool {
    at.instant().to_string().ends_with("T00:00:00Z")
}

/// Returns whether a record was made from a row that only one person sees.
pub(crate) fn is_private(record: &Record) -> bool {
    let runtime = by_name(&record.source.runtime);
    runtime.is_some_and(|runtime| runtime.records.is_private(record))
}

/// Returns what a runtime with its default backend makes of snapshots.
#[must_use]
pub fn mapping(runtime: &str) -> Option<&'static Mapping> {
    by_name(runtime)?.mappings.first()
}

/// Returns what a runtime with this backend makes of snapshots.
#[must_use]
pub fn mapping_with(runtime: &str, backend: InstallBackend) -> Option<&'static Mapping> {
    let mappings = by_name(runtime)?.mappings;
    mappings.iter().find(|mapping| mapping.backend == Some(backend)).or(mappings.first())
}

impl Mapping {
    /// Returns every row.
    pub fn rows(&self) -> impl Iterator<Item = MappingRow> + use<> {
        self.tables.iter().flat_map(|table| table.lines()).filter_map(MappingRow::parse)
    }

    /// Returns what becomes of a part of a layer.
    #[must_use]
    pub fn row(&self, layer: &str, kind: &str) -> Option<MappingRow> {
        let rows = || self.rows().filter(|row| row.layer == layer);
        let exact = rows().find(|row| row.kind == kind && !MARKS.contains(&row.kind));
        exact.or_else(|| rows().find(|row| fits(row.kind, kind)))
    }

    /// Returns what becomes of a record.
    #[must_use]
    pub fn row_of(&self, record: &Record) -> Option<MappingRow> {
        let foreign = record.source.runtime != self.runtime;
        let mark = match record.status.effective() {
            Status::Deleted => Some(DELETED),
            _ if foreign && is_private(record) => Some(PRIVATE),
            _ if foreign && record.content.trim().is_empty() => Some(BLANK),
            _ => None,
        };
        let marked = mark.and_then(|mark| self.rows().find(|row| row.kind == mark));
        marked.or_else(|| self.row("memory", &record.namespace))
    }

    /// Returns what becomes of a file.
    #[must_use]
    pub fn row_of_file(&self, root: &FileRoot, path: &[u8]) -> Option<MappingRow> {
        let path = String::from_utf8_lossy(path);
        match root {
            FileRoot::Raw(runtime) => self.row("files", &format!("raw/{runtime}/{path}")),
            FileRoot::Artifacts | FileRoot::Other => self.row("files", "artifacts"),
        }
    }

    /// Returns the fields of a record that have no place, or lose some of their meaning.
    #[must_use]
    pub fn degraded(&self, record: &Record) -> Vec<&'static str> {
        self.without(record, record.source.runtime == self.runtime)
    }

    /// Returns the same for a record that is rewritten in another form, even if it is one of the
    /// runtime's own: a row becomes an entry of a file, or an entry becomes a row.
    #[must_use]
    pub fn degraded_anew(&self, record: &Record) -> Vec<&'static str> {
        self.without(record, false)
    }

    fn without(&self, record: &Record, own: bool) -> Vec<&'static str> {
        let has = |name: &str| {
            FIELDS.iter().any(|field| field.name == name && (field.value)(record).is_some())
        };
        let rules = self.fields.iter().filter(|field| field.own || !own);
        rules
            .filter(|rule| has(rule.field) && !(rule.held)(record))
            .map(|rule| rule.field)
            .collect()
    }
}

fn fits(pattern: &str, kind: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => kind.starts_with(start),
        None => pattern == kind && !MARKS.contains(&pattern),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use anemone_format::MemoryType;

    use super::*;

    /// Returns the fields of a record that have no place in a runtime.
    fn degraded(target: &str, record: &Record) -> Vec<&'static str> {
        mapping(target).unwrap().degraded(record)
    }

    fn record(namespace: &str) -> Record {
        let id = "1d93a526-85b1-5b5b-9ac8-2fcc8749633d".parse().unwrap();
        let agent = "9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap();
        let at = "2026-01-15T10:00:00Z".parse().unwrap();
        let mut record = Record::new(id, agent, "elsewhere", at, "Tea is green.");
        record.namespace = namespace.to_owned();
        record
    }

    /// Writes every table for people.
    fn to_markdown() -> String {
        let mut text = String::from(
            "# What becomes what\n\n\
             `anemone migrate` moves an agent to another runtime. Data that the runtime has a place for is\n\
             converted; everything else is stored in the folder `.alf-origin` of the workspace, the sidecar,\n\
             record by record, and restored when the agent returns. This page is generated from the tables that\n\
             the program uses (`mapping.rs` of each runtime in `crates/runtimes/src`).\n",
        );
        for mapping in RUNTIMES.iter().flat_map(|runtime| runtime.mappings) {
            write_mapping(mapping, &mut text);
        }
        text
    }

    fn write_mapping(mapping: &Mapping, text: &mut String) {
        let title = mapping.title;
        let mut add = |line: std::fmt::Arguments<'_>| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{line}");
        };
        add(format_args!("\n## To {title}\n\n| layer | what | becomes |\n|---|---|---|"));
        for row in mapping.rows() {
            let becomes = match row.becomes {
                Becomes::Native(text) => text.to_owned(),
                Becomes::NativeSecret(text) => format!("{text}, if secrets are moved too"),
                Becomes::Aside(reason) => format!("only in the sidecar: {reason}"),
                Becomes::Nowhere(reason) => format!("nothing: {reason}"),
            };
            let is_only = mapping.rows().filter(|record| record.layer == row.layer).count() == 1;
            let kind = match row.kind {
                "*" if is_only => "all".to_owned(),
                "*" => "anything else".to_owned(),
                kind => format!("`{kind}`"),
            };
            add(format_args!("| {} | {kind} | {becomes} |", row.layer));
        }
        add(format_args!("\n| field of a record | in {title} |\n|---|---|"));
        for rule in mapping.fields {
            add(format_args!("| `{}` | {} |", rule.field, rule.note.replace('|', "\\|")));
        }
    }

    #[test]
    fn every_field_has_a_rule_in_every_runtime_and_every_rule_a_field() {
        let fields: Vec<&str> = FIELDS.iter().map(|field| field.name).collect();
        for mapping in RUNTIMES.iter().flat_map(|runtime| runtime.mappings) {
            let rules: Vec<&str> = mapping.fields.iter().map(|field| field.field).collect();
            assert_eq!(rules, fields, "{}", mapping.runtime);
        }
    }

    #[test]
    fn every_table_has_a_row_for_anything() {
        for mapping in RUNTIMES.iter().flat_map(|runtime| runtime.mappings) {
            for layer in ["identity", "principals", "credentials", "memory"] {
                assert!(mapping.row(layer, "no such thing").is_some(), "{layer}");
            }
            for root in [FileRoot::Artifacts, FileRoot::Raw("other".to_owned()), FileRoot::Other] {
                assert!(mapping.row_of_file(&root, b"a").is_some());
            }
        }
    }

    #[test]
    fn a_plain_fact_loses_nothing_in_a_database_and_its_hour_in_markdown() {
        assert_eq!(degraded("zeroclaw", &record("curated")), [""; 0]);
        assert_eq!(degraded("openclaw", &record("curated")), ["created_at"]);
        let mut daily = record("daily");
        daily.memory_type = MemoryType::Episodic;
        assert_eq!(degraded("openclaw", &daily), [""; 0]);
    }

    #[test]
    fn what_has_no_column_is_named() {
        let mut full = record("curated");
        full.tags = vec!["trigger:tea".to_owned()];
        full.category = Some("mood".to_owned());
        full.confidence = Some(0.55);
        full.temporal.observed_at = Some("2026-01-14T00:00:00Z".parse().unwrap());
        full.status = Status::Archived;
        full.memory_type = MemoryType::Summary;
        assert_eq!(
            degraded("zeroclaw", &full),
            ["observed_at", "status", "memory_type", "category", "tags"]
        );
        let markdown = mapping_with("zeroclaw", InstallBackend::Markdown).unwrap();
        // An archived entry is in the archive of its day.
        assert_eq!(
            markdown.degraded(&full),
            ["created_at", "memory_type", "category", "confidence", "tags"]
        );
        assert_eq!(degraded("openclaw", &full), ["created_at", "status", "memory_type"]);
        full.category = None;
        full.status = Status::Superseded;
        assert_eq!(degraded("openclaw", &full), ["created_at", "memory_type", "confidence"]);
    }

    #[test]
    fn a_record_that_returns_to_its_own_runtime_loses_only_what_that_makes_again() {
        let mut own = record("curated");
        own.source.runtime = "openclaw".to_owned();
        own.tags = vec!["tea".to_owned()];
        assert_eq!(degraded("openclaw", &own), [""; 0]);
    }

    #[test]
    fn nobody_else_reads_what_one_person_keeps_and_nobody_reads_a_blank() {
        let openclaw = mapping("openclaw").unwrap();
        let mut private = record("core");
        private.source.runtime = "zeroclaw".to_owned();
        assert_eq!(openclaw.row_of(&private).unwrap().kind, "core");
        for raw in [
            serde_json::json!({"key": "p|lin|tea"}),
            serde_json::json!({"key": "tea", "row": {"principal_id": "lin"}}),
        ] {
            private.raw_source_format = Some(anemone_format::Opaque::new(&raw).unwrap());
            assert_eq!(openclaw.row_of(&private).unwrap().kind, PRIVATE);
        }
        let mut blank = record("core");
        blank.content = " \n".to_owned();
        assert_eq!(openclaw.row_of(&blank).unwrap().kind, BLANK);
        assert_eq!(openclaw.row("memory", BLANK).unwrap().kind, "*", "a namespace is no mark");
    }

    #[test]
    fn what_a_text_says_already_is_not_said_again() {
        let mut rated = record("core");
        rated.confidence = Some(0.7);
        assert_eq!(degraded("openclaw", &rated), ["created_at"]);
        rated.content = "- [decision|i=0.9] Tea, status: superseded".to_owned();
        assert_eq!(degraded("openclaw", &rated), ["created_at", "status", "confidence"]);
        let mut tagged = record("core");
        tagged.content = "Tea #green".to_owned();
        tagged.tags = vec!["green".to_owned(), "trigger:a b".to_owned()];
        assert_eq!(degraded("openclaw", &tagged), ["created_at"]);
        for odd in ["gree", "trigger:a, b", "project:a--b"] {
            tagged.tags = vec![odd.to_owned()];
            assert_eq!(degraded("openclaw", &tagged), ["created_at", "tags"], "{odd}");
        }
    }

    #[test]
    fn the_file_that_a_record_goes_into_says_its_day_and_type() {
        let mut log = record("custom:2026-01-15");
        log.memory_type = MemoryType::Episodic;
        assert_eq!(degraded("openclaw", &log), [""; 0]);
        log.namespace = "daily".to_owned();
        log.temporal.observed_at = Some("2026-01-14T00:00:00Z".parse().unwrap());
        assert_eq!(degraded("openclaw", &log), ["created_at"]);
    }

    #[test]
    fn a_row_that_becomes_an_entry_of_a_file_loses_what_files_cannot_hold() {
        let mut own = record("core");
        own.source.runtime = "zeroclaw".to_owned();
        own.confidence = Some(0.9);
        let markdown = mapping_with("zeroclaw", InstallBackend::Markdown).unwrap();
        assert_eq!(markdown.degraded(&own), [""; 0]);
        assert_eq!(markdown.degraded_anew(&own), ["created_at", "confidence"]);
        assert_eq!(mapping_with("openclaw", InstallBackend::Markdown).unwrap().runtime, "openclaw");
    }

    #[test]
    fn a_row_is_found_by_its_name_before_a_pattern() {
        let zeroclaw = mapping("zeroclaw").unwrap();
        let of = |namespace: &str| zeroclaw.row("memory", namespace).unwrap().becomes.text();
        assert_eq!(of("facts"), "an entry of category core");
        assert_eq!(of("recipes"), "an entry whose category is the namespace");
        let config = zeroclaw.row_of_file(&FileRoot::Raw("zeroclaw".to_owned()), b"config.toml");
        assert_eq!(config.unwrap().kind, "raw/zeroclaw/config.toml");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test looks for what it is run with")]
    fn the_page_is_that_of_the_tables() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mapping.md");
        let made = to_markdown();
        if std::env::var_os("ANEMONE_UPDATE").is_some() {
            fs_err::write(&path, &made).unwrap();
        }
        let kept = fs_err::read_to_string(&path).unwrap();
        assert!(kept == made, "{path:?} is out of date: run it with ANEMONE_UPDATE=1");
    }
}
