//! `anemone import`

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anemone_format::{AgentId, ArchiveSource, SnapshotSource as _};
use anemone_runtimes::{
    Action, Machine, OnConflict, Plan, Runtime, Step, StepKind, by_name, noted_agent_id,
    recover_leftovers, with_agents,
};
use clap::Args;
use serde::Serialize;

use super::Context;
use super::diff::open_sound;
use super::validate::edits;
use crate::agent::{
    ChosenAgent, NamedAgent, adapter, check_alias, check_name, check_runtime, discover,
};
use crate::args::ConflictWord;
use crate::args::RestoreArgs;
use crate::error::{CliError, Kind};
use crate::files::is_standard;
use crate::keys::read_vault_key;
use crate::known_folders::{FolderKind, note_copy, note_folder};
use crate::output::{BOLD, DIM, GOOD, ODD, Report, count, safe};
use crate::restore::{MissingLine, Stores, cannot_plan, restore, text, warning};
use crate::restored::{store_lines, write_missing};

/// Put an archive back as a workspace
///
/// What the archive holds of the same runtime comes back exactly: bytes, modes, times and links.
/// For an archive of another runtime, the files are made from the records. An existing workspace
/// keeps every file that the archive does not have, and nothing in it is replaced unless
/// --on-conflict says so. The new tree takes the place of the old one in one step.
///
/// Without -w, the archive goes where the runtime looks for its agent on this machine, such as
/// ~/.openclaw/workspace; the output names the folder. If an import is interrupted, run it again:
/// that finishes it.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  anemone import ada.alf                          back to where the runtime reads it
  anemone import ada.alf --dry-run                what would be done, and where
  anemone import -r openclaw -w ~/ada ada.alf     into a folder of your choice")]
pub(crate) struct ImportArgs {
    /// The runtime that will run the agent: openclaw or zeroclaw [default: that of the archive]
    #[arg(long, short, value_name = "RUNTIME")]
    pub(crate) runtime: Option<String>,

    /// The workspace to fill, or the install's folder (ZeroClaw); created if missing [default:
    /// where the runtime looks for it]
    #[arg(long, short, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,

    /// The .alf file; `-` reads stdin
    pub(crate) file: PathBuf,

    /// Take in an archive whose content was edited after it was written; every entry that differs
    /// is reported
    #[arg(long)]
    pub(crate) accept_edited: bool,

    /// Show what would be done, and write nothing
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) restore: RestoreArgs,

    /// Name of the agent in the runtime, if an install has several (ZeroClaw)
    #[arg(long, value_name = "ALIAS")]
    pub(crate) agent: Option<String>,

    /// Open the sealed secrets of credentials with the vault key in this file
    #[arg(long, value_name = "FILE")]
    pub(crate) vault_key: Option<PathBuf>,
}

#[derive(Serialize)]
pub(crate) struct Imported {
    ok: bool,
    runtime: &'static str,
    pub(crate) workspace: String,
    pub(crate) agent_name: String,
    pub(crate) memory_records: u64,
    pub(crate) identity_imported: bool,
    pub(crate) principals_count: u64,
    pub(crate) credentials_count: u64,
    pub(crate) warnings: Vec<String>,
    dry_run: bool,
    files_created: u64,
    files_replaced: u64,
    files_kept: u64,
    files_same: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Vec<StepLine>>,
    conflicts: Vec<ConflictLine>,
    pub(crate) not_restored: Vec<MissingLine>,
    #[serde(flatten)]
    pub(crate) stores: Stores,
    /// Settings that come new; programs find them in `stores`.
    #[serde(skip)]
    settings: Vec<String>,
}

