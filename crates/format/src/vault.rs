//! Seals the secret of a credential, and opens it again.
//!
//! XChaCha20-Poly1305 with a fresh 24-byte nonce. The key is 32 raw bytes, or is derived from a
//! passphrase by Argon2id with a fresh salt. The fields that identify the credential (id, agent,
//! service, type) are authenticated with it, so that a sealed secret cannot be moved to another
//! credential.

use std::fmt;

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use sha2::{Digest as _, Sha256};
use zeroize::{Zeroize, Zeroizing};

use crate::credentials::{Credential, Encryption, KdfParams};
use crate::unknown::Unknown;

/// The length of a vault key.
pub const KEY_BYTES: usize = 32;
/// The length of a nonce.
pub const NONCE_BYTES: usize = 24;
/// The length of a salt.
pub const SALT_BYTES: usize = 16;

const ALGORITHM: &str = "xchacha20-poly1305";
const KDF: &str = "argon2id";

/// 64 MiB, three passes, one lane: RFC 9106's second choice, for machines with little memory.
const MEMORY_KIB: u32 = 64 << 10;
const PASSES: u32 = 3;
const LANES: u32 = 1;

/// Higher costs would exhaust the reader's memory or time rather than improve security.
const MAX_MEMORY_KIB: u32 = 1 << 20;
const MAX_PASSES: u32 = 64;
const MAX_LANES: u32 = 64;

/// The key that opens sealed secrets; it is wiped when dropped and never shown.
#[derive(Clone)]
pub enum VaultKey {
    /// Thirty-two raw bytes.
    Raw(Zeroizing<[u8; KEY_BYTES]>),
    /// A text that people can remember.
    Passphrase(Zeroizing<String>),
}

impl fmt::Debug for VaultKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Raw(_) => "VaultKey::Raw(..)",
            Self::Passphrase(_) => "VaultKey::Passphrase(..)",
        })
    }
}

/// Bytes that must be fresh for every sealing; the caller generates them.
#[derive(Clone)]
pub struct SealingBytes {
    /// Never used twice with one key.
    pub nonce: [u8; NONCE_BYTES],
    /// For a passphrase.
    pub salt: [u8; SALT_BYTES],
}

/// Why a secret could not be sealed or opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// The key file does not hold a key.
    #[error("the vault key is not 32 bytes in hexadecimal or base64")]
    Key,
    /// The secret was left behind when the archive was made.
    #[error("the credential {0} carries no secret")]
    NotCarried(String),
    /// Sealed in a way that this version does not know.
    #[error("the credential {id} is sealed with {algorithm}, which this version does not know")]
    Algorithm {
        /// The credential.
        id: String,
        /// The algorithm.
        algorithm: String,
    },
    /// Sealed with the other kind of key.
    #[error("the credential {id} was sealed with a {wanted}")]
    KeyKind {
        /// The credential.
        id: String,
        /// The kind of key that it needs.
        wanted: &'static str,
    },
    /// Invalid metadata, or costs that are too high.
    #[error("the encryption metadata of the credential {0} is damaged")]
    Metadata(String),
    /// The key does not fit, or the secret or its metadata was changed.
    #[error("the vault key does not open the credential {0}")]
    WrongKey(String),
}

