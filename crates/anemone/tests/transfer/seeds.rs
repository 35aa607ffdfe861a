//! The mapping tables of the documents in `docs/seeds.md`.

use anemone_format::Snapshot;
use anemone_testkit::database::sql;
use anemone_testkit::ground::{Ground, headings, raw, record_id, records_of};
use anemone_testkit::zip::{holds, unzip};

use super::workspace::export;
use super::zeroclaw;
use crate::support::{TestMachine, json};

/// The tenth of May 2026, at eight.
const IN_MAY: u64 = 1_778_400_000;

/// Two sections at the second level.
const TWO: &str = "## One\n\na\n\n## Two\n\nb\n";

/// Exports a workspace of OpenClaw with these files.
fn exported(files: &[(&str, &str)]) -> (TestMachine, Ground, Snapshot) {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    for (file, text) in files {
        ground.write(format!("w/{file}"), text);
    }
    export(&machine, &ground.path("w"), "a.alf", &[]);
    let snapshot = machine.snapshot("a.alf");
    (machine, ground, snapshot)
}

#[test]
fn each_kind_of_file_is_split_as_its_row_says() {
    let plain = "No heading,\n\nbut two paragraphs.\n";
    let files = [
        ("memory/2026-01-15.md", TWO, 2),
        ("memory/2026-01-16.md", plain, 1),
        ("MEMORY.md", TWO, 2),
        ("memory/active-context.md", TWO, 1),
        ("memory/project-atlas.md", TWO, 2),
        ("memory/project-plain.md", plain, 1),
        ("memory/recipes.md", TWO, 2),
        ("memory/deep/er/notes.md", TWO, 2),
        ("memory/letters.md", plain, 1),
    ];
    let (_, _, snapshot) = exported(&files.map(|(file, text, _)| (file, text)));
    for (file, text, count) in files {
        let records = records_of(&snapshot, file);
        assert_eq!(records.len(), count, "{file}");
        let joined: String = records.iter().map(|record| record.content.as_str()).collect();
        assert_eq!(joined, text, "{file}");
        if count == 2 {
            let named = ["One", "Two"].map(|heading| Some(heading.to_owned()));
            assert_eq!(headings(&records), named, "{file}");
        }
    }
    let (_, _, snapshot) = exported(&[("MEMORY.md", plain), ("memory/gating-policies.md", TWO)]);
    assert_eq!(records_of(&snapshot, "MEMORY.md").len(), 1);
    assert_eq!(records_of(&snapshot, "memory/gating-policies.md").len(), 2, "it has no table");
}

#[test]
fn an_id_is_a_place_in_a_file_whatever_stands_there() {
    let read = |text: &str| {
        let (_, _, snapshot) = exported(&[("memory/2026-01-15.md", text)]);
        let records = records_of(&snapshot, "memory/2026-01-15.md");
        let pair = |at: usize| (records[at].id.to_string(), records[at].content.trim().to_owned());
        [pair(0), pair(1)]
    };
    let [one, two] = read(TWO);
    assert_eq!(one.0, record_id("memory/2026-01-15.md", 0));
    let [renamed, same] = read("## First\n\na\n\n## Two\n\nb\n");
    assert_eq!((&renamed.0, renamed.1.as_str()), (&one.0, "## First\n\na"));
    assert_eq!(same, two);
    let [first, second] = read("## Two\n\nb\n\n## One\n\na\n");
    assert_eq!((first.0, first.1), (one.0, two.1), "the place decides, not the text");
    assert_eq!((second.0, second.1), (two.0, one.1));
}

