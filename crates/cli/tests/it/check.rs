//! `anemone check`

use serde_json::{Value, json};

use crate::environment::{TestEnvironment, fixture};

const CHECK: [&str; 3] = ["check", "-r", "openclaw"];

fn with_fixture(generation: &str) -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.copy_home(&fixture(&format!("openclaw/{generation}/.openclaw")), ".openclaw");
    environment
}

/// Runs a check that finds the agent not ready.
fn not_ready(environment: &TestEnvironment, args: &[&str]) -> Value {
    let ran = environment.run(args);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let document = ran.document();
    assert_eq!((&document["ok"], &document["ready_to_sync"]), (&json!(false), &json!(false)));
    document
}

fn codes(checked: &Value) -> Vec<&str> {
    let issues = checked["issues"].as_array().expect("issues are a list").iter();
    issues.map(|issue| issue["code"].as_str().expect("a code is text")).collect()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("it is an object").keys().map(String::as_str).collect()
}

#[test]
fn what_programs_know_of_the_existing_tool_is_there() {
    let environment = with_fixture("gen3");
    let checked = environment.json(CHECK);
    for key in [
        "ok",
        "runtime",
        "ready_to_sync",
        "workspace",
        "resources",
        "openclaw",
        "alf",
        "issues",
        "suggestions",
        "index",
        "secrets",
        "unreadable",
    ] {
        assert!(checked.get(key).is_some(), "{key}");
    }
    let workspace = environment.home(".openclaw/workspace").display().to_string();
    assert_eq!(
        checked["workspace"],
        json!({ "path": workspace, "source": "default", "exists": true, "writable": true })
    );
    assert_eq!(
        checked["resources"],
        json!({
            "soul_md": true, "identity_md": true, "agents_md": true, "user_md": true,
            "memory_md": true, "memory_dir": true,
            "daily_logs": { "count": 2, "latest": "2026-11-14.md" },
            "active_context": false, "project_files": { "count": 1 },
        })
    );
    assert_eq!(checked["openclaw"], json!({ "config_found": true }));
    assert_eq!(
        checked["alf"],
        json!({
            "config_exists": false, "api_key_set": false, "agent_tracked": false,
            "service_reachable": false,
        })
    );
    for issue in checked["issues"].as_array().unwrap() {
        assert_eq!(keys(issue).len(), 5);
        assert_eq!(issue["fix"], issue["suggestion"]);
        assert!(!issue["fix"].as_str().unwrap().is_empty());
        assert!(["error", "warning", "info"].contains(&issue["severity"].as_str().unwrap()));
    }
}

#[test]
fn agents_of_both_generations_are_ready() {
    for (generation, database, schema) in
        [("gen3", "memory/main.sqlite", 0), ("gen9", "agents/main/agent/openclaw-agent.sqlite", 23)]
    {
        let environment = with_fixture(generation);
        let checked = environment.json(CHECK);
        assert_eq!(checked["ready_to_sync"], true);
        let database = environment.home(".openclaw").join(database).display().to_string();
        assert_eq!(checked["index"]["database"], database);
        assert_eq!(checked["index"]["present"], true);
        assert_eq!(checked["index"]["schema_version"], schema);
        let known = |code: &&str| ["index_present", "index_stale"].contains(code);
        assert_eq!(codes(&checked).iter().filter(|code| !known(code)).count(), 0, "{checked}");
    }
}

#[test]
fn a_workspace_that_is_not_there_is_not_ready() {
    let environment = TestEnvironment::new();
    let checked = not_ready(&environment, &CHECK);
    assert_eq!(codes(&checked), ["workspace_not_found", "openclaw_config_not_found"]);
    assert_eq!(checked["issues"][0]["severity"], "error");
    let usual = environment.home(".openclaw/workspace").display().to_string();
    assert_eq!(checked["workspace"]["path"], usual);
    assert_eq!(checked["workspace"]["source"], "default");
    assert_eq!(checked["openclaw"], json!({ "config_found": false }));
    not_ready(&environment, &["check", "-r", "openclaw", "-w", "gone"]);
}

#[test]
fn the_workspace_comes_from_the_first_who_names_it() {
    let environment = TestEnvironment::new();
    for name in ["one", "two", "three", ".openclaw/workspace"] {
        environment.write_home(&format!("{name}/SOUL.md"), "# Me");
    }
    let place = |args: &[&str]| {
        let checked = environment.json(args);
        let home = environment.home("").display().to_string();
        let workspace = &checked["workspace"];
        let path = workspace["path"].as_str().unwrap().replace(&home, "");
        (path, workspace["source"].as_str().unwrap().to_owned())
    };
    let expected = |path: &str, source: &str| (path.to_owned(), source.to_owned());
    assert_eq!(place(&CHECK), expected(".openclaw/workspace", "default"));
    environment.write_home(
        ".openclaw/openclaw.json",
        "{ agents: { defaults: { workspace: '~/three' } } } // mine",
    );
    assert_eq!(place(&CHECK), expected("three", "openclaw.json"));
    let two = environment.home("two").display().to_string();
    environment.write_home(".alf/config.toml", format!("[defaults]\nworkspace = \"{two}\"\n"));
    assert_eq!(place(&CHECK), expected("two", "alf_config"));
    let one = environment.home("one").display().to_string();
    let flag = ["check", "-r", "openclaw", "-w", &one];
    assert_eq!(place(&flag), expected("one", "flag"));
    assert!(codes(&environment.json(flag)).contains(&"workspace_mismatch"));
    assert_eq!(place(&["check", "-r", "openclaw", "--agent", "main"]), expected("three", "flag"));
    let checked = environment.json(["check", "-r", "openclaw", "--agent", "main"]);
    let configured = environment.home("three").display().to_string();
    assert_eq!(checked["openclaw"]["workspace_configured"], configured);
    assert!(!codes(&checked).contains(&"workspace_mismatch"));
}

