//! The laws of a living memory, for every memory that ships: Markdown in both layouts, and the rows
//! of ZeroClaw's database.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anemone_format::{Moment, Origin, ProvenanceStamp};
use anemone_memory::{
    Applied, Clock, EntryRequest, Finality, Finder, ForgetNote, ForgetTarget, ListFilter,
    ListedEntry, MarkdownLayout, MarkdownMemory, MarkdownStore, Memory, NewEntry, Place,
    RememberPlan, RememberPlanError, RememberSettings, RowMemory, Secrets, list_entries,
    plan_forget, plan_remember, plan_undo, tidied, undo,
};
use anemone_runtimes::{by_name, with_agents};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;
use uuid::Uuid;

/// A clock that advances by a second with every call.
#[derive(Clone)]
struct Ticking(Arc<AtomicU64>);

impl Ticking {
    fn new() -> Self {
        Self(Arc::new(AtomicU64::new(1)))
    }

    fn tick(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        let start: Timestamp = "2026-11-16T10:00:00Z".parse().unwrap();
        start + SignedDuration::from_secs(i64::try_from(self.tick()).unwrap())
    }

    fn zone(&self) -> TimeZone {
        TimeZone::UTC
    }

    fn fresh_id(&self) -> Uuid {
        let tick = u128::from(self.tick());
        // In order, and with different low bits: the short id is made from those.
        Uuid::from_u128(tick << 64 | tick)
    }
}

/// Makes a memory in a folder.
type Make = dyn Fn(&Path, Ticking) -> Box<dyn Memory> + Send + Sync;

struct Kept {
    folder: TempDir,
    name: &'static str,
    clock: Ticking,
    make: Box<Make>,
}

const LOG: Place = Place::Daily(jiff::civil::date(2026, 11, 16));
const CURATED: Place = Place::Curated;

impl Kept {
    fn all() -> Vec<Self> {
        let kept = |name, make: Box<Make>| Self {
            folder: tempfile::tempdir().unwrap(),
            name,
            clock: Ticking::new(),
            make,
        };
        let in_files = with_agents().map(|runtime| {
            let layout = runtime.layout;
            kept(runtime.name, Box::new(move |folder: &Path, _| markdown(folder, layout)))
        });
        in_files.chain([kept("rows", Box::new(rows))]).collect()
    }

    /// Opens the memory; all opened memories share the same files.
    fn open(&self) -> Box<dyn Memory> {
        (self.make)(self.folder.path(), self.clock.clone())
    }

    fn finder(&self) -> Finder {
        Finder::new(self.folder.path().join("index"), Vec::new(), Vec::new())
    }

    fn given(&self, key: Option<&str>, text: &str, session: Option<&str>) -> NewEntry {
        let at = Moment::from(self.clock.now());
        let mut stamp = ProvenanceStamp::new(self.clock.fresh_id(), Origin::Agent, at);
        stamp.session = session.map(str::to_owned);
        let key = key.map(str::to_owned);
        NewEntry { text: text.to_owned(), key, label: None, tags: Vec::new(), stamp }
    }

    fn plan(&self, memory: &dyn Memory, given: NewEntry, finder: Option<&Finder>) -> RememberPlan {
        let asked = EntryRequest { given, place: LOG, secrets: Secrets::Report };
        let now = self.clock.now();
        plan_remember(memory, finder, asked, &RememberSettings::default(), now).unwrap()
    }

    fn write(
        &self,
        memory: &dyn Memory,
        plan: &RememberPlan,
    ) -> Result<Applied, RememberPlanError> {
        plan.write(memory, self.clock.fresh_id(), self.clock.now())
    }

    fn remember(&self, memory: &dyn Memory, key: &str, text: &str, place: Place) {
        let given = self.given(Some(key), text, None);
        let asked = EntryRequest { given, place, secrets: Secrets::Report };
        let now = self.clock.now();
        let plan = plan_remember(memory, None, asked, &RememberSettings::default(), now).unwrap();
        self.write(memory, &plan).unwrap();
    }

    fn forget(&self, memory: &dyn Memory, target: &ForgetTarget) -> usize {
        let plan = plan_forget(memory, target).unwrap();
        let note = ForgetNote {
            request: String::new(),
            finality: Finality::Undoable,
            files: None,
            rows: None,
            indexes: Vec::new(),
            at: self.clock.now(),
        };
        plan.apply(memory, target, note, &self.clock).unwrap().end();
        plan.all().len()
    }

    fn undo(&self, memory: &dyn Memory) {
        let held = memory.store().lock().unwrap();
        undo(memory, &held, self.clock.fresh_id(), self.clock.now()).unwrap();
    }
}

fn store(folder: &Path, layout: MarkdownLayout) -> MarkdownStore {
    let workspace = folder.join("workspace");
    fs_err::create_dir_all(&workspace).unwrap();
    MarkdownStore::open(&workspace, &folder.join("state"), layout).unwrap()
}

fn markdown(folder: &Path, layout: MarkdownLayout) -> Box<dyn Memory> {
    Box::new(MarkdownMemory::new(store(folder, layout)))
}

