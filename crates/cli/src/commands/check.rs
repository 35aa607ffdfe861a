//! `anemone check`

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anemone_format::Moment;
use anemone_runtimes::{Check, FoundAgent, Issue, Machine, Resources, Runtime, Severity, by_name};
use clap::Args;
use serde::Serialize;

use super::Context;
use crate::alf::settings::{Settings, State};
use crate::args::AgentArgs;
use crate::args::RuntimeParser;
use crate::output::{BAD, BOLD, DIM, GOOD, ODD, Report, count, safe};
use anemone::agent::{ChosenAgent, adapter, check_alias, find};
use anemone::export::rehearse;
use anemone_messages::UserError;

/// Check whether an agent can be exported, and list what prevents it
///
/// Looks through the workspace without changing it: what is there, what cannot be read, what is
/// not UTF-8, links that lead out of it, what looks like a secret, and how the runtime's search
/// index stands. Secrets are named by file and line and never shown. Exits 0 when the agent can
/// be exported and 1 when not; warnings do not count.
///
/// The workspace is the one that -w or --agent gives, else that of ~/.alf/config.toml, else that
/// of the runtime's configuration, else the runtime's usual one.
#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// The runtime: openclaw or zeroclaw; without it, that of the agent that is found
    #[arg(long, short, value_name = "RUNTIME", value_parser = RuntimeParser)]
    pub(crate) runtime: Option<String>,

    /// The workspace, if it is not the usual one
    #[arg(long, short, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,

    /// The agent, by the alias that `anemone agents` shows
    #[arg(long, short, value_name = "ALIAS")]
    pub(crate) agent: Option<String>,
}

impl CheckArgs {
    fn any_runtime(&self) -> AgentArgs {
        let (workspace, agent) = (self.workspace.clone(), self.agent.clone());
        AgentArgs { runtime: None, workspace, agent }
    }
}

#[derive(Serialize)]
pub(crate) struct Checked {
    pub(crate) ok: bool,
    pub(crate) runtime: &'static str,
    pub(crate) ready_to_sync: bool,
    agent: CheckedAgent,
    pub(crate) workspace: Workspace,
    pub(crate) resources: Found,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) openclaw: Option<OpenClaw>,
    pub(crate) alf: Alf,
    index: Index,
    secrets: Vec<Secret>,
    unreadable: Vec<String>,
    pub(crate) issues: Vec<Shown>,
    pub(crate) suggestions: Vec<String>,
}

