//! `anemone forget`

use std::path::Path;

use anemone_testkit::write_database;
use serde_json::{Value, json};

use crate::environment::{TestEnvironment, program};

const SECRET: &str = "the gateway password is seven-grey-geese";

/// A workspace of OpenClaw's with something to forget.
fn workspace() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write_below(
        "ws/MEMORY.md",
        format!("# MEMORY.md\n\n- **tea**: Lin drinks green tea.\n- **gate**: {SECRET}\n"),
    );
    environment.write_below(
        "ws/memory/2026-11-15.md",
        "# 2026-11-15\n\n- We met at the river.\n- **gate**: an older password, six-white-swans\n",
    );
    environment
}

/// Runs a command with the state beside the workspace, where the test looks at it.
fn forget(environment: &TestEnvironment, args: &[&str]) -> Value {
    let state = environment.path("state");
    let state = state.to_str().expect("it is UTF-8");
    let args = [&["forget", "-w", "ws"], args].concat();
    environment.json_with(&[("XDG_STATE_HOME", state)], args)
}

fn refused(environment: &TestEnvironment, code: i32, args: &[&str]) -> Value {
    let args = [&["forget", "-w", "ws"], args].concat();
    environment.failure(code, args)
}

/// Returns the files below a folder that hold a text.
fn holding(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs_err::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.expect("it can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs_err::read(&path).expect("it can be read");
                if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                    found.push(path.display().to_string());
                }
            }
        }
    }
    found
}

fn kinds(report: &Value) -> Vec<&str> {
    let holders = report["proof"]["holders"].as_array().expect("holders are listed");
    holders.iter().map(|holder| holder["kind"].as_str().expect("it has a kind")).collect()
}

fn texts(report: &Value) -> Vec<&str> {
    let entries = report["entries"].as_array().expect("there are entries");
    entries.iter().map(|entry| entry["text"].as_str().expect("it has a text")).collect()
}

#[test]
fn a_key_is_gone_from_files_and_index_and_the_proof_says_so() {
    let environment = workspace();
    environment.json(["search", "gateway password", "-w", "ws"]);
    let cache = environment.home(".cache");
    assert!(!holding(&cache, "seven-grey-geese").is_empty(), "the index holds it");
    let shown = forget(&environment, &["--key", "gate", "--dry-run"]);
    assert_eq!(texts(&shown), [SECRET, "an older password, six-white-swans"]);
    assert!(holding(&environment.path("ws"), "seven-grey-geese").len() == 1, "nothing went");

    let report = forget(&environment, &["--key", "gate"]);
    assert_eq!(texts(&report), texts(&shown));
    let proof = &report["proof"];
    assert_eq!((&proof["found"], &proof["in_journal"]), (&json!([]), &json!(1)), "{report}");
    // The journal keeps it for undo, so it is not gone.
    assert_eq!((&proof["absent"], kinds(&report)), (&json!(false), vec!["journal"]), "{report}");
    assert!(proof["scanned_files"].as_u64().is_some_and(|u64| u64 > 3), "{report}");
    assert_eq!((&report["tombstones"], &report["can_be_undone"]), (&json!(2), &json!(true)));
    for folder in [environment.path("ws"), cache] {
        for text in ["seven-grey-geese", "six-white-swans"] {
            assert_eq!(holding(&folder, text), [] as [&str; 0]);
        }
    }
    assert_eq!(
        environment.read("ws/MEMORY.md"),
        b"# MEMORY.md\n\n- **tea**: Lin drinks green tea.\n"
    );
    let found = environment.json(["search", "password", "-w", "ws"]);
    assert!(!found.to_string().contains("geese"), "{found}");
    // What undo goes back to is the one place that has it.
    assert_eq!(holding(&environment.path("state"), "seven-grey-geese").len(), 1);
}

#[test]
fn for_good_leaves_nothing_to_go_back_to() {
    let environment = workspace();
    let report = forget(&environment, &["--key", "gate", "--for-good"]);
    assert_eq!(report["proof"]["absent"], true, "{report}");
    assert_eq!((&report["can_be_undone"], &report["dropped_changes"]), (&json!(false), &json!(1)));
    assert_eq!(holding(&environment.path(""), "seven-grey-geese"), [] as [&str; 0]);
    assert_eq!(holding(&environment.home(""), "seven-grey-geese"), [] as [&str; 0]);
    let stones = holding(&environment.path("state"), "text_sha256");
    assert_eq!(stones.len(), 1, "the tombstones are there");
}

