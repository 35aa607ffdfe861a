//! Derives the problems of an agent from its observed state.

use anemone_index::RefreshError;
use anemone_runtimes::{OddityKind, RuntimeSetting};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::{ExportReason, LastExport, Readiness, SearchStatus};
use crate::config::ConfigError;

/// Changes that are not in an archive for longer than this are a risk.
const DAYS: i64 = 7;

/// Something that the user should know.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// No agent was found on this machine.
    NoAgents,
    /// The settings cannot be read.
    ConfigBroken(ConfigError),
    /// The record of a connection cannot be read.
    ConnectionBroken(String),
    /// A place where agents may live cannot be read.
    InstallUnreadable(String),
    /// The workspace does not exist.
    WorkspaceMissing,
    /// The database of memories cannot be one.
    DatabaseUnreadable(String),
    /// What is searched cannot be looked at.
    SourceUnreadable(RefreshError),
    /// Files and folders of the workspace cannot be read.
    Unreadable(u64),
    /// Changes of ours were begun and did not finish.
    ChangeCutOff(u64),
    /// No archive contains the current state of the agent.
    Export {
        /// Why.
        reason: ExportReason,
        /// The files that are missing from the last archive.
        changed: ChangedFiles,
    },
    /// There is no index.
    IndexMissing,
    /// The index does not contain the current state of every file.
    IndexBehind(u64),
    /// The index is not finished.
    IndexUnfinished,
    /// Another version of the program made the index.
    IndexOutdated,
    /// The index cannot be read.
    IndexDamaged,
    /// The configuration of the agent's runtime sets something that cannot be honoured.
    SettingIgnored(RuntimeSetting),
    /// Not everything was examined.
    Partial,
    /// Something unusual that a runtime's folder shows.
    Oddity {
        /// What it is.
        kind: OddityKind,
        /// For people.
        message: String,
    },
}

/// Files that the last archive does not have as they are now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangedFiles {
    /// How many.
    pub files: u64,
    /// Whether the archive cannot be read without a key.
    pub sealed: bool,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Something can be lost, or does not work.
    Wrong,
    /// It is good to know.
    Note,
}

/// A problem in the words of the program that asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProblemWords {
    /// For programs.
    pub code: &'static str,
    /// How bad it is.
    pub level: Level,
    /// For people.
    pub message: String,
    /// The part of a status that shows it as well.
    #[serde(skip)]
    pub topic: ProblemTopic,
}

/// The part of a status that shows a problem by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemTopic {
    /// The line of the last export says that there was no export.
    FirstExport,
    /// The line of the search index says its state.
    SearchIndex,
    /// Nothing else shows it.
    Other,
}

impl Problem {
    /// Returns a stable word for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoAgents => "no_agents",
            Self::ConfigBroken(_) => "config_broken",
            Self::ConnectionBroken(_) => "connection_broken",
            Self::InstallUnreadable(_) => "install_unreadable",
            Self::WorkspaceMissing => "workspace_missing",
            Self::DatabaseUnreadable(_) => "database_unreadable",
            Self::SourceUnreadable(_) | Self::Unreadable { .. } => "unreadable",
            Self::ChangeCutOff { .. } => "change_cut_off",
            Self::Export { reason, .. } => reason.code(),
            Self::IndexMissing => "index_missing",
            Self::IndexBehind { .. } => "index_behind",
            Self::IndexUnfinished => "index_unfinished",
            Self::IndexOutdated => "index_outdated",
            Self::IndexDamaged => "index_damaged",
            Self::SettingIgnored(_) => "setting_ignored",
            Self::Partial => "partial",
            Self::Oddity { kind, .. } => kind.as_str(),
        }
    }

    /// Whether this says what an oddity of a runtime's folder would say.
    #[must_use]
    pub fn covers(&self, oddity: OddityKind) -> bool {
        match self {
            Self::WorkspaceMissing => oddity == OddityKind::WorkspaceMissing,
            Self::DatabaseUnreadable { .. } => oddity == OddityKind::DatabaseUnreadable,
            Self::Oddity { kind, .. } => *kind == oddity,
            _ => false,
        }
    }

    /// Returns the part of a status that shows it as well.
    #[must_use]
    pub const fn topic(&self) -> ProblemTopic {
        match self {
            Self::Export { reason: ExportReason::NeverExported, .. } => ProblemTopic::FirstExport,
            Self::IndexMissing
            | Self::IndexBehind { .. }
            | Self::IndexUnfinished
            | Self::IndexOutdated
            | Self::IndexDamaged => ProblemTopic::SearchIndex,
            _ => ProblemTopic::Other,
        }
    }

    /// Says how bad it is.
    #[must_use]
    pub const fn level(&self) -> Level {
        match self {
            Self::Export { reason: ExportReason::Behind, .. }
            | Self::Partial
            | Self::SettingIgnored(_)
            | Self::Oddity { .. } => Level::Note,
            _ if matches!(self.topic(), ProblemTopic::SearchIndex) => Level::Note,
            _ => Level::Wrong,
        }
    }
}

