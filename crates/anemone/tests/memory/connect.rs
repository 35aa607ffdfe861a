//! Giving a memory to other programs, and taking it from them again.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anemone::agent::{AgentChoice, FindAgentError};
use anemone::connect::{
    ConnectError, ConnectReport, ConnectRequest, ConnectTarget, DisconnectRequest, Hooks, Program,
    RefuseError, connect, disconnect,
};
use anemone::status::{StatusReport, StatusRequest, status};
use anemone_testkit::fixture;
use serde_json::{Value, json};

use crate::support::{Entry, TestMachine, typed};

#[path = "connect/theirs.rs"]
mod theirs;

/// A home folder with the configuration of other programs, and a memory in the working folder.
struct Home {
    machine: TestMachine,
}

impl std::ops::Deref for Home {
    type Target = TestMachine;

    fn deref(&self) -> &TestMachine {
        &self.machine
    }
}

/// What a connection is asked for besides its program.
#[derive(Clone, Copy, Debug)]
enum With<'a> {
    Agent(&'a str),
    AllowWrite,
    Command(&'a str),
    DryRun,
    Hooks(Hooks),
    /// The memory in the folder `ada`.
    Memory,
    Project(&'a str),
    Runtime(&'a str),
    Source(&'a str),
    To(&'a str),
}

const ADA: [With<'_>; 1] = [With::Memory];

impl Home {
    fn new() -> Self {
        let machine = TestMachine::new();
        machine.write("ada/MEMORY.md", "# Memory\n\n- Tea, not coffee.\n");
        fs_err::create_dir(machine.path("ada/memory")).unwrap();
        Self { machine }
    }

    fn with(name: &str, text: &str) -> Self {
        let home = Self::new();
        home.write_home(name, text);
        home
    }

    fn try_connect(&self, target: &str, more: &[With<'_>]) -> Result<ConnectReport, ConnectError> {
        let program = ConnectTarget::of_name(target)
            .map_or_else(|| Program::Other(target.to_owned()), Program::Known);
        let mut request = ConnectRequest {
            program,
            memory: AgentChoice::default(),
            sources: Vec::new(),
            allow_write: false,
            hooks: None,
            project: None,
            to: None,
            // The library does not know what program it is part of.
            command: Some("/opt/my bin/anemone".to_owned()),
            dry_run: false,
        };
        for one in more {
            match *one {
                With::Agent(alias) => request.memory.agent = Some(alias.to_owned()),
                With::AllowWrite => request.allow_write = true,
                With::Command(command) => request.command = Some(command.to_owned()),
                With::DryRun => request.dry_run = true,
                With::Hooks(hooks) => request.hooks = Some(hooks),
                With::Memory => request.memory.workspace = Some(self.path("ada")),
                With::Project(folder) => request.project = Some(self.path(folder)),
                With::Runtime(runtime) => request.memory.runtime = Some(runtime.to_owned()),
                With::Source(name) => request.sources.push(self.path(name)),
                With::To(alias) => request.to = Some(alias.to_owned()),
            }
        }
        connect(&request, &self.host)
    }

    #[track_caller]
    fn connect(&self, target: &str, more: &[With<'_>], status: &str) -> ConnectReport {
        let report = self.try_connect(target, more).unwrap();
        assert_eq!(report.status, status, "{report:?}");
        report
    }

    fn try_disconnect(
        &self,
        target: &str,
        change: impl FnOnce(&mut DisconnectRequest),
    ) -> Result<ConnectReport, ConnectError> {
        let target = ConnectTarget::of_name(target).unwrap();
        let mut request = DisconnectRequest { target, project: None, all: false, dry_run: false };
        change(&mut request);
        disconnect(&request, &self.host)
    }

    #[track_caller]
    fn disconnect(&self, target: &str, status: &str) -> ConnectReport {
        self.disconnect_with(target, status, |_| {})
    }

    #[track_caller]
    fn disconnect_all(&self, target: &str, status: &str) -> ConnectReport {
        self.disconnect_with(target, status, |request| request.all = true)
    }

    #[track_caller]
    fn disconnect_with(
        &self,
        target: &str,
        status: &str,
        change: impl FnOnce(&mut DisconnectRequest),
    ) -> ConnectReport {
        let report = self.try_disconnect(target, change).unwrap();
        assert_eq!(report.status, status, "{report:?}");
        report
    }

    /// Tries what fails and changes nothing.
    #[track_caller]
    fn refused(&self, target: &str, more: &[With<'_>]) -> ConnectError {
        let before = self.everything();
        let error = self.try_connect(target, more).unwrap_err();
        assert!(before == self.everything(), "a failure leaves every file as it was");
        error
    }

    fn text(&self, name: &str) -> String {
        fs_err::read_to_string(self.home(name)).unwrap()
    }

    fn plugin(&self) -> PathBuf {
        self.host.folders.own_data().join("integrations/openclaw")
    }

    fn records(&self) -> PathBuf {
        self.host.folders.own_state().join("connections")
    }

    /// Connects and disconnects; afterwards every file has its former bytes and mode.
    #[track_caller]
    fn check(&self, target: &str, more: &[With<'_>]) {
        let before = self.everything();
        self.connect(target, &[more, &[With::DryRun]].concat(), "planned");
        assert!(before == self.everything(), "a dry run writes nothing");
        let connected = self.connect(target, more, "connected");
        assert!(!format!("{connected:?}").contains("sk-secret"), "{connected:?}");
        let after = self.everything();
        assert!(before != after);
        self.connect(target, more, "already_connected");
        assert!(after == self.everything(), "connecting twice changes nothing");
        self.disconnect_with(target, "planned", |request| request.dry_run = true);
        assert!(after == self.everything(), "a dry run changes nothing");
        self.disconnect(target, "disconnected");
        let last = self.everything();
        let names = |all: &BTreeMap<PathBuf, Entry>| all.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&before), names(&last), "nothing is left and nothing is gone");
        assert!(before == last, "every file is as it was");
        self.disconnect(target, "not_connected");
    }

    fn status(&self) -> StatusReport {
        status(&StatusRequest::default(), &self.host).unwrap()
    }
}

/// Returns what the notes of a report say, as text.
fn notes(report: &ConnectReport) -> String {
    format!("{:?}", typed(&report.notes))
}

const TARGETS: [&str; 4] = ["claude-code", "openclaw", "zeroclaw", "codex"];

const SETTINGS: &str = r#"{
  "permissions": { "allow": ["Bash(ls:*)"] },
  "env": { "ANTHROPIC_API_KEY": "sk-secret" },
  "hooks": {
    "SessionStart": [
      { "hooks": [{ "type": "command", "command": "date" }] }
    ]
  }
}"#;

const OPENCLAW: &str = "// My own words.\r\n{\r\n\tgateway: { port: 18789, auth: { token: 'sk-secret' } }, // here\r\n\tplugins: {\r\n\t\tallow: ['memory-core',], /* only these */\r\n\t},\r\n}\r\n";

const ZEROCLAW: &str = "# Mine.\nschema_version = 3\n\n[agents.ada]\nmodel_provider = \"x\" # good\n\n[mcp]\nenabled = true # for now\n\n[[mcp.servers]]\nname = \"github\"\nenv = { T = \"sk-secret\" }";

const CODEX: &str = "\u{feff}model = \"gpt-x\"\n\n[mcp_servers.docs]\ncommand = \"docs\"\nenv = { \"K\" = \"sk-secret\" }\n# the end\n";

#[test]
fn a_machine_without_any_of_them_is_as_it_was_afterwards() {
    for target in TARGETS {
        Home::new().check(target, &ADA);
    }
}

#[test]
fn claude_code_gets_hooks_and_the_server_and_is_as_it_was_afterwards() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    home.write_home(".claude.json", "{\"numStartups\":7,\"projects\":{}}");
    home.check("claude-code", &ADA);
    home.connect("claude-code", &ADA, "connected");
    let settings: Value = serde_json::from_str(&home.text(".claude/settings.json")).unwrap();
    let folder = fs_err::canonicalize(home.path("ada")).unwrap();
    let command = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"].as_str().unwrap();
    let expected = format!("'/opt/my bin/anemone' hook prompt --enable -w {}", folder.display());
    assert_eq!(command, expected);
    assert_eq!(settings["hooks"]["SessionStart"].as_array().unwrap().len(), 2);
    assert_eq!(settings["hooks"]["SessionStart"][0]["hooks"][0]["command"], "date");
    let state: Value = serde_json::from_str(&home.text(".claude.json")).unwrap();
    assert_eq!(
        state["mcpServers"]["anemone"],
        json!({ "command": "/opt/my bin/anemone", "args": ["mcp", "-w", folder.to_str().unwrap()] })
    );
}

#[test]
fn hooks_can_be_left_out_and_writing_allowed_and_a_second_run_updates_it() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    let before = home.everything();
    home.connect("claude-code", &ADA, "connected");
    let more = [With::Memory, With::Hooks(Hooks::None), With::AllowWrite];
    home.connect("claude-code", &more, "connected");
    assert_eq!(home.text(".claude/settings.json"), SETTINGS);
    assert!(home.text(".claude.json").contains("--allow-write"));
    home.disconnect("claude-code", "disconnected");
    assert!(before == home.everything());
}

#[test]
fn openclaw_gets_a_plugin_and_a_skill_and_is_as_it_was_afterwards() {
    let home = Home::with(".openclaw/openclaw.json", OPENCLAW);
    home.write("old.alf", b"an archive");
    home.check("openclaw", &[With::Source("old.alf"), With::Memory]);
    home.connect("openclaw", &[With::Source("old.alf")], "connected");
    let text = home.text(".openclaw/openclaw.json");
    assert!(text.starts_with("// My own words.\r\n{\r\n\tgateway: {"), "{text}");
    assert!(text.contains("'memory-core', \"anemone\",]"), "{text}");
    let without = text.replace("\r\n", "");
    assert!(text.contains("/* only these */") && !without.contains('\n'), "{text}");
    assert!(text.contains(home.plugin().to_str().unwrap()), "{text}");
    for name in ["openclaw.plugin.json", "package.json", "index.ts"] {
        assert!(home.plugin().join(name).is_file(), "{name}");
    }
    assert!(home.text(".openclaw/skills/anemone/SKILL.md").starts_with("---\nname: anemone\n"));
}

#[test]
fn zeroclaw_gets_the_server_for_the_agent_whose_memory_it_is() {
    let home = Home::with(".zeroclaw/config.toml", ZEROCLAW);
    home.check("zeroclaw", &ADA);
    home.connect("zeroclaw", &ADA, "connected");
    let text = home.text(".zeroclaw/config.toml");
    for part in [
        "enabled = true # for now",
        "[agents.ada]\nmcp_bundles = [\"anemone\"]\nmodel_provider",
        "[mcp_bundles.anemone]\nservers = [\"anemone\"]\n",
        "name = \"anemone\"\ntransport = \"stdio\"\n",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let older = Home::with(".zeroclaw/config.toml", "default_model = \"x\"\n[mcp]\nservers = []\n");
    older.check("zeroclaw", &ADA);
    older.connect("zeroclaw", &ADA, "connected");
    let text = older.text(".zeroclaw/config.toml");
    assert!(!text.contains("mcp_bundles") && text.contains("enabled = true"), "{text}");
}

#[test]
fn servers_that_somebody_switched_off_are_not_switched_on() {
    let off = ZEROCLAW.replace("enabled = true", "enabled = false");
    let home = Home::with(".zeroclaw/config.toml", &off);
    let error = refusal(home.refused("zeroclaw", &ADA));
    assert!(matches!(error, RefuseError::SwitchedOff { .. }), "{error:?}");
    // Without existing MCP servers, none of the user's begins to run.
    let none = "schema_version = 3\n[agents.ada]\n[mcp]\nenabled = false\n";
    Home::with(".zeroclaw/config.toml", none).check("zeroclaw", &ADA);
}

/// Returns why a configuration cannot be changed.
#[track_caller]
fn refusal(error: ConnectError) -> RefuseError {
    match error {
        ConnectError::Refused { error, .. } => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_memory_is_not_given_to_agents_that_nobody_named() {
    let two = "schema_version = 3\n[agents.one]\nx = 1\n[agents.two]\nx = 1\n";
    let home = Home::with(".zeroclaw/config.toml", two);
    let error = refusal(home.refused("zeroclaw", &ADA));
    let RefuseError::ManyAgents(there) = error else { panic!("{error:?}") };
    assert_eq!(there, ["one", "two"]);
    home.connect("zeroclaw", &[With::Memory, With::To("two")], "connected");
    let text = home.text(".zeroclaw/config.toml");
    assert!(text.contains("[agents.two]\nmcp_bundles = [\"anemone\"]\nx = 1\n"), "{text}");
    let error = refusal(home.refused("zeroclaw", &[With::Memory, With::To("three")]));
    assert!(matches!(error, RefuseError::NoAgent { .. }), "{error:?}");
    home.disconnect("zeroclaw", "disconnected");
    assert_eq!(home.text(".zeroclaw/config.toml"), two);
}

#[test]
fn where_no_agent_would_see_the_tools_nothing_is_connected() {
    let bare = "schema_version = 3\n[memory]\nbackend = \"sqlite\"\n";
    let home = Home::with(".zeroclaw/config.toml", bare);
    home.write_home(".zeroclaw/agents/default/workspace/IDENTITY.md", "# Nia\n");
    for memory in [&[With::Runtime("zeroclaw"), With::Agent("default")][..], &ADA] {
        let error = refusal(home.refused("zeroclaw", memory));
        match error {
            RefuseError::NoAgents { .. } => {}
            RefuseError::NoAgent { there, .. } => assert_eq!(there, [""; 0]),
            other => panic!("{other:?}"),
        }
    }
    assert!(home.status().connections.is_empty());
}

#[test]
fn a_plugin_that_would_search_nothing_is_not_installed() {
    let home = Home::with(".openclaw/openclaw.json", OPENCLAW);
    let error = home.refused("openclaw", &[]);
    assert!(matches!(error, ConnectError::NothingToSearch(_)), "{error:?}");
    // One that searches something goes on doing so.
    home.write("old.alf", b"an archive");
    let connected = home.connect("openclaw", &[With::Source("old.alf")], "connected");
    assert!(notes(&connected).contains("cannot verify"), "{connected:?}");
    let again = home.connect("openclaw", &[With::Command("anemone")], "connected");
    assert!(again.memory.iter().any(|memory| memory.contains("old.alf")), "{again:?}");
    home.disconnect("openclaw", "disconnected");
    assert_eq!(home.text(".openclaw/openclaw.json"), OPENCLAW);
}

/// Returns the events for which settings have hooks of ours.
fn hooked(settings: &str) -> Vec<String> {
    let settings: Value = serde_json::from_str(settings).unwrap();
    let events = settings["hooks"].as_object().into_iter().flatten();
    let is_ours = |groups: &Value| groups.to_string().contains("anemone");
    let ours = events.filter(|(_, groups)| is_ours(groups)).map(|(event, _)| event.clone());
    let mut ours: Vec<String> = ours.collect();
    ours.sort();
    ours
}

#[test]
fn hooks_that_write_are_there_only_when_they_are_asked_for() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    home.connect("claude-code", &ADA, "connected");
    let settings = || home.text(".claude/settings.json");
    assert_eq!(hooked(&settings()), ["SessionStart", "UserPromptSubmit"]);
    assert!(!home.status().connection_details[0].hooks_write);
    home.connect("claude-code", &[With::Memory, With::Hooks(Hooks::Write)], "connected");
    let all = ["PreCompact", "SessionEnd", "SessionStart", "UserPromptSubmit"];
    assert_eq!(hooked(&settings()), all);
    assert!(home.status().connection_details[0].hooks_write);
    // Connecting as usual takes them out again, as it does with those of an earlier version.
    let planned = home.connect("claude-code", &[With::Memory, With::DryRun], "planned");
    let again = home.connect("claude-code", &ADA, "connected");
    for report in [planned, again] {
        assert!(notes(&report).contains("WritingHooksRemoved"), "{report:?}");
    }
    assert_eq!(hooked(&settings()), all[2..]);
    home.connect("claude-code", &ADA, "already_connected");
    home.disconnect("claude-code", "disconnected");
    assert_eq!(settings(), SETTINGS);
    let error = home.refused("codex", &[With::Memory, With::Hooks(Hooks::Write)]);
    assert!(matches!(error, ConnectError::OnlyFor { .. }), "{error:?}");
}

#[test]
fn openclaw_notes_sessions_only_when_it_is_asked_for_and_needs_no_source_then() {
    let home = Home::with(".openclaw/openclaw.json", OPENCLAW);
    home.connect("openclaw", &[With::Hooks(Hooks::Write)], "connected");
    assert!(home.text(".openclaw/openclaw.json").contains("notes"));
    assert!(home.status().connection_details[0].hooks_write);
    home.disconnect("openclaw", "disconnected");
    assert_eq!(home.text(".openclaw/openclaw.json"), OPENCLAW);
    let error = home.refused("openclaw", &[]);
    assert!(matches!(error, ConnectError::NothingToSearch(_)), "{error:?}");
}

#[test]
fn a_connection_of_the_version_before_is_brought_up_to_date() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    let before = home.everything();
    home.connect("claude-code", &[With::Memory, With::Hooks(Hooks::Write)], "connected");
    // Its record had no field for projects, and is unchanged otherwise.
    let record = fs_err::read_to_string(home.records().join("claude-code.json")).unwrap();
    assert!(!record.contains("project"), "{record}");
    home.connect("claude-code", &ADA, "connected");
    home.disconnect("claude-code", "disconnected");
    assert!(before == home.everything());
}

#[test]
fn one_project_is_connected_and_no_other_session_sees_anything() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    home.write_home(".claude.json", "{\"numStartups\":7,\"projects\":{}}");
    fs_err::create_dir_all(home.path("tour/.git")).unwrap();
    home.check("claude-code", &ADA);
    let before = home.everything();
    let project = [With::Memory, With::Project("tour"), With::Hooks(Hooks::Write)];
    let connected = home.connect("claude-code", &project, "connected");
    assert!(notes(&connected).contains("out of git"), "{connected:?}");
    home.connect("claude-code", &project, "already_connected");
    assert_eq!(home.text(".claude/settings.json"), SETTINGS);
    let local = fs_err::read_to_string(home.path("tour/.claude/settings.local.json")).unwrap();
    assert_eq!(hooked(&local).len(), 4);
    let folder = fs_err::canonicalize(home.path("tour")).unwrap();
    let folder = folder.to_str().unwrap();
    let state: Value = serde_json::from_str(&home.text(".claude.json")).unwrap();
    assert!(state.get("mcpServers").is_none(), "{state}");
    assert_eq!(state["projects"][folder]["mcpServers"]["anemone"]["args"][0], "mcp");
    let status = home.status();
    assert_eq!(status.connections, ["claude-code"]);
    assert_eq!(status.connection_details[0].project.as_deref(), Some(folder));

    // The whole program is connected besides, and taken out without the project.
    home.connect("claude-code", &ADA, "connected");
    let gone = home.disconnect("claude-code", "disconnected");
    assert!(notes(&gone).contains("ProjectConnected"), "{gone:?}");
    assert_eq!(home.text(".claude/settings.json"), SETTINGS);
    assert!(home.text(".claude.json").contains("anemone"));
    let tour = |request: &mut DisconnectRequest| request.project = Some(home.path("tour"));
    home.disconnect_with("claude-code", "disconnected", tour);
    home.disconnect_with("claude-code", "not_connected", tour);
    assert!(before == home.everything());
    let error = home.refused("claude-code", &[With::Memory, With::Project("gone")]);
    assert!(matches!(error, ConnectError::NoProject { .. }), "{error:?}");
    let error = home.refused("codex", &[With::Memory, With::Project("tour")]);
    assert!(matches!(error, ConnectError::OnlyFor { .. }), "{error:?}");
}

#[test]
fn any_other_client_is_told_what_to_add() {
    let home = Home::new();
    let before = home.everything();
    let folder = fs_err::canonicalize(home.path("ada")).unwrap();
    for name in ["cursor", "claude-desktop", "some-new-client"] {
        let more = [With::Memory, With::Command("anemone"), With::AllowWrite];
        let told = home.connect(name, &more, "by_hand");
        let server = json!({ "command": "anemone",
            "args": ["mcp", "-w", folder.to_str().unwrap(), "--allow-write"] });
        assert_eq!(told.config, Some(json!({ "mcpServers": { "anemone": server } })));
    }
    let config = home.connect("vscode", &ADA, "by_hand").config.unwrap();
    assert_eq!(config["servers"]["anemone"]["args"][0], "mcp", "{config}");
    assert_eq!(config.as_object().map(serde_json::Map::len), Some(1), "{config}");
    assert!(before == home.everything());
}

#[test]
#[cfg(target_os = "linux")]
fn a_connection_is_made_as_a_whole_or_not_at_all() {
    let mut home = Home::with("config/openclaw.json", OPENCLAW);
    home.write("old.alf", b"an archive");
    let config = home.home("config/openclaw.json");
    // The plugin can be written; the skill cannot, because its folder cannot be created.
    let variables = &mut home.machine.host.variables;
    variables.insert("OPENCLAW_CONFIG_PATH".to_owned(), config.into());
    variables.insert("OPENCLAW_STATE_DIR".to_owned(), "/proc/none".into());
    home.refused("openclaw", &[With::Source("old.alf")]);
    // When the reason is gone, it is done by the same request.
    home.machine.host.variables.remove("OPENCLAW_STATE_DIR");
    home.connect("openclaw", &[With::Source("old.alf")], "connected");
}

#[test]
#[cfg(unix)]
fn what_a_killed_process_left_is_swept_and_what_is_in_use_is_not() {
    let home = Home::with(".codex/config.toml", CODEX);
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1);
    let left = |name: &str, modified| {
        home.write_home(&format!(".codex/{name}"), "sk-secret");
        let file = fs_err::File::options().write(true).open(home.home(format!(".codex/{name}")));
        let file = file.unwrap().into_file();
        if let Some(modified) = modified {
            file.set_modified(modified).unwrap();
        }
        file
    };
    drop(left(".anemone-a1B2c3", Some(old)));
    drop(left(".anemone-mine-too", Some(old)));
    drop(left(".anemone-newone", None));
    let used = left(".anemone-inuse1", Some(old));
    used.lock().unwrap();
    home.connect("codex", &ADA, "connected");
    let exists = |name: &str| home.home(format!(".codex/{name}")).exists();
    assert!(!exists(".anemone-a1B2c3") && !exists(".anemone-newone"));
    for name in [".anemone-mine-too", ".anemone-inuse1"] {
        assert!(exists(name), "{name}");
    }
}

#[test]
fn codex_gets_the_server_and_is_as_it_was_afterwards() {
    let mut home = Home::with(".codex/config.toml", CODEX);
    home.check("codex", &ADA);
    let elsewhere = home.path("codex");
    let variables = &mut home.machine.host.variables;
    variables.insert("CODEX_HOME".to_owned(), elsewhere.clone().into());
    home.connect("codex", &ADA, "connected");
    assert!(elsewhere.join("config.toml").is_file());
    assert_eq!(home.text(".codex/config.toml"), CODEX);
    // Both are removed, no matter which place is in effect now.
    home.machine.host.variables.clear();
    home.connect("codex", &ADA, "connected");
    home.disconnect("codex", "disconnected");
    assert_eq!(home.text(".codex/config.toml"), CODEX);
    assert!(!elsewhere.exists());
}

#[test]
fn files_of_real_programs_come_back_to_the_byte() {
    let mut seen = 0;
    for entry in fs_err::read_dir(fixture("zeroclaw/zeroclaw-0.8.7/config")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = fs_err::read_to_string(path).unwrap();
        let home = Home::with(".zeroclaw/config.toml", &text);
        match home.try_connect("zeroclaw", &[With::Memory, With::DryRun]) {
            Ok(_) => home.check("zeroclaw", &ADA),
            Err(error) => match refusal(error) {
                RefuseError::ManyAgents(there) => {
                    home.check("zeroclaw", &[With::Memory, With::To(&there[0])]);
                }
                error => assert!(matches!(error, RefuseError::NoAgents { .. }), "{error:?}"),
            },
        }
        seen += 1;
    }
    assert!(seen >= 6, "{seen}");
    for name in ["openclaw/gen3", "openclaw/gen9"] {
        let install = fixture(&format!("{name}/.openclaw/openclaw.json"));
        let text = fs_err::read_to_string(install).unwrap();
        Home::with(".openclaw/openclaw.json", &text).check("openclaw", &ADA);
    }
}

#[test]
fn what_others_changed_in_between_stays() {
    let home = Home::with(".codex/config.toml", CODEX);
    home.connect("codex", &ADA, "connected");
    let edited = home.text(".codex/config.toml").replace("gpt-x", "gpt-y") + "\n[tui]\nx = true\n";
    home.write_home(".codex/config.toml", &edited);
    home.disconnect("codex", "disconnected");
    let expected = CODEX.replace("gpt-x", "gpt-y") + "\n[tui]\nx = true\n";
    assert_eq!(home.text(".codex/config.toml"), expected);

    // Other programs have added to files that we created.
    let home = Home::new();
    home.connect("openclaw", &ADA, "connected");
    let text = home.text(".openclaw/openclaw.json").replacen('{', "{\n  gateway: {},", 1);
    home.write_home(".openclaw/openclaw.json", text);
    home.write_home(".openclaw/skills/anemone/SKILL.md", "mine now\n");
    let gone = home.disconnect("openclaw", "disconnected");
    assert!(notes(&gone).contains("SKILL.md"), "{gone:?}");
    assert!(home.text(".openclaw/openclaw.json").contains("gateway: {}"));
    assert!(!home.text(".openclaw/openclaw.json").contains("anemone"));
    assert_eq!(home.text(".openclaw/skills/anemone/SKILL.md"), "mine now\n");
    assert!(!home.host.folders.data.exists() && !home.host.folders.state.exists());
}

#[test]
fn ours_is_found_when_nothing_was_kept_about_it() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    home.connect("claude-code", &[With::Memory, With::Command("anemone")], "connected");
    fs_err::remove_dir_all(&home.host.folders.state).unwrap();
    let left = home.disconnect("claude-code", "not_connected");
    assert!(notes(&left).contains("mcpServers.anemone"), "{left:?}");
    let gone = home.disconnect_all("claude-code", "disconnected");
    assert!(gone.files[0].lines.join("\n").contains("hooks.SessionStart"), "{gone:?}");
    let left = home.text(".claude/settings.json") + &home.text(".claude.json");
    assert!(!left.contains("anemone") && left.contains("date"), "{left}");
}

#[test]
fn an_entry_of_the_users_own_is_not_touched() {
    let own = "[mcp_servers.anemone]\ncommand = \"/home/me/wrapper.sh\"\n";
    let home = Home::with(".codex/config.toml", own);
    let error = home.refused("codex", &ADA);
    assert!(error.to_string().contains("mcp_servers.anemone"), "{error:?}");
    home.disconnect("codex", "not_connected");
    assert_eq!(home.text(".codex/config.toml"), own);
    // Also an entry that starts us, if no record says that we wrote it.
    let own = "[mcp_servers.anemone]\ncommand = \"anemone\"\nargs = [\"mcp\", \"--mine\"]\n";
    let home = Home::with(".codex/config.toml", own);
    home.refused("codex", &ADA);
    home.disconnect("codex", "not_connected");
    assert_eq!(home.text(".codex/config.toml"), own);
    home.disconnect_all("codex", "disconnected");
    home.connect("codex", &ADA, "connected");
    // An entry of ours that the user changed is updated.
    let edited = home.text(".codex/config.toml").replace("\"mcp\"", "\"mcp\", \"--mine\"");
    home.write_home(".codex/config.toml", edited);
    home.connect("codex", &ADA, "connected");
    assert!(!home.text(".codex/config.toml").contains("--mine"));
    let home = Home::new();
    home.write_home(".openclaw/skills/anemone/SKILL.md", "my own skill\n");
    let error = home.refused("openclaw", &ADA);
    assert!(matches!(error, ConnectError::Taken(_)), "{error:?}");
}

#[test]
fn a_file_that_makes_no_sense_is_left_and_its_place_named() {
    for (target, name, text, place, wanted) in [
        ("claude-code", ".claude/settings.json", "{\n  \"a\": [1,\n}\n", (3, Some(1)), ""),
        ("claude-code", ".claude.json", "{\"a\": 1 \"b\": 2}", (1, Some(9)), "a comma or }"),
        ("openclaw", ".openclaw/openclaw.json", "{ a: 'x\n' }", (1, Some(8)), "a quote"),
        ("zeroclaw", ".zeroclaw/config.toml", "a = 1\n[b\n", (2, Some(3)), ""),
        ("codex", ".codex/config.toml", "model = sk-secret\n", (1, None), ""),
    ] {
        let home = Home::with(name, text);
        let left = home.try_disconnect(target, |_| {}).unwrap_err();
        for error in [home.refused(target, &ADA), left] {
            assert!(!format!("{error} {error:?}").contains("sk-secret"), "{error:?}");
            let ConnectError::Refused { path, error, .. } = error else { panic!("{error:?}") };
            assert_eq!(path, home.home(name));
            let RefuseError::Unparsable { line, column, expected } = error else {
                panic!("{error:?}")
            };
            assert_eq!((line, place.1.map(|_| column)), place, "{target}: {expected}");
            assert!(expected.contains(wanted), "{expected}");
        }
    }
    let home = Home::new();
    home.write_home(".codex/config.toml", b"a = \"\xff\"\n");
    let error = home.refused("codex", &ADA);
    assert!(matches!(error, ConnectError::NotText { line: 1, .. }), "{error:?}");
    let home = Home::new();
    fs_err::create_dir_all(home.home(".codex/config.toml")).unwrap();
    let error = home.refused("codex", &ADA);
    assert!(matches!(error, ConnectError::NotAFile(_)), "{error:?}");
}

#[test]
#[cfg(unix)]
fn a_linked_configuration_stays_a_link_and_keeps_its_mode() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let home = Home::new();
    home.write("dotfiles.toml", CODEX);
    let mode = std::fs::Permissions::from_mode(0o640);
    fs_err::set_permissions(home.path("dotfiles.toml"), mode).unwrap();
    fs_err::create_dir_all(home.home(".codex")).unwrap();
    symlink(home.path("dotfiles.toml"), home.home(".codex/config.toml")).unwrap();
    home.check("codex", &ADA);
    home.connect("codex", &ADA, "connected");
    assert!(home.home(".codex/config.toml").is_symlink());
    let there = fs_err::metadata(home.path("dotfiles.toml")).unwrap();
    assert_eq!(there.permissions().mode() & 0o777, 0o640);

    let home = Home::new();
    fs_err::create_dir_all(home.home(".codex")).unwrap();
    symlink("nowhere", home.home(".codex/config.toml")).unwrap();
    let error = home.refused("codex", &ADA);
    assert!(matches!(error, ConnectError::BrokenLink(_)), "{error:?}");
}

#[test]
fn of_several_memories_one_must_be_named() {
    let home = Home::new();
    let error = home.refused("codex", &[]);
    assert!(matches!(error, ConnectError::Agent(FindAgentError::Nothing)), "{error:?}");
    home.write_home(".openclaw/openclaw.json", "{ agents: { list: [{ id: 'a' }, { id: 'b' }] } }");
    home.write_home(".openclaw/workspace/MEMORY.md", "# A\n");
    home.write_home(".openclaw/workspace-b/MEMORY.md", "# B\n");
    let error = home.refused("codex", &[]);
    let ConnectError::Agent(FindAgentError::Several(agents)) = error else { panic!("{error:?}") };
    assert!(agents.len() >= 2, "{agents:?}");
    let connected = home.connect("codex", &[With::Agent("b")], "connected");
    assert!(connected.memory.join(" ").contains("workspace-b"), "{connected:?}");
    let error = home.refused("codex", &[With::Agent("b"), With::Source("x")]);
    assert!(matches!(error, ConnectError::OnlyFor { .. }), "{error:?}");
    let error = home.refused("openclaw", &[With::AllowWrite]);
    assert!(matches!(error, ConnectError::WritesItself(_)), "{error:?}");
}
