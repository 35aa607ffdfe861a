//! What can be searched of an agent: Markdown files by their paths, and memories in other stores,
//! one at a time.
//!
//! An index lists the sources often and reads them rarely, so listing them reads none of them.

use std::path::{Path, PathBuf};

use anemone_format::{ExtractionMethod, MemoryType, Opaque, Record, Status};
use jiff::civil::Date;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::by_name;
use crate::kit::{RowRules, Warning, real, short_digest, times};

/// Bytes of one part of a path, at most: a longer part is cut, and a digest keeps it unique.
const MAX_PART_BYTES: usize = 200;
/// Folders of a workspace that version control and package managers keep for themselves.
const OF_TOOLS: [&str; 5] = [".git", ".hg", ".svn", ".jj", "node_modules"];

/// What of an agent can be searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Searchable {
    /// Whether Markdown files of its workspace are memories.
    pub files: bool,
    /// Other places that the agent itself searches.
    pub extra: Vec<ExtraPlace>,
    /// The memories that are not in Markdown files.
    pub stores: Vec<Store>,
    /// Where the agent stores new memories.
    pub keeps: MemoryBackend,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// Where an agent stores new memories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MemoryBackend {
    /// In Markdown files of its workspace.
    #[default]
    Markdown,
    /// In rows of a database, which may not exist yet.
    Sqlite(PathBuf),
    /// Nowhere: it is configured to keep nothing.
    None,
    /// Out of our reach, such as `postgres`.
    External(String),
}

/// Another file or folder that an agent searches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExtraPlace {
    /// Where it is; it may not exist.
    pub path: PathBuf,
    /// Which files below it, as a glob.
    pub pattern: Option<String>,
    /// Whether its texts are conversations, of which nothing secret is searched.
    pub redacted: bool,
}

/// Why a place is not searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceProblem {
    /// It is the root of the file system.
    Root,
    /// It is the home folder, or above it.
    Home,
    /// It is above the workspace, where the runtime may keep its state and its keys.
    AboveWorkspace,
    /// Keys are kept there.
    OfKeys,
    /// It is a link.
    Link,
    /// It does not exist, and its name has characters of a pattern.
    Pattern,
    /// It does not exist.
    Missing,
}

impl PlaceProblem {
    /// Whether it must not be searched, whatever becomes of it.
    #[must_use]
    pub const fn is_refused(self) -> bool {
        matches!(self, Self::Root | Self::Home | Self::AboveWorkspace | Self::OfKeys)
    }

    /// Says it in words.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Root => "it is the whole file system; name the folder with the notes",
            Self::Home => "it is or contains the home folder; name the folder with the notes",
            Self::AboveWorkspace => "it contains the workspace; name the folder with the notes",
            Self::OfKeys => "keys are kept in this folder, so it is never searched",
            Self::Link => "it is a link, and links are not followed",
            Self::Pattern => {
                "there is no such file or folder; a pattern is written as {path, pattern}"
            }
            Self::Missing => "there is no such file or folder",
        }
    }
}

/// Folders in which keys are kept.
const OF_KEYS: [&str; 10] = [
    ".aws",
    ".azure",
    ".docker",
    ".gcloud",
    ".gnupg",
    ".kube",
    ".password-store",
    ".secrets",
    ".ssh",
    "credentials",
];

impl ExtraPlace {
    /// Says why the place is not searched. Links in the path above it are followed.
    #[must_use]
    pub fn problem(&self, home: &Path, workspace: &Path) -> Option<PlaceProblem> {
        let place = real(&self.path);
        let is_above = |path: &Path| real(path).starts_with(&place);
        let is_of_keys = |part: std::path::Component<'_>| {
            part.as_os_str().to_str().is_some_and(|name| OF_KEYS.contains(&name))
        };
        if place.parent().is_none() {
            return Some(PlaceProblem::Root);
        }
        if is_above(home) {
            return Some(PlaceProblem::Home);
        }
        if is_above(workspace) && place != real(workspace) {
            return Some(PlaceProblem::AboveWorkspace);
        }
        if place.components().any(is_of_keys) {
            return Some(PlaceProblem::OfKeys);
        }
        match fs_err::symlink_metadata(&self.path) {
            Ok(there) => there.is_symlink().then_some(PlaceProblem::Link),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => None,
            Err(_) if self.path.to_string_lossy().contains(['*', '?']) => {
                Some(PlaceProblem::Pattern)
            }
            Err(_) => Some(PlaceProblem::Missing),
        }
    }
}

