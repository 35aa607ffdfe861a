//! Cleans up what a killed import left beside a workspace.
//!
//! A staging folder is called `.<name>.anemone-<inode>-XXXXXX`, after its own inode. While it has
//! that inode it is a new tree under construction: everything in it is also in the old tree or in
//! the archive, and it is removed. After the two trees have exchanged names, the name is that of
//! the old tree, whose inode differs: what the workspace does not have is kept under the name that
//! the import would have given it.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anemone_files::{FileKind, FileStat, lock_folder, prune, remove_tree, rename_to_free};

use super::rename::keep_aside;
use super::site::{
    FIRST, OLD_ENDING, equal, open_above, open_file, read_link, resolve, staged_beside,
};
use crate::kit::Warning;

/// What a leftover folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leftover {
    /// A new tree that was being built.
    New,
    /// An old tree that is still complete.
    WholeOld,
    /// An old tree, or what remains of it.
    Old,
}

/// Removes half-built trees that killed imports left beside a workspace, and gives the files that
/// they replaced a visible name. What a running process uses is left alone. Returns warnings about
/// what was done with the user's files.
#[must_use]
pub fn recover_leftovers(workspace: &Path) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let Ok(workspace) = resolve(workspace) else { return warnings };
    for (path, leftover) in find(&workspace) {
        // A process that is still working holds the lock.
        let Some(_lock) = lock_folder(&path) else { continue };
        let is_there = fs_err::symlink_metadata(&workspace).is_ok();
        let done = match leftover {
            Leftover::New => remove_tree(&path).map(|()| None),
            Leftover::WholeOld if !is_there => put_back(&path, &workspace).map(Some),
            Leftover::WholeOld | Leftover::Old if is_there => keep_replaced(&path, &workspace),
            // Part of an old tree is not a workspace; planning an import tells the user what to do
            // about it.
            Leftover::WholeOld | Leftover::Old => Ok(None),
        };
        match done {
            Ok(warning) => warnings.extend(warning),
            Err(error) => warnings.push(Warning::about(
                "leftover",
                path.display(),
                format!("is left from an interrupted import: {error}"),
            )),
        }
    }
    warnings
}

/// Finds leftovers. Half-built trees come last: while one exists, the old tree can be recognized.
fn find(workspace: &Path) -> Vec<(PathBuf, Leftover)> {
    let folders = staged_beside(workspace).into_iter().filter_map(|(path, rest)| {
        let metadata = fs_err::symlink_metadata(&path).ok().filter(std::fs::Metadata::is_dir)?;
        let leftover = leftover_of(std::str::from_utf8(&rest).ok()?, metadata.ino())?;
        Some((path, leftover))
    });
    let mut found: Vec<(PathBuf, Leftover)> = folders.collect();
    found.sort_by_key(|(_, leftover)| *leftover == Leftover::New);
    found
}

/// Classifies a folder by the rest of its name and its inode; `None` for names of other programs.
fn leftover_of(rest: &str, inode: u64) -> Option<Leftover> {
    let is_random =
        |text: &str| text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if let Some(rest) = rest.strip_suffix(OLD_ENDING) {
        let random = rest.rsplit('-').next().unwrap_or(rest);
        return is_random(random).then_some(Leftover::WholeOld);
    }
    if let Some(random) = rest.strip_prefix(FIRST) {
        return is_random(random).then_some(Leftover::New);
    }
    match rest.split_once('-') {
        Some((number, random)) if is_random(random) => {
            let named: u64 = number.parse().ok()?;
            Some(if named == inode { Leftover::New } else { Leftover::Old })
        }
        // An earlier version gave both trees such names.
        None if is_random(rest) => Some(Leftover::Old),
        _ => None,
    }
}

/// Renames an old tree back after a run was killed between two renames.
fn put_back(old: &Path, workspace: &Path) -> io::Result<Warning> {
    rename_to_free(old, workspace)?;
    let message = "an interrupted import had moved this workspace away; it is back";
    Ok(Warning::about("leftover_restored", workspace.display(), message))
}

/// Keeps the files of an old tree that the workspace does not have.
fn keep_replaced(old: &Path, workspace: &Path) -> io::Result<Option<Warning>> {
    if prune(old, &mut |path, stat| is_in(workspace, old, path, stat))? {
        return Ok(None);
    }
    let kept = keep_aside(old, workspace)?;
    let message = "holds the files that an interrupted import replaced";
    Ok(Some(Warning::about("leftover_kept", kept.display(), message)))
}

