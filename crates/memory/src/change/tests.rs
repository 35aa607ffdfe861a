//! Changes as a caller makes them: all or nothing, with editors around.

use std::time::Duration;

use crate::{
    ACTIVE_CONTEXT, ApplyError, Change, Edit, MarkdownLayout, MarkdownStore, MarkdownStoreError,
    NewEntry, PageKind, RevertError, render,
};
use anemone_files::faults::with_faults;
use anemone_format::{Origin, ProvenanceStamp};
use jiff::Timestamp;
use uuid::Uuid;

const LOG: &str = "memory/2026-11-16.md";
const NOW: Timestamp = Timestamp::UNIX_EPOCH;

struct Place {
    kept: tempfile::TempDir,
    site: MarkdownStore,
    next: std::cell::Cell<u128>,
}

impl Place {
    fn new() -> Self {
        let kept = tempfile::tempdir().unwrap();
        fs_err::create_dir(kept.path().join("w")).unwrap();
        let state = kept.path().join("s");
        let site =
            MarkdownStore::open(&kept.path().join("w"), &state, MarkdownLayout::PLAIN).unwrap();
        Self { kept, site, next: 1.into() }
    }

    fn id(&self) -> Uuid {
        self.next.set(self.next.get() + 1);
        Uuid::from_u128(self.next.get())
    }

    fn entry(&self, text: &str) -> String {
        let at = "2026-11-16T10:00:00Z".parse().unwrap();
        let stamp = ProvenanceStamp::new(self.id(), Origin::Agent, at);
        render(&NewEntry { text: text.to_owned(), key: None, label: None, tags: Vec::new(), stamp })
    }

    fn append(&self, text: &str) -> Change {
        let edit = Edit::Append {
            path: LOG.to_owned(),
            head: "# 2026-11-16\n\n".to_owned(),
            text: text.to_owned(),
        };
        Change::new("remember", vec![edit])
    }

    fn apply(&self, change: &Change) -> Result<usize, ApplyError> {
        let applied = self.site.lock()?.apply(change, self.id(), NOW)?;
        Ok(applied.restored.len())
    }

    fn undo(&self) -> Result<(), RevertError> {
        let held = self.site.lock()?;
        let undo = self.site.plan_undo()?;
        held.undo(&undo, self.id(), NOW)?;
        Ok(())
    }

    fn replace(&self, path: &str, text: &str) -> Change {
        let edit = match self.site.read(path).unwrap() {
            Some(seen) => Edit::replace(&seen, text.into()),
            None => Edit::Write { path: path.to_owned(), before: None, after: text.into() },
        };
        Change::new("tidy", vec![edit])
    }

    fn text(&self, path: &str) -> String {
        fs_err::read_to_string(self.site.root().join(path)).unwrap_or_default()
    }

    /// Saves as an editor does: a new file gets the name of the old one.
    fn save(&self, path: &str, text: &str) {
        let beside = self.site.root().join("beside");
        fs_err::write(&beside, text).unwrap();
        fs_err::rename(beside, self.site.root().join(path)).unwrap();
    }

    /// Saves in place, as many editors do.
    fn overwrite(&self, path: &str, text: &str) {
        fs_err::write(self.site.root().join(path), text).unwrap();
    }

    /// Does not wait: a file that does not rest is refused at once.
    fn without_patience(mut self) -> Self {
        self.site.rest_times.patience = Duration::ZERO;
        self.site.rest_times.saved = Duration::ZERO;
        self.site.rest_times.emptied = Duration::from_secs(3_600);
        self
    }

    /// Makes it look as if a file had been saved later.
    fn age(&self, path: &str, seconds: u64) {
        let path = self.site.root().join(path);
        let file = fs_err::OpenOptions::new().write(true).open(path).unwrap();
        let saved = file.metadata().unwrap().modified().unwrap();
        file.file().set_modified(saved + std::time::Duration::from_secs(seconds)).unwrap();
    }
}

#[test]
fn a_new_log_has_its_head_once_and_undo_leaves_no_trace() {
    let place = Place::new();
    let (one, two) = (place.entry("one"), place.entry("two"));
    place.apply(&place.append(&one)).unwrap();
    place.apply(&place.append(&two)).unwrap();
    assert_eq!(place.text(LOG), format!("# 2026-11-16\n\n{one}{two}"));
    place.undo().unwrap();
    assert_eq!(place.text(LOG), format!("# 2026-11-16\n\n{one}"));
    place.undo().unwrap();
    assert!(!place.site.root().join(LOG).exists());
    assert!(matches!(place.undo(), Err(RevertError::Nothing)));
}

