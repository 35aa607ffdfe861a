//! Bounds on a sealed (age) file, checked before the age library sees it.
//!
//! For every line of a header, the library parses the header again from its start, so that a small
//! file of many lines keeps it busy for minutes. It also derives keys from passphrases with as much
//! memory as the file asks for. An attacker who writes the file controls both.

use std::io::{self, BufRead, BufReader, Read, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// How every binary age file starts.
const AGE_MAGIC: &[u8] = b"age-encryption.org/";
/// How every armored age file starts.
const ARMOR_BEGIN: &[u8] = b"-----BEGIN AGE ENCRYPTED FILE-----";
const ARMOR_END: &[u8] = b"-----END AGE ENCRYPTED FILE-----";
/// Characters in a line of armor.
const ARMOR_COLUMNS: usize = 64;

/// The longest header that is read.
const MAX_HEADER_BYTES: u64 = 64 << 10;
/// The most lines of a header that are read: four for every recipient.
const MAX_HEADER_LINES: usize = 1024;
/// The most recipients of a file that is read or written.
pub const MAX_RECIPIENTS: usize = 256;
/// The largest work factor of a passphrase that is read: log2 of scrypt's N, which with r = 8 takes
/// 2^(N + 10) bytes, 256 MiB. `age` writes this factor, and so do we.
pub const WORK_FACTOR: u8 = 18;

/// Why a sealed file is not opened.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderFault {
    /// The header does not end within the bounds.
    #[error(
        "the header of the sealed file is longer than {MAX_HEADER_BYTES} bytes or {MAX_HEADER_LINES} lines"
    )]
    Length,
    /// There are too many recipients.
    #[error("the sealed file has more than {MAX_RECIPIENTS} recipients")]
    Recipients,
    /// Deriving the key takes too much memory.
    #[error("the passphrase has work factor {factor}, above {limit}: deriving the key takes {} MiB of memory", mebibytes(*factor))]
    WorkFactor {
        /// The logarithm of the work that the file asks for.
        factor: u8,
        /// The most that is allowed.
        limit: u8,
    },
}

/// Returns the memory that a work factor takes.
pub fn mebibytes(factor: u8) -> u64 {
    // 128 * r * N bytes, with r = 8.
    1_u64.checked_shl(u32::from(factor.saturating_sub(10))).unwrap_or(u64::MAX)
}

/// Checks the header of a binary age file; damage is left to the library to report.
pub fn check(source: impl Read, max_factor: u8) -> io::Result<Result<(), HeaderFault>> {
    let mut header = BufReader::new(source.take(MAX_HEADER_BYTES + 1));
    let (mut read, mut recipients) = (0, 0);
    let mut line = Vec::new();
    for _ in 0..MAX_HEADER_LINES {
        line.clear();
        let length = header.read_until(b'\n', &mut line)?;
        read += length as u64;
        if read > MAX_HEADER_BYTES {
            return Ok(Err(HeaderFault::Length));
        }
        if length == 0 || line.starts_with(b"---") {
            return Ok(Ok(()));
        }
        if let Some(stanza) = line.strip_prefix(b"-> ") {
            recipients += 1;
            if recipients > MAX_RECIPIENTS {
                return Ok(Err(HeaderFault::Recipients));
            }
            if let Some(factor) = work_factor(stanza)
                && factor > max_factor
            {
                return Ok(Err(HeaderFault::WorkFactor { factor, limit: max_factor }));
            }
        }
    }
    Ok(Err(HeaderFault::Length))
}

/// Returns the work factor of a passphrase's stanza: `scrypt SALT FACTOR`.
fn work_factor(stanza: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(stanza).ok()?;
    let mut words = text.split_whitespace();
    (words.next() == Some("scrypt")).then_some(())?;
    // A factor that is no small number is refused by the library before it derives anything.
    words.nth(1)?.parse().ok()
}

/// The kind of file, judged by its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packaging {
    /// Not sealed.
    Open,
    /// An age file.
    Sealed,
    /// An age file as text.
    Armored,
}

impl Packaging {
    /// How many bytes at the start of a file reveal its kind.
    pub const START_BYTES: u64 = AGE_MAGIC.len() as u64;

