//! Tests of the store.

use std::collections::HashSet;
use std::os::unix::fs::PermissionsExt as _;

use jiff::Timestamp;
use jiff::civil::date;
use tempfile::TempDir;

use super::*;
use crate::digest::{ChunkDigest, Digest};
use crate::document::Document;
use crate::request::Request;

/// Makes chunks from the lines of a text; tokens are separated by spaces.
pub(crate) fn lines(document: &Document) -> Digest<'_> {
    let mut chunks = Vec::new();
    let mut start = 0;
    for (number, line) in document.text.split_inclusive('\n').enumerate() {
        let lexical = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut terms: Vec<Term> = lexical.split(' ').map(Term::of).collect();
        let length = u32::try_from(terms.len()).unwrap();
        terms.sort_unstable();
        terms.dedup();
        chunks.push(ChunkDigest {
            text: line.to_owned(),
            start_byte: start,
            first_line: u32::try_from(number).unwrap() + 1,
            language: Language::English,
            lexical,
            length,
            terms,
            body: Body::default(),
        });
        start += line.len() as u64;
    }
    Digest { chunks: Box::new(chunks.into_iter()) }
}

fn document(path: &str, text: &str) -> Document {
    Document { path: path.to_owned(), text: text.to_owned(), ..Document::default() }
}

/// Puts documents into a store, each as a separate entry; an empty text removes one.
pub(crate) fn fill(store: &mut Store, documents: &[Document]) {
    let alone = match store.alone().unwrap() {
        LockedIndex::Whole(_, alone) | LockedIndex::Broken(_, alone) => alone,
    };
    let mut writing = store.writing(alone).unwrap();
    let source = writing.set_sources(&["test".to_owned()]).unwrap()[0];
    for document in documents {
        let entry = writing.entry(source, &document.path).unwrap();
        if document.text.is_empty() {
            for (id, _) in writing.documents_of(entry).unwrap() {
                writing.remove(id).unwrap();
            }
            writing.remove_entry(entry).unwrap();
        } else {
            let hash = document.text.as_bytes();
            writing
                .put(entry, document, hash, &lines, &HashSet::new(), &mut |_| panic!("displaced"))
                .unwrap();
        }
    }
    writing.finish().unwrap();
}

pub(super) fn filled(documents: &[Document]) -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    fill(&mut store, documents);
    (folder, store)
}

/// Finds chunks by words: path, place in the document, score.
fn find(store: &Store, words: &str, limit: usize) -> Vec<(String, u64, f32)> {
    let reading = store.reading().unwrap();
    found(&reading, words, limit, None)
}

fn found(
    view: &View,
    words: &str,
    limit: usize,
    allowed: Option<&Allowed>,
) -> Vec<(String, u64, f32)> {
    let wanted: Vec<SoughtTerm<'_>> = words
        .split(' ')
        .map(|text| SoughtTerm { text: text.into(), term: Term::of(text), weight: 1.0 })
        .collect();
    let candidates = view
        .candidates(&wanted, limit, &Narrow { allowed: allowed.cloned(), required: Vec::new() })
        .unwrap();
    candidates.iter().map(|found| place(view, found)).collect()
}

fn place(view: &View, found: &Candidate) -> (String, u64, f32) {
    let id = found.chunk.0.cast_signed();
    let document: i64 = view
        .db
        .query_row("SELECT document FROM chunk WHERE id = ?1", [id], |row| row.get(0))
        .unwrap();
    let read = view.document(DocumentId(document.cast_unsigned())).unwrap();
    let (document, chunks) = (read.document.clone(), read.chunks.clone());
    assert!(chunks.contains(&found.chunk));
    (document.path, found.chunk.0 - chunks.start.0, found.score)
}

/// Random documents of common and rare words.
pub(super) fn corpus(documents: usize, seed: u64) -> Vec<Document> {
    let mut state = seed;
    let mut random = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    (0..documents)
        .map(|number| {
            let mut text = String::new();
            for _ in 0..1 + random() % 6 {
                for _ in 0..1 + random() % 30 {
                    // Squaring the range makes small numbers common.
                    let word = (random() % 40) * (random() % 40);
                    text.push_str(&format!("w{word} "));
                }
                text.push('\n');
            }
            document(&format!("memory/{number:04}.md"), &text)
        })
        .collect()
}

