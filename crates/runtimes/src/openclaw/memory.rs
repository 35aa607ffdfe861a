//! Memories: Markdown files become records.

use anemone_format::{
    AgentId, Embedding, EmbeddingSource, ExtractionMethod, MemoryType, Moment, Opaque, Record,
    Source, StampTable, Status, Unknown,
};
use jiff::ToSpan as _;
use serde::Serialize;

use super::{NAMESPACES, RUNTIME, index::Chunk, layout::MemoryKind};
use crate::kit::{
    DatedName, LEAST_FIRST, SessionHeader, TEXT_DIGEST, digest_in, note_stamps, pieces, times,
};
use crate::openclaw::labels::{self, Labels, Promotion, TaggedLine, Validity};
use anemone_markdown::{HiddenKind, Page, Section, SectionKind, line_ends};

/// What all records of a reading share.
pub(super) struct Shared {
    pub(super) agent_id: AgentId,
    pub(super) identity_version: Option<u64>,
    /// What the stamps of entries say.
    pub(super) stamps: StampTable,
}

impl Shared {
    /// Returns what the records of an agent share when nothing but its id is known.
    pub(super) fn of(agent_id: AgentId) -> Self {
        Self { agent_id, identity_version: None, stamps: StampTable::default() }
    }
}

/// A memory file whose text is loaded.
pub(super) struct MemoryFile<'a> {
    /// Its path in the workspace.
    pub(super) path: &'a str,
    pub(super) kind: &'a MemoryKind,
    pub(super) text: &'a str,
    /// When it was last modified.
    pub(super) mtime: &'a Moment,
    /// Vectors of pieces of it, by their lines.
    pub(super) chunks: &'a [Chunk],
}

impl MemoryKind {
    pub(super) fn namespace(&self) -> &'static str {
        match self {
            Self::Curated => "curated",
            Self::Daily(_) => "daily",
            Self::ActiveContext => "active-context",
            Self::Project => "project",
            Self::Gating => "procedural",
            Self::Other => "workspace",
        }
    }

    pub(super) fn memory_type(&self) -> MemoryType {
        match self {
            Self::Daily(_) => MemoryType::Episodic,
            Self::ActiveContext => MemoryType::Summary,
            Self::Gating => MemoryType::Procedural,
            Self::Curated | Self::Project | Self::Other => MemoryType::Semantic,
        }
    }

    fn extraction_method(&self) -> ExtractionMethod {
        match self {
            Self::Curated => ExtractionMethod::UserAuthored,
            _ => ExtractionMethod::AgentWritten,
        }
    }
}

/// What a runtime needs to restore a record, and what the text says about itself.
#[derive(Serialize)]
struct RawPlace<'a> {
    line_start: u64,
    line_end: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    heading: Option<&'a str>,
    /// The names of the columns of the table that it is a row of.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    columns: &'a [String],
    /// Which piece of an overlong section it is, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<usize>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    importance: &'a [TaggedLine],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    triggers: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    projects: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    promotions: &'a [Promotion],
    #[serde(skip_serializing_if = "Option::is_none")]
    session_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<&'a str>,
}

