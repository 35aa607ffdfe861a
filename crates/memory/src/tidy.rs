//! Keeps a memory clean: archives old entries, reports duplicates, and proposes promotions.
//!
//! A plan is a value: it says what would be done and why, and is converted to a [`Change`]. Entries
//! of logs are moved by their importance into `memory/archive/tidied-<month>.md`, which no session
//! loads and every search finds; whole logs are archived as ZeroClaw does. The name does not begin
//! with a date, because ZeroClaw deletes dated files from that folder after a month. Duplicates and
//! contradictions are only reported: the program cannot know which entry is right.

mod hygiene;
mod promotion;
mod retention;

use jiff::civil::Date;

use crate::alike::{Repeats, alike};
use crate::change::{Change, Edit};
use crate::entry::Tier;
use crate::page::known_units;
use crate::reading::{self, Text, UnreadPage};
use crate::recall_counts::{RecallError, recall_counts};
use crate::store::{MarkdownStore, PageKind};
use crate::summary::{Contradiction, EntrySummary, contradictions, tell_apart, title_of};
pub use promotion::{Promotion, plan_promotion};

/// How long entries and files are kept. Zero days means for ever.
#[derive(Clone, Debug, PartialEq)]
pub struct TidySettings {
    /// Days that entries of importance 0.8 and more stay in logs.
    pub structural_days: u32,
    /// Days that entries of importance 0.4 to 0.8 stay in logs.
    pub potential_days: u32,
    /// Days that entries of lower importance stay in logs.
    pub contextual_days: u32,
    /// Whether old logs are put away: `None` where ZeroClaw is the runtime.
    pub archive: Option<bool>,
    /// Days after which a log is put into `memory/archive/`.
    pub archive_after_days: u32,
    /// Days after which a log that was put away is removed.
    pub purge_after_days: u32,
    /// Days after which rows of conversations are removed; they are only counted here.
    pub conversation_days: u32,
    /// How often an entry was recalled before it is proposed for `MEMORY.md`.
    pub promote_recalls: u32,
    /// How near two texts are that say nearly the same: a cosine.
    pub near: f32,
}

impl Default for TidySettings {
    fn default() -> Self {
        Self {
            structural_days: 0,
            potential_days: 30,
            contextual_days: 7,
            archive: None,
            archive_after_days: 7,
            purge_after_days: 30,
            conversation_days: 30,
            promote_recalls: 3,
            near: 0.95,
        }
    }
}

/// What would be done to a memory.
#[derive(Clone, Debug, PartialEq)]
pub struct TidyPlan {
    /// Entries that are moved from logs into the archive.
    pub expired: Vec<ExpiredLogEntry>,
    /// Logs that are put away: from, to.
    pub archived: Vec<(String, String)>,
    /// Logs that were put away and are removed.
    pub purged: Vec<String>,
    /// Texts that occur more than once.
    pub repeats: Repeats,
    /// Entries of one key that say different things.
    pub contradictions: Vec<Contradiction>,
    /// Entries that were recalled often and are not in `MEMORY.md`, the most recalled first.
    pub promotions: Vec<Promotion>,
    /// Files that were not read.
    pub unread: Vec<UnreadPage>,
    edits: Vec<Edit>,
}

/// An entry of a log that is due for the archive.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpiredLogEntry {
    /// The entry.
    pub entry: EntrySummary,
    /// How much it mattered.
    pub tier: Tier,
    /// How old it is.
    pub days: i64,
    /// The file that it is moved to.
    pub to: String,
}

/// Plans the tidying.
pub fn plan_tidy(
    site: &MarkdownStore,
    settings: &TidySettings,
    today: Date,
) -> Result<TidyPlan, RecallError> {
    let (pages, mut unread) = reading::list(site);
    let mut hygiene = hygiene::Hygiene::new(site, settings, today, &pages);
    let table = site.stamps();
    let mut entries = Vec::new();
    let mut expired = Vec::new();
    let mut edits = Vec::new();
    let mut tidied = retention::Tidied::default();
    for (path, kind) in pages {
        let file = match reading::read(site, &path) {
            Ok(Some(file)) => file,
            Ok(None) => continue,
            Err(why) => {
                unread.push(UnreadPage { path, why });
                continue;
            }
        };
        let found = known_units(&file.text, &table);
        let title = title_of(&file.text);
        let mut going = Vec::new();
        for unit in &found {
            let entry = EntrySummary::of(&path, kind, unit, title);
            // If the archive folder is a link to another place, nothing is moved into it.
            match retention::verdict(&entry, settings, today).filter(|_| hygiene.is_own_folder) {
                Some(gone) => {
                    tidied.add(&gone, &file.text[unit.bytes.clone()]);
                    going.push(unit.bytes.clone());
                    expired.push(gone);
                }
                None => entries.push(entry),
            }
        }
        let kept = retention::without(&file.text, &going, found.len());
        edits.extend(edits_of(&file, kept, hygiene.place_of(&path, kind)));
    }
    tell_apart(&mut entries);
    edits.extend(tidied.edits());
    let counts = recall_counts(site)?;
    let promotions = promotion::promotions(&entries, &counts, settings);
    let live: Vec<EntrySummary> =
        entries.into_iter().filter(|entry| entry.kind != PageKind::Archived).collect();
    Ok(TidyPlan {
        expired,
        archived: hygiene.archived,
        purged: hygiene.purged,
        repeats: alike(&live, settings.near),
        contradictions: contradictions(&live),
        promotions,
        unread,
        edits,
    })
}

/// Where a file is to be.
enum Target {
    Stays,
    Moves(String),
    Goes,
}

/// Returns the edit of one file; `kept` is the rest of it, if something is removed.
fn edits_of(file: &Text, kept: Option<String>, target: Target) -> Vec<Edit> {
    let remove = || Edit::Remove { path: file.seen.path.clone(), before: file.seen.sha256 };
    let is_empty = kept.as_ref().is_some_and(String::is_empty);
    match (target, kept) {
        (Target::Goes, _) => vec![remove()],
        (_, Some(_)) if is_empty => vec![remove()],
        (Target::Stays, None) => Vec::new(),
        (Target::Stays, Some(kept)) => vec![Edit::replace(&file.seen, kept.into_bytes())],
        (Target::Moves(path), kept) => {
            let after = kept.map_or_else(|| file.seen.bytes.clone(), String::into_bytes);
            vec![Edit::Write { path, before: None, after }, remove()]
        }
    }
}

impl TidyPlan {
    /// Returns the removal of expired entries, as one change; `None` if nothing has expired.
    #[must_use]
    pub fn change(&self) -> Option<Change> {
        let edits = self.edits.clone();
        (!edits.is_empty()).then(|| Change::new("tidy", edits))
    }
}

impl MarkdownStore {
    /// Says whether old logs are put away here.
    fn archives(&self, settings: &TidySettings) -> bool {
        settings.archive.unwrap_or(self.layout().archives)
    }
}

#[cfg(test)]
mod tests;
