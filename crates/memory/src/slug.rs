//! A short name for a conversation: one to three of its most telling words.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;

use crate::capture::sentences;

/// The longest name.
const MAX_CHARS: usize = 30;
/// The most words.
const MAX_WORDS: usize = 3;
/// More repetitions of a word within one message do not count.
const MOST_IN_ONE: f64 = 2.0;

/// Words that are in every conversation.
const COMMON: &str = include_str!("slug_words.txt");

static STOPPED: LazyLock<HashSet<String>> =
    LazyLock::new(|| COMMON.split_whitespace().map(plain).collect());

/// Says whether a word is in every conversation.
pub(crate) fn is_common(word: &str) -> bool {
    STOPPED.contains(&plain(word))
}

/// A text of the conversation, with the weight of its words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightedText<'a> {
    /// The text.
    pub text: &'a str,
    /// How much its words count.
    pub weight: f64,
}

/// Makes a name from the most telling words: `None` if no word is in Latin letters.
///
/// A word counts more the more messages use it and the longer it is. Words keep the order of the
/// conversation, so that the name reads like it.
#[must_use]
pub fn telling_slug(spoken: &[WeightedText<'_>]) -> Option<String> {
    struct Word {
        first: usize,
        score: f64,
    }
    let mut words: HashMap<String, Word> = HashMap::new();
    let mut place = 0;
    for it in spoken {
        let mut here: HashMap<String, f64> = HashMap::new();
        // A sentence that held a secret names nothing: its words may be a part of it.
        let open =
            sentences(it.text).into_iter().filter(|sentence| !sentence.contains("[redacted"));
        for word in open.flat_map(words_of) {
            place += 1;
            let known = words.entry(word.clone()).or_insert(Word { first: place, score: 0.0 });
            let said = here.entry(word).or_insert(0.0);
            *said += 1.0;
            if *said <= MOST_IN_ONE {
                known.score += it.weight / *said;
            }
        }
    }
    let mut ranked: Vec<(String, usize, f64)> = words
        .into_iter()
        .map(|(word, other)| {
            let length = word.len() as f64;
            (word, other.first, other.score * (1.0 + length.ln()))
        })
        .collect();
    ranked.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.1.cmp(&b.1)));
    let mut chosen: Vec<(usize, String)> = Vec::new();
    let mut length = 0;
    for (word, first, _) in ranked {
        // Forms of one word say nothing new.
        let is_form =
            |(_, value): &(usize, String)| value.starts_with(&word) || word.starts_with(value);
        let longer = length + word.len() + usize::from(!chosen.is_empty());
        if longer <= MAX_CHARS && !chosen.iter().any(is_form) {
            length = longer;
            chosen.push((first, word));
        }
        if chosen.len() == MAX_WORDS {
            break;
        }
    }
    chosen.sort();
    let words: Vec<_> = chosen.into_iter().map(|(_, word)| word).collect();
    (!words.is_empty()).then(|| words.join("-"))
}

/// Makes a file name of a proposal; `None` if no usable characters are left.
#[must_use]
pub fn slug_of(proposed: &str) -> Option<String> {
    let line = proposed.lines().map(str::trim).find(|value| !value.is_empty())?;
    let line: String = line.chars().take(200).collect();
    let mut slug = String::new();
    for word in plain(&line).split(|c: char| !c.is_ascii_alphanumeric()) {
        if word.is_empty() {
            continue;
        }
        if slug.is_empty() {
            slug.extend(word.chars().take(MAX_CHARS));
        } else if slug.len() + 1 + word.len() <= MAX_CHARS {
            slug.push('-');
            slug.push_str(word);
        } else {
            break;
        }
    }
    slug.contains(|c: char| c.is_ascii_alphabetic()).then_some(slug)
}

/// Returns words that may tell something.
fn words_of(text: &str) -> impl Iterator<Item = String> {
    let of_link = |word: &&str| !word.contains("://");
    text.split_whitespace()
        .filter(of_link)
        .flat_map(|word| word.split(|c: char| !c.is_alphanumeric()))
        .map(plain)
        .filter(|word| {
            (3..=20).contains(&word.len())
                && word.chars().all(|c| c.is_ascii_alphanumeric())
                && word.chars().filter(char::is_ascii_alphabetic).count() * 2 > word.len()
                && !STOPPED.contains(word)
        })
}

/// Returns a text in small letters without accents.
fn plain(text: &str) -> String {
    let is_mark = |c: &char| matches!(c, '\u{300}'..='\u{36f}');
    let text = text.to_lowercase().replace('ß', "ss").replace('æ', "ae").replace('ø', "o");
    text.nfkd().filter(|c| !is_mark(c)).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn telling(texts: &[&str]) -> Option<String> {
        let spoken: Vec<_> = texts.iter().map(|text| WeightedText { text, weight: 1.0 }).collect();
        telling_slug(&spoken)
    }

    #[test]
    fn a_conversation_is_named_by_what_it_is_about() {
        for (texts, wanted) in [
            (
                &["What about the API design?", "For the API design I suggest REST."][..],
                "api-design-rest",
            ),
            (
                &["Wie läuft die Müllabfuhr?", "Die Müllabfuhr kommt am Montag."],
                "lauft-mullabfuhr-montag",
            ),
            (&["yes", "ok, thanks", "vendor pitch tomorrow"], "vendor-pitch"),
            (&["internationalization counterrevolutionary x"], "internationalization"),
            (&["see https://example.org/path 12345 a1b2c3"], ""),
            (
                &["My krabbe password is [redacted:password]! We meet at the harbour."],
                "meet-harbour",
            ),
            (&["今天讨论了数据库迁移方案"], ""),
            (&["今天讨论了 SQLite 迁移"], "sqlite"),
            (&[], ""),
        ] {
            assert_eq!(telling(texts).unwrap_or_default(), wanted, "{texts:?}");
        }
    }

    #[test]
    fn words_of_a_sentence_that_held_a_secret_name_nothing() {
        let texts = ["The sommer krabbe is [redacted:password]! Lanterns hang in the orchard."];
        let spoken: Vec<_> = texts.iter().map(|text| WeightedText { text, weight: 1.0 }).collect();
        let slug = telling_slug(&spoken).expect("a sentence is left");
        assert!(!slug.contains("sommer") && !slug.contains("krabbe"), "{slug}");
        assert!(slug.contains("lanterns") || slug.contains("orchard"), "{slug}");
    }

    #[test]
    fn a_proposal_is_taken_without_what_no_file_name_has() {
        for (proposed, wanted) in [
            ("api-design", "api-design"),
            ("  \"Vendor Pitch!\"\nbecause", "vendor-pitch"),
            ("../../etc/passwd", "etc-passwd"),
            ("Müll & Abfuhr", "mull-abfuhr"),
            ("a-very-long-name-that-goes-on-and-on", "a-very-long-name-that-goes-on"),
            ("1234", ""),
            ("数据库", ""),
            ("\u{0}\n\n", ""),
        ] {
            assert_eq!(slug_of(proposed).unwrap_or_default(), wanted, "{proposed:?}");
        }
    }

    proptest! {
        #[test]
        fn every_name_is_a_plain_one(text in "(?s).{0,200}") {
            for slug in [telling(&[&text]), slug_of(&text)].into_iter().flatten() {
                prop_assert!(slug.len() <= MAX_CHARS && !slug.is_empty());
                prop_assert!(!slug.starts_with('-') && !slug.ends_with('-'));
                let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                prop_assert!(slug.chars().all(is_plain), "{slug}");
            }
        }
    }
}
