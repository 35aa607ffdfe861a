//! What the program's own settings change. The expected numbers follow from its published formulas.

use anemone_index::{Document, Hit, RankingProfile, RankingTuning, Request};
use jiff::Timestamp;

use super::golden_tests::Bag;
use super::{FEBRUARY, MARCH, Profile, SEPTEMBER};

const NOW: &str = "2026-01-31T00:00:00Z";

fn documents(files: &[(&str, &str)]) -> Vec<Document> {
    let document = |&(path, text): &(&str, &str)| Document {
        path: path.to_owned(),
        text: text.to_owned(),
        ..Document::default()
    };
    files.iter().map(document).collect()
}

/// One topic in a curated file, a daily log that is 30 days old, a note of that day, and others.
fn notes() -> Vec<Document> {
    documents(&[
        ("MEMORY.md", "the harbour crane was painted"),
        ("memory/2026-01-01.md", "the harbour crane was repaired"),
        ("memory/2026-01-01-crane.md", "the harbour crane was sold"),
        ("memory/x1.md", "bread and butter"),
        ("memory/x2.md", "the cat sleeps"),
        ("memory/x3.md", "rain all day"),
        ("memory/x4.md", "nothing new"),
        ("memory/x5.md", "a letter came"),
    ])
}

fn request(query: &str) -> Request {
    Request {
        limit: 20,
        min_score: Some(0.0),
        explain: true,
        ..Request::new(query, NOW.parse::<Timestamp>().unwrap())
    }
}

fn hits(profile: &Profile, notes: &[Document], request: &Request, has_vectors: bool) -> Vec<Hit> {
    let bag = Bag::new();
    let embedder = has_vectors.then_some(&bag as &dyn anemone_embed::Embedder);
    profile.answer(notes, request, embedder).unwrap().hits
}

fn score_of(hits: &[Hit], path: &str) -> f64 {
    hits.iter().find(|hit| hit.path == path).unwrap().score
}

fn part(hit: &Hit, name: &str) -> f64 {
    let parts = &hit.explanation.as_ref().unwrap().parts;
    parts.iter().find(|part| part.0 == name).map_or(0.0, |part| part.1)
}

fn assert_near(one: f64, other: f64) {
    assert!((one - other).abs() < 1e-9, "{one} is not {other}");
}

#[test]
fn after_a_half_life_a_daily_log_of_march_counts_half_and_other_files_do_not_age() {
    for has_vectors in [false, true] {
        let fresh = hits(&MARCH, &notes(), &request("harbour crane"), has_vectors);
        let mut asked = request("harbour crane");
        asked.recency_half_life = Some(30.0);
        let aged = hits(&MARCH, &notes(), &asked, has_vectors);
        let share = |path| score_of(&aged, path) / score_of(&fresh, path);
        assert_near(share("memory/2026-01-01.md"), 0.5);
        assert_near(share("memory/2026-01-01-crane.md"), 1.0);
        assert_near(share("MEMORY.md"), 1.0);
        asked.recency_half_life = Some(10.0);
        let aged = hits(&MARCH, &notes(), &asked, has_vectors);
        assert_near(
            score_of(&aged, "memory/2026-01-01.md") / score_of(&fresh, "memory/2026-01-01.md"),
            0.125,
        );
    }
}

#[test]
fn march_moves_a_twin_down_when_asked() {
    let mut notes = notes();
    // The twin has the same words, and a third text is longer and has other words too.
    let twin = notes[0].text.clone();
    notes[1].text = twin;
    notes[2].text = "a long, very different tale of a lighthouse with a harbour crane".to_owned();
    for has_vectors in [false, true] {
        let paths = |lambda| {
            let asked = Request { diversity: lambda, ..request("harbour crane") };
            let found = hits(&MARCH, &notes, &asked, has_vectors);
            let with_words = found.into_iter().filter(|hit| part(hit, "textScore") > 0.0);
            with_words.map(|hit| hit.path).collect::<Vec<_>>()
        };
        let place = |paths: &[String], path| paths.iter().position(|other| other == path).unwrap();
        let (usual, spread) = (paths(None), paths(Some(0.1)));
        let twins = |paths: &[String]| {
            place(paths, "MEMORY.md").abs_diff(place(paths, "memory/2026-01-01.md"))
        };
        assert_eq!(twins(&usual), 1, "{usual:?}");
        assert_eq!(twins(&spread), 2, "{spread:?}");
        assert_eq!(paths(Some(1.0)), usual);
    }
}

