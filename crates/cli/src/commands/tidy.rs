//! `anemone tidy`

use std::io::{self, Write};

use anemone_memory::{
    Change, Clock as _, LockedStore, TidyPlan, TidySettings, Tier, count_past_rows, plan_promotion,
    plan_tidy,
};
use anemone_runtimes::MemoryBackend;
use clap::Args;
use jiff::ToSpan as _;
use jiff::civil::Date;
use serde::Serialize;

use super::Context;
use crate::args::MemoryArgs;
use crate::config::Config;
use crate::error::{CliError, Kind};
use crate::living::AgentMemory;
use crate::output::{BAD, BOLD, DIM, GOOD, ODD, Report, count, safe};
use crate::placed::{PlacedLine, UnreadLine};
use anemone::system::SystemClock;

/// Lists are this long for people; programs get all.
const SHOWN: usize = 8;

/// Archive expired entries, list duplicates, and promote what is recalled often
///
/// Shows which entries have expired, and changes nothing without --apply. Entries of daily logs
/// expire by their importance (0.8 and more never, 0.4 and more after 30 days, less after 7 days;
/// entries without an importance never) and are moved to memory/archive/tidied-YYYY-MM.md, which
/// no session loads and search still finds. For ZeroClaw whole logs move to memory/archive/ after 7
/// days and are removed after 30, as ZeroClaw itself does. Duplicates, and entries of one key that
/// contradict each other, are only listed: which one is right is for you to say.
///
/// What was recalled often is proposed for MEMORY.md, and written there only with --promote or
/// --promote-all. `anemone undo` brings back the last change.
#[derive(Args, Debug)]
pub(crate) struct TidyArgs {
    /// Move expired entries into memory/archive/
    #[arg(long)]
    apply: bool,

    /// Show what would be done and change nothing, also with --promote
    #[arg(long, short = 'n', conflicts_with = "apply")]
    dry_run: bool,

    /// Write the proposal with this id into MEMORY.md; may be given more than once
    #[arg(long, value_name = "ID", num_args = 1.., conflicts_with = "promote_all")]
    promote: Vec<String>,

    /// Write all proposals into MEMORY.md, but for those that come from pages or tools or read
    /// like instructions: these have to be named
    #[arg(long)]
    promote_all: bool,

    #[command(flatten)]
    memory: MemoryArgs,
}

#[derive(Serialize)]
pub(crate) struct TidyReport {
    ok: bool,
    applied: bool,
    expired: Vec<ExpiredLine>,
    archived: Vec<Moved>,
    purged: Vec<String>,
    same: Vec<Vec<PlacedLine>>,
    near: Vec<NearLine>,
    contradictions: Vec<ContradictionLine>,
    promotions: Vec<PromotionLine>,
    /// How many were written into `MEMORY.md`.
    promoted: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<RowsLine>,
    not_compared: usize,
    /// Whether there may be more in `near`.
    near_is_cut: bool,
    unread: Vec<UnreadLine>,
    /// The changes that were made, by which they can be undone.
    changes: Vec<String>,
}

#[derive(Serialize)]
struct ExpiredLine {
    #[serde(flatten)]
    entry: PlacedLine,
    tier: &'static str,
    days: i64,
    /// The file that it is moved to.
    to: String,
}

#[derive(Serialize)]
struct Moved {
    from: String,
    to: String,
}

#[derive(Serialize)]
pub(crate) struct NearLine {
    pub(crate) similarity: f32,
    pub(crate) entries: [PlacedLine; 2],
}

#[derive(Serialize)]
pub(crate) struct ContradictionLine {
    pub(crate) key: String,
    pub(crate) newer: PlacedLine,
    pub(crate) older: Vec<PlacedLine>,
}

#[derive(Serialize)]
struct PromotionLine {
    #[serde(flatten)]
    entry: PlacedLine,
    recalls: u32,
    doubtful: bool,
}

/// What of a database has had its time.
#[derive(Serialize)]
struct RowsLine {
    conversation: u64,
    note: &'static str,
}