#[derive(Serialize)]
pub(crate) struct CheckedAgent {
    alias: String,
    generation: Option<&'static str>,
    version: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct Workspace {
    pub(crate) path: String,
    source: &'static str,
    exists: bool,
    writable: bool,
}

#[derive(Serialize)]
pub(crate) struct Found {
    soul_md: bool,
    identity_md: bool,
    agents_md: bool,
    user_md: bool,
    memory_md: bool,
    memory_dir: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    daily_logs: Option<DailyLogs>,
    active_context: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    project_files: Option<Counted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct DailyLogs {
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct Counted {
    count: u64,
}

#[derive(Serialize)]
pub(crate) struct OpenClaw {
    config_found: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace_configured: Option<String>,
}

/// What the existing tool left on this machine; no service is asked.
#[derive(Default, Serialize)]
pub(crate) struct Alf {
    config_exists: bool,
    pub(crate) api_key_set: bool,
    agent_tracked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_synced_sequence: Option<u64>,
    service_reachable: bool,
}

#[derive(Serialize)]
pub(crate) struct Index {
    present: bool,
    stale: bool,
    database: Option<String>,
    schema_version: Option<u32>,
    updated_at: Option<Moment>,
    newest_memory: Option<Moment>,
}

#[derive(Serialize)]
pub(crate) struct Secret {
    path: String,
    line: u64,
    kind: &'static str,
}

#[derive(Serialize)]
pub(crate) struct Shown {
    pub(crate) severity: &'static str,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// The two names that versions of the existing tool have for it.
    pub(crate) fix: String,
    suggestion: String,
}

pub(crate) fn run(args: &CheckArgs, context: &Context<'_>) -> Result<ExitCode, UserError> {
    let checked = examine(args, context)?;
    context.printer.print(&checked)?;
    Ok(if checked.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Looks at an agent.
pub(crate) fn examine(args: &CheckArgs, context: &Context<'_>) -> Result<Checked, UserError> {
    let machine = context.host.machine()?;
    let adapter = match &args.runtime {
        Some(runtime) => adapter(runtime)?,
        None => args.any_runtime().choice().choose(&machine)?.adapter,
    };
    let settings = Settings::read(&machine.home);
    let broken = settings.as_ref().err().map(settings_issue);
    let settings = settings.unwrap_or_else(|_| Settings { exists: true, ..Settings::default() });
    let (agent, source) = choose(args, adapter, &machine, &settings)?;
    let mut check = adapter.check(&machine, &agent);
    // Whatever an export would refuse, for a reason that the adapter does not know.
    if check.is_ready() {
        let chosen = ChosenAgent { adapter, agent: agent.clone() };
        let refusal = rehearse(&chosen, &machine, &context.host).err().map(UserError::from);
        check.issues.extend(refusal.as_ref().map(export_issue));
    }
    check.issues.extend(broken);
    check.issues.sort_by_key(|issue| issue.severity);
    // Only who names a folder can have named another than the runtime's.
    if args.workspace.is_none() {
        check.issues.retain(|issue| issue.code != "workspace_mismatch");
    }
    let configured = check.config.workspace.as_deref();
    let is_configured =
        configured.is_some_and(|configured| same_place(configured, &agent.workspace));
    let places = by_name(agent.runtime).and_then(|runtime| runtime.places);
    let configuration = places.map_or("default", |places| places.config);
    let source = source.unwrap_or(if is_configured { configuration } else { "default" });
    let alf = Alf::new(&machine, &settings, &check.resources, context.environment.alf_key_is_set);
    Ok(Checked::new(&agent, source, check, alf))
}

/// Says why an export would refuse.
fn export_issue(error: &UserError) -> Issue {
    let parts = std::iter::once(&error.message).chain(&error.causes);
    Issue {
        severity: Severity::Error,
        code: error.code,
        message: parts.cloned().collect::<Vec<_>>().join(": "),
        suggestion: error.hint.clone().unwrap_or_else(|| "see `anemone export`".to_owned()),
    }
}

/// Says that the existing tool's settings count for nothing, and why.
fn settings_issue(error: &UserError) -> Issue {
    Issue {
        severity: Severity::Warning,
        code: "alf_config_invalid",
        message: error.message.clone(),
        suggestion: error.hint.clone().unwrap_or_else(|| "make it a file you may read".to_owned()),
    }
}

/// Finds the agent that is meant, and who said so; `None` leaves that to the configuration.
fn choose(
    args: &CheckArgs,
    adapter: &'static Runtime,
    machine: &Machine,
    settings: &Settings,
) -> Result<(FoundAgent, Option<&'static str>), UserError> {
    if let Some(workspace) = &args.workspace {
        let alias = args.agent.as_deref();
        let agent = adapter.locate(machine, workspace, alias);
        check_alias(&agent, alias)?;
        return Ok((agent, Some("flag")));
    }
    if let Some(alias) = &args.agent {
        return Ok((find(&[adapter], machine, alias)?.agent, Some("flag")));
    }
    if let Some(workspace) = &settings.workspace {
        return Ok((adapter.locate(machine, workspace, None), Some("alf_config")));
    }
    let usual = || adapter.locate(machine, &adapter.first_place(machine), None);
    let agent = adapter.discover(machine).into_iter().next().unwrap_or_else(usual);
    Ok((agent, None))
}

fn same_place(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs_err::canonicalize(path).ok();
    one == other || real(one).is_some_and(|value| real(other) == Some(value))
}

impl Alf {
    fn new(
        machine: &Machine,
        settings: &Settings,
        resources: &Resources,
        key_in_environment: bool,
    ) -> Self {
        // A state that cannot be read still says that the agent is known.
        let state = resources.agent_id.map(|id| State::read(&machine.home, id));
        let tracked = state.as_ref().is_some_and(|state| !matches!(state, Ok(None)));
        let state = state.and_then(Result::ok).flatten();
        Self {
            config_exists: settings.exists,
            api_key_set: settings.key_is_set || key_in_environment,
            agent_tracked: tracked,
            last_synced_sequence: state.and_then(|state| state.last_synced_sequence),
            service_reachable: false,
        }
    }
}

impl Checked {
    fn new(agent: &FoundAgent, source: &'static str, check: Check, alf: Alf) -> Self {
        let text = |path: &PathBuf| path.display().to_string();
        let ready = check.is_ready();
        let suggestions = suggestions(agent, &check);
        let index = check.index;
        Self {
            ok: ready,
            runtime: agent.runtime,
            ready_to_sync: ready,
            agent: CheckedAgent {
                alias: agent.alias.clone(),
                generation: agent.generation,
                version: agent.version.clone(),
            },
            workspace: Workspace {
                path: text(&check.workspace),
                source,
                exists: check.exists,
                writable: check.writable,
            },
            resources: check.resources.into(),
            openclaw: (agent.runtime == "openclaw").then(|| OpenClaw {
                config_found: check.config.path.is_some(),
                workspace_configured: check.config.workspace.as_ref().map(text),
            }),
            alf,
            index: Index {
                present: index.database.is_some(),
                stale: index.stale,
                database: index.database.as_ref().map(text),
                schema_version: index.schema_version,
                updated_at: index.updated_at,
                newest_memory: index.newest_memory,
            },
            secrets: check
                .secrets
                .into_iter()
                .map(|secret| Secret { path: secret.path, line: secret.line, kind: secret.kind })
                .collect(),
            unreadable: check.unreadable,
            issues: check.issues.into_iter().map(Shown::from).collect(),
            suggestions,
        }
    }
}

/// What to do next: mend what is wrong, then export.
fn suggestions(agent: &FoundAgent, check: &Check) -> Vec<String> {
    let to_mend = check.issues.iter().filter(|issue| issue.severity != Severity::Info);
    let mut suggestions: Vec<String> = Vec::new();
    for issue in to_mend {
        if !suggestions.contains(&issue.suggestion) {
            suggestions.push(issue.suggestion.clone());
        }
    }
    if check.is_ready() {
        let (runtime, workspace) = (agent.runtime, agent.workspace.display());
        suggestions.push(format!("anemone export -r {runtime} -w '{workspace}' -o agent.alf"));
    }
    suggestions
}

impl Shown {
    pub(crate) fn new(
        severity: &'static str,
        code: &'static str,
        message: String,
        suggestion: String,
    ) -> Self {
        Self { severity, code, message, fix: suggestion.clone(), suggestion }
    }
}

impl From<Issue> for Shown {
    fn from(issue: Issue) -> Self {
        Self::new(issue.severity.as_str(), issue.code, issue.message, issue.suggestion)
    }
}

impl From<Resources> for Found {
    fn from(found: Resources) -> Self {
        Self {
            soul_md: found.soul_md,
            identity_md: found.identity_md,
            agents_md: found.agents_md,
            user_md: found.user_md,
            memory_md: found.memory_md,
            memory_dir: found.memory_dir,
            daily_logs: found
                .daily_logs
                .map(|log| DailyLogs { count: log.count, latest: log.latest }),
            active_context: found.active_context,
            project_files: found.project_files.map(|count| Counted { count }),
            agent_id: found.agent_id.map(|id| id.to_string()),
        }
    }
}

impl Report for Checked {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let alias = safe(&self.agent.alias);
        let generation = self.agent.generation.unwrap_or("no install");
        let runtime = self.runtime;
        writeln!(out, "{BOLD}{alias}{BOLD:#}  {DIM}{runtime}, {generation}{DIM:#}")?;
        writeln!(out, "  workspace  {}", safe(&self.workspace.path))?;
        if self.workspace.exists {
            writeln!(out, "  holds      {}", self.resources.summary())?;
        }
        for issue in &self.issues {
            let style = match issue.severity {
                "error" => BAD,
                "warning" => ODD,
                _ => DIM,
            };
            let (severity, message) = (issue.severity, safe(&issue.message));
            writeln!(out, "{style}{severity}:{style:#} {message} {DIM}({}){DIM:#}", issue.code)?;
            if issue.severity != "info" {
                writeln!(out, "  {}", safe(&issue.suggestion))?;
            }
        }
        // The message above names the first ones.
        for secret in self.secrets.iter().skip(anemone_runtimes::NAMED_IN_MESSAGE) {
            writeln!(out, "  {}:{}  {}", safe(&secret.path), secret.line, secret.kind)?;
        }
        if self.ready_to_sync {
            writeln!(out, "{GOOD}ready{GOOD:#} to be exported")
        } else {
            writeln!(out, "{BAD}not ready{BAD:#} to be exported")
        }
    }
}

impl Found {
    fn summary(&self) -> String {
        let files = [
            ("SOUL.md", self.soul_md),
            ("IDENTITY.md", self.identity_md),
            ("AGENTS.md", self.agents_md),
            ("USER.md", self.user_md),
            ("MEMORY.md", self.memory_md),
            ("active context", self.active_context),
        ];
        let mut parts: Vec<String> =
            files.iter().filter(|file| file.1).map(|file| file.0.to_owned()).collect();
        if let Some(logs) = &self.daily_logs {
            parts.push(count(logs.count, "daily log"));
        }
        if let Some(projects) = self.project_files.as_ref().filter(|file| file.count > 0) {
            parts.push(count(projects.count, "project file"));
        }
        if parts.is_empty() { "nothing of an agent".to_owned() } else { parts.join(", ") }
    }
}
