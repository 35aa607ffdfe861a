//! Counts the files of an agent without reading them: the one way to count for `agents`, `status`
//! and what changed since an export.
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

use anemone_files::{FileKind, FileStat, FileTime, Folder, WalkEntry, WalkStep, WalkVisitor, walk};
use anemone_runtimes::{
    AGENT_ID_FILE, FoundAgent, MAX_COUNTED_DEPTH, MAX_COUNTED_ENTRIES, Machine, Runtime, Store,
    StoreKind,
};
use jiff::Timestamp;

/// What a look at a workspace found.
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
    /// Files and folders that could not be looked at.
    pub unreadable: u64,
    /// Whether there is more than was looked at.
    pub is_partial: bool,
}

/// An agent whose files are counted.
pub struct AgentScan<'a> {
    runtime: &'a Runtime,
    /// Its workspace, with links followed.
    pub workspace: PathBuf,
    /// What holds memories and lies elsewhere, such as a database.
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
        self.run_since(None, None)
    }

    /// Counts everything but one file, and what changed after a time. Links are not followed; what
    /// tools and machines keep for themselves does not count, and neither does the note of the
    /// agent's id.
    #[must_use]
    pub fn run_since(&self, since: Option<Timestamp>, except: Option<&Path>) -> Survey {
        let mut count = Count { scan: self, since, except, survey: Survey::default(), seen: 0 };
        match Folder::open(&self.workspace) {
            Ok(folder) => walk(&folder, &mut count),
            Err(error) => drop(count.unreadable(b"", error)),
        }
        if count.seen <= MAX_COUNTED_ENTRIES {
            count.stores();
        }
        count.survey
    }
}

/// A scan that is under way.
struct Count<'a> {
    scan: &'a AgentScan<'a>,
    since: Option<Timestamp>,
    except: Option<&'a Path>,
    survey: Survey,
    seen: u64,
}

impl Count<'_> {
    /// Counts the files beside the workspace, and looks at the times of stores outside of it. Other
    /// files of a store, such as the log of a database, are not counted.
    fn stores(&mut self) {
        let kept = self.scan.stores.iter().filter(|store| store.kind != StoreKind::Sessions);
        let mut files: Vec<&PathBuf> = kept.flat_map(|store| &store.files).collect();
        files.extend(&self.scan.beside);
        files.sort_unstable();
        files.dedup();
        for file in files {
            if file.starts_with(&self.scan.workspace) {
                continue;
            }
            match FileStat::of_path(file) {
                Ok(stat) if stat.is_file() => {
                    if self.scan.beside.contains(file) {
                        self.survey.files += 1;
                        self.survey.bytes = self.survey.bytes.saturating_add(stat.size);
                    }
                    self.note_time(&stat);
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) => self.survey.unreadable += 1,
            }
        }
    }

    fn note_time(&mut self, stat: &FileStat) {
        let written = time(stat.modified);
        self.survey.newest = self.survey.newest.max(written);
        // What is put back with an old date, or moved here, is a change as well.
        let changed = written.max(time(stat.changed));
        self.survey.changed += u64::from(self.since.is_some() && changed > self.since);
    }
}

impl WalkVisitor for Count<'_> {
    fn visit(&mut self, visited: &WalkEntry<'_>) -> WalkStep {
        self.seen += 1;
        if self.seen > MAX_COUNTED_ENTRIES {
            self.survey.is_partial = true;
            return WalkStep::Stop;
        }
        let Ok(stat) = visited.stat() else {
            self.survey.unreadable += 1;
            return WalkStep::Pass;
        };
        match stat.kind {
            FileKind::Folder => {
                let path = String::from_utf8_lossy(visited.path);
                if !self.scan.runtime.searched_folder(&path).is_counted() {
                    return WalkStep::Pass;
                }
                if visited.depth < MAX_COUNTED_DEPTH {
                    return WalkStep::Enter;
                }
                self.survey.is_partial = true;
            }
            FileKind::File if visited.name != AGENT_ID_FILE => {
                let path = self.scan.workspace.join(OsStr::from_bytes(visited.path));
                if self.except.is_none_or(|except| except != path) {
                    self.survey.files += 1;
                    self.survey.bytes = self.survey.bytes.saturating_add(stat.size);
                    self.note_time(&stat);
                }
            }
            FileKind::File | FileKind::Symlink | FileKind::Special => {}
        }
        WalkStep::Pass
    }

    fn unreadable(&mut self, _: &[u8], error: io::Error) -> ControlFlow<()> {
        self.survey.unreadable += u64::from(error.kind() != io::ErrorKind::NotFound);
        ControlFlow::Continue(())
    }
}

/// Returns a time of a file system; `None` for one that no calendar has.
fn time(time: FileTime) -> Option<Timestamp> {
    Timestamp::new(time.seconds, i32::try_from(time.nanoseconds).ok()?).ok()
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
        AgentScan::with_stores(runtime, &agent, Vec::new()).run_since(since, except)
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
