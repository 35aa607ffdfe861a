//! Errors as commands return them: what went wrong, how bad it is, and what to do about it.

pub(crate) use anemone::error::Kind;
use anemone_format as format;
use anemone_index as index;
use anemone_memory as memory;
use anemone_runtimes as runtimes;

/// An error on its way to the user.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) kind: Kind,
    /// A stable word for the sort of error.
    pub(crate) code: &'static str,
    /// What we were doing, and to what.
    pub(crate) message: String,
    /// Why it failed, outermost first.
    pub(crate) causes: Vec<String>,
    pub(crate) hint: Option<String>,
    /// What programs are told besides.
    pub(crate) details: Option<Box<serde_json::Map<String, serde_json::Value>>>,
}

impl CliError {
    pub(crate) fn new(kind: Kind, code: &'static str, message: impl Into<String>) -> Self {
        anemone::error::Error::new(kind, code, message).into()
    }

    pub(crate) fn from_error(
        kind: Kind,
        code: &'static str,
        error: &dyn std::error::Error,
    ) -> Self {
        anemone::error::Error::from_error(kind, code, error).into()
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Tells programs what a report says besides; its `ok` is no longer true.
    pub(crate) fn with_details(mut self, report: &impl serde::Serialize) -> Self {
        if let Ok(serde_json::Value::Object(mut fields)) = serde_json::to_value(report) {
            fields.remove("ok");
            self.details = Some(Box::new(fields));
        }
        self
    }

    /// Says which file it is about.
    pub(crate) fn about(mut self, path: &std::path::Path) -> Self {
        self.message = format!("{}: {}", path.display(), self.message);
        self
    }
}

impl std::fmt::Display for CliError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CliError {}

impl From<anemone::error::Error> for CliError {
    fn from(error: anemone::error::Error) -> Self {
        let anemone::error::Error { kind, code, message, causes, hint, details } = error;
        Self { kind, code, message, causes, hint, details }
    }
}

impl From<CliError> for anemone::error::Error {
    fn from(error: CliError) -> Self {
        let CliError { kind, code, message, causes, hint, details } = error;
        Self { kind, code, message, causes, hint, details }
    }
}

impl From<CliError> for anemone::words::Warning {
    fn from(error: CliError) -> Self {
        anemone::error::Error::from(error).into()
    }
}

/// Takes errors whose words are still in the library.
macro_rules! worded_by_the_library {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                anemone::error::Error::from(error).into()
            }
        }
    )*};
}

worded_by_the_library! {
    std::io::Error,
    anemone::agent::FindAgentError,
    anemone::chat::ChatError,
    anemone::config::ConfigError,
    anemone::embedder::EmbedderError,
    anemone::embedder::FillError,
    anemone::search::SearchError,
    anemone::search::eval::EvalError,
    anemone::search::index::IndexError,
    anemone::search::read::ReadError,
    anemone::search::target::TargetError,
    anemone_embed::KeyError,
    anemone_embed::ModelError,
    anemone_embed::RemoteError,
    format::ApplyDeltaError,
    format::ApplyPurgeError,
    format::CompareError,
    format::OpenError,
    format::ParseIdError,
    format::PlanPurgeError,
    format::ReadEntryError,
    format::VaultError,
    format::WriteArchiveError,
    format::WriteDeltaError,
    index::OpenIndexError,
    index::RefreshError,
    index::QueryError,
    index::SourceError,
    index::StoreError,
    memory::ApplyError,
    memory::FindError,
    memory::ForgetError,
    memory::JournalError,
    memory::MarkdownStoreError,
    memory::MemoryError,
    memory::RememberError,
    memory::UndoError,
    runtimes::ApplyError,
    runtimes::PlanError,
    runtimes::ReadConversationError,
    runtimes::ReadError,
}
