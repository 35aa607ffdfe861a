//! SHA-256 of a stream, and its text.

use std::fmt;
use std::io::{self, Write};

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

/// Passes bytes on and digests them on the way.
pub(crate) struct Digesting<W> {
    inner: W,
    hasher: Sha256,
    size: u64,
}

impl<W> Digesting<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, hasher: Sha256::new(), size: 0 }
    }

    /// Returns the inner writer, the number of bytes and their digest.
    pub(crate) fn finish(self) -> (W, u64, String) {
        (self.inner, self.size, Hex(&self.hasher.finalize()).to_string())
    }
}

impl<W: Write> Write for Digesting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