/// Something that holds memories and changes as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// What it holds.
    pub kind: StoreKind,
    /// What it is called, such as `memory/brain.db`.
    pub name: String,
    /// Files that it is made of; some may not exist.
    pub files: Vec<PathBuf>,
    /// Folders whose files it is made of; some may not exist.
    pub folders: Vec<PathBuf>,
}

/// What a store holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StoreKind {
    /// Rows of a database of memories.
    Rows,
    /// Structured facts.
    Facts,
    /// Conversations.
    Sessions,
    /// Memories that a part of the program keeps beside the workspace.
    Memories,
}

/// What reading a store left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnsearchedCounts {
    /// Entries that are for one person only.
    pub private: u64,
    /// Parts that cannot be read.
    pub unreadable: u64,
}

/// How a search treats a file of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchedFile {
    /// Memories.
    Memory(MemoryFacts),
    /// State that a machine wrote for itself.
    MachineState,
    /// Something else.
    Other,
}

/// How a search treats a folder of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchedFolder {
    /// There may be memories below it.
    Memory,
    /// State that a machine wrote for itself.
    MachineState,
    /// It belongs to a tool.
    OfTool,
    /// It holds something else.
    Other,
}

impl SearchedFolder {
    /// Whether what is in it counts as the agent's.
    #[must_use]
    pub const fn is_counted(self) -> bool {
        match self {
            Self::Memory | Self::Other => true,
            Self::MachineState | Self::OfTool => false,
        }
    }
}

/// What the path of a file says about the memories in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryFacts {
    /// The kind of memory, in the words of the format.
    pub memory_type: Option<String>,
    /// The namespace.
    pub namespace: Option<String>,
    /// The day that it is about.
    pub date: Option<Date>,
    /// The session that it is about.
    pub session: Option<String>,
}

/// Whether a folder, by its name, is a tool's own.
pub(crate) fn is_of_tool(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    OF_TOOLS.contains(&name)
}

/// A remembered thing, with as much of a record as a search can use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchableRecord {
    /// The record's id.
    pub id: String,
    /// The runtime that it comes from.
    pub runtime: String,
    /// The text.
    pub content: String,
    /// The kind of memory, in the words of the format.
    pub memory_type: String,
    /// The namespace.
    pub namespace: String,
    /// The category, in the words of its program.
    pub category: Option<String>,
    /// From 0 to 1.
    pub confidence: Option<f64>,
    /// The session in which it was said.
    pub session: Option<String>,
    /// The file of the workspace that it was in.
    pub file: Option<String>,
    /// When it was made, as RFC 3339; `None` if that is unknown.
    pub created_at: Option<String>,
    /// Who wrote it: `owner`, `agent`, `tool`, `web`, `import`.
    pub origin: Option<&'static str>,
    /// Whether it was replaced or deleted.
    pub is_withdrawn: bool,
    /// Whether it is for one person only.
    pub is_private: bool,
    /// Whether it is a piece of a conversation.
    pub is_session: bool,
    /// Whether it stays true however old it is.
    pub evergreen: bool,
    /// Where it is found: a path with forward slashes that does not leave its folder. Several
    /// records may share one.
    pub path: String,
}

/// A record as it is written, without what a search has no use for: vectors are most of it.
#[derive(Deserialize)]
struct RecordLine {
    id: String,
    content: String,
    memory_type: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    category: Option<String>,
    #[serde(default)]
    status: String,
    #[serde(default)]
    confidence: Option<f64>,
    source: SourceLine,
    temporal: TemporalLine,
    #[serde(default)]
    entities: Vec<EntityLine>,
    #[serde(default)]
    raw_source_format: Option<Opaque>,
}

