//! Rows in the shapes of ZeroClaw's databases: categories, vectors, and the database of the first
//! documents, which states one `timestamp` for a row.

use anemone::agent_memory::NotWritable;
use anemone::forget::{Confirmation, ForgetChoice, ForgetError};
use anemone::remember::{RememberError, RememberReport, RememberRequest};
use anemone_memory::{Category, RememberPlanError};
use anemone_testkit::database::{query, sql};
use anemone_testkit::services::{Play, Service};

use crate::support::memory::{TestMemory, key};

const DATABASE: &str = "home/.zeroclaw/data/memory/brain.db";
const SEED: &str = "home/.zeroclaw/memory.db";

/// An install of today that is found on the machine, and in which nothing is remembered yet.
fn install(config: &str) -> TestMemory {
    let mut memory = install_in("home/.zeroclaw", config);
    let folder = memory.path("home/.zeroclaw").into();
    memory.machine.host.variables.insert("ZEROCLAW_CONFIG_DIR".to_owned(), folder);
    memory
}

/// An install in a folder where the runtime does not look for one.
fn install_in(folder: &str, config: &str) -> TestMemory {
    let mut memory = TestMemory::of("zeroclaw");
    memory.agent.workspace = Some(memory.path(folder));
    memory.write(&format!("{folder}/data/memory/x"), "");
    memory.write(&format!("{folder}/agents/default/workspace/IDENTITY.md"), "# Nia\n");
    memory.write(&format!("{folder}/config.toml"), config);
    memory
}

/// The install that the first documents describe; `search` makes its full-text index.
fn seed_install(search: &str) -> TestMemory {
    let mut memory = TestMemory::of("zeroclaw");
    memory.agent.workspace = Some(memory.path("home/.zeroclaw"));
    memory.write("home/.zeroclaw/config.toml", "[memory]\nbackend = \"sqlite\"\n");
    memory.write("home/.zeroclaw/workspace/SOUL.md", "# Nia\n");
    let table = "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL,
        content TEXT NOT NULL, category TEXT NOT NULL, timestamp TEXT NOT NULL, embedding BLOB);";
    let row = "INSERT INTO memories VALUES ('11111111-1111-4111-8111-111111111111', 'tea',
        'Lin drinks green tea.', 'custom:recipes', '2026-01-15T08:00:00Z', x'0000803f');";
    sql(&memory.path(SEED), &format!("{table}{search}{row}"));
    memory
}

fn store(memory: &TestMemory, key: &str, text: &str, category: Option<&str>) -> RememberReport {
    memory.remember_with(text, |request| set(request, key, category))
}

fn set(request: &mut RememberRequest, key: &str, category: Option<&str>) {
    request.key = Some(key.to_owned());
    request.category = category.map(Category::from);
}

fn rows(memory: &TestMemory, database: &str, columns: &str) -> Vec<String> {
    query(&memory.path(database), &format!("SELECT {columns} FROM memories ORDER BY key"))
}

#[test]
fn a_row_has_the_category_that_was_asked_for_and_keeps_it() {
    let memory = install("");
    for (key, category) in [
        ("a", "recipes"),
        ("b", "conversation"),
        ("c", "procedural"),
        ("d", "core"),
        ("e", "daily"),
        ("f", "custom:recipes"),
        ("g", "my own \u{8336}"),
    ] {
        let text = format!("The {key} of the harbour is number {key}{key}.");
        let report = store(&memory, key, &text, Some(category));
        assert_eq!(report.row.unwrap().category, category);
    }
    let kept = [
        "a|recipes",
        "b|conversation",
        "c|procedural",
        "d|core",
        "e|daily",
        "f|custom:recipes",
        "g|my own \u{8336}",
    ];
    assert_eq!(rows(&memory, DATABASE, "key, category"), kept);
    // A new text alone does not move a row; a category does.
    store(&memory, "a", "Boil the noodles first.", None);
    store(&memory, "b", "They talked about lamps.", Some("core"));
    let now = rows(&memory, DATABASE, "key, category");
    assert_eq!(now[..2], ["a|recipes", "b|core"]);
    // With and without the mark it is the same type.
    let listed = memory.list_with(|request| request.kind = Some("recipes".to_owned()));
    assert_eq!(listed.entries.len(), 2, "{listed:?}");
}

