//! Notes for the user about an answer.

use std::path::PathBuf;

use anemone_index::RankingSetting;
use anemone_memory::SessionKind;
use anemone_runtimes::RuntimeSetting;
use serde::Serialize;

use crate::embedder::{EmbedderError, EmbedderName, FillError};
use crate::search::target::TargetChoice;

/// A note in the words of the program that asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoteWords {
    /// For programs.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

/// A note about the sources, their index or an answer.
#[derive(Debug)]
pub enum SearchNote {
    /// About the sources.
    Source(SourceNote),
    /// The configuration of the agent's runtime sets something that cannot be honoured.
    SettingIgnored(RuntimeSetting),
    /// Texts go to a service because the configuration of the agent's runtime names it.
    ServiceOfRuntime(RuntimeSetting),
    /// An embedder that was chosen earlier cannot be used now.
    EmbedderUnavailable {
        /// The embedder.
        embedder: EmbedderName,
        /// Why.
        error: EmbedderError,
    },
    /// The index has vectors of a service that the user did not name, so no text is sent to it.
    EmbedderNotNamed(EmbedderName),
    /// A model was added and is not used here.
    ModelUnused {
        /// Its name.
        model: &'static str,
        /// What is searched.
        target: TargetChoice,
    },
    /// Vectors that came with the documents cannot be read.
    CarriedUnreadable(String),
    /// The runtime's config names a local GGUF model, which no embedder here can run.
    GgufNotRun {
        /// The model, as the config names it.
        model: String,
    },
    /// The config names another embedder than the one whose vectors an index has.
    ModelChanged {
        /// The embedder of the config.
        embedder: Box<NamedEmbedder>,
        /// Whether it is a service.
        is_remote: bool,
        /// The model of the index.
        from: String,
        /// The model of the config.
        to: String,
    },
    /// The vectors of a model were replaced by those of another one.
    ModelReplaced {
        /// The former model.
        from: String,
        /// The model of the index now.
        to: String,
    },
    /// More vectors came with the documents than an index takes.
    CarriedTooMany(u64),
    /// An embedder that the user did not name could not fill the index.
    NotFilled(FillError),
    /// About the vectors that an answer rests on.
    Vectors(VectorNote),
    /// No document has this phrase, so its words were looked for.
    PhraseNotFound(String),
    /// The query contains no words to search for.
    NothingAsked,
    /// The query only contains excluded words.
    OnlyExclusions,
    /// A ranking does not take some settings.
    SettingsUnused {
        /// The name of the ranking.
        ranking: &'static str,
        /// The settings.
        settings: Vec<RankingSetting>,
    },
    /// No document has any of the words; the hits have similar ones.
    OnlyAlike,
    /// All hits are weak.
    OnlyWeak,
    /// Nothing is similar enough.
    TooWeak {
        /// How many weak matches were withheld.
        withheld: usize,
    },
    /// Hits that a session of this kind must not see were left out.
    NotForSession {
        /// The kind of session.
        session: SessionKind,
        /// How many hits were left out.
        withheld: usize,
    },
    /// No document passes the filters.
    FilteredOut {
        /// The types that there are, if one was asked for.
        types: Option<Vec<String>>,
        /// The namespaces that there are, if one was asked for.
        namespaces: Option<Vec<String>>,
    },
    /// Another program's ranking leaves out what scores low, and nothing was found.
    MinimumScore {
        /// The name of the ranking.
        profile: &'static str,
        /// What a hit must score to be shown.
        score: f64,
    },
    /// Questions of an evaluation are answered by documents that are not there.
    UnknownPath {
        /// How many lines are meant.
        lines: u64,
        /// The first of the documents.
        path: String,
    },
    /// Questions of an evaluation are answered by lines that documents do not have.
    UnknownLine {
        /// How many lines are meant.
        lines: u64,
        /// The document of the first.
        path: String,
        /// The first.
        line: u32,
    },
}

/// A note about the sources, or about the place of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceNote {
    /// A runtime says something about the agent.
    Runtime(String),
    /// A folder is a workspace, so Markdown files beside its memories are not searched.
    NotesBeside(usize),
    /// A place that the configuration adds is not searched.
    PlaceNotSearched {
        /// The place.
        place: PathBuf,
        /// Why.
        reason: String,
    },
    /// The index of something encrypted is not kept where the user wanted it.
    EncryptedNotKept,
    /// The index cannot be kept, so that each search builds one.
    IndexNotKept {
        /// Where it should be.
        folder: PathBuf,
        /// Why it cannot be there.
        reason: String,
    },
}

/// What became of an embedder at a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VectorNote {
    /// It failed, and is left out.
    Failed {
        /// The embedder.
        embedder: String,
        /// Why.
        reason: String,
        /// Whether it was not asked, because so large a job was not allowed.
        is_large_job: bool,
    },
    /// Some chunks have no vectors of it.
    Missing {
        /// The embedder.
        embedder: NamedEmbedder,
        /// Its model.
        model: String,
        /// Chunks without vectors.
        missing: u64,
        /// All chunks.
        chunks: u64,
    },
    /// The index has no vectors of it.
    None {
        /// The embedder.
        embedder: NamedEmbedder,
        /// Its model.
        model: String,
    },
    /// The index has vectors of another model.
    OtherModel {
        /// The embedder.
        embedder: NamedEmbedder,
        /// Its model.
        model: String,
        /// The other model.
        there: String,
        /// Who made that.
        provider: String,
    },
}

/// An embedder, and the index that it would fill: what a door needs to say how that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedEmbedder {
    /// The embedder.
    pub wanted: EmbedderName,
    /// The URL that the user gave for it.
    pub url: Option<String>,
    /// What is searched.
    pub target: TargetChoice,
}
