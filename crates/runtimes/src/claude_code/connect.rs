//! Claude Code: hooks in its settings, the MCP server in `.claude.json`; for the whole machine, or
//! for one project.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::kit::connect::desired::{
    is_own_program, is_own_server, known_elements, known_member, names,
};
use crate::kit::connect::{
    ConfigEdit, ConfigFormat, Connect, ConnectOption, ConnectPlace, ConnectedMemory, Connection,
    DesiredConfig, DesiredFile, Hooks, ProgramNote, RefuseError, ServerEntry, json_file, line,
    words,
};

const READING: &str = include_str!("../../../../integrations/claude-code/hooks/hooks.json");
const WRITING: &str = include_str!("../../../../integrations/claude-code/writing-hooks.json");
const SERVERS: &str = include_str!("../../../../integrations/claude-code/.mcp.json");

/// How Claude Code is connected.
pub(crate) const CONNECT: Connect = Connect {
    name: "claude-code",
    title: "Claude Code",
    config: "~/.claude/settings.json and ~/.claude.json, or below CLAUDE_CONFIG_DIR",
    options: &[ConnectOption::Hooks, ConnectOption::Project],
    memory: ConnectedMemory::Agent,
    locate: |place| Scope::of(place).located(place),
    desire: |place, connection| Scope::of(place).desired(place, connection),
    writes,
    shows_tools_to: |_, _| true,
    add_http_server: Some(add_http_server),
};

/// Returns the command that adds a server over HTTP.
fn add_http_server(url: &str, token_file: &str) -> String {
    format!(
        "claude mcp add --transport http memory {url} --header \"Authorization: Bearer $(cat \
         {token_file})\""
    )
}

/// The Claude Code sessions that are connected.
#[derive(Clone, Copy)]
enum Scope<'a> {
    /// All sessions of this user.
    User,
    /// The sessions in one folder, named as configuration files name it.
    Project(&'a str),
}

impl<'a> Scope<'a> {
    fn of(place: &ConnectPlace<'a>) -> Self {
        place.project.map_or(Self::User, Self::Project)
    }

    /// Returns the object in `.claude.json` that holds the servers.
    fn servers(self) -> Vec<String> {
        match self {
            Self::User => names(&["mcpServers"]),
            Self::Project(folder) => names(&["projects", folder, "mcpServers"]),
        }
    }

    /// Returns the file with the hooks. For a project this is the user's local file, which is not
    /// shared with others who work on the project. `set` is the folder that the user set instead of
    /// `~/.claude`.
    fn settings(self, home: &Path, set: Option<&Path>) -> PathBuf {
        match (self, set) {
            (Self::Project(folder), _) => Path::new(folder).join(".claude/settings.local.json"),
            (Self::User, Some(folder)) => folder.join("settings.json"),
            (Self::User, None) => home.join(".claude/settings.json"),
        }
    }

    /// Returns the files that may contain entries of ours: the one with hooks, and the one with
    /// servers.
    fn located(self, place: &ConnectPlace<'_>) -> DesiredConfig {
        let home = place.machine.home.as_path();
        let set = place.resolved("CLAUDE_CONFIG_DIR");
        let server_path = self.servers();
        let settings = self.settings(home, set.as_deref());
        let servers = set.as_deref().unwrap_or(home).join(".claude.json");
        let known = move |document: &Value| known_server(document, &server_path);
        let files = vec![
            DesiredFile::bare(settings, ConfigFormat::Json, known_hooks),
            DesiredFile::bare(servers, ConfigFormat::Json, known),
        ];
        let next = "start a new session of Claude Code; /hooks and /mcp show what was added";
        DesiredConfig::bare(files, next)
    }

    fn desired(
        self,
        place: &ConnectPlace<'_>,
        connection: &Connection<'_>,
    ) -> Result<DesiredConfig, RefuseError> {
        let (entry, hooks) = (connection.entry, connection.hooks);
        let groups = groups(entry, hooks)?;
        let servers = json_file::parse(SERVERS)?;
        let mut desired = self.located(place);
        let has_folder = desired.files[0].path.parent().is_some_and(Path::is_dir);
        desired.notes = self.notes(hooks, &groups, has_folder);
        desired.files[0].wants = groups;
        desired.files[1].wants.push(ConfigEdit::Member {
            path: self.servers(),
            key: "anemone".to_owned(),
            value: entry.mcp(&servers["mcpServers"]["anemone"]),
        });
        Ok(desired)
    }

