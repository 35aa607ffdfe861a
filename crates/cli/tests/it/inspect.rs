//! `anemone inspect`

use crate::environment::{TestEnvironment, reference, sample};

#[test]
fn an_archive_is_described() {
    let environment = TestEnvironment::with_demo();
    let shown = environment.json(["inspect", "march.alf"]);
    assert_eq!(shown["kind"], "archive");
    assert_eq!(shown["alf_version"], "1.0.0");
    assert_eq!(shown["agent_id"], sample::agent_id().to_string());
    assert_eq!(shown["agent_name"], "Clawdia");
    assert_eq!(shown["source_runtime"], "openclaw");
    assert_eq!(shown["memory_records"], 25);
    assert_eq!(shown["file_size"], environment.read("march.alf").len());
    assert_eq!(shown["digest_sealed"], true);
    assert_eq!(shown["encrypted"], false);
    assert_eq!(shown["sequence"], 0);
    assert!(shown["checksum"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(shown["partitions"][0]["record_count"], 25);
    assert!(shown.get("records").is_none());
}

#[test]
fn a_delta_is_described() {
    let environment = TestEnvironment::with_demo();
    let shown = environment.json(["inspect", "march-to-april.alf-delta"]);
    let [march, april] = ["march.alf", "april.alf"].map(|name| environment.json(["inspect", name]));
    assert_eq!(shown["kind"], "delta");
    assert_eq!(shown["agent_id"], march["agent_id"]);
    assert_eq!(shown["base_checksum"], march["checksum"]);
    assert_eq!(shown["target_checksum"], april["checksum"]);
    assert_eq!(shown["memory_records"], 9);
    assert_eq!(shown["layers_changed"], serde_json::json!(["identity", "memory"]));
    assert_eq!((&shown["files_put"], &shown["files_removed"]), (&8.into(), &1.into()));
}

#[test]
fn records_are_listed_oldest_first_up_to_a_limit() {
    let environment = TestEnvironment::with_demo();
    let shown = environment.json(["inspect", "march.alf", "--records"]);
    let records = shown["records"].as_array().unwrap();
    assert_eq!(records.len(), 25);
    let times: Vec<&str> =
        records.iter().map(|record| record["created_at"].as_str().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert!(
        records.iter().all(|record| record["id"].is_string() && record["namespace"].is_string())
    );
    let few = environment.json(["inspect", "march.alf", "--records", "--limit", "3"]);
    assert_eq!(few["records"].as_array().unwrap(), &records[..3]);
    let none = environment.json(["inspect", "march.alf", "--records", "--limit", "0"]);
    assert_eq!(none["records"].as_array().unwrap().len(), 0);
}

#[test]
fn credentials_are_named_and_their_secrets_are_not() {
    let environment = TestEnvironment::with_demo();
    let shown = environment.json(["inspect", "march.alf"]);
    assert_eq!(shown["credentials_count"], 2);
    for credential in shown["credentials"].as_array().unwrap() {
        assert!(credential["service"].is_string());
        assert_eq!(credential["carries_secret"], false);
        assert!(credential.get("encrypted_payload").is_none());
    }
}

#[test]
fn files_of_the_existing_tool_are_described() {
    let environment = TestEnvironment::new();
    for (name, agent, records) in [
        ("reference-openclaw.alf", Some("Clawdia"), 558),
        ("reference-zeroclaw.alf", Some("ZeroBot"), 100),
        ("reference.alf-delta", None, 3),
    ] {
        let path = reference(name);
        let shown = environment.json(["inspect".as_ref(), path.as_os_str()]);
        assert_eq!(shown["agent_name"].as_str(), agent);
        assert_eq!(shown["memory_records"], records);
        assert_eq!(shown["digest_sealed"], false);
    }
}

#[test]
fn people_read_an_archive() {
    let environment = TestEnvironment::with_demo();
    let shown = environment.human(["inspect", "march.alf", "--records", "--limit", "3"]);
    insta::assert_snapshot!(shown, @"
    Clawdia  9e373c1e-cab7-5eea-90c3-8f3d09ac5755
      archive from openclaw, newest change 2026-03-28 18:05 UTC
      [size], format 1.0.0, with seal
      25 records in 1 partition
        memory/partitions/2026-Q1.jsonl  since 2026-01-01: 25 records
      identity version 1
      1 principal, 2 credentials
        seasearch (api_key): no secret
        caldav (oauth_token): no secret
      2 artifacts, 1 included
      18 files, 1 symlink, 1 folder
      0e2587ee-c53f-52c2-bbda-8fe25fa4c8c6  2026-01-05  First day
      1189e1d4-5cc3-53da-bf9e-4af19813e73d  2026-01-09  Money
      64a36fd6-0140-5003-bca9-0271d2ee1d42  2026-01-09  Mail
      and 22 more; raise --limit to see them
    ");
}

#[test]
fn people_read_a_delta() {
    let environment = TestEnvironment::with_demo();
    insta::assert_snapshot!(environment.human(["inspect", "march-to-april.alf-delta"]), @"
    Clawdia  9e373c1e-cab7-5eea-90c3-8f3d09ac5755
      delta from openclaw, newest change 2026-04-26 19:48 UTC
      [size], format 1.0.0, with seal
      from sequence 0 to 0
      9 record operations
      layers changed: identity, memory
      files: 8 put, 1 removed
    ");
}
