//! Why a memory cannot be read or changed, in words.

use anemone::living::{OpenMemoryError, RandomError};
use anemone_memory::{
    ApplyError, FindError, ForgetError, JournalError, MarkdownStoreError, MemoryError,
    RememberError, UndoError,
};

use super::{CliError, Kind};

impl From<OpenMemoryError> for CliError {
    fn from(error: OpenMemoryError) -> Self {
        match error {
            OpenMemoryError::StateFolder { .. } => {
                Self::from_error(Kind::Usage, "state_folder", &error)
                    .hint("give the workspace with -w DIR")
            }
            OpenMemoryError::StateIsFile { .. } => {
                Self::from_error(Kind::Failed, "not_a_folder", &error)
                    .hint("move the file away, or name another folder with XDG_STATE_HOME")
            }
            OpenMemoryError::Io(error) => error.into(),
            OpenMemoryError::Config(error) => error.into(),
            OpenMemoryError::Agent(error) => error.into(),
            OpenMemoryError::Store(error) => error.into(),
            OpenMemoryError::Target(error) => error.into(),
            other => Self::from_error(Kind::Failed, "memory", &other),
        }
    }
}

impl From<RandomError> for CliError {
    fn from(error: RandomError) -> Self {
        Self::from_error(Kind::Failed, "random", &error)
    }
}

impl From<MarkdownStoreError> for CliError {
    fn from(error: MarkdownStoreError) -> Self {
        match &error {
            MarkdownStoreError::Busy { .. } => {
                Self::from_error(Kind::Failed, "busy", &error).hint("try again")
            }
            MarkdownStoreError::Saving { .. } => {
                Self::from_error(Kind::Conflict, "changed", &error).hint("try again")
            }
            _ => Self::from_error(Kind::Failed, "memory", &error),
        }
    }
}

impl From<ApplyError> for CliError {
    fn from(error: ApplyError) -> Self {
        match &error {
            ApplyError::Changed { .. } => {
                Self::from_error(Kind::Conflict, "changed", &error).hint("try again")
            }
            ApplyError::Store(source @ MarkdownStoreError::Saving { .. }) => {
                Self::from_error(Kind::Conflict, "changed", source).hint("try again")
            }
            _ => Self::from_error(Kind::Failed, "memory", &error),
        }
    }
}

impl From<FindError> for CliError {
    fn from(error: FindError) -> Self {
        Self::from_error(Kind::Failed, "index", &error)
    }
}

impl From<JournalError> for CliError {
    fn from(error: JournalError) -> Self {
        Self::from_error(Kind::Failed, "journal", &error)
    }
}

impl From<UndoError> for CliError {
    fn from(error: UndoError) -> Self {
        match error {
            UndoError::Store(error) => error.into(),
            UndoError::Apply(error) => error.into(),
            UndoError::Journal(error) => error.into(),
            UndoError::Nothing => Self::from_error(Kind::Failed, "nothing_to_undo", &error),
            UndoError::Conflict { ref kept, .. } => {
                let hint = format!(
                    "what was there before is kept in {}, after its first line; take from it what \
                     you need, then pass the change over with `anemone undo --skip`",
                    kept.display()
                );
                Self::from_error(Kind::Conflict, "changed", &error).hint(hint)
            }
            error => Self::from_error(Kind::Failed, "memory", &error),
        }
    }
}

impl From<RememberError> for CliError {
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

impl From<ForgetError> for CliError {
    fn from(error: ForgetError) -> Self {
        match error {
            ForgetError::Store(error) => error.into(),
            ForgetError::Part { ref whole, .. } => {
                let hint = format!("to forget all of it: --id {whole}");
                Self::from_error(Kind::Failed, "part_of_an_entry", &error).hint(hint)
            }
            ForgetError::Ambiguous { ref places, .. } => {
                let hint = format!("name the one that is meant: --id {}", places.join(" or --id "));
                Self::from_error(Kind::Failed, "ambiguous", &error).hint(hint)
            }
            error => Self::from_error(Kind::Failed, "memory", &error),
        }
    }
}

impl From<MemoryError> for CliError {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::Store(error) => error.into(),
            MemoryError::Forget(error) => error.into(),
            MemoryError::Find(error) => error.into(),
            MemoryError::Journal(error) => error.into(),
            MemoryError::Apply(error) => error.into(),
            MemoryError::PrivateKey => {
                Self::from_error(Kind::Usage, "private_key", &error).hint("choose another key")
            }
            MemoryError::Open(error) => Self::from_error(Kind::Failed, "database", &*error),
            error => Self::from_error(Kind::Failed, "memory", &error),
        }
    }
}
