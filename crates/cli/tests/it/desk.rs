//! `anemone mcp` on a real memory, asked by lines of JSON.

use std::process::Output;

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::environment::{TestEnvironment, program};

fn with_memory() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write_below("agent/MEMORY.md", "# Memory\n\n- The shop sells tea.\n");
    for (day, text) in [
        ("2026-01-05", "- Fog all day.\n- [note|i=0.5] **ferry**: The ferry was late.\n"),
        ("2026-02-07", "- Sun at last.\n"),
        ("2026-03-09", "- Rain again.\n"),
    ] {
        let text = format!("# {day}\n\n{text}");
        environment.write_below(&format!("agent/memory/{day}.md"), text);
    }
    environment
}

/// Starts the server, says everything at once, and waits for its end.
fn say(environment: &TestEnvironment, args: &[&str], lines: &[Value]) -> Output {
    let mut input = String::new();
    for line in lines {
        input.push_str(&format!("{line}\n"));
    }
    Command::new(program())
        .current_dir(environment.path(""))
        .env_clear()
        .envs(environment.variables())
        .arg("mcp")
        .args(args)
        .write_stdin(input)
        .output()
        .expect("the program starts")
}

/// Calls tools, one after the other, and returns their results.
pub(crate) fn call(
    environment: &TestEnvironment,
    args: &[&str],
    calls: &[(&str, Value)],
) -> Vec<Value> {
    calls
        .iter()
        .map(|(tool, arguments)| {
            let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }});
            let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
                "name": tool, "arguments": arguments,
            }});
            let output = say(environment, args, &[begin, ready, call]);
            let stdout = String::from_utf8(output.stdout).expect("what is said is UTF-8");
            let answers = stdout.lines().map(serde_json::from_str::<Value>);
            let mut answers = answers.map(|answer| answer.expect("what is said is JSON"));
            answers.find(|answer| answer["id"] == 2).expect("the call is answered")["result"]
                .clone()
        })
        .collect()
}

const AGENT: [&str; 2] = ["-w", "agent"];

#[test]
fn without_words_the_newest_of_a_time_are_told() {
    let environment = with_memory();
    let args = ["-w", "agent", "--tools", "zeroclaw"];
    let asked = json!({"since": "2026-02-01", "until": "2026-03-31"});
    let found = &call(&environment, &args, &[("memory_recall", asked)])[0];
    let text = found["content"][0]["text"].as_str().expect("it answers in words");
    let (rain, sun) = (text.find("Rain again"), text.find("Sun at last"));
    assert!(rain.is_some() && rain < sun, "{text}");
    assert!(!text.contains("Fog"), "{text}");
}

#[test]
fn rows_of_a_time_are_told_too() {
    let environment = TestEnvironment::new();
    environment.write_below("ws/data/memory/x", "");
    environment.write_below("ws/agents/default/workspace/IDENTITY.md", "# Nia\n");
    let agent = ["-r", "zeroclaw", "-w", "ws"];
    let said = ["remember", "Lin drinks green tea.", "--key", "tea/kind"];
    environment.json(said.iter().chain(&agent));
    let args = ["-r", "zeroclaw", "-w", "ws", "--tools", "zeroclaw"];
    let found = &call(&environment, &args, &[("memory_recall", json!({"since": "1d"}))])[0];
    let text = found["content"][0]["text"].as_str().expect("it answers in words");
    assert!(text.contains("tea/kind: Lin drinks green tea."), "{text}");
}

