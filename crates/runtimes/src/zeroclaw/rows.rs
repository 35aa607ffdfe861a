//! Converts rows into records and back.
//!
//! Values without a field in the record are in its `raw_source_format`, so that the row can be
//! restored exactly:
//!
//! ```text
//! key      the row's key
//! rowid    its number
//! row      every column but those that are elsewhere: see below
//! vector   who says which model made the vector, when it is not the database itself:
//!          "config" (the settings, which may have changed since) or "unknown"
//! cut      columns that were too long to travel whole
//! ```
//!
//! Left out of `row` are the content, when it is the record's; the vector, when it is the record's;
//! and the agent's id, when it is that of the agent in [`DESCRIPTION`](super::brain::DESCRIPTION).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use anemone_format::{
    AgentId, Embedding, EmbeddingSource, ExtractionMethod, MemoryType, Moment, Opaque, Pairs,
    Record, RecordId, Relation, StampTable, Status, Unknown,
};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use uuid::Uuid;

use super::brain::{Brain, MemoryRow, RowHead, position_of};
use super::{NAMESPACES, RUNTIME, cells, config::EmbeddingSettings};
use crate::kit::{DatabaseError, RowStamp, Value, Warning, short_digest, times};

/// The origin of the records.
pub(super) const ORIGIN: &str = "sqlite";
/// The label of rows that the program wrote on its own.
pub(super) const AUTO_SAVE: &str = "auto_save";

/// A content is cut when its JSON would be longer: a line of an archive has a limit.
const MAX_CONTENT_BYTES: usize = 40 << 20;
/// The same for all other columns together.
const MAX_CELLS_BYTES: usize = 16 << 20;
/// The longest key, category or session that becomes a field of its own; the column is whole.
const MAX_LABEL_BYTES: usize = 16 << 10;
/// A character takes up to six bytes in JSON.
const MAX_ESCAPE: usize = 6;
const MAX_DIMENSIONS: usize = 65_536;
/// The most columns that a table can have here.
const MAX_COLUMNS: usize = 1_000;

/// What all records of one reading share.
pub(super) struct ReadingContext<'a> {
    pub(super) agent_id: AgentId,
    pub(super) alias: &'a str,
    pub(super) identity_version: Option<u64>,
    /// The model that made the vectors, if only the configuration names it.
    pub(super) embedding: Option<EmbeddingSettings>,
    /// When the database was last written, for rows without a time.
    pub(super) fallback: Moment,
    /// Whether vectors travel.
    pub(super) embeddings: bool,
    /// What the stamps of entries in files say.
    pub(super) stamps: StampTable,
}

/// Makes records from the rows of one database.
pub(super) struct RowReader<'a> {
    shared: &'a ReadingContext<'a>,
    ids: HashSet<RecordId>,
    /// Ids of rows, by their position, that differ from those in their own text.
    renamed: HashMap<u64, RecordId>,
    /// The replacement of a row, by its position.
    newer: HashMap<u64, RecordId>,
    /// The rows that a row replaces.
    older: HashMap<u64, Vec<ReplacedRow>>,
    agent_row_id: Option<String>,
    model: Model,
    /// Where rows come from, by their ids.
    stamps: HashMap<String, RowStamp>,
    tally: RowTally,
}

/// Counts for the warnings about rows.
#[derive(Debug, Default)]
struct RowTally {
    cut: u64,
    no_vector: u64,
    no_time: u64,
    no_link: u64,
    no_stamp: u64,
}

/// The model that made the vectors.
pub(super) struct Model {
    /// `provider/model`.
    pub(super) name: String,
    /// The provider, where it is known.
    provider: Option<String>,
    pub(super) dimensions: Option<u64>,
    /// Who says so, if not the database.
    pub(super) hearsay: Option<&'static str>,
}

/// Only the configuration names the model, which may have changed since.
pub(super) const CONFIG: &str = "config";

