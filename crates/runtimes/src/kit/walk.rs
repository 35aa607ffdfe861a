//! Walks a workspace: every file, link and folder, and what is left out with the reason.
//!
//! Links are recorded and never followed, not even when a folder is swapped for a link during the
//! walk: everything is opened relative to the folder above, which is already open.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anemone_files::{
    FileKind, FileStat, Folder, WalkEntry, WalkStep, WalkVisitor, read_limited, walk,
};
use anemone_format::{AgentId, Moment, StampTable};
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::kit::{
    FileCount, FileCounter, LeftOut, LeftOutReason, MAX_DEPTH, SearchedFolder, SecretPolicy,
    Warning, as_path, destination, is_in_sidecar, lossy, mtime_of, path_bytes, without_dots,
};

/// The file with patterns of what must not travel, in the manner of `.gitignore`.
pub(crate) const IGNORE_FILE: &str = ".alfignore";
/// The file that holds the agent's id.
pub const AGENT_ID_FILE: &str = ".alf-agent-id";
/// How the names of our own unfinished files start.
const UNFINISHED: &[u8] = b".anemone-";
/// Bytes of the table of stamps, at most.
pub(crate) const MAX_TABLE_BYTES: u64 = 64 << 20;

/// Folders that belong to version control; they can be recreated from elsewhere.
const VERSION_CONTROL: &[&str] = &[".git", ".hg", ".svn", ".jj"];
/// Folders of tools that can be recreated.
const REBUILT: &[&str] =
    &["node_modules", ".pnpm-store", ".venv", "venv", ".tox", "__pycache__", ".cache"];

/// Files counted in a folder that is left out, at most.
const MAX_COUNTED: u64 = 1_000_000;
/// Bytes of a path, at most: archives have no longer ones.
const MAX_PATH_BYTES: usize = 3800;
/// Bytes of `.alfignore`, at most.
const MAX_IGNORE_BYTES: u64 = 1 << 20;
/// Bytes of the id file, at most.
const MAX_ID_BYTES: u64 = 1 << 10;

/// Something in the workspace.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundEntry {
    /// Its path in the workspace, with `/` between parts.
    pub(crate) path: Vec<u8>,
    /// What it is.
    pub(crate) kind: EntryKind,
    /// Unix permission bits.
    pub(crate) mode: Option<u32>,
    /// When it was last modified.
    pub(crate) mtime: Option<Moment>,
}

/// What something in the workspace is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// A regular file.
    File(u64),
    /// A link to this target.
    Symlink(Vec<u8>),
    /// A folder.
    Folder,
}

impl FoundEntry {
    /// Whether it is a regular file.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self.kind, EntryKind::File { .. })
    }

    /// Returns its length in bytes, if it is a regular file.
    pub(crate) fn size(&self) -> u64 {
        if let EntryKind::File(size) = self.kind { size } else { 0 }
    }
}

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct WalkResult {
    /// What travels, sorted by path.
    pub(crate) found: Vec<FoundEntry>,
    /// What does not, sorted by path.
    pub(crate) left_out: Vec<LeftOut>,
    /// What is wrong with the patterns.
    pub(crate) warnings: Vec<Warning>,
    /// The files that count as the agent's, also of those that do not travel.
    pub(crate) count: FileCount,
}

/// The `.alfignore` of a workspace exists and cannot be read in full.
///
/// A walk that fails for this reason says so with an [`io::Error`] that holds this one.
#[derive(Debug, thiserror::Error)]
#[error("{IGNORE_FILE} cannot be read in full: {0}")]
pub(crate) struct IgnoreFileError(pub(crate) io::Error);

impl From<IgnoreFileError> for io::Error {
    fn from(error: IgnoreFileError) -> Self {
        Self::new(error.0.kind(), error)
    }
}

/// An open workspace.
pub(crate) struct Workspace {
    folder: Folder,
    path: PathBuf,
}

/// What else to leave out. In [`SIDECAR`], nothing is left out.
#[derive(Clone, Copy)]
pub(crate) struct WalkRules<'a> {
    /// The folder where a runtime keeps memories: there, only version control is left out.
    pub(crate) memory: &'a [u8],
    /// Files of ours.
    pub(crate) exclude: &'a [PathBuf],
    /// A file that is being written; it is not even counted.
    pub(crate) unfinished: Option<&'a Path>,
    /// Returns what a folder is.
    pub(crate) kind_of: fn(&str) -> SearchedFolder,
}

