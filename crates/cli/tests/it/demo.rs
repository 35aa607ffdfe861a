//! `anemone demo`

use serde_json::Value;

use crate::environment::{TestEnvironment, sample};

#[test]
fn the_demo_proves_what_it_shows() {
    let environment = TestEnvironment::new();
    let demo = environment.json(["demo"]);
    let keys = ["discovered", "answered", "remembered", "exported", "damaged", "moved", "purged"];
    for key in keys {
        assert!(demo.get(key).is_some(), "{key}");
    }
    let exported = &demo["exported"];
    assert_eq!(demo["discovered"]["alias"], "clawdia");
    // One record was remembered between the two steps.
    let records = demo["discovered"]["records"].as_u64().unwrap();
    assert_eq!(exported["records"], records + 1);
    assert!(!exported["left_out"].as_array().unwrap().is_empty());

    let answered = demo["answered"].as_array().unwrap();
    assert_eq!(answered.len(), 3);
    assert!(answered[1]["text"].as_str().unwrap().contains("妈妈"));
    assert_eq!(answered[2]["shared_words"], Value::Array(Vec::new()));
    assert_ne!(answered[0]["shared_words"], Value::Array(Vec::new()), "words can be shared");

    let findings = demo["damaged"]["findings"].as_array().unwrap();
    let named = |value: &&Value| value["path"] == demo["damaged"]["entry"];
    assert_eq!(findings.iter().filter(named).count(), 1);
    for leg in ["there", "back"] {
        let layers = demo["moved"][leg]["layers"].as_array().unwrap();
        assert!(layers.iter().all(|layer| layer["lost"] == 0));
        let memory = layers.iter().find(|layer| layer["layer"] == "memory").unwrap();
        assert_eq!(memory["total"], exported["records"]);
    }
    assert!(demo["moved"]["files_identical"].as_u64().unwrap() > 40);
    assert!(demo["purged"]["bytes_searched"].as_u64().unwrap() > 0);
    assert!(demo["purged"]["forgotten"]["files_searched"].as_u64().unwrap() > 40);
    assert!(demo.get("kept_in").is_none());
}

#[test]
fn the_demo_leaves_nothing_and_sees_nothing_of_the_user() {
    let environment = TestEnvironment::new();
    // An agent and settings that would interfere if the demo read them.
    environment.write_home(".openclaw/workspace/MEMORY.md", "# Mine\n");
    environment.write_home(".config/anemone/config.toml", "this is no TOML");
    let before = environment.everything();
    let state = environment.home(".openclaw");
    let variables = [("OPENCLAW_STATE_DIR", state.to_str().unwrap())];
    let demo = environment.json_with(&variables, ["demo"]);
    assert_eq!(demo["discovered"]["alias"], "clawdia");
    assert!(environment.everything() == before, "nothing is left and nothing changed");
}

#[test]
fn what_is_kept_is_the_sample_and_private() {
    let environment = TestEnvironment::new();
    let demo = environment.json(["demo", "--keep", "a/b"]);
    assert_eq!(demo["kept_in"], "a/b");
    environment.write_archive("march.alf", &sample::agent());
    environment.write_archive("april.alf", &sample::agent_a_month_later());
    assert!(environment.read("a/b/march.alf") == environment.read("march.alf"));
    assert!(environment.read("a/b/april.alf") == environment.read("april.alf"));
    assert!(environment.read("a/b/applied.alf") == environment.read("april.alf"));
    let archives = ["march.alf", "april.alf", "applied.alf", "clawdia.alf", "clawdia-purged.alf"];
    for name in archives.iter().chain(&["march-to-april.alf-delta"]) {
        environment.assert_private(&format!("a/b/{name}"));
    }
    assert!(environment.exists("a/b/workspace/MEMORY.md"));
    assert_eq!(environment.json(["validate", "a/b/clawdia-purged.alf"])["valid"], true);
    assert_eq!(environment.failure_of_validate("a/b/broken.alf")["valid"], false);
    // A user who explores the folder finds an agent whose memory can be searched.
    let found = environment.json(["search", "Teekannenform", "-w", "a/b/workspace"]);
    let hits = found["hits"].as_array().unwrap();
    assert!(hits.iter().all(|hit| !hit["text"].as_str().unwrap().contains("Teekannenform")));
}

#[test]
fn an_empty_folder_is_used_and_a_full_one_is_left_alone() {
    let environment = TestEnvironment::new();
    fs_err::create_dir(environment.path("empty")).unwrap();
    environment.json(["demo", "--keep", "empty"]);
    let failure = environment.failure(1, ["demo", "--keep", "empty"]);
    assert_eq!(failure["code"], "not_empty");
    assert!(failure["hint"].is_string());
}

#[test]
fn the_demo_tells_a_story() {
    let demo = TestEnvironment::new().human(["demo"]);
    let headings: Vec<&str> = demo.lines().filter(|line| !line.starts_with(' ')).collect();
    insta::assert_snapshot!(headings.join("\n"), @"
    1. An agent is found
    2. She answers
    3. Telling her something new
    4. All of her in one file
    5. Damage is pinpointed
    6. To another runtime and back
    7. A secret is gone for good

    Keep the files to look around: anemone demo --keep DIR
    Now yours: anemone status
    ");
    for line in demo.lines() {
        assert!(line.chars().count() <= 120, "{line}");
    }
    assert!(!demo.contains(" /"), "paths are those of the folder: {demo}");
}

impl TestEnvironment {
    /// Validates an invalid file, and returns the answer.
    fn failure_of_validate(&self, name: &str) -> Value {
        let ran = self.run(["validate", name]);
        assert_eq!(ran.code, 1, "{}", ran.stdout);
        ran.document()
    }
}
