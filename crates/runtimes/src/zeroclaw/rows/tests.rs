use proptest::prelude::*;
use rusqlite::types::Value as Sql;

use super::super::brain::tests::{brain, rows, shape};
use super::*;

fn shared(alias: &str) -> ReadingContext<'_> {
    ReadingContext {
        agent_id: "9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap(),
        alias,
        identity_version: Some(1),
        embedding: None,
        fallback: "2026-02-01T00:00:00Z".parse().unwrap(),
        embeddings: true,
        stamps: StampTable::default(),
    }
}

/// Makes the records of a database, and compares each row with the one restored from its record.
fn read(brain: &Brain, shared: &ReadingContext<'_>) -> (Vec<Record>, Vec<Warning>) {
    let mut reader = RowReader::new(brain, shared, HashSet::new()).unwrap();
    let (rows, _) = rows(brain, shared.alias, true);
    let mut records = Vec::new();
    for row in &rows {
        let record = reader.record(&brain.columns, row);
        let text = serde_json::to_string(&record).unwrap();
        let record: Record = serde_json::from_str(&text).unwrap();
        assert!(!record.content.is_empty());
        let raw = raw_of(&record).unwrap();
        assert_eq!(raw.rowid, Some(row.rowid));
        for (name, value) in brain.columns.iter().zip(&row.cells) {
            let own = name == "agent_id" && brain.agent(shared.alias).is_some();
            let away = name == "embedding" && !shared.embeddings;
            if !own && !away && !raw.cut.contains(name) {
                assert_eq!(raw.cell(name), value, "{name} in {text}");
            }
        }
        records.push(record);
    }
    let warnings = reader.warnings();
    (records, warnings)
}

fn records(sql: &str) -> Vec<Record> {
    let (records, warnings) = read(&brain(sql).unwrap(), &shared("default"));
    assert_eq!(warnings, []);
    records
}

const ID: &str = "fe5d40c8-28e0-486b-91ce-e98a60da5a30";