#[test]
fn a_section_has_the_fields_of_the_table() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    ground.write("w/memory/2026-01-15.md", TWO);
    ground.write("w/MEMORY.md", TWO);
    for file in ["w/memory/2026-01-15.md", "w/MEMORY.md"] {
        ground.touch(file, IN_MAY);
    }
    export(&machine, &ground.path("w"), "a.alf", &[]);
    let snapshot = machine.snapshot("a.alf");
    for (file, observed) in
        [("memory/2026-01-15.md", Some("2026-01-15T00:00:00Z")), ("MEMORY.md", None)]
    {
        let record = records_of(&snapshot, file)[1];
        assert_eq!(record.id.to_string(), record_id(file, 1));
        assert_eq!(record.agent_id, snapshot.manifest.agent.id);
        assert_eq!(record.content, "\n## Two\n\nb\n");
        assert_eq!(record.source.runtime, "openclaw");
        assert_eq!(record.source.origin.as_deref(), Some("workspace"));
        assert_eq!(record.source.origin_file.as_deref(), Some(file));
        assert_eq!(record.source.session_id, None);
        let temporal = json(&record.temporal);
        assert_eq!(temporal["updated_at"], "2026-05-10T08:00:00Z", "{file}");
        assert_eq!(temporal["observed_at"].as_str(), observed, "{file}");
        assert_eq!(json(&record.status), "active");
        assert_eq!((record.category.as_deref(), record.confidence), (None, None));
        assert!(record.embeddings.is_empty());
        let raw = raw(record);
        assert_eq!((raw["line_start"].as_u64(), raw["line_end"].as_u64()), (Some(4), Some(7)));
        assert_eq!(raw["heading"], "Two");
    }
}

#[test]
fn what_has_no_day_lies_in_the_quarter_of_its_file() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let files = ["MEMORY.md", "memory/project-atlas.md", "memory/2026-01-15.md"];
    for file in files {
        ground.write(format!("w/{file}"), TWO);
        ground.touch(&format!("w/{file}"), IN_MAY);
    }
    export(&machine, &ground.path("w"), "a.alf", &[]);
    let entries = unzip(&machine.read("a.alf"));
    let lies_in = |quarter: &str, file: &str| {
        let lines = &entries[&format!("memory/partitions/{quarter}.jsonl")].content;
        holds(lines, format!("\"{file}\"").as_bytes())
    };
    for (file, quarter, other) in [
        ("MEMORY.md", "2026-Q2", "2026-Q1"),
        ("memory/project-atlas.md", "2026-Q2", "2026-Q1"),
        ("memory/2026-01-15.md", "2026-Q1", "2026-Q2"),
    ] {
        assert!(lies_in(quarter, file) && !lies_in(other, file), "{file}");
    }
}

#[test]
fn the_files_of_the_workspace_lie_under_raw_as_they_are() {
    let files = [
        ("SOUL.md", "# Nova\r\n\r\nKind.\r\n"),
        ("IDENTITY.md", "- **Name:** Nova"),
        ("AGENTS.md", "# Rules\n\n\n\n## SubAgent: Ada\n"),
        ("USER.md", "\u{feff}# Lin\n"),
        ("TOOLS.md", "tools \t\n"),
        ("MEMORY.md", TWO),
        ("memory/2026-01-15.md", "日本語\n"),
        ("memory/active-context.md", "now"),
    ];
    let (machine, _, _) = exported(&files);
    let entries = unzip(&machine.read("a.alf"));
    for (file, text) in files {
        assert!(entries[&format!("raw/openclaw/{file}")].content == text.as_bytes(), "{file}");
    }
}

// ZeroClaw.

/// The files of a workspace with the Markdown backend.
fn with_markdown(ground: &Ground) {
    ground.write("i/config.toml", "[memory]\nbackend = \"markdown\"\n");
    for (file, text) in [
        ("SOUL.md", "# Nova\n\nKind.\n"),
        ("IDENTITY.md", "I am small.\n"),
        ("AGENTS.md", "Be good.\n"),
        ("memory/2026-02-15.md", TWO),
        ("memory/session_a1b2.md", "hello\n"),
        ("memory/archive/2026-02-08.md", TWO),
    ] {
        ground.write(format!("i/workspace/{file}"), text);
    }
}

#[test]
fn a_zeroclaw_agent_is_who_its_files_say() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    with_markdown(&ground);
    zeroclaw::export(&machine, &ground.path("i"), "a.alf", &[]);
    let snapshot = machine.snapshot("a.alf");
    let prose = &json(snapshot.identity.as_ref().unwrap())["prose"];
    assert_eq!(prose["soul"], "# Nova\n\nKind.\n");
    assert_eq!(prose["identity_profile"], "I am small.\n");
    assert_eq!(prose["operating_instructions"], "Be good.\n");
    assert_eq!(snapshot.manifest.agent.name, "Nova");
    assert!(snapshot.principals.is_none(), "nobody is made up where there is no USER.md");
    ground.write("i/workspace/USER.md", "# Lin\n\nDrinks tea.\n");
    zeroclaw::export(&machine, &ground.path("i"), "b.alf", &[]);
    let principals = json(machine.snapshot("b.alf").principals.as_ref().unwrap());
    let all = principals["principals"].as_array().unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0]["principal_type"], "human");
    assert_eq!(all[0]["profile"]["prose"]["user_profile"], "# Lin\n\nDrinks tea.\n");
}

