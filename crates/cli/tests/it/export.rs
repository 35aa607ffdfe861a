//! `anemone export`: an OpenClaw agent as an archive.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anemone_format::{Node, Record, Snapshot};
use anemone_testkit::workspace::Workspace;
use anemone_testkit::{SlowGroup, skip};
use rusqlite::types::Value as Cell;
use serde_json::{Value, json};

use crate::database::{Holder, immutable_rows, query, sql};
use crate::environment::{TestEnvironment, fixture, program};
use crate::workspace::{
    Ground, assert_holds_none, export, fields, headings, import, raw, record_id, records_of,
    snapshot, tree, with,
};
use crate::zip::{holds, unzip};

/// The secrets that the generator plants into an edge workspace.
const PLANTED: [&str; 2] = ["SECRETENV", "SECRETHIDDEN"];
/// The secrets that the generator plants into an install.
const PLANTED_INSTALL: [&str; 4] = ["SECRETBOT", "SECRET-1", "SECRET-ACC", "SECRET-REF"];

/// Makes a place with an edge workspace.
fn edge() -> (TestEnvironment, Ground) {
    let ground = Ground::new();
    ground.generate("w", &Workspace::edge_cases());
    (TestEnvironment::new(), ground)
}

/// Exports an edge workspace with all that it holds.
fn edge_snapshot() -> (Ground, Snapshot) {
    let (environment, ground) = edge();
    export(&environment, &ground.path("w"), "a.alf", &["--allow-secrets"]);
    (ground, snapshot(&environment, "a.alf"))
}

fn with_fixture(generation: &str) -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.copy_home(&fixture(&format!("openclaw/{generation}/.openclaw")), ".openclaw");
    environment
}

/// Returns the one agent's archive.
fn export_fixture(environment: &TestEnvironment, more: &[&str]) -> (Value, Snapshot) {
    let exported = environment.json([&["export", "-o", "a.alf"][..], more].concat());
    (exported, snapshot(environment, "a.alf"))
}

/// Returns what the table of the mapping says of a file: namespace, type and who wrote it.
fn mapping(file: &str) -> (&'static str, &'static str, &'static str) {
    let name = file.rsplit('/').next().expect("a path has a last part");
    let dated = name.as_bytes().get(..10).is_some_and(|it| {
        it.iter().enumerate().all(|(at, c)| match at {
            4 | 7 => *c == b'-',
            _ => c.is_ascii_digit(),
        })
    });
    match file {
        "MEMORY.md" | "memory.md" => ("curated", "semantic", "user_authored"),
        "memory/active-context.md" => ("active-context", "summary", "agent_written"),
        "memory/gating-policies.md" => ("procedural", "procedural", "agent_written"),
        "memory/facts.db" => ("facts", "preference", "agent_written"),
        _ if dated => ("daily", "episodic", "agent_written"),
        _ if file.starts_with("memory/project-") => ("project", "semantic", "agent_written"),
        _ => ("workspace", "semantic", "agent_written"),
    }
}

/// Returns the Markdown files of a workspace that hold memories and are not blank.
fn memory_files(workspace: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for path in tree(workspace).keys() {
        let name = path.to_str().expect("the path is UTF-8");
        let metadata = fs_err::symlink_metadata(workspace.join(path)).expect("it is there");
        let memory = name.starts_with("memory/") && name.to_lowercase().ends_with(".md");
        if metadata.is_file() && (memory || ["MEMORY.md", "memory.md"].contains(&name)) {
            let content = fs_err::read_to_string(workspace.join(path)).expect("it is UTF-8");
            if !content.trim().is_empty() {
                files.push(name.to_owned());
            }
        }
    }
    files
}

/// Splits a text after its line ends: `\n`, `\r\n` and a `\r` alone.
fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut start = 0;
    let bytes = text.as_bytes();
    for at in 0..bytes.len() {
        let alone = bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n');
        if bytes[at] == b'\n' || alone {
            lines.push(&text[start..=at]);
            start = at + 1;
        }
    }
    lines.extend((start < text.len()).then(|| &text[start..]));
    lines
}

fn word(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).expect("it is JSON").as_str().unwrap_or_default().to_owned()
}

fn times(record: &Record) -> Value {
    serde_json::to_value(&record.temporal).expect("it is JSON")
}

// What becomes of each file.

#[test]
fn the_records_of_every_memory_file_give_the_file_back() {
    let (ground, snapshot) = edge_snapshot();
    let workspace = ground.path("w");
    let files = memory_files(&workspace);
    assert_eq!(files.len(), 44, "{files:?}");
    for file in files {
        let content = fs_err::read_to_string(workspace.join(&file)).unwrap();
        let records = records_of(&snapshot, &file);
        assert!(!records.is_empty(), "{file}");
        let joined: String = records.iter().map(|it| it.content.as_str()).collect();
        assert!(joined == content, "{file}");
        let lines = lines(&content);
        for record in records {
            let raw = raw(record);
            let [start, end] = ["line_start", "line_end"]
                .map(|it| usize::try_from(raw[it].as_u64().unwrap()).unwrap());
            assert!(lines[start - 1..end].concat() == record.content, "{file} {raw}");
        }
    }
}

#[test]
fn every_record_has_the_words_that_the_tables_have_for_its_file() {
    let (_ground, snapshot) = edge_snapshot();
    let mut seen = BTreeMap::new();
    for record in &snapshot.records {
        let file = record.source.origin_file.as_deref().unwrap();
        let (namespace, kind, method) = mapping(file);
        *seen.entry(namespace).or_insert(0) += 1;
        assert_eq!(record.namespace, namespace, "{file}");
        assert_eq!(word(&record.memory_type), kind, "{file}");
        assert_eq!(word(&record.source.extraction_method), method, "{file}");
        assert_eq!(record.source.runtime, "openclaw");
        assert_eq!(word(&record.status), "active");
        assert_eq!(record.source.identity_version, Some(1));
        let origin = if namespace == "facts" { "sqlite" } else { "workspace" };
        assert_eq!(record.source.origin.as_deref(), Some(origin));
        assert!(record.tags.iter().any(|it| it == namespace), "{:?}", record.tags);
        assert!(record.confidence.is_none_or(|it| (0.0..=1.0).contains(&it)));
    }
    let namespaces: Vec<_> = seen.keys().copied().collect();
    let all = ["active-context", "curated", "daily", "facts", "procedural", "project", "workspace"];
    assert_eq!(namespaces, all);
    assert_eq!((seen["facts"], seen["procedural"], seen["active-context"]), (60, 12, 1));
}

#[test]
fn headings_are_those_that_markdown_has() {
    let (_ground, snapshot) = edge_snapshot();
    let of = |file: &str| headings(&records_of(&snapshot, file));
    let some = |it: &str| Some(it.to_owned());
    assert_eq!(
        of("memory/fences.md"),
        ["Real one", "Real two", "three-space heading is H2", "Tab heading", "Setext heading"]
            .map(some)
    );
    assert_eq!(of("memory/crlf.md"), [None, some("One"), some("Two")]);
    assert_eq!(of("memory/bom.md"), [some("With BOM")]);
    assert_eq!(of("memory/frontmatter.md"), [None, some("First")]);
    assert_eq!(of("memory/h1-only.md"), [None]);
    assert_eq!(of("memory/active-context.md"), [None], "the whole file is one record");
    assert_eq!(of("memory/mixed-eol.md"), [some("A"), some("B")]);
    assert_eq!(of("memory/日本語 ノート.md"), [some("会議")]);
}

#[test]
fn each_row_of_the_gating_table_is_one_record() {
    let (ground, snapshot) = edge_snapshot();
    let records = records_of(&snapshot, "memory/gating-policies.md");
    let text = String::from_utf8(ground.read("w/memory/gating-policies.md")).unwrap();
    let rows: Vec<&str> = text.lines().skip(4).collect();
    assert_eq!((records.len(), rows.len()), (12, 12));
    for (record, row) in records.iter().zip(rows) {
        assert_eq!(record.content.lines().last(), Some(row));
    }
    assert_eq!(records[11].content.lines().count(), 1);
}

#[test]
fn each_fact_is_one_preference() {
    let (ground, snapshot) = edge_snapshot();
    let facts: Vec<&Record> =
        snapshot.records.iter().filter(|it| it.namespace == "facts").collect();
    let database = ground.path("w/memory/facts.db");
    let rows = query(&database, "SELECT entity, key, value, category FROM facts");
    assert_eq!((rows.len(), facts.len()), (60, 60));
    for row in rows {
        let [entity, key, value, category] = row.split('|').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let has = |it: &&&Record| [entity, key, value].iter().all(|part| it.content.contains(part));
        // Keys are numbered: key_1 is also in key_12.
        let exact = |it: &&&Record| raw(it)["row"]["key"] == key;
        let fact = facts.iter().find(|it| has(it) && exact(it)).unwrap_or_else(|| panic!("{row}"));
        assert_eq!(fact.category.as_deref(), Some(category));
        assert_eq!(times(fact)["created_at"], "2026-02-01T10:00:00Z");
    }
    let ids: std::collections::BTreeSet<_> = facts.iter().map(|it| it.id).collect();
    assert_eq!(ids.len(), 60);
}

#[test]
fn times_come_from_headings_headers_names_and_front_matter() {
    let (_ground, snapshot) = edge_snapshot();
    let created = |file: &str, index: usize| {
        let record = records_of(&snapshot, file)[index];
        let times = times(record);
        let time = |it: &str| times[it].as_str().map(str::to_owned);
        (time("created_at").unwrap(), time("observed_at"))
    };
    let of =
        |created: &str, observed: Option<&str>| (created.to_owned(), observed.map(str::to_owned));
    let day = |date: &str| format!("{date}T00:00:00Z");
    let daily = "memory/2026-03-20.md";
    assert_eq!(created(daily, 0), of("2026-03-20T10:30:00Z", Some(&day("2026-03-20"))));
    assert_eq!(created(daily, 1), of("2026-03-20T14:15:00Z", Some(&day("2026-03-20"))));
    assert_eq!(created(daily, 2), of(&day("2026-03-20"), Some(&day("2026-03-20"))));
    let nested = "memory/topics/2025-11-03.md";
    assert_eq!(created(nested, 0), of(&day("2025-11-03"), Some(&day("2025-11-03"))));
    let archived = "memory/archive/2024-05-05.md";
    assert_eq!(created(archived, 0), of(&day("2024-05-05"), Some(&day("2024-05-05"))));
    let slug = "memory/2026-01-30-memory-system-research.md";
    for index in [0, 1] {
        let expected = of("2026-01-30T14:30:00Z", Some(&day("2026-01-30")));
        assert_eq!(created(slug, index), expected);
    }
    for record in records_of(&snapshot, slug) {
        assert_eq!(record.source.session_id.as_deref(), Some("abc123def456"));
    }
    for index in [0, 1] {
        let front = created("memory/frontmatter.md", index);
        assert_eq!(front.0, day("2025-12-24"));
    }
    // Undated files have the time of the file.
    let (time, observed) = created("MEMORY.md", 3);
    assert!(time.starts_with("2026-03-20T18:00:00.123456"), "{time}");
    assert_eq!(observed, None);
}

