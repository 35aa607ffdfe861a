//! Runs the console blocks of README and docs in order, and checks their output.

use std::path::Path;

use regex::Regex;

/// The parts of README's output that differ from run to run, and the wildcards for them.
const VOLATILE: [(&str, &str); 8] = [
    // The day on which README was written, which is today's date when the test runs.
    (r"2026-11-18( \d\d:\d\d:\d\d)?", "[..]"),
    (r"\b[\d.]+ [KM]iB\b", "[..]"),
    // Indexes grow with the program, and so does the number of their files.
    (r"\d+ files, \[\.\.\] read", "[..] files, [..] read"),
    (r"  0\.\d{3}$", "  [..]"),
    (r" as [0-9a-z]{8}$", " as [..]"),
    (r"/home/you/", "[..]"),
    (r"byte \d+ is changed", "byte [..] is changed"),
    // The error depends on which byte was changed.
    (r"(raw/openclaw/MEMORY\.md): .*", "$1: [..]"),
];

#[test]
fn console_blocks_print_what_they_say() {
    // The blocks make files. This is the only test of its process, so it may move.
    let folder = tempfile::tempdir().unwrap();
    std::env::set_current_dir(folder.path()).unwrap();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let cases = trycmd::TestCases::new();
    // The program answers by its name, so it is there under both.
    #[cfg(unix)]
    {
        let names = folder.path().join("names");
        fs_err::create_dir(&names).unwrap();
        let program = assert_cmd::cargo::cargo_bin!("anemone");
        fs_err::os::unix::fs::symlink(program, names.join("alf")).unwrap();
        cases.register_bin("alf", names.join("alf"));
    }
    // The tests leave no files with the user who runs them, and ignore the user's own settings.
    for (variable, name) in [
        ("XDG_CACHE_HOME", "cache"),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_STATE_HOME", "state"),
        ("CLAUDE_CONFIG_DIR", "claude"),
        ("CODEX_HOME", "codex"),
        ("HOME", "home"),
    ] {
        cases.env(variable, folder.path().join(name).to_string_lossy());
    }
    fs_err::create_dir(folder.path().join("home")).unwrap();
    cases.env("ALF_HUMAN", "");
    let readme = folder.path().join("normalised").join("README.md");
    write_normalised(Path::new(root).join("README.md").as_path(), &readme);
    cases.case(readme).case(format!("{root}/docs/*.md"));
    cases.run();
}

/// Copies a page with wildcards for the parts that differ from run to run. README shows real
/// output, because a wildcard tells a reader nothing.
fn write_normalised(page: &Path, copy: &Path) {
    let volatile = VOLATILE
        .map(|(pattern, wildcard)| (Regex::new(pattern).expect("it is a pattern"), wildcard));
    let mut is_in_console = false;
    let mut normalised = String::new();
    for line in fs_err::read_to_string(page).expect("README can be read").lines() {
        if line.starts_with("```") {
            is_in_console = line == "```console";
        }
        let mut line = line.to_owned();
        if is_in_console && !line.starts_with("$ ") {
            for (pattern, wildcard) in &volatile {
                line = pattern.replace_all(&line, *wildcard).into_owned();
            }
        }
        normalised.push_str(&line);
        normalised.push('\n');
    }
    let folder = copy.parent().expect("it is in a folder");
    fs_err::create_dir_all(folder).expect("the folder can be made");
    fs_err::write(copy, normalised).expect("the copy can be written");
}
