//! Why an index cannot be used, in words.

use anemone_format::{OpenError, ReadEntryError};
use anemone_index::{OpenIndexError, QueryError, RefreshError, SourceError, StoreError};
use anemone_runtimes::ReadError;

use super::{Explain, UserError};

impl Explain for SourceError {
    fn explain(&self) -> UserError {
        let whole = self.failure("source_unreadable");
        // The underlying error has its own code and hint, if its type is known here.
        match known(&*self.source) {
            Some(UserError { code, hint, .. }) => UserError { code, hint, ..whole },
            None => whole,
        }
    }
}

/// Explains an error whose type is known.
fn known(error: &(dyn std::error::Error + 'static)) -> Option<UserError> {
    fn of<E: Explain + 'static>(error: &(dyn std::error::Error + 'static)) -> Option<UserError> {
        error.downcast_ref::<E>().map(Explain::explain)
    }
    let kinds = [of::<OpenError>, of::<ReadEntryError>, of::<ReadError>, of::<std::io::Error>];
    kinds.into_iter().find_map(|of| of(error))
}

/// What to do about an index that cannot be used.
pub(super) const INDEX_HINT: &str = "keep the index elsewhere with --index-dir DIR";

failures! {
    OpenIndexError => "index", INDEX_HINT;
    StoreError => "index", INDEX_HINT;
    QueryError => "index", "rebuild it with `anemone index --rebuild`";
}

impl Explain for RefreshError {
    fn explain(&self) -> UserError {
        match self {
            Self::Source(error) => error.explain(),
            Self::Store(_) => self.failure("index").hint(INDEX_HINT),
        }
    }
}
