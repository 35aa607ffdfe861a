//! `anemone import`

use std::error::Error as _;
use std::io::{self, Write};
use std::path::PathBuf;

use anemone_adapters::{
    Action, Applied, CredentialsStep, OnConflict, Plan, PlanError, PlanOptions,
    SnapshotSource as _, Step, StepKind, apply, noted_agent_id,
};
use anemone_format::AgentId;
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::diff::open_sound_archive;
use super::{Context, now};
use crate::agent::adapter;
use crate::archive_source::ArchiveSource;
use crate::error::{CliError, Kind};
use crate::files::Unfinished;
use crate::keys::read_vault_key;
use crate::output::{BOLD, DIM, GOOD, ODD, Report, count, safe};
use crate::progress::Progress;

/// Put an archive back as a workspace
///
/// What the archive holds of the same runtime comes back exactly: bytes, modes, times and links.
/// For an archive of another runtime, the files are made from the records. A workspace that is
/// there already keeps every file that the archive does not have, and nothing in it is replaced
/// unless --on-conflict says so. The new tree takes the place of the old one in one step.
#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    /// The runtime that will run the agent, such as openclaw
    #[arg(long, short, value_name = "RUNTIME")]
    runtime: String,

    /// The workspace to fill; it is made if it is not there
    #[arg(long, short, value_name = "DIR")]
    workspace: PathBuf,

    /// The .alf file
    file: PathBuf,

    /// Say what would be done, and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,

    /// What to do where the workspace has another file than the archive: stop, take theirs (the
    /// archive's; ours is kept beside the workspace), keep ours, or have both
    #[arg(
        long,
        value_enum,
        default_value = "stop",
        value_name = "WHAT",
        hide_possible_values = true
    )]
    on_conflict: Choice,

    /// Open the sealed secrets of credentials with the vault key in this file
    #[arg(long, value_name = "FILE")]
    vault_key: Option<PathBuf>,
}

/// The words of `--on-conflict`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Choice {
    Stop,
    Theirs,
    Ours,
    Both,
}

