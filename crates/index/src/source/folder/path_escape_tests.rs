//! What an attacker may try with a folder: names that lead out, things that are not files, swaps
//! during the walk.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fs_err as fs;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};
use tempfile::TempDir;

use super::*;

const SECRET: &str = "the vault opens with 4711";

/// Every file is a document, every folder is entered, so that only the source itself protects.
struct Everything;

impl FolderRules for Everything {
    fn identity(&self) -> String {
        "everything".to_owned()
    }

    fn enters(&self, _folder: &str) -> Result<(), SkipReason> {
        Ok(())
    }

    fn document(&self, _path: &str) -> Option<Document> {
        Some(Document::default())
    }
}

fn everything(root: &Path) -> FolderSource {
    FolderSource::new(root.to_owned(), String::new(), Box::new(Everything))
}

fn markdown(root: &Path) -> FolderSource {
    FolderSource::new(root.to_owned(), String::new(), Box::new(MarkdownFolder::default()))
}

fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn keys(listing: &Listing) -> Vec<&str> {
    listing.entries.iter().map(|entry| entry.key.as_str()).collect()
}

fn skips(listing: &Listing) -> Vec<(&str, SkipReason)> {
    listing.skipped.iter().map(|one| (one.path.as_str(), one.reason)).collect()
}

fn text(source: &dyn DocumentSource, path: &str) -> Option<String> {
    source.read(path).unwrap().map(|document| document.text)
}

fn loaded(source: &dyn DocumentSource, key: &str) -> Vec<Document> {
    let mut found = Vec::new();
    let entry = SourceEntry { key: key.to_owned(), stamp: super::super::FileStamp::default() };
    source.load(&entry, &mut |document| found.push(document)).unwrap();
    found
}

/// A folder `ws` with a secret beside it, and links that lead to the secret.
fn with_secret() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    write(&at("secret.md"), SECRET);
    write(&at("outside/secret.md"), SECRET);
    write(&at("ws-secret/secret.md"), SECRET);
    write(&at("ws/MEMORY.md"), "mine");
    write(&at("ws/memory/a.md"), "a");
    write(&at("ws/memory/deep/b.md"), "b");
    symlink("../secret.md", at("ws/link.md")).unwrap();
    symlink(at("secret.md"), at("ws/absolute.md")).unwrap();
    symlink("../outside", at("ws/out")).unwrap();
    symlink("..", at("ws/up")).unwrap();
    symlink("/", at("ws/top")).unwrap();
    symlink("/proc/self/root", at("ws/proc")).unwrap();
    symlink("../../outside", at("ws/memory/out")).unwrap();
    symlink("link.md", at("ws/twice.md")).unwrap();
    symlink("memory", at("ws/inside")).unwrap();
    symlink("MEMORY.md", at("ws/inside.md")).unwrap();
    symlink("loop", at("ws/loop")).unwrap();
    dir
}

