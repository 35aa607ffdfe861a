//! Reaches files below a folder that is already open, and no others.
//!
//! Every part of a path is opened separately, relative to the folder above it, and never through a
//! link: whatever is swapped meanwhile, the opened file is below the folder.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anemone_files::{Folder, if_found, is_not_plain, read_limited};
use rustix::io::Errno;

use super::super::{SkipReason, SkippedDocument, SourceError};
use crate::document::Document;

/// Folders above a file, at most.
pub(super) const MAX_DEPTH: usize = 64;
/// Bytes of a file that is searched, at most.
pub const MAX_FILE_BYTES: u64 = 32 << 20;
/// Bytes of a path, at most: more than any path of [`MAX_DEPTH`] folders has.
const MAX_PATH_BYTES: usize = (MAX_DEPTH + 1) << 10;

/// A folder that is opened once and held.
pub(super) struct Root {
    path: PathBuf,
    handle: OnceLock<Folder>,
}

/// Why an existing file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    /// The system reported an error.
    #[error("the file cannot be read")]
    Io(#[from] io::Error),
    /// It has too many bytes.
    #[error("the file has more than {MAX_FILE_BYTES} bytes")]
    TooLarge,
}

impl Root {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path, handle: OnceLock::new() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder; the first call opens it.
    pub(super) fn open(&self) -> Result<&Folder, SourceError> {
        if let Some(folder) = self.handle.get() {
            return Ok(folder);
        }
        let opened = Folder::open(&self.path).map_err(|error| self.error(error))?;
        // The first caller decides, so that all see the same folder.
        Ok(self.handle.get_or_init(|| opened))
    }

    pub(super) fn error(&self, error: io::Error) -> SourceError {
        SourceError { place: self.path.display().to_string(), source: error.into() }
    }
}

/// Returns whether a path can only lead down: relative, with forward slashes, nothing to resolve.
pub(super) fn is_plain_path(path: &str) -> bool {
    path.len() <= MAX_PATH_BYTES
        && !path.contains('\0')
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
        && path.bytes().filter(|byte| *byte == b'/').count() <= MAX_DEPTH
}

/// Reads the document of an entry; reports if it exists and cannot be read.
pub(super) fn load(
    root: &Folder,
    key: &str,
    mut document: Document,
    each: &mut dyn FnMut(Document),
) -> Vec<SkippedDocument> {
    let reason = match text_of(root, key, Names::AsOpened) {
        Ok(Some(text)) => {
            document.text = text;
            each(document);
            return Vec::new();
        }
        Ok(None) => return Vec::new(),
        Err(ReadError::TooLarge) => SkipReason::TooLarge,
        Err(ReadError::Io(_)) => SkipReason::Unreadable,
    };
    vec![SkippedDocument { path: document.path, reason }]
}

/// Reads the document with a path, if every part of it is spelled exactly so.
pub(super) fn read_exactly(
    root: &Folder,
    key: &str,
    mut document: Document,
) -> Result<Option<Document>, SourceError> {
    match text_of(root, key, Names::AsListed) {
        Ok(Some(text)) => {
            document.text = text;
            Ok(Some(document))
        }
        Ok(None) => Ok(None),
        Err(error) => Err(SourceError { place: document.path, source: error.into() }),
    }
}

/// Whether a name must be spelled as in its folder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// It came from a listing.
    AsOpened,
    /// It came from a person: where a disk accepts other spellings of the same name, only one of
    /// them is the document's.
    AsListed,
}

