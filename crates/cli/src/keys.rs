//! Keys of sealed archives: where they come from.

use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};

use age::secrecy::SecretString;
use anemone_format::VaultKey;
use clap::Args;
use zeroize::Zeroizing;

use crate::environment::Environment;
use crate::error::{CliError, Kind};
use crate::sealed_header::{MAX_RECIPIENTS, WORK_FACTOR};

/// Arguments with which a sealed file is opened.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct KeyArgs {
    /// Open sealed archives with the age identities in this file
    #[arg(long, short = 'i', global = true, value_name = "FILE", help_heading = "Sealed archives")]
    pub(crate) identity: Vec<PathBuf>,

    /// Open sealed archives with the passphrase in this file (also: ANEMONE_PASSPHRASE, or a
    /// prompt)
    #[arg(long, global = true, value_name = "FILE", help_heading = "Sealed archives")]
    pub(crate) passphrase_file: Option<PathBuf>,
}

/// What seals a file, so that a result can be sealed as its source was.
#[derive(Clone)]
pub(crate) enum Sealing {
    Passphrase(SecretString),
    /// Text forms of recipients, such as `age1...`.
    Recipients(Vec<String>),
}

/// Finds keys when they are asked for.
pub(crate) struct Keys<'a> {
    args: &'a KeyArgs,
    environment: &'a Environment,
    /// What was answered at the prompt, so that it is asked for once.
    answer: OnceCell<Zeroizing<String>>,
}

impl<'a> Keys<'a> {
    pub(crate) fn new(args: &'a KeyArgs, environment: &'a Environment) -> Self {
        Self { args, environment, answer: OnceCell::new() }
    }

    /// Returns the arguments that say where keys are.
    pub(crate) const fn args(&self) -> &'a KeyArgs {
        self.args
    }

    pub(crate) fn has_passphrase_file(&self) -> bool {
        self.args.passphrase_file.is_some()
    }

    /// Returns the passphrase that the user gave: by file, by environment, or at a prompt.
    pub(crate) fn passphrase(&self, confirm: bool) -> Result<SecretString, CliError> {
        let text = if let Some(path) = &self.args.passphrase_file {
            let text = Zeroizing::new(fs_err::read_to_string(path)?);
            Zeroizing::new(text.trim_end_matches(['\r', '\n']).to_owned())
        } else if let Some(text) = &self.environment.passphrase {
            text.clone()
        } else if self.environment.stdin_is_terminal && self.environment.stderr_is_terminal {
            let first = match self.answer.get() {
                Some(answer) => answer.clone(),
                None => Zeroizing::new(rpassword::prompt_password("Passphrase: ")?),
            };
            if confirm {
                let again = Zeroizing::new(rpassword::prompt_password("Once more: ")?);
                if *first != *again {
                    let message = "the two passphrases differ";
                    return Err(CliError::new(Kind::Failed, "passphrase", message));
                }
            }
            self.answer.get_or_init(|| first).clone()
        } else {
            return Err(CliError::new(Kind::Failed, "key_needed", "a passphrase is needed")
                .hint("give --passphrase-file FILE or set ANEMONE_PASSPHRASE"));
        };
        if text.is_empty() {
            return Err(CliError::new(Kind::Failed, "passphrase", "the passphrase is empty"));
        }
        Ok(SecretString::from(text.to_string()))
    }

    /// Returns the identities that the user gave, and who they are.
    pub(crate) fn identities(&self, sealed: &Path) -> Result<(Identities, Vec<String>), CliError> {
        let mut identities: Identities = Vec::new();
        let mut recipients = Vec::new();
        for path in &self.args.identity {
            for identity in read_identities(path)? {
                recipients.push(identity.to_public().to_string());
                identities.push(Box::new(identity));
            }
        }
        if identities.is_empty() {
            let message = "the archive is sealed for a recipient; its identity is needed";
            return Err(CliError::new(Kind::Failed, "key_needed", message)
                .about(sealed)
                .hint("give --identity FILE, the file that age-keygen or `anemone vault keygen --age` wrote"));
        }
        Ok((identities, recipients))
    }
}

type Identities = Vec<Box<dyn age::Identity>>;

fn read_identities(path: &Path) -> Result<Vec<age::x25519::Identity>, CliError> {
    let text = Zeroizing::new(fs_err::read_to_string(path)?);
    let lines = text.lines().map(str::trim);
    let keys = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let identities: Result<Vec<_>, _> = keys.map(str::parse::<age::x25519::Identity>).collect();
    match identities {
        Ok(identities) if !identities.is_empty() => Ok(identities),
        _ => Err(CliError::new(Kind::Failed, "identity", "not a file of age identities")
            .about(path)
            .hint("it should have a line that starts with AGE-SECRET-KEY-1")),
    }
}

/// Makes an age encryptor for a sealing.
pub(crate) fn encryptor(sealing: &Sealing) -> Result<age::Encryptor, CliError> {
    match sealing {
        Sealing::Passphrase(passphrase) => {
            let mut recipient = age::scrypt::Recipient::new(passphrase.clone());
            // A fixed cost: the library would choose one by the speed of this machine, which
            // another one may refuse.
            recipient.set_work_factor(WORK_FACTOR);
            age::Encryptor::with_recipients(std::iter::once(&recipient as &dyn age::Recipient))
                .map_err(|error| CliError::from(io::Error::other(error)))
        }
        Sealing::Recipients(texts) => {
            // One more is added by the library, so that readers do not take the number for granted.
            if texts.len() >= MAX_RECIPIENTS {
                let message =
                    format!("a file is sealed for at most {} recipients", MAX_RECIPIENTS - 1);
                return Err(
                    CliError::new(Kind::Usage, "recipient", message).hint("seal several copies")
                );
            }
            let parsed: Result<Vec<age::x25519::Recipient>, _> =
                texts.iter().map(|text| text.parse()).collect();
            let parsed = parsed.map_err(|error: &str| {
                CliError::new(Kind::Usage, "recipient", format!("not an age recipient: {error}"))
                    .hint("recipients look like age1...")
            })?;
            age::Encryptor::with_recipients(parsed.iter().map(|it| it as &dyn age::Recipient))
                .map_err(|error| CliError::from(io::Error::other(error)))
        }
    }
}

/// Reads a vault key from its file.
pub(crate) fn read_vault_key(path: &Path) -> Result<VaultKey, CliError> {
    let text = Zeroizing::new(fs_err::read_to_string(path)?);
    VaultKey::parse(&text).map_err(|error| {
        CliError::from(error).about(path).hint("`anemone vault keygen -o FILE` makes a key")
    })
}
