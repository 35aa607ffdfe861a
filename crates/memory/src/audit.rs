//! The health of a memory, which may belong to another person: it is read and never changed.
//!
//! It is read file by file; of each entry only the data for comparisons is kept. The score begins
//! at 100, and each kind of finding lowers it, up to a limit:
//!
//! | finding                          | each        | at most |
//! |----------------------------------|-------------|---------|
//! | a secret                         | 10          | 40      |
//! | text that looks poisoned         | 10          | 30      |
//! | a file that a runtime will cut   | 5           | 15      |
//! | something that cannot be read    | 3           | 15      |
//! | a contradiction                  | 2           | 10      |
//! | said twice                       | 40 x share  | 10      |
//! | stale                            | 40 x share  | 10      |
//!
//! A share is relative to all entries. The result is rounded down, and never below 0.

mod oversized;
mod stale;

use std::collections::HashSet;

use anemone_secrets::{SecretHit, scan_file};
use jiff::civil::Date;

use crate::alike::{Repeats, alike};
use crate::context::ContextRules;
use crate::page::known_units;
use crate::reading::{self, UnreadPage, UnreadReason};
use crate::session_note::is_head;
use crate::store::{MarkdownStore, PageKind};
use crate::summary::{
    Contradiction, EntrySummary, contradictions, superseded, tell_apart, title_of,
};
use crate::suspicion::{SuspicionKind, suspicious};
pub use oversized::{CutPlace, OversizedFile};
pub use stale::{StaleEntry, StaleReason};

/// What counts as old, and what as the same.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditSettings {
    /// Days after which an open task or a "tomorrow" is stale.
    pub stale_days: u32,
    /// Days after which a dated entry of low importance is stale.
    pub contextual_days: u32,
    /// How near two texts are that say nearly the same: a cosine.
    pub near: f32,
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self { stale_days: 30, contextual_days: 7, near: 0.95 }
    }
}

/// The findings about a memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    /// How many files were read.
    pub files: usize,
    /// And their bytes.
    pub bytes: u64,
    /// Entries by the kind of their file.
    pub kinds: KindCounts,
    /// Entries by their age.
    pub ages: AgeCounts,
    /// Secrets.
    pub secrets: Vec<SecretFinding>,
    /// Text that looks poisoned.
    pub suspicious: Vec<SuspiciousFinding>,
    /// Files that a runtime will cut.
    pub oversized: Vec<OversizedFile>,
    /// Pages that cannot be read.
    pub unread: Vec<UnreadPage>,
    /// Entries of one key that say different things.
    pub contradictions: Vec<Contradiction>,
    /// Texts that occur more than once.
    pub repeats: Repeats,
    /// Entries that have been overtaken.
    pub stale: Vec<StaleEntry>,
    /// Entries whose stamp the table of stamps does not have: who wrote them is not known.
    pub unknown_stamps: usize,
}

/// Entries by the kind of their file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct KindCounts {
    /// In `MEMORY.md`.
    pub curated: usize,
    /// In logs of days.
    pub daily: usize,
    /// In notes about sessions.
    pub session: usize,
    /// In other notes.
    pub note: usize,
    /// In files that were put away.
    pub archived: usize,
}

impl KindCounts {
    /// Counts all of them.
    #[must_use]
    pub const fn all(&self) -> usize {
        self.curated + self.daily + self.session + self.note + self.archived
    }
}

/// Entries by their age.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct AgeCounts {
    /// Up to 7 days.
    pub days_7: usize,
    /// Up to 30.
    pub days_30: usize,
    /// Up to 90.
    pub days_90: usize,
    /// More.
    pub older: usize,
    /// Entries without a date.
    pub undated: usize,
}

/// A secret, without its value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SecretFinding {
    /// The file.
    pub path: String,
    /// The line.
    pub line: u64,
    /// What kind of secret.
    pub kind: &'static str,
}

/// Text that looks poisoned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuspiciousFinding {
    /// The file.
    pub path: String,
    /// Its first and last line.
    pub lines: (usize, usize),
    /// The id by which it can be forgotten.
    pub id: String,
    /// What kind of trick it looks like.
    pub kind: SuspicionKind,
    /// A short excerpt of the finding.
    pub excerpt: String,
}

