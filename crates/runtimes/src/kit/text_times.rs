//! The times that texts had in earlier readings of an agent, by file and text.
//!
//! A file that was only touched keeps its times; a section that moved within its file keeps the
//! times of its text; an edited section keeps the time of its creation.
//!
//! A file has one time for all of its sections. Without an earlier reading, a change in one section
//! would therefore change the times of its neighbours. [`TextTimes`] is what a reading looks times
//! up in: it is filled from the records of an earlier archive, or from [`NotedTimes`], the note
//! that a reading leaves for the next one.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anemone_format::{Moment, Record, RecordId};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::kit::RawPlace;

/// Enough of a SHA-256 to tell texts of one agent apart.
type Fingerprint = u64;

/// The times of texts that were read earlier.
#[derive(Debug, Default)]
pub struct TextTimes {
    sections: HashMap<RecordId, KnownSection>,
    /// By file and text.
    texts: HashMap<Fingerprint, Arc<KnownTimes>>,
}

#[derive(Debug)]
struct KnownSection {
    text: Fingerprint,
    heading: Option<Fingerprint>,
    times: Arc<KnownTimes>,
}

#[derive(Debug)]
struct KnownTimes {
    /// `None` if the text itself states it.
    created_at: Option<Moment>,
    updated_at: Option<Moment>,
    /// `None` if only times are known.
    versions: Option<KnownVersions>,
}

#[derive(Debug)]
struct KnownVersions {
    /// The identity that the agent had when it wrote the text.
    identity: Option<u64>,
    /// The version that the runtime had when the text was first read.
    runtime: Option<String>,
}

/// Where the creation time of a record comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CreationTime {
    /// The text or the name of its file states it.
    Stated,
    /// It is that of the file, now or when the text was first read.
    OfFile,
}

impl TextTimes {
    /// Adds a record of an earlier archive.
    pub fn add_record(&mut self, record: &Record) {
        let text = text_of(record);
        let times = Arc::new(KnownTimes {
            created_at: Some(record.temporal.created_at.clone()),
            updated_at: record.temporal.updated_at.clone(),
            versions: Some(KnownVersions {
                identity: record.source.identity_version,
                runtime: record.source.runtime_version.clone(),
            }),
        });
        self.texts.entry(text).or_insert_with(|| Arc::clone(&times));
        let section = KnownSection { text, heading: heading_of(record), times };
        self.sections.insert(record.id, section);
    }

    fn of_text(&self, id: RecordId, text: Fingerprint) -> Option<&KnownTimes> {
        let same = self.sections.get(&id).filter(|section| section.text == text);
        same.map(|section| &section.times).or_else(|| self.texts.get(&text)).map(|times| &**times)
    }

    /// Returns when the section was created that has been edited since: it has the same heading in
    /// the same place.
    fn created_under(&self, id: RecordId, heading: Fingerprint) -> Option<&Moment> {
        let section = self.sections.get(&id).filter(|section| section.heading == Some(heading))?;
        section.times.created_at.as_ref()
    }
}

/// A record whose times are final.
pub(crate) struct TimedRecord<'a> {
    record: &'a Record,
    text: Fingerprint,
    creation: CreationTime,
}

/// Gives a record the times and versions that its text had earlier; the first of `known` that knows
/// the text decides.
pub(crate) fn carry_times<'a, 'r>(
    known: impl Iterator<Item = &'a TextTimes> + Clone,
    record: &'r mut Record,
) -> TimedRecord<'r> {
    let text = text_of(record);
    // A time that the text or the name states takes precedence; only a file's time gives way to the
    // earlier one. What the text already stated when it lay ahead was an appointment, and stays
    // one.
    let mut is_of_file = record.temporal.updated_at.as_ref() == Some(&record.temporal.created_at);
    if let Some(times) = known.clone().find_map(|known| known.of_text(record.id, text)) {
        let known_since = times.updated_at.as_ref().or(times.created_at.as_ref());
        is_of_file |=
            known_since.is_some_and(|known| record.temporal.created_at.instant() > known.instant());
        record.temporal.updated_at.clone_from(&times.updated_at);
        if let Some(versions) = &times.versions {
            record.source.identity_version = versions.identity;
            record.source.runtime_version.clone_from(&versions.runtime);
        }
        if let Some(created_at) = times.created_at.as_ref().filter(|_| is_of_file) {
            record.temporal.created_at = created_at.clone();
        }
    } else if is_of_file
        && let Some(heading) = heading_of(record)
        && let Some(created_at) =
            { known }.find_map(|known| known.created_under(record.id, heading))
    {
        record.temporal.created_at = created_at.clone();
    }
    let creation = if is_of_file { CreationTime::OfFile } else { CreationTime::Stated };
    TimedRecord { record, text, creation }
}