#[test]
fn undo_cuts_an_entry_wherever_it_stands_now() {
    let place = Place::new();
    let one = place.entry("one");
    place.apply(&place.append(&one)).unwrap();
    place.save(LOG, &format!("before\n{one}after\n"));
    place.undo().unwrap();
    assert_eq!(place.text(LOG), "before\nafter\n");
}

#[test]
fn undo_does_not_write_over_what_somebody_else_wrote() {
    let place = Place::new();
    place.apply(&place.replace("MEMORY.md", "one\n")).unwrap();
    place.apply(&place.replace("MEMORY.md", "two\n")).unwrap();
    place.save("MEMORY.md", "theirs\n");
    assert!(matches!(place.undo(), Err(RevertError::Conflict { .. })));
    assert_eq!(place.text("MEMORY.md"), "theirs\n");
    place.save("MEMORY.md", "two\n");
    place.undo().unwrap();
    assert_eq!(place.text("MEMORY.md"), "one\n");
}

#[test]
fn a_change_that_is_passed_over_lets_undo_go_on() {
    let place = Place::new();
    let one = place.entry("one");
    place.apply(&place.append(&one)).unwrap();
    place.apply(&place.replace("MEMORY.md", "two\n")).unwrap();
    place.save("MEMORY.md", "theirs\n");
    let (last, _) = place.site.last_change().unwrap().unwrap();
    place.site.lock().unwrap().skip(last, place.id(), NOW).unwrap();
    place.undo().unwrap();
    assert_eq!((place.text(LOG), place.text("MEMORY.md")), (String::new(), "theirs\n".to_owned()));
}

#[test]
fn a_change_of_many_files_is_made_as_a_whole_or_not_at_all() {
    let place = Place::new();
    place.save("a.md", "a\n");
    place.save("b.md", "b\n");
    let mut change = place.replace("a.md", "A\n");
    change.edits.extend(place.replace("b.md", "B\n").edits);
    place.save("b.md", "theirs\n");
    assert!(matches!(place.apply(&change), Err(ApplyError::Changed { .. })));
    assert_eq!((place.text("a.md"), place.text("b.md")), ("a\n".into(), "theirs\n".into()));

    // The second edit fails: a folder occupies the path of its file.
    let mut change = place.replace("a.md", "A\n");
    change.edits.extend(place.append("- x\n").edits);
    fs_err::write(place.site.root().join("memory"), "no folder").unwrap();
    assert!(matches!(
        place.apply(&change),
        Err(ApplyError::Store(MarkdownStoreError::NotPlain(_)))
    ));
    assert_eq!(place.text("a.md"), "a\n");
    assert_eq!(place.site.changes().unwrap(), []);

    let mut change = place.replace("a.md", "A\n");
    change.edits.extend(place.replace("a.md", "B\n").edits);
    assert!(matches!(place.apply(&change), Err(ApplyError::Twice(_))));
}

#[test]
fn an_entry_that_an_editor_dropped_unseen_comes_back_once() {
    let place = Place::new();
    let (one, two, three) = (place.entry("one"), place.entry("two"), place.entry("three"));
    place.apply(&place.append(&one)).unwrap();
    let loaded = place.text(LOG);
    place.apply(&place.append(&two)).unwrap();
    place.save(LOG, &format!("{loaded}mine\n"));
    assert_eq!(place.apply(&place.append(&three)).unwrap(), 1);
    let text = place.text(LOG);
    for entry in [&one, &two, &three] {
        assert_eq!(text.matches(entry.as_str()).count(), 1, "{text}");
    }
    assert!(text.contains("mine\n"));
    assert_eq!(place.site.lock().unwrap().restored(), []);
}

#[test]
fn an_entry_that_was_curated_comes_back_too() {
    let place = Place::new();
    place.save("MEMORY.md", "# Mine\n");
    let one = place.entry("one");
    place.apply(&place.replace("MEMORY.md", &format!("# Mine\n\n{one}"))).unwrap();
    place.save("MEMORY.md", "# Mine\n\nmore");
    assert_eq!(place.site.lock().unwrap().restored().len(), 1);
    assert_eq!(place.text("MEMORY.md"), format!("# Mine\n\nmore\n{one}"));
}

