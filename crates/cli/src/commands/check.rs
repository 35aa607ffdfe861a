//! `anemone check`

use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anemone_adapters::{Adapter, Check, FoundAgent, Issue, Machine, Resources, Severity};
use anemone_format::Moment;
use clap::Args;
use serde::Serialize;

use super::Context;
use crate::agent::{adapter, check_alias, find, usual_place};
use crate::error::CliError;
use crate::output::{BAD, BOLD, DIM, GOOD, ODD, Report, count, safe};

/// Say whether an agent can be exported, and what stands in the way
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
    /// The runtime: openclaw or zeroclaw
    #[arg(long, short, value_name = "RUNTIME")]
    runtime: String,

    /// The workspace, if it is not the usual one
    #[arg(long, short, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// The agent, by the alias that `anemone agents` shows
    #[arg(long, short, value_name = "ALIAS")]
    agent: Option<String>,
}

#[derive(Serialize)]
struct Checked {
    ok: bool,
    runtime: &'static str,
    ready_to_sync: bool,
    agent: CheckedAgent,
    workspace: Workspace,
    resources: Found,
    #[serde(skip_serializing_if = "Option::is_none")]
    openclaw: Option<OpenClaw>,
    alf: Alf,
    index: Index,
    secrets: Vec<Secret>,
    unreadable: Vec<String>,
    issues: Vec<Shown>,
    suggestions: Vec<String>,
}

#[derive(Serialize)]
struct CheckedAgent {
    alias: String,
    generation: Option<&'static str>,
    version: Option<String>,
}

#[derive(Serialize)]
struct Workspace {
    path: String,
    source: &'static str,
    exists: bool,
    writable: bool,
}

#[derive(Serialize)]
struct Found {
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
struct DailyLogs {
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest: Option<String>,
}

#[derive(Serialize)]
struct Counted {
    count: u64,
}

#[derive(Serialize)]
struct OpenClaw {
    config_found: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace_configured: Option<String>,
}

/// What the existing tool left on this machine; no service is asked.
#[derive(Default, Serialize)]
struct Alf {
    config_exists: bool,
    api_key_set: bool,
    agent_tracked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_synced_sequence: Option<u64>,
    service_reachable: bool,
}

#[derive(Serialize)]
struct Index {
    present: bool,
    stale: bool,
    database: Option<String>,
    schema_version: Option<u32>,
    updated_at: Option<Moment>,
    newest_memory: Option<Moment>,
}

#[derive(Serialize)]
struct Secret {
    path: String,
    line: u64,
    kind: &'static str,
}

#[derive(Serialize)]
struct Shown {
    severity: &'static str,
    code: &'static str,
    message: String,
    /// The two names that versions of the existing tool have for it.
    fix: String,
    suggestion: String,
}

pub(crate) fn run(args: &CheckArgs, context: &Context<'_>) -> Result<ExitCode, CliError> {
    let adapter = adapter(&args.runtime)?;
    let machine = context.environment.machine()?;
    let settings = AlfSettings::read(&machine);
    let (agent, source) = choose(args, adapter, &machine, &settings)?;
    let mut check = adapter.check(&machine, &agent);
    // Only who names a folder can have named another than the runtime's.
    if args.workspace.is_none() {
        check.issues.retain(|it| it.code != "workspace_mismatch");
    }
    let configured = check.config.workspace.as_deref();
    let is_configured = configured.is_some_and(|it| same_place(it, &agent.workspace));
    let configuration = if agent.runtime == "openclaw" { "openclaw.json" } else { "config.toml" };
    let source = source.unwrap_or(if is_configured { configuration } else { "default" });
    let alf = Alf::new(&machine, &settings, &check.resources, context.environment.alf_key_is_set);
    let ready = check.is_ready();
    context.printer.print(&Checked::new(&agent, source, check, alf))?;
    Ok(if ready { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Finds the agent that is meant, and who said so; `None` leaves that to the configuration.
fn choose(
    args: &CheckArgs,
    adapter: &'static dyn Adapter,
    machine: &Machine,
    settings: &AlfSettings,
) -> Result<(FoundAgent, Option<&'static str>), CliError> {
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
    let usual = || adapter.locate(machine, &usual_place(adapter.runtime(), machine), None);
    let agent = adapter.discover(machine).into_iter().next().unwrap_or_else(usual);
    Ok((agent, None))
}

fn same_place(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs_err::canonicalize(path).ok();
    one == other || real(one).is_some_and(|it| real(other) == Some(it))
}

/// The settings of the existing tool, as far as they matter here.
#[derive(Default)]
struct AlfSettings {
    exists: bool,
    key_is_set: bool,
    workspace: Option<PathBuf>,
}

impl AlfSettings {
    fn read(machine: &Machine) -> Self {
        let Some(text) = read_small(&machine.home.join(".alf/config.toml")) else {
            return Self::default();
        };
        let workspace = value_of(&text, "defaults", "workspace").filter(|it| !it.is_empty());
        let in_home = |text: String| match text.strip_prefix("~/") {
            Some(rest) => machine.home.join(rest),
            None => PathBuf::from(text),
        };
        Self {
            exists: true,
            key_is_set: value_of(&text, "service", "api_key").is_some_and(|it| !it.is_empty()),
            workspace: workspace.map(in_home),
        }
    }
}

impl Alf {
    fn new(
        machine: &Machine,
        settings: &AlfSettings,
        resources: &Resources,
        key_in_environment: bool,
    ) -> Self {
        let state = resources
            .agent_id
            .and_then(|id| read_small(&machine.home.join(".alf/state").join(format!("{id}.toml"))));
        let sequence = state.as_deref().and_then(|it| value_of(it, "", "last_synced_sequence"));
        Self {
            config_exists: settings.exists,
            api_key_set: settings.key_is_set || key_in_environment,
            agent_tracked: state.is_some(),
            last_synced_sequence: sequence.and_then(|it| it.parse().ok()),
            service_reachable: false,
        }
    }
}

/// Reads a small text file.
fn read_small(path: &Path) -> Option<String> {
    const LONGEST: u64 = 1 << 20;
    if !fs_err::metadata(path).is_ok_and(|it| it.is_file()) {
        return None;
    }
    let mut bytes = Vec::new();
    fs_err::File::open(path).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns a plain value from TOML: what the existing tool writes is no more than that.
fn value_of(text: &str, section: &str, key: &str) -> Option<String> {
    let mut current = "";
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.split(']').next()) {
            current = name.trim();
            continue;
        }
        let Some((name, value)) = line.split_once('=') else { continue };
        if current != section || name.trim() != key {
            continue;
        }
        let value = value.trim();
        return match value.chars().next() {
            Some(quote @ ('"' | '\'')) => quoted(&value[1..], quote),
            _ => Some(value.split('#').next().unwrap_or_default().trim().to_owned()),
        };
    }
    None
}

/// Returns what stands before the closing quote.
fn quoted(text: &str, quote: char) -> Option<String> {
    let mut result = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            _ if c == quote => return Some(result),
            '\\' if quote == '"' => result.push(chars.next()?),
            _ => result.push(c),
        }
    }
    None
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
                .map(|it| Secret { path: it.path, line: it.line, kind: it.kind })
                .collect(),
            unreadable: check.unreadable,
            issues: check.issues.into_iter().map(Shown::from).collect(),
            suggestions,
        }
    }
}

