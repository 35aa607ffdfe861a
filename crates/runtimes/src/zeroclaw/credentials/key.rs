//! The key of an install, and the values that it encrypts.
//!
//! | value | what it is |
//! |---|---|
//! | `enc2:` hex of nonce, text and tag | ChaCha20-Poly1305 without associated data |
//! | `enc:` hex | XOR with the key, on one day of 2026; readable ever since |
//! | `op://vault/item/field` | says where the secret is |
//! | anything else | the secret itself |

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use anemone_format::Hex;
use chacha20poly1305::aead::{Aead as _, Generate as _, KeyInit as _};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};
use sha2::{Digest as _, Sha256};
use zeroize::{Zeroize as _, Zeroizing};

use crate::kit::hex;
use crate::zeroclaw::config::{ENCRYPTED, read_plain, write_new};

/// What the file is called.
const FILE: &str = ".secret_key";
/// Bytes of a key.
const KEY_BYTES: usize = 32;
/// Bytes of a nonce.
const NONCE_BYTES: usize = 12;
/// Bytes of its file, at most: hexadecimal, and a line break.
const MAX_FILE_BYTES: u64 = 256;

/// The key of an install; wiped when dropped.
pub(super) struct SecretKey(Zeroizing<[u8; KEY_BYTES]>);

/// Why a value could not be opened; it reveals nothing about the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(super) enum OpenError {
    /// It is encrypted, and there is no key.
    #[error("the install has no .secret_key that could be read")]
    NoKey,
    /// It was encrypted with another key, or is damaged.
    #[error("the install's .secret_key does not open them")]
    WrongKey,
}

/// Returns where the key of an install is.
pub(super) fn path_of(install: &Path) -> PathBuf {
    install.join(FILE)
}

/// Returns whether a value is encrypted.
pub(super) fn is_encrypted(value: &str) -> bool {
    ENCRYPTED.iter().any(|mark| value.starts_with(mark))
}

/// Opens a value with a key, where it needs one. The text is the secret in clear.
pub(super) fn open(key: Option<&SecretKey>, value: &str) -> Result<Zeroizing<String>, OpenError> {
    let [new, old] = ENCRYPTED;
    let (is_new, digits) = match (value.strip_prefix(new), value.strip_prefix(old)) {
        (Some(digits), _) => (true, digits),
        (None, Some(digits)) => (false, digits),
        (None, None) => return Ok(Zeroizing::new(value.to_owned())),
    };
    let key = key.ok_or(OpenError::NoKey)?;
    let bytes = Zeroizing::new(hex::decoded(digits).ok_or(OpenError::WrongKey)?);
    let opened = if is_new {
        let (nonce, sealed) =
            bytes.split_first_chunk::<NONCE_BYTES>().ok_or(OpenError::WrongKey)?;
        key.cipher().decrypt(&Nonce::from(*nonce), sealed).map_err(|_| OpenError::WrongKey)?
    } else {
        bytes.iter().zip(key.0.iter().cycle()).map(|(byte, key)| byte ^ key).collect()
    };
    let opened = Zeroizing::new(opened);
    let text = std::str::from_utf8(&opened).map_err(|_| OpenError::WrongKey)?;
    Ok(Zeroizing::new(text.to_owned()))
}

impl SecretKey {
    /// Reads the key of an install; `None` when there is none. The runtime follows no link to it,
    /// and neither do we.
    pub(super) fn read(install: &Path) -> io::Result<Option<Self>> {
        let Some(text) = read_plain(&path_of(install), MAX_FILE_BYTES)? else { return Ok(None) };
        let bytes = hex::decoded(text.trim()).map(Zeroizing::new);
        let key = bytes.and_then(|bytes| <[u8; KEY_BYTES]>::try_from(bytes.as_slice()).ok());
        let key =
            key.ok_or_else(|| io::Error::other("it is not a key of 64 hexadecimal digits"))?;
        Ok(Some(Self(Zeroizing::new(key))))
    }

    /// Returns a placeholder for a key that does not exist yet.
    pub(super) fn nothing() -> Self {
        Self(Zeroizing::new([0; KEY_BYTES]))
    }

    /// Creates a key and writes it, readable only by its owner.
    pub(super) fn make(install: &Path) -> io::Result<Self> {
        let mut random = Key::try_generate().map_err(|_| io::Error::other("no random bytes"))?;
        let key = Self(Zeroizing::new(random.into()));
        random.as_mut_slice().zeroize();
        write_new(&path_of(install), &to_hex(&key.0[..]))?;
        Ok(key)
    }

