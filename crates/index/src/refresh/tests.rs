//! Tests of refreshing.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::*;
use crate::progress::NoProgress;
use crate::source::SourceError;
use crate::store::tests::lines;
use crate::store::{Narrow, SoughtTerm};
use crate::text::Term;

/// The stamp of an entry, its documents, and whether it can be read.
type HeldEntry = (FileStamp, Vec<Document>, bool);

/// A source in memory: the content of each entry, and its stamp.
#[derive(Default)]
struct ScriptedSource {
    name: &'static str,
    entries: Mutex<BTreeMap<String, HeldEntry>>,
    loads: Mutex<Vec<String>>,
}

impl ScriptedSource {
    fn new(name: &'static str) -> Self {
        Self { name, ..Self::default() }
    }

    /// Writes a file at a time in seconds; inode and size are derived from the text.
    fn write(&self, key: &str, text: &str, seconds: i64) {
        self.hold(key, &[(key, text)], seconds);
    }

    fn hold(&self, key: &str, documents: &[(&str, &str)], seconds: i64) {
        let documents: Vec<Document> = documents
            .iter()
            .map(|(path, text)| Document {
                path: (*path).to_owned(),
                text: (*text).to_owned(),
                ..Document::default()
            })
            .collect();
        let size = documents.iter().map(|document| document.text.len() as u64).sum();
        let ns = seconds * 1_000_000_000;
        let stamp = FileStamp { size, modified_ns: ns, changed_ns: ns, inode: 1 };
        self.entries.lock().unwrap().insert(key.to_owned(), (stamp, documents, true));
    }

    fn remove(&self, key: &str) {
        self.entries.lock().unwrap().remove(key);
    }

    fn set_readable(&self, key: &str, readable: bool) {
        self.entries.lock().unwrap().get_mut(key).unwrap().2 = readable;
    }

    fn loads(&self) -> Vec<String> {
        std::mem::take(&mut *self.loads.lock().unwrap())
    }
}

impl DocumentSource for ScriptedSource {
    fn identity(&self) -> String {
        self.name.to_owned()
    }

    fn list(&self) -> Result<Listing, SourceError> {
        let entries = self.entries.lock().unwrap();
        let entry =
            |(key, held): (&String, &HeldEntry)| SourceEntry { key: key.clone(), stamp: held.0 };
        Ok(Listing { entries: entries.iter().map(entry).collect(), skipped: Vec::new() })
    }

    fn load(
        &self,
        entry: &SourceEntry,
        each: &mut dyn FnMut(Document),
    ) -> Result<Vec<SkippedDocument>, SourceError> {
        self.loads.lock().unwrap().push(entry.key.clone());
        let entries = self.entries.lock().unwrap();
        let Some((_, documents, readable)) = entries.get(&entry.key) else { return Ok(Vec::new()) };
        documents.iter().cloned().for_each(each);
        if *readable {
            return Ok(Vec::new());
        }
        Err(SourceError { place: entry.key.clone(), source: "no".into() })
    }
}

struct Bench {
    folder: tempfile::TempDir,
    store: Store,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        Self { folder, store }
    }

    fn refresh(&mut self, sources: &[&dyn DocumentSource], seconds: i64) -> Freshness {
        let now = Timestamp::from_second(seconds).unwrap();
        refresh(&mut self.store, sources, RefreshExtras::default(), now, &NoProgress, &lines)
            .unwrap()
    }

    /// Returns the paths of all documents with their texts.
    fn texts(&self) -> Vec<(String, String)> {
        let mut texts = Vec::new();
        let mut each = |document: Document| texts.push((document.path, document.text));
        self.store.reading().unwrap().documents(None, &mut each).unwrap();
        texts
    }

    /// Damages sealed files so that the seal still fits.
    fn damage(&mut self, sql: &str) {
        self.store.release();
        let seal = self.folder.path().join("seal.json");
        let mut sealed: serde_json::Value =
            serde_json::from_slice(&fs_err::read(&seal).unwrap()).unwrap();
        let path = self.folder.path().join("index.sqlite");
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let there = fs_err::metadata(&path).unwrap();
        for file in sealed["files"].as_array_mut().unwrap() {
            if file["name"] == "index.sqlite" {
                use std::os::unix::fs::MetadataExt as _;
                file["size"] = there.len().into();
                let ns = |s: i64, ns: i64| (s * 1_000_000_000 + ns).into();
                file["modified_ns"] = ns(there.mtime(), there.mtime_nsec());
                file["changed_ns"] = ns(there.ctime(), there.ctime_nsec());
            }
        }
        fs_err::write(&seal, sealed.to_string()).unwrap();
    }

    fn generation(&self) -> String {
        fs_err::read_to_string(self.folder.path().join("seal.json")).unwrap()
    }
}

