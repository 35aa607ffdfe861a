//! `anemone connect` and `anemone disconnect`

#[path = "connect/plugin.rs"]
mod plugin;
#[path = "connect/theirs.rs"]
mod theirs;

use std::path::Path;

use serde_json::{Value, json};

use super::environment::{TestEnvironment, fixture};

/// A home folder with the configuration of other programs, and a memory in the working folder.
struct Home(TestEnvironment);

impl Home {
    fn new() -> Self {
        let environment = TestEnvironment::new();
        environment.write_below("ada/MEMORY.md", "# Memory\n\n- Tea, not coffee.\n");
        fs_err::create_dir_all(environment.path("ada/memory")).expect("the folder is ours");
        Self(environment)
    }

    fn with(name: &str, text: &str) -> Self {
        let home = Self::new();
        home.0.write_home(name, text);
        home
    }

    /// Runs a command that may write into the home folder.
    fn run(&self, args: &[&str]) -> (i32, Value) {
        self.run_with(&[], args)
    }

    fn run_with(&self, variables: &[(&str, &str)], args: &[&str]) -> (i32, Value) {
        let mut command = self.0.command();
        command.envs(variables.iter().copied()).args(args).arg("--json");
        let output = command.output().expect("the program starts");
        let stdout = String::from_utf8(output.stdout).expect("it is UTF-8");
        let stderr = String::from_utf8(output.stderr).expect("it is UTF-8");
        assert!(!stderr.contains("panicked"), "{stderr}");
        let code = output.status.code().expect("no signal ended the program");
        (code, serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stdout}{stderr}")))
    }

    fn done(&self, args: &[&str], status: &str) -> Value {
        let (code, document) = self.run(args);
        assert_eq!((code, &document["status"]), (0, &json!(status)), "{document}");
        document
    }

    /// Runs a command that fails and changes nothing.
    fn refused(&self, code: i32, word: &str, args: &[&str]) -> Value {
        let before = self.0.everything();
        let (exit, document) = self.run(args);
        assert_eq!((exit, &document["code"]), (code, &json!(word)), "{document}");
        assert!(before == self.0.everything(), "a failure leaves every file as it was");
        document
    }

    fn text(&self, name: &str) -> String {
        fs_err::read_to_string(self.0.home(name)).expect("the file is there")
    }

    /// Connects and disconnects; everything is then as it was, to the byte and the mode.
    fn check(&self, target: &str, more: &[&str]) {
        let before = self.0.everything();
        let connect: Vec<&str> = ["connect", target].iter().chain(more).copied().collect();
        let planned: Vec<&str> = connect.iter().chain(&["--dry-run"]).copied().collect();
        self.done(&planned, "planned");
        assert!(before == self.0.everything(), "a dry run writes nothing");
        let connected = self.done(&connect, "connected");
        assert!(!connected.to_string().contains("sk-secret"), "{connected}");
        let after = self.0.everything();
        assert!(before != after);
        self.done(&connect, "already_connected");
        assert!(after == self.0.everything(), "connecting twice changes nothing");
        self.done(&["disconnect", target, "--dry-run"], "planned");
        assert!(after == self.0.everything(), "a dry run changes nothing");
        self.done(&["disconnect", target], "disconnected");
        let last = self.0.everything();
        let names =
            |all: &std::collections::BTreeMap<_, _>| all.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&before), names(&last), "nothing is left and nothing is gone");
        assert!(before == last, "every file is as it was");
        self.done(&["disconnect", target], "not_connected");
    }
}

const W: [&str; 2] = ["-w", "ada"];
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
        Home::new().check(target, &W);
    }
}

#[test]
fn claude_code_gets_hooks_and_the_server_and_is_as_it_was_afterwards() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    home.0.write_home(".claude.json", "{\"numStartups\":7,\"projects\":{}}");
    home.check("claude-code", &W);
    let given = ["connect", "claude-code", "-w", "ada", "--program", "/opt/my bin/anemone"];
    home.done(&given, "connected");
    let settings: Value = serde_json::from_str(&home.text(".claude/settings.json")).unwrap();
    let folder = fs_err::canonicalize(home.0.path("ada")).unwrap();
    let command = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"].as_str().unwrap();
    let wanted = format!("'/opt/my bin/anemone' hook prompt --enable -w {}", folder.display());
    assert_eq!(command, wanted);
    assert_eq!(settings["hooks"]["SessionStart"].as_array().unwrap().len(), 2);
    assert_eq!(settings["hooks"]["SessionStart"][0]["hooks"][0]["command"], "date");
    let state: Value = serde_json::from_str(&home.text(".claude.json")).unwrap();
    assert_eq!(
        state["mcpServers"]["anemone"],
        json!({ "command": "/opt/my bin/anemone", "args": ["mcp", "-w", folder.to_str().unwrap()] })
    );
}

