//! An agent that remembers in ZeroClaw's database, through every command that writes.

use anemone_testkit::write_database;
use serde_json::{Value, json};

use crate::environment::TestEnvironment;

const DATABASE: &str = "ws/data/memory/brain.db";
const AGENT: [&str; 4] = ["-r", "zeroclaw", "-w", "ws"];

/// An install in which nothing is remembered yet.
fn install() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write_below("ws/data/memory/x", "");
    environment.write_below("ws/agents/default/workspace/IDENTITY.md", "# Nia\n");
    environment
}

/// An install with a database as ZeroClaw made it in February 2026.
fn old_install() -> TestEnvironment {
    let environment = install();
    let script = "
        CREATE TABLE memories(id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE,
          content TEXT NOT NULL, category TEXT NOT NULL DEFAULT 'core', embedding BLOB,
          created_at TEXT NOT NULL, updated_at TEXT NOT NULL, session_id TEXT);
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
        INSERT INTO memories VALUES ('1', 'tea', 'Lin drinks green tea.', 'core', x'0102',
          '2026-01-15T00:00:00Z', '2026-01-15T00:00:00Z', NULL);";
    write_database(&environment.path(DATABASE), script).expect("it can be written");
    environment
}

/// A database of one agent with a name, as ZeroClaw makes it since 0.8.
const OWNED: &str = "
    CREATE TABLE agents (id TEXT PRIMARY KEY, alias TEXT NOT NULL UNIQUE, created_at TEXT NOT NULL);
    INSERT INTO agents VALUES ('a1', '{alias}', '2026-01-01T00:00:00Z');
    CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL, content TEXT NOT NULL,
      category TEXT NOT NULL DEFAULT 'core', embedding BLOB, created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL, session_id TEXT, agent_id TEXT NOT NULL REFERENCES agents(id),
      UNIQUE (agent_id, key));
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
      memories_fts(rowid, key, content) VALUES (new.rowid, new.key, new.content); END;";

fn args<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[command], &AGENT[..], more].concat()
}

fn remember(environment: &TestEnvironment, more: &[&str]) -> Value {
    environment.json(args("remember", more))
}

fn undo(environment: &TestEnvironment, more: &[&str]) -> Value {
    environment.json(args("undo", more))
}

/// Whether there is exactly one row for which a condition holds; `s` is its stamp.
fn has_row(environment: &TestEnvironment, condition: &str) -> bool {
    has_row_in(environment, DATABASE, condition)
}

fn has_row_in(environment: &TestEnvironment, database: &str, condition: &str) -> bool {
    let script = format!(
        "CREATE TABLE IF NOT EXISTS anemone_stamps (memory_id TEXT PRIMARY KEY,
           origin TEXT NOT NULL, at TEXT NOT NULL, session TEXT, source TEXT);
         CREATE TEMP TABLE proof (holds CHECK (holds));
         INSERT INTO proof SELECT count(*) = 1 FROM memories m
           LEFT JOIN anemone_stamps s ON s.memory_id = m.id WHERE {condition};
         INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1);"
    );
    match write_database(&environment.path(database), &script) {
        Ok(()) => true,
        Err(error) if error.to_string().contains("CHECK constraint failed") => false,
        Err(error) => panic!("{error}"),
    }
}

fn found(environment: &TestEnvironment, query: &str) -> String {
    environment.json(args("search", &[query])).to_string()
}

