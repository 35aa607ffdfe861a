//! Marks entries that others took the place of. The files keep them, and a session that read them
//! unmarked would see the old value beside the new one.

use anemone_format::{Origin, ProvenanceStamp};

use super::SessionKind;
use crate::entries::PageEntry;
use crate::page::known_units;
use crate::store::{MarkdownStore, PageKind};
use crate::successors::{Successor, successors_of};

/// A longer successor is not quoted.
const QUOTED_CHARS: usize = 160;

/// Returns the text of a memory file in which every superseded entry is marked at the end of its
/// first line.
pub(super) fn marked(
    site: &MarkdownStore,
    session: SessionKind,
    path: &str,
    text: String,
) -> String {
    let table = site.stamps();
    let entries: Vec<Vec<PageEntry>> = known_units(&text, &table)
        .into_iter()
        .map(|unit| vec![PageEntry::new(path, PageKind::of(path), unit)])
        .collect();
    // If the files cannot be read now, it is unknown which entries are superseded.
    let Ok(successors) = successors_of(site, &table, &entries) else { return text };
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for (entry, successor) in entries.iter().flatten().zip(successors) {
        let Some(successor) = successor else { continue };
        let start = entry.unit.bytes.start.max(copied);
        let line = text[start..].lines().next().unwrap_or_default();
        // A stamp stays at the end of its line, where it is recognised.
        let end = ProvenanceStamp::at_end_of(line).map_or(line.len(), |(stamp, _)| stamp.start);
        let end = start + line[..end].trim_end().len();
        out.push_str(&text[copied..end]);
        out.push_str(&mark(&successor, session, path));
        copied = end;
    }
    out.push_str(&text[copied..]);
    out
}

/// Returns the mark, with what holds now if that is short and the session sees it nowhere else.
fn mark(successor: &Successor, session: SessionKind, path: &str) -> String {
    let text = successor.text.trim();
    let is_quotable = successor.path != path
        && session.may_see(&successor.path)
        && matches!(successor.origin, Some(Origin::Owner | Origin::Agent))
        && !text.contains('\n')
        && text.chars().count() <= QUOTED_CHARS;
    if is_quotable { format!(" [superseded by: {text}]") } else { " [superseded]".to_owned() }
}
