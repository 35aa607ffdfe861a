//! The index of what is searched: found, opened and brought up to date, for every command alike.
//!
//! Indexes lie in one folder under the user's cache, each in a folder of its own, with a note
//! beside it that says what it is of:
//!
//! ```text
//! <cache>/anemone/index/
//!   0f3a.../        an index
//!   0f3a....json    what it is of, when it was last used, which embedder was named for it
//! ```

mod note;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anemone_embed::{Builtin, Embedder};
use anemone_format::Moment;
use anemone_index::{
    Answer, Document, EmbeddingError, Freshness, Index, OpenIndexError, RefreshError, Replace,
    Request, SearchError, Silent, Skipped, StoreError, is_index, remove_index,
};
use anemone_runtimes::Machine;
use serde::Serialize;

use crate::error::Error;
use crate::files::Scratch;
use crate::host::Host;
use crate::known_folders::{FolderKind, note_folder};
use crate::searched::{SearchTarget, SourceChoice};
pub use note::{NotedEmbedder, note_embedder, noted_embedder};
use note::{note_path, note_source, read_note};

/// An index that is up to date.
pub struct Opened {
    pub index: Index,
    pub freshness: Freshness,
    /// What somebody should know about it.
    pub warnings: Vec<Warning>,
    /// Where it lies when it could not lie where it should; it goes with the run.
    temporary: Option<Scratch>,
}

impl Opened {
    /// Whether the index goes with the run.
    pub fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }
}

/// Something that somebody should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    pub code: &'static str,
    pub message: String,
}

impl From<Error> for Warning {
    fn from(error: Error) -> Self {
        let parts = std::iter::once(error.message).chain(error.causes);
        let message = parts.collect::<Vec<_>>().join(": ");
        let hint = error.hint.map(|it| format!("; {it}")).unwrap_or_default();
        Self { code: error.code, message: message + &hint }
    }
}

/// What to do when an index cannot lie where it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexFallback {
    /// Answer from a temporary one.
    Temporary,
    /// Say so: the index itself is what was asked for.
    Fail,
}

/// Why there is no index.
enum Trouble {
    /// What is searched cannot be read; no other index would help.
    Source(Error),
    /// The index cannot be opened or written.
    Index(Error),
}

impl From<OpenIndexError> for Trouble {
    fn from(error: OpenIndexError) -> Self {
        Self::Index(error.into())
    }
}

impl From<RefreshError> for Trouble {
    fn from(error: RefreshError) -> Self {
        match matches!(error, RefreshError::Source(_)) {
            true => Self::Source(error.into()),
            false => Self::Index(error.into()),
        }
    }
}

/// Opens the index of what is searched and takes in what changed.
pub fn open_fresh(
    searched: &SearchTarget,
    host: &Host,
    rebuild: bool,
    otherwise: IndexFallback,
) -> Result<Opened, Error> {
    let folder = &searched.index_folder;
    let was_there = fs_err::symlink_metadata(folder).is_ok();
    let why = match open_in(folder, searched, host, rebuild) {
        Ok((index, freshness)) => {
            note_source(searched, host);
            note_elsewhere(searched, host);
            let warnings = warnings_of(searched);
            return Ok(Opened { index, freshness, warnings, temporary: None });
        }
        Err(Trouble::Source(error)) => {
            // Of what cannot be read there is nothing to keep, unless it could be read before.
            if !was_there {
                remove_index(folder, &Silent).ok();
            }
            return Err(error);
        }
        Err(Trouble::Index(error)) if otherwise == IndexFallback::Fail => {
            return Err(error.about(folder));
        }
        Err(Trouble::Index(error)) => error,
    };
    let temporary = Scratch::new()?;
    let (index, freshness) = match open_in(temporary.path(), searched, host, false) {
        Ok(opened) => opened,
        Err(Trouble::Source(error)) => return Err(error),
        // The first place is the one that somebody can do something about.
        Err(Trouble::Index(_)) => return Err(why.about(folder)),
    };
    let why = why.causes.last().cloned().unwrap_or(why.message);
    let message = format!(
        "the index cannot be kept in {}, so everything is indexed at every search: {why}",
        folder.display()
    );
    let mut warnings = warnings_of(searched);
    warnings.push(Warning { code: "index_not_kept", message });
    Ok(Opened { index, freshness, warnings, temporary: Some(temporary) })
}

