//! `anemone check`

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anemone::agent::AgentChoice;
use anemone::check::{CheckReport, CheckRequest, check};
use anemone_messages::UserError;
use anemone_runtimes::{Issue, Resources, Severity, Suggestion};
use clap::Args;
use serde::Serialize;

use super::Context;
use crate::args::RuntimeParser;
use crate::output::{BAD, BOLD, DIM, GOOD, ODD, Report, Result, count, safe};
use crate::runtime_words;

/// Check whether an agent can be exported, and list what prevents it
///
/// Looks through the workspace without changing it: its contents, what cannot be read, what
/// is not UTF-8, links that lead out of it, what looks like a secret, and the state of the runtime's
/// search index. Secrets are named by file and line and never shown. Exits 0 when the agent can
/// be exported and 1 when not; warnings do not count.
///
/// The workspace is the one that -w or --agent gives, else that of ~/.alf/config.toml, else that
/// of the runtime's configuration, else the runtime's usual one.
#[derive(Args, Clone, Debug)]
pub(crate) struct CheckArgs {
    #[arg(
        long,
        short,
        value_name = "RUNTIME",
        value_parser = RuntimeParser,
        help = runtime_words::help("The runtime", "; without it, that of the agent that is found")
    )]
    runtime: Option<String>,

    /// The workspace, if it is not the usual one
    #[arg(long, short, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// The agent, by the alias that `anemone agents` shows
    #[arg(long, short, value_name = "ALIAS")]
    agent: Option<String>,
}

/// The report with its issues in the words of the command line.
#[derive(Serialize)]
pub(crate) struct CheckAnswer {
    #[serde(flatten)]
    pub(crate) report: CheckReport,
    pub(crate) issues: Vec<IssueLine>,
    pub(crate) suggestions: Vec<String>,
}

#[derive(Serialize)]
pub(crate) struct IssueLine {
    pub(crate) severity: Severity,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// The two names that versions of the existing tool have for it.
    pub(crate) fix: String,
    suggestion: String,
}