/// Examines a memory, and the files beside it that a runtime puts before a model.
#[must_use]
pub fn audit(
    site: &MarkdownStore,
    settings: &AuditSettings,
    beside: &[&str],
    rules: &[&'static ContextRules],
    today: Date,
) -> Audit {
    let (pages, unread) = reading::list(site);
    let mut audit = Audit { unread, ..Audit::default() };
    let mut entries = Vec::new();
    let table = site.stamps();
    let mut stale = stale::Search::new(settings, today);
    let beside = beside.iter().map(|name| ((*name).to_owned(), None));
    let pages = pages.into_iter().map(|(path, kind)| (path, Some(kind)));
    for (path, kind) in beside.chain(pages) {
        let file = match reading::read(site, &path) {
            Ok(Some(file)) => file,
            Ok(None) => continue,
            Err(why) => {
                // A file in another encoding cannot be read as a memory, but may hold a secret.
                if why == UnreadReason::NotText
                    && let Ok(Some(seen)) = site.read(&path)
                {
                    audit.find_secrets(&path, scan_file(&seen.bytes));
                }
                audit.unread.push(UnreadPage { path, why });
                continue;
            }
        };
        audit.files += 1;
        audit.bytes += file.seen.bytes.len() as u64;
        // UTF-16 without letters beyond ASCII is UTF-8 as well.
        audit.find_secrets(&path, scan_file(&file.seen.bytes));
        audit.oversized.extend(oversized::of_file(rules, &path, &file.text));
        // Files beside the memory hold instructions: they are not judged as entries.
        let Some(kind) = kind else { continue };
        let title = title_of(&file.text);
        let found = known_units(&file.text, &table).into_iter();
        for unit in found.filter(|unit| !is_head(kind, unit)) {
            let entry = EntrySummary::of(&path, kind, &unit, title);
            audit.count(&entry, today);
            audit.unknown_stamps += usize::from(entry.is_stamped && entry.origin.is_none());
            for it in suspicious(&unit.content) {
                audit.suspicious.push(SuspiciousFinding {
                    path: path.clone(),
                    lines: unit.lines,
                    id: entry.id.clone(),
                    kind: it.kind,
                    excerpt: it.excerpt,
                });
            }
            if kind != PageKind::Archived {
                stale.look(&entry);
                entries.push(entry);
            }
        }
    }
    tell_apart(&mut entries);
    audit.oversized.extend(oversized::of_all(rules, site));
    audit.stale = stale.end(&entries, &superseded(&entries));
    audit.contradictions = contradictions(&entries);
    audit.repeats = alike(&entries, settings.near);
    audit
}

impl Audit {
    fn count(&mut self, entry: &EntrySummary, today: Date) {
        let kind = match entry.kind {
            PageKind::Curated => &mut self.kinds.curated,
            PageKind::Daily(_) => &mut self.kinds.daily,
            PageKind::Session(_) => &mut self.kinds.session,
            PageKind::Note => &mut self.kinds.note,
            PageKind::Archived => &mut self.kinds.archived,
        };
        *kind += 1;
        let age = match entry.age(today) {
            None => &mut self.ages.undated,
            Some(days) if days <= 7 => &mut self.ages.days_7,
            Some(days) if days <= 30 => &mut self.ages.days_30,
            Some(days) if days <= 90 => &mut self.ages.days_90,
            Some(_) => &mut self.ages.older,
        };
        *age += 1;
    }

    fn find_secrets(&mut self, path: &str, hits: Vec<SecretHit>) {
        let finding = |hit: SecretHit| SecretFinding {
            path: path.to_owned(),
            line: hit.line,
            kind: hit.kind,
        };
        self.secrets.extend(hits.into_iter().map(finding));
    }

    /// Adds secrets that were found beside the memory, in files that a runtime does not read as
    /// such but an export carries. One that is known already counts once.
    pub fn add_secrets(&mut self, found: impl IntoIterator<Item = SecretFinding>) {
        let known: HashSet<SecretFinding> = self.secrets.iter().cloned().collect();
        self.secrets.extend(found.into_iter().filter(|secret| !known.contains(secret)));
        self.secrets.sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
    }

    /// Returns how many entries only say what others say.
    #[must_use]
    pub fn repeated(&self) -> usize {
        let Repeats { same, near, .. } = &self.repeats;
        same.iter().map(|same| same.len().saturating_sub(1)).sum::<usize>() + near.len()
    }

    /// Returns the score, from 0 to 100. The top of this file describes how it is computed.
    #[must_use]
    pub fn score(&self) -> u8 {
        let each = |number: usize, weight: usize, most: usize| (number * weight).min(most) * 100;
        // In hundredths of a point.
        let share = |number: usize| (number * 4_000 / self.kinds.all().max(1)).min(1_000);
        let lost = each(self.secrets.len(), 10, 40)
            + each(self.suspicious.len(), 10, 30)
            + each(self.oversized.len(), 5, 15)
            + each(self.unread.len(), 3, 15)
            + each(self.contradictions.len(), 2, 10)
            + share(self.repeated())
            + share(self.stale.len());
        u8::try_from(10_000_usize.saturating_sub(lost) / 100).unwrap_or(100)
    }
}

#[cfg(test)]
mod tests;