#[test]
fn weights_of_march_are_scaled_to_a_sum_of_1() {
    for (vector_weight, text_weight, expected) in [
        (None, None, (0.7, 0.3)),
        (Some(0.2), Some(0.6), (0.25, 0.75)),
        (Some(1.0), Some(0.0), (1.0, 0.0)),
        (None, Some(0.7), (0.5, 0.5)),
        (Some(0.0), Some(0.0), (0.7, 0.3)),
        (Some(f64::NAN), Some(0.3), (0.7, 0.3)),
    ] {
        let mut asked = request("harbour crane");
        (asked.tuning.vector_weight, asked.tuning.text_weight) = (vector_weight, text_weight);
        let found = hits(&MARCH, &notes(), &asked, true);
        assert!(found.iter().any(|hit| part(hit, "textScore") > 0.0));
        for hit in found {
            let (vector, text) = (part(&hit, "vectorScore"), part(&hit, "textScore"));
            assert_near(hit.score, expected.0 * vector + expected.1 * text);
        }
    }
}

#[test]
fn in_february_every_text_that_matches_has_the_same_score_of_words() {
    let found = hits(&FEBRUARY, &notes(), &request("harbour crane"), true);
    let with_words: Vec<&Hit> = found.iter().filter(|hit| part(hit, "textScore") > 0.0).collect();
    assert_eq!(with_words.len(), 3);
    for hit in with_words {
        // 1 / (1 + max(0, rank)), and ranks are negative.
        assert_eq!(part(hit, "textScore"), 1.0);
        assert_near(hit.score, 0.7 * part(hit, "vectorScore") + 0.3);
    }
    let by_words = hits(&FEBRUARY, &notes(), &request("harbour crane"), false);
    assert!(by_words.iter().all(|hit| hit.score == 1.0) && by_words.len() == 3);
}

#[test]
fn the_floor_is_35_hundredths_unless_another_one_is_given() {
    let usual = Request { min_score: None, ..request("bread") };
    let found = hits(&MARCH, &notes(), &usual, true);
    assert!(!found.is_empty() && found.iter().all(|hit| hit.score >= 0.35), "{found:?}");
    let all = hits(&MARCH, &notes(), &request("bread"), true);
    assert!(all.len() > found.len());
    let strict = Request { min_score: Some(0.9999), ..request("bread") };
    let none = hits(&MARCH, &notes(), &strict, false);
    assert!(none.is_empty(), "{none:?}");
}

#[test]
fn chunks_have_the_size_that_is_asked_for() {
    let line = "one of many lines about a harbour\n";
    let notes = documents(&[("memory/a.md", &line.repeat(30))]);
    let sizes = |tokens, overlap| {
        let tuning = RankingTuning {
            chunk_tokens: tokens,
            chunk_overlap: overlap,
            ..RankingTuning::default()
        };
        let mut sizes = Vec::new();
        MARCH.each_text(&notes[0], &tuning, &mut |text| sizes.push(text.lines().count()));
        sizes
    };
    // 1,020 characters are fewer than 400 tokens of four.
    assert_eq!(sizes(None, None), [30]);
    // 35 characters a line: 40 tokens hold four lines, and 10 tokens repeat two of them.
    let small = sizes(Some(40), Some(10));
    assert!(small.len() > 10 && small.iter().all(|lines| *lines <= 4), "{small:?}");
    assert_eq!(sizes(Some(40), Some(0)).iter().sum::<usize>(), 30);
    // Settings without sense still end.
    assert!(!sizes(Some(0), Some(u32::MAX)).is_empty());
    assert_eq!(sizes(Some(u32::MAX), Some(u32::MAX)), [30]);
}

#[test]
fn candidates_are_a_multiple_of_the_hits() {
    let lines: Vec<String> = (0..40).map(|at| format!("note {at} of the harbour")).collect();
    let paths: Vec<String> = (0..40).map(|at| format!("memory/n{at:02}.md")).collect();
    let files: Vec<(&str, &str)> =
        paths.iter().zip(&lines).map(|(path, line)| (&**path, &**line)).collect();
    let notes = documents(&files);
    let count = |each| {
        let mut asked = Request { limit: 2, ..request("harbour") };
        asked.tuning.candidate_multiplier = each;
        // A chunk beyond the limit of candidates has no vector score.
        super::march::Settings::of(&asked, super::score_of_rank).candidates
    };
    assert_eq!((count(None), count(Some(1)), count(Some(20)), count(Some(999))), (8, 2, 40, 40));
    assert_eq!(hits(&MARCH, &notes, &Request { limit: 2, ..request("harbour") }, true).len(), 2);
}

#[test]
fn september_is_fixed() {
    let usual = hits(&SEPTEMBER, &notes(), &request("harbour crane"), true);
    let mut asked = request("harbour crane");
    asked.recency_half_life = Some(1.0);
    asked.diversity = Some(0.0);
    asked.tuning = RankingTuning {
        vector_weight: Some(0.0),
        text_weight: Some(1.0),
        candidate_multiplier: Some(1),
        chunk_tokens: Some(10),
        chunk_overlap: Some(0),
    };
    assert_eq!(hits(&SEPTEMBER, &notes(), &asked, true), usual);
}
