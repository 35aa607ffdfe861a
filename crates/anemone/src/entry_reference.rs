//! How reports name an entry of a memory.

use anemone_memory::{Contradiction, EntrySummary, UnreadPage};
use serde::Serialize;

use crate::text::{safe, title};

/// An entry, and where it is.
#[derive(Clone, Debug, Serialize)]
pub struct EntryReference {
    /// The file that it is in.
    pub path: String,
    /// Its first line there.
    pub line: usize,
    /// Its id.
    pub id: String,
    /// Its day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// How it begins.
    pub text: String,
    /// Whether a stamp names it, so that it can be forgotten by its id.
    #[serde(skip)]
    pub is_stamped: bool,
}

impl EntryReference {
    pub(crate) fn of(entry: &EntrySummary) -> Self {
        Self {
            path: entry.path.clone(),
            line: entry.lines.0,
            id: entry.id.clone(),
            date: entry.day.map(|day| day.to_string()),
            text: title(&entry.text),
            is_stamped: entry.is_stamped,
        }
    }

    /// Returns where it is: `memory/2026-11-16.md:8`.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}:{}", safe(&self.path), self.line)
    }
}

/// A file that was not read.
#[derive(Clone, Debug, Serialize)]
pub struct UnreadFile {
    /// The file.
    pub path: String,
    /// A word for programs.
    pub reason: &'static str,
    /// A sentence for people.
    pub detail: String,
}

impl UnreadFile {
    pub(crate) fn of(unread: &UnreadPage) -> Self {
        Self {
            path: unread.path.clone(),
            reason: unread.why.code(),
            detail: unread.why.to_string(),
        }
    }
}

/// Two entries that say nearly the same.
#[derive(Clone, Debug, Serialize)]
pub struct SimilarEntries {
    /// How alike they are, from 0 to 1.
    pub similarity: f32,
    /// The entries.
    pub entries: [EntryReference; 2],
}

impl SimilarEntries {
    pub(crate) fn of((one, other, similarity): &(EntrySummary, EntrySummary, f32)) -> Self {
        Self {
            similarity: (similarity * 1_000.0).round() / 1_000.0,
            entries: [EntryReference::of(one), EntryReference::of(other)],
        }
    }
}

/// Entries of one key that say different things.
#[derive(Clone, Debug, Serialize)]
pub struct ContradictoryEntries {
    /// The key.
    pub key: String,
    /// The newest of them.
    pub newer: EntryReference,
    /// The others.
    pub older: Vec<EntryReference>,
}

impl ContradictoryEntries {
    pub(crate) fn of(found: &Contradiction) -> Self {
        Self {
            key: found.key.clone(),
            newer: EntryReference::of(&found.newer),
            older: found.older.iter().map(EntryReference::of).collect(),
        }
    }
}