impl Model {
    pub(super) fn of(brain: &Brain, settings: Option<&EmbeddingSettings>) -> Self {
        let known = |text: &&str| !text.is_empty() && *text != "none";
        let provider = brain.setting("embedding_provider").filter(known);
        let model = brain.setting("embedding_model").filter(known);
        let dimensions = brain.setting("embedding_dimensions").and_then(|text| text.parse().ok());
        let dimensions = dimensions.filter(|dimensions| *dimensions > 0);
        let name = |provider: &str, model: &str| format!("{provider}/{model}");
        match (provider, model, settings) {
            (Some(provider), Some(model), _) => {
                let provider_name = Some(provider.to_owned());
                let name = name(provider, model);
                Self { name, provider: provider_name, dimensions, hearsay: None }
            }
            (_, _, Some(it)) if known(&&*it.provider) && known(&&*it.model) => Self {
                name: name(&it.provider, &it.model),
                provider: Some(it.provider.clone()),
                dimensions: dimensions.or(it.dimensions),
                hearsay: Some(CONFIG),
            },
            _ => Self {
                name: name("unknown", "unknown"),
                provider: None,
                dimensions,
                hearsay: Some("unknown"),
            },
        }
    }
}

impl<'a> RowReader<'a> {
    /// Scans the rows once, for their names and for which rows replace others. `taken` are the ids
    /// of the other records of the reading.
    pub(super) fn new(
        brain: &Brain,
        shared: &'a ReadingContext<'a>,
        taken: HashSet<RecordId>,
    ) -> Result<Self, DatabaseError> {
        let (stamps, no_stamp) = brain.stamps();
        let mut reader = Self {
            shared,
            ids: taken,
            renamed: HashMap::new(),
            newer: HashMap::new(),
            older: HashMap::new(),
            agent_row_id: brain.agent(shared.alias).map(|agent| agent.id.clone()),
            model: Model::of(brain, shared.embedding.as_ref()),
            stamps,
            tally: RowTally { no_stamp, ..RowTally::default() },
        };
        let mut replaced: HashMap<ReplacementName, Vec<ReplacedRow>> = HashMap::new();
        brain.each_head(shared.alias, &mut |head| {
            let id = reader.name(&head);
            if let Some(target) = ReplacementName::of(&head.superseded_by, head.is_private) {
                let position = head.position;
                replaced.entry(target).or_default().push(ReplacedRow { position, id });
            }
            Ok::<_, DatabaseError>(())
        })?;
        if !replaced.is_empty() {
            reader.link(brain, &replaced)?;
        }
        Ok(reader)
    }

    /// Assigns a row its id, which is unique in a reading.
    fn name(&mut self, head: &RowHead) -> RecordId {
        let own = own_id(self.shared.alias, &head.id, &head.key, head.rowid);
        let mut id = own;
        let mut turn = 0_u64;
        while !self.ids.insert(id) {
            let key = text_of(&head.key);
            let place = if turn == 0 { head.rowid.to_string() } else { format!("#{turn}") };
            id = NAMESPACES.record(self.shared.alias, format_args!("{key}:{place}"));
            turn += 1;
        }
        if id != own {
            self.renamed.insert(head.position, id);
        }
        id
    }

    fn id_of(&self, position: u64, id: &Value, key: &Value, rowid: i64) -> RecordId {
        match self.renamed.get(&position) {
            Some(id) => *id,
            None => own_id(self.shared.alias, id, key, rowid),
        }
    }

    /// Finds the rows that replace others: rows refer to others by their id, or by their key.
    fn link(
        &mut self,
        brain: &Brain,
        replaced: &HashMap<ReplacementName, Vec<ReplacedRow>>,
    ) -> Result<(), DatabaseError> {
        let mut found: HashMap<ReplacementName, (u64, RecordId, bool)> = HashMap::new();
        brain.each_head(self.shared.alias, &mut |head| {
            for (name, is_id) in [(&head.id, true), (&head.key, false)] {
                let Some(target) = ReplacementName::of(name, head.is_private) else { continue };
                let better = found.get(&target).is_none_or(|known| is_id && !known.2);
                if better && replaced.contains_key(&target) {
                    let id = self.id_of(head.position, &head.id, &head.key, head.rowid);
                    found.insert(target, (head.position, id, is_id));
                }
            }
            Ok::<_, DatabaseError>(())
        })?;
        for (target, olds) in replaced {
            let Some((position, id, _)) = found.get(target) else { continue };
            for old in olds.iter().filter(|old| old.position != *position) {
                self.newer.insert(old.position, *id);
                self.older.entry(*position).or_default().push(*old);
            }
        }
        for olds in self.older.values_mut() {
            // Some may have referred to the row by its id, others by its key.
            olds.sort_unstable_by_key(|old| old.position);
        }
        Ok(())
    }

