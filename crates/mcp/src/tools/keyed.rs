//! Tools that store texts under keys. Agents that know them read the text alone, so it is word for
//! word what they know, but for the frame around what was recalled, and there is no output schema.

use anemone_memory::{Frame, name_from_shown, one_line, units};
use anemone_runtimes::NativeTools;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Effect, Tool, forget_one};
use crate::answer::Answer;
use crate::quote::{examined, name_line};
use crate::service::{
    ForgetArguments, MemoryService, NEWEST, RememberArguments, Result, SearchArguments,
    SearchResult,
};

/// What is read in every session.
const CORE: &str = "core";

/// What is of one day.
const DAILY: &str = "daily";

pub(super) fn tools(native: &NativeTools) -> Vec<Tool> {
    vec![
        Tool::new(native.store, Effect::Replaces, store),
        Tool::new(native.recall, Effect::Reads, recall),
        Tool::new(native.forget, Effect::Removes, forget),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Store {
    /// A short name for it, such as user_language.
    key: String,
    /// What to remember.
    content: String,
    /// core (the default), daily, conversation, or another word.
    category: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Recall {
    /// Words to look for; `*`, or none, lists the newest.
    query: Option<String>,
    /// How many memories at most; 5 when left out.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u32>,
    /// Only what is of this time or later, as 2026-03-01 or 2026-03-01T08:00:00Z.
    since: Option<String>,
    /// Only what is of this time or earlier.
    until: Option<String>,
    /// How to search; the memory decides for itself.
    #[serde(rename = "search_mode")]
    _search_mode: Option<SearchMode>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SearchMode {
    Bm25,
    Embedding,
    Hybrid,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Forget {
    /// The key of the memory.
    key: String,
}

fn store(service: &dyn MemoryService, asked: Store) -> Result<Answer> {
    let category = asked.category.filter(|category| !category.trim().is_empty());
    service.remember(&RememberArguments {
        text: asked.content,
        key: Some(asked.key.clone()),
        category: Some(category.unwrap_or_else(|| CORE.to_owned())),
        // A memory under a key is stored even if another one says the same.
        force: true,
        ..RememberArguments::default()
    })?;
    Ok(Answer::words(format!("Stored memory: {}", name_line(&asked.key))))
}

fn recall(service: &dyn MemoryService, asked: Recall) -> Result<Answer> {
    let found = examined(service.search(&SearchArguments {
        // Without words, the newest are listed.
        query: asked.query.unwrap_or_default(),
        max_results: Some(asked.limit.unwrap_or(5)),
        since: asked.since.as_deref().map(day_of),
        until: asked.until.as_deref().map(day_of),
        ..SearchArguments::cited()
    })?);
    if found.results.is_empty() {
        return Ok(Answer::words("No memories found."));
    }
    let mut frame = Frame::new(&service.delimiter()?);
    let is_ranked = found.mode != NEWEST;
    found.results.iter().for_each(|memory| frame.line(&line_of(memory, is_ranked)));
    Ok(Answer::words(format!("Found {} memories:\n{}", found.results.len(), frame.finish())))
}

/// Returns the day of a point in time.
fn day_of(time: &str) -> String {
    time.split_once('T').map_or(time, |(day, _)| day).to_owned()
}

/// Returns a memory in one line. What was only listed has no score.
fn line_of(memory: &SearchResult, is_ranked: bool) -> String {
    let category = one_line(category_of(memory));
    let names = [&memory.key, &memory.id, &memory.citation];
    let key = names.into_iter().flatten().next().map_or("", String::as_str);
    let percent = (memory.score.clamp(0.0, 1.0) * 100.0).round();
    let percent = if is_ranked { format!(" [{percent}%]") } else { String::new() };
    let suspicion = memory.suspicion_reason.as_deref();
    let suspicion = suspicion.map(|reason| format!(" [suspicious: {reason}]")).unwrap_or_default();
    format!("[{category}] {key}: {}{percent}{suspicion}", content_of(memory))
}

/// Returns what a memory says. An entry of a file is shown with its key, which the line has already.
fn content_of(memory: &SearchResult) -> String {
    match &units(&memory.snippet)[..] {
        [entry] if entry.key.is_some() && entry.key == memory.key => entry.content.clone(),
        _ => memory.snippet.clone(),
    }
}

/// Returns the category of a memory, as agents with such tools know it: a curated file is what is
/// read in every session.
fn category_of(memory: &SearchResult) -> &str {
    match memory.shelf.as_deref() {
        None => DAILY,
        Some("curated") => CORE,
        Some(shelf) => shelf,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of every tool")]
fn forget(service: &dyn MemoryService, asked: Forget) -> Result<Answer> {
    let key = name_from_shown(&asked.key);
    let by_key = ForgetArguments { key: Some(key.clone()), ..ForgetArguments::default() };
    let key = name_line(&key);
    Ok(Answer::words(match forget_one(service, &by_key)? {
        Some(_) => format!("Forgot memory: {key}"),
        None => format!("No memory found with key: {key}"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_a_file_has_its_key_once() {
        let entry = |key: &str, snippet: &str| SearchResult {
            key: Some(key.to_owned()),
            snippet: snippet.to_owned(),
            shelf: Some("curated".to_owned()),
            ..SearchResult::default()
        };
        for snippet in ["- **k2**: A note about rye bread", "A note about rye bread"] {
            let line = line_of(&entry("k2", snippet), false);
            assert_eq!(line, "[core] k2: A note about rye bread");
        }
        let other = line_of(&entry("k1", "- **k2**: A note"), false);
        assert_eq!(other, "[core] k1: - **k2**: A note");
    }
}
