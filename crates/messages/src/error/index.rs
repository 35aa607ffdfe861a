//! Why an index cannot be used, in words.

use anemone_format::{OpenError, ReadEntryError};
use anemone_index::{OpenIndexError, QueryError, RefreshError, SourceError, StoreError};
use anemone_runtimes::ReadError;

use super::UserError;

impl From<SourceError> for UserError {
    fn from(error: SourceError) -> Self {
        let whole = Self::failure_from("source_unreadable", &error);
        // What lies behind it has a code and a hint of its own where we know it.
        let behind: Self = match known(error.source) {
            Some(behind) => behind,
            None => return whole,
        };
        Self { code: behind.code, hint: behind.hint, ..whole }
    }
}

/// Takes an error for what it is.
fn known(error: Box<dyn std::error::Error + Send + Sync>) -> Option<UserError> {
    let error = match error.downcast::<OpenError>() {
        Ok(error) => return Some((*error).into()),
        Err(error) => error,
    };
    let error = match error.downcast::<ReadEntryError>() {
        Ok(error) => return Some((*error).into()),
        Err(error) => error,
    };
    let error = match error.downcast::<ReadError>() {
        Ok(error) => return Some((*error).into()),
        Err(error) => error,
    };
    error.downcast::<std::io::Error>().ok().map(|error| (*error).into())
}

/// What to do about an index that cannot be used.
const INDEX_HINT: &str = "keep the index elsewhere with --index-dir DIR";

impl From<OpenIndexError> for UserError {
    fn from(error: OpenIndexError) -> Self {
        Self::failure_from("index", &error).hint(INDEX_HINT)
    }
}

impl From<RefreshError> for UserError {
    fn from(error: RefreshError) -> Self {
        match error {
            RefreshError::Source(error) => error.into(),
            error @ RefreshError::Store(_) => Self::failure_from("index", &error).hint(INDEX_HINT),
        }
    }
}

impl From<StoreError> for UserError {
    fn from(error: StoreError) -> Self {
        Self::failure_from("index", &error).hint(INDEX_HINT)
    }
}

impl From<QueryError> for UserError {
    fn from(error: QueryError) -> Self {
        Self::failure_from("index", &error).hint("rebuild it with `anemone index --rebuild`")
    }
}
