//! Writes what turns one archive into another, and applies it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anemone_format::{
    ApplyDeltaError, Archive, CompareError, Comparison, Delta, DeltaOutcome, Edits, Limits,
    OpenError, OperationSkipReason, WriteDeltaError, apply_delta, write_delta,
};
use serde::Serialize;

use crate::archive::{OpenArchiveError, open_sound, open_sound_archive};
use crate::diff::{DiffReport, describe};
use crate::files::{FileError, OutputFile, spool, write_step};
use crate::host::{Host, Progress};
use crate::keys::Sealing;
use crate::result_file::ResultFile;

/// Which archives a delta leads from and to.
#[derive(Clone, Debug)]
pub struct DeltaRequest {
    /// The older archive.
    pub base: PathBuf,
    /// The newer archive.
    pub target: PathBuf,
    /// The delta that is written.
    pub output: ResultFile,
}

/// The delta that was written, or would be.
#[derive(Debug, Serialize)]
pub struct DeltaReport {
    /// Whether nothing was written because only a plan was asked for.
    pub dry_run: bool,
    /// The delta.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Its length in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_size: Option<u64>,
    /// The position of the older archive.
    pub base_sequence: u64,
    /// The position of the newer archive.
    pub new_sequence: u64,
    /// Changes of records.
    pub changes: DeltaChanges,
    /// How many files are added or changed.
    pub files_put: u64,
    /// How many files are removed.
    pub files_removed: u64,
    /// The layers that change.
    pub layers_changed: Vec<&'static str>,
    /// Whether nothing changes.
    pub no_changes: bool,
    /// What differs, of a plan.
    #[serde(skip)]
    pub differences: Option<DiffReport>,
}

/// Changes of records.
#[derive(Debug, Serialize)]
pub struct DeltaChanges {
    /// How many records are created.
    pub creates: u64,
    /// How many records are changed.
    pub updates: u64,
    /// How many records are deleted.
    pub deletes: u64,
}

