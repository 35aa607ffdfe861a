//! `anemone decrypt`

use std::path::PathBuf;

use anemone_format::{Limits, kind_of};
use clap::Args;

use super::Context;
use super::encrypt::Copied;
use crate::error::{CliError, Kind};
use crate::files::{Existing, Source, Target, check_free, copy_bytes, reopen};
use crate::progress::Progress;

/// Open a sealed archive or delta and write it without its seal
///
/// Give --identity, --passphrase-file or ANEMONE_PASSPHRASE, or answer the prompt.
#[derive(Args, Debug)]
pub(crate) struct DecryptArgs {
    /// The sealed file
    file: PathBuf,

    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Replace the output file if it is there
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &DecryptArgs, context: &Context<'_>) -> Result<Copied, CliError> {
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    check_free(&args.output, existing)?;
    let progress = Progress::new(context.printer, "opening");
    let source = Source::open(&args.file, &context.keys, &progress)?;
    if source.sealing.is_none() {
        return Err(
            CliError::new(Kind::Failed, "not_sealed", "the file is not sealed").about(&args.file)
        );
    }
    let mut target = Target::create(&args.output, existing)?;
    target.write(None, |out| copy_bytes(&source.bytes, source.length, out))?;
    let (bytes, length) = reopen(target.file())?;
    kind_of(bytes, length, &Limits::default())
        .map_err(|error| CliError::from(error).about(&args.file))?;
    target.commit()?;
    Copied::new("opened as", &args.output)
}
