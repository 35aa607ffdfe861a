//! No production code and no help text names a runtime, or a file that only it has, outside the
//! folder of that runtime.

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

/// Files with names of their own, in lower case. `MEMORY.md` and `memory/` are not among them: every
/// Markdown memory has them.
const FILES: [&str; 7] = [
    "soul.md",
    "identity.md",
    "tools.md",
    "heartbeat.md",
    "bootstrap.md",
    "brain.db",
    "heartbeat_ok",
];

/// Where such names may occur, each with the reason.
const EXEMPT: [(&str, &str); 5] = [
    ("cli/src/alf", "its help is that of another tool, which names runtimes"),
    ("cli/src/commands/check.rs", "the summary shows the fields that JSON has for these files"),
    (
        "runtimes/src/kit/persona",
        "the files of a persona are shared by runtimes; this is their place",
    ),
    ("runtimes/src/kit/check.rs", "fields of the report are called as these files"),
    ("memory/src/flush.rs", "the text of a prompt, not yet handed in by a runtime"),
];

/// Returns every spelling of the name of a runtime, and the names of its files.
fn spellings() -> Vec<String> {
    let separators = ["", "-", "_", " "];
    let of = |name: &str| separators.map(|separator| name.replace('-', separator));
    let names = RUNTIMES.iter().flat_map(|runtime| of(runtime.name));
    names.chain(FILES.map(str::to_owned)).collect()
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
    let is_exempt = EXEMPT.iter().any(|(start, _)| path.starts_with(start));
    path == REGISTRY || is_test || !is_shipped || is_named || is_exempt
}

/// Returns the lines without the items that are only for tests.
fn production(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text.lines();
    while let Some(line) = rest.next() {
        if line != "#[cfg(test)]" {
            lines.push(line);
            continue;
        }
        // An item ends in its first line, or with the next brace in the first column.
        let item = rest.by_ref().find(|line| !line.starts_with('#')).unwrap_or_default();
        if !item.ends_with(';') && !item.ends_with('}') {
            rest.by_ref().find(|line| line.starts_with('}'));
        }
    }
    lines
}

/// Returns the lines of production code that name a runtime: no comments, no module of tests. The
/// comments of the command line are its help texts.
fn named_lines(path: &str, text: &str, spellings: &[String]) -> Vec<String> {
    let is_help = |line: &str| path.starts_with("cli/") && line.starts_with("///");
    let is_code = |line: &&str| {
        let line = line.trim_start();
        !line.starts_with("//") || is_help(line)
    };
    let code = production(text).into_iter().filter(is_code);
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
        let lines = named_lines(path, &fs_err::read_to_string(file).unwrap(), &spellings);
        if !lines.is_empty() {
            named.push(format!("{path}: {}", lines.join(" | ")));
        }
    }
    assert!(named.is_empty(), "a runtime is named outside its folder:\n{}", named.join("\n"));
}

#[test]
fn only_items_for_tests_and_comments_are_passed_over() {
    let text = "#[cfg(test)]\nmod tests;\n/// Zeroclaw\nlet a = \"Zero-Claw\"; // zeroclaw\n\
                #[cfg(test)]\n#[path = \"x\"]\nmod more {\n    // zeroclaw\n    fn zeroclaw() {}\n}\n\
                let b = \"soul.md\";\n";
    let lines = |path: &str| {
        named_lines(path, text, &["zero-claw", "zeroclaw", "soul.md"].map(str::to_owned))
    };
    assert_eq!(lines("memory/src/a.rs"), ["let a = \"Zero-Claw\";", "let b = \"soul.md\";"]);
    assert_eq!(lines("cli/src/a.rs").len(), 3);
}
