//! What the install knows: vectors, transcripts, credentials.

use std::path::Path;

use anemone_format::Record;
use anemone_testkit::SlowGroup;
use anemone_testkit::database::{Cell, Holder, immutable_rows, sql};
use anemone_testkit::ground::{assert_holds_none, fields, raw, records_of, tree};
use serde_json::json;

use super::{export_fixture, export_only, with_fixture, word};
use crate::support::TestMachine;
use crate::support::transfer::With;

/// Lines of a file that a vector was computed from, and the vector.
type Chunk = (String, u64, u64, Vec<f64>);

/// Reads the chunks of a database of either generation, without the program.
fn chunks(database: &Path, table: &str) -> Vec<Chunk> {
    let query = format!("SELECT path, start_line, end_line, embedding FROM {table}");
    let chunk = |row: Vec<Cell>| {
        let [Cell::Text(path), Cell::Integer(start), Cell::Integer(end), vector] = &row[..] else {
            panic!("{row:?}")
        };
        let [start, end] = [start, end].map(|line| u64::try_from(*line).unwrap());
        let vector = match vector {
            Cell::Text(json) => serde_json::from_str(json).unwrap(),
            Cell::Blob(bytes) => {
                bytes.as_chunks().0.iter().map(|number| f64::from_le_bytes(*number)).collect()
            }
            other => panic!("{other:?}"),
        };
        (path.clone(), start, end, vector)
    };
    immutable_rows(database, &query).into_iter().map(chunk).collect()
}

#[test]
fn vectors_stand_at_the_records_whose_lines_they_were_computed_from() {
    for (generation, database, table, model) in [
        ("gen3", "memory/main.sqlite", "chunks", "openai/text-embedding-3-small"),
        (
            "gen9",
            "agents/main/agent/openclaw-agent.sqlite",
            "memory_index_chunks",
            "openai-compatible/text-embedding-3-small",
        ),
    ] {
        let machine = with_fixture(generation);
        let database = machine.home(".openclaw").join(database);
        let chunks = chunks(&database, table);
        let (exported, snapshot) = export_fixture(&machine, &[]);
        let mut number = 0;
        for record in &snapshot.records {
            let file = record.source.origin_file.as_deref().unwrap();
            let [start, end] =
                ["line_start", "line_end"].map(|value| raw(record)[value].as_u64().unwrap());
            // Blank lines before a heading are in its section, and have no text.
            let blank = record.content.lines().take_while(|line| line.trim().is_empty()).count();
            let start = start + blank as u64;
            let overlaps = |chunk: &&Chunk| chunk.0 == file && chunk.1 <= end && chunk.2 >= start;
            let mut expected: Vec<Vec<f32>> =
                chunks.iter().filter(overlaps).map(|chunk| narrow(&chunk.3)).collect();
            let mut carried: Vec<Vec<f32>> =
                record.embeddings.iter().map(|embedding| embedding.vector.clone()).collect();
            expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
            carried.sort_by(|a, b| a.partial_cmp(b).unwrap());
            assert_eq!(carried, expected, "{generation} {file}:{start}-{end}");
            assert!(!carried.is_empty());
            number += carried.len();
            for embedding in &record.embeddings {
                assert_eq!((&*embedding.model, embedding.dimensions), (model, 64));
                assert_eq!(word(&embedding.source), "runtime");
            }
        }
        assert_eq!(exported["embeddings"], number);
        assert_eq!(exported["warnings"], json!([]));
    }
}

#[expect(clippy::cast_possible_truncation, reason = "an archive has numbers of this size")]
fn narrow(vector: &[f64]) -> Vec<f32> {
    vector.iter().map(|vector| *vector as f32).collect()
}

#[test]
fn without_a_database_there_are_no_vectors_and_no_error() {
    let machine = with_fixture("gen3");
    fs_err::remove_file(machine.home(".openclaw/memory/main.sqlite")).unwrap();
    let (exported, snapshot) = export_fixture(&machine, &[]);
    assert_eq!((&exported["embeddings"], &exported["memory_records"]), (&json!(0), &json!(7)));
    assert!(snapshot.records.iter().all(|record| record.embeddings.is_empty()));
    assert_eq!(exported["warnings"], json!([]));
}

