//! Why a memory cannot be read or changed, in words.

use std::error::Error;

use anemone::agent_memory::{AgentMemoryError, NotWritable, RandomError};
use anemone::undo::UndoError;
use anemone_memory::{
    ApplyError, FindError, ForgetPlanError, JournalError, MarkdownStoreError, MemoryError,
    RememberPlanError, RevertError,
};

use super::{Explain, Kind, UserError};

/// What to do about a change that cannot be undone.
const SKIP_HINT: &str = "pass the change over with `anemone undo --skip`";

impl Explain for AgentMemoryError {
    fn explain(&self) -> UserError {
        match self {
            Self::StateFolder(_) => {
                self.misuse("state_folder").hint("give the workspace with -w DIR")
            }
            Self::StateIsFile(_) => self
                .failure("not_a_folder")
                .hint("move the file away, or name another folder with XDG_STATE_HOME"),
            other => pass_on!(
                other,
                "memory",
                [Io, Agent, Config, Store, Apply, Find, Memory, Journal, Random, Target]
            ),
        }
    }
}

failures! {
    RandomError => "random";
    FindError => "index";
    JournalError => "journal";
}

pass_on_all! {
    UndoError => "memory", [Memory, Open];
}

impl Explain for MarkdownStoreError {
    fn explain(&self) -> UserError {
        match self {
            Self::Busy { .. } => self.failure("busy").hint("try again"),
            Self::Saving { .. } => self.conflict("changed").hint("try again"),
            _ => self.failure("memory"),
        }
    }
}

impl Explain for ApplyError {
    fn explain(&self) -> UserError {
        match self {
            Self::Changed { .. } => self.conflict("changed").hint("try again"),
            Self::Store(source @ MarkdownStoreError::Saving { .. }) => {
                source.conflict("changed").hint("try again")
            }
            _ => self.failure("memory"),
        }
    }
}

impl Explain for RevertError {
    fn explain(&self) -> UserError {
        match self {
            Self::Nothing => self.failure("nothing_to_undo"),
            Self::Conflict { kept, .. } => {
                let hint = format!(
                    "what was there before is kept in {}, after its first line; take from it what \
                     you need, then pass the change over with `anemone undo --skip`",
                    kept.display()
                );
                self.conflict("changed").hint(hint)
            }
            Self::RowChanged { database, .. } => {
                self.conflict("changed").about(database).hint(SKIP_HINT)
            }
            Self::RowsGone { database, .. } => {
                self.failure("rows_gone").about(database).hint(SKIP_HINT)
            }
            Self::DatabaseGone(database) => {
                self.failure("database_gone").about(database).hint(SKIP_HINT)
            }
            other => pass_on!(other, "memory", [Store, Apply, Journal]),
        }
    }
}

impl Explain for RememberPlanError {
    fn explain(&self) -> UserError {
        match self {
            Self::Store(error) => error.explain(),
            Self::Memory(error) => error.explain(),
            Self::TooLong { .. } => self
                .misuse("too_long")
                .hint("keep it as a file below memory/, and remember what it is about"),
            _ => self.misuse("usage"),
        }
    }
}

impl Explain for ForgetPlanError {
    fn explain(&self) -> UserError {
        match self {
            Self::Store(error) => error.explain(),
            Self::Part { whole, .. } => {
                let hint = format!("to forget all of it: --id {whole}");
                self.failure("part_of_an_entry").hint(hint)
            }
            Self::Ambiguous { places, .. } => {
                let hint = format!("choose one: --id {}", places.join(" or --id "));
                self.failure("ambiguous").hint(hint)
            }
            _ => self.failure("memory"),
        }
    }
}

/// A memory that nothing is written to, since nobody can say where the agent keeps it.
pub(super) fn config_unreadable(why: &NotWritable) -> UserError {
    let message =
        format!("{why}; it says where the agent keeps its memory, so nothing was written");
    UserError::failure("config_unreadable", message)
        .hint("mend the file, or move it away if it is not needed")
}

/// A store of memories that another program is writing to.
pub(super) fn store_busy(error: &dyn Error) -> UserError {
    UserError::from_error(Kind::Conflict, "store_busy", error)
        .hint("stop the runtime, and do it again")
}

impl Explain for MemoryError {
    fn explain(&self) -> UserError {
        match self {
            Self::PrivateKey { .. } => self.misuse("private_key").hint("choose another key"),
            Self::Busy { .. } => store_busy(self),
            Self::Open(error) => UserError::failure_from("database", &**error),
            other => pass_on!(other, "memory", [Store, Forget, Find, Journal, Apply]),
        }
    }
}