impl VaultKey {
    /// Reads a raw key from the text of a key file: 64 hexadecimal digits, or base64.
    pub fn parse(text: &str) -> Result<Self, VaultError> {
        let text = text.trim();
        let mut bytes = Zeroizing::new(if text.len() == 2 * KEY_BYTES && text.is_ascii() {
            (0..KEY_BYTES)
                .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16))
                .collect::<Result<Vec<u8>, _>>()
                .map_err(|_| VaultError::Key)?
        } else {
            BASE64.decode(text).map_err(|_| VaultError::Key)?
        });
        let key = <[u8; KEY_BYTES]>::try_from(&bytes[..]).map_err(|_| VaultError::Key)?;
        bytes.zeroize();
        Ok(Self::Raw(Zeroizing::new(key)))
    }

    /// Returns the text of a key file.
    #[must_use]
    pub fn to_key_file(key: &[u8; KEY_BYTES]) -> Zeroizing<String> {
        Zeroizing::new(format!("{}\n", crate::digest::Hex(key)))
    }

    /// Returns a nonce that depends on the key, the credential and the secret only, so that the
    /// same secret seals to the same bytes and no two secrets share a nonce.
    ///
    /// Only for raw keys: a digest of a passphrase would make the passphrase easier to guess than
    /// Argon2id allows.
    #[must_use]
    pub fn freshness_for(&self, credential: &Credential, secret: &[u8]) -> Option<SealingBytes> {
        let Self::Raw(key) = self else { return None };
        let mut hasher = Sha256::new();
        hasher.update(b"anemone vault nonce 1");
        hasher.update(&key[..]);
        let associated = associated_data(credential);
        hasher.update((associated.len() as u64).to_le_bytes());
        hasher.update(&associated);
        hasher.update(secret);
        let mut nonce = [0; NONCE_BYTES];
        nonce.copy_from_slice(&hasher.finalize()[..NONCE_BYTES]);
        Some(SealingBytes { nonce, salt: [0; SALT_BYTES] })
    }

    /// Seals a secret into a credential.
    pub fn seal(
        &self,
        credential: &mut Credential,
        secret: &[u8],
        fresh: &SealingBytes,
    ) -> Result<(), VaultError> {
        let kdf = match self {
            Self::Raw(_) => None,
            Self::Passphrase(_) => Some(KdfParams {
                memory_cost: Some(MEMORY_KIB),
                time_cost: Some(PASSES),
                parallelism: Some(LANES),
                salt: Some(BASE64.encode(fresh.salt)),
                unknown: Unknown::default(),
            }),
        };
        let encryption = Encryption {
            algorithm: ALGORITHM.to_owned(),
            kdf: kdf.is_some().then(|| KDF.to_owned()),
            kdf_params: kdf,
            nonce: BASE64.encode(fresh.nonce),
            unknown: credential.encryption.unknown.clone(),
        };
        let id = credential.id.to_string();
        let cipher = self.cipher(&encryption, &id)?;
        let payload = Payload { msg: secret, aad: &associated_data(credential) };
        let sealed = cipher
            .encrypt(&XNonce::from(fresh.nonce), payload)
            .map_err(|_| VaultError::Metadata(id))?;
        credential.encrypted_payload = BASE64.encode(sealed);
        credential.encryption = encryption;
        Ok(())
    }

    /// Opens the secret of a credential.
    pub fn open(&self, credential: &Credential) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let id = || credential.id.to_string();
        let encryption = &credential.encryption;
        if credential.encrypted_payload == crate::credentials::NOT_EXPORTED {
            return Err(VaultError::NotCarried(id()));
        }
        if encryption.algorithm != ALGORITHM {
            let algorithm = encryption.algorithm.clone();
            return Err(VaultError::Algorithm { id: id(), algorithm });
        }
        let damaged = || VaultError::Metadata(id());
        let nonce = BASE64.decode(&encryption.nonce).map_err(|_| damaged())?;
        let nonce = <[u8; NONCE_BYTES]>::try_from(&nonce[..]).map_err(|_| damaged())?;
        let sealed = BASE64.decode(&credential.encrypted_payload).map_err(|_| damaged())?;
        let cipher = self.cipher(encryption, &id())?;
        let payload = Payload { msg: &sealed, aad: &associated_data(credential) };
        let secret = cipher.decrypt(&XNonce::from(nonce), payload);
        secret.map(Zeroizing::new).map_err(|_| VaultError::WrongKey(id()))
    }

    fn cipher(&self, encryption: &Encryption, id: &str) -> Result<XChaCha20Poly1305, VaultError> {
        let wrong_kind = |wanted| VaultError::KeyKind { id: id.to_owned(), wanted };
        match (self, encryption.kdf.as_deref()) {
            (Self::Raw(key), None) => Ok(XChaCha20Poly1305::new(&Key::from(**key))),
            (Self::Passphrase(phrase), Some(KDF)) => {
                let key = derive(phrase, encryption.kdf_params.as_ref())
                    .ok_or_else(|| VaultError::Metadata(id.to_owned()))?;
                Ok(XChaCha20Poly1305::new(&Key::from(*key)))
            }
            (Self::Raw(_), Some(_)) => Err(wrong_kind("passphrase")),
            (Self::Passphrase(_), None) => Err(wrong_kind("key file")),
            (Self::Passphrase(_), Some(kdf)) => {
                Err(VaultError::Algorithm { id: id.to_owned(), algorithm: kdf.to_owned() })
            }
        }
    }
}

fn derive(phrase: &str, params: Option<&KdfParams>) -> Option<Zeroizing<[u8; KEY_BYTES]>> {
    let params = params?;
    let memory = params.memory_cost.filter(|cost| *cost <= MAX_MEMORY_KIB)?;
    let passes = params.time_cost.filter(|cost| *cost <= MAX_PASSES)?;
    let lanes = params.parallelism.filter(|lanes| *lanes <= MAX_LANES)?;
    let salt = BASE64.decode(params.salt.as_ref()?).ok()?;
    let params = Params::new(memory, passes, lanes, Some(KEY_BYTES)).ok()?;
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(phrase.as_bytes(), &salt, &mut *key)
        .ok()?;
    Some(key)
}

