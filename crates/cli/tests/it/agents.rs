//! `anemone agents`

use serde_json::{Value, json};

use crate::environment::{TestEnvironment, fixture};

/// Makes a home folder with files that the real program wrote.
fn with_fixture(generation: &str, name: &str) -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.copy_home(&fixture(&format!("openclaw/{generation}/.openclaw")), name);
    environment
}

fn codes(agent: &Value) -> Vec<&str> {
    let oddities = agent["oddities"].as_array().expect("oddities are a list").iter();
    oddities.map(|oddity| oddity["code"].as_str().expect("a code is text")).collect()
}

/// Every agent: alias, and workspace below the home folder.
fn found(environment: &TestEnvironment, listed: &Value) -> Vec<(String, String)> {
    let home = environment.home("").display().to_string();
    let agents = listed["agents"].as_array().expect("agents are a list").iter();
    let text = |value: &Value| value.as_str().expect("it is text").replace(&home, "");
    agents.map(|agent| (text(&agent["alias"]), text(&agent["workspace"]))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn nobody_is_found_in_an_empty_home() {
    let environment = TestEnvironment::new();
    assert_eq!(environment.json(["agents"]), json!({ "ok": true, "agents": [] }));
    let text = environment.human(["agents"]);
    assert!(text.contains("no agents found"), "{text}");
    assert!(text.contains("~/.openclaw") && text.contains("OPENCLAW_STATE_DIR"), "{text}");
}

#[test]
fn an_install_of_the_older_generation_is_found() {
    let environment = with_fixture("gen3", ".openclaw");
    let listed = environment.json(["agents"]);
    let agent = &listed["agents"][0];
    let home = |name: &str| environment.home(name).display().to_string();
    assert_eq!(agent["runtime"], "openclaw");
    assert_eq!(agent["generation"], "gen-3");
    assert_eq!(agent["alias"], "main");
    assert_eq!(agent["workspace"], home(".openclaw/workspace"));
    assert_eq!(agent["workspace_exists"], true);
    assert_eq!(agent["install"], home(".openclaw"));
    assert_eq!(agent["config"], home(".openclaw/openclaw.json"));
    assert_eq!(agent["database"], home(".openclaw/memory/main.sqlite"));
    assert_eq!(agent["version"], Value::Null);
    assert_eq!(agent["agent_id"], Value::Null);
    assert_eq!(agent["files"], 11);
    assert_eq!(agent["oddities"], json!([]));
    assert!(agent["last_change"].as_str().unwrap().ends_with('Z'));
    assert_eq!(listed["agents"].as_array().unwrap().len(), 1);
}

#[test]
fn an_install_of_the_newer_generation_is_found() {
    let environment = with_fixture("gen9", ".openclaw");
    let listed = environment.json(["agents", "--runtime", "openclaw"]);
    let agent = &listed["agents"][0];
    assert_eq!(agent["generation"], "gen-9");
    assert_eq!(agent["alias"], "main");
    let database = environment.home(".openclaw/agents/main/agent/openclaw-agent.sqlite");
    assert_eq!(agent["database"], database.display().to_string());
    assert_eq!(agent["files"], 8);
    assert_eq!(agent["oddities"], json!([]));
}

#[test]
fn people_get_a_block_for_each_agent() {
    let environment = with_fixture("gen9", ".openclaw");
    environment.write_home(".openclaw-work/openclaw.json", "{ meta: { lastTouchedVersion: '7' } }");
    let text = environment.human(["agents"]);
    for part in [
        "main  openclaw gen-9\n",
        "work/main  openclaw unused, version 7\n",
        "workspace ",
        ".openclaw/workspace\n",
        "8 files",
        "  note       there is no folder",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn all_commands_find_the_same_agents_and_count_the_same_files() {
    let install = fixture("zeroclaw/install-v3");
    let environment = TestEnvironment::new();
    environment.copy_home(&install, ".zeroclaw");
    let names = |list: &Value| -> Vec<String> {
        let list = list["agents"].as_array().unwrap().iter();
        list.map(|list| format!("{} {} {}", list["alias"], list["files"], list["bytes"])).collect()
    };
    let agents = names(&environment.json(["agents"]));
    assert_eq!(agents.len(), 5, "one is known to the database alone: {agents:?}");
    assert_eq!(names(&environment.json(["status"])), agents);
    let failure = environment.failure(2, ["search", "tea"]);
    assert_eq!(failure["error"], "5 agents were found; say which one you mean");
}

#[test]
fn what_agents_and_status_count_is_what_an_export_has() {
    let environment = TestEnvironment::new();
    environment.copy_home(&fixture("zeroclaw/install-v3"), ".zeroclaw");
    // One agent has a workspace behind a link, and three others have none.
    let real = environment.home("elsewhere");
    let usual = environment.home(".zeroclaw/agents/alpha/workspace");
    fs_err::rename(&usual, &real).unwrap();
    fs_err::os::unix::fs::symlink(&real, &usual).unwrap();
    let listed = environment.json(["agents"]);
    for agent in listed["agents"].as_array().unwrap() {
        let alias = agent["alias"].as_str().unwrap();
        let arguments = ["export", "--dry-run", "--allow-empty", "--agent", alias];
        let planned = environment.json(arguments);
        assert_eq!(agent["files"], planned["files_count"], "{alias}: {planned}");
    }
    assert_eq!(listed["agents"][0]["files"], 8);
    let environment = with_fixture("gen3", ".openclaw");
    let listed = environment.json(["agents"]);
    let planned = environment.json(["export", "--dry-run"]);
    assert_eq!(listed["agents"][0]["files"], planned["files_count"], "{planned}");
}

#[test]
fn agents_of_one_workspace_and_one_database_have_ids_of_their_own() {
    let environment = TestEnvironment::new();
    environment.copy_home(&fixture("zeroclaw/install-v3"), ".zeroclaw");
    let config = environment.home(".zeroclaw/config.toml");
    let text = fs_err::read_to_string(&config).unwrap();
    let shared = "\n[agents.ada]\nworkspace = \"agents/default/workspace\"\n\
                  \n[agents.bob]\nworkspace = \"agents/default/workspace\"\n";
    fs_err::write(&config, text + shared).unwrap();
    let listed = environment.json(["agents"]);
    let aliases = listed["agents"].as_array().unwrap().iter().map(|agent| &agent["alias"]);
    let aliases: Vec<&str> = aliases.map(|alias| alias.as_str().unwrap()).collect();
    assert!(["ada", "bob", "default"].iter().all(|alias| aliases.contains(alias)), "{aliases:?}");
    let id = |alias: &str| {
        let arguments = ["export", "--dry-run", "--allow-empty", "--agent", alias];
        environment.json(arguments)["agent_id"].as_str().unwrap().to_owned()
    };
    let mut ids: Vec<String> = aliases.iter().map(|alias| id(alias)).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), aliases.len(), "{ids:?}");
}

#[test]
fn an_agent_that_moved_keeps_its_id_and_what_is_known_of_it() {
    let environment = TestEnvironment::new();
    environment.write_below("ws/MEMORY.md", "# Memory\n");
    environment.json(["remember", "The kettle is blue now, since Tuesday.", "-w", "ws"]);
    let exported = environment.json(["export", "-w", "ws", "-o", "a.alf"]);
    fs_err::rename(environment.path("ws"), environment.path("moved")).unwrap();
    let again = environment.json(["export", "-w", "moved", "-o", "b.alf", "--since", "a.alf"]);
    assert_eq!(again["no_changes"], true, "{again}");
    let planned = environment.json(["export", "-w", "moved", "--dry-run"]);
    assert_eq!(planned["agent_id"], exported["agent_id"]);
    let status = environment.json(["status", "-w", "moved"]);
    assert_eq!(status["agents"][0]["last_export"]["exists"], true, "{status}");
    assert_eq!(environment.json(["list", "-w", "moved"])["total"], 1);
    environment.json(["undo", "-w", "moved"]);
    assert_eq!(environment.json(["list", "-w", "moved"])["total"], 0);
}

#[test]
fn the_id_in_the_workspace_is_shown() {
    let environment = TestEnvironment::new();
    let id = "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f";
    environment.write_home(".openclaw/workspace/.alf-agent-id", format!("{id}\n"));
    assert_eq!(environment.json(["agents"])["agents"][0]["agent_id"], id);
}

#[test]
fn both_shapes_of_the_configuration_name_agents() {
    let environment = TestEnvironment::new();
    environment.write_home(
        ".openclaw/openclaw.json",
        "// mine\n{ agents: { defaults: { workspace: '~/work', },\n  list: [ { id: 'boss' }, { id: 'aide', }, ], /* all */ }, }",
    );
    let listed = environment.json(["agents"]);
    assert_eq!(found(&environment, &listed), pairs(&[("boss", "work"), ("aide", "work/aide")]));
    environment.write_home(
        ".openclaw/openclaw.json",
        "{ agents: { entries: { aide: { workspace: '~/aide' }, boss: { default: true } } } }",
    );
    let listed = environment.json(["agents"]);
    let expected = pairs(&[("boss", ".openclaw/workspace"), ("aide", "aide")]);
    assert_eq!(found(&environment, &listed), expected);
    assert_eq!(codes(&listed["agents"][0]), ["workspace_missing"]);
    assert_eq!(listed["agents"][0]["workspace_exists"], false);
    assert_eq!(listed["agents"][0]["generation"], Value::Null);
}

#[test]
fn profiles_and_older_names_have_aliases_of_their_own() {
    let environment = TestEnvironment::new();
    for install in [".openclaw", ".openclaw-work", ".clawdbot"] {
        environment.write_home(&format!("{install}/agents/main/sessions/sessions.json"), "{}");
    }
    environment.write_home("clawd/SOUL.md", "# Me");
    let usual = pairs(&[
        ("main", ".openclaw/workspace"),
        ("clawdbot/main", "clawd"),
        ("work/main", ".openclaw-work/workspace"),
    ]);
    assert_eq!(found(&environment, &environment.json(["agents"])), usual);
    let work = environment.json_with(&[("OPENCLAW_PROFILE", "work")], ["agents"]);
    let in_use = pairs(&[
        ("work/main", ".openclaw-work/workspace"),
        ("main", ".openclaw/workspace"),
        ("clawdbot/main", "clawd"),
    ]);
    assert_eq!(found(&environment, &work), in_use);
    // The name `main` never passes to another agent because one was removed.
    fs_err::remove_dir_all(environment.home(".openclaw")).expect("it was there");
    fs_err::remove_dir_all(environment.home(".clawdbot")).expect("it was there");
    fs_err::remove_dir_all(environment.home("clawd")).expect("it was there");
    let left = pairs(&[("work/main", ".openclaw-work/workspace")]);
    assert_eq!(found(&environment, &environment.json(["agents"])), left);
}

#[test]
fn the_environment_says_where_to_look() {
    let environment = with_fixture("gen9", "elsewhere/state");
    assert_eq!(environment.json(["agents"])["agents"], json!([]));
    let state = environment.home("elsewhere/state").display().to_string();
    let variables = [("OPENCLAW_STATE_DIR", state.as_str())];
    let listed = environment.json_with(&variables, ["agents"]);
    let expected = pairs(&[("main", "elsewhere/state/workspace")]);
    assert_eq!(found(&environment, &listed), expected);
    let own = environment.home("own").display().to_string();
    environment.write_home("my.json5", "{ agents: { entries: { solo: {} } } }");
    let listed = environment.json_with(
        &[
            ("OPENCLAW_STATE_DIR", "~/elsewhere/state"),
            ("OPENCLAW_WORKSPACE_DIR", own.as_str()),
            ("OPENCLAW_CONFIG_PATH", "~/my.json5"),
        ],
        ["agents"],
    );
    assert_eq!(found(&environment, &listed), pairs(&[("solo", "own")]));
}

#[test]
fn a_newer_schema_is_said_and_the_agent_is_still_listed() {
    let environment = with_fixture("gen9", ".openclaw");
    let file = ".openclaw/agents/main/agent/openclaw-agent.sqlite";
    let mut bytes = fs_err::read(environment.home(file)).unwrap();
    assert_eq!(bytes[60..64], [0, 0, 0, 23], "the schema that we know");
    bytes[63] = 24;
    environment.write_home(file, bytes);
    let listed = environment.json(["agents"]);
    let agent = &listed["agents"][0];
    assert_eq!(codes(agent), ["schema_newer"]);
    let message = agent["oddities"][0]["message"].as_str().unwrap();
    assert!(message.contains("24") && message.contains("23"), "{message}");
    assert_eq!((&agent["files"], &agent["generation"]), (&json!(8), &json!("gen-9")));
}

#[test]
fn what_the_older_generation_left_is_named() {
    let environment = with_fixture("gen9", ".openclaw");
    environment.write_home(".openclaw/memory/main.sqlite.migrated", "");
    assert_eq!(codes(&environment.json(["agents"])["agents"][0]), [""; 0]);
    environment.write_home(".openclaw/memory/main.sqlite", "");
    let listed = environment.json(["agents"]);
    assert_eq!(codes(&listed["agents"][0]), ["older_files_left"]);
    assert_eq!(listed["agents"][0]["generation"], "gen-9");
}

#[test]
fn a_secret_in_the_configuration_is_never_shown() {
    let environment = TestEnvironment::new();
    let key = "sk-live-4f9a8b7c6d5e";
    for broken in [false, true] {
        let end = if broken { "" } else { "}" };
        environment.write_home(
            ".openclaw/openclaw.json",
            format!(
                "{{ models: {{ providers: {{ x: {{ apiKey: '{key}' }} }} }}, token: '{key}' {end}"
            ),
        );
        for args in [&["agents"][..], &["agents", "--human"], &["check", "-r", "openclaw"]] {
            let ran = environment.run(args);
            assert!(!(ran.stdout.clone() + &ran.stderr).contains("4f9a"), "{args:?}");
        }
        let listed = environment.json(["agents"]);
        assert_eq!(codes(&listed["agents"][0]).contains(&"config_invalid"), broken);
    }
}

#[test]
fn two_agents_in_one_workspace_are_listed_once() {
    let environment = TestEnvironment::new();
    environment.write_home(
        ".openclaw/openclaw.json",
        "{ agents: { list: [{ id: 'a', workspace: '~/w' }, { id: 'b', workspace: '~/w' }] } }",
    );
    let listed = environment.json(["agents"]);
    assert_eq!(found(&environment, &listed), pairs(&[("a", "w")]));
    assert!(codes(&listed["agents"][0]).contains(&"workspace_shared"));
}

#[test]
fn an_unknown_runtime_is_wrong_usage() {
    let failure = TestEnvironment::new().failure(2, ["agents", "--runtime", "nobody"]);
    assert_eq!(failure["code"], "unknown_runtime");
    assert!(failure["hint"].as_str().unwrap().contains("openclaw"), "{failure}");
}
