//! Three months in the life of Clawdia, who keeps house for a tea shop owner and a hermit crab.
//!
//! The files of her workspace are under `agent/`: `march/` is the workspace at the end of March
//! 2026, `april/` what differs a month later. Records are made from the files as an adapter makes
//! them: one for each section under a `## ` heading, and the sections of a file, joined, are the
//! file. What no file says (entities, links, a vector) is set by hand.
//!
//! [`agent`] is small, and tests rely on every byte of it. [`life`] is the whole workspace of those
//! three months, with what `life/` adds: to show and to look around in.

mod layers;
mod life;

use anemone_format::{
    AgentId, AgentInfo, Embedding, EmbeddingSource, Entity, EntityKind, ExtractionMethod, File,
    FileRoot, ItemId, Manifest, MemoryType, Moment, Node, Opaque, Record, RecordId, Relation,
    RuntimeHints, Snapshot, Source, Status, Temporal, Unknown,
};
use serde::Serialize;
use uuid::Uuid;

pub use life::{LifeFile, life};

/// The runtime the sample lives in.
pub const RUNTIME: &str = "openclaw";
const RUNTIME_VERSION: &str = "2026.3.24";

/// The namespace of record ids that an OpenClaw adapter makes.
const OPENCLAW_RECORDS: Uuid = Uuid::from_bytes(*b"openclaw-alf-ns1");
/// The namespace of agent ids that an OpenClaw adapter makes.
const OPENCLAW_AGENTS: Uuid = Uuid::from_bytes(*b"alf-agent-id-ns1");
/// The workspace whose agent the sample is.
const WORKSPACE: &str = "/home/user/.openclaw/workspace";

/// The link to the newest log.
const LATEST: &str = "memory/latest";
const PICTURE: &str = "pictures/herr-krause.svg";
const VIDEO: &str = "videos/umzug.mp4";

/// Returns the sample at the end of March 2026.
#[must_use]
pub fn agent() -> Snapshot {
    let mut records = records_of(MARCH);
    annotate(&mut records);
    let mut snapshot = Snapshot::new(manifest("2026-03-28T18:05:41.207Z"));
    snapshot.identity = Some(layers::identity(1, "2026-02-20T20:14:03Z", MARCH));
    snapshot.principals = Some(layers::principals(MARCH));
    snapshot.credentials = Some(layers::credentials());
    snapshot.attachments = Some(layers::attachments());
    snapshot.files = files_of(MARCH, "2026-03-20.md", "2026-03-20T19:30:12.5Z");
    snapshot.records = records;
    snapshot.sort();
    snapshot
}

/// Returns the sample a month later: records were made, changed and deleted, files as well.
#[must_use]
pub fn agent_a_month_later() -> Snapshot {
    let before = agent();
    let files = april();
    let mut records = records_of(&files);
    annotate(&mut records);
    for record in &mut records {
        let Some(old) = before.records.iter().find(|old| old.id == record.id) else {
            continue;
        };
        // A record keeps its creation time, and an unchanged section did not change when its file
        // did.
        let same = old.content == record.content;
        let updated_at = record.temporal.updated_at.take();
        record.temporal.clone_from(&old.temporal);
        if !same {
            record.temporal.updated_at = updated_at;
        }
    }
    supersede_the_moving_plan(&mut records);

    let mut snapshot = before;
    snapshot.manifest = manifest("2026-04-26T19:48:09.641Z");
    snapshot.identity = Some(layers::identity(2, "2026-04-26T19:48:09.641Z", &files));
    snapshot.files = files_of(&files, "2026-04-26.md", "2026-04-26T19:32:57Z");
    snapshot.records = records;
    snapshot.sort();
    snapshot
}

/// Returns the id of a section of a file of the workspace, counted from 0.
#[must_use]
pub fn record_id(path: &str, section: usize) -> RecordId {
    let name = format!("{path}:{section}");
    RecordId::new(Uuid::new_v5(&OPENCLAW_RECORDS, name.as_bytes()))
}

/// Returns the id of the sample agent.
#[must_use]
pub fn agent_id() -> AgentId {
    AgentId::new(Uuid::new_v5(&OPENCLAW_AGENTS, WORKSPACE.as_bytes()))
}

/// A Markdown file of the workspace.
#[derive(Clone, Copy)]
struct Page {
    path: &'static str,
    text: &'static str,
    mode: u32,
    modified: &'static str,
}

