//! OpenClaw: a plugin that is loaded from our folder, a skill, and the entries for the plugin in
//! `openclaw.json`.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::RUNTIME;
use crate::kit::connect::desired::{is_own_program, known_elements, known_member, names};
use crate::kit::connect::{
    ConfigEdit, ConfigFormat, Connect, ConnectOption, ConnectPlace, ConnectedMemory, Connection,
    DesiredConfig, DesiredFile, Hooks, OwnFile, ProgramNote, at,
};

const MANIFEST: &str =
    include_str!("../../../../integrations/openclaw/plugin/openclaw.plugin.json");
const PACKAGE: &str = include_str!("../../../../integrations/openclaw/plugin/package.json");
const PLUGIN: &str = include_str!("../../../../integrations/openclaw/plugin/index.ts");
const SKILL: &str = include_str!("../../../../integrations/openclaw/skill/SKILL.md");

/// The plugin's own schema accepts no more.
const MOST_SOURCES: usize = 16;

/// How OpenClaw is connected.
pub(crate) const CONNECT: Connect = Connect {
    name: RUNTIME,
    title: "OpenClaw",
    config: "~/.openclaw/openclaw.json, or where OPENCLAW_CONFIG_PATH and OPENCLAW_STATE_DIR say",
    options: &[ConnectOption::Source, ConnectOption::Hooks],
    memory: ConnectedMemory::Sources { most: MOST_SOURCES, of: sources_of },
    locate: |place| PluginFiles::of(place).bare(),
    desire: |place, connection| Ok(PluginFiles::of(place).desired(connection)),
    writes,
    shows_tools_to: |_, _| true,
    add_http_server: None,
};

/// The paths of OpenClaw and its parts.
struct PluginFiles {
    config: PathBuf,
    state: PathBuf,
    /// The folder of our plugin.
    plugin: PathBuf,
}

impl PluginFiles {
    fn of(place: &ConnectPlace<'_>) -> Self {
        let profile = place.machine.variable("OPENCLAW_PROFILE").and_then(|name| name.to_str());
        let profile = profile.filter(|name| !name.is_empty() && !name.contains(['/', '\\']));
        let folder = match profile {
            Some(profile) if profile != "default" => format!(".openclaw-{profile}"),
            _ => ".openclaw".to_owned(),
        };
        let home = place.absolute("OPENCLAW_HOME").unwrap_or_else(|| place.machine.home.clone());
        let state = place.absolute("OPENCLAW_STATE_DIR").unwrap_or_else(|| home.join(folder));
        let config =
            place.absolute("OPENCLAW_CONFIG_PATH").unwrap_or_else(|| state.join("openclaw.json"));
        Self { config, state, plugin: place.data.join("integrations/openclaw") }
    }

    fn bare(&self) -> DesiredConfig {
        let plugin = |name: &str, text| OwnFile { path: self.plugin.join(name), text };
        let next =
            "restart the gateway of OpenClaw; `openclaw plugins inspect anemone` shows the plugin";
        let file = DesiredFile::bare(self.config.clone(), ConfigFormat::Json, known);
        DesiredConfig {
            own: vec![
                plugin("openclaw.plugin.json", MANIFEST),
                plugin("package.json", PACKAGE),
                plugin("index.ts", PLUGIN),
                OwnFile { path: self.state.join("skills/anemone/SKILL.md"), text: SKILL },
            ],
            ..DesiredConfig::bare(vec![file], next)
        }
    }

    fn desired(&self, connection: &Connection<'_>) -> DesiredConfig {
        let mut desired = self.bare();
        let (program, sources) = (&connection.entry.program, &connection.entry.memory);
        let mut config = json!({ "program": program, "sources": sources });
        if connection.hooks == Hooks::Write {
            config["notes"] = true.into();
            desired.notes.extend(notes_about_notes(connection.document));
        }
        let wants = &mut desired.files[0].wants;
        wants.push(ConfigEdit::Element {
            path: names(&["plugins", "load", "paths"]),
            value: self.plugin.to_string_lossy().into(),
        });
        wants.push(ConfigEdit::Member {
            path: names(&["plugins", "entries"]),
            key: "anemone".to_owned(),
            value: json!({
                "enabled": true,
                "config": config,
            }),
        });
        // Where only listed plugins are loaded, ours must be in the list.
        let path = names(&["plugins", "allow"]);
        if at(connection.document, &path).is_some_and(Value::is_array) {
            wants.push(ConfigEdit::Element { path, value: "anemone".into() });
        }
        if is_shut_out(connection.document) {
            let note =
                "OpenClaw will not load the plugin: this configuration denies it, or loads none";
            desired.notes.push(ProgramNote::Text(note.to_owned()));
        }
        desired.notes.push(ProgramNote::Text(format!(
            "OpenClaw will warn that it cannot verify where this plugin comes from: it is loaded \
             from {}, and not from OpenClaw's registry",
            self.plugin.display()
        )));
        desired
    }
}

