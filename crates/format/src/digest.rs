//! SHA-256 of a stream, and its text.

use std::fmt;
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

/// Writes bytes as lower-case hexadecimal.
pub struct Hex<'a>(pub &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Returns the SHA-256 of some bytes in lower-case hexadecimal.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    Hex(&Sha256::digest(bytes)).to_string()
}

/// Reads to the end and returns the SHA-256 in lower-case hexadecimal.
pub(crate) fn digest_of(mut content: impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match content.read(&mut buffer) {
            Ok(0) => return Ok(Hex(&hasher.finalize()).to_string()),
            Ok(read) => hasher.update(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
