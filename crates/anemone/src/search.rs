//! Search: takes a question and its sources, and returns hits.
//!
//! The index is refreshed first, so that results always reflect the current files.

pub mod chunks;
pub mod eval;
pub mod index;
mod lines;
mod note;
pub mod read;
pub mod target;
mod trust;
pub mod upkeep;
mod vector_comparison;
pub mod watch;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anemone_format::StampTable;
use anemone_index::{
    Answer, AnswerNote, Explanation, Freshness, Hit, Index, Kinds, Provenance, RankingChoice,
    RankingSetting, RankingTuning, Request,
};
use anemone_memory::{SessionKind, Successor};
use anemone_runtimes::{SettingKey, by_name};
use jiff::civil::Date;
use serde::{Serialize, Serializer};

use self::index::{IndexError, IndexFallback, OpenIndex, Rebuild, left_out, open_fresh};
pub use self::note::{NamedEmbedder, NoteWords, SearchNote, SourceNote, VectorNote};
use self::target::{SearchTarget, TargetChoice, TargetError};
pub use self::trust::{Trust, sink_superseded, verify_in};
pub use self::vector_comparison::LexicalOnly;
use self::vector_comparison::VectorComparison;
use crate::config::{Config, SearchSettings};
use crate::days::{EmptyPeriodError, check_period};
use crate::embedder::{
    ChosenEmbedder, EmbedderChoice, EmbedderError, Embedders, FillError, JobGuard, LargeJobs,
    LatencyBudget, Stop, VectorLine, milliseconds, take_carried_for, top_up,
};
use crate::host::Host;
use crate::settings::{unsaid, unsaid_of};
use crate::statement::Statement;
pub use anemone_memory::Citations;

/// A question.
#[derive(Clone, Debug, Default)]
pub struct SearchRequest {
    /// What to look for.
    pub query: String,
    /// What to search.
    pub target: TargetChoice,
    /// How many hits at most; `None`: as many as the settings say.
    pub limit: Option<u32>,
    /// Only texts dated on this day or later.
    pub since: Option<Date>,
    /// Only texts dated on this day or earlier.
    pub until: Option<Date>,
    /// Only memories of one of these types, if any is named.
    pub types: Vec<String>,
    /// Only memories of one of these namespaces, if any is named.
    pub namespaces: Vec<String>,
    /// Only documents with paths like one of these, if any is named.
    pub paths: Vec<String>,
    /// How hits are ranked and cut.
    pub ranking: Ranking,
    /// Whether hits are cited.
    pub citations: Citations,
    /// The kind of session that the hits are for; `None`: the owner's own.
    pub session: Option<SessionKind>,
    /// Whether each hit says how its score was computed.
    pub explain: bool,
    /// What compares meanings.
    pub embedder: EmbedderChoice,
    /// Whether much may be sent to a service, for another program's ranking.
    pub large_jobs: LargeJobs,
}

impl SearchRequest {
    /// The default number of hits.
    pub const USUAL_LIMIT: u32 = 6;

    /// Asks with the defaults.
    #[must_use]
    pub fn new(query: impl Into<String>, target: TargetChoice) -> Self {
        Self { query: query.into(), target, ..Self::default() }
    }

    /// Refuses what makes no sense, before anything is opened.
    pub fn check(&self) -> Result<(), SearchError> {
        check_period(self.since, self.until)?;
        Ok(self.embedder.check()?)
    }

    /// Returns the request with the settings of what is searched: the arguments come first.
    #[must_use]
    pub fn configured(&self, target: &SearchTarget, host: &Host) -> Self {
        let settings = target.readable_config(host).search;
        let mut request = self.clone();
        request.limit = self.limit.or(settings.limit);
        request.ranking = self.ranking.configured(&settings, target, host);
        request
    }

    /// Puts the question as an index takes it.
    fn question(&self, host: &Host) -> Request {
        let mut request = Request::new(self.query.clone(), host.now());
        request.limit = self.limit.unwrap_or(Self::USUAL_LIMIT) as usize;
        request.since = self.since;
        request.until = self.until;
        request.types.clone_from(&self.types);
        request.namespaces.clone_from(&self.namespaces);
        request.paths.clone_from(&self.paths);
        request.explain = self.explain;
        self.ranking.apply(&mut request);
        request
    }
}

