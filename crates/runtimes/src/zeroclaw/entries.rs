//! Memories in Markdown: the real format, a bullet for each entry, and that of the first documents,
//! a section for each.
//!
//! | file | namespace | |
//! |---|---|---|
//! | `MEMORY.md` | `core` | |
//! | `memory/<date>.md` and any other in `memory` | `daily` | observed on that day |
//! | `memory/session_<id>.md` | `session` | only in the first documents |
//! | `memory/archive/` | as above | archived |

mod bullets;
mod write;

use std::borrow::Cow;
use std::collections::HashMap;

use anemone_format::{
    MemoryType, Moment, Opaque, ProvenanceStamp, Record, Source, Status, Temporal,
};
use jiff::civil::{Date, Time};
use serde::Serialize;

use super::rows::{AUTO_SAVE, ReadingContext, Writer};
use super::{NAMESPACES, RUNTIME};
use crate::kit::{MemoryFacts, note_stamps, pieces, times};
use anemone_markdown::Page;

pub(super) use write::{file_of, write};

/// A file of memories.
pub(super) struct EntryFile<'a> {
    /// Its path in the workspace.
    pub(super) path: &'a str,
    pub(super) text: &'a str,
    pub(super) mtime: &'a Moment,
}

/// What the path of a file of memories says about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shelf {
    namespace: &'static str,
    date: Option<(Date, Option<Time>)>,
    archived: bool,
}

impl Shelf {
    fn of(path: &str) -> Self {
        let archived = path.starts_with("memory/archive/");
        let name = path.rsplit('/').next().unwrap_or(path);
        let (namespace, date) = if path == "MEMORY.md" {
            ("core", None)
        } else if name.starts_with("session_") {
            ("session", None)
        } else {
            ("daily", date_in(name))
        };
        Self { namespace, date, archived }
    }

    fn memory_type(&self) -> MemoryType {
        match (self.namespace, self.archived) {
            ("core", false) => MemoryType::Semantic,
            _ => MemoryType::Episodic,
        }
    }

    /// A time in the heading belongs to the day in the name of the file.
    fn created_at(&self, heading: Option<&str>) -> Option<Moment> {
        let (date, time) = self.date?;
        let time = heading.and_then(times::time_in_heading).or(time);
        time.map_or_else(|| times::midnight(date), |time| times::at(date, time))
    }
}

/// Reads the date of `2026-01-15.md`, `2026-01-15-0930.md` or `2026-01-15_1.md`.
fn date_in(name: &str) -> Option<(Date, Option<Time>)> {
    if let Some(name) = times::date_in_name(name) {
        return Some((name.date, name.time));
    }
    let (day, _) = name.split_at_checked(10).filter(|(_, rest)| rest.starts_with('_'))?;
    Some((times::date(day)?, None))
}

/// What the runtime needs to restore a record.
#[derive(Default, Serialize)]
struct RawEntry<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    /// How many entries of the same key precede it.
    #[serde(skip_serializing_if = "is_zero")]
    occurrence: u64,
    line_start: u64,
    line_end: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    heading: Option<&'a str>,
    /// Which piece of an overlong text it is, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<usize>,
    /// The content itself where a record cannot have it, because it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Returns what the path of a file says about the memories in it.
pub(super) fn facts_of(path: &str) -> MemoryFacts {
    let shelf = Shelf::of(path);
    let is_session = shelf.namespace == "session";
    MemoryFacts {
        memory_type: Some(shelf.memory_type().as_str().to_owned()),
        namespace: Some(shelf.namespace.to_owned()),
        date: shelf.date.map(|(date, _)| date),
        session: session_of(path).filter(|_| is_session).map(str::to_owned),
    }
}

/// Yields the records of a file. Only titles without content are in no record.
pub(super) fn records<E>(
    file: &EntryFile<'_>,
    shared: &ReadingContext<'_>,
    take: &mut dyn FnMut(Record) -> Result<(), E>,
) -> Result<(), E> {
    let mut reader = EntryReader { file, shared, shelf: Shelf::of(file.path), take };
    let cut = bullets::cut(file.text);
    let before = &file.text[..cut.as_ref().map_or(file.text.len(), |cut| cut.before)];
    let is_empty = match cut {
        Some(_) => bullets::is_title(before),
        None => bullets::is_own_title(before),
    };
    if !is_empty {
        reader.sections(before)?;
    }
    cut.map_or(Ok(()), |cut| reader.entries(&cut.entries))
}

