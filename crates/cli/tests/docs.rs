//! The console blocks of README and docs are run, in order, and print what they say.

#[test]
fn console_blocks_print_what_they_say() {
    // The blocks make files. This is the only test of its process, so it may move.
    let folder = tempfile::tempdir().unwrap();
    std::env::set_current_dir(folder.path()).unwrap();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let cases = trycmd::TestCases::new();
    // Nothing is left in the cache of whoever runs the tests.
    cases.env("XDG_CACHE_HOME", folder.path().join("cache").to_string_lossy());
    cases.case(format!("{root}/README.md")).case(format!("{root}/docs/*.md"));
    cases.run();
}
