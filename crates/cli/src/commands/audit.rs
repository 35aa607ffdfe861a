//! `anemone audit`

use std::io::{self, Write};

use anemone_format::{StampId, StampTable};
use anemone_memory::{
    AgeCounts, Audit, Clock as _, KindCounts, Oversized, SecretFinding, StaleReason, audit,
};
use anemone_runtimes::MemoryBackend;
use clap::Args;
use serde::Serialize;

use super::Context;
use super::tidy::{ContradictionLine, NearLine, contradiction_lines, near_lines};
use crate::args::MemoryArgs;
use crate::config::Config;
use crate::error::{CliError, Kind};

use crate::output::{BAD, BOLD, DIM, GOOD, ODD, Report, bytes, count, safe};
use crate::placed::{PlacedLine, UnreadLine};

/// Lists are this long for people; programs get all.
const SHOWN: usize = 2;

/// Check the health of a memory
///
/// Reads a memory, your own or somebody else's, and changes nothing: how much there is and how old
/// it is; what is said twice, is stale or contradicts itself; files that a runtime will cut, and
/// where; secrets, in every file of the workspace; text that looks like an instruction to the
/// agent; and what cannot be read. For each finding it says what would fix it.
///
/// The score begins at 100. A secret and a poisoned-looking text cost 10 each (at most 40 and 30),
/// a file that will be cut 5 (15), something unreadable 3 (15), a contradiction 2 (10); what is
/// said twice and what is stale cost 40 times their share of all entries (10 each).
#[derive(Args, Debug)]
pub(crate) struct AuditArgs {
    /// Exit with code 1 when the score is below this
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=100))]
    min_score: Option<u8>,

    #[command(flatten)]
    memory: MemoryArgs,
}

#[derive(Serialize)]
pub(crate) struct AuditReport {
    ok: bool,
    score: u8,
    files: usize,
    bytes: u64,
    entries: usize,
    kinds: KindCounts,
    ages: AgeCounts,
    findings: Vec<Finding>,
    near: Vec<NearLine>,
    contradictions: Vec<ContradictionLine>,
    unread: Vec<UnreadLine>,
    /// Entries with a stamp of which nothing is known.
    unknown_stamps: usize,
    /// Entries that were compared by their letters only.
    not_compared: usize,
    /// Whether there may be more in `near`.
    near_is_cut: bool,
    notes: Vec<String>,
}

/// Something that could be better, and what would make it so.
#[derive(Serialize)]
struct Finding {
    kind: &'static str,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    detail: String,
    fix: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cuts: Vec<CutLine>,
}

/// Where a generation cuts a file.
#[derive(Serialize)]
struct CutLine {
    generation: &'static str,
    limit: usize,
    from_char: usize,
    from_line: usize,
    until_char: usize,
    until_line: usize,
}

pub(crate) fn run(args: &AuditArgs, context: &Context<'_>) -> Result<(), CliError> {
    let machine = context.host.machine()?;
    let living = args.memory.choice().find(&machine, &context.host)?;
    let clock = &context.host.clock;
    let today = clock.now().to_zoned(clock.zone()).date();
    let settings = Config::read(&context.host)?.audit;
    let mut audited = audit(&living.site, &settings, today);
    // The same secrets that `check` reports and an export stops at, whatever file they are in.
    let beside = living.adapter.check(&machine, &living.agent).secrets.into_iter();
    audited.add_secrets(beside.map(|it| SecretFinding {
        path: it.path,
        line: it.line,
        kind: it.kind,
    }));
    let mut report = AuditReport::of(&audited);
    report.notes.extend(elsewhere(&living.keeps));
    // Run from elsewhere, a command must still mean this memory.
    let words = living.words();
    for it in &mut report.findings {
        if ["anemone forget ", "anemone tidy "].iter().any(|start| it.fix.starts_with(start)) {
            it.fix.push_str(&words);
        }
    }
    let Some(least) = args.min_score.filter(|least| report.score < *least) else {
        return context.printer.print(&report);
    };
    if !context.printer.is_json() {
        context.printer.print(&report)?;
    }
    let message = format!("the score of {} is below {least}", report.score);
    Err(CliError::new(Kind::Failed, "score_too_low", message).with_details(&report))
}

