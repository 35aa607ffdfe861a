//! `anemone forget`

use std::path::Path;

use anemone_testkit::write_database;
use serde_json::{Value, json};

use crate::environment::TestEnvironment;

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
                if bytes.windows(text.len()).any(|it| it == text.as_bytes()) {
                    found.push(path.display().to_string());
                }
            }
        }
    }
    found
}

fn texts(report: &Value) -> Vec<&str> {
    let entries = report["entries"].as_array().expect("there are entries");
    entries.iter().map(|it| it["text"].as_str().expect("it has a text")).collect()
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
    assert_eq!((&proof["absent"], &proof["found"]), (&json!(true), &json!([])), "{report}");
    assert!(proof["scanned_files"].as_u64().is_some_and(|it| it > 3), "{report}");
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
    let report = forget(&environment, &["-r", "zeroclaw", "--session", "main", "--yes"]);
    assert_eq!(texts(&report), [SECRET]);
    assert_eq!(report["proof"]["absent"], true, "{report}");
    assert_eq!(holding(&environment.path("ws"), "seven-grey-geese"), [] as [&str; 0]);
    assert_eq!(holding(&environment.home(".cache"), "seven-grey-geese"), [] as [&str; 0]);
    let found = environment.json(["search", "tea gateway", "-r", "zeroclaw", "-w", "ws"]);
    assert_eq!(found["hits"].as_array().map(Vec::len), Some(1), "{found}");
}
