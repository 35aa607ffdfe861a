//! What becomes of each file.

use std::collections::BTreeMap;
use std::path::Path;

use anemone_format::Record;
use anemone_testkit::database::query;
use anemone_testkit::ground::{Ground, fields, headings, raw, records_of, tree, with};
use anemone_testkit::zip::{holds, unzip};
use serde_json::json;

use super::{edge, edge_snapshot, times, word};
use crate::support::TestMachine;
use crate::support::transfer::With;
use crate::workspace::export;

/// Returns what the table of the mapping says of a file: namespace, type and who wrote it.
fn mapping(file: &str) -> (&'static str, &'static str, &'static str) {
    let name = file.rsplit('/').next().unwrap();
    let dated = name.as_bytes().get(..10).is_some_and(|name| {
        name.iter().enumerate().all(|(at, c)| match at {
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
        let name = path.to_str().unwrap();
        let metadata = fs_err::symlink_metadata(workspace.join(path)).unwrap();
        let memory = name.starts_with("memory/") && name.to_lowercase().ends_with(".md");
        if metadata.is_file() && (memory || ["MEMORY.md", "memory.md"].contains(&name)) {
            let content = fs_err::read_to_string(workspace.join(path)).unwrap();
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
        let joined: String = records.iter().map(|record| record.content.as_str()).collect();
        assert!(joined == content, "{file}");
        let lines = lines(&content);
        for record in records {
            let raw = raw(record);
            let [start, end] = ["line_start", "line_end"]
                .map(|value| usize::try_from(raw[value].as_u64().unwrap()).unwrap());
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
        assert!(record.tags.iter().any(|tag| tag == namespace), "{:?}", record.tags);
        assert!(record.confidence.is_none_or(|confidence| (0.0..=1.0).contains(&confidence)));
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
    let some = |text: &str| Some(text.to_owned());
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
        snapshot.records.iter().filter(|record| record.namespace == "facts").collect();
    let database = ground.path("w/memory/facts.db");
    let rows = query(&database, "SELECT entity, key, value, category FROM facts");
    assert_eq!((rows.len(), facts.len()), (60, 60));
    for row in rows {
        let [entity, key, value, category] = row.split('|').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let has = |record: &&&Record| {
            [entity, key, value].iter().all(|part| record.content.contains(part))
        };
        // Keys are numbered: key_1 is also in key_12.
        let exact = |record: &&&Record| raw(record)["row"]["key"] == key;
        let fact =
            facts.iter().find(|fact| has(fact) && exact(fact)).unwrap_or_else(|| panic!("{row}"));
        assert_eq!(fact.category.as_deref(), Some(category));
        assert_eq!(times(fact)["created_at"], "2026-02-01T10:00:00Z");
    }
    let ids: std::collections::BTreeSet<_> = facts.iter().map(|fact| fact.id).collect();
    assert_eq!(ids.len(), 60);
}

#[test]
fn times_come_from_headings_headers_names_and_front_matter() {
    let (_ground, snapshot) = edge_snapshot();
    let created = |file: &str, index: usize| {
        let record = records_of(&snapshot, file)[index];
        let times = times(record);
        let time = |text: &str| times[text].as_str().map(str::to_owned);
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
    let (machine, ground) = edge();
    export(&machine, &ground.path("w"), "a.alf", &[With::AllowSecrets]);
    let entries = unzip(&machine.read("a.alf"));
    let partition = |name: &str| &entries[&format!("memory/partitions/{name}.jsonl")].content;
    let count =
        |name: &str| partition(name).iter().filter(|partition| **partition == b'\n').count();
    assert!(holds(partition("2024-Q2"), b"\"memory/archive/2024-05-05.md\""));
    assert!(holds(partition("2025-Q4"), b"\"memory/topics/2025-11-03.md\""));
    // The old log; the nested log and both parts of the file with front matter; all the rest.
    assert_eq!([count("2024-Q2"), count("2025-Q4"), count("2026-Q1")], [1, 3, 638]);
}

#[test]
fn names_of_daily_logs_may_carry_a_slug_or_a_time() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    for name in ["2026-01-05-1430", "2026-01-06-a-slug", "2026-02-30", "sub/2026-01-07"] {
        ground.write(format!("w/memory/{name}.md"), "## A\n\ntext\n");
    }
    export(&machine, &ground.path("w"), "a.alf", &[]);
    let snapshot = machine.snapshot("a.alf");
    let of = |name: &str| records_of(&snapshot, &format!("memory/{name}.md"))[0];
    assert_eq!(times(of("2026-01-05-1430"))["created_at"], "2026-01-05T14:30:00Z");
    assert_eq!(times(of("2026-01-06-a-slug"))["created_at"], "2026-01-06T00:00:00Z");
    assert_eq!(times(of("sub/2026-01-07"))["observed_at"], "2026-01-07T00:00:00Z");
    assert_eq!(of("2026-02-30").namespace, "workspace", "there is no such day");
}

#[test]
fn importance_tags_and_hashtags_become_fields() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    ground.write(
        "w/memory/2026-01-05.md",
        "## One\n\n- [decision|i=0.9] SQLite #database\n- [context|i=0.3] nothing\n\n\
         ```\n#!code [lesson|i=0.8] #incode\n```\n\n`#inline` and a#b\n\n\
         ## Two\n\n- [risk|i=7] too much\n\n## Three\n\nplain\n",
    );
    export(&machine, &ground.path("w"), "a.alf", &[]);
    let snapshot = machine.snapshot("a.alf");
    let [one, two, three] = records_of(&snapshot, "memory/2026-01-05.md")[..] else { panic!() };
    assert_eq!(one.category.as_deref(), Some("decision"));
    assert_eq!(one.confidence, Some(0.9));
    assert_eq!(one.tags, ["daily", "decision", "context", "database"]);
    assert_eq!(raw(one)["importance"].as_array().unwrap().len(), 2, "each tagged line is kept");
    assert!(two.confidence.is_none_or(|confidence| confidence <= 1.0), "{:?}", two.confidence);
    assert_eq!((three.category.as_deref(), three.confidence), (None, None));
}

#[test]
fn annotations_of_the_newer_generation_become_fields_and_stay() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let text = "## Setup\n\n- Keep it on loopback. <!-- trigger: gateway, network safety --> \
                <!-- importance: 9 --> <!-- project: github.com/o/r -->\n\n\
                ## Promoted From Short-Term Memory (2026-05-01)\n\n\
                <!-- openclaw-memory-promotion:k1 -->\n- Tea is green. [score=0.850 signals=3 \
                recalls=4 avg=0.620 source=memory/2026-04-30.md:3-5]\n";
    ground.write("w/MEMORY.md", text);
    export(&machine, &ground.path("w"), "a.alf", &[]);
    let snapshot = machine.snapshot("a.alf");
    let records = records_of(&snapshot, "MEMORY.md");
    assert_eq!(records.iter().map(|record| &*record.content).collect::<String>(), text);
    assert_eq!(records[0].confidence, Some(0.9));
    for tag in ["gateway", "network safety"] {
        assert!(records[0].tags.iter().any(|other| other.contains(tag)), "{:?}", records[0].tags);
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
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let text = "# Sam\n\n<!-- observed: 2026-01-02 | status: superseded -->\n- Prefer tea.\n";
    ground.write("w/USER.md", text);
    ground.write("w/users/kim/USER.md", "# Kim\n");
    let exported = export(&machine, &ground.path("w"), "a.alf", &[]);
    assert_eq!(exported["principals_count"], 2);
    let principals = machine.snapshot("a.alf").principals.unwrap();
    let principals = serde_json::to_value(principals).unwrap();
    let profile = &principals["principals"][0]["profile"];
    assert_eq!(profile["prose"]["user_profile"], text, "it stays as it is");
    let named = principals["principals"].as_array().unwrap().iter();
    let names: Vec<_> = named.map(|named| &named["profile"]["structured"]["name"]).collect();
    assert_eq!(names, ["Sam", "Kim"]);
}

#[test]
fn everything_else_is_an_artifact() {
    let (machine, ground) = edge();
    ground.append("w/memory/project-atlas.md", "\nSee artifacts/report.csv for numbers.\n");
    let exported = export(&machine, &ground.path("w"), "a.alf", &[With::AllowSecrets]);
    let snapshot = machine.snapshot("a.alf");
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
    let script = snapshot.files.iter().find(|file| file.path == b"skills/weather/run.sh").unwrap();
    assert_eq!(script.mode, Some(0o755));
    // Below memory/ it belongs to the agent.
    assert!(snapshot.files.iter().any(|file| file.path == b"memory/diagram.png"));
}
