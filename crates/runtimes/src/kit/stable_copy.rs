//! Databases in a workspace that somebody is writing to.
//!
//! A database and its log are one thing: taken one after the other, while their owner goes on, they
//! fit no longer, and what comes back lacks what was committed. So they are copied together, and
//! the copies travel.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::kit::database::Copy;
use crate::kit::paths::as_path;
use crate::kit::walk::{Found, Workspace};

/// How every SQLite file starts.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// What a log or a journal is called after its database.
const LOGS: [&[u8]; 2] = [b"-wal", b"-journal"];
/// Memory that processes share while they use a database; the first one makes it anew.
const SHARED_MEMORY: &[u8] = b"-shm";

/// Where the files of databases with a log are to be read from.
#[derive(Default)]
pub(crate) struct StableCopies {
    /// Keeps the copies until all is carried.
    copies: Vec<Copy>,
    places: HashMap<Vec<u8>, Place>,
    /// Databases that did not hold still.
    pub(crate) restless: Vec<Vec<u8>>,
}

/// What is to be done about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is read from the workspace.
    Workspace,
    /// It is read from a copy.
    Copy(PathBuf),
    /// It was there and is no longer.
    Gone,
    /// It is made anew by whoever opens the database.
    Derived,
}

impl StableCopies {
    /// Copies every database that has a log.
    pub(crate) fn take(
        workspace: &Workspace,
        root: &Path,
        found: &[Found],
        scratch: &Path,
    ) -> Self {
        let mut steady = Self::default();
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
                Ok(copy) => steady.add(file, copy),
                Err(_) => steady.restless.push(file.path.clone()),
            }
        }
        steady
    }

    fn add(&mut self, file: &Found, copy: Copy) {
        let copied = |path: Option<PathBuf>| path.map_or(Place::Gone, Place::Copy);
        let beside = |suffix: &[u8]| [&file.path, suffix].concat();
        self.places.insert(file.path.clone(), Place::Copy(copy.file().to_owned()));
        self.places.insert(beside(LOGS[0]), copied(copy.wal()));
        self.places.insert(beside(LOGS[1]), copied(copy.journal()));
        self.places.insert(beside(SHARED_MEMORY), Place::Derived);
        self.copies.push(copy);
    }

    /// Says where a file is to be read from.
    pub(crate) fn place_of(&self, path: &[u8]) -> Place {
        self.places.get(path).cloned().unwrap_or(Place::Workspace)
    }
}

fn is_database(workspace: &Workspace, file: &Found) -> bool {
    let mut start = Vec::new();
    let read = workspace
        .file(&file.path)
        .and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut start));
    read.is_ok() && start == MAGIC
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
        let steady = StableCopies::take(&workspace, &root, &found, scratch.path());
        // What happens now is not in it.
        connection.execute_batch("INSERT INTO t VALUES (3); PRAGMA wal_checkpoint;").unwrap();
        assert_eq!(steady.place_of(b"notes.txt"), Place::Workspace);
        assert_eq!(steady.place_of(b"facts.db-shm"), Place::Derived);
        assert_eq!(steady.place_of(b"facts.db-journal"), Place::Gone);
        let put = TempDir::new().unwrap();
        for name in ["facts.db", "facts.db-wal"] {
            let Place::Copy(path) = steady.place_of(name.as_bytes()) else { panic!("{name}") };
            fs_err::copy(path, put.path().join(name)).unwrap();
        }
        let back = Connection::open(put.path().join("facts.db")).unwrap();
        let sum: i64 = back.query_row("SELECT sum(x) FROM t", [], |row| row.get(0)).unwrap();
        assert_eq!(sum, 3);
    }
}
