//! OpenClaw: a plugin that is loaded from our folder, a skill, and the entries for the plugin in
//! `openclaw.json`.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::document::{Format, Want, at};
use super::record::Record;
use super::wish::{
    FileWish, OwnFile, Wish, is_own_program, known_elements, known_member, names, no_orphans,
};

const MANIFEST: &str =
    include_str!("../../../../integrations/openclaw/plugin/openclaw.plugin.json");
const PACKAGE: &str = include_str!("../../../../integrations/openclaw/plugin/package.json");
const PLUGIN: &str = include_str!("../../../../integrations/openclaw/plugin/index.ts");
const SKILL: &str = include_str!("../../../../integrations/openclaw/skill/SKILL.md");

/// The plugin's own schema takes no more.
pub(super) const MOST_SOURCES: usize = 16;

/// Where OpenClaw and its parts lie.
pub(super) struct Places {
    pub(super) config: PathBuf,
    pub(super) state: PathBuf,
    /// The folder of our plugin.
    pub(super) plugin: PathBuf,
}

pub(super) fn wish(
    places: &Places,
    document: Option<&Value>,
    entry: Option<(&str, &[String])>,
) -> Wish {
    let mut wants = Vec::new();
    let mut notes = Vec::new();
    if let Some((program, sources)) = entry {
        wants.push(Want::Element {
            path: names(&["plugins", "load", "paths"]),
            value: text(&places.plugin).into(),
        });
        wants.push(Want::Member {
            path: names(&["plugins", "entries"]),
            key: "anemone".to_owned(),
            value: json!({
                "enabled": true,
                "config": { "program": program, "sources": sources },
            }),
        });
        // Where only listed plugins are loaded, ours must be on the list.
        let allowed = document.and_then(|it| at(it, &names(&["plugins", "allow"])));
        if allowed.is_some_and(Value::is_array) {
            let path = names(&["plugins", "allow"]);
            wants.push(Want::Element { path, value: "anemone".into() });
        }
        if document.is_some_and(is_shut_out) {
            notes.push(
                "OpenClaw will not load the plugin: this configuration denies it, or loads none"
                    .to_owned(),
            );
        }
        notes.push(format!(
            "OpenClaw will warn that it cannot verify where this plugin comes from: it is loaded \
             from {}, and not from OpenClaw's registry",
            places.plugin.display()
        ));
    }
    let plugin = |name: &str, text| OwnFile { path: places.plugin.join(name), text };
    Wish {
        files: vec![FileWish {
            path: places.config.clone(),
            format: Format::Json,
            wants,
            known: Box::new(known),
            orphans: no_orphans,
        }],
        own: vec![
            plugin("openclaw.plugin.json", MANIFEST),
            plugin("package.json", PACKAGE),
            plugin("index.ts", PLUGIN),
            OwnFile { path: places.state.join("skills/anemone/SKILL.md"), text: SKILL },
        ],
        notes,
        next: "restart the gateway of OpenClaw; `openclaw plugins inspect anemone` shows the plugin",
    }
}

/// Says whether a configuration keeps our plugin from being loaded.
fn is_shut_out(document: &Value) -> bool {
    let plugins = &document["plugins"];
    let denied = plugins["deny"].as_array().is_some_and(|it| it.iter().any(|it| it == "anemone"));
    denied || plugins["enabled"] == false
}

/// Returns what an earlier connection searches.
pub(super) fn sources_of(record: &Record) -> Vec<String> {
    let mut wants = record.files.iter().flat_map(|it| it.changes.wants());
    let sources = wants.find_map(|want| match want {
        Want::Member { key, value, .. } if key == "anemone" => {
            value["config"]["sources"].as_array()
        }
        _ => None,
    });
    let texts = sources.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn known(document: &Value) -> Vec<Want> {
    let is_own_path = |it: &Value| {
        it.as_str().is_some_and(|it| Path::new(it).ends_with("anemone/integrations/openclaw"))
    };
    let is_own_entry = |it: &Value| it["config"]["program"].as_str().is_some_and(is_own_program);
    let mut wants = known_elements(document, &["plugins", "load", "paths"], is_own_path);
    let entry = known_member(document, &["plugins", "entries"], "anemone", is_own_entry);
    if entry.is_some() {
        // A name on the list is ours only together with the entry.
        wants.extend(known_elements(document, &["plugins", "allow"], |it| it == "anemone"));
    }
    wants.extend(entry);
    wants
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let claude =
            include_str!("../../../../integrations/claude-code/.claude-plugin/plugin.json");
        let claude: Value = serde_json::from_str(claude).unwrap();
        assert_eq!(claude["name"], "anemone");
        assert_eq!(claude["version"], env!("CARGO_PKG_VERSION"));
    }

    /// Returns the commands of the `sh` blocks of a page, without what a shell does with them.
    #[test]
    fn what_is_written_fits_the_schema_of_the_plugin() {
        let manifest: Value = serde_json::from_str(MANIFEST).unwrap();
        let properties = manifest["configSchema"]["properties"].as_object().unwrap();
        let places = Places {
            config: "/h/.openclaw/openclaw.json".into(),
            state: "/h/.openclaw".into(),
            plugin: "/h/anemone/integrations/openclaw".into(),
        };
        let wish = wish(&places, None, Some(("anemone", &["/a.alf".to_owned()])));
        let Want::Member { value, .. } = &wish.files[0].wants[1] else { panic!("an entry") };
        assert_eq!(properties["sources"]["maxItems"], MOST_SOURCES);
        for key in value["config"].as_object().unwrap().keys() {
            assert!(properties.contains_key(key), "{key}");
        }
    }
}