#[test]
fn a_daily_log_lies_in_the_partition_of_its_day() {
    let (environment, ground) = edge();
    export(&environment, &ground.path("w"), "a.alf", &["--allow-secrets"]);
    let entries = unzip(&environment.read("a.alf"));
    let partition = |name: &str| &entries[&format!("memory/partitions/{name}.jsonl")].content;
    let count = |name: &str| partition(name).iter().filter(|it| **it == b'\n').count();
    assert!(holds(partition("2024-Q2"), b"\"memory/archive/2024-05-05.md\""));
    assert!(holds(partition("2025-Q4"), b"\"memory/topics/2025-11-03.md\""));
    // The old log; the nested log and both parts of the file with front matter; all the rest.
    assert_eq!([count("2024-Q2"), count("2025-Q4"), count("2026-Q1")], [1, 3, 638]);
}

#[test]
fn names_of_daily_logs_may_carry_a_slug_or_a_time() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    for name in ["2026-01-05-1430", "2026-01-06-a-slug", "2026-02-30", "sub/2026-01-07"] {
        ground.write(format!("w/memory/{name}.md"), "## A\n\ntext\n");
    }
    export(&environment, &ground.path("w"), "a.alf", &[]);
    let snapshot = snapshot(&environment, "a.alf");
    let of = |name: &str| records_of(&snapshot, &format!("memory/{name}.md"))[0];
    assert_eq!(times(of("2026-01-05-1430"))["created_at"], "2026-01-05T14:30:00Z");
    assert_eq!(times(of("2026-01-06-a-slug"))["created_at"], "2026-01-06T00:00:00Z");
    assert_eq!(times(of("sub/2026-01-07"))["observed_at"], "2026-01-07T00:00:00Z");
    assert_eq!(of("2026-02-30").namespace, "workspace", "there is no such day");
}

#[test]
fn importance_tags_and_hashtags_become_fields() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.write(
        "w/memory/2026-01-05.md",
        "## One\n\n- [decision|i=0.9] SQLite #database\n- [context|i=0.3] nothing\n\n\
         ```\n#!code [lesson|i=0.8] #incode\n```\n\n`#inline` and a#b\n\n\
         ## Two\n\n- [risk|i=7] too much\n\n## Three\n\nplain\n",
    );
    export(&environment, &ground.path("w"), "a.alf", &[]);
    let snapshot = snapshot(&environment, "a.alf");
    let [one, two, three] = records_of(&snapshot, "memory/2026-01-05.md")[..] else { panic!() };
    assert_eq!(one.category.as_deref(), Some("decision"));
    assert_eq!(one.confidence, Some(0.9));
    assert_eq!(one.tags, ["daily", "decision", "context", "database"]);
    assert_eq!(raw(one)["importance"].as_array().unwrap().len(), 2, "each tagged line is kept");
    assert!(two.confidence.is_none_or(|it| it <= 1.0), "{:?}", two.confidence);
    assert_eq!((three.category.as_deref(), three.confidence), (None, None));
}

#[test]
fn annotations_of_the_newer_generation_become_fields_and_stay() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let text = "## Setup\n\n- Keep it on loopback. <!-- trigger: gateway, network safety --> \
                <!-- importance: 9 --> <!-- project: github.com/o/r -->\n\n\
                ## Promoted From Short-Term Memory (2026-05-01)\n\n\
                <!-- openclaw-memory-promotion:k1 -->\n- Tea is green. [score=0.850 signals=3 \
                recalls=4 avg=0.620 source=memory/2026-04-30.md:3-5]\n";
    ground.write("w/MEMORY.md", text);
    export(&environment, &ground.path("w"), "a.alf", &[]);
    let snapshot = snapshot(&environment, "a.alf");
    let records = records_of(&snapshot, "MEMORY.md");
    assert_eq!(records.iter().map(|it| &*it.content).collect::<String>(), text);
    assert_eq!(records[0].confidence, Some(0.9));
    for tag in ["gateway", "network safety"] {
        assert!(records[0].tags.iter().any(|it| it.contains(tag)), "{:?}", records[0].tags);
    }
    let all = serde_json::to_string(records[0]).unwrap();
    assert!(all.matches("github.com/o/r").count() > 1, "the project is in a field too: {all}");
    let all = serde_json::to_string(records[1]).unwrap();
    assert!(all.matches("k1").count() > 1, "the key of the promotion is in a field too: {all}");
}

#[test]
fn who_the_agent_is_and_whom_it_works_for_is_read() {
    let (ground, snapshot) = edge_snapshot();
    let text = |name: &str| String::from_utf8(ground.read(format!("w/{name}"))).unwrap();
    let identity = serde_json::to_value(snapshot.identity.as_ref().unwrap()).unwrap();
    let prose = &identity["prose"];
    assert_eq!(prose["soul"], text("SOUL.md"));
    assert_eq!(prose["identity_profile"], text("IDENTITY.md"));
    assert_eq!(prose["operating_instructions"], text("AGENTS.md"));
    let blocks = &prose["custom_blocks"];
    assert_eq!(blocks["tools_guidance"], text("TOOLS.md"));
    assert_eq!(blocks["heartbeat_checklist"], text("HEARTBEAT.md"));
    assert_eq!(blocks["boot_checklist"], text("BOOT.md"));
    let structured = &identity["structured"];
    assert_eq!(structured["names"]["primary"], "Clawdia");
    assert_eq!(fields(&structured["sub_agents"], "name"), ["Researcher", "Coder"]);
    let docker = with(&structured["capabilities"], "name", "docker_management");
    assert_eq!(docker["portability"], "host_dependent");
    let principals = serde_json::to_value(snapshot.principals.as_ref().unwrap()).unwrap();
    let profile = &principals["principals"][0]["profile"];
    assert_eq!(profile["prose"]["user_profile"], text("USER.md"));
    let structured = &profile["structured"];
    assert_eq!(structured["name"], "Alex Example");
    assert_eq!(structured["timezone"], "America/Los_Angeles");
    assert_eq!(structured["communication_preferences"]["tone"], "casual");
    assert_eq!(structured["work_context"], json!({ "role": "engineer", "company": "Acme" }));
}

#[test]
fn directives_about_the_user_and_further_users_are_read() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let text = "# Sam\n\n<!-- observed: 2026-01-02 | status: superseded -->\n- Prefer tea.\n";
    ground.write("w/USER.md", text);
    ground.write("w/users/kim/USER.md", "# Kim\n");
    let exported = export(&environment, &ground.path("w"), "a.alf", &[]);
    assert_eq!(exported["principals_count"], 2);
    let principals = snapshot(&environment, "a.alf").principals.unwrap();
    let principals = serde_json::to_value(principals).unwrap();
    let profile = &principals["principals"][0]["profile"];
    assert_eq!(profile["prose"]["user_profile"], text, "it stays as it is");
    let named = principals["principals"].as_array().unwrap().iter();
    let names: Vec<_> = named.map(|it| &it["profile"]["structured"]["name"]).collect();
    assert_eq!(names, ["Sam", "Kim"]);
}

#[test]
fn everything_else_is_an_artifact() {
    let (environment, ground) = edge();
    ground.append("w/memory/project-atlas.md", "\nSee artifacts/report.csv for numbers.\n");
    let exported = export(&environment, &ground.path("w"), "a.alf", &["--allow-secrets"]);
    let snapshot = snapshot(&environment, "a.alf");
    let attachments = serde_json::to_value(snapshot.attachments.as_ref().unwrap()).unwrap();
    assert_eq!(attachments["artifact_size_threshold"], 64 << 20);
    let list = &attachments["attachments"];
    assert_eq!(
        (&exported["artifacts_included"], &exported["artifacts_referenced"]),
        (&json!(8), &json!(0))
    );
    let large = with(list, "source_path", "artifacts/big.bin");
    let place = json!("artifacts/artifacts/big.bin");
    assert_eq!((&large["archive_path"], &large["size_bytes"]), (&place, &json!(500_000)));
    let hash = anemone_format::sha256_hex(&ground.read("w/artifacts/big.bin"));
    assert_eq!(large["hash"], json!({ "algorithm": "sha256", "value": hash }));
    let report = with(list, "source_path", "artifacts/report.csv");
    assert_eq!(report["media_type"], "text/csv");
    let records = records_of(&snapshot, "memory/project-atlas.md");
    let last = records.last().unwrap().id.to_string();
    assert_eq!(report["referenced_by"], json!([last]));
    assert_eq!(with(list, "source_path", "artifacts/logo.png")["media_type"], "image/png");
    let script = snapshot.files.iter().find(|it| it.path == b"skills/weather/run.sh").unwrap();
    assert_eq!(script.mode, Some(0o755));
    // Below memory/ it belongs to the agent.
    assert!(snapshot.files.iter().any(|it| it.path == b"memory/diagram.png"));
}

// Secrets.

#[test]
fn a_secret_stops_an_export_and_is_not_shown() {
    let (environment, ground) = edge();
    let workspace = ground.path("w").display().to_string();
    let before = tree(&ground.path(""));
    let args = ["export", "-w", &workspace, "-o", "a.alf"];
    let ran = environment.run(args);
    assert!(PLANTED.iter().all(|it| !ran.stdout.contains(it)), "{}", ran.stdout);
    let failure = environment.failure(1, args);
    assert_eq!(failure["code"], "secrets_found");
    let causes = failure["causes"].as_array().unwrap();
    for place in [".env:1", "memory/.hidden-note.md:3"] {
        assert!(causes.iter().any(|it| it.as_str().unwrap().starts_with(place)), "{failure}");
    }
    assert_eq!(causes.len(), 2, "nothing else is one: {failure}");
    let text = environment.human_failure(1, args);
    assert!(text.contains(".env:1") && PLANTED.iter().all(|it| !text.contains(it)), "{text}");
    assert!(!environment.exists("a.alf"));
    assert_eq!(tree(&ground.path("")), before);
}

