//! What is printed, where, and how the program exits, for all commands alike.

use std::process::Stdio;

use crate::environment::{TestEnvironment, program};

/// One successful run of every command that has a result.
const EVERY_COMMAND: &[&[&str]] = &[
    &["validate", "march.alf"],
    &["validate", "march-to-april.alf-delta"],
    &["inspect", "march.alf", "--records"],
    &["inspect", "march-to-april.alf-delta"],
    &["diff", "march.alf", "april.alf"],
    &["search", "green tea", "march.alf"],
    &["get", "MEMORY.md:1:3", "march.alf"],
    &["index", "march.alf"],
    &["index", "--list"],
    &["index", "--prune", "--dry-run"],
    &["index", "--chunks", "march.alf"],
    &["delta", "march.alf", "april.alf", "-o", "new.alf-delta"],
    &["delta", "march.alf", "april.alf", "--dry-run"],
    &["apply", "march.alf", "march-to-april.alf-delta", "-o", "new.alf"],
    &["apply", "march.alf", "march-to-april.alf-delta", "--dry-run"],
    &["purge", "march.alf", "--record", GEHEIM, "-o", "purged.alf"],
    &["purge", "march.alf", "--record", GEHEIM, "--dry-run"],
    &["vault", "keygen", "-o", "key"],
    &["vault", "keygen", "--age", "-o", "identity"],
    &["encrypt", "march.alf", "-r", RECIPIENT, "-o", "march.alf.age"],
    &[],
    &["status"],
    &["demo"],
    &["demo", "--keep", "kept"],
];
const GEHEIM: &str = "88c555e0-5d0c-51de-a067-64f2767ce8c1";
const RECIPIENT: &str = "age1t5flwqehe7cufz82268ljlg5aanskrjjj08sc0xt8ugmyf5psv9samk95e";

#[test]
fn every_command_prints_one_json_document_when_stdout_is_not_a_terminal() {
    let environment = TestEnvironment::with_demo();
    for args in EVERY_COMMAND {
        environment.json(*args);
    }
}

#[test]
fn every_command_prints_text_when_asked_for_it() {
    let environment = TestEnvironment::with_demo();
    for args in EVERY_COMMAND {
        let text = environment.human(*args);
        assert!(!text.is_empty() && !text.starts_with('{'), "{args:?}: {text}");
        assert!(text.ends_with('\n'), "{args:?}: {text:?}");
    }
}

#[test]
fn every_error_is_one_json_document_with_a_code() {
    let environment = TestEnvironment::with_demo();
    environment.write("text.md", "# not an archive\n");
    environment.write("taken", "");
    let march = "march.alf";
    let delta = "march-to-april.alf-delta";
    let cases: &[(i32, &str, &[&str])] = &[
        (1, "not_found", &["validate", "missing.alf"]),
        (1, "is_a_folder", &["validate", "."]),
        (1, "not_found", &["inspect", "missing.alf"]),
        (1, "not_an_archive", &["inspect", "text.md"]),
        (1, "wrong_kind", &["diff", march, delta]),
        (1, "not_found", &["diff", march, "missing.alf"]),
        (1, "exists", &["delta", march, "april.alf", "-o", "taken"]),
        (1, "not_found", &["delta", march, "april.alf", "-o", "missing/new.alf-delta"]),
        (1, "wrong_kind", &["apply", march, march, "-o", "new.alf"]),
        (3, "wrong_base", &["apply", "april.alf", delta, "-o", "new.alf"]),
        (1, "record_not_found", &["purge", "april.alf", "--record", GEHEIM, "-o", "new.alf"]),
        (1, "not_an_archive", &["encrypt", "text.md", "-r", RECIPIENT, "-o", "new.age"]),
        (1, "key_needed", &["encrypt", march, "-o", "new.age"]),
        (2, "recipient", &["encrypt", march, "-r", "nobody", "-o", "new.age"]),
        (1, "not_sealed", &["decrypt", march, "-o", "new.alf"]),
        (1, "exists", &["vault", "keygen", "-o", "taken"]),
        (1, "not_empty", &["demo", "--keep", "."]),
        (2, "usage", &["validate"]),
        (2, "usage", &["validate", march, "--bogus"]),
        (2, "usage", &["bogus"]),
        (2, "usage", &["purge", march, "--record", "bogus", "-o", "new.alf"]),
        (2, "usage", &["apply", march, delta]),
        (2, "usage", &["search", "tea", march, "--since", "soon"]),
        (2, "usage", &["search", "tea", march, "--limit", "0"]),
        (1, "not_found", &["search", "tea", "missing.alf"]),
        (1, "document_not_found", &["get", "nothing.md", march]),
        (1, "not_found", &["eval", march, "--queries", "missing.jsonl"]),
        (2, "usage", &["completions", "tcl"]),
    ];
    for (exit, code, args) in cases {
        let failure = environment.failure(*exit, *args);
        assert_eq!(failure["code"], *code, "{args:?}: {failure}");
    }
}

