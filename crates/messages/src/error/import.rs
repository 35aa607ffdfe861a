//! Why an archive was not imported, in words.

use anemone::import::ImportError;
use anemone_runtimes::with_agents;

use super::restore::{cannot_plan, stopped};
use super::{Explain, UserError};

impl Explain for ImportError {
    fn explain(&self) -> UserError {
        match self {
            Self::UnknownRuntime(_) => self
                .misuse("unknown_runtime")
                .hint(format!("say which runtime gets the agent with {}", runtime_options())),
            Self::SeveralAgents { agents, .. } => self
                .misuse("agent_selection_ambiguous")
                .causes(agents.clone())
                .hint("say where the archive goes with -w DIR, or with --agent ALIAS"),
            Self::Conflicts { workspace, report } => stopped(workspace, &report.conflicts, report),
            Self::Plan(error) => cannot_plan(error),
            Self::Apply { report, source } => source.explain().with_details(report),
            other => {
                pass_on!(other, "import", [Agent, Open, Entry, DifferentAgents, Choice, File, Keys])
            }
        }
    }
}

/// Returns the arguments that name a runtime.
fn runtime_options() -> String {
    let options: Vec<String> =
        with_agents().map(|runtime| format!("-r {}", runtime.name)).collect();
    options.join(" or ")
}
