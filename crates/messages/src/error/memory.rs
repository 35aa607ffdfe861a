//! Why a memory cannot be read or changed, in words.

use anemone::agent_memory::{OpenMemoryError, RandomError};
use anemone_memory::{
    ApplyError, FindError, ForgetError, JournalError, MarkdownStoreError, MemoryError,
    RememberError, UndoError,
};

use super::{Kind, UserError};

impl From<OpenMemoryError> for UserError {
    fn from(error: OpenMemoryError) -> Self {
        match error {
            OpenMemoryError::StateFolder { .. } => {
                Self::from_error(Kind::Usage, "state_folder", &error)
                    .hint("give the workspace with -w DIR")
            }
            OpenMemoryError::StateIsFile { .. } => Self::failure_from("not_a_folder", &error)
                .hint("move the file away, or name another folder with XDG_STATE_HOME"),
            other => pass_on!(other, "memory", OpenMemoryError, [Io, Agent, Config, Store, Target]),
        }
    }
}

impl From<RandomError> for UserError {
    fn from(error: RandomError) -> Self {
        Self::failure_from("random", &error)
    }
}

impl From<MarkdownStoreError> for UserError {
    fn from(error: MarkdownStoreError) -> Self {
        match &error {
            MarkdownStoreError::Busy { .. } => Self::failure_from("busy", &error).hint("try again"),
            MarkdownStoreError::Saving { .. } => {
                Self::from_error(Kind::Conflict, "changed", &error).hint("try again")
            }
            _ => Self::failure_from("memory", &error),
        }
    }
}

impl From<ApplyError> for UserError {
    fn from(error: ApplyError) -> Self {
        match &error {
            ApplyError::Changed { .. } => {
                Self::from_error(Kind::Conflict, "changed", &error).hint("try again")
            }
            ApplyError::Store(source @ MarkdownStoreError::Saving { .. }) => {
                Self::from_error(Kind::Conflict, "changed", source).hint("try again")
            }
            _ => Self::failure_from("memory", &error),
        }
    }
}

impl From<FindError> for UserError {
    fn from(error: FindError) -> Self {
        Self::failure_from("index", &error)
    }
}

impl From<JournalError> for UserError {
    fn from(error: JournalError) -> Self {
        Self::failure_from("journal", &error)
    }
}

impl From<UndoError> for UserError {
    fn from(error: UndoError) -> Self {
        match error {
            UndoError::Nothing => Self::failure_from("nothing_to_undo", &error),
            UndoError::Conflict { ref kept, .. } => {
                let hint = format!(
                    "what was there before is kept in {}, after its first line; take from it what \
                     you need, then pass the change over with `anemone undo --skip`",
                    kept.display()
                );
                Self::from_error(Kind::Conflict, "changed", &error).hint(hint)
            }
            other => pass_on!(other, "memory", UndoError, [Store, Apply, Journal]),
        }
    }
}

impl From<RememberError> for UserError {
    fn from(error: RememberError) -> Self {
        match error {
            RememberError::Store(error) => error.into(),
            RememberError::Memory(error) => error.into(),
            RememberError::TooLong { .. } => Self::from_error(Kind::Usage, "too_long", &error)
                .hint("keep it as a file below memory/, and remember what it is about"),
            error => Self::from_error(Kind::Usage, "usage", &error),
        }
    }
}

impl From<ForgetError> for UserError {
    fn from(error: ForgetError) -> Self {
        match error {
            ForgetError::Store(error) => error.into(),
            ForgetError::Part { ref whole, .. } => {
                let hint = format!("to forget all of it: --id {whole}");
                Self::failure_from("part_of_an_entry", &error).hint(hint)
            }
            ForgetError::Ambiguous { ref places, .. } => {
                let hint = format!("choose one: --id {}", places.join(" or --id "));
                Self::failure_from("ambiguous", &error).hint(hint)
            }
            error => Self::failure_from("memory", &error),
        }
    }
}

impl From<MemoryError> for UserError {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::PrivateKey { .. } => {
                Self::from_error(Kind::Usage, "private_key", &error).hint("choose another key")
            }
            MemoryError::Open(error) => Self::failure_from("database", &*error),
            other => pass_on!(other, "memory", MemoryError, [Store, Forget, Find, Journal, Apply]),
        }
    }
}
