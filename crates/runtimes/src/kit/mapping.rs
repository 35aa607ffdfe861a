//! What becomes of each part of a snapshot in each runtime, as data: `anemone migrate` shows it
//! before it does anything, and `docs/mapping.md` is made of it.

use std::fmt::Write as _;

use anemone_format::{FileRoot, MemoryType, Record, Status};
use serde::Deserialize;

use crate::kit::plan::{InstallBackend, InstallLayout};
use crate::kit::sidecar;
use crate::{openclaw, zeroclaw};

/// The folder of a workspace that holds what its runtime has no place for.
pub const ORIGIN_FOLDER: &str = sidecar::SIDECAR;

/// What a runtime makes of another's snapshot.
#[derive(Debug)]
pub struct Mapping {
    /// The runtime.
    pub runtime: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What becomes of each part, in tables; the first row that fits counts.
    pub tables: &'static [&'static [Row]],
    /// Which fields of a record it holds, and how far.
    pub fields: &'static [FieldRule],
    /// How it keeps memories, where there are several ways and this is not the usual one.
    pub backend: Option<InstallBackend>,
    /// The ways a new install can keep memories; the first is the usual one.
    pub backends: &'static [InstallBackend],
    /// The ways a new install can be laid out; the first is the usual one.
    pub layouts: &'static [InstallLayout],
}

/// What becomes of one kind of thing.
#[derive(Debug)]
pub struct Row {
    /// The layer: `identity`, `principals`, `credentials`, `memory` or `files`.
    pub layer: &'static str,
    /// The namespace of records, the part of a document, or the files; `*` is any other.
    pub kind: &'static str,
    /// What it becomes.
    pub becomes: Becomes,
}

