//! Why nothing was forgotten, in words.

use anemone::agent_memory::NotWritable;
use anemone::forget::ForgetError;
use anemone_memory::ApplyForgetError;

use super::{Kind, UserError};

impl From<ForgetError> for UserError {
    fn from(error: ForgetError) -> Self {
        let said = |kind, code| Self::from_error(kind, code, &error);
        match &error {
            ForgetError::EmptyPeriod { .. } => said(Kind::Usage, "usage")
                .hint("--since is the earlier time, --until the later one"),
            ForgetError::NotConfirmed => Self::failure(
                "not_confirmed",
                "--query, --session and --since can match several entries, and there is no \
                 terminal to ask for confirmation",
            )
            .hint("look at them with --dry-run, then add --yes to confirm"),
            ForgetError::NothingToForget { skipped: Some(file), .. } => {
                said(Kind::Failed, "nothing_to_forget").hint(format!(
                    "{} was not searched ({}); what it holds has to be removed with an editor",
                    file.path, file.reason
                ))
            }
            ForgetError::NothingToForget { query: Some(_), skipped: None } => {
                said(Kind::Failed, "nothing_to_forget")
                    .hint("use words that all occur in the entry; find them with `anemone search`")
            }
            ForgetError::NothingToForget { query: None, skipped: None } => {
                said(Kind::Failed, "nothing_to_forget")
                    .hint("find it with `anemone search`, which prints its citation")
            }
            ForgetError::NotWritable(NotWritable::KeepsNothing) => {
                Self::failure("keeps_nothing", "this agent keeps no memories")
            }
            ForgetError::NotWritable(NotWritable::KeptElsewhere { place }) => {
                let message = format!("this agent keeps its memories in {place}, out of our reach");
                Self::failure("kept_elsewhere", message)
                    .hint("forget it with the agent's own tools")
            }
            ForgetError::Apply(ApplyForgetError::Changed) => {
                said(Kind::Conflict, "changed").hint("try again")
            }
            ForgetError::OpenIndex(_) => said(Kind::Failed, "memory"),
            _ => match error {
                ForgetError::Apply(ApplyForgetError::Memory(error)) => error.into(),
                other => pass_on!(
                    other,
                    "memory",
                    ForgetError,
                    [Memory, Store, Journal, Find, Index, RemoveIndex, Ask, Open]
                ),
            },
        }
    }
}