impl<'a> WalkRules<'a> {
    /// Leaves out what belongs to no agent.
    pub(crate) const fn new(memory: &'a str, kind_of: fn(&str) -> SearchedFolder) -> Self {
        Self { memory: memory.as_bytes(), exclude: &[], unfinished: None, kind_of }
    }
}

impl Workspace {
    /// Opens a workspace by its canonical path.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { folder: Folder::open(path)?, path: path.to_owned() })
    }

    /// Opens a regular file below the workspace without following any link.
    pub(crate) fn file(&self, path: &[u8]) -> io::Result<File> {
        self.folder.file_at(path)
    }

    /// Lists the names in a folder below the workspace, sorted; none where there is no such folder.
    /// Names that are not UTF-8 are left out, and more than `most` are an error.
    pub(crate) fn names(&self, path: &[u8], most: usize) -> io::Result<Vec<String>> {
        let folder = || -> io::Result<Folder> {
            let (above, name) = self.folder.above(path)?;
            above.as_ref().unwrap_or(&self.folder).folder(name)
        };
        let folder = match folder() {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in folder.entries()? {
            names.extend(entry?.name().to_str().map(str::to_owned));
            if names.len() > most {
                return Err(io::Error::other(format!("it has more than {most} files")));
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Returns the id that the workspace notes; `None` when there is no note. A note that is not an
    /// id is an error.
    pub(crate) fn agent_id(&self) -> io::Result<Option<AgentId>> {
        let file = match self.file(AGENT_ID_FILE.as_bytes()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut text = String::new();
        file.take(MAX_ID_BYTES).read_to_string(&mut text)?;
        text.trim().parse().map(Some).map_err(io::Error::other)
    }

    /// Returns what the stamps of entries say; nothing, where the table cannot be read. Secrets in
    /// it, such as the password in an address, are only included where all secrets are.
    pub(crate) fn stamps(&self, secrets: SecretPolicy) -> StampTable {
        let read = || -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            let file = self.file(StampTable::PATH.as_bytes())?;
            file.take(MAX_TABLE_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().unwrap_or_default();
        if secrets == SecretPolicy::Allow {
            return StampTable::new(bytes);
        }
        let text = String::from_utf8_lossy(&bytes);
        StampTable::new(anemone_secrets::redact_text(&text).0.into_owned().into_bytes())
    }

    /// Returns where in the workspace a link leads, according to its text alone: the disk is not
    /// read. If it leads through another link, that link is checked separately. `None` is outside
    /// of it.
    pub(crate) fn destination(&self, link: &[u8], target: &[u8]) -> Option<Vec<u8>> {
        let path = as_path(target);
        if path.has_root() {
            let inside = without_dots(path);
            return Some(path_bytes(inside.strip_prefix(&self.path).ok()?.as_os_str()));
        }
        destination(link, target)
    }

    /// Walks everything, sorted by path.
    pub(crate) fn walk(&self, rules: &WalkRules<'_>) -> io::Result<WalkResult> {
        let mut walked = WalkResult::default();
        let ignored = self.read_ignore_file(&mut walked.warnings)?;
        let mut walker = Walker {
            walked,
            rules,
            ignored,
            exclude: rules.exclude.iter().filter_map(|path| self.relative(path)).collect(),
            unfinished: rules.unfinished.and_then(|path| self.relative(path)),
            counter: FileCounter::new(&rules.kind_of),
            failure: None,
        };
        walk(&self.folder, &mut walker);
        // The top folder must be listed, or the walk fails; folders below it are left out.
        if let Some(error) = walker.failure {
            return Err(error);
        }
        let mut walked = walker.walked;
        walked.count = walker.counter.count();
        walked.found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        walked.left_out.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(walked)
    }

    /// Reads the patterns. When not all of them are known, nothing may travel.
    fn read_ignore_file(&self, warnings: &mut Vec<Warning>) -> io::Result<Gitignore> {
        let bytes = self.ignore_bytes().map_err(IgnoreFileError)?;
        let mut warn = |message: String| {
            warnings.push(Warning::about("alfignore", IGNORE_FILE, message));
        };
        if std::str::from_utf8(&bytes).is_err() {
            warn("is not UTF-8; those patterns may not match".to_owned());
        }
        let text = lossy(&bytes);
        let mut builder = GitignoreBuilder::new("");
        for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            if let Err(error) = builder.add_line(None, line) {
                warn(format!("line {} is not a pattern: {error}", number + 1));
            }
        }
        Ok(builder.build().map_err(|error| IgnoreFileError(io::Error::other(error)))?)
    }

    /// Returns the whole of `.alfignore`; nothing when there is none.
    fn ignore_bytes(&self) -> io::Result<Vec<u8>> {
        match self.folder.stat(IGNORE_FILE) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
            Ok(stat) if stat.kind == FileKind::Symlink => {
                return Err(io::Error::other("it is a link, and links are not followed"));
            }
            Ok(_) => {}
        }
        read_limited(&self.folder.file(IGNORE_FILE)?, MAX_IGNORE_BYTES).map_err(|error| {
            let message = format!("it is larger than {MAX_IGNORE_BYTES} bytes");
            let is_too_large = error.kind() == io::ErrorKind::FileTooLarge;
            if is_too_large { io::Error::other(message) } else { error }
        })
    }

    /// Returns the path in the workspace of a file that may be in it.
    fn relative(&self, path: &Path) -> Option<Vec<u8>> {
        let absolute = std::path::absolute(path).ok()?;
        let folder = fs_err::canonicalize(absolute.parent()?).ok()?;
        let relative = folder.join(absolute.file_name()?);
        Some(path_bytes(relative.strip_prefix(&self.path).ok()?.as_os_str()))
    }
}

struct Walker<'a> {
    walked: WalkResult,
    rules: &'a WalkRules<'a>,
    ignored: Gitignore,
    exclude: Vec<Vec<u8>>,
    unfinished: Option<Vec<u8>>,
    counter: FileCounter<'a>,
    /// Why the workspace itself cannot be listed.
    failure: Option<io::Error>,
}

impl WalkVisitor for Walker<'_> {
    fn visit(&mut self, visited: &WalkEntry<'_>) -> WalkStep {
        let (folder, name, path) = (visited.folder, visited.name, visited.path);
        if path.len() > MAX_PATH_BYTES {
            return self.leave_out(&path[..MAX_PATH_BYTES], LeftOutReason::Name, (1, 0));
        }
        let stat = match visited.stat() {
            Ok(stat) => stat,
            // It was deleted during the walk, so it does not exist.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return WalkStep::Pass,
            Err(_) => return self.leave_out(path, LeftOutReason::Unreadable, (0, 0)),
        };
        if self.unfinished.as_deref() == Some(path) {
            return WalkStep::Pass;
        }
        self.counter.see(path, &stat);
        let is_folder = stat.kind == FileKind::Folder;
        // Not the agent's file. The id travels in the manifest, and an import writes the file
        // again.
        if path == AGENT_ID_FILE.as_bytes() || self.exclude.iter().any(|own| own == path) {
            return WalkStep::Pass;
        }
        if let Some(reason) = self.reason_to_leave_out(path, name, is_folder) {
            let size = if is_folder { self.count(folder, name, path) } else { (1, stat.size) };
            return self.leave_out(path, reason, size);
        }
        let kind = match stat.kind {
            FileKind::Symlink => match folder.read_link(name) {
                Ok(target) => EntryKind::Symlink(target),
                Err(_) => return self.leave_out(path, LeftOutReason::Unreadable, (1, 0)),
            },
            FileKind::Folder => EntryKind::Folder,
            FileKind::File => EntryKind::File(stat.size),
            FileKind::Special => return self.leave_out(path, LeftOutReason::Special, (1, 0)),
        };
        let (mode, mtime) = (Some(stat.mode), mtime_of(&stat));
        self.walked.found.push(FoundEntry { path: path.to_owned(), kind, mode, mtime });
        // An import does not create deeper paths either.
        if is_folder && visited.depth + 2 > MAX_DEPTH {
            let size = self.count(folder, name, path);
            return self.leave_out(path, LeftOutReason::TooDeep, size);
        }
        if is_folder { WalkStep::Enter } else { WalkStep::Pass }
    }

    fn unreadable(&mut self, path: &[u8], error: io::Error) -> ControlFlow<()> {
        if path.is_empty() {
            self.failure = Some(error);
            return ControlFlow::Break(());
        }
        self.leave_out(path, LeftOutReason::Unreadable, (0, 0));
        ControlFlow::Continue(())
    }
}

impl Walker<'_> {
    fn reason_to_leave_out(
        &self,
        path: &[u8],
        name: &OsStr,
        is_folder: bool,
    ) -> Option<LeftOutReason> {
        // What was kept of another runtime comes back completely or not at all.
        if is_in_sidecar(path) {
            return None;
        }
        let is = |names: &[&str]| names.iter().any(|known| name == OsStr::new(known));
        let memory = self.rules.memory;
        let in_memory = path.strip_prefix(memory).is_some_and(|rest| rest.starts_with(b"/"));
        if is_folder && (is(VERSION_CONTROL) || (is(REBUILT) && !in_memory)) {
            return Some(LeftOutReason::Skipped);
        }
        if name.as_encoded_bytes().starts_with(UNFINISHED) {
            return Some(LeftOutReason::Own);
        }
        let ignored = self.ignored.matched(as_path(path), is_folder).is_ignore();
        ignored.then_some(LeftOutReason::Ignored)
    }

    fn leave_out(
        &mut self,
        path: &[u8],
        reason: LeftOutReason,
        (files, bytes): (u64, u64),
    ) -> WalkStep {
        self.walked.left_out.push(LeftOut { path: lossy(path), reason, files, bytes });
        WalkStep::Pass
    }

    /// Counts files and their bytes in a folder that is left out.
    fn count(&mut self, folder: &Folder, name: &OsStr, path: &[u8]) -> (u64, u64) {
        let see = &mut |below: &[u8], stat: &FileStat| {
            self.counter.see(&[path, b"/", below].concat(), stat);
        };
        folder.folder(name).map_or((0, 0), |folder| LeftOutFolder::count(&folder, see))
    }
}

