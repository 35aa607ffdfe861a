//! What a program needs to have a memory: entries in its files, and files of ours.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::document::{Format, Want, at};

/// All that connects one program.
pub(super) struct Wish {
    pub(super) files: Vec<FileWish>,
    pub(super) own: Vec<OwnFile>,
    pub(super) notes: Vec<String>,
    /// What the user does next.
    pub(super) next: &'static str,
}

/// A file of the program, and what we want in it.
pub(super) struct FileWish {
    pub(super) path: PathBuf,
    pub(super) format: Format,
    pub(super) wants: Vec<Want>,
    /// Finds what looks like ours in a document, whoever put it there.
    pub(super) known: Finder,
    /// Finds what names something of ours that is not there any more.
    pub(super) orphans: fn(&Value) -> Vec<Want>,
}

/// Finds entries in a document.
pub(super) type Finder = Box<dyn Fn(&Value) -> Vec<Want>>;

/// Nothing names anything of ours.
pub(super) fn no_orphans(_: &Value) -> Vec<Want> {
    Vec::new()
}

/// A file that is ours alone.
pub(super) struct OwnFile {
    pub(super) path: PathBuf,
    pub(super) text: &'static str,
}

/// What is written into entries: which program is started, with which memory.
pub(super) struct Entry {
    pub(super) program: String,
    /// The arguments that name the memory.
    pub(super) memory: Vec<String>,
    pub(super) allow_write: bool,
}

impl Entry {
    /// Returns the arguments of the MCP server.
    pub(super) fn mcp_args(&self, template: &Value) -> Value {
        let mut args = template["args"].as_array().cloned().unwrap_or_default();
        args.extend(self.memory.iter().map(|it| Value::from(it.as_str())));
        if self.allow_write {
            args.push("--allow-write".into());
        }
        args.into()
    }

    /// Returns the entry of the MCP server, from the one for use by hand.
    pub(super) fn mcp(&self, template: &Value) -> Value {
        let mut entry = template.clone();
        entry["args"] = self.mcp_args(template);
        entry["command"] = self.program.as_str().into();
        entry
    }
}

/// Says whether an MCP entry starts us.
pub(super) fn is_own_server(entry: &Value) -> bool {
    let command = entry["command"].as_str().is_some_and(is_own_program);
    command && entry["args"][0] == "mcp"
}

/// Says whether a program is this one, by its name.
pub(super) fn is_own_program(command: &str) -> bool {
    Path::new(command).file_stem().is_some_and(|it| it == "anemone")
}

/// Returns the member of a document, if it is ours.
pub(super) fn known_member(
    document: &Value,
    path: &[&str],
    key: &str,
    is_own: fn(&Value) -> bool,
) -> Option<Want> {
    let path = names(path);
    let value = at(document, &path)?.get(key).filter(|it| is_own(it))?.clone();
    Some(Want::Member { path, key: key.to_owned(), value })
}

/// Returns the elements of an array in a document that are ours.
pub(super) fn known_elements(
    document: &Value,
    path: &[&str],
    is_own: fn(&Value) -> bool,
) -> Vec<Want> {
    let path = names(path);
    let elements = at(document, &path).and_then(Value::as_array).cloned().unwrap_or_default();
    let own = elements.into_iter().filter(is_own);
    own.map(|value| Want::Element { path: path.clone(), value }).collect()
}

pub(super) fn names(path: &[&str]) -> Vec<String> {
    path.iter().map(|it| (*it).to_owned()).collect()
}
