//! Checks whether a text still exists somewhere: files of any kind are read completely.
//!
//! A text is searched for literally and in the forms in which other programs may have written it:
//! with other line endings, indented below a list item, with JSON escapes. A database cuts long
//! texts into pages, so for a long text three pieces are searched for, and one of them is enough.

use std::fs::FileType;
use std::io;
use std::path::{Path, PathBuf};

use aho_corasick::{AhoCorasick, MatchKind};
use anemone_format::escaped;
use memchr::memmem;

/// A text with fewer characters may occur anywhere by accident: only isolated occurrences count.
const MIN_CHARS: usize = 8;
/// A line of a text is only searched for separately if it has at least this many characters.
const MIN_LINE_CHARS: usize = 24;
/// The number of bytes around a short text that decide whether it is isolated.
const AROUND: usize = 16;
/// A longer text is searched for by its pieces.
const MAX_WHOLE_BYTES: usize = 96;
/// Bytes of a piece.
const PIECE_BYTES: usize = 64;
/// How many bytes of a file are scanned together, so that they stay in the processor's cache.
const WINDOW_BYTES: usize = 256 << 10;
/// Up to this many probes are searched for one after the other, which is faster than all at once.
const FEW: usize = 4;
/// Files that are read, at most.
const MAX_FILES: u64 = 1_000_000;
/// Folders in folders that are entered, at most.
const MAX_DEPTH: usize = 64;

/// The probes of a scan.
#[derive(Debug)]
pub struct ErasureProbes {
    finder: Option<Finder>,
    /// Short texts, which count only where they are isolated.
    short: Vec<memmem::Finder<'static>>,
    /// Bytes of the longest probe, with the bytes around it that have to be checked.
    longest: usize,
    /// How many texts are too short to be searched for everywhere: they are found where they are
    /// isolated in a text file, and cannot be distinguished from an accident in a database.
    pub too_short: u64,
}

/// How probes are searched for.
#[derive(Debug)]
enum Finder {
    Few(Vec<memmem::Finder<'static>>),
    Many(AhoCorasick),
}

/// The extent of a scan, and the places with hits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Files that were read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files in which something was found.
    pub found: Vec<PathBuf>,
    /// Unreadable files, with the reason.
    pub skipped: Vec<(PathBuf, String)>,
}

