//! Applies a plan in an order that is safe if a step fails: the tree, then memories, then settings,
//! then secrets.

use std::io;
use std::path::{Path, PathBuf};

use anemone_format::{AgentId, VaultKey};
use anemone_runtimes::{
    AppliedTree, ApplyTreeError, Conflict, Machine, NewInstall, NotRestored, OnConflict, Plan,
    PlanOptions, RestoreError, RestoreSource, Warning, apply, mapping, noted_agent_id,
    recover_leftovers,
};
use serde::Serialize;

use crate::agent::ChosenAgent;
use crate::files::Unfinished;
use crate::host::Host;

/// How a snapshot is put into a runtime, as the user asked for it.
#[derive(Clone, Debug)]
pub struct RestoreChoice {
    /// What to do where a file of the workspace differs from the archive's.
    pub on_conflict: OnConflict,
    /// How a new install keeps memories.
    pub backend: Option<String>,
    /// How a new install is laid out.
    pub layout: Option<String>,
}

/// A choice that the runtime of the target does not have.
#[derive(Debug, thiserror::Error)]
#[error("{runtime} knows no {} {given:?}", .setting.as_str())]
pub struct UnknownChoiceError {
    /// The runtime.
    pub runtime: &'static str,
    /// What was chosen.
    pub setting: InstallSetting,
    /// The choice.
    pub given: String,
    /// The choices of the runtime; empty if it has none.
    pub known: Vec<&'static str>,
}

/// A setting of a new install that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallSetting {
    /// How memories are kept.
    Backend,
    /// How the install is laid out.
    Layout,
}

impl InstallSetting {
    /// Returns its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Backend => "backend",
            Self::Layout => "layout",
        }
    }
}

impl Default for RestoreChoice {
    fn default() -> Self {
        Self::new(OnConflict::Stop)
    }
}

impl RestoreChoice {
    /// Replaces nothing, and leaves a new install to the runtime's usual settings.
    #[must_use]
    pub const fn new(on_conflict: OnConflict) -> Self {
        Self { on_conflict, backend: None, layout: None }
    }

    /// Returns how to plan for a runtime; refuses options that the runtime does not have.
    pub fn plan_options<'a>(
        &'a self,
        runtime: &'static str,
        vault_key: Option<&'a VaultKey>,
    ) -> Result<PlanOptions<'a>, UnknownChoiceError> {
        let mapping = mapping::mapping(runtime);
        let backends = mapping.map_or(&[][..], |mapping| mapping.backends);
        let layouts = mapping.map_or(&[][..], |mapping| mapping.layouts);
        let (backend, layout) = (self.backend.as_deref(), self.layout.as_deref());
        let backends = backends.iter().map(|backend| (backend.as_str(), *backend));
        let layouts = layouts.iter().map(|layout| (layout.as_str(), *layout));
        Ok(PlanOptions {
            on_conflict: self.on_conflict,
            vault_key,
            backend: chosen(runtime, InstallSetting::Backend, backend, backends)?,
            layout: chosen(runtime, InstallSetting::Layout, layout, layouts)?,
        })
    }
}

