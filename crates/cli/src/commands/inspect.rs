//! `anemone inspect`

use std::io::{self, Write};
use std::path::PathBuf;

use anemone_format::{
    Archive, Attachments, Credentials, Delta, EditedEntry, Layer, Limits, NOT_EXPORTED, Opening,
    Operation, PurgeAudit, Record,
};
use clap::Args;
use serde::Serialize;

use super::Context;
use super::validate::edits;
use crate::error::CliError;
use crate::files::Source;
use crate::output::{BOLD, DIM, ODD, Report, bytes, count, safe, title};

/// Show what an archive or a delta holds
///
/// Reads the manifest and the small documents, and the files of archives without digests;
/// `validate` is what checks the contents.
#[derive(Args, Debug)]
pub(crate) struct InspectArgs {
    /// The .alf or .alf-delta file; `-` reads stdin
    file: PathBuf,

    /// Show an archive that was edited after it was written, and which entries differ
    #[arg(long)]
    accept_edited: bool,

    /// List the records, oldest first
    #[arg(long)]
    records: bool,

    /// List at most this many records
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
}

#[derive(Serialize)]
pub(crate) struct Inspected {
    ok: bool,
    kind: &'static str,
    alf_version: String,
    agent_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_runtime: Option<String>,
    created_at: String,
    file_size: u64,
    memory_records: u64,
    /// Whether the file carries a digest of itself.
    digest_sealed: bool,
    /// Whether the file is encrypted.
    encrypted: bool,
    /// Entries that are not what the manifest says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edited: Vec<ListedEdit>,
    #[serde(flatten)]
    detail: Detail,
    #[serde(skip_serializing_if = "Option::is_none")]
    records: Option<Vec<ListedRecord>>,
    /// Records that were not listed because of --limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    records_omitted: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    purges: Vec<PurgeAudit>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Detail {
    Archive(Box<ArchiveDetail>),
    Delta(DeltaDetail),
}

#[derive(Serialize)]
struct ArchiveDetail {
    sequence: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    checksum: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity_version: Option<u64>,
    principals_count: u64,
    credentials_count: u64,
    credentials: Vec<ListedCredential>,
    attachments_count: u64,
    artifacts_included: u64,
    partitions: Vec<ListedPartition>,
    has_embeddings: bool,
    raw_sources: Vec<String>,
    files: u64,
    symlinks: u64,
    folders: u64,
}

#[derive(Serialize)]
struct DeltaDetail {
    base_sequence: u64,
    new_sequence: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_checksum: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_checksum: Option<String>,
    layers_changed: Vec<&'static str>,
    files_put: u64,
    files_removed: u64,
}

#[derive(Serialize)]
struct ListedEdit {
    path: String,
    /// The SHA-256 in the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    /// The SHA-256 of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    actual: Option<String>,
    #[serde(skip)]
    text: String,
}

impl From<&EditedEntry> for ListedEdit {
    fn from(it: &EditedEntry) -> Self {
        let EditedEntry { path, expected, actual } = it.clone();
        Self { text: it.to_string(), path, expected, actual }
    }
}

#[derive(Serialize)]
struct ListedCredential {
    service: String,
    credential_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    carries_secret: bool,
}

#[derive(Serialize)]
struct ListedPartition {
    file: String,
    from: String,
    to: Option<String>,
    record_count: u64,
    sealed: bool,
}

#[derive(Serialize)]
struct ListedRecord {
    /// What a delta does with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<&'static str>,
    id: String,
    created_at: String,
    namespace: String,
    title: String,
}

pub(crate) fn run(args: &InspectArgs, context: &Context<'_>) -> Result<Inspected, CliError> {
    let progress = context.host.progress("reading");
    let source = Source::open(&args.file, &context.host, &progress)?;
    let encrypted = source.sealing.is_some();
    let edits = edits(args.accept_edited);
    let opening = Opening::open_with(source.bytes, source.length, &Limits::default(), edits)
        .map_err(|error| CliError::from(error).about(&args.file))?;
    let mut inspected = match opening {
        Opening::Archive(archive) => inspect_archive(&archive, args, encrypted)?,
        Opening::Delta(delta) => inspect_delta(&delta, args, encrypted)?,
    };
    let listed = inspected.records.as_ref().map(|list| list.len() as u64);
    inspected.records_omitted = listed.map(|count| inspected.memory_records.saturating_sub(count));
    Ok(inspected)
}

