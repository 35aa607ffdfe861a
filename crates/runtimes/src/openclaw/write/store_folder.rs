//! Puts the store of the plugin `memory-lancedb` back: a folder beside the workspace.
//!
//! The store is written completely or not at all. An existing store that differs stays, unless the
//! user chose the snapshot's; then it is renamed. Without a place for the store, its memories go into
//! Markdown.

use std::io;
use std::path::{Path, PathBuf};

use anemone_files::rename_to_free;
use anemone_format::{FileRoot, Moment, RecordPlace, SnapshotSource, SourceFile, SourceKind};

use crate::kit::{
    Conflict, FilesBeside, FoundAgent, Machine, MemoriesStep, NotRestoredKind, OnConflict,
    PlanBuilder, PlanError, PlannedChange, RestoreError, RestoreSource, StoreError, Workspace,
    as_path, hash_file, names_in, stays_below, with_suffix,
};
use crate::openclaw::config::Config;
use crate::openclaw::lancedb::{self, ROOT, TABLE, is_of_store};

/// What becomes of the store of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreFate {
    /// There is none, or no place for it: its memories are written into files.
    Absent,
    /// Its memories are, or will be, in the store.
    InStore,
    /// Another store is there and stays.
    Kept,
}

/// Returns whether a file of a snapshot is one of the store.
pub(super) fn is_store_file(file: &SourceFile) -> bool {
    matches!(&file.root, FileRoot::Raw(root) if root == ROOT)
}

/// Plans how the files of a store go back; `files` are they, with their positions in the source.
pub(super) fn plan(
    machine: &Machine,
    source: &dyn SnapshotSource,
    files: Vec<(usize, SourceFile)>,
    target: &FoundAgent,
    on_conflict: OnConflict,
    draft: &mut PlanBuilder,
) -> Result<StoreFate, PlanError> {
    let files: Vec<(usize, SourceFile)> = files.into_iter().filter_map(in_table).collect();
    if files.is_empty() {
        return Ok(StoreFate::Absent);
    }
    let config = target.config.as_ref().and_then(|file| Config::of(machine, file));
    let Ok(Some(folder)) = lancedb::folder(machine, target, config.as_deref()) else {
        let reason = "the target has no install that could hold it; its memories go into files";
        draft.omit(NotRestoredKind::Files, format!("raw/{ROOT}"), reason);
        draft.beside.insert(ROOT, FilesBeside::Omitted(reason));
        return Ok(StoreFate::Absent);
    };
    let path = folder.join(TABLE);
    let mut count = 0;
    source
        .each_record_place(&mut |place| count += u64::from(is_held(place)))
        .map_err(PlanError::Source)?;
    let (mut added, mut same, mut replaced) = (0, 0, 0);
    let is_there = is_there(&path);
    if !is_there {
        added = count;
    } else if is_same(&path, &files) {
        same = count;
    } else {
        match on_conflict {
            OnConflict::Theirs => replaced = count,
            OnConflict::Stop => {
                let path = path.display().to_string().into_bytes();
                let reason = "the store there has other memories";
                draft.conflicts.push(Conflict { path, reason });
                return Ok(StoreFate::Kept);
            }
            OnConflict::Ours | OnConflict::Both => {
                let reason = "another store is there, and stays as it is";
                draft.omit(NotRestoredKind::Files, path.display(), reason);
                draft.beside.insert(ROOT, FilesBeside::Omitted(reason));
                return Ok(StoreFate::Kept);
            }
        }
    }
    draft.records += count;
    draft.beside.insert(ROOT, FilesBeside::Written);
    let change = StoreFolder { path: path.clone(), files, is_same: same > 0, replaces: is_there };
    draft.memories = Some(MemoriesStep {
        store: path,
        made: !is_there,
        added,
        replaced,
        kept: 0,
        same,
        change: Box::new(change),
    });
    Ok(StoreFate::InStore)
}