#[test]
fn a_category_is_one_line_and_holds_no_secret() {
    let memory = install("");
    for name in ["", "  ", "a\nb", &"x".repeat(129)] {
        let refused = memory.try_remember("Lin drinks tea.", |request| {
            set(request, "tea", Some(name));
        });
        let is_refused =
            matches!(&refused, Err(RememberError::Memory(RememberPlanError::Category(_))));
        assert!(is_refused, "{name:?}: {refused:?}");
    }
    let secret = format!("ghp_{}", "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5");
    let refused = memory.try_remember("Lin drinks tea.", |request| {
        set(request, "tea", Some(&secret));
    });
    let Err(RememberError::Secret(report)) = refused else { panic!("{refused:?}") };
    assert_eq!(report.secrets[0].part, "category");
}

#[test]
fn a_page_of_a_listing_goes_on_where_the_last_one_ended() {
    let memory = install("");
    for number in 1..=5 {
        store(&memory, &format!("k{number}"), &format!("Lamp {number} is lit."), None);
    }
    let mut seen = Vec::new();
    let mut offset = Some(0);
    while let Some(next) = offset {
        let page = memory.list_with(|request| (request.limit, request.offset) = (2, next as u32));
        assert_eq!((page.total, page.not_shown), (5, 5 - page.entries.len()));
        seen.extend(page.entries.iter().filter_map(|entry| entry.key.clone()));
        offset = page.next_offset;
    }
    seen.sort();
    assert_eq!(seen, ["k1", "k2", "k3", "k4", "k5"]);
    let past = memory.list_with(|request| request.offset = 9);
    assert_eq!((past.entries.len(), past.total, past.next_offset), (0, 5, None));
}

#[test]
fn the_database_of_the_first_documents_is_written_and_reverted() {
    let external = "CREATE VIRTUAL TABLE memories_fts USING fts5(key, content,
        content='memories', content_rowid='rowid');";
    let own = "CREATE VIRTUAL TABLE memories_fts USING fts5(key, content);";
    // All that a program needs that only adds rows.
    let added = "CREATE TRIGGER memories_ai AFTER INSERT ON memories BEGIN
        INSERT INTO memories_fts(rowid, key, content)
        VALUES (new.rowid, new.key, new.content); END;";
    let [external_added, own_added] = [external, own].map(|table| format!("{table}{added}"));
    for search in ["", external, own, &external_added, &own_added] {
        let memory = seed_install(search);
        assert_eq!(memory.list().total, 1, "{search}");
        let report = store(&memory, "lamp", "The lamp is blue.", Some("rooms"));
        assert!(report.written && report.path == "memory.db", "{report:?}");
        assert_eq!(report.row.unwrap().category, "custom:rooms");
        store(&memory, "tea", "Lin drinks black tea.", None);
        // The new text does not keep the vector of the old one.
        let columns = "key, content, category, embedding IS NULL, timestamp LIKE '20__-__-__T%'";
        let now = rows(&memory, SEED, columns);
        let expected = [
            "lamp|The lamp is blue.|custom:rooms|1|1",
            "tea|Lin drinks black tea.|custom:recipes|1|1",
        ];
        assert_eq!(now, expected, "{search}");
        if !search.is_empty() {
            let find = |word: &str| {
                let sql = format!("SELECT key FROM memories_fts WHERE memories_fts MATCH '{word}'");
                query(&memory.path(SEED), &sql)
            };
            assert_eq!(
                (find("black"), find("blue"), find("green").len()),
                (vec!["tea".to_owned()], vec!["lamp".to_owned()], 0)
            );
        }
        assert!(memory.search("which lamp").hits.iter().any(|hit| hit.text.contains("blue")));
        memory.forget(key("lamp"));
        assert_eq!(rows(&memory, SEED, "key"), ["tea"]);
        memory.undo();
        memory.undo();
        memory.undo();
        let columns = "key, content, category, hex(embedding), timestamp";
        let first = "tea|Lin drinks green tea.|custom:recipes|0000803F|2026-01-15T08:00:00Z";
        assert_eq!(rows(&memory, SEED, columns), [first], "{search}");
        let mode = query(&memory.path(SEED), "PRAGMA journal_mode");
        assert_eq!(mode, ["delete"], "an existing database keeps its journal mode");
        memory.forget_for_good(ForgetChoice::Key("tea".to_owned()));
        assert!(!bytes_hold(&memory, "green tea"), "{search}");
    }
}

