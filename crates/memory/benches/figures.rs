//! What it costs to remember and to forget, phase by phase, in a memory of about 2,500 chunks.
//!
//! CPU milliseconds, user and system, the median of some rounds: machines differ, and so does their
//! load. The only assertion is that the forgotten text is gone.
//!
//! ```text
//! cargo bench -p anemone-memory --bench figures
//! ```

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::disallowed_methods, reason = "a benchmark has its own clock and ids")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails should say where")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use anemone_embed::Builtin;
use anemone_format::{Moment, Origin, ProvenanceStamp};
use anemone_index::{DocumentSource, FolderSource, Index, MarkdownFolder, Request};
use anemone_memory::{
    CaptureSettings, EntryRequest, ErasureProbes, Finder, ForgetTarget, MarkdownLayout,
    MarkdownMemory, MarkdownStore, NewEntry, Place, RememberSettings, Secrets, captures,
    plan_remember, units,
};
use anemone_testkit::notes::notes;
use jiff::Timestamp;
use jiff::civil::date;
use nix::sys::resource::{UsageWho, getrusage};
use uuid::Uuid;

const SEED: u64 = 42;
/// About 2,500 chunks.
const NOTES: usize = 300;
const ROUNDS: usize = 20;
const PAGE_BYTES: usize = 1 << 20;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new(folder.path());
    let mut times = Times::default();
    println!("{} chunks", bench.chunks());
    for round in 0..ROUNDS {
        bench.remember(round, &mut times);
        // Every second round searches, so that the index contains the text to forget.
        if round % 2 == 1 {
            drop(bench.finder.open(Timestamp::now()).unwrap());
        }
        bench.forget(round, &mut times);
    }
    let page: String = notes(SEED).map(|note| note.markdown).scan(0, take_until_full).collect();
    let message = "I prefer tea in the morning. We decided to use the small model from now on. \
                   Remember that my sister's birthday is on the third of May, and bring flowers.";
    for _ in 0..ROUNDS {
        times.take("units of a page of 1 MB", || black_box(units(&page)));
        let settings = CaptureSettings::default();
        times.take("captures of 1,000 messages", || {
            for _ in 0..1_000 {
                black_box(captures(black_box(message), &settings));
            }
        });
    }
    times.print();
}

fn take_until_full(size: &mut usize, text: String) -> Option<String> {
    *size += text.len();
    (*size <= PAGE_BYTES).then_some(text)
}

struct Bench {
    site: MarkdownStore,
    finder: Finder,
}

impl Bench {
    fn new(folder: &Path) -> Self {
        let root = folder.join("workspace");
        for note in notes(SEED).take(NOTES) {
            let path = root.join("memory").join(note.path.replace('/', "-"));
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, note.markdown).unwrap();
        }
        let site =
            MarkdownStore::open(&root, &folder.join("state"), MarkdownLayout::PLAIN).unwrap();
        let rules = Box::new(MarkdownFolder::default());
        let source: Box<dyn DocumentSource> =
            Box::new(FolderSource::new(root, String::new(), rules));
        let embedders = vec![Arc::new(Builtin::new()) as _];
        let finder = Finder::new(folder.join("index"), vec![source], embedders);
        drop(finder.open(Timestamp::now()).unwrap());
        // Files that changed a moment ago are read again, which should not be measured.
        std::thread::sleep(std::time::Duration::from_secs(3));
        drop(finder.open(Timestamp::now()).unwrap());
        Self { site, finder }
    }

    fn memory(&self) -> MarkdownMemory {
        MarkdownMemory::new(self.site.clone())
    }

    fn chunks(&self) -> u64 {
        let index = self.finder.open(Timestamp::now()).unwrap();
        let answer = index.search(&Request::new("the", Timestamp::now()), &[]).unwrap();
        black_box(answer);
        index.vector_sets().unwrap().iter().map(|set| set.chunks).sum()
    }

    fn remember(&self, round: usize, times: &mut Times) {
        let now = Timestamp::now();
        let text = format!("The relay number {} answers after {round} pings.", round * 7_919);
        let stamp = ProvenanceStamp::new(Uuid::now_v7(), Origin::Agent, Moment::from(now));
        let key = Some(key(round));
        let given = NewEntry { text, key, label: None, tags: Vec::new(), stamp };
        let place = Place::Daily(date(2026, 11, 16));
        let asked = EntryRequest { given, place, category: None, secrets: Secrets::Report };
        let settings = RememberSettings { near_duplicate: 2.0 };
        let plan = times.take("remember: plan", || {
            plan_remember(&self.memory(), Some(&self.finder), asked, &settings, now).unwrap()
        });
        times.take("remember: write", || plan.write(&self.memory(), Uuid::now_v7(), now).unwrap());
    }

    fn forget(&self, round: usize, times: &mut Times) {
        let now = Timestamp::now();
        let wanted = ForgetTarget::Key(key(round));
        let plan = times.take("forget: plan", || self.site.plan_forget(&wanted).unwrap());
        let probes = ErasureProbes::new(plan.entries.iter().map(|entry| entry.text.as_str()));
        let paths: Vec<String> =
            plan.change.edits.iter().map(|edit| edit.path().to_owned()).collect();
        let mut index = Index::open(self.finder.folder()).unwrap();
        let before = times
            .take("forget: texts in the index", || self.finder.texts_of(&index, &paths).unwrap());
        times.take("forget: write", || {
            let held = self.site.lock().unwrap();
            held.apply(&plan.change, Uuid::now_v7(), now).unwrap();
            held.write_tombstones(&plan.entries, "forget", now).unwrap();
        });
        let phase = match round % 2 {
            0 => "forget: index and erase",
            _ => "forget: index and erase, after a search",
        };
        times.take(phase, || self.finder.forget(&mut index, &before, now).unwrap());
        index.release();
        let places = [self.site.root().to_owned(), self.finder.folder().to_owned()];
        let scan = times.take("forget: scan", || probes.scan(&places));
        assert!(scan.found.is_empty() && scan.skipped.is_empty(), "{scan:?}");
    }
}

fn key(round: usize) -> String {
    format!("relay-{round}")
}

/// CPU milliseconds of each phase.
#[derive(Default)]
struct Times {
    phases: BTreeMap<&'static str, Vec<f64>>,
}

impl Times {
    fn take<T>(&mut self, phase: &'static str, work: impl FnOnce() -> T) -> T {
        let before = cpu_milliseconds();
        let done = work();
        self.phases.entry(phase).or_default().push(cpu_milliseconds() - before);
        done
    }

    fn print(&mut self) {
        for (phase, times) in &mut self.phases {
            times.sort_by(f64::total_cmp);
            let (median, most) = (times[times.len() / 2], times[times.len() - 1]);
            println!("{phase:<40} {median:6.2} CPU ms, {most:6.2} at most");
        }
    }
}

fn cpu_milliseconds() -> f64 {
    use nix::sys::time::TimeValLike as _;
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    micros as f64 / 1e3
}
