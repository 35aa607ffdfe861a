//! Finds what must be removed.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::probe::{ErasureProbe, Trace, search_entry, search_text};
use crate::archive::read::{
    Archive, ArchiveKind, CarriedFile, Edits, Entries, OpenContainer, OpenError, ReadEntryError,
    structural_entries,
};
use crate::archive::record_line::RecordHead;
use crate::archive::{DELTA_MANIFEST_DIALECT, Layer, MANIFEST, RAW};
use crate::container::read::Bytes;
use crate::delta::SPLICE;
use crate::delta::operation::{self, Operation, OperationLine, TOMBSTONE_CONTENT};
use crate::delta::read::Delta;
use crate::id::{AgentId, RecordId};
use crate::json::{self, ReadJsonError};
use crate::limits::Limits;
use crate::record::Record;

/// Files up to this size can be cut; larger ones are not text.
const MAX_CUT_BYTES: u64 = 256 << 20;

/// An archive or a delta, open.
pub enum ArchiveOrDelta {
    /// A snapshot.
    Archive(Box<Archive>),
    /// A change between two snapshots.
    Delta(Box<Delta>),
}

impl ArchiveOrDelta {
    /// Opens a file of either kind.
    pub fn open(source: Bytes, length: u64, limits: &Limits) -> Result<Self, OpenError> {
        Self::open_with(source, length, limits, Edits::Refuse)
    }

    /// Opens a file of either kind; edits may be accepted.
    pub fn open_with(
        source: Bytes,
        length: u64,
        limits: &Limits,
        edits: Edits,
    ) -> Result<Self, OpenError> {
        Self::from_opened(OpenContainer::open(source, length, limits, edits)?)
    }

    pub(crate) fn from_opened(opened: OpenContainer) -> Result<Self, OpenError> {
        Ok(match opened.kind {
            ArchiveKind::Archive => Self::Archive(Box::new(Archive::from_opened(opened)?)),
            ArchiveKind::Delta => Self::Delta(Box::new(Delta::from_opened(opened)?)),
        })
    }

    /// Returns the archive; refuses a delta.
    pub fn into_archive(self) -> Result<Archive, OpenError> {
        match self {
            Self::Archive(archive) => Ok(*archive),
            Self::Delta(_) => {
                Err(OpenError::Kind { found: ArchiveKind::Delta, wanted: ArchiveKind::Archive })
            }
        }
    }

    /// Returns the delta; refuses an archive.
    pub fn into_delta(self) -> Result<Delta, OpenError> {
        match self {
            Self::Delta(delta) => Ok(*delta),
            Self::Archive(_) => {
                Err(OpenError::Kind { found: ArchiveKind::Archive, wanted: ArchiveKind::Delta })
            }
        }
    }

    /// Returns the agent.
    #[must_use]
    pub fn agent(&self) -> AgentId {
        match self {
            Self::Archive(archive) => archive.manifest().agent.id,
            Self::Delta(delta) => delta.manifest().agent.id,
        }
    }

    pub(crate) fn entries(&self) -> &Entries {
        match self {
            Self::Archive(archive) => archive.entries(),
            Self::Delta(delta) => delta.entries(),
        }
    }

    pub(crate) fn record_entries(&self) -> Vec<String> {
        match self {
            Self::Archive(archive) => archive.partitions().map(str::to_owned).collect(),
            Self::Delta(delta) => delta.records_entry().map(str::to_owned).into_iter().collect(),
        }
    }

    /// Returns true for an entry that is not a part of the format: a file that can be cut.
    pub(crate) fn is_carried(&self, path: &str) -> bool {
        !self.structural_entries().contains(path)
    }

    /// Returns the entries that are a part of the format.
    fn structural_entries(&self) -> HashSet<&str> {
        match self {
            Self::Archive(archive) => structural_entries(archive.manifest()),
            Self::Delta(delta) => {
                let changes = &delta.manifest().changes;
                let layers = Layer::ALL.into_iter().filter_map(|layer| changes.file_of(layer)?);
                let manifests = [MANIFEST, DELTA_MANIFEST_DIALECT];
                layers.chain(delta.records_entry()).chain(manifests).collect()
            }
        }
    }

