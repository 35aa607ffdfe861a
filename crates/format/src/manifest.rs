//! The manifest: what an archive holds, with a digest of every entry.
//!
//! A caller fills in what it knows (time, agent, hints) and the writer the rest: layers, entries
//! and checksum. [`Manifest::blank`] removes the latter again, so that two manifests can be
//! compared by their owners' fields.

use sha2::{Digest as _, Sha256};

use crate::attachments::Attachments;
use crate::digest::Hex;
use crate::id::AgentId;
use crate::moment::Moment;
use crate::object::{object, vocabulary};
use crate::period::{Granularity, PartitionBy};
use crate::purge::PurgeAudit;
use crate::unknown::Unknown;

/// The version of the format that we write.
pub const ALF_VERSION: &str = "1.0.0";

object! {
    /// What an archive holds.
    pub struct Manifest {
        /// The version of the format; `1.0.0`.
        #[schemars(regex(pattern = r"^\d+\.\d+\.\d+([-+].+)?$"))]
        required alf_version: String,
        /// The moment the snapshot stands for.
        required created_at: Moment,
        /// Whose snapshot it is.
        required agent: AgentInfo,
        /// Which models it ran on.
        optional runtime_hints: RuntimeHints,
        /// Its place in a history, when it has one.
        optional sync: SyncCursor,
        /// The layers that are there.
        required layers: Layers,
        /// Runtimes that have files under `raw/`.
        list raw_sources: String,
        /// `sha256:` and a digest over all entries; see [`Manifest::checksum_of`].
        #[schemars(regex(pattern = r"^[a-z0-9]+:[a-f0-9]+$"))]
        optional checksum: String,
        /// True when the archive is exactly what our writer makes of its content, so that writing
        /// the content again gives the same checksum.
        optional canonical: bool,
        /// Everything in the archive but the manifest itself, sorted by path.
        list entries: Entry,
        /// What was purged from this archive, oldest first.
        list purges: PurgeAudit,
        /// How the runtime was read, when an adapter read it.
        optional reading: ReadingInfo,
    }
}

object! {
    /// How a runtime was read: equal readings of equal files give equal archives.
    pub struct ReadingInfo {
        /// Which adapter read it, such as `openclaw`.
        required adapter: String,
        /// Counts the changes in what that adapter makes of the same files.
        required revision: u64,
        /// `sha256:` and a digest over what was read beside the files: options, keys, index.
        required inputs: String,
    }
}

object! {
    /// Whose snapshot it is.
    pub struct AgentInfo {
        /// The agent.
        required id: AgentId,
        /// Its name.
        required name: String,
        /// The runtime it was read from.
        required source_runtime: String,
        /// That runtime's version.
        optional source_runtime_version: String,
    }
}

object! {
    /// Which models an agent ran on.
    pub struct RuntimeHints {
        /// The one it ran on most.
        required primary_model: String,
        /// The one it ran on last.
        required last_model: String,
        /// Who offers it.
        optional provider: String,
        /// Its context in tokens.
        #[schemars(range(min = 1))]
        optional context_window: u64,
        /// For people.
        optional notes: String,
    }
}

object! {
    /// A place in a history.
    pub struct SyncCursor {
        /// The sequence of this snapshot.
        required last_sequence: u64,
        /// When it got there.
        optional last_sync_at: Moment,
    }
}

object! {
    /// The layers of an archive.
    #[derive(Default)]
    pub struct Layers {
        /// Persona.
        optional identity: IdentityLayer,
        /// Whom it works for.
        optional principals: CountedLayer,
        /// Keys.
        optional credentials: CountedLayer,
        /// Records.
        optional memory: MemoryLayer,
        /// Artifacts.
        optional attachments: AttachmentsLayer,
    }
}

object! {
    /// Where the persona is.
    pub struct IdentityLayer {
        /// Its version.
        #[schemars(range(min = 1))]
        required version: u64,
        /// The entry.
        required file: String,
    }
}

object! {
    /// Where a document is, and how many items it has.
    pub struct CountedLayer {
        /// Items in it.
        required count: u64,
        /// The entry.
        required file: String,
    }
}

