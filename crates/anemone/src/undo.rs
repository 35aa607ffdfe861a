//! Undoes the last change of a memory, lists the changes that can be undone, and empties the undo
//! journal.

use std::collections::HashSet;

use anemone_memory::{
    ChangeId, ChangeRecord, Edit, RestoredText, RevertError, RowsRecord, RowsUndo, plan_undo,
};
use serde::Serialize;

use crate::agent_memory::{Access, AgentMemory, AgentMemoryError, MemoryChoice};
use crate::host::Host;

/// Characters of a text that names a change.
const PREVIEW_CHARS: usize = 60;

/// Which change is undone.
#[derive(Clone, Debug)]
pub struct UndoRequest {
    /// Whose memory.
    pub memory: MemoryChoice,
    /// What happens to the last change.
    pub action: UndoAction,
    /// Whether anything is changed.
    pub dry_run: bool,
}

/// What happens to the last change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UndoAction {
    /// It is reverted.
    #[default]
    Revert,
    /// It is kept, and the next undo reverts the change before it.
    Skip,
}

/// What was undone, or would be.
#[derive(Clone, Debug)]
pub struct UndoReport {
    /// The change.
    pub undone: ListedChange,
    /// What is done to files.
    pub edits: Vec<PlannedEdit>,
    /// What is done to rows of a database.
    pub rows: Option<RowsUndo>,
    /// By which the undo itself can be undone.
    pub change: Option<String>,
    /// Entries that an editor had dropped and that were put back meanwhile.
    pub restored: Vec<RestoredText>,
    /// Old changes that can no longer be undone.
    pub dropped: usize,
}

/// A change of the journal.
#[derive(Clone, Debug, Serialize)]
pub struct ListedChange {
    /// Its id.
    pub id: String,
    /// What was asked for, such as `remember`.
    pub what: String,
    /// When it was made.
    pub at: String,
    /// The files and databases that it changed.
    pub files: Vec<String>,
    /// Whether it still holds.
    pub state: ChangeState,
    /// The first words of what it was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Whether a change still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeState {
    /// It does.
    Made,
    /// It was undone.
    Undone,
    /// It undid another one.
    Undo,
    /// It is passed over.
    Skipped,
}

/// What is done to a file.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedEdit {
    /// The file.
    pub path: String,
    /// What is done to it.
    pub what: EditKind,
    /// How many bytes are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
}

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EditKind {
    /// Something is added to it.
    Append,
    /// It is replaced.
    Write,
    /// It is removed.
    Remove,
}

