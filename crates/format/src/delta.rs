//! Deltas: what changed between two snapshots of one agent.
//!
//! ```text
//! identity.json ...       a layer that changed, whole
//! raw/... artifacts/...   a file that changed, whole
//! splice/<path>           the middle of a file whose beginning and end stayed
//! memory/delta.jsonl      records: a line each, with the operation in front
//! manifest.json           base and target, what changed, digests of all of the above
//! ```
//!
//! Law: applying the delta between A and B to A gives B, byte for byte.

pub(crate) mod apply;
pub(crate) mod compare;
pub(crate) mod fields;
pub(crate) mod operation;
pub(crate) mod read;
pub(crate) mod write;

use crate::archive::Layer;
use crate::id::{AgentId, ItemId};
use crate::manifest::{Entry, Manifest};
use crate::moment::Moment;
use crate::object::{object, vocabulary};
use crate::purge::PurgeAudit;

/// The folder of file middles.
pub(crate) const SPLICE: &str = "splice/";

object! {
    /// What a delta holds, and between which snapshots it lies.
    pub struct DeltaManifest {
        /// The version of the format; `1.0.0`.
        #[schemars(regex(pattern = r"^\d+\.\d+\.\d+([-+].+)?$"))]
        required alf_version: String,
        /// The moment of the target.
        required created_at: Moment,
        /// Whose snapshots they are.
        required agent: DeltaAgent,
        /// Their places in a history.
        required sync: DeltaCursor,
        /// What changed.
        required changes: Changes,
        /// The base's checksum; applying to anything else is refused.
        optional base_checksum: String,
        /// The target's checksum; applying must arrive there.
        optional target_checksum: String,
        /// What the target's owner says of it: its manifest without layers and entries.
        optional target: Manifest,
        /// Everything in the delta but this manifest, sorted by path.
        list entries: Entry,
        /// What was purged from this delta, oldest first.
        list purges: PurgeAudit,
    }
}

object! {
    /// Whose delta it is.
    pub struct DeltaAgent {
        /// The agent.
        required id: AgentId,
        /// The runtime it was read from.
        optional source_runtime: String,
    }
}

object! {
    /// Two places in a history.
    pub struct DeltaCursor {
        /// The sequence of the base.
        required base_sequence: u64,
        /// The sequence of the target; 0 when the target is in no history.
        required new_sequence: u64,
        /// The moment of the base.
        optional base_timestamp: Moment,
        /// The moment of the target.
        optional new_timestamp: Moment,
    }
}

object! {
    /// What changed, layer by layer; a layer that did not change is absent.
    #[derive(Default)]
    pub struct Changes {
        /// Persona.
        optional identity: IdentityChange,
        /// Whom it works for.
        optional principals: PrincipalsChange,
        /// Keys.
        optional credentials: LayerChange,
        /// Artifacts.
        optional attachments: LayerChange,
        /// Records.
        optional memory: MemoryChange,
        /// Carried files.
        optional files: FilesChange,
    }
}

object! {
    /// The persona changed.
    pub struct IdentityChange {
        /// The entry that holds it now; absent when it is gone.
        optional file: String,
        /// Its version now.
        #[schemars(range(min = 1))]
        optional new_version: u64,
    }
}

object! {
    /// Principals changed.
    pub struct PrincipalsChange {
        /// The entry that holds all of them now; absent when the layer is gone.
        optional file: String,
        /// The ones that are new, different or gone.
        list changed_ids: ItemId,
    }
}

object! {
    /// A layer changed.
    pub struct LayerChange {
        /// The entry that holds it now; absent when it is gone.
        optional file: String,
    }
}

object! {
    /// Records changed.
    pub struct MemoryChange {
        /// The entry with a line for each.
        required file: String,
        /// How many lines.
        required record_count: u64,
    }
}

object! {
    /// Carried files changed.
    pub struct FilesChange {
        /// New and different ones, as they are in the target.
        list put: FilePut,
        /// Paths, in the base archive, of the ones that are gone.
        list remove: String,
    }
}

object! {
    /// A file as it is in the target, and where its content comes from.
    pub struct FilePut {
        /// What the target's manifest says of it.
        required entry: Entry,
        /// Where its content is.
        required content: ContentFrom,
        /// Bytes to take from the beginning of the base's file.
        optional prefix: u64,
        /// Bytes to take from its end.
        optional suffix: u64,
    }
}

impl Changes {
    /// Returns the entry that holds a layer now: `None` when it did not change, `Some(None)` when
    /// it is gone.
    pub(crate) fn file_of(&self, layer: Layer) -> Option<Option<&str>> {
        match layer {
            Layer::Identity => self.identity.as_ref().map(|layer| layer.file.as_deref()),
            Layer::Principals => self.principals.as_ref().map(|layer| layer.file.as_deref()),
            Layer::Credentials => self.credentials.as_ref().map(|layer| layer.file.as_deref()),
            Layer::Attachments => self.attachments.as_ref().map(|layer| layer.file.as_deref()),
        }
    }
}

vocabulary! {
    /// Where the content of a changed file is.
    pub enum ContentFrom (unknown: Delta) {
        /// In the delta, under the file's own path.
        Delta = "delta",
        /// In the base: only mode, time or the like changed.
        Base = "base",
        /// Its middle in the delta under `splice/`, its beginning and end in the base.
        Splice = "splice",
        /// Nowhere: it is a link or a folder.
        None = "none",
    }
}
