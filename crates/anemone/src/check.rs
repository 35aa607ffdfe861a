//! Checks whether an agent can be exported, and says what prevents it. Nothing is changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anemone_format::Moment;
use anemone_runtimes::{
    Check, FoundAgent, FoundSecret, Issue, IssueKind, Machine, ReadOptions, Resources, Runtime,
    by_name,
};
use serde::Serialize;

use crate::agent::{
    AgentChoice, ChosenAgent, DiscoveryDepth, FindAgentError, check_alias, find, runtime_named,
};
use crate::alf::{AlfFileError, AlfSettings, SyncState};
use crate::export::{ExportError, rehearse};
use crate::host::Host;
use crate::identity::identify;

/// Which agent is checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckRequest {
    /// Which agent. Without a workspace it is that of the `alf` tool's settings, else that of the
    /// runtime's configuration, else the runtime's usual one.
    pub agent: AgentChoice,
    /// Whether the environment has a key to the `alf` tool's service.
    pub alf_key_is_set: bool,
}

/// Whether an agent can be exported. The issues are not serialised: how to solve some of them
/// depends on the program that asks.
#[derive(Debug, Serialize)]
pub struct CheckReport {
    /// Whether it can be exported.
    pub ok: bool,
    /// Its runtime.
    pub runtime: &'static str,
    /// Whether it can be exported, under the name that the `alf` tool has for it.
    pub ready_to_sync: bool,
    /// The agent.
    pub agent: CheckedAgent,
    /// Its workspace.
    pub workspace: CheckedWorkspace,
    /// What the workspace holds.
    pub resources: Resources,
    /// The runtime's configuration, by the name of the runtime, where it can name the workspace.
    #[serde(flatten)]
    pub config: BTreeMap<&'static str, CheckedConfig>,
    /// The state of the `alf` tool on this machine.
    pub alf: CheckedSync,
    /// The runtime's own search index.
    pub index: CheckedIndex,
    /// Where files hold secrets.
    pub secrets: Vec<FoundSecret>,
    /// Files and folders that cannot be read.
    pub unreadable: Vec<String>,
    /// What the user should know, the worst first.
    #[serde(skip)]
    pub issues: Vec<Issue>,
    /// Why an export would refuse, for a reason that the runtime does not know.
    #[serde(skip)]
    pub refusal: Option<ExportError>,
    /// Why the settings of the `alf` tool are ignored.
    #[serde(skip)]
    pub settings_error: Option<AlfFileError>,
}

/// The agent that was checked.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedAgent {
    /// What it is called in its install.
    pub alias: String,
    /// The shape of the install.
    pub generation: Option<&'static str>,
    /// The runtime's version, as the install says.
    pub version: Option<String>,
}

/// The workspace that was checked.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedWorkspace {
    /// Where it is.
    pub path: String,
    /// Who named it.
    pub source: WorkspaceSource,
    /// Whether it is a folder.
    pub exists: bool,
    /// Whether it may be written to.
    pub writable: bool,
}

/// Who named a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkspaceSource {
    /// The request.
    #[serde(rename = "flag")]
    Request,
    /// The settings of the `alf` tool.
    #[serde(rename = "alf_config")]
    AlfSettings,
    /// Nothing: it is the default.
    Default,
    /// The runtime's configuration, a file of this name.
    #[serde(untagged)]
    RuntimeConfig(&'static str),
}

/// The runtime's configuration.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedConfig {
    /// Whether there is one.
    pub config_found: bool,
    /// The workspace that it names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_configured: Option<String>,
}

/// The state of the `alf` tool on this machine; its service is not asked.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CheckedSync {
    /// Whether it has settings.
    pub config_exists: bool,
    /// Whether there is a key to its service.
    pub api_key_set: bool,
    /// Whether it synced the agent.
    pub agent_tracked: bool,
    /// The number of the last change that it synced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_synced_sequence: Option<u64>,
    /// Always false.
    pub service_reachable: bool,
}

/// The runtime's own search index.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedIndex {
    /// Whether there is one.
    pub present: bool,
    /// Whether it is older than the newest memory file.
    pub stale: bool,
    /// The database that holds it.
    pub database: Option<String>,
    /// The number of the database's schema.
    pub schema_version: Option<u32>,
    /// When the database was last written.
    pub updated_at: Option<Moment>,
    /// When a memory file was last written.
    pub newest_memory: Option<Moment>,
}

/// Checks an agent.
pub fn check(request: &CheckRequest, host: &Host) -> Result<CheckReport, FindAgentError> {
    let machine = host.machine()?;
    let (runtime, found) = match &request.agent.runtime {
        Some(runtime) => (runtime_named(runtime)?, None),
        None => {
            let chosen = request.agent.choose(&machine)?;
            (chosen.runtime, Some(chosen.agent))
        }
    };
    let (settings, settings_error) = match AlfSettings::read(&machine.home) {
        Ok(settings) => (settings, None),
        Err(error) => (AlfSettings { exists: true, ..AlfSettings::default() }, Some(error)),
    };
    let (agent, source) = choose(&request.agent, runtime, found, &machine, &settings)?;
    let agent_id = Some(identify(runtime, &agent, host).id);
    let options = ReadOptions { agent_id, ..ReadOptions::default() };
    let (mut check, opened) = runtime.check(&machine, &agent, &options);
    let refusal = if check.is_ready() {
        let chosen = ChosenAgent { runtime, agent: agent.clone() };
        rehearse(&chosen, opened, &options, &machine, host).err()
    } else {
        None
    };
    // Only a request can name another folder than the runtime's.
    if request.agent.workspace.is_none() {
        check.issues.retain(|issue| issue.kind != IssueKind::WorkspaceMismatch);
    }
    let source = source.unwrap_or_else(|| source_of(&agent, &check));
    let alf = CheckedSync::new(&machine, &settings, &check.resources, request.alf_key_is_set);
    let ready = check.is_ready() && refusal.is_none();
    let report = CheckReport::new(&agent, source, check, alf);
    Ok(CheckReport { ok: ready, ready_to_sync: ready, refusal, settings_error, ..report })
}

