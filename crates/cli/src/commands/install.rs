//! `anemone install`

mod place;
mod plan;

use std::io::{self, Write};
use std::path::PathBuf;

use anemone_messages::UserError;
use clap::Args;
use serde::Serialize;

use self::place::InstallPaths;
use self::plan::{Action, Plan, Step};
use super::Context;
use crate::output::{BOLD, DIM, GOOD, ODD, Report, Result, count, safe};

/// Install completions and man pages for this user
///
/// Writes completions for bash, zsh and fish and a man page for every command to where shells and
/// man look for them: below XDG_DATA_HOME (~/.local/share) and XDG_CONFIG_HOME (~/.config). A file
/// that something else put there stops it before anything is written. --remove takes out what was
/// installed. The program itself stays where it is.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  anemone install --dry-run          what would be written
  anemone install --alf              and a link, so that scripts may call it alf
  anemone install --remove           take it all out again
  anemone install --prefix pkg/usr   for a package: pkg/usr/share/...")]
pub(crate) struct InstallArgs {
    /// Show what would be done, and change nothing
    #[arg(long, short = 'n')]
    dry_run: bool,

    /// Install below this folder, as packages do: DIR/share/..., and DIR/bin with --alf
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,

    /// Also create a link named alf to this program, for scripts of the alf tool
    #[arg(long)]
    alf: bool,

    /// The folder of that link [default: that of this program]
    #[arg(long, value_name = "DIR")]
    bin: Option<PathBuf>,

    /// Remove what was installed, including the link, and nothing else
    #[arg(long, conflicts_with = "force")]
    remove: bool,

    /// Replace completions and pages that something else put there; never another alf
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
pub(crate) struct InstallReport {
    dry_run: bool,
    /// With --dry-run: it would stop, because of files that are not ours.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    would_stop: bool,
    created: u64,
    replaced: u64,
    same: u64,
    removed: u64,
    kept: u64,
    files: Vec<FileLine>,
    /// What shells and man still need.
    notes: Vec<String>,
}

#[derive(Serialize)]
struct FileLine {
    path: String,
    kind: &'static str,
    action: &'static str,
}

pub(crate) fn run(args: &InstallArgs, context: &Context<'_>) -> Result<InstallReport> {
    if args.bin.is_some() && !args.alf && !args.remove {
        let error = UserError::usage("--bin is the folder for the link alf");
        return Err(error.hint("give --alf too"));
    }
    let places =
        InstallPaths::new(args.prefix.as_deref(), args.bin.as_deref(), context.environment)?;
    let plan = match args.remove {
        true => Plan::to_remove(&places)?,
        false => Plan::to_install(&places, args.alf, args.force)?,
    };
    let would_stop = plan.is_blocked();
    if would_stop && !args.dry_run {
        return Err(not_ours(&plan));
    }
    if !args.dry_run {
        plan.apply(&places)?;
    }
    let notes = if args.remove { Vec::new() } else { places.notes() };
    Ok(InstallReport {
        dry_run: args.dry_run,
        would_stop,
        created: plan.count(Action::Create),
        replaced: plan.count(Action::Replace),
        same: plan.count(Action::Same),
        removed: plan.count(Action::Remove),
        kept: plan.count(Action::Keep),
        files: plan.steps.iter().map(FileLine::new).collect(),
        notes,
    })
}

/// Says which files are in the way.
fn not_ours(plan: &Plan) -> UserError {
    let blocked: Vec<&Step> =
        plan.steps.iter().filter(|step| step.action == Action::Blocked).collect();
    let files = count(blocked.len() as u64, "file");
    let message = format!("{files} exist that Anemone did not write; nothing was done");
    let mut error = UserError::failure("not_ours", message);
    error.causes = blocked.iter().map(|blocked| blocked.path.display().to_string()).collect();
    error.hint(match blocked.iter().any(|blocked| blocked.kind() == "link") {
        true => "move the other alf away, or give the link another folder with --bin DIR",
        false => "give --force to replace them",
    })
}

impl FileLine {
    fn new(step: &Step) -> Self {
        let path = step.path.display().to_string();
        Self { path, kind: step.kind(), action: step.action.as_str() }
    }
}

impl Report for InstallReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for FileLine { path, action, .. } in self.files.iter().filter(|file| file.action != "same")
        {
            writeln!(out, "{ODD}{action}{ODD:#} {}", safe(path))?;
        }
        for note in &self.notes {
            writeln!(out, "{DIM}note:{DIM:#} {}", safe(note))?;
        }
        let Self { created, replaced, same, removed, kept, .. } = self;
        let numbers = format!(
            "{created} created, {replaced} replaced, {same} unchanged, {removed} removed, {kept} kept"
        );
        match (self.dry_run, self.would_stop) {
            (true, true) => writeln!(
                out,
                "{BOLD}dry run, nothing was done{BOLD:#}; files marked blocked were not written by \
                 Anemone, and would stop it"
            ),
            (true, false) => {
                writeln!(out, "{BOLD}dry run, nothing was done{BOLD:#} ({numbers})")
            }
            (false, _) => writeln!(out, "{GOOD}done{GOOD:#} ({numbers})"),
        }
    }
}
