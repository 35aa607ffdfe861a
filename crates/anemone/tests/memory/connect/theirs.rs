//! What belongs to others stays, whatever is done in between.

use anemone::connect::{ConnectError, ConnectReport, Hooks};
use serde_json::{Value, json};

use super::{ADA, CODEX, Home, SETTINGS, With, notes};

/// Returns what is taken out of each file, as text.
fn lines(report: &ConnectReport) -> String {
    format!("{:?}", report.files)
}

#[test]
fn empty_objects_of_others_in_a_file_that_we_made_stay() {
    let home = Home::new();
    home.connect("openclaw", &ADA, "connected");
    let anew =
        "{\n  \"agents\": {\n    \"list\": [\n      {\"id\": \"a\"},\n      {}\n    ]\n  }\n}\n";
    home.write_home(".openclaw/openclaw.json", anew);
    home.disconnect("openclaw", "disconnected");
    assert_eq!(home.text(".openclaw/openclaw.json"), anew);

    let home = Home::new();
    home.connect("claude-code", &ADA, "connected");
    let mut state: Value = serde_json::from_str(&home.text(".claude.json")).unwrap();
    state["numStartups"] = 1.into();
    state["projects"] = json!({});
    home.write_home(".claude.json", serde_json::to_string_pretty(&state).unwrap() + "\n");
    home.connect("claude-code", &ADA, "connected");
    home.disconnect("claude-code", "disconnected");
    let left: Value = serde_json::from_str(&home.text(".claude.json")).unwrap();
    assert_eq!(left, json!({ "numStartups": 1, "projects": {} }));
}

#[test]
fn comments_and_line_ends_stay_when_our_block_was_written_anew() {
    let text = "model = \"x\"\r\n# remember: renew the key in May\r\n";
    for lose_record in [false, true] {
        let home = Home::with(".codex/config.toml", text);
        home.connect("codex", &[With::Memory, With::Command("anemone")], "connected");
        let now = home.text(".codex/config.toml");
        if lose_record {
            fs_err::remove_dir_all(&home.host.folders.state).unwrap();
        } else {
            home.write_home(".codex/config.toml", now.replace("command = ", "command="));
        }
        home.disconnect_all("codex", "disconnected");
        assert_eq!(home.text(".codex/config.toml"), text);
    }
}

#[test]
fn entries_of_the_users_own_that_start_us_stay_and_are_named() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    let args = [With::Memory, With::Command("anemone"), With::Hooks(Hooks::Write)];
    home.connect("claude-code", &args, "connected");
    let mut settings: Value = serde_json::from_str(&home.text(".claude/settings.json")).unwrap();
    let second = "anemone hook prompt --enable -w /home/me/second";
    let second = json!({ "hooks": [{ "type": "command", "command": second }] });
    settings["hooks"]["UserPromptSubmit"].as_array_mut().unwrap().push(second.clone());
    // One of ours with another limit is theirs as well.
    settings["hooks"]["PreCompact"][0]["hooks"][0]["timeout"] = 3.into();
    home.write_home(".claude/settings.json", serde_json::to_string_pretty(&settings).unwrap());
    let planned = home.disconnect_with("claude-code", "planned", |request| request.dry_run = true);
    let gone = home.disconnect("claude-code", "disconnected");
    assert_eq!(lines(&planned), lines(&gone));
    let named = notes(&gone);
    assert!(named.contains("hooks.UserPromptSubmit") && named.contains("hooks.PreCompact"));
    assert!(!named.contains("hooks.SessionEnd"), "{named}");
    assert!(!lines(&gone).contains("pre-compact"), "{gone:?}");
    assert!(lines(&gone).contains("session-end"), "{gone:?}");
    let left: Value = serde_json::from_str(&home.text(".claude/settings.json")).unwrap();
    assert_eq!(left["hooks"]["UserPromptSubmit"], json!([second]));
    assert_eq!(left["hooks"]["PreCompact"][0]["hooks"][0]["timeout"], 3);
    assert_eq!(left["hooks"]["SessionStart"].as_array().unwrap().len(), 1);
    // And once more.
    home.disconnect("claude-code", "not_connected");
    home.disconnect_all("claude-code", "disconnected");
    assert!(!home.text(".claude/settings.json").contains("anemone"));
}