object! {
    /// Where the records are.
    #[derive(Default)]
    pub struct MemoryLayer {
        /// Records in all partitions.
        required record_count: u64,
        /// The entry that lists the partitions with their digests.
        required index_file: String,
        /// How long a partition is; a quarter when absent.
        optional granularity: Granularity,
        /// Which time decides the partition of a record; `created_at` when absent.
        optional partition_by: PartitionBy,
        /// Whether any record has a vector.
        optional has_embeddings: bool,
        /// Whether there are files under `raw/`.
        optional has_raw_source: bool,
        /// The partitions, oldest first.
        #[schemars(extend("x-required" = true))]
        required partitions: Vec<Partition>,
    }
}

object! {
    /// The records of one period.
    pub struct Partition {
        /// The entry.
        required file: String,
        /// The period's first day.
        required from: String,
        /// Its last day, or null while it is open.
        nullable to: String,
        /// Records in it.
        required record_count: u64,
        /// Whether the period is over.
        required sealed: bool,
    }
}

object! {
    /// Where the artifacts are listed.
    #[derive(Default)]
    pub struct AttachmentsLayer {
        /// Artifacts in all.
        required count: u64,
        /// Artifacts in the archive.
        optional included_count: u64,
        /// Their bytes.
        optional included_size_bytes: u64,
        /// Artifacts only named.
        optional referenced_count: u64,
        /// Their bytes.
        optional referenced_size_bytes: u64,
        /// The entry.
        required file: String,
    }
}

object! {
    /// One thing in the archive, with what is needed to check it and to put it back.
    #[derive(Default)]
    pub struct Entry {
        /// Its path in the archive.
        required path: String,
        /// What it is; a file when absent.
        optional kind: EntryKind,
        /// Bytes; files only.
        optional size: u64,
        /// SHA-256 of the bytes in lower-case hexadecimal; files only.
        optional sha256: String,
        /// Unix permission bits in octal, such as `0644`.
        optional mode: String,
        /// When it was last modified in the workspace.
        optional mtime: Moment,
        /// Where a symlink points, as it was written.
        optional target: String,
        /// Base64 of a target that is not UTF-8.
        optional target_base64: String,
        /// Its path in the workspace, where the archive had to spell it otherwise.
        optional source_path: String,
        /// Base64 of such a path when it is not UTF-8.
        optional source_path_base64: String,
        /// True when secrets in it were replaced as it was read.
        optional redacted: bool,
    }
}

vocabulary! {
    /// What an entry is.
    pub enum EntryKind (unknown: File) {
        /// A regular file; its bytes are a ZIP entry.
        File = "file",
        /// A symbolic link; it has no ZIP entry.
        Symlink = "symlink",
        /// A folder; it has no ZIP entry.
        Directory = "directory",
    }
}

impl Manifest {
    /// Creates a manifest with the fields that only the caller knows.
    #[must_use]
    pub fn new(agent: AgentInfo, created_at: Moment) -> Self {
        Self {
            alf_version: ALF_VERSION.to_owned(),
            created_at,
            agent,
            runtime_hints: None,
            sync: None,
            layers: Layers::default(),
            raw_sources: Vec::new(),
            checksum: None,
            canonical: None,
            entries: Vec::new(),
            purges: Vec::new(),
            reading: None,
            unknown: Unknown::default(),
        }
    }

