//! Names the entry that a search result is: its id, its key, its label.

use std::collections::HashMap;

use anemone::search::target::SearchTarget;
use anemone_memory::{Label, Memory, ParsedEntry, ROWS, key_of_row_document, units};
use anemone_runtimes::{Runtime, by_name};

use crate::service::SearchResult;

/// The kind of source of an agent's files.
const MEMORY: &str = "memory";

/// Adds to each result the id and the key by which it can be replaced and forgotten. Results
/// whose file cannot be read any more, or that have no file of their own, stay as they are.
pub(super) fn name(
    results: &mut [SearchResult],
    target: &SearchTarget,
    agent: Option<&dyn Memory>,
) {
    let mut read: HashMap<String, Vec<ParsedEntry>> = HashMap::new();
    let has_rows = by_name(target.kind).is_some_and(Runtime::keeps_rows);
    for memory in results {
        if has_rows && memory.path.starts_with(ROWS) {
            memory.key = key_of_row_document(&memory.path);
            let rows = agent.and_then(Memory::rows);
            let category = memory.key.as_deref().zip(rows).and_then(|(key, rows)| {
                // Where the row cannot be read again, its namespace says enough.
                rows.category_of(key).ok().flatten()
            });
            if let Some(category) = category {
                memory.shelf = Some(category.as_str().to_owned());
            }
            continue;
        }
        // The files of an agent come first; other sources are read completely.
        let Some(files) = target.sources.first().filter(|_| memory.source == MEMORY) else {
            continue;
        };
        let units = read.entry(memory.path.clone()).or_insert_with(|| {
            let document = files.read(&memory.path).ok().flatten();
            document.map(|document| units(&document.text)).unwrap_or_default()
        });
        let (first, last) = (memory.start_line as usize, memory.end_line as usize);
        let shown = |entry: &&ParsedEntry| entry.lines.0 <= last && entry.lines.1 >= first;
        let mut shown = units.iter().filter(shown);
        // With several entries, the choice is ambiguous.
        let (Some(unit), None) = (shown.next(), shown.next()) else { continue };
        memory.id = unit.stamp.as_ref().map(|stamp| stamp.id.to_string());
        memory.key.clone_from(&unit.key);
        if let Some(Label { name, importance }) = &unit.label {
            memory.category = Some(name.clone());
            memory.shelf = Some(name.clone());
            memory.importance = Some(importance.get());
        }
    }
}