#[test]
fn no_path_leads_to_the_secret_beside_the_folder() {
    let dir = with_secret();
    let full = dir.path().to_str().unwrap();
    let mut tricks: Vec<String> = [
        "",
        ".",
        "..",
        "/",
        "//",
        "../",
        "../secret.md",
        "../../secret.md",
        "./../secret.md",
        "memory/../../secret.md",
        "memory/../../../secret.md",
        "memory/deep/../../../secret.md",
        "memory/./../../secret.md",
        "memory//../../secret.md",
        "/../secret.md",
        "//../secret.md",
        "..//secret.md",
        ".././secret.md",
        "../ws-secret/secret.md",
        "-secret/secret.md",
        "../ws/../secret.md",
        "..\\secret.md",
        "memory\\..\\..\\secret.md",
        "..\\/secret.md",
        "../\\secret.md",
        "\\..\\secret.md",
        "C:\\secret.md",
        "C:secret.md",
        "\\\\?\\C:\\secret.md",
        "\\\\host\\share\\secret.md",
        "%2e%2e/secret.md",
        "%2e%2e%2fsecret.md",
        "..%2fsecret.md",
        "..%5csecret.md",
        "%252e%252e%252fsecret.md",
        "..%c0%afsecret.md",
        "%c0%ae%c0%ae/secret.md",
        "..%00/secret.md",
        "..;/secret.md",
        ".../secret.md",
        "..../secret.md",
        "....//secret.md",
        "..../\\secret.md",
        ".. /secret.md",
        " ../secret.md",
        "../secret.md ",
        "../secret.md.",
        "..\t/secret.md",
        "..\n/secret.md",
        "../secret.md\n",
        "\u{feff}../secret.md",
        "../secret.md\0",
        "../secret.md\0.md",
        "MEMORY.md\0/../../secret.md",
        "\0../secret.md",
        "．．/secret.md",
        "․․/secret.md",
        "‥/secret.md",
        "..∕secret.md",
        "..⁄secret.md",
        "..／secret.md",
        "..＼secret.md",
        "..\u{2044}secret.md",
        "\u{200b}../secret.md",
        "..\u{200b}/secret.md",
        "\u{202e}dm.terces/..",
        "~/secret.md",
        "~root/secret.md",
        "$HOME/secret.md",
        "${PWD}/../secret.md",
        "`pwd`/../secret.md",
        "link.md",
        "absolute.md",
        "twice.md",
        "out/secret.md",
        "memory/out/secret.md",
        "up/secret.md",
        "up/outside/secret.md",
        "up/ws/MEMORY.md",
        "inside/a.md",
        "inside.md",
        "loop",
        "loop/secret.md",
        "out",
        "out/",
        "out/.",
        "link.md/",
        "link.md/.",
        "MEMORY.md/",
        "MEMORY.md/.",
        "MEMORY.md/..",
        "MEMORY.md/../../secret.md",
        "MEMORY.md/secret.md",
        "memory",
        "memory/",
        "memory/deep",
        "/proc/self/root",
        "/proc/self/cwd/secret.md",
        "/dev/fd/3",
        "/dev/stdin",
        "dev/fd/3",
        "CON",
        "NUL.md",
        "AUX.md",
        "COM1.md",
        "secret.md",
        "secret.md::$DATA",
        "memory::$INDEX_ALLOCATION/a.md",
        "file:../secret.md",
        "file:///secret.md",
        "memory.md",
        "Memory.md",
        "MEMORY.MD",
        "MEMORY.md.",
        "MEMORY.md ",
        " MEMORY.md",
        "./MEMORY.md",
        "/MEMORY.md",
        "MEMORY/a.md",
        "memory /a.md",
        "memory./a.md",
        "memory//a.md",
        "memory/./a.md",
        "memory/deep/../a.md",
        "memory\\a.md",
    ]
    .map(str::to_owned)
    .to_vec();
    tricks.extend([
        format!("{full}/secret.md"),
        format!("/{full}/secret.md"),
        format!("//{full}/secret.md"),
        full.trim_start_matches('/').to_owned() + "/secret.md",
        format!("top{full}/secret.md"),
        format!("proc{full}/secret.md"),
        format!("proc/self/root{full}/secret.md"),
        format!("/proc/self/root{full}/secret.md"),
        format!("file://{full}/secret.md"),
        format!("{}secret.md", "../".repeat(100)),
        format!("{}secret.md", "../".repeat(100_000)),
        format!("{}../secret.md", "memory/../".repeat(30)),
        format!("{}a.md", "memory/".repeat(40_000)),
        format!("{}/../../secret.md", "x".repeat(5000)),
        format!("{}.md", "x".repeat(300)),
        format!("{}.md", "x".repeat(1 << 20)),
        "loop/".repeat(50) + "secret.md",
        "inside/".repeat(60) + "a.md",
    ]);
    assert!(tricks.len() >= 80);

    let before = [everything(&dir.path().join("ws")), markdown(&dir.path().join("ws"))];
    for source in &before {
        for trick in &tricks {
            let name: String = trick.chars().take(80).collect();
            assert_eq!(source.read(trick).unwrap(), None, "{name:?}");
            assert_eq!(loaded(source, trick), [], "{name:?}");
        }
        assert_eq!(text(source, "MEMORY.md").as_deref(), Some("mine"));
        assert_eq!(text(source, "memory/a.md").as_deref(), Some("a"));
        assert_eq!(text(source, "memory/deep/b.md").as_deref(), Some("b"));
        assert_eq!(keys(&source.list().unwrap()), ["MEMORY.md", "memory/a.md", "memory/deep/b.md"]);
    }

    // The folder's name now leads to another folder: the open handle keeps the old one.
    fs::rename(dir.path().join("ws"), dir.path().join("moved")).unwrap();
    symlink("outside", dir.path().join("ws")).unwrap();
    for source in &before {
        assert_eq!(text(source, "secret.md"), None);
        assert_eq!(text(source, "MEMORY.md").as_deref(), Some("mine"));
        assert_eq!(source.list().unwrap().entries.len(), 3);
    }
}

