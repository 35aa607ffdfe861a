//! Reads the files of a memory one does not own: nothing is followed out of the workspace, nothing
//! that is too large is taken in, and what could not be read is said.

use std::io;

use crate::store::{FileSnapshot, MarkdownStore, MarkdownStoreError, PageKind};

/// No file of a memory is larger: the runtimes refuse it as well.
pub(crate) const MOST_BYTES: u64 = 2 << 20;
/// Folders below folders below `memory/`.
const MOST_DEPTH: usize = 32;

/// Something that was not read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The path in the workspace; what is not UTF-8 in it is replaced.
    pub path: String,
    /// Why.
    pub why: UnreadReason,
}

/// Why something was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnreadReason {
    /// It is a link, or lies behind one.
    Link,
    /// It is neither a file nor a folder.
    NotPlain,
    /// Its name is not UTF-8.
    Name,
    /// Its content is not UTF-8.
    NotText,
    /// It is larger than 2 MiB.
    TooLarge,
    /// It lies too deep.
    TooDeep,
    /// The system does not let us.
    Refused(io::ErrorKind),
}

impl UnreadReason {
    /// Returns the word for it.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::NotPlain => "not_plain",
            Self::Name => "name_not_utf8",
            Self::NotText => "not_utf8",
            Self::TooLarge => "too_large",
            Self::TooDeep => "too_deep",
            Self::Refused(_) => "refused",
        }
    }
}

impl std::fmt::Display for UnreadReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Link => f.write_str("a link, which is not followed"),
            Self::NotPlain => f.write_str("not a plain file"),
            Self::Name => f.write_str("its name is not UTF-8"),
            Self::NotText => f.write_str("not UTF-8"),
            Self::TooLarge => f.write_str("larger than 2 MiB"),
            Self::TooDeep => f.write_str("too many folders deep"),
            Self::Refused(kind) => write!(f, "{kind}"),
        }
    }
}

/// A file that was read, as text.
pub(crate) struct Text {
    pub(crate) seen: FileSnapshot,
    pub(crate) text: String,
}

/// Reads a file; `None` when there is none.
pub(crate) fn read(site: &MarkdownStore, path: &str) -> Result<Option<Text>, UnreadReason> {
    let refused = |error: &io::Error| UnreadReason::Refused(error.kind());
    let mut place = site.root().to_owned();
    let mut length = 0;
    let mut names = path.split('/').peekable();
    while let Some(name) = names.next() {
        place.push(name);
        let there = match fs_err::symlink_metadata(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            there => there.map_err(|it| refused(&it))?,
        };
        if there.is_symlink() {
            return Err(UnreadReason::Link);
        }
        let is_last = names.peek().is_none();
        if (is_last && !there.is_file()) || (!is_last && !there.is_dir()) {
            return Err(UnreadReason::NotPlain);
        }
        length = there.len();
    }
    if length > MOST_BYTES {
        return Err(UnreadReason::TooLarge);
    }
    let seen = match site.read(path) {
        Ok(None) => return Ok(None),
        Ok(Some(seen)) => seen,
        Err(MarkdownStoreError::Io { source, .. }) => return Err(refused(&source)),
        Err(_) => return Err(UnreadReason::NotPlain),
    };
    let text = std::str::from_utf8(&seen.bytes).map_err(|_| UnreadReason::NotText)?.to_owned();
    Ok(Some(Text { seen, text }))
}

/// Lists the Markdown files of a memory, sorted, each with what it is, and what was passed over.
pub(crate) fn list(site: &MarkdownStore) -> (Vec<(String, PageKind)>, Vec<Unread>) {
    let mut found = Vec::new();
    let mut unread = Vec::new();
    let curated = site.curated();
    if fs_err::symlink_metadata(site.root().join(curated)).is_ok() {
        found.push((curated.to_owned(), PageKind::Curated));
    }
    let mut folders = vec![("memory".to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let full = site.root().join(&folder);
        let is_link = fs_err::symlink_metadata(&full).is_ok_and(|it| it.is_symlink());
        let listed = match fs_err::read_dir(&full) {
            _ if is_link => Err(UnreadReason::Link),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => Err(UnreadReason::Refused(error.kind())),
            Ok(_) if depth > MOST_DEPTH => Err(UnreadReason::TooDeep),
            Ok(listed) => Ok(listed),
        };
        let listed = match listed {
            Ok(listed) => listed,
            Err(why) => {
                unread.push(Unread { path: folder, why });
                continue;
            }
        };
        for one in listed.flatten() {
            let name = one.file_name();
            let path = format!("{folder}/{}", name.to_string_lossy());
            let Ok(kind) = one.file_type() else { continue };
            let is_markdown = name.as_encoded_bytes().ends_with(b".md");
            if kind.is_dir() && !name.as_encoded_bytes().starts_with(b".") {
                folders.push((path, depth + 1));
                continue;
            }
            let leads_on = kind.is_symlink() && one.path().is_dir();
            if !is_markdown && !leads_on {
                // Only Markdown is remembered.
                continue;
            }
            if name.to_str().is_none() {
                unread.push(Unread { path, why: UnreadReason::Name });
            } else if kind.is_symlink() {
                unread.push(Unread { path, why: UnreadReason::Link });
            } else if kind.is_file() {
                let kind = PageKind::of(&path);
                found.push((path, kind));
            }
        }
    }
    site.add_other_pages(&mut found);
    found.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    unread.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    (found, unread)
}