#[derive(Serialize)]
struct StepLine {
    path: String,
    kind: &'static str,
    action: &'static str,
    size: u64,
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    beside: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct ConflictLine {
    path: String,
    reason: &'static str,
}

pub(crate) fn run(args: &ImportArgs, context: &Context<'_>) -> Result<Imported, CliError> {
    let given = args.runtime.as_deref().map(adapter).transpose()?;
    let vault_key = args.vault_key.as_deref().map(read_vault_key).transpose()?;
    let progress = context.host.progress("importing");
    let sound = open_sound(&args.file, edits(args.accept_edited), context, &progress)?;
    let archive = sound.opening.into_archive();
    let archive = archive.map_err(|error| CliError::from(error).about(&args.file))?;
    let source = ArchiveSource::new(&archive)?;
    let machine = context.host.machine()?;
    args.agent.as_deref().map(check_name).transpose()?;
    let adapter = match given {
        Some(adapter) => adapter,
        None => adapter_of(&source.manifest().agent.source_runtime)?,
    };
    let workspace = match &args.workspace {
        Some(workspace) => workspace.clone(),
        None => usual_target(adapter, &machine, args.agent.as_deref())?,
    };
    let target = adapter.locate(&machine, &workspace, args.agent.as_deref());
    let chosen = ChosenAgent { adapter, agent: target };
    check_runtime(&chosen, &machine, &workspace)?;
    let target = chosen.agent;
    check_alias(&target, args.agent.as_deref())?;
    check_agent(&target.workspace, args.restore.on_conflict, source.manifest().agent.id)?;
    let choice = args.restore.choice();
    let options = choice.plan_options(adapter.name, vault_key.as_ref())?;
    let mut recovered = Vec::new();
    if !args.dry_run {
        recovered = recover_leftovers(&target.workspace);
    }
    let plan = adapter.plan(&machine, &source, &target, &options).map_err(cannot_plan)?;
    let layers = &source.manifest().layers;
    let mut imported = Imported {
        ok: true,
        runtime: adapter.name,
        workspace: shown(&workspace, &plan).display().to_string(),
        agent_name: source.manifest().agent.name.clone(),
        memory_records: plan.records,
        identity_imported: layers.identity.is_some(),
        principals_count: layers.principals.as_ref().map_or(0, |it| it.count),
        credentials_count: layers.credentials.as_ref().map_or(0, |it| it.count),
        warnings: {
            let powers = plan.power_warnings();
            let ours = recovered.iter().chain(&plan.warnings).chain(&powers).map(warning);
            sound.warnings.into_iter().chain(ours).collect()
        },
        dry_run: args.dry_run,
        files_created: plan.count(|it| matches!(it, Action::Create | Action::Both { .. })),
        files_replaced: plan.count(|it| *it == Action::Replace),
        files_kept: plan.count(|it| *it == Action::Keep),
        files_same: plan.count(|it| *it == Action::Same),
        plan: args.dry_run.then(|| plan.steps.iter().map(step).collect()),
        conflicts: plan.conflicts.iter().map(conflict).collect(),
        not_restored: plan.not_restored.iter().map(MissingLine::new).collect(),
        stores: Stores::planned(&plan),
        settings: plan.config.as_ref().map(|it| it.added.clone()).unwrap_or_default(),
    };
    if options.on_conflict == OnConflict::Stop && !plan.conflicts.is_empty() {
        return Err(stopped(&workspace, &plan, &imported));
    }
    if !args.dry_run {
        let warnings = restore(&plan, &source, &machine, &mut imported.stores, &context.host)
            .map_err(|error| error.with_details(&imported))?;
        imported.warnings.extend(warnings.iter().map(warning));
        let arrived = adapter.locate(&machine, &workspace, args.agent.as_deref());
        note_copy(&context.host, &machine, adapter, &arrived);
        if !is_standard(&args.file) {
            note_folder(&context.host, FolderKind::Archive, &args.file, None);
        }
    }
    Ok(imported)
}

/// Returns the arguments that name a runtime.
fn runtime_options() -> String {
    let options: Vec<String> =
        with_agents().map(|runtime| format!("-r {}", runtime.name)).collect();
    options.join(" or ")
}

/// Returns the runtime that an archive was made from.
fn adapter_of(runtime: &str) -> Result<&'static Runtime, CliError> {
    by_name(runtime).ok_or_else(|| {
        let message = format!("the archive is of the runtime {runtime:?}, which is not known here");
        CliError::new(Kind::Usage, "unknown_runtime", message)
            .hint(format!("say which runtime gets the agent with {}", runtime_options()))
    })
}

