//! `anemone agents`

use std::io::{self, Write};
use std::path::PathBuf;

use anemone_format::Moment;
use anemone_runtimes::{
    FoundAgent, Machine, ReadOptions, Runtime, SecretPolicy, noted_agent_id, of_plain_folders,
    with_agents,
};
use clap::Args;
use serde::Serialize;

use super::Context;
use crate::agent::{adapters, discover};
use crate::args::RuntimeParser;
use crate::error::CliError;
use crate::human;
use crate::output::{BOLD, DIM, ODD, Report, bytes, count, safe};
use crate::survey::{WorkspaceScan, real};
use crate::tally::Tally;
use anemone::system::SystemClock;
use anemone_memory::Clock as _;

/// List the agents on this machine
///
/// Looks where runtimes keep their state: for OpenClaw ~/.openclaw, profiles (~/.openclaw-NAME),
/// older names (~/.clawdbot, ~/clawd, ~/openclaw), and what OPENCLAW_STATE_DIR,
/// OPENCLAW_CONFIG_PATH, OPENCLAW_PROFILE and OPENCLAW_WORKSPACE_DIR say; for ZeroClaw
/// ~/.zeroclaw, and what ZEROCLAW_CONFIG_DIR, ZEROCLAW_DATA_DIR and ZEROCLAW_WORKSPACE say.
/// Nothing is written.
///
/// The alias is what --agent of other commands takes. Where two installs have an agent of the
/// same name, the one that is not in use is called INSTALL/NAME, such as work/main.
#[derive(Args, Debug)]
pub(crate) struct AgentsArgs {
    /// List agents of this runtime only: openclaw or zeroclaw
    #[arg(long, short, value_name = "RUNTIME", value_parser = RuntimeParser)]
    runtime: Option<String>,

    /// Print only the aliases, one a line: what completion scripts offer
    #[arg(long, hide = true)]
    aliases: bool,
}

/// Prints the aliases of the agents on this machine, one a line.
pub(crate) fn print_aliases(args: &AgentsArgs, context: &Context<'_>) -> Result<bool, CliError> {
    if !args.aliases {
        return Ok(false);
    }
    let machine = context.host.machine()?;
    let found = discover(&adapters(args.runtime.as_deref())?, &machine);
    // A line ends where an alias does, whatever stands in it.
    let lines: String = found.iter().map(|it| safe(&it.alias) + "\n").collect();
    super::print_bytes(lines.as_bytes())?;
    Ok(true)
}

#[derive(Serialize)]
pub(crate) struct Listed {
    ok: bool,
    agents: Vec<ListedAgent>,
    /// Where runtimes keep their state, for who has none.
    #[serde(skip)]
    looked_in: PathBuf,
}

#[derive(Serialize)]
struct ListedAgent {
    runtime: &'static str,
    generation: Option<&'static str>,
    alias: String,
    workspace: String,
    workspace_exists: bool,
    install: Option<String>,
    config: Option<String>,
    database: Option<String>,
    version: Option<String>,
    agent_id: Option<String>,
    #[serde(flatten)]
    counts: Counts,
    oddities: Vec<ListedOddity>,
}

#[derive(Serialize)]
struct ListedOddity {
    code: &'static str,
    message: String,
}

/// How much an agent has; nothing of it is known without a workspace.
#[derive(Default, Serialize)]
struct Counts {
    files: u64,
    records: Option<u64>,
    bytes: u64,
    last_change: Option<Moment>,
}

pub(crate) fn run(args: &AgentsArgs, context: &Context<'_>) -> Result<Listed, CliError> {
    let machine = context.host.machine()?;
    let mut agents = Vec::new();
    for found in discover(&adapters(args.runtime.as_deref())?, &machine) {
        agents.push(ListedAgent::new(found.adapter, &machine, &found.agent, found.alias));
    }
    Ok(Listed { ok: true, agents, looked_in: machine.home.clone() })
}

