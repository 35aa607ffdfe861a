//! `anemone hook`

use std::io::{Read as _, Write as _};
use std::time::Duration;

use anemone_testkit::services::ChatModel;
use serde_json::{Value, json};

use super::environment::TestEnvironment;

/// A workspace with a memory, and hooks that are called in it.
struct Hooks(TestEnvironment);

impl Hooks {
    fn new() -> Self {
        let environment = TestEnvironment::new();
        environment.write_below("agent/MEMORY.md", "# Memory\n\n- The office has two doors.\n");
        fs_err::create_dir_all(environment.path("agent/memory")).expect("the folder is ours");
        Self(environment)
    }

    /// Makes the workspace that of an agent of this machine, beside another one.
    fn is_known(&self) {
        let agent = json!({ "id": "it", "workspace": self.0.path("agent") });
        let config = json!({ "agents": { "list": [agent, { "id": "other" }] } });
        self.0.write_home(".openclaw/openclaw.json", config.to_string());
        self.0.write_home(".openclaw/workspace-other/MEMORY.md", "# Memory\n");
    }

    /// Calls a hook with something on stdin; it must exit with 0 and print one JSON document.
    fn call(&self, args: &[&str], stdin: &str) -> Value {
        let mut command = self.0.command();
        command.env("XDG_STATE_HOME", self.0.path("state"));
        command.arg("hook").args(args).write_stdin(stdin);
        let output = command.timeout(Duration::from_secs(60)).output().expect("the program starts");
        let stdout = String::from_utf8(output.stdout).expect("it is UTF-8");
        let stderr = String::from_utf8(output.stderr).expect("it is UTF-8");
        assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
        assert_eq!(stdout.lines().count(), 1, "{stdout}");
        serde_json::from_str(&stdout).expect("it is JSON")
    }

    /// Runs any command that succeeds beside the hooks, and returns what it prints.
    fn run(&self, args: &[&str]) -> String {
        let state = self.0.path("state");
        let variables = [("XDG_STATE_HOME", state.to_str().expect("it is UTF-8"))];
        let ran = self.0.run_with(&variables, args);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    /// Writes a transcript of OpenClaw, in which the owner speaks.
    fn transcript(&self, name: &str, said: &[(&str, &str)]) -> String {
        self.transcript_by(name, &json!({ "senderIsOwner": true }), said)
    }

    fn transcript_by(&self, name: &str, sender: &Value, said: &[(&str, &str)]) -> String {
        let mut lines = vec![json!({ "type": "session", "version": 3, "id": name }).to_string()];
        for (role, text) in said {
            let content = json!([{ "type": "text", "text": text }]);
            let message = json!({ "role": role, "content": content });
            let event = json!({ "type": "message", "message": message, "__openclaw": sender });
            lines.push(event.to_string());
        }
        let path = format!("{name}.jsonl");
        self.0.write(&path, lines.join("\n"));
        path
    }

    fn notes(&self) -> Vec<String> {
        let listed = fs_err::read_dir(self.0.path("agent/memory")).expect("the folder is ours");
        let mut names: Vec<_> = listed
            .map(|listed| {
                listed.expect("it is there").file_name().into_string().expect("it is UTF-8")
            })
            .collect();
        names.sort();
        names
    }

    fn note(&self, name: &str) -> String {
        String::from_utf8(self.0.read(&format!("agent/memory/{name}"))).expect("it is UTF-8")
    }
}

const W: [&str; 2] = ["-w", "agent"];

fn with<'a>(args: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec![args[0]];
    all.extend(W);
    all.extend(&args[1..]);
    all
}

