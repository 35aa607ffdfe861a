//! The model of an agent's memory, and how a snapshot or a delta of it is read from and written to
//! bytes: the Agent Life Format (ALF).
//!
//! This crate never opens a file, never reads the clock and never generates a random id: the caller
//! passes bytes, moments and ids. It knows no runtime.

#![warn(missing_docs)]

mod archive;
mod attachments;
mod container;
mod credentials;
mod delta;
mod digest;
mod entry_path;
mod id;
mod identity;
mod json;
mod limits;
mod manifest;
mod moment;
mod object;
mod opaque;
mod pairs;
#[cfg(feature = "parse-counts")]
pub mod parse_counts;
mod period;
mod principals;
mod purge;
mod record;
mod schema;
mod sink;
mod snapshot;
mod source;
mod stamp;
mod survey;
mod unknown;
mod validate;
mod vault;
mod word_enum;

pub use archive::Layer;
pub use archive::chain::{ArchiveChain, ChainError, WriteChainError};
pub use archive::read::{
    Archive, ArchiveKind, CarriedFile, EditedEntry, Edits, OpenError, ReadEntryError, Refusal,
    kind_of,
};
pub use archive::record_cache::RecordCache;
pub use archive::source::ArchiveSource;
pub use archive::write::{
    ArchiveWriter, FileHead, IndexedPartition, MemoryIndex, Root, Spool, WriteArchiveError,
    WrittenArchive,
};
pub use attachments::{Attachment, Attachments, ContentHash, DEFAULT_ARTIFACT_THRESHOLD_BYTES};
pub use container::read::{Bytes, ContainerError, ContentFault, EntryReader};
pub use credentials::{
    Credential, CredentialType, Credentials, Encryption, KdfParams, NOT_EXPORTED,
};
pub use delta::apply::{
    ApplyDeltaError, DeltaOutcome, OperationSkipReason, SkippedOperation, apply_delta,
};
pub use delta::compare::{
    CompareError, Comparison, DeletedRecord, FileDifference, LayerDifference,
};
pub use delta::fields::changed_fields;
pub use delta::operation::Operation;
pub use delta::read::Delta;
pub use delta::write::{WriteDeltaError, WrittenDelta, write_delta};
pub use delta::{
    Changes, ContentFrom, DeltaAgent, DeltaCursor, DeltaManifest, FilePut, FilesChange,
    IdentityChange, LayerChange, MemoryChange, PrincipalsChange,
};
pub use digest::{Hex, sha256_hex};
pub use entry_path::NameFault;
pub use id::{AgentId, ItemId, ParseIdError, RecordId};
pub use identity::{
    Capability, Identity, Idiolect, Linguistics, ModelHints, Names, PersonalityTraits, Portability,
    ProseIdentity, Psychology, StructuredIdentity, SubAgent, SubAgentStatus,
};
pub use json::{
    Lines as JsonLines, ReadJsonError, check_depth as check_json, read_all as read_json,
    with_causes,
};
pub use limits::Limits;
pub use manifest::{
    ALF_VERSION, AgentInfo, AttachmentsLayer, CountedLayer, Entry, EntryKind, IdentityLayer,
    Layers, Manifest, MemoryLayer, Partition, ReadingInfo, RuntimeHints, Sequence, SyncCursor,
};
pub use moment::{Moment, ParseMomentError};
pub use opaque::Opaque;
pub use pairs::Pairs;
pub use period::{Granularity, ParsePeriodError, PartitionBy, Period};
pub use principals::{
    CommunicationPreferences, Principal, PrincipalType, Principals, Profile, ProseProfile,
    StructuredProfile, WorkContext,
};
pub use purge::apply::{
    ApplyPurgeError, PurgeDetails, PurgeOutcome, PurgeProof, apply_purge, prove_purge,
};
pub use purge::plan::{ArchiveOrDelta, FileCut, Obstacle, PlanPurgeError, PurgePlan};
pub use purge::{PurgeAudit, PurgeReason, PurgeScope};
pub use rawzip::ReaderAt;
pub use record::{
    Embedding, EmbeddingSource, Entity, EntityKind, ExtractionMethod, MemoryType, Record, Relation,
    Source, Status, Temporal,
};
pub use schema::{SchemaDocument, schema_of};
pub use sink::{Sink, SinkError};
pub use snapshot::{File, FileRoot, Node, Snapshot};
#[cfg(any(test, feature = "testing"))]
pub use source::loaded::LoadedSnapshot;
pub use source::{RecordPlace, SnapshotSource, SourceFile, SourceKind};
pub use stamp::{
    Origin, ParseOriginError, ParseStampIdError, ProvenanceStamp, StampId, StampTable, escaped,
    unescaped,
};
pub use unknown::{Nullable, Unknown};
pub use validate::{
    Class, Counts, Finding, FindingKind, Report, find_damage, open_validated, validate,
    validate_with,
};
pub use vault::{KEY_BYTES, NONCE_BYTES, SALT_BYTES, SealingBytes, VaultError, VaultKey};