/// The times of the texts of an agent's files, for the next reading. It has digests of the texts,
/// and grows with their number only, because each reading makes a new one.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedTimes {
    files: BTreeMap<String, Vec<TextGroup>>,
}

/// Texts of one file that have the same times.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct TextGroup {
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<Moment>,
    updated_at: Moment,
    /// Texts that state when they were created.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    stated: Vec<Fingerprint>,
    /// Texts that do not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sections: Vec<NotedSection>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct NotedSection {
    id: RecordId,
    text: Fingerprint,
    #[serde(skip_serializing_if = "Option::is_none")]
    heading: Option<Fingerprint>,
}

impl NotedTimes {
    /// Texts in a note, at most. A note of so many has some megabytes.
    const MAX_TEXTS: usize = 250_000;

    /// Returns the times, to look them up.
    #[must_use]
    pub fn times(&self) -> TextTimes {
        let mut times = TextTimes::default();
        for group in self.files.values().flatten() {
            let known = Arc::new(KnownTimes {
                created_at: group.created_at.clone(),
                updated_at: Some(group.updated_at.clone()),
                versions: None,
            });
            for text in &group.stated {
                times.texts.entry(*text).or_insert_with(|| Arc::clone(&known));
            }
            for NotedSection { id, text, heading } in &group.sections {
                times.texts.entry(*text).or_insert_with(|| Arc::clone(&known));
                let section =
                    KnownSection { text: *text, heading: *heading, times: Arc::clone(&known) };
                times.sections.entry(*id).or_insert(section);
            }
        }
        times
    }

    /// Notes a record of a text file, as it was read.
    pub(crate) fn add(&mut self, timed: &TimedRecord<'_>) {
        let TimedRecord { record, text, creation } = *timed;
        let Some(file) = record.source.origin_file.as_deref() else { return };
        let Some(updated_at) = &record.temporal.updated_at else { return };
        let created_at = match creation {
            CreationTime::Stated => None,
            CreationTime::OfFile => Some(&record.temporal.created_at),
        };
        if !self.files.contains_key(file) {
            self.files.insert(file.to_owned(), Vec::new());
        }
        let Some(groups) = self.files.get_mut(file) else { return };
        let has_times = |group: &TextGroup| {
            group.created_at.as_ref() == created_at && group.updated_at == *updated_at
        };
        let at = groups.iter().rposition(has_times).unwrap_or_else(|| {
            groups.push(TextGroup {
                created_at: created_at.cloned(),
                updated_at: updated_at.clone(),
                stated: Vec::new(),
                sections: Vec::new(),
            });
            groups.len() - 1
        });
        match creation {
            CreationTime::Stated => groups[at].stated.push(text),
            CreationTime::OfFile => {
                let heading = heading_of(record);
                groups[at].sections.push(NotedSection { id: record.id, text, heading });
            }
        }
    }

    /// Notes a record that was restored into a text file. Whether its text states a time is not
    /// known before it is read there; if it does, that takes precedence then as always.
    pub fn add_restored(&mut self, record: &Record) {
        if RawPlace::of(record).line_start.is_u64() {
            let text = text_of(record);
            self.add(&TimedRecord { record, text, creation: CreationTime::OfFile });
        }
    }

    /// Whether texts of a file are noted.
    #[must_use]
    pub fn has_file(&self, file: &str) -> bool {
        self.files.contains_key(file)
    }

    /// Adds what an earlier note says about the files that `keeps` accepts. Where both know a text,
    /// this note decides.
    pub fn add_earlier(&mut self, earlier: Self, mut keeps: impl FnMut(&Self, &str) -> bool) {
        for (file, groups) in earlier.files {
            if keeps(self, &file) {
                self.files.entry(file).or_default().extend(groups);
            }
        }
    }