/// Says whether an entry lets the plugin write notes of sessions.
fn writes(edit: &ConfigEdit) -> bool {
    matches!(edit, ConfigEdit::Member { key, value, .. }
        if key == "anemone" && value["config"]["notes"] == true)
}

/// Says what the plugin will write, and who else writes notes.
fn notes_about_notes(document: &Value) -> Vec<ProgramNote> {
    let mut notes = vec![ProgramNote::Text(
        "every conversation may add a note of itself to the memory of its agent, when it ends or \
         is reset and before it is compacted; `anemone status` shows what was written today"
            .to_owned(),
    )];
    let own = &document["hooks"]["internal"]["entries"]["session-memory"];
    if own["enabled"] == true {
        notes.push(ProgramNote::Text(
            "OpenClaw's own hook `session-memory` is on and writes a note too, under another \
             name: `openclaw hooks disable session-memory` leaves it to Anemone"
                .to_owned(),
        ));
    }
    notes
}

/// Returns whether a configuration keeps our plugin from being loaded.
fn is_shut_out(document: &Value) -> bool {
    let plugins = &document["plugins"];
    let denied =
        plugins["deny"].as_array().is_some_and(|names| names.iter().any(|name| name == "anemone"));
    denied || plugins["enabled"] == false
}

/// Returns the sources that the plugin's entry names.
fn sources_of(edit: &ConfigEdit) -> Option<Vec<String>> {
    match edit {
        ConfigEdit::Member { key, value, .. } if key == "anemone" => {
            let sources = value["config"]["sources"].as_array()?;
            Some(sources.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        }
        _ => None,
    }
}

fn known(document: &Value) -> Vec<ConfigEdit> {
    let is_own_path = |path: &Value| {
        path.as_str().is_some_and(|path| Path::new(path).ends_with("anemone/integrations/openclaw"))
    };
    let is_own_entry =
        |entry: &Value| entry["config"]["program"].as_str().is_some_and(is_own_program);
    let mut wants = known_elements(document, &["plugins", "load", "paths"], is_own_path);
    let entry = known_member(document, &["plugins", "entries"], "anemone", is_own_entry);
    if entry.is_some() {
        // A name in the list is ours only together with the entry.
        wants.extend(known_elements(document, &["plugins", "allow"], |name| name == "anemone"));
    }
    wants.extend(entry);
    wants
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::connect::ServerEntry;

    #[test]
    fn the_manifests_are_json_and_of_this_version() {
        let manifest: Value = serde_json::from_str(MANIFEST).unwrap();
        let package: Value = serde_json::from_str(PACKAGE).unwrap();
        assert_eq!(manifest["id"], "anemone");
        assert_eq!(manifest["configSchema"]["type"], "object");
        assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(package["openclaw"]["extensions"], json!(["./index.ts"]));
        assert!(PLUGIN.contains("id: \"anemone\""));
        assert!(SKILL.contains(&format!("\nversion: {}\n", env!("CARGO_PKG_VERSION"))));
    }

    #[test]
    fn what_is_written_fits_the_schema_of_the_plugin() {
        let manifest: Value = serde_json::from_str(MANIFEST).unwrap();
        let properties = manifest["configSchema"]["properties"].as_object().unwrap();
        let files = PluginFiles {
            config: "/h/.openclaw/openclaw.json".into(),
            state: "/h/.openclaw".into(),
            plugin: "/h/anemone/integrations/openclaw".into(),
        };
        let entry = ServerEntry {
            program: "anemone".to_owned(),
            memory: vec!["/a.alf".to_owned()],
            allow_write: false,
        };
        let connection = Connection {
            entry: &entry,
            hooks: Hooks::Write,
            agent: None,
            owner: None,
            document: &Value::Null,
        };
        let desired = files.desired(&connection);
        let ConfigEdit::Member { value, .. } = &desired.files[0].wants[1] else {
            panic!("an entry")
        };
        assert_eq!(value["config"]["notes"], true);
        assert!(writes(&desired.files[0].wants[1]) && !writes(&desired.files[0].wants[0]));
        assert_eq!(sources_of(&desired.files[0].wants[1]).unwrap(), entry.memory);
        assert_eq!(properties["sources"]["maxItems"], MOST_SOURCES);
        for key in value["config"].as_object().unwrap().keys() {
            assert!(properties.contains_key(key), "{key}");
        }
    }
}