#[test]
fn a_row_is_remembered_found_and_taken_back() {
    let environment = install();
    let text = "The gateway stays on loopback.";
    let words = [
        text,
        "--key",
        "gateway",
        "--type",
        "decision",
        "--importance",
        "0.9",
        "--tag",
        "net",
        "--source",
        "web:https://example.org/a",
        "--session",
        "main",
    ];
    let shown = remember(&environment, &[&words[..], &["--dry-run"]].concat());
    assert_eq!((&shown["written"], &shown["path"]), (&json!(false), &json!("brain.db")), "{shown}");
    assert!(!environment.exists(DATABASE), "a dry run makes nothing");

    let report = remember(&environment, &words);
    assert_eq!(report["written"], true);
    assert_eq!(report["entry"], "The gateway stays on loopback. #net");
    let row = json!({ "key": "gateway", "category": "daily", "replaces": false });
    assert_eq!(report["row"], row);
    assert_eq!(report["warnings"][0]["code"], "type_not_kept");
    let id = report["id"].as_str().expect("there is an id");
    assert!(has_row(
        &environment,
        &format!(
            "m.id = '{id}' AND m.content LIKE '%loopback. #net' AND m.importance = 0.9
             AND m.session_id = 'main' AND s.origin = 'web' AND s.source = 'https://example.org/a'"
        )
    ));
    assert!(found(&environment, "gateway loopback").contains(text));

    let listed = undo(&environment, &["--list"]);
    assert_eq!(listed["changes"][0]["files"], json!(["brain.db"]), "{listed}");
    let planned = undo(&environment, &["--dry-run"]);
    assert_eq!(planned["rows"]["removed"], 1, "{planned}");
    assert!(has_row(&environment, "m.key = 'gateway'"));
    let undone = undo(&environment, &[]);
    assert_eq!(
        (&undone["rows"], &undone["undone"]["what"]),
        (&planned["rows"], &json!("remember"))
    );
    assert!(
        !has_row(&environment, "m.key = 'gateway'") && !has_row(&environment, "s.origin = 'web'")
    );
    assert!(!found(&environment, "gateway loopback").contains(text));
    assert_eq!(environment.failure(1, args("undo", &[]))["code"], "nothing_to_undo");
}

#[test]
fn what_is_said_already_or_is_secret_is_not_written() {
    let environment = old_install();
    let refusal = environment.failure(3, args("remember", &["lin drinks GREEN tea!"]));
    assert_eq!(refusal["code"], "duplicate");
    assert_eq!(refusal["duplicates"][0]["path"], "memories/tea", "{refusal}");
    assert_eq!(refusal["duplicates"][0]["id"], "1");
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let text = format!("The token is {token}");
    assert_eq!(environment.failure(1, args("remember", &[&text]))["code"], "secret");
    let report = remember(&environment, &[&text, "--redact"]);
    assert_eq!(report["redacted"].as_array().map(Vec::len), Some(1), "{report}");
    assert!(!has_row(&environment, &format!("m.content LIKE '%{token}%'")));
    let report = remember(&environment, &["lin drinks GREEN tea!", "--force", "--curated"]);
    assert_eq!(report["row"]["category"], "core");
    assert!(has_row(&environment, "m.content = 'lin drinks GREEN tea!' AND m.key = m.id"));
    let refusal = environment.failure(2, args("remember", &["mine", "--key", "p|lin"]));
    assert_eq!(refusal["code"], "private_key");
}

#[test]
fn a_row_with_the_same_key_is_replaced_and_comes_back_as_it_was() {
    let environment = old_install();
    let report = remember(&environment, &["Lin drinks black tea.", "--key", "tea"]);
    assert_eq!(
        (&report["row"]["replaces"], &report["id"]),
        (&json!(true), &json!("1")),
        "{report}"
    );
    let again =
        remember(&environment, &["Lin gave up on it.", "--key", "tea", "--source", "owner"]);
    assert_eq!(again["id"], "1");
    assert!(has_row(&environment, "m.content = 'Lin gave up on it.' AND s.origin = 'owner'"));
    undo(&environment, &[]);
    assert!(has_row(&environment, "m.content = 'Lin drinks black tea.' AND s.origin = 'agent'"));
    let back = undo(&environment, &[]);
    assert_eq!((&back["rows"]["put_back"], &back["rows"]["removed"]), (&json!(1), &json!(0)));
    assert!(has_row(
        &environment,
        "m.content = 'Lin drinks green tea.' AND m.embedding = x'0102' AND s.origin IS NULL
         AND m.updated_at = '2026-01-15T00:00:00Z'"
    ));
}

#[test]
fn what_is_superseded_no_longer_holds_until_that_is_undone() {
    let environment = install();
    remember(&environment, &["The gateway listens on port 8080.", "--key", "port"]);
    let new = remember(&environment, &["It is 9090 since Monday.", "--supersedes", "port"]);
    assert_eq!(new["warnings"], json!([]));
    let id = new["id"].as_str().expect("there is an id");
    assert!(has_row(&environment, &format!("m.key = 'port' AND m.superseded_by = '{id}'")));
    assert!(!found(&environment, "gateway listens port").contains("8080"));
    undo(&environment, &[]);
    assert!(has_row(&environment, "m.key = 'port' AND m.superseded_by IS NULL"));
    assert!(found(&environment, "gateway listens port").contains("8080"));
    let nothing = remember(&environment, &["Lunch is at noon.", "--supersedes", "nobody"]);
    assert_eq!(nothing["warnings"][0]["code"], "supersedes_nothing");
    let old = old_install();
    let report = remember(&old, &["Lin drinks nothing now.", "--supersedes", "tea"]);
    assert_eq!(report["warnings"][0]["code"], "cannot_supersede", "{report}");
}

