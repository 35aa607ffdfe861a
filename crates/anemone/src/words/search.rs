//! Why there is no answer, and what is said about one, in words.

use serde::Serialize;

use super::embedder::index_command;
use super::target_words;
use crate::error::{Error, Kind, plain};
use crate::search::eval::EvalError;
use crate::search::index::IndexError;
use crate::search::read::ReadError;
use crate::search::{SearchError, SearchNote, SourceNote, VectorNote};
use crate::text::count;

/// Something that somebody should know, with a stable word for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The stable word.
    pub code: &'static str,
    /// What is to be known.
    pub message: String,
}

impl From<Error> for Warning {
    fn from(error: Error) -> Self {
        let parts = std::iter::once(error.message).chain(error.causes);
        let message = parts.collect::<Vec<_>>().join(": ");
        let hint = error.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        Self { code: error.code, message: message + &hint }
    }
}

/// Says a note in words.
#[must_use]
pub fn warning(note: SearchNote) -> Warning {
    let (code, message) = match note {
        SearchNote::Source(note) => return source(&note),
        SearchNote::NotFilled(error) => return Error::from(error).into(),
        SearchNote::Vectors(note) => return vectors(&note),
        SearchNote::EmbedderUnavailable { embedder, error } => {
            let why = Warning::from(Error::from(error)).message;
            ("embedder_unavailable", format!("{embedder} is not used: {why}"))
        }
        SearchNote::EmbedderNotNamed { embedder } => (
            "embedder_unnamed",
            format!(
                "the index has vectors of {embedder}, which is asked only when it is named: \
                 --embedder {embedder}"
            ),
        ),
        SearchNote::ModelUnused { model, target } => (
            "model_unused",
            format!(
                "{model} is on this machine and not used here; `anemone index --embedder \
                 {model}{}` takes it",
                target_words(&target)
            ),
        ),
        SearchNote::CarriedUnreadable { reason } => {
            ("carried_unreadable", format!("vectors that came along are not all used: {reason}"))
        }
        SearchNote::CarriedTooMany { left } => {
            ("carried_left", format!("{left} vectors that came along are too many"))
        }
        SearchNote::PhraseNotFound { phrase } => (
            "phrase_not_found",
            format!("No exact match for {phrase:?}; searched for its words instead"),
        ),
        SearchNote::NothingAsked => {
            ("nothing_asked", "there is nothing to look for in the query".to_owned())
        }
        SearchNote::OnlyExclusions => {
            ("nothing_asked", "the query only excludes; give a word to look for besides".to_owned())
        }
        SearchNote::OnlyAlike => (
            "only_alike",
            "no text has any of these words; these hits have similar ones".to_owned(),
        ),
        SearchNote::OnlyWeak => {
            ("only_weak", "only weak matches; the answer may not be there".to_owned())
        }
        SearchNote::TooWeak => (
            "too_weak",
            "nothing is similar enough; --min-score 0 shows the nearest texts".to_owned(),
        ),
        SearchNote::FilteredOut { types, namespaces } => {
            let mut message = "no document passes the filters".to_owned();
            for (name, known) in [("types", types), ("namespaces", namespaces)] {
                match known {
                    None => {}
                    Some(known) if known.is_empty() => {
                        message.push_str(&format!("; there are no {name}"));
                    }
                    Some(known) => message.push_str(&format!("; {name}: {}", known.join(", "))),
                }
            }
            ("filtered_out", message)
        }
        SearchNote::MinimumScore { profile, score } => (
            "minimum_score",
            format!(
                "{profile} leaves out what it scores below {score}, which in a few files can be \
                 everything"
            ),
        ),
        SearchNote::UnknownPath { lines, path } => (
            "unknown_path",
            format!(
                "{} of documents that are not there, such as {path:?}",
                count(lines, "relevant line")
            ),
        ),
        SearchNote::UnknownLine { lines, path, line } => (
            "unknown_line",
            format!(
                "{} that the documents do not have, such as {path}#L{line}",
                count(lines, "relevant line")
            ),
        ),
    };
    Warning { code, message }
}

fn source(note: &SourceNote) -> Warning {
    let (code, message) = match note {
        SourceNote::Runtime { message } => ("source", message.clone()),
        SourceNote::NotesBeside { files } => (
            "source",
            format!(
                "this folder is an agent's workspace, so only its memories are searched; {} beside \
                 them not: `-r folder -w DIR` searches all files",
                match files {
                    1 => "1 Markdown file is".to_owned(),
                    many => format!("{many} Markdown files are"),
                }
            ),
        ),
        SourceNote::PlaceNotSearched { place, reason } => {
            ("source", format!("{} is not searched: {reason}", place.display()))
        }
        SourceNote::EncryptedNotKept => (
            "source",
            "the archive is encrypted, so its index is not kept in --index-dir".to_owned(),
        ),
        SourceNote::IndexNotKept { folder, reason } => (
            "index_not_kept",
            format!(
                "the index cannot be kept in {}, so everything is indexed at every search: {}",
                folder.display(),
                plain(reason)
            ),
        ),
    };
    Warning { code, message }
}

