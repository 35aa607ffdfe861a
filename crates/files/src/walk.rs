//! Visits everything below a folder, without following a link: every folder is opened by its name
//! in the folder above, which is already open.

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;

use crate::{FileKind, FileStat, Folder};

/// One name that a walk visits.
pub struct WalkEntry<'a> {
    /// The folder that it is in.
    pub folder: &'a Folder,
    /// Its name there.
    pub name: &'a OsStr,
    /// Its path below the root, with `/` between the parts.
    pub path: &'a [u8],
    /// How many folders are above it, without the root.
    pub depth: usize,
    kind: Option<FileKind>,
}

/// What a walk does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkStep {
    /// It continues with the next name.
    Pass,
    /// It also visits the content of this folder, once all names beside it were visited.
    Enter,
    /// It ends.
    Stop,
}

/// Decides what counts. It must also limit the depth: a walk holds one handle for each folder
/// above.
pub trait WalkVisitor {
    /// Visits one name.
    fn visit(&mut self, visited: &WalkEntry<'_>) -> WalkStep;

    /// Called for a folder (the empty path is the root) that could not be opened, or not be read to
    /// its end. The names visited before still count.
    fn unreadable(&mut self, path: &[u8], error: io::Error) -> ControlFlow<()>;
}

impl WalkEntry<'_> {
    /// Returns its kind; the file is only queried if the listing does not have it.
    pub fn kind(&self) -> io::Result<FileKind> {
        self.kind.map_or_else(|| Ok(self.stat()?.kind), Ok)
    }

    /// Stats it.
    pub fn stat(&self) -> io::Result<FileStat> {
        self.folder.stat(self.name)
    }
}

/// A folder with folders still to be entered.
struct Level {
    /// `None` is the root.
    folder: Option<Folder>,
    /// How many bytes of the path are this folder's, with the slash.
    path: usize,
    names: Vec<OsString>,
}

/// Visits everything below a folder, in no order.
pub fn walk(root: &Folder, visitor: &mut dyn WalkVisitor) {
    let mut path = Vec::new();
    let ControlFlow::Continue(names) = list(root, &mut path, 0, visitor) else { return };
    let mut levels = vec![Level { folder: None, path: 0, names }];
    while let Some(level) = levels.last_mut() {
        let Some(name) = level.names.pop() else {
            levels.pop();
            continue;
        };
        path.truncate(level.path);
        path.extend_from_slice(name.as_bytes());
        match level.folder.as_ref().unwrap_or(root).folder(&*name) {
            Ok(folder) => {
                path.push(b'/');
                let length = path.len();
                let listed = list(&folder, &mut path, levels.len(), visitor);
                let ControlFlow::Continue(names) = listed else { return };
                levels.push(Level { folder: Some(folder), path: length, names });
            }
            Err(error) => {
                if visitor.unreadable(&path, error).is_break() {
                    return;
                }
            }
        }
    }
}

/// Visits the names of one folder; returns those that are to be entered.
fn list(
    folder: &Folder,
    path: &mut Vec<u8>,
    depth: usize,
    visitor: &mut dyn WalkVisitor,
) -> ControlFlow<(), Vec<OsString>> {
    let length = path.len();
    let mut entered = Vec::new();
    let failed = |visitor: &mut dyn WalkVisitor, path: &[u8], error| {
        visitor.unreadable(&path[..length.saturating_sub(1)], error)
    };
    let entries = match folder.entries() {
        Ok(entries) => entries,
        Err(error) => {
            failed(visitor, path, error)?;
            return ControlFlow::Continue(entered);
        }
    };
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                failed(visitor, path, error)?;
                break;
            }
        };
        path.truncate(length);
        path.extend_from_slice(entry.name().as_bytes());
        let (name, kind) = (entry.name(), entry.kind());
        match visitor.visit(&WalkEntry { folder, name, path, depth, kind }) {
            WalkStep::Pass => {}
            WalkStep::Enter => entered.push(name.to_owned()),
            WalkStep::Stop => return ControlFlow::Break(()),
        }
    }
    ControlFlow::Continue(entered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen {
        paths: Vec<String>,
        unreadable: Vec<String>,
        most: Option<usize>,
    }

    impl WalkVisitor for Seen {
        fn visit(&mut self, visited: &WalkEntry<'_>) -> WalkStep {
            if self.most == Some(self.paths.len()) {
                return WalkStep::Stop;
            }
            let kind = visited.kind().unwrap();
            let path = String::from_utf8_lossy(visited.path).into_owned();
            assert_eq!(visited.depth, path.matches('/').count());
            assert_eq!(kind, visited.stat().unwrap().kind);
            self.paths.push(path);
            // Links are entered as well, to check that none is followed.
            if kind == FileKind::File { WalkStep::Pass } else { WalkStep::Enter }
        }

        fn unreadable(&mut self, path: &[u8], _: io::Error) -> ControlFlow<()> {
            self.unreadable.push(String::from_utf8_lossy(path).into_owned());
            ControlFlow::Continue(())
        }
    }

    #[test]
    fn everything_is_visited_once_and_no_link_is_followed() {
        let kept = tempfile::tempdir().unwrap();
        let root = kept.path().join("root");
        for name in ["a/b/c.md", "a/d.md", "e.md", "../outside/secret"] {
            let path = root.join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "x").unwrap();
        }
        fs_err::os::unix::fs::symlink("../outside", root.join("link")).unwrap();
        let mut seen = Seen::default();
        walk(&Folder::open(&root).unwrap(), &mut seen);
        seen.paths.sort();
        assert_eq!(seen.paths, ["a", "a/b", "a/b/c.md", "a/d.md", "e.md", "link"]);
        assert_eq!(seen.unreadable, ["link"]);
        let mut few = Seen { most: Some(2), ..Seen::default() };
        walk(&Folder::open(&root).unwrap(), &mut few);
        assert_eq!(few.paths.len(), 2);
    }
}
