//! The file that a command about archives writes, if it writes one.

use std::path::{Path, PathBuf};

use crate::files::{Existing, FileError, check_free};
use crate::host::Host;
use crate::keys::Sealing;

/// Where a result goes.
#[derive(Clone, Debug)]
pub struct ResultFile {
    /// The file; without it, only a plan is made.
    pub path: Option<PathBuf>,
    /// What happens to a file of that name.
    pub existing: Existing,
    /// How it is sealed.
    pub sealing: ResultSealing,
}

/// How a result is sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultSealing {
    /// As the first of its sources that is sealed.
    AsSources,
    /// Not at all.
    Plain,
    /// For these age recipients.
    Recipients(Vec<String>),
}

impl ResultFile {
    /// Refuses a file that exists, unless it may be replaced.
    pub(crate) fn check(&self, host: &Host) -> Result<(), FileError> {
        self.path.as_deref().map_or(Ok(()), |path| check_free(path, self.existing, host))
    }

    /// Returns how the result is sealed, given how its sources were.
    pub(crate) fn sealing<'a>(
        &self,
        sources: impl IntoIterator<Item = &'a Option<Sealing>>,
    ) -> Option<Sealing> {
        match &self.sealing {
            ResultSealing::AsSources => sources.into_iter().flatten().next().cloned(),
            ResultSealing::Plain => None,
            ResultSealing::Recipients(recipients) => Some(Sealing::Recipients(recipients.clone())),
        }
    }

    /// Returns the file as reports name it.
    pub(crate) fn shown(&self) -> Option<String> {
        self.path.as_deref().map(|path: &Path| path.display().to_string())
    }
}
