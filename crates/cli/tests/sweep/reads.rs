//! Checks how often a command opens its inputs: the configuration of an install once, and every
//! folder of a workspace once.

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

/// A command, how often it opens the configuration, and how often it lists each folder.
type Row<'a> = (&'a [&'a str], usize, [usize; 4]);

/// Where an agent lives.
struct Install {
    config: &'static str,
    workspace: &'static str,
}

const OF_OPENCLAW: Install = Install { config: CONFIG, workspace: WORKSPACE };
const OF_ZEROCLAW: Install = Install {
    config: "home/.zeroclaw/config.toml",
    workspace: "home/.zeroclaw/agents/default/workspace",
};

/// Runs commands one after the other, and returns the differences from the rows.
fn compare(case: &Case, install: &Install, code: i32, rows: &[Row<'_>]) -> Vec<String> {
    let mut others = Vec::new();
    for (words, config, folders) in rows {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let outcome = case.run(&words, None);
        assert_eq!(outcome.code, Some(code), "{words:?}: {}{}", outcome.stdout, outcome.stderr);
        let opened = opens(&outcome, &case.path(install.config));
        let listed = FOLDERS.map(|folder| {
            listings(&outcome, &case.path(&format!("{}{folder}", install.workspace)))
        });
        if (opened, listed) != (*config, *folders) {
            others.push(format!("{words:?}: {opened}, {listed:?}"));
        }
    }
    others
}

/// What is read more than once, and why:
///
/// - What a search, a recall or a new entry is compared with are the files of the memory as they
///   are now: also those that no search looks at, such as an archive of old entries. They are
///   listed in `memory`, besides the listing that the index is brought up to date with. A file that
///   cannot be listed is skipped by an index, and stops `remember`.
/// - `context` lists the notes of a day. Once for the files and once for the excerpts of a day, it
///   looks for what took the place of an entry that it shows. `audit` lists the memory besides the
///   walk of a check.
/// - Wherever ZeroClaw may have its database, its older copies are looked for: in `memory`, too.
/// - `forget` looks for its entries again under the lock, and reads everything after it changed
///   something, to prove that the text is gone: from the files, and from every folder.
/// - An import or a move replaces a tree by a new one, beside which it is made; both are listed,
///   and what arrived is read again to prove it.
/// - `status` looks at the file of a program that may be connected as `connect` does, by itself.
/// - A configuration that is added to is read again as the text that is going to be replaced.
#[test]
fn a_command_reads_the_configuration_and_lists_every_folder_as_often_as_it_must() {
    let case = openclaw();
    let path = case.path(WORKSPACE).display().to_string();
    let rows: [Row<'_>; 36] = [
        // The first search makes the index.
        (&["search", "tea"], 1, [1, 2, 0, 0]),
        (&["search", "tea"], 1, [1, 2, 0, 0]),
        (&["search", "tea", "-w", &path], 1, [1, 2, 0, 0]),
        (&["search", "tea", "--agent", "main"], 1, [1, 2, 0, 0]),
        (&["remember", "The walnut tree was felled."], 1, [1, 2, 0, 0]),
        (&["remember", "The oak stays.", "-w", &path], 1, [1, 2, 0, 0]),
        (&["remember", "Elms are rare.", "--agent", "main"], 1, [1, 2, 0, 0]),
        (&["search", "walnut"], 1, [1, 2, 0, 0]),
        (&["get", "MEMORY.md"], 1, [0, 0, 0, 0]),
        (&["forget", "--query", "walnut", "--yes"], 1, [4, 7, 1, 1]),
        (&["forget", "--key", "gate", "--yes"], 1, [3, 5, 1, 1]),
        (&["list"], 1, [0, 1, 0, 0]),
        (&["list", "-w", &path], 1, [0, 1, 0, 0]),
        (&["tidy", "--dry-run"], 1, [0, 1, 0, 0]),
        (&["undo", "--dry-run"], 1, [0, 0, 0, 0]),
        (&["audit"], 1, [1, 2, 1, 1]),
        (&["audit", "-w", &path], 1, [1, 2, 1, 1]),
        (&["check"], 1, [1, 1, 1, 1]),
        (&["check", "-w", &path], 1, [1, 1, 1, 1]),
        (&["check", "--agent", "main"], 1, [1, 1, 1, 1]),
        (&["index"], 1, [1, 1, 0, 0]),
        (&["context"], 1, [0, 3, 0, 0]),
        (&["context", "-w", &path], 1, [0, 3, 0, 0]),
        (&["context", "--query", "tea"], 1, [1, 5, 0, 0]),
        (&["status"], 1, [1, 1, 1, 1]),
        (&["status", "-w", &path], 1, [1, 1, 1, 1]),
        (&["agents"], 1, [1, 1, 1, 1]),
        (&["export", "-o", "one.alf", "-w", &path], 1, [1, 1, 1, 1]),
        (&["export", "--dry-run", "-w", &path], 1, [1, 1, 1, 1]),
        (&["export", "--dry-run", "--agent", "main"], 1, [1, 1, 1, 1]),
        (&["import", "one.alf", "--dry-run", "--on-conflict", "theirs"], 1, [1, 1, 1, 1]),
        (&["remember", "Before the import."], 1, [1, 2, 0, 0]),
        (&["import", "one.alf", "--on-conflict", "theirs"], 1, [2, 2, 2, 2]),
        (&["import", "one.alf", "-w", &path, "--on-conflict", "theirs"], 1, [1, 1, 1, 1]),
        (&["migrate", "--from", "openclaw", "--to", "zeroclaw", "--dry-run"], 1, [1, 1, 1, 1]),
        (&["migrate", "--from", "openclaw", "--to", "zeroclaw"], 1, [1, 1, 1, 1]),
    ];
    let mut others = compare(&case, &OF_OPENCLAW, 0, &rows);
    // Now there are two agents, and a command that is not told which refuses.
    let refused: [Row<'_>; 2] = [
        (&["search", "tea"], 1, [0, 0, 0, 0]),
        (&["connect", "zeroclaw", "--dry-run"], 1, [0, 0, 0, 0]),
    ];
    others.extend(compare(&case, &OF_OPENCLAW, 2, &refused));
    others.extend(compare(&case, &OF_ZEROCLAW, 2, &refused));
    let again = ["migrate", "--from", "openclaw", "--to", "zeroclaw", "--on-conflict", "theirs"];
    let dry = [&again[..], &["--dry-run"]].concat();
    let back = ["migrate", "--from", "zeroclaw", "--to", "openclaw", "--on-conflict", "theirs"];
    for (install, rows) in [
        (&OF_OPENCLAW, [(&dry[..], 1, [1, 1, 1, 1]), (&again, 1, [1, 1, 1, 1])]),
        (&OF_ZEROCLAW, [(&dry, 1, [1, 0, 0, 0]), (&again, 1, [4, 0, 0, 0])]),
    ] {
        others.extend(compare(&case, install, 0, &rows));
    }
    others.extend(compare(&case, &OF_ZEROCLAW, 0, &[(&back, 1, [1, 0, 0, 0])]));
    others.extend(compare(&case, &OF_OPENCLAW, 0, &[(&back, 1, [4, 3, 3, 3])]));
    assert!(others.is_empty(), "other than the table says:\n{}", others.join("\n"));
}

#[test]
fn a_command_reads_an_agent_of_zeroclaw_as_often_as_it_must() {
    let case = Case::new();
    for (name, text) in super::ZEROCLAW {
        case.write(&name.replace("work/zc", "home/.zeroclaw"), text);
    }
    case.write(&format!("{}/memory/2026-01-02.md", OF_ZEROCLAW.workspace), super::OLD_LOG);
    case.write(&format!("{}/.alfignore", OF_ZEROCLAW.workspace), "logs/\n");
    case.write(&format!("{}/logs/old/a.log", OF_ZEROCLAW.workspace), "x");
    let path = case.path("home/.zeroclaw").display().to_string();
    let rows: [Row<'_>; 24] = [
        (&["remember", "Lin drinks green tea."], 1, [0, 0, 0, 0]),
        (&["search", "tea"], 1, [1, 2, 0, 0]),
        (&["search", "tea"], 1, [1, 2, 0, 0]),
        (&["search", "tea", "-w", &path], 1, [1, 2, 0, 0]),
        (&["search", "tea", "--agent", "default"], 1, [1, 2, 0, 0]),
        (&["remember", "The walnut tree was felled.", "-w", &path], 1, [0, 1, 0, 0]),
        (&["forget", "--query", "walnut", "--yes"], 1, [4, 8, 1, 1]),
        (&["list"], 1, [0, 1, 0, 0]),
        (&["audit"], 1, [1, 3, 1, 1]),
        (&["check"], 1, [1, 2, 1, 1]),
        (&["check", "-w", &path], 1, [1, 2, 1, 1]),
        (&["check", "--agent", "default"], 1, [1, 2, 1, 1]),
        (&["index"], 1, [1, 2, 0, 0]),
        (&["context"], 1, [0, 1, 0, 0]),
        (&["context", "--query", "tea"], 1, [1, 3, 0, 0]),
        (&["status"], 2, [1, 2, 1, 1]),
        (&["status", "-w", &path], 2, [1, 2, 1, 1]),
        (&["agents"], 1, [1, 2, 1, 1]),
        (&["export", "-o", "one.alf"], 1, [1, 2, 1, 1]),
        (&["export", "-o", "two.alf", "-w", &path], 1, [1, 2, 1, 1]),
        (&["import", "one.alf", "--dry-run", "--on-conflict", "theirs"], 2, [1, 3, 1, 1]),
        (&["import", "one.alf", "--on-conflict", "theirs"], 2, [2, 5, 2, 2]),
        (&["migrate", "--from", "zeroclaw", "--to", "openclaw", "--dry-run"], 1, [1, 2, 1, 1]),
        (&["migrate", "--from", "zeroclaw", "--to", "openclaw"], 1, [1, 2, 1, 1]),
    ];
    let others = compare(&case, &OF_ZEROCLAW, 0, &rows);
    assert!(others.is_empty(), "other than the table says:\n{}", others.join("\n"));
}
