//! Plans an installation, file by file, and applies it.
//!
//! A file of ours has a mark in a comment in one of its first two lines (in a zsh completion the
//! first line has another use). A file without the mark was written by another program, and is left
//! alone.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anemone::files::{Existing, FileError, OutputFile};
use clap_complete::Shell;

use super::place::{InstallPaths, Link};
use crate::commands::{completions, man};
use crate::output::Result;

/// The mark of our files.
const MARK: &str = "Written by `anemone install`, and taken out by `anemone install --remove`.";
/// Longer than the first two lines of our files; no more is read of any file.
const HEAD_BYTES: u64 = 4096;
/// The most pages of ours in one folder.
const MOST_PAGES: usize = 10_000;

pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
}

pub(super) struct Step {
    pub(super) path: PathBuf,
    pub(super) action: Action,
    thing: InstalledItem,
}

/// An installed item.
enum InstalledItem {
    File {
        kind: &'static str,
        /// Nothing, when it is to go.
        content: Vec<u8>,
    },
    Link(PathBuf),
}

const COMPLETION: &str = "completion";
const PAGE: &str = "man";
const LINK: &str = "link";

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Create,
    /// It is ours and differs, or may be replaced.
    Replace,
    Same,
    Remove,
    /// It is not ours, and stays.
    Keep,
    /// It is not ours, and in the way.
    Blocked,
}

impl Action {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Same => "same",
            Self::Remove => "remove",
            Self::Keep => "keep",
            Self::Blocked => "blocked",
        }
    }
}

impl Plan {
    /// Plans to write everything; pages of commands that are gone are taken out.
    pub(super) fn to_install(places: &InstallPaths, alf: bool, force: bool) -> Result<Self> {
        let mut steps = Vec::new();
        for (path, shell) in completions_at(places) {
            let content = marked(&completions::script(shell), "# ", shell == Shell::Zsh);
            steps.push(Step::writing(path, COMPLETION, content, force)?);
        }
        let pages = man::pages()?;
        for (name, page) in &pages {
            let content = marked(page, ".\\\" ", false);
            steps.push(Step::writing(&places.man.join(name), PAGE, content, force)?);
        }
        for (name, path) in pages_in(&places.man) {
            if !pages.contains_key(&name) && is_marked(&path)? {
                steps.push(Step::leaving(path, PAGE, Action::Remove));
            }
        }
        if alf {
            steps.push(Step::linking(&places.link));
        }
        Ok(Self { steps })
    }

    /// Plans the removal of our files.
    pub(super) fn to_remove(places: &InstallPaths) -> Result<Self> {
        let completions = completions_at(places).map(|(path, _)| (path.to_owned(), COMPLETION));
        let pages = pages_in(&places.man).into_iter().map(|(_, path)| (path, PAGE));
        let mut steps = Vec::new();
        for (path, kind) in completions.into_iter().chain(pages) {
            if fs_err::symlink_metadata(&path).is_err() {
                continue;
            }
            let action = if is_marked(&path)? { Action::Remove } else { Action::Keep };
            steps.push(Step::leaving(path, kind, action));
        }
        if places.link.is_ours() {
            let thing = InstalledItem::Link(places.link.target.clone());
            let path = places.link.path.clone();
            steps.push(Step { path, action: Action::Remove, thing });
        }
        Ok(Self { steps })
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.count(Action::Blocked) > 0
    }

    pub(super) fn count(&self, action: Action) -> u64 {
        self.steps.iter().filter(|step| step.action == action).count() as u64
    }

    /// Applies the plan. The first error stops it; another run continues from there.
    pub(super) fn apply(&self, places: &InstallPaths) -> Result<()> {
        for step in &self.steps {
            match step.action {
                Action::Create | Action::Replace => step.put()?,
                Action::Remove => {
                    fs_err::remove_file(&step.path)?;
                    remove_empty(&step.path, &places.bases);
                }
                Action::Same | Action::Keep | Action::Blocked => {}
            }
        }
        Ok(())
    }
}