/// Makes the records of a file, in order; their contents, joined, are the file.
pub(super) fn records<E>(
    file: &MemoryFile<'_>,
    shared: &Shared,
    take: &mut dyn FnMut(Record) -> Result<(), E>,
) -> Result<(), E> {
    let page = Page::parse(file.text);
    let sections = match file.kind {
        MemoryKind::ActiveContext => page.whole(),
        MemoryKind::Gating => page.rows().unwrap_or_else(|| page.sections()),
        _ => page.sections(),
    };
    let session = times::session_header(&page);
    let front_matter = times::front_matter_date(file.text).and_then(DatedName::moment);
    let mut index = 0;
    for section in &sections {
        let labels = labels::labels(&page, section, file.kind.namespace());
        let columns = match section.kind {
            SectionKind::Row => page.columns(section.start..section.start + section.text.len()),
            _ => &[],
        };
        let pieces = pieces(section.text);
        let is_cut = pieces.len() > 1;
        for (part, text) in pieces.into_iter().enumerate() {
            let place = RawPlace {
                line_start: section.line_start,
                line_end: section.line_end,
                heading: section.heading.as_deref(),
                columns,
                part: is_cut.then_some(part),
                importance: &labels.importance,
                triggers: &labels.triggers,
                projects: &labels.projects,
                promotions: &labels.promotions,
                session_key: session.as_ref().and_then(|session| session.session_key.as_deref()),
                channel: session.as_ref().and_then(|session| session.source.as_deref()),
            };
            let place = Opaque::new(&place).expect("a struct is a JSON object");
            let created_at =
                created_at(file, &page, section, session.as_ref(), front_matter.as_ref());
            // Blank lines before a heading do not make the text belong to it.
            let first_line = section.line_start + blank_lines(section.text);
            let overlapping = file.chunks.iter().filter(|chunk| {
                chunk.start_line <= section.line_end && chunk.end_line >= first_line
            });
            let chunks: Vec<&Chunk> = if is_cut { Vec::new() } else { overlapping.collect() };
            let id = NAMESPACES.record(file.path, index);
            let mut record = Record::new(id, shared.agent_id, RUNTIME, created_at, text);
            record.memory_type = file.kind.memory_type();
            record.source = source(file, shared, session.as_ref(), &chunks);
            record.temporal.updated_at = Some(file.mtime.clone());
            record.temporal.observed_at = observed_at(file.kind, &labels);
            if labels.status == Some(Validity::Superseded) {
                record.status = Status::Superseded;
            }
            record.namespace = file.kind.namespace().to_owned();
            record.category.clone_from(&labels.category);
            record.confidence = labels.confidence;
            record.tags.clone_from(&labels.tags);
            record.embeddings = chunks.iter().filter_map(|chunk| embedding(chunk)).collect();
            record.raw_source_format = Some(place);
            note_stamps(&mut record, &shared.stamps);
            take(record)?;
            index += 1;
        }
    }
    Ok(())
}

fn source(
    file: &MemoryFile<'_>,
    shared: &Shared,
    session: Option<&SessionHeader>,
    chunks: &[&Chunk],
) -> Source {
    let mut source = shared.source(file.path, "workspace", trust(file.path, chunks));
    source.extraction_method = Some(file.kind.extraction_method());
    source.session_id = session.and_then(|session| session.session_id.clone());
    source
}

impl Shared {
    /// Returns the source of something that the agent wrote; `trust` is the author's class.
    pub(super) fn source(&self, file: &str, origin: &str, trust: Option<&str>) -> Source {
        let mut source = Source {
            origin: Some(origin.to_owned()),
            origin_file: Some(file.to_owned()),
            extraction_method: Some(ExtractionMethod::AgentWritten),
            identity_version: self.identity_version,
            ..Source::new(RUNTIME)
        };
        if let Some(trust) = trust {
            let json = serde_json::to_string(trust).expect("a text is JSON");
            source.unknown.insert("trust", &json).expect("a text is one JSON value");
        }
        source
    }
}

/// Returns the author's class of a text, where OpenClaw records it: of several, the least trusted
/// one.
fn trust<'a>(path: &str, chunks: &[&'a Chunk]) -> Option<&'a str> {
    if ["memory/dreaming/", "memory/.dreams/"].iter().any(|value| path.starts_with(value)) {
        return Some("system");
    }
    let classes = || chunks.iter().filter_map(|chunk| chunk.origin_class.as_deref());
    LEAST_FIRST.into_iter().find_map(|class| classes().find(|other| *other == class))
}

fn embedding(chunk: &Chunk) -> Option<Embedding> {
    (!chunk.vector.is_empty()).then(|| Embedding {
        model: chunk.model.clone(),
        provider: None,
        dimensions: chunk.vector.len() as u64,
        vector: chunk.vector.clone(),
        computed_at: chunk.computed_at.clone(),
        source: EmbeddingSource::Runtime,
        unknown: of_text(&chunk.hash),
    })
}

/// Notes that a vector was made from a chunk's text, not the record's.
pub(super) fn of_text(hash: &str) -> Unknown {
    let mut unknown = Unknown::default();
    if digest_in(hash).is_some() {
        unknown
            .insert(TEXT_DIGEST, &format!("\"{hash}\""))
            .expect("digits between quotes are JSON");
    }
    unknown
}

/// Returns how many lines without content a text begins with.
fn blank_lines(text: &str) -> u64 {
    let blank = text.len() - text.trim_start().len();
    line_ends(&text[..blank])
}

