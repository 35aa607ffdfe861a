//! Does what a plan says, in an order that a failure leaves safe: the tree, then memories, then
//! settings, then secrets.

use std::error::Error as _;
use std::io::{self, Write};

use anemone_format::VaultKey;
use anemone_runtimes::{
    Applied, ConfigStep, CredentialsStep, Machine, MemoriesStep, NewInstall, NotRestored,
    OnConflict, Plan, PlanError, PlanOptions, RestoreError, SnapshotSource, Warning, apply,
    mapping, recover_leftovers,
};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::commands::now;
use crate::error::{CliError, Kind};
use crate::files::Unfinished;
use crate::output::{DIM, count, safe};

/// Arguments that say how a snapshot is put into a runtime.
#[derive(Args, Clone, Debug)]
pub(crate) struct RestoreArgs {
    /// What to do if a file in the workspace differs from the archive's: stop, take theirs (the
    /// archive's; yours is kept beside the workspace), keep ours, or keep both
    #[arg(
        long,
        value_enum,
        default_value = "stop",
        value_name = "WHAT",
        hide_possible_values = true
    )]
    pub(crate) on_conflict: Choice,

    /// How a new install keeps memories: sqlite or markdown (ZeroClaw)
    #[arg(long, value_name = "HOW")]
    pub(crate) backend: Option<String>,

    /// How a new install is laid out: workspace (until 0.7) or data (since 0.8) (ZeroClaw)
    #[arg(long, value_name = "LAYOUT")]
    pub(crate) layout: Option<String>,
}

/// The words of `--on-conflict`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Choice {
    Stop,
    Theirs,
    Ours,
    Both,
}

impl RestoreArgs {
    /// Returns how to plan for a runtime; refuses what the runtime does not have.
    pub(crate) fn plan_options<'a>(
        &'a self,
        runtime: &str,
        vault_key: Option<&'a VaultKey>,
    ) -> Result<PlanOptions<'a>, CliError> {
        let mapping = mapping::mapping(runtime);
        let backends = mapping.map_or(&[][..], |it| it.backends);
        let layouts = mapping.map_or(&[][..], |it| it.layouts);
        check_choice(runtime, "--backend", self.backend.as_deref(), backends)?;
        check_choice(runtime, "--layout", self.layout.as_deref(), layouts)?;
        Ok(PlanOptions {
            on_conflict: match self.on_conflict {
                Choice::Stop => OnConflict::Stop,
                Choice::Theirs => OnConflict::Theirs,
                Choice::Ours => OnConflict::Ours,
                Choice::Both => OnConflict::Both,
            },
            vault_key,
            backend: self.backend.as_deref(),
            layout: self.layout.as_deref(),
        })
    }
}

fn check_choice(
    runtime: &str,
    flag: &str,
    given: Option<&str>,
    known: &[&str],
) -> Result<(), CliError> {
    let Some(given) = given.filter(|given| !known.contains(given)) else { return Ok(()) };
    let (message, hint) = match known {
        [] => (format!("{runtime} knows no {flag}"), format!("leave {flag} off")),
        known => (
            format!("{runtime} knows no {flag} {given:?}"),
            format!("known are: {}", known.join(", ")),
        ),
    };
    Err(CliError::new(Kind::Usage, "usage", message).hint(hint))
}