const fn page(path: &'static str, modified: &'static str, text: &'static str) -> Page {
    Page { path, text, mode: 0o644, modified }
}

macro_rules! march {
    ($path:literal, $modified:literal) => {
        page($path, $modified, include_str!(concat!("../agent/march/", $path)))
    };
}

macro_rules! april {
    ($path:literal, $modified:literal) => {
        page($path, $modified, include_str!(concat!("../agent/april/", $path)))
    };
}

const MARCH: &[Page] = &[
    march!("AGENTS.md", "2026-01-05T09:41:00Z"),
    march!("HEARTBEAT.md", "2026-01-16T07:02:30Z"),
    march!("IDENTITY.md", "2026-01-05T09:41:00Z"),
    march!("MEMORY.md", "2026-02-21T21:17:48.352Z"),
    march!("SOUL.md", "2026-02-20T20:14:03Z"),
    march!("TOOLS.md", "2026-01-30T16:20:11Z"),
    march!("USER.md", "2026-01-06T08:55:27Z"),
    march!("memory/2026-01-05.md", "2026-01-05T21:03:19.118204Z"),
    march!("memory/2026-01-15.md", "2026-01-15T22:40:51.903117846Z"),
    march!("memory/2026-01-23.md", "2026-01-23T20:11:06Z"),
    march!("memory/2026-02-04.md", "2026-02-04T17:25:40.75Z"),
    march!("memory/2026-02-17.md", "2026-02-17T14:08:02Z"),
    march!("memory/2026-03-08.md", "2026-03-08T19:56:33.400029Z"),
    march!("memory/2026-03-20.md", "2026-03-20T19:30:12.5Z"),
    march!("memory/active-context.md", "2026-03-28T18:05:41.207Z"),
    march!("memory/gating-policies.md", "2026-01-09T10:12:00Z"),
    march!("memory/project-aquarium.md", "2026-03-09T20:31:17Z"),
];

const APRIL: &[Page] = &[
    april!("MEMORY.md", "2026-04-13T08:47:20.014Z"),
    april!("SOUL.md", "2026-04-26T19:48:09.641Z"),
    april!("memory/2026-04-12.md", "2026-04-12T18:21:55Z"),
    april!("memory/2026-04-26.md", "2026-04-26T19:32:57Z"),
    april!("memory/active-context.md", "2026-04-24T16:00:02Z"),
    april!("memory/project-aquarium.md", "2026-04-13T08:44:36.9Z"),
];

/// What the workspace holds in April: the surprise is over and forgotten, as was promised, and
/// Lin has seen that anybody on the machine could read about her.
fn april() -> Vec<Page> {
    let mut pages: Vec<Page> = MARCH
        .iter()
        .filter(|page| page.path != "memory/2026-01-23.md")
        .filter(|page| APRIL.iter().all(|newer| newer.path != page.path))
        .chain(APRIL)
        .copied()
        .collect();
    pages.sort_by_key(|page| page.path);
    for page in &mut pages {
        if page.path == "USER.md" {
            page.mode = 0o600;
        }
    }
    pages
}

fn text_of(pages: &[Page], path: &str) -> Option<String> {
    pages.iter().find(|page| page.path == path).map(|page| page.text.to_owned())
}

fn at(text: &str) -> Moment {
    text.parse().expect("the sample's times are written as RFC 3339 wants them")
}