    /// Visits the records of an entry: the number of the line, the record in it, and the line.
    pub(crate) fn each_record(
        &self,
        entry: &str,
        mut each: impl FnMut(u64, OperationLine, &[u8]) -> Result<(), ReadJsonError>,
    ) -> Result<(), ReadEntryError> {
        self.entries().each_line(entry, |number, line| {
            let read = match self {
                Self::Archive(_) => RecordHead::parse(line).map(|head| OperationLine {
                    operation: None,
                    head,
                    record: line.to_vec(),
                }),
                Self::Delta(_) => operation::decode(line),
            };
            read.and_then(|record| each(number, record, line))
                .map_err(|source| ReadEntryError::new(entry, Some(number), source))
        })
    }

    /// Returns the replacement for a purged line, if any.
    ///
    /// In a delta that changes or deletes the record, a tombstone replaces the line: without it the
    /// base's record would stay when the delta is applied.
    pub(crate) fn line_after_purge(
        &self,
        purged: &OperationLine,
    ) -> Result<Option<Vec<u8>>, ReadJsonError> {
        if !matches!(purged.operation, Some(Operation::Update | Operation::Delete)) {
            return Ok(None);
        }
        let head = &purged.head;
        let stone = operation::tombstone(head.id, self.agent(), head.created_at());
        let record = serde_json::to_vec(&stone).map_err(ReadJsonError::Json)?;
        let mut line = Vec::new();
        operation::encode(Operation::Delete, &record, &mut line);
        Ok(Some(line))
    }

    /// Returns the entry that lists the artifacts.
    pub(crate) fn attachments_entry(&self) -> Option<&str> {
        match self {
            Self::Archive(archive) => archive.layer_entry(Layer::Attachments),
            Self::Delta(delta) => delta.manifest().changes.file_of(Layer::Attachments)?,
        }
    }
}

/// Why a purge could not be planned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanPurgeError {
    /// Records that do not exist.
    #[error("there is no record with the id {}", list(.0))]
    NotThere(Vec<RecordId>),
    /// Files to leave out that do not exist.
    #[error("there is no file {0:?} to leave out")]
    NoSuchFile(String),
    /// Something could not be read.
    #[error(transparent)]
    Read(#[from] ReadEntryError),
}

fn list(ids: &[RecordId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// What a purge would do.
pub struct PurgePlan {
    /// The records, with the entry each is in.
    pub records: BTreeMap<RecordId, String>,
    /// Parts of carried files that hold their text.
    pub cuts: Vec<FileCut>,
    /// Carried files that are left out completely, at the caller's request.
    pub dropped_files: Vec<String>,
    /// Places that hold the text and cannot be cut; a plan with any cannot be applied.
    pub obstacles: Vec<Obstacle>,
    /// Records whose text is too short to be searched for.
    pub too_short: Vec<RecordId>,
    pub(crate) probes: Vec<ErasureProbe>,
}

/// What is cut from one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCut {
    /// The entry.
    pub entry: String,
    /// The parts, in bytes, in order, not overlapping.
    pub parts: Vec<Range<usize>>,
}

/// A place that holds the text of a record and cannot be cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The record whose text it is.
    pub id: RecordId,
    /// The entry, with the line if it has lines.
    pub path: String,
    /// The other record that holds the text, if it is one.
    pub held_by: Option<RecordId>,
    /// Whether it is a file that can be left out completely.
    pub droppable: bool,
}

impl FileCut {
    /// Returns the rest of a text.
    pub(crate) fn apply(&self, text: &str) -> Vec<u8> {
        let mut rest = Vec::with_capacity(text.len());
        let mut from = 0;
        for part in &self.parts {
            rest.extend_from_slice(&text.as_bytes()[from..part.start]);
            from = part.end;
        }
        rest.extend_from_slice(&text.as_bytes()[from..]);
        rest
    }
}