fn bytes_hold(memory: &TestMemory, text: &str) -> bool {
    let bytes = fs_err::read(memory.path(SEED)).unwrap();
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn a_key_that_several_rows_have_is_replaced_as_a_whole() {
    let memory = seed_install("");
    let again = "INSERT INTO memories VALUES ('22222222-2222-4222-8222-222222222222', 'tea',
        'Lin drinks white tea.', 'core', '2026-02-15T08:00:00Z', NULL);";
    sql(&memory.path(SEED), again);
    store(&memory, "tea", "Lin drinks black tea.", None);
    assert_eq!(rows(&memory, SEED, "content, category"), ["Lin drinks black tea.|core"]);
    memory.undo();
    let back = query(&memory.path(SEED), "SELECT content FROM memories ORDER BY id");
    assert_eq!(back, ["Lin drinks green tea.", "Lin drinks white tea."]);
}

/// Settings that name a service for vectors.
fn with_service(service: &Service, dimensions: usize) -> String {
    format!(
        "[memory]\nembedding_provider = \"custom:{}\"\nembedding_model = \"small\"\n\
         embedding_dimensions = {dimensions}\nembedding_api_key = \"k-1\"\n",
        service.url()
    )
}

#[test]
fn a_row_gets_its_vector_from_the_service_that_the_runtime_is_configured_with() {
    let service = Service::start();
    let memory = install(&with_service(&service, 16));
    let first = store(&memory, "tea", "Lin drinks green tea.", None);
    assert!(first.warnings.is_empty(), "{first:?}");
    // Sixteen numbers of four bytes.
    assert_eq!(rows(&memory, DATABASE, "key, length(embedding)"), ["tea|64"]);
    let vector = rows(&memory, DATABASE, "hex(embedding)");
    let asked = service.requests();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        (asked[0].key.as_deref(), &asked[0].texts[..]),
        (Some("k-1"), &["Lin drinks green tea.".to_owned()][..])
    );
    store(&memory, "tea", "Lin drinks black tea.", None);
    assert_ne!(rows(&memory, DATABASE, "hex(embedding)"), vector, "it is of the new text");
    memory.remember_with("Nothing is asked for a plan.", |request| request.dry_run = true);
    assert_eq!(service.requests().len(), 2);
}

#[test]
fn a_row_without_a_vector_is_written_and_says_so() {
    let service = Service::start();
    let memory = install(&with_service(&service, 16));
    store(&memory, "tea", "Lin drinks green tea.", None);
    for (play, text) in [
        (Play::Status(400, "no"), "The harbour freezes in January."),
        (Play::Echo, "Ana repaired the red boat."),
        (Play::Dimensions(3), "Bread is baked before dawn."),
    ] {
        service.play_for_good(0, play);
        let report = store(&memory, "tea", text, None);
        assert!(report.written);
        let [warning] = &report.warnings[..] else { panic!("{report:?}") };
        assert_eq!(warning.code, "no_vector");
        assert!(warning.message.contains("zeroclaw memory reindex"), "{warning:?}");
        assert!(!warning.message.contains("k-1"), "{warning:?}");
        assert_eq!(rows(&memory, DATABASE, "embedding IS NULL"), ["1"], "no stale vector");
    }
    service.play_well();
    // Vectors of another model would all be dropped by the runtime.
    let meta = "INSERT INTO memory_meta VALUES ('embedding_provider', 'openai')";
    sql(&memory.path(DATABASE), meta);
    store(&memory, "lamp", "The lamp is blue.", None);
    assert_eq!(rows(&memory, DATABASE, "key, embedding IS NULL"), ["lamp|1", "tea|1"]);
}

#[test]
fn a_service_of_a_folder_that_was_only_named_gets_neither_text_nor_key() {
    let service = Service::start();
    let memory = install_in("ws", &with_service(&service, 16));
    let report = store(&memory, "tea", "Lin drinks green tea.", None);
    assert!(report.written);
    assert_eq!(report.warnings[0].code, "no_vector");
    assert!(service.requests().is_empty());
    assert_eq!(rows(&memory, "ws/data/memory/brain.db", "embedding IS NULL"), ["1"]);
}

