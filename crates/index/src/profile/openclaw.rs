//! OpenClaw's ranking, of either generation.

pub(super) mod march;
pub(super) mod september;

mod age;
mod corpus;
#[cfg(test)]
mod golden;
mod keywords;
mod script;
mod spread;

use std::ops::Range;

use crate::document::Document;
use crate::outline::openclaw::{Generation, openclaw_chunks};
use crate::request::{Explanation, Hit, Request};
use corpus::Corpus;

/// What a hit must score, unless nothing does.
const MIN_SCORE: f64 = 0.35;
/// How much of a chunk is shown, in UTF-16.
const SNIPPET_UNITS: usize = 700;
/// What vectors count for.
const VECTOR_WEIGHT: f64 = 0.7;
/// What words count for.
const TEXT_WEIGHT: f64 = 0.3;
/// Words of a query that are compared, at most: nobody types more, and each costs a look.
const MAX_WORDS: usize = 256;

/// A chunk that was selected.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Selected {
    /// Which chunk of the corpus.
    chunk: usize,
    score: f64,
    text: f64,
    vector: Option<f64>,
}

/// Hands out the texts of a document that get vectors.
pub(super) fn each_text(document: &Document, generation: Generation, take: &mut dyn FnMut(&str)) {
    if corpus::is_read(document, generation) {
        let chunks = openclaw_chunks(&document.path, &document.text, generation);
        chunks.iter().for_each(|it| take(&it.text));
    }
}

/// Returns the FTS5 query for all of these words.
fn all_of<'a>(words: impl Iterator<Item = &'a str>) -> Option<String> {
    let quoted: Vec<String> = words.take(MAX_WORDS).map(|word| format!("\"{word}\"")).collect();
    (!quoted.is_empty()).then(|| quoted.join(" AND "))
}

/// Turns a rank of FTS5, which is better the lower it is, into a score from 0 to 1.
fn score_of_rank(rank: f64) -> f64 {
    if !rank.is_finite() {
        0.001
    } else if rank < 0.0 {
        -rank / (1.0 - rank)
    } else {
        1.0 / (1.0 + rank)
    }
}

/// Returns the hit of a selected chunk.
fn hit(corpus: &Corpus<'_>, selected: Selected, request: &Request) -> Hit {
    let chunk = &corpus.chunks[selected.chunk];
    let document = corpus.document_of(selected.chunk);
    let explanation = request.explain.then(|| {
        let mut parts = vec![("textScore", selected.text)];
        parts.extend(selected.vector.map(|vector| ("vectorScore", vector)));
        Explanation { parts, terms: Vec::new() }
    });
    Hit {
        path: document.path.clone(),
        start_line: chunk.start_line,
        end_line: chunk.end_line,
        bytes: bytes_of_lines(&document.text, chunk.start_line, chunk.end_line),
        headings: Vec::new(),
        date: document.date,
        score: selected.score,
        is_weak: false,
        is_open: false,
        similar: 0,
        text: script::prefix(&chunk.text, SNIPPET_UNITS.min(request.snippet_chars)).to_owned(),
        matches: Vec::new(),
        memory_type: document.memory_type.clone(),
        namespace: document.namespace.clone(),
        importance: document.importance,
        provenance: document.provenance.clone(),
        explanation,
    }
}

/// Where lines lie in a text, without the last line break.
fn bytes_of_lines(text: &str, first: u32, last: u32) -> Range<usize> {
    let skip = |lines: u32| match lines {
        0 => Some(0),
        lines => {
            text.match_indices('\n').nth(lines as usize - 1).map(|(at, _)| at.saturating_add(1))
        }
    };
    let start = skip(first.saturating_sub(1)).unwrap_or(text.len());
    let end = skip(last).map_or(text.len(), |next| next.saturating_sub(1));
    start..end.max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_becomes_a_score() {
        assert_eq!(score_of_rank(-1.0), 0.5);
        assert_eq!(score_of_rank(-3.0), 0.75);
        assert_eq!(score_of_rank(0.0), 1.0);
        assert_eq!(score_of_rank(1.0), 0.5);
        assert_eq!(score_of_rank(f64::NAN), 0.001);
    }

    #[test]
    fn a_query_asks_for_all_words_and_signs_never_reach_fts5() {
        assert_eq!(
            all_of(script::words("a-b \"c*\" (d)")).unwrap(),
            r#""a" AND "b" AND "c" AND "d""#
        );
        assert_eq!(all_of(script::words("?! \u{0}")), None);
    }

    #[test]
    fn lines_are_found_in_the_text() {
        let text = "one\ntwo\nthree\n";
        assert_eq!(&text[bytes_of_lines(text, 1, 1)], "one");
        assert_eq!(&text[bytes_of_lines(text, 2, 3)], "two\nthree");
        assert_eq!(bytes_of_lines(text, 3, 4), 8..14);
        assert_eq!(bytes_of_lines(text, 9, 9), 14..14);
        assert_eq!(bytes_of_lines(text, 0, 0), 0..0);
    }
}
