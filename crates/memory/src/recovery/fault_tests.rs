//! Pairs of faults: at each step of a change, of taking it back, and of recovery.
//!
//! There are tens of thousands of pairs. By default each first fault meets a part of the second
//! ones; `ANEMONE_FAULTS=all` tries every pair.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anemone_format::{Origin, ProvenanceStamp};
use anemone_testkit::SlowGroup;
use jiff::Timestamp;
use uuid::Uuid;

use crate::{Applied, ApplyError, Change, Edit, MarkdownLayout, MarkdownStore, NewEntry, render};
use anemone_files::faults::{FaultKind, InjectedFault, TornWrite, with_faults};

const LOG: &str = "memory/2026-11-16.md";
const OLD: &str = "# Memory\n\n- The shop sells tea.\n- It opens at nine.\n";
const HEAD: &str = "# 2026-11-16\n\n";

/// A kind of change: the files before it, and its edits.
struct Case {
    name: &'static str,
    before: &'static [(&'static str, &'static str)],
    edits: fn(&MarkdownStore) -> Vec<Edit>,
}

const CASES: [Case; 6] = [
    Case { name: "replace", before: &[("MEMORY.md", OLD)], edits: |site| vec![replace(site)] },
    Case { name: "make", before: &[], edits: |_| vec![make()] },
    Case { name: "remove", before: &[("b.md", OLD)], edits: |site| vec![remove(site)] },
    Case { name: "append", before: &[(LOG, OLD)], edits: |_| vec![append()] },
    Case {
        name: "append after a line without an ending",
        before: &[(LOG, "- The shop sells tea.")],
        edits: |_| vec![append()],
    },
    Case { name: "append to a new log", before: &[], edits: |_| vec![append()] },
];

const ALL: Case = Case {
    name: "all",
    before: &[("MEMORY.md", OLD), ("b.md", OLD), (LOG, OLD)],
    edits: |site| vec![replace(site), remove(site), append(), make()],
};

fn entry(number: u128) -> String {
    let at = "2026-11-16T10:00:00Z".parse().unwrap();
    let stamp = ProvenanceStamp::new(Uuid::from_u128(number), Origin::Agent, at);
    let text = format!("entry {number}");
    render(&NewEntry { text, key: None, label: None, tags: Vec::new(), stamp })
}

fn replace(site: &MarkdownStore) -> Edit {
    let seen = site.read("MEMORY.md").unwrap().unwrap();
    Edit::replace(&seen, format!("# Memory\n\n- The shop sells tea.\n{}", entry(1)).into_bytes())
}

fn make() -> Edit {
    Edit::Write { path: "d.md".to_owned(), before: None, after: entry(2).into_bytes() }
}

fn remove(site: &MarkdownStore) -> Edit {
    let seen = site.read("b.md").unwrap().unwrap();
    Edit::Remove { path: "b.md".to_owned(), before: seen.sha256 }
}

fn append() -> Edit {
    Edit::Append { path: LOG.to_owned(), head: HEAD.to_owned(), text: entry(3) }
}

type Files = BTreeMap<String, String>;

struct Place {
    kept: tempfile::TempDir,
    site: MarkdownStore,
}

impl Place {
    fn new(case: &Case) -> Self {
        let kept = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(kept.path().join("w/memory")).unwrap();
        let (root, state) = (kept.path().join("w"), kept.path().join("s"));
        let mut site = MarkdownStore::open(&root, &state, MarkdownLayout::PLAIN).unwrap();
        // No other program saves here.
        site.rest_times.saved = Duration::ZERO;
        site.rest_times.emptied = Duration::ZERO;
        for (name, text) in case.before {
            fs_err::write(site.root().join(name), text).unwrap();
        }
        Self { kept, site }
    }

    fn plan(&self, case: &Case) -> Change {
        Change::new("tidy", (case.edits)(&self.site))
    }

    fn apply(&self, change: &Change) -> Result<Applied, ApplyError> {
        self.site.lock()?.apply(change, Uuid::from_u128(7), Timestamp::UNIX_EPOCH)
    }

    fn files(&self) -> Files {
        let mut files = Files::new();
        for folder in ["", "memory"] {
            for one in fs_err::read_dir(self.site.root().join(folder)).unwrap() {
                let path = one.unwrap().path();
                if path.is_file() {
                    let name = path.strip_prefix(self.site.root()).unwrap();
                    let text = fs_err::read_to_string(&path).unwrap();
                    files.insert(name.to_string_lossy().into_owned(), text);
                }
            }
        }
        files
    }

    /// The state of the memory, except the records of completed changes.
    fn leftovers(&self) -> Vec<String> {
        let names = |folder: &Path| {
            let listed = fs_err::read_dir(folder).into_iter().flatten();
            let names =
                listed.map(|listed| listed.unwrap().file_name().to_string_lossy().into_owned());
            names.collect::<Vec<_>>()
        };
        let state = self.kept.path().join("s");
        let all = names(&state).into_iter().chain(names(&state.join("journal")));
        let is_expected = |name: &String| {
            ["acknowledged.json", "journal"].contains(&name.as_str()) || name.ends_with(".done")
        };
        all.filter(|name| !is_expected(name)).collect()
    }

