//! The times of texts that have none of their own, without an earlier archive.

use std::path::{Path, PathBuf};

use anemone_format::{Record, Snapshot};
use anemone_testkit::ground::{Ground, records_of};
use serde_json::{Value, json};

use super::times;
use crate::support::TestMachine;
use crate::support::transfer::With;
use crate::workspace::{export, import};

const LATER: u64 = 1_780_000_000;
const LATER_TEXT: &str = "2026-05-28T20:26:40Z";
const TEXT: &str = "# Memory\n\nFirst.\n\n## Tea\n\nGreen.\n\n## Port\n\nIt is 8443.\n";
const LOG: &str = "# 2026-02-03\n\n## 09:00\n\nOne.\n\n## Noon\n\nTwo.\n";

/// Makes a workspace whose files are old, and exports it.
fn exported() -> (TestMachine, Ground, PathBuf) {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    for (name, text) in [("w/MEMORY.md", TEXT), ("w/memory/2026-02-03.md", LOG)] {
        ground.write(name, text);
        ground.touch(name, 1_770_000_000);
    }
    let workspace = ground.path("w");
    export(&machine, &workspace, "a.alf", &[]);
    (machine, ground, workspace)
}

fn write(ground: &Ground, name: &str, text: &str) {
    ground.write(name, text);
    ground.touch(name, LATER);
}

fn read(machine: &TestMachine, workspace: &Path, archive: &str) -> Snapshot {
    export(machine, workspace, archive, &[]);
    machine.snapshot(archive)
}

/// Returns the times of each record, by its text.
fn by_text(snapshot: &Snapshot) -> Vec<(String, Value)> {
    let of = |record: &Record| (record.content.trim().to_owned(), times(record));
    snapshot.records.iter().map(of).collect()
}

/// Returns the note of times, wherever it is.
fn notes(machine: &TestMachine) -> Vec<PathBuf> {
    let all = machine.everything().into_keys();
    all.filter(|path| path.ends_with("times.json")).map(|path| machine.root().join(path)).collect()
}

#[test]
fn two_exports_of_an_unchanged_workspace_are_identical() {
    let (machine, _ground, workspace) = exported();
    export(&machine, &workspace, "b.alf", &[]);
    assert!(machine.read("a.alf") == machine.read("b.alf"));
}

#[test]
fn an_appended_section_leaves_the_times_of_its_neighbours_alone() {
    let (machine, ground, workspace) = exported();
    let before = by_text(&machine.snapshot("a.alf"));
    write(&ground, "w/MEMORY.md", &format!("{TEXT}\n## Rain\n\nNew.\n"));
    write(&ground, "w/memory/2026-02-03.md", &format!("{LOG}\n## Night\n\nThree.\n"));
    let after = by_text(&read(&machine, &workspace, "b.alf"));
    assert_eq!((before.len(), after.len()), (6, 8));
    for (text, times) in &before {
        let now = after.iter().find(|(now, _)| now == text);
        assert_eq!(now.map(|(_, now)| now), Some(times), "{text}");
    }
    let new = after.iter().find(|(text, _)| text.starts_with("## Rain")).unwrap();
    assert_eq!(new.1["created_at"], LATER_TEXT);
}

#[test]
fn a_touched_file_keeps_the_times_of_its_texts_until_the_note_is_gone() {
    let (machine, ground, workspace) = exported();
    let before = by_text(&machine.snapshot("a.alf"));
    ground.touch("w/MEMORY.md", LATER);
    assert_eq!(by_text(&read(&machine, &workspace, "b.alf")), before);
    fs_err::remove_dir_all(machine.root().join("state")).unwrap();
    let after = by_text(&read(&machine, &workspace, "c.alf"));
    let tea = after.iter().find(|(text, _)| text.starts_with("## Tea")).unwrap();
    assert_eq!(tea.1["created_at"], LATER_TEXT);
}

#[test]
fn a_moved_section_keeps_its_times_and_an_edited_one_that_of_its_creation() {
    let (machine, ground, workspace) = exported();
    let before = machine.snapshot("a.alf");
    let before = records_of(&before, "MEMORY.md");
    let text = "# Memory\n\nFirst.\n\n## Tea\n\nOolong.\n\n## New\n\n.\n\n## Port\n\nIt is 8443.\n";
    write(&ground, "w/MEMORY.md", text);
    let after = read(&machine, &workspace, "b.alf");
    let after = records_of(&after, "MEMORY.md");
    assert_eq!((times(after[0]), times(after[3])), (times(before[0]), times(before[2])));
    let tea = (times(before[1])["created_at"].clone(), json!(LATER_TEXT));
    assert_eq!((times(after[1])["created_at"].clone(), times(after[1])["updated_at"].clone()), tea);
    assert_eq!(times(after[2])["created_at"], LATER_TEXT);
}

#[test]
fn a_dry_run_notes_nothing_and_files_that_are_gone_are_dropped() {
    let (machine, ground, workspace) = exported();
    let [note] = &notes(&machine)[..] else { panic!("{:?}", notes(&machine)) };
    let noted = fs_err::read(note).unwrap();
    write(&ground, "w/MEMORY.md", "# Memory\n\nAnother.\n");
    export(&machine, &workspace, "b.alf", &[With::DryRun]);
    assert_eq!(fs_err::read(note).unwrap(), noted);
    let text = String::from_utf8(noted).unwrap();
    assert!(text.contains("memory/2026-02-03.md") && !text.contains("Green"), "{text}");
    fs_err::remove_file(workspace.join("memory/2026-02-03.md")).unwrap();
    export(&machine, &workspace, "b.alf", &[]);
    assert!(!fs_err::read_to_string(note).unwrap().contains("2026-02-03"));
}

#[test]
fn a_note_that_cannot_be_written_or_read_stops_nothing() {
    let (machine, ground, workspace) = exported();
    let [note] = &notes(&machine)[..] else { panic!("{:?}", notes(&machine)) };
    fs_err::write(note, "{\"files\":7}").unwrap();
    export(&machine, &workspace, "b.alf", &[]);
    assert!(machine.read("a.alf") == machine.read("b.alf"));
    fs_err::remove_file(note).unwrap();
    fs_err::create_dir(note).unwrap();
    write(&ground, "w/MEMORY.md", "# Memory\n\nAnother.\n");
    let exported = export(&machine, &workspace, "c.alf", &[]);
    let warnings = exported["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["code"] == "times_not_noted"), "{exported}");
    assert!(machine.exists("c.alf"));
}

#[test]
fn an_import_brings_the_times_of_texts_to_another_machine() {
    let (machine, ground, workspace) = exported();
    write(&ground, "w/MEMORY.md", &format!("{TEXT}\n## Rain\n\nNew.\n"));
    let before = by_text(&read(&machine, &workspace, "b.alf"));
    let (elsewhere, other) = (TestMachine::new(), Ground::new());
    fs_err::copy(machine.path("b.alf"), elsewhere.path("b.alf")).unwrap();
    let back = other.path("back");
    import(&elsewhere, &back, "b.alf", &[]);
    assert_eq!(by_text(&read(&elsewhere, &back, "c.alf")), before);
}