#[test]
fn connecting_again_leaves_the_users_own_hooks() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    home.connect("claude-code", &ADA, "connected");
    let mut settings: Value = serde_json::from_str(&home.text(".claude/settings.json")).unwrap();
    let second =
        json!({ "hooks": [{ "type": "command", "command": "anemone hook prompt -w /x" }] });
    settings["hooks"]["UserPromptSubmit"].as_array_mut().unwrap().push(second);
    home.write_home(".claude/settings.json", serde_json::to_string_pretty(&settings).unwrap());
    let again = home.connect("claude-code", &[With::Memory, With::AllowWrite], "connected");
    assert!(notes(&again).contains("hooks.UserPromptSubmit"), "{again:?}");
    let text = home.text(".claude/settings.json");
    assert!(text.contains("anemone hook prompt -w /x"), "{text}");
}

#[test]
fn an_entry_that_was_the_same_before_stays() {
    let home = Home::new();
    let folder = fs_err::canonicalize(home.path("ada")).unwrap();
    let own = json!(["mcp", "-w", folder]).to_string().replace(',', ", ");
    let own = format!("[mcp_servers.anemone]\nargs = {own}\ncommand = \"anemone\" # mine\n");
    home.write_home(".codex/config.toml", &own);
    home.connect("codex", &[With::Memory, With::Command("anemone")], "already_connected");
    home.disconnect("codex", "not_connected");
    assert_eq!(home.text(".codex/config.toml"), own);
}

#[test]
fn leaving_hooks_out_makes_no_file_for_them() {
    let home = Home::new();
    home.connect("claude-code", &[With::Memory, With::Hooks(Hooks::None)], "connected");
    assert!(!home.home(".claude").exists());
    home.connect("claude-code", &ADA, "connected");
    assert!(home.home(".claude/settings.json").exists());
    home.connect("claude-code", &[With::Memory, With::Hooks(Hooks::None)], "connected");
    assert!(!home.home(".claude").exists());
    let home = Home::with(".claude/settings.json", "");
    home.connect("claude-code", &[With::Memory, With::Hooks(Hooks::None)], "connected");
    assert_eq!(home.text(".claude/settings.json"), "");
}

#[test]
fn a_file_that_was_removed_and_made_again_goes_at_the_end() {
    let home = Home::with(".claude/settings.json", SETTINGS);
    home.connect("claude-code", &ADA, "connected");
    fs_err::remove_dir_all(home.home(".claude")).unwrap();
    home.connect("claude-code", &ADA, "connected");
    home.disconnect("claude-code", "disconnected");
    assert!(!home.home(".claude").exists());
}

#[test]
fn files_that_were_there_before_stay_and_folders_go_without_their_files() {
    let skill = include_str!("../../../../../integrations/openclaw/skill/SKILL.md");
    let home = Home::new();
    home.write_home(".openclaw/skills/anemone/SKILL.md", skill);
    let left = home.disconnect("openclaw", "not_connected");
    assert!(notes(&left).contains("SKILL.md"), "{left:?}");
    let before = home.everything();
    home.connect("openclaw", &ADA, "connected");
    // The user has deleted files that we created.
    let plugin = home.plugin();
    for entry in fs_err::read_dir(&plugin).unwrap() {
        fs_err::remove_file(entry.unwrap().path()).unwrap();
    }
    home.disconnect("openclaw", "disconnected");
    assert_eq!(home.text(".openclaw/skills/anemone/SKILL.md"), skill);
    assert!(before == home.everything());
    home.disconnect_all("openclaw", "disconnected");
    assert!(!home.home(".openclaw/skills/anemone/SKILL.md").exists());
}