/// Textbook BM25 over all lines of all documents, with tantivy's rounded lengths.
fn by_hand(documents: &[Document], words: &str, limit: usize) -> Vec<(String, u64, f64)> {
    let chunks: Vec<(&str, u64, Vec<&str>)> = documents
        .iter()
        .flat_map(|document| {
            document.text.lines().enumerate().map(|(number, line)| {
                (document.path.as_str(), number as u64, line.split_whitespace().collect())
            })
        })
        .collect();
    let count = chunks.len() as f64;
    let mean = chunks.iter().map(|chunk| chunk.2.len()).sum::<usize>() as f64 / count;
    let mut scored = Vec::new();
    for (path, number, tokens) in &chunks {
        let rounded = tantivy::fieldnorm::FieldNormReader::id_to_fieldnorm(
            tantivy::fieldnorm::FieldNormReader::fieldnorm_to_id(tokens.len() as u32),
        );
        let mut score = 0.0;
        for word in words.split(' ') {
            let times = tokens.iter().filter(|token| **token == word).count() as f64;
            let having = chunks.iter().filter(|chunk| chunk.2.contains(&word)).count() as f64;
            let idf = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
            let norm = 1.2 * (1.0 - 0.75 + 0.75 * f64::from(rounded) / mean);
            score += idf * 2.2 * times / (times + norm);
        }
        if score > 0.0 {
            scored.push(((*path).to_owned(), *number, score));
        }
    }
    scored.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)).then(a.1.cmp(&b.1)));
    scored.truncate(limit);
    scored
}

const QUESTIONS: [&str; 6] =
    ["w0", "w0 w1 w2 w3", "w1521 w0", "w0 w12 w36 w100 w400 w1000 w7 w8", "w35 w70", "nothing w6"];

#[test]
fn candidates_are_what_bm25_says() {
    let documents = corpus(150, 7);
    let (_folder, store) = filled(&documents);
    for words in QUESTIONS {
        for limit in [1, 5, 40, 10_000] {
            let found = find(&store, words, limit);
            let expected = by_hand(&documents, words, limit);
            assert_eq!(found.len(), expected.len(), "{words} {limit}");
            for (found, expected) in found.iter().zip(&expected) {
                let apart = (f64::from(found.2) - expected.2).abs();
                assert!(apart < 1e-4 * expected.2, "{words}: {found:?} {expected:?}");
            }
        }
    }
}

#[test]
fn the_way_in_does_not_matter() {
    let documents = corpus(120, 3);
    let (_one, in_order) = filled(&documents);
    let mut reverse = documents.clone();
    reverse.reverse();
    let (_two, in_reverse) = filled(&reverse);

    let (_three, mut edited) = filled(&corpus(60, 99));
    for part in documents.chunks(7) {
        fill(&mut edited, part);
    }
    for number in [3, 50, 51, 110] {
        let gone = document(&documents[number].path, "");
        fill(&mut edited, &[gone]);
    }
    let again: Vec<Document> =
        [110, 50, 51, 3].iter().map(|number| documents[*number].clone()).collect();
    fill(&mut edited, &again);

    let statistics = |store: &Store| store.reading().unwrap().statistics().clone();
    assert_eq!(statistics(&in_order), statistics(&in_reverse));
    assert_eq!(statistics(&in_order), statistics(&edited));
    for words in QUESTIONS {
        for limit in [1, 10, 200] {
            let expected = find(&in_order, words, limit);
            assert_eq!(find(&in_reverse, words, limit), expected);
            assert_eq!(find(&edited, words, limit), expected);
        }
    }
}

#[test]
fn a_larger_limit_begins_with_the_smaller_one() {
    let (_folder, store) = filled(&corpus(100, 5));
    for words in QUESTIONS {
        let all = find(&store, words, 500);
        for limit in [1, 2, 17, 100] {
            let found = find(&store, words, limit);
            assert_eq!(found[..], all[..limit.min(all.len())]);
        }
    }
}

