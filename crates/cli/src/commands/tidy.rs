//! `anemone tidy`

use std::io::{self, Write};

use anemone::entry_reference::EntryReference;
use anemone::tidy::{ExpiryAction, ProposalChoice, TidyReport, TidyRequest, tidy};
use clap::Args;

use super::Context;
use crate::args::MemoryArgs;
use crate::output::{BAD, BOLD, DIM, GOOD, ODD, Report, Result, count, safe, write_limits};

/// Lists are this long for people; programs get all.
const SHOWN: usize = 8;

/// Archive expired entries, list duplicates, and promote what is recalled often
///
/// Shows which entries have expired, and changes nothing without --apply. Entries of daily logs
/// expire by their importance (0.8 and more never, 0.4 and more after 30 days, less after 7 days;
/// entries without an importance never) and are moved to memory/archive/tidied-YYYY-MM.md, which
/// no session loads and search still finds. Where the runtime itself does so, whole logs move to
/// memory/archive/ after 7 days and are removed after 30. Duplicates, and entries of one key that
/// contradict each other, are only listed: which one is right is for you to say.
///
/// What was recalled often is proposed for MEMORY.md, and written there only with --promote or
/// --promote-all. `anemone undo` brings back the last change.
#[derive(Args, Debug)]
pub(crate) struct TidyArgs {
    /// Move expired entries into memory/archive/
    #[arg(long)]
    apply: bool,

    /// Show what would be done and change nothing, also with --promote
    #[arg(long, short = 'n', conflicts_with = "apply")]
    dry_run: bool,

    /// Write the proposal with this id into MEMORY.md; may be given more than once
    #[arg(long, value_name = "ID", num_args = 1.., conflicts_with = "promote_all")]
    promote: Vec<String>,

    /// Write all proposals into MEMORY.md, but for those that come from pages or tools or read
    /// like instructions: these have to be named
    #[arg(long)]
    promote_all: bool,

    #[command(flatten)]
    memory: MemoryArgs,
}

pub(crate) fn run(args: &TidyArgs, context: &Context<'_>) -> Result<TidyReport> {
    let request = TidyRequest {
        memory: args.memory.choice(),
        expired: if args.apply { ExpiryAction::Archive } else { ExpiryAction::List },
        promotion: match args.promote.as_slice() {
            _ if args.dry_run => ProposalChoice::None,
            _ if args.promote_all => ProposalChoice::All,
            [] => ProposalChoice::None,
            ids => ProposalChoice::Named(ids.to_vec()),
        },
    };
    Ok(tidy(&request, &context.host)?)
}

/// Says that a list goes on.
fn more(out: &mut dyn Write, all: usize) -> io::Result<()> {
    match all.saturating_sub(SHOWN) {
        0 => Ok(()),
        rest => writeln!(out, "  {DIM}and {rest} more: --json lists them all{DIM:#}"),
    }
}

impl Report for TidyReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for it in self.expired.iter().take(SHOWN) {
            let (place, text) = (it.entry.place(), &it.entry.text);
            let (tier, days, to) = (it.tier, it.days, safe(&it.to));
            write!(out, "{ODD}>{ODD:#} {place} {DIM}{tier}, {days} days")?;
            writeln!(out, ", to {to}{DIM:#}  {text}")?;
        }
        more(out, self.expired.len())?;
        for it in self.archived.iter().take(SHOWN) {
            writeln!(out, "{ODD}>{ODD:#} {} to {}", safe(&it.from), safe(&it.to))?;
        }
        more(out, self.archived.len())?;
        for it in self.purged.iter().take(SHOWN) {
            writeln!(out, "{BAD}-{BAD:#} {}", safe(it))?;
        }
        more(out, self.purged.len())?;
        for group in self.same.iter().take(SHOWN) {
            let places: Vec<_> = group.iter().take(3).map(EntryReference::place).collect();
            let text = group.first().map_or("", |group| group.text.as_str());
            writeln!(out, "{ODD}same:{ODD:#} {}  {text}", places.join(", "))?;
        }
        more(out, self.same.len())?;
        for it in self.near.iter().take(SHOWN) {
            let [one, other] = &it.entries;
            writeln!(out, "{ODD}near:{ODD:#} {}, {}  {}", one.place(), other.place(), one.text)?;
        }
        more(out, self.near.len())?;
        for it in self.contradictions.iter().take(SHOWN) {
            let older: Vec<_> = it.older.iter().take(3).map(EntryReference::place).collect();
            let key = safe(&it.key);
            let newer = it.newer.place();
            writeln!(out, "{ODD}{key}:{ODD:#} {newer} says otherwise than {}", older.join(", "))?;
        }
        more(out, self.contradictions.len())?;
        for it in self.promotions.iter().take(SHOWN) {
            let doubt = if it.doubtful { " (look at it first)" } else { "" };
            let times = count(u64::from(it.recalls), "recall");
            writeln!(out, "{GOOD}^{GOOD:#} {} {times}{doubt}  {}", it.entry.id, it.entry.text)?;
        }
        more(out, self.promotions.len())?;
        for it in self.unread.iter().take(SHOWN) {
            writeln!(out, "{ODD}not read:{ODD:#} {}: {}", safe(&it.path), it.detail)?;
        }
        more(out, self.unread.len())?;
        if let Some(rows) = &self.rows {
            let (number, note) = (count(rows.conversation, "row"), &rows.note);
            writeln!(out, "{ODD}note:{ODD:#} {number} of conversations past their time; {note}")?;
        }
        write_limits(self.near_is_cut, self.not_compared, out)?;
        if self.promoted > 0 {
            writeln!(out, "{BOLD}promoted{BOLD:#} {}", count(self.promoted as u64, "entry"))?;
        }
        let planned = self.expired.len() + self.archived.len() + self.purged.len();
        match (self.applied, planned) {
            (_, 0) => writeln!(out, "Nothing to tidy: no entry has expired"),
            (true, _) => writeln!(out, "Done; `anemone undo` takes it back"),
            (false, _) => writeln!(out, "Nothing was changed; --apply does it"),
        }
    }
}
