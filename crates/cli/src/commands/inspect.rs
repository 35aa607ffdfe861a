//! `anemone inspect`

use std::io::{self, Write};
use std::path::PathBuf;

use anemone::inspect::{ArchiveDetail, InspectDetail, InspectReport, InspectRequest, inspect};
use clap::Args;

use super::Context;
use super::validate::edits;
use crate::output::{BOLD, DIM, ODD, Report, Result, bytes, count, safe};

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

pub(crate) fn run(args: &InspectArgs, context: &Context<'_>) -> Result<InspectReport> {
    let request = InspectRequest {
        file: args.file.clone(),
        edits: edits(args.accept_edited),
        records: args.records.then_some(args.limit),
    };
    Ok(inspect(&request, &context.host)?)
}

impl Report for InspectReport {
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
        for entry in &self.edited {
            writeln!(out, "  {ODD}edited{ODD:#} {}: {}", safe(&entry.path), entry.text)?;
        }
        match &self.detail {
            InspectDetail::Archive(archive) => write_archive(archive, self.memory_records, out)?,
            InspectDetail::Delta(delta) => {
                let (from, to) = (delta.base_sequence, delta.new_sequence);
                writeln!(out, "  from sequence {from} to {to}")?;
                writeln!(out, "  {}", count(self.memory_records, "record operation"))?;
                writeln!(out, "  layers changed: {}", delta.layers_changed.join(", "))?;
                writeln!(out, "  files: {} put, {} removed", delta.files_put, delta.files_removed)?;
            }
        }
        for purge in &self.purges {
            let records = count(purge.record_ids.len() as u64, "record");
            let (at, reason) = (&purge.completed_at, safe(purge.reason.as_str()));
            writeln!(out, "  purged at {at}: {records} ({reason})")?;
        }
        if let Some(records) = &self.records {
            for record in records {
                let day = &record.created_at[..10.min(record.created_at.len())];
                let operation = record.operation.map(|word| format!("{word}  "));
                let operation = operation.unwrap_or_default();
                writeln!(out, "  {DIM}{}{DIM:#}  {day}  {operation}{}", record.id, record.title)?;
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

fn write_archive(archive: &ArchiveDetail, records: u64, out: &mut dyn Write) -> io::Result<()> {
    let partitions = count(archive.partitions.len() as u64, "partition");
    writeln!(out, "  {} in {partitions}", count(records, "record"))?;
    for partition in &archive.partitions {
        let (file, from) = (safe(&partition.file), safe(&partition.from));
        let days = match partition.to.as_deref() {
            Some(to) => format!("{from} to {}", safe(to)),
            None => format!("since {from}"),
        };
        writeln!(out, "    {file}  {days}: {}", count(partition.record_count, "record"))?;
    }
    if let Some(version) = archive.identity_version {
        writeln!(out, "  identity version {version}")?;
    }
    let principals = count(archive.principals_count, "principal");
    writeln!(out, "  {principals}, {}", count(archive.credentials_count, "credential"))?;
    for credential in &archive.credentials {
        let secret = if credential.carries_secret { "sealed secret" } else { "no secret" };
        let (service, kind) = (safe(&credential.service), safe(&credential.credential_type));
        writeln!(out, "    {service} ({kind}): {secret}")?;
    }
    let artifacts = count(archive.attachments_count, "artifact");
    writeln!(out, "  {artifacts}, {} included", archive.artifacts_included)?;
    let (files, links) = (count(archive.files, "file"), count(archive.symlinks, "symlink"));
    writeln!(out, "  {files}, {links}, {}", count(archive.folders, "folder"))
}
