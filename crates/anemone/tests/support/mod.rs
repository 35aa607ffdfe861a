//! What tests of the library share: a machine below one folder, and what is on it.

#![allow(dead_code, reason = "each test binary uses another part of it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anemone::host::{Host, SharedClock};
use anemone::system::SystemClock;
use serde::Serialize;
use serde_json::Value;

/// A folder for one test, and a host whose home, state, cache and configuration are below it.
pub(crate) struct TestMachine {
    folder: tempfile::TempDir,
    pub(crate) host: Host,
}

impl TestMachine {
    /// Makes a machine that nobody has used yet. It reads databases, and asks nobody.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut host = Host::below(folder.path(), SharedClock::new(SystemClock));
        host.database_reader = env!("CARGO_BIN_EXE_read-database").into();
        for name in [&host.folders.home, &folder.path().join("work")] {
            fs_err::create_dir(name).unwrap();
        }
        Self { folder, host }
    }

    /// The folder that everything is below.
    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of a file in the folder to work in.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    /// Returns the path of a file in the home folder.
    pub(crate) fn home(&self, name: impl AsRef<Path>) -> PathBuf {
        self.host.folders.home.join(name)
    }

    /// Writes a file into the folder to work in, and the folders that it is in.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        write_below(&self.path(name), bytes.as_ref());
    }

    /// Writes a file into the home folder, and the folders that it is in.
    pub(crate) fn write_home(&self, name: &str, bytes: impl AsRef<[u8]>) {
        write_below(&self.home(name), bytes.as_ref());
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs_err::read(self.path(name)).unwrap()
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).symlink_metadata().is_ok()
    }

    /// Copies a folder into the folder to work in, writable.
    pub(crate) fn copy(&self, from: &Path, name: &str) {
        copy(from, &self.path(name));
    }

    /// Copies a folder into the home folder, writable.
    pub(crate) fn copy_home(&self, from: &Path, name: &str) {
        copy(from, &self.home(name));
    }

    /// Returns every file below the machine's folder, with its content.
    pub(crate) fn everything(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        tree(self.folder.path())
    }
}

/// Returns what a command prints of a report.
pub(crate) fn json(report: &impl Serialize) -> Value {
    serde_json::to_value(report).unwrap()
}

/// Returns every file below a folder, with its content. Links are left out.
pub(crate) fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs_err::read_dir(next).into_iter().flatten().flatten() {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                let path = entry.path().strip_prefix(folder).unwrap().to_owned();
                found.insert(path, fs_err::read(entry.path()).unwrap());
            }
        }
    }
    found
}

fn write_below(path: &Path, bytes: &[u8]) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, bytes).unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs_err::create_dir_all(to).unwrap();
    for entry in fs_err::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs_err::write(target, fs_err::read(entry.path()).unwrap()).unwrap();
        }
    }
}