    /// Drops what is too much for one note: first texts that state when they were created, because
    /// only the times of their changes are lost.
    #[must_use]
    pub fn bounded(self) -> Self {
        self.bounded_to(Self::MAX_TEXTS)
    }

    fn bounded_to(mut self, max: usize) -> Self {
        let groups = || self.files.values().flatten();
        let stated: usize = groups().map(|group| group.stated.len()).sum();
        let sections: usize = groups().map(|group| group.sections.len()).sum();
        if stated + sections <= max {
            return self;
        }
        let mut room = max;
        for groups in self.files.values_mut() {
            for group in groups.iter_mut() {
                group.stated.clear();
                group.sections.truncate(room);
                room -= group.sections.len();
            }
            groups.retain(|group| !group.sections.is_empty());
        }
        self.files.retain(|_, groups| !groups.is_empty());
        self
    }
}

fn fingerprint(parts: &[&[u8]]) -> Fingerprint {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let digest = hasher.finalize();
    let mut fingerprint = [0; 8];
    fingerprint.copy_from_slice(&digest[..8]);
    Fingerprint::from_le_bytes(fingerprint)
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
    use anemone_format::Opaque;

    fn record(section: &str, heading: &str, text: &str, at: &str) -> Record {
        let agent = "9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap();
        let id = crate::openclaw::NAMESPACES.record("MEMORY.md", section);
        let mut record = Record::new(id, agent, "openclaw", at.parse().unwrap(), text);
        record.source.origin_file = Some("MEMORY.md".to_owned());
        record.temporal.updated_at = Some(at.parse().unwrap());
        record.raw_source_format =
            Some(Opaque::new(&serde_json::json!({ "heading": heading, "line_start": 1 })).unwrap());
        record
    }

    /// Returns an earlier archive with these records, and a note of a reading that found them.
    fn known(records: &[Record]) -> [TextTimes; 2] {
        let mut archive = TextTimes::default();
        records.iter().for_each(|record| archive.add_record(record));
        [archive, noted(records).times()]
    }

    /// Returns the note of a reading that found these records, as it is read from its file.
    fn noted(records: &[Record]) -> NotedTimes {
        let mut noted = NotedTimes::default();
        for record in records {
            noted.add(&carry_times(std::iter::empty(), &mut record.clone()));
        }
        serde_json::from_slice(&serde_json::to_vec(&noted).unwrap()).unwrap()
    }

    fn carried(known: &TextTimes, mut record: Record) -> Record {
        carry_times([known].into_iter(), &mut record);
        record
    }

    const OLD: &str = "2026-01-01T00:00:00Z";
    const NEW: &str = "2026-02-01T00:00:00Z";

    fn times(record: &Record) -> (&str, &str) {
        let updated = record.temporal.updated_at.as_ref().unwrap();
        (record.temporal.created_at.as_str(), updated.as_str())
    }

    fn tea(at: &str) -> Record {
        record("0", "Tea", "## Tea\n", at)
    }

    #[test]
    fn a_touched_record_keeps_its_times() {
        for known in known(&[tea(OLD)]) {
            assert_eq!(times(&carried(&known, tea(NEW))), (OLD, OLD));
        }
    }

    #[test]
    fn a_record_that_named_the_version_of_its_runtime_still_does() {
        let mut past = tea(OLD);
        past.source.runtime_version = Some("2026.3.13".to_owned());
        let [archive, noted] = known(std::slice::from_ref(&past));
        assert_eq!(carried(&archive, tea(OLD)), past);
        let edited = record("0", "Tea", "## Tea\nOolong.\n", NEW);
        assert_eq!(carried(&archive, edited).source.runtime_version, None);
        // A note has times only.
        let mut now = tea(OLD);
        now.source.runtime_version = Some("2026.4.1".to_owned());
        assert_eq!(carried(&noted, now.clone()), now);
    }

    #[test]
    fn a_moved_text_keeps_its_times_and_the_one_in_its_place_is_new() {
        for known in known(&[tea(OLD)]) {
            let first = carried(&known, record("0", "Rain", "## Rain\n", NEW));
            let second = carried(&known, record("1", "Tea", "## Tea\n", NEW));
            assert_eq!((times(&first), times(&second)), ((NEW, NEW), (OLD, OLD)));
        }
    }

    #[test]
    fn a_text_in_another_file_is_new() {
        for known in known(&[tea(OLD)]) {
            let mut other = tea(NEW);
            other.id = crate::openclaw::NAMESPACES.record("projects/tea.md", "0");
            other.source.origin_file = Some("projects/tea.md".to_owned());
            assert_eq!(times(&carried(&known, other)), (NEW, NEW));
        }
    }

    #[test]
    fn a_time_that_the_text_states_is_believed() {
        let stated = "2025-12-20T10:30:00Z";
        let mut now = tea(NEW);
        now.temporal.created_at = stated.parse().unwrap();
        for known in known(&[tea(OLD)]) {
            assert_eq!(times(&carried(&known, now.clone())), (stated, OLD));
        }
        let mut past = now.clone();
        past.temporal.updated_at = Some(OLD.parse().unwrap());
        for known in known(&[past]) {
            assert_eq!(times(&carried(&known, now.clone())), (stated, OLD));
        }
    }

    #[test]
    fn an_appointment_that_has_passed_does_not_become_the_time_of_its_text() {
        let mut now = tea(NEW);
        now.temporal.created_at = "2026-01-20T10:30:00Z".parse().unwrap();
        for known in known(&[tea(OLD)]) {
            assert_eq!(times(&carried(&known, now.clone())), (OLD, OLD));
        }
    }

    #[test]
    fn an_edited_section_is_as_old_as_it_was() {
        let now = record("0", "Tea", "## Tea\nOolong.\n", NEW);
        for known in known(&[tea(OLD)]) {
            assert_eq!(times(&carried(&known, now.clone())), (OLD, NEW));
        }
    }

    #[test]
    fn an_earlier_archive_takes_precedence_over_a_note() {
        const OLDEST: &str = "2025-06-01T00:00:00Z";
        let [archive, _] = known(&[tea(OLDEST)]);
        let rain = record("1", "Rain", "## Rain\n", OLD);
        let [_, noted] = known(&[tea(OLD), rain]);
        let both = || [&archive, &noted].into_iter();
        let (mut first, mut second) = (tea(NEW), record("1", "Rain", "## Rain\n", NEW));
        carry_times(both(), &mut first);
        carry_times(both(), &mut second);
        assert_eq!((times(&first), times(&second)), ((OLDEST, OLDEST), (OLD, OLD)));
    }

    #[test]
    fn what_is_restored_takes_precedence_and_unread_files_stay_noted() {
        let mut restored = NotedTimes::default();
        restored.add_restored(&tea(OLD));
        restored
            .add_earlier(noted(&[tea(NEW), record("1", "Rain", "## Rain\n", NEW)]), |_, _| true);
        let known = restored.times();
        let now = "2026-03-01T00:00:00Z";
        assert_eq!(times(&carried(&known, tea(now))), (OLD, OLD));
        let rain = record("1", "Rain", "## Rain\n", now);
        assert_eq!(times(&carried(&known, rain)), (NEW, NEW));

        let mut read = noted(&[tea(OLD)]);
        read.add_earlier(restored, |read, file| !read.has_file(file));
        assert_eq!(read, noted(&[tea(OLD)]));
        let mut read = NotedTimes::default();
        read.add_earlier(noted(&[tea(OLD)]), |read, file| !read.has_file(file));
        assert_eq!(read, noted(&[tea(OLD)]));
    }

    #[test]
    fn a_note_is_bounded_and_keeps_what_no_text_states() {
        let stated = |number: usize| {
            let text = format!("## 9:0{number}\n");
            let mut stated = record(&number.to_string(), "9:00", &text, NEW);
            stated.temporal.created_at = OLD.parse().unwrap();
            stated
        };
        let records = [stated(1), tea(OLD), stated(2), record("3", "Rain", "## Rain\n", NEW)];
        assert_eq!(noted(&records).bounded_to(4), noted(&records));
        let [_, tea, _, rain] = records.clone();
        assert_eq!(noted(&records).bounded_to(3), noted(&[tea.clone(), rain]));
        assert_eq!(noted(&records).bounded_to(1), noted(&[tea]));
        assert_eq!(noted(&records).bounded_to(0), NotedTimes::default());
    }
}
