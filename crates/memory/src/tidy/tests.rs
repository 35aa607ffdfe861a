use jiff::Timestamp;
use jiff::tz::TimeZone;
use uuid::Uuid;

use super::*;
use crate::entry::Clock;
use crate::layout::MarkdownLayout;
use crate::recall_counts::{RecallKey, mark_of, note_recalls};

const TODAY: Date = jiff::civil::date(2026, 11, 16);
const ID: Uuid = Uuid::from_u128(7);

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        "2026-11-16T10:00:00Z".parse().unwrap()
    }

    fn zone(&self) -> TimeZone {
        TimeZone::UTC
    }

    fn fresh_id(&self) -> Uuid {
        ID
    }
}

struct Workspace {
    folder: tempfile::TempDir,
    manner: MarkdownLayout,
}

impl Workspace {
    fn new(manner: MarkdownLayout, files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join("ws").join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        Self { folder, manner }
    }

    fn site(&self) -> MarkdownStore {
        let root = self.folder.path();
        MarkdownStore::open(&root.join("ws"), &root.join("state"), self.manner).unwrap()
    }

    fn plan(&self) -> TidyPlan {
        plan_tidy(&self.site(), &TidySettings::default(), TODAY).unwrap()
    }

    fn apply(&self, change: &Change) {
        let site = self.site();
        site.lock().unwrap().apply(change, ID, Still.now()).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        fs_err::read_to_string(self.folder.path().join("ws").join(path)).ok()
    }
}

#[test]
fn entries_are_moved_from_logs_by_their_importance_and_can_be_brought_back() {
    let old = "# 2026-10-01\n\n- [decision|i=0.9] stays for ever\n- [idea|i=0.5] goes\n\
               - goes too <!-- importance: 3 -->\n- nobody said\n";
    let new = "- [idea|i=0.5] young\n- [context|i=0.1] a week and a day\n";
    let files = [
        ("memory/2026-10-01.md", old),
        ("memory/2026-11-08.md", new),
        ("memory/2026-11-09.md", "- [context|i=0.1] a week\n"),
        ("memory/2026-10-02.md", "# only\n\n- [context|i=0.1] all of it\n"),
        ("MEMORY.md", "- [context|i=0.1] curated\n"),
        ("memory/notes.md", "- [context|i=0.1] no log\n"),
        ("memory/2026-10-03-tour.md", "# Tour\n\n- [idea|i=-1] below zero\n- stays\n"),
    ];
    let workspace = Workspace::new(MarkdownLayout::PLAIN, &files);
    let plan = workspace.plan();
    let texts: Vec<_> = plan.expired.iter().map(|expired| expired.entry.lines.0).collect();
    assert_eq!(texts, [4, 5, 3, 3, 2]);
    assert!(plan.archived.is_empty(), "only ZeroClaw puts logs away");
    workspace.apply(&plan.change().unwrap());
    let kept = "# 2026-10-01\n\n- [decision|i=0.9] stays for ever\n- nobody said\n";
    assert_eq!(workspace.read("memory/2026-10-01.md").as_deref(), Some(kept));
    assert_eq!(workspace.read("memory/2026-10-02.md"), None);
    let moved = "# Moved here by `anemone tidy`\n\n## 2026-10-01\n\n- [idea|i=0.5] goes\n\
                 - goes too <!-- importance: 3 -->\n\n## 2026-10-02\n\n- [context|i=0.1] all of it\n\n\
                 ## 2026-10-03\n\n- [idea|i=-1] below zero\n";
    assert_eq!(workspace.read("memory/archive/tidied-2026-10.md").as_deref(), Some(moved));
    let moved =
        "# Moved here by `anemone tidy`\n\n## 2026-11-08\n\n- [context|i=0.1] a week and a day\n";
    assert_eq!(workspace.read("memory/archive/tidied-2026-11.md").as_deref(), Some(moved));
    assert_eq!(workspace.read("MEMORY.md").as_deref(), Some("- [context|i=0.1] curated\n"));
    assert!(workspace.plan().change().is_none(), "once is enough");
    let site = workspace.site();
    let held = site.lock().unwrap();
    let undo = site.plan_undo().unwrap();
    held.undo(&undo, Uuid::from_u128(8), Still.now()).unwrap();
    for (path, text) in files {
        assert_eq!(workspace.read(path).as_deref(), Some(text), "{path}");
    }
    assert_eq!(workspace.read("memory/archive/tidied-2026-10.md"), None);
}

