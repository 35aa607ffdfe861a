//! Workspaces to read and to fill: made by the generator, copied from a fixture or built by hand.
//!
//! They are outside the folder in which a test runs, because a workspace contains files that are
//! not allowed there: hidden files, pipes, unreadable files.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use anemone_format::{Archive, Limits, Record, Snapshot};
use serde_json::Value;
use tempfile::TempDir;
use uuid::Uuid;

use crate::skip;
use crate::workspace::Workspace;
use crate::zip::{holds, unzip};

/// The namespace of the existing tool's record ids: 16 letters taken as a UUID.
const RECORD_IDS: Uuid = Uuid::from_bytes(*b"openclaw-alf-ns1");

/// A folder of workspaces.
pub struct Ground {
    folder: TempDir,
}

/// The object at a path, with everything that a round trip must preserve.
#[derive(Debug, PartialEq, Eq)]
pub struct Lying {
    kind: &'static str,
    mode: u32,
    /// Nanoseconds since 1970.
    mtime: i128,
    /// Content of a file, target of a link.
    bytes: Vec<u8>,
}

impl Lying {
    /// Returns whether it is a `file`, a `folder`, a `link` or `special`.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the content of a file, or the target of a link.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Default for Ground {
    fn default() -> Self {
        Self::new()
    }
}

impl Ground {
    /// Makes an empty place.
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder can be made") }
    }

    /// Returns the path of something in it.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, and creates its parent folders.
    pub fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().expect("it has a folder")).expect("it is ours");
        fs_err::write(&path, bytes).expect("the folder is ours");
        path
    }

    /// Adds to a file.
    pub fn append(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let mut content = self.read(name);
        content.extend(bytes.as_ref());
        self.write(name, content);
    }

    /// Reads a file.
    pub fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        fs_err::read(self.path(name)).expect("the file is there")
    }

    /// Makes a link, and the folders that it is in.
    pub fn link(&self, target: impl AsRef<Path>, name: &str) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().expect("it has a folder")).expect("it is ours");
        fs_err::os::unix::fs::symlink(target, path).expect("the folder is ours");
    }

    /// Changes when a file was last written, and nothing else.
    pub fn touch(&self, name: &str, seconds: u64) {
        let file = fs_err::File::options().write(true).open(self.path(name)).expect("it is ours");
        let when = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        file.file().set_modified(when).expect("the file is ours");
    }

    /// Generates an OpenClaw workspace.
    pub fn generate(&self, name: &str, workspace: &Workspace) -> PathBuf {
        let path = self.path(name);
        workspace.write(&path).expect("the folder is ours");
        path
    }

    /// Makes a workspace with one file of every kind, dated before yesterday.
    pub fn small(&self, name: &str) -> PathBuf {
        for (file, content) in [
            ("SOUL.md", "# Mira\n\nKind and brief.\n"),
            ("USER.md", "# Sam\n"),
            ("MEMORY.md", "# Memory\n\n## Tea\n\nGreen.\n\n## Pets\n\nA cat.\n"),
            ("memory/2026-02-03.md", "## Session — 10:30 AM\n\nOne.\n\n## Evening\n\nTwo.\n"),
            ("memory/project-x.md", "## Plan\n\nShip it.\n"),
            ("notes.txt", "an artifact\n"),
        ] {
            let file = format!("{name}/{file}");
            self.write(&file, content);
            self.touch(&file, 1_770_000_000);
        }
        self.path(name)
    }
}

/// Runs Python and returns its output, or prints that it was not found.
pub fn python(args: &[&str]) -> Option<String> {
    let ran = match Command::new("python3").args(args).output() {
        Ok(ran) => ran,
        Err(error) => {
            skip("python", format_args!("python3 does not run: {error}"));
            return None;
        }
    };
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    Some(String::from_utf8(ran.stdout).expect("what is printed is UTF-8"))
}

/// Returns everything below a folder; the folder itself is not part of it.
pub fn tree(root: &Path) -> BTreeMap<PathBuf, Lying> {
    let mut found = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(root.join(&folder)).expect("the folder can be read") {
            let entry = entry.expect("the folder can be read");
            let path = folder.join(entry.file_name());
            let metadata = entry.metadata().expect("it is there");
            let (kind, bytes) = if metadata.is_dir() {
                folders.push(path.clone());
                ("folder", Vec::new())
            } else if metadata.is_symlink() {
                let target = fs_err::read_link(entry.path()).expect("it is there");
                ("link", target.into_os_string().into_encoded_bytes())
            } else if metadata.is_file() {
                ("file", fs_err::read(entry.path()).expect("it can be read"))
            } else {
                ("special", Vec::new())
            };
            let mtime = i128::from(metadata.mtime()) * 1_000_000_000;
            let mtime = mtime + i128::from(metadata.mtime_nsec());
            let mode = metadata.mode() & 0o7777;
            found.insert(path, Lying { kind, mode, mtime, bytes });
        }
    }
    found
}

