//! How often a command opens what it reads: the configuration of an install once, and every folder
//! of a workspace once.

use std::path::Path;

use anemone_testkit::faults::Outcome;

use super::case::Case;

const CONFIG: &str = "home/.openclaw/openclaw.json";
const WORKSPACE: &str = "home/.openclaw/workspace";
/// The folders of the workspace; a rule keeps the last two out of an archive.
const FOLDERS: [&str; 4] = ["", "/memory", "/logs", "/logs/old"];

/// An agent in an install of OpenClaw.
fn openclaw() -> Case {
    let case = Case::new();
    case.write(CONFIG, "{ agents: { list: [{ id: 'main', name: 'Nia' }] } }");
    for (name, text) in super::OPENCLAW {
        case.write(&name.replace("work/ws", WORKSPACE), text);
    }
    case.write(&format!("{WORKSPACE}/.alfignore"), "logs/\n");
    case.write(&format!("{WORKSPACE}/logs/old/a.log"), "x");
    case.write(&format!("{WORKSPACE}/.git/objects/aa"), "x");
    case
}

fn run(case: &Case, words: &[&str]) -> Outcome {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let outcome = case.run(&words, None);
    assert_eq!(outcome.code, Some(0), "{words:?}: {}{}", outcome.stdout, outcome.stderr);
    outcome
}

/// Counts how often a file was opened.
fn opens(outcome: &Outcome, path: &Path) -> usize {
    let is_open = |call: &&String| {
        call.split_once(' ')
            .is_some_and(|(name, of)| name.starts_with("open") && Path::new(of) == path)
    };
    outcome.reads.iter().filter(is_open).count()
}

/// Counts how often a folder was listed: a listing ends with a call that returns nothing more.
fn listings(outcome: &Outcome, path: &Path) -> usize {
    let call = format!("getdents64 {}", path.display());
    let calls = outcome.reads.iter().filter(|read| **read == call).count();
    calls.div_ceil(2)
}

#[test]
fn an_export_reads_the_configuration_once_and_walks_the_workspace_once() {
    let case = openclaw();
    run(&case, &["export", "-o", "old.alf"]);
    case.write(&format!("{WORKSPACE}/MEMORY.md"), "# MEMORY.md\n\n- One more mast.\n");
    for words in [
        &["export", "-o", "out.alf"][..],
        &["export", "-o", "out.alf", "--force"],
        &["export", "-o", "same.alf", "--since", "out.alf"],
        &["export", "--dry-run"],
        &["export", "-o", "changed.alf", "--since", "old.alf"],
    ] {
        let outcome = run(&case, words);
        assert_eq!(opens(&outcome, &case.path(CONFIG)), 1, "{words:?}");
        for folder in FOLDERS {
            let path = case.path(&format!("{WORKSPACE}{folder}"));
            assert_eq!(listings(&outcome, &path), 1, "{words:?}: {folder:?}");
        }
    }
}

#[test]
fn a_command_reads_the_configuration_once() {
    let case = openclaw();
    for words in [
        &["search", "tea"][..],
        &["remember", "The walnut tree was felled."],
        &["search", "walnut"],
        &["get", "MEMORY.md"],
        &["forget", "--query", "walnut", "--yes"],
        &["list"],
        &["audit"],
        &["tidy", "--dry-run"],
        &["undo", "--dry-run"],
        &["check"],
        &["index"],
        &["context"],
        &["status"],
        &["agents"],
        &["migrate", "--from", "openclaw", "--to", "zeroclaw"],
    ] {
        let outcome = run(&case, words);
        assert_eq!(opens(&outcome, &case.path(CONFIG)), 1, "{words:?}");
    }
    let back = ["migrate", "--from", "zeroclaw", "--to", "openclaw", "--on-conflict", "theirs"];
    let outcome = run(&case, &back);
    assert_eq!(opens(&outcome, &case.path(CONFIG)), 1);
    let config = case.path("home/.zeroclaw/config.toml");
    assert_eq!(opens(&outcome, &config), 1);
}

#[test]
fn what_reads_an_agent_walks_its_workspace_once() {
    let case = openclaw();
    run(&case, &["search", "tea"]);
    for words in [
        &["list"][..],
        &["tidy", "--dry-run"],
        &["index"],
        &["get", "MEMORY.md"],
        &["migrate", "--from", "openclaw", "--to", "zeroclaw"],
    ] {
        let outcome = run(&case, words);
        for folder in FOLDERS {
            let path = case.path(&format!("{WORKSPACE}{folder}"));
            assert!(listings(&outcome, &path) <= 1, "{words:?}: {folder:?}");
        }
    }
}
