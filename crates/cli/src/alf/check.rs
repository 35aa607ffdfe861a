//! `alf check`

use anemone::connect::quoted;
use serde::Serialize;

use super::settings::Settings;
use super::{Answer, CheckArgs, Stop, known, missing};
use crate::commands::Context;
use crate::commands::check::{self, Alf, Found, OpenClaw, Shown, Workspace};

#[derive(Serialize)]
struct Checked<'a> {
    ok: bool,
    runtime: &'a str,
    ready_to_sync: bool,
    workspace: &'a Workspace,
    resources: &'a Found,
    #[serde(skip_serializing_if = "Option::is_none")]
    openclaw: Option<&'a OpenClaw>,
    alf: &'a Alf,
    issues: Vec<Issue<'a>>,
    suggestions: &'a [String],
}

#[derive(Serialize)]
struct Issue<'a> {
    severity: &'a str,
    code: &'a str,
    message: &'a str,
    fix: &'a str,
}

pub(super) fn run(args: CheckArgs, context: &Context<'_>) -> Result<(), Stop> {
    let runtime = match args.runtime {
        Some(runtime) => runtime,
        None => Settings::read(&context.environment.home)?
            .runtime
            .ok_or_else(|| missing("check", "--runtime <RUNTIME>"))?,
    };
    let ours =
        check::CheckArgs { runtime: Some(known(runtime)?), workspace: args.workspace, agent: None };
    let mut checked = check::examine(&ours, context)?;
    checked.issues.iter_mut().for_each(soften);
    let ok = !checked.issues.iter().any(|issue| issue.severity == "error");
    (checked.ok, checked.ready_to_sync) = (ok, ok);
    let errors = checked.issues.iter().take_while(|issue| issue.severity == "error").count();
    let service = about_service(&checked.alf);
    checked.suggestions = suggestions(&checked);
    checked.issues.insert(errors, service);
    let shape = Checked {
        ok,
        runtime: checked.runtime,
        // There is nothing here that could sync.
        ready_to_sync: false,
        workspace: &checked.workspace,
        resources: &checked.resources,
        openclaw: checked.openclaw.as_ref(),
        alf: &checked.alf,
        issues: checked.issues.iter().map(Issue::new).collect(),
        suggestions: &checked.suggestions,
    };
    Ok(context.printer.print(&Answer { shape, ours: &checked })?)
}

impl<'a> Issue<'a> {
    fn new(shown: &'a Shown) -> Self {
        let Shown { severity, code, message, fix, .. } = shown;
        Self { severity, code, message, fix }
    }
}

/// An export under this name does not stop for secrets.
fn soften(issue: &mut Shown) {
    if issue.code == "secrets_found" {
        let fix = "take them out; an export puts a mark where each stands".to_owned();
        *issue = Shown::new("warning", issue.code, std::mem::take(&mut issue.message), fix);
    }
}

/// Says why nothing can be synced.
fn about_service(alf: &Alf) -> Shown {
    let (code, message) = match alf.api_key_set {
        true => {
            ("service_unreachable", "the service was not contacted: `alf sync` is not supported")
        }
        false => ("no_api_key", "no key to the service is set, and `alf sync` is not supported"),
    };
    let fix = "no key is needed to keep a copy of the agent: use `alf export`".to_owned();
    Shown::new("error", code, message.to_owned(), fix)
}

/// What to do next: mend what is wrong, then export.
fn suggestions(checked: &check::Checked) -> Vec<String> {
    let mut suggestions: Vec<String> = Vec::new();
    for issue in checked.issues.iter().filter(|issue| issue.severity != "info") {
        if !suggestions.contains(&issue.fix) {
            suggestions.push(issue.fix.clone());
        }
    }
    if checked.ok {
        let (runtime, workspace) = (checked.runtime, quoted(&checked.workspace.path));
        suggestions.push(format!("alf export -r {runtime} -w {workspace}"));
    }
    suggestions
}
