//! `anemone undo`

use crate::environment::TestEnvironment;

const MEMORY: &str = "# Memory\n\n- The shop sells tea.\n";

fn with_changes() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write_below("agent/MEMORY.md", MEMORY);
    let remember = ["remember", "-r", "openclaw", "-w", "agent", "--force"];
    environment.json(remember.iter().copied().chain(["one"]));
    environment.json(remember.iter().copied().chain(["two", "--curated"]));
    environment
}

fn args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ["undo", "-r", "openclaw", "-w", "agent"].iter().chain(more).copied().collect()
}

#[test]
fn each_undo_goes_one_change_further_back() {
    let environment = with_changes();
    let report = environment.json(args(&[]));
    assert_eq!(report["undone"]["what"], "remember");
    assert_eq!(report["edits"][0]["path"], "MEMORY.md");
    assert_eq!(environment.read("agent/MEMORY.md"), MEMORY.as_bytes());
    let report = environment.json(args(&[]));
    let log = report["edits"][0]["path"].as_str().expect("there is a path").to_owned();
    assert_eq!(report["edits"][0]["what"], "remove");
    assert!(!environment.exists(&format!("agent/{log}")));
    let listed = environment.json(args(&["--list"]));
    let states = listed["changes"].as_array().expect("they are listed").iter();
    let states: Vec<_> =
        states.map(|state| state["state"].as_str().expect("it has a state")).collect();
    assert_eq!(states, ["undo", "undo", "undone", "undone"]);
    assert_eq!(environment.failure(1, args(&[]))["code"], "nothing_to_undo");
}

#[test]
fn the_list_says_what_was_changed_and_when_in_plain_words() {
    let environment = with_changes();
    environment.json(["forget", "-r", "openclaw", "-w", "agent", "--id", "MEMORY.md#L3"]);
    environment.json(args(&[]));
    let text = environment.human(args(&["--list"]));
    let lines: Vec<&str> = text.lines().collect();
    let (time, rest) = lines[1].split_at(19);
    assert!(time.bytes().filter(u8::is_ascii_digit).count() == 14 && !text.contains('Z'), "{text}");
    assert_eq!(rest, "  forget    MEMORY.md  The shop sells tea.  (undone)");
    assert!(lines[2].ends_with("  remember  MEMORY.md  two"), "{text}");
    assert!(lines[3].ends_with(".md  one") && lines[0].contains("  undo "), "{text}");
    let listed = environment.json(args(&["--list"]));
    assert_eq!(listed["changes"][1]["text"], "The shop sells tea.", "{listed}");
}

#[test]
fn a_dry_run_and_a_list_change_nothing() {
    let environment = with_changes();
    let before = environment.everything();
    let report = environment.json(args(&["--dry-run"]));
    assert_eq!(report["edits"][0]["what"], "write");
    assert_eq!(report["edits"][0]["bytes"], MEMORY.len());
    environment.json(args(&["--list"]));
    let text = environment.human(args(&["-n"]));
    assert!(text.starts_with("~ MEMORY.md\n`remember` of "), "{text}");
    assert!(before == environment.everything());
}

#[test]
fn what_somebody_changed_since_is_a_conflict_and_can_be_passed_over() {
    let environment = with_changes();
    // The added text has been edited since.
    let text = String::from_utf8(environment.read("agent/MEMORY.md")).unwrap();
    let mine = text.replace("- two ", "- two and a half ").into_bytes();
    environment.write("agent/MEMORY.md", &mine);
    let failure = environment.failure(3, args(&[]));
    assert_eq!(failure["code"], "changed");
    assert!(
        failure["hint"].as_str().is_some_and(|failure| failure.contains("--skip")),
        "{failure}"
    );
    environment.json(args(&["--skip"]));
    environment.json(args(&[]));
    assert_eq!(environment.read("agent/MEMORY.md"), mine);
}

#[test]
fn the_journal_is_emptied_only_when_somebody_says_so() {
    let environment = with_changes();
    let refusal = environment.failure(1, args(&["--clear"]));
    assert_eq!(refusal["code"], "not_confirmed", "{refusal}");
    assert_eq!(environment.json(args(&["--clear", "--dry-run"]))["dropped"], 2);
    assert_eq!(environment.json(args(&["--list"]))["changes"].as_array().map(Vec::len), Some(2));
    let text = environment.human(args(&["--clear", "--yes"]));
    assert_eq!(text, "2 changes can no longer be undone\n");
    assert_eq!(environment.failure(1, args(&[]))["code"], "nothing_to_undo");
}
