//! Reads the files of a memory that belongs to another program: links out of the workspace are not
//! followed, files that are too large are not read, and unreadable files are reported.

use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anemone_files::{FileKind, Folder, WalkEntry, WalkStep, WalkVisitor, if_found, walk};

use crate::store::{FileSnapshot, MarkdownStore, MarkdownStoreError, PageKind};

/// No file of a memory is larger: the runtimes refuse it as well.
pub(crate) const MOST_BYTES: u64 = 2 << 20;
/// Folders below folders below `memory/`.
const MOST_DEPTH: usize = 32;

/// Something that was not read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadPage {
    /// The path in the workspace; invalid UTF-8 in it is replaced.
    pub path: String,
    /// Why.
    pub why: UnreadReason,
}

/// Why something was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnreadReason {
    /// It is a link, or is reached through one.
    Link,
    /// It is neither a file nor a folder.
    NotPlain,
    /// Its name is not UTF-8.
    Name,
    /// Its content is not UTF-8.
    NotText,
    /// It is larger than 2 MiB.
    TooLarge,
    /// It is in too many folders.
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

/// Reads a file; `None` if it does not exist.
pub(crate) fn read(site: &MarkdownStore, path: &str) -> Result<Option<Text>, UnreadReason> {
    let refused = |error: &io::Error| UnreadReason::Refused(error.kind());
    let mut place = site.root().to_owned();
    let mut length = 0;
    let mut names = path.split('/').peekable();
    while let Some(name) = names.next() {
        place.push(name);
        let there = if_found(fs_err::symlink_metadata(&place)).map_err(|error| refused(&error))?;
        let Some(there) = there else { return Ok(None) };
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

/// Reads a file as a runtime does that follows links: one that is a link to another file of the
/// workspace is read there. Whatever leads out of the workspace is not read.
pub(crate) fn read_linked(site: &MarkdownStore, path: &str) -> Result<Option<Text>, UnreadReason> {
    let found = read(site, path);
    if !matches!(found, Err(UnreadReason::Link)) {
        return found;
    }
    let Ok(real) = fs_err::canonicalize(site.root().join(path)) else { return found };
    let target = real.strip_prefix(site.root()).ok().and_then(Path::to_str);
    target.map_or(found, |target| read(site, target))
}

/// Lists the Markdown files of a memory, sorted, each with its kind, and the skipped files.
pub(crate) fn list(site: &MarkdownStore) -> (Vec<(String, PageKind)>, Vec<UnreadPage>) {
    let full = site.root().join(FOLDER);
    let mut lister = Lister { folder: &full, found: Vec::new(), unread: Vec::new() };
    let curated = site.curated();
    if fs_err::symlink_metadata(site.root().join(curated)).is_ok() {
        lister.found.push((curated.to_owned(), PageKind::Curated));
    }
    match Folder::open_unlinked(&full) {
        Ok(folder) => walk(&folder, &mut lister),
        Err(_) if full.is_symlink() => drop(lister.skip(b"", UnreadReason::Link)),
        Err(error) => drop(lister.unreadable(b"", error)),
    }
    let Lister { mut found, mut unread, .. } = lister;
    site.add_other_pages(&mut found);
    found.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    unread.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    (found, unread)
}

/// The folder whose Markdown is remembered.
const FOLDER: &str = "memory";

struct Lister<'a> {
    folder: &'a Path,
    found: Vec<(String, PageKind)>,
    unread: Vec<UnreadPage>,
}

impl WalkVisitor for Lister<'_> {
    fn visit(&mut self, visited: &WalkEntry<'_>) -> WalkStep {
        let Ok(kind) = visited.kind() else { return WalkStep::Pass };
        let name = visited.name.as_encoded_bytes();
        if kind == FileKind::Folder && !name.starts_with(b".") {
            if visited.depth >= MOST_DEPTH {
                return self.skip(visited.path, UnreadReason::TooDeep);
            }
            return WalkStep::Enter;
        }
        let full = || self.folder.join(OsStr::from_bytes(visited.path));
        let leads_on = || kind == FileKind::Symlink && full().is_dir();
        if !name.ends_with(b".md") && !leads_on() {
            // Only Markdown is remembered.
            return WalkStep::Pass;
        }
        match (str::from_utf8(visited.path), kind) {
            (Err(_), _) => self.skip(visited.path, UnreadReason::Name),
            (Ok(_), FileKind::Symlink) => self.skip(visited.path, UnreadReason::Link),
            (Ok(path), FileKind::File) => {
                let path = format!("{FOLDER}/{path}");
                let kind = PageKind::of(&path);
                self.found.push((path, kind));
                WalkStep::Pass
            }
            (Ok(_), FileKind::Folder | FileKind::Special) => WalkStep::Pass,
        }
    }

    fn unreadable(&mut self, path: &[u8], error: io::Error) -> ControlFlow<()> {
        if error.kind() != io::ErrorKind::NotFound {
            self.skip(path, UnreadReason::Refused(error.kind()));
        }
        ControlFlow::Continue(())
    }
}

impl Lister<'_> {
    fn skip(&mut self, path: &[u8], why: UnreadReason) -> WalkStep {
        let path = format!("{FOLDER}/{}", String::from_utf8_lossy(path));
        self.unread.push(UnreadPage { path: path.trim_end_matches('/').to_owned(), why });
        WalkStep::Pass
    }
}
