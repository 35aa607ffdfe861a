//! Lists what a folder holds, without opening any file.

use std::ffi::CString;
use std::io;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, Dir, DirEntry, FileType};
use rustix::io::Errno;

use super::super::{Entry, Listing, SkipReason, Skipped};
use super::FolderRules;
use super::below::{MAX_DEPTH, MAX_FILE_BYTES, is_regular, open_folder, stamp};

/// Lists the documents below a folder and what is not searched, both sorted.
///
/// Only a folder that cannot be read at the top is an error.
pub(super) fn list(
    root: BorrowedFd<'_>,
    prefix: &str,
    rules: &dyn FolderRules,
) -> io::Result<Listing> {
    let mut walk = Walk { prefix, rules, listing: Listing::default(), path: String::new() };
    let (top, result) = walk.level(Dir::read_from(root)?);
    result?;
    let mut levels = vec![top];
    while let Some(level) = levels.last_mut() {
        let Some(name) = level.folders.pop() else {
            levels.pop();
            continue;
        };
        walk.path.truncate(level.path);
        walk.path.push_str(&name.to_string_lossy());
        if levels.len() > MAX_DEPTH {
            walk.skip(SkipReason::TooDeep);
            continue;
        }
        match levels.last().map(|above| open_folder(above.dir.fd()?, &name).and_then(Dir::new)) {
            Some(Ok(dir)) => {
                let (inner, result) = walk.level(dir);
                if result.is_err() {
                    walk.path.pop();
                    walk.skip(SkipReason::Unreadable);
                    walk.path.push('/');
                }
                levels.push(inner);
            }
            // It has vanished.
            Some(Err(Errno::NOENT)) | None => {}
            Some(Err(_)) => walk.skip(SkipReason::Unreadable),
        }
    }
    let mut listing = walk.listing;
    listing.entries.sort_unstable_by(|a, b| a.key.cmp(&b.key));
    // A folder that changes while it is read may name the same file twice.
    listing.entries.dedup_by(|a, b| a.key == b.key);
    listing.skipped.sort_unstable();
    listing.skipped.dedup();
    Ok(listing)
}

struct Walk<'a> {
    prefix: &'a str,
    rules: &'a dyn FolderRules,
    listing: Listing,
    /// What is being looked at, relative to the root.
    path: String,
}

/// An open folder with folders still to be entered.
struct Level {
    dir: Dir,
    /// How many bytes of the walk's path are this folder's, with the slash.
    path: usize,
    folders: Vec<CString>,
}

impl Walk<'_> {
    /// Reads the folder at `self.path`; what was seen before an error counts.
    fn level(&mut self, mut dir: Dir) -> (Level, Result<(), Errno>) {
        if !self.path.is_empty() {
            self.path.push('/');
        }
        let path = self.path.len();
        let mut folders = Vec::new();
        let mut result = Ok(());
        while let Some(entry) = dir.read() {
            self.path.truncate(path);
            let looked = entry.and_then(|entry| self.look(&dir, &entry));
            match looked {
                Ok(None) => {}
                Ok(Some(folder)) => folders.push(folder),
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        self.path.truncate(path);
        (Level { dir, path, folders }, result)
    }

    /// Takes in one name of a folder; returns it when it is a folder to be entered.
    fn look(&mut self, dir: &Dir, entry: &DirEntry) -> Result<Option<CString>, Errno> {
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            return Ok(None);
        }
        let is_text = match name.to_str() {
            Ok(name) => {
                self.path.push_str(name);
                true
            }
            Err(_) => {
                self.path.push_str(&name.to_string_lossy());
                false
            }
        };
        let mut kind = entry.file_type();
        if kind == FileType::Unknown {
            match rustix::fs::statat(dir.fd()?, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => kind = FileType::from_raw_mode(stat.st_mode),
                Err(Errno::NOENT) => return Ok(None),
                Err(_) => {}
            }
        }
        match kind {
            FileType::Directory => match self.rules.enters(&self.path) {
                Ok(()) if is_text => return Ok(Some(name.to_owned())),
                Ok(()) => self.skip(SkipReason::Name),
                Err(reason) => self.skip(reason),
            },
            // Where it leads is not looked at: it may be a document or a folder.
            FileType::Symlink => {
                if self.is_document() || self.rules.enters(&self.path).is_ok() {
                    self.skip(SkipReason::Symlink);
                }
            }
            _ if !self.is_document() => {}
            _ if !is_text => self.skip(SkipReason::Name),
            FileType::RegularFile => self.file(dir, entry)?,
            _ => self.skip(SkipReason::Unreadable),
        }
        Ok(None)
    }

    fn file(&mut self, dir: &Dir, entry: &DirEntry) -> Result<(), Errno> {
        match rustix::fs::statat(dir.fd()?, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if is_regular(&stat) => {
                let stamp = stamp(&stat);
                if stamp.size > MAX_FILE_BYTES {
                    self.skip(SkipReason::TooLarge);
                } else {
                    self.listing.entries.push(Entry { key: self.path.clone(), stamp });
                }
            }
            // It has vanished.
            Err(Errno::NOENT) => {}
            Ok(_) | Err(_) => self.skip(SkipReason::Unreadable),
        }
        Ok(())
    }

    fn is_document(&self) -> bool {
        self.rules.document(&self.path).is_some()
    }

    fn skip(&mut self, reason: SkipReason) {
        let path = format!("{}{}", self.prefix, self.path);
        self.listing.skipped.push(Skipped { path, reason });
    }
}