/// The observed state of an agent.
pub(super) struct AgentFacts {
    pub(super) workspace_exists: bool,
    /// Whether its memories are in an existing database.
    pub(super) has_rows: bool,
    pub(super) database_trouble: Option<String>,
    pub(super) source_trouble: Option<RefreshError>,
    pub(super) unreadable: u64,
    pub(super) is_partial: bool,
    pub(super) unfinished: u64,
    pub(super) last_export: Option<LastExport>,
    pub(super) search: SearchStatus,
    pub(super) now: Timestamp,
}

/// Returns what is wrong, the worst first.
pub(super) fn problems(facts: AgentFacts) -> Vec<Problem> {
    let mut found = Vec::new();
    let is_there = facts.workspace_exists || facts.has_rows;
    if !is_there {
        found.push(Problem::WorkspaceMissing);
    }
    if let Some(reason) = facts.database_trouble {
        found.push(Problem::DatabaseUnreadable(reason));
    }
    if let Some(error) = facts.source_trouble {
        found.push(Problem::SourceUnreadable(error));
    }
    if facts.unreadable > 0 {
        found.push(Problem::Unreadable(facts.unreadable));
    }
    if facts.unfinished > 0 {
        found.push(Problem::ChangeCutOff(facts.unfinished));
    }
    if is_there {
        found.extend(of_export(facts.last_export.as_ref(), facts.now));
        found.extend(of_search(&facts.search));
    }
    if facts.is_partial {
        found.push(Problem::Partial);
    }
    found
}

fn of_export(export: Option<&LastExport>, now: Timestamp) -> Option<Problem> {
    let is_old = |at: Timestamp| now.duration_since(at) > SignedDuration::from_hours(24 * DAYS);
    let reason = match export {
        None => ExportReason::NeverExported,
        Some(export) if !export.exists => ExportReason::ArchiveGone,
        Some(export) if export.changed_since == 0 => return None,
        Some(export) if is_old(export.at.instant()) => ExportReason::Old,
        Some(_) => ExportReason::Behind,
    };
    let changed =
        export.map(|export| ChangedFiles { files: export.changed_since, sealed: export.sealed });
    Some(Problem::Export { reason, changed: changed.unwrap_or_default() })
}

const fn of_search(search: &SearchStatus) -> Option<Problem> {
    match search.state {
        Readiness::Ready | Readiness::Busy | Readiness::Nothing | Readiness::Unknown => None,
        Readiness::Missing => Some(Problem::IndexMissing),
        Readiness::Behind => Some(Problem::IndexBehind(search.changed)),
        Readiness::Unfinished => Some(Problem::IndexUnfinished),
        Readiness::Outdated => Some(Problem::IndexOutdated),
        Readiness::Damaged => Some(Problem::IndexDamaged),
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

    fn check(change: impl FnOnce(&mut AgentFacts), expected: &[(&str, Level)]) {
        let search =
            SearchStatus { state: Readiness::Ready, documents: None, chunks: None, changed: 0 };
        let mut facts = AgentFacts {
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
        let found = problems(facts);
        let found: Vec<(&str, Level)> =
            found.iter().map(|problem| (problem.code(), problem.level())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn every_trouble_has_its_code() {
        use Level::{Note, Wrong};
        let late = "2026-03-09T00:00:00Z".parse().unwrap();
        let search = |state| SearchStatus { state, documents: None, chunks: None, changed: 3 };
        check(|_| {}, &[]);
        check(|facts| facts.now = late, &[]);
        check(|facts| facts.workspace_exists = false, &[("workspace_missing", Wrong)]);
        check(|facts| (facts.workspace_exists, facts.has_rows) = (false, true), &[]);
        check(|facts| facts.last_export = None, &[("never_exported", Wrong)]);
        check(|facts| facts.last_export = Some(export(false, 0)), &[("archive_gone", Wrong)]);
        check(|facts| facts.last_export = Some(export(true, 2)), &[("export_behind", Note)]);
        check(
            |facts| (facts.last_export, facts.now) = (Some(export(true, 2)), late),
            &[("export_old", Wrong)],
        );
        check(|facts| facts.search = search(Readiness::Missing), &[("index_missing", Note)]);
        check(|facts| facts.search = search(Readiness::Behind), &[("index_behind", Note)]);
        check(|facts| facts.search = search(Readiness::Damaged), &[("index_damaged", Note)]);
        check(|facts| facts.search = search(Readiness::Unfinished), &[("index_unfinished", Note)]);
        check(|facts| facts.search = search(Readiness::Outdated), &[("index_outdated", Note)]);
        check(|facts| facts.unfinished = 1, &[("change_cut_off", Wrong)]);
        check(|facts| facts.unreadable = 1, &[("unreadable", Wrong)]);
        check(|facts| facts.database_trouble = Some("x".into()), &[("database_unreadable", Wrong)]);
        check(|facts| facts.is_partial = true, &[("partial", Note)]);
    }
}
