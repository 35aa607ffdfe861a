//! A budget that the caller sets, besides the runtime's.

use super::{ComposeRequest, Fate, Part, PartPlace, written};
use crate::store::MarkdownStore;

/// How much a session should see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// As much as the runtime lets it.
    Runtime,
    /// So many characters of the text at most.
    Chars(usize),
    /// So many tokens of it at most, see [`estimated_tokens`].
    Tokens(usize),
    /// So many characters at most, shared by all files: the longest are cut, and none is left out
    /// as long as there is room for the beginning of each.
    SharedChars(usize),
}

impl Budget {
    fn holds(self, asked: &ComposeRequest, text: &str) -> bool {
        match self {
            Self::Runtime => true,
            Self::Chars(most) | Self::SharedChars(most) => asked.rules.cutting.length(text) <= most,
            Self::Tokens(most) => estimated_tokens(text) <= most,
        }
    }
}

/// Estimates how many tokens a text has: one for four characters, and one for each character of
/// scripts that are written without spaces. A model's own count may differ.
#[must_use]
pub fn estimated_tokens(text: &str) -> usize {
    let (mut dense, mut other) = (0, 0_usize);
    for c in text.chars() {
        if matches!(c, '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
        {
            dense += 1;
        } else {
            other += 1;
        }
    }
    dense + other.div_ceil(4)
}

/// Leaves out whole parts until the rest is within the budget: first the logs, then the recalled
/// memories, then files from the last one up. The first file is cut rather than left out.
pub(super) fn keep(parts: &mut [Part], asked: &ComposeRequest, site: &MarkdownStore) {
    let fits = |parts: &[Part]| asked.budget.holds(asked, &written(parts, asked, site));
    if matches!(asked.budget, Budget::SharedChars(_)) && !fits(parts) {
        share(parts, asked, site);
    }
    while !fits(parts) {
        let mut kept = (0..parts.len()).filter(|at| parts[*at].fate.is_in());
        let first = kept.next();
        let last = kept.max_by_key(|at| (turn(&parts[*at]), *at));
        match (first, last) {
            (_, Some(last)) => parts[last].leave_out(),
            (Some(only), None) => {
                shorten(parts, only, asked, site);
                break;
            }
            (None, None) => break,
        }
    }
}

/// Cuts the longest parts, all to the same length, so that every part keeps its beginning. Where
/// even short beginnings are too much, every part has its shortest one.
fn share(parts: &mut [Part], asked: &ComposeRequest, site: &MarkdownStore) {
    let cutting = asked.rules.cutting;
    let whole: Vec<Part> = parts.to_vec();
    let cut_to = |limit: usize, parts: &mut [Part]| {
        for (part, whole) in parts.iter_mut().zip(&whole) {
            let length = cutting.length(&whole.content);
            if !whole.fate.is_in() || whole.place == PartPlace::Recalled || length <= limit {
                part.clone_from(whole);
                continue;
            }
            let kept = cutting.cut(&whole.content, &whole.path, limit);
            part.included_chars = cutting.length(&kept.text);
            part.fate = Fate::Cut { limit, head: kept.head.unwrap_or_default(), tail: kept.tail };
            part.content = kept.text;
        }
    };
    let longest = whole.iter().map(|part| cutting.length(&part.content)).max().unwrap_or_default();
    let (mut low, mut high) = (super::LEAST_ROOM, longest);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        cut_to(middle, parts);
        if asked.budget.holds(asked, &written(parts, asked, site)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    cut_to(low, parts);
}

/// Returns when a part is left out: the highest first.
fn turn(part: &Part) -> u8 {
    match part.place {
        PartPlace::Notes => 2,
        PartPlace::Recalled => 1,
        PartPlace::File | PartPlace::Memory => 0,
    }
}

/// Cuts the one part that is left as its runtime does.
fn shorten(parts: &mut [Part], at: usize, asked: &ComposeRequest, site: &MarkdownStore) {
    let whole = parts[at].content.clone();
    let name = parts[at].path.clone();
    let cutting = asked.rules.cutting;
    let mut limit = cutting.length(&whole);
    while turn(&parts[at]) == 0 && limit > super::LEAST_ROOM {
        limit -= (limit / 16).max(1);
        let kept = cutting.cut(&whole, &name, limit);
        parts[at].included_chars = cutting.length(&kept.text);
        parts[at].fate = Fate::Cut { limit, head: kept.head.unwrap_or_default(), tail: kept.tail };
        parts[at].content = kept.text;
        if asked.budget.holds(asked, &written(parts, asked, site)) {
            return;
        }
    }
    parts[at].leave_out();
}

impl Part {
    fn leave_out(&mut self) {
        self.fate = Fate::OverBudget;
        self.included_chars = 0;
        self.content.clear();
    }
}
