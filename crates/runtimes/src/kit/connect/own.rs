//! Tracks which parts of a changed text are ours, so that only those are shown.

use std::ops::Range;

use super::edit::Edit;

/// The parts that were put in, in order.
#[derive(Default)]
pub(super) struct OwnRanges {
    parts: Vec<Range<usize>>,
}

impl OwnRanges {
    /// Records changes, which must be sorted, to the current text.
    pub(super) fn note(&mut self, edits: &[Edit]) {
        // Starts at the last change, so that the positions of earlier ones stay valid.
        for edit in edits.iter().rev() {
            let (end, length) = (edit.at + edit.old.len(), edit.new.len());
            let moved = |at: usize| if at >= end { at - edit.old.len() + length } else { at };
            for part in &mut self.parts {
                let start = if part.start >= end { moved(part.start) } else { part.start };
                *part = start..if part.end > edit.at { moved(part.end) } else { part.end };
            }
            self.parts.push(edit.at..edit.at + length);
        }
        self.parts.sort_by_key(|part| (part.start, part.end));
    }

    /// Returns our lines; of a line that is only partly ours, our part.
    pub(super) fn lines(&self, text: &str) -> Vec<String> {
        let mut lines = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let own: String = line
                .char_indices()
                .filter(|(at, _)| self.has(start + at))
                .map(|(_, c)| c)
                .collect();
            let own = own.trim_matches(['\r', '\n']);
            let bare = own.trim_matches([',', ' ', '\t']);
            if !bare.is_empty() {
                let whole = line.trim_end();
                lines.push(if own.trim_end() == whole { whole } else { bare }.to_owned());
            }
            start += line.len();
        }
        lines
    }

    fn has(&self, at: usize) -> bool {
        self.parts.iter().any(|part| part.contains(&at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::connect::edit::apply;

    #[test]
    fn parts_move_with_what_is_put_in_before_and_into_them() {
        let mut own = OwnRanges::default();
        let mut text = "a\nb\n".to_owned();
        for edits in [
            vec![Edit::insert(2, "[ours]\n")],
            vec![Edit::insert(0, "first\n"), Edit::insert(3, "+")],
            vec![Edit { at: 0, old: "first".to_owned(), new: "1st".to_owned() }],
        ] {
            own.note(&edits);
            text = apply(&text, &edits);
        }
        assert_eq!(text, "1st\na\n[+ours]\nb\n");
        assert_eq!(own.lines(&text), ["1st", "[+ours]"]);
    }
}