#[derive(Serialize)]
pub(crate) struct Imported {
    ok: bool,
    workspace: String,
    agent_name: String,
    memory_records: u64,
    identity_imported: bool,
    principals_count: u64,
    credentials_count: u64,
    warnings: Vec<String>,
    dry_run: bool,
    files_created: u64,
    files_replaced: u64,
    files_kept: u64,
    files_same: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Vec<StepLine>>,
    conflicts: Vec<ConflictLine>,
    not_restored: Vec<MissingLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    credentials_restored: Option<CredentialsLine>,
    replaced_kept_at: Option<String>,
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

#[derive(Serialize)]
struct MissingLine {
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    reason: String,
}

/// Where secrets went.
#[derive(Serialize)]
struct CredentialsLine {
    store: String,
    added: Vec<String>,
    replaced: Vec<String>,
    kept: Vec<String>,
}

impl CredentialsLine {
    fn new(step: &CredentialsStep) -> Self {
        Self {
            store: step.store.display().to_string(),
            added: step.added.clone(),
            replaced: step.replaced.clone(),
            kept: step.kept.clone(),
        }
    }
}

pub(crate) fn run(args: &ImportArgs, context: &Context<'_>) -> Result<Imported, CliError> {
    let adapter = adapter(&args.runtime)?;
    let vault_key = args.vault_key.as_deref().map(read_vault_key).transpose()?;
    let progress = Progress::new(context.printer, "importing");
    let (archive, _) = open_sound_archive(&args.file, context, &progress)?;
    let source = ArchiveSource::new(&archive)?;
    let machine = context.environment.machine()?;
    let target = adapter.locate(&machine, &args.workspace);
    check_agent(args, source.manifest().agent.id)?;
    let options = PlanOptions {
        on_conflict: match args.on_conflict {
            Choice::Stop => OnConflict::Stop,
            Choice::Theirs => OnConflict::Theirs,
            Choice::Ours => OnConflict::Ours,
            Choice::Both => OnConflict::Both,
        },
        vault_key: vault_key.as_ref(),
    };
    let plan = adapter.plan(&machine, &source, &target, &options).map_err(cannot_plan)?;
    let layers = &source.manifest().layers;
    let mut imported = Imported {
        ok: true,
        workspace: args.workspace.display().to_string(),
        agent_name: source.manifest().agent.name.clone(),
        memory_records: plan.records,
        identity_imported: layers.identity.is_some(),
        principals_count: layers.principals.as_ref().map_or(0, |it| it.count),
        credentials_count: layers.credentials.as_ref().map_or(0, |it| it.count),
        warnings: plan.warnings.iter().map(warning).collect(),
        dry_run: args.dry_run,
        files_created: plan.count(|it| matches!(it, Action::Create | Action::Both { .. })),
        files_replaced: plan.count(|it| *it == Action::Replace),
        files_kept: plan.count(|it| *it == Action::Keep),
        files_same: plan.count(|it| *it == Action::Same),
        plan: args.dry_run.then(|| plan.steps.iter().map(step).collect()),
        conflicts: plan.conflicts.iter().map(conflict).collect(),
        not_restored: plan.not_restored.iter().map(missing).collect(),
        credentials_restored: plan.credentials.as_ref().map(CredentialsLine::new),
        replaced_kept_at: None,
    };
    if options.on_conflict == OnConflict::Stop && !plan.conflicts.is_empty() {
        return Err(stopped(args, &plan, &imported));
    }
    if !args.dry_run {
        let Applied { replaced_kept_at, warnings } = apply(&plan, &source, &Unfinished)?;
        imported.replaced_kept_at = replaced_kept_at.map(|path| path.display().to_string());
        imported.warnings.extend(warnings.iter().map(warning));
        if let Some(step) = &plan.credentials
            && let Err(error) = step.apply(&machine, &now())
        {
            // The workspace is there; what is missing can be had by importing again.
            imported.credentials_restored = None;
            let cause = error.source().map(|it| format!(": {it}")).unwrap_or_default();
            imported.not_restored.extend(step.added.iter().chain(&step.replaced).map(|name| {
                let reason = format!("{error}{cause}; stop the runtime and import again");
                MissingLine { what: "credential", path: Some(name.clone()), reason }
            }));
        }
    }
    Ok(imported)
}

/// Says why there is no plan, and what to do about it where only this command knows.
fn cannot_plan(error: PlanError) -> CliError {
    let hint = match &error {
        PlanError::Leftover { workspace, .. } => Some(format!(
            "look into it: rename it to {} if it is your workspace, or move it away; then import \
             again",
            workspace.display()
        )),
        _ => None,
    };
    let mut error = CliError::from(error);
    match hint {
        Some(hint) => {
            error.code = "leftover";
            error.hint(hint)
        }
        None => error,
    }
}

/// Refuses to mix two agents in one workspace.
fn check_agent(args: &ImportArgs, agent: AgentId) -> Result<(), CliError> {
    let Some(there) = noted_agent_id(&args.workspace).filter(|there| *there != agent) else {
        return Ok(());
    };
    if matches!(args.on_conflict, Choice::Theirs) {
        return Ok(());
    }
    let message = format!("the workspace is that of agent {there}, the archive of {agent}");
    Err(CliError::new(Kind::Conflict, "different_agents", message)
        .about(&args.workspace)
        .hint("import into another folder; --on-conflict theirs makes this one the archive's"))
}

/// Says that nothing was done because files differ, and which.
fn stopped(args: &ImportArgs, plan: &Plan, imported: &Imported) -> CliError {
    const SHOWN: usize = 20;
    let number = plan.conflicts.len();
    let files = count(number as u64, "file");
    let message =
        format!("{files} of the workspace differ from the archive's; nothing was changed");
    let mut error = CliError::new(Kind::Conflict, "conflict", message).about(&args.workspace);
    error.causes.extend(
        plan.conflicts.iter().take(SHOWN).map(|it| format!("{}: {}", text(&it.path), it.reason)),
    );
    if number > SHOWN {
        error.causes.push(format!("and {} more", number - SHOWN));
    }
    error.details = serde_json::to_value(imported).ok().and_then(|it| match it {
        serde_json::Value::Object(mut fields) => {
            fields.remove("ok");
            Some(Box::new(fields))
        }
        _ => None,
    });
    error.hint("give --on-conflict theirs, ours or both; with --dry-run, each shows its plan")
}

fn text(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

fn warning(it: &anemone_adapters::Warning) -> String {
    match &it.path {
        Some(path) => format!("{path}: {}", it.message),
        None => it.message.clone(),
    }
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

fn conflict(it: &anemone_adapters::Conflict) -> ConflictLine {
    ConflictLine { path: text(&it.path), reason: it.reason }
}

fn missing(it: &anemone_adapters::NotRestored) -> MissingLine {
    MissingLine { what: it.what, path: it.path.clone(), reason: it.reason.clone() }
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
        for it in &self.not_restored {
            let path = it.path.as_ref().map(|path| format!(" {path}")).unwrap_or_default();
            let line = safe(&format!("{}{path}: {}", it.what, it.reason));
            writeln!(out, "{DIM}not restored:{DIM:#} {line}")?;
        }
        if let Some(it) = &self.credentials_restored {
            let (added, replaced, kept) = (it.added.len(), it.replaced.len(), it.kept.len());
            let store = safe(&it.store);
            writeln!(
                out,
                "credentials: {added} added, {replaced} replaced, {kept} kept in {store}"
            )?;
        }
        for it in &self.warnings {
            writeln!(out, "{ODD}warning:{ODD:#} {}", safe(it))?;
        }
        if let Some(kept) = &self.replaced_kept_at {
            writeln!(out, "what was replaced is in {BOLD}{kept}{BOLD:#}")?;
        }
        let (created, replaced) = (self.files_created, self.files_replaced);
        let (kept, same) = (self.files_kept, self.files_same);
        let numbers =
            format!("{created} created, {replaced} replaced, {kept} kept, {same} the same");
        let records = count(self.memory_records, "record");
        let name = safe(&self.agent_name);
        let workspace = safe(&self.workspace);
        if self.dry_run {
            return writeln!(out, "nothing written: this was a dry run ({numbers}, {records})");
        }
        writeln!(out, "{GOOD}{name}{GOOD:#} is in {BOLD}{workspace}{BOLD:#} ({numbers}, {records})")
    }
}