pub(crate) fn run(args: &TidyArgs, context: &Context<'_>) -> Result<TidyReport, CliError> {
    let machine = context.host.machine()?;
    let living = args.memory.choice().find(&machine, &context.host)?;
    let settings = Config::read(&context.host)?.tidy;
    let clock = &context.host.clock;
    let today = clock.now().to_zoned(clock.zone()).date();
    // Whoever only looks does not keep others from writing.
    let writes = args.apply || (!args.dry_run && (args.promote_all || !args.promote.is_empty()));
    let held = writes.then(|| living.site.lock()).transpose()?;
    let plan = plan_tidy(&living.site, &settings, today)
        .map_err(|error| CliError::from_error(Kind::Failed, "recalls", &error))?;
    let mut report = TidyReport::of(&plan);
    report.rows = rows(&living, &settings, today)?;
    let promotion = promotion(args, &plan, &living, today)?;
    report.promoted = promotion.as_ref().map_or(0, |(number, _)| *number);
    let Some(held) = held else { return Ok(report) };
    let mut apply = |held: &LockedStore<'_>, change: &Change| -> Result<(), CliError> {
        let applied = held.apply(change, clock.fresh_id(), clock.now())?;
        report.changes.push(applied.id.0.to_string());
        Ok(())
    };
    if let Some((_, change)) = &promotion {
        apply(&held, change)?;
    }
    if let Some(change) = plan.change().filter(|_| args.apply) {
        apply(&held, &change)?;
    }
    report.applied = args.apply;
    Ok(report)
}

/// Plans what was asked to be promoted; says how many entries that is.
fn promotion(
    args: &TidyArgs,
    plan: &TidyPlan,
    living: &AgentMemory,
    today: Date,
) -> Result<Option<(usize, Change)>, CliError> {
    if args.dry_run || (!args.promote_all && args.promote.is_empty()) {
        return Ok(None);
    }
    let ids = (!args.promote_all).then_some(args.promote.as_slice());
    let (chosen, unknown) = plan.chosen(ids);
    if let Some(id) = unknown.first() {
        let message = format!("nothing that is proposed has the id `{id}`; nothing was changed");
        let error = CliError::new(Kind::Usage, "unknown_promotion", message);
        return Err(error.hint("run `anemone tidy` to see what is proposed"));
    }
    if chosen.is_empty() {
        return Ok(None);
    }
    let change = plan_promotion(&living.site, &chosen, today, &SystemClock).ok_or_else(|| {
        let message = "MEMORY.md or a file that is quoted there cannot be read";
        CliError::new(Kind::Failed, "unreadable", message)
    })?;
    Ok(Some((chosen.len(), change)))
}

/// Counts rows that have had their time.
fn rows(
    living: &AgentMemory,
    settings: &TidySettings,
    today: Date,
) -> Result<Option<RowsLine>, CliError> {
    let MemoryBackend::Sqlite(database) = &living.keeps else { return Ok(None) };
    let Ok(before) = today.checked_sub(i64::from(settings.conversation_days).days()) else {
        return Ok(None);
    };
    let counted = count_past_rows(database, "conversation", before)
        .map_err(|error| CliError::from_error(Kind::Failed, "database", &error))?;
    let note = "rows are only counted: the runtime removes them itself, and nobody looked for \
                duplicates or contradictions among them";
    Ok(counted.map(|conversation| RowsLine { conversation, note }))
}

impl TidyReport {
    fn of(plan: &TidyPlan) -> Self {
        let lines = |entries: &Vec<_>| entries.iter().map(PlacedLine::of).collect();
        Self {
            ok: true,
            applied: false,
            expired: plan
                .expired
                .iter()
                .map(|it| ExpiredLine {
                    entry: PlacedLine::of(&it.entry),
                    tier: tier(it.tier),
                    days: it.days,
                    to: it.to.clone(),
                })
                .collect(),
            archived: plan
                .archived
                .iter()
                .map(|(from, to)| Moved { from: from.clone(), to: to.clone() })
                .collect(),
            purged: plan.purged.clone(),
            same: plan.same.iter().map(lines).collect(),
            near: near_lines(&plan.near),
            contradictions: contradiction_lines(&plan.contradictions),
            promotions: plan
                .promotions
                .iter()
                .map(|it| PromotionLine {
                    entry: PlacedLine::of(&it.entry),
                    recalls: it.times,
                    doubtful: it.is_doubtful,
                })
                .collect(),
            promoted: 0,
            rows: None,
            not_compared: plan.not_compared,
            near_is_cut: plan.near_is_cut,
            unread: plan.unread.iter().map(UnreadLine::of).collect(),
            changes: Vec::new(),
        }
    }
}

pub(crate) fn near_lines(
    near: &[(anemone_memory::EntrySummary, anemone_memory::EntrySummary, f32)],
) -> Vec<NearLine> {
    let line = |(one, other, similarity): &(_, _, f32)| NearLine {
        similarity: (similarity * 1_000.0).round() / 1_000.0,
        entries: [PlacedLine::of(one), PlacedLine::of(other)],
    };
    near.iter().map(line).collect()
}