/// Returns a file of the table with its path in the table; `None` for any other.
fn in_table((position, mut file): (usize, SourceFile)) -> Option<(usize, SourceFile)> {
    let path = file.path.strip_prefix(TABLE.as_bytes())?.strip_prefix(b"/")?;
    file.path = path.to_vec();
    Some((position, file))
}

/// Whether a record is one of the store.
pub(super) fn is_held(place: &RecordPlace<'_>) -> bool {
    !place.deleted && is_of_store(place.origin_file)
}

/// Whether a folder has the same files.
fn is_same(path: &Path, files: &[(usize, SourceFile)]) -> bool {
    let Ok(folder) = fs_err::canonicalize(path).and_then(|path| Workspace::open(&path)) else {
        return false;
    };
    files.iter().all(|(_, file)| match &file.kind {
        SourceKind::File { size, sha256 } => folder
            .file(&file.path)
            .and_then(hash_file)
            .is_ok_and(|(is, digest)| is == *size && digest == *sha256),
        SourceKind::Folder | SourceKind::Symlink(_) => true,
    })
}

/// Makes the folder.
struct StoreFolder {
    path: PathBuf,
    files: Vec<(usize, SourceFile)>,
    /// Whether there is nothing to do.
    is_same: bool,
    /// Whether a store existed when the plan was made.
    replaces: bool,
}

impl PlannedChange for StoreFolder {
    fn apply(
        &self,
        _: &Machine,
        source: &RestoreSource<'_>,
        _: &Moment,
    ) -> Result<Option<PathBuf>, RestoreError> {
        let path = self.path.clone();
        if is_there(&path) && !self.replaces {
            return Err(StoreError::Changed { path }.into());
        }
        let made = if self.is_same { Ok(None) } else { self.make(source.snapshot()) };
        made.map_err(|source| StoreError::Io { path, source }.into())
    }
}

impl StoreFolder {
    fn make(&self, source: &dyn SnapshotSource) -> io::Result<Option<PathBuf>> {
        let above = self.path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        fs_err::create_dir_all(above)?;
        let made = tempfile::Builder::new().prefix(".anemone-store-").tempdir_in(above)?;
        for (position, file) in &self.files {
            // Names in an archive are hostile, and a table has no links.
            if !stays_below(&file.path) {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            let path = made.path().join(as_path(&file.path));
            match &file.kind {
                SourceKind::Folder => {
                    fs_err::create_dir_all(&path)?;
                    set_mode(&path, file.mode.map(|mode| mode | 0o700))?;
                }
                SourceKind::Symlink(_) => {}
                SourceKind::File { .. } => {
                    if let Some(folder) = path.parent() {
                        fs_err::create_dir_all(folder)?;
                    }
                    let mut out =
                        fs_err::OpenOptions::new().write(true).create_new(true).open(&path)?;
                    io::copy(&mut source.content(*position)?, &mut out)?;
                    out.sync_all()?;
                    set_mode(&path, file.mode)?;
                    if let Some(at) = &file.mtime {
                        out.file().set_modified(at.instant().into())?;
                    }
                }
            }
        }
        let backup = if is_there(&self.path) {
            Some(set_aside(&self.path)?)
        } else {
            // An empty folder may be there.
            fs_err::remove_dir(&self.path).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })?;
            None
        };
        rename_to_free(made.path(), &self.path)?;
        anemone_files::sync_folder_if_possible(above)?;
        Ok(backup)
    }
}

fn set_mode(path: &Path, mode: Option<u32>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(mode) = mode else { return Ok(()) };
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode & 0o777))
}

/// Whether a folder is there with something in it.
fn is_there(path: &Path) -> bool {
    fs_err::symlink_metadata(path).is_ok_and(|found| !found.is_dir()) || !names_in(path).is_empty()
}

/// Renames the existing store; returns its new path.
fn set_aside(path: &Path) -> io::Result<PathBuf> {
    const MOST: u32 = 1000;
    for number in 1..=MOST {
        let aside = with_suffix(path, &format!(".replaced-{number}"));
        match rename_to_free(path, &aside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            renamed => return renamed.map(|()| aside),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
