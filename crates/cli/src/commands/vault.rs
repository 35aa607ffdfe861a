//! `anemone vault`

use std::io::{self, Write};
use std::path::PathBuf;

use anemone::files::Existing;
use anemone::seal::{KeyKind, KeygenReport, KeygenRequest, keygen};
use clap::{Args, Subcommand};

use super::Context;
use crate::output::{BOLD, Report, Result};

/// Manage the keys that seal credentials and archives
#[derive(Args, Debug)]
pub(crate) struct VaultArgs {
    #[command(subcommand)]
    command: VaultCommand,
}

#[derive(Debug, Subcommand)]
enum VaultCommand {
    Keygen(KeygenArgs),
}

/// Generate a key and write it to a file that only you can read
///
/// The key itself is never shown. Keep a copy where the archive is not: without it, what is
/// sealed stays sealed.
#[derive(Args, Debug)]
struct KeygenArgs {
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Make an age identity, for sealing whole archives, instead of a vault key for credentials
    #[arg(long)]
    age: bool,

    /// Replace the file if it is there; what was sealed with the old key then stays sealed
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &VaultArgs, context: &Context<'_>) -> Result<KeygenReport> {
    let VaultCommand::Keygen(args) = &args.command;
    let request = KeygenRequest {
        kind: if args.age { KeyKind::Age } else { KeyKind::Vault },
        output: args.output.clone(),
        existing: if args.force { Existing::Replace } else { Existing::Keep },
    };
    Ok(keygen(&request, &context.host)?)
}

impl Report for KeygenReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "wrote {BOLD}{}{BOLD:#}: {} {}", self.output, self.kind, self.key_id)?;
        if let Some(recipient) = &self.recipient {
            writeln!(out, "seal archives with: anemone encrypt FILE -r {recipient} -o FILE.age")?;
        }
        Ok(())
    }
}