/// Reads a regular file; `None` when it does not exist, or can only be reached through links.
fn text_of(root: &Folder, path: &str, names: Names) -> Result<Option<String>, ReadError> {
    debug_assert!(is_plain_path(path), "the caller has checked the path");
    match open_file(root, path, names) {
        Ok(Some(file)) => text(&file).map(Some),
        Ok(None) => Ok(None),
        Err(error) if leads_nowhere(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether an error means that there is no regular file with that name.
fn leads_nowhere(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(Errno::from_raw_os_error);
    let is_absent =
        matches!(code, Some(Errno::NOENT | Errno::MLINK | Errno::NAMETOOLONG | Errno::NODEV));
    is_absent || is_not_plain(error)
}

fn open_file(root: &Folder, path: &str, names: Names) -> io::Result<Option<File>> {
    let mut held: Option<Folder> = None;
    let mut rest = path;
    while let Some((name, below)) = rest.split_once('/') {
        let above = held.as_ref().unwrap_or(root);
        let folder = above.folder(name)?;
        if names == Names::AsListed && !is_listed(above, name)? {
            return Ok(None);
        }
        held = Some(folder);
        rest = below;
    }
    let above = held.as_ref().unwrap_or(root);
    let file = above.file(rest)?;
    Ok((names == Names::AsOpened || is_listed(above, rest)?).then_some(file))
}

/// Returns whether a folder has an entry with exactly this name, given that it can be opened.
fn is_listed(folder: &Folder, name: &str) -> io::Result<bool> {
    // If the name with its case inverted does not exist, the disk is case-sensitive, and the folder
    // need not be read.
    if name.is_ascii() && name.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        let turned: Vec<u8> = name.bytes().map(turned).collect();
        if matches!(if_found(folder.stat(turned)), Ok(None)) {
            return Ok(true);
        }
    }
    for entry in folder.entries()? {
        if entry?.name() == OsStr::new(name) {
            return Ok(true);
        }
    }
    Ok(false)
}

const fn turned(byte: u8) -> u8 {
    if byte.is_ascii_alphabetic() { byte ^ 0x20 } else { byte }
}

/// Reads a file to its end, as text.
fn text(file: &File) -> Result<String, ReadError> {
    match read_limited(file, MAX_FILE_BYTES) {
        Ok(bytes) => Ok(text_of_bytes(bytes)),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Err(ReadError::TooLarge),
        Err(error) => Err(error.into()),
    }
}

/// Decodes the bytes of a file as text: UTF-8, or UTF-16 when they begin with its byte order mark.
/// Invalid bytes are replaced.
#[must_use]
pub fn text_of_bytes(bytes: Vec<u8>) -> String {
    let pairs = |of: fn([u8; 2]) -> u16| {
        let (pairs, rest) = bytes[2..].as_chunks::<2>();
        let chars = char::decode_utf16(pairs.iter().map(|pair| of(*pair)));
        let mut text: String = chars.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        if !rest.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
        text
    };
    match bytes.get(..2) {
        Some([0xff, 0xfe]) => pairs(u16::from_le_bytes),
        Some([0xfe, 0xff]) => pairs(u16::from_be_bytes),
        _ => String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_lead_down_are_plain() {
        for path in ["a.md", "memory/a.md", "..a/b..", "...", "a b/\\c", "~/a.md", "会議/é.md"] {
            assert!(is_plain_path(path), "{path}");
        }
        for path in
            ["", "/", "/a", "a/", "a//b", ".", "..", "./a", "a/.", "a/..", "../a", "a/../b", "a\0b"]
        {
            assert!(!is_plain_path(path), "{path}");
        }
        let deep = |folders: usize| format!("{}a.md", "d/".repeat(folders));
        assert!(is_plain_path(&deep(64)));
        assert!(!is_plain_path(&deep(65)));
        assert!(!is_plain_path(&"x".repeat(1 << 20)));
    }

    #[test]
    fn only_names_that_the_folder_lists_are_taken() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["Notes.md", "nOTES.MD", "2026", "é.md"] {
            fs_err::write(dir.path().join(name), "x").unwrap();
        }
        let folder = Folder::open(dir.path()).unwrap();
        let listed = |name| is_listed(&folder, name).unwrap();
        for name in ["Notes.md", "nOTES.MD", "2026", "é.md"] {
            assert!(listed(name), "{name}");
        }
        // On a disk that accepts these spellings, they could be opened, but it lists none of them.
        fs_err::write(dir.path().join("NOTES.md"), "x").unwrap();
        for name in ["notes.MD", "2026.", "e\u{301}.md", "É.md"] {
            assert!(!listed(name), "{name}");
        }
        // Here only one spelling exists, so that the folder is not even read.
        fs_err::write(dir.path().join("a.md"), "x").unwrap();
        assert!(listed("a.md"));
    }

    #[test]
    fn the_text_of_notepad_is_text() {
        let text = "# Größe\r\n会議 😀\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(text_of_bytes([b"\xff\xfe", &*little].concat()), text);
        assert_eq!(text_of_bytes([b"\xfe\xff", &*big].concat()), text);
        assert_eq!(text_of_bytes(text.into()), text);
        // Half a pair, half a unit, nothing but the mark, and a Latin letter.
        assert_eq!(text_of_bytes(b"\xff\xfe\x3d\xd8a\0".to_vec()), "\u{fffd}a");
        assert_eq!(text_of_bytes(b"\xff\xfea\0b".to_vec()), "a\u{fffd}");
        assert_eq!(text_of_bytes(b"\xff\xfe".to_vec()), "");
        assert_eq!(text_of_bytes(b"caf\xe9".to_vec()), "caf\u{fffd}");
    }
}