/// Why nothing was undone.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum UndoError {
    /// The change cannot be undone.
    Memory(#[from] RevertError),
    /// The memory was not found, or cannot be opened.
    Open(#[from] AgentMemoryError),
}

/// Undoes the last change of a memory, or passes it over.
pub fn undo(request: &UndoRequest, host: &Host) -> Result<UndoReport, UndoError> {
    let access = Access::Change.unless(request.dry_run);
    let (_machine, living) = request.memory.open(access, host)?;
    let (id, noted) = last_change(&living)?;
    let memory = living.memory_of(noted.rows.as_ref());
    // Every obstacle is reported before anything is changed.
    let planned = match request.action {
        UndoAction::Revert => Some(plan_undo(&*memory)?),
        UndoAction::Skip => None,
    };
    if request.dry_run {
        let (edits, rows) = planned.map(|plan| (edits(&plan), plan.rows)).unwrap_or_default();
        let undone = ListedChange::of(id, &noted, ChangeState::Made);
        return Ok(UndoReport::of(undone, edits, rows));
    }
    let held = memory.store().lock().map_err(RevertError::from)?;
    let (report, applied) = match request.action {
        UndoAction::Revert => {
            let (undo, applied) =
                anemone_memory::undo(&*memory, &held, host.fresh_id(), host.now())?;
            let undone = ListedChange::of(undo.id, &undo.noted, ChangeState::Undone);
            (UndoReport::of(undone, edits(&undo), undo.rows), applied)
        }
        UndoAction::Skip => {
            let (id, noted) = last_change(&living)?;
            let applied = held.skip(id, host.fresh_id(), host.now())?;
            let undone = ListedChange::of(id, &noted, ChangeState::Skipped);
            (UndoReport::of(undone, Vec::new(), None), applied)
        }
    };
    let change = Some(applied.id.0.to_string());
    Ok(UndoReport { change, restored: applied.restored, dropped: applied.dropped, ..report })
}

/// Lists the changes of a memory that can be undone, the newest first.
pub fn list_changes(memory: &MemoryChoice, host: &Host) -> Result<Vec<ListedChange>, UndoError> {
    let (_machine, living) = memory.open(Access::Read, host)?;
    let all = living.site.changes().map_err(RevertError::from)?;
    let undone: HashSet<ChangeId> = all.iter().filter_map(|(_, noted)| noted.undoes).collect();
    let state = |id: &ChangeId, noted: &ChangeRecord| match noted.undoes {
        Some(_) => ChangeState::Undo,
        None if undone.contains(id) => ChangeState::Undone,
        None => ChangeState::Made,
    };
    let mut listed = Vec::new();
    for (id, noted) in &all {
        let text = living.site.preview(*id).map_err(RevertError::from)?;
        let text = text.map(|text| first_words(&text));
        listed.push(ListedChange { text, ..ListedChange::of(*id, noted, state(id, noted)) });
    }
    Ok(listed)
}

/// Says how many changes [`clear_changes`] would drop.
pub fn count_changes(memory: &MemoryChoice, host: &Host) -> Result<usize, UndoError> {
    let (_machine, living) = memory.open(Access::Read, host)?;
    Ok(living.site.changes().map_err(RevertError::from)?.len())
}

/// Empties the undo journal: no earlier change can be undone. Returns how many changes it had.
pub fn clear_changes(memory: &MemoryChoice, host: &Host) -> Result<usize, UndoError> {
    let (_machine, living) = memory.open(Access::Change, host)?;
    let held = living.site.lock().map_err(RevertError::from)?;
    Ok(held.clear_changes().map_err(RevertError::from)?)
}

fn last_change(living: &AgentMemory) -> Result<(ChangeId, ChangeRecord), UndoError> {
    let last = living.site.last_change().map_err(RevertError::from)?;
    Ok(last.ok_or(RevertError::Nothing)?)
}

fn edits(undo: &anemone_memory::Undo) -> Vec<PlannedEdit> {
    undo.change.edits.iter().map(PlannedEdit::of).collect()
}

impl UndoReport {
    fn of(undone: ListedChange, edits: Vec<PlannedEdit>, rows: Option<RowsUndo>) -> Self {
        Self { undone, edits, rows, change: None, restored: Vec::new(), dropped: 0 }
    }
}

impl ListedChange {
    fn of(id: ChangeId, noted: &ChangeRecord, state: ChangeState) -> Self {
        let files = noted.edits.iter().map(|edit| edit.path.clone());
        Self {
            id: id.0.to_string(),
            what: noted.what.clone(),
            at: noted.at.clone(),
            files: files.chain(noted.rows.as_ref().map(RowsRecord::name)).collect(),
            state,
            text: None,
        }
    }
}

impl PlannedEdit {
    fn of(edit: &Edit) -> Self {
        let (what, bytes) = match edit {
            Edit::Append { text, .. } => (EditKind::Append, Some(text.len())),
            Edit::Write { after, .. } => (EditKind::Write, Some(after.len())),
            Edit::Remove { .. } => (EditKind::Remove, None),
        };
        Self { path: edit.path().to_owned(), what, bytes }
    }
}

/// Returns the beginning of a text, on one line.
fn first_words(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(PREVIEW_CHARS) {
        Some((end, _)) => format!("{}...", line[..end].trim_end()),
        None => line,
    }
}
