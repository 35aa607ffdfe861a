//! Replaces a workspace with a planned tree. Other processes see either the old tree or the new
//! one, at every moment and after any crash.
//!
//! The new tree is built beside the workspace, in `.<name>.anemone-<inode>-XXXXXX`. What stays of the old
//! one is hard-linked, so that it costs nothing and keeps its identity for programs that have it open;
//! what is new is written. When all of it is on disk and the old tree is still as it was when the
//! plan was made, the two folders change names in one step of the file system. What was replaced
//! stays beside the workspace as `<name>.replaced-<n>`.
//!
//! Nothing here follows a link: every folder is opened by one plain name from the folder above it,
//! and only if it is a folder.

mod build;
mod live;
mod recover;
mod rename;
mod site;

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anemone_files::{
    FileStat, Folder, lock_folder, locked_folder, prune, remove_tree, rename_to_free, sync_folder,
    sync_folder_if_possible,
};
use rustix::fs::Mode;

use self::build::{Attributes, Builder, Level, Node, cannot_write, lay_out};
use self::live::Live;
pub use self::recover::recover_leftovers;
use self::rename::{exchange_folders, keep_aside};
use self::site::{FIRST, is_still, staging_prefix, survey};
pub(crate) use self::site::{
    OldTree, TreeSurvey, equal, join, key_of, leftovers, look, open_file, path_of, read_link,
    time_of,
};
use crate::kit::{Action, Plan, Warning, lossy};
use anemone_format::SnapshotSource;

/// How many files are synced one by one; more are synced together.
const FEW_FILES: usize = 64;
const BUFFER_BYTES: usize = 128 << 10;

