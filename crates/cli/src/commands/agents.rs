//! `anemone agents`

use std::io::{self, Write};

use anemone::agents::{AgentCounts, AgentLine, AgentsReport, AgentsRequest, agents, aliases};
use anemone::system::SystemClock;
use anemone_memory::Clock as _;
use anemone_runtimes::{of_plain_folders, with_agents};
use clap::Args;

use super::Context;
use crate::args::RuntimeParser;
use crate::human;
use crate::output::{BOLD, DIM, ODD, Report, Result, bytes, count, safe};
use crate::runtime_words;

/// List the agents on this machine
#[derive(Args, Debug)]
#[command(long_about = format!("List the agents on this machine

Looks where runtimes keep their state: {}. Nothing is written.

The alias is what --agent of other commands takes. Where two installs have an agent of the same \
name, the one that is not in use is called INSTALL/NAME, such as work/main.", runtime_words::places()))]
pub(crate) struct AgentsArgs {
    #[arg(
        long,
        short,
        value_name = "RUNTIME",
        value_parser = RuntimeParser,
        help = runtime_words::help("List agents of this runtime only", "")
    )]
    runtime: Option<String>,

    /// Print only the aliases, one a line: what completion scripts offer
    #[arg(long, hide = true)]
    aliases: bool,
}

impl AgentsArgs {
    fn request(&self) -> AgentsRequest {
        AgentsRequest { runtime: self.runtime.clone() }
    }
}

/// Prints the aliases of the agents on this machine, one a line.
pub(crate) fn print_aliases(args: &AgentsArgs, context: &Context<'_>) -> Result<bool> {
    if !args.aliases {
        return Ok(false);
    }
    let aliases = aliases(&args.request(), &context.host)?;
    // An alias with a line break must not become two lines.
    let lines: String = aliases.iter().map(|alias| safe(alias) + "\n").collect();
    super::print_bytes(lines.as_bytes())?;
    Ok(true)
}

pub(crate) fn run(args: &AgentsArgs, context: &Context<'_>) -> Result<AgentsReport> {
    Ok(agents(&args.request(), &context.host)?)
}

impl Report for AgentsReport {
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
            write_agent(agent, out)?;
        }
        Ok(())
    }
}

fn write_agent(agent: &AgentLine, out: &mut dyn Write) -> io::Result<()> {
    let generation = agent.generation.unwrap_or("unused");
    let version = agent.version.as_ref().map(|version| format!(", version {}", safe(version)));
    let (alias, runtime) = (safe(&agent.alias), agent.runtime);
    let version = version.unwrap_or_default();
    writeln!(out, "{BOLD}{alias}{BOLD:#}  {DIM}{runtime} {generation}{version}{DIM:#}")?;
    let lines = [
        ("workspace", Some(&agent.workspace)),
        ("install", agent.install.as_ref()),
        ("config", agent.config.as_ref()),
        ("database", agent.database.as_ref()),
        ("agent id", agent.agent_id.as_ref()),
    ];
    for (name, value) in lines {
        if let Some(value) = value {
            writeln!(out, "  {name:<10} {}", safe(value))?;
        }
    }
    if agent.workspace_exists {
        let AgentCounts { files, records, bytes: size, last_change } = &agent.counts;
        let mut parts = vec![count(*files, "file")];
        parts.extend(records.map(|records| count(records, "record")));
        parts.push(bytes(*size));
        writeln!(out, "  {:<10} {}", "holds", parts.join(", "))?;
        if let Some(last_change) = last_change {
            let changed = human::time(last_change.instant(), SystemClock.now());
            writeln!(out, "  {:<10} {changed}", "changed")?;
        }
    }
    for oddity in &agent.oddities {
        writeln!(out, "  {ODD}{:<10}{ODD:#} {}", "note", safe(&oddity.message))?;
    }
    Ok(())
}
