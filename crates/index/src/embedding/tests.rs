//! Tests that texts are paid for once and not again.

use std::path::Path;
use std::sync::Mutex;

use anemone_embed::{Effort, Purpose};
use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags};

use super::*;
use crate::document::Document;
use crate::profile::{ProfileError, RankingChoice, RankingProfile};
use crate::request::{Answer, Rankers, RankingTuning, Request};
use crate::source::{
    DocumentSource, FileStamp, Listing, SkippedDocument, SourceEntry, SourceError,
};
use crate::store::Store;

const DIMENSIONS: usize = 24;
const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

/// A ranking that embeds every document, and finds nothing.
struct EmbedsAll;

impl RankingProfile for EmbedsAll {
    fn name(&self) -> &'static str {
        "embeds-all"
    }

    fn each_text(&self, document: &Document, _: &RankingTuning, take: &mut dyn FnMut(&str)) {
        take(&document.text);
    }

    fn answer(
        &self,
        documents: &[Document],
        request: &Request,
        embedder: Option<&dyn Embedder>,
    ) -> Result<Answer, ProfileError> {
        let texts = documents.iter().map(|document| document.text.as_str());
        let (_, vectors) = crate::embed_texts(embedder, &request.query, texts);
        let rankers = Rankers { lexical: false, vectors };
        Ok(Answer { hits: Vec::new(), rankers, notes: Vec::new() })
    }
}

/// Notes of one text each; those below the number exist.
struct Notes(usize);

impl DocumentSource for Notes {
    fn identity(&self) -> String {
        "notes".to_owned()
    }

    fn list(&self) -> Result<Listing, SourceError> {
        let stamp = FileStamp { size: 1, modified_ns: 1, changed_ns: 1, inode: 1 };
        let entry = |number| SourceEntry { key: format!("{number:04}.md"), stamp };
        Ok(Listing { entries: (0..self.0).map(entry).collect(), skipped: Vec::new() })
    }

    fn load(
        &self,
        entry: &SourceEntry,
        each: &mut dyn FnMut(Document),
    ) -> Result<Vec<SkippedDocument>, SourceError> {
        let text = format!("The note {} is about something.\n", entry.key);
        each(Document { path: entry.key.clone(), text, ..Document::default() });
        Ok(Vec::new())
    }
}

fn refreshed(folder: &Path, notes: usize) -> Index {
    let mut index = Index::open(folder).unwrap();
    index.refresh(&[&Notes(notes)], NOW, &NoProgress).unwrap();
    index
}

fn make_anew(index: &mut Index, notes: usize) {
    index.clear();
    index.refresh(&[&Notes(notes)], NOW, &NoProgress).unwrap();
    assert!(index.vector_sets().unwrap().is_empty());
}

/// An embedder that does something before it answers.
struct Paid<'a> {
    identity: ModelIdentity,
    first: Box<dyn Fn() + Send + Sync + 'a>,
}

impl<'a> Paid<'a> {
    fn new(first: impl Fn() + Send + Sync + 'a) -> Self {
        let (provider, model) = ("test".to_owned(), "paid".to_owned());
        let identity = ModelIdentity { provider, model, dimensions: DIMENSIONS };
        Self { identity, first: Box::new(first) }
    }
}

impl Embedder for Paid<'_> {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn effort(&self) -> Effort {
        Effort::Remote
    }

    fn texts_at_once(&self) -> usize {
        8
    }

    fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        (self.first)();
        let numbers = |text: &&str| {
            hash(text).iter().take(DIMENSIONS).map(|byte| f32::from(*byte).sqrt()).collect()
        };
        Ok(texts.iter().map(numbers).collect())
    }
}

/// Leaves a cache like a process that is killed while it writes.
fn kill_a_writer(path: &Path) {
    let journal = path.with_extension("sqlite-journal");
    let mut left = Vec::new();
    {
        let db = Connection::open(path).unwrap();
        db.execute_batch(
            "PRAGMA cache_size = 1; BEGIN IMMEDIATE;
             UPDATE cache SET vector = zeroblob(5000), hash = randomblob(32);",
        )
        .unwrap();
        for file in [path, &journal] {
            left.push((file.to_owned(), fs_err::read(file).unwrap()));
        }
        db.execute_batch("ROLLBACK").unwrap();
    }
    for (file, bytes) in left {
        fs_err::write(file, bytes).unwrap();
    }
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let count = db.query_row("SELECT count(*) FROM cache", [], |row| row.get::<_, i64>(0));
    let error = count.expect_err("the journal must be hot");
    assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::ReadOnly));
}

#[test]
fn a_kill_while_the_cache_is_written_costs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("embeddings.sqlite");
    let paid = Paid::new(|| {});
    let mut index = refreshed(folder.path(), 100);
    assert_eq!(index.embed(&paid, Replace::No, &NoProgress).unwrap().texts, 100);
    make_anew(&mut index, 101);
    kill_a_writer(&path);
    let left = index.unembedded(&paid.identity).unwrap();
    assert_eq!((left.known, left.texts), (100, 1));
    kill_a_writer(&path);
    assert_eq!(index.take_carried(&paid.identity, &[&Notes(101)]).unwrap().taken, 0);
    kill_a_writer(&path);
    let mut request = Request::new("note", NOW);
    request.profile = RankingChoice::Other(&EmbedsAll);
    assert_eq!(index.search(&request, &[&paid]).unwrap().rankers.vectors.len(), 1);
    kill_a_writer(&path);
    let done = index.embed(&paid, Replace::No, &NoProgress).unwrap();
    assert_eq!((done.texts, done.known, done.chunks), (1, 100, 101));
}

