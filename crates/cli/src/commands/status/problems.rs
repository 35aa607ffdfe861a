//! What is wrong with an agent, by what was seen of it.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::{LastExport, Readiness, Search};
use crate::output::count;

/// Changes that are not in an archive for longer than this are a risk.
const DAYS: i64 = 7;

/// Something that somebody should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Problem {
    pub(super) code: &'static str,
    pub(super) level: Level,
    pub(super) message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Level {
    /// Something can be lost, or does not work.
    Wrong,
    /// It is good to know.
    Note,
}

impl Problem {
    pub(super) fn wrong(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, level: Level::Wrong, message: message.into() }
    }

    pub(super) fn note(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, level: Level::Note, message: message.into() }
    }
}

/// What was seen of an agent.
pub(super) struct Facts {
    pub(super) workspace_exists: bool,
    /// Whether its memories lie in a database that is there.
    pub(super) has_rows: bool,
    pub(super) database_trouble: Option<String>,
    pub(super) source_trouble: Option<String>,
    pub(super) unreadable: u64,
    pub(super) is_partial: bool,
    pub(super) unfinished: u64,
    pub(super) last_export: Option<LastExport>,
    pub(super) search: Search,
    pub(super) now: Timestamp,
}

/// Returns what is wrong, the worst first.
pub(super) fn problems(facts: &Facts) -> Vec<Problem> {
    let mut found = Vec::new();
    let is_there = facts.workspace_exists || facts.has_rows;
    if !is_there {
        found.push(Problem::wrong("workspace_missing", "the workspace does not exist"));
    }
    if let Some(trouble) = &facts.database_trouble {
        found.push(Problem::wrong("database_unreadable", trouble.clone()));
    }
    if let Some(trouble) = &facts.source_trouble {
        found.push(Problem::wrong("unreadable", trouble.clone()));
    }
    if facts.unreadable > 0 {
        let things = count(facts.unreadable, "place");
        found.push(Problem::wrong("unreadable", format!("{things} cannot be read")));
    }
    if facts.unfinished > 0 {
        let changes = count(facts.unfinished, "change");
        let message = format!("{changes} did not finish; the next write completes or reverts it");
        found.push(Problem::wrong("change_cut_off", message));
    }
    if is_there {
        found.extend(of_export(facts.last_export.as_ref(), facts.now));
        found.extend(of_search(&facts.search));
    }
    if facts.is_partial {
        let message = "not every file was looked at, so the numbers are too low";
        found.push(Problem::note("partial", message));
    }
    found
}

fn of_export(export: Option<&LastExport>, now: Timestamp) -> Option<Problem> {
    let Some(export) = export else {
        return Some(Problem::wrong("never_exported", "it was never exported"));
    };
    if !export.exists {
        return Some(Problem::wrong(
            "archive_gone",
            "the archive is no longer where it was written",
        ));
    }
    if export.changed_since == 0 {
        return None;
    }
    let files = count(export.changed_since, "file");
    let sealed =
        if export.sealed { "; it was sealed, so give the key or --recipient again" } else { "" };
    let message = format!("{files} changed since the last export{sealed}");
    let age = now.duration_since(export.at.instant());
    Some(match age > SignedDuration::from_hours(24 * DAYS) {
        true => Problem::wrong("export_old", message),
        false => Problem::note("export_behind", message),
    })
}

fn of_search(search: &Search) -> Option<Problem> {
    match search.state {
        Readiness::Ready | Readiness::Busy | Readiness::Nothing | Readiness::Unknown => None,
        Readiness::Missing => {
            Some(Problem::note("index_missing", "no index yet; the first search builds it"))
        }
        Readiness::Behind => {
            let files = count(search.changed, "file");
            let message =
                format!("{files} changed since the index was built; the next search updates it");
            Some(Problem::note("index_behind", message))
        }
        Readiness::Unfinished => {
            let message = "the index is not finished; the next search builds it";
            Some(Problem::note("index_unfinished", message))
        }
        Readiness::Outdated => {
            let message = "the index is of another version; the next search rebuilds it";
            Some(Problem::note("index_outdated", message))
        }
        Readiness::Damaged => {
            let message = "the index is damaged; the next search rebuilds it";
            Some(Problem::note("index_damaged", message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn export(exists: bool, changed_since: u64) -> LastExport {
        let at = "2026-03-01T00:00:00Z".parse().unwrap();
        LastExport {
            archive: "a.alf".to_owned(),
            at,
            exists,
            file_size: 1,
            changed_since,
            sealed: false,
        }
    }

    fn check(change: impl FnOnce(&mut Facts), expected: &[(&str, Level)]) {
        let search = Search { state: Readiness::Ready, documents: None, chunks: None, changed: 0 };
        let mut facts = Facts {
            workspace_exists: true,
            has_rows: false,
            database_trouble: None,
            source_trouble: None,
            unreadable: 0,
            is_partial: false,
            unfinished: 0,
            last_export: Some(export(true, 0)),
            search,
            now: "2026-03-05T00:00:00Z".parse().unwrap(),
        };
        change(&mut facts);
        let found = problems(&facts);
        let found: Vec<(&str, Level)> = found.iter().map(|it| (it.code, it.level)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn every_trouble_has_its_code() {
        use Level::{Note, Wrong};
        let late = "2026-03-09T00:00:00Z".parse().unwrap();
        let search = |state| Search { state, documents: None, chunks: None, changed: 3 };
        check(|_| {}, &[]);
        check(|it| it.now = late, &[]);
        check(|it| it.workspace_exists = false, &[("workspace_missing", Wrong)]);
        check(|it| (it.workspace_exists, it.has_rows) = (false, true), &[]);
        check(|it| it.last_export = None, &[("never_exported", Wrong)]);
        check(|it| it.last_export = Some(export(false, 0)), &[("archive_gone", Wrong)]);
        check(|it| it.last_export = Some(export(true, 2)), &[("export_behind", Note)]);
        check(
            |it| (it.last_export, it.now) = (Some(export(true, 2)), late),
            &[("export_old", Wrong)],
        );
        check(|it| it.search = search(Readiness::Missing), &[("index_missing", Note)]);
        check(|it| it.search = search(Readiness::Behind), &[("index_behind", Note)]);
        check(|it| it.search = search(Readiness::Damaged), &[("index_damaged", Note)]);
        check(|it| it.search = search(Readiness::Unfinished), &[("index_unfinished", Note)]);
        check(|it| it.search = search(Readiness::Outdated), &[("index_outdated", Note)]);
        check(|it| it.unfinished = 1, &[("change_cut_off", Wrong)]);
        check(|it| it.unreadable = 1, &[("unreadable", Wrong)]);
        check(|it| it.database_trouble = Some("x".into()), &[("database_unreadable", Wrong)]);
        check(|it| it.is_partial = true, &[("partial", Note)]);
    }
}