/// Finds the agent, unless it was found already, and says who named its workspace; `None` leaves
/// that to the configuration.
fn choose(
    choice: &AgentChoice,
    runtime: &'static Runtime,
    found: Option<FoundAgent>,
    machine: &Machine,
    settings: &AlfSettings,
) -> Result<(FoundAgent, Option<WorkspaceSource>), FindAgentError> {
    if let Some(workspace) = &choice.workspace {
        let alias = choice.agent.as_deref();
        let agent = found.unwrap_or_else(|| runtime.locate(machine, workspace, alias));
        check_alias(&agent, alias)?;
        return Ok((agent, Some(WorkspaceSource::Request)));
    }
    if let Some(alias) = &choice.agent {
        let agent = match found {
            Some(agent) => agent,
            None => find(&[runtime], machine, alias, DiscoveryDepth::Everything)?.agent,
        };
        return Ok((agent, Some(WorkspaceSource::Request)));
    }
    if let Some(workspace) = &settings.workspace {
        let agent = runtime.locate(machine, workspace, None);
        return Ok((agent, Some(WorkspaceSource::AlfSettings)));
    }
    let usual = || runtime.locate(machine, &runtime.first_place(machine), None);
    let agent = found.or_else(|| runtime.discover(machine).into_iter().next());
    Ok((agent.unwrap_or_else(usual), None))
}

/// Says whether the runtime's configuration named the workspace.
fn source_of(agent: &FoundAgent, check: &Check) -> WorkspaceSource {
    let configured = check.config.as_ref().and_then(|config| config.workspace.as_deref());
    let is_configured = configured.is_some_and(|folder| is_same(folder, &agent.workspace));
    let places = by_name(agent.runtime).and_then(|runtime| runtime.places);
    match places.filter(|_| is_configured) {
        Some(places) => WorkspaceSource::RuntimeConfig(places.config),
        None => WorkspaceSource::Default,
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs_err::canonicalize(path).ok();
    one == other || real(one).is_some_and(|value| real(other) == Some(value))
}

impl CheckedSync {
    fn new(
        machine: &Machine,
        settings: &AlfSettings,
        resources: &Resources,
        key_in_environment: bool,
    ) -> Self {
        // A state that cannot be read still says that the agent is known.
        let state = resources.agent_id.map(|id| SyncState::read(&machine.home, id));
        let agent_tracked = state.as_ref().is_some_and(|state| !matches!(state, Ok(None)));
        let state = state.and_then(Result::ok).flatten();
        Self {
            config_exists: settings.exists,
            api_key_set: settings.key_is_set || key_in_environment,
            agent_tracked,
            last_synced_sequence: state.and_then(|state| state.last_synced_sequence),
            service_reachable: false,
        }
    }
}

impl CheckReport {
    fn new(agent: &FoundAgent, source: WorkspaceSource, check: Check, alf: CheckedSync) -> Self {
        let text = |path: &PathBuf| path.display().to_string();
        let Check { config, index, .. } = check;
        let config = config.map(|config| CheckedConfig {
            config_found: config.path.is_some(),
            workspace_configured: config.workspace.as_ref().map(text),
        });
        Self {
            ok: false,
            runtime: agent.runtime,
            ready_to_sync: false,
            agent: CheckedAgent {
                alias: agent.alias.clone(),
                generation: agent.generation,
                version: agent.version.clone(),
            },
            workspace: CheckedWorkspace {
                path: text(&check.workspace),
                source,
                exists: check.exists,
                writable: check.writable,
            },
            resources: check.resources,
            config: config.map(|config| (agent.runtime, config)).into_iter().collect(),
            alf,
            index: CheckedIndex {
                present: index.database.is_some(),
                stale: index.stale,
                database: index.database.as_ref().map(text),
                schema_version: index.schema_version,
                updated_at: index.updated_at,
                newest_memory: index.newest_memory,
            },
            secrets: check.secrets,
            unreadable: check.unreadable,
            issues: check.issues,
            refusal: None,
            settings_error: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_ready_unless_an_export_would_refuse() {
        let folder = tempfile::tempdir().unwrap();
        let host = crate::testing::host(folder.path());
        let workspace = folder.path().join("workspace");
        fs_err::create_dir(&workspace).unwrap();
        let runtime = anemone_runtimes::with_agents().next().map(|runtime| runtime.name.to_owned());
        let agent = AgentChoice { runtime, workspace: Some(workspace.clone()), agent: None };
        let request = CheckRequest { agent, alf_key_is_set: false };
        let empty = check(&request, &host).unwrap();
        assert!(!empty.ok && matches!(empty.refusal, Some(ExportError::Nothing(_))));
        fs_err::write(workspace.join("MEMORY.md"), "# Memory\n\n- Tea is green.\n").unwrap();
        let report = check(&request, &host).unwrap();
        assert!(report.ok && report.refusal.is_none() && report.resources.memory_md);
        assert_eq!(report.workspace.source, WorkspaceSource::Request);
    }
}
