//! Why nothing was exported, in words.

use anemone::export::ExportError;
use anemone_runtimes::FoundSecret;

use super::{Explain, UserError, listed};

/// Findings named in an error, at most.
const LISTED: usize = 50;

impl Explain for ExportError {
    fn explain(&self) -> UserError {
        match self {
            Self::DifferentAgents { .. } => self
                .conflict("different_agents")
                .hint("a workspace that moved keeps its id in .alf-agent-id: put the old id there"),
            Self::UnreadableMemory(_) => self.failure("unreadable").hint(
                "run it as the user whose files they are, or name the folder in .alfignore to \
                 leave it out",
            ),
            Self::Nothing(_) => self.failure("nothing_to_export").hint(
                "give the folder that holds MEMORY.md and memory/ with -w DIR; --allow-empty \
                 writes the archive anyway",
            ),
            Self::Secrets(secrets) => {
                let place = |secret: &FoundSecret| {
                    format!("{}:{}: {}", secret.path, secret.line, secret.kind)
                };
                self.failure("secrets_found").causes(listed(secrets, LISTED, place)).hint(
                    "remove the secrets, leave their files out with .alfignore, write marks in \
                     place of them with --redact-secrets, or keep them in the archive with \
                     --allow-secrets",
                )
            }
            Self::AgentIdFile(error) => {
                error.explain().hint("leave --write-agent-id off; the id is derived")
            }
            other => {
                pass_on!(other, "export", [Agent, Earlier, EarlierEntry, Read, Write, File, Keys])
            }
        }
    }
}
