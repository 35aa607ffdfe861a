//! Finds, opens and refreshes the index of a search target, in the same way for every command.
//!
//! Indexes are kept in the user's cache: those of an agent in its own folder, all others together.
//! Each is a folder with a note beside it that names its source:
//!
//! ```text
//! <cache>/anemone/agents/<id>/index/
//! <cache>/anemone/index/
//!   0f3a.../        an index
//!   0f3a....json    what it is of, when it was last used, which embedder was named for it
//! ```

mod note;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anemone_embed::{Builtin, Embedder};
use anemone_files::if_found;
use anemone_format::Moment;
use anemone_index::{
    Answer, Document, Freshness, Index, NoProgress, OpenIndexError, QueryError as AskError,
    RefreshError, RefreshExtras, Request, SkippedDocument, SourceError, StoreError, is_index,
    remove_index,
};
use serde::Serialize;

use crate::files::Scratch;
use crate::host::Host;
use crate::identity::{AgentDirs, INDEXES};
use crate::known_folders::{FolderKind, note_folder};
use crate::search::target::SearchTarget;
use crate::search::{SearchNote, SourceNote};
pub use note::{NotedEmbedder, note_embedder, noted_embedder};
use note::{note_path, note_source, read_note};

/// An index that is up to date.
pub struct OpenIndex {
    /// The index.
    pub index: Index,
    /// What was brought up to date.
    pub freshness: Freshness,
    /// The temporary folder of an index that could not be stored in its usual place, and the
    /// reason; the folder is deleted after the run.
    temporary: Option<(Scratch, String)>,
}

impl OpenIndex {
    /// Whether the index is deleted after the run.
    pub fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }
}

/// What to do if an index cannot be stored in its usual place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexFallback {
    /// Answer from a temporary one.
    Temporary,
    /// Fail: the request is about the index itself.
    Fail,
}

/// Whether an index is emptied first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rebuild {
    /// It is updated.
    No,
    /// It is rebuilt.
    Yes,
}

