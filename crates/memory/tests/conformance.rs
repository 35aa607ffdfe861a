//! The laws of a living memory, each a function over the trait, run by every implementation.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anemone_embed::Builtin;
use anemone_index::{FolderSource, MarkdownFolder};
use anemone_memory::{
    Category, Clock, Finder, MarkdownLayout, MarkdownMemory, MarkdownStore, Memory, MemoryEntry,
    MemoryError, NoMemory, RowsSource, SqliteMemory, tidied,
};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
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

/// A clock that goes on by a second whenever it is asked.
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
        // In order, and with other bits at the end: of those the short id is made.
        Uuid::from_u128(tick << 64 | tick)
    }
}

/// Something to keep memories in.
struct Kept {
    folder: TempDir,
    clock: Ticking,
    make: fn(&Path, Ticking) -> Box<dyn Memory>,
    /// What it makes of a text: Markdown has no blanks at the ends of lines, one kind of line
    /// ending and no control characters.
    as_kept: fn(&str) -> String,
}

impl Kept {
    fn all() -> Vec<Self> {
        let kept = |make, as_kept| Self {
            folder: tempfile::tempdir().unwrap(),
            clock: Ticking::new(),
            make,
            as_kept,
        };
        vec![
            kept(|path, clock| markdown(path, clock, MarkdownLayout::PLAIN), tidied),
            kept(|path, clock| markdown(path, clock, KEYED), tidied),
            kept(sqlite, str::to_owned),
        ]
    }

    /// Opens the memory; all that are opened are of the same files.
    fn open(&self) -> Box<dyn Memory> {
        (self.make)(self.folder.path(), self.clock.clone())
    }
}

fn markdown(folder: &Path, clock: Ticking, manner: MarkdownLayout) -> Box<dyn Memory> {
    let workspace = folder.join("workspace");
    fs_err::create_dir_all(&workspace).unwrap();
    let site = MarkdownStore::open(&workspace, &folder.join("state"), manner).unwrap();
    let rules = Box::new(MarkdownFolder::default());
    let source = FolderSource::new(workspace, String::new(), rules);
    let finder =
        Finder::new(folder.join("index"), vec![Box::new(source)], vec![Arc::new(Builtin::new())]);
    Box::new(MarkdownMemory::new(site, finder, Box::new(clock)))
}

fn sqlite(folder: &Path, clock: Ticking) -> Box<dyn Memory> {
    let path = folder.join("memory/brain.db");
    let source = RowsSource::new(&path, "default");
    let finder =
        Finder::new(folder.join("index"), vec![Box::new(source)], vec![Arc::new(Builtin::new())]);
    Box::new(SqliteMemory::open(&path, "default", finder, None, Box::new(clock)).unwrap())
}

/// Runs a law for every memory that keeps anything.
fn check(law: &impl AsyncFn(&Kept, &dyn Memory)) {
    for kept in Kept::all() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(law(&kept, &*kept.open()));
    }
}

fn keys(entries: &[MemoryEntry]) -> Vec<&str> {
    entries.iter().map(|it| it.key.as_str()).collect()
}

const CORE: Category = Category::Core;
const DAILY: Category = Category::Daily;

