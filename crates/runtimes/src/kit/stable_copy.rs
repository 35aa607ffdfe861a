//! Databases in a workspace that another process may be writing to.
//!
//! A database and its log belong together: read one after the other while their owner writes, they
//! are inconsistent, and committed data is lost. So they are copied together, and the copies are
//! exported.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::kit::{Copy, FoundEntry, SQLITE_MAGIC, Workspace, as_path};

/// What a log or a journal is called after its database.
const LOGS: [&[u8]; 2] = [b"-wal", b"-journal"];
/// Memory shared by the processes that use a database; the first one recreates it.
const SHARED_MEMORY: &[u8] = b"-shm";

/// Where the files of databases with a log are read from.
#[derive(Default)]
pub(crate) struct StableCopies {
    /// Keeps the copies until everything is carried.
    copies: Vec<Copy>,
    places: HashMap<Vec<u8>, CopyPlace>,
    /// Databases that changed during every attempt to copy them.
    pub(crate) restless: Vec<Vec<u8>>,
}

/// Where a file is read from, if at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CopyPlace {
    /// It is read from the workspace.
    Workspace,
    /// It is read from a copy.
    Copy(PathBuf),
    /// It existed and is gone.
    Gone,
    /// It is recreated by the program that opens the database.
    Derived,
}

impl StableCopies {
    /// Copies every database that has a log.
    pub(crate) fn take(
        workspace: &Workspace,
        root: &Path,
        found: &[FoundEntry],
        scratch: &Path,
    ) -> Self {
        let mut copies = Self::default();
        let is_there = |path: &[u8]| {
            let at = found.binary_search_by(|found| found.path.as_slice().cmp(path));
            at.is_ok_and(|at| found[at].is_file() && found[at].size() > 0)
        };
        for file in found.iter().filter(|found| found.is_file()) {
            let beside = |suffix: &[u8]| [&file.path, suffix].concat();
            if !LOGS.iter().any(|log| is_there(&beside(log))) || !is_database(workspace, file) {
                continue;
            }
            match Copy::take(&root.join(as_path(&file.path)), scratch) {
                Ok(copy) => copies.add(file, copy),
                Err(_) => copies.restless.push(file.path.clone()),
            }
        }
        copies
    }

    fn add(&mut self, file: &FoundEntry, copy: Copy) {
        let copied = |path: Option<PathBuf>| path.map_or(CopyPlace::Gone, CopyPlace::Copy);
        let beside = |suffix: &[u8]| [&file.path, suffix].concat();
        self.places.insert(file.path.clone(), CopyPlace::Copy(copy.file().to_owned()));
        self.places.insert(beside(LOGS[0]), copied(copy.wal()));
        self.places.insert(beside(LOGS[1]), copied(copy.journal()));
        self.places.insert(beside(SHARED_MEMORY), CopyPlace::Derived);
        self.copies.push(copy);
    }

    /// Returns where a file is read from.
    pub(crate) fn place_of(&self, path: &[u8]) -> CopyPlace {
        self.places.get(path).cloned().unwrap_or(CopyPlace::Workspace)
    }
}

fn is_database(workspace: &Workspace, file: &FoundEntry) -> bool {
    let mut start = Vec::new();
    let read = workspace
        .file(&file.path)
        .and_then(|file| file.take(SQLITE_MAGIC.len() as u64).read_to_end(&mut start));
    read.is_ok() && start == SQLITE_MAGIC
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::*;
    use crate::kit::searchable::SearchedFolder;
    use crate::kit::walk::WalkRules;

    #[test]
    fn a_database_and_its_log_are_of_one_moment() {
        let (root, scratch) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let root = fs_err::canonicalize(root.path()).unwrap();
        let connection = Connection::open(root.join("facts.db")).unwrap();
        connection.pragma_update(None, "journal_mode", "wal").unwrap();
        connection.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
        connection.execute_batch("CREATE TABLE t(x); INSERT INTO t VALUES (1), (2);").unwrap();
        fs_err::write(root.join("notes.txt-wal"), "no log").unwrap();
        fs_err::write(root.join("notes.txt"), "no database").unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let rules = WalkRules::new("memory", |_| SearchedFolder::Other);
        let found = workspace.walk(&rules).unwrap().found;
        let copies = StableCopies::take(&workspace, &root, &found, scratch.path());
        // What happens now is not in the copy.
        connection.execute_batch("INSERT INTO t VALUES (3); PRAGMA wal_checkpoint;").unwrap();
        assert_eq!(copies.place_of(b"notes.txt"), CopyPlace::Workspace);
        assert_eq!(copies.place_of(b"facts.db-shm"), CopyPlace::Derived);
        assert_eq!(copies.place_of(b"facts.db-journal"), CopyPlace::Gone);
        let put = TempDir::new().unwrap();
        for name in ["facts.db", "facts.db-wal"] {
            let CopyPlace::Copy(path) = copies.place_of(name.as_bytes()) else { panic!("{name}") };
            fs_err::copy(path, put.path().join(name)).unwrap();
        }
        let back = Connection::open(put.path().join("facts.db")).unwrap();
        let sum: i64 = back.query_row("SELECT sum(x) FROM t", [], |row| row.get(0)).unwrap();
        assert_eq!(sum, 3);
    }
}