fn pair(path: &str, text: &str) -> (String, String) {
    (path.to_owned(), text.to_owned())
}

fn counts(fresh: &Freshness) -> [u64; 5] {
    [fresh.entries, fresh.documents, fresh.added, fresh.changed, fresh.removed]
}

#[test]
fn what_is_new_changed_and_gone_is_taken_in() {
    let source = ScriptedSource::new("s");
    source.write("a.md", "one\n", 100);
    source.write("b.md", "two\nthree\n", 100);
    let mut bench = Bench::new();
    let fresh = bench.refresh(&[&source], 1_000);
    assert_eq!((counts(&fresh), fresh.chunks), ([2, 2, 2, 0, 0], 3));
    assert_eq!(fresh.rebuilt, Some("new"));
    source.loads();

    let before = bench.generation();
    let fresh = bench.refresh(&[&source], 1_001);
    assert_eq!((counts(&fresh), fresh.rebuilt), ([2, 2, 0, 0, 0], None));
    assert!(source.loads().is_empty(), "stamps say enough");
    assert_eq!(bench.generation(), before, "nothing was written");

    source.write("b.md", "four\n", 1_001);
    source.write("c.md", "five\n", 1_001);
    source.remove("a.md");
    let fresh = bench.refresh(&[&source], 2_000);
    assert_eq!((counts(&fresh), fresh.chunks), ([2, 2, 1, 1, 1], 2));
    assert_eq!(source.loads(), ["b.md", "c.md"]);
    assert_eq!(bench.texts(), [pair("b.md", "four\n"), pair("c.md", "five\n")]);
}

#[test]
fn a_change_in_the_same_tick_is_seen() {
    let source = ScriptedSource::new("s");
    source.write("a.md", "old\n", 1_000);
    let mut bench = Bench::new();
    bench.refresh(&[&source], 1_001);
    // The same size, the same times, the same inode.
    source.write("a.md", "new\n", 1_000);
    let fresh = bench.refresh(&[&source], 1_001);
    assert_eq!(counts(&fresh), [1, 1, 0, 1, 0]);
    assert_eq!(bench.texts(), [pair("a.md", "new\n")]);
}

#[test]
fn doubt_ends_when_the_tick_is_long_past() {
    let source = ScriptedSource::new("s");
    source.write("a.md", "text\n", 1_000);
    let mut bench = Bench::new();
    bench.refresh(&[&source], 1_000);
    source.loads();
    let before = bench.generation();
    bench.refresh(&[&source], 1_001);
    assert_eq!(source.loads(), ["a.md"], "too fresh to trust");
    assert_eq!(bench.generation(), before, "and to note anything");
    bench.refresh(&[&source], 1_010);
    assert_eq!(source.loads(), ["a.md"]);
    assert_ne!(bench.generation(), before);
    bench.refresh(&[&source], 1_011);
    assert!(source.loads().is_empty());
}

#[test]
fn a_touched_file_is_read_and_not_written_again() {
    let source = ScriptedSource::new("s");
    source.write("a.md", "text\n", 100);
    let mut bench = Bench::new();
    bench.refresh(&[&source], 1_000);
    source.write("a.md", "text\n", 200);
    let fresh = bench.refresh(&[&source], 1_000);
    assert_eq!(counts(&fresh), [1, 1, 0, 0, 0]);
    source.loads();
    bench.refresh(&[&source], 1_000);
    assert!(source.loads().is_empty());
}