#[test]
fn a_prefix_is_part_of_the_name_and_of_nothing_else() {
    let dir = with_secret();
    let rules = Box::new(MarkdownFolder::default());
    let source = FolderSource::new(dir.path().join("ws"), "../notes/".to_owned(), rules);
    let listing = source.list().unwrap();
    assert_eq!(keys(&listing), ["MEMORY.md", "memory/a.md", "memory/deep/b.md"]);
    assert!(listing.skipped.iter().all(|one| one.path.starts_with("../notes/")));
    assert_eq!(loaded(&source, "memory/a.md")[0].path, "../notes/memory/a.md");
    let document = source.read("../notes/memory/a.md").unwrap().unwrap();
    assert_eq!((document.path.as_str(), document.text.as_str()), ("../notes/memory/a.md", "a"));
    for path in ["memory/a.md", "../notes/../secret.md", "../notes//memory/a.md", "../notes/"] {
        assert_eq!(source.read(path).unwrap(), None, "{path}");
    }
}

#[test]
fn what_is_not_searched_is_counted_with_the_reason() {
    let dir = with_secret();
    let ws = dir.path().join("ws");
    write(&ws.join(".git/HEAD.md"), "x");
    write(&ws.join("node_modules/p/README.md"), "x");
    write(&ws.join("picture.png"), "x");
    fs::hard_link(ws.join("MEMORY.md"), ws.join("hard.md")).unwrap();
    fs::create_dir(ws.join("folder.md")).unwrap();
    rustix::fs::mkfifoat(CWD, ws.join("pipe.md"), Mode::from_raw_mode(0o600)).unwrap();
    rustix::fs::mkfifoat(CWD, ws.join("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    drop(UnixListener::bind(ws.join("socket")).unwrap());
    drop(UnixListener::bind(ws.join("socket.md")).unwrap());
    let large = fs::File::create(ws.join("large.md")).unwrap();
    large.set_len((32 << 20) + 1).unwrap();
    fs::File::create(ws.join("largest.md")).unwrap().set_len(32 << 20).unwrap();
    let latin = std::ffi::OsStr::from_bytes(b"caf\xe9.md");
    write(&ws.join(latin), "x");

    let listing = markdown(&ws).list().unwrap();
    assert_eq!(
        keys(&listing),
        ["MEMORY.md", "hard.md", "largest.md", "memory/a.md", "memory/deep/b.md"]
    );
    use SkipReason::{Ignored, Name, Symlink, TooLarge, Unreadable};
    assert_eq!(
        skips(&listing),
        [
            (".git", Ignored),
            ("absolute.md", Symlink),
            ("caf\u{fffd}.md", Name),
            ("inside", Symlink),
            ("inside.md", Symlink),
            ("large.md", TooLarge),
            ("link.md", Symlink),
            ("loop", Symlink),
            ("memory/out", Symlink),
            ("node_modules", Ignored),
            ("out", Symlink),
            ("pipe.md", Unreadable),
            ("proc", Symlink),
            ("socket.md", Unreadable),
            ("top", Symlink),
            ("twice.md", Symlink),
            ("up", Symlink),
        ]
    );
    assert_eq!(markdown(&ws).list().unwrap(), listing);
    for path in [".git/HEAD.md", "node_modules/p/README.md", "picture.png", "folder.md"] {
        assert_eq!(markdown(&ws).read(path).unwrap(), None, "{path}");
    }
    assert_eq!(text(&markdown(&ws), "hard.md").as_deref(), Some("mine"));
    let error = markdown(&ws).read("large.md").unwrap_err();
    assert_eq!(error.to_string(), "cannot read large.md");
}

#[test]
fn a_pipe_or_socket_in_place_of_a_file_keeps_nobody_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let source = everything(dir.path());
    rustix::fs::mkfifoat(CWD, dir.path().join("a.md"), Mode::from_raw_mode(0o600)).unwrap();
    drop(UnixListener::bind(dir.path().join("b.md")).unwrap());
    let begin = Instant::now();
    for name in ["a.md", "b.md"] {
        assert_eq!(source.read(name).unwrap(), None);
        assert_eq!(loaded(&source, name), []);
    }
    assert_eq!(source.list().unwrap().skipped.len(), 2);
    assert!(begin.elapsed() < Duration::from_secs(5));
    // Nor does one in place of the folder.
    let error = everything(&dir.path().join("a.md")).list().unwrap_err();
    assert!(error.to_string().ends_with("a.md"), "{error}");
}

#[test]
fn a_folder_that_is_none_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("a.md"), "x");
    for path in [dir.path().join("absent"), dir.path().join("a.md")] {
        let source = everything(&path);
        assert!(source.list().is_err());
        assert!(source.read("x").is_err());
        assert!(source.load(&entry("x"), &mut |_| {}).is_err());
    }
    // Once the folder exists, it is found.
    let late = everything(&dir.path().join("late"));
    assert!(late.list().is_err());
    fs::create_dir(dir.path().join("late")).unwrap();
    assert_eq!(late.list().unwrap(), Listing::default());
}