    /// Makes a record from a row.
    pub(super) fn record(&mut self, columns: &[String], row: &MemoryRow) -> Record {
        let place = |name: &str| position_of(columns, name);
        let at =
            |name: &str| place(name).and_then(|place| row.cells.get(place)).unwrap_or(&Value::Null);
        let id = self.id_of(row.position, at("id"), at("key"), row.rowid);
        let key = text_of(at("key"));
        let private = private_key(&key);
        let plain_key = private.as_ref().map_or(&*key, |private| private.key);
        let category = match at("category") {
            Value::Null => None,
            value => Some(text_of(value)),
        };
        let session = at("session_id").as_text().filter(|text| !text.is_empty());
        let mut cut: Vec<&str> = Vec::new();

        let (content, content_is_whole) = content_of(at("content"), &key, row.rowid);
        let verbatim = matches!(at("content"), Value::Text(text) if text == &*content);
        if !content_is_whole {
            cut.push("content");
        }

        let created = at("created_at");
        let created = [created, at("timestamp"), at("updated_at")];
        let created = created.into_iter().find_map(times::in_cell);
        self.tally.no_time += u64::from(created.is_none());
        let created_at = created.unwrap_or_else(|| self.shared.fallback.clone());
        let updated_at = times::in_cell(at("updated_at"));
        let updated_at = updated_at.filter(|updated| updated.instant() != created_at.instant());

        let embedding = at("embedding");
        let vector =
            if self.shared.embeddings { vector_of(embedding, self.model.dimensions) } else { None };
        let is_bytes = !matches!(embedding, Value::Null);
        self.tally.no_vector += u64::from(self.shared.embeddings && is_bytes && vector.is_none());

        let mut record =
            Record::new(id, self.shared.agent_id, RUNTIME, created_at.clone(), &content);
        record.memory_type = memory_type(at("kind"), category.as_deref());
        record.namespace = namespace(category.as_deref());
        record.tags = category.iter().map(|category| label(category).to_owned()).collect();
        record.tags.retain(|tag| !tag.is_empty() && tag != RUNTIME);
        record.tags.push(RUNTIME.to_owned());
        let writer = Writer::of(plain_key, category.as_deref(), session);
        if writer == Writer::AutoSave {
            record.tags.push(AUTO_SAVE.to_owned());
        }
        record.category = category.as_deref().map(|category| label(category).to_owned());
        record.source.origin = Some(ORIGIN.to_owned());
        record.source.extraction_method = Some(writer.method());
        record.source.session_id = session.map(|session| label(session).to_owned());
        record.source.identity_version = self.shared.identity_version;
        let row_id = at("id").as_text();
        if let Some((row, stamp)) = row_id.and_then(|id| self.stamps.get_key_value(id)) {
            stamp.note(&mut record, row);
        }
        record.confidence =
            number_of(at("importance")).filter(|number| (0.0..=1.0).contains(number));
        if *at("superseded_by") != Value::Null {
            record.status = Status::Superseded;
            let newer = self.newer.get(&row.position);
            self.tally.no_link += u64::from(newer.is_none());
            record.related_records.extend(newer.map(|id| relation(*id, "superseded_by")));
        }
        let older = self.older.get(&row.position).map_or(&[][..], Vec::as_slice);
        record.supersedes = older.first().map(|old| old.id);
        record
            .related_records
            .extend(older.iter().skip(1).map(|old| relation(old.id, "supersedes")));
        let computed_at = updated_at.clone().unwrap_or(created_at);
        record.temporal.updated_at = updated_at;

        let mut hidden = [None; 3];
        if verbatim || !content_is_whole {
            hidden[0] = place("content");
        }
        // A column for vectors is not reported when it is empty: every new table has one.
        if vector.is_some() || !self.shared.embeddings || !is_bytes {
            hidden[1] = place("embedding");
        }
        let agent = at("agent_id").as_text();
        if agent.is_some() && agent == self.agent_row_id.as_deref() {
            hidden[2] = place("agent_id");
        }
        let mut left = MAX_CELLS_BYTES;
        let mut cells = Vec::with_capacity(columns.len());
        for (place, (name, value)) in columns.iter().zip(&row.cells).enumerate() {
            if hidden.contains(&Some(place)) {
                continue;
            }
            match json_bytes(name, value).and_then(|bytes| left.checked_sub(bytes)) {
                Some(rest) => {
                    left = rest;
                    cells.push((name.as_str(), value));
                }
                None => cut.push(name),
            }
        }
        self.tally.cut += u64::from(!cut.is_empty());
        let raw = RawOut {
            key: label(&key),
            rowid: row.rowid,
            vector: self.model.hearsay.filter(|_| vector.is_some()),
            cut: &cut,
            row: CellsOut(&cells),
        };
        record.raw_source_format = Opaque::new(&raw).ok();
        record.embeddings.extend(vector.map(|vector| Embedding {
            model: self.model.name.clone(),
            // The name before the slash, on its own: a model's name may have slashes, too.
            provider: self.model.provider.clone(),
            dimensions: vector.len() as u64,
            vector,
            computed_at,
            source: EmbeddingSource::Runtime,
            unknown: Unknown::default(),
        }));
        record.unknown = extra(label(&key), private.as_ref());
        record
    }

