//! Lists the agents on this machine.

use std::path::{Path, PathBuf};

use anemone_format::{AgentId, Moment};
use anemone_runtimes::{
    FoundAgent, Machine, Oddity, ReadOptions, Runtime, SecretPolicy, noted_agent_id,
};
use serde::Serialize;

use crate::agent::{DiscoveryDepth, FindAgentError, NamedAgent, discover, runtimes_named};
use crate::host::Host;
use crate::identity::identify;
use crate::survey::AgentScan;
use crate::tally::Tally;

/// Which agents are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentsRequest {
    /// Agents of this runtime only.
    pub runtime: Option<String>,
}

/// The agents that were found.
#[derive(Clone, Debug, Serialize)]
pub struct AgentsReport {
    /// Every agent that a folder, a configuration or a database of a runtime names.
    pub agents: Vec<AgentLine>,
    /// The home folder, in which runtimes keep their state.
    #[serde(skip)]
    pub looked_in: PathBuf,
}

/// One agent.
#[derive(Clone, Debug, Serialize)]
pub struct AgentLine {
    /// Its runtime.
    pub runtime: &'static str,
    /// The shape of the install.
    pub generation: Option<&'static str>,
    /// The name by which it is chosen.
    pub alias: String,
    /// Its workspace.
    pub workspace: String,
    /// Whether there is such a folder.
    pub workspace_exists: bool,
    /// The runtime's state folder.
    pub install: Option<String>,
    /// The runtime's configuration.
    pub config: Option<String>,
    /// The runtime's database.
    pub database: Option<String>,
    /// The runtime's version, as the install says.
    pub version: Option<String>,
    /// The id in the workspace.
    pub agent_id: Option<String>,
    /// How much it has.
    #[serde(flatten)]
    pub counts: AgentCounts,
    /// What is unusual about it.
    pub oddities: Vec<Oddity>,
}

/// How much an agent has; see [`survey`](crate::survey) for what counts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AgentCounts {
    /// Files.
    pub files: u64,
    /// Memories, where they can be read.
    pub records: Option<u64>,
    /// Bytes of the files.
    pub bytes: u64,
    /// When one of them was changed last.
    pub last_change: Option<Moment>,
}

/// Lists the agents on this machine, and how much each of them has.
pub fn agents(request: &AgentsRequest, host: &Host) -> Result<AgentsReport, FindAgentError> {
    let machine = host.machine()?;
    let runtimes = runtimes_named(request.runtime.as_deref())?;
    let found = discover(&runtimes, &machine, DiscoveryDepth::Everything);
    let agents = found.into_iter().map(|agent| AgentLine::new(agent, &machine, host)).collect();
    Ok(AgentsReport { agents, looked_in: machine.home.clone() })
}

/// Returns the names by which the agents on this machine are chosen.
pub fn aliases(request: &AgentsRequest, host: &Host) -> Result<Vec<String>, FindAgentError> {
    let machine = host.machine()?;
    let runtimes = runtimes_named(request.runtime.as_deref())?;
    let found = discover(&runtimes, &machine, DiscoveryDepth::Everything);
    Ok(found.into_iter().map(|agent| agent.alias).collect())
}

impl AgentLine {
    fn new(named: NamedAgent, machine: &Machine, host: &Host) -> Self {
        let NamedAgent { runtime, agent, alias } = named;
        let text = |path: &Path| path.display().to_string();
        let id = identify(runtime, &agent, host).id;
        Self {
            runtime: agent.runtime,
            generation: agent.generation,
            alias,
            workspace: text(&agent.workspace),
            workspace_exists: agent.workspace.is_dir(),
            install: agent.install.as_deref().map(text),
            config: agent.config.as_deref().map(text),
            database: agent.database.as_deref().map(text),
            version: agent.version.clone(),
            agent_id: noted_agent_id(&agent.workspace).map(|id| id.to_string()),
            counts: count(runtime, machine, &agent, id),
            oddities: agent.oddities.clone(),
        }
    }
}

/// Counts files without reading them, and records by reading the agent as an export does.
fn count(runtime: &Runtime, machine: &Machine, agent: &FoundAgent, id: AgentId) -> AgentCounts {
    let options = ReadOptions {
        agent_id: Some(id),
        embeddings: false,
        artifact_threshold: 0,
        secrets: SecretPolicy::Allow,
        ..ReadOptions::default()
    };
    let scan = AgentScan::new(runtime, machine, agent);
    let reading = runtime.read(machine, agent, &options, &mut Tally::default());
    let survey =
        reading.as_ref().map_or_else(|_| scan.run(), |reading| scan.of_walk(reading.count));
    AgentCounts {
        files: survey.files,
        records: reading.ok().map(|reading| reading.records),
        bytes: survey.bytes,
        last_change: survey.newest.map(Moment::from),
    }
}