#[test]
fn what_a_search_found_goes_only_when_somebody_says_so() {
    let environment = workspace();
    let refusal = refused(&environment, 1, &["--query", "gateway password geese"]);
    assert_eq!(refusal["code"], "not_confirmed");
    let report = forget(&environment, &["--query", "gateway password geese", "--yes"]);
    assert_eq!(texts(&report), [SECRET]);
    assert!(environment.read("ws/MEMORY.md").ends_with(b"green tea.\n"));
}

#[test]
fn a_citation_of_a_search_is_an_id() {
    let environment = workspace();
    let found = environment.json(["search", "river", "-w", "ws"]);
    let citation = found["hits"][0]["citation"].as_str().expect("it is cited");
    let report = forget(&environment, &["--id", citation]);
    assert_eq!(texts(&report), ["We met at the river."]);
    let report = forget(&environment, &["--since", "2026-11-15", "--until", "2026-11-15", "--yes"]);
    assert_eq!(texts(&report), ["an older password, six-white-swans"]);
    assert_eq!(environment.read("ws/memory/2026-11-15.md"), b"# 2026-11-15\n\n");
}

#[test]
fn where_a_text_still_stands_is_said() {
    let environment = workspace();
    environment.write_below("ws/notes/quote.json", json!({ "said": SECRET }).to_string());
    let report = forget(&environment, &["--key", "gate"]);
    assert_eq!(report["proof"]["absent"], false);
    assert_eq!(report["proof"]["found"], json!([{ "path": "notes/quote.json" }]));
    environment.write("ws/MEMORY.md", "- **pin**: 1234\n");
    let report = forget(&environment, &["--key", "pin"]);
    let proof = &report["proof"];
    assert_eq!((&proof["absent"], &proof["too_short"]), (&json!(false), &json!(1)));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let environment = workspace();
    assert_eq!(refused(&environment, 1, &["--key", "nobody"])["code"], "nothing_to_forget");
    assert_eq!(refused(&environment, 2, &["--since", "someday"])["code"], "usage");
    assert_eq!(
        refused(&environment, 2, &["--since", "2026-02-01", "--until", "2026-01-01"])["code"],
        "usage"
    );
    refused(&environment, 2, &[]);
    refused(&environment, 2, &["--key", "a", "--session", "b"]);
}

#[test]
fn a_row_is_gone_from_the_database_with_all_that_was_made_of_it() {
    let environment = TestEnvironment::new();
    environment.write_below("ws/data/memory/x", "");
    environment.write_below("ws/agents/default/workspace/IDENTITY.md", "# Nia\n");
    let script = format!(
        "CREATE TABLE memories(id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE,
           content TEXT NOT NULL, category TEXT NOT NULL DEFAULT 'core', embedding BLOB,
           created_at TEXT NOT NULL, updated_at TEXT NOT NULL, session_id TEXT);
         CREATE TABLE embedding_cache(content_hash TEXT PRIMARY KEY, embedding BLOB NOT NULL,
           created_at TEXT NOT NULL, accessed_at TEXT NOT NULL);
         CREATE VIRTUAL TABLE memories_fts USING fts5(key, content, content=memories,
           content_rowid=rowid);
         CREATE TRIGGER memories_ai AFTER INSERT ON memories BEGIN INSERT INTO
           memories_fts(rowid, key, content) VALUES (new.rowid, new.key, new.content); END;
         CREATE TRIGGER memories_ad AFTER DELETE ON memories BEGIN INSERT INTO
           memories_fts(memories_fts, rowid, key, content)
           VALUES ('delete', old.rowid, old.key, old.content); END;
         CREATE TRIGGER memories_au AFTER UPDATE ON memories BEGIN INSERT INTO
           memories_fts(memories_fts, rowid, key, content)
           VALUES ('delete', old.rowid, old.key, old.content); INSERT INTO
           memories_fts(rowid, key, content) VALUES (new.rowid, new.key, new.content); END;
         INSERT INTO memories VALUES ('1', 'tea', 'Lin drinks green tea.', 'core', NULL,
           '2026-01-15T00:00:00Z', '2026-01-15T00:00:00Z', NULL);
         INSERT INTO memories VALUES ('2', 'gate', '{SECRET}', 'core', NULL,
           '2026-01-16T00:00:00Z', '2026-01-16T00:00:00Z', 'main');"
    );
    let database = environment.path("ws/data/memory/brain.db");
    write_database(&database, &script).expect("it can be written");
    let found = environment.json(["search", "gateway", "-r", "zeroclaw", "-w", "ws"]);
    assert!(found.to_string().contains("geese"), "{found}");
    let report =
        forget(&environment, &["-r", "zeroclaw", "--session", "main", "--yes", "--for-good"]);
    assert_eq!(texts(&report), [SECRET]);
    assert_eq!(report["proof"]["absent"], true, "{report}");
    assert_eq!(holding(&environment.path("ws"), "seven-grey-geese"), [] as [&str; 0]);
    assert_eq!(holding(&environment.home(".cache"), "seven-grey-geese"), [] as [&str; 0]);
    let found = environment.json(["search", "tea gateway", "-r", "zeroclaw", "-w", "ws"]);
    assert_eq!(found["hits"].as_array().map(Vec::len), Some(1), "{found}");
}

