//! Puts old logs away, and removes those that were put away long ago, as ZeroClaw does.

use std::collections::HashSet;

use jiff::civil::Date;

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
        }
    }

    /// Says where a file is to be.
    pub(super) fn place_of(&mut self, path: &str, kind: PageKind) -> Target {
        let folder = if kind == PageKind::Archived { ARCHIVE } else { "memory/" };
        let name = path.strip_prefix(folder).filter(|rest| !rest.contains('/'));
        let Some(name) = name.filter(|_| self.is_on) else { return Target::Stays };
        let Some(age) = dated(name).and_then(|day| days_between(day, self.today)) else {
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
