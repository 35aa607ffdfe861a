//! `anemone list`

use std::io::{self, Write};

use anemone::list::{EntryLine, ListReport, ListRequest, list};
use anemone_format::Origin;
use anemone_messages::given_day;
use clap::Args;
use jiff::civil::Date;

use super::Context;
use crate::args::MemoryArgs;
use crate::output::{BOLD, DIM, ODD, Report, Result, count, safe};

/// Characters of a text that people are shown.
const SHOWN_CHARS: usize = 100;

/// List what is remembered
///
/// Lists the entries of a memory, the newest first, with their day, type, origin and key: the
/// entries of Markdown files, or the rows of a database. Entries that others replaced are
/// counted and not listed.
#[derive(Args, Debug)]
#[command(after_help = "Example: anemone list --since 7d --type decision")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    memory: MemoryArgs,

    /// Show only entries of this day: 2026-03-01, today, yesterday, 7d
    #[arg(long, value_name = "DAY", conflicts_with_all = ["since", "until"])]
    day: Option<String>,

    /// Show only entries of this day or later
    #[arg(long, value_name = "DAY")]
    since: Option<String>,

    /// Show only entries of this day or earlier
    #[arg(long, value_name = "DAY")]
    until: Option<String>,

    /// Show only entries whose key contains this
    #[arg(long, value_name = "NAME")]
    key: Option<String>,

    /// Show only entries of this type: the word of their label, such as decision, or core, daily,
    /// session, note or a row's category
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,

    /// Show only entries of this origin: owner, agent, tool, web or import
    #[arg(long, value_name = "ORIGIN")]
    origin: Option<Origin>,

    /// Show at most N entries
    #[arg(long, value_name = "N", default_value_t = ListRequest::USUAL_LIMIT)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,

    /// Leave out the first N entries that match: the next page of a long list
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u32,
}

pub(crate) fn run(args: &ListArgs, context: &Context<'_>) -> Result<ListReport> {
    Ok(list(&args.request(context.host.today())?, &context.host)?)
}

impl ListArgs {
    fn request(&self, today: Date) -> Result<ListRequest> {
        let on = given_day("--day", self.day.as_deref(), today)?;
        let since = given_day("--since", self.since.as_deref(), today)?;
        let until = given_day("--until", self.until.as_deref(), today)?;
        Ok(ListRequest {
            memory: self.memory.choice(),
            since: on.or(since),
            until: on.or(until),
            key: self.key.clone(),
            kind: self.kind.clone(),
            origin: self.origin,
            limit: self.limit,
            offset: self.offset,
        })
    }
}

/// Returns where it comes from, as far as that is known.
fn source(entry: &EntryLine) -> String {
    match (&entry.origin, entry.origin_verified) {
        (None, _) => "-".to_owned(),
        (Some(origin), Some(true)) => safe(origin),
        (Some(origin), _) => format!("claims {}", safe(origin)),
    }
}

/// Returns the text as one line of a table.
fn shown(entry: &EntryLine) -> String {
    let text = entry.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut cut: String = text.chars().take(SHOWN_CHARS).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    safe(&cut)
}

impl Report for ListReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let width = |of: fn(&EntryLine) -> String| {
            self.entries.iter().map(|entry| of(entry).chars().count()).max().unwrap_or(0)
        };
        let (kinds, origins) = (width(|entry| safe(&entry.kind)), width(source));
        for entry in &self.entries {
            let date = entry.date.as_deref().unwrap_or("-");
            let (kind, origin) = (safe(&entry.kind), source(entry));
            write!(out, "{date:<10}  {kind:<kinds$}  {origin:<origins$}  ")?;
            if let Some(key) = &entry.key {
                write!(out, "{BOLD}{}{BOLD:#}  ", safe(key))?;
            }
            writeln!(out, "{}  {DIM}{}{DIM:#}", shown(entry), safe(&entry.citation))?;
        }
        if self.total == 0 {
            writeln!(out, "no entry matches in {}", safe(&self.place))?;
        }
        for path in &self.unreadable {
            writeln!(out, "{ODD}note:{ODD:#} cannot read {}", safe(path))?;
        }
        for warning in &self.warnings {
            writeln!(out, "{ODD}warning:{ODD:#} {}", safe(&warning.message))?;
        }
        let mut rest = Vec::new();
        if self.not_shown > 0 {
            let next = self.next_offset.map(|next| format!("; the next page: --offset {next}"));
            let next = next.unwrap_or_default();
            let flags = if self.next_offset.is_some() { "--limit" } else { "--limit, --offset" };
            rest.push(format!("{} not shown ({flags}{next})", self.not_shown));
        }
        if self.filtered > 0 {
            rest.push(format!("{} filtered out", self.filtered));
        }
        if self.superseded > 0 {
            rest.push(format!("{} replaced or archived", self.superseded));
        }
        let rest = if rest.is_empty() { String::new() } else { format!("; {}", rest.join(", ")) };
        let shown = count(self.entries.len() as u64, "entry");
        writeln!(out, "{DIM}{shown}{rest}{DIM:#}")
    }
}
