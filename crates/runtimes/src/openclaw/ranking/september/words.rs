//! The ranker of words: texts that have all of them, paths that have all of them, and each keyword
//! separately when that is not enough.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use unicode_normalization::UnicodeNormalization as _;

use super::super::{MAX_WORDS, all_of, corpus::Corpus, keywords, score_of_rank, script};

/// Files of the name that was typed, at most.
const EXACT_LIMIT: usize = 200;
/// Keywords that are looked for separately, at most.
const KEYWORDS: usize = 6;

/// A chunk that was found by words.
#[derive(Clone, Debug)]
pub(super) struct WordHit {
    pub(super) chunk: usize,
    pub(super) score: f64,
    /// The BM25 score of the text.
    pub(super) text: f64,
    /// The BM25 score of the path.
    pub(super) path: f64,
    /// 3: the query is its path, 2: its file name, 1: that without the ending.
    pub(super) exact: u8,
    /// Whether the text was found, not only the path.
    pub(super) body: bool,
}

/// Looks for a query, and for its keywords when it finds too little.
pub(super) fn search(corpus: &Corpus<'_>, query: &str, limit: usize) -> Vec<WordHit> {
    let exact = exactness(corpus, query);
    let ranking = Ranking::of(query);
    let whole = search_once(corpus, query, &exact, &ranking, limit);
    if whole.iter().filter(|entry| entry.exact == 0).count() >= limit {
        return whole;
    }
    let lower = query.to_lowercase();
    let mut terms = keywords::keywords(query);
    terms.retain(|term| *term != lower);
    terms.truncate(KEYWORDS);
    let joined = terms.join(" ");
    let same = |a: &str, b: &str| {
        all_of(script::words(a)).map(|all| all.to_lowercase())
            == all_of(script::words(b)).map(|all| all.to_lowercase())
    };
    if terms.is_empty() || (!whole.is_empty() && same(query, &joined)) {
        return whole;
    }
    let mut sets = vec![whole];
    sets.extend(terms.iter().map(|term| search_once(corpus, term, &exact, &ranking, limit)));
    bounded(corpus, together(sets), limit)
}

fn search_once(
    corpus: &Corpus<'_>,
    query: &str,
    exact: &[u8],
    ranking: &Ranking,
    limit: usize,
) -> Vec<WordHit> {
    let texts = in_texts(corpus, query, exact, ranking, limit);
    let paths = in_paths(corpus, query, exact, limit);
    bounded(corpus, together(vec![texts, paths]), limit)
}

/// Finds texts with all words of a query.
fn in_texts(
    corpus: &Corpus<'_>,
    query: &str,
    exact: &[u8],
    ranking: &Ranking,
    limit: usize,
) -> Vec<WordHit> {
    let Some(matching) = all_of(script::words(query)) else { return Vec::new() };
    let rows = corpus.texts(&matching, limit).into_iter();
    rows.map(|(chunk, rank)| {
        let text = score_of_rank(rank);
        let document = corpus.document_of(chunk);
        let score = ranking.score(text, &corpus.chunks[chunk].text, &document.path);
        let exact = exact[corpus.chunks[chunk].document];
        WordHit { chunk, score, text, path: 0.0, exact, body: true }
    })
    .collect()
}

