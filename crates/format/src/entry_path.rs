//! Names of entries: which are safe, and how an unsafe one is spelled.
//!
//! A name in an archive is untrusted and may become a file name on any system. Unsafe names are
//! rejected here, for every reader. A workspace may have names that an archive must not have
//! (`CON.md`, a line feed, bytes that are not UTF-8, `MEMORY.md` beside `memory.md`); those are
//! spelled differently in the archive, and the manifest keeps their true name.

use std::collections::HashMap;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};
use unicode_normalization::UnicodeNormalization as _;

/// The longest part of a path that common file systems accept.
const MAX_PART_BYTES: usize = 255;
/// The longest path that we write or read.
const MAX_PATH_BYTES: usize = 4096;

/// What makes a name unsafe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameFault {
    /// An empty name, or an empty part between two slashes.
    #[error("has an empty part")]
    Empty,
    /// Starts at the root.
    #[error("is absolute")]
    Absolute,
    /// Goes up or stays: `..` or `.`.
    #[error("has a `.` or `..` part")]
    Parent,
    /// Starts with a drive letter.
    #[error("starts with a drive letter")]
    Drive,
    /// Has a separator of another system.
    #[error("has a backslash")]
    Backslash,
    /// NUL, line feed and their like.
    #[error("has a control character")]
    Control,
    /// A device on Windows, whatever the extension.
    #[error("is a reserved device name")]
    Reserved,
    /// Windows drops trailing dots and spaces, so that two names become one.
    #[error("has a part that ends in a dot or a space")]
    Trailing,
    /// Not ASCII and not marked as UTF-8, so that readers disagree about it.
    #[error("is not marked as UTF-8")]
    Unmarked,
    /// Not UTF-8.
    #[error("is not UTF-8")]
    NotUtf8,
    /// Longer than file systems accept.
    #[error("is too long")]
    TooLong,
    /// Something above it is not a folder.
    #[error("is inside a file or a link")]
    BelowFile,
}

/// Checks a name found in an archive.
pub(crate) fn check(name: &str) -> Result<(), NameFault> {
    if name.len() > MAX_PATH_BYTES {
        return Err(NameFault::TooLong);
    }
    if name.starts_with('/') {
        return Err(NameFault::Absolute);
    }
    if has_drive(name) {
        return Err(NameFault::Drive);
    }
    name.split('/').try_for_each(check_part)
}

fn has_drive(name: &str) -> bool {
    matches!(name.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

fn check_part(part: &str) -> Result<(), NameFault> {
    let faults = [
        (part.is_empty(), NameFault::Empty),
        (part == "." || part == "..", NameFault::Parent),
        (part.len() > MAX_PART_BYTES, NameFault::TooLong),
        (part.contains('\\'), NameFault::Backslash),
        (part.chars().any(char::is_control), NameFault::Control),
        (part.ends_with(['.', ' ']), NameFault::Trailing),
        (is_reserved(part), NameFault::Reserved),
    ];
    let first = faults.into_iter().find(|(is_faulty, _)| *is_faulty);
    first.map_or(Ok(()), |(_, fault)| Err(fault))
}

fn is_reserved(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).trim_end();
    let upper = stem.to_ascii_uppercase();
    let port = upper.strip_prefix("COM").or_else(|| upper.strip_prefix("LPT"));
    matches!(upper.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
        || port.is_some_and(|port| {
            let mut digits = port.chars();
            matches!(digits.next(), Some('1'..='9' | '¹' | '²' | '³')) && digits.next().is_none()
        })
}

/// Returns a key that is equal for two names which some system treats as the same.
pub(crate) fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.nfc().map(fold_case).nfc().collect()
}

/// Folds the case of one character; through upper case, so that the two small sigmas meet.
fn fold_case(character: char) -> char {
    // A character that folds to several, such as ß, stays unchanged on the systems we know.
    fn single(mut mapped: impl Iterator<Item = char>) -> Option<char> {
        mapped.next().filter(|_| mapped.next().is_none())
    }
    let upper = single(character.to_uppercase()).unwrap_or(character);
    single(upper.to_lowercase()).unwrap_or(upper)
}

/// The names seen so far, in the way that any system would compare them.
///
/// Only fingerprints are kept: an untrusted name may be two thousand folders deep, and the names of
/// all these folders together are a thousand times as long.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: HashMap<Fingerprint, Taken>,
    /// The last number that was appended to a name.
    copies: HashMap<Fingerprint, u64>,
}

