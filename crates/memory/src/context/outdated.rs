//! Marks entries that others took the place of. The files keep them, and a session that read them
//! unmarked would see the old value beside the new one.

use std::collections::HashMap;

use anemone_format::{Origin, ProvenanceStamp};

use super::SessionKind;
use crate::entries::PageEntry;
use crate::page::known_units;
use crate::reading;
use crate::store::{MarkdownStore, PageKind};
use crate::successors::{Successor, successors_of};

/// A longer successor is not quoted.
const QUOTED_CHARS: usize = 160;

/// Memory files as a session reads them: every superseded entry is marked at the end of its first
/// line.
pub(super) struct MarkedFiles {
    /// By path: the text of the file, and the text with marks.
    texts: HashMap<String, (String, String)>,
}

impl MarkedFiles {
    /// Reads the files of these paths, and looks once for what took the place of their entries.
    pub(super) fn read<'a>(
        site: &MarkdownStore,
        session: SessionKind,
        paths: impl Iterator<Item = &'a str>,
    ) -> Self {
        let table = site.stamps();
        let mut texts: Vec<(&str, String)> = Vec::new();
        for path in paths {
            if let Ok(Some(file)) = reading::read_linked(site, path) {
                texts.push((path, file.text));
            }
        }
        let entries: Vec<Vec<PageEntry>> = texts
            .iter()
            .flat_map(|(path, text)| {
                let kind = PageKind::of(path);
                let units = known_units(text, &table).into_iter();
                units.map(move |unit| vec![PageEntry::new(path, kind, unit)])
            })
            .collect();
        // If the files cannot be read now, it is unknown which entries are superseded.
        let Ok(successors) = successors_of(site, &table, &entries) else {
            return Self { texts: HashMap::new() };
        };
        let mut superseded: HashMap<&str, Vec<(&PageEntry, Successor)>> = HashMap::new();
        for (entry, successor) in entries.iter().flatten().zip(successors) {
            if let Some(successor) = successor {
                superseded.entry(&entry.path).or_default().push((entry, successor));
            }
        }
        let texts = texts.iter().filter_map(|(path, text)| {
            let marked = marked(text, superseded.get(path)?, session, path);
            Some(((*path).to_owned(), (text.clone(), marked)))
        });
        Self { texts: texts.collect() }
    }

    /// Returns the text of a file with marks, unless the file has changed since.
    pub(super) fn marked(&mut self, path: &str, text: String) -> String {
        match self.texts.remove(path) {
            Some((read, marked)) if read == text => marked,
            _ => text,
        }
    }
}

/// Marks entries of a text.
fn marked(
    text: &str,
    superseded: &[(&PageEntry, Successor)],
    session: SessionKind,
    path: &str,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for (entry, successor) in superseded {
        let start = entry.unit.bytes.start.max(copied);
        let line = text[start..].lines().next().unwrap_or_default();
        // A stamp stays at the end of its line, where it is recognised.
        let end = ProvenanceStamp::at_end_of(line).map_or(line.len(), |(stamp, _)| stamp.start);
        let end = start + line[..end].trim_end().len();
        out.push_str(&text[copied..end]);
        out.push_str(&mark(successor, session, path));
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