#[test]
fn a_citation_takes_one_row_or_item_and_never_more() {
    let environment = TestEnvironment::new();
    let table = "| who | what |\n|-----|------|\n| Lin | likes tea |\n| Ana | likes coffee |\n";
    let memory = format!("# Memory\n\n{table}\n1. the first step\n2. the second step\n");
    environment.write_below("ws/MEMORY.md", &memory);
    let found = environment.json(["search", "Lin tea", "-w", "ws"]);
    let citation = found["hits"][0]["citation"].as_str().expect("it is cited");
    assert_eq!(citation, "MEMORY.md#L5");
    assert_eq!(texts(&forget(&environment, &["--id", citation])), ["| Lin | likes tea |"]);
    let memory = memory.replace("| Lin | likes tea |\n", "");
    assert_eq!(environment.read("ws/MEMORY.md"), memory.as_bytes());
    let report = forget(&environment, &["--id", "MEMORY.md#L5", "--id", "MEMORY.md#L8"]);
    assert_eq!(texts(&report), ["| Ana | likes coffee |", "the second step"]);
    assert!(report["notes"].to_string().contains("its header was kept"), "{report}");
    let left = "# Memory\n\n| who | what |\n|-----|------|\n\n1. the first step\n";
    assert_eq!(environment.read("ws/MEMORY.md"), left.as_bytes());
}

#[test]
fn a_part_of_an_entry_is_refused_and_the_whole_is_named() {
    let environment = TestEnvironment::new();
    let memory = "- Lin likes tea,\n  but no coffee\n- Ana\n";
    environment.write_below("ws/MEMORY.md", memory);
    let refusal = refused(&environment, 1, &["--id", "MEMORY.md#L2"]);
    assert_eq!(refusal["code"], "part_of_an_entry", "{refusal}");
    let hint = refusal["hint"].as_str().expect("there is a hint");
    assert!(hint.ends_with("--id MEMORY.md#L1-L2"), "{refusal}");
    assert_eq!(environment.read("ws/MEMORY.md"), memory.as_bytes());
    forget(&environment, &["--id", "MEMORY.md#L1-L2"]);
    assert_eq!(environment.read("ws/MEMORY.md"), b"- Ana\n");
}

#[test]
fn what_is_found_can_be_forgotten_wherever_it_is() {
    for (text, word, left) in [
        ("---\n- a heron nests here\n---\n", "heron", "---\n---\n"),
        ("# Notes\n\n## The heron nests here\n", "heron", "# Notes\n\n"),
        ("- Lin\n  - a heron\n  - a swan\n", "heron", "- Lin\n  - a swan\n"),
    ] {
        let environment = TestEnvironment::new();
        environment.write_below("ws/MEMORY.md", text);
        forget(&environment, &["--query", word, "--yes"]);
        assert_eq!(environment.read("ws/MEMORY.md"), left.as_bytes(), "{text}");
    }
}