/// Half a SHA-256, which is enough to rule out collisions.
pub(crate) type Fingerprint = [u8; 16];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    File,
    /// Another entry is in the folder.
    Folder,
    NamedFolder,
}

impl Names {
    /// Takes a file's name; false when some system would confuse it with another name.
    pub(crate) fn insert_file(&mut self, name: &str) -> bool {
        let (above, own) = fingerprints(fold(name).as_bytes());
        let fits = !self.taken.contains_key(&own) && !self.any_file(&above);
        if fits {
            self.insert(above, own, Taken::File);
        }
        fits
    }

    /// Takes a folder's name; false when a file has it or it was already taken.
    pub(crate) fn insert_folder(&mut self, name: &str) -> bool {
        let (above, own) = fingerprints(fold(name.trim_end_matches('/')).as_bytes());
        let free = matches!(self.taken.get(&own), None | Some(Taken::Folder));
        let fits = free && !self.any_file(&above);
        if fits {
            self.insert(above, own, Taken::NamedFolder);
        }
        fits
    }

    /// Takes a file's name, or a similar one: parts that some system would confuse with another
    /// name get a number, such as `memory.md~2`. The text before `start` is not changed.
    pub(crate) fn make_file(&mut self, name: &str, start: usize) -> String {
        self.make(name, start, Self::insert_file)
    }

    /// Takes a folder's name, or a similar one, as [`Names::make_file`] does.
    pub(crate) fn make_folder(&mut self, name: &str, start: usize) -> String {
        self.make(name, start, Self::insert_folder)
    }

    fn make(
        &mut self,
        name: &str,
        start: usize,
        insert: impl Fn(&mut Self, &str) -> bool,
    ) -> String {
        if insert(self, name) {
            return name.to_owned();
        }
        let (above, last) = name[start..].rsplit_once('/').unwrap_or(("", &name[start..]));
        let mut made = name[..start].to_owned();
        for part in above.split_terminator('/') {
            made = self.number(&made, part, |names, folder| {
                names.taken.get(&fingerprints(fold(folder).as_bytes()).1) != Some(&Taken::File)
            });
            made.push('/');
        }
        self.number(&made, last, insert)
    }

    /// Returns the first of `part`, `part~2`, `part~3` that is free below `above`.
    fn number(
        &mut self,
        above: &str,
        part: &str,
        fits: impl Fn(&mut Self, &str) -> bool,
    ) -> String {
        let name = format!("{above}{part}");
        if fits(self, &name) {
            return name;
        }
        // A name that was taken stays taken, but a folder may contain several entries.
        let own = fingerprints(fold(&name).as_bytes()).1;
        let first = self.copies.get(&own).copied().unwrap_or(2);
        for copy in first.. {
            let name = format!("{above}{}", numbered(part, copy));
            if fits(self, &name) {
                self.copies.insert(own, copy);
                return name;
            }
        }
        unreachable!("there are more numbers than names")
    }

    fn any_file(&self, above: &[Fingerprint]) -> bool {
        above.iter().any(|folder| self.taken.get(folder) == Some(&Taken::File))
    }

    fn insert(&mut self, above: Vec<Fingerprint>, own: Fingerprint, taken: Taken) {
        for folder in above {
            self.taken.entry(folder).or_insert(Taken::Folder);
        }
        self.taken.insert(own, taken);
    }
}

/// Returns the fingerprints of the folders above a path, and its own.
pub(crate) fn fingerprints(path: &[u8]) -> (Vec<Fingerprint>, Fingerprint) {
    fn finish(hasher: Sha256) -> Fingerprint {
        let digest: [u8; 32] = hasher.finalize().into();
        *digest.first_chunk().expect("32 bytes are more than 16")
    }
    let mut hasher = Sha256::new();
    let mut above = Vec::new();
    for (at, part) in path.split(|byte| *byte == b'/').enumerate() {
        if at > 0 {
            above.push(finish(hasher.clone()));
            hasher.update(b"/");
        }
        hasher.update(part);
    }
    (above, finish(hasher))
}