#[test]
fn a_row_of_the_newest_shape_becomes_a_record_with_all_it_says() {
    let sql = format!(
        "{} INSERT INTO memories VALUES ('{ID}', 'user_timezone', 'Pacific Time', 'core',
             x'0000003f000080bf', '2026-11-15T07:17:26.711990613+02:00',
             '2026-11-15T08:17:26.711990613+02:00', 's-1', 'default', 0.75, NULL, 'a-1',
             '{{\"semantic\":\"preference\"}}', 1, NULL, NULL);",
        shape("G")
    );
    let record = records(&sql).remove(0);
    assert_eq!(record.id.to_string(), ID);
    assert_eq!(record.content, "Pacific Time");
    assert_eq!(record.memory_type, MemoryType::Preference);
    assert_eq!(record.namespace, "core");
    assert_eq!(record.category.as_deref(), Some("core"));
    assert_eq!(record.tags, ["core", "zeroclaw"]);
    assert_eq!(record.source.runtime, "zeroclaw");
    // The manifest names the version: an upgrade of the runtime changes no record.
    assert_eq!(record.source.runtime_version, None);
    assert_eq!(record.source.origin.as_deref(), Some("sqlite"));
    assert_eq!(record.source.origin_file, None);
    assert_eq!(record.source.session_id.as_deref(), Some("s-1"));
    assert_eq!(record.source.extraction_method, Some(ExtractionMethod::AgentWritten));
    assert_eq!(record.source.identity_version, Some(1));
    assert_eq!(record.temporal.created_at.as_str(), "2026-11-15T07:17:26.711990613+02:00");
    let updated_at = record.temporal.updated_at.as_ref().unwrap();
    assert_eq!(updated_at.as_str(), "2026-11-15T08:17:26.711990613+02:00");
    assert_eq!(record.status, Status::Active);
    assert_eq!(record.confidence, Some(0.75));
    let [embedding] = &record.embeddings[..] else { panic!("one vector") };
    assert_eq!(embedding.model, "openai/text-embedding-3-small");
    assert_eq!(embedding.provider.as_deref(), Some("openai"));
    assert_eq!((embedding.dimensions, &embedding.vector[..]), (2, &[0.5, -1.0][..]));
    assert_eq!(&embedding.computed_at, updated_at);
    assert_eq!(
        record.raw_source_format.unwrap().as_str(),
        r#"{"key":"user_timezone","rowid":1,"row":{"id":"fe5d40c8-28e0-486b-91ce-e98a60da5a30","key":"user_timezone","category":"core","created_at":"2026-11-15T07:17:26.711990613+02:00","updated_at":"2026-11-15T08:17:26.711990613+02:00","session_id":"s-1","namespace":"default","importance":0.75,"superseded_by":null,"kind":"{\"semantic\":\"preference\"}","pinned":1,"tenant_id":null,"principal_id":null}}"#
    );
    assert_eq!(record.unknown.get("extra"), Some(r#"{"zeroclaw_key":"user_timezone"}"#));
}

#[test]
fn kinds_and_categories_make_types_and_shelves() {
    let kind = |kind: &str| Value::Text(kind.to_owned());
    for (value, category, expected) in [
        (Value::Null, Some("core"), MemoryType::Semantic),
        (Value::Null, Some("daily"), MemoryType::Episodic),
        (Value::Null, Some("conversation"), MemoryType::Episodic),
        (Value::Null, Some("procedural"), MemoryType::Procedural),
        (Value::Null, Some("custom:procedural"), MemoryType::Procedural),
        (Value::Null, Some("Daily"), MemoryType::Semantic),
        (Value::Null, None, MemoryType::Semantic),
        (kind("\"episodic\""), Some("core"), MemoryType::Episodic),
        (kind("\"procedural\""), Some("core"), MemoryType::Procedural),
        (kind("{\"semantic\":\"preference\"}"), Some("daily"), MemoryType::Preference),
        (kind("{\"semantic\":\"decision\"}"), Some("daily"), MemoryType::Semantic),
        (kind("what?"), Some("daily"), MemoryType::Episodic),
    ] {
        assert_eq!(memory_type(&value, category), expected, "{value:?} {category:?}");
    }
    for (category, expected) in [
        (Some("core"), "core"),
        (Some("daily"), "daily"),
        (Some("conversation"), "conversation"),
        (Some("Core"), "custom:Core"),
        (Some("recipes"), "custom:recipes"),
        (Some("custom:recipes"), "custom:recipes"),
        (None, "core"),
    ] {
        assert_eq!(namespace(category), expected);
    }
}

#[test]
fn keys_tell_who_wrote_a_row() {
    use Writer::{Agent, AutoSave, Consolidation, Import};
    for (key, category, session, expected) in [
        ("user_msg", "conversation", None, AutoSave),
        ("user_msg_fe5d40c8-28e0-486b-91ce-e98a60da5a30", "conversation", None, AutoSave),
        ("user_msgs", "conversation", None, Agent),
        ("assistant_resp", "daily", None, AutoSave),
        ("webhook_msg_fe5d40c8-28e0-486b-91ce-e98a60da5a30", "conversation", None, AutoSave),
        ("telegram_42_1001", "conversation", Some("telegram.work_42_7_alice"), AutoSave),
        ("telegram_42_1001", "core", Some("telegram_42_alice"), Agent),
        ("telegram_42_1001", "conversation", None, Agent),
        ("whatsapp_491_7", "conversation", None, AutoSave),
        ("assistant_autosave_7", "conversation", None, AutoSave),
        ("heartbeat_fe5d40c8-28e0-486b-91ce-e98a60da5a30", "daily", None, AutoSave),
        ("heartbeat_rate", "core", None, Agent),
        ("run-7", "sop", None, AutoSave),
        ("discord_1234", "discord", Some("general"), AutoSave),
        ("daily_2026-03-15_fe5d40c8-28e0-486b-91ce-e98a60da5a30", "daily", None, Consolidation),
        ("core_fe5d40c8-28e0-486b-91ce-e98a60da5a30", "core", None, Consolidation),
        ("core_fact_fe5d40c8-28e0-486b-91ce-e98a60da5a30", "core", None, Consolidation),
        ("core_values", "core", None, Agent),
        ("openclaw_3", "core", None, Import),
        ("openclaw_MEMORY_12", "core", None, Import),
        ("tea__openclaw_2", "core", None, Import),
        ("openclaw_habits", "core", None, Agent),
        ("", "", None, Agent),
    ] {
        assert_eq!(Writer::of(key, Some(category), session), expected, "{key}");
    }
}

#[test]
fn what_a_program_saved_by_itself_is_told_by_a_tag_and_a_known_word() {
    let sql = format!(
        "{} INSERT INTO memories VALUES ('{ID}', 'user_msg', 'x', 'conversation', 't', 't');",
        shape("A")
    );
    let (records, _) = read(&brain(&sql).unwrap(), &shared("default"));
    assert_eq!(records[0].tags, ["conversation", "zeroclaw", "auto_save"]);
    let method = records[0].source.extraction_method.as_ref().unwrap();
    assert!(ExtractionMethod::WORDS.contains(&method.as_str()));
    assert_eq!(*method, ExtractionMethod::LlmExtracted);
}

#[test]
fn ids_are_kept_or_derived_and_never_shared() {
    let sql = format!(
        "CREATE TABLE memories (id TEXT, key TEXT);
             INSERT INTO memories VALUES ('{ID}', 'a'), ('{ID}', 'b'), ('note-1', 'c'),
             ('note-2', 'c'), (NULL, NULL), (NULL, NULL), ('{}', 'd'), (x'00', 'e'),
             ('ABCDEF00-0000-4000-8000-00000000000A', 'f');",
        ID.to_uppercase()
    );
    let (records, _) = read(&brain(&sql).unwrap(), &shared("default"));
    let ids: HashSet<_> = records.iter().map(|record| record.id).collect();
    assert_eq!(ids.len(), 9);
    assert_eq!(records[0].id.to_string(), ID);
    // uuid5(7a65726f-636c-6177-2d61-6c662d6e7331, "default:c") and so on, by Python.
    assert_eq!(records[2].id.to_string(), "769d8151-6622-56ce-ab0d-1de9933c2240");
    assert_eq!(records[3].id.to_string(), "7d6e0b80-355c-5e01-9a08-d48f643449c5");
    assert_eq!(records[4].id.to_string(), "45c778ce-36a6-5619-b0d7-51e620c37696");
    // The id of the first row, in upper case; another one in upper case is used as it is.
    assert_eq!(records[6].id.to_string(), "54c7271c-ebbc-5870-b991-6c82149cd9fa");
    assert_eq!(records[8].id.to_string(), "abcdef00-0000-4000-8000-00000000000a");
    let again = read(&brain(&sql).unwrap(), &shared("default")).0;
    assert_eq!(records, again);
}

#[test]
fn times_are_read_in_every_way_and_the_text_stays() {
    for (created, updated, expected) in [
        ("'2026-01-15 10:30:00'", "'2026-01-15 10:30:00'", ("2026-01-15T10:30:00Z", None)),
        ("'1768473000'", "NULL", ("2026-01-15T10:30:00Z", None)),
        ("1768473000000", "NULL", ("2026-01-15T10:30:00Z", None)),
        (
            "'2026-01-15T10:30:00Z'",
            "'2026-01-15T10:31:00Z'",
            ("2026-01-15T10:30:00Z", Some("2026-01-15T10:31:00Z")),
        ),
        (
            "'2026-01-15T10:30:00+01:00'",
            "'2026-01-15T09:30:00Z'",
            ("2026-01-15T10:30:00+01:00", None),
        ),
        ("'soon'", "'2026-01-15T10:31:00Z'", ("2026-01-15T10:31:00Z", None)),
        ("NULL", "'never'", ("2026-02-01T00:00:00Z", None)),
    ] {
        let sql = format!(
            "CREATE TABLE memories (key TEXT, created_at TEXT, updated_at TEXT);
                 INSERT INTO memories VALUES ('a', {created}, {updated});"
        );
        let (records, warnings) = read(&brain(&sql).unwrap(), &shared("default"));
        let temporal = &records[0].temporal;
        let updated_at = temporal.updated_at.as_ref().map(Moment::as_str);
        assert_eq!((temporal.created_at.as_str(), updated_at), expected, "{created} {updated}");
        assert_eq!(warnings.len(), usize::from(created == "NULL"), "{warnings:?}");
    }
    let sql = format!(
        "{} INSERT INTO memories VALUES ('{ID}', 'a', 'x', 'core', '2026-01-15T10:30:00Z', NULL);",
        shape("seed")
    );
    assert_eq!(records(&sql)[0].temporal.created_at.as_str(), "2026-01-15T10:30:00Z");
}

#[test]
fn what_replaces_a_row_is_found_by_id_and_by_key() {
    let other = "b1e2d205-620d-4007-9284-0195bd0192b2";
    let third = "9dc10536-ea25-4667-840d-05aa1b957f3b";
    let row = |id: &str, key: &str, by: &str| {
        format!(
            "INSERT INTO memories (id, key, content, created_at, updated_at, superseded_by)
                 VALUES ('{id}', '{key}', 'x', '2026-01-15T10:30:00Z', '2026-01-15T10:30:00Z', {by});"
        )
    };
    let sql = [
        shape("D"),
        &row(ID, "old", "'new'"),
        &row(other, "older", &format!("'{third}'")),
        &row(third, "new", "NULL"),
        &row("e", "lost", "'nobody'"),
        &row("f", "self", "'self'"),
        &row("g", "empty", "''"),
    ]
    .concat();
    let (records, warnings) = read(&brain(&sql).unwrap(), &shared("default"));
    let relations = |record: &Record| -> Vec<(String, String)> {
        let one = |relation: &Relation| (relation.relation.clone(), relation.id.to_string());
        record.related_records.iter().map(one).collect()
    };
    for record in &records[..2] {
        assert_eq!(record.status, Status::Superseded);
        assert_eq!(relations(record), [("superseded_by".to_owned(), third.to_owned())]);
    }
    assert_eq!(records[2].status, Status::Active);
    let mut olds = vec![records[2].supersedes.unwrap().to_string()];
    olds.extend(relations(&records[2]).into_iter().map(|(_, id)| id));
    assert_eq!(olds, [ID, other]);
    for record in &records[3..] {
        assert_eq!((record.status.clone(), relations(record)), (Status::Superseded, vec![]));
    }
    assert_eq!(warnings[0].code, "links_unresolved");
    assert!(warnings[0].message.ends_with(": 3"), "{warnings:?}");
}

#[test]
fn a_link_does_not_lead_to_another_agent() {
    let sql = "CREATE TABLE agents (id TEXT, alias TEXT, created_at TEXT);
            INSERT INTO agents VALUES ('1', 'default', 't'), ('2', 'alpha', 't');
            CREATE TABLE memories (key TEXT, superseded_by TEXT, agent_id TEXT);
            INSERT INTO memories VALUES ('old', 'new', '1'), ('new', NULL, '2'), ('old', 'new', '2');";
    let brain = brain(sql).unwrap();
    let (default, _) = read(&brain, &shared("default"));
    assert_eq!(default[0].related_records, []);
    let (alpha, _) = read(&brain, &shared("alpha"));
    assert_eq!(alpha[0].supersedes, Some(alpha[1].id));
    assert_ne!(default[0].id, alpha[1].id);
}

#[test]
fn a_vector_says_how_sure_its_model_is() {
    let sql = "CREATE TABLE memories (key TEXT, embedding BLOB, created_at TEXT);
            INSERT INTO memories VALUES ('a', x'0000003f000080bf', '2026-01-15T10:30:00Z');";
    let brain = brain(sql).unwrap();
    let model = |shared: &ReadingContext<'_>| {
        let record = read(&brain, shared).0.remove(0);
        let raw: Json = record.raw_source_format.unwrap().parse().unwrap();
        (record.embeddings[0].model.clone(), raw["vector"].as_str().map(str::to_owned))
    };
    let mut shared = shared("default");
    assert_eq!(model(&shared), ("unknown/unknown".to_owned(), Some("unknown".to_owned())));
    shared.embedding = Some(EmbeddingSettings {
        provider: "openai".to_owned(),
        model: "m".to_owned(),
        dimensions: None,
    });
    assert_eq!(model(&shared), ("openai/m".to_owned(), Some("config".to_owned())));
    shared.embeddings = false;
    let record = read(&brain, &shared).0.remove(0);
    assert_eq!(record.embeddings, []);
    assert_eq!(*raw_of(&record).unwrap().cell("embedding"), Value::Null);
}

