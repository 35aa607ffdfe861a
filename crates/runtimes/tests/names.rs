//! No production code names a runtime outside the folder of that runtime.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use anemone_runtimes::RUNTIMES;

/// Where the list of runtimes is.
const REGISTRY: &str = "runtimes/src/lib.rs";

/// Crates that are only for tests and samples.
const NOT_SHIPPED: [&str; 2] = ["testkit", "sample"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Returns every spelling of the name of a runtime.
fn spellings() -> Vec<String> {
    let separators = ["", "-", "_", " "];
    let of = |name: &str| separators.map(|separator| name.replace('-', separator));
    RUNTIMES.iter().flat_map(|runtime| of(runtime.name)).collect()
}

/// Whether a file is in the folder of a runtime, or is one of its tests.
fn is_exempt(path: &str) -> bool {
    let of_runtime = |name: &str| {
        let rest = path.strip_prefix("runtimes/src/").and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    };
    let is_test = path.split('/').any(|part| part == "tests")
        || path.ends_with("/tests.rs")
        || path.ends_with("_tests.rs");
    let is_shipped = NOT_SHIPPED.iter().all(|name| !path.starts_with(&format!("{name}/")));
    let is_named = RUNTIMES.iter().any(|runtime| of_runtime(&runtime.name.replace('-', "_")));
    path == REGISTRY || is_test || !is_shipped || is_named
}

/// Returns the lines of production code that name a runtime: no comments, no module of tests.
fn named_lines(text: &str, spellings: &[String]) -> Vec<String> {
    let production = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code = production.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = code.map(|line| line.split(" // ").next().unwrap_or_default());
    let is_named = |line: &&str| {
        let line = line.to_lowercase();
        spellings.iter().any(|spelling| line.contains(spelling))
    };
    code.filter(is_named).map(str::to_owned).collect()
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn only_the_folder_of_a_runtime_names_it() {
    let crates = crates();
    let spellings = spellings();
    let mut files = Vec::new();
    for folder in fs_err::read_dir(&crates).unwrap() {
        files_below(&folder.unwrap().path().join("src"), &mut files);
    }
    let mut named = Vec::new();
    for file in &files {
        let path = file.strip_prefix(&crates).unwrap().to_str().unwrap();
        if is_exempt(path) {
            continue;
        }
        let lines = named_lines(&fs_err::read_to_string(file).unwrap(), &spellings);
        if !lines.is_empty() {
            named.push(format!("{path}: {}", lines.join(" | ")));
        }
    }
    assert!(named.is_empty(), "a runtime is named outside its folder:\n{}", named.join("\n"));
}
