//! What tests of the library share: a machine below one folder, and what is on it.

#![allow(dead_code, reason = "each test binary uses another part of it")]

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use anemone::host::{Host, SharedClock};
use anemone::statement::Statement;
use anemone::system::SystemClock;
use anemone_format::Snapshot;
use anemone_memory::Clock;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

pub(crate) mod memory;
pub(crate) mod transfer;

/// Files of ours that a use case may leave, although their names begin with a dot.
const OWN_HIDDEN: [&str; 6] = [
    ".alf-agent-id",
    ".anemone",
    ".alf-origin",
    ".managed.json",
    ".tantivy-meta.lock",
    ".tantivy-writer.lock",
];

/// A folder for one test, and a host whose home, state, cache and configuration are below it.
pub(crate) struct TestMachine {
    folder: tempfile::TempDir,
    pub(crate) host: Host,
}

impl TestMachine {
    /// Creates a new, unused machine. It reads databases, and asks no questions.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut host = Host::below(folder.path(), SharedClock::new(SystemClock));
        // The tests compare whole folders, and temporary files come and go.
        host.scratch = std::env::temp_dir();
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

    /// Writes a snapshot as an archive, without the library.
    pub(crate) fn write_archive(&self, name: &str, snapshot: &Snapshot) {
        let spool = Box::new(Cursor::new(Vec::new()));
        let (bytes, _) = snapshot.write(Vec::new(), spool, 1).unwrap();
        self.write(name, bytes);
    }

    /// Moves the machine, and who uses it, to another time zone.
    pub(crate) fn travel(&mut self, zone: &str) {
        self.host.clock = SharedClock::new(ClockOf(TimeZone::get(zone).unwrap()));
    }

    /// Runs a use case and checks the common rules: a use case that fails leaves every file
    /// unchanged, and none leaves hidden files or files in the home folder behind.
    pub(crate) fn run<R, E>(&self, use_case: impl FnOnce(&Host) -> Result<R, E>) -> Result<R, E> {
        let before = self.everything();
        let done = use_case(&self.host);
        let after = self.everything();
        if done.is_err() {
            let names = |all: &BTreeMap<PathBuf, Entry>| {
                all.keys().filter(|path| !is_note_of_agent(path)).cloned().collect::<Vec<_>>()
            };
            assert_eq!(names(&before), names(&after), "a failure leaves the same files");
            for (path, entry) in before.iter().filter(|(path, _)| !is_note_of_agent(path)) {
                assert!(after[path] == *entry, "a failure leaves {} as it was", path.display());
            }
        }
        for path in after.keys().filter(|path| !before.contains_key(*path)) {
            let name = path.file_name().unwrap().to_string_lossy();
            let is_hidden = name.starts_with('.') && !OWN_HIDDEN.contains(&&*name);
            assert!(!is_hidden && !path.starts_with("home"), "{} is left over", path.display());
        }
        done
    }

    /// Returns everything below the machine's folder.
    pub(crate) fn everything(&self) -> BTreeMap<PathBuf, Entry> {
        let mut entries = BTreeMap::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            for listed in fs_err::read_dir(self.root().join(&folder)).unwrap() {
                let listed = listed.unwrap();
                let (path, metadata) =
                    (folder.join(listed.file_name()), listed.metadata().unwrap());
                let entry = if metadata.is_dir() {
                    folders.push(path.clone());
                    Entry::Folder
                } else if metadata.is_symlink() {
                    Entry::Link(fs_err::read_link(listed.path()).unwrap())
                } else if metadata.is_file() {
                    Entry::File(fs_err::read(listed.path()).unwrap(), mode_of(&metadata))
                } else {
                    Entry::Special
                };
                entries.insert(path, entry);
            }
        }
        entries
    }

    /// Returns the files below a folder that hold a text.
    pub(crate) fn holding(&self, folder: impl AsRef<Path>, text: &str) -> Vec<String> {
        let holds =
            |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        let files = tree(&self.root().join(folder)).into_iter();
        files
            .filter(|(_, bytes)| holds(bytes))
            .map(|(path, _)| path.display().to_string())
            .collect()
    }

    /// Checks that only the owner may read and write a file.
    pub(crate) fn assert_private(&self, name: &str) {
        let metadata = fs_err::metadata(self.path(name)).unwrap();
        assert_eq!(format!("{:o}", mode_of(&metadata)), "600", "{name}");
    }
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Folder,
    Link(PathBuf),
    /// Content and permission bits.
    File(Vec<u8>, u32),
    /// A pipe or a socket, which is not opened.
    Special,
}

/// The clock of this machine, in another time zone.
struct ClockOf(TimeZone);

impl Clock for ClockOf {
    fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    fn zone(&self) -> TimeZone {
        self.0.clone()
    }

    fn fresh_id(&self) -> Uuid {
        SystemClock.fresh_id()
    }
}

/// Whether a path is of the note that says whose memory something is about. A use case that may
/// write makes it before anything else.
fn is_note_of_agent(path: &Path) -> bool {
    let agents = Path::new("state/anemone/agents");
    agents.starts_with(path)
        || path.parent() == Some(agents)
        || (path.starts_with(agents) && path.ends_with("agent.json"))
}

#[cfg(unix)]
fn mode_of(metadata: &std::fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777
}

#[cfg(not(unix))]
fn mode_of(_: &std::fs::Metadata) -> u32 {
    0o600
}

/// Returns what a command prints of a report.
pub(crate) fn json(report: &impl Serialize) -> Value {
    serde_json::to_value(report).unwrap()
}

/// Returns what a report says, before anybody puts it into words.
pub(crate) fn typed<T, W>(said: &[Statement<T, W>]) -> Vec<&T> {
    said.iter().map(|one| one.typed().unwrap()).collect()
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