#[test]
fn a_forgotten_row_comes_back_with_where_it_came_from() {
    let environment = install();
    remember(&environment, &["The river was high.", "--key", "river", "--source", "tool:radio"]);
    environment.json(args("forget", &["--key", "river"]));
    assert!(
        !has_row(&environment, "m.key = 'river'") && !has_row(&environment, "s.origin = 'tool'")
    );
    let undone = undo(&environment, &[]);
    assert_eq!(
        (&undone["undone"]["what"], &undone["rows"]["put_back"]),
        (&json!("forget"), &json!(1))
    );
    assert!(has_row(
        &environment,
        "m.content = 'The river was high.' AND s.origin = 'tool' AND s.source = 'radio'"
    ));
    environment.json(args("forget", &["--key", "river"]));
    remember(&environment, &["The river is low.", "--key", "river"]);
    undo(&environment, &["--skip"]);
    let human = environment.human(args("undo", &[]));
    assert!(human.contains("river stays away: another row has its key now"), "{human}");
    assert!(has_row(&environment, "m.content = 'The river is low.'"));
}

#[test]
fn what_zeroclaw_changed_since_is_not_taken_back() {
    let environment = old_install();
    remember(&environment, &["Lin drinks black tea.", "--key", "tea"]);
    let theirs = "UPDATE memories SET content = 'Lin drinks white tea.' WHERE key = 'tea'";
    write_database(&environment.path(DATABASE), theirs).expect("it can be written");
    for more in [&["--dry-run"][..], &[]] {
        let refusal = environment.failure(3, args("undo", more));
        assert_eq!(refusal["code"], "changed", "{refusal}");
    }
    assert!(has_row(&environment, "m.content = 'Lin drinks white tea.'"));
    fs_err::remove_file(environment.path(DATABASE)).expect("it is there");
    assert_eq!(environment.failure(1, args("undo", &[]))["code"], "database_gone");
    undo(&environment, &["--skip"]);
}

#[test]
fn an_undo_says_that_nothing_is_left_of_the_rows_that_were_added() {
    let environment = old_install();
    remember(&environment, &["The fog lifts at ten.", "--key", "fog"]);
    remember(&environment, &["The tide turns at noon.", "--key", "tide"]);
    let theirs = "DELETE FROM memories WHERE key = 'tide'";
    write_database(&environment.path(DATABASE), theirs).expect("it can be written");
    for more in [&["--dry-run"][..], &[], &[]] {
        let failure = environment.failure(1, args("undo", more));
        assert_eq!(failure["code"], "rows_gone", "{failure}");
        let message = failure["error"].as_str().unwrap_or_default();
        assert!(message.contains("no longer in the database"), "{failure}");
    }
    undo(&environment, &["--skip"]);
    let undone = undo(&environment, &[]);
    assert_eq!(undone["rows"], json!({ "put_back": 0, "removed": 1, "taken": [], "changed": [] }));
    assert!(!has_row(&environment, "m.key = 'fog'"));
}

#[test]
fn a_database_without_a_workspace_is_a_memory_all_the_same() {
    let environment = old_install();
    fs_err::remove_dir_all(environment.path("ws/agents")).expect("it is there");
    environment.write("ws/config.toml", "schema_version = 3\n");
    remember(&environment, &["The fog lifts at ten.", "--key", "fog"]);
    assert!(found(&environment, "fog lifts").contains("at ten"));
    environment.json(args("forget", &["--key", "fog"]));
    undo(&environment, &[]);
    assert!(has_row(&environment, "m.key = 'fog'"));
    for command in ["context", "audit"] {
        let report = environment.json(args(command, &[]));
        assert!(
            report["notes"][0].as_str().is_some_and(|report| report.contains("rows")),
            "{report}"
        );
    }
    let tidied = environment.json(args("tidy", &[]));
    assert!(tidied["rows"]["note"].as_str().is_some_and(|tidied| tidied.contains("only counted")));
    assert!(!environment.exists("ws/agents"), "nobody made a workspace");
}

