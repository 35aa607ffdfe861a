//! Which entry a find is: its id, its key, what it is called.

use std::collections::HashMap;

use anemone_mcp::FoundMemory;
use anemone_memory::{Label, ParsedEntry, units};

use anemone::search::target::SearchTarget;
use anemone_runtimes::{Runtime, by_name};

/// What the paths of rows begin with.
const ROWS: &str = "memories/";
/// The kind of source of an agent's files.
const MEMORY: &str = "memory";

/// Says of each find by what it can be replaced and forgotten. What cannot be read any more, or
/// lies in no file of its own, is left as it was found.
pub(super) fn name(found: &mut [FoundMemory], searched: &SearchTarget) {
    let mut read: HashMap<String, Vec<ParsedEntry>> = HashMap::new();
    let has_rows = by_name(searched.kind).is_some_and(Runtime::keeps_rows);
    for memory in found {
        if let Some(name) = memory.path.strip_prefix(ROWS).filter(|_| has_rows) {
            memory.key = decoded(name);
            continue;
        }
        // The files of an agent come first; what follows is read as a whole.
        let Some(files) = searched.sources.first().filter(|_| memory.source == MEMORY) else {
            continue;
        };
        let units = read.entry(memory.path.clone()).or_insert_with(|| {
            let document = files.read(&memory.path).ok().flatten();
            document.map(|it| units(&it.text)).unwrap_or_default()
        });
        let (first, last) = (memory.start_line as usize, memory.end_line as usize);
        let shown = |it: &&ParsedEntry| it.lines.0 <= last && it.lines.1 >= first;
        let mut shown = units.iter().filter(shown);
        // Of several entries none is the one.
        let (Some(unit), None) = (shown.next(), shown.next()) else { continue };
        memory.id = unit.stamp.as_ref().map(|it| it.id.to_string());
        memory.key.clone_from(&unit.key);
        if let Some(Label { name, importance }) = &unit.label {
            memory.category = Some(name.clone());
            memory.importance = Some(importance.get());
        }
    }
}

/// Returns the key of a row by the end of its path, in which some signs stand as `%2F`.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        match hex.filter(|_| first == b'%').and_then(|it| u8::from_str_radix(it, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_from_paths() {
        for key in ["tea", "a/b\\c", "100%", "%2F", "\u{8336}", "..", "a\nb"] {
            let path = anemone_memory::row_document(key);
            let name = path.strip_prefix(ROWS).expect("rows lie there");
            assert_eq!(decoded(name).as_deref(), Some(key));
        }
        assert_eq!(decoded("%FF"), None);
        assert_eq!(decoded("%4"), Some("%4".to_owned()));
    }
}
