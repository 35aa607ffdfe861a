//! `anemone purge`

use std::io::{self, Write};
use std::path::PathBuf;

use anemone::purge::{PurgeReport, PurgeRequest, purge};
use anemone_format::{PurgeReason, RecordId};
use clap::Args;

use super::{Context, OutputArgs};
use crate::output::{BAD, BOLD, GOOD, ODD, Report, Result, safe};

/// Remove records from an archive or a delta for good, and prove that they are gone
///
/// Removes the records with their vectors, cuts their text out of the raw files they came from,
/// and brings index and manifest up to date; every other entry is copied as it is. Then the new
/// file is searched for the text. Where the text also stands in another record or in a file that
/// is not text, nothing is written and the place is named. The source file is left as it is:
/// delete it, and its copies, yourself.
#[derive(Args, Debug)]
#[command(override_usage = "anemone purge [OPTIONS] <FILE> --record <ID>... --output <FILE>")]
pub(crate) struct PurgeArgs {
    /// The .alf or .alf-delta file
    file: PathBuf,

    /// The id of a record to purge; may be given more than once
    #[arg(long = "record", value_name = "ID", required = true, num_args = 1..)]
    records: Vec<RecordId>,

    /// A file to leave out as a whole, as the archive names it
    #[arg(long = "drop-file", value_name = "PATH")]
    drop_files: Vec<String>,

    /// Why, for the audit record
    #[arg(long, value_parser = reasons(), default_value = "user_request")]
    reason: String,

    /// Who asked for it, for the audit record
    #[arg(long, value_name = "NAME")]
    requested_by: Option<String>,

    #[command(flatten)]
    output: OutputArgs,
}

fn reasons() -> clap::builder::PossibleValuesParser {
    PurgeReason::WORDS.iter().copied().into()
}

pub(crate) fn run(args: &PurgeArgs, context: &Context<'_>) -> Result<PurgeReport> {
    let request = PurgeRequest {
        file: args.file.clone(),
        records: args.records.clone(),
        drop_files: args.drop_files.clone(),
        reason: PurgeReason::from(args.reason.as_str()),
        requested_by: args.requested_by.clone(),
        output: args.output.result_file(),
    };
    Ok(purge(&request, &context.host)?)
}

impl Report for PurgeReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for record in &self.records {
            writeln!(out, "{BAD}-{BAD:#} record {} in {}", record.id, safe(&record.entry))?;
        }
        for cut in &self.cuts {
            writeln!(out, "{BAD}-{BAD:#} {} bytes of {}", cut.bytes, safe(&cut.entry))?;
        }
        for file in &self.dropped_files {
            writeln!(out, "{BAD}-{BAD:#} file {}", safe(file))?;
        }
        for obstacle in &self.obstacles {
            let (id, path) = (&obstacle.id, safe(&obstacle.path));
            writeln!(out, "{ODD}in the way:{ODD:#} the text of {id} also occurs in {path}")?;
        }
        if let Some(proof) = &self.proof {
            for place in &proof.shared_lines {
                let place = safe(place);
                writeln!(out, "{ODD}note:{ODD:#} a single line of it also occurs in {place}")?;
            }
            for id in &proof.too_short {
                writeln!(
                    out,
                    "{ODD}not proved:{ODD:#} the text of {id} is too short to search for"
                )?;
            }
            let (entries, read) =
                (proof.entries_searched, crate::output::bytes(proof.bytes_searched));
            if proof.absent {
                writeln!(out, "{GOOD}gone:{GOOD:#} searched {entries} entries, {read}; not found")?;
            }
        }
        if self.is_delta {
            let note =
                "the archive that this delta starts from may hold them too: purge it as well";
            writeln!(out, "{ODD}note:{ODD:#} {note}")?;
        }
        match &self.output {
            Some(path) if self.in_place => writeln!(out, "replaced {BOLD}{path}{BOLD:#}"),
            Some(path) => writeln!(out, "wrote {BOLD}{path}{BOLD:#}; the source is still there"),
            None => writeln!(out, "nothing written: this was a dry run"),
        }
    }
}
