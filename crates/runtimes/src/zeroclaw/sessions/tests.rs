use std::convert::Infallible;

use fs_err as fs;
use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::kit::database::tests::machine;
use crate::zeroclaw::RUNTIME;

/// The tables of the real program, 0.8.7, as far as we read them.
const TABLES: &str = "
        CREATE TABLE sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, session_key TEXT NOT NULL,
          role TEXT NOT NULL, content TEXT NOT NULL, created_at TEXT NOT NULL);
        CREATE TABLE session_metadata (session_key TEXT PRIMARY KEY, created_at TEXT NOT NULL,
          last_activity TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0, name TEXT,
          agent_alias TEXT, principal_id TEXT);
        CREATE TABLE jsonl_import_receipts (source_name TEXT PRIMARY KEY, session_key TEXT NOT NULL,
          source_hash TEXT NOT NULL, source_len INTEGER NOT NULL, imported_at TEXT NOT NULL);";
const EDITOR_TABLES: &str = "
        CREATE TABLE acp_sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, session_uuid TEXT NOT NULL UNIQUE,
          agent_alias TEXT NOT NULL, created_at TEXT NOT NULL, principal_id TEXT);
        CREATE TABLE acp_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id INTEGER NOT NULL,
          role TEXT NOT NULL, content TEXT NOT NULL, reasoning_content TEXT, created_at TEXT NOT NULL);";
const AT: &str = "2026-11-15T07:17:29.868608739+00:00";

struct TestHome(TempDir);

impl TestHome {
    fn new() -> Self {
        let home = Self(TempDir::new().unwrap());
        fs::create_dir_all(home.sessions().join("archive")).unwrap();
        home
    }

    fn sessions(&self) -> PathBuf {
        self.0.path().join("data/sessions")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.sessions().join(name), text).unwrap();
    }

    fn database(&self, name: &str, tables: &str, sql: &str) {
        let connection = Connection::open(self.sessions().join(name)).unwrap();
        connection.execute_batch(tables).unwrap();
        connection.execute_batch(sql).unwrap();
    }

    /// Takes the folder as an install with several agents.
    fn agent(&self, alias: &str) -> FoundAgent {
        let workspace = self.0.path().join("agents").join(alias).join("workspace");
        let mut agent = FoundAgent::without_install(RUNTIME, alias.to_owned(), workspace);
        agent.install = Some(self.0.path().to_owned());
        agent.generation = Some(generation::DATA);
        agent
    }

    fn read(
        &self,
        agent: &FoundAgent,
        private: bool,
    ) -> (Vec<Record>, SessionCounts, Vec<Warning>) {
        let shared = ReadingContext {
            agent_id: "9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap(),
            alias: &agent.alias,
            identity_version: None,
            embedding: None,
            fallback: times::epoch(),
            embeddings: false,
            stamps: anemone_format::StampTable::default(),
        };
        let mut records = Vec::new();
        let machine = machine(self.0.path());
        let Ok(SessionReading { counts, warnings, .. }) =
            super::records::<Infallible>(&machine, agent, &shared, private, &mut |record| {
                records.push(record);
                Ok(())
            });
        (records, counts, warnings)
    }
}

fn contents(records: &[Record]) -> Vec<(&str, &str)> {
    records
        .iter()
        .map(|record| (record.source.session_id.as_deref().unwrap(), record.content.as_str()))
        .collect()
}