#[test]
fn an_agent_is_chosen_by_its_alias() {
    let environment = TestEnvironment::new();
    environment.write_home(".openclaw/workspace/SOUL.md", "# Me");
    environment.write_home(".openclaw-work/workspace/SOUL.md", "# You");
    let checked = environment.json(["check", "-r", "openclaw", "--agent", "work/main"]);
    let work = environment.home(".openclaw-work/workspace").display().to_string();
    assert_eq!(checked["workspace"]["path"], work);
    let failure = environment.failure(1, ["check", "-r", "openclaw", "--agent", "nobody"]);
    assert_eq!(failure["code"], "agent_not_found");
    assert!(failure["hint"].as_str().unwrap().contains("main, work/main"), "{failure}");
    environment.failure(2, ["check", "-r", "openclaw", "--agent", "main", "-w", "x"]);
}

#[test]
fn the_existing_tools_state_is_read_and_its_key_never_shown() {
    let environment = TestEnvironment::new();
    let id = "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f";
    environment.write_home(".openclaw/workspace/SOUL.md", "# Me");
    environment.write_home(".openclaw/workspace/.alf-agent-id", id);
    environment.write_home(".alf/config.toml", "[service]\napi_key = \"alf_hush_hush\"\n");
    environment.write_home(
        &format!(".alf/state/{id}.toml"),
        format!("agent_id = \"{id}\"\nlast_synced_sequence = 7\n"),
    );
    let ran = environment.run(CHECK);
    assert!(!ran.stdout.contains("hush"));
    let checked = ran.document();
    assert_eq!(
        checked["alf"],
        json!({
            "config_exists": true, "api_key_set": true, "agent_tracked": true,
            "last_synced_sequence": 7, "service_reachable": false,
        })
    );
    assert_eq!(checked["resources"]["agent_id"], id);
    let variables = [("ALF_API_KEY", "hush")];
    environment.write_home(".alf/config.toml", "[service]\napi_key = \"\"\n");
    assert_eq!(environment.json(CHECK)["alf"]["api_key_set"], false);
    assert_eq!(environment.json_with(&variables, CHECK)["alf"]["api_key_set"], true);
}

#[test]
fn oddities_of_the_install_are_issues() {
    let environment = with_fixture("gen9");
    let file = ".openclaw/state/openclaw.sqlite";
    let mut bytes = fs_err::read(environment.home(file)).unwrap();
    assert_eq!(bytes[60..64], [0, 0, 0, 18], "the schema that we know");
    bytes[63] = 19;
    environment.write_home(file, bytes);
    environment.write_home(".openclaw/openclaw.json", "{ nope");
    let checked = environment.json(CHECK);
    for code in ["schema_newer", "config_invalid"] {
        assert!(codes(&checked).contains(&code), "{code} in {checked}");
    }
    assert_eq!(checked["ready_to_sync"], true);
}

#[test]
fn people_read_what_is_there_and_what_to_do() {
    let environment = TestEnvironment::new();
    environment.write_home("w/MEMORY.md", "# Facts");
    environment.write_home("w/memory/2026-01-15.md", "# Day");
    let w = environment.home("w").display().to_string();
    let text = environment.human(["check", "-r", "openclaw", "-w", &w]);
    for part in ["w  openclaw, no install", "MEMORY.md, 1 daily log", "(no_soul_md)", "ready to be"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let ran = environment.run(["check", "-r", "openclaw", "-w", "gone", "--human"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert!(ran.stdout.contains("not ready"), "{}", ran.stdout);
}

#[test]
fn the_runtime_is_found_or_must_be_known() {
    let environment = TestEnvironment::new();
    assert_eq!(environment.failure(1, ["check"])["code"], "agent_not_found");
    environment.write_home(".openclaw/workspace/MEMORY.md", "# Memory\n");
    assert_eq!(environment.run(["check"]).document()["runtime"], "openclaw");
    let failure = environment.failure(2, ["check", "-r", "nobody"]);
    assert_eq!(failure["code"], "unknown_runtime");
}

#[test]
fn what_an_export_refuses_is_not_ready() {
    let environment = TestEnvironment::new();
    environment.write_below("empty/notes.txt", "nothing of an agent\n");
    environment.write_below("open/MEMORY.md", "- password: Sommer-Krabbe-77x\n");
    environment.write_below("whole/MEMORY.md", "- Lin drinks green tea.\n");
    for (name, code) in [("empty", Some("nothing_to_export")), ("open", None), ("whole", None)] {
        let checked = environment.run(["check", "-r", "openclaw", "-w", name]);
        let output = format!("{name}.alf");
        let exported = environment.run(["export", "-r", "openclaw", "-w", name, "-o", &output]);
        assert_eq!(checked.code, exported.code, "{name}: {} {}", checked.stdout, exported.stdout);
        if let Some(code) = code {
            let document = checked.document();
            assert!(codes(&document).contains(&code), "{document}");
        }
    }
}
