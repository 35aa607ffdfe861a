//! Lists the content of a folder, without opening any file.

use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;

use anemone_files::{FileKind, Folder, WalkEntry, WalkStep, WalkVisitor, if_found, walk};

use super::super::{Listing, SkipReason, SkippedDocument, SourceEntry};
use super::below::{MAX_DEPTH, MAX_FILE_BYTES};
use super::{FolderLimit, FolderRules};

/// Lists the documents below a folder and what is not searched, both sorted.
///
/// Only an unreadable top folder is an error.
pub(super) fn list(
    root: &Folder,
    prefix: &str,
    rules: &dyn FolderRules,
    limit: Option<FolderLimit>,
) -> io::Result<Listing> {
    let (listing, failure) = (Listing::default(), None);
    let mut lister = Lister { prefix, rules, limit, names: 0, bytes: 0, listing, failure };
    walk(root, &mut lister);
    if let Some(error) = lister.failure {
        return Err(error);
    }
    if lister.is_over() {
        // Which of the documents came first depends on the file system, so none is taken.
        let path = prefix.trim_end_matches('/').to_owned();
        let skipped = vec![SkippedDocument { path, reason: SkipReason::TooMany }];
        return Ok(Listing { skipped, ..Listing::default() });
    }
    let mut listing = lister.listing;
    listing.entries.sort_unstable_by(|a, b| a.key.cmp(&b.key));
    // A folder that changes while it is read may name the same file twice.
    listing.entries.dedup_by(|a, b| a.key == b.key);
    listing.skipped.sort_unstable();
    listing.skipped.dedup();
    Ok(listing)
}

struct Lister<'a> {
    prefix: &'a str,
    rules: &'a dyn FolderRules,
    limit: Option<FolderLimit>,
    /// How many names were visited.
    names: u64,
    /// How large the documents are.
    bytes: u64,
    listing: Listing,
    /// Why the folder at the top cannot be read.
    failure: Option<io::Error>,
}

impl WalkVisitor for Lister<'_> {
    fn visit(&mut self, visited: &WalkEntry<'_>) -> WalkStep {
        self.names += 1;
        if self.is_over() {
            return WalkStep::Stop;
        }
        let path = &String::from_utf8_lossy(visited.path);
        let is_text = matches!(path, Cow::Borrowed(_));
        let kind = if_found(visited.kind()).unwrap_or(Some(FileKind::Special));
        let Some(kind) = kind else { return WalkStep::Pass };
        match kind {
            FileKind::Folder => match self.rules.enters(path) {
                Ok(()) if !is_text => self.skip(path, SkipReason::Name),
                Ok(()) if visited.depth >= MAX_DEPTH => self.skip(path, SkipReason::TooDeep),
                Ok(()) => return WalkStep::Enter,
                Err(reason) => self.skip(path, reason),
            },
            // The target is not inspected: it may be a document or a folder.
            FileKind::Symlink => {
                if self.is_document(path) || self.rules.enters(path).is_ok() {
                    self.skip(path, SkipReason::Symlink);
                }
            }
            _ if !self.is_document(path) => {}
            _ if !is_text => self.skip(path, SkipReason::Name),
            FileKind::File => self.file(path, visited),
            FileKind::Special => self.skip(path, SkipReason::Unreadable),
        }
        WalkStep::Pass
    }

    fn unreadable(&mut self, path: &[u8], error: io::Error) -> ControlFlow<()> {
        if path.is_empty() {
            self.failure = Some(error);
            return ControlFlow::Break(());
        }
        // A deleted one does not exist.
        if error.kind() != io::ErrorKind::NotFound {
            self.skip(&String::from_utf8_lossy(path), SkipReason::Unreadable);
        }
        ControlFlow::Continue(())
    }
}

impl Lister<'_> {
    fn file(&mut self, path: &str, visited: &WalkEntry<'_>) {
        match visited.stat() {
            Ok(stat) if stat.size > MAX_FILE_BYTES => self.skip(path, SkipReason::TooLarge),
            Ok(stat) if stat.is_file() => {
                self.bytes = self.bytes.saturating_add(stat.size);
                self.listing
                    .entries
                    .push(SourceEntry { key: path.to_owned(), stamp: stat.stamp() });
            }
            // It was deleted meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(_) | Err(_) => self.skip(path, SkipReason::Unreadable),
        }
    }

    fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| {
            self.names > limit.names
                || self.bytes > limit.bytes
                || self.listing.entries.len() > limit.files
        })
    }

    fn is_document(&self, path: &str) -> bool {
        self.rules.document(path).is_some()
    }

    fn skip(&mut self, path: &str, reason: SkipReason) {
        let path = format!("{}{path}", self.prefix);
        self.listing.skipped.push(SkippedDocument { path, reason });
    }
}
