//! Writes archives from readable pieces: the agent, its manifest, its records.
//!
//! JSON is written as text, because what matters here is often how it is spelled.

use anemone_format::{Entry, Manifest};

use super::zip::{Item, Zip, sha256};

pub(crate) const AGENT: &str = "0192e4a0-1111-7abc-8def-00000000a9e7";
pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const INDEX: &str = "memory/index.json";
pub(crate) const PARTITION: &str = "memory/partitions/2026-Q1.jsonl";
pub(crate) const SOUL: &str = "raw/openclaw/SOUL.md";

/// An id of version 7, by a small number.
pub(crate) fn id(n: u32) -> String {
    format!("0194a000-0000-7000-8000-{n:012}")
}

/// A record with nothing but what every record must have, from the first quarter of 2026.
pub(crate) fn record(n: u32) -> String {
    format!(
        concat!(
            r#"{{"id":"{}","agent_id":"{}","content":"Note {}.","memory_type":"semantic","#,
            r#""source":{{"runtime":"openclaw"}},"#,
            r#""temporal":{{"created_at":"2026-01-15T10:00:00Z"}},"#,
            r#""status":"active","namespace":"default"}}"#
        ),
        id(n),
        AGENT,
        n
    )
}

/// The first record with more fields at its end.
pub(crate) fn record_with(fields: &str) -> String {
    let record = record(1);
    format!("{},{fields}}}", record.strip_suffix('}').expect("a record is an object"))
}

/// Replaces the only occurrence of a text.
pub(crate) fn edit(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from} in {text}");
    text.replace(from, to)
}

/// An archive in pieces.
#[derive(Clone)]
pub(crate) struct Alf {
    fields: Vec<(String, String)>,
    layers: Vec<(String, String)>,
    memory: Option<Memory>,
    contents: Vec<(String, Vec<u8>)>,
    edits: Vec<(String, String)>,
}

/// The memory layer.
#[derive(Clone)]
struct Memory {
    partitions: Vec<Partition>,
    index: Index,
}

#[derive(Clone)]
pub(crate) struct Partition {
    pub(crate) file: String,
    pub(crate) from: &'static str,
    /// The last day as JSON; the key is left out when this is empty.
    pub(crate) to: &'static str,
    pub(crate) sealed: bool,
    pub(crate) lines: Vec<u8>,
}

/// What becomes of `memory/index.json`.
#[derive(Clone)]
enum Index {
    Written,
    Absent,
    Edited(String, String),
}

impl Partition {
    pub(crate) fn first_quarter(lines: impl Into<Vec<u8>>) -> Self {
        Self {
            file: PARTITION.to_owned(),
            from: "2026-01-01",
            to: r#""2026-03-31""#,
            sealed: true,
            lines: lines.into(),
        }
    }

    fn period(&self) -> &str {
        let name = self.file.rsplit('/').next().unwrap_or(&self.file);
        name.trim_end_matches(".jsonl")
    }

    fn count(&self) -> usize {
        self.lines.split(|byte| *byte == b'\n').filter(|part| !part.trim_ascii().is_empty()).count()
    }
}

