//! What is remembered in a database.

use std::path::Path;

use anemone_memory::{
    Caution, Clock as _, Look, RememberSettings, RememberingRow, plan_remember_row,
};
use anemone_runtimes::Machine;

use super::{RememberArgs, RememberReport, RowLine, refuse_duplicates, refuse_secrets};
use crate::commands::Context;
use crate::error::CliError;
use crate::living::{AgentMemory, no_finder};

/// Remembers something in the database of an agent, which is made where there is none.
pub(super) fn remember(
    args: &RememberArgs,
    text: String,
    path: &Path,
    living: &AgentMemory,
    machine: &Machine,
    context: &Context<'_>,
) -> Result<RememberReport, CliError> {
    let (finder, look) = match args.force {
        true => (no_finder(), Look::Away),
        false => (living.finder(machine, &context.host)?, Look::ForDuplicates),
    };
    let there = living.rows_to_read(path, finder)?;
    let asked = args.asked(text);
    let plan = plan_remember_row(there.as_ref(), look, asked, &RememberSettings::default())?;
    let mut report = report(args, &plan, path);
    if args.dry_run {
        return Ok(report);
    }
    refuse_secrets(&report)?;
    refuse_duplicates(&report)?;
    drop(there);
    let memory = living.rows(path, no_finder())?;
    let clock = &context.host.clock;
    let held = living.site.lock()?;
    let change = plan.write(&held, &memory, clock.fresh_id(), clock.now())?;
    report.written = true;
    report.change = Some(change.0.to_string());
    Ok(report)
}

fn report(args: &RememberArgs, plan: &RememberingRow, path: &Path) -> RememberReport {
    let (redacted, secrets) = match args.redact {
        true => (plan.secrets.clone(), Vec::new()),
        false => (Vec::new(), plan.secrets.clone()),
    };
    let mut warnings = plan.cautions.clone();
    if args.kind.is_some() {
        let message = "a row has no place for a type: only its importance is kept".to_owned();
        warnings.push(Caution { code: "type_not_kept", message });
    }
    // Nobody needs to see a secret to know that it is there.
    let shown = |text: &str| if secrets.is_empty() { text.to_owned() } else { String::new() };
    RememberReport {
        ok: true,
        dry_run: args.dry_run,
        written: false,
        id: plan.id.clone(),
        path: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        entry: shown(&plan.content),
        row: Some(RowLine {
            key: shown(&plan.key),
            category: plan.category.to_string(),
            replaces: plan.id != plan.given.stamp.id.to_string(),
        }),
        change: None,
        redacted,
        secrets: secrets.clone(),
        duplicates: plan.duplicates.clone(),
        restored: Vec::new(),
        warnings,
    }
}
