//! Why no agent was chosen, in words.

use anemone::agent::{FOLDER, FindAgentError};
use anemone_runtimes::with_agents;

use super::{Kind, UserError};

impl From<FindAgentError> for UserError {
    fn from(error: FindAgentError) -> Self {
        let folder_hint = "give the folder that holds MEMORY.md and memory/".to_owned();
        let (kind, code, hint) = match &error {
            FindAgentError::NoFolder => {
                (Kind::Usage, "usage", Some("give it with -w DIR".to_owned()))
            }
            FindAgentError::NotFound { .. } => (Kind::Failed, "not_found", Some(folder_hint)),
            FindAgentError::NotAFolder { .. } => (Kind::Failed, "not_a_folder", Some(folder_hint)),
            FindAgentError::Unreadable(_) => {
                let FindAgentError::Unreadable(error) = error else { unreachable!() };
                return Self::from(error).hint(folder_hint);
            }
            FindAgentError::UnknownRuntime { nearest, .. } => {
                let known: Vec<&str> = with_agents().map(|runtime| runtime.name).collect();
                let known =
                    format!("{}; search and memory commands also take {FOLDER}", known.join(", "));
                let hint = match nearest {
                    Some(name) => format!("did you mean {name}? Known runtimes: {known}"),
                    None => format!("known runtimes: {known}"),
                };
                (Kind::Usage, "unknown_runtime", Some(hint))
            }
            FindAgentError::Nothing => {
                let hint = "give the workspace with -w DIR; `anemone agents` says where we looked";
                (Kind::Failed, "agent_not_found", Some(hint.to_owned()))
            }
            FindAgentError::Several { .. } => {
                let hint = "give --agent ALIAS or -w DIR".to_owned();
                (Kind::Usage, "agent_selection_ambiguous", Some(hint))
            }
            FindAgentError::UnknownAlias { known, .. } if known.is_empty() => {
                let hint = "no agent was found; give the workspace with -w DIR".to_owned();
                (Kind::Failed, "agent_not_found", Some(hint))
            }
            FindAgentError::UnknownAlias { known, .. } => {
                let hint = format!("agents that were found: {}", known.join(", "));
                (Kind::Failed, "agent_not_found", Some(hint))
            }
            FindAgentError::AmbiguousAlias { .. } => {
                let hint = "say which runtime you mean with -r RUNTIME".to_owned();
                (Kind::Usage, "agent_selection_ambiguous", Some(hint))
            }
            FindAgentError::OtherAlias { .. } => {
                let hint = "give --agent or -w DIR, not both".to_owned();
                (Kind::Usage, "agent_not_found", Some(hint))
            }
            FindAgentError::OtherRuntime { runtime, .. } => {
                let hint = format!("say {runtime} instead, or give the agent's workspace");
                (Kind::Usage, "wrong_runtime", Some(hint))
            }
            FindAgentError::InvalidName { .. } => {
                let hint = "use up to 64 letters, digits, hyphens and underscores".to_owned();
                (Kind::Usage, "agent_name", Some(hint))
            }
            _ => (Kind::Failed, "agent_not_found", None),
        };
        let mut said = Self::from_error(kind, code, &error);
        said.hint = hint;
        match error {
            FindAgentError::NoFolder => "-r folder needs a folder".clone_into(&mut said.message),
            FindAgentError::Several { agents } => said.causes = agents,
            FindAgentError::OtherAlias { workspace, .. } => said = said.about(&workspace),
            FindAgentError::OtherRuntime { folder, .. } => said = said.about(&folder),
            _ => {}
        }
        said
    }
}