    /// Saves every file as an editor does that changes nothing.
    fn save_all(&self) {
        for (name, text) in self.files() {
            let beside = self.kept.path().join("beside");
            fs_err::write(&beside, text).unwrap();
            fs_err::rename(beside, self.site.root().join(name)).unwrap();
        }
    }

    /// Recovers undisturbed, and sees that everything is as before the change or as after it.
    #[track_caller]
    fn check(&self, before: &Files, after: &Files, is_acknowledged: bool, what: &str) {
        drop(self.site.lock().unwrap());
        let files = self.files();
        assert!(files == *after || (files == *before && !is_acknowledged), "{what}: {files:?}");
        assert_eq!(self.leftovers(), Vec::<String>::new(), "{what}");
        let changes = self.site.changes().unwrap().len();
        assert_eq!(changes, usize::from(files == *after), "{what}");
        // Reverted entries are not put back, and completed edits are not doubled.
        self.save_all();
        drop(self.site.lock().unwrap());
        assert_eq!(self.files(), files, "{what}");
    }
}

/// Every fault that can happen at the steps of a run.
fn faults(steps: std::ops::Range<usize>, writes: &[usize]) -> Vec<InjectedFault> {
    let mut all = Vec::new();
    for at in steps {
        for how in [FaultKind::Error, FaultKind::Full, FaultKind::Kill] {
            let torn = [TornWrite::Nothing, TornWrite::Half, TornWrite::AllButOne];
            let number = if writes.contains(&at) { torn.len() } else { 1 };
            all.extend(torn[..number].iter().map(|torn| InjectedFault { at, how, torn: *torn }));
        }
    }
    all
}

/// The files before a change and after it.
fn outcomes(case: &Case) -> (Files, Files) {
    let place = Place::new(case);
    let before = place.files();
    place.apply(&place.plan(case)).unwrap();
    (before, place.files())
}

/// Runs a change with faults in its own process, then recovery with faults, then recovery without.
fn run(
    case: &Case,
    own: &[InjectedFault],
    next: &[InjectedFault],
    outcomes: &(Files, Files),
) -> [Steps; 2] {
    let place = Place::new(case);
    let change = place.plan(case);
    let (applied, first) = with_faults(own, || place.apply(&change).is_ok());
    let (_, second) = with_faults(next, || place.site.lock().is_ok());
    let what = format!("{}: {own:?}, then {next:?}", case.name);
    place.check(&outcomes.0, &outcomes.1, applied, &what);
    [(first.steps, first.writes), (second.steps, second.writes)]
}

type Steps = (usize, Vec<usize>);

/// Returns how many second faults are passed over for each that is tried.
#[expect(clippy::disallowed_methods, reason = "a test asks its own environment, once")]
fn every(sample: usize, full: usize) -> usize {
    if std::env::var("ANEMONE_FAULTS").is_ok_and(|asked| asked == "all") {
        return 1;
    }
    SlowGroup::Faults.pick(sample, full)
}

/// Tries every pair of faults of which the first hits the change itself; returns how many.
fn try_pairs(case: &Case, every: usize) -> usize {
    let outcomes = outcomes(case);
    let [(steps, writes), _] = run(case, &[], &[], &outcomes);
    let mut number = 0;
    for (at, first) in faults(0..steps, &writes).into_iter().enumerate() {
        let [own, next] = run(case, &[first], &[], &outcomes);
        let start = at % every;
        let seconds = faults(first.at + 1..own.0, &own.1).into_iter();
        for second in seconds.skip(start).step_by(every) {
            run(case, &[first, second], &[], &outcomes);
            number += 1;
        }
        for second in faults(0..next.0, &next.1).into_iter().skip(start).step_by(every) {
            run(case, &[first], &[second], &outcomes);
            number += 1;
        }
    }
    number
}

#[test]
fn any_two_faults_leave_a_file_as_before_or_as_after() {
    for case in &CASES {
        let number = try_pairs(case, every(37, 11));
        assert!(number > 100, "{}: {number}", case.name);
    }
}

#[test]
fn any_two_faults_leave_several_files_as_before_or_as_after() {
    let number = try_pairs(&ALL, every(401, 101));
    assert!(number > 100, "{number}");
}

#[test]
fn recovery_that_is_cut_off_again_and_again_gets_there() {
    let outcomes = outcomes(&ALL);
    let [(steps, writes), _] = run(&ALL, &[], &[], &outcomes);
    let firsts = faults(0..steps, &writes);
    for (number, first) in firsts.iter().enumerate().step_by(7) {
        let place = Place::new(&ALL);
        let change = place.plan(&ALL);
        let (applied, _) = with_faults(&[*first], || place.apply(&change).is_ok());
        for again in 0..12 {
            // Later and later, so that each gets a little further than the last.
            let at = 3 + again * 5 + number % 5;
            let torn = [TornWrite::Nothing, TornWrite::Half, TornWrite::AllButOne][again % 3];
            let how = [FaultKind::Kill, FaultKind::Error][number % 2];
            with_faults(&[InjectedFault { at, how, torn }], || place.site.lock().is_ok());
        }
        place.check(&outcomes.0, &outcomes.1, applied, &format!("{first:?}"));
    }
}