/// Says what was not examined, where the memory is not in files.
fn elsewhere(keeps: &MemoryBackend) -> Option<String> {
    let place = match keeps {
        MemoryBackend::Markdown => return None,
        MemoryBackend::None => return Some("this agent is told to remember nothing".to_owned()),
        MemoryBackend::Sqlite(database) => {
            let place = database.display();
            return Some(format!(
                "this agent remembers in {place}: its rows were not examined, only its files"
            ));
        }
        MemoryBackend::External(name) => name.clone(),
    };
    Some(format!("this agent remembers in {place}; only its files were examined"))
}

impl AuditReport {
    fn of(audit: &Audit) -> Self {
        Self {
            ok: true,
            score: audit.score(),
            files: audit.files,
            bytes: audit.bytes,
            entries: audit.kinds.all(),
            kinds: audit.kinds,
            ages: audit.ages,
            findings: findings(audit),
            near: near_lines(&audit.near),
            contradictions: contradiction_lines(&audit.contradictions),
            unread: audit.unread.iter().map(UnreadLine::of).collect(),
            unknown_stamps: audit.unknown_stamps,
            not_compared: audit.not_compared,
            near_is_cut: audit.near_is_cut,
            notes: Vec::new(),
        }
    }
}

/// Lists everything that was found, the worst first.
fn findings(audit: &Audit) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut add = |kind, path: &str, line, detail, fix| {
        found.push(Finding { kind, path: path.to_owned(), line, detail, fix, cuts: Vec::new() });
    };
    for it in &audit.secrets {
        // One in a name or a link has no line.
        let line = usize::try_from(it.line).ok().filter(|line| *line > 0);
        let fix = match line {
            Some(line) => format!("edit {}:{line}, and change the secret", it.path),
            None => format!("rename {}, and change the secret", it.path),
        };
        add("secret", &it.path, line, it.kind.to_owned(), fix);
    }
    for it in &audit.suspicious {
        let detail = format!("{}: {}", it.kind.as_str(), it.excerpt);
        let fix = match it.id.parse::<StampId>() {
            Ok(id) => format!("anemone forget --id {id}"),
            Err(_) => format!("edit {}:{}", it.path, it.lines.0),
        };
        add("suspicious", &it.path, Some(it.lines.0), detail, fix);
    }
    for it in &audit.unread {
        let fix = "put a plain UTF-8 file in its place".to_owned();
        add("unreadable", &it.path, None, it.why.to_string(), fix);
    }
    for it in &audit.contradictions {
        let newer = PlacedLine::of(&it.newer);
        let older: Vec<_> = it.older.iter().map(PlacedLine::of).collect();
        let detail = format!("`{}` is said {} different ways", it.key, older.len() + 1);
        let fix = older.first().map_or_else(String::new, PlacedLine::fix);
        add("contradiction", &newer.path, Some(newer.line), detail, fix);
    }
    for group in &audit.same {
        for entry in group.iter().skip(1).map(PlacedLine::of) {
            let detail = format!("said before: {}", entry.text);
            add("duplicate", &entry.path, Some(entry.line), detail, entry.fix());
        }
    }
    for (one, other, _) in &audit.near {
        let (one, other) = (PlacedLine::of(one), PlacedLine::of(other));
        let detail = format!("nearly as in {}: {}", one.place(), other.text);
        add("near_duplicate", &other.path, Some(other.line), detail, other.fix());
    }
    for it in &audit.stale {
        let entry = PlacedLine::of(&it.entry);
        let detail = format!("{}: {}", it.why.code(), entry.text);
        let fix = match it.why {
            // It is moved to the archive, not deleted.
            StaleReason::PastContext => "anemone tidy --apply".to_owned(),
            StaleReason::Superseded => entry.fix(),
            // That it is old does not make it wrong.
            StaleReason::OpenTask | StaleReason::PastSoon => {
                format!("check whether it still holds: {}", entry.place())
            }
        };
        add("stale", &entry.path, Some(entry.line), detail, fix);
    }
    let cut = audit.oversized.iter().map(cut_finding);
    let mut all: Vec<_> = cut.chain(found).collect();
    all.sort_by_key(|it| rank(it.kind));
    all
}

