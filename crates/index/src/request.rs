//! Questions and answers.

use std::ops::Range;

use anemone_embed::ModelIdentity;
use jiff::Timestamp;
use jiff::civil::Date;

use crate::document::Provenance;
use crate::profile::RankingChoice;

/// A question, as the CLI and the MCP server pass it.
#[derive(Clone, Debug)]
pub struct Request {
    /// The query text; any text is valid.
    pub query: String,
    /// How many hits at most.
    pub limit: usize,
    /// How many characters a hit's text has at most.
    pub snippet_chars: usize,
    /// Only documents dated on or after this day.
    pub since: Option<Date>,
    /// Only documents dated on or before this day.
    pub until: Option<Date>,
    /// Only these types of memory; empty: all.
    pub types: Vec<String>,
    /// Only these namespaces; empty: all.
    pub namespaces: Vec<String>,
    /// Only paths that match one of these globs, or are below one of these folders; empty: all.
    pub paths: Vec<String>,
    /// The ranking to use.
    pub profile: RankingChoice,
    /// The days after which a dated text counts half; evergreen documents do not age.
    pub recency_half_life: Option<f64>,
    /// Whether importance counts.
    pub importance: bool,
    /// Whether similar hits are spread: 1 is relevance only, 0 is difference only.
    pub diversity: Option<f64>,
    /// The minimum score of a hit, from 0 to 1; `None`: hits without a word of the query must be
    /// about as near as answers usually are.
    pub min_score: Option<f64>,
    /// Changed constants of another program's ranking.
    pub tuning: RankingTuning,
    /// Whether each hit explains its score.
    pub explain: bool,
    /// The time of the question.
    pub now: Timestamp,
}

impl Request {
    /// Returns a question with the default settings.
    #[must_use]
    pub fn new(query: impl Into<String>, now: Timestamp) -> Self {
        Self {
            query: query.into(),
            limit: 6,
            snippet_chars: 700,
            since: None,
            until: None,
            types: Vec::new(),
            namespaces: Vec::new(),
            paths: Vec::new(),
            profile: RankingChoice::Anemone,
            recency_half_life: None,
            importance: false,
            diversity: None,
            min_score: None,
            tuning: RankingTuning::default(),
            explain: false,
            now,
        }
    }

    /// Returns the settings that differ from the defaults of every ranking.
    pub(crate) fn settings(&self) -> Vec<RankingSetting> {
        let RankingTuning { vector_weight, text_weight, .. } = self.tuning;
        let RankingTuning { candidate_multiplier, chunk_tokens, chunk_overlap, .. } = self.tuning;
        let all = [
            (RankingSetting::Recency, self.recency_half_life.is_some()),
            (RankingSetting::Importance, self.importance),
            (RankingSetting::Diversity, self.diversity.is_some()),
            (RankingSetting::MinScore, self.min_score.is_some()),
            (RankingSetting::VectorWeight, vector_weight.is_some()),
            (RankingSetting::TextWeight, text_weight.is_some()),
            (RankingSetting::CandidateMultiplier, candidate_multiplier.is_some()),
            (RankingSetting::ChunkTokens, chunk_tokens.is_some()),
            (RankingSetting::ChunkOverlap, chunk_overlap.is_some()),
        ];
        all.into_iter().filter(|(_, is_set)| *is_set).map(|(setting, _)| setting).collect()
    }
}

/// Changed constants of another program's ranking, as its own configuration sets them. `None`: the
/// default of that program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RankingTuning {
    /// The weight of vectors, relative to that of words.
    pub vector_weight: Option<f64>,
    /// The weight of words, relative to that of vectors.
    pub text_weight: Option<f64>,
    /// How many candidates are compared for each requested hit.
    pub candidate_multiplier: Option<u32>,
    /// The size of a chunk, in tokens.
    pub chunk_tokens: Option<u32>,
    /// How much of a chunk the next one repeats, in tokens.
    pub chunk_overlap: Option<u32>,
}

impl RankingTuning {
    /// Returns the weights of vectors and of words, scaled so that their sum is 1. A weight that is
    /// missing or is no number is the default; two weights of 0 are both the default.
    #[must_use]
    pub fn weights(&self, (vector, text): (f64, f64)) -> (f64, f64) {
        let given = |weight: Option<f64>, default: f64| {
            weight
                .filter(|weight| weight.is_finite())
                .map_or(default, |weight| weight.clamp(0.0, 1.0))
        };
        if self.vector_weight.is_none() && self.text_weight.is_none() {
            return (vector, text);
        }
        let weights = (given(self.vector_weight, vector), given(self.text_weight, text));
        let sum = weights.0 + weights.1;
        if sum > 0.0 { (weights.0 / sum, weights.1 / sum) } else { (vector, text) }
    }
}

