//! `anemone encrypt`

use std::io::{self, Write};
use std::path::PathBuf;

use anemone::files::Existing;
use anemone::seal::{EncryptRequest, SealAction, SealReport, encrypt};
use clap::Args;

use super::Context;
use crate::output::{BOLD, Report, Result, bytes};

/// Seal an archive or a delta as an age file
///
/// With --recipient, anyone with that identity can open it; without, a passphrase is asked for.
/// Any age tool opens the result, and every command here reads it when given the key.
#[derive(Args, Debug)]
pub(crate) struct EncryptArgs {
    /// The .alf or .alf-delta file
    file: PathBuf,

    /// Seal for this age recipient (age1...); may be given more than once
    #[arg(long, short, value_name = "RECIPIENT")]
    recipient: Vec<String>,

    /// The file to write, usually ending in .age
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Overwrite an existing output file
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &EncryptArgs, context: &Context<'_>) -> Result<SealReport> {
    let request = EncryptRequest {
        file: args.file.clone(),
        recipients: args.recipient.clone(),
        output: args.output.clone(),
        existing: if args.force { Existing::Replace } else { Existing::Keep },
    };
    Ok(encrypt(&request, &context.host)?)
}

impl Report for SealReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let verb = match self.action {
            SealAction::Sealed => "sealed as",
            SealAction::Opened => "opened as",
        };
        writeln!(out, "{verb} {BOLD}{}{BOLD:#} ({})", self.output, bytes(self.file_size))
    }
}
