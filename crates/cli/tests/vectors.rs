//! Conformance vectors: small files, each with the behaviour of a careful reader.
//!
//! The files are in `tests/vectors` at the root of the workspace, for other tools to use. They are
//! generated here, so that every false byte has a documented reason.

#[path = "vectors/alf.rs"]
mod alf;
#[path = "vectors/corrupt.rs"]
mod corrupt;
#[path = "vectors/documents.rs"]
mod documents;
#[path = "vectors/hostile.rs"]
mod hostile;
#[path = "vectors/make.rs"]
mod make;
#[path = "vectors/ok.rs"]
mod ok;
#[path = "vectors/unknowns.rs"]
mod unknowns;
#[path = "vectors/version.rs"]
mod version;
#[path = "vectors/zip.rs"]
mod zip;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use assert_cmd::Command;

/// The folder of the files.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors")
}

#[expect(clippy::disallowed_methods, reason = "a test asks its own environment, once")]
fn update() -> bool {
    std::env::var_os("ANEMONE_UPDATE").is_some()
}

/// Every file that is made here, by its path below [`folder`]; written there first, if asked.
static MADE: LazyLock<BTreeMap<String, Vec<u8>>> = LazyLock::new(|| {
    let made = make();
    if update() {
        for path in committed().keys().filter(|path| !made.contains_key(*path)) {
            fs_err::remove_file(folder().join(path)).expect("a file that is there can go");
        }
        for (path, bytes) in &made {
            let path = folder().join(path);
            fs_err::create_dir_all(path.parent().unwrap_or(&path)).expect("the folder is ours");
            fs_err::write(path, bytes).expect("the folder is ours");
        }
    }
    made
});

fn make() -> BTreeMap<String, Vec<u8>> {
    let vectors = make::all();
    let mut files = BTreeMap::from([
        ("README.md".to_owned(), make::readme(&vectors).into_bytes()),
        // Some of the files look like text to git, and a changed line end is another file.
        (".gitattributes".to_owned(), b"*.alf binary\n*.alf-delta binary\n".to_vec()),
    ]);
    for vector in vectors {
        let path = vector.path();
        assert!(files.insert(path.clone(), vector.bytes).is_none(), "{path} is made twice");
    }
    files
}

/// Every existing file, by its path below [`folder`].
fn committed() -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![String::new()];
    while let Some(below) = folders.pop() {
        for entry in fs_err::read_dir(folder().join(&below)).into_iter().flatten() {
            let entry = entry.expect("a folder can be listed");
            let path = format!("{below}{}", entry.file_name().display());
            if entry.path().is_dir() {
                folders.push(path + "/");
            } else {
                files.insert(path, fs_err::read(entry.path()).expect("a file can be read"));
            }
        }
    }
    files
}

#[test]
fn the_files_are_what_is_made_here() {
    let made = &*MADE;
    let there = committed();
    let stray: Vec<_> = there.keys().filter(|path| !made.contains_key(*path)).collect();
    assert!(stray.is_empty(), "nobody makes {stray:?}");
    let stale: Vec<_> = made.keys().filter(|path| there.get(*path) != made.get(*path)).collect();
    assert!(stale.is_empty(), "run with ANEMONE_UPDATE=1 to write {stale:?}");
}

#[test]
fn every_vector_is_small_and_no_two_are_the_same() {
    let mut seen = BTreeMap::new();
    for vector in make::all() {
        let path = vector.path();
        assert!(vector.bytes.len() <= 64 << 10, "{path} has {} bytes", vector.bytes.len());
        assert!(vector.behaviour.ends_with('.') && !vector.behaviour.contains('|'), "{path}");
        if let Some(other) = seen.insert(vector.bytes, path.clone()) {
            panic!("{path} and {other} are the same");
        }
    }
}

#[test]
fn validate_says_of_every_vector_what_it_is() {
    LazyLock::force(&MADE);
    let home = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for vector in make::all() {
        let output = Command::new(assert_cmd::cargo::cargo_bin!("anemone"))
            .env_clear()
            .env("HOME", home.path())
            .current_dir(home.path())
            .args(["validate", "--json"])
            .arg(folder().join(vector.path()))
            .output()
            .unwrap();
        wrong.extend(complaint(&vector, &output).map(|text| format!("{}: {text}", vector.path())));
    }
    assert!(wrong.is_empty(), "{} vectors:\n{}", wrong.len(), wrong.join("\n"));
}

/// Compares the output with the expected output.
fn complaint(vector: &make::Vector, output: &std::process::Output) -> Option<String> {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stderr.contains("panicked") {
        return Some(format!("panic: {stderr}"));
    }
    let Ok(said) = serde_json::from_str::<serde_json::Value>(&stdout) else {
        return Some(format!("not one JSON document: {stdout:?} {stderr:?}"));
    };
    let class = said["class"].as_str().unwrap_or_default();
    if class != vector.class.word() {
        return Some(format!("said {class:?}: {}", stdout.trim()));
    }
    let code = i32::from(vector.class.is_refusal());
    if output.status.code() != Some(code) {
        return Some(format!("ended with {}, not {code}", output.status));
    }
    // A file that cannot even be opened is refused without a statement about its validity.
    if said["valid"].as_bool().unwrap_or(false) == vector.class.is_refusal() {
        return Some(format!("valid is {}", said["valid"]));
    }
    None
}