#[test]
fn old_logs_are_put_away_and_later_removed_as_zeroclaw_does() {
    let workspace = Workspace::new(
        MarkdownLayout::OTHER,
        &[
            ("memory/2026-11-09.md", "- a week\n"),
            ("memory/2026-11-08.md", "- [context|i=0.1] goes\n- stays\n"),
            ("memory/2026-11-08_more.md", "- more\n"),
            ("memory/2026-11-08-slug.md", "- a name of its own\n"),
            ("memory/notes.md", "- note\n"),
            ("memory/archive/2026-11-08.md", "- there before\n"),
            ("memory/archive/2026-10-17.md", "- thirty days\n"),
            ("memory/archive/2026-10-16.md", "- thirty-one days\n"),
        ],
    );
    let plan = workspace.plan();
    let away = [
        ("memory/2026-11-08.md", "memory/archive/2026-11-08_1.md"),
        ("memory/2026-11-08_more.md", "memory/archive/2026-11-08_more.md"),
    ];
    assert_eq!(plan.archived, away.map(|(from, to)| (from.to_owned(), to.to_owned())));
    assert_eq!(plan.purged, ["memory/archive/2026-10-16.md"]);
    workspace.apply(&plan.change().unwrap());
    assert_eq!(workspace.read("memory/2026-11-08.md"), None);
    let moved = workspace.read("memory/archive/2026-11-08_1.md");
    assert_eq!(moved.as_deref(), Some("- stays\n"));
    assert_eq!(workspace.read("memory/archive/2026-11-08.md").as_deref(), Some("- there before\n"));
    assert_eq!(workspace.read("memory/archive/2026-10-16.md"), None);
    assert!(workspace.read("memory/archive/2026-10-17.md").is_some());
}

#[test]
fn logs_of_sessions_are_put_away_by_the_day_they_were_last_written() {
    let days = |days: u64| std::time::Duration::from_secs(days * 24 * 60 * 60);
    let files = [
        ("memory/session_a1b2.md", 8),
        ("memory/session_new.md", 7),
        ("memory/session_.md", 90),
        ("memory/sessions.md", 90),
        ("memory/archive/session_gone.md", 31),
        ("memory/archive/session_kept.md", 30),
        ("memory/archive/tidied-2026-01.md", 90),
    ];
    let texts: Vec<_> = files.iter().map(|(path, _)| (*path, "- said\n")).collect();
    let workspace = Workspace::new(MarkdownLayout::OTHER, &texts);
    let now = std::time::SystemTime::from(Still.now());
    for (path, age) in files {
        let path = workspace.folder.path().join("ws").join(path);
        let file = fs_err::OpenOptions::new().write(true).open(path).unwrap().into_file();
        file.set_modified(now - days(age)).unwrap();
    }
    let plan = workspace.plan();
    let moved = ("memory/session_a1b2.md".to_owned(), "memory/archive/session_a1b2.md".to_owned());
    assert_eq!(plan.archived, [moved]);
    assert_eq!(plan.purged, ["memory/archive/session_gone.md"]);
    workspace.apply(&plan.change().unwrap());
    assert_eq!(workspace.read("memory/archive/session_a1b2.md").as_deref(), Some("- said\n"));
    assert_eq!(workspace.read("memory/archive/session_gone.md"), None);
    let site = workspace.site();
    let undo = site.plan_undo().unwrap();
    site.lock().unwrap().undo(&undo, Uuid::from_u128(8), Still.now()).unwrap();
    for (path, _) in files {
        assert_eq!(workspace.read(path).as_deref(), Some("- said\n"), "{path}");
    }
    let plain = Workspace::new(MarkdownLayout::PLAIN, &texts[..1]);
    let file = fs_err::OpenOptions::new()
        .write(true)
        .open(plain.folder.path().join("ws/memory/session_a1b2.md"))
        .unwrap()
        .into_file();
    file.set_modified(now - days(90)).unwrap();
    assert!(plain.plan().archived.is_empty(), "only ZeroClaw puts such logs away");
}