#[test]
fn redacted_secrets_are_nowhere_in_the_archive_and_never_replace_the_true_ones() {
    let (environment, ground) = edge();
    let workspace = ground.path("w");
    let exported = export(&environment, &workspace, "a.alf", &["--redact-secrets"]);
    assert_eq!(fields(&exported["secrets"], "path"), [".env", "memory/.hidden-note.md"]);
    assert_holds_none(&environment.read("a.alf"), &PLANTED);
    for conflict in ["stop", "theirs", "both"] {
        let imported = import(&environment, &workspace, "a.alf", &["--on-conflict", conflict]);
        let listed = &imported["not_restored"];
        for path in [".env", "memory/.hidden-note.md"] {
            assert_eq!(with(listed, "path", path)["what"], "secrets");
        }
        assert!(holds(&ground.read("w/.env"), b"sk-SECRETENV-0123456789"), "{conflict}");
        assert!(holds(&ground.read("w/memory/.hidden-note.md"), b"sk-SECRETHIDDEN-42"));
    }
}

#[test]
fn what_is_allowed_travels_and_is_listed() {
    let (environment, ground) = edge();
    let exported = export(&environment, &ground.path("w"), "a.alf", &["--allow-secrets"]);
    assert_eq!(fields(&exported["secrets"], "path"), [".env", "memory/.hidden-note.md"]);
    let entries = unzip(&environment.read("a.alf"));
    assert!(entries.values().any(|it| holds(&it.content, b"SECRETENV")));
    let both = ["export", "-w", "x", "--allow-secrets", "--redact-secrets"];
    environment.failure(2, both);
}

#[test]
fn secrets_of_an_install_never_travel_in_clear() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let home = environment.home("");
    ground.generate("w", &Workspace::edge_cases().install(&home));
    let exported = environment.json(["export", "-o", "a.alf", "--allow-secrets", "--sessions"]);
    assert_eq!(
        (&exported["credentials_count"], &exported["credentials_sealed"]),
        (&json!(2), &json!(0))
    );
    let archive = environment.read("a.alf");
    assert_holds_none(&archive, &PLANTED_INSTALL);
    let credentials = &unzip(&archive)["credentials.json"].content;
    let credentials: Value = serde_json::from_slice(credentials).unwrap();
    let list = &credentials["credentials"];
    assert_eq!(with(list, "service", "anthropic")["credential_type"], "api_key");
    assert_eq!(with(list, "service", "openai")["credential_type"], "oauth_token");
    for credential in list.as_array().unwrap() {
        assert_eq!(credential["encrypted_payload"], "<not-exported>");
    }
}

#[test]
fn with_a_key_secrets_travel_sealed_and_always_the_same() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let home = environment.home("");
    ground.generate("w", &Workspace::plain().install(&home));
    environment.json(["vault", "keygen", "-o", "key"]);
    let args = ["export", "--credentials", "--vault-key", "key", "-o"];
    for output in ["a.alf", "b.alf"] {
        let exported = environment.json([&args[..], &[output]].concat());
        assert_eq!(exported["credentials_sealed"], 2);
    }
    let archive = environment.read("a.alf");
    assert!(archive == environment.read("b.alf"), "two exports are the same");
    assert_holds_none(&archive, &PLANTED_INSTALL);
    let credentials = &unzip(&archive)["credentials.json"].content;
    let credentials: Value = serde_json::from_slice(credentials).unwrap();
    for credential in credentials["credentials"].as_array().unwrap() {
        let payload = credential["encrypted_payload"].as_str().unwrap();
        assert!(payload.len() > 20 && payload != "<not-exported>", "{payload}");
        assert_ne!(credential["encryption"]["algorithm"], "none");
    }
    environment.json(["vault", "keygen", "-o", "other"]);
    let other = ["export", "--credentials", "--vault-key", "other", "-o", "c.alf"];
    environment.json(other);
    assert!(archive != environment.read("c.alf"), "the key matters");
}

#[test]
fn sealing_needs_a_key_and_a_key_needs_something_to_seal() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w").display().to_string();
    environment.failure(2, ["export", "-w", &workspace, "--credentials"]);
    environment.json(["vault", "keygen", "-o", "key"]);
    environment.failure(2, ["export", "-w", &workspace, "--vault-key", "key"]);
    environment.write("bad", "this is no key");
    environment.failure(
        1,
        ["export", "-w", &workspace, "-o", "a.alf", "--credentials", "--vault-key", "bad"],
    );
}

// What the install knows.

/// Lines of a file that a vector was computed from, and the vector.
type Chunk = (String, u64, u64, Vec<f64>);

/// Reads the chunks of a database of either generation, without the program.
fn chunks(database: &Path, table: &str) -> Vec<Chunk> {
    let query = format!("SELECT path, start_line, end_line, embedding FROM {table}");
    let chunk = |row: Vec<Cell>| {
        let [Cell::Text(path), Cell::Integer(start), Cell::Integer(end), vector] = &row[..] else {
            panic!("{row:?}")
        };
        let [start, end] = [start, end].map(|line| u64::try_from(*line).expect("it is a line"));
        let vector = match vector {
            Cell::Text(json) => serde_json::from_str(json).expect("it is JSON"),
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
        let environment = with_fixture(generation);
        let database = environment.home(".openclaw").join(database);
        let chunks = chunks(&database, table);
        let (exported, snapshot) = export_fixture(&environment, &[]);
        let mut number = 0;
        for record in &snapshot.records {
            let file = record.source.origin_file.as_deref().unwrap();
            let [start, end] =
                ["line_start", "line_end"].map(|it| raw(record)[it].as_u64().unwrap());
            // Blank lines before a heading are in its section, and have no text.
            let blank = record.content.lines().take_while(|it| it.trim().is_empty()).count();
            let start = start + blank as u64;
            let overlaps = |it: &&Chunk| it.0 == file && it.1 <= end && it.2 >= start;
            let mut expected: Vec<Vec<f32>> =
                chunks.iter().filter(overlaps).map(|it| narrow(&it.3)).collect();
            let mut carried: Vec<Vec<f32>> =
                record.embeddings.iter().map(|it| it.vector.clone()).collect();
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
    vector.iter().map(|it| *it as f32).collect()
}

#[test]
fn without_a_database_there_are_no_vectors_and_no_error() {
    let environment = with_fixture("gen3");
    fs_err::remove_file(environment.home(".openclaw/memory/main.sqlite")).unwrap();
    let (exported, snapshot) = export_fixture(&environment, &[]);
    assert_eq!((&exported["embeddings"], &exported["memory_records"]), (&json!(0), &json!(7)));
    assert!(snapshot.records.iter().all(|it| it.embeddings.is_empty()));
    assert_eq!(exported["warnings"], json!([]));
}

#[test]
fn rows_that_are_only_in_the_log_of_a_live_database_are_read_and_nothing_is_touched() {
    let environment = with_fixture("gen3");
    let database = environment.home(".openclaw/memory/main.sqlite");
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
            let path = environment.home(".openclaw/memory").join(name);
            let metadata = fs_err::metadata(&path).unwrap();
            (fs_err::read(&path).unwrap(), metadata.modified().unwrap(), metadata.permissions())
        })
    };
    let before = files();
    assert!(before[1].0.len() > 1000, "rows are in the log");
    let listed: Vec<_> = tree(&environment.home(".openclaw")).into_keys().collect();
    let (exported, snapshot) = export_fixture(&environment, &[]);
    let checked = environment.json(["check", "-r", "openclaw"]);
    environment.json(["agents"]);
    assert_eq!(checked["index"]["present"], true);
    assert!(before == files(), "the files are as they were");
    assert_eq!(listed, tree(&environment.home(".openclaw")).into_keys().collect::<Vec<_>>());
    let record = records_of(&snapshot, "memory/project-alpha.md")[0];
    let has = |number: f32| record.embeddings.iter().any(|it| it.vector == [number; 64]);
    assert!(has(0.5), "what was committed is there: {exported}");
    assert!(!has(0.25), "what was not is not");
    assert_eq!(record.embeddings.len(), 2);
    drop(holder);
}

#[test]
fn a_damaged_database_never_stops_an_export() {
    let environment = with_fixture("gen3");
    let path = environment.home(".openclaw/memory/main.sqlite");
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
        let mut command = environment.command();
        command.args(["export", "--dry-run"]).timeout(Duration::from_secs(60));
        let output = command.output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let name = format!("round {round}: {stdout}{stderr}");
        assert_eq!(output.status.code(), Some(0), "{name}");
        assert!(!stderr.contains("panicked") && stderr.is_empty(), "{name}");
        let exported: Value = serde_json::from_str(&stdout).expect(&name);
        assert_eq!(exported["memory_records"], 7, "{name}");
        with_warning += i32::from(exported["warnings"] != json!([]));
    }
    assert!(with_warning > 0, "damage is said");
}

#[test]
fn a_database_that_is_something_else_is_said() {
    let environment = with_fixture("gen3");
    for content in [&b"this is no database"[..], b"", b"SQLite format 3\0"] {
        environment.write_home(".openclaw/memory/main.sqlite", content);
        let exported = environment.json(["export", "--dry-run"]);
        assert_eq!(exported["embeddings"], 0);
        assert_eq!(exported["warnings"] == json!([]), content.is_empty(), "{exported}");
    }
}

#[test]
fn rows_that_make_no_sense_do_not_take_the_good_ones_with_them() {
    let environment = with_fixture("gen3");
    let database = environment.home(".openclaw/memory/main.sqlite");
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
    let (exported, snapshot) = export_fixture(&environment, &[]);
    assert_eq!((&exported["embeddings"], &exported["memory_records"]), (&json!(7), &json!(7)));
    for record in &snapshot.records {
        assert!(record.embeddings.iter().all(|it| it.dimensions == 64 && it.vector.len() == 64));
    }
    environment.json(["validate", "a.alf"]);
}

