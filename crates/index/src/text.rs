//! Words in the form in which queries and texts are compared.
//!
//! The same function tokenizes documents and queries. A token is lower-cased, its diacritics are
//! folded, and words are stemmed in the language of the text around them. A query does not name its
//! language, so it is tokenized once for each language that the index contains.

mod chars;
mod common;
mod composed;
mod fold;
mod language;
mod months;
mod number;
mod query;
mod scan;
mod spaceless;
mod stem;

pub(crate) use fold::flat;
pub(crate) use language::{Language, Votes};
pub(crate) use query::{Phrase, QueryTerm, Words, parse};

use std::cell::Cell;
use std::collections::HashSet;
use std::ops::Range;

use composed::Composed;
use scan::{Scan, Scratch};
use xxhash_rust::xxh3::xxh3_64;

/// Changes when the same text would yield other tokens: every index is then rebuilt.
pub(crate) const TEXT_VERSION: u32 = 2;

/// A term as it is stored: 32 bits of a hash. Two terms in some hundred thousand collide, which
/// costs a little noise and saves the dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Term(pub(crate) u32);

impl Term {
    /// Returns the term of a token's text.
    pub(crate) fn of(token: &str) -> Self {
        let hash = xxhash_rust::xxh3::xxh3_64(token.as_bytes());
        #[expect(clippy::cast_possible_truncation, reason = "32 bits are kept on purpose")]
        Self(hash as u32)
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A word, a number, or an identifier as a whole.
    Word,
    /// A word that is in every text: an article, a pronoun, a question word.
    Weak,
    /// A piece of an identifier or of a long word, beside the whole.
    Part,
    /// Two neighbouring characters of a script without spaces.
    Pair,
    /// One character of a script without spaces, beside the pairs it is in.
    Single,
}

/// One token of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// Its compared form; never empty, without whitespace.
    pub(crate) text: &'a str,
    /// What it is.
    pub(crate) kind: Kind,
    /// Its position in the text.
    pub(crate) bytes: Range<usize>,
}

/// Bytes of a token, at most. A longer one is replaced by its beginning and a hash, so that it is
/// found as a whole and costs no more than others.
const MAX_TOKEN: usize = 96;
/// Bytes that are kept of a longer one.
const BEGINNING: usize = 48;

thread_local! {
    /// Buffers and remembered words. They are taken out while a text is tokenized, so that a
    /// callback that gets a token may tokenize another text.
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    let mut scratch = SCRATCH.take().unwrap_or_else(|| Box::new(Scratch::new()));
    let result = work(&mut scratch);
    SCRATCH.set(Some(scratch));
    result
}

/// Tokenizes a text, in its order; tokens at one position (a whole and its parts) are consecutive.
pub(crate) fn tokens(text: &str, language: Language, each: &mut dyn FnMut(&Token<'_>)) {
    let Some(composed) = Composed::of(text) else {
        return with_scratch(|scratch| Scan { text, language, scratch, each }.run());
    };
    let each: &mut dyn FnMut(&Token<'_>) = &mut |token| {
        each(&Token { bytes: composed.original(&token.bytes), ..*token });
    };
    with_scratch(|scratch| Scan { text: &composed.text, language, scratch, each }.run());
}

/// Passes on the token of one folded word.
fn stemmed(word: &str, language: Language, each: impl FnOnce(&str)) {
    with_scratch(|scratch| each(scratch.stem(word, language)));
}

/// Passes on one token, shortened if it is too long.
fn emit(text: &str, kind: Kind, bytes: Range<usize>, each: &mut dyn FnMut(&Token<'_>)) {
    if text.len() > MAX_TOKEN {
        let beginning = &text[..text.floor_char_boundary(BEGINNING)];
        let short = format!("{beginning}{:016x}", xxh3_64(text.as_bytes()));
        each(&Token { text: &short, kind, bytes });
    } else if !text.is_empty() {
        each(&Token { text, kind, bytes });
    }
}

/// Returns the words with which people name a day: `2026-04-01` gives `2026-04-01`, `2026`,
/// `april`, `4月` and `1`, analysed as tokens of a text would be. They have no position.
pub(crate) fn date_tokens(date: jiff::civil::Date, each: &mut dyn FnMut(&Token<'_>)) {
    let (year, month, day) = (date.year(), date.month(), date.day());
    emit(&format!("{year:04}-{month:02}-{day:02}"), Kind::Word, 0..0, each);
    emit(&year.to_string(), Kind::Word, 0..0, each);
    let mut name = String::new();
    stemmed(months::name(month), Language::English, |stem| name.push_str(stem));
    emit(&name, Kind::Word, 0..0, each);
    emit(&format!("{month}月"), Kind::Pair, 0..0, each);
    emit(&day.to_string(), Kind::Word, 0..0, each);
}

/// Returns where a text has any of these terms: sorted, without overlaps.
pub(crate) fn matches(text: &str, language: Language, terms: &HashSet<Term>) -> Vec<Range<usize>> {
    let mut places: Vec<Range<usize>> = Vec::new();
    tokens(text, language, &mut |token| {
        if terms.contains(&Term::of(token.text)) {
            places.push(token.bytes.clone());
        }
    });
    // The pieces of a long word come before its camel-case parts.
    places.sort_unstable_by_key(|place| place.start);
    let mut found: Vec<Range<usize>> = Vec::new();
    for place in places {
        match found.last_mut() {
            Some(last) if place.start <= last.end => last.end = last.end.max(place.end),
            _ => found.push(place),
        }
    }
    found
}

#[cfg(test)]
mod tests;