fn rows(folder: &Path, clock: Ticking) -> Box<dyn Memory> {
    let path = folder.join("memory/brain.db");
    let rows = by_name("zeroclaw").unwrap().memory_rows(&path, "", Box::new(clock)).unwrap();
    Box::new(RowMemory::new(store(folder, by_name("zeroclaw").unwrap().layout), rows))
}

/// Checks a law for every memory.
fn check(law: impl Fn(&Kept, &dyn Memory)) {
    for kept in Kept::all() {
        law(&kept, &*kept.open());
    }
}

fn listed(memory: &dyn Memory) -> Vec<ListedEntry> {
    list_entries(memory, &ListFilter::default(), &TimeZone::UTC).unwrap().entries
}

fn keys(memory: &dyn Memory) -> Vec<String> {
    listed(memory).into_iter().map(|entry| entry.key.unwrap_or_default()).collect()
}

fn text_of(memory: &dyn Memory, key: &str) -> Option<String> {
    listed(memory)
        .into_iter()
        .find(|entry| entry.key.as_deref() == Some(key))
        .map(|listed| listed.text)
}

#[test]
fn what_was_remembered_is_listed_by_its_key() {
    let texts = [
        "plain",
        "**bold** and `code`",
        "two\nlines",
        "\n\nblank lines around\n\n\nand between\n\n",
        "  indented\n    more\n- an item\n# a heading\n```\nan open fence",
        "<!-- a comment --> and --> <!-- anemone: 00000000-0000-0000-0000-000000000000 owner",
        "<!-- anemone: 00000000-0000-0000-0000-000000000000 owner 2026-01-01T00:00:00Z -->",
        "\\<!-- escaped \\ backslash",
        "[decision|i=0.9] a tag that is none",
        "**other**: a key that is none",
        "ends with blanks   \nand\r\nother\rlines\t",
        "中文内容，日本語、한국어 🦞 e\u{301} \u{202e}turned",
        "---",
        "' OR 1=1; DROP TABLE memories; --",
    ];
    let names = [
        "plain",
        "with spaces",
        " leading and trailing ",
        "a**b",
        "**",
        "a**: b",
        "new\nline",
        "tab\tand\rreturn",
        "<!-- x -->",
        "键🔑",
        "a/../b",
        "%",
        "*",
        ".",
        "'; --",
        "[lesson|i=0.5] x",
    ];
    check(|kept, memory| {
        for (number, text) in texts.iter().enumerate() {
            let place = if number % 2 == 0 { CURATED } else { LOG };
            kept.remember(memory, &format!("text {number}"), text, place);
        }
        for (number, key) in names.iter().enumerate() {
            let place = if number % 2 == 0 { LOG } else { CURATED };
            kept.remember(memory, key, &format!("value {number}"), place);
        }
        for (number, text) in texts.iter().enumerate() {
            let found = text_of(memory, &format!("text {number}"));
            let wanted = tidied(text).trim_start().to_owned();
            assert_eq!(found, Some(wanted), "{}: {text:?}", kept.name);
        }
        for (number, key) in names.iter().enumerate() {
            assert_eq!(text_of(memory, key), Some(format!("value {number}")), "{key:?}");
        }
        assert_eq!(listed(memory).len(), texts.len() + names.len(), "{}", kept.name);
        assert_eq!(text_of(memory, "never remembered"), None);
    });
}

#[test]
fn a_long_text_is_kept_whole() {
    check(|kept, memory| {
        let text = "All work and no play makes Jack a dull boy.\n".repeat(1_400);
        kept.remember(memory, "long", &text, CURATED);
        kept.remember(memory, "short", "x", CURATED);
        assert!(text_of(memory, "long").is_some_and(|found| found == text.trim_end()));
        assert_eq!(listed(memory).len(), 2);
    });
}

#[test]
fn a_secret_is_refused_and_nothing_is_written() {
    check(|kept, memory| {
        let text = "the router password is Sommer-Krabbe-77";
        let plan = kept.plan(memory, kept.given(Some("router"), text, None), None);
        let refused = kept.write(memory, &plan);
        assert!(matches!(refused, Err(RememberPlanError::Secret(_))), "{refused:?}");
        assert_eq!(listed(memory), []);
    });
}

#[test]
fn what_the_memory_says_already_is_refused() {
    check(|kept, memory| {
        let finder = kept.finder();
        let text = "The fog tea ships on Tuesdays.";
        let plan = |text: &str| kept.plan(memory, kept.given(None, text, None), Some(&finder));
        // Both were planned before either was written.
        let (one, other) = (plan(text), plan("the FOG tea ships on Tuesdays"));
        kept.write(memory, &one).unwrap();
        for plan in [other, plan(text)] {
            let refused = kept.write(memory, &plan);
            assert!(matches!(refused, Err(RememberPlanError::Duplicate(_))), "{}", kept.name);
        }
        assert_eq!(listed(memory).len(), 1);
    });
}

