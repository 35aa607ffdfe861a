//! Decides which entries of logs have expired and where they are moved, and computes the logs
//! without them.

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::civil::Date;

use super::hygiene::ARCHIVE;
use super::{ExpiredLogEntry, TidySettings};
use crate::change::Edit;
use crate::entries::cut_out;
use crate::entry::Tier;
use crate::store::PageKind;
use crate::summary::EntrySummary;

/// Says whether an entry has expired. Entries without an importance stay.
pub(super) fn verdict(
    entry: &EntrySummary,
    settings: &TidySettings,
    today: Date,
) -> Option<ExpiredLogEntry> {
    let (PageKind::Daily(day) | PageKind::Session(day)) = entry.kind else { return None };
    let tier = entry.importance?.tier();
    let allowed = match tier {
        Tier::Structural => settings.structural_days,
        Tier::Potential => settings.potential_days,
        Tier::Contextual => settings.contextual_days,
    };
    let days = entry.age(today)?;
    let is_over = allowed > 0 && days > i64::from(allowed);
    let to = || format!("{ARCHIVE}tidied-{:04}-{:02}.md", day.year(), day.month());
    is_over.then(|| ExpiredLogEntry { entry: entry.clone(), tier, days, to: to() })
}

/// The entries that are moved into files of the archive.
#[derive(Default)]
pub(super) struct Tidied {
    /// By file: the texts under a heading for each day.
    files: BTreeMap<String, String>,
    /// The log from which the last entry came.
    last: String,
}

impl Tidied {
    /// Adds an entry with its exact text in the log.
    pub(super) fn add(&mut self, gone: &ExpiredLogEntry, text: &str) {
        let file = self.files.entry(gone.to.clone()).or_default();
        if self.last != gone.entry.path {
            self.last.clone_from(&gone.entry.path);
            let day = gone.entry.day.map(|day| day.to_string()).unwrap_or_default();
            let free = if file.is_empty() { "" } else { "\n" };
            file.push_str(&format!("{free}## {day}\n\n"));
        }
        file.push_str(text);
        if !text.ends_with('\n') {
            file.push('\n');
        }
    }

    /// Returns the additions to each file.
    pub(super) fn edits(self) -> impl Iterator<Item = Edit> {
        let head = "# Moved here by `anemone tidy`\n\n";
        self.files.into_iter().map(move |(path, text)| Edit::Append {
            path,
            head: head.to_owned(),
            text,
        })
    }
}

/// Returns a text without some of its units; `None` if none is removed. A log without remaining
/// units becomes empty.
pub(super) fn without(text: &str, going: &[Range<usize>], units: usize) -> Option<String> {
    if going.is_empty() {
        return None;
    }
    if going.len() == units {
        return Some(String::new());
    }
    let (kept, rest) = cut_out(text, going);
    Some(kept + rest)
}
