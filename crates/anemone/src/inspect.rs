//! Says what an archive or a delta holds.

use std::io;
use std::path::PathBuf;

use anemone_format::{
    Archive, ArchiveOrDelta, Attachments, Credentials, Delta, EditedEntry, Edits, Layer, Limits,
    NOT_EXPORTED, Operation, PurgeAudit, ReadEntryError, Record,
};
use serde::Serialize;

use crate::archive::OpenArchiveError;
use crate::files::InputFile;
use crate::host::Host;
use crate::text::title;

/// Which file is inspected.
#[derive(Clone, Debug)]
pub struct InspectRequest {
    /// The archive or the delta.
    pub file: PathBuf,
    /// Whether an archive that was edited after it was written is read.
    pub edits: Edits,
    /// How many records are listed at most; without it, none are.
    pub records: Option<usize>,
}

/// What a file holds.
#[derive(Serialize)]
pub struct InspectReport {
    /// `archive` or `delta`.
    pub kind: &'static str,
    /// The version of the format.
    pub alf_version: String,
    /// The agent.
    pub agent_id: String,
    /// What the agent is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    /// The runtime that the agent came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_runtime: Option<String>,
    /// When the newest change in it was made.
    pub created_at: String,
    /// Its length in bytes.
    pub file_size: u64,
    /// How many records it holds, or operations on records.
    pub memory_records: u64,
    /// Whether the file carries a digest of itself.
    pub digest_sealed: bool,
    /// Whether the file is encrypted.
    pub encrypted: bool,
    /// Entries that are not what the manifest says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<EditLine>,
    /// What only its kind holds.
    #[serde(flatten)]
    pub detail: InspectDetail,
    /// The records, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<Vec<RecordLine>>,
    /// Records that were not listed because there are more than were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records_omitted: Option<u64>,
    /// What was purged from it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub purges: Vec<PurgeAudit>,
}

/// What only archives, or only deltas, hold.
#[derive(Serialize)]
#[serde(untagged)]
pub enum InspectDetail {
    /// Of an archive.
    Archive(Box<ArchiveDetail>),
    /// Of a delta.
    Delta(DeltaDetail),
}

/// What an archive holds.
#[derive(Serialize)]
pub struct ArchiveDetail {
    /// Its position in a history.
    pub sequence: u64,
    /// The digest over its entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
    /// How often the persona was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity_version: Option<u64>,
    /// How many people and agents it names.
    pub principals_count: u64,
    /// How many credentials it names.
    pub credentials_count: u64,
    /// The credentials.
    pub credentials: Vec<CredentialLine>,
    /// How many artifacts it names.
    pub attachments_count: u64,
    /// How many of them it holds.
    pub artifacts_included: u64,
    /// The files of records.
    pub partitions: Vec<PartitionLine>,
    /// Whether the records have vectors.
    pub has_embeddings: bool,
    /// The runtimes whose files it holds.
    pub raw_sources: Vec<String>,
    /// How many files it holds.
    pub files: u64,
    /// How many links it holds.
    pub symlinks: u64,
    /// How many folders it holds.
    pub folders: u64,
}

/// What a delta holds.
#[derive(Serialize)]
pub struct DeltaDetail {
    /// The position that it starts from.
    pub base_sequence: u64,
    /// The position that it leads to.
    pub new_sequence: u64,
    /// The digest of the archive that it starts from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_checksum: Option<String>,
    /// The digest of the archive that it leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_checksum: Option<String>,
    /// The layers that it changes.
    pub layers_changed: Vec<&'static str>,
    /// How many files it adds or changes.
    pub files_put: u64,
    /// How many files it removes.
    pub files_removed: u64,
}

/// An entry that was edited after the archive was written.
#[derive(Serialize)]
pub struct EditLine {
    /// The entry.
    pub path: String,
    /// The SHA-256 in the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The SHA-256 of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// The difference, in words.
    #[serde(skip)]
    pub text: String,
}

impl From<&EditedEntry> for EditLine {
    fn from(entry: &EditedEntry) -> Self {
        let EditedEntry { path, expected, actual } = entry.clone();
        Self { text: entry.to_string(), path, expected, actual }
    }
}

