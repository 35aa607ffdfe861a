//! `anemone list`

use std::collections::BTreeSet;
use std::io::{self, Write};

use anemone_format::Origin;
use anemone_memory::{
    Clock as _, EntryListing, ListFilter, ListedEntry, OriginCheck, list_entries, list_rows, shown,
};
use anemone_runtimes::MemoryBackend;
use clap::Args;
use serde::Serialize;

use super::Context;
use super::search::{days, no_day};
use crate::args::MemoryArgs;
use crate::error::{CliError, Kind};
use crate::living::no_finder;
use crate::output::{BOLD, DIM, ODD, Report, count, safe};
use anemone::system::SystemClock;

/// Characters of a text that people are shown.
const SHOWN_CHARS: usize = 100;

/// List what is remembered
///
/// Lists the entries of a memory, the newest first, with their day, type, origin and key: the
/// entries of Markdown files, or the rows of ZeroClaw's database. Entries that others replaced are
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
    #[arg(long, value_name = "N", default_value_t = 50)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

#[derive(Serialize)]
pub(crate) struct ListReport {
    ok: bool,
    place: String,
    entries: Vec<EntryLine>,
    /// Entries that match.
    total: usize,
    /// Entries that match and are not shown.
    not_shown: usize,
    /// Entries that do not match.
    filtered: usize,
    /// Entries that others replaced, or that were archived.
    superseded: usize,
    /// Files that could not be read.
    unreadable: Vec<String>,
}

#[derive(Serialize)]
struct EntryLine {
    id: String,
    citation: String,
    path: String,
    start_line: usize,
    end_line: usize,
    key: Option<String>,
    date: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    origin: Option<String>,
    /// Whether this installation wrote the stamp that names the origin; otherwise it is a claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin_verified: Option<bool>,
    importance: Option<f64>,
    written_at: Option<String>,
    text: String,
}

pub(crate) fn run(args: &ListArgs, context: &Context<'_>) -> Result<ListReport, CliError> {
    let filter = args.filter()?;
    let machine = context.host.machine()?;
    let living = args.memory.choice().find(&machine, &context.host)?;
    let zone = context.host.zone();
    let list = |filter: &ListFilter| -> Result<EntryListing, CliError> {
        Ok(match &living.keeps {
            MemoryBackend::Sqlite(path) => match living.rows_to_read(path, no_finder())? {
                Some(rows) => list_rows(rows.entries()?, filter, &zone),
                None => EntryListing::default(),
            },
            MemoryBackend::Markdown | MemoryBackend::None | MemoryBackend::External(_) => {
                list_entries(&living.site, filter, &zone)?
            }
        })
    };
    let listed = list(&filter)?;
    if listed.entries.is_empty()
        && let Some(kind) = &filter.kind
    {
        check_kind(kind, &list(&ListFilter::default())?)?;
    }
    let EntryListing { entries, filtered, superseded, unreadable } = listed;
    let total = entries.len();
    let mut entries: Vec<EntryLine> =
        entries.into_iter().take(args.limit as usize).map(EntryLine::of).collect();
    // Rows of a database have no file to check, so their origins stay claims.
    let mut origins = OriginCheck::new(&living.site);
    for entry in entries.iter_mut().filter(|entry| entry.origin.is_some()) {
        let verified = origins.is_verified(&entry.path, entry.start_line, entry.end_line);
        entry.origin_verified = Some(verified);
    }
    Ok(ListReport {
        ok: true,
        place: living.site.root().display().to_string(),
        not_shown: total - entries.len(),
        entries,
        total,
        filtered,
        superseded,
        unreadable,
    })
}

/// Refuses a type that no entry has and that no file gives its entries.
fn check_kind(kind: &str, all: &EntryListing) -> Result<(), CliError> {
    let of_files = ["core", "daily", "session", "note"];
    let here = all.entries.iter().map(|entry| entry.kind.as_str());
    let known: BTreeSet<&str> = of_files.into_iter().chain(here).collect();
    if known.iter().any(|known| known.eq_ignore_ascii_case(kind)) {
        return Ok(());
    }
    let known = known.into_iter().collect::<Vec<_>>().join(", ");
    let message = format!("no entry is of type {kind:?}");
    Err(CliError::new(Kind::Usage, "unknown_type", message).hint(format!("types here: {known}")))
}

impl ListArgs {
    fn filter(&self) -> Result<ListFilter, CliError> {
        let today = SystemClock.now().to_zoned(SystemClock.zone()).date();
        let read = |flag: &str, text: &Option<String>| {
            let Some(text) = text else { return Ok(None) };
            days::day(text, today).map(Some).ok_or_else(|| no_day(flag, text))
        };
        let day = read("--day", &self.day)?;
        let (since, until) = (read("--since", &self.since)?, read("--until", &self.until)?);
        if let (Some(since), Some(until)) = (since, until)
            && since > until
        {
            let message = format!("nothing is both after {since} and before {until}");
            return Err(CliError::new(Kind::Usage, "usage", message)
                .hint("--since is the earlier day, --until the later one"));
        }
        Ok(ListFilter {
            since: day.or(since),
            until: day.or(until),
            key: self.key.clone(),
            kind: self.kind.clone(),
            origin: self.origin,
        })
    }
}

impl EntryLine {
    fn of(entry: ListedEntry) -> Self {
        let (first, last) = entry.lines;
        let path = &entry.path;
        Self {
            citation: match first == last {
                true => format!("{path}#L{first}"),
                false => format!("{path}#L{first}-L{last}"),
            },
            start_line: first,
            end_line: last,
            id: entry.id,
            path: entry.path,
            key: entry.key,
            date: entry.day.map(|it| it.to_string()),
            kind: entry.kind,
            origin: entry.origin,
            origin_verified: None,
            importance: entry.importance,
            written_at: entry.written.map(|it| it.to_string()),
            text: shown(&entry.text),
        }
    }

    /// Returns where it comes from, as far as that is known.
    fn source(&self) -> String {
        match (&self.origin, self.origin_verified) {
            (None, _) => "-".to_owned(),
            (Some(origin), Some(true)) => safe(origin),
            (Some(origin), _) => format!("claims {}", safe(origin)),
        }
    }

    /// Returns the text as one line of a table.
    fn shown(&self) -> String {
        let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut cut: String = text.chars().take(SHOWN_CHARS).collect();
        if cut.len() < text.len() {
            cut.push('…');
        }
        safe(&cut)
    }
}

impl Report for ListReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let width = |of: fn(&EntryLine) -> String| {
            self.entries.iter().map(|entry| of(entry).chars().count()).max().unwrap_or(0)
        };
        let (kinds, origins) = (width(|entry| safe(&entry.kind)), width(EntryLine::source));
        for entry in &self.entries {
            let date = entry.date.as_deref().unwrap_or("-");
            let (kind, origin) = (safe(&entry.kind), entry.source());
            write!(out, "{date:<10}  {kind:<kinds$}  {origin:<origins$}  ")?;
            if let Some(key) = &entry.key {
                write!(out, "{BOLD}{}{BOLD:#}  ", safe(key))?;
            }
            writeln!(out, "{}  {DIM}{}{DIM:#}", entry.shown(), safe(&entry.citation))?;
        }
        if self.entries.is_empty() {
            writeln!(out, "no entry matches in {}", safe(&self.place))?;
        }
        for path in &self.unreadable {
            writeln!(out, "{ODD}note:{ODD:#} cannot read {}", safe(path))?;
        }
        let mut rest = Vec::new();
        if self.not_shown > 0 {
            rest.push(format!("{} not shown (--limit)", self.not_shown));
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