/// Returns a part of a path with a number appended.
pub(crate) fn numbered(part: &str, copy: u64) -> String {
    let number = format!("~{copy}");
    let end = part.floor_char_boundary(MAX_PART_BYTES - number.len());
    format!("{}{number}", &part[..end])
}

/// Spells a workspace path so that every system can store it.
///
/// Parts are separated by `/`. The result passes [`check`]; it is the input itself if that already
/// passes. The spelling cannot be reversed: the manifest keeps the true path.
pub(crate) fn spell(source: &[u8]) -> Result<String, NameFault> {
    if source.first() == Some(&b'/') {
        return Err(NameFault::Absolute);
    }
    let parts: Vec<String> = source
        .split(|byte| *byte == b'/')
        .enumerate()
        .map(|(at, part)| spell_part(part, at == 0))
        .collect::<Result<_, _>>()?;
    let name = parts.join("/");
    check(&name)?;
    Ok(name)
}

fn spell_part(part: &[u8], is_first: bool) -> Result<String, NameFault> {
    if part.is_empty() {
        return Err(NameFault::Empty);
    }
    if part == b"." || part == b".." {
        return Err(NameFault::Parent);
    }
    if part.contains(&0) {
        // No file system allows such a name, and some readers would end it there.
        return Err(NameFault::Control);
    }
    let mut text = String::with_capacity(part.len());
    for chunk in part.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() || character == '\\' {
                let mut bytes = [0; 4];
                for byte in character.encode_utf8(&mut bytes).bytes() {
                    write!(text, "%{byte:02X}").expect("a string takes any text");
                }
            } else {
                text.push(character);
            }
        }
        for byte in chunk.invalid() {
            write!(text, "%{byte:02X}").expect("a string takes any text");
        }
    }
    if let Some(kept) = text.strip_suffix('.') {
        text = format!("{kept}%2E");
    } else if let Some(kept) = text.strip_suffix(' ') {
        text = format!("{kept}%20");
    }
    if is_reserved(&text) {
        text.insert(0, '%');
    }
    if is_first && has_drive(&text) {
        text.replace_range(1..2, "%3A");
    }
    if text.len() > MAX_PART_BYTES {
        // Escapes can make a part too long. Its digest keeps it unique.
        let digest = crate::digest::sha256_hex(part);
        text.truncate(text.floor_char_boundary(MAX_PART_BYTES - 17));
        write!(text, "~{}", &digest[..16]).expect("a string takes any text");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_unsafe_name_is_refused() {
        for (name, fault) in [
            ("", NameFault::Empty),
            ("a//b", NameFault::Empty),
            ("a/", NameFault::Empty),
            ("/etc/passwd", NameFault::Absolute),
            ("//host/share", NameFault::Absolute),
            ("..", NameFault::Parent),
            ("raw/../../x", NameFault::Parent),
            ("raw/./x", NameFault::Parent),
            ("C:x", NameFault::Drive),
            ("c:/x", NameFault::Drive),
            ("raw\\x", NameFault::Backslash),
            ("raw/..\\x", NameFault::Backslash),
            ("a\0b", NameFault::Control),
            ("a\nb", NameFault::Control),
            ("a\u{7f}", NameFault::Control),
            ("a\u{85}", NameFault::Control),
            ("raw/CON", NameFault::Reserved),
            ("raw/con.md", NameFault::Reserved),
            ("raw/Lpt1.tar.gz", NameFault::Reserved),
            ("raw/nul .txt", NameFault::Reserved),
            ("raw/COM\u{b9}", NameFault::Reserved),
            ("raw/x.", NameFault::Trailing),
            ("raw/x /y", NameFault::Trailing),
        ] {
            assert_eq!(check(name), Err(fault), "{name:?}");
        }
        assert_eq!(check(&"x".repeat(256)), Err(NameFault::TooLong));
        assert_eq!(check(&"x/".repeat(3000)), Err(NameFault::TooLong));
    }

    #[test]
    fn ordinary_names_pass_and_are_spelled_as_they_are() {
        for name in [
            "manifest.json",
            "raw/openclaw/memory/日本語 ノート.md",
            "raw/openclaw/.hidden",
            "raw/x/10:30 notes.md",
            "raw/x/...a",
            "artifacts/console.log",
            "raw/x/COM10",
        ] {
            assert_eq!(check(name), Ok(()), "{name}");
            assert_eq!(spell(name.as_bytes()).as_deref(), Ok(name));
        }
    }

    #[test]
    fn an_unsafe_workspace_name_is_spelled_safely() {
        for (source, spelled) in [
            (&b"a\\b.md"[..], "a%5Cb.md"),
            (b"line\nfeed", "line%0Afeed"),
            (b"caf\xe9.md", "caf%E9.md"),
            (b"dot.", "dot%2E"),
            (b"space /x", "space%20/x"),
            (b"con.md", "%con.md"),
            (b"C:x", "C%3Ax"),
        ] {
            assert_eq!(spell(source).as_deref(), Ok(spelled));
        }
        let long = spell(&[0xff; 255]).unwrap();
        assert!(long.len() <= MAX_PART_BYTES && check(&long).is_ok());
        assert_eq!(spell(b"../x"), Err(NameFault::Parent));
        assert_eq!(spell(b"/x"), Err(NameFault::Absolute));
        assert_eq!(spell(b"a//x"), Err(NameFault::Empty));
        assert_eq!(spell(b"a\0x"), Err(NameFault::Control));
        let long = spell(format!("C:{}", "x".repeat(253)).as_bytes()).unwrap();
        assert!(long.len() == MAX_PART_BYTES && long.starts_with("C%3Ax"));
    }

    #[test]
    fn a_name_that_is_taken_is_numbered_in_the_part_that_is() {
        let mut names = Names::default();
        let long = "x".repeat(255);
        for (wanted, made) in [
            ("raw/r/MEMORY.md", "raw/r/MEMORY.md"),
            ("raw/r/memory.md", "raw/r/memory.md~2"),
            ("raw/r/Memory.md", "raw/r/Memory.md~3"),
            ("raw/r/memory.md/a/b", "raw/r/memory.md~4/a/b"),
            ("raw/r/memory.md/a/c", "raw/r/memory.md~4/a/c"),
            ("raw/r/memory.md~4", "raw/r/memory.md~4~2"),
            (&format!("raw/r/{long}"), &format!("raw/r/{long}")),
            (&format!("raw/r/{long}"), &format!("raw/r/{}~2", "x".repeat(253))),
        ] {
            assert_eq!(names.make_file(wanted, "raw/r/".len()), made);
        }
        assert_eq!(names.make_folder("raw/r/memory.md~4", 6), "raw/r/memory.md~4");
        assert_eq!(names.make_folder("raw/r/memory.md~4", 6), "raw/r/memory.md~4~3");
        assert_eq!(names.make_folder("raw/r/MEMORY.md", 6), "raw/r/MEMORY.md~5");
    }

    #[test]
    fn names_that_some_system_takes_for_one_collide() {
        for (first, second) in [
            ("raw/MEMORY.md", "raw/memory.md"),
            ("raw/caf\u{e9}", "raw/cafe\u{301}"),
            ("raw/a", "raw/a/b"),
            ("raw/a/b", "raw/A"),
            ("raw/\u{3c3}", "raw/\u{3c2}"),
        ] {
            let mut names = Names::default();
            assert!(names.insert_file(first));
            assert!(!names.insert_file(second), "{first} {second}");
        }
        let mut names = Names::default();
        assert!(names.insert_file("raw/a/b") && names.insert_file("raw/a/c"));
        assert!(names.insert_folder("raw/a/"));
        assert!(!names.insert_folder("raw/A"));
        assert!(!names.insert_folder("raw/a/b"));
    }
}
