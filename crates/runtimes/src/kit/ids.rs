//! Derives ids, which are never random: a record has the same id in every reading.

use std::path::Path;

use anemone_format::{AgentId, ItemId, RecordId};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::kit::{FoundAgent, noted_agent_id, real};

/// Namespaces of a runtime's ids; the existing tools have the same, so that archives fit together.
pub(crate) struct Namespaces {
    /// Of records.
    pub(crate) records: Uuid,
    /// Of agents.
    pub(crate) agents: Uuid,
}

impl Namespaces {
    /// Returns namespaces that are derived from the name of a runtime that has none of its own.
    pub(crate) fn of_name(runtime: &str) -> Self {
        let of =
            |what: &str| Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{runtime}/{what}").as_bytes());
        Self { records: of("records"), agents: of("agents") }
    }

    /// Returns the id of the record at a place in a file of the workspace.
    pub(crate) fn record(&self, path: &str, index: impl std::fmt::Display) -> RecordId {
        RecordId::new(Uuid::new_v5(&self.records, format!("{path}:{index}").as_bytes()))
    }

    /// Returns the id of the agent that lives in a workspace, by its canonical path.
    pub(crate) fn agent(&self, workspace: &Path) -> AgentId {
        AgentId::new(Uuid::new_v5(&self.agents, workspace.as_os_str().as_encoded_bytes()))
    }

    /// Derives the id of an agent: from the path of its workspace, and from its name if another
    /// agent has that workspace first. The id in the workspace is that of the first agent.
    pub(crate) fn derive(&self, agent: &FoundAgent) -> AgentId {
        let of_place = || self.agent(&real(&agent.workspace));
        if !agent.shares_workspace {
            return of_place();
        }
        let first = noted_agent_id(&agent.workspace).unwrap_or_else(of_place);
        AgentId::new(Uuid::new_v5(&first.uuid(), format!("agent:{}", agent.alias).as_bytes()))
    }
}

/// Returns the id of a document or an item of an agent.
pub(crate) fn item(agent: AgentId, name: &str) -> ItemId {
    ItemId::new(Uuid::new_v5(&agent.uuid(), name.as_bytes()))
}

/// Returns a part of a digest, to tell many things apart without keeping their ids.
pub(crate) fn short_digest(bytes: &[u8]) -> u64 {
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    let [a, b, c, d, e, f, g, h, ..] = digest;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openclaw::NAMESPACES;

    // The expected ids were computed by the existing tool and checked in Python.
    #[test]
    fn ids_are_those_of_the_existing_tool() {
        assert_eq!(
            NAMESPACES.record("memory/2026-01-15.md", 0).to_string(),
            "1d93a526-85b1-5b5b-9ac8-2fcc8749633d"
        );
        assert_eq!(
            NAMESPACES.record("MEMORY.md", 0).to_string(),
            "4f4c0ec1-f54d-5d2a-aeea-876c1faf2882"
        );
        assert_eq!(
            NAMESPACES.agent(Path::new("/home/user/.openclaw/workspace")).to_string(),
            "9e373c1e-cab7-5eea-90c3-8f3d09ac5755"
        );
    }
}
