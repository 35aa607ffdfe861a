//! What was forgotten, what still holds it, and why nothing was forgotten, in words.

use anemone::forget::{ArchiveKind, ForgetError, ForgetWarning, Holder, HolderKind};
use anemone::living::{MemoryChoice, NotWritable};
use anemone_memory::ApplyForgetError;
use serde::Serialize;

use super::memory_words;
use crate::error::{CliError, Kind};
use crate::output::count;

/// Something that still holds a text, and what removes it there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct HeldBy {
    pub(crate) place: String,
    pub(crate) kind: &'static str,
    /// A command, or what to do.
    pub(crate) clear_with: String,
}

impl HeldBy {
    pub(crate) fn of(holder: &Holder, memory: &MemoryChoice) -> Self {
        let place = holder.place.clone();
        let words = || memory_words(memory);
        let (kind, clear_with) = match &holder.kind {
            HolderKind::Journal => ("journal", format!("anemone undo --clear{}", words())),
            HolderKind::SearchIndex => {
                ("search_index", format!("anemone index --rebuild{}", words()))
            }
            HolderKind::State { path } => ("state", format!("delete {}", path.display())),
            HolderKind::Sidecar { path } => {
                ("sidecar", format!("delete {}, which is needed only to move back", path.display()))
            }
            HolderKind::Database => (
                "database",
                "stop the agent and run it again: unused pages of the database hold it".to_owned(),
            ),
            HolderKind::File { path } => ("file", format!("edit {}", path.display())),
            HolderKind::OtherIndex { source } => {
                let of = source.as_ref().map(|path| format!(" (the index of {})", path.display()));
                ("search_index", format!("delete {place}{}", of.unwrap_or_default()))
            }
            HolderKind::Copy { workspace } => {
                let workspace = workspace.display();
                let command =
                    format!("anemone forget --for-good -w '{workspace}' --query 'WORDS OF IT'");
                ("copy", command)
            }
            HolderKind::Archive { kind, record } => {
                let kind = match kind {
                    ArchiveKind::Export => "archive",
                    ArchiveKind::Snapshot => "snapshot",
                };
                let clear_with = match record {
                    Some(record) => format!(
                        "anemone purge {place} --record {record} -o NEW.alf (removes the whole \
                         record: see --dry-run for what else is in it)"
                    ),
                    None => format!("delete {place}"),
                };
                (kind, clear_with)
            }
            HolderKind::RuntimeIndex { rebuild } => ("runtime_index", (*rebuild).to_owned()),
            HolderKind::Transcript { runtime } => {
                ("transcript", format!("delete the conversation in {runtime}"))
            }
            _ => ("other", format!("look at {place}")),
        };
        Self { place, kind, clear_with }
    }
}

/// Returns what somebody should know, as a sentence.
pub(crate) fn note(warning: &ForgetWarning) -> String {
    let entries = |number: usize| count(number as u64, "entry");
    match warning {
        ForgetWarning::Resumed { own, others } => {
            let what = match own {
                0 => format!("{} of another request", entries(*others)),
                own => entries(*own),
            };
            format!("an earlier run was interrupted; it was finished now: {what}")
        }
        ForgetWarning::OtherMatches { query, others, is_least } => {
            let least = if *is_least { "at least " } else { "" };
            let others = match others {
                1 => format!("{least}1 other match for {query:?} was"),
                more => format!("{least}{more} other matches for {query:?} were"),
            };
            format!(
                "{others} not chosen; `anemone search` shows them, and --limit N takes more than \
                 the best match"
            )
        }
        ForgetWarning::TableWithoutRows { path } => {
            format!("a table in {path} has no rows left; its header was kept")
        }
        ForgetWarning::OnlyInJournal { entries: number } => {
            format!("{} stood only in the undo journal", entries(*number))
        }
        ForgetWarning::DatabaseInUse => {
            "the database is in use: what it left in unused pages stays there".to_owned()
        }
        ForgetWarning::ArchivesMoved { archives } => {
            let archives = count(*archives, "archive");
            format!(
                "not found where they were written: {archives} of this memory; what was moved away \
                 may still hold the text"
            )
        }
        ForgetWarning::NoInstall { runtime } => format!(
            "not checked: {runtime}'s own index and transcripts, because no {runtime} installation \
             was found for this workspace"
        ),
        _ => "something else is to be known of it".to_owned(),
    }
}

impl From<ForgetError> for CliError {
    fn from(error: ForgetError) -> Self {
        let said = |kind, code| Self::from_error(kind, code, &error);
        match &error {
            ForgetError::EmptyPeriod { .. } => said(Kind::Usage, "usage")
                .hint("--since is the earlier time, --until the later one"),
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
                Self::new(Kind::Failed, "keeps_nothing", "this agent keeps no memories")
            }
            ForgetError::NotWritable(NotWritable::KeptElsewhere { place }) => {
                let message = format!("this agent keeps its memories in {place}, out of our reach");
                Self::new(Kind::Failed, "kept_elsewhere", message)
                    .hint("forget it with the agent's own tools")
            }
            ForgetError::Apply(ApplyForgetError::Changed) => {
                said(Kind::Conflict, "changed").hint("try again")
            }
            ForgetError::OpenIndex(_) => said(Kind::Failed, "memory"),
            _ => match error {
                ForgetError::Apply(ApplyForgetError::Memory(error)) => error.into(),
                ForgetError::Memory(error) => error.into(),
                ForgetError::Store(error) => error.into(),
                ForgetError::Journal(error) => error.into(),
                ForgetError::Find(error) => error.into(),
                ForgetError::Index(error) => error.into(),
                ForgetError::RemoveIndex(error) => error.into(),
                ForgetError::Ask(error) => error.into(),
                ForgetError::Other(error) => error.into(),
                other => Self::from_error(Kind::Failed, "memory", &other),
            },
        }
    }
}
