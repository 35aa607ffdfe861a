//! Files of entries generated from records, as the runtime writes them.
//!
//! Durable memories go into `MEMORY.md`, all others into the log of their day. Memories that no
//! longer hold go into the archive, which the runtime keeps and does not recall from. Contents are
//! unchanged, except for a backslash before a line that would start an entry or open a fence. Lines
//! that look like headings stay, though the runtime leaves them out when it lists entries.

use std::collections::{BTreeMap, BTreeSet};

use anemone_format::{MemoryType, Moment, Record, RecordId, SnapshotSource, Status};
use jiff::Timestamp;

use super::super::keys::{Keys, slug};
use super::super::{RUNTIME, layout::CURATED};
use super::bullets::{CORE_TITLE, DAILY_TITLE, escaped};
use crate::kit::{
    Link, LinkPart, Machine, Piece, PlanBuilder, PlanError, PlannedFile, RawPlace, Spooler,
    UnwrittenRecords, each_record,
};

/// A key is cut to this.
const MAX_KEY_CHARS: usize = 120;
/// A key that is made from a text is cut to this.
const MAX_TITLE_CHARS: usize = 48;

/// An entry on its way into a file; its content is in the spool.
struct PlannedEntry {
    created_at: Timestamp,
    /// Its row or its line.
    order: u64,
    id: RecordId,
    key: String,
    offset: u64,
    length: u64,
}

/// A file that is being assembled.
struct Sheet {
    parts: Vec<PlannedEntry>,
    changed_at: Moment,
}

/// Generates the files for the records of a snapshot, as the runtime writes them, and returns what
/// each record becomes.
///
/// Records that came from such a file need none when the draft has the file itself.
pub(in crate::zeroclaw) fn write(
    machine: &Machine,
    source: &dyn SnapshotSource,
    draft: &mut PlanBuilder,
) -> Result<Vec<Link>, PlanError> {
    let mut out = Spooler::of(machine, draft)?;
    // Files of the snapshot that the plan does not use are kept aside, where no runtime reads them.
    let taken: BTreeSet<&[u8]> = draft.wanted.iter().map(|file| file.path.as_slice()).collect();
    let mut sheets: BTreeMap<String, Sheet> = BTreeMap::new();
    let (mut keys, mut links) = (Keys::default(), Vec::new());
    let (mut lost, mut records) = (UnwrittenRecords::default(), 0);
    each_record(source, &mut |record| {
        if *record.status.effective() == Status::Deleted {
            lost.deleted += 1;
            links.push(Link::new(record.id, Vec::new()));
            return Ok(());
        }
        if is_transcript(record) {
            lost.session += 1;
            links.push(Link::new(record.id, Vec::new()));
            return Ok(());
        }
        let place = RawPlace::of(record);
        records += 1;
        if let Some(file) = own_file(record).filter(|file| taken.contains(file.as_bytes())) {
            links.push(link(record, file, place.key.as_str()));
            return Ok(());
        }
        let path = free_path(file_of(record), &taken);
        let key = keys.take_like(&key_of(record, &place));
        links.push(link(record, &path, Some(&key)));
        let content = escaped(&record.content);
        let offset = out.write(content.as_bytes())?;
        let part = PlannedEntry {
            created_at: record.temporal.created_at.instant(),
            order: place.rowid.as_u64().or(place.line_start.as_u64()).unwrap_or(0),
            id: record.id,
            key,
            offset,
            length: content.len() as u64,
        };
        let temporal = &record.temporal;
        let changed_at = temporal.updated_at.as_ref().unwrap_or(&temporal.created_at);
        let sheet = sheets
            .entry(path)
            .or_insert_with(|| Sheet { parts: Vec::new(), changed_at: changed_at.clone() });
        if changed_at.instant() > sheet.changed_at.instant() {
            sheet.changed_at = changed_at.clone();
        }
        sheet.parts.push(part);
        Ok(())
    })?;
    drop(taken);
    draft.records += records;
    for (path, sheet) in sheets {
        let changed_at = sheet.changed_at.clone();
        let pieces = sheet.into_pieces(&path);
        draft.wanted.push(PlannedFile::pieces(path.into_bytes(), pieces, changed_at));
    }
    draft.not_restored.extend(lost.notes());
    out.finish(draft)?;
    Ok(links)
}