#[test]
fn what_cannot_be_read_is_not_answered_from_and_tried_again() {
    let source = ScriptedSource::new("s");
    source.write("a.md", "text\n", 100);
    source.write("b.md", "text\n", 100);
    let mut bench = Bench::new();
    bench.refresh(&[&source], 1_000);
    source.write("a.md", "texts\n", 200);
    source.set_readable("a.md", false);
    let unreadable = SkippedDocument { path: "a.md".to_owned(), reason: SkipReason::Unreadable };
    for _ in 0..2 {
        let fresh = bench.refresh(&[&source], 1_000);
        assert_eq!(fresh.skipped, std::slice::from_ref(&unreadable));
        assert_eq!(bench.texts(), [pair("b.md", "text\n")]);
    }
    let before = bench.generation();
    bench.refresh(&[&source], 1_000);
    assert_eq!(bench.generation(), before);
    source.set_readable("a.md", true);
    let fresh = bench.refresh(&[&source], 1_000);
    assert!(fresh.skipped.is_empty());
    assert_eq!(bench.texts().len(), 2);
}

#[test]
fn the_first_source_wins_whenever_it_comes() {
    let (first, second) = (ScriptedSource::new("1"), ScriptedSource::new("2"));
    second.write("same.md", "second\n", 100);
    let duplicate = SkippedDocument { path: "same.md".to_owned(), reason: SkipReason::Duplicate };
    let both: [&dyn DocumentSource; 2] = [&first, &second];
    let mut bench = Bench::new();
    bench.refresh(&both, 1_000);
    assert_eq!(bench.texts(), [pair("same.md", "second\n")]);

    first.write("same.md", "first\n", 100);
    let fresh = bench.refresh(&both, 1_000);
    assert_eq!(bench.texts(), [pair("same.md", "first\n")]);
    assert_eq!(fresh.skipped, std::slice::from_ref(&duplicate));
    assert_eq!(bench.refresh(&both, 1_000).skipped, std::slice::from_ref(&duplicate));

    // A new index of both gives the same.
    let mut other = Bench::new();
    assert_eq!(other.refresh(&both, 1_000).skipped[..], [duplicate]);
    assert_eq!(other.texts(), bench.texts());

    first.remove("same.md");
    let fresh = bench.refresh(&both, 1_000);
    assert!(fresh.skipped.is_empty());
    assert_eq!(bench.texts(), [pair("same.md", "second\n")]);
}

#[test]
fn sources_come_go_and_change_places() {
    let (first, second) = (ScriptedSource::new("1"), ScriptedSource::new("2"));
    first.write("a.md", "a\n", 100);
    first.write("same.md", "first\n", 100);
    second.write("b.md", "b\n", 100);
    second.write("same.md", "second\n", 100);
    let mut bench = Bench::new();
    bench.refresh(&[&first], 1_000);
    bench.refresh(&[&first, &second], 1_000);
    assert_eq!(bench.texts()[2], pair("same.md", "first\n"));
    bench.refresh(&[&second, &first], 1_000);
    assert_eq!(bench.texts()[2], pair("same.md", "second\n"));
    let fresh = bench.refresh(&[&first, &first], 1_000);
    assert_eq!(fresh.skipped, []);
    assert_eq!(bench.texts(), [pair("a.md", "a\n"), pair("same.md", "first\n")]);
    bench.refresh(&[], 1_000);
    assert!(bench.texts().is_empty());
}

#[test]
fn an_entry_of_many_documents_changes_one_by_one() {
    let source = ScriptedSource::new("s");
    source.hold("db", &[("m/1", "one\n"), ("m/2", "two\n"), ("m/3", "three\n")], 100);
    let mut bench = Bench::new();
    bench.refresh(&[&source], 1_000);
    let long = "x".repeat(5_000);
    source.hold(
        "db",
        &[("m/2", "two\n"), ("m/3", "3\n"), ("m/4", ""), ("", "x\n"), (&long, "x\n"), ("m/2", "2")],
        200,
    );
    let fresh = bench.refresh(&[&source], 1_000);
    assert_eq!(fresh.removed, 1);
    let skipped: Vec<(usize, &str)> =
        fresh.skipped.iter().map(|s| (s.path.len(), s.reason.as_str())).collect();
    assert!(skipped.contains(&(0, "name")) && skipped.contains(&(4096, "name")));
    assert!(skipped.contains(&(3, "no_text")), "{skipped:?}");
    assert!(skipped.contains(&(3, "duplicate")));
    let expected = [pair("m/2", "two\n"), pair("m/3", "3\n"), pair("m/4", "")];
    assert_eq!(bench.texts(), expected);
}

