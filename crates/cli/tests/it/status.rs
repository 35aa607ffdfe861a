//! `anemone status`, and `anemone` alone

use serde_json::Value;

use crate::environment::{TestEnvironment, program};

/// Makes a home with an agent of OpenClaw in the usual place.
fn with_agent() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write_home(".openclaw/openclaw.json", "{}\n");
    environment.write_home(".openclaw/workspace/MEMORY.md", "# Memory\n\nThe kettle is red.\n");
    environment.write_home(".openclaw/workspace/memory/2026-03-01.md", "# Day\n\nRain.\n");
    environment
}

fn codes(agent: &Value) -> Vec<&str> {
    let problems = agent["problems"].as_array().expect("problems are a list");
    problems.iter().map(|problem| problem["code"].as_str().expect("each has a code")).collect()
}

fn commands(status: &Value) -> Vec<&str> {
    let next = status["next"].as_array().expect("commands are a list");
    next.iter().map(|next| next["command"].as_str().expect("each is a text")).collect()
}

#[test]
fn a_bare_machine_is_told_where_we_looked_and_what_to_try() {
    let environment = TestEnvironment::new();
    let before = environment.everything();
    let alone: [&str; 0] = [];
    for args in [&alone[..], &["status"]] {
        let status = environment.json(args);
        assert_eq!(status["agents"], Value::Array(Vec::new()));
        assert_eq!(codes(&status), ["no_agents"]);
        let next = ["anemone demo", "anemone status --help", "anemone --help"];
        assert_eq!(commands(&status), next);
        let looked = status["looked_in"].to_string();
        assert!(looked.contains(".openclaw") && looked.contains(".zeroclaw"), "{looked}");
    }
    let text = environment.human(alone);
    assert!(text.contains("no agents found") && text.contains("anemone demo"), "{text}");
    assert!(environment.everything() == before, "looking changes nothing");
}

#[test]
fn what_was_done_is_seen_and_what_changed_since_as_well() {
    let environment = with_agent();
    let look = || environment.json(["status"])["agents"][0].clone();

    let agent = look();
    assert_eq!((&agent["runtime"], &agent["alias"]), (&"openclaw".into(), &"main".into()));
    assert_eq!(agent["files"], 2);
    assert_eq!(agent["last_export"], Value::Null);
    assert_eq!(agent["search"]["state"], "missing");
    assert_eq!(codes(&agent), ["never_exported", "index_missing"]);
    let status = environment.json(["status"]);
    let next = commands(&status);
    assert!(next[0].starts_with("anemone export -o main-"), "{next:?}");
    // OpenClaw searches its own memory by itself: without an archive there is nothing to give it.
    assert_eq!(next[1..], ["anemone index", "anemone search \"what did we decide?\""]);

    environment.json(["export", "-o", "a.alf"]);
    environment.json(["search", "kettle"]);
    let agent = look();
    assert_eq!(codes(&agent), [] as [&str; 0], "{agent}");
    assert_eq!(agent["search"]["state"], "ready");
    assert_eq!(agent["search"]["documents"], 2);
    let export = &agent["last_export"];
    let archive = export["archive"].as_str().unwrap();
    assert!(archive.ends_with("/work/a.alf"), "{export}");
    let connect = format!("anemone connect openclaw --source {archive} --dry-run");
    let status = environment.json(["status"]);
    assert!(commands(&status).contains(&connect.as_str()), "{status}");
    assert_works(&environment, &status);
    assert_eq!((&export["exists"], &export["changed_since"]), (&true.into(), &0.into()));

    environment.write_home(".openclaw/workspace/memory/2026-03-02.md", "# Day\n\nSun.\n");
    let agent = look();
    assert_eq!(codes(&agent), ["export_behind", "index_behind"]);
    assert_eq!(agent["last_export"]["changed_since"], 1);
    assert_eq!(agent["search"]["changed"], 1);
    let status = environment.json(["status"]);
    let next = commands(&status)[0].to_owned();
    assert!(next.starts_with("anemone export --since "), "{next}");

    fs_err::remove_file(environment.path("a.alf")).unwrap();
    assert_eq!(codes(&look()), ["archive_gone", "index_behind"]);
    let text = environment.human(["status"]);
    assert!(text.contains("main") && text.contains("the archive is no longer where"), "{text}");
}

#[test]
fn looking_changes_nothing() {
    let environment = with_agent();
    environment.json(["export", "-o", "a.alf"]);
    environment.json(["search", "kettle"]);
    let before = environment.everything();
    environment.json(["status"]);
    environment.human(["status"]);
    assert!(environment.everything() == before);
}

