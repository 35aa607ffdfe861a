//! `anemone apply`

use anemone_format::{Snapshot, SyncCursor, Unknown};

use crate::environment::{TestEnvironment, reference, sample};

/// Returns the sample in May: one record changed, one is new, one is forgotten.
fn agent_in_may() -> Snapshot {
    let mut snapshot = sample::agent_a_month_later();
    let at = |text: &str| text.parse().expect("an RFC 3339 time");
    snapshot.manifest.created_at = at("2026-05-30T20:00:00Z");
    let mut new = snapshot.records[3].clone();
    new.id = sample::record_id("memory/2026-05-30.md", 0);
    new.temporal.created_at = at("2026-05-30T00:00:00Z");
    new.content = "## A third crab\n\nHe came by post and is very small.\n".to_owned();
    snapshot.records[0].content.push_str("\nThat was long ago.\n");
    snapshot.records.remove(5);
    snapshot.records.push(new);
    snapshot.sort();
    snapshot
}

/// Makes a folder with three months and the deltas between them.
fn three_months() -> TestEnvironment {
    let environment = TestEnvironment::with_demo();
    environment.write_archive("may.alf", &agent_in_may());
    environment.json(["delta", "april.alf", "may.alf", "-o", "april-to-may.alf-delta"]);
    environment
}

const TO_APRIL: &str = "march-to-april.alf-delta";
const TO_MAY: &str = "april-to-may.alf-delta";

#[test]
fn march_and_the_delta_are_april_byte_for_byte() {
    let environment = TestEnvironment::with_demo();
    let applied = environment.json(["apply", "march.alf", TO_APRIL, "-o", "new.alf"]);
    assert!(environment.read("new.alf") == environment.read("april.alf"));
    environment.assert_private("new.alf");
    assert_eq!(applied["dry_run"], false);
    assert_eq!(applied["output"], "new.alf");
    assert_eq!(applied["file_size"], environment.read("new.alf").len());
    assert_eq!(applied["memory_records"], 27);
    assert_eq!(applied["checksum"], environment.json(["inspect", "april.alf"])["checksum"]);
    assert_eq!(
        applied["deltas"],
        serde_json::json!([
            {"delta": TO_APRIL, "creates": 4, "updates": 3, "deletes": 2, "skipped": []},
        ])
    );
}

#[test]
fn a_chain_of_deltas_applies_in_order() {
    let environment = three_months();
    let applied = environment.json(["apply", "march.alf", TO_APRIL, TO_MAY, "-o", "new.alf"]);
    assert!(environment.read("new.alf") == environment.read("may.alf"));
    let names: Vec<_> =
        applied["deltas"].as_array().unwrap().iter().map(|array| array["delta"].clone()).collect();
    assert_eq!(names, [TO_APRIL, TO_MAY]);
    assert_eq!(environment.json(["validate", "new.alf"])["valid"], true);
}

#[test]
fn a_chain_in_the_wrong_order_conflicts_and_names_both_checksums() {
    let environment = three_months();
    let checksum =
        |name: &str| environment.json(["inspect", name])["checksum"].as_str().unwrap().to_owned();
    let (march, april, may) = (checksum("march.alf"), checksum("april.alf"), checksum("may.alf"));
    for (args, actual, expected) in [
        (&["march.alf", TO_MAY, TO_APRIL][..], &march, &april),
        (&["march.alf", TO_MAY], &march, &april),
        (&["may.alf", TO_APRIL], &may, &march),
        (&["march.alf", TO_APRIL, TO_APRIL], &april, &march),
    ] {
        let args = [&["apply", "-o", "new.alf"], args].concat();
        let failure = environment.failure(3, &args);
        assert_eq!(failure["code"], "wrong_base");
        let error = failure["error"].as_str().unwrap();
        assert!(error.contains(actual) && error.contains(expected), "{args:?}: {error}");
        assert!(failure["hint"].as_str().unwrap().contains("order"), "{failure}");
    }
}

