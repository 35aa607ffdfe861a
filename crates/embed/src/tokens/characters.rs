//! How the models treat a character.

use std::sync::LazyLock;

use unicode_normalization::char::decompose_canonical;

/// Classes of characters, each as the code points where it begins and ends, in turn.
struct Classes {
    /// Ignored: most control characters and accents.
    dropped: Vec<u32>,
    /// A separate word each.
    ideographs: Vec<u32>,
    /// A separate piece each, between words.
    punctuation: Vec<u32>,
}

/// The classes as tools/model/reference_tokens.py extracts them from the reference.
static CLASSES: LazyLock<Classes> = LazyLock::new(|| {
    let class = |name: &str| {
        let lines = include_str!("../../assets/classes.txt").lines();
        let lines = lines.skip_while(|line| *line != name).skip(1);
        let edges = lines.take_while(|line| !line.is_empty()).flat_map(str::split_whitespace);
        edges.filter_map(|edge| u32::from_str_radix(edge, 16).ok()).collect()
    };
    Classes {
        dropped: class("dropped"),
        ideographs: class("ideographs"),
        punctuation: class("punctuation"),
    }
});

/// The units of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// A part of a word.
    Letter(char),
    /// A separate word.
    Mark(char),
    /// The end of a word.
    Gap,
}

/// Splits a character into units: without case and accents, an ideograph as a separate word, and
/// without control characters.
///
/// Canonical order is not restored, because the affected marks are dropped or in no piece.
pub(super) fn units(character: char, mut each: impl FnMut(Unit)) {
    let Classes { dropped, ideographs, punctuation } = &*CLASSES;
    if within(dropped, character) {
        return;
    }
    if character.is_whitespace() {
        return each(Unit::Gap);
    }
    let alone = within(ideographs, character);
    if alone {
        each(Unit::Gap);
    }
    decompose_canonical(character, |part| {
        if !within(dropped, part) {
            for letter in part.to_lowercase() {
                let mark = within(punctuation, letter);
                each(if mark { Unit::Mark(letter) } else { Unit::Letter(letter) });
            }
        }
    });
    if alone {
        each(Unit::Gap);
    }
}

/// Returns whether a class contains a character.
fn within(class: &[u32], character: char) -> bool {
    class.partition_point(|&edge| edge <= u32::from(character)) % 2 == 1
}