#[test]
fn rows_that_are_only_in_the_log_of_a_live_database_are_read_and_nothing_is_touched() {
    let machine = with_fixture("gen3");
    let database = machine.home(".openclaw/memory/main.sqlite");
    let chunk = |id: &str, number: f32| {
        format!(
            "INSERT INTO chunks VALUES ('{id}', 'memory/project-alpha.md', 'memory', 1, 2, 'h',
             'text-embedding-3-small', 't', '{}', 1794726236228);",
            json!(vec![number; 64])
        )
    };
    let script = format!(
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; {} BEGIN IMMEDIATE; {}",
        chunk("committed", 0.5),
        chunk("open", 0.25)
    );
    let holder = Holder::start(&database, &script);
    let files = || {
        ["main.sqlite", "main.sqlite-wal", "main.sqlite-shm"].map(|name| {
            let path = machine.home(".openclaw/memory").join(name);
            let metadata = fs_err::metadata(&path).unwrap();
            (fs_err::read(&path).unwrap(), metadata.modified().unwrap(), metadata.permissions())
        })
    };
    let before = files();
    assert!(before[1].0.len() > 1000, "rows are in the log");
    let listed: Vec<_> = tree(&machine.home(".openclaw")).into_keys().collect();
    let (exported, snapshot) = export_fixture(&machine, &[]);
    assert!(before == files(), "the files are as they were");
    assert_eq!(listed, tree(&machine.home(".openclaw")).into_keys().collect::<Vec<_>>());
    let record = records_of(&snapshot, "memory/project-alpha.md")[0];
    let has =
        |number: f32| record.embeddings.iter().any(|embedding| embedding.vector == [number; 64]);
    assert!(has(0.5), "what was committed is there: {exported}");
    assert!(!has(0.25), "what was not is not");
    assert_eq!(record.embeddings.len(), 2);
    drop(holder);
}

#[test]
fn a_damaged_database_never_stops_an_export() {
    let machine = with_fixture("gen3");
    let path = machine.home(".openclaw/memory/main.sqlite");
    let sound = fs_err::read(&path).unwrap();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % below as u64).unwrap()
    };
    let mut with_warning = 0;
    for round in 0..SlowGroup::Damage.pick(50, 300) {
        // Half of the time, what says how the rest is laid out.
        let reach = if round % 2 == 0 { sound.len() } else { 4096 };
        let mut bytes = sound.clone();
        for _ in 0..=next(12) {
            bytes[next(reach)] = u8::try_from(next(256)).unwrap();
        }
        if round % 5 == 0 {
            bytes.truncate(next(sound.len()));
        }
        fs_err::write(&path, &bytes).unwrap();
        let exported = export_only(&machine, "a.alf", &[With::DryRun]);
        assert_eq!(exported["memory_records"], 7, "round {round}: {exported}");
        with_warning += i32::from(exported["warnings"] != json!([]));
    }
    assert!(with_warning > 0, "damage is said");
}

#[test]
fn a_database_that_is_something_else_is_said() {
    let machine = with_fixture("gen3");
    for content in [&b"this is no database"[..], b"", b"SQLite format 3\0"] {
        machine.write_home(".openclaw/memory/main.sqlite", content);
        let exported = export_only(&machine, "a.alf", &[With::DryRun]);
        assert_eq!(exported["embeddings"], 0);
        assert_eq!(exported["warnings"] == json!([]), content.is_empty(), "{exported}");
    }
}