fn entry(key: &str) -> SourceEntry {
    SourceEntry { key: key.to_owned(), stamp: super::super::FileStamp::default() }
}

#[test]
fn text_is_kept_as_it_is_and_bytes_that_are_none_are_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let source = everything(dir.path());
    for (bytes, expected) in [
        (&b"\xef\xbb\xbf# a\r\nb"[..], "\u{feff}# a\r\nb"),
        (b"a\0b", "a\0b"),
        (b"", ""),
        (b"caf\xe9 \xf0\x9f\x98 x", "caf\u{fffd} \u{fffd} x"),
    ] {
        write(&dir.path().join("a.md"), bytes);
        assert_eq!(text(&source, "a.md").as_deref(), Some(expected));
        assert_eq!(loaded(&source, "a.md")[0].text, expected);
    }
    fs::remove_file(dir.path().join("a.md")).unwrap();
    assert_eq!(loaded(&source, "a.md"), [], "it has vanished");
}

#[test]
fn a_file_that_may_not_be_read_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("a.md"), "x");
    write(&dir.path().join("closed/b.md"), "x");
    let close = |path: &str, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        fs::set_permissions(dir.path().join(path), permissions).unwrap();
    };
    close("a.md", 0o000);
    close("closed", 0o000);
    if fs::read(dir.path().join("a.md")).is_ok() {
        anemone_testkit::skip("unprivileged", "this user may read everything");
        return;
    }
    let source = everything(dir.path());
    let listing = source.list().unwrap();
    assert_eq!(keys(&listing), ["a.md"]);
    assert_eq!(skips(&listing), [("closed", SkipReason::Unreadable)]);
    let skipped = source.load(&entry("a.md"), &mut |_| {}).unwrap();
    assert_eq!(
        skipped,
        [SkippedDocument { path: "a.md".to_owned(), reason: SkipReason::Unreadable }]
    );
    assert!(source.read("a.md").is_err());
    close("closed", 0o700);
}

#[test]
fn a_change_is_seen_in_the_stamp() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.md");
    write(&file, "one");
    let source = everything(dir.path());
    let first = source.list().unwrap();
    assert_eq!(first.entries[0].stamp.size, 3);
    assert_eq!(source.list().unwrap(), first);
    // The same name, length and time: another file.
    write(&dir.path().join("b"), "two");
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    fs::File::open(dir.path().join("b")).unwrap().set_modified(time).unwrap();
    fs::rename(dir.path().join("b"), &file).unwrap();
    let second = source.list().unwrap();
    assert_eq!(second.entries[0].stamp.modified_ns, first.entries[0].stamp.modified_ns);
    assert_ne!(second, first);
}