/// Counts the files of something that is left out, and their bytes, without following a link.
pub(crate) fn left_out_size(path: &Path) -> (u64, u64) {
    match FileStat::of_path(path) {
        Ok(stat) if stat.kind == FileKind::Folder => Folder::open(path)
            .map_or((0, 0), |folder| LeftOutFolder::count(&folder, &mut |_, _| {})),
        Ok(stat) => (1, stat.size),
        Err(_) => (0, 0),
    }
}

/// A folder that is left out, and how much is in it.
struct LeftOutFolder<'a> {
    /// Called with every path below it.
    see: &'a mut dyn FnMut(&[u8], &FileStat),
    files: u64,
    bytes: u64,
}

impl LeftOutFolder<'_> {
    fn count(folder: &Folder, see: &mut dyn FnMut(&[u8], &FileStat)) -> (u64, u64) {
        let mut left_out = LeftOutFolder { see, files: 0, bytes: 0 };
        walk(folder, &mut left_out);
        (left_out.files, left_out.bytes)
    }
}

impl WalkVisitor for LeftOutFolder<'_> {
    fn visit(&mut self, visited: &WalkEntry<'_>) -> WalkStep {
        if self.files == MAX_COUNTED {
            return WalkStep::Stop;
        }
        let Ok(stat) = visited.stat() else { return WalkStep::Pass };
        (self.see)(visited.path, &stat);
        if stat.kind == FileKind::Folder && visited.depth < MAX_DEPTH {
            return WalkStep::Enter;
        }
        self.files += 1;
        self.bytes = self.bytes.saturating_add(stat.size);
        WalkStep::Pass
    }

    fn unreadable(&mut self, _: &[u8], _: io::Error) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;
    use crate::kit::searchable::is_of_tool;

    fn put(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    fn rules() -> WalkRules<'static> {
        WalkRules::new("memory", |path| match path {
            "state" => SearchedFolder::MachineState,
            path if is_of_tool(path) => SearchedFolder::OfTool,
            _ => SearchedFolder::Other,
        })
    }

    fn walk(root: &Path, exclude: &[PathBuf]) -> WalkResult {
        let root = fs_err::canonicalize(root).unwrap();
        let rules = WalkRules { exclude, ..rules() };
        Workspace::open(&root).unwrap().walk(&rules).unwrap()
    }

    fn paths(walked: &WalkResult) -> Vec<String> {
        walked.found.iter().map(|found| lossy(&found.path)).collect()
    }

    fn left_out(walked: &WalkResult) -> Vec<(&str, &str, u64)> {
        walked.left_out.iter().map(|out| (&*out.path, out.reason.as_str(), out.files)).collect()
    }

    #[test]
    fn folders_that_can_be_made_again_are_counted_and_not_entered() {
        let root = TempDir::new().unwrap();
        for name in [".git/config", "a/node_modules/p/i.js", "a/node_modules/q.js", "a/b.md"] {
            put(root.path(), name, "x");
        }
        // A folder of memories may have any name except those of version control.
        put(root.path(), "memory/venv/trip.md", "x");
        put(root.path(), "memory/.git/HEAD", "x");
        let walked = walk(root.path(), &[]);
        assert_eq!(
            left_out(&walked),
            [
                (".git", "skipped", 1),
                ("a/node_modules", "skipped", 2),
                ("memory/.git", "skipped", 1)
            ]
        );
        assert_eq!(paths(&walked), ["a", "a/b.md", "memory", "memory/venv", "memory/venv/trip.md"]);
    }

    #[test]
    fn files_count_whether_they_travel_or_not() {
        let root = TempDir::new().unwrap();
        for name in ["a.md", "logs/b/c.log", "logs/.git/HEAD", "venv/d.py", ".anemone-x/e", "f.alf"]
        {
            put(root.path(), name, "x");
        }
        for name in [AGENT_ID_FILE, ".git/HEAD", "a/node_modules/q.js", "state/deep/g", "h.alf"] {
            put(root.path(), name, "x");
        }
        put(root.path(), IGNORE_FILE, "logs/\n");
        symlink("a.md", root.path().join("link")).unwrap();
        let unfinished = root.path().join("h.alf");
        let rules = WalkRules {
            exclude: &[root.path().join("f.alf")],
            unfinished: Some(&unfinished),
            ..rules()
        };
        let root = fs_err::canonicalize(root.path()).unwrap();
        let walked = Workspace::open(&root).unwrap().walk(&rules).unwrap();
        let FileCount { files, bytes, is_partial, .. } = walked.count;
        assert_eq!((files, bytes, is_partial), (6, 11, false));
        let left_out: u64 = walked.left_out.iter().map(|out| out.files).sum();
        assert_eq!(left_out, 6, "{left_out:?}");
    }

    #[test]
    fn what_was_kept_of_another_runtime_is_never_left_out() {
        let root = TempDir::new().unwrap();
        let kept = [
            ".alf-origin/files/.git/HEAD",
            ".alf-origin/files/venv/a.log",
            ".alf-origin/.anemone-x",
        ];
        for name in kept {
            put(root.path(), name, "x");
        }
        put(root.path(), ".alf-origin-2/node_modules/a.js", "x");
        put(root.path(), IGNORE_FILE, ".alf-origin/\n*.log\n");
        let walked = walk(root.path(), &[]);
        assert_eq!(left_out(&walked), [(".alf-origin-2/node_modules", "skipped", 1)]);
        let paths = paths(&walked);
        assert!(kept.iter().all(|name| paths.iter().any(|path| path == name)), "{paths:?}");
    }

    #[test]
    fn the_ignore_file_is_read_as_gitignore_is() {
        let root = TempDir::new().unwrap();
        for name in ["logs/a.log", "logs/keep.log", "b.tmp", "deep/c.tmp", "private/x"] {
            put(root.path(), name, "x");
        }
        put(root.path(), IGNORE_FILE, "*.log\n!keep.log\n# words\n/b.tmp\nprivate/\n[z-a\n");
        let walked = walk(root.path(), &[]);
        assert_eq!(
            left_out(&walked),
            [("b.tmp", "ignored", 1), ("logs/a.log", "ignored", 1), ("private", "ignored", 1)]
        );
        assert!(paths(&walked).contains(&"logs/keep.log".to_owned()));
        assert!(paths(&walked).contains(&"deep/c.tmp".to_owned()));
        assert_eq!(walked.warnings.len(), 1, "{:?}", walked.warnings);
        assert!(walked.warnings[0].message.starts_with("line 6 "), "{:?}", walked.warnings);
    }

    /// Returns why a walk was refused because of `.alfignore`.
    fn refusal(root: &Path) -> String {
        let error = Workspace::open(root).unwrap().walk(&rules()).unwrap_err();
        assert!(error.to_string().starts_with(".alfignore cannot be read in full: "), "{error}");
        error.downcast::<IgnoreFileError>().unwrap().0.to_string()
    }

    #[test]
    fn an_ignore_file_that_is_not_known_in_full_stops_the_walk() {
        let root = TempDir::new().unwrap();
        let path = root.path().join(IGNORE_FILE);
        put(root.path(), "patterns", "private/\n");
        for target in ["patterns", "nowhere"] {
            symlink(target, &path).unwrap();
            assert!(refusal(root.path()).contains("link"));
            fs_err::remove_file(&path).unwrap();
        }
        fs_err::create_dir(&path).unwrap();
        refusal(root.path());
        fs_err::remove_dir(&path).unwrap();
        let fifo = rustix::fs::FileType::Fifo;
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, fifo, mode, 0).unwrap();
        assert!(refusal(root.path()).contains("not a regular file"));
        fs_err::remove_file(&path).unwrap();
        let limit = usize::try_from(MAX_IGNORE_BYTES).unwrap();
        put(root.path(), IGNORE_FILE, &"#".repeat(limit + 1));
        assert!(refusal(root.path()).contains("larger than 1048576 bytes"));
        put(root.path(), IGNORE_FILE, &format!("{}\nprivate", "#".repeat(limit - 8)));
        put(root.path(), "private", "x");
        assert_eq!(left_out(&walk(root.path(), &[])), [("private", "ignored", 1)]);
    }

    #[test]
    fn an_ignore_file_that_may_not_be_read_stops_the_walk() {
        use std::os::unix::fs::PermissionsExt;
        let root = TempDir::new().unwrap();
        put(root.path(), IGNORE_FILE, "private/\n");
        let path = root.path().join(IGNORE_FILE);
        fs_err::set_permissions(&path, PermissionsExt::from_mode(0o000)).unwrap();
        // The superuser may read everything.
        if fs_err::read(&path).is_err() {
            refusal(root.path());
        }
    }

    #[test]
    fn a_link_is_found_and_never_opened() {
        let (root, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        put(outside.path(), "secret.md", "x");
        symlink(outside.path(), root.path().join("folder")).unwrap();
        symlink(outside.path().join("secret.md"), root.path().join("file")).unwrap();
        symlink("nowhere", root.path().join("dangling")).unwrap();
        let walked = walk(root.path(), &[]);
        assert_eq!(paths(&walked), ["dangling", "file", "folder"]);
        assert!(walked.found.iter().all(|found| matches!(found.kind, EntryKind::Symlink(_))));
        let workspace = Workspace::open(root.path()).unwrap();
        assert!(workspace.file(b"file").is_err());
        assert!(workspace.file(b"folder/secret.md").is_err());
    }

    #[test]
    fn what_is_ours_does_not_travel() {
        let root = TempDir::new().unwrap();
        for name in ["a.md", "backups/b.alf", ".anemone-x1", AGENT_ID_FILE] {
            put(root.path(), name, "x");
        }
        let walked = walk(root.path(), &[root.path().join("backups/b.alf")]);
        assert_eq!(paths(&walked), ["a.md", "backups"]);
        assert_eq!(left_out(&walked), [(".anemone-x1", "own", 1)]);
    }

    #[test]
    fn a_socket_is_special_and_endless_depth_has_an_end() {
        let root = TempDir::new().unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(root.path().join("s")).unwrap();
        let mut deep = Folder::open(root.path()).unwrap();
        for _ in 0..=MAX_DEPTH + 3 {
            deep = deep.make_folder("d").unwrap();
        }
        deep.create("end.md", b"x", None).unwrap();
        let walked = walk(root.path(), &[]);
        let reasons: Vec<_> = walked.left_out.iter().map(|out| out.reason).collect();
        assert_eq!(reasons, [LeftOutReason::TooDeep, LeftOutReason::Special]);
        assert_eq!(walked.left_out[0].files, 1);
    }

    #[test]
    fn a_link_leads_out_by_what_it_says() {
        let root = TempDir::new().unwrap();
        let root = fs_err::canonicalize(root.path()).unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let out = |link: &str, target: &str| {
            workspace.destination(link.as_bytes(), target.as_bytes()).is_none()
        };
        let inside = |path: &str| format!("{}/{path}", root.display());
        assert!(out("a", "../b") && out("a", "/etc") && out("a/b", "../../c"));
        assert!(out("a", &inside("../b")) && out("a", &format!("{}2/b", root.display())));
        assert!(!out("a", "b") && !out("a/b", "../c") && !out("a", &inside("c/d")));
    }

    #[test]
    fn anything_but_an_id_in_the_place_of_the_id_is_an_error() {
        let root = TempDir::new().unwrap();
        let workspace = Workspace::open(root.path()).unwrap();
        assert_eq!(workspace.agent_id().unwrap(), None);
        put(root.path(), AGENT_ID_FILE, " 0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f\n");
        let id = workspace.agent_id().unwrap().unwrap();
        assert_eq!(id.to_string(), "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f");
        put(root.path(), AGENT_ID_FILE, "main");
        assert!(workspace.agent_id().is_err());
        fs_err::rename(root.path().join(AGENT_ID_FILE), root.path().join("real")).unwrap();
        symlink("real", root.path().join(AGENT_ID_FILE)).unwrap();
        assert!(workspace.agent_id().is_err(), "a link is not followed");
    }
}
