//! Memories that are not in the workspace: the store of a plugin, transcripts of topics, a sidecar.

use anemone::agent_memory::MemoryChoice;
use anemone::forget::{Confirmation, ForgetChoice, ForgetError, ForgetRequest, forget};
use anemone::list::{ListRequest, list};
use anemone_format::{MemoryType, Record, Snapshot};
use anemone_memory::Finality;
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

/// Gives every data file of a store a version that nobody knows.
fn outdate(machine: &TestMachine) {
    let data = machine.home(STORE).join("memories.lance/data");
    for entry in fs_err::read_dir(data).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = fs_err::read(&path).unwrap();
        let at = bytes.len() - 6;
        bytes[at] = 9;
        fs_err::write(&path, bytes).unwrap();
    }
}

#[test]
fn a_store_that_is_not_understood_is_named_and_travels_only_with_its_secrets() {
    let machine = with_store("2.2");
    outdate(&machine);
    let store = machine.home(STORE).display().to_string();
    let (report, snapshot) = exported(&machine, &[]);
    assert_eq!(with(&report["left_out"], "path", &store)["reason"], "not_understood");
    let warning = with(&report["warnings"], "code", "lancedb_unreadable");
    assert!(warning["message"].as_str().unwrap().contains("data files 2.9"), "{warning}");
    assert_eq!(of_store(&snapshot).len(), 0);
    assert!(!holds_table(&machine));

    let (report, _) = exported(&machine, &[With::AllowSecrets, With::Force]);
    assert_eq!(with(&report["left_out"], "path", &store)["reason"], "not_understood");
    let other = elsewhere(&machine);
    import(&other, &other.path(WORKSPACE), "a.alf", &[]);
    assert!(tree(&other.path(STORE)) == tree(&machine.home(STORE)));
}

/// Whether the archive holds files of a table.
fn holds_table(machine: &TestMachine) -> bool {
    let snapshot = read_snapshot(machine.read("a.alf"));
    snapshot.files.iter().any(|file| file.path.starts_with(b"memories.lance"))
}

/// Checks that the archive has memories of the store without its files, and that an import says so
/// and writes them into a file.
fn assert_only_records(machine: &TestMachine, report: &Value, reason: &str, count: usize) {
    let store = machine.home(STORE).display().to_string();
    assert_eq!(with(&report["left_out"], "path", &store)["reason"], reason, "{report}");
    let warning = with(&report["warnings"], "code", "lancedb_files");
    assert!(warning["message"].as_str().unwrap().contains("as records"), "{warning}");
    assert!(!holds_table(machine));
    let snapshot = read_snapshot(machine.read("a.alf"));
    let records = of_store(&snapshot);
    assert_eq!(records.len(), count);
    let other = elsewhere(machine);
    let report = import(&other, &other.path(WORKSPACE), "a.alf", &[]);
    assert!(!other.exists(STORE));
    let omitted = with(&report["not_restored"], "path", "raw/openclaw_lancedb");
    assert!(omitted["reason"].as_str().unwrap().contains("go into files"), "{report}");
    let text = other.read(&format!("{WORKSPACE}/memory/lancedb.md"));
    let text = String::from_utf8(text).unwrap();
    assert!(records.iter().all(|record| text.contains(record.content.trim())), "{text}");
}

fn key() -> String {
    format!("ghp_{}", "Fake7For2Tests0123".repeat(2))
}

#[test]
fn a_secret_of_a_deleted_memory_stops_nothing_and_does_not_travel() {
    let machine = with_store("forgotten");
    for more in [&[][..], &[With::RedactSecrets, With::Force]] {
        let (report, _) = exported(&machine, more);
        assert_only_records(&machine, &report, "secret", 59);
    }
    exported(&machine, &[With::AllowSecrets, With::Force]);
    assert!(holds_table(&machine));
}

#[test]
fn a_memory_of_another_agent_in_an_older_version_does_not_travel() {
    let machine = with_store("older-version");
    let (report, _) = exported(&machine, &[]);
    assert_only_records(&machine, &report, "shared", 2);
}

#[test]
fn a_file_of_the_table_that_is_not_understood_keeps_all_of_them() {
    let machine = with_store("2.1");
    let index = format!("{STORE}/memories.lance/_indices/1/words.lance");
    machine.write_home(&index, "the words of memories");
    let (report, _) = exported(&machine, &[]);
    assert_only_records(&machine, &report, "not_understood", 6);
    let warning = with(&report["warnings"], "code", "lancedb_files");
    assert!(warning["message"].as_str().unwrap().contains("words.lance is unknown"), "{warning}");
}

