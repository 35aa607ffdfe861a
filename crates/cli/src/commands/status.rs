//! `anemone status`, and `anemone` alone

use std::io::{self, Write};
use std::path::PathBuf;

use anemone::connect::ConnectedProgram;
use anemone::statement::Statement;
use anemone::status::{
    AgentStatus, LastExport, Level, ProblemTopic, ProblemWords, Readiness, SearchStatus,
    StatusReport, StatusRequest, status,
};
use anemone_memory::HookWrite;
use anemone_messages::{next, problem};
use clap::Args;
use jiff::Timestamp;

use super::Context;
use crate::human;
use crate::output::{BAD, BOLD, DIM, GOOD, ODD, Report, Result, bytes, count, safe};

/// Look at this machine: agents, archives, search, and what to do next
///
/// Lists every agent that is found, when it was last exported and what changed since, whether
/// search is ready, what hooks wrote into its memory today, which programs are connected, what is
/// wrong, and the three commands that make sense next. `anemone` alone does the same. Files are
/// looked at from outside and nothing is written, so it is quick and can be asked at any time.
#[derive(Args, Debug, Default)]
pub(crate) struct StatusArgs {
    /// Show the agent in this workspace instead of those that are found
    #[arg(long, short, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

pub(crate) fn run(args: &StatusArgs, context: &Context<'_>) -> Result<StatusReport> {
    let request = StatusRequest { workspace: args.workspace.clone() };
    let mut report = status(&request, &context.host)?;
    for agent in &mut report.agents {
        Statement::word_all(&mut agent.problems, problem);
    }
    Statement::word_all(&mut report.problems, problem);
    Statement::word_all(&mut report.next, next);
    Ok(report)
}

impl Report for StatusReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for agent in &self.agents {
            write_agent(agent, self.now, out)?;
            writeln!(out)?;
        }
        for problem in self.problems.iter().filter_map(Statement::words) {
            write_problem(problem, "", out)?;
        }
        if self.agents.is_empty() {
            writeln!(out, "looked in:")?;
            for place in &self.looked_in {
                writeln!(out, "  {}", safe(place))?;
            }
        } else {
            if self.connection_details.is_empty() {
                writeln!(out, "{:<11} nothing yet", "connected")?;
            }
            for connection in &self.connection_details {
                writeln!(out, "{:<11} {}", "connected", connection_text(connection))?;
            }
        }
        writeln!(out, "\n{BOLD}next{BOLD:#}")?;
        for next in self.next.iter().filter_map(Statement::words) {
            writeln!(out, "  {BOLD}{}{BOLD:#}", safe(&next.command))?;
            writeln!(out, "      {DIM}{}{DIM:#}", safe(&next.why))?;
        }
        Ok(())
    }
}

fn connection_text(connection: &ConnectedProgram) -> String {
    let project = connection.project.as_ref().map(|project| format!(" in {}", safe(project)));
    let writes = if connection.hooks_write { ", with hooks that write" } else { "" };
    format!("{}{}{writes}", connection.program, project.unwrap_or_default())
}

/// Writes what hooks added today, the last writes of many.
fn write_hooks(writes: &[HookWrite], now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
    const MOST: usize = 5;
    if writes.is_empty() {
        return Ok(());
    }
    let number = count(writes.len() as u64, "time");
    writeln!(out, "  {:<10} wrote {number} today", "hooks")?;
    for write in &writes[writes.len().saturating_sub(MOST)..] {
        let HookWrite { at, hook, path, entries, .. } = write;
        let (time, entries) = (human::time(at.instant(), now), count(*entries, "entry"));
        writeln!(out, "  {:<10} {time}  {}  {} ({entries})", "", safe(hook), safe(path))?;
    }
    match writes.len().saturating_sub(MOST) {
        0 => Ok(()),
        more => writeln!(out, "  {:<10} and {more} before that; --json lists all", ""),
    }
}

