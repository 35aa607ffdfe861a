//! Vectors that come along with what is searched are not asked for again.

use anemone_testkit::write_database;
use serde_json::{Value, json};

use crate::environment::TestEnvironment;
use anemone_testkit::services::Service;

/// Runs the program with a key; it succeeds.
#[track_caller]
fn ok(environment: &TestEnvironment, args: &[&str]) -> Value {
    let output = environment
        .command()
        .env("OPENAI_API_KEY", "sk-test")
        .args(args)
        .output()
        .expect("it starts");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    assert_eq!((output.status.code(), &document["ok"]), (Some(0), &json!(true)), "{document}");
    document
}

/// Settles on a service and its model.
fn settle(environment: &TestEnvironment, service: &Service, model: &str) {
    let url = service.url();
    let config =
        format!("[embedding.openai]\nurl = \"{url}\"\nmodel = \"{model}\"\ndimensions = 16\n");
    environment.write_home(".config/anemone/config.toml", config);
}

/// Returns every text that a service was asked for.
fn asked(service: &Service) -> Vec<String> {
    let mut texts: Vec<String> =
        service.requests().into_iter().flat_map(|request| request.texts).collect();
    texts.sort();
    texts
}

/// A vector of sixteen numbers, which are zeros but for one.
fn vector(place: usize) -> [f32; 16] {
    std::array::from_fn(|at| if at == place { 1.0 } else { 0.0 })
}

fn hex(bytes: impl IntoIterator<Item = u8>) -> String {
    let digits: String = bytes.into_iter().map(|byte| format!("{byte:02x}")).collect();
    format!("x'{digits}'")
}

const ROWS: [&str; 3] = [
    "Ann drinks green tea in the morning.",
    "The router hangs in the hall.",
    "Beans were planted in April.",
];
/// A row that has no vector.
const BARE: &str = "The violin needs a new string.";

/// An install of ZeroClaw whose rows have vectors of the model `bag`.
fn zeroclaw() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write_below("zc/data/memory/x", "");
    let mut script = "CREATE TABLE memories(id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE,
          content TEXT NOT NULL, category TEXT NOT NULL DEFAULT 'core', embedding BLOB,
          created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
        CREATE TABLE memory_meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
        INSERT INTO memory_meta VALUES ('embedding_provider', 'openai'),
          ('embedding_model', 'bag'), ('embedding_dimensions', '16');"
        .to_owned();
    for (at, text) in ROWS.into_iter().chain([BARE]).enumerate() {
        let blob = match text {
            BARE => "NULL".to_owned(),
            _ => hex(vector(at).into_iter().flat_map(f32::to_le_bytes)),
        };
        script.push_str(&format!(
            "INSERT INTO memories VALUES ('{at}', 'k{at}', '{text}', 'core', {blob},
               '2026-01-15T00:00:00Z', '2026-01-15T00:00:00Z');"
        ));
    }
    write_database(&environment.path("zc/data/memory/brain.db"), &script)
        .expect("it can be written");
    environment
}

const ZEROCLAW: [&str; 7] = ["index", "-r", "zeroclaw", "-w", "zc", "--embedder", "openai"];

#[test]
fn rows_with_vectors_of_the_model_are_not_sent() {
    let (environment, service) = (zeroclaw(), Service::start());
    settle(&environment, &service, "bag");
    let plan = ok(&environment, &[&ZEROCLAW[..], &["--dry-run"]].concat());
    assert_eq!((&plan["texts"], &plan["known"]), (&json!(1), &json!(3)), "{plan}");
    let environment = zeroclaw();
    settle(&environment, &service, "bag");
    let indexed = ok(&environment, &ZEROCLAW);
    let filled = &indexed["filled"];
    assert_eq!((&filled["reused"], &filled["embedded"]), (&json!(3), &json!(1)), "{indexed}");
    assert_eq!((&filled["known"], &filled["missing"]), (&json!(0), &json!(0)), "{indexed}");
    assert_eq!(asked(&service), [BARE]);
}

#[test]
fn rows_with_vectors_of_another_model_are_all_sent() {
    let (environment, service) = (zeroclaw(), Service::start());
    settle(&environment, &service, "sack");
    let indexed = ok(&environment, &ZEROCLAW);
    let filled = &indexed["filled"];
    assert_eq!((&filled["reused"], &filled["embedded"]), (&json!(0), &json!(4)), "{indexed}");
    let mut all = [&ROWS[..], &[BARE]].concat();
    all.sort_unstable();
    assert_eq!(asked(&service), all);
}

#[test]
fn a_row_that_comes_with_a_vector_is_not_sent_at_a_search() {
    let (environment, service) = (zeroclaw(), Service::start());
    settle(&environment, &service, "bag");
    ok(&environment, &ZEROCLAW);
    let blob = hex(vector(9).into_iter().flat_map(f32::to_le_bytes));
    let script = format!(
        "INSERT INTO memories VALUES ('9', 'k9', 'A postcard from Zanzibar.', 'core', {blob},
           '2026-01-16T00:00:00Z', '2026-01-16T00:00:00Z');"
    );
    write_database(&environment.path("zc/data/memory/brain.db"), &script)
        .expect("it can be written");
    let answer = ok(&environment, &["search", "zanzibar", "-r", "zeroclaw", "-w", "zc"]);
    assert!(answer["model"].as_str().is_some_and(|answer| answer.starts_with("bag@")), "{answer}");
    assert_eq!(answer["vectors"][0]["missing"], 0, "{answer}");
    assert_eq!(asked(&service), [BARE, "zanzibar"], "{answer}");
}