/// Finds paths with all words of a query; what is found is the first chunk.
fn in_paths(corpus: &Corpus<'_>, query: &str, exact: &[u8], limit: usize) -> Vec<WordHit> {
    let documents = corpus.documents();
    let path = |at: usize| documents[at].path.as_str();
    let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
    for plan in path_queries(query) {
        let mut rows = plan.rows(corpus);
        rows.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| path(a.0).cmp(path(b.0))));
        let (mut named, mut others) = (0, 0);
        for (at, rank) in rows {
            let (count, most) =
                if exact[at] > 0 { (&mut named, EXACT_LIMIT) } else { (&mut others, limit) };
            if *count < most {
                *count += 1;
                let score = if plan.matching.is_some() { score_of_rank(rank) } else { 1.0 };
                let known = scores.entry(at).or_insert(score);
                *known = known.max(score);
            }
        }
    }
    let mut named: Vec<usize> =
        (0..documents.len()).filter(|&at| exact[at] > 0 && corpus.first[at].is_some()).collect();
    named.sort_by(|&a, &b| exact[b].cmp(&exact[a]).then_with(|| path(a).cmp(path(b))));
    named.truncate(EXACT_LIMIT);
    let mut others: Vec<(usize, f64)> =
        scores.iter().filter(|(at, _)| exact[**at] == 0).map(|(at, score)| (*at, *score)).collect();
    others.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| script::compare(path(a.0), path(b.0))));
    others.truncate(limit);
    let named = named.into_iter().map(|at| (at, scores.get(&at).copied().unwrap_or(0.0)));
    named
        .chain(others)
        .filter_map(|(at, score)| {
            let chunk = corpus.first[at]?;
            Some(WordHit { chunk, score, text: 0.0, path: score, exact: exact[at], body: false })
        })
        .collect()
}

/// One way to look for a query in paths.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct PathQuery {
    /// The query for FTS5.
    matching: Option<String>,
    /// What the path must also contain, folded: words that FTS5 splits differently.
    within: Vec<String>,
}

impl PathQuery {
    /// Returns the documents with their ranks; the lowest is the best.
    fn rows(&self, corpus: &Corpus<'_>) -> Vec<(usize, f64)> {
        let mut rows = match &self.matching {
            Some(matching) => corpus.paths(matching),
            None => (0..corpus.documents().len())
                .filter(|&at| corpus.first[at].is_some())
                .map(|at| (at, 0.0))
                .collect(),
        };
        if !self.within.is_empty() {
            rows.retain(|&(at, _)| {
                let path = script::folded(&corpus.documents()[at].path);
                self.within.iter().all(|word| path.contains(word.as_str()))
            });
        }
        rows
    }
}

fn path_queries(query: &str) -> BTreeSet<PathQuery> {
    let mut plans = BTreeSet::new();
    plans.extend(
        all_of(script::words(query))
            .map(|matching| PathQuery { matching: Some(matching), within: Vec::new() }),
    );
    for form in [query.nfc().collect::<String>(), query.nfd().collect::<String>()] {
        let (plain, other): (Vec<&str>, Vec<&str>) =
            script::marked_words(&form).take(MAX_WORDS).partition(|word| word.is_ascii());
        if !other.is_empty() {
            plans.insert(PathQuery {
                matching: all_of(plain.into_iter()),
                within: other.into_iter().map(script::folded).collect(),
            });
        }
    }
    plans
}

/// Merges the results of several searches; a chunk has its best scores.
fn together(sets: Vec<Vec<WordHit>>) -> Vec<WordHit> {
    let mut all: BTreeMap<usize, WordHit> = BTreeMap::new();
    for entry in sets.into_iter().flatten() {
        let Some(known) = all.get_mut(&entry.chunk) else {
            all.insert(entry.chunk, entry);
            continue;
        };
        let body = |entry: &WordHit| if entry.body { entry.score } else { 0.0 };
        let score = body(known).max(body(&entry));
        known.text = known.text.max(entry.text);
        known.path = known.path.max(entry.path);
        known.body |= entry.body;
        known.score = if score > 0.0 { score } else { known.path };
    }
    let mut all: Vec<WordHit> = all.into_values().collect();
    for entry in all.iter_mut().filter(|entry| !entry.body) {
        entry.score = if entry.exact > 0 { 1.0 } else { entry.path };
    }
    all
}

