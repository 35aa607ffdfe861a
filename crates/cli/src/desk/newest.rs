//! A question without words: what was written last.

use anemone_mcp::{Found, FoundMemory, SearchQuestion};
use anemone_memory::{EntryToForget, ForgetTarget, plan_forget};

use super::{Inner, ServiceError};
use anemone::days::{DayEnd, time_of};
use anemone::host::Host;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Returns the newest entries of a time, the newest first.
pub(super) fn newest(
    question: &SearchQuestion,
    most: usize,
    inner: &Inner,
) -> Result<Found, ServiceError> {
    let host = inner.host();
    let since = time(host, "since", question.since.as_deref(), DayEnd::First)?;
    let until = time(host, "until", question.until.as_deref(), DayEnd::Last)?;
    let living = inner.living()?;
    let wanted = ForgetTarget::Written { since, until, zone: host.zone() };
    let plan = plan_forget(&*living.memory(), &wanted)?;
    let mut entries = plan.entries;
    // A row is read by the name that search has for it, and not by that of its database.
    let rows = plan.rows.into_iter();
    entries.extend(rows.map(|row| EntryToForget { path: row.document(), ..row.entry }));
    entries.sort_by(|a, b| b.written.cmp(&a.written));
    let notes = vec!["these are the newest: there were no words to look for".to_owned()];
    let results = entries.into_iter().take(most).map(|entry| found(entry, &host.zone())).collect();
    Ok(Found { results, mode: "newest".to_owned(), model: None, notes })
}

/// Reads a time, or a day as people say it.
fn time(
    host: &Host,
    field: &'static str,
    text: Option<&str>,
    end: DayEnd,
) -> Result<Option<Timestamp>, ServiceError> {
    let Some(text) = text else { return Ok(None) };
    let time = time_of(text, end, host.today(), host.zone());
    time.map(Some).ok_or_else(|| ServiceError::NoTime { field, text: text.to_owned() })
}

fn found(entry: EntryToForget, zone: &TimeZone) -> FoundMemory {
    let (first, last) = entry.lines.unwrap_or((1, 1));
    let line = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    FoundMemory {
        citation: if first == last {
            format!("{}#L{first}", entry.path)
        } else {
            format!("{}#L{first}-L{last}", entry.path)
        },
        path: entry.path,
        start_line: line(first),
        end_line: line(last),
        snippet: entry.text,
        source: "memory".to_owned(),
        date: entry.written.as_deref().and_then(|written| day_of(written, zone)),
        id: Some(entry.id),
        key: entry.key,
        ..FoundMemory::default()
    }
}

/// Returns the day of a time where the user is; the day of a log is one already.
fn day_of(written: &str, zone: &TimeZone) -> Option<String> {
    match written.parse::<jiff::Timestamp>() {
        Ok(time) => Some(time.to_zoned(zone.clone()).date().to_string()),
        Err(_) => written.get(..10).map(str::to_owned),
    }
}
