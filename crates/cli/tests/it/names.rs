//! Names that hide something: of files, agents and headings.

use anemone_memory::hidden_count;
use serde_json::{Value, json};

use crate::environment::TestEnvironment;

/// Turns the reading order, holds a letter of the block of tags, and sets a terminal's title.
const HOSTILE: &str = "o\u{202e}dd\u{e0041}\u{200b}\u{1b}]0;x\u{7}";

fn with_hostile_names() -> TestEnvironment {
    let environment = TestEnvironment::new();
    for (path, text) in [
        ("ws/IDENTITY.md", format!("- **Name:** {HOSTILE}\n")),
        ("ws/MEMORY.md", format!("# {HOSTILE}\n\n- The plum tree is old.\n")),
        ("ws/AGENTS.md", "# Rules\n".to_owned()),
        (&format!("ws/memory/{HOSTILE}.md"), format!("## {HOSTILE}\n\n- Plum jam keeps a year.\n")),
        (&format!("ws/{HOSTILE}.txt"), "notes\n".to_owned()),
        (&format!("notes/{HOSTILE}/plum.md"), "# Plum\n\nPlums are blue.\n".to_owned()),
    ] {
        environment.write_below(path, text);
    }
    environment
}

#[test]
fn no_name_hides_anything_in_what_is_printed() {
    let environment = with_hostile_names();
    let ws = ["-r", "openclaw", "-w", "ws"];
    let note = format!("memory/{HOSTILE}.md");
    let of_agent = |args: &[&str]| args.iter().chain(&ws).map(|&arg| arg.to_owned()).collect();
    let plain = |args: &[&str]| args.iter().map(|&arg| arg.to_owned()).collect();
    let commands: Vec<Vec<String>> = vec![
        of_agent(&["check"]),
        of_agent(&["search", "plum jam"]),
        of_agent(&["list"]),
        of_agent(&["index"]),
        of_agent(&["context", "--explain", "--query", "plum"]),
        of_agent(&["audit"]),
        of_agent(&["tidy", "--dry-run"]),
        of_agent(&["remember", "Plum stones are hard.", "--key", "plum.stone"]),
        of_agent(&["undo", "--list"]),
        of_agent(&["forget", "--id", &format!("{note}#L3"), "--dry-run"]),
        of_agent(&["get", "no such document"]),
        of_agent(&["get", &format!("{HOSTILE}.md")]),
        of_agent(&["export", "-o", "a.alf", "--force"]),
        plain(&["inspect", "a.alf", "--records"]),
        plain(&["validate", "a.alf"]),
        plain(&["search", "plum", "--in", "a.alf"]),
        plain(&["import", "a.alf", "-w", "new", "--dry-run"]),
        plain(&["search", "plum", "--in", "notes"]),
        plain(&["list", "-r", "folder", "-w", "notes"]),
        plain(&["status"]),
        plain(&["agents"]),
        plain(&["inspect", HOSTILE]),
        plain(&["search", "plum", "--in", &format!("notes/{HOSTILE}")]),
    ];
    for args in &commands {
        for format in ["--json", "--human"] {
            let args: Vec<&str> = args.iter().map(String::as_str).chain([format]).collect();
            let ran = environment.run_with(&[("CLICOLOR_FORCE", "1")], &args);
            assert!(matches!(ran.code, 0 | 1 | 3), "{args:?}: {}{}", ran.stdout, ran.stderr);
            // Colours are ours.
            let said = format!("{}{}", ran.stdout, ran.stderr).replace("\u{1b}[", "");
            assert_eq!(hidden_count(&said), 0, "{args:?}: {said:?}");
        }
    }
    let found = environment.json(["search", "plum jam"].iter().chain(&ws));
    assert_eq!(found["hits"][0]["path"], json!(note), "programs read the name as it is");
}

#[test]
fn an_agent_finds_and_reads_what_has_such_a_name() {
    let environment = with_hostile_names();
    let ws = ["-r", "openclaw", "-w", "ws"];
    let call = |name: &str, arguments: Value| {
        crate::desk::call(&environment, &ws, &[(name, arguments)]).remove(0)
    };
    let found = call("memory_search", json!({"query": "plum jam"}));
    assert_eq!(hidden_count(&found.to_string()), 0, "{found}");
    let path = &found["structuredContent"]["results"][0]["path"];
    let read = call("memory_get", json!({"path": path}));
    assert_eq!(hidden_count(&read.to_string()), 0, "{read}");
    let text = read["structuredContent"]["text"].as_str().expect("there is a text");
    assert!(text.contains("Plum jam keeps a year"), "{read}");
    for tool in ["memory_context", "memory_status"] {
        let answer = call(tool, json!({}));
        assert_eq!(hidden_count(&answer.to_string()), 0, "{answer}");
    }
}
