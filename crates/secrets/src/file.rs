//! Files: every byte is searched, and UTF-16 is decoded.
//!
//! Text may begin anywhere in a data file, and some programs append UTF-16 to a UTF-8 file. So the
//! raw bytes are searched and, from the first zero byte on, also as UTF-16 of both byte orders: an
//! ASCII letter in UTF-16 always has a zero byte. A file that begins like gzip is inflated in a
//! stream, and the output is searched too.

use std::io::Write as _;

use flate2::write::MultiGzDecoder;

use crate::{Scanner, SecretHit};

/// Most bytes of a compressed file that are searched; a small file may inflate to a huge one.
const INFLATED: usize = 256 << 20;
/// How gzip begins: its mark and its only method.
const GZIP: &[u8] = &[0x1f, 0x8b, 0x08];

/// After this many consecutive non-ASCII characters, further ones are dropped: the run is already
/// longer than the reach of any rule.
const LONGEST_GAP: usize = 64;

/// Whether the bytes are text in which a secret can be replaced in place. Where it cannot,
/// hits tell kinds and lines, but their ranges may be those of a decoded text.
#[must_use]
pub fn is_text(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes).is_none() && !bytes.starts_with(GZIP)
}

/// Finds secrets in a file in memory; see [`scan`](crate::scan) and [`is_text`].
#[must_use]
pub fn scan_file(bytes: &[u8]) -> Vec<SecretHit> {
    let mut scanner = FileScanner::new();
    scanner.feed(bytes);
    scanner.finish()
}

/// Finds the secrets of a file that comes block by block; the same ones as [`scan_file`].
#[derive(Debug, Default)]
pub struct FileScanner {
    plain: Plain,
    /// What the file inflates to, if it is compressed.
    inflated: Inflated,
}

/// Finds the secrets of bytes as they are, and as UTF-16.
#[derive(Debug, Default)]
struct Plain {
    bytes: Scanner,
    /// The readings as UTF-16, once there was a zero byte.
    wide: Option<[Wide; 2]>,
    /// The last byte, if the next one is the second of its pair.
    odd: Option<u8>,
}

/// The content of a compressed file.
#[derive(Debug, Default)]
enum Inflated {
    /// Nothing came yet.
    #[default]
    Unknown,
    /// The first bytes, too few to tell.
    Begun(Vec<u8>),
    /// Not compressed.
    Not,
    /// Being inflated.
    Running(Box<MultiGzDecoder<Inner>>),
    /// The hits in the data that was inflated up to damage or the limit.
    Stopped(Vec<SecretHit>),
}

impl Inflated {
    fn feed(&mut self, block: &[u8]) {
        let mut begun = match std::mem::take(self) {
            Self::Not => return *self = Self::Not,
            Self::Stopped(hits) => return *self = Self::Stopped(hits),
            Self::Running(decoder) => {
                return *self = Self::go_on(decoder, block);
            }
            Self::Begun(bytes) => bytes,
            Self::Unknown => Vec::new(),
        };
        begun.extend_from_slice(block);
        *self = if begun.len() < GZIP.len() {
            Self::Begun(begun)
        } else if begun.starts_with(GZIP) {
            Self::go_on(Box::new(MultiGzDecoder::new(Inner::default())), &begun)
        } else {
            Self::Not
        };
    }

    fn go_on(mut decoder: Box<MultiGzDecoder<Inner>>, block: &[u8]) -> Self {
        match decoder.write_all(block) {
            Ok(()) => Self::Running(decoder),
            Err(_) => Self::Stopped(std::mem::take(&mut decoder.get_mut().scanner).finish()),
        }
    }

    fn finish(self) -> Vec<SecretHit> {
        match self {
            Self::Unknown | Self::Begun(_) | Self::Not => Vec::new(),
            Self::Stopped(hits) => hits,
            Self::Running(mut decoder) => {
                // A file that was cut ends with an error, and what came out of it was searched.
                decoder.try_finish().unwrap_or_default();
                std::mem::take(&mut decoder.get_mut().scanner).finish()
            }
        }
    }
}

