//! Why a snapshot was not planned or put into a runtime, in words; imports and moves share these.

use std::error::Error as _;
use std::path::Path;

use anemone::restore::{
    ApplyPlanError, ConflictItem, DifferentAgentsError, InstallSetting, UnknownChoiceError,
};
use anemone::text::count;
use anemone_runtimes::{PlanError, RestoreError};
use serde::Serialize;

use super::{Kind, UserError};

impl From<UnknownChoiceError> for UserError {
    fn from(error: UnknownChoiceError) -> Self {
        let UnknownChoiceError { runtime, setting, given, known } = error;
        let flag = match setting {
            InstallSetting::Backend => "--backend",
            InstallSetting::Layout => "--layout",
        };
        let (message, hint) = if known.is_empty() {
            (format!("{runtime} knows no {flag}"), format!("leave {flag} off"))
        } else {
            let known = known.join(", ");
            (format!("{runtime} knows no {flag} {given:?}"), format!("known are: {known}"))
        };
        Self::usage(message).hint(hint)
    }
}

impl From<DifferentAgentsError> for UserError {
    fn from(error: DifferentAgentsError) -> Self {
        Self::from_error(Kind::Conflict, "different_agents", &error)
            .about(&error.workspace)
            .hint("import into another folder; --on-conflict theirs makes this one the archive's")
    }
}

impl From<ApplyPlanError> for UserError {
    fn from(error: ApplyPlanError) -> Self {
        let message = error.to_string();
        let unfinished = |code, store: &Path, source: &RestoreError| {
            let mut failed = Self::failure(code, message.clone());
            failed.causes.push(source.to_string());
            failed.causes.extend(causes(source));
            failed.about(store).hint(
                "stop the runtime and import again: that is safe, and does only what is missing",
            )
        };
        match &error {
            ApplyPlanError::Busy { store, source } => {
                let failed = Self::new(Kind::Conflict, "store_busy", message.clone());
                Self { causes: causes(source), ..failed }
                    .about(store)
                    .hint("stop the runtime, and do it again")
            }
            ApplyPlanError::Install(source) => {
                let causes = vec![source.to_string()];
                Self { causes, ..Self::failure("install", message) }
            }
            ApplyPlanError::Memories { store, source } => unfinished("memories", store, source),
            ApplyPlanError::Settings { store, source } => unfinished("config", store, source),
            ApplyPlanError::Credentials { store, source } => {
                unfinished("credentials", store, source)
            }
            _ => match error {
                ApplyPlanError::Files(error) => error.into(),
                other => Self::failure_from("write_failed", &other),
            },
        }
    }
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

/// Says why there is no plan, and what to do about it.
pub(super) fn cannot_plan(error: PlanError) -> UserError {
    let leftover = match &error {
        PlanError::Leftover { workspace, .. } => Some(format!(
            "look into it: rename it to {} if it is your workspace, or move it away; then import \
             again",
            workspace.display()
        )),
        _ => None,
    };
    let said = UserError::from(error);
    match leftover {
        Some(hint) => UserError { code: "leftover", ..said }.hint(hint),
        None => said,
    }
}

/// Says that nothing was done because files differ, and which.
pub(super) fn stopped(
    workspace: &Path,
    conflicts: &[ConflictItem],
    report: &impl Serialize,
) -> UserError {
    const SHOWN: usize = 20;
    let number = conflicts.len();
    let places = count(number as u64, "place");
    let message = format!("the workspace and the archive differ in {places}; nothing was changed");
    let mut error = UserError::new(Kind::Conflict, "conflict", message).about(workspace);
    let shown = conflicts.iter().take(SHOWN);
    error.causes.extend(shown.map(|conflict| format!("{}: {}", conflict.path, conflict.reason)));
    if number > SHOWN {
        error.causes.push(format!("and {} more", number - SHOWN));
    }
    error
        .with_details(report)
        .hint("give --on-conflict theirs, ours or both; with --dry-run, each shows its plan")
}
