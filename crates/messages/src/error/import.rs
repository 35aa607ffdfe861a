//! Why an archive was not imported, in words.

use anemone::import::ImportError;
use anemone_runtimes::with_agents;

use super::restore::{cannot_plan, stopped};
use super::{Kind, UserError};

impl From<ImportError> for UserError {
    fn from(error: ImportError) -> Self {
        let said = |code| Self::from_error(Kind::Usage, code, &error);
        match &error {
            ImportError::UnknownRuntime { .. } => said("unknown_runtime")
                .hint(format!("say which runtime gets the agent with {}", runtime_options())),
            ImportError::SeveralAgents { agents, .. } => {
                Self { causes: agents.clone(), ..said("agent_selection_ambiguous") }
                    .hint("say where the archive goes with -w DIR, or with --agent ALIAS")
            }
            ImportError::Conflicts { workspace, report } => {
                stopped(workspace, &report.conflicts, report)
            }
            _ => match error {
                ImportError::Plan(error) => cannot_plan(error),
                ImportError::Apply { report, source } => Self::from(source).with_details(&report),
                other => pass_on!(
                    other,
                    "import",
                    ImportError,
                    [Agent, Open, Entry, DifferentAgents, Choice, File, Keys]
                ),
            },
        }
    }
}

/// Returns the arguments that name a runtime.
fn runtime_options() -> String {
    let options: Vec<String> =
        with_agents().map(|runtime| format!("-r {}", runtime.name)).collect();
    options.join(" or ")
}