#[test]
fn many_at_once_agree() {
    let source = ScriptedSource::new("s");
    for number in 0..20 {
        source.write(&format!("{number:02}.md"), "common words\n", 100);
    }
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let (source, folder) = (&source, folder.path());
            scope.spawn(move || {
                let mut store = Store::open(folder).unwrap();
                for turn in 0..6_i64 {
                    if worker == 0 {
                        source.write("05.md", &format!("common turn{turn}\n"), 200 + turn);
                    }
                    let now = Timestamp::from_second(1_000 + turn).unwrap();
                    refresh(
                        &mut store,
                        &[source],
                        RefreshExtras::default(),
                        now,
                        &NoProgress,
                        &lines,
                    )
                    .unwrap();
                    let reading = store.reading().unwrap();
                    let term = Term::of("common");
                    assert_eq!(reading.frequency(term).unwrap(), 20);
                    let wanted = SoughtTerm { text: "common".into(), term, weight: 1.0 };
                    assert_eq!(
                        reading.candidates(&[wanted], 50, &Narrow::default()).unwrap().len(),
                        20
                    );
                }
            });
        }
    });
}

#[test]
fn a_deleted_index_is_filled_again_and_says_why() {
    let source = ScriptedSource::new("s");
    source.write("a.md", "text\n", 100);
    let mut bench = Bench::new();
    bench.refresh(&[&source], 1_000);
    fs_err::write(bench.folder.path().join("index.sqlite"), b"garbage").unwrap();
    assert_eq!(bench.refresh(&[&source], 1_000).rebuilt, Some("damaged"));
    bench.store.begin_anew("asked");
    assert_eq!(bench.refresh(&[&source], 1_000).rebuilt, Some("asked"));
    fs_err::remove_dir_all(bench.folder.path()).unwrap();
    fs_err::create_dir(bench.folder.path()).unwrap();
    assert_eq!(bench.refresh(&[&source], 1_000).rebuilt, Some("new"));
    assert_eq!(bench.texts(), [pair("a.md", "text\n")]);
}

#[test]
fn what_was_written_before_a_search_is_found() {
    let source = ScriptedSource::new("s");
    for number in 0..50 {
        source.write(&format!("{number:02}.md"), "common words\n", 100);
    }
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for worker in 0..6 {
            let (source, folder) = (&source, folder.path());
            scope.spawn(move || {
                for turn in 0..15 {
                    let key = format!("new-{worker}-{turn}.md");
                    let (earlier, text) = (format!("w{worker}t{}", turn - 1), "common\n");
                    source.write(&key, &format!("w{worker}t{turn} {text}"), 200);
                    let mut store = Store::open(folder).unwrap();
                    let now = Timestamp::from_second(1_000 + turn).unwrap();
                    refresh(
                        &mut store,
                        &[source],
                        RefreshExtras::default(),
                        now,
                        &NoProgress,
                        &lines,
                    )
                    .unwrap();
                    let reading = store.reading().unwrap();
                    let word = format!("w{worker}t{turn}");
                    assert_eq!(reading.frequency(Term::of(&word)).unwrap(), 1, "{word}");
                    if turn > 0 {
                        assert_eq!(reading.frequency(Term::of(&earlier)).unwrap(), 1);
                    }
                }
            });
        }
    });
}

