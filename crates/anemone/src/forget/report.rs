//! What a forget did.

use anemone_memory::{EntryToForget, FinishedForget, ForgetMarker, JournalErasure, RowsRecord};
use serde::Serialize;

use super::holders::{HolderKind, TextHolder};

/// What was forgotten, or would be.
#[derive(Debug, Default, Serialize)]
pub struct ForgetReport {
    /// Whether nothing was to be changed.
    pub dry_run: bool,
    /// Whether the user was asked and said no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub declined: bool,
    /// What went.
    pub entries: Vec<EntryToForget>,
    /// Files that could not be looked into.
    pub skipped: Vec<SkippedFile>,
    /// Lines that say that something was forgotten.
    pub tombstones: usize,
    /// Whether an undo brings it back.
    pub can_be_undone: bool,
    /// Changes that can no longer be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped_changes: Option<usize>,
    /// Other changes that can no longer be undone, because they were about entries that are
    /// forgotten for good.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undo_lost: Vec<LostChange>,
    /// Other indexes of the same memory that held the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped_indexes: Vec<String>,
    /// What was searched for the text afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<ErasureProof>,
    /// What the user should know.
    #[serde(skip)]
    pub notes: Vec<ForgetWarning>,
    /// The same in the words of the program that asked.
    #[serde(rename = "notes")]
    pub note_words: Vec<String>,
    /// The notes that a forget is under way: until the user was told of it, it can be repeated.
    #[serde(skip)]
    under_way: (Option<ForgetMarker>, Vec<FinishedForget>),
}

/// A change that can no longer be undone.
#[derive(Clone, Debug, Serialize)]
pub struct LostChange {
    /// What was asked for, such as `remember`.
    pub what: String,
    /// When it was made.
    pub at: String,
    /// The files and databases that it changed.
    pub files: Vec<String>,
}

/// A file that could not be looked into.
#[derive(Clone, Debug, Serialize)]
pub struct SkippedFile {
    /// The file.
    pub path: String,
    /// Why not.
    pub reason: String,
}

/// What the user should know of a forget.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForgetWarning {
    /// An earlier run was interrupted and has been finished.
    Resumed {
        /// Entries of the same request.
        own: usize,
        /// Entries of other requests.
        others: usize,
    },
    /// More entries match the query than go.
    OtherMatches {
        /// The query.
        query: String,
        /// How many more.
        others: usize,
        /// Whether there may be even more.
        is_least: bool,
    },
    /// A table has no rows left; its header was kept.
    TableWithoutRows(String),
    /// Entries stood only in the undo journal.
    OnlyInJournal(usize),
    /// The text stays in unused pages of the database, because it is in use.
    DatabaseInUse,
    /// Archives of the memory are no longer where they were written to.
    ArchivesMoved(u64),
    /// The runtime's own index and transcripts were not searched, because no install was found.
    /// The title of the runtime is given.
    NoInstall(&'static str),
}

/// What was searched to see that something is gone.
#[derive(Clone, Debug, Serialize)]
pub struct ErasureProof {
    /// Whether every place was searched for every text, and no known place contains one.
    pub absent: bool,
    /// Files that were read.
    pub scanned_files: u64,
    /// Bytes that were read.
    pub scanned_bytes: u64,
    /// Files in which a text still is; what undo goes back to is not among them.
    pub found: Vec<PathFound>,
    /// Everything that still holds a text.
    #[serde(skip)]
    pub holders: Vec<TextHolder>,
    /// The same in the words of the program that asked.
    #[serde(rename = "holders")]
    pub holder_words: Vec<HolderMessage>,
    /// Changes that can be undone in which a text is.
    pub in_journal: usize,
    /// Texts that are too short to be searched for.
    pub too_short: u64,
    /// Entries whose text is no longer known, because an interrupted forget had removed it.
    pub unknown: u64,
    /// Files that could not be read.
    pub unreadable: Vec<String>,
}

/// A file in which a text still is.
#[derive(Clone, Debug, Serialize)]
pub struct PathFound {
    /// The file.
    pub path: String,
}

/// Something that still holds a forgotten text, and what removes it there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HolderMessage {
    /// A file, a folder or another program's store.
    pub place: String,
    /// A stable word for what it is.
    pub kind: &'static str,
    /// A command, or what to do.
    pub clear_with: String,
}

impl ErasureProof {
    /// Returns what holds a text and is no undo journal.
    pub fn others(&self) -> impl Iterator<Item = &TextHolder> {
        self.holders.iter().filter(|holder| holder.kind != HolderKind::Journal)
    }
}

impl SkippedFile {
    pub(super) fn of((path, reason): &(String, String)) -> Self {
        Self { path: path.clone(), reason: reason.clone() }
    }
}

impl LostChange {
    pub(super) fn all(erasure: &JournalErasure) -> Vec<Self> {
        let lost = erasure.dropped.iter().map(|(_, noted)| {
            let files = noted.edits.iter().map(|edit| edit.path.clone());
            Self {
                what: noted.what.clone(),
                at: noted.at.clone(),
                files: files.chain(noted.rows.as_ref().map(RowsRecord::name)).collect(),
            }
        });
        lost.collect()
    }
}

impl ForgetReport {
    pub(super) fn planned(
        entries: &[&EntryToForget],
        skipped: &[(String, String)],
        dry_run: bool,
    ) -> Self {
        Self {
            dry_run,
            entries: entries.iter().map(|entry| (*entry).clone()).collect(),
            skipped: skipped.iter().map(SkippedFile::of).collect(),
            ..Self::default()
        }
    }

    pub(super) fn under_way(&mut self, begun: Option<ForgetMarker>, finished: Vec<FinishedForget>) {
        self.under_way = (begun, finished);
    }

    /// Confirms that the report was delivered. From then on the same request is a new one.
    pub fn told(&mut self) {
        let (begun, finished) = std::mem::take(&mut self.under_way);
        begun.into_iter().for_each(ForgetMarker::end);
        finished.into_iter().for_each(FinishedForget::end);
    }

    /// Says that the user was asked and said no: nothing was forgotten.
    pub(super) fn declined(mut self) -> Self {
        self.declined = true;
        self.entries.clear();
        self
    }
}