#[test]
fn rows_that_make_no_sense_do_not_take_the_good_ones_with_them() {
    let machine = with_fixture("gen3");
    let database = machine.home(".openclaw/memory/main.sqlite");
    let good = format!("'{}'", json!(vec![0.5; 64]));
    let most = 1_u64 << 62;
    for (id, (start, end, vector, updated_at)) in [
        (-5, most, good.as_str(), 1),
        (1, 3, "'[]'", 1),
        (1, 3, "'no'", 1),
        (1, 3, "'[1e999]'", 1),
        (1, 3, "'[\"a\"]'", 1),
        (1, 3, &good, most),
        (1, 3, "x'ff'", 1),
        (1, 3, "'[1,2]'", 1),
    ]
    .into_iter()
    .enumerate()
    {
        sql(
            &database,
            &format!(
                "INSERT INTO chunks VALUES ('0{id}', 'MEMORY.md', 'memory', {start}, {end}, 'h',
                 'text-embedding-3-small', 't', {vector}, {updated_at})"
            ),
        );
    }
    let (exported, snapshot) = export_fixture(&machine, &[]);
    assert_eq!((&exported["embeddings"], &exported["memory_records"]), (&json!(7), &json!(7)));
    for record in &snapshot.records {
        assert!(
            record
                .embeddings
                .iter()
                .all(|embedding| embedding.dimensions == 64 && embedding.vector.len() == 64)
        );
    }
    assert!(machine.validate("a.alf").valid);
}

