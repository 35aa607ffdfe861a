//! Vectors that come along with what is searched are not asked for again.

use anemone::search::{SearchNote, SearchReport, SearchRequest};
use anemone_index::RankingChoice;
use anemone_runtimes::ranking_profiles;
use anemone_testkit::services::Service;
use anemone_testkit::write_database;
use serde_json::json;

use super::embedder::{Library, named};
use crate::support::transfer::With;
use crate::support::{TestMachine, typed};

/// Configures a service and its model.
fn settle(library: &Library, service: &Service, model: &str) {
    let url = service.url();
    library.configure(&format!(
        "[embedding.openai]\nurl = \"{url}\"\nmodel = \"{model}\"\ndimensions = 16\n"
    ));
}

/// Returns every text that a service was asked for.
fn asked(service: &Service) -> Vec<String> {
    let mut texts: Vec<String> =
        service.requests().into_iter().flat_map(|request| request.texts).collect();
    texts.sort();
    texts
}

/// Returns a vector of sixteen numbers, which are zeros but for one.
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

/// Makes an install of ZeroClaw whose rows have vectors of the model `bag`.
fn zeroclaw() -> Library {
    let machine = TestMachine::new();
    machine.write("zc/data/memory/x", "");
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
    write_database(&machine.path("zc/data/memory/brain.db"), &script).unwrap();
    let mut library = Library::of(machine, "zc");
    library.target.agent = library.machine.agent_in("zeroclaw", &library.machine.path("zc"));
    library.target.path = None;
    library
}

#[test]
fn rows_with_vectors_of_the_model_are_not_sent() {
    let (library, service) = (zeroclaw(), Service::start());
    settle(&library, &service, "bag");
    let job = library.plan("openai", |_| {}).job.unwrap();
    assert_eq!((job.texts, job.known), (1, Some(3)), "{job:?}");
    let library = zeroclaw();
    settle(&library, &service, "bag");
    let filled = library.index("openai").filled.unwrap();
    assert_eq!((filled.reused, filled.embedded), (3, 1), "{filled:?}");
    assert_eq!((filled.known, filled.missing), (0, 0), "{filled:?}");
    assert_eq!(asked(&service), [BARE]);
}

#[test]
fn rows_with_vectors_of_another_model_are_all_sent() {
    let (library, service) = (zeroclaw(), Service::start());
    settle(&library, &service, "sack");
    let filled = library.index("openai").filled.unwrap();
    assert_eq!((filled.reused, filled.embedded), (0, 4), "{filled:?}");
    let mut all = [&ROWS[..], &[BARE]].concat();
    all.sort_unstable();
    assert_eq!(asked(&service), all);
}

#[test]
fn a_row_that_comes_with_a_vector_is_not_sent_at_a_search() {
    let (library, service) = (zeroclaw(), Service::start());
    settle(&library, &service, "bag");
    library.index("openai");
    let blob = hex(vector(9).into_iter().flat_map(f32::to_le_bytes));
    let script = format!(
        "INSERT INTO memories VALUES ('9', 'k9', 'A postcard from Zanzibar.', 'core', {blob},
           '2026-01-16T00:00:00Z', '2026-01-16T00:00:00Z');"
    );
    write_database(&library.machine.path("zc/data/memory/brain.db"), &script).unwrap();
    let report = library.search("zanzibar");
    assert!(report.model.as_ref().is_some_and(|model| model.starts_with("bag@")), "{report:?}");
    assert_eq!(report.vectors[0].missing, 0, "{report:?}");
    assert_eq!(asked(&service), [BARE, "zanzibar"], "{report:?}");
}

#[test]
fn an_archive_brings_its_vectors() {
    let (library, service) = (zeroclaw(), Service::start());
    settle(&library, &service, "bag");
    library.machine.try_export(library.target.agent.clone(), "zc.alf", &[]).unwrap();
    let report = library.try_index("openai", |request| {
        request.target = library.target_at("zc.alf");
    });
    let filled = report.unwrap().filled.unwrap();
    assert_eq!((filled.reused, filled.embedded), (3, 1), "{filled:?}");
    assert_eq!(asked(&service), [BARE]);
}

const WORKSPACE: &str = ".openclaw/workspace";
const MEMORY: &str = "- Ann drinks green tea.\n- The router hangs in the hall.";
const NOTE: &str = "Beans were planted in April.";

/// Makes an install of OpenClaw whose index has vectors of the model `bag`: of a chunk, and in its
/// cache.
fn openclaw() -> Library {
    let machine = TestMachine::new();
    machine.write_home(".openclaw/openclaw.json", "{}");
    machine.write_home(&format!("{WORKSPACE}/MEMORY.md"), MEMORY);
    machine.write_home(&format!("{WORKSPACE}/memory/garden.md"), NOTE);
    machine.write_home(".openclaw/memory/x", "");
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
    write_database(&machine.home(".openclaw/memory/main.sqlite"), &script).unwrap();
    let workspace = machine.home(WORKSPACE);
    let mut library = Library::of(machine, "none");
    library.target.agent = library.machine.agent_in("openclaw", &workspace);
    library.target.path = None;
    library
}

/// Searches as the older generation of OpenClaw does, with a service.
fn search_as_openclaw(library: &Library, change: impl FnOnce(&mut SearchRequest)) -> SearchReport {
    library.search_with("tea", |request| {
        request.embedder = named("openai");
        let mut profiles = ranking_profiles();
        let profile = profiles.find(|profile| profile.name() == "openclaw-2026.3");
        request.ranking.profile = RankingChoice::Other(profile.unwrap());
        change(request);
    })
}

#[test]
fn the_index_of_openclaw_serves_its_own_ranking() {
    let (library, service) = (openclaw(), Service::start());
    settle(&library, &service, "bag");
    let report = search_as_openclaw(&library, |_| {});
    assert_eq!(report.vectors[0].chunks, 2, "{report:?}");
    assert_eq!(asked(&service), ["tea"], "{report:?}");
}

#[test]
fn an_archive_of_openclaw_says_of_which_text_a_vector_is() {
    let (library, service) = (openclaw(), Service::start());
    settle(&library, &service, "bag");
    let agent = library.target.agent.clone();
    library.machine.try_export(agent, "oc.alf", &[With::AllowEmpty]).unwrap();
    let target = library.target_at("oc.alf");
    search_as_openclaw(&library, |request| request.target = target);
    // The cache does not travel, so one of the two texts is new.
    assert_eq!(asked(&service), [NOTE, "tea"]);
}

#[test]
fn a_database_that_cannot_be_read_costs_its_vectors_and_is_said() {
    let (library, service) = (openclaw(), Service::start());
    settle(&library, &service, "bag");
    let broken = "no database, surely no database".repeat(50);
    library.machine.write_home(".openclaw/memory/main.sqlite", broken);
    let report = library.index("openai");
    let filled = report.filled.unwrap();
    assert_eq!((filled.reused, filled.missing), (0, 0), "{filled:?}");
    let [SearchNote::CarriedUnreadable(_)] = typed(&report.warnings)[..] else {
        panic!("{:?}", report.warnings)
    };
}