fn vectors(note: &VectorNote) -> Warning {
    let (code, message) = match note {
        VectorNote::Failed { embedder, reason } => {
            ("embedder_failed", format!("{embedder} is left out of this search: {reason}"))
        }
        VectorNote::Missing { embedder, model, missing, chunks } => (
            "vectors_missing",
            format!(
                "{missing} of {chunks} chunks have no vectors of {model} yet; `{}` fills them",
                index_command(embedder)
            ),
        ),
        VectorNote::None { embedder, model } => (
            "no_vectors",
            format!(
                "the index has no vectors of {model}; `{}` fills them",
                index_command(embedder)
            ),
        ),
        VectorNote::OtherModel { embedder, model, there, provider } => (
            "other_model",
            format!(
                "the index has vectors of {there} ({provider}), not of {model}; `{} --reembed` \
                 replaces them",
                index_command(embedder)
            ),
        ),
    };
    Warning { code, message }
}

impl From<IndexError> for Error {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Source(error) => error.into(),
            IndexError::Open(error) => error.into(),
            IndexError::Refresh(error) => anemone_index::RefreshError::Store(error).into(),
            IndexError::Folder { folder, source } => Self::from(*source).about(&folder),
            IndexError::Ask(error) => error.into(),
            IndexError::Store(error) => error.into(),
            IndexError::Io(error) => error.into(),
            IndexError::Other(error) => error,
        }
    }
}

impl From<SearchError> for Error {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::EmptyPeriod { .. } => Self::from_error(Kind::Usage, "usage", &error)
                .hint("--since is the earlier day, --until the later one"),
            SearchError::NeverKept { ref place } => {
                Self::from_error(Kind::Failed, "encrypted", &error)
                    .about(place)
                    .hint("search it directly: every search builds a temporary index")
            }
            SearchError::Target(error) => error.into(),
            SearchError::Index(error) => error.into(),
            SearchError::Embedder(error) => error.into(),
            SearchError::Fill(error) => error.into(),
            SearchError::Other(error) => error,
        }
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        let said = |kind, code| Self::from_error(kind, code, &error);
        match &error {
            ReadError::LinesTwice => said(Kind::Usage, "usage")
                .hint("give them behind the path, or with --from and --lines"),
            ReadError::NotLines { .. } => said(Kind::Usage, "usage")
                .hint("lines start at 1: PATH:FROM, PATH:FROM:LINES, PATH#L8 or PATH#L8-L12"),
            ReadError::NotFound { similar, .. } => {
                let said = said(Kind::Failed, "document_not_found");
                match similar.as_slice() {
                    [] => said.hint("use a path as `anemone search` prints it"),
                    similar => said.hint(format!("similar are: {}", similar.join(", "))),
                }
            }
            _ => match error {
                ReadError::Target(error) => error.into(),
                ReadError::Source(error) => error.into(),
                ReadError::Other(error) => error,
                other => Self::from_error(Kind::Failed, "read", &other),
            },
        }
    }
}

impl From<EvalError> for Error {
    fn from(error: EvalError) -> Self {
        let said = |code| Self::from_error(Kind::Failed, code, &error);
        match &error {
            EvalError::Line { path, .. } => said("queries_invalid").about(path).hint(
                "each line is {\"id\":..,\"query\":..,\"category\":..,\
                 \"relevant\":[{\"path\":..,\"line\":..}]}",
            ),
            EvalError::NoQuestions { path } | EvalError::NoneOfCategory { path } => {
                said("no_questions").about(path).hint(
                    "give one JSON object a line; --category takes what they say of themselves",
                )
            }
            EvalError::NoAnswers { path } => said("no_answers")
                .about(path)
                .hint("give each question \"relevant\": [{\"path\": ..., \"line\": ...}]"),
            EvalError::EmbedderFailed(note) => {
                let Warning { code, message } = vectors(note);
                Self::new(Kind::Failed, code, message)
            }
            _ => match error {
                EvalError::Queries(error) => error.into(),
                EvalError::Search(error) => error.into(),
                other => Self::from_error(Kind::Failed, "eval", &other),
            },
        }
    }
}
