//! Inspects the path of a workspace without following links.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anemone_files::{FileKind, FileStat, FileTime, Folder, WalkEntry, WalkStep, WalkVisitor, walk};
use anemone_format::Moment;
use rustix::io::Errno;

use super::BUFFER_BYTES;
use crate::kit::{MAX_DEPTH, PlanError, Warning};

/// The current state of the workspace's path.
#[derive(Debug)]
pub(crate) enum OldTree {
    Absent,
    Empty(FileStat),
    Full(TreeSurvey),
}

/// A tree as it was when it was listed.
#[derive(Debug)]
pub(crate) struct TreeSurvey {
    pub(super) root: FileStat,
    /// Everything below the root, by the keys of [`key_of`].
    pub(crate) nodes: BTreeMap<Vec<u8>, FileStat>,
}

/// Returns a path as a key that sorts in the order of a walk: a folder, everything in it, the next
/// one.
pub(crate) fn key_of(path: &[u8]) -> Vec<u8> {
    // NUL occurs in no path and sorts before every byte that does.
    path.iter().map(|byte| if *byte == b'/' { 0 } else { *byte }).collect()
}

pub(crate) fn path_of(key: &[u8]) -> Vec<u8> {
    key.iter().map(|byte| if *byte == 0 { b'/' } else { *byte }).collect()
}

/// Returns a path below a folder.
pub(crate) fn join(folder: &Path, path: &[u8]) -> PathBuf {
    folder.join(OsStr::from_bytes(path))
}

/// Returns the seconds and nanoseconds of a moment; before 1970 the nanoseconds still count up.
pub(crate) fn time_of(moment: &Moment) -> FileTime {
    let nanoseconds = moment.instant().as_nanosecond();
    let seconds = nanoseconds.div_euclid(1_000_000_000);
    let rest = nanoseconds.rem_euclid(1_000_000_000);
    // The years of a moment have four digits.
    FileTime {
        seconds: i64::try_from(seconds).unwrap_or(0),
        nanoseconds: i64::try_from(rest).unwrap_or(0),
    }
}

/// Returns whether an entry is still the same. A folder is the same whatever is in it: its content
/// is compared separately.
pub(super) fn is_still(before: &FileStat, now: &FileStat) -> bool {
    let is_same = before.kind == now.kind && before.inode == now.inode;
    let is_folder = before.kind == FileKind::Folder;
    is_same && (is_folder || (before.size, before.modified) == (now.size, now.modified))
}

/// Resolves the workspace without links on the way, and lists what it holds.
pub(crate) fn look(workspace: &Path) -> Result<(PathBuf, OldTree), PlanError> {
    let path = resolve(workspace)?;
    let failed = |source: io::Error| PlanError::Workspace { path: path.clone(), source };
    let Some(parent) = path.parent() else {
        return Err(PlanError::MountPoint(path));
    };
    let root = match FileStat::of_path(&path) {
        Ok(stat) => stat,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok((path, OldTree::Absent));
        }
        Err(error) => return Err(failed(error)),
    };
    if root.kind != FileKind::Folder {
        return Err(PlanError::NotAFolder(path));
    }
    if FileStat::of_path(parent).map_err(failed)?.device != root.device {
        return Err(PlanError::MountPoint(path));
    }
    let survey = survey(&path)?;
    let site = if survey.nodes.is_empty() { OldTree::Empty(root) } else { OldTree::Full(survey) };
    Ok((path, site))
}

/// Returns the true path of a folder that may not exist yet.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, PlanError> {
    let failed = |source| PlanError::Workspace { path: path.to_owned(), source };
    let mut there = path;
    let mut missing = Vec::new();
    loop {
        let here = if there.as_os_str().is_empty() { Path::new(".") } else { there };
        match fs_err::canonicalize(here) {
            Ok(found) => return Ok(missing.iter().rev().fold(found, |path, name| path.join(name))),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            // A link to a missing target is not an absent folder.
            Err(error) if here.is_symlink() => return Err(failed(error)),
            Err(error) => match (there.file_name(), there.parent()) {
                (Some(name), Some(parent)) => {
                    missing.push(name);
                    there = parent;
                }
                _ => return Err(failed(error)),
            },
        }
    }
}

/// Warns of folders that a killed run left beside the workspace and that were not recovered.
///
/// Such a folder may hold the only copy of what was replaced. If it may even be the workspace
/// itself, the import is refused: with a new tree in its place, it would look dispensable.
pub(crate) fn leftovers(workspace: &Path, site: &OldTree) -> Result<Vec<Warning>, PlanError> {
    let found = staged_beside(workspace);
    let mut whole = found.iter().find(|(_, rest)| rest.ends_with(OLD_ENDING.as_bytes()));
    let is_first = |rest: &[u8]| rest.starts_with(FIRST.as_bytes());
    if matches!(site, OldTree::Absent) {
        whole = whole.or(found.iter().find(|(_, rest)| !is_first(rest)));
    }
    if let Some((path, _)) = whole {
        let (path, workspace) = (path.clone(), workspace.to_owned());
        return Err(PlanError::Leftover { path, workspace });
    }
    let message = "an import that was ended half-way left this folder, and it may hold the only \
                   copy of files that were replaced; compare it with the workspace, and move what \
                   is missing out of it";
    let half_made = "an import that was ended half-way left this folder; nothing was there before \
                     it, and the next import removes it";
    let warnings = found.into_iter().map(|(path, rest)| {
        let message = if is_first(&rest) { half_made } else { message };
        Warning::about("leftover", path.display(), message)
    });
    Ok(warnings.collect())
}

