//! Artifacts: files of the workspace that the runtime does not manage.
//!
//! Markdown and files up to a threshold are exported, larger ones are only listed. The attachments
//! describe each artifact and list the records that mention it.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, MatchKind};
use anemone_format::{
    AgentId, Attachment, Attachments, ContentHash, Nullable, Record, RecordId, Unknown,
};

use crate::kit::{FoundEntry, ids, is_markdown};

/// Names shorter than this are too common to be taken for a mention.
const MIN_NAME_BYTES: usize = 5;

/// Returns whether an artifact travels: Markdown of any size, and other files up to the threshold.
pub(crate) fn is_included(found: &FoundEntry, threshold: u64) -> bool {
    let name = &found.path;
    let is_markdown = is_markdown(name);
    is_markdown || found.size() <= threshold
}

/// One artifact, as it was read.
pub(crate) struct Artifact {
    /// Its path in the workspace, as [`crate::kit::paths::spelled`].
    pub(crate) path: String,
    /// Its size.
    pub(crate) size: u64,
    /// Its SHA-256 in lower-case hexadecimal.
    pub(crate) sha256: String,
    /// Its path in the archive, when it travels.
    pub(crate) archive_path: Option<String>,
}

/// Finds out which records mention which artifacts.
pub(crate) struct Mentions {
    /// `None` when there is nothing to look for.
    names: Option<AhoCorasick>,
    /// The artifact that each pattern finds.
    artifacts: Vec<usize>,
    /// By path, because an artifact that cannot be read is found and not carried.
    mentioned_by: Vec<(String, Vec<RecordId>)>,
}

impl Mentions {
    /// Looks for these paths, and for file names that only one of them has.
    pub(crate) fn new(paths: &[String]) -> Self {
        let name_of = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let mut owners: HashMap<String, usize> = HashMap::new();
        for path in paths {
            *owners.entry(name_of(path)).or_default() += 1;
        }
        let (mut patterns, mut artifacts) = (Vec::new(), Vec::new());
        for (at, path) in paths.iter().enumerate() {
            let name = name_of(path);
            let telling =
                name.len() >= MIN_NAME_BYTES && name.trim_start_matches('.').contains('.');
            if telling && owners[&name] == 1 {
                // The path ends in the name, so that the name finds both.
                patterns.push(name);
                artifacts.push(at);
            } else if path.len() >= MIN_NAME_BYTES && path.contains('/') {
                patterns.push(path.clone());
                artifacts.push(at);
            }
        }
        let build =
            || AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&patterns).ok();
        let names = if patterns.is_empty() { None } else { build() };
        let mentioned_by = paths.iter().map(|path| (path.clone(), Vec::new())).collect();
        Self { names, artifacts, mentioned_by }
    }

    /// Notes what a record mentions.
    pub(crate) fn read(&mut self, record: &Record) {
        let Some(names) = &self.names else { return };
        let text = record.content.as_bytes();
        for found in names.find_iter(text) {
            let before = found.start().checked_sub(1).map(|at| text[at]);
            let after = text.get(found.end()).copied();
            if before.is_some_and(goes_on) || after.is_some_and(goes_on) {
                continue;
            }
            let (_, list) = &mut self.mentioned_by[self.artifacts[found.pattern().as_usize()]];
            if list.last() != Some(&record.id) {
                list.push(record.id);
            }
        }
    }

    /// Makes the attachments layer; artifacts in the order of the paths.
    pub(crate) fn attachments(
        self,
        agent: AgentId,
        threshold: u64,
        artifacts: Vec<Artifact>,
    ) -> Attachments {
        let mut mentioned_by: HashMap<String, Vec<RecordId>> =
            self.mentioned_by.into_iter().collect();
        let attachments = artifacts
            .into_iter()
            .map(|artifact| {
                let mut referenced_by = mentioned_by.remove(&artifact.path).unwrap_or_default();
                referenced_by.sort_unstable();
                referenced_by.dedup();
                attachment(agent, artifact, referenced_by)
            })
            .collect();
        Attachments {
            artifact_size_threshold: Some(threshold),
            attachments,
            unknown: Unknown::default(),
        }
    }
}

/// Whether a byte next to a name makes it part of a longer one. A full stop or a slash does not:
/// sentences end and paths begin.
fn goes_on(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn attachment(agent: AgentId, artifact: Artifact, referenced_by: Vec<RecordId>) -> Attachment {
    let filename = artifact.path.rsplit('/').next().unwrap_or_default().to_owned();
    let media_type = mime_guess::from_path(&filename).first_or_octet_stream().to_string();
    Attachment {
        id: ids::item(agent, &format!("attachment:{}", artifact.path)),
        filename,
        media_type,
        size_bytes: artifact.size,
        hash: ContentHash {
            algorithm: "sha256".to_owned(),
            value: artifact.sha256,
            unknown: Unknown::default(),
        },
        source_path: artifact.path,
        archive_path: Nullable(artifact.archive_path),
        remote_ref: Nullable(None),
        referenced_by,
        unknown: Unknown::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(text: &str) -> Record {
        let agent = "9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap();
        let id = RecordId::new(uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_URL, text.as_bytes()));
        Record::new(id, agent, "openclaw", "2026-01-15T00:00:00Z".parse().unwrap(), text)
    }

    fn mentioned(paths: &[&str], text: &str) -> Vec<bool> {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        let mut mentions = Mentions::new(&paths);
        mentions.read(&record(text));
        mentions.mentioned_by.iter().map(|(_, list)| !list.is_empty()).collect()
    }

    #[test]
    fn a_record_mentions_a_file_by_its_path_or_by_a_name_that_only_it_has() {
        let paths = ["artifacts/report.csv", "a/run.sh", "b/run.sh"];
        assert_eq!(mentioned(&paths, "see artifacts/report.csv."), [true, false, false]);
        assert_eq!(mentioned(&paths, "the report.csv, again"), [true, false, false]);
        assert_eq!(mentioned(&paths, "run.sh is ambiguous"), [false, false, false]);
        assert_eq!(mentioned(&paths, "`b/run.sh` is not"), [false, false, true]);
    }

    #[test]
    fn a_mention_stays_with_its_artifact_when_another_cannot_be_carried() {
        let paths = ["alpha.csv", "beta.csv", "gamma.csv"].map(str::to_owned);
        let mut mentions = Mentions::new(&paths);
        let naming = record("see beta.csv");
        mentions.read(&naming);
        let artifact = |path: &str| Artifact {
            path: path.to_owned(),
            size: 1,
            sha256: String::new(),
            archive_path: None,
        };
        let carried = vec![artifact("beta.csv"), artifact("gamma.csv")];
        let attachments = mentions.attachments(naming.agent_id, 1, carried).attachments;
        assert_eq!(attachments[0].referenced_by, [naming.id]);
        assert_eq!(attachments[1].referenced_by, []);
    }

    #[test]
    fn part_of_a_longer_name_is_not_a_mention() {
        assert_eq!(mentioned(&["artifacts/report.csv"], "my-report.csv report.csvx"), [false]);
    }
}