fn open_in(
    folder: &Path,
    searched: &SearchTarget,
    host: &Host,
    rebuild: bool,
) -> Result<(Index, Freshness), Trouble> {
    let mut index = Index::open(folder)?;
    if rebuild {
        index.clear();
    }
    let freshness = refresh(&mut index, searched, host)?;
    match searched.failure(&freshness.skipped) {
        Some(error) => Err(Trouble::Source(error.into())),
        None => Ok((index, freshness)),
    }
}

/// Takes in what changed, with the vectors that cost nothing.
///
/// While vectors are written others may have the index, so it is looked at once more afterwards:
/// an answer is to be of what is searched.
fn refresh(
    index: &mut Index,
    searched: &SearchTarget,
    host: &Host,
) -> Result<Freshness, RefreshError> {
    /// Others want the index too, and nobody wants it this often.
    const TIMES: usize = 8;
    let sources: Vec<_> = searched.sources.iter().map(|it| &**it).collect();
    let look = |index: &mut Index| index.refresh(&sources, host.now(), &*host.console.indexing());
    let mut seen = look(index)?;
    for _ in 0..TIMES {
        match index.embed(&Builtin::new(), Replace::Yes, &Silent) {
            Ok(done) if done.chunks == 0 => break,
            Err(EmbeddingError::Store(error)) if !error.is_damage() => return Err(error.into()),
            _ => seen = together(&seen, look(index)?),
        }
    }
    Ok(seen)
}

/// What two refreshes did, one after the other.
fn together(before: &Freshness, after: Freshness) -> Freshness {
    Freshness {
        added: before.added + after.added,
        changed: before.changed + after.changed,
        removed: before.removed + after.removed,
        rebuilt: before.rebuilt.or(after.rebuilt),
        ..after
    }
}