#[test]
fn a_bundle_that_was_given_by_hand_is_taken_from_its_agent() {
    let two = "schema_version = 3\n[agents.one]\nx = 1\n[agents.two]\nx = 1\n";
    let home = Home::with(".zeroclaw/config.toml", two);
    home.connect("zeroclaw", &[With::Memory, With::To("one")], "connected");
    let granted = |text: &str| text.replace("two]\n", "two]\nmcp_bundles = [\"a\", \"anemone\"]\n");
    home.write_home(".zeroclaw/config.toml", granted(&home.text(".zeroclaw/config.toml")));
    let gone = home.disconnect("zeroclaw", "disconnected");
    assert!(lines(&gone).contains("agents.two.mcp_bundles"), "{gone:?}");
    let wanted = two.replace("two]\n", "two]\nmcp_bundles = [\"a\"]\n");
    assert_eq!(home.text(".zeroclaw/config.toml"), wanted);
    // One that never was ours is not looked at.
    home.write_home(".zeroclaw/config.toml", granted(two));
    home.disconnect("zeroclaw", "not_connected");
    assert_eq!(home.text(".zeroclaw/config.toml"), granted(two));
}

#[test]
fn servers_that_were_added_since_stay_switched_on() {
    let off = "schema_version = 3\n\n[agents.ada]\n\n[mcp]\nenabled = false # for now\n";
    let home = Home::with(".zeroclaw/config.toml", off);
    home.connect("zeroclaw", &ADA, "connected");
    let more = "\n[[mcp.servers]]\nname = \"mine\"\n";
    let text = home.text(".zeroclaw/config.toml") + more;
    home.write_home(".zeroclaw/config.toml", text);
    let gone = home.disconnect("zeroclaw", "disconnected");
    assert!(notes(&gone).contains("mcp.enabled"), "{gone:?}");
    let wanted = off.replace("enabled = false", "enabled = true") + more;
    assert_eq!(home.text(".zeroclaw/config.toml"), wanted);
}

#[test]
fn a_plugin_on_the_list_goes_with_its_entry_when_nothing_was_kept() {
    let text = "{ \"plugins\": { \"allow\": [\"a\"] } }";
    let home = Home::with(".openclaw/openclaw.json", text);
    home.connect("openclaw", &[With::Memory, With::Command("anemone")], "connected");
    fs_err::remove_dir_all(&home.host.folders.state).unwrap();
    home.disconnect_all("openclaw", "disconnected");
    let left = home.text(".openclaw/openclaw.json");
    assert!(!left.contains("anemone"), "{left}");
}

#[test]
#[cfg(unix)]
fn a_read_only_file_is_not_replaced() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::with(".codex/config.toml", CODEX);
    let path = home.home(".codex/config.toml");
    let set = |mode| {
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(0o444);
    let error = home.refused("codex", &ADA);
    assert!(matches!(error, ConnectError::ReadOnly(_)), "{error:?}");
    set(0o644);
    home.connect("codex", &ADA, "connected");
    set(0o444);
    let before = home.everything();
    let error = home.try_disconnect("codex", |_| {}).unwrap_err();
    assert!(matches!(error, ConnectError::ReadOnly(_)), "{error:?}");
    assert!(before == home.everything(), "a failure leaves every file as it was");
    // Nothing to do is no reason to refuse.
    home.connect("codex", &ADA, "already_connected");
}

#[test]
fn no_more_sources_are_written_than_the_plugin_takes_and_each_once() {
    let home = Home::new();
    let names: Vec<String> = (0..17).map(|number| format!("{number}.alf")).collect();
    names.iter().for_each(|name| home.write(name, b"an archive"));
    let all: Vec<With<'_>> = names.iter().map(|name| With::Source(name)).collect();
    let error = home.refused("openclaw", &all);
    assert!(matches!(error, ConnectError::TooManySources { .. }), "{error:?}");
    let twice = [With::Source("1.alf"), With::Source("2.alf"), With::Source("1.alf")];
    let connected = home.connect("openclaw", &twice, "connected");
    assert_eq!(connected.memory.len(), 2, "{connected:?}");
}