fn write_agent(agent: &AgentStatus, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
    let alias = safe(&agent.alias);
    let generation =
        agent.generation.map(|generation| format!(" {generation}")).unwrap_or_default();
    let version = agent.version.as_ref().map(|version| format!(", version {}", safe(version)));
    let about = format!("{}{generation}{}", agent.runtime, version.unwrap_or_default());
    writeln!(out, "{BOLD}{alias}{BOLD:#}  {DIM}{about}{DIM:#}")?;
    writeln!(out, "  {:<10} {}", "workspace", safe(&agent.workspace))?;
    if agent.files > 0 {
        let changed = agent.last_change.as_ref();
        let changed = changed.map(|time| format!(", changed {}", ago(now, time.instant())));
        let (files, size) = (count(agent.files, "file"), bytes(agent.bytes));
        writeln!(out, "  {:<10} {files}, {size}{}", "holds", changed.unwrap_or_default())?;
    }
    match &agent.last_export {
        Some(export) => write_export(export, now, out)?,
        None => writeln!(out, "  {:<10} never", "exported")?,
    }
    write_search(&agent.search, out)?;
    write_hooks(&agent.hook_writes, now, out)?;
    // Problems that the two lines above show are not repeated.
    let said = |problem: &&ProblemWords| {
        matches!(problem.topic, ProblemTopic::FirstExport | ProblemTopic::SearchIndex)
    };
    let problems = agent.problems.iter().filter_map(Statement::words);
    for problem in problems.filter(|problem| !said(problem)) {
        write_problem(problem, "  ", out)?;
    }
    Ok(())
}

fn write_export(export: &LastExport, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
    let when = ago(now, export.at.instant());
    let style = if export.exists && export.changed_since == 0 { GOOD } else { ODD };
    let (size, archive) = (bytes(export.file_size), safe(&export.archive));
    writeln!(out, "  {:<10} {style}{when}{style:#} to {archive} ({size})", "exported")
}

fn write_search(search: &SearchStatus, out: &mut dyn Write) -> io::Result<()> {
    let documents = count(search.documents.unwrap_or_default(), "document");
    let (style, text) = match search.state {
        Readiness::Ready => (GOOD, format!("ready, {documents}")),
        Readiness::Behind => {
            let files = count(search.changed, "file");
            (GOOD, format!("ready, {documents}; the next search updates {files}"))
        }
        Readiness::Busy => (ODD, "the index is being written right now".to_owned()),
        Readiness::Missing => (ODD, "no index yet; the first search builds it".to_owned()),
        Readiness::Unfinished => {
            (ODD, "the index is not finished; the next search builds it".to_owned())
        }
        Readiness::Outdated => {
            (ODD, "the index is of another version; the next search rebuilds it".to_owned())
        }
        Readiness::Damaged => (ODD, "the index is damaged; the next search rebuilds it".to_owned()),
        Readiness::Unknown => (BAD, "the memory cannot be read".to_owned()),
        Readiness::Nothing => (DIM, "nothing to search".to_owned()),
    };
    writeln!(out, "  {:<10} {style}{text}{style:#}", "search")
}

fn write_problem(problem: &ProblemWords, indent: &str, out: &mut dyn Write) -> io::Result<()> {
    let message = safe(&problem.message);
    match problem.level {
        Level::Wrong => writeln!(out, "{indent}{BAD}problem{BAD:#}    {message}"),
        Level::Note => writeln!(out, "{indent}{ODD}note{ODD:#}       {message}"),
    }
}

/// Says how long ago something was, in one number.
fn ago(now: Timestamp, then: Timestamp) -> String {
    let Ok(seconds) = u64::try_from(now.duration_since(then).as_secs()) else {
        return "in the future".to_owned();
    };
    let (number, noun) = match seconds {
        0..=59 => return "just now".to_owned(),
        60..=3_599 => (seconds / 60, "minute"),
        3_600..=86_399 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{} ago", count(number, noun))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_one_number() {
        let now: Timestamp = "2026-03-05T12:00:00Z".parse().unwrap();
        for (then, expected) in [
            ("2026-03-05T12:00:01Z", "in the future"),
            ("2026-03-05T11:59:30Z", "just now"),
            ("2026-03-05T11:59:00Z", "1 minute ago"),
            ("2026-03-05T10:00:01Z", "1 hour ago"),
            ("2026-03-04T12:00:00Z", "1 day ago"),
            ("2025-03-05T12:00:00Z", "365 days ago"),
        ] {
            assert_eq!(ago(now, then.parse().unwrap()), expected, "{then}");
        }
    }
}
