//! The one seam of a living memory.

use async_trait::async_trait;

use crate::change::ApplyError;
use crate::entry::{Category, MemoryEntry};
use crate::finder::FindError;
use crate::forget::ForgetError;
use crate::journal::JournalError;
use crate::store::MarkdownStoreError;

/// A memory that is written to and asked, whatever it is kept in.
///
/// Laws that hold for every one that keeps anything, checked by one suite:
/// - what was stored is got by its key, exactly; in Markdown without blanks at the ends of lines,
///   other line endings and control characters, see [`tidied`](crate::tidied);
/// - storing a key again replaces what it held: it is listed and counted once, by its new text;
/// - a recall without words (empty, blanks, `*`) returns the newest, without a score;
/// - a session narrows `recall` and `list` to what was stored in it;
/// - what was forgotten is neither got, listed, counted nor recalled;
/// - keys and texts are any text, whatever it looks like; but ZeroClaw keeps keys that begin with
///   `p|` for what belongs to one person, and a database refuses them;
/// - a text with a secret is refused, and nothing is written;
/// - what several write at once is all there.
#[async_trait]
pub trait Memory: Send + Sync {
    /// Returns what kind of memory it is, such as `sqlite`.
    fn name(&self) -> &'static str;

    /// Remembers a text under a key.
    async fn store(
        &self,
        key: &str,
        content: &str,
        category: &Category,
        session: Option<&str>,
    ) -> Result<(), MemoryError>;

    /// Finds what answers a question, the best first.
    async fn recall(
        &self,
        query: &str,
        limit: usize,
        session: Option<&str>,
    ) -> Result<Vec<MemoryEntry>, MemoryError>;

    /// Returns the entry of a key.
    async fn get(&self, key: &str) -> Result<Option<MemoryEntry>, MemoryError>;

    /// Lists entries, the newest first.
    async fn list(
        &self,
        category: Option<&Category>,
        session: Option<&str>,
    ) -> Result<Vec<MemoryEntry>, MemoryError>;

    /// Forgets a key; says whether there was anything to forget.
    async fn forget(&self, key: &str) -> Result<bool, MemoryError>;

    /// Counts entries.
    async fn count(&self) -> Result<usize, MemoryError>;

    /// Says whether it can be read and written.
    async fn health(&self) -> bool;
}

/// Why a memory did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// Its files cannot be reached.
    #[error(transparent)]
    Store(#[from] MarkdownStoreError),
    /// What was named cannot be forgotten.
    #[error(transparent)]
    Forget(#[from] ForgetError),
    /// A change could not be made.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// It cannot be searched.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Its database.
    #[error("the memory's database failed")]
    Database(#[from] rusqlite::Error),
    /// What was there cannot be kept for an undo, so nothing was changed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The key is one that ZeroClaw keeps for what belongs to one person.
    #[error("keys that begin with `p|` belong to one person")]
    PrivateKey,
    /// The text holds a secret, so nothing was written.
    #[error("there is a secret in the text ({kind}); nothing was written")]
    Secret {
        /// What kind of secret it is.
        kind: &'static str,
    },
    /// What ran it ended.
    #[error("the work was interrupted")]
    CutOff,
}

/// Refuses a text with a secret, as every other way into a memory does.
pub(crate) fn refuse_secrets(key: &str, content: &str) -> Result<(), MemoryError> {
    let named = format!("{key}: {content}");
    let hits = [content, &named].map(|text| anemone_secrets::scan(text.as_bytes()));
    match hits.iter().flatten().next() {
        Some(hit) => Err(MemoryError::Secret { kind: hit.kind }),
        None => Ok(()),
    }
}
