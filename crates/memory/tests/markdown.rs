//! The form of a Markdown memory on disk, and how it reads files that others wrote.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::cell::Cell;

use anemone_format::{Origin, ProvenanceStamp};
use anemone_memory::{
    Clock, EntryRequest, ErasedEntries, ErasureProbes, Finality, ForgetNote, ForgetTarget,
    ListFilter, ListedEntry, MarkdownLayout, MarkdownMemory, MarkdownStore, NewEntry,
    Place as Page, RememberSettings, Secrets, list_entries, plan_forget, plan_remember, plan_undo,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tempfile::TempDir;
use uuid::Uuid;

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        "2026-11-16T23:30:00Z".parse().unwrap()
    }

    fn zone(&self) -> TimeZone {
        TimeZone::fixed(jiff::tz::offset(1))
    }

    #[expect(clippy::disallowed_methods, reason = "each change has an id of its own")]
    fn fresh_id(&self) -> Uuid {
        Uuid::now_v7()
    }
}

/// A layout in which keys replace and old days are archived.
const KEYED: MarkdownLayout = MarkdownLayout {
    curated_head: "# Long-Term Memory\n\n",
    daily_title: "# Daily Log \u{2014} ",
    spaces_entries: true,
    keys_replace: true,
    archives: true,
    active_context: false,
};

struct Place {
    folder: TempDir,
    site: MarkdownStore,
    memory: MarkdownMemory,
    ids: Cell<u128>,
}

const LOG: Page = Page::Daily(jiff::civil::date(2026, 11, 17));

impl Place {
    fn new(manner: MarkdownLayout) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("workspace");
        fs_err::create_dir_all(workspace.join("memory/archive")).unwrap();
        let site = MarkdownStore::open(&workspace, &folder.path().join("state"), manner).unwrap();
        let memory = MarkdownMemory::new(site.clone());
        Self { folder, site, memory, ids: Cell::new(0) }
    }

    fn remember(&self, key: &str, text: &str, place: Page, session: Option<&str>) {
        // The last bits of an id are what files show of it: here they are the same for all.
        let id = Uuid::from_u128(self.ids.replace(self.ids.get() + 1) << 64);
        let mut stamp = ProvenanceStamp::new(id, Origin::Agent, Still.now().into());
        stamp.session = session.map(str::to_owned);
        let (text, key) = (text.to_owned(), Some(key.to_owned()));
        let given = NewEntry { text, key, label: None, tags: Vec::new(), stamp };
        let asked = EntryRequest { given, place, secrets: Secrets::Report };
        let settings = RememberSettings::default();
        let plan = plan_remember(&self.memory, None, asked, &settings, Still.now()).unwrap();
        plan.write(&self.memory, id, Still.now()).unwrap();
    }

    fn forget(&self, key: &str) -> usize {
        let target = ForgetTarget::Key(key.to_owned());
        let plan = plan_forget(&self.memory, &target).unwrap();
        let note = ForgetNote {
            request: String::new(),
            finality: Finality::Undoable,
            files: None,
            rows: None,
            indexes: Vec::new(),
            at: Still.now(),
        };
        plan.apply(&self.memory, &target, note, &Still).unwrap().end();
        plan.all().len()
    }

    fn listed(&self) -> Vec<ListedEntry> {
        list_entries(&self.memory, &ListFilter::default(), &TimeZone::UTC).unwrap().entries
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        fs_err::write(self.site.root().join(path), text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs_err::read_to_string(self.site.root().join(path)).unwrap()
    }
}

const STAMP: &str = "<!-- anemone: 00000000";

#[test]
fn zeroclaw_finds_its_own_layout() {
    let place = Place::new(KEYED);
    place.remember("lang", "Rust", Page::Curated, None);
    place.remember("tz", "Berlin", Page::Curated, None);
    place.remember("walk", "in the rain", LOG, Some("main"));
    place.remember("said", "hello", LOG, None);
    let expected = format!(
        "# Long-Term Memory\n\n- **lang**: Rust {STAMP} -->\n\n- **tz**: Berlin {STAMP} -->\n"
    );
    assert_eq!(place.read("MEMORY.md"), expected);
    let expected = format!(
        "# Daily Log \u{2014} 2026-11-17\n\n\
         - **walk**: in the rain {STAMP} -->\n\n\
         - **said**: hello {STAMP} -->\n"
    );
    assert_eq!(place.read("memory/2026-11-17.md"), expected);
}

