//! Which files a runtime puts before a session of each kind, and how much of them.

use std::path::Path;

use jiff::civil::Date;

use super::cut::Cutting;
use super::session::{SessionKind, WORKING_FILE};
use super::{ComposeRequest, Fate, PartPlace};
use crate::session_note::NoteForm;
use crate::store::MarkdownStore;

/// The curated file as [`ContextRules`] names it.
const CURATED: &str = "MEMORY.md";

/// The context that one version of a runtime gives a session: which files, and how much of them.
#[derive(Clone, Debug)]
pub struct ContextRules {
    /// The name of the rules, such as `2026.9`.
    pub name: &'static str,
    /// One line about them, for a list of rules.
    pub about: &'static str,
    /// The files for a session of the owner, in order. `MEMORY.md` is the curated file.
    pub files: &'static [&'static str],
    /// Files that may be missing without a notice, besides the curated one.
    pub optional: &'static [&'static str],
    /// Files that only sessions of one kind see, after the others.
    pub only: &'static [(&'static str, SessionKind)],
    /// What of the files a subagent sees; `None` is all but the curated one.
    pub subagent: Option<&'static [&'static str]>,
    /// What of the files a scheduled job sees; `None` is all but the curated one.
    pub cron: Option<&'static [&'static str]>,
    /// Whether the curated file counts whatever the case of its name.
    pub curated_in_any_case: bool,
    /// Characters of one file, at most.
    pub limit: usize,
    /// Files that have a limit of their own, whatever the case of their name.
    pub limits: &'static [(&'static str, usize)],
    /// Characters of all files, at most.
    pub total: usize,
    /// Whether an audit reports files that are too long together.
    pub audits_total: bool,
    /// What becomes of the notes of today and yesterday.
    pub notes: DailyNotes,
    /// The form in which this version notes sessions.
    pub note_form: NoteForm,
    /// How a file that is too long is shortened.
    pub cutting: Cutting,
    /// Whether the text distinguishes an unreadable file from a missing one.
    pub tells_unreadable: bool,
    /// Returns the text in the place of a missing file, by the workspace and the path in it.
    pub missing: fn(&Path, &str) -> String,
    /// The text above the files.
    pub opening: &'static str,
    /// Returns a file with its heading, by the workspace, the path in it and the content.
    pub section: fn(&Path, &str, &str) -> String,
}

/// Limits that the user set, instead of those of the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextLimits {
    /// Characters of one file, at most. A file with a limit of its own keeps that, or has less.
    pub file: Option<usize>,
    /// Characters of all files, at most.
    pub total: Option<usize>,
}

/// What becomes of the notes of today and yesterday.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DailyNotes {
    /// They are files like the others.
    Whole,
    /// The runtime leaves it to the agent to read them.
    LeftToAgent,
    /// A short excerpt of each, within a budget of their own.
    Excerpts,
}

/// A file that a session is to see, or why it is not.
pub(super) struct FileRow {
    pub(super) path: String,
    /// Whether a missing file is passed over without a notice.
    pub(super) is_optional: bool,
    pub(super) place: PartPlace,
    pub(super) kept_out: Option<Fate>,
}

impl ContextRules {
    /// Returns how many characters of a file are shown.
    #[must_use]
    pub fn limit_of(&self, name: &str) -> usize {
        let own = self.limits.iter().find(|(file, _)| name.eq_ignore_ascii_case(file));
        own.map_or(self.limit, |(_, limit)| *limit)
    }

    /// Returns how many characters of a file are shown within limits that the user set.
    pub(super) fn limit_within(&self, limits: ContextLimits, name: &str) -> usize {
        let own = self.limit_of(name);
        match limits.file {
            Some(limit) if own == self.limit => limit,
            Some(limit) => own.min(limit),
            None => own,
        }
    }

    /// Returns the files for sessions without a person; `None`: all but the private ones.
    const fn allowed(&self, session: SessionKind) -> Option<&'static [&'static str]> {
        match session {
            SessionKind::Subagent => self.subagent,
            SessionKind::Cron => self.cron,
            SessionKind::Main
            | SessionKind::First
            | SessionKind::Heartbeat
            | SessionKind::Boot
            | SessionKind::Webhook
            | SessionKind::Group => None,
        }
    }

    /// Returns the files of a session, including those that are kept out of it.
    pub(super) fn rows(&self, store: &MarkdownStore, asked: &ComposeRequest) -> Vec<FileRow> {
        let mut rows = Vec::new();
        let session = asked.session;
        let allowed = self.allowed(session);
        for name in self.files {
            let is_curated = *name == CURATED;
            let path = if is_curated && self.curated_in_any_case { store.curated() } else { name };
            let is_private = is_curated && !session.is_private();
            let is_kept_out = is_private || allowed.is_some_and(|files| !files.contains(name));
            let kept_out = is_kept_out.then_some(Fate::Private);
            let is_optional = is_curated || self.optional.contains(name);
            let place = if is_curated { PartPlace::Memory } else { PartPlace::File };
            rows.push(FileRow { path: path.to_owned(), is_optional, place, kept_out });
        }
        // These are seldom there, and no runtime says that they are missing.
        let exists = |path: &str| fs_err::symlink_metadata(store.root().join(path)).is_ok();
        let only = self.only.iter().filter(|(name, _)| exists(name)).map(|(name, kind)| FileRow {
            path: (*name).to_owned(),
            is_optional: true,
            place: PartPlace::File,
            kept_out: (*kind != session).then_some(Fate::OtherSession(*kind)),
        });
        // They follow the files that say who the agent is, and precede what it remembers.
        let memories = rows.iter().position(|row| row.place == PartPlace::Memory);
        let at = memories.unwrap_or(rows.len());
        rows.splice(at..at, only);
        if exists(WORKING_FILE) {
            rows.push(FileRow {
                path: WORKING_FILE.to_owned(),
                is_optional: true,
                place: PartPlace::Memory,
                kept_out: (!session.is_private()).then_some(Fate::Private),
            });
        }
        if asked.daily_notes() != DailyNotes::Excerpts {
            rows.extend(Self::log_rows(store, asked));
        }
        rows
    }

    fn log_rows(store: &MarkdownStore, asked: &ComposeRequest) -> Vec<FileRow> {
        let kept_out = match (asked.daily_notes(), asked.session.may_recall()) {
            (_, false) => Some(Fate::Private),
            (DailyNotes::Whole, true) => None,
            (DailyNotes::LeftToAgent | DailyNotes::Excerpts, true) => Some(Fate::NotInjected),
        };
        let today = asked.today;
        let days = [Some(today), today.yesterday().ok()];
        let row = |day: Date| FileRow {
            path: store.daily(day),
            is_optional: true,
            place: PartPlace::Notes,
            kept_out: kept_out.clone(),
        };
        days.into_iter().flatten().map(row).collect()
    }

    /// Returns the text in the place of a missing file.
    pub(super) fn missing(&self, store: &MarkdownStore, path: &str) -> String {
        (self.missing)(store.root(), path)
    }

    /// Returns a file with its heading.
    pub(super) fn section(&self, store: &MarkdownStore, path: &str, content: &str) -> String {
        (self.section)(store.root(), path, content)
    }
}