#[test]
fn what_we_composed_is_not_put_back_into_a_file_that_somebody_rewrote() {
    let place = Place::new();
    let one = place.entry("Updated 2026-11-16 10:00");
    place.apply(&place.replace(ACTIVE_CONTEXT, &format!("# Active context\n\n{one}"))).unwrap();
    place.save(ACTIVE_CONTEXT, "# Mine\r\n\r\nmore\r\n");
    let two = place.entry("two");
    assert_eq!(place.apply(&place.append(&two)).unwrap(), 0);
    assert_eq!(place.text(ACTIVE_CONTEXT), "# Mine\r\n\r\nmore\r\n");
}

#[test]
fn an_addition_has_the_line_endings_of_its_file_and_comes_back_with_them() {
    for (there, wanted) in [
        ("# Log\r\n\r\n- tea\r\n", "# Log\r\n\r\n- tea\r\n{}"),
        ("# Log\r\n\r\n- tea", "# Log\r\n\r\n- tea\r\n{}"),
        ("# Log\r\n\r\n<!-- later:\r\n", "# Log\r\n\r\n<!-- later:\r\n-->\r\n{}"),
        ("# Log\n\n- tea\r\n", "# Log\n\n- tea\r\n{}"),
    ] {
        let place = Place::new();
        fs_err::create_dir(place.site.root().join("memory")).unwrap();
        place.save(LOG, there);
        let entry = place.entry("one\nand two");
        let seen = place.site.read(LOG).unwrap();
        let edit = place.site.appended(LOG, seen.as_ref(), PageKind::of(LOG), &entry);
        place.apply(&Change::new("remember", vec![edit])).unwrap();
        let line = if there.starts_with("# Log\r") { "\r\n" } else { "\n" };
        let wanted = wanted.replace("{}", &entry.replace('\n', line));
        assert_eq!(place.text(LOG), wanted);
        let found = crate::units(&wanted).pop().unwrap();
        assert_eq!((found.content.as_str(), found.stamp.is_some()), ("one\nand two", true));
        place.undo().unwrap();
        assert_eq!(place.text(LOG), there);
    }
}

#[test]
fn what_was_undone_or_taken_out_does_not_come_back() {
    let place = Place::new();
    let (one, two) = (place.entry("one"), place.entry("two"));
    place.apply(&place.append(&one)).unwrap();
    place.apply(&place.append(&two)).unwrap();
    place.undo().unwrap();
    place.apply(&place.replace(LOG, "# Empty\n")).unwrap();
    place.save(LOG, "# Mine\n");
    assert_eq!(place.site.lock().unwrap().restored(), []);
    assert_eq!(place.text(LOG), "# Mine\n");
}

#[test]
fn what_is_missing_from_a_much_later_save_was_meant_to_go() {
    let place = Place::new();
    place.apply(&place.append(&place.entry("one"))).unwrap();
    place.save(LOG, "# Mine\n");
    place.age(LOG, 121);
    assert_eq!(place.site.lock().unwrap().restored(), []);
    assert_eq!(place.text(LOG), "# Mine\n");
}

#[test]
fn the_journal_has_bounds_and_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let mut dropped = 0;
    for number in 0..103 {
        let change = place.replace("MEMORY.md", &format!("{number}\n"));
        let held = place.site.lock().unwrap();
        dropped += held.apply(&change, place.id(), NOW).unwrap().dropped;
    }
    assert_eq!((dropped, place.site.changes().unwrap().len()), (3, 100));
    let journal = place.kept.path().join("s/journal");
    let mode =
        |path: &std::path::Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&journal), 0o700);
    for one in fs_err::read_dir(&journal).unwrap() {
        assert_eq!(mode(&one.unwrap().path()), 0o600);
    }
    // What takes a change back takes a place as well.
    for _ in 0..50 {
        place.undo().unwrap();
    }
    assert_eq!(place.text("MEMORY.md"), "52\n");
}