#[test]
fn hooks_can_be_left_out_and_writing_allowed_and_a_second_run_brings_it_up_to_date() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    let before = home.0.everything();
    home.done(&["connect", "claude-code", "-w", "ada"], "connected");
    let more = ["connect", "claude-code", "-w", "ada", "--no-hooks", "--allow-write"];
    home.done(&more, "connected");
    assert_eq!(home.text(".claude/settings.json"), SETTINGS);
    assert!(home.text(".claude.json").contains("--allow-write"));
    home.done(&["disconnect", "claude-code"], "disconnected");
    assert!(before == home.0.everything());
}

#[test]
fn openclaw_gets_a_plugin_and_a_skill_and_is_as_it_was_afterwards() {
    let home = Home::with(".openclaw/openclaw.json", OPENCLAW);
    home.0.write("old.alf", b"an archive");
    home.check("openclaw", &["--source", "old.alf", "-w", "ada"]);
    home.done(&["connect", "openclaw", "--source", "old.alf"], "connected");
    let text = home.text(".openclaw/openclaw.json");
    assert!(text.starts_with("// My own words.\r\n{\r\n\tgateway: {"), "{text}");
    assert!(text.contains("'memory-core', \"anemone\",]"), "{text}");
    assert!(
        text.contains("/* only these */") && !text.replace("\r\n", "").contains('\n'),
        "{text}"
    );
    let plugin = home.0.home(".local/share/anemone/integrations/openclaw");
    assert!(text.contains(plugin.to_str().unwrap()), "{text}");
    for name in ["openclaw.plugin.json", "package.json", "index.ts"] {
        assert!(plugin.join(name).is_file(), "{name}");
    }
    assert!(home.text(".openclaw/skills/anemone/SKILL.md").starts_with("---\nname: anemone\n"));
}

#[test]
fn zeroclaw_gets_the_server_for_the_agent_whose_memory_it_is() {
    let home = Home::with(".zeroclaw/config.toml", ZEROCLAW);
    home.check("zeroclaw", &W);
    home.done(&["connect", "zeroclaw", "-w", "ada"], "connected");
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
    older.check("zeroclaw", &W);
    older.done(&["connect", "zeroclaw", "-w", "ada"], "connected");
    let text = older.text(".zeroclaw/config.toml");
    assert!(!text.contains("mcp_bundles") && text.contains("enabled = true"), "{text}");
}

#[test]
fn servers_that_somebody_switched_off_are_not_switched_on() {
    let off = ZEROCLAW.replace("enabled = true", "enabled = false");
    let home = Home::with(".zeroclaw/config.toml", &off);
    home.refused(3, "switched_off", &["connect", "zeroclaw", "-w", "ada"]);
    // Where there are none, nothing of theirs begins to run.
    let none = "schema_version = 3\n[agents.ada]\n[mcp]\nenabled = false\n";
    Home::with(".zeroclaw/config.toml", none).check("zeroclaw", &W);
}

#[test]
fn a_memory_is_not_given_to_agents_that_nobody_named() {
    let two = "schema_version = 3\n[agents.one]\nx = 1\n[agents.two]\nx = 1\n";
    let home = Home::with(".zeroclaw/config.toml", two);
    let refused = home.refused(2, "agent_not_found", &["connect", "zeroclaw", "-w", "ada"]);
    let hint = refused["hint"].as_str().unwrap();
    assert!(hint.contains("--to") && hint.contains("one, two"), "{refused}");
    home.done(&["connect", "zeroclaw", "-w", "ada", "--to", "two"], "connected");
    let text = home.text(".zeroclaw/config.toml");
    assert!(text.contains("[agents.two]\nmcp_bundles = [\"anemone\"]\nx = 1\n"), "{text}");
    home.refused(2, "agent_not_found", &["connect", "zeroclaw", "-w", "ada", "--to", "three"]);
    home.done(&["disconnect", "zeroclaw"], "disconnected");
    assert_eq!(home.text(".zeroclaw/config.toml"), two);
}