#[test]
fn views_that_never_end_are_not_read() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    environment.write_home(".openclaw/workspace/MEMORY.md", "## A\n\ntext\n");
    fs_err::create_dir_all(environment.home(".openclaw/memory")).unwrap();
    fs_err::create_dir_all(environment.home(".openclaw/workspace/memory")).unwrap();
    let columns = "i AS id, i AS path, i AS source, i AS start_line, i AS end_line, i AS hash, \
        i AS model, i AS text, i AS embedding, i AS updated_at, i AS entity, i AS key, \
        i AS value, i AS category";
    for (path, view) in [
        (".openclaw/memory/main.sqlite", "chunks"),
        (".openclaw/workspace/memory/facts.db", "facts"),
    ] {
        sql(
            &environment.home(path),
            &format!(
                "CREATE VIEW {view} AS WITH RECURSIVE n(i) AS
                 (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {columns} FROM n"
            ),
        );
    }
    let mut command = environment.command();
    let output = ground.path("a.alf");
    command.args(["export", "-o"]).arg(output).timeout(Duration::from_secs(60));
    let exported: Value =
        serde_json::from_slice(&command.assert().success().get_output().stdout).unwrap();
    assert_eq!((&exported["memory_records"], &exported["embeddings"]), (&json!(1), &json!(0)));
}

#[test]
fn an_interrupted_export_leaves_no_copy_of_a_database() {
    let environment = with_fixture("gen9");
    let tmp = environment.path("../tmp");
    for round in (0..20).step_by(SlowGroup::Kills.pick(3, 1)) {
        let mut child = Command::new(program())
            .args(["export", "--sessions", "--dry-run"])
            .current_dir(environment.path(""))
            .env_clear()
            .envs(environment.variables())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(5 * round));
        let id = child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).output();
        assert!(sent.is_ok());
        child.wait().unwrap();
        let left: Vec<_> = tree(&tmp).into_keys().collect();
        assert!(left.is_empty(), "interrupted after {} ms: {left:?}", 5 * round);
    }
}

#[test]
fn transcripts_become_records_when_asked_for() {
    for generation in ["gen3", "gen9"] {
        let environment = with_fixture(generation);
        let (exported, plain) = export_fixture(&environment, &[]);
        assert_eq!(exported.get("sessions"), None);
        assert!(plain.records.iter().all(|it| it.namespace != "session"));
        let (exported, snapshot) = export_fixture(&environment, &["--sessions", "--force"]);
        let counts = &exported["sessions"];
        assert_eq!((&counts["messages"], &counts["undecodable"]), (&json!(10), &json!(0)));
        let of_session = |it: &&Record| it.namespace == "session";
        let records: Vec<&Record> = snapshot.records.iter().filter(of_session).collect();
        assert!(!records.is_empty());
        for record in &records {
            assert_eq!(word(&record.memory_type), "episodic");
            assert!(record.source.session_id.is_some());
        }
        assert_eq!(snapshot.records.len(), plain.records.len() + records.len());
        let text: String = records.iter().map(|it| it.content.as_str()).collect();
        let said = if generation == "gen3" { "green tea" } else { "memory_search" };
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn what_cannot_be_decoded_of_a_transcript_is_counted_and_keys_are_replaced() {
    let environment = with_fixture("gen3");
    let folder = environment.home(".openclaw/agents/main/sessions");
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
    let (exported, snapshot) = export_fixture(&environment, &["--sessions"]);
    let counts = &exported["sessions"];
    assert_eq!((&counts["undecodable"], &counts["redacted"]), (&json!(1), &json!(1)), "{counts}");
    let text: String = snapshot.records.iter().map(|it| it.content.as_str()).collect();
    assert!(text.contains("tea, my key is") && !text.contains("Zx8Qw2Er5Ty7"));
    assert_holds_none(&environment.read("a.alf"), &["Zx8Qw2Er5Ty7"]);
}

#[test]
fn transcripts_that_were_reset_are_read_too() {
    let environment = with_fixture("gen3");
    let folder = environment.home(".openclaw/agents/main/sessions");
    let name = "a8c81791-3de4-4ec7-b072-dfaef319477b.jsonl";
    let text = fs_err::read_to_string(folder.join(name)).unwrap();
    let other = text
        .replace("a8c81791-3de4-4ec7-b072-dfaef319477b", "b8c81791-3de4-4ec7-b072-dfaef319477b")
        .replace("green tea", "black coffee");
    let reset = "b8c81791-3de4-4ec7-b072-dfaef319477b.jsonl.reset.2026-11-15T07-30-00.000Z";
    fs_err::write(folder.join(reset), other).unwrap();
    let (exported, snapshot) = export_fixture(&environment, &["--sessions"]);
    assert_eq!(exported["sessions"]["transcripts"], 2, "{exported}");
    assert_eq!(exported["sessions"]["messages"], 20, "{exported}");
    assert!(snapshot.records.iter().any(|it| it.content.contains("black coffee")));
    assert!(snapshot.records.iter().any(|it| it.content.contains("green tea")));
}

#[test]
fn archived_transcripts_in_the_database_are_read_too() {
    let environment = with_fixture("gen9");
    let database = environment.home(".openclaw/agents/main/agent/openclaw-agent.sqlite");
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
    let (exported, snapshot) = export_fixture(&environment, &["--sessions"]);
    assert_eq!(exported["sessions"]["messages"], 11, "{exported}");
    assert_eq!(exported["sessions"]["undecodable"], 0, "{exported}");
    assert!(snapshot.records.iter().any(|it| it.content.contains("black coffee")));
}

#[test]
fn credentials_of_the_newer_generation_are_metadata() {
    let environment = with_fixture("gen9");
    let database = environment.home(".openclaw/state/openclaw.sqlite");
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
    let (exported, snapshot) = export_fixture(&environment, &[]);
    assert_eq!(exported["credentials_count"], 2);
    assert_holds_none(&environment.read("a.alf"), &["HUSH"]);
    let credentials = serde_json::to_value(snapshot.credentials.unwrap()).unwrap();
    let services = fields(&credentials["credentials"], "service");
    assert!(services.contains(&"openai") && services.contains(&"x"), "{credentials}");
    environment.json(["vault", "keygen", "-o", "key"]);
    let sealing = ["--credentials", "--vault-key", "key", "--force"];
    let (exported, _) = export_fixture(&environment, &sealing);
    assert_eq!(exported["credentials_sealed"], 2);
    assert_holds_none(&environment.read("a.alf"), &["HUSH"]);
}

// Comparing with an earlier archive.

fn diff(environment: &TestEnvironment, old: &str, new: &str) -> Value {
    environment.json(["diff", old, new])
}

#[test]
fn when_nothing_changed_nothing_is_written() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    export(&environment, &workspace, "a.alf", &[]);
    let exported = export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
    assert_eq!(exported["no_changes"], true);
    assert!(!environment.exists("b.alf"));
    for name in ["w/MEMORY.md", "w/SOUL.md", "w/notes.txt", "w/memory/2026-02-03.md"] {
        ground.touch(name, 1_780_000_000);
        let exported = export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
        assert_eq!(exported["no_changes"], true, "{name} was only touched");
        assert!(!environment.exists("b.alf"));
    }
    let text = environment.human([
        "export",
        "-w",
        workspace.to_str().unwrap(),
        "-o",
        "b.alf",
        "--since",
        "a.alf",
    ]);
    assert!(text.contains("nothing changed"), "{text}");
}

#[test]
fn one_appended_section_changes_one_record() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    export(&environment, &workspace, "a.alf", &[]);
    ground.append("w/memory/2026-02-03.md", "## Night\n\nThree.\n");
    let exported = export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
    assert_eq!(
        (&exported["no_changes"], &exported["identity_version"]),
        (&json!(false), &json!(1))
    );
    let records = &diff(&environment, "a.alf", "b.alf")["records"];
    let id = record_id("memory/2026-02-03.md", 2);
    assert_eq!(records["created"], json!([{ "id": id, "title": "Night" }]));
    assert_eq!((&records["updated"], &records["deleted"]), (&json!([]), &json!([])));
}

#[test]
fn an_appended_section_after_a_blank_line_changes_no_other_record() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    export(&environment, &workspace, "a.alf", &[]);
    ground.append("w/memory/2026-02-03.md", "\n## Night\n\nThree.\n");
    export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
    let records = &diff(&environment, "a.alf", "b.alf")["records"];
    assert_eq!(fields(&records["created"], "title"), ["Night"]);
    assert_eq!((&records["updated"], &records["deleted"]), (&json!([]), &json!([])));
    let (a, b) = (snapshot(&environment, "a.alf"), snapshot(&environment, "b.alf"));
    let of = |it: &Snapshot| records_of(it, "memory/2026-02-03.md")[1].clone();
    assert_eq!(of(&b).content, of(&a).content);
    assert_eq!(times(&of(&b))["created_at"], times(&of(&a))["created_at"]);
}

#[test]
fn texts_that_moved_keep_their_times() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    export(&environment, &workspace, "a.alf", &[]);
    let was = String::from_utf8(ground.read("w/MEMORY.md")).unwrap();
    ground.write("w/MEMORY.md", was.replace("## Tea", "## New\n\nFirst.\n\n## Tea"));
    ground.touch("w/MEMORY.md", 1_780_000_000);
    export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
    let (a, b) = (snapshot(&environment, "a.alf"), snapshot(&environment, "b.alf"));
    let (a, b) = (records_of(&a, "MEMORY.md"), records_of(&b, "MEMORY.md"));
    assert_eq!((a.len(), b.len()), (3, 4));
    for (old, new) in [(0, 0), (1, 2), (2, 3)] {
        assert_eq!(a[old].content, b[new].content);
        assert_eq!(times(a[old]), times(b[new]), "{}", a[old].content);
    }
    assert!(
        times(b[1])["created_at"].as_str().unwrap() > times(a[1])["created_at"].as_str().unwrap()
    );
}

#[test]
fn a_changed_identity_has_a_new_version_and_old_records_keep_theirs() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    let first = export(&environment, &workspace, "a.alf", &[]);
    assert_eq!(first["identity_version"], 1);
    ground.append("w/SOUL.md", "Bolder now.\n");
    ground.append("w/memory/2026-02-03.md", "## Night\n\nThree.\n");
    let second = export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
    assert_eq!(second["identity_version"], 2);
    let snapshot = snapshot(&environment, "b.alf");
    let new = record_id("memory/2026-02-03.md", 2);
    for record in &snapshot.records {
        let expected = if record.id.to_string() == new { 2 } else { 1 };
        assert_eq!(record.source.identity_version, Some(expected), "{}", record.content);
    }
    let records = &diff(&environment, "a.alf", "b.alf")["records"];
    assert_eq!(fields(&records["created"], "id"), [new]);
    assert_eq!(records["updated"].as_array().unwrap().len(), 0, "{records}");
    let third = export(&environment, &workspace, "c.alf", &["--since", "b.alf"]);
    assert_eq!(third["no_changes"], true);
}

