//! Puts old logs away, and removes those that were put away long ago, as ZeroClaw does: dated logs
//! by the day in their name, and logs of sessions by the day on which they were last written.

use std::collections::HashSet;
use std::path::PathBuf;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::{Target, TidySettings};
use crate::store::{MarkdownStore, PageKind};
use crate::summary::days_between;

pub(super) const ARCHIVE: &str = "memory/archive/";

pub(super) struct Hygiene {
    pub(super) archived: Vec<(String, String)>,
    pub(super) purged: Vec<String>,
    /// Whether the archive is a folder of this workspace, or can be made one.
    pub(super) is_own_folder: bool,
    is_on: bool,
    archive_days: i64,
    purge_days: i64,
    today: Date,
    taken: HashSet<String>,
    root: PathBuf,
}

impl Hygiene {
    pub(super) fn new(
        site: &MarkdownStore,
        settings: &TidySettings,
        today: Date,
        pages: &[(String, PageKind)],
    ) -> Self {
        // A link would take the logs out of the workspace.
        let there = fs_err::symlink_metadata(site.root().join(ARCHIVE.trim_end_matches('/')));
        let is_own_folder = there.map_or(true, |value| value.is_dir());
        let archived = pages.iter().filter(|(path, _)| path.starts_with(ARCHIVE));
        Self {
            archived: Vec::new(),
            purged: Vec::new(),
            is_own_folder,
            is_on: site.archives(settings) && is_own_folder,
            archive_days: i64::from(settings.archive_after_days),
            purge_days: i64::from(settings.purge_after_days),
            today,
            taken: archived.map(|(path, _)| path.clone()).collect(),
            root: site.root().to_owned(),
        }
    }

    /// Says where a file is to be.
    pub(super) fn place_of(&mut self, path: &str, kind: PageKind) -> Target {
        let folder = if kind == PageKind::Archived { ARCHIVE } else { "memory/" };
        let name = path.strip_prefix(folder).filter(|rest| !rest.contains('/'));
        let Some(name) = name.filter(|_| self.is_on) else { return Target::Stays };
        let day = dated(name).or_else(|| self.last_written(path).filter(|_| is_session(name)));
        let Some(age) = day.and_then(|day| days_between(day, self.today)) else {
            return Target::Stays;
        };
        if kind == PageKind::Archived {
            if self.purge_days == 0 || age <= self.purge_days {
                return Target::Stays;
            }
            self.purged.push(path.to_owned());
            return Target::Goes;
        }
        if self.archive_days == 0 || age <= self.archive_days {
            return Target::Stays;
        }
        let to = self.free(name);
        self.taken.insert(to.clone());
        self.archived.push((path.to_owned(), to.clone()));
        Target::Moves(to)
    }

    /// Returns the day, in UTC, on which a file was written last. A file that is put away is written
    /// anew, so its days in the archive are counted from then on.
    fn last_written(&self, path: &str) -> Option<Date> {
        let there = fs_err::symlink_metadata(self.root.join(path)).ok()?;
        let time = Timestamp::try_from(there.modified().ok()?).ok()?;
        Some(time.to_zoned(TimeZone::UTC).date())
    }

    /// Returns a name that no file in the archive has.
    fn free(&self, name: &str) -> String {
        let stem = name.strip_suffix(".md").unwrap_or(name);
        let mut to = format!("{ARCHIVE}{name}");
        let mut number = 0_u32;
        while self.taken.contains(&to) {
            number += 1;
            to = format!("{ARCHIVE}{stem}_{number}.md");
        }
        to
    }
}

/// Returns the day of a file that ZeroClaw treats as dated: `2026-11-16`, `2026-11-16_notes`,
/// `2026-11-16-0930`.
fn dated(name: &str) -> Option<Date> {
    let stem = name.strip_suffix(".md")?;
    let day = stem.get(..10)?.parse().ok()?;
    let rest = stem.get(10..)?;
    let time = rest.strip_prefix('-').unwrap_or_default();
    let is_time = time.len() == 4 && time.bytes().all(|byte| byte.is_ascii_digit());
    (rest.is_empty() || rest.starts_with('_') || is_time).then_some(day)
}

/// Whether a file is the log of one session, which has no day in its name.
fn is_session(name: &str) -> bool {
    name.strip_prefix("session_").is_some_and(|rest| rest.len() > ".md".len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_dated_as_zeroclaw_takes_them() {
        for name in ["2026-11-16.md", "2026-11-16_x.md", "2026-11-16-0930.md"] {
            assert_eq!(dated(name), Some(jiff::civil::date(2026, 11, 16)), "{name}");
        }
        for name in ["2026-11-16-api.md", "notes.md", "2026-13-16.md", "2026-11-16x.md"] {
            assert_eq!(dated(name), None, "{name}");
        }
    }
}