#[test]
fn bytes_that_are_no_vector_stay_in_the_row() {
    let sql = format!(
        "{} INSERT INTO memories (id, key, content, embedding, created_at, updated_at) VALUES
             (1, 'a', 'x', x'000000', '2026-01-15T10:30:00Z', '2026-01-15T10:30:00Z'),
             (2, 'b', 'x', x'', '2026-01-15T10:30:00Z', '2026-01-15T10:30:00Z'),
             (3, 'c', 'x', x'0000003f', '2026-01-15T10:30:00Z', '2026-01-15T10:30:00Z'),
             (4, 'd', 'x', x'0000003f0000807f', '2026-01-15T10:30:00Z', '2026-01-15T10:30:00Z'),
             (5, 'e', 'x', 'text', '2026-01-15T10:30:00Z', '2026-01-15T10:30:00Z'),
             (6, 'f', 'x', NULL, '2026-01-15T10:30:00Z', '2026-01-15T10:30:00Z');",
        shape("G")
    );
    let (records, warnings) = read(&brain(&sql).unwrap(), &shared("default"));
    assert!(records.iter().all(|record| record.embeddings.is_empty()));
    assert_eq!(warnings[0].code, "vectors_malformed");
    assert!(warnings[0].message.ends_with(": 5"), "{warnings:?}");
}

