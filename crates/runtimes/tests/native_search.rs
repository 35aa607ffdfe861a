//! The rankings of runtimes over an index: filters apply, and vectors are computed once.

#![expect(clippy::unwrap_used, reason = "what does not hold in a test may panic")]

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use anemone_embed::{Effort, EmbedError, Embedder, ModelIdentity, Purpose};
use anemone_index::{
    AnswerNote, CarriedVector, Document, DocumentSource, FileStamp, Hit, Index, Listing,
    NoProgress, RankingChoice, RankingSetting, RankingTuning, Request, SkippedDocument,
    SourceEntry, SourceError, markdown_document,
};
use anemone_runtimes::ranking_profiles;
use jiff::Timestamp;

/// Long after the stamps of all notes, so that stamps are trusted.
const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);
const DIMENSIONS: usize = 8;

/// Notes in memory, and vectors that come with them.
#[derive(Default)]
struct Notes {
    texts: Vec<(String, String)>,
    carried: Vec<CarriedVector>,
}

impl Notes {
    fn put(&mut self, path: &str, text: &str) {
        self.texts.push((path.to_owned(), text.to_owned()));
    }
}

impl DocumentSource for Notes {
    fn identity(&self) -> String {
        "notes".to_owned()
    }

    fn list(&self) -> Result<Listing, SourceError> {
        let entry = |(path, text): &(String, String)| {
            let size = text.len() as u64;
            let stamp = FileStamp { size, modified_ns: 1, changed_ns: 1, inode: 1 };
            SourceEntry { key: path.clone(), stamp }
        };
        let mut entries: Vec<SourceEntry> = self.texts.iter().map(entry).collect();
        entries.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(Listing { entries, skipped: Vec::new() })
    }

    fn load(
        &self,
        entry: &SourceEntry,
        each: &mut dyn FnMut(Document),
    ) -> Result<Vec<SkippedDocument>, SourceError> {
        for (path, text) in self.texts.iter().filter(|(path, _)| *path == entry.key) {
            each(Document { text: text.clone(), ..markdown_document(path) });
        }
        Ok(Vec::new())
    }

    fn carried(
        &self,
        _: &ModelIdentity,
        each: &mut dyn FnMut(CarriedVector),
    ) -> Result<(), SourceError> {
        self.carried.iter().cloned().for_each(each);
        Ok(())
    }
}

/// Counts the texts that it is given.
struct Counter {
    identity: ModelIdentity,
    effort: Effort,
    texts: AtomicUsize,
}

impl Counter {
    fn new(model: &str, effort: Effort) -> Self {
        let (provider, model) = ("test".to_owned(), model.to_owned());
        let identity = ModelIdentity { provider, model, dimensions: DIMENSIONS };
        Self { identity, effort, texts: AtomicUsize::new(0) }
    }

    fn texts(&self) -> usize {
        self.texts.load(Ordering::Relaxed)
    }
}

fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSIONS];
    text.bytes().for_each(|byte| vector[usize::from(byte) % DIMENSIONS] += 1.0);
    vector
}

impl Embedder for Counter {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn effort(&self) -> Effort {
        self.effort
    }

    fn embed(&self, texts: &[&str], _purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.texts.fetch_add(texts.len(), Ordering::Relaxed);
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
}

fn refreshed(folder: &Path, notes: &Notes) -> Index {
    let mut index = Index::open(folder).unwrap();
    index.refresh(&[notes], NOW, &NoProgress).unwrap();
    index
}

fn request(query: &str, profile: RankingChoice) -> Request {
    Request { profile, limit: 20, ..Request::new(query, NOW) }
}

fn paths(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.path.as_str()).collect()
}

#[test]
fn filters_hold_for_every_profile() {
    let mut notes = Notes::default();
    for day in 1..=9 {
        let text = format!("# Day {day}\n\n- We drank tea number {day} with Maria.\n");
        notes.put(&format!("memory/2026-01-0{day}.md"), &text);
        notes.put(&format!("memory/other{day}.md"), "- Nobody said anything about it.\n");
    }
    notes.put("memory/undated.md", "- Tea is good.\n");
    let folder = tempfile::tempdir().unwrap();
    let index = refreshed(folder.path(), &notes);
    for profile in ranking_profiles().map(RankingChoice::Other).chain([RankingChoice::Anemone]) {
        let ask = |change: &dyn Fn(&mut Request)| {
            let mut request = request("tea", profile);
            change(&mut request);
            index.search(&request, &[]).unwrap().hits
        };
        let name = profile.name();
        let all = ask(&|_| ());
        let is_there = |hits: &[Hit]| all.is_empty() || !hits.is_empty();
        let hits = ask(&|request| request.paths = vec!["memory/2026-01-02.md".to_owned()]);
        assert!(is_there(&hits), "{name}");
        let is_meant = hits.iter().all(|hit| hit.path == "memory/2026-01-02.md");
        assert!(is_meant, "{name}: {:?}", paths(&hits));
        let hits = ask(&|request| request.since = Some(jiff::civil::date(2026, 1, 8)));
        assert!(is_there(&hits), "{name}");
        let late = ["memory/2026-01-08.md", "memory/2026-01-09.md"];
        assert!(paths(&hits).iter().all(|path| late.contains(path)), "{name}: {:?}", paths(&hits));
        let hits = ask(&|request| request.until = Some(jiff::civil::date(2026, 1, 1)));
        assert!(paths(&hits).iter().all(|path| *path == "memory/2026-01-01.md"), "{name}");
        for change in [
            &(|request: &mut Request| request.namespaces = vec!["nowhere".to_owned()])
                as &dyn Fn(&mut _),
            &|request: &mut Request| request.types = vec!["procedural".to_owned()],
            &|request: &mut Request| request.paths = vec!["elsewhere".to_owned()],
        ] {
            assert_eq!(paths(&ask(change)), [""; 0], "{name}");
        }
    }
}