    /// Returns warnings about the rows read so far.
    pub(super) fn warnings(&self) -> Vec<Warning> {
        let tally = &self.tally;
        let told = [
            (tally.cut, "rows_cut", "rows with a value that is too long and travels in part"),
            (
                tally.no_vector,
                "vectors_malformed",
                "rows whose vector cannot be read; its bytes are kept as they are",
            ),
            (
                tally.no_time,
                "rows_undated",
                "rows whose time cannot be read; they get the time of the file",
            ),
            (
                tally.no_link,
                "links_unresolved",
                "rows that name a row in their place which does not exist",
            ),
            (tally.no_stamp, "stamps_unread", "rows whose origin could not be read"),
        ];
        let warning = |(count, code, what)| Warning::new(code, format!("{what}: {count}"));
        told.into_iter().filter(|value| value.0 > 0).map(warning).collect()
    }
}

/// The digest of a name by which a row refers to the row that replaces it. Names of one person's
/// own rows are separate from all others.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ReplacementName {
    digest: u64,
    is_private: bool,
}

impl ReplacementName {
    fn of(name: &Value, is_private: bool) -> Option<Self> {
        let name = name.as_text()?;
        Some(Self { digest: short_digest(name.as_bytes()), is_private })
    }
}

/// A row that was replaced.
#[derive(Clone, Copy)]
struct ReplacedRow {
    position: u64,
    id: RecordId,
}

/// Takes a row's id as the record's, in lower case; where it is not one, derives it from the key.
fn own_id(alias: &str, id: &Value, key: &Value, rowid: i64) -> RecordId {
    let uuid = id.as_text().filter(|text| is_uuid(text));
    if let Some(uuid) = uuid.and_then(|text| Uuid::try_parse(text).ok()) {
        return RecordId::new(uuid);
    }
    let key = text_of(key);
    if key.is_empty() {
        NAMESPACES.record(alias, format_args!(":{rowid}"))
    } else {
        NAMESPACES.record(alias, key)
    }
}

fn relation(id: RecordId, relation: &str) -> Relation {
    Relation { id, relation: relation.to_owned(), unknown: Unknown::default() }
}

/// Cuts a text to the length of a label.
fn label(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_LABEL_BYTES)]
}

