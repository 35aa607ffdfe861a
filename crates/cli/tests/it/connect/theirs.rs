//! What belongs to somebody else stays, whatever is done in between.

use serde_json::{Value, json};

use super::{CODEX, Home, SETTINGS};

fn notes(document: &Value) -> String {
    document["notes"].to_string()
}

#[test]
fn empty_objects_of_others_in_a_file_that_we_made_stay() {
    let home = Home::new();
    home.done(&["connect", "openclaw", "-w", "ada"], "connected");
    let anew =
        "{\n  \"agents\": {\n    \"list\": [\n      {\"id\": \"a\"},\n      {}\n    ]\n  }\n}\n";
    home.0.write_home(".openclaw/openclaw.json", anew);
    home.done(&["disconnect", "openclaw"], "disconnected");
    assert_eq!(home.text(".openclaw/openclaw.json"), anew);

    let home = Home::new();
    home.done(&["connect", "claude-code", "-w", "ada"], "connected");
    let mut state: Value = serde_json::from_str(&home.text(".claude.json")).unwrap();
    state["numStartups"] = 1.into();
    state["projects"] = json!({});
    home.0.write_home(".claude.json", serde_json::to_string_pretty(&state).unwrap() + "\n");
    home.done(&["connect", "claude-code", "-w", "ada"], "connected");
    home.done(&["disconnect", "claude-code"], "disconnected");
    let left: Value = serde_json::from_str(&home.text(".claude.json")).unwrap();
    assert_eq!(left, json!({ "numStartups": 1, "projects": {} }));
}

#[test]
fn comments_and_line_ends_stay_when_our_block_was_written_anew() {
    let text = "model = \"x\"\r\n# remember: renew the key in May\r\n";
    for lose_record in [false, true] {
        let home = Home::with(".codex/config.toml", text);
        home.done(&["connect", "codex", "-w", "ada", "--program", "anemone"], "connected");
        let now = home.text(".codex/config.toml");
        if lose_record {
            fs_err::remove_dir_all(home.0.home(".local/state")).unwrap();
        } else {
            home.0.write_home(".codex/config.toml", now.replace("command = ", "command="));
        }
        home.done(&["disconnect", "codex", "--all"], "disconnected");
        assert_eq!(home.text(".codex/config.toml"), text);
    }
}

#[test]
fn entries_of_the_users_own_that_start_us_stay_and_are_named() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    let args = ["connect", "claude-code", "-w", "ada", "--program", "anemone", "--hooks", "write"];
    home.done(&args, "connected");
    let mut settings: Value = serde_json::from_str(&home.text(".claude/settings.json")).unwrap();
    let second = "anemone hook prompt --enable -w /home/me/second";
    let second = json!({ "hooks": [{ "type": "command", "command": second }] });
    settings["hooks"]["UserPromptSubmit"].as_array_mut().unwrap().push(second.clone());
    // One of ours with another limit is theirs as well.
    settings["hooks"]["PreCompact"][0]["hooks"][0]["timeout"] = 3.into();
    home.0.write_home(".claude/settings.json", serde_json::to_string_pretty(&settings).unwrap());
    let planned = home.done(&["disconnect", "claude-code", "--dry-run"], "planned");
    let gone = home.done(&["disconnect", "claude-code"], "disconnected");
    assert_eq!(planned["files"], gone["files"]);
    let named = notes(&gone);
    assert!(named.contains("hooks.UserPromptSubmit") && named.contains("hooks.PreCompact"));
    assert!(!named.contains("hooks.SessionEnd"), "{named}");
    assert!(!gone["files"].to_string().contains("pre-compact"), "{gone}");
    assert!(gone["files"].to_string().contains("session-end"), "{gone}");
    let left: Value = serde_json::from_str(&home.text(".claude/settings.json")).unwrap();
    assert_eq!(left["hooks"]["UserPromptSubmit"], json!([second]));
    assert_eq!(left["hooks"]["PreCompact"][0]["hooks"][0]["timeout"], 3);
    assert_eq!(left["hooks"]["SessionStart"].as_array().unwrap().len(), 1);
    // And once more.
    home.done(&["disconnect", "claude-code"], "not_connected");
    home.done(&["disconnect", "claude-code", "--all"], "disconnected");
    assert!(!home.text(".claude/settings.json").contains("anemone"));
}

