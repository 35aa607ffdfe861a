//! Folders of installs: their real paths, and the agents that live in them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anemone_format::Moment;

use crate::kit::{FoundAgent, Oddity, OddityKind, times, with_suffix, without_dots};

/// Checks whether the workspace exists, and whether its path leads elsewhere.
pub(crate) fn settle(agent: &mut FoundAgent) {
    let shown = agent.workspace.display().to_string();
    let (kind, message) = match fs_err::symlink_metadata(&agent.workspace) {
        Ok(there) if there.is_dir() => return,
        Ok(there) if there.is_symlink() => match fs_err::canonicalize(&agent.workspace) {
            Ok(target) if target.is_dir() => {
                let message = format!("{shown} is a link to {}", target.display());
                agent.workspace = target;
                (OddityKind::WorkspaceIsALink, message)
            }
            _ => {
                (OddityKind::WorkspaceMissing, format!("{shown} is a link that leads to no folder"))
            }
        },
        Ok(_) => (OddityKind::WorkspaceMissing, format!("{shown} is not a folder")),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            (OddityKind::WorkspaceMissing, format!("{shown} may not be looked at"))
        }
        Err(_) => (OddityKind::WorkspaceMissing, format!("there is no folder {shown}")),
    };
    agent.oddities.push(Oddity { kind, message });
}

/// Keeps the first of several agents in one workspace, and notes that the others share it.
pub(crate) fn each_workspace_once(agents: Vec<FoundAgent>) -> Vec<FoundAgent> {
    let mut result: Vec<FoundAgent> = Vec::new();
    let mut places = BTreeMap::new();
    for agent in agents {
        let position = *places.entry(real(&agent.workspace)).or_insert(result.len());
        let Some(first) = result.get_mut(position) else {
            result.push(agent);
            continue;
        };
        let of = agent.install.as_ref().map(|install| format!(" of {}", install.display()));
        let (alias, of) = (agent.alias, of.unwrap_or_default());
        let message = format!("the agent {alias}{of} has the same workspace and is not listed");
        first.oddities.push(Oddity { kind: OddityKind::WorkspaceShared, message });
    }
    result
}

/// Returns the names in a folder, sorted; none when it cannot be read.
pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs_err::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Whether two paths lead to one place.
pub(crate) fn same_place(one: &Path, other: &Path) -> bool {
    real(one) == real(other)
}

/// Returns the real path; a path that does not exist stays as it was written.
pub(crate) fn real(path: &Path) -> PathBuf {
    fs_err::canonicalize(path).unwrap_or_else(|_| absolute(path))
}

/// Makes a path absolute without asking the disk.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    without_dots(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// Makes a path from the user absolute: `~`, and what is relative to a folder.
pub(crate) fn resolve(home: &Path, folder: &Path, text: &str) -> PathBuf {
    let path = match text.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with(['/', '\\']) => home.join(&rest[1..]),
        _ => folder.join(text),
    };
    without_dots(&path)
}

/// Returns the path that a variable holds; `resolve` makes it absolute if it is text.
pub(crate) fn from_variable(value: &OsStr, resolve: impl Fn(&str) -> PathBuf) -> PathBuf {
    absolute(&value.to_str().map_or_else(|| value.into(), |text| resolve(text.trim())))
}

/// Returns the files that a database is made of; some may not exist.
pub(crate) fn with_logs(database: &Path) -> Vec<PathBuf> {
    ["", "-wal", "-journal"].map(|end| with_suffix(database, end)).to_vec()
}

/// When a database was last written; new data is in the file beside it first.
pub(crate) fn written_at(database: &Path) -> Option<Moment> {
    let files = [database.to_owned(), with_suffix(database, "-wal")];
    let written = files.iter().filter_map(|path| times::modified(&fs_err::metadata(path).ok()?));
    written.max_by_key(|at| at.instant())
}