/// Nested folders, each of the first hundred with a file; removed from the innermost on, because no
/// path is long enough.
struct Nest {
    root: TempDir,
    innermost: Option<OwnedFd>,
    depth: usize,
}

impl Nest {
    fn new(depth: usize) -> Self {
        // Some disks take seconds to remove so many folders; memory does not.
        let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let open = |at: BorrowedFd<'_>, name: &Path| {
            rustix::fs::openat(at, name, OFlags::DIRECTORY, Mode::empty()).unwrap()
        };
        let mut folder = open(CWD, root.path());
        for level in 0..depth {
            rustix::fs::mkdirat(&folder, "d", Mode::from_raw_mode(0o700)).unwrap();
            folder = open(folder.as_fd(), Path::new("d"));
            if level < 100 {
                let flags = OFlags::CREATE | OFlags::WRONLY;
                let mode = Mode::from_raw_mode(0o600);
                drop(rustix::fs::openat(&folder, "a.md", flags, mode).unwrap());
            }
        }
        Self { root, innermost: Some(folder), depth }
    }
}

impl Drop for Nest {
    fn drop(&mut self) {
        let mut folder = self.innermost.take().unwrap();
        for level in (0..self.depth).rev() {
            if level < 100 {
                rustix::fs::unlinkat(&folder, "a.md", AtFlags::empty()).unwrap();
            }
            folder = rustix::fs::openat(&folder, "..", OFlags::DIRECTORY, Mode::empty()).unwrap();
            rustix::fs::unlinkat(&folder, "d", AtFlags::REMOVEDIR).unwrap();
        }
    }
}

#[test]
fn folders_in_folders_end_at_a_depth() {
    let nest = Nest::new(5000);
    let source = markdown(nest.root.path());
    let listing = source.list().unwrap();
    assert_eq!(listing.entries.len(), 64);
    let deepest = format!("{}a.md", "d/".repeat(64));
    assert_eq!(listing.entries.iter().map(|entry| entry.key.len()).max(), Some(deepest.len()));
    assert_eq!(text(&source, &deepest).as_deref(), Some(""));
    assert_eq!(text(&source, &format!("d/{deepest}")), None);
    assert_eq!(listing.skipped.len(), 1);
    assert_eq!(listing.skipped[0].reason, SkipReason::TooDeep);
    assert_eq!(listing.skipped[0].path, format!("{}d", "d/".repeat(64)));
}

#[test]
fn a_listing_is_sorted_by_bytes() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["b.md", "a.md", "a/z.md", "a-b.md", "a0.md", "é.md", "Z.md", "a/b/c.md", "会.md"]
    {
        write(&dir.path().join(name), "x");
    }
    let listing = markdown(dir.path()).list().unwrap();
    assert_eq!(
        keys(&listing),
        ["Z.md", "a-b.md", "a.md", "a/b/c.md", "a/z.md", "a0.md", "b.md", "é.md", "会.md"]
    );
    assert_eq!(markdown(dir.path()).list().unwrap(), listing);
}

/// Swaps two names until it is stopped.
fn swap_until(stop: &AtomicBool, one: &Path, other: &Path) -> u64 {
    let mut times = 0;
    while !stop.load(Ordering::Relaxed) {
        let swapped = rustix::fs::renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
        swapped.unwrap();
        times += 1;
    }
    times
}