/// Why an index cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum IndexError {
    /// The sources cannot be read; another index would not help.
    Source(#[from] SourceError),
    /// It cannot be opened.
    Open(#[from] OpenIndexError),
    /// It cannot be written.
    #[error("cannot bring the index up to date")]
    Refresh(#[source] StoreError),
    /// It cannot be kept in its folder.
    #[error("{}: {source}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: Box<Self>,
    },
    /// It cannot be asked.
    Ask(#[from] AskError),
    /// It cannot be read.
    Store(#[from] StoreError),
    /// A file beside it cannot be read or removed.
    Io(#[from] std::io::Error),
}

impl From<RefreshError> for IndexError {
    fn from(error: RefreshError) -> Self {
        match error {
            RefreshError::Source(error) => Self::Source(error),
            RefreshError::Store(error) => Self::Refresh(error),
        }
    }
}

impl IndexError {
    /// Says which folder it is about.
    fn in_folder(self, folder: &Path) -> Self {
        Self::Folder { folder: folder.to_owned(), source: Box::new(self) }
    }

    /// Returns the last cause.
    fn reason(&self) -> String {
        let mut last: &dyn std::error::Error = self;
        while let Some(cause) = last.source() {
            last = cause;
        }
        last.to_string()
    }
}

/// Opens the index of a search target and takes in changes.
pub fn open_fresh(
    target: &SearchTarget,
    host: &Host,
    rebuild: Rebuild,
    fallback: IndexFallback,
) -> Result<OpenIndex, IndexError> {
    let folder = &target.index_folder;
    let was_there = fs_err::symlink_metadata(folder).is_ok();
    let why = match open_in(folder, target, host, rebuild) {
        Ok((index, freshness)) => {
            note_source(target, host);
            note_elsewhere(target, host);
            return Ok(OpenIndex { index, freshness, temporary: None });
        }
        Err(IndexError::Source(error)) => {
            // An unreadable source has no index worth keeping, unless it was readable before.
            if !was_there {
                remove_index(folder, &NoProgress).ok();
            }
            return Err(error.into());
        }
        Err(error) if fallback == IndexFallback::Fail => return Err(error.in_folder(folder)),
        Err(error) => error,
    };
    let temporary = Scratch::below(&host.scratch)?;
    match open_in(temporary.path(), target, host, Rebuild::No) {
        Ok((index, freshness)) => {
            let temporary = Some((temporary, why.reason()));
            Ok(OpenIndex { index, freshness, temporary })
        }
        Err(IndexError::Source(error)) => Err(error.into()),
        // The error names the first place, because the user can change that one.
        Err(_) => Err(why.in_folder(folder)),
    }
}

fn open_in(
    folder: &Path,
    target: &SearchTarget,
    host: &Host,
    rebuild: Rebuild,
) -> Result<(Index, Freshness), IndexError> {
    let mut index = Index::open(folder)?;
    if rebuild == Rebuild::Yes {
        index.clear();
    }
    let freshness = refresh(&mut index, target, host)?;
    match target.failure(&freshness.skipped) {
        Some(error) => Err(error.into()),
        None => Ok((index, freshness)),
    }
}

/// Takes in what changed, with the vectors that cost nothing.
fn refresh(
    index: &mut Index,
    target: &SearchTarget,
    host: &Host,
) -> Result<Freshness, RefreshError> {
    let extras = RefreshExtras { static_model: Some(&Builtin::new()), erases: false };
    index.refresh_filled(&target.sources(), extras, host.now(), &*host.console.indexing())
}

impl OpenIndex {
    /// Takes in the changes since the index was opened. The report is about this refresh only.
    pub fn refresh(&mut self, target: &SearchTarget, host: &Host) -> Result<(), IndexError> {
        self.freshness = refresh(&mut self.index, target, host)?;
        match target.failure(&self.freshness.skipped) {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Looks once more, after something was written into the index.
    pub fn look_again(&mut self, target: &SearchTarget, host: &Host) -> Result<(), IndexError> {
        let after = refresh(&mut self.index, target, host)?;
        self.freshness = std::mem::take(&mut self.freshness).then(after);
        Ok(())
    }

    /// Asks the index. When it turns out that it cannot be read, it is rebuilt first.
    pub fn search(
        &mut self,
        request: &Request,
        target: &SearchTarget,
        host: &Host,
        embedders: &[&dyn Embedder],
    ) -> Result<Answer, IndexError> {
        const TIMES: usize = 2;
        for _ in 0..TIMES {
            match self.index.search(request, embedders) {
                Err(AskError::Store(error)) if error.is_damage() => {
                    if !matches!(error, StoreError::NotFilled) {
                        self.index.distrust();
                    }
                    self.freshness = refresh(&mut self.index, target, host)?;
                }
                answer => return Ok(answer?),
            }
        }
        Ok(self.index.search(request, embedders)?)
    }

    /// Returns the notes about the sources and about the place of the index.
    pub fn notes(&self, target: &SearchTarget) -> Vec<SearchNote> {
        let not_kept = self.temporary.as_ref().map(|(_, reason)| SourceNote::IndexNotKept {
            folder: target.index_folder.clone(),
            reason: reason.clone(),
        });
        target.notes.iter().cloned().chain(not_kept).map(SearchNote::Source).collect()
    }
}

/// Records an index outside the cache, so that forgotten entries are removed from it as well.
pub fn note_elsewhere(searched: &SearchTarget, host: &Host) {
    // The index of an encrypted source is deleted after the run.
    let is_kept = !searched.is_encrypted();
    if is_kept && !is_in_cache(&searched.index_folder, host) {
        let (folder, place) = (&searched.index_folder, &searched.place);
        note_folder(host, FolderKind::Index, folder, Some(place));
    }
}

/// Counts what is not searched, by reason.
pub fn by_reason(skipped: &[SkippedDocument]) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for one in skipped {
        *counts.entry(one.reason.as_str()).or_default() += 1;
    }
    counts
}

/// Counts what an index leaves out, by reason.
pub fn left_out(freshness: &Freshness) -> BTreeMap<&'static str, u64> {
    let mut counts = by_reason(&freshness.skipped);
    for (reason, number) in &freshness.skipped_unnamed {
        *counts.entry(reason.as_str()).or_default() += number;
    }
    counts
}

/// Reads the document of a path, from the first source that has it.
pub fn read_document(searched: &SearchTarget, path: &str) -> Result<Option<Document>, SourceError> {
    for source in &searched.sources {
        if let Some(document) = source.read(path)? {
            return Ok(Some(document));
        }
    }
    Ok(None)
}

/// Reads every document once, without an index; returns what was skipped.
pub fn each_document(
    searched: &SearchTarget,
    each: &mut dyn FnMut(Document),
) -> Result<Vec<SkippedDocument>, SourceError> {
    let mut seen = BTreeSet::new();
    let mut skipped = Vec::new();
    for source in &searched.sources {
        let listing = source.list()?;
        skipped.extend(listing.skipped);
        for entry in &listing.entries {
            let mut take = |document: Document| {
                // If several sources have the same path, the first one wins.
                if seen.insert(document.path.clone()) {
                    each(document);
                }
            };
            skipped.extend(source.load(entry, &mut take)?);
        }
    }
    Ok(skipped)
}

/// Returns the folder of indexes that are of no agent.
pub(crate) fn home(host: &Host) -> PathBuf {
    host.folders.own_cache().join("index")
}

/// Returns the folder below which all indexes of this user are.
#[must_use]
pub fn cache(host: &Host) -> PathBuf {
    host.folders.own_cache()
}

/// Returns every folder of indexes in the cache.
fn homes(host: &Host) -> Result<Vec<PathBuf>, IndexError> {
    let agents = entries(&AgentDirs::all_caches(&host.folders))?;
    let of_agents = agents.into_iter().map(|agent| agent.path().join(INDEXES));
    Ok(std::iter::once(home(host)).chain(of_agents).collect())
}

/// Whether an index is in the cache, and not where the user wanted it.
pub(crate) fn is_in_cache(index: &Path, host: &Host) -> bool {
    let Some(folder) = index.parent() else { return false };
    let agent = folder.parent().filter(|_| folder.ends_with(INDEXES));
    folder == home(host)
        || agent.and_then(Path::parent) == Some(&*AgentDirs::all_caches(&host.folders))
}

/// Lists a folder that may not exist.
fn entries(folder: &Path) -> Result<Vec<fs_err::DirEntry>, IndexError> {
    let listed = if_found(fs_err::read_dir(folder))?;
    Ok(listed.into_iter().flatten().collect::<Result<_, _>>()?)
}

/// An index that is in the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptIndex {
    /// Where it is.
    pub folder: String,
    /// Its source, if the note beside it is readable.
    pub source: Option<KeptSource>,
    /// Bytes on disk.
    pub bytes: u64,
    /// When it was last used.
    pub used_at: Option<Moment>,
    #[serde(skip)]
    path: PathBuf,
}

/// What an index is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptSource {
    /// The runtime of an agent, `archive`, `database`, `folder` or `file`.
    pub kind: String,
    /// Where that is.
    pub place: String,
    /// Whether that exists.
    pub exists: bool,
    /// Whether it is gone for certain.
    #[serde(skip)]
    is_gone: bool,
}

impl KeptIndex {
    /// Whether its source is gone.
    pub fn is_orphan(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.is_gone)
    }

    /// Removes the index and the note beside it.
    pub fn remove(&self) -> Result<(), IndexError> {
        remove(&self.path)
    }
}

/// Lists the indexes in the cache, by folder.
pub fn kept(host: &Host) -> Result<Vec<KeptIndex>, IndexError> {
    let mut all = Vec::new();
    for home in homes(host)? {
        all.extend(entries(&home)?);
    }
    let mut found = Vec::new();
    for entry in all {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(is_index_name);
        if !is_ours || !entry.file_type()?.is_dir() {
            continue;
        }
        let path = entry.path();
        let note = read_note(&note_path(&path));
        found.push(KeptIndex {
            folder: path.display().to_string(),
            bytes: bytes_of(&path),
            used_at: note.as_ref().map(|note| note.used_at.clone()),
            source: note.map(|note| KeptSource {
                exists: fs_err::symlink_metadata(note.path()).is_ok(),
                is_gone: note.is_gone(),
                kind: note.kind,
                place: note.place,
            }),
            path,
        });
    }
    found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// The name of an index is the beginning of a digest; other files in the cache are not touched.
fn is_index_name(name: &str) -> bool {
    name.len() >= 16 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Adds up the files below a folder; what vanishes meanwhile counts nothing.
pub fn bytes_of(folder: &Path) -> u64 {
    /// An index has one folder in it.
    const MAX_DEPTH: usize = 8;
    let mut total = 0;
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let Ok(entries) = fs_err::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            match entry.metadata() {
                Ok(it) if it.is_dir() && depth < MAX_DEPTH => {
                    folders.push((entry.path(), depth + 1));
                }
                Ok(it) if it.is_file() => total += it.len(),
                _ => {}
            }
        }
    }
    total
}

/// Removes the index of a target from its folder; returns whether there was one.
pub fn drop_index(searched: &SearchTarget, host: &Host) -> Result<bool, IndexError> {
    let folder = &searched.index_folder;
    let there = is_index(folder);
    if is_in_cache(folder, host) {
        remove(folder)?;
    } else {
        remove_index(folder, &NoProgress).map_err(OpenIndexError::from)?;
    }
    Ok(there)
}

/// Removes an index in the cache, with its note. Waits for searches in progress; the next search
/// builds a new index.
fn remove(folder: &Path) -> Result<(), IndexError> {
    remove_index(folder, &NoProgress).map_err(OpenIndexError::from)?;
    if_found(fs_err::remove_file(note_path(folder)))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digests_are_taken_for_indexes() {
        assert!(is_index_name("0123456789abcdef0123456789abcdef"));
        for name in ["", "..", "notes", "0123", "0123456789ABCDEF", "0123456789abcdef.json"] {
            assert!(!is_index_name(name), "{name}");
        }
    }

    #[test]
    fn an_index_goes_with_its_note() {
        let home = tempfile::tempdir().unwrap();
        let index = home.path().join("0123456789abcdef");
        drop(Index::open(&index).unwrap());
        assert!(bytes_of(&index) > 0);
        fs_err::write(note_path(&index), "{}").unwrap();
        remove(&index).unwrap();
        assert_eq!(fs_err::read_dir(home.path()).unwrap().count(), 0);
        remove(&index).unwrap();
    }
}