#[test]
fn a_delta_from_another_sequence_conflicts_and_names_both() {
    let environment = TestEnvironment::new();
    let at = |snapshot: Snapshot, sequence| {
        let mut snapshot = snapshot;
        snapshot.manifest.sync = Some(SyncCursor {
            last_sequence: sequence,
            last_sync_at: None,
            unknown: Unknown::default(),
        });
        snapshot
    };
    environment.write_archive("7.alf", &at(sample::agent(), 7));
    environment.write_archive("8.alf", &at(sample::agent_a_month_later(), 8));
    environment.write_archive("9.alf", &at(agent_in_may(), 9));
    let made = environment.json(["delta", "8.alf", "9.alf", "-o", "8-to-9.alf-delta"]);
    assert_eq!((&made["base_sequence"], &made["new_sequence"]), (&8.into(), &9.into()));
    let applied = environment.json(["apply", "8.alf", "8-to-9.alf-delta", "-o", "new.alf"]);
    assert_eq!(applied["sequence"], 9);
    let failure = environment.failure(3, ["apply", "7.alf", "8-to-9.alf-delta", "-o", "no.alf"]);
    assert_eq!(failure["code"], "wrong_base");
    assert_eq!(
        failure["error"],
        "8-to-9.alf-delta: the delta starts at sequence 8, but the archive is at sequence 7"
    );
}

#[test]
fn a_delta_of_the_existing_tool_on_a_wrong_base_conflicts() {
    let environment = TestEnvironment::with_demo();
    let delta = reference("reference.alf-delta");
    let delta = delta.to_str().unwrap();
    for base in ["march.alf".into(), reference("reference-openclaw.alf")] {
        let base = base.to_str().unwrap();
        let failure = environment.failure(3, ["apply", base, delta, "-o", "new.alf"]);
        assert_eq!(failure["code"], "different_agents");
        let error = failure["error"].as_str().unwrap();
        assert!(error.contains("4f69463b-27c4-5249-85c2-eb5d56a13480"), "{error}");
    }
}

#[test]
fn a_dry_run_says_what_would_be_and_writes_nothing() {
    let environment = TestEnvironment::with_demo();
    let before = environment.everything();
    for output in [&[][..], &["-o", "new.alf"], &["-o", "april.alf"]] {
        let args = [&["apply", "march.alf", TO_APRIL, "-n"], output].concat();
        let shown = environment.json(args);
        assert_eq!(shown["dry_run"], true);
        assert!(shown.get("output").is_none());
        assert_eq!(shown["memory_records"], 27);
        assert!(environment.everything() == before);
    }
    environment.failure(3, ["apply", "april.alf", TO_APRIL, "-n"]);
}

#[test]
fn a_dry_run_of_a_chain_needs_no_output() {
    let environment = three_months();
    let shown = environment.json(["apply", "march.alf", TO_APRIL, TO_MAY, "-n"]);
    assert_eq!(shown["deltas"].as_array().unwrap().len(), 2);
}

#[test]
fn a_chain_does_not_mind_files_with_names_like_its_output() {
    let environment = three_months();
    environment.write("new.step", "precious");
    environment.json(["apply", "march.alf", TO_APRIL, TO_MAY, "-o", "new.alf"]);
    assert_eq!(environment.read("new.step"), b"precious");
}

#[test]
fn an_archive_is_not_a_delta_and_a_delta_is_not_an_archive() {
    let environment = TestEnvironment::with_demo();
    for args in [["march.alf", "april.alf"], [TO_APRIL, TO_APRIL]] {
        let failure = environment.failure(1, [&["apply", "-o", "new.alf"][..], &args].concat());
        assert_eq!(failure["code"], "wrong_kind");
        assert!(failure["hint"].is_string());
    }
}

#[test]
fn people_read_what_was_applied() {
    let environment = three_months();
    let text = environment.human(["apply", "march.alf", TO_APRIL, TO_MAY, "-o", "new.alf"]);
    insta::assert_snapshot!(text, @"
    march-to-april.alf-delta: 4 created, 3 updated, 2 deleted
    april-to-may.alf-delta: 1 created, 1 updated, 1 deleted
    wrote new.alf ([size], 27 records)
    ");
    let text = environment.human(["apply", "march.alf", TO_APRIL, "--dry-run"]);
    insta::assert_snapshot!(text, @"
    march-to-april.alf-delta: 4 created, 3 updated, 2 deleted
    nothing written: this was a dry run (27 records)
    ");
}
