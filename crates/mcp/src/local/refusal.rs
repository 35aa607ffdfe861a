//! Errors of the library as refusals of tools, which have arguments and no flags.

use anemone::agent_memory::AgentMemoryError;
use anemone::forget::ForgetError;
use anemone::remember::RememberError;
use anemone::search::read::ReadDocumentError;
use anemone_memory::{ForgetPlanError, MemoryError};
use anemone_messages::{Kind, UserError};

use crate::service::{RefusalKind, ServiceRefusal};

impl<E: Into<UserError>> From<E> for ServiceRefusal {
    fn from(error: E) -> Self {
        let UserError { kind, code, message, causes, hint, .. } = error.into();
        let hint = match kind {
            // Another program changed the memory in the meantime.
            Kind::Conflict => Some("search again, then try again".to_owned()),
            Kind::Failed | Kind::Usage | Kind::Interrupted => hint,
        };
        Self { kind: RefusalKind::Other, code: code.to_owned(), message, causes, hint }
    }
}

/// Refuses to read, with the arguments that would be right or with similar documents.
pub(super) fn of_read(error: ReadDocumentError) -> ServiceRefusal {
    let hint = read_hint(&error);
    with_hint(error, hint)
}

/// Says how lines are named, or which documents have a similar name.
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

/// Refuses to remember.
pub(super) fn of_remember(error: RememberError) -> ServiceRefusal {
    let hint = match &error {
        RememberError::Secret(_) => Some("leave the secret out: memories are read by many"),
        RememberError::Memory(anemone_memory::RememberPlanError::TooLong { .. }) => {
            Some("say it in fewer words, or remember its parts")
        }
        _ => None,
    };
    with_hint(error, hint.map(str::to_owned))
}

/// Refuses to forget.
pub(super) fn of_forget(error: ForgetError) -> ServiceRefusal {
    let kind = match &error {
        ForgetError::NothingToForget { .. } => RefusalKind::NothingToForget,
        _ => RefusalKind::Other,
    };
    let hint = match &error {
        ForgetError::NothingToForget { .. } => Some(
            "find it with memory_search, and give its citation, or the key it was remembered under"
                .to_owned(),
        ),
        ForgetError::Memory(AgentMemoryError::Memory(MemoryError::Forget(
            ForgetPlanError::Part { whole, .. },
        ))) => Some(format!("to forget all of it: citation {whole}")),
        _ => None,
    };
    ServiceRefusal { kind, ..with_hint(error, hint) }
}

fn with_hint(error: impl Into<UserError>, hint: Option<String>) -> ServiceRefusal {
    let refusal = ServiceRefusal::from(error);
    match hint {
        Some(hint) => refusal.with_hint(hint),
        None => refusal,
    }
}
