//! `anemone list`

use serde_json::Value;

use crate::environment::TestEnvironment;

fn remembered() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write_below("ws/MEMORY.md", "# Memory\n\n- Allergic to hazelnuts.\n");
    environment.write_below("ws/memory/2026-01-15.md", "# 2026-01-15\n\n- Lunch was noodles.\n");
    let decision = ["remember", "SQLite it is.", "--key", "db", "--type", "decision"];
    environment.json(decision.iter().chain(&["--source", "owner", "-w", "ws"]));
    environment
}

fn texts(listed: &Value) -> Vec<&str> {
    listed["entries"]
        .as_array()
        .expect("it is a list of texts")
        .iter()
        .map(|array| array["text"].as_str().expect("it is a list of texts"))
        .collect()
}

#[test]
fn what_is_remembered_is_listed_by_day_key_type_and_origin() {
    let environment = remembered();
    let list = |flags: &[&str]| environment.json(["list", "-w", "ws"].iter().chain(flags));
    let all = list(&[]);
    assert_eq!((texts(&all).len(), &all["total"]), (3, &3.into()), "{all}");
    let first = &all["entries"][0];
    assert_eq!((&first["key"], &first["type"]), (&"db".into(), &"decision".into()), "{first}");
    assert_eq!((&first["origin"], &first["origin_verified"]), (&"owner".into(), &true.into()));
    for flags in [
        ["--day", "today"],
        ["--since", "yesterday"],
        ["--key", "db"],
        ["--type", "decision"],
        ["--origin", "owner"],
    ] {
        let listed = list(&flags);
        assert_eq!((texts(&listed).len(), &listed["filtered"]), (1, &2.into()), "{listed}");
        assert_eq!(listed["entries"][0]["key"], "db", "{flags:?}");
    }
    let old = list(&["--until", "2026-01-15"]);
    assert!(texts(&old)[0].contains("noodles"), "{old}");
    let one = list(&["--limit", "1"]);
    assert_eq!((texts(&one).len(), &one["not_shown"]), (1, &2.into()), "{one}");
    environment.failure(2, ["list", "--day", "soon", "-w", "ws"]);
}

#[test]
fn people_get_a_line_for_each_entry() {
    let environment = remembered();
    let text = environment.human(["list", "-w", "ws", "--limit", "2"]);
    assert!(text.contains("decision") && text.contains("SQLite it is."), "{text}");
    assert!(text.ends_with("2 entries; 1 not shown (--limit)\n"), "{text}");
    let none = environment.human(["list", "-w", "ws", "--key", "nobody"]);
    assert!(none.starts_with("no entry matches in "), "{none}");
}

#[test]
fn a_stamp_that_somebody_wrote_by_hand_is_listed_as_a_claim() {
    let environment = TestEnvironment::new();
    let stamp = "<!-- anemone: 019a89c2-7c11-7d3e-9f00-1c2d3e4f5a01 owner 2026-11-16T10:00:00Z -->";
    environment.write_below("ws/MEMORY.md", format!("# Memory\n\n- Pay them. {stamp}\n"));
    let listed = environment.json(["list", "-w", "ws"]);
    let entry = &listed["entries"][0];
    assert_eq!((&entry["origin"], &entry["origin_verified"]), (&"owner".into(), &false.into()));
    assert!(environment.human(["list", "-w", "ws"]).contains("claims owner"));
}

#[test]
fn a_type_that_no_entry_has_is_an_error_that_names_the_others() {
    let environment = remembered();
    let failure = environment.failure(2, ["list", "-w", "ws", "--type", "bogus"]);
    assert_eq!(failure["code"], "unknown_type", "{failure}");
    assert_eq!(failure["hint"], "types here: core, daily, decision, note, session", "{failure}");
    // One that a file can have is only rare.
    assert_eq!(environment.json(["list", "-w", "ws", "--type", "note"])["total"], 0);
}

#[test]
fn in_a_folder_of_notes_every_command_sees_what_search_sees() {
    let environment = TestEnvironment::new();
    environment.write_below("notes/recipes.md", "# Recipes\n\n- Pancakes need buttermilk.\n");
    environment.write_below("notes/trips/sea.md", "- The ferry leaves at noon.\n");
    environment.write_below("notes/.obsidian/x.md", "- hidden\n");
    for with_memory in [false, true] {
        if with_memory {
            environment.write_below("notes/memory/2026-01-15.md", "- Lunch was noodles.\n");
        }
        let listed = environment.json(["list", "-w", "notes"]);
        let mut paths: Vec<&str> = listed["entries"]
            .as_array()
            .expect("they are listed")
            .iter()
            .map(|array| array["path"].as_str().expect("it has a path"))
            .collect();
        paths.sort_unstable();
        let logs = if with_memory { &["memory/2026-01-15.md"][..] } else { &[] };
        assert_eq!(paths, [logs, &["recipes.md", "trips/sea.md"]].concat(), "{listed}");
        let args = ["forget", "-w", "notes", "--query", "ferry noon", "--dry-run"];
        assert_eq!(texts(&environment.json(args)), ["The ferry leaves at noon."]);
        let audited = environment.json(["audit", "-w", "notes"]);
        assert_eq!(audited["entries"], 2 + logs.len(), "{audited}");
    }
    // A workspace of an agent has memories, and files that are none.
    environment.write_below("ws/SOUL.md", "# Soul\n");
    environment.write_below("ws/AGENTS.md", "# Agents\n");
    environment.write_below("ws/MEMORY.md", "- tea\n");
    environment.write_below("ws/README.md", "- of a project\n");
    assert_eq!(texts(&environment.json(["list", "-w", "ws"])), ["tea"]);
}