/// Returns the text that a record has for a content, and whether nothing was cut from it.
fn content_of<'a>(content: &'a Value, key: &str, rowid: i64) -> (Cow<'a, str>, bool) {
    let text = text_of(content);
    let is_whole = !matches!(content, Value::TooLong(_));
    if text.is_empty() {
        // A record must have a content.
        let name = if key.is_empty() { format!("row {rowid}") } else { label(key).to_owned() };
        return (Cow::Owned(name), is_whole);
    }
    let end = escaped_end(&text, MAX_CONTENT_BYTES);
    if end == text.len() {
        return (text, is_whole);
    }
    (Cow::Owned(text[..end].to_owned()), false)
}

/// Returns where a text must be cut so that its JSON has at most this many bytes.
fn escaped_end(text: &str, most_bytes: usize) -> usize {
    if text.len() <= most_bytes / MAX_ESCAPE {
        return text.len();
    }
    let mut bytes = 0;
    for (at, byte) in text.bytes().enumerate() {
        bytes += escaped_bytes(byte);
        if bytes > most_bytes {
            return text.floor_char_boundary(at);
        }
    }
    text.len()
}

fn escaped_bytes(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => MAX_ESCAPE,
        _ => 1,
    }
}

/// Returns about how many bytes a cell has as JSON; `None` when it cannot be written.
fn json_bytes(name: &str, value: &Value) -> Option<usize> {
    let text = |text: &str| {
        if text.len() <= 1 << 10 {
            text.len() * MAX_ESCAPE
        } else {
            text.bytes().map(escaped_bytes).sum()
        }
    };
    let value = match value {
        Value::Null | Value::Integer(_) | Value::Real(_) => 32,
        Value::Text(value) => text(value),
        Value::OddText(bytes) | Value::Blob(bytes) => bytes.len() / 3 * 4 + 16,
        Value::TooLong(_) => return None,
    };
    Some(value + text(name) + 8)
}

fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null | Value::TooLong(_) => Cow::Borrowed(""),
        Value::Integer(number) => Cow::Owned(number.to_string()),
        Value::Real(number) => Cow::Owned(number.to_string()),
        Value::Text(text) => Cow::Borrowed(text),
        Value::OddText(bytes) | Value::Blob(bytes) => String::from_utf8_lossy(bytes),
    }
}

fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Real(number) => Some(*number),
        Value::Integer(0) => Some(0.0),
        Value::Integer(1) => Some(1.0),
        _ => None,
    }
}

/// Decodes a vector; returns `None` if it is malformed.
pub(super) fn vector_of(value: &Value, dimensions: Option<u64>) -> Option<Vec<f32>> {
    let Value::Blob(bytes) = value else { return None };
    let (numbers, rest) = bytes.as_chunks::<4>();
    let fits = dimensions.is_none_or(|dimensions| dimensions == numbers.len() as u64);
    if !rest.is_empty() || numbers.is_empty() || numbers.len() > MAX_DIMENSIONS || !fits {
        return None;
    }
    let vector: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
    vector.iter().all(|number| number.is_finite()).then_some(vector)
}

/// Reads the kind that newer versions store, or else derives it from the category.
fn memory_type(kind: &Value, category: Option<&str>) -> MemoryType {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Kind {
        Plain(String),
        Semantic { semantic: String },
    }
    let kind = kind.as_text().filter(|kind| kind.len() <= MAX_LABEL_BYTES);
    if let Some(kind) = kind.and_then(|kind| serde_json::from_str(kind).ok()) {
        match kind {
            Kind::Plain(word) if word == "episodic" => return MemoryType::Episodic,
            Kind::Plain(word) if word == "procedural" => return MemoryType::Procedural,
            Kind::Plain(word) if word == "semantic" => return MemoryType::Semantic,
            Kind::Semantic { semantic } if semantic == "preference" => {
                return MemoryType::Preference;
            }
            Kind::Semantic { .. } => return MemoryType::Semantic,
            Kind::Plain(_) => {}
        }
    }
    match category {
        Some("daily" | "conversation") => MemoryType::Episodic,
        Some("procedural" | "custom:procedural") => MemoryType::Procedural,
        _ => MemoryType::Semantic,
    }
}