#[test]
fn an_error_for_people_is_on_stderr_with_its_cause_and_a_hint() {
    let environment = TestEnvironment::with_demo();
    environment.write("text.md", "# not an archive\n");
    insta::assert_snapshot!(environment.human_failure(1, ["inspect", "text.md"]), @"
    error: text.md: not an .alf archive, or the file is truncated
    hint: give a file that `anemone export` wrote
    ");
}

#[test]
fn flags_and_alf_human_choose_between_text_and_json() {
    let environment = TestEnvironment::with_demo();
    let is_json = |variables: &[(&str, &str)], flags: &[&str]| {
        let args = ["validate", "march.alf"].iter().chain(flags);
        let ran = environment.run_with(variables, args);
        assert_eq!(ran.code, 0);
        ran.stdout.starts_with('{')
    };
    assert!(is_json(&[], &[]));
    assert!(is_json(&[], &["--json"]));
    assert!(!is_json(&[], &["--human"]));
    for (value, json) in [
        ("", true),
        ("0", true),
        ("false", true),
        ("FALSE", true),
        ("no", true),
        ("off", true),
        ("1", false),
        ("true", false),
        ("TRUE", false),
        ("yes", false),
    ] {
        let variable = [("ALF_HUMAN", value)];
        assert_eq!(is_json(&variable, &[]), json, "ALF_HUMAN={value}");
        assert!(is_json(&variable, &["--json"]), "--json wins over ALF_HUMAN={value}");
        assert!(!is_json(&variable, &["--human"]), "--human wins over ALF_HUMAN={value}");
    }
}

#[test]
fn flags_for_output_stand_before_or_after_the_command() {
    let environment = TestEnvironment::with_demo();
    let before = environment.run(["--human", "validate", "march.alf"]);
    let after = environment.run(["validate", "march.alf", "--human"]);
    assert_eq!(before.stdout, after.stdout);
    assert!(before.stdout.contains("valid"));
}

#[test]
fn json_and_human_together_are_wrong_usage() {
    let environment = TestEnvironment::with_demo();
    let failure = environment.failure(2, ["--json", "--human", "validate", "march.alf"]);
    assert_eq!(failure["code"], "usage");
    let error = failure["error"].as_str().unwrap();
    assert!(error.contains("--json") && error.contains("--human"), "{error}");
}

#[test]
fn wrong_usage_with_alf_human_is_explained_on_stderr_only() {
    let environment = TestEnvironment::new();
    insta::assert_snapshot!(environment.human_failure(2, ["diff", "march.alf"]), @"
    error: the following required arguments were not provided:
      <TARGET>

    Usage: anemone diff <BASE> <TARGET>

    For more information, try '--help'.
    ");
}

#[test]
fn wrong_usage_with_the_flag_human_is_explained_on_stderr_only() {
    let ran = TestEnvironment::new().run(["diff", "march.alf", "--human"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
}

#[test]
fn wrong_usage_in_json_says_which_argument_is_missing() {
    let failure = TestEnvironment::new().failure(2, ["diff", "march.alf"]);
    assert!(failure["error"].as_str().unwrap().contains("<TARGET>"), "{failure}");
}

#[test]
fn without_a_command_the_commands_are_listed_on_stderr() {
    let environment = TestEnvironment::new();
    for (args, word) in [(&["model"][..], "list"), (&["vault"], "keygen")] {
        let ran = environment.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}");
        assert!(ran.stderr.contains("Usage: anemone"), "{}", ran.stderr);
        assert!(ran.stderr.contains(word), "{}", ran.stderr);
    }
    let failure = environment.failure(2, ["--json", "no-such-command"]);
    assert_eq!(failure["code"], "usage");
}

#[test]
fn colour_is_for_terminals_and_for_those_who_force_it() {
    let environment = TestEnvironment::with_demo();
    let colourful = |variables: &[(&str, &str)], args: &[&str]| {
        let ran = environment.run_with(variables, args);
        (ran.stdout + &ran.stderr).contains('\u{1b}')
    };
    let (forced, refused) = (("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1"));
    for args in [&["--human", "demo"][..], &["--human", "inspect", "missing.alf"]] {
        assert!(!colourful(&[], args), "{args:?}");
        assert!(colourful(&[forced], args), "{args:?}");
        assert!(!colourful(&[forced, refused], args), "{args:?}");
    }
    assert!(!colourful(&[forced], &["--json", "demo"]), "JSON has no colour");
    assert!(!colourful(&[forced], &["--json", "inspect", "missing.alf"]), "JSON has no colour");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let environment = TestEnvironment::with_demo();
    for args in [
        &["demo"][..],
        &["--human", "demo"],
        &["--human", "inspect", "march.alf", "--records"],
        &["--help"],
        &["completions", "zsh"],
        &["man"],
    ] {
        let mut child = std::process::Command::new(program())
            .current_dir(environment.path(""))
            .env_clear()
            .envs(environment.variables())
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[test]
fn a_failure_stays_a_failure_when_nobody_reads_it() {
    let environment = TestEnvironment::new();
    for (code, args) in [(1, ["inspect", "missing.alf"]), (2, ["inspect", "--bogus"])] {
        let mut child = std::process::Command::new(program())
            .current_dir(environment.path(""))
            .env_clear()
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().unwrap().code(), Some(code), "{args:?}");
    }
}

#[test]
fn text_from_an_archive_cannot_steer_the_terminal() {
    let mut snapshot = crate::environment::sample::agent();
    snapshot.manifest.agent.name = "Clawdia\u{7}\u{202e}".to_owned();
    snapshot.records[0].content = "\u{1b}]0;title\u{7} of a \u{202e}record".to_owned();
    let environment = TestEnvironment::with_demo();
    environment.write_archive("odd.alf", &snapshot);
    for args in [
        &["inspect", "odd.alf", "--records"][..],
        &["diff", "march.alf", "odd.alf"],
        &["validate", "odd.alf"],
    ] {
        // Colour is forced, so that nothing between here and there takes sequences out.
        let variables = [("CLICOLOR_FORCE", "1"), ("ALF_HUMAN", "1")];
        let ran = environment.run_with(&variables, args);
        assert_eq!(ran.code, 0);
        for bad in ["\u{7}", "\u{202e}", "\u{1b}]"] {
            assert!(!ran.stdout.contains(bad), "{args:?}: {:?}", ran.stdout);
        }
    }
}

#[test]
#[cfg(unix)]
fn an_interrupt_is_answered_with_a_document() {
    use std::process::{Command, Stdio};
    for (format, wanted) in [("--json", true), ("--human", false)] {
        let environment = TestEnvironment::new();
        environment.write_below("agent/MEMORY.md", "# Memory\n");
        let pipe = environment.path("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("it starts").success());
        let mut command = Command::new(super::environment::program());
        command.env_clear().envs(environment.variables()).current_dir(environment.path(""));
        command.args(["remember", "--file", "pipe", "-w", "agent", format]);
        let child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
        // This returns when the program reads from the pipe, and so waits for us.
        let held = fs_err::File::options().write(true).open(&pipe).expect("it is a pipe");
        let interrupt = format!("kill -INT {}", child.id());
        assert!(Command::new("/bin/sh").args(["-c", &interrupt]).status().expect("sh").success());
        let output = child.wait_with_output().expect("it ends");
        drop(held);
        assert_eq!(output.status.code(), Some(130));
        let document: Option<serde_json::Value> = serde_json::from_slice(&output.stdout).ok();
        let code = document.as_ref().and_then(|document| document["code"].as_str());
        assert_eq!(code, wanted.then_some("interrupted"), "{format}");
    }
}

#[test]
fn words_of_other_programs_lead_to_the_right_command() {
    let environment = TestEnvironment::new();
    for (word, command) in [
        ("backup", "anemone export"),
        ("restore", "anemone import"),
        ("rm", "anemone forget"),
        ("delete", "anemone forget"),
        ("update", "anemone remember"),
        ("find", "anemone search"),
    ] {
        let failure = environment.failure(2, [word]);
        let error = failure["error"].as_str().unwrap();
        assert!(error.contains(&format!("tip: `{command}")), "{word}: {error}");
        assert!(!error.contains("similar"), "{word}: {error}");
    }
}
