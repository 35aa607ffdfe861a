//! `anemone diff`

use crate::environment::{TestEnvironment, reference, sample};

#[test]
fn differences_are_named_with_their_records_layers_and_files() {
    let environment = TestEnvironment::with_demo();
    let shown = environment.json(["diff", "march.alf", "april.alf"]);
    assert_eq!(shown["equal"], false);
    let count = |key: &str| shown["records"][key].as_array().unwrap().len();
    assert_eq!((count("created"), count("updated"), count("deleted")), (4, 3, 2));
    assert_eq!(shown["records"]["unchanged"], 20);
    assert_eq!(shown["layers"], serde_json::json!([{"layer": "identity", "change": "updated"}]));
    let deleted = &shown["records"]["deleted"][0];
    assert_eq!(deleted["id"], sample::record_id("memory/2026-01-23.md", 0).to_string());
    assert_eq!(deleted["title"], "Geheim");
}

#[test]
fn the_other_way_round_creates_and_deletes_change_places() {
    let environment = TestEnvironment::with_demo();
    let there = environment.json(["diff", "march.alf", "april.alf"]);
    let back = environment.json(["diff", "april.alf", "march.alf"]);
    for (one, other) in [("created", "deleted"), ("deleted", "created"), ("updated", "updated")] {
        let [one, other] = [&there["records"][one], &back["records"][other]].map(|list| {
            let ids = list.as_array().unwrap().iter().map(|array| array["id"].as_str().unwrap());
            ids.collect::<std::collections::BTreeSet<_>>()
        });
        assert_eq!(one, other);
    }
}

#[test]
fn an_archive_equals_itself_and_what_a_delta_made_of_another() {
    let environment = TestEnvironment::with_demo();
    for (one, other) in [("march.alf", "march.alf"), ("april.alf", "applied.alf")] {
        assert_eq!(environment.json(["diff", one, other])["equal"], true);
        let text = environment.human(["diff", one, other]);
        assert_eq!(text, "equal: the two archives hold the same\n");
    }
}

#[test]
fn archives_of_different_agents_conflict() {
    let environment = TestEnvironment::with_demo();
    let mut other = sample::agent();
    let id = "00000000-0000-4000-8000-000000000001";
    other.manifest.agent.id = id.parse().unwrap();
    // What is of the old agent would be refused before the two are compared.
    other.records.clear();
    (other.identity, other.principals) = (None, None);
    (other.credentials, other.attachments) = (None, None);
    environment.write_archive("other.alf", &other);
    let failure = environment.failure(3, ["diff", "march.alf", "other.alf"]);
    assert_eq!(failure["code"], "different_agents");
    let error = failure["error"].as_str().unwrap();
    assert!(error.contains(id) && error.contains(&sample::agent_id().to_string()), "{error}");
    let failure = environment.failure(3, ["delta", "march.alf", "other.alf", "-o", "x.alf-delta"]);
    assert_eq!(failure["code"], "different_agents");
}

#[test]
fn archives_of_the_existing_tool_can_be_compared() {
    let environment = TestEnvironment::with_demo();
    let path = reference("reference-zeroclaw.alf");
    let same = environment.json(["diff".as_ref(), path.as_os_str(), path.as_os_str()]);
    assert_eq!(same["equal"], true);
    let failure = environment.failure(3, ["diff".as_ref(), "march.alf".as_ref(), path.as_os_str()]);
    assert_eq!(failure["code"], "different_agents");
}

#[test]
fn people_read_signs_and_titles() {
    let environment = TestEnvironment::with_demo();
    insta::assert_snapshot!(environment.human(["diff", "march.alf", "april.alf"]), @"
    + 400db531-c7f7-542c-957f-435cd3a484c2  Nachtrag
    + 6a45bd7a-e8ae-50ee-a89c-8bb3b019abbd  He moved
    + 09c288ef-04d0-51d3-839a-4649aed69807  Next move
    + 2106749d-56a6-5add-82c1-34b976b8336b  搬家
    ~ 2740be61-3bbb-563a-bb31-f8fd9993be2c  Herr Krause: content, temporal.updated_at
    ~ f35f4f45-b4f0-5ac8-9594-7ff2c711ecb8  Moving plan: content, raw_source_format.line_end, status, temporal.updated_at
    ~ 6bc9a540-0280-5320-b2c7-d4fe987ed858  Right now: content, entities, temporal.updated_at
    - 88c555e0-5d0c-51de-a067-64f2767ce8c1  Geheim
    - 8c0e03ff-f7eb-58f6-b709-683cf7c584d4  Gästeliste
    ~ layer identity
    ~ file raw/openclaw/MEMORY.md
    ~ file raw/openclaw/SOUL.md
    ~ file raw/openclaw/USER.md  (mode or time)
    + file raw/openclaw/memory/2026-04-12.md
    + file raw/openclaw/memory/2026-04-26.md
    ~ file raw/openclaw/memory/active-context.md
    ~ file raw/openclaw/memory/latest  (mode or time)
    ~ file raw/openclaw/memory/project-aquarium.md
    - file raw/openclaw/memory/2026-01-23.md
    4 created, 3 updated, 2 deleted, 20 records unchanged; the manifest differs
    ");
}

#[test]
fn an_updated_record_comes_with_the_fields_that_differ() {
    let environment = TestEnvironment::with_demo();
    let shown = environment.json(["diff", "march.alf", "april.alf"]);
    let updated = shown["records"]["updated"].as_array().unwrap();
    for record in updated {
        let fields = record["fields"].as_array().unwrap();
        assert!(fields.contains(&"content".into()), "{record}");
    }
    assert!(shown["records"]["created"][0].get("fields").is_none());
}

#[test]
fn many_records_that_changed_alike_are_one_line() {
    let environment = TestEnvironment::new();
    let before = sample::agent();
    let mut after = before.clone();
    for record in &mut after.records {
        record.source.runtime_version = Some("9999.1.1".to_owned());
    }
    after.records[0].tags.push("new".to_owned());
    environment.write_archive("before.alf", &before);
    environment.write_archive("after.alf", &after);
    let number = before.records.len() - 1;
    let text = environment.human(["diff", "before.alf", "after.alf"]);
    let line = format!("~ {number} records: source.runtime_version\n");
    assert!(text.contains(&line), "{text}");
    assert!(text.contains("source.runtime_version, tags\n"), "{text}");
    let shown = environment.json(["diff", "before.alf", "after.alf"]);
    let groups = &shown["records"]["updated_by_fields"];
    assert_eq!(groups[0]["fields"], serde_json::json!(["source.runtime_version"]));
    assert_eq!(groups[0]["records"], number);
    assert_eq!(shown["records"]["updated"].as_array().unwrap().len(), number + 1);
}