#[test]
fn a_secret_in_a_category_follows_the_rule_for_secrets() {
    let machine = with_store("secret-category");
    let agent = machine.agent_in("openclaw", &machine.home(WORKSPACE));
    assert!(machine.try_export(agent, "a.alf", &[]).is_err());
    let (report, snapshot) = exported(&machine, &[With::RedactSecrets]);
    assert_only_records(&machine, &report, "secret", 2);
    let record = of_store(&snapshot)[1];
    assert!(!format!("{record:?}").contains(&key()), "{record:?}");
    assert_eq!(record.content, "Ships on Tuesdays.");
    assert!(record.embeddings.is_empty());
}

#[test]
fn odd_and_double_ids_are_records_of_their_own_and_rows_without_text_are_counted() {
    let machine = with_store("odd");
    let (report, snapshot) = exported(&machine, &[]);
    let records = of_store(&snapshot);
    let texts: Vec<&str> = records.iter().map(|record| record.content.as_str()).collect();
    let wanted = ["The tea is green.", "The tea is black.", "The lamp is lit.", "No id at all."];
    assert_eq!(texts, wanted);
    let ids: std::collections::BTreeSet<String> =
        records.iter().map(|record| record.id.to_string()).collect();
    assert_eq!(ids.len(), 4);
    assert_eq!(records[0].id.to_string(), "00000001-1111-4111-8111-111111111111");
    // A name that leaves its folder is not the name of a file.
    let files = records.iter().filter_map(|record| record.source.origin_file.as_deref());
    assert!(files.clone().all(|file| !file.contains("..")), "{:?}", files.collect::<Vec<_>>());
    let warning = with(&report["warnings"], "code", "lancedb_empty");
    assert!(warning["message"].as_str().unwrap().starts_with("3 of"), "{warning}");
    assert!(holds_table(&machine));
    let (_, again) = exported(&machine, &[With::Force]);
    assert_eq!(again.records, snapshot.records);
}

#[test]
fn memories_of_the_store_are_listed_and_only_the_runtime_forgets_them() {
    let machine = with_store("2.1");
    let agent = machine.agent_in("openclaw", &machine.home(WORKSPACE));
    let memory = MemoryChoice { agent, index_dir: None };
    let listed = |change: &dyn Fn(&mut ListRequest)| {
        let mut request = ListRequest::new(memory.clone());
        change(&mut request);
        machine.run(|host| list(&request, host)).unwrap()
    };
    let all = listed(&|_| {});
    assert_eq!((all.total, all.unreadable.len()), (7, 0), "{all:?}");
    let found = all.entries.iter().find(|entry| entry.text.starts_with("Note 2: ")).unwrap();
    assert_eq!((&*found.kind, found.importance), ("decision", Some(0.5)));
    assert_eq!(found.date.as_deref(), Some("2026-01-01"));
    let decisions = listed(&|request| request.kind = Some("decision".to_owned()));
    assert_eq!((decisions.total, decisions.filtered), (2, 5), "{decisions:?}");

    let forget = |choice: ForgetChoice| {
        let (finality, memory) = (Finality::Undoable, memory.clone());
        let request = ForgetRequest { memory, choice, finality, dry_run: true };
        // A search makes an index, also where the forget then fails.
        machine.run(|host| Ok::<_, ()>(forget(&request, Confirmation::Given, host))).unwrap()
    };
    for id in [&found.id, &found.citation] {
        let refused = forget(ForgetChoice::Ids(vec![id.clone()]));
        let Err(ForgetError::ReadOnly(citation)) = refused else { panic!("{refused:?}") };
        assert_eq!(citation, found.citation);
    }
    let text = "Note 5 was corrected".to_owned();
    let refused = forget(ForgetChoice::Query { text, limit: 1 });
    assert!(matches!(refused, Err(ForgetError::ReadOnly(_))), "{refused:?}");
    let refused = forget(ForgetChoice::Ids(vec!["lancedb/nobody#L1".to_owned()]));
    assert!(matches!(refused, Err(ForgetError::NothingToForget { .. })), "{refused:?}");

    outdate(&machine);
    assert_eq!(listed(&|_| {}).unreadable, ["lancedb"]);
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