impl ErasureProbes {
    /// Takes texts.
    #[must_use]
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut too_short = 0;
        let mut probes: Vec<Vec<u8>> = Vec::new();
        let mut short: Vec<Vec<u8>> = Vec::new();
        for text in texts {
            let text = text.trim();
            if text.is_empty() {
                continue;
            }
            if text.chars().count() < MIN_CHARS {
                too_short += 1;
                if text.chars().any(char::is_alphanumeric) {
                    short.extend(spellings(text));
                }
                continue;
            }
            probes.extend(spellings(text).iter().flat_map(|spelled| pieces(spelled)));
            // Line endings and indentation may differ, but a long line itself is unchanged.
            let longest = text.lines().map(str::trim).max_by_key(|line| line.len());
            let longest = longest.filter(|line| line.chars().count() >= MIN_LINE_CHARS);
            for spelled in longest.map(spellings).into_iter().flatten() {
                probes.extend(pieces(&spelled));
            }
        }
        short.sort_unstable();
        short.dedup();
        probes.sort_unstable();
        probes.dedup();
        let around = short.iter().map(|short| short.len() + 2 * AROUND + 1);
        let longest = probes.iter().map(Vec::len).chain(around).max().unwrap_or(0);
        let short = short.iter().map(|short| memmem::Finder::new(short).into_owned()).collect();
        let finder = match probes.len() {
            0 => None,
            1..=FEW => {
                let each = probes.iter().map(|probe| memmem::Finder::new(probe).into_owned());
                Some(Finder::Few(each.collect()))
            }
            _ => {
                let kind = MatchKind::LeftmostFirst;
                let all = AhoCorasick::builder().match_kind(kind).build(&probes);
                all.ok().map(Finder::Many)
            }
        };
        Self { finder, short, longest, too_short }
    }

    /// Whether there is anything to search for.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.finder.is_none() && self.short.is_empty()
    }

    /// Looks through bytes that are in memory.
    #[must_use]
    pub fn are_in_bytes(&self, bytes: &[u8]) -> bool {
        self.find_in(bytes, true)
    }

    /// Looks through a part of something; `is_end` when nothing follows.
    fn find_in(&self, bytes: &[u8], is_end: bool) -> bool {
        self.finder.as_ref().is_some_and(|finder| finder.finds_in(bytes))
            || self.short_are_in(bytes, is_end)
    }

    fn short_are_in(&self, bytes: &[u8], is_end: bool) -> bool {
        // In a database the bytes beside a text do not belong to the text.
        if self.short.is_empty() || memchr::memchr(0, bytes).is_some() {
            return false;
        }
        self.short.iter().any(|finder| {
            let length = finder.needle().len();
            finder.find_iter(bytes).any(|at| {
                let (before, after) = (&bytes[..at], &bytes[at + length..]);
                (is_end || after.len() >= AROUND)
                    && !ends_with_word(before)
                    && !begins_with_word(after)
            })
        })
    }

    /// Scans a stream, one window at a time.
    pub fn are_in_reader(&self, from: &mut dyn io::Read) -> io::Result<bool> {
        Ok(self.look_through(from, &mut Vec::new())?.0)
    }

    /// Looks through a file.
    pub fn are_in(&self, path: &Path) -> io::Result<bool> {
        Ok(self.look_into(path, &mut Vec::new())?.0)
    }

    fn look_into(&self, path: &Path, window: &mut Vec<u8>) -> io::Result<(bool, u64)> {
        self.look_through(&mut fs_err::File::open(path)?, window)
    }

    /// Scans a stream, one window at a time, and returns how many bytes were read for it.
    fn look_through(
        &self,
        from: &mut dyn io::Read,
        window: &mut Vec<u8>,
    ) -> io::Result<(bool, u64)> {
        if self.is_empty() {
            return Ok((false, 0));
        }
        window.resize(WINDOW_BYTES, 0);
        let (mut bytes, mut kept) = (0, 0);
        loop {
            let read = match from.read(&mut window[kept..]) {
                Ok(0) => return Ok((self.short_are_in(&window[..kept], true), bytes)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            bytes += read as u64;
            let end = kept + read;
            if self.find_in(&window[..end], false) {
                return Ok((true, bytes));
            }
            // A probe may begin in this window and end in the next.
            kept = end.min(self.longest.saturating_sub(1));
            window.copy_within(end - kept..end, 0);
        }
    }

    /// Looks through files, and through the files of folders. Links are not followed.
    #[must_use]
    pub fn scan(&self, places: &[PathBuf]) -> Scan {
        let mut scan = Scan::default();
        let mut window = Vec::new();
        let mut left: Vec<(PathBuf, Option<FileType>, usize)> =
            places.iter().map(|place| (place.clone(), None, 0)).collect();
        while let Some((path, kind, depth)) = left.pop() {
            let mut skip = |why: String| scan.skipped.push((path.clone(), why));
            let kind = kind.map_or_else(
                || fs_err::symlink_metadata(&path).map(|metadata| metadata.file_type()),
                io::Result::Ok,
            );
            match kind {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => skip(error.to_string()),
                Ok(kind) if kind.is_dir() => match fs_err::read_dir(&path) {
                    _ if depth >= MAX_DEPTH => skip("too deep".to_owned()),
                    Err(error) => skip(error.to_string()),
                    Ok(listed) => {
                        let below = listed
                            .flatten()
                            .map(|listed| (listed.path(), listed.file_type().ok(), depth + 1));
                        left.extend(below);
                    }
                },
                Ok(kind) if kind.is_file() => {
                    if scan.files >= MAX_FILES {
                        skip("too many files".to_owned());
                        break;
                    }
                    match self.look_into(&path, &mut window) {
                        // It was removed in the meantime.
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        Err(error) => skip(error.to_string()),
                        Ok((found, bytes)) => {
                            scan.files += 1;
                            scan.bytes += bytes;
                            scan.found.extend(found.then_some(path));
                        }
                    }
                }
                Ok(_) => {}
            }
        }
        scan.found.sort_unstable();
        scan.skipped.sort_unstable();
        scan
    }
}

impl Finder {
    fn finds_in(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Few(each) => each.iter().any(|each| each.find(bytes).is_some()),
            Self::Many(all) => all.is_match(bytes),
        }
    }
}

