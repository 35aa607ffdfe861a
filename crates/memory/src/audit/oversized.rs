//! Files of which a runtime will show a model only a part, and which part.

use crate::context::{ContextRules, Fate, cut_of};
use crate::reading;
use crate::store::MarkdownStore;

/// A file that a runtime will cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OversizedFile {
    /// The file; `(all files)` when only all of them together are too much.
    pub path: String,
    /// How many characters it has.
    pub chars: usize,
    /// Where each version of a runtime cuts it.
    pub cuts: Vec<CutPlace>,
}

/// Where a version of a runtime cuts a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutPlace {
    /// What its rules are called.
    pub rules: &'static str,
    /// How many characters it takes.
    pub limit: usize,
    /// The first character that is not seen, from 0, and its line, from 1.
    pub from: (usize, usize),
    /// The first character that is shown again, and its line; the end of the file if none is.
    pub until: (usize, usize),
}

/// Says where a file is cut, if it is.
pub(super) fn of_file(
    rules: &[&'static ContextRules],
    path: &str,
    text: &str,
) -> Option<OversizedFile> {
    let name = if path.eq_ignore_ascii_case("MEMORY.md") { "MEMORY.md" } else { path };
    let mut cuts = Vec::new();
    let mut chars = 0;
    for rules in rules.iter().filter(|rules| rules.files.contains(&name)) {
        if let Some(Fate::Cut { limit, head, tail }) = cut_of(rules, path, text) {
            let units: Vec<usize> = lines_by_unit(text);
            chars = units.len();
            let line = |at: usize| units.get(at).or(units.last()).copied().unwrap_or(1);
            let until = chars.saturating_sub(tail).max(head);
            cuts.push(CutPlace {
                rules: rules.name,
                limit,
                from: (head, line(head)),
                until: (until, line(until)),
            });
        }
    }
    (!cuts.is_empty()).then(|| OversizedFile { path: path.to_owned(), chars, cuts })
}

/// Says whether all files together are too large, although each one alone is not.
pub(super) fn of_all(
    rules: &[&'static ContextRules],
    site: &MarkdownStore,
) -> Option<OversizedFile> {
    let mut cuts = Vec::new();
    let mut chars = 0;
    for rules in rules.iter().filter(|rules| rules.audits_total) {
        let mut total = 0;
        for name in rules.files {
            let path = if *name == "MEMORY.md" { site.curated() } else { name };
            let file = reading::read(site, path).ok().flatten();
            let length = file.map_or(0, |file| file.text.encode_utf16().count());
            total += length.min(rules.limit_of(name));
        }
        if total > rules.total {
            chars = chars.max(total);
            let at = (rules.total, 1);
            cuts.push(CutPlace {
                rules: rules.name,
                limit: rules.total,
                from: at,
                until: (total, 1),
            });
        }
    }
    (!cuts.is_empty()).then(|| OversizedFile { path: "(all files)".to_owned(), chars, cuts })
}

/// Returns the line of each UTF-16 unit.
fn lines_by_unit(text: &str) -> Vec<usize> {
    let mut lines = Vec::with_capacity(text.len());
    let mut line = 1;
    for c in text.trim_end().chars() {
        lines.extend(std::iter::repeat_n(line, c.len_utf16()));
        line += usize::from(c == '\n');
    }
    lines
}