#[test]
fn another_value_of_the_same_thing_supersedes_the_old_one_until_that_is_undone() {
    check(|kept, memory| {
        let finder = kept.finder();
        let remember = |text: &str| {
            let plan = kept.plan(memory, kept.given(None, text, None), Some(&finder));
            kept.write(memory, &plan).unwrap();
            plan
        };
        let texts = || {
            let mut texts: Vec<_> = listed(memory).into_iter().map(|entry| entry.text).collect();
            texts.sort();
            texts
        };
        remember("The ferry leaves at two.");
        let plan = remember("The ferry leaves at three.");
        assert_eq!(plan.superseded.len(), 1, "{}", kept.name);
        assert_eq!(texts(), ["The ferry leaves at three."], "{}", kept.name);
        kept.undo(memory);
        assert_eq!(texts(), ["The ferry leaves at two."], "{}", kept.name);
        let plan = remember("The ferry leaves at two from Skye.");
        assert_eq!((plan.superseded.len(), plan.near.len()), (0, 1), "{}", kept.name);
        assert_eq!(texts().len(), 2, "{}", kept.name);
    });
}

#[test]
fn a_plan_changes_nothing() {
    check(|kept, memory| {
        let finder = kept.finder();
        kept.plan(memory, kept.given(Some("k"), "a text", None), Some(&finder));
        let workspace = memory.store().root();
        assert_eq!(fs_err::read_dir(workspace).unwrap().count(), 0, "{}", kept.name);
        assert!(memory.rows().is_none_or(|rows| !rows.database().exists()));
        kept.remember(memory, "k", "a text", LOG);
        let before = listed(memory);
        let plan = plan_forget(memory, &ForgetTarget::Key("k".to_owned())).unwrap();
        assert_eq!(plan.all().len(), 1);
        plan_undo(memory).unwrap();
        assert_eq!(listed(memory), before);
    });
}

#[test]
fn a_key_that_is_remembered_again_holds_its_new_text_only() {
    check(|kept, memory| {
        kept.remember(memory, "other", "unmoved", CURATED);
        // From one file into the other and back, and twice in each.
        for (number, place) in [LOG, LOG, CURATED, CURATED, LOG, CURATED].into_iter().enumerate() {
            let text = format!("text {number}");
            kept.remember(memory, "k", &text, place);
            assert_eq!(keys(memory), ["k", "other"], "{}", kept.name);
            assert_eq!(text_of(memory, "k"), Some(text));
        }
    });
}

#[test]
fn what_was_written_in_a_session_is_forgotten_by_it() {
    check(|kept, memory| {
        let sessions = [("a", Some("one")), ("b", Some("two words \"x\"")), ("c", None)];
        for (key, session) in sessions {
            let plan = kept.plan(memory, kept.given(Some(key), "the heron", session), None);
            kept.write(memory, &plan).unwrap();
        }
        let session = ForgetTarget::Session("two words \"x\"".to_owned());
        assert_eq!(kept.forget(memory, &session), 1);
        assert_eq!(keys(memory), ["c", "a"], "{}", kept.name);
    });
}

#[test]
fn what_was_forgotten_is_nowhere_until_that_is_undone() {
    check(|kept, memory| {
        for place in [CURATED, LOG] {
            kept.remember(memory, "keep", "the anchor is blue", place);
            kept.remember(memory, "go", "the anchor is a first zebrafish", place);
            kept.remember(memory, "go", "the anchor is a second zebrafish", place);
            let before = listed(memory);
            let go = ForgetTarget::Key("go".to_owned());
            assert!(kept.forget(memory, &go) > 0);
            assert_eq!(keys(memory), ["keep"], "{}", kept.name);
            assert!(plan_forget(memory, &go).unwrap().all().is_empty());
            // A memory that is opened again no longer knows about it.
            assert_eq!(text_of(&*kept.open(), "go"), None);
            kept.undo(memory);
            assert_eq!(listed(memory), before, "{}", kept.name);
            kept.forget(memory, &go);
        }
    });
}

#[test]
fn undoing_what_was_remembered_leaves_the_memory_as_it_was() {
    check(|kept, memory| {
        let mut states = vec![listed(memory)];
        for (key, text, place) in
            [("a", "one", LOG), ("b", "two", CURATED), ("a", "three", LOG), ("b", "four", CURATED)]
        {
            kept.remember(memory, key, text, place);
            states.push(listed(memory));
        }
        states.pop();
        while let Some(before) = states.pop() {
            kept.undo(memory);
            assert_eq!(listed(memory), before, "{}", kept.name);
        }
        assert!(plan_undo(memory).is_err());
    });
}

#[test]
fn eight_writers_at_once_lose_nothing() {
    const WRITERS: usize = 8;
    const EACH: usize = 12;
    for kept in Kept::all() {
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (memory, kept) = (kept.open(), &kept);
                scope.spawn(move || {
                    for number in 0..EACH {
                        let place = if number % 3 == 0 { CURATED } else { LOG };
                        let key = format!("w{writer} n{number}");
                        kept.remember(&*memory, &key, "written", place);
                        kept.remember(&*memory, "shared", &key, place);
                    }
                });
            }
        });
        let mut keys = keys(&*kept.open());
        assert_eq!(keys.len(), WRITERS * EACH + 1, "{}", kept.name);
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), WRITERS * EACH + 1);
    }
}