#[test]
fn connecting_again_leaves_the_users_own_hooks() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    home.done(&["connect", "claude-code", "-w", "ada"], "connected");
    let mut settings: Value = serde_json::from_str(&home.text(".claude/settings.json")).unwrap();
    let second =
        json!({ "hooks": [{ "type": "command", "command": "anemone hook prompt -w /x" }] });
    settings["hooks"]["UserPromptSubmit"].as_array_mut().unwrap().push(second);
    home.0.write_home(".claude/settings.json", serde_json::to_string_pretty(&settings).unwrap());
    let again = home.done(&["connect", "claude-code", "-w", "ada", "--allow-write"], "connected");
    assert!(notes(&again).contains("hooks.UserPromptSubmit"), "{again}");
    let text = home.text(".claude/settings.json");
    assert!(text.contains("anemone hook prompt -w /x"), "{text}");
}

#[test]
fn an_entry_that_was_the_same_before_stays() {
    let home = Home::new();
    let folder = fs_err::canonicalize(home.0.path("ada")).unwrap();
    let own = json!(["mcp", "-w", folder]).to_string().replace(',', ", ");
    let own = format!("[mcp_servers.anemone]\nargs = {own}\ncommand = \"anemone\" # mine\n");
    home.0.write_home(".codex/config.toml", &own);
    home.done(&["connect", "codex", "-w", "ada", "--program", "anemone"], "already_connected");
    home.done(&["disconnect", "codex"], "not_connected");
    assert_eq!(home.text(".codex/config.toml"), own);
}

#[test]
fn leaving_hooks_out_makes_no_file_for_them() {
    let home = Home::new();
    home.done(&["connect", "claude-code", "-w", "ada", "--no-hooks"], "connected");
    assert!(!home.0.home(".claude").exists());
    home.done(&["connect", "claude-code", "-w", "ada"], "connected");
    assert!(home.0.home(".claude/settings.json").exists());
    home.done(&["connect", "claude-code", "-w", "ada", "--no-hooks"], "connected");
    assert!(!home.0.home(".claude").exists());
    let home = Home::with(".claude/settings.json", "");
    home.done(&["connect", "claude-code", "-w", "ada", "--no-hooks"], "connected");
    assert_eq!(home.text(".claude/settings.json"), "");
}

#[test]
fn a_file_that_was_removed_and_made_again_goes_at_the_end() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    home.done(&["connect", "claude-code", "-w", "ada"], "connected");
    fs_err::remove_dir_all(home.0.home(".claude")).unwrap();
    home.done(&["connect", "claude-code", "-w", "ada"], "connected");
    home.done(&["disconnect", "claude-code"], "disconnected");
    assert!(!home.0.home(".claude").exists());
}

#[test]
fn files_that_were_there_before_stay_and_folders_go_without_their_files() {
    let skill = include_str!("../../../../../integrations/openclaw/skill/SKILL.md");
    let home = Home::new();
    home.0.write_home(".openclaw/skills/anemone/SKILL.md", skill);
    let left = home.done(&["disconnect", "openclaw"], "not_connected");
    assert!(notes(&left).contains("SKILL.md"), "{left}");
    let before = home.0.everything();
    home.done(&["connect", "openclaw", "-w", "ada"], "connected");
    // Somebody has tidied up what we made.
    let plugin = home.0.home(".local/share/anemone/integrations/openclaw");
    for entry in fs_err::read_dir(&plugin).unwrap() {
        fs_err::remove_file(entry.unwrap().path()).unwrap();
    }
    home.done(&["disconnect", "openclaw"], "disconnected");
    assert_eq!(home.text(".openclaw/skills/anemone/SKILL.md"), skill);
    assert!(before == home.0.everything());
    home.done(&["disconnect", "openclaw", "--all"], "disconnected");
    assert!(!home.0.home(".openclaw/skills/anemone/SKILL.md").exists());
}

