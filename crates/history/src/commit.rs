//! A commit: one state of an agent.
//!
//! A commit is a line of JSON, and its id is the SHA-256 of its bytes. It names the digest of its
//! snapshot, and not how the snapshot is stored: that may change without changing any id.

use std::fmt;
use std::str::FromStr;

use anemone_format::{AgentId, Hex, Moment};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::digest::SnapshotDigest;

/// The most bytes that a commit may have.
pub const MAX_COMMIT_BYTES: u64 = 1 << 20;
/// The version of a commit's shape.
const VERSION: u64 = 1;

/// Names a commit: the SHA-256 of its bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId([u8; 32]);

/// A text that is not the id of a commit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the id of a commit: 64 hexadecimal digits in lower case")]
pub struct ParseCommitIdError(String);

impl CommitId {
    /// Returns the id of the commit with these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the first 12 digits, which name a commit for people.
    #[must_use]
    pub fn short(&self) -> String {
        Hex(&self.0[..6]).to_string()
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

impl fmt::Debug for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommitId({})", self.short())
    }
}

impl FromStr for CommitId {
    type Err = ParseCommitIdError;

    fn from_str(text: &str) -> Result<Self, ParseCommitIdError> {
        let error = || ParseCommitIdError(text.chars().take(80).collect());
        parse_digest(text).map(Self).ok_or_else(error)
    }
}

/// Reads 64 hexadecimal digits in lower case.
pub(crate) fn parse_digest(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    let is_digest = digits.len() == 64
        && digits.iter().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(digit));
    let mut bytes = [0; 32];
    for (byte, at) in bytes.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2).filter(|_| is_digest)?, 16).ok()?;
    }
    Some(bytes)
}

impl Serialize for CommitId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CommitId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Names a device: one machine's copy of Anemone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeviceId(Uuid);

impl DeviceId {
    /// Takes a UUID as the id of a device.
    #[must_use]
    pub const fn new(uuid: Uuid) -> Self {
        Self(uuid)
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The device that made a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Its id.
    pub id: DeviceId,
    /// What people call it.
    pub name: String,
}

/// Whose state a commit is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitAgent {
    /// The agent's id.
    pub id: AgentId,
    /// What it was called.
    pub name: String,
    /// The runtime that it was in.
    pub runtime: String,
}

/// One state of an agent in its history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// The version of this shape; 1.
    pub version: u64,
    /// Whose state it is.
    pub agent: CommitAgent,
    /// The commits that it follows; sorted where there are several.
    pub parents: Vec<CommitId>,
    /// Who made it; a merge is made by nobody, so that every device makes the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// When it was made, by the clock of the device.
    pub time: Moment,
    /// What the user or the program says of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Names that the user gave it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The digest of its snapshot.
    pub snapshot: SnapshotDigest,
    /// How much there is.
    pub counts: SnapshotCounts,
    /// What changed since the first parent; without parents, everything is new.
    pub changes: ChangeCounts,
}

/// How much a snapshot holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotCounts {
    /// Records.
    pub records: u64,
    /// Files that it carries.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// How much changed since another snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeCounts {
    /// Records.
    pub records: RecordChanges,
    /// Files that are new.
    pub files_added: u64,
    /// Files that are different.
    pub files_changed: u64,
    /// Files that are gone.
    pub files_removed: u64,
    /// Layers that are different: `identity`, `principals`, `credentials`, `attachments`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<String>,
}

/// How many records changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordChanges {
    /// New ones.
    pub created: u64,
    /// Different ones.
    pub updated: u64,
    /// Records that are gone.
    pub deleted: u64,
}

/// Why bytes are no commit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParseCommitError {
    /// They do not have the shape of one.
    #[error("it does not have the shape of a commit")]
    Shape(#[from] serde_json::Error),
    /// It was written by a newer program.
    #[error("it has version {0}, which this program does not know")]
    Version(u64),
}

