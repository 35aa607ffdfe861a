//! One form for equal-looking text: a letter and its accent may be one character or two.
//!
//! File systems and editors write either form. Texts are compared in the composed form; matches are
//! shown at their position in the original text.

use std::ops::Range;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// A text in its composed form.
pub(super) struct Composed {
    pub(super) text: String,
    /// The changes, in their order.
    changes: Vec<Change>,
}

/// A range that is written differently in the composed form.
struct Change {
    composed: Range<usize>,
    original: Range<usize>,
}

impl Composed {
    /// Composes a text; `None` when it is composed already, as nearly all are.
    pub(super) fn of(text: &str) -> Option<Self> {
        if text.is_ascii() || text.chars().all(is_settled) {
            return None;
        }
        if is_nfc_quick(text.chars()) == IsNormalized::Yes {
            return None;
        }
        let mut composed = Self { text: String::with_capacity(text.len()), changes: Vec::new() };
        let mut start = 0;
        for (at, c) in text.char_indices() {
            if at > start && begins(c) {
                composed.push(text, start..at);
                start = at;
            }
        }
        composed.push(text, start..text.len());
        (!composed.changes.is_empty()).then_some(composed)
    }

    /// Adds characters that their neighbours do not change.
    fn push(&mut self, text: &str, original: Range<usize>) {
        let stretch = &text[original.clone()];
        let from = self.text.len();
        self.text.extend(stretch.nfc());
        if self.text[from..] != *stretch {
            self.changes.push(Change { composed: from..self.text.len(), original });
        }
    }

    /// Returns the original range of a range of the composed text.
    pub(super) fn original(&self, bytes: &Range<usize>) -> Range<usize> {
        let start = self.place(bytes.start, |change| change.original.start);
        let end = self.place(bytes.end, |change| change.original.end);
        start..end
    }

    /// Returns the original position of a position; within a change, the result of `inside`.
    fn place(&self, at: usize, inside: impl Fn(&Change) -> usize) -> usize {
        let after = self.changes.partition_point(|change| change.composed.start < at);
        match after.checked_sub(1).and_then(|last| self.changes.get(last)) {
            None => at,
            Some(change) if at < change.composed.end => inside(change),
            Some(change) => change.original.end + (at - change.composed.end),
        }
    }
}

/// Whether a character is composed in every context; covers the most common ones.
fn is_settled(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{2FF}' | '\u{400}'..='\u{482}' | '\u{2010}'..='\u{2027}'
            | '\u{3001}'..='\u{3029}' | '\u{3041}'..='\u{3096}' | '\u{309D}'..='\u{9FFF}'
            | '\u{AC00}'..='\u{D7A3}' | '\u{FF01}'..='\u{FF5E}'
    )
}

/// Whether a character never combines with those before it.
fn begins(c: char) -> bool {
    is_settled(c)
        || (canonical_combining_class(c) == 0
            && is_nfc_quick(std::iter::once(c)) == IsNormalized::Yes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn composed_texts_are_left_alone() {
        for text in ["plain", "Schlüssel für Čapek", "数据库", "がス 서버", "за́мок", "हिन्दी"]
        {
            assert!(Composed::of(text).is_none(), "{text}");
        }
    }

    #[test]
    fn what_is_found_lies_in_the_text_as_it_is() {
        let text = "ein Schlu\u{308}ssel, e\u{301}te\u{301}";
        let composed = Composed::of(text).unwrap();
        assert_eq!(composed.text, "ein Schlüssel, été");
        for word in ["ein", "Schlüssel", "lüss", "ü", "ssel", ",", "été"] {
            let start = composed.text.find(word).unwrap();
            let original = &text[composed.original(&(start..start + word.len()))];
            assert_eq!(original.nfc().collect::<String>(), word);
        }
    }

    #[test]
    fn a_settled_character_changes_with_nothing() {
        for c in ('\0'..=char::MAX).filter(|c| is_settled(*c)) {
            assert_eq!(canonical_combining_class(c), 0, "{c:?}");
            assert_eq!(is_nfc_quick(std::iter::once(c)), IsNormalized::Yes, "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn it_is_the_composed_form(text in "[a-zäéÅΆйがガ가\u{300}-\u{310}\u{323}\u{1100}-\u{1112}\u{1161}-\u{1170}\u{11a8}-\u{11af}\u{3099}\u{212b}\u{915}\u{93c}\u{9c7}\u{9be}豈]{0,20}") {
            let wanted: String = text.nfc().collect();
            let composed = Composed::of(&text);
            prop_assert_eq!(composed.as_ref().map_or(&text, |composed| &composed.text), &wanted);
            let Some(composed) = composed else { return Ok(()) };
            let mut before = 0;
            for (at, c) in wanted.char_indices() {
                let original = composed.original(&(at..at + c.len_utf8()));
                prop_assert!(text.get(original.clone()).is_some_and(|part| !part.is_empty()));
                prop_assert!(before <= original.start);
                before = original.start;
            }
        }
    }
}
