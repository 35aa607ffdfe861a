//! The files of an index: a folder with a SQLite database, a tantivy index and a seal.
//!
//! ```text
//! <folder>/
//!   lock              writers hold it alone, readers together; says that the folder is ours
//!   seal.json         what every other file looked like when the last writer was done
//!   index.sqlite      entries, documents, chunks, term frequencies, state
//!   vectors.sqlite    vectors of chunks
//!   lexical/          tantivy: chunk id -> terms
//!   embeddings.sqlite vectors by content, kept when the rest is rebuilt
//! ```
//!
//! Everything but the embeddings can be rebuilt at any time. Nothing is repaired: when the files
//! are not what the seal says (a writer was killed, another program changed them, a disk lost
//! them), or when they were made by another version, the index is emptied and filled again.

pub(crate) mod body;
mod embeddings;
mod erasing;
mod folder;
mod kept;
mod known;
mod lexical;
mod lock;
mod near;
mod packs;
mod reading;
mod rows;
mod seal;
mod vectors;
mod writing;

pub(crate) use embeddings::{ContentHash, as_kept};
pub use folder::{is_index, may_hold_index, remove_index};
pub(crate) use reading::{EntryRow, ReadDocument, Reading, View};
pub(crate) use seal::Seal;
pub(crate) use vectors::{EmbeddingWork, Slot, StoredSet};
pub(crate) use writing::{EntryId, Put, Writing};

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anemone_files::{if_found, make_private_folder};

use crate::peek::IndexState;
use crate::progress::{IndexProgress, NoProgress};
use crate::text::{Language, Term};
use body::{Body, BodyDamaged};
use packs::PackDamaged;
use seal::SealState;

/// Views that are kept for the next reader.
const KEPT_VIEWS: usize = 8;

/// The number of a chunk; the chunks of a document are consecutive. A number is never reused in an
/// index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ChunkId(pub(crate) u64);

/// The number of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DocumentId(pub(crate) u64);

/// Statistics of all chunks together.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Statistics {
    /// Documents in the index.
    pub(crate) documents: u64,
    /// Chunks in the index.
    pub(crate) chunks: u64,
    /// The sum of their lengths.
    pub(crate) tokens: u64,
    /// The languages of chunks, the most common first, with the number of chunks.
    pub(crate) languages: Vec<(Language, u64)>,
    /// Blocks in the index.
    pub(crate) blocks: u64,
    /// The sum of their lengths.
    pub(crate) words: u64,
}

impl Statistics {
    /// Returns the languages of most chunks: a query is parsed in these.
    pub(crate) fn main_languages(&self) -> Vec<Language> {
        const MOST: usize = 6;
        self.languages.iter().take(MOST).map(|(language, _)| *language).collect()
    }
}

/// A term by which candidates are found.
#[derive(Clone, Debug)]
pub(crate) struct SoughtTerm<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) term: Term,
    /// Multiplies its BM25 score.
    pub(crate) weight: f32,
}

/// A chunk that was found, before it is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) chunk: ChunkId,
    /// BM25 with the exact statistics of [`Reading::statistics`] and [`Reading::frequency`].
    pub(crate) score: f32,
}

/// A chunk, as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct StoredChunk {
    pub(crate) id: ChunkId,
    pub(crate) document: DocumentId,
    /// Where it begins in the document, in bytes.
    pub(crate) start_byte: u64,
    pub(crate) language: Language,
    pub(crate) body: Body,
}

/// Documents that a search may answer from.
#[derive(Clone, Debug)]
pub(crate) struct Allowed {
    /// Sorted.
    pub(crate) documents: Vec<DocumentId>,
}

/// Conditions for chunks to be found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Narrow {
    /// Only chunks of these documents; `None`: of all documents.
    pub(crate) allowed: Option<Allowed>,
    /// Only chunks that have one of each group of terms.
    pub(crate) required: Vec<Vec<String>>,
}