#[test]
fn every_vector_comes_back_to_the_bit() {
    let numbers = [0.0_f32, -0.0, 1e-45, f32::MIN_POSITIVE, f32::MAX, -0.1, 16_777_217.0];
    let hex: String = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .map(|value| format!("{value:02x}"))
        .collect();
    let sql = format!(
        "CREATE TABLE memories (key TEXT, embedding BLOB, created_at TEXT);
             INSERT INTO memories VALUES ('a', x'{hex}', '2026-01-15T10:30:00Z');"
    );
    assert_eq!(records(&sql)[0].embeddings[0].vector.len(), 7);
}

#[test]
fn a_content_that_is_none_is_told_by_the_key() {
    let sql = "CREATE TABLE memories (key TEXT, content, created_at TEXT DEFAULT 1768473000);
            INSERT INTO memories (key, content) VALUES ('a', ''), ('b', NULL), ('', ''), ('d', 7),
            ('e', CAST(x'61ff' AS TEXT)), ('f', x'6162'), ('g', ' ');";
    let contents: Vec<_> = records(sql).into_iter().map(|record| record.content).collect();
    assert_eq!(contents, ["a", "b", "row 3", "7", "a\u{fffd}", "ab", " "]);
}

#[test]
fn a_content_that_was_edited_counts_before_the_row() {
    let sql = "CREATE TABLE memories (key TEXT, content, created_at TEXT DEFAULT 1768473000);
            INSERT INTO memories (key, content) VALUES ('a', '');";
    let mut record = records(sql).remove(0);
    assert_eq!(*raw_of(&record).unwrap().cell("content"), Value::Text(String::new()));
    record.content = "new".to_owned();
    assert_eq!(*raw_of(&record).unwrap().cell("content"), Value::Text("new".to_owned()));
}