#[test]
fn a_session_is_noted_as_its_flags_say() {
    let hooks = Hooks::new();
    let said = [
        ("user", "/new"),
        ("user", "The API design is due on Friday."),
        ("assistant", "For the API design I suggest REST."),
        ("user", "Then the API design will be REST."),
    ];
    let path = hooks.transcript("s1", &said);
    let args = with(&["session-end", "--transcript", &path, "--timezone", "America/New_York"]);
    assert_eq!(hooks.call(&[&args[..], &["--dry-run"]].concat(), "")["status"], "planned");
    assert!(hooks.notes().is_empty());
    let model = ChatModel::saying("API Design");
    let flags = ["--always", "--form", "gen-3", "--messages", "1", "--chat-url", model.url()];
    let written = hooks.call(&[&args[..], &flags].concat(), "");
    assert_eq!((&written["ok"], &written["status"]), (&json!(true), &json!("written")));
    assert_eq!((&written["named_by"], &written["messages"]), (&json!("chat"), &json!(1)));
    assert_eq!(written["left_out"]["commands"], 1);
    let note = hooks.note(&hooks.notes()[0]);
    assert!(note.ends_with("user: Then the API design will be REST.\n"), "{note}");
}

#[test]
fn a_flush_is_decided_as_its_flags_say() {
    let hooks = Hooks::new();
    let base = with(&["pre-compact", "--context-window", "32768", "--timezone", "UTC"]);
    let call = |args: &[&str]| hooks.call(&[&base[..], args].concat(), "");
    let below = call(&["--tokens", "8767"]);
    assert_eq!((&below["flush"], &below["reason"]), (&json!(false), &json!("below_threshold")));
    assert!(below.get("prompt").is_none());
    let path = hooks.transcript("s1", &[("user", &"abcd".repeat(21_000))]);
    let due = call(&["--transcript", &path, "--compaction-count", "7"]);
    assert_eq!((&due["flush"], &due["reason"]), (&json!(true), &json!("tokens")), "{due}");
    assert_eq!((&due["tokens"], &due["tokens_from"]), (&json!(21_000), &json!("estimate")));
    assert_eq!(call(&["--tokens", "99999", "--heartbeat"])["reason"], "heartbeat");
    assert_eq!(call(&["--tokens", "99999", "--read-only", "-n"])["reason"], "read_only");
    let direct = call(&["--transcript", &path, "--compaction-count", "8", "--direct"]);
    // Without a chat model the conversation is judged as at its end; this one says nothing.
    assert_eq!(direct["note"]["status"], "too_short", "{direct}");
    let cli = call(&["--compacting", "--cli-provider"]);
    assert_eq!((&cli["flush"], &cli["reason"]), (&json!(false), &json!("cli_provider")));
}

#[test]
fn a_message_recalls_as_its_flags_say() {
    let hooks = Hooks::new();
    let ask = |kind: &str| {
        let message = "how many doors does the office have?";
        let args = with(&["prompt", "--enable", "--message", message, "--session-kind", kind]);
        hooks.call(&args, "")
    };
    let found = ask("main");
    assert_eq!(found["memories"][0]["path"], "MEMORY.md", "{found}");
    assert!(found["context"].as_str().unwrap().starts_with("<recalled-memory "), "{found}");
    assert_eq!(ask("group")["memories"], json!([]));
}

/// Ends a session of Claude Code in the workspace of an agent.
fn end_claude_code(hooks: &Hooks, id: &str, entrance: &str, said: &[(&str, &str)]) -> Value {
    let line = |(role, text): &(&str, &str)| {
        let message = json!({ "role": role, "content": text });
        let line = json!({ "type": role, "sessionId": id, "message": message,
            "entrypoint": entrance, "userType": "external" });
        line.to_string()
    };
    let lines: Vec<String> = said.iter().map(line).collect();
    let name = format!("{id}.jsonl");
    hooks.0.write(&name, lines.join("\n"));
    let input = json!({
        "session_id": id, "hook_event_name": "SessionEnd", "reason": "other",
        "transcript_path": hooks.0.path(&name), "cwd": "/",
    });
    hooks.call(&with(&["session-end"]), &input.to_string())
}