    fn notes(self, hooks: Hooks, groups: &[ConfigEdit], has_folder: bool) -> Vec<ProgramNote> {
        let mut notes = Vec::new();
        if matches!(self, Self::User) && !has_folder {
            let note = "creating settings.json: Claude Code has none yet";
            notes.push(ProgramNote::Text(note.to_owned()));
        }
        let sessions = match self {
            Self::User => "every session of Claude Code".to_owned(),
            Self::Project(folder) => format!("every session of Claude Code in {folder}"),
        };
        match hooks {
            Hooks::None => {}
            Hooks::Read => notes.push(ProgramNote::ReadingHooks(sessions)),
            Hooks::Write => notes.push(ProgramNote::Text(format!(
                "{sessions} is shown this memory, and may add a note of itself to it; `anemone \
                 status` shows what was written today"
            ))),
        }
        if let Self::Project(folder) = self
            && !groups.is_empty()
            && Path::new(folder).join(".git").exists()
        {
            let note = "keep .claude/settings.local.json out of git: it names your folders";
            notes.push(ProgramNote::Text(note.to_owned()));
        }
        notes
    }
}

/// Returns the hooks of the plugin, for this program and this memory.
fn groups(entry: &ServerEntry, hooks: Hooks) -> Result<Vec<ConfigEdit>, RefuseError> {
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
                wants.push(ConfigEdit::Element { path: names(&["hooks", event]), value: group });
            }
        }
    }
    Ok(wants)
}

/// Returns a command for a shell: `anemone hook prompt` of this program, about this memory.
fn of(entry: &ServerEntry, command: &str) -> String {
    let arguments = command.split(' ').skip(1).map(str::to_owned);
    line([entry.program.clone()].into_iter().chain(arguments).chain(entry.memory.clone()))
}

/// The events that call our hooks; the hooks of the second list write to the memory.
const READING_EVENTS: [&str; 2] = ["SessionStart", "UserPromptSubmit"];
const WRITING_EVENTS: [&str; 2] = ["PreCompact", "SessionEnd"];

/// Whether an entry is a hook that writes to the memory.
fn writes(edit: &ConfigEdit) -> bool {
    match edit {
        ConfigEdit::Element { path, .. } => {
            matches!(path.as_slice(), [first, event]
                if first == "hooks" && WRITING_EVENTS.contains(&event.as_str()))
        }
        _ => false,
    }
}

fn known_hooks(document: &Value) -> Vec<ConfigEdit> {
    let events = READING_EVENTS.iter().chain(&WRITING_EVENTS);
    events.flat_map(|event| known_elements(document, &["hooks", event], is_own_group)).collect()
}

/// Returns whether every command of a group is a hook of ours.
fn is_own_group(group: &Value) -> bool {
    let hooks = group["hooks"].as_array();
    hooks.is_some_and(|hooks| !hooks.is_empty() && hooks.iter().all(is_own_hook))
}

fn is_own_hook(hook: &Value) -> bool {
    let words = words(hook["command"].as_str().unwrap_or_default());
    words.first().is_some_and(|word| is_own_program(word))
        && words.get(1).is_some_and(|word| word == "hook")
}

fn known_server(document: &Value, path: &[String]) -> Vec<ConfigEdit> {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    known_member(document, &path, "anemone", is_own_server).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hook_of_the_plugin_is_written_and_known_again() {
        let entry = ServerEntry {
            program: "/opt/my tools/anemone".to_owned(),
            memory: vec!["-w".to_owned(), "/home/ada/it's".to_owned()],
            allow_write: true,
        };
        let wants = groups(&entry, Hooks::Write).unwrap();
        let mut events = Vec::new();
        let mut document = serde_json::json!({});
        for want in wants {
            let ConfigEdit::Element { path, value } = want else { panic!("a group is an element") };
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

    #[test]
    fn the_manifest_is_json_and_of_this_version() {
        let manifest =
            include_str!("../../../../integrations/claude-code/.claude-plugin/plugin.json");
        let manifest: Value = serde_json::from_str(manifest).unwrap();
        assert_eq!(manifest["name"], "anemone");
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    }
}