/// Makes records from a file.
struct EntryReader<'a, 'f, E> {
    file: &'a EntryFile<'f>,
    shared: &'a ReadingContext<'a>,
    shelf: Shelf,
    take: &'a mut dyn FnMut(Record) -> Result<(), E>,
}

impl<E> EntryReader<'_, '_, E> {
    /// Takes entries that the runtime wrote.
    fn entries(&mut self, entries: &[bullets::BulletEntry<'_>]) -> Result<(), E> {
        let mut seen: HashMap<Cow<'_, str>, u64> = HashMap::new();
        for entry in entries {
            let name = name_of(entry);
            let count = seen.entry(name.clone()).or_default();
            let occurrence = *count;
            *count += 1;
            // A record must have a content; the key says more than nothing.
            let key = entry.key.filter(|_| entry.content.is_empty());
            let empty = key.is_some();
            let content = key.unwrap_or(&entry.content);
            let pieces = pieces(content);
            let is_cut = pieces.len() > 1;
            for (part, text) in pieces.into_iter().enumerate() {
                let place = RawEntry {
                    key: entry.key,
                    occurrence,
                    line_start: entry.line_start,
                    line_end: entry.line_end,
                    part: is_cut.then_some(part),
                    content: empty.then_some(""),
                    ..RawEntry::default()
                };
                // The position in the file is not part of the id, so a new entry does not change
                // other ids.
                let index: Cow<'_, str> = match part {
                    0 => format!("{name}:{occurrence}").into(),
                    _ => format!("{name}:{occurrence}#{part}").into(),
                };
                self.take(&index, text, &place)?;
            }
        }
        Ok(())
    }

    /// Takes text that ZeroClaw did not write, section by section.
    fn sections(&mut self, text: &str) -> Result<(), E> {
        let page = Page::parse(text);
        let mut index = 0_u64;
        for section in page.sections() {
            let pieces = pieces(section.text);
            let is_cut = pieces.len() > 1;
            for (part, text) in pieces.into_iter().enumerate() {
                let place = RawEntry {
                    line_start: section.line_start,
                    line_end: section.line_end,
                    heading: section.heading.as_deref(),
                    part: is_cut.then_some(part),
                    ..RawEntry::default()
                };
                self.take(&index.to_string(), text, &place)?;
                index += 1;
            }
        }
        Ok(())
    }

    fn take(&mut self, index: &str, content: &str, place: &RawEntry<'_>) -> Result<(), E> {
        let Self { file, shared, shelf, .. } = self;
        let id = NAMESPACES.record(file.path, index);
        let created_at = shelf.created_at(place.heading).unwrap_or_else(|| file.mtime.clone());
        let mut record = Record::new(id, shared.agent_id, RUNTIME, created_at.clone(), content);
        record.memory_type = shelf.memory_type();
        let writer = Writer::of(place.key.unwrap_or_default(), Some(shelf.namespace), None);
        record.source = Source {
            origin: Some("workspace".to_owned()),
            origin_file: Some(file.path.to_owned()),
            extraction_method: Some(writer.method()),
            identity_version: shared.identity_version,
            ..Source::new(RUNTIME)
        };
        if shelf.namespace == "session" {
            record.source.session_id = session_of(file.path).map(str::to_owned);
        }
        record.temporal = Temporal {
            updated_at: Some(file.mtime.clone()),
            observed_at: shelf.date.and_then(|(date, _)| times::midnight(date)),
            ..Temporal::new(created_at)
        };
        if shelf.archived {
            record.status = Status::Archived;
        }
        record.namespace = shelf.namespace.to_owned();
        record.category = Some(shelf.namespace.to_owned());
        record.tags = vec![shelf.namespace.to_owned(), RUNTIME.to_owned()];
        if writer == Writer::AutoSave {
            record.tags.push(AUTO_SAVE.to_owned());
        }
        record.raw_source_format = Some(Opaque::new(place).expect("a struct is a JSON object"));
        note_stamps(&mut record, &self.shared.stamps);
        (self.take)(record)
    }
}

