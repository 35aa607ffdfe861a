//! The state of an index's files when the last writer finished.

use std::io::{self, Write as _};
use std::path::Path;

use anemone_files::{
    Durability, Existing, FileStamp, FileStat, commit, read_small, sync_folder_if_possible,
};
use serde::{Deserialize, Serialize};

use super::folder;
use super::lexical::LEXICAL;
use super::rows::{ROWS, VECTORS};
use crate::digest::DIGEST_VERSION;
use crate::outline::OUTLINE_VERSION;
use crate::text::TEXT_VERSION;

/// The seal's file.
pub(super) const SEAL: &str = "seal.json";
/// Changes when the format of the rows, the bodies of chunks, their vectors or the lexical index
/// changes.
const STORE_VERSION: u32 = 4;
/// Threads that sync files, at most.
const SYNCED_AT_ONCE: usize = 8;
/// Bytes of a seal, at most: about ten thousand files.
const MAX_SEAL_BYTES: u64 = 2 << 20;

/// The state that a writer left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seal {
    version: String,
    /// Grows with each writer.
    pub(super) generation: u64,
    files: Vec<Sealed>,
}

/// The stamp of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Sealed {
    name: String,
    size: u64,
    modified_ns: i64,
    changed_ns: i64,
}

/// The result of inspecting the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SealState {
    /// Everything is as the last writer left it.
    Whole(Seal),
    /// The index must be rebuilt, for this reason.
    Broken(&'static str),
}

/// Compares the folder with its seal.
pub(super) fn look(folder: &Path) -> SealState {
    let bytes = match read_small(&folder.join(SEAL), MAX_SEAL_BYTES) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            let anything = [ROWS, VECTORS, LEXICAL]
                .iter()
                .any(|name| folder.join(name).symlink_metadata().is_ok());
            // A writer removes the seal first and restores it last.
            return SealState::Broken(if anything { "unfinished" } else { "new" });
        }
        Err(_) => return SealState::Broken("damaged"),
    };
    let Ok(seal) = serde_json::from_slice::<Seal>(&bytes) else {
        return SealState::Broken("damaged");
    };
    if seal.version != version() {
        return SealState::Broken("version");
    }
    // The names that every index has; a seal that lacks one was not written by us.
    let known = |name: &str| seal.files.iter().any(|file| file.name == name);
    if !known(ROWS) || !known(VECTORS) || !known(&format!("{LEXICAL}/meta.json")) {
        return SealState::Broken("damaged");
    }
    for sealed in &seal.files {
        if !is_plain(&sealed.name) || Sealed::of(folder, &sealed.name).as_ref() != Some(sealed) {
            return SealState::Broken("damaged");
        }
    }
    SealState::Whole(seal)
}

/// Returns the bytes of the seal: it contains times, so no two seals are equal.
pub(super) fn bytes(folder: &Path) -> Option<Vec<u8>> {
    read_small(&folder.join(SEAL), MAX_SEAL_BYTES).ok().flatten()
}

/// Whether a seal file exists, whatever it contains.
pub(super) fn is_seal(folder: &Path) -> bool {
    bytes(folder).is_some_and(|bytes| serde_json::from_slice::<Seal>(&bytes).is_ok())
}

/// Writes the current state of the files. Files that are new since `before` are synced when this
/// returns, so that a seal never outlives the files it describes.
pub(super) fn write(folder: &Path, generation: u64, before: Option<&Seal>) -> io::Result<Seal> {
    let mut names = vec![ROWS.to_owned(), VECTORS.to_owned()];
    for entry in fs_err::read_dir(folder.join(LEXICAL))? {
        if let Ok(name) = entry?.file_name().into_string() {
            names.push(format!("{LEXICAL}/{name}"));
        }
    }
    names.sort_unstable();
    let mut files = Vec::with_capacity(names.len());
    let mut written = Vec::new();
    for name in names {
        match Sealed::of(folder, &name) {
            Some(found) if before.is_some_and(|before| before.files.contains(&found)) => {
                files.push(found);
            }
            Some(_) => written.push(name),
            None => {}
        }
    }
    sync(folder, &written)?;
    // The times are those after the sync: some file systems set them late.
    files.extend(written.iter().filter_map(|name| Sealed::of(folder, name)));
    let seal = Seal { version: version(), generation, files };
    let mut temporary = tempfile::Builder::new().prefix(folder::UNSEALED).tempfile_in(folder)?;
    temporary.write_all(&serde_json::to_vec(&seal)?)?;
    // The files that it seals are synced; a seal that a power failure damages only costs a rebuild.
    commit(temporary, &folder.join(SEAL), Existing::Replace, Durability::Eventual)?;
    Ok(seal)
}

/// Syncs files. A file system's journal commits concurrent requests together, while sequential ones
/// each cost a disk flush.
fn sync(folder: &Path, names: &[String]) -> io::Result<()> {
    let share = names.len().div_ceil(SYNCED_AT_ONCE).max(1);
    let sync = |names: &[String]| {
        names.iter().try_for_each(|name| fs_err::File::open(folder.join(name))?.sync_data())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            names.chunks(share).map(|names| scope.spawn(move || sync(names))).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread stopped")))
        })
    })
}

/// Removes the seal durably: from here on, until the next seal, there is no valid index.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    folder::remove(&path.join(SEAL))?;
    sync_folder_if_possible(path)
}

fn version() -> String {
    let tantivy = tantivy::version_string();
    format!("{STORE_VERSION}/{TEXT_VERSION}/{OUTLINE_VERSION}/{DIGEST_VERSION}/{tantivy}")
}

/// Whether a name stays in the folder, because seals may be untrusted.
fn is_plain(name: &str) -> bool {
    let own = name.strip_prefix(LEXICAL).and_then(|rest| rest.strip_prefix('/'));
    [ROWS, VECTORS].contains(&name)
        || own.is_some_and(|name| !name.is_empty() && !name.contains('/') && name != "..")
}

impl Sealed {
    fn of(folder: &Path, name: &str) -> Option<Self> {
        let stat = FileStat::of_path(&folder.join(name)).ok().filter(FileStat::is_file)?;
        let FileStamp { size, modified_ns, changed_ns, .. } = stat.stamp();
        Some(Self { name: name.to_owned(), size, modified_ns, changed_ns })
    }
}
