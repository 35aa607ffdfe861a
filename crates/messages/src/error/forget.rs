//! Why nothing was forgotten, in words.

use anemone::agent_memory::NotWritable;
use anemone::forget::ForgetError;
use anemone_memory::ApplyForgetError;

use super::memory::config_unreadable;
use super::{Explain, UserError};

impl Explain for ForgetError {
    fn explain(&self) -> UserError {
        match self {
            Self::EmptyPeriod { .. } => {
                self.misuse("usage").hint("--since is the earlier time, --until the later one")
            }
            Self::NotConfirmed => UserError::failure(
                "not_confirmed",
                "--query, --session and --since can match several entries, and there is no \
                 terminal to ask for confirmation",
            )
            .hint("look at them with --dry-run, then add --yes to confirm"),
            Self::NothingToForget { skipped: Some(file), .. } => {
                self.failure("nothing_to_forget").hint(format!(
                    "{} was not searched ({}); what it holds has to be removed with an editor",
                    file.path, file.reason
                ))
            }
            Self::NothingToForget { query: Some(_), skipped: None } => self
                .failure("nothing_to_forget")
                .hint("use words that all occur in the entry; find them with `anemone search`"),
            Self::NothingToForget { query: None, skipped: None } => self
                .failure("nothing_to_forget")
                .hint("find it with `anemone search`, which prints its citation"),
            Self::ReadOnly(_) => {
                self.failure("kept_elsewhere").hint("forget it with the agent's own tools")
            }
            Self::NotWritable(NotWritable::KeepsNothing) => {
                UserError::failure("keeps_nothing", "this agent keeps no memories")
            }
            Self::NotWritable(NotWritable::KeptElsewhere(place)) => {
                let message = format!("this agent keeps its memories in {place}, out of our reach");
                UserError::failure("kept_elsewhere", message)
                    .hint("forget it with the agent's own tools")
            }
            Self::NotWritable(why @ NotWritable::ConfigUnreadable(_)) => config_unreadable(why),
            Self::Apply(ApplyForgetError::Changed) => self.conflict("changed").hint("try again"),
            Self::OpenIndex(_) => self.failure("memory"),
            Self::Apply(ApplyForgetError::Memory(error)) => error.explain(),
            other => pass_on!(other, "memory", [Memory, Index]),
        }
    }
}