/// Returns the shelf of a category. Any but the three known ones is the user's own, and the first
/// documents mark it as such.
fn namespace(category: Option<&str>) -> String {
    match category {
        None => "core".to_owned(),
        Some(known @ ("core" | "daily" | "conversation")) => known.to_owned(),
        Some(marked) if marked.starts_with("custom:") => label(marked).to_owned(),
        Some(own) => format!("custom:{}", label(own)),
    }
}

/// Who wrote a row, according to its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    /// The agent, or a user through a tool.
    Agent,
    /// The program itself, which stores messages and events automatically.
    AutoSave,
    /// A model that processes conversations.
    Consolidation,
    /// The program's own import.
    Import,
}

impl Writer {
    pub(super) fn of(key: &str, category: Option<&str>, session: Option<&str>) -> Self {
        let category = category.unwrap_or_default();
        if is_consolidated(key) {
            return Self::Consolidation;
        }
        if is_imported(key) {
            return Self::Import;
        }
        let fixed = ["user_msg", "assistant_resp", "webhook_msg"];
        let is_fixed = fixed.iter().any(|word| {
            key.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        });
        let is_event = is_named(key, "heartbeat_", is_uuid)
            || category == "sop"
            || (category == "discord" && is_named(key, "discord_", is_number))
            || key.starts_with("assistant_autosave_");
        let is_message = category == "conversation" && is_from_channel(key, session);
        if is_fixed || is_event || is_message { Self::AutoSave } else { Self::Agent }
    }

    /// The format has no word for rows that a program stores automatically; see
    /// `docs/decisions/017-auto-saved-rows.md`.
    pub(super) fn method(self) -> ExtractionMethod {
        match self {
            Self::Agent => ExtractionMethod::AgentWritten,
            Self::AutoSave | Self::Consolidation => ExtractionMethod::LlmExtracted,
            Self::Import => ExtractionMethod::Migrated,
        }
    }
}

/// Channels whose messages come without a session.
const GATEWAY: [&str; 4] = ["whatsapp_", "linq_", "nextcloud_talk_", "wati_"];

/// Both the key and the session of a message start with its channel; the session may have the
/// channel's alias after a dot.
fn is_from_channel(key: &str, session: Option<&str>) -> bool {
    let channel = session.and_then(|session| session.split(['_', '.']).next()).unwrap_or_default();
    let rest = key.strip_prefix(channel).and_then(|rest| rest.strip_prefix('_'));
    let is_of_session = !channel.is_empty() && rest.is_some_and(|rest| !rest.is_empty());
    is_of_session || GATEWAY.iter().any(|channel| key.starts_with(channel))
}

fn is_consolidated(key: &str) -> bool {
    let of_a_day = |rest: &str| {
        rest.split_once('_').is_some_and(|(day, id)| times::date(day).is_some() && is_uuid(id))
    };
    is_named(key, "core_", is_uuid)
        || is_named(key, "core_fact_", is_uuid)
        || is_named(key, "daily_", of_a_day)
}

fn is_imported(key: &str) -> bool {
    let ends_in_number = |rest: &str| rest.rsplit('_').next().is_some_and(is_number);
    is_named(key, "openclaw_", ends_in_number)
        || key.rsplit_once("__openclaw_").is_some_and(|(_, rest)| is_number(rest))
}

fn is_named(key: &str, prefix: &str, rest: impl Fn(&str) -> bool) -> bool {
    key.strip_prefix(prefix).is_some_and(rest)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && Uuid::try_parse(text).is_ok()
}

/// The parts of the key of a private row.
#[derive(Debug, PartialEq, Eq)]
struct PrivateKey<'a> {
    principal: &'a str,
    key: &'a str,
}

/// Reads `p|` length `:` principal, length `:` namespace, `-` or `t` length `:` tenant, `|` and the
/// key; lengths are in bytes.
fn private_key(key: &str) -> Option<PrivateKey<'_>> {
    fn part(text: &str) -> Option<(&str, &str)> {
        let (length, rest) = text.split_once(':')?;
        rest.split_at_checked(length.parse().ok()?)
    }
    let (principal, rest) = part(key.strip_prefix(super::schema::PRIVATE_KEY)?)?;
    let (_, rest) = part(rest)?;
    let rest = match rest.strip_prefix('-') {
        Some(rest) => rest,
        None => part(rest.strip_prefix('t')?)?.1,
    };
    Some(PrivateKey { principal, key: rest.strip_prefix('|')? })
}

