//! The upkeep of indexes: built, listed, pruned and dropped.

use anemone::embedder::{EmbedderChoice, LargeJobs};
use anemone::export::{ExportRequest, export};
use anemone::keys::Keys;
use anemone::search::chunks::{Chunking, list_chunks};
use anemone::search::index::Rebuild;
use anemone::search::target::{TargetChoice, TargetError};
use anemone::search::upkeep::{
    Apply, IndexList, IndexReport, IndexRequest, list_indexes, prune_indexes, remove_index,
    update_index,
};
use anemone::search::{SearchError, SearchReport, search};
use anemone_format::sha256_hex;
use anemone_index::Replace;
use anemone_runtimes::SecretPolicy;

use super::search::tea_shop;
use crate::support::memory::TestMemory;

fn try_index(memory: &TestMemory, target: TargetChoice) -> Result<IndexReport, SearchError> {
    let request = request(target);
    memory.run(|host| update_index(&request, None, host))
}

fn request(target: TargetChoice) -> IndexRequest {
    IndexRequest {
        target,
        rebuild: Rebuild::No,
        embedder: EmbedderChoice::default(),
        replace: Replace::No,
        large_jobs: LargeJobs::Confirm,
    }
}

fn index(memory: &TestMemory) -> IndexReport {
    try_index(memory, memory.target()).unwrap()
}

fn list(memory: &TestMemory) -> IndexList {
    memory.run(list_indexes).unwrap()
}

fn prune(memory: &TestMemory, apply: Apply) -> anemone::search::upkeep::PruneReport {
    memory.run(|host| prune_indexes(apply, host)).unwrap()
}

/// Returns the workspace, with its index in a folder to work in.
fn with_index_in(memory: &TestMemory, name: &str) -> TargetChoice {
    TargetChoice { index_dir: Some(memory.path(name)), ..memory.target() }
}

#[test]
fn an_index_says_what_is_in_it() {
    let shop = tea_shop();
    shop.write("ws/memory/node_modules/x.md", "not ours");
    let first = index(&shop);
    assert_eq!((first.index.documents, first.index.added), (4, 4));
    assert_eq!(first.index.rebuilt, Some("new"));
    assert_eq!(first.source.kind, "openclaw");
    assert_eq!(first.index.skipped["ignored"], 1);
    let [skipped] = &first.skipped_paths[..] else { panic!("{first:?}") };
    assert_eq!((&*skipped.path, skipped.reason), ("memory/node_modules", "ignored"));
    assert!(first.index.chunks >= 4 && first.bytes > 0, "{first:?}");
    let again = index(&shop);
    assert_eq!((again.index.added, again.index.changed, again.index.rebuilt), (0, 0, None));
    assert_eq!((again.index.chunks, &again.folder), (first.index.chunks, &first.folder));
    let anew = IndexRequest { rebuild: Rebuild::Yes, ..request(shop.target()) };
    let anew = shop.run(|host| update_index(&anew, None, host)).unwrap();
    assert_eq!((anew.index.rebuilt, anew.index.chunks), (Some("asked"), first.index.chunks));
}

#[cfg(unix)]
#[test]
fn an_index_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let shop = tea_shop();
    let folder = index(&shop).folder;
    let mode = fs_err::metadata(folder).unwrap().permissions().mode() & 0o777;
    assert_eq!(format!("{mode:o}"), "700");
}

#[test]
fn indexes_are_listed_pruned_and_dropped() {
    let shop = tea_shop();
    assert!(list(&shop).indexes.is_empty());
    index(&shop);
    shop.write("notes/a.md", "a note\n");
    try_index(&shop, shop.target_at("notes")).unwrap();
    let listed = list(&shop).indexes;
    assert_eq!(listed.len(), 2);
    for one in &listed {
        assert!(one.source.as_ref().unwrap().exists && one.bytes > 0, "{one:?}");
        // To the second.
        let used_at = one.used_at.as_ref().unwrap().to_string();
        assert_eq!(used_at.len(), "2026-01-15T10:00:00Z".len(), "{used_at}");
    }
    let mut kinds: Vec<_> = listed.iter().map(|one| &*one.source.as_ref().unwrap().kind).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["folder", "openclaw"]);
    assert!(prune(&shop, Apply::Yes).removed.is_empty());

    fs_err::remove_dir_all(shop.path("notes")).unwrap();
    let plan = prune(&shop, Apply::DryRun);
    assert_eq!((plan.dry_run, plan.kept), (true, 1));
    let place = &plan.removed[0].source.as_ref().unwrap().place;
    assert!(place.ends_with("notes"), "{place}");
    assert_eq!(list(&shop).indexes.len(), 2);
    prune(&shop, Apply::Yes);
    assert_eq!(list(&shop).indexes.len(), 1);

    let drop = || shop.run(|host| remove_index(&shop.target(), host)).unwrap().dropped;
    assert!(drop());
    assert!(list(&shop).indexes.is_empty());
    assert!(!drop());
    let agents = fs_err::read_dir(shop.host.folders.own_cache().join("agents")).unwrap();
    let left =
        agents.flat_map(|agent| fs_err::read_dir(agent.unwrap().path().join("index")).unwrap());
    assert_eq!(left.count(), 0, "not even a note is left");
    assert_eq!(shop.search("router").index.rebuilt, Some("new"));
}