#[test]
fn an_index_in_another_folder_loses_it_too() {
    let environment = workspace();
    let state = environment.path("state");
    let search = ["search", "gateway password", "-w", "ws", "--index-dir", "elsewhere"];
    environment.json_with(&[("XDG_STATE_HOME", state.to_str().expect("it is UTF-8"))], search);
    assert!(!holding(&environment.path("elsewhere"), "seven-grey-geese").is_empty());
    let report = forget(&environment, &["--key", "gate", "--for-good"]);
    assert_eq!(report["proof"]["absent"], true, "{report}");
    assert!(report["dropped_indexes"].to_string().contains("elsewhere"), "{report}");
    assert_eq!(holding(&environment.path(""), "seven-grey-geese"), [] as [&str; 0]);
}

#[test]
fn archives_that_still_hold_it_are_named() {
    let environment = workspace();
    let state = environment.path("state");
    let state = [("XDG_STATE_HOME", state.to_str().expect("it is UTF-8"))];
    environment.json_with(&state, ["export", "-w", "ws", "-o", "a.alf", "--allow-secrets"]);
    fs_err::create_dir_all(environment.home(".local/share/anemone/snapshots")).expect("ours");
    let snapshot = environment.home(".local/share/anemone/snapshots/b.alf");
    fs_err::copy(environment.path("a.alf"), &snapshot).expect("it can be copied");
    let report = forget(&environment, &["--key", "gate", "--for-good"]);
    assert_eq!(report["proof"]["absent"], false, "{report}");
    let mut found = kinds(&report);
    found.sort_unstable();
    assert_eq!(found, ["archive", "snapshot"], "{report}");
    let first = &report["proof"]["holders"][0]["clear_with"];
    assert!(first.as_str().is_some_and(|first| first.starts_with("anemone purge ")), "{report}");
}

#[test]
fn the_runtimes_own_index_and_transcripts_are_named_while_they_hold_it() {
    let environment = TestEnvironment::new();
    environment.write_home(".openclaw/openclaw.json", "{}");
    environment.write_home(".openclaw/workspace/MEMORY.md", format!("- **gate**: {SECRET}\n"));
    environment.write_home(".openclaw/memory/x", "");
    let said = json!({"type": "message", "id": "1", "timestamp": "2026-11-15T08:00:00Z",
        "message": {"role": "user", "content": [{"type": "text", "text": SECRET}]}});
    let head = json!({"type": "session", "version": 3, "id": "s1",
        "timestamp": "2026-11-15T08:00:00Z", "cwd": "/"});
    let transcript = ".openclaw/agents/main/sessions/s1.jsonl";
    environment.write_home(transcript, format!("{head}\n{said}\n"));
    let index = environment.home(".openclaw/memory/main.sqlite");
    let script = format!(
        "CREATE TABLE chunks(id TEXT PRIMARY KEY, path TEXT, text TEXT);
         INSERT INTO chunks VALUES ('1', 'MEMORY.md', '- **gate**: {SECRET}');"
    );
    write_database(&index, &script).expect("it can be written");
    let report = environment.json(["forget", "-r", "openclaw", "--key", "gate", "--for-good"]);
    assert_eq!(report["proof"]["absent"], false, "{report}");
    assert_eq!(kinds(&report), ["runtime_index", "transcript"], "{report}");
    let clear = &report["proof"]["holders"][0]["clear_with"];
    assert_eq!(clear, "openclaw memory index", "{report}");
    assert!(!holding(index.parent().expect("it has one"), SECRET).is_empty(), "only read");
}

#[test]
fn people_are_not_told_that_it_is_gone_while_undo_brings_it_back() {
    let environment = workspace();
    let text = environment.human(["forget", "-w", "ws", "--key", "gate"]);
    assert!(!text.contains("gone") && text.contains("`anemone undo` brings it back"), "{text}");
    let text = environment.human(["forget", "-w", "ws", "--key", "tea", "--for-good"]);
    assert!(text.contains("gone: not found in "), "{text}");
}

/// Runs a command and kills it as soon as something is seen.
fn killed_when(environment: &TestEnvironment, args: &[&str], is_seen: &dyn Fn() -> bool) {
    let mut command = std::process::Command::new(program());
    command.current_dir(environment.path("")).env_clear().envs(environment.variables());
    command.env("XDG_STATE_HOME", environment.path("state"));
    command.args(["forget", "-w", "ws"]).args(args);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().expect("it can be started");
    while child.try_wait().expect("it is ours").is_none() && !is_seen() {
        std::thread::yield_now();
    }
    // It may have ended by itself.
    child.kill().ok();
    child.wait().expect("it is ours");
}

