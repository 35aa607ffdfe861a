//! Takes times over from an earlier archive of the same agent where the content is unchanged.
//!
//! A file that was only touched keeps its times; a section that moved within its file keeps the
//! times of its text; an edited section keeps the time of its creation.

use std::collections::HashMap;

use anemone_format::{
    Attachments, Credentials, FileRoot, Identity, Manifest, Moment, Principals, Record, RecordId,
    Root, SourceFile, SourceKind,
};
use sha2::{Digest as _, Sha256};

use crate::kit::RawPlace;

/// An earlier reading of an agent.
#[derive(Debug)]
pub struct PreviousSnapshot {
    /// Its manifest.
    pub manifest: Manifest,
    /// Who the agent was.
    pub identity: Option<Identity>,
    /// Whom it worked for.
    pub principals: Option<Principals>,
    /// Its keys.
    pub credentials: Option<Credentials>,
    /// Its artifacts.
    pub attachments: Option<Attachments>,
    files: HashMap<(FileRoot, Vec<u8>), SourceFile>,
    records: HashMap<RecordId, PreviousRecord>,
    /// By file and text.
    texts: HashMap<Fingerprint, RecordTimes>,
}

/// Enough of a SHA-256 to tell texts of one agent apart.
type Fingerprint = [u8; 16];

#[derive(Debug)]
struct PreviousRecord {
    text: Fingerprint,
    heading: Option<Fingerprint>,
    times: RecordTimes,
}

#[derive(Clone, Debug)]
struct RecordTimes {
    created_at: Moment,
    updated_at: Option<Moment>,
    /// The identity that the agent had when it wrote the text.
    identity_version: Option<u64>,
    /// The version that the runtime had when the text was first read.
    runtime_version: Option<String>,
}

impl PreviousSnapshot {
    /// Takes the manifest and the files of an earlier reading; layers and records are added.
    #[must_use]
    pub fn new(manifest: Manifest, files: Vec<SourceFile>) -> Self {
        let keyed = files.into_iter().map(|file| ((file.root.clone(), file.path.clone()), file));
        Self {
            manifest,
            identity: None,
            principals: None,
            credentials: None,
            attachments: None,
            files: keyed.collect(),
            records: HashMap::new(),
            texts: HashMap::new(),
        }
    }

    /// Adds a record.
    pub fn add_record(&mut self, record: &Record) {
        let text = text_of(record);
        let times = RecordTimes {
            created_at: record.temporal.created_at.clone(),
            updated_at: record.temporal.updated_at.clone(),
            identity_version: record.source.identity_version,
            runtime_version: record.source.runtime_version.clone(),
        };
        self.texts.entry(text).or_insert_with(|| times.clone());
        self.records.insert(record.id, PreviousRecord { text, heading: heading_of(record), times });
    }

    /// Copies the times and versions that an unchanged record had.
    pub(crate) fn carry_times(&self, record: &mut Record) {
        let text = text_of(record);
        let past = self.records.get(&record.id);
        let same = past.filter(|past| past.text == text).map(|past| &past.times);
        // A time that the text or the name states takes precedence; only a file's time gives way to
        // the earlier one. What the text already stated when it lay ahead was an appointment, and
        // stays one.
        let mut is_of_file =
            record.temporal.updated_at.as_ref() == Some(&record.temporal.created_at);
        if let Some(times) = same.or_else(|| self.texts.get(&text)) {
            let known_since = times.updated_at.as_ref().unwrap_or(&times.created_at);
            is_of_file |= record.temporal.created_at.instant() > known_since.instant();
            record.temporal.updated_at.clone_from(&times.updated_at);
            record.source.identity_version = times.identity_version;
            record.source.runtime_version.clone_from(&times.runtime_version);
            if is_of_file {
                record.temporal.created_at = times.created_at.clone();
            }
        } else if let Some(past) = past
            && is_of_file
            && past.heading.is_some()
            && past.heading == heading_of(record)
        {
            record.temporal.created_at = past.times.created_at.clone();
        }
    }

    /// Returns the earlier file at a path.
    pub(crate) fn file(&self, root: Root<'_>, path: &[u8]) -> Option<&SourceFile> {
        self.files.get(&(root.into(), path.to_vec()))
    }

    /// Returns how many files, links and folders there were.
    pub(crate) fn file_count(&self) -> usize {
        self.files.len()
    }

    /// Returns the time of a file whose content, kind and mode are still the same.
    pub(crate) fn unchanged_mtime(
        &self,
        root: Root<'_>,
        path: &[u8],
        kind: &SourceKind,
        mode: Option<u32>,
    ) -> Option<&Moment> {
        let past = self.file(root, path)?;
        (past.kind == *kind && past.mode == mode).then_some(past.mtime.as_ref()).flatten()
    }
}

