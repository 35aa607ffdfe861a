//! `anemone delta`

use std::io::{self, Write};
use std::path::PathBuf;

use anemone::delta::{DeltaChanges, DeltaReport, DeltaRequest, delta};
use clap::Args;

use super::{Context, OutputArgs};
use crate::output::{BOLD, Report, Result, bytes};

/// Write what turns one archive into another
///
/// Applying the delta between A and B to A gives B, byte for byte. Deleted records leave a
/// tombstone that holds nothing of their text.
#[derive(Args, Debug)]
pub(crate) struct DeltaArgs {
    /// The older archive
    base: PathBuf,
    /// The newer archive
    target: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &DeltaArgs, context: &Context<'_>) -> Result<DeltaReport> {
    let DeltaArgs { base, target, output } = args;
    let request =
        DeltaRequest { base: base.clone(), target: target.clone(), output: output.result_file() };
    Ok(delta(&request, &context.host)?)
}

impl Report for DeltaReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(shown) = &self.differences {
            shown.write_human(out)?;
        }
        let DeltaChanges { creates, updates, deletes } = &self.changes;
        let (put, removed) = (self.files_put, self.files_removed);
        let records = format!("{creates} created, {updates} updated, {deletes} deleted");
        match (&self.output, self.file_size) {
            (Some(path), Some(size)) => writeln!(
                out,
                "wrote {BOLD}{path}{BOLD:#} ({}): records {records}; files {put} put, {removed} \
                 removed",
                bytes(size)
            ),
            _ => writeln!(out, "nothing written: this was a dry run"),
        }
    }
}
