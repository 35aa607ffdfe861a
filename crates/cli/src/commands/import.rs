//! `anemone import`

use std::io::{self, Write};
use std::path::PathBuf;

use anemone::import::{ImportReport, ImportRequest, PlannedStep, import};
use anemone_runtimes::SAMPLE_INSTALL;
use clap::Args;

use super::Context;
use super::validate::edits;
use crate::args::RestoreArgs;
use crate::output::{BOLD, DIM, GOOD, ODD, Report, Result, count, safe};
use crate::restored::{store_lines, write_missing};
use crate::runtime_words;

/// Put an archive back as a workspace
///
/// What the archive holds of the same runtime comes back exactly: bytes, modes, times and links.
/// For an archive of another runtime, the files are made from the records. An existing workspace
/// keeps every file that the archive does not have, and nothing in it is replaced unless
/// --on-conflict says so. The new tree replaces the old one atomically.
///
/// Without -w, the archive goes where the runtime looks for its agent on this machine; the output
/// names the folder. If an import is interrupted, run it again: that finishes it.
#[derive(Args, Debug)]
#[command(after_help = format!("Examples:
  anemone import ada.alf                          back to where the runtime reads it
  anemone import ada.alf --dry-run                what would be done, and where
  anemone import -r {} -w ~/ada ada.alf     into a folder of your choice", SAMPLE_INSTALL.runtime))]
pub(crate) struct ImportArgs {
    #[arg(
        long,
        short,
        value_name = "RUNTIME",
        help = runtime_words::help(
            "The runtime that will run the agent",
            " [default: that of the archive]",
        )
    )]
    runtime: Option<String>,

    #[arg(
        long,
        short,
        value_name = "DIR",
        help = runtime_words::help_for(
            "The workspace to fill, or the install's folder",
            runtime_words::holds_several,
            "; created if missing [default: where the runtime looks for it]",
        )
    )]
    workspace: Option<PathBuf>,

    /// The .alf file; `-` reads stdin
    file: PathBuf,

    /// Take in an archive whose content was edited after it was written; every entry that differs
    /// is reported
    #[arg(long)]
    accept_edited: bool,

    /// Show what would be done, and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,

    #[command(flatten)]
    restore: RestoreArgs,

    #[arg(
        long,
        value_name = "ALIAS",
        help = runtime_words::help_for(
            "Name of the agent in the runtime, if an install has several",
            runtime_words::holds_several,
            "",
        )
    )]
    agent: Option<String>,

    /// Open the sealed secrets of credentials with the vault key in this file
    #[arg(long, value_name = "FILE")]
    vault_key: Option<PathBuf>,
}

pub(crate) fn run(args: &ImportArgs, context: &Context<'_>) -> Result<ImportReport> {
    Ok(import(&args.request(), &context.host)?)
}

impl ImportArgs {
    fn request(&self) -> ImportRequest {
        ImportRequest {
            file: self.file.clone(),
            runtime: self.runtime.clone(),
            workspace: self.workspace.clone(),
            agent: self.agent.clone(),
            edits: edits(self.accept_edited),
            dry_run: self.dry_run,
            restore: self.restore.choice(),
            vault_key: self.vault_key.clone(),
        }
    }
}

/// Lists names, and how many more there are.
fn a_few(names: &[String]) -> String {
    const SHOWN: usize = 10;
    let mut text = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

impl Report for ImportReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for step in self.plan.iter().flatten().filter(|step| step.action != "same") {
            let PlannedStep { path, action, beside, reason, .. } = step;
            let beside = beside.as_ref().map(|name| format!(" as {name}")).unwrap_or_default();
            let reason = reason.map(|reason| format!("  ({reason})")).unwrap_or_default();
            let line = safe(&format!("{path}{beside}{reason}"));
            writeln!(out, "{ODD}{action}{ODD:#} {line}")?;
        }
        write_missing("not restored", &self.not_restored, out)?;
        for line in store_lines(&self.stores) {
            writeln!(out, "{line}")?;
        }
        if !self.settings.is_empty() {
            writeln!(out, "{DIM}settings added:{DIM:#} {}", safe(&a_few(&self.settings)))?;
        }
        for warning in &self.warnings {
            writeln!(out, "{ODD}warning:{ODD:#} {}", safe(warning))?;
        }
        if let Some(kept) = &self.stores.replaced_kept_at {
            writeln!(out, "the replaced files are in {BOLD}{kept}{BOLD:#}")?;
        }
        let (created, replaced) = (self.files_created, self.files_replaced);
        let (kept, same) = (self.files_kept, self.files_same);
        let numbers =
            format!("{created} created, {replaced} replaced, {kept} kept, {same} the same");
        let records = count(self.memory_records, "record");
        let name = safe(&self.agent_name);
        let workspace = safe(&self.workspace);
        if self.dry_run {
            writeln!(out, "{name} would be in {BOLD}{workspace}{BOLD:#}")?;
            return writeln!(out, "nothing written: this was a dry run ({numbers}, {records})");
        }
        writeln!(out, "{GOOD}{name}{GOOD:#} is in {BOLD}{workspace}{BOLD:#} ({numbers}, {records})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_settings_ten_are_named_and_the_rest_is_counted() {
        let names: Vec<String> = (0..12).map(|number| format!("k{number}")).collect();
        assert_eq!(a_few(&names[..2]), "k0, k1");
        assert!(a_few(&names).ends_with(", k9 and 2 more"), "{}", a_few(&names));
    }
}
