//! `anemone remember`

use anemone_format::{Origin, StampTable};
use serde_json::Value;

use crate::environment::TestEnvironment;

fn with_workspace() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write_below("agent/MEMORY.md", "# Memory\n\n- The shop sells tea.\n");
    environment.write_below("agent/memory/2026-01-05.md", "# 2026-01-05\n\n- Fog all day.\n");
    environment
}

fn args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["remember", "-r", "openclaw", "-w", "agent"];
    args.extend(more);
    args
}

fn text(environment: &TestEnvironment, report: &Value) -> String {
    let path = format!("agent/{}", report["path"].as_str().expect("there is a path"));
    String::from_utf8(environment.read(&path)).expect("it is text")
}

#[test]
fn an_entry_goes_to_the_log_of_today_with_a_stamp() {
    let environment = with_workspace();
    let report = environment.json(args(&[
        "The gateway stays on loopback.",
        "--type",
        "decision",
        "--importance",
        "0.9",
        "--key",
        "gateway",
        "--tag",
        "net",
        "--tag",
        "#safe",
        "--source",
        "web:https://example.org/a",
        "--session",
        "main",
    ]));
    assert_eq!(report["written"], true);
    let log = text(&environment, &report);
    let id = report["id"].as_str().expect("there is an id");
    assert!(log.starts_with("# 20"), "{log}");
    let entry = "- [decision|i=0.9] **gateway**: The gateway stays on loopback. #net #safe ";
    assert_eq!(id.len(), 8, "{id}");
    assert!(log.ends_with(&format!("\n\n{entry}<!-- anemone: {id} -->\n")), "{log}");
    let table = environment.read(&format!("agent/{}", StampTable::PATH));
    let stamp = StampTable::new(table).get(id.parse().expect("it is an id")).expect("it is known");
    assert_eq!(stamp.origin, Some(Origin::Web));
    assert_eq!(stamp.session.as_deref(), Some("main"));
    assert_eq!(stamp.source.as_deref(), Some("https://example.org/a"));
    assert!(log.ends_with(report["entry"].as_str().expect("there is an entry")));

    let found = environment.json(["search", "gateway loopback", "-r", "openclaw", "-w", "agent"]);
    assert_eq!(found["hits"][0]["path"], report["path"], "{found}");
}

#[test]
fn stdin_and_files_are_texts_and_lines_stay_lines() {
    let environment = with_workspace();
    environment.write("note.txt", "one\ntwo <!-- not a stamp -->\n");
    let report = environment.json(args(&["--file", "note.txt", "--curated"]));
    assert_eq!(report["path"], "MEMORY.md");
    let memory = text(&environment, &report);
    let head =
        "# Memory\n\n- The shop sells tea.\n- one\n  two \\<!-- not a stamp -->\n  <!-- anemone: ";
    assert!(memory.starts_with(head), "{memory}");

    let output = environment.command().args(args(&["-"])).write_stdin("from a pipe").output();
    let output = output.expect("the program runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert!(text(&environment, &report).contains("- from a pipe <!-- "), "{report}");
}

#[test]
fn a_secret_is_named_but_not_shown_and_not_written() {
    let environment = with_workspace();
    let secret = ["ghp", "_0123456789abcdefghijklmnopqrstuvwxyzAB"].concat();
    let with_secret = format!("a line\nthe token is {secret}");
    let failure = environment.failure(1, args(&[&with_secret]));
    assert_eq!(failure["code"], "secret");
    assert_eq!(failure["secrets"][0]["line"], 2, "{failure}");
    assert!(!failure.to_string().contains(&secret), "{failure}");
    let failure = environment.failure(1, args(&["text", "--key", &secret]));
    assert_eq!(failure["secrets"][0]["part"], "key");

    let report = environment.json(args(&[&with_secret, "--redact"]));
    let log = text(&environment, &report);
    assert!(log.contains("the token is [redacted:") && !log.contains(&secret), "{log}");
    assert_eq!(report["redacted"][0]["line"], 2);
}

#[test]
fn a_duplicate_and_what_is_superseded_are_told() {
    let environment = with_workspace();
    let first = environment.json(args(&["SQLite it is", "--key", "db"]));
    assert_eq!(first["warnings"], serde_json::json!([]));
    let failure = environment.failure(3, args(&["FOG ALL DAY"]));
    assert_eq!((&failure["code"], &failure["written"]), (&"duplicate".into(), &false.into()));
    let same = &failure["duplicates"][0];
    assert_eq!((&same["path"], &same["lines"]), (&"memory/2026-01-05.md".into(), &[3, 3].into()));
    assert!(same["similarity"].as_f64().is_some_and(|number| number >= 1.0), "{failure}");
    let refusal = environment.failure(3, args(&["SQLite it is", "--supersedes", "db"]));
    assert!(refusal["error"].as_str().is_some_and(|error| error.contains("already")), "{refusal}");
    let other = environment.json(args(&["Fog all day.", "--force", "--supersedes", "nobody"]));
    assert_eq!(other["warnings"][0]["code"], "supersedes_nothing");
}

#[test]
fn a_dry_run_says_what_would_be_written() {
    let environment = with_workspace();
    let before = environment.everything();
    let report = environment.json(args(&["Fog all day.", "--dry-run"]));
    assert_eq!(report["written"], false);
    assert_eq!(report["duplicates"].as_array().map(Vec::len), Some(1));
    assert!(
        report["entry"].as_str().is_some_and(|report| report.starts_with("- Fog all day. <!-- "))
    );
    assert!(before == environment.everything());
    let text = environment.human(args(&["Something new", "-n"]));
    assert!(text.starts_with("+ - Something new <!-- anemone: "), "{text}");
}

#[test]
fn what_makes_no_sense_is_said() {
    let environment = with_workspace();
    for bad in [
        &["text", "--importance", "2"][..],
        &["text", "--importance", "NaN"],
        &["text", "--source", "king"],
        &["text", "--tag", "two words"],
        &["text", "--type", "a b"],
        &[" \n "],
        &[],
    ] {
        environment.failure(2, args(bad));
    }
    environment.write("long.txt", vec![b'a'; 70_000]);
    assert_eq!(environment.failure(2, args(&["--file", "long.txt"]))["code"], "too_long");
    environment.write("bytes.txt", [0xff, 0xfe]);
    assert_eq!(environment.failure(1, args(&["--file", "bytes.txt"]))["code"], "not_text");
}
