//! Why an agent was not moved, in words.

use anemone::migrate::{MigrateError, MigrateReport};
use anemone::proof::Loss;

use super::restore::{cannot_plan, stopped};
use super::{Kind, UserError};

/// Records and files named in an error, at most.
const LISTED: usize = 20;

impl From<MigrateError> for UserError {
    fn from(error: MigrateError) -> Self {
        let said = |kind, code| Self::from_error(kind, code, &error);
        match &error {
            MigrateError::SeveralTargets { agents, .. } => {
                let said = said(Kind::Usage, "agent_selection_ambiguous");
                Self { causes: agents.clone(), ..said }
                    .hint("give --to-agent ALIAS: one of these, or a new one")
            }
            MigrateError::AlreadyThere { workspace } | MigrateError::Nested { workspace } => {
                said(Kind::Usage, "same_place")
                    .about(workspace)
                    .hint("give another folder with --to RUNTIME:DIR")
            }
            MigrateError::SnapshotsInWorkspace { folder } => said(Kind::Usage, "usage")
                .about(folder)
                .hint("choose another folder with --snapshots DIR"),
            MigrateError::NoMapping => said(Kind::Failed, "no_mapping"),
            MigrateError::Conflicts { workspace, conflicts, report } => {
                stopped(workspace, conflicts, report)
            }
            MigrateError::Lost { report, .. } => lost(said(Kind::Failed, "lost"), report),
            _ => match error {
                MigrateError::Source { runtime, source } => {
                    let hint = format!("give --agent ALIAS or --from {runtime}:DIR");
                    Self::from(source).hint(hint)
                }
                MigrateError::Plan(error) => cannot_plan(error),
                MigrateError::Apply { report, source } => Self::from(source).with_details(&report),
                other => pass_on!(
                    other,
                    "migrate",
                    MigrateError,
                    [Agent, Choice, Read, Write, Open, Entry, DifferentAgents, File, Io]
                ),
            },
        }
    }
}

/// Names what is lost.
fn lost(mut error: UserError, report: &MigrateReport) -> UserError {
    error.causes = causes(report.proof.as_ref().map_or(&[][..], |proof| &proof.lost));
    let hint = match report.snapshots.first() {
        Some(snapshot) => {
            format!("the old runtime is unchanged; a snapshot of it is in {}", snapshot.path)
        }
        None => "the old runtime is unchanged".to_owned(),
    };
    error.with_details(report).hint(hint)
}

fn causes(lost: &[Loss]) -> Vec<String> {
    let listed = lost.iter().take(LISTED);
    let mut causes: Vec<String> =
        listed.map(|loss| format!("{}: {}: {}", loss.layer, loss.what, loss.reason)).collect();
    if lost.len() > LISTED {
        causes.push(format!("and {} more", lost.len() - LISTED));
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_is_lost_the_first_twenty_are_listed() {
        let loss = |number| Loss {
            layer: "memory",
            what: format!("record {number}"),
            reason: "neither in the runtime nor in the sidecar".to_owned(),
        };
        let causes = causes(&(0..25).map(loss).collect::<Vec<_>>());
        assert_eq!(causes.len(), 21);
        assert!(causes[0].starts_with("memory: record 0: neither"), "{causes:?}");
        assert_eq!(causes[20], "and 5 more");
    }
}