/// Checks that two trees are equal, except for the given paths.
#[track_caller]
pub fn assert_same_tree(was: &Path, is: &Path, missing: &[&str], added: &[&str]) {
    let (mut was, mut is) = (tree(was), tree(is));
    was.retain(|path, _| !missing.iter().any(|missing| path.starts_with(missing)));
    for path in added {
        assert!(is.remove(Path::new(path)).is_some(), "{path} is there");
    }
    let paths = |tree: &BTreeMap<PathBuf, Lying>| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(paths(&was), paths(&is));
    for (path, was) in &was {
        let is = &is[path];
        let path = path.display();
        assert_eq!((was.kind, was.mode), (is.kind, is.mode), "{path}");
        assert_eq!(was.mtime, is.mtime, "when {path} changed");
        assert!(was.bytes == is.bytes, "the bytes of {path}");
    }
}

/// Reads an archive, without the program.
#[track_caller]
pub fn read_snapshot(bytes: Vec<u8>) -> Snapshot {
    let length = bytes.len() as u64;
    let archive = Archive::open(Box::new(bytes), length, &Limits::default());
    Snapshot::read(&archive.expect("the archive opens")).expect("the archive reads")
}

/// Returns the records of a file in the order of their index; an index that is not there or is
/// there twice is a failure.
#[track_caller]
pub fn records_of<'a>(snapshot: &'a Snapshot, file: &str) -> Vec<&'a Record> {
    let of_file = |record: &&Record| record.source.origin_file.as_deref() == Some(file);
    let mut by_id: BTreeMap<String, &Record> = BTreeMap::new();
    for record in snapshot.records.iter().filter(of_file) {
        let old = by_id.insert(record.id.to_string(), record);
        assert!(old.is_none(), "{} is there twice", record.id);
    }
    let in_order = (0..by_id.len()).map(|index| {
        let id = record_id(file, index);
        by_id.remove(&id).unwrap_or_else(|| panic!("{file}:{index} has no record {id}"))
    });
    in_order.collect()
}

/// Returns the id of the record at a place in a file, by the existing tool's formula.
pub fn record_id(file: &str, index: usize) -> String {
    Uuid::new_v5(&RECORD_IDS, format!("{file}:{index}").as_bytes()).to_string()
}

/// Returns what a record was made of, as JSON.
pub fn raw(record: &Record) -> Value {
    serde_json::to_value(&record.raw_source_format).expect("it is JSON")
}

/// Returns the headings of records.
pub fn headings(records: &[&Record]) -> Vec<Option<String>> {
    records.iter().map(|record| raw(record)["heading"].as_str().map(str::to_owned)).collect()
}

/// Checks that no entry of an archive contains some text, literally or encoded.
#[track_caller]
pub fn assert_holds_none(archive: &[u8], texts: &[&str]) {
    for (name, entry) in unzip(archive) {
        for text in texts {
            assert!(!holds(&entry.content, text.as_bytes()), "{text} in {name}");
            assert!(!name.contains(text), "{name}");
        }
    }
}

/// Returns one field of each object of a list.
pub fn fields<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let list = list.as_array().expect("it is a list").iter();
    list.map(|list| list[field].as_str().expect("the field is text")).collect()
}

/// Returns the object of a list whose field has a value.
#[track_caller]
pub fn with<'a>(list: &'a Value, field: &str, value: &str) -> &'a Value {
    let found = list.as_array().expect("it is a list").iter().find(|array| array[field] == value);
    found.unwrap_or_else(|| panic!("{field} {value} in {list}"))
}

#[test]
fn the_same_seed_gives_the_same_workspace_and_another_the_same_layout() {
    let ground = Ground::new();
    let generated = |name: &str, seed: u64| -> BTreeMap<PathBuf, Vec<u8>> {
        let workspace = Workspace::edge_cases().days(2).seed(seed);
        let mut files = tree(&ground.generate(name, &workspace));
        // It leads to a file beside the workspace by its full path.
        files.remove(Path::new("memory/link-outside.md"));
        files.into_iter().map(|(path, lying)| (path, lying.bytes)).collect()
    };
    let (one, same, other) = (generated("a/w", 1), generated("b/w", 1), generated("c/w", 2));
    assert!(one == same);
    assert!(one != other && one.keys().eq(other.keys()));
}
