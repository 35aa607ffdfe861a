//! The API key of a provider.
//!
//! A key is wiped from memory when it is dropped and has no text form: neither `Display` nor
//! `Debug` prints any of it. The HTTP client has a copy in its headers while a request runs; that
//! copy is marked as secret, but not wiped.

use std::io::Read;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

/// The most bytes that a file with a key may have.
const LONGEST_FILE: u64 = 16 * 1024;

/// A key for an API.
#[derive(Clone)]
pub struct ApiKey(Zeroizing<String>);

impl ApiKey {
    /// Takes the key from a text, without the whitespace around it.
    ///
    /// # Errors
    ///
    /// When nothing is left, or when it could not be sent in a header.
    pub fn new(text: String) -> Result<Self, KeyError> {
        let text = Zeroizing::new(text);
        let key = text.trim();
        if key.is_empty() {
            return Err(KeyError::Empty);
        }
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(KeyError::NotAKey);
        }
        Ok(Self(Zeroizing::new(key.to_owned())))
    }

    /// Reads the key from the one line of a file that only its owner can read.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, when others can read it, or when it holds no key.
    pub fn from_file(path: &Path) -> Result<Self, KeyError> {
        // Checked before it is opened, because opening a pipe waits for its writer.
        if !fs_err::metadata(path)?.is_file() {
            return Err(KeyError::NotAFile(path.to_owned()));
        }
        let file = fs_err::File::open(path)?;
        refuse_shared(&file, path)?;
        let mut bytes = Zeroizing::new(Vec::with_capacity(LONGEST_FILE as usize + 1));
        file.take(LONGEST_FILE + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LONGEST_FILE {
            return Err(KeyError::TooLong(path.to_owned()));
        }
        let text = str::from_utf8(&bytes).map_err(|_| KeyError::NotAKey)?;
        Self::new(text.to_owned())
    }

    /// Returns the header that carries the key to a provider as a bearer's; it is marked as secret.
    #[must_use]
    pub fn authorization(&self) -> Option<reqwest::header::HeaderValue> {
        self.header("Bearer ")
    }

    /// Returns a header with the key after a scheme; it is marked as secret.
    pub(crate) fn header(&self, scheme: &str) -> Option<reqwest::header::HeaderValue> {
        let text = Zeroizing::new(format!("{scheme}{}", self.expose()));
        // A key is printable ASCII, which every header can carry.
        let mut value = reqwest::header::HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Exposes the key to the code that sends it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiKey(hidden)")
    }
}

/// Why there is no key. None of the messages holds any of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// There is only whitespace.
    #[error("the key is empty")]
    Empty,
    /// There is more than one line, or a character that no header can carry.
    #[error("the key is not one line of printable ASCII without spaces")]
    NotAKey,
    /// The path leads to a folder, a pipe or a device.
    #[error("{} is not a file", .0.display())]
    NotAFile(PathBuf),
    /// The group or everyone may read or write it.
    #[error("{} can be used by others than its owner (mode {mode:03o})", .path.display())]
    Shared {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The file is longer than any key.
    #[error("{} is too long for a key", .0.display())]
    TooLong(PathBuf),
    /// The file cannot be read. The source names it.
    #[error("the key cannot be read")]
    Read(#[from] std::io::Error),
}

impl KeyError {
    /// What the operator can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        matches!(self, Self::Shared { .. }).then_some("run `chmod 600` on the file")
    }
}

#[cfg(unix)]
fn refuse_shared(file: &fs_err::File, path: &Path) -> Result<(), KeyError> {
    use std::os::unix::fs::PermissionsExt as _;

    let mode = file.metadata()?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(KeyError::Shared { path: path.to_owned(), mode });
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_shared(_file: &fs_err::File, _path: &Path) -> Result<(), KeyError> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Result<ApiKey, KeyError> {
        ApiKey::new(text.to_owned())
    }

    #[test]
    fn a_key_never_shows() {
        let shown = format!("{:?}", key("sk-very-secret").unwrap());
        assert_eq!(shown, "ApiKey(hidden)");
    }

    #[test]
    fn white_space_around_a_key_is_no_part_of_it() {
        assert_eq!(key(" sk-1\r\n").unwrap().expose(), "sk-1");
    }

    #[test]
    fn what_no_header_can_carry_is_no_key_and_is_not_repeated() {
        for text in ["one two", "one\ntwo", "na\u{ef}ve", "a\0b"] {
            let error = key(text).unwrap_err();
            assert!(matches!(error, KeyError::NotAKey), "{text:?}");
            assert!(!error.to_string().contains(text));
        }
        assert!(matches!(key(" \n"), Err(KeyError::Empty)));
    }

    #[cfg(unix)]
    mod files {
        use super::*;
        use std::os::unix::fs::PermissionsExt as _;

        fn file(bytes: &[u8], mode: u32) -> (tempfile::TempDir, PathBuf) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("key");
            fs_err::write(&path, bytes).unwrap();
            fs_err::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            (folder, path)
        }

        #[test]
        fn a_key_is_read_from_a_file_of_its_owner() {
            let (_folder, path) = file(b"sk-in-a-file\n", 0o600);
            assert_eq!(ApiKey::from_file(&path).unwrap().expose(), "sk-in-a-file");
        }

        #[test]
        fn a_file_that_others_can_use_is_refused() {
            for mode in [0o640, 0o604, 0o620, 0o610, 0o601] {
                let (_folder, path) = file(b"sk-in-a-file\n", mode);
                let error = ApiKey::from_file(&path).unwrap_err();
                assert!(matches!(error, KeyError::Shared { mode: found, .. } if found == mode));
                assert!(error.hint().is_some());
            }
        }

        #[test]
        fn a_file_over_16_kib_is_refused_and_one_below_is_not() {
            let (_folder, path) = file(&[b'k'; 16 * 1024 + 1], 0o600);
            assert!(matches!(ApiKey::from_file(&path), Err(KeyError::TooLong(_))));
            let (_folder, path) = file(&[b'k'; 16 * 1024], 0o600);
            assert_eq!(ApiKey::from_file(&path).unwrap().expose().len(), 16 * 1024);
        }

        #[test]
        fn two_lines_are_no_key() {
            let (_folder, path) = file(b"sk-one\nsk-two\n", 0o600);
            assert!(matches!(ApiKey::from_file(&path), Err(KeyError::NotAKey)));
        }

        #[test]
        fn a_folder_is_no_key() {
            let folder = tempfile::tempdir().unwrap();
            assert!(matches!(ApiKey::from_file(folder.path()), Err(KeyError::NotAFile(_))));
        }
    }
}
