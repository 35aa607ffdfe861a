//! What the documents in `docs/seeds.md` say of hooks, as the program does it unasked.

use serde_json::{Value, json};

use super::environment::TestEnvironment;

/// Runs a command in the workspace `agent`, and returns the document that it prints.
fn run(environment: &TestEnvironment, args: &[&str]) -> Value {
    let state = environment.path("state");
    let variables = [("XDG_STATE_HOME", state.to_str().expect("it is UTF-8"))];
    let all: Vec<&str> = args.iter().copied().chain(["-w", "agent"]).collect();
    let ran = environment.run_with(&variables, all);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    ran.document()
}

#[test]
fn a_session_note_holds_the_last_15_messages_and_is_found() {
    let environment = TestEnvironment::new();
    environment.write_below("agent/MEMORY.md", "# Memory\n");
    let mut lines = vec![json!({ "type": "session", "version": 3, "id": "s1" }).to_string()];
    for number in 1..=20 {
        let content =
            json!([{ "type": "text", "text": format!("Harbour light {number} is red.") }]);
        let message = json!({ "role": "user", "content": content });
        let sender = json!({ "senderIsOwner": true });
        let event = json!({ "type": "message", "message": message, "__openclaw": sender });
        lines.push(event.to_string());
    }
    environment.write("s1.jsonl", lines.join("\n"));
    let ended = run(&environment, &["hook", "session-end", "--transcript", "s1.jsonl"]);
    assert_eq!((&ended["status"], &ended["messages"]), (&json!("written"), &json!(15)), "{ended}");
    let path = ended["path"].as_str().expect("a note has a path");
    let note = environment.read(&format!("agent/{path}"));
    let note = String::from_utf8(note).expect("it is UTF-8");
    for number in 1..=20 {
        let is_there = note.contains(&format!("light {number} is"));
        assert_eq!(is_there, number > 5, "{number}: {note}");
    }
    // The time in the note's title may be one with a 17 in it, so the order of the hits is not fixed.
    let found = run(&environment, &["search", "harbour light 17"]);
    let is_found = |hit: &serde_json::Value| {
        let text = hit["text"].as_str().unwrap_or_default();
        hit["path"] == path && text.contains("light 17")
    };
    assert!(found["hits"].as_array().is_some_and(|hits| hits.iter().any(is_found)), "{found}");
}

#[test]
fn three_memories_are_recalled_at_most() {
    let environment = TestEnvironment::new();
    environment.write_below("agent/MEMORY.md", "# Memory\n");
    for number in 1..=6 {
        let text = format!("# Day\n\n- The harbour pilot came on board of ship {number}.\n");
        environment.write_below(&format!("agent/memory/2026-01-0{number}.md"), text);
    }
    let message = "On board of which ship came the harbour pilot?";
    let found = run(&environment, &["hook", "prompt", "--enable", "--message", message]);
    let memories = found["memories"].as_array().expect("it is a list");
    assert_eq!(memories.len(), 3, "{found}");
}