#[test]
fn what_was_stored_is_got_by_its_key() {
    let texts = [
        "plain",
        "",
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
    check(&async |kept, memory| {
        for (number, text) in texts.iter().enumerate() {
            let category = if number % 2 == 0 { CORE } else { DAILY };
            memory.store(&format!("text {number}"), text, &category, None).await.unwrap();
        }
        for (number, key) in names.iter().enumerate() {
            let category = if number % 2 == 0 { DAILY } else { CORE };
            memory.store(key, &format!("value {number}"), &category, None).await.unwrap();
        }
        for (number, text) in texts.iter().enumerate() {
            let found = memory.get(&format!("text {number}")).await.unwrap().unwrap();
            assert_eq!(found.content, (kept.as_kept)(text), "{}: {text:?}", memory.name());
            assert_eq!(found.score, None);
        }
        for (number, key) in names.iter().enumerate() {
            let found = memory.get(key).await.unwrap();
            let found = found.unwrap_or_else(|| panic!("{}: {key:?}", memory.name()));
            assert_eq!((found.key.as_str(), found.content), (*key, format!("value {number}")));
        }
        assert_eq!(memory.count().await.unwrap(), texts.len() + names.len());
        assert_eq!(memory.get("never stored").await.unwrap(), None);
        assert!(memory.health().await);
    });
}

#[test]
fn a_long_text_is_kept_whole() {
    check(&async |_, memory| {
        let text = "All work and no play makes Jack a dull boy.\n".repeat(24_000);
        let text = text.trim_end();
        assert!(text.len() > 1_000_000);
        memory.store("long", text, &CORE, None).await.unwrap();
        memory.store("short", "x", &CORE, None).await.unwrap();
        assert!(memory.get("long").await.unwrap().unwrap().content == text);
        assert_eq!(memory.count().await.unwrap(), 2);
    });
}

#[test]
fn a_secret_is_refused_and_nothing_is_written() {
    check(&async |_, memory| {
        let text = "the router password is Sommer-Krabbe-77";
        let done = memory.store("router", text, &CORE, None).await;
        assert!(matches!(done, Err(MemoryError::Secret { .. })), "{done:?}");
        assert_eq!(memory.count().await.unwrap(), 0);
    });
}

#[test]
fn a_key_that_is_stored_again_holds_its_new_text_only() {
    check(&async |_, memory| {
        memory.store("other", "unmoved", &CORE, None).await.unwrap();
        // From one file into the other and back, and twice in each.
        for (number, category) in [DAILY, DAILY, CORE, CORE, DAILY, CORE].iter().enumerate() {
            memory.store("k", &format!("text {number}"), category, Some("s")).await.unwrap();
            let found = memory.get("k").await.unwrap().unwrap();
            assert_eq!(found.content, format!("text {number}"));
            assert_eq!(found.category, *category);
            let listed = memory.list(None, None).await.unwrap();
            assert_eq!(keys(&listed), ["k", "other"], "{}", memory.name());
            assert_eq!(listed[0].content, format!("text {number}"));
            assert_eq!(memory.count().await.unwrap(), 2);
        }
        let found = memory.recall("text", 10, None).await.unwrap();
        let texts: Vec<_> = found.iter().map(|it| it.content.as_str()).collect();
        assert_eq!(texts.first(), Some(&"text 5"), "{}", memory.name());
        assert!(!texts[1..].iter().any(|it| it.starts_with("text")), "{texts:?}");
    });
}

#[test]
fn a_recall_without_words_returns_the_newest_without_a_score() {
    check(&async |_, memory| {
        assert_eq!(memory.recall("", 10, None).await.unwrap(), []);
        for number in 0..5 {
            let category = if number % 2 == 0 { CORE } else { DAILY };
            memory.store(&format!("k{number}"), "words", &category, None).await.unwrap();
        }
        for query in ["", "  \t\n", "*", " * "] {
            let found = memory.recall(query, 3, None).await.unwrap();
            assert_eq!(keys(&found), ["k4", "k3", "k2"], "{} {query:?}", memory.name());
            assert!(found.iter().all(|it| it.score.is_none()));
        }
        assert_eq!(memory.recall("*", 0, None).await.unwrap(), []);
        assert_eq!(memory.recall("words", 0, None).await.unwrap(), []);
    });
}

#[test]
fn a_session_narrows_what_is_listed_and_recalled() {
    check(&async |_, memory| {
        for (key, session) in [("a", Some("one")), ("b", Some("two words \"x\"")), ("c", None)] {
            memory.store(key, "the heron on the roof", &DAILY, session).await.unwrap();
        }
        assert_eq!(keys(&memory.list(None, Some("one")).await.unwrap()), ["a"]);
        let found = memory.recall("heron", 10, Some("two words \"x\"")).await.unwrap();
        assert_eq!(keys(&found), ["b"], "{}", memory.name());
        assert_eq!(found[0].session_id.as_deref(), Some("two words \"x\""));
        assert_eq!(keys(&memory.recall("", 10, Some("one")).await.unwrap()), ["a"]);
        assert_eq!(memory.recall("heron", 10, Some("three")).await.unwrap(), []);
        assert_eq!(memory.recall("heron", 10, None).await.unwrap().len(), 3);
    });
}

#[test]
fn a_category_narrows_what_is_listed() {
    check(&async |_, memory| {
        let all = [
            CORE,
            DAILY,
            Category::Conversation,
            Category::from("project notes"),
            Category::from("Core"),
            Category::from(""),
        ];
        for (number, category) in all.iter().enumerate() {
            memory.store(&format!("k{number}"), "x", category, None).await.unwrap();
        }
        for (number, category) in all.iter().enumerate() {
            let listed = memory.list(Some(category), None).await.unwrap();
            assert_eq!(keys(&listed), [format!("k{number}")], "{} {category:?}", memory.name());
            assert_eq!(listed[0].category, *category);
        }
    });
}

#[test]
fn what_was_forgotten_is_nowhere() {
    check(&async |kept, memory| {
        for category in [CORE, DAILY] {
            memory.store("keep", "the anchor is blue", &category, None).await.unwrap();
            memory.store("go", "the anchor is a first zebrafish", &category, None).await.unwrap();
            memory.store("go", "the anchor is a second zebrafish", &category, None).await.unwrap();
            let found = memory.recall("zebrafish", 5, None).await.unwrap();
            assert_eq!(found[0].content, "the anchor is a second zebrafish");
            assert!(memory.forget("go").await.unwrap());
            assert!(!memory.forget("go").await.unwrap());
            assert_eq!(memory.get("go").await.unwrap(), None);
            assert_eq!(keys(&memory.list(None, None).await.unwrap()), ["keep"]);
            assert_eq!(memory.count().await.unwrap(), 1);
            let found = memory.recall("zebrafish anchor", 5, None).await.unwrap();
            assert_eq!(keys(&found), ["keep"], "{}", memory.name());
        }
        // A memory that is opened again knows no more of it.
        assert_eq!(kept.open().get("go").await.unwrap(), None);
        assert!(!memory.forget("never stored").await.unwrap());
    });
}

#[test]
fn what_answers_a_question_is_recalled_in_three_languages() {
    check(&async |_, memory| {
        for (key, text) in [
            ("db", "We decided to keep the archive in SQLite because one file is enough."),
            ("tea", "Lin drinks green tea in the morning and never coffee."),
            ("bahn", "Die Bahnfahrkarten nach Hamburg sind für den dritten Mai gebucht."),
            ("garten", "Im Garten wachsen Tomaten und drei Apfelbäume."),
            ("tokyo", "用户计划在九月去东京旅行，已经订好酒店。"),
            ("cat", "小猫叫阿福，每天早上六点要吃饭。"),
        ] {
            memory.store(key, text, &CORE, None).await.unwrap();
        }
        for (query, key) in [
            ("which archive did we decide on?", "db"),
            ("what does Lin drink", "tea"),
            ("Fahrkarte nach Hamburg gebucht", "bahn"),
            ("welche Apfelbäume stehen im Garten?", "garten"),
            ("东京旅行的酒店", "tokyo"),
            ("小猫几点吃饭", "cat"),
        ] {
            let found = memory.recall(query, 3, None).await.unwrap();
            assert_eq!(found.first().map(|it| it.key.as_str()), Some(key), "{query}: {found:?}");
            assert!(found[0].score.is_some_and(f64::is_finite));
        }
    });
}

#[test]
fn eight_writers_at_once_lose_nothing() {
    const WRITERS: usize = 8;
    const EACH: usize = 12;
    for kept in Kept::all() {
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let memory = kept.open();
                scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                    runtime.block_on(async {
                        for number in 0..EACH {
                            let category = if number % 3 == 0 { CORE } else { DAILY };
                            let key = format!("w{writer} n{number}");
                            memory.store(&key, "written", &category, None).await.unwrap();
                            memory.store("shared", &key, &category, None).await.unwrap();
                        }
                    });
                });
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let memory = kept.open();
            assert_eq!(memory.count().await.unwrap(), WRITERS * EACH + 1, "{}", memory.name());
            let found = memory.list(None, None).await.unwrap();
            let mut keys = keys(&found);
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), WRITERS * EACH + 1);
        });
    }
}

#[test]
fn a_memory_that_keeps_nothing_takes_everything() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let memory = NoMemory;
        memory.store("k", "text", &CORE, None).await.unwrap();
        assert_eq!(memory.get("k").await.unwrap(), None);
        assert_eq!(memory.list(None, None).await.unwrap(), []);
        assert_eq!(memory.recall("text", 5, None).await.unwrap(), []);
        assert!(!memory.forget("k").await.unwrap());
        assert_eq!(memory.count().await.unwrap(), 0);
        assert!(memory.health().await);
    });
}