/// Why the store could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file or folder.
    #[error("cannot read or write the index")]
    Io(#[from] io::Error),
    /// The folder cannot be written; another one is needed.
    #[error("cannot write into the index's folder")]
    Unwritable(#[source] io::Error),
    /// The index is empty, damaged or of another version; a refresh fills it.
    #[error("the index has not been filled yet")]
    NotFilled,
    /// The database.
    #[error("cannot read or write the index's database")]
    Database(#[from] rusqlite::Error),
    /// The lexical index.
    #[error("cannot read or write the index's terms")]
    Lexical(#[from] tantivy::TantivyError),
    /// A row is not what we wrote.
    #[error("the index is damaged")]
    Damaged(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// SQLite is too old.
    #[error("SQLite is version {found}; at least 3.53.2 is needed")]
    Sqlite {
        /// The version found.
        found: &'static str,
    },
}

impl From<BodyDamaged> for StoreError {
    fn from(error: BodyDamaged) -> Self {
        Self::Damaged(Box::new(error))
    }
}

impl From<PackDamaged> for StoreError {
    fn from(error: PackDamaged) -> Self {
        Self::Damaged(Box::new(error))
    }
}

impl StoreError {
    /// Whether a refresh can be expected to fix it: the index is empty, damaged, or for other
    /// sources.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::NotFilled | Self::Database(_) | Self::Lexical(_) | Self::Damaged(_))
    }
}

/// An index's folder.
pub(crate) struct Store {
    folder: PathBuf,
    views: Mutex<Vec<View>>,
    /// The lock under which the last refresh ended, and the resulting state: until it is released,
    /// no process writes, and queries use that state.
    held: Option<(lock::Held, Seal)>,
    /// The sources of the last refresh.
    sources: Option<Vec<String>>,
    /// Why the next writer starts over, whatever exists.
    anew: Option<&'static str>,
    /// How the cache of embeddings is kept.
    pub(crate) cache: embeddings::Keeping,
}

/// The state that a writer finds.
pub(crate) enum LockedIndex {
    /// A complete index, and its contents.
    Whole(Box<View>, Exclusive),
    /// Nothing usable, for this reason.
    Broken(&'static str, Exclusive),
}

/// The writers' lock, and the state of the index when it was taken.
pub(crate) struct Exclusive {
    lock: lock::Held,
    before: Option<Seal>,
}

impl Exclusive {
    /// Drops the previous state: everything is removed before the index is written.
    pub(crate) fn without_past(self) -> Self {
        Self { before: None, ..self }
    }

    /// Seals what was written.
    fn seal(&mut self, folder: &Path, generation: u64) -> Result<(), StoreError> {
        // The folder was deleted meanwhile, and another writer may use a new one.
        if !self.lock.is_there()? {
            return Err(StoreError::Unwritable(io::ErrorKind::NotFound.into()));
        }
        self.before = Some(seal::write(folder, generation, self.before.as_ref())?);
        Ok(())
    }
}

impl Store {
    /// Opens the store in a folder, which is created if it does not exist. Nothing in it is
    /// changed: an index that is absent, damaged or of another version is rebuilt by the next
    /// writer.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        rows::check_version()?;
        make_private_folder(path).map_err(StoreError::Unwritable)?;
        folder::check(path).map_err(StoreError::Unwritable)?;
        let (folder, views) = (path.to_owned(), Mutex::default());
        let cache = embeddings::Keeping::default();
        let store = Self { folder, views, held: None, sources: None, anew: None, cache };
        // Whether the lock can be taken at all must be known now, not in the middle of an
        // operation.
        store.lock(&|path| lock::open(&path.join(lock::LOCK)).map(drop))?;
        Ok(store)
    }

    /// Begins to read; waits for writers.
    pub(crate) fn reading(&self) -> Result<Reading<'_>, StoreError> {
        let (seal, lock) = match &self.held {
            Some((_, seal)) => (seal.clone(), None),
            None => {
                let lock = self.lock_shared(&NoProgress)?;
                let SealState::Whole(seal) = seal::look(&self.folder) else {
                    return Err(StoreError::NotFilled);
                };
                (seal, Some(lock))
            }
        };
        let view = self.view(seal)?;
        if let Some(sources) = &self.sources
            && !view.sources()?.iter().map(|known| &known.1).eq(sources)
        {
            // The folder holds files of another program.
            return Err(StoreError::NotFilled);
        }
        Ok(Reading::new(self, view, lock))
    }

    /// Holds the readers' lock from here on.
    pub(crate) fn hold(&mut self, progress: &dyn IndexProgress) -> Result<(), StoreError> {
        self.release();
        let held = self.lock_shared(progress)?;
        let SealState::Whole(seal) = seal::look(&self.folder) else {
            return Err(StoreError::NotFilled);
        };
        self.held = Some((held, seal));
        Ok(())
    }

    /// Lets go of the lock that is held.
    pub(crate) fn release(&mut self) {
        self.held = None;
    }

    /// Sets the sources that everything read from here on must be built from.
    pub(crate) fn expect(&mut self, sources: Option<Vec<String>>) {
        self.sources = sources;
    }

    /// Requires everything read from here on to be built from the current sources, unless a refresh
    /// has already set the sources.
    pub(crate) fn expect_the_same(&mut self) -> Result<(), StoreError> {
        if self.sources.is_none() {
            let known = self.reading()?.sources()?;
            self.sources = Some(known.into_iter().map(|(_, source)| source).collect());
        }
        Ok(())
    }

    /// Makes the next writer start over, for this reason.
    pub(crate) const fn begin_anew(&mut self, reason: &'static str) {
        self.anew = Some(reason);
    }

    /// Whether the next writer starts over.
    pub(crate) const fn begins_anew(&self) -> bool {
        self.anew.is_some()
    }

    /// Waits for the exclusive lock, and inspects the store.
    pub(crate) fn alone(&mut self) -> Result<LockedIndex, StoreError> {
        self.wait_alone(&NoProgress)
    }

    /// As [`alone`](Self::alone), and reports when it takes long.
    pub(crate) fn wait_alone(
        &mut self,
        progress: &dyn IndexProgress,
    ) -> Result<LockedIndex, StoreError> {
        let lock = self.lock_alone(progress)?;
        let reason = match (self.anew, seal::look(&self.folder)) {
            (Some(reason), _) | (None, SealState::Broken(reason)) => reason,
            (None, SealState::Whole(seal)) => match self.view(seal.clone()) {
                Ok(view) => {
                    let before = Some(seal);
                    return Ok(LockedIndex::Whole(Box::new(view), Exclusive { lock, before }));
                }
                // Sealed and still not readable: the disk returned other bytes than were written.
                Err(_) => "damaged",
            },
        };
        Ok(LockedIndex::Broken(reason, Exclusive { lock, before: None }))
    }

    /// Returns a mark that changes with every write; `None` during a write.
    pub(crate) fn mark(&self) -> Option<Vec<u8>> {
        seal::bytes(&self.folder)
    }

    /// Continues as a reader of the current index, and holds the lock from here on; `false` when a
    /// writer came between, which cannot be ruled out. With `insist` the writers' lock itself is
    /// held.
    pub(crate) fn keep(&mut self, alone: Exclusive, insist: bool) -> Result<bool, StoreError> {
        let Exclusive { lock, before } = alone;
        let Some(seal) = before else { return Ok(false) };
        if !insist
            && (!lock.share()?
                || !lock.is_there()?
                || seal::look(&self.folder) != SealState::Whole(seal.clone()))
        {
            return Ok(false);
        }
        // Files that are opened now stay readable after the folder is deleted.
        let view = self.view(seal.clone())?;
        self.give_back(view);
        self.held = Some((lock, seal));
        Ok(true)
    }

    fn lock_shared(&self, progress: &dyn IndexProgress) -> Result<lock::Held, StoreError> {
        self.lock(&|path| lock::shared(path, progress))
    }

    fn lock_alone(&mut self, progress: &dyn IndexProgress) -> Result<lock::Held, StoreError> {
        // A writer that waits for all readers must not hold a read lock itself.
        self.release();
        self.lock(&|path| lock::exclusive(path, progress))
    }

    /// Takes a lock; the folder is created again if it was removed meanwhile.
    fn lock<T>(&self, take: &dyn Fn(&Path) -> io::Result<T>) -> Result<T, StoreError> {
        /// The folder is not removed this often.
        const TIMES: usize = 100;
        for _ in 0..TIMES {
            match take(&self.folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    make_private_folder(&self.folder).map_err(StoreError::Unwritable)?;
                }
                taken => return taken.map_err(StoreError::Unwritable),
            }
        }
        take(&self.folder).map_err(StoreError::Unwritable)
    }

    /// Begins to write: from here until [`Writing::finish`] there is no index. If there is no
    /// complete index to begin with, everything is removed first.
    pub(crate) fn writing(&mut self, alone: Exclusive) -> Result<Writing<'_>, StoreError> {
        self.views = Mutex::default();
        Writing::begin(self, alone)
    }

    /// Opens the sealed state, or reuses a view of it.
    fn view(&self, seal: Seal) -> Result<View, StoreError> {
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        views.retain(|view| view.seal == seal);
        match views.pop() {
            Some(view) => Ok(view),
            None => View::open(&self.folder, seal),
        }
    }

    fn give_back(&self, view: View) {
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        if views.len() < KEPT_VIEWS {
            views.push(view);
        }
    }
}

/// Inspects the store in a folder: creates nothing and never waits. Returns a complete index with
/// the lock that keeps it so, or else its state.
pub(crate) fn glance(path: &Path) -> Result<Result<(View, lock::Held), IndexState>, StoreError> {
    if !is_index(path) {
        return Ok(Err(IndexState::Absent));
    }
    // A seal without a lock: part of the store was deleted.
    let lock = if_found(lock::shared_at_once(path))?;
    let Some(lock) = lock else { return Ok(Err(IndexState::Broken)) };
    let Some(lock) = lock else { return Ok(Err(IndexState::Busy)) };
    Ok(match seal::look(path) {
        SealState::Whole(seal) => Ok((View::open(path, seal)?, lock)),
        SealState::Broken("new") => Err(IndexState::Absent),
        SealState::Broken("unfinished") => Err(IndexState::Unfinished),
        SealState::Broken("version") => Err(IndexState::Outdated),
        SealState::Broken(_) => Err(IndexState::Broken),
    })
}

#[cfg(test)]
pub(crate) mod tests;