#[test]
fn views_that_never_end_are_not_read() {
    let machine = TestMachine::new();
    machine.write_home(".openclaw/workspace/MEMORY.md", "## A\n\ntext\n");
    fs_err::create_dir_all(machine.home(".openclaw/memory")).unwrap();
    fs_err::create_dir_all(machine.home(".openclaw/workspace/memory")).unwrap();
    let columns = "i AS id, i AS path, i AS source, i AS start_line, i AS end_line, i AS hash, \
        i AS model, i AS text, i AS embedding, i AS updated_at, i AS entity, i AS key, \
        i AS value, i AS category";
    for (path, view) in [
        (".openclaw/memory/main.sqlite", "chunks"),
        (".openclaw/workspace/memory/facts.db", "facts"),
    ] {
        sql(
            &machine.home(path),
            &format!(
                "CREATE VIEW {view} AS WITH RECURSIVE n(i) AS
                 (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {columns} FROM n"
            ),
        );
    }
    let exported = export_only(&machine, "a.alf", &[]);
    assert_eq!((&exported["memory_records"], &exported["embeddings"]), (&json!(1), &json!(0)));
}

#[test]
fn transcripts_become_records_when_asked_for() {
    for generation in ["gen3", "gen9"] {
        let machine = with_fixture(generation);
        let (exported, plain) = export_fixture(&machine, &[]);
        assert_eq!(exported.get("sessions"), None);
        assert!(plain.records.iter().all(|record| record.namespace != "session"));
        let (exported, snapshot) = export_fixture(&machine, &[With::Sessions, With::Force]);
        let counts = &exported["sessions"];
        assert_eq!((&counts["messages"], &counts["undecodable"]), (&json!(10), &json!(0)));
        let of_session = |record: &&Record| record.namespace == "session";
        let records: Vec<&Record> = snapshot.records.iter().filter(of_session).collect();
        assert!(!records.is_empty());
        for record in &records {
            assert_eq!(word(&record.memory_type), "episodic");
            assert!(record.source.session_id.is_some());
        }
        assert_eq!(snapshot.records.len(), plain.records.len() + records.len());
        let text: String = records.iter().map(|record| record.content.as_str()).collect();
        let said = if generation == "gen3" { "green tea" } else { "memory_search" };
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn what_cannot_be_decoded_of_a_transcript_is_counted_and_keys_are_replaced() {
    let machine = with_fixture("gen3");
    let folder = machine.home(".openclaw/agents/main/sessions");
    let name = "a8c81791-3de4-4ec7-b072-dfaef319477b.jsonl";
    let text = fs_err::read_to_string(folder.join(name)).unwrap();
    let key = "sk-ant-api03-Zx8Qw2Er5Ty7Ui9Op1As3Df6Gh4Jk0LzXcVbNm";
    assert!(text.contains("green tea"));
    let planted = text.replace("green tea", &format!("tea, my key is {key}"));
    let mut lines: Vec<&str> = planted.lines().collect();
    let last = lines.pop().unwrap();
    let half = &last[..last.len() / 2];
    lines.push(half);
    fs_err::write(folder.join(name), lines.join("\n")).unwrap();
    let (exported, snapshot) = export_fixture(&machine, &[With::Sessions]);
    let counts = &exported["sessions"];
    assert_eq!((&counts["undecodable"], &counts["redacted"]), (&json!(1), &json!(1)), "{counts}");
    let text: String = snapshot.records.iter().map(|record| record.content.as_str()).collect();
    assert!(text.contains("tea, my key is") && !text.contains("Zx8Qw2Er5Ty7"));
    assert_holds_none(&machine.read("a.alf"), &["Zx8Qw2Er5Ty7"]);
}

#[test]
fn transcripts_that_were_reset_are_read_too() {
    let machine = with_fixture("gen3");
    let folder = machine.home(".openclaw/agents/main/sessions");
    let name = "a8c81791-3de4-4ec7-b072-dfaef319477b.jsonl";
    let text = fs_err::read_to_string(folder.join(name)).unwrap();
    let other = text
        .replace("a8c81791-3de4-4ec7-b072-dfaef319477b", "b8c81791-3de4-4ec7-b072-dfaef319477b")
        .replace("green tea", "black coffee");
    let reset = "b8c81791-3de4-4ec7-b072-dfaef319477b.jsonl.reset.2026-11-15T07-30-00.000Z";
    fs_err::write(folder.join(reset), other).unwrap();
    let (exported, snapshot) = export_fixture(&machine, &[With::Sessions]);
    assert_eq!(exported["sessions"]["transcripts"], 2, "{exported}");
    assert_eq!(exported["sessions"]["messages"], 20, "{exported}");
    assert!(snapshot.records.iter().any(|record| record.content.contains("black coffee")));
    assert!(snapshot.records.iter().any(|record| record.content.contains("green tea")));
}

#[test]
fn archived_transcripts_in_the_database_are_read_too() {
    let machine = with_fixture("gen9");
    let database = machine.home(".openclaw/agents/main/agent/openclaw-agent.sqlite");
    let head = json!({
        "type": "session", "version": 4, "id": "s2", "timestamp": "2026-11-01T10:00:00.000Z"
    });
    let event = json!({
        "type": "message", "id": "e1", "timestamp": "2026-11-01T10:00:00.000Z",
        "message": { "role": "user", "content": "I like black coffee" }
    });
    let text = format!("{head}\n{event}\n");
    let hash = anemone_format::sha256_hex(text.as_bytes());
    sql(
        &database,
        &format!(
            "INSERT INTO session_transcript_archives VALUES ('s2', 'g1', 'agent:main:main',
             'reset', 'identity', CAST('{text}' AS BLOB), '{hash}', 's2.jsonl.reset.1',
             1794000000000, NULL, 0, NULL, NULL)"
        ),
    );
    let (exported, snapshot) = export_fixture(&machine, &[With::Sessions]);
    assert_eq!(exported["sessions"]["messages"], 11, "{exported}");
    assert_eq!(exported["sessions"]["undecodable"], 0, "{exported}");
    assert!(snapshot.records.iter().any(|record| record.content.contains("black coffee")));
}

#[test]
fn credentials_of_the_newer_generation_are_metadata() {
    let machine = with_fixture("gen9");
    let database = machine.home(".openclaw/state/openclaw.sqlite");
    let store = json!({ "version": 1, "profiles": {
        "openai:default": { "type": "api_key", "provider": "openai", "key": "HUSH-KEY-1" },
        "x:manual": {
            "type": "token", "provider": "x", "token": "HUSH-TOKEN-2", "expires": 1_900_000_000_000_u64
        },
    } });
    sql(
        &database,
        &format!(
            "INSERT INTO config_machine_state VALUES
             ('authProfiles.store', '{store}', 1794000000000)"
        ),
    );
    let (exported, snapshot) = export_fixture(&machine, &[]);
    assert_eq!(exported["credentials_count"], 2);
    assert_holds_none(&machine.read("a.alf"), &["HUSH"]);
    let credentials = serde_json::to_value(snapshot.credentials.unwrap()).unwrap();
    let services = fields(&credentials["credentials"], "service");
    assert!(services.contains(&"openai") && services.contains(&"x"), "{credentials}");
    machine.vault_key("key");
    let sealing = [With::VaultKey("key"), With::Force];
    let (exported, _) = export_fixture(&machine, &sealing);
    assert_eq!(exported["credentials_sealed"], 2);
    assert_holds_none(&machine.read("a.alf"), &["HUSH"]);
}