fn inspect_archive(
    archive: &Archive,
    args: &InspectArgs,
    encrypted: bool,
) -> Result<Inspected, CliError> {
    let manifest = archive.manifest();
    let credentials: Option<Credentials> = archive.parse_document(Layer::Credentials)?;
    let attachments: Option<Attachments> = archive.parse_document(Layer::Attachments)?;
    let memory = manifest.layers.memory.as_ref();
    let files = archive.files()?;
    let of_kind = |word: &str| {
        let kinds = files.iter().filter(|file| file.entry.kind().as_str() == word);
        kinds.count() as u64
    };
    let list = attachments.map(|it| it.attachments).unwrap_or_default();
    let detail = ArchiveDetail {
        sequence: manifest.sequence().0,
        checksum: manifest.checksum.clone(),
        identity_version: manifest.layers.identity.as_ref().map(|it| it.version),
        principals_count: manifest.layers.principals.as_ref().map_or(0, |it| it.count),
        credentials_count: manifest.layers.credentials.as_ref().map_or(0, |it| it.count),
        credentials: credentials
            .map(|it| it.credentials)
            .unwrap_or_default()
            .into_iter()
            .map(|it| ListedCredential {
                service: it.service,
                credential_type: it.credential_type.as_str().to_owned(),
                label: it.label,
                carries_secret: it.encrypted_payload != NOT_EXPORTED,
            })
            .collect(),
        attachments_count: list.len() as u64,
        artifacts_included: list.iter().filter(|it| it.archive_path.0.is_some()).count() as u64,
        partitions: memory
            .map(|it| it.partitions.as_slice())
            .unwrap_or_default()
            .iter()
            .map(|it| ListedPartition {
                file: it.file.clone(),
                from: it.from.clone(),
                to: it.to.as_ref().and_then(|to| to.0.clone()),
                record_count: it.record_count,
                sealed: it.sealed,
            })
            .collect(),
        has_embeddings: memory.is_some_and(|it| it.has_embeddings == Some(true)),
        raw_sources: manifest.raw_sources.clone(),
        files: of_kind("file"),
        symlinks: of_kind("symlink"),
        folders: of_kind("directory"),
    };
    Ok(Inspected {
        ok: true,
        kind: "archive",
        alf_version: manifest.alf_version.clone(),
        agent_id: manifest.agent.id.to_string(),
        agent_name: Some(manifest.agent.name.clone()),
        source_runtime: Some(manifest.agent.source_runtime.clone()),
        created_at: manifest.created_at.to_string(),
        file_size: archive.size_bytes(),
        memory_records: memory.map_or(0, |it| it.record_count),
        digest_sealed: archive.is_sealed(),
        encrypted,
        edited: archive.edited().iter().map(ListedEdit::from).collect(),
        detail: Detail::Archive(Box::new(detail)),
        records: if args.records { Some(list_records(archive, args.limit)?) } else { None },
        records_omitted: None,
        purges: manifest.purges.clone(),
    })
}

fn list_records(archive: &Archive, limit: usize) -> Result<Vec<ListedRecord>, CliError> {
    let mut records = Vec::new();
    archive.each_record_line(|line| -> Result<(), CliError> {
        if records.len() < limit {
            records.push(ListedRecord::new(None, line)?);
        }
        Ok(())
    })?;
    Ok(records)
}

fn list_operations(delta: &Delta, limit: usize) -> Result<Vec<ListedRecord>, CliError> {
    let mut records = Vec::new();
    delta.each_record_line(|operation, line| -> Result<(), CliError> {
        if records.len() < limit {
            let word = operation.map_or("unknown", Operation::as_str);
            records.push(ListedRecord::new(Some(word), line)?);
        }
        Ok(())
    })?;
    Ok(records)
}