#[test]
fn a_conversation_in_the_database_becomes_records() {
    let home = TestHome::new();
    home.database("sessions.db", TABLES, &format!(
        "INSERT INTO sessions (session_key, role, content, created_at) VALUES
               ('telegram_12345_alice', 'user', 'hello', '{AT}'),
               ('gw_1', 'user', 'other', '{AT}'),
               ('telegram_12345_alice', 'system', 'be good', '{AT}'),
               ('telegram_12345_alice', 'assistant', '{{\"content\":\"hi!\",\"tool_calls\":[{{}}]}}', '{AT}'),
               ('telegram_12345_alice', 'tool', '{{}}', '{AT}');
             INSERT INTO session_metadata VALUES
               ('telegram_12345_alice', '{AT}', '{AT}', 2, 'Alice chat', 'default', NULL);"
    ));
    let (records, counts, warnings) = home.read(&home.agent("default"), false);
    assert_eq!(
        contents(&records),
        [
            ("gw_1", "user: other"),
            ("telegram_12345_alice", "user: hello\n\nassistant: hi!\n\n[tool result]"),
        ]
    );
    let record = &records[1];
    assert_eq!(record.namespace, "session");
    assert_eq!(record.temporal.created_at.as_str(), AT);
    assert_eq!(record.source.origin.as_deref(), Some("session"));
    assert_eq!(record.source.origin_file.as_deref(), Some("sessions/telegram_12345_alice.jsonl"));
    assert_eq!(
        record.raw_source_format.as_ref().unwrap().as_str(),
        r#"{"session_key":"telegram_12345_alice","name":"Alice chat","piece":0}"#
    );
    let wanted =
        SessionCounts { transcripts: 2, events: 5, messages: 4, dropped: 2, ..Default::default() };
    assert_eq!((counts, warnings.len()), (wanted, 0));
}