/// Keeps the best: up to a limit of the files that were named, and up to another of the rest.
fn bounded(corpus: &Corpus<'_>, mut found: Vec<WordHit>, limit: usize) -> Vec<WordHit> {
    found.sort_by(|a, b| compare(corpus, a, b, true));
    let (mut named, mut others): (Vec<WordHit>, Vec<WordHit>) =
        found.into_iter().partition(|entry| entry.exact > 0);
    let mut bodies = 0;
    named.retain(|entry| {
        bodies += usize::from(entry.body);
        !entry.body || bodies <= limit
    });
    let mut files = BTreeSet::new();
    named.retain(|entry| {
        let document = corpus.chunks[entry.chunk].document;
        files.contains(&document) || (files.len() < EXACT_LIMIT && files.insert(document))
    });
    others.truncate(limit);
    named.extend(others);
    named
}

/// The order of the hits by words; with `bodies`, texts come first among files that were named.
pub(super) fn compare(corpus: &Corpus<'_>, a: &WordHit, b: &WordHit, bodies: bool) -> Ordering {
    let down = |a: f64, b: f64| b.total_cmp(&a);
    let of = |entry: &WordHit| (&corpus.chunks[entry.chunk], &corpus.document_of(entry.chunk).path);
    b.exact
        .cmp(&a.exact)
        .then_with(|| if bodies && a.exact > 0 { b.body.cmp(&a.body) } else { Ordering::Equal })
        .then_with(|| down(a.score, b.score))
        .then_with(|| down(a.text, b.text))
        .then_with(|| if a.exact == 0 { down(a.path, b.path) } else { Ordering::Equal })
        .then_with(|| {
            let ((first, first_path), (second, second_path)) = (of(a), of(b));
            script::compare(first_path, second_path)
                .then_with(|| first.start_line.cmp(&second.start_line))
                .then_with(|| first.id.cmp(&second.id))
        })
}

/// Returns for each document how exactly a query names it.
pub(super) fn exactness(corpus: &Corpus<'_>, query: &str) -> Vec<u8> {
    let query = plain_path(query);
    if query.is_empty() || query == "." {
        return vec![0; corpus.documents().len()];
    }
    let of = |path: &str| {
        let path = plain_path(path);
        let name = path.rsplit('/').next().unwrap_or(&path);
        let stem = name.rfind('.').filter(|&at| at > 0).map_or(name, |at| &name[..at]);
        if path == query {
            3
        } else if query.contains('/') {
            0
        } else if name == query {
            2
        } else {
            u8::from(stem == query)
        }
    };
    corpus.documents().iter().map(|document| of(&document.path)).collect()
}

fn plain_path(path: &str) -> String {
    let path = script::trimmed(path).replace('\\', "/");
    path.strip_prefix("./").unwrap_or(&path).nfc().collect::<String>().to_lowercase()
}

/// What is added to BM25: the share of the query's words, how dense they are, words in the path,
/// and length.
struct Ranking {
    /// The words of the whole query, folded, each once.
    words: Vec<String>,
}

impl Ranking {
    fn of(query: &str) -> Self {
        let mut seen = HashSet::new();
        let query: String = query.nfc().collect();
        let words = script::words(&query)
            .map(str::to_lowercase)
            .filter(|word| seen.insert(word.clone()))
            .take(MAX_WORDS)
            .map(|word| script::folded(&word))
            .collect();
        Self { words }
    }

    #[expect(clippy::cast_precision_loss, reason = "words of a chunk are counted")]
    fn score(&self, base: f64, text: &str, path: &str) -> f64 {
        if self.words.is_empty() {
            return base;
        }
        let normal: String = text.nfc().collect();
        let own: HashSet<String> = script::words(&normal).map(str::to_lowercase).collect();
        let folded: HashSet<String> = own.iter().map(|word| script::folded(word)).collect();
        let path = script::folded(path);
        let common = self.words.iter().filter(|word| folded.contains(*word)).count() as f64;
        let share = common / self.words.len() as f64;
        let density = common / own.len().max(1) as f64;
        let in_path = (self.words.iter().filter(|word| path.contains(word.as_str())))
            .fold(0.0, |sum, _| sum + 0.18);
        let length = (script::units(text) as f64 / 160.0).min(0.18);
        (base + (share * 0.45 + density * 0.2 + in_path + length)).min(1.0)
    }
}