/// Takes inflated bytes, up to a bound.
#[derive(Debug, Default)]
struct Inner {
    /// A file in a file; what is compressed twice is inflated once.
    scanner: Box<Plain>,
    taken: usize,
}

impl std::io::Write for Inner {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.taken >= INFLATED {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.taken += bytes.len();
        self.scanner.feed(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl FileScanner {
    /// Returns a scanner at the beginning of a file.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next block.
    pub fn feed(&mut self, block: &[u8]) {
        self.plain.feed(block);
        self.inflated.feed(block);
    }

    /// Ends the file and returns every hit: those of the bytes, then those of what they inflate to.
    #[must_use]
    pub fn finish(self) -> Vec<SecretHit> {
        let mut hits = self.plain.finish();
        hits.extend(self.inflated.finish());
        hits
    }
}

impl Plain {
    fn feed(&mut self, block: &[u8]) {
        self.bytes.feed(block);
        let mut rest = block;
        if let (Some(first), [second, after @ ..]) = (self.odd, rest) {
            self.feed_wide(&[first, *second]);
            rest = after;
            self.odd = None;
        }
        let pairs = rest.len() & !1;
        self.feed_wide(&rest[..pairs]);
        self.odd = self.odd.or(rest.get(pairs).copied());
    }

    fn feed_wide(&mut self, mut pairs: &[u8]) {
        if self.wide.is_none() {
            let Some(zero) = memchr::memchr(0, pairs) else { return };
            // The bytes before hold no ASCII.
            pairs = &pairs[zero & !1..];
        }
        let wide = self
            .wide
            .get_or_insert_with(|| [Wide::new(u16::from_le_bytes), Wide::new(u16::from_be_bytes)]);
        wide.iter_mut().for_each(|reading| reading.feed(pairs));
    }

    /// Returns every hit, those of the bytes first.
    fn finish(self) -> Vec<SecretHit> {
        let mut hits = self.bytes.finish();
        for reading in self.wide.into_iter().flatten() {
            hits.extend(reading.scanner.finish());
        }
        hits
    }
}

/// Bytes read as UTF-16 in one of its two orders.
#[derive(Debug)]
struct Wide {
    unit: fn([u8; 2]) -> u16,
    scanner: Scanner,
    /// Characters in a row that are not ASCII.
    gap: usize,
    text: String,
}

impl Wide {
    fn new(unit: fn([u8; 2]) -> u16) -> Self {
        Self { unit, scanner: Scanner::new(), gap: 0, text: String::new() }
    }

    fn feed(&mut self, pairs: &[u8]) {
        for pair in pairs.chunks_exact(2) {
            let unit = (self.unit)([pair[0], pair[1]]);
            self.gap = if matches!(unit, 1..=0x7f) { 0 } else { self.gap + 1 };
            if self.gap <= LONGEST_GAP {
                // Half a character is no part of a secret.
                self.text.push(char::from_u32(u32::from(unit)).unwrap_or('\u{fffd}'));
            }
        }
        self.scanner.feed(self.text.as_bytes());
        self.text.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A key in the shape that GitHub documents, with a body of no meaning.
    fn key() -> String {
        format!("ghp_{}", "aB3dE5gH7j".repeat(4).split_at(36).0)
    }

    fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(unit).collect()
    }

    fn found(bytes: &[u8]) -> Vec<(&'static str, u64)> {
        let hits = scan_file(bytes);
        for size in [1, 2, 3, 100, 1001, 1 << 20] {
            let mut scanner = FileScanner::new();
            bytes.chunks(size).for_each(|block| scanner.feed(block));
            assert_eq!(scanner.finish(), hits, "blocks of {size}");
        }
        hits.into_iter().map(|hit| (hit.kind, hit.line)).collect()
    }

    #[test]
    fn a_zero_byte_hides_nothing_wherever_it_stands() {
        let text = format!("{}\ntoken: {}\n", "x ".repeat(10_000), key());
        assert_eq!(found(text.as_bytes()), [("github_token", 2)]);
        assert!(is_text(text.as_bytes()));
        for zero in [0, 1, 100, 8191, 8192, text.len() - 1] {
            let mut bytes = text.clone().into_bytes();
            bytes[zero] = 0;
            assert_eq!(found(&bytes), [("github_token", 2)], "{zero}");
            assert!(!is_text(&bytes));
        }
    }

    #[test]
    fn a_key_in_the_middle_of_data_is_found() {
        let picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01";
        let bytes = [picture, &[0; 5000][..], key().as_bytes(), &[0, 1, 2, 0xff][..]].concat();
        assert_eq!(found(&bytes), [("github_token", 3)]);
        let glued = [&[0xff, 0x00][..], key().as_bytes(), &[0xfe]].concat();
        assert_eq!(found(&glued), [("github_token", 1)]);
    }

    #[test]
    fn the_tables_of_a_picture_are_no_secret() {
        // The table that JPEG suggests for brightness, from the standard (K.3.3.2).
        let table = b"\x16\x17\x18\x19\x1a%&'()*456789:CDEFGHIJSTUVWXYZcdefghijstuvwxyz\x83\x84";
        assert_eq!(found(&[b"\xff\xd8\xff\xe0\0\x10JFIF\0", &table[..]].concat()), []);
    }

    #[test]
    fn utf16_is_read_as_text() {
        let key = key();
        for before in ["", "\u{feff}", "a\n\u{feff}é\n", "日本語\n記\r\n𝕏\n"] {
            let lines = before.matches('\n').count() as u64 + 1;
            for (start, end) in [("", ""), ("token = ", "\n"), ("記", "録"), ("\"", "\"\n")] {
                let text = format!("{before}{start}{key}{end}");
                for unit in [u16::to_le_bytes, u16::to_be_bytes] {
                    let bytes = utf16(&text, unit);
                    assert_eq!(found(&bytes), [("github_token", lines)], "{text:?}");
                    assert!(!is_text(&bytes));
                }
            }
        }
        // A password is known by its name only, which has to be read as well.
        let login = utf16("user: ada\npassword: h7Gk2mQ9xV4\n", u16::to_le_bytes);
        assert_eq!(found(&login).len(), 1);
    }

    #[test]
    fn utf16_is_found_behind_other_text() {
        for before in ["log\n", "odd\n\n"] {
            for unit in [u16::to_le_bytes, u16::to_be_bytes] {
                let bytes = [before.as_bytes(), &utf16(&format!("x {}\n", key()), unit)].concat();
                let kinds: Vec<_> = found(&bytes).into_iter().map(|(kind, _)| kind).collect();
                assert_eq!(kinds, ["github_token"], "{before:?}");
            }
        }
    }

    #[test]
    fn foreign_letters_in_between_are_many_or_few() {
        for letters in [1, LONGEST_GAP - 1, LONGEST_GAP, LONGEST_GAP + 1, 5000] {
            let text = format!("a\n{}{}{}\n", "漢".repeat(letters), key(), "字".repeat(letters));
            assert_eq!(found(&utf16(&text, u16::to_be_bytes)), [("github_token", 2)], "{letters}");
        }
    }

    /// Returns bytes without any meaning; the same ones for the same seed.
    fn random_bytes(seed: u64, length: usize) -> Vec<u8> {
        // SplitMix64.
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        };
        (0..length.div_ceil(8)).flat_map(|_| next().to_le_bytes()).take(length).collect()
    }

    #[test]
    fn random_bytes_hold_no_secrets() {
        for seed in 0..200 {
            assert_eq!(scan_file(&random_bytes(seed, 100_000)), [], "seed {seed}");
        }
    }
}