#[test]
fn a_folder_swapped_with_a_link_while_reading_never_shows_the_outside() {
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    write(&at("outside/a.md"), SECRET);
    write(&at("outside/only.md"), SECRET);
    write(&at("ws/memory/a.md"), "mine");
    symlink(at("outside"), at("ws/other")).unwrap();
    write(&at("ws/file.md"), "mine");
    symlink(at("outside/a.md"), at("ws/link.md")).unwrap();
    let source = markdown(&at("ws"));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let folders = scope.spawn(|| swap_until(&stop, &at("ws/memory"), &at("ws/other")));
        let files = scope.spawn(|| swap_until(&stop, &at("ws/file.md"), &at("ws/link.md")));
        let (mut found, mut absent) = (0, 0);
        for round in 0..5_000 {
            for path in ["memory/a.md", "other/a.md", "file.md", "link.md"] {
                match text(&source, path) {
                    Some(text) => {
                        assert_eq!(text, "mine");
                        found += 1;
                    }
                    None => absent += 1,
                }
            }
            if round % 10 == 0 {
                for document in loaded(&source, "memory/a.md") {
                    assert_eq!(document.text, "mine");
                }
                assert_eq!(loaded(&source, "memory/only.md"), []);
                let listing = source.list().unwrap();
                assert!(listing.entries.iter().all(|entry| entry.stamp.size == 4), "{listing:?}");
            }
        }
        stop.store(true, Ordering::Relaxed);
        let swaps = (folders.join().unwrap(), files.join().unwrap());
        assert!(found > 0 && absent > 0, "{found} found, {absent} absent");
        assert!(swaps.0 > 100 && swaps.1 > 100, "{swaps:?}");
    });
}

#[test]
fn a_file_by_itself_is_one_document() {
    let dir = with_secret();
    let at = |path: &str| dir.path().join(path);
    let source = |path: &str| FileSource::new(&at(path), markdown_document("notes.md"));
    let one = source("ws/MEMORY.md");
    assert_eq!(keys(&one.list().unwrap()), ["MEMORY.md"]);
    let documents = loaded(&one, "MEMORY.md");
    assert_eq!((documents[0].path.as_str(), documents[0].text.as_str()), ("notes.md", "mine"));
    assert_eq!(text(&one, "notes.md").as_deref(), Some("mine"));
    for path in ["MEMORY.md", "../secret.md", "memory/a.md", "", "notes.md/", "./notes.md"] {
        assert_eq!(one.read(path).unwrap(), None, "{path}");
        assert_eq!(loaded(&one, "link.md"), []);
    }
    let skipped = |path: &str| source(path).list().unwrap().skipped.first().map(|one| one.reason);
    assert_eq!(skipped("ws/link.md"), Some(SkipReason::Symlink));
    assert_eq!(skipped("ws/memory"), Some(SkipReason::Unreadable));
    assert_eq!(skipped("ws/.."), Some(SkipReason::Name));
    assert_eq!(text(&source("ws/link.md"), "notes.md"), None);
    assert_eq!(loaded(&source("ws/link.md"), "link.md"), []);
    assert_eq!(source("ws/absent.md").list().unwrap(), Listing::default());
    assert!(source("absent/a.md").list().is_err());
    assert_ne!(source("ws/a.md").identity(), source("ws/b.md").identity());

    // It is replaced by a link.
    fs::remove_file(at("ws/MEMORY.md")).unwrap();
    symlink("../secret.md", at("ws/MEMORY.md")).unwrap();
    assert_eq!(text(&one, "notes.md"), None);
    assert_eq!(loaded(&one, "MEMORY.md"), []);
}

#[test]
fn another_place_prefix_or_rule_is_another_identity() {
    let identity = |root: &str, prefix: &str, pattern: &str| {
        let rules = Box::new(MarkdownFolder::matching(pattern).unwrap());
        FolderSource::new(root.into(), prefix.to_owned(), rules).identity()
    };
    let all = [
        identity("/a", "", "**"),
        identity("/b", "", "**"),
        identity("/a", "b/", "**"),
        identity("/a", "", "*"),
    ];
    for (at, one) in all.iter().enumerate() {
        assert!(!all[at + 1..].contains(one), "{one}");
    }
}

/// Measures how long a listing takes; run it by name.
#[test]
#[ignore = "a measurement"]
fn a_thousand_files_are_listed_quickly() {
    let dir = tempfile::tempdir().unwrap();
    for folder in 0..20 {
        for file in 0..50 {
            write(&dir.path().join(format!("memory/{folder:02}/2026-01-{file:02}-note.md")), "x");
        }
    }
    let source = markdown(dir.path());
    let mut times: Vec<Duration> = (0..200)
        .map(|_| {
            let begin = Instant::now();
            assert_eq!(source.list().unwrap().entries.len(), 1000);
            begin.elapsed()
        })
        .collect();
    times.sort();
    println!("least {:?}, median {:?}", times[0], times[100]);
}
