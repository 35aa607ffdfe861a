//! Seals archives and opens sealed ones, and makes the keys for that.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use age::secrecy::ExposeSecret as _;
use anemone_format::{KEY_BYTES, Limits, VaultKey, kind_of, sha256_hex};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::archive::{OpenArchiveError, check_sound};
use crate::files::{Existing, FileError, InputFile, OutputFile, check_free, copy_bytes, reopen};
use crate::host::Host;
use crate::keys::{KeysError, PassphraseConfirmation, Sealing};
use crate::sealed_header::WORK_FACTOR;

/// Which file is sealed, and for whom.
#[derive(Clone, Debug)]
pub struct EncryptRequest {
    /// The archive or the delta.
    pub file: PathBuf,
    /// Age recipients; without any, it is sealed with a passphrase.
    pub recipients: Vec<String>,
    /// The file that is written.
    pub output: PathBuf,
    /// What happens to a file of that name.
    pub existing: Existing,
}

/// Which sealed file is opened.
#[derive(Clone, Debug)]
pub struct DecryptRequest {
    /// The sealed file.
    pub file: PathBuf,
    /// The file that is written.
    pub output: PathBuf,
    /// What happens to a file of that name.
    pub existing: Existing,
    /// The largest work factor of a passphrase: each step doubles the memory that it takes.
    pub max_work_factor: u8,
}

impl DecryptRequest {
    /// The default limit of the work factor.
    pub const USUAL_WORK_FACTOR: u8 = WORK_FACTOR;
}

/// A file that was sealed or opened.
#[derive(Debug, Serialize)]
pub struct SealReport {
    /// The file that was written.
    pub output: String,
    /// Its length in bytes.
    pub file_size: u64,
    /// What was done.
    #[serde(skip)]
    pub action: SealAction,
}

/// What was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealAction {
    /// It was sealed.
    Sealed,
    /// It was opened.
    Opened,
}

/// Why a file was not sealed or opened.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum SealError {
    /// A file cannot be read or written.
    File(#[from] FileError),
    /// A key cannot be used.
    Keys(#[from] KeysError),
    /// The file is damaged, or no archive.
    Open(#[from] OpenArchiveError),
    /// The file is sealed.
    #[error("{}: the file is sealed already", .0.display())]
    AlreadySealed(PathBuf),
    /// The file is not sealed.
    #[error("{}: the file is not sealed", .0.display())]
    NotSealed(PathBuf),
    /// A passphrase and recipients were given.
    #[error("a file is sealed for recipients or with a passphrase, not both")]
    TwoKeys,
    /// The system refused.
    Io(#[from] io::Error),
}

/// Seals an archive or a delta as an age file.
pub fn encrypt(request: &EncryptRequest, host: &Host) -> Result<SealReport, SealError> {
    let EncryptRequest { file, recipients, output, existing } = request;
    check_free(output, *existing, host)?;
    let source = InputFile::open(file, host, &host.progress("sealing"))?;
    if source.sealing.is_some() {
        return Err(SealError::AlreadySealed(file.clone()));
    }
    // A file that is not an archive should not be mistaken for one later, and damage should be
    // noticed while another copy may exist.
    let bytes = Arc::new(source.bytes);
    check_sound(file, Box::new(Arc::clone(&bytes)), source.length)?;
    if !recipients.is_empty() && host.keys.passphrase_file.is_some() {
        return Err(SealError::TwoKeys);
    }
    let sealing = if recipients.is_empty() {
        let passphrase = host.keys.passphrase(PassphraseConfirmation::TypeTwice, &*host.console)?;
        Sealing::Passphrase(passphrase)
    } else {
        Sealing::Recipients(recipients.clone())
    };
    let mut target = OutputFile::create(output, *existing)?;
    target.write(Some(&sealing), |out| copy_bytes(&bytes, source.length, out))?;
    SealReport::deliver(SealAction::Sealed, output, target, host)
}

/// Opens a sealed archive or delta and writes it without its seal.
pub fn decrypt(request: &DecryptRequest, host: &Host) -> Result<SealReport, SealError> {
    let DecryptRequest { file, output, existing, max_work_factor } = request;
    check_free(output, *existing, host)?;
    let progress = host.progress("opening");
    let source = InputFile::open_with(file, host, &progress, *max_work_factor)?;
    if source.sealing.is_none() {
        return Err(SealError::NotSealed(file.clone()));
    }
    let mut target = OutputFile::create(output, *existing)?;
    target.write(None, |out| copy_bytes(&source.bytes, source.length, out))?;
    let (bytes, length) = reopen(target.file())?;
    kind_of(bytes, length, &Limits::default())
        .map_err(|source| OpenArchiveError::Open { path: file.clone(), source })?;
    SealReport::deliver(SealAction::Opened, output, target, host)
}

impl SealReport {
    fn deliver(
        action: SealAction,
        path: &Path,
        target: OutputFile,
        host: &Host,
    ) -> Result<Self, SealError> {
        let file_size = target.length()?;
        target.deliver(host)?;
        Ok(Self { output: path.display().to_string(), file_size, action })
    }
}

/// What a new key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// It seals secrets of credentials in archives.
    Vault,
    /// It is an age identity, for which whole archives are sealed.
    Age,
}

/// Which key is made.
#[derive(Clone, Debug)]
pub struct KeygenRequest {
    /// What it is for.
    pub kind: KeyKind,
    /// The file that is written.
    pub output: PathBuf,
    /// What happens to a file of that name.
    pub existing: Existing,
}

/// A key that was written.
#[derive(Debug, Serialize)]
pub struct KeygenReport {
    /// The file.
    pub output: String,
    /// `vault key` or `age identity`.
    pub kind: &'static str,
    /// Tells keys apart without telling them.
    pub key_id: String,
    /// For whom archives are sealed, so that the identity opens them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
}

/// Makes a key and writes it to a file that only its owner can read.
pub fn keygen(request: &KeygenRequest, host: &Host) -> Result<KeygenReport, SealError> {
    let (kind, text, recipient, key_id) = match request.kind {
        KeyKind::Age => {
            let identity = age::x25519::Identity::generate();
            let recipient = identity.to_public().to_string();
            let secret = identity.to_string();
            let text = format!("# public key: {recipient}\n{}\n", secret.expose_secret());
            let key_id = key_id(recipient.as_bytes());
            ("age identity", Zeroizing::new(text), Some(recipient), key_id)
        }
        KeyKind::Vault => {
            let mut key = Zeroizing::new([0; KEY_BYTES]);
            crate::system::fill_random(&mut *key).map_err(io::Error::other)?;
            ("vault key", VaultKey::to_key_file(&key), None, key_id(&*key))
        }
    };
    let output = &request.output;
    check_free(output, request.existing, host)?;
    let mut target = OutputFile::create(output, request.existing)?;
    target.write(None, |out| out.write_all(text.as_bytes()).map_err(FileError::Io))?;
    target.deliver(host)?;
    Ok(KeygenReport { output: output.display().to_string(), kind, key_id, recipient })
}

fn key_id(key: &[u8]) -> String {
    sha256_hex(key)[..16].to_owned()
}
