//! A question without words: what was written last.

use anemone_mcp::{Found, FoundMemory, SearchQuestion};
use anemone_memory::{Clock as _, EntryToForget, ForgetTarget, plan_forget};

use super::Inner;
use crate::commands::Context;
use crate::commands::forget::moment;
use crate::error::CliError;
use anemone::system::SystemClock;

/// Returns the newest entries of a time, the newest first.
pub(super) fn newest(
    question: &SearchQuestion,
    most: usize,
    inner: &Inner,
    context: &Context<'_>,
) -> Result<Found, CliError> {
    let since = question.since.as_deref().map(|text| moment("since", text, false)).transpose()?;
    let until = question.until.as_deref().map(|text| moment("until", text, true)).transpose()?;
    let living = inner.living(context)?;
    let wanted = ForgetTarget::Written { since, until, zone: context.host.zone() };
    let plan = plan_forget(&*living.memory(), &wanted)?;
    let mut entries = plan.entries;
    // A row is read by the name that search has for it, and not by that of its database.
    let rows = plan.rows.into_iter();
    entries.extend(rows.map(|row| EntryToForget { path: row.document(), ..row.entry }));
    entries.sort_by(|a, b| b.written.cmp(&a.written));
    let notes = vec!["these are the newest: there were no words to look for".to_owned()];
    let results = entries.into_iter().take(most).map(found).collect();
    Ok(Found { results, mode: "newest".to_owned(), model: None, notes })
}

fn found(entry: EntryToForget) -> FoundMemory {
    let (first, last) = entry.lines.unwrap_or((1, 1));
    let line = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    FoundMemory {
        citation: match first == last {
            true => format!("{}#L{first}", entry.path),
            false => format!("{}#L{first}-L{last}", entry.path),
        },
        path: entry.path,
        start_line: line(first),
        end_line: line(last),
        snippet: entry.text,
        source: "memory".to_owned(),
        date: entry.written.as_deref().and_then(day_of),
        id: Some(entry.id),
        key: entry.key,
        ..FoundMemory::default()
    }
}

/// Returns the day of a time where the user is; the day of a log is one already.
fn day_of(written: &str) -> Option<String> {
    match written.parse::<jiff::Timestamp>() {
        Ok(time) => Some(time.to_zoned(SystemClock.zone()).date().to_string()),
        Err(_) => written.get(..10).map(str::to_owned),
    }
}