/// Where something goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Becomes {
    /// The runtime has a place for it.
    Native(&'static str),
    /// It has none, for this reason; the sidecar keeps it.
    Aside(&'static str),
    /// It goes nowhere, for this reason.
    Nowhere(&'static str),
}

impl Becomes {
    /// Returns the words for people.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Native(text) | Self::Aside(text) | Self::Nowhere(text) => text,
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
    /// Says whether a record that has the field keeps it.
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

/// The fields of a record that mean something to whoever remembers it. What says where a record
/// came from is not among them: it always rides in the sidecar.
pub const FIELDS: &[Field] = &[
    Field { name: "created_at", value: |it| Some(it.temporal.created_at.instant().to_string()) },
    Field { name: "observed_at", value: |it| moment(it.temporal.observed_at.as_ref()) },
    Field { name: "valid_from", value: |it| moment(it.temporal.valid_from.as_ref()) },
    Field { name: "valid_until", value: |it| moment(it.temporal.valid_until.as_ref()) },
    Field { name: "status", value: |it| Some(it.status.as_str().to_owned()) },
    Field { name: "memory_type", value: |it| Some(it.memory_type.as_str().to_owned()) },
    Field { name: "category", value: category },
    Field { name: "confidence", value: |it| it.confidence.map(|it| it.to_string()) },
    Field { name: "tags", value: tags },
    Field { name: "entities", value: |it| list(&it.entities) },
    Field { name: "related_records", value: |it| list(&it.related_records) },
    Field { name: "embeddings", value: vectors },
];

/// The same moment is the same, whatever its offset.
fn moment(it: Option<&anemone_format::Moment>) -> Option<String> {
    it.map(|it| it.instant().to_string())
}

fn list<T: serde::Serialize>(list: &[T]) -> Option<String> {
    // What was read from JSON can be written as JSON.
    (!list.is_empty()).then(|| serde_json::to_string(list).unwrap_or_default())
}

/// What made a vector is the install's knowledge; the numbers are the record's.
fn vectors(record: &Record) -> Option<String> {
    let vectors: Vec<&[f32]> = record.embeddings.iter().map(|it| &it.vector[..]).collect();
    list(&vectors)
}

/// A category that repeats the shelf says nothing.
fn category(record: &Record) -> Option<String> {
    let shelf = record.namespace.as_str();
    let shelf = shelf.strip_prefix("custom:").unwrap_or(shelf);
    record.category.clone().filter(|it| it != shelf)
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

const fn native(layer: &'static str, kind: &'static str, becomes: &'static str) -> Row {
    Row { layer, kind, becomes: Becomes::Native(becomes) }
}

const fn aside(layer: &'static str, kind: &'static str, reason: &'static str) -> Row {
    Row { layer, kind, becomes: Becomes::Aside(reason) }
}

const fn nowhere(layer: &'static str, kind: &'static str, reason: &'static str) -> Row {
    Row { layer, kind, becomes: Becomes::Nowhere(reason) }
}

const fn without(field: &'static str, note: &'static str) -> FieldRule {
    FieldRule { field, note, held: |_| false, own: false }
}

const fn within(field: &'static str, note: &'static str, held: fn(&Record) -> bool) -> FieldRule {
    FieldRule { field, note, held, own: false }
}

/// Records of which only a mark is left.
const DELETED: &str = "(deleted)";
/// Records that their runtime keeps for one person.
const PRIVATE: &str = "(private)";
/// Records without a word.
const BLANK: &str = "(blank)";
/// Kinds that no namespace has.
const MARKS: [&str; 3] = [DELETED, PRIVATE, BLANK];

/// Every runtime that a snapshot can go to.
pub const MAPPINGS: &[Mapping] = &[
    Mapping {
        runtime: openclaw::RUNTIME,
        title: "OpenClaw",
        tables: &[OPENCLAW],
        fields: OPENCLAW_FIELDS,
        backend: None,
        backends: &[],
        layouts: &[],
    },
    Mapping {
        runtime: zeroclaw::RUNTIME,
        title: "ZeroClaw",
        tables: &[ZEROCLAW_PERSONA, ZEROCLAW_ENTRIES, ZEROCLAW_FILES],
        fields: ZEROCLAW_FIELDS,
        backend: None,
        backends: &[InstallBackend::Sqlite, InstallBackend::Markdown],
        layouts: &[InstallLayout::Data, InstallLayout::Workspace],
    },
    Mapping {
        runtime: zeroclaw::RUNTIME,
        title: "ZeroClaw with Markdown",
        tables: &[ZEROCLAW_PERSONA, ZEROCLAW_MARKDOWN, ZEROCLAW_FILES],
        fields: ZEROCLAW_MARKDOWN_FIELDS,
        backend: Some(InstallBackend::Markdown),
        backends: &[InstallBackend::Sqlite, InstallBackend::Markdown],
        layouts: &[InstallLayout::Data, InstallLayout::Workspace],
    },
];

const OPENCLAW: &[Row] = &[
    native("identity", "soul", "SOUL.md"),
    native("identity", "identity_profile", "IDENTITY.md"),
    native("identity", "operating_instructions", "AGENTS.md"),
    native("identity", "tools_guidance", "TOOLS.md"),
    native("identity", "heartbeat_checklist", "HEARTBEAT.md"),
    native("identity", "boot_checklist", "BOOT.md"),
    native("identity", "bootstrap", "BOOTSTRAP.md"),
    native("identity", "names", "IDENTITY.md"),
    native("identity", "role", "IDENTITY.md"),
    native("identity", "goals", "IDENTITY.md"),
    native("identity", "capabilities", "IDENTITY.md"),
    native("identity", "sub_agents", "sections of AGENTS.md"),
    aside("identity", "*", "OpenClaw has no file for it"),
    native("principals", "*", "USER.md, users/*/USER.md"),
    native("credentials", "*", "a profile in the install's store, with --credentials"),
    nowhere("memory", DELETED, "only the mark is left that it was deleted"),
    aside("memory", PRIVATE, "OpenClaw shows its files to everyone"),
    aside("memory", BLANK, "there is nothing to read"),
    native("memory", "daily", "a section of memory/YYYY-MM-DD.md"),
    native("memory", "curated", "a section of MEMORY.md"),
    native("memory", "core", "a section of MEMORY.md"),
    native("memory", "custom:*", "a section of memory/LABEL.md"),
    native("memory", "active-context", "memory/active-context.md"),
    native("memory", "project", "a section of memory/project-NAME.md"),
    native("memory", "procedural", "a section of memory/gating-policies.md"),
    native("memory", "facts", "a section of memory/facts.md"),
    aside("memory", "session", "transcripts lie in a store of the runtime's own"),
    native("memory", "*", "a section of memory/NAMESPACE.md"),
    native("files", "artifacts", "the file itself"),
    nowhere("files", "raw/zeroclaw/.alf-database.json", "describes the database for the archive"),
    native("files", "raw/*", "the file itself where OpenClaw knows it, else the sidecar"),
];

const OPENCLAW_FIELDS: &[FieldRule] = &[
    within("created_at", "the day of a daily log; elsewhere the file's time", |it| {
        openclaw::home(it).day == Some(it.temporal.created_at.utc_date())
    }),
    within("observed_at", "the day, in a comment", |it| {
        let home = openclaw::home(it);
        it.temporal.observed_at.as_ref().is_none_or(|at| {
            is_midnight(at)
                && (home.day.is_none_or(|day| day == at.utc_date()))
                && (home.day.is_some() || it.source.origin_file.as_deref() != Some(&home.path))
        })
    }),
    without("valid_from", "none"),
    without("valid_until", "none"),
    within("status", "superseded in a comment, beside the day; nothing else", |it| {
        let silent = !it.content.contains("status:");
        match it.status.as_str() {
            "active" => silent,
            "superseded" => silent && it.temporal.observed_at.is_some(),
            _ => false,
        }
    }),
    within("memory_type", "by the file that it stands in", |it| {
        it.memory_type.as_str() == openclaw::home(it).memory_type
    }),
    within(
        "category",
        "the tag `[category|i=0.9]`, one word; none where it repeats the namespace",
        is_tagged,
    ),
    within(
        "confidence",
        "the tag `[category|i=0.9]`, else a comment from 1 to 10; 0.5 goes without",
        |it| {
            let tenths = it.confidence.unwrap_or(0.0) * 10.0;
            let whole = (tenths - tenths.round()).abs() < 1e-9 && tenths >= 1.0 && tenths != 5.0;
            let silent = !it.content.contains("|i=") && !it.content.contains("importance:");
            silent && (whole || (it.category.is_some() && is_tagged(it)))
        },
    ),
    within(
        "tags",
        "`trigger:` and `project:` as comments, the category as a tag, others in the text",
        |it| {
            telling_tags(it).iter().all(|tag| {
                let noted = |name: &str| {
                    tag.strip_prefix(name).is_some_and(is_a_word_or_more)
                        && !it.content.contains(&format!("<!-- {name}"))
                };
                noted("trigger:") || noted("project:") || is_hashtag(tag, &it.content)
            })
        },
    ),
    without("entities", "none"),
    without("related_records", "none"),
    FieldRule {
        field: "embeddings",
        note: "none: OpenClaw makes them again",
        held: |_| false,
        own: true,
    },
];

/// Says whether a record's category and confidence become one tag that is read back.
fn is_tagged(record: &Record) -> bool {
    let plain = |c: char| c.is_alphanumeric() || c == '_';
    let Some(category) = &record.category else { return true };
    let namespace = record.namespace.as_str();
    record.confidence.is_some()
        && !record.content.contains("|i=")
        && namespace.strip_prefix("custom:").unwrap_or(namespace) != category
        && category.chars().count() <= 64
        && category.chars().all(plain)
        && category.chars().any(char::is_alphanumeric)
}

/// Says whether a value stands in a comment as it is, and comes out of it as one.
fn is_a_word_or_more(value: &str) -> bool {
    let spaced = value.split_whitespace().collect::<Vec<_>>().join(" ");
    !value.is_empty() && value == spaced && !value.contains(',') && !value.contains("--")
}

/// Says whether a text has a label behind a hash sign, and it ends there.
fn is_hashtag(tag: &str, text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || c == '_';
    let ends = |(at, found): (usize, &str)| !text[at + found.len()..].starts_with(plain);
    let hashed = format!("#{tag}");
    tag.chars().all(plain) && text.match_indices(&hashed).any(ends)
}

fn is_midnight(at: &anemone_format::Moment) -> bool {
    at.instant().to_string().ends_with("T00:00:00Z")
}

/// Says whether a record is one of ZeroClaw's that only one person sees.
pub(crate) fn is_private(record: &Record) -> bool {
    #[derive(Default, Deserialize)]
    struct Raw {
        #[serde(default)]
        key: serde_json::Value,
        #[serde(default)]
        row: serde_json::Value,
    }
    if record.source.runtime != zeroclaw::RUNTIME {
        return false;
    }
    let raw: Raw =
        record.raw_source_format.as_ref().and_then(|it| it.parse().ok()).unwrap_or_default();
    raw.key.as_str().is_some_and(|key| key.starts_with("p|"))
        || raw.row.get("principal_id").is_some_and(|it| !it.is_null())
}

/// What is the same in ZeroClaw however it keeps memories.
const ZEROCLAW_PERSONA: &[Row] = &[
    native("identity", "soul", "SOUL.md"),
    native("identity", "identity_profile", "IDENTITY.md"),
    native("identity", "operating_instructions", "AGENTS.md"),
    native("identity", "tools_guidance", "TOOLS.md"),
    native("identity", "heartbeat_checklist", "HEARTBEAT.md"),
    native("identity", "bootstrap", "BOOTSTRAP.md"),
    native("identity", "names", "IDENTITY.md or AIEOS"),
    native("identity", "role", "IDENTITY.md or AIEOS"),
    native("identity", "goals", "IDENTITY.md or AIEOS"),
    native("identity", "psychology", "AIEOS"),
    native("identity", "linguistics", "AIEOS"),
    native("identity", "capabilities", "IDENTITY.md or AIEOS"),
    native("identity", "sub_agents", "sections of AGENTS.md"),
    aside("identity", "*", "ZeroClaw has no file for it"),
    native("principals", "*", "USER.md"),
    native("credentials", "*", "a secret of config.toml, with --credentials"),
    nowhere("memory", DELETED, "only the mark is left that it was deleted"),
    aside("memory", BLANK, "there is nothing to read"),
];

const ZEROCLAW_ENTRIES: &[Row] = &[
    native("memory", "curated", "an entry of category core"),
    native("memory", "facts", "an entry of category core"),
    native("memory", "daily", "an entry of category daily"),
    native("memory", "procedural", "an entry of category procedural"),
    native("memory", "project", "an entry of category project"),
    native("memory", "session", "an entry of category conversation"),
    native("memory", "core", "an entry of category core"),
    native("memory", "conversation", "an entry of category conversation"),
    native("memory", "custom:*", "an entry of that category"),
    native("memory", "*", "an entry of the category that is called as the namespace"),
];

const ZEROCLAW_FILES: &[Row] = &[
    native("files", "artifacts", "the file itself"),
    native("files", "raw/zeroclaw/config.toml", "settings that config.toml does not have yet"),
    nowhere("files", "raw/zeroclaw/.alf-database.json", "describes the database for the archive"),
    native("files", "raw/*", "the file itself where ZeroClaw knows it, else the sidecar"),
];

const ZEROCLAW_FIELDS: &[FieldRule] = &[
    within("created_at", "created_at", |_| true),
    without("observed_at", "none"),
    without("valid_from", "none"),
    without("valid_until", "none"),
    within("status", "active, or superseded by another entry", |it| {
        matches!(it.status.as_str(), "active" | "superseded")
    }),
    within("memory_type", "kind (since 0.8); a summary has none", |it| match it.memory_type {
        MemoryType::Procedural | MemoryType::Episodic | MemoryType::Preference => true,
        // Its kind says that it is a preference.
        MemoryType::Semantic => it.category.as_deref() != Some("preference"),
        _ => false,
    }),
    without("category", "none; kind tells preferences, decisions and entities from facts"),
    within("confidence", "importance", |it| {
        it.confidence.is_none_or(|it| (0.0..=1.0).contains(&it))
    }),
    without("tags", "none"),
    without("entities", "none"),
    without("related_records", "none"),
    without("embeddings", "none: ZeroClaw makes them again"),
];

const ZEROCLAW_MARKDOWN: &[Row] = &[
    aside("memory", "session", "transcripts lie in a store of the runtime's own"),
    native("memory", "curated", "an entry of MEMORY.md"),
    native("memory", "core", "an entry of MEMORY.md"),
    native("memory", "daily", "an entry of memory/YYYY-MM-DD.md"),
    native("memory", "conversation", "an entry of memory/YYYY-MM-DD.md"),
    native("memory", "*", "an entry of MEMORY.md, or of the log of its day"),
];

const ZEROCLAW_MARKDOWN_FIELDS: &[FieldRule] = &[
    within("created_at", "the day of a log; in MEMORY.md the file's time", |it| {
        let at = &it.temporal;
        is_in_log(it)
            && at.observed_at.as_ref().is_none_or(|day| day.utc_date() == at.created_at.utc_date())
    }),
    within("observed_at", "the day of a log", |it| {
        is_in_log(it) && it.temporal.observed_at.as_ref().is_none_or(is_midnight)
    }),
    without("valid_from", "none"),
    without("valid_until", "none"),
    within("status", "archived: memory/archive", |it| {
        matches!(it.status.as_str(), "active" | "archived")
    }),
    within("memory_type", "semantic in MEMORY.md, episodic in logs", |it| {
        it.memory_type.as_str() == if is_in_log(it) { "episodic" } else { "semantic" }
    }),
    without("category", "none"),
    without("confidence", "none"),
    without("tags", "none"),
    without("entities", "none"),
    without("related_records", "none"),
    without("embeddings", "none"),
];

/// Says whether ZeroClaw's Markdown has a record in the log of its day, and not in `MEMORY.md`.
fn is_in_log(record: &Record) -> bool {
    let durable = [MemoryType::Semantic, MemoryType::Procedural, MemoryType::Preference];
    match (record.status.effective(), record.namespace.as_str()) {
        (Status::Archived | Status::Superseded, _) => true,
        (_, "core" | "curated") => false,
        (_, "daily" | "conversation" | "session") => true,
        _ if record.source.runtime == zeroclaw::RUNTIME => true,
        _ => !durable.contains(record.memory_type.effective()),
    }
}

/// Returns what a runtime makes of snapshots that keeps memories in its usual way.
#[must_use]
pub fn mapping(runtime: &str) -> Option<&'static Mapping> {
    MAPPINGS.iter().find(|it| it.runtime == runtime)
}

/// The same, where it keeps them in the way that is given.
#[must_use]
pub fn mapping_with(runtime: &str, backend: InstallBackend) -> Option<&'static Mapping> {
    let special = MAPPINGS.iter().find(|it| it.runtime == runtime && it.backend == Some(backend));
    special.or_else(|| mapping(runtime))
}

impl Mapping {
    /// Returns every row.
    pub fn rows(&self) -> impl Iterator<Item = &'static Row> + use<> {
        self.tables.iter().copied().flatten()
    }

    /// Returns what becomes of a part of a layer.
    #[must_use]
    pub fn row(&self, layer: &str, kind: &str) -> Option<&'static Row> {
        let rows = || self.rows().filter(|it| it.layer == layer);
        let exact = rows().find(|it| it.kind == kind && !MARKS.contains(&it.kind));
        exact.or_else(|| rows().find(|it| fits(it.kind, kind)))
    }

    /// Returns what becomes of a record.
    #[must_use]
    pub fn row_of(&self, record: &Record) -> Option<&'static Row> {
        let foreign = record.source.runtime != self.runtime;
        let mark = match record.status.effective() {
            Status::Deleted => Some(DELETED),
            _ if foreign && is_private(record) => Some(PRIVATE),
            _ if foreign && record.content.trim().is_empty() => Some(BLANK),
            _ => None,
        };
        let marked = mark.and_then(|mark| self.rows().find(|it| it.kind == mark));
        marked.or_else(|| self.row("memory", &record.namespace))
    }

    /// Returns what becomes of a file.
    #[must_use]
    pub fn row_of_file(&self, root: &FileRoot, path: &[u8]) -> Option<&'static Row> {
        let path = String::from_utf8_lossy(path);
        match root {
            FileRoot::Raw(runtime) => self.row("files", &format!("raw/{runtime}/{path}")),
            FileRoot::Artifacts | FileRoot::Other => self.row("files", "artifacts"),
        }
    }

    /// Returns the fields of a record that have no place, or lose some of what they say.
    #[must_use]
    pub fn degraded(&self, record: &Record) -> Vec<&'static str> {
        self.without(record, record.source.runtime == self.runtime)
    }

    /// The same of a record that is written anew, also when it is one of the runtime's own: a row
    /// becomes an entry of a file, or an entry a row.
    #[must_use]
    pub fn degraded_anew(&self, record: &Record) -> Vec<&'static str> {
        self.without(record, false)
    }

    fn without(&self, record: &Record, own: bool) -> Vec<&'static str> {
        let has =
            |name: &str| FIELDS.iter().any(|it| it.name == name && (it.value)(record).is_some());
        let rules = self.fields.iter().filter(|it| it.own || !own);
        rules.filter(|it| has(it.field) && !(it.held)(record)).map(|it| it.field).collect()
    }
}