#[test]
fn among_equals_the_newest_then_the_path_then_the_place_decides() {
    let mut documents: Vec<Document> =
        (0..600).map(|n| document(&format!("{n:03}.md"), "same words\nsame words\n")).collect();
    documents[300].date = Some(date(2026, 1, 2));
    documents[301].date = Some(date(2026, 1, 3));
    let (_folder, store) = filled(&documents);
    let order: Vec<(String, u64)> =
        find(&store, "same", 6).into_iter().map(|found| (found.0, found.1)).collect();
    let expected = [("301.md", 0), ("301.md", 1), ("300.md", 0), ("300.md", 1), ("000.md", 0)];
    for (found, (path, number)) in order.iter().zip(expected) {
        assert_eq!((found.0.as_str(), found.1), (path, number));
    }
    assert_eq!(order[5], ("000.md".to_owned(), 1));
}

#[test]
fn frequencies_are_exact_after_removals() {
    let (_folder, mut store) = filled(&[
        document("a.md", "red green\nred blue\n"),
        document("b.md", "red red red\n"),
        document("c.md", "green\n"),
    ]);
    let frequency =
        |store: &Store, word: &str| store.reading().unwrap().frequency(Term::of(word)).unwrap();
    assert_eq!((frequency(&store, "red"), frequency(&store, "green")), (3, 2));
    fill(&mut store, &[document("a.md", "green only\n"), document("c.md", "")]);
    assert_eq!((frequency(&store, "red"), frequency(&store, "green")), (1, 1));
    assert_eq!((frequency(&store, "blue"), frequency(&store, "only")), (0, 1));
    let reading = store.reading().unwrap();
    let Statistics { documents, chunks, tokens, languages, .. } = reading.statistics();
    assert_eq!((*documents, *chunks, *tokens), (2, 2, 5));
    assert_eq!(languages[..], [(Language::English, 2)]);
    let rows: i64 =
        reading.db.query_row("SELECT count(*) FROM term", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 3, "red, green, only");
}

#[test]
fn chunk_ids_follow_each_other_and_are_not_used_again() {
    let (_folder, mut store) = filled(&[document("a.md", "1\n2\n3\n"), document("b.md", "4\n5\n")]);
    let ranges = |store: &Store| {
        let mut ranges = Vec::new();
        let reading = store.reading().unwrap();
        let mut find = reading.db.prepare("SELECT id FROM document ORDER BY path").unwrap();
        let ids: Vec<i64> = find.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect();
        for id in ids {
            let chunks = reading.document(DocumentId(id.cast_unsigned())).unwrap().chunks.clone();
            ranges.push(chunks.start.0..chunks.end.0);
            assert!((chunks.start.0..chunks.end.0).all(|id| reading.text(ChunkId(id)).is_ok()));
        }
        ranges
    };
    assert_eq!(ranges(&store), [0..3, 3..5]);
    fill(&mut store, &[document("b.md", "6\n7\n8\n9\n")]);
    assert_eq!(ranges(&store), [0..3, 5..9]);
}

#[test]
fn documents_come_back_as_they_were() {
    let mut first = document("b/x.md", "one\n\ntwo \u{0} three");
    first.date = Some(date(2026, 4, 1));
    first.importance = Some(0.1 + 0.2);
    first.memory_type = Some("semantic".to_owned());
    first.provenance.record = Some("r1".to_owned());
    let second = document("a.md", "čeština 日本語\n");
    let (_folder, store) = filled(&[first.clone(), second.clone()]);
    let mut documents = Vec::new();
    store.reading().unwrap().documents(None, &mut |document| documents.push(document)).unwrap();
    assert_eq!(documents, [second, first]);
}

