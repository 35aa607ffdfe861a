//! What a forget leaves behind, in words.

use anemone::agent_memory::MemoryChoice;
use anemone::forget::{
    ArchiveOrigin, ForgetWarning, HolderKind, HolderMessage, LostChange, TextHolder,
};
use anemone::system::SystemClock;
use anemone::text::{count, safe};
use anemone_memory::Clock as _;

use super::memory_words;

/// Names a holder of the text of a memory.
#[must_use]
pub fn holder_message(holder: &TextHolder, memory: &MemoryChoice) -> HolderMessage {
    let place = holder.place.clone();
    let words = || memory_words(memory);
    let (kind, clear_with) = match &holder.kind {
        HolderKind::Journal => ("journal", format!("anemone undo --clear{}", words())),
        HolderKind::SearchIndex => ("search_index", format!("anemone index --rebuild{}", words())),
        HolderKind::State(path) => ("state", format!("delete {}", path.display())),
        HolderKind::Sidecar(path) => {
            ("sidecar", format!("delete {}, which is needed only to move back", path.display()))
        }
        HolderKind::Database => (
            "database",
            "stop the agent and run it again: unused pages of the database hold it".to_owned(),
        ),
        HolderKind::OtherAgent(agent) => {
            let memory = MemoryChoice { agent: agent.clone(), index_dir: None };
            let words = memory_words(&memory);
            ("agent", format!("anemone forget --for-good{words} --query 'WORDS OF IT'"))
        }
        HolderKind::File(path) => ("file", format!("edit {}", path.display())),
        HolderKind::OtherIndex(source) => {
            let of = source.as_ref().map(|path| format!(" (the index of {})", path.display()));
            ("search_index", format!("delete {place}{}", of.unwrap_or_default()))
        }
        HolderKind::Copy(workspace) => {
            let workspace = workspace.display();
            let command =
                format!("anemone forget --for-good -w '{workspace}' --query 'WORDS OF IT'");
            ("copy", command)
        }
        HolderKind::Archive { kind, record } => {
            let kind = match kind {
                ArchiveOrigin::Export => "archive",
                ArchiveOrigin::Snapshot => "snapshot",
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
        HolderKind::RuntimeIndex(rebuild) => ("runtime_index", (*rebuild).to_owned()),
        HolderKind::Transcript(runtime) => {
            ("transcript", format!("delete the conversation in {runtime}"))
        }
        _ => ("other", format!("look at {place}")),
    };
    HolderMessage { place, kind, clear_with }
}

/// Returns a warning as a sentence.
#[must_use]
pub fn note(warning: &ForgetWarning) -> String {
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
        ForgetWarning::TableWithoutRows(path) => {
            format!("a table in {path} has no rows left; its header was kept")
        }
        ForgetWarning::OnlyInJournal(number) => {
            format!("{} was found only in the undo journal", entries(*number))
        }
        ForgetWarning::DatabaseInUse => {
            "the database is in use: what it left in unused pages stays there".to_owned()
        }
        ForgetWarning::ArchivesMoved(archives) => {
            let archives = count(*archives, "archive");
            format!(
                "not found where they were written: {archives} of this memory; what was moved away \
                 may still hold the text"
            )
        }
        ForgetWarning::NoInstall(runtime) => format!(
            "not checked: {runtime}'s own index and transcripts, because no {runtime} installation \
             was found for this workspace"
        ),
        _ => "something else is to be known of it".to_owned(),
    }
}

/// Says that an earlier change can no longer be undone, or could not after a dry run.
#[must_use]
pub fn lost_change(lost: &LostChange, dry_run: bool) -> String {
    let then = if dry_run { "then " } else { "" };
    let (what, at, files) = (&lost.what, local_time(&lost.at), lost.files.join(", "));
    format!("`{what}` of {at} ({files}) can {then}no longer be undone")
}

/// Returns a time in the time zone of this machine.
#[must_use]
pub fn local_time(at: &str) -> String {
    let time = at.parse::<jiff::Timestamp>().map(|time| time.to_zoned(SystemClock.zone()));
    time.map_or_else(|_| safe(at), |time| time.strftime("%Y-%m-%d %H:%M:%S").to_string())
}
