//! ZeroClaw's recall since 0.8.4.

use std::collections::BTreeMap;

use anemone_embed::Embedder;
use anemone_index::{
    Answer, AnswerNote, Document, Explanation, Hit, ProfileError, Rankers, RankingProfile,
    RankingSetting, RankingTuning, Request, TextVectors, embed_texts,
};
use anemone_memory::{ROWS, key_of_row_document};
use rusqlite::{Connection, Error, params};

use crate::kit::NativeSearch;

/// How ZeroClaw searches.
pub(super) const NATIVE_SEARCH: NativeSearch =
    NativeSearch { profiles: &[&RecallProfile], chunkers: &[], excerpts: &[] };

/// The weight of vectors.
const VECTOR_WEIGHT: f64 = 0.7;
/// The weight of words.
const KEYWORD_WEIGHT: f64 = 0.3;
/// Words of the last resort.
const LIKE_WORDS: usize = 8;
/// The most words of a query that are compared; each costs a lookup.
const MAX_WORDS: usize = 256;

/// The ranking.
struct RecallProfile;

impl RankingProfile for RecallProfile {
    fn name(&self) -> &'static str {
        "zeroclaw"
    }

    fn settings(&self) -> &'static [RankingSetting] {
        &[RankingSetting::MinScore, RankingSetting::VectorWeight, RankingSetting::TextWeight]
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
        let answer = answer(documents, request, embedder);
        answer.map_err(|source| ProfileError::Tables { profile: self.name(), source })
    }
}

/// One row of its table.
struct RecallRow<'a> {
    id: &'a str,
    key: String,
    content: &'a str,
    updated_at: &'a str,
    /// Superseded or private: it takes part in the ranking and is then left out.
    hidden: bool,
}

/// A row that was recalled.
#[derive(Clone, Debug, PartialEq)]
struct RankedRow {
    row: usize,
    /// The newest rows have no score.
    score: Option<f64>,
    keyword: Option<f32>,
    vector: Option<f32>,
}

/// Answers as ZeroClaw does.
fn answer(
    documents: &[Document],
    request: &Request,
    embedder: Option<&dyn Embedder>,
) -> Result<Answer, Error> {
    let rows: Vec<RecallRow<'_>> = documents.iter().map(row_of).collect();
    let recent = is_recent(&request.query);
    let (vectors, rankers) = if recent {
        (None, Vec::new())
    } else {
        embed_texts(embedder, &request.query, rows.iter().map(|row| row.content))
    };
    let weights = request.tuning.weights((VECTOR_WEIGHT, KEYWORD_WEIGHT));
    let mut recalled = recall(&rows, &request.query, request.limit, weights, vectors.as_ref())?;
    if let Some(least) = request.min_score {
        // The newest rows have no score.
        recalled.retain(|found| found.score.is_none_or(|score| score >= least));
    }
    Ok(Answer {
        hits: recalled.iter().map(|found| hit(&documents[found.row], found, request)).collect(),
        rankers: Rankers { lexical: !recent, vectors: rankers },
        notes: if recent { vec![AnswerNote::NothingAsked] } else { Vec::new() },
    })
}

fn row_of(document: &Document) -> RecallRow<'_> {
    let path = document.path.as_str();
    let key = path
        .strip_prefix(ROWS)
        .or_else(|| path.split_once("/memories/").map(|(_, key)| key))
        .unwrap_or(path);
    let decoded = key_of_row_document(&format!("{ROWS}{key}"));
    RecallRow {
        id: document.provenance.record.as_deref().unwrap_or(path),
        key: decoded.unwrap_or_else(|| key.to_owned()),
        content: &document.text,
        updated_at: document.provenance.observed_at.as_deref().unwrap_or_default(),
        hidden: false,
    }
}