#[test]
fn an_answer_comes_from_the_sources_asked() {
    let folder = tempfile::tempdir().unwrap();
    let made = [
        ScriptedSource::new("0"),
        ScriptedSource::new("1"),
        ScriptedSource::new("2"),
        ScriptedSource::new("3"),
    ];
    for (number, source) in made.iter().enumerate() {
        source.write("same.md", &format!("of{number}\n"), 100);
    }
    std::thread::scope(|scope| {
        for (number, source) in made.iter().enumerate() {
            let folder = folder.path();
            scope.spawn(move || {
                for turn in 0..15 {
                    let mut store = Store::open(folder).unwrap();
                    if turn % 5 == 4 {
                        store.begin_anew("asked");
                    }
                    let now = Timestamp::from_second(1_000).unwrap();
                    let fresh = refresh(
                        &mut store,
                        &[source],
                        RefreshExtras::default(),
                        now,
                        &NoProgress,
                        &lines,
                    )
                    .unwrap();
                    assert_eq!(fresh.documents, 1);
                    let mut texts = Vec::new();
                    let reading = store.reading().unwrap();
                    reading.documents(None, &mut |document| texts.push(document.text)).unwrap();
                    assert_eq!(texts, [format!("of{number}\n")]);
                }
            });
        }
    });
    // Without the lock it is an error, not an answer from another memory.
    let refreshed = |source: &ScriptedSource| {
        let mut store = Store::open(folder.path()).unwrap();
        let now = Timestamp::from_second(1_000).unwrap();
        refresh(&mut store, &[source], RefreshExtras::default(), now, &NoProgress, &lines).unwrap();
        store.release();
        store
    };
    let first = refreshed(&made[0]);
    assert!(first.reading().is_ok());
    drop(refreshed(&made[1]));
    assert!(matches!(first.reading(), Err(StoreError::NotFilled)));
}

#[test]
fn an_index_that_is_removed_beside_searches_is_made_again() {
    let source = ScriptedSource::new("s");
    source.write("a.md", "text\n", 100);
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (source, place) = (&source, &place);
            scope.spawn(move || {
                for turn in 0..15 {
                    if worker == 0 {
                        crate::store::remove_index(place, &NoProgress).unwrap();
                        continue;
                    }
                    let mut store = Store::open(place).unwrap();
                    if turn == 7 {
                        store.begin_anew("asked");
                    }
                    let now = Timestamp::from_second(1_000).unwrap();
                    refresh(
                        &mut store,
                        &[source],
                        RefreshExtras::default(),
                        now,
                        &NoProgress,
                        &lines,
                    )
                    .unwrap();
                    assert_eq!(store.reading().unwrap().statistics().documents, 1);
                }
            });
        }
    });
}

#[test]
fn damage_that_the_seal_does_not_tell_is_mended() {
    let source = ScriptedSource::new("s");
    source.write("a.md", "text\n", 100);
    let mut bench = Bench::new();
    bench.refresh(&[&source], 1_000);
    // Noticed while comparing.
    bench.damage("DROP TABLE entry");
    assert_eq!(bench.refresh(&[&source], 1_000).rebuilt, Some("damaged"));
    assert_eq!(bench.texts(), [pair("a.md", "text\n")]);
    // Noticed while reading, and reported by the reader.
    bench.damage("DROP TABLE passage");
    assert_eq!(bench.refresh(&[&source], 1_000).rebuilt, None);
    let error = bench.store.reading().unwrap().documents(None, &mut |_| ()).unwrap_err();
    assert!(error.is_damage());
    bench.store.begin_anew("damaged");
    assert_eq!(bench.refresh(&[&source], 1_000).rebuilt, Some("damaged"));
    assert_eq!(bench.texts(), [pair("a.md", "text\n")]);
    assert_eq!(bench.refresh(&[&source], 1_000).rebuilt, None);
}

#[test]
fn sources_that_change_places_are_no_request() {
    let (first, second) = (ScriptedSource::new("1"), ScriptedSource::new("2"));
    let mut bench = Bench::new();
    bench.refresh(&[&first, &second], 1_000);
    assert_eq!(bench.refresh(&[&second, &first], 1_000).rebuilt, Some("sources"));
}

