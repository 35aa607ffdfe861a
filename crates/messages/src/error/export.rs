//! Why nothing was exported, in words.

use anemone::export::ExportError;
use anemone_runtimes::FoundSecret;

use super::{Kind, UserError};

/// Findings named in an error, at most.
const LISTED: usize = 50;

impl From<ExportError> for UserError {
    fn from(error: ExportError) -> Self {
        let said = |kind, code| Self::from_error(kind, code, &error);
        match &error {
            ExportError::DifferentAgents { .. } => said(Kind::Conflict, "different_agents")
                .hint("a workspace that moved keeps its id in .alf-agent-id: put the old id there"),
            ExportError::UnreadableMemory { .. } => said(Kind::Failed, "unreadable").hint(
                "run it as the user whose files they are, or name the folder in .alfignore to \
                 leave it out",
            ),
            ExportError::Nothing { .. } => said(Kind::Failed, "nothing_to_export").hint(
                "give the folder that holds MEMORY.md and memory/ with -w DIR; --allow-empty \
                 writes the archive anyway",
            ),
            ExportError::Secrets { secrets } => {
                let causes = causes(secrets);
                Self { causes, ..said(Kind::Failed, "secrets_found") }.hint(
                    "remove the secrets, leave their files out with .alfignore, write marks in \
                     place of them with --redact-secrets, or keep them in the archive with \
                     --allow-secrets",
                )
            }
            _ => match error {
                ExportError::AgentIdFile(error) => {
                    Self::from(error).hint("leave --write-agent-id off; the id is derived")
                }
                other => pass_on!(
                    other,
                    "export",
                    ExportError,
                    [Agent, Earlier, EarlierEntry, Read, Write, File, Keys]
                ),
            },
        }
    }
}

fn causes(secrets: &[FoundSecret]) -> Vec<String> {
    let listed = secrets.iter().take(LISTED);
    let mut causes: Vec<String> =
        listed.map(|FoundSecret { path, line, kind }| format!("{path}:{line}: {kind}")).collect();
    if secrets.len() > LISTED {
        causes.push(format!("and {} more", secrets.len() - LISTED));
    }
    causes
}
