//! The folder in which a command runs, its start state, and its content.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use anemone_format::{ProvenanceStamp, StampTable};
use anemone_testkit::faults::{self, Injection, Outcome};
use regex::Regex;
use tempfile::TempDir;

/// A home, a place for temporary files and a folder to work in, which can be put back to how they
/// were. Paths stay the same, because state is kept by path.
pub(crate) struct Case {
    folder: TempDir,
}

/// What a user sees below the folder: everything but our index, our state and temporary files.
pub(crate) type Tree = BTreeMap<PathBuf, Thing>;

/// What there is at a path. Content that depends on the clock or on chance is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Thing {
    Folder,
    Link(PathBuf),
    /// Lines in alphabetical order: which of two entries came first depends on where a fault was.
    Text(Vec<String>),
    Bytes(Vec<u8>),
    /// The rows of every table, in alphabetical order.
    Rows(Vec<String>),
}

impl Thing {
    /// Whether nothing is in it.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Folder => true,
            Self::Link(_) => false,
            Self::Text(lines) | Self::Rows(lines) => lines.is_empty(),
            Self::Bytes(bytes) => bytes.is_empty(),
        }
    }
}

impl Case {
    pub(crate) fn new() -> Self {
        // A file system in memory, if there is one, because only the order of calls is tested.
        let memory = Path::new("/dev/shm");
        let folder =
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let case = Self { folder: folder.expect("a temporary folder can be made") };
        for name in ["home", "tmp", "work"] {
            fs_err::create_dir_all(case.path(name)).expect("the folder is ours");
        }
        case
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("case")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().expect("it has a folder")).expect("it is ours");
        fs_err::write(path, text).expect("it is ours");
    }

    /// Keeps the present state under a name.
    pub(crate) fn save(&self, name: &str) {
        copy(&self.root(), &self.folder.path().join(name));
    }

    /// Goes back to a state that was kept.
    pub(crate) fn restore(&self, name: &str) {
        // A fault may have left a read-only folder.
        fs_err::remove_dir_all(self.root()).expect("it is ours");
        copy(&self.folder.path().join(name), &self.root());
    }

    /// Runs the program, with or without a fault.
    pub(crate) fn run(&self, words: &[String], injection: Option<Injection>) -> Outcome {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("anemone"));
        command.args(words).current_dir(self.path("work"));
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("tmp"));
        command.env("COLUMNS", "100");
        let outcome = faults::run(&command, &self.root(), injection);
        assert!(!outcome.hung, "{words:?} does not end with {injection:?}");
        assert!(!outcome.stderr.contains("panicked"), "{words:?}: {}", outcome.stderr);
        outcome
    }

    /// Returns the files that a user sees.
    pub(crate) fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        self.walk(&mut |path, thing| {
            let hidden = ["home/.cache", "home/.local", "tmp", "work/snapshots"];
            let ours = hidden.iter().any(|folder| path.starts_with(folder));
            if ours || is_temporary(path) || is_of_a_database(path) || is_kept_copy(path) {
                return;
            }
            // A line in the table of stamps may be there without its entry, never the other way.
            if path.components().any(|part| part.as_os_str() == ".anemone") {
                return;
            }
            let unknown = self.unknown_stamps(path);
            if !unknown.is_empty() {
                tree.insert(path.with_extension("unknown-stamps"), Thing::Text(unknown));
            }
            tree.insert(path.to_owned(), thing());
        });
        tree
    }

    /// Returns the stamps of a file that are not in the table.
    fn unknown_stamps(&self, path: &Path) -> Vec<String> {
        if path.extension().is_none_or(|extension| extension != "md") {
            return Vec::new();
        }
        let path = self.root().join(path);
        let text = fs_err::read_to_string(&path).unwrap_or_default();
        let table = path.ancestors().skip(1).map(|ancestor| ancestor.join(StampTable::PATH));
        let table = table.filter_map(|table| fs_err::read(table).ok()).map(StampTable::new).next();
        let table = table.unwrap_or_default();
        let stamps = ProvenanceStamp::all_in(&text).map(|(_, stamp)| table.resolved(stamp));
        stamps.filter(|stamp| stamp.origin.is_none()).map(|stamp| stamp.id.to_string()).collect()
    }

    /// Returns the content of every file that a user would find, copies of replaced files included.
    pub(crate) fn contents(&self) -> Vec<Thing> {
        let mut contents = Vec::new();
        self.walk(&mut |path, thing| {
            if path.starts_with("work") && !is_temporary(path) {
                contents.push(thing());
            }
        });
        contents
    }

    /// Returns what a killed command left and a later one should have removed.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        self.walk(&mut |path, _| {
            // The next writer of an index cleans its folder.
            let of_index = path.starts_with("home/.cache");
            let of_system = path.starts_with("tmp") && path != Path::new("tmp");
            if (is_temporary(path) && !of_index) || of_system {
                found.push(path.to_owned());
            }
        });
        found
    }

    /// Returns the files that hold a text, wherever they are.
    pub(crate) fn holders(&self, text: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        self.walk(&mut |path, _| {
            let Ok(bytes) = fs_err::read(self.root().join(path)) else { return };
            if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                found.push(path.to_owned());
            }
        });
        found
    }

    fn walk(&self, visit: &mut dyn FnMut(&Path, &dyn Fn() -> Thing)) {
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let entries = fs_err::read_dir(self.root().join(&folder)).expect("it can be read");
            for entry in entries {
                let entry = entry.expect("it can be listed");
                let path = folder.join(entry.file_name());
                visit(&path, &|| thing_at(&entry.path()));
                if entry.file_type().expect("it exists").is_dir() {
                    folders.push(path);
                }
            }
        }
    }
}