#[test]
fn what_is_spelled_with_other_line_endings_is_gone_for_good_too() {
    for text in
        ["- Zebrafinch plutonium\r\n  more\r\n- x\r\n", "- Zebrafinch plutonium  \n  more\n- x\n"]
    {
        let environment = TestEnvironment::new();
        environment.write_below("ws/SOUL.md", "# Soul\n");
        environment.write_below("ws/MEMORY.md", format!("# M\n\n{text}"));
        let report = forget(&environment, &["--id", "MEMORY.md#L3-L4", "--for-good"]);
        assert_eq!(report["can_be_undone"], false, "{report}");
        assert_eq!(holding(&environment.path(""), "Zebrafinch"), [] as [&str; 0], "{text:?}");
        let state = environment.path("state");
        let state = [("XDG_STATE_HOME", state.to_str().expect("it is UTF-8"))];
        environment.failure_with(&state, 1, ["undo", "-w", "ws"]);
    }
}

#[test]
fn one_that_was_killed_is_finished_by_running_it_again() {
    let environment = TestEnvironment::new();
    let state = environment.path("state");
    let state = [("XDG_STATE_HOME", state.to_str().expect("it is UTF-8"))];
    let exists = |ending: &str| {
        let folders = fs_err::read_dir(environment.path("state/anemone/agents")).into_iter();
        let agents = folders.flatten().flatten();
        let notes = agents.map(|agent| agent.path().join("memory/forgetting"));
        let notes = notes.flat_map(|note| fs_err::read_dir(note).into_iter().flatten().flatten());
        notes
            .into_iter()
            .any(|note| note.path().extension().is_some_and(|extension| extension == ending))
    };
    let log = || -> Vec<u8> {
        let logs = fs_err::read_dir(environment.path("ws/memory")).into_iter().flatten().flatten();
        logs.flat_map(|log| fs_err::read(log.path()).unwrap_or_default()).collect()
    };
    let is_out = || !String::from_utf8_lossy(&log()).contains("seven-grey-geese");
    let moments: [&dyn Fn() -> bool; 3] = [&|| exists("json"), &|| is_out(), &|| exists("erasing")];
    for (round, moment) in moments.into_iter().enumerate() {
        environment.write_below("ws/MEMORY.md", "- Lin drinks green tea.\n");
        let gate = "the gateway words are seven-grey-geese";
        let remember = ["remember", "-w", "ws", gate, "--key", "gate"];
        environment.json_with(&state, remember);
        environment.json_with(&state, ["search", "gateway", "-w", "ws"]);
        let args = ["--key", "gate", "--for-good"];
        killed_when(&environment, &args, moment);
        let again = [&["forget", "-w", "ws"], &args[..]].concat();
        let ran = environment.run_with(&state, again);
        // Where it was killed behind its last step there is nothing left to do.
        assert!(
            ran.code == 0 || ran.stdout.contains("nothing_to_forget"),
            "{round}: {}",
            ran.stdout
        );
        assert_eq!(holding(&environment.path(""), "seven-grey-geese"), [] as [&str; 0], "{round}");
        assert_eq!(holding(&environment.home(""), "seven-grey-geese"), [] as [&str; 0], "{round}");
        let other = format!("something else, number {round}");
        let restored = environment.json_with(&state, ["remember", "-w", "ws", &other, "--force"]);
        assert_eq!(restored["restored"], json!([]), "{round}: it does not come back");
        assert_eq!(holding(&environment.path(""), "seven-grey-geese"), [] as [&str; 0], "{round}");
    }
}