/// Why a delta was not written.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum DeltaError {
    /// One of the archives was not opened.
    Open(#[from] OpenArchiveError),
    /// The delta cannot be written.
    File(#[from] FileError),
    /// The archives cannot be compared.
    Compare(#[from] CompareError),
    /// The delta cannot be made.
    Write(#[from] WriteDeltaError),
}

/// Writes the delta between two archives.
pub fn delta(request: &DeltaRequest, host: &Host) -> Result<DeltaReport, DeltaError> {
    request.output.check(host)?;
    let progress = host.progress("comparing");
    let (base, base_sealing) = open_sound_archive(&request.base, host, &progress)?;
    let (target, target_sealing) = open_sound_archive(&request.target, host, &progress)?;
    let (comparison, file_size) = match &request.output.path {
        None => (Comparison::of(&base, &target)?, None),
        Some(path) => {
            let sealing = request.output.sealing([&target_sealing, &base_sealing]);
            let mut file = OutputFile::create(path, request.output.existing)?;
            let written = file.write(sealing.as_ref(), |out| {
                let spool = spool(Some(path))?;
                Ok::<_, DeltaError>(write_delta(&base, &target, out, spool, host.threads)?.1)
            })?;
            let size = file.length()?;
            file.deliver(host)?;
            (written.comparison, Some(size))
        }
    };
    let differences = match &request.output.path {
        None => Some(describe(&base, &target, &comparison)?),
        Some(_) => None,
    };
    Ok(DeltaReport {
        dry_run: request.output.path.is_none(),
        output: request.output.shown(),
        file_size,
        base_sequence: base.manifest().sequence().0,
        new_sequence: target.manifest().sequence().0,
        changes: DeltaChanges {
            creates: comparison.created.len() as u64,
            updates: comparison.updated.len() as u64,
            deletes: comparison.deleted.len() as u64,
        },
        files_put: comparison.put_files.len() as u64,
        files_removed: comparison.removed_files.len() as u64,
        layers_changed: comparison.layers.iter().map(|layer| layer.layer.key()).collect(),
        no_changes: comparison.is_empty(),
        differences,
    })
}

/// Which deltas are applied to which archive.
#[derive(Clone, Debug)]
pub struct ApplyRequest {
    /// The archive that they start from.
    pub base: PathBuf,
    /// The deltas before the last one, oldest first.
    pub earlier: Vec<PathBuf>,
    /// The last delta.
    pub last: PathBuf,
    /// The archive that is written.
    pub output: ResultFile,
}

/// The archive that was written, or would be.
#[derive(Debug, Serialize)]
pub struct ApplyReport {
    /// Whether nothing was written because only a plan was asked for.
    pub dry_run: bool,
    /// The archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Its length in bytes.
    pub file_size: u64,
    /// Its position in the history.
    pub sequence: u64,
    /// The digest over its entries.
    pub checksum: String,
    /// How many records it holds.
    pub memory_records: u64,
    /// What each delta did.
    pub deltas: Vec<AppliedDelta>,
}

/// What one delta did.
#[derive(Debug, Serialize)]
pub struct AppliedDelta {
    /// The delta.
    pub delta: String,
    /// How many records it created.
    pub creates: u64,
    /// How many records it changed.
    pub updates: u64,
    /// How many records it deleted.
    pub deletes: u64,
    /// Operations that had nothing to do.
    pub skipped: Vec<SkippedOperationLine>,
}

/// An operation that had nothing to do.
#[derive(Debug, Serialize)]
pub struct SkippedOperationLine {
    /// The record.
    pub id: String,
    /// Why.
    pub reason: &'static str,
}

/// Why deltas were not applied.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum ApplyDeltasError {
    /// The archive or a delta was not opened.
    Open(#[from] OpenArchiveError),
    /// The archive cannot be written.
    File(#[from] FileError),
    /// An archive on the way to the result is damaged.
    Step(#[from] OpenError),
    /// A delta does not fit the archive.
    #[error("{}: {source}", .path.display())]
    Apply {
        /// The delta.
        path: PathBuf,
        /// Why.
        source: ApplyDeltaError,
    },
}

/// Applies deltas to an archive, in order.
pub fn apply(request: &ApplyRequest, host: &Host) -> Result<ApplyReport, ApplyDeltasError> {
    let output = &request.output;
    output.check(host)?;
    let near = output.path.as_deref();
    let progress = host.progress("applying");
    let (mut archive, base_sealing) = open_sound_archive(&request.base, host, &progress)?;
    let mut sealings = vec![base_sealing];
    let mut applied = Vec::new();
    for path in &request.earlier {
        let (delta, sealing) = open_delta(path, host, &progress)?;
        sealings.push(sealing);
        let step = write_step(near, |out| apply_one(&archive, &delta, path, out, near, host))?;
        let (done, bytes, length) = step;
        applied.push(describe_delta(path, done));
        archive = Archive::open(bytes, length, &Limits::default())?;
    }
    let (delta, sealing) = open_delta(&request.last, host, &progress)?;
    sealings.push(sealing);
    let (done, file_size) = match &output.path {
        None => {
            let out = &mut io::sink();
            let done = apply_one(&archive, &delta, &request.last, out, near, host)?;
            let size = done.archive.size_bytes;
            (done, size)
        }
        Some(path) => {
            let sealing = output.sealing(&sealings);
            let mut file = OutputFile::create(path, output.existing)?;
            let done = file.write(sealing.as_ref(), |out| {
                apply_one(&archive, &delta, &request.last, out, near, host)
            })?;
            let size = file.length()?;
            file.deliver(host)?;
            (done, size)
        }
    };
    let manifest = &done.archive.manifest;
    let mut report = ApplyReport {
        dry_run: output.path.is_none(),
        output: output.shown(),
        file_size,
        sequence: manifest.sequence().0,
        checksum: manifest.checksum.clone().unwrap_or_default(),
        memory_records: manifest.layers.memory.as_ref().map_or(0, |layer| layer.record_count),
        deltas: applied,
    };
    report.deltas.push(describe_delta(&request.last, done));
    Ok(report)
}

fn open_delta(
    path: &Path,
    host: &Host,
    progress: &Progress,
) -> Result<(Delta, Option<Sealing>), OpenArchiveError> {
    let file = open_sound(path, Edits::Refuse, host, progress)?;
    file.show_warnings(host);
    let delta = file.opening.into_delta();
    let delta = delta.map_err(|source| OpenArchiveError::Open { path: path.to_owned(), source })?;
    Ok((delta, file.sealing))
}

fn apply_one(
    archive: &Archive,
    delta: &Delta,
    path: &Path,
    out: &mut dyn Write,
    near: Option<&Path>,
    host: &Host,
) -> Result<DeltaOutcome, ApplyDeltasError> {
    let applied = apply_delta(archive, delta, out, spool(near)?, host.threads);
    let failed = |source| ApplyDeltasError::Apply { path: path.to_owned(), source };
    Ok(applied.map_err(failed)?.1)
}

fn describe_delta(path: &Path, done: DeltaOutcome) -> AppliedDelta {
    let skipped = done.skipped.into_iter().map(|operation| SkippedOperationLine {
        id: operation.id.to_string(),
        reason: match operation.reason {
            OperationSkipReason::AlreadyThere => "already there",
            OperationSkipReason::NotThere => "not there",
            OperationSkipReason::UnknownOperation => "unknown operation",
        },
    });
    AppliedDelta {
        delta: path.display().to_string(),
        creates: done.created,
        updates: done.updated,
        deletes: done.deleted,
        skipped: skipped.collect(),
    }
}
