//! Why a tool did not do what it was asked, in the words of tools: they have arguments, and no
//! flags.

use std::io;

use anemone::agent_memory::{OpenMemoryError, RandomError};
use anemone::context::ContextError;
use anemone::forget::ForgetError;
use anemone::remember::RememberError;
use anemone::search::SearchError;
use anemone::search::index::IndexError;
use anemone::search::read::ReadDocumentError;
use anemone::search::target::TargetError;
use anemone_index::{QueryError, SourceError, StoreError};
use anemone_memory::{ForgetError as PlanForgetError, MemoryError};
use anemone_messages::{Kind, UserError};

use crate::service::Refusal;

/// Why a tool did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// Writing was allowed to something that is not an agent's memory.
    #[error("only an agent's memory can be written to")]
    NotAnAgent,
    /// Only the memory of an agent can do this.
    #[error("this is no agent's memory: it can be searched and read, and nothing else")]
    OnlyRead,
    /// Writing was not allowed.
    #[error("this memory is offered for reading only")]
    ReadOnly,
    /// An argument makes no sense.
    #[error("{field}: give {expected}")]
    BadArgument {
        /// The argument.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// An argument is not a day.
    #[error("{field} {text:?} is not a day")]
    NoDay {
        /// The argument.
        field: &'static str,
        /// Its value.
        text: String,
    },
    /// An argument is not a time.
    #[error("{field} {text:?} is neither a day nor a time")]
    NoTime {
        /// The argument.
        field: &'static str,
        /// Its value.
        text: String,
    },
    /// There is no such document.
    #[error("there is no document {path:?}")]
    NoDocument {
        /// Its path.
        path: String,
    },
    /// A search failed.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A document cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The files of the index failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index cannot be asked.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The memory was not found.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Nothing was read.
    #[error(transparent)]
    Read(#[from] ReadDocumentError),
    /// The agent's memory cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenMemoryError),
    /// No context was composed.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// Nothing was remembered.
    #[error(transparent)]
    Remember(#[from] RememberError),
    /// Nothing was forgotten.
    #[error(transparent)]
    Forget(#[from] ForgetError),
    /// The agent's memory cannot be read or changed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The system has no random numbers.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<ServiceError> for UserError {
    fn from(error: ServiceError) -> Self {
        let said = |kind, code| Self::from_error(kind, code, &error);
        match error {
            ServiceError::NotAnAgent => said(Kind::Usage, "only_read")
                .hint("leave out --allow-write, or give an agent with -w DIR"),
            ServiceError::OnlyRead => said(Kind::Failed, "only_read"),
            ServiceError::ReadOnly => said(Kind::Failed, "read_only"),
            ServiceError::BadArgument { .. } => said(Kind::Usage, "usage"),
            ServiceError::NoDay { .. } => said(Kind::Usage, "usage")
                .hint("give 2026-03-01, today, yesterday, or how long ago: 7d, 2w, 3m, 1y"),
            ServiceError::NoTime { .. } => said(Kind::Usage, "usage").hint(
                "give 2026-03-01, 2026-03-01T10:00:00Z, yesterday, or how long ago: 7d, 2w, 3m",
            ),
            ServiceError::NoDocument { .. } => said(Kind::Failed, Refusal::NOT_FOUND),
            ServiceError::Search(error) => error.into(),
            ServiceError::Index(error) => error.into(),
            ServiceError::Source(error) => error.into(),
            ServiceError::Store(error) => error.into(),
            ServiceError::Query(error) => error.into(),
            ServiceError::Target(error) => error.into(),
            ServiceError::Read(error) => error.into(),
            ServiceError::Open(error) => error.into(),
            ServiceError::Context(error) => error.into(),
            ServiceError::Remember(error) => error.into(),
            ServiceError::Forget(error) => error.into(),
            ServiceError::Memory(error) => error.into(),
            ServiceError::Random(error) => error.into(),
            ServiceError::Io(error) => error.into(),
        }
    }
}

/// Tells a tool's caller what went wrong.
pub(super) fn refusal(error: ServiceError) -> Refusal {
    let is_not_found = matches!(error, ServiceError::Read(ReadDocumentError::NotFound { .. }));
    let hint = hint(&error);
    let said = UserError::from(error);
    let hint = match said.kind {
        // Somebody else changed the memory meanwhile.
        Kind::Conflict => Some("search again, then try again".to_owned()),
        _ => hint.or(said.hint),
    };
    let code = if is_not_found { Refusal::NOT_FOUND } else { said.code }.to_owned();
    Refusal { code, message: said.message, causes: said.causes, hint }
}

/// Says what to do where a tool has another way than a command.
fn hint(error: &ServiceError) -> Option<String> {
    Some(match error {
        ServiceError::OnlyRead | ServiceError::NotAnAgent => "search it and read it".to_owned(),
        ServiceError::ReadOnly => {
            "whoever runs this server allows it with `anemone mcp --allow-write`".to_owned()
        }
        ServiceError::Search(SearchError::EmptyPeriod { .. }) => {
            "since is the earlier day, until the later one".to_owned()
        }
        ServiceError::Read(error) => return read_hint(error),
        ServiceError::Remember(RememberError::Secret { .. }) => {
            "leave the secret out: memories are read by many".to_owned()
        }
        ServiceError::Remember(RememberError::Memory(anemone_memory::RememberError::TooLong {
            ..
        })) => "say it in fewer words, or remember its parts".to_owned(),
        ServiceError::Forget(ForgetError::NothingToForget { .. }) => {
            "find it with memory_search, and give its citation, or the key it was remembered under"
                .to_owned()
        }
        ServiceError::Forget(ForgetError::Memory(MemoryError::Forget(PlanForgetError::Part {
            whole,
            ..
        }))) => format!("to forget all of it: citation {whole}"),
        _ => return None,
    })
}

/// Says how lines are named, or what is called nearly so.
pub(super) fn read_hint(error: &ReadDocumentError) -> Option<String> {
    match error {
        ReadDocumentError::LinesTwice => {
            Some("give them behind the path, or with from and lines".to_owned())
        }
        ReadDocumentError::NotFound { similar, .. } if similar.is_empty() => {
            Some("use a path as memory_search prints it".to_owned())
        }
        ReadDocumentError::NotFound { similar, .. } => {
            Some(format!("similar are: {}", similar.join(", ")))
        }
        _ => None,
    }
}
