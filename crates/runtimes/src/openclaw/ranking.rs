//! OpenClaw's ranking, of either generation.

mod age;
mod chunks;
mod corpus;
mod excerpt;
#[cfg(test)]
mod golden_tests;
mod keywords;
mod march;
mod script;
mod september;
mod spread;
#[cfg(test)]
mod tuning_tests;

use std::ops::Range;

use anemone_embed::Embedder;
use anemone_index::{
    Answer, AnswerNote, Document, Explanation, Hit, ProfileError, Rankers, RankingProfile,
    RankingSetting, RankingTuning, Request, embed_texts,
};

use crate::kit::{
    ExcerptAnswer, ExcerptQuestion, ExcerptShape, NativeChunk, NativeChunker, NativeSearch,
};
use chunks::{ChunkSize, Generation, openclaw_chunks};
use corpus::{Corpus, source_of};
use excerpt::{MemoryGet3, MemoryGet9};

/// How OpenClaw searches.
pub(super) const NATIVE_SEARCH: NativeSearch = NativeSearch {
    profiles: &[&FEBRUARY, &MARCH, &SEPTEMBER],
    chunkers: &[
        NativeChunker {
            name: MARCH.name,
            title: "OpenClaw 2026.3",
            cut: |document| cut(document, Generation::Three),
        },
        NativeChunker {
            name: SEPTEMBER.name,
            title: "OpenClaw 2026.9",
            cut: |document| cut(document, Generation::Nine),
        },
    ],
    excerpts: &[
        ExcerptShape { name: MARCH.name, title: "OpenClaw 2026.3", answer: march_excerpt },
        ExcerptShape { name: SEPTEMBER.name, title: "OpenClaw 2026.9", answer: september_excerpt },
    ],
};

/// The ranking of February 2026: that of March with another score of words.
const FEBRUARY: Profile = Profile {
    name: "openclaw-2026.2",
    generation: Generation::Three,
    score_of_rank: first_score_of_rank,
};
/// The ranking of March 2026.
const MARCH: Profile =
    Profile { name: "openclaw-2026.3", generation: Generation::Three, score_of_rank };
/// The ranking of September 2026.
const SEPTEMBER: Profile =
    Profile { name: "openclaw-2026.9", generation: Generation::Nine, score_of_rank };

/// The model that OpenClaw names in the ids of chunks when it has no embeddings.
const NO_MODEL: &str = "fts-only";

/// The score that a hit must have, unless no hit has it.
const MIN_SCORE: f64 = 0.35;
/// How much of a chunk is shown, in UTF-16 units.
const SNIPPET_UNITS: usize = 700;
/// The weight of vectors.
const VECTOR_WEIGHT: f64 = 0.7;
/// The weight of words.
const TEXT_WEIGHT: f64 = 0.3;
/// The most words of a query that are compared; each costs a lookup.
const MAX_WORDS: usize = 256;

/// A chunk that was selected.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SelectedChunk {
    /// Which chunk of the corpus.
    chunk: usize,
    score: f64,
    text: f64,
    vector: Option<f64>,
}

/// The ranking of one generation.
struct Profile {
    name: &'static str,
    generation: Generation,
    score_of_rank: fn(f64) -> f64,
}

