//! Where copies of memories were put: indexes by `--index-dir`, snapshots by `migrate --snapshots`,
//! archives that commands wrote or restored from, and agents that `migrate` and `import` made.
//!
//! ```text
//! <state>/anemone/known-folders/
//!   index-0f3a....json        by the digest of the folder's or file's path
//!   snapshots-77c1....json
//!   archive-5e02....json
//!   copy-a90c....json
//! ```
//!
//! `anemone forget --for-good` searches them. If a note cannot be written, nothing fails: the
//! folder is then unknown.

use std::path::{Path, PathBuf};

use anemone_files::{Durability, make_private_folder};
use anemone_format::sha256_hex;
use anemone_runtimes::{FoundAgent, Machine, MemoryBackend, Runtime};
use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::note_file;

/// A path has some thousand bytes, and no byte of it takes more than ten in JSON.
const MAX_NOTE: u64 = 64 << 10;

/// What a folder holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderKind {
    /// A search index.
    Index,
    /// Archives of agents.
    Snapshots,
    /// It is no folder but one archive.
    Archive,
    /// The files or the database of an agent that came from another place.
    Copy,
}

impl FolderKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Snapshots => "snapshots",
            Self::Archive => "archive",
            Self::Copy => "copy",
        }
    }
}

/// A folder that was used.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct KnownFolder {
    /// The folder.
    pub folder: PathBuf,
    /// What an index is of; whose memory an archive was written from; of a copy in a database, the
    /// folder by which its agent is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<PathBuf>,
}

/// Notes that a folder is used.
pub fn note_folder(host: &Host, kind: FolderKind, folder: &Path, place: Option<&Path>) {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let known = KnownFolder { folder: absolute(folder), place: place.map(absolute) };
    let name = sha256_hex(known.folder.as_os_str().as_encoded_bytes());
    let home = home(host);
    let path = home.join(format!("{}-{}.json", kind.as_str(), &name[..32]));
    // What is known of it already is kept where there is nothing new to say.
    let is_known = note_file::read(&path, MAX_NOTE)
        .is_some_and(|there: KnownFolder| there == known || known.place.is_none());
    if !is_known {
        let write = || {
            make_private_folder(&home)?;
            note_file::write(&path, &known, Durability::Immediate)
        };
        write().ok();
    }
}

/// Notes that an agent was made from an archive or from another agent.
pub fn note_copy(host: &Host, machine: &Machine, runtime: &Runtime, agent: &FoundAgent) {
    note_folder(host, FolderKind::Copy, &agent.workspace, None);
    if let MemoryBackend::Sqlite(database) = runtime.searchable(machine, agent).keeps {
        let place = agent.install.as_deref().unwrap_or(&agent.workspace);
        note_folder(host, FolderKind::Copy, &database, Some(place));
    }
}

/// Lists the folders that were used.
pub fn known_folders(host: &Host, kind: FolderKind) -> Vec<KnownFolder> {
    let Ok(listed) = fs_err::read_dir(home(host)) else { return Vec::new() };
    let start = format!("{}-", kind.as_str());
    let is_of_kind = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(&start))
    };
    let mut paths: Vec<_> = listed.flatten().map(|entry| entry.path()).filter(is_of_kind).collect();
    paths.sort_unstable();
    paths.iter().filter_map(|path| note_file::read(path, MAX_NOTE)).collect()
}

fn home(host: &Host) -> PathBuf {
    host.folders.own_state().join("known-folders")
}
