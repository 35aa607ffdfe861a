//! The passages of a document, for inspection.

use crate::document::Document;
#[cfg(any(test, feature = "testing"))]
use crate::document::Format;
use crate::outline::chunks::chunks;
use crate::outline::outline;

/// A passage of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage<'a> {
    /// Its first line, from 1.
    pub start_line: u32,
    /// Its last line.
    pub end_line: u32,
    /// Its text; the texts of all passages, one after the other, are the document.
    pub text: &'a str,
}

/// Cuts a document as an index does.
#[must_use]
pub fn passages(document: &Document) -> Vec<Passage<'_>> {
    let text = &document.text;
    let outline = outline(text, document.format);
    let cut = chunks(text, &outline).into_iter();
    cut.filter_map(|chunk| {
        let text = text.get(chunk.bytes)?;
        // A line break at the end does not begin another line.
        let breaks = text.strip_suffix('\n').unwrap_or(text).matches('\n').count();
        let breaks = u32::try_from(breaks).unwrap_or(u32::MAX);
        let end_line = chunk.first_line.saturating_add(breaks);
        Some(Passage { start_line: chunk.first_line, end_line, text })
    })
    .collect()
}

/// Returns the first and last line of every block of a text: what a search can cite.
#[cfg(any(test, feature = "testing"))]
#[must_use]
pub fn cited_lines(text: &str, format: Format) -> Vec<(u32, u32)> {
    let outline = outline(text, format);
    outline.blocks.iter().map(|block| (block.lines.start, block.lines.end - 1)).collect()
}
