//! `anemone apply`

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anemone_format::{
    Archive, Delta, DeltaOutcome, Edits, Limits, OperationSkipReason, apply_delta,
};
use clap::Args;
use serde::Serialize;

use super::diff::{open_sound, open_sound_archive};
use super::{Context, OutputArgs};
use crate::error::CliError;
use crate::files::{Target, check_free, spool, write_step};
use crate::keys::Sealing;
use crate::output::{BOLD, ODD, Report, bytes, notice, safe};
use anemone::host::Progress;

/// Apply deltas to an archive, in order, and write the result as a new one
///
/// A delta that starts elsewhere is refused with exit code 3 and nothing is written.
#[derive(Args, Debug)]
pub(crate) struct ApplyArgs {
    /// The archive to start from
    base: PathBuf,
    /// The deltas, oldest first
    #[arg(required = true)]
    deltas: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Serialize)]
pub(crate) struct ApplyReport {
    ok: bool,
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    file_size: u64,
    sequence: u64,
    checksum: String,
    memory_records: u64,
    deltas: Vec<AppliedDelta>,
}

#[derive(Serialize)]
struct AppliedDelta {
    delta: String,
    creates: u64,
    updates: u64,
    deletes: u64,
    skipped: Vec<SkippedOperation>,
}

#[derive(Serialize)]
struct SkippedOperation {
    id: String,
    reason: &'static str,
}

pub(crate) fn run(args: &ApplyArgs, context: &Context<'_>) -> Result<ApplyReport, CliError> {
    if let Some(path) = args.output.path() {
        check_free(path, args.output.existing(), &context.host)?;
    }
    let near = args.output.path().map(PathBuf::as_path);
    let progress = context.host.progress("applying");
    let (mut archive, base_sealing) = open_sound_archive(&args.base, context, &progress)?;
    let mut sealings = vec![base_sealing];
    let mut applied: Vec<(String, DeltaOutcome)> = Vec::new();
    let (last, earlier) = args.deltas.split_last().expect("the argument parser wants one delta");
    for path in earlier {
        let (delta, sealing) = open_delta(path, context, &progress)?;
        sealings.push(sealing);
        let (done, bytes, length) =
            write_step(near, |out| apply_one(&archive, &delta, path, out, near, context))?;
        applied.push((path.display().to_string(), done));
        archive = Archive::open(bytes, length, &Limits::default())?;
    }
    let (delta, sealing) = open_delta(last, context, &progress)?;
    sealings.push(sealing);
    let (done, file_size) = match args.output.path() {
        None => {
            let done = apply_one(&archive, &delta, last, &mut io::sink(), near, context)?;
            let size = done.archive.size_bytes;
            (done, size)
        }
        Some(path) => {
            let sealing = args.output.sealing(&sealings);
            let mut file = Target::create(path, args.output.existing())?;
            let done = file.write(sealing.as_ref(), |out| {
                apply_one(&archive, &delta, last, out, near, context)
            })?;
            let size = file.length()?;
            file.deliver(&context.host)?;
            (done, size)
        }
    };
    let manifest = &done.archive.manifest;
    let report = ApplyReport {
        ok: true,
        dry_run: args.output.dry_run,
        output: args.output.path().map(|path| path.display().to_string()),
        file_size,
        sequence: manifest.sequence().0,
        checksum: manifest.checksum.clone().unwrap_or_default(),
        memory_records: manifest.layers.memory.as_ref().map_or(0, |it| it.record_count),
        deltas: Vec::new(),
    };
    applied.push((last.display().to_string(), done));
    let deltas = applied.into_iter().map(|(path, done)| describe(path, done)).collect();
    Ok(ApplyReport { deltas, ..report })
}

fn open_delta(
    path: &Path,
    context: &Context<'_>,
    progress: &Progress,
) -> Result<(Delta, Option<Sealing>), CliError> {
    let file = open_sound(path, Edits::Refuse, context, progress)?;
    for warning in &file.warnings {
        notice(&safe(warning));
    }
    let delta = file.opening.into_delta().map_err(|error| CliError::from(error).about(path))?;
    Ok((delta, file.sealing))
}

fn apply_one(
    archive: &Archive,
    delta: &Delta,
    path: &Path,
    out: &mut dyn Write,
    near: Option<&Path>,
    context: &Context<'_>,
) -> Result<DeltaOutcome, CliError> {
    let applied = apply_delta(archive, delta, out, spool(near)?, context.host.threads);
    Ok(applied.map_err(|error| CliError::from(error).about(path))?.1)
}

fn describe(delta: String, done: DeltaOutcome) -> AppliedDelta {
    AppliedDelta {
        delta,
        creates: done.created,
        updates: done.updated,
        deletes: done.deleted,
        skipped: done
            .skipped
            .into_iter()
            .map(|it| SkippedOperation {
                id: it.id.to_string(),
                reason: match it.reason {
                    OperationSkipReason::AlreadyThere => "already there",
                    OperationSkipReason::NotThere => "not there",
                    OperationSkipReason::UnknownOperation => "unknown operation",
                },
            })
            .collect(),
    }
}

impl Report for ApplyReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for it in &self.deltas {
            let AppliedDelta { delta, creates, updates, deletes, skipped } = it;
            writeln!(out, "{delta}: {creates} created, {updates} updated, {deletes} deleted")?;
            for skipped in skipped {
                writeln!(out, "  {ODD}skipped{ODD:#} {}: {}", skipped.id, skipped.reason)?;
            }
        }
        let (records, size) = (self.memory_records, bytes(self.file_size));
        match &self.output {
            Some(path) => writeln!(out, "wrote {BOLD}{path}{BOLD:#} ({size}, {records} records)"),
            None => writeln!(out, "nothing written: this was a dry run ({records} records)"),
        }
    }
}
