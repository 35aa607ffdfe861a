//! What a character says to the models.

use unicode_normalization::char::decompose_canonical;

use super::classes::{DROPPED, IDEOGRAPHS, PUNCTUATION};

/// What becomes of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// A part of a word.
    Letter(char),
    /// A word for itself.
    Mark(char),
    /// The end of a word.
    Gap,
}

/// Takes a character apart: without case and accents, an ideograph for itself, and control
/// characters gone.
///
/// Canonical order is not restored, as the marks that it concerns are dropped or in no piece.
pub(super) fn units(character: char, mut each: impl FnMut(Unit)) {
    if within(DROPPED, character) {
        return;
    }
    if character.is_whitespace() {
        return each(Unit::Gap);
    }
    let alone = within(IDEOGRAPHS, character);
    if alone {
        each(Unit::Gap);
    }
    decompose_canonical(character, |part| {
        if !within(DROPPED, part) {
            for letter in part.to_lowercase() {
                let mark = within(PUNCTUATION, letter);
                each(if mark { Unit::Mark(letter) } else { Unit::Letter(letter) });
            }
        }
    });
    if alone {
        each(Unit::Gap);
    }
}

/// Tells whether a class holds a character. A class is written as the code points where it begins
/// and ends, in turn.
fn within(class: &[u32], character: char) -> bool {
    class.partition_point(|&edge| edge <= u32::from(character)) % 2 == 1
}
