//! Memories that a part of a runtime keeps beside the workspace: they are read, and never written.

use std::str::FromStr as _;

use anemone_memory::{ListedEntry, lines_of_row};
use anemone_runtimes::{Machine, SearchableRecord, StoreKind};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::agent_memory::AgentMemory;

/// The memories of the stores of an agent.
#[derive(Debug, Default)]
pub(crate) struct StoreEntries {
    /// The memories that are in force.
    pub(crate) entries: Vec<ListedEntry>,
    /// Stores that cannot be read, or not to their end.
    pub(crate) unreadable: Vec<String>,
}

impl StoreEntries {
    /// Reads the stores of an agent. Days of times are those of `zone`.
    pub(crate) fn of(memory: &AgentMemory, machine: &Machine, zone: &TimeZone) -> Self {
        let AgentMemory { runtime, agent, .. } = memory;
        let mut found = Self::default();
        for store in runtime.searchable(machine, agent).stores {
            if store.kind != StoreKind::Memories {
                continue;
            }
            let mut take = |record: SearchableRecord| {
                if !record.is_withdrawn && !record.is_private {
                    found.entries.push(entry(record, zone));
                }
            };
            let read = runtime.read_store(machine, agent, store.kind, false, &mut take);
            if !read.is_ok_and(|left| left.unreadable == 0) {
                found.unreadable.push(store.name);
            }
        }
        found
    }
}

fn entry(record: SearchableRecord, zone: &TimeZone) -> ListedEntry {
    let written = record.created_at.as_deref().and_then(|at| Timestamp::from_str(at).ok());
    ListedEntry {
        lines: lines_of_row(&record.content),
        key: None,
        day: written.map(|written| written.to_zoned(zone.clone()).date()),
        kind: record.category.unwrap_or(record.namespace),
        origin: record.origin.map(str::to_owned),
        importance: record.confidence,
        text: record.content,
        written,
        id: record.id,
        path: record.path,
    }
}