fn rank(kind: &str) -> usize {
    let order = ["secret", "suspicious", "oversized", "unreadable", "contradiction", "duplicate"];
    order.iter().position(|it| *it == kind).unwrap_or(order.len())
}

fn cut_finding(it: &Oversized) -> Finding {
    let limits: Vec<_> =
        it.cuts.iter().map(|cut| format!("{} {}", cut.generation.as_str(), cut.limit)).collect();
    let cuts: Vec<_> = it
        .cuts
        .iter()
        .map(|cut| CutLine {
            generation: cut.generation.as_str(),
            limit: cut.limit,
            from_char: cut.from.0,
            from_line: cut.from.1,
            until_char: cut.until.0,
            until_line: cut.until.1,
        })
        .collect();
    let line = cuts.first().map(|it| it.from_line);
    let until = cuts.first().map_or(0, |it| it.until_line);
    let detail = format!(
        "{} characters, limits: {}; unseen from line {} to {until}",
        it.chars,
        limits.join(", "),
        line.unwrap_or(1)
    );
    let fix = "anemone context --explain shows what is left; shorten the file".to_owned();
    Finding { kind: "oversized", path: it.path.clone(), line, detail, fix, cuts }
}

impl Report for AuditReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let style = match self.score {
            90.. => GOOD,
            60.. => ODD,
            _ => BAD,
        };
        let (files, size) = (count(self.files as u64, "file"), bytes(self.bytes));
        let entries = count(self.entries as u64, "entry");
        writeln!(out, "{style}{}{style:#} of 100  {entries} in {files}, {size}", self.score)?;
        let KindCounts { curated, daily, session, note, archived } = self.kinds;
        writeln!(
            out,
            "{DIM}kinds:{DIM:#} {curated} curated, {daily} daily, {session} session, {note} note, \
             {archived} archived"
        )?;
        let AgeCounts { days_7, days_30, days_90, older, undated } = self.ages;
        writeln!(
            out,
            "{DIM}ages:{DIM:#}  {days_7} up to 7 days, {days_30} to 30, {days_90} to 90, {older} \
             older, {undated} undated"
        )?;
        let mut rest = self.findings.as_slice();
        while let Some(first) = rest.first() {
            let number = rest.iter().take_while(|it| it.kind == first.kind).count();
            let (group, after) = rest.split_at(number);
            rest = after;
            writeln!(out, "{BOLD}{}{BOLD:#} {number}", first.kind)?;
            for it in group.iter().take(SHOWN) {
                let line = it.line.map_or_else(String::new, |it| format!(":{it}"));
                let (path, detail, fix) = (safe(&it.path), safe(&it.detail), safe(&it.fix));
                writeln!(out, "  {path}{line}  {detail}  {DIM}[{fix}]{DIM:#}")?;
            }
            if number > SHOWN {
                writeln!(out, "  {DIM}and {} more: --json lists them all{DIM:#}", number - SHOWN)?;
            }
        }
        for note in &self.notes {
            writeln!(out, "{ODD}note:{ODD:#} {}", safe(note))?;
        }
        if self.unknown_stamps > 0 {
            writeln!(
                out,
                "{ODD}note:{ODD:#} entries with a stamp that {} does not have: {}; who wrote them is \
                 unknown",
                StampTable::PATH,
                self.unknown_stamps
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
        Ok(())
    }
}