#[test]
fn days_are_those_of_the_local_time_zone() {
    // At any hour the day of one of them is not that of UTC.
    for zone in ["Pacific/Honolulu", "Pacific/Kiritimati"] {
        let environment = workspace();
        let run = |args: &[&str]| environment.run_with(&[("TZ", zone)], args.iter().copied());
        run(&["remember", "aloha from the beach", "-w", "ws"]);
        let ran = run(&["forget", "-w", "ws", "--until", "yesterday", "--dry-run"]);
        assert!(!ran.stdout.contains("aloha"), "{zone}: {}", ran.stdout);
        let ran = run(&["forget", "-w", "ws", "--since", "today", "--yes"]);
        assert!(ran.code == 0 && ran.stdout.contains("aloha"), "{zone}: {}", ran.stdout);
        // Logs without stamps are of the days that name them.
        environment.write_below("ws/memory/2026-03-01.md", "- Lunch was noodles.\n");
        for flag in ["--since", "--until"] {
            let ran = run(&["forget", "-w", "ws", flag, "2026-03-01", "--dry-run"]);
            assert!(ran.stdout.contains("noodles"), "{zone} {flag}: {}", ran.stdout);
        }
        let ran = run(&["forget", "-w", "ws", "--until", "2026-02-28", "--dry-run"]);
        assert!(!ran.stdout.contains("noodles"), "{zone}: {}", ran.stdout);
    }
}

fn undo(environment: &TestEnvironment, args: &[&str]) -> Value {
    let state = environment.path("state");
    let args = [&["undo", "-w", "ws"], args].concat();
    environment.json_with(&[("XDG_STATE_HOME", state.to_str().expect("it is UTF-8"))], args)
}

fn remember(environment: &TestEnvironment, args: &[&str]) -> Value {
    let state = environment.path("state");
    let args = [&["remember", "-w", "ws"], args].concat();
    environment.json_with(&[("XDG_STATE_HOME", state.to_str().expect("it is UTF-8"))], args)
}

#[test]
fn for_good_leaves_every_other_change_undoable() {
    let environment = workspace();
    let before = environment.read("ws/MEMORY.md");
    remember(&environment, &["Lin likes plum cake", "--curated"]);
    remember(&environment, &["the safe opens with nine-red-foxes", "--curated", "--key", "safe"]);
    remember(&environment, &["the shop closes at noon", "--curated"]);
    let shown = forget(&environment, &["--key", "safe", "--for-good", "--dry-run"]);
    let lost = shown["undo_lost"].as_array().expect("it is said what is lost").clone();
    assert_eq!(lost.len(), 1, "{shown}");
    assert_eq!((&lost[0]["what"], &lost[0]["files"]), (&json!("remember"), &json!(["MEMORY.md"])));
    let report = forget(&environment, &["--key", "safe", "--for-good"]);
    assert_eq!(report["undo_lost"], shown["undo_lost"], "{report}");
    assert_eq!(report["proof"]["absent"], true, "{report}");
    assert_eq!(holding(&environment.path(""), "nine-red-foxes"), [] as [&str; 0]);
    // What was written before and after it can still be undone, one by one.
    undo(&environment, &[]);
    let text = String::from_utf8(environment.read("ws/MEMORY.md")).expect("it is UTF-8");
    assert!(text.contains("plum cake") && !text.contains("closes at noon"), "{text}");
    undo(&environment, &[]);
    assert_eq!(environment.read("ws/MEMORY.md"), before);
}

#[test]
fn what_was_forgotten_before_is_found_in_the_journal_and_gone_for_good() {
    let of = |args: &[&str]| {
        let environment = workspace();
        forget(&environment, &["--key", "gate"]);
        assert!(!holding(&environment.path("state"), "seven-grey-geese").is_empty());
        let shown = forget(&environment, &[args, &["--dry-run", "--for-good"]].concat());
        assert!(texts(&shown).contains(&SECRET), "{args:?}: {shown}");
        let report = forget(&environment, &[args, &["--for-good"]].concat());
        assert_eq!(texts(&report), texts(&shown), "{args:?}: {report}");
        assert_eq!(holding(&environment.path(""), "seven-grey-geese"), [] as [&str; 0], "{args:?}");
        assert_eq!(holding(&environment.home(""), "seven-grey-geese"), [] as [&str; 0], "{args:?}");
        let again = [&["forget", "-w", "ws", "--for-good"], args].concat();
        let state = environment.path("state");
        let state = [("XDG_STATE_HOME", state.to_str().expect("it is UTF-8"))];
        assert_eq!(environment.failure_with(&state, 1, again)["code"], "nothing_to_forget");
    };
    of(&["--key", "gate"]);
    of(&["--query", "gateway password geese", "--yes"]);
    // The lines that it stood in, which its tombstone names.
    of(&["--id", "MEMORY.md#L4"]);
}

