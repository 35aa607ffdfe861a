//! Answers a question without words with the newest entries.

use anemone::days::DayEnd;
use anemone_memory::{
    ListFilter, ListedEntry, MarkdownMemory, Memory, MemoryError, citation_of, list_entries,
};
use anemone_messages::given_time;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::ServiceState;
use super::results::number;
use crate::service::{NEWEST, Result, SearchArguments, SearchResult, SearchResults};

/// Returns the newest entries of a time, the newest first. Those that others replaced are left out.
pub(super) fn newest(
    arguments: &SearchArguments,
    most: usize,
    inner: &ServiceState,
) -> Result<SearchResults> {
    let host = &inner.options.host;
    let since = given_time("since", arguments.since.as_deref(), DayEnd::First, host)?;
    let until = given_time("until", arguments.until.as_deref(), DayEnd::Last, host)?;
    let memory = inner.agent_memory()?;
    let backend = memory.memory();
    let zone = host.zone();
    let list = |memory: &dyn Memory| -> Result<Vec<ListedEntry>, MemoryError> {
        Ok(list_entries(memory, &ListFilter::default(), &zone)?.entries)
    };
    let files = list(&MarkdownMemory::new(backend.store().clone()))?;
    let rows = if backend.rows().is_some() { list(&*backend)? } else { Vec::new() };
    let is_meant = |entry: &ListedEntry| {
        let (first, last) = span_of(entry, &zone);
        since.is_none_or(|since| last.is_some_and(|last| last >= since))
            && until.is_none_or(|until| first.is_some_and(|first| first <= until))
    };
    let mut entries = merged(files, rows, &zone);
    entries.retain(is_meant);
    let (total, skipped) = (entries.len(), arguments.offset.unwrap_or_default() as usize);
    let results: Vec<_> = entries.into_iter().skip(skipped).take(most).map(found).collect();
    let mut notes = vec!["these are the newest: there were no words to look for".to_owned()];
    let rest = total.saturating_sub(skipped.saturating_add(results.len()));
    if rest > 0 {
        let next = skipped + results.len();
        notes.push(format!("{rest} older ones follow: offset {next} shows them"));
    }
    Ok(SearchResults { results, mode: NEWEST.to_owned(), model: None, notes })
}

/// Merges the entries of files with those of rows, both the newest first. Rows stay in the order in
/// which they were last written.
fn merged(files: Vec<ListedEntry>, rows: Vec<ListedEntry>, zone: &TimeZone) -> Vec<ListedEntry> {
    let mut all = Vec::with_capacity(files.len() + rows.len());
    let mut files = files.into_iter().peekable();
    for row in rows {
        let at = span_of(&row, zone).0;
        while let Some(file) = files.next_if(|file| span_of(file, zone).0 > at) {
            all.push(file);
        }
        all.push(row);
    }
    all.extend(files);
    all
}

/// Returns the first and the last moment that an entry may be of.
fn span_of(entry: &ListedEntry, zone: &TimeZone) -> (Option<Timestamp>, Option<Timestamp>) {
    if let Some(written) = entry.written {
        return (Some(written), Some(written));
    }
    let start = |day: Date| day.to_zoned(zone.clone()).ok().map(|start| start.timestamp());
    let last = entry.day.and_then(|day| start(day.tomorrow().ok()?));
    (entry.day.and_then(start), last.map(|next| next - jiff::SignedDuration::from_nanos(1)))
}

fn found(entry: ListedEntry) -> SearchResult {
    SearchResult {
        citation: Some(citation_of(&entry.path, entry.lines)),
        path: entry.path,
        start_line: number(entry.lines.0),
        end_line: number(entry.lines.1),
        snippet: entry.text,
        source: "memory".to_owned(),
        date: entry.day.map(|day| day.to_string()),
        id: Some(entry.id),
        key: entry.key,
        shelf: Some(entry.kind),
        ..SearchResult::default()
    }
}