#[test]
fn filters_leave_what_was_asked_for() {
    let mut one = document("memory/projects/one.md", "word\n");
    one.date = Some(date(2026, 1, 10));
    one.memory_type = Some("episodic".to_owned());
    let mut two = document("memory/two.md", "word\n");
    two.date = Some(date(2026, 2, 10));
    two.namespace = Some("work".to_owned());
    let three = document("MEMORY.md", "word\n");
    let (_folder, store) = filled(&[one, two, three]);
    let reading = store.reading().unwrap();
    let pass = |change: &dyn Fn(&mut Request)| {
        let mut request = Request::new("word", Timestamp::UNIX_EPOCH);
        change(&mut request);
        let allowed = reading.allowed(&request).unwrap().unwrap();
        let mut paths: Vec<String> =
            found(&reading, "word", 9, Some(&allowed)).into_iter().map(|found| found.0).collect();
        paths.sort_unstable();
        assert_eq!(paths.len(), allowed.documents.len());
        paths
    };
    assert!(reading.allowed(&Request::new("word", Timestamp::UNIX_EPOCH)).unwrap().is_none());
    let paths = |list: &[&str]| {
        let list: Vec<String> = list.iter().map(|path| (*path).to_owned()).collect();
        move |request: &mut Request| request.paths.clone_from(&list)
    };
    let (one, two, three) = ("memory/projects/one.md", "memory/two.md", "MEMORY.md");
    assert_eq!(pass(&paths(&["memory/projects"])), [one]);
    assert_eq!(pass(&paths(&["memory/"])), [one, two]);
    assert_eq!(pass(&paths(&["./memory/*.md"])), [two]);
    assert_eq!(pass(&paths(&["**/*.md"])), [three, one, two]);
    assert_eq!(pass(&paths(&["memory/pro", "[", "MEMORY.md"])), [three]);
    assert_eq!(pass(&|r| r.since = Some(date(2026, 2, 1))), [two]);
    assert_eq!(pass(&|r| r.until = Some(date(2026, 2, 1))), [one]);
    assert_eq!(pass(&|r| r.types = vec!["episodic".to_owned()]), [one]);
    assert_eq!(pass(&|r| r.namespaces = vec!["work".to_owned(), "x".to_owned()]), [two]);
    assert!(pass(&|r| r.types = vec!["it's \"odd\"".to_owned()]).is_empty());
}

#[test]
fn odd_terms_and_weights_find_nothing_and_break_nothing() {
    let (_folder, store) = filled(&[document("a.md", "word\n")]);
    let reading = store.reading().unwrap();
    for weight in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let wanted = SoughtTerm { text: "word".into(), term: Term::of("word"), weight };
        assert!(reading.candidates(&[wanted], 5, &Narrow::default()).unwrap().is_empty());
    }
    for weight in [f32::MIN_POSITIVE, 1e-30, f32::MAX] {
        let wanted = SoughtTerm { text: "word".into(), term: Term::of("word"), weight };
        let found =
            reading.candidates(&[wanted.clone(), wanted], usize::MAX, &Narrow::default()).unwrap();
        assert!(found.len() == 1 || weight == f32::MAX, "{weight}");
    }
    assert!(reading.candidates(&[], 5, &Narrow::default()).unwrap().is_empty());
    let long = "x".repeat(100_000);
    let wanted = SoughtTerm { text: long.as_str().into(), term: Term::of("word"), weight: 1.0 };
    assert!(reading.candidates(&[wanted], 5, &Narrow::default()).unwrap().is_empty());
}