impl Alf {
    /// An archive with no layers.
    pub(crate) fn new() -> Self {
        let agent = format!(r#"{{"id":"{AGENT}","name":"Clawdia","source_runtime":"openclaw"}}"#);
        Self {
            fields: vec![
                ("alf_version".to_owned(), r#""1.0.0""#.to_owned()),
                ("created_at".to_owned(), r#""2026-05-01T00:00:00Z""#.to_owned()),
                ("agent".to_owned(), agent),
            ],
            layers: Vec::new(),
            memory: None,
            contents: Vec::new(),
            edits: Vec::new(),
        }
    }

    /// An archive with one record a line in one partition.
    pub(crate) fn of(lines: &[String]) -> Self {
        Self::of_bytes(lines.iter().map(|line| format!("{line}\n")).collect::<String>())
    }

    /// An archive whose partition has these bytes.
    pub(crate) fn of_bytes(lines: impl Into<Vec<u8>>) -> Self {
        Self::new().partition(Partition::first_quarter(lines))
    }

    /// An archive with the first record and one carried file.
    pub(crate) fn with_soul() -> Self {
        Self::of(&[record(1)]).file(SOUL, "Be kind.\n").field("raw_sources", r#"["openclaw"]"#)
    }

    /// Adds a field to the manifest, or replaces it.
    pub(crate) fn field(mut self, key: &str, json: &str) -> Self {
        self.fields.retain(|(name, _)| name != key);
        self.fields.push((key.to_owned(), json.to_owned()));
        self
    }

    /// Adds a layer of the manifest, and the document that is in it.
    pub(crate) fn layer(mut self, key: &str, json: &str, document: &str) -> Self {
        self.layers.push((key.to_owned(), json.to_owned()));
        self.file(&format!("{key}.json"), document)
    }

    /// Adds a memory layer, unless there is one.
    pub(crate) fn memory(mut self) -> Self {
        self.memory.get_or_insert(Memory { partitions: Vec::new(), index: Index::Written });
        self
    }

    pub(crate) fn partition(mut self, partition: Partition) -> Self {
        self = self.memory();
        if let Some(memory) = &mut self.memory {
            memory.partitions.push(partition);
        }
        self
    }

    /// Names an index in the manifest, but does not write it.
    pub(crate) fn without_index(self) -> Self {
        self.index(Index::Absent)
    }

    pub(crate) fn edit_index(self, from: &str, to: &str) -> Self {
        self.index(Index::Edited(from.to_owned(), to.to_owned()))
    }

    fn index(mut self, index: Index) -> Self {
        if let Some(memory) = &mut self.memory {
            memory.index = index;
        }
        self
    }

    /// Adds an entry.
    pub(crate) fn file(mut self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.contents.push((path.to_owned(), content.into()));
        self
    }

    /// Replaces the only occurrence of a text in the manifest.
    pub(crate) fn edit(mut self, from: &str, to: &str) -> Self {
        self.edits.push((from.to_owned(), to.to_owned()));
        self
    }

    /// The manifest: a field a line.
    fn manifest(&self) -> String {
        let mut layers = self.layers.clone();
        layers.extend(self.memory.as_ref().map(|memory| ("memory".to_owned(), memory.to_json())));
        let mut fields = self.fields.clone();
        fields.insert(3, ("layers".to_owned(), object(&layers)));
        let text = object(&fields) + "\n";
        self.edits.iter().fold(text, |text, (from, to)| edit(&text, from, to))
    }

    /// Every entry but the manifest.
    fn contents(&self) -> Vec<(String, Vec<u8>)> {
        let mut contents = self.contents.clone();
        if let Some(memory) = &self.memory {
            let partitions = memory.partitions.iter();
            contents.extend(
                partitions.map(|partition| (partition.file.clone(), partition.lines.clone())),
            );
            let index = memory.index_json();
            match &memory.index {
                Index::Written => contents.push((INDEX.to_owned(), index.into())),
                Index::Absent => {}
                Index::Edited(from, to) => {
                    contents.push((INDEX.to_owned(), edit(&index, from, to).into()));
                }
            }
        }
        contents
    }

    /// Every entry, stored; the manifest is the last.
    pub(crate) fn items(&self) -> Vec<Item> {
        let contents =
            self.contents().into_iter().chain([(MANIFEST.to_owned(), self.manifest().into())]);
        contents.map(|(path, content)| Item::stored(path, content)).collect()
    }

    pub(crate) fn zip(&self) -> Zip {
        Zip::new(self.items())
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.zip().bytes()
    }

    /// The archive with one entry changed, at any position.
    pub(crate) fn with_item(&self, path: &str, change: impl FnOnce(Item) -> Item) -> Zip {
        let mut items = self.items();
        let at = items.iter().position(|item| {
            item.central.as_ref().is_some_and(|header| header.name == path.as_bytes())
        });
        let at = at.expect("the entry is there");
        let item = items.remove(at);
        items.insert(at, change(item));
        Zip::new(items)
    }

    /// The archive with one more entry, before the manifest.
    pub(crate) fn and_item(&self, item: Item) -> Zip {
        let mut items = self.items();
        items.insert(items.len() - 1, item);
        Zip::new(items)
    }

    /// Lists all entries in the manifest, with digests, and a checksum over the list.
    pub(crate) fn listed(self) -> Self {
        self.listed_after(|_| {})
    }

    /// The same, with the list changed before the checksum is taken.
    pub(crate) fn listed_after(self, change: impl FnOnce(&mut Vec<Entry>)) -> Self {
        let mut entries: Vec<Entry> = self
            .contents()
            .iter()
            .map(|(path, content)| {
                let mut entry = Entry::new(path);
                entry.size = Some(content.len() as u64);
                entry.sha256 = Some(sha256(content));
                entry
            })
            .collect();
        change(&mut entries);
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        let checksum = Manifest::checksum_of(&entries);
        let list: Vec<String> = entries
            .iter()
            .map(|entry| serde_json::to_string(entry).expect("an entry has only text keys"))
            .collect();
        self.field("checksum", &format!(r#""{checksum}""#))
            .field("entries", &format!("[\n    {}\n  ]", list.join(",\n    ")))
    }

    /// The file with a seal.
    pub(crate) fn sealed(&self) -> Vec<u8> {
        self.zip().sealed()
    }
}

impl Memory {
    fn to_json(&self) -> String {
        let partitions: Vec<String> = self
            .partitions
            .iter()
            .map(|partition| {
                let to = if partition.to.is_empty() {
                    String::new()
                } else {
                    format!(r#""to":{},"#, partition.to)
                };
                format!(
                    r#"{{"file":"{}","from":"{}",{to}"record_count":{},"sealed":{}}}"#,
                    partition.file,
                    partition.from,
                    partition.count(),
                    partition.sealed
                )
            })
            .collect();
        let count: usize = self.partitions.iter().map(Partition::count).sum();
        let partitions = partitions.join(",");
        format!(r#"{{"record_count":{count},"index_file":"{INDEX}","partitions":[{partitions}]}}"#)
    }

    fn index_json(&self) -> String {
        let months = self.partitions.iter().any(|partition| !partition.period().contains('Q'));
        let granularity = if months { "month" } else { "quarter" };
        let partitions: Vec<String> = self
            .partitions
            .iter()
            .map(|partition| {
                format!(
                    r#"{{"period":"{}","file":"{}","record_count":{},"size":{},"sha256":"{}"}}"#,
                    partition.period(),
                    partition.file,
                    partition.count(),
                    partition.lines.len(),
                    sha256(&partition.lines)
                )
            })
            .collect();
        let partitions = partitions.join(",");
        format!(r#"{{"version":1,"granularity":"{granularity}","partitions":[{partitions}]}}"#)
            + "\n"
    }
}

/// A JSON object with a field a line.
fn object(fields: &[(String, String)]) -> String {
    if fields.is_empty() {
        return "{}".to_owned();
    }
    let fields: Vec<String> =
        fields.iter().map(|(key, json)| format!(r#"  "{key}": {json}"#)).collect();
    format!("{{\n{}\n}}", fields.join(",\n"))
}

/// A delta in the official layout.
pub(crate) fn delta(lines: &str) -> Vec<Item> {
    delta_with(lines, delta_manifest(lines))
}

/// A delta with a manifest of one's own.
pub(crate) fn delta_with(lines: &str, manifest: impl AsRef<[u8]>) -> Vec<Item> {
    vec![Item::stored("memory/delta.jsonl", lines), Item::stored(MANIFEST, manifest)]
}

/// The manifest of a delta that changes these records.
pub(crate) fn delta_manifest(lines: &str) -> String {
    format!(
        concat!(
            r#"{{"alf_version":"1.0.0","created_at":"2026-05-02T00:00:00Z","#,
            r#""agent":{{"id":"{}","source_runtime":"openclaw"}},"#,
            r#""sync":{{"base_sequence":3,"new_sequence":4}},"#,
            r#""changes":{{"memory":{{"file":"memory/delta.jsonl","record_count":{}}}}}}}"#,
            "\n"
        ),
        AGENT,
        lines.lines().count()
    )
}

/// A line of a delta: a record with the operation in front.
pub(crate) fn operation(word: &str, record: &str) -> String {
    let fields = record.strip_prefix('{').expect("a record is an object");
    format!("{{\"operation\":\"{word}\",{fields}\n")
}