    /// Tells by the first [`Packaging::START_BYTES`] of a file.
    pub fn of(start: &[u8]) -> Self {
        if start == AGE_MAGIC {
            Self::Sealed
        } else if start == &ARMOR_BEGIN[..AGE_MAGIC.len()] {
            Self::Armored
        } else {
            Self::Open
        }
    }

    /// Tells what is read from its start on.
    pub fn read(file: &mut impl Read) -> io::Result<Self> {
        let mut start = Vec::new();
        file.take(Self::START_BYTES).read_to_end(&mut start)?;
        Ok(Self::of(&start))
    }

    /// Whether a key is needed to read it.
    pub fn is_sealed(self) -> bool {
        self != Self::Open
    }
}

/// Decodes an armored age file; it stays sealed.
pub fn unarmor(source: impl Read, out: &mut dyn Write) -> io::Result<()> {
    let damaged = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut source = BufReader::new(source);
    let mut line = Vec::new();
    // A line and its end: CR and LF.
    let mut next = |line: &mut Vec<u8>| -> io::Result<()> {
        line.clear();
        source.by_ref().take(ARMOR_COLUMNS as u64 + 2).read_until(b'\n', line)?;
        let text = line.trim_ascii_end().len();
        line.truncate(text);
        Ok(())
    };
    next(&mut line)?;
    if line != ARMOR_BEGIN {
        return Err(damaged("the first line of the armor is damaged"));
    }
    loop {
        next(&mut line)?;
        if line == ARMOR_END {
            return Ok(());
        }
        if line.is_empty() || line.len() > ARMOR_COLUMNS {
            return Err(damaged("the armor is damaged or cut off"));
        }
        let bytes = BASE64.decode(&line).map_err(|_| damaged("the armor is not base64"))?;
        out.write_all(&bytes)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(stanzas: &str) -> String {
        format!("age-encryption.org/v1\n{stanzas}--- AAAA\n")
    }

    fn refused(text: &str) -> Option<HeaderFault> {
        check(text.as_bytes(), WORK_FACTOR).unwrap().err()
    }

    #[test]
    fn a_header_is_bounded_in_bytes_in_lines_and_in_recipients() {
        let stanza = "-> X25519 AAAA\nBBBB\n";
        assert_eq!(refused(&header(&stanza.repeat(MAX_RECIPIENTS))), None);
        let many = header(&stanza.repeat(MAX_RECIPIENTS + 1));
        assert_eq!(refused(&many), Some(HeaderFault::Recipients));
        let long = format!("-> X {}\nBBBB\n", "A".repeat(70_000));
        assert_eq!(refused(&header(&long)), Some(HeaderFault::Length));
        assert_eq!(refused(&header(&"A\n".repeat(1100))), Some(HeaderFault::Length));
        assert_eq!(refused(&"A".repeat(100_000)), Some(HeaderFault::Length));
        assert_eq!(refused("age-encryption.org/v1\n-> X"), None);
    }

    #[test]
    fn a_passphrase_may_cost_256_mebibytes_and_no_more() {
        let stanza = |factor: &str| header(&format!("-> scrypt c2FsdA {factor}\nBBBB\n"));
        assert_eq!(refused(&stanza("18")), None);
        let fault = HeaderFault::WorkFactor { factor: 19, limit: WORK_FACTOR };
        assert!(fault.to_string().contains("512 MiB"), "{fault}");
        assert_eq!(refused(&stanza("19")), Some(fault));
        assert_eq!(mebibytes(WORK_FACTOR), 256);
    }

    #[test]
    fn armor_is_decoded_line_by_line_and_no_line_is_long() {
        let text = |body: &str| {
            let (begin, end) = ("-----BEGIN AGE ENCRYPTED FILE-----", ARMOR_END.escape_ascii());
            format!("{begin}\n{body}{end}\n")
        };
        let decode = |text: String| {
            let mut out = Vec::new();
            unarmor(text.as_bytes(), &mut out).map(|()| out)
        };
        assert_eq!(decode(text("aGVsbG8=\n")).unwrap(), b"hello");
        assert_eq!(decode(text("aGVsbG8=\n").replace('\n', "\r\n")).unwrap(), b"hello");
        assert!(decode(text(&format!("{}\n", "A".repeat(1 << 20)))).is_err());
        assert!(decode(text("aGVsbG8=\n\n")).is_err());
        assert!(decode(text("aGVsbG8=\n").replace("-----END", "-----")).is_err());
    }
}
