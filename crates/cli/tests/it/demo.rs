//! `anemone demo`

use crate::environment::{TestEnvironment, sample};

#[test]
fn the_demo_proves_what_it_shows() {
    let environment = TestEnvironment::new();
    let demo = environment.json(["demo"]);
    assert_eq!(demo["valid"], true);
    assert_eq!(demo["equal"], true);
    assert_eq!(demo["april_sha256"], demo["applied_sha256"]);
    assert_eq!(demo["bits_flipped"], demo["flips_noticed"]);
    assert!(demo["bits_flipped"].as_u64().unwrap() >= 64);
    assert!(demo.get("kept_in").is_none());
    let left: Vec<_> = environment.everything().into_keys().collect();
    assert_eq!(left, ["home", "tmp", "work"].map(std::path::PathBuf::from));
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
    for name in ["march.alf", "april.alf", "applied.alf", "march-to-april.alf-delta"] {
        environment.assert_private(&format!("a/b/{name}"));
    }
    assert!(environment.exists("a/b/workspace/MEMORY.md"));
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
    1. An agent
    2. An archive
    3. Is it sound?
    4. A month passes
    5. Only the change
    6. March plus the change is April

    Keep the files to look around: anemone demo --keep DIR
    ");
    assert!(demo.contains("\n   equal, byte for byte.\n"), "{demo}");
}
