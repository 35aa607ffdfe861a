//! Files of the demo, byte by byte: which are the same in two folders, and which hold a text.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Reads every file below a folder, by its path. The demo made them all, so they fit in memory.
pub(super) fn read_all(folder: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![(folder.to_owned(), String::new())];
    while let Some((folder, path)) = folders.pop() {
        let entries = match fs_err::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let below = format!("{path}{}", entry.file_name().to_string_lossy());
            let there = entry.file_type()?;
            if there.is_dir() {
                folders.push((entry.path(), below + "/"));
            } else if there.is_file() {
                found.insert(below, fs_err::read(entry.path())?);
            }
        }
    }
    Ok(found)
}

/// Whether these bytes contain a text.
pub(super) fn holds(bytes: &[u8], text: &str) -> bool {
    !text.is_empty() && bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Returns where the content of an entry of a ZIP file begins.
pub(super) fn content_of(archive: &[u8], entry: &str) -> Option<usize> {
    const HEAD: &[u8] = b"PK\x03\x04";
    const HEAD_BYTES: usize = 30;
    let number = |at: usize| {
        let bytes = archive.get(at..at + 2)?;
        Some(usize::from(u16::from_le_bytes([bytes[0], bytes[1]])))
    };
    (0..archive.len()).find_map(|at| {
        let rest = archive.get(at..)?;
        let is_it = rest.starts_with(HEAD)
            && number(at + 26)? == entry.len()
            && rest.get(HEAD_BYTES..)?.starts_with(entry.as_bytes());
        is_it.then(|| Some(at + HEAD_BYTES + entry.len() + number(at + 28)?))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_of_an_entry_is_found_behind_its_head() {
        let mut archive = vec![0; 5];
        archive.extend(b"PK\x03\x04");
        archive.extend([0; 22]);
        archive.extend([3, 0, 2, 0]);
        archive.extend(b"a/b??content");
        assert_eq!(content_of(&archive, "a/b"), Some(5 + 30 + 3 + 2));
        assert_eq!(content_of(&archive, "a/"), None);
        assert_eq!(content_of(&archive[..20], "a/b"), None);
        assert_eq!(content_of(b"", "a/b"), None);
    }

    #[test]
    fn a_text_stands_somewhere_or_not() {
        assert!(holds(b"xxteapotxx", "teapot"));
        assert!(!holds(b"xxteapoxx", "teapot"));
        assert!(!holds(b"anything", ""));
    }
}