#[derive(Deserialize)]
struct SourceLine {
    #[serde(default)]
    runtime: String,
    #[serde(default)]
    origin: Option<String>,
    #[serde(default)]
    origin_file: Option<String>,
    #[serde(default)]
    extraction_method: Option<String>,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    trust: Option<String>,
}

#[derive(Deserialize)]
struct TemporalLine {
    created_at: String,
    #[serde(default)]
    updated_at: Option<String>,
}

#[derive(Deserialize)]
struct EntityLine {
    #[serde(default)]
    name: String,
}

impl SearchableRecord {
    /// Reads the line of a record.
    pub fn parse(line: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(line).map(Self::of)
    }

    /// Takes a record.
    #[must_use]
    pub fn of_record(record: Record) -> Self {
        let trust = record.source.unknown.get("trust");
        let trust = trust.and_then(|json| serde_json::from_str(json).ok());
        Self::of(RecordLine {
            id: record.id.to_string(),
            memory_type: record.memory_type.as_str().to_owned(),
            namespace: record.namespace,
            category: record.category,
            status: record.status.as_str().to_owned(),
            confidence: record.confidence,
            source: SourceLine {
                runtime: record.source.runtime,
                origin: record.source.origin,
                origin_file: record.source.origin_file,
                extraction_method: record
                    .source
                    .extraction_method
                    .map(|method| method.as_str().to_owned()),
                session_id: record.source.session_id,
                trust,
            },
            temporal: TemporalLine {
                created_at: record.temporal.created_at.as_str().to_owned(),
                updated_at: record.temporal.updated_at.map(|updated| updated.as_str().to_owned()),
            },
            entities: record
                .entities
                .into_iter()
                .take(1)
                .map(|entity| EntityLine { name: entity.name })
                .collect(),
            raw_source_format: record.raw_source_format,
            content: record.content,
        })
    }

    fn of(line: RecordLine) -> Self {
        let row = OriginalRow::of(&line);
        let source = &line.source;
        let is_session = line.namespace == "session" && source.origin.as_deref() == Some("session");
        let path = path_of(&line, row.as_ref(), is_session);
        let is_episodic = line.memory_type == MemoryType::Episodic.as_str();
        let rules = by_name(&source.runtime).map(|runtime| runtime.records);
        let evergreen =
            rules.map_or(!is_episodic, |rules| rules.is_evergreen(&line.namespace, is_episodic));
        Self {
            origin: origin(source),
            is_withdrawn: [Status::Superseded.as_str(), Status::Deleted.as_str()]
                .contains(&line.status.as_str()),
            is_private: if is_session {
                is_private_piece(&line)
            } else {
                row.zip(rows_of(&line)).is_some_and(|(row, rules)| row.is_private(rules))
            },
            created_at: known_time(&line.temporal, is_fact(&line)),
            is_session,
            evergreen,
            path,
            id: line.id,
            content: line.content,
            memory_type: line.memory_type,
            namespace: line.namespace,
            category: line.category,
            confidence: line.confidence.filter(|confidence| (0.0..=1.0).contains(confidence)),
            session: line.source.session_id,
            runtime: line.source.runtime,
            file: line.source.origin_file,
        }
    }

    /// Returns the day on which it was made, where its writer was.
    #[must_use]
    pub fn date(&self) -> Option<Date> {
        times::date(self.created_at.as_deref()?.get(..10)?)
    }
}

/// Returns when a record was made. The first moment of 1970 means that there is no time. A fact
/// without a time of its own has that of its file, which changes with every fact.
fn known_time(temporal: &TemporalLine, is_fact: bool) -> Option<String> {
    let of_file = is_fact && temporal.updated_at.as_ref() == Some(&temporal.created_at);
    let is_known = !of_file && temporal.created_at != times::epoch().as_str();
    is_known.then(|| temporal.created_at.clone())
}