fn item_id(name: &str) -> ItemId {
    ItemId::new(Uuid::new_v5(&agent_id().uuid(), name.as_bytes()))
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

fn manifest(created_at: &str) -> Manifest {
    let mut agent = AgentInfo::new(agent_id(), "Clawdia", RUNTIME);
    agent.source_runtime_version = Some(RUNTIME_VERSION.to_owned());
    let mut manifest = Manifest::new(agent, at(created_at));
    manifest.runtime_hints = Some(RuntimeHints {
        primary_model: "tidepool-large".to_owned(),
        last_model: "tidepool-small".to_owned(),
        provider: Some("tidepool".to_owned()),
        context_window: Some(200_000),
        notes: Some("The small one is enough for the tea, the large one for Jonas.".to_owned()),
        unknown: Unknown::default(),
    });
    manifest.blank();
    manifest
}

fn files_of(pages: &[Page], latest: &str, linked: &str) -> Vec<File> {
    let raw = || FileRoot::Raw(RUNTIME.to_owned());
    let mut files: Vec<File> = pages
        .iter()
        .map(|page| {
            let mut file = File::new(raw(), page.path, page.text);
            (file.mode, file.mtime) = (Some(page.mode), Some(at(page.modified)));
            file
        })
        .collect();
    let mut link = File::new(raw(), LATEST, "");
    link.node = Node::Symlink(latest.as_bytes().to_vec());
    (link.mode, link.mtime) = (Some(0o777), Some(at(linked)));
    files.push(link);
    let mut folder = File::new(raw(), "memory/archive", "");
    folder.node = Node::Folder;
    (folder.mode, folder.mtime) = (Some(0o755), Some(at("2026-01-05T09:40:58Z")));
    files.push(folder);
    let mut picture = File::new(FileRoot::Artifacts, PICTURE, picture());
    (picture.mode, picture.mtime) = (Some(0o644), Some(at("2026-03-08T20:05:00Z")));
    files.push(picture);
    files
}

fn picture() -> &'static str {
    include_str!("../agent/march/pictures/herr-krause.svg")
}

/// A section of a page: its heading, its text with the heading, and its lines from 1.
struct Section<'a> {
    heading: &'a str,
    text: &'a str,
    line_start: usize,
    line_end: usize,
}

/// Splits a page at its `## ` headings; every page that is remembered starts with one.
fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    let mut line_start = 1;
    let mut rest = text;
    while let Some(body) = rest.strip_prefix("## ") {
        let end = body.find("\n## ").map_or(rest.len(), |at| "## ".len() + at + 1);
        let (text, next) = rest.split_at(end);
        let line_end = line_start + text.lines().count() - 1;
        let heading = body.lines().next().unwrap_or_default();
        sections.push(Section { heading, text, line_start, line_end });
        (line_start, rest) = (line_end + 1, next);
    }
    sections
}

/// Where a section was, as an OpenClaw adapter writes it.
#[derive(Serialize)]
struct Place<'a> {
    line_start: usize,
    line_end: usize,
    heading: &'a str,
}

fn records_of(pages: &[Page]) -> Vec<Record> {
    let mut records = Vec::new();
    for page in pages.iter().filter(|page| is_remembered(page.path)) {
        for (index, section) in sections(page.text).iter().enumerate() {
            records.push(record(page, index, section));
        }
    }
    records
}

fn is_remembered(path: &str) -> bool {
    path == "MEMORY.md" || path.starts_with("memory/")
}

fn record(page: &Page, index: usize, section: &Section<'_>) -> Record {
    let day = page.path.strip_prefix("memory/2026-").map(|rest| &rest[..5]);
    let (namespace, memory_type) = match page.path {
        "MEMORY.md" => ("curated", MemoryType::Semantic),
        "memory/active-context.md" => ("active-context", MemoryType::Summary),
        "memory/gating-policies.md" => ("procedural", MemoryType::Procedural),
        _ if day.is_some() => ("daily", MemoryType::Episodic),
        _ => ("project", MemoryType::Semantic),
    };
    let by_lin = page.path == "MEMORY.md" || page.path == "memory/gating-policies.md";
    let observed_at = day.map(|day| at(&format!("2026-{day}T00:00:00Z")));
    let labels = Labels::read(namespace, section.text);
    let place = Place {
        line_start: section.line_start,
        line_end: section.line_end,
        heading: section.heading,
    };
    Record {
        id: record_id(page.path, index),
        agent_id: agent_id(),
        content: section.text.to_owned(),
        memory_type,
        source: Source {
            runtime_version: Some(RUNTIME_VERSION.to_owned()),
            origin: Some("workspace".to_owned()),
            origin_file: Some(page.path.to_owned()),
            extraction_method: Some(if by_lin {
                ExtractionMethod::UserAuthored
            } else {
                ExtractionMethod::AgentWritten
            }),
            ..Source::new(RUNTIME)
        },
        temporal: Temporal {
            updated_at: Some(at(page.modified)),
            observed_at: observed_at.clone(),
            ..Temporal::new(observed_at.unwrap_or_else(|| at(page.modified)))
        },
        status: Status::Active,
        namespace: namespace.to_owned(),
        category: labels.category,
        supersedes: None,
        confidence: labels.confidence,
        entities: Vec::new(),
        tags: labels.tags,
        embeddings: Vec::new(),
        related_records: Vec::new(),
        raw_source_format: Some(Opaque::new(&place).expect("a struct is a JSON object")),
        unknown: Unknown::default(),
    }
}