#[test]
fn openclaw_finds_a_plain_list() {
    let place = Place::new(MarkdownLayout::PLAIN);
    place.write("MEMORY.md", "# Me\n\nProse stays.\n\n- **b**: two\n\nThe end.");
    place.remember("a", "new\nlines", Page::Curated, None);
    place.remember("c", "three", Page::Curated, None);
    let expected = format!(
        "# Me\n\nProse stays.\n\n- **b**: two\n\nThe end.\n- **a**: new\n  lines\n  {STAMP} -->\n\
         - **c**: three {STAMP} -->\n"
    );
    assert_eq!(place.read("MEMORY.md"), expected);
}

#[test]
fn what_zeroclaw_and_people_wrote_is_read() {
    let place = Place::new(KEYED);
    place.write("MEMORY.md", "# Long-Term Memory\n\n- **k**: first\n\n- **k**: second\n\nProse.\n");
    place.write("memory/2026-11-15.md", "# Daily Log — 2026-11-15\n\n- **x**: one\nmore\n\n- y\n");
    place.write("memory/archive/2026-01-01.md", "- **gone**: put away\n");
    place.write("memory/broken.md", b"\xff\xfe");
    let listed = place.listed();
    let seen: Vec<_> =
        listed.iter().map(|entry| (entry.key.as_deref(), entry.text.as_str())).collect();
    assert_eq!(
        seen,
        [(None, "y"), (Some("x"), "one\nmore"), (None, "Prose."), (Some("k"), "second")]
    );
    assert_eq!(
        (listed[0].id.as_str(), listed[0].kind.as_str()),
        ("memory/2026-11-15.md#L6", "daily")
    );
    assert_eq!(listed[0].day, Some(jiff::civil::date(2026, 11, 15)));
    // Forgetting removes every entry of a key, including archived ones.
    assert_eq!((place.forget("k"), place.forget("gone")), (2, 1));
    assert_eq!(place.read("MEMORY.md"), "# Long-Term Memory\n\nProse.\n");
    assert_eq!(place.read("memory/archive/2026-01-01.md"), "");
    let skipped = place.site.entries().unwrap().skipped;
    assert_eq!(
        skipped.iter().map(|file| file.0.as_str()).collect::<Vec<_>>(),
        ["memory/broken.md"]
    );
}

#[test]
fn what_is_forgotten_is_told_by_id_by_place_by_session_and_by_time() {
    let place = Place::new(MarkdownLayout::PLAIN);
    let id = Uuid::from_u128(7);
    place.write(
        "MEMORY.md",
        format!(
            "- one\n- two\n- three <!-- anemone: {id} owner 2026-03-01T10:00:00Z session=\"s\" -->\n"
        ),
    );
    place.write("memory/2026-02-01.md", "- four\n\nfive\nmore\n");
    let texts = |wanted: &ForgetTarget| -> Vec<String> {
        let plan = place.site.plan_forget(wanted).unwrap();
        plan.entries.into_iter().map(|entry| entry.text).collect()
    };
    let ids = |id: &str| ForgetTarget::Ids(vec![id.to_owned()]);
    let time = |text: &str| Some(text.parse::<Timestamp>().unwrap());
    assert_eq!(texts(&ids(&id.to_string())), ["three"]);
    assert_eq!(texts(&ids("MEMORY.md#L2")), ["two"]);
    assert_eq!(texts(&ids("MEMORY.md#L1-L2")), ["one", "two"]);
    assert_eq!(texts(&ids("memory/2026-02-01.md#L3-L4")), ["five\nmore"]);
    for none in ["MEMORY.md#L9", "MEMORY.md#L", "MEMORY.md", "#L1", "", "MEMORY.md#L2-L1x"] {
        assert_eq!(texts(&ids(none)), [] as [&str; 0], "{none}");
    }
    assert_eq!(texts(&ForgetTarget::Session("s".to_owned())), ["three"]);
    let since = ForgetTarget::Written {
        since: time("2026-03-01T10:00:00Z"),
        until: None,
        zone: TimeZone::UTC,
    };
    assert_eq!(texts(&since), ["three"]);
    let until =
        |text: &str, zone: TimeZone| ForgetTarget::Written { since: None, until: time(text), zone };
    assert_eq!(texts(&until("2026-02-28T00:00:00Z", TimeZone::UTC)), ["four", "five\nmore"]);
    // A log is of the day where its user is: there it has not begun yet.
    let west = TimeZone::fixed(jiff::tz::offset(-10));
    assert_eq!(texts(&until("2026-02-01T09:59:59Z", west)), [] as [&str; 0]);
    assert_eq!(texts(&until("2026-02-01T09:59:59Z", TimeZone::UTC)), ["four", "five\nmore"]);
    // Looking changes nothing.
    assert!(place.read("MEMORY.md").starts_with("- one\n- two\n"));
}

