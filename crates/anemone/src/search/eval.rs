//! Measures search on the user's own questions.

mod metrics;
mod queries;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;

use anemone_index::{AnswerNote, Index, RankingSetting, Replace, Request};
use serde::Serialize;

pub use self::metrics::{Figures, RelevantLine};
use self::metrics::{QueryOutcome, ReturnedHit};
use self::queries::Query;
pub use self::queries::QueryCategory;
use super::index::{IndexError, IndexFallback, Rebuild, open_fresh};
use super::target::{SearchTarget, TargetChoice};
use super::vector_comparison::VectorComparison;
use super::{NoteWords, Ranking, SearchError, SearchNote, SourceSummary, VectorNote};
use crate::embedder::{
    EmbedderChoice, EmbedderSetting, Embedders, Filling, LargeJobs, LatencyBudget, Signals, Stop,
    VectorLine, fill, milliseconds, take_carried_for, top_up,
};
use crate::host::Host;
use crate::statement::Statement;

/// Which questions, and how they are asked.
#[derive(Clone, Debug)]
pub struct EvalRequest {
    /// What to search.
    pub target: TargetChoice,
    /// The file with the questions, one JSON object a line.
    pub queries: PathBuf,
    /// Only questions of these categories, if any is named.
    pub categories: Vec<String>,
    /// How many hits are asked for.
    pub limit: u32,
    /// How hits are ranked and cut.
    pub ranking: Ranking,
    /// The embedder. If it is named, all its vectors are filled in first.
    pub embedder: EmbedderChoice,
    /// Whether much may be sent to a service.
    pub large_jobs: LargeJobs,
    /// Whether questions whose answers were not all found are listed.
    pub misses: bool,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum EvalError {
    /// A line of the file is no question.
    #[error("line {line}: {reason}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The file cannot be read.
    Queries(#[from] std::io::Error),
    /// There is no question in the file.
    #[error("there is no question in the file")]
    NoQuestions(PathBuf),
    /// No question is of the categories that were named.
    #[error("no question is of such a category")]
    NoneOfCategory(PathBuf),
    /// No question says which lines answer it.
    #[error("no question says which lines answer it")]
    NoAnswers(PathBuf),
    /// The named embedder failed. Figures of another one would be worthless.
    #[error("the embedder failed")]
    EmbedderFailed(Box<VectorNote>),
    /// There was no answer.
    Search(#[from] SearchError),
}

impl From<IndexError> for EvalError {
    fn from(error: IndexError) -> Self {
        Self::Search(error.into())
    }
}

/// How well search did.
#[derive(Debug, Serialize)]
pub struct EvalReport {
    /// What was searched.
    pub source: SourceSummary,
    /// How many questions were asked.
    pub queries: u64,
    /// Questions without relevant lines, which no average counts.
    #[serde(skip_serializing_if = "crate::text::is_usual")]
    pub without_answer: u64,
    /// All questions together.
    pub overall: Figures,
    /// The questions of each category.
    pub by_category: BTreeMap<QueryCategory, Figures>,
    /// How they were asked.
    pub settings: EvalSettings,
    /// The models whose vectors were compared, in descending order of weight.
    pub vectors: Vec<VectorShare>,
    /// What the user should know.
    pub warnings: Vec<Statement<SearchNote, NoteWords>>,
    /// Questions whose answers were not all found, if the user asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misses: Option<Vec<Miss>>,
}

/// How questions were asked.
#[derive(Clone, Debug, Serialize)]
pub struct EvalSettings {
    /// Whose ranking it was.
    pub profile: &'static str,
    /// What compared meanings.
    pub embedder: EmbedderSetting,
    /// How many hits were asked for.
    pub limit: u32,
    /// Characters of a hit at most.
    pub chars: u32,
    /// The days after which a dated text counted half.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recency: Option<f64>,
    /// Whether more important hits were preferred.
    pub importance: bool,
    /// How much hits that say the same were spread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diversity: Option<f64>,
    /// The least score of a hit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_score: Option<f64>,
    /// The weight of vectors, in another program's ranking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector_weight: Option<f64>,
    /// The weight of words, in another program's ranking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_weight: Option<f64>,
    /// Candidates for each hit, in another program's ranking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidate_multiplier: Option<u32>,
    /// Tokens of a chunk, in another program's ranking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_tokens: Option<u32>,
    /// Tokens that consecutive chunks share, in another program's ranking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_overlap: Option<u32>,
}

/// Vectors of one model, and how much of the index they cover.
#[derive(Debug, Serialize)]
pub struct VectorShare {
    /// The vectors.
    #[serde(flatten)]
    pub line: VectorLine,
    /// Chunks that have vectors, in percent.
    pub share: f64,
}

impl VectorShare {
    fn of(line: VectorLine) -> Self {
        let all = (line.chunks + line.missing).max(1);
        Self { share: (line.chunks as f64 / all as f64 * 1e4).round() / 1e2, line }
    }
}

/// A question whose answer is not all there.
#[derive(Debug, Serialize)]
pub struct Miss {
    /// Its id.
    pub id: String,
    /// The question.
    pub query: String,
    /// Its category.
    pub category: QueryCategory,
    /// The lines that were not found.
    pub missing: Vec<RelevantLine>,
}

/// Asks every question of a file, and compares the hits with the lines that answer it.
pub fn evaluate(request: &EvalRequest, host: &Host) -> Result<EvalReport, EvalError> {
    let queries = wanted_queries(request)?;
    request.embedder.check().map_err(SearchError::from)?;
    let machine = host.machine().map_err(SearchError::from)?;
    let target = request.target.find(&machine, host).map_err(SearchError::from)?;
    let mut open = open_fresh(&target, host, Rebuild::No, IndexFallback::Temporary)?;
    let stop = Stop::default();
    let is_named = request.embedder.is_named();
    let budget =
        if is_named { LatencyBudget::Vectors(stop.clone()) } else { LatencyBudget::Answer };
    let EvalRequest { ranking, embedder, large_jobs, .. } = request;
    let embedders = ranking.embedders(embedder, *large_jobs, &open.index, &target, &budget, host);
    let mut embedders = embedders.map_err(SearchError::from)?;
    if prepare(request, &mut open.index, &target, &mut embedders, &stop, host)? {
        open.look_again(&target, host)?;
    }
    let mut warnings = open.notes(&target);
    warnings.append(&mut embedders.notes);
    warnings.extend(nowhere(&queries, &open.index)?);

    let config = target.readable_config(host);
    let ranking = request.ranking.configured(&config.search, &target, host);
    let now = host.now();
    let mut tally = EvalTally::default();
    for query in &queries {
        let mut question = Request::new(query.query.clone(), now);
        question.limit = request.limit as usize;
        ranking.apply(&mut question);
        let started = Instant::now();
        let answer = open.search(&question, &target, host, &embedders.list())?;
        let took_ms = milliseconds(started);
        let failed = tally.compare(VectorComparison::of(&answer.rankers, &embedders));
        if let Some(note) = failed.filter(|_| is_named) {
            return Err(EvalError::EmbedderFailed(Box::new(note)));
        }
        if let Some(unused) = answer.notes.iter().find_map(AnswerNote::unused) {
            tally.unused = unused.to_vec();
        }
        let hits: Vec<_> = answer.hits.iter().map(ReturnedHit::of).collect();
        tally.take(query, &hits, took_ms);
    }
    if tally.outcomes.is_empty() {
        return Err(EvalError::NoAnswers(request.queries.clone()));
    }
    warnings.extend(tally.notes.into_iter().map(SearchNote::Vectors));
    if !tally.unused.is_empty() {
        let (ranking, settings) = (request.ranking.profile.name(), tally.unused);
        warnings.push(SearchNote::SettingsUnused { ranking, settings });
    }
    let mut by_category: BTreeMap<QueryCategory, Vec<&QueryOutcome>> = BTreeMap::new();
    for (category, outcome) in &tally.outcomes {
        by_category.entry(category.clone()).or_default().push(outcome);
    }
    let all: Vec<_> = tally.outcomes.iter().map(|(_, outcome)| outcome).collect();
    Ok(EvalReport {
        source: SourceSummary::of(&target),
        queries: queries.len() as u64,
        without_answer: tally.without_answer,
        overall: Figures::of(&all),
        by_category: by_category
            .iter()
            .map(|(category, some)| (category.clone(), Figures::of(some)))
            .collect(),
        settings: settings(request, ranking, &embedders),
        vectors: tally.vectors.into_iter().flatten().map(VectorShare::of).collect(),
        warnings: Statement::list(warnings),
        misses: request.misses.then_some(tally.misses),
    })
}

/// Reads the questions that are asked.
fn wanted_queries(request: &EvalRequest) -> Result<Vec<Query>, EvalError> {
    let EvalRequest { queries: path, categories, .. } = request;
    let is_wanted = |query: &Query| {
        categories.is_empty() || categories.iter().any(|name| query.category.is_called(name))
    };
    let queries: Vec<_> = queries::read(path)?.into_iter().filter(is_wanted).collect();
    match (queries.is_empty(), categories.is_empty()) {
        (false, _) => Ok(queries),
        (true, true) => Err(EvalError::NoQuestions(path.clone())),
        (true, false) => Err(EvalError::NoneOfCategory(path.clone())),
    }
}

fn settings(request: &EvalRequest, ranking: Ranking, embedders: &Embedders) -> EvalSettings {
    let main = embedders.main.as_ref();
    let Ranking { chars, recency, importance, diversity, profile, min_score, tuning } = ranking;
    EvalSettings {
        profile: profile.name(),
        embedder: main
            .map_or(EmbedderSetting::None, |main| EmbedderSetting::This(main.named.wanted.clone())),
        limit: request.limit,
        chars,
        recency,
        importance,
        diversity,
        min_score,
        vector_weight: tuning.vector_weight,
        text_weight: tuning.text_weight,
        candidate_multiplier: tuning.candidate_multiplier,
        chunk_tokens: tuning.chunk_tokens,
        chunk_overlap: tuning.chunk_overlap,
    }
}

/// The figures of the answers so far.
#[derive(Default)]
struct EvalTally {
    outcomes: Vec<(QueryCategory, QueryOutcome)>,
    misses: Vec<Miss>,
    without_answer: u64,
    /// The vectors that the first answer rests on.
    vectors: Option<Vec<VectorLine>>,
    /// What became of the embedders, each once.
    notes: Vec<VectorNote>,
    /// Settings that the ranking does not take.
    unused: Vec<RankingSetting>,
}

impl EvalTally {
    /// Takes what became of the embedders at one answer; returns that one failed, if it did.
    fn compare(&mut self, compared: VectorComparison) -> Option<VectorNote> {
        self.vectors.get_or_insert(compared.vectors);
        let is_failure = |note: &&VectorNote| matches!(note, VectorNote::Failed { .. });
        let failed = compared.notes.iter().find(is_failure).cloned();
        for note in compared.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        failed
    }

    fn take(&mut self, query: &Query, hits: &[ReturnedHit<'_>], took_ms: f64) {
        if query.relevant.is_empty() {
            self.without_answer += 1;
            return;
        }
        let (outcome, missing) = QueryOutcome::of(&query.relevant, hits, took_ms);
        if !missing.is_empty() {
            let Query { id, query: text, category, .. } = query.clone();
            self.misses.push(Miss { id, query: text, category, missing });
        }
        self.outcomes.push((query.category.clone(), outcome));
    }
}

/// Fills in vectors: all of an embedder that was named, otherwise the few that are missing. Says
/// whether anything may have been written.
fn prepare(
    request: &EvalRequest,
    index: &mut Index,
    target: &SearchTarget,
    embedders: &mut Embedders,
    stop: &Stop,
    host: &Host,
) -> Result<bool, SearchError> {
    match &embedders.main {
        _ if !request.ranking.is_ours() => {
            let mut question = Request::new("", host.now());
            request.ranking.apply(&mut question);
            take_carried_for(&question, index, target, embedders)?;
            Ok(true)
        }
        Some(main) if request.embedder.is_named() && main.is_work() => {
            let (replace, signals, large_jobs) =
                (Replace::No, Signals::Filling, request.large_jobs);
            let filling = Filling { replace, large_jobs, stop, signals };
            fill(index, target, main, &filling, host)?;
            Ok(true)
        }
        _ => Ok(top_up(index, target, embedders)?),
    }
}

/// Warns of answers that are not in the index.
fn nowhere(queries: &[Query], index: &Index) -> Result<Vec<SearchNote>, IndexError> {
    let relevant = || queries.iter().flat_map(|query| &query.relevant);
    let paths: BTreeSet<&str> = relevant().map(|line| &*line.path).collect();
    let lines = index.lines(paths.iter().copied())?;
    let lines: BTreeMap<&str, Option<u64>> = paths.into_iter().zip(lines).collect();
    let (mut documents, mut beyond) = (Vec::new(), Vec::new());
    for line in relevant() {
        match lines.get(&*line.path).copied().flatten() {
            None => documents.push(line),
            Some(last) if line.line == 0 || u64::from(line.line) > last => beyond.push(line),
            Some(_) => {}
        }
    }
    let unknown_path = documents.first().map(|first| SearchNote::UnknownPath {
        lines: documents.len() as u64,
        path: first.path.clone(),
    });
    let unknown_line = beyond.first().map(|first| SearchNote::UnknownLine {
        lines: beyond.len() as u64,
        path: first.path.clone(),
        line: first.line,
    });
    Ok(unknown_path.into_iter().chain(unknown_line).collect())
}
