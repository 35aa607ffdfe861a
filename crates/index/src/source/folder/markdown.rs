//! Default rules for a folder of Markdown files.

use globset::{GlobBuilder, GlobSet};
use jiff::civil::Date;

use super::FolderRules;
use crate::document::{Document, Provenance};
use crate::source::SkipReason;

/// Endings of Markdown files, in lower case.
const ENDINGS: &[&str] = &[".md", ".markdown"];
/// Folders that tools fill and that hold no memories. Hidden ones are not entered at all.
const IGNORED: &[&str] = &["node_modules", "venv", "__pycache__"];
/// Bytes of a pattern, at most.
const MAX_PATTERN_BYTES: usize = 4096;

/// Every Markdown file below a folder, or those whose path matches a pattern.
#[derive(Clone, Debug, Default)]
pub struct MarkdownFolder {
    /// The pattern as it was given, and as it is compared.
    pattern: Option<(String, GlobSet)>,
}

/// A pattern that cannot be parsed.
#[derive(Debug, thiserror::Error)]
#[error("{pattern:?} is not a pattern of paths")]
pub struct PatternError {
    /// What was given.
    pub pattern: String,
    /// What is wrong with it.
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl MarkdownFolder {
    /// Takes files whose path in the folder matches: `*` stays within a folder, `**` does not.
    pub fn matching(pattern: &str) -> Result<Self, PatternError> {
        let wrong = |source| PatternError { pattern: pattern.chars().take(200).collect(), source };
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(wrong(None));
        }
        let plain = pattern.strip_prefix("./").unwrap_or(pattern);
        let glob = GlobBuilder::new(plain).literal_separator(true).backslash_escape(true).build();
        // A set of one: unlike a single matcher, it reports when it becomes too large.
        let set = glob.and_then(|glob| GlobSet::builder().add(glob).build());
        let set = set.map_err(|error| wrong(Some(error.into())))?;
        Ok(Self { pattern: Some((pattern.to_owned(), set)) })
    }
}

impl FolderRules for MarkdownFolder {
    fn identity(&self) -> String {
        match &self.pattern {
            None => "markdown".to_owned(),
            Some((pattern, _)) => format!("markdown like {pattern:?}"),
        }
    }

    fn enters(&self, folder: &str) -> Result<(), SkipReason> {
        let name = name_of(folder);
        if name.starts_with('.') || IGNORED.contains(&name) {
            return Err(SkipReason::Ignored);
        }
        Ok(())
    }

    fn document(&self, path: &str) -> Option<Document> {
        if !is_markdown(path) {
            return None;
        }
        if self.pattern.as_ref().is_some_and(|(_, set)| !set.is_match(path)) {
            return None;
        }
        Some(markdown_document(path))
    }
}

/// Whether a file is Markdown by its name.
#[must_use]
pub fn is_markdown(path: &str) -> bool {
    ENDINGS.iter().any(|ending| {
        let start = path.len().checked_sub(ending.len());
        start.and_then(|at| path.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(ending))
    })
}

/// Returns what the path of a Markdown file says: a file with a day in its name is about that day.
#[must_use]
pub fn markdown_document(path: &str) -> Document {
    let date = date_in(name_of(path));
    Document {
        path: path.to_owned(),
        date,
        provenance: Provenance { source: "memory".to_owned(), ..Provenance::default() },
        ..Document::default()
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns the first `YYYY-MM-DD` in a name that is a valid day and not part of a longer number.
fn date_in(name: &str) -> Option<Date> {
    let digit = |at: usize| name.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    (0..name.len()).find_map(|at| {
        let text = name.get(at..at + 10).filter(|text| text.as_bytes()[4] == b'-')?;
        if (at > 0 && digit(at - 1)) || digit(at + 10) || text.as_bytes()[7] != b'-' {
            return None;
        }
        text.parse().ok().filter(|date: &Date| date.year() > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_in_a_name_is_found() {
        for name in [
            "2026-01-15.md",
            "2026-01-15-standup.md",
            "standup-2026-01-15.md",
            "会議2026-01-15.md",
            "2026-13-01 2026-01-15.md",
            "2026-01-15T10.md",
        ] {
            assert_eq!(date_in(name), Some(Date::constant(2026, 1, 15)), "{name}");
        }
        for name in [
            "",
            "notes.md",
            "2026-02-30.md",
            "12026-01-15.md",
            "2026-01-155.md",
            "2026-1-15.md",
            "20260115.md",
            "0000-01-01.md",
            "2026-0é-15",
        ] {
            assert_eq!(date_in(name), None, "{name}");
        }
    }

    #[test]
    fn a_file_with_a_day_in_its_name_is_dated() {
        let dated = markdown_document("log/2026-01-15.md");
        assert_eq!(dated.date, Some(Date::constant(2026, 1, 15)));
        assert_eq!(dated.path, "log/2026-01-15.md");
        let other = markdown_document("2026-01-15/notes.md");
        assert_eq!(other.date, None);
    }

    #[test]
    fn markdown_files_are_documents_and_tools_folders_are_not_entered() {
        let rules = MarkdownFolder::default();
        for path in ["a.md", "b/A.MD", "a.markdown", ".md", "会議.md"] {
            assert!(rules.document(path).is_some(), "{path}");
        }
        for path in ["a.txt", "a.md.bak", "amd", "", "é", "a.md "] {
            assert!(rules.document(path).is_none(), "{path}");
        }
        for folder in ["a", "notes/target", "vault/Daily", "nodemodules", "..."] {
            let hidden = folder.starts_with('.');
            assert_eq!(rules.enters(folder).is_ok(), !hidden, "{folder}");
        }
        for folder in [".git", "x/node_modules", ".obsidian", "a/.trash", "venv", "__pycache__"] {
            assert_eq!(rules.enters(folder), Err(SkipReason::Ignored), "{folder}");
        }
    }

    #[test]
    fn a_pattern_narrows_the_files() {
        let takes = |pattern: &str, path: &str| {
            MarkdownFolder::matching(pattern).unwrap().document(path).is_some()
        };
        assert!(takes("*.md", "a.md"));
        assert!(!takes("*.md", "b/a.md"));
        assert!(takes("**/*.md", "a.md"));
        assert!(takes("**/*.md", "b/c/a.md"));
        assert!(takes("./b/*.md", "b/a.md"));
        assert!(takes("{a,b}/?.md", "b/x.md"));
        assert!(!takes("{a,b}/?.md", "c/x.md"));
        assert!(!takes("**", "a.txt"), "a pattern does not make a picture Markdown");
        assert!(takes("**", "x/a.md"));
    }

    #[test]
    fn patterns_that_are_none_are_errors() {
        for pattern in ["[", "{a", "a{b,{c}", &"{a,b}".repeat(2000)] {
            assert!(MarkdownFolder::matching(pattern).is_err(), "{pattern:.20}");
        }
        // None of these is slow, whatever they are matched against.
        let hostile = MarkdownFolder::matching(&"*a".repeat(500)).unwrap();
        assert!(hostile.document(&format!("{}.md", "a".repeat(60_000))).is_none());
    }

    #[test]
    fn another_pattern_is_another_identity() {
        let identity = |pattern| MarkdownFolder::matching(pattern).unwrap().identity();
        assert_ne!(identity("a/*.md"), identity("b/*.md"));
        assert_ne!(identity("**"), MarkdownFolder::default().identity());
    }
}
