//! `anemone purge`

use std::collections::BTreeSet;

use anemone_format::{File, FileRoot, Node, Record, Snapshot, Status};
use serde_json::{Value, json};

use crate::environment::{TestEnvironment, sample};
use anemone_testkit::zip::{holds, unzip};

/// The record that is purged: the surprise for Lin.
const GEHEIM: &str = "88c555e0-5d0c-51de-a067-64f2767ce8c1";
const PARTITION: &str = "memory/partitions/2026-Q1.jsonl";
const ITS_FILE: &str = "raw/openclaw/memory/2026-01-23.md";

fn record<'a>(snapshot: &'a Snapshot, id: &str) -> &'a Record {
    snapshot.records.iter().find(|record| record.id.to_string() == id).expect("the record is there")
}

fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| line.chars().count() >= 20)
}

/// Checks with our own reader that no entry holds a longer line of a text, as it is or as JSON.
#[track_caller]
fn assert_gone(file: &[u8], text: &str) {
    for (name, entry) in unzip(file) {
        for line in lines_of(text) {
            let escaped = serde_json::to_string(line).expect("a text is JSON");
            let escaped = escaped.trim_matches('"');
            assert!(!holds(&entry.content, line.as_bytes()), "{line:?} is in {name}");
            assert!(!holds(&entry.content, escaped.as_bytes()), "{line:?} is in {name}");
        }
    }
}

#[test]
fn the_purged_text_is_nowhere_in_the_new_file() {
    let environment = TestEnvironment::with_demo();
    let snapshot = sample::agent();
    let text = &record(&snapshot, GEHEIM).content;
    assert!(lines_of(text).count() >= 3);
    let source = environment.read("march.alf");
    let held = unzip(&source)
        .into_iter()
        .filter(|(_, entry)| lines_of(text).any(|line| holds(&entry.content, line.as_bytes())));
    let held: Vec<String> = held.map(|(name, _)| name).collect();
    assert_eq!(held, [PARTITION, ITS_FILE], "the text is there before");

    environment.json(["purge", "march.alf", "--record", GEHEIM, "-o", "purged.alf"]);
    assert_gone(&environment.read("purged.alf"), text);
    assert!(environment.read("march.alf") == source, "the source is left as it is");
    environment.assert_private("purged.alf");
}

#[test]
fn every_other_entry_keeps_its_bytes() {
    let environment = TestEnvironment::with_demo();
    let report = environment.json(["purge", "march.alf", "--record", GEHEIM, "-o", "purged.alf"]);
    let before = unzip(&environment.read("march.alf"));
    let after = unzip(&environment.read("purged.alf"));
    assert!(before.keys().eq(after.keys()));
    let changed: BTreeSet<&str> = before
        .iter()
        .filter(|(name, entry)| after[*name] != **entry)
        .map(|(name, _)| name.as_str())
        .collect();
    let rewritten = ["manifest.json", "memory/index.json", PARTITION, ITS_FILE];
    assert_eq!(changed, BTreeSet::from(rewritten));
    let said: BTreeSet<&str> = report["proof"]["entries_rewritten"]
        .as_array()
        .unwrap()
        .iter()
        .map(|array| array.as_str().unwrap())
        .collect();
    assert_eq!(said, changed);
    assert_eq!(report["proof"]["entries_copied"], before.len() - changed.len());
    // The remaining lines of a rewritten entry are unchanged.
    let lines = |content: &[u8]| -> Vec<String> {
        String::from_utf8(content.to_vec()).unwrap().lines().map(str::to_owned).collect()
    };
    let mut kept = lines(&before[PARTITION].content);
    kept.retain(|line| !line.contains(&format!("\"id\":\"{GEHEIM}\"")));
    assert_eq!(kept, lines(&after[PARTITION].content));
    let other = sample::record_id("memory/2026-01-23.md", 1).to_string();
    let snapshot = sample::agent();
    assert_eq!(after[ITS_FILE].content, record(&snapshot, &other).content.as_bytes());
}

