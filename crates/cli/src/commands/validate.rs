//! `anemone validate`

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anemone_format::{ArchiveKind, Edits, Finding, Limits, Report, find_damage, validate_with};
use clap::Args;
use serde::Serialize;

use super::Context;
use crate::error::CliError;
use crate::files::Source;
use crate::output::{self, BAD, DIM, GOOD, ODD, count, safe};

/// Check an archive or a delta and name everything that is wrong with it
///
/// Every entry is read to the end and every digest compared; in a damaged file the entries that are
/// not whole are named. Exits 0 when there are no errors and
/// 1 when there are; warnings and notes do not count. `class` says in one word what the file is:
/// ok, ok-with-unknowns, refuse-version, refuse-corrupt or refuse-unsafe.
#[derive(Args, Debug)]
pub(crate) struct ValidateArgs {
    /// The .alf or .alf-delta file; `-` reads stdin
    pub(super) file: PathBuf,

    /// Treat entries that were edited after the archive was written as warnings, not errors
    #[arg(long)]
    pub(super) accept_edited: bool,
}

#[derive(Serialize)]
pub(crate) struct Validated {
    ok: bool,
    pub(crate) valid: bool,
    class: &'static str,
    kind: Option<&'static str>,
    pub(crate) errors: Vec<Found>,
    pub(crate) warnings: Vec<Found>,
    notes: Vec<Found>,
    #[serde(skip_serializing_if = "is_zero")]
    unlisted: u64,
    checked: Checked,
}

#[derive(Serialize)]
pub(crate) struct Found {
    pub(crate) path: String,
    pub(crate) message: String,
    code: &'static str,
}

#[derive(Serialize)]
pub(crate) struct Checked {
    entries: u64,
    bytes: u64,
    digests: u64,
    records: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

pub(crate) fn run(args: &ValidateArgs, context: &Context<'_>) -> Result<ExitCode, CliError> {
    let validated = examine(&args.file, edits(args.accept_edited), context)?;
    context.printer.print(&validated)?;
    Ok(if validated.valid { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns what `--accept-edited` asks for.
pub(super) fn edits(accept_edited: bool) -> Edits {
    if accept_edited { Edits::Accept } else { Edits::Refuse }
}

/// Reads a file to the end and says what is wrong with it.
pub(crate) fn examine(
    file: &Path,
    edits: Edits,
    context: &Context<'_>,
) -> Result<Validated, CliError> {
    let progress = context.host.progress("validating");
    let source = Source::open(file, &context.host, &progress)?;
    let (bytes, length, limits) = (Arc::new(source.bytes), source.length, Limits::default());
    let mut report = validate_with(Box::new(Arc::clone(&bytes)), length, &limits, edits);
    // A file that cannot be opened says what is wrong, and not where.
    if !report.is_valid() && report.kind.is_none() {
        report.errors.extend(find_damage(Box::new(bytes), length, &limits));
    }
    Ok(report.into())
}

impl From<Report> for Validated {
    fn from(report: Report) -> Self {
        let found = |findings: Vec<Finding>| {
            let convert = |it: Finding| Found { path: it.path, message: it.message, code: it.code };
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
            checked: Checked {
                entries: report.counts.entries,
                bytes: report.counts.bytes,
                digests: report.counts.digests,
                records: report.counts.records,
            },
        }
    }
}

impl output::Report for Validated {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for (findings, word, style) in [
            (&self.errors, "error", BAD),
            (&self.warnings, "warning", ODD),
            (&self.notes, "note", DIM),
        ] {
            for it in findings {
                let path = if it.path.is_empty() { "the file" } else { &it.path };
                let (path, message) = (safe(path), safe(&it.message));
                writeln!(out, "{style}{word}:{style:#} {path}: {message}")?;
            }
        }
        if self.unlisted > 0 {
            writeln!(out, "and {} more that are not listed", self.unlisted)?;
        }
        if !self.valid {
            if self.errors.iter().any(|it| it.code == "edited") {
                let hint = "if you edited the file yourself, `anemone import --accept-edited` \
                            takes it in";
                writeln!(out, "{DIM}hint:{DIM:#} {hint}")?;
            }
            let errors = count(self.errors.len() as u64, "error");
            return writeln!(out, "{BAD}not valid{BAD:#} ({}): {errors}", self.class);
        }
        let warnings = count(self.warnings.len() as u64, "warning");
        let Checked { entries, records, bytes, digests } = self.checked;
        writeln!(
            out,
            "{GOOD}valid{GOOD:#} ({}): {}, {}, {} read, {} compared, {warnings}",
            self.class,
            count(entries, "entry"),
            count(records, "record"),
            output::bytes(bytes),
            count(digests, "digest"),
        )
    }
}