    /// Returns the sequence in a history; 0 when the snapshot is in none.
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        Sequence(self.sync.as_ref().map_or(0, |cursor| cursor.last_sequence))
    }

    /// Removes the fields that the writer fills in; the owner's fields and unknown fields stay.
    pub fn blank(&mut self) {
        self.alf_version = ALF_VERSION.to_owned();
        self.raw_sources.clear();
        self.checksum = None;
        self.canonical = None;
        self.entries.clear();
        let layers = &mut self.layers;
        // A layer without information of its own is dropped: the writer recreates it.
        layers.identity = layers.identity.take().filter(|layer| !layer.unknown.is_empty());
        if let Some(layer) = &mut layers.identity {
            (layer.version, layer.file) = (1, String::new());
        }
        for slot in [&mut layers.principals, &mut layers.credentials] {
            *slot = slot.take().filter(|layer| !layer.unknown.is_empty());
            if let Some(layer) = slot {
                (layer.count, layer.file) = (0, String::new());
            }
        }
        if let Some(layer) = layers.attachments.take().filter(|layer| !layer.unknown.is_empty()) {
            layers.attachments =
                Some(AttachmentsLayer { unknown: layer.unknown, ..AttachmentsLayer::default() });
        }
        if let Some(mut layer) = layers.memory.take() {
            layer.partitions.retain(|partition| !partition.unknown.is_empty());
            for partition in &mut layer.partitions {
                partition.from.clear();
                partition.to = None;
                (partition.record_count, partition.sealed) = (0, false);
            }
            let monthly = layer.granularity.as_ref() == Some(&Granularity::Month);
            let by = layer.partition_by.filter(|by| *by == PartitionBy::ObservedAt);
            let said = monthly || by.is_some();
            if said || !layer.unknown.is_empty() || !layer.partitions.is_empty() {
                layers.memory = Some(MemoryLayer {
                    granularity: monthly.then_some(Granularity::Month),
                    partition_by: by,
                    partitions: layer.partitions,
                    unknown: layer.unknown,
                    ..MemoryLayer::default()
                });
            }
        }
    }

    /// Computes the digest over all entries.
    ///
    /// It covers each entry as one line of compact JSON, sorted by path, and so their digests,
    /// modes, times and links; it does not cover the rest of the manifest, so that a snapshot
    /// taken twice of the same content has the same checksum.
    #[must_use]
    pub fn checksum_of(entries: &[Entry]) -> String {
        let mut hasher = Sha256::new();
        for entry in entries {
            let line = serde_json::to_vec(entry).expect("an entry has only text keys");
            hasher.update(&line);
            hasher.update(b"\n");
        }
        format!("sha256:{}", Hex(&hasher.finalize()))
    }
}

/// A position in a history; 0 is a snapshot that is in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sequence(pub u64);

impl std::fmt::Display for Sequence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl AgentInfo {
    /// Makes agent metadata without a runtime version.
    #[must_use]
    pub fn new(id: AgentId, name: &str, source_runtime: &str) -> Self {
        Self {
            id,
            name: name.to_owned(),
            source_runtime: source_runtime.to_owned(),
            source_runtime_version: None,
            unknown: Unknown::default(),
        }
    }
}

impl CountedLayer {
    /// Describes a layer that was rewritten; unknown fields of the previous description are kept.
    pub(crate) fn of(count: u64, file: String, before: Option<Self>) -> Self {
        let unknown = before.map_or_else(Unknown::default, |layer| layer.unknown);
        Self { count, file, unknown }
    }
}

impl AttachmentsLayer {
    /// Counts a list of artifacts.
    pub(crate) fn of(list: &Attachments, file: String, unknown: Unknown) -> Self {
        let tally = |included: bool| {
            let all = list.attachments.iter();
            let tier = all.filter(|attachment| attachment.archive_path.0.is_some() == included);
            tier.fold((0, 0_u64), |(n, size), attachment| {
                (n + 1, size.saturating_add(attachment.size_bytes))
            })
        };
        let (included, referenced) = (tally(true), tally(false));
        Self {
            count: list.attachments.len() as u64,
            included_count: Some(included.0),
            included_size_bytes: Some(included.1),
            referenced_count: Some(referenced.0),
            referenced_size_bytes: Some(referenced.1),
            file,
            unknown,
        }
    }
}

impl Entry {
    /// Creates an entry that is only a path; the caller sets its kind.
    #[must_use]
    pub fn new(path: &str) -> Self {
        Self { path: path.to_owned(), ..Self::default() }
    }

    /// Returns the kind of the entry; an unknown word counts as a file.
    #[must_use]
    pub fn kind(&self) -> &EntryKind {
        self.kind.as_ref().map_or(&EntryKind::File, EntryKind::effective)
    }

    /// Returns true when the entry has content of its own.
    #[must_use]
    pub fn is_file(&self) -> bool {
        *self.kind() == EntryKind::File
    }
}