#[test]
fn a_memory_folder_that_is_a_link_is_not_written_through() {
    let place = Place::new();
    let outside = place.kept.path().join("outside");
    fs_err::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, place.site.root().join("memory")).unwrap();
    let change = place.append(&place.entry("one"));
    assert!(matches!(
        place.apply(&change),
        Err(ApplyError::Store(MarkdownStoreError::NotPlain(_)))
    ));
    assert_eq!(fs_err::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_file_that_an_editor_has_just_emptied_is_not_replaced() {
    let mut place = Place::new().without_patience();
    place.save("MEMORY.md", "# Mine\n\n- kept by hand\n");
    // The editor emptied the file, and has not written yet.
    place.overwrite("MEMORY.md", "");
    let change = place.replace("MEMORY.md", "# MEMORY.md\n\n- ours\n");
    assert!(matches!(place.apply(&change), Err(ApplyError::Changed { .. })));
    assert_eq!(place.text("MEMORY.md"), "");
    assert_eq!(place.site.changes().unwrap(), []);
    place.overwrite("MEMORY.md", "# Mine\n\n- kept by hand\n- and more\n");
    assert!(matches!(place.apply(&change), Err(ApplyError::Changed { .. })));
    assert_eq!(place.text("MEMORY.md"), "# Mine\n\n- kept by hand\n- and more\n");
    // Once it rests, an empty file counts as intended.
    place.overwrite("MEMORY.md", "");
    place.site.rest_times.emptied = Duration::ZERO;
    place.apply(&change).unwrap();
    assert_eq!(place.text("MEMORY.md"), "# MEMORY.md\n\n- ours\n");
}

#[test]
fn entries_are_not_put_back_into_a_file_that_is_being_saved() {
    let mut place = Place::new().without_patience();
    let (one, two, three) = (place.entry("one"), place.entry("two"), place.entry("three"));
    place.apply(&place.append(&one)).unwrap();
    let loaded = place.text(LOG);
    place.apply(&place.append(&two)).unwrap();
    let all = place.text(LOG);
    for half in [String::new(), all[..all.len() / 3].to_owned(), all[..all.len() - 1].to_owned()] {
        place.overwrite(LOG, &half);
        let refused = place.apply(&place.append(&three));
        assert!(matches!(refused, Err(ApplyError::Changed { .. })), "{refused:?}");
        assert_eq!(place.text(LOG), half);
    }
    // The editor goes on: it knows the first entry, and not the second.
    place.overwrite(LOG, &format!("{loaded}mine\n"));
    place.site.rest_times.emptied = Duration::ZERO;
    assert_eq!(place.apply(&place.append(&three)).unwrap(), 1);
    let text = place.text(LOG);
    for entry in [&one, &two, &three] {
        assert_eq!(text.matches(entry.as_str()).count(), 1, "{text}");
    }
}

#[test]
fn lines_that_were_deleted_by_hand_stay_deleted() {
    let mut place = Place::new().without_patience();
    place.save("MEMORY.md", "- one\n- two\n- three\n");
    place.apply(&place.replace("MEMORY.md", "- one\n- two\n- three\n- four\n")).unwrap();
    place.overwrite("MEMORY.md", "- one\n- three\n");
    let change = place.replace("MEMORY.md", "- one\n- three\n- five\n");
    assert!(
        matches!(place.apply(&change), Err(ApplyError::Changed { .. })),
        "it may be half saved"
    );
    place.site.rest_times.emptied = Duration::ZERO;
    place.apply(&change).unwrap();
    assert_eq!(place.text("MEMORY.md"), "- one\n- three\n- five\n");
}

#[test]
fn what_was_added_can_be_undone_after_a_power_cut() {
    let place = Place::new();
    place.apply(&place.append(&place.entry("one"))).unwrap();
    let change = place.append(&place.entry("two"));
    let (applied, met) = with_faults(&[], || place.apply(&change));
    applied.unwrap();
    // The record, the log, and the name of the record.
    assert_eq!(met.syncs, 3);
}

#[test]
fn a_change_that_was_cut_off_is_ended_before_anything_is_planned() {
    let place = Place::new();
    place.save("MEMORY.md", "- one\n");
    let (change, seen) = (place.replace("MEMORY.md", ""), place.site.read("MEMORY.md").unwrap());
    let held = place.site.lock().unwrap();
    held.begin(&change, &[seen], None, place.id(), NOW).unwrap();
    drop(held);
    assert_eq!(place.site.unfinished().unwrap(), 1);
    place.site.recover().unwrap();
    assert_eq!(place.site.unfinished().unwrap(), 0);
    assert_eq!(place.text("MEMORY.md"), "- one\n");
}