impl ListedAgent {
    fn new(adapter: &Runtime, machine: &Machine, agent: &FoundAgent, alias: String) -> Self {
        let text = |path: &PathBuf| path.display().to_string();
        Self {
            runtime: agent.runtime,
            generation: agent.generation,
            alias,
            workspace: text(&agent.workspace),
            workspace_exists: agent.workspace.is_dir(),
            install: agent.install.as_ref().map(text),
            config: agent.config.as_ref().map(text),
            database: agent.database.as_ref().map(text),
            version: agent.version.clone(),
            agent_id: noted_agent_id(&agent.workspace).map(|it| it.to_string()),
            counts: count_of(adapter, machine, agent),
            oddities: agent
                .oddities
                .iter()
                .map(|it| ListedOddity { code: it.code, message: it.message.clone() })
                .collect(),
        }
    }
}

/// Counts files as `status` does, and records by reading the agent as an export does.
fn count_of(adapter: &Runtime, machine: &Machine, agent: &FoundAgent) -> Counts {
    let options = ReadOptions {
        agent_id: None,
        sessions: false,
        embeddings: false,
        private: false,
        seal: None,
        artifact_threshold: 0,
        secrets: SecretPolicy::Allow,
        exclude: &[],
        earlier: None,
    };
    let stores = adapter.searchable(machine, agent).stores;
    let workspace = real(&agent.workspace);
    let question = WorkspaceScan {
        adapter,
        workspace: &workspace,
        stores: &stores,
        since: None,
        except: None,
    };
    let survey = question.run();
    let reading = adapter.read(machine, agent, &options, &mut Tally::default());
    Counts {
        files: survey.files,
        records: reading.ok().map(|it| it.records),
        bytes: survey.bytes,
        last_change: survey.newest.map(Moment::from),
    }
}

impl Report for Listed {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.agents.is_empty() {
            let home = safe(&self.looked_in.display().to_string());
            writeln!(out, "no agents found in {home}")?;
            for runtime in with_agents() {
                let places = runtime.places.map(|places| (places.folders, places.variables));
                let Some(([folder, ..], [variable, ..])) = places else { continue };
                let title = runtime.title;
                writeln!(out, "{title} keeps them in ~/{folder} or where {variable} says.")?;
            }
            return writeln!(
                out,
                "If the workspace is elsewhere: anemone check -r {} -w DIR",
                of_plain_folders().name
            );
        }
        for (position, agent) in self.agents.iter().enumerate() {
            if position > 0 {
                writeln!(out)?;
            }
            agent.write_human(out)?;
        }
        Ok(())
    }
}

impl ListedAgent {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let generation = self.generation.unwrap_or("unused");
        let version = self.version.as_ref().map(|it| format!(", version {}", safe(it)));
        let (alias, runtime) = (safe(&self.alias), self.runtime);
        let version = version.unwrap_or_default();
        writeln!(out, "{BOLD}{alias}{BOLD:#}  {DIM}{runtime} {generation}{version}{DIM:#}")?;
        let lines = [
            ("workspace", Some(&self.workspace)),
            ("install", self.install.as_ref()),
            ("config", self.config.as_ref()),
            ("database", self.database.as_ref()),
            ("agent id", self.agent_id.as_ref()),
        ];
        for (name, value) in lines {
            if let Some(value) = value {
                writeln!(out, "  {name:<10} {}", safe(value))?;
            }
        }
        if self.workspace_exists {
            let Counts { files, records, bytes: size, last_change } = &self.counts;
            let mut parts = vec![count(*files, "file")];
            parts.extend(records.map(|it| count(it, "record")));
            parts.push(bytes(*size));
            writeln!(out, "  {:<10} {}", "holds", parts.join(", "))?;
            if let Some(last_change) = last_change {
                let changed = human::time(last_change.instant(), SystemClock.now());
                writeln!(out, "  {:<10} {changed}", "changed")?;
            }
        }
        for oddity in &self.oddities {
            writeln!(out, "  {ODD}{:<10}{ODD:#} {}", "note", safe(&oddity.message))?;
        }
        Ok(())
    }
}
