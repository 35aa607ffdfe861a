//! `alf check`

use std::collections::BTreeMap;

use anemone::agent::AgentChoice;
use anemone::alf::AlfSettings;
use anemone::check::{CheckRequest, CheckedConfig, CheckedSync, CheckedWorkspace};
use anemone::connect::quoted;
use anemone_runtimes::{Resources, Severity};
use serde::Serialize;

use super::{AlfAnswer, AlfFailure, CheckArgs, known, unnamed};
use crate::commands::Context;
use crate::commands::check::{CheckAnswer, IssueLine};

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

pub(super) fn run(args: CheckArgs, context: &Context<'_>) -> Result<(), AlfFailure> {
    let runtime = AlfSettings::runtime(args.runtime, &context.environment.folders.home);
    let runtime = Some(known(runtime.map_err(|error| unnamed("check", error))?)?);
    let agent = AgentChoice { runtime, workspace: args.workspace, agent: None };
    let request = CheckRequest { agent, alf_key_is_set: context.environment.alf_key_is_set };
    let mut answer = CheckAnswer::new(anemone::alf::check(&request, &context.host)?);
    let ok = answer.report.ok;
    if ok {
        let (runtime, workspace) = (answer.report.runtime, quoted(&answer.report.workspace.path));
        answer.suggestions.push(format!("alf export -r {runtime} -w {workspace}"));
    }
    let is_error = |issue: &&IssueLine| issue.severity == Severity::Error;
    let errors = answer.issues.iter().take_while(is_error).count();
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
    Ok(context.printer.print(&AlfAnswer { shape, ours: &answer })?)
}

impl<'a> Issue<'a> {
    fn new(line: &'a IssueLine) -> Self {
        let IssueLine { severity, code, message, fix, .. } = line;
        Self { severity: *severity, code, message, fix }
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