impl Opened {
    /// Takes in what changed since this was opened; what is said of it is of this look alone.
    pub fn refresh(&mut self, searched: &SearchTarget, host: &Host) -> Result<(), Error> {
        self.freshness = refresh(&mut self.index, searched, host)?;
        self.warnings = warnings_of(searched);
        match searched.failure(&self.freshness.skipped) {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Looks once more, after something was written into the index.
    pub fn look_again(&mut self, searched: &SearchTarget, host: &Host) -> Result<(), Error> {
        let after = refresh(&mut self.index, searched, host)?;
        self.freshness = together(&self.freshness, after);
        Ok(())
    }

    /// Asks the index. When it turns out that it cannot be read, it is made anew first.
    pub fn search(
        &mut self,
        request: &Request,
        searched: &SearchTarget,
        host: &Host,
        embedders: &[&dyn Embedder],
    ) -> Result<Answer, Error> {
        const TIMES: usize = 2;
        for _ in 0..TIMES {
            match self.index.search(request, embedders) {
                Err(SearchError::Store(error)) if error.is_damage() => {
                    if !matches!(error, StoreError::NotFilled) {
                        self.index.distrust();
                    }
                    self.freshness = refresh(&mut self.index, searched, host)?;
                }
                answer => return Ok(answer?),
            }
        }
        Ok(self.index.search(request, embedders)?)
    }
}

/// What there is to say about what is searched.
fn warnings_of(searched: &SearchTarget) -> Vec<Warning> {
    let warnings = searched.warnings.iter().cloned();
    warnings.map(|message| Warning { code: "source", message }).collect()
}

/// Finds what is meant by the arguments of a command.
pub fn find(
    args: &SourceChoice,
    source: Option<&Path>,
    machine: &Machine,
    host: &Host,
) -> Result<SearchTarget, Error> {
    args.find(source, machine, host)
}

/// Notes an index that lies elsewhere than in the cache, so that what is forgotten is taken out of
/// it as well.
pub fn note_elsewhere(searched: &SearchTarget, host: &Host) {
    // The index of what is encrypted goes with the run.
    let is_kept = !searched.is_encrypted();
    if is_kept && searched.index_folder.parent() != Some(&*home(host)) {
        let (folder, place) = (&searched.index_folder, &searched.place);
        note_folder(host, FolderKind::Index, folder, Some(place));
    }
}

/// Counts what is not searched, by reason.
pub fn by_reason(skipped: &[Skipped]) -> BTreeMap<&'static str, u64> {
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
pub fn read_document(searched: &SearchTarget, path: &str) -> Result<Option<Document>, Error> {
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
) -> Result<Vec<Skipped>, Error> {
    let mut seen = BTreeSet::new();
    let mut skipped = Vec::new();
    for source in &searched.sources {
        let listing = source.list()?;
        skipped.extend(listing.skipped);
        for entry in &listing.entries {
            let mut take = |document: Document| {
                // The first source that has a path is the one that is searched.
                if seen.insert(document.path.clone()) {
                    each(document);
                }
            };
            skipped.extend(source.load(entry, &mut take)?);
        }
    }
    Ok(skipped)
}

/// Returns the folder of all indexes of this user.
pub fn home(host: &Host) -> PathBuf {
    host.folders.cache.join("anemone/index")
}

/// An index that lies in the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kept {
    pub folder: String,
    /// What it is of, when the note beside it can be read.
    pub source: Option<KeptSource>,
    /// Bytes on disk.
    pub bytes: u64,
    pub used_at: Option<Moment>,
    #[serde(skip)]
    path: PathBuf,
}

/// What an index is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptSource {
    pub kind: String,
    pub place: String,
    pub exists: bool,
    /// Whether it is gone for certain.
    #[serde(skip)]
    is_gone: bool,
}

impl Kept {
    /// Whether what it is of is gone.
    pub fn is_orphan(&self) -> bool {
        self.source.as_ref().is_some_and(|it| it.is_gone)
    }

    /// Removes the index and the note beside it.
    pub fn remove(&self) -> Result<(), Error> {
        remove(&self.path)
    }
}

/// Lists the indexes in the cache, by folder.
pub fn kept(host: &Host) -> Result<Vec<Kept>, Error> {
    let home = home(host);
    let entries = match fs_err::read_dir(&home) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(is_index_name);
        if !is_ours || !entry.file_type()?.is_dir() {
            continue;
        }
        let path = entry.path();
        let note = read_note(&note_path(&path));
        found.push(Kept {
            folder: path.display().to_string(),
            bytes: bytes_of(&path),
            used_at: note.as_ref().map(|it| it.used_at.clone()),
            source: note.map(|it| KeptSource {
                exists: fs_err::symlink_metadata(it.path()).is_ok(),
                is_gone: it.is_gone(),
                kind: it.kind,
                place: it.place,
            }),
            path,
        });
    }
    found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// An index is called by the beginning of a digest; nothing else in the cache is touched.
fn is_index_name(name: &str) -> bool {
    name.len() >= 16 && name.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
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

/// Removes the index of what is searched, wherever it lies; says whether there was one.
pub fn drop_index(searched: &SearchTarget, host: &Host) -> Result<bool, Error> {
    let folder = &searched.index_folder;
    let there = is_index(folder);
    match folder.parent() == Some(&*home(host)) {
        true => remove(folder)?,
        false => {
            remove_index(folder, &Silent).map_err(OpenIndexError::from)?;
        }
    }
    Ok(there)
}

/// Removes an index that lies in the cache, with its note. Whoever searches at this moment is
/// waited for, and whoever searches next begins anew.
fn remove(folder: &Path) -> Result<(), Error> {
    remove_index(folder, &Silent).map_err(OpenIndexError::from)?;
    match fs_err::remove_file(note_path(folder)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
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