/// Returns the heading of a section without the code in it: a time there is an example.
fn without_code(page: &Page<'_>, section: &Section<'_>, heading: &str) -> String {
    let blank = section.text.len() - section.text.trim_start().len();
    let line = section.text[blank..].lines().next().unwrap_or_default();
    let end = section.start + blank + line.len();
    let hidden = page.hidden_in(section.start + blank..end).iter();
    let codes = hidden.filter(|hidden| hidden.kind == HiddenKind::Code && hidden.range.end <= end);
    codes.fold(heading.to_owned(), |text, hidden| {
        let code = page.slice(hidden.range.clone()).trim_matches('`').trim();
        if code.is_empty() { text } else { text.replacen(code, "`", 1) }
    })
}

/// A time in the text takes precedence, then one in the name. The file's time comes last, because
/// copying or touching the file changes it.
fn created_at(
    file: &MemoryFile<'_>,
    page: &Page<'_>,
    section: &Section<'_>,
    session: Option<&SessionHeader>,
    front_matter: Option<&Moment>,
) -> Moment {
    let heading = section.heading.as_deref().unwrap_or_default();
    let header = || session.and_then(|session| session.at.clone());
    if let MemoryKind::Daily(name) = file.kind {
        let on_day = |time| times::at(name.date, time);
        // The day may be over in another zone.
        let latest = name.date.checked_add(2.days()).ok().and_then(times::midnight);
        return times::timestamps(heading)
            .find_map(DatedName::moment)
            .or_else(header)
            .or_else(|| {
                let heading = without_code(page, section, heading);
                times::clock_in_heading(name.date, &heading)?.moment()
            })
            .or_else(|| stated_in_body(page, section, latest.as_ref()))
            .or_else(|| name.time.and_then(on_day))
            .or_else(|| times::midnight(name.date))
            .unwrap_or_else(|| file.mtime.clone());
    }
    times::moment_in_heading(heading)
        .and_then(DatedName::moment)
        .or_else(header)
        .or_else(|| front_matter.cloned())
        .or_else(|| stated_in_body(page, section, Some(file.mtime)))
        .unwrap_or_else(|| file.mtime.clone())
}

/// Returns the first full timestamp in the prose of a section. Later ones than `latest` are
/// appointments: nothing was written down after its file was. Code and comments are not read.
fn stated_in_body(
    page: &Page<'_>,
    section: &Section<'_>,
    latest: Option<&Moment>,
) -> Option<Moment> {
    let end = section.start + section.text.len();
    let hidden = page.hidden_in(section.start..end);
    let starts = hidden.iter().map(|hidden| hidden.range.start).chain([end]);
    let mut from = section.start;
    let prose = starts.zip(hidden.iter().map(|hidden| hidden.range.end).chain([end])).map(
        |(start, next)| {
            let prose = from..start.clamp(from, end);
            from = next.clamp(from, end);
            page.slice(prose)
        },
    );
    let mut times = prose.flat_map(times::timestamps).filter_map(DatedName::moment);
    times.find(|at| latest.is_none_or(|latest| at.instant() <= latest.instant()))
}