#[test]
fn where_no_agent_would_see_the_tools_nothing_is_connected() {
    let bare = "schema_version = 3\n[memory]\nbackend = \"sqlite\"\n";
    let home = Home::with(".zeroclaw/config.toml", bare);
    home.0.write_home(".zeroclaw/agents/default/workspace/IDENTITY.md", "# Nia\n");
    for memory in [&["-r", "zeroclaw", "--agent", "default"][..], &W] {
        let args = [&["connect", "zeroclaw"], memory].concat();
        let refused = home.refused(2, "agent_not_found", &args);
        assert!(refused["hint"].as_str().unwrap().contains("[agents.NAME]"), "{refused}");
    }
    assert_eq!(home.0.json(["status"])["connections"], json!([]));
}

#[test]
fn a_plugin_that_would_search_nothing_is_not_installed() {
    let home = Home::with(".openclaw/openclaw.json", OPENCLAW);
    let refused = home.refused(2, "nothing_to_search", &["connect", "openclaw"]);
    assert!(refused["hint"].as_str().unwrap().contains("--source"), "{refused}");
    // One that searches something goes on doing so.
    home.0.write("old.alf", b"an archive");
    let connected = home.done(&["connect", "openclaw", "--source", "old.alf"], "connected");
    assert!(connected["notes"].to_string().contains("cannot verify"), "{connected}");
    let again = home.done(&["connect", "openclaw", "--program", "anemone"], "connected");
    assert!(again["memory"].to_string().contains("old.alf"), "{again}");
    home.done(&["disconnect", "openclaw"], "disconnected");
    assert_eq!(home.text(".openclaw/openclaw.json"), OPENCLAW);
}

/// Returns the events for which settings have hooks of ours.
fn hooked(settings: &str) -> Vec<String> {
    let settings: Value = serde_json::from_str(settings).expect("it is JSON");
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
    home.done(&["connect", "claude-code", "-w", "ada"], "connected");
    let settings = || home.text(".claude/settings.json");
    assert_eq!(hooked(&settings()), ["SessionStart", "UserPromptSubmit"]);
    assert_eq!(home.0.json(["status"])["connection_details"][0]["hooks_write"], false);
    home.done(&["connect", "claude-code", "-w", "ada", "--hooks", "write"], "connected");
    let all = ["PreCompact", "SessionEnd", "SessionStart", "UserPromptSubmit"];
    assert_eq!(hooked(&settings()), all);
    assert_eq!(home.0.json(["status"])["connection_details"][0]["hooks_write"], true);
    // Connecting as usual takes them out again, as it does with those of an earlier version.
    let planned = home.done(&["connect", "claude-code", "-w", "ada", "-n"], "planned");
    let again = home.done(&["connect", "claude-code", "-w", "ada"], "connected");
    for document in [planned, again] {
        assert!(document["notes"].to_string().contains("--hooks write keeps them"), "{document}");
    }
    assert_eq!(hooked(&settings()), all[2..]);
    home.done(&["connect", "claude-code", "-w", "ada"], "already_connected");
    home.done(&["disconnect", "claude-code"], "disconnected");
    assert_eq!(settings(), SETTINGS);
    home.refused(2, "usage", &["connect", "codex", "-w", "ada", "--hooks", "write"]);
}

#[test]
fn a_connection_of_the_version_before_is_brought_up_to_date() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    let before = home.0.everything();
    home.done(&["connect", "claude-code", "-w", "ada", "--hooks", "write"], "connected");
    // Its record had no field for projects, and is as it was otherwise.
    let record = home.text(".local/state/anemone/connections/claude-code.json");
    assert!(!record.contains("project"), "{record}");
    home.done(&["connect", "claude-code", "-w", "ada"], "connected");
    home.done(&["disconnect", "claude-code"], "disconnected");
    assert!(before == home.0.everything());
}