impl Sheet {
    fn into_pieces(mut self, path: &str) -> Vec<Piece> {
        self.parts.sort_unstable_by_key(|part| (part.created_at, part.order, part.id));
        let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md");
        let is_log = path.starts_with("memory/") && stem.starts_with(|c: char| c.is_ascii_digit());
        let mut text = if is_log {
            format!("{DAILY_TITLE}{}\n", stem.get(..10).unwrap_or(stem))
        } else {
            format!("{CORE_TITLE}\n")
        };
        let mut pieces = Vec::with_capacity(2 * self.parts.len() + 1);
        for part in self.parts {
            text.push_str(&format!("\n- **{}**: ", part.key));
            pieces.push(Piece::Text(std::mem::take(&mut text).into()));
            pieces.push(Piece::Spool { offset: part.offset, length: part.length });
            text.push('\n');
        }
        pieces.push(Piece::Text(text.into()));
        pieces
    }
}

/// Returns the file of entries that a record came from.
fn own_file(record: &Record) -> Option<&str> {
    let source = &record.source;
    let own = source.runtime == RUNTIME && source.origin.as_deref() == Some("workspace");
    source.origin_file.as_deref().filter(|_| own)
}

/// Returns whether a record is a piece of a conversation rather than an entry.
fn is_transcript(record: &Record) -> bool {
    let file = record.source.origin_file.as_deref().unwrap_or_default();
    record.namespace == "session" && !file.ends_with(".md")
}

fn link(record: &Record, file: &str, key: Option<&str>) -> Link {
    Link::new(record.id, vec![LinkPart::new(Some(file), key, &record.content)])
}

/// Returns the file that a record goes into.
pub(in crate::zeroclaw) fn file_of(record: &Record) -> String {
    let temporal = &record.temporal;
    let date = temporal.observed_at.as_ref().unwrap_or(&temporal.created_at).utc_date();
    match record.status.effective() {
        Status::Archived | Status::Superseded => return format!("memory/archive/{date}.md"),
        _ => {}
    }
    let durable = match record.namespace.as_str() {
        "core" | "curated" => true,
        "daily" | "conversation" | "session" => false,
        // The runtime itself only separates one category.
        _ if record.source.runtime == RUNTIME => false,
        _ => matches!(
            record.memory_type.effective(),
            MemoryType::Semantic | MemoryType::Procedural | MemoryType::Preference
        ),
    };
    if durable { CURATED.to_owned() } else { format!("memory/{date}.md") }
}

/// Where the snapshot already has a file, other records for that path get a file beside it.
fn free_path(path: String, taken: &BTreeSet<&[u8]>) -> String {
    if !taken.contains(path.as_bytes()) {
        return path;
    }
    let stem = match path.strip_suffix(".md") {
        Some("MEMORY") | None => "memory/imported",
        Some(stem) => stem,
    };
    let names = (1_u64..).map(|number| format!("{stem}_{number}.md"));
    let mut free = names.filter(|name| !taken.contains(name.as_bytes()));
    free.next().expect("some number is free")
}

/// Returns a readable key: the original one, or else the heading, or else the first words.
fn key_of(record: &Record, place: &RawPlace) -> String {
    let slug =
        |text: &str| slug(text.to_lowercase().chars().take(4 * MAX_TITLE_CHARS), MAX_TITLE_CHARS);
    let had = place.key.as_str().map(readable).filter(|key| !key.is_empty());
    let heading = || place.heading.as_str().map(slug).filter(|key| !key.is_empty());
    let words = || {
        let mut lines = record.content.lines().map(slug);
        lines.find(|key| !key.is_empty())
    };
    had.or_else(heading).or_else(words).unwrap_or_else(|| "entry".to_owned())
}