/// Says why there is no plan, and what to do about it where only a command knows.
pub(crate) fn cannot_plan(error: PlanError) -> CliError {
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

/// Where memories went.
#[derive(Serialize)]
pub(crate) struct MemoriesLine {
    store: String,
    made: bool,
    added: u64,
    replaced: u64,
    kept: u64,
    same: u64,
    backup: Option<String>,
}

/// Where settings went.
#[derive(Serialize)]
pub(crate) struct ConfigLine {
    store: String,
    made: bool,
    added: Vec<String>,
    kept: Vec<String>,
    backup: Option<String>,
}

/// Where secrets went.
#[derive(Serialize)]
pub(crate) struct CredentialsLine {
    store: String,
    added: Vec<String>,
    replaced: Vec<String>,
    kept: Vec<String>,
}

/// Something that does not come back.
#[derive(Clone, Serialize)]
pub(crate) struct MissingLine {
    pub(crate) what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    pub(crate) reason: String,
}

/// Writes what is missing, with one line for many of a sort: an install may have dozens of keys.
pub(crate) fn write_missing(
    label: &str,
    list: &[MissingLine],
    out: &mut dyn Write,
) -> io::Result<()> {
    const ALIKE: usize = 3;
    let alike = |it: &MissingLine| {
        list.iter().filter(|other| (other.what, &other.reason) == (it.what, &it.reason)).count()
    };
    let mut told: Vec<(&str, &str)> = Vec::new();
    for it in list {
        let kind = (it.what, it.reason.as_str());
        match alike(it) {
            number if number > ALIKE => {
                if !told.contains(&kind) {
                    told.push(kind);
                    let number = count(number as u64, it.what);
                    let line = safe(&format!("{number}: {}", it.reason));
                    writeln!(out, "{DIM}{label}:{DIM:#} {line}")?;
                }
            }
            _ => writeln!(out, "{DIM}{label}:{DIM:#} {}", it.text())?,
        }
    }
    Ok(())
}

/// What a plan does outside the tree, and what it did.
#[derive(Serialize)]
pub(crate) struct Stores {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memories: Option<MemoriesLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) config: Option<ConfigLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) credentials_restored: Option<CredentialsLine>,
    pub(crate) replaced_kept_at: Option<String>,
}

impl MemoriesLine {
    fn new(step: &MemoriesStep) -> Self {
        Self {
            store: step.store.display().to_string(),
            made: step.made,
            added: step.added,
            replaced: step.replaced,
            kept: step.kept,
            same: step.same,
            backup: None,
        }
    }
}

impl ConfigLine {
    fn new(step: &ConfigStep) -> Self {
        Self {
            store: step.store.display().to_string(),
            made: step.made,
            added: step.added.clone(),
            kept: step.kept.clone(),
            backup: None,
        }
    }
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

impl MissingLine {
    pub(crate) fn new(it: &NotRestored) -> Self {
        Self { what: it.what, path: it.path.clone(), reason: it.reason.clone() }
    }

    /// Returns it on one line, fit for a terminal.
    pub(crate) fn text(&self) -> String {
        let path = self.path.as_ref().map(|path| format!(" {path}")).unwrap_or_default();
        safe(&format!("{}{path}: {}", self.what, self.reason))
    }
}

impl Stores {
    /// Says what a plan would do.
    pub(crate) fn planned(plan: &Plan) -> Self {
        Self {
            memories: plan.memories.as_ref().map(MemoriesLine::new),
            config: plan.config.as_ref().map(ConfigLine::new),
            credentials_restored: plan.credentials.as_ref().map(CredentialsLine::new),
            replaced_kept_at: None,
        }
    }

    /// Returns a line for each store.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let new = |made: bool| if made { " (new)" } else { "" };
        let backup = |backup: &Option<String>| match backup {
            Some(path) => format!("; what was there is in {path}"),
            None => String::new(),
        };
        if let Some(it) = &self.memories {
            let MemoriesLine { store, made, added, replaced, kept, same, backup: copy } = it;
            lines.push(format!(
                "memories: {added} added, {replaced} replaced, {kept} kept, {same} the same in \
                 {store}{}{}",
                new(*made),
                backup(copy)
            ));
        }
        if let Some(it) = &self.config {
            let (added, kept) = (it.added.len(), it.kept.len());
            let store = &it.store;
            lines.push(format!(
                "settings: {added} added, {kept} kept in {store}{}{}",
                new(it.made),
                backup(&it.backup)
            ));
        }
        if let Some(it) = &self.credentials_restored {
            let (added, replaced, kept) = (it.added.len(), it.replaced.len(), it.kept.len());
            let store = &it.store;
            lines.push(format!(
                "credentials: {added} added, {replaced} replaced, {kept} kept in {store}"
            ));
        }
        lines.iter().map(|line| safe(line)).collect()
    }
}