#[test]
fn one_project_is_connected_and_no_other_session_sees_anything() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    home.0.write_home(".claude.json", "{\"numStartups\":7,\"projects\":{}}");
    fs_err::create_dir_all(home.0.path("tour/.git")).expect("the folder is ours");
    home.check("claude-code", &W);
    let before = home.0.everything();
    let args = ["connect", "claude-code", "-w", "ada", "--project", "tour", "--hooks", "write"];
    let connected = home.done(&args, "connected");
    assert!(connected["notes"].to_string().contains("out of git"), "{connected}");
    home.done(&args, "already_connected");
    assert_eq!(home.text(".claude/settings.json"), SETTINGS);
    let local = fs_err::read_to_string(home.0.path("tour/.claude/settings.local.json")).unwrap();
    assert_eq!(hooked(&local).len(), 4);
    let folder = fs_err::canonicalize(home.0.path("tour")).unwrap();
    let folder = folder.to_str().unwrap();
    let state: Value = serde_json::from_str(&home.text(".claude.json")).unwrap();
    assert!(state.get("mcpServers").is_none(), "{state}");
    assert_eq!(state["projects"][folder]["mcpServers"]["anemone"]["args"][0], "mcp");
    let status = home.0.json(["status"]);
    assert_eq!(status["connections"], json!(["claude-code"]));
    assert_eq!(status["connection_details"][0]["project"], folder);

    // The whole program is connected besides, and taken out without the project.
    home.done(&["connect", "claude-code", "-w", "ada"], "connected");
    let gone = home.done(&["disconnect", "claude-code"], "disconnected");
    assert!(gone["notes"].to_string().contains("connected by itself"), "{gone}");
    assert_eq!(home.text(".claude/settings.json"), SETTINGS);
    assert!(home.text(".claude.json").contains("anemone"));
    home.done(&["disconnect", "claude-code", "--project", "tour"], "disconnected");
    home.done(&["disconnect", "claude-code", "--project", "tour"], "not_connected");
    assert!(before == home.0.everything());
    home.refused(1, "not_found", &["connect", "claude-code", "-w", "ada", "--project", "gone"]);
    home.refused(2, "usage", &["connect", "codex", "-w", "ada", "--project", "tour"]);
}

#[test]
fn any_other_client_is_told_what_to_add_and_a_slip_is_named() {
    let home = Home::new();
    let before = home.0.everything();
    let folder = fs_err::canonicalize(home.0.path("ada")).unwrap();
    for name in ["cursor", "claude-desktop", "some-new-client"] {
        let args = ["connect", name, "-w", "ada", "--program", "anemone", "--allow-write"];
        let told = home.done(&args, "by_hand");
        let server = json!({ "command": "anemone",
            "args": ["mcp", "-w", folder.to_str().unwrap(), "--allow-write"] });
        assert_eq!(told["config"], json!({ "mcpServers": { "anemone": server } }));
    }
    let told = home.done(&["connect", "vscode", "-w", "ada"], "by_hand");
    assert_eq!(told["config"]["servers"]["anemone"]["args"][0], "mcp", "{told}");
    assert_eq!(told["config"].as_object().map(serde_json::Map::len), Some(1), "{told}");
    let text = home.0.human(["connect", "cursor", "-w", "ada"]);
    assert!(text.contains("~/.cursor/mcp.json") && text.contains("\"mcpServers\": {"), "{text}");
    assert!(before == home.0.everything());
    for (slip, meant) in
        [("opnclaw", "openclaw"), ("claudecode", "claude-code"), ("cursr", "cursor")]
    {
        let refused = home.refused(2, "usage", &["connect", slip, "-w", "ada"]);
        assert!(refused["error"].as_str().unwrap().contains(meant), "{refused}");
    }
    home.refused(2, "usage", &["disconnect", "cursor"]);
}

#[test]
fn several_at_once_all_connect() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    let before = home.0.everything();
    let start = |number: usize| {
        let target = ["codex", "claude-code"][number % 2];
        let mut command = std::process::Command::new(super::environment::program());
        command.env_clear().envs(home.0.variables()).current_dir(home.0.path(""));
        command.args(["connect", target, "-w", "ada", "--json"]);
        command.stdout(std::process::Stdio::piped()).spawn().expect("the program starts")
    };
    let running: Vec<_> = (0..6).map(start).collect();
    for child in running {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    home.done(&["disconnect", "codex"], "disconnected");
    home.done(&["disconnect", "claude-code"], "disconnected");
    assert!(before == home.0.everything());
}

