//! Claude Code: hooks in its settings, the MCP server in `.claude.json`; for the whole machine, or
//! for one project.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::document::{Format, RefuseError, Want};
use super::record::Record;
use super::wish::{Entry, FileWish, Wish, is_own_program, is_own_server, known_elements};
use super::wish::{known_member, names, no_orphans};
use super::{json_file, shell};

const READING: &str = include_str!("../../../../integrations/claude-code/hooks/hooks.json");
const WRITING: &str = include_str!("../../../../integrations/claude-code/writing-hooks.json");
const SERVERS: &str = include_str!("../../../../integrations/claude-code/.mcp.json");

/// Where Claude Code keeps its settings.
pub(super) struct Folders {
    pub(super) home: PathBuf,
    /// What the user set instead of `~/.claude`.
    pub(super) set: Option<PathBuf>,
}

/// Which hooks Claude Code gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hooks {
    /// No hooks, only the tools.
    None,
    /// Hooks that show the memory to a session, and write nothing.
    #[default]
    Read,
    /// Also hooks that write: a note when a session ends, and what a configured chat model lists
    /// before a conversation is compacted.
    Write,
}

/// The sessions of Claude Code that are meant.
#[derive(Clone, Copy)]
pub(super) enum Scope<'a> {
    /// All of this user.
    User,
    /// Those in one folder, named as it is in configuration files.
    Project(&'a str),
}

impl Scope<'_> {
    /// Returns the object in `.claude.json` that holds the servers.
    fn servers(self) -> Vec<String> {
        match self {
            Scope::User => names(&["mcpServers"]),
            Scope::Project(folder) => names(&["projects", folder, "mcpServers"]),
        }
    }

    /// Returns the file with the hooks. That of a project is the one for its user alone, which is
    /// not shared with others who work on it.
    fn settings(self, folders: &Folders) -> PathBuf {
        match (self, &folders.set) {
            (Scope::Project(folder), _) => Path::new(folder).join(".claude/settings.local.json"),
            (Scope::User, Some(folder)) => folder.join("settings.json"),
            (Scope::User, None) => folders.home.join(".claude/settings.json"),
        }
    }
}

/// The files in which we write; with no entry, those in which something of ours may be.
pub(super) fn wish(
    folders: &Folders,
    scope: Scope<'_>,
    entry: Option<&Entry>,
    hooks: Hooks,
) -> Result<Wish, RefuseError> {
    let settings = scope.settings(folders);
    let state = folders.set.as_deref().unwrap_or(&folders.home).join(".claude.json");
    let groups = match entry {
        Some(entry) => groups(entry, hooks)?,
        None => Vec::new(),
    };
    let servers = json_file::parse(SERVERS)?;
    let server = entry.map(|entry| Want::Member {
        path: scope.servers(),
        key: "anemone".to_owned(),
        value: entry.mcp(&servers["mcpServers"]["anemone"]),
    });
    let mut notes = Vec::new();
    if matches!(scope, Scope::User) && !settings.parent().is_some_and(Path::is_dir) {
        notes.push("creating settings.json: Claude Code has none yet".to_owned());
    }
    let sessions = match scope {
        Scope::User => "every session of Claude Code".to_owned(),
        Scope::Project(folder) => format!("every session of Claude Code in {folder}"),
    };
    match hooks {
        Hooks::None => {}
        Hooks::Read => notes.push(format!(
            "{sessions} is shown this memory, and writes nothing into it; --hooks none gives it \
             the tools alone, --hooks write also keeps notes of sessions"
        )),
        Hooks::Write => notes.push(format!(
            "{sessions} is shown this memory, and may add a note of itself to it; `anemone status` \
             shows what was written today"
        )),
    }
    if let Scope::Project(folder) = scope
        && !groups.is_empty()
        && Path::new(folder).join(".git").exists()
    {
        notes.push("keep .claude/settings.local.json out of git: it names your folders".to_owned());
    }
    let server_path = scope.servers();
    Ok(Wish {
        files: vec![
            FileWish {
                path: settings,
                format: Format::Json,
                wants: groups,
                known: Box::new(known_hooks),
                orphans: no_orphans,
            },
            FileWish {
                path: state,
                format: Format::Json,
                wants: server.into_iter().collect(),
                known: Box::new(move |document| known_server(document, &server_path)),
                orphans: no_orphans,
            },
        ],
        own: Vec::new(),
        notes,
        next: "start a new session of Claude Code; /hooks and /mcp show what was added",
    })
}

/// Returns the hooks of the plugin, with the program and the memory that are meant.
fn groups(entry: &Entry, hooks: Hooks) -> Result<Vec<Want>, RefuseError> {
    let files: &[&str] = match hooks {
        Hooks::None => &[],
        Hooks::Read => &[READING],
        Hooks::Write => &[READING, WRITING],
    };
    let mut wants = Vec::new();
    for file in files {
        let file = json_file::parse(file)?;
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
    }
    Ok(wants)
}

/// Returns a command for a shell: `anemone hook prompt` of this program, about this memory.
fn of(entry: &Entry, command: &str) -> String {
    let words = command.split(' ').skip(1).map(str::to_owned);
    let words = [entry.program.clone()].into_iter().chain(words).chain(entry.memory.clone());
    shell::line(words)
}

/// The moments at which we are called; those in the second list are for writing.
const READING_EVENTS: [&str; 2] = ["SessionStart", "UserPromptSubmit"];
const WRITING_EVENTS: [&str; 2] = ["PreCompact", "SessionEnd"];

/// Whether a connection has hooks that write into the memory.
pub(super) fn writes(record: &Record) -> bool {
    let is_writing = |want: &Want| match want {
        Want::Element { path, .. } => {
            matches!(path.as_slice(), [first, event]
                if first == "hooks" && WRITING_EVENTS.contains(&event.as_str()))
        }
        _ => false,
    };
    record.files.iter().flat_map(|it| it.changes.wants()).any(is_writing)
}

fn known_hooks(document: &Value) -> Vec<Want> {
    let events = READING_EVENTS.iter().chain(&WRITING_EVENTS);
    events.flat_map(|event| known_elements(document, &["hooks", event], is_own_group)).collect()
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

fn known_server(document: &Value, path: &[String]) -> Vec<Want> {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    known_member(document, &path, "anemone", is_own_server).into_iter().collect()
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
        let wants = groups(&entry, Hooks::Write).unwrap();
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
        assert_eq!(events, [READING_EVENTS, WRITING_EVENTS].concat());
        assert_eq!(known_hooks(&document).len(), 4);
        assert_eq!(groups(&entry, Hooks::Read).unwrap().len(), READING_EVENTS.len());
        assert_eq!(groups(&entry, Hooks::None).unwrap(), []);
    }
}