#[test]
fn an_export_that_found_nothing_new_counts() {
    let environment = with_agent();
    let note = environment.home(".openclaw/workspace/memory/2026-03-01.md");
    let written = fs_err::metadata(note).unwrap().modified().unwrap();
    environment.json(["export", "-o", "a.alf"]);
    // Writing the same bytes again counts as a change if only the file's metadata is compared.
    environment.write_home(".openclaw/workspace/memory/2026-03-01.md", "# Day\n\nRain.\n");
    assert_eq!(environment.json(["status"])["agents"][0]["last_export"]["changed_since"], 1);
    // The time at which it was written does not count there either.
    let path = environment.home(".openclaw/workspace/memory/2026-03-01.md");
    let file = fs_err::File::options().write(true).open(path).unwrap();
    file.file().set_modified(written).unwrap();
    let again = environment.json(["export", "--since", "a.alf", "-o", "b.alf"]);
    assert_eq!(again["no_changes"], true, "{again}");
    let export = environment.json(["status"])["agents"][0]["last_export"].clone();
    assert!(export["archive"].as_str().unwrap().ends_with("/a.alf"), "{export}");
    assert_eq!(export["changed_since"], 0);
}

#[test]
fn a_dry_run_of_an_export_is_no_export() {
    let environment = with_agent();
    environment.json(["export", "-o", "a.alf", "--dry-run"]);
    assert_eq!(environment.json(["status"])["agents"][0]["last_export"], Value::Null);
}

#[test]
fn several_agents_are_named_in_what_is_offered() {
    let environment = with_agent();
    let config = r#"{"agents": {"list": [{"id": "main"}, {"id": "tea shop"}, {"id": "gone"}]}}"#;
    environment.write_home(".openclaw/openclaw.json", config);
    environment.write_home(".openclaw/workspace-tea-shop/MEMORY.md", "# Tea\n");
    let status = environment.json(["status"]);
    let agents = status["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 3, "{status}");
    let gone = agents.iter().find(|agent| agent["workspace_exists"] == false).unwrap();
    assert_eq!(codes(gone), ["workspace_missing"]);
    let next = commands(&status);
    assert!(next[0].starts_with("anemone export --agent main -o main-"), "{next:?}");
    assert_eq!(next[1], "anemone index --agent main");
    assert_works(&environment, &status);
}

/// Runs every suggested command, as a shell does when a user pastes it.
fn assert_works(environment: &TestEnvironment, status: &Value) {
    for command in commands(status) {
        let program = program().parent().expect("it lies in a folder");
        let mut shell = assert_cmd::Command::new("/bin/sh");
        shell.current_dir(environment.path("")).env_clear().envs(environment.variables());
        shell.env("PATH", program).args(["-c", command]);
        let output = shell.timeout(std::time::Duration::from_secs(60)).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = said + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command}: {said}");
    }
}

#[test]
fn what_is_offered_works_when_it_is_pasted() {
    let bare = TestEnvironment::new();
    assert_works(&bare, &bare.json(["status"]));

    // With nothing left to do, the suggestions show the memory.
    let settled = with_agent();
    settled.json(["export", "-o", "a.alf"]);
    settled.json(["search", "kettle"]);
    let record = r#"{"files":[],"own":[{"path":"/p","digest":"","folders":[]}]}"#;
    settled.write_home(".local/state/anemone/connections/codex.json", record);
    let status = settled.json(["status"]);
    assert_eq!(commands(&status).last(), Some(&"anemone check -r openclaw"), "{status}");
    assert_works(&settled, &status);

    let zeroclaw = TestEnvironment::new();
    let config = "schema_version = 3\n[agents.one]\nx = 1\n[agents.two]\nx = 1\n";
    zeroclaw.write_home(".zeroclaw/config.toml", config);
    for alias in ["one", "two"] {
        zeroclaw.write_home(&format!(".zeroclaw/agents/{alias}/workspace/MEMORY.md"), "# M\n");
    }
    let status = zeroclaw.json(["status"]);
    assert_eq!(status["agents"].as_array().unwrap().len(), 2, "{status}");
    let connect =
        commands(&status).into_iter().find(|command| command.contains("connect")).unwrap();
    assert!(connect.contains("--agent "), "{connect}");
    assert_works(&zeroclaw, &status);

    // An agent that the configuration does not list would not see the tools.
    let unlisted = TestEnvironment::new();
    unlisted.write_home(".zeroclaw/config.toml", "schema_version = 3\n");
    unlisted.write_home(".zeroclaw/agents/default/workspace/MEMORY.md", "# M\n");
    let status = unlisted.json(["status"]);
    assert_eq!(status["agents"].as_array().unwrap().len(), 1, "{status}");
    assert!(!commands(&status).iter().any(|command| command.contains("connect")), "{status}");
    assert_works(&unlisted, &status);

    let elsewhere = TestEnvironment::new();
    for folder in ["-dash", "it's mine"] {
        elsewhere.write_below(&format!("{folder}/MEMORY.md"), "# Memory\n");
        let status = elsewhere.json(["status".to_owned(), format!("--workspace={folder}")]);
        assert!(commands(&status).iter().all(|command| command.contains(" -w ")), "{status}");
        assert_works(&elsewhere, &status);
    }
}