/// Calls tools of ZeroClaw that may write, and returns what they say.
fn zeroclaw(environment: &TestEnvironment, calls: &[(&str, Value)]) -> Vec<String> {
    let args = ["-r", "zeroclaw", "-w", "ws", "--tools", "zeroclaw", "--allow-write"];
    let found = call(environment, &args, calls);
    let text = |found: &Value| found["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    found.iter().map(text).collect()
}

#[test]
fn a_category_is_stored_and_shown_as_its_own_program_does() {
    let environment = TestEnvironment::new();
    environment.write_below("ws/data/memory/x", "");
    environment.write_below("ws/agents/default/workspace/IDENTITY.md", "# Nia\n");
    let store = |key: &str, content: &str, category: Value| {
        let mut asked = json!({"key": key, "content": content});
        if !category.is_null() {
            asked["category"] = category;
        }
        ("memory_store", asked)
    };
    let said = zeroclaw(
        &environment,
        &[
            store("user_lang", "Ana speaks Greek.", Value::Null),
            store("pasta", "Boil the pasta for nine minutes.", json!("recipes")),
            store("chat", "Ana said that the ferry was late.", json!("conversation")),
            store("marked", "Salt the soup twice.", json!("custom:soups")),
            store("bad", "A line.", json!("a\nb")),
        ],
    );
    assert_eq!(said[0], "Stored memory: user_lang");
    assert!(said[4].contains("is not a valid category"), "{said:?}");
    let ask = |query: &str| ("memory_recall", json!({"query": query}));
    let said = zeroclaw(
        &environment,
        &[ask("which language does Ana speak"), ask("pasta"), ask("*"), ask("  "), ask("")],
    );
    assert!(said[0].contains("[core] user_lang: Ana speaks Greek. ["), "{said:?}");
    assert!(said[1].contains("[recipes] pasta: Boil the pasta"), "{said:?}");
    for all in &said[2..] {
        assert!(all.starts_with("Found 4 memories:"), "{all}");
        // The newest comes first, and what is only listed has no score.
        let order = ["[custom:soups] marked: ", "[conversation] chat: ", "[recipes] pasta: "];
        let at: Vec<_> = order.iter().map(|line| all.find(line)).collect();
        assert!(at[0].is_some() && at[0] < at[1] && at[1] < at[2], "{all}");
        assert!(!all.contains("%]"), "{all}");
    }
}

#[test]
fn the_newest_memories_are_turned_page_by_page() {
    let environment = with_memory();
    let ask = |offset: u32| {
        let asked = json!({"query": "*", "maxResults": 2, "offset": offset});
        call(&environment, &AGENT, &[("memory_search", asked)])[0]["structuredContent"].clone()
    };
    let texts = |found: &Value| {
        let results = found["results"].as_array().expect("there are results").iter();
        results.map(|result| result["snippet"].to_string()).collect::<Vec<_>>()
    };
    let (first, second, last) = (ask(0), ask(2), ask(4));
    assert_eq!((texts(&first).len(), texts(&second).len(), texts(&last).len()), (2, 2, 1));
    assert!(texts(&first)[0].contains("Rain again"), "{first}");
    assert!(first["notes"].to_string().contains("offset 2"), "{first}");
    assert!(!last["notes"].to_string().contains("offset"), "{last}");
}

#[test]
#[cfg(unix)]
fn what_is_not_searched_is_counted() {
    let environment = with_memory();
    let status = |environment: &TestEnvironment| {
        call(environment, &AGENT, &[("memory_status", json!({}))])[0]["structuredContent"].clone()
    };
    let first = status(&environment);
    assert_eq!(first["issues"], json!([]));
    let seen = environment.json(["status", "-w", "agent"])["agents"][0]["search"].clone();
    assert!(seen["documents"].as_u64() > Some(0), "{seen}");
    assert_eq!((&first["documents"], &first["chunks"]), (&seen["documents"], &seen["chunks"]));
    let link = environment.path("agent/memory/link.md");
    fs_err::os::unix::fs::symlink("../MEMORY.md", link).expect("the folder is ours");
    let issues = status(&environment)["issues"].to_string();
    assert!(issues.contains("not searched, ") && issues.contains(": 1"), "{issues}");
}

#[test]
fn a_find_says_by_what_it_is_forgotten() {
    let environment = with_memory();
    let asked = json!({"query": "when was the ferry late", "maxResults": 1});
    let found = &call(&environment, &AGENT, &[("memory_search", asked)])[0];
    let first = &found["structuredContent"]["results"][0];
    assert_eq!(first["key"], "ferry", "{found}");
    assert_eq!(first["type"], "note");
    let asked = json!({"query": "when was the ferry late", "minScore": 1.0});
    let found = &call(&environment, &AGENT, &[("memory_search", asked)])[0];
    assert_eq!(found["structuredContent"]["results"], json!([]), "{found}");
    let args = ["-w", "agent", "--allow-write"];
    let gone = &call(&environment, &args, &[("memory_forget", json!({"key": "ferry"}))])[0];
    let data = &gone["structuredContent"];
    assert_eq!((&data["canBeUndone"], &data["absent"]), (&json!(true), &json!(false)), "{gone}");
    assert_eq!(data["holders"][0]["kind"], "journal", "{gone}");
    let text = gone["content"][0]["text"].as_str().expect("it is told");
    assert!(text.contains("can be undone") && !text.contains("nowhere"), "{text}");
    let undo = ["undo", "-w", "agent"];
    environment.json(undo);
    let asked = json!({"citation": first["citation"], "forGood": true});
    let gone = &call(&environment, &args, &[("memory_forget", asked)])[0];
    let data = &gone["structuredContent"];
    assert_eq!((&data["canBeUndone"], &data["absent"]), (&json!(false), &json!(true)), "{gone}");
    let log = environment.read("agent/memory/2026-01-05.md");
    assert!(!String::from_utf8_lossy(&log).contains("ferry"));
}

#[test]
fn a_reader_changes_nothing_of_a_memory() {
    let environment = with_memory();
    let state = || {
        let all = environment.everything();
        let kept = all.into_iter().filter(|(path, _)| !path.starts_with("home/.cache"));
        kept.filter(|(path, _)| !path.starts_with("tmp")).collect::<Vec<_>>()
    };
    let before = state();
    let calls = [
        ("memory_context", json!({"query": "the ferry"})),
        ("memory_search", json!({"query": "the ferry"})),
        ("memory_remember", json!({"text": "Something new."})),
        ("memory_forget", json!({"key": "ferry"})),
    ];
    let answers = call(&environment, &AGENT, &calls);
    assert!(answers[0]["structuredContent"]["recalled"].as_u64() > Some(0), "{}", answers[0]);
    assert_eq!((&answers[2]["isError"], &answers[3]["isError"]), (&json!(true), &json!(true)));
    assert!(before == state(), "nothing was written beside the index");
}

#[test]
fn what_goes_wrong_is_said_in_the_words_of_tools() {
    let environment = with_memory();
    let calls = [
        ("memory_search", json!({"query": "tea", "since": "soon"})),
        ("memory_search", json!({"query": "tea", "since": "2026-03-01", "until": "2026-01-01"})),
        ("memory_get", json!({"path": "memory/2026-01-04.md"})),
        ("memory_context", json!({"session": "cron", "query": "tea"})),
    ];
    for answer in call(&environment, &AGENT, &calls) {
        let text = answer.to_string();
        assert!(!text.contains(" --") && !text.contains("`--"), "{text}");
        assert!(!text.contains("anemone search"), "{text}");
    }
    // Explicit lines take precedence over a citation.
    let asked = json!({"path": "MEMORY.md#L1-L2", "from": 3, "lines": 1});
    let read = &call(&environment, &AGENT, &[("memory_get", asked)])[0];
    assert_eq!(read["structuredContent"]["text"], "| - The shop sells tea.\n", "{read}");
    assert_eq!(read["structuredContent"]["totalLines"], 3);
}

#[test]
fn what_is_only_read_is_not_offered_for_writing() {
    let environment = TestEnvironment::with_demo();
    let output = say(&environment, &["march.alf", "--allow-write"], &[]);
    assert_eq!(output.status.code(), Some(2));
    // Stdout is the client's.
    assert_eq!(output.stdout, b"");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("only an agent's memory can be written to"), "{said}");
    let asked = json!({"query": "who lay on the router"});
    let found = &call(&environment, &["march.alf"], &[("memory_search", asked)])[0];
    assert!(found.to_string().contains("router"), "{found}");
}