#[test]
fn an_index_that_cannot_be_written_is_used_as_it_is() {
    use std::os::unix::fs::PermissionsExt as _;
    if rustix::process::geteuid().is_root() {
        anemone_testkit::skip("unprivileged", "permissions do not stop root");
        return;
    }
    let source = ScriptedSource::new("s");
    source.write("a.md", "text\n", 1_000);
    let mut bench = Bench::new();
    bench.refresh(&[&source], 1_000);
    // Two lock holders in one thread would wait for each other.
    bench.store.release();
    let set = |mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        fs_err::set_permissions(bench.folder.path(), mode).unwrap();
    };
    set(0o500);
    let now = Timestamp::from_second(2_000).unwrap();
    let mut store = Store::open(bench.folder.path()).unwrap();
    let fresh = refresh(&mut store, &[&source], RefreshExtras::default(), now, &NoProgress, &lines)
        .unwrap();
    assert_eq!((fresh.documents, fresh.rebuilt), (1, None));
    assert!(store.reading().is_ok());
    set(0o700);
}

#[test]
fn very_many_that_are_left_out_are_counted() {
    let source = ScriptedSource::new("s");
    let empty: Vec<String> = (0..500).map(|number| format!("m/{number:03}")).collect();
    let empty: Vec<(&str, &str)> = empty.iter().map(|path| (path.as_str(), "")).collect();
    source.hold("db", &empty, 100);
    let mut bench = Bench::new();
    for _ in 0..2 {
        let fresh = bench.refresh(&[&source], 1_000);
        assert_eq!(fresh.skipped.len(), 100);
        assert_eq!(fresh.skipped_unnamed, BTreeMap::from([(SkipReason::NoText, 400)]));
    }
}

#[test]
fn a_chain_of_freed_paths_is_followed_to_its_end() {
    /// Each entry also has the next one's path, until it is read again.
    struct Chain(ScriptedSource, Mutex<HashSet<String>>);
    impl DocumentSource for Chain {
        fn identity(&self) -> String {
            self.0.identity()
        }
        fn list(&self) -> Result<Listing, SourceError> {
            self.0.list()
        }
        fn load(
            &self,
            entry: &SourceEntry,
            each: &mut dyn FnMut(Document),
        ) -> Result<Vec<SkippedDocument>, SourceError> {
            let again = !self.1.lock().unwrap().insert(entry.key.clone());
            let mut number = 0;
            self.0.load(entry, &mut |document| {
                number += 1;
                if number == 1 || !again {
                    each(document);
                }
            })
        }
    }
    let chain = Chain(ScriptedSource::new("s"), Mutex::default());
    let path = |number: u32| format!("p{number:02}");
    for number in 0..12 {
        let (own, next) = (path(number), path(number + 1));
        let documents = [(own.as_str(), "own\n"), (next.as_str(), "of the one before\n")];
        chain.0.hold(&format!("k{number:02}"), &documents, 100);
    }
    let mut bench = Bench::new();
    bench.refresh(&[&chain], 1_000);
    assert_eq!(bench.texts().len(), 13);
    chain.0.remove("k00");
    bench.refresh(&[&chain], 1_000);
    let expected: Vec<_> = (1..12).map(|number| pair(&path(number), "own\n")).collect();
    assert_eq!(bench.texts(), expected);
}

#[test]
fn many_paths_are_lost_to_an_earlier_source_at_once() {
    let (first, second) = (ScriptedSource::new("1"), ScriptedSource::new("2"));
    let paths: Vec<String> = (0..3_000).map(|number| format!("m/{number:05}")).collect();
    let of = |text| paths.iter().map(|path| (path.as_str(), text)).collect::<Vec<_>>();
    second.hold("db", &of("second\n"), 100);
    let both: [&dyn DocumentSource; 2] = [&first, &second];
    let mut bench = Bench::new();
    bench.refresh(&both, 1_000);
    first.hold("db", &of("first\n"), 100);
    let started = std::time::Instant::now();
    let fresh = bench.refresh(&both, 1_000);
    let took = started.elapsed();
    assert_eq!(fresh.skipped.len(), 3_000);
    assert!(took < std::time::Duration::from_secs(20), "{took:?}");
    first.remove("db");
    assert!(bench.refresh(&both, 1_000).skipped.is_empty());
    assert_eq!(bench.texts()[0], pair("m/00000", "second\n"));
}
