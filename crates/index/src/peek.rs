//! Inspects an index without changing it: its contents and how outdated it is.
//!
//! Nothing is written, no lock is waited for and no document is read, so that a caller can query
//! the state at any time.

use std::path::Path;

use anemone_files::FileStat;

use crate::index::RefreshError;
use crate::refresh::behind;
use crate::source::DocumentSource;
use crate::store::glance;

/// The state of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexState {
    /// There is no index.
    Absent,
    /// A writer is active at this moment.
    Busy,
    /// A writer was interrupted; the next refresh rebuilds the index.
    Unfinished,
    /// It was written by another version of the program; the next refresh rebuilds it.
    Outdated,
    /// It is damaged; the next refresh rebuilds it.
    Broken,
    /// It can be queried.
    Whole(IndexContents),
}

/// What an index holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexContents {
    /// Documents in the index.
    pub documents: u64,
    /// Chunks in the index.
    pub chunks: u64,
    /// Entries that are new, or whose stamps have changed since they were read.
    pub changed: u64,
    /// Entries that are gone.
    pub removed: u64,
}

/// Inspects the index in a folder, and compares it with the sources by stamps alone. `walked` are
/// the files of a workspace that was already walked, see [`DocumentSource::listing_of`].
pub fn peek(
    folder: &Path,
    sources: &[&dyn DocumentSource],
    walked: Option<&[(String, FileStat)]>,
) -> Result<IndexState, RefreshError> {
    let (view, _lock) = match glance(folder) {
        Ok(Ok(whole)) => whole,
        Ok(Err(state)) => return Ok(state),
        Err(error) if error.is_damage() => return Ok(IndexState::Broken),
        Err(error) => return Err(error.into()),
    };
    match behind(&view, sources, walked) {
        Ok((changed, removed)) => {
            let (documents, chunks) = (view.statistics().documents, view.statistics().chunks);
            Ok(IndexState::Whole(IndexContents { documents, chunks, changed, removed }))
        }
        Err(RefreshError::Store(error)) if error.is_damage() => Ok(IndexState::Broken),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{FolderSource, Index, MarkdownFolder, NoProgress};

    fn notes(folder: &Path) -> FolderSource {
        fs_err::create_dir_all(folder.join("notes")).unwrap();
        for (name, text) in [("a.md", "# One\n"), ("b.md", "# Two\n")] {
            fs_err::write(folder.join("notes").join(name), text).unwrap();
        }
        let rules = Box::new(MarkdownFolder::default());
        FolderSource::new(folder.join("notes"), String::new(), rules)
    }

    fn names(folder: &Path) -> Vec<std::ffi::OsString> {
        let entries = fs_err::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_of_another_walk_are_not_listed_again() {
        let folder = tempfile::tempdir().unwrap();
        let (source, place) = (notes(folder.path()), folder.path().join("index"));
        let mut index = Index::open(&place).unwrap();
        index.refresh(&[&source], Timestamp::MAX, &NoProgress).unwrap();
        drop(index);
        let walked = ["b.md", "a.md"].map(|name| {
            let stat = FileStat::of_path(&folder.path().join("notes").join(name)).unwrap();
            (name.to_owned(), stat)
        });
        let held = IndexContents { documents: 2, chunks: 2, changed: 0, removed: 0 };
        let look = |walked| peek(&place, &[&source], Some(walked)).unwrap();
        assert_eq!(look(&walked), IndexState::Whole(held));
        let without_one = IndexContents { removed: 1, ..held };
        assert_eq!(look(&walked[1..]), IndexState::Whole(without_one));
    }

    #[test]
    fn a_look_says_what_is_held_and_what_changed_since() {
        let folder = tempfile::tempdir().unwrap();
        let (source, place) = (notes(folder.path()), folder.path().join("index"));
        assert_eq!(peek(&place, &[&source], None).unwrap(), IndexState::Absent);
        assert!(!place.exists(), "a look makes nothing");

        let mut index = Index::open(&place).unwrap();
        assert_eq!(
            peek(&place, &[&source], None).unwrap(),
            IndexState::Absent,
            "nothing is in it yet"
        );
        index.refresh(&[&source], Timestamp::MAX, &NoProgress).unwrap();
        let held = IndexContents { documents: 2, chunks: 2, changed: 0, removed: 0 };
        assert_eq!(peek(&place, &[&source], None).unwrap(), IndexState::Whole(held));
        drop(index);

        fs_err::write(folder.path().join("notes/a.md"), "# One and a half\n").unwrap();
        fs_err::write(folder.path().join("notes/c.md"), "# Three\n").unwrap();
        fs_err::remove_file(folder.path().join("notes/b.md")).unwrap();
        let before = names(&place);
        let behind = IndexContents { changed: 2, removed: 1, ..held };
        assert_eq!(peek(&place, &[&source], None).unwrap(), IndexState::Whole(behind));
        assert_eq!(names(&place), before, "a look leaves nothing");
    }

    #[test]
    fn a_look_waits_for_nobody_and_tells_what_is_broken() {
        let folder = tempfile::tempdir().unwrap();
        let (source, place) = (notes(folder.path()), folder.path().join("index"));
        let mut index = Index::open(&place).unwrap();
        index.refresh(&[&source], Timestamp::MAX, &NoProgress).unwrap();
        let alone = index.store.alone().unwrap();
        assert_eq!(peek(&place, &[&source], None).unwrap(), IndexState::Busy);
        drop(alone);
        fs_err::write(place.join("seal.json"), "{}").unwrap();
        assert_eq!(peek(&place, &[&source], None).unwrap(), IndexState::Broken);
    }

    #[test]
    fn an_interrupted_build_is_not_called_damage() {
        let folder = tempfile::tempdir().unwrap();
        let (source, place) = (notes(folder.path()), folder.path().join("index"));
        let mut index = Index::open(&place).unwrap();
        index.refresh(&[&source], Timestamp::MAX, &NoProgress).unwrap();
        drop(index);
        let seal = fs_err::read_to_string(place.join("seal.json")).unwrap();
        // A writer that removed the seal and was killed before it restored it.
        fs_err::remove_file(place.join("seal.json")).unwrap();
        assert_eq!(peek(&place, &[&source], None).unwrap(), IndexState::Unfinished);
        let other = seal.replacen("\"version\":\"", "\"version\":\"0", 1);
        fs_err::write(place.join("seal.json"), other).unwrap();
        assert_eq!(peek(&place, &[&source], None).unwrap(), IndexState::Outdated);
    }
}
