//! Which entry a find is: its id, its key, what it is called.

use std::collections::HashMap;

use anemone_mcp::FoundMemory;
use anemone_memory::{Label, ParsedEntry, ROWS, key_of_row_document, units};
use anemone_runtimes::{Runtime, by_name};

use anemone::search::target::SearchTarget;

/// The kind of source of an agent's files.
const MEMORY: &str = "memory";

/// Says of each find by what it can be replaced and forgotten. What cannot be read any more, or
/// lies in no file of its own, is left as it was found.
pub(super) fn name(found: &mut [FoundMemory], searched: &SearchTarget) {
    let mut read: HashMap<String, Vec<ParsedEntry>> = HashMap::new();
    let has_rows = by_name(searched.kind).is_some_and(Runtime::keeps_rows);
    for memory in found {
        if has_rows && memory.path.starts_with(ROWS) {
            memory.key = key_of_row_document(&memory.path);
            continue;
        }
        // The files of an agent come first; what follows is read as a whole.
        let Some(files) = searched.sources.first().filter(|_| memory.source == MEMORY) else {
            continue;
        };
        let units = read.entry(memory.path.clone()).or_insert_with(|| {
            let document = files.read(&memory.path).ok().flatten();
            document.map(|document| units(&document.text)).unwrap_or_default()
        });
        let (first, last) = (memory.start_line as usize, memory.end_line as usize);
        let shown = |entry: &&ParsedEntry| entry.lines.0 <= last && entry.lines.1 >= first;
        let mut shown = units.iter().filter(shown);
        // Of several entries none is the one.
        let (Some(unit), None) = (shown.next(), shown.next()) else { continue };
        memory.id = unit.stamp.as_ref().map(|stamp| stamp.id.to_string());
        memory.key.clone_from(&unit.key);
        if let Some(Label { name, importance }) = &unit.label {
            memory.category = Some(name.clone());
            memory.importance = Some(importance.get());
        }
    }
}