#[test]
fn status_shows_what_hooks_wrote_today() {
    let hooks = Hooks::new();
    let status = || {
        let document = hooks.run(&["status", "-w", "agent", "--json"]);
        let document: Value = serde_json::from_str(&document).expect("it is JSON");
        (document, hooks.run(&["status", "-w", "agent", "--human"]))
    };
    let (document, text) = status();
    assert_eq!(document["agents"][0]["hook_writes"], json!([]));
    assert!(!text.contains("hooks"), "{text}");
    let said = [("user", "I prefer tea to coffee."), ("assistant", "Noted.")];
    end_claude_code(&hooks, "a", "cli", &said);
    let path = hooks.transcript("s1", &[("user", "We decided to use SQLite. I live in Oslo.")]);
    hooks.call(&with(&["turn-end", "--transcript", &path, "--enable"]), "");
    let (document, text) = status();
    let writes = document["agents"][0]["hook_writes"].as_array().expect("a list").clone();
    let shown: Vec<_> = writes.iter().map(|write| (&write["hook"], &write["entries"])).collect();
    assert_eq!(shown, [(&json!("session-end"), &json!(2)), (&json!("turn-end"), &json!(2))]);
    assert!(writes[0]["change"].is_string() && writes[0]["at"].is_string(), "{document}");
    let note = writes[0]["path"].as_str().expect("a path");
    assert!(note.starts_with("memory/") && text.contains(note), "{text}");
    assert!(text.contains("wrote 2 times today") && text.contains("(2 entries)"), "{text}");
    assert!(text.contains("today "), "{text}");
}

#[test]
fn claude_code_ends_a_session_on_stdin() {
    let hooks = Hooks::new();
    let line = |role: &str, text: &str| {
        let message = json!({ "role": role, "content": text });
        json!({ "type": role, "sessionId": "c1", "message": message }).to_string()
    };
    let fixed = [line("user", "fix the flaky scheduler"), line("assistant", "Fixed.")];
    let lines = [&fixed[..], &[line("user", "now document the new scheduler")]].concat();
    hooks.0.write("c1.jsonl", lines.join("\n"));
    let input = json!({
        "session_id": "c1", "hook_event_name": "SessionEnd", "reason": "clear",
        "transcript_path": hooks.0.path("c1.jsonl"), "cwd": hooks.0.path("agent"),
    });
    // The session runs in the workspace of an agent, so no other argument is needed.
    hooks.is_known();
    let written = hooks.call(&["session-end"], &input.to_string());
    assert_eq!(written["status"], "written", "{written}");
    let note = hooks.note(&hooks.notes()[0]);
    assert!(note.contains("- **Session ID**: c1\n- **Source**: claude-code\n"), "{note}");
}

#[test]
fn whatever_goes_wrong_is_said_and_the_session_goes_on() {
    let hooks = Hooks::new();
    hooks.0.write("odd.txt", "no transcript\n");
    for (args, stdin, code) in [
        (with(&["session-end"]), "", "no_conversation"),
        (with(&["session-end"]), "{", "hook_input"),
        (with(&["session-end", "--transcript", "absent"]), "", "conversation"),
        (with(&["session-end", "--transcript", "odd.txt"]), "", "conversation"),
        (with(&["session-end", "--session", "../x"]), "", "conversation"),
        (vec!["session-end", "-w", "absent"], "", "not_found"),
        (vec!["session-end"], "", "agent_not_found"),
        (with(&["turn-end", "--enable"]), "", "no_conversation"),
        (with(&["prompt", "--enable"]), "", "no_message"),
        (with(&["pre-compact", "--timezone", "Mars/Base"]), "", "timezone"),
    ] {
        let note = hooks.call(&args, stdin);
        assert_eq!((&note["ok"], &note["code"]), (&json!(false), &json!(code)), "{args:?} {note}");
    }
    let wrong = hooks.0.run(["hook", "session-end", "--bogus"]);
    assert_eq!(wrong.code, 2);
    assert!(hooks.notes().is_empty());
}

