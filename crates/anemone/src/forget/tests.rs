use tempfile::TempDir;

use super::*;
use crate::remember::{RememberRequest, remember};
use crate::testing;
use crate::undo::{UndoAction, UndoRequest, list_changes, undo};

const TEXT: &str = "the quetzal nests in the north tower";

struct Place {
    folder: TempDir,
    host: Host,
    memory: MemoryChoice,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = testing::host(folder.path());
        let memory =
            testing::memory(folder.path(), &format!("# Memory\n\n- **nest**: {TEXT}\n- stays\n"));
        Self { folder, host, memory }
    }

    fn request(&self, choice: ForgetChoice, finality: Finality) -> ForgetRequest {
        ForgetRequest { memory: self.memory.clone(), choice, finality, dry_run: false }
    }

    fn forget(&self, choice: ForgetChoice, finality: Finality) -> ForgetReport {
        let request = self.request(choice, finality);
        let mut report = forget(&request, Confirmation::Given, &self.host).unwrap();
        report.told();
        report
    }

    fn undo(&self) {
        let (memory, action) = (self.memory.clone(), UndoAction::Revert);
        undo(&UndoRequest { memory, action, dry_run: false }, &self.host).unwrap();
    }

    fn curated(&self) -> String {
        fs_err::read_to_string(self.folder.path().join("workspace/MEMORY.md")).unwrap()
    }

    /// Whether any file below the folder holds the text.
    fn holds_text(&self) -> bool {
        let probes = ErasureProbes::new([TEXT]);
        !probes.scan(&[self.folder.path().to_owned()]).found.is_empty()
    }
}

fn key() -> ForgetChoice {
    ForgetChoice::Key("nest".to_owned())
}

#[test]
fn what_is_forgotten_leaves_files_and_index_and_comes_back_by_undo() {
    let place = Place::new();
    let before = place.curated();
    let report = place.forget(key(), Finality::Undoable);
    assert_eq!((report.entries.len(), report.tombstones, report.can_be_undone), (1, 1, true));
    assert_eq!(place.curated(), "# Memory\n\n- stays\n");
    // Only the journal has it.
    let proof = report.proof.unwrap();
    assert_eq!(proof.others().count(), 0, "{proof:?}");
    assert!(proof.holders.iter().any(|holder| holder.kind == HolderKind::Journal));
    place.undo();
    assert_eq!(place.curated(), before);
}

#[test]
fn for_good_is_nowhere_and_other_changes_can_still_be_undone() {
    let place = Place::new();
    let other = RememberRequest::new("The boiler is serviced in May.", place.memory.clone());
    remember(&other, &place.host).unwrap();
    let report = place.forget(key(), Finality::ForGood);
    assert!(!report.can_be_undone && report.proof.unwrap().absent);
    assert!(!place.holds_text());
    let changes = list_changes(&place.memory, &place.host).unwrap();
    assert_eq!(changes.iter().map(|change| change.what.as_str()).collect::<Vec<_>>(), ["remember"]);
    place.undo();
}

#[test]
fn what_was_forgotten_before_is_found_in_the_journal() {
    let place = Place::new();
    place.forget(key(), Finality::Undoable);
    assert!(place.holds_text());
    let report = place.forget(key(), Finality::ForGood);
    assert_eq!((report.entries.len(), report.tombstones), (1, 0));
    assert_eq!(report.notes, [ForgetWarning::OnlyInJournal(1), no_install()]);
    assert!(!place.holds_text());
}

fn no_install() -> ForgetWarning {
    ForgetWarning::NoInstall("OpenClaw")
}

#[test]
fn a_dry_run_and_a_no_change_nothing() {
    let place = Place::new();
    let before = place.curated();
    let choice = ForgetChoice::Query { text: "quetzal tower".to_owned(), limit: 1 };
    let mut request = place.request(choice, Finality::ForGood);
    request.dry_run = true;
    let report = forget(&request, Confirmation::Given, &place.host).unwrap();
    assert_eq!((report.entries.len(), report.dry_run), (1, true));
    request.dry_run = false;
    let mut asked = 0;
    let mut no = |entries: &[&EntryToForget]| {
        asked += entries.len();
        Ok(false)
    };
    let report = forget(&request, Confirmation::Ask(&mut no), &place.host).unwrap();
    assert!(report.declined && report.entries.is_empty());
    assert_eq!((asked, place.curated()), (1, before));
}

#[test]
fn a_query_takes_the_best_match_and_says_how_many_others_there_are() {
    let place = Place::new();
    for number in 1..4 {
        let text = format!("The lamp number {number} is green and quiet.");
        let mut request = RememberRequest::new(text, place.memory.clone());
        request.duplicates = crate::remember::DuplicateCheck::Skip;
        remember(&request, &place.host).unwrap();
    }
    let choice = ForgetChoice::Query { text: "green lamp".to_owned(), limit: 1 };
    let report = place.forget(choice, Finality::Undoable);
    assert_eq!(report.entries.len(), 1);
    let query = "green lamp".to_owned();
    assert_eq!(report.notes, [ForgetWarning::OtherMatches { query, others: 2, is_least: false }]);
}

#[test]
fn what_was_interrupted_is_finished_and_reported_by_the_same_request() {
    let place = Place::new();
    let request = place.request(key(), Finality::Undoable);
    // The report of the first run is lost, as if it was killed right after its last step.
    drop(forget(&request, Confirmation::Given, &place.host).unwrap());
    let again = place.forget(key(), Finality::Undoable);
    assert_eq!(again.entries.len(), 1);
    assert_eq!(again.notes, [ForgetWarning::Resumed { own: 1, others: 0 }]);
    let nothing = forget(&request, Confirmation::Given, &place.host);
    assert!(matches!(nothing, Err(ForgetError::NothingToForget { .. })), "{nothing:?}");
}

#[test]
fn a_period_that_ends_before_it_begins_is_refused() {
    let place = Place::new();
    let (since, until) = (Some(place.host.now()), Some(Timestamp::UNIX_EPOCH));
    let request = place.request(ForgetChoice::Written { since, until }, Finality::Undoable);
    let refused = forget(&request, Confirmation::Given, &place.host);
    assert!(matches!(refused, Err(ForgetError::EmptyPeriod { .. })), "{refused:?}");
}
