//! `anemone get`

use serde_json::{Value, json};

use crate::environment::TestEnvironment;
use crate::search::tea_shop;

#[test]
fn lines_are_named_behind_the_path_or_by_flags() {
    let environment = TestEnvironment::new();
    environment.write_below("ws/MEMORY.md", "one\ntwo\nthree\nfour\nfive\n");
    let whole = environment.json(["get", "MEMORY.md", "-w", "ws"]);
    assert_eq!((&whole["from"], &whole["lines"]), (&json!(1), &json!(5)));
    assert_eq!((&whole["truncated"], whole.get("next_from")), (&json!(false), None));
    for args in [
        &["MEMORY.md:2:3"][..],
        &["MEMORY.md#L2-L4"],
        &["MEMORY.md", "--from", "2", "--lines", "3"],
    ] {
        let got = environment.json(["get", "-w", "ws"].iter().chain(args));
        assert_eq!(got["text"].as_str().unwrap().trim_end(), "two\nthree\nfour", "{args:?}");
        assert_eq!((&got["from"], &got["lines"]), (&json!(2), &json!(3)), "{args:?}");
        assert_eq!((&got["truncated"], &got["next_from"]), (&json!(true), &json!(5)), "{args:?}");
    }
    let end = environment.json(["get", "MEMORY.md:4", "-w", "ws"]);
    assert_eq!(end["text"].as_str().unwrap().trim_end(), "four\nfive");
    let beyond = environment.json(["get", "MEMORY.md:99", "-w", "ws"]);
    assert_eq!((&beyond["text"], &beyond["lines"]), (&json!(""), &json!(0)));
    assert_eq!(beyond["total_lines"], 5);
    let ran = environment.run(["get", "MEMORY.md:99", "-w", "ws", "--human"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains("MEMORY.md has 5 lines"), "{}", ran.stderr);
    let got = environment.json(["get", "./MEMORY.md:2:1", "-w", "ws"]);
    assert_eq!((&got["path"], &got["text"]), (&json!("MEMORY.md"), &json!("two")));
    for wrong in [":0", ":3:0", ":-1", ":abc", "#L5-L3", "#L0"] {
        let failure = environment.failure(2, ["get", &format!("MEMORY.md{wrong}"), "-w", "ws"]);
        assert!(
            failure["error"].as_str().unwrap().ends_with("names no lines of MEMORY.md"),
            "{failure}"
        );
        assert!(failure["hint"].as_str().unwrap().contains("lines start at 1"), "{failure}");
    }
    environment.failure(2, ["get", "MEMORY.md:2", "-w", "ws", "--lines", "1"]);
}

#[test]
fn text_that_is_cut_says_so_where_it_is_not_in_the_way() {
    let environment = TestEnvironment::new();
    let lines: String = (1..=300).map(|value| format!("line {value}\n")).collect();
    environment.write_below("ws/memory/long.md", lines);
    let ran = environment.run(["get", "memory/long.md", "-w", "ws", "--human"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 120));
    assert!(ran.stderr.contains("more follows: read on with memory/long.md:121"), "{}", ran.stderr);
    let some = environment.run(["get", "memory/long.md:3:2", "-w", "ws", "--human"]);
    assert_eq!((some.stdout.as_str(), some.stderr.as_str()), ("line 3\nline 4\n", ""));
    let all = environment.run(["get", "memory/long.md", "-w", "ws", "--human", "--lines", "300"]);
    assert_eq!((all.stdout.lines().count(), all.stderr.as_str()), (300, ""));
}

#[test]
fn a_long_line_is_read_whole_when_asked() {
    let environment = TestEnvironment::new();
    let line = format!("{}needle in a long line{}", "hay ".repeat(5000), " hay".repeat(5000));
    environment.write_below("ws/memory/long.md", format!("# Long\n\n{line}\nend\n"));
    let cut = environment.json(["get", "memory/long.md#L3", "-w", "ws"]);
    assert_eq!((&cut["cut"], &cut["line_chars"]), (&json!(true), &json!(line.len())));
    let ran = environment.run(["get", "memory/long.md#L3", "-w", "ws", "--human"]);
    assert!(ran.stderr.contains(&format!("--chars {} reads", line.len())), "{}", ran.stderr);
    let chars = line.len().to_string();
    let whole = environment.json(["get", "memory/long.md#L3", "-w", "ws", "--chars", &chars]);
    assert_eq!((&whole["text"], whole.get("cut")), (&json!(line), None));
}

#[test]
fn a_name_that_is_not_there_comes_with_similar_ones() {
    let environment = tea_shop();
    let failure = environment.failure(1, ["get", "2026-01-16.md:3", "-w", "ws"]);
    assert_eq!(failure["code"], "document_not_found");
    assert!(failure["hint"].as_str().unwrap().contains("memory/2026-01-15.md"), "{failure}");
}

#[test]
fn text_is_what_stands_there() {
    let environment = TestEnvironment::new();
    environment.write_below("ws/MEMORY.md", "tab\there\nescape \u{1b}[31mred\n");
    let ran = environment.run(["get", "MEMORY.md", "-w", "ws", "--human"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "tab\there\nescape \u{1b}[31mred\n"));
}

#[test]
fn the_shapes_of_other_programs_are_printed() {
    let environment = TestEnvironment::new();
    let lines: String = (1..=9).map(|value| format!("line {value}\n")).collect();
    environment.write_below("ws/MEMORY.md", lines);
    let get = |path: &str, shape: &str| -> Value {
        let ran = environment.run(["get", path, "-w", "ws", "--shape", shape]);
        assert_eq!(ran.code, 0, "{}", ran.stdout);
        ran.document()
    };
    let old = get("MEMORY.md:2:2", "openclaw-2026.3");
    assert_eq!(old, json!({ "text": "line 2\nline 3", "path": "MEMORY.md" }));
    let missing = get("memory/none.md", "openclaw-2026.3");
    assert_eq!(missing, json!({ "text": "", "path": "memory/none.md" }));
    let new = get("MEMORY.md:2:2", "openclaw-2026.9");
    assert_eq!((&new["status"], &new["from"], &new["lines"]), (&json!("ok"), &json!(2), &json!(2)));
    assert_eq!((&new["truncated"], &new["nextFrom"]), (&json!(true), &json!(4)));
    let notice = "[More content available. Use from=4 to continue.]";
    assert_eq!(new["text"], format!("line 2\nline 3\n\n{notice}"));
    let missing = get("memory/none.md", "openclaw-2026.9");
    assert_eq!(missing, json!({ "status": "not_found", "text": "", "path": "memory/none.md" }));
}
