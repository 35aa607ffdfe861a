//! Why there is no answer, in words.

use anemone::search::eval::EvalError;
use anemone::search::index::IndexError;
use anemone::search::read::ReadDocumentError;
use anemone::search::target::TargetError;
use anemone::search::{NoteWords, SearchError};
use anemone_runtimes::with_agents;

use super::index::INDEX_HINT;
use super::{Explain, UserError};
use crate::vectors;

impl Explain for TargetError {
    fn explain(&self) -> UserError {
        let path_hint = || {
            let with_rows = with_agents().find(|runtime| runtime.keeps_rows());
            let title = with_rows.map_or("runtime's", |runtime| runtime.title);
            format!(
                "give a workspace, a folder of Markdown, a .md file, a {title} database or an \
                 .alf archive"
            )
        };
        match self {
            Self::TwoPlaces => UserError::usage("give either -w DIR or a path, not both")
                .hint("quote the query if it has several words"),
            Self::NotFound(_) => self.failure("not_found").hint(path_hint()),
            Self::NotAFile(path) | Self::NotSearchable(path) => {
                self.failure("not_searchable").about(path).hint(path_hint())
            }
            Self::Delta(path) => self
                .failure("wrong_kind")
                .about(path)
                .hint("apply it to its archive with `anemone apply`, and search the result"),
            Self::TooLarge(path) => {
                self.failure("too_large").about(path).hint("cut it into several files")
            }
            Self::NoFolder => self.misuse("usage").hint("give it with -w DIR"),
            Self::StateFolder(_) => {
                self.misuse("state_folder").hint("give the workspace with -w DIR")
            }
            Self::NoWorkspace(_) => self
                .failure("workspace_not_found")
                .hint("give the folder that holds MEMORY.md and memory/ with -w DIR"),
            Self::NoMemories { workspace, .. } => self
                .failure("nothing_to_search")
                .about(workspace)
                .hint("search its conversations with --sessions"),
            Self::IndexFolderTaken(folder) => {
                self.misuse("index_dir").about(folder).hint("give an empty or a new folder")
            }
            Self::Unreadable(error) => error.explain().hint(path_hint()),
            Self::IndexFolder(error) => error.explain().hint("give another --index-dir"),
            Self::Archive { path, source } => source.explain().about(path),
            other => pass_on!(other, "source", [Io, Agent, File]),
        }
    }
}

impl Explain for IndexError {
    fn explain(&self) -> UserError {
        match self {
            Self::Refresh(_) => self.failure("index").hint(INDEX_HINT),
            Self::Folder { folder, source } => source.explain().about(folder),
            other => pass_on!(other, "index", [Source, Open, Ask, Store, Io]),
        }
    }
}

impl Explain for SearchError {
    fn explain(&self) -> UserError {
        match self {
            Self::EmptyPeriod { .. } => {
                self.misuse("usage").hint("--since is the earlier day, --until the later one")
            }
            Self::NeverKept(place) => self
                .failure("encrypted")
                .about(place)
                .hint("search it directly: every search builds a temporary index"),
            other => pass_on!(other, "search", [Target, Index, Embedder, Fill]),
        }
    }
}

impl Explain for ReadDocumentError {
    fn explain(&self) -> UserError {
        match self {
            Self::LinesTwice => {
                self.misuse("usage").hint("give them behind the path, or with --from and --lines")
            }
            Self::NotLines { .. } => self
                .misuse("usage")
                .hint("lines start at 1: PATH:FROM, PATH:FROM:LINES, PATH#L8 or PATH#L8-L12"),
            Self::NotFound { similar, .. } => {
                let said = self.failure("document_not_found");
                match similar.as_slice() {
                    [] => said.hint("use a path as `anemone search` prints it"),
                    similar => said.hint(format!("similar are: {}", similar.join(", "))),
                }
            }
            other => pass_on!(other, "read", [Target, Source, Io]),
        }
    }
}

impl Explain for EvalError {
    fn explain(&self) -> UserError {
        match self {
            Self::Line { path, .. } => self.failure("queries_invalid").about(path).hint(
                "each line is {\"id\":..,\"query\":..,\"category\":..,\
                 \"relevant\":[{\"path\":..,\"line\":..}]}",
            ),
            Self::NoQuestions(path) | Self::NoneOfCategory(path) => self
                .failure("no_questions")
                .about(path)
                .hint("give one JSON object a line; --category takes what they say of themselves"),
            Self::NoAnswers(path) => self
                .failure("no_answers")
                .about(path)
                .hint("give each question \"relevant\": [{\"path\": ..., \"line\": ...}]"),
            Self::EmbedderFailed(note) => {
                let NoteWords { code, message } = vectors(note);
                UserError::failure(code, message)
            }
            other => pass_on!(other, "eval", [Queries, Search]),
        }
    }
}