/// What a section says of itself: `[decision|i=0.9]` and `#words`.
struct Labels {
    category: Option<String>,
    confidence: Option<f64>,
    tags: Vec<String>,
}

impl Labels {
    fn read(namespace: &str, text: &str) -> Self {
        let mut labels =
            Self { category: None, confidence: None, tags: vec![namespace.to_owned()] };
        for word in text.split_whitespace() {
            if let Some((name, score)) = importance(word) {
                labels.category.get_or_insert_with(|| name.to_owned());
                labels.confidence = Some(labels.confidence.map_or(score, |old| old.max(score)));
                labels.tag(name);
            } else if let Some(tag) = word.strip_prefix('#').filter(|tag| !tag.starts_with('#')) {
                labels.tag(tag);
            }
        }
        labels
    }

    fn tag(&mut self, tag: &str) {
        if !tag.is_empty() && self.tags.iter().all(|known| known != tag) {
            self.tags.push(tag.to_owned());
        }
    }
}

fn importance(word: &str) -> Option<(&str, f64)> {
    let (name, score) = word.strip_prefix('[')?.strip_suffix(']')?.split_once("|i=")?;
    Some((name, score.parse().ok()?))
}

/// Adds what no file says: who is who, what belongs together, and one vector.
fn annotate(records: &mut [Record]) {
    let people: &[(&str, EntityKind, &str)] = &[
        ("Lin", EntityKind::Person, "owner"),
        ("Jonas", EntityKind::Person, "baker"),
        ("老周", EntityKind::Person, "supplier"),
        ("妈妈", EntityKind::Person, "mother"),
        ("Herr Krause", EntityKind::Other, "hermit crab"),
        ("Frau Sommer", EntityKind::Other, "anemone"),
        ("Kapitän", EntityKind::Other, "cat"),
    ];
    for record in records.iter_mut() {
        record.entities = people
            .iter()
            .filter(|(name, _, _)| record.content.contains(name))
            .map(|(name, kind, role)| Entity {
                name: (*name).to_owned(),
                kind: kind.clone(),
                role: Some((*role).to_owned()),
                unknown: Unknown::default(),
            })
            .collect();
    }
    let krause = record_id("MEMORY.md", 1);
    let restless = record_id("memory/2026-03-08.md", 0);
    let plan = record_id("memory/project-aquarium.md", 1);
    for (id, other, relation) in [
        (restless, krause, "about"),
        (plan, restless, "caused_by"),
        (
            record_id("memory/active-context.md", 0),
            record_id("memory/2026-02-04.md", 0),
            "mentions",
        ),
        (record_id("memory/2026-04-12.md", 0), plan, "follows"),
    ] {
        if let Some(record) = find(records, id) {
            let relation = relation.to_owned();
            let unknown = Unknown::default();
            record.related_records.push(Relation { id: other, relation, unknown });
        }
    }
    if let Some(record) = find(records, krause) {
        record.temporal.access_count = Some(42);
        record.temporal.last_accessed_at = Some(at("2026-03-27T07:30:00Z"));
        let vector = vec![0.12, -0.5, 0.033_203_125, 0.75, -0.062_5, 0.3, 0.0, -0.271_828];
        record.embeddings.push(Embedding {
            model: "tidepool/shell-8".to_owned(),
            provider: None,
            dimensions: vector.len() as u64,
            vector,
            computed_at: at("2026-02-21T21:18:00Z"),
            source: EmbeddingSource::Runtime,
            unknown: Unknown::default(),
        });
    }
}

fn supersede_the_moving_plan(records: &mut [Record]) {
    let plan = record_id("memory/project-aquarium.md", 1);
    let next = record_id("memory/project-aquarium.md", 2);
    if let Some(record) = find(records, plan) {
        record.status = Status::Superseded;
        record.temporal.updated_at = Some(at("2026-04-13T08:44:36.9Z"));
    }
    if let Some(record) = find(records, next) {
        record.supersedes = Some(plan);
    }
}