#[test]
fn lines_that_hold_something_now_do_not_mean_what_stood_there_before() {
    let environment = workspace();
    forget(&environment, &["--id", "MEMORY.md#L3"]);
    let report = forget(&environment, &["--id", "MEMORY.md#L3", "--for-good"]);
    assert_eq!(texts(&report), [SECRET], "{report}");
    undo(&environment, &[]);
    let text = String::from_utf8(environment.read("ws/MEMORY.md")).expect("it is UTF-8");
    assert!(text.contains("green tea") && !text.contains("geese"), "{text}");
}

#[test]
fn a_short_text_goes_from_the_journal_too_and_is_named_where_it_stands_alone() {
    let environment = workspace();
    remember(&environment, &["4711", "--key", "berth", "--force"]);
    environment.write_below("ws/notes/other.md", "- 4711\n");
    let report = forget(&environment, &["--key", "berth", "--for-good"]);
    assert_eq!(report["proof"]["found"], json!([{ "path": "notes/other.md" }]), "{report}");
    assert_eq!(report["undo_lost"].as_array().map(Vec::len), Some(1), "{report}");
    let holding = holding(&environment.path("state"), "4711");
    assert!(holding.iter().all(|path| !path.contains("journal")), "{holding:?}");
}

#[test]
fn an_entry_whose_stamp_was_removed_does_not_come_back() {
    let environment = workspace();
    remember(&environment, &["the quay code is eight-tall-cranes"]);
    let logs = fs_err::read_dir(environment.path("ws/memory")).expect("it is there").flatten();
    let log = logs.map(|log| log.path()).max().expect("it was written");
    let text = fs_err::read_to_string(&log).expect("it is text");
    let bare: Vec<&str> =
        text.lines().map(|line| line.split(" <!--").next().unwrap_or(line)).collect();
    fs_err::write(&log, bare.join("\n") + "\n").expect("it is ours");
    forget(&environment, &["--query", "quay code cranes", "--yes"]);
    let report = remember(&environment, &["something else", "--force"]);
    assert_eq!(report["restored"], json!([]), "{report}");
    assert_eq!(holding(&environment.path("ws"), "eight-tall-cranes"), [] as [&str; 0]);
}

#[test]
fn a_query_says_how_many_others_match() {
    let environment = TestEnvironment::new();
    let rivers: String =
        ["Elbe", "Main", "Rhine"].iter().map(|value| format!("- A river: {value}.\n")).collect();
    environment.write_below("ws/MEMORY.md", format!("# Memory\n\n{rivers}"));
    let note = |report: &Value| {
        let notes = report["notes"].as_array().expect("there are notes").iter();
        notes
            .filter_map(Value::as_str)
            .find(|value| value.contains("other match"))
            .map(str::to_owned)
    };
    let shown = forget(&environment, &["--query", "river", "--dry-run"]);
    assert!(note(&shown).is_some_and(|note| note.starts_with("2 other matches")), "{shown}");
    let report = forget(&environment, &["--query", "river", "--limit", "2", "--yes"]);
    assert!(note(&report).is_some_and(|note| note.starts_with("1 other match ")), "{report}");
    let report = forget(&environment, &["--query", "river", "--yes"]);
    assert_eq!((note(&report), texts(&report).len()), (None, 1), "{report}");
}

#[test]
fn a_file_that_is_not_utf8_loses_the_entry_and_keeps_every_other_byte() {
    let environment = TestEnvironment::new();
    let file = |middle: &[u8]| [&b"# M\xe9moire\r\n\r\n- le caf\xe9\r\n"[..], middle].concat();
    let whole = [file(b"- la cl\xe9 est jaune\r\n"), b"- \xe0 bient\xf4t\r\n".to_vec()].concat();
    for args in [&["--id", "MEMORY.md#L4"][..], &["--query", "est jaune", "--yes"]] {
        environment.write_below("ws/MEMORY.md", &whole);
        let report = forget(&environment, args);
        assert_eq!(texts(&report), ["la cl\u{e9} est jaune"], "{report}");
        assert_eq!(environment.read("ws/MEMORY.md"), file(b"- \xe0 bient\xf4t\r\n"));
        undo(&environment, &[]);
        assert_eq!(environment.read("ws/MEMORY.md"), whole);
    }
    let report = forget(&environment, &["--id", "MEMORY.md#L4", "--for-good"]);
    assert_eq!(report["proof"]["absent"], true, "{report}");
    let held = holding(&environment.path(""), "est jaune");
    assert_eq!(held, [] as [&str; 0]);
    // In UTF-16 lines cannot be told by their bytes.
    let wide: Vec<u8> = "- est jaune\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    environment.write("ws/MEMORY.md", [b"\xff\xfe", &wide[..]].concat());
    let refusal = refused(&environment, 1, &["--id", "MEMORY.md#L1"]);
    assert!(refusal["hint"].as_str().is_some_and(|refusal| refusal.contains("UTF-8")), "{refusal}");
}