/// A part of the name of a staging folder when there is no workspace yet: it never holds an
/// old tree.
pub(super) const FIRST: &str = "first-";

/// The suffix of an old tree that was renamed to make room for the new one.
pub(super) const OLD_ENDING: &str = ".old";

/// Returns the folders beside a workspace that have a name for new trees, sorted, each with the
/// part of its name after the prefix.
pub(super) fn staged_beside(workspace: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (Some(parent), Some(prefix)) = (workspace.parent(), staging_prefix(workspace)) else {
        return Vec::new();
    };
    let entries = fs_err::read_dir(parent).into_iter().flatten().flatten();
    let staged = entries.filter_map(|entry| {
        let name = entry.file_name();
        Some((entry.path(), name.as_bytes().strip_prefix(prefix.as_bytes())?.to_vec()))
    });
    let mut staged: Vec<_> = staged.collect();
    staged.sort();
    staged
}

pub(super) fn staging_prefix(workspace: &Path) -> Option<std::ffi::OsString> {
    let name = workspace.file_name()?.as_bytes();
    // Leaves room for the rest of the longest name.
    let name = &name[..name.len().min(200)];
    Some(OsStr::from_bytes(&[b".", name, b".anemone-"].concat()).to_owned())
}

/// Opens the folder that contains a path, part by part, and returns it with the last part.
pub(super) fn open_above<'a>(root: &Path, path: &'a [u8]) -> io::Result<(Folder, &'a [u8])> {
    let root = Folder::open_unlinked(root)?;
    let (folder, name) = root.above(path)?;
    Ok((folder.unwrap_or(root), name))
}

/// Reads where a link of the workspace points.
pub(crate) fn read_link(root: &Path, path: &[u8]) -> io::Result<Vec<u8>> {
    let (folder, name) = open_above(root, path)?;
    folder.read_link(name)
}

/// Opens a regular file of the workspace.
pub(crate) fn open_file(root: &Path, path: &[u8]) -> io::Result<std::fs::File> {
    Folder::open_unlinked(root)?.file_at(path)
}

/// Returns whether two readers yield the same bytes.
pub(crate) fn equal(one: &mut impl Read, other: &mut impl Read) -> io::Result<bool> {
    let mut one = io::BufReader::with_capacity(BUFFER_BYTES, one);
    let mut other = io::BufReader::with_capacity(BUFFER_BYTES, other);
    loop {
        let (left, right) = (io::BufRead::fill_buf(&mut one)?, io::BufRead::fill_buf(&mut other)?);
        let length = left.len().min(right.len());
        if left[..length] != right[..length] {
            return Ok(false);
        }
        if length == 0 {
            return Ok(left.len() == right.len());
        }
        io::BufRead::consume(&mut one, length);
        io::BufRead::consume(&mut other, length);
    }
}

/// Stats everything below a folder, without following links.
pub(super) fn survey(root: &Path) -> Result<TreeSurvey, PlanError> {
    let failed = |source| PlanError::Workspace { path: root.to_owned(), source };
    let folder = Folder::open_unlinked(root).map_err(failed)?;
    let top = FileStat::of(&folder).map_err(failed)?;
    let survey = TreeSurvey { root: top, nodes: BTreeMap::new() };
    let mut surveyor = Surveyor { path: root, survey, failure: None };
    walk(&folder, &mut surveyor);
    surveyor.failure.map_or(Ok(surveyor.survey), Err)
}

struct Surveyor<'a> {
    path: &'a Path,
    survey: TreeSurvey,
    failure: Option<PlanError>,
}

impl WalkVisitor for Surveyor<'_> {
    fn visit(&mut self, visited: &WalkEntry<'_>) -> WalkStep {
        let stat = match visited.stat() {
            Ok(stat) => stat,
            // It was deleted after its name was read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return WalkStep::Pass,
            Err(source) => return self.fail(visited.path, source),
        };
        if stat.device != self.survey.root.device {
            self.failure = Some(PlanError::MountPoint(join(self.path, visited.path)));
            return WalkStep::Stop;
        }
        let is_folder = stat.kind == FileKind::Folder;
        if is_folder && visited.depth + 1 >= MAX_DEPTH {
            return self.fail(visited.path, Errno::NAMETOOLONG.into());
        }
        self.survey.nodes.insert(key_of(visited.path), stat);
        if is_folder { WalkStep::Enter } else { WalkStep::Pass }
    }

    fn unreadable(&mut self, path: &[u8], error: io::Error) -> ControlFlow<()> {
        self.fail(path, error);
        ControlFlow::Break(())
    }
}

impl Surveyor<'_> {
    fn fail(&mut self, path: &[u8], source: io::Error) -> WalkStep {
        self.failure = Some(PlanError::Workspace { path: join(self.path, path), source });
        WalkStep::Stop
    }
}
