//! Why nothing was exported, in words.

use std::collections::BTreeSet;

use anemone::export::ExportError;
use anemone_runtimes::FoundSecret;

use super::{Explain, UserError, listed};

/// Findings named in an error, at most.
const LISTED: usize = 50;

/// Returns the arguments that let the files with these secrets travel, for a shell.
fn allow_arguments(secrets: &[FoundSecret]) -> String {
    /// Files named, at most.
    const NAMED: usize = 5;
    let paths: BTreeSet<&str> = secrets.iter().map(|secret| &*secret.path).collect();
    let more = if paths.len() > NAMED { " ..." } else { "" };
    let arguments = paths.iter().take(NAMED).map(|path| {
        let is_plain = path
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-'));
        let quoted = format!("'{}'", path.replace('\'', r"'\''"));
        format!("--allow-secret={}", if is_plain { (*path).to_owned() } else { quoted })
    });
    arguments.collect::<Vec<_>>().join(" ") + more
}

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
                self.failure("secrets_found").causes(listed(secrets, LISTED, place)).hint(format!(
                    "remove the secrets, leave their files out with .alfignore, write marks in \
                     place of them with --redact-secrets, or keep them in the archive: all of them \
                     with --allow-secrets, or those of single files with {}",
                    allow_arguments(secrets)
                ))
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
