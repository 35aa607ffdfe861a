//! Counts the files of an agent without reading them, for `agents`, `status` and what changed since
//! an export. The rule itself is [`FileCounter`], with which an export counts in its own walk.
//!
//! What counts is what an archive has something of: every regular file in the workspace, and files
//! beside it that the runtime's export takes from the install, such as a configuration (redacted)
//! and a database (its rows). What tools and machines keep for themselves, links, logs of databases
//! and the note of the agent's id do not count. Several agents may share a file beside their
//! workspaces: it counts for each, as each archive has something of it.

use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anemone_files::{FileKind, FileStat, Folder, WalkEntry, WalkStep, WalkVisitor, walk};
use anemone_runtimes::{
    FileCount, FileCounter, FoundAgent, Machine, Runtime, SearchedFile, Store, StoreKind, timestamp,
};
use jiff::Timestamp;

/// The result of a survey of a workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// How many files.
    pub files: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// When the newest file was written.
    pub newest: Option<Timestamp>,
    /// Files that were written, moved or replaced after the time that was given.
    pub changed: u64,
    /// Files and folders that could not be examined.
    pub unreadable: u64,
    /// Whether not everything was examined.
    pub is_partial: bool,
}

/// An agent whose files are counted.
pub struct AgentScan<'a> {
    runtime: &'a Runtime,
    /// Its workspace, with links followed.
    pub workspace: PathBuf,
    /// Stores of memories outside of the workspace, such as a database.
    stores: Vec<Store>,
    /// Files outside the workspace of which an archive has something.
    beside: Vec<PathBuf>,
}

impl<'a> AgentScan<'a> {
    /// Takes an agent; its configuration is read.
    #[must_use]
    pub fn new(runtime: &'a Runtime, machine: &Machine, agent: &FoundAgent) -> Self {
        Self::with_stores(runtime, agent, runtime.searchable(machine, agent).stores)
    }

    /// Takes an agent whose stores are known.
    #[must_use]
    pub fn with_stores(runtime: &'a Runtime, agent: &FoundAgent, stores: Vec<Store>) -> Self {
        let workspace = real(&agent.workspace);
        let mut beside: Vec<PathBuf> =
            runtime.files_beside(agent).iter().map(|file| real(file)).collect();
        beside.retain(|file| !file.starts_with(&workspace));
        Self { runtime, workspace, stores, beside }
    }

    /// Counts the files beside the workspace.
    #[must_use]
    pub fn files_beside(&self) -> u64 {
        let is_file = |file: &&PathBuf| FileStat::of_path(file).is_ok_and(|stat| stat.is_file());
        self.beside.iter().filter(is_file).count() as u64
    }

    /// Counts everything.
    #[must_use]
    pub fn run(&self) -> Survey {
        self.run_since(None, None, None)
    }

    /// Counts everything but one file, and what changed after a time. Links are not followed; what
    /// tools and machines keep for themselves does not count, and neither does the note of the
    /// agent's id. Files of the memory, by their paths, are added to `memories`.
    pub fn run_since(
        &self,
        since: Option<Timestamp>,
        except: Option<&Path>,
        memories: Option<&mut Vec<(String, FileStat)>>,
    ) -> Survey {
        let kind_of = |folder: &str| self.runtime.searched_folder(folder);
        let counter = FileCounter::new(&kind_of);
        let mut count =
            SurveyWalk { scan: self, counter, since, except, memories, changed: 0, unreadable: 0 };
        match Folder::open(&self.workspace) {
            Ok(folder) => walk(&folder, &mut count),
            Err(error) => drop(count.unreadable(b"", error)),
        }
        let SurveyWalk { counter, changed, unreadable, .. } = count;
        self.complete(since, counter.count(), Survey { changed, unreadable, ..Survey::default() })
    }

    /// Returns what another walk through the workspace counted, with the files beside it.
    #[must_use]
    pub fn of_walk(&self, count: FileCount) -> Survey {
        self.complete(None, count, Survey::default())
    }

    /// Adds what was counted in the workspace and the files beside it, and looks at the times of
    /// stores outside of it. Other files of a store, such as the log of a database, do not count.
    fn complete(&self, since: Option<Timestamp>, count: FileCount, mut survey: Survey) -> Survey {
        (survey.files, survey.bytes, survey.newest) = (count.files, count.bytes, count.newest);
        survey.is_partial = count.is_partial || count.is_too_deep;
        if count.is_partial {
            return survey;
        }
        let kept = self.stores.iter().filter(|store| store.kind != StoreKind::Sessions);
        let mut files: Vec<&PathBuf> = kept.flat_map(|store| &store.files).collect();
        files.extend(&self.beside);
        files.sort_unstable();
        files.dedup();
        for file in files.into_iter().filter(|file| !file.starts_with(&self.workspace)) {
            match FileStat::of_path(file) {
                Ok(stat) if stat.is_file() => {
                    if self.beside.contains(file) {
                        survey.files += 1;
                        survey.bytes = survey.bytes.saturating_add(stat.size);
                    }
                    survey.newest = survey.newest.max(timestamp(stat.modified));
                    survey.changed += u64::from(is_since(since, &stat));
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) => survey.unreadable += 1,
            }
        }
        survey
    }
}

/// A scan that is under way.
struct SurveyWalk<'a> {
    scan: &'a AgentScan<'a>,
    counter: FileCounter<'a>,
    since: Option<Timestamp>,
    except: Option<&'a Path>,
    memories: Option<&'a mut Vec<(String, FileStat)>>,
    changed: u64,
    unreadable: u64,
}

impl WalkVisitor for SurveyWalk<'_> {
    fn visit(&mut self, visited: &WalkEntry<'_>) -> WalkStep {
        let Ok(stat) = visited.stat() else {
            self.unreadable += 1;
            return WalkStep::Pass;
        };
        if stat.is_file()
            && let Some(memories) = &mut self.memories
            && let Ok(path) = str::from_utf8(visited.path)
            && matches!(self.scan.runtime.searched_file(path), SearchedFile::Memory(_))
        {
            memories.push((path.to_owned(), stat));
        }
        let is_except = |except: &Path| {
            stat.is_file() && except == self.scan.workspace.join(OsStr::from_bytes(visited.path))
        };
        if self.except.is_some_and(is_except) {
            return WalkStep::Pass;
        }
        let counts = self.counter.see(visited.path, &stat);
        if self.counter.count().is_partial {
            return WalkStep::Stop;
        }
        match stat.kind {
            FileKind::Folder if counts => return WalkStep::Enter,
            FileKind::File if counts => self.changed += u64::from(is_since(self.since, &stat)),
            _ => {}
        }
        WalkStep::Pass
    }

    fn unreadable(&mut self, _: &[u8], error: io::Error) -> ControlFlow<()> {
        self.unreadable += u64::from(error.kind() != io::ErrorKind::NotFound);
        ControlFlow::Continue(())
    }
}

/// Whether a file was written, moved or replaced after a time: a file that is restored with an old
/// date, or moved here, counts as changed as well.
fn is_since(since: Option<Timestamp>, stat: &FileStat) -> bool {
    since.is_some() && timestamp(stat.modified).max(timestamp(stat.changed)) > since
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
        let runtime = by_name("openclaw").unwrap();
        let agent =
            FoundAgent::without_install("openclaw", "main".to_owned(), workspace.to_owned());
        AgentScan::with_stores(runtime, &agent, Vec::new()).run_since(since, except, None)
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
