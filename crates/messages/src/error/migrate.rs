//! Why an agent was not moved, in words.

use anemone::migrate::{MigrateError, MigrateReport};
use anemone::proof::Loss;

use super::restore::{cannot_plan, stopped};
use super::{Explain, UserError, listed};

/// Records and files named in an error, at most.
const LISTED: usize = 20;

impl Explain for MigrateError {
    fn explain(&self) -> UserError {
        match self {
            Self::SeveralTargets { agents, .. } => self
                .misuse("agent_selection_ambiguous")
                .causes(agents.clone())
                .hint("give --to-agent ALIAS: one of these, or a new one"),
            Self::AlreadyThere(workspace) | Self::Nested(workspace) => self
                .misuse("same_place")
                .about(workspace)
                .hint("give another folder with --to RUNTIME:DIR"),
            Self::SnapshotsInWorkspace(folder) => self
                .misuse("usage")
                .about(folder)
                .hint("choose another folder with --snapshots DIR"),
            Self::NoMapping => self.failure("no_mapping"),
            Self::Conflicts { workspace, conflicts, report } => {
                stopped(workspace, conflicts, report)
            }
            Self::Lost { report, .. } => lost(self.failure("lost"), report),
            Self::Source { runtime, source } => {
                let hint = format!("give --agent ALIAS or --from {runtime}:DIR");
                source.explain().hint(hint)
            }
            Self::Plan(error) => cannot_plan(error),
            Self::Apply { report, source } => source.explain().with_details(report),
            other => pass_on!(
                other,
                "migrate",
                [Agent, Choice, Read, Write, Open, Entry, DifferentAgents, File, Io]
            ),
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
    listed(lost, LISTED, |loss| format!("{}: {}: {}", loss.layer, loss.what, loss.reason))
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
