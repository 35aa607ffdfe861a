//! `anemone forget`

mod report;

use std::io;

use anemone::days::DayEnd;
use anemone::forget::{Confirmation, ForgetChoice, ForgetReport, ForgetRequest, forget};
use anemone::host::Host;
use anemone_memory::{EntryToForget, Finality};
use anemone_messages::given_time;
use clap::Args;

use super::Context;
use crate::args::MemoryArgs;
use crate::output::{Result, ask, count, notice, safe};

/// Forget something
///
/// Removes entries from the files of a memory, or from a database, and from the search
/// index. `anemone undo` restores them: the undo journal keeps the text. With --for-good the text
/// is removed from the journal as well, also if it was forgotten earlier; other changes can still
/// be undone. Then everything known to hold memories is searched for the text: the workspace,
/// indexes, snapshots, archives and copies that Anemone made, the runtime's own index and transcripts.
/// Whatever still holds it is listed with the command that clears it. A tombstone records by
/// digests, without the text, that something was forgotten.
///
/// A citation removes exactly the lines that it names. If they are only a part of an entry, nothing
/// is removed and the error names the lines that belong together. Try --dry-run first.
#[derive(Args, Debug)]
#[command(
    override_usage = "anemone forget [OPTIONS] <--key KEY|--id ID|--query TEXT|--session ID|--since TIME>"
)]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    what: EntryChoiceArgs,

    /// With --query, forget at most N of the entries that match: 1 to 100
    #[arg(long, value_name = "N", default_value_t = 1, requires = "query")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,

    /// Show what would be forgotten, and change nothing
    #[arg(long, short = 'n')]
    dry_run: bool,

    /// With --query, --session, --since or --until, do not ask for confirmation
    #[arg(long)]
    yes: bool,

    /// Also remove it from the undo journal, so that it cannot be restored
    #[arg(long)]
    for_good: bool,
}

/// Which entries to forget.
#[derive(Args, Debug)]
#[group(required = true, multiple = true)]
struct EntryChoiceArgs {
    /// Forget every entry with this key, superseded ones included
    #[arg(long, value_name = "KEY", conflicts_with_all = ["id", "query", "session", "since", "until"])]
    key: Option<String>,

    /// Forget the entry with this id, or the lines of a citation as `anemone search` prints it,
    /// such as MEMORY.md#L8-L12; may be given more than once
    #[arg(long, value_name = "ID", conflicts_with_all = ["query", "session", "since", "until"])]
    id: Vec<String>,

    /// Forget the best match that contains all of these words; asks before anything is removed
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["session", "since", "until"])]
    query: Option<String>,

    /// Forget everything that was written in this session; asks first
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["since", "until"])]
    session: Option<String>,

    /// Forget everything that was written on or after this day or time: 2026-03-01, yesterday, 7d,
    /// 2026-03-01T10:00:00Z; asks first. Days are those of your time zone
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// Forget everything that was written on or before this day or time; asks first
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

pub(crate) fn run(args: &ForgetArgs, context: &Context<'_>) -> Result<ForgetReport> {
    let request = args.request(&context.host)?;
    let mut ask = confirm;
    let confirmation = if args.yes {
        Confirmation::Given
    } else if context.environment.can_ask() {
        Confirmation::Ask(&mut ask)
    } else {
        Confirmation::Impossible
    };
    let report = forget(&request, confirmation, &context.host)?;
    Ok(report::in_words(report, &request.memory))
}

impl ForgetArgs {
    fn request(&self, host: &Host) -> Result<ForgetRequest> {
        Ok(ForgetRequest {
            memory: self.memory.choice(),
            choice: self.what.choice(self.limit, host)?,
            finality: if self.for_good { Finality::ForGood } else { Finality::Undoable },
            dry_run: self.dry_run,
        })
    }
}

impl EntryChoiceArgs {
    fn choice(&self, limit: u32, host: &Host) -> Result<ForgetChoice> {
        if let Some(query) = &self.query {
            return Ok(ForgetChoice::Query { text: query.clone(), limit });
        }
        if let Some(key) = &self.key {
            return Ok(ForgetChoice::Key(key.clone()));
        }
        if let Some(session) = &self.session {
            return Ok(ForgetChoice::Session(session.clone()));
        }
        if !self.id.is_empty() {
            return Ok(ForgetChoice::Ids(self.id.clone()));
        }
        let since = given_time("--since", self.since.as_deref(), DayEnd::First, host)?;
        let until = given_time("--until", self.until.as_deref(), DayEnd::Last, host)?;
        Ok(ForgetChoice::Written { since, until })
    }
}

/// Asks the user to confirm the found entries.
fn confirm(entries: &[&EntryToForget]) -> io::Result<bool> {
    for entry in entries {
        let line = entry.text.lines().next().unwrap_or_default();
        notice(&format!("{}: {}", safe(&entry.path), safe(line)));
    }
    ask(&format!("forget {}?", count(entries.len() as u64, "entry")))
}