#[test]
#[cfg(target_os = "linux")]
fn a_connection_is_made_as_a_whole_or_not_at_all() {
    let home = Home::with("config/openclaw.json", OPENCLAW);
    home.0.write("old.alf", b"an archive");
    let config = home.0.home("config/openclaw.json");
    // The plugin can be written; the skill cannot, since nobody can make a folder there.
    let variables =
        [("OPENCLAW_CONFIG_PATH", config.to_str().unwrap()), ("OPENCLAW_STATE_DIR", "/proc/none")];
    let before = home.0.everything();
    let args = ["connect", "openclaw", "--source", "old.alf"];
    let (code, document) = home.run_with(&variables, &args);
    assert_eq!(code, 1, "{document}");
    assert!(before == home.0.everything(), "no file was changed");
    // When the reason is gone, it is done by the same command.
    let (code, document) = home.run_with(&variables[..1], &args);
    assert_eq!((code, &document["status"]), (0, &json!("connected")), "{document}");
}

#[test]
#[cfg(unix)]
fn what_a_killed_process_left_is_swept_and_what_is_in_use_is_not() {
    let home = Home::with(".codex/config.toml", CODEX);
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1);
    let left = |name: &str, modified| {
        home.0.write_home(&format!(".codex/{name}"), "sk-secret");
        let file = fs_err::File::options().write(true).open(home.0.home(format!(".codex/{name}")));
        let file = file.expect("it is there").into_file();
        if let Some(modified) = modified {
            file.set_modified(modified).expect("it is ours");
        }
        file
    };
    drop(left(".anemone-a1B2c3", Some(old)));
    drop(left(".anemone-mine-too", Some(old)));
    drop(left(".anemone-newone", None));
    let used = left(".anemone-inuse1", Some(old));
    used.lock().expect("nobody has it");
    home.done(&["connect", "codex", "-w", "ada"], "connected");
    let there = |name: &str| home.0.home(format!(".codex/{name}")).exists();
    assert!(!there(".anemone-a1B2c3") && !there(".anemone-newone"));
    for name in [".anemone-mine-too", ".anemone-inuse1"] {
        assert!(there(name), "{name}");
    }
}

#[test]
fn codex_gets_the_server_and_is_as_it_was_afterwards() {
    let home = Home::with(".codex/config.toml", CODEX);
    home.check("codex", &W);
    let elsewhere = home.0.path("codex");
    let variables = [("CODEX_HOME", elsewhere.to_str().unwrap())];
    let (code, _) = home.run_with(&variables, &["connect", "codex", "-w", "ada"]);
    assert_eq!(code, 0);
    assert!(elsewhere.join("config.toml").is_file());
    assert_eq!(home.text(".codex/config.toml"), CODEX);
    // Both are taken out, whichever place is the one that counts now.
    home.done(&["connect", "codex", "-w", "ada"], "connected");
    home.done(&["disconnect", "codex"], "disconnected");
    assert_eq!(home.text(".codex/config.toml"), CODEX);
    assert!(!elsewhere.exists());
}

#[test]
fn files_of_real_programs_come_back_to_the_byte() {
    let folder = fixture("zeroclaw/zeroclaw-0.8.7/config");
    let mut seen = 0;
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = fs_err::read_to_string(path).unwrap();
        let home = Home::with(".zeroclaw/config.toml", &text);
        let (code, document) = home.run(&["connect", "zeroclaw", "-w", "ada", "--dry-run"]);
        let hint = document["hint"].as_str().unwrap_or_default().to_owned();
        match (code, hint.split_once("there are: ")) {
            (0, _) => home.check("zeroclaw", &W),
            (_, Some((_, there))) => {
                let first = there.split(", ").next().unwrap_or_default();
                home.check("zeroclaw", &["-w", "ada", "--to", first]);
            }
            (_, None) => assert_eq!(document["code"], "agent_not_found", "{document}"),
        }
        seen += 1;
    }
    assert!(seen >= 6, "{seen}");
    for name in ["openclaw/gen3", "openclaw/gen9"] {
        let install = fixture(&format!("{name}/.openclaw/openclaw.json"));
        let text = fs_err::read_to_string(install).unwrap();
        Home::with(".openclaw/openclaw.json", &text).check("openclaw", &W);
    }
}

