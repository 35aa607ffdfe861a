//! A snapshot that comes back from another runtime.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};

use anemone_format::{
    Attachments, Credentials, FileRoot, Identity, Manifest, Moment, Principals, Record,
    RecordCache, RecordId, SnapshotSource, SourceFile, SourceKind, Status, Unknown,
};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::claims::{Claim, Claims};
use super::lines::{self, SidecarFault};
use super::matching::{self, Digest, Native, WantedRecord};
use super::spool::{Spooler, read_at};
use super::{
    ATTACHMENTS, CREDENTIALS, FILES, FileLine, IDENTITY, LINKS, Link, MANIFEST, MARK, Mark, PLACED,
    PRINCIPALS, RECORDS, RecordPlaces, SIDECAR, VERSION, digest_of_node, is_in_sidecar, root_of,
};
use crate::kit::{
    Forgotten, Machine, PlanError, Warning, brief_line, each_record, hex, is_name, keep_newest,
    lossy, name_of, short_digest, spelled, stays_below,
};

/// Describes the database that rows were read from; it is one of the runtime's files.
const DESCRIPTION: &str = ".alf-database.json";

/// Texts that were written beside the content of one record, at most, and their bytes.
const MAX_ADDED: usize = 4;
const MAX_ADDED_BYTES: usize = 1 << 20;

/// Bytes of a path, at most.
const MAX_PATH_BYTES: usize = 4096;

/// Bytes of JSON of the records that are kept once they were parsed, at most.
const MAX_PARSED_BYTES: usize = 64 << 20;

/// What became of a record while it was away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordChange {
    /// It is unchanged.
    Same,
    /// It has another content, or is no longer in force.
    Changed,
    /// It was forgotten.
    Forgotten,
}

/// A snapshot that comes back: what it was, with what happened to it while it was away.
///
/// As a source, it is the snapshot as it should be now. The manifest and the documents are the
/// original ones. Untouched records are the original ones, changed ones include their changes, new
/// ones are as the runtime has them, and forgotten ones are missing. Files are the original ones,
/// unless they are in the workspace itself.
pub(crate) struct ReturningSnapshot<'a> {
    source: &'a dyn SnapshotSource,
    manifest: Manifest,
    identity: Option<Identity>,
    principals: Option<Principals>,
    credentials: Option<Credentials>,
    attachments: Option<Attachments>,
    files: Vec<SourceFile>,
    positions: Vec<usize>,
    strangers: Vec<usize>,
    /// The position of the original records.
    records: usize,
    states: HashMap<RecordId, RecordState>,
    /// Records that the snapshot did not have, oldest first.
    new: Vec<SpooledRecord>,
    /// New records that had the id of a record of the snapshot: their ids here, and the ids they
    /// had.
    renamed: HashMap<RecordId, RecordId>,
    /// Holds the new records and the changed ones, as JSON.
    spool: File,
    /// The original records, parsed to find out what became of them, until the first walk takes
    /// them.
    originals: Mutex<Option<Vec<(Record, usize)>>>,
    parsed: RecordCache<ReturningRecord>,
}

/// A record as it was, and as it is now.
struct ReturningRecord {
    /// `None` for a new record.
    original: Option<Record>,
    /// `None` for a record that was forgotten or is unchanged.
    current: Option<Record>,
}

/// What became of one record.
struct RecordState {
    fate: RecordChange,
    /// The ids of its current records.
    natives: Vec<RecordId>,
    /// Its current records, if it changed.
    parts: Vec<SpooledRecord>,
    /// What was written beside its content.
    added: Vec<String>,
    /// Whether only its status has changed.
    same_text: bool,
}

/// A record in the spool.
#[derive(Clone, Copy)]
struct SpooledRecord {
    created_at: Timestamp,
    id: RecordId,
    offset: u64,
    length: u64,
}

