//! The console blocks of README and docs are run, in order, and print what they say.

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
    // Nothing is left with whoever runs the tests, and nothing of theirs counts.
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
    cases.case(format!("{root}/README.md")).case(format!("{root}/docs/*.md"));
    cases.run();
}