#[test]
fn nothing_is_put_away_behind_a_link() {
    let workspace = Workspace::new(MarkdownLayout::OTHER, &[("memory/2026-01-02.md", "- old\n")]);
    let outside = tempfile::tempdir().unwrap();
    let link = workspace.folder.path().join("ws/memory/archive");
    fs_err::os::unix::fs::symlink(outside.path(), link).unwrap();
    let plan = workspace.plan();
    assert!(plan.archived.is_empty() && plan.change().is_none());
    assert_eq!(plan.unread.len(), 1, "{:?}", plan.unread);
}

#[test]
fn what_is_said_twice_or_otherwise_is_told() {
    let at = "2026-11-16T10:00:00Z";
    let stamped = |id: u128, more: &str| {
        format!("<!-- anemone: {} owner {at}{more} -->", Uuid::from_u128(id))
    };
    let curated = format!(
        "- **db**: Postgres it is {}\n- **tea**: green {}\n- **tea**: black {}\n",
        stamped(1, ""),
        stamped(2, ""),
        stamped(3, &format!(" supersedes=\"{}\"", Uuid::from_u128(2))),
    );
    let workspace = Workspace::new(
        MarkdownLayout::PLAIN,
        &[
            ("MEMORY.md", &curated),
            (
                "memory/2026-11-15.md",
                "- The gateway stays on the loopback address\n- **Mood**: good\n",
            ),
            (
                "memory/2026-11-14.md",
                "- the  gateway stays on the LOOPBACK address\n- **Mood**: bad\n",
            ),
            (
                "memory/notes.md",
                "# Notes\n\n- **DB**: SQLite it is\n- the gateway stays on a loopback address\n\n## One\n\n\
                 - **Status**: done\n\n## Two\n\n- **Status**: begun\n",
            ),
        ],
    );
    let plan = workspace.plan();
    assert_eq!(plan.repeats.same.len(), 1);
    assert_eq!(plan.repeats.same[0].len(), 2);
    let near: Vec<_> = plan.repeats.near.iter().map(|(_, near, _)| near.path.as_str()).collect();
    assert_eq!(near, ["memory/notes.md"], "{:?}", plan.repeats.near);
    let keys: Vec<_> =
        plan.contradictions.iter().map(|contradiction| contradiction.key.as_str()).collect();
    assert_eq!(keys, ["db"], "superseded tea and forms that are filled in are no contradictions");
    assert_eq!(plan.contradictions[0].newer.text, "Postgres it is");
    assert!(plan.change().is_none(), "it is only told");
}

#[test]
fn what_was_recalled_often_is_proposed_and_promoted_only_on_command() {
    let workspace = Workspace::new(
        MarkdownLayout::PLAIN,
        &[
            ("MEMORY.md", "# MEMORY.md\n\n- known already\n"),
            ("memory/2026-11-15.md", "- known already\n- [fact|i=0.7] **port**: 8443\n- rare\n"),
        ],
    );
    let site = workspace.site();
    for text in ["known already", "8443"] {
        let path = "memory/2026-11-15.md".to_owned();
        let key = RecallKey { path, mark: mark_of(text) };
        for _ in 0..3 {
            note_recalls(&site, std::slice::from_ref(&key), Still.now()).unwrap();
        }
    }
    let plan = workspace.plan();
    assert!(plan.change().is_none());
    let (chosen, _) = plan.chosen(None);
    assert_eq!(
        chosen.iter().map(|chosen| chosen.entry.text.as_str()).collect::<Vec<_>>(),
        ["8443"]
    );
    let (named, unknown) = plan.chosen(Some(&[mark_of("8443"), "nope".to_owned()]));
    assert_eq!((named.len(), unknown), (1, vec!["nope".to_owned()]));
    workspace.apply(&plan_promotion(&site, &chosen, TODAY, &Still).unwrap());
    let expected = "# MEMORY.md\n\n- known already\n\n## Promoted 2026-11-16\n\n\
                    - [fact|i=0.7] **port**: 8443 <!-- anemone: 00000007 -->\n";
    assert_eq!(workspace.read("MEMORY.md").as_deref(), Some(expected));
    let stamp = site.stamps().get("00000007".parse().unwrap()).unwrap();
    assert_eq!(stamp.source.as_deref(), Some("memory/2026-11-15.md#L2"));
    assert!(workspace.plan().promotions.is_empty());
}
