//! How somebody would type what is searched, and why there is nothing to search.

use std::path::Path;

use anemone_runtimes::connect::quoted;

use crate::error::{Error, Kind};
use crate::search::target::{TargetChoice, TargetError};

/// Returns the arguments that name what is searched, each behind a space.
#[must_use]
pub fn target_words(choice: &TargetChoice) -> String {
    let mut words = String::new();
    let mut add = |flag: &str, value: Option<String>| {
        if let Some(value) = value {
            words.push_str(flag);
            words.push(' ');
            words.push_str(&quoted(&value));
        }
    };
    let text = |path: &Path| path.display().to_string();
    add("", choice.path.as_deref().map(text));
    add(" -r", choice.agent.runtime.clone());
    add(" -w", choice.agent.workspace.as_deref().map(text));
    add(" --agent", choice.agent.agent.clone());
    add(" --index-dir", choice.index_dir.as_deref().map(text));
    if choice.sessions {
        words.push_str(" --sessions");
    }
    if choice.private {
        words.push_str(" --private");
    }
    words
}

impl From<TargetError> for Error {
    fn from(error: TargetError) -> Self {
        const PATH_HINT: &str = "give a workspace, a folder of Markdown, a .md file, a ZeroClaw \
                                 database or an .alf archive";
        let said = |kind, code| Self::from_error(kind, code, &error);
        match &error {
            TargetError::TwoPlaces => {
                Self::new(Kind::Usage, "usage", "give either -w DIR or a path, not both")
                    .hint("quote the query if it has several words")
            }
            TargetError::NotFound { .. } => said(Kind::Failed, "not_found").hint(PATH_HINT),
            TargetError::NotAFile { path } | TargetError::NotSearchable { path } => {
                said(Kind::Failed, "not_searchable").about(path).hint(PATH_HINT)
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
                TargetError::Unreadable(error) => Self::from(error).hint(PATH_HINT),
                TargetError::IndexFolder(error) => {
                    Self::from(error).hint("give another --index-dir")
                }
                TargetError::Archive { path, source } => Self::from(source).about(&path),
                TargetError::Io(error) => error.into(),
                TargetError::Agent(error) => error.into(),
                TargetError::Other(error) => error,
                other => Self::from_error(Kind::Failed, "source", &other),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_searched_is_named_as_a_shell_takes_it() {
        let mut choice = TargetChoice::default();
        assert_eq!(target_words(&choice), "");
        choice.path = Some("notes/a.md".into());
        assert_eq!(target_words(&choice), " notes/a.md");
        choice.path = None;
        choice.agent.workspace = Some("it's mine".into());
        choice.index_dir = Some("own".into());
        choice.private = true;
        assert_eq!(target_words(&choice), " -w 'it'\\''s mine' --index-dir own --private");
    }
}