#[test]
fn what_others_changed_in_between_stays() {
    let home = Home::with(".codex/config.toml", CODEX);
    home.done(&["connect", "codex", "-w", "ada"], "connected");
    let edited = home.text(".codex/config.toml").replace("gpt-x", "gpt-y") + "\n[tui]\nx = true\n";
    home.0.write_home(".codex/config.toml", &edited);
    home.done(&["disconnect", "codex"], "disconnected");
    let wanted = CODEX.replace("gpt-x", "gpt-y") + "\n[tui]\nx = true\n";
    assert_eq!(home.text(".codex/config.toml"), wanted);

    // Files that we made hold something of somebody else's by now.
    let home = Home::new();
    home.done(&["connect", "openclaw", "-w", "ada"], "connected");
    let text = home.text(".openclaw/openclaw.json").replacen('{', "{\n  gateway: {},", 1);
    home.0.write_home(".openclaw/openclaw.json", text);
    home.0.write_home(".openclaw/skills/anemone/SKILL.md", "mine now\n");
    let gone = home.done(&["disconnect", "openclaw"], "disconnected");
    assert!(gone["notes"][0].as_str().unwrap().contains("SKILL.md"), "{gone}");
    assert!(home.text(".openclaw/openclaw.json").contains("gateway: {}"));
    assert!(!home.text(".openclaw/openclaw.json").contains("anemone"));
    assert_eq!(home.text(".openclaw/skills/anemone/SKILL.md"), "mine now\n");
    assert!(!home.0.home(".local").exists());
}

#[test]
fn ours_is_found_when_nothing_was_kept_about_it() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    home.done(&["connect", "claude-code", "-w", "ada", "--program", "anemone"], "connected");
    fs_err::remove_dir_all(home.0.home(".local/state")).unwrap();
    let left = home.done(&["disconnect", "claude-code"], "not_connected");
    assert!(left["notes"].to_string().contains("mcpServers.anemone"), "{left}");
    let gone = home.done(&["disconnect", "claude-code", "--all"], "disconnected");
    assert!(gone["files"][0]["lines"].to_string().contains("hooks.SessionStart"), "{gone}");
    let left = home.text(".claude/settings.json") + &home.text(".claude.json");
    assert!(!left.contains("anemone") && left.contains("date"), "{left}");
}

#[test]
fn an_entry_of_the_users_own_is_not_touched() {
    let own = "[mcp_servers.anemone]\ncommand = \"/home/me/wrapper.sh\"\n";
    let home = Home::with(".codex/config.toml", own);
    let refused = home.refused(3, "taken", &["connect", "codex", "-w", "ada"]);
    assert!(refused["error"].as_str().unwrap().contains("mcp_servers.anemone"), "{refused}");
    home.done(&["disconnect", "codex"], "not_connected");
    assert_eq!(home.text(".codex/config.toml"), own);
    // Also one that starts us, if nobody noted that we wrote it.
    let own = "[mcp_servers.anemone]\ncommand = \"anemone\"\nargs = [\"mcp\", \"--mine\"]\n";
    let home = Home::with(".codex/config.toml", own);
    home.refused(3, "taken", &["connect", "codex", "-w", "ada"]);
    home.done(&["disconnect", "codex"], "not_connected");
    assert_eq!(home.text(".codex/config.toml"), own);
    home.done(&["disconnect", "codex", "--all"], "disconnected");
    home.done(&["connect", "codex", "-w", "ada"], "connected");
    // One of ours that somebody changed is brought up to date.
    let edited = home.text(".codex/config.toml").replace("\"mcp\"", "\"mcp\", \"--mine\"");
    home.0.write_home(".codex/config.toml", edited);
    home.done(&["connect", "codex", "-w", "ada"], "connected");
    assert!(!home.text(".codex/config.toml").contains("--mine"));
    let home = Home::new();
    home.0.write_home(".openclaw/skills/anemone/SKILL.md", "my own skill\n");
    home.refused(3, "taken", &["connect", "openclaw", "-w", "ada"]);
}

