//! Who owns a folder, and which files in it belong to an index. Nothing is removed from a folder
//! that is not marked as ours, and from ours only what we or tantivy created.

use std::io;
use std::path::Path;

use anemone_files::if_found;

use super::embeddings::EMBEDDINGS;
use super::lexical::LEXICAL;
use super::lock::{self, LOCK};
use super::rows::{ROWS, VECTORS};
use super::seal::{self, SEAL};
use super::{Store, StoreError};
use crate::progress::IndexProgress;

/// The files that SQLite puts beside a database.
const BESIDE: [&str; 4] = ["", "-journal", "-wal", "-shm"];
/// How the temporary names of a seal begin.
pub(super) const UNSEALED: &str = ".seal-";

/// Whether a folder holds an index: its lock or its seal says so, names alone do not.
#[must_use]
pub fn is_index(folder: &Path) -> bool {
    lock::is_marked(folder) || seal::is_seal(folder)
}

/// Whether an index may be in a folder: the folder does not exist or is empty, or it holds an index
/// and nothing else. Names that begin with a dot do not count.
pub fn may_hold_index(folder: &Path) -> io::Result<bool> {
    let Some(names) = if_found(fs_err::read_dir(folder))? else { return Ok(true) };
    let mut is_empty = true;
    for name in names {
        let name = name?.file_name();
        let name = name.to_str().unwrap_or_default();
        if !is_own(name) && (name.is_empty() || !name.starts_with('.')) {
            return Ok(false);
        }
        // Another process may be creating an index here; the lock file comes first.
        is_empty &= name == LOCK && lock::is_begun(folder);
    }
    Ok(is_empty || is_index(folder))
}

/// Removes an index that is not in use, with its embeddings, and its folder when nothing else is in
/// it; returns whether there was one.
pub fn remove_index(folder: &Path, progress: &dyn IndexProgress) -> Result<bool, StoreError> {
    if !is_index(folder) {
        return Ok(false);
    }
    let mut store = Store::open(folder)?;
    let _held = store.lock_alone(progress)?;
    remove_own(folder).map_err(StoreError::Unwritable)?;
    Ok(true)
}

fn remove_own(folder: &Path) -> io::Result<()> {
    remove_derived(folder)?;
    for beside in BESIDE {
        remove(&folder.join(format!("{EMBEDDINGS}{beside}")))?;
    }
    // Last: until here the folder is marked as ours.
    remove(&folder.join(LOCK))?;
    remove_empty(folder)
}

/// Refuses a folder that is not empty and not marked as ours.
pub(super) fn check(folder: &Path) -> io::Result<()> {
    if is_index(folder) {
        return Ok(());
    }
    let mut others = 0;
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        // A process that starts at this moment has created the lock but not the rest.
        let begins = entry.file_name() == LOCK && lock::is_begun(folder);
        others += u32::from(!begins);
    }
    // Checked again: it may have been created meanwhile, and the lock comes first.
    if others > 0 && !is_index(folder) {
        let why = "the folder holds something else than an index";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    }
    Ok(())
}

/// Removes all derived files, the seal first; files that are not ours stay.
pub(super) fn remove_derived(folder: &Path) -> io::Result<()> {
    seal::remove(folder)?;
    for beside in BESIDE {
        remove(&folder.join(format!("{ROWS}{beside}")))?;
        remove(&folder.join(format!("{VECTORS}{beside}")))?;
    }
    for entry in fs_err::read_dir(folder)? {
        let name = entry?.file_name();
        if name.to_str().is_some_and(|name| name.starts_with(UNSEALED)) {
            remove(&folder.join(name))?;
        }
    }
    let lexical = folder.join(LEXICAL);
    if !lexical.symlink_metadata().is_ok_and(|there| there.is_dir()) {
        return remove(&lexical);
    }
    for entry in fs_err::read_dir(&lexical)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(is_tantivys) {
            remove(&entry.path())?;
        }
    }
    remove_empty(&lexical)
}