impl<'a> ReturningSnapshot<'a> {
    /// Looks for what was kept of a snapshot of `runtime`; `None` when there is nothing. If it
    /// cannot be understood, that is a warning and also `None`.
    pub(crate) fn open(
        machine: &Machine,
        source: &'a dyn SnapshotSource,
        runtime: &str,
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<Self>, PlanError> {
        let mut found = Vec::new();
        let opened = StoredSidecar::find(source, runtime)
            .and_then(|folder| folder.map(|folder| folder.open(machine, &mut found)).transpose());
        match opened {
            Ok(returned) => {
                warnings.append(&mut found);
                Ok(returned)
            }
            Err(SidecarFault::Broken(what)) => {
                warnings.push(Warning::about(
                    "origin_broken",
                    SIDECAR,
                    format!(
                        "cannot be used to put the agent back as it was, because {what}; what the \
                         agent has now comes along, and the folder with it"
                    ),
                ));
                Ok(None)
            }
            Err(SidecarFault::Plan(error)) => Err(error),
        }
    }

    /// Returns the position of a file in the source that a plan is applied with.
    pub(crate) fn position(&self, file: usize) -> usize {
        self.positions[file]
    }

    /// Returns what became of a record of the snapshot; `None` for a new one.
    pub(crate) fn fate(&self, record: RecordId) -> Option<RecordChange> {
        self.states.get(&record).map(|state| state.fate)
    }

    /// Returns the ids of the current records of a record of the snapshot.
    pub(crate) fn natives(&self, record: RecordId) -> &[RecordId] {
        self.states.get(&record).map_or(&[], |state| &state.natives)
    }

    /// Returns the id of each current record with that of its record in the snapshot.
    pub(crate) fn origins(&self) -> impl Iterator<Item = (RecordId, RecordId)> {
        let natives = self.states.iter();
        let known = natives
            .flat_map(|(record, state)| state.natives.iter().map(|native| (*native, *record)));
        known.chain(self.renamed.iter().map(|(here, native)| (*native, *here)))
    }

    /// Returns the id that a new record has in the source.
    pub(crate) fn native_of(&self, new: RecordId) -> RecordId {
        self.renamed.get(&new).copied().unwrap_or(new)
    }

    /// Returns whether any record is new, changed or forgotten.
    pub(crate) fn has_changes(&self) -> bool {
        !self.new.is_empty() || self.states.values().any(|state| state.fate != RecordChange::Same)
    }

    /// Returns whether any record of the runtime is new or changed.
    pub(crate) fn has_news(&self) -> bool {
        !self.new.is_empty()
            || self.states.values().any(|state| state.fate == RecordChange::Changed)
    }

    /// Returns the memories that were forgotten.
    pub(crate) fn forgotten(&self) -> io::Result<Forgotten> {
        /// The most memories that are named.
        const NAMED: usize = 20;
        let is_forgotten = |state: &RecordState| state.fate == RecordChange::Forgotten;
        let count = self.states.values().filter(|value| is_forgotten(value)).count() as u64;
        let mut names = Vec::new();
        if count > 0 {
            self.each_original(&mut |record| {
                let gone = self.states.get(&record.id).is_some_and(is_forgotten);
                if gone && names.len() < NAMED {
                    names.push(brief(record));
                }
                Ok(())
            })?;
        }
        Ok(Forgotten { count, names })
    }

    /// Yields every record as it was before the agent moved away.
    pub(crate) fn each_original(
        &self,
        take: &mut dyn FnMut(&Record) -> io::Result<()>,
    ) -> io::Result<()> {
        self.each(&mut |record| record.original.as_ref().map_or(Ok(()), &mut *take))
    }

    fn each(&self, take: &mut dyn FnMut(&ReturningRecord) -> io::Result<()>) -> io::Result<()> {
        self.parsed.each(|take| self.parse_each(take), take)
    }

    /// Parses every record, and passes it on with the length of its JSON.
    fn parse_each(
        &self,
        take: &mut dyn FnMut(ReturningRecord, usize) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut new = self.new.iter().peekable();
        let mut content = self.source.content(self.records)?;
        let mut take_original = |record: Record, length: usize| {
            let at = record.temporal.created_at.instant();
            while let Some(next) = new.next_if(|value| value.created_at < at) {
                self.take_new(next, take)?;
            }
            let state =
                self.states.get(&record.id).filter(|state| state.fate == RecordChange::Changed);
            let current = state.map(|state| self.patched(record.clone(), state)).transpose()?;
            take(ReturningRecord { original: Some(record), current }, length)
        };
        let mut take_original = |record: Record, length: usize| {
            Ok(take_original(record, length).map_err(PlanError::Source)?)
        };
        let kept = self.originals.lock().unwrap_or_else(PoisonError::into_inner).take();
        let walked = match kept {
            Some(kept) => {
                kept.into_iter().try_for_each(|(record, length)| take_original(record, length))
            }
            None => lines::each_record(RECORDS, &mut content, &mut take_original),
        };
        walked.map_err(|fault| match fault {
            SidecarFault::Broken(what) => io::Error::new(io::ErrorKind::InvalidData, what),
            SidecarFault::Plan(PlanError::Source(error) | PlanError::Scratch(error)) => error,
            SidecarFault::Plan(error) => io::Error::other(error),
        })?;
        new.try_for_each(|next| self.take_new(next, take))
    }

    fn take_new(
        &self,
        new: &SpooledRecord,
        take: &mut dyn FnMut(ReturningRecord, usize) -> io::Result<()>,
    ) -> io::Result<()> {
        let record = ReturningRecord { original: None, current: Some(self.spooled(new)?) };
        take(record, usize::try_from(new.length).unwrap_or(usize::MAX))
    }

    /// Files of the runtime where the agent was, which belong to no snapshot and were not generated
    /// by a plan: positions in the source that a plan is applied with.
    pub(crate) fn strangers(&self) -> Vec<usize> {
        self.strangers.clone()
    }

    fn spooled(&self, at: &SpooledRecord) -> io::Result<Record> {
        Ok(Record::parse(&read_at(&self.spool, at.offset, at.length)?)?)
    }

    /// Returns a record with what became of it.
    fn patched(&self, mut record: Record, state: &RecordState) -> io::Result<Record> {
        let mut joined = String::new();
        let mut newest: Option<Moment> = None;
        for (index, part) in state.parts.iter().enumerate() {
            let native = self.spooled(part)?;
            joined.push_str(&native.content);
            if index == 0 {
                record.status = native.status;
            }
            let at = native.temporal.updated_at.unwrap_or(native.temporal.created_at);
            keep_newest(&mut newest, Some(&at));
        }
        record.temporal.updated_at = newest.or(record.temporal.updated_at);
        if state.same_text {
            return Ok(record);
        }
        let stripped = without(&joined, &state.added);
        let stripped = without_status(&stripped, &record.content);
        let text = if stripped.trim().is_empty() { joined.trim() } else { stripped.trim() };
        // Whitespace around a text belongs to its place, and most runtimes drop it.
        let old = record.content.as_str();
        let before = &old[..old.len() - old.trim_start().len()];
        let after = &old[old.trim_end().len().max(before.len())..];
        record.content = [before, text, after].concat();
        record.embeddings.clear();
        Ok(record)
    }
}

/// Removes texts from another: of each, the first occurrence after the previous one.
fn without(text: &str, added: &[String]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    for (index, added) in added.iter().enumerate() {
        let bare = added.trim();
        if bare.is_empty() {
            continue;
        }
        let found = rest.find(added.as_str()).map(|at| (at, added.len()));
        match found.or_else(|| rest.find(bare).map(|at| (at, bare.len()))) {
            Some((at, length)) => {
                result.push_str(&rest[..at]);
                rest = &rest[at + length..];
            }
            // A part of the text was changed; at its beginning, the lines that are left are ours.
            None if index == 0 && result.is_empty() => {
                for line in bare.lines().map(str::trim).filter(|line| !line.is_empty()) {
                    let trimmed = rest.trim_start();
                    let first = trimmed.lines().next().unwrap_or_default();
                    if first.trim() == line {
                        rest = &trimmed[first.len()..];
                    }
                }
            }
            None => {}
        }
    }
    result.push_str(rest);
    result
}

/// Removes the comment that says that a text is no longer in force: the status says so. A comment
/// that the text had before stays.
fn without_status(text: &str, was: &str) -> String {
    let says_status = |line: &str| {
        let comment = line.trim().strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->"));
        comment.is_some_and(|comment| {
            let mut fields = comment.split('|').map(str::trim).peekable();
            let known = |text: &str| text.starts_with("status:") || text.starts_with("observed:");
            let has_status = comment.contains("status:");
            has_status && fields.peek().is_some() && fields.all(known)
        })
    };
    let had = |line: &str| was.lines().any(|other| other.trim() == line.trim());
    let lines = text.split_inclusive('\n');
    lines.filter(|line| !says_status(line) || had(line)).collect()
}

impl SnapshotSource for ReturningSnapshot<'_> {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn identity(&self) -> io::Result<Option<Identity>> {
        Ok(self.identity.clone())
    }

    fn principals(&self) -> io::Result<Option<Principals>> {
        Ok(self.principals.clone())
    }

    fn credentials(&self) -> io::Result<Option<Credentials>> {
        Ok(self.credentials.clone())
    }

    fn attachments(&self) -> io::Result<Option<Attachments>> {
        Ok(self.attachments.clone())
    }

    fn files(&self) -> &[SourceFile] {
        &self.files
    }

    fn content(&self, file: usize) -> io::Result<Box<dyn Read + '_>> {
        let position = self.positions.get(file).ok_or(io::ErrorKind::NotFound)?;
        self.source.content(*position)
    }

    fn each_record(&self, take: &mut dyn FnMut(&Record) -> io::Result<()>) -> io::Result<()> {
        self.each(&mut |record| match record {
            ReturningRecord { current: Some(record), .. } => take(record),
            ReturningRecord { original: Some(record), .. }
                if self.fate(record.id) != Some(RecordChange::Forgotten) =>
            {
                take(record)
            }
            ReturningRecord { .. } => Ok(()),
        })
    }
}

