//! Compares an agent before and after it moved: what the new runtime holds by itself, what is kept
//! in the sidecar, and what is missing.
//!
//! Pure functions over two snapshots. The announcements of the plan are handed in; everything else
//! that cannot be found is lost.

mod count;
mod current;
mod documents;
mod files;
mod memory;
mod natives;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use anemone_format::{RecordId, SnapshotSource, VaultKey};
use anemone_runtimes::mapping::Mapping;
use anemone_runtimes::{KeptSnapshot, LinkPart};
use serde::Serialize;

pub(crate) use self::documents::{DocumentPart, parts_of_identity};
use self::documents::{credentials, identity, principals};
use self::files::files;
use self::memory::memory;
pub(crate) use self::memory::name_of;

/// What a plan announced.
#[derive(Default)]
pub struct Expected<'a> {
    /// How the target's runtime represents snapshots.
    pub mapping: Option<&'static Mapping>,
    /// Files that will not be there as they were, by path.
    pub files: BTreeMap<Vec<u8>, Announced>,
    /// Entries of a database that stay as they are there.
    pub entries_kept: u64,
    /// Entries of a database that say the same, and stay as they are beside that.
    pub entries_same: u64,
    /// Records that the plan says it cannot write.
    pub unwritten: BTreeSet<RecordId>,
    /// What the plan says that records will be read back as; only a hint where to look.
    pub links: Option<&'a BTreeMap<RecordId, Vec<LinkPart>>>,
    /// Why files beside the workspace will be missing, by the name of their folder in `raw/`.
    pub beside: BTreeMap<&'static str, &'static str>,
    /// The current state of an agent that moves back to its former runtime.
    pub current: Option<Current<'a>>,
    /// Names of credentials that do not come along.
    pub credentials: BTreeSet<String>,
    /// Opens the secrets of both sides.
    pub vault_key: Option<&'a VaultKey>,
}

/// The state of an agent before it moves back. The moved snapshot is merged with it, so the proof
/// searches for it as well.
pub struct Current<'a> {
    /// The agent.
    pub source: &'a dyn SnapshotSource,
    /// Returns the record that a record of the agent was before it went away.
    pub origin_of: &'a dyn Fn(RecordId) -> Option<RecordId>,
}

/// Why a file will be missing or different.
pub struct Announced {
    /// Why.
    pub reason: &'static str,
    /// Whether the file is generated from records, so that announcing it does not excuse missing
    /// records.
    pub made: bool,
    /// Where it is instead.
    pub beside: Option<Vec<u8>>,
}

/// What came along, layer by layer.
#[derive(Clone, Debug, Serialize)]
pub struct Proof {
    /// The layers.
    pub layers: Vec<LayerProof>,
    /// Everything that is nowhere, though the plan did not say so.
    pub lost: Vec<Loss>,
}

/// What came along of one layer.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LayerProof {
    /// The layer.
    pub layer: &'static str,
    /// How many things it has.
    pub total: u64,
    /// The runtime has it, whole.
    pub carried: u64,
    /// The runtime has it, but for some fields.
    pub degraded: u64,
    /// Only the sidecar has it.
    pub kept_aside: u64,
    /// It is not there, as the plan said.
    pub not_carried: u64,
    /// It is nowhere, and the plan did not say so.
    pub lost: u64,
    /// How often each field is not in the runtime itself.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<&'static str, u64>,
    /// Why things are not there.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, u64>,
    /// The digest of the sorted digests of everything in the source.
    pub source_sha256: String,
    /// The same, of what was found; equal when nothing is missing.
    pub target_sha256: String,
}

/// Something that is nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// The layer.
    pub layer: &'static str,
    /// The thing.
    pub what: String,
    /// Why.
    pub reason: String,
}

/// The inputs of a proof.
#[derive(Clone, Copy)]
struct Evidence<'a> {
    /// What was moved.
    source: &'a dyn SnapshotSource,
    /// The target of the move.
    target: &'a dyn SnapshotSource,
    expected: &'a Expected<'a>,
    /// What the target keeps for the way back.
    sidecar: &'a KeptSnapshot,
}

/// Where something ended up.
#[derive(Debug, PartialEq)]
enum Outcome {
    Carried,
    /// Found, but for these fields; whether the sidecar has them.
    Degraded(Vec<&'static str>, bool),
    Aside,
    Announced(String),
    Lost(String),
}

/// Compares a target with the snapshot that was moved to it.
pub fn compare(
    source: &dyn SnapshotSource,
    target: &dyn SnapshotSource,
    expected: &Expected<'_>,
) -> io::Result<Proof> {
    let sidecar = KeptSnapshot::read(target)?;
    let evidence = Evidence { source, target, expected, sidecar: &sidecar };
    let mut lost = Vec::new();
    let layers = vec![
        identity(&evidence, &mut lost)?,
        principals(&evidence, &mut lost)?,
        credentials(&evidence, &mut lost)?,
        memory(&evidence, &mut lost)?,
        files(&evidence, &mut lost),
    ];
    Ok(Proof { layers, lost })
}

#[cfg(test)]
mod tests;