/// Returns what tells an entry from others, wherever it is in the file: its key, or else the id of
/// its stamp, or else what it says. The line break before it is in no key.
fn name_of<'a>(entry: &'a bullets::BulletEntry<'_>) -> Cow<'a, str> {
    match (entry.key, ProvenanceStamp::at_end_of(&entry.content)) {
        (Some(key), _) => key.into(),
        (None, Some((_, stamp))) => format!("\n{}", stamp.id).into(),
        (None, None) => format!("\n{}", entry.content).into(),
    }
}

/// Reads the id in `session_<id>.md`.
fn session_of(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?.strip_prefix("session_")?;
    name.strip_suffix(".md").filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use anemone_format::ExtractionMethod;

    use super::*;

    const MTIME: &str = "2026-03-20T18:00:00Z";

    /// Reads a file.
    pub(super) fn read(path: &str, text: &str) -> Vec<Record> {
        let mtime: Moment = MTIME.parse().unwrap();
        let shared = ReadingContext {
            agent_id: "9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap(),
            alias: "default",
            identity_version: Some(1),
            embedding: None,
            fallback: mtime.clone(),
            embeddings: false,
            stamps: anemone_format::StampTable::default(),
        };
        let file = EntryFile { path, text, mtime: &mtime };
        let mut found = Vec::new();
        let Ok(()) = records::<Infallible>(&file, &shared, &mut |record| {
            found.push(record);
            Ok(())
        });
        found
    }

    fn raw(record: &Record) -> &str {
        record.raw_source_format.as_ref().unwrap().as_str()
    }

    // The id was computed by the existing tool.
    #[test]
    fn a_section_has_the_id_that_the_existing_tool_gives_it() {
        let found = read("memory/2026-01-15.md", "## Morning — 9:30\nx\n\n## Evening\ny\n");
        assert_eq!(found[0].id.to_string(), "f656f58e-d7ee-5aff-a981-994b5c3cfd25");
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].temporal.created_at.as_str(), "2026-01-15T09:30:00Z");
        assert_eq!(found[1].temporal.created_at.as_str(), "2026-01-15T00:00:00Z");
        assert_eq!(found[1].content, "\n## Evening\ny\n");
        assert_eq!(raw(&found[1]), r#"{"line_start":3,"line_end":5,"heading":"Evening"}"#);
    }

    #[test]
    fn an_entry_has_the_fields_of_the_first_documents() {
        let found =
            read("memory/2026-01-15.md", "# Daily Log — 2026-01-15\n\n- **note**: Tests pass\n");
        assert_eq!(found.len(), 1, "the title is in no record");
        let record = &found[0];
        assert_eq!(record.content, "Tests pass");
        assert_eq!(record.memory_type, MemoryType::Episodic);
        assert_eq!(record.source.runtime, "zeroclaw");
        assert_eq!(record.source.origin.as_deref(), Some("workspace"));
        assert_eq!(record.source.origin_file.as_deref(), Some("memory/2026-01-15.md"));
        assert_eq!(record.temporal.created_at.as_str(), "2026-01-15T00:00:00Z");
        assert_eq!(record.temporal.observed_at.as_ref().unwrap().as_str(), "2026-01-15T00:00:00Z");
        assert_eq!(record.temporal.updated_at.as_ref().unwrap().as_str(), MTIME);
        assert_eq!((&*record.namespace, record.category.as_deref()), ("daily", Some("daily")));
        assert_eq!(record.tags, ["daily", "zeroclaw"]);
        assert_eq!(raw(record), r#"{"key":"note","line_start":3,"line_end":3}"#);
    }

    #[test]
    fn a_file_tells_what_its_records_are() {
        for (path, namespace, archived, observed) in [
            ("MEMORY.md", "core", false, None),
            ("memory/2026-01-15.md", "daily", false, Some("2026-01-15T00:00:00Z")),
            ("memory/2026-01-15_2.md", "daily", false, Some("2026-01-15T00:00:00Z")),
            ("memory/2026-01-15-0930.md", "daily", false, Some("2026-01-15T00:00:00Z")),
            ("memory/notes.md", "daily", false, None),
            ("memory/session_a1b2.md", "session", false, None),
            ("memory/archive/session_old.md", "session", true, None),
            ("memory/archive/2026-01-08.md", "daily", true, Some("2026-01-08T00:00:00Z")),
        ] {
            let record = &read(path, "text\n")[0];
            assert_eq!(record.namespace, namespace, "{path}");
            assert_eq!(*record.status.effective() == Status::Archived, archived, "{path}");
            let found = record.temporal.observed_at.as_ref().map(Moment::as_str);
            assert_eq!(found, observed, "{path}");
        }
        let session = &read("memory/session_a1b2.md", "text\n")[0];
        assert_eq!(session.source.session_id.as_deref(), Some("a1b2"));
    }

    #[test]
    fn entries_without_a_key_are_records_of_their_own() {
        let text = "# Daily Log \u{2014} 2026-11-16\n\n\
            - The boat is red. <!-- anemone: k7f3xq2b -->\n\n\
            - **tea**: Lin drinks tea. <!-- anemone: k7f3xq2c -->\n\n\
            - The lamp\n  is lit.\n  <!-- anemone: k7f3xq2d -->\n\n\
            - by hand\n- **bread**: rye\n- part of the bread\n";
        let found = read("memory/2026-11-16.md", text);
        let contents: Vec<&str> = found.iter().map(|record| record.content.as_str()).collect();
        assert_eq!(
            contents,
            [
                "The boat is red. <!-- anemone: k7f3xq2b -->",
                "Lin drinks tea. <!-- anemone: k7f3xq2c -->",
                "The lamp\n  is lit.\n  <!-- anemone: k7f3xq2d -->",
                "by hand",
                "rye\n- part of the bread",
            ]
        );
        // The ids stay when an entry goes from the beginning.
        let rest = read("memory/2026-11-16.md", text.split_once(" -->\n\n").unwrap().1);
        let ids = |records: &[Record]| records.iter().map(|record| record.id).collect::<Vec<_>>();
        assert_eq!(ids(&rest), ids(&found)[1..]);
    }

    #[test]
    fn a_new_entry_changes_no_other_id() {
        let ids =
            |text: &str| -> Vec<_> { read("MEMORY.md", text).iter().map(|read| read.id).collect() };
        let before = ids("- **a**: 1\n\n- **b**: 2\n\n- **a**: 3\n");
        let after = ids("- **new**: 0\n\n- **a**: 1\n\n- **b**: 2\n\n- **a**: 3\n");
        assert_eq!(before, after[1..]);
        let mut all = after;
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn text_before_the_entries_is_a_record_unless_it_is_a_title() {
        let text = "# MEMORY.md\n\n## Facts\n\nAlex likes tea.\n\n- **tz**: UTC\n";
        let found = read("MEMORY.md", text);
        let contents: Vec<_> = found.iter().map(|found| found.content.as_str()).collect();
        assert_eq!(contents, ["# MEMORY.md\n", "\n## Facts\n\nAlex likes tea.\n\n", "UTC"]);
        for text in ["# Long-Term Memory\n\n", "", " \n"] {
            assert!(read("MEMORY.md", text).is_empty(), "{text:?}");
        }
        assert_eq!(read("MEMORY.md", "# Mine\n").len(), 1);
    }

    #[test]
    fn the_key_tells_who_wrote_an_entry() {
        let text = "- **user_msg_0b0e1f9e-1111-4222-8333-444444444444**: x\n\n- **tz**: UTC\n";
        let found = read("memory/2026-01-15.md", text);
        assert_eq!(found[0].tags, ["daily", "zeroclaw", AUTO_SAVE]);
        assert_eq!(found[1].tags, ["daily", "zeroclaw"]);
        assert_eq!(found[1].source.extraction_method, Some(ExtractionMethod::AgentWritten));
    }

    #[test]
    fn an_empty_entry_is_known_by_its_key() {
        let record = &read("MEMORY.md", "- **empty**: \n")[0];
        assert_eq!(record.content, "empty");
        assert_eq!(raw(record), r#"{"key":"empty","line_start":1,"line_end":1,"content":""}"#);
    }
}