/// Removes a file, a link or an empty folder; a missing one counts as removed.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs_err::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs_err::remove_dir(path),
        Ok(_) => fs_err::remove_file(path),
        Err(error) => Err(error),
    };
    if_found(removed).map(|_| ())
}

/// Removes a folder unless something is in it.
fn remove_empty(folder: &Path) -> io::Result<()> {
    match remove(folder) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => removed,
    }
}

/// Whether a name in the folder belongs to an index.
fn is_own(name: &str) -> bool {
    let database = |of: &str| name.strip_prefix(of).is_some_and(|rest| BESIDE.contains(&rest));
    [LOCK, SEAL, LEXICAL].contains(&name)
        || name.starts_with(UNSEALED)
        || database(ROWS)
        || database(VECTORS)
        || database(EMBEDDINGS)
}

/// Whether a name in the lexical index was created by tantivy, or by us for it: names of segments
/// are 32 digits and an extension.
fn is_tantivys(name: &str) -> bool {
    let segment = name.split_once('.').is_some_and(|(id, ending)| {
        id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()) && !ending.is_empty()
    });
    segment
        || name == "meta.json"
        || name == ".managed.json"
        || name.starts_with(".tmp")
        || name.starts_with(".tantivy-")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{corpus, filled};
    use super::*;
    use crate::progress::NoProgress;

    fn write(folder: &Path, names: &[&str]) {
        for name in names {
            fs_err::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
            fs_err::write(folder.join(name), "mine").unwrap();
        }
    }

    #[test]
    fn names_do_not_make_an_index() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        assert!(may_hold_index(path).unwrap() && may_hold_index(&path.join("absent")).unwrap());
        write(path, &["lock", "seal.json", "lexical/thesis.txt", "index.sqlite"]);
        assert!(!is_index(path) && !may_hold_index(path).unwrap());
        assert!(matches!(Store::open(path), Err(StoreError::Unwritable(_))));
        assert!(!remove_index(path, &NoProgress).unwrap());
        for name in ["lock", "seal.json", "lexical/thesis.txt", "index.sqlite"] {
            assert_eq!(fs_err::read_to_string(path.join(name)).unwrap(), "mine", "{name}");
        }
    }

    #[test]
    fn an_index_goes_as_a_whole_and_what_else_is_there_stays() {
        let (folder, store) = filled(&corpus(5, 1));
        drop(store);
        let path = folder.path();
        assert!(is_index(path) && may_hold_index(path).unwrap());
        write(path, &["lexical/thesis.txt", "embeddings.sqlite", ".seal-x", "diary.md"]);
        assert!(!may_hold_index(path).unwrap());
        assert!(remove_index(path, &NoProgress).unwrap());
        let left = |at: &Path| -> Vec<_> {
            let mut names: Vec<_> =
                fs_err::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(left(path), ["diary.md", "lexical"]);
        assert_eq!(left(&path.join("lexical")), ["thesis.txt"]);
        assert!(!remove_index(path, &NoProgress).unwrap());

        let (folder, store) = filled(&corpus(5, 1));
        drop(store);
        assert!(remove_index(folder.path(), &NoProgress).unwrap());
        assert!(!folder.path().exists());
    }

    #[test]
    fn an_index_in_use_is_not_removed() {
        let (folder, store) = filled(&corpus(5, 1));
        let reading = store.reading().unwrap();
        std::thread::scope(|scope| {
            let removing = scope.spawn(|| remove_index(folder.path(), &NoProgress));
            std::thread::sleep(std::time::Duration::from_millis(100));
            assert!(!removing.is_finished() && is_index(folder.path()));
            drop(reading);
            assert!(removing.join().unwrap().unwrap());
        });
        // The next writer starts over.
        assert!(matches!(store.reading(), Err(StoreError::NotFilled)));
    }
}