#[test]
fn an_agent_has_its_own_conversations_and_the_default_one_those_of_nobody() {
    let home = TestHome::new();
    let rows: String = ["a", "b", "c", "d"].iter().map(|key| format!(
        "INSERT INTO sessions (session_key, role, content, created_at) VALUES ('{key}', 'user', 'in {key}', '{AT}');"
    )).collect();
    home.database("sessions.db", TABLES, &format!(
        "{rows} INSERT INTO session_metadata VALUES ('a', '{AT}', '{AT}', 1, NULL, 'default', NULL),
               ('b', '{AT}', '{AT}', 1, NULL, 'alpha', NULL), ('c', '{AT}', '{AT}', 1, NULL, 'alpha', 'p1');"
    ));
    let keys = |alias: &str, private| {
        let (records, _, warnings) = home.read(&home.agent(alias), private);
        let keys: Vec<String> =
            records.into_iter().filter_map(|record| record.source.session_id).collect();
        (keys.join(" "), warnings.iter().map(|warning| warning.code).collect::<Vec<_>>())
    };
    assert_eq!(keys("default", false), ("a d".to_owned(), vec!["sessions_private"]));
    assert_eq!(
        keys("alpha", false),
        ("b".to_owned(), vec!["sessions_unowned", "sessions_private"])
    );
    assert_eq!(keys("alpha", true), ("b c".to_owned(), vec!["sessions_unowned"]));
    let (records, ..) = home.read(&home.agent("alpha"), true);
    let marked =
        |record: &Record| record.raw_source_format.as_ref().unwrap().as_str().contains("private");
    assert_eq!(records.iter().map(marked).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn a_message_in_the_database_and_in_a_file_is_taken_once() {
    let home = TestHome::new();
    home.database("sessions.db", TABLES, &format!(
        "INSERT INTO sessions (session_key, role, content, created_at) VALUES
               ('s', 'user', 'one', '{AT}'), ('s', 'user', 'one', '{AT}'), ('t_1', 'user', 'renamed', '{AT}');
             INSERT INTO jsonl_import_receipts VALUES ('t.1.jsonl', 't_1', '', 0, '{AT}');"
    ));
    let one = "{\"role\":\"user\",\"content\":\"one\"}\n";
    home.write("s.jsonl.migrated", &format!("{one}{one}"));
    home.write(
        "s.jsonl",
        &format!("{one}{one}{one}{{\"role\":\"assistant\",\"content\":\"new\"}}\n"),
    );
    home.write("t.1.jsonl.migrated", "{\"role\":\"user\",\"content\":\"renamed\"}\n");
    let (records, counts, _) = home.read(&home.agent("default"), false);
    assert_eq!(
        contents(&records),
        [("s", "user: one\n\nuser: one\n\nuser: one\n\nassistant: new"), ("t_1", "user: renamed")]
    );
    assert_eq!((counts.duplicates, counts.transcripts), (5, 2));
}

#[test]
fn files_alone_are_read_old_ones_too_and_what_makes_no_sense_is_counted() {
    let home = TestHome::new();
    home.write("slack_C1_U1.jsonl", "{\"role\":\"user\",\"content\":\"你好\"}\nnonsense\n\n{\"role\":\"user\"}\n{\"role\":\"assistant\",\"content\":\"hi\"}\n");
    home.write("archive/2026-01-01.jsonl", "{\"role\":\"user\",\"content\":\"old\"}\n");
    home.write("notes.txt", "x");
    let (records, counts, _) = home.read(&home.agent("default"), false);
    assert_eq!(
        contents(&records),
        [("2026-01-01", "user: old"), ("slack_C1_U1", "user: 你好\n\nassistant: hi")]
    );
    assert_eq!((counts.events, counts.undecodable, counts.messages), (5, 2, 3));
    let mut agent = home.agent("default");
    agent.generation = Some(generation::WORKSPACE);
    agent.workspace = home.0.path().join("data");
    assert_eq!(home.read(&agent, false).0, records);
}

#[test]
fn conversations_with_editors_are_read_without_thoughts() {
    let home = TestHome::new();
    home.database("acp-sessions.db", EDITOR_TABLES, &format!(
        "INSERT INTO acp_sessions VALUES (7, 'u-7', 'alpha', '{AT}', NULL), (8, 'u-8', 'beta', '{AT}', NULL);
             INSERT INTO acp_messages (session_id, role, content, reasoning_content, created_at) VALUES
               (7, 'user', 'fix it', NULL, '{AT}'), (8, 'user', 'no', NULL, '{AT}'),
               (7, 'assistant', 'done', 'hm', '{AT}');"
    ));
    let (records, counts, _) = home.read(&home.agent("alpha"), false);
    assert_eq!(contents(&records), [("u-7", "user: fix it\n\nassistant: done")]);
    assert_eq!(records[0].source.origin_file.as_deref(), Some("sessions/acp/u-7"));
    assert_eq!((counts.messages, counts.dropped), (2, 1));
}

#[test]
fn secrets_are_replaced_and_a_conversation_that_goes_on_changes_its_last_record() {
    let home = TestHome::new();
    let line = |text: &str| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\n");
    let secret = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let long = "word ".repeat(1200);
    let mut text = [line(&secret), line(&long), line(&long)].concat();
    home.write("a.jsonl", &text);
    let (before, counts, _) = home.read(&home.agent("default"), false);
    assert_eq!((before.len(), counts.redacted), (2, 1));
    assert!(!before[0].content.contains(&secret));
    text.push_str(&line("more"));
    home.write("a.jsonl", &text);
    let (after, _, _) = home.read(&home.agent("default"), false);
    assert_eq!(after[0].content, before[0].content);
    assert_eq!((after[1].id, after.len()), (before[1].id, 2));
    assert!(after[1].content.ends_with("user: more"));
}

#[test]
fn odd_keys_lead_nowhere_and_a_bad_database_is_said() {
    let home = TestHome::new();
    home.database("sessions.db", TABLES, &format!(
        "INSERT INTO sessions (session_key, role, content, created_at) VALUES
               ('../../x', 'user', 'one', '{AT}'), ('..//../x', 'user', 'two', '{AT}'), ('', 'user', 'three', 'never'),
               (x'ff', 'user', 'four', '{AT}');"
    ));
    home.write("acp-sessions.db", "not a database at all, but long enough to be taken for one");
    let (records, counts, warnings) = home.read(&home.agent("default"), false);
    assert_eq!((records.len(), counts.undecodable), (3, 1));
    let mut files: Vec<_> =
        records.iter().map(|record| record.source.origin_file.clone().unwrap()).collect();
    assert!(
        files.iter().all(|file| !file.contains("..") && file.matches('/').count() == 1),
        "{files:?}"
    );
    files.dedup();
    assert_eq!(files.len(), 3);
    assert_eq!(
        warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(),
        ["sessions_unreadable"]
    );
}