impl Step {
    pub(super) const fn kind(&self) -> &'static str {
        match self.thing {
            InstalledItem::File { kind, .. } => kind,
            InstalledItem::Link(_) => LINK,
        }
    }

    fn writing(path: &Path, kind: &'static str, content: Vec<u8>, force: bool) -> Result<Self> {
        let action = match fs_err::symlink_metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Action::Create,
            Err(error) => return Err(error.into()),
            Ok(there) if there.is_file() && there.len() == content.len() as u64 => {
                match fs_err::read(path)? == content {
                    true => Action::Same,
                    false => replacing(is_marked(path)?, force),
                }
            }
            // Nothing takes the place of a folder, whatever --force says.
            Ok(there) if there.is_dir() => Action::Blocked,
            Ok(_) => replacing(is_marked(path)?, force),
        };
        Ok(Self { path: path.to_owned(), action, thing: InstalledItem::File { kind, content } })
    }

    const fn leaving(path: PathBuf, kind: &'static str, action: Action) -> Self {
        Self { path, action, thing: InstalledItem::File { kind, content: Vec::new() } }
    }

    fn linking(link: &Link) -> Self {
        let action = match fs_err::symlink_metadata(&link.path) {
            Err(_) => Action::Create,
            Ok(_) if link.is_ours() => Action::Same,
            // Another program of that name is not ours to replace, even with --force.
            Ok(_) => Action::Blocked,
        };
        Self { path: link.path.clone(), action, thing: InstalledItem::Link(link.target.clone()) }
    }

    fn put(&self) -> Result<()> {
        if let Some(folder) = self.path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        match &self.thing {
            InstalledItem::File { content, .. } => {
                let mut target = OutputFile::create(&self.path, Existing::Replace)?;
                target.write(None, |out| out.write_all(content).map_err(FileError::Io))?;
                // Everybody may read them: a package is for all users.
                #[cfg(unix)]
                target
                    .file()
                    .as_file()
                    .set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
                Ok(target.commit()?)
            }
            InstalledItem::Link(target) => link(target, &self.path),
        }
    }
}

const fn replacing(ours: bool, force: bool) -> Action {
    if ours || force { Action::Replace } else { Action::Blocked }
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> Result<()> {
    Ok(fs_err::os::unix::fs::symlink(target, path)?)
}

#[cfg(not(unix))]
fn link(_: &Path, path: &Path) -> Result<()> {
    use anemone_messages::UserError;
    let message = "links are not made on this system";
    let error = UserError::failure("no_links", message).about(path);
    Err(error.hint("copy the program to alf.exe; it goes by its name"))
}

fn completions_at(places: &InstallPaths) -> [(&Path, Shell); 3] {
    [(&places.bash, Shell::Bash), (&places.zsh, Shell::Zsh), (&places.fish, Shell::Fish)]
        .map(|(path, shell)| (path.as_path(), shell))
}

/// Puts our mark on the first line, or on the second where the first is taken.
fn marked(content: &[u8], comment: &str, first_is_taken: bool) -> Vec<u8> {
    let first = content
        .iter()
        .position(|content| *content == b'\n')
        .map_or(content.len(), |content| content + 1);
    let (before, after) = content.split_at(if first_is_taken { first } else { 0 });
    [before, comment.as_bytes(), MARK.as_bytes(), b"\n", after].concat()
}

/// Whether a file says that it is ours.
fn is_marked(path: &Path) -> Result<bool> {
    // Checked before it is opened: a link leads elsewhere, and a pipe waits for a writer.
    if !fs_err::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(false);
    }
    let mut head = Vec::new();
    fs_err::File::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
    let mut lines = head.split(|head| *head == b'\n').take(2);
    Ok(lines.any(|line| line.ends_with(MARK.as_bytes())))
}

/// Returns pages in a folder that are called as ours are, sorted by name.
fn pages_in(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs_err::read_dir(folder).into_iter().flatten().flatten();
    let mut pages: Vec<(String, PathBuf)> = entries
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
        .filter(|(name, _)| {
            name == "anemone.1" || (name.starts_with("anemone-") && name.ends_with(".1"))
        })
        .take(MOST_PAGES)
        .collect();
    pages.sort();
    pages
}

/// Deletes empty folders.
fn remove_empty(path: &Path, bases: &[PathBuf]) {
    let below =
        |folder: &&Path| bases.iter().any(|base| folder.starts_with(base) && *folder != base);
    for folder in path.ancestors().skip(1).take_while(below) {
        // A folder that is not empty stays, and so do its parents.
        if fs_err::remove_dir(folder).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_stands_where_the_first_line_allows() {
        let text = |content: Vec<u8>| String::from_utf8(content).unwrap();
        assert_eq!(text(marked(b"a\nb\n", "# ", false)), format!("# {MARK}\na\nb\n"));
        assert_eq!(
            text(marked(b"#compdef a\nb\n", "# ", true)),
            format!("#compdef a\n# {MARK}\nb\n")
        );
        assert_eq!(text(marked(b"", "# ", true)), format!("# {MARK}\n"));
    }
}