#[test]
fn a_profile_finds_the_vectors_of_its_own_chunks() {
    let entry = "- The red car stands in the yard.";
    let text = format!("# Memory\n\n{entry}\n- Bread is on the table.\n");
    for profile in ranking_profiles() {
        // One program stores each entry by itself, the others the whole text.
        let mut chunks: Vec<String> = Vec::new();
        let document = Document { text: text.clone(), ..markdown_document("MEMORY.md") };
        let tuning = RankingTuning::default();
        profile.each_text(&document, &tuning, &mut |chunk| chunks.push(chunk.to_owned()));
        assert!(chunks.contains(&text) || chunks.contains(&entry.to_owned()), "{chunks:?}");

        let folder = tempfile::tempdir().unwrap();
        let mut notes = Notes::default();
        notes.put("MEMORY.md", &text);
        let mut index = refreshed(folder.path(), &notes);
        let request = request("automobile", RankingChoice::Other(profile));
        let fresh = Counter::new("fresh", Effort::Work);
        let primed = Counter::new("primed", Effort::Work);
        index.search(&request, &[&fresh]).unwrap();
        notes.carried.push(CarriedVector::of(&chunks[0], vector(&chunks[0])));
        let taken = index.take_carried_for(&request, &primed.identity, &[&notes]).unwrap();
        assert_eq!(taken.taken, 1, "{}", profile.name());
        index.search(&request, &[&primed]).unwrap();
        assert_eq!(primed.texts() + 1, fresh.texts(), "{}", profile.name());
        let again = index.take_carried_for(&request, &primed.identity, &[&notes]).unwrap();
        assert_eq!(again.taken, 0, "{}", profile.name());
    }
}

#[test]
fn a_profile_embeds_a_text_once() {
    let mut notes = Notes::default();
    notes.put("memory/2026-01-01.md", "- The red car stands in the yard.\n");
    notes.put("memory/2026-01-02.md", "- The doctor comes on Monday.\n");
    let folder = tempfile::tempdir().unwrap();
    let index = refreshed(folder.path(), &notes);
    for profile in ranking_profiles() {
        let costly = Counter::new(profile.name(), Effort::Work);
        let request = request("automobile", RankingChoice::Other(profile));
        let first = index.search(&request, &[&costly]).unwrap();
        let before = costly.texts();
        assert!(before > 1, "{}", profile.name());
        let second = index.search(&request, &[&costly]).unwrap();
        assert_eq!((first.hits, costly.texts()), (second.hits, before + 1), "{}", profile.name());
        let free = Counter::new("table", Effort::Trivial);
        index.search(&request, &[&free]).unwrap();
        let before = free.texts();
        index.search(&request, &[&free]).unwrap();
        assert_eq!(free.texts(), 2 * before);
    }
}

#[test]
fn a_setting_that_a_ranking_does_not_take_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut notes = Notes::default();
    notes.put("MEMORY.md", "- The red car stands in the yard.\n");
    let index = refreshed(folder.path(), &notes);
    let unused = |name: &str| {
        let other = ranking_profiles().find(|profile| profile.name() == name);
        let ranking = other.map_or(RankingChoice::Anemone, RankingChoice::Other);
        let mut asked = request("car", ranking);
        (asked.recency_half_life, asked.diversity) = (Some(30.0), Some(0.7));
        (asked.importance, asked.min_score) = (true, Some(0.1));
        (asked.tuning.vector_weight, asked.tuning.chunk_tokens) = (Some(0.5), Some(100));
        let notes = index.search(&asked, &[]).unwrap().notes;
        notes.iter().find_map(AnswerNote::unused).unwrap_or_default().to_vec()
    };
    use RankingSetting::{ChunkTokens, Diversity, Importance, Recency, VectorWeight};
    assert_eq!(unused("anemone"), [VectorWeight, ChunkTokens]);
    assert_eq!(unused("openclaw-2026.2"), [Importance]);
    assert_eq!(unused("openclaw-2026.3"), [Importance]);
    let fixed = [Recency, Importance, Diversity, VectorWeight, ChunkTokens];
    assert_eq!(unused("openclaw-2026.9"), fixed);
    assert_eq!(unused("zeroclaw"), [Recency, Importance, Diversity, ChunkTokens]);
    let plain = index.search(&request("car", RankingChoice::Anemone), &[]).unwrap().notes;
    assert_eq!(plain.iter().find_map(AnswerNote::unused), None);
}