/// Extra fields that the first specification requires.
fn extra(key: &str, private: Option<&PrivateKey<'_>>) -> Unknown {
    let mut fields = serde_json::Map::new();
    fields.insert("zeroclaw_key".to_owned(), key.into());
    if let Some(private) = private {
        fields.insert("zeroclaw_principal".to_owned(), label(private.principal).into());
        fields.insert("zeroclaw_private_key".to_owned(), label(private.key).into());
    }
    let mut unknown = Unknown::default();
    unknown
        .insert("extra", &Json::Object(fields).to_string())
        .expect("the text of a JSON value is one");
    unknown
}

/// The raw form from which a row is restored.
#[derive(Serialize)]
struct RawOut<'a> {
    key: &'a str,
    rowid: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    vector: Option<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    cut: &'a [&'a str],
    row: CellsOut<'a>,
}

struct CellsOut<'a>(&'a [(&'a str, &'a Value)]);

impl Serialize for CellsOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, cells::AsJson(value))))
    }
}

/// A row as a record keeps it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RawRow {
    pub(super) key: String,
    pub(super) rowid: Option<i64>,
    /// Columns by name, each once; content and vector come last.
    pub(super) cells: Vec<(String, Value)>,
    /// Columns of the row that are missing here, or incomplete.
    pub(super) cut: Vec<String>,
}

impl RawRow {
    /// Returns a cell; null when it does not exist.
    pub(super) fn cell(&self, name: &str) -> &Value {
        let found = self.cells.iter().find(|(column, _)| column.eq_ignore_ascii_case(name));
        found.map_or(&Value::Null, |(_, value)| value)
    }
}

/// Returns the row of a record that was made from one; `None` when it was not, or when that is not
/// recorded.
pub(super) fn raw_of(record: &Record) -> Option<RawRow> {
    #[derive(Deserialize)]
    struct RawIn {
        key: String,
        rowid: Option<i64>,
        #[serde(default)]
        cut: Vec<String>,
        row: Pairs<Json>,
    }
    if record.source.runtime != RUNTIME {
        return None;
    }
    let raw: RawIn = record.raw_source_format.as_ref()?.parse().ok()?;
    let mut names = HashSet::new();
    let cell = |(name, json): (&str, &Json)| {
        let is_new = names.insert(name.to_ascii_lowercase()) && names.len() <= MAX_COLUMNS;
        Some((name.to_owned(), cells::from_json(json).filter(|_| is_new)?))
    };
    let cells = raw.row.iter().map(cell).collect::<Option<Vec<_>>>()?;
    let mut raw = RawRow { key: raw.key, rowid: raw.rowid, cells, cut: raw.cut };
    // The record takes precedence; the row only counts where the record says the same in another
    // form.
    let rowid = raw.rowid.unwrap_or_default();
    let content = raw.cells.iter().position(|(column, _)| column.eq_ignore_ascii_case("content"));
    let is_told = content.is_some_and(|at| {
        let key = text_of(raw.cell("key"));
        content_of(&raw.cells[at].1, &key, rowid).0 == record.content
    });
    if !is_told {
        raw.cells.retain(|(column, _)| !column.eq_ignore_ascii_case("content"));
        raw.cells.push(("content".to_owned(), Value::Text(record.content.clone())));
    }
    let has_vector = |(column, _): &(String, Value)| column.eq_ignore_ascii_case("embedding");
    if !raw.cells.iter().any(has_vector)
        && let Some(embedding) = record.embeddings.first()
    {
        let bytes = embedding.vector.iter().flat_map(|number| number.to_le_bytes()).collect();
        raw.cells.push(("embedding".to_owned(), Value::Blob(bytes)));
    }
    Some(raw)
}

#[cfg(test)]
mod tests;