/// A credential, without its secret.
#[derive(Serialize)]
pub struct CredentialLine {
    /// What it is for.
    pub service: String,
    /// Its type.
    pub credential_type: String,
    /// What the user calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Whether its secret is in the archive, sealed.
    pub carries_secret: bool,
}

/// A file of records.
#[derive(Serialize)]
pub struct PartitionLine {
    /// The file.
    pub file: String,
    /// The first day of its records.
    pub from: String,
    /// The last day of its records; none where more may come.
    pub to: Option<String>,
    /// How many records it holds.
    pub record_count: u64,
    /// Whether it never changes any more.
    pub sealed: bool,
}

/// A record.
#[derive(Serialize)]
pub struct RecordLine {
    /// What a delta does with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<&'static str>,
    /// Its id.
    pub id: String,
    /// When the newest change in it was made.
    pub created_at: String,
    /// What it belongs to.
    pub namespace: String,
    /// The first line of its text.
    pub title: String,
}

/// Why a file cannot be inspected.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum InspectError {
    /// It was not opened.
    Open(#[from] OpenArchiveError),
    /// An entry cannot be read.
    Entry(#[from] ReadEntryError),
    /// A record cannot be read.
    Io(#[from] io::Error),
}

/// Reads the manifest and the small documents of a file.
pub fn inspect(request: &InspectRequest, host: &Host) -> Result<InspectReport, InspectError> {
    let source = InputFile::open(&request.file, host, &host.progress("reading"))
        .map_err(OpenArchiveError::from)?;
    let encrypted = source.sealing.is_some();
    let limits = Limits::default();
    let opening = ArchiveOrDelta::open_with(source.bytes, source.length, &limits, request.edits)
        .map_err(|source| OpenArchiveError::Open { path: request.file.clone(), source })?;
    let mut report = match opening {
        ArchiveOrDelta::Archive(archive) => inspect_archive(&archive, request, encrypted)?,
        ArchiveOrDelta::Delta(delta) => inspect_delta(&delta, request, encrypted)?,
    };
    let listed = report.records.as_ref().map(|list| list.len() as u64);
    report.records_omitted = listed.map(|count| report.memory_records.saturating_sub(count));
    Ok(report)
}

fn inspect_archive(
    archive: &Archive,
    request: &InspectRequest,
    encrypted: bool,
) -> Result<InspectReport, InspectError> {
    let manifest = archive.manifest();
    let credentials: Option<Credentials> = archive.parse_document(Layer::Credentials)?;
    let attachments: Option<Attachments> = archive.parse_document(Layer::Attachments)?;
    let memory = manifest.layers.memory.as_ref();
    let files = archive.files()?;
    let of_kind = |word: &str| {
        let kinds = files.iter().filter(|file| file.entry.kind().as_str() == word);
        kinds.count() as u64
    };
    let list = attachments.map(|layer| layer.attachments).unwrap_or_default();
    let detail = ArchiveDetail {
        sequence: manifest.sequence().0,
        checksum: manifest.checksum.clone(),
        identity_version: manifest.layers.identity.as_ref().map(|layer| layer.version),
        principals_count: manifest.layers.principals.as_ref().map_or(0, |layer| layer.count),
        credentials_count: manifest.layers.credentials.as_ref().map_or(0, |layer| layer.count),
        credentials: credentials
            .map(|layer| layer.credentials)
            .unwrap_or_default()
            .into_iter()
            .map(|credential| CredentialLine {
                service: credential.service,
                credential_type: credential.credential_type.as_str().to_owned(),
                label: credential.label,
                carries_secret: credential.encrypted_payload != NOT_EXPORTED,
            })
            .collect(),
        attachments_count: list.len() as u64,
        artifacts_included: list
            .iter()
            .filter(|attachment| attachment.archive_path.0.is_some())
            .count() as u64,
        partitions: memory
            .map(|layer| layer.partitions.as_slice())
            .unwrap_or_default()
            .iter()
            .map(|partition| PartitionLine {
                file: partition.file.clone(),
                from: partition.from.clone(),
                to: partition.to.as_ref().and_then(|to| to.0.clone()),
                record_count: partition.record_count,
                sealed: partition.sealed,
            })
            .collect(),
        has_embeddings: memory.is_some_and(|layer| layer.has_embeddings == Some(true)),
        raw_sources: manifest.raw_sources.clone(),
        files: of_kind("file"),
        symlinks: of_kind("symlink"),
        folders: of_kind("directory"),
    };
    Ok(InspectReport {
        kind: "archive",
        alf_version: manifest.alf_version.clone(),
        agent_id: manifest.agent.id.to_string(),
        agent_name: Some(manifest.agent.name.clone()),
        source_runtime: Some(manifest.agent.source_runtime.clone()),
        created_at: manifest.created_at.to_string(),
        file_size: archive.size_bytes(),
        memory_records: memory.map_or(0, |layer| layer.record_count),
        digest_sealed: archive.is_sealed(),
        encrypted,
        edited: archive.edited().iter().map(EditLine::from).collect(),
        detail: InspectDetail::Archive(Box::new(detail)),
        records: request.records.map(|limit| list_records(archive, limit)).transpose()?,
        records_omitted: None,
        purges: manifest.purges.clone(),
    })
}

fn list_records(archive: &Archive, limit: usize) -> Result<Vec<RecordLine>, InspectError> {
    let mut records = Vec::new();
    archive.each_record_line(|line| -> Result<(), InspectError> {
        if records.len() < limit {
            records.push(RecordLine::new(None, line)?);
        }
        Ok(())
    })?;
    Ok(records)
}

fn list_operations(delta: &Delta, limit: usize) -> Result<Vec<RecordLine>, InspectError> {
    let mut records = Vec::new();
    delta.each_record_line(|operation, line| -> Result<(), InspectError> {
        if records.len() < limit {
            let word = operation.map_or("unknown", Operation::as_str);
            records.push(RecordLine::new(Some(word), line)?);
        }
        Ok(())
    })?;
    Ok(records)
}

impl RecordLine {
    fn new(operation: Option<&'static str>, line: &[u8]) -> Result<Self, InspectError> {
        let record: Record = serde_json::from_slice(line).map_err(io::Error::from)?;
        Ok(Self {
            operation,
            id: record.id.to_string(),
            created_at: record.temporal.created_at.to_string(),
            namespace: record.namespace,
            title: title(&record.content),
        })
    }
}

fn inspect_delta(
    delta: &Delta,
    request: &InspectRequest,
    encrypted: bool,
) -> Result<InspectReport, InspectError> {
    let manifest = delta.manifest();
    let changes = &manifest.changes;
    let layers = [
        ("identity", changes.identity.is_some()),
        ("principals", changes.principals.is_some()),
        ("credentials", changes.credentials.is_some()),
        ("attachments", changes.attachments.is_some()),
        ("memory", changes.memory.is_some()),
    ];
    Ok(InspectReport {
        kind: "delta",
        alf_version: manifest.alf_version.clone(),
        agent_id: manifest.agent.id.to_string(),
        agent_name: manifest.target.as_ref().map(|target| target.agent.name.clone()),
        source_runtime: manifest.agent.source_runtime.clone(),
        created_at: manifest.created_at.to_string(),
        file_size: delta.size_bytes(),
        memory_records: changes.memory.as_ref().map_or(0, |layer| layer.record_count),
        digest_sealed: delta.is_sealed(),
        encrypted,
        edited: Vec::new(),
        detail: InspectDetail::Delta(DeltaDetail {
            base_sequence: manifest.sync.base_sequence,
            new_sequence: manifest.sync.new_sequence,
            base_checksum: manifest.base_checksum.clone(),
            target_checksum: manifest.target_checksum.clone(),
            layers_changed: layers
                .iter()
                .filter(|(_, is_changed)| *is_changed)
                .map(|(layer, _)| *layer)
                .collect(),
            files_put: changes.files.as_ref().map_or(0, |files| files.put.len() as u64),
            files_removed: changes.files.as_ref().map_or(0, |files| files.remove.len() as u64),
        }),
        records: request.records.map(|limit| list_operations(delta, limit)).transpose()?,
        records_omitted: None,
        purges: manifest.purges.clone(),
    })
}
