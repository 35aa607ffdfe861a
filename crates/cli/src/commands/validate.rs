//! `anemone validate`

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anemone::validate::{ValidateReport, ValidateRequest, validate};
use anemone_format::{Counts, Edits};
use clap::Args;

use super::Context;
use crate::output::{self, BAD, DIM, GOOD, ODD, Result, count, safe};

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

pub(crate) fn run(args: &ValidateArgs, context: &Context<'_>) -> Result<ExitCode> {
    let validated = validate(&args.request(), &context.host)?;
    context.printer.print(&validated)?;
    Ok(if validated.valid { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns what `--accept-edited` asks for.
pub(super) fn edits(accept_edited: bool) -> Edits {
    if accept_edited { Edits::Accept } else { Edits::Refuse }
}

impl ValidateArgs {
    pub(super) fn request(&self) -> ValidateRequest {
        ValidateRequest { file: self.file.clone(), edits: edits(self.accept_edited) }
    }
}

impl output::Report for ValidateReport {
    const ADDS_OK: bool = false;

    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for (findings, word, style) in [
            (&self.errors, "error", BAD),
            (&self.warnings, "warning", ODD),
            (&self.notes, "note", DIM),
        ] {
            for finding in findings {
                let path = if finding.path.is_empty() { "the file" } else { &finding.path };
                let (path, message) = (safe(path), safe(&finding.message));
                writeln!(out, "{style}{word}:{style:#} {path}: {message}")?;
            }
        }
        if self.unlisted > 0 {
            writeln!(out, "and {} more that are not listed", self.unlisted)?;
        }
        if !self.valid {
            if self.is_edited() {
                let hint = "if you edited the file yourself, `anemone import --accept-edited` \
                            takes it in";
                writeln!(out, "{DIM}hint:{DIM:#} {hint}")?;
            }
            let errors = count(self.errors.len() as u64, "error");
            return writeln!(out, "{BAD}not valid{BAD:#} ({}): {errors}", self.class);
        }
        let warnings = count(self.warnings.len() as u64, "warning");
        let Counts { entries, records, bytes, digests } = self.checked;
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