#[test]
fn records_of_zeroclaws_files_are_those_of_the_tables() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    with_markdown(&ground);
    zeroclaw::export(&machine, &ground.path("i"), "a.alf", &[]);
    let snapshot = machine.snapshot("a.alf");
    for (file, count, kind, namespace, status) in [
        ("memory/2026-02-15.md", 2, "episodic", "daily", "active"),
        ("memory/session_a1b2.md", 1, "episodic", "session", "active"),
        ("memory/archive/2026-02-08.md", 2, "episodic", "daily", "archived"),
    ] {
        let of_file = |name: Option<&str>| name == Some(file);
        let records = snapshot.records.iter();
        let records: Vec<_> =
            records.filter(|record| of_file(record.source.origin_file.as_deref())).collect();
        assert_eq!(records.len(), count, "{file}");
        for record in records {
            assert_eq!(json(&record.memory_type), kind, "{file}");
            assert_eq!(record.namespace, namespace, "{file}");
            assert_eq!(json(&record.status), status, "{file}");
            assert_eq!(record.source.runtime, "zeroclaw");
            assert_eq!(record.source.origin.as_deref(), Some("workspace"));
            assert!(record.tags.iter().any(|tag| tag == "zeroclaw"), "{:?}", record.tags);
            assert!(record.embeddings.is_empty(), "files have no vectors");
        }
    }
}

#[test]
fn a_row_lies_in_the_quarter_in_which_it_was_made() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    ground.write("i/config.toml", "[memory]\nbackend = \"sqlite\"\n");
    ground.write("i/workspace/SOUL.md", "# Nova\n");
    sql(
        &ground.path("i/memory.db"),
        "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT, content TEXT, category TEXT,
         timestamp TEXT, embedding BLOB);
         INSERT INTO memories VALUES
         ('1', 'march', 'late', 'core', '2026-03-31T23:59:59Z', NULL),
         ('2', 'april', 'early', 'core', '2026-04-01T00:00:00Z', NULL);",
    );
    zeroclaw::export(&machine, &ground.path("i"), "a.alf", &[]);
    let entries = unzip(&machine.read("a.alf"));
    for (quarter, content, other) in [("2026-Q1", "late", "early"), ("2026-Q2", "early", "late")] {
        let lines = &entries[&format!("memory/partitions/{quarter}.jsonl")].content;
        assert!(holds(lines, format!("\"{content}\"").as_bytes()), "{quarter}");
        assert!(!holds(lines, format!("\"{other}\"").as_bytes()), "{quarter}");
    }
    assert!(!entries.keys().any(|name| name.ends_with("memory.db")), "the rows are the records");
}

#[test]
fn without_an_embedding_provider_there_are_no_vectors() {
    for provider in ["none", "noop"] {
        let (machine, ground) = (TestMachine::new(), Ground::new());
        let config =
            format!("[memory]\nbackend = \"sqlite\"\nembedding_provider = \"{provider}\"\n");
        ground.write("i/config.toml", config);
        ground.write("i/workspace/SOUL.md", "# Nova\n");
        sql(
            &ground.path("i/memory.db"),
            "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT, content TEXT, category TEXT,
             timestamp TEXT, embedding BLOB);
             INSERT INTO memories VALUES
             ('1', 'tea', 'green', 'core', '2026-03-31T10:00:00Z', NULL);",
        );
        let exported = zeroclaw::export(&machine, &ground.path("i"), "a.alf", &[]);
        assert_eq!(exported["memory_records"], 1, "{provider}");
        assert_eq!(exported["embeddings"], 0, "{provider}");
        assert_eq!(machine.validate("a.alf").class, "ok", "{provider}");
        let snapshot = machine.snapshot("a.alf");
        assert!(snapshot.records.iter().all(|record| record.embeddings.is_empty()), "{provider}");
    }
}