#[test]
fn a_row_that_is_too_long_travels_in_part_and_says_so() {
    let sql = "CREATE TABLE memories (key TEXT, content TEXT, created_at TEXT, x);
            INSERT INTO memories VALUES
            ('a', printf('%.*c', 70000000, 'x'), '2026-01-15T10:30:00Z', 1),
            ('b', printf('%.*c', 45000000, 'y'), '2026-01-15T10:30:00Z', zeroblob(20000000)),
            ('c', 'z', '2026-01-15T10:30:00Z', zeroblob(20000000));";
    let brain = brain(sql).unwrap();
    let shared = shared("default");
    let mut reader = RowReader::new(&brain, &shared, HashSet::new()).unwrap();
    let mut found = Vec::new();
    brain
        .each_row::<DatabaseError>("default", false, &mut |row| {
            let record = reader.record(&brain.columns, &row);
            let raw = raw_of(&record).unwrap();
            let length = serde_json::to_vec(&record).unwrap().len();
            assert!(length < 64 << 20, "{length}");
            found.push((record.content.len(), raw.cut));
            Ok(())
        })
        .unwrap();
    let cut = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(found[0], (1, cut(&["content"])));
    assert_eq!(found[1], (40 << 20, cut(&["content", "x"])));
    assert_eq!(found[2], (1, cut(&["x"])));
    assert_eq!(reader.warnings()[0].code, "rows_cut");
}

#[test]
fn long_labels_do_not_multiply() {
    let sql = "CREATE TABLE memories (key TEXT, category TEXT, session_id TEXT, created_at);
            INSERT INTO memories VALUES (printf('%.*c', 2000000, 'k'), printf('%.*c', 2000000, 'c'),
            printf('%.*c', 2000000, 's'), 1768473000);";
    let record = records(sql).remove(0);
    assert!(serde_json::to_vec(&record).unwrap().len() < 7_000_000);
}

