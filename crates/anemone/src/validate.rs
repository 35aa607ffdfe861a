//! Checks an archive or a delta, and names everything that is wrong with it.

use std::path::PathBuf;
use std::sync::Arc;

use anemone_format::{ArchiveKind, Edits, Finding, Limits, Report, find_damage, validate_with};
use serde::Serialize;

use crate::files::{FileError, InputFile};
use crate::host::Host;

/// Which file is checked.
#[derive(Clone, Debug)]
pub struct ValidateRequest {
    /// The archive or the delta.
    pub file: PathBuf,
    /// Whether entries that were edited after the file was written are errors.
    pub edits: Edits,
}

/// What is wrong with a file.
#[derive(Serialize)]
pub struct ValidateReport {
    /// Whether there are no errors.
    pub ok: bool,
    /// Whether there are no errors.
    pub valid: bool,
    /// What the file is, in one word.
    pub class: &'static str,
    /// `archive` or `delta`.
    pub kind: Option<&'static str>,
    /// What is wrong.
    pub errors: Vec<ValidateFinding>,
    /// What is odd.
    pub warnings: Vec<ValidateFinding>,
    /// What is worth knowing.
    pub notes: Vec<ValidateFinding>,
    /// How many findings are not listed, because there are too many.
    #[serde(skip_serializing_if = "is_zero")]
    pub unlisted: u64,
    /// How much was read.
    pub checked: ValidateCounts,
}

/// One thing that was found.
#[derive(Serialize)]
pub struct ValidateFinding {
    /// The entry; empty for the file as a whole.
    pub path: String,
    /// What was found.
    pub message: String,
    /// A stable word for it.
    pub code: &'static str,
}

/// How much was read.
#[derive(Serialize)]
pub struct ValidateCounts {
    /// Entries.
    pub entries: u64,
    /// Bytes.
    pub bytes: u64,
    /// Digests that were compared.
    pub digests: u64,
    /// Records.
    pub records: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Reads a file to the end and says what is wrong with it.
pub fn validate(request: &ValidateRequest, host: &Host) -> Result<ValidateReport, FileError> {
    let source = InputFile::open(&request.file, host, &host.progress("validating"))?;
    let (bytes, length, limits) = (Arc::new(source.bytes), source.length, Limits::default());
    let mut report = validate_with(Box::new(Arc::clone(&bytes)), length, &limits, request.edits);
    // A file that cannot be opened says what is wrong, and not where.
    if !report.is_valid() && report.kind.is_none() {
        report.errors.extend(find_damage(Box::new(bytes), length, &limits));
    }
    Ok(report.into())
}

impl ValidateReport {
    /// Whether an entry was edited after the file was written.
    #[must_use]
    pub fn is_edited(&self) -> bool {
        self.errors.iter().any(|finding| finding.code == "edited")
    }
}

impl From<Report> for ValidateReport {
    fn from(report: Report) -> Self {
        let found = |findings: Vec<Finding>| {
            let convert = |finding: Finding| {
                let Finding { path, message, code, .. } = finding;
                ValidateFinding { path, message, code }
            };
            findings.into_iter().map(convert).collect()
        };
        let valid = report.is_valid();
        Self {
            ok: valid,
            valid,
            class: report.class.as_str(),
            kind: report.kind.map(|kind| match kind {
                ArchiveKind::Archive => "archive",
                ArchiveKind::Delta => "delta",
            }),
            errors: found(report.errors),
            warnings: found(report.warnings),
            notes: found(report.notes),
            unlisted: report.unlisted,
            checked: ValidateCounts {
                entries: report.counts.entries,
                bytes: report.counts.bytes,
                digests: report.counts.digests,
                records: report.counts.records,
            },
        }
    }
}
