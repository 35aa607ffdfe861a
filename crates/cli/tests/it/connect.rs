//! `anemone connect` and `anemone disconnect`

#[path = "connect/plugin.rs"]
mod plugin;

use serde_json::{Value, json};

use super::environment::TestEnvironment;

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

    /// Connects and disconnects; afterwards every file has its former bytes and mode.
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
fn a_server_and_its_flags_go_into_each_program() {
    for (target, name, text, more) in [
        ("openclaw", ".openclaw/openclaw.json", OPENCLAW, &["--source", "old.alf"][..]),
        ("zeroclaw", ".zeroclaw/config.toml", ZEROCLAW, &["-w", "ada", "--to", "ada"]),
        ("codex", ".codex/config.toml", CODEX, &["-w", "ada", "--allow-write"]),
        ("claude-code", ".claude/settings.json", SETTINGS, &["-w", "ada", "--project", "ada"]),
    ] {
        let home = Home::with(name, text);
        home.0.write("old.alf", b"an archive");
        home.done(&[&["connect", target], more].concat(), "connected");
        let status = home.0.json(["status"]);
        assert_eq!(status["connections"], json!([target]), "{status}");
        let project = if target == "claude-code" { &["--project", "ada"][..] } else { &[] };
        home.done(&[&["disconnect", target], project].concat(), "disconnected");
        assert_eq!(home.text(name), text);
    }
}

#[test]
fn refusals_have_codes_and_hints() {
    let off = ZEROCLAW.replace("enabled = true", "enabled = false");
    let home = Home::with(".zeroclaw/config.toml", &off);
    home.refused(3, "switched_off", &["connect", "zeroclaw", "-w", "ada"]);
    let two = "schema_version = 3\n[agents.one]\nx = 1\n[agents.two]\nx = 1\n";
    let home = Home::with(".zeroclaw/config.toml", two);
    let refused = home.refused(2, "agent_not_found", &["connect", "zeroclaw", "-w", "ada"]);
    let hint = refused["hint"].as_str().unwrap();
    assert!(hint.contains("--to") && hint.contains("one, two"), "{refused}");
    home.refused(2, "agent_not_found", &["connect", "zeroclaw", "-w", "ada", "--to", "three"]);
    let home = Home::with(".zeroclaw/config.toml", "schema_version = 3\n");
    let refused = home.refused(2, "agent_not_found", &["connect", "zeroclaw", "-w", "ada"]);
    assert!(refused["hint"].as_str().unwrap().contains("[agents.NAME]"), "{refused}");
    let home = Home::with(".openclaw/openclaw.json", OPENCLAW);
    let refused = home.refused(2, "nothing_to_search", &["connect", "openclaw"]);
    assert!(refused["hint"].as_str().unwrap().contains("--source"), "{refused}");
    let names: Vec<String> = (0..17).map(|number| format!("{number}.alf")).collect();
    names.iter().for_each(|name| home.0.write(name, b"an archive"));
    let sources: Vec<&str> = names.iter().flat_map(|name| ["--source", name]).collect();
    home.refused(2, "too_many_sources", &[&["connect", "openclaw"], &sources[..]].concat());
    let own = "[mcp_servers.anemone]\ncommand = \"anemone\"\n";
    let home = Home::with(".codex/config.toml", own);
    home.refused(3, "taken", &["connect", "codex", "-w", "ada"]);
    home.refused(2, "usage", &["connect", "codex", "-w", "ada", "--hooks", "write"]);
    home.refused(1, "not_found", &["connect", "claude-code", "-w", "ada", "--project", "gone"]);
    let home = Home::new();
    fs_err::create_dir_all(home.0.home(".codex/config.toml")).unwrap();
    home.refused(1, "not_a_file", &["connect", "codex", "-w", "ada"]);
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
