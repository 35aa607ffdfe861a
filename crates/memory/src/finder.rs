//! Recall: the index of a memory, brought up to date and asked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anemone_embed::{Builtin, Embedder};
use anemone_index::{
    Answer, DocumentSource, Index, NoProgress, OpenIndexError, QueryError, RefreshError,
    RefreshExtras, Request, StoreError, TextHashes,
};
use jiff::Timestamp;

/// Finds entries of one memory.
pub struct Finder {
    pub(crate) folder: PathBuf,
    pub(crate) sources: Vec<Box<dyn DocumentSource>>,
    embedders: Vec<Arc<dyn Embedder>>,
}

/// Why a search was impossible.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// The index.
    #[error("the index cannot be opened")]
    Open(#[from] OpenIndexError),
    /// The documents cannot be taken into the index.
    #[error("the index cannot be updated")]
    Refresh(#[from] RefreshError),
    /// Removed text cannot be erased from the index.
    #[error("the index still contains removed text")]
    Erase(#[source] StoreError),
    /// The question.
    #[error("the index cannot be searched")]
    Search(#[from] QueryError),
}

impl Finder {
    /// Takes the folder of an index, its source, and its embedder; other programs may share the
    /// index.
    #[must_use]
    pub fn new(
        folder: PathBuf,
        sources: Vec<Box<dyn DocumentSource>>,
        embedders: Vec<Arc<dyn Embedder>>,
    ) -> Self {
        Self { folder, sources, embedders }
    }

    /// Returns the folder of the index.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Opens the index and takes in what changed.
    pub fn open(&self, now: Timestamp) -> Result<Index, FindError> {
        let mut index = Index::open(&self.folder)?;
        self.refresh(&mut index, now)?;
        Ok(index)
    }

    /// Takes in what changed, with the vectors that cost nothing.
    pub fn refresh(&self, index: &mut Index, now: Timestamp) -> Result<(), FindError> {
        self.take_in(index, false, now)
    }

    /// Returns the hashes of the texts of documents that are about to be changed, whether the index
    /// has seen them or not: for [`forget`](Self::forget), after they are gone.
    pub fn texts_of(&self, index: &Index, paths: &[String]) -> Result<TextHashes, FindError> {
        Ok(index.texts_of_now(&self.sources(), paths)?)
    }

    /// Refreshes the index, and erases the remains of removed texts from the disk.
    pub fn forget(
        &self,
        index: &mut Index,
        before: &TextHashes,
        now: Timestamp,
    ) -> Result<(), FindError> {
        self.take_in(index, true, now)?;
        index.erase(before).map_err(FindError::Erase)
    }

    fn take_in(&self, index: &mut Index, erases: bool, now: Timestamp) -> Result<(), FindError> {
        let builtin = Builtin::new();
        let static_model: Option<&dyn Embedder> =
            (!self.embedders.is_empty()).then_some(&builtin as _);
        index.refresh_filled(
            &self.sources(),
            RefreshExtras { static_model, erases },
            now,
            &NoProgress,
        )?;
        Ok(())
    }

    fn sources(&self) -> Vec<&dyn DocumentSource> {
        self.sources.iter().map(|source| &**source).collect()
    }

    /// Asks a question.
    pub fn search(&self, request: &Request) -> Result<Answer, FindError> {
        let index = self.open(request.now)?;
        let embedders: Vec<_> = self.embedders.iter().map(|embedder| &**embedder).collect();
        Ok(index.search(request, &embedders)?)
    }
}
