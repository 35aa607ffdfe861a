//! A folder of its own for each test, and the program run in it.
//!
//! The machine does not influence a test: the environment is empty but for `HOME`, `TMPDIR` and a
//! width, and both folders are the test's own. Every run is checked for the promises of every
//! command: one JSON document on stdout, no panic, nothing left in `HOME` or `TMPDIR`, no temporary
//! files, and an unchanged folder after a failure.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anemone_format::Snapshot;
pub(crate) use anemone_sample as sample;
pub(crate) use anemone_testkit::fixture;
use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// How every age file starts.
pub(crate) const AGE_MAGIC: &[u8] = b"age-encryption.org/";

/// Our state folder, beside the working folder.
const STATE: &str = "home/.local/state/anemone";

/// A folder to work in, with a home and a place for temporary files beside it.
pub(crate) struct TestEnvironment {
    folder: TempDir,
}

/// The result of a run of the program.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The object at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lies {
    Folder,
    Link(PathBuf),
    /// Content and permission bits.
    File(Vec<u8>, u32),
}

impl TestEnvironment {
    /// Makes an empty folder.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for name in ["home", "tmp", "work"] {
            fs_err::create_dir(folder.path().join(name)).expect("the folder is ours");
        }
        Self { folder }
    }

    /// Makes a folder with what `anemone demo --keep` leaves: march.alf, april.alf,
    /// march-to-april.alf-delta and applied.alf.
    pub(crate) fn with_demo() -> Self {
        static DEMO: LazyLock<BTreeMap<&str, Vec<u8>>> = LazyLock::new(|| {
            let environment = TestEnvironment::new();
            environment.json(["demo", "--keep", "demo"]);
            ["march.alf", "april.alf", "march-to-april.alf-delta", "applied.alf"]
                .map(|name| (name, environment.read(&format!("demo/{name}"))))
                .into()
        });
        let environment = Self::new();
        for (name, bytes) in &*DEMO {
            environment.write(name, bytes);
        }
        environment
    }

    /// Returns the path of a file in the folder.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    /// Returns the path of a file in the home folder.
    pub(crate) fn home(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join("home").join(name)
    }

    /// Writes a file into the home folder, and creates its parent folders.
    pub(crate) fn write_home(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.home(name);
        fs_err::create_dir_all(path.parent().expect("it has a folder")).expect("it is ours");
        fs_err::write(path, bytes).expect("the folder is ours");
    }

    /// Copies a folder into the home folder, writable.
    pub(crate) fn copy_home(&self, from: &Path, name: &str) {
        fs_err::create_dir_all(self.home(name)).expect("the folder is ours");
        for entry in fs_err::read_dir(from).expect("the folder can be read") {
            let entry = entry.expect("the folder can be read");
            let below = format!("{name}/{}", entry.file_name().to_str().expect("it is UTF-8"));
            if entry.file_type().expect("it is there").is_dir() {
                self.copy_home(&entry.path(), &below);
            } else {
                self.write_home(&below, fs_err::read(entry.path()).expect("it can be read"));
            }
        }
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs_err::read(self.path(name)).expect("the file is there")
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs_err::write(self.path(name), bytes).expect("the folder is ours");
    }

    /// Writes a file, and creates its parent folders.
    pub(crate) fn write_below(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().expect("it has a folder")).expect("it is ours");
        fs_err::write(path, bytes).expect("the folder is ours");
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).symlink_metadata().is_ok()
    }

    /// Writes a snapshot as an archive, without the program.
    pub(crate) fn write_archive(&self, name: &str, snapshot: &Snapshot) {
        let spool = Box::new(Cursor::new(Vec::new()));
        let (bytes, _) = snapshot.write(Vec::new(), spool, 1).expect("a vector takes any bytes");
        self.write(name, bytes);
    }

    /// Returns the program, about to run in the folder.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(program());
        command.current_dir(self.path(""));
        command.env_clear().envs(self.variables());
        command
    }

    /// Returns all that a run sees of an environment.
    pub(crate) fn variables(&self) -> [(&'static str, OsString); 3] {
        [
            ("HOME", self.folder.path().join("home").into()),
            ("TMPDIR", self.folder.path().join("tmp").into()),
            ("COLUMNS", "100".into()),
        ]
    }

    /// Runs the program and checks what holds for every run.
    pub(crate) fn run(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ran {
        self.run_with(&[], args)
    }

    /// Runs the program with variables set.
    pub(crate) fn run_with(
        &self,
        variables: &[(&str, &str)],
        args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Ran {
        let before = self.everything();
        let mut command = self.command();
        command.envs(variables.iter().copied()).args(args);
        let output = command.output().expect("the program starts");
        let ran = Ran {
            code: output.status.code().expect("no signal ended the program"),
            stdout: String::from_utf8(output.stdout).expect("what is printed is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("what is printed is UTF-8"),
        };
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        let after = self.everything();
        if ran.code != 0 {
            // A command that may write says first whose memory it is about.
            let agents = Path::new(STATE).join("agents");
            let is_note = |path: &Path| {
                agents.starts_with(path)
                    || path.parent() == Some(&agents)
                    || (path.starts_with(&agents) && path.ends_with("agent.json"))
            };
            let without_notes = |all: &BTreeMap<PathBuf, Lies>| -> BTreeMap<PathBuf, Lies> {
                let kept = all.iter().filter(|(path, _)| !is_note(path));
                kept.map(|(path, lies)| (path.clone(), lies.clone())).collect()
            };
            let (before, after) = (without_notes(&before), without_notes(&after));
            let names = |all: &BTreeMap<PathBuf, Lies>| all.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(&before), names(&after), "a failure leaves the same files");
            assert!(before == after, "a failure leaves every file as it was");
        }
        let left = after.keys().find(|path| {
            // A search is expected to leave an index.
            if path.starts_with("home/.cache") {
                return false;
            }
            // A change of a memory is expected to leave pre-images, and an export or an index in a
            // chosen folder a note.
            let kept = ["agents", "known-folders"].map(|name| Path::new(STATE).join(name));
            if kept.iter().any(|kept| path.starts_with(kept) || kept.starts_with(path)) {
                return false;
            }
            let temporary = path.starts_with("home") || path.starts_with("tmp");
            // The file of an agent's id, the sidecar and the table of stamps are hidden, and what
            // an import or an entry is to leave; the others are of an index.
            let ours = [
                ".alf-agent-id",
                ".anemone",
                ".alf-origin",
                ".managed.json",
                ".tantivy-meta.lock",
                ".tantivy-writer.lock",
            ];
            let hidden = path.file_name().is_some_and(|other| {
                other.as_encoded_bytes().starts_with(b".")
                    && !ours.iter().any(|name| other == *name)
            });
            !before.contains_key(*path) && (temporary || hidden)
        });
        assert_eq!(left, None, "nothing is left over");
        ran
    }

    /// Runs a command that succeeds, and returns its one JSON document.
    pub(crate) fn json(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Value {
        self.json_with(&[], args)
    }

    pub(crate) fn json_with(
        &self,
        variables: &[(&str, &str)],
        args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Value {
        let ran = self.run_with(variables, args);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.stderr, "");
        let document = ran.document();
        assert_eq!(document["ok"], true);
        document
    }

    /// Runs a command that fails with an exit code, and returns its one JSON document.
    pub(crate) fn failure(
        &self,
        code: i32,
        args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Value {
        self.failure_with(&[], code, args)
    }

    pub(crate) fn failure_with(
        &self,
        variables: &[(&str, &str)],
        code: i32,
        args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Value {
        let ran = self.run_with(variables, args);
        assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
        // The argument parser also explains itself to people.
        assert!(code == 2 || ran.stderr.is_empty(), "{}", ran.stderr);
        let document = ran.document();
        assert_eq!(document["ok"], false);
        assert!(
            document["error"].as_str().is_some_and(|document| !document.is_empty()),
            "{document}"
        );
        assert!(
            document["code"].as_str().is_some_and(|document| !document.is_empty()),
            "{document}"
        );
        let hint = document.get("hint");
        assert!(
            hint.is_none_or(|hint| hint.as_str().is_some_and(|value| !value.is_empty())),
            "{document}"
        );
        document
    }

    /// Runs a command that succeeds, for people, and returns its text without sizes.
    pub(crate) fn human(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> String {
        let ran = self.run_with(&[("ALF_HUMAN", "1")], args);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.stderr, "");
        without_sizes(&ran.stdout)
    }

    /// Runs a command that fails, with output for people, and returns its stderr.
    pub(crate) fn human_failure(
        &self,
        code: i32,
        args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> String {
        let ran = self.run_with(&[("ALF_HUMAN", "1")], args);
        assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.stdout, "");
        ran.stderr
    }

    /// Makes an age identity in a file and returns its recipient.
    pub(crate) fn identity(&self, name: &str) -> String {
        let made = self.json(["vault", "keygen", "--age", "-o", name]);
        made["recipient"].as_str().expect("an identity has a recipient").to_owned()
    }

    /// Returns the content of the folder, its home folder and its temporary files, by path.
    pub(crate) fn everything(&self) -> BTreeMap<PathBuf, Lies> {
        let mut found = BTreeMap::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let entries = fs_err::read_dir(self.folder.path().join(&folder));
            for entry in entries.expect("the folder can be read") {
                let entry = entry.expect("the folder can be read");
                let path = folder.join(entry.file_name());
                let metadata = entry.metadata().expect("the file is there");
                let lies = if metadata.is_dir() {
                    folders.push(path.clone());
                    Lies::Folder
                } else if metadata.is_symlink() {
                    Lies::Link(fs_err::read_link(entry.path()).expect("the link is there"))
                } else {
                    let content = fs_err::read(entry.path()).expect("the file can be read");
                    Lies::File(content, mode_of(&metadata))
                };
                found.insert(path, lies);
            }
        }
        found
    }

    /// Checks that only the owner may read and write a file.
    pub(crate) fn assert_private(&self, name: &str) {
        let metadata = fs_err::metadata(self.path(name)).expect("the file is there");
        assert_eq!(format!("{:o}", mode_of(&metadata)), "600", "{name}");
    }
}

impl Ran {
    /// Returns the one JSON document on stdout, which is on one line.
    pub(crate) fn document(&self) -> Value {
        let mut documents = serde_json::Deserializer::from_str(&self.stdout).into_iter();
        let document: Value = match documents.next() {
            Some(Ok(document)) => document,
            other => panic!("{other:?} in {:?} {:?}", self.stdout, self.stderr),
        };
        assert!(documents.next().is_none(), "more than one document: {}", self.stdout);
        assert!(document.is_object(), "{document}");
        assert!(self.stdout.ends_with("}\n"), "{:?}", self.stdout);
        assert_eq!(self.stdout.lines().count(), 1, "{}", self.stdout);
        document
    }
}

/// Returns the path of the program under test.
pub(crate) fn program() -> &'static Path {
    Path::new(assert_cmd::cargo::cargo_bin!("anemone"))
}

/// Returns a file that the existing tool wrote.
pub(crate) fn reference(name: &str) -> PathBuf {
    fixture(&format!("alf/{name}"))
}

#[cfg(unix)]
fn mode_of(metadata: &std::fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777
}

#[cfg(not(unix))]
fn mode_of(_: &std::fs::Metadata) -> u32 {
    0o600
}

/// Replaces each size by `[size]`, because compression ratios are not tested here.
pub(crate) fn without_sizes(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        result.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let unit = [" B", " KiB", " MiB"].iter().find_map(|unit| after.strip_prefix(unit));
        match unit.filter(|after| !after.starts_with(char::is_alphanumeric)) {
            Some(after) => {
                result.push_str("[size]");
                rest = after;
            }
            None => {
                result.push_str(number);
                rest = after;
            }
        }
    }
    result + rest
}

#[test]
fn sizes_are_taken_out_and_other_numbers_stay() {
    let text = "wrote a.alf (20.13 KiB, 25 records) 330 bytes, 2 Birds, 12 B.";
    assert_eq!(without_sizes(text), "wrote a.alf ([size], 25 records) 330 bytes, 2 Birds, [size].");
}