fn origin(source: &SourceLine) -> Option<&'static str> {
    match source.trust.as_deref() {
        Some("owner") => return Some("owner"),
        Some("agent") => return Some("agent"),
        Some("system") => return Some("tool"),
        Some("untrusted") => return Some("web"),
        _ => {}
    }
    let method = source.extraction_method.as_deref()?;
    let is = |value: ExtractionMethod| method == value.as_str();
    if is(ExtractionMethod::UserAuthored) {
        Some("owner")
    } else if is(ExtractionMethod::AgentWritten) || is(ExtractionMethod::LlmExtracted) {
        Some("agent")
    } else if is(ExtractionMethod::Migrated) {
        Some("import")
    } else {
        None
    }
}

/// What a record says about the row that it was made from.
#[derive(Deserialize)]
struct OriginalRow {
    key: String,
    #[serde(default)]
    row: Option<std::collections::BTreeMap<String, Option<IgnoredAny>>>,
}

impl OriginalRow {
    fn of(line: &RecordLine) -> Option<Self> {
        let is_row = line.source.origin.as_deref() == Some("sqlite") && rows_of(line).is_some();
        line.raw_source_format.as_ref().filter(|_| is_row)?.parse().ok()
    }

    /// Whether it is private: its key or a column says so.
    fn is_private(&self, rules: RowRules) -> bool {
        let columns = || self.row.iter().flatten();
        let owner = columns().find(|(name, _)| name.eq_ignore_ascii_case(rules.owner_column));
        self.key.starts_with(rules.private_key) || owner.is_some_and(|(_, value)| value.is_some())
    }
}

/// Returns how private rows of the record's runtime are recognized.
fn rows_of(line: &RecordLine) -> Option<RowRules> {
    by_name(&line.source.runtime)?.records.rows
}

/// Whether a piece of a conversation is private.
fn is_private_piece(line: &RecordLine) -> bool {
    #[derive(Deserialize)]
    struct Piece {
        #[serde(default)]
        private: bool,
    }
    let raw = line.raw_source_format.as_ref().and_then(|format| format.parse::<Piece>().ok());
    raw.is_some_and(|raw| raw.private)
}

fn is_fact(line: &RecordLine) -> bool {
    let in_database = line.source.origin_file.as_deref().is_some_and(|file| file.ends_with(".db"));
    in_database && line.source.origin.as_deref() == Some("sqlite")
}

/// Returns where a record is found, by its name in the runtime.
fn path_of(line: &RecordLine, row: Option<&OriginalRow>, is_session: bool) -> String {
    if let Some(row) = row.filter(|row| !row.key.is_empty()) {
        return format!("memories/{}", part(&row.key));
    }
    let by_id = || format!("records/{}", part(&line.id));
    let Some(file) = line.source.origin_file.as_deref().filter(|file| !file.is_empty()) else {
        return by_id();
    };
    let file: Vec<String> = file.split('/').map(part).collect();
    let file = file.join("/");
    if is_session || !is_fact(line) {
        return file;
    }
    let entity = line.entities.first().map_or("", |entity| &entity.name);
    let key = line.content.strip_prefix(entity).and_then(|rest| rest.strip_prefix(" — "));
    match key.and_then(|key| key.split_once(": ")) {
        Some((key, _)) => format!("{file}/{}/{}", part(entity), part(key)),
        None => format!("{file}/{}", part(&line.id)),
    }
}

