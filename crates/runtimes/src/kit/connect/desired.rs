//! What a program needs to have a memory: entries in its files, and files of ours.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::document::{ConfigEdit, ConfigFormat, at};

/// Everything that connects one program.
pub struct DesiredConfig {
    /// The program's own files.
    pub files: Vec<DesiredFile>,
    /// Files that only we write.
    pub own: Vec<OwnFile>,
    /// Remarks for the user.
    pub notes: Vec<ProgramNote>,
    /// What the user does next.
    pub next: &'static str,
}

impl DesiredConfig {
    /// Returns files of a program without entries, and what the user does next.
    pub(crate) fn bare(files: Vec<DesiredFile>, next: &'static str) -> Self {
        Self { files, own: Vec::new(), notes: Vec::new(), next }
    }
}

/// A remark for the user. If the wording depends on how the program was called, the caller supplies
/// the words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramNote {
    /// Hooks show the memory to sessions and write nothing into it.
    ReadingHooks(String),
    /// Words that are the same for every caller.
    Text(String),
}

/// A file of the program, and the entries that should be in it.
pub struct DesiredFile {
    /// Where it is.
    pub path: PathBuf,
    /// How it is written.
    pub format: ConfigFormat,
    /// The entries.
    pub wants: Vec<ConfigEdit>,
    /// Finds entries that look like ours, also those that a user wrote.
    pub known: Finder,
    /// Finds entries that refer to something of ours that no longer exists.
    pub orphans: fn(&Value) -> Vec<ConfigEdit>,
}

impl DesiredFile {
    /// Returns a file without entries.
    pub(crate) fn bare(
        path: PathBuf,
        format: ConfigFormat,
        known: impl Fn(&Value) -> Vec<ConfigEdit> + 'static,
    ) -> Self {
        let (known, orphans) = (Box::new(known), no_orphans as _);
        Self { path, format, wants: Vec::new(), known, orphans }
    }
}

/// Finds entries in a document.
pub type Finder = Box<dyn Fn(&Value) -> Vec<ConfigEdit>>;

/// For programs whose files have no orphans.
#[must_use]
pub const fn no_orphans(_: &Value) -> Vec<ConfigEdit> {
    Vec::new()
}

/// A file that only we write.
pub struct OwnFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it holds.
    pub text: &'static str,
}

/// The values of an entry: which program is started, with which memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerEntry {
    /// The program.
    pub program: String,
    /// The arguments that name the memory.
    pub memory: Vec<String>,
    /// Whether clients may remember and forget.
    pub allow_write: bool,
}

impl ServerEntry {
    /// Returns the arguments of the MCP server.
    #[must_use]
    pub fn mcp_args(&self, template: &Value) -> Value {
        let mut args = template["args"].as_array().cloned().unwrap_or_default();
        args.extend(self.memory.iter().map(|arg| Value::from(arg.as_str())));
        if self.allow_write {
            args.push("--allow-write".into());
        }
        args.into()
    }

    /// Returns the entry of the MCP server, made from the one for manual setup.
    #[must_use]
    pub fn mcp(&self, template: &Value) -> Value {
        let mut entry = template.clone();
        entry["args"] = self.mcp_args(template);
        entry["command"] = self.program.as_str().into();
        entry
    }
}

/// Returns whether an MCP entry starts us.
pub(crate) fn is_own_server(entry: &Value) -> bool {
    let command = entry["command"].as_str().is_some_and(is_own_program);
    command && entry["args"][0] == "mcp"
}

/// Returns whether a program is this one, by its name.
pub(crate) fn is_own_program(command: &str) -> bool {
    Path::new(command).file_stem().is_some_and(|name| name == "anemone")
}

/// Returns the member of a document, if it is ours.
pub(crate) fn known_member(
    document: &Value,
    path: &[&str],
    key: &str,
    is_own: fn(&Value) -> bool,
) -> Option<ConfigEdit> {
    let path = names(path);
    let value = at(document, &path)?.get(key).filter(|value| is_own(value))?.clone();
    Some(ConfigEdit::Member { path, key: key.to_owned(), value })
}

/// Returns the elements of an array in a document that are ours.
pub(crate) fn known_elements(
    document: &Value,
    path: &[&str],
    is_own: fn(&Value) -> bool,
) -> Vec<ConfigEdit> {
    let path = names(path);
    let elements = at(document, &path).and_then(Value::as_array).cloned().unwrap_or_default();
    let own = elements.into_iter().filter(is_own);
    own.map(|value| ConfigEdit::Element { path: path.clone(), value }).collect()
}

/// Returns keys as a path.
pub(crate) fn names(path: &[&str]) -> Vec<String> {
    path.iter().map(|key| (*key).to_owned()).collect()
}
