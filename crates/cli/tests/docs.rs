//! The console blocks of README and docs are run, in order, and print what they say.

#[test]
fn console_blocks_print_what_they_say() {
    // The blocks make files. This is the only test of its process, so it may move.
    let folder = tempfile::tempdir().unwrap();
    std::env::set_current_dir(folder.path()).unwrap();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let cases = trycmd::TestCases::new();
    // Nothing is left with whoever runs the tests, and nothing of theirs counts.
    for (variable, name) in [
        ("XDG_CACHE_HOME", "cache"),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_STATE_HOME", "state"),
    ] {
        cases.env(variable, folder.path().join(name).to_string_lossy());
    }
    cases.case(format!("{root}/README.md")).case(format!("{root}/docs/*.md"));
    cases.run();
}
