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
        .map(|it| it["text"].as_str().expect("it is a list of texts"))
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
    assert_eq!(first["origin"], "owner");
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
