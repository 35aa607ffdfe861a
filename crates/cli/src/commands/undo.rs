//! `anemone undo`

mod rows;

use std::collections::HashSet;
use std::io::{self, Write};

use anemone_memory::{ChangeId, Clock as _, Edit, Noted, NotedRows, Restored, RowsBack, UndoError};
use clap::Args;
use serde::Serialize;

use super::Context;
use crate::args::MemoryArgs;
use crate::environment::Environment;
use crate::error::{CliError, Kind};
use crate::living::AgentMemory;
use crate::output::{BAD, BOLD, GOOD, ODD, Report, ask, count, safe};
use anemone::system::SystemClock;

/// Undo the last change of a memory
///
/// Reverts the last `remember`, `forget`, `tidy` and the like; run it again to revert the change
/// before that. Where somebody else has edited the same file since, only what the change did is
/// reverted; if its place in the file cannot be found, nothing is changed. This holds for rows of
/// ZeroClaw's database as well. The last 100 changes are kept, up to 64 MiB.
#[derive(Args, Debug)]
pub(crate) struct UndoArgs {
    #[command(flatten)]
    memory: MemoryArgs,

    /// List the changes that can be undone, newest first, and change nothing
    #[arg(long, conflicts_with_all = ["dry_run", "skip"])]
    list: bool,

    /// Keep the last change, so that the next undo reverts the one before it
    #[arg(long)]
    skip: bool,

    /// Empty the undo journal, so that no earlier change can be undone; asks first
    #[arg(long, conflicts_with_all = ["list", "skip"])]
    clear: bool,

    /// With --clear, do not ask
    #[arg(long, requires = "clear")]
    yes: bool,

    /// Show what would be done, and change nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

#[derive(Serialize)]
pub(crate) struct UndoReport {
    ok: bool,
    dry_run: bool,
    /// The change that is taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    undone: Option<ListedChange>,
    edits: Vec<PlannedEdit>,
    /// What is done to rows of a database.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<RowsBack>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<ListedChange>>,
    restored: Vec<Restored>,
    /// Old changes that can no longer be undone.
    dropped: usize,
    /// Whether somebody was asked and said no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    declined: bool,
    #[serde(skip)]
    skipped: bool,
    #[serde(skip)]
    clears: bool,
}

#[derive(Serialize)]
struct ListedChange {
    id: String,
    what: String,
    at: String,
    files: Vec<String>,
    /// `made`, `undone`, or `undo`: it took another one back.
    state: &'static str,
    /// The first words of what it was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

#[derive(Serialize)]
struct PlannedEdit {
    path: String,
    /// `write` or `remove`.
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<usize>,
}

pub(crate) fn run(args: &UndoArgs, context: &Context<'_>) -> Result<UndoReport, CliError> {
    check_confirmable(args, context.environment)?;
    let machine = context.host.machine()?;
    let living = if args.dry_run || args.list {
        args.memory.choice().find(&machine, &context.host)?
    } else {
        args.memory.choice().find_to_write(&machine, &context.host)?
    };
    let mut report = UndoReport {
        ok: true,
        dry_run: args.dry_run,
        undone: None,
        edits: Vec::new(),
        rows: None,
        change: None,
        changes: None,
        restored: Vec::new(),
        dropped: 0,
        declined: false,
        skipped: args.skip,
        clears: false,
    };
    if args.clear {
        return clear(args, &living, report);
    }
    if args.list {
        report.changes = Some(list(&living)?);
        return Ok(report);
    }
    if args.dry_run {
        return plan(args, &living, report);
    }
    // Whatever stands in the way is said before anything is touched.
    let mut report = plan(args, &living, report)?;
    let clock = &context.host.clock;
    let site = &living.site;
    let held = site.lock()?;
    if !args.skip
        && let Some((change, noted)) = site.last_change()?
        && let Some(rows) = &noted.rows
    {
        let id = clock.fresh_id();
        report.rows = Some(rows::take_back(&held, change, rows, id, clock.now())?);
        report.undone = Some(ListedChange::new(change, &noted, "undone"));
        report.change = Some(id.to_string());
        return Ok(report);
    }
    let applied = if args.skip {
        let (id, noted) = site.last_change()?.ok_or(UndoError::Nothing)?;
        report.undone = Some(ListedChange::new(id, &noted, "skipped"));
        held.skip(id, clock.fresh_id(), clock.now())?
    } else {
        let undo = site.plan_undo()?;
        report.undone = Some(ListedChange::new(undo.id, &undo.noted, "undone"));
        report.edits = undo.change.edits.iter().map(PlannedEdit::new).collect();
        held.undo(&undo, clock.fresh_id(), clock.now())?
    };
    report.change = Some(applied.id.0.to_string());
    report.restored = applied.restored;
    report.dropped = applied.dropped;
    Ok(report)
}

/// Empties the journal, once somebody said that this is meant.
fn clear(
    args: &UndoArgs,
    living: &AgentMemory,
    mut report: UndoReport,
) -> Result<UndoReport, CliError> {
    report.clears = true;
    let changes = living.site.changes()?.len();
    if args.dry_run {
        report.dropped = changes;
        return Ok(report);
    }
    if changes > 0 && !args.yes {
        let question = format!("empty the undo journal? {} can then no longer be undone", {
            count(changes as u64, "change")
        });
        if !ask(&question)? {
            report.declined = true;
            return Ok(report);
        }
    }
    report.dropped = living.site.lock()?.clear_changes()?;
    Ok(report)
}

/// Lets nobody empty the journal by accident.
fn check_confirmable(args: &UndoArgs, environment: &Environment) -> Result<(), CliError> {
    if !args.clear || args.yes || args.dry_run || environment.can_ask() {
        return Ok(());
    }
    let message = "--clear makes every earlier change impossible to undo, and there is no \
                   terminal to ask for confirmation";
    Err(CliError::new(Kind::Failed, "not_confirmed", message)
        .hint("look at the changes with --list, then add --yes to confirm"))
}

/// Says what would be done.
fn plan(
    args: &UndoArgs,
    living: &AgentMemory,
    mut report: UndoReport,
) -> Result<UndoReport, CliError> {
    if args.skip {
        let (id, noted) = living.site.last_change()?.ok_or(UndoError::Nothing)?;
        report.undone = Some(ListedChange::new(id, &noted, "made"));
        return Ok(report);
    }
    let undo = living.site.plan_undo()?;
    report.undone = Some(ListedChange::new(undo.id, &undo.noted, "made"));
    report.edits = undo.change.edits.iter().map(PlannedEdit::new).collect();
    report.rows = undo.noted.rows.as_ref().map(rows::plan).transpose()?;
    Ok(report)
}

fn list(living: &AgentMemory) -> Result<Vec<ListedChange>, CliError> {
    let all = living.site.changes()?;
    let undone: HashSet<ChangeId> = all.iter().filter_map(|(_, it)| it.undoes).collect();
    let state = |id: &ChangeId, noted: &Noted| match noted.undoes {
        Some(_) => "undo",
        None if undone.contains(id) => "undone",
        None => "made",
    };
    let mut listed = Vec::new();
    for (id, noted) in &all {
        let text = living.site.preview(*id)?.map(|it| first_words(&it));
        listed.push(ListedChange { text, ..ListedChange::new(*id, noted, state(id, noted)) });
    }
    Ok(listed)
}

impl ListedChange {
    fn new(id: ChangeId, noted: &Noted, state: &'static str) -> Self {
        Self {
            id: id.0.to_string(),
            what: noted.what.clone(),
            at: noted.at.clone(),
            files: noted
                .edits
                .iter()
                .map(|it| it.path.clone())
                .chain(noted.rows.as_ref().map(NotedRows::name))
                .collect(),
            state,
            text: None,
        }
    }
}

/// Returns the beginning of a text, on one line.
fn first_words(text: &str) -> String {
    const MOST_CHARS: usize = 60;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}...", line[..end].trim_end()),
        None => line,
    }
}

