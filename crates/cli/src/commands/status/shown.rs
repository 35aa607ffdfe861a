//! What `anemone status` says to people.

use std::io::{self, Write};

use anemone_memory::HookWrite;
use jiff::Timestamp;

use super::problems::{Level, Problem};
use super::{AgentStatus, ConnectionLine, LastExport, Readiness, Search, StatusReport};
use crate::human;
use crate::output::{BAD, BOLD, DIM, GOOD, ODD, Report, bytes, count, safe};

impl Report for StatusReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for agent in &self.agents {
            agent.write(self.now, out)?;
            writeln!(out)?;
        }
        for problem in &self.problems {
            problem.write("", out)?;
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
                writeln!(out, "{:<11} {}", "connected", connection.shown())?;
            }
        }
        writeln!(out, "\n{BOLD}next{BOLD:#}")?;
        for next in &self.next {
            writeln!(out, "  {BOLD}{}{BOLD:#}", safe(&next.command))?;
            writeln!(out, "      {DIM}{}{DIM:#}", safe(&next.why))?;
        }
        Ok(())
    }
}

impl ConnectionLine {
    fn shown(&self) -> String {
        let project = self.project.as_ref().map(|it| format!(" in {}", safe(it)));
        let writes = if self.hooks_write { ", with hooks that write" } else { "" };
        format!("{}{}{writes}", self.program, project.unwrap_or_default())
    }
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

impl AgentStatus {
    fn write(&self, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
        let alias = safe(&self.alias);
        let generation = self.generation.map(|it| format!(" {it}")).unwrap_or_default();
        let version = self.version.as_ref().map(|it| format!(", version {}", safe(it)));
        let about = format!("{}{generation}{}", self.runtime, version.unwrap_or_default());
        writeln!(out, "{BOLD}{alias}{BOLD:#}  {DIM}{about}{DIM:#}")?;
        writeln!(out, "  {:<10} {}", "workspace", safe(&self.workspace))?;
        if self.files > 0 {
            let changed = self.last_change.as_ref();
            let changed = changed.map(|it| format!(", changed {}", ago(now, it.instant())));
            let (files, size) = (count(self.files, "file"), bytes(self.bytes));
            writeln!(out, "  {:<10} {files}, {size}{}", "holds", changed.unwrap_or_default())?;
        }
        match &self.last_export {
            Some(export) => export.write(now, out)?,
            None => writeln!(out, "  {:<10} never", "exported")?,
        }
        self.search.write(out)?;
        write_hooks(&self.hook_writes, now, out)?;
        // What the two lines above say is not said again.
        let said = |it: &&Problem| it.code == "never_exported" || it.code.starts_with("index_");
        for problem in self.problems.iter().filter(|it| !said(it)) {
            problem.write("  ", out)?;
        }
        Ok(())
    }
}

impl LastExport {
    fn write(&self, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
        let when = ago(now, self.at.instant());
        let style = if self.exists && self.changed_since == 0 { GOOD } else { ODD };
        let (size, archive) = (bytes(self.file_size), safe(&self.archive));
        writeln!(out, "  {:<10} {style}{when}{style:#} to {archive} ({size})", "exported")
    }
}

impl Search {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let documents = count(self.documents.unwrap_or_default(), "document");
        let (style, text) = match self.state {
            Readiness::Ready => (GOOD, format!("ready, {documents}")),
            Readiness::Behind => {
                let files = count(self.changed, "file");
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
            Readiness::Damaged => {
                (ODD, "the index is damaged; the next search rebuilds it".to_owned())
            }
            Readiness::Unknown => (BAD, "the memory cannot be read".to_owned()),
            Readiness::Nothing => (DIM, "nothing to search".to_owned()),
        };
        writeln!(out, "  {:<10} {style}{text}{style:#}", "search")
    }
}

impl Problem {
    fn write(&self, indent: &str, out: &mut dyn Write) -> io::Result<()> {
        let message = safe(&self.message);
        match self.level {
            Level::Wrong => writeln!(out, "{indent}{BAD}problem{BAD:#}    {message}"),
            Level::Note => writeln!(out, "{indent}{ODD}note{ODD:#}       {message}"),
        }
    }
}

/// Says how long ago something was, in one number.
fn ago(now: Timestamp, then: Timestamp) -> String {
    let seconds = now.duration_since(then).as_secs();
    let (number, noun) = match seconds {
        i64::MIN..=-1 => return "in the future".to_owned(),
        0..=59 => return "just now".to_owned(),
        60..=3_599 => (seconds / 60, "minute"),
        3_600..=86_399 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural} ago")
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
