//! The digest over a whole file, kept in the comment at its end.

use std::io::{self, Write};

use rawzip::ReaderAt;
use sha2::{Digest as _, Sha256};

use crate::digest::Hex;

const PREFIX: &[u8] = b"alf-seal:sha256:";

/// The length of the comment that holds a seal.
pub(crate) const SEAL_BYTES: usize = PREFIX.len() + 64;

/// A comment of the right length, to be replaced by [`Sealing::finish`].
pub(crate) fn placeholder() -> Vec<u8> {
    vec![b'0'; SEAL_BYTES]
}

/// Passes bytes on, digests them, and replaces the last [`SEAL_BYTES`] by the seal.
pub(crate) struct Sealing<W> {
    inner: W,
    hasher: Sha256,
    held: Vec<u8>,
    written: u64,
}

impl<W: Write> Sealing<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, hasher: Sha256::new(), held: Vec::new(), written: 0 }
    }

    fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.inner.write_all(bytes)?;
        self.hasher.update(bytes);
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Writes the seal in place of the placeholder; returns the writer and the bytes written.
    pub(crate) fn finish(mut self) -> io::Result<(W, u64)> {
        debug_assert_eq!(
            self.held,
            placeholder(),
            "the placeholder must be the last thing written"
        );
        let digest = self.hasher.finalize();
        self.inner.write_all(PREFIX)?;
        write!(self.inner, "{}", Hex(&digest))?;
        self.inner.flush()?;
        Ok((self.inner, self.written + SEAL_BYTES as u64))
    }
}

impl<W: Write> Write for Sealing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The last bytes may be the placeholder, so they are held back.
        if bytes.len() >= SEAL_BYTES {
            let held = std::mem::take(&mut self.held);
            self.pass(&held)?;
            let (now, later) = bytes.split_at(bytes.len() - SEAL_BYTES);
            self.pass(now)?;
            self.held = held;
            self.held.clear();
            self.held.extend_from_slice(later);
        } else {
            self.held.extend_from_slice(bytes);
            if self.held.len() > SEAL_BYTES {
                let held = std::mem::take(&mut self.held);
                let (now, later) = held.split_at(held.len() - SEAL_BYTES);
                self.pass(now)?;
                self.held = later.to_vec();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the end of a file shows about the rest of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seal {
    /// The digest exists and is correct.
    Intact,
    /// There is no digest: the file was written by another tool.
    Absent,
    /// The digest exists and is wrong.
    Broken,
}

/// Checks the seal of a file of a known length, given its comment.
pub(crate) fn check(source: &impl ReaderAt, length: u64, comment: &[u8]) -> io::Result<Seal> {
    let Some(hex) = comment.strip_prefix(PREFIX) else {
        return Ok(if is_damaged_seal(comment) { Seal::Broken } else { Seal::Absent });
    };
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    let end = length - comment.len() as u64;
    let mut at = 0;
    while at < end {
        let want = usize::try_from(end - at).unwrap_or(usize::MAX).min(buffer.len());
        let read = source.read_at(&mut buffer[..want], at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        hasher.update(&buffer[..read]);
        at += read as u64;
    }
    let matches = Hex(&hasher.finalize()).to_string().as_bytes() == hex;
    Ok(if matches { Seal::Intact } else { Seal::Broken })
}

/// Returns true for a comment that was a seal before its prefix was damaged. Without this check, a
/// flipped bit in the prefix would make it look like a comment of another tool.
fn is_damaged_seal(comment: &[u8]) -> bool {
    comment.len() == SEAL_BYTES && comment[PREFIX.len()..].iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seal_is_the_digest_of_what_comes_before_it_however_it_was_cut() {
        for size in [1, 7, SEAL_BYTES - 1, SEAL_BYTES, SEAL_BYTES + 1, 5000] {
            let mut bytes = vec![7; 3000];
            bytes.extend(placeholder());
            let mut writer = Sealing::new(Vec::new());
            for piece in bytes.chunks(size) {
                writer.write_all(piece).unwrap();
            }
            let (sealed, length) = writer.finish().unwrap();
            assert_eq!(sealed.len() as u64, length);
            assert_eq!(&sealed[..3000], &bytes[..3000]);
            assert_eq!(check(&sealed, length, &sealed[3000..]).unwrap(), Seal::Intact);
            let mut flipped = sealed.clone();
            flipped[17] ^= 1;
            assert_eq!(check(&flipped, length, &flipped[3000..]).unwrap(), Seal::Broken);
            let mut flipped = sealed.clone();
            flipped[3000] ^= 1;
            assert_eq!(check(&flipped, length, &flipped[3000..]).unwrap(), Seal::Broken);
        }
    }
}