impl RankingProfile for Profile {
    fn name(&self) -> &'static str {
        self.name
    }

    fn minimum_score(&self) -> Option<f64> {
        // September shows weaker hits when there are no others.
        match self.generation {
            Generation::Three => Some(MIN_SCORE),
            Generation::Nine => None,
        }
    }

    fn settings(&self) -> &'static [RankingSetting] {
        use RankingSetting as Setting;
        match self.generation {
            Generation::Three => &[
                Setting::Recency,
                Setting::Diversity,
                Setting::MinScore,
                Setting::VectorWeight,
                Setting::TextWeight,
                Setting::CandidateMultiplier,
                Setting::ChunkTokens,
                Setting::ChunkOverlap,
            ],
            // The rest became fixed: age and difference always count.
            Generation::Nine => &[Setting::MinScore],
        }
    }

    fn each_text(&self, document: &Document, tuning: &RankingTuning, take: &mut dyn FnMut(&str)) {
        if corpus::is_read(document, self.generation) {
            let (generation, size) = (self.generation, self.chunk_size(tuning));
            let chunks = openclaw_chunks(&document.path, &document.text, generation, size);
            chunks.iter().for_each(|chunk| take(&chunk.text));
        }
    }

    fn answer(
        &self,
        documents: &[Document],
        request: &Request,
        embedder: Option<&dyn Embedder>,
    ) -> Result<Answer, ProfileError> {
        let model = embedder.map_or(NO_MODEL, |embedder| embedder.identity().model.as_str());
        let size = self.chunk_size(&request.tuning);
        let corpus = Corpus::of_documents(documents, self.generation, size, model)
            .map_err(|source| ProfileError::Tables { profile: self.name, source })?;
        let query = script::trimmed(&request.query);
        let texts = corpus.chunks.iter().map(|chunk| chunk.text.as_str());
        let (vectors, rankers) =
            if query.is_empty() { (None, Vec::new()) } else { embed_texts(embedder, query, texts) };
        let (limit, vectors) = (request.limit, vectors.as_ref());
        let found = match self.generation {
            Generation::Three => {
                let settings = march::Settings::of(request, self.score_of_rank);
                march::search(&corpus, query, &settings, vectors)
            }
            Generation::Nine => {
                let min_score = request.min_score.unwrap_or(MIN_SCORE);
                september::search(&corpus, query, limit, min_score, request.now, vectors)
            }
        };
        Ok(Answer {
            hits: found.into_iter().map(|selected| hit(&corpus, selected, request)).collect(),
            rankers: Rankers { lexical: true, vectors: rankers },
            notes: if query.is_empty() { vec![AnswerNote::NothingAsked] } else { Vec::new() },
        })
    }
}

impl Profile {
    fn chunk_size(&self, tuning: &RankingTuning) -> ChunkSize {
        match self.generation {
            Generation::Three => ChunkSize::of(tuning),
            Generation::Nine => ChunkSize::default(),
        }
    }
}

fn cut(document: &Document, generation: Generation) -> Vec<NativeChunk> {
    let size = ChunkSize::default();
    let chunks = openclaw_chunks(&document.path, &document.text, generation, size);
    chunks
        .into_iter()
        .map(|chunk| NativeChunk {
            id: chunk.id(source_of(document), &document.path, NO_MODEL),
            start_line: chunk.start_line,
            end_line: chunk.end_line,
            chars: chunk.text.chars().count() as u64,
            hash: chunk.hash,
        })
        .collect()
}

fn march_excerpt(question: &ExcerptQuestion<'_>) -> ExcerptAnswer {
    let ExcerptQuestion { path, text, from, lines } = *question;
    serde_json::value::to_raw_value(&MemoryGet3::of(path, text, from, lines))
}

fn september_excerpt(question: &ExcerptQuestion<'_>) -> ExcerptAnswer {
    let ExcerptQuestion { path, text, from, lines } = *question;
    serde_json::value::to_raw_value(&MemoryGet9::of(path, text, from, lines, None))
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

/// As [`score_of_rank`], until February 2026. Ranks of FTS5 are negative, so every text that matches
/// gets the same score.
fn first_score_of_rank(rank: f64) -> f64 {
    let rank = if rank.is_finite() { rank.max(0.0) } else { 999.0 };
    1.0 / (1.0 + rank)
}

/// Returns the hit of a selected chunk.
fn hit(corpus: &Corpus<'_>, selected: SelectedChunk, request: &Request) -> Hit {
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

/// Returns the byte range of lines in a text, without the last line break.
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
