//! `alf check`

use std::collections::BTreeMap;

use anemone::agent::AgentChoice;
use anemone::alf::AlfSettings;
use anemone::check::{CheckedConfig, CheckedSync, CheckedWorkspace};
use anemone::connect::quoted;
use anemone_runtimes::{Resources, Severity};
use serde::Serialize;

use super::{Answer, CheckArgs, Stop, known, missing};
use crate::commands::Context;
use crate::commands::check::{CheckAnswer, IssueLine, examine, suggestions};

#[derive(Serialize)]
struct CheckShape<'a> {
    ok: bool,
    runtime: &'a str,
    ready_to_sync: bool,
    workspace: &'a CheckedWorkspace,
    resources: &'a Resources,
    #[serde(flatten)]
    config: &'a BTreeMap<&'static str, CheckedConfig>,
    alf: &'a CheckedSync,
    issues: Vec<Issue<'a>>,
    suggestions: &'a [String],
}

#[derive(Serialize)]
struct Issue<'a> {
    severity: Severity,
    code: &'a str,
    message: &'a str,
    fix: &'a str,
}

pub(super) fn run(args: CheckArgs, context: &Context<'_>) -> Result<(), Stop> {
    let runtime = match args.runtime {
        Some(runtime) => runtime,
        None => AlfSettings::read(&context.environment.folders.home)?
            .runtime
            .ok_or_else(|| missing("check", "--runtime <RUNTIME>"))?,
    };
    let runtime = Some(known(runtime)?);
    let agent = AgentChoice { runtime, workspace: args.workspace, agent: None };
    let mut answer = examine(agent, context)?;
    answer.issues.iter_mut().for_each(soften);
    let is_error = |issue: &&IssueLine| issue.severity == Severity::Error;
    let errors = answer.issues.iter().take_while(is_error).count();
    let ok = !answer.issues.iter().any(|issue| is_error(&issue));
    (answer.report.ok, answer.report.ready_to_sync) = (ok, ok);
    answer.suggestions = suggestions(&answer.issues);
    if ok {
        let (runtime, workspace) = (answer.report.runtime, quoted(&answer.report.workspace.path));
        answer.suggestions.push(format!("alf export -r {runtime} -w {workspace}"));
    }
    answer.issues.insert(errors, about_service(&answer.report.alf));
    let CheckAnswer { report, issues, suggestions } = &answer;
    let shape = CheckShape {
        ok,
        runtime: report.runtime,
        // There is nothing here that could sync.
        ready_to_sync: false,
        workspace: &report.workspace,
        resources: &report.resources,
        config: &report.config,
        alf: &report.alf,
        issues: issues.iter().map(Issue::new).collect(),
        suggestions,
    };
    Ok(context.printer.print(&Answer { shape, ours: &answer })?)
}

impl<'a> Issue<'a> {
    fn new(line: &'a IssueLine) -> Self {
        let IssueLine { severity, code, message, fix, .. } = line;
        Self { severity: *severity, code, message, fix }
    }
}

/// An export under this name does not stop for secrets.
fn soften(issue: &mut IssueLine) {
    if issue.code == "secrets_found" {
        let fix = "take them out; an export replaces each with a placeholder".to_owned();
        let message = std::mem::take(&mut issue.message);
        *issue = IssueLine::new(Severity::Warning, issue.code, message, fix);
    }
}

/// Says why nothing can be synced.
fn about_service(alf: &CheckedSync) -> IssueLine {
    let (code, message) = if alf.api_key_set {
        ("service_unreachable", "the service was not contacted: `alf sync` is not supported")
    } else {
        ("no_api_key", "no key to the service is set, and `alf sync` is not supported")
    };
    let fix = "no key is needed to keep a copy of the agent: use `alf export`".to_owned();
    IssueLine::new(Severity::Error, code, message.to_owned(), fix)
}
