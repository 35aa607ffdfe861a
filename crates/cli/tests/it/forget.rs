//! `anemone forget`

use std::path::Path;

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
fn refusals_have_codes_and_hints() {
    let environment = workspace();
    let refusal = refused(&environment, 1, &["--query", "gateway password geese"]);
    assert_eq!(refusal["code"], "not_confirmed");
    forget(&environment, &["--query", "gateway password geese", "--yes"]);
    environment.write("ws/MEMORY.md", "- Lin likes tea,\n  but no coffee\n- Ana\n");
    let refusal = refused(&environment, 1, &["--id", "MEMORY.md#L2"]);
    assert_eq!(refusal["code"], "part_of_an_entry", "{refusal}");
    let hint = refusal["hint"].as_str().expect("there is a hint");
    assert!(hint.ends_with("--id MEMORY.md#L1-L2"), "{refusal}");
    let wide: Vec<u8> = "- est jaune\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    environment.write("ws/MEMORY.md", [b"\xff\xfe", &wide[..]].concat());
    let refusal = refused(&environment, 1, &["--id", "MEMORY.md#L1"]);
    assert!(refusal["hint"].as_str().is_some_and(|hint| hint.contains("UTF-8")), "{refusal}");

    let written = environment.json(["remember", "-w", "ws", "Dentist: Dr. Abel", "--force"]);
    let log = format!("ws/{}", written["path"].as_str().expect("there is a path"));
    let text = String::from_utf8(environment.read(&log)).expect("it is UTF-8");
    let copy = text.lines().last().expect("there is a line").replace("Abel", "Brandt");
    environment.write(&log, format!("{text}{copy}\n"));
    // Every holder of the lock records that another program saved the log, even if nothing is
    // forgotten.
    let id = written["id"].as_str().expect("there is an id");
    let output = environment.command().args(["forget", "-w", "ws", "--id", id]).output();
    let output = output.expect("the program starts");
    let refusal: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!((output.status.code(), &refusal["code"]), (Some(1), &json!("ambiguous")));
    assert!(refusal["hint"].as_str().is_some_and(|hint| hint.contains("#L4")), "{refusal}");
}

#[test]
fn each_place_that_still_holds_it_comes_with_what_clears_it() {
    let environment = workspace();
    let state = environment.path("state");
    let state = [("XDG_STATE_HOME", state.to_str().expect("it is UTF-8"))];
    for name in ["one.alf", "gone.alf"] {
        environment.json_with(&state, ["export", "-w", "ws", "-o", name, "--allow-secrets"]);
    }
    fs_err::remove_file(environment.path("gone.alf")).expect("it is ours");
    environment.json_with(&state, ["import", "-r", "openclaw", "-w", "copy", "one.alf"]);
    environment.write_below("ws/notes/quote.json", json!({ "said": SECRET }).to_string());
    let report = forget(&environment, &["--key", "gate", "--for-good"]);
    assert!(report["notes"].to_string().contains("1 archive of this memory"), "{report}");
    let found = report["proof"]["found"].as_array().expect("they are listed");
    assert!(found.contains(&json!({ "path": "notes/quote.json" })), "{report}");
    let holders = report["proof"]["holders"].as_array().expect("they are listed");
    for (name, kind, command) in [
        ("one.alf", "archive", "anemone purge "),
        ("copy", "copy", "anemone forget --for-good -w "),
    ] {
        let is_it = |item: &Value| {
            item["kind"] == kind
                && item["place"].as_str().is_some_and(|place| place.ends_with(name))
                && item["clear_with"].as_str().is_some_and(|clear| clear.starts_with(command))
        };
        assert!(holders.iter().any(is_it), "{name}: {report}");
    }
}

#[test]
fn rows_that_are_gone_or_of_another_agent_have_codes_and_commands() {
    let environment = TestEnvironment::new();
    environment.write_below("ws/IDENTITY.md", "# Nova\n");
    environment.write_below("ws/memory/x", "");
    let agent = ["-r", "zeroclaw", "-w", "ws", "--agent", "nova"];
    let run = |args: &[&str]| environment.json([args, &agent[..]].concat());
    let database = environment.path("ws/memory/brain.db");
    let sql = |script: &str| anemone_testkit::write_database(&database, script).expect("it is SQL");
    sql("CREATE TABLE agents (id TEXT PRIMARY KEY, alias TEXT NOT NULL UNIQUE,
           created_at TEXT NOT NULL);
         INSERT INTO agents VALUES ('a1', 'nova', '2026-01-01T00:00:00Z'),
           ('a2', 'rex', '2026-01-01T00:00:00Z');
         CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL, content TEXT NOT NULL,
           category TEXT NOT NULL DEFAULT 'core', embedding BLOB, created_at TEXT NOT NULL,
           updated_at TEXT NOT NULL, session_id TEXT,
           agent_id TEXT NOT NULL REFERENCES agents(id), UNIQUE (agent_id, key));
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
         INSERT INTO memories (id, key, content, created_at, updated_at, agent_id)
           SELECT 'r' || id, 'gate', 'The password of the gate is seven-grey-geese.',
             '2026-01-15T00:00:00Z', '2026-01-15T00:00:00Z', id FROM agents;");
    let report = run(&["forget", "--key", "gate", "--for-good"]);
    let held = &report["proof"]["holders"][0];
    assert_eq!(held["kind"], "agent", "{report}");
    let clear_with = held["clear_with"].as_str().expect("it is text");
    let ends = "--agent rex --query 'WORDS OF IT'";
    assert!(clear_with.starts_with("anemone forget --for-good -r zeroclaw -w "), "{clear_with}");
    assert!(clear_with.ends_with(ends), "{clear_with}");

    run(&["remember", "The tide turns at noon.", "--key", "tide"]);
    sql("DELETE FROM memories WHERE key = 'tide'");
    let failure = environment.failure(1, [&["undo"], &agent[..]].concat());
    assert_eq!(failure["code"], "rows_gone", "{failure}");
    let message = failure["error"].as_str().unwrap_or_default();
    assert!(message.contains("no longer in the database"), "{failure}");
}

#[test]
fn days_are_those_of_the_local_time_zone() {
    // At any hour the date in one of them differs from that in UTC.
    for zone in ["Pacific/Honolulu", "Pacific/Kiritimati"] {
        let environment = workspace();
        let run = |args: &[&str]| environment.run_with(&[("TZ", zone)], args.iter().copied());
        run(&["remember", "aloha from the beach", "-w", "ws"]);
        let ran = run(&["forget", "-w", "ws", "--until", "yesterday", "--dry-run"]);
        assert!(!ran.stdout.contains("aloha"), "{zone}: {}", ran.stdout);
        let ran = run(&["forget", "-w", "ws", "--since", "today", "--yes"]);
        assert!(ran.code == 0 && ran.stdout.contains("aloha"), "{zone}: {}", ran.stdout);
    }
}

#[test]
fn a_header_that_was_kept_and_other_matches_are_notes() {
    let environment = TestEnvironment::new();
    let table = "| who | what |\n|-----|------|\n| Lin | likes tea |\n";
    environment
        .write_below("ws/MEMORY.md", format!("{table}\n- A river: Elbe.\n- A river: Main.\n"));
    let report = forget(&environment, &["--id", "MEMORY.md#L3"]);
    assert!(report["notes"].to_string().contains("its header was kept"), "{report}");
    let report = forget(&environment, &["--query", "river", "--yes"]);
    assert!(report["notes"].to_string().contains("1 other match "), "{report}");
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
    // The process may have ended already.
    child.kill().ok();
    child.wait().expect("it is ours");
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