fn chosen<T>(
    runtime: &'static str,
    setting: InstallSetting,
    given: Option<&str>,
    known: impl Iterator<Item = (&'static str, T)> + Clone,
) -> Result<Option<T>, UnknownChoiceError> {
    let Some(given) = given else { return Ok(None) };
    if let Some((_, found)) = known.clone().find(|(name, _)| *name == given) {
        return Ok(Some(found));
    }
    let (given, known) = (given.to_owned(), known.map(|(name, _)| name).collect());
    Err(UnknownChoiceError { runtime, setting, given, known })
}

/// The workspace belongs to another agent than the archive.
#[derive(Debug, thiserror::Error)]
#[error("the workspace is that of agent {there}, the archive of {archive}")]
pub struct DifferentAgentsError {
    /// The workspace.
    pub workspace: PathBuf,
    /// The agent in the workspace.
    pub there: AgentId,
    /// The agent in the archive.
    pub archive: AgentId,
}

/// Refuses to mix two agents in one workspace, unless the archive's replaces the other.
pub(crate) fn check_agent(
    workspace: &Path,
    on_conflict: OnConflict,
    archive: AgentId,
) -> Result<(), DifferentAgentsError> {
    match noted_agent_id(workspace).filter(|there| *there != archive) {
        Some(there) if on_conflict != OnConflict::Theirs => {
            Err(DifferentAgentsError { workspace: workspace.to_owned(), there, archive })
        }
        _ => Ok(()),
    }
}

/// A place where the workspace differs from the archive.
#[derive(Clone, Debug, Serialize)]
pub struct ConflictItem {
    /// The path in the workspace.
    pub path: String,
    /// What differs.
    pub reason: &'static str,
}

impl ConflictItem {
    pub(crate) fn list(plan: &Plan) -> Vec<Self> {
        let item =
            |conflict: &Conflict| Self { path: text(&conflict.path), reason: conflict.reason };
        plan.conflicts.iter().map(item).collect()
    }
}

/// Where memories went.
#[derive(Clone, Debug, Serialize)]
pub struct MemoriesLine {
    /// The database.
    pub store: String,
    /// Whether it is rebuilt.
    pub made: bool,
    /// Entries that come new.
    pub added: u64,
    /// Entries that replace others.
    pub replaced: u64,
    /// Entries that stay as they are.
    pub kept: u64,
    /// Entries that are the same already.
    pub same: u64,
    /// The copy of the former content.
    pub backup: Option<String>,
}

/// Where settings went.
#[derive(Clone, Debug, Serialize)]
pub struct ConfigLine {
    /// The file of settings.
    pub store: String,
    /// Whether it is rebuilt.
    pub made: bool,
    /// Settings that come new.
    pub added: Vec<String>,
    /// Settings that stay as they are.
    pub kept: Vec<String>,
    /// The copy of the former content.
    pub backup: Option<String>,
}

/// Where secrets went.
#[derive(Clone, Debug, Serialize)]
pub struct CredentialsLine {
    /// The store of secrets.
    pub store: String,
    /// Secrets that come new.
    pub added: Vec<String>,
    /// Secrets that replace others.
    pub replaced: Vec<String>,
    /// Secrets that stay as they are.
    pub kept: Vec<String>,
}

/// Something that does not come back.
#[derive(Clone, Debug, Serialize)]
pub struct MissingLine {
    /// What it is: `file`, `record`, `credential`.
    pub what: &'static str,
    /// Its path or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Why it does not come back.
    pub reason: String,
}

/// The part of a plan outside the tree, and its result.
#[derive(Clone, Debug, Serialize)]
pub struct Stores {
    /// The database of memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memories: Option<MemoriesLine>,
    /// The settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<ConfigLine>,
    /// The secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials_restored: Option<CredentialsLine>,
    /// Where the files are that were replaced.
    pub replaced_kept_at: Option<String>,
}

impl MissingLine {
    /// Describes what a plan does not restore.
    pub fn new(missing: &NotRestored) -> Self {
        let NotRestored { what, path, reason } = missing.clone();
        Self { what: what.as_str(), path, reason }
    }
}

impl Stores {
    /// Says what a plan would do.
    pub fn planned(plan: &Plan) -> Self {
        let shown = |path: &Path| path.display().to_string();
        Self {
            memories: plan.memories.as_ref().map(|step| MemoriesLine {
                store: shown(&step.store),
                made: step.made,
                added: step.added,
                replaced: step.replaced,
                kept: step.kept,
                same: step.same,
                backup: None,
            }),
            config: plan.config.as_ref().map(|step| ConfigLine {
                store: shown(&step.store),
                made: step.made,
                added: step.added.clone(),
                kept: step.kept.clone(),
                backup: None,
            }),
            credentials_restored: plan.credentials.as_ref().map(|step| CredentialsLine {
                store: shown(&step.store),
                added: step.added.clone(),
                replaced: step.replaced.clone(),
                kept: step.kept.clone(),
            }),
            replaced_kept_at: None,
        }
    }
}

/// Why a plan was not applied, or not all of it. After each step the whole restore can be run
/// again, which then only does the missing parts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyPlanError {
    /// Another process uses the database of memories. Nothing was changed.
    #[error("{source}; nothing was changed")]
    Busy {
        /// The database.
        store: PathBuf,
        /// The cause.
        source: RestoreError,
    },
    /// The new install cannot be made. Nothing was changed.
    #[error("cannot make the install; nothing was changed")]
    Install(#[source] io::Error),
    /// The files cannot be put in place.
    #[error(transparent)]
    Files(#[from] ApplyTreeError),
    /// The files are in place.
    #[error("the files are in place, but the memories could not be written")]
    Memories {
        /// The database.
        store: PathBuf,
        /// The cause.
        source: RestoreError,
    },
    /// Files and memories are in place.
    #[error("files and memories are in place, but the settings could not be written")]
    Settings {
        /// The file of settings.
        store: PathBuf,
        /// The cause.
        source: RestoreError,
    },
    /// Files, memories and settings are in place.
    #[error("files, memories and settings are in place, but the secrets could not be written")]
    Credentials {
        /// The store of secrets.
        store: PathBuf,
        /// The cause.
        source: RestoreError,
    },
}

/// Applies a plan, and records in `stores` what became of each store; returns notes for the user.
///
/// The order is safe at every step. The tree comes first: it is exchanged as a whole, and the
/// former tree is kept. Memories and settings follow, each with a copy of the former content.
/// Secrets come last, because nothing needs them before the settings name them.
pub fn restore(
    plan: &Plan,
    source: &RestoreSource<'_>,
    machine: &Machine,
    stores: &mut Stores,
    host: &Host,
) -> Result<Vec<Warning>, ApplyPlanError> {
    if let Some(step) = &plan.memories {
        let busy = |source| ApplyPlanError::Busy { store: step.store.clone(), source };
        step.change.check(machine).map_err(busy)?;
    }
    let now = host.moment();
    // The plan may have chosen another folder than the requested one.
    let recovered = recover_leftovers(&plan.workspace);
    let install = plan.new_install.as_ref();
    let made = match install {
        Some(install) => install.begin().map_err(ApplyPlanError::Install)?,
        None => None,
    };
    let applied = apply(plan, source.snapshot(), &Unfinished).inspect_err(|_| {
        if let (Some(install), Some(made)) = (install, &made) {
            install.cancel(made);
        }
    });
    let AppliedTree { replaced_kept_at, mut warnings } = applied?;
    warnings.extend(recovered);
    stores.replaced_kept_at = replaced_kept_at.map(|path| path.display().to_string());
    let shown = |path: PathBuf| path.display().to_string();
    if let Some(step) = &plan.memories {
        let failed = |source| ApplyPlanError::Memories { store: step.store.clone(), source };
        let backup = step.change.apply(machine, source, &now).map_err(failed)?;
        if let Some(line) = &mut stores.memories {
            line.backup = backup.map(shown);
        }
    }
    if let Some(step) = &plan.config {
        let failed = |source| ApplyPlanError::Settings { store: step.store.clone(), source };
        let backup = step.change.apply(machine, source, &now).map_err(failed)?;
        if let Some(line) = &mut stores.config {
            line.backup = backup.map(shown);
        }
    }
    if let Some(step) = &plan.credentials {
        step.change.apply(machine, source, &now).map_err(|source| {
            stores.credentials_restored = None;
            ApplyPlanError::Credentials { store: step.store.clone(), source }
        })?;
    }
    if let Some(Err(error)) = install.map(NewInstall::finish) {
        let message = format!("the import is complete, but its note cannot be removed: {error}");
        warnings.push(Warning { code: "not_tidied", path: None, message });
    }
    Ok(warnings)
}

/// Returns a path of a workspace as text.
pub fn text(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// Returns a warning on one line.
pub fn warning(warning: &Warning) -> String {
    match &warning.path {
        Some(path) => format!("{path}: {}", warning.message),
        None => warning.message.clone(),
    }
}

/// Finds the agent again: the install may be new, with another layout than expected.
pub(crate) fn arrived(machine: &Machine, target: &ChosenAgent, plan: &Plan) -> ChosenAgent {
    let runtime = target.runtime;
    let real = |path: &Path| fs_err::canonicalize(path).ok();
    // If the workspace names the agent, the install adds no information.
    let holds_several = runtime.places.is_some_and(|places| places.holds_several);
    let of_install = target.agent.install.as_deref().filter(|_| holds_several);
    let agent =
        of_install.map(|install| runtime.locate(machine, install, Some(&target.agent.alias)));
    let agent = agent.filter(|agent| real(&agent.workspace) == real(&plan.workspace));
    let agent = agent.unwrap_or_else(|| runtime.locate(machine, &plan.workspace, None));
    ChosenAgent { runtime, agent }
}