/// Returns a time as people here read it.
pub(super) fn local(at: &str) -> String {
    let time = at.parse::<jiff::Timestamp>().map(|it| it.to_zoned(SystemClock.zone()));
    time.map_or_else(|_| safe(at), |it| it.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

impl PlannedEdit {
    fn new(edit: &Edit) -> Self {
        let (what, bytes) = match edit {
            Edit::Append { text, .. } => ("append", Some(text.len())),
            Edit::Write { after, .. } => ("write", Some(after.len())),
            Edit::Remove { .. } => ("remove", None),
        };
        Self { path: edit.path().to_owned(), what, bytes }
    }
}

impl Report for UndoReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.clears {
            let number = count(self.dropped as u64, "change");
            return match (self.declined, self.dry_run) {
                (true, _) => writeln!(out, "The undo journal was not touched."),
                (false, true) => {
                    writeln!(out, "{number} could then no longer be undone: this was a dry run")
                }
                (false, false) => writeln!(out, "{number} can no longer be undone"),
            };
        }
        if let Some(changes) = &self.changes {
            for it in changes {
                let (at, what) = (local(&it.at), safe(&it.what));
                let files = safe(&it.files.join(", "));
                let text = it.text.as_ref().map(|it| format!("  {}", safe(it)));
                let text = text.unwrap_or_default();
                let undone = if it.state == "undone" { "  (undone)" } else { "" };
                writeln!(out, "{BOLD}{at}{BOLD:#}  {what:<8}  {files}{text}{undone}")?;
            }
            return writeln!(out, "{}", count(changes.len() as u64, "change"));
        }
        for it in &self.edits {
            match it.what {
                "remove" => writeln!(out, "{BAD}-{BAD:#} {}", safe(&it.path))?,
                _ => writeln!(out, "{GOOD}~{GOOD:#} {}", safe(&it.path))?,
            }
        }
        if let Some(rows) = &self.rows {
            for (sign, number, what) in
                [('~', rows.put_back, "put back"), ('-', rows.removed, "removed")]
            {
                if number > 0 {
                    writeln!(out, "{GOOD}{sign}{GOOD:#} {} {what}", count(number as u64, "row"))?;
                }
            }
            for key in &rows.taken {
                let key = safe(key);
                writeln!(out, "{ODD}note:{ODD:#} {key} stays away: another row has its key now")?;
            }
        }
        if !self.restored.is_empty() {
            let number = count(self.restored.len() as u64, "entry");
            writeln!(out, "{ODD}put back:{ODD:#} {number} that an editor had dropped")?;
        }
        if self.dropped > 0 {
            let number = count(self.dropped as u64, "old change");
            writeln!(out, "{ODD}note:{ODD:#} {number} can no longer be undone")?;
        }
        let Some(it) = &self.undone else { return Ok(()) };
        let change = format!("`{}` of {}", safe(&it.what), local(&it.at));
        match (self.dry_run, self.skipped) {
            (true, true) => writeln!(out, "{change} would be passed over: this was a dry run"),
            (true, false) => writeln!(out, "{change} would be taken back: this was a dry run"),
            (false, true) => writeln!(out, "passed over {change}"),
            (false, false) => writeln!(out, "took back {change}"),
        }
    }
}