/// Returns whether a workspace has a file or link of an old tree, with the same content.
fn is_in(workspace: &Path, old: &Path, path: &[u8], seen: &FileStat) -> bool {
    let there = open_above(workspace, path).and_then(|(folder, name)| folder.stat(name));
    let Ok(there) = there else { return false };
    if there.kind != seen.kind {
        return false;
    }
    match seen.kind {
        FileKind::File if there.is_same_file(seen) => true,
        FileKind::File => {
            let files = || Ok::<_, io::Error>((open_file(workspace, path)?, open_file(old, path)?));
            there.size == seen.size
                && files()
                    .and_then(|(mut one, mut other)| equal(&mut one, &mut other))
                    .unwrap_or(false)
        }
        FileKind::Symlink => {
            let links = (read_link(workspace, path), read_link(old, path));
            matches!(links, (Ok(one), Ok(other)) if one == other)
        }
        FileKind::Folder | FileKind::Special => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{file, plan_of, snapshot, tree_at};
    use super::super::{ABLE, Abilities, TestPoint, Unwatched, apply_with};
    use super::*;
    use crate::kit::plan::OnConflict;
    use anemone_format::LoadedSnapshot;

    /// A workspace with one file that an import replaces and one that stays.
    struct Case {
        folder: tempfile::TempDir,
    }

    impl Case {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let case = Self { folder };
            fs_err::create_dir_all(case.workspace().join("memory")).unwrap();
            fs_err::write(case.workspace().join("SOUL.md"), "mine").unwrap();
            fs_err::write(case.workspace().join("memory/a.md"), "kept").unwrap();
            case
        }

        fn workspace(&self) -> PathBuf {
            self.folder.path().join("w")
        }

        fn names(&self) -> Vec<String> {
            let entries = fs_err::read_dir(self.folder.path()).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<String> = names.collect();
            names.sort();
            names
        }

        /// Imports, and is killed at a point: the process loses what it holds, and nothing else is
        /// cleaned up.
        fn killed_at(&self, at: TestPoint, able: Abilities) {
            let mut snapshot = snapshot();
            snapshot.files.push(file("SOUL.md", "theirs"));
            snapshot.files.push(file("new.md", "new"));
            let source = LoadedSnapshot::new(&snapshot);
            let plan = plan_of(&self.workspace(), &source, OnConflict::Theirs).unwrap();
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let mut kill = |point: TestPoint| {
                    if point == at {
                        std::panic::resume_unwind(Box::new(()))
                    }
                    Ok(())
                };
                apply_with(&plan, &source, &Unwatched, able, &mut kill)
            }));
            assert!(result.is_err(), "it was not killed");
        }
    }

    #[test]
    fn what_was_replaced_gets_its_name_after_a_kill() {
        let case = Case::new();
        case.killed_at(TestPoint::Swapped, ABLE);
        assert_eq!(case.names().len(), 2);
        let warnings = recover_leftovers(&case.workspace());
        assert_eq!(case.names(), ["w", "w.replaced-1"]);
        assert_eq!(warnings[0].code, "leftover_kept");
        let kept = case.folder.path().join("w.replaced-1");
        assert_eq!(tree_at(&kept).keys().collect::<Vec<_>>(), ["SOUL.md"]);
        assert_eq!(fs_err::read(kept.join("SOUL.md")).unwrap(), b"mine");
        assert_eq!(fs_err::read(case.workspace().join("SOUL.md")).unwrap(), b"theirs");
    }

    #[test]
    fn a_half_built_tree_goes_and_the_workspace_stays() {
        for point in [TestPoint::Staged, TestPoint::Made, TestPoint::Synced, TestPoint::Checked] {
            let case = Case::new();
            let before = tree_at(&case.workspace());
            case.killed_at(point, ABLE);
            assert_eq!(case.names().len(), 2, "{point:?}");
            assert_eq!(recover_leftovers(&case.workspace()), []);
            assert_eq!(case.names(), ["w"], "{point:?}");
            assert_eq!(tree_at(&case.workspace()), before, "{point:?}");
        }
    }

    #[test]
    fn an_old_tree_that_made_room_is_put_back() {
        let case = Case::new();
        let before = tree_at(&case.workspace());
        let old = case.folder.path().join(".w.anemone-12345-abc123.old");
        fs_err::rename(case.workspace(), &old).unwrap();
        let warnings = recover_leftovers(&case.workspace());
        assert_eq!(warnings[0].code, "leftover_restored");
        assert_eq!(case.names(), ["w"]);
        assert_eq!(tree_at(&case.workspace()), before);
    }

    #[test]
    fn what_is_in_use_or_somebody_elses_stays() {
        let case = Case::new();
        let used = case.folder.path().join(".w.anemone-first-abc123");
        fs_err::create_dir(&used).unwrap();
        fs_err::create_dir(case.folder.path().join(".w.anemone-notes")).unwrap();
        fs_err::create_dir(case.folder.path().join(".www.anemone-first-abc123")).unwrap();
        let lock = lock_folder(&used).unwrap();
        let before = case.names();
        assert_eq!(recover_leftovers(&case.workspace()), []);
        assert_eq!(case.names(), before);
        drop(lock);
        assert_eq!(recover_leftovers(&case.workspace()), []);
        assert!(!used.exists());
        assert_eq!(case.names().len(), before.len() - 1);
    }
}
