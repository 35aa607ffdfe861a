//! `anemone audit`

use std::io::{self, Write};

use anemone::audit::{AuditReport, AuditRequest, audit};
use anemone::statement::Statement;
use anemone_format::StampTable;
use anemone_memory::{AgeCounts, KindCounts};
use anemone_messages::{UserError, fix, memory_words};
use clap::Args;

use super::Context;
use crate::args::MemoryArgs;
use crate::output::{
    BAD, BOLD, DIM, GOOD, ODD, Report, Result, bytes, count, safe, write_limits, write_notes,
};

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

pub(crate) fn run(args: &AuditArgs, context: &Context<'_>) -> Result<()> {
    let memory = args.memory.choice();
    // Run from elsewhere, a command must still mean this memory.
    let words = memory_words(&memory);
    let mut report = audit(&AuditRequest { memory }, &context.host)?;
    for finding in &mut report.findings {
        if let Some(typed) = finding.fix.typed() {
            finding.fix = Statement::Worded(fix(typed, &words));
        }
    }
    let Some(least) = args.min_score.filter(|least| report.score < *least) else {
        return context.printer.print(&report);
    };
    if !context.printer.is_json() {
        context.printer.print(&report)?;
    }
    let message = format!("the score of {} is below {least}", report.score);
    Err(UserError::failure("score_too_low", message).with_details(&report))
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
            let number = rest.iter().take_while(|rest| rest.kind == first.kind).count();
            let (group, after) = rest.split_at(number);
            rest = after;
            writeln!(out, "{BOLD}{}{BOLD:#} {number}", first.kind)?;
            for it in group.iter().take(SHOWN) {
                let line = it.line.map_or_else(String::new, |line| format!(":{line}"));
                let fix = it.fix.words().map(|fix| safe(fix)).unwrap_or_default();
                let (path, detail) = (safe(&it.path), safe(&it.detail));
                writeln!(out, "  {path}{line}  {detail}  {DIM}[{fix}]{DIM:#}")?;
            }
            if number > SHOWN {
                writeln!(out, "  {DIM}and {} more: --json lists them all{DIM:#}", number - SHOWN)?;
            }
        }
        write_notes(&self.notes, out)?;
        if self.unknown_stamps > 0 {
            writeln!(
                out,
                "{ODD}note:{ODD:#} entries with a stamp that {} does not have: {}; who wrote them is \
                 unknown",
                StampTable::PATH,
                self.unknown_stamps
            )?;
        }
        write_limits(self.near_is_cut, self.not_compared, out)?;
        Ok(())
    }
}