pub(crate) fn contradiction_lines(
    found: &[anemone_memory::Contradiction],
) -> Vec<ContradictionLine> {
    let line = |it: &anemone_memory::Contradiction| ContradictionLine {
        key: it.key.clone(),
        newer: PlacedLine::of(&it.newer),
        older: it.older.iter().map(PlacedLine::of).collect(),
    };
    found.iter().map(line).collect()
}

const fn tier(tier: Tier) -> &'static str {
    match tier {
        Tier::Contextual => "contextual",
        Tier::Potential => "potential",
        Tier::Structural => "structural",
    }
}

/// Says that a list goes on.
fn more(out: &mut dyn Write, all: usize) -> io::Result<()> {
    match all.saturating_sub(SHOWN) {
        0 => Ok(()),
        rest => writeln!(out, "  {DIM}and {rest} more: --json lists them all{DIM:#}"),
    }
}

impl Report for TidyReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for it in self.expired.iter().take(SHOWN) {
            let (place, text) = (it.entry.place(), &it.entry.text);
            writeln!(
                out,
                "{ODD}>{ODD:#} {place} {DIM}{}, {} days, to {}{DIM:#}  {text}",
                it.tier,
                it.days,
                safe(&it.to)
            )?;
        }
        more(out, self.expired.len())?;
        for it in self.archived.iter().take(SHOWN) {
            writeln!(out, "{ODD}>{ODD:#} {} to {}", safe(&it.from), safe(&it.to))?;
        }
        more(out, self.archived.len())?;
        for it in self.purged.iter().take(SHOWN) {
            writeln!(out, "{BAD}-{BAD:#} {}", safe(it))?;
        }
        more(out, self.purged.len())?;
        for group in self.same.iter().take(SHOWN) {
            let places: Vec<_> = group.iter().take(3).map(PlacedLine::place).collect();
            let text = group.first().map_or("", |it| it.text.as_str());
            writeln!(out, "{ODD}same:{ODD:#} {}  {text}", places.join(", "))?;
        }
        more(out, self.same.len())?;
        for it in self.near.iter().take(SHOWN) {
            let [one, other] = &it.entries;
            writeln!(out, "{ODD}near:{ODD:#} {}, {}  {}", one.place(), other.place(), one.text)?;
        }
        more(out, self.near.len())?;
        for it in self.contradictions.iter().take(SHOWN) {
            let older: Vec<_> = it.older.iter().take(3).map(PlacedLine::place).collect();
            let key = safe(&it.key);
            let newer = it.newer.place();
            writeln!(out, "{ODD}{key}:{ODD:#} {newer} says otherwise than {}", older.join(", "))?;
        }
        more(out, self.contradictions.len())?;
        for it in self.promotions.iter().take(SHOWN) {
            let doubt = if it.doubtful { " (look at it first)" } else { "" };
            let times = count(u64::from(it.recalls), "recall");
            writeln!(out, "{GOOD}^{GOOD:#} {} {times}{doubt}  {}", it.entry.id, it.entry.text)?;
        }
        more(out, self.promotions.len())?;
        for it in self.unread.iter().take(SHOWN) {
            writeln!(out, "{ODD}not read:{ODD:#} {}: {}", safe(&it.path), it.detail)?;
        }
        more(out, self.unread.len())?;
        if let Some(rows) = &self.rows {
            let number = count(rows.conversation, "row");
            writeln!(
                out,
                "{ODD}note:{ODD:#} {number} of conversations past their time; {}",
                rows.note
            )?;
        }
        if self.near_is_cut {
            writeln!(out, "{ODD}note:{ODD:#} more entries may be nearly the same than are listed")?;
        }
        if self.not_compared > 0 {
            let number = self.not_compared;
            writeln!(
                out,
                "{ODD}note:{ODD:#} {number} older entries were compared by their letters only"
            )?;
        }
        if self.promoted > 0 {
            writeln!(out, "{BOLD}promoted{BOLD:#} {}", count(self.promoted as u64, "entry"))?;
        }
        let planned = self.expired.len() + self.archived.len() + self.purged.len();
        match (self.applied, planned) {
            (_, 0) => writeln!(out, "Nothing to tidy: no entry has expired"),
            (true, _) => writeln!(out, "Done; `anemone undo` takes it back"),
            (false, _) => writeln!(out, "Nothing was changed; --apply does it"),
        }
    }
}