/// How hits are ranked and cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranking {
    /// Characters of a hit at most.
    pub chars: u32,
    /// The days after which a dated text counts half.
    pub recency: Option<f64>,
    /// Whether more important hits are preferred among equals.
    pub importance: bool,
    /// How strongly similar hits are avoided: 1 ranks by relevance only, 0 by difference only.
    pub diversity: Option<f64>,
    /// Whose ranking it is.
    pub profile: RankingChoice,
    /// The least score of a hit.
    pub min_score: Option<f64>,
    /// Changed constants of another program's ranking.
    pub tuning: RankingTuning,
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            chars: Self::USUAL_CHARS,
            recency: None,
            importance: false,
            diversity: None,
            profile: RankingChoice::Anemone,
            min_score: None,
            tuning: RankingTuning::default(),
        }
    }
}

impl Ranking {
    /// The default number of characters of a hit.
    pub const USUAL_CHARS: u32 = 700;

    /// Returns the ranking with settings. Those of a runtime are for the ranking of that runtime,
    /// and a ranking gets no setting that it does not take.
    fn configured(&self, settings: &SearchSettings, target: &SearchTarget, host: &Host) -> Self {
        let mut ranking = *self;
        let RankingChoice::Other(profile) = self.profile else {
            ranking.recency = self.recency.or(settings.recency_days);
            ranking.diversity = self.diversity.or(settings.diversity);
            ranking.min_score = self.min_score.or(settings.min_score);
            return ranking;
        };
        let of_runtime = by_name(target.kind).and_then(|runtime| runtime.native_search);
        let is_own = of_runtime
            .is_some_and(|search| search.profiles.iter().any(|own| own.name() == profile.name()));
        let foreign;
        let settings = if is_own {
            settings
        } else {
            foreign = Config::read(host).unwrap_or_default().search;
            &foreign
        };
        let taken = profile.settings();
        let takes = |setting| taken.contains(&setting);
        let number = |given: Option<f64>, setting, configured: Option<f64>| {
            given.or(configured.filter(|_| takes(setting)))
        };
        let amount = |given: Option<u32>, setting, configured: Option<u32>| {
            given.or(configured.filter(|_| takes(setting)))
        };
        let least = settings.min_score.or(settings.profile_min_score);
        ranking.recency = number(self.recency, RankingSetting::Recency, settings.recency_days);
        ranking.diversity = number(self.diversity, RankingSetting::Diversity, settings.diversity);
        ranking.min_score = number(self.min_score, RankingSetting::MinScore, least);
        let (given, tuning) = (self.tuning, settings.tuning);
        ranking.tuning = RankingTuning {
            vector_weight: number(
                given.vector_weight,
                RankingSetting::VectorWeight,
                tuning.vector_weight,
            ),
            text_weight: number(given.text_weight, RankingSetting::TextWeight, tuning.text_weight),
            candidate_multiplier: amount(
                given.candidate_multiplier,
                RankingSetting::CandidateMultiplier,
                tuning.candidate_multiplier,
            ),
            chunk_tokens: amount(
                given.chunk_tokens,
                RankingSetting::ChunkTokens,
                tuning.chunk_tokens,
            ),
            chunk_overlap: amount(
                given.chunk_overlap,
                RankingSetting::ChunkOverlap,
                tuning.chunk_overlap,
            ),
        };
        ranking
    }

    fn apply(&self, request: &mut Request) {
        request.snippet_chars = self.chars as usize;
        request.recency_half_life = self.recency;
        request.importance = self.importance;
        request.diversity = self.diversity;
        request.profile = self.profile;
        request.min_score = self.min_score;
        request.tuning = self.tuning;
    }

    /// Finds what compares meanings. Another program's ranking has an embedder only when it is
    /// named: that program would not have ours. It embeds all documents at the first search.
    fn embedders(
        &self,
        choice: &EmbedderChoice,
        large_jobs: LargeJobs,
        index: &Index,
        target: &SearchTarget,
        budget: &LatencyBudget,
        host: &Host,
    ) -> Result<Embedders, EmbedderError> {
        if self.is_ours() {
            return Embedders::choose(choice, index, target, budget, host);
        }
        if !choice.is_named() {
            return Ok(Embedders::NONE);
        }
        let budget = LatencyBudget::Vectors(Stop::default());
        let mut embedders = Embedders::choose(choice, index, target, &budget, host)?;
        let is_guarded = large_jobs == LargeJobs::Confirm;
        if let Some(main) = embedders.main.take_if(|main| main.is_remote() && is_guarded) {
            let refused = Arc::clone(&main.refused);
            let guarded = JobGuard::new(main.embedder, main.host.as_deref(), refused);
            embedders.main = Some(ChosenEmbedder { embedder: Box::new(guarded), ..main });
        }
        Ok(embedders)
    }