    /// Encrypts the value at a place.
    ///
    /// The nonce is a digest under the key of place and value. It cannot be guessed, two values
    /// share one only if they are the same, and the same value always gives the same bytes. That
    /// reveals that a value did not change, which is not a secret here.
    pub(super) fn seal(&self, place: &str, value: &str) -> Zeroizing<String> {
        if value.is_empty() {
            return Zeroizing::new(String::new());
        }
        let mut hasher = Sha256::new();
        hasher.update(b"anemone zeroclaw nonce 1");
        hasher.update(&self.0[..]);
        hasher.update((place.len() as u64).to_le_bytes());
        hasher.update(place);
        hasher.update(value);
        let mut nonce = [0; NONCE_BYTES];
        nonce.copy_from_slice(&hasher.finalize()[..NONCE_BYTES]);
        let sealed = self
            .cipher()
            .encrypt(&Nonce::from(nonce), value.as_bytes())
            .expect("a text that fits into memory is shorter than the cipher's limit");
        let (nonce, sealed) = (to_hex(&nonce), to_hex(&sealed));
        Zeroizing::new(format!("{}{}{}", ENCRYPTED[0], *nonce, *sealed))
    }

    fn cipher(&self) -> ChaCha20Poly1305 {
        ChaCha20Poly1305::new(&Key::from(*self.0))
    }
}

fn to_hex(bytes: &[u8]) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(bytes.len() * 2));
    write!(*text, "{}", Hex(bytes)).expect("a string takes any text");
    text
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    pub(super) const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    fn key() -> SecretKey {
        let folder = TempDir::new().unwrap();
        fs_err::write(folder.path().join(FILE), format!("{KEY}\n")).unwrap();
        SecretKey::read(folder.path()).unwrap().unwrap()
    }

    #[test]
    fn the_value_of_the_runtimes_own_test_opens() {
        let value = "enc2:0000000000000000000000007eca2d4bc8888bb372023716ce312a0a9bde9e8580d976\
                     28898b8882bba56517740f7ddee9dd6324f1b35f";
        assert_eq!(*open(Some(&key()), value).unwrap(), "frozen-backward-compat-test");
        assert_eq!(open(None, value).unwrap_err(), OpenError::NoKey);
        assert_eq!(open(Some(&key()), &value[..60]).unwrap_err(), OpenError::WrongKey);
        for odd in ["enc2:", "enc2:zz", "enc2:00", "enc:f", "enc2:\u{e9}"] {
            assert_eq!(open(Some(&key()), odd).unwrap_err(), OpenError::WrongKey, "{odd}");
        }
    }

    #[test]
    fn values_of_the_first_day_and_plain_ones_open() {
        // XOR of "abc" with 00, 01, 02.
        assert_eq!(*open(Some(&key()), "enc:616361").unwrap(), "abc");
        assert_eq!(*open(None, "sk-plain").unwrap(), "sk-plain");
    }

    #[test]
    fn what_is_sealed_opens_and_is_the_same_every_time() {
        let key = key();
        let sealed = key.seal("api_key", "sk-\u{fc}");
        assert!(
            sealed.starts_with("enc2:") && sealed.len() == 5 + 2 * (12 + 5 + 16),
            "{}",
            *sealed
        );
        assert_eq!(*open(Some(&key), &sealed).unwrap(), "sk-\u{fc}");
        assert_eq!(sealed, key.seal("api_key", "sk-\u{fc}"));
        assert_ne!(sealed, key.seal("other", "sk-\u{fc}"));
        assert_eq!(*key.seal("api_key", ""), "");
    }

    #[test]
    fn a_key_is_made_once_and_links_are_not_followed() {
        let folder = TempDir::new().unwrap();
        assert!(SecretKey::read(folder.path()).unwrap().is_none());
        let made = SecretKey::make(folder.path()).unwrap();
        let read = SecretKey::read(folder.path()).unwrap().unwrap();
        assert_eq!(*made.0, *read.0);
        assert_ne!(*made.0, [0; KEY_BYTES]);
        assert!(SecretKey::make(folder.path()).is_err(), "one is there");
        let other = TempDir::new().unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs_err::metadata(path_of(folder.path())).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            fs_err::os::unix::fs::symlink(path_of(folder.path()), path_of(other.path())).unwrap();
            assert!(SecretKey::read(other.path()).is_err());
        }
        fs_err::write(path_of(folder.path()), "00").unwrap();
        assert!(SecretKey::read(folder.path()).is_err());
    }
}