#[test]
fn a_hook_does_not_wait_for_who_does_not_end_and_a_dry_run_for_nobody() {
    let hooks = Hooks::new();
    let path = hooks.transcript("s1", &[("user", "I prefer tea to coffee.")]);
    let session = with(&["session-end", "--transcript", &path]);
    let turn = with(&["turn-end", "--transcript", &path, "--enable"]);
    let workspace = fs_err::File::open(hooks.0.path("agent")).expect("it is there");
    workspace.file().lock().expect("nobody has it");
    for (args, field) in [(&session, "text"), (&turn, "captured")] {
        let planned = hooks.call(&[&args[..], &["--dry-run"]].concat(), "");
        assert_eq!(planned["ok"], true, "{planned}");
        assert!(planned[field].to_string().contains("tea"), "{planned}");
        let busy = hooks.call(args, "");
        assert_eq!((&busy["ok"], &busy["code"]), (&json!(false), &json!("busy")), "{busy}");
    }
    assert!(hooks.notes().is_empty());
    for agent in fs_err::read_dir(hooks.0.path("state/anemone/agents")).expect("it is noted") {
        let agent = agent.expect("it can be listed").path();
        assert!(!agent.join("memory").exists(), "nothing was written about its memory");
    }
    drop(workspace);
    assert_eq!(hooks.call(&session, "")["status"], "written");
}

#[test]
fn a_document_is_read_although_stdin_stays_open() {
    let hooks = Hooks::new();
    let mut command = std::process::Command::new(super::environment::program());
    command.env_clear().envs(hooks.0.variables());
    command.env("XDG_STATE_HOME", hooks.0.path("state"));
    command.current_dir(hooks.0.path("")).args(["hook", "prompt", "--enable", "-w", "agent"]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    let input = json!({ "prompt": "how many doors does the office have?" }).to_string();
    stdin.write_all(input.as_bytes()).expect("it listens");
    let mut answer = String::new();
    let mut stdout = child.stdout.take().expect("it is a pipe");
    // It ends by itself after some seconds, with any input.
    stdout.read_to_string(&mut answer).expect("it is UTF-8");
    child.wait().expect("it ends");
    drop(stdin);
    assert!(answer.contains("two doors"), "{answer}");
}

#[test]
fn claude_code_is_answered_in_its_own_form() {
    let hooks = Hooks::new();
    let ask = |args: &[&str], prompt: &str| {
        let input = json!({ "hook_event_name": "UserPromptSubmit", "prompt": prompt,
            "session_id": "c1", "cwd": hooks.0.path("agent") });
        hooks.call(args, &input.to_string())
    };
    hooks.is_known();
    let found = ask(&["prompt", "--enable"], "how many doors does the office have?");
    let output = &found["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "UserPromptSubmit");
    assert!(output["additionalContext"].as_str().unwrap().contains("two doors"), "{found}");
    // Off until it is switched on.
    let off = ask(&["prompt"], "how many doors does the office have?");
    assert_eq!(off["hookSpecificOutput"]["additionalContext"], "");
}

#[test]
fn a_session_of_claude_code_begins_with_the_memory_in_its_own_form() {
    let hooks = Hooks::new();
    let stdin = json!({ "hook_event_name": "SessionStart", "source": "startup", "cwd": "/" });
    let begun = hooks.call(&with(&["session-start"]), &stdin.to_string());
    let output = &begun["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "SessionStart");
    assert!(output["additionalContext"].as_str().unwrap().contains("two doors"), "{begun}");
    let plain = hooks.call(&with(&["session-start"]), "");
    assert!(plain["ok"] == true && plain["context"].is_string(), "{plain}");
}

#[test]
fn what_goes_wrong_is_not_put_before_claude_code() {
    let hooks = Hooks::new();
    for (moment, event) in [("session-start", "SessionStart"), ("prompt", "UserPromptSubmit")] {
        let stdin = json!({ "hook_event_name": event, "prompt": "the office?", "cwd": "/" });
        let mut command = hooks.0.command();
        command.args(["hook", moment, "-w", "nowhere"]).write_stdin(stdin.to_string());
        if moment == "prompt" {
            command.arg("--enable");
        }
        let output = command.timeout(Duration::from_secs(60)).output().expect("it starts");
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
        assert!(String::from_utf8_lossy(&output.stderr).contains("anemone: "));
    }
    let wrong = hooks.call(&["session-start", "-w", "nowhere"], "");
    assert_eq!(wrong["ok"], false, "{wrong}");
}
