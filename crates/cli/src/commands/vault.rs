//! `anemone vault`

use std::io::{self, Write};
use std::path::PathBuf;

use age::secrecy::ExposeSecret as _;
use anemone_format::{KEY_BYTES, VaultKey, sha256_hex};
use clap::{Args, Subcommand};
use serde::Serialize;
use zeroize::Zeroizing;

use super::Context;
use crate::error::CliError;
use crate::files::{Existing, FileError, Target, check_free};
use crate::output::{BOLD, Report};

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

#[derive(Serialize)]
pub(crate) struct KeyWritten {
    ok: bool,
    output: String,
    kind: &'static str,
    /// Tells keys apart without telling them.
    key_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipient: Option<String>,
}

pub(crate) fn run(args: &VaultArgs, context: &Context<'_>) -> Result<KeyWritten, CliError> {
    let VaultCommand::Keygen(args) = &args.command;
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    let (kind, text, recipient, key_id) = if args.age {
        let identity = age::x25519::Identity::generate();
        let recipient = identity.to_public().to_string();
        let secret = identity.to_string();
        let text = format!("# public key: {recipient}\n{}\n", secret.expose_secret());
        let key_id = key_id(recipient.as_bytes());
        ("age identity", Zeroizing::new(text), Some(recipient), key_id)
    } else {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        getrandom::fill(&mut *key).map_err(|error| CliError::from(io::Error::other(error)))?;
        ("vault key", VaultKey::to_key_file(&key), None, key_id(&*key))
    };
    check_free(&args.output, existing, &context.host)?;
    let mut target = Target::create(&args.output, existing)?;
    target.write(None, |out| out.write_all(text.as_bytes()).map_err(FileError::Io))?;
    target.deliver(&context.host)?;
    Ok(KeyWritten { ok: true, output: args.output.display().to_string(), kind, key_id, recipient })
}

fn key_id(key: &[u8]) -> String {
    sha256_hex(key)[..16].to_owned()
}

impl Report for KeyWritten {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "wrote {BOLD}{}{BOLD:#}: {} {}", self.output, self.kind, self.key_id)?;
        if let Some(recipient) = &self.recipient {
            writeln!(out, "seal archives with: anemone encrypt FILE -r {recipient} -o FILE.age")?;
        }
        Ok(())
    }
}
