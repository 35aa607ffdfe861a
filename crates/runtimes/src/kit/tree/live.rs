//! The database of a workspace, which a running program may have open while the trees are
//! exchanged.
//!
//! The program keeps writing to the files that it has open, so the new tree must contain the same
//! files: with copies, later writes would be lost. The program may change them meanwhile; it
//! creates and deletes the log and the journal as it works.

use std::collections::BTreeMap;
use std::io;

use anemone_files::{FileStat, Folder};
use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::site::{OldTree, join, key_of, open_above, path_of};
use super::{Apply, ApplyTreeError, build::cannot_write};
use crate::kit::Plan;

/// What SQLite puts beside a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The files of a database, by the keys of the tree.
#[derive(Debug, Default)]
pub(super) struct Live {
    database: Option<Vec<u8>>,
    /// All of its files, with the inode that each has in the new tree.
    files: BTreeMap<Vec<u8>, Option<u64>>,
}

impl Live {
    /// Finds the database of a plan, if it exists and is in the workspace.
    pub(super) fn of(plan: &Plan) -> Self {
        let none = Self::default();
        let Some(step) = plan.memories.as_ref().filter(|step| !step.made) else { return none };
        let (Some(folder), Some(name)) = (step.store.parent(), step.store.file_name()) else {
            return none;
        };
        // The plan has the path of the workspace with all links resolved.
        let Ok(folder) = fs_err::canonicalize(folder) else { return none };
        let Ok(below) = folder.strip_prefix(&plan.workspace) else { return none };
        let database = key_of(below.join(name).as_os_str().as_encoded_bytes());
        let OldTree::Full(survey) = &plan.site else { return none };
        if !survey.nodes.get(&database).is_some_and(FileStat::is_file) {
            return none;
        }
        let beside = BESIDE.map(|suffix| [&database, suffix.as_bytes()].concat());
        let keys = [database.clone()].into_iter().chain(beside);
        // What the plan itself puts there, or removes, no longer belongs to the running program.
        let is_ours = |key: &Vec<u8>| {
            let mut made = plan.steps.iter().filter_map(|step| step.destination());
            plan.aside.contains(key) || made.any(|path| key_of(path) == *key)
        };
        if is_ours(&database) {
            return none;
        }
        let files = keys.filter(|key| !is_ours(key)).map(|key| (key, None)).collect();
        Self { database: Some(database), files }
    }

    /// Returns whether a key is that of one of the files.
    pub(super) fn has(&self, key: &[u8]) -> bool {
        self.files.contains_key(key)
    }

    /// Returns whether a key is that of a file that may be missing.
    pub(super) fn comes_and_goes(&self, key: &[u8]) -> bool {
        self.has(key) && self.database.as_deref() != Some(key)
    }

    /// Returns whether a file of the old tree is the one that the new tree got; `None` if it is not
    /// a file of the database.
    pub(super) fn is_in_both(&self, key: &[u8], inode: u64) -> Option<bool> {
        self.files.get(key).map(|linked| *linked == Some(inode))
    }
}

impl Apply<'_> {
    /// Gives the new tree the current files of the database: including those created since it was
    /// built, and without those deleted since.
    pub(super) fn settle_database(&mut self) -> Result<(), ApplyTreeError> {
        let (workspace, staging, able) = (&self.plan.workspace, self.staging, self.able);
        for (key, linked) in &mut self.live.files {
            let path = path_of(key);
            let failed = |error: io::Error| cannot_write(&path, error);
            let changed = || ApplyTreeError::Changed(join(workspace, &path));
            let (old, name) = open_above(workspace, &path).map_err(|_| changed())?;
            let (new, _) = open_above(staging, &path).map_err(failed)?;
            let there = inode_of(&old, name).map_err(failed)?;
            let here = inode_of(&new, name).map_err(failed)?;
            *linked = there;
            if there == here {
                continue;
            }
            if here.is_some() {
                let removed = rustix::fs::unlinkat(&new, name, AtFlags::empty());
                removed.map_err(|error| failed(error.into()))?;
            }
            if there.is_some() {
                let added = if able.link {
                    rustix::fs::linkat(&old, name, &new, name, AtFlags::empty())
                } else {
                    Err(Errno::PERM)
                };
                match added {
                    Ok(()) => {}
                    Err(Errno::NOENT) => return Err(changed()),
                    Err(error) => {
                        let path = join(workspace, &path);
                        return Err(ApplyTreeError::Database { path, source: error.into() });
                    }
                }
            }
            new.sync().map_err(failed)?;
        }
        Ok(())
    }
}

/// Returns the inode of a file, if the file exists.
fn inode_of(folder: &Folder, name: &[u8]) -> io::Result<Option<u64>> {
    match folder.stat(name) {
        Ok(stat) => Ok(Some(stat.inode)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
