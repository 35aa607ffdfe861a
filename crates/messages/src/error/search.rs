//! Why there is no answer, in words.

use anemone::search::eval::EvalError;
use anemone::search::index::IndexError;
use anemone::search::read::ReadDocumentError;
use anemone::search::target::TargetError;
use anemone::search::{NoteWords, SearchError};
use anemone_runtimes::with_agents;

use super::{Kind, UserError};
use crate::vectors;

impl From<TargetError> for UserError {
    fn from(error: TargetError) -> Self {
        let path_hint = || {
            let with_rows = with_agents().find(|runtime| runtime.keeps_rows());
            let title = with_rows.map_or("runtime's", |runtime| runtime.title);
            format!(
                "give a workspace, a folder of Markdown, a .md file, a {title} database or an \
                 .alf archive"
            )
        };
        let said = |kind, code| Self::from_error(kind, code, &error);
        match &error {
            TargetError::TwoPlaces => Self::usage("give either -w DIR or a path, not both")
                .hint("quote the query if it has several words"),
            TargetError::NotFound { .. } => said(Kind::Failed, "not_found").hint(path_hint()),
            TargetError::NotAFile { path } | TargetError::NotSearchable { path } => {
                said(Kind::Failed, "not_searchable").about(path).hint(path_hint())
            }
            TargetError::Delta { path } => said(Kind::Failed, "wrong_kind")
                .about(path)
                .hint("apply it to its archive with `anemone apply`, and search the result"),
            TargetError::TooLarge { path } => {
                said(Kind::Failed, "too_large").about(path).hint("cut it into several files")
            }
            TargetError::NoFolder => said(Kind::Usage, "usage").hint("give it with -w DIR"),
            TargetError::StateFolder { .. } => {
                said(Kind::Usage, "state_folder").hint("give the workspace with -w DIR")
            }
            TargetError::NoWorkspace { .. } => said(Kind::Failed, "workspace_not_found")
                .hint("give the folder that holds MEMORY.md and memory/ with -w DIR"),
            TargetError::NoMemories { workspace, .. } => said(Kind::Failed, "nothing_to_search")
                .about(workspace)
                .hint("search its conversations with --sessions"),
            TargetError::IndexFolderTaken { folder } => {
                said(Kind::Usage, "index_dir").about(folder).hint("give an empty or a new folder")
            }
            _ => match error {
                TargetError::Unreadable(error) => Self::from(error).hint(path_hint()),
                TargetError::IndexFolder(error) => {
                    Self::from(error).hint("give another --index-dir")
                }
                TargetError::Archive { path, source } => Self::from(source).about(&path),
                other => pass_on!(other, "source", TargetError, [Io, Agent, File]),
            },
        }
    }
}

impl From<IndexError> for UserError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Refresh(error) => anemone_index::RefreshError::Store(error).into(),
            IndexError::Folder { folder, source } => Self::from(*source).about(&folder),
            other => pass_on!(other, "index", IndexError, [Source, Open, Ask, Store, Io]),
        }
    }
}

impl From<SearchError> for UserError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::EmptyPeriod { .. } => Self::from_error(Kind::Usage, "usage", &error)
                .hint("--since is the earlier day, --until the later one"),
            SearchError::NeverKept { ref place } => Self::failure_from("encrypted", &error)
                .about(place)
                .hint("search it directly: every search builds a temporary index"),
            other => pass_on!(other, "search", SearchError, [Target, Index, Embedder, Fill, Io]),
        }
    }
}

impl From<ReadDocumentError> for UserError {
    fn from(error: ReadDocumentError) -> Self {
        let said = |kind, code| Self::from_error(kind, code, &error);
        match &error {
            ReadDocumentError::LinesTwice => said(Kind::Usage, "usage")
                .hint("give them behind the path, or with --from and --lines"),
            ReadDocumentError::NotLines { .. } => said(Kind::Usage, "usage")
                .hint("lines start at 1: PATH:FROM, PATH:FROM:LINES, PATH#L8 or PATH#L8-L12"),
            ReadDocumentError::NotFound { similar, .. } => {
                let said = said(Kind::Failed, "document_not_found");
                match similar.as_slice() {
                    [] => said.hint("use a path as `anemone search` prints it"),
                    similar => said.hint(format!("similar are: {}", similar.join(", "))),
                }
            }
            _ => pass_on!(error, "read", ReadDocumentError, [Target, Source, Io]),
        }
    }
}

impl From<EvalError> for UserError {
    fn from(error: EvalError) -> Self {
        let said = |code| Self::failure_from(code, &error);
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
                let NoteWords { code, message } = vectors(note);
                Self::failure(code, message)
            }
            _ => pass_on!(error, "eval", EvalError, [Queries, Search]),
        }
    }
}