fn observed_at(kind: &MemoryKind, labels: &Labels) -> Option<Moment> {
    let date = match kind {
        MemoryKind::Daily(name) => Some(name.date),
        _ => labels.observed,
    };
    date.and_then(times::midnight)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::super::layout::{PathRole, place_of};
    use super::*;
    use crate::kit::split_text::MAX_ESCAPED_BYTES;

    const MTIME: &str = "2026-03-20T18:00:00Z";

    fn read(path: &str, text: &str, chunks: &[Chunk]) -> Vec<Record> {
        let PathRole::Memory(kind) = place_of(path.as_bytes()) else { panic!("{path}") };
        let shared = Shared {
            agent_id: "9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap(),
            identity_version: Some(3),
            stamps: StampTable::default(),
        };
        let mtime = MTIME.parse().unwrap();
        let file = MemoryFile { path, kind: &kind, text, mtime: &mtime, chunks };
        let mut found = Vec::new();
        let Ok(()) = records::<Infallible>(&file, &shared, &mut |record| {
            found.push(record);
            Ok(())
        });
        found
    }

    fn created(path: &str, text: &str) -> Vec<String> {
        read(path, text, &[]).iter().map(|read| read.temporal.created_at.to_string()).collect()
    }

    // The order of the sources of a time is that of the first documents: text, name, file.
    #[test]
    fn a_time_comes_from_the_text_then_from_the_name_then_from_the_file() {
        for (path, text, wanted) in [
            ("memory/2026-01-15.md", "## Session — 10:30 AM\nx\n", "2026-01-15T10:30:00Z"),
            ("memory/2026-01-15.md", "## Morning\nx\n", "2026-01-15T00:00:00Z"),
            ("memory/2026-01-15.md", "## 10:30 +02:00\nx\n", "2026-01-15T08:30:00Z"),
            ("memory/2026-01-15.md", "## 10:30 Europe/Berlin\nx\n", "2026-01-15T09:30:00Z"),
            ("memory/2026-01-15.md", "## `12:34`\nx\n", "2026-01-15T00:00:00Z"),
            ("memory/2026-01-15.md", "## Run `at 12:34` — 11:00\nx\n", "2026-01-15T11:00:00Z"),
            ("memory/2026-01-15-0905.md", "## Morning\nx\n", "2026-01-15T09:05:00Z"),
            ("memory/t/2025-11-03.md", "x\n", "2025-11-03T00:00:00Z"),
            (
                "memory/2026-01-30-slug.md",
                "# Session: 2026-01-30 14:30:00 America/New_York\n\n- **Session ID**: s1\n",
                "2026-01-30T19:30:00Z",
            ),
            ("memory/a.md", "---\ndate: 2025-12-24\n---\nx\n", "2025-12-24T00:00:00Z"),
            ("MEMORY.md", "## Promoted (2026-02-03)\nx\n", "2026-02-03T00:00:00Z"),
            ("MEMORY.md", "## Tea\nx\n", MTIME),
            // A full timestamp counts wherever it is; its day may be another than the file's.
            ("memory/2026-01-16.md", "## 2026-01-17T08:00:00Z woke\n", "2026-01-17T08:00:00Z"),
            (
                "memory/2026-01-16.md",
                "## 2026-01-16 08:00:00.5+02:00\nx\n",
                "2026-01-16T06:00:00.5Z",
            ),
            ("memory/2026-01-16.md", "On 2026-01-15T10:00:00Z we met.\n", "2026-01-15T10:00:00Z"),
            ("memory/2026-01-16-0905.md", "Met: 2026-01-16 09:00\n", "2026-01-16T09:00:00Z"),
            ("memory/2026-01-16.md", "## 10:30\n2026-01-15T10:00Z\n", "2026-01-16T10:30:00Z"),
            ("memory/a.md", "> On 2026-03-01T10:00:00Z we met.\n", "2026-03-01T10:00:00Z"),
            ("MEMORY.md", "- 2026-03-01 10:00 Europe/Berlin: moved\n", "2026-03-01T09:00:00Z"),
            // What lies ahead is an appointment: later than the day, later than the file.
            ("memory/2026-01-16.md", "Flight: 2026-05-01T10:00Z\n", "2026-01-16T00:00:00Z"),
            (
                "MEMORY.md",
                "Flight 2026-05-01 10:00, booked 2026-03-02 08:00.\n",
                "2026-03-02T08:00:00Z",
            ),
            // Code and comments are not what somebody said.
            ("MEMORY.md", "`2026-03-01T10:00:00Z` x\n", MTIME),
            ("MEMORY.md", "```\n2026-03-01T10:00:00Z\n```\n<!-- 2026-03-01T10:00:00Z -->\n", MTIME),
            ("MEMORY.md", "See logs/2026-03-01T10:00:00Z.txt\n", MTIME),
        ] {
            assert_eq!(created(path, text), [wanted], "{path} {text}");
        }
    }

    #[test]
    fn a_daily_record_stays_in_the_partition_of_its_day() {
        let record = &read("memory/2026-03-31.md", "## Late — 11:59 PM\nx\n", &[])[0];
        assert_eq!(record.temporal.observed_at.as_ref().unwrap().as_str(), "2026-03-31T00:00:00Z");
        assert_eq!(record.temporal.created_at.utc_date().to_string(), "2026-03-31");
    }

    #[test]
    fn a_vector_goes_to_every_record_whose_lines_it_overlaps() {
        let chunk = |start_line, end_line, class: &str| Chunk {
            path: "MEMORY.md".to_owned(),
            start_line,
            end_line,
            model: "openai/small".to_owned(),
            vector: vec![1.0, 0.0],
            computed_at: MTIME.parse().unwrap(),
            origin_class: Some(class.to_owned()),
            hash: String::new(),
        };
        // Lines 1 and 2, 3 and 4, 6 and 7; the blank one belongs to C and has no text.
        let text = "## A\na\n## B\nb\n\n## C\nc\n";
        let records = read("MEMORY.md", text, &[chunk(1, 3, "owner"), chunk(4, 5, "untrusted")]);
        let vectors: Vec<usize> = records.iter().map(|record| record.embeddings.len()).collect();
        assert_eq!(vectors, [1, 2, 0]);
        let trust: Vec<_> =
            records.iter().map(|record| record.source.unknown.get("trust")).collect();
        assert_eq!(trust, [Some("\"owner\""), Some("\"untrusted\""), None]);
    }

    // The audit's file: the second row had the title and the header of the third.
    #[test]
    fn a_row_is_a_record_and_knows_the_names_of_its_columns() {
        let text = "# Rules\n\n| ID | Trigger | `Action` |\n|---|---|---|\n| GP-1 | a | b |\n| GP-2 | c | d |\n\n## More\n\n| ID | T |\n|---|---|\n| GP-3 | e |\n\nend\n";
        let records = read("memory/gating-policies.md", text, &[]);
        let contents: Vec<&str> = records.iter().map(|record| &*record.content).collect();
        assert_eq!(
            contents,
            [
                "# Rules\n\n| ID | Trigger | `Action` |\n|---|---|---|\n| GP-1 | a | b |\n",
                "| GP-2 | c | d |\n",
                "\n## More\n\n| ID | T |\n|---|---|\n| GP-3 | e |\n\nend\n",
            ]
        );
        let place = |at: usize| -> serde_json::Value {
            records[at].raw_source_format.as_ref().unwrap().parse().unwrap()
        };
        assert_eq!(place(1)["columns"], serde_json::json!(["ID", "Trigger", "Action"]));
        assert_eq!((&place(1)["line_start"], &place(1)["line_end"]), (&6.into(), &6.into()));
        assert_eq!(place(2)["columns"], serde_json::json!(["ID", "T"]));
        assert_eq!(
            read("MEMORY.md", "x\n", &[])[0].raw_source_format.as_ref().unwrap().as_str(),
            r#"{"line_start":1,"line_end":1}"#
        );
    }

    #[test]
    fn what_dreaming_wrote_is_the_systems() {
        let record = &read("memory/dreaming/deep/2026-01-15.md", "x\n", &[])[0];
        assert_eq!(record.source.unknown.get("trust"), Some("\"system\""));
    }

    #[test]
    fn a_section_too_long_for_a_line_is_cut_and_nothing_is_lost() {
        // Every byte becomes six in JSON.
        let text = format!("## Long\n{}", "\u{1}".repeat(MAX_ESCAPED_BYTES / 3));
        let records = read("memory/a.md", &text, &[]);
        assert!(records.len() > 1);
        let joined: String = records.iter().map(|record| record.content.as_str()).collect();
        assert!(joined == text);
    }

    fn markdown() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            Just("## Heading"),
            Just("##\tTab"),
            Just("Setext\n---"),
            Just("```"),
            Just("~~~"),
            Just("<!--"),
            Just("-->"),
            Just("| a | b |\n|---|---|\n| 1 | 2 |"),
            Just("- [decision|i=0.9] text #tag"),
            Just("会議 🦞"),
            Just("    ## code"),
            Just("> ## quoted"),
            Just(""),
            Just("---"),
            Just("\u{feff}"),
        ];
        let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r"), Just("\n\n")];
        proptest::collection::vec((line, end), 0..24).prop_map(|lines| {
            lines.into_iter().flat_map(|(line, end)| [line, end]).collect::<String>()
        })
    }

    proptest! {
        #[test]
        fn the_contents_of_a_files_records_are_the_file(text in markdown()) {
            for path in [
                "MEMORY.md",
                "memory/2026-01-15.md",
                "memory/active-context.md",
                "memory/gating-policies.md",
                "memory/x.md",
            ] {
                let records = read(path, &text, &[]);
                let joined: String = records.iter().map(|record| record.content.as_str()).collect();
                let blank = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty();
                prop_assert_eq!(&joined, if blank { "" } else { &text }, "{}", path);
                for (index, record) in records.iter().enumerate() {
                    prop_assert_eq!(record.id, NAMESPACES.record(path, index));
                }
            }
        }
    }
}