fn thing_at(path: &Path) -> Thing {
    let metadata = fs_err::symlink_metadata(path).expect("it exists");
    if metadata.is_symlink() {
        return Thing::Link(fs_err::read_link(path).expect("it exists"));
    }
    if metadata.is_dir() {
        return Thing::Folder;
    }
    let extension = path.extension().and_then(|extension| extension.to_str());
    match extension {
        Some("db") => Thing::Rows(rows(path)),
        Some("md" | "jsonl") => {
            let text = fs_err::read_to_string(path).expect("it is UTF-8");
            let mut lines: Vec<_> = text.lines().map(without_chance).collect();
            lines.sort_unstable();
            Thing::Text(lines)
        }
        // An agent's id is made once, at random; a vault's key as well.
        _ if path.file_name().is_some_and(|name| name == ".alf-agent-id" || name == "key") => {
            Thing::Bytes(b"random".to_vec())
        }
        // A sealed file differs each time but has the same length.
        Some("age") => Thing::Bytes(metadata.len().to_string().into_bytes()),
        // A purge records its time, so only the result of validating the archive can be compared.
        Some("purged") => Thing::Bytes(judgement(path)),
        _ => Thing::Bytes(fs_err::read(path).expect("it can be read")),
    }
}

/// Returns what `validate` says of an archive.
fn judgement(path: &Path) -> Vec<u8> {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("anemone"));
    let output = command.arg("validate").arg(path).env_clear().output().expect("it starts");
    let document: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("it prints JSON");
    document["valid"].to_string().into_bytes()
}

/// Removes ids, times, and the content of stamps.
fn without_chance(text: &str) -> String {
    static STAMP: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("<!-- anemone: [^>]*-->").expect("it is a pattern"));
    static TIME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?")
            .expect("it is a pattern")
    });
    static ID: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").expect("it is a pattern")
    });
    let text = STAMP.replace_all(text, "<!-- stamp -->");
    let text = TIME.replace_all(&text, "TIME");
    ID.replace_all(&text, "ID").into_owned()
}

/// Returns every row of every ordinary table.
fn rows(path: &Path) -> Vec<String> {
    // A copy, because a look must change nothing beside the database.
    let copied = tempfile::tempdir().expect("a temporary folder can be made");
    for suffix in ["", "-wal", "-journal"] {
        let from = PathBuf::from(format!("{}{suffix}", path.display()));
        if from.exists() {
            let to = copied.path().join(format!("copy.db{suffix}"));
            fs_err::copy(from, to).expect("it can be copied");
        }
    }
    let database = rusqlite::Connection::open(copied.path().join("copy.db")).expect("it opens");
    let mut tables = database
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%fts%'")
        .expect("a database has a schema");
    let names: Vec<String> =
        tables.query_map([], |row| row.get(0)).and_then(Iterator::collect).expect("names are text");
    let mut found = Vec::new();
    for name in names {
        let mut all = database.prepare(&format!("SELECT * FROM \"{name}\"")).expect("it is there");
        let columns = all.column_count();
        let mut cells = all.query([]).expect("a table can be read");
        while let Some(row) = cells.next().expect("a row can be read") {
            let cells: Vec<_> = (0..columns)
                .map(|column| match row.get_ref(column).expect("the column is there") {
                    rusqlite::types::ValueRef::Blob(blob) => format!("{} bytes", blob.len()),
                    rusqlite::types::ValueRef::Text(text) => {
                        without_chance(&String::from_utf8_lossy(text))
                    }
                    other => format!("{other:?}"),
                })
                .collect();
            found.push(format!("{name}: {}", cells.join(", ")));
        }
    }
    found.sort_unstable();
    found
}

fn is_temporary(path: &Path) -> bool {
    path.components().any(|part| {
        let name = part.as_os_str().to_string_lossy();
        name.contains(".anemone-")
            || name == ".alf-import.json"
            || name.starts_with(".import-")
            || [".new", ".tmp", ".part"].iter().any(|end| name.ends_with(end))
            || name.starts_with(".tmp")
    })
}

/// Copies of what a command replaced. How many there are depends on how often it was started.
fn is_kept_copy(path: &Path) -> bool {
    path.components().any(|part| {
        let name = part.as_os_str().to_string_lossy();
        name.contains(".replaced-") || name.contains(".backup-")
    })
}

/// Files that SQLite keeps beside a database.
fn is_of_a_database(path: &Path) -> bool {
    let name = path.to_string_lossy();
    ["-wal", "-shm", "-journal"].iter().any(|end| name.ends_with(end))
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status().expect("cp starts");
    assert!(copied.success(), "{} can be copied", from.display());
}