#[test]
fn the_report_is_an_audit_record_with_a_proof() {
    let environment = TestEnvironment::with_demo();
    let report = environment.json([
        "purge",
        "march.alf",
        "--record",
        GEHEIM,
        "--reason",
        "gdpr_article_17",
        "--requested-by",
        "Lin",
        "-o",
        "purged.alf",
    ]);
    assert_eq!(report["dry_run"], false);
    assert_eq!(report["output"], "purged.alf");
    assert_eq!(report["records"], json!([{"id": GEHEIM, "entry": PARTITION}]));
    assert_eq!(report["cuts"][0]["entry"], ITS_FILE);
    assert_eq!(report["obstacles"], json!([]));
    let audit = &report["audit"];
    assert_eq!(audit["agent_id"], sample::agent_id().to_string());
    assert_eq!(audit["scope"], "record_purge");
    assert_eq!(audit["record_ids"], json!([GEHEIM]));
    assert_eq!(audit["partitions_affected"], json!([PARTITION]));
    assert_eq!(audit["reason"], "gdpr_article_17");
    assert_eq!(audit["requested_by"], "Lin");
    let [requested, completed] = ["requested_at", "completed_at"]
        .map(|key| audit[key].as_str().unwrap().parse::<anemone_format::Moment>().unwrap());
    assert!(requested.instant() <= completed.instant());
    assert_eq!(report["proof"]["absent"], true);
    assert_eq!(report["proof"]["shared_lines"], json!([]));
    assert_eq!(report["proof"]["too_short"], json!([]));
    assert_eq!(report["proof"]["entries_searched"], unzip(&environment.read("purged.alf")).len());
    // The archive itself records the purge.
    let shown = environment.json(["inspect", "purged.alf"]);
    assert_eq!(&shown["purges"], &json!([audit]));
    assert_eq!(shown["memory_records"], 24);
}

#[test]
fn a_purged_archive_is_valid_and_differs_in_nothing_else() {
    let environment = TestEnvironment::with_demo();
    environment.json(["purge", "march.alf", "--record", GEHEIM, "-o", "purged.alf"]);
    let report = environment.json(["validate", "purged.alf"]);
    assert_eq!((&report["valid"], &report["class"]), (&true.into(), &"ok".into()));
    assert_eq!(report["warnings"], json!([]));
    let diff = environment.json(["diff", "march.alf", "purged.alf"]);
    assert_eq!(diff["records"]["deleted"], json!([{"id": GEHEIM, "title": "Geheim"}]));
    assert_eq!(diff["records"]["created"], json!([]));
    assert_eq!(diff["records"]["updated"], json!([]));
    assert_eq!(diff["files"], json!([{"path": ITS_FILE, "change": "updated"}]));
}

#[test]
fn several_records_and_a_whole_file_go_together() {
    let environment = TestEnvironment::with_demo();
    let other = sample::record_id("memory/2026-01-23.md", 1).to_string();
    let report = environment.json([
        "purge",
        "march.alf",
        "--record",
        GEHEIM,
        "--record",
        &other,
        "--drop-file",
        ITS_FILE,
        "-o",
        "purged.alf",
    ]);
    assert_eq!(report["dropped_files"], json!([ITS_FILE]));
    assert_eq!(report["audit"]["record_ids"], json!([GEHEIM, other]));
    let after = environment.read("purged.alf");
    assert!(!unzip(&after).contains_key(ITS_FILE));
    for id in [GEHEIM, &other] {
        assert_gone(&after, &record(&sample::agent(), id).content);
    }
    assert_eq!(environment.json(["validate", "purged.alf"])["valid"], true);
}

