//! The note beside an index: its source, its last use, and the embedder that was named for it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anemone_files::{Durability, folder_of, if_found, make_private_folder};
use anemone_format::Moment;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::is_in_cache;

use crate::host::Host;
use crate::note_file;
use crate::search::target::SearchTarget;

/// The content of the note beside an index.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct IndexNote {
    pub kind: String,
    /// The place; what is not UTF-8 is replaced.
    pub place: String,
    /// Its bytes, when they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    place_bytes: Option<Vec<u8>>,
    /// Whether the path existed: an agent may have memories and no workspace.
    was_there: bool,
    pub used_at: Moment,
    /// The embedder that the user filled this index with.
    #[serde(skip_serializing_if = "Option::is_none")]
    embedder: Option<NotedEmbedder>,
}

/// An embedder that the user named for an index, so that it is found again when the index is
/// rebuilt. No text is sent to a service that the user did not name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct NotedEmbedder {
    /// Such as `builtin-quality` or `openai:text-embedding-3-small`.
    pub name: String,
    /// Where it is, when the user said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl IndexNote {
    pub(super) fn of(kind: &str, place: &Path, used_at: Timestamp) -> Self {
        Self {
            kind: kind.to_owned(),
            place: place.to_string_lossy().into_owned(),
            place_bytes: place.to_str().is_none().then(|| place.as_os_str().as_bytes().to_vec()),
            was_there: fs_err::symlink_metadata(place).is_ok(),
            used_at: used_at.into(),
            embedder: None,
        }
    }

    pub(super) fn path(&self) -> PathBuf {
        match &self.place_bytes {
            Some(bytes) => PathBuf::from(OsStr::from_bytes(bytes)),
            None => PathBuf::from(&self.place),
        }
    }

    /// Whether the source is certainly deleted: a source on an unmounted disk or in an unreadable
    /// folder may come back.
    pub(super) fn is_gone(&self) -> bool {
        let path = self.path();
        let is_gone = matches!(if_found(fs_err::symlink_metadata(&path)), Ok(None));
        self.was_there && is_gone && path.parent().is_some_and(Path::is_dir)
    }
}

/// Records the source of an index in a note beside it, about once a minute. Without the note an
/// index is only harder to distinguish from others, so a failure to write it is not reported.
pub(super) fn note_source(searched: &SearchTarget, host: &Host) {
    const OFTEN: SignedDuration = SignedDuration::from_mins(1);
    write_if_other(searched, host, |old, new| {
        let Some(old) = old else { return true };
        new.embedder.clone_from(&old.embedder);
        let is_old = |used_at: Timestamp| now(host).duration_since(used_at).abs() >= OFTEN;
        old.used_at.as_str().parse().map_or(true, is_old)
            || IndexNote { used_at: old.used_at.clone(), ..new.clone() } != *old
    });
}

/// Notes beside an index which embedder was named for it.
pub fn note_embedder(searched: &SearchTarget, host: &Host, embedder: NotedEmbedder) {
    write_if_other(searched, host, |old, new| {
        new.embedder = Some(embedder);
        old.is_none_or(|old| old.embedder != new.embedder)
    });
}

/// Returns the embedder that was named for an index.
pub fn noted_embedder(searched: &SearchTarget, host: &Host) -> Option<NotedEmbedder> {
    let folder = &searched.index_folder;
    is_in_cache(folder, host).then(|| read_note(&note_path(folder)))??.embedder
}

/// Whole seconds are exact enough.
fn now(host: &Host) -> Timestamp {
    let now = host.now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

/// Writes a note when there is something to note.
fn write_if_other(
    searched: &SearchTarget,
    host: &Host,
    is_other: impl FnOnce(Option<&IndexNote>, &mut IndexNote) -> bool,
) {
    // Notes are only written beside indexes in our own folder.
    if !is_in_cache(&searched.index_folder, host) {
        return;
    }
    let place = std::path::absolute(&searched.place).unwrap_or_else(|_| searched.place.clone());
    let mut new = IndexNote::of(searched.kind, &place, now(host));
    let path = note_path(&searched.index_folder);
    if is_other(read_note(&path).as_ref(), &mut new)
        && make_private_folder(folder_of(&path)).is_ok()
    {
        write_note(&path, &new).ok();
    }
}

/// Writes a note as a whole; a link in its place is replaced.
pub(super) fn write_note(path: &Path, note: &IndexNote) -> std::io::Result<()> {
    // A search writes it, and must not wait for the disk.
    note_file::write(path, note, Durability::Eventual)
}

pub(super) fn note_path(folder: &Path) -> PathBuf {
    folder.with_extension("json")
}

pub(super) fn read_note(path: &Path) -> Option<IndexNote> {
    /// A path or a URL has some thousand bytes, and no byte of it takes more than ten in JSON.
    const MAX_NOTE: u64 = 64 << 10;
    note_file::read(path, MAX_NOTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_written_through_no_link() {
        let home = tempfile::tempdir().unwrap();
        let (victim, path) = (home.path().join("victim"), home.path().join("a.json"));
        fs_err::write(&victim, "mine").unwrap();
        fs_err::os::unix::fs::symlink(&victim, &path).unwrap();
        let note = IndexNote::of("folder", home.path(), Timestamp::UNIX_EPOCH);
        write_note(&path, &note).unwrap();
        assert_eq!(fs_err::read_to_string(&victim).unwrap(), "mine");
        assert_eq!(read_note(&path), Some(note));
    }

    #[test]
    fn only_what_is_gone_for_certain_leaves_an_orphan() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("disk");
        let odd = folder.join(OsStr::from_bytes(b"not\xff\"utf-8"));
        fs_err::create_dir_all(&odd).unwrap();
        let path = home.path().join("a.json");
        write_note(&path, &IndexNote::of("folder", &odd, Timestamp::UNIX_EPOCH)).unwrap();
        let note = read_note(&path).unwrap();
        assert_eq!(note.path(), odd);
        assert!(!note.is_gone());
        fs_err::remove_dir(&odd).unwrap();
        assert!(note.is_gone());
        let absent = IndexNote::of("zeroclaw", &odd, Timestamp::UNIX_EPOCH);
        assert!(!absent.is_gone(), "it never was there");
        fs_err::remove_dir(&folder).unwrap();
        assert!(!note.is_gone(), "the disk may come back");
    }
}