/// The fields that identify a credential, each with its length, so that no two credentials have the
/// same bytes.
fn associated_data(credential: &Credential) -> Vec<u8> {
    let (id, agent) = (credential.id.to_string(), credential.agent_id.to_string());
    let kind = credential.credential_type.as_str();
    let mut data = b"alf-credential-v1".to_vec();
    for part in [id.as_str(), &agent, &credential.service, kind] {
        data.extend_from_slice(&(part.len() as u64).to_le_bytes());
        data.extend_from_slice(part.as_bytes());
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::{CredentialType, NOT_EXPORTED};

    fn credential() -> Credential {
        Credential {
            id: "1d93a526-85b1-5b5b-9ac8-2fcc8749633d".parse().unwrap(),
            agent_id: "9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap(),
            service: "openai".to_owned(),
            credential_type: CredentialType::ApiKey,
            label: None,
            capabilities_granted: Vec::new(),
            encrypted_payload: NOT_EXPORTED.to_owned(),
            encryption: Encryption::none(),
            created_at: "2026-01-15T00:00:00Z".parse().unwrap(),
            updated_at: None,
            last_rotated_at: None,
            expires_at: None,
            tags: Vec::new(),
            unknown: Unknown::default(),
        }
    }

    fn keys() -> [VaultKey; 2] {
        [
            VaultKey::parse(&"7f".repeat(32)).unwrap(),
            VaultKey::Passphrase(Zeroizing::new("correct horse".to_owned())),
        ]
    }

    const FRESH: SealingBytes = SealingBytes { nonce: [3; NONCE_BYTES], salt: [5; SALT_BYTES] };

    #[test]
    fn a_sealed_secret_opens_with_its_key_only() {
        for (mine, other) in [(0, 1), (1, 0)] {
            let mut sealed = credential();
            keys()[mine].seal(&mut sealed, b"sk-secret", &FRESH).unwrap();
            assert!(!sealed.encrypted_payload.contains("sk-secret"));
            assert_eq!(&**keys()[mine].open(&sealed).unwrap(), b"sk-secret");
            assert!(matches!(keys()[other].open(&sealed), Err(VaultError::KeyKind { .. })));
        }
        let mut sealed = credential();
        keys()[0].seal(&mut sealed, b"sk-secret", &FRESH).unwrap();
        let wrong = VaultKey::parse(&"7e".repeat(32)).unwrap();
        assert!(matches!(wrong.open(&sealed), Err(VaultError::WrongKey(_))));
    }

    #[test]
    fn a_sealed_secret_cannot_be_moved_or_changed() {
        let key = &keys()[0];
        let mut sealed = credential();
        key.seal(&mut sealed, b"sk-secret", &FRESH).unwrap();
        let changes: [fn(&mut Credential); 4] = [
            |credential| credential.service = "evil".to_owned(),
            |credential| credential.credential_type = CredentialType::Custom,
            |credential| credential.id = "1d93a526-85b1-5b5b-9ac8-2fcc8749633e".parse().unwrap(),
            |credential| credential.encrypted_payload.replace_range(0..1, "_"),
        ];
        for change in changes {
            let mut moved = sealed.clone();
            change(&mut moved);
            assert!(key.open(&moved).is_err());
        }
    }

    #[test]
    fn costs_that_would_exhaust_the_reader_are_refused() {
        let mut sealed = credential();
        keys()[1].seal(&mut sealed, b"x", &FRESH).unwrap();
        sealed.encryption.kdf_params.as_mut().unwrap().memory_cost = Some(u32::MAX);
        assert!(matches!(keys()[1].open(&sealed), Err(VaultError::Metadata(_))));
    }

    #[test]
    fn a_derived_nonce_is_the_same_for_the_same_secret_and_no_other() {
        let [raw, passphrase] = keys();
        let nonce = |key: &VaultKey, credential: &Credential, secret: &[u8]| {
            key.freshness_for(credential, secret).unwrap().nonce
        };
        let first = nonce(&raw, &credential(), b"a");
        assert_eq!(first, nonce(&raw, &credential(), b"a"));
        assert_ne!(first, nonce(&raw, &credential(), b"b"));
        let mut other = credential();
        other.service = "another".to_owned();
        assert_ne!(first, nonce(&raw, &other, b"a"));
        assert_ne!(first, nonce(&VaultKey::parse(&"7e".repeat(32)).unwrap(), &credential(), b"a"));
        // It would let an attacker try passphrases without the cost of Argon2id.
        assert!(passphrase.freshness_for(&credential(), b"a").is_none());
    }

    #[test]
    fn a_key_is_never_shown_and_its_file_reads_back() {
        assert_eq!(format!("{:?}", keys()), "[VaultKey::Raw(..), VaultKey::Passphrase(..)]");
        let file = VaultKey::to_key_file(&[0xab; KEY_BYTES]);
        assert!(VaultKey::parse(&file).is_ok());
        assert!(VaultKey::parse(&BASE64.encode([1; KEY_BYTES])).is_ok());
        for text in ["", "xyz", &"zz".repeat(32), &BASE64.encode([1; 31])] {
            assert!(matches!(VaultKey::parse(text), Err(VaultError::Key)), "{text}");
        }
    }
}