#[test]
fn an_archive_can_be_purged_again_and_remembers_both() {
    let environment = TestEnvironment::with_demo();
    let other = sample::record_id("MEMORY.md", 5).to_string();
    environment.json(["purge", "march.alf", "--record", GEHEIM, "-o", "one.alf"]);
    environment.json(["purge", "one.alf", "--record", &other, "-o", "two.alf"]);
    let shown = environment.json(["inspect", "two.alf"]);
    let purged: Vec<_> = shown["purges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|array| array["record_ids"][0].clone())
        .collect();
    assert_eq!(purged, [GEHEIM, &other]);
    assert_gone(&environment.read("two.alf"), &record(&sample::agent(), GEHEIM).content);
    assert_gone(&environment.read("two.alf"), &record(&sample::agent(), &other).content);
    assert_eq!(environment.json(["validate", "two.alf"])["valid"], true);
}

#[test]
fn all_records_can_go() {
    let environment = TestEnvironment::with_demo();
    let snapshot = sample::agent();
    let mut args: Vec<String> =
        ["purge", "march.alf", "-o", "purged.alf", "--record"].map(str::to_owned).into();
    args.extend(snapshot.records.iter().map(|record| record.id.to_string()));
    environment.json(&args);
    assert_eq!(environment.json(["validate", "purged.alf"])["valid"], true);
    assert_eq!(environment.json(["inspect", "purged.alf"])["memory_records"], 0);
    assert!(!unzip(&environment.read("purged.alf")).contains_key(PARTITION));
}

#[test]
fn an_unknown_id_is_an_error_that_says_where_ids_are_listed() {
    let environment = TestEnvironment::with_demo();
    let id = "00000000-0000-4000-8000-000000000001";
    let args = ["purge", "march.alf", "--record", GEHEIM, "--record", id, "-o", "purged.alf"];
    let failure = environment.failure(1, args);
    assert_eq!(failure["code"], "record_not_found");
    let error = failure["error"].as_str().unwrap();
    assert!(error.contains(id) && !error.contains(GEHEIM), "{error}");
    assert!(failure["hint"].as_str().unwrap().contains("inspect"), "{failure}");
}

#[test]
fn an_unknown_file_to_drop_is_an_error() {
    let environment = TestEnvironment::with_demo();
    for file in ["missing.md", "manifest.json", "memory/2026-01-23.md", PARTITION] {
        let args = ["purge", "march.alf", "--record", GEHEIM, "--drop-file", file, "-o", "new.alf"];
        let failure = environment.failure(1, args);
        assert_eq!(failure["code"], "file_not_found");
        assert!(failure["error"].as_str().unwrap().contains(file), "{failure}");
        assert!(failure["hint"].is_string(), "{failure}");
    }
}

#[test]
fn a_reason_is_one_of_four_words() {
    let environment = TestEnvironment::with_demo();
    let purge = ["purge", "march.alf", "--record", GEHEIM, "-n", "--reason"];
    for reason in ["gdpr_article_17", "ccpa_deletion", "user_request", "security_incident"] {
        environment.json(purge.iter().chain([&reason]));
    }
    environment.failure(2, purge.iter().chain([&"boredom"]));
}

/// Makes an archive in which another record holds the text of the first.
fn with_an_echo(environment: &TestEnvironment) -> (String, Snapshot) {
    let mut snapshot = sample::agent();
    let mut echo = record(&snapshot, GEHEIM).clone();
    echo.id = sample::record_id("memory/echo.md", 0);
    echo.source.origin_file = None;
    echo.raw_source_format = None;
    echo.content = format!("Lin says:\n{}\nAnd so on.", echo.content.trim());
    let id = echo.id.to_string();
    snapshot.records.push(echo);
    snapshot.sort();
    environment.write_archive("echo.alf", &snapshot);
    (id, snapshot)
}

#[test]
fn a_text_that_another_record_holds_is_refused_and_the_record_is_named() {
    let environment = TestEnvironment::new();
    let (echo, snapshot) = with_an_echo(&environment);
    let before = environment.everything();
    let failure = environment.failure(1, ["purge", "echo.alf", "--record", GEHEIM, "-o", "no.alf"]);
    assert_eq!(failure["code"], "purge_obstacle");
    assert!(failure["error"].as_str().unwrap().contains(GEHEIM), "{failure}");
    assert!(failure["error"].as_str().unwrap().contains("nothing was written"), "{failure}");
    assert!(failure["hint"].as_str().unwrap().contains(&echo), "{failure}");
    assert!(environment.everything() == before);

    // The dry run reports it as well, and following the hint works.
    let shown = environment.json(["purge", "echo.alf", "--record", GEHEIM, "--dry-run"]);
    assert_eq!(shown["obstacles"][0]["held_by"], echo);
    let both = ["purge", "echo.alf", "--record", GEHEIM, "--record", &echo, "-o", "purged.alf"];
    environment.json(both);
    assert_gone(&environment.read("purged.alf"), &record(&snapshot, GEHEIM).content);
}

#[test]
fn a_text_in_a_file_that_is_not_text_is_refused_until_the_file_may_go() {
    let environment = TestEnvironment::new();
    let mut snapshot = sample::agent();
    let text = record(&snapshot, GEHEIM).content.trim().to_owned();
    let database = [b"SQLite\0\xff".as_slice(), text.as_bytes(), b"\0\0"].concat();
    let root = FileRoot::Raw(sample::RUNTIME.to_owned());
    snapshot.files.push(File::new(root, "memory/facts.db", database));
    environment.write_archive("march.alf", &snapshot);
    let purge = ["purge", "march.alf", "--record", GEHEIM, "-o", "purged.alf"];
    let failure = environment.failure(1, purge);
    assert_eq!(failure["code"], "purge_obstacle");
    let path = "raw/openclaw/memory/facts.db";
    assert!(failure["hint"].as_str().unwrap().contains(&format!("--drop-file {path}")));
    environment.json(purge.iter().chain(&["--drop-file", path]));
    assert_gone(&environment.read("purged.alf"), &text);
    assert_eq!(environment.json(["validate", "purged.alf"])["valid"], true);
}

#[test]
fn a_text_that_a_raw_file_holds_as_json_is_an_obstacle_of_the_plan() {
    let environment = TestEnvironment::new();
    let mut snapshot = sample::agent();
    let text = record(&snapshot, GEHEIM).content.trim().to_owned();
    let transcript = json!({"role": "assistant", "content": text}).to_string();
    let root = FileRoot::Raw(sample::RUNTIME.to_owned());
    snapshot.files.push(File::new(root, "sessions/main.jsonl", transcript));
    environment.write_archive("march.alf", &snapshot);
    let shown = environment.json(["purge", "march.alf", "--record", GEHEIM, "--dry-run"]);
    let cut = shown["cuts"].to_string().contains("sessions/main.jsonl");
    let refused = shown["obstacles"].to_string().contains("sessions/main.jsonl");
    assert!(cut || refused, "{shown}");
}

#[test]
fn a_record_that_is_marked_deleted_but_has_its_text_is_searched_for_as_well() {
    let environment = TestEnvironment::new();
    let (_, mut snapshot) = with_an_echo(&environment);
    let deleted =
        snapshot.records.iter_mut().find(|record| record.id.to_string() == GEHEIM).unwrap();
    deleted.status = Status::Deleted;
    environment.write_archive("deleted.alf", &snapshot);
    let failure =
        environment.failure(1, ["purge", "deleted.alf", "--record", GEHEIM, "-o", "no.alf"]);
    assert_eq!(failure["code"], "purge_obstacle");
}

#[test]
fn a_text_in_a_layer_is_refused_with_a_hint_that_helps() {
    let environment = TestEnvironment::new();
    let mut snapshot = sample::agent();
    let notes = "A note that the manifest and a record both hold.";
    snapshot.manifest.runtime_hints.as_mut().unwrap().notes = Some(notes.to_owned());
    let mut copy = record(&snapshot, GEHEIM).clone();
    copy.id = sample::record_id("memory/copy.md", 0);
    copy.source.origin_file = None;
    copy.raw_source_format = None;
    copy.content = notes.to_owned();
    let id = copy.id.to_string();
    snapshot.records.push(copy);
    snapshot.sort();
    environment.write_archive("copy.alf", &snapshot);
    let failure = environment.failure(1, ["purge", "copy.alf", "--record", &id, "-o", "new.alf"]);
    assert_eq!(failure["code"], "purge_obstacle");
    assert!(failure["error"].as_str().unwrap().contains("manifest.json"), "{failure}");
    // A manifest cannot be left out.
    assert!(!failure["hint"].as_str().unwrap_or_default().contains("--drop-file"), "{failure}");
}

#[test]
fn a_dry_run_names_what_would_go_and_writes_nothing() {
    let environment = TestEnvironment::with_demo();
    let before = environment.everything();
    for output in [&[][..], &["-o", "purged.alf"], &["-o", "april.alf"]] {
        let args = [&["purge", "march.alf", "--record", GEHEIM, "-n"], output].concat();
        let shown = environment.json(args);
        assert_eq!(shown["dry_run"], true);
        assert_eq!(shown["records"], json!([{"id": GEHEIM, "entry": PARTITION}]));
        assert_eq!(shown["cuts"][0]["entry"], ITS_FILE);
        for key in ["output", "audit", "proof"] {
            assert!(shown.get(key).is_none(), "{key}");
        }
        assert!(environment.everything() == before);
    }
}

#[test]
fn a_delta_can_be_purged_and_still_applies() {
    let environment = TestEnvironment::with_demo();
    let new = sample::record_id("memory/2026-04-12.md", 0).to_string();
    let april = sample::agent_a_month_later();
    let text = &record(&april, &new).content;
    let delta = "march-to-april.alf-delta";
    let report = environment.json(["purge", delta, "--record", &new, "-o", "purged.alf-delta"]);
    assert_eq!(report["proof"]["absent"], true);
    assert_eq!(report["audit"]["partitions_affected"], json!(["memory/delta.jsonl"]));
    assert_gone(&environment.read("purged.alf-delta"), text);
    let checked = environment.json(["validate", "purged.alf-delta"]);
    assert_eq!((&checked["valid"], &checked["kind"]), (&true.into(), &"delta".into()));
    environment.json(["apply", "march.alf", "purged.alf-delta", "-o", "new.alf"]);
    assert_gone(&environment.read("new.alf"), text);
    let diff = environment.json(["diff", "april.alf", "new.alf"]);
    assert_eq!(diff["records"]["deleted"][0]["id"], new);
    assert_eq!(diff["records"]["unchanged"], 26);
}

#[test]
fn a_record_whose_text_a_delta_holds_in_parts_is_purged_with_the_parts_or_not_at_all() {
    let environment = TestEnvironment::with_demo();
    let krause = sample::record_id("MEMORY.md", 1).to_string();
    let text = "He moved on 12 April and she came along.";
    assert!(record(&sample::agent_a_month_later(), &krause).content.contains(text));
    let delta = "march-to-april.alf-delta";
    let purge = ["purge", delta, "--record", &krause, "-o", "purged.alf-delta"];
    let failure = environment.failure(1, purge);
    assert_eq!(failure["code"], "purge_obstacle");
    let splice = "splice/raw/openclaw/MEMORY.md";
    assert!(failure["hint"].as_str().unwrap().ends_with(&format!("--drop-file {splice}")));
    environment.json(purge.iter().chain(&["--drop-file", splice]));
    assert_gone(&environment.read("purged.alf-delta"), text);
    environment.json(["validate", "purged.alf-delta"]);
    environment.json(["apply", "march.alf", "purged.alf-delta", "-o", "new.alf"]);
    assert_gone(&environment.read("new.alf"), text);
}

#[test]
fn a_tombstone_can_be_purged_from_a_delta() {
    let environment = TestEnvironment::with_demo();
    let delta = "march-to-april.alf-delta";
    let report = environment.json(["purge", delta, "--record", GEHEIM, "-o", "purged.alf-delta"]);
    assert_eq!(report["proof"]["absent"], true);
    // Its tombstone stays, or the base's record would be there again.
    environment.json(["apply", "march.alf", "purged.alf-delta", "-o", "new.alf"]);
    let march = sample::agent();
    let text = &record(&march, GEHEIM).content;
    assert_gone(&environment.read("new.alf"), text);
}

#[test]
fn an_artifact_that_is_cut_or_left_out_is_listed_as_it_is() {
    let environment = TestEnvironment::with_demo();
    let mut snapshot = sample::agent();
    let text = record(&snapshot, GEHEIM).content.clone();
    let artifact = snapshot.files.iter_mut().find(|file| file.root == FileRoot::Artifacts).unwrap();
    artifact.node = Node::File(format!("before\n{text}\nafter\n").into_bytes());
    let Node::File(content) = &artifact.node else { unreachable!() };
    let list = snapshot.attachments.as_mut().unwrap();
    let listed =
        list.attachments.iter_mut().find(|attachment| attachment.archive_path.0.is_some()).unwrap();
    listed.size_bytes = content.len() as u64;
    listed.hash.value = anemone_format::sha256_hex(content);
    let path = listed.archive_path.0.clone().unwrap();
    environment.write_archive("artifact.alf", &snapshot);
    environment.json(["validate", "artifact.alf"]);
    let purge = ["purge", "artifact.alf", "--record", GEHEIM];
    environment.json(purge.iter().chain(&["-o", "cut.alf"]));
    environment.json(["validate", "cut.alf"]);
    assert_gone(&environment.read("cut.alf"), &text);
    environment.json(purge.iter().chain(&["--drop-file", &path, "-o", "dropped.alf"]));
    environment.json(["validate", "dropped.alf"]);
    let inspected = environment.json(["inspect", "dropped.alf"]);
    assert_eq!(inspected["artifacts_included"], 0);
}

#[test]
fn what_validate_refuses_is_not_rewritten() {
    let environment = TestEnvironment::with_demo();
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/refuse-corrupt");
    for name in ["partition-count-wrong", "checksum-wrong", "record-id-twice"] {
        let file = format!("{vectors}/{name}.alf");
        let id = "0194a000-0000-7000-8000-000000000001";
        for command in [
            &["delta", &file, &file, "-o", "new"][..],
            &["purge", &file, "--record", id, "-o", "new"],
            &["encrypt", &file, "--passphrase-file", "march.alf", "-o", "new"],
        ] {
            let failure = environment.failure(1, command.iter().copied());
            assert_eq!(failure["code"], "invalid", "{command:?}: {failure}");
        }
    }
}

#[test]
fn people_read_what_went_and_that_it_is_gone() {
    let environment = TestEnvironment::with_demo();
    let purge = ["purge", "march.alf", "--record", GEHEIM];
    insta::assert_snapshot!(environment.human(purge.iter().chain(&["-o", "purged.alf"])), @"
    - record 88c555e0-5d0c-51de-a067-64f2767ce8c1 in memory/partitions/2026-Q1.jsonl
    - 330 bytes of raw/openclaw/memory/2026-01-23.md
    gone: searched 25 entries, [size]; not found
    wrote purged.alf; the source is still there
    ");
    insta::assert_snapshot!(environment.human(purge.iter().chain(&["--dry-run"])), @"
    - record 88c555e0-5d0c-51de-a067-64f2767ce8c1 in memory/partitions/2026-Q1.jsonl
    - 330 bytes of raw/openclaw/memory/2026-01-23.md
    nothing written: this was a dry run
    ");
    let inspected = environment.human(["inspect", "purged.alf"]);
    assert!(inspected.contains(": 1 record (user_request)"), "{inspected}");
}

#[test]
fn purging_in_place_does_not_say_that_the_source_is_still_there() {
    let environment = TestEnvironment::with_demo();
    let text =
        environment.human(["purge", "march.alf", "--record", GEHEIM, "-o", "march.alf", "--force"]);
    assert_gone(&environment.read("march.alf"), &record(&sample::agent(), GEHEIM).content);
    assert!(!text.contains("the source is still there"), "{text}");
}

#[test]
fn what_was_purged_is_not_in_the_report() {
    let environment = TestEnvironment::with_demo();
    let ran = environment.run(["purge", "march.alf", "--record", GEHEIM, "-o", "purged.alf"]);
    let report: Value = ran.document();
    assert_eq!(report["ok"], true);
    for line in lines_of(&record(&sample::agent(), GEHEIM).content) {
        assert!(!ran.stdout.contains(line), "{line}");
    }
}
