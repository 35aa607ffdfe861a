//! Paths in archives, which are bytes with `/` between parts, and paths on this machine.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::kit::MAX_DEPTH;

/// Returns a name or path as the bytes it has in an archive.
pub(crate) fn path_bytes(path: &OsStr) -> Vec<u8> {
    std::os::unix::ffi::OsStrExt::as_bytes(path).to_vec()
}

/// Returns the bytes of an archive's path as a path here.
pub(crate) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes))
}

/// Returns the path of a sibling file whose name is this one with a suffix.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns a path for people, with what is not UTF-8 replaced.
pub(crate) fn lossy(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// Returns a path as a unique text: bytes that are not UTF-8 become `%FF`.
pub(crate) fn spelled(path: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            write!(text, "%{byte:02X}").expect("a string takes any text");
        }
    }
    text
}

/// Whether a text is a single part of a path, and does not lead elsewhere.
pub(crate) fn is_name(text: &str) -> bool {
    !matches!(text, "" | "." | "..") && !text.contains(['/', '\\', '\0'])
}

/// Whether a path leads to something below its folder, and not deeper than an import can create it.
pub(crate) fn stays_below(path: &[u8]) -> bool {
    let odd = |part: &[u8]| matches!(part, b"" | b"." | b"..") || part.contains(&0);
    let mut parts = path.split(|byte| *byte == b'/');
    parts.clone().count() <= MAX_DEPTH && !parts.any(odd)
}

/// Whether a path is a folder or below it.
pub(crate) fn is_within(path: &[u8], folder: &str) -> bool {
    path.strip_prefix(folder.as_bytes()).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// Whether a file of this name or path is Markdown.
pub(crate) fn is_markdown(name: &[u8]) -> bool {
    name.len() > 3 && name[name.len() - 3..].eq_ignore_ascii_case(b".md")
}

/// Takes `.` and `..` out of a path without asking the disk.
pub(crate) fn without_dots(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}

/// Returns where a relative target leads from its link, both below one folder; `None` when it
/// leaves that folder.
pub(crate) fn destination(link: &[u8], target: &[u8]) -> Option<Vec<u8>> {
    let mut parts: Vec<&[u8]> = link.split(|byte| *byte == b'/').collect();
    parts.pop();
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join(&b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_followed_by_its_text_until_it_leaves() {
        for (link, target, wanted) in [
            ("a", "b", Some("b")),
            ("a", ".", Some("")),
            ("a", "..", None),
            ("a/b", "..", Some("")),
            ("a/b", "../c", Some("c")),
            ("a/b", "../../c", None),
            ("a/b", "x/../../../c", None),
            ("a/b", "./x//../c", Some("a/c")),
        ] {
            let found = destination(link.as_bytes(), target.as_bytes());
            assert_eq!(found.as_deref(), wanted.map(str::as_bytes), "{link} -> {target}");
        }
    }

    #[test]
    fn a_name_is_one_part_of_a_path() {
        assert!(is_name("main") && is_name("...") && is_name("a b"));
        assert!(["", ".", "..", "a/b", "a\\b", "a\0"].iter().all(|text| !is_name(text)));
    }
}