/// Is notified of the folder in which a tree is being built, so that the folder can be removed when
/// the process is asked to end.
pub trait StagingWatch {
    /// Creates the folder by `make`, and knows it from the moment it exists.
    fn start(&self, make: &mut dyn FnMut() -> io::Result<PathBuf>) -> io::Result<PathBuf>;
    /// Runs the step after which the folder must not be removed any more.
    fn swap(&self, staging: &Path, swap: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()>;
    /// The folder is gone, or is no longer ours to remove.
    fn ended(&self, staging: &Path);
    /// Returns whether the process is ending, so that nothing more is put into the folder.
    fn is_ending(&self) -> bool {
        false
    }
}

/// Watches nothing.
#[cfg(test)]
pub(crate) struct Unwatched;

#[cfg(test)]
impl StagingWatch for Unwatched {
    fn start(&self, make: &mut dyn FnMut() -> io::Result<PathBuf>) -> io::Result<PathBuf> {
        make()
    }
    fn swap(&self, _: &Path, swap: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
        swap()
    }
    fn ended(&self, _: &Path) {}
}

/// What applying a plan left behind.
#[derive(Debug, Default)]
pub struct AppliedTree {
    /// The folder with what was replaced, if anything was.
    pub replaced_kept_at: Option<PathBuf>,
    /// Problems that occurred after the new tree was in place.
    pub warnings: Vec<Warning>,
}

/// Why a plan could not be applied; the workspace is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyTreeError {
    /// The conflicts of the plan are not resolved.
    #[error("the workspace has files that differ from the snapshot's")]
    Conflicts,
    /// The workspace has changed since the plan was made.
    #[error("{0} changed while the new tree was made")]
    Changed(PathBuf),
    /// No folder can be made beside the workspace.
    #[error("cannot make a folder in {parent}")]
    Staging {
        /// The folder that contains the workspace.
        parent: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The snapshot could not be read.
    #[error("cannot read {path:?} from the snapshot")]
    Source {
        /// The file in the workspace.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// The snapshot does not hold what it promised.
    #[error("the snapshot has {expected} bytes for {path:?}, but did not deliver as many")]
    WrongSize {
        /// The file in the workspace.
        path: String,
        /// The bytes it should have.
        expected: u64,
    },
    /// A file could not be made in the new tree.
    #[error("cannot write {path:?}")]
    Write {
        /// The file in the workspace.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// A file of a database could not be the same file in the new tree.
    #[error(
        "{path} can only be copied, and a program that has it open would go on with the old one"
    )]
    Database {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The new tree could not take the place of the old one.
    #[error("cannot move the new tree to {path}")]
    Swap {
        /// The workspace.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// The points at which a test may inspect the state or let something fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestPoint {
    Staged,
    Made,
    Synced,
    Checked,
    Swapped,
    Tidied,
}

type Hook<'a> = &'a mut dyn FnMut(TestPoint) -> io::Result<()>;

/// Which operations to try; tests switch some off, as on systems or for users without them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that may be impossible")]
struct Abilities {
    /// Exchanging the names of two folders in one step.
    exchange: bool,
    /// Giving a file a second name.
    link: bool,
    /// Changing the owner of a file.
    give_away: bool,
    /// Giving a file extended attributes.
    set_attributes: bool,
}

const ABLE: Abilities =
    Abilities { exchange: true, link: true, give_away: true, set_attributes: true };

/// Applies a plan. When this fails, the workspace is unchanged.
pub fn apply(
    plan: &Plan,
    source: &dyn SnapshotSource,
    watch: &dyn StagingWatch,
) -> Result<AppliedTree, ApplyTreeError> {
    apply_with(plan, source, watch, ABLE, &mut |_| Ok(()))
}

fn apply_with(
    plan: &Plan,
    source: &dyn SnapshotSource,
    watch: &dyn StagingWatch,
    able: Abilities,
    hook: Hook<'_>,
) -> Result<AppliedTree, ApplyTreeError> {
    if plan.blocked {
        return Err(ApplyTreeError::Conflicts);
    }
    if !plan.changes_anything() {
        return Ok(AppliedTree::default());
    }
    let parent = plan.workspace.parent().unwrap_or(Path::new("/"));
    let made = make_parents(parent, &mut sync_folder_if_possible)?;
    let failed = |source| ApplyTreeError::Staging { parent: parent.to_owned(), source };
    let mut prefix = staging_prefix(&plan.workspace).unwrap_or_default();
    if matches!(plan.site, OldTree::Absent) {
        prefix.push(FIRST);
    }
    let mut make = || {
        let mut builder = tempfile::Builder::new();
        // A new folder gets what the system makes of these bits.
        builder.prefix(&prefix).permissions(std::fs::Permissions::from_mode(0o777));
        let made = builder.tempdir_in(parent)?.keep();
        if matches!(plan.site, OldTree::Absent) { Ok(made) } else { name_by_inode(&made, &prefix) }
    };
    let mut lock = None;
    let mut make = || {
        let (staging, held) = locked_folder(&mut make)?;
        lock = held;
        Ok(staging)
    };
    let staging = watch.start(&mut make).map_err(failed).inspect_err(|_| remove_parents(&made))?;
    // Held until everything is done, so that no other process takes the folder for a leftover.
    let _lock = lock;
    let live = Live::of(plan);
    let mut apply =
        Apply { plan, source, watch, able, hook, staging: &staging, live, old_lock: None };
    let result = apply.run();
    if result.is_err() {
        remove_tree(&staging).ok();
        remove_parents(&made);
    }
    watch.ended(&staging);
    let built = result?;
    Ok(apply.tidy_up(&built))
}

/// Renames a staging folder after its own inode, so that it can be told from the old tree after the
/// two have exchanged names; see [`recover`].
fn name_by_inode(staging: &Path, prefix: &OsStr) -> io::Result<PathBuf> {
    let inode = fs_err::symlink_metadata(staging)?.ino();
    let name = staging.file_name().unwrap_or_default().as_bytes();
    let random = name.strip_prefix(prefix.as_bytes()).unwrap_or(name);
    let name = [prefix.as_bytes(), inode.to_string().as_bytes(), b"-", random].concat();
    let named = staging.with_file_name(OsStr::from_bytes(&name));
    rename_to_free(staging, &named)?;
    Ok(named)
}

/// Creates the folders above the workspace and returns those that did not exist. Each is synced by
/// `sync`, which gets the folder that contains it: after a crash, the workspace is at the path that
/// was reported.
fn make_parents(
    parent: &Path,
    sync: &mut dyn FnMut(&Path) -> io::Result<()>,
) -> Result<Vec<PathBuf>, ApplyTreeError> {
    let mut missing: Vec<PathBuf> =
        parent.ancestors().take_while(|ancestor| !ancestor.exists()).map(Path::to_owned).collect();
    missing.reverse();
    for (index, folder) in missing.iter().enumerate() {
        let failed = |made: usize, source| {
            remove_parents(&missing[..made]);
            ApplyTreeError::Staging { parent: parent.to_owned(), source }
        };
        fs_err::create_dir(folder).map_err(|error| failed(index, error))?;
        sync(folder.parent().unwrap_or(Path::new("/")))
            .map_err(|error| failed(index + 1, error))?;
    }
    Ok(missing)
}

fn remove_parents(made: &[PathBuf]) {
    for folder in made.iter().rev() {
        fs_err::remove_dir(folder).ok();
    }
}

struct Apply<'a> {
    plan: &'a Plan,
    source: &'a dyn SnapshotSource,
    watch: &'a dyn StagingWatch,
    able: Abilities,
    hook: Hook<'a>,
    staging: &'a Path,
    live: Live,
    /// Held from the exchange on, so that no process takes the old tree for a leftover.
    old_lock: Option<std::fs::File>,
}

/// What happened to the old tree's files and folders in the new one, by key.
#[derive(Debug, Default)]
struct BuildNotes {
    /// Files that could not be linked and were copied.
    copied: HashSet<Vec<u8>>,
    /// Files and folders that have another owner now.
    other_owner: BTreeSet<Vec<u8>>,
    /// Files and folders that lack some of their extended attributes.
    without_attributes: BTreeSet<Vec<u8>>,
}

impl BuildNotes {
    /// Returns what was lost, in at most one line for each sort.
    fn warnings(&self) -> Vec<Warning> {
        let lost = [
            ("owner_changed", &self.other_owner, "could not keep their owner"),
            ("attributes_lost", &self.without_attributes, "could not keep extended attributes"),
        ];
        let lost = lost.into_iter().filter_map(|(code, keys, what)| {
            let path = lossy(&path_of(keys.first()?));
            let example = if path.is_empty() { "." } else { &path };
            let message =
                format!("files and folders that {what}: {}, such as {example}", keys.len());
            Some(Warning::new(code, message))
        });
        lost.collect()
    }
}

impl Apply<'_> {
    /// Builds the new tree and puts it in place.
    fn run(&mut self) -> Result<BuildNotes, ApplyTreeError> {
        let built = self.build()?;
        self.check()?;
        self.settle_database()?;
        self.pass(TestPoint::Checked)?;
        if matches!(self.plan.site, OldTree::Full(_)) {
            self.old_lock = lock_folder(&self.plan.workspace);
        }
        self.swap()?;
        Ok(built)
    }

    fn pass(&mut self, point: TestPoint) -> Result<(), ApplyTreeError> {
        (self.hook)(point).map_err(|source| cannot_write(b"", source))
    }

    fn build(&mut self) -> Result<BuildNotes, ApplyTreeError> {
        let plan = self.plan;
        let nodes = lay_out(plan);
        let here = |error: io::Error| cannot_write(b"", error);
        let root = Folder::open_unlinked(self.staging).map_err(here)?;
        let natural = FileStat::of(&root).map_err(here)?;
        // Other users cannot read it before it is complete.
        rustix::fs::fchmod(&root, Mode::RWXU).map_err(|error| here(error.into()))?;
        self.pass(TestPoint::Staged)?;
        let (old, top) = match &plan.site {
            OldTree::Absent => {
                (None, Attributes { mode: Some(natural.mode), ..Default::default() })
            }
            OldTree::Empty(seen) => {
                (Folder::open_unlinked(&plan.workspace).ok(), Attributes::of_root(seen))
            }
            OldTree::Full(survey) => {
                let old = Folder::open_unlinked(&plan.workspace).map_err(here)?;
                (Some(old), Attributes::of_root(&survey.root))
            }
        };
        let new_files = nodes.values().filter(|node| matches!(node, Node::New(_))).count();
        // One request for the whole file system is much cheaper than one for each file, unless
        // there are few of them.
        let together = cfg!(target_os = "linux") && new_files > FEW_FILES;
        let mut builder = Builder {
            apply: self,
            levels: vec![Level { key: Vec::new(), new: root, old, attributes: top }],
            owner: top.owner.filter(|owner| *owner != natural.owner),
            buffer: vec![0; BUFFER_BYTES],
            sync_each: !together,
            built: BuildNotes::default(),
        };
        for (key, node) in &nodes {
            builder.add(key, node)?;
        }
        let built = builder.finish()?;
        #[cfg(target_os = "linux")]
        if together {
            let root = Folder::open_unlinked(self.staging).map_err(here)?;
            rustix::fs::syncfs(root).map_err(|error| here(error.into()))?;
        }
        self.pass(TestPoint::Synced)?;
        Ok(built)
    }

    /// Checks that the old tree is still the one that the plan was made for.
    fn check(&self) -> Result<(), ApplyTreeError> {
        let workspace = &self.plan.workspace;
        let changed = |key: &[u8]| ApplyTreeError::Changed(join(workspace, &path_of(key)));
        // An absent or empty folder is checked by the file system during the rename.
        let OldTree::Full(before) = &self.plan.site else { return Ok(()) };
        let now = survey(workspace).map_err(|_| changed(b""))?;
        if !is_still(&before.root, &now.root) {
            return Err(changed(b""));
        }
        // A file of the database is in both trees, whatever was written to it meanwhile.
        let stays = |key: &Vec<u8>, seen: &FileStat| match now.nodes.get(key) {
            Some(now) => is_still(seen, now) || (self.live.has(key) && now.is_file()),
            None => self.live.comes_and_goes(key),
        };
        if let Some((key, _)) = before.nodes.iter().find(|(key, seen)| !stays(key, seen)) {
            return Err(changed(key));
        }
        let is_new =
            |key: &&Vec<u8>| !before.nodes.contains_key(*key) && !self.live.comes_and_goes(key);
        match now.nodes.keys().find(is_new) {
            Some(key) => Err(changed(key)),
            None => Ok(()),
        }
    }

    fn swap(&mut self) -> Result<(), ApplyTreeError> {
        let (staging, workspace, able) = (self.staging, &self.plan.workspace, self.able);
        let site = &self.plan.site;
        let mut swap = || match site {
            OldTree::Absent => rename_to_free(staging, workspace),
            // The rename replaces an empty folder, and no other.
            OldTree::Empty(_) => Ok(rustix::fs::rename(staging, workspace)?),
            OldTree::Full(_) => exchange_folders(staging, workspace, able),
        };
        self.watch.swap(staging, &mut swap).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => {
                ApplyTreeError::Changed(workspace.clone())
            }
            _ => ApplyTreeError::Swap { path: workspace.clone(), source },
        })?;
        Ok(())
    }

    /// Removes what the new tree has of the old one, and keeps the rest. The new tree is in place:
    /// no failure from here on undoes that.
    fn tidy_up(&mut self, built: &BuildNotes) -> AppliedTree {
        let mut applied = AppliedTree { warnings: built.warnings(), ..AppliedTree::default() };
        let workspace = &self.plan.workspace;
        let mut trouble = |path: &Path, source: &io::Error| {
            let message = format!("the import is complete, but this is left to do: {source}");
            applied.warnings.push(Warning::about("not_tidied", path.display(), message));
        };
        let parent = workspace.parent().unwrap_or(Path::new("/"));
        let synced = (self.hook)(TestPoint::Swapped).and_then(|()| sync_folder(parent));
        if let Err(error) = &synced {
            trouble(parent, error);
        }
        let OldTree::Full(survey) = &self.plan.site else {
            return applied;
        };
        let mut old = self.staging.to_owned();
        let replaces = self.plan.steps.iter().any(|step| step.action == Action::Replace);
        if replaces || synced.is_err() {
            match keep_aside(&old, workspace) {
                Ok(kept) => old = kept,
                Err(error) => trouble(&old, &error),
            }
        }
        // After a crash the old tree may have the workspace's name again: it must be complete then.
        if synced.is_err() {
            applied.replaced_kept_at = Some(old);
            return applied;
        }
        let dispensable = self.dispensable();
        let gone = prune(&old, &mut |path, now| {
            let key = &key_of(path);
            if let Some(is_in_both) = self.live.is_in_both(key, now.inode) {
                return is_in_both;
            }
            let Some(seen) = survey.nodes.get(key).filter(|_| dispensable.contains(key)) else {
                return false;
            };
            if built.other_owner.contains(key) {
                return false;
            }
            // A linked file is in both trees, whatever was written to it meanwhile.
            let linked = seen.inode == now.inode && !built.copied.contains(key);
            is_still(seen, now) || (linked && !self.rewritten(key))
        });
        match gone {
            Ok(true) => {}
            Ok(false) if old == self.staging => match keep_aside(&old, workspace) {
                Ok(kept) => applied.replaced_kept_at = Some(kept),
                Err(error) => trouble(&old, &error),
            },
            Ok(false) => applied.replaced_kept_at = Some(old),
            Err(error) => {
                trouble(&old, &error);
                applied.replaced_kept_at = Some(old);
            }
        }
        (self.hook)(TestPoint::Tidied).ok();
        applied
    }

    /// Returns the keys of everything in the old tree whose content the new tree has too.
    fn dispensable(&self) -> HashSet<Vec<u8>> {
        let nodes = lay_out(self.plan);
        let stays = nodes.into_iter().filter(|(_, node)| match node {
            Node::Old => true,
            Node::New(step) => step.action == Action::Same,
            Node::Folder(_) => false,
        });
        stays.map(|(key, _)| key).collect()
    }

    /// Returns whether the new tree has its own copy of a file with the same content.
    fn rewritten(&self, key: &[u8]) -> bool {
        let path = path_of(key);
        let at = self.plan.steps.binary_search_by(|step| key_of(&step.path).as_slice().cmp(key));
        at.is_ok_and(|at| self.plan.steps[at].refresh && self.plan.steps[at].path == path)
    }
}

#[cfg(test)]
pub(crate) mod tests;