#[test]
fn an_archive_of_another_agent_is_nothing_to_compare_with() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let one = ground.small("one");
    let two = ground.small("two").display().to_string();
    export(&environment, &one, "a.alf", &[]);
    for more in [&[][..], &["--dry-run"]] {
        let args = ["export", "-w", &two, "-o", "b.alf", "--since", "a.alf"];
        let failure = environment.failure(3, [&args[..], more].concat());
        assert_eq!(failure["code"], "different_agents");
    }
    environment.write("broken.alf", "PK");
    environment.run(["export", "-w", &two, "-o", "b.alf", "--since", "broken.alf"]);
    assert!(!environment.exists("b.alf"));
}

#[test]
fn a_change_that_hides_behind_size_and_time_is_seen() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    let large = vec![b'a'; 200_000];
    ground.write("w/large.bin", &large);
    ground.touch("w/large.bin", 1_770_000_000);
    export(&environment, &workspace, "a.alf", &[]);
    // As many bytes, at the same time: one file that travels, one that is only named.
    for (name, content) in
        [("w/notes.txt", b"an ARTIFACT\n".to_vec()), ("w/large.bin", vec![b'b'; 200_000])]
    {
        let was = ground.read(name);
        ground.write(name, content);
        ground.touch(name, 1_770_000_000);
        let exported = export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
        assert_eq!(exported["no_changes"], false, "{name}");
        fs_err::remove_file(environment.path("b.alf")).unwrap();
        ground.write(name, was);
        ground.touch(name, 1_770_000_000);
    }
    let exported = export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
    assert_eq!(exported["no_changes"], true);
}

#[test]
fn a_new_message_in_a_transcript_is_a_change() {
    let environment = with_fixture("gen3");
    environment.json(["export", "--sessions", "-o", "a.alf"]);
    let since = ["export", "--sessions", "-o", "b.alf", "--since", "a.alf"];
    assert_eq!(environment.json(since)["no_changes"], true);
    let path = environment
        .home(".openclaw/agents/main/sessions/a8c81791-3de4-4ec7-b072-dfaef319477b.jsonl");
    let mut text = fs_err::read_to_string(&path).unwrap();
    text.push_str(
        "{\"type\":\"message\",\"id\":\"ffffffff\",\"timestamp\":\"2026-11-15T08:00:00.000Z\",\
         \"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"One more thing.\"}]}}\n",
    );
    fs_err::write(&path, text).unwrap();
    let exported = environment.json(since);
    assert_eq!(exported["no_changes"], false, "{exported}");
    let records = snapshot(&environment, "b.alf").records;
    assert!(records.iter().any(|it| it.content.contains("One more thing.")));
}

#[test]
fn a_new_vector_or_key_is_a_change() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let home = environment.home("");
    ground.generate("w", &Workspace::plain().days(1).install(&home));
    environment.json(["export", "-o", "a.alf"]);
    let since = ["export", "-o", "b.alf", "--since", "a.alf", "--force"];
    assert_eq!(environment.json(since)["no_changes"], true);
    let database = environment.home(".openclaw/memory/main.sqlite");
    sql(&database, "DELETE FROM chunks WHERE start_line = 1");
    assert_eq!(environment.json(since)["no_changes"], false, "a vector less");
    environment.write_home(
        ".openclaw/agents/main/agent/auth-profiles.json",
        r#"{"version":1,"profiles":{"x:y":{"type":"api_key","provider":"x","key":"HUSH"}}}"#,
    );
    let since = ["export", "-o", "c.alf", "--since", "b.alf"];
    let exported = environment.json(since);
    assert_eq!(
        (&exported["no_changes"], &exported["credentials_count"]),
        (&json!(false), &json!(1))
    );
}

#[test]
fn redacted_files_that_did_not_change_are_no_change() {
    let (environment, ground) = edge();
    let workspace = ground.path("w");
    export(&environment, &workspace, "a.alf", &["--redact-secrets"]);
    let since = ["--redact-secrets", "--since", "a.alf"];
    let exported = export(&environment, &workspace, "b.alf", &since);
    assert_eq!(exported["no_changes"], true, "{exported}");
    assert!(!environment.exists("b.alf"));
}

#[test]
fn what_is_gone_is_gone_and_other_options_are_another_export() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    export(&environment, &workspace, "a.alf", &[]);
    let since = ["--since", "a.alf", "--artifact-threshold", "3"];
    let exported = export(&environment, &workspace, "b.alf", &since);
    assert_eq!(
        (&exported["no_changes"], &exported["artifacts_referenced"]),
        (&json!(false), &json!(1))
    );
    fs_err::remove_file(ground.path("w/memory/project-x.md")).unwrap();
    export(&environment, &workspace, "c.alf", &["--since", "a.alf"]);
    let records = &diff(&environment, "a.alf", "c.alf")["records"];
    let gone = record_id("memory/project-x.md", 0);
    assert_eq!(fields(&records["deleted"], "id"), [gone]);
    assert_eq!((&records["created"], &records["updated"]), (&json!([]), &json!([])));
}

#[test]
fn the_modes_of_files_are_part_of_what_changes() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    export(&environment, &workspace, "a.alf", &[]);
    let permissions = std::fs::Permissions::from_mode(0o755);
    fs_err::set_permissions(ground.path("w/notes.txt"), permissions).unwrap();
    let exported = export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
    assert_eq!(exported["no_changes"], false, "a script that may be run is another file");
    ground.link("notes.txt", "w/link");
    let exported = export(&environment, &workspace, "c.alf", &["--since", "b.alf"]);
    assert_eq!(exported["no_changes"], false);
    fs_err::create_dir(ground.path("w/empty")).unwrap();
    let exported = export(&environment, &workspace, "d.alf", &["--since", "c.alf"]);
    assert_eq!(exported["no_changes"], false);
}

// Odd workspaces.

#[test]
fn a_file_that_is_not_utf8_travels_as_it_is() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let bytes = b"## Caf\xe9\n\nd\xe9j\xe0 vu\n";
    ground.write("w/memory/latin1.md", bytes);
    ground.write("w/SOUL.md", b"# \xff\n");
    ground.write("w/memory/good.md", "## Good\n");
    let exported = export(&environment, &ground.path("w"), "a.alf", &[]);
    let warnings = &exported["warnings"];
    assert_eq!(with(warnings, "path", "memory/latin1.md")["code"], "not_utf8");
    assert_eq!(with(warnings, "path", "SOUL.md")["code"], "not_utf8");
    let snapshot = snapshot(&environment, "a.alf");
    let file = snapshot.files.iter().find(|it| it.path == b"memory/latin1.md").unwrap();
    assert_eq!(file.node, Node::File(bytes.to_vec()));
    assert_eq!(snapshot.records.len(), 1);
}

/// Runs the program as somebody who may not read everything, or says aloud that it cannot.
fn run_as_nobody(ground: &Ground, args: &[&str]) -> Option<Value> {
    use std::os::unix::fs::MetadataExt as _;
    let tmp = ground.path("tmp");
    fs_err::create_dir_all(&tmp).expect("it is ours");
    for path in [&ground.path(""), &tmp] {
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o777)).expect("it is ours");
    }
    let root = fs_err::metadata("/proc/self").is_ok_and(|it| it.uid() == 0);
    let mut command = Command::new(if root { "setpriv" } else { "env" });
    if root {
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    }
    command.arg(program()).args(args).current_dir(&tmp);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", &tmp).env("TMPDIR", &tmp);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            skip("setpriv", format_args!("setpriv does not run: {error}"));
            return None;
        }
    };
    let text = String::from_utf8(output.stdout).expect("what is printed is UTF-8");
    let stderr = String::from_utf8_lossy(&output.stderr);
    if text.is_empty() && stderr.contains("setpriv") {
        skip("setpriv", stderr);
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{text}{stderr}");
    Some(serde_json::from_str(&text).expect("it is JSON"))
}

#[test]
fn an_unreadable_file_never_stops_a_backup_and_is_reported() {
    let ground = Ground::new();
    ground.small("w");
    for name in ["w/memory/secret.md", "w/closed/inside.txt"] {
        ground.write(name, "## No\n\nentry\n");
    }
    let close = |name: &str, mode: u32| {
        let permissions = std::fs::Permissions::from_mode(mode);
        fs_err::set_permissions(ground.path(name), permissions).unwrap();
    };
    close("w/memory/secret.md", 0);
    close("w/closed", 0);
    let workspace = ground.path("w").display().to_string();
    let output = ground.path("tmp/a.alf").display().to_string();
    let exported = run_as_nobody(&ground, &["export", "-w", &workspace, "-o", &output]);
    close("w/closed", 0o755);
    let Some(exported) = exported else { return };
    let left_out = &exported["left_out"];
    for path in ["memory/secret.md", "closed"] {
        assert_eq!(with(left_out, "path", path)["reason"], "unreadable");
    }
    assert_eq!(exported["memory_records"], 6);
    assert_holds_none(&ground.read("tmp/a.alf"), &["entry"]);
    close("w/closed", 0);
    let checked = run_as_nobody(&ground, &["check", "-r", "openclaw", "-w", &workspace]);
    close("w/closed", 0o755);
    let unreadable = checked.unwrap()["unreadable"].to_string();
    assert!(unreadable.contains("memory/secret.md"), "{unreadable}");
}

#[test]
fn pipes_are_listed_and_never_opened() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.small("w");
    for name in ["w/memory/pipe.md", "w/MEMORY.pipe"] {
        let made = Command::new("mkfifo").arg(ground.path(name)).status().unwrap();
        assert!(made.success());
    }
    let exported = export(&environment, &ground.path("w"), "a.alf", &[]);
    for path in ["memory/pipe.md", "MEMORY.pipe"] {
        assert_eq!(with(&exported["left_out"], "path", path)["reason"], "special");
    }
    let workspace = ground.path("w").display().to_string();
    environment.json(["check", "-r", "openclaw", "-w", &workspace]);
}

