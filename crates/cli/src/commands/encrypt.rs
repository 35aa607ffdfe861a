//! `anemone encrypt`

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde::Serialize;

use super::Context;
use crate::error::{CliError, Kind};
use crate::files::{Existing, Source, Target, check_free, copy_bytes};
use crate::keys::Sealing;
use crate::output::{BOLD, Report};
use anemone::archive::check_sound;

/// Seal an archive or a delta as an age file
///
/// With --recipient, whoever has that identity can open it; without, a passphrase is asked for.
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

/// A file was sealed or opened.
#[derive(Serialize)]
pub(crate) struct Copied {
    ok: bool,
    output: String,
    file_size: u64,
    #[serde(skip)]
    verb: &'static str,
}

impl Copied {
    pub(crate) fn new(verb: &'static str, path: &std::path::Path, file_size: u64) -> Self {
        Self { ok: true, output: path.display().to_string(), file_size, verb }
    }
}

pub(crate) fn run(args: &EncryptArgs, context: &Context<'_>) -> Result<Copied, CliError> {
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    check_free(&args.output, existing, &context.host)?;
    let progress = context.host.progress("sealing");
    let source = Source::open(&args.file, &context.host, &progress)?;
    if source.sealing.is_some() {
        let error = CliError::new(Kind::Failed, "already_sealed", "the file is sealed already");
        return Err(error.about(&args.file));
    }
    // What is not an archive should not be taken for one later, and damage should be noticed while
    // there may be another copy.
    let bytes = Arc::new(source.bytes);
    check_sound(&args.file, Box::new(Arc::clone(&bytes)), source.length)?;
    if !args.recipient.is_empty() && context.host.keys.passphrase_file.is_some() {
        let message = "a file is sealed for recipients or with a passphrase, not both";
        return Err(CliError::new(Kind::Usage, "usage", message));
    }
    let sealing = if args.recipient.is_empty() {
        Sealing::Passphrase(
            context
                .host
                .keys
                .passphrase(crate::keys::Confirmation::TypeTwice, &*context.host.console)?,
        )
    } else {
        Sealing::Recipients(args.recipient.clone())
    };
    let mut target = Target::create(&args.output, existing)?;
    target.write(Some(&sealing), |out| copy_bytes(&bytes, source.length, out))?;
    let file_size = target.length()?;
    target.deliver(&context.host)?;
    Ok(Copied::new("sealed as", &args.output, file_size))
}

impl Report for Copied {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let size = crate::output::bytes(self.file_size);
        writeln!(out, "{} {BOLD}{}{BOLD:#} ({size})", self.verb, self.output)
    }
}
