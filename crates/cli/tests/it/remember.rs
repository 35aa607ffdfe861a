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
fn what_is_known_is_reported_and_not_written_again() {
    let environment = with_workspace();
    environment.json(args(&["The database is PostgreSQL 16 on the staging server."]));
    for (text, least) in [
        ("the database is postgresql 16, on the staging server #db", 1.0),
        ("The database on the staging server is PostgreSQL 16.", 0.95),
        ("The shop sells tea!", 1.0),
        ("FOG ALL DAY", 1.0),
    ] {
        let failure = environment.failure(3, args(&[text]));
        assert_eq!(failure["code"], "duplicate", "{failure}");
        assert_eq!(failure["written"], false);
        let similarity = failure["duplicates"][0]["similarity"].as_f64().expect("a number");
        assert!(similarity >= least, "{failure}");
    }
    let old = environment.failure(3, args(&["Fog all day."]));
    assert_eq!(old["duplicates"][0]["path"], "memory/2026-01-05.md");
    assert_eq!(old["duplicates"][0]["lines"], serde_json::json!([3, 3]));
    assert_eq!(environment.json(args(&["Fog all day.", "--force"]))["written"], true);
    assert_eq!(environment.json(args(&["Noodles for lunch."]))["written"], true);
}

#[test]
fn what_is_known_is_found_by_the_index_too() {
    let environment = with_workspace();
    // More than is read without an index.
    let mut all = String::new();
    for number in 0..6_000 {
        all.push_str(&format!("- Entry {number} tells how crate {} came by ship.\n", number * 7));
    }
    all.push_str("- \u{6211}\u{559c}\u{6b22}\u{4e4c}\u{9f99}\u{8336}\u{3002}\n");
    all.push_str("- The moorings at the east quay are checked by Anna every second Friday.\n");
    environment.write_below("agent/memory/ships.md", all);
    environment.json(["search", "ship", "-r", "openclaw", "-w", "agent"]);
    let same = environment.failure(3, args(&["\u{6211}\u{559c}\u{6b22}\u{4e4c}\u{9f99}\u{8336}"]));
    assert_eq!(same["duplicates"][0]["lines"][0], 6_001, "{same}");
    let text = "Every second Friday the moorings at the east quay are checked by Anna.";
    let near = environment.failure(3, args(&[text]));
    assert_eq!(near["duplicates"][0]["lines"][0], 6_002, "{near}");
}

#[test]
fn an_entry_can_take_the_place_of_another() {
    let environment = with_workspace();
    let first = environment.json(args(&["The port is 8080.", "--key", "port"]));
    let id = first["id"].as_str().expect("there is an id");
    let second = environment.json(args(&["The port is 8080!", "--supersedes", id]));
    assert_eq!(second["warnings"], serde_json::json!([]));
    let log = text(&environment, &second);
    assert!(log.contains(&format!("supersedes=\"{id}\" -->")), "{log}");
    let third = environment.json(args(&["Unheard of.", "--supersedes", "nobody"]));
    assert_eq!(third["warnings"][0]["code"], "supersedes_nothing");
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

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    let environment = TestEnvironment::new();
    environment.write_below("outside/keep.md", "- x\n");
    environment.write_below("agent/MEMORY.md", "# Memory\n");
    let link = environment.path("agent/memory");
    std::os::unix::fs::symlink(environment.path("outside"), link).expect("the folder is ours");
    let ran = environment.run(args(&["something", "--force"]));
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("is not a plain file in the workspace"), "{}", ran.stdout);
}

#[test]
fn a_fact_that_was_superseded_may_become_true_again() {
    let environment = with_workspace();
    let first = environment.json(args(&["The shop opens at nine."]));
    let id = first["id"].as_str().expect("it has an id");
    let second = environment.json(args(&["The shop opens at noon.", "--supersedes", id]));
    let entry = second["entry"].as_str().expect("it is shown");
    assert!(entry.starts_with("- The shop opens at noon. <!-- "), "an id is no key: {entry}");
    let id = second["id"].as_str().expect("it has an id");
    let third = environment.json(args(&["The shop opens at nine.", "--supersedes", id]));
    assert_eq!(third["written"], true, "{third}");
    // What holds now is a duplicate still.
    let fourth = environment.failure(3, args(&["The shop opens at nine."]));
    assert_eq!(fourth["code"], "duplicate");
}

#[test]
fn what_would_be_replaced_by_itself_is_already_there() {
    let environment = TestEnvironment::new();
    environment.write_below("ws/MEMORY.md", "# Memory\n");
    let remember = |more: &[&'static str]| [&["remember", "-w", "ws"], more].concat();
    environment.json(remember(&["SQLite it is", "--key", "db"]));
    for more in [
        &["SQLite it is", "--key", "db", "--supersedes", "db"][..],
        &["SQLite it is", "--supersedes", "db"],
    ] {
        let refusal = environment.failure(3, remember(more));
        assert_eq!(refusal["code"], "duplicate", "{refusal}");
        assert!(
            refusal["error"].as_str().is_some_and(|refusal| refusal.contains("already")),
            "{refusal}"
        );
    }
    // Another name, or another text, is something new.
    environment.json(remember(&["SQLite it is", "--key", "database", "--supersedes", "db"]));
    environment.json(remember(&[
        "Postgres it is",
        "--key",
        "database",
        "--supersedes",
        "database",
    ]));
}

#[test]
fn a_secret_that_only_its_key_gives_away_is_not_written() {
    let environment = with_workspace();
    for (key, value) in
        [("NAS password", "Gr4nite!Falcon22"), ("db_password", "lagoon!Breeze7"), ("PIN", "4711")]
    {
        let refusal = environment.failure(1, args(&[value, "--key", key]));
        assert_eq!(refusal["code"], "secret", "{refusal}");
    }
    let redacted = args(&["Gr4nite!Falcon22", "--key", "NAS password", "--redact"]);
    let report = environment.json(redacted);
    assert!(!text(&environment, &report).contains("Gr4nite"), "{report}");
}
