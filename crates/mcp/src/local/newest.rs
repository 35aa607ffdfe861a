//! Answers a question without words with the newest entries.

use anemone::days::DayEnd;
use anemone_memory::{EntryToForget, ForgetTarget, citation_of, plan_forget};
use anemone_messages::given_time;
use jiff::tz::TimeZone;

use super::ServiceState;
use super::results::number;
use crate::service::{Result, SearchArguments, SearchResult, SearchResults};

/// Returns the newest entries of a time, the newest first.
pub(super) fn newest(
    arguments: &SearchArguments,
    most: usize,
    inner: &ServiceState,
) -> Result<SearchResults> {
    let host = &inner.options.host;
    let since = given_time("since", arguments.since.as_deref(), DayEnd::First, host)?;
    let until = given_time("until", arguments.until.as_deref(), DayEnd::Last, host)?;
    let memory = inner.agent_memory()?;
    let wanted = ForgetTarget::Written { since, until, zone: host.zone() };
    let plan = plan_forget(&*memory.memory(), &wanted)?;
    let mut entries = plan.entries;
    // A row is read by the name that search has for it, and not by that of its database.
    let rows = plan.rows.into_iter();
    entries.extend(rows.map(|row| EntryToForget { path: row.document(), ..row.entry }));
    entries.sort_by(|a, b| b.written.cmp(&a.written));
    let notes = vec!["these are the newest: there were no words to look for".to_owned()];
    let results = entries.into_iter().take(most).map(|entry| found(entry, &host.zone())).collect();
    Ok(SearchResults { results, mode: "newest".to_owned(), model: None, notes })
}

fn found(entry: EntryToForget, zone: &TimeZone) -> SearchResult {
    let (first, last) = entry.lines.unwrap_or((1, 1));
    SearchResult {
        citation: Some(citation_of(&entry.path, (first, last))),
        path: entry.path,
        start_line: number(first),
        end_line: number(last),
        snippet: entry.text,
        source: "memory".to_owned(),
        date: entry.written.as_deref().and_then(|written| day_of(written, zone)),
        id: Some(entry.id),
        key: entry.key,
        ..SearchResult::default()
    }
}

/// Returns the day of a time where the user is; the day of a log is one already.
fn day_of(written: &str, zone: &TimeZone) -> Option<String> {
    match written.parse::<jiff::Timestamp>() {
        Ok(time) => Some(time.to_zoned(zone.clone()).date().to_string()),
        Err(_) => written.get(..10).map(str::to_owned),
    }
}