/// What a user can change of a ranking. No ranking takes all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RankingSetting {
    /// How quickly texts age.
    Recency,
    /// Whether importance counts.
    Importance,
    /// How much similar hits are spread.
    Diversity,
    /// The minimum score.
    MinScore,
    /// The weight of vectors.
    VectorWeight,
    /// The weight of words.
    TextWeight,
    /// How many candidates are compared for each requested hit.
    CandidateMultiplier,
    /// The size of chunks.
    ChunkTokens,
    /// How much consecutive chunks share.
    ChunkOverlap,
}

impl RankingSetting {
    /// What our own ranking takes.
    pub(crate) const OURS: [Self; 4] =
        [Self::Recency, Self::Importance, Self::Diversity, Self::MinScore];
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The hits, the best first; the first k are the same for every larger limit.
    pub hits: Vec<Hit>,
    /// What the answer is based on.
    pub rankers: Rankers,
    /// Remarks about the answer.
    pub notes: Vec<AnswerNote>,
}

/// What an answer is based on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rankers {
    /// Whether words were compared.
    pub lexical: bool,
    /// The outcome of each embedder, in the order in which they were named; empty: there is none.
    pub vectors: Vec<VectorRanker>,
}

/// The outcome of an embedder in a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorRanker {
    /// The model of the vectors.
    pub identity: ModelIdentity,
    /// Whether they were compared, and if not, why.
    pub outcome: VectorOutcome,
}

/// Whether vectors were compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VectorOutcome {
    /// They were compared, for all chunks that no earlier embedder has vectors for.
    Used {
        /// Chunks of the index that have vectors of this embedder.
        chunks: u64,
        /// Chunks that have none yet.
        missing: u64,
    },
    /// There are vectors, but those of earlier embedders left nothing to compare.
    Spare,
    /// The embedder failed on the query.
    Failed(String),
    /// The index has no vectors of it.
    NoVectors,
    /// The index has vectors of another model instead.
    OtherModel(ModelIdentity),
}

/// A remark about an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerNote {
    /// No text has this quoted phrase; its words were searched for instead.
    PhraseNotFound(String),
    /// The query has nothing to search for.
    NothingAsked,
    /// The filters leave no document.
    FilteredOut,
    /// No text has any word of the query; the hits have similar words.
    OnlyAlike,
    /// All hits are weak: there may be no answer.
    OnlyWeak,
    /// The ranking does not take these settings.
    SettingsUnused(Vec<RankingSetting>),
    /// Nothing was found, and the nearest blocks are too far from the query.
    TooWeak {
        /// How many blocks were left out.
        count: usize,
    },
}

impl AnswerNote {
    /// Returns the settings that the ranking does not take, if that is the remark.
    #[must_use]
    pub fn unused(&self) -> Option<&[RankingSetting]> {
        match self {
            Self::SettingsUnused(settings) => Some(settings),
            _ => None,
        }
    }
}

/// A hit: a focused piece of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The document.
    pub path: String,
    /// The first line of `text`, from 1.
    pub start_line: u32,
    /// The last line of `text`.
    pub end_line: u32,
    /// Where `text` is in the document, in bytes.
    pub bytes: Range<usize>,
    /// The headings above it, the outermost first.
    pub headings: Vec<String>,
    /// The day it is about.
    pub date: Option<Date>,
    /// How well it fits, from 0 to 1, comparable within one answer.
    pub score: f64,
    /// Whether it fits so badly that it may not be an answer.
    pub is_weak: bool,
    /// Whether it only asks, or says that nothing is known: a turn of a conversation.
    pub is_open: bool,
    /// How many other turns of conversations say the same and are left out.
    pub similar: usize,
    /// The piece itself, verbatim.
    pub text: String,
    /// Where words of the query occur in `text`, in bytes, sorted, apart from each other.
    pub matches: Vec<Range<usize>>,
    /// The kind of memory.
    pub memory_type: Option<String>,
    /// The namespace.
    pub namespace: Option<String>,
    /// How much it matters.
    pub importance: Option<f64>,
    /// Where it comes from.
    pub provenance: Provenance,
    /// How the score was computed, if requested.
    pub explanation: Option<Explanation>,
}

impl Hit {
    /// Returns how the hit is quoted: `path#L8` or `path#L8-L12`.
    #[must_use]
    pub fn citation(&self) -> String {
        if self.start_line == self.end_line {
            format!("{}#L{}", self.path, self.start_line)
        } else {
            format!("{}#L{}-L{}", self.path, self.start_line, self.end_line)
        }
    }
}

/// How a score was computed: named numbers, in the order in which they are used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// Such as `block`, `passage`, `file`, `vector`, `conversation`, `recency`.
    pub parts: Vec<(&'static str, f64)>,
    /// The words of the query that occur in the best block, as they were compared.
    pub terms: Vec<String>,
}
