//! `anemone undo`

use std::io::{self, Write};

use anemone::undo::{
    ChangeState, EditKind, ListedChange, PlannedEdit, UndoAction, UndoReport, UndoRequest,
    clear_changes, count_changes, list_changes, undo,
};
use anemone_memory::{RestoredText, RowsUndo};
use anemone_messages::{UserError, local_time};
use clap::Args;
use serde::Serialize;

use super::Context;
use crate::args::MemoryArgs;
use crate::environment::Environment;
use crate::output::{BAD, BOLD, GOOD, ODD, Report, Result, ask, count, safe};

/// Undo the last change of a memory
///
/// Reverts the last `remember`, `forget`, `tidy` and the like; run it again to revert the change
/// before that. Where somebody else has edited the same file since, only what the change did is
/// reverted; if its place in the file cannot be found, nothing is changed. This holds for rows of
/// a database as well. The last 100 changes are kept, up to 64 MiB.
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

/// The changes that were undone, listed or cleared.
#[derive(Default, Serialize)]
pub(crate) struct UndoAnswer {
    dry_run: bool,
    /// The change that is taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    undone: Option<ListedChange>,
    edits: Vec<PlannedEdit>,
    /// What is done to rows of a database.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<RowsUndo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<ListedChange>>,
    restored: Vec<RestoredText>,
    /// Old changes that can no longer be undone.
    dropped: usize,
    /// Whether the user was asked and said no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    declined: bool,
    #[serde(skip)]
    skipped: bool,
    #[serde(skip)]
    clears: bool,
}

pub(crate) fn run(args: &UndoArgs, context: &Context<'_>) -> Result<UndoAnswer> {
    check_confirmable(args, context.environment)?;
    if args.clear {
        return clear(args, context);
    }
    let memory = args.memory.choice();
    if args.list {
        let changes = Some(list_changes(&memory, &context.host)?);
        return Ok(UndoAnswer { changes, ..UndoAnswer::nothing(args) });
    }
    let action = if args.skip { UndoAction::Skip } else { UndoAction::Revert };
    let report = undo(&UndoRequest { memory, action, dry_run: args.dry_run }, &context.host)?;
    let UndoReport { undone, edits, rows, change, restored, dropped } = report;
    let undone = Some(undone);
    Ok(UndoAnswer { undone, edits, rows, change, restored, dropped, ..UndoAnswer::nothing(args) })
}

impl UndoAnswer {
    fn nothing(args: &UndoArgs) -> Self {
        Self { dry_run: args.dry_run, skipped: args.skip, clears: args.clear, ..Self::default() }
    }
}

/// Empties the journal, after the user has confirmed.
fn clear(args: &UndoArgs, context: &Context<'_>) -> Result<UndoAnswer> {
    let memory = args.memory.choice();
    let mut report = UndoAnswer::nothing(args);
    if args.dry_run {
        report.dropped = count_changes(&memory, &context.host)?;
        return Ok(report);
    }
    if !args.yes {
        let changes = count_changes(&memory, &context.host)?;
        let number = count(changes as u64, "change");
        let question = format!("empty the undo journal? {number} can then no longer be undone");
        if changes > 0 && !ask(&question)? {
            report.declined = true;
            return Ok(report);
        }
    }
    report.dropped = clear_changes(&memory, &context.host)?;
    Ok(report)
}

/// Prevents emptying the journal by accident.
fn check_confirmable(args: &UndoArgs, environment: &Environment) -> Result<()> {
    if !args.clear || args.yes || args.dry_run || environment.can_ask() {
        return Ok(());
    }
    let message = "--clear makes every earlier change impossible to undo, and there is no \
                   terminal to ask for confirmation";
    Err(UserError::failure("not_confirmed", message)
        .hint("look at the changes with --list, then add --yes to confirm"))
}

impl Report for UndoAnswer {
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
            for change in changes {
                let (at, what) = (local_time(&change.at), safe(&change.what));
                let files = safe(&change.files.join(", "));
                let text = change.text.as_ref().map(|text| format!("  {}", safe(text)));
                let text = text.unwrap_or_default();
                let undone = if change.state == ChangeState::Undone { "  (undone)" } else { "" };
                writeln!(out, "{BOLD}{at}{BOLD:#}  {what:<8}  {files}{text}{undone}")?;
            }
            return writeln!(out, "{}", count(changes.len() as u64, "change"));
        }
        for edit in &self.edits {
            match edit.what {
                EditKind::Remove => writeln!(out, "{BAD}-{BAD:#} {}", safe(&edit.path))?,
                EditKind::Append | EditKind::Write => {
                    writeln!(out, "{GOOD}~{GOOD:#} {}", safe(&edit.path))?;
                }
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
            if rows.gone > 0 {
                let number = count(rows.gone as u64, "added row");
                writeln!(out, "{ODD}note:{ODD:#} no longer in the database: {number}")?;
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
        let Some(undone) = &self.undone else { return Ok(()) };
        let change = format!("`{}` of {}", safe(&undone.what), local_time(&undone.at));
        match (self.dry_run, self.skipped) {
            (true, true) => writeln!(out, "{change} would be passed over: this was a dry run"),
            (true, false) => writeln!(out, "{change} would be reverted: this was a dry run"),
            (false, true) => writeln!(out, "passed over {change}"),
            (false, false) => writeln!(out, "reverted {change}"),
        }
    }
}