/// Removes characters from a key that would end it.
fn readable(key: &str) -> String {
    let plain = key.replace(char::is_control, " ");
    let mut key = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    while let Some(at) = key.find("**: ") {
        key.replace_range(at..at + 2, "");
    }
    let end = key.char_indices().nth(MAX_KEY_CHARS).map_or(key.len(), |(at, _)| at);
    key[..end].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _, SeekFrom};

    use anemone_format::{AgentInfo, File, FileRoot, LoadedSnapshot, Manifest, Opaque, Snapshot};
    use serde_json::json;
    use tempfile::TempDir;

    use super::super::tests::read;
    use super::*;
    use crate::kit::database::tests::machine;
    use crate::kit::plan::{Content, PlannedNode};

    const AGENT: &str = "9e373c1e-cab7-5eea-90c3-8f3d09ac5755";

    fn record(id: u128, runtime: &str, namespace: &str, content: &str) -> Record {
        let id = RecordId::new(uuid::Uuid::from_u128(id));
        let at = "2026-01-02T03:04:05Z".parse().unwrap();
        let mut record = Record::new(id, AGENT.parse().unwrap(), runtime, at, content);
        record.namespace = namespace.to_owned();
        record
    }

    fn snapshot(records: Vec<Record>) -> Snapshot {
        let info = AgentInfo::new(AGENT.parse().unwrap(), "a", "openclaw");
        let mut snapshot =
            Snapshot::new(Manifest::new(info, "2026-03-01T00:00:00Z".parse().unwrap()));
        snapshot.records = records;
        snapshot
    }

    fn written(snapshot: &Snapshot) -> (BTreeMap<String, String>, Vec<Link>, PlanBuilder) {
        written_into(snapshot, PlanBuilder::default())
    }

    fn written_into(
        snapshot: &Snapshot,
        mut draft: PlanBuilder,
    ) -> (BTreeMap<String, String>, Vec<Link>, PlanBuilder) {
        let scratch = TempDir::new().unwrap();
        let links =
            write(&machine(scratch.path()), &LoadedSnapshot::new(snapshot), &mut draft).unwrap();
        let mut spool = Vec::new();
        let file = draft.spool.as_mut().unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.read_to_end(&mut spool).unwrap();
        let files = draft
            .wanted
            .iter()
            .filter_map(|wanted| {
                let PlannedNode::File { content: Content::Pieces(pieces), .. } = &wanted.node
                else {
                    return None;
                };
                let mut bytes = Vec::new();
                for piece in pieces {
                    match piece {
                        Piece::Text(text) => bytes.extend_from_slice(text.as_bytes()),
                        Piece::Spool { offset, length } => {
                            let (from, length) = (*offset as usize, *length as usize);
                            bytes.extend_from_slice(&spool[from..from + length]);
                        }
                    }
                }
                let path = String::from_utf8(wanted.path.clone()).unwrap();
                Some((path, String::from_utf8(bytes).unwrap()))
            })
            .collect();
        (files, links, draft)
    }

    // The format is that of files which the real program wrote, 0.8.7.
    #[test]
    fn files_are_those_that_the_runtime_writes() {
        let mut tz = record(2, RUNTIME, "core", "Pacific Time");
        tz.raw_source_format = Some(Opaque::new(&json!({ "key": "tz", "rowid": 2 })).unwrap());
        let mut lang = record(3, RUNTIME, "core", "Prefers Rust\n# looks like heading");
        lang.raw_source_format = Some(Opaque::new(&json!({ "key": "lang", "rowid": 1 })).unwrap());
        let daily = record(4, "openclaw", "daily", "## Morning\n\nTea.\n");
        let (files, links, draft) = written(&snapshot(vec![tz, lang, daily]));
        assert_eq!(
            files["MEMORY.md"],
            "# Long-Term Memory\n\n- **lang**: Prefers Rust\n# looks like heading\n\n- **tz**: Pacific Time\n"
        );
        assert_eq!(
            files["memory/2026-01-02.md"],
            "# Daily Log — 2026-01-02\n\n- **morning**: ## Morning\n\nTea.\n\n"
        );
        assert_eq!((files.len(), draft.records), (2, 3));
        let part = &links[2].places.parts[0];
        assert_eq!(part.file.as_deref(), Some("memory/2026-01-02.md"));
        assert_eq!(part.name.as_deref(), Some("morning"));
        assert_eq!(part.sha256, anemone_format::sha256_hex(b"## Morning\n\nTea."));
    }

    #[test]
    fn every_record_is_read_back_with_its_content_and_key() {
        let contents = [
            "one",
            "two\n\n- **x**: not an entry\n```\nopen",
            "```\n- **y**: code\n```\n",
            "\n\n",
            "a\r",
            "## Heading\n\ntext",
        ];
        let records = contents
            .iter()
            .enumerate()
            .map(|(index, content)| record(index as u128, "openclaw", "curated", content))
            .collect();
        let (files, links, _) = written(&snapshot(records));
        let back = read("MEMORY.md", &files["MEMORY.md"]);
        let found: Vec<&str> = back.iter().map(|back| back.content.as_str()).collect();
        assert_eq!(found, contents);
        for (record, link) in back.iter().zip(&links) {
            let raw: serde_json::Value =
                record.raw_source_format.as_ref().unwrap().parse().unwrap();
            assert_eq!(raw["key"].as_str(), link.places.parts[0].name.as_deref());
        }
    }

    #[test]
    fn keys_are_readable_and_each_is_there_once() {
        let mut records: Vec<Record> = ["Likes tea", "likes tea!", "…", "…", "海 の 話"]
            .iter()
            .enumerate()
            .map(|(index, content)| record(index as u128, "openclaw", "curated", content))
            .collect();
        let odd = json!({ "key": "a**: **: b\nc" });
        records[4].raw_source_format =
            Some(Opaque::new(&json!({ "heading": "海 の 話" })).unwrap());
        records.push(record(9, RUNTIME, "core", "x"));
        records[5].raw_source_format = Some(Opaque::new(&odd).unwrap());
        let (files, links, _) = written(&snapshot(records));
        let keys: Vec<_> =
            links.iter().map(|link| link.places.parts[0].name.as_deref().unwrap()).collect();
        assert_eq!(keys, ["likes_tea", "likes_tea_2", "entry", "entry_2", "海_の_話", "a: : b c"]);
        assert_eq!(read("MEMORY.md", &files["MEMORY.md"]).len(), 6);
    }

    #[test]
    fn what_no_longer_holds_is_archived_and_what_is_gone_is_counted() {
        let mut old = record(1, "openclaw", "curated", "old");
        old.status = Status::Superseded;
        let mut gone = record(2, "openclaw", "curated", "gone");
        gone.status = Status::Deleted;
        let said = record(3, "openclaw", "session", "user: hello");
        let (files, links, draft) = written(&snapshot(vec![old, gone, said]));
        assert_eq!(files.keys().collect::<Vec<_>>(), ["memory/archive/2026-01-02.md"]);
        assert_eq!(
            *read("memory/archive/2026-01-02.md", &files["memory/archive/2026-01-02.md"])[0]
                .status
                .effective(),
            Status::Archived
        );
        assert_eq!(links.iter().map(|link| link.places.parts.len()).collect::<Vec<_>>(), [1, 0, 0]);
        assert_eq!((draft.records, draft.not_restored.len()), (1, 2));
    }

    /// A snapshot with a record of a file, one of a row, and the file.
    fn with_a_file() -> Snapshot {
        let mut own = record(1, RUNTIME, "daily", "x");
        own.source.origin = Some("workspace".to_owned());
        own.source.origin_file = Some("memory/2026-01-02.md".to_owned());
        let row = record(2, RUNTIME, "daily", "y");
        let mut snapshot = snapshot(vec![own, row]);
        let root = FileRoot::Raw(RUNTIME.to_owned());
        snapshot.files.push(File::new(root, "memory/2026-01-02.md", "- **k**: x\n"));
        snapshot
    }

    #[test]
    fn a_record_whose_file_travels_is_not_written_again() {
        let snapshot = with_a_file();
        let source = LoadedSnapshot::new(&snapshot);
        let mut draft = PlanBuilder::default();
        draft.wanted.push(PlannedFile::carried(0, &source.files()[0]));
        let (files, links, draft) = written_into(&snapshot, draft);
        assert_eq!(files.keys().collect::<Vec<_>>(), ["memory/2026-01-02_1.md"]);
        assert_eq!(files["memory/2026-01-02_1.md"], "# Daily Log — 2026-01-02\n\n- **y**: y\n");
        assert_eq!(links[0].places.parts[0].file.as_deref(), Some("memory/2026-01-02.md"));
        assert_eq!(draft.records, 2);
    }

    #[test]
    fn a_record_whose_file_is_put_aside_is_written() {
        let (files, links, draft) = written(&with_a_file());
        assert_eq!(
            files["memory/2026-01-02.md"],
            "# Daily Log — 2026-01-02\n\n- **x**: x\n\n- **y**: y\n"
        );
        assert_eq!(links[0].places.parts[0].name.as_deref(), Some("x"));
        assert_eq!((files.len(), draft.records), (1, 2));
    }
}
