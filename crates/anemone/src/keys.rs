//! Keys of sealed archives: where they come from.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use age::secrecy::SecretString;
use anemone_format::{VaultError, VaultKey};
use zeroize::Zeroizing;

use crate::host::Console;
use crate::sealed_header::{MAX_RECIPIENTS, WORK_FACTOR};

/// Why a key is not found or cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeysError {
    /// A key file cannot be read, or the question to the user failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// What was typed the second time is another passphrase.
    #[error("the two passphrases differ")]
    PassphrasesDiffer,
    /// No passphrase was given, and there is no user to ask.
    #[error("a passphrase is needed")]
    NoPassphrase,
    /// The passphrase has no characters.
    #[error("the passphrase is empty")]
    EmptyPassphrase,
    /// No identity was given.
    /// The path is that of the sealed file.
    #[error("{}: the archive is sealed for a recipient; its identity is needed", .0.display())]
    NoIdentity(PathBuf),
    /// A file holds no identities.
    #[error("{}: not a file of age identities", .0.display())]
    NotIdentities(PathBuf),
    /// A file is sealed for too many.
    #[error("a file is sealed for at most {} recipients", MAX_RECIPIENTS - 1)]
    TooManyRecipients,
    /// A recipient cannot be read.
    /// The reason comes from the age library.
    #[error("not an age recipient: {0}")]
    NotARecipient(String),
    /// A file holds no vault key.
    #[error("{}: {error}", .path.display())]
    VaultKey {
        /// The file.
        path: PathBuf,
        /// Why.
        error: VaultError,
    },
}

/// What seals a file, so that a result can be sealed as its source was.
#[derive(Clone)]
pub enum Sealing {
    /// A passphrase.
    Passphrase(SecretString),
    /// Text forms of recipients, such as `age1...`.
    Recipients(Vec<String>),
}

/// Where keys of sealed archives are found when they are needed.
#[derive(Clone, Default)]
pub struct Keys {
    /// Files of age identities.
    pub identities: Vec<PathBuf>,
    /// A file that holds a passphrase.
    pub passphrase_file: Option<PathBuf>,
    /// A passphrase that was given otherwise, such as by the environment.
    pub passphrase: Option<Zeroizing<String>>,
    /// What was answered when the user was asked, so that it is asked for once.
    answer: Arc<OnceLock<Zeroizing<String>>>,
}

/// Whether a new passphrase has to be typed twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassphraseConfirmation {
    /// It opens something: a wrong one is noticed.
    None,
    /// It seals something: a typing error would lock everybody out.
    TypeTwice,
}

impl Keys {
    /// Finds keys in these places.
    #[must_use]
    pub fn new(
        identities: Vec<PathBuf>,
        passphrase_file: Option<PathBuf>,
        passphrase: Option<Zeroizing<String>>,
    ) -> Self {
        Self { identities, passphrase_file, passphrase, answer: Arc::default() }
    }

    /// Returns the passphrase: from the file, from the request, or from the user who is asked.
    pub fn passphrase(
        &self,
        confirmation: PassphraseConfirmation,
        console: &dyn Console,
    ) -> Result<SecretString, KeysError> {
        let text = if let Some(path) = &self.passphrase_file {
            let text = Zeroizing::new(fs_err::read_to_string(path)?);
            Zeroizing::new(text.trim_end_matches(['\r', '\n']).to_owned())
        } else if let Some(text) = &self.passphrase {
            text.clone()
        } else if console.can_ask() {
            let first = match self.answer.get() {
                Some(answer) => answer.clone(),
                None => console.passphrase("Passphrase: ")?,
            };
            if confirmation == PassphraseConfirmation::TypeTwice {
                let again = console.passphrase("Once more: ")?;
                if *first != *again {
                    return Err(KeysError::PassphrasesDiffer);
                }
            }
            self.answer.get_or_init(|| first).clone()
        } else {
            return Err(KeysError::NoPassphrase);
        };
        if text.is_empty() {
            return Err(KeysError::EmptyPassphrase);
        }
        Ok(SecretString::from(text.to_string()))
    }

    /// Returns the identities that the user gave, and who they are.
    pub fn identities(&self, sealed: &Path) -> Result<(Identities, Vec<String>), KeysError> {
        let mut identities: Identities = Vec::new();
        let mut recipients = Vec::new();
        for path in &self.identities {
            for identity in read_identities(path)? {
                recipients.push(identity.to_public().to_string());
                identities.push(Box::new(identity));
            }
        }
        if identities.is_empty() {
            return Err(KeysError::NoIdentity(sealed.to_owned()));
        }
        Ok((identities, recipients))
    }
}

type Identities = Vec<Box<dyn age::Identity>>;

fn read_identities(path: &Path) -> Result<Vec<age::x25519::Identity>, KeysError> {
    let text = Zeroizing::new(fs_err::read_to_string(path)?);
    let lines = text.lines().map(str::trim);
    let keys = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let identities: Result<Vec<_>, _> = keys.map(str::parse::<age::x25519::Identity>).collect();
    match identities {
        Ok(identities) if !identities.is_empty() => Ok(identities),
        _ => Err(KeysError::NotIdentities(path.to_owned())),
    }
}

/// Makes an age encryptor for a sealing.
pub fn encryptor(sealing: &Sealing) -> Result<age::Encryptor, KeysError> {
    match sealing {
        Sealing::Passphrase(passphrase) => {
            let mut recipient = age::scrypt::Recipient::new(passphrase.clone());
            // A fixed cost: the library would choose one by the speed of this machine, which
            // another one may refuse.
            recipient.set_work_factor(WORK_FACTOR);
            age::Encryptor::with_recipients(std::iter::once(&recipient as &dyn age::Recipient))
                .map_err(|error| KeysError::Io(io::Error::other(error)))
        }
        Sealing::Recipients(texts) => {
            // One more is added by the library, so that readers do not take the number for granted.
            if texts.len() >= MAX_RECIPIENTS {
                return Err(KeysError::TooManyRecipients);
            }
            let parsed: Result<Vec<age::x25519::Recipient>, _> =
                texts.iter().map(|text| text.parse()).collect();
            let parsed =
                parsed.map_err(|reason: &str| KeysError::NotARecipient(reason.to_owned()))?;
            age::Encryptor::with_recipients(
                parsed.iter().map(|recipient| recipient as &dyn age::Recipient),
            )
            .map_err(|error| KeysError::Io(io::Error::other(error)))
        }
    }
}

/// Reads a vault key from its file.
pub fn read_vault_key(path: &Path) -> Result<VaultKey, KeysError> {
    let text = Zeroizing::new(fs_err::read_to_string(path)?);
    VaultKey::parse(&text).map_err(|error| KeysError::VaultKey { path: path.to_owned(), error })
}
