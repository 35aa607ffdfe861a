//! Counts the files of an agent's workspace without reading them. `agents` and `status` both count
//! in this way; `export` and `inspect` count the files in the archive.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anemone_runtimes::{AGENT_ID_FILE, Adapter, SearchedFolder, Store, StoreKind};
use jiff::Timestamp;

/// Folders within folders, at most: nobody makes more.
const MAX_DEPTH: usize = 64;
/// Files and folders that are looked at, at most.
const MAX_ENTRIES: u64 = 200_000;

/// What a look at a workspace found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    pub files: u64,
    pub bytes: u64,
    /// When the newest file was written.
    pub newest: Option<Timestamp>,
    /// Files that were written, moved or replaced after the time that was given.
    pub changed: u64,
    /// Files and folders that could not be looked at.
    pub unreadable: u64,
    /// Whether there is more than was looked at.
    pub is_partial: bool,
}

/// What is looked at, and how.
pub struct WorkspaceScan<'a> {
    pub adapter: &'a dyn Adapter,
    pub workspace: &'a Path,
    /// What holds memories and lies elsewhere, such as a database.
    pub stores: &'a [Store],
    /// What happened after this is counted.
    pub since: Option<Timestamp>,
    /// Files that do not count.
    pub except: Option<&'a Path>,
}

impl WorkspaceScan<'_> {
    /// Looks at all of it. Links are not followed; what tools and machines keep for themselves
    /// does not count, and neither does the note of the agent's id.
    pub fn run(&self) -> Survey {
        let mut survey = Survey::default();
        let mut seen = 0_u64;
        let mut folders = vec![(self.workspace.to_owned(), String::new(), 0)];
        while let Some((folder, path, depth)) = folders.pop() {
            let entries = match fs_err::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    survey.unreadable += u64::from(error.kind() != std::io::ErrorKind::NotFound);
                    continue;
                }
            };
            for entry in entries {
                seen += 1;
                if seen > MAX_ENTRIES {
                    survey.is_partial = true;
                    return survey;
                }
                let looked = entry.and_then(|it| Ok((it.metadata()?, it)));
                let Ok((there, entry)) = looked else {
                    survey.unreadable += 1;
                    continue;
                };
                let name = entry.file_name();
                let below = match path.is_empty() {
                    true => name.to_string_lossy().into_owned(),
                    false => format!("{path}/{}", name.to_string_lossy()),
                };
                if there.is_dir() {
                    match self.adapter.searched_folder(&below) {
                        SearchedFolder::OfTool | SearchedFolder::MachineState => {}
                        _ if depth >= MAX_DEPTH => survey.is_partial = true,
                        _ => folders.push((entry.path(), below, depth + 1)),
                    }
                } else if there.is_file() && name != AGENT_ID_FILE {
                    self.count(&entry.path(), &there, &mut survey);
                }
            }
        }
        self.count_stores(&mut survey);
        survey
    }

    /// Looks at the times of stores outside the workspace. Their files are not counted: several
    /// agents may share one.
    fn count_stores(&self, survey: &mut Survey) {
        let kept = self.stores.iter().filter(|it| it.kind != StoreKind::Sessions);
        for file in kept.flat_map(|it| &it.files) {
            if file.starts_with(self.workspace) {
                continue;
            }
            match fs_err::symlink_metadata(file) {
                Ok(there) if there.is_file() => self.note_time(&there, survey),
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(_) => survey.unreadable += 1,
            }
        }
    }

    fn count(&self, path: &Path, there: &std::fs::Metadata, survey: &mut Survey) {
        if self.except.is_some_and(|it| it == path) {
            return;
        }
        survey.files += 1;
        survey.bytes = survey.bytes.saturating_add(there.len());
        self.note_time(there, survey);
    }

    fn note_time(&self, there: &std::fs::Metadata, survey: &mut Survey) {
        let written = time(there.mtime(), there.mtime_nsec());
        survey.newest = survey.newest.max(written);
        // What is put back with an old date, or moved here, is a change as well.
        let changed = written.max(time(there.ctime(), there.ctime_nsec()));
        survey.changed += u64::from(self.since.is_some() && changed > self.since);
    }
}

/// Returns a time of a file system; `None` for one that no calendar has.
fn time(seconds: i64, nanoseconds: i64) -> Option<Timestamp> {
    Timestamp::new(seconds, i32::try_from(nanoseconds).ok()?).ok()
}

/// Returns a path from the root, with links followed as far as that can be done.
pub fn real(path: &Path) -> PathBuf {
    fs_err::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use anemone_runtimes::by_name;

    use super::*;

    fn look(workspace: &Path, since: Option<Timestamp>, except: Option<&Path>) -> Survey {
        let adapter = by_name("openclaw").unwrap();
        WorkspaceScan { adapter, workspace, stores: &[], since, except }.run()
    }

    #[test]
    fn files_are_counted_and_what_machines_keep_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["MEMORY.md", "memory/a.md", "skills/b/c.md", ".git/HEAD", ".alf-agent-id"] {
            fs_err::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs_err::write(root.join(name), "12345").unwrap();
        }
        fs_err::os::unix::fs::symlink("/", root.join("all")).unwrap();
        let survey = look(root, None, None);
        assert_eq!((survey.files, survey.bytes, survey.changed), (3, 15, 0));
        assert_eq!((survey.unreadable, survey.is_partial), (0, false));
        let except = root.join("MEMORY.md");
        assert_eq!(look(root, None, Some(&except)).files, 2);
    }

    #[test]
    fn what_comes_with_an_old_date_is_a_change_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("MEMORY.md");
        fs_err::write(&path, "old").unwrap();
        let file = fs_err::File::options().write(true).open(&path).unwrap();
        let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(86400);
        file.file().set_modified(long_ago).unwrap();
        let yesterday: Timestamp = "2000-01-01T00:00:00Z".parse().unwrap();
        let survey = look(folder.path(), Some(yesterday), None);
        assert_eq!(survey.newest, Some("1970-01-02T00:00:00Z".parse().unwrap()));
        assert_eq!(survey.changed, 1);
        assert_eq!(look(folder.path(), Some(Timestamp::MAX), None).changed, 0);
    }

    #[test]
    fn a_workspace_that_is_not_there_has_nothing() {
        let survey = look(Path::new("/nowhere/at/all"), None, None);
        assert_eq!(survey, Survey::default());
    }
}