#[test]
fn what_has_a_key_is_found_by_it_however_the_file_spells_it() {
    let place = Place::new(MarkdownLayout::PLAIN);
    let keys = ["plain", "two words", "a <!-- b", "a\nb", "*", "a**: b", "é\u{7f}"];
    for key in keys {
        place.remember(key, &format!("says {key:?}"), LOG, None);
    }
    let id = Uuid::from_u128(0xabc);
    let large = id.to_string().to_uppercase();
    let stamp = format!("<!-- anemone: {large} owner 2026-03-01T10:00:00Z -->");
    place.write("MEMORY.md", format!("- **empty**:\n\nProse\n\n- stamped {stamp}\n"));
    let texts = |key: &str| -> Vec<String> {
        let plan = place.site.plan_forget(&ForgetTarget::Key(key.to_owned())).unwrap();
        plan.entries.into_iter().map(|entry| entry.text).collect()
    };
    let all = place.site.entries().unwrap();
    assert_eq!(all.placed.len(), keys.len() + 3);
    for it in &all.placed {
        let same = all.placed.iter().filter(|other| other.key() == it.key());
        let same: Vec<&str> = same.map(|same| same.unit.content.as_str()).collect();
        assert_eq!(texts(it.key()), same, "{}", it.key());
    }
    assert_eq!(texts("plai"), [] as [&str; 0]);
}

#[test]
fn a_tombstone_says_that_something_was_forgotten_and_not_what() {
    let place = Place::new(MarkdownLayout::PLAIN);
    place.write("MEMORY.md", "- **code**: seven-grey-geese\n");
    assert_eq!(place.forget("code"), 1);
    let stones = fs_err::read_to_string(place.site.tombstones()).unwrap();
    let stone: serde_json::Value = serde_json::from_str(stones.trim()).unwrap();
    assert_eq!((&stone["path"], &stone["why"]), (&"MEMORY.md".into(), &"forget".into()));
    assert_eq!(stone["text_sha256"].as_str().map(str::len), Some(64));
    assert!(!stones.contains("geese") && !stones.contains("code\""));
    // What undo goes back to has it, until that is dropped as well.
    let probes = ErasureProbes::new(["seven-grey-geese"]);
    let held = place.site.lock().unwrap();
    assert!(plan_undo(&place.memory).is_ok());
    let gone = place.site.kept_entries_of(&ForgetTarget::Key("code".to_owned())).unwrap();
    let gone = ErasedEntries::new(gone.iter().map(|kept| &kept.entry));
    assert_eq!(held.erase_from_journal(&gone).unwrap().dropped.len(), 1);
    assert!(plan_undo(&place.memory).is_err());
    let scan = probes.scan(&[place.folder.path().to_owned()]);
    assert_eq!((scan.found, scan.skipped), (Vec::new(), Vec::new()));
}

#[test]
fn an_entry_that_takes_the_place_of_another_hides_it() {
    let place = Place::new(MarkdownLayout::PLAIN);
    let stamp = |number: u128, more: &str| {
        let id = Uuid::from_u128(number);
        format!("<!-- anemone: {id} owner 2026-03-01T10:00:0{number}Z{more} -->")
    };
    let new = stamp(2, &format!(" supersedes=\"{}\"", Uuid::from_u128(1)));
    place.write("MEMORY.md", format!("- old {}\n- new {new}\n", stamp(1, "")));
    let listed = place.listed();
    assert_eq!(listed.iter().map(|entry| entry.text.as_str()).collect::<Vec<_>>(), ["new"]);
}

#[test]
fn a_fence_that_somebody_left_open_swallows_nothing() {
    let place = Place::new(MarkdownLayout::PLAIN);
    place.write("MEMORY.md", "- one\n\n```sh\nls");
    place.remember("a", "x", Page::Curated, None);
    place.remember("b", "y", Page::Curated, None);
    let listed = place.listed();
    assert_eq!(listed.len(), 4);
    assert!(listed.iter().any(|entry| entry.key.as_deref() == Some("a") && entry.text == "x"));
    assert!(place.read("MEMORY.md").starts_with("- one\n\n```sh\nls\n```\n- **a**: x <!--"));
}