fn fingerprint(parts: &[&[u8]]) -> Fingerprint {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let digest = hasher.finalize();
    let mut fingerprint = [0; 16];
    fingerprint.copy_from_slice(&digest[..16]);
    fingerprint
}

fn text_of(record: &Record) -> Fingerprint {
    let file = record.source.origin_file.as_deref().unwrap_or_default();
    fingerprint(&[file.as_bytes(), record.content.as_bytes()])
}

fn heading_of(record: &Record) -> Option<Fingerprint> {
    Some(fingerprint(&[RawPlace::of(record).heading.as_str()?.as_bytes()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anemone_format::{AgentInfo, Opaque};

    fn record(section: &str, heading: &str, text: &str, at: &str) -> Record {
        let agent = "9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap();
        let id = crate::openclaw::NAMESPACES.record("MEMORY.md", section);
        let mut record = Record::new(id, agent, "openclaw", at.parse().unwrap(), text);
        record.source.origin_file = Some("MEMORY.md".to_owned());
        record.temporal.updated_at = Some(at.parse().unwrap());
        record.raw_source_format =
            Some(Opaque::new(&serde_json::json!({ "heading": heading })).unwrap());
        record
    }

    fn earlier(records: &[Record]) -> PreviousSnapshot {
        let agent = AgentInfo::new(records[0].agent_id, "Clawdia", "openclaw");
        let manifest = Manifest::new(agent, "2026-01-02T00:00:00Z".parse().unwrap());
        let mut earlier = PreviousSnapshot::new(manifest, Vec::new());
        records.iter().for_each(|record| earlier.add_record(record));
        earlier
    }

    const OLD: &str = "2026-01-01T00:00:00Z";
    const NEW: &str = "2026-02-01T00:00:00Z";

    fn times(record: &Record) -> (&str, &str) {
        let updated = record.temporal.updated_at.as_ref().unwrap();
        (record.temporal.created_at.as_str(), updated.as_str())
    }

    #[test]
    fn a_touched_record_keeps_its_times() {
        let mut now = record("0", "Tea", "## Tea\n", NEW);
        earlier(&[record("0", "Tea", "## Tea\n", OLD)]).carry_times(&mut now);
        assert_eq!(times(&now), (OLD, OLD));
    }

    #[test]
    fn a_record_that_named_the_version_of_its_runtime_still_does() {
        let mut past = record("0", "Tea", "## Tea\n", OLD);
        past.source.runtime_version = Some("2026.3.13".to_owned());
        let earlier = earlier(&[past.clone()]);
        let mut now = record("0", "Tea", "## Tea\n", OLD);
        earlier.carry_times(&mut now);
        assert_eq!(now, past);
        let mut edited = record("0", "Tea", "## Tea\nOolong.\n", NEW);
        earlier.carry_times(&mut edited);
        assert_eq!(edited.source.runtime_version, None);
    }

    #[test]
    fn a_moved_text_keeps_its_times_and_the_one_in_its_place_is_new() {
        let earlier = earlier(&[record("0", "Tea", "## Tea\n", OLD)]);
        let mut first = record("0", "Rain", "## Rain\n", NEW);
        let mut second = record("1", "Tea", "## Tea\n", NEW);
        earlier.carry_times(&mut first);
        earlier.carry_times(&mut second);
        assert_eq!((times(&first), times(&second)), ((NEW, NEW), (OLD, OLD)));
    }

    #[test]
    fn a_time_that_the_text_states_is_believed() {
        let stated = "2025-12-20T10:30:00Z";
        let mut now = record("0", "Tea", "## Tea\n", NEW);
        now.temporal.created_at = stated.parse().unwrap();
        earlier(&[record("0", "Tea", "## Tea\n", OLD)]).carry_times(&mut now);
        assert_eq!(times(&now), (stated, OLD));
    }

    #[test]
    fn an_appointment_that_has_passed_does_not_become_the_time_of_its_text() {
        let mut now = record("0", "Tea", "## Tea\n", NEW);
        now.temporal.created_at = "2026-01-20T10:30:00Z".parse().unwrap();
        earlier(&[record("0", "Tea", "## Tea\n", OLD)]).carry_times(&mut now);
        assert_eq!(times(&now), (OLD, OLD));
    }

    #[test]
    fn an_edited_section_is_as_old_as_it_was() {
        let mut now = record("0", "Tea", "## Tea\nOolong.\n", NEW);
        earlier(&[record("0", "Tea", "## Tea\n", OLD)]).carry_times(&mut now);
        assert_eq!(times(&now), (OLD, NEW));
    }
}