/// Names a record for people: by its name, or else by how it starts.
fn brief(record: &Record) -> String {
    let line = record.content.lines().find(|line| !line.trim().is_empty());
    let name = name_of(record).filter(|name| !name.trim().is_empty());
    let name = brief_line(name.as_deref().or(line).unwrap_or_default());
    match &record.source.origin_file {
        Some(file) => format!("{file}: {name}"),
        None => name,
    }
}

fn place_of(file: Option<&str>, name: Option<&str>) -> u64 {
    // A byte that never occurs in a text keeps the two apart.
    let mark = |text: Option<&str>| [text.unwrap_or("\u{1}").as_bytes(), &[0xff]].concat();
    short_digest(&[mark(file), mark(name)].concat())
}

fn digest_bytes(content: &str) -> Digest {
    Sha256::digest(content.trim().as_bytes()).into()
}

/// The folder as it is in a source.
struct StoredSidecar<'a> {
    source: &'a dyn SnapshotSource,
    /// The runtime whose workspace holds it.
    between: String,
    manifest: Manifest,
    mark: Mark,
    /// Its files, by path.
    kept: HashMap<String, VecDeque<usize>>,
}

impl<'a> StoredSidecar<'a> {
    /// Looks for what was kept of a snapshot of `runtime`.
    fn find(source: &'a dyn SnapshotSource, runtime: &str) -> Result<Option<Self>, SidecarFault> {
        let path = format!("{SIDECAR}/{MANIFEST}");
        let now = source.manifest().agent.source_runtime.as_str();
        let is_manifest = |file: &SourceFile| {
            file.path == path.as_bytes() && matches!(file.kind, SourceKind::File { .. })
        };
        let mut found: Option<(usize, &str)> = None;
        for (index, file) in source.files().iter().enumerate().filter(|file| is_manifest(file.1)) {
            if let FileRoot::Raw(between) = &file.root
                && between != runtime
                && (found.is_none() || between == now)
            {
                found = Some((index, between));
            }
        }
        let Some((index, between)) = found else { return Ok(None) };
        let mut content = source.content(index).map_err(PlanError::Source)?;
        let mut manifest: Manifest = lines::document(MANIFEST, &mut content)?;
        if manifest.agent.source_runtime != runtime {
            return Ok(None);
        }
        let mark = manifest.unknown.get(MARK).and_then(|text| serde_json::from_str(text).ok());
        let mark: Mark = mark.ok_or_else(|| {
            SidecarFault::Broken(format!("{MANIFEST} does not say what is there"))
        })?;
        if mark.version != VERSION {
            let version = mark.version;
            return Err(SidecarFault::Broken(format!(
                "a newer program wrote it (version {version})"
            )));
        }
        let mut unknown = Unknown::default();
        for (key, value) in manifest.unknown.iter().filter(|(key, _)| *key != MARK) {
            unknown.insert(key, value.get()).map_err(|error| PlanError::Source(error.into()))?;
        }
        manifest.unknown = unknown;
        let mut kept: HashMap<String, VecDeque<usize>> = HashMap::new();
        for (index, file) in source.files().iter().enumerate() {
            let rest = file.path.strip_prefix(SIDECAR.as_bytes());
            let rest = rest.and_then(|rest| rest.strip_prefix(b"/"));
            if let (FileRoot::Raw(runtime), Some(rest)) = (&file.root, rest)
                && runtime == between
            {
                kept.entry(spelled(rest)).or_default().push_back(index);
            }
        }
        Ok(Some(Self { source, between: between.to_owned(), manifest, mark, kept }))
    }

