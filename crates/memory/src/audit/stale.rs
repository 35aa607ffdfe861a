//! Entries that time has overtaken.

use std::collections::HashSet;

use anemone_format::word_enum;
use jiff::civil::Date;

use super::AuditSettings;
use crate::entry::Tier;
use crate::recall_counts::folded;
use crate::summary::EntrySummary;

/// Words about a time to come, in entries that are long past it.
const SOON: &[&str] = &["tomorrow", "tonight", "next week", "next month", "this week"];

/// An entry that is out of date.
#[derive(Clone, Debug, PartialEq)]
pub struct StaleEntry {
    /// The entry.
    pub entry: EntrySummary,
    /// Why.
    pub why: StaleReason,
}

word_enum! {
    /// Why an entry is stale.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum StaleReason {
        /// A task that was never ticked off.
        OpenTask = "open_task",
        /// It speaks of a tomorrow that is long gone.
        PastSoon = "past_soon",
        /// Another entry took its place.
        Superseded = "superseded",
        /// It was called unimportant, and its time is over.
        PastContext = "past_context",
    }
}

/// Examines entries one by one.
pub(super) struct Search {
    found: Vec<StaleEntry>,
    stale_days: i64,
    contextual_days: i64,
    today: Date,
}

impl Search {
    pub(super) fn new(settings: &AuditSettings, today: Date) -> Self {
        Self {
            found: Vec::new(),
            stale_days: i64::from(settings.stale_days),
            contextual_days: i64::from(settings.contextual_days),
            today,
        }
    }

    pub(super) fn look(&mut self, entry: &EntrySummary) {
        let Some(days) = entry.age(self.today) else { return };
        let is_unimportant =
            entry.importance.is_some_and(|importance| importance.tier() == Tier::Contextual);
        let text = entry.text.trim_start();
        let why = if is_unimportant && days > self.contextual_days {
            StaleReason::PastContext
        } else if days <= self.stale_days {
            return;
        } else if text.starts_with("[ ] ") {
            StaleReason::OpenTask
        } else if speaks_of_soon(text) {
            StaleReason::PastSoon
        } else {
            return;
        };
        self.found.push(StaleEntry { entry: entry.clone(), why });
    }

    /// Returns the findings, together with the superseded entries.
    pub(super) fn end(
        mut self,
        entries: &[EntrySummary],
        superseded: &HashSet<usize>,
    ) -> Vec<StaleEntry> {
        let mut positions: Vec<_> = superseded.iter().copied().collect();
        positions.sort_unstable();
        for at in positions {
            self.found
                .push(StaleEntry { entry: entries[at].clone(), why: StaleReason::Superseded });
        }
        self.found
    }
}

fn speaks_of_soon(text: &str) -> bool {
    let text = folded(text);
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    SOON.iter().any(|words| {
        text.match_indices(words).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + words.len()..]);
            !is_letter(before.chars().next_back()) && !is_letter(after.chars().next())
        })
    })
}