#[test]
fn nobody_waits_for_an_embedder() {
    let folder = tempfile::tempdir().unwrap();
    let could_write = Mutex::new(Vec::new());
    let paid = Paid::new(|| {
        let lock = fs_err::File::open(folder.path().join("lock")).unwrap();
        could_write.lock().unwrap().push(lock.file().try_lock().is_ok());
    });
    let mut index = refreshed(folder.path(), CHUNKS_AT_ONCE + 9);
    index.embed(&paid, Replace::No, &NoProgress).unwrap();
    let could_write = could_write.lock().unwrap();
    assert_eq!((could_write.len(), could_write.contains(&false)), (34, false));
}

#[test]
fn what_the_cache_has_room_for_is_paid_for_once() {
    let all = 2 * CHUNKS_AT_ONCE + 88;
    for before in [0, 450] {
        let folder = tempfile::tempdir().unwrap();
        let paid = Paid::new(|| {});
        let mut index = refreshed(folder.path(), all);
        index.store.cache.bounds.vectors = 400;
        index.store.cache.bounds.between = 8;
        // With or without an interruption.
        let first = index.embed_missing(&paid, before).unwrap().texts;
        let then = index.embed(&paid, Replace::No, &NoProgress).unwrap().texts;
        assert_eq!((first, then), (before, all as u64 - before));
        assert_eq!(index.vector_sets().unwrap()[0].missing, 0);
        for _ in 0..2 {
            make_anew(&mut index, all);
            let done = index.embed(&paid, Replace::No, &NoProgress).unwrap();
            assert_eq!((done.texts, done.known, done.chunks), (200, 400, 600), "{before}");
        }
    }
}

#[test]
fn what_comes_from_the_cache_is_what_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let paid = Paid::new(|| {});
    let mut index = refreshed(folder.path(), 50);
    let mut seen = Vec::new();
    for known in [0, 50] {
        assert_eq!(index.embed(&paid, Replace::No, &NoProgress).unwrap().known, known);
        let mut vectors = Vec::new();
        let reading = index.store.reading().unwrap();
        reading.vectors(Slot::Model, &mut |_, bytes| vectors.push(bytes.to_vec())).unwrap();
        drop(reading);
        assert_eq!(vectors.len(), 50);
        // The order of documents is not guaranteed.
        vectors.sort();
        seen.push(vectors);
        make_anew(&mut index, 50);
    }
    assert_eq!(seen[0], seen[1]);
}

#[test]
fn chunks_that_change_while_they_are_embedded_are_counted_once() {
    struct Seen(Mutex<Vec<(u64, u64)>>);
    impl IndexProgress for Seen {
        fn indexed(&self, _: u64, _: u64) {}

        fn embedded(&self, done: u64, total: u64) {
            self.0.lock().unwrap().push((done, total));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let meanwhile = Mutex::new(Some(25));
    let paid = Paid::new(|| {
        if let Some(notes) = meanwhile.lock().unwrap().take() {
            drop(refreshed(folder.path(), notes));
        }
    });
    let mut index = refreshed(folder.path(), 20);
    let seen = Seen(Mutex::default());
    let done = index.embed(&paid, Replace::No, &seen).unwrap();
    assert_eq!(done, EmbeddingReport { chunks: 25, texts: 25, ..EmbeddingReport::default() });
    let seen = seen.0.into_inner().unwrap();
    assert!(seen.iter().all(|(done, total)| done <= total), "{seen:?}");
    assert_eq!(seen.last(), Some(&(25, 25)));
}

#[test]
fn not_all_is_read_to_know_that_much_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let paid = Paid::new(|| {});
    let mut index = refreshed(folder.path(), 3 * CHUNKS_AT_ONCE);
    assert_eq!(index.unembedded(&paid.identity).unwrap().texts, 3 * CHUNKS_AT_ONCE as u64);
    assert_eq!(index.count(&paid.identity, 64).unwrap().texts, CHUNKS_AT_ONCE as u64);
    assert_eq!(index.unembedded_up_to(&paid.identity, 64).unwrap(), None);
    index.embed_missing(&paid, 3 * CHUNKS_AT_ONCE as u64 - 64).unwrap();
    let left = index.unembedded_up_to(&paid.identity, 64).unwrap().unwrap();
    assert_eq!((left.chunks, left.texts), (64, 64));
    assert_eq!(index.unembedded_up_to(&paid.identity, 63).unwrap(), None);
}

#[test]
fn what_a_ranking_uses_is_kept_for_longer() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = refreshed(folder.path(), 1).store;
    store.cache.bounds.vectors = 4;
    store.cache.bounds.between = 1;
    let paid = Paid::new(|| {});
    let keep = |store: &mut Store, text: &str| {
        store.begin_turn(&paid.identity, 1).unwrap();
        store.cache_vectors(&paid.identity, &[(hash(text), vec![1.0; DIMENSIONS])]).unwrap();
    };
    ["a", "b", "c", "d"].iter().for_each(|text| keep(&mut store, text));
    Cached::new(&paid, &store).embed(&["a"], Purpose::Document).unwrap();
    keep(&mut store, "e");
    let known = store.are_cached(&paid.identity, &["a", "b", "c", "d", "e"].map(hash)).unwrap();
    assert_eq!(known, [true, false, true, true, true]);
}
