//! The formulas of the documents in `docs/seeds.md`, by arithmetic: chunks, scores and candidates.

#![expect(clippy::unwrap_used, reason = "what does not hold in a test may panic")]

use anemone_embed::{Effort, EmbedError, Embedder, ModelIdentity, Purpose};
use anemone_format::{Moment, Origin, ProvenanceStamp};
use anemone_index::{Document, Hit, RankingProfile, Request};
use anemone_memory::{Category, Clock, NewEntry, RowDraft};
use anemone_runtimes::{by_name, native_chunkers, ranking_profiles};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use uuid::Uuid;

const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

fn profile(name: &str) -> &'static dyn RankingProfile {
    ranking_profiles().find(|profile| profile.name() == name).unwrap()
}

fn document(path: &str, text: &str) -> Document {
    Document { path: path.to_owned(), text: text.to_owned(), ..Document::default() }
}

/// Gives a text that ends in `cosine=N` that cosine to every query.
struct StatedCosine(ModelIdentity);

impl StatedCosine {
    fn new() -> Self {
        let (provider, model) = ("test".to_owned(), "stated".to_owned());
        Self(ModelIdentity { provider, model, dimensions: 2 })
    }
}

impl Embedder for StatedCosine {
    fn identity(&self) -> &ModelIdentity {
        &self.0
    }

    fn effort(&self) -> Effort {
        Effort::Trivial
    }

    fn embed(&self, texts: &[&str], _purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vector = |text: &&str| match text.split_once("cosine=") {
            Some((_, number)) => {
                let cosine: f32 = number.trim().parse().unwrap();
                vec![cosine, (1.0 - cosine * cosine).sqrt()]
            }
            None => vec![1.0, 0.0],
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fn answer(name: &str, documents: &[Document], query: &str) -> Vec<Hit> {
    let mut request = Request::new(query, NOW);
    request.explain = true;
    profile(name).answer(documents, &request, Some(&StatedCosine::new())).unwrap().hits
}

fn part(hit: &Hit, name: &str) -> f64 {
    let parts = &hit.explanation.as_ref().unwrap().parts;
    parts.iter().find(|(known, _)| *known == name).unwrap().1
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-5
}

/// 400 tokens are 1,600 characters and 80 are 320. A line here has 80 with its line break, so a
/// chunk has 20 lines and repeats 4.
#[test]
fn chunks_have_400_tokens_and_repeat_80_by_whole_lines() {
    let chunker = native_chunkers().find(|chunker| chunker.name == "openclaw-2026.3").unwrap();
    let lines: Vec<String> = (0..60).map(|number| format!("{number:079}")).collect();
    let text = lines.join("\n");
    let chunks = (chunker.cut)(&document("memory/long.md", &text));
    let found: Vec<(u32, u32)> =
        chunks.iter().map(|chunk| (chunk.start_line, chunk.end_line)).collect();
    assert_eq!(found, [(1, 20), (17, 36), (33, 52), (49, 60)]);
    for chunk in &chunks {
        assert!(chunk.chars <= 1_600, "{chunk:?}");
        let (start, end) = (chunk.start_line as usize, chunk.end_line as usize);
        let text = lines[start - 1..end].join("\n");
        assert_eq!(chunk.hash, anemone_format::sha256_hex(text.as_bytes()));
    }
}

#[test]
fn a_score_is_seven_tenths_of_the_vector_and_three_of_the_words() {
    let documents = [
        document("memory/both.md", "The kettle whistles. cosine=0.8"),
        document("memory/vector.md", "Something else. cosine=0.9"),
        document("memory/third.md", "Another thing. cosine=0.1"),
    ];
    let hits = answer("openclaw-2026.3", &documents, "kettle");
    let of = |path: &str| hits.iter().find(|hit| hit.path == path).unwrap();
    let both = of("memory/both.md");
    let words = part(both, "textScore");
    assert!(words > 0.0 && near(part(both, "vectorScore"), 0.8), "{both:?}");
    assert!(near(both.score, 0.7 * 0.8 + 0.3 * words), "{both:?}");
    assert!(near(of("memory/vector.md").score, 0.7 * 0.9), "{hits:?}");
}

/// Six results times four are 24 candidates of the vectors. The only document with the word has a
/// cosine that counts when it is the 24th nearest, and does not when it is the 25th.
#[test]
fn four_times_as_many_candidates_as_results_come_from_each_side() {
    let among = |place: u32| {
        let text = |at: u32| {
            let word = if at == place { "kettle" } else { "cup" };
            format!("A {word}. cosine={}", 0.6 - 0.002 * f64::from(at))
        };
        let documents: Vec<Document> =
            (1..=40).map(|at| document(&format!("memory/{at}.md"), &text(at))).collect();
        answer("openclaw-2026.3", &documents, "kettle")
    };
    let hits = among(24);
    assert_eq!(hits.len(), 6);
    assert_eq!(hits[0].path, "memory/24.md");
    assert!(near(part(&hits[0], "vectorScore"), 0.6 - 0.048), "{:?}", hits[0]);
    let same = hits.iter().filter(|hit| hit.path == hits[0].path).count();
    assert_eq!(same, 1, "a chunk that both sides found is one result");
    let hits = among(25);
    assert_eq!(hits.len(), 6);
    assert!(hits.iter().all(|hit| hit.path != "memory/25.md"), "{hits:?}");
}

#[test]
fn a_row_is_weighed_seven_to_three_and_the_weights_add_up_to_one() {
    let documents = [
        document("memories/both", "The kettle whistles. cosine=0.5"),
        document("memories/all", "kettle kettle kettle cosine=1.0"),
        document("memories/vector", "Something else. cosine=0.9"),
    ];
    let hits = answer("zeroclaw", &documents, "kettle");
    let of = |path: &str| hits.iter().find(|hit| hit.path == path).unwrap();
    let both = of("memories/both");
    let words = part(both, "keyword");
    assert!(words > 0.0 && words < 1.0, "{both:?}");
    assert!(near(both.score, 0.7 * 0.5 + 0.3 * words), "{both:?}");
    // The best by both is 0.7 of 1 and 0.3 of 1.
    assert_eq!(hits[0].path, "memories/all");
    assert!(near(hits[0].score, 1.0), "{:?}", hits[0]);
}

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        NOW
    }

    fn zone(&self) -> TimeZone {
        TimeZone::UTC
    }

    #[expect(clippy::disallowed_methods, reason = "each row has an id of its own")]
    fn fresh_id(&self) -> Uuid {
        Uuid::now_v7()
    }
}

#[test]
fn a_stored_row_has_a_uuid() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("brain.db");
    let memory = by_name("zeroclaw").unwrap();
    let rows = memory.memory_rows(&path, "default", Box::new(Still)).unwrap();
    let entry = |key: &str| {
        let stamp = ProvenanceStamp::new(Still.fresh_id(), Origin::Agent, Moment::from(NOW));
        let (text, key) = ("text".to_owned(), Some(key.to_owned()));
        let given = NewEntry { text, key, label: None, tags: Vec::new(), stamp };
        RowDraft { given, category: Category::Core, vector: None }
    };
    rows.put(&[entry("one"), entry("two")], &mut |_| Ok(())).unwrap();
    let stored = rows.entries().unwrap();
    let ids: Vec<Uuid> = stored.iter().map(|entry| entry.id.parse().unwrap()).collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
}
