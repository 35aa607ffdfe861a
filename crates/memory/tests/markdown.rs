//! What a Markdown memory looks like on the disk, and what it reads that others wrote.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use anemone_index::{FolderSource, MarkdownFolder};
use anemone_memory::{
    Category, Clock, ErasedEntries, ErasureProbes, Finder, ForgetTarget, MarkdownLayout,
    MarkdownMemory, MarkdownStore, Memory,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tempfile::TempDir;
use uuid::Uuid;

/// A layout in which keys replace and old days are archived.
const KEYED: MarkdownLayout = MarkdownLayout {
    curated_head: "# Long-Term Memory\n\n",
    daily_title: "# Daily Log \u{2014} ",
    spaces_entries: true,
    keys_replace: true,
    archives: true,
};

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        "2026-11-16T23:30:00Z".parse().unwrap()
    }

    fn zone(&self) -> TimeZone {
        TimeZone::fixed(jiff::tz::offset(1))
    }

    fn fresh_id(&self) -> Uuid {
        Uuid::nil()
    }
}

struct Place {
    folder: TempDir,
    site: MarkdownStore,
    memory: MarkdownMemory,
}

impl Place {
    fn new(manner: MarkdownLayout) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("workspace");
        fs_err::create_dir_all(workspace.join("memory/archive")).unwrap();
        let site = MarkdownStore::open(&workspace, &folder.path().join("state"), manner).unwrap();
        let source =
            FolderSource::new(workspace, String::new(), Box::new(MarkdownFolder::default()));
        let finder = Finder::new(folder.path().join("index"), vec![Box::new(source)], Vec::new());
        let memory = MarkdownMemory::new(site.clone(), finder, Box::new(Still));
        Self { folder, site, memory }
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        fs_err::write(self.site.root().join(path), text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs_err::read_to_string(self.site.root().join(path)).unwrap()
    }
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

const STAMP: &str = "<!-- anemone: 00000000";

#[test]
fn zeroclaw_finds_its_own_layout() {
    let place = Place::new(KEYED);
    wait(async {
        let memory = &place.memory;
        memory.store("lang", "Rust", &Category::Core, None).await.unwrap();
        memory.store("tz", "Berlin", &Category::Core, None).await.unwrap();
        memory.store("walk", "in the rain", &Category::Daily, Some("main")).await.unwrap();
        memory.store("said", "hello", &Category::Conversation, None).await.unwrap();
    });
    let expected = format!(
        "# Long-Term Memory\n\n- **lang**: Rust {STAMP} -->\n\n- **tz**: Berlin {STAMP} -->\n"
    );
    assert_eq!(place.read("MEMORY.md"), expected);
    // The day is that of the writer.
    let expected = format!(
        "# Daily Log \u{2014} 2026-11-17\n\n\
         - **walk**: in the rain {STAMP} -->\n\n\
         - **said**: hello {STAMP} category=\"conversation\" -->\n"
    );
    assert_eq!(place.read("memory/2026-11-17.md"), expected);
}

#[test]
fn openclaw_finds_a_plain_list() {
    let place = Place::new(MarkdownLayout::PLAIN);
    place.write("MEMORY.md", "# Me\n\nProse stays.\n\n- **a**: old\n- **b**: two\n\nThe end.");
    wait(async {
        place.memory.store("a", "new\nlines", &Category::Core, None).await.unwrap();
        place.memory.store("c", "three", &Category::Core, None).await.unwrap();
    });
    let expected = format!(
        "# Me\n\nProse stays.\n\n- **a**: new\n  lines\n  {STAMP} -->\n- **b**: two\n\nThe end.\n\
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
    wait(async {
        let memory = &place.memory;
        let listed = memory.list(None, None).await.unwrap();
        let seen: Vec<_> = listed.iter().map(|it| (it.key.as_str(), it.content.as_str())).collect();
        assert_eq!(
            seen,
            [
                ("memory/2026-11-15.md#L6", "y"),
                ("x", "one\nmore"),
                ("MEMORY.md#L7", "Prose."),
                ("k", "second"),
            ]
        );
        assert_eq!(
            (listed[0].timestamp.as_str(), &listed[0].category),
            ("2026-11-15", &Category::Daily)
        );
        let found = memory.recall("one more", 1, None).await.unwrap();
        assert_eq!(found[0].key, "x");
        assert_eq!(memory.get("gone").await.unwrap(), None);
        // Forgetting takes every entry of a key, also what was put away.
        assert!(memory.forget("k").await.unwrap());
        assert!(memory.forget("gone").await.unwrap());
    });
    assert_eq!(place.read("MEMORY.md"), "# Long-Term Memory\n\nProse.\n");
    assert_eq!(place.read("memory/archive/2026-01-01.md"), "");
    let skipped = place.site.entries().unwrap().skipped;
    assert_eq!(skipped.iter().map(|it| it.0.as_str()).collect::<Vec<_>>(), ["memory/broken.md"]);
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
        plan.entries.into_iter().map(|it| it.text).collect()
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
        wait(place.memory.store(key, &format!("says {key:?}"), &Category::Daily, None)).unwrap();
    }
    let id = Uuid::from_u128(0xabc);
    let large = id.to_string().to_uppercase();
    let stamp = format!("<!-- anemone: {large} owner 2026-03-01T10:00:00Z -->");
    place.write("MEMORY.md", format!("- **empty**:\n\nProse\n\n- stamped {stamp}\n"));
    let texts = |key: &str| -> Vec<String> {
        let plan = place.site.plan_forget(&ForgetTarget::Key(key.to_owned())).unwrap();
        plan.entries.into_iter().map(|it| it.text).collect()
    };
    let all = place.site.entries().unwrap();
    assert_eq!(all.placed.len(), keys.len() + 3);
    for it in &all.placed {
        let same = all.placed.iter().filter(|other| other.key() == it.key());
        let same: Vec<&str> = same.map(|it| it.unit.content.as_str()).collect();
        assert_eq!(texts(it.key()), same, "{}", it.key());
    }
    assert_eq!(texts("plai"), [] as [&str; 0]);
}

#[test]
fn a_tombstone_says_that_something_was_forgotten_and_not_what() {
    let place = Place::new(MarkdownLayout::PLAIN);
    place.write("MEMORY.md", "- **code**: seven-grey-geese\n");
    assert!(wait(place.memory.forget("code")).unwrap());
    let stones = fs_err::read_to_string(place.site.tombstones()).unwrap();
    let stone: serde_json::Value = serde_json::from_str(stones.trim()).unwrap();
    assert_eq!((&stone["path"], &stone["why"]), (&"MEMORY.md".into(), &"forget".into()));
    assert_eq!(stone["text_sha256"].as_str().map(str::len), Some(64));
    assert!(!stones.contains("geese") && !stones.contains("code\""));
    // What undo goes back to has it, until that is dropped as well.
    let probes = ErasureProbes::new(["seven-grey-geese"]);
    let held = place.site.lock().unwrap();
    assert!(place.site.plan_undo().is_ok());
    let gone = place.site.kept_entries_of(&ForgetTarget::Key("code".to_owned())).unwrap();
    let gone = ErasedEntries::new(gone.iter().map(|kept| &kept.entry));
    assert_eq!(held.erase_from_journal(&gone).unwrap().dropped.len(), 1);
    assert!(place.site.plan_undo().is_err());
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
    let listed = wait(place.memory.list(None, None)).unwrap();
    assert_eq!(listed.iter().map(|it| it.content.as_str()).collect::<Vec<_>>(), ["new"]);
}

#[test]
fn a_fence_that_somebody_left_open_swallows_nothing() {
    let place = Place::new(MarkdownLayout::PLAIN);
    place.write("MEMORY.md", "- one\n\n```sh\nls");
    wait(async {
        place.memory.store("a", "x", &Category::Core, None).await.unwrap();
        place.memory.store("b", "y", &Category::Core, None).await.unwrap();
        assert_eq!(place.memory.get("a").await.unwrap().unwrap().content, "x");
        assert_eq!(place.memory.count().await.unwrap(), 4);
    });
    assert!(place.read("MEMORY.md").starts_with("- one\n\n```sh\nls\n```\n- **a**: x <!--"));
}