/// Returns the folder in which a runtime looks for an agent: that of the one agent it has here, or
/// the usual one where it has none yet.
fn usual_target(
    adapter: &'static Runtime,
    machine: &Machine,
    alias: Option<&str>,
) -> Result<PathBuf, CliError> {
    let found = discover(&[adapter], machine);
    let named = found.iter().find(|it| Some(it.alias.as_str()) == alias);
    let place = |named: &NamedAgent| adapter.named_place(&named.agent).to_owned();
    match (named, &found[..]) {
        (Some(one), _) | (None, [one]) => Ok(place(one)),
        (None, []) => Ok(adapter.first_place(machine)),
        (None, several) => {
            let message = format!("{} has {} agents here", adapter.name, several.len());
            let mut error = CliError::new(Kind::Usage, "agent_selection_ambiguous", message);
            error.causes = several.iter().map(NamedAgent::line).collect();
            Err(error.hint("say where the archive goes with -w DIR, or with --agent ALIAS"))
        }
    }
}

/// Returns the workspace as the user named it, or where it is when an install was named.
fn shown<'a>(given: &'a Path, plan: &'a Plan) -> &'a Path {
    let real = |path: &Path| fs_err::canonicalize(path).or_else(|_| std::path::absolute(path)).ok();
    if real(given) == real(&plan.workspace) { given } else { &plan.workspace }
}

/// Refuses to mix two agents in one workspace.
pub(super) fn check_agent(
    workspace: &Path,
    on_conflict: ConflictWord,
    agent: AgentId,
) -> Result<(), CliError> {
    let Some(there) = noted_agent_id(workspace).filter(|there| *there != agent) else {
        return Ok(());
    };
    if matches!(on_conflict, ConflictWord::Theirs) {
        return Ok(());
    }
    let message = format!("the workspace is that of agent {there}, the archive of {agent}");
    Err(CliError::new(Kind::Conflict, "different_agents", message)
        .about(workspace)
        .hint("import into another folder; --on-conflict theirs makes this one the archive's"))
}

/// Says that nothing was done because files differ, and which.
pub(super) fn stopped(workspace: &Path, plan: &Plan, report: &impl Serialize) -> CliError {
    const SHOWN: usize = 20;
    let number = plan.conflicts.len();
    let places = count(number as u64, "place");
    let message = format!("the workspace and the archive differ in {places}; nothing was changed");
    let mut error = CliError::new(Kind::Conflict, "conflict", message).about(workspace);
    error.causes.extend(
        plan.conflicts.iter().take(SHOWN).map(|it| format!("{}: {}", text(&it.path), it.reason)),
    );
    if number > SHOWN {
        error.causes.push(format!("and {} more", number - SHOWN));
    }
    error
        .with_details(report)
        .hint("give --on-conflict theirs, ours or both; with --dry-run, each shows its plan")
}

fn step(it: &Step) -> StepLine {
    StepLine {
        path: text(&it.path),
        kind: match it.kind() {
            StepKind::File => "file",
            StepKind::Symlink => "symlink",
            StepKind::Folder => "folder",
        },
        action: action(&it.action),
        size: it.size(),
        beside: match &it.action {
            Action::Both { beside } => Some(text(beside)),
            _ => None,
        },
        reason: it.reason,
    }
}

fn action(it: &Action) -> &'static str {
    match it {
        Action::Create => "create",
        Action::Replace => "replace",
        Action::Keep => "keep",
        Action::Same => "same",
        Action::Both { .. } => "both",
        Action::Conflict => "conflict",
    }
}

fn conflict(it: &anemone_runtimes::Conflict) -> ConflictLine {
    ConflictLine { path: text(&it.path), reason: it.reason }
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

impl Report for Imported {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for it in self.plan.iter().flatten().filter(|it| it.action != "same") {
            let StepLine { path, action, beside, reason, .. } = it;
            let beside = beside.as_ref().map(|it| format!(" as {it}")).unwrap_or_default();
            let reason = reason.map(|it| format!("  ({it})")).unwrap_or_default();
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
        for it in &self.warnings {
            writeln!(out, "{ODD}warning:{ODD:#} {}", safe(it))?;
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
        let names: Vec<String> = (0..12).map(|it| format!("k{it}")).collect();
        assert_eq!(a_few(&names[..2]), "k0, k1");
        assert!(a_few(&names).ends_with(", k9 and 2 more"), "{}", a_few(&names));
    }
}
