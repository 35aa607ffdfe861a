//! Checks records, line by line.

use std::collections::{HashMap, HashSet};

use super::{FindingKind, Findings, shape};
use crate::archive::read::Entries;
use crate::entry_path;
use crate::id::{AgentId, RecordId};
use crate::json::ReadJsonError;
use crate::record::Record;

/// Visits the lines of an entry, counting its bytes; `None` is a line that is too long, which has
/// been reported. Returns `false` for an entry that cannot be read at all.
pub(super) fn each_line(
    entries: &Entries,
    entry: &str,
    findings: &mut Findings,
    mut each: impl FnMut(Option<(u64, &[u8])>, &mut Findings),
) -> bool {
    let mut lines = match entries.lines(entry) {
        Ok(lines) => lines,
        Err(error) => {
            findings.unreadable(entry, &error.source);
            return false;
        }
    };
    findings.count(entries.container.get(entry).map_or(0, |entry| entry.size));
    loop {
        match lines.next() {
            Ok(None) => return true,
            Ok(line) => each(line, findings),
            Err(error) => {
                findings.unreadable(format!("{entry}:{}", lines.number()), &error);
                // After damaged bytes nothing can be read; after a long line, reading continues.
                if matches!(error, ReadJsonError::Io(_)) {
                    return true;
                }
                each(None, findings);
            }
        }
    }
}

/// What must be remembered about the records to check them against each other.
pub(super) struct Records {
    agent: AgentId,
    ids: HashSet<RecordId>,
    /// References, with the place of the first one to each.
    references: HashMap<RecordId, String>,
    other_ids: u64,
}

/// References beyond this many are not remembered.
const MAX_REFERENCES: usize = 1_000_000;

impl Records {
    pub(super) fn new(agent: AgentId) -> Self {
        Self { agent, ids: HashSet::new(), references: HashMap::new(), other_ids: 0 }
    }

    /// Checks one line; returns the record when it has the shape of one.
    pub(super) fn check(
        &mut self,
        entry: &str,
        number: u64,
        line: &[u8],
        findings: &mut Findings,
    ) -> Option<Record> {
        let at = |pointer: &str| format!("{entry}:{number}{pointer}");
        let record = shape::parse_record(&at(""), line, findings)?;
        findings.survey("memory-record", &record);
        check_ranges(&record, &at, findings);
        if record.agent_id != self.agent {
            findings.error(
                FindingKind::ForeignAgent,
                at("#/agent_id"),
                format!("the record is of agent {}, not {}", record.agent_id, self.agent),
            );
        }
        if !self.ids.insert(record.id) {
            let message = format!("a second record has the id {}", record.id);
            findings.error(FindingKind::DuplicateId, at("#/id"), message);
        }
        // Version 7 is the official schema's; 5 is derived from a path, 4 is a database row's.
        if !matches!(record.id.uuid().get_version_num(), 4 | 5 | 7) {
            self.other_ids += 1;
        }
        if let Some(file) = &record.source.origin_file
            && let Err(fault) = entry_path::spell(file.as_bytes())
        {
            findings.refusal = Some(crate::archive::read::Refusal::Unsafe);
            let message = format!("the path {file:?} {fault}");
            findings.error(FindingKind::UnsafePath, at("#/source/origin_file"), message);
        }
        let related = record.related_records.iter().enumerate();
        let references =
            record.supersedes.iter().map(|id| (*id, "#/supersedes".to_owned())).chain(
                related.map(|(n, related)| (related.id, format!("#/related_records/{n}/id"))),
            );
        for (id, pointer) in references {
            if self.references.len() < MAX_REFERENCES {
                self.references.entry(id).or_insert_with(|| at(&pointer));
            }
        }
        Some(record)
    }

    pub(super) fn contains(&self, id: RecordId) -> bool {
        self.ids.contains(&id)
    }

    /// Reports problems that only show when all records have been read.
    pub(super) fn finish(self, findings: &mut Findings) {
        let mut dangling: Vec<_> =
            self.references.into_iter().filter(|(id, _)| !self.ids.contains(id)).collect();
        dangling.sort_by(|a, b| a.1.cmp(&b.1));
        for (id, path) in dangling {
            findings.warning(FindingKind::Dangling, path, format!("no record has the id {id}"));
        }
        if self.other_ids > 0 {
            let message =
                format!("records whose id is not a UUID of version 4, 5 or 7: {}", self.other_ids);
            findings.note(FindingKind::IdVersion, "memory", message);
        }
    }
}

/// Checks conditions that the types cannot express.
fn check_ranges(record: &Record, at: &impl Fn(&str) -> String, findings: &mut Findings) {
    if record.content.is_empty() {
        findings.error(FindingKind::Schema, at("#/content"), "the content is empty");
    }
    if record.confidence.is_some_and(|confidence| !(0.0..=1.0).contains(&confidence)) {
        findings.error(
            FindingKind::Schema,
            at("#/confidence"),
            "the confidence is not between 0 and 1",
        );
    }
    if record.source.identity_version == Some(0) {
        findings.error(FindingKind::Schema, at("#/source/identity_version"), "versions start at 1");
    }
    for (n, embedding) in record.embeddings.iter().enumerate() {
        if embedding.dimensions == 0 || embedding.dimensions != embedding.vector.len() as u64 {
            let message = format!(
                "the vector has {} numbers, the dimensions say {}",
                embedding.vector.len(),
                embedding.dimensions
            );
            findings.error(FindingKind::Schema, at(&format!("#/embeddings/{n}/vector")), message);
        }
        if embedding.vector.iter().any(|number| !number.is_finite()) {
            let message = "the vector has a number that does not fit 32 bits";
            findings.error(FindingKind::Schema, at(&format!("#/embeddings/{n}/vector")), message);
        }
    }
}