#[test]
fn a_changed_fact_is_marked_where_a_row_has_a_place_for_it_and_reported_elsewhere() {
    let change = |memory: &TestMemory| {
        memory.remember("The fog tea ships on Tuesdays.");
        memory.remember("The fog tea ships on Wednesdays.")
    };
    let memory = install("");
    let report = change(&memory);
    assert_eq!((report.superseded.len(), report.warnings.len()), (1, 0), "{report:?}");
    let listed = memory.list();
    assert_eq!((listed.total, listed.superseded), (1, 1));
    let memory = seed_install("");
    let report = change(&memory);
    assert_eq!((report.superseded.len(), report.near.len()), (0, 1), "{report:?}");
    assert_eq!(report.warnings[0].code, "cannot_supersede");
    let listed = memory.list();
    assert_eq!((listed.total, listed.superseded), (3, 0));
    // Text from elsewhere would not have taken its place in any database.
    let report = memory.remember_with("The fog tea ships on Fridays.", |request| {
        request.origin = anemone_format::Origin::Web;
    });
    assert!(report.warnings.is_empty(), "{report:?}");
}

/// A workspace of ZeroClaw in which Markdown files hold the memory.
fn markdown_install() -> TestMemory {
    let memory = TestMemory::of("zeroclaw");
    memory.write("ws/workspace/SOUL.md", "# Nia\n");
    memory.write("ws/workspace/MEMORY.md", "# Long-Term Memory\n\n- **tea**: Lin drinks tea.\n");
    memory
}

#[test]
fn an_unreadable_configuration_stops_what_writes_and_is_told_by_what_reads() {
    let memory = markdown_install();
    memory.write("ws/config.toml", "[memory]\nbackend = \"markdown\"\nx = [\n");
    let refused = memory.try_remember("The boat is red.", |_| {});
    let Err(RememberError::NotWritable(NotWritable::ConfigUnreadable(why))) = refused else {
        panic!("{refused:?}")
    };
    assert!(why.contains("config.toml"), "{why}");
    let refused = memory.try_forget(key("tea"), Confirmation::Given, |_| {});
    let is_refused =
        matches!(&refused, Err(ForgetError::NotWritable(NotWritable::ConfigUnreadable(_))));
    assert!(is_refused, "{refused:?}");
    assert!(!memory.exists("ws/workspace/memory/brain.db"));
    let listed = memory.list();
    assert_eq!((listed.total, listed.warnings[0].code), (1, "config_unreadable"));
}

#[test]
fn what_is_no_file_in_the_place_of_the_configuration_is_not_a_missing_one() {
    let memory = markdown_install();
    // A folder with this name.
    memory.write("ws/config.toml/x", "");
    let refused = memory.try_remember("The boat is red.", |_| {});
    let is_refused =
        matches!(&refused, Err(RememberError::NotWritable(NotWritable::ConfigUnreadable(_))));
    assert!(is_refused, "{refused:?}");
    assert!(!memory.exists("ws/workspace/memory/brain.db"));
}

#[test]
fn without_a_configuration_the_memory_is_where_there_is_one() {
    let memory = markdown_install();
    memory.remember("The boat is red.");
    memory.remember("The lamp is blue.");
    assert!(!memory.exists("ws/workspace/memory/brain.db"));
    let listed = memory.list();
    assert_eq!((listed.total, listed.warnings.len()), (3, 0));
    assert_eq!(memory.export("out.alf").summary.unwrap().memory_records, 3);
}

#[test]
fn without_settings_nothing_is_asked_for_and_nothing_is_said() {
    for config in ["", "[memory]\nembedding_provider = \"none\"\n"] {
        let memory = install(config);
        let report = store(&memory, "tea", "Lin drinks green tea.", None);
        assert!(report.written && report.warnings.is_empty(), "{config}: {report:?}");
        assert_eq!(rows(&memory, DATABASE, "embedding IS NULL"), ["1"]);
    }
}

#[test]
fn a_key_of_a_provider_is_not_sent_to_an_address_of_the_users_own() {
    let service = Service::start();
    let config = format!(
        "api_key = \"sk-main\"\ndefault_provider = \"openai\"\n[memory]\n\
         embedding_provider = \"custom:{}\"\nembedding_model = \"small\"\n",
        service.url()
    );
    let memory = install(&config);
    store(&memory, "tea", "Lin drinks green tea.", None);
    assert_eq!(service.requests()[0].key, None);
}