#[test]
fn where_archives_are_sealed_no_plain_one_is_offered() {
    let environment = with_agent();
    let recipient = environment.identity("key.txt");
    environment.json(["export", "-o", "a.alf.age", "--recipient", &recipient]);
    environment.write_home(".openclaw/workspace/memory/2026-03-02.md", "# Day\n\nSun.\n");
    let status = environment.json(["status"]);
    assert_eq!(status["agents"][0]["last_export"]["sealed"], true, "{status}");
    assert!(!commands(&status).iter().any(|command| command.contains("export")), "{status}");
    assert!(status["agents"][0]["problems"].to_string().contains("--recipient"), "{status}");
    assert_works(&environment, &status);
}

#[test]
fn what_is_broken_is_named() {
    let environment = with_agent();
    environment.write_home(".config/anemone/config.toml", "this is no TOML");
    let record = r#"{"files":[],"own":[{"path":"/p","digest":"","folders":[]}]}"#;
    environment.write_home(".local/state/anemone/connections/codex.json", record);
    let empty = r#"{"files":[],"own":[]}"#;
    environment.write_home(".local/state/anemone/connections/openclaw.json", empty);
    environment.write_home(".local/state/anemone/connections/claude-code.json", "broken");
    environment.write_home(".local/state/anemone/connections/.hidden.json", "{}");
    let status = environment.json(["status"]);
    assert_eq!(codes(&status), ["config_broken", "connection_broken"]);
    assert_eq!(commands(&status)[0], "anemone config");
    assert_eq!(status["connections"], serde_json::json!(["codex"]));
    assert!(!commands(&status).iter().any(|command| command.contains("connect")), "{status}");
}

#[test]
fn an_install_that_cannot_be_opened_is_named() {
    let environment = with_agent();
    environment.write_home(".zeroclaw", "no folder");
    let status = environment.json(["status"]);
    assert_eq!(codes(&status), ["install_unreadable"]);
    let text = environment.human(["status"]);
    assert!(text.contains("problem") && text.contains(".zeroclaw cannot be read"), "{text}");
}

#[test]
fn a_database_that_is_none_is_named() {
    let environment = TestEnvironment::new();
    environment.write_home(".zeroclaw/config.toml", "[memory]\nbackend = \"sqlite\"\n");
    environment.write_home(".zeroclaw/workspace/memory/brain.db", "this is no database");
    let status = environment.json(["status"]);
    let agent = &status["agents"][0];
    assert_eq!(agent["runtime"], "zeroclaw", "{status}");
    assert!(codes(agent).contains(&"database_unreadable"), "{agent}");
}

#[test]
fn a_workspace_elsewhere_can_be_looked_at() {
    let environment = TestEnvironment::new();
    environment.write_below("elsewhere/MEMORY.md", "# Memory\n");
    let status = environment.json(["status", "-w", "elsewhere"]);
    assert_eq!(status["agents"].as_array().unwrap().len(), 1);
    let next = commands(&status);
    assert!(next[0].starts_with("anemone export -w elsewhere -o "), "{next:?}");
    let failure = environment.failure(1, ["status", "-w", "nowhere"]);
    assert_eq!(failure["code"], "not_found");
}

#[test]
fn a_change_that_was_cut_off_is_told() {
    let environment = TestEnvironment::new();
    environment.write_below("ws/MEMORY.md", "# Memory\n");
    environment.json(["remember", "The kettle is blue now, since Tuesday.", "-w", "ws"]);
    let look = || environment.json(["status", "-w", "ws"])["agents"][0].clone();
    assert!(!codes(&look()).contains(&"change_cut_off"));
    let agents = environment.home(".local/state/anemone/agents");
    let agent = fs_err::read_dir(agents).unwrap().next().unwrap().unwrap().path();
    let journal = agent.join("memory/journal");
    let done = fs_err::read_dir(&journal).unwrap().next().unwrap().unwrap().path();
    fs_err::rename(&done, done.with_extension("begun")).unwrap();
    assert!(codes(&look()).contains(&"change_cut_off"));
}

#[test]
fn the_snapshot_of_a_move_is_no_export_and_no_agent() {
    let environment = TestEnvironment::new();
    environment.write_home(".openclaw/openclaw.json", "{}");
    environment.write_home(".openclaw/workspace/SOUL.md", "# Mira\n");
    environment.write_home(".openclaw/workspace/MEMORY.md", "# Memory\n\n## Tea\n\nGreen.\n");
    let words = ["migrate", "--from", "openclaw", "--to", "zeroclaw"];
    let output = environment.command().args(words).output().expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    assert!(environment.home(".local/share/anemone/snapshots").is_dir());
    let status = environment.json(["status"]);
    let agents = status["agents"].as_array().expect("they are listed");
    let runtimes: Vec<_> = agents.iter().map(|agent| agent["runtime"].as_str()).collect();
    assert_eq!(runtimes, [Some("openclaw"), Some("zeroclaw")], "{status}");
    for agent in agents {
        assert_eq!(agent["last_export"], Value::Null, "{agent}");
    }
}