#[test]
fn other_files_in_the_cache_stay() {
    let shop = tea_shop();
    index(&shop);
    let others = ["index/notes/diary.md", "index/README"].map(|name| {
        let path = shop.host.folders.own_cache().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, "mine").unwrap();
        path
    });
    fs_err::rename(shop.path("ws"), shop.path("moved")).unwrap();
    prune(&shop, Apply::Yes);
    assert!(list(&shop).indexes.is_empty());
    assert!(others.iter().all(|path| path.is_file()));
}

fn assert_taken<T: std::fmt::Debug>(result: Result<T, SearchError>) {
    let error = result.unwrap_err();
    let is_it = matches!(error, SearchError::Target(TargetError::IndexFolderTaken(_)));
    assert!(is_it, "{error:?}");
}

#[test]
fn dropping_touches_no_folder_with_something_else_in_it() {
    let shop = tea_shop();
    let own = with_index_in(&shop, "own");
    try_index(&shop, own.clone()).unwrap();
    shop.write("own/diary.md", "dear diary");
    assert_taken(shop.run(|host| remove_index(&own, host)));
    fs_err::remove_file(shop.path("own/diary.md")).unwrap();
    assert!(shop.run(|host| remove_index(&own, host)).unwrap().dropped);
    assert!(!shop.exists("own"));
}

#[test]
fn a_folder_with_files_called_like_ours_is_not_touched() {
    let shop = tea_shop();
    shop.write("mine/lock", "");
    shop.write("mine/lexical/thesis.txt", "years of work");
    let mine = with_index_in(&shop, "mine");
    assert_taken(shop.try_search("tea", |request| request.target = mine.clone()));
    assert_taken(try_index(&shop, mine.clone()));
    let anew = IndexRequest { rebuild: Rebuild::Yes, ..request(mine.clone()) };
    assert_taken(shop.run(|host| update_index(&anew, None, host)));
    assert_taken(shop.run(|host| remove_index(&mine, host)));
    assert_eq!(shop.read("mine/lexical/thesis.txt"), b"years of work");
}

#[test]
fn what_cannot_be_searched_leaves_no_index() {
    let shop = tea_shop();
    shop.write("not.alf", "this is no archive");
    index(&shop);
    fs_err::create_dir(shop.host.folders.own_cache().join("index")).unwrap();
    let target = shop.target_at("not.alf");
    assert!(shop.try_search("tea", |request| request.target = target).is_err());
    let listed = list(&shop).indexes;
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0].source.as_ref().unwrap().kind, "openclaw");
}

#[test]
fn an_encrypted_archive_has_no_index_to_keep() {
    let mut shop = tea_shop();
    let recipient = shop.identity("identity");
    let sealed = ExportRequest {
        output: Some(shop.path("shop.age")),
        secrets: SecretPolicy::Allow,
        recipients: vec![recipient],
        ..ExportRequest::new(shop.agent.clone())
    };
    shop.run(|host| export(&sealed, host)).unwrap();
    shop.machine.host.keys = Keys::new(vec![shop.path("identity")], None, None);
    let target = shop.target_at("shop.age");
    let anew = IndexRequest { rebuild: Rebuild::Yes, ..request(target.clone()) };
    for refused in
        [try_index(&shop, target.clone()), shop.run(|host| update_index(&anew, None, host))]
    {
        assert!(matches!(refused, Err(SearchError::NeverKept(_))), "{refused:?}");
    }
    let report: SearchReport = {
        let request = anemone::search::SearchRequest::new("router", target);
        shop.run(|host| search(&request, host)).unwrap()
    };
    assert!(!report.hits.is_empty());
}

#[test]
fn chunks_have_the_ids_that_openclaw_gives_them() {
    let memory = TestMemory::with(&[("MEMORY.md", "hello")]);
    for name in ["openclaw-2026.3", "openclaw-2026.9"] {
        let chunker = anemone_runtimes::native_chunkers().find(|chunker| chunker.name == name);
        let chunking = Chunking::Native(chunker.unwrap());
        let cut = memory.run(|host| list_chunks(&memory.target(), chunking, host)).unwrap();
        assert_eq!(cut.chunking.name(), name);
        let [chunk] = &cut.chunks[..] else { panic!("{cut:?}") };
        let hash = sha256_hex(b"hello");
        assert_eq!(chunk.hash, hash);
        let id = sha256_hex(format!("memory:MEMORY.md:1:1:{hash}:fts-only").as_bytes());
        assert_eq!((chunk.id.as_ref(), chunk.chars), (Some(&id), 5));
    }
    assert!(!memory.host.folders.cache.exists(), "nothing is indexed for that");
}

#[test]
fn our_chunks_cover_every_line_once() {
    let shop = tea_shop();
    let text: String =
        (1..=400).map(|line| format!("Line {line} of a long story about a crab.\n")).collect();
    shop.write("ws/memory/story.md", text);
    let cut = shop.run(|host| list_chunks(&shop.target(), Chunking::Anemone, host)).unwrap();
    let mut next = 1;
    for chunk in cut.chunks.iter().filter(|chunk| chunk.path == "memory/story.md") {
        assert_eq!(chunk.start_line, next, "{chunk:?}");
        next = chunk.end_line + 1;
    }
    assert_eq!(next, 401);
}