/// Does what a plan says, and notes in `stores` what became of each store; returns what somebody
/// should know.
pub(crate) fn restore(
    plan: &Plan,
    source: &dyn SnapshotSource,
    machine: &Machine,
    stores: &mut Stores,
) -> Result<Vec<Warning>, CliError> {
    if let Some(step) = &plan.memories {
        step.check(machine).map_err(|error| busy(&error).about(&step.store))?;
    }
    let now = now();
    // The plan may have chosen another folder than the one that was asked for.
    let recovered = recover_leftovers(&plan.workspace);
    let mut made = None;
    if let Some(install) = &plan.new_install {
        made = install.begin().map_err(|error| {
            let message = "cannot make the install; nothing was changed";
            let mut failed = CliError::new(Kind::Failed, "install", message);
            failed.causes.push(error.to_string());
            failed
        })?;
    }
    let applied = apply(plan, source, &Unfinished).inspect_err(|_| {
        if let (Some(install), Some(made)) = (&plan.new_install, &made) {
            install.cancel(made);
        }
    });
    let Applied { replaced_kept_at, mut warnings } = applied?;
    warnings.extend(recovered);
    stores.replaced_kept_at = replaced_kept_at.map(|path| path.display().to_string());
    let shown = |path: std::path::PathBuf| path.display().to_string();
    if let Some(step) = &plan.memories {
        let backup = step.apply(machine, source, &now).map_err(|error| {
            let done = "the files are in place, but the memories could not be written";
            unfinished("memories", done, &error).about(&step.store)
        })?;
        if let Some(line) = &mut stores.memories {
            line.backup = backup.map(shown);
        }
    }
    if let Some(step) = &plan.config {
        let backup = step.apply(machine, source, &now).map_err(|error| {
            let done = "files and memories are in place, but the settings could not be written";
            unfinished("config", done, &error).about(&step.store)
        })?;
        if let Some(line) = &mut stores.config {
            line.backup = backup.map(shown);
        }
    }
    if let Some(step) = &plan.credentials {
        step.apply(machine, source, &now).map_err(|error| {
            stores.credentials_restored = None;
            let done =
                "files, memories and settings are in place, but the secrets could not be written";
            unfinished("credentials", done, &error).about(&step.store)
        })?;
    }
    if let Some(Err(error)) = plan.new_install.as_ref().map(NewInstall::finish) {
        let message = format!("the import is complete, but its note cannot be removed: {error}");
        warnings.push(Warning { code: "not_tidied", path: None, message });
    }
    Ok(warnings)
}

fn busy(error: &RestoreError) -> CliError {
    let mut failed =
        CliError::new(Kind::Conflict, "store_busy", format!("{error}; nothing was changed"));
    failed.causes = causes(error);
    failed.hint("stop the runtime, and do it again")
}

fn unfinished(code: &'static str, done: &str, error: &RestoreError) -> CliError {
    let mut failed = CliError::new(Kind::Failed, code, done);
    failed.causes.push(error.to_string());
    failed.causes.extend(causes(error));
    failed.hint("stop the runtime and import again: that is safe, and does only what is missing")
}

fn causes(error: &RestoreError) -> Vec<String> {
    let mut causes = Vec::new();
    let mut source = error.source();
    while let Some(cause) = source {
        causes.push(cause.to_string());
        source = cause.source();
    }
    causes
}

/// Returns a path of a workspace as text.
pub(crate) fn text(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// Returns a warning on one line.
pub(crate) fn warning(it: &Warning) -> String {
    match &it.path {
        Some(path) => format!("{path}: {}", it.message),
        None => it.message.clone(),
    }
}
