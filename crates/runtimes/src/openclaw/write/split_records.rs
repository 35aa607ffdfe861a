//! Splits a text as the reader does, to know which record each piece will be.

use std::convert::Infallible;

use anemone_format::{AgentId, RecordId, Status};
use uuid::Uuid;

use crate::kit::{LinkPart, MAX_TEXT_BYTES, name_of, times};
use crate::openclaw::layout::{MemoryKind, PathRole, place_of};
use crate::openclaw::memory::{self, MemoryFile, Shared};
use anemone_markdown::Page;

/// A piece of a text that will be read as one record.
pub(super) struct RecordRange {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) id: RecordId,
    pub(super) status: Status,
    heading: Option<String>,
}

impl RecordRange {
    /// Describes the record that will be read.
    pub(super) fn part(&self, path: &str, text: &str) -> LinkPart {
        LinkPart::new(Some(path), self.heading.as_deref(), &text[self.start..self.end])
    }

    /// Returns where its text begins, after blank lines.
    pub(super) fn text_start(&self, text: &str) -> usize {
        self.end - text[self.start..self.end].trim_start().len()
    }
}

/// Returns what kind of memories a file holds; `None` when it holds none.
pub(super) fn kind_of(path: &str) -> Option<MemoryKind> {
    match place_of(path.as_bytes()) {
        PathRole::Memory(kind) => Some(kind),
        _ => None,
    }
}

/// Cuts the text of a file, in order.
pub(super) fn cut(path: &str, text: &str) -> Vec<RecordRange> {
    let Some(kind) = kind_of(path) else { return Vec::new() };
    if text.len() as u64 > MAX_TEXT_BYTES {
        return Vec::new();
    }
    let shared = Shared::of(AgentId::new(Uuid::nil()));
    let mtime = times::epoch();
    let file = MemoryFile { path, kind: &kind, text, mtime: &mtime, chunks: &[] };
    let mut cuts = Vec::new();
    // The contents of a file's records, joined, are the file.
    let mut start = 0;
    let Ok(()) = memory::records::<Infallible>(&file, &shared, &mut |record| {
        let end = start + record.content.len();
        let heading = name_of(&record);
        cuts.push(RecordRange { start, end, id: record.id, status: record.status, heading });
        start = end;
        Ok(())
    });
    cuts
}

/// Returns whether a heading after a text would not count, because a fence or a comment is open.
pub(super) fn swallows(text: &str) -> bool {
    const PROBE: &str = "## x";
    let probed = [text, "\n\n", PROBE, "\n"].concat();
    let page = Page::parse(&probed);
    page.sections().last().is_none_or(|last| last.text.trim() != PROBE)
}

/// Returns whether a text has tables.
pub(super) fn has_rows(text: &str) -> bool {
    Page::parse(text).rows().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_fence_or_comment_swallows_a_heading() {
        for (text, expected) in [
            ("plain", false),
            ("```\ncode\n```", false),
            ("```\ncode", true),
            ("~~~~\n~~~", true),
            ("<!-- open", true),
            ("<pre>\nx", true),
            ("- item\n  more", false),
            ("| a |\n|---|\n| b |", false),
            ("", false),
        ] {
            assert_eq!(swallows(text), expected, "{text:?}");
        }
    }

    #[test]
    fn cuts_cover_a_file_and_know_their_records() {
        let text = "# T\n\n## A\nx\n\n## B\ny";
        let cuts = cut("MEMORY.md", text);
        let texts: Vec<&str> = cuts.iter().map(|cut| &text[cut.start..cut.end]).collect();
        assert_eq!(texts.concat(), text);
        assert_eq!(cuts.len(), 3);
        assert_eq!(
            cuts[2].part("MEMORY.md", text),
            LinkPart::new(Some("MEMORY.md"), Some("B"), "## B\ny")
        );
        assert_eq!(&text[cuts[2].text_start(text)..], "## B\ny");
        assert!(cut("SOUL.md", text).is_empty());
    }
}
