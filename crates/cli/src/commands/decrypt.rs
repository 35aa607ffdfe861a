//! `anemone decrypt`

use std::path::PathBuf;

use anemone_format::{Limits, kind_of};
use clap::Args;

use super::Context;
use super::encrypt::Copied;
use crate::error::{CliError, Kind};
use crate::files::{Existing, Source, Target, check_free, copy_bytes, reopen};
use crate::sealed_header::WORK_FACTOR;

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

    /// Overwrite an existing output file
    #[arg(long)]
    force: bool,

    /// Derive the key of a passphrase with up to this work factor; each step above 18 doubles the
    /// 256 MiB of memory that it takes
    #[arg(long, value_name = "N", default_value_t = WORK_FACTOR, hide_default_value = true,
          value_parser = clap::value_parser!(u8).range(1..=30))]
    max_work_factor: u8,
}

pub(crate) fn run(args: &DecryptArgs, context: &Context<'_>) -> Result<Copied, CliError> {
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    check_free(&args.output, existing, &context.host)?;
    let progress = context.host.progress("opening");
    let source = Source::open_with(&args.file, &context.host, &progress, args.max_work_factor)?;
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
    let file_size = target.length()?;
    target.deliver(&context.host)?;
    Ok(Copied::new("opened as", &args.output, file_size))
}