#[test]
fn a_link_in_the_place_of_the_database_is_not_followed() {
    let environment = old_install();
    let (real, elsewhere) = (environment.path(DATABASE), environment.path("elsewhere.db"));
    fs_err::rename(&real, &elsewhere).expect("it can be moved");
    fs_err::os::unix::fs::symlink(&elsewhere, &real).expect("it can be linked");
    let before = environment.read("elsewhere.db");
    let refusal = environment.failure(1, args("remember", &["The fog lifts at ten.", "--force"]));
    assert_eq!(refusal["code"], "database", "{refusal}");
    assert_eq!(environment.read("elsewhere.db"), before);
}

#[test]
fn where_a_row_comes_from_travels_with_it() {
    let environment = install();
    let river = ["The river was high.", "--key", "river", "--source", "web:https://example.org"];
    remember(&environment, &river);
    remember(&environment, &["The owner fishes.", "--key", "fish", "--source", "owner"]);
    let found = environment.json(args("search", &["river"]));
    assert_eq!(found["hits"][0]["provenance"]["origin"], "web", "{found}");
    environment.json(args("export", &["-o", "a.alf"]));
    environment.json(["import", "a.alf", "-r", "zeroclaw", "-w", "new"]);
    for condition in [
        "m.key = 'river' AND s.origin = 'web' AND s.source = 'https://example.org'",
        "m.key = 'fish' AND s.origin = 'owner' AND s.source IS NULL",
    ] {
        assert!(has_row_in(&environment, "new/data/memory/brain.db", condition), "{condition}");
    }
}

#[test]
fn a_workspace_alone_is_written_under_the_name_that_its_database_knows() {
    let environment = TestEnvironment::new();
    environment.write_below("ws/IDENTITY.md", "# Nova\n");
    environment.write_below("ws/memory/x", "");
    let script = OWNED.replace("{alias}", "nova");
    let database = "ws/memory/brain.db";
    write_database(&environment.path(database), &script).expect("it can be written");
    remember(&environment, &["The fog lifts at ten.", "--key", "fog"]);
    assert!(has_row_in(&environment, database, "m.key = 'fog' AND m.agent_id = 'a1'"));
    let agents = "(SELECT count(*) FROM agents) = 1 AND m.key = 'fog'";
    assert!(has_row_in(&environment, database, agents), "nobody came new");
}

#[test]
fn what_another_agent_of_the_database_has_too_is_to_be_forgotten_there() {
    let environment = TestEnvironment::new();
    environment.write_below("ws/IDENTITY.md", "# Nova\n");
    environment.write_below("ws/memory/x", "");
    let script = OWNED.replace("{alias}", "nova")
        + "INSERT INTO agents VALUES ('a2', 'rex', '2026-01-01T00:00:00Z');
           INSERT INTO memories (id, key, content, created_at, updated_at, agent_id)
           SELECT 'r' || id, 'gate', 'The password of the gate is seven-grey-geese.',
             '2026-01-15T00:00:00Z', '2026-01-15T00:00:00Z', id FROM agents;";
    let database = environment.path("ws/memory/brain.db");
    write_database(&database, &script).expect("it can be written");
    let forget =
        ["forget", "-r", "zeroclaw", "-w", "ws", "--key", "gate", "--for-good", "--agent", "nova"];
    let report = environment.json(forget);
    let held = &report["proof"]["holders"][0];
    assert_eq!(held["kind"], "agent", "{report}");
    let clear_with = held["clear_with"].as_str().expect("it is text");
    let ends = "--agent rex --query 'WORDS OF IT'";
    assert!(clear_with.starts_with("anemone forget --for-good -r zeroclaw -w "), "{clear_with}");
    assert!(clear_with.ends_with(ends), "{clear_with}");
}

#[test]
fn what_many_rows_say_already_is_found_too() {
    let environment = install();
    remember(&environment, &["Lin drinks green tea in the morning.", "--key", "tea"]);
    let more = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 1200)
        INSERT INTO memories (id, key, content, created_at, updated_at, agent_id)
        SELECT 'r' || n, 'k' || n, 'Entry number ' || n || ' is about ' || hex(zeroblob(1000)),
          '2026-01-01', '2026-01-01', (SELECT id FROM agents) FROM c;";
    write_database(&environment.path(DATABASE), more).expect("it can be written");
    let shown = remember(&environment, &["Lin drinks GREEN tea in the morning", "--dry-run"]);
    assert_eq!(shown["duplicates"].as_array().map(Vec::len), Some(1), "{shown}");
    assert_eq!(shown["duplicates"][0]["path"], "memories/tea");
    assert!(environment.home(".cache/anemone/agents").is_dir(), "the index told where to look");
}