fn hit(document: &Document, found: &RankedRow, request: &Request) -> Hit {
    let text: String = document.text.chars().take(request.snippet_chars).collect();
    let lines = u32::try_from(text.lines().count().max(1)).unwrap_or(u32::MAX);
    let parts = [("keyword", found.keyword), ("vector", found.vector)];
    let parts = parts.into_iter().filter_map(|(name, part)| Some((name, f64::from(part?))));
    Hit {
        path: document.path.clone(),
        start_line: 1,
        end_line: lines,
        bytes: 0..text.len(),
        headings: Vec::new(),
        date: document.date,
        score: found.score.unwrap_or(0.0),
        is_weak: false,
        is_open: false,
        similar: 0,
        text,
        matches: Vec::new(),
        memory_type: document.memory_type.clone(),
        namespace: document.namespace.clone(),
        importance: document.importance,
        provenance: document.provenance.clone(),
        explanation: request
            .explain
            .then(|| Explanation { parts: parts.collect(), terms: Vec::new() }),
    }
}

/// Whether a query asks for the newest rows.
fn is_recent(query: &str) -> bool {
    matches!(query.trim(), "" | "*")
}

fn recall(
    rows: &[RecallRow<'_>],
    query: &str,
    limit: usize,
    weights: (f64, f64),
    vectors: Option<&TextVectors>,
) -> Result<Vec<RankedRow>, Error> {
    if is_recent(query) {
        return Ok(newest(rows, limit, None, |_| true));
    }
    let keywords = by_words(rows, query, limit.saturating_mul(2))?;
    let near = vectors.map_or_else(Vec::new, |vectors| by_vector(vectors, limit.saturating_mul(2)));
    let mut merged = merged(rows, &keywords, &near, weights);
    merged.truncate(limit);
    merged.retain(|found| !rows[found.row].hidden);
    if merged.is_empty() {
        let words: Vec<String> =
            query.split_whitespace().take(LIKE_WORDS).map(str::to_ascii_lowercase).collect();
        let has = |text: &str| {
            let text = text.to_ascii_lowercase();
            words.iter().any(|word| text.contains(word.as_str()))
        };
        return Ok(newest(rows, limit, Some(1.0), |row| has(row.content) || has(&row.key)));
    }
    Ok(merged)
}

/// Returns the most recently written of the wanted rows.
fn newest(
    rows: &[RecallRow<'_>],
    limit: usize,
    score: Option<f64>,
    wanted: impl Fn(&RecallRow<'_>) -> bool,
) -> Vec<RankedRow> {
    let mut found: Vec<usize> =
        (0..rows.len()).filter(|&at| !rows[at].hidden && wanted(&rows[at])).collect();
    found.sort_by(|&a, &b| rows[b].updated_at.cmp(rows[a].updated_at));
    found.truncate(limit);
    found.into_iter().map(|row| RankedRow { row, score, keyword: None, vector: None }).collect()
}

/// Returns the rows with any of the words and their BM25 scores, the best first. A query that FTS5
/// does not understand finds nothing.
fn by_words(rows: &[RecallRow<'_>], query: &str, limit: usize) -> Result<Vec<(usize, f32)>, Error> {
    let mut tables = Connection::open_in_memory()?;
    tables.execute_batch("CREATE VIRTUAL TABLE words USING fts5(key, content, content='')")?;
    let writing = tables.transaction()?;
    let mut insert =
        writing.prepare("INSERT INTO words(rowid, key, content) VALUES (?1, ?2, ?3)")?;
    for (at, row) in (1_i64..).zip(rows) {
        insert.execute(params![at, row.key, row.content])?;
    }
    drop(insert);
    writing.commit()?;
    let found = matching(&tables, &any_of(query), limit);
    Ok(found.unwrap_or_default())
}

fn matching(tables: &Connection, matching: &str, limit: usize) -> Result<Vec<(usize, f32)>, Error> {
    let mut statement = tables.prepare(
        "SELECT rowid, bm25(words) AS score FROM words WHERE words MATCH ?1
         ORDER BY score LIMIT ?2",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let found = statement.query_map(params![matching, limit], |row| {
        let (number, score): (i64, f64) = (row.get(0)?, row.get(1)?);
        #[expect(clippy::cast_possible_truncation, reason = "ZeroClaw computes in 32 bits")]
        Ok((usize::try_from(number - 1).unwrap_or(usize::MAX), -score as f32))
    })?;
    found.collect()
}

/// Returns the FTS5 query for any of the words; `wild*` matches a prefix.
fn any_of(query: &str) -> String {
    let terms = query.split_whitespace().take(MAX_WORDS).map(|word| {
        let quoted = |word: &str| format!("\"{}\"", word.replace('"', "\"\""));
        match word.strip_suffix('*') {
            Some(beginning) if !beginning.is_empty() => format!("{}*", quoted(beginning)),
            _ => quoted(word),
        }
    });
    terms.collect::<Vec<_>>().join(" OR ")
}

/// Returns the rows nearest to the question.
fn by_vector(vectors: &TextVectors, limit: usize) -> Vec<(usize, f32)> {
    let mut near: Vec<(usize, f32)> = (vectors.texts.iter().enumerate())
        .map(|(row, vector)| {
            #[expect(clippy::cast_possible_truncation, reason = "ZeroClaw computes in 32 bits")]
            (row, cosine_64(&vectors.query, vector).clamp(0.0, 1.0) as f32)
        })
        .filter(|&(_, cosine)| cosine > 0.0)
        .collect();
    near.sort_by(|a, b| b.1.total_cmp(&a.1));
    near.truncate(limit);
    near
}

/// Combines the rankers: words relative to the best of the batch, and each row relative to the
/// weights of the rankers that found it.
fn merged(
    rows: &[RecallRow<'_>],
    keywords: &[(usize, f32)],
    near: &[(usize, f32)],
    (vector_weight, keyword_weight): (f64, f64),
) -> Vec<RankedRow> {
    #[expect(clippy::cast_possible_truncation, reason = "ZeroClaw computes in 32 bits")]
    let (vector_weight, keyword_weight) = (vector_weight as f32, keyword_weight as f32);
    let best = keywords.iter().map(|found| found.1).fold(0.0_f32, f32::max);
    let best = if best < f32::EPSILON { 1.0 } else { best };
    let keywords = keywords.iter().map(|&(row, score)| (row, score / best));
    if near.is_empty() {
        return keywords
            .map(|(row, keyword)| RankedRow {
                row,
                score: Some(f64::from(keyword)),
                keyword: Some(keyword),
                vector: None,
            })
            .collect();
    }
    let mut rankers: BTreeMap<usize, (Option<f32>, Option<f32>)> =
        near.iter().map(|&(row, cosine)| (row, (Some(cosine), None))).collect();
    let mut any_words = false;
    for (row, keyword) in keywords {
        any_words = true;
        rankers.entry(row).or_default().1 = Some(keyword);
    }
    let mut merged: Vec<(f32, RankedRow)> = (rankers.into_iter())
        .map(|(row, (vector, keyword))| {
            let rankers = [(vector_weight, vector), (keyword_weight, keyword)];
            let sum: f32 = rankers.iter().map(|(weight, part)| weight * part.unwrap_or(0.0)).sum();
            let weights: f32 =
                rankers.iter().filter(|ranker| ranker.1.is_some()).map(|ranker| ranker.0).sum();
            let score = match any_words {
                // A ranker with a weight of 0 says nothing about the rows that only it found.
                true if weights > 0.0 => sum / weights,
                true => 0.0,
                false => vector.unwrap_or(0.0),
            };
            (score, RankedRow { row, score: Some(f64::from(score)), keyword, vector })
        })
        .collect();
    merged.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| rows[a.1.row].id.cmp(rows[b.1.row].id)));
    merged.into_iter().map(|(_, found)| found).collect()
}

/// Returns the cosine in 64 bits; 0 when it is not defined.
fn cosine_64(a: &[f32], b: &[f32]) -> f64 {
    if a.len() != b.len() {
        return 0.0;
    }
    let (mut dot, mut norm_a, mut norm_b) = (0.0_f64, 0.0_f64, 0.0_f64);
    for (&x, &y) in a.iter().zip(b) {
        let (x, y) = (f64::from(x), f64::from(y));
        dot += x * y;
        norm_a += x * x;
        norm_b += y * y;
    }
    let norms = norm_a.sqrt() * norm_b.sqrt();
    if norms.is_finite() && norms > f64::EPSILON { dot / norms } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::Value;

    use super::*;

    const WEIGHTS: (f64, f64) = (VECTOR_WEIGHT, KEYWORD_WEIGHT);

    /// Returns a file that ZeroClaw wrote.
    fn fixture(name: &str) -> PathBuf {
        anemone_testkit::fixture(&format!("zeroclaw/{name}"))
    }

    fn row<'a>(id: &'a str, key: &str, content: &'a str, updated_at: &'a str) -> RecallRow<'a> {
        RecallRow { id, key: key.to_owned(), content, updated_at, hidden: false }
    }

    fn keys<'a>(rows: &'a [RecallRow<'_>], recalled: &[RankedRow]) -> Vec<&'a str> {
        recalled.iter().map(|found| rows[found.row].key.as_str()).collect()
    }

    struct Stored {
        id: String,
        key: String,
        content: String,
        updated_at: String,
        hidden: bool,
        session: Option<String>,
    }

    #[test]
    fn thirty_queries_recall_what_the_real_one_recalled() {
        let database = fixture("zeroclaw-real.db");
        let json = |name: &str| -> Value {
            let text = fs_err::read_to_string(fixture(name)).unwrap();
            serde_json::from_str(&text).unwrap()
        };
        let golden = json("zeroclaw-0.8.7/sqlite-noembed.recall.json");
        // One row was rewritten after the queries; the export has its earlier state.
        let export = json("zeroclaw-0.8.7/sqlite-noembed.export.json");
        let content = |id: &str| {
            let entry = export.as_array().unwrap().iter().find(|entry| entry["id"] == id);
            entry.map(|entry| entry["content"].as_str().unwrap().to_owned())
        };
        let database = Connection::open_with_flags(
            format!("file:{}?immutable=1", database.display()),
            rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY | rusqlite::OpenFlags::SQLITE_OPEN_URI,
        )
        .unwrap();
        let mut statement = database
            .prepare(
                "SELECT id, key, content, updated_at,
                        superseded_by IS NOT NULL OR principal_id IS NOT NULL, session_id
                 FROM memories ORDER BY rowid",
            )
            .unwrap();
        let stored: Vec<Stored> = statement
            .query_map([], |row| {
                let id: String = row.get(0)?;
                Ok(Stored {
                    content: content(&id).map_or_else(|| row.get(2), Ok)?,
                    id,
                    key: row.get(1)?,
                    updated_at: row.get(3)?,
                    hidden: row.get(4)?,
                    session: row.get(5)?,
                })
            })
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let mut queries = 0;
        for (question, expected) in golden.as_object().unwrap() {
            let parts: Vec<&str> = question.split('|').collect();
            let (limit, session) = match parts[0] {
                "recall" => (parts[2].parse().unwrap(), None),
                // A session is a filter, and filtered rows are not among our documents.
                _ => (5, Some(parts[2])),
            };
            let rows: Vec<RecallRow<'_>> = (stored.iter())
                .filter(|row| session.is_none() || row.session.as_deref() == session)
                .map(|stored| RecallRow {
                    hidden: stored.hidden,
                    ..row(&stored.id, &stored.key, &stored.content, &stored.updated_at)
                })
                .collect();
            let recalled = recall(&rows, parts[1], limit, WEIGHTS, None).unwrap();
            let found: Vec<(&str, Option<f64>)> = (recalled.iter())
                .map(|found| (rows[found.row].key.as_str(), found.score))
                .collect();
            let wanted: Vec<(&str, Option<f64>)> = (expected.as_array().unwrap().iter())
                .map(|hit| (hit["key"].as_str().unwrap(), hit["score"].as_f64()))
                .collect();
            assert_eq!(found, wanted, "{question}");
            queries += 1;
        }
        assert_eq!(queries, 30);
    }

    #[test]
    fn a_word_is_quoted_and_a_star_asks_for_a_beginning() {
        assert_eq!(any_of("a \"b\" c* * NEAR(x"), r#""a" OR """b""" OR "c"* OR "*" OR "NEAR(x""#);
    }

    #[test]
    fn nothing_or_a_star_asks_for_the_newest() {
        let rows = [row("1", "old", "x", "2026-01-01"), row("2", "new", "y", "2026-02-01")];
        for query in ["", "  ", "*"] {
            let recalled = recall(&rows, query, 5, WEIGHTS, None).unwrap();
            assert_eq!(keys(&rows, &recalled), ["new", "old"]);
            assert_eq!(recalled[0].score, None);
        }
    }

    #[test]
    fn what_is_no_word_is_found_as_a_part() {
        // unicode61 makes it a single token, so only the last resort finds it.
        let rows = [row("1", "cjk", "用户住在上海市", "2026-01-01"), row("2", "a", "b", "2026")];
        let recalled = recall(&rows, "上海", 5, WEIGHTS, None).unwrap();
        assert_eq!(keys(&rows, &recalled), ["cjk"]);
        assert_eq!(recalled[0].score, Some(1.0));
        assert_eq!(recall(&rows, "100%", 5, WEIGHTS, None).unwrap(), []);
    }

    #[test]
    fn a_row_that_one_leg_found_is_measured_by_that_leg() {
        let rows = [row("b", "one", "", ""), row("a", "two", "", ""), row("c", "three", "", "")];
        let found = merged(&rows, &[(0, 4.0), (1, 2.0)], &[(1, 0.5), (2, 0.5)], WEIGHTS);
        let scores: Vec<(usize, f64)> =
            found.iter().map(|found| (found.row, found.score.unwrap())).collect();
        // 1 of words alone; (0.7·0.5 + 0.3·0.5) / 1; 0.5 of the vector alone. Equal: by id.
        assert_eq!(scores[0], (0, 1.0));
        assert_eq!((scores[1].0, scores[2].0), (1, 2));
        assert!((scores[1].1 - 0.5).abs() < 1e-6 && (scores[2].1 - 0.5).abs() < 1e-6);
    }

    #[test]
    fn weights_decide_between_the_rankers() {
        let rows = [row("a", "one", "", ""), row("b", "two", "", ""), row("c", "three", "", "")];
        let scores = |weights| {
            let found = merged(&rows, &[(0, 4.0), (1, 2.0)], &[(1, 0.8), (2, 0.4)], weights);
            let mut scores = [0.0; 3];
            found.iter().for_each(|found| scores[found.row] = found.score.unwrap());
            scores
        };
        let near = |one: [f64; 3], other: [f64; 3]| {
            one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-6)
        };
        // Both rankers found the second row: 0.25 · 0.8 + 0.75 · 0.5.
        assert!(near(scores((0.25, 0.75)), [1.0, 0.575, 0.4]));
        assert!(near(scores((0.0, 1.0)), [1.0, 0.5, 0.0]));
        assert!(near(scores((1.0, 0.0)), [0.0, 0.8, 0.4]));
    }

    #[test]
    fn a_key_is_read_from_the_path() {
        let key =
            |path: &str| row_of(&Document { path: path.to_owned(), ..Document::default() }).key;
        assert_eq!(key("memories/user_timezone"), "user_timezone");
        assert_eq!(key("memories/a%2Fb%20c"), "a/b c");
        assert_eq!(key("memories/100%25%zz%é%"), "100%%zz%é%");
        assert_eq!(key("alpha/memories/k"), "k");
        assert_eq!(key("notes.md"), "notes.md");
    }
}