impl Commit {
    /// Starts a commit of the present version without parents, device and message.
    #[must_use]
    pub fn new(agent: CommitAgent, time: Moment, snapshot: SnapshotDigest) -> Self {
        Self {
            version: VERSION,
            agent,
            parents: Vec::new(),
            device: None,
            time,
            message: None,
            tags: Vec::new(),
            snapshot,
            counts: SnapshotCounts::default(),
            changes: ChangeCounts::default(),
        }
    }

    /// Returns the bytes of the commit; their digest is its id.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("a commit has only text keys");
        bytes.push(b'\n');
        bytes
    }

    /// Reads a commit. Fields that this version does not know are ignored; they are in the bytes,
    /// and so in the id.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseCommitError> {
        let commit: Self = serde_json::from_slice(bytes)?;
        if commit.version != VERSION {
            return Err(ParseCommitError::Version(commit.version));
        }
        Ok(commit)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn commit(message: &str, time: &str, parents: &[CommitId]) -> Commit {
        let agent = CommitAgent {
            id: "9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap(),
            name: "Clawdia".to_owned(),
            runtime: "openclaw".to_owned(),
        };
        let mut commit = Commit::new(agent, time.parse().unwrap(), SnapshotDigest::new([7; 32]));
        commit.parents = parents.to_vec();
        commit.message = Some(message.to_owned());
        commit
    }

    /// Do not change this expectation: ids of commits in existing stores depend on it.
    #[test]
    fn the_bytes_of_a_commit_are_a_promise() {
        let mut commit = commit("first", "2026-03-01T10:00:00Z", &[CommitId([1; 32])]);
        let id = DeviceId::new("0190a5b2-7c11-7d3e-9f00-1c2d3e4f5a6b".parse().unwrap());
        commit.device = Some(Device { id, name: "laptop".to_owned() });
        commit.counts = SnapshotCounts { records: 3, files: 2, bytes: 100 };
        commit.changes.records.created = 3;
        commit.changes.layers.push("identity".to_owned());
        let expected = concat!(
            r#"{"version":1,"agent":{"id":"9e373c1e-cab7-5eea-90c3-8f3d09ac5755","#,
            r#""name":"Clawdia","runtime":"openclaw"},"#,
            r#""parents":["0101010101010101010101010101010101010101010101010101010101010101"],"#,
            r#""device":{"id":"0190a5b2-7c11-7d3e-9f00-1c2d3e4f5a6b","name":"laptop"},"#,
            r#""time":"2026-03-01T10:00:00Z","message":"first","#,
            r#""snapshot":"0707070707070707070707070707070707070707070707070707070707070707","#,
            r#""counts":{"records":3,"files":2,"bytes":100},"#,
            r#""changes":{"records":{"created":3,"updated":0,"deleted":0},"files_added":0,"#,
            r#""files_changed":0,"files_removed":0,"layers":["identity"]}}"#,
            "\n"
        );
        assert_eq!(String::from_utf8(commit.to_bytes()).unwrap(), expected);
        assert_eq!(Commit::parse(expected.as_bytes()).unwrap(), commit);
    }

    #[test]
    fn a_commit_of_a_newer_program_is_named_as_such() {
        let text = String::from_utf8(commit("", "2026-03-01T10:00:00Z", &[]).to_bytes()).unwrap();
        let newer = text.replace(r#""version":1"#, r#""version":2"#);
        assert!(matches!(Commit::parse(newer.as_bytes()), Err(ParseCommitError::Version(2))));
        let extended = text.replace(r#""version":1"#, r#""version":1,"mood":"fine""#);
        assert!(Commit::parse(extended.as_bytes()).is_ok());
        assert_ne!(CommitId::of(extended.as_bytes()), CommitId::of(text.as_bytes()));
    }

    #[test]
    fn only_64_digits_in_lower_case_are_an_id() {
        let text = "0a".repeat(32);
        assert_eq!(text.parse::<CommitId>().unwrap().to_string(), text);
        for odd in
            ["", "0a", &text.to_uppercase(), &"0g".repeat(32), &"+1".repeat(32), &"ä".repeat(32)]
        {
            assert!(odd.parse::<CommitId>().is_err(), "{odd}");
        }
    }
}