fn find(records: &mut [Record], id: RecordId) -> Option<&mut Record> {
    records.iter_mut().find(|record| record.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn contents(snapshot: &Snapshot) -> BTreeMap<RecordId, &Record> {
        snapshot.records.iter().map(|record| (record.id, record)).collect()
    }

    #[test]
    fn ids_are_those_of_the_openclaw_adapter() {
        // Do not change these expectations: other tools compute the same ids.
        for (path, id) in [
            ("MEMORY.md", "4f4c0ec1-f54d-5d2a-aeea-876c1faf2882"),
            ("memory/2026-01-15.md", "1d93a526-85b1-5b5b-9ac8-2fcc8749633d"),
        ] {
            assert_eq!(record_id(path, 0).to_string(), id);
            assert!(contents(&agent()).contains_key(&id.parse().unwrap()), "{path}");
        }
        assert_eq!(agent_id().to_string(), "9e373c1e-cab7-5eea-90c3-8f3d09ac5755");
    }

    #[test]
    fn the_records_of_a_file_joined_are_the_file() {
        for snapshot in [agent(), agent_a_month_later()] {
            let mut remembered = 0;
            for file in &snapshot.files {
                let Node::File(content) = &file.node else {
                    continue;
                };
                let path = str::from_utf8(&file.path).unwrap();
                if file.root == FileRoot::Artifacts || !is_remembered(path) {
                    continue;
                }
                let sections = (0..).map_while(|index| {
                    let id = record_id(path, index);
                    snapshot.records.iter().find(|record| record.id == id)
                });
                let sections: Vec<_> = sections.map(|record| record.content.as_str()).collect();
                assert_eq!(sections.concat().as_bytes(), content, "{path}");
                remembered += sections.len();
            }
            assert_eq!(remembered, snapshot.records.len());
        }
    }

    #[test]
    fn lines_are_those_of_the_file() {
        for record in &agent().records {
            let place: serde_json::Value =
                record.raw_source_format.as_ref().unwrap().parse().unwrap();
            let path = record.source.origin_file.as_deref().unwrap();
            let text = text_of(MARCH, path).unwrap();
            let line = |key: &str| usize::try_from(place[key].as_u64().unwrap()).unwrap();
            let lines: Vec<&str> = text
                .split_inclusive('\n')
                .skip(line("line_start") - 1)
                .take(line("line_end") + 1 - line("line_start"))
                .collect();
            assert_eq!(lines.concat(), record.content);
            assert_eq!(lines[0].trim_end(), format!("## {}", place["heading"].as_str().unwrap()));
        }
    }

    #[test]
    fn a_month_makes_changes_and_deletes() {
        let (before, after) = (agent(), agent_a_month_later());
        let (old, new) = (contents(&before), contents(&after));
        assert_eq!(old.len(), 25);
        assert_eq!(new.keys().filter(|id| !old.contains_key(id)).count(), 4);
        assert_eq!(old.keys().filter(|id| !new.contains_key(id)).count(), 2);
        let changed =
            new.iter().filter(|(id, record)| old.get(id).is_some_and(|old| old != *record));
        assert_eq!(changed.count(), 3);
        let version = |snapshot: &Snapshot| snapshot.identity.as_ref().unwrap().version;
        assert_eq!((version(&before), version(&after)), (1, 2));
        let mode = |snapshot: &Snapshot| {
            snapshot.files.iter().find(|file| file.path == b"USER.md").unwrap().mode
        };
        assert_eq!((mode(&before), mode(&after)), (Some(0o644), Some(0o600)));
    }

    #[test]
    fn a_section_speaks_for_its_labels() {
        let record = &contents(&agent())[&record_id("MEMORY.md", 5)].clone();
        assert_eq!(record.category.as_deref(), Some("lesson"));
        assert_eq!(record.confidence, Some(0.9));
        assert_eq!(record.tags, ["curated", "lesson", "reminders", "shop"]);
    }

    #[test]
    fn times_read_back_from_a_file_system_are_the_same_text() {
        for file in agent_a_month_later().files.iter().chain(&agent().files) {
            let mtime = file.mtime.clone().unwrap();
            assert_eq!(Moment::from(mtime.instant()), mtime);
        }
    }

    #[test]
    fn both_snapshots_are_sorted_and_blank() {
        for snapshot in [agent(), agent_a_month_later()] {
            let mut tidy = snapshot.clone();
            tidy.sort();
            tidy.manifest.blank();
            assert!(tidy == snapshot);
        }
    }
}
