//! `anemone apply`

use std::io::{self, Write};
use std::path::PathBuf;

use anemone::delta::{AppliedDelta, ApplyReport, ApplyRequest, apply};
use clap::Args;

use super::{Context, OutputArgs};
use crate::output::{BOLD, ODD, Report, Result, bytes};

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

pub(crate) fn run(args: &ApplyArgs, context: &Context<'_>) -> Result<ApplyReport> {
    let (last, earlier) = args.deltas.split_last().expect("the argument parser wants one delta");
    let request = ApplyRequest {
        base: args.base.clone(),
        earlier: earlier.to_vec(),
        last: last.clone(),
        output: args.output.result_file(),
    };
    Ok(apply(&request, &context.host)?)
}

impl Report for ApplyReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for applied in &self.deltas {
            let AppliedDelta { delta, creates, updates, deletes, skipped } = applied;
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