#[test]
fn only_the_owner_can_read_it() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("index/ab");
    let mut store = Store::open(&folder).unwrap();
    fill(&mut store, &corpus(5, 1));
    let identity = identity(2);
    store.cache_vectors(&identity, &[([1; 32], vec![0.5, 0.5])]).unwrap();
    let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join("lexical")), 0o700);
    let mut seen = 0;
    for folder in [folder.clone(), folder.join("lexical")] {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                assert_eq!(mode(&path), 0o600, "{}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 8, "{seen}");
}

/// All files in the folder that a reader trusts.
fn files(folder: &Path) -> Vec<PathBuf> {
    let names = ["seal.json", "index.sqlite", "vectors.sqlite"];
    let mut files: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    for entry in fs_err::read_dir(folder.join("lexical")).unwrap() {
        files.push(entry.unwrap().path());
    }
    files.sort();
    files
}

#[test]
fn damage_anywhere_is_seen_and_everything_is_made_anew() {
    let documents = corpus(20, 11);
    let (folder, store) = filled(&documents);
    let expected = find(&store, "w0 w12 w36", 50);
    drop(store);
    for number in 0..files(folder.path()).len() {
        for damage in 0..9 {
            let path = files(folder.path())[number].clone();
            let mut bytes = fs_err::read(&path).unwrap();
            match damage {
                0 => fs_err::remove_file(&path).unwrap(),
                1 => fs_err::write(&path, b"").unwrap(),
                2 => fs_err::write(&path, &bytes[..bytes.len() / 2]).unwrap(),
                3..=6 => {
                    // The same size, and the old time restored.
                    let there = fs_err::metadata(&path).unwrap();
                    let place = (bytes.len() - 1) * (damage - 3) / 3;
                    bytes[place] ^= 0x55;
                    fs_err::write(&path, &bytes).unwrap();
                    let file = fs_err::File::options().write(true).open(&path).unwrap();
                    file.file().set_modified(there.modified().unwrap()).unwrap();
                }
                7 => {
                    fs_err::remove_file(&path).unwrap();
                    fs_err::create_dir(&path).unwrap();
                }
                _ => {
                    fs_err::remove_file(&path).unwrap();
                    fs_err::os::unix::fs::symlink("/dev/zero", &path).unwrap();
                }
            }
            let mut store = Store::open(folder.path()).unwrap();
            let error = store.reading().err().expect("damage is seen");
            assert!(matches!(error, StoreError::NotFilled), "{number} {damage}: {error:?}");
            let LockedIndex::Broken(reason, alone) = store.alone().unwrap() else {
                panic!("damage is seen")
            };
            // Without its seal an index is not finished.
            assert!(["damaged", "unfinished"].contains(&reason), "{number} {damage}: {reason}");
            drop(alone);
            fill(&mut store, &documents);
            assert_eq!(find(&store, "w0 w12 w36", 50), expected);
        }
    }
}

#[test]
fn a_writer_that_stops_anywhere_leaves_no_index() {
    let documents = corpus(10, 2);
    let (folder, mut store) = filled(&documents);
    let expected = find(&store, "w0 w12", 50);
    for step in 0..3 {
        let LockedIndex::Whole(view, alone) = store.alone().unwrap() else { panic!("whole") };
        drop(view);
        let mut writing = store.writing(alone).unwrap();
        if step > 0 {
            let entry = writing.entry(0, "memory/0003.md").unwrap();
            let changed = document("memory/0003.md", "w0 w0 w0\n");
            writing.put(entry, &changed, b"new", &lines, &HashSet::new(), &mut |_| ()).unwrap();
        }
        if step > 1 {
            // Everything is written, only the seal is not.
            writing.finish().unwrap();
            fs_err::remove_file(folder.path().join("seal.json")).unwrap();
        } else {
            drop(writing);
        }
        assert!(matches!(store.reading(), Err(StoreError::NotFilled)));
        fill(&mut store, &documents);
        assert_eq!(find(&store, "w0 w12", 50), expected);
    }
}

#[test]
fn another_version_and_a_request_are_told_apart_from_damage() {
    let (folder, mut store) = filled(&corpus(3, 1));
    let path = folder.path().join("seal.json");
    let seal = fs_err::read_to_string(&path).unwrap();
    fs_err::write(&path, seal.replacen("\"version\":\"", "\"version\":\"0", 1)).unwrap();
    let reason = |store: &mut Store| match store.alone().unwrap() {
        LockedIndex::Broken(reason, _) => reason,
        LockedIndex::Whole(..) => "whole",
    };
    assert_eq!(reason(&mut store), "version");
    fs_err::write(&path, "[".repeat(100_000)).unwrap();
    assert_eq!(reason(&mut store), "damaged");
    fs_err::write(&path, seal.replace("index.sqlite", "../../etc/passwd")).unwrap();
    assert_eq!(reason(&mut store), "damaged");
    store.begin_anew("asked");
    assert_eq!(reason(&mut store), "asked");
    fill(&mut store, &corpus(3, 1));
    assert_eq!(reason(&mut store), "whole");
    drop(store);
    fs_err::remove_dir_all(folder.path().join("lexical")).unwrap();
    for name in ["index.sqlite", "vectors.sqlite"] {
        fs_err::remove_file(folder.path().join(name)).unwrap();
    }
    fs_err::remove_file(&path).unwrap();
    assert_eq!(reason(&mut Store::open(folder.path()).unwrap()), "new");
}

#[test]
fn files_of_others_stay_when_it_is_emptied() {
    let (folder, mut store) = filled(&corpus(3, 1));
    let identity = identity(2);
    store.cache_vectors(&identity, &[([1; 32], vec![0.25, -1.0])]).unwrap();
    fs_err::write(folder.path().join("notes.txt"), "mine").unwrap();
    fs_err::write(folder.path().join("lexical/notes.txt"), "mine").unwrap();
    store.begin_anew("asked");
    let LockedIndex::Broken(_, alone) = store.alone().unwrap() else { panic!("begins anew") };
    drop(store.writing(alone).unwrap());
    assert!(folder.path().join("notes.txt").is_file());
    assert!(folder.path().join("lexical/notes.txt").is_file());
    assert!(matches!(store.reading(), Err(StoreError::NotFilled)));
    let known = store.cached_vectors(&identity, &[[1; 32], [2; 32]]).unwrap();
    assert_eq!(known, [Some(vec![0.25, -1.0]), None]);
}

#[test]
fn a_folder_that_cannot_be_written_says_so() {
    let (folder, store) = filled(&corpus(3, 1));
    drop(store);
    let blocked = folder.path().join("seal.json/index");
    assert!(matches!(Store::open(&blocked), Err(StoreError::Unwritable(_))));
    if rustix::process::geteuid().is_root() {
        anemone_testkit::skip("unprivileged", "permissions do not stop root");
        return;
    }
    let set = |mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        fs_err::set_permissions(folder.path(), mode).unwrap();
    };
    set(0o500);
    let mut store = Store::open(folder.path()).unwrap();
    assert!(store.reading().is_ok());
    let LockedIndex::Whole(_, alone) = store.alone().unwrap() else { panic!("whole") };
    assert!(matches!(store.writing(alone), Err(StoreError::Unwritable(_))));
    assert!(store.reading().is_ok());
    set(0o700);
}