#[test]
fn pipes_in_an_install_are_never_opened() {
    for name in [
        "openclaw.json",
        "memory/main.sqlite",
        "agents/main/sessions/sessions.json",
        "agents/main/sessions/a.jsonl",
        "agents/main/agent/auth-profiles.json",
        "workspace/SOUL.md",
        "workspace/memory/facts.db",
    ] {
        let environment = TestEnvironment::new();
        environment.write_home(".openclaw/workspace/MEMORY.md", "## A\n");
        let path = environment.home(".openclaw").join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        for args in
            [&["agents"][..], &["check", "-r", "openclaw"], &["export", "--dry-run", "--sessions"]]
        {
            let mut command = environment.command();
            let output = command.args(args).timeout(Duration::from_secs(10)).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{name}, {args:?}: {output:?}");
        }
    }
}

#[test]
fn patterns_that_cannot_be_read_stop_an_export() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.small("w");
    ground.write("patterns", "private/\n");
    ground.link("../patterns", "w/.alfignore");
    let workspace = ground.path("w").display().to_string();
    let failed = environment.run(["export", "-w", &workspace, "-o", "a.alf"]);
    assert_eq!(failed.code, 1);
    assert!(failed.stdout.contains(r#""code":"alfignore""#), "{}", failed.stdout);
    assert!(!environment.exists("a.alf"));
    fs_err::remove_file(ground.path("w/.alfignore")).unwrap();
    let made = Command::new("mkfifo").arg(ground.path("w/.alfignore")).status().unwrap();
    assert!(made.success());
    let mut command = environment.command();
    command.args(["export", "-n", "-w", &workspace]).timeout(Duration::from_secs(10));
    assert_eq!(command.output().unwrap().status.code(), Some(1));
}

#[test]
fn sockets_are_listed_and_never_opened() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.small("w");
    let _socket = std::os::unix::net::UnixListener::bind(ground.path("w/socket")).unwrap();
    let exported = export(&environment, &ground.path("w"), "a.alf", &[]);
    assert_eq!(with(&exported["left_out"], "path", "socket")["reason"], "special");
}

#[test]
fn nothing_outside_of_the_workspace_is_read_through_a_link() {
    let (environment, ground) = edge();
    ground.link(ground.path("outside-secret.md"), "w/MEMORY-link.md");
    ground.link("..", "w/memory/up");
    let exported = export(&environment, &ground.path("w"), "a.alf", &["--allow-secrets"]);
    assert_holds_none(&environment.read("a.alf"), &["OUTSIDE-WORKSPACE-SECRET"]);
    let warned = with(&exported["warnings"], "path", "memory/link-outside.md");
    assert_eq!(warned["code"], "link_outside");
    let snapshot = snapshot(&environment, "a.alf");
    let node = |path: &[u8]| &snapshot.files.iter().find(|it| it.path == path).unwrap().node;
    assert_eq!(node(b"memory/link-inside.md"), &Node::Symlink(b"project-atlas.md".to_vec()));
    assert_eq!(node(b"memory/dangling.md"), &Node::Symlink(b"nowhere.md".to_vec()));
    assert_eq!(node(b"memory/link-dir"), &Node::Symlink(b"topics".to_vec()));
    let of_link = |it: &Record| it.source.origin_file.as_deref().unwrap().contains("link");
    assert!(!snapshot.records.iter().any(of_link), "a link has no records of its own");
}

#[test]
fn files_of_the_agent_that_are_links_to_outside_are_not_read() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.write("out/e.md", "## E\n\nELSEWHERE\n");
    ground.link("../out", "w/memory");
    for name in ["SOUL.md", "USER.md", "MEMORY.md"] {
        ground.link("../out/e.md", &format!("w/{name}"));
    }
    let exported = export(&environment, &ground.path("w"), "a.alf", &["--allow-empty"]);
    assert_holds_none(&environment.read("a.alf"), &["ELSEWHERE"]);
    assert_eq!(exported["memory_records"], 0);
    for name in ["memory", "MEMORY.md", "SOUL.md"] {
        assert_eq!(with(&exported["warnings"], "path", name)["code"], "link_outside");
    }
    let snapshot = snapshot(&environment, "a.alf");
    assert!(snapshot.files.iter().all(|it| matches!(it.node, Node::Symlink(_))));
}

#[test]
fn a_memory_folder_that_is_a_link_within_the_workspace_is_said() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.write("w/real/e.md", "## E\n\ntext\n");
    ground.link("real", "w/memory");
    let exported = export(&environment, &ground.path("w"), "a.alf", &["--allow-empty"]);
    let warned = with(&exported["warnings"], "path", "memory");
    assert!(warned["code"].as_str().unwrap().contains("link"), "{exported}");
    let snapshot = snapshot(&environment, "a.alf");
    assert!(snapshot.files.iter().any(|it| it.path == b"real/e.md"), "what it leads to travels");
}

#[test]
fn patterns_keep_files_out() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.write("w/.alfignore", "# mine\n*.log\n!keep.log\n[z-a\nsub/\n/top.txt\n\n");
    for name in ["a.log", "keep.log", "sub/f.md", "memory/sub/g.md", "top.txt", "x/top.txt"] {
        ground.write(format!("w/{name}"), "## text\n");
    }
    let exported = export(&environment, &ground.path("w"), "a.alf", &["--allow-empty"]);
    assert_eq!(exported["excluded_by_alfignore"], json!(["a.log", "memory/sub", "sub", "top.txt"]));
    assert_eq!(with(&exported["left_out"], "path", "sub")["reason"], "ignored");
    let warned = with(&exported["warnings"], "code", "alfignore");
    assert!(warned["message"].as_str().unwrap().contains("line 4"), "{warned}");
    let snapshot = snapshot(&environment, "a.alf");
    let mut files: Vec<String> = snapshot
        .files
        .iter()
        .filter(|it| it.node != Node::Folder)
        .map(|it| String::from_utf8(it.path.clone()).unwrap())
        .collect();
    files.sort();
    assert_eq!(files, [".alfignore", "keep.log", "x/top.txt"]);
    assert!(snapshot.records.is_empty());
}

#[test]
fn an_archive_within_the_workspace_does_not_hold_itself() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    let output = ground.path("w/out.alf").display().to_string();
    export(&environment, &workspace, &output, &[]);
    let first = ground.read("w/out.alf");
    export(&environment, &workspace, &output, &["--force"]);
    let second = ground.read("w/out.alf");
    for archive in [&first, &second] {
        assert!(
            unzip(archive).keys().all(|it| !it.contains("out.alf") && !it.contains(".anemone"))
        );
    }
    assert!(first == second, "the archive that was there is no part of the agent");
    let names: Vec<_> = tree(&workspace).into_keys().collect();
    assert!(names.iter().all(|it| !it.to_str().unwrap().contains(".anemone")), "{names:?}");
}

#[test]
fn an_archive_that_is_there_is_not_replaced() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w").display().to_string();
    environment.write("a.alf", "mine");
    let failure = environment.failure(1, ["export", "-w", &workspace, "-o", "a.alf"]);
    assert_eq!(failure["code"], "exists");
    assert_eq!(environment.read("a.alf"), b"mine");
    environment.json(["export", "-w", &workspace, "-o", "a.alf", "--force"]);
    assert!(environment.read("a.alf").starts_with(b"PK"));
    environment.json(["validate", "a.alf"]);
}

#[test]
fn what_is_no_workspace_is_said() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let file = ground.write("file", "text").display().to_string();
    let failure = environment.failure(1, ["export", "-w", &file, "-o", "a.alf"]);
    assert_eq!(failure["code"], "not_a_folder");
    assert_eq!(failure["error"], format!("{file} is a file, not a folder"));
    let gone = ground.path("gone").display().to_string();
    let failure = environment.failure(1, ["export", "-w", &gone, "-o", "a.alf"]);
    assert_eq!(failure["code"], "not_found");
    assert_eq!(failure["error"], format!("there is no folder {gone}"));
    ground.link("gone", "dangling");
    let dangling = ground.path("dangling").display().to_string();
    environment.failure(1, ["export", "-w", &dangling, "-o", "a.alf"]);
}

#[test]
fn an_empty_workspace_is_a_workspace() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    fs_err::create_dir(ground.path("w")).unwrap();
    let exported = export(&environment, &ground.path("w"), "a.alf", &["--allow-empty"]);
    assert_eq!((&exported["memory_records"], &exported["files_count"]), (&json!(0), &json!(0)));
    environment.json(["validate", "a.alf"]);
    import(&environment, &ground.path("i"), "a.alf", &[]);
    let names: Vec<_> = tree(&ground.path("i")).into_keys().collect();
    assert_eq!(names, [Path::new(".alf-agent-id")]);
}

#[test]
fn a_workspace_may_be_a_link() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    ground.link("w", "link");
    export(&environment, &workspace, "a.alf", &[]);
    export(&environment, &ground.path("link"), "b.alf", &[]);
    assert!(environment.read("a.alf") == environment.read("b.alf"));
}

#[test]
fn odd_names_travel_there_and_back() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let names: [&[u8]; 9] = [
        b"memory/new\nline.md",
        b"memory/back\\slash.md",
        b"memory/bad\xff.md",
        b"bad\xfe\xff",
        b"memory/ leading and trailing .md",
        b"memory/-dash.md",
        b"CON",
        b"a:b?*\"<>|",
        b"memory/\xcc\x88combining.md",
    ];
    for name in names {
        ground.write(Path::new("w").join(OsStr::from_bytes(name)), "## A\n\ntext\n");
    }
    export(&environment, &ground.path("w"), "a.alf", &[]);
    let snapshot = snapshot(&environment, "a.alf");
    for name in names {
        assert!(snapshot.files.iter().any(|it| it.path == name), "{}", name.escape_ascii());
    }
    environment.json(["validate", "a.alf"]);
    import(&environment, &ground.path("i"), "a.alf", &[]);
    crate::workspace::assert_same_tree(
        &ground.path("w"),
        &ground.path("i"),
        &[],
        &[".alf-agent-id"],
    );
}

#[test]
fn folders_may_be_nested_as_deep_as_anybody_likes() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.write(format!("w/{}f.txt", "d/".repeat(300)), "deep");
    ground.write("w/MEMORY.md", "## Top\n");
    let exported = export(&environment, &ground.path("w"), "a.alf", &[]);
    let snapshot = snapshot(&environment, "a.alf");
    let travels = snapshot.files.iter().any(|it| it.path.ends_with(b"/f.txt"));
    let listed = exported["left_out"].as_array().unwrap().iter().any(|it| it["files"] == 1);
    assert!(travels || listed, "it travels or is listed: {exported}");
    // What we write, we take back.
    environment.json(["validate", "a.alf"]);
    import(&environment, &ground.path("i"), "a.alf", &[]);
    assert_eq!(ground.read("i/MEMORY.md"), b"## Top\n");
}