impl PurgePlan {
    /// Plans to purge records; `drop_files` are entries to leave out as a whole.
    pub fn new(
        file: &ArchiveOrDelta,
        ids: &[RecordId],
        drop_files: &[String],
    ) -> Result<Self, PlanPurgeError> {
        let wanted: HashSet<RecordId> = ids.iter().copied().collect();
        let found = find_records(file, &wanted)?;
        let records: BTreeMap<_, _> =
            found.iter().map(|target| (target.record.id, target.entry.clone())).collect();
        let missing: Vec<_> = ids.iter().copied().filter(|id| !records.contains_key(id)).collect();
        if !missing.is_empty() {
            return Err(PlanPurgeError::NotThere(missing));
        }
        for path in drop_files {
            if !file.is_carried(path) || file.entries().container.get(path).is_none() {
                return Err(PlanPurgeError::NoSuchFile(path.clone()));
            }
        }
        let texts = found.iter().filter(|target| target.record.content != TOMBSTONE_CONTENT);
        let probes: Vec<ErasureProbe> = texts
            .map(|target| ErasureProbe::new(target.record.id, &target.record.content))
            .collect();
        let too_short =
            probes.iter().filter(|probe| !probe.is_searchable()).map(|probe| probe.id).collect();
        let mut plan = Self {
            records,
            cuts: Vec::new(),
            dropped_files: drop_files.to_vec(),
            obstacles: Vec::new(),
            too_short,
            probes,
        };
        plan.search_records(file)?;
        plan.search_rest(file, &found)?;
        plan.obstacles.sort_by(|a, b| (a.id, &a.path).cmp(&(b.id, &b.path)));
        Ok(plan)
    }