#[test]
fn every_archive_and_copy_that_is_known_is_named() {
    let environment = workspace();
    let state = environment.path("state");
    let state = [("XDG_STATE_HOME", state.to_str().expect("it is UTF-8"))];
    for name in ["one.alf", "two.alf", "three.alf"] {
        environment.json_with(&state, ["export", "-w", "ws", "-o", name, "--allow-secrets"]);
    }
    fs_err::rename(environment.path("three.alf"), environment.path("moved.alf")).expect("ours");
    environment.json_with(&state, ["import", "-r", "openclaw", "-w", "copy", "one.alf"]);
    let report = forget(&environment, &["--key", "gate", "--for-good"]);
    assert_eq!(report["proof"]["absent"], false, "{report}");
    assert!(report["notes"].to_string().contains("1 archive of this memory"), "{report}");
    let holders = report["proof"]["holders"].as_array().expect("they are listed");
    for (name, kind, command) in [
        ("one.alf", "archive", "anemone purge "),
        ("two.alf", "archive", "anemone purge "),
        ("copy", "copy", "anemone forget --for-good -w "),
    ] {
        let is_it = |item: &&Value| {
            item["kind"] == kind
                && item["place"].as_str().is_some_and(|value| value.ends_with(name))
                && item["clear_with"].as_str().is_some_and(|value| value.starts_with(command))
        };
        assert!(holders.iter().any(|holder| is_it(&holder)), "{name}: {report}");
    }
}

#[test]
fn a_copied_line_is_an_entry_of_its_own() {
    let environment = workspace();
    let remember = ["remember", "-w", "ws", "Dentist: Dr. Abel, phone 555-0101."];
    let written = environment.json(remember);
    let (id, log) = (written["id"].as_str().unwrap(), written["path"].as_str().unwrap());
    let log = format!("ws/{log}");
    let text = String::from_utf8(environment.read(&log)).unwrap();
    let line = text.lines().last().unwrap();
    let copy = line.replace("Dentist: Dr. Abel", "Plumber: Ms. Brandt");
    environment.write(&log, format!("{text}{copy}\n"));

    // Whoever takes the lock notes that somebody else saved the log, also when nothing is forgotten.
    let output = environment.command().args(["forget", "-w", "ws", "--id", id]).output().unwrap();
    let refusal: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &refusal["code"]), (Some(1), &json!("ambiguous")));
    assert!(refusal["hint"].as_str().unwrap().contains("#L4"), "{refusal}");
    let listed = environment.json(["list", "-w", "ws"]);
    for text in ["Dentist", "Plumber"] {
        assert!(listed["entries"].to_string().contains(text), "{listed}");
    }
    environment.json(["forget", "-w", "ws", "--query", "plumber", "--yes"]);
    assert_eq!(String::from_utf8(environment.read(&log)).unwrap(), text);
}

#[test]
fn what_was_forgotten_before_leaves_the_table_of_stamps_when_it_goes_for_good() {
    let environment = workspace();
    let written = environment.json(["remember", "-w", "ws", "The boat has a teal hull."]);
    let id = written["id"].as_str().unwrap();
    let knows = || {
        let table = environment.read("ws/.anemone/stamps.jsonl");
        String::from_utf8(table).unwrap().contains(id)
    };
    environment.json(["forget", "-w", "ws", "--id", id]);
    assert!(knows(), "undo needs it");
    environment.json(["forget", "-w", "ws", "--id", id, "--for-good", "--yes"]);
    assert!(!knows());
}
