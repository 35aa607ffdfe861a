//! Memories that are not in the workspace: the store of a plugin, transcripts of topics, a sidecar.

use anemone_format::{MemoryType, Record, Snapshot};
use anemone_runtimes::OnConflict;
use anemone_testkit::fixture;
use anemone_testkit::ground::{read_snapshot, with};
use serde_json::{Value, json};

use super::workspace::{export, import};
use crate::support::transfer::{With, endpoint};
use crate::support::{TestMachine, json as as_json, tree};

const STORE: &str = ".openclaw/memory/lancedb";
const WORKSPACE: &str = ".openclaw/workspace";

/// A machine with an agent and a store of memories, written by the real library.
fn with_store(version: &str) -> TestMachine {
    let machine = TestMachine::new();
    machine.write_home(".openclaw/openclaw.json", "{}");
    machine.write_home(".openclaw/workspace/MEMORY.md", "## Tea\n\nThe tea is green.\n");
    machine.copy_home(&fixture(&format!("openclaw/lancedb/{version}")), STORE);
    machine
}

fn exported(machine: &TestMachine, more: &[With<'_>]) -> (Value, Snapshot) {
    let report = export(machine, &machine.home(WORKSPACE), "a.alf", more);
    (report, read_snapshot(machine.read("a.alf")))
}

fn of_store(snapshot: &Snapshot) -> Vec<&Record> {
    snapshot.records.iter().filter(|record| record.namespace == "lancedb").collect()
}

/// Makes a machine that has the archive of another, and an empty install where it works.
fn elsewhere(machine: &TestMachine) -> TestMachine {
    let other = TestMachine::new();
    other.write("a.alf", machine.read("a.alf"));
    other.write(".openclaw/openclaw.json", "{}");
    other
}

#[test]
fn the_store_of_the_plugin_travels_as_records_and_as_it_is() {
    let machine = with_store("2.1");
    let before = tree(&machine.home(STORE));
    let (report, snapshot) = exported(&machine, &[]);
    assert_eq!(report["warnings"], json!([]), "{report}");
    let records = of_store(&snapshot);
    assert_eq!(records.len(), 6);
    let record = records[1];
    assert_eq!(record.id.to_string(), "00000002-1111-4111-8111-111111111111");
    assert!(record.content.starts_with("Note 2: "), "{}", record.content);
    assert_eq!(record.memory_type, MemoryType::Semantic);
    assert_eq!(record.category.as_deref(), Some("decision"));
    assert_eq!(record.confidence, Some(0.5));
    assert_eq!(record.temporal.created_at.as_str(), "2026-01-01T00:02:00Z");
    assert_eq!(record.embeddings[0].model, "openai/text-embedding-3-small");
    assert_eq!(record.embeddings[0].vector, [14, 1, 4, 7].map(|number| number as f32 / 16.0));
    let (again, _) = exported(&machine, &[With::Since("a.alf"), With::Force]);
    assert_eq!(again["no_changes"], true, "{again}");

    let other = elsewhere(&machine);
    let report = import(&other, &other.path(WORKSPACE), "a.alf", &[]);
    assert_eq!(
        (&report["memories"]["added"], &report["memories"]["made"]),
        (&json!(6), &json!(true))
    );
    assert_eq!(report["memory_records"], 7, "{report}");
    assert!(tree(&other.path(STORE)) == before);
    export(&other, &other.path(WORKSPACE), "b.alf", &[]);
    let there = read_snapshot(other.read("b.alf"));
    assert_eq!(there.records, snapshot.records);
    let report = import(&other, &other.path(WORKSPACE), "a.alf", &[]);
    assert_eq!(report["memories"]["same"], 6, "{report}");
}

#[test]
fn another_store_that_is_there_is_a_conflict_and_is_put_aside() {
    let machine = with_store("2.1");
    exported(&machine, &[]);
    let other = elsewhere(&machine);
    other.copy(&fixture("openclaw/lancedb/2.2"), STORE);
    let before = tree(&other.path(STORE));
    let refused = other.try_import(Some("openclaw"), Some(&other.path(WORKSPACE)), "a.alf", &[]);
    assert!(refused.is_err() || as_json(&refused.unwrap())["conflicts"] != json!([]));
    assert!(tree(&other.path(STORE)) == before);
    let theirs = With::OnConflict(OnConflict::Theirs);
    let report = import(&other, &other.path(WORKSPACE), "a.alf", &[theirs]);
    assert_eq!(report["memories"]["replaced"], 6, "{report}");
    let table = "memories.lance";
    assert!(tree(&other.path(STORE).join(table)) == tree(&machine.home(STORE).join(table)));
    let aside = tree(&other.path(STORE).join("memories.lance.replaced-1"));
    assert_eq!(aside.len(), before.len());
}

#[test]
fn without_an_install_the_memories_of_the_store_go_into_a_file() {
    let machine = with_store("2.1");
    exported(&machine, &[]);
    let other = TestMachine::new();
    other.write("a.alf", machine.read("a.alf"));
    let report = import(&other, &other.path("w"), "a.alf", &[]);
    assert_eq!(report["memory_records"], 7, "{report}");
    let text = String::from_utf8(other.read("w/memory/lancedb.md")).unwrap();
    assert!(text.contains("Grüße aus Köln — 東京のお茶"), "{text}");
    assert!(text.contains("Note 5 was corrected."), "{text}");
}

#[test]
fn an_agent_that_returns_without_a_place_for_its_store_has_its_memories_in_a_file() {
    let machine = with_store("2.1");
    let (home, away) = (machine.home(WORKSPACE), machine.path("z"));
    let (from, away) = (endpoint("openclaw", &home), endpoint("zeroclaw", &away));
    machine.try_migrate(from, away.clone(), &[]).unwrap();
    let back = endpoint("openclaw", &machine.path("back"));
    let moved = as_json(&machine.try_migrate(away, back, &[]).unwrap());
    let memory = with(&moved["proof"]["layers"], "layer", "memory");
    assert_eq!((&memory["degraded"], &memory["lost"]), (&json!(6), &json!(0)), "{moved}");
    let planned = &with(&moved["plan"]["layers"], "layer", "files")["kinds"];
    let planned = with(planned, "kind", "raw/openclaw_lancedb");
    assert_eq!((&planned["none"], &planned["kept_aside"]), (&planned["total"], &json!(0)));
    let files = with(&moved["proof"]["layers"], "layer", "files");
    assert_eq!((&files["not_carried"], &files["lost"]), (&planned["total"], &json!(0)));
    assert_eq!(files["reasons"].as_object().unwrap().len(), 1, "{files}");
}

#[test]
fn memories_of_other_agents_stay_where_they_are() {
    let machine = with_store("2.1");
    let config = r#"{ agents: { list: [{ id: "main" }, { id: "work", workspace: "~/work" }] } }"#;
    machine.write_home(".openclaw/openclaw.json", config);
    machine.write_home("work/MEMORY.md", "## Work\n\nAt nine.\n");
    let report = export(&machine, &machine.home("work"), "a.alf", &[]);
    let snapshot = read_snapshot(machine.read("a.alf"));
    assert_eq!(of_store(&snapshot).len(), 0);
    let store = machine.home(STORE).display().to_string();
    assert_eq!(with(&report["left_out"], "path", &store)["reason"], "shared");
    assert_eq!(with(&report["warnings"], "path", &store)["code"], "lancedb_files");
    let bytes = machine.read("a.alf");
    assert!(!bytes.windows(4).any(|window| window == b"LANC"));
}

#[test]
fn a_store_that_is_not_understood_is_named_and_its_files_travel() {
    let machine = with_store("2.2");
    let data = machine.home(STORE).join("memories.lance/data");
    for entry in fs_err::read_dir(data).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = fs_err::read(&path).unwrap();
        let at = bytes.len() - 6;
        bytes[at] = 9;
        fs_err::write(&path, bytes).unwrap();
    }
    let (report, snapshot) = exported(&machine, &[]);
    let store = machine.home(STORE).display().to_string();
    assert_eq!(with(&report["left_out"], "path", &store)["reason"], "not_understood");
    let warning = with(&report["warnings"], "path", &store);
    assert!(warning["message"].as_str().unwrap().contains("data files 2.9"), "{warning}");
    assert_eq!(of_store(&snapshot).len(), 0);
    let other = elsewhere(&machine);
    import(&other, &other.path(WORKSPACE), "a.alf", &[]);
    assert!(tree(&other.path(STORE)) == tree(&machine.home(STORE)));
}

