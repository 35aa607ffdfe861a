//! `anemone decrypt`

use std::path::PathBuf;

use anemone::files::Existing;
use anemone::seal::{DecryptRequest, SealReport, decrypt};
use clap::Args;

use super::Context;
use crate::output::Result;

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
    #[arg(long, value_name = "N", default_value_t = DecryptRequest::USUAL_WORK_FACTOR, hide_default_value = true,
          value_parser = clap::value_parser!(u8).range(1..=30))]
    max_work_factor: u8,
}

pub(crate) fn run(args: &DecryptArgs, context: &Context<'_>) -> Result<SealReport> {
    let request = DecryptRequest {
        file: args.file.clone(),
        output: args.output.clone(),
        existing: if args.force { Existing::Replace } else { Existing::Keep },
        max_work_factor: args.max_work_factor,
    };
    Ok(decrypt(&request, &context.host)?)
}