#[test]
fn nasty_files_do_not_stop_an_export() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.generate("w", &Workspace::nasty().days(2));
    let exported = export(&environment, &workspace, "a.alf", &[]);
    assert_eq!(with(&exported["warnings"], "path", "memory/latin1.md")["code"], "not_utf8");
    let snapshot = snapshot(&environment, "a.alf");
    let huge = records_of(&snapshot, "memory/hugeline.md");
    assert_eq!(huge.iter().map(|it| it.content.len()).sum::<usize>(), 9 + (32 << 20));
    let file = snapshot.files.iter().find(|it| it.path == b"memory/hugeline.md").unwrap();
    let Node::File(content) = &file.node else { panic!() };
    assert_eq!(content.len(), 9 + (32 << 20));
}

// Options.

#[test]
fn a_dry_run_writes_nothing_and_lists_what_would_travel() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    let before = tree(&ground.path(""));
    let listed = export(&environment, &workspace, "a.alf", &["--dry-run", "--write-agent-id"]);
    assert!(!environment.exists("a.alf"));
    assert_eq!(tree(&ground.path("")), before);
    assert_eq!((&listed["dry_run"], listed.get("output")), (&json!(true), None));
    let files = &listed["files"];
    let sizes: u64 = tree(&workspace)
        .keys()
        .map(|it| fs_err::metadata(workspace.join(it)).unwrap())
        .filter(std::fs::Metadata::is_file)
        .map(|it| it.len())
        .sum();
    assert_eq!(listed["total_size"], sizes);
    for path in ["MEMORY.md", "memory/2026-02-03.md", "notes.txt"] {
        assert_eq!(with(files, "path", path)["kind"], "file");
    }
    assert_eq!(with(files, "path", "notes.txt")["size"], 12);
    let exported = export(&environment, &workspace, "a.alf", &[]);
    for key in ["memory_records", "total_size", "files_count", "agent_id", "left_out", "warnings"] {
        assert_eq!(listed[key], exported[key], "{key}");
    }
}

#[test]
fn a_dry_run_lists_secrets() {
    let (environment, ground) = edge();
    let listed = export(&environment, &ground.path("w"), "a.alf", &["--dry-run"]);
    assert_eq!(fields(&listed["secrets"], "path"), [".env", "memory/.hidden-note.md"]);
    assert!(PLANTED.iter().all(|it| !listed.to_string().contains(it)));
}

#[test]
fn a_contract_of_two_hundred_kilobytes_is_in_the_archive_and_comes_back() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    let content: Vec<u8> = (0..200_000_u32).flat_map(|it| it.to_le_bytes()).collect();
    ground.write("w/papers/contract.pdf", &content);
    let exported = export(&environment, &workspace, "a.alf", &[]);
    assert_eq!((&exported["warnings"], &exported["left_out"]), (&json!([]), &json!([])));
    import(&environment, &ground.path("i"), "a.alf", &[]);
    assert!(ground.read("i/papers/contract.pdf") == content);
}

#[test]
fn what_is_not_in_the_archive_cannot_be_overlooked() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    ground.write("w/notes/long.md", "# Long\n\nMarkdown of any size travels.\n");
    for number in 0..12 {
        ground.write(format!("w/papers/{number:02}.pdf"), vec![7; 100 + number]);
    }
    let small = ["--artifact-threshold", "20"];
    let exported = export(&environment, &workspace, "a.alf", &small);
    assert_eq!(fields(&exported["warnings"], "code"), ["not_in_archive"]);
    assert_eq!(exported["left_out"].as_array().unwrap().len(), 12);
    let shown = workspace.display().to_string();
    let args = [&["export", "-w", &shown, "-o", "b.alf"][..], &small].concat();
    let text = environment.human(args);
    for part in [
        "NOT IN THE ARCHIVE: 12 files (",
        "papers/09.pdf ([size]): larger than --artifact-threshold",
        "and 2 more",
        "--artifact-threshold 111",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("papers/10.pdf") && !text.contains("long.md"), "{text}");
    let all = ["--artifact-threshold", "111"];
    assert_eq!(export(&environment, &workspace, "c.alf", &all)["warnings"], json!([]));
}

#[test]
fn a_folder_that_is_no_agents_is_no_backup() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let copyright = ground.write("doc/bash/copyright", "free");
    let folder = copyright.parent().unwrap().parent().unwrap().display().to_string();
    for more in [&[][..], &["--dry-run"]] {
        let args = [&["export", "-w", &folder, "-o", "a.alf"][..], more].concat();
        let failure = environment.failure(1, args);
        assert_eq!(failure["code"], "nothing_to_export");
        assert!(failure["hint"].as_str().unwrap().contains("--allow-empty"), "{failure}");
        assert!(!environment.exists("a.alf"));
    }
    environment.json(["export", "-w", &folder, "-o", "a.alf", "--allow-empty"]);
    environment.json(["validate", "a.alf"]);
}

/// Makes an install of OpenClaw with one agent and one conversation.
fn install(environment: &TestEnvironment, version: &str) {
    let config = format!("{{ meta: {{ lastTouchedVersion: '{version}' }} }}");
    environment.write_home(".openclaw/openclaw.json", config);
    environment.write_home(".openclaw/workspace/MEMORY.md", "# Memory\n\n## Tea\n\nOolong.\n");
    environment.write_home(".openclaw/agents/main/sessions/s1.jsonl", "{}\n");
}

#[test]
fn an_upgrade_of_the_runtime_changes_no_record() {
    let environment = TestEnvironment::new();
    install(&environment, "2026.3.13");
    environment.json(["export", "-o", "a.alf"]);
    install(&environment, "2026.3.24");
    let exported = environment.json(["export", "--since", "a.alf", "-o", "b.alf"]);
    assert_eq!(exported["no_changes"], false, "the manifest names the new version");
    let records = &diff(&environment, "a.alf", "b.alf")["records"];
    for change in ["created", "updated", "deleted"] {
        assert_eq!(records[change], json!([]), "{records}");
    }
    let agent = snapshot(&environment, "b.alf").manifest.agent;
    assert_eq!(agent.source_runtime_version.as_deref(), Some("2026.3.24"));
}

#[test]
fn an_archive_whose_records_name_the_version_is_continued_without_changing_them() {
    let environment = TestEnvironment::new();
    install(&environment, "2026.3.13");
    environment.json(["export", "-o", "a.alf"]);
    let mut earlier = snapshot(&environment, "a.alf");
    for record in &mut earlier.records {
        record.source.runtime_version = Some("2026.3.13".to_owned());
    }
    environment.write_archive("older.alf", &earlier);
    install(&environment, "2026.3.24");
    environment.json(["export", "--since", "older.alf", "-o", "b.alf"]);
    let records = &diff(&environment, "older.alf", "b.alf")["records"];
    assert_eq!(records["updated"], json!([]), "{records}");
}

#[test]
fn what_only_travels_on_request_is_listed_and_is_no_warning() {
    let environment = TestEnvironment::new();
    install(&environment, "2026.3.13");
    let exported = environment.json(["export", "-o", "a.alf"]);
    assert_eq!(exported["warnings"], json!([]));
    let listed = &exported["left_out_by_default"];
    assert_eq!(fields(listed, "kind"), ["transcripts", "settings"]);
    let transcripts = with(listed, "kind", "transcripts");
    assert_eq!((&transcripts["count"], &transcripts["bytes"]), (&json!(1), &json!(3)));
    assert_eq!(transcripts["include_with"], "--sessions");
    let text = environment.human(["export", "-o", "b.alf"]);
    assert!(text.contains("left out by default:\n    conversations: 1 file"), "{text}");
    let with_sessions = environment.json(["export", "-o", "c.alf", "--sessions"]);
    assert_eq!(fields(&with_sessions["left_out_by_default"], "kind"), ["settings"]);
}

#[test]
fn the_threshold_decides_which_artifacts_travel() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    ground.write("w/ten.bin", [1; 10]);
    ground.write("w/eleven.bin", [1; 11]);
    let exported = export(&environment, &workspace, "a.alf", &["--artifact-threshold", "10"]);
    assert_eq!(
        (&exported["artifacts_included"], &exported["artifacts_referenced"]),
        (&json!(1), &json!(2))
    );
    let large = with(&exported["left_out"], "path", "eleven.bin");
    assert_eq!((&large["reason"], &large["bytes"]), (&json!("referenced"), &json!(11)));
}

#[test]
fn the_id_that_was_written_down_survives_a_move() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    let exported = export(&environment, &workspace, "a.alf", &["--write-agent-id"]);
    let id = exported["agent_id"].as_str().unwrap();
    assert_eq!(exported["agent_id_file"], workspace.join(".alf-agent-id").display().to_string());
    assert_eq!(ground.read("w/.alf-agent-id"), id.as_bytes());
    // By the existing tool's formula, from the path of the workspace.
    let namespace = uuid::Uuid::from_bytes(*b"alf-agent-id-ns1");
    let canonical = fs_err::canonicalize(&workspace).unwrap();
    let expected = uuid::Uuid::new_v5(&namespace, canonical.to_str().unwrap().as_bytes());
    assert_eq!(id, expected.to_string());
    fs_err::rename(&workspace, ground.path("moved")).unwrap();
    let moved = export(&environment, &ground.path("moved"), "b.alf", &[]);
    assert_eq!(moved["agent_id"], id);
    let since = export(&environment, &ground.path("moved"), "c.alf", &["--since", "a.alf"]);
    assert_eq!(since["no_changes"], true, "{since}");
}

#[test]
fn a_broken_id_file_is_an_error() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w").display().to_string();
    for broken in ["", "no id", "0190f3a0-7f3c-7b1e-9d2a"] {
        ground.write("w/.alf-agent-id", broken);
        let failure = environment.failure(1, ["export", "-w", &workspace, "-o", "a.alf"]);
        let error = failure["error"].as_str().unwrap();
        assert!(error.contains(".alf-agent-id"), "{error}");
    }
    ground.write("w/.alf-agent-id", "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f\n");
    let exported = environment.json(["export", "-w", &workspace, "-o", "a.alf"]);
    assert_eq!(exported["agent_id"], "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f");
}

// Which agent.