#[test]
fn keys_of_somebodys_own_rows_are_read() {
    let read = |key| private_key(key).map(|key| (key.principal.to_owned(), key.key.to_owned()));
    let pair = |principal: &str, key: &str| Some((principal.to_owned(), key.to_owned()));
    assert_eq!(
        read("p|12:principal-427:default-|secret_pref"),
        pair("principal-42", "secret_pref")
    );
    assert_eq!(read("p|3:a:b3:opst0:|k:1"), pair("a:b", "k:1"));
    for key in ["", "p|", "p|9:a", "p|1:é1:x-|k", "p|1:a1:b|k", "p|99999999999999999999:a"] {
        assert_eq!(read(key), None, "{key}");
    }
}

#[test]
fn what_is_not_of_a_row_gives_none_back() {
    let sql = "CREATE TABLE memories (key TEXT, created_at); INSERT INTO memories VALUES ('a', 1768473000);";
    let record = records(sql).remove(0);
    let with = |raw: &str| {
        let raw = serde_json::from_str(raw).unwrap();
        raw_of(&Record { raw_source_format: Some(raw), ..record.clone() })
    };
    assert!(with(r#"{"key":"a","rowid":null,"row":{"x":{"blob":"AA=="}}}"#).is_some());
    for raw in [
        r#"{"key":"a","category":"core"}"#,
        r#"{"key":1,"row":{}}"#,
        r#"{"key":"a","row":{"x":[1]}}"#,
        r#"{"key":"a","row":{"x":1,"X":2}}"#,
        r#"{"key":"a","row":{"x":{"blob":"*"}}}"#,
    ] {
        assert_eq!(with(raw), None, "{raw}");
    }
    let mut foreign = record.clone();
    foreign.source.runtime = "openclaw".to_owned();
    assert_eq!(raw_of(&foreign), None);
}

const COLUMNS: [&str; 20] = [
    "id",
    "key",
    "content",
    "category",
    "embedding",
    "created_at",
    "updated_at",
    "timestamp",
    "session_id",
    "namespace",
    "importance",
    "superseded_by",
    "agent_id",
    "kind",
    "pinned",
    "tenant_id",
    "principal_id",
    "mood",
    "odd \"name\"",
    "é",
];

fn cell() -> impl Strategy<Value = Sql> {
    prop_oneof![
        Just(Sql::Null),
        any::<i64>().prop_map(Sql::Integer),
        any::<f64>().prop_filter("SQLite has none", |value| !value.is_nan()).prop_map(Sql::Real),
        "\\PC{0,12}|core|daily|p\\|1:a1:b-\\|k|a|b".prop_map(Sql::Text),
        proptest::collection::vec(any::<u8>(), 0..16).prop_map(Sql::Blob),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn a_table_of_any_columns_gives_a_record_for_every_row(
        columns in proptest::sample::subsequence(COLUMNS.to_vec(), 1..=20).prop_shuffle(),
        cells in proptest::collection::vec(proptest::collection::vec(cell(), 20), 0..6),
        has_agents: bool,
    ) {
        let home = tempfile::TempDir::new().unwrap();
        let path = home.path().join("brain.db");
        let connection = rusqlite::Connection::open(&path).unwrap();
        let names: Vec<_> =
            columns.iter().map(|column| format!("\"{}\"", column.replace('"', "\"\""))).collect();
        connection.execute(&format!("CREATE TABLE memories ({})", names.join(",")), []).unwrap();
        if has_agents {
            connection.execute_batch("CREATE TABLE agents (id TEXT, alias TEXT);
                    INSERT INTO agents VALUES ('a', 'default');").unwrap();
        }
        let places = vec!["?"; columns.len()].join(",");
        for row in &cells {
            let row = rusqlite::params_from_iter(&row[..columns.len()]);
            connection.execute(&format!("INSERT INTO memories VALUES ({places})"), row).unwrap();
        }
        drop(connection);
        let machine = crate::kit::database::tests::machine(home.path());
        let brain = Brain::open(&machine, &path).unwrap().unwrap();
        let (records, _) = read(&brain, &shared("default"));
        prop_assert_eq!(records.len(), cells.len());
        let ids: HashSet<_> = records.iter().map(|record| record.id).collect();
        prop_assert_eq!(ids.len(), records.len());
    }
}