/// Returns a text as it may be spelled in a file.
fn spellings(text: &str) -> Vec<Vec<u8>> {
    let in_json = |text: &str| {
        let quoted = serde_json::to_string(text).unwrap_or_default();
        quoted.trim_matches('"').to_owned()
    };
    let unix = text.replace("\r\n", "\n");
    let mut found: Vec<Vec<u8>> = Vec::new();
    for ending in ["\n", "\r\n"] {
        for indent in ["", "  ", "    ", "\t"] {
            let plain = unix.replace('\n', &format!("{ending}{indent}"));
            let marked = escaped(&plain);
            found.extend(one_byte_each(&plain));
            let quoted = [in_json(&in_json(&plain)), in_json(&plain), in_json(&marked)];
            found.extend(quoted.into_iter().chain([marked, plain]).map(String::into_bytes));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns a text in Latin-1, where that has its characters and spells them otherwise than UTF-8.
fn one_byte_each(text: &str) -> Option<Vec<u8>> {
    let bytes = || text.chars().map(|c| u8::try_from(c).ok()).collect();
    if text.is_ascii() { None } else { bytes() }
}

/// Whether bytes end with a word, followed by spaces.
fn ends_with_word(bytes: &[u8]) -> bool {
    let near = bytes.iter().rev().take(AROUND);
    near.copied().find(|byte| *byte != b' ').is_some_and(is_word)
}

/// Whether bytes begin with a word, after spaces.
fn begins_with_word(bytes: &[u8]) -> bool {
    bytes.iter().take(AROUND).copied().find(|byte| *byte != b' ').is_some_and(is_word)
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

fn pieces(bytes: &[u8]) -> Vec<Vec<u8>> {
    if bytes.len() <= MAX_WHOLE_BYTES {
        return vec![bytes.to_vec()];
    }
    let last = bytes.len() - PIECE_BYTES;
    [0, last / 2, last].into_iter().map(|at| bytes[at..at + PIECE_BYTES].to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, file: &[u8]) -> bool {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("file"), file).unwrap();
        let scan = ErasureProbes::new([text]).scan(&[folder.path().to_owned()]);
        assert_eq!((scan.files, scan.bytes), (1, file.len() as u64));
        !scan.found.is_empty()
    }

    #[test]
    fn a_text_is_found_however_it_is_spelled() {
        let text = "the code is\n\"seven\" geese";
        assert!(found(text, b"x the code is\n\"seven\" geese y"));
        assert!(found(text, b"- the code is\r\n\"seven\" geese"));
        assert!(found(text, b"- the code is\n  \"seven\" geese <!-- x -->"));
        assert!(found(text, br#"{"a":"the code is\n\"seven\" geese"}"#));
        assert!(found(text, br#"{"a":"{\"b\":\"the code is\\n\\\"seven\\\" geese\"}"}"#));
        assert!(!found(text, b"the code is\n\"seven\" gees"));
        assert!(found(text, b"- the code is\r\n  \"seven\" geese"));
        assert!(found(text, b"- the code is\r\n\t\"seven\" geese"));
        assert!(found(text, br#"{"a":"- the code is\r\n  \"seven\" geese"}"#));
        assert!(found(&text.replace('\n', "\r\n"), b"the code is\n\"seven\" geese"));
        let long = "a line\nthe seven grey geese crossed the road";
        assert!(found(long, b"a line  \n   the seven grey geese crossed the road  \n"));
        assert!(found("caf\u{e9} at the corner", b"- caf\xe9 at the corner\n"));
    }

    #[test]
    fn a_short_text_is_found_where_it_stands_alone() {
        for file in [
            &b"1234"[..],
            b"- **pin**: 1234\n",
            br#"{"text":"1234"}"#,
            b"| pin | 1234 |\r\n",
            b"- 1234 <!-- anemone: x -->\n",
        ] {
            assert!(found("1234", file), "{:?}", String::from_utf8_lossy(file));
        }
        for file in [&b"12345"[..], b"in 1234 we met\n", b"call 1234\n", b"\0- 1234\n"] {
            assert!(!found("1234", file), "{:?}", String::from_utf8_lossy(file));
        }
        let around = |before: usize, ending: &str| {
            let mut file = vec![b'.'; before];
            file.extend(b"\n- 1234");
            file.extend(ending.bytes());
            let mut reader = file.as_slice();
            ErasureProbes::new(["1234"]).are_in_reader(&mut reader).unwrap()
        };
        for before in WINDOW_BYTES - 20..=WINDOW_BYTES + 4 {
            assert!(around(before, "\n") && around(before, "") && !around(before, " more"));
        }
    }

    #[test]
    fn a_long_text_is_found_by_a_piece_of_it() {
        let text: String = (0..100).map(|value| format!("number {value}, ")).collect();
        let bytes = text.trim().as_bytes();
        assert!(found(&text, &[b"page", &bytes[..500], b"\0\0\0\x07", &bytes[500..]].concat()));
        assert!(found(&text, &bytes[bytes.len() - 64..]));
        assert!(!found(&text, &bytes[bytes.len() - 63..]));
    }

    #[test]
    fn a_text_is_found_across_the_windows_of_a_large_file() {
        let text = "the heron nests by the weir";
        for before in [WINDOW_BYTES - 1, WINDOW_BYTES - text.len() + 1, 3 * WINDOW_BYTES - 9] {
            let mut file = vec![b'x'; before];
            file.extend(text.bytes());
            file.extend(vec![b'y'; WINDOW_BYTES]);
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            fs_err::write(&path, &file).unwrap();
            for others in [0, FEW] {
                let other = (0..others).map(|value| format!("another text, number {value}"));
                let texts: Vec<String> = other.chain([text.to_owned()]).collect();
                let probes = ErasureProbes::new(texts.iter().map(String::as_str));
                assert!(probes.are_in(&path).unwrap(), "{before} {others}");
            }
            assert!(!ErasureProbes::new(["the heron nests by the wier"]).are_in(&path).unwrap());
        }
    }

    #[test]
    fn what_is_no_word_is_not_looked_for_and_a_link_is_not_followed() {
        let probes = ErasureProbes::new(["?!", ""]);
        assert_eq!((probes.is_empty(), probes.too_short), (true, 1));
        let folder = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        fs_err::write(other.path().join("file"), "12345678").unwrap();
        fs_err::os::unix::fs::symlink(other.path(), folder.path().join("link")).unwrap();
        let scan = ErasureProbes::new(["12345678"]).scan(&[folder.path().to_owned()]);
        assert_eq!(scan, Scan::default());
    }
}