/// Turns any text into one part of a path: characters that a path cannot contain become `%2F` and
/// the like, the rest stays readable.
pub(crate) fn part(text: &str) -> String {
    use std::fmt::Write as _;
    let mut result = String::with_capacity(text.len());
    let whole = matches!(text, "." | "..");
    for c in text.chars() {
        // Marks that turn the direction of writing make a path look like another.
        let odd = c.is_control()
            || matches!(c, '/' | '\\' | '%' | '\u{2028}' | '\u{2029}')
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if odd || whole {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                write!(result, "%{byte:02X}").expect("a string takes any text");
            }
        } else {
            result.push(c);
        }
    }
    if result.is_empty() {
        return "%00".to_owned();
    }
    if result.len() > MAX_PART_BYTES {
        result.truncate(result.floor_char_boundary(MAX_PART_BYTES));
        write!(result, "~{:016x}", short_digest(text.as_bytes())).expect("a string takes any text");
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(source: &str, rest: &str) -> SearchableRecord {
        let line = format!(
            r#"{{"id":"i-1","agent_id":"a","content":"Ann — drinks: tea: green","memory_type":"preference",
              "status":"active","namespace":"facts","source":{source},
              "temporal":{{"created_at":"2026-02-03T23:30:00-05:00"}}{rest}}}"#
        );
        SearchableRecord::parse(line.as_bytes()).unwrap()
    }

    #[test]
    fn a_key_stays_readable_and_leads_nowhere() {
        for (text, wanted) in [
            ("user_timezone", "user_timezone"),
            ("Grüße 日本", "Grüße 日本"),
            ("a/b", "a%2Fb"),
            ("..", "%2E%2E"),
            ("", "%00"),
            ("a\\b\n%", "a%5Cb%0A%25"),
            ("\u{202e}x", "%E2%80%AEx"),
        ] {
            assert_eq!(part(text), wanted, "{text:?}");
        }
        let (one, other) = (part(&"x".repeat(500)), part(&"x".repeat(501)));
        assert!(one.len() < 220 && one != other, "{one}");
    }

    #[test]
    fn a_row_is_found_by_its_key_and_a_fact_by_what_it_is_about() {
        let row = r#"{"runtime":"zeroclaw","origin":"sqlite"}"#;
        let raw = r#","raw_source_format":{"key":"five/audit","row":{"id":1}}"#;
        let found = parse(row, raw);
        assert_eq!((&*found.path, found.is_private), ("memories/five%2Faudit", false));
        assert_eq!(found.date(), Some(jiff::civil::date(2026, 2, 3)));
        let found = parse(row, "");
        assert_eq!(found.path, "records/i-1");
        let fact = r#"{"runtime":"openclaw","origin":"sqlite","origin_file":"memory/facts.db"}"#;
        let found = parse(fact, r#","entities":[{"name":"Ann","type":"person"}]"#);
        assert_eq!(found.path, "memory/facts.db/Ann/drinks");
        let found = parse(r#"{"runtime":"x","origin_file":"../../etc/passwd"}"#, "");
        assert_eq!(found.path, "%2E%2E/%2E%2E/etc/passwd");
    }

    #[test]
    fn a_row_of_one_person_is_private_by_its_key_or_by_its_owner() {
        let row = r#"{"runtime":"zeroclaw","origin":"sqlite"}"#;
        for (raw, wanted) in [
            (r#"{"key":"p|3:ann|x"}"#, true),
            (r#"{"key":"x","row":{"Principal_ID":"ann"}}"#, true),
            (r#"{"key":"x","row":{"principal_id":null}}"#, false),
            (r#"{"key":"x"}"#, false),
        ] {
            let found = parse(row, &format!(r#","raw_source_format":{raw}"#));
            assert_eq!(found.is_private, wanted, "{raw}");
        }
    }

    #[test]
    fn a_conversation_of_one_person_says_so() {
        let line = |raw: &str| {
            let line = format!(
                r#"{{"id":"i","content":"x","memory_type":"episodic","namespace":"session",
                  "source":{{"runtime":"zeroclaw","origin":"session"}},
                  "temporal":{{"created_at":"2026-01-01T00:00:00Z"}},"raw_source_format":{raw}}}"#
            );
            let found = SearchableRecord::parse(line.as_bytes()).unwrap();
            (found.is_session, found.is_private)
        };
        assert_eq!(line(r#"{"session_key":"a","piece":0}"#), (true, false));
        assert_eq!(line(r#"{"session_key":"a","piece":0,"private":true}"#), (true, true));
    }

    #[test]
    fn a_fact_without_a_time_of_its_own_has_no_date() {
        let fact = r#"{"runtime":"openclaw","origin":"sqlite","origin_file":"memory/facts.db"}"#;
        assert!(parse(fact, "").date().is_some());
        let line = r#"{"id":"i","content":"x","memory_type":"preference","source":
          {"runtime":"openclaw","origin":"sqlite","origin_file":"memory/facts.db"},"temporal":
          {"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}}"#;
        assert_eq!(SearchableRecord::parse(line.as_bytes()).unwrap().date(), None);
    }
}
