//! Does what a plan says, in an order that a failure leaves safe: the tree, then memories, then
//! settings, then secrets.

use std::error::Error as _;

use anemone_format::{SnapshotSource, VaultKey};
use anemone_runtimes::{
    Applied, ConfigStep, CredentialsStep, Machine, MemoriesStep, NewInstall, NotRestored,
    OnConflict, Plan, PlanError, PlanOptions, RestoreError, Warning, apply, mapping,
    recover_leftovers,
};
use serde::Serialize;

use crate::error::{Error, Kind};
use crate::files::Unfinished;
use crate::host::Host;

/// How a snapshot is put into a runtime, as somebody asked for it.
#[derive(Clone, Debug)]
pub struct RestoreChoice {
    /// What to do where a file of the workspace differs from the archive's.
    pub on_conflict: OnConflict,
    /// How a new install keeps memories.
    pub backend: Option<String>,
    /// How a new install is laid out.
    pub layout: Option<String>,
}

impl RestoreChoice {
    /// Returns how to plan for a runtime; refuses what the runtime does not have.
    pub fn plan_options<'a>(
        &'a self,
        runtime: &str,
        vault_key: Option<&'a VaultKey>,
    ) -> Result<PlanOptions<'a>, Error> {
        let mapping = mapping::mapping(runtime);
        let backends = mapping.map_or(&[][..], |mapping| mapping.backends);
        let layouts = mapping.map_or(&[][..], |mapping| mapping.layouts);
        let (backend, layout) = (self.backend.as_deref(), self.layout.as_deref());
        let backends = backends.iter().map(|backend| (backend.as_str(), *backend));
        let layouts = layouts.iter().map(|layout| (layout.as_str(), *layout));
        Ok(PlanOptions {
            on_conflict: self.on_conflict,
            vault_key,
            backend: chosen(runtime, "--backend", backend, backends)?,
            layout: chosen(runtime, "--layout", layout, layouts)?,
        })
    }
}

fn chosen<T>(
    runtime: &str,
    flag: &str,
    given: Option<&str>,
    known: impl Iterator<Item = (&'static str, T)> + Clone,
) -> Result<Option<T>, Error> {
    let Some(given) = given else { return Ok(None) };
    if let Some((_, found)) = known.clone().find(|(name, _)| *name == given) {
        return Ok(Some(found));
    }
    let names: Vec<&str> = known.map(|(name, _)| name).collect();
    let (message, hint) = match &names[..] {
        [] => (format!("{runtime} knows no {flag}"), format!("leave {flag} off")),
        names => (
            format!("{runtime} knows no {flag} {given:?}"),
            format!("known are: {}", names.join(", ")),
        ),
    };
    Err(Error::new(Kind::Usage, "usage", message).hint(hint))
}

/// Says why there is no plan, and what to do about it where only a command knows.
pub fn cannot_plan(error: PlanError) -> Error {
    let hint = match &error {
        PlanError::Leftover { workspace, .. } => Some(format!(
            "look into it: rename it to {} if it is your workspace, or move it away; then import \
             again",
            workspace.display()
        )),
        _ => None,
    };
    let mut error = Error::from(error);
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
pub struct MemoriesLine {
    pub store: String,
    pub made: bool,
    pub added: u64,
    pub replaced: u64,
    pub kept: u64,
    pub same: u64,
    pub backup: Option<String>,
}

/// Where settings went.
#[derive(Serialize)]
pub struct ConfigLine {
    pub store: String,
    pub made: bool,
    pub added: Vec<String>,
    pub kept: Vec<String>,
    pub backup: Option<String>,
}

/// Where secrets went.
#[derive(Serialize)]
pub struct CredentialsLine {
    pub store: String,
    pub added: Vec<String>,
    pub replaced: Vec<String>,
    pub kept: Vec<String>,
}

/// Something that does not come back.
#[derive(Clone, Serialize)]
pub struct MissingLine {
    pub what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub reason: String,
}

/// What a plan does outside the tree, and what it did.
#[derive(Serialize)]
pub struct Stores {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memories: Option<MemoriesLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<ConfigLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials_restored: Option<CredentialsLine>,
    pub replaced_kept_at: Option<String>,
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
    pub fn new(it: &NotRestored) -> Self {
        Self { what: it.what.as_str(), path: it.path.clone(), reason: it.reason.clone() }
    }
}

impl Stores {
    /// Says what a plan would do.
    pub fn planned(plan: &Plan) -> Self {
        Self {
            memories: plan.memories.as_ref().map(MemoriesLine::new),
            config: plan.config.as_ref().map(ConfigLine::new),
            credentials_restored: plan.credentials.as_ref().map(CredentialsLine::new),
            replaced_kept_at: None,
        }
    }
}

/// Does what a plan says, and notes in `stores` what became of each store; returns what somebody
/// should know.
pub fn restore(
    plan: &Plan,
    source: &dyn SnapshotSource,
    machine: &Machine,
    stores: &mut Stores,
    host: &Host,
) -> Result<Vec<Warning>, Error> {
    if let Some(step) = &plan.memories {
        step.check(machine).map_err(|error| busy(&error).about(&step.store))?;
    }
    let now = host.moment();
    // The plan may have chosen another folder than the one that was asked for.
    let recovered = recover_leftovers(&plan.workspace);
    let mut made = None;
    if let Some(install) = &plan.new_install {
        made = install.begin().map_err(|error| {
            let message = "cannot make the install; nothing was changed";
            let mut failed = Error::new(Kind::Failed, "install", message);
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

fn busy(error: &RestoreError) -> Error {
    let mut failed =
        Error::new(Kind::Conflict, "store_busy", format!("{error}; nothing was changed"));
    failed.causes = causes(error);
    failed.hint("stop the runtime, and do it again")
}

fn unfinished(code: &'static str, done: &str, error: &RestoreError) -> Error {
    let mut failed = Error::new(Kind::Failed, code, done);
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
pub fn text(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// Returns a warning on one line.
pub fn warning(it: &Warning) -> String {
    match &it.path {
        Some(path) => format!("{path}: {}", it.message),
        None => it.message.clone(),
    }
}