    fn position(&self, name: &str) -> Result<usize, SidecarFault> {
        let found = self.kept.get(name).and_then(|value| value.front()).copied();
        let is_file =
            |value: &usize| matches!(self.source.files()[*value].kind, SourceKind::File { .. });
        found.filter(is_file).ok_or_else(|| SidecarFault::Broken(format!("{name} is missing")))
    }

    fn content(&self, name: &str) -> Result<Box<dyn Read + 'a>, SidecarFault> {
        Ok(self.source.content(self.position(name)?).map_err(PlanError::Source)?)
    }

    fn document<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, SidecarFault> {
        if !self.mark.documents.iter().any(|document| document == name) {
            return Ok(None);
        }
        lines::document(name, &mut self.content(name)?).map(Some)
    }

    fn open(
        mut self,
        machine: &Machine,
        warnings: &mut Vec<Warning>,
    ) -> Result<ReturningSnapshot<'a>, SidecarFault> {
        let files = self.files(warnings)?;
        let matched = self.matched(machine, &files.in_place)?;
        Ok(ReturningSnapshot {
            identity: self.document(IDENTITY)?,
            principals: self.document(PRINCIPALS)?,
            credentials: self.document(CREDENTIALS)?,
            attachments: self.document(ATTACHMENTS)?,
            records: self.position(RECORDS)?,
            source: self.source,
            manifest: self.manifest,
            files: files.files,
            positions: files.positions,
            strangers: files.strangers,
            states: matched.states,
            new: matched.new,
            renamed: matched.renamed,
            spool: matched.spool,
            originals: Mutex::new(matched.originals),
            parsed: RecordCache::new(MAX_PARSED_BYTES),
        })
    }

    /// Finds every file of the snapshot, and what else there is.
    fn files(&mut self, warnings: &mut Vec<Warning>) -> Result<RestoredFiles, SidecarFault> {
        let source = self.source;
        let mut native: HashMap<String, VecDeque<usize>> = HashMap::new();
        for (index, file) in source.files().iter().enumerate() {
            let is_native = match &file.root {
                FileRoot::Raw(runtime) => *runtime == self.between,
                FileRoot::Artifacts => true,
                FileRoot::Other => false,
            };
            if is_native && !is_in_sidecar(&file.path) {
                native.entry(spelled(&file.path)).or_default().push_back(index);
            }
        }
        let mut tree = SnapshotTree::default();
        let mut ours: HashSet<usize> = HashSet::new();
        let mut in_place: HashSet<String> = HashSet::new();
        let (mut missing, mut edited) = (PathTally::default(), PathTally::default());
        let mut content = self.content(PLACED)?;
        let kept = &mut self.kept;
        lines::each_line(PLACED, &mut content, &mut |line: FileLine| {
            let Some(root) = &line.root else {
                let index = native.get(&line.path).and_then(|native| native.front()).copied();
                let untouched = |value: &usize| {
                    line.sha256.is_empty()
                        || line.sha256 == digest_of_node(&source.files()[*value].kind)
                };
                ours.extend(index.filter(untouched));
                return Ok(());
            };
            let bad = |what: &str| SidecarFault::Broken(format!("{PLACED} has {what}"));
            let root = read_root(root).ok_or_else(|| bad("a file that belongs nowhere"))?;
            let path = match &line.path_hex {
                Some(hex) => hex::decoded(hex).ok_or_else(|| bad("a path that is none"))?,
                None => line.path.clone().into_bytes(),
            };
            if path.len() > MAX_PATH_BYTES || !stays_below(&path) {
                return Err(bad("a path that is none"));
            }
            let index = match &line.kept {
                Some(kept_at) => {
                    let below = kept_at.starts_with(&format!("{FILES}/"));
                    let index = kept.get_mut(kept_at).and_then(VecDeque::pop_front);
                    let Some(index) = index.filter(|_| below) else {
                        missing.add(&line.path);
                        return Ok(());
                    };
                    index
                }
                None => {
                    in_place.insert(line.path.clone());
                    let Some(index) = native.get_mut(&line.path).and_then(VecDeque::pop_front)
                    else {
                        return Ok(());
                    };
                    ours.insert(index);
                    index
                }
            };
            let found = &source.files()[index];
            if line.kept.is_some() && line.sha256 != digest_of_node(&found.kind) {
                edited.add(&line.path);
            }
            let redacted = found.redacted || line.redacted;
            let file = SourceFile { root, path, redacted, ..found.clone() };
            if tree.add(index, file) { Ok(()) } else { Err(bad("two files of one path")) }
        })?;
        let mut strangers = Vec::new();
        let mut in_the_way = PathTally::default();
        let mut above: HashSet<&[u8]> = HashSet::new();
        for index in &ours {
            let path = &source.files()[*index].path[..];
            let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            above.extend(ends.map(|(end, _)| &path[..end]));
        }
        for (index, file) in source.files().iter().enumerate() {
            if ours.contains(&index) || is_in_sidecar(&file.path) {
                continue;
            }
            match &file.root {
                // A folder that was only created for files of a plan has no owner.
                FileRoot::Raw(runtime)
                    if *runtime == self.between
                        && file.kind == SourceKind::Folder
                        && above.contains(&file.path[..]) => {}
                FileRoot::Raw(runtime) if *runtime == self.between => strangers.push(index),
                FileRoot::Raw(_) | FileRoot::Other => {}
                // A folder that was only created for a file of the snapshot is not new.
                FileRoot::Artifacts
                    if file.kind == SourceKind::Folder && tree.claims.has_below(&file.path) => {}
                FileRoot::Artifacts => {
                    if !tree.add(index, file.clone()) {
                        in_the_way.add(&lossy(&file.path));
                    }
                }
            }
        }
        let mut warn = |code, tally: &PathTally, what: &str| {
            warnings
                .extend(tally.message(what).map(|message| Warning::about(code, SIDECAR, message)));
        };
        warn("origin_incomplete", &missing, "are no longer there and do not come back");
        warn("origin_edited", &edited, "were edited, and come back as they are now");
        warn("origin_in_the_way", &in_the_way, "have the path of something that comes back");
        let (files, positions) = tree.finish();
        Ok(RestoredFiles { files, positions, strangers, in_place })
    }

    /// Returns whether the runtime's database of memories was read.
    fn has_database(&self) -> bool {
        let is_description = |file: &SourceFile| {
            file.path == DESCRIPTION.as_bytes()
                && matches!(&file.root, FileRoot::Raw(runtime) if *runtime == self.between)
        };
        self.source.files().iter().any(is_description)
    }

    /// Finds out what became of every record.
    fn matched(
        &self,
        machine: &Machine,
        in_place: &HashSet<String>,
    ) -> Result<MatchedRecords, SidecarFault> {
        let mut links: HashMap<RecordId, RecordPlaces> = HashMap::new();
        lines::each_line(LINKS, &mut self.content(LINKS)?, &mut |Link { id, places }| {
            links.entry(id).or_insert(places);
            Ok(())
        })?;
        let mut wants: Vec<WantedRecord> = Vec::new();
        let mut texts: Vec<(Vec<String>, ExpectedStatus)> = Vec::new();
        let mut known: HashSet<RecordId> = HashSet::new();
        let (mut in_database, mut in_a_file) = (false, false);
        let cache = RecordCache::<Record>::new(MAX_PARSED_BYTES);
        let mut originals = Some(Vec::new());
        let mut bytes = 0_usize;
        lines::each_record(RECORDS, &mut self.content(RECORDS)?, &mut |record, size| {
            if !known.insert(record.id) {
                return Err(SidecarFault::Broken(format!("{RECORDS} has {} twice", record.id)));
            }
            let RecordPlaces { parts, mut added, status } =
                links.remove(&record.id).unwrap_or_default();
            // More than a plan ever writes would mean searching every text for it.
            let length: usize = added.iter().map(String::len).sum();
            if added.len() > MAX_ADDED || length > MAX_ADDED_BYTES {
                added.clear();
            }
            let by_id_only = parts.is_empty();
            let mut digests = Vec::with_capacity(parts.len().max(1));
            for part in parts {
                in_database |= part.file.is_none();
                in_a_file |= part.file.is_some();
                let digest = hex::decoded(&part.sha256).and_then(|hex| Digest::try_from(hex).ok());
                let digest = digest.ok_or_else(|| {
                    SidecarFault::Broken(format!("{LINKS} has a digest that is none"))
                })?;
                digests.push((digest, place_of(part.file.as_deref(), part.name.as_deref())));
            }
            if by_id_only {
                digests.push((digest_bytes(&record.content), place_of(None, None)));
            }
            wants.push(WantedRecord { id: record.id, parts: digests, by_id_only });
            let was_active = *record.status.effective() == Status::Active;
            texts.push((added, ExpectedStatus { status, was_active }));
            bytes = bytes.saturating_add(size);
            match &mut originals {
                Some(kept) if cache.fits(bytes) => kept.push((record, size)),
                _ => originals = None,
            }
            Ok(())
        })?;
        drop(links);
        let mut natives: Vec<Native> = Vec::new();
        let mut statuses: HashMap<usize, Status> = HashMap::new();
        let mut in_files: HashSet<usize> = HashSet::new();
        let mut has_rows = false;
        each_record(self.source, &mut |record| {
            let file = record.source.origin_file.as_deref();
            has_rows |= file.is_none();
            if file.is_some_and(|file| in_place.contains(file)) {
                in_files.insert(natives.len());
            }
            if record.status != Status::Active {
                statuses.insert(natives.len(), record.status.clone());
            }
            natives.push(Native {
                id: record.id,
                digest: digest_bytes(&record.content),
                place: place_of(file, name_of(record).as_deref()),
            });
            Ok(())
        })?;
        // A record that was not read is not forgotten: there may be another backend, or an
        // unfinished move.
        let unread = in_database && !(has_rows && self.has_database());
        if unread || in_a_file && natives.is_empty() {
            let runtime = self.source.manifest().agent.source_runtime.clone();
            return Err(PlanError::MemoriesUnread(runtime).into());
        }
        let found = matching::find(&wants, &natives);
        let mut states: HashMap<RecordId, RecordState> = HashMap::with_capacity(wants.len());
        // Records of the runtime that are needed in full, and the record that each is a part of.
        let mut needed: HashMap<usize, Option<(RecordId, usize)>> = HashMap::new();
        let mut used = vec![false; natives.len()];
        for ((want, parts), (added, expected)) in wants.iter().zip(&found).zip(texts) {
            let there: Vec<usize> = parts.iter().copied().flatten().collect();
            let same_text = parts.iter().zip(&want.parts).all(|(found, (digest, _))| {
                found.is_some_and(|index| natives[index].digest == *digest)
            });
            let fate = match there.first() {
                None if want.by_id_only => RecordChange::Same,
                None => RecordChange::Forgotten,
                Some(first) if same_text => {
                    if expected.is(statuses.get(first).unwrap_or(&Status::Active)) {
                        RecordChange::Same
                    } else {
                        RecordChange::Changed
                    }
                }
                Some(_) => RecordChange::Changed,
            };
            if fate == RecordChange::Changed {
                for (at, index) in there.iter().enumerate() {
                    needed.insert(*index, Some((want.id, at)));
                }
            }
            there.iter().for_each(|index| used[*index] = true);
            let natives = there.iter().map(|index| natives[*index].id).collect();
            let added = if fate == RecordChange::Changed { added } else { Vec::new() };
            states.insert(
                want.id,
                RecordState { fate, natives, parts: Vec::new(), added, same_text },
            );
        }
        for (index, _) in used.iter().enumerate().filter(|(_, used)| !**used) {
            // Records in a file of the snapshot come back with that file.
            if !in_files.contains(&index) {
                needed.insert(index, None);
            }
        }
        let matched = self.spooled(machine, states, &needed)?;
        Ok(MatchedRecords { originals, ..matched })
    }

    /// Spools records of the runtime that are needed in full.
    fn spooled(
        &self,
        machine: &Machine,
        mut states: HashMap<RecordId, RecordState>,
        needed: &HashMap<usize, Option<(RecordId, usize)>>,
    ) -> Result<MatchedRecords, SidecarFault> {
        let mut spool = Spooler::new(machine)?;
        let mut new = Vec::new();
        let mut renamed = HashMap::new();
        let mut parts: BTreeMap<(RecordId, usize), SpooledRecord> = BTreeMap::new();
        let mut index = 0;
        let mut keep = |record: &Record| {
            let part = needed.get(&index);
            index += 1;
            let Some(part) = part else { return Ok(()) };
            let mut record = record.clone();
            // Where ids are made from positions, a new record may have the id of an old one.
            if part.is_none() && states.contains_key(&record.id) {
                let here =
                    RecordId::new(Uuid::new_v5(&record.id.uuid(), record.content.as_bytes()));
                renamed.insert(here, record.id);
                record.id = here;
            }
            let offset = spool.offset();
            spool.json_line(&record)?;
            let length = spool.offset() - offset;
            let created_at = record.temporal.created_at.instant();
            let spooled = SpooledRecord { created_at, id: record.id, offset, length };
            match part {
                Some(part) => drop(parts.insert(*part, spooled)),
                None => new.push(spooled),
            }
            Ok(())
        };
        if !needed.is_empty() {
            each_record(self.source, &mut keep)?;
        }
        for ((id, _), spooled) in parts {
            if let Some(state) = states.get_mut(&id) {
                state.parts.push(spooled);
            }
        }
        new.sort_unstable_by_key(|spooled: &SpooledRecord| (spooled.created_at, spooled.id));
        let spool = spool.into_file().map_err(PlanError::Scratch)?;
        Ok(MatchedRecords { states, new, renamed, spool, originals: None })
    }
}