fn identity(dimensions: usize) -> anemone_embed::ModelIdentity {
    let (provider, model) = ("test".to_owned(), "m".to_owned());
    anemone_embed::ModelIdentity { provider, model, dimensions }
}

#[test]
fn vectors_of_a_set_are_of_one_model_and_go_with_their_document() {
    let (_folder, mut store) = filled(&[document("a.md", "1\n2\n"), document("b.md", "3\n")]);
    let put = |store: &mut Store, slot, dimensions, vectors: &[(ChunkId, Vec<u8>)]| {
        let seal = store.reading().unwrap().seal().clone();
        assert!(store.put_vectors(slot, &identity(dimensions), vectors, &seal).unwrap());
    };
    let read = |store: &Store, dimensions| {
        let mut vectors = Vec::new();
        let reading = store.reading().unwrap();
        let Some(set) = reading.set_of(&identity(dimensions)).unwrap() else { return vectors };
        let mut each = |id: ChunkId, bytes: &[u8]| vectors.push((id.0, bytes.to_vec()));
        reading.vectors(set.slot, &mut each).unwrap();
        assert_eq!(set.chunks, vectors.len() as u64);
        vectors
    };
    let some = [(ChunkId(0), vec![7]), (ChunkId(2), vec![9]), (ChunkId(99), vec![1])];
    put(&mut store, Slot::Model, 2, &some);
    put(&mut store, Slot::Static, 8, &some[..1]);
    assert_eq!(read(&store, 2), [(0, vec![7]), (2, vec![9])]);
    assert!(read(&store, 3).is_empty());
    assert_eq!(read(&store, 8), [(0, vec![7])]);
    fill(&mut store, &[document("a.md", "other\n")]);
    assert_eq!(read(&store, 2), [(2, vec![9])]);
    assert!(read(&store, 8).is_empty());
    put(&mut store, Slot::Static, 8, &some[1..]);
    put(&mut store, Slot::Model, 3, &[(ChunkId(2), vec![4])]);
    assert_eq!((read(&store, 2).len(), read(&store, 3)), (0, vec![(2, vec![4])]));
    assert_eq!(read(&store, 8), [(2, vec![9])]);
}

#[test]
fn vectors_of_an_index_that_somebody_changed_are_not_kept() {
    let (folder, mut store) = filled(&[document("a.md", "1\n2\n")]);
    let seal = store.reading().unwrap().seal().clone();
    let mut other = Store::open(folder.path()).unwrap();
    other.begin_anew("asked");
    fill(&mut other, &[document("b.md", "3\n")]);
    let vectors = [(ChunkId(0), vec![7])];
    assert!(!store.put_vectors(Slot::Model, &identity(1), &vectors, &seal).unwrap());
    assert!(store.reading().unwrap().sets().unwrap().is_empty());
}

