//! What an archive may add to the settings of an install that is in use.
//!
//! The settings are shared by all agents, and an archive may come from a stranger: an address
//! beside a live key would receive the key, a command would be run. So only settings about the
//! agent itself and its memories are added, and none of them that leads elsewhere.

use std::collections::BTreeSet;

use toml_edit::{Item, TableLike, Value};

use super::{Config, dotted};
use crate::kit::WordList;

/// Sections that run programs, open ports or say what may be done without asking.
const POWERS: WordList = WordList(include_str!("words/powers.txt"));
/// Last words of keys that lead elsewhere, or run something.
const ELSEWHERE: WordList = WordList(include_str!("words/elsewhere.txt"));
/// Last words of keys with the place of a file.
const PLACES: [&str; 6] = ["path", "paths", "dir", "dirs", "file", "folder"];

/// Names the sections of settings that have such powers.
pub(super) fn powers(table: &dyn TableLike) -> Vec<String> {
    let has = |(key, item): (&str, &Item)| {
        let is_empty = item.as_table_like().is_some_and(TableLike::is_empty);
        let is_off = item.get("enabled").and_then(Item::as_bool) == Some(false);
        (POWERS.contains(key) && !is_empty && !is_off).then(|| key.to_owned())
    };
    table.iter().filter_map(has).collect()
}

/// What may be added.
pub(super) struct AllowedSettings<'a> {
    alias: &'a str,
    schema: u32,
    /// Tables with a secret in them.
    secret: BTreeSet<Vec<String>>,
}

impl<'a> AllowedSettings<'a> {
    /// Reads the existing settings.
    pub(super) fn of(live: &Config, alias: &'a str) -> Self {
        let mut secret = BTreeSet::new();
        for leaf in live.redacted().secrets {
            let mut path = leaf.path;
            path.pop();
            // A map of headers belongs to the table that contains it.
            secret.insert(path[..path.len().saturating_sub(1)].to_vec());
            secret.insert(path);
        }
        // These hold tables only.
        secret.retain(|path| {
            !matches!(&path[..], [] | [_]) || path == &["memory"] || path == &["identity"]
        });
        Self { alias, schema: live.schema_version(), secret }
    }

    /// Removes from an item what may not be added, and notes it; returns whether anything is left.
    pub(super) fn keep(
        &self,
        item: &mut Item,
        path: &mut Vec<String>,
        refused: &mut Vec<String>,
    ) -> bool {
        let is_fine = self.is_allowed(path)
            && match &*item {
                Item::Value(value) => is_harmless(value, path.last().map_or("", String::as_str)),
                Item::ArrayOfTables(tables) => tables.iter().all(is_harmless_table),
                Item::None | Item::Table(_) => true,
            };
        if !is_fine {
            refused.push(dotted(path));
            return false;
        }
        let Some(table) = item.as_table_mut() else { return true };
        let was_empty = table.is_empty();
        let keys: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
        for key in keys {
            path.push(key.clone());
            let stays = table.get_mut(&key).is_some_and(|item| self.keep(item, path, refused));
            path.pop();
            if !stays {
                table.remove(&key);
            }
        }
        was_empty || !table.is_empty()
    }

    fn is_allowed(&self, path: &[String]) -> bool {
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        let rest = match &keys[..] {
            ["schema_version"] | ["agents"] | ["identity"] | ["memory"] => return true,
            // The existing settings decide where rows go.
            [.., "memory", "backend"] => return false,
            ["agents", alias, rest @ ..] if *alias == self.alias && self.schema >= 3 => rest,
            ["identity" | "memory", rest @ ..] => rest,
            _ => return false,
        };
        let parent = &path[..path.len() - 1];
        // What an agent may access of the machine and of other agents.
        let is_reach =
            |key: &&str| *key == "workspace" || POWERS.contains(key) && *key != "channels";
        !rest.iter().any(is_reach)
            && !rest.iter().any(|key| leads_elsewhere(key))
            && !self.secret.contains(parent)
    }
}

fn leads_elsewhere(key: &str) -> bool {
    last_word(key, ELSEWHERE.iter())
}

fn last_word(key: &str, mut words: impl Iterator<Item = &'static str>) -> bool {
    let key = key.to_lowercase();
    let last = key.rsplit(['_', '-', '.']).next().unwrap_or(&key);
    words.any(|word| word == last || word.len() > 2 && key.ends_with(word))
}

fn is_harmless_table(table: &toml_edit::Table) -> bool {
    table.iter().all(|(key, item)| {
        !leads_elsewhere(key)
            && match item {
                Item::None => true,
                Item::Value(value) => is_harmless(value, key),
                Item::Table(table) => is_harmless_table(table),
                Item::ArrayOfTables(tables) => tables.iter().all(is_harmless_table),
            }
    })
}

/// Returns whether no text of a value is an address, or a path outside the workspace.
fn is_harmless(value: &Value, key: &str) -> bool {
    match value {
        Value::String(text) => {
            let text = text.value();
            let is_outside = text.starts_with(['/', '~', '\\']) || text.contains("..");
            !(text.contains("://") || last_word(key, PLACES.into_iter()) && is_outside)
        }
        Value::Array(array) => array.iter().all(|array| is_harmless(array, key)),
        Value::InlineTable(table) => {
            table.iter().all(|(key, value)| !leads_elsewhere(key) && is_harmless(value, key))
        }
        _ => true,
    }
}