#[test]
fn transcripts_of_topics_are_conversations() {
    let machine = TestMachine::new();
    machine.write_home(".openclaw/openclaw.json", "{}");
    machine.write_home(".openclaw/workspace/MEMORY.md", "## Tea\n\nThe tea is green.\n");
    let line = |text: &str| {
        let header = json!({ "type": "session", "version": 3, "id": "s" });
        let said = json!({ "type": "message", "id": text, "timestamp": "2026-03-01T10:00:00Z",
            "message": { "role": "user", "content": text } });
        format!("{header}\n{said}\n")
    };
    for (name, text) in [
        ("s.jsonl", "the main thread"),
        ("s-topic-7.jsonl", "the seventh topic"),
        ("s-topic-7.jsonl.reset.2026-03-02T00-00-00.000Z", "the topic before"),
        ("old.jsonl.deleted.2026-03-02T00-00-00.000Z", "what was deleted"),
    ] {
        machine.write_home(&format!(".openclaw/agents/main/sessions/{name}"), line(text));
    }
    let (report, snapshot) = exported(&machine, &[With::Sessions]);
    assert_eq!(report["sessions"]["transcripts"], 4, "{report}");
    let texts: Vec<&str> = snapshot.records.iter().map(|record| record.content.as_str()).collect();
    for text in ["the main thread", "the seventh topic", "the topic before", "what was deleted"] {
        assert!(texts.iter().any(|content| content.contains(text)), "{text}: {texts:?}");
    }
}

#[test]
fn what_the_sidecar_keeps_is_named() {
    let machine = with_store("2.0");
    machine.write_home(".openclaw/agents/main/qmd/sessions/a.md", "# Said\n\nPlum jam.\n");
    machine.write_home(".openclaw/agents/main/qmd/xdg-cache/qmd/index.sqlite", "x");
    let (report, _) = exported(&machine, &[]);
    let folder = machine.home(".openclaw/agents/main/qmd").display().to_string();
    let left_out = with(&report["left_out"], "path", &folder);
    assert_eq!((&left_out["reason"], &left_out["files"]), (&json!("skipped"), &json!(2)));
}
