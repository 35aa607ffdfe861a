//! `anemone context`

use std::path::Path;

use serde_json::Value;

use crate::environment::TestEnvironment;

/// A workspace of OpenClaw with a log of today, whatever day it is.
fn workspace() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write_below("ws/AGENTS.md", "# Rules\n\nBe kind.\n");
    environment.write_below("ws/SOUL.md", "# Soul\n\nCalm.\n");
    environment.write_below("ws/MEMORY.md", "- The harbour pilot is called Ingrid Solberg.\n");
    environment
        .write_below("ws/memory/2026-01-02.md", "- The harbour festival was moved to May.\n");
    environment
}

fn part<'a>(report: &'a Value, path: &str) -> &'a Value {
    let parts = report["parts"].as_array().expect("there are parts");
    parts.iter().find(|part| part["path"] == path).unwrap_or_else(|| panic!("{path} in {report}"))
}

fn context(environment: &TestEnvironment, more: &[&str]) -> Value {
    let state = environment.path("state");
    let args = ["context", "-r", "openclaw", "-w", "ws", "--index-dir", "index"];
    environment.json_with(
        &[("XDG_STATE_HOME", state.to_str().expect("it is UTF-8"))],
        args.iter().chain(more).copied().collect::<Vec<_>>(),
    )
}

#[test]
fn the_text_is_what_the_runtime_would_show_with_the_memory_quoted() {
    let environment = workspace();
    let report = context(&environment, &["--generation", "2026.3"]);
    let root = fs_err::canonicalize(environment.path("ws")).unwrap();
    let text = report["text"].as_str().unwrap();
    let begins =
        format!("# Project Context\n## {}/AGENTS.md\n# Rules\n\nBe kind.\n", root.display());
    assert!(text.starts_with(&begins), "{text}");
    let (_, quoted) = text.split_once("<recalled-memory ").expect("a frame");
    assert!(quoted.contains("path=MEMORY.md\n| - The harbour pilot"), "{text}");
    assert_eq!(part(&report, "TOOLS.md")["reason"], "missing");
    assert_eq!(report["chars"], text.encode_utf16().count());
}

#[test]
fn a_kind_of_session_and_a_question_are_flags() {
    let environment = workspace();
    let asked = ["--session", "group", "--query", "harbour pilot festival"];
    let report = context(&environment, &asked);
    let text = report["text"].as_str().unwrap();
    assert!(!text.contains("Ingrid") && text.contains("moved to May"), "{text}");
    assert_eq!(part(&report, "MEMORY.md")["reason"], "private");
}

#[test]
fn a_budget_is_kept_and_explained() {
    let environment = workspace();
    let whole = context(&environment, &["--generation", "seed"]);
    let few = context(&environment, &["--generation", "seed", "--tokens", "60"]);
    assert!(few["estimated_tokens"].as_u64().unwrap() <= 60, "{few}");
    assert!(few["chars"].as_u64().unwrap() < whole["chars"].as_u64().unwrap());
    assert_eq!(part(&few, "MEMORY.md")["reason"], "over_budget");
    let args = ["context", "-r", "openclaw", "-w", "ws", "--tokens", "60", "--explain"];
    let text = environment.human(args);
    assert!(text.contains("over the budget that was asked for"), "{text}");
    assert!(!text.contains("Be kind"), "{text}");
}

#[test]
fn people_get_the_text_itself() {
    let environment = workspace();
    let text = environment.human(["context", "-r", "openclaw", "-w", "ws", "--session", "cron"]);
    assert!(text.starts_with("# Project Context\n\n## "), "{text}");
    assert!(!environment.exists("home/.local"), "looking leaves nothing behind");
    assert!(!Path::new("state").exists());
}