#[test]
fn a_file_that_makes_no_sense_is_left_and_its_place_named() {
    for (target, name, text, place) in [
        ("claude-code", ".claude/settings.json", "{\n  \"a\": [1,\n}\n", "settings.json:3:1: "),
        ("claude-code", ".claude.json", "{\"a\": 1 \"b\": 2}", ".claude.json:1:9: a comma or }"),
        ("openclaw", ".openclaw/openclaw.json", "{ a: 'x\n' }", "openclaw.json:1:8: a quote"),
        ("zeroclaw", ".zeroclaw/config.toml", "a = 1\n[b\n", "config.toml:2:3: "),
        ("codex", ".codex/config.toml", "model = sk-secret\n", "config.toml:1:"),
    ] {
        let home = Home::with(name, text);
        for command in ["connect", "disconnect"] {
            let more: &[&str] = if command == "connect" { &W } else { &[] };
            let args: Vec<&str> = [command, target].iter().chain(more).copied().collect();
            let refused = home.refused(1, "unparsable", &args);
            let error = refused["error"].as_str().unwrap();
            assert!(error.contains(place), "{error}");
            assert!(!refused.to_string().contains("sk-secret"), "{refused}");
        }
    }
    let home = Home::new();
    home.0.write_home(".codex/config.toml", b"a = \"\xff\"\n");
    home.refused(1, "unparsable", &["connect", "codex", "-w", "ada"]);
    let home = Home::new();
    fs_err::create_dir_all(home.0.home(".codex/config.toml")).unwrap();
    home.refused(1, "not_a_file", &["connect", "codex", "-w", "ada"]);
}

#[test]
#[cfg(unix)]
fn a_linked_configuration_stays_a_link_and_keeps_its_mode() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let home = Home::new();
    home.0.write("dotfiles.toml", CODEX);
    let mode = std::fs::Permissions::from_mode(0o640);
    fs_err::set_permissions(home.0.path("dotfiles.toml"), mode).unwrap();
    fs_err::create_dir_all(home.0.home(".codex")).unwrap();
    symlink(home.0.path("dotfiles.toml"), home.0.home(".codex/config.toml")).unwrap();
    home.check("codex", &W);
    home.done(&["connect", "codex", "-w", "ada"], "connected");
    assert!(home.0.home(".codex/config.toml").is_symlink());
    let there = fs_err::metadata(home.0.path("dotfiles.toml")).unwrap();
    assert_eq!(there.permissions().mode() & 0o777, 0o640);

    let home = Home::new();
    fs_err::create_dir_all(home.0.home(".codex")).unwrap();
    symlink(Path::new("nowhere"), home.0.home(".codex/config.toml")).unwrap();
    home.refused(1, "link", &["connect", "codex", "-w", "ada"]);
}

#[test]
fn which_memory_is_meant_has_to_be_clear() {
    let home = Home::new();
    home.refused(1, "agent_not_found", &["connect", "codex"]);
    home.0
        .write_home(".openclaw/openclaw.json", "{ agents: { list: [{ id: 'a' }, { id: 'b' }] } }");
    home.0.write_home(".openclaw/workspace/MEMORY.md", "# A\n");
    home.0.write_home(".openclaw/workspace-b/MEMORY.md", "# B\n");
    let refused = home.refused(2, "agent_selection_ambiguous", &["connect", "codex"]);
    assert!(refused["causes"].as_array().unwrap().len() >= 2, "{refused}");
    let connected = home.done(&["connect", "codex", "--agent", "b"], "connected");
    let memory = connected["memory"].to_string();
    assert!(memory.contains("workspace-b"), "{memory}");
    home.refused(2, "usage", &["connect", "codex", "--agent", "b", "--source", "x"]);
    home.refused(2, "usage", &["connect", "openclaw", "--allow-write"]);
}

#[test]
fn people_see_every_line_that_is_written() {
    let home = Home::with(".codex/config.toml", CODEX);
    let mut command = home.0.command();
    command.args(["connect", "codex", "-w", "ada", "--program", "anemone", "-n", "--human"]);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let config = home.0.home(".codex/config.toml");
    let folder = fs_err::canonicalize(home.0.path("ada")).unwrap();
    let wanted = format!(
        "dry run, nothing is written:\nchange {}\n  + [mcp_servers.anemone]\n  + args = [\"mcp\", \"-w\", \"{}\"]\n  + command = \"anemone\"\n",
        config.display(),
        folder.display()
    );
    assert_eq!(text, wanted);
}