impl ListedRecord {
    fn new(operation: Option<&'static str>, line: &[u8]) -> Result<Self, CliError> {
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
    args: &InspectArgs,
    encrypted: bool,
) -> Result<Inspected, CliError> {
    let manifest = delta.manifest();
    let changes = &manifest.changes;
    let layers = [
        ("identity", changes.identity.is_some()),
        ("principals", changes.principals.is_some()),
        ("credentials", changes.credentials.is_some()),
        ("attachments", changes.attachments.is_some()),
        ("memory", changes.memory.is_some()),
    ];
    Ok(Inspected {
        ok: true,
        kind: "delta",
        alf_version: manifest.alf_version.clone(),
        agent_id: manifest.agent.id.to_string(),
        agent_name: manifest.target.as_ref().map(|it| it.agent.name.clone()),
        source_runtime: manifest.agent.source_runtime.clone(),
        created_at: manifest.created_at.to_string(),
        file_size: delta.size_bytes(),
        memory_records: changes.memory.as_ref().map_or(0, |it| it.record_count),
        digest_sealed: delta.is_sealed(),
        encrypted,
        edited: Vec::new(),
        detail: Detail::Delta(DeltaDetail {
            base_sequence: manifest.sync.base_sequence,
            new_sequence: manifest.sync.new_sequence,
            base_checksum: manifest.base_checksum.clone(),
            target_checksum: manifest.target_checksum.clone(),
            layers_changed: layers.iter().filter(|it| it.1).map(|it| it.0).collect(),
            files_put: changes.files.as_ref().map_or(0, |it| it.put.len() as u64),
            files_removed: changes.files.as_ref().map_or(0, |it| it.remove.len() as u64),
        }),
        records: if args.records { Some(list_operations(delta, args.limit)?) } else { None },
        records_omitted: None,
        purges: manifest.purges.clone(),
    })
}

impl Report for Inspected {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let name = self.agent_name.as_deref().map_or_else(|| "(unnamed)".to_owned(), safe);
        writeln!(out, "{BOLD}{name}{BOLD:#}  {DIM}{}{DIM:#}", self.agent_id)?;
        let runtime = self.source_runtime.as_deref().map_or_else(|| "unknown".to_owned(), safe);
        let newest = local_time(&self.created_at);
        writeln!(out, "  {} from {runtime}, newest change {newest}", self.kind)?;
        let encrypted = if self.encrypted { ", encrypted" } else { "" };
        let sealed = if self.digest_sealed { "with" } else { "without" };
        let size = bytes(self.file_size);
        writeln!(out, "  {size}, format {}, {sealed} seal{encrypted}", self.alf_version)?;
        for it in &self.edited {
            writeln!(out, "  {ODD}edited{ODD:#} {}: {}", safe(&it.path), it.text)?;
        }
        match &self.detail {
            Detail::Archive(it) => write_archive(it, self.memory_records, out)?,
            Detail::Delta(it) => {
                let (from, to) = (it.base_sequence, it.new_sequence);
                writeln!(out, "  from sequence {from} to {to}")?;
                writeln!(out, "  {}", count(self.memory_records, "record operation"))?;
                writeln!(out, "  layers changed: {}", it.layers_changed.join(", "))?;
                writeln!(out, "  files: {} put, {} removed", it.files_put, it.files_removed)?;
            }
        }
        for purge in &self.purges {
            let records = count(purge.record_ids.len() as u64, "record");
            let (at, reason) = (&purge.completed_at, safe(purge.reason.as_str()));
            writeln!(out, "  purged at {at}: {records} ({reason})")?;
        }
        if let Some(records) = &self.records {
            for it in records {
                let day = &it.created_at[..10.min(it.created_at.len())];
                let operation = it.operation.map(|word| format!("{word}  ")).unwrap_or_default();
                writeln!(out, "  {DIM}{}{DIM:#}  {day}  {operation}{}", it.id, it.title)?;
            }
            if let Some(more) = self.records_omitted.filter(|more| *more > 0) {
                writeln!(out, "  and {more} more; raise --limit to see them")?;
            }
        }
        Ok(())
    }
}

/// Returns a moment as people read it, in their time zone.
fn local_time(moment: &str) -> String {
    let Ok(instant) = moment.parse::<jiff::Timestamp>() else { return safe(moment) };
    let zone = jiff::tz::TimeZone::system();
    instant.to_zoned(zone).strftime("%Y-%m-%d %H:%M %Z").to_string()
}

fn write_archive(it: &ArchiveDetail, records: u64, out: &mut dyn Write) -> io::Result<()> {
    let partitions = count(it.partitions.len() as u64, "partition");
    writeln!(out, "  {} in {partitions}", count(records, "record"))?;
    for partition in &it.partitions {
        let (file, from) = (safe(&partition.file), safe(&partition.from));
        let days = match partition.to.as_deref() {
            Some(to) => format!("{from} to {}", safe(to)),
            None => format!("since {from}"),
        };
        writeln!(out, "    {file}  {days}: {}", count(partition.record_count, "record"))?;
    }
    if let Some(version) = it.identity_version {
        writeln!(out, "  identity version {version}")?;
    }
    let principals = count(it.principals_count, "principal");
    writeln!(out, "  {principals}, {}", count(it.credentials_count, "credential"))?;
    for credential in &it.credentials {
        let secret = if credential.carries_secret { "sealed secret" } else { "no secret" };
        let (service, kind) = (safe(&credential.service), safe(&credential.credential_type));
        writeln!(out, "    {service} ({kind}): {secret}")?;
    }
    let artifacts = count(it.attachments_count, "artifact");
    writeln!(out, "  {artifacts}, {} included", it.artifacts_included)?;
    let (files, links) = (count(it.files, "file"), count(it.symlinks, "symlink"));
    writeln!(out, "  {files}, {links}, {}", count(it.folders, "folder"))
}
