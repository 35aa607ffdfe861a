//! Checks an archive or a delta, and names everything that is wrong with it.

use std::path::PathBuf;
use std::sync::Arc;

use anemone_format::{
    ArchiveKind, Counts, Edits, Finding, FindingKind, Limits, find_damage, validate_with,
};
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
    /// The kind of file, in one word.
    pub class: &'static str,
    /// `archive` or `delta`.
    pub kind: Option<&'static str>,
    /// What is wrong.
    pub errors: Vec<Finding>,
    /// What is odd.
    pub warnings: Vec<Finding>,
    /// What is worth knowing.
    pub notes: Vec<Finding>,
    /// How many findings are not listed, because there are too many.
    #[serde(skip_serializing_if = "crate::text::is_usual")]
    pub unlisted: u64,
    /// How much was read.
    pub checked: Counts,
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
    let valid = report.is_valid();
    Ok(ValidateReport {
        ok: valid,
        valid,
        class: report.class.as_str(),
        kind: report.kind.map(|kind| match kind {
            ArchiveKind::Archive => "archive",
            ArchiveKind::Delta => "delta",
        }),
        errors: report.errors,
        warnings: report.warnings,
        notes: report.notes,
        unlisted: report.unlisted,
        checked: report.counts,
    })
}

impl ValidateReport {
    /// Whether an entry was edited after the file was written.
    #[must_use]
    pub fn is_edited(&self) -> bool {
        self.errors.iter().any(|finding| finding.kind == FindingKind::Edited)
    }
}