#[test]
fn a_server_that_cannot_begin_says_so_once() {
    let environment = with_memory();
    for args in [["--origin", "not a page"], ["--host", "me@there"]] {
        let mut all = vec!["mcp", "-w", "agent", "--http", "0"];
        all.extend(args);
        let output = environment.command().args(&all).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let said: Value = serde_json::from_str(&stdout).expect("one document is printed");
        assert_eq!(said["ok"], false, "{said}");
    }
}

#[test]
fn without_evidence_nothing_is_told_and_weak_matches_are_counted() {
    let environment = with_memory();
    let asked = |query: &str, more: Value| {
        let mut asked = json!({"query": query});
        asked.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("one"));
        call(&environment, &AGENT, &[("memory_search", asked)])[0].clone()
    };
    let nothing = asked("zzzqqq wwwxxx", json!({}));
    assert_eq!(nothing["structuredContent"]["results"], json!([]));
    let note = nothing["structuredContent"]["notes"][0].as_str().expect("a note");
    assert!(note.starts_with("nothing found but ") && note.contains("minScore 0"), "{note}");
    let text = nothing["content"][0]["text"].as_str().expect("words");
    assert!(text.contains("say that nothing is remembered"), "{text}");
    let all = asked("zzzqqq wwwxxx", json!({"minScore": 0}));
    assert!(!all["structuredContent"]["results"].as_array().expect("a list").is_empty());
    for hit in asked("ferry fog tea", json!({}))["structuredContent"]["results"]
        .as_array()
        .expect("a list")
    {
        let score = hit["score"].as_f64().expect("a number");
        assert!((0.0..=1.0).contains(&score), "{hit}");
    }
}

#[test]
fn results_are_cited_as_the_call_or_the_server_says() {
    let environment = with_memory();
    for (args, asked, is_cited) in [
        (&AGENT[..], json!({}), true),
        (&AGENT, json!({"session": "group"}), false),
        (&AGENT, json!({"session": "group", "citations": "on"}), true),
        (&AGENT, json!({"citations": "off"}), false),
        (&["-w", "agent", "--citations", "off"], json!({}), false),
        (&["-w", "agent", "--citations", "off"], json!({"citations": "auto"}), true),
    ] {
        let mut question = json!({"query": "when was the ferry late"});
        question
            .as_object_mut()
            .expect("an object")
            .extend(asked.as_object().cloned().expect("one"));
        let found = &call(&environment, args, &[("memory_search", question)])[0];
        let hit = &found["structuredContent"]["results"][0];
        assert_eq!(hit["path"], "memory/2026-01-05.md");
        assert_eq!(hit.get("citation").is_some(), is_cited, "{asked} {hit}");
        let text = found["content"][0]["text"].as_str().expect("words");
        assert_eq!(text.contains("2026-01-05.md#L"), is_cited, "{asked} {text}");
    }
}
