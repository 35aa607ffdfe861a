//! Claude Code: hooks in `settings.json`, the MCP server in `.claude.json`.

use std::path::Path;

use serde_json::Value;

use super::document::{Format, RefuseError, Want};
use super::wish::{Entry, FileWish, Wish, is_own_program, is_own_server, known_elements};
use super::wish::{known_member, names, no_orphans};
use super::{json_file, shell};

const HOOKS: &str = include_str!("../../../../../integrations/claude-code/hooks/hooks.json");
const SERVERS: &str = include_str!("../../../../../integrations/claude-code/.mcp.json");

/// Where Claude Code keeps its settings.
pub(super) struct Folders {
    pub(super) home: std::path::PathBuf,
    /// What the user set instead of `~/.claude`.
    pub(super) set: Option<std::path::PathBuf>,
}

/// The files in which we write; with no entry, those in which something of ours may be.
pub(super) fn wish(
    folders: &Folders,
    entry: Option<&Entry>,
    with_hooks: bool,
) -> Result<Wish, RefuseError> {
    let settings = match &folders.set {
        Some(folder) => folder.join("settings.json"),
        None => folders.home.join(".claude/settings.json"),
    };
    let state = folders.set.as_deref().unwrap_or(&folders.home).join(".claude.json");
    let hooks = match entry {
        Some(entry) if with_hooks => hooks(entry)?,
        _ => Vec::new(),
    };
    let servers = json_file::parse(SERVERS)?;
    let server = entry.map(|entry| Want::Member {
        path: names(&["mcpServers"]),
        key: "anemone".to_owned(),
        value: entry.mcp(&servers["mcpServers"]["anemone"]),
    });
    let mut notes = Vec::new();
    if !settings.parent().is_some_and(Path::is_dir) {
        notes.push("Claude Code has no settings here yet; they are made".to_owned());
    }
    if !hooks.is_empty() {
        notes.push(
            "every session of Claude Code is shown this memory, and adds a note of itself to it; \
             --no-hooks gives it the tools alone"
                .to_owned(),
        );
    }
    Ok(Wish {
        files: vec![
            FileWish {
                path: settings,
                format: Format::Json,
                wants: hooks,
                known: known_hooks,
                orphans: no_orphans,
            },
            FileWish {
                path: state,
                format: Format::Json,
                wants: server.into_iter().collect(),
                known: known_server,
                orphans: no_orphans,
            },
        ],
        own: Vec::new(),
        notes,
        next: "start a new session of Claude Code; /hooks and /mcp show what was added",
    })
}

/// Returns the hooks of the plugin, with the program and the memory that are meant.
fn hooks(entry: &Entry) -> Result<Vec<Want>, RefuseError> {
    let file = json_file::parse(HOOKS)?;
    let mut wants = Vec::new();
    for (event, groups) in file["hooks"].as_object().into_iter().flatten() {
        for group in groups.as_array().into_iter().flatten() {
            let mut group = group.clone();
            for hook in group["hooks"].as_array_mut().into_iter().flatten() {
                let command = hook["command"].as_str().unwrap_or_default();
                hook["command"] = of(entry, command).into();
            }
            wants.push(Want::Element { path: names(&["hooks", event]), value: group });
        }
    }
    Ok(wants)
}

/// Returns a command for a shell: `anemone hook prompt` of this program, about this memory.
fn of(entry: &Entry, command: &str) -> String {
    let words = command.split(' ').skip(1).map(str::to_owned);
    let words = [entry.program.clone()].into_iter().chain(words).chain(entry.memory.clone());
    shell::line(words)
}

const EVENTS: [&str; 4] = ["SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"];

fn known_hooks(document: &Value) -> Vec<Want> {
    EVENTS
        .iter()
        .flat_map(|event| known_elements(document, &["hooks", event], is_own_group))
        .collect()
}

/// Says whether every command of a group is a hook of ours.
fn is_own_group(group: &Value) -> bool {
    let hooks = group["hooks"].as_array();
    hooks.is_some_and(|hooks| !hooks.is_empty() && hooks.iter().all(is_own_hook))
}

fn is_own_hook(hook: &Value) -> bool {
    let words = shell::words(hook["command"].as_str().unwrap_or_default());
    words.first().is_some_and(|it| is_own_program(it))
        && words.get(1).is_some_and(|it| it == "hook")
}

fn known_server(document: &Value) -> Vec<Want> {
    known_member(document, &["mcpServers"], "anemone", is_own_server).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hook_of_the_plugin_is_written_and_known_again() {
        let entry = Entry {
            program: "/opt/my tools/anemone".to_owned(),
            memory: vec!["-w".to_owned(), "/home/ada/it's".to_owned()],
            allow_write: true,
        };
        let wants = hooks(&entry).unwrap();
        let mut events = Vec::new();
        let mut document = serde_json::json!({});
        for want in wants {
            let Want::Element { path, value } = want else { panic!("a group is an element") };
            let command = value["hooks"][0]["command"].as_str().unwrap().to_owned();
            assert!(command.starts_with("'/opt/my tools/anemone' hook "), "{command}");
            assert!(command.ends_with(r"-w '/home/ada/it'\''s'"), "{command}");
            document["hooks"][&path[1]] = vec![value].into();
            events.push(path[1].clone());
        }
        events.sort();
        let mut all = EVENTS.map(str::to_owned);
        all.sort();
        assert_eq!(events, all);
        assert_eq!(known_hooks(&document).len(), 4);
    }
}