/// What the files of a source are.
struct RestoredFiles {
    files: Vec<SourceFile>,
    positions: Vec<usize>,
    strangers: Vec<usize>,
    /// Paths of files of the snapshot that are in the workspace.
    in_place: HashSet<String>,
}

struct MatchedRecords {
    states: HashMap<RecordId, RecordState>,
    new: Vec<SpooledRecord>,
    renamed: HashMap<RecordId, RecordId>,
    spool: File,
    originals: Option<Vec<(Record, usize)>>,
}

/// The status that a record had when it was moved.
struct ExpectedStatus {
    status: Option<String>,
    was_active: bool,
}

impl ExpectedStatus {
    fn is(&self, status: &Status) -> bool {
        match &self.status {
            Some(text) => status.as_str() == text,
            None => {
                let ended = matches!(status.effective(), Status::Superseded | Status::Archived);
                !(self.was_active && ended)
            }
        }
    }
}

/// Files that form a tree.
#[derive(Default)]
struct SnapshotTree {
    claims: Claims,
    files: Vec<(usize, SourceFile)>,
}

impl SnapshotTree {
    /// Adds a file; returns whether nothing else is in its way.
    fn add(&mut self, position: usize, file: SourceFile) -> bool {
        let claim = self.claims.claim(&file.path, file.kind == SourceKind::Folder);
        if claim == Claim::Free {
            self.files.push((position, file));
        }
        claim != Claim::Taken
    }

    fn finish(mut self) -> (Vec<SourceFile>, Vec<usize>) {
        // The order of an archive.
        self.files.sort_by_cached_key(|(_, file)| (root_of(&file.root), file.path.clone()));
        self.files.into_iter().map(|(position, file)| (file, position)).unzip()
    }
}

/// Counts paths and remembers the first.
#[derive(Default)]
struct PathTally {
    count: u64,
    first: String,
}

impl PathTally {
    fn add(&mut self, path: &str) {
        if self.count == 0 {
            path.clone_into(&mut self.first);
        }
        self.count += 1;
    }

    fn message(&self, what: &str) -> Option<String> {
        let (count, first) = (self.count, &self.first);
        (count > 0).then(|| format!("files that {what}: {count}, such as {first}"))
    }
}

fn read_root(text: &str) -> Option<FileRoot> {
    match text {
        "artifacts" => Some(FileRoot::Artifacts),
        "other" => Some(FileRoot::Other),
        _ => {
            let runtime = text.strip_prefix("raw/")?;
            is_name(runtime).then(|| FileRoot::Raw(runtime.to_owned()))
        }
    }
}