pub(crate) fn run(args: &CheckArgs, context: &Context<'_>) -> Result<ExitCode> {
    let CheckArgs { runtime, workspace, agent } = args.clone();
    let agent = AgentChoice { runtime, workspace, agent };
    let request = CheckRequest { agent, alf_key_is_set: context.environment.alf_key_is_set };
    let mut answer = CheckAnswer::new(check(&request, &context.host)?);
    let report = &answer.report;
    if report.ok {
        let (runtime, workspace) = (report.runtime, &report.workspace.path);
        let export = format!("anemone export -r {runtime} -w '{workspace}' -o agent.alf");
        answer.suggestions.push(export);
    }
    context.printer.print(&answer)?;
    Ok(if answer.report.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl CheckAnswer {
    /// Puts the issues of a report into words, the worst first.
    pub(crate) fn new(mut report: CheckReport) -> Self {
        let mut issues: Vec<IssueLine> =
            std::mem::take(&mut report.issues).into_iter().map(IssueLine::from).collect();
        issues.extend(report.refusal.take().map(|error| refusal_issue(error.into())));
        issues.extend(report.settings_error.take().map(|error| settings_issue(error.into())));
        issues.sort_by_key(|issue| issue.severity);
        let suggestions = suggestions(&issues);
        Self { report, issues, suggestions }
    }
}

/// Returns what solves the issues, each once.
fn suggestions(issues: &[IssueLine]) -> Vec<String> {
    let mut suggestions: Vec<String> = Vec::new();
    for issue in issues.iter().filter(|issue| issue.severity != Severity::Info) {
        if !suggestions.contains(&issue.fix) {
            suggestions.push(issue.fix.clone());
        }
    }
    suggestions
}

/// Says why an export would refuse.
fn refusal_issue(error: UserError) -> IssueLine {
    let message = error.with_causes();
    let suggestion = error.hint.unwrap_or_else(|| "see `anemone export`".to_owned());
    IssueLine::new(Severity::Error, error.code, message, suggestion)
}

/// Says that the existing tool's settings are ignored, and why.
fn settings_issue(error: UserError) -> IssueLine {
    let suggestion = error.hint.unwrap_or_else(|| "make it a file you may read".to_owned());
    IssueLine::new(Severity::Warning, "alf_config_invalid", error.message, suggestion)
}

impl IssueLine {
    pub(crate) fn new(
        severity: Severity,
        code: &'static str,
        message: String,
        suggestion: String,
    ) -> Self {
        Self { severity, code, message, fix: suggestion.clone(), suggestion }
    }
}

impl From<Issue> for IssueLine {
    fn from(issue: Issue) -> Self {
        let suggestion = match issue.suggestion {
            Suggestion::ChooseSecretPolicy => {
                "take them out, or export with --redact-secrets or --allow-secrets".to_owned()
            }
            Suggestion::RaiseArtifactLimit => {
                "export with --artifact-threshold, if they should travel".to_owned()
            }
            Suggestion::IncludePrivate => "export with --private, if they should".to_owned(),
            Suggestion::CheckFolder => "see whether this is the right folder; `anemone agents` \
                                        lists what is on this machine"
                .to_owned(),
            Suggestion::NameWorkspace => "give the workspace with -w DIR; `anemone agents` lists \
                                          what is on this machine"
                .to_owned(),
            Suggestion::Text(text) => text,
        };
        Self::new(issue.severity, issue.kind.as_str(), issue.message, suggestion)
    }
}

impl Report for CheckAnswer {
    const ADDS_OK: bool = false;

    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let CheckReport { agent, runtime, workspace, resources, secrets, ready_to_sync, .. } =
            &self.report;
        let alias = safe(&agent.alias);
        let generation = agent.generation.unwrap_or("no install");
        writeln!(out, "{BOLD}{alias}{BOLD:#}  {DIM}{runtime}, {generation}{DIM:#}")?;
        writeln!(out, "  workspace  {}", safe(&workspace.path))?;
        if workspace.exists {
            writeln!(out, "  holds      {}", summary(resources))?;
        }
        for issue in &self.issues {
            let style = match issue.severity {
                Severity::Error => BAD,
                Severity::Warning => ODD,
                Severity::Info => DIM,
            };
            let (severity, message) = (issue.severity.as_str(), safe(&issue.message));
            writeln!(out, "{style}{severity}:{style:#} {message} {DIM}({}){DIM:#}", issue.code)?;
            if issue.severity != Severity::Info {
                writeln!(out, "  {}", safe(&issue.suggestion))?;
            }
        }
        // The message above names the first ones.
        for secret in secrets.iter().skip(anemone_runtimes::NAMED_IN_MESSAGE) {
            writeln!(out, "  {}:{}  {}", safe(&secret.path), secret.line, secret.kind)?;
        }
        if *ready_to_sync {
            writeln!(out, "{GOOD}ready{GOOD:#} to be exported")
        } else {
            writeln!(out, "{BAD}not ready{BAD:#} to be exported")
        }
    }
}

/// Describes the content of a workspace.
fn summary(resources: &Resources) -> String {
    let files = [
        ("SOUL.md", resources.soul_md),
        ("IDENTITY.md", resources.identity_md),
        ("AGENTS.md", resources.agents_md),
        ("USER.md", resources.user_md),
        ("MEMORY.md", resources.memory_md),
        ("active context", resources.active_context),
    ];
    let mut parts: Vec<String> =
        files.iter().filter(|file| file.1).map(|file| file.0.to_owned()).collect();
    if let Some(logs) = &resources.daily_logs {
        parts.push(count(logs.count, "daily log"));
    }
    if let Some(projects) = resources.project_files.filter(|file| file.count > 0) {
        parts.push(count(projects.count, "project file"));
    }
    if parts.is_empty() { "nothing of an agent".to_owned() } else { parts.join(", ") }
}