#[test]
fn a_bundle_that_was_given_by_hand_is_taken_from_its_agent() {
    let two = "schema_version = 3\n[agents.one]\nx = 1\n[agents.two]\nx = 1\n";
    let home = Home::with(".zeroclaw/config.toml", two);
    home.done(&["connect", "zeroclaw", "-w", "ada", "--to", "one"], "connected");
    let granted = |text: &str| text.replace("two]\n", "two]\nmcp_bundles = [\"a\", \"anemone\"]\n");
    home.0.write_home(".zeroclaw/config.toml", granted(&home.text(".zeroclaw/config.toml")));
    let gone = home.done(&["disconnect", "zeroclaw"], "disconnected");
    assert!(gone["files"].to_string().contains("agents.two.mcp_bundles"), "{gone}");
    let wanted = two.replace("two]\n", "two]\nmcp_bundles = [\"a\"]\n");
    assert_eq!(home.text(".zeroclaw/config.toml"), wanted);
    // One that never was ours is not looked at.
    home.0.write_home(".zeroclaw/config.toml", granted(two));
    home.done(&["disconnect", "zeroclaw"], "not_connected");
    assert_eq!(home.text(".zeroclaw/config.toml"), granted(two));
}

#[test]
fn servers_that_were_added_since_stay_switched_on() {
    let off = "schema_version = 3\n\n[agents.ada]\n\n[mcp]\nenabled = false # for now\n";
    let home = Home::with(".zeroclaw/config.toml", off);
    home.done(&["connect", "zeroclaw", "-w", "ada"], "connected");
    let more = "\n[[mcp.servers]]\nname = \"mine\"\n";
    let text = home.text(".zeroclaw/config.toml") + more;
    home.0.write_home(".zeroclaw/config.toml", text);
    let gone = home.done(&["disconnect", "zeroclaw"], "disconnected");
    assert!(notes(&gone).contains("mcp.enabled"), "{gone}");
    let wanted = off.replace("enabled = false", "enabled = true") + more;
    assert_eq!(home.text(".zeroclaw/config.toml"), wanted);
}

#[test]
fn a_plugin_on_the_list_goes_with_its_entry_when_nothing_was_kept() {
    let text = "{ \"plugins\": { \"allow\": [\"a\"] } }";
    let home = Home::with(".openclaw/openclaw.json", text);
    home.done(&["connect", "openclaw", "-w", "ada", "--program", "anemone"], "connected");
    fs_err::remove_dir_all(home.0.home(".local/state")).unwrap();
    home.done(&["disconnect", "openclaw", "--all"], "disconnected");
    let left = home.text(".openclaw/openclaw.json");
    assert!(!left.contains("anemone"), "{left}");
}

#[test]
#[cfg(unix)]
fn a_read_only_file_is_not_replaced() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::with(".codex/config.toml", CODEX);
    let path = home.0.home(".codex/config.toml");
    let set = |mode| {
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(0o444);
    home.refused(1, "read_only", &["connect", "codex", "-w", "ada"]);
    set(0o644);
    home.done(&["connect", "codex", "-w", "ada"], "connected");
    set(0o444);
    home.refused(1, "read_only", &["disconnect", "codex"]);
    // Nothing to do is no reason to refuse.
    home.done(&["connect", "codex", "-w", "ada"], "already_connected");
}

#[test]
fn no_more_sources_are_written_than_the_plugin_takes_and_each_once() {
    let home = Home::new();
    let names: Vec<String> = (0..17).map(|value| format!("{value}.alf")).collect();
    let mut args = vec!["connect", "openclaw"];
    for name in &names {
        home.0.write(name, b"an archive");
        args.extend(["--source", name]);
    }
    home.refused(2, "too_many_sources", &args);
    let args = ["--source", "1.alf", "--source", "2.alf", "--source", "1.alf"];
    let args: Vec<&str> = ["connect", "openclaw"].into_iter().chain(args).collect();
    let connected = home.done(&args, "connected");
    assert_eq!(connected["memory"].as_array().unwrap().len(), 2, "{connected}");
}