#[test]
fn the_one_agent_of_the_machine_needs_no_name() {
    let environment = TestEnvironment::new();
    let failure = environment.failure(1, ["export"]);
    assert_eq!(failure["code"], "agent_not_found");
    environment.write_home(".openclaw/workspace/SOUL.md", "# Me");
    let exported = environment.json(["export"]);
    assert_eq!(exported["output"], "main.alf", "named after the agent");
    assert!(environment.exists("main.alf"));
}

#[test]
fn of_two_agents_one_must_be_named() {
    let environment = TestEnvironment::new();
    environment.write_home(".openclaw/workspace/SOUL.md", "# Me");
    environment.write_home(".openclaw-work/workspace/SOUL.md", "# You");
    let failure = environment.failure(2, ["export", "-o", "a.alf"]);
    assert_eq!(failure["code"], "agent_selection_ambiguous");
    let causes = failure["causes"].to_string();
    for path in [".openclaw/workspace", ".openclaw-work/workspace"] {
        assert!(causes.contains(&environment.home(path).display().to_string()), "{failure}");
    }
    let exported = environment.json(["export", "-o", "a.alf", "--agent", "work/main"]);
    assert_eq!(exported["agent_name"], "You");
    let exported = environment.json(["export", "-o", "b.alf", "--agent", "main"]);
    assert_eq!(exported["agent_name"], "Me");
    let failure = environment.failure(1, ["export", "-o", "c.alf", "--agent", "nobody"]);
    assert_eq!(failure["code"], "agent_not_found");
    assert!(failure["hint"].as_str().unwrap().contains("main, work/main"), "{failure}");
    environment.failure(2, ["export", "-r", "nobody", "-o", "c.alf"]);
}

// What holds for all of it.

#[test]
fn two_exports_are_the_same_from_wherever_they_are_made() {
    let (environment, ground) = edge();
    let workspace = ground.path("w");
    export(&environment, &workspace, "a.alf", &["--allow-secrets"]);
    export(&environment, &workspace, "b.alf", &["--allow-secrets"]);
    let first = environment.read("a.alf");
    assert!(first == environment.read("b.alf"), "the same again");
    let mut elsewhere = environment.command();
    let output = environment.path("c.alf");
    elsewhere.current_dir(&workspace).args(["export", "-w", ".", "--allow-secrets", "-o"]);
    elsewhere.arg(&output).assert().success();
    assert!(first == environment.read("c.alf"), "from within the workspace");
    // One processor means one thread.
    let taskset = Command::new("taskset")
        .args(["-c", "0"])
        .arg(program())
        .args(["export", "--allow-secrets", "-w"])
        .arg(&workspace)
        .arg("-o")
        .arg(environment.path("d.alf"))
        .env_clear()
        .envs(environment.variables())
        .output();
    if taskset.is_ok_and(|it| it.status.success()) {
        assert!(first == environment.read("d.alf"), "with one thread");
    }
}

#[test]
fn reading_never_writes() {
    for generation in ["gen3", "gen9"] {
        let environment = with_fixture(generation);
        environment.json(["vault", "keygen", "-o", "key"]);
        let before = tree(&environment.home(".openclaw"));
        for args in [
            &["agents"][..],
            &["check", "-r", "openclaw"],
            &["export", "-o", "a.alf"],
            &["export", "--dry-run"],
            &["export", "--sessions", "--credentials", "--vault-key", "key", "-o", "b.alf"],
            &["export", "-o", "c.alf", "--since", "a.alf"],
            &["export", "-o", "d.alf", "--redact-secrets"],
        ] {
            environment.json(args);
            assert_eq!(tree(&environment.home(".openclaw")), before, "{args:?}");
        }
    }
}

#[test]
fn people_read_what_travels_and_what_does_not() {
    let (environment, ground) = edge();
    let workspace = ground.path("w").display().to_string();
    let small = ["--artifact-threshold", "100000"];
    let args = ["export", "-w", &workspace, "-o", "a.alf", "--allow-secrets"];
    let text = environment.human([&args[..], &small].concat());
    for part in ["Clawdia", "642 records", "node_modules", "big.bin", ".env:1", "wrote a.alf"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(PLANTED.iter().all(|it| !text.contains(it)), "{text}");
    let back = ground.path("back").display().to_string();
    let text = environment.human(["import", "-r", "openclaw", "-w", &back, "a.alf"]);
    for part in ["Clawdia", "big.bin", "642 records"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_check_finds_the_planted_secrets_and_does_not_show_them() {
    let (environment, ground) = edge();
    let workspace = ground.path("w").display().to_string();
    let ran = environment.run(["check", "-r", "openclaw", "-w", &workspace]);
    assert!(PLANTED.iter().all(|it| !ran.stdout.contains(it)), "{}", ran.stdout);
    let secrets = ran.document()["secrets"].to_string();
    assert!(secrets.contains(".env") && secrets.contains("memory/.hidden-note.md"), "{secrets}");
}

#[test]
fn names_cannot_write_to_the_terminal() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.write("w/evil\u{1b}[31m.log", "x");
    ground.write("w/memory/evil\u{1b}[31m.md", b"\xff");
    ground.write("w/SOUL.md", "# Evil\u{1b}[31m\n");
    ground.write("w/.alfignore", "*.log\n");
    let workspace = ground.path("w").display().to_string();
    let text = environment.human(["export", "-w", &workspace, "-o", "a.alf"]);
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let back = ground.path("back").display().to_string();
    let text = environment.human(["import", "-r", "openclaw", "-w", &back, "a.alf", "--dry-run"]);
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn an_export_is_a_sound_archive() {
    let (environment, ground) = edge();
    export(&environment, &ground.path("w"), "a.alf", &["--allow-secrets"]);
    let report = environment.json(["validate", "a.alf"]);
    assert_eq!(report["valid"], true, "{report}");
    let shown = environment.json(["inspect", "a.alf"]);
    assert_eq!(shown["digest_sealed"], true, "{shown}");
    let recipient = environment.identity("identity");
    let sealed = export(
        &environment,
        &ground.path("w"),
        "sealed.alf",
        &["--allow-secrets", "--recipient", &recipient],
    );
    assert_eq!(sealed["output"], "sealed.alf");
    assert!(environment.read("sealed.alf").starts_with(crate::environment::AGE_MAGIC));
    environment.json(["decrypt", "sealed.alf", "-i", "identity", "-o", "open.alf"]);
    assert!(environment.read("open.alf") == environment.read("a.alf"));
}

#[test]
fn an_unchanged_export_still_says_what_does_not_travel_and_writes_the_id() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    ground.write("w/large.bin", vec![7; 200_000]);
    ground.write("w/node_modules/a.js", "x");
    let small = ["--artifact-threshold", "100000"];
    export(&environment, &workspace, "a.alf", &small);
    let more = [&["--since", "a.alf", "--write-agent-id"][..], &small].concat();
    let again = export(&environment, &workspace, "b.alf", &more);
    assert_eq!(again["no_changes"], true);
    assert_eq!(with(&again["left_out"], "path", "large.bin")["reason"], "referenced");
    assert_eq!(fields(&again["warnings"], "code"), ["not_in_archive"]);
    assert_eq!(with(&again["left_out"], "path", "node_modules")["reason"], "skipped");
    assert!(ground.path("w/.alf-agent-id").exists() && !environment.exists("b.alf"));
}

#[test]
fn vectors_of_a_file_that_changed_since_stay_behind() {
    let environment = with_fixture("gen3");
    let (before, _) = export_fixture(&environment, &[]);
    let log = environment.home(".openclaw/workspace/memory/2026-01-15.md");
    let text = fs_err::read_to_string(&log).unwrap();
    fs_err::write(&log, format!("## New\n\nfirst\n\n{text}")).unwrap();
    let (after, snapshot) = export_fixture(&environment, &["--force"]);
    assert!(before["embeddings"].as_u64() > after["embeddings"].as_u64());
    let records = records_of(&snapshot, "memory/2026-01-15.md");
    assert!(records.iter().all(|it| it.embeddings.is_empty()));
    assert!(fields(&after["warnings"], "code").contains(&"index_stale"), "{after}");
}

#[test]
fn exports_into_the_workspace_leave_each_other_out_and_say_so() {
    let environment = TestEnvironment::new();
    environment.write_below("ws/MEMORY.md", "- Lin drinks green tea.\n");
    environment.write_below("ws/theirs.alf", "not one of ours");
    let export = |name: &str, more: &[&str]| {
        environment.json(["export", "-w", "ws", "-o", name].iter().chain(more))
    };
    let own = |report: &Value| -> Vec<String> {
        let left_out = report["left_out"].as_array().expect("it is a list").iter();
        let own = left_out.filter(|it| it["reason"] == "own");
        own.map(|it| it["path"].as_str().expect("it is a path").to_owned()).collect()
    };
    let first = export("ws/one.alf", &[]);
    assert_eq!(own(&first), [] as [&str; 0], "{first}");
    let second = export("ws/two.alf", &[]);
    assert_eq!(own(&second), ["one.alf"], "{second}");
    assert_eq!(second["files_count"], first["files_count"], "{second}");
    let again = export("ws/one.alf", &["--force"]);
    assert_eq!(own(&again), ["one.alf", "two.alf"], "{again}");
    assert_eq!(environment.read("ws/one.alf"), environment.read("ws/two.alf"));
    let planned = export("three.alf", &["--dry-run"]);
    let planned = planned["files"].to_string();
    assert!(planned.contains("theirs.alf") && !planned.contains("one.alf"), "{planned}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_folder_that_may_not_be_read_is_no_backup() {
    use std::os::unix::fs::PermissionsExt as _;
    let environment = TestEnvironment::new();
    environment.write_below("ws/MEMORY.md", "# Memory\n\n- Tea is green.\n");
    environment.write_below("ws/memory/2026-11-15.md", "- We met at the river.\n");
    let folder = environment.path("ws/memory");
    fs_err::set_permissions(&folder, std::fs::Permissions::from_mode(0o0)).unwrap();
    if fs_err::read_dir(&folder).is_ok() {
        anemone_testkit::skip("unprivileged", "root may read every folder");
        return;
    }
    let failure = environment.failure(1, ["export", "-r", "openclaw", "-w", "ws", "-o", "x.alf"]);
    assert_eq!(failure["code"], "unreadable");
    assert!(!environment.exists("x.alf"));
    environment.failure(1, ["check", "-r", "openclaw", "-w", "ws"]);
    environment.write("ws/.alfignore", "memory/\n");
    environment.json(["export", "-r", "openclaw", "-w", "ws", "-o", "x.alf"]);
    fs_err::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}
