//! An entry of a memory as commands name it.

use anemone_memory::{EntrySummary, Unread};
use serde::Serialize;

use crate::output::{safe, title};

/// An entry, and where it stands.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PlacedLine {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) date: Option<String>,
    pub(crate) text: String,
    #[serde(skip)]
    is_stamped: bool,
}

impl PlacedLine {
    pub(crate) fn of(entry: &EntrySummary) -> Self {
        Self {
            path: entry.path.clone(),
            line: entry.lines.0,
            id: entry.id.clone(),
            date: entry.day.map(|it| it.to_string()),
            text: title(&entry.text),
            is_stamped: entry.is_stamped,
        }
    }

    /// Returns where it stands: `memory/2026-11-16.md:8`.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", safe(&self.path), self.line)
    }

    /// Returns how it is taken away.
    pub(crate) fn fix(&self) -> String {
        match self.is_stamped {
            true => format!("anemone forget --id {}", self.id),
            false => format!("edit {}", self.place()),
        }
    }
}

/// Something that was not read.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct UnreadLine {
    pub(crate) path: String,
    /// A word for programs.
    pub(crate) reason: &'static str,
    /// A sentence for people.
    pub(crate) detail: String,
}

impl UnreadLine {
    pub(crate) fn of(unread: &Unread) -> Self {
        Self {
            path: unread.path.clone(),
            reason: unread.why.code(),
            detail: unread.why.to_string(),
        }
    }
}