    /// Searches the records that stay for the text.
    fn search_records(&mut self, file: &ArchiveOrDelta) -> Result<(), PlanPurgeError> {
        for entry in file.record_entries() {
            file.each_record(&entry, |number, line, _| {
                if self.records.contains_key(&line.head.id) {
                    return Ok(());
                }
                let Ok(text) = json::parse::<serde_json::Value>(&line.record) else {
                    return Ok(());
                };
                for probe in &self.probes {
                    if holds(&text, probe) {
                        self.obstacles.push(Obstacle {
                            id: probe.id,
                            path: format!("{entry}:{number}"),
                            held_by: Some(line.head.id),
                            droppable: false,
                        });
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Searches everything that is not a record for the text.
    fn search_rest(
        &mut self,
        file: &ArchiveOrDelta,
        found: &[FoundRecord],
    ) -> Result<(), PlanPurgeError> {
        let record_entries: HashSet<String> = file.record_entries().into_iter().collect();
        let structural = file.structural_entries();
        for entry in file.entries().container.entries() {
            let path = entry.path.as_str();
            if record_entries.contains(path)
                || self.dropped_files.iter().any(|dropped| dropped == path)
            {
                continue;
            }
            // A splice holds a part of a file and so perhaps a part of the text; the rest is in the
            // base, which is not available.
            let splice_of = path.strip_prefix(SPLICE);
            let mut holders = Vec::new();
            search_entry(file.entries(), path, &self.probes, |probe, trace| {
                if trace == Trace::Whole || splice_of.is_some() {
                    holders.push(probe.id);
                }
            })?;
            let origin = splice_of.unwrap_or(path);
            let own =
                found.iter().filter(|target| target.is_from(origin)).map(|target| target.record.id);
            if splice_of.is_some() {
                holders.extend(own);
                holders.sort();
                holders.dedup();
                self.obstruct(file, path, holders);
                continue;
            }
            if holders.is_empty() && own.count() == 0 {
                continue;
            }
            let text = if !structural.contains(path) && entry.size <= MAX_CUT_BYTES {
                read_text(file.entries(), path)?
            } else {
                None
            };
            if let Some(text) = text {
                let cut = FileCut {
                    parts: self.parts_to_cut(&text, path, found),
                    entry: path.to_owned(),
                };
                // Text behind JSON's escapes can be found but not cut.
                let rest = cut.apply(&text);
                holders.clear();
                search_text(path, &rest, &self.probes, |probe| holders.push(probe.id))?;
                if !cut.parts.is_empty() {
                    self.cuts.push(cut);
                }
            }
            self.obstruct(file, path, holders);
        }
        Ok(())
    }

    fn obstruct(&mut self, file: &ArchiveOrDelta, path: &str, holders: Vec<RecordId>) {
        let droppable = file.is_carried(path);
        let held_by = None;
        self.obstacles.extend(holders.into_iter().map(|id| Obstacle {
            id,
            path: path.to_owned(),
            held_by,
            droppable,
        }));
    }

    fn parts_to_cut(&self, text: &str, path: &str, found: &[FoundRecord]) -> Vec<Range<usize>> {
        let bytes = text.as_bytes();
        let mut parts: Vec<Range<usize>> = Vec::new();
        for probe in &self.probes {
            let mut from = 0;
            while let Some(part) = probe.find_whole(&bytes[from..]) {
                parts.push(from + part.start..with_line_end(bytes, from + part.end));
                from += part.end;
            }
        }
        // The lines that the record names as its origin, if they still hold its text with other
        // whitespace, or if its text is too short to be searched for.
        for record in found.iter().filter(|target| target.is_from(path)) {
            if let Some(part) = record.lines_in(text) {
                let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                if squeeze(&text[part.clone()]) == squeeze(&record.record.content) {
                    parts.push(part);
                }
            }
        }
        parts.sort_by_key(|part| part.start);
        let mut merged: Vec<Range<usize>> = Vec::new();
        for part in parts {
            match merged.last_mut() {
                Some(last) if part.start <= last.end => last.end = last.end.max(part.end),
                _ => merged.push(part),
            }
        }
        merged
    }
}

/// A record that is to be purged.
struct FoundRecord {
    record: Record,
    entry: String,
}

impl FoundRecord {
    /// Returns true when the record names a carried file as its origin.
    fn is_from(&self, path: &str) -> bool {
        let Some(origin) = &self.record.source.origin_file else {
            return false;
        };
        let file = CarriedFile { entry: crate::manifest::Entry::new(path) };
        path.starts_with(RAW) && file.location().1 == origin.as_bytes()
    }

    fn lines_in(&self, text: &str) -> Option<Range<usize>> {
        #[derive(serde::Deserialize)]
        struct Lines {
            line_start: usize,
            line_end: usize,
        }
        let lines: Lines = self.record.raw_source_format.as_ref()?.parse().ok()?;
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        let start = *starts.get(lines.line_start.checked_sub(1)?)?;
        let end = starts.get(lines.line_end).copied().unwrap_or(text.len());
        (start < end).then_some(start..end)
    }
}

fn find_records(
    file: &ArchiveOrDelta,
    wanted: &HashSet<RecordId>,
) -> Result<Vec<FoundRecord>, ReadEntryError> {
    let mut found = Vec::new();
    for entry in file.record_entries() {
        file.each_record(&entry, |_, line, _| {
            if wanted.contains(&line.head.id) {
                let record = json::parse::<Record>(&line.record)?;
                found.push(FoundRecord { record, entry: entry.clone() });
            }
            Ok(())
        })?;
    }
    Ok(found)
}

fn holds(value: &serde_json::Value, probe: &ErasureProbe) -> bool {
    match value {
        serde_json::Value::String(text) => probe.find_whole(text.as_bytes()).is_some(),
        serde_json::Value::Array(list) => list.iter().any(|value| holds(value, probe)),
        serde_json::Value::Object(map) => map.values().any(|value| holds(value, probe)),
        _ => false,
    }
}

/// Reads a file that is text; `None` when it is not.
pub(crate) fn read_text(entries: &Entries, path: &str) -> Result<Option<String>, ReadEntryError> {
    let bytes = entries.read_bytes(path)?;
    Ok(String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')))
}

/// Extends a part to the end of its line, where only the line end is missing.
fn with_line_end(bytes: &[u8], end: usize) -> usize {
    match &bytes[end..] {
        [b'\r', b'\n', ..] => end + 2,
        [b'\n', ..] => end + 1,
        _ => end,
    }
}