#[test]
fn a_damaged_cache_of_embeddings_is_begun_anew() {
    let (folder, mut store) = filled(&[]);
    let path = folder.path().join("embeddings.sqlite");
    let two = identity(2);
    let many: Vec<([u8; 32], Vec<f32>)> =
        (0..200_u8).map(|n| ([n; 32], vec![f32::from(n), 1.0])).collect();
    for damage in 0..5 {
        store.cache_vectors(&two, &many).unwrap();
        let hashes: Vec<[u8; 32]> = many.iter().map(|known| known.0).collect();
        assert!(store.cached_vectors(&two, &hashes).unwrap().iter().all(Option::is_some));
        assert!(store.cached_vectors(&identity(3), &hashes).unwrap().iter().all(Option::is_none));
        let mut bytes = fs_err::read(&path).unwrap();
        match damage {
            0 => fs_err::write(&path, b"no database at all, but longer than its header").unwrap(),
            1 => fs_err::write(&path, &bytes[..bytes.len() / 2]).unwrap(),
            2 => {
                for byte in bytes.iter_mut().skip(200).step_by(97) {
                    *byte ^= 0xff;
                }
                fs_err::write(&path, &bytes).unwrap();
            }
            3 => {
                fs_err::remove_file(&path).unwrap();
                fs_err::create_dir(&path).unwrap();
            }
            _ => fs_err::remove_file(&path).unwrap(),
        }
        for (known, found) in many.iter().zip(store.cached_vectors(&two, &hashes).unwrap()) {
            assert!(found.is_none_or(|found| found == known.1));
        }
    }
}

#[test]
fn readers_see_one_state_while_others_write() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    let state = |turn: usize| {
        let word = format!("turn{turn} common\n");
        [document("a.md", &word), document("b.md", &word.repeat(1 + turn % 3))]
    };
    fill(&mut store, &state(0));
    let path = folder.path();
    std::thread::scope(|scope| {
        for writer in 0..2 {
            scope.spawn(move || {
                let mut store = Store::open(path).unwrap();
                for turn in 0..8 {
                    fill(&mut store, &state(writer * 8 + turn));
                }
            });
        }
        for _ in 0..6 {
            scope.spawn(|| {
                let store = Store::open(path).unwrap();
                for _ in 0..40 {
                    let reading = store.reading().unwrap();
                    let all = found(&reading, "common", 10, None);
                    assert_eq!(all.len() as u64, reading.statistics().chunks);
                    let text = reading.text(ChunkId(first_chunk(&reading))).unwrap();
                    let turn = text.split(' ').next().unwrap();
                    assert_eq!(found(&reading, turn, 10, None).len(), all.len());
                }
            });
        }
    });
}

fn first_chunk(view: &View) -> u64 {
    view.db
        .query_row("SELECT min(id) FROM chunk", [], |r| r.get::<_, i64>(0))
        .unwrap()
        .cast_unsigned()
}

#[test]
fn a_store_can_be_asked_by_many_threads() {
    fn check<T: Send + Sync>() {}
    check::<Store>();
    let (_folder, store) = filled(&corpus(30, 8));
    let expected = find(&store, "w0 w12", 20);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..20).for_each(|_| assert_eq!(find(&store, "w0 w12", 20), expected)));
        }
    });
    // Two views at once, by one thread.
    let (one, two) = (store.reading().unwrap(), store.reading().unwrap());
    assert_eq!(one.statistics(), two.statistics());
}

#[test]
fn links_in_its_place_lead_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().join("outside");
    let inside = folder.path().join("index");
    fs_err::create_dir(&inside).unwrap();
    fs_err::write(&outside, "mine").unwrap();
    drop(Store::open(&inside).unwrap());
    for name in ["index.sqlite", "vectors.sqlite", "seal.json", "lexical", "embeddings.sqlite"] {
        fs_err::os::unix::fs::symlink(&outside, inside.join(name)).unwrap();
    }
    let mut store = Store::open(&inside).unwrap();
    fill(&mut store, &corpus(3, 1));
    store.cache_vectors(&identity(1), &[([0; 32], vec![1.0])]).unwrap();
    assert!(store.reading().is_ok());
    assert_eq!(fs_err::read_to_string(&outside).unwrap(), "mine");

    drop(store);
    fs_err::remove_file(inside.join("lock")).unwrap();
    fs_err::os::unix::fs::symlink(folder.path().join("made"), inside.join("lock")).unwrap();
    assert!(matches!(Store::open(&inside), Err(StoreError::Unwritable(_))));
    assert!(!folder.path().join("made").exists());
}