fn fits(pattern: &str, kind: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => kind.starts_with(start),
        None => pattern == kind && !MARKS.contains(&pattern),
    }
}

/// Returns the fields of a record that have no place in a runtime; none for an unknown one.
#[must_use]
pub fn degraded(target: &str, record: &Record) -> Vec<&'static str> {
    mapping(target).map(|it| it.degraded(record)).unwrap_or_default()
}

/// Writes every table for people.
#[must_use]
pub fn to_markdown() -> String {
    let mut text = String::from(
        "# What becomes what\n\n\
         `anemone migrate` moves an agent to another runtime. What the runtime has a place for is native;\n\
         everything else rides along in the folder `.alf-origin` of the workspace, record by record, and is put\n\
         back when the agent returns. This page is made from the tables that the program uses\n\
         (`crates/runtimes/src/kit/mapping.rs`).\n",
    );
    for mapping in MAPPINGS {
        write_mapping(mapping, &mut text);
    }
    text
}

fn write_mapping(mapping: &Mapping, text: &mut String) {
    let title = mapping.title;
    let mut add = |line: std::fmt::Arguments<'_>| {
        // A text takes any text.
        let _ = writeln!(text, "{line}");
    };
    add(format_args!("\n## To {title}\n\n| layer | what | becomes |\n|---|---|---|"));
    for row in mapping.rows() {
        let becomes = match row.becomes {
            Becomes::Native(text) => text.to_owned(),
            Becomes::Aside(reason) => format!("only in the sidecar: {reason}"),
            Becomes::Nowhere(reason) => format!("nothing: {reason}"),
        };
        let is_only = mapping.rows().filter(|it| it.layer == row.layer).count() == 1;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn record(namespace: &str) -> Record {
        let id = "1d93a526-85b1-5b5b-9ac8-2fcc8749633d".parse().unwrap();
        let agent = "9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap();
        let at = "2026-01-15T10:00:00Z".parse().unwrap();
        let mut record = Record::new(id, agent, "elsewhere", at, "Tea is green.");
        record.namespace = namespace.to_owned();
        record
    }

    #[test]
    fn every_field_has_a_rule_in_every_runtime_and_every_rule_a_field() {
        let fields: Vec<&str> = FIELDS.iter().map(|it| it.name).collect();
        for mapping in MAPPINGS {
            let rules: Vec<&str> = mapping.fields.iter().map(|it| it.field).collect();
            assert_eq!(rules, fields, "{}", mapping.runtime);
        }
    }

    #[test]
    fn every_adapter_has_a_table_and_a_row_for_anything() {
        for adapter in crate::ADAPTERS {
            let mapping = mapping(adapter.runtime()).unwrap();
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
        // An archived entry lies in the archive of its day.
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
        assert_eq!(of("recipes"), "an entry of the category that is called as the namespace");
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
