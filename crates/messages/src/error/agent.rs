//! Why no agent was chosen, in words.

use anemone::agent::{FOLDER, FindAgentError};
use anemone_runtimes::with_agents;

use super::{Explain, UserError};

const FOLDER_HINT: &str = "give the folder that holds MEMORY.md and memory/";

impl Explain for FindAgentError {
    fn explain(&self) -> UserError {
        match self {
            Self::NoFolder => {
                UserError::usage("-r folder needs a folder").hint("give it with -w DIR")
            }
            Self::NotFound(_) => self.failure("not_found").hint(FOLDER_HINT),
            Self::NotAFolder { .. } => self.failure("not_a_folder").hint(FOLDER_HINT),
            Self::Unreadable(error) => error.explain().hint(FOLDER_HINT),
            Self::Io(error) => error.explain(),
            Self::UnknownRuntime { nearest, .. } => {
                let known: Vec<&str> = with_agents().map(|runtime| runtime.name).collect();
                let known =
                    format!("{}; search and memory commands also take {FOLDER}", known.join(", "));
                self.misuse("unknown_runtime").hint(match nearest {
                    Some(name) => format!("did you mean {name}? Known runtimes: {known}"),
                    None => format!("known runtimes: {known}"),
                })
            }
            Self::Nothing => self
                .failure("agent_not_found")
                .hint("give the workspace with -w DIR; `anemone agents` says where we looked"),
            Self::Several(agents) => self
                .misuse("agent_selection_ambiguous")
                .causes(agents.clone())
                .hint("give --agent ALIAS or -w DIR"),
            Self::UnknownAlias { known, .. } => {
                self.failure("agent_not_found").hint(match known.as_slice() {
                    [] => "no agent was found; give the workspace with -w DIR".to_owned(),
                    known => format!("agents that were found: {}", known.join(", ")),
                })
            }
            Self::AmbiguousAlias { .. } => self
                .misuse("agent_selection_ambiguous")
                .hint("say which runtime you mean with -r RUNTIME"),
            Self::OtherAlias { workspace, .. } => self
                .misuse("agent_not_found")
                .about(workspace)
                .hint("give --agent or -w DIR, not both"),
            Self::OtherRuntime { folder, runtime } => self
                .misuse("wrong_runtime")
                .about(folder)
                .hint(format!("say {runtime} instead, or give the agent's workspace")),
            Self::InvalidName(_) => self
                .misuse("agent_name")
                .hint("use up to 64 letters, digits, hyphens and underscores"),
            other => other.failure("agent_not_found"),
        }
    }
}