/// What to do next: mend what is wrong, then export.
fn suggestions(agent: &FoundAgent, check: &Check) -> Vec<String> {
    let to_mend = check.issues.iter().filter(|it| it.severity != Severity::Info);
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

impl From<Issue> for Shown {
    fn from(issue: Issue) -> Self {
        Self {
            severity: issue.severity.as_str(),
            code: issue.code,
            message: issue.message,
            fix: issue.suggestion.clone(),
            suggestion: issue.suggestion,
        }
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
            daily_logs: found.daily_logs.map(|it| DailyLogs { count: it.count, latest: it.latest }),
            active_context: found.active_context,
            project_files: found.project_files.map(|count| Counted { count }),
            agent_id: found.agent_id.map(|it| it.to_string()),
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
        for secret in &self.secrets {
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
            files.iter().filter(|it| it.1).map(|it| it.0.to_owned()).collect();
        if let Some(logs) = &self.daily_logs {
            parts.push(count(logs.count, "daily log"));
        }
        if let Some(projects) = self.project_files.as_ref().filter(|it| it.count > 0) {
            parts.push(count(projects.count, "project file"));
        }
        if parts.is_empty() { "nothing of an agent".to_owned() } else { parts.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_values_are_read_from_toml() {
        let text = "# mine\n[service]\napi_key = \"k#1\" # no\n[ defaults ]\nworkspace='/a b' \n\
                    n = 12 # twelve\nbad = \"open\n";
        assert_eq!(value_of(text, "service", "api_key").as_deref(), Some("k#1"));
        assert_eq!(value_of(text, "defaults", "workspace").as_deref(), Some("/a b"));
        assert_eq!(value_of(text, "defaults", "n").as_deref(), Some("12"));
        assert_eq!(value_of(text, "defaults", "api_key"), None);
        assert_eq!(value_of(text, "defaults", "bad"), None);
        assert_eq!(value_of("last = 3", "", "last").as_deref(), Some("3"));
        assert_eq!(value_of("p = \"C:\\\\x \\\"y\\\"\"", "", "p").as_deref(), Some("C:\\x \"y\""));
    }
}
