//! Undoing changes of a memory, one by one.

use anemone::remember::{DuplicateCheck, MemoryPart};
use anemone::undo::{
    ChangeState, EditKind, ListedChange, UndoAction, UndoError, clear_changes, count_changes,
    list_changes,
};
use anemone_memory::RevertError;

use crate::support::memory::{TestMemory, id};

const MEMORY: &str = "# Memory\n\n- The shop sells tea.\n";

fn with_changes() -> TestMemory {
    let memory = TestMemory::of("openclaw");
    memory.write("ws/MEMORY.md", MEMORY);
    memory.remember_with("one", |request| request.duplicates = DuplicateCheck::Skip);
    memory.remember_with("two", |request| {
        request.duplicates = DuplicateCheck::Skip;
        request.part = MemoryPart::Curated;
    });
    memory
}

fn changes(memory: &TestMemory) -> Vec<ListedChange> {
    memory.run(|host| list_changes(&memory.choice(), host)).unwrap()
}

fn assert_nothing_to_undo(memory: &TestMemory) {
    let error = memory.try_undo(|_| {}).unwrap_err();
    assert!(matches!(error, UndoError::Memory(RevertError::Nothing)), "{error:?}");
}

#[test]
fn each_undo_goes_one_change_further_back() {
    let memory = with_changes();
    let report = memory.undo();
    assert_eq!(report.undone.what, "remember");
    assert_eq!(report.edits[0].path, "MEMORY.md");
    assert_eq!(memory.text("MEMORY.md"), MEMORY);
    let report = memory.undo();
    let log = &report.edits[0];
    assert_eq!(log.what, EditKind::Remove);
    assert!(!memory.exists(&format!("ws/{}", log.path)));
    let states: Vec<_> = changes(&memory).iter().map(|change| change.state).collect();
    let (undo, undone) = (ChangeState::Undo, ChangeState::Undone);
    assert_eq!(states, [undo, undo, undone, undone]);
    assert_nothing_to_undo(&memory);
}

#[test]
fn the_list_says_what_was_changed() {
    let memory = with_changes();
    memory.forget(id("MEMORY.md#L3"));
    memory.undo();
    let listed = changes(&memory);
    assert_eq!(listed[1].text.as_deref(), Some("The shop sells tea."), "{listed:?}");
    assert_eq!((&*listed[1].what, listed[1].state), ("forget", ChangeState::Undone));
}

#[test]
fn a_dry_run_and_a_list_change_nothing() {
    let memory = with_changes();
    let before = memory.everything();
    let report = memory.try_undo(|request| request.dry_run = true).unwrap();
    assert_eq!(
        (report.edits[0].what, report.edits[0].bytes),
        (EditKind::Write, Some(MEMORY.len()))
    );
    changes(&memory);
    assert!(before == memory.everything());
}

#[test]
fn what_others_wrote_since_stays_when_a_change_is_reverted() {
    let memory = with_changes();
    let was = memory.text("MEMORY.md");
    memory.write("ws/MEMORY.md", format!("{was}mine\n"));
    memory.undo();
    let text = memory.text("MEMORY.md");
    assert!(text.ends_with("mine\n") && text.len() < was.len(), "{text}");
}

#[test]
fn what_somebody_changed_since_is_a_conflict_and_can_be_skipped() {
    let memory = with_changes();
    // The added text has been edited since.
    let mine = memory.text("MEMORY.md").replace("- two ", "- two and a half ");
    memory.write("ws/MEMORY.md", &mine);
    let error = memory.try_undo(|_| {}).unwrap_err();
    assert!(matches!(error, UndoError::Memory(RevertError::Conflict { .. })), "{error:?}");
    memory.try_undo(|request| request.action = UndoAction::Skip).unwrap();
    memory.undo();
    assert_eq!(memory.text("MEMORY.md"), mine);
}

#[test]
fn an_emptied_journal_has_nothing_to_undo() {
    let memory = with_changes();
    let choice = memory.choice();
    assert_eq!(memory.run(|host| count_changes(&choice, host)).unwrap(), 2);
    assert_eq!(changes(&memory).len(), 2);
    assert_eq!(memory.run(|host| clear_changes(&choice, host)).unwrap(), 2);
    assert_nothing_to_undo(&memory);
}
