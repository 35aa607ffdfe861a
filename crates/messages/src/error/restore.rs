//! Why a snapshot was not planned or put into a runtime, in words; imports and moves share these.

use std::path::Path;

use anemone::restore::{
    ApplyPlanError, ConflictItem, DifferentAgentsError, InstallSetting, UnknownChoiceError,
};
use anemone::text::count;
use anemone_runtimes::{PlanError, RestoreError};
use serde::Serialize;

use super::memory::store_busy;
use super::{Explain, Kind, UserError, causes_of, listed};

impl Explain for UnknownChoiceError {
    fn explain(&self) -> UserError {
        let Self { runtime, setting, given, known } = self;
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
        UserError::usage(message).hint(hint)
    }
}

impl Explain for DifferentAgentsError {
    fn explain(&self) -> UserError {
        self.conflict("different_agents")
            .about(&self.workspace)
            .hint("import into another folder; --on-conflict theirs makes this one the archive's")
    }
}

impl Explain for ApplyPlanError {
    fn explain(&self) -> UserError {
        let message = self.to_string();
        let unfinished = |code, store: &Path, source: &RestoreError| {
            let causes = std::iter::once(source.to_string()).chain(causes_of(source));
            UserError::failure(code, message.clone()).causes(causes.collect()).about(store).hint(
                "stop the runtime and import again: that is safe, and does only what is missing",
            )
        };
        match self {
            Self::Busy { store, source } => {
                store_busy(self).causes(causes_of(source).collect()).about(store)
            }
            Self::Install(source) => {
                UserError::failure("install", message).causes(vec![source.to_string()])
            }
            Self::Memories { store, source } => unfinished("memories", store, source),
            Self::Settings { store, source } => unfinished("config", store, source),
            Self::Credentials { store, source } => unfinished("credentials", store, source),
            Self::Files(error) => error.explain(),
            other => other.failure("write_failed"),
        }
    }
}

/// Says why there is no plan, and what to do about it.
pub(super) fn cannot_plan(error: &PlanError) -> UserError {
    match error {
        PlanError::Leftover { workspace, .. } => error.failure("leftover").hint(format!(
            "look into it: rename it to {} if it is your workspace, or move it away; then import \
             again",
            workspace.display()
        )),
        _ => error.explain(),
    }
}

/// Says that nothing was done because files differ, and which.
pub(super) fn stopped(
    workspace: &Path,
    conflicts: &[ConflictItem],
    report: &impl Serialize,
) -> UserError {
    let places = count(conflicts.len() as u64, "place");
    let message = format!("the workspace and the archive differ in {places}; nothing was changed");
    let line = |conflict: &ConflictItem| format!("{}: {}", conflict.path, conflict.reason);
    UserError::new(Kind::Conflict, "conflict", message)
        .about(workspace)
        .causes(listed(conflicts, 20, line))
        .with_details(report)
        .hint("give --on-conflict theirs, ours or both; with --dry-run, each shows its plan")
}