#[test]
fn an_archive_brings_its_vectors() {
    let (environment, service) = (zeroclaw(), Service::start());
    settle(&environment, &service, "bag");
    ok(&environment, &["export", "-r", "zeroclaw", "-w", "zc", "-o", "zc.alf"]);
    let indexed = ok(&environment, &["index", "zc.alf", "--embedder", "openai"]);
    let filled = &indexed["filled"];
    assert_eq!((&filled["reused"], &filled["embedded"]), (&json!(3), &json!(1)), "{indexed}");
    assert_eq!(asked(&service), [BARE]);
}

const WORKSPACE: &str = ".openclaw/workspace";
const MEMORY: &str = "- Ann drinks green tea.\n- The router hangs in the hall.";
const NOTE: &str = "Beans were planted in April.";

/// An install of OpenClaw whose index has vectors of the model `bag`: of a chunk, and in its cache.
fn openclaw() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write_home(".openclaw/openclaw.json", "{}");
    environment.write_home(&format!("{WORKSPACE}/MEMORY.md"), MEMORY);
    environment.write_home(&format!("{WORKSPACE}/memory/garden.md"), NOTE);
    environment.write_home(".openclaw/memory/x", "");
    let vector = json!(vector(3)).to_string();
    let hash = |text: &str| anemone_format::sha256_hex(text.as_bytes());
    let script = format!(
        r#"CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
           INSERT INTO meta VALUES ('memory_index_meta_v1', '{{"provider":"openai","model":"bag"}}');
           CREATE TABLE files(path TEXT PRIMARY KEY, source TEXT, hash TEXT, mtime, size);
           CREATE TABLE chunks(id TEXT PRIMARY KEY, path TEXT, source TEXT, start_line INTEGER,
             end_line INTEGER, hash TEXT, model TEXT, text TEXT, embedding TEXT, updated_at);
           INSERT INTO chunks VALUES ('1', 'MEMORY.md', 'memory', 1, 2, '{}', 'bag', '{MEMORY}',
             '{vector}', 1768435200000);
           CREATE TABLE embedding_cache(provider TEXT, model TEXT, provider_key TEXT, hash TEXT,
             embedding TEXT, dims INTEGER, updated_at INTEGER);
           INSERT INTO embedding_cache VALUES ('openai', 'bag', 'k', '{}', '{vector}', 16, 0);"#,
        hash(MEMORY),
        hash(NOTE),
    );
    write_database(&environment.home(".openclaw/memory/main.sqlite"), &script)
        .expect("it can be written");
    environment
}

#[test]
fn the_index_of_openclaw_serves_its_own_ranking() {
    let (environment, service) = (openclaw(), Service::start());
    settle(&environment, &service, "bag");
    let workspace = environment.home(WORKSPACE);
    let workspace = workspace.to_str().unwrap();
    let search = |more: &[&str]| {
        let args = ["search", "tea", "-r", "openclaw", "-w", workspace, "--embedder", "openai"];
        ok(&environment, &[&args[..], more].concat())
    };
    let answer = search(&["--profile", "openclaw-2026.3"]);
    assert_eq!(answer["vectors"][0]["chunks"], 2, "{answer}");
    assert_eq!(asked(&service), ["tea"], "{answer}");
}

#[test]
fn an_archive_of_openclaw_says_of_which_text_a_vector_is() {
    let (environment, service) = (openclaw(), Service::start());
    settle(&environment, &service, "bag");
    let workspace = environment.home(WORKSPACE);
    let workspace = workspace.to_str().unwrap();
    ok(&environment, &["export", "-r", "openclaw", "-w", workspace, "-o", "oc.alf"]);
    let args = ["search", "tea", "oc.alf", "--embedder", "openai", "--profile", "openclaw-2026.3"];
    ok(&environment, &args);
    // The cache does not travel, so one of the two texts is new.
    assert_eq!(asked(&service), [NOTE, "tea"]);
}

#[test]
fn a_database_that_cannot_be_read_costs_its_vectors_and_is_said() {
    let (environment, service) = (openclaw(), Service::start());
    settle(&environment, &service, "bag");
    let broken = "no database, surely no database".repeat(50);
    environment.write_home(".openclaw/memory/main.sqlite", broken);
    let workspace = environment.home(WORKSPACE);
    let workspace = workspace.to_str().unwrap();
    let args = ["index", "-r", "openclaw", "-w", workspace, "--embedder", "openai"];
    let indexed = ok(&environment, &args);
    let filled = &indexed["filled"];
    assert_eq!((&filled["reused"], &filled["missing"]), (&json!(0), &json!(0)), "{indexed}");
    let codes: Vec<_> =
        indexed["warnings"].as_array().unwrap().iter().map(|array| &array["code"]).collect();
    assert_eq!(codes, ["carried_unreadable"], "{indexed}");
}