    /// Whether hits are ranked as we do.
    const fn is_ours(&self) -> bool {
        self.profile.is_ours()
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum SearchError {
    /// No day is in the period that was asked for.
    EmptyPeriod(#[from] EmptyPeriodError),
    /// There is nothing to search.
    Target(#[from] TargetError),
    /// It is encrypted, and the index of that is never kept.
    #[error("the index of an encrypted archive is never kept")]
    NeverKept(PathBuf),
    /// The index.
    Index(IndexError),
    /// What compares meanings.
    Embedder(#[from] EmbedderError),
    /// The vectors of an embedder that was named.
    Fill(#[from] FillError),
}

impl<E: Into<IndexError>> From<E> for SearchError {
    fn from(error: E) -> Self {
        Self::Index(error.into())
    }
}

/// What was found.
#[derive(Debug, Serialize)]
pub struct SearchReport {
    /// The question.
    pub query: String,
    /// What was searched.
    pub source: SourceSummary,
    /// The hits, the best first.
    pub hits: Vec<SearchHit>,
    /// What was compared.
    pub mode: SearchMode,
    /// The model that counts most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The models whose vectors were compared, in descending order of weight.
    pub vectors: Vec<VectorLine>,
    /// What the user should know.
    pub notes: Vec<Statement<SearchNote, NoteWords>>,
    /// What the index held.
    pub index: IndexSummary,
    /// Milliseconds that it took.
    pub took_ms: f64,
    /// Why only words were compared.
    #[serde(skip)]
    pub lexical_only: Option<LexicalOnly>,
}

impl SearchReport {
    /// Removes the citations that a request does not want. The hits were verified by then, which
    /// takes their citations.
    pub fn cite(&mut self, request: &SearchRequest) {
        if request.citations.are_shown(request.session) {
            return;
        }
        for hit in &mut self.hits {
            hit.citation = None;
            hit.superseded_by = None;
        }
    }
}

/// What was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMode {
    /// Words only.
    Lexical,
    /// Words and meanings.
    Hybrid,
}

impl SearchMode {
    /// Returns its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Hybrid => "hybrid",
        }
    }
}

/// What was searched.
#[derive(Clone, Debug, Serialize)]
pub struct SourceSummary {
    /// The agent's runtime, `archive`, `database`, `folder` or `file`.
    pub kind: &'static str,
    /// The workspace, archive, database or folder.
    pub place: String,
}

impl SourceSummary {
    pub(crate) fn of(target: &SearchTarget) -> Self {
        Self { kind: target.kind, place: target.place.display().to_string() }
    }
}

/// The content of the index, and the work of its refresh.
#[derive(Clone, Debug, Serialize)]
pub struct IndexSummary {
    /// Documents.
    pub documents: u64,
    /// Chunks of them.
    pub chunks: u64,
    /// Documents that were new.
    pub added: u64,
    /// Documents that had changed.
    pub changed: u64,
    /// Documents that were gone.
    pub removed: u64,
    /// Why the index was rebuilt, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebuilt: Option<&'static str>,
    /// How much is not searched, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
}

impl IndexSummary {
    pub(crate) fn of(freshness: &Freshness) -> Self {
        Self {
            documents: freshness.documents,
            chunks: freshness.chunks,
            added: freshness.added,
            changed: freshness.changed,
            removed: freshness.removed,
            rebuilt: freshness.rebuilt,
            skipped: left_out(freshness),
        }
    }
}

/// One hit: lines of a document.
#[derive(Debug, Serialize)]
pub struct SearchHit {
    /// The document.
    pub path: String,
    /// Its first line.
    pub start_line: u32,
    /// Its last line.
    pub end_line: u32,
    /// Path and lines, as they are cited; `None`: they are not to be cited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    /// The headings above it, the outermost first.
    pub headings: Vec<String>,
    /// Its day.
    pub date: Option<String>,
    /// From 0 to 1.
    pub score: f64,
    /// Whether it fits so badly that it may be no answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub weak: bool,
    /// How many turns of conversations that say the same are left out.
    #[serde(skip_serializing_if = "crate::text::is_usual")]
    pub similar: usize,
    /// The lines.
    pub text: String,
    /// Where words of the query occur in `text`, in bytes.
    pub matches: Vec<[usize; 2]>,
    /// The type of the memory.
    #[serde(rename = "type")]
    pub memory_type: Option<String>,
    /// Its namespace.
    pub namespace: Option<String>,
    /// Its importance, from 0 to 1.
    pub importance: Option<f64>,
    /// Where it comes from.
    pub provenance: Provenance,
    /// How far it can be trusted.
    #[serde(flatten)]
    pub trust: Trust,
    /// Whether another entry took its place.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub superseded: bool,
    /// The citation of that entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    #[serde(skip)]
    successor: Option<Successor>,
    /// How the score was computed, if the user asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<ExplainedScore>,
}

/// How a score was computed.
#[derive(Debug, Serialize)]
pub struct ExplainedScore {
    /// Its parts, by name.
    #[serde(serialize_with = "in_order")]
    pub parts: Vec<(&'static str, f64)>,
    /// The words that were compared.
    pub terms: Vec<String>,
}

/// Writes named numbers as an object that keeps their order.
fn in_order<S: Serializer>(
    parts: &[(&'static str, f64)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(parts.iter().copied())
}

/// Finds what an agent remembers. The index is brought up to date first.
pub fn search(request: &SearchRequest, host: &Host) -> Result<SearchReport, SearchError> {
    let started = Instant::now();
    request.check()?;
    let machine = host.machine()?;
    let target = request.target.find(&machine, host)?;
    let mut open = open_fresh(&target, host, Rebuild::No, IndexFallback::Temporary)?;
    let mut report = ask(request, &target, &mut open, started, host)?;
    if request.target.path.is_none() && !report.hits.is_empty() {
        trust::verify(&mut report.hits, &target, &machine, host);
    }
    // A profile ranks like another program, and that program has no successors.
    if request.ranking.is_ours() {
        sink_superseded(&mut report.hits);
    }
    let settings = target.readable_config(host).search;
    let citations = request.citations.or(settings.citations);
    report.cite(&SearchRequest { citations, ..request.clone() });
    Ok(report)
}

/// Asks an index that is up to date.
pub fn ask(
    request: &SearchRequest,
    target: &SearchTarget,
    open: &mut OpenIndex,
    started: Instant,
    host: &Host,
) -> Result<SearchReport, SearchError> {
    let request = &request.configured(target, host);
    let question = request.question(host);
    let SearchRequest { ranking, embedder, large_jobs, .. } = request;
    let budget = LatencyBudget::Answer;
    let mut embedders =
        ranking.embedders(embedder, *large_jobs, &open.index, target, &budget, host)?;
    // Vectors that are not stored would be requested again at every search.
    let is_kept =
        !open.is_temporary() || !embedders.main.as_ref().is_some_and(ChosenEmbedder::is_remote);
    if !request.ranking.is_ours() {
        take_carried_for(&question, &mut open.index, target, &mut embedders)?;
    } else if is_kept && top_up(&mut open.index, target, &mut embedders)? {
        open.look_again(target, host)?;
    }
    let answer = open.search(&question, target, host, &embedders.list())?;
    let mut notes = open.notes(target);
    let unsaid = target.state.as_deref().map(|state| unsaid(&target.settings, state));
    notes.extend(unsaid.into_iter().flatten().map(SearchNote::SettingIgnored));
    notes.extend(service_of_runtime(request, target, &mut embedders, host));
    notes.append(&mut embedders.notes);
    for note in &answer.notes {
        notes.push(note_of(note, request, &open.index)?);
    }
    let is_empty = answer.hits.is_empty() && open.freshness.documents > 0;
    if is_empty
        && let RankingChoice::Other(profile) = request.ranking.profile
        && let Some(score) = profile.minimum_score()
    {
        let score = request.ranking.min_score.unwrap_or(score);
        notes.push(SearchNote::MinimumScore { profile: profile.name(), score });
    }
    let compared = VectorComparison::of(&answer.rankers, &embedders);
    let mut hits = hits(answer, target);
    // Only the files of an agent are for some sessions and not for others.
    let is_of_agent = by_name(target.kind).is_some();
    if let Some(session) = request.session.filter(|_| is_of_agent) {
        let before = hits.len();
        hits.retain(|hit| session.may_see(&hit.path));
        let withheld = before - hits.len();
        if withheld > 0 {
            notes.push(SearchNote::NotForSession { session, withheld });
        }
    }
    notes.extend(compared.notes.into_iter().map(SearchNote::Vectors));
    Ok(SearchReport {
        query: request.query.clone(),
        source: SourceSummary::of(target),
        mode: if compared.vectors.is_empty() { SearchMode::Lexical } else { SearchMode::Hybrid },
        model: compared.vectors.first().map(|line| line.model.clone()),
        lexical_only: compared.lexical_only,
        vectors: compared.vectors,
        notes: Statement::list(notes),
        index: IndexSummary::of(&open.freshness),
        hits,
        took_ms: milliseconds(started),
    })
}

/// Says once that texts go to a service that only the configuration of the runtime names, or that
/// the service cannot be had.
fn service_of_runtime(
    request: &SearchRequest,
    target: &SearchTarget,
    embedders: &mut Embedders,
    host: &Host,
) -> Option<SearchNote> {
    let is_remote = embedders.main.as_ref().is_some_and(ChosenEmbedder::is_remote);
    let setting = target.settings.deciding(SettingKey::Embedder);
    let (setting, state) = setting.zip(target.state.as_deref())?;
    let own = Config::read(host).ok()?;
    if request.embedder.is_named() || own.embedder.is_some() || !own.order.is_empty() {
        return None;
    }
    if is_remote {
        let new = unsaid_of("service", &[setting], state).pop();
        return new.map(SearchNote::ServiceOfRuntime);
    }
    let is_missing = |note: &SearchNote| {
        matches!(note, SearchNote::EmbedderUnavailable { error: EmbedderError::NoKey(_), .. })
    };
    if embedders.notes.iter().any(is_missing) && unsaid_of("key", &[setting], state).is_empty() {
        embedders.notes.retain(|note| !is_missing(note));
    }
    None
}

fn note_of(
    note: &AnswerNote,
    request: &SearchRequest,
    index: &Index,
) -> Result<SearchNote, IndexError> {
    Ok(match note {
        AnswerNote::PhraseNotFound(phrase) => SearchNote::PhraseNotFound(phrase.clone()),
        AnswerNote::NothingAsked if only_excludes(&request.query) => SearchNote::OnlyExclusions,
        AnswerNote::NothingAsked => SearchNote::NothingAsked,
        AnswerNote::SettingsUnused(settings) => SearchNote::SettingsUnused {
            ranking: request.ranking.profile.name(),
            settings: settings.clone(),
        },
        AnswerNote::OnlyAlike => SearchNote::OnlyAlike,
        AnswerNote::OnlyWeak => SearchNote::OnlyWeak,
        AnswerNote::TooWeak { count } => SearchNote::TooWeak { withheld: *count },
        AnswerNote::FilteredOut => {
            let (by_type, by_name) = (!request.types.is_empty(), !request.namespaces.is_empty());
            let known = if by_type || by_name { index.kinds()? } else { Kinds::default() };
            SearchNote::FilteredOut {
                types: by_type.then_some(known.types),
                namespaces: by_name.then_some(known.namespaces),
            }
        }
    })
}

/// Whether a query only contains excluded words.
fn only_excludes(query: &str) -> bool {
    let mut words = query.split_whitespace().peekable();
    words.peek().is_some() && words.all(|word| word.len() > 1 && word.starts_with('-'))
}

fn hits(answer: Answer, target: &SearchTarget) -> Vec<SearchHit> {
    let has_stamps = answer.hits.iter().any(|hit| hit.provenance.record.is_some());
    let stamps = if has_stamps { target.stamps() } else { StampTable::default() };
    answer.hits.into_iter().map(|hit| hit_of(hit, &stamps)).collect()
}

fn hit_of(hit: Hit, stamps: &StampTable) -> SearchHit {
    let citation = hit.citation();
    let provenance = hit.provenance.resolved(stamps);
    SearchHit {
        citation: Some(citation),
        path: hit.path,
        start_line: hit.start_line,
        end_line: hit.end_line,
        headings: hit.headings,
        date: hit.date.map(|date| date.to_string()),
        score: hit.score,
        weak: hit.is_weak,
        similar: hit.similar,
        matches: hit.matches.iter().map(|range| [range.start, range.end]).collect(),
        memory_type: hit.memory_type,
        namespace: hit.namespace,
        importance: hit.importance,
        trust: Trust::of(&hit.text, provenance.origin.is_some()),
        superseded: false,
        superseded_by: None,
        successor: None,
        text: hit.text,
        provenance,
        explain: hit
            .explanation
            .map(|Explanation { parts, terms }| ExplainedScore { parts, terms }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_of_exclusions_is_told_from_an_empty_one() {
        for query in ["-zebra", " -zebra  -circus ", "--x"] {
            assert!(only_excludes(query), "{query}");
        }
        for query in ["", " ", "-", "- zebra", "zebra -circus", "???"] {
            assert!(!only_excludes(query), "{query}");
        }
    }
}
